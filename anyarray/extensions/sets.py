"""Distinct elements of an array, and arrays as sets, as NumPy has them.

Unlike in the standard's functions, all NaNs are one element. The shapes of results depend on values, so these functions
do not work where shapes must be static, such as in `jax.jit`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from anyarray._array.array import AnyArray, Array
from anyarray._call.arguments import as_array
from anyarray.extensions._axes import axis_of
from anyarray.extensions.sorting import order_along, sorted_along
from anyarray.standard import namespace as xp

__all__ = ["intersect1d", "setdiff1d", "setxor1d", "union1d", "unique"]


class _Distinct(NamedTuple):
    """Distinct elements, and what was asked for beside them."""

    values: Array
    indices: Array | None = None
    inverse: Array | None = None
    counts: Array | None = None


def unique(
    ar: AnyArray,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The distinct elements of `ar`, in order, or its parts along `axis`.

    Options add further results, in this order: the indices of the first occurrences, the inverse indices that
    reconstruct `ar`, and the numbers of occurrences. Without `axis`, indices refer to the flattened `ar`, and the
    inverse has its shape. With `equal_nan`, all NaNs are one element, except within parts. The elements are always
    sorted, even if `sorted` is False.

    >>> import anyarray as xp
    >>> values, counts = xp.unique(xp.asarray([3, 1, 3]), return_counts=True)
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])

    Source: NumPy 2.4, numpy.unique.
    """
    array = as_array("unique", "ar", ar)
    if axis is None:
        found = _distinct(array, return_index, return_inverse, return_counts)
        if equal_nan and array.dtype.kind in "fc":
            found = _with_one_nan(found)
    else:
        found = _distinct_parts(array, axis_of("unique", axis, array.ndim), return_inverse)
    flags = (True, return_index, return_inverse, return_counts)
    asked = [part for part, is_asked in zip(found, flags, strict=True) if is_asked]
    return tuple(asked) if len(asked) > 1 else asked[0]


def _distinct(x: Array, index: bool, inverse: bool, counts: bool) -> _Distinct:
    """By the function of the standard that does the least."""
    if index or (inverse and counts):
        return _Distinct(*xp.unique_all(x))
    if counts:
        values, times = xp.unique_counts(x)
        return _Distinct(values, counts=times)
    if inverse:
        values, places = xp.unique_inverse(x)
        return _Distinct(values, inverse=places)
    return _Distinct(xp.unique_values(x))


def _with_one_nan(found: _Distinct) -> _Distinct:
    """All NaNs, which stand last, as one element."""
    values, indices, inverse, counts = found
    is_nan = xp.isnan(values)
    if not values._home.is_traced(values._native) and int(xp.count_nonzero(is_nan)) < 2:
        return found
    numbers = xp.count_nonzero(xp.logical_not(is_nan))
    is_kept = xp.logical_or(xp.logical_not(is_nan), xp.cumulative_sum(xp.astype(is_nan, xp.int64)) == 1)
    if counts is not None:
        counts = xp.where(is_nan, xp.sum(xp.where(is_nan, counts, 0)), counts)[is_kept]
    return _Distinct(
        values[is_kept],
        None if indices is None else indices[is_kept],
        None if inverse is None else xp.minimum(inverse, numbers),
        counts,
    )


def _distinct_parts(x: Array, axis: int, inverse: bool) -> _Distinct:
    """The distinct parts along an axis, in lexicographical order."""
    moved = xp.moveaxis(x, axis, 0)
    length = moved.shape[0]
    rows = xp.reshape(moved, (length, math.prod(moved.shape[1:])))
    order = xp.argsort(_ranks(rows))
    in_order = xp.take(rows, order, axis=0)
    is_new = xp.concat([xp.ones((min(length, 1),), dtype=xp.bool), xp.any(in_order[1:, :] != in_order[:-1, :], axis=1)])
    starts = xp.nonzero(is_new)[0]
    indices = xp.take(order, starts)
    places = xp.take(xp.cumulative_sum(xp.astype(is_new, xp.int64)) - 1, xp.argsort(order)) if inverse else None
    counts = xp.diff(starts, append=xp.asarray([length], dtype=xp.int64))
    return _Distinct(xp.take(x, indices, axis=axis), indices, places, counts)


def _ranks(rows: Array) -> Array:
    """Integers in the lexicographical order of the rows of a matrix.

    All elements are replaced by their ranks; then pairs of columns become one of the ranks of these pairs, so that
    there are as many sorts as the number of columns can be halved.
    """
    length, columns = rows.shape
    if not columns or not length:
        return xp.zeros((length,), dtype=xp.int64)
    most = length * columns
    ranks: Array = unique(rows, return_inverse=True)[1]
    while columns > 1:
        if columns % 2:
            ranks = xp.concat([ranks, xp.zeros((length, 1), dtype=ranks.dtype)], axis=1)
        ranks = ranks[:, ::2] * most + ranks[:, 1::2]
        columns = ranks.shape[1]
        if columns > 1:
            ranks = xp.unique_inverse(ranks).inverse_indices
    return ranks[:, 0]


def union1d(ar1: AnyArray, ar2: AnyArray) -> Array:
    """The elements that are in either array, distinct and in order.

    >>> import anyarray as xp
    >>> xp.union1d(xp.asarray([3, 1]), xp.asarray([2, 3])).tolist()
    [1, 2, 3]

    Source: NumPy 2.4, numpy.union1d.
    """
    both: Array = unique(xp.concat([ar1, ar2], axis=None))
    return both


def intersect1d(ar1: AnyArray, ar2: AnyArray, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The elements that are in both arrays, distinct and in order.

    With `return_indices`, the result is a tuple of the elements and the indices of their first occurrences in the
    flattened `ar1` and `ar2`. `assume_unique` means that the elements of each array are distinct.

    >>> import anyarray as xp
    >>> xp.intersect1d(xp.asarray([3, 1, 3]), xp.asarray([2, 3])).tolist()
    [3]

    Source: NumPy 2.4, numpy.intersect1d.
    """
    first = _of_set("intersect1d", "ar1", ar1, assume_unique, return_indices)
    second = _of_set("intersect1d", "ar2", ar2, assume_unique, return_indices)
    both = xp.concat([first.values, second.values])
    if first.indices is None or second.indices is None:
        both = sorted_along(both, 0)
        return both[:-1][both[1:] == both[:-1]]
    order = order_along(both, 0)
    both, indices = xp.take(both, order), xp.take(xp.concat([first.indices, second.indices]), order)
    places = xp.nonzero(both[1:] == both[:-1])[0]
    return xp.take(both, places), xp.take(indices, places), xp.take(indices, places + 1)


def setdiff1d(ar1: AnyArray, ar2: AnyArray, assume_unique: bool = False) -> Array:
    """The elements of `ar1` that are not in `ar2`, distinct and in order.

    `assume_unique` means that the elements of each array are distinct; the result then has the order of `ar1`.

    >>> import anyarray as xp
    >>> xp.setdiff1d(xp.asarray([3, 1, 2, 1]), xp.asarray([2, 3])).tolist()
    [1]

    Source: NumPy 2.4, numpy.setdiff1d.
    """
    first = _of_set("setdiff1d", "ar1", ar1, assume_unique).values
    return first[xp.isin(first, as_array("setdiff1d", "ar2", ar2), invert=True)]


def setxor1d(ar1: AnyArray, ar2: AnyArray, assume_unique: bool = False) -> Array:
    """The elements that are in only one of both arrays, distinct and in order.

    `assume_unique` means that the elements of each array are distinct.

    >>> import anyarray as xp
    >>> xp.setxor1d(xp.asarray([3, 1]), xp.asarray([2, 3])).tolist()
    [1, 2]

    Source: NumPy 2.4, numpy.setxor1d.
    """
    both = sorted_along(
        xp.concat(
            [
                _of_set("setxor1d", "ar1", ar1, assume_unique).values,
                _of_set("setxor1d", "ar2", ar2, assume_unique).values,
            ]
        ),
        0,
    )
    end, differs = xp.ones_like(both[:1], dtype=xp.bool), both[1:] != both[:-1]
    return both[xp.logical_and(xp.concat([end, differs]), xp.concat([differs, end]))]


def _of_set(function: str, parameter: str, array: AnyArray, assume_unique: bool, index: bool = False) -> _Distinct:
    """The distinct elements of an array, in order unless assumed distinct."""
    given = as_array(function, parameter, array)
    if assume_unique:
        values = xp.reshape(given, (-1,))
        return _Distinct(values, xp.arange(values.shape[0], dtype=xp.int64) if index else None)
    found = _distinct(given, index, False, False)
    return _with_one_nan(found) if given.dtype.kind in "fc" else found
