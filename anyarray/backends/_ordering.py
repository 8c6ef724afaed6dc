"""NumPy's stable argsort and searchsorted for large arrays, in less time.

NumPy sorts values by SIMD, 1e6 in 6 ms; its stable argsort is scalar, and takes 100 ms. If a value and its index fit
into 64 bits together, these keys are sorted. Otherwise values are argsorted by SIMD, and then the indices of equal
values are sorted. NumPy's searchsorted does one binary search after the other, with a branch at each step that is
mostly mispredicted: 1e6 searches in a table of a thousand take 55 ms. One step for thousands of them at a time has no
branch: 14 ms. Rows of `benchmarks.many_elements`: `xp.argsort(x)`, `xp.searchsorted(s, x)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt  # 1 ms at import

Host: TypeAlias = "npt.NDArray[Any]"
Places: TypeAlias = "npt.NDArray[np.int64]"

MANY: Final = 1 << 12
"""Threshold in elements above which it is faster."""
ROW: Final = 16
"""Threshold in elements of a row above which it is faster."""
_SAMPLE: Final = 1024
_AT_ONCE: Final = 1 << 14
"""Number of searches at a time: their results stay in the CPU cache."""


def order(x: Host) -> Places:
    """`np.argsort(x, stable=True)` along the last axis.

    For real numbers of 32 or 64 bits.
    """
    if not _is_irregular(x.reshape(-1)):
        return np.argsort(x, stable=True)  # fast for arrays with sorted runs
    if x.dtype.kind != "f" or not (is_nan := np.isnan(x)).any():
        return _order(x)
    if x.ndim == 1:
        numbers = np.flatnonzero(~is_nan)
        return np.concatenate([numbers[_order(x[numbers])], np.flatnonzero(is_nan)])
    having = is_nan.any(-1)
    places = np.empty(x.shape, np.int64)
    places[~having] = _order(x[~having])
    places[having] = [order(row) for row in x[having]] if x.shape[-1] >= MANY else np.argsort(x[having], stable=True)
    return places


def _is_irregular(x: Host) -> bool:
    """Whether an axis seems to have no sorted runs."""
    step = -(-x.size // _SAMPLE)
    ascends = np.count_nonzero(x[:-1:step] <= x[1::step]) / (x.size / step)
    return bool(0.1 < ascends < 0.9)


def searchsorted(
    table: Host, sought: Host, side: Literal["left", "right"], sorter: npt.NDArray[Any] | None = None
) -> Places:
    """NumPy's, of real numbers.

    What is sought in some order NumPy finds as fast as anybody.
    """
    if sought.size < MANY or sorter is not None or table.ndim != 1 or not table.size:
        return table.searchsorted(sought, side, sorter)
    flat = sought.reshape(-1)
    if table.dtype != flat.dtype or flat.dtype.kind not in "iuf" or not _is_irregular(flat):
        return table.searchsorted(sought, side)
    found = np.empty(flat.size, np.int64)
    is_before = np.less if side == "left" else np.less_equal
    for start in range(0, flat.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        _search(table, flat[part], is_before, found[part])
    if flat.dtype.kind == "f" and (is_nan := flat != flat).any():  # the greatest of all, for NumPy
        found[is_nan] = np.searchsorted(table, flat.dtype.type(np.nan), side)
    return found.reshape(sought.shape)


def _search(table: Host, sought: Host, is_before: np.ufunc, found: Places) -> None:
    """Write how many elements of the table precede each value sought.

    A binary search of all at once, over a part of the table whose length is a power of two.
    """
    length = 1 << table.size.bit_length() - 1
    middle, value, is_later = np.empty_like(found), np.empty_like(sought), np.empty(sought.size, np.bool)
    is_before(table[length - 1], sought, out=is_later)
    np.multiply(is_later, table.size - length, out=found)
    while length > 1:
        length >>= 1
        np.add(found, length - 1, out=middle)
        table.take(middle, out=value, mode="clip")
        is_before(value, sought, out=is_later)
        np.multiply(is_later, length, out=middle)
        found += middle
    table.take(found, out=value, mode="clip")
    found += is_before(value, sought, out=is_later)


def _order(x: Host) -> Places:
    """As `order`, for numbers without NaN and without sorted runs."""
    if x.dtype != np.float64 and x.size and (found := _by_value_and_place(x)) is not None:
        return found
    places = np.argsort(x)
    ordered = x[places] if x.ndim == 1 else np.take_along_axis(x, places, -1)
    is_new = ordered[..., 1:] != ordered[..., :-1]
    if not is_new.all():
        group = np.zeros(x.shape, np.int64)
        np.cumsum(is_new, -1, out=group[..., 1:])
        group *= x.shape[-1]
        places += group
        places.sort()
        places -= group
    return places


def _by_value_and_place(x: Host) -> Places | None:
    """The order, by sorting keys of the value's bits above the index's.

    None if a key is wider than 63 bits.
    """
    if x.dtype.kind == "f":
        bits = (x + np.float32(0)).view(np.int32)  # -0.0 becomes 0.0
        x = bits ^ (bits >> 31 & np.int32(0x7FFFFFFF))  # as two's complement these compare like the floats
    least = int(x.min())
    width = (x.shape[-1] - 1).bit_length()
    if (int(x.max()) - least).bit_length() + width > 63:
        return None
    # For unsigned numbers beyond int64 the difference is right, as it wraps around.
    both = x.astype(np.int64) - np.array(least).astype(np.int64)
    both <<= width
    both |= np.arange(x.shape[-1])
    both.sort()
    both &= (1 << width) - 1
    return both
