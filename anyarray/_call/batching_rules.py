"""Batching rules: one call that computes all elements of a batch.

A rule gets the batch, the function of the home below and the arguments, at least one of which has the batch axis. It
returns a stack, or a tuple of them. Any exception makes the caller loop over the elements instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from anyarray._call.batching import Batch, Batched, Function, rule_of, shifted
from anyarray._registry.home import POWERS, Native

Axes = int | Sequence[int] | None


def _elementwise(batch: Batch, f: Function, *xs: Any, **options: Any) -> Native:
    ndim = max([batch.ndim_of(x) for x in xs if type(x) not in _PLAIN])
    return f(*[x if type(x) in _PLAIN else batch.aligned(x, ndim) for x in xs], **options)


_PLAIN: Final = frozenset({type(None), bool, int, float, complex})
"""Classes of what is no array among the arguments of an elementwise function."""


def _converted(batch: Batch, f: Function, x: Native, *args: Any, **options: Any) -> Native:
    return f(batch.stack_of(x), *args, **options)


def _reduced(batch: Batch, f: Function, x: Native, *, axis: Axes = None, keepdims: bool = False, **options: Any) -> Any:
    if not batch.ndim_of(x):
        if axis not in (None, ()):
            raise IndexError(axis)
        return f(batch.below.expand_dims(batch.stack_of(x), 1), axis=1, keepdims=False, **options)
    return f(batch.stack_of(x), axis=batch.axes_of(x, axis), keepdims=keepdims, **options)


def _extreme(batch: Batch, f: Function, x: Native, *, axis: int | None = None, keepdims: bool = False) -> Native:
    if axis is not None:
        return f(batch.stack_of(x), axis=batch.axes_of(x, axis), keepdims=keepdims)
    found = f(batch.flattened(x), axis=1, keepdims=False)
    return batch.below.reshape(found, (batch.length, *[1] * batch.ndim_of(x))) if keepdims else found


def _along(batch: Batch, f: Function, x: Native, *, axis: int | None = -1, **options: Any) -> Native:
    if axis is None and batch.ndim_of(x) != 1:
        raise IndexError(axis)
    return f(batch.stack_of(x), axis=batch.axes_of(x, 0 if axis is None else axis), **options)


def _differences(batch: Batch, f: Function, x: Native, *, axis: int = -1, **options: Any) -> Native:
    ends = {name: batch.stack_of(options.pop(name)) for name in ("prepend", "append") if options.get(name) is not None}
    return f(batch.stack_of(x), axis=batch.axes_of(x, axis), **options, **ends)


def _repeated(batch: Batch, f: Function, x: Native, repeats: Any, *, axis: int | None = None) -> Native:
    if batch.holds(repeats):
        batch.refuse("repeat")
    if axis is None:
        return f(batch.flattened(x), repeats, axis=1)
    return f(batch.stack_of(x), repeats, axis=batch.axes_of(x, axis))


def _rolled(batch: Batch, f: Function, x: Native, shift: Any, *, axis: Axes = None) -> Native:
    if axis is not None:
        return f(batch.stack_of(x), shift, axis=batch.axes_of(x, axis))
    return batch.below.reshape(f(batch.flattened(x), shift, axis=1), (batch.length, *batch.shape_of(x)))


def _product(batch: Batch, f: Function, x1: Native, x2: Native) -> Native:
    below, first, second = batch.below, batch.ndim_of(x1), batch.ndim_of(x2)
    if not first or not second:
        raise ValueError
    if not batch.holds(x2) and second == 2 and first == 1:
        return f(batch.stack_of(x1), x2)
    # A vector becomes a matrix of one row or one column.
    if first == 1:
        x1 = _expanded(batch, x1, -2)
    if second == 1:
        x2 = _expanded(batch, x2, -1)
    ndim = max(batch.ndim_of(x1), batch.ndim_of(x2))
    found = f(batch.aligned(x1, ndim), batch.aligned(x2, ndim))
    dropped = tuple([axis for axis, n in ((-2, first), (-1, second)) if n == 1])
    return below.squeeze(found, dropped) if dropped else found


def _expanded(batch: Batch, x: Native, axis: int) -> Native:
    """`x` with a new axis, counted from the end."""
    if batch.holds(x):
        return Batched(batch, batch.below.expand_dims(batch.stack_of(x), axis))
    return batch.below.expand_dims(x, axis)


def _contracted(batch: Batch, f: Function, x1: Native, x2: Native, *, axis: int = -1) -> Native:
    """For functions along an axis of two arrays that broadcast."""
    ndim = max(batch.ndim_of(x1), batch.ndim_of(x2))
    if not -min(batch.ndim_of(x1), batch.ndim_of(x2)) <= axis < 0:
        raise IndexError(axis)
    return f(batch.aligned(x1, ndim), batch.aligned(x2, ndim), axis=axis)


def _outer(batch: Batch, f: Function, x1: Native, x2: Native) -> Native:
    if batch.ndim_of(x1) != 1 or batch.ndim_of(x2) != 1:
        raise ValueError
    column, row = _expanded(batch, x1, -1), _expanded(batch, x2, -2)
    return batch.below.multiply(batch.aligned(column, 2), batch.aligned(row, 2))


def _of_matrices(batch: Batch, f: Function, x: Native, *args: Any, **options: Any) -> Any:
    """For functions of stacks of matrices: the batch axis is one more axis."""
    if not batch.holds(x) or any(map(batch.holds, (*args, *options.values()))):
        batch.refuse("linalg")
    if batch.ndim_of(x) < 2:
        raise ValueError
    return f(batch.stack_of(x), *args, **options)


def _solved(batch: Batch, f: Function, x1: Native, x2: Native) -> Native:
    is_vector = batch.ndim_of(x2) == 1
    if batch.ndim_of(x1) < 2 or not batch.ndim_of(x2):
        raise ValueError
    if is_vector:
        x2 = _expanded(batch, x2, -1)
    ndim = max(batch.ndim_of(x1), batch.ndim_of(x2))
    found = f(batch.aligned(x1, ndim), batch.aligned(x2, ndim))
    return batch.below.squeeze(found, -1) if is_vector else found


def _moved(batch: Batch, f: Function, x: Native, source: Any, destination: Any) -> Native:
    return f(batch.stack_of(x), batch.axes_of(x, source), batch.axes_of(x, destination))


def _permuted(batch: Batch, f: Function, x: Native, axes: Sequence[int]) -> Native:
    return f(batch.stack_of(x), (0, *batch.axes_of(x, tuple(axes))))


def _reshaped(batch: Batch, f: Function, x: Native, shape: Sequence[int], *, copy: bool | None = None) -> Native:
    lengths = list(shape)
    if -1 in lengths:
        known = math.prod([n for n in lengths if n != -1])
        lengths[lengths.index(-1)] = math.prod(batch.shape_of(x)) // known
    if math.prod(lengths) != math.prod(batch.shape_of(x)):
        raise ValueError
    return f(batch.stack_of(x), (batch.length, *lengths), copy=copy)


def _with_new_axes(batch: Batch, f: Function, x: Native, axis: int | Sequence[int]) -> Native:
    more = 1 if isinstance(axis, int) else len(axis)
    return f(batch.stack_of(x), shifted(axis, batch.ndim_of(x) + more))


def _squeezed(batch: Batch, f: Function, x: Native, axis: int | Sequence[int]) -> Native:
    return f(batch.stack_of(x), batch.axes_of(x, axis))


def _flipped(batch: Batch, f: Function, x: Native, *, axis: Axes = None) -> Native:
    return f(batch.stack_of(x), axis=batch.axes_of(x, axis))


def _tiled(batch: Batch, f: Function, x: Native, repetitions: Sequence[int]) -> Native:
    ndim = max(batch.ndim_of(x), len(repetitions))
    return f(batch.aligned(x, ndim), (1, *[1] * (ndim - len(repetitions)), *repetitions))


def _broadcast_to(batch: Batch, f: Function, x: Native, shape: Sequence[int]) -> Native:
    if len(shape) < batch.ndim_of(x):
        raise ValueError
    return f(batch.aligned(x, len(shape)), (batch.length, *shape))


def _broadcast(batch: Batch, f: Function, *xs: Native) -> list[Native]:
    shape = np.broadcast_shapes(*map(batch.shape_of, xs))
    return [_broadcast_to(batch, batch.below.broadcast_to, Batched(batch, batch.stack_of(x)), shape) for x in xs]


def _joined(batch: Batch, f: Function, xs: Sequence[Native], *, axis: int | None = 0) -> Native:
    if axis is None:
        return f(list(map(batch.flattened, xs)), axis=1)
    return f(list(map(batch.stack_of, xs)), axis=batch.axes_of(xs[0], axis))


def _stacked(batch: Batch, f: Function, xs: Sequence[Native], *, axis: int = 0) -> Native:
    return f(list(map(batch.stack_of, xs)), axis=shifted(axis, batch.ndim_of(xs[0]) + 1))


def _is_array(entry: Any) -> bool:
    return not (entry is None or entry is Ellipsis or type(entry) in (int, slice, tuple))


def _key(batch: Batch, key: Any) -> tuple[tuple[Any, ...], int | None]:
    """A key for the stack, and how many axes its only array has, if any.

    It is refused unless it is the same for all elements.
    """
    entries = key if type(key) is tuple else (key,)
    arrays = [one for one in entries if _is_array(one)]
    if arrays and (len(arrays) > 1 or int in map(type, entries) or batch.holds(arrays[0])):
        # An integer beside an array counts as an index array, and the axes of several index arrays come first in the
        # result, before the batch axis.
        batch.refuse("index")
    if arrays and batch.dtype(arrays[0]).kind == "b":
        batch.refuse("index")
    return (slice(None), *entries), batch.ndim_of(arrays[0]) if arrays else None


def _getitem(batch: Batch, f: Function, x: Native, key: Any) -> Native:
    if _is_array(key) and batch.holds(key) and batch.dtype(key).kind in "iu" and batch.ndim_of(x):
        index = key.stack
        rows = batch.below.arange(
            0, batch.length, 1, dtype=batch.below.dtype_of(index), device=batch.backend.native_device
        )
        return f(batch.stack_of(x), (batch.below.reshape(rows, (batch.length, *[1] * batch.ndim_of(key))), index))
    return f(batch.stack_of(x), _key(batch, key)[0])


def _setitem(batch: Batch, f: Function, x: Native, key: Any, value: Native, exclusive: bool) -> Native:
    below, shape = batch.below, batch.shape_of(x)
    if _is_array(key) and batch.dtype(key).kind == "b":
        if batch.shape_of(key) != shape or batch.ndim_of(value):
            batch.refuse("setitem")
        cast = below.astype(batch.aligned(value, len(shape)), batch.dtype_of(x))
        return below.where(batch.aligned(key, len(shape)), cast, batch.stack_of(x))
    entries, width = _key(batch, key)
    # Number of axes of the selection that is written to.
    ndim = len(shape) + sum(1 if one is None else -1 if type(one) is int else 0 for one in entries)
    ndim += 0 if width is None else width - 1
    if batch.ndim_of(value) > ndim:
        batch.refuse("setitem")
    # Not in place: a reference count says nothing about the array inside a batch.
    return f(batch.stack_of(x), entries, batch.aligned(value, ndim), False)


def _gathered(batch: Batch, f: Function, x: Native, indices: Native, *, axis: int | None = None) -> Native:
    if axis is None and batch.ndim_of(x) != 1:
        raise IndexError(axis)
    if not batch.holds(indices):
        return f(batch.stack_of(x), indices, axis=batch.axes_of(x, 0 if axis is None else axis))
    if batch.ndim_of(indices) != 1:
        batch.refuse("take")
    place = batch.axes_of(x, 0 if axis is None else axis)
    shape = [1] * (batch.ndim_of(x) + 1)
    shape[0], shape[place] = batch.length, batch.shape_of(indices)[0]
    return batch.below.take_along_axis(batch.stack_of(x), batch.below.reshape(indices.stack, tuple(shape)), axis=place)


def _gathered_along(batch: Batch, f: Function, x: Native, indices: Native, *, axis: int = -1) -> Native:
    if batch.ndim_of(x) != batch.ndim_of(indices):
        raise ValueError
    return f(batch.stack_of(x), batch.stack_of(indices), axis=batch.axes_of(x, axis))


def _searched(batch: Batch, f: Function, x: Native, values: Native, **options: Any) -> Native:
    if batch.holds(x) or any(map(batch.holds, options.values())):
        batch.refuse("searchsorted")
    return f(x, values.stack, **options)


def _counted(
    batch: Batch,
    f: Function,
    x: Native,
    weights: Native | None = None,
    minlength: int = 0,
    *,
    length: int | None = None,
) -> Native:
    if (
        length is None
        or batch.ndim_of(x) != 1
        or (weights is not None and batch.shape_of(weights) != batch.shape_of(x))
    ):
        batch.refuse("bincount")
    below, integer = batch.below, batch.backend.native_dtype("int64")

    def steps(start: int, stop: int, step: int) -> Native:
        return below.arange(start, stop, step, dtype=integer, device=batch.backend.native_device)

    width = length + 2  # each element counts in a range of its own, with a place at both ends for what is outside
    places = below.clip(below.astype(batch.stack_of(x), integer), steps(-1, 0, 1), steps(length, length + 1, 1))
    places = below.add(places, below.reshape(steps(1, batch.length * width + 1, width), (batch.length, 1)))
    added = None if weights is None else below.reshape(batch.stack_of(weights), (-1,))
    found = f(below.reshape(places, (-1,)), added, length=batch.length * width)
    return below.getitem(below.reshape(found, (batch.length, width)), (slice(None), slice(1, -1)))


def _is_member(batch: Batch, f: Function, x: Native, values: Native, **options: Any) -> Native:
    if batch.holds(values):
        batch.refuse("isin")
    return f(batch.stack_of(x), values, **options)


def _transformed(batch: Batch, f: Function, x: Native, *, axes: Axes = None, **options: Any) -> Native:
    sizes = options.get("s")
    if axes is None and sizes is not None:
        axes = tuple(range(batch.ndim_of(x) - len(sizes), batch.ndim_of(x)))
    return f(batch.stack_of(x), axes=batch.axes_of(x, axes), **options)


RULES: Final[dict[str, Function]] = {
    "elementwise": _elementwise,
    "conversion": _converted,
    "reduction": _reduced,
    "position": _extreme,
    "along an axis": _along,
    "differences": _differences,
    "repetition": _repeated,
    "roll": _rolled,
    "product": _product,
    "contraction": _contracted,
    "outer product": _outer,
    "matrices": _of_matrices,
    "equations": _solved,
    "moved axes": _moved,
    "permutation": _permuted,
    "reshape": _reshaped,
    "new axes": _with_new_axes,
    "squeeze": _squeezed,
    "flip": _flipped,
    "tiles": _tiled,
    "broadcast": _broadcast,
    "broadcast to": _broadcast_to,
    "join": _joined,
    "stack": _stacked,
    "gather": _gathered,
    "gather along an axis": _gathered_along,
    "search": _searched,
    "counts": _counted,
    "membership": _is_member,
    "transform of axes": _transformed,
}
"""The batching rules, by the value of `batch` in declarations."""

rule_of.update(
    {
        **dict.fromkeys(("duplicate", "exported", "plain", "stop_gradient"), _converted),
        **dict.fromkeys([name for name, _ in POWERS.values()], _elementwise),
        "getitem": _getitem,
        "setitem": _setitem,
    }
)
