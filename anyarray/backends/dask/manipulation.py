"""Shapes: how elements are arranged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask.array as da
import numpy as np

from anyarray.backends._shared.axes import axes_in, axis_in, rolled
from anyarray.backends.dask._kernel import Axis, Native, known, promoted

__all__ = ["concat", "expand_dims", "flip", "permute_dims", "reshape", "roll", "squeeze", "stack", "tile", "unstack"]


def concat(arrays: list[Native], /, *, axis: int | None = 0) -> Native:
    xs = promoted(*map(known, arrays))
    if axis is None:
        xs, axis = tuple(x.reshape(-1) for x in xs), 0
    return _in_sequence(xs, axis_in(axis, xs[0].ndim))


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
    return da.stack(xs, axis=axis_in(axis, xs[0].ndim + 1))


def unstack(x: Native, /, *, axis: int = 0) -> tuple[Native, ...]:
    return tuple(da.moveaxis(x, axis, 0))


def expand_dims(x: Native, /, axis: int | tuple[int, ...] = 0) -> Native:
    new = (axis,) if isinstance(axis, int) else axis
    places = axes_in(new, x.ndim + len(new))
    return x[tuple(None if i in places else slice(None) for i in range(x.ndim + len(new)))]


def squeeze(x: Native, /, axis: int | tuple[int, ...]) -> Native:
    return da.squeeze(x, axes_in(axis, x.ndim))


def flip(x: Native, /, *, axis: Axis = None) -> Native:
    return da.flip(x, axes_in(axis, x.ndim))


def permute_dims(x: Native, /, axes: tuple[int, ...]) -> Native:
    if len(axes) != x.ndim:
        raise ValueError(f"axes must name each of the {x.ndim} axes once")
    return da.transpose(x, axes_in(axes, x.ndim))


def reshape(x: Native, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Native:
    if min(shape, default=0) < -1:
        raise ValueError(f"no length of shape may be less than -1, as in {shape}")
    new = np.broadcast_to(0, x.shape).reshape(shape).shape
    try:
        return da.reshape(x, new)
    except NotImplementedError:  # no axes of the one can be merged to those of the other
        return da.reshape(da.reshape(x, (x.size,)), new)


def roll(x: Native, /, shift: Any, *, axis: Axis = None) -> Native:
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    for by, at in zip(*rolled(shift, axis, x.shape), strict=True):
        if by:
            before, cut = [slice(None)] * at, x.shape[at] - by
            x = _in_sequence([x[(*before, slice(cut, None))], x[(*before, slice(None, cut))]], at)
    return x


def tile(x: Native, repetitions: tuple[int, ...], /) -> Native:
    return da.tile(x, repetitions)
