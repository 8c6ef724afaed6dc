"""Shapes: how elements are arranged."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import dask.array as da
import numpy as np

from anyarray.backends.dask._kernel import Axis, Native, axes_within, axis_within, known, promoted
from anyarray.backends.dask.creation import zeros

__all__ = [
    "broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis", "permute_dims", "reshape", "roll",
    "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


def broadcast_to(x: Native, /, shape: tuple[int, ...]) -> Native:
    return da.broadcast_to(known(x), tuple(map(operator.index, shape)))


def broadcast_arrays(*arrays: Native) -> tuple[Native, ...]:
    shape = np.broadcast_shapes(*(known(x).shape for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)


def concat(arrays: list[Native], /, *, axis: int | None = 0) -> Native:
    xs = promoted(*map(known, arrays))
    if axis is None:
        xs, axis = tuple(reshape(x, (-1,)) for x in xs), 0
    return _in_sequence(xs, axis_within(axis, xs[0].ndim))


def _in_sequence(xs: Sequence[Native], axis: int) -> Native:
    """Arrays one after another along an axis.

    A block shorter than half of the longest is joined to the one before. Otherwise a program that cuts edges and
    concatenates them again, step by step, would have more and smaller blocks after each.
    """
    y = da.concatenate(xs, axis=axis)
    longest = max(y.chunks[axis])
    lengths: list[int] = []
    for length in y.chunks[axis]:
        if lengths and 2 * min(lengths[-1], length) < longest and 2 * (lengths[-1] + length) <= 3 * longest:
            lengths[-1] += length
        else:
            lengths.append(length)
    return y.rechunk({axis: tuple(lengths)})


def stack(arrays: list[Native], /, *, axis: int = 0) -> Native:
    xs = promoted(*map(known, arrays))
    return da.stack(xs, axis=axis_within(axis, xs[0].ndim + 1))


def unstack(x: Native, /, *, axis: int = 0) -> tuple[Native, ...]:
    x, at = known(x), axis_within(axis, x.ndim)
    return tuple(x[(*[slice(None)] * at, i)] for i in range(x.shape[at]))


def expand_dims(x: Native, /, axis: int | tuple[int, ...] = 0) -> Native:
    new = (axis,) if isinstance(axis, int) else axis
    places = axes_within(new, x.ndim + len(new))
    return x[tuple(None if i in places else slice(None) for i in range(x.ndim + len(new)))]


def squeeze(x: Native, /, axis: int | tuple[int, ...]) -> Native:
    x = known(x)
    places = axes_within(axis, x.ndim)
    if any(x.shape[i] != 1 for i in places):
        raise ValueError("axis must have the length 1")
    return x[tuple(0 if i in places else slice(None) for i in range(x.ndim))]


def flip(x: Native, /, *, axis: Axis = None) -> Native:
    x = known(x)
    places = axes_within(axis, x.ndim)
    return x[tuple(slice(None, None, -1) if i in places else slice(None) for i in range(x.ndim))]


def permute_dims(x: Native, /, axes: tuple[int, ...]) -> Native:
    if len(axes) != x.ndim:
        raise ValueError(f"axes must name each of the {x.ndim} axes once")
    return da.transpose(x, axes_within(axes, x.ndim))


def moveaxis(x: Native, source: Any, destination: Any, /) -> Native:
    return da.moveaxis(x, source, destination)


def reshape(x: Native, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Native:
    x = known(x)
    if min(shape, default=0) < -1:
        raise ValueError(f"no length of shape may be less than -1, as in {shape}")
    new = np.broadcast_to(0, x.shape).reshape(shape).shape if x.ndim or shape else ()
    if not x.size:
        return zeros(new, dtype=x.dtype)
    try:
        return da.reshape(x, new)
    except NotImplementedError:  # no axes of the one can be merged to those of the other
        return da.reshape(da.reshape(x, (x.size,)), new)


def roll(x: Native, /, shift: Any, *, axis: Axis = None) -> Native:
    x = known(x)
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x.shape) if x.size else x
    axes = (axis,) if isinstance(axis, int) else axis
    shifts = (shift,) * len(axes) if isinstance(shift, int) else shift
    if len(shifts) != len(axes):
        raise ValueError(f"shift and axis must be of one length, not {len(shifts)} and {len(axes)}")
    for by, one in zip(shifts, axes, strict=True):
        at = axis_within(one, x.ndim)
        if x.shape[at] and by % x.shape[at]:
            before, cut = [slice(None)] * at, x.shape[at] - by % x.shape[at]
            x = _in_sequence([x[(*before, slice(cut, None))], x[(*before, slice(None, cut))]], at)
    return x


def tile(x: Native, repetitions: tuple[int, ...], /) -> Native:
    return (
        da.tile(known(x), repetitions)
        if x.size and 0 not in repetitions
        else zeros(np.tile(np.broadcast_to(np.zeros((), bool), x.shape), repetitions).shape, dtype=x.dtype)
    )
