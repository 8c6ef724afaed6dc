"""Searching functions: indices of elements.

Indices are int64. `axis=None` means all axes: `argmax` and `argmin` then return indices in row-major order. The axes
are reduced, or kept with length 1 if `keepdims` is True.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from anyarray._array.array import AnyArray, Array
from anyarray._call.dispatch import dispatch

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]


@dispatch(x="real numeric", cost="extremum", fit="some element", batch="position")
def argmax(x: AnyArray, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the first occurrence of the highest element over `axis`.

    The first NaN counts as the highest. With `axis` None, the index is into the flattened `x`.
    Raises ValueError if there are no elements.

    >>> import anyarray as xp
    >>> xp.argmax(xp.asarray([[1, 7, 7], [5, 2, 0]]), axis=1).tolist()
    [1, 0]

    Source: array API 2025.12, searching_functions.argmax.
    """
    ...


@dispatch(x="real numeric", cost="extremum", alike="argmax", fit="some element", batch="position")
def argmin(x: AnyArray, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the first occurrence of the lowest element over `axis`.

    The first NaN counts as the lowest. With `axis` None, the index is into the flattened `x`.
    Raises ValueError if there are no elements.

    >>> import anyarray as xp
    >>> xp.argmin(xp.asarray([[1, 7, 7], [5, 2, 0]]), axis=1).tolist()
    [0, 2]

    Source: array API 2025.12, searching_functions.argmin.
    """
    ...


@dispatch(cost="extremum", timed="truths", batch="reduction")
def count_nonzero(x: AnyArray, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Number of elements over `axis` that are not zero.

    True, NaN, and complex numbers with a nonzero part count as not zero.

    >>> import anyarray as xp
    >>> xp.count_nonzero(xp.asarray([[1, 0, 7], [0, 0, 2]]), axis=1).tolist()
    [2, 1]

    Source: array API 2025.12, searching_functions.count_nonzero.
    """
    ...


@dispatch(fit="some axis")
def nonzero(x: AnyArray, /) -> tuple[Array, ...]:
    """Indices of the elements that are not zero.

    The result has an array of the shape (k,) for each axis of `x`, in row-major order. k depends on the values, so the
    function does not work where shapes must be static, such as in `jax.jit`; use `where` there.
    Raises ValueError if `x` is 0-d.

    >>> import anyarray as xp
    >>> [indices.tolist() for indices in xp.nonzero(xp.asarray([[1, 0, 7], [0, 0, 2]]))]
    [[0, 0, 1], [0, 2, 2]]

    Source: array API 2025.12, searching_functions.nonzero.
    """
    ...


@dispatch(x1="real numeric", x2="real numeric", sorter="integer", cost="search", fit="vector first", batch="search")
def searchsorted(
    x1: AnyArray,
    x2: AnyArray | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: AnyArray | None = None,
) -> Array:
    """Indices at which to insert `x2` into `x1` to maintain its order.

    `x1` has the shape (n,) and is in ascending order, with NaN last; or `sorter` is its `argsort`. The result has the
    shape of `x2` and values from 0 to n: the index of the first element that is not below the value ("left"), or of the
    first element above the value ("right").

    >>> import anyarray as xp
    >>> xp.searchsorted(xp.asarray([10, 20, 20, 30]), xp.asarray([5, 20, 99])).tolist()
    [0, 1, 4]
    >>> int(xp.searchsorted(xp.asarray([10, 20, 20, 30]), 20, side="right"))
    3

    Source: array API 2025.12, searching_functions.searchsorted.
    """
    ...


@dispatch(condition="boolean", cost="arithmetic")
def where(condition: AnyArray, x1: AnyArray | complex, x2: AnyArray | complex, /) -> Array:
    """Elements of `x1` where `condition` is True, of `x2` elsewhere.

    All three broadcast. `x1` and `x2` promote to the dtype of the result; one of them may be a Python scalar.

    >>> import anyarray as xp
    >>> xp.where(xp.asarray([True, False]), xp.asarray([1, 2]), 0).tolist()
    [1, 0]

    Source: array API 2025.12, searching_functions.where.
    """
    ...
