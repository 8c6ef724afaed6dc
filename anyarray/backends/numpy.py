"""The NumPy backend, where NumPy differs from the standard or aliases memory.

A native array is an ndarray or, as NumPy's 0-d results are, a NumPy scalar.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import math
import operator
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from anyarray._base import dtypes, extension, processor, sizes
from anyarray._memory import alignment
from anyarray.backends import _masked, _ordering, _parts, _rows, _totals
from anyarray.backends._shared.axes import grid_axes, matrices, near_diagonal, only_axis, require_vectors
from anyarray.backends._shared.keys import require_within
from anyarray.backends._shared.refusals import boolean, real_valued, refuse_complex
from anyarray.backends._shortcut import FEW, direct, shortcut

Native = Any
Axis = int | tuple[int, ...] | None

namespace: Final = np
PROMOTES: Final = True

ARRAY_TYPES: Final = (np.ndarray, np.generic)

HAS_VIEWS: Final = True
SPECIAL: Final = "anyarray.backends._scipy"


def devices() -> dict[str, list[str]]:
    return {"cpu": ["cpu"]}


def device_of(x: Native, /) -> str:
    return "cpu"


def native_dtype(name: str, /) -> np.dtype[Any]:
    return dtypes.KNOWN[name].dtype


dtype_of = operator.attrgetter("dtype")
shape_of = operator.attrgetter("shape")


def to_numpy(x: Native, /) -> np.ndarray[Any, Any]:
    """A read-only view: no write through it may reach an Array."""
    view = np.asarray(x).view()
    view.flags.writeable = False
    return view


def plain(x: Native, /) -> Native:
    """`x` as a base-class ndarray in native byte order.

    Raises TypeError for a masked array: it would lose its mask.
    """
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("a masked array would lose its mask. Fill it first: a.filled(...)")
    if type(x) is not np.ndarray and isinstance(x, np.ndarray):
        x = np.asarray(x)
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def memory(device: str, /) -> tuple[int | None, int | None, None]:
    """The machine's, where the system tells."""
    try:
        page, pages, free = (os.sysconf(f"SC_{name}") for name in ("PAGE_SIZE", "PHYS_PAGES", "AVPHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not on Windows, nor all three on macOS
        return None, None, None
    return page * pages, page * free, None


def from_numpy(a: np.ndarray[Any, Any], device: str, /) -> Native:
    return copied(a)


def exported(x: Native, /) -> Native:
    """A copy, as there may be other references to the memory."""
    return copied(x)


duplicate = exported


def address(x: Native, /) -> int:
    pointer: int = x.__array_interface__["data"][0]
    return pointer


def to_device(x: Native, device: str, /) -> Native:
    return x


def scoped(function: Callable[..., Native], device: str, /) -> Callable[..., Native]:
    return direct(function)


def scalar(value: complex, dtype: np.dtype[Any], device: str, /) -> Native:
    return np.asarray(value, dtype=dtype)


# What is made here is aligned, so that JAX and TensorFlow can take the memory as it is.
def empty(shape: tuple[int, ...], /, *, dtype: np.dtype[Any], device: str | None = None) -> Native:
    size = _product(shape) * dtype.itemsize
    return _empty(shape, dtype) if size < _SMALL else alignment.allocated(_empty, shape, dtype, size)


def zeros(shape: tuple[int, ...], /, *, dtype: np.dtype[Any], device: str | None = None) -> Native:
    size = _product(shape) * dtype.itemsize
    return _zeros(shape, dtype) if size < _SMALL else alignment.allocated(_zeros, shape, dtype, size)


# Module globals: faster to look up than attributes of modules.
_product, _empty, _zeros, _SMALL = math.prod, np.empty, np.zeros, alignment.SMALL


def aligned(x: Native) -> Native:
    """`x` itself if small or C-contiguous and aligned; else such a copy."""
    return x if x.nbytes < alignment.SMALL or alignment.is_shareable(x) else alignment.copied(x)


def copied(x: Native) -> Native:
    """A copy in native byte order, aligned unless small.

    It keeps the memory layout of `x` (order "K"): for a transposed matrix, C order takes six times as long.
    """
    if x.nbytes < alignment.SMALL and x.dtype.isnative:
        return np.array(x)
    if x.flags.c_contiguous or 0 in x.strides:
        return alignment.copied(x)
    outer_first = sorted(range(x.ndim), key=[-builtins.abs(stride) for stride in x.strides].__getitem__)
    return alignment.copied(x.transpose(outer_first)).transpose(np.argsort(outer_first))


def full(shape: tuple[int, ...], fill_value: complex, /, *, dtype: np.dtype[Any], device: str | None = None) -> Native:
    x = empty(shape, dtype=dtype)
    x.fill(fill_value)
    return x


def ones(shape: tuple[int, ...], /, *, dtype: np.dtype[Any], device: str | None = None) -> Native:
    x = empty(shape, dtype=dtype)
    x.fill(1)
    return x


def arange(start: float, stop: float, step: float, /, *, dtype: np.dtype[Any], device: str | None = None) -> Native:
    # For a narrow dtype NumPy adds a step that is rounded to it: the last of a thousand was off by 0.02.
    wide = _FLOAT64 if dtype.kind == "f" else dtype
    x = np.arange(start, stop, step, wide)  # type: ignore[call-overload]  # any dtype of numbers will do
    return aligned(x if wide is dtype else x.astype(dtype))


def linspace(
    start: complex,
    stop: complex,
    num: int,
    /,
    *,
    dtype: np.dtype[Any],
    device: str | None = None,
    endpoint: bool = True,
) -> Native:
    if dtype is _FLOAT64 and isinstance(start, (int, float)) and isinstance(stop, (int, float)):
        return _ramp(float(start), float(stop), num, endpoint)
    return aligned(np.linspace(start, stop, num, endpoint, dtype=dtype))


def _ramp(start: float, stop: float, num: int, endpoint: bool) -> Native:
    """As `np.linspace` of floats, into aligned memory.

    For small results it takes half the time.
    """
    steps = num - 1 if endpoint else num
    width = stop - start
    x = empty((num,), dtype=_FLOAT64)
    step = width / steps if steps > 0 else width
    counted = _COUNTED[:num] if num <= FEW else np.arange(num, dtype=_FLOAT64)
    if step:
        np.multiply(counted, step, x)
    else:  # `width` is 0, or underflows when divided
        np.multiply(counted / (steps or 1), width, x)
    x += start
    if endpoint and num > 1:
        x[-1] = stop
    return x


_FLOAT64: Final = np.dtype(np.float64)
_COUNTED: Final = np.arange(FEW, dtype=_FLOAT64)


def eye(n_rows: int, n_cols: int, /, *, k: int = 0, dtype: np.dtype[Any], device: str | None = None) -> Native:
    x = zeros((n_rows, n_cols), dtype=dtype)
    row, column = (0, k) if k > 0 else (-k, 0)
    length = builtins.min(n_rows - row, n_cols - column)
    if length > 0:
        first, step = row * n_cols + column, n_cols + 1
        x.flat[first : first + length * step : step] = 1
    return x


def astype(x: Native, dtype: np.dtype[Any], /) -> Native:
    return x.astype(dtype)


def empty_like(x: Native, /, *, dtype: np.dtype[Any], device: str | None = None) -> Native:
    return empty(x.shape, dtype=dtype)


def full_like(x: Native, /, fill_value: complex, *, dtype: np.dtype[Any], device: str | None = None) -> Native:
    return full(x.shape, fill_value, dtype=dtype)


def ones_like(x: Native, /, *, dtype: np.dtype[Any], device: str | None = None) -> Native:
    return ones(x.shape, dtype=dtype)


def zeros_like(x: Native, /, *, dtype: np.dtype[Any], device: str | None = None) -> Native:
    return zeros(x.shape, dtype=dtype)


@shortcut(np.tril, "biufc", axes=2)
def tril(x: Native, /, *, k: int = 0) -> Native:
    return np.tril(x, near_diagonal(x.shape, k))


@shortcut(np.triu, "biufc", axes=2)
def triu(x: Native, /, *, k: int = 0) -> Native:
    return np.triu(x, near_diagonal(x.shape, k))


@shortcut(np.linalg.diagonal, "biufc", axes=2)
def diagonal(x: Native, /, *, offset: int = 0) -> Native:
    return np.linalg.diagonal(x, offset=near_diagonal(x.shape, offset))


@shortcut(np.linalg.trace, "biufc", axes=2)
def trace(x: Native, /, *, offset: int = 0, dtype: Any = None) -> Native:
    return np.linalg.trace(x, offset=near_diagonal(x.shape, offset), dtype=dtype)


def broadcast_arrays(*arrays: Native) -> tuple[Native, ...]:
    """The arrays, or read-only views of one shape, copied before a write.

    NumPy's own are writeable, and a write changes all of a row at once.
    """
    first = arrays[0].shape
    for x in arrays:
        if x.shape != first:
            break
    else:
        return arrays
    is_many = len(arrays) > _FEW_ARRAYS
    shape = np.broadcast_shapes(*[x.shape for x in arrays]) if is_many else np.broadcast(*arrays).shape
    return tuple([x if x.shape == shape else np.broadcast_to(x, shape) for x in arrays])


_FEW_ARRAYS: Final = 64
"""The most arrays that `np.broadcast` accepts, which computes their shape in a tenth of the time."""


def meshgrid(*arrays: Native, indexing: Literal["xy", "ij"] = "xy") -> tuple[Native, ...]:
    """As NumPy's, into aligned memory.

    For small results it takes a third of the time.
    """
    axes = grid_axes(len(arrays), indexing)
    shape = tuple([arrays[axis].size for axis in axes])
    grids: list[Native] = []
    for x, axis in zip(arrays, axes, strict=True):
        grid = empty(shape, dtype=x.dtype)
        grid[...] = x.reshape((-1,) + (1,) * (len(shape) - 1 - axis))
        grids.append(grid)
    return tuple(grids)


def getitem(x: Native, key: Any, /) -> Native:
    return _masked.selected(x, key) if _is_mask_of_many(key, x) else x[key]


def setitem(x: Native, key: Any, value: Native, exclusive: bool, /) -> Native:
    """`x` with `value` at `key`; in place if `exclusive`.

    A NumPy scalar is copied.
    """
    if not exclusive or type(x) is not _ndarray:
        x = copied(x)
    if isinstance(value, _generic):  # NumPy casts it as a Python scalar; we cast it as a 0-d array
        value = np.asarray(value)
    try:
        if _is_mask_of_many(key, x):
            _masked.write(x, key, value)
        else:
            x[key] = value
    except (TypeError, ValueError):
        # In some places NumPy wants a value without the leading axes of length 1 that it takes elsewhere.
        shape = np.shape(value)
        if shape[:1] != (1,):
            raise
        x[key] = value[(0,) * next((i for i, n in enumerate(shape) if n != 1), len(shape))]
    return x


_ndarray, _generic, _MANY = np.ndarray, np.generic, _masked.MANY


def _is_mask_of_many(key: Any, x: Native) -> bool:
    return type(key) is _ndarray and key.size >= _MANY and key.dtype.kind == "b" and key.shape == x.shape


@shortcut(np.where, "b", "biufc", "biufc", axes=0)
def where(condition: Native, x1: Native, x2: Native, /) -> Native:
    chosen = _masked.where(condition, x1, x2) if condition.size >= _MANY else None
    return np.where(condition, x1, x2) if chosen is None else chosen


# NumPy's own ufuncs, as array-api-compat's wrappers cost more than the functions at small sizes.
abs, add, multiply, subtract, divide = np.abs, np.add, np.multiply, np.subtract, np.divide
pow, negative, positive = np.power, np.negative, np.positive
equal, not_equal = np.equal, np.not_equal
exp, log, log1p, log2, log10, sqrt, square = np.exp, np.log, np.log1p, np.log2, np.log10, np.sqrt, np.square
sign, conj = np.sign, np.conj


@shortcut(np.expm1, "f", axes=0)
def expm1(x: Native, /) -> Native:
    """NumPy's, but with the standard's infinite values for complex numbers.

    NumPy returns NaN there.
    """
    if x.dtype.kind != "c":
        return np.expm1(x)
    with np.errstate(all="ignore"):
        found = np.asarray(np.expm1(x))
    is_odd = ~np.isfinite(found)
    if is_odd.any():
        found[is_odd] = np.exp(x[is_odd]) - 1
    return found


def _quotient(numpys: np.ufunc) -> Callable[..., Native]:
    """NumPy's ufunc, in a twentieth of its time for floats.

    `_speedups/numerics/quotients.c` has these, and gives the same bits and warnings.
    """
    own = getattr(extension.speedups, numpys.__name__, None)
    if own is None:
        return numpys

    def ufunc_of(*dtypes: np.dtype[Any]) -> np.ufunc:
        return own if all([dtype.char in own_dtypes for dtype in dtypes]) else numpys

    own_dtypes = {types[0] for types in own.types}

    @shortcut(own, "iuf", "iuf", axes=0)
    def function(x1: Native, x2: Native, /) -> Native:
        return ufunc_of(x1.dtype, x2.dtype)(x1, x2)

    function.ufunc_of = ufunc_of  # type: ignore[attr-defined]  # which functions may have
    return function


_LONG: Final = 1 << 12
"""Threshold in elements above which another way is faster."""

floor_divide, remainder = _quotient(np.floor_divide), _quotient(np.remainder)


def bitcast(x: Native, dtype: Any, /) -> Native:
    return x.view(dtype)


def cube(x: Native, /) -> Native:
    product = np.square(x)
    product *= x
    return product


fix = np.trunc  # `numpy.fix` is deprecated from 2.5 on
root = np.sqrt  # as NumPy's `x**0.5`; its `pow` takes two to four times as long


def standard_pow(x1: Native, x2: Native, /, out: Native | None = None) -> Native:
    """NumPy's for floats, with the standard's square roots of -0 and -inf.

    They are 0 and inf. NumPy calls `sqrt` where a broadcast exponent is 0.5.
    """
    if x1.shape != x2.shape and (x2 == 0.5).any():
        x2 = np.array(np.broadcast_to(x2, np.broadcast_shapes(x1.shape, x2.shape)))
    return np.power(x1, x2, out=out)


less, less_equal = real_valued(np.less), real_valued(np.less_equal)
greater, greater_equal = real_valued(np.greater), real_valued(np.greater_equal)
maximum, minimum = real_valued(np.maximum), real_valued(np.minimum)


logical_and, logical_or = boolean(np.logical_and), boolean(np.logical_or)
logical_xor, logical_not = boolean(np.logical_xor), boolean(np.logical_not)


def _clipped(x: Native, low: Native, high: Native | None = None) -> Native:
    return np.maximum(x, low) if high is None else _CLIP(x, low, high)


_CLIP: Final[Any] = getattr(sys.modules.get("numpy._core.umath"), "clip", np.clip)
"""The ufunc of `np.clip`, which takes a quarter of its time for few elements."""


@shortcut(_clipped, "iuf", "iuf", "iuf", axes=0)
def clip(x: Native, /, min: Native | None = None, max: Native | None = None) -> Native:
    """Lower bound first, so that `max` wins where the bounds cross."""
    if min is not None and max is not None and {x.dtype.kind, min.dtype.kind, max.dtype.kind} <= {*"iuf"}:
        return _CLIP(x, min, max)  # in one pass; bfloat16 has none
    if min is not None:
        x = maximum(x, min)
    if max is not None:
        x = minimum(x, max)
    return x if min is not None or max is not None else np.copy(x)


def _clip_of(*dtypes: np.dtype[Any]) -> Any:
    return _CLIP if len({*dtypes}) == 1 and dtypes[0].kind in "iuf" else clip


clip.ufunc_of = _clip_of  # type: ignore[attr-defined]  # which functions may have


@shortcut(np.rint, "fc", axes=0)
def round(x: Native, /) -> Native:
    return np.round(x)


@shortcut(np.reciprocal, "fc", axes=0)
def reciprocal(x: Native, /) -> Native:
    """NumPy's, but floating for integers, which NumPy truncates."""
    return np.reciprocal(x, dtype=dtypes.floating(x.dtype.name)) if x.dtype.kind in "biu" else np.reciprocal(x)


@shortcut(operator.attrgetter("imag"), "c", axes=0)
def imag(x: Native, /) -> Native:
    if x.dtype.kind != "c":
        raise TypeError("real numbers have no imaginary part")
    return np.imag(x)


# Called by position, which is faster and which NumPy's own annotations leave out.
_summed: Callable[..., Native] = np.add.reduce
_multiplied: Callable[..., Native] = np.multiply.reduce
_MANY_ROWS: Final = _rows.MANY


def require_axis(axis: int | tuple[int, ...]) -> None:
    """Raise AxisError if `axis` names an axis of a 0-d array.

    NumPy accepts 0 and -1 there.
    """
    if axis != ():
        raise np.exceptions.AxisError(axis[0] if isinstance(axis, tuple) else axis, 0)


def _to_be_summed(x: Native, axis: Axis, dtype: Any) -> Native | None:
    """`x` cast to the dtype of its sums, if real and `_rows.are_short`."""
    if x.dtype.kind not in "biuf" or not _rows.are_short(x, axis):
        return None
    wanted = dtypes.KNOWN[dtypes.summed(x.dtype.name)].dtype if dtype is None else dtype
    return None if wanted.kind not in "iuf" or wanted.itemsize == 2 else x.astype(wanted, copy=False)


def sum(x: Native, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Native:
    if axis is not None:
        if not x.ndim:
            require_axis(axis)
        elif x.size >= _MANY_ROWS and (rows := _to_be_summed(x, axis, dtype)) is not None:
            return _rows.reduced(np.add, rows, axis, keepdims)
    return _summed(x, axis, dtype, None, keepdims)


def prod(x: Native, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Native:
    if axis is not None:
        if not x.ndim:
            require_axis(axis)
        elif (
            x.size >= _MANY_ROWS
            and (rows := _to_be_summed(x, axis, dtype)) is not None
            and (rows.dtype.kind != "f" or axis in (-1, x.ndim - 1))  # multiplied in another order, they may overflow
        ):
            return _rows.reduced(np.multiply, rows, axis, keepdims)
    return _multiplied(x, axis, dtype, None, keepdims)


def _running(ufunc: np.ufunc, own: Callable[..., Native]) -> Callable[..., Native]:
    """Cumulative sums or products; large ones in aligned memory."""

    @shortcut(own, "biufc")
    def running(x: Native, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Native:
        axes = x.ndim
        along = 0 if axis is None and axes == 1 else axis
        if x.size < _MANY_ROWS or include_initial or along is None or not -axes <= along < axes:
            return own(x, axis=axis, dtype=dtype, include_initial=include_initial)
        wanted = dtypes.KNOWN[dtypes.summed(x.dtype.name)].dtype if dtype is None else dtype
        kind = "i" if x.dtype.kind in "bu" else x.dtype.kind
        is_alike = kind in "ifc" and kind == ("i" if wanted.kind == "u" else wanted.kind)
        if not is_alike or not np.can_cast(x.dtype, wanted, "same_kind"):  # as signed integers to unsigned ones
            return own(x, axis=axis, dtype=dtype)
        out = empty(x.shape, dtype=wanted)
        _rows.accumulate(ufunc, x, along, out)
        return out

    return running


cumulative_sum = _running(np.add, np.cumulative_sum)
cumulative_prod = _running(np.multiply, np.cumulative_prod)


def _reduction(ufunc: np.ufunc, kinds: str, *, is_ordered: bool) -> Callable[..., Native]:
    """NumPy's, faster for short rows of these kinds.

    If `is_ordered`, complex numbers raise TypeError.
    """
    reduce: Callable[..., Native] = ufunc.reduce

    def reduction(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
        if axis is not None:
            if not x.ndim:
                require_axis(axis)
            elif x.size >= _MANY_ROWS and x.dtype.kind in kinds and _rows.are_short(x, axis):
                return _rows.reduced(ufunc, x, axis, keepdims)
        if is_ordered:
            refuse_complex(x)
        return reduce(x, axis, None, None, keepdims)

    return reduction


max, min = _reduction(np.maximum, "biuf", is_ordered=True), _reduction(np.minimum, "biuf", is_ordered=True)
all, any = _reduction(np.logical_and, "b", is_ordered=False), _reduction(np.logical_or, "b", is_ordered=False)


def mean(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
    if axis is not None and x.size >= _MANY_ROWS and _rows.are_short(x, axis) and x.dtype.kind == "f":
        return _rows.mean(x, axis, keepdims)
    return x.mean(axis, keepdims=keepdims)


def argmax(x: Native, /, *, axis: int | None = None, keepdims: bool = False) -> Native:
    if axis is not None and not x.ndim:
        require_axis(axis)
    refuse_complex(x)
    return x.argmax(axis, keepdims=keepdims)


def argmin(x: Native, /, *, axis: int | None = None, keepdims: bool = False) -> Native:
    if axis is not None and not x.ndim:
        require_axis(axis)
    refuse_complex(x)
    return x.argmin(axis, keepdims=keepdims)


def var(x: Native, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    """NumPy's, but NaN where `correction` leaves no degree of freedom.

    NumPy divides by zero there.
    """
    if axis is not None and x.size >= _MANY_ROWS and _rows.are_short(x, axis) and x.dtype.kind == "f":
        freedom = x.shape[axis] - _count(correction)
        if freedom > 0:
            return _rows.var(x, axis, freedom, keepdims)
    if axis is None and x.size >= _totals.MANY and (found := _totals.var(x, _count(correction))) is not None:
        return _kept_axes(found, x, keepdims)
    result = x.var(axis, None, None, _count(correction), keepdims=keepdims)
    return result if _counted(x, axis) > correction else np.full_like(result, np.nan)


def std(x: Native, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    if axis is not None and x.size >= _MANY_ROWS and _rows.are_short(x, axis) and x.dtype.kind == "f":
        variance = var(x, axis=axis, correction=correction, keepdims=keepdims)
        return np.sqrt(variance, out=variance)
    if axis is None and x.size >= _totals.MANY and (found := _totals.var(x, _count(correction))) is not None:
        return _kept_axes(np.sqrt(found), x, keepdims)
    result = x.std(axis, None, None, _count(correction), keepdims=keepdims)
    return result if _counted(x, axis) > correction else np.full_like(result, np.nan)


def _kept_axes(number: Native, x: Native, keepdims: bool) -> Native:
    """A reduction of all elements, with axes of one if they are kept."""
    return np.full((1,) * x.ndim, number) if keepdims else number


def _count(correction: float) -> float:
    """An int if it is integral, which saves NumPy 2 us."""
    return int(correction) if type(correction) is float and correction.is_integer() else correction


def _counted(x: Native, axis: Axis) -> int:
    """The number of elements that a reduction over valid axes combines."""
    if axis is None:
        return x.size
    if type(axis) is int:
        return x.shape[axis]
    return math.prod(x.shape[i] for i in axis)  # type: ignore[union-attr]  # a tuple, as said above


def _sortable(a: Native) -> Native:
    """`a` in a dtype that NumPy sorts correctly: float32 for 16-bit floats.

    In bfloat16, NaN compares equal to all; in float16 (2.4, with AVX512) NaN breaks the order of other values.
    """
    return a.astype(np.float32) if a.itemsize == 2 and a.dtype.kind not in "iu" else a


def _sorting(
    function: Callable[[Any], tuple[Any, ...]], few: Callable[[Any], tuple[Any, ...]] | None = None
) -> Callable[[Any], tuple[Any, ...]]:
    """A sorting function of NumPy, for dtypes that NumPy cannot sort, too.

    It returns values and other arrays. For small arrays `few`, if any, replaces it.
    """

    @shortcut(few or function, "biufc")
    def body(a: Native, /) -> tuple[Any, ...]:
        if a.itemsize != 2:
            return function(a)
        values, *others = function(_sortable(a))
        return values.astype(a.dtype, copy=False), *others

    return body


def _unique(*wanted: str) -> Callable[..., Any]:
    """`np.unique` as NumPy's `unique_*` functions call it."""
    return functools.partial(direct(np.unique), equal_nan=False, **{f"return_{one}": True for one in wanted})


@shortcut(_unique(), "biufc")
def unique_values(x: Native, /) -> Native:
    """Sorted, as on the other backends; NumPy's own function need not sort.

    NumPy's does not check whether the elements are sorted already, and then takes ten times as long. For many distinct
    integers or complex numbers it builds a hash table, which takes up to a hundred times as long as a sort.
    """
    flat = _sortable(x.reshape(-1))
    if flat.dtype is not x.dtype:
        return unique_values(flat).astype(x.dtype)
    if flat.size > 1000:
        kind = flat.dtype.kind
        ascends = kind != "c" and np.all(flat[:-1] <= flat[1:])
        counted = None if ascends else _counts(flat)
        if counted is not None:
            return np.flatnonzero(counted[1]).astype(x.dtype) + x.dtype.type(counted[0])
        if not ascends and kind in "iuc" and flat.itemsize >= 4:
            flat, ascends = np.sort(flat), True
        if ascends:
            return flat[np.concatenate(([True], flat[1:] != flat[:-1]))]
    return np.unique(x, equal_nan=False)


def _distinct(x: Native, flat: Native, order: Native) -> tuple[Native, Native, Native, Native]:
    """As `np.unique_all`, from the elements and their stable order."""
    ordered = flat[order]
    is_first = np.empty(flat.shape, np.bool)
    is_first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], is_first[1:])
    places = is_first.nonzero()[0]
    counts, inverse = np.empty_like(places), np.empty_like(order)
    np.subtract(places[1:], places[:-1], counts[:-1])
    counts[-1:] = flat.size - places[-1:]
    inverse[order] = is_first.cumsum() - 1
    return ordered[places], order[places], inverse.reshape(x.shape), counts


def _unique_all(x: Native, /) -> tuple[Any, ...]:
    """NumPy's, or by a faster argsort for large arrays."""
    if x.size < _ordering.MANY or x.dtype.kind not in "iuf" or x.itemsize < 4:
        return np.unique_all(x)
    flat = x.reshape(-1)
    return _distinct(x, flat, _ordering.order(flat))


def _all_of_few(x: Native) -> tuple[Native, Native, Native, Native]:
    """As `np.unique_all`, in two thirds of the time."""
    flat = x.reshape(-1)
    return _distinct(x, flat, flat.argsort(kind="stable"))


unique_all = _sorting(_unique_all, _all_of_few)
unique_counts, unique_inverse = _sorting(_unique("counts")), _sorting(_unique("inverse"))


_FEW: Final = 16
"""The most elements of `x2` that are compared in a loop."""


@shortcut(np.isin, "f", "f")
def isin(x1: Native, x2: Native, /, *, invert: bool = False) -> Native:
    """NumPy's on one dtype, exact for uint64 with signed integers, too.

    In their common dtype, float64, NumPy would find integers that only round to the same float.
    """
    if x1.dtype == x2.dtype:
        # By default it builds a lookup table for integers, which takes ten times as long as a few comparisons.
        return np.isin(x1, x2, invert=invert, kind="sort" if x2.size <= _FEW else None)
    dtype = np.dtype(dtypes.result_name(x1.dtype.name, x2.dtype.name))
    if dtype.kind != "f" or x1.dtype.kind not in "iu" or x2.dtype.kind not in "iu":
        return np.isin(x1.astype(dtype), x2.astype(dtype), invert=invert)
    # uint64 and signed integers: viewed as int64, a value below 0 is one that only one of the two can hold.
    y1, y2 = (x.astype(np.int64) for x in (x1, x2))
    found = np.isin(y1, y2) & (y1 >= 0)
    return ~found if invert else found


def _taken(x: Native, indices: Native) -> Native:
    if x.ndim != 1 or not x.size:
        raise ValueError("`take` looks closer")
    return x.take(indices)


@shortcut(_taken, "biufc", "i")
def take(x: Native, indices: Native, /, *, axis: int | None = None) -> Native:
    axis = only_axis(axis, x.ndim)
    if indices.dtype.kind not in "iu":
        raise TypeError("NumPy would take booleans as the indices 0 and 1, and some floats")
    indices = dtypes.signed(indices)
    if not x.size and indices.size:  # NumPy checks the indices only if there are elements to copy
        length = x.shape[axis]
        for index in (indices.min(), indices.max()):
            require_within(index, length, axis)
    return np.take(x, indices, axis=axis)


def take_along_axis(x: Native, indices: Native, /, *, axis: int = -1) -> Native:
    indices = dtypes.signed(indices)
    if x.ndim == 1 == indices.ndim and axis in (0, -1):
        return x.take(indices)  # in a quarter of the time
    if indices.size >= _LONG and x.ndim == indices.ndim and -x.ndim <= axis < x.ndim and x.flags.c_contiguous:
        places = _places(x.shape, indices, axis % x.ndim)
        if places is not None:
            return x.reshape(-1).take(places)
    return _take_along_axis(x, indices, axis)


_take_along_axis = direct(np.take_along_axis)


def _places(shape: tuple[int, ...], indices: Native, axis: int) -> Native | None:
    """Flat C-order indices for indices along an axis.

    `take` is faster with them. None if some are out of range, or broadcast.
    """
    length, behind = shape[axis], math.prod(shape[axis + 1 :])
    if shape[:axis] != indices.shape[:axis] or shape[axis + 1 :] != indices.shape[axis + 1 :]:
        return None
    least = indices.min()
    if least < -length or indices.max() >= length:
        return None
    rows = np.where(indices < 0, np.add(indices, length, dtype=np.intp), indices) if least < 0 else indices
    places = np.multiply(rows, behind, dtype=np.intp).reshape(-1, indices.shape[axis], behind)
    if behind > 1:
        places += np.arange(behind)
    if axis:
        places += np.arange(0, len(places) * length * behind, length * behind)[:, None, None]
    return places.reshape(indices.shape)


def nonzero(x: Native, /) -> tuple[Native, ...]:
    """NumPy's, but faster for large arrays of several axes."""
    return _masked.nonzero(x != 0) if x.ndim > 1 and x.size >= _LONG else np.nonzero(x)


def _counted_nonzero(x: Native) -> Native:
    return np.int64(np.count_nonzero(x))


_counts_as_array: Final = isinstance(np.count_nonzero(np.zeros(1)), np.generic)  # a Python int before NumPy 2.3


@shortcut(np.count_nonzero if _counts_as_array else _counted_nonzero, "biufc")
def count_nonzero(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
    if axis is not None and not x.ndim:
        require_axis(axis)
    if axis is not None and x.size >= _MANY_ROWS and _rows.are_short(x, axis):
        return sum(x != 0, axis=axis, keepdims=keepdims)
    counted = np.count_nonzero(x, axis=axis, keepdims=keepdims)
    return counted if isinstance(counted, np.ndarray) else np.int64(counted)


def _counts(x: Native) -> tuple[int, Native] | None:
    """The least of many integers, and how often it and each of the next occur.

    None if they are not many for the range that they are in.
    """
    if x.dtype.kind not in "iu" or x.size < _parts.MANY:
        return None
    low = int(x.min())
    length = int(x.max()) - low + 1
    if length > x.size // 2:
        return None
    return low, np.bincount(
        np.subtract(x.reshape(-1), x.dtype.type(low), dtype=np.intp, casting="unsafe"), None, length
    )


def _sorted(x: Native) -> Native:
    ascending = x.copy("K")
    ascending.sort(-1, stable=shows_order(x))
    return ascending


@shortcut(_sorted, "biuf")
def sort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    refuse_complex(x)
    if x.itemsize == 2 and (wide := _sortable(x)) is not x:
        return sort(wide, axis=axis, descending=descending, stable=stable).astype(x.dtype)
    counted = _counts(x) if x.ndim == 1 and axis in (0, -1) else None
    if counted is not None:
        low, counts = counted
        ascending = np.repeat(np.arange(low, low + counts.size, dtype=x.dtype), counts)
        return np.flip(ascending) if descending else ascending
    must_keep = stable and shows_order(x)
    # Reversed twice, equal elements keep their order.
    ascending = np.flip(x, axis).copy() if descending and must_keep else x.copy("K")
    other = _parts.apart(x, axis)
    if other is None:
        ascending.sort(axis, stable=must_keep)
    else:
        rows = np.moveaxis(ascending, (other, axis), (0, -1))
        _parts.shared(lambda part: rows[part].sort(-1, stable=must_keep), len(rows))
    return np.flip(ascending, axis) if descending else ascending


def shows_order(x: Native) -> bool:
    """Whether the sorted values depend on the sort being stable.

    Only zeros of both signs do. NumPy's unstable sort is three to fifteen times faster, except for narrow dtypes, for
    which the stable one is a radix sort, and for so few elements that the check for zeros takes longer.
    """
    if x.size <= 64 or x.itemsize < 4:
        return True
    if x.dtype.kind != "f" or np.count_nonzero(x) == x.size:
        return False
    is_negative = np.signbit(getitem(x, x == 0))
    return bool(is_negative.any() and not is_negative.all())


@shortcut(functools.partial(direct(np.argsort), stable=True), "biuf")
def argsort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    """NumPy's; if descending, by sorting the reversed array.

    So equal elements keep their order. Integers are inverted instead, which is faster.
    """
    if not x.ndim:
        require_axis(axis)
    refuse_complex(x)
    if x.itemsize == 2:
        x = _sortable(x)
    if not descending:
        return _order(x, axis, stable)
    if x.dtype.kind in "biu":
        return _order(~x, axis, stable)
    return x.shape[axis] - 1 - np.flip(_order(np.flip(x, axis), axis, stable), axis)


def _order(x: Native, axis: int, stable: bool) -> Native:
    """NumPy's argsort, or a faster stable one."""
    return _parts.along(lambda part: _order_of(part, axis, stable), x, axis)


def _order_of(x: Native, axis: int, stable: bool) -> Native:
    if not stable or x.size < _ordering.MANY or x.shape[axis] < _ordering.ROW or x.itemsize < 4:
        return np.argsort(x, axis=axis, stable=stable)
    if x.ndim == 1:
        return _ordering.order(x)
    return np.moveaxis(_ordering.order(np.moveaxis(x, axis, -1)), -1, axis)


def searchsorted(
    x1: Native, x2: Native, /, *, side: Literal["left", "right"] = "left", sorter: Native | None = None
) -> Native:
    refuse_complex(x1, x2)
    if x1.itemsize == 2 or x2.itemsize == 2:
        x1, x2 = _sortable(x1), _sortable(x2)
    return _ordering.searchsorted(x1, x2, side, None if sorter is None else dtypes.signed(sorter))


def interp(
    x: Native, xp: Native, fp: Native, left: Any = None, right: Any = None, period: float | None = None
) -> Native:
    if period is not None or np.size(x) < _parts.MANY:
        return np.interp(x, xp, fp, left, right, period)
    # What each part would convert.
    xp, fp = np.ascontiguousarray(xp, np.float64), np.ascontiguousarray(fp, np.result_type(fp, np.float64))
    return _parts.of_elements(lambda part: np.interp(part, xp, fp, left, right), x)


def bincount(x: Native, weights: Native | None = None, minlength: int = 0, *, length: int | None = None) -> Native:
    x = dtypes.signed(x)
    if length is None:
        return np.bincount(x, weights, minlength)
    is_counted = (x >= 0) & (x < length)
    if not is_counted.all():
        x, weights = x[is_counted], None if weights is None else weights[is_counted]
    return np.bincount(x, weights, length)


def reshape(x: Native, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Native:
    result = x.reshape(shape) if copy is None else x.reshape(shape, copy=copy)  # which takes six times as long
    if result.shape != shape and builtins.min(shape) < -1:  # NumPy treats it as -1
        raise ValueError(f"no length of shape may be less than -1, as in {shape}")
    return result


def unstack(x: Native, /, *, axis: int = 0) -> tuple[Native, ...]:
    if not x.ndim:
        require_axis(axis)
    return tuple(np.moveaxis(x, axis, 0) if axis else x)


def stack(arrays: list[Native], /, *, axis: int = 0) -> Native:
    axis = _normalize_axis(axis, arrays[0].ndim + 1)
    before = (slice(None),) * axis
    return _concatenate([x[(*before, None)] for x in arrays], axis)  # in a third of the time of `np.stack`


_concatenate: Final = direct(np.concatenate)
_normalize_axis: Final = np.lib.array_utils.normalize_axis_index


def expand_dims(x: Native, /, axis: int | tuple[int, ...] = 0) -> Native:
    if axis == 0:
        return x[None]  # in a tenth of the time, as the next line
    return x[..., None] if axis == -1 else np.expand_dims(x, axis)


def squeeze(x: Native, /, axis: int | tuple[int, ...]) -> Native:
    if not x.ndim:
        require_axis(axis)
    return np.squeeze(x, axis)


def repeat(x: Native, repeats: Any, /, *, axis: int | None = None) -> Native:
    if axis is not None and not x.ndim:
        require_axis(axis)
    if isinstance(repeats, int):
        if repeats < 0:
            raise ValueError("repeats must not be negative")  # NumPy accepts it if there are no elements
    elif repeats.dtype.kind not in "iu":
        raise TypeError("NumPy would take a float")
    else:
        repeats = dtypes.signed(repeats)
    return sizes.repeat(x, repeats, axis)


def permute_dims(x: Native, /, axes: tuple[int, ...]) -> Native:
    return x.transpose(axes)


matrix_transpose = np.matrix_transpose


def diff(
    x: Native, /, *, axis: int = -1, n: int = 1, prepend: Native | None = None, append: Native | None = None
) -> Native:
    """NumPy's, but checks `axis`, and does not pass on an end that is None.

    NumPy converts None to a value to append, and does not check the axis if n is 0.
    """
    axis = _normalize_axis(axis, x.ndim)
    if n == 1 and prepend is None and append is None:  # without NumPy's overhead, in three quarters of its time
        before = (slice(None),) * axis
        subtracted = np.not_equal if x.dtype.kind == "b" else np.subtract
        return subtracted(x[(*before, slice(1, None))], x[(*before, slice(None, -1))])
    ends = {name: value for name, value in (("prepend", prepend), ("append", append)) if value is not None}
    if n > x.shape[axis]:  # the result is empty after so many, but NumPy would go on subtracting
        n = builtins.min(n, x.shape[axis] + builtins.sum(one.shape[axis] if one.ndim else 1 for one in ends.values()))
    result = np.diff(x, n, axis, **ends)
    return result if n else result.astype(np.result_type(x, *ends.values()))


_NEXT: Final = np.asarray([1, 2, 0])
_LAST: Final = np.asarray([2, 0, 1])


def _crossed(x1: Native, x2: Native) -> Native:
    """As `np.cross` along the last axis, in a seventh of the time."""
    if x1.shape[-1] != 3 or x2.shape[-1] != 3:
        raise ValueError
    return x1.take(_NEXT, -1) * x2.take(_LAST, -1) - x1.take(_LAST, -1) * x2.take(_NEXT, -1)


@shortcut(_crossed, "iufc", "iufc")
def cross(x1: Native, x2: Native, /, *, axis: int = -1) -> Native:
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            f"axis {axis} must have the length 3 in both arrays, not {x1.shape[axis]} and {x2.shape[axis]}"
        )
    return _cross(x1, x2, axis=axis)


@shortcut(np.matmul, "biufc", "biufc", axes=1)
def matmul(x1: Native, x2: Native, /) -> Native:
    """NumPy's; of integers by BLAS, where that is exact.

    NumPy multiplies integers in a loop: of two of 300 x 300 that took 24 times as long.
    """
    are_integers = x1.dtype.kind in "iu" and x2.dtype.kind in "iu"
    if not are_integers or x1.ndim < 2 or x2.ndim < 2 or x1.shape[-1] != x2.shape[-2] or not x1.size:
        return np.matmul(x1, x2)
    products = builtins.max(x1.size * x2.shape[-1], x2.size * x1.shape[-2])
    if products < _FEW_PRODUCTS + x1.size + x2.size + products // x1.shape[-1]:
        return np.matmul(x1, x2)
    most = [builtins.max(builtins.abs(int(x.min(initial=0))), builtins.abs(int(x.max(initial=0)))) for x in (x1, x2)]
    if x1.shape[-1] * most[0] * most[1] >= 1 << 53:
        return np.matmul(x1, x2)
    product = np.matmul(x1.astype(np.float64), x2.astype(np.float64))
    return product.astype(np.int64).astype(np.result_type(x1, x2), copy=False)


_FEW_PRODUCTS: Final = 1 << 14
"""The most products of integers that NumPy's loop computes in no more time than BLAS.

Of one it takes 0.65 ns, about as long as converting an element to float64 and back; the calls for BLAS take 8 us.
Measured of 2 to 10^5 rows and 1 to 300 columns.
"""

_cross, _tensordot = direct(np.cross), direct(np.tensordot)


@shortcut(_tensordot, "biufc", "biufc", axes=2)
def tensordot(x1: Native, x2: Native, /, *, axes: Any = 2) -> Native:
    if isinstance(axes, int) and axes < 0:  # NumPy does not reject it
        raise ValueError(f"axes must not be negative, not {axes}")
    if axes == 1 and x1.ndim == x2.ndim == 2 and x1.dtype.kind in "biufc":
        return matmul(x1, x2) if x1.dtype.kind in "iu" else np.dot(x1, x2)  # NumPy's own has 7 us more overhead
    return _tensordot(x1, x2, axes)


def padded_by_its_own(array: Native, widths: Any, mode: Any, options: Any) -> Native:
    return np.pad(array, widths, mode, **dict(options))


def einsum(operands: Sequence[Native], /, *, subscripts: str, optimize: Any) -> Native:
    if not optimize and operands[0].size > _FEW_IN_EINSUM and len(operands) > 1:
        optimize = "greedy"
    found = np.einsum(subscripts, *operands, optimize=optimize)
    # A diagonal or a transpose is a view, which no other library has.
    return copied(found) if len(operands) == 1 and found.base is not None else found


_FEW_IN_EINSUM: Final = 1024
"""The most elements for which NumPy's own loops are faster than a path of matrix products."""


def choose(arrays: Sequence[Native], /, *, mode: Any = "raise") -> Native:
    return arrays[0].choose(arrays[1:], mode=mode)


def outer(x1: Native, x2: Native, /) -> Native:
    require_vectors(x1.ndim, x2.ndim)
    return np.outer(x1, x2)


# NumPy's own functions, which take 0.2 us less without keywords.
_vecdot: Callable[..., Native] = np.vecdot  # its annotations leave `axis` out


@shortcut(np.vecdot, "biufc", "biufc")
def vecdot(x1: Native, x2: Native, /, *, axis: int = -1) -> Native:
    return _vecdot(x1, x2, axis=axis)


@shortcut(np.linalg.qr, "fc", axes=2)
def qr(x: Native, /, *, mode: Literal["reduced", "complete"] = "reduced") -> tuple[Native, Native]:
    return _qr(x, mode=mode)


@shortcut(np.linalg.cholesky, "fc", axes=2)
def cholesky(x: Native, /, *, upper: bool = False) -> Native:
    return _cholesky(x, upper=upper)


def _own(function: Callable[..., Any]) -> Callable[..., Any]:
    """A wrapper of a NumPy function: an object that can have a shortcut."""
    function = direct(function)
    return functools.update_wrapper(_parts.of_each(function), function)


det, slogdet, inv, eigh, eigvalsh = (
    shortcut(function, "fc", axes=2)(_own(function))
    for function in (np.linalg.det, np.linalg.slogdet, np.linalg.inv, np.linalg.eigh, np.linalg.eigvalsh)
)
solve = shortcut(np.linalg.solve, "fc", "fc", axes=2)(_own(np.linalg.solve))


def matrix_power(x: Native, n: int, /) -> Native:
    found = _matrix_power(floating(x), n)
    return found.copy() if found is x else found  # as for n = 1


_matrix_power = direct(np.linalg.matrix_power)


_svd, _qr = _own(np.linalg.svd), _own(np.linalg.qr)
_cholesky = _own(np.linalg.cholesky)


def matrix_rank(x: Native, /, *, rtol: Any = None) -> Native:
    if 0 in matrices(x).shape[-2:]:  # NumPy 2.1 raises, as there is no largest singular value
        return np.count_nonzero(np.empty((*x.shape[:-2], 0)), axis=-1)
    return np.linalg.matrix_rank(floating(x), rtol=rtol)


_pinv = _own(np.linalg.pinv)


@shortcut(np.linalg.pinv, "f", axes=2, is_finite=True)
def pinv(x: Native, /, *, rtol: Any = None) -> Native:
    return _pinv(_without_infinity(floating(x)), rtol=rtol)


@shortcut(np.linalg.svd, "f", axes=2, is_finite=True)
def svd(x: Native, /, *, full_matrices: bool = True) -> tuple[Native, Native, Native]:
    return _svd(_without_infinity(x), full_matrices=full_matrices)


def _without_infinity(x: Native) -> Native:
    """The matrices themselves. Raises LinAlgError if they hold infinity.

    LAPACK may not terminate for such matrices, and cannot be interrupted.
    """
    if x.dtype.kind in "fc" and b"\1" in np.isinf(x).tobytes():  # for small arrays, in a third of the time of `any`
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")
    return x


@shortcut(np.linalg.vector_norm, "fc")
def vector_norm(x: Native, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Native:
    if axis is not None and x.size >= _MANY_ROWS and ord == 2 and x.dtype.kind == "f" and _rows.are_short(x, axis):
        squares = _rows.reduced(np.add, x * x, axis, keepdims)
        return np.sqrt(squares, out=squares)
    return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)  # type: ignore[arg-type]  # takes None, too


def floating(x: Native) -> Native:
    """Integers cast to float64, as in NumPy's other linear algebra."""
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def _complex_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's eigenvalues or eigenvectors, always complex.

    A dtype must not depend on values.
    """

    def eigen(x: Native, /) -> Any:
        found = function(x)
        return (as_complex(found[0]), as_complex(found[1])) if isinstance(found, tuple) else as_complex(found)

    return eigen


eig, eigvals = (
    shortcut(_complex_of(direct(function)), "f", axes=2)(_complex_of(_own(function)))
    for function in (np.linalg.eig, np.linalg.eigvals)
)


def as_complex(x: Native) -> Native:
    return x if x.dtype.kind == "c" else x.astype(_COMPLEX.get(x.dtype) or np.result_type(x.dtype, np.complex64))


_COMPLEX: Final = {np.dtype(np.float32): np.dtype(np.complex64), np.dtype(np.float64): np.dtype(np.complex128)}
"""A cache for common dtypes: `np.result_type` takes 0.4 us."""


if TYPE_CHECKING:
    from anyarray.backends._fourier import fftfreq as fftfreq
    from anyarray.backends._fourier import rfftfreq as rfftfreq
else:

    def __getattr__(name: str) -> Any:
        """A function of `numpy.fft`, imported at the first call."""
        if name in ("fftshift", "ifftshift", "fftfreq", "rfftfreq") or name.endswith(("fft", "fftn")):
            return getattr(importlib.import_module("anyarray.backends._fourier"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def finite_of(x: Native, nan: Any, posinf: Any, neginf: Any) -> Native:
    return np.nan_to_num(x, True, nan, posinf, neginf)


# Theirs are Python's bools.
def allclose(a: Native, b: Native, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Native:
    return np.bool_(np.allclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Native, a2: Native, equal_nan: bool = False) -> Native:
    return np.bool_(np.array_equal(a1, a2, equal_nan))


def array_equiv(a1: Native, a2: Native) -> Native:
    return np.bool_(np.array_equiv(a1, a2))


def _drawn(name: str) -> Callable[..., Native]:
    def draw(key: Native, shape: tuple[int, ...], dtype: np.dtype[Any], /) -> Native:
        numbers = empty(shape, dtype=dtype)
        seed, flat = int(key[0]) << 32 | int(key[1]), numbers.reshape(-1)
        share = -(-flat.size // (processor.cores() or 1)) if flat.size >= _SHARED else flat.size or 1
        others = [
            threading.Thread(target=_fill, args=(name, seed, start, flat[start : start + share]))
            for start in range(share, flat.size, share)
        ]
        for one in others:
            one.start()
        _fill(name, seed, 0, flat[:share])
        for one in others:
            one.join()
        return numbers

    return draw


_SHARED: Final = 1 << 18
"""Elements from which on each core draws a part."""


def _fill(name: str, seed: int, first: int, out: Native) -> None:
    extension.speedups.random_fill(name, seed, first, out)


if extension.speedups is not None:  # else they are composed of calls, which takes ten times as long
    random_bits, random_fractions, random_normals = map(_drawn, ("bits", "random", "standard_normal"))
