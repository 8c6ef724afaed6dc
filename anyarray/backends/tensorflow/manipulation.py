"""Manipulation: shapes, orders and joins of tensors.

Reshape, Transpose, ConcatV2, Pack, GatherV2, Roll and Tile take tensors of any rank. ReverseV2 and BroadcastTo
do not: they are given merged axes, or a few axes at a time.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from anyarray.backends.tensorflow._host import from_host, is_on_host, on_host
from anyarray.backends.tensorflow._kernel import (
    NATIVE,
    REFUSALS,
    Ints,
    Tensor,
    bitcast,
    cast,
    constant,
    name_of,
    op,
    promoted,
    shape_of,
)
from anyarray.backends.tensorflow._shapes import axes_in, axis_in, sizes_of

__all__ = [
    "broadcast_arrays",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]

_broadcast_args = op("BroadcastArgs")
_broadcast_to = op("BroadcastTo")
_concat = op("ConcatV2")
_cumsum = op("Cumsum")
_expand_dims = op("ExpandDims")
_gather = op("GatherV2")
_mul = op("Mul")
_pack = op("Pack")
_range = op("Range")
_reshape = op("Reshape")
_reverse = op("ReverseV2")
_roll = op("Roll")
_shape = op("Shape")
_squeeze = op("Squeeze")
_sum = op("Sum")
_tile = op("Tile")
_transpose = op("Transpose")
_unpack = op("Unpack")
_upper_bound = op("UpperBound")

_KEPT: Final = 1 << 10
"""How many orders of axes are kept of each function that makes them."""

_REVERSE_RANK: Final = 8
"""The largest rank of the kernel of ReverseV2."""

_BROADCAST_RANK: Final = 7
"""The largest rank of the kernel of BroadcastTo, after neighbours that broadcast alike are merged."""


def flattened(x: Tensor) -> Tensor:
    """`x` with one axis, in row-major order."""
    return x if len(x.shape) == 1 else _reshape(x, constant((-1,)))


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    rank = len(shape)
    given = shape_of(x)
    if rank <= _BROADCAST_RANK or None in given:
        return _broadcast_to(x, constant(shape))
    if len(given) > rank:
        raise ValueError(f"broadcast_to: an array of rank {len(given)} cannot take the shape {shape}")
    given = (1,) * (rank - len(given)) + given
    x = _reshape(x, constant(given))
    # With three axes at a time, few enough remain after merging.
    for done in range(0, rank, 3):
        step = shape[: done + 3] + given[done + 3 :]
        x = _broadcast_to(x, constant(step))
    return x


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    shapes = [shape_of(x) for x in arrays]
    if len(set(shapes)) == 1 and None not in shapes[0]:
        return arrays
    if not any(None in shape for shape in shapes):
        common = np.broadcast_shapes(*shapes)  # type: ignore[arg-type]  # all ints here
        return tuple(x if shape == common else broadcast_to(x, common) for x, shape in zip(arrays, shapes, strict=True))
    sizes = sizes_of(arrays[0])
    for x in arrays[1:]:
        sizes = _broadcast_args(sizes, sizes_of(x))
    return tuple(_broadcast_to(x, sizes) for x in arrays)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    if axis is None:
        arrays, axis = [flattened(x) for x in arrays], 0
    if len(arrays) == 1:
        axis_in(axis, len(shape_of(arrays[0])))
        return arrays[0]
    try:
        return _concat(arrays, constant(axis))
    except REFUSALS:
        return _concat(promoted(*arrays), constant(axis))


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    try:
        return _pack(arrays, axis)
    except REFUSALS:
        return _pack(promoted(*arrays), axis)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    shape = shape_of(x)
    return tuple(_unpack(x, shape[axis_in(axis, len(shape))], axis))


def expand_dims(x: Tensor, /, axis: Ints) -> Tensor:
    if isinstance(axis, int):
        return _expand_dims(x, constant(axis))
    for new in sorted(axes_in(axis, len(shape_of(x)) + len(axis))):
        x = _expand_dims(x, constant(new))
    return x


def squeeze(x: Tensor, /, axis: Ints) -> Tensor:
    shape = shape_of(x)
    axes = axes_in(axis, len(shape))
    for a in axes:
        if shape[a] not in (1, None):
            raise ValueError(f"squeeze: axis {a} has the size {shape[a]}, not 1")
    # To Squeeze, no axes mean every axis of size 1.
    return _squeeze(x, axes) if axes else x


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """`x` in `shape`. Tensors never change, so `copy` makes no difference."""
    return _reshape(x, constant(shape))


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    return _transpose(x, _order(axes))


@functools.lru_cache(_KEPT)
def _order(axes: tuple[int, ...]) -> Tensor:
    return constant(axes_in(axes, len(axes)))


def moveaxis(x: Tensor, source: Ints, destination: Ints, /) -> Tensor:
    return _transpose(x, _moved(x.shape.rank, source, destination))


@functools.lru_cache(_KEPT)
def _moved(rank: int, source: Ints, destination: Ints) -> Tensor:
    """The order of the axes, once those at `source` are at `destination`."""
    sources, destinations = axes_in(source, rank), axes_in(destination, rank)
    if len(sources) != len(destinations):
        raise ValueError(f"moveaxis: {len(sources)} axes cannot move to {len(destinations)} places")
    order = [axis for axis in range(rank) if axis not in sources]
    for place, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(place, axis)
    return constant(tuple(order))


def flip(x: Tensor, /, *, axis: Ints | None = None) -> Tensor:
    shape = shape_of(x)
    axes = axes_in(axis, len(shape))
    if len(shape) <= _REVERSE_RANK or None in shape:
        return _reverse(x, constant(axes)) if axes else x
    sizes = sizes_of(x)
    for a in axes:
        merged = (math.prod(shape[:a]), shape[a], math.prod(shape[a + 1 :]))  # type: ignore[arg-type]
        x = _reverse(_reshape(x, constant(merged)), constant((1,)))
    return _reshape(x, sizes)


def roll(x: Tensor, /, shift: Ints, *, axis: Ints | None = None) -> Tensor:
    shape = shape_of(x)
    if axis is None:
        shift, axis = shift if isinstance(shift, int) else sum(shift), 0
        if len(shape) != 1:
            return _reshape(roll(flattened(x), shift, axis=0), sizes_of(x))
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(axis_in(a, len(shape)) for a in axes)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(axes) == 1:
        shifts = (sum(shifts),)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts do not fit {len(axes)} axes")
    # A shift may be any int, but the op takes machine integers.
    shifts = tuple(s if (n := shape[a]) is None else s % max(n, 1) for s, a in zip(shifts, axes, strict=True))
    return _roll(x, constant(shifts), constant(axes)) if axes else x


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    missing = len(repetitions) - len(shape_of(x))
    for _ in range(missing):
        x = _expand_dims(x, constant(0))
    repetitions = (1,) * -missing + tuple(repetitions)
    if name_of(x) == "uint16":  # the one dtype that Tile has no kernel for
        return bitcast(_tile(bitcast(x, "int16"), constant(repetitions)), "uint16")
    return _tile(x, constant(repetitions))


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    if axis is None:
        x, axis = flattened(x), 0
    shape = shape_of(x)
    axis = axis_in(axis, len(shape))
    if not isinstance(repeats, int):
        return _gather(x, _repeated_positions(repeats, x, axis), constant(axis))
    if repeats < 0:
        raise ValueError(f"repeat: repeats must not be negative, not {repeats}")
    before, after = (1,) * axis, (1,) * (len(shape) - axis - 1)
    wide = tile(_expand_dims(x, constant(axis + 1)), (*before, 1, repeats, *after))
    size = shape[axis]
    if size is None or None in shape:
        return _reshape(wide, _mul(_shape(x), constant((*before, repeats, *after))))
    return _reshape(wide, constant((*shape[:axis], size * repeats, *shape[axis + 1 :])))


def _repeated_positions(repeats: Tensor, x: Tensor, axis: int) -> Tensor:
    """Every position along `axis` of `x` as often as `repeats` says."""
    size = shape_of(x)[axis]
    if size is not None and is_on_host(repeats):
        return from_host(np.repeat(np.arange(size), on_host(repeats)), repeats)
    counts = _broadcast_to(cast(repeats, "int64"), _gather(sizes_of(x), constant((axis,)), constant(0)))
    ends = _cumsum(counts, constant(0))
    total = _sum(counts, constant(0))
    positions = _range(constant(0, "int64"), total, constant(1, "int64"))
    row = constant((1, -1))
    return flattened(_upper_bound(_reshape(ends, row), _reshape(positions, row), NATIVE["int64"]))
