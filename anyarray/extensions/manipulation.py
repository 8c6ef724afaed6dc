"""NumPy's manipulation functions beyond the standard.

Results are views of an Array where NumPy's are: a write to either changes both.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from anyarray._array import layout
from anyarray._array.array import AnyArray, Array, Shape
from anyarray._base import dtypes, errors, sizes
from anyarray._call.arguments import as_array, as_integer, as_python_integers, as_shape, as_written, known_shape
from anyarray._call.dispatch import composed
from anyarray._call.wrapping import is_array
from anyarray.extensions._axes import Values, array_of, axes_of, axis_of, own_array
from anyarray.extensions.statistics import median
from anyarray.standard import namespace as xp

__all__ = [
    "append", "apply_along_axis", "apply_over_axes", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "block",
    "column_stack", "delete", "dsplit", "dstack", "fliplr", "flipud", "hsplit", "hstack", "insert", "packbits", "pad",
    "ravel", "resize", "rollaxis", "rot90", "sliding_window_view", "split", "swapaxes", "transpose", "trim_zeros",
    "unpackbits", "vectorize", "vsplit", "vstack",
]  # fmt: skip

Sections: TypeAlias = int | Sequence[int] | AnyArray
"""A number of equal parts, or the positions where to cut."""

Positions: TypeAlias = int | slice | Sequence[int] | AnyArray
"""Positions along an axis: integers, a slice, or a mask."""

Widths: TypeAlias = int | Sequence[Any] | Mapping[int, Any] | AnyArray
"""How much to add before and after: one number, a pair, or a pair for each axis."""


def ravel(a: AnyArray) -> Array:
    """The elements of `a`, in row-major order, along one axis.

    >>> import anyarray as xp
    >>> xp.ravel(xp.asarray([[1, 2], [3, 4]])).tolist()
    [1, 2, 3, 4]

    Source: NumPy 2.4, numpy.ravel.
    """
    as_array("ravel", "a", a)
    return xp.reshape(a, (-1,))


def transpose(a: AnyArray, axes: Sequence[int] | None = None) -> Array:
    """`a` with its axes in the order `axes`; None reverses them.

    Raises ValueError unless `axes` names each axis once.

    >>> import anyarray as xp
    >>> xp.transpose(xp.zeros((2, 3, 4))).shape
    (4, 3, 2)

    Source: NumPy 2.4, numpy.transpose.
    """
    if axes is not None:
        return xp.permute_dims(a, axes)
    return own_array("transpose", "a", a).transpose()


def swapaxes(a: AnyArray, axis1: int, axis2: int) -> Array:
    """`a` with two of its axes exchanged.

    >>> import anyarray as xp
    >>> xp.swapaxes(xp.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)

    Source: NumPy 2.4, numpy.swapaxes.
    """
    ndim = as_array("swapaxes", "a", a).ndim
    first, second = axis_of("swapaxes", axis1, ndim, "axis1"), axis_of("swapaxes", axis2, ndim, "axis2")
    axes = list(range(ndim))
    axes[first], axes[second] = second, first
    return xp.permute_dims(a, tuple(axes))


def rollaxis(a: AnyArray, axis: int, start: int = 0) -> Array:
    """`a` with one axis moved backwards until it lies before the axis `start`.

    Prefer `xp.moveaxis`, which is clearer.

    >>> import anyarray as xp
    >>> xp.rollaxis(xp.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)

    Source: NumPy 2.4, numpy.rollaxis.
    """
    ndim = as_array("rollaxis", "a", a).ndim
    taken = axis_of("rollaxis", axis, ndim)
    before = as_integer("rollaxis", "start", start)
    if not -ndim <= before <= ndim:
        raise errors.AxisError(f"rollaxis: start must be between {-ndim} and {ndim}, not {start}")
    before += ndim if before < 0 else 0
    axes = [one for one in range(ndim) if one != taken]
    axes.insert(before - (taken < before), taken)
    return xp.permute_dims(a, tuple(axes))


def atleast_1d(*arys: AnyArray) -> Any:
    """The arrays with at least one axis: a 0-d array gets one of length 1.

    One array gives an Array, several a tuple.

    >>> import anyarray as xp
    >>> xp.atleast_1d(xp.asarray(3)).shape
    (1,)

    Source: NumPy 2.4, numpy.atleast_1d.
    """
    return _with_axes("atleast_1d", 1, arys)


def atleast_2d(*arys: AnyArray) -> Any:
    """The arrays with at least two axes; new axes of length 1 come first.

    One array gives an Array, several a tuple.

    >>> import anyarray as xp
    >>> xp.atleast_2d(xp.asarray([3, 4])).shape
    (1, 2)

    Source: NumPy 2.4, numpy.atleast_2d.
    """
    return _with_axes("atleast_2d", 2, arys)


def atleast_3d(*arys: AnyArray) -> Any:
    """The arrays with at least three axes.

    A vector (n,) becomes (1, n, 1), a matrix (m, n) becomes (m, n, 1). One array gives an Array, several a tuple.

    >>> import anyarray as xp
    >>> xp.atleast_3d(xp.asarray([3, 4])).shape
    (1, 2, 1)

    Source: NumPy 2.4, numpy.atleast_3d.
    """
    return _with_axes("atleast_3d", 3, arys)


_ALL: Final = slice(None)
_KEYS: Final[dict[tuple[int, int], tuple[Any, ...]]] = {
    (1, 0): (None,),
    (2, 0): (None, None),
    (2, 1): (None, _ALL),
    (3, 0): (None, None, None),
    (3, 1): (None, _ALL, None),
    (3, 2): (_ALL, _ALL, None),
}
"""The key that adds axes, by the number that is wanted and the number that an array has."""


def _with_axes(function: str, ndim: int, arrays: Sequence[AnyArray]) -> Any:
    if len(arrays) == 1:
        return _with_least_axes(own_array(function, "arys[0]", arrays[0]), ndim)
    return tuple([_with_least_axes(own_array(function, f"arys[{i}]", one), ndim) for i, one in enumerate(arrays)])


def _with_least_axes(array: Array, ndim: int) -> Array:
    has = array.ndim
    return array if has >= ndim else array[_KEYS[ndim, has]]


@composed(own="numpy cupy", cost="join", alike="concat", reads_no_values=True)
def hstack(tup: Sequence[AnyArray]) -> Array:
    """The arrays joined along the second axis, vectors along the first.

    >>> import anyarray as xp
    >>> xp.hstack([xp.asarray([1, 2]), xp.asarray([3])]).tolist()
    [1, 2, 3]

    Source: NumPy 2.4, numpy.hstack.
    """
    arrays = _at_least(1, tup)
    return xp.concat(arrays, axis=0 if arrays[0].ndim == 1 else 1)


@composed(own="numpy cupy", cost="join", alike="concat", reads_no_values=True)
def vstack(tup: Sequence[AnyArray]) -> Array:
    """The arrays joined along the first axis, vectors as rows.

    >>> import anyarray as xp
    >>> xp.vstack([xp.asarray([1, 2]), xp.asarray([3, 4])]).tolist()
    [[1, 2], [3, 4]]

    Source: NumPy 2.4, numpy.vstack.
    """
    return xp.concat(_at_least(2, tup), axis=0)


@composed(own="numpy cupy", cost="join", alike="concat", reads_no_values=True)
def dstack(tup: Sequence[AnyArray]) -> Array:
    """The arrays joined along the third axis, as `atleast_3d` gives them.

    >>> import anyarray as xp
    >>> xp.dstack([xp.asarray([1, 2]), xp.asarray([3, 4])]).tolist()
    [[[1, 3], [2, 4]]]

    Source: NumPy 2.4, numpy.dstack.
    """
    return xp.concat(_at_least(3, tup), axis=2)


@composed(own="numpy cupy", cost="join", alike="concat", reads_no_values=True)
def column_stack(tup: Sequence[AnyArray]) -> Array:
    """The arrays joined along the second axis, vectors as columns.

    >>> import anyarray as xp
    >>> xp.column_stack([xp.asarray([1, 2]), xp.asarray([3, 4])]).tolist()
    [[1, 3], [2, 4]]

    Source: NumPy 2.4, numpy.column_stack.
    """
    arrays = _at_least(1, tup)
    return xp.concat([one if one.ndim > 1 else one[:, None] for one in arrays], axis=1)


def _at_least(ndim: int, arrays: Sequence[AnyArray]) -> list[Array]:
    """Arrays to be joined, with at least so many axes."""
    return [_with_least_axes(as_array("concat", "arrays", one), ndim) for one in arrays]


def block(arrays: Any) -> Array:
    """An array from nested lists of blocks.

    The blocks of the innermost lists are joined along the last axis, the results along the axis before, and so on.
    Blocks with fewer axes get new axes at the front. Raises ValueError unless all lists are nested to the same depth.

    >>> import anyarray as xp
    >>> one = xp.ones((1, 1))
    >>> xp.block([[one, 2 * one], [3 * one, 4 * one]]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]

    Source: NumPy 2.4, numpy.block.
    """
    depth = _depth(arrays)
    ndim = max([depth, *[one.ndim for one in _blocks(arrays)]])
    return _joined(arrays, depth, ndim) if depth else xp.asarray(_block(arrays), copy=True)


def _block(value: Any) -> Array:
    return xp.asarray(value) if isinstance(value, (bool, int, float, complex)) else as_array("block", "arrays", value)


def _blocks(arrays: Any) -> list[Array]:
    if not isinstance(arrays, list):
        return [_block(arrays)]
    return [one for part in arrays for one in _blocks(part)]


def _depth(arrays: Any) -> int:
    if isinstance(arrays, tuple):
        raise errors.ArgumentTypeError("block: arrays must be an Array or lists of them, not a tuple")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise errors.ArgumentValueError("block: arrays must hold no empty list")
    depths = {_depth(part) for part in arrays}
    if len(depths) > 1:
        given = " and ".join(str(one + 1) for one in sorted(depths))
        raise errors.ArgumentValueError(f"block: arrays must be nested to the same depth, not to {given}")
    return depths.pop() + 1


def _joined(arrays: Any, depth: int, ndim: int) -> Array:
    if not depth:
        one = _block(arrays)
        return xp.expand_dims(one, tuple(range(ndim - one.ndim))) if one.ndim < ndim else one
    return xp.concat([_joined(part, depth - 1, ndim) for part in arrays], axis=-depth)


def split(ary: AnyArray, indices_or_sections: Sections, axis: int = 0) -> list[Array]:
    """The parts of an array along `axis`: equal ones, or cut at indices.

    Raises ValueError if the axis cannot be divided into that many equal parts.

    >>> import anyarray as xp
    >>> [part.tolist() for part in xp.split(xp.arange(6), [2, 3])]
    [[0, 1], [2], [3, 4, 5]]

    Source: NumPy 2.4, numpy.split.
    """
    return _split("split", ary, indices_or_sections, axis, are_equal=True)


def array_split(ary: AnyArray, indices_or_sections: Sections, axis: int = 0) -> list[Array]:
    """As `split`, but the parts may differ by one element.

    The longer ones come first.

    >>> import anyarray as xp
    >>> [part.tolist() for part in xp.array_split(xp.arange(5), 3)]
    [[0, 1], [2, 3], [4]]

    Source: NumPy 2.4, numpy.array_split.
    """
    return _split("array_split", ary, indices_or_sections, axis, are_equal=False)


def hsplit(ary: AnyArray, indices_or_sections: Sections) -> list[Array]:
    """The parts along the second axis; of a vector, along its only one.

    >>> import anyarray as xp
    >>> [part.tolist() for part in xp.hsplit(xp.asarray([[1, 2], [3, 4]]), 2)]
    [[[1], [3]], [[2], [4]]]

    Source: NumPy 2.4, numpy.hsplit.
    """
    ndim = _least_axes("hsplit", ary, 1)
    return _split("hsplit", ary, indices_or_sections, 1 if ndim > 1 else 0, are_equal=True)


def vsplit(ary: AnyArray, indices_or_sections: Sections) -> list[Array]:
    """The parts of an array along the first axis; it has two or more.

    >>> import anyarray as xp
    >>> [part.tolist() for part in xp.vsplit(xp.asarray([[1, 2], [3, 4]]), 2)]
    [[[1, 2]], [[3, 4]]]

    Source: NumPy 2.4, numpy.vsplit.
    """
    _least_axes("vsplit", ary, 2)
    return _split("vsplit", ary, indices_or_sections, 0, are_equal=True)


def dsplit(ary: AnyArray, indices_or_sections: Sections) -> list[Array]:
    """The parts of an array along the third axis.

    >>> import anyarray as xp
    >>> [part.shape for part in xp.dsplit(xp.zeros((2, 3, 4)), 2)]
    [(2, 3, 2), (2, 3, 2)]

    Source: NumPy 2.4, numpy.dsplit.
    """
    _least_axes("dsplit", ary, 3)
    return _split("dsplit", ary, indices_or_sections, 2, are_equal=True)


def _least_axes(function: str, array: AnyArray, least: int) -> int:
    ndim = as_array(function, "ary", array).ndim
    if ndim < least:
        raise errors.ArgumentValueError(f"{function}: ary must have at least {least} axes, not {ndim}")
    return ndim


def _split(function: str, ary: AnyArray, cuts: Sections, axis: int, *, are_equal: bool) -> list[Array]:
    array = own_array(function, "ary", ary)
    at = axis_of(function, axis, array.ndim)
    found = as_python_integers(cuts)
    if type(found) is tuple:
        bounds = [0, *[as_integer(function, "indices_or_sections", one) for one in found], None]
    else:
        sections, length = as_integer(function, "indices_or_sections", found), array.shape[at]
        if sections <= 0:
            raise errors.ArgumentValueError(f"{function}: indices_or_sections must be at least 1, not {sections}")
        each, more = divmod(length, sections)
        if more and are_equal:
            raise errors.ArgumentValueError(
                f"{function}: array split does not result in an equal division, as axis {at} has {length} elements, "
                f"not a multiple of {sections}. Use xp.array_split"
            )
        bounds = [*itertools.accumulate([each + 1] * more + [each] * (sections - more), initial=0)]
    before = (slice(None),) * at
    return [array[(*before, slice(start, stop))] for start, stop in itertools.pairwise(bounds)]


def flipud(m: AnyArray) -> Array:
    """`m` with its first axis in reverse order.

    >>> import anyarray as xp
    >>> xp.flipud(xp.asarray([[1, 2], [3, 4]])).tolist()
    [[3, 4], [1, 2]]

    Source: NumPy 2.4, numpy.flipud.
    """
    array = own_array("flipud", "m", m)
    if array.ndim < 1:
        raise errors.ArgumentValueError("flipud: m must have at least 1 axis, not 0")
    return array[::-1]


def fliplr(m: AnyArray) -> Array:
    """`m` with its second axis in reverse order.

    >>> import anyarray as xp
    >>> xp.fliplr(xp.asarray([[1, 2], [3, 4]])).tolist()
    [[2, 1], [4, 3]]

    Source: NumPy 2.4, numpy.fliplr.
    """
    array = own_array("fliplr", "m", m)
    if array.ndim < 2:
        raise errors.ArgumentValueError(f"fliplr: m must have at least 2 axes, not {array.ndim}")
    return array[:, ::-1]


def rot90(m: AnyArray, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """`m` rotated by `k` times 90 degrees.

    The rotation is from the first of `axes` to the second.

    Raises ValueError unless `axes` names two different axes.

    >>> import anyarray as xp
    >>> xp.rot90(xp.asarray([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]

    Source: NumPy 2.4, numpy.rot90.
    """
    array = own_array("rot90", "m", m)
    pair = axes_of("rot90", axes, array.ndim, "axes")
    if len(pair) != 2:
        raise errors.ArgumentValueError(f"rot90: axes must name two axes, not {len(pair)}")
    turns = as_integer("rot90", "k", k) % 4
    key = [_ALL] * array.ndim
    if turns in (2, 3):
        key[pair[0]] = slice(None, None, -1)
    if turns in (1, 2):
        key[pair[1]] = slice(None, None, -1)
    turned = array[tuple(key)]
    if turns % 2 == 0:
        return turned
    order = list(range(array.ndim))
    order[pair[0]], order[pair[1]] = pair[1], pair[0]
    return xp.permute_dims(turned, order)


def append(arr: AnyArray, values: AnyArray | complex, axis: int | None = None) -> Array:
    """`arr` and `values` joined along `axis`.

    If that is None, both are flattened.

    >>> import anyarray as xp
    >>> xp.append(xp.asarray([1, 2]), xp.asarray([[3], [4]])).tolist()
    [1, 2, 3, 4]

    Source: NumPy 2.4, numpy.append.
    """
    first, more = as_array("append", "arr", arr), array_of("append", "values", values)
    if axis is None:
        first = first if first.ndim == 1 else xp.reshape(first, (-1,))
        more = more if more.ndim == 1 else xp.reshape(more, (-1,))
        axis = 0
    return xp.concat([first, more], axis=axis)


def insert(arr: AnyArray, obj: Positions, values: Values, axis: int | None = None) -> Array:
    """`arr` with `values` inserted before the positions `obj` along `axis`.

    If `axis` is None, `arr` is flattened. `values` are cast to its dtype and broadcast. Positions refer to `arr` before
    the insertion. Raises IndexError for a position out of bounds.

    >>> import anyarray as xp
    >>> xp.insert(xp.asarray([1, 2, 3]), [0, 2], xp.asarray([8, 9])).tolist()
    [8, 1, 2, 9, 3]

    Source: NumPy 2.4, numpy.insert.
    """
    array, at = _along("insert", arr, axis)
    return _insert(array, _on_host(obj), as_written("insert", "values", values, array.dtype), at)


def _inserted(arr: AnyArray, obj: Any, values: AnyArray, axis: int) -> Array:
    """`arr` with `values` put in."""
    array, at = as_array("insert", "arr", arr), axis
    new = as_array("insert", "values", values)
    length = array.shape[at]
    where = _positions("insert", obj, length)
    wrong = where[(where < -length) | (where > length)]
    if wrong.size:
        raise errors.ArgumentIndexError(
            f"insert: index {wrong.flat[0]} is out of bounds for axis {at} with size {length}"
        )
    new = xp.astype(new, array.dtype)
    if new.ndim < array.ndim:
        new = xp.expand_dims(new, tuple(range(array.ndim - new.ndim)))
    if where.ndim == 0:
        new = xp.moveaxis(new, 0, at)  # NumPy's rule, for `values` of a row that are put in as columns
    count = where.size if where.size > 1 or where.size == 0 else new.shape[at]
    new = xp.broadcast_to(new, (*array.shape[:at], count, *array.shape[at + 1 :]))
    if where.size == 1:
        cut = int(where.flat[0]) % length if where.flat[0] < 0 else int(where.flat[0])
        before = (slice(None),) * at
        return xp.concat([array[(*before, slice(0, cut))], new, array[(*before, slice(cut, None))]], axis=at)
    starts = np.where(where < 0, where + length, where)
    order = np.argsort(starts, kind="stable")
    places = np.empty(count, np.int64)
    places[order] = starts[order] + np.arange(count)
    sources = np.empty(length + count, np.int64)
    is_old = np.ones(length + count, bool)
    is_old[places] = False
    sources[is_old] = np.arange(length)
    sources[places] = length + np.arange(count)
    return xp.take(xp.concat([array, new], axis=at), xp.asarray(sources), axis=at)


_inserted.__name__ = "insert"
_insert: Final = composed(own="numpy cupy", reads_no_values=True)(_inserted)


def delete(arr: AnyArray, obj: Positions, axis: int | None = None) -> Array:
    """`arr` without the elements at `obj` along `axis`.

    If `axis` is None, `arr` is flattened. `obj` holds positions, or is a mask of the elements to delete.
    Raises IndexError for a position out of bounds.

    >>> import anyarray as xp
    >>> xp.delete(xp.asarray([1, 2, 3, 4]), [0, -1]).tolist()
    [2, 3]

    Source: NumPy 2.4, numpy.delete.
    """
    array, at = _along("delete", arr, axis)
    return _delete(array, _on_host(obj), at)


def _deleted(arr: AnyArray, obj: Any, axis: int) -> Array:
    """`arr` without some elements."""
    array, at = as_array("delete", "arr", arr), axis
    length = array.shape[at]
    where = _positions("delete", obj, length)
    wrong = where[(where < -length) | (where >= length)]
    if wrong.size:
        raise errors.ArgumentIndexError(
            f"delete: index {wrong.flat[0]} is out of bounds for axis {at} with size {length}"
        )
    starts = np.unique(where % length if length else where)
    before = (slice(None),) * at
    if starts.size and starts[-1] - starts[0] + 1 == starts.size:  # parts are copied faster than taken
        parts = [slice(0, int(starts[0])), slice(int(starts[-1]) + 1, None)]
        return xp.concat([array[(*before, part)] for part in parts], axis=at)
    return xp.take(array, xp.asarray(np.delete(np.arange(length), starts)), axis=at)


_deleted.__name__ = "delete"
_delete: Final = composed(own="numpy cupy", reads_no_values=True)(_deleted)


def _on_host(obj: Any) -> Any:
    """A few integers as a tuple, which can be a key of what is compiled."""
    if isinstance(obj, (int, slice)):
        return obj
    given = np.asarray(obj)
    is_few = given.ndim == 1 and given.size <= _FEW and (given.dtype.kind in "iu" or not given.size)
    return tuple(given.tolist()) if is_few else given


_FEW: Final = 64


def _along(function: str, arr: AnyArray, axis: int | None) -> tuple[Array, int]:
    """An array and its axis, flattened if there is none."""
    array = as_array(function, "arr", arr)
    if axis is None:
        return array if array.ndim == 1 else xp.reshape(array, (-1,)), 0
    return array, axis_of(function, axis, array.ndim)


def _positions(function: str, obj: Any, length: int) -> np.ndarray[Any, Any]:
    """Positions along an axis, read from integers, a slice or a mask.

    Raises IndexError for what is none of them.
    """
    if isinstance(obj, slice):
        return np.arange(*obj.indices(length))
    found = np.asarray(obj)
    if found.dtype == bool:
        if found.ndim != 1 or (function == "delete" and found.size != length):
            raise errors.ArgumentValueError(
                f"{function}: a mask must be of shape ({length},), as the axis, not {found.shape}"
            )
        return np.flatnonzero(found)
    if found.dtype.kind not in "iu" and found.size:
        raise errors.ArgumentIndexError(f"{function}: obj must hold integers or be a mask, not {found.dtype}")
    if found.ndim > 1:
        raise errors.ArgumentValueError(f"{function}: obj must have at most 1 axis, not {found.ndim}")
    return found.astype(np.int64)


@composed(own="numpy cupy", reads_no_values=True)
def resize(a: AnyArray, new_shape: Shape) -> Array:
    """An array of another size: the elements of `a`, repeated or cut off.

    Without elements in `a`, the result is zeros.

    >>> import anyarray as xp
    >>> xp.resize(xp.asarray([1, 2, 3]), (2, 2)).tolist()
    [[1, 2], [3, 1]]

    Source: NumPy 2.4, numpy.resize.
    """
    shape = as_shape("resize", "new_shape", new_shape)
    if any(one < 0 for one in shape):
        raise errors.ArgumentValueError("resize: all elements of `new_shape` must be non-negative")
    size, flat = math.prod(shape), xp.reshape(a, (-1,))
    if flat.shape[0] == 0 or size == 0:
        return xp.zeros(shape, dtype=a.dtype)
    repeated = xp.tile(flat, (-(-size // flat.shape[0]),))
    return xp.reshape(repeated[:size], shape)


def trim_zeros(filt: AnyArray, trim: str = "fb", axis: int | Sequence[int] | None = None) -> Array:
    """`filt` without the zeros at its ends along `axis`; None means all axes.

    `trim` names the ends: "f" is the front, "b" the back. The shape of the result depends on values, so the function
    does not work inside `xp.jit`.

    >>> import anyarray as xp
    >>> xp.trim_zeros(xp.asarray([0, 0, 1, 0, 2, 0])).tolist()
    [1, 0, 2]

    Source: NumPy 2.4, numpy.trim_zeros.
    """
    array = own_array("trim_zeros", "filt", filt)
    ends = trim.lower()
    if ends not in ("f", "b", "fb", "bf"):
        raise errors.ArgumentValueError(f"trim_zeros: trim must be 'f', 'b' or 'fb', not {trim!r}")
    axes = range(array.ndim) if axis is None else axes_of("trim_zeros", axis, array.ndim)
    key = [slice(None)] * array.ndim
    for at, places in enumerate(xp.nonzero(array) if array.ndim else ()):
        found = np.asarray(places)
        if at in axes:
            first, last = (int(found.min()), int(found.max()) + 1) if found.size else (0, 0)
            key[at] = slice(first if "f" in ends or not found.size else None, last if "b" in ends else None)
            if not found.size:
                key[at] = slice(0, 0)
    return array[tuple(key)]


def sliding_window_view(
    x: AnyArray,
    window_shape: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    *,
    writeable: bool = False,
) -> Array:
    """All windows of a shape: parts of `x`, each shifted by one element.

    `axis` names an axis for each length of `window_shape`; None means the axes in order. The result has the shape of
    `x`, minus the lengths of the window plus 1, followed by `window_shape`. It is a view, which is writeable if
    `writeable` is True.
    Raises ValueError if a window is longer than its axis.

    >>> import anyarray as xp
    >>> xp.sliding_window_view(xp.arange(4), 2).tolist()
    [[0, 1], [1, 2], [2, 3]]

    Source: NumPy 2.4, numpy.lib.stride_tricks.sliding_window_view.
    """
    found = as_array("sliding_window_view", "x", x)
    lengths = as_shape("sliding_window_view", "window_shape", window_shape)
    if any(one < 0 for one in lengths):
        raise errors.ArgumentValueError(f"sliding_window_view: window_shape must not be negative, but is {lengths}")
    given = tuple(range(found.ndim)) if axis is None else as_python_integers(axis)
    axes = [axis_of("sliding_window_view", one, found.ndim) for one in (given if type(given) is tuple else (given,))]
    if len(axes) != len(lengths):
        raise errors.ArgumentValueError(
            f"sliding_window_view: window_shape must have a length for each axis, but has {len(lengths)} for "
            f"{len(axes)} axes"
        )
    whole: Any = found
    is_here = xp.broadcast_to(found, found.shape).device == found.device  # not on another backend that is chosen
    is_view = bool(lengths) and is_here and layout.may_be_strided(whole)
    for at, length in zip(axes, lengths, strict=True):
        windows = found.shape[at] - length + 1
        if windows < 1:
            raise errors.ArgumentValueError(
                f"sliding_window_view: window_shape must not exceed the shape of x, but {length} is longer than axis "
                f"{at} of length {found.shape[at]}"
            )
        if is_view and whole._home.has_views:
            continue
        places = np.arange(windows)[:, None] + np.arange(length)
        taken = xp.take(found, xp.asarray(places.ravel()), axis=at)
        shape = (*found.shape[:at], windows, length, *found.shape[at + 1 :])
        found = xp.moveaxis(xp.reshape(taken, shape), at + 1, -1)
    if is_view:
        windows_of = functools.partial(np.lib.stride_tricks.sliding_window_view, window_shape=lengths, axis=tuple(axes))
        return layout.strided(whole, windows_of, found, is_read_only=not writeable)  # type: ignore[no-any-return]  # an Array
    return found if lengths else own_array("sliding_window_view", "x", x)[...]


@composed(own="numpy jax cupy", a="integer or boolean")
def packbits(a: AnyArray, /, axis: int | None = None, bitorder: Literal["big", "little"] = "big") -> Array:
    """Bits packed into elements of uint8, eight into one, along `axis`.

    A nonzero element is a set bit. Zeros fill up to a multiple of eight. If `axis` is None, `a` is flattened. With
    "big", the first bit has the value 128, with "little" 1.

    >>> import anyarray as xp
    >>> xp.packbits(xp.asarray([True, False, True])).tolist()
    [160]

    Source: NumPy 2.4, numpy.packbits.
    """
    if a.dtype.kind not in "biu":
        raise errors.dtype_not_allowed("packbits", "a", "integer or boolean", a.dtype)
    flat = xp.reshape(a, (-1,)) if axis is None else a
    at = 0 if axis is None else axis_of("packbits", axis, len(a.shape))
    bits = xp.astype(xp.moveaxis(xp.not_equal(flat, False if flat.dtype.kind == "b" else 0), at, -1), xp.uint8)
    length = bits.shape[-1]
    more = -length % 8
    if more:
        bits = xp.concat([bits, xp.zeros((*bits.shape[:-1], more), dtype=xp.uint8)], axis=-1)
    eights = xp.reshape(bits, (*bits.shape[:-1], (length + more) // 8, 8))
    packed = xp.sum(eights * xp.asarray(_BITS[bitorder], dtype=xp.uint8), axis=-1, dtype=xp.uint8)
    return xp.moveaxis(packed, -1, at)


def unpackbits(
    a: AnyArray, /, axis: int | None = None, count: int | None = None, bitorder: Literal["big", "little"] = "big"
) -> Array:
    """The bits of uint8 elements along `axis`, each bit as a uint8.

    If `axis` is None, `a` is flattened. `count` is the length of the result along the axis: zeros are added, or bits
    dropped. A negative `count` drops that many bits.

    >>> import anyarray as xp
    >>> xp.unpackbits(xp.asarray([3], dtype=xp.uint8)).tolist()
    [0, 0, 0, 0, 0, 0, 1, 1]

    Source: NumPy 2.4, numpy.unpackbits.
    """
    dtype = as_array("unpackbits", "a", a).dtype
    if dtype != xp.uint8:
        raise errors.ArgumentTypeError(f"unpackbits: a must have the dtype uint8, not {dtype}")
    return _unpackbits(a, axis, count, bitorder)


def _bits(
    a: AnyArray, /, axis: int | None = None, count: int | None = None, bitorder: Literal["big", "little"] = "big"
) -> Array:
    """The bits of an array of uint8."""
    flat = xp.reshape(a, (-1,)) if axis is None else a
    at = 0 if axis is None else axis_of("unpackbits", axis, len(a.shape))
    last = xp.moveaxis(flat, at, -1)
    bits = xp.astype(
        xp.not_equal(xp.bitwise_and(last[..., None], xp.asarray(_BITS[bitorder], dtype=xp.uint8)), 0), xp.uint8
    )
    length = last.shape[-1] * 8
    found = xp.reshape(bits, (*last.shape[:-1], length))
    if count is not None:
        wanted = count if count >= 0 else max(length + count, 0)
        if wanted > length:
            found = xp.concat([found, xp.zeros((*last.shape[:-1], wanted - length), dtype=xp.uint8)], axis=-1)
        found = found[..., :wanted]
    return xp.moveaxis(found, -1, at)


_bits.__name__ = "unpackbits"
_unpackbits: Final = composed(own="numpy jax cupy")(_bits)


_BITS: Final = {"big": [128, 64, 32, 16, 8, 4, 2, 1], "little": [1, 2, 4, 8, 16, 32, 64, 128]}


def pad(array: AnyArray, pad_width: Widths, mode: str | Callable[..., None] = "constant", **kwargs: Any) -> Array:
    """`array` with elements added before and after it, along each axis.

    `pad_width` is one number, a pair (before, after), a pair for each axis, or a dict of these by axis. `mode` chooses
    the new elements: "constant" means `constant_values`; "empty" any values; "edge" the outermost elements; "reflect"
    and "symmetric" the array reversed, without and with the outermost elements, negated about them if `reflect_type` is
    "odd"; "wrap" the elements of the other end; "linear_ramp" a ramp to `end_values`; "maximum", "minimum", "mean" and
    "median" the statistic of the outermost `stat_length` elements, by default of all. `mode` may also be a function
    (vector, pair, axis, options) that writes to a padded vector.
    Raises ValueError for an option that the mode does not have.

    >>> import anyarray as xp
    >>> xp.pad(xp.asarray([1, 2]), (1, 2)).tolist()
    [0, 1, 2, 0, 0]
    >>> xp.pad(xp.asarray([1, 2, 3]), 2, mode="reflect").tolist()
    [3, 2, 1, 2, 3, 2, 1]

    Source: NumPy 2.4, numpy.pad.
    """
    found = as_array("pad", "array", array)
    widths = _pairs_of_widths(pad_width, found.ndim)
    if callable(mode):
        return _padded_by(mode, found, widths, kwargs)
    if mode not in _OPTIONS_OF_PADDING:
        raise errors.ArgumentValueError(
            f"pad: mode must be one of {', '.join(_OPTIONS_OF_PADDING)} or a function, not {mode!r}"
        )
    option = _OPTIONS_OF_PADDING[mode]
    if kwargs.keys() - {option}:
        raise errors.ArgumentValueError(
            f"pad: mode {mode!r} takes {option or 'no options'}, not {', '.join(sorted(kwargs.keys() - {option}))}"
        )
    if not found.ndim:
        return xp.asarray(found, copy=True)
    if any(one >= sizes.LARGE for pair in widths for one in pair):
        lengths = [n + sum(pair) for n, pair in zip(found.shape, widths, strict=True)]
        sizes.refuse_overflow("pad", lengths, found.dtype.itemsize)
    if mode in ("constant", "empty"):
        values = _constants(kwargs.get("constant_values", 0), found)
        return _pad(found, widths, "constant", constant_values=values)
    for at, pair in enumerate(widths):
        if any(pair) and known_shape(found)[at] == 0:
            raise errors.ArgumentValueError(
                f"pad: array must not be empty on axis {at}, which only the modes constant and empty can extend"
            )
    return padded_by_its_own(found, widths, mode, tuple(kwargs.items()))


@composed(reads_no_values=True)
def padded_by_its_own(array: AnyArray, widths: Sequence[Any], mode: str, options: Any) -> Array:
    """`array` padded with what follows from its elements."""
    found = as_array("pad", "array", array)
    for at, (before, after) in enumerate(widths):
        if before or after:
            found = _padded(found, at, before, after, mode, dict(options))
    return xp.asarray(found, copy=True) if found is array else found


_OPTIONS_OF_PADDING: Final = {
    "constant": "constant_values",
    "edge": None,
    "empty": None,
    "linear_ramp": "end_values",
    "maximum": "stat_length",
    "mean": "stat_length",
    "median": "stat_length",
    "minimum": "stat_length",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    "wrap": None,
}
"""The modes of padding, and the option of each."""


def _pairs_of_widths(pad_width: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    if type(pad_width) is int and pad_width >= 0:
        return ((pad_width, pad_width),) * ndim  # as below, in a tenth of the time
    if isinstance(pad_width, Mapping):
        rows: list[Any] = [(0, 0)] * ndim
        for axis, given in pad_width.items():
            pair = as_python_integers(given)
            rows[axis_of("pad", axis, ndim, "pad_width")] = pair if type(pair) is tuple else (pair, pair)
        pad_width = rows
    widths = np.asarray(pad_width)
    if widths.dtype.kind not in "iu":
        raise errors.ArgumentTypeError(f"pad: pad_width must hold integers, not {widths.dtype}")
    pairs = _pairs("pad_width", widths, ndim)
    if any(one < 0 for pair in pairs for one in pair):
        raise errors.ArgumentValueError(f"pad: pad_width must not be negative, but is {pad_width}")
    return pairs


def _pairs(parameter: str, given: Any, ndim: int) -> tuple[tuple[Any, Any], ...]:
    """A pair for each axis, of Python scalars or None."""
    values = np.asarray(given)
    if not ndim and values.size < 3:
        return ()
    try:
        return tuple([tuple(row) for row in np.broadcast_to(values, (ndim, 2)).tolist()])
    except ValueError as error:
        raise errors.ArgumentValueError(
            f"pad: {parameter} must be a number, a pair, or a pair for each of {ndim} axes, not of shape {values.shape}"
        ) from error


def _constants(given: Any, array: Array) -> Any:
    """Constants for padding an array.

    Raises for NaN and infinities that an integer dtype cannot hold.
    """
    if type(given) is not int and array.dtype.kind in "iu":
        for one in itertools.chain.from_iterable(_pairs("constant_values", given, array.ndim)):
            if type(one) is float and not math.isfinite(one):
                dtypes.integer_within("pad", one, array.dtype)
    return given


def _constant_padding(
    array: AnyArray, pad_width: Sequence[Any], mode: str = "constant", *, constant_values: Any = 0
) -> Array:
    """`array` with `constant_values` before and after it."""
    dtype, found = array.dtype, as_array("pad", "array", array)
    values = _pairs("constant_values", np.asarray(constant_values), found.ndim)
    for at, (widths, pair) in enumerate(zip(pad_width, values, strict=True)):
        parts = [found]
        for is_after, (width, value) in enumerate(zip(widths, pair, strict=True)):
            if width:
                shape = (*found.shape[:at], width, *found.shape[at + 1 :])
                part = xp.broadcast_to(xp.astype(xp.asarray(value), dtype), shape)
                parts.insert(len(parts) if is_after else 0, part)
        found = xp.concat(parts, axis=at) if len(parts) > 1 else found
    return found if found is not array else xp.asarray(array, copy=True)


_constant_padding.__name__ = "pad"  # NumPy's and JAX's own for this mode
_pad: Final = composed(own="numpy jax cupy")(_constant_padding)


def _part(array: Array, axis: int, start: int | None, stop: int | None) -> Array:
    return array[(*[slice(None)] * axis, slice(start, stop))]


def _padded(array: Array, at: int, before: int, after: int, mode: str, options: Mapping[str, Any]) -> Array:
    """An array with elements added along one axis."""
    length = array.shape[at]
    if mode in ("reflect", "symmetric"):
        kind = options.get("reflect_type", "even")
        if kind not in ("even", "odd"):
            raise errors.ArgumentValueError(f"pad: reflect_type must be 'even' or 'odd', not {kind!r}")
        if kind == "odd" and length > 1:
            wide = xp.astype(array, xp.int64) if array.dtype.kind == "b" else array
            return xp.astype(_mirrored(wide, at, before, after, mode), array.dtype, copy=False)
    if mode in ("edge", "reflect", "symmetric", "wrap"):
        places = np.pad(np.arange(length), (before, after), mode)  # type: ignore[call-overload]
        return xp.take(array, xp.asarray(places), axis=at)
    first, last = _part(array, at, 0, 1), _part(array, at, length - 1, length)
    if mode == "linear_ramp":
        ends = _pairs("end_values", np.asarray(options.get("end_values", 0)), array.ndim)[at]
        parts = [_ramp(ends[0], first, before, at), array, xp.flip(_ramp(ends[1], last, after, at), axis=at)]
    else:
        lengths = _pairs("stat_length", np.asarray(options.get("stat_length"), object), array.ndim)[at]
        taken = [length if one is None or one > length else as_integer("pad", "stat_length", one) for one in lengths]
        if min(taken) < 0 or (min(taken) == 0 and mode in ("maximum", "minimum")):
            raise errors.ArgumentValueError(f"pad: stat_length must be at least 1, not {min(taken)}")
        found = [
            _statistic(mode, _part(array, at, 0, taken[0]), at),
            _statistic(mode, _part(array, at, length - taken[1], length), at),
        ]
        widths = [(*array.shape[:at], width, *array.shape[at + 1 :]) for width in (before, after)]
        parts = [xp.broadcast_to(found[0], widths[0]), array, xp.broadcast_to(found[1], widths[1])]
    return xp.concat(parts, axis=at)


def _mirrored(array: Array, at: int, before: int, after: int, mode: str) -> Array:
    """An array mirrored about its outermost elements, in place and value.

    After two reflections the array begins anew, raised by twice the difference of its ends.
    """
    length = array.shape[at]
    places = np.arange(-before, length + after)
    period = 2 * length if mode == "symmetric" else 2 * (length - 1)
    rounds, places = np.divmod(places, period)
    is_reversed = places >= length
    places = np.where(is_reversed, period - places - (mode == "symmetric"), places)
    shape = [-1 if axis == at else 1 for axis in range(array.ndim)]
    first, last = _part(array, at, 0, 1), _part(array, at, length - 1, length)
    taken = xp.take(array, xp.asarray(places), axis=at)
    is_reversed = is_reversed.reshape(shape)
    rounds = rounds.reshape(shape)
    found = xp.where(xp.asarray(is_reversed), 2 * last - taken, taken)
    return found + xp.astype(xp.asarray(2 * rounds), array.dtype) * (last - first) if rounds.any() else found


def _ramp(end: Any, edge: Array, width: int, at: int) -> Array:
    """`width` values from `end` up to `edge`, which is left out."""
    dtype = edge.dtype
    wide = xp.float64 if dtype.kind in "iub" else dtype
    shape = [-1 if axis == at else 1 for axis in range(edge.ndim)]
    steps = xp.astype(xp.reshape(xp.asarray(np.arange(width)), shape), xp.float64 if wide.itemsize >= 8 else wide)
    found = end + steps * ((xp.astype(edge, wide) - end) / max(width, 1))
    return xp.astype(xp.floor(found) if dtype.kind in "iu" else found, dtype)


def _statistic(mode: str, part: Array, at: int) -> Array:
    if mode in ("maximum", "minimum"):
        return part.max(axis=at, keepdims=True) if mode == "maximum" else part.min(axis=at, keepdims=True)
    dtype = part.dtype
    wide = xp.astype(part, xp.float64) if dtype.kind in "biu" else part
    found = (xp.mean if mode == "mean" else median)(wide, axis=at, keepdims=True)
    return xp.astype(xp.round(found) if dtype.kind in "iu" else found, dtype, copy=False)


def _padded_by(
    function: Callable[..., None], array: Array, widths: Sequence[tuple[int, int]], options: dict[str, Any]
) -> Array:
    """What a function writes to each vector of a padded array."""
    padded = _pad(array, widths, "constant")
    for at in range(padded.ndim):
        last = xp.moveaxis(padded, at, -1)
        for place in itertools.product(*map(range, last.shape[:-1])):
            function(last[(*place, ...)], widths[at], at, options)
    return padded


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: AnyArray, *args: Any, **kwargs: Any) -> Array:
    """Results of a function of vectors for each vector of `arr` along `axis`.

    The function is called for each vector: `func1d(vector, *args, **kwargs)`. (`xp.vmap` calls it once for all.) The
    axes of its results replace `axis`. Raises ValueError if there is no vector.

    >>> import anyarray as xp
    >>> xp.apply_along_axis(xp.sum, 1, xp.asarray([[1, 2], [3, 4]])).tolist()
    [3, 7]

    Source: NumPy 2.4, numpy.apply_along_axis.
    """
    array = as_array("apply_along_axis", "arr", arr)
    at = axis_of("apply_along_axis", axis, array.ndim)
    others = (*array.shape[:at], *array.shape[at + 1 :])
    if 0 in others:
        raise errors.ArgumentValueError(
            f"apply_along_axis: arr must have a vector along axis {at}, but is of shape {array.shape}"
        )
    rows = xp.reshape(xp.moveaxis(array, at, -1), (math.prod(others), array.shape[at]))
    given = [func1d(row, *args, **kwargs) for row in xp.unstack(rows)]
    space: Any = xp
    try:
        results: list[Any] = [xp.asarray(one) for one in given]
    except errors.ArgumentTypeError:  # of text, objects or dates, NumPy makes an ndarray
        space, results = np, [np.asarray(one) for one in given]
    first = results[0]
    results = [one if one.dtype == first.dtype else space.astype(one, first.dtype) for one in results]
    found = space.reshape(space.stack(results), (*others, *first.shape))
    new = range(len(others), len(others) + first.ndim)
    return space.moveaxis(found, tuple(new), tuple(range(at, at + first.ndim)))  # type: ignore[no-any-return]  # an Array


def apply_over_axes(func: Callable[[Array, int], Array], a: AnyArray, axes: int | Sequence[int]) -> Array:
    """`a` after a function was applied for each of `axes` in turn.

    The result of the function has as many axes as `a`, or one less, which is restored with length 1.
    Raises ValueError otherwise.

    >>> import anyarray as xp
    >>> xp.apply_over_axes(lambda x, axis: xp.sum(x, axis=axis), xp.ones((2, 3)), (0, 1)).tolist()
    [[6.0]]

    Source: NumPy 2.4, numpy.apply_over_axes.
    """
    found = own_array("apply_over_axes", "a", a)
    ndim = found.ndim
    given = as_python_integers(axes)
    for one in given if type(given) is tuple else (given,):
        at = axis_of("apply_over_axes", one, ndim, "axes")
        result = func(found, at)
        if result.ndim == ndim - 1:
            result = xp.expand_dims(result, at)
        if result.ndim != ndim:
            raise errors.ArgumentValueError(
                f"apply_over_axes: func must give an Array of {ndim} axes or one less, not {result.ndim}"
            )
        found = result
    return found


class vectorize:  # noqa: N801 - NumPy's name
    """A function of arrays from a function of Python scalars.

    `pyfunc` is called in Python for each element; `xp.vmap` is faster for a function of Arrays. Options, dtypes and
    broadcasting are those of `numpy.vectorize`. The function reads values, so it does not work inside `xp.jit` or
    `xp.grad`.

    >>> import anyarray as xp
    >>> xp.vectorize(lambda x: 1 if x > 2 else 0)(xp.asarray([1, 2, 3])).tolist()
    [0, 0, 1]

    Source: NumPy 2.4, numpy.vectorize.
    """

    def __init__(
        self,
        pyfunc: Any = np._NoValue,
        otypes: Any = None,
        doc: str | None = None,
        excluded: Any = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        self._on_host = np.vectorize(pyfunc, otypes, doc, excluded, cache, signature)
        self._describe()

    def _describe(self) -> None:
        self.pyfunc: Any = self._on_host.pyfunc
        self.__doc__ = self._on_host.__doc__
        self.__name__ = getattr(self.pyfunc, "__name__", type(self).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for all elements: an Array, or a tuple of some.

        Without `pyfunc`, as in `@vectorize(otypes=[float])`, the first call takes the function.
        """
        if self.pyfunc is np._NoValue:
            self._on_host(*args, **kwargs)
            self._describe()
            return self
        found = self._on_host(*map(_host, args), **{name: _host(value) for name, value in kwargs.items()})
        return tuple(map(_brought, found)) if isinstance(found, tuple) else _brought(found)


def _brought(found: np.ndarray[Any, Any]) -> Any:
    """An Array of an ndarray; of text or objects, the ndarray."""
    return found if dtypes.is_numpys_own(found) else xp.asarray(found)


def _host(value: Any) -> Any:
    """The values of an Array; anything else as it is."""
    return np.asarray(value) if is_array(value) else value
