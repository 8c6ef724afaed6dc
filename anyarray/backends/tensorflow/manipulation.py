"""Manipulation functions.

Reshape, Transpose, ConcatV2, Pack, GatherV2, Roll and Tile accept tensors of any rank. ReverseV2 and BroadcastTo
do not: we merge axes, or pass a few axes at a time. Nor do elementwise ops of two operands that must be broadcast: if
an op refuses them, we broadcast them first.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from anyarray._base import dtypes, errors, sizes
from anyarray.backends._shared.axes import axes_in, axis_in, moved, rolled
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._device import is_on_host
from anyarray.backends.tensorflow._host import from_host, on_host
from anyarray.backends.tensorflow._kernel import (
    NATIVE,
    REFUSALS,
    EagerTensor,
    Ints,
    Tensor,
    bitcast,
    cast,
    constant,
    kind_of,
    name_of,
    promoted,
    shape_of,
)
from anyarray.backends.tensorflow._shapes import Length, cut, lengths, shape_tensor, sizes_of

_MOST_CACHED: Final = 1 << 10
"""Size of the cache of orders of axes, for each function."""
_PARTS: Final = 64
"""Most tensors of one eager Unpack: TensorFlow makes a kernel for each new count, which takes 0.1 ms per tensor."""
_SLICED: Final = 5
"""Most axes of a tensor that `_parts` splits. StridedSlice supports eight, and each factor of 64 in length adds one."""

_REVERSE_RANK: Final = 8
"""The largest rank of the kernel of ReverseV2."""

_BROADCAST_RANK: Final = 5
"""The largest rank of kernels that broadcast, after adjacent axes that broadcast the same way are merged."""


def flattened(x: Tensor) -> Tensor:
    """`x` as a 1-d tensor, in row-major order."""
    return x if len(x.shape) == 1 else ops.Reshape(x, constant((-1,)))


def broadcast_to(x: Tensor, /, shape: tuple[Length, ...]) -> Tensor:
    if not isinstance(x, EagerTensor):
        _require_counts("broadcast_to", "shape", shape)
    return ops.BroadcastTo(x, shape_tensor(shape)) if len(shape) <= _BROADCAST_RANK else stretched(x, shape)


def _require_counts(function: str, parameter: str, counts: tuple[Length, ...]) -> None:
    """Raise ValueError if a count is negative, for which a graph raises late.

    As a length, -1 stands for an unknown one.
    """
    if any(isinstance(n, int) and n < 0 for n in counts):
        raise ValueError(f"{function}: {parameter} must not be negative, not {counts}")


def stretched(x: Tensor, shape: Sequence[Length]) -> Tensor:
    """`x` broadcast to these lengths, some of which a trace may not know."""
    given, rank = lengths(x), len(shape)
    if _count_runs(given, shape) <= _BROADCAST_RANK:
        return ops.BroadcastTo(x, shape_tensor(shape))
    if len(given) > rank:
        raise ValueError(f"broadcast_to: an array of rank {len(given)} cannot take the shape {tuple(shape)}")
    given = [1] * (rank - len(given)) + given
    x = ops.Reshape(x, shape_tensor(given))
    # With three axes at a time, no more than the largest rank remain after merging.
    for done in range(0, rank, 3):
        x = ops.BroadcastTo(x, shape_tensor([*shape[: done + 3], *given[done + 3 :]]))
    return x


def _count_runs(shape1: Sequence[Length | None], shape2: Sequence[Length | None]) -> int:
    """Upper bound of the runs of axes that broadcast the same way.

    A length that is no int is unknown.
    """
    runs: list[tuple[bool, bool] | None] = []
    for n1, n2 in itertools.zip_longest(reversed(shape1), reversed(shape2), fillvalue=1):
        are_ones = isinstance(n1, int) and n1 == 1, isinstance(n2, int) and n2 == 1
        if are_ones == (True, True):
            continue  # kernels drop these
        how = are_ones if any(are_ones) or (isinstance(n1, int) and isinstance(n2, int)) else None
        if not runs or how is None or how != runs[-1]:
            runs.append(how)
    return len(runs)


def at_every_rank(raw: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """The elementwise function `raw` of two operands, at every rank.

    Above the largest rank of its kernels, the operands are broadcast first.
    """

    def of_two(x1: Tensor, x2: Tensor, /) -> Tensor:
        try:
            y = raw(x1, x2)
        except REFUSALS:
            if is_broadcast_by_kernels(x1, x2):
                raise
            return raw(*broadcast_arrays(x1, x2))
        return unrefused(y, raw, x1, x2)

    return of_two


def unrefused(y: Tensor, raw: Callable[[Tensor, Tensor], Tensor], x1: Tensor, x2: Tensor) -> Tensor:
    """`y`, the result of `raw`, unless a running graph would refuse the rank.

    In that case, `raw` of operands that are broadcast first.
    """
    if isinstance(y, EagerTensor) or is_broadcast_by_kernels(x1, x2):
        return y
    return raw(*broadcast_arrays(x1, x2))


def is_broadcast_by_kernels(x1: Tensor, x2: Tensor) -> bool:
    """Whether the kernels of elementwise ops certainly broadcast the two."""
    shape1, shape2 = shape_of(x1), shape_of(x2)
    return max(len(shape1), len(shape2)) <= _BROADCAST_RANK or _count_runs(shape1, shape2) <= _BROADCAST_RANK


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    shapes = [shape_of(x) for x in arrays]
    if len(set(shapes)) == 1 and None not in shapes[0]:
        return arrays
    if not any(None in shape for shape in shapes):
        common = np.broadcast_shapes(*shapes)  # type: ignore[arg-type]  # all ints here
        return tuple(x if shape == common else broadcast_to(x, common) for x, shape in zip(arrays, shapes, strict=True))
    lengths_of_all = functools.reduce(common_lengths, [lengths(x) for x in arrays])
    return tuple(stretched(x, lengths_of_all) for x in arrays)


def common_lengths(shape1: list[Length], shape2: list[Length]) -> list[Length]:
    """The broadcast shape of two shapes; any lengths if they do not match."""
    shorter, longer = sorted((shape1, shape2), key=len)
    extra = len(longer) - len(shorter)
    return longer[:extra] + [_common_length(n1, n2) for n1, n2 in zip(shorter, longer[extra:], strict=True)]


def _common_length(n1: Length, n2: Length) -> Length:
    if isinstance(n1, int):
        return n2 if n1 == 1 else n1
    if isinstance(n2, int):
        return n1 if n2 == 1 else n2
    return ops.SelectV2(ops.Equal(n1, constant(1, "int64")), n2, n1)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    arrays = _each(arrays)
    if axis is None:
        arrays, axis = [flattened(x) for x in arrays], 0
    if len(arrays) == 1:
        axis_in(axis, len(shape_of(arrays[0])))
        return arrays[0]
    try:
        return ops.ConcatV2(arrays, constant(axis))
    except REFUSALS:
        return ops.ConcatV2(_changed(arrays), constant(axis))


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    arrays = _each(arrays)
    try:
        return ops.Pack(arrays, axis)
    except REFUSALS:
        return ops.Pack(_changed(arrays), axis)


def _each(arrays: Sequence[Tensor]) -> Sequence[Tensor]:
    """A list also of one tensor, over which a graph cannot iterate."""
    return arrays if isinstance(arrays, (list, tuple)) else list(unstack(arrays))


def _changed(arrays: Sequence[Tensor]) -> list[Tensor]:
    """The arrays promoted to one dtype.

    Raises the current error if they have one dtype already.
    """
    found = promoted(*arrays)
    if all(map(operator.is_, found, arrays)):
        raise
    return found


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    shape = shape_of(x)
    length = shape[axis_in(axis, len(shape))]
    if length is None:
        raise errors.TransferError(
            f"unstack: axis {axis} of x has a length that its trace does not know, so that its parts cannot be told. "
            "Give tf.function an input_signature with that length, or take the whole array at once"
        )
    if len(shape) > _SLICED or not isinstance(x, EagerTensor):
        return tuple(ops.Unpack(x, length, axis))
    return tuple(_parts(x, length, axis % len(shape)))


def _parts(x: Tensor, length: int, axis: int) -> list[Tensor]:
    """Unpack of an eager tensor, by kernels of at most `_PARTS` parts each."""
    if length <= _PARTS:
        return list(ops.Unpack(x, length, axis))
    rows, rest = divmod(length, _PARTS)
    shape = lengths(x)
    shape[axis : axis + 1] = rows, _PARTS
    table = ops.Reshape(cut(x, axis, 0, length - rest) if rest else x, shape_tensor(shape))
    parts = [part for row in _parts(table, rows, axis) for part in ops.Unpack(row, _PARTS, axis)]
    return parts + list(ops.Unpack(cut(x, axis, length - rest), rest, axis)) if rest else parts


def expand_dims(x: Tensor, /, axis: Ints) -> Tensor:
    if isinstance(axis, int):
        return ops.ExpandDims(x, constant(axis))
    for new in sorted(axes_in(axis, len(shape_of(x)) + len(axis))):
        x = ops.ExpandDims(x, constant(new))
    return x


def squeeze(x: Tensor, /, axis: Ints) -> Tensor:
    shape = shape_of(x)
    axes = axes_in(axis, len(shape))
    for a in axes:
        if shape[a] not in (1, None):
            raise ValueError(f"squeeze: axis {a} has the size {shape[a]}, not 1")
    # Squeeze treats an empty list as every axis of size 1.
    return ops.Squeeze(x, axes) if axes else x


def reshape(x: Tensor, /, shape: tuple[Length, ...], *, copy: bool | None = None) -> Tensor:
    """`x` in `shape`. Tensors are immutable, so `copy` has no effect."""
    known = [n for n in shape if isinstance(n, int)]
    if 0 in known and -1 in known:
        raise ValueError(f"any length would do in place of -1 in {shape}")
    if known.count(-1) > 1:  # a graph would ignore all but one of them
        raise ValueError(f"more than one length is -1 in {shape}")
    return ops.Reshape(x, shape_tensor(shape))


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    return ops.Transpose(x, _order(axes))


@functools.lru_cache(_MOST_CACHED)
def _order(axes: tuple[int, ...]) -> Tensor:
    return constant(axes_in(axes, len(axes)))


def moveaxis(x: Tensor, source: Ints, destination: Ints, /) -> Tensor:
    return ops.Transpose(x, _moved(x.shape.rank, source, destination))


@functools.lru_cache(_MOST_CACHED)
def _moved(rank: int, source: Ints, destination: Ints) -> Tensor:
    return constant(moved(rank, source, destination))


def flip(x: Tensor, /, *, axis: Ints | None = None) -> Tensor:
    shape = shape_of(x)
    axes = axes_in(axis, len(shape))
    if len(shape) <= _REVERSE_RANK or None in shape:
        return ops.ReverseV2(x, constant(axes)) if axes else x
    sizes = sizes_of(x)
    for a in axes:
        merged = (math.prod(shape[:a]), shape[a], math.prod(shape[a + 1 :]))  # type: ignore[arg-type]  # no None
        x = ops.ReverseV2(ops.Reshape(x, constant(merged)), constant((1,)))
    return ops.Reshape(x, sizes)


def roll(x: Tensor, /, shift: Ints, *, axis: Ints | None = None) -> Tensor:
    if axis is None:
        shift = shift if isinstance(shift, int) else sum(shift)
        return (
            ops.Reshape(roll(flattened(x), shift, axis=0), sizes_of(x)) if x.shape.rank != 1 else roll(x, shift, axis=0)
        )
    shifts, axes = rolled(shift, axis, shape_of(x))
    return ops.Roll(x, constant(shifts), constant(axes)) if axes else x


def tile(x: Tensor, repetitions: tuple[Length, ...], /) -> Tensor:
    if not isinstance(x, EagerTensor):
        _require_counts("tile", "repetitions", repetitions)
    missing = len(repetitions) - len(shape_of(x))
    for _ in range(missing):
        x = ops.ExpandDims(x, constant(0))
    repetitions = (1,) * -missing + tuple(repetitions)
    if name_of(x) == "uint16":  # the only dtype without Tile kernel
        return bitcast(ops.Tile(bitcast(x, "int16"), shape_tensor(repetitions)), "uint16")
    return ops.Tile(x, shape_tensor(repetitions))


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    if axis is None:
        x, axis = flattened(x), 0
    shape = shape_of(x)
    axis = axis_in(axis, len(shape))
    if not isinstance(repeats, int):
        if kind_of(repeats) not in "iu":
            raise TypeError("bools and floats would be taken for counts")
        if hasattr(repeats, "numpy"):  # not in a trace
            sizes.refuse_counts(shape, repeats.numpy(), axis, x.dtype.size)  # TensorFlow does not check it
        return ops.GatherV2(x, _repeated_positions(repeats, x, axis), constant(axis))
    if repeats < 0:
        raise ValueError(f"repeat: repeats must not be negative, not {repeats}")
    before, after = (1,) * axis, (1,) * (len(shape) - axis - 1)
    wide = tile(ops.ExpandDims(x, constant(axis + 1)), (*before, 1, repeats, *after))
    size = shape[axis]
    if size is None or None in shape:
        return ops.Reshape(wide, ops.Mul(ops.Shape(x), constant((*before, repeats, *after))))
    return ops.Reshape(wide, constant((*shape[:axis], size * repeats, *shape[axis + 1 :])))


def _repeated_positions(repeats: Tensor, x: Tensor, axis: int) -> Tensor:
    """Every position along `axis` of `x`, repeated by `repeats`."""
    size = shape_of(x)[axis]
    if size is not None and is_on_host(repeats):
        return from_host(np.repeat(np.arange(size), dtypes.signed(on_host(repeats))), repeats)
    counts, length = cast(repeats, "int64"), ops.GatherV2(sizes_of(x), constant((axis,)), constant(0))
    if shape_of(repeats) in ((), (1,)):  # cumsum of one number aborts in XLA of TensorFlow 2.22
        count, one = ops.Reshape(counts, constant(())), constant(1, "int64")
        n = cast(ops.Reshape(length, constant(())), "int64")
        ends, total = ops.Mul(count, ops.Range(one, ops.AddV2(n, one), one)), ops.Mul(count, n)
    else:
        counts = ops.BroadcastTo(counts, length)
        ends, total = ops.Cumsum(counts, constant(0)), ops.Sum(counts, constant(0))
    positions = ops.Range(constant(0, "int64"), total, constant(1, "int64"))
    row = constant((1, -1))
    return flattened(ops.UpperBound(ops.Reshape(ends, row), ops.Reshape(positions, row), NATIVE["int64"]))
