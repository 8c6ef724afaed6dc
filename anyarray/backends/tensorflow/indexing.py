"""Indexing functions: `x[key]`, its assignment, take and take_along_axis.

A plan is cached for each form of key and shape of array. It has two steps: a StridedSlice for ints, slices and new
axes, and one GatherV2 for all index arrays. A mask of k axes is an integer array along these axes merged into one, and
several arrays are one flat index into all of their axes. The axes of the index arrays go where NumPy puts them: in
place of the arrays if these are adjacent or separated by ints only, else in front. An Ellipsis separates them even if
it stands for no axis.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from anyarray._base import dtypes
from anyarray._memory import alignment
from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.axes import axis_in
from anyarray.backends._shared.keys import completed, require_within
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._derivatives import is_for_xla, written, written_last
from anyarray.backends.tensorflow._device import is_for_cpu, is_on_host, known_range
from anyarray.backends.tensorflow._host import FEW, from_host, is_eager, on_host, raw
from anyarray.backends.tensorflow._kernel import (
    NATIVE,
    REFUSALS,
    Tensor,
    bitcast,
    cast,
    constant,
    kind_of,
    may_be_differentiated,
    name_of,
    shape_of,
)
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow._shapes import Length, length_tensor, lengths, shape_tensor, sizes_of
from anyarray.backends.tensorflow.manipulation import broadcast_to, flattened, moveaxis, stretched

Shape = tuple[int | None, ...]
Check = Callable[[], None]
_Form = tuple[Any, ...]


_RANK: Final = 8
"""The largest rank of the kernels of StridedSlice, TensorStridedSliceUpdate and SelectV2."""

_WRONG_ON_GPU: Final = frozenset({"int16", "uint16"})
"""dtypes for which a GPU's TensorStridedSliceUpdate, of TensorFlow 2.21 on an H100, wrote something else for int16."""

_FAR: Final = 2**62
"""A bound past the end of every axis."""

_BOOL: Final = NATIVE["bool"]
_INT32: Final = NATIVE["int32"]
_INT64: Final = NATIVE["int64"]

_PLANS: Final = 4096
"""Size of the cache of plans. It is bounded, as a loop over the rows of an array makes one for each row."""


class _Array(NamedTuple):
    """What a plan depends on of an array in a key.

    `shape` is that of a mask; a plan does not depend on the shape of an integer array.
    """

    is_mask: bool
    shape: Shape = ()


class _Cut(NamedTuple):
    """What StridedSlice does to one axis."""

    begin: int
    end: int
    stride: int
    begins_at_edge: bool = False
    ends_at_edge: bool = False
    is_new: bool = False
    is_dropped: bool = False


_WHOLE: Final = _Cut(0, 0, 1, begins_at_edge=True, ends_at_edge=True)
_NEW: Final = _Cut(0, 0, 1, is_new=True)


class _Plan(NamedTuple):
    """How to index an array: first the cuts, then the arrays of the key."""

    cuts: tuple[_Cut, ...]
    """One for each axis up to the last one that is cut."""
    bounds: tuple[Tensor, ...]
    """begin, end and strides of StridedSlice."""
    masks: tuple[int, ...]
    """Its begin, end, ellipsis, new axis and shrink axis masks."""
    shape: Shape
    """The shape after the cuts."""
    spans: tuple[range, ...] = ()
    """The axes that each array indexes, in that shape."""
    axis: int = 0
    """The first indexed axis, once the indexed axes are adjacent."""
    is_moved: bool = False
    """Whether the axes of the index arrays move from there to the front."""


def _form_of(key: Any) -> tuple[_Form, list[Tensor]]:
    """A hashable form of `key`, and the arrays in it."""
    form: list[Any] = []
    arrays: list[Tensor] = []
    for item in key if isinstance(key, tuple) else (key,):
        if isinstance(item, slice):
            form.append((item.start, item.stop, item.step))
        elif item is None or item is Ellipsis or isinstance(item, int):
            form.append(item)
        elif item.dtype is _BOOL:
            form.append(_Array(True, shape_of(item)))
            arrays.append(item)
        elif not shape_of(item) and is_on_host(item):
            form.append(int(on_host(item)))
        else:
            form.append(_Array(False))
            arrays.append(item)
    return tuple(form), arrays


@functools.lru_cache(_PLANS)
def _plan(form: _Form, shape: Shape) -> _Plan:
    """The plan for keys of one form and arrays of one shape.

    Raises IndexError if they do not match.
    """
    cuts: list[_Cut] = []
    after: list[int | None] = []
    spans: list[range] = []
    axis = 0
    for item in _expanded(form, len(shape)):
        if item is None:
            cuts.append(_NEW)
            after.append(1)
        elif isinstance(item, int):
            cuts.append(_Cut(_position(item, shape[axis], axis), 0, 1, is_dropped=True))
            axis += 1
        elif not isinstance(item, _Array):
            cut, size = _cut_by(slice(*item), shape[axis])
            cuts.append(cut)
            after.append(size)
            axis += 1
        elif item == _Array(True):  # a 0-d mask indexes a new axis
            cuts.append(_NEW)
            spans.append(range(len(after), len(after) + 1))
            after.append(1)
        else:
            count = len(item.shape) if item.is_mask else 1
            sizes = shape[axis : axis + count]
            for k, wanted in enumerate(item.shape):
                # By the standard any axis of a mask may have the length 0: it selects nothing.
                if wanted not in (0, sizes[k], None) and sizes[k] is not None:
                    raise IndexError(f"the mask has the size {wanted} along axis {axis + k}, the array {sizes[k]}")
            cuts += [_WHOLE] * count
            spans.append(range(len(after), len(after) + count))
            after += sizes
            axis += count
    while cuts and cuts[-1] == _WHOLE:
        cuts.pop()
    bounds, masks = _arguments(cuts)
    plan = _Plan(tuple(cuts), bounds, masks, tuple(after))
    if not spans:
        return plan
    advanced = [place for place, item in enumerate(form) if isinstance(item, int | _Array)]
    is_together = advanced[-1] - advanced[0] == len(advanced) - 1
    axis = spans[0].start if _are_neighbours(spans) else 0
    return plan._replace(spans=tuple(spans), axis=axis, is_moved=axis > 0 and not is_together)


def _expanded(form: _Form, rank: int) -> list[Any]:
    """The items of `form` for all axes of an array.

    Full slices replace the Ellipsis, or are appended.
    """

    def width(item: Any) -> int:
        return (
            len(item.shape) if isinstance(item, _Array) and item.is_mask else item is not None and item is not Ellipsis
        )

    return completed(form, rank, width, (None, None, None))


def _position(index: int, size: int | None, axis: int) -> int:
    if size is None:
        return index
    require_within(index, size, axis)
    return index % size


def _cut_by(wanted: slice, size: int | None) -> tuple[_Cut, int | None]:
    """The cut of an axis of `size` by a slice, and the resulting size."""
    if size is None:
        if wanted == slice(None):
            return _WHOLE, None
        begin, end, stride = (
            max(-_FAR, min(bound, _FAR))
            for bound in (wanted.start or 0, wanted.stop or 0, 1 if wanted.step is None else wanted.step)
        )
        return _Cut(begin, end, stride, begins_at_edge=wanted.start is None, ends_at_edge=wanted.stop is None), None
    start, stop, step = wanted.indices(size)
    count = len(range(start, stop, step))
    if count <= 1:  # the step may overflow int64
        start, stop, step = (start, start + 1, 1) if count else (0, 0, 1)
    if count == size and step == 1:
        return _WHOLE, size
    return _Cut(start, max(stop, 0), step, ends_at_edge=stop < 0), count


def _arguments(cuts: Sequence[_Cut]) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
    """Bounds and masks of StridedSlice."""
    if not cuts:
        return (), ()
    begin, end, strides, *flags = zip(*cuts, strict=True)
    begin_mask, end_mask, new_axis_mask, shrink_axis_mask = (
        sum(flag << place for place, flag in enumerate(column)) for column in flags
    )
    name = "int32" if max(map(abs, begin + end + strides)) < 2**31 else "int64"
    # Only the plan keeps it: a loop over rows would evict everything else from the cache of constants.
    bounds = constant.__wrapped__(begin, name), constant(end, name), constant(strides, name)
    return bounds, (begin_mask, end_mask, 0, new_axis_mask, shrink_axis_mask)


def _are_neighbours(spans: Sequence[range]) -> bool:
    return all(before.stop == after.start for before, after in itertools.pairwise(spans))


def _cut(x: Tensor, plan: _Plan) -> Tensor:
    """`x` after the ints, slices and new axes of its plan."""
    if not plan.cuts:
        return x
    shape = shape_of(x)
    if len(shape) <= _RANK or None in shape:
        return ops.StridedSlice(x, *plan.bounds, *plan.masks)
    axis = 0
    for cut in plan.cuts:
        if cut.is_dropped:
            x = ops.GatherV2(x, constant(cut.begin), constant(axis))
            continue
        if cut.is_new:
            x = ops.ExpandDims(x, constant(axis))
        elif cut != _WHOLE:
            positions = range(cut.begin, -1 if cut.ends_at_edge else cut.end, cut.stride)
            x = ops.GatherV2(x, constant(tuple(positions)), constant(axis))
        axis += 1
    return x


def _merged(x: Tensor, plan: _Plan) -> tuple[Tensor, list[Length]]:
    """`x` with the indexed axes merged, and the number indexed by each array.

    The merged axis is `plan.axis`. The number is that of the elements along the array's axes.
    """
    axes = [axis for span in plan.spans for axis in span]
    if not _are_neighbours(plan.spans):
        x = ops.Transpose(x, constant((*axes, *(axis for axis in range(len(plan.shape)) if axis not in axes))))
    sizes = lengths(x)
    if len(axes) == 1:
        return x, [sizes[plan.axis]]
    ends = list(itertools.accumulate(map(len, plan.spans), initial=plan.axis))
    chosen = [math.prod(sizes[begin:end]) for begin, end in itertools.pairwise(ends)]
    return ops.Reshape(x, shape_tensor([*sizes[: ends[0]], math.prod(chosen), *sizes[ends[-1] :]])), chosen


def _index(arrays: Sequence[Tensor], sizes: Sequence[Length]) -> tuple[Tensor, Check]:
    """One flat index for masks of, or integers into, axes of `sizes`.

    It is not negative. An integer out of bounds gives a flat index out of bounds if only a running graph can see it; if
    only a device can, the check, to be called once the index is used, raises IndexError.
    """
    if len(arrays) == 1 and _is_index(arrays[0], sizes[0]):
        return arrays[0], _nothing_to_check
    if all(isinstance(size, int) and is_on_host(array) for array, size in zip(arrays, sizes, strict=True)):
        return _index_on_host(arrays, sizes), _nothing_to_check
    index = is_lost = None
    for array, size in zip(arrays, sizes, strict=True):
        count = length_tensor(size)
        if array.dtype is _BOOL:
            positions = flattened(ops.Where(flattened(array)))
        else:
            positions = cast(array, "int64")
            if kind_of(array) == "i":  # the greatest of uint64 are negative now, and stay so
                is_from_end = cast(ops.Less(positions, constant(0, "int64")), "int64")
                positions = ops.AddV2(positions, ops.Mul(is_from_end, count))
            if (len(arrays) > 1 or is_eager(positions)) and not _is_known_inside(array, size):
                is_out = _is_outside(positions, size)
                is_lost = is_out if is_lost is None else ops.LogicalOr(is_lost, is_out)
        index = positions if index is None else ops.AddV2(ops.Mul(index, count), positions)
    if is_lost is None:
        return index, _nothing_to_check
    if is_eager(is_lost):
        return index, _check_on_device(is_lost, arrays, sizes)
    return ops.SelectV2(is_lost, length_tensor(math.prod(sizes)), index), _nothing_to_check


def _is_known_inside(array: Tensor, size: Length) -> bool:
    """Whether integers came from the host and are in bounds of an axis."""
    known = known_range(array)
    return known is not None and isinstance(size, int) and -size <= known[0] and known[1] < size


def _check_on_device(is_lost: Tensor, arrays: Sequence[Tensor], sizes: Sequence[int]) -> Check:
    """A check that waits for the device, and is computed there from now on.

    What is launched between costs no more time. The indices are brought over only if one is out of bounds.
    """
    is_any = ops.Any(is_lost, constant(tuple(range(is_lost.shape.rank))))

    def check() -> None:
        if is_any:
            for array, size in zip(arrays, sizes, strict=True):
                if array.dtype is not _BOOL:
                    _is_from_front(np.asarray(array), size)

    return check


def _then(check: Check, function: Callable[..., Tensor], *args: Any) -> Tensor:
    """The result of `function`, and after that the check.

    Ops without a kernel for a GPU run on the CPU, and raise there for an index out of bounds.
    """
    try:
        y = function(*args)
    except REFUSALS:
        check()
        raise
    check()
    return y


def _nothing_to_check() -> None:
    """A check of an index in bounds, or of one that a graph computes."""


def _is_outside(positions: Tensor, size: Length) -> Tensor:
    """Whether positions are out of bounds of an axis of length `size`."""
    if is_eager(positions):  # as unsigned numbers, those below 0 are the greatest
        return ops.GreaterEqual(bitcast(positions, "uint64"), constant(size, "uint64"))
    count = length_tensor(size)
    return ops.LogicalOr(ops.Less(positions, constant(0, "int64")), ops.LogicalNot(ops.Less(positions, count)))


def _chosen(x: Tensor, index: Tensor, axis: int, batched: int = 0) -> Tensor:
    """Elements of `x` along `axis` at `index`, with `batched` batch axes.

    TensorFlow's kernels for a CPU check bounds. XLA clips the index, and a GPU reads 0; there an element out of bounds
    is NaN in a graph, as in JAX.
    """
    taken = ops.GatherV2(x, index, constant(axis), batched)
    if is_eager(index) or (is_for_cpu(taken) and not is_for_xla.get()):
        return taken
    is_lost = _is_outside(cast(index, "int64"), lengths(x)[axis])
    if len(shape_of(taken)) > len(shape_of(index)):
        after = len(shape_of(x)) - axis - 1
        is_lost = ops.Reshape(is_lost, shape_tensor([*lengths(index), *[1] * after]))
    return ops.SelectV2(is_lost, constant(_nothing(name_of(x)), name_of(x)), taken)


@functools.cache
def _nothing(name: str) -> Any:
    """Fill value for an element out of bounds, as in JAX."""
    kind = dtypes.KNOWN[name].kind
    if kind in "iu":
        limits = np.iinfo(name)
        return limits.min if kind == "i" else limits.max
    return True if kind == "b" else math.nan


def _is_index(array: Tensor, size: Length) -> bool:
    """Whether every kernel accepts `array` as an index without conversion.

    Raises IndexError if an element is known to be out of bounds.
    """
    dtype = array.dtype
    return (
        (dtype is _INT64 or dtype is _INT32)
        and isinstance(size, int)
        and is_on_host(array)
        and _is_from_front(on_host(array), size)
    )


def _index_on_host(arrays: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """As `_index`, by NumPy, with IndexError for what is out of bounds."""
    index, *others = (_positions(on_host(array), size) for array, size in zip(arrays, sizes, strict=True))
    for positions, size in zip(others, sizes[1:], strict=True):
        try:
            index = index * size + positions
        except ValueError as error:
            raise IndexError(f"index arrays do not broadcast: {error}") from None
    return from_host(index, arrays[0])


def _is_from_front(values: npt.NDArray[Any], size: int) -> bool:
    """Whether no index into an axis of `size` is negative.

    Raises IndexError if one is out of bounds.
    """
    if not values.size:
        return True
    lowest, highest = values.min(), values.max()
    if lowest < -size or highest >= size:
        wrong = highest if lowest >= -size else lowest
        raise IndexError(f"index {wrong} is out of bounds for an axis with size {size}")
    return bool(lowest >= 0)


def _positions(values: npt.NDArray[Any], size: int) -> npt.NDArray[np.int64]:
    """A mask or integers as non-negative positions in an axis of `size`."""
    if values.dtype == np.bool_:
        return np.flatnonzero(values)
    is_from_front = _is_from_front(values, size)
    values = values.astype(np.int64, copy=False)
    return values if is_from_front else np.where(values < 0, values + size, values)


def getitem(x: Tensor, key: Any) -> Tensor:
    """`x[key]`."""
    form, arrays = ((key,), ()) if type(key) is int else _form_of(key)
    if all(map(is_on_host, (x, *arrays))) and not may_be_differentiated(x):
        if arrays:
            _plan(form, shape_of(x))  # raises our own error for a mask of a wrong shape
        return from_host(on_numpy.getitem(raw(x), _on_host(key)), x)
    if not tf.executing_eagerly() and (cut := _first_unknown(key, x)) is not None:
        axis, bounds, others = cut
        return getitem(_sliced(x, axis, bounds), others)
    plan = _plan(form, shape_of(x))
    x = _cut(x, plan)
    if not arrays:
        return x
    x, sizes = _merged(x, plan)
    index, check = _index(arrays, sizes)
    x = _then(check, _chosen, x, index, plan.axis)
    if not plan.is_moved:
        return x
    begin, end = plan.axis, plan.axis + len(index.shape)
    return ops.Transpose(x, constant((*range(begin, end), *range(begin), *range(end, len(x.shape)))))


def setitem(x: Tensor, key: Any, value: Tensor, exclusive: bool) -> Tensor:
    """A copy of `x` with `value` at `key`.

    Tensors are immutable, so `exclusive` has no effect.
    """
    if value.dtype is not x.dtype:
        value = cast(value, name_of(x))
    if not tf.executing_eagerly() and (cut := _first_unknown(key, x)) is not None:
        axis, bounds, others = cut
        places = _sliced(
            ops.Range(constant(0, "int64"), length_tensor(lengths(x)[axis]), constant(1, "int64")), 0, bounds
        )
        part = moveaxis(setitem(ops.GatherV2(x, places, constant(axis)), others, value, exclusive), axis, 0)
        return moveaxis(written(moveaxis(x, axis, 0), places, part), 0, axis)
    form, arrays = _form_of(key)
    by_numpy = all(map(is_on_host, (x, value, *arrays))) and not may_be_differentiated(x)
    if by_numpy and not arrays and not _is_whole(form):
        return _written_on_host(x, key, value)
    shape = shape_of(x)
    plan = _plan(form, shape)
    is_choice = _is_choice(plan, arrays, shape, value)
    if by_numpy and arrays and not (is_choice and math.prod(x.shape) > FEW):
        return _written_on_host(x, key, value)
    if not arrays and len(shape) <= _RANK:
        value = _fitted(value, plan.shape)
        if not plan.cuts:
            return ops.BroadcastTo(value, sizes_of(x)) if len(shape) < 6 else stretched(value, lengths(x))
        if not is_eager(x) and None not in plan.shape:
            return _updated_in_graph(x, plan, value)
        begin, end, strides = plan.bounds
        return _cut_replaced(x, begin, end, strides, value, *plan.masks)
    if not arrays or plan.cuts or plan.spans[0].start or not _are_neighbours(plan.spans):
        # We apply the key to an array of flat positions.
        places = ops.Range(constant(0, "int64"), ops.Size(x, NATIVE["int64"]), constant(1, "int64"))
        index = getitem(ops.Reshape(places, sizes_of(x)), key)
        return _scattered(x, flattened(x), index, value, _may_repeat(arrays))
    if is_choice:
        tail = shape[plan.spans[-1].stop :]
        mask = ops.Reshape(arrays[0], shape_tensor([*lengths(arrays[0]), *(1 for _ in tail)])) if tail else arrays[0]
        return ops.SelectV2(mask, _fitted(value, tail), x)
    rows, sizes = _merged(x, plan)
    index, check = _index(arrays, sizes)
    return _then(check, _scattered, x, rows, index, value, _may_repeat(arrays))


def _first_unknown(key: Any, x: Tensor) -> tuple[int, slice, Any] | None:
    """The first slice with a bound that only a running graph knows.

    It is its axis, the slice, and the key with a full slice in its place; None if there is none.
    """
    entries = key if type(key) is tuple else (key,)
    for place, wanted in enumerate(entries):
        if isinstance(wanted, slice) and any(map(tf.is_tensor, (wanted.start, wanted.stop, wanted.step))):
            after = sum(map(_axes_of, entries[place:]))
            is_after_ellipsis = any(one is Ellipsis for one in entries[:place])
            axis = x.shape.rank - after if is_after_ellipsis else sum(map(_axes_of, entries[:place]))
            return axis, wanted, (*entries[:place], slice(None), *entries[place + 1 :])
    return None


def _axes_of(entry: Any) -> int:
    """How many axes an entry of a key indexes."""
    if entry is None or entry is Ellipsis:
        return 0
    is_mask = tf.is_tensor(entry) and entry.dtype is _BOOL
    return entry.shape.rank if is_mask else 1


def _sliced(x: Tensor, axis: int, wanted: slice) -> Tensor:
    """`x` after a slice of `axis` with bounds that the graph computes."""
    others = (1 << axis) - 1
    masks = [others | (bound is None) << axis for bound in (wanted.start, wanted.stop)]
    ends = ([0] * axis + [0 if bound is None else bound] for bound in (wanted.start, wanted.stop))
    strides = [1] * axis + [1 if wanted.step is None else wanted.step]
    bounds = [ops.Pack([length_tensor(n) for n in one], 0) for one in (*ends, strides)]
    y = ops.StridedSlice(x, *bounds, *masks, 0, 0, 0)
    shape = shape_of(x)
    y.set_shape([*shape[:axis], None, *shape[axis + 1 :]])  # for an unknown step TensorFlow knows no shape at all
    return y


def _written_on_host(x: Tensor, key: Any, value: Tensor) -> Tensor:
    """A copy of `x` with `value` at `key`, written by NumPy."""
    changed = alignment.copied(raw(x))
    return from_host(on_numpy.setitem(changed, _on_host(key), raw(value), True), x)


def _on_host(key: Any) -> Any:
    """A key of ints, slices and eager tensors as a key for NumPy."""
    if type(key) is int:
        return key
    entries = [dtypes.signed(raw(k)) if is_eager(k) else k for k in (key if type(key) is tuple else (key,))]
    return entries[0] if len(entries) == 1 else tuple(entries)


def _is_whole(form: _Form) -> bool:
    """Whether a key without arrays selects all of an array, unchanged."""
    return all(item in (Ellipsis, (None, None, None)) for item in form)


def _is_choice(plan: _Plan, arrays: Sequence[Tensor], shape: Shape, value: Tensor) -> bool:
    """Whether the assignment is a `where` of the value and the array.

    The key must be one mask along the first axes, and the value the same at each True.
    """
    return (
        len(arrays) == 1
        and arrays[0].dtype is _BOOL
        and 0 not in shape_of(arrays[0])
        and not plan.cuts
        and not plan.spans[0].start
        and len(shape) <= _RANK
        and _reach(value) <= len(shape) - plan.spans[-1].stop
    )


def _may_repeat(arrays: Sequence[Tensor]) -> bool:
    """Whether a key with these arrays may select a position twice."""
    return any(array.dtype is not _BOOL for array in arrays)


def _updated_in_graph(x: Tensor, plan: _Plan, value: Tensor) -> Tensor:
    """`x` with `value` at the cuts of `plan`.

    XLA cannot compile a function that broadcasts the value, writes an empty one, or has a step. So the value is
    broadcast here, and elements between the steps are written with their old values.
    """
    if 0 in plan.shape:
        return x
    value = broadcast_to(value, plan.shape)
    cuts: list[_Cut] = []
    is_written = None
    axis = 0
    for cut in plan.cuts:
        step = abs(cut.stride)
        if cut.stride != 1:
            places = range(cut.begin, -1 if cut.ends_at_edge else cut.end, cut.stride)
            if cut.stride < 0:
                value = ops.ReverseV2(value, constant((axis,)))
            cuts.append(_Cut(min(places), max(places) + 1, 1))
        else:
            cuts.append(cut)
        if step > 1:
            value = _spread(value, axis, step)
            length = shape_of(value)[axis]
            is_step = ops.Equal(
                ops.FloorMod(ops.Range(constant(0), constant(length), constant(1)), constant(step)), constant(0)
            )
            is_step = ops.Reshape(is_step, constant((length, *[1] * (len(plan.shape) - axis - 1))))
            is_written = is_step if is_written is None else ops.LogicalAnd(is_written, is_step)
        axis += not cut.is_dropped
    (begin, end, strides), masks = _arguments(cuts)
    if is_written is not None:
        value = ops.SelectV2(is_written, value, ops.StridedSlice(x, begin, end, strides, *masks))
    return _cut_replaced(x, begin, end, strides, value, *masks)


def _cut_replaced(x: Tensor, begin: Tensor, end: Tensor, strides: Tensor, value: Tensor, *masks: int) -> Tensor:
    """TensorStridedSliceUpdate, by way of int64 where its kernel is wrong."""
    name = name_of(x)
    if name not in _WRONG_ON_GPU or is_for_cpu(x):
        return ops.TensorStridedSliceUpdate(x, begin, end, strides, value, *masks)
    wide = ops.TensorStridedSliceUpdate(cast(x, "int64"), begin, end, strides, cast(value, "int64"), *masks)
    return cast(wide, name)


def _spread(x: Tensor, axis: int, step: int) -> Tensor:
    """`x` with `step - 1` zeros between adjacent elements along `axis`."""
    shape: tuple[Any, ...] = shape_of(x)  # all ints here
    before, size, after = shape[:axis], shape[axis], shape[axis + 1 :]
    n_before, n_after = math.prod(before), math.prod(after)
    rows = ops.Pad(
        ops.Reshape(x, constant((n_before, size, 1, n_after))), constant(((0, 0), (0, 0), (0, step - 1), (0, 0)))
    )
    flat = ops.Reshape(rows, constant((n_before, size * step, n_after)))
    length = (size - 1) * step + 1
    # Not Slice: for XLA, its gradient has no gradient.
    kept = ops.StridedSlice(flat, *map(constant, ((0, 0, 0), (n_before, length, n_after), (1, 1, 1))), 0, 0, 0, 0, 0)
    return ops.Reshape(kept, constant((*before, length, *after)))


def _scattered(x: Tensor, rows: Tensor, index: Tensor, value: Tensor, may_repeat: bool) -> Tensor:
    """`x` with `value` at `index` along the first axis of its `rows`.

    `rows` is `x` in another shape; the result has the shape of `x`.
    """
    tail = lengths(rows)[1:]
    shape = shape_of(index) + shape_of(rows)[1:]
    value = _fitted(value, shape)
    if 0 in shape:
        return x
    if None in shape:
        value = stretched(value, [*lengths(index), *tail])
    elif shape_of(value) != shape:
        value = broadcast_to(value, shape)
    value = ops.Reshape(value, shape_tensor([math.prod(lengths(index)), *tail]))
    index = flattened(index)
    if may_repeat and kind_of(x) in "fc" and may_be_differentiated(x):
        rows = written_last(rows, index, value)
    else:
        rows = written(rows, index, value, may_repeat=may_repeat)
    return ops.Reshape(rows, sizes_of(x))


def _reach(value: Tensor) -> int:
    """Number of axes of `value`, without leading axes of size 1."""
    shape = shape_of(value)
    return next((len(shape) - axis for axis, size in enumerate(shape) if size != 1), 0)


def _fitted(value: Tensor, shape: Shape) -> Tensor:
    """`value` without the leading axes that `shape` lacks.

    Raises ValueError if it does not broadcast to `shape`.
    """
    given = shape_of(value)
    if not given:
        return value
    extra = max(len(given) - len(shape), 0)
    wanted = (1,) * extra + shape[len(shape) - len(given) + extra :]
    for have, want in zip(given, wanted, strict=True):
        if have not in (1, want, None) and want is not None:
            raise ValueError(f"cannot broadcast a value of shape {given} to the indexed shape {shape}")
    return ops.Squeeze(value, list(range(extra))) if extra else value


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    shape = shape_of(x)
    rank = len(shape)
    if axis is None:
        if rank != 1:
            raise ValueError(f"take: axis must be given for an array with {rank} axes")
        axis = 0
    axis = axis_in(axis, rank)
    if is_on_host(indices) and 0 not in shape:
        try:
            taken = ops.GatherV2(x, indices, constant(axis))
            if is_on_host(taken):
                return taken  # only the CPU kernel checks that each index is non-negative and in bounds
        except REFUSALS:
            pass
    index, check = _index((_integers(indices),), (lengths(x)[axis],))
    return _then(check, _chosen, x, index, axis)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    last = len(x.shape) - 1
    if len(indices.shape) != last + 1:
        raise ValueError(f"take_along_axis: x has {last + 1} axes, but indices {len(indices.shape)}")
    axis = axis_in(axis, last + 1)
    index, check = _index((_integers(indices),), (lengths(x)[axis],))
    return _then(check, gathered, x, index, axis)


def gathered(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """Elements of `x` along `axis` at `index`, of the same rank.

    `index` must not be negative.
    """
    last = len(x.shape) - 1
    if axis != last:
        x, index = moveaxis(x, axis, last), moveaxis(index, axis, last)
    shape: tuple[Any, ...] = shape_of(x)
    wanted: tuple[Any, ...] = shape_of(index)
    # Unknown lengths are assumed equal; GatherV2 checks them when it runs.
    if shape[:-1] != wanted[:-1] and None not in shape + wanted:
        common = np.broadcast_shapes(shape[:-1], wanted[:-1])
        x, index = broadcast_to(x, (*common, shape[-1])), broadcast_to(index, (*common, wanted[-1]))
    x = _chosen(x, index, last, last)
    return x if axis == last else moveaxis(x, last, axis)


def _integers(indices: Tensor) -> Tensor:
    if kind_of(indices) not in "iu":
        raise TypeError(f"indices must be of an integer dtype, not {name_of(indices)}")
    return indices
