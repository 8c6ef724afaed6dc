"""Set functions: membership, and the distinct elements of an array.

Elements are compared by `equal`: every NaN is distinct, and -0.0 equals 0.0. Distinct values are in ascending order,
with NaN last. Indices and counts are int64. The number of values depends on the data, so the functions `unique_...` do
not work where shapes must be static, such as in `jax.jit`.
"""

from __future__ import annotations

from typing import NamedTuple

from anyarray._array.array import AnyArray, Array
from anyarray._call.dispatch import dispatch

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Array
    """(k,): the distinct elements."""
    indices: Array
    """(k,): the index of its first occurrence in the flattened array."""
    inverse_indices: Array
    """Of the shape of the array: indices of `values` that reconstruct it."""
    counts: Array
    """(k,): how often each occurs."""


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Array
    """(k,): the distinct elements."""
    counts: Array
    """(k,): how often each occurs."""


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Array
    """(k,): the distinct elements."""
    inverse_indices: Array
    """Of the shape of the array: indices of `values` that reconstruct it."""


@dispatch(fit="any", batch="membership", scalars="compared")
def isin(x1: AnyArray | int, x2: AnyArray | int, /, *, invert: bool = False) -> Array:
    """Whether each element of `x1` is in `x2`.

    The result is an array of bools with the shape of `x1`; `x2` may have any shape. `invert=True` negates the result.
    NaN is not in any array.

    >>> import anyarray as xp
    >>> xp.isin(xp.asarray([1, 2, 3]), xp.asarray([3, 1])).tolist()
    [True, False, True]

    Source: array API 2025.12, set_functions.isin.
    """
    ...


@dispatch(cost="unique", alike="unique_counts")
def unique_all(x: AnyArray, /) -> UniqueAll:
    """Distinct elements of `x`, with indices, inverse indices and counts.

    `values`, `indices` and `counts` have the shape (k,). `indices` are the first occurrences of `values` in the
    flattened `x`. `inverse_indices` has the shape of `x`: `values[inverse_indices]` is `x`. Every NaN is distinct.

    >>> import anyarray as xp
    >>> [part.tolist() for part in xp.unique_all(xp.asarray([3, 1, 3]))]
    [[1, 3], [1, 0], [1, 0, 1], [1, 2]]

    Source: array API 2025.12, set_functions.unique_all.
    """
    ...


@dispatch(cost="unique")
def unique_counts(x: AnyArray, /) -> UniqueCounts:
    """Distinct elements of `x`, and how often they occur.

    `values` and `counts` have the shape (k,). Every NaN is distinct.

    >>> import anyarray as xp
    >>> [part.tolist() for part in xp.unique_counts(xp.asarray([3, 1, 3]))]
    [[1, 3], [1, 2]]

    Source: array API 2025.12, set_functions.unique_counts.
    """
    ...


@dispatch(cost="unique")
def unique_inverse(x: AnyArray, /) -> UniqueInverse:
    """Distinct elements of `x`, and the indices that reconstruct `x`.

    `values` has the shape (k,), and `inverse_indices` has the shape of `x`. Every NaN is distinct.

    >>> import anyarray as xp
    >>> values, inverse = xp.unique_inverse(xp.asarray([[3, 1], [3, 3]]))
    >>> values.tolist(), inverse.tolist()
    ([1, 3], [[1, 0], [1, 1]])

    Source: array API 2025.12, set_functions.unique_inverse.
    """
    ...


@dispatch(cost="unique")
def unique_values(x: AnyArray, /) -> Array:
    """Distinct elements of `x`, as an array (k,) of its dtype.

    Every NaN is distinct.

    >>> import anyarray as xp
    >>> xp.unique_values(xp.asarray([[3, 1], [3, 2]])).tolist()
    [1, 2, 3]

    Source: array API 2025.12, set_functions.unique_values.
    """
    ...
