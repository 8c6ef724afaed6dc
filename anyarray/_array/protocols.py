"""Protocols of an Array: NumPy's, DLPack, JAX, TensorFlow, PyTorch.

`np.exp(x)`, `ndarray + x` and `np.sum(x)` call our own functions of those names, so they run on x's backend and return
Arrays. What our namespace lacks is computed by NumPy on ndarrays. The result of a ufunc (of SciPy and Numba, too) is
then transferred to the backend where a call of ours would have run; the result of a function stays an ndarray.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np

from anyarray._base import errors, nested
from anyarray._base.other_names import ALIASES
from anyarray._call import wrapping
from anyarray._call.arguments import as_array
from anyarray._call.operators import decides
from anyarray._call.out import write
from anyarray._call.placement import home_of_arrays, native_on
from anyarray._call.wrapping import body_globals, wrap
from anyarray._memory import second_copies, transfer, views
from anyarray._registry import registry
from anyarray._registry.home import Home, Native


def ufunc(
    namespace: ModuleType, function: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A ufunc of NumPy applied to Arrays.

    `out` may be an ndarray, which is filled. An operand whose class overrides `__array_ufunc__` goes first; if it
    returns NotImplemented, the ufunc is called again with ndarrays.
    """
    name = function.__name__
    is_of_scipy = getattr(sys.modules.get("scipy.special"), name, None) is function
    ours = getattr(namespace.special if is_of_scipy else namespace, ALIASES.get(name, name), None)
    if ours is not None and (is_of_scipy or getattr(np, name, None) is function):
        UFUNCS[function] = ours
    out: list[Any] = []
    if "out" in kwargs:
        out = [one for one in kwargs["out"] if one is not None]
        if any(map(wrapping.is_array, out)):
            if kwargs.get("where", True) is not True:
                raise errors.ArgumentTypeError(
                    f"{name}: where needs an out that is an ndarray, not Array. Take anyarray.numpy.{name}"
                )
            rest = {option: value for option, value in kwargs.items() if option != "out"}
            return _written(name, kwargs["out"], ufunc(namespace, function, method, inputs, rest))
    if method == "at" and wrapping.is_array(inputs[0]):
        raise errors.ArgumentTypeError(
            f"{name}.at: writes to its first input. Use x[indices] += ... if no index comes twice, else an ndarray"
        )

    given = (*inputs, *out)
    others = _in_order([one for one in given if overrides(type(one), "__array_ufunc__")])
    for other in others:
        if type(other).__array_ufunc__ is None:
            raise errors.takes_part_in_no_ufunc(name, other)
        result = other.__array_ufunc__(function, method, *inputs, **kwargs)
        if result is not NotImplemented:
            return result

    def on_ndarrays() -> Any:
        theirs = getattr(function, method)
        result = theirs(*map(_to_ndarrays, inputs), **{key: _to_ndarrays(value) for key, value in kwargs.items()})
        if out or result is None:
            return result
        home = home_of_arrays(name, [a for a in (*inputs, *kwargs.values()) if wrapping.is_array(a)])
        results = result if isinstance(result, tuple) else (result,)
        arrays = tuple(_as_array_on(one, home, name) for one in results)
        return arrays if isinstance(result, tuple) else arrays[0]

    if others or any(map(decides, given)):
        return on_ndarrays()
    if method != "__call__" or ours is None or not kwargs.keys() <= {"out"} or len(out) > 1:
        return on_ndarrays()
    result = _with_fallback(lambda: ours(*[_operand(one) for one in inputs]), on_ndarrays)
    if not out or result is out[0]:
        return result
    np.copyto(out[0], np.asarray(result), casting="same_kind")
    return out[0]


UFUNCS: Final[dict[np.ufunc, Callable[..., Any]]] = {}
"""A cache of our functions by NumPy's ufunc."""


def _in_order(given: Sequence[Any]) -> list[Any]:
    """The first object of each class, in the order in which NumPy asks.

    Subclasses come before their bases.
    """
    found: list[Any] = []
    for one in given:
        if type(one) not in map(type, found):
            at = next((at for at, other in enumerate(found) if isinstance(one, type(other))), len(found))
            found.insert(at, one)
    return found


def overrides(kind: type, protocol: str) -> bool:
    """Whether a class, not ours or a library's, overrides a protocol of NumPy.

    Arrays with units or labels do, and sparse ones.
    """
    if kind is body_globals["Array"]:
        return False
    ndarrays = getattr(np.ndarray, protocol)
    return getattr(kind, protocol, ndarrays) is not ndarrays and not registry.is_of_framework(kind)


def _written(name: str, out: Any, result: Any) -> Any:
    """Results of NumPy's function, written to the Arrays in `out`."""
    if isinstance(result, tuple):
        return tuple([one if to is None else _written(name, to, one) for to, one in zip(out, result, strict=True)])
    return write(name, out, as_array(name, "out", result))


def _with_fallback(ours: Callable[[], Any], theirs: Callable[[], Any]) -> Any:
    """The result of our function; of NumPy's if ours rejects the arguments.

    Raises our error if both reject them.
    """
    try:
        return ours()
    except (errors.ArgumentTypeError, errors.ArgumentValueError) as refusal:
        try:
            return theirs()
        except (TypeError, ValueError, errors.AnyarrayError):
            raise refusal from None


def function(namespace: ModuleType, theirs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy applied to Arrays.

    It calls ours of that name if that takes the arguments, else NumPy's on ndarrays. Raises our error if NumPy rejects
    the arguments, too.
    """
    form = (theirs, len(args), *kwargs)
    plan = _plans.get(form)
    if plan is not None:
        values = (*args, *kwargs.values(), *plan.constants)
        if plan.axis is None or values[plan.axis] is not None:
            try:  # the same as below with a cached plan, in a quarter of the time
                return plan.call(values)
            except (errors.ArgumentTypeError, errors.ArgumentValueError):
                pass  # NumPy may accept the arguments
    if theirs in _METADATA_FUNCTIONS:
        return _METADATA_FUNCTIONS[theirs](*args, **kwargs)
    if any(map(decides, args)):
        return theirs(*map(_to_ndarrays, args), **{key: _to_ndarrays(value) for key, value in kwargs.items()})
    their_name: str = theirs.__name__
    if wrapping.is_array(kwargs.get("out")):
        rest = {option: value for option, value in kwargs.items() if option != "out"}
        return _written(their_name, kwargs["out"], function(namespace, theirs, args, rest))
    name = ALIASES.get(their_name, their_name)
    chapter = (theirs.__module__ or "").rpartition(".")[2]

    def on_ndarrays() -> Any:
        return theirs(*[_to_ndarrays(one) for one in args], **{k: _to_ndarrays(v) for k, v in kwargs.items()})

    space = getattr(namespace, chapter) if chapter in ("linalg", "fft") else namespace
    ours = getattr(space, name, None) if name in getattr(space, "__all__", ()) else None
    if ours is not None:
        taken = _arguments(theirs, ours, args, kwargs)
        if taken is not None:
            if plan is None and len(_plans) < _MAX_PLANS and (plan := _planned(theirs, ours, args, kwargs)) is not None:
                _plans[form] = plan
            return _with_fallback(lambda: ours(*taken[0], **taken[1]), on_ndarrays)
    return on_ndarrays()


class _Plan(NamedTuple):
    """How our function is called for a form of call of NumPy's function.

    A form is the function, the number of positional arguments and the names of the keyword arguments. Positions index
    the list of all argument values in that order, followed by `constants`.
    """

    ours: Callable[..., Any]
    positional: tuple[tuple[int, bool], ...]
    """The position of each positional argument, and whether it is an array."""
    keyword: tuple[tuple[str, int], ...]
    constants: tuple[Any, ...]
    """Defaults of positional parameters that were not given, before some that were."""
    axis: int | None
    """The position of an `axis` for which None means another call: a flattened array."""

    def call(self, values: tuple[Any, ...]) -> Any:
        """Call our function with these values."""
        return self.ours(
            *[_operand(values[at]) if is_array else values[at] for at, is_array in self.positional],
            **{name: values[at] for name, at in self.keyword},
        )


_plans: Final[dict[Any, _Plan]] = {}
"""A cache of plans by form of call."""
_MAX_PLANS: Final = 1024


def _planned(theirs: Any, ours: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Plan | None:
    """The plan for calls of this form.

    None if the call of our function depends on more than the form.
    """
    tokens = [object() for _ in (*args, *kwargs)]
    if "norm" in kwargs or "out" in kwargs or (ours.__name__ in _DEFAULT_AXES and len(tokens) == 1):
        return None
    taken = _arguments(theirs, ours, tuple(tokens[: len(args)]), dict(zip(kwargs, tokens[len(args) :], strict=True)))
    if taken is None:
        return None
    places = {token: at for at, token in enumerate(tokens)}
    constants: list[Any] = []
    positional: list[tuple[int, bool]] = []
    for value, parameter in zip(taken[0], _signature(ours).parameters.values(), strict=False):
        is_array = _is_array(parameter)
        if type(value) is object:
            positional.append((places.pop(value), is_array))
        else:
            positional.append((len(tokens) + len(constants), is_array))
            constants.append(value)
    axis = places.get(taken[1].get("axis")) if ours.__name__ in _FLATTENED_BY_DEFAULT else None
    keyword = tuple((name, places.pop(value)) for name, value in taken[1].items() if type(value) is object)
    if places or len(keyword) != len(taken[1]):
        return None
    return _Plan(ours, tuple(positional), keyword, tuple(constants), axis)


def _without_values(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy that reads shapes and dtypes only, for Arrays.

    It gets broadcast ndarrays of the same shapes and dtypes, which take no memory.
    """

    def called(*args: Any, **kwargs: Any) -> Any:
        return theirs(*map(_shape_only, args), **kwargs)

    return called


def _shape_only(value: Any) -> Any:
    return np.broadcast_to(np.empty((), np.dtype(value.dtype)), value.shape) if wrapping.is_array(value) else value


_METADATA_FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.ndim: lambda a: a.ndim,
    np.shape: lambda a: a.shape,
    np.size: lambda a, axis=None: a.size if axis is None else np.size(_shape_only(a), axis),
    **{one: _without_values(one) for one in (np.common_type, np.iscomplexobj, np.isrealobj, np.result_type)},
}
"""Functions of shapes and dtypes only. They need no transfer, and work for traced Arrays."""


_FLATTENED_BY_DEFAULT: Final = ("argsort", "cumulative_prod", "cumulative_sum", "sort", "take")
"""Functions for which NumPy flattens the array if the axis is None."""

_DEFAULT_AXES: Final[dict[str, Callable[[Any], tuple[int, ...]]]] = {
    "permute_dims": lambda x: tuple(range(x.ndim))[::-1],
    "squeeze": lambda x: tuple(axis for axis, length in enumerate(x.shape) if length == 1),
}
"""NumPy's default for a parameter that our function requires, computed from the array."""


_RENAMED: Final = {"a_min": "min", "a_max": "max"}
"""Our name of a parameter by NumPy's, for parameters that are not matched by position."""

_SIGNATURES: Final = {
    function: inspect.signature(like)
    for function, like in (
        (np.can_cast, lambda from_, to, casting="safe": None),
        (np.concatenate, lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None),
        (np.empty_like, lambda x, /, dtype=None, order="K", subok=True, shape=None, *, device=None: None),
        (np.where, lambda condition, x, y, /: None),
    )
}
"""Signatures of functions in C: NumPy 2.1 has none for `inspect.signature`."""


_signature: Final = functools.cache(inspect.signature)


def _arguments(
    theirs: Any, ours: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of NumPy's function as arguments of ours.

    None if there is one that ours lacks.
    """
    try:
        signature = _SIGNATURES[theirs] if theirs in _SIGNATURES else _signature(theirs)
        given = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return None
    # For NumPy's FFTs `norm=None` is the default.
    named = {_RENAMED.get(name, name): value for name, value in given.items() if not (name == "norm" and value is None)}
    if ours.__name__ in _FLATTENED_BY_DEFAULT and named.get("axis", signature.parameters["axis"].default) is None:
        first = next(iter(named))
        named |= {first: np.reshape(named[first], (-1,)), "axis": 0}
    positional: list[Any] = []
    keyword: dict[str, Any] = {}
    parameters = _signature(ours).parameters
    for parameter in parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            return None
        if parameter.kind is parameter.VAR_KEYWORD:
            keyword |= named.pop(_variadic(signature), {})
            continue
        if parameter.kind is parameter.KEYWORD_ONLY:
            if parameter.name in named:
                keyword[parameter.name] = named.pop(parameter.name)
        elif named:
            first = parameter.name if parameter.name in named else next(iter(named))
            is_another = first != parameter.name and first in parameters  # it is matched by name later
            value = parameter.default if is_another else named.pop(first)
            positional.append(_operand(value) if _is_array(parameter) else value)
        elif parameter.default is parameter.empty:
            if ours.__name__ not in _DEFAULT_AXES:
                return None
            positional.append(_DEFAULT_AXES[ours.__name__](positional[0]))
    return None if named else (positional, keyword)


def _variadic(signature: inspect.Signature) -> str:
    """The name of `**kwargs`; an empty one if there is none."""
    return next((name for name, one in signature.parameters.items() if one.kind is one.VAR_KEYWORD), "")


def _is_array(parameter: inspect.Parameter) -> bool:
    """Whether a list for it means an array; a shape stays a tuple."""
    return str(parameter.annotation).startswith("AnyArray")


def _operand(value: Any) -> Any:
    """A list as an ndarray, unless it holds Arrays; else the value itself."""
    if isinstance(value, (list, tuple)) and not any(wrapping.is_array(one) for one in value):
        return np.asarray(value)
    return value


def _to_ndarray(value: Any) -> Any:
    if not wrapping.is_array(value):
        return value
    transfer.refuse_differentiated(value._native, value._home.backend, "become a NumPy array")
    return transfer.to_host(value._native, value._home.backend, "numpy")


def _to_ndarrays(value: Any) -> Any:
    """`value` with each Array, also in lists and tuples, as an ndarray."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_to_ndarrays(one) for one in value)
    return _to_ndarray(value)


def _as_array_on(host: Any, home: Home, cause: str) -> Any:
    """A result of NumPy as an Array on `home`.

    An array of another class is returned as it is, and so is one of objects, dates or another dtype that no Array has.
    """
    if not isinstance(host, (np.ndarray, np.generic)) or decides(host):
        return host
    numpys = registry.backend_of_name("numpy").free
    try:
        numpys.dtype(host)
    except errors.ArgumentTypeError:
        return host
    array = wrap(host, numpys)
    return wrap(native_on(array, home, cause), home)


CPU: Final = (1, 0)
"""DLPack's device type and index of the host."""


def dlpack_device(native: Native, home: Home) -> tuple[int, int]:
    """DLPack's device type and index."""
    if home.backend.kind in ("cpu", "mesh"):  # an array on a mesh is exported as a copy
        return CPU
    kind, index = native.__dlpack_device__()
    return int(kind), int(index)


def dlpack(
    native: Native,
    home: Home,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[Any, int] | None,
    copy: bool | None,
) -> Any:
    """A DLPack capsule of a native array.

    On the host, NumPy's exporter makes it, which supports all versions, except for bfloat16.
    """
    transfer.refuse_differentiated(native, home.backend, "be exported")
    wanted = None if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted in (None, dlpack_device(native, home)) and home.backend.kind not in ("cpu", "mesh"):
        return (native if copy is False else home.exported(native)).__dlpack__(stream=stream)
    if wanted not in (None, CPU):
        raise BufferError(f"__dlpack__: dl_device must be this Array's own or the host {CPU}, not {wanted}")
    if copy is False and (home.backend.kind == "mesh" or (wanted == CPU and home.backend.kind != "cpu")):
        raise BufferError(f"__dlpack__: an Array on {home.backend} cannot be shared with the host without a copy")
    if home.backend.library != "numpy" and home.dtype(native).name == "bfloat16":  # which NumPy's exporter refuses
        if copy is False and not home.backend.is_immutable:
            raise BufferError("__dlpack__: an Array of bfloat16 is exported as a copy. Leave copy=None")
        return home.exported(native).__dlpack__()
    # Before DLPack 1.0 a capsule had no read-only flag, so memory is copied; with `copy=False` it is shared anyway.
    is_old = max_version is None or max_version[0] < 1
    if is_old and copy is False:
        shared = home.exported(native) if home.backend.is_immutable else np.asarray(native)
        return shared.__dlpack__()
    host = transfer.to_host(native, home.backend, "__dlpack__", explicit=True)
    if copy or is_old:
        host = np.array(host)
    return host.__dlpack__(max_version=max_version)


def as_native_of(x: Any, library: str) -> Native:
    """The values of an Array as a native array of a library.

    It is the Array's own native array if that is on the library.
    """
    home = x._home
    if home.backend.library == library:
        second_copies.note_export(x)
        return x._native
    return native_on(x, registry.backend_of_name(library).free, library)


def wrap_from(native: Native, library: str) -> Any:
    """An Array of a value that a library's transform passes back.

    That is a native array, or a stand-in of the library's own.
    """
    backend = registry.backend_of_native(native)
    return wrap(native, (backend or registry.backend_of_name(library)).free)


def as_tensor(x: Any, dtype: Any) -> Native:
    """A tf.Tensor of an Array, in TensorFlow's `dtype` if one is given."""
    native = as_native_of(x, "tf")
    if dtype is None or native.dtype == dtype:
        return native
    return registry.backend_of_name("tf").free.astype(native, dtype)


def torch_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of PyTorch applied to Arrays: that of tensors.

    An operator with a tensor on its left is the Array's own.
    """
    owner, _, name = getattr(function, "__qualname__", "").rpartition(".")
    if owner in ("Tensor", "TensorBase") and name in _OPERATORS_OF_TENSORS:
        return NotImplemented
    writes_to_first = name.endswith("_") and not name.endswith("__")
    if wrapping.is_array(kwargs.get("out")) or (writes_to_first and args and wrapping.is_array(args[0])):
        raise errors.ArgumentTypeError(
            f"{name}: writes to a tensor, not to an Array. Write the result: x[...] = torch.{name.rstrip('_')}(...)"
        )
    memories: set[int | None] = set()

    def tensor(value: Any) -> Any:
        if not wrapping.is_array(value):
            return nested.map_parts(value, tensor)
        if value._home.has_views:
            views.guard_alone(value)  # a derivative may need its values; of others' writes PyTorch tells then
        native = as_native_of(value, "torch")
        memories.add(_memory_of(native))
        return native.clone() if kwargs.get("inplace") else native

    def apart(value: Any) -> Any:
        memory = _memory_of(value)
        if memory is None:
            return nested.map_parts(value, apart)
        return value.clone() if memory in memories else value  # a write to it must not reach an Array

    return apart(function(*[tensor(one) for one in args], **{key: tensor(one) for key, one in kwargs.items()}))


def _memory_of(value: Any) -> int | None:
    """The number of a tensor's memory; None if it has none."""
    try:
        return value.untyped_storage()._cdata  # type: ignore[no-any-return]  # PyTorch's
    except (AttributeError, NotImplementedError, RuntimeError):  # it is no tensor, or part of a trace
        return None


_NAMES: Final = "__and__ __floordiv__ __lshift__ __or__ __rshift__ __xor__ add div eq ge gt le lt matmul mul ne pow"
_OPERATORS_OF_TENSORS: Final = frozenset([*_NAMES.split(), "remainder", "sub"])
"""What PyTorch calls for `tensor + x` and its kin."""
