"""Whether all or any elements are true, and differences along an axis."""

from __future__ import annotations

__all__ = ["all", "any", "diff"]

from typing import Final

from anyarray import _errors
from anyarray.backends.tensorflow._kernel import NATIVE, Tensor, constant, name_of, op, promoted
from anyarray.backends.tensorflow.linear_algebra import lengths, shape_tensor
from anyarray.backends.tensorflow.manipulation import axis_in
from anyarray.backends.tensorflow.statistical import Axes, axes_tensor

_all = op("All")
_any = op("Any")
_broadcast = op("BroadcastTo")
_concat = op("ConcatV2")
_not_equal = op("NotEqual")
_strided_slice = op("StridedSlice")
_subtract = op("Sub")

_BOOL: Final = NATIVE["bool"]


def _truth(x: Tensor) -> Tensor:
    """Which elements are not zero; NaN is not."""
    return x if x.dtype is _BOOL else _not_equal(x, constant(0, name_of(x)))


def all(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    return _all(_truth(x), axes_tensor(x, axis), keepdims)


def any(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    return _any(_truth(x), axes_tensor(x, axis), keepdims)


def sliced(x: Tensor, axis: int, start: int | None, stop: int | None) -> Tensor:
    """`x[..., start:stop, :, :]` with the slice at `axis`, which counts from the end: it is negative."""
    # The ellipsis is entry 0 of the index, the slice is entry 1, whole axes follow; bit i of a mask means entry i.
    after = -1 - axis
    whole = ((1 << after) - 1) << 2
    return _strided_slice(
        x,
        constant((0, start or 0) + (0,) * after),
        constant((0, stop or 0) + (0,) * after),
        constant((1,) * (after + 2)),
        whole | (start is None) << 1,
        whole | (stop is None) << 1,
        1,
        0,
        0,
    )


def diff(
    x: Tensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Bools differ where they are not equal, as in NumPy; a 0-d `prepend` or `append` is one element everywhere."""
    if n < 0:
        raise _errors.ArgumentValueError(f"diff: n must not be negative, but is {n}")
    rank = x.shape.rank
    axis = axis_in(axis, rank) - rank
    parts = [part for part in (prepend, x, append) if part is not None]
    if n == 0:
        return x
    if len(parts) > 1:
        shape = lengths(x)
        shape[axis] = 1
        parts = promoted(*[part if part.shape.rank else _broadcast(part, shape_tensor(shape)) for part in parts])
        x = _concat(parts, constant(axis))
    change = _not_equal if x.dtype is _BOOL else _subtract
    for _ in range(n):
        x = change(sliced(x, axis, 1, None), sliced(x, axis, None, -1))
    return x
