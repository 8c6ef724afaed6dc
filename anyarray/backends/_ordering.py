"""NumPy's stable argsort of many elements, in a fraction of its time.

NumPy sorts values by vectors, 1e6 in 6 ms; stable argsorts it does element by element, in 100 ms. Where a value and its
place fit into 64 bits together these are sorted. Else values are argsorted by vectors, and places anew where values are
equal.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Host = npt.NDArray[Any]
Places = npt.NDArray[np.int64]

MANY: Final = 1 << 12
"""Elements along the axis from which on it takes less."""
_SAMPLE: Final = 1024


def order(x: Host) -> Places:
    """`np.argsort(x, stable=True)`, of one axis.

    It has real numbers of 32 or 64 bits.
    """
    step = -(-x.size // _SAMPLE)
    ascends = np.count_nonzero(x[:-1:step] <= x[1::step]) / (x.size / step)
    if not 0.1 < ascends < 0.9:
        return np.argsort(x, stable=True)  # which is fast on what is sorted in parts
    if x.dtype.kind == "f" and (is_nan := np.isnan(x)).any():
        numbers = np.flatnonzero(~is_nan)
        return np.concatenate([numbers[_order(x[numbers])], np.flatnonzero(is_nan)])
    return _order(x)


def _order(x: Host) -> Places:
    """The same of numbers without NaN, in no order that shows."""
    if x.dtype != np.float64 and x.size and (found := _by_value_and_place(x)) is not None:
        return found
    places = np.argsort(x)
    ordered = x[places]
    is_new = ordered[1:] != ordered[:-1]
    if not is_new.all():
        group = np.zeros(x.size, np.int64)
        np.cumsum(is_new, out=group[1:])
        group *= x.size
        places += group
        places.sort()
        places -= group
    return places


def _by_value_and_place(x: Host) -> Places | None:
    """The places, sorted below the bits of values.

    None if both are wider than 63 bits.
    """
    if x.dtype.kind == "f":
        bits = (x + np.float32(0)).view(np.int32)  # -0.0 becomes 0.0
        x = bits ^ (bits >> 31 & np.int32(0x7FFFFFFF))  # as two's complement they are in order
    least = int(x.min())
    width = (x.size - 1).bit_length()
    if (int(x.max()) - least).bit_length() + width > 63:
        return None
    # Of unsigned numbers beyond int64 the difference is right, though neither is.
    both = x.astype(np.int64) - np.array(least).astype(np.int64)
    both <<= width
    both |= np.arange(x.size)
    both.sort()
    both &= (1 << width) - 1
    return both
