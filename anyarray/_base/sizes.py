"""Sizes that overflow, for which libraries crash instead of raising."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from anyarray._base import errors

LARGE: Final = 1 << 31
"""Counts below this cannot make a size overflow."""


def refuse_overflow(function: str, lengths: Iterable[float], itemsize: int) -> None:
    """Raise ValueError for a shape with more bytes than can be addressed."""
    shape = tuple(lengths)
    if math.prod(shape) * itemsize >= 1 << 63:
        raise errors.ArgumentValueError(
            f"{function}: the result must fit in memory, but has the shape {shape} of {itemsize} bytes an element"
        )


def refuse_counts(shape: Iterable[int | None], repeats: Any, axis: int, itemsize: int) -> None:
    """Raise ValueError if an array repeated along an axis is too large."""
    counts = np.asarray(repeats)
    if counts.size and counts.dtype.kind in "iu" and counts.max() >= LARGE:
        lengths = [float(n or 0) for n in shape]
        lengths[axis] *= counts.mean(dtype=np.float64)
        refuse_overflow("repeat", lengths, itemsize)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """`numpy.repeat`, which crashes where the number of elements overflows."""
    if type(repeats) is not int or repeats >= LARGE:
        x = np.asarray(a)
        refuse_counts(x.shape if axis is not None else (x.size,), repeats, axis or 0, x.itemsize)
    return a.repeat(repeats, axis) if type(a) is np.ndarray else np.repeat(a, repeats, axis)


CHECKED: Final = {"repeat": repeat}
"""Functions that replace NumPy's functions of these names."""
