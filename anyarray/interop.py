"""Between anyarray and the libraries' own arrays: `from_native`, `to_native`, `portable`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

from anyarray import _backend, _dispatch, _errors, _nested, _transfer
from anyarray._array import Array
from anyarray._backend import Backend, Home, Native

__all__ = ["from_native", "portable", "to_native"]

P = ParamSpec("P")
R = TypeVar("R")


def from_native(a: Native, /) -> Array:
    """An Array of a native array (np.ndarray, tf.Tensor, tf.Variable, jax.Array, cupy.ndarray), without a copy.

    It lives where `a` lives and is *placed* there, unless `a` is NumPy's. It shares memory with `a`: a write to the
    Array copies first, but who writes to `a` later changes the Array; `xp.asarray(a)` copies instead.
    Raises TypeError for anything else.

    >>> import anyarray as xp
    >>> import numpy as np
    >>> xp.from_native(np.arange(3)).tolist()
    [0, 1, 2]
    """
    wrapped: Array = _dispatch.as_array("from_native", "a", value_of(a))
    return wrapped


def to_native(x: Array, /, *, like: Native | Array | Backend | str | None = None) -> Native:
    """The native array of an Array, without a copy where that is safe.

    With `like`, a native array of that library and device: `like` is a native array, an Array, a device or its name.
    NumPy's arrays are read-only views; `np.array(xp.to_native(x))` is one to write to.

    >>> import anyarray as xp
    >>> type(xp.to_native(xp.arange(3), like="numpy")).__name__
    'ndarray'
    """
    if type(x) is not Array:
        x = _dispatch.as_array("to_native", "x", x)
    if like is None:
        return _handed_out(x, x._home.backend)
    return _handed_out(x, like if type(like) is Backend else _backend_like(like))


def _backend_like(like: Any) -> Backend:
    if type(like) is Array:
        return like._home.backend
    if isinstance(like, (str, Backend)):
        return _backend.as_backend(like)
    found = _backend.backend_of_native(value_of(like))
    if found is None:
        raise _errors.ArgumentTypeError(
            f"to_native: like must be an array, a device or its name, not {type(like).__name__}"
        )
    return found


def _handed_out(x: Array, backend: Backend) -> Native:
    """The native array of `x` on `backend`, in a form in which nobody can write to the Array."""
    if backend.library == "numpy":
        return _transfer.to_host(x._native, x._home.backend, "to_native", explicit=True)
    return _dispatch.brought(x, backend.free, "to_native", explicit=True)


def value_of(a: Any) -> Any:
    """The tensor in a tf.Variable, which is no array but holds one; everything else as it is."""
    return a.read_value() if _is_variable(type(a)) else a  # type: ignore[arg-type]  # classes are hashable


@functools.cache
def _is_variable(kind: type) -> bool:
    return kind.__module__.startswith(("tensorflow", "keras")) and hasattr(kind, "read_value")


def standing_for(function: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give a function the name, the signature and the docstring of the one that it wraps."""

    def named(made: Callable[P, R]) -> Callable[P, R]:
        functools.update_wrapper(made, function)
        # AutoGraph, which rewrites what it meets in a tf.function, takes a function with this attribute as it is.
        made.autograph_info__ = None  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]
        return made

    return named


def portable(function: Callable[P, R], /) -> Callable[P, R]:
    """Make a function of Arrays take any arrays, and give back the same kind.

    For library authors. Arguments may be np.ndarray, tf.Tensor, tf.Variable, jax.Array (traced ones too),
    cupy.ndarray and Arrays, also nested in tuples, lists, dicts and dataclasses; the body sees Arrays. Results are
    of the kind (library and device) that came in; NumPy and Python scalars follow the others. Other arguments pass
    through.
    Raises BackendMismatchError if arrays of two frameworks come in. Signature and docstring are kept.

    >>> import anyarray as xp
    >>> import numpy as np
    >>> @xp.portable
    ... def double(x):
    ...     return 2 * x
    >>> double(np.arange(3)).tolist(), type(double(np.arange(3))).__name__
    ([0, 2, 4], 'ndarray')
    """

    @standing_for(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        kinds: list[Home | None] = []
        in_args = [_entered(one, kinds) for one in args]
        in_kwargs = {name: _entered(one, kinds) for name, one in kwargs.items()} if kwargs else kwargs
        result = function(*in_args, **in_kwargs)  # pyright: ignore[reportCallIssue]  # the same arguments, wrapped
        if not kinds or None in kinds:
            return result
        first = kinds[0]
        backend = first.backend if first and kinds.count(first) == len(kinds) else _kind(function.__qualname__, kinds)
        return _left(result, backend)  # type: ignore[no-any-return]  # R, unwrapped

    return called


def _kind(function: str, kinds: list[Home | None]) -> Backend:
    """The backend that results go to: the only framework among the inputs, else NumPy."""
    backends = list(dict.fromkeys([home.backend for home in kinds if home is not None]))
    frameworks = [one for one in backends if one.library != "numpy"]
    if len(frameworks) > 1:
        first, second = frameworks[:2]
        raise _errors.BackendMismatchError(
            f"{function}: one input is an array of {first} and another of {second}. Convert one of them first"
        )
    return (frameworks or backends)[0]


_ATOMS: Final = frozenset({bool, int, float, complex, str, bytes, type(None)})

_readers: Final[dict[type, Callable[[Any], Native] | None]] = {}
"""What gives the native array of a value, by its class; None for one that is no array. Filled as they are met."""


def _entered(value: Any, kinds: list[Home | None]) -> Any:
    """`value` with its native arrays wrapped; notes what kinds it met, None for an Array."""
    kind = type(value)
    reader = _readers.get(kind)
    if reader is None:
        if kind is Array:
            kinds.append(None)
            return value
        if kind in _ATOMS:
            return value
        if kind not in _readers:
            native = value_of(value)
            reader = None
            if _backend.backend_of_native(native) is not None:
                reader = _itself if native is value else value_of
            _readers[kind] = reader
        if reader is None:
            return _nested.mapped(value, functools.partial(_entered, kinds=kinds))
    wrapped = _dispatch.as_array("portable", "argument", value if reader is _itself else reader(value))
    kinds.append(wrapped._home)
    return wrapped


def _itself(native: Native) -> Native:
    return native


def _left(value: Any, backend: Backend) -> Any:
    """`value` with its Arrays as native arrays of `backend`."""
    if type(value) is Array:
        return _handed_out(value, backend)
    return _nested.mapped(value, functools.partial(_left, backend=backend))
