"""Sorting functions.

NaN sorts last in ascending and first in descending order; -0.0 and 0.0 compare as equal. A stable sort keeps equal
elements in the order of `x`, in both directions. An unstable sort may be faster on some backends. Complex numbers raise
TypeError.
"""

from __future__ import annotations

from anyarray._array.array import AnyArray, Array
from anyarray._call.dispatch import dispatch

__all__ = ["argsort", "sort"]


@dispatch(x="real numeric", cost="argsort", batch="along an axis")
def argsort(x: AnyArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Indices that sort `x` along `axis`: an int64 array of the shape of `x`.

    `take_along_axis` with these indices is `sort` of `x`. With `stable`, indices of equal elements ascend.
    NaN sorts last, or first if `descending` is True.

    >>> import anyarray as xp
    >>> xp.argsort(xp.asarray([3, 1, 3, 2]), descending=True).tolist()
    [0, 2, 3, 1]

    Source: array API 2025.12, sorting_functions.argsort.
    """
    ...


@dispatch(x="real numeric", cost="sort", batch="along an axis")
def sort(x: AnyArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Elements of `x` in order along `axis`.

    The result is a new array with the shape and dtype of `x`. `stable` matters only for the order of -0.0 and 0.0. NaN
    sorts last, or first if `descending` is True.

    >>> import anyarray as xp
    >>> xp.sort(xp.asarray([3.0, xp.nan, 1.0])).tolist()
    [1.0, 3.0, nan]

    Source: array API 2025.12, sorting_functions.sort.
    """
    ...
