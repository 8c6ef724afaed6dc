"""Partial sorts, and sorts by several keys and of complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors
from anyarray._call.arguments import as_python_integers, known_shape
from anyarray._call.dispatch import composed
from anyarray.extensions._axes import array_of, axis_of, clearly
from anyarray.standard import namespace as xp

__all__ = ["argpartition", "lexsort", "partition", "sort_complex"]


@composed(own="numpy")
def partition(a: AnyArray, kth: int | Sequence[int], axis: int | None = -1) -> Array:
    """`a` with its `kth` elements along `axis` where a sort would put them.

    Smaller elements come before each, larger elements after it, in any order; most backends sort all elements. If
    `axis` is None, `a` is flattened. Raises ValueError for a `kth` out of bounds.

    >>> import anyarray as xp
    >>> xp.partition(xp.asarray([7, 1, 5, 3]), 1)[1].tolist()
    3

    Source: NumPy 2.4, numpy.partition.
    """
    array, at = _along("partition", a, kth, axis)
    return sorted_along(array, at)


@composed(own="numpy")
def argpartition(a: AnyArray, kth: int | Sequence[int], axis: int | None = -1) -> Array:
    """Indices along `axis` that partition `a`, as `partition` does.

    If `axis` is None, they are indices into the flattened `a`. Raises ValueError for a `kth` out of bounds.

    >>> import anyarray as xp
    >>> xp.argpartition(xp.asarray([7, 1, 5, 3]), 1)[1].tolist()
    3

    Source: NumPy 2.4, numpy.argpartition.
    """
    array, at = _along("argpartition", a, kth, axis)
    return order_along(array, at)


def _along(function: str, a: AnyArray, kth: int | Sequence[int], axis: int | None) -> tuple[Array, int]:
    """The array and its axis, flattened if there is none."""
    array = xp.reshape(a, (-1,)) if axis is None else xp.asarray(a)
    at = axis_of(function, -1 if axis is None else axis, array.ndim)
    length, given = array.shape[at], as_python_integers(kth)
    for one in given if isinstance(given, tuple) else (given,):
        if not -length <= one < length and 0 not in array.shape:  # as NumPy, which sorts nothing then
            raise errors.ArgumentValueError(f"{function}: kth must be from {-length} to {length - 1}, not {one}")
    return array, at


def lexsort(keys: Sequence[AnyArray], axis: int = -1) -> Array:
    """Indices that sort by several keys, the last one first.

    Where the last keys are equal, the keys before them decide. Keys are arrays of one shape, or the parts of one array
    along its first axis. The sort is stable. Raises ValueError for keys of different shapes.

    >>> import anyarray as xp
    >>> first_names, surnames = xp.asarray([2, 1, 3]), xp.asarray([7, 7, 5])
    >>> xp.lexsort((first_names, surnames)).tolist()
    [2, 1, 0]

    Source: NumPy 2.4, numpy.lexsort.
    """
    is_ready = type(keys) in (list, tuple) and {*map(type, keys)} == {Array}
    parts = keys if is_ready else [array_of("lexsort", f"keys[{i}]", one) for i, one in enumerate(keys)]
    return clearly(_lexsort, _lexsorted, parts, axis) if parts else _lexsort(parts, axis)


def _lexsorted(keys: Sequence[AnyArray], axis: int = -1) -> Array:
    shapes = {known_shape(one) for one in keys}
    if len(shapes) > 1:
        raise errors.ArgumentValueError(f"lexsort: keys must be of one shape, not {' and '.join(map(str, shapes))}")
    if not keys[0].shape:
        return xp.zeros((), dtype=xp.int64)
    at = axis_of("lexsort", axis, len(keys[0].shape))
    first, *others = keys
    order = order_along(xp.asarray(first), at)
    for key in others:
        order = xp.take_along_axis(order, order_along(xp.take_along_axis(key, order, axis=at), at), axis=at)
    return order


_lexsorted.__name__ = "lexsort"  # NumPy's own
_lexsort: Final = composed(own="numpy")(_lexsorted)


@composed(own="numpy")
def sort_complex(a: AnyArray) -> Array:
    """`a`, sorted along its last axis by the real parts, then the imaginary.

    The result is complex: complex64 for integers of 8 and 16 bits, complex128 for other real numbers.

    >>> import anyarray as xp
    >>> xp.sort_complex(xp.asarray([2 + 1j, 2, 1 + 3j])).tolist()
    [(1+3j), (2+0j), (2+1j)]

    Source: NumPy 2.4, numpy.sort_complex.
    """
    found = sorted_along(xp.asarray(a), len(a.shape) - 1)
    if found.dtype.kind == "c":
        return found
    is_narrow = found.dtype.kind in "iu" and found.dtype.itemsize <= 2
    return xp.astype(found, xp.complex64 if is_narrow else xp.complex128)


def sorted_along(x: Array, axis: int) -> Array:
    """Elements in order along an axis, bools and complex numbers, too."""
    if x.dtype.kind == "c":
        return xp.take_along_axis(x, order_along(x, axis), axis=axis)
    if x.dtype.kind == "b":
        return xp.astype(xp.sort(xp.astype(x, xp.uint8), axis=axis), xp.bool)
    return xp.sort(x, axis=axis)


def order_along(x: Array, axis: int) -> Array:
    """Indices that sort along an axis, of bools and complex numbers, too.

    The sort is stable. Of complex numbers, those with NaN come last, and of these the ones with a real part first.
    """
    if x.dtype.kind == "c":
        real, imag = xp.real(x), xp.imag(x)
        nans = xp.astype(xp.isnan(real), xp.uint8) * 2 + xp.astype(xp.isnan(imag), xp.uint8)
        return _lexsorted([imag, real, nans], axis)
    return xp.argsort(xp.astype(x, xp.uint8) if x.dtype.kind == "b" else x, axis=axis)
