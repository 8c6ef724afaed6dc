"""Creation functions: Arrays from values, shapes and other arrays.

They run on the given `device`, else on the chosen backend, else on NumPy. A `device` is a device or its name. An Array
made with a `device` is *placed*: the automatic choice never moves it. `dtype` is a dtype of the namespace, or anything
that NumPy accepts as a dtype. `default_dtypes` changes the defaults.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

import numpy as np

from anyarray._array.array import AnyArray, Array, Shape
from anyarray._base import dtypes, errors
from anyarray._base.dtypes import DType, DTypeLike
from anyarray._call import diagnosis
from anyarray._call import wrapping as _wrapping
from anyarray._call.arguments import (
    as_array,
    as_integer,
    as_length,
    as_number,
    as_shape,
    holds_unknown_length,
    require_dtype,
    unknown_length,
)
from anyarray._call.by_position import takes_by_position
from anyarray._call.compiled import fast_path
from anyarray._call.declaration import declare
from anyarray._call.dispatch import dispatch
from anyarray._call.placement import home_of_array, home_of_arrays, native_on
from anyarray._call.wrapping import SCALARS, body_globals, copied, is_array, wrap, wrap_aligned, wrap_new, wrap_owned
from anyarray._choice import choice
from anyarray._memory import alignment, devices, transfer
from anyarray._memory.second_copies import LENDABLE
from anyarray._memory.transfer import UNWATCHED, watch
from anyarray._registry import registry
from anyarray._registry.home import Home, Native
from anyarray._registry.registry import Backend

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip

_SMALL: Final = alignment.SMALL
_MODEST: Final = alignment.MODEST
_NUMPY: Final = registry.backend_of_name("numpy").free
# Module globals: faster to look up than attributes of modules.
_defaults, _zeros, _empty = dtypes.defaults, np.zeros, np.empty
_arange: Final[Callable[..., Any]] = np.arange
_new: Final = body_globals["new"]
_FEW: Final = 1 << 31
"""The limit below which integers fit the usual default dtype."""
_MOST: Final = 1 << 48
"""More elements than any array has: the bytes of a 48-bit address space."""
_COUNTABLE: Final = 1 << 60
"""Elements of 8 bytes whose size in bytes overflows in libraries."""
_MOST_AXES: Final = 64
"""The maximum number of dimensions of an ndarray."""

Device = Backend | str
Number = bool | int | float | complex


@declare
@fast_path("arange")
def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
) -> Array:
    """Evenly spaced values from `start` up to, but not including, `stop`.

    Without `stop`, the values go from 0 up to `start`. The result has the shape (ceil((stop - start) / step),), and is
    empty if that is negative. Its dtype is the default integer dtype if all three arguments are integers, else the
    default float dtype. Raises ValueError if `step` is 0, OverflowError for integers that the dtype cannot hold.

    >>> import anyarray as xp
    >>> xp.arange(1, 10, 3).tolist()
    [1, 4, 7]

    Source: array API 2025.12, creation_functions.arange.
    """
    is_usual = dtype is None and _defaults()[int] is dtypes.int64
    if is_usual and stop is None and type(step) is type(start) is int and step == 1 and 0 <= start * 8 < _SMALL:
        home = choice.chosen_home(device)
        if home is _NUMPY:  # a fast path for the common case, in two thirds of the time
            return wrap(_arange(start), home)
    low: Any
    high: Any
    low, high, gap = (0, start, step) if stop is None else (start, stop, step)
    kind: type[Any] = int
    are_ints = type(low) is type(high) is type(gap) is int
    if not are_ints and holds_unknown_length((low, high, gap)):
        return _arange_in_trace(low, high, gap, dtype, device)
    if not (is_usual and are_ints and gap and -_FEW < low < _FEW and -_FEW < high < _FEW):
        low = as_number("arange", "start", low)
        high = as_number("arange", "start" if stop is None else "stop", high)
        gap = as_number("arange", "step", gap)
        if gap == 0:
            raise errors.ArgumentValueError("arange: step must not be 0")
        kind = int if isinstance(low, int) and isinstance(high, int) and isinstance(gap, int) else float
        if kind is float and (isinstance(low, complex) or isinstance(high, complex) or isinstance(gap, complex)):
            raise errors.ArgumentTypeError(
                f"arange: start, stop and step must be real numbers, not {low}, {high} and {gap}"
            )
        if kind is int or dtype is not None:
            _check_range(low, high, gap, dtype)
    home = choice.chosen_home(device)
    wanted = _defaults()[kind] if dtype is None else dtypes.dtype(dtype, "arange")
    if wanted.kind == "b":
        raise errors.ArgumentTypeError("arange: dtype must be numeric, not bool")
    if home is _NUMPY and wanted.itemsize == 8 and abs(high - low) * 8 < abs(gap) * _MODEST:
        few = _arange(low, high, gap, wanted.dtype)
        return wrap(few, home) if few.nbytes < _SMALL else wrap_aligned(alignment.copied(few), home)
    try:
        native = _made("arange", home, low, high, gap, dtype=home.backend.dtype_for(wanted))
    except Exception as error:
        _refuse_size("arange", ((high - low) // gap,), error)
        raise
    return wrap_aligned(native, home)


@fast_path("asarray")
def asarray(
    obj: Any, /, *, dtype: DTypeLike | None = None, device: Device | None = None, copy: bool | None = None
) -> Array:
    """An Array from a sequence, any library's array, a scalar or a buffer.

    Python numbers in a nested sequence get the default dtype of their kind. `copy=True` always copies, `copy=False`
    shares memory or raises ValueError, and `copy=None` copies memory that other code can write, but not a file mapped
    with `mmap_mode="r"`. An Array that needs no conversion is returned unchanged unless `copy=True`. An array of a
    framework stays on its device.
    Raises TypeError for values that Arrays do not support (objects, strings, dates).

    >>> import anyarray as xp
    >>> xp.asarray([[1, 2], [3, 4]]).shape
    (2, 2)

    Source: array API 2025.12, creation_functions.asarray.
    """
    if type(obj) is Array:
        if device is None and home_of_array("asarray", obj) is obj._home:
            return _here(obj, dtype, copy)
        if device is not None and dtype is None and copy is None and watch() is UNWATCHED:
            return obj.to_device(device)
    if type(obj) is np.ndarray and dtype is None and device is None and copy is not False and obj.dtype.isnative:
        # A fast path of `_of_array` for the common case, in a third of the time.
        home = choice.chosen_home()
        if home is _NUMPY or home.backend.library == "numpy":
            if obj.dtype not in home.dtypes:
                require_dtype("asarray", "obj", home, obj)
            if obj.nbytes < _SMALL:
                return wrap(obj.copy("K"), home)
            if _is_constant(obj):
                return _of_array(obj, None, None, None)
            if obj.flags.c_contiguous:
                return wrap_aligned(alignment.copied(obj), home)
            return wrap_owned(home.exported(obj), home)
    wanted = None if dtype is None else dtypes.dtype(dtype, "asarray")
    kind = type(obj)
    if kind is list or kind is tuple:
        return _of_sequence(obj, wanted, device, copy)
    if kind in SCALARS:
        return _of_scalar(obj, kind, wanted, device, copy)
    if kind is Array or registry.backend_of_native(obj) is not None:
        return _of_array(obj, wanted, device, copy)
    if isinstance(obj, (list, tuple, range)):
        return _of_sequence(obj, wanted, device, copy)
    for scalar in (bool, int, float, complex):
        # np.float64 is a subclass of float, but has its own dtype.
        if isinstance(obj, scalar) and not isinstance(obj, np.generic):
            return _of_scalar(obj, scalar, wanted, device, copy)
    host = _host_array(obj)
    return _of_array(host, wanted, device, copy=False) if copy is False else _of_host(host, wanted, device)


def _here(x: Array, dtype: DTypeLike | None, copy: bool | None) -> Array:
    """An Array from an Array, on the same backend."""
    wanted = None if dtype is None else dtypes.dtype(dtype)
    home = x._home
    if wanted is not None and wanted is not home.dtype(x._native):
        return _converted(x, wanted, copy)
    return copied(x) if copy else x


def _of_array(obj: Any, wanted: DType | None, device: Device | None, copy: bool | None) -> Array:
    """An Array from an Array, or from a native array."""
    source = as_array("asarray", "obj", obj)
    is_ours = is_array(obj)
    home = choice.chosen_home(device)
    if device is None and (choice.chosen() is None or home.backend is source._home.backend):
        home = source._home
    if is_ours and home is source._home and wanted in (None, source.dtype) and not copy:
        return source
    if home.backend is not source._home.backend:
        native = _shared(source, home) if copy is False else native_on(source, home, "asarray", explicit=True)
    elif copy and wanted in (None, source.dtype):
        native = (copied(source) if is_ours else wrap_owned(home.duplicate(source._native), home))._native
    elif is_ours or copy is False or home.backend.is_immutable or _is_constant(source._native):
        native = source._native  # a write copies first
    else:
        return _converted(wrap_owned(home.duplicate(source._native), home), wanted, copy)
    return _converted(wrap_new(native, home), wanted, copy)


def _is_constant(native: Any) -> bool:
    return isinstance(native, np.ndarray) and alignment.is_constant(native)


def _shared(source: Array, home: Home) -> Any:
    """A native array of another backend that shares the memory of an Array.

    The user asked for it with `copy=False`. Raises ValueError if it cannot be shared.
    """
    backend = source._home.backend
    transfer.refuse_differentiated(source._native, backend, f"be brought to {home.backend}")
    native = transfer.shared(source._native, backend, home.backend)
    if native is None:
        raise errors.ArgumentValueError(
            f"asarray: obj on {backend} cannot be shared with {home.backend}, which needs the same device, a dtype "
            f"that both have, and contiguous, writable memory aligned to {alignment.ALIGNMENT} bytes. Leave copy=None"
        )
    return native


def _converted(x: Array, wanted: DType | None, copy: bool | None) -> Array:
    if wanted is None or wanted is x.dtype:
        return x
    if copy is False:
        raise errors.ArgumentValueError(f"asarray: obj of dtype {x.dtype} cannot become {wanted} without a copy")
    return _wrapping.cast("asarray", "obj", x, wanted)


def _leaves(obj: Any) -> Iterator[Any]:
    """The elements of nested lists and tuples."""
    for one in obj:
        if isinstance(one, (list, tuple)):
            yield from _leaves(one)
        else:
            yield one


_NESTS: Final = frozenset({list, tuple})


def _kinds(obj: Any) -> set[type]:
    """The classes of the elements of nested lists and tuples."""
    kinds = set(map(type, obj))
    if kinds <= SCALARS:
        return kinds
    nests = kinds if kinds <= _NESTS else {kind for kind in kinds if issubclass(kind, (list, tuple))}
    rows = obj if nests == kinds else [one for one in obj if isinstance(one, (list, tuple))]
    inner = set(
        map(type, itertools.chain.from_iterable(rows))
    )  # one C loop: a call for each row takes as long as its elements
    if inner <= SCALARS:
        return inner if nests is kinds else kinds - nests | inner
    return (kinds - nests).union(*map(_kinds, rows))


_FOUND: Final[dict[np.dtype[Any], type[Any]]] = {
    np.dtype(np.bool): bool,
    np.dtype(np.int64): int,
    np.dtype(np.float64): float,
    np.dtype(np.complex128): complex,
}
"""The Python class of elements, by the dtype that NumPy infers for them."""


def _are_natural(obj: Any) -> bool:
    """Whether nested lists and tuples hold only nonnegative Python ints."""
    return all(type(one) is int and one >= 0 for one in _leaves(obj))


def _stacked(obj: Any, wanted: DType | None, device: Device | None) -> Array:
    """An Array from nested sequences that hold arrays.

    Their backend stacks them, so that it works in traces and is differentiable.
    """
    whole = _joined_in_numpy(obj)
    if whole is not None:
        home = home_of_array("asarray", whole) if device is None else choice.chosen_home(device)
        native = native_on(whole, home, "asarray", explicit=True)
        return _converted(whole if home is _NUMPY else wrap(native, home), wanted, copy=None)
    parts = [_stacked(o, None, device) if isinstance(o, (list, tuple)) and o else asarray(o) for o in obj]
    home = home_of_arrays("asarray", parts) if device is None else choice.chosen_home(device)
    try:
        native = home.stack([native_on(p, home, "asarray", explicit=True) for p in parts], axis=0)
    except Exception as error:
        shapes = dict.fromkeys(str(p.shape) for p in parts)
        if len(shapes) > 1:
            raise errors.ArgumentValueError(
                f"asarray: obj must be a regular nested sequence, not of arrays of shapes {' and '.join(shapes)}"
            ) from error
        raise
    return _converted(wrap(native, home), wanted, copy=None)


def _joined_in_numpy(obj: Any) -> Array | None:
    """An Array from nested free Arrays in NumPy; None for anything else."""
    natives = _natives_in_numpy(obj)
    if natives is None:
        return None
    try:
        host = np.array(natives)
    except ValueError:
        return None  # ragged
    return wrap_owned(host, _NUMPY) if host.dtype in _NUMPY.dtypes else None  # else they have no common dtype


def _natives_in_numpy(obj: Any) -> list[Any] | None:
    """The same nested lists of native arrays, if all are free in NumPy.

    `np.array` of them takes a fifth of the time of stacking them. Python scalars may be among them, where the default
    dtypes are NumPy's.
    """
    kinds = _ELEMENTS if _defaults()[float] is dtypes.float64 and _defaults()[int] is dtypes.int64 else _ARRAYS
    natives: list[Any] = []
    for one in obj:
        kind = type(one)
        if kind in kinds and (kind is not Array or one._home is _NUMPY):
            natives.append(one._native if kind is Array else one)
        elif kind in _NESTS:
            part = _natives_in_numpy(one)
            if part is None:
                return None
            natives.append(part)
        else:
            return None
    return natives


_ARRAYS: Final = frozenset({Array})
_ELEMENTS: Final = _ARRAYS | SCALARS


def _of_sequence(obj: Any, wanted: DType | None, device: Device | None, copy: bool | None) -> Array:
    """An Array from nested sequences, on the backend of arrays in them."""
    if copy is False:
        raise errors.ArgumentValueError(f"asarray: a {type(obj).__name__} cannot become an Array without a copy")
    if isinstance(obj, (list, tuple)):
        if obj and type(obj[0]) is Array:  # as most lists of Arrays begin
            return _stacked(obj, wanted, device)
        kinds = _kinds(obj)
        if kinds <= SCALARS:
            try:
                host = np.array(obj)
            except ValueError:
                pass  # ragged: the error is raised below
            else:
                if host.dtype.kind == "O":  # integers out of range for all dtypes
                    return _of_host(host, wanted or dtypes.common_default(kinds), device, is_new=True)
                found = _FOUND.get(host.dtype)
                if found in kinds:  # else no element has that kind, as for large integers
                    if wanted is None and host.nbytes < _SMALL and _defaults()[found].dtype is host.dtype:
                        home = choice.chosen_home(device)
                        if home is _NUMPY:  # a fast path for the common case, in half the time
                            return wrap(host, home)
                    return _of_host(host, wanted or _defaults()[found], device, is_new=True)
        if Array in kinds or any(map(registry.is_of_framework, kinds - SCALARS)):
            return _stacked(obj, wanted, device)
    host = _host_array(obj)
    return _of_host(host, wanted or _of_leaves(host, obj), device, is_new=True)


def _of_scalar(obj: Any, kind: type[Any], wanted: DType | None, device: Device | None, copy: bool | None) -> Array:
    """A 0-d Array from a Python scalar of the class `kind`."""
    if copy is False:
        raise errors.ArgumentValueError("asarray: a Python scalar cannot become an Array without a copy")
    if wanted is None:
        usual = _defaults()[kind]
        if kind is not int or (usual is dtypes.int64 and -_FEW < obj < _FEW):
            home = choice.chosen_home(device)
            if home is _NUMPY:  # a fast path for the common case, in half the time
                return wrap(np.array(obj, usual.dtype), home)
    host = np.array(obj)
    return _of_host(host, wanted or _of_scalars(host.dtype, kind), device, is_new=True)


def _host_array(obj: Any) -> np.ndarray[Any, Any]:
    """An ndarray from a sequence or a buffer."""
    try:
        host = np.asarray(memoryview(obj)) if isinstance(obj, (bytes, bytearray)) else np.asarray(obj)
    except ValueError as error:
        method = getattr(obj, "__array__", None)
        found = None if method is None else method()
        if type(found) is not Array:
            raise errors.ArgumentValueError(f"asarray: obj must be a regular nested sequence: {error}") from error
        host = np.asarray(found)  # NumPy takes an ndarray alone from `__array__`
    if host.dtype == np.float64 and host.size and isinstance(obj, (list, tuple)) and _are_natural(obj):
        # NumPy converts integers to floats, with rounding, if only some of them fit in int64.
        host = np.asarray(obj, dtype=np.uint64)
    if host.dtype.kind not in "biufcV" or host.dtype.fields:
        dense = errors.as_dense(obj)
        raise errors.ArgumentTypeError(
            f"asarray: obj must hold numbers or booleans, not {type(obj).__name__} of {host.dtype}"
            + (f". Make it dense: {dense}" if dense else "")
        )
    return host


def _of_leaves(host: np.ndarray[Any, Any], obj: Any) -> DType | None:
    """The default dtype of a sequence of Python scalars.

    None if its elements have dtypes of their own, or need uint64.
    """
    leaf = next(iter(_leaves(obj)), 0.0) if isinstance(obj, (list, tuple)) else None
    if type(leaf) in SCALARS or leaf is None:
        kind = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[host.dtype.kind]
        return _of_scalars(host.dtype, kind)
    return None


def _of_scalars(found: np.dtype[Any], kind: type[Any]) -> DType | None:
    """The default dtype of a kind; None for values that need uint64."""
    return None if found.kind == "u" else dtypes.default(kind)


def _of_host(host: np.ndarray[Any, Any], wanted: DType | None, device: Device | None, *, is_new: bool = False) -> Array:
    """A new Array from an ndarray, on the chosen home.

    If `is_new`, there is no other reference to its memory.
    """
    if wanted is None:
        wanted = dtypes.dtype(host.dtype)
    if host.dtype.kind == "c" and wanted.kind != "c":
        raise errors.ArgumentTypeError(f"asarray: obj is complex and cannot become {wanted}. Take its real part")
    home = choice.chosen_home(device)
    kind = wanted.dtype
    if host.dtype is kind:
        cast = host
    else:
        if is_new and wanted.kind in "iu" and host.dtype.kind in "iufO" and host.size:
            for bound in (host.min(), host.max()):  # an array of a library is cast without a check, as libraries do
                dtypes.integer_within("asarray", bound.item() if isinstance(bound, np.generic) else bound, wanted)
        cast = host.astype(kind, copy=False)
    if is_new and cast.nbytes < alignment.SMALL and home.backend.library == "numpy":
        return wrap(cast, home)
    return wrap_owned(transfer.from_host(cast, home.backend), home)


@declare
@fast_path("fill")
def empty(shape: Shape, *, dtype: DTypeLike | None = None, device: Device | None = None) -> Array:
    """An Array of `shape` with uninitialized values.

    >>> import anyarray as xp
    >>> xp.empty((2, 3)).shape
    (2, 3)

    Source: array API 2025.12, creation_functions.empty.
    """
    return _filled("empty", shape, dtype, choice.chosen_home(device))


@declare(batch="conversion")
@fast_path("fill_like")
def empty_like(x: AnyArray, /, *, dtype: DTypeLike | None = None, device: Device | None = None) -> Array:
    """An Array of uninitialized values with the shape of `x`.

    Dtype and device are those of `x`, too, unless given.

    >>> import anyarray as xp
    >>> xp.empty_like(xp.ones((2, 3))).shape
    (2, 3)

    Source: array API 2025.12, creation_functions.empty_like.
    """
    return _like("empty", x, dtype, device)


@declare
@takes_by_position
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
) -> Array:
    """A matrix with ones on the diagonal `k` and zeros elsewhere.

    The shape is (`n_rows`, `n_cols`). `n_cols` defaults to `n_rows`. A positive `k` is above the main diagonal.

    >>> import anyarray as xp
    >>> xp.eye(2, 3, k=1, dtype=xp.int64).tolist()
    [[0, 1, 0], [0, 0, 1]]

    Source: array API 2025.12, creation_functions.eye.
    """
    rows: Any = n_rows if type(n_rows) is int else as_length("eye", "n_rows", n_rows)
    columns: Any = rows if n_cols is None else as_length("eye", "n_cols", n_cols)
    k = k if type(k) is int else as_integer("eye", "k", k)
    wanted = _defaults()[float] if dtype is None else dtypes.dtype(dtype, "eye")
    home = choice.chosen_home(device)
    if not type(rows) is type(columns) is int:
        lengths, home = _in_trace("eye", (rows, columns), device)
        return wrap(_made("eye", home, *lengths, k=k, dtype=home.backend.dtype_for(wanted)), home)
    if home is _NUMPY and rows > 0 < columns and rows * columns * wanted.itemsize < _SMALL:
        few = _zeros((rows, columns), wanted.dtype)  # small arrays need not be aligned
        if k == 0 and rows <= columns:  # as NumPy's, without its iterator
            few.reshape(-1)[:: columns + 1] = 1
        elif -rows < k < columns:
            few[max(0, -k) : columns - k].reshape(-1)[max(0, k) :: columns + 1] = 1
        return wrap(few, home)
    _shape("eye", (rows, columns))
    k = max(-rows, min(k, columns))  # as empty as diagonals beyond, which may overflow in libraries
    return wrap_aligned(_made("eye", home, rows, columns, k=k, dtype=home.backend.dtype_for(wanted)), home)


@fast_path("from_dlpack")
def from_dlpack(x: object, /, *, device: Device | None = None, copy: bool | None = None) -> Array:
    """An Array from any object that exports DLPack.

    `copy` is as in `asarray`: memory is shared only with `copy=False`, or if no other code can write it.
    Raises TypeError if `x` has no `__dlpack__`.

    >>> import anyarray as xp
    >>> import numpy as np
    >>> xp.from_dlpack(np.arange(3)).tolist()
    [0, 1, 2]

    Source: array API 2025.12, creation_functions.from_dlpack.
    """
    if type(x) is Array or registry.backend_of_native(x) is not None:
        return asarray(x, device=device, copy=copy)
    if not hasattr(x, "__dlpack__"):
        raise errors.ArgumentTypeError(f"from_dlpack: x must have __dlpack__, not {type(x).__name__}")
    return asarray(np.from_dlpack(x), device=device, copy=copy)  # pyright: ignore[reportArgumentType]  # it has __dlpack__


@declare
@fast_path("fill")
def full(
    shape: Shape, fill_value: Number | AnyArray, *, dtype: DTypeLike | None = None, device: Device | None = None
) -> Array:
    """An Array of `shape` filled with `fill_value`.

    `fill_value` is a Python scalar or an Array without axes. The default dtype is that of the Array, or the default for
    the kind of the scalar.

    >>> import anyarray as xp
    >>> xp.full((2, 2), 7).tolist()
    [[7, 7], [7, 7]]

    Source: array API 2025.12, creation_functions.full.
    """
    kind: type[Any] | None = type(fill_value)
    if kind not in SCALARS:
        kind = next((k for k in (bool, int, float, complex) if isinstance(fill_value, k)), None)
        if kind is None or isinstance(fill_value, np.generic):
            return _full_of_array(_shape("full", shape), fill_value, dtype, device)
    wanted = _defaults()[kind] if dtype is None else dtypes.dtype(dtype, "full")
    value: Any = fill_value if dtype is None and kind is not int else _fitted("full", fill_value, wanted)
    return _filled("full", shape, wanted, choice.chosen_home(device), value)


def _full_of_array(shape: tuple[int, ...], fill_value: Any, dtype: DTypeLike | None, device: Device | None) -> Array:
    """The result of `full` for a 0-d array, ours or a library's."""
    try:
        value = asarray(fill_value, dtype=dtype, device=device)
    except errors.ArgumentTypeError as error:
        raise errors.ArgumentTypeError(
            f"full: fill_value must be a number or an Array without axes, not {fill_value!r}"
        ) from error
    if value.shape != ():
        raise errors.ArgumentValueError(f"full: fill_value must have no axes, not shape {value.shape}")
    home = choice.chosen_home(device) if not value._home.is_traced(value._native) else value._home
    if any(type(n) is not int for n in shape):
        shape, home = _in_trace("full", shape, device)
    return wrap(home.broadcast_to(native_on(value, home, "full"), shape), home)


@declare(cost="creation", alike="ones_like", batch="conversion")
@fast_path("fill_like")
def full_like(
    x: AnyArray, /, fill_value: Number | AnyArray, *, dtype: DTypeLike | None = None, device: Device | None = None
) -> Array:
    """An Array filled with `fill_value`, with the shape of `x`.

    Dtype and device are those of `x`, too, unless given.

    >>> import anyarray as xp
    >>> xp.full_like(xp.zeros(3, dtype=xp.int64), 7).tolist()
    [7, 7, 7]

    Source: array API 2025.12, creation_functions.full_like.
    """
    x = as_array("full_like", "x", x)
    if type(fill_value) not in SCALARS:
        dtype = x.dtype if dtype is None else dtype
        return full(x.shape, fill_value, dtype=dtype, device=x.device if device is None else device)
    wanted = x.dtype if dtype is None else dtypes.dtype(dtype, "full_like")
    return _like("full", x, dtype, device, _fitted("full_like", fill_value, wanted))


@declare
@takes_by_position
def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    endpoint: bool = True,
) -> Array:
    """`num` evenly spaced values from `start` to `stop`.

    `stop` is excluded unless `endpoint` is True. The result has the shape (num,). Its dtype is the default complex
    dtype if `start` or `stop` is complex, else the default float dtype. Raises ValueError if `num` is negative.

    >>> import anyarray as xp
    >>> xp.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]

    Source: array API 2025.12, creation_functions.linspace.
    """
    given = start, stop, num
    if holds_unknown_length(given):
        return _linspace_in_trace(given, dtype, device, endpoint)
    start, stop = as_number("linspace", "start", start), as_number("linspace", "stop", stop)
    num = as_integer("linspace", "num", num)
    if num < 0:
        raise errors.ArgumentValueError(f"linspace: num must not be negative, not {num}")
    if num >= _MOST:
        _refuse_size("linspace", (num,))
    is_complex = isinstance(start, complex) or isinstance(stop, complex)
    if is_complex and dtype is not None and dtypes.dtype(dtype, "linspace").kind != "c":
        raise errors.ArgumentTypeError(
            f"linspace: start and stop must not be complex for dtype {dtypes.dtype(dtype)}. Leave dtype out"
        )
    if type(endpoint) is not bool:
        diagnosis.check_argument("linspace", "endpoint", "bool", endpoint)
    wanted = _defaults()[complex if is_complex else float] if dtype is None else dtypes.dtype(dtype, "linspace")
    home = choice.chosen_home(device)
    kind = home.backend.dtype_for(wanted)
    return wrap_aligned(_made("linspace", home, start, stop, num, endpoint=bool(endpoint), dtype=kind), home)


@dispatch
def meshgrid(*arrays: AnyArray, indexing: Literal["xy", "ij"] = "xy") -> tuple[Array, ...]:
    """Coordinate arrays of the grid that one-dimensional `arrays` span.

    For n arrays of lengths N1 ... Nn, each result has the shape (N1, ..., Nn), or (N2, N1, N3, ..., Nn) if `indexing`
    is "xy". Without arrays, the result is ().

    >>> import anyarray as xp
    >>> x, y = xp.meshgrid(xp.asarray([1, 2, 3]), xp.asarray([4, 5]))
    >>> x.tolist(), y.tolist()
    ([[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]])

    Source: array API 2025.12, creation_functions.meshgrid.
    """
    ...


@declare
@fast_path("fill")
def ones(shape: Shape, *, dtype: DTypeLike | None = None, device: Device | None = None) -> Array:
    """An Array of `shape` filled with ones.

    >>> import anyarray as xp
    >>> xp.ones(3).tolist()
    [1.0, 1.0, 1.0]

    Source: array API 2025.12, creation_functions.ones.
    """
    return _filled("ones", shape, dtype, choice.chosen_home(device), 1)


@declare(cost="creation", batch="conversion")
@fast_path("fill_like")
def ones_like(x: AnyArray, /, *, dtype: DTypeLike | None = None, device: Device | None = None) -> Array:
    """An Array of ones with the shape of `x`.

    Dtype and device are those of `x`, too, unless given.

    >>> import anyarray as xp
    >>> xp.ones_like(xp.asarray([5, 6])).tolist()
    [1, 1]

    Source: array API 2025.12, creation_functions.ones_like.
    """
    return _like("ones", x, dtype, device, 1)


@dispatch(fit="matrices", batch="matrices")
def tril(x: AnyArray, /, *, k: int = 0) -> Array:
    """The lower triangle of each matrix of `x`, zero above the diagonal `k`.

    `x` is (..., m, n).

    >>> import anyarray as xp
    >>> xp.tril(xp.asarray([[1, 2], [3, 4]])).tolist()
    [[1, 0], [3, 4]]

    Source: array API 2025.12, creation_functions.tril.
    """
    ...


@dispatch(fit="matrices", batch="matrices")
def triu(x: AnyArray, /, *, k: int = 0) -> Array:
    """The upper triangle of each matrix of `x`, zero below the diagonal `k`.

    `x` is (..., m, n).

    >>> import anyarray as xp
    >>> xp.triu(xp.asarray([[1, 2], [3, 4]])).tolist()
    [[1, 2], [0, 4]]

    Source: array API 2025.12, creation_functions.triu.
    """
    ...


@declare
@fast_path("fill")
def zeros(shape: Shape, *, dtype: DTypeLike | None = None, device: Device | None = None) -> Array:
    """An Array of `shape` filled with zeros.

    >>> import anyarray as xp
    >>> xp.zeros((1, 2)).tolist()
    [[0.0, 0.0]]

    Source: array API 2025.12, creation_functions.zeros.
    """
    return _filled("zeros", shape, dtype, choice.chosen_home(device))


@declare(cost="creation", alike="ones_like", batch="conversion")
@fast_path("fill_like")
def zeros_like(x: AnyArray, /, *, dtype: DTypeLike | None = None, device: Device | None = None) -> Array:
    """An Array of zeros with the shape of `x`.

    Dtype and device are those of `x`, too, unless given.

    >>> import anyarray as xp
    >>> xp.zeros_like(xp.asarray([5, 6])).tolist()
    [0, 0]

    Source: array API 2025.12, creation_functions.zeros_like.
    """
    return _like("zeros", x, dtype, device)


def _like(name: str, x: AnyArray, dtype: DTypeLike | None, device: Device | None, value: Number | None = None) -> Array:
    """The result of `empty_like`, `zeros_like`, `ones_like` or `full_like`.

    `name` and `value` are as for `_filled`.
    """
    if type(x) is not Array:
        x = as_array(f"{name}_like", "x", x)
    home: Home = home_of_array(f"{name}_like", x)
    if device is not None and registry.as_backend(device) is not home.backend:
        home = choice.chosen_home(device)
    elif device is not None:
        home = home.backend.placed
    backend = home.backend
    if backend is not x._home.backend:
        return _filled(name, x.shape, x.dtype if dtype is None else dtype, home, value)
    native = x._native
    if home is _NUMPY and dtype is None and native.nbytes < _SMALL:
        return _of_few(name, native.shape, native.dtype, value, native.nbytes)
    kind = home.dtype_of(native) if dtype is None else backend.native_dtype(dtypes.dtype(dtype, name).name)
    return wrap(_made(f"{name}_like", home, native, *([value] if name == "full" else []), dtype=kind), home)


def _filled(name: str, shape: Shape, dtype: DTypeLike | None, home: Home, value: Number | None = None) -> Array:
    """The result of `empty`, `zeros`, `ones` or `full`.

    `value` is the fill value for NumPy.
    """
    wanted = _defaults()[float] if dtype is None else dtypes.dtype(dtype, name)
    if home is _NUMPY:
        size = (shape if type(shape) is int else _elements(shape)) * wanted.itemsize
        if 0 <= size < _MODEST:
            return _of_few(name, shape, wanted.dtype, value, size)
    lengths = _shape(name, shape)
    for n in lengths:
        if type(n) is not int:
            lengths, home = _in_trace(name, lengths, home.backend if home.placed else None)
            break
    values = (lengths, value) if name == "full" else (lengths,)
    return wrap_aligned(_made(name, home, *values, dtype=home.backend.dtype_for(wanted)), home)


def _made(name: str, home: Home, *args: Any, **options: Any) -> Native:
    """The native array that a creation function of `home` makes."""
    return devices.tried(name, getattr(home, name), *args, device=home.backend.native_device, **options)


def _in_trace(function: str, values: Sequence[Any], device: Device | None) -> tuple[tuple[Any, ...], Home]:
    """Lengths that a trace does not know as native arrays, and its home.

    Numbers stay as they are. Raises TransferError for another `device`.
    """
    arrays = [n if type(n) is Array else None if type(n) in SCALARS else _unknown(n) for n in values]
    home = home_of_arrays(function, [one for one in arrays if one is not None])
    if device is not None and registry.as_backend(device) is not home.backend:
        home = choice.chosen_home(device)
    natives = [one if one is None else native_on(one, home, function) for one in arrays]
    return tuple([n if native is None else native for n, native in zip(values, natives, strict=True)]), home


def _unknown(length: Any) -> Array:
    backend = registry.backend_of_native(length)
    assert backend is not None
    return wrap(length, backend.free)


def _numbers_in_trace(function: str, names: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """Numbers, or Arrays of integers that a trace does not know."""
    unknown = map(unknown_length, values)
    return [
        as_number(function, name, value) if one is None else one
        for name, value, one in zip(names, values, unknown, strict=True)
    ]


def _arange_in_trace(low: Any, high: Any, gap: Any, dtype: DTypeLike | None, device: Device | None) -> Array:
    """The result of `arange` for bounds that a trace does not know."""
    given = _numbers_in_trace("arange", ("start", "stop", "step"), (low, high, gap))
    are_ints = all(isinstance(one, (int, Array)) for one in given)
    wanted = _defaults()[int if are_ints else float] if dtype is None else dtypes.dtype(dtype)
    if wanted.kind not in "iuf" or any(isinstance(one, complex) for one in given):
        raise errors.ArgumentTypeError(f"arange: dtype must be real numeric for lengths of a trace, not {wanted}")
    if given[2] is not None and type(given[2]) is not Array and given[2] == 0:
        raise errors.ArgumentValueError("arange: step must not be 0")
    natives, home = _in_trace("arange", given, device)
    return wrap(_made("arange", home, *natives, dtype=home.backend.dtype_for(wanted)), home)


def _linspace_in_trace(values: Sequence[Any], dtype: DTypeLike | None, device: Device | None, endpoint: bool) -> Array:
    """The result of `linspace` for ends that a trace does not know."""
    given = _numbers_in_trace("linspace", ("start", "stop", "num"), values)
    wanted = _defaults()[float] if dtype is None else dtypes.dtype(dtype)
    if wanted.kind != "f" or any(isinstance(one, complex) for one in given):
        raise errors.ArgumentTypeError(
            f"linspace: dtype must be a real floating one for lengths of a trace, not {wanted}"
        )
    if type(given[2]) is not Array:
        given[2] = as_integer("linspace", "num", given[2])
    natives, home = _in_trace("linspace", given, device)
    kind = home.backend.dtype_for(wanted)
    return wrap(_made("linspace", home, *natives, endpoint=bool(endpoint), dtype=kind), home)


def _of_few(name: str, shape: Any, dtype: np.dtype[Any], value: Number | None, size: int) -> Array:
    """As `_filled`, by NumPy itself, in half the time.

    It has at most `size` bytes; small results are not aligned.
    """
    allocate = _zeros if name == "zeros" else _empty
    array: Array = _new()  # as `wrap_aligned` does
    if size < _SMALL:
        few = allocate(shape, dtype)
    else:
        few = alignment.allocated(allocate, shape, dtype, size)
        array._second = LENDABLE
    if value is not None:
        few.fill(value)
    array._native = few
    array._home = _NUMPY
    return array


def _elements(shape: Any) -> int:
    """An upper bound on the number of elements of an Array of `shape`.

    -1 for anything but a tuple of Python ints.
    """
    if not isinstance(shape, tuple) or len(shape) > _MOST_AXES:
        return -1
    elements = 1
    for n in shape:
        if type(n) is not int or n < 0:
            return -1
        elements *= n or 1
    return elements


def _refuse_size(function: str, shape: tuple[float, ...], error: Exception | None = None) -> None:
    """Raise ValueError for more elements than any array can have."""
    elements = math.prod([n for n in shape if n])  # libraries count them even if another length is 0
    if not elements < (_COUNTABLE if 0 in shape else _MOST):
        count = f"{elements:.3g}" if elements < 1e300 else "that many"
        raise errors.ArgumentValueError(f"{function}: no array holds {count} elements") from error


def _check_range(start: Any, stop: Any, step: Any, dtype: DTypeLike | None) -> None:
    """Raise OverflowError unless the integers of a range fit its dtype.

    Else its first and last would wrap around.
    """
    wanted = _defaults()[int] if dtype is None else dtypes.dtype(dtype)
    if wanted is dtypes.int64 and -_FEW < start < _FEW and -_FEW < stop < _FEW:
        return
    if wanted.kind not in "iu" or any(one - one for one in (start, stop, step)):  # not finite: the difference is NaN
        return
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        length = -((start - stop) // step)
    else:
        # NumPy's step is the difference of the first two elements, each rounded toward zero.
        length = math.ceil((stop - start) / step)
        start, step = int(start), int(start + step) - int(start)
    if length > 0:
        for value in (start, start + (length - 1) * step):
            dtypes.integer_within("arange", value, wanted)
        _refuse_size("arange", (length,))


def _fitted(function: str, value: Any, wanted: DType) -> Any:
    """The Python scalar that fills an Array of the dtype `wanted`.

    Raises TypeError, ValueError or OverflowError for what the dtype cannot hold.
    """
    if wanted.kind == "c":
        return value
    if isinstance(value, complex):
        raise errors.ArgumentTypeError(f"{function}: fill_value must not be complex for dtype {wanted}")
    return dtypes.integer_within(function, value, wanted) if wanted.kind in "iu" else value


def _shape(function: str, shape: Shape) -> tuple[Any, ...]:
    """A shape as a tuple of ints.

    Lengths that a trace does not know are native arrays.
    """
    if type(shape) is int and 0 <= shape < _MOST:
        return (shape,)
    if isinstance(shape, tuple) and 0 <= _elements(shape) < _MOST:
        return shape
    lengths = as_shape(function, "shape", shape, may_be_unknown=True)
    known = tuple([n for n in lengths if type(n) is int])
    if any(n < 0 for n in known):
        raise errors.ArgumentValueError(f"{function}: shape must not be negative, not {lengths}")
    if len(lengths) > _MOST_AXES:
        raise errors.ArgumentValueError(f"{function}: shape must have at most {_MOST_AXES} axes, not {len(lengths)}")
    _refuse_size(function, known)
    return lengths
