"""Selecting and writing elements by conditions and indices.

Writes happen in place on every backend and reach all views.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from anyarray._array.array import AnyArray, Array, Shape
from anyarray._array.flat import as_many
from anyarray._array.methods import chosen
from anyarray._base import dtypes, errors
from anyarray._base.dtypes import DTypeLike
from anyarray._call.arguments import as_array, as_integer, as_shape, as_written
from anyarray._call.dispatch import composed
from anyarray._call.wrapping import SCALARS, is_array, wrap_owned
from anyarray._choice import choice
from anyarray.extensions._axes import Values, array_of, axis_of, clearly, own_array
from anyarray.standard import namespace as xp

__all__ = [
    "argwhere", "choose", "compress", "copyto", "diag_indices", "diag_indices_from", "extract", "fill_diagonal",
    "flatnonzero", "indices", "ix_", "mask_indices", "piecewise", "place", "put", "put_along_axis", "putmask",
    "ravel_multi_index", "select", "tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from",
    "unravel_index",
]  # fmt: skip

Arrays: TypeAlias = Iterable[Any]
"""Arrays, lists and Python numbers, or the parts of one array along its first axis."""

Target: TypeAlias = Array | np.ndarray[Any, Any]
"""What is written to."""

Mode: TypeAlias = Literal["raise", "wrap", "clip"]
"""What becomes of an index out of bounds: an error, the remainder by the length, or the nearest one."""


# Chosen elements


def argwhere(a: AnyArray) -> Array:
    """Indices of the elements that are not zero, one in each row.

    The result is (k, ndim); k depends on values, so this does not work where shapes must be static, such as in
    `jax.jit`.

    >>> import anyarray as xp
    >>> xp.argwhere(xp.asarray([[1, 0], [0, 3]])).tolist()
    [[0, 0], [1, 1]]

    Source: NumPy 2.4, numpy.argwhere.
    """
    if as_array("argwhere", "a", a).ndim == 0:
        return xp.zeros((flatnonzero(a).shape[0], 0), dtype=xp.int64)
    return xp.stack(xp.nonzero(a), axis=1)


def flatnonzero(a: AnyArray) -> Array:
    """Indices into the flattened `a` of the elements that are not zero.

    Their number depends on values, so this does not work where shapes must be static, such as in
    `jax.jit`.

    >>> import anyarray as xp
    >>> xp.flatnonzero(xp.asarray([[1, 0], [0, 3]])).tolist()
    [0, 3]

    Source: NumPy 2.4, numpy.flatnonzero.
    """
    return xp.nonzero(xp.reshape(a, (-1,)))[0]


def extract(condition: AnyArray, arr: AnyArray) -> Array:
    """The elements of `arr` where `condition` is true; both are flattened.

    Their number depends on values, so this does not work where shapes must be static, such as in
    `jax.jit`.

    >>> import anyarray as xp
    >>> x = xp.arange(6)
    >>> xp.extract(x % 3 == 0, x).tolist()
    [0, 3]

    Source: NumPy 2.4, numpy.extract.
    """
    return compress(xp.reshape(condition, (-1,)), xp.reshape(arr, (-1,)))


def compress(condition: AnyArray, a: AnyArray, axis: int | None = None) -> Array:
    """The parts of `a` along `axis` where `condition`, a vector, is true.

    If `axis` is None, `a` is flattened. A condition that is shorter than the axis counts as false beyond its end. The
    shape of the result depends on values, so this does not work where shapes must be static, such as in `jax.jit`.
    Raises IndexError if the condition is true beyond the end of `a`.

    >>> import anyarray as xp
    >>> xp.compress(xp.asarray([False, True]), xp.asarray([[1, 2], [3, 4]]), axis=0).tolist()
    [[3, 4]]

    Source: NumPy 2.4, numpy.compress.
    """
    return clearly(_compress, _compressed, condition, a, axis)


def _compressed(condition: AnyArray, a: AnyArray, axis: int | None = None) -> Array:
    given, array = as_array("compress", "condition", condition), as_array("compress", "a", a)
    if given.ndim != 1:
        raise errors.ArgumentValueError(f"compress: condition must have 1 axis, not {given.ndim}")
    if axis is None:
        array = xp.reshape(array, (-1,))
    at = axis_of("compress", 0 if axis is None else axis, array.ndim)
    length = array.shape[at]
    # Not left to `take`, which checks no bounds on some backends.
    if not _is_traced(given) and given.shape[0] > length and bool(xp.any(given[length:] != 0)):
        raise errors.ArgumentIndexError(
            f"compress: condition must be false beyond the {length} elements of axis {at}, but is true later"
        )
    return xp.take(array, xp.nonzero(given)[0], axis=at)


_compressed.__name__ = "compress"  # NumPy's own
_compress: Final = composed(own="numpy")(_compressed)


def choose(a: AnyArray, choices: Arrays, *, mode: Mode = "raise") -> Array:
    """Elements of `choices`, each from the array that `a` names by its index.

    All broadcast. The mode "wrap" takes an index modulo the number of choices, and "clip" takes the nearest choice.
    Raises ValueError for an index out of bounds.

    >>> import anyarray as xp
    >>> xp.choose(xp.asarray([0, 1, 1]), [xp.asarray([1, 2, 3]), xp.asarray([10, 20, 30])]).tolist()
    [1, 20, 30]

    Source: NumPy 2.4, numpy.choose.
    """
    named = as_array("choose", "a", a)
    if named.dtype.kind not in "biu":
        raise errors.dtype_not_allowed("choose", "a", "integer", named.dtype)
    others = [array_of("choose", f"choices[{i}]", one) for i, one in enumerate(choices)]
    return clearly(_choose, _chosen, [named, *others], mode=mode)


def _chosen(arrays: Sequence[AnyArray], *, mode: Mode = "raise") -> Array:
    a, *choices = arrays
    return chosen(as_array("choose", "a", a), choices, mode)  # type: ignore[arg-type]  # a body gets Arrays


_chosen.__name__ = "choose"
_choose: Final = composed()(_chosen)


def select(condlist: Arrays, choicelist: Arrays, default: Values = 0) -> Array:
    """Elements of the first choice whose condition is true, else of `default`.

    All broadcast. Choices and the default promote to one dtype; a Python number takes the dtype of the others.
    Raises TypeError for a condition that is not an array of bools, ValueError unless each choice has a condition.

    >>> import anyarray as xp
    >>> x = xp.arange(5)
    >>> xp.select([x < 2, x > 3], [x, 10 * x], -1).tolist()
    [0, 1, -1, -1, 40]

    Source: NumPy 2.4, numpy.select.
    """
    conditions = [array_of("select", f"condlist[{i}]", one) for i, one in enumerate(condlist)]
    if not conditions:
        raise errors.ArgumentValueError("select: condlist must hold at least one Array, but is empty")
    for i, one in enumerate(conditions):
        if one.dtype.kind != "b":
            raise errors.dtype_not_allowed("select", f"condlist[{i}]", "boolean", one.dtype)
    choices = [_choice(f"choicelist[{i}]", one) for i, one in enumerate(choicelist)]
    if len(choices) != len(conditions):
        raise errors.ArgumentValueError(
            f"select: choicelist must have a choice for each of {len(conditions)} conditions, but has {len(choices)}"
        )
    *choices, found = _promoted([*choices, _choice("default", default)])
    for condition, one in zip(reversed(conditions), reversed(choices), strict=True):
        found = xp.where(condition, one, found)
    return found


def _choice(parameter: str, value: Any) -> Any:
    return value if type(value) in SCALARS else array_of("select", parameter, value)


def _promoted(values: Sequence[Any]) -> list[Array]:
    """Arrays and Python numbers as Arrays of the dtype they promote to."""
    if any(map(is_array, values)):
        dtype = xp.result_type(*values)
    else:
        dtype = dtypes.default(max(map(type, values), key=[bool, int, float, complex].index))
    return [xp.astype(one, dtype, copy=False) if is_array(one) else xp.asarray(one, dtype=dtype) for one in values]


def piecewise(x: AnyArray, condlist: Arrays, funclist: Sequence[Any], *args: Any, **kw: Any) -> Array:
    """A piecewise-defined function of `x`, in the dtype of `x`.

    Where a condition is true, the corresponding entry of `funclist` gives the result: a number, or a function of those
    elements of `x` (`f(elements, *args, **kw)`). If several conditions are true, the last one counts. If none is true,
    an additional entry of `funclist` gives the result, by default 0. Inside `xp.jit` and `xp.vmap`, functions are
    called with all elements of `x`.
    Raises ValueError unless there is an entry for each condition, or one more.

    >>> import anyarray as xp
    >>> x = xp.asarray([-2.0, 0.0, 3.0])
    >>> xp.piecewise(x, [x < 0, x > 0], [lambda v: -v, 10.0]).tolist()
    [2.0, 0.0, 10.0]

    Source: NumPy 2.4, numpy.piecewise.
    """
    array = array_of("piecewise", "x", x)
    conditions = _conditions(condlist, array.ndim)
    if len(funclist) == len(conditions) + 1:
        conditions.append(xp.logical_not(functools.reduce(xp.logical_or, conditions)))
    elif len(funclist) != len(conditions):
        raise errors.ArgumentValueError(
            f"piecewise: funclist must have a function for each of {len(conditions)} conditions, or one more, but has "
            f"{len(funclist)}"
        )
    found = xp.zeros_like(array)
    for condition, function in zip(conditions, funclist, strict=True):
        if array.ndim == 0 or _is_traced(array, condition):
            values: Any = function(array, *args, **kw) if callable(function) else function
            new = xp.astype(as_written("piecewise", "funclist", values, array.dtype), array.dtype)
            found = xp.where(condition, new, found)
        elif not callable(function):
            found[condition] = function
        elif (chosen := array[condition]).size:
            values = function(chosen, *args, **kw)
            found[condition] = values
    return found


def _conditions(condlist: Arrays, ndim: int) -> list[Array]:
    """Masks of a list of conditions, or of one alone."""
    if isinstance(condlist, (list, tuple)):
        is_one = ndim > 0 and type(condlist[0]) in SCALARS
    else:
        is_one = array_of("piecewise", "condlist", condlist).ndim <= ndim
    given = [condlist] if is_one else condlist
    return [xp.astype(array_of("piecewise", f"condlist[{i}]", one), xp.bool) for i, one in enumerate(given)]


def _is_traced(*arrays: Array) -> bool:
    return any(one._home.is_traced(one._native) for one in arrays)


# Writes


def fill_diagonal(a: Target, val: Values, wrap: bool = False) -> None:
    """Write `val` to the main diagonal of `a`, in place.

    `a` has two axes, or more axes of equal length; then the elements whose indices are all equal are written. Too few
    values are repeated. With `wrap`, the diagonal of a tall matrix starts again below the square, after an unchanged
    row.
    Raises ValueError for another shape.

    >>> import anyarray as xp
    >>> x = xp.zeros((2, 2))
    >>> xp.fill_diagonal(x, 5)
    >>> x.tolist()
    [[5.0, 0.0], [0.0, 5.0]]

    Source: NumPy 2.4, numpy.fill_diagonal.
    """
    if _write_in_numpy(np.fill_diagonal, a, val, wrap):
        return
    shape = _target("fill_diagonal", "a", a).shape
    if len(shape) < 2:
        raise errors.ArgumentValueError(f"fill_diagonal: a must have at least 2 axes, not {len(shape)}")
    if len(shape) == 2:
        step = shape[1] + 1
        end = None if wrap else shape[1] * shape[1]
    elif len(set(shape)) > 1:
        raise errors.ArgumentValueError(f"fill_diagonal: a must have axes of one length, but is of shape {shape}")
    else:
        step, end = sum(math.prod(shape[:i]) for i in range(len(shape))), None
    a.flat[:end:step] = val


def put(a: Target, ind: Values, v: Values, mode: Mode = "raise") -> None:
    """Write `v` to the elements of the flattened `a` at `ind`, in place.

    Too few values are repeated. The mode "wrap" takes an index modulo the number of elements, and "clip" takes the
    nearest element. Raises IndexError for an index out of bounds.

    >>> import anyarray as xp
    >>> x = xp.zeros(3)
    >>> xp.put(x, [0, -1], [1, 2])
    >>> x.tolist()
    [1.0, 0.0, 2.0]

    Source: NumPy 2.4, numpy.put.
    """
    if not _write_in_numpy(np.put, a, ind, v, mode):
        _target("put", "a", a).put(ind, v, mode=mode)


def place(arr: Target, mask: Values, vals: Values) -> None:
    """Write `vals` to `arr`, one after another, where `mask` is true.

    Too few values are repeated. Raises ValueError unless the mask has as many elements as `arr`, and if there are no
    values.

    >>> import anyarray as xp
    >>> x = xp.arange(5)
    >>> xp.place(x, x > 1, [8, 9])
    >>> x.tolist()
    [0, 1, 8, 9, 8]

    Source: NumPy 2.4, numpy.place.
    """
    if _write_in_numpy(np.place, arr, mask, vals):
        return
    chosen, values = _mask("place", "arr", arr, mask), xp.reshape(_cast("place", "vals", vals, arr), (-1,))
    if values.size == 0:
        if _is_traced(chosen) or bool(xp.any(chosen)):
            raise errors.ArgumentValueError("place: vals must hold at least one value, but is empty")
    else:
        rank = xp.cumulative_sum(xp.astype(xp.reshape(chosen, (-1,)), xp.int64)) - 1
        _write_where(arr, chosen, xp.take(values, xp.remainder(rank, values.size)))


def putmask(a: Target, mask: Values, values: Values) -> None:
    """Write `values` to `a` where `mask` is true, in place.

    Each element takes the value at its own position in the flattened `values`; too few values are repeated.
    Raises ValueError unless the mask has as many elements as `a`.

    >>> import anyarray as xp
    >>> x = xp.arange(5)
    >>> xp.putmask(x, x > 1, [8, 9])
    >>> x.tolist()
    [0, 1, 8, 9, 8]

    Source: NumPy 2.4, numpy.putmask.
    """
    if _write_in_numpy(np.putmask, a, mask, values):
        return
    chosen, new = _mask("putmask", "a", a, mask), _cast("putmask", "values", values, a)
    if new.size != 0:
        _write_where(a, chosen, as_many(new, a.size))


def copyto(dst: Target, src: Values, casting: Casting = "same_kind", where: Values = True) -> None:
    """Write `src` to `dst`, in place, where the mask `where` is true.

    Both are broadcast to `dst`. Raises TypeError for a dtype that `casting` does not allow.

    >>> import anyarray as xp
    >>> x = xp.zeros(3)
    >>> xp.copyto(x, [1, 2, 3], where=xp.asarray([True, False, True]))
    >>> x.tolist()
    [1.0, 0.0, 3.0]

    Source: NumPy 2.4, numpy.copyto.
    """
    if _write_in_numpy(np.copyto, dst, src, casting, where):
        return
    target = _target("copyto", "dst", dst)
    new: Any = src if type(src) in SCALARS else array_of("copyto", "src", src)
    came = np.result_type(np.dtype(target.dtype), new) if type(new) in SCALARS else np.dtype(new.dtype)
    if not np.can_cast(came, np.dtype(target.dtype), casting):
        raise errors.ArgumentTypeError(
            f"copyto: src must have a dtype that casts to {target.dtype} by {casting!r}, not {came}. Say how: "
            "casting='unsafe'"
        )
    mask: Any = True if where is True else xp.astype(array_of("copyto", "where", where), xp.bool)
    for parameter, one in (("src", new), ("where", mask)):
        if is_array(one) and not _fits(one.shape, target.shape):
            raise errors.ArgumentValueError(
                f"copyto: {parameter} of shape {one.shape} does not broadcast to dst of shape {target.shape}"
            )
    if mask is True:
        target[...] = new
    else:
        new = xp.astype(new if is_array(new) else xp.asarray(new), target.dtype, copy=False)
        _write_where(target, xp.broadcast_to(mask, target.shape), xp.broadcast_to(new, target.shape))


def _fits(shape: tuple[Any, ...], target: tuple[Any, ...]) -> bool:
    """Whether an array of one shape broadcasts to another."""
    axes = zip(reversed(shape), reversed(target), strict=False)
    return all(one in (1, None, length) for one, length in axes) and all(
        one == 1 for one in shape[: -len(target) or None]
    )


Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
"""Which changes of dtype are allowed, as in `numpy.can_cast`."""


def put_along_axis(arr: Target, indices: AnyArray, values: Values, axis: int | None = -1) -> None:
    """Write `values` to `arr` at `indices` along `axis`, in place.

    Indices are as in `take_along_axis`, and values broadcast with them. If `axis` is None, `arr` is flattened. Raises
    ValueError unless `indices` has as many axes as `arr`, IndexError for an index out of bounds.

    >>> import anyarray as xp
    >>> x = xp.asarray([[3, 1, 2], [4, 6, 5]])
    >>> xp.put_along_axis(x, xp.argmax(x, axis=1, keepdims=True), 0, axis=1)
    >>> x.tolist()
    [[0, 1, 2], [4, 0, 5]]

    Source: NumPy 2.4, numpy.put_along_axis.
    """
    if _write_in_numpy(np.put_along_axis, arr, indices, values, axis):
        return
    target, at = _target("put_along_axis", "arr", arr), as_array("put_along_axis", "indices", indices)
    new = as_written("put_along_axis", "values", values, dtypes.dtype(target.dtype))
    if at.dtype.kind not in "iu":
        raise errors.dtype_not_allowed("put_along_axis", "indices", "integer", at.dtype)
    ndim = 1 if axis is None else target.ndim
    if at.ndim != ndim:
        raise errors.ArgumentValueError(f"put_along_axis: indices must have {ndim} axes, not {at.ndim}")
    if axis is None:
        put(arr, at, xp.broadcast_to(new, at.shape))
        return
    along = axis_of("put_along_axis", axis, ndim)
    places = [xp.reshape(xp.arange(n), (-1, *[1] * (ndim - i - 1))) for i, n in enumerate(target.shape)]
    arr[(*places[:along], at, *places[along + 1 :])] = new


def _target(function: str, parameter: str, value: Any) -> Any:
    """What is to be written to. Raises TypeError unless it can be."""
    if is_array(value) or isinstance(value, np.ndarray):
        return value
    raise errors.ArgumentTypeError(
        f"{function}: {parameter} must be an Array or an ndarray, which is written to, not {type(value).__name__}"
    )


def _mask(function: str, parameter: str, target: Any, mask: Values) -> Array:
    """A mask for all elements of what is to be written to."""
    shape, chosen = _target(function, parameter, target).shape, array_of(function, "mask", mask)
    if chosen.size != math.prod(shape):
        raise errors.ArgumentValueError(
            f"{function}: mask must have as many elements as {parameter}, {math.prod(shape)}, not {chosen.size}"
        )
    return xp.astype(xp.reshape(chosen, shape), xp.bool, copy=False)


def _cast(function: str, parameter: str, value: Values, target: Any) -> Array:
    """The values to write, in the dtype of the target.

    Raises TypeError for an array of a dtype that does not cast safely, as NumPy does; numbers and lists always cast.
    """
    found = as_written(function, parameter, value, dtypes.dtype(target.dtype))
    if hasattr(value, "shape") and found.ndim and not np.can_cast(found.dtype, np.dtype(target.dtype), "safe"):
        raise errors.ArgumentTypeError(
            f"{function}: {parameter} must have a dtype that casts safely to {target.dtype}, not {found.dtype}. "
            "Convert it: xp.astype(...)"
        )
    return xp.astype(found, target.dtype, copy=False)


def _write_in_numpy(theirs: Callable[..., Any], target: Any, *operands: Any) -> bool:
    """Let NumPy's own function write, if it takes what it gets; else False.

    Then nothing was written but what will be written again.
    """
    hosts: list[Any] = []
    if is_array(target):
        memory: Any = target._native
        # Memory of somebody else is not writeable, nor is an Array that is only read.
        if type(memory) is not np.ndarray or not memory.flags.writeable:
            return False
        for one in operands:
            if is_array(one):
                one = one._native
                if not isinstance(one, (np.ndarray, np.generic)):
                    return False
            hosts.append(one)
    elif isinstance(target, np.ndarray):
        memory, hosts = target, [np.asarray(one) if is_array(one) else one for one in operands]
    else:
        return False
    try:
        theirs(memory, *hosts)
    except (AttributeError, IndexError, TypeError, ValueError):  # ours says what is wrong
        return False
    return True


def _write_where(target: Any, mask: Array, values: Array) -> None:
    """Write values where a mask of the same shape is true."""
    target[...] = xp.where(mask, xp.reshape(values, () if values.size == 1 else target.shape), target)


# Indices


def unravel_index(indices: AnyArray | int, shape: Shape, order: Literal["C", "F"] = "C") -> tuple[Array, ...]:
    """Indices for each axis of a shape, from indices into the flattened array.

    With the order "F", the given indices are in column-major order. Raises ValueError for an index out of bounds.

    >>> import anyarray as xp
    >>> [one.tolist() for one in xp.unravel_index(xp.asarray([1, 5]), (2, 3))]
    [[0, 1], [1, 2]]

    Source: NumPy 2.4, numpy.unravel_index.
    """
    return _unravel(xp.asarray(indices) if isinstance(indices, int) else indices, shape, order)


def _unravelled(indices: AnyArray, shape: Shape, order: Literal["C", "F"] = "C") -> tuple[Array, ...]:
    lengths = as_shape("unravel_index", "shape", shape)
    if indices.dtype.kind not in "biu":
        raise errors.dtype_not_allowed("unravel_index", "indices", "integer", indices.dtype)
    at, size = xp.astype(indices, xp.int64), math.prod(lengths)
    if not _is_traced(at) and bool(xp.any((at < 0) | (at >= size))):
        raise errors.ArgumentValueError(
            f"unravel_index: indices must be from 0 to {size - 1}, those of shape {lengths}"
        )
    if not lengths and at.ndim:
        raise errors.ArgumentValueError(
            f"unravel_index: indices must be a single index for the shape () of a 0d array, not of shape {at.shape}"
        )
    found: list[Array] = []
    for length in reversed(lengths) if order == "C" else lengths:
        found.append(xp.remainder(at, length))
        at = xp.floor_divide(at, length)
    return tuple(found[::-1] if order == "C" else found)


_unravelled.__name__ = "unravel_index"  # NumPy's own
_unravel: Final = composed(own="numpy", indices="integer or boolean")(_unravelled)


def ravel_multi_index(
    multi_index: Arrays, dims: Shape, mode: Mode | Sequence[Mode] = "raise", order: Literal["C", "F"] = "C"
) -> Array:
    """Indices into the flattened array of a shape, from indices for each axis.

    The mode "wrap" takes an index modulo the length, and "clip" takes the nearest index; each axis may have its own
    mode. With the order "F", the result is in column-major order. Raises ValueError for an index out of bounds.

    >>> import anyarray as xp
    >>> xp.ravel_multi_index((xp.asarray([0, 1]), xp.asarray([1, 2])), (2, 3)).tolist()
    [1, 5]

    Source: NumPy 2.4, numpy.ravel_multi_index.
    """
    parts = [array_of("ravel_multi_index", f"multi_index[{i}]", one) for i, one in enumerate(multi_index)]
    if not parts:
        return _ravelled(parts, dims)
    if not isinstance(mode, str):
        lengths = as_shape("ravel_multi_index", "dims", dims)
        if len(mode) != len(lengths):
            raise errors.ArgumentValueError(
                f"ravel_multi_index: mode must be one, or one for each of {len(lengths)} axes, not {len(mode)}"
            )
        parts = [_within(*one) for one in zip(parts, lengths, mode, itertools.count())]
        mode = "raise"
    return clearly(_ravel, _ravelled, parts, dims, mode, order)


def _ravelled(
    multi_index: Sequence[AnyArray],
    dims: Shape,
    mode: Literal["raise", "wrap", "clip"] = "raise",
    order: Literal["C", "F"] = "C",
) -> Array:
    lengths, found, step = as_shape("ravel_multi_index", "dims", dims), xp.asarray(0), 1
    if len(multi_index) != len(lengths):
        raise errors.ArgumentValueError(
            f"ravel_multi_index: multi_index must have an array for each of {len(lengths)} axes, but has "
            f"{len(multi_index)}"
        )
    for i in range(len(lengths)) if order == "F" else reversed(range(len(lengths))):
        found = found + _within(xp.asarray(multi_index[i]), lengths[i], mode, i) * step
        step *= lengths[i]
    return found


_ravelled.__name__ = "ravel_multi_index"  # NumPy's own
_ravel: Final = composed(own="numpy")(_ravelled)


def _within(part: Array, length: int, mode: str, axis: int) -> Array:
    """Indices of an axis, brought into range as `mode` says."""
    if part.dtype.kind not in "biu":
        raise errors.dtype_not_allowed("ravel_multi_index", f"multi_index[{axis}]", "integer", part.dtype)
    at = xp.astype(part, xp.int64)
    if mode == "wrap":
        return xp.remainder(at, length)
    if mode == "clip":
        return xp.clip(at, 0, length - 1)
    if mode != "raise":
        raise errors.ArgumentValueError(f"ravel_multi_index: mode must be 'raise', 'wrap' or 'clip', not {mode!r}")
    if not _is_traced(at) and bool(xp.any((at < 0) | (at >= length))):
        raise errors.ArgumentValueError(
            f"ravel_multi_index: multi_index[{axis}] must be from 0 to {length - 1}. Or let indices wrap: mode='wrap'"
        )
    return at


def indices(dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: bool = False) -> Any:
    """The index of each element of a shape: an array for each axis.

    The result is one Array of the shape `(len(dimensions), *dimensions)`, or with `sparse` a tuple of Arrays that
    broadcast.

    >>> import anyarray as xp
    >>> xp.indices((2, 2)).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]

    Source: NumPy 2.4, numpy.indices.
    """
    lengths = as_shape("indices", "dimensions", dimensions)
    found: Any = np.indices(lengths, np.int64, sparse)  # type: ignore[call-overload]  # a bool
    return tuple([_brought(one, dtype) for one in found]) if sparse else _brought(found, dtype)


def _brought(host: np.ndarray[Any, Any], dtype: DTypeLike | None = None) -> Array:
    """A new ndarray as an Array on the chosen backend."""
    home = choice.chosen_home()
    found = wrap_owned(host, home) if home.backend.library == "numpy" else xp.asarray(host)
    return found if dtype is None else xp.astype(found, dtype, copy=False)


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Indices of the main diagonal of an array of `ndim` axes of length `n`.

    >>> import anyarray as xp
    >>> [one.tolist() for one in xp.diag_indices(3)]
    [[0, 1, 2], [0, 1, 2]]

    Source: NumPy 2.4, numpy.diag_indices.
    """
    return (xp.arange(as_integer("diag_indices", "n", n), dtype=xp.int64),) * as_integer("diag_indices", "ndim", ndim)


def diag_indices_from(arr: AnyArray) -> tuple[Array, ...]:
    """Indices of the main diagonal of `arr`, whose axes have one length.

    >>> import anyarray as xp
    >>> [one.tolist() for one in xp.diag_indices_from(xp.zeros((2, 2)))]
    [[0, 1], [0, 1]]

    Source: NumPy 2.4, numpy.diag_indices_from.
    """
    shape = as_array("diag_indices_from", "arr", arr).shape
    if len(shape) < 2 or len(set(shape)) > 1:
        raise errors.ArgumentValueError(
            f"diag_indices_from: arr must have 2 or more axes of one length, but is of shape {shape}"
        )
    return diag_indices(shape[0], len(shape))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """Indices of a matrix on and below its diagonal `k`.

    It has `n` rows and `m` columns; `m` defaults to `n`.

    >>> import anyarray as xp
    >>> [one.tolist() for one in xp.tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]

    Source: NumPy 2.4, numpy.tril_indices.
    """
    return _triangle("tril_indices", np.tril_indices, n, k, m)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """Indices of a matrix on and above its diagonal `k`.

    It has `n` rows and `m` columns; `m` defaults to `n`.

    >>> import anyarray as xp
    >>> [one.tolist() for one in xp.triu_indices(2)]
    [[0, 0, 1], [0, 1, 1]]

    Source: NumPy 2.4, numpy.triu_indices.
    """
    return _triangle("triu_indices", np.triu_indices, n, k, m)


def tril_indices_from(arr: AnyArray, k: int = 0) -> tuple[Array, ...]:
    """Indices of the matrix `arr` on and below its diagonal `k`.

    >>> import anyarray as xp
    >>> [one.tolist() for one in xp.tril_indices_from(xp.zeros((2, 2)))]
    [[0, 1, 1], [0, 0, 1]]

    Source: NumPy 2.4, numpy.tril_indices_from.
    """
    n, m = _matrix_shape("tril_indices_from", arr)
    return _triangle("tril_indices_from", np.tril_indices, n, k, m)


def triu_indices_from(arr: AnyArray, k: int = 0) -> tuple[Array, ...]:
    """Indices of the matrix `arr` on and above its diagonal `k`.

    >>> import anyarray as xp
    >>> [one.tolist() for one in xp.triu_indices_from(xp.zeros((2, 2)))]
    [[0, 0, 1], [0, 1, 1]]

    Source: NumPy 2.4, numpy.triu_indices_from.
    """
    n, m = _matrix_shape("triu_indices_from", arr)
    return _triangle("triu_indices_from", np.triu_indices, n, k, m)


def _matrix_shape(function: str, arr: AnyArray) -> tuple[int, ...]:
    shape = as_array(function, "arr", arr).shape
    if len(shape) != 2:
        raise errors.ArgumentValueError(f"{function}: arr must have 2 axes, not {len(shape)}")
    return shape


def _triangle(function: str, theirs: Callable[..., Any], n: int, k: int, m: int | None) -> tuple[Array, ...]:
    rows, diagonal = as_integer(function, "n", n), as_integer(function, "k", k)
    found = theirs(rows, diagonal, rows if m is None else as_integer(function, "m", m))
    return tuple(map(_brought, found))


def mask_indices(n: int, mask_func: Callable[[Array, Any], Any], k: Any = 0) -> tuple[Array, ...]:
    """Indices of a square matrix where a function of it is not zero.

    `mask_func` is called with an (n, n) array of ones and `k`, as `xp.tril` and `xp.triu` accept.

    >>> import anyarray as xp
    >>> [one.tolist() for one in xp.mask_indices(3, xp.triu, 1)]
    [[0, 0, 1], [1, 2, 2]]

    Source: NumPy 2.4, numpy.mask_indices.
    """
    length = as_integer("mask_indices", "n", n)
    return xp.nonzero(mask_func(xp.ones((length, length), dtype=xp.int64), k))


def ix_(*args: AnyArray) -> tuple[Array, ...]:
    """Vectors of indices, shaped so that they index their grid.

    `x[xp.ix_(rows, columns)]` has the elements in these rows and columns. A mask means the positions where it is true.
    Raises ValueError unless each argument is a vector.

    >>> import anyarray as xp
    >>> x = xp.reshape(xp.arange(6), (2, 3))
    >>> x[xp.ix_(xp.asarray([0, 1]), xp.asarray([0, 2]))].tolist()
    [[0, 2], [3, 5]]

    Source: NumPy 2.4, `numpy.ix_`.
    """
    found: list[Array] = []
    for i, given in enumerate(args):
        one = own_array("ix_", f"args[{i}]", xp.asarray(list(given)) if isinstance(given, (list, tuple)) else given)
        if one.ndim != 1:
            raise errors.ArgumentValueError(f"ix_: args[{i}] must have 1 axis, not {one.ndim}")
        if one.dtype.kind == "b":
            one = xp.nonzero(one)[0]
        elif one.size == 0:
            one = xp.astype(one, xp.int64)
        found.append(xp.reshape(one, (*[1] * i, -1, *[1] * (len(args) - i - 1))))
    return tuple(found)
