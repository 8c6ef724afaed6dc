"""Utility functions: all, any and diff."""

from __future__ import annotations

from typing import Final

from anyarray._base import errors
from anyarray.backends._shared.axes import axis_in
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._kernel import NATIVE, Ints, Tensor, constant, name_of, promoted
from anyarray.backends.tensorflow._shapes import axes_tensor, cut, lengths, shape_tensor

_BOOL: Final = NATIVE["bool"]


def _truth(x: Tensor) -> Tensor:
    """Whether each element is not zero; True for NaN."""
    return x if x.dtype is _BOOL else ops.NotEqual(x, constant(0, name_of(x)))


def all(x: Tensor, /, *, axis: Ints | None = None, keepdims: bool = False) -> Tensor:
    return ops.All(_truth(x), axes_tensor(x, axis), keepdims)


def any(x: Tensor, /, *, axis: Ints | None = None, keepdims: bool = False) -> Tensor:
    return ops.Any(_truth(x), axes_tensor(x, axis), keepdims)


def diff(
    x: Tensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Differences of adjacent elements along `axis`, computed `n` times.

    For bools this is not_equal, as in NumPy. A 0-d `prepend` or `append` is broadcast to length 1 along `axis`.
    """
    if n < 0:
        raise errors.ArgumentValueError(f"diff: n must not be negative, but is {n}")
    rank = x.shape.rank
    axis = axis_in(axis, rank) - rank
    parts = [part for part in (prepend, x, append) if part is not None]
    if n == 0:
        return promoted(x, *parts)[0]
    if len(parts) > 1:
        shape = lengths(x)
        shape[axis] = 1
        parts = promoted(*[part if part.shape.rank else ops.BroadcastTo(part, shape_tensor(shape)) for part in parts])
        x = ops.ConcatV2(parts, constant(axis))
    change = ops.NotEqual if x.dtype is _BOOL else ops.Sub
    but_first, but_last, along = constant((1, -1)), constant((-1, 1)), constant(axis)
    for _ in range(n):
        if x.shape[axis] == 0:
            break  # there is no first element to split off
        if x.shape[axis] is None:
            x = change(cut(x, axis, 1), cut(x, axis, 0, -1))
            continue
        x = change(ops.SplitV(x, but_first, along, 2)[1], ops.SplitV(x, but_last, along, 2)[0])
    return x
