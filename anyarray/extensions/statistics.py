"""Order statistics and averages beyond the standard, as NumPy has them.

`axis=None` means all axes. Reduced axes are kept with length 1 if `keepdims` is True. The functions `nan...` ignore
NaN; if all elements are NaN, the result is NaN, but 0 for sums and 1 for products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

from anyarray._array import complex_order
from anyarray._array.array import AnyArray, Array
from anyarray._base import errors
from anyarray._base.dtypes import DTypeLike
from anyarray._call.arguments import as_array, known_shape
from anyarray._call.dispatch import composed
from anyarray.extensions._axes import axes_of
from anyarray.standard import namespace as xp

__all__ = [
    "average", "cumprod", "cumsum", "median", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean",
    "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "percentile", "ptp",
    "quantile",
]  # fmt: skip

Axes: TypeAlias = int | Sequence[int] | None

Method: TypeAlias = Literal[
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]
"""How a quantile between two elements is found."""


def _is_certain(x: Array) -> bool:
    """Whether a 0-d `x` is True. Under a trace it is not certain."""
    return not x._home.is_traced(x._native) and bool(x)


def _axes(function: str, a: AnyArray, axis: int | Sequence[int] | None) -> tuple[int, ...]:
    """The axes to be reduced, counted from the first."""
    ndim = len(a.shape)
    return tuple(range(ndim)) if axis is None else axes_of(function, axis, ndim)


def _rows(a: AnyArray, axes: tuple[int, ...]) -> Array:
    """`a` with `axes` joined to its last one."""
    if len(axes) == 1:
        return xp.moveaxis(a, axes[0], -1)
    kept = [one for one in range(len(a.shape)) if one not in axes]
    return xp.reshape(xp.permute_dims(a, (*kept, *axes)), (*[a.shape[one] for one in kept], -1))


def average(
    a: AnyArray,
    axis: int | Sequence[int] | None = None,
    weights: AnyArray | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Array | tuple[Array, Array]:
    """Weighted average over `axis`.

    `weights` has the shape of `a`, or of the axes in the order of `axis`; None means 1 for each element. If `returned`
    is True, the sums of the weights are also returned, in the shape of the averages.
    Raises ZeroDivisionError if weights sum to zero; in a trace, the result is not finite.

    >>> import anyarray as xp
    >>> float(xp.average(xp.asarray([1.0, 2.0]), weights=xp.asarray([3, 1])))
    1.25

    Source: NumPy 2.4, numpy.average.
    """
    a = as_array("average", "a", a)
    if weights is None:
        found = xp.mean(a, axis=axis, keepdims=keepdims)
        return (found, xp.full_like(found, a.size / found.size if found.size else math.nan)) if returned else found
    weights = as_array("average", "weights", weights)
    found, scale = weighted_mean(a, _beside("average", a, axis, weights), axis, keepdims=keepdims)
    if _is_certain(xp.any(scale == 0)):
        raise ZeroDivisionError("average: weights must not sum to zero")
    return (found, scale) if returned else found


@composed(reads_no_values=True)
def weighted_mean(
    a: AnyArray, weights: AnyArray, axis: int | Sequence[int] | None, *, keepdims: bool
) -> tuple[Array, Array]:
    """The average by weights of the shape of `a`, and their sum."""
    dtype = xp.result_type(a, weights)
    if xp.isdtype(a.dtype, ("bool", "integral")):
        dtype = xp.result_type(dtype, xp.float64)
    weights = xp.astype(weights, dtype, copy=False)
    scale = xp.sum(weights, axis=axis, keepdims=keepdims)
    return xp.sum(xp.astype(a, dtype, copy=False) * weights, axis=axis, keepdims=keepdims) / scale, scale


def _beside(function: str, a: Array, axis: int | Sequence[int] | None, weights: Array) -> Array:
    """Weights in the shape of `a`."""
    if known_shape(weights) == known_shape(a):
        return weights
    if axis is None:
        raise errors.ArgumentTypeError(
            f"{function}: axis must be given, as weights of shape {weights.shape} are not of the shape of a, {a.shape}"
        )
    axes = axes_of(function, axis, a.ndim)
    wanted = tuple([known_shape(a)[one] for one in axes])
    if known_shape(weights) != wanted:
        raise errors.ArgumentValueError(
            f"{function}: weights must have the shape of a, {a.shape}, or of its axes, {wanted}, not {weights.shape}"
        )
    order = sorted(range(len(axes)), key=axes.__getitem__)
    others = tuple([one for one in range(a.ndim) if one not in axes])
    return xp.broadcast_to(xp.expand_dims(xp.permute_dims(weights, tuple(order)), axis=others), a.shape)


@composed(own="numpy cupy", reads_no_values=True, a="floating-point")
def median(a: AnyArray, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
    """The middle element in order, or the mean of the two middle ones.

    The dtype is that of `mean`. The result is NaN if an element is NaN or there are no elements.

    >>> import anyarray as xp
    >>> xp.median(xp.asarray([[7, 1, 3], [4, 6, 8]]), axis=1).tolist()
    [3.0, 6.0]

    Source: NumPy 2.4, numpy.median.
    """
    return _median("median", a, axis, keepdims)


def _length(rows: Array) -> int | Array:
    """The number of columns.

    It is an Array of one column if a trace does not know it.
    """
    n = known_shape(rows)[-1]
    if n is None:
        return xp.count_nonzero(xp.ones_like(rows, dtype=xp.bool), axis=-1, keepdims=True)
    return n


def _middle(values: Array, number: int | Array) -> Array:
    """The middle of the first `number` elements of each sorted row."""
    if isinstance(number, int):
        return xp.mean(values[..., (number - 1) // 2 : number // 2 + 1], axis=-1)
    places = [xp.maximum(at, 0) for at in ((number - 1) // 2, number // 2)]
    return xp.mean(xp.concat([xp.take_along_axis(values, at, axis=-1) for at in places], axis=-1), axis=-1)


def _median(function: str, a: AnyArray, axis: Axes, keepdims: bool) -> Array:
    axes = _axes(function, a, axis)
    rows = _rows(xp.astype(a, a.dtype if a.dtype.kind in "fc" else xp.float64, copy=False), axes)
    if known_shape(rows)[-1] == 0:
        found = xp.mean(rows, axis=-1)
    else:
        values = complex_order.sort(rows) if rows.dtype.kind == "c" else xp.sort(rows, axis=-1)
        last = values[..., -1]
        found = xp.where(xp.isnan(last), last, _middle(values, _length(rows)))
    return xp.expand_dims(found, axis=axes) if keepdims else found


@composed(own="numpy", a="real numeric")
def nanargmax(a: AnyArray, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Index of the highest element over `axis` that is not NaN.

    Raises ValueError if all elements are NaN; in a trace, the index is 0.

    >>> import anyarray as xp
    >>> int(xp.nanargmax(xp.asarray([xp.nan, 2.0, 1.0])))
    1

    Source: NumPy 2.4, numpy.nanargmax.
    """
    return xp.argmax(_comparable("nanargmax", a, axis, -math.inf), axis=axis, keepdims=keepdims)


@composed(own="numpy", a="real numeric")
def nanargmin(a: AnyArray, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Index of the lowest element over `axis` that is not NaN.

    Raises ValueError if all elements are NaN; in a trace, the index is 0.

    >>> import anyarray as xp
    >>> int(xp.nanargmin(xp.asarray([xp.nan, 2.0, 1.0])))
    2

    Source: NumPy 2.4, numpy.nanargmin.
    """
    return xp.argmin(_comparable("nanargmin", a, axis, math.inf), axis=axis, keepdims=keepdims)


def _comparable(function: str, a: AnyArray, axis: int | None, instead: float) -> AnyArray:
    """`a` with another number for NaN. Raises ValueError if all are NaN."""
    if not xp.isdtype(a.dtype, "real floating"):
        return a
    is_nan = xp.isnan(a)
    if 0 not in a.shape and _is_certain(xp.any(xp.all(is_nan, axis=axis))):
        raise errors.ArgumentValueError(f"{function}: All-NaN slice encountered")
    return xp.where(is_nan, instead, a)


def _without_nan(a: AnyArray, instead: float) -> AnyArray:
    """`a` with another number for NaN."""
    return xp.where(xp.isnan(a), instead, a) if xp.isdtype(a.dtype, ("real floating", "complex floating")) else a


@composed(own="numpy", reads_no_values=True, a="numeric")
def nancumprod(a: AnyArray, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Products of the elements up to each along `axis`; NaN counts as 1.

    `axis=None` means the flattened `a`. `dtype=None` is resolved as in `prod`.

    >>> import anyarray as xp
    >>> xp.nancumprod(xp.asarray([2.0, xp.nan, 3.0])).tolist()
    [2.0, 2.0, 6.0]

    Source: NumPy 2.4, numpy.nancumprod.
    """
    return xp.cumulative_prod(_in_line(_without_nan(a, 1), axis), axis=axis or 0, dtype=dtype)


@composed(own="numpy", reads_no_values=True, a="numeric")
def cumprod(a: AnyArray, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Products of the elements up to each along `axis`.

    As `cumulative_prod`, but `axis=None` means the flattened `a`.

    >>> import anyarray as xp
    >>> xp.cumprod(xp.asarray([[1, 2], [3, 4]])).tolist()
    [1, 2, 6, 24]

    Source: NumPy 2.4, numpy.cumprod.
    """
    return xp.cumulative_prod(_in_line(a, axis), axis=axis or 0, dtype=dtype)


@composed(own="numpy", reads_no_values=True, a="numeric")
def cumsum(a: AnyArray, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Sums of the elements up to each along `axis`.

    As `cumulative_sum`, but `axis=None` means the flattened `a`.

    >>> import anyarray as xp
    >>> xp.cumsum(xp.asarray([[1, 2], [3, 4]])).tolist()
    [1, 3, 6, 10]

    Source: NumPy 2.4, numpy.cumsum.
    """
    return xp.cumulative_sum(_in_line(a, axis), axis=axis or 0, dtype=dtype)


@composed(own="numpy", reads_no_values=True, a="numeric")
def nancumsum(a: AnyArray, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Sums of the elements up to each along `axis`; NaN counts as 0.

    `axis=None` means the flattened `a`. `dtype=None` is resolved as in `sum`.

    >>> import anyarray as xp
    >>> xp.nancumsum(xp.asarray([2.0, xp.nan, 3.0])).tolist()
    [2.0, 2.0, 5.0]

    Source: NumPy 2.4, numpy.nancumsum.
    """
    return xp.cumulative_sum(_in_line(_without_nan(a, 0), axis), axis=axis or 0, dtype=dtype)


def _in_line(a: AnyArray, axis: int | None) -> AnyArray:
    return xp.reshape(a, (-1,)) if axis is None else a


@composed(own="numpy jax cupy", reads_no_values=True, a="real numeric", fit="some element")
def nanmax(a: AnyArray, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
    """Highest element over `axis` that is not NaN, in the dtype of `a`.

    Raises ValueError if there are no elements.

    >>> import anyarray as xp
    >>> float(xp.nanmax(xp.asarray([xp.nan, 2.0, 1.0])))
    2.0

    Source: NumPy 2.4, numpy.nanmax.
    """
    found = xp.max(_without_nan(a, -math.inf), axis=axis, keepdims=keepdims)
    return _nan_where_nothing_is_left(found, a, axis, keepdims)


@composed(own="numpy jax cupy", reads_no_values=True, a="real numeric", fit="some element")
def nanmin(a: AnyArray, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
    """Lowest element over `axis` that is not NaN, in the dtype of `a`.

    Raises ValueError if there are no elements.

    >>> import anyarray as xp
    >>> float(xp.nanmin(xp.asarray([xp.nan, 2.0, 1.0])))
    1.0

    Source: NumPy 2.4, numpy.nanmin.
    """
    found = xp.min(_without_nan(a, math.inf), axis=axis, keepdims=keepdims)
    return _nan_where_nothing_is_left(found, a, axis, keepdims)


def _nan_where_nothing_is_left(found: Array, a: AnyArray, axis: Axes, keepdims: bool) -> Array:
    if not xp.isdtype(a.dtype, "real floating"):
        return found
    return xp.where(xp.all(xp.isnan(a), axis=axis, keepdims=keepdims), math.nan, found)


@composed(own="numpy", reads_no_values=True, a="numeric")
def nanmean(
    a: AnyArray, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, *, keepdims: bool = False
) -> Array:
    """Arithmetic mean over `axis` of the elements that are not NaN.

    `dtype=None` means that of `a`, or float64 for bools and integers.

    >>> import anyarray as xp
    >>> float(xp.nanmean(xp.asarray([xp.nan, 2.0, 1.0])))
    1.5

    Source: NumPy 2.4, numpy.nanmean.
    """
    a = _in_dtype("nanmean", a, dtype)
    return xp.sum(_without_nan(a, 0), axis=axis, keepdims=keepdims) / _count(a, axis, keepdims)


def _in_dtype(function: str, a: AnyArray, dtype: DTypeLike | None) -> Array:
    """`a` in the floating dtype in which its mean is computed."""
    is_floating = xp.isdtype(a.dtype, ("real floating", "complex floating"))
    if dtype is None:
        return xp.astype(a, a.dtype if is_floating else xp.float64, copy=False)
    if is_floating and not xp.isdtype(xp.result_type(dtype), ("real floating", "complex floating")):
        raise errors.ArgumentTypeError(f"{function}: dtype must be a floating one, as that of a, not {dtype}")
    return xp.astype(a, dtype, copy=False)


def _count(a: Array, axis: Axes, keepdims: bool) -> Array:
    """The number of elements that are not NaN, in the real dtype of `a`."""
    number = xp.count_nonzero(~xp.isnan(a), axis=axis, keepdims=keepdims)
    return xp.astype(number, xp.finfo(a.dtype).dtype)


@composed(own="numpy", reads_no_values=True, a="real floating-point")
def nanmedian(a: AnyArray, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
    """The median over `axis` of the elements that are not NaN.

    >>> import anyarray as xp
    >>> float(xp.nanmedian(xp.asarray([xp.nan, 2.0, 1.0])))
    1.5

    Source: NumPy 2.4, numpy.nanmedian.
    """
    if not xp.isdtype(a.dtype, "real floating"):
        return _median("nanmedian", a, axis, keepdims)
    axes = _axes("nanmedian", a, axis)
    rows = _rows(a, axes)
    if known_shape(rows)[-1] == 0:
        found = xp.mean(rows, axis=-1)
    else:
        number = xp.count_nonzero(~xp.isnan(rows), axis=-1, keepdims=True)
        found = _middle(xp.sort(rows, axis=-1), number)
    return xp.expand_dims(found, axis=axes) if keepdims else found


@composed(own="numpy", reads_no_values=True, a="numeric")
def nanprod(
    a: AnyArray, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, *, keepdims: bool = False
) -> Array:
    """Product over `axis` of the elements that are not NaN.

    `dtype=None` is resolved as in `prod`.

    >>> import anyarray as xp
    >>> float(xp.nanprod(xp.asarray([xp.nan, 2.0, 3.0])))
    6.0

    Source: NumPy 2.4, numpy.nanprod.
    """
    return xp.prod(_without_nan(a, 1), axis=axis, dtype=dtype, keepdims=keepdims)


@composed(own="numpy", reads_no_values=True, a="numeric")
def nansum(
    a: AnyArray, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, *, keepdims: bool = False
) -> Array:
    """Sum over `axis` of the elements that are not NaN.

    `dtype=None` is resolved as in `sum`.

    >>> import anyarray as xp
    >>> float(xp.nansum(xp.asarray([xp.nan, 2.0, 3.0])))
    5.0

    Source: NumPy 2.4, numpy.nansum.
    """
    return xp.sum(_without_nan(a, 0), axis=axis, dtype=dtype, keepdims=keepdims)


@composed(own="numpy", reads_no_values=True, a="floating-point")
def nanvar(
    a: AnyArray,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    *,
    ddof: float = 0,
    keepdims: bool = False,
) -> Array:
    """Variance over `axis` of the elements that are not NaN.

    The sum of squares is divided by the number of elements minus `ddof`; the result is NaN if that is not positive. For
    complex numbers, the squares are those of the magnitudes.

    >>> import anyarray as xp
    >>> float(xp.nanvar(xp.asarray([xp.nan, 2.0, 4.0])))
    1.0

    Source: NumPy 2.4, numpy.nanvar.
    """
    return _variance("nanvar", a, axis, dtype, ddof, keepdims)


def _variance(function: str, a: AnyArray, axis: Axes, dtype: DTypeLike | None, ddof: float, keepdims: bool) -> Array:
    is_floating = xp.isdtype(a.dtype, ("real floating", "complex floating"))
    a = _in_dtype(function, a, dtype)
    mean = xp.sum(_without_nan(a, 0), axis=axis, keepdims=True) / _count(a, axis, True)
    off = xp.where(xp.isnan(a), 0, a - mean)
    squares = xp.real(off * xp.conj(off)) if off.dtype.kind == "c" else off * off
    total, free = xp.sum(squares, axis=axis, keepdims=keepdims), _count(a, axis, keepdims) - ddof
    # Where nothing can be left out, NumPy's function is `var`.
    return xp.where(free > 0, total, math.nan) / free if is_floating else total / xp.maximum(free, 0)


@composed(own="numpy", reads_no_values=True, a="floating-point")
def nanstd(
    a: AnyArray,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    *,
    ddof: float = 0,
    keepdims: bool = False,
) -> Array:
    """Standard deviation over `axis` of the elements that are not NaN.

    It is the square root of `nanvar`.

    >>> import anyarray as xp
    >>> float(xp.nanstd(xp.asarray([xp.nan, 2.0, 4.0])))
    1.0

    Source: NumPy 2.4, numpy.nanstd.
    """
    return xp.sqrt(_variance("nanstd", a, axis, dtype, ddof, keepdims))


@composed(own="numpy cupy", reads_no_values=True, a="real numeric")
def ptp(a: AnyArray, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
    """The largest element minus the smallest, along `axis`.

    >>> import anyarray as xp
    >>> xp.ptp(xp.asarray([[4, 9], [2, 1]]), axis=1).tolist()
    [5, 1]

    Source: NumPy 2.4, numpy.ptp.
    """
    return xp.max(a, axis=axis, keepdims=keepdims) - xp.min(a, axis=axis, keepdims=keepdims)


@composed(own="numpy", a="real numeric")
def quantile(
    a: AnyArray,
    q: float | AnyArray,
    axis: int | Sequence[int] | None = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    weights: AnyArray | None = None,
) -> Array:
    """The quantiles `q` of the elements over `axis`.

    `q` is from 0 to 1 and has any shape, with which the shape of the result starts. Between two elements, `method`
    decides: "lower", "higher" and "nearest" take one of them, "midpoint" their mean, and "linear" and others
    interpolate. `weights`, only for the method "inverted_cdf", has the shape of `a` or of the axes. NaN among the
    elements gives NaN.
    Raises ValueError for a `q` out of range; in a trace, the result is NaN.

    >>> import anyarray as xp
    >>> xp.quantile(xp.asarray([1.0, 2.0, 4.0]), xp.asarray([0.5, 0.75])).tolist()
    [2.0, 3.0]

    Source: NumPy 2.4, numpy.quantile.
    """
    return _quantile("quantile", a, q, axis, method, keepdims, weights)


@composed(own="numpy", a="real numeric")
def percentile(
    a: AnyArray,
    q: float | AnyArray,
    axis: int | Sequence[int] | None = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    weights: AnyArray | None = None,
) -> Array:
    """As `quantile`, with `q` from 0 to 100.

    >>> import anyarray as xp
    >>> float(xp.percentile(xp.asarray([1.0, 2.0, 4.0]), 75))
    3.0

    Source: NumPy 2.4, numpy.percentile.
    """
    return _quantile("percentile", a, _parts(q), axis, method, keepdims, weights)


@composed(own="numpy", a="real numeric")
def nanquantile(
    a: AnyArray,
    q: float | AnyArray,
    axis: int | Sequence[int] | None = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    weights: AnyArray | None = None,
) -> Array:
    """As `quantile`, of the elements that are not NaN.

    >>> import anyarray as xp
    >>> float(xp.nanquantile(xp.asarray([1.0, 2.0, 4.0, xp.nan]), 0.75))
    3.0

    Source: NumPy 2.4, numpy.nanquantile.
    """
    return _quantile("nanquantile", a, q, axis, method, keepdims, weights, leaves_nan_out=True)


@composed(own="numpy", a="real numeric")
def nanpercentile(
    a: AnyArray,
    q: float | AnyArray,
    axis: int | Sequence[int] | None = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    weights: AnyArray | None = None,
) -> Array:
    """As `percentile`, of the elements that are not NaN.

    >>> import anyarray as xp
    >>> float(xp.nanpercentile(xp.asarray([1.0, 2.0, 4.0, xp.nan]), 75))
    3.0

    Source: NumPy 2.4, numpy.nanpercentile.
    """
    return _quantile("nanpercentile", a, _parts(q), axis, method, keepdims, weights, leaves_nan_out=True)


def _parts(q: float | AnyArray) -> float | Array:
    """Percents as parts of 1."""
    return q / 100 if isinstance(q, (int, float)) else xp.divide(q, 100)


def _quantile(
    function: str,
    a: AnyArray,
    q: float | AnyArray,
    axis: Axes,
    method: Method,
    keepdims: bool,
    weights: AnyArray | None,
    *,
    leaves_nan_out: bool = False,
) -> Array:
    is_weak = isinstance(q, (int, float))
    parts = xp.asarray(q, dtype=xp.float64 if isinstance(q, float) else None)
    if not 0 <= q <= 1 if isinstance(q, (int, float)) else _is_certain(has_no_part(parts)):
        wanted = "Percentiles must be in the range [0, 100]"
        wanted = wanted if function.endswith("percentile") else "Quantiles must be in the range [0, 1]"
        raise errors.ArgumentValueError(f"{function}: {wanted}")
    axes = _axes(function, a, axis)
    if not leaves_nan_out and 0 in [known_shape(a)[one] for one in axes]:
        raise errors.ArgumentIndexError(f"{function}: a of shape {a.shape} has no elements along the axis")
    if weights is not None:
        if method != "inverted_cdf":
            raise errors.ArgumentValueError(f"{function}: weights need the method 'inverted_cdf', not {method!r}")
        weights = _beside(function, a, axis, weights)  # type: ignore[arg-type]  # a body gets Arrays
        is_negative, is_useless = wrong_weights(a, weights, axes, leaves_nan_out)
        if _is_certain(is_negative):
            raise errors.ArgumentValueError(f"{function}: weights must be non-negative")
        if _is_certain(is_useless):
            raise errors.ArgumentValueError(f"{function}: weights must be finite, and not all zero along the axis")
    return quantile_of(a, parts, weights, axes, method, keepdims, leaves_nan_out, is_weak)


@composed(reads_no_values=True)
def has_no_part(q: AnyArray) -> Array:
    """Whether any of `q` is outside 0 to 1."""
    return xp.any(xp.logical_not(xp.greater_equal(q, 0) & xp.less_equal(q, 1)))


@composed(reads_no_values=True)
def wrong_weights(a: AnyArray, weights: AnyArray, axes: tuple[int, ...], leaves_nan_out: bool) -> tuple[Array, Array]:
    """Whether a weight is negative, and whether a row's sum is unusable.

    A sum along `axes` is unusable if it is 0 or not finite.
    If `leaves_nan_out` is True, the weights of NaN in `a` do not count.
    """
    wide = xp.astype(weights, xp.float64, copy=False)
    total = wide
    is_row: Any = True
    if leaves_nan_out and a.dtype.kind == "f":
        total = xp.where(xp.isnan(a), 0, wide)
        is_row = xp.logical_not(xp.all(xp.isnan(a), axis=axes))
    sums = xp.sum(total, axis=axes)
    return xp.any(wide < 0), xp.any(xp.logical_not((sums > 0) & xp.isfinite(sums)) & is_row)


@composed(reads_no_values=True)
def quantile_of(
    a: AnyArray,
    q: AnyArray,
    weights: AnyArray | None,
    axes: tuple[int, ...],
    method: Method,
    keepdims: bool,
    leaves_nan_out: bool,
    is_weak: bool,
) -> Array:
    """The quantiles `q` over `axes`; NaN for a `q` outside 0 to 1.

    `weights` has the shape of `a`. If `is_weak` is True, `q` has no part in the dtype of the result.
    """
    rows = _rows(a, axes)
    is_floating = rows.dtype.kind == "f"
    if known_shape(rows)[-1] == 0:
        rows = xp.full((*rows.shape[:-1], 1), math.nan, dtype=rows.dtype)
    number = _length(rows)
    flat = xp.reshape(q, (-1,))  # of quantiles, which become the last axis
    if flat.dtype.kind == "f":
        flat = xp.where((flat >= 0) & (flat <= 1), flat, math.nan)
    if weights is None:
        values = xp.sort(rows, axis=-1)
        if leaves_nan_out and is_floating:
            number = _count(rows, -1, True)
        found = _at(values, number, flat, method, is_weak)
    else:
        wide = _rows(weights, axes)
        if leaves_nan_out and is_floating:
            wide = xp.where(xp.isnan(rows), 0, wide)
        values, found = _by_weight(rows, wide, flat, number)
    if is_floating and not leaves_nan_out:
        last = values[..., -1:]
        found = xp.where(xp.isnan(last), last, found)
    ndim = len(q.shape)
    found = found[..., 0] if ndim == 0 else xp.moveaxis(found, -1, 0)
    if ndim > 1:
        found = xp.reshape(found, (*q.shape, *found.shape[1:]))
    return xp.expand_dims(found, axis=tuple([ndim + one for one in axes])) if keepdims else found


_PLOTTING_POSITIONS: Final = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""The parameters alpha and beta of methods that interpolate; see Hyndman and Fan, Sample Quantiles in Statistical
Packages, 1996.
"""


def _at(values: Array, number: int | Array, q: Array, method: Method, is_weak: bool) -> Array:
    """The quantiles `q` of each row of sorted `values`.

    A row begins with `number` elements that count, an Array of one column if that differs by row.
    """
    last = number - 1
    if method in ("lower", "higher", "nearest"):
        steps = {"lower": xp.floor, "higher": xp.ceil, "nearest": xp.round}
        return _gathered(values, steps[method](last * q), last)
    # Whether a product is whole is asked of itself, as a compiler may add to a product before it is rounded.
    product = number * q
    if method == "inverted_cdf":
        return _gathered(values, xp.ceil(product) - 1, last)
    if method == "closest_observation":
        halves = 2 * product
        below = xp.floor((xp.floor(halves) - 3) / 2)
        is_below = (halves == xp.floor(halves)) & (xp.floor(halves) % 2 == 1) & (below % 2 == 1)
        return _gathered(values, xp.where(is_below, below, below + 1), last)
    if method == "averaged_inverted_cdf":
        floor = xp.floor(product) - 1
        weight = xp.where(product == xp.floor(product), 0.5, 1.0)
    else:
        index = last * q
        if method in _PLOTTING_POSITIONS:
            alpha, beta = _PLOTTING_POSITIONS[method]
            index = product + (alpha + q * (1 - alpha - beta)) - 1
        elif method == "linear" and index.dtype.kind in "biu":
            return _gathered(values, index, last)
        floor = xp.floor(index)
        weight = xp.where(index == floor, 0.0, 0.5) if method == "midpoint" else index - floor
    below, above = _gathered(values, floor, last), _gathered(values, floor + 1, last)
    if is_weak:
        weight = xp.astype(weight, xp.result_type(values, 1.0))
    gap = above - below
    return xp.where(weight >= 0.5, above - gap * (1 - weight), below + gap * weight)


def _gathered(values: Array, index: Array, last: int | Array) -> Array:
    """Elements of each row at an index, of floats, from 0 to `last`.

    NaN, for a quantile outside 0 to 1, gives NaN.
    """
    at = xp.astype(xp.clip(xp.where(index == index, index, 0), 0, None), xp.int64)
    at = xp.minimum(at, last if isinstance(last, int) else xp.astype(xp.maximum(last, 0), xp.int64))
    found = xp.take(values, at, axis=-1) if at.ndim == 1 else xp.take_along_axis(values, at, axis=-1)
    return xp.where(index == index, found, math.nan) if found.dtype.kind == "f" else found


def _by_weight(rows: Array, weights: Array, q: Array, number: int | Array) -> tuple[Array, Array]:
    """The sorted rows, and their quantiles by the sums of weights."""
    order = xp.argsort(rows, axis=-1)
    values = xp.take_along_axis(rows, order, axis=-1)
    sums = xp.cumulative_sum(xp.take_along_axis(weights, order, axis=-1), axis=-1, dtype=xp.float64)
    sums = sums / sums[..., -1:]
    sums = xp.where(sums == 0, -1.0, sums)  # what has no weight is no quantile, not even of 0
    index = xp.count_nonzero(xp.expand_dims(sums, axis=-2) < xp.expand_dims(q, axis=-1), axis=-1)
    return values, xp.take_along_axis(values, xp.minimum(index, number - 1), axis=-1)
