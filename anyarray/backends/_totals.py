"""Sums, means and variances of all elements of a large array of NumPy, by all cores and with NumPy's bits.

`_call/c/sums.c` adds up; here is what NumPy makes of sums. Each function gives None for what it leaves to NumPy: few
elements, other dtypes, memory that is not contiguous, and floating-point errors, of which NumPy then warns itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from anyarray._base import extension, processor

if TYPE_CHECKING:
    import numpy.typing as npt  # 1 ms at import

Host: TypeAlias = "npt.NDArray[Any]"

MANY: Final = 1 << 17 if extension.speedups is not None else 1 << 62
"""Elements from which on it pays to start threads."""

_THREADS: Final = processor.threads()


def _sum(x: Any, mean: Any = None) -> Any:
    if x.dtype.char not in "fd" or not x.flags.c_contiguous or not x.flags.aligned or not x.dtype.isnative:
        return None
    total, errors = extension.speedups.sum_of(x, mean, _THREADS)
    return None if errors else x.dtype.type(total)


def sum(x: Host) -> Any:  # noqa: A001 - as NumPy's
    """The sum of all elements."""
    return _sum(x)


def mean(x: Host) -> Any:
    """Their mean."""
    total = _sum(x)
    return None if total is None else x.dtype.type(total / x.size)


def var(x: Host, correction: float) -> Any:
    """Their variance, where `correction` leaves degrees of freedom."""
    freedom = x.size - correction
    centre = mean(x) if freedom > 0 else None
    total = None if centre is None else _sum(x, centre)
    return None if total is None else x.dtype.type(total / freedom)
