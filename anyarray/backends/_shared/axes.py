"""Validation and normalization of axes, shapes and similar arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Axes = int | tuple[int, ...] | None


def axis_in(axis: int, ndim: int) -> int:
    """`axis` as a nonnegative number.

    Raises AxisError, which is a ValueError and an IndexError, if it is out of bounds.
    """
    if -ndim <= axis < ndim:
        return axis % ndim
    raise np.exceptions.AxisError(axis, ndim)


def axes_in(axis: Axes | Sequence[int], ndim: int) -> tuple[int, ...]:
    """`axis` as a tuple of distinct nonnegative axes; None means all axes."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple([axis_in(one, ndim) for one in ((axis,) if isinstance(axis, int) else axis)])
    if len(set(axes)) < len(axes):
        raise ValueError(f"axis: {axis} names an axis twice")
    return axes


def only_axis(axis: int | None, ndim: int) -> int:
    """`axis` as a nonnegative number; None means the only axis."""
    if axis is None:
        if ndim != 1:
            raise ValueError(f"axis must be given for an array of {ndim} axes")
        return 0
    return axis_in(axis, ndim)


def moved(ndim: int, source: int | Sequence[int], destination: int | Sequence[int]) -> tuple[int, ...]:
    """The permutation of axes by `moveaxis`."""
    sources, places = axes_in(source, ndim), axes_in(destination, ndim)
    if len(sources) != len(places):
        raise ValueError(f"{len(sources)} axes cannot move to {len(places)} places")
    order = [axis for axis in range(ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return tuple(order)


def rolled(
    shift: int | Sequence[int], axis: int | Sequence[int], shape: Sequence[Any]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shifts of `roll`, modulo the known lengths, and its axes."""
    shifts = (shift,) if isinstance(shift, int) else tuple(shift)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    axes = axes * len(shifts) if len(axes) == 1 else axes
    if len(axes) != len(shifts):
        raise ValueError("shift and axis must be of one length")
    axes = tuple([axis_in(one, len(shape)) for one in axes])
    lengths = [shape[one] for one in axes]
    return tuple([n % (m or 1) if isinstance(m, int) else n for n, m in zip(shifts, lengths, strict=True)]), axes


def grid_axes(count: int, indexing: str) -> list[int]:
    """The axis along which each array of `meshgrid` varies."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f'indexing must be "xy" or "ij", not {indexing!r}')
    axes = list(range(count))
    if indexing == "xy":
        axes[:2] = axes[1::-1]
    return axes


def contracted_axes(
    shape1: Sequence[Any], shape2: Sequence[Any], axes: int | Sequence[int | Sequence[int]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of each array over which `tensordot` sums."""
    ndim1, ndim2 = len(shape1), len(shape2)
    if isinstance(axes, int):
        if not 0 <= axes <= min(ndim1, ndim2):
            raise ValueError(f"axes must be between 0 and {min(ndim1, ndim2)}, not {axes}")
        axes = range(ndim1 - axes, ndim1), range(axes)
    first, second = axes
    axes1, axes2 = axes_in(first, ndim1), axes_in(second, ndim2)
    for i, j in zip(axes1, axes2, strict=True):
        m, n = shape1[i], shape2[j]
        if isinstance(m, int) and isinstance(n, int) and m != n:
            raise ValueError(f"axes {i} and {j} must have one length, not {m} and {n}")
    return axes1, axes2


def require_vectors(ndim1: int, ndim2: int) -> None:
    if ndim1 != 1 or ndim2 != 1:
        raise ValueError(f"both arrays must have one axis, not {ndim1} and {ndim2}")


def matrices(x: Any) -> Any:
    """`x`; raises ValueError unless it is a matrix or a stack of matrices."""
    if x.ndim < 2:
        raise ValueError("x must be a matrix or a stack of them")
    return x


def near_diagonal(shape: Sequence[int], k: int) -> int:
    """`k`, or the nearest empty diagonal if `k` has more than 32 bits.

    Libraries use narrow integers. Raises ValueError unless the shape is that of matrices.
    """
    if len(shape) < 2:
        raise ValueError("x must be a matrix or a stack of them")
    return k if abs(k) < 1 << 31 else max(-shape[-2], min(k, shape[-1]))


def progression(start: float, stop: float | None, step: float, *, is_integer: bool) -> tuple[float, float, int]:
    """The first number of `arange`, its step and its length.

    All are ints if the dtype `is_integer` and the arguments are whole numbers. Otherwise the step is the difference of
    the first two numbers, as in NumPy, and both are rounded toward zero for an integer dtype.
    """
    if stop is None:
        start, stop = 0, start
    if is_integer and float(start).is_integer() and float(step).is_integer():
        start, step = int(start), int(step)
        length = -((start - stop) // step) if isinstance(stop, int) else math.ceil((stop - start) / step)
        return start, step, max(int(length), 0)
    quotient = (stop - start) / step
    length = math.ceil(quotient)
    if quotient == 0 and stop != start:  # it underflowed: one element if the signs are the same
        length = int((stop > start) == (step > 0))
    number = int if is_integer else float
    by = float(number(start + step) - number(start)) if length > 1 else 0.0
    return float(number(start)), by, max(length, 0)


def bins(values: np.ndarray[Any, Any], minlength: int) -> int:
    """The length of the result of `bincount`."""
    if values.size and values.min() < 0:
        raise ValueError("x must not be negative")
    return max(minlength, int(values.max()) + 1 if values.size else 0)
