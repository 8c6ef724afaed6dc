"""Variances of all elements of a large array, with NumPy's bits from 2.3 on.

NumPy makes two arrays of full size for them. `_speedups/numerics/sums.c` makes none, and its loops run on all cores.
Row of `benchmarks.many_elements`: `xp.var(x)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from anyarray._base import extension, processor

if TYPE_CHECKING:
    import numpy.typing as npt  # 1 ms at import

Host: TypeAlias = "npt.NDArray[Any]"

MANY: Final = 1 << 17 if extension.speedups is not None else 1 << 62
"""Elements from which on blocks are faster."""

_SHARED: Final = 1 << 19
"""Elements from which on it pays to start threads."""

_THREADS: Final = processor.threads()


def var(x: Host, correction: float) -> Any:
    """The variance of all elements.

    None for what is left to NumPy: other dtypes, memory that is not contiguous, no degree of freedom, and
    floating-point errors, of which NumPy then warns itself.
    """
    dtype, flags, freedom = x.dtype, x.flags, x.size - correction
    if dtype.char not in "fd" or not (dtype.isnative and flags.c_contiguous and flags.aligned) or not freedom > 0:
        return None
    threads = _THREADS if x.size >= _SHARED else 1
    total, errors = extension.speedups.sum_of(x, None, threads)
    if not errors:
        mean = dtype.type(dtype.type(total) / x.size)
        total, errors = extension.speedups.sum_of(x, mean, threads)
    return None if errors else dtype.type(dtype.type(total) / freedom)
