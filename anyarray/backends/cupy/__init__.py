"""CuPy by array-api-compat, plus what the standard or value semantics require.

CuPy's arrays are mutable, so an Array is copied on write unless it holds the only reference to its ndarray. A CuPy
function runs on the current CUDA device; with more than one, each call enters its own.

CuPy does not check values, as that would synchronize. For invalid ones it returns garbage: an index out of range wraps
around modulo the length, a factorization that fails returns partial results. So we synchronize and check.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable
from typing import Any, Final, Literal

import cupy
import cupyx
import numpy as np
from array_api_compat import cupy as namespace

from anyarray._base import dtypes
from anyarray.backends._shared import fourier
from anyarray.backends._shared.axes import matrices, near_diagonal, only_axis, require_vectors
from anyarray.backends._shared.refusals import boolean, real_valued, refuse_complex
from anyarray.backends.cupy import _transfers
from anyarray.backends.cupy._fusing import fused as fused
from anyarray.backends.cupy._fusing import fusible as fusible

Native = Any
Axis = int | tuple[int, ...] | None

ARRAY_TYPES: Final = (cupy.ndarray,)
HAS_VIEWS: Final = True
SPECIAL: Final = "cupyx.scipy.special"
PROMOTES: Final = True


@functools.cache
def _device_count() -> int:
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0  # no driver, or an outdated one


def as_strided(x: Native, function: Callable[[Any], Any], /) -> Native:
    size = x.itemsize
    layout = np.lib.stride_tricks.as_strided(np.empty(1, "V1"), x.shape, [one // size for one in x.strides])
    found = function(layout)
    return cupy.lib.stride_tricks.as_strided(x, found.shape, tuple(one * size for one in found.strides))


def devices() -> dict[str, list[int]]:
    return {"gpu": list(range(_device_count()))}


def device_of(x: Native, /) -> int:
    return int(x.device.id)


def native_dtype(name: str, /) -> np.dtype[Any]:
    if name == "bfloat16":  # CuPy 14 has it, but without sorting and linear algebra
        raise KeyError(name)
    return dtypes.KNOWN[name].dtype


dtype_of = operator.attrgetter("dtype")
shape_of = operator.attrgetter("shape")


def scoped(function: Callable[..., Any], device: int, /) -> Callable[..., Any]:
    if _device_count() == 1:
        return function

    @functools.wraps(function)
    def on_device(*args: Any, **kwargs: Any) -> Any:
        with cupy.cuda.Device(device):
            return function(*args, **kwargs)

    return on_device


def synchronize(x: Native, /) -> None:
    x.device.synchronize()


def to_numpy(x: Native, /) -> np.ndarray[Any, Any]:
    """A copy, read-only as those of other libraries."""
    a: np.ndarray[Any, Any] = cupy.asnumpy(x, out=_transfers.place_for(x))
    a.flags.writeable = False
    return a


def from_numpy(a: np.ndarray[Any, Any], device: int, /) -> Native:
    with cupy.cuda.Device(device):
        if a.dtype.name == "bfloat16":
            raise TypeError("dtype: cupy has no bfloat16. Convert it: xp.astype(...)")
        y = cupy.empty(a.shape, a.dtype.newbyteorder("="))
        _transfers.to_device(a, y)
        return y


def memory(device: int, /) -> tuple[int, int, int]:
    with cupy.cuda.Device(device):
        free, total = cupy.cuda.runtime.memGetInfo()
        return total, free, cupy.get_default_memory_pool().total_bytes()


def free_memory() -> int:
    _transfers.free()
    pool = cupy.get_default_memory_pool()
    freed = 0
    for device in range(_device_count()):
        with cupy.cuda.Device(device):
            cupy.fft.config.get_plan_cache().clear()  # plans have work areas
            before = pool.total_bytes()
            pool.free_all_blocks()
            freed += before - pool.total_bytes()
    return freed


def to_device(x: Native, device: int, /) -> Native:
    with cupy.cuda.Device(device):
        return cupy.array(x, copy=True)


def scalar(value: complex, dtype: np.dtype[Any], device: int, /) -> Native:
    return from_numpy(np.asarray(value, dtype), device)


def exported(x: Native, /) -> Native:
    """A copy of `x`, as the consumer of a capsule could write to it.

    CuPy does not count the consumer's reference to `x`. The copy is synchronized, as TensorFlow would not wait for it.
    """
    _transfers.take_back()
    copy = duplicate(x)
    synchronize(copy)
    return _transfers.lent(copy)


def exported_from_numpy(a: np.ndarray[Any, Any], device: int, /) -> Native:
    """An exporter of new memory with the values of an ndarray."""
    _transfers.take_back()
    return _transfers.lent(from_numpy(a, device))


def address(x: Native, /) -> int:
    return int(x.data.ptr)


def duplicate(x: Native, /) -> Native:
    with x.device:  # else the copy is on the current device
        return x.copy()


def from_dlpack(x: Any, device: int, /) -> Native:
    with cupy.cuda.Device(device):
        return cupy.from_dlpack(x)


_IS_OUTSIDE: Final = """
    const bool is_outside = index < 0 ? (long long)index < -length
                                      : (unsigned long long)index >= (unsigned long long)length;
"""

_find_outside = cupy.ElementwiseKernel(
    "S index, int64 length",
    "raw bool found",
    _IS_OUTSIDE + "if (is_outside) found[0] = true;",
    "anyarray_find_outside",
)
"""Not a reduction: with one result CuPy runs that in a single block, 2**26 indices in 55 ms."""

_gather = cupy.ElementwiseKernel(
    "raw T x, S index, int64 length, int64 count, int64 inner",
    "T y, raw bool found",
    _IS_OUTSIDE
    + """
    if (is_outside) {
        found[0] = true;
    } else {
        const long long row = i / (count * inner), place = index < 0 ? (long long)index + length : (long long)index;
        y = x[(row * length + place) * inner + i % inner];
    }
    """,
    "anyarray_gather",
)
"""Elements of x (rows, length, inner) at `count` indices, and whether one is out of bounds, in one pass."""


def _found(found: Native, *sought: tuple[Native, int, int]) -> None:
    """Wait, and raise IndexError if a kernel has found an index out of bounds.

    `sought` are arrays of indices, each with the length and the number of its axis.
    """
    if bool(found):
        for indices, length, axis in sought:
            host = cupy.asnumpy(indices)
            wrong = host[(host < -length) | (host >= length)]
            if wrong.size:
                raise IndexError(f"index {wrong.flat[0]} is out of bounds for axis {axis} with size {length}")


def _searched(*sought: tuple[Native, int, int]) -> Native:
    """Whether an index is out of bounds, as a bool on the device."""
    found = cupy.zeros(1, np.bool_)
    for indices, length, _ in sought:
        _find_outside(indices, length, found)
    return found


def _sought(x: Native, key: Any) -> list[tuple[Native, int, int]]:
    """The index arrays in a key, with the length and number of their axes."""
    entries = key if type(key) is tuple else (key,)
    if not any(isinstance(one, cupy.ndarray) and one.dtype.kind != "b" for one in entries):
        return []
    counts = [one.ndim if _is_mask(one) else int(one is not None and one is not Ellipsis) for one in entries]
    found: list[tuple[Native, int, int]] = []
    axis = 0
    for at, (one, count) in enumerate(zip(entries, counts, strict=True)):
        if one is Ellipsis:
            axis = x.ndim - builtins.sum(counts[at:])
        elif isinstance(one, cupy.ndarray) and one.dtype.kind in "iu" and axis < x.ndim:
            found.append((one, x.shape[axis], axis))
        axis += count
    return found


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, cupy.ndarray) and entry.dtype.kind == "b"


def getitem(x: Native, key: Any, /) -> Native:
    kind = type(key)
    if kind is int or kind is slice:  # in a fraction of the time of what follows
        return x[key]
    if isinstance(key, cupy.ndarray) and key.dtype.kind != "b" and x.ndim:
        return _taken(x, key, 0)
    sought = _sought(x, key)
    if not sought:
        return x[key]
    found = _searched(*sought)
    y = x[key]
    _found(found, *sought)
    return y


def _taken(x: Native, indices: Native, axis: int) -> Native:
    """Elements of `x` along `axis` at `indices`."""
    if not -x.ndim <= axis < x.ndim:
        raise np.exceptions.AxisError(axis, x.ndim)
    axis %= x.ndim
    before, (length, *after) = x.shape[:axis], x.shape[axis:]
    rows, count, inner = math.prod(before), indices.size, math.prod(after)
    y = cupy.empty((*before, *indices.shape, *after), x.dtype)
    found = cupy.zeros(1, np.bool_)
    if rows == inner == 1:
        _gather(x, indices, length, count, 1, y.reshape(indices.shape), found)
    elif y.size:
        spread = cupy.broadcast_to(indices.reshape(count, 1), (rows, count, inner))
        _gather(x, spread, length, count, inner, y.reshape(rows, count, inner), found)
    else:
        _find_outside(indices, length, found)
    _found(found, (indices, length, axis))
    return y


def take(x: Native, indices: Native, /, *, axis: int | None = None) -> Native:
    axis = only_axis(axis, x.ndim)
    if indices.dtype.kind not in "iu":
        raise TypeError("CuPy would take booleans as the indices 0 and 1")
    return _taken(x, indices, axis)


def take_along_axis(x: Native, indices: Native, /, *, axis: int = -1) -> Native:
    if indices.dtype.kind not in "iu":
        raise TypeError("indices must be integers")
    sought = indices, x.shape[axis], axis % x.ndim
    found = _searched(sought)
    y = cupy.take_along_axis(x, indices, axis)
    _found(found, sought)
    return y


def _require_axes(x: Native, axis: Axis) -> None:
    """Raise AxisError if `axis` names an axis of a 0-d array.

    CuPy accepts 0 and -1 there.
    """
    if not x.ndim and axis is not None and axis != ():
        raise np.exceptions.AxisError(axis[0] if isinstance(axis, tuple) else axis, 0)


_memory = cupy.cuda.memory
_OWN_MEMORY: Final = (_memory.PooledMemory, _memory.Memory, _memory.ManagedMemory, _memory.MemoryAsync)
"""Classes of memory that CuPy allocated. Other memory, as of a DLPack capsule, may have references elsewhere."""


def is_writable(x: Native) -> bool:
    """Whether the memory is CuPy's own, and not that of another library."""
    return type(x.data.mem) in _OWN_MEMORY


def setitem(x: Native, key: Any, value: Native, exclusive: bool, /) -> Native:
    """`x` with `value` at `key`; in place if `exclusive`."""
    sought = _sought(x, key)
    if sought:
        _found(_searched(*sought), *sought)
        if value.ndim:
            key, value = _last_of_each(x, key, value)
    if not exclusive:
        x = x.copy()
    x[key] = value
    return x


def _last_of_each(x: Native, key: Any, value: Native) -> tuple[Any, Native]:
    """A key and a value that write each element once, the last of its values.

    CuPy writes them in no order.
    """
    is_of_rows = isinstance(key, cupy.ndarray)
    if is_of_rows:
        places = key.reshape(-1).astype(np.int64, copy=False)
        places = cupy.where(places < 0, places + x.shape[0], places)
        rows = _spread(value, (*key.shape, *x.shape[1:])).reshape(key.size, *x.shape[1:])
    else:
        chosen = cupy.arange(x.size).reshape(x.shape)[key]
        places, rows = chosen.reshape(-1), _spread(value, chosen.shape).reshape(-1)
    order = cupy.argsort(places)  # it is stable
    ascending = places[order]
    is_last = cupy.ones(order.shape, np.bool_)
    is_last[:-1] = ascending[1:] != ascending[:-1]
    kept = order[is_last]
    return places[kept] if is_of_rows else cupy.unravel_index(places[kept], x.shape), rows[kept]


def _spread(value: Native, shape: tuple[int, ...]) -> Native:
    """`value` broadcast to `shape`, which may have fewer axes."""
    extra = builtins.max(value.ndim - len(shape), 0)
    return cupy.broadcast_to(value.reshape(value.shape[extra:]), shape)


less, less_equal = real_valued(cupy.less), real_valued(cupy.less_equal)
greater, greater_equal = real_valued(cupy.greater), real_valued(cupy.greater_equal)
maximum, minimum = real_valued(cupy.maximum), real_valued(cupy.minimum)
logical_and, logical_or = boolean(cupy.logical_and), boolean(cupy.logical_or)
logical_xor, logical_not = boolean(cupy.logical_xor), boolean(cupy.logical_not)


def full(shape: tuple[int, ...], fill_value: complex, /, *, dtype: np.dtype[Any], device: int) -> Native:
    """CuPy's, but keeps the sign of -0."""
    return cupy.broadcast_to(scalar(fill_value, dtype, device), shape).copy()


def full_like(x: Native, /, fill_value: complex, *, dtype: np.dtype[Any], device: int) -> Native:
    return full(x.shape, fill_value, dtype=dtype, device=device)


def linspace(
    start: complex, stop: complex, num: int, /, *, dtype: np.dtype[Any], device: int, endpoint: bool = True
) -> Native:
    """As NumPy's.

    CuPy's is for real numbers, and rounds once what NumPy rounds twice.
    """
    if num <= _FEW or dtype.kind not in "fc":
        with np.errstate(all="ignore"):
            return from_numpy(np.linspace(start, stop, num, endpoint, dtype=dtype), device)
    step = (np.asarray(stop) - start) / (num - 1 if endpoint else num)
    y = cupy.arange(num) * cupy.asarray(step)
    y += cupy.asarray(start)  # not in one kernel, which would not round the product
    if endpoint:
        y[-1] = stop
    return y.astype(dtype, copy=False)


_FEW: Final = 1 << 14
"""Threshold in elements up to which the host is as fast as the device."""


def _complex(real: Native, imag: Native) -> Native:
    x = cupy.empty(real.shape, np.result_type(real.dtype, np.complex64))
    x.real, x.imag = real, imag
    return x


def clip(x: Native, min: Native | None = None, max: Native | None = None) -> Native:
    """Lower bound first, so that `max` wins where the bounds cross."""
    if min is not None:
        x = maximum(x, min)
    if max is not None:
        x = minimum(x, max)
    return x if min is not None or max is not None else x.copy()


_divided = cupy.ElementwiseKernel(
    "T x1, T x2",
    "T quotient, T rest",
    """
    const T exact = x1 / x2;
    rest = fmod(x1, x2);
    quotient = (x1 - rest) / x2;
    if (rest == 0) {
        rest = copysign(T(0), x2);
    } else if ((rest < 0) != (x2 < 0)) {
        rest += x2;
        quotient -= 1;
    }
    const T whole = floor(quotient);
    quotient = quotient == 0 ? copysign(T(0), exact) : quotient - whole > T(0.5) ? whole + 1 : whole;
    if (x2 == 0) quotient = exact;
    """,
    "anyarray_divided",
)
"""Floor of the quotient and remainder, as in NumPy. CuPy rounds the quotient twice, so that 1 // 0.1 is 10."""


def floor_divide(x1: Native, x2: Native, /) -> Native:
    return _of_floats(cupy.floor_divide, 0, x1, x2)


def remainder(x1: Native, x2: Native, /) -> Native:
    return _of_floats(cupy.remainder, 1, x1, x2)


def _of_floats(of_integers: Callable[..., Native], part: int, x1: Native, x2: Native) -> Native:
    dtype = np.result_type(x1.dtype, x2.dtype)
    if dtype.kind != "f":
        return of_integers(x1, x2)
    wide = np.promote_types(dtype, np.float32)
    parts = _divided(x1.astype(wide, copy=False), x2.astype(wide, copy=False))
    return parts[part].astype(dtype, copy=False)


def divide(x1: Native, x2: Native, /) -> Native:
    """CuPy's, but 0 for a finite number divided by an infinite complex one.

    There CuPy returns NaN.
    """
    y = cupy.divide(x1, x2)
    if y.dtype.kind == "c":
        y[cupy.isfinite(x1) & cupy.isinf(x2) & ~cupy.isnan(x2)] = 0
    return y


def reciprocal(x: Native, /) -> Native:
    if x.dtype.kind == "c":
        return divide(cupy.ones_like(x), x)
    return cupy.reciprocal(x.astype(dtypes.floating(x.dtype.name), copy=False))


def _of_numbers(function: Callable[[Native], Native]) -> Callable[..., Native]:
    """`function`, but TypeError for bools."""

    def checked(x: Native, /) -> Native:
        if x.dtype.kind == "b":
            raise TypeError("booleans are no numbers")
        return function(x)

    return checked


def _sign(x: Native) -> Native:
    if x.dtype.kind != "c":
        return namespace.sign(x)
    # If one part is infinite, the finite one counts as 0; if both are, the sign is undefined.
    parts = [cupy.isinf(part) * cupy.copysign(1, part) for part in (x.real, x.imag)]
    y = namespace.sign(cupy.where(cupy.isinf(x), _complex(*parts), x))
    y[parts[0] * parts[1] != 0] = complex(math.nan, math.nan)
    return y


sign, conj, real, round = map(_of_numbers, (_sign, cupy.conj, cupy.real, cupy.round))


def _unless_integer(function: Callable[[Native], Native]) -> Callable[..., Native]:
    """`function` of floats; integers and bools are returned unchanged."""

    def kept(x: Native, /) -> Native:
        return x.copy() if x.dtype.kind in "biu" else function(x)

    return kept


floor, ceil, trunc = map(_unless_integer, (cupy.floor, cupy.ceil, cupy.trunc))


def imag(x: Native, /) -> Native:
    if x.dtype.kind != "c":
        raise TypeError("real numbers have no imaginary part")
    return x.imag


def bitcast(x: Native, dtype: Any, /) -> Native:
    return x.view(dtype)


def cube(x: Native, /) -> Native:
    return cupy.square(x) * x


def _patched(function: Callable[[Native], Native], patch: Callable[[Native, Native], None]) -> Callable[..., Native]:
    """`function`, with values that `patch` corrects for complex numbers.

    Its arguments are these numbers and the values.
    """

    def patched(x: Native, /) -> Native:
        y = function(x)
        if x.dtype.kind == "c":
            patch(x, y)
        return y

    return patched


def _patch_log(z: Native, w: Native) -> None:
    w.real = cupy.where(cupy.isinf(z), math.inf, w.real)


def _log1p(z: Native) -> Native:
    return cupy.log(_complex(z.real + 1, z.imag)) if z.dtype.kind == "c" else cupy.log1p(z)


def _patch_expm1(z: Native, w: Native) -> None:
    exact = cupy.expm1(z.real) * cupy.cos(z.imag) - 2 * cupy.square(cupy.sin(z.imag / 2))
    w.real = cupy.where(cupy.isfinite(z), exact, w.real)


def _patch_tanh(z: Native, w: Native) -> None:
    w.real = cupy.where((z.real == 0) & ~cupy.isfinite(z.imag), z.real, w.real)


def _patch_tan(z: Native, w: Native) -> None:
    w.imag = cupy.where((z.imag == 0) & ~cupy.isfinite(z.real), z.imag, w.imag)


def _patch_acosh(z: Native, w: Native) -> None:
    w.imag = cupy.where((z.real == 0) & cupy.isnan(z.imag), math.pi / 2, w.imag)


def _log_to(function: Callable[[Native], Native], base: int) -> Callable[..., Native]:
    def log_to_base(x: Native, /) -> Native:
        if x.dtype.kind != "c":
            return function(x)
        y = log(x)
        return _complex(y.real / math.log(base), y.imag / math.log(base))  # for infinities CuPy's returns NaN

    return log_to_base


log, log1p = _patched(cupy.log, _patch_log), _patched(_log1p, _patch_log)
log2, log10 = _log_to(cupy.log2, 2), _log_to(cupy.log10, 10)
expm1, tanh, tan = _patched(cupy.expm1, _patch_expm1), _patched(cupy.tanh, _patch_tanh), _patched(cupy.tan, _patch_tan)
acosh = _patched(cupy.arccosh, _patch_acosh)


def max(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
    refuse_complex(x)
    return cupy.max(x, axis=axis, keepdims=keepdims)


def min(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
    refuse_complex(x)
    return cupy.min(x, axis=axis, keepdims=keepdims)


def argmax(x: Native, /, *, axis: int | None = None, keepdims: bool = False) -> Native:
    refuse_complex(x)
    return cupy.argmax(x, axis=axis, keepdims=keepdims)


def argmin(x: Native, /, *, axis: int | None = None, keepdims: bool = False) -> Native:
    refuse_complex(x)
    return cupy.argmin(x, axis=axis, keepdims=keepdims)


_square_of_distance = cupy.ElementwiseKernel(
    "T x, T mean", "T y", "const T distance = x - mean; y = distance * distance", "anyarray_square_of_distance"
)


def var(x: Native, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    """The mean of squares by CuPy's sums, which use all of the device.

    Its own variance is a reduction that runs in one block if there is one result.
    """
    if x.dtype.kind == "c":
        parts = (var(part, axis=axis, correction=correction, keepdims=keepdims) for part in (x.real, x.imag))
        return operator.add(*parts)
    dtype = dtypes.KNOWN[dtypes.floating(x.dtype.name) if x.dtype.kind == "f" else "float64"].dtype
    x = x.astype(np.promote_types(dtype, np.float32), copy=False)
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    count = math.prod(x.shape[one] for one in axes)
    mean = cupy.true_divide(cupy.sum(x, axis=axis, keepdims=True), count)
    total = cupy.sum(_square_of_distance(x, mean), axis=axis, keepdims=keepdims)
    return cupy.true_divide(total, builtins.max(count - correction, 0)).astype(dtype, copy=False)


def std(x: Native, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    return cupy.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def _summed_up(function: Callable[..., Native]) -> Callable[..., Native]:
    """A cumulative sum or product, also of a 0-d array."""

    def running(x: Native, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Native:
        return function(x if x.ndim else x[None], axis=axis, dtype=dtype, include_initial=include_initial)

    return running


cumulative_sum, cumulative_prod = _summed_up(namespace.cumulative_sum), _summed_up(namespace.cumulative_prod)


def _sortable(x: Native) -> Native:
    """`x` with all NaN of one sign.

    Thrust sorts those with the sign bit, which processors return for 0/0, to the front.
    """
    return cupy.where(cupy.isnan(x), x.dtype.type(math.nan), x) if x.dtype.kind == "f" else x


def sort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    refuse_complex(x)
    x = _sortable(x)
    # Reversed twice, equal elements keep their order.
    return cupy.flip(cupy.sort(cupy.flip(x, axis), axis), axis) if descending else cupy.sort(x, axis)


def argsort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    _require_axes(x, axis)
    refuse_complex(x)
    return namespace.argsort(_sortable(x), axis=axis, descending=descending, stable=stable)


def unique_all(x: Native, /) -> tuple[Native, ...]:
    return namespace.unique_all(_sortable(x))


def unique_counts(x: Native, /) -> tuple[Native, ...]:
    return namespace.unique_counts(_sortable(x))


def unique_inverse(x: Native, /) -> tuple[Native, ...]:
    return namespace.unique_inverse(_sortable(x))


def unique_values(x: Native, /) -> Native:
    return namespace.unique_values(_sortable(x))


def searchsorted(
    x1: Native, x2: Native, /, *, side: Literal["left", "right"] = "left", sorter: Native | None = None
) -> Native:
    refuse_complex(x1, x2)
    if sorter is not None:
        _found(_searched((sorter, x1.size, 0)), (sorter, x1.size, 0))
    dtype = np.result_type(x1.dtype, x2.dtype)
    return cupy.searchsorted(x1.astype(dtype, copy=False), x2.astype(dtype, copy=False), side, sorter)


def bincount(x: Native, weights: Native | None = None, minlength: int = 0, *, length: int | None = None) -> Native:
    if length is None:
        return cupy.bincount(x, weights, minlength)
    is_counted = (x >= 0) & (x < length)
    return cupy.bincount(x[is_counted], None if weights is None else weights[is_counted], length)


def isin(x1: Native, x2: Native, /, *, invert: bool = False) -> Native:
    """CuPy's on one dtype, exact for uint64 with signed integers, too."""
    dtype = np.result_type(x1.dtype, x2.dtype)
    if dtype.kind != "f" or x1.dtype.kind not in "iu" or x2.dtype.kind not in "iu":
        return cupy.isin(x1.astype(dtype, copy=False), x2.astype(dtype, copy=False), invert=invert)
    # uint64 and signed integers: cast to int64, a value below 0 is one that only one of the two can hold.
    y1, y2 = x1.astype(np.int64), x2.astype(np.int64)
    found = cupy.isin(y1, y2) & (y1 >= 0)
    return ~found if invert else found


def repeat(x: Native, repeats: Any, /, *, axis: int | None = None) -> Native:
    if not isinstance(repeats, int):
        if repeats.dtype.kind not in "iu":
            raise TypeError("CuPy would take booleans")
        repeats = repeats.astype(np.int64, copy=False)
        if _MAJOR < 14:  # it accepts no array as `repeats`
            x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
            places = np.repeat(np.arange(x.shape[axis]), cupy.asnumpy(repeats))
            return cupy.take(x, cupy.asarray(places), axis)
    return cupy.repeat(x, repeats, axis)


_MAJOR: Final = int(cupy.__version__.partition(".")[0])


def diff(
    x: Native, /, *, axis: int = -1, n: int = 1, prepend: Native | None = None, append: Native | None = None
) -> Native:
    """CuPy's, but checks `axis`, and stops when the result is empty."""
    if not -x.ndim <= axis < x.ndim:
        raise np.exceptions.AxisError(axis, x.ndim)
    ends = [one for one in (prepend, append) if one is not None]
    n = builtins.min(n, x.shape[axis] + builtins.sum(one.shape[axis] if one.ndim else 1 for one in ends))
    y = cupy.diff(x, n, axis, prepend, append)
    return y if n else y.astype(np.result_type(x, *ends), copy=False)


def broadcast_to(x: Native, /, shape: tuple[int, ...]) -> Native:
    if any(length < 0 for length in shape):  # CuPy accepts it
        raise ValueError(f"no length of shape may be negative, as in {shape}")
    return cupy.broadcast_to(x, shape)


def reshape(x: Native, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Native:
    if builtins.min(shape, default=0) < -1:  # CuPy treats it as -1
        raise ValueError(f"no length of shape may be less than -1, as in {shape}")
    return x.reshape(shape) if copy is None else namespace.reshape(x, shape, copy=copy)


def squeeze(x: Native, /, axis: int | tuple[int, ...]) -> Native:
    _require_axes(x, axis)
    return cupy.squeeze(x, axis)


def meshgrid(*arrays: Native, indexing: Literal["xy", "ij"] = "xy") -> tuple[Native, ...]:
    return namespace.meshgrid(*(x.reshape(-1) for x in arrays), indexing=indexing)


def tril(x: Native, /, *, k: int = 0) -> Native:
    return cupy.tril(x, near_diagonal(x.shape, k))


def triu(x: Native, /, *, k: int = 0) -> Native:
    return cupy.triu(x, near_diagonal(x.shape, k))


def diagonal(x: Native, /, *, offset: int = 0) -> Native:
    return namespace.linalg.diagonal(x, offset=near_diagonal(x.shape, offset))


def trace(x: Native, /, *, offset: int = 0, dtype: Any = None) -> Native:
    return namespace.linalg.trace(x, offset=near_diagonal(x.shape, offset), dtype=dtype)


def cross(x1: Native, x2: Native, /, *, axis: int = -1) -> Native:
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"axis {axis} must have the length 3 in both arrays")
    return cupy.cross(x1, x2, axis=axis)


def outer(x1: Native, x2: Native, /) -> Native:
    require_vectors(x1.ndim, x2.ndim)
    return cupy.outer(x1, x2)


def tensordot(x1: Native, x2: Native, /, *, axes: Any = 2) -> Native:
    if isinstance(axes, int) and axes < 0:  # CuPy does not reject it
        raise ValueError(f"axes must not be negative, not {axes}")
    return cupy.tensordot(x1, x2, axes)


def vecdot(x1: Native, x2: Native, /, *, axis: int = -1) -> Native:
    y = namespace.vecdot(x1, x2, axis=axis)
    return y if x1.dtype.kind != "b" or x2.dtype.kind != "b" else y.astype(np.bool_)  # for bools CuPy returns bytes


def _checked(function: Callable[..., Any], failure: str, *, of_finite: bool = False) -> Callable[..., Any]:
    """`function` of linear algebra, which raises NumPy's error if it fails.

    By default CuPy does not check, and returns partial results. `of_finite` says that what is not finite fails: of that
    its solver returns any numbers.
    """

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if of_finite and not bool(cupy.isfinite(args[0]).all()):
            raise np.linalg.LinAlgError(failure)
        with cupyx.errstate(linalg="raise"):
            try:
                return function(*args, **kwargs)
            except np.linalg.LinAlgError as error:
                if not str(error).startswith("Error reported"):
                    raise
                raise np.linalg.LinAlgError(failure) from error

    return checked


def _floating(x: Native) -> Native:
    """Integers cast to float64, as in CuPy's other linear algebra."""
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def _rank(x: Native, /, *, rtol: Any = None) -> Native:
    if 0 in matrices(x).shape[-2:]:
        return cupy.zeros(x.shape[:-2], np.int64)
    return namespace.linalg.matrix_rank(_floating(x), rtol=rtol)


def _pseudoinverse(x: Native, /, *, rtol: Any = None) -> Native:
    return namespace.linalg.pinv(_floating(x), rtol=rtol)


def _power(x: Native, n: int, /) -> Native:
    return cupy.linalg.matrix_power(_floating(x), n)


def _solution(x1: Native, x2: Native, /) -> Native:
    if x2.ndim == 1:
        return _solution(x1, x2[:, None])[..., 0]
    stack = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return cupy.linalg.solve(*(cupy.broadcast_to(x, stack + x.shape[-2:]) for x in (x1, x2)))


_SINGULAR: Final = "Singular matrix"
_DIVERGING: Final = "SVD did not converge"
_UNSTABLE: Final = "Eigenvalues did not converge"


def _factor(x: Native, /, *, upper: bool = False) -> Native:
    if upper:  # CuPy reads the lower triangle
        return _adjoint(cupy.linalg.cholesky(_adjoint(x)))
    return cupy.linalg.cholesky(x)


def _adjoint(x: Native) -> Native:
    return cupy.conj(cupy.swapaxes(x, -1, -2))


cholesky = _checked(_factor, "Matrix is not positive definite")
inv, matrix_power = _checked(cupy.linalg.inv, _SINGULAR), _checked(_power, _SINGULAR)
solve = _checked(_solution, _SINGULAR)
eigh, eigvalsh = _checked(namespace.linalg.eigh, _UNSTABLE), _checked(cupy.linalg.eigvalsh, _UNSTABLE)
svd, svdvals, matrix_rank, pinv = (
    _checked(function, _DIVERGING, of_finite=True)
    for function in (namespace.linalg.svd, namespace.linalg.svdvals, _rank, _pseudoinverse)
)
matrix_norm = _checked(namespace.linalg.matrix_norm, _DIVERGING)


def _always_complex(x: Native, /) -> tuple[Native, ...]:
    """Eigenvalues and eigenvectors, as dtypes must not depend on values."""
    return tuple(_as_complex(part) for part in cupy.linalg.eig(x))


def _as_complex(x: Native) -> Native:
    return x.astype(np.result_type(x.dtype, np.complex64), copy=False)


if hasattr(cupy.linalg, "eig"):  # from CuPy 14 on
    eig = _checked(_always_complex, _UNSTABLE, of_finite=True)
    eigvals = _checked(lambda x: _as_complex(cupy.linalg.eigvals(x)), _UNSTABLE, of_finite=True)


def _transform(function: Callable[..., Native], *, is_real: bool = False) -> Callable[..., Native]:
    """CuPy's Fourier transform; 16-bit floats are cast to float32.

    An axis out of bounds raises; CuPy would transform another one.
    """

    def transform(x: Native, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Native:
        x = _transformable(x, (axis,), is_real)
        if n is not None and n < 1:
            raise ValueError(f"n must be positive, not {n}")
        return function(x, n=n, axis=axis, norm=norm)

    return transform


def _transform_n(function: Callable[..., Native], *, is_real: bool = False) -> Callable[..., Native]:
    """As `_transform`, for several axes, and for none."""

    def transform(
        x: Native,
        /,
        *,
        s: tuple[int, ...] | None = None,
        axes: tuple[int, ...] | None = None,
        norm: Any = "backward",
    ) -> Native:
        if axes is None:
            axes = tuple(range(-(x.ndim if s is None else len(s)), 0))
        x = _transformable(x, axes, is_real)
        if not axes and function is not namespace.fft.irfftn and not is_real:
            return _as_complex(_floating(x)).copy()
        if s is not None and len(s) == len(axes):
            s = tuple(x.shape[axis] if n == -1 else n for n, axis in zip(s, axes, strict=True))
        return function(x, s=s, axes=axes, norm=norm)

    return transform


def _transformable(x: Native, axes: tuple[int, ...], is_real: bool) -> Native:
    for axis in axes:
        if not -x.ndim <= axis < x.ndim:
            raise np.exceptions.AxisError(axis, x.ndim)
    if is_real and x.dtype.kind == "c":
        raise TypeError("CuPy would leave the imaginary part out")
    return x.astype(np.float32) if x.dtype.char == "e" else x


fft, ifft = _transform(namespace.fft.fft), _transform(namespace.fft.ifft)
rfft, ihfft = _transform(namespace.fft.rfft, is_real=True), _transform(namespace.fft.ihfft, is_real=True)
irfft, hfft = _transform(namespace.fft.irfft), _transform(namespace.fft.hfft)
fftn, ifftn = _transform_n(namespace.fft.fftn), _transform_n(namespace.fft.ifftn)
rfftn, irfftn = _transform_n(namespace.fft.rfftn, is_real=True), _transform_n(namespace.fft.irfftn)


fftshift, ifftshift = fourier.shifts(cupy.roll, shape_of, duplicate)
fftfreq, rfftfreq = fourier.frequencies(lambda values, dtype, device: from_numpy(values.astype(dtype), device))
