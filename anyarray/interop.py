"""Between Arrays and native arrays: `from_native`, `to_native`, `portable`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar, cast

from anyarray._array.array import Array
from anyarray._base import errors, nested
from anyarray._base.functions import check_is_function, is_async, name_of, wraps
from anyarray._call import dispatch
from anyarray._memory import second_copies
from anyarray._memory.views import guard
from anyarray._registry import registry
from anyarray._registry.home import Home, Native
from anyarray._registry.registry import Backend

__all__ = ["from_native", "portable", "to_native"]

P = ParamSpec("P")
R = TypeVar("R")


def from_native(a: Native, /) -> Array:
    """An Array of a native array or a variable, without a copy.

    A native array is an np.ndarray, tf.Tensor, jax.Array, torch.Tensor or cupy.ndarray. Variables are those of
    TensorFlow and of Keras; the Array has the value that they have now.
    It lives where `a` lives and is *placed* there, unless `a` is NumPy's. It shares memory with `a`: a write to the
    Array copies first, but a write to `a` changes the Array; `xp.asarray(a)` copies instead.
    Raises TypeError for anything else.

    >>> import anyarray as xp
    >>> import numpy as np
    >>> xp.from_native(np.arange(3)).tolist()
    [0, 1, 2]
    """
    return _kept_from_writes(dispatch.as_array("from_native", "a", a), a)


def to_native(x: Array, /, *, like: Native | Array | Backend | str | None = None) -> Native:
    """The native array of an Array, without a copy where that is safe.

    With `like`, a native array of that library and device: `like` is a native array, an Array, a device or its name.
    NumPy's arrays are read-only views; `np.array(xp.to_native(x))` is one to write to.

    >>> import anyarray as xp
    >>> type(xp.to_native(xp.arange(3), like="numpy")).__name__
    'ndarray'
    """
    if type(x) is not Array:
        x = dispatch.as_array("to_native", "x", x)
    if like is None:
        return _exported(x, x._home.backend)
    return _exported(x, like if type(like) is Backend else _backend_like(like))


def _backend_like(like: Any) -> Backend:
    if type(like) is Array:
        return like._home.backend
    if isinstance(like, (str, Backend)):
        return registry.as_backend(like)
    found = registry.backend_of_native(like)
    if found is None:
        raise errors.ArgumentTypeError(
            f"to_native: like must be an array, a device or its name, not {type(like).__name__}"
        )
    return found


def _exported(x: Array, backend: Backend) -> Native:
    """The native array of `x` on `backend`; no write to it reaches `x`."""
    if backend.library == "numpy":
        return x._handed_out("to_native", explicit=True)
    native = dispatch.native_on(x, backend.free, "to_native", explicit=True)
    if backend.is_immutable:
        second_copies.note_export(x)
        return native
    return backend.free.duplicate(native)


def portable(function: Callable[P, R], /) -> Callable[P, R]:
    """Make a function of Arrays take any arrays, and give back the same kind.

    For library authors. Arguments may be np.ndarray, tf.Tensor, jax.Array (traced ones too), torch.Tensor,
    cupy.ndarray, variables of TensorFlow and Keras, and Arrays, also nested in tuples, lists, dicts and dataclasses;
    the body sees Arrays.
    Results are of the kind (library and device) that came in; NumPy and Python scalars follow the others. A container
    that holds native arrays is passed as a copy, so the caller does not see what the body writes to it; one that
    holds none, and every other argument, is passed itself. An array of a dtype that no Array can have, such as strings
    or a random key, does not count as an array. The result of an `async` function is converted when it was awaited.
    Raises BackendMismatchError if arrays of two frameworks come in, TypeError for a generator function. Signature and
    docstring are kept.

    >>> import anyarray as xp
    >>> import numpy as np
    >>> @xp.portable
    ... def double(x):
    ...     return 2 * x
    >>> double(np.arange(3)).tolist(), type(double(np.arange(3))).__name__
    ([0, 2, 4], 'ndarray')
    """
    check_is_function("portable", function)
    if is_async(function):

        @wraps(function)
        async def awaited(*args: P.args, **kwargs: P.kwargs) -> Any:
            kinds: list[Home | None] = []
            in_args = [_wrapped(one, kinds) for one in args]
            in_kwargs = {name: _wrapped(one, kinds) for name, one in kwargs.items()}
            result = await cast(Any, function)(*in_args, **in_kwargs)
            return result if not kinds or None in kinds else _unwrapped(result, _kind(name_of(function), kinds))

        return cast(Callable[P, R], awaited)

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        kinds: list[Home | None] = []
        in_args = [_wrapped(one, kinds) for one in args]
        in_kwargs = {name: _wrapped(one, kinds) for name, one in kwargs.items()} if kwargs else kwargs
        result = function(*in_args, **in_kwargs)  # pyright: ignore[reportCallIssue]  # the same arguments, wrapped
        if not kinds or None in kinds:
            return result
        first = kinds[0]
        backend = first.backend if first and kinds.count(first) == len(kinds) else _kind(name_of(function), kinds)
        return _unwrapped(result, backend)  # type: ignore[no-any-return]  # R, unwrapped

    return called


def _kind(function: str, kinds: list[Home | None]) -> Backend:
    """The backend of the results: the inputs' only framework, or NumPy."""
    backends = list(dict.fromkeys([home.backend for home in kinds if home is not None]))
    frameworks = [one for one in backends if one.library != "numpy"]
    if len(frameworks) > 1:
        first, second = frameworks[:2]
        raise errors.BackendMismatchError(
            f"{function}: one input is an array of {first} and another of {second}. Convert one of them first"
        )
    return (frameworks or backends)[0]


_ATOMS: Final = frozenset({bool, int, float, complex, str, bytes, type(None)})

_are_arrays: Final[dict[type, bool]] = {}
"""A cache: whether instances of a class are native arrays or variables."""


def _wrapped(value: Any, kinds: list[Home | None]) -> Any:
    """`value` with its native arrays wrapped; adds their homes to `kinds`.

    For an Array None is added.
    """
    kind = type(value)
    is_array = _are_arrays.get(kind)
    if not is_array:
        if kind is Array:
            kinds.append(None)
            return value
        if kind in _ATOMS:
            return value
        if is_array is None:
            is_array = registry.backend_of_native(value) is not None
            if len(_are_arrays) < registry.MOST_CLASSES:
                _are_arrays[kind] = is_array
        if not is_array:
            return nested.map_parts(value, functools.partial(_wrapped, kinds=kinds))
    try:
        wrapped = dispatch.as_array("portable", "argument", value)
    except errors.ArgumentTypeError:  # of its dtype, which no Array can have
        return value
    kinds.append(wrapped._home)
    return _kept_from_writes(wrapped, value)


def _kept_from_writes(array: Array, given: Any) -> Array:
    """An Array of what was handed in, which no write to the Array reaches."""
    if array is not given:
        guard(array)
    return array


def _unwrapped(value: Any, backend: Backend) -> Any:
    """`value` with its Arrays as native arrays of `backend`."""
    if type(value) is Array:
        return _exported(value, backend)
    return nested.map_parts(value, functools.partial(_unwrapped, backend=backend))
