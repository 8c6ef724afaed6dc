"""Utility functions: logical reductions, and differences of elements."""

from __future__ import annotations

from collections.abc import Sequence

from anyarray._array.array import AnyArray, Array
from anyarray._call.dispatch import dispatch

__all__ = ["all", "any", "diff"]


@dispatch(cost="extremum", alike="any", batch="reduction")
def all(x: AnyArray, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Whether all elements over `axis` are True: an array of bools.

    Nonzero numbers and NaN count as True. `axis=None` means all axes. The axes are reduced, or kept with length 1 if
    `keepdims` is True. Without elements, the result is True.

    >>> import anyarray as xp
    >>> xp.all(xp.asarray([[True, False], [True, True]]), axis=1).tolist()
    [False, True]

    Source: array API 2025.12, utility_functions.all.
    """
    ...


@dispatch(cost="extremum", timed="truths", batch="reduction")
def any(x: AnyArray, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Whether any element over `axis` is True: an array of bools.

    Nonzero numbers and NaN count as True. `axis=None` means all axes. The axes are reduced, or kept with length 1 if
    `keepdims` is True. Without elements, the result is False.

    >>> import anyarray as xp
    >>> xp.any(xp.asarray([[True, False], [False, False]]), axis=1).tolist()
    [True, False]

    Source: array API 2025.12, utility_functions.any.
    """
    ...


@dispatch(x="numeric", prepend="numeric", append="numeric", cost="cumulative", fit="differences", batch="differences")
def diff(
    x: AnyArray,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: AnyArray | None = None,
    append: AnyArray | None = None,
) -> Array:
    """Differences of adjacent elements along `axis`, computed `n` times.

    `prepend` and `append` are first joined to `x`, before and after it; they have its shape except along `axis`. The
    length of that axis decreases by `n`, at most to 0. All three promote to the dtype of the result. Unsigned integers
    wrap around.
    Raises ValueError if `n` is negative.

    >>> import anyarray as xp
    >>> xp.diff(xp.asarray([1, 4, 9, 16])).tolist()
    [3, 5, 7]
    >>> xp.diff(xp.asarray([1, 4, 9, 16]), n=2).tolist()
    [2, 2]

    Source: array API 2025.12, utility_functions.diff.
    """
    ...
