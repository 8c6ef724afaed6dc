"""Indexing functions: elements by the integers in an array.

A negative index counts from the end of the axis. An index out of bounds raises IndexError if the library can check it
without synchronizing with the device. Otherwise the element is undefined, but memory outside of the array is never
read. The functions work under the transforms of every backend; `x[indices]` is the general form.
"""

from __future__ import annotations

from anyarray._array.array import AnyArray, Array
from anyarray._call.dispatch import dispatch

__all__ = ["take", "take_along_axis"]


@dispatch(indices="integer", cost="gather", fit="one axis or a named one", batch="gather")
def take(x: AnyArray, indices: AnyArray, /, *, axis: int | None = None) -> Array:
    """Elements of `x` at `indices` along `axis`.

    `x` has the shape (..., n, ...), and `indices` is an integer array of the shape (k,). The result has the shape (...,
    k, ...) and the dtype of `x`. A negative index counts from the end. `axis` is required unless `x` has one axis.
    Raises TypeError if `indices` is not of an integer dtype.

    >>> import anyarray as xp
    >>> xp.take(xp.asarray([10, 20, 30]), xp.asarray([2, 0, -1])).tolist()
    [30, 10, 30]

    Source: array API 2025.12, indexing_functions.take.
    """
    ...


@dispatch(indices="integer", cost="gather of single elements", fit="equal ranks", batch="gather along an axis")
def take_along_axis(x: AnyArray, indices: AnyArray, /, *, axis: int = -1) -> Array:
    """Elements of `x` at `indices` along `axis`, with indices for each line.

    `x` has the shape (..., n, ...), and `indices` is an integer array of the shape (..., k, ...); the axes other than
    `axis` broadcast. The result has the shape (..., k, ...) and the dtype of `x`. A negative index counts from the end.
    Raises TypeError if `indices` is not of an integer dtype.

    >>> import anyarray as xp
    >>> x = xp.asarray([[3, 1, 2], [4, 6, 5]])
    >>> xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1).tolist()
    [[1, 2, 3], [4, 5, 6]]

    Source: array API 2025.12, indexing_functions.take_along_axis.
    """
    ...
