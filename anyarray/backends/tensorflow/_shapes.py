"""Axes, lengths and shapes, some of which a trace may not know."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._kernel import NATIVE, Ints, Tensor, constant, name_of, shape_of

Length = Any
"""Length of an axis: an int, or a 0-d int64 tensor where a trace does not know it."""


@functools.cache
def every_axis(rank: int) -> Tensor:
    """All axes, as the argument of a reduction op."""
    return constant(tuple(range(rank)))


def axes_tensor(x: Tensor, axis: Ints | None) -> Tensor:
    """`axis` as the argument of a reduction op."""
    return every_axis(x.shape.rank) if axis is None else constant(axis)


def lengths(x: Tensor) -> list[Length]:
    """Length of every axis, as a tensor where a trace does not know it."""
    known = shape_of(x)
    if None not in known:
        return list(known)
    read = ops.Unpack(ops.Shape(x, NATIVE["int64"]), len(known), 0)
    return [read[axis] if n is None else n for axis, n in enumerate(known)]


@functools.lru_cache(maxsize=1 << 12)
def known_shape(shape: tuple[int, ...]) -> Tensor:
    """`shape` as an argument of an op: int32, or int64 if a length needs it.

    int32 is the dtype that every kernel supports.
    """
    try:
        return constant(shape)
    except OverflowError:
        return constant(shape, "int64")


def shape_tensor(shape: Sequence[Length]) -> Tensor:
    """A shape of these lengths as an argument of an op."""
    if all(isinstance(n, int) for n in shape):
        return known_shape(tuple(shape))
    return ops.Pack([length_tensor(n) for n in shape])


def length_tensor(n: Length) -> Tensor:
    """A length as an int64 tensor, whether it is known or not."""
    return constant(n, "int64") if isinstance(n, int) else n


def sizes_of(x: Tensor) -> Tensor:
    """Shape of `x`: a constant if it is known, else read as the graph runs."""
    shape = shape_of(x)
    return ops.Shape(x) if None in shape else known_shape(shape)


def slab(x: Tensor, axis: int, length: Length, value: int) -> Tensor:
    """Tensor of `value`, shaped like `x` except for `length` along `axis`."""
    shape = lengths(x)
    shape[axis] = length
    return ops.Fill(shape_tensor(shape), constant(value, name_of(x)))


def cut(x: Tensor, axis: int, first: int, last: int | None = None) -> Tensor:
    """As `x[first:last]` along `axis`, clipped to its length as in Python.

    It costs more than a split, which needs `x` to have that many elements.
    """
    axis %= x.shape.rank
    begin, end, every = ([0] * x.shape.rank for _ in range(3))
    begin[axis], end[axis] = first, 0 if last is None else last
    others = (1 << len(every)) - 1 - (1 << axis)
    masks = others, others if last is not None else others | 1 << axis
    strides = constant((1,) * len(every))
    return ops.StridedSlice(x, constant(tuple(begin)), constant(tuple(end)), strides, *masks, 0, 0, 0)
