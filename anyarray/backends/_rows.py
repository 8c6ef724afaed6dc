"""Reductions and cumulative functions of NumPy for short rows, vectorized.

NumPy has an overhead of 10 to 30 ns for each row. Along short rows it is faster to reduce by columns: 100,000 rows of
three take 0.07 ms instead of 1.1. Sums are added in NumPy's order, so that every bit is the same: sequentially, eight
and more pairwise. Down narrow rows it is faster to reduce many rows at once, as one long row: 0.05 ms instead of 1.
Sums of floats are then added in a different order, with smaller rounding errors. Cumulative functions add whole rows.
Rows of `benchmarks.many_elements` along short axes, such as `xp.sum(xp.reshape(x, (250_000, 4)), axis=1)`, time them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt  # 1 ms at import

Host: TypeAlias = "npt.NDArray[Any]"

MANY: Final = 1 << 11
"""Threshold in elements above which these functions are faster than NumPy."""
SHORT: Final = 15
"""The longest rows for which a reduction by columns is faster."""
NARROW: Final = 64
"""The longest rows for which a reduction of many rows at once is faster."""
_AT_ONCE: Final = 512
"""Elements of a long row that consists of narrow ones."""


def are_short(x: Host, axis: Any) -> bool:
    """Whether `axis` runs along short rows, or down narrow ones.

    The rows must be contiguous. For arrays of at least `MANY` elements.
    """
    if type(axis) is not int or x.ndim < 2 or x.itemsize == 2 or not x.flags.c_contiguous:
        return False
    if axis == -1 or axis == x.ndim - 1:
        return 1 < x.shape[-1] <= SHORT
    return (axis == 0 or axis == -x.ndim) and x.shape[0] < x.size <= x.shape[0] * NARROW


def reduced(ufunc: np.ufunc, x: Host, axis: Any, keepdims: bool = False) -> Host:
    """`ufunc.reduce` of real numbers, where `are_short` is True for `axis`."""
    if axis == -1 or axis == x.ndim - 1:
        y = _added(x) if ufunc is np.add else _in_turn(ufunc, x)
        return y[..., None] if keepdims else y
    count = x.shape[0]
    many = _AT_ONCE * count // x.size
    whole = count // many * many
    y = ufunc.reduce(x[:whole].reshape(whole // many, -1), 0).reshape(many, *x.shape[1:])
    y = ufunc.reduce(y, 0)
    if whole < count:
        ufunc(y, ufunc.reduce(x[whole:], 0), out=y)
    return y[None] if keepdims else y


_APART: Final = 256
"""Threshold in elements of a row above which cumulative functions add one row at a time."""
_BESIDE: Final = 64
"""The minimum number of contiguous elements of such a row."""

_LINE: Final = 64
"""Bytes of the longest rows along which cumulative functions are faster by columns: a cache line."""


def accumulate(ufunc: np.ufunc, x: Host, axis: int, out: Host) -> None:
    """As `ufunc.accumulate`, bit for bit, into `out`, in its dtype.

    NumPy takes 3 ns for each element, as each depends on the previous one. With enough elements across the axis it is
    faster to add whole rows: 1,000 x 1,000 down the columns take 0.6 to 2 ms instead of 4.
    """
    axis %= x.ndim
    length = x.shape[axis]
    if axis == x.ndim - 1:
        is_sooner = length > 1 and length * out.itemsize <= _LINE
    else:
        is_sooner = length > 1 and math.prod(x.shape[axis + 1 :]) >= _BESIDE
    if not (is_sooner and x.size >= _APART * length and x.flags.c_contiguous):
        ufunc.accumulate(x, axis, out.dtype, out)
        return
    rows, results = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0)
    so_far = results[0]
    so_far[...] = rows[0]
    for row, result in zip(rows[1:], results[1:], strict=True):
        ufunc(so_far, row, result, dtype=out.dtype)
        so_far = result


def mean(x: Host, axis: Any, keepdims: bool) -> Host:
    """The mean of floats, where `are_short` is True for `axis`."""
    y = reduced(np.add, x, axis, keepdims)
    y /= x.shape[axis]
    return y


def var(x: Host, axis: Any, freedom: float, keepdims: bool) -> Host:
    """The variance of floats, divided by the degrees of freedom."""
    away = x - mean(x, axis, True)
    away *= away
    y = reduced(np.add, away, axis, keepdims)
    y /= freedom
    return y


def _in_turn(ufunc: np.ufunc, x: Host) -> Host:
    y: Host = ufunc(x[..., 0], x[..., 1])
    for k in range(2, x.shape[-1]):
        ufunc(y, x[..., k], out=y)
    return y


def _added(x: Host) -> Host:
    if x.shape[-1] < 8:
        y = _in_turn(np.add, x)
    else:
        y, b, c, d = (x[..., k] + x[..., k + 1] for k in range(0, 8, 2))
        y += b
        c += d
        y += c
        for k in range(8, x.shape[-1]):
            y += x[..., k]
    y += x.dtype.type(0)  # NumPy's sums start with 0.0: the sum of -0.0 is 0.0
    return y
