"""Statistical functions: reductions and cumulative sums and products.

float32 is summed in TensorFlow's order, which is less accurate than NumPy's pairwise summation: ten million times
0.1 is 1000001.4 here, 1000000.1 there.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._base import dtypes, errors
from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.axes import axes_in, only_axis
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._derivatives import product, running_product
from anyarray.backends.tensorflow._device import is_for_cpu, is_on_host
from anyarray.backends.tensorflow._host import from_host, on_host, raw
from anyarray.backends.tensorflow._kernel import (
    NAME,
    NATIVE,
    REFUSALS,
    Ints,
    Tensor,
    cast,
    constant,
    is_common,
    is_complex,
    keeping_nans_along,
    kind_of,
    may_be_differentiated,
    name_of,
    number,
)
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow._shapes import axes_tensor, cut, every_axis, lengths, shape_tensor, sizes_of, slab
from anyarray.backends.tensorflow.manipulation import moveaxis
from anyarray.backends.tensorflow.searching import where

_BOOL: Final = NATIVE["bool"]
_SUMMED: Final = {native: NATIVE[dtypes.summed(name)] for name, native in NATIVE.items()}
"""Dtype of sums and products, by dtype."""


def _summand(x: Tensor, dtype: Any) -> Tensor:
    """`x` cast to the dtype in which it is summed or multiplied.

    TensorFlow does neither for bools. As a bool, the sum is `any` and the product is `all`.
    """
    native = x.dtype
    wanted = dtype or _SUMMED[native]
    if wanted is native:
        return x
    # The cast from complex to bool ignores the imaginary part.
    return ops.NotEqual(x, constant(0, name_of(x))) if wanted is _BOOL else cast(x, NAME[wanted])


def alternate(x: Tensor, axis: Ints | None) -> bool:
    """Whether `x` is reduced over scattered axes and may be differentiated.

    Other axes may lie between them. TensorFlow broadcasts, and reduces in the gradient, at most five runs of axes.
    """
    return isinstance(axis, tuple) and len(axis) > 2 and x.shape.rank > 5 and may_be_differentiated(x)


def with_axes_merged(reduce: Callable[[Tensor], Tensor], x: Tensor, axis: Ints | None, keepdims: bool) -> Tensor:
    """`reduce` of `x` with the reduced axes merged into the last one.

    `reduce` removes that axis.
    """
    shape = lengths(x)
    axes = axes_in(axis, len(shape))
    kept = tuple(a for a in range(len(shape)) if a not in axes)
    merged = [*(shape[a] for a in kept), math.prod(shape[a] for a in axes)]
    y = reduce(ops.Reshape(ops.Transpose(x, constant(kept + axes)), shape_tensor(merged)))
    return ops.Reshape(y, shape_tensor([1 if a in axes else n for a, n in enumerate(shape)])) if keepdims else y


def _along_last(raw: Callable[..., Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: raw(x, constant(-1), False)


def sum(x: Tensor, /, *, axis: Ints | None = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    if dtype is not None or not is_common(x.dtype):
        x = _summand(x, dtype)
        if x.dtype is _BOOL:
            return ops.Any(x, axes_tensor(x, axis), keepdims)
    if alternate(x, axis):
        return with_axes_merged(_along_last(ops.Sum), x, axis, keepdims)
    return ops.Sum(x, every_axis(x.shape.rank) if axis is None else constant(axis), keepdims)


def prod(x: Tensor, /, *, axis: Ints | None = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    if dtype is not None or not is_common(x.dtype):
        x = _summand(x, dtype)
        if x.dtype is _BOOL:
            return ops.All(x, axes_tensor(x, axis), keepdims)
    if _is_multiplied_apart(x):
        return with_axes_merged(lambda y: ops.Squeeze(product(y), [-1]), x, axis, keepdims)
    if alternate(x, axis):
        return with_axes_merged(_along_last(ops.Prod), x, axis, keepdims)
    return ops.Prod(x, every_axis(x.shape.rank) if axis is None else constant(axis), keepdims)


def _is_multiplied_apart(x: Tensor) -> bool:
    """Whether a derivative may be taken that TensorFlow gets wrong.

    The gradient of Cumprod, which that of Prod uses, divides by the elements, so it is 0 for an element that is 0. For
    complex numbers it is not conjugated.
    """
    if not may_be_differentiated(x):
        return False
    kind = kind_of(x)
    return kind == "c" or (kind == "f" and not (is_on_host(x) and bool(on_host(x).all())))


def _cumulative(
    accumulate: Callable[..., Tensor], initial: int, x: Tensor, axis: int | None, dtype: Any, include: bool
) -> Tensor:
    """Cumulative sums or products; `include` puts `initial` first."""
    x = _summand(x, dtype)
    is_bool = x.dtype is _BOOL
    if is_bool:  # computed as int64, then True where not 0
        x = ops.Cast(x, NATIVE["int64"])
    if x.shape.rank == 0:
        x = ops.ExpandDims(x, constant(0))  # as NumPy does
    axis = only_axis(axis, x.shape.rank)
    if include:
        x = ops.ConcatV2([slab(x, axis, 1, initial), x], constant(axis))
    y = accumulate(x, axis)
    return ops.Cast(y, _BOOL) if is_bool else y


def _by_numpy(running: Callable[..., Any], x: Tensor, axis: int) -> Tensor | None:
    """Cumulative sums or products by NumPy, in a tenth to half of the time.

    None if NumPy cannot read `x` in place, or if derivatives may be taken.
    """
    if not is_on_host(x):
        return None
    a = raw(x)
    if a.dtype.kind not in "iu" and (a.dtype.kind != "f" or a.itemsize == 2 or may_be_differentiated(x)):
        return None
    with np.errstate(all="ignore"):
        return from_host(running(a, axis=axis, dtype=a.dtype), x)


def running_sum(x: Tensor, axis: int) -> Tensor:
    """Cumulative sums along an axis."""
    if (found := _by_numpy(on_numpy.cumulative_sum, x, axis)) is not None:
        return found
    return (
        _in_rows(ops.Cumsum, ops.AddV2, 0, x, axis)
        if _is_of_few_rows(x, axis)
        else ops.Cumsum(x, constant(axis), False, False)
    )


_ROW: Final = 1 << 10
"""Length of the rows into which a long axis is cut."""
_FEW_ROWS: Final = 1 << 8
"""Threshold in rows from which a GPU has work for all of its blocks."""


def _is_of_few_rows(x: Tensor, axis: int) -> bool:
    """Whether a GPU would leave most blocks idle: it computes a row in one."""
    shape = x.shape
    if is_for_cpu(x) or not shape.is_fully_defined() or shape[axis] < 16 * _ROW:
        return False
    return bool(shape.num_elements() // shape[axis] < _FEW_ROWS)


def _in_rows(scan: Callable[..., Tensor], join: Callable[..., Tensor], nothing: int, x: Tensor, axis: int) -> Tensor:
    """`scan` of parts of an axis, each joined with those before."""
    before, (n, *after) = x.shape.as_list()[:axis], x.shape.as_list()[axis:]
    outer, inner, rows = math.prod(before), math.prod(after), -(-n // _ROW)
    flat = ops.Reshape(x, constant((outer, n, inner)))
    if rows * _ROW > n:
        rest = ops.Fill(constant((outer, rows * _ROW - n, inner)), constant(nothing, name_of(x)))
        flat = ops.ConcatV2([flat, rest], constant(1))
    y = scan(ops.Reshape(flat, constant((outer, rows, _ROW, inner))), constant(2), False, False)
    totals = ops.StridedSlice(y, *map(constant, ((0, 0, -1, 0), (0, 0, 0, 0), (1, 1, 1, 1))), 11, 15, 0, 0, 0)
    y = join(y, scan(totals, constant(1), True, False))
    y = ops.Reshape(y, constant((outer, rows * _ROW, inner)))
    return ops.Reshape(cut(y, 1, 0, n) if rows * _ROW > n else y, sizes_of(x))


def _running_product(x: Tensor, axis: int) -> Tensor:
    if (found := _by_numpy(on_numpy.cumulative_prod, x, axis)) is not None:
        return found
    if not _is_multiplied_apart(x):
        if _is_of_few_rows(x, axis):
            return _in_rows(ops.Cumprod, ops.Mul, 1, x, axis)
        return ops.Cumprod(x, constant(axis), False, False)
    return moveaxis(running_product(moveaxis(x, axis, -1)), -1, axis)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    return _cumulative(running_sum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    return _cumulative(_running_product, 1, x, axis, dtype, include_initial)


def _require_elements(function: str, shape: list[int | None], axis: Ints | None) -> None:
    """Raise ValueError if a reduced axis is empty.

    TensorFlow returns an infinity there.
    """
    reduced = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    if builtins.any(shape[i] == 0 for i in reduced):
        raise errors.ArgumentValueError(
            f"{function}: x must have elements along the axis reduced; its shape is {shape}"
        )


def _extreme(function: str, raw: Callable[..., Tensor], of_bools: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def extreme(x: Tensor, /, *, axis: Ints | None = None, keepdims: bool = False) -> Tensor:
        shape = x.shape.as_list()
        if 0 in shape:
            _require_elements(function, shape, axis)
        if alternate(x, axis):
            return with_axes_merged(lambda y: extreme(y, axis=-1), x, axis, keepdims)
        axes = every_axis(len(shape)) if axis is None else constant(axis)
        try:
            return raw(x, axes, keepdims)
        except REFUSALS:
            if x.dtype is not _BOOL:
                raise
        return of_bools(x, axes, keepdims)

    return extreme


max = _extreme("max", keeping_nans_along(ops.Max), ops.Any)
min = _extreme("min", keeping_nans_along(ops.Min), ops.All)


_AVERAGED: Final = {
    native: NATIVE[{"f": "float32", "c": name}.get(dtypes.KNOWN[name].kind, "float64")]
    for name, native in NATIVE.items()
    if name not in ("float32", "float64")
}
"""Dtype in which the mean is computed, by dtype, where the op's result is wrong.

16-bit sums overflow, means of integers are float64, and the op's mean of no complex numbers is 0 instead of NaN.
"""


def _degrees(x: Tensor, axis: Ints | None, correction: float) -> float | Tensor:
    """Number of averaged elements, minus `correction`.

    It is a number, or a float64 tensor where a trace does not know the lengths.
    """
    shape = lengths(x)
    count = math.prod(shape if axis is None else [shape[i] for i in (axis if isinstance(axis, tuple) else (axis,))])
    return (count if isinstance(count, int) else cast(count, "float64")) - correction


def mean(x: Tensor, /, *, axis: Ints | None = None, keepdims: bool = False) -> Tensor:
    native = x.dtype
    if alternate(x, axis):
        return with_axes_merged(lambda y: mean(y, axis=-1), x, axis, keepdims)
    if is_common(native):
        return ops.Mean(x, every_axis(x.shape.rank) if axis is None else constant(axis), keepdims)
    wide = _AVERAGED[native]
    if wide is native:
        total = ops.Sum(x, axes_tensor(x, axis), keepdims)
        return ops.RealDiv(total, number(_degrees(x, axis, 0), native))
    average = ops.Mean(ops.Cast(x, wide), axes_tensor(x, axis), keepdims)
    return _narrowed(average, x)


def _narrowed(average: Tensor, x: Tensor) -> Tensor:
    """`average` cast to the dtype of `x`, if that is a real float."""
    return average if is_common(x.dtype) or kind_of(x) != "f" else cast(average, name_of(x))


def _variance(x: Tensor, axis: Ints | None, correction: float, keepdims: bool) -> Tensor:
    """Variance, in the dtype that computes the mean; real for complex `x`."""
    if isinstance(axis, tuple) and len(axis) > 2 and x.shape.rank > 5:  # even without derivatives
        return with_axes_merged(lambda y: _variance(y, -1, correction, False), x, axis, keepdims)
    native = x.dtype
    wide = native if is_common(native) else _AVERAGED[native]
    if wide is not native:
        x = ops.Cast(x, wide)
    axes = axes_tensor(x, axis)
    if is_complex(x):
        deviation = ops.Sub(x, mean(x, axis=axis, keepdims=True))
        squares = ops.Real(ops.Mul(deviation, ops.Conj(deviation)), wide.real_dtype)
    else:
        squares = ops.SquaredDifference(x, ops.Mean(x, axes, True))
    if correction == 0:
        return ops.Mean(squares, axes, keepdims)
    total = ops.Sum(squares, axes, keepdims)
    degrees = _degrees(x, axis, correction)
    if isinstance(degrees, int | float):
        degrees = degrees if degrees > 0 else math.nan
    else:
        degrees = tf.where(degrees > 0, degrees, number(math.nan, degrees.dtype))
    return ops.RealDiv(total, number(degrees, total.dtype))


def var(x: Tensor, /, *, axis: Ints | None = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    variance = _variance(x, axis, correction, keepdims)
    return _narrowed(variance, x)


def std(x: Tensor, /, *, axis: Ints | None = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    variance = _variance(x, axis, correction, keepdims)
    return _narrowed(with_slope_at_zero(lambda y, _: ops.Sqrt(y), variance, keepdims), x)


def with_slope_at_zero(norm: Callable[[Tensor, bool], Tensor], x: Tensor, keepdims: bool) -> Tensor:
    """`norm` of `x` and `keepdims`, with the derivative 0 where it is 0.

    That is the mean of the one-sided derivatives. TensorFlow's is NaN.
    """
    y = norm(x, keepdims)
    if not may_be_differentiated(x) or (is_on_host(y) and bool(on_host(y).all())):
        return y
    zero, one = constant(0, name_of(y)), constant(1, name_of(y))
    others = norm(where(ops.Equal(norm(ops.StopGradient(x), True), zero), one, x), keepdims)
    return where(ops.Equal(ops.StopGradient(y), zero), zero, others)
