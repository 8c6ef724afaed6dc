"""Protocols of an Array: NumPy's, DLPack, JAX, TensorFlow, PyTorch.

`np.exp(x)` and `ndarray + x` call our own functions of those names, and `np.sum(x)` that of `anyarray.numpy`, so they
run on x's backend and return Arrays. What these lack is computed by NumPy on ndarrays. The result of a ufunc (of SciPy
and Numba, too) is then transferred to the backend where a call of ours would have run; the result of a function stays
an ndarray.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Final

import numpy as np

from anyarray._base import errors, nested
from anyarray._base.dtypes import is_numpys_own
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
    if any(map(is_numpys_own, inputs)):  # dates, objects and text, which ours would refuse
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


def function(theirs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy applied to Arrays: the one of `anyarray.numpy`.

    What that lacks, or refuses, NumPy computes on ndarrays. Raises our error if NumPy rejects the arguments, too.
    """
    if theirs in _METADATA_FUNCTIONS:
        return _METADATA_FUNCTIONS[theirs](*args, **kwargs)

    def on_ndarrays() -> Any:
        return theirs(*[_to_ndarrays(one) for one in args], **{k: _to_ndarrays(v) for k, v in kwargs.items()})

    ours = None if any(map(decides, args)) else _ours_of(theirs)
    return on_ndarrays() if ours is None else _with_fallback(lambda: ours(*args, **kwargs), on_ndarrays)


@functools.cache
def _ours_of(theirs: Any) -> Callable[..., Any] | None:
    """The function of `anyarray.numpy` for one of NumPy's.

    None for another function, and where `anyarray.numpy` has NumPy's own.
    """
    chapter = theirs.__module__ if theirs.__module__ in ("numpy.linalg", "numpy.fft") else "numpy"
    ours, numpys = (  # of a higher layer
        getattr(importlib.import_module(module), theirs.__name__, None) for module in (f"anyarray.{chapter}", chapter)
    )
    return None if ours is theirs or numpys is not theirs else ours


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
    if not isinstance(host, (np.ndarray, np.generic)) or decides(host) or is_numpys_own(host):
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
