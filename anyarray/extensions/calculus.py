"""Interpolation, integrals and slopes of sampled functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors
from anyarray._call.arguments import as_array, as_integer, as_number, known_shape
from anyarray._call.dispatch import composed
from anyarray._call.wrapping import is_array
from anyarray.extensions._axes import axes_of, axis_of, in_host_memory, known
from anyarray.standard import namespace as xp

__all__ = ["ediff1d", "gradient", "interp", "trapezoid", "unwrap"]


@composed(own="numpy", x="real numeric", xp="real numeric", fp="numeric")
def interp(
    x: float | AnyArray,
    xp: AnyArray,
    fp: AnyArray,
    left: complex | None = None,
    right: complex | None = None,
    period: float | None = None,
) -> Array:
    """Values at `x` of the linear interpolation of the points `xp`, `fp`.

    `xp` and `fp` have the shape (n,), and `xp` increases. Before the first point, the value is `left`, by default the
    first value; after the last point, it is `right`, by default the last value. With `period`, `xp` may be in any
    order, and `left` and `right` are not used. The result is float64 or complex128.
    Raises ValueError without points, for vectors of different lengths and for a period of 0.

    >>> import anyarray as xp
    >>> xp.interp(xp.asarray([0.5, 9.0]), xp.asarray([0.0, 1.0, 2.0]), xp.asarray([0.0, 10.0, 0.0])).tolist()
    [5.0, 0.0]

    Source: NumPy 2.4, numpy.interp.
    """
    return _interpolated(x, xp, fp, left, right, period)


def _interpolated(x: Any, points: AnyArray, values: AnyArray, left: Any, right: Any, period: float | None) -> Array:
    for name, given in (("xp", points), ("fp", values)):
        if len(given.shape) != 1 or known_shape(given) == (0,) or known_shape(given) != known_shape(points):
            raise errors.ArgumentValueError(
                f"interp: xp and fp must be vectors of one length, at least 1, but {name} is of shape "
                f"{tuple(given.shape)}"
            )
    at, known_at = xp.astype(xp.asarray(x), xp.float64), xp.astype(points, xp.float64)
    known_values = xp.astype(values, xp.complex128 if values.dtype.kind == "c" else xp.float64)
    if period is not None and not period:
        raise errors.ArgumentValueError("interp: period must not be 0")
    in_place: Any = in_host_memory(at, known_at, known_values, left, right, period)
    if in_place is not None:
        return xp.asarray(np.interp(*in_place))
    if period is not None:
        period, left, right = abs(period), None, None
        at, known_at = at % period, known_at % period
        order = xp.argsort(known_at)
        known_at, known_values = xp.take(known_at, order), xp.take(known_values, order)
        known_at = xp.concat([known_at[-1:] - period, known_at, known_at[:1] + period])
        known_values = xp.concat([known_values[-1:], known_values, known_values[:1]])
    first, last = known_at[0], known_at[-1]
    flat = xp.reshape(at, (-1,))
    found = xp.searchsorted(known_at, flat, side="right") - 1
    most = max(known_at.shape[0] - 2, 0)
    lower = xp.clip(found, 0, most)
    upper = xp.minimum(lower + 1, known_at.shape[0] - 1)
    x0, x1 = xp.take(known_at, lower), xp.take(known_at, upper)
    y0, y1 = xp.take(known_values, lower), xp.take(known_values, upper)
    width = x1 - x0
    slope = (y1 - y0) / xp.where(width == 0, 1.0, width)
    result = slope * (flat - x0) + y0
    # As NumPy: from the other end where this one is infinite, and the value itself between equal ones.
    result = xp.where(xp.isnan(result), slope * (flat - x1) + y1, result)
    result = xp.where(xp.logical_and(xp.isnan(result), y0 == y1), y0, result)
    result = xp.where(flat == x0, y0, result)
    result = xp.where(flat >= last, known_values[-1], result)
    result = xp.where(flat < first, known_values[0] if left is None else left, result)
    result = xp.where(flat > last, known_values[-1] if right is None else right, result)
    if known_at.shape[0] > 1:
        result = xp.where(xp.isnan(flat), flat, result)
    return xp.reshape(result, at.shape)


@composed(own="numpy cupy", reads_no_values=True, y="numeric", x="numeric")
def trapezoid(y: AnyArray, x: AnyArray | None = None, dx: float | AnyArray = 1.0, axis: int = -1) -> Array:
    """Integral along an axis by the trapezoidal rule.

    The samples `y` are at `x`, a vector or an array of the shape of `y`, or at distances of `dx`.

    >>> import anyarray as xp
    >>> xp.trapezoid(xp.asarray([1.0, 2.0, 3.0]), dx=2).tolist()
    8.0

    Source: NumPy 2.4, numpy.trapezoid.
    """
    ndim = len(y.shape)
    at = axis_of("trapezoid", axis, ndim)
    width: Any = dx
    if x is not None:
        is_vector = len(x.shape) == 1
        if is_vector and known_shape(x)[0] not in (2, known_shape(y)[at]):
            raise errors.ArgumentValueError(
                f"trapezoid: x must be of the length of y along axis {at}, {y.shape[at]}, not {x.shape[0]}"
            )
        width = xp.diff(x, axis=0 if is_vector else at)
        width = xp.reshape(width, tuple([-1 if i == at else 1 for i in range(ndim)])) if is_vector else width
    samples: Any = y
    pairs = samples[_key(ndim, at, slice(1, None))] + samples[_key(ndim, at, slice(None, -1))]
    return xp.sum(width * pairs / 2.0, axis=at)


def _key(ndim: int, axis: int, part: int | slice) -> tuple[Any, ...]:
    """The index of a part along an axis."""
    return tuple([part if i == axis else slice(None) for i in range(ndim)])


def gradient(
    f: AnyArray,
    *varargs: float | Sequence[float] | AnyArray,
    axis: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> Array | tuple[Array, ...]:
    """Slopes along each axis, from central differences.

    The result is a tuple, or an Array for one axis. `varargs` are the distances of the samples: one number for all
    axes, or a number or a vector of coordinates for each axis. At both ends the differences are one-sided, accurate to
    the order `edge_order`, 1 or 2.
    Raises TypeError for a wrong number of distances, ValueError for fewer than `edge_order` + 1 samples.

    >>> import anyarray as xp
    >>> xp.gradient(xp.asarray([1.0, 2.0, 4.0, 7.0])).tolist()
    [1.0, 1.5, 2.5, 3.0]

    Source: NumPy 2.4, numpy.gradient.
    """
    array = as_array("gradient", "f", f)
    axes = tuple(range(array.ndim)) if axis is None else axes_of("gradient", axis, array.ndim)
    order = as_integer("gradient", "edge_order", edge_order)
    given = [_spacing(one) for one in varargs] or [1.0]
    if len(given) == 1 and not getattr(given[0], "shape", ()):
        given *= len(axes)
    if len(given) != len(axes):
        raise errors.ArgumentTypeError(
            f"gradient: varargs must be one number or a distance for each of {len(axes)} axes, not {len(given)}"
        )
    if not 0 < order <= 2:
        raise errors.ArgumentValueError(f"gradient: edge_order must be 1 or 2, not {order}")
    for at, spacing in zip(axes, given, strict=True):
        shape, length = known_shape(spacing) if is_array(spacing) else (), known_shape(array)[at]
        if length is None or None in shape:
            continue  # in a trace that does not know it
        if shape and shape != (length,):
            raise errors.ArgumentValueError(
                f"gradient: coordinates along axis {at} must be a vector of length {length}, not of shape {shape}"
            )
        if length < order + 1:
            raise errors.ArgumentValueError(
                f"gradient: f must have at least {order + 1} elements along axis {at}, not {length}"
            )
    found = [_gradient(array, one, axis=at, edge_order=order) for at, one in zip(axes, given, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _spacing(one: Any) -> Any:
    """A number, or an array of coordinates."""
    if isinstance(one, (list, tuple)):
        return xp.asarray(one)
    if hasattr(one, "shape") and not isinstance(one, np.generic):
        return as_array("gradient", "varargs", one)
    return as_number("gradient", "varargs", one)


def _slopes(f: AnyArray, spacing: float | AnyArray, *, axis: int, edge_order: int) -> Array:
    """What `gradient` gives along one axis."""
    samples: Any = f if f.dtype.kind in "fc" else xp.astype(f, xp.float64)
    ndim = len(samples.shape)

    def part(start: int | None, stop: int | None) -> Any:
        return samples[_key(ndim, axis, slice(start, stop))]

    steps: Any = spacing
    is_even = not is_array(steps) or not steps.ndim
    if not is_even:
        coordinates = steps if steps.dtype.kind in "fc" else xp.astype(steps, xp.float64)
        steps = xp.diff(coordinates)
        values = known(steps)
        if values is not None and (values == values[0]).all():  # as NumPy, whose values differ in the last digit
            is_even, steps = True, steps[0]
    if is_even:
        inner = (part(2, None) - part(None, -2)) / (2.0 * steps)
    else:
        before, after = [
            xp.reshape(one, tuple([-1 if i == axis else 1 for i in range(ndim)])) for one in (steps[:-1], steps[1:])
        ]
        both = before + after
        inner = -after / (before * both) * part(None, -2)
        inner = inner + (after - before) / (before * after) * part(1, -1) + before / (after * both) * part(2, None)

    def step(at: int) -> Any:
        return steps if is_even else steps[at]

    if edge_order == 1:
        first, last = (part(1, 2) - part(0, 1)) / step(0), (part(-1, None) - part(-2, -1)) / step(-1)
    else:
        first = _slope_at_end(step(0), step(1), part(0, 1), part(1, 2), part(2, 3))
        last = -_slope_at_end(step(-1), step(-2), part(-1, None), part(-2, -1), part(-3, -2))
    return xp.astype(xp.concat([first, inner, last], axis=axis), samples.dtype, copy=False)


def _slope_at_end(near: Any, far: Any, f0: Any, f1: Any, f2: Any) -> Any:
    """The slope of a parabola through three samples, at the first."""
    both = near + far
    return -(near + both) / (near * both) * f0 + both / (near * far) * f1 - near / (far * both) * f2


_slopes.__name__ = "gradient"
_gradient: Final = composed(own="numpy cupy", f="any", spacing="real numeric")(_slopes)


@composed(own="numpy cupy", reads_no_values=True, ary="numeric")
def ediff1d(ary: AnyArray, to_end: float | AnyArray | None = None, to_begin: float | AnyArray | None = None) -> Array:
    """Differences of consecutive elements of the flattened array.

    `to_begin` is joined before the differences, `to_end` after them.
    Raises TypeError if their kind is higher than that of `ary`, such as floats for integers.

    >>> import anyarray as xp
    >>> xp.ediff1d(xp.asarray([1, 2, 4]), to_begin=xp.asarray([0, 0])).tolist()
    [0, 0, 1, 2]

    Source: NumPy 2.4, numpy.ediff1d.
    """
    flat = xp.reshape(ary, (-1,))
    parts = [xp.diff(flat)]
    for name, given in (("to_begin", to_begin), ("to_end", to_end)):
        if given is not None:
            more = xp.asarray(given)
            if not np.can_cast(np.dtype(str(more.dtype)), np.dtype(str(flat.dtype)), "same_kind"):
                raise errors.ArgumentTypeError(
                    f"ediff1d: {name} must be of the kind of ary, {flat.dtype}, not {more.dtype}"
                )
            part = xp.astype(xp.reshape(more, (-1,)), flat.dtype)
            parts = [part, *parts] if name == "to_begin" else [*parts, part]
    return xp.concat(parts) if len(parts) > 1 else parts[0]


@composed(own="numpy cupy", reads_no_values=True, p="real numeric")
def unwrap(p: AnyArray, discont: float | None = None, axis: int = -1, *, period: float = 2 * math.pi) -> Array:
    """Angles without jumps.

    Where two consecutive angles differ by more than `discont`, all following angles are moved by multiples of `period`.
    `discont` is at least half of `period`, the default. With an integer `period`, integers stay integers.

    >>> import anyarray as xp
    >>> xp.unwrap(xp.asarray([0, 1, 2, -1, 0]), period=4).tolist()
    [0, 1, 2, 3, 4]

    Source: NumPy 2.4, numpy.unwrap.
    """
    ndim = len(p.shape)
    at = axis_of("unwrap", axis, ndim)
    steps = xp.diff(p, axis=at)
    dtype = xp.result_type(steps, period)
    wide = xp.astype(steps, dtype, copy=False)
    high: Any
    if dtype.kind in "iu":
        high, rest = divmod(period, 2)
    else:
        high, rest = period / 2, 0
    within = (wide + high) % period - high
    if not rest:
        within = xp.where(xp.logical_and(within == -high, wide > 0), xp.asarray(high, dtype=dtype), within)
    limit = period / 2 if discont is None else discont
    zero = xp.zeros((), dtype=dtype)
    moved = xp.where(xp.abs(wide) < limit, zero, within - wide)
    start: Any = xp.astype(p, dtype, copy=False)
    return xp.concat(
        [start[_key(ndim, at, slice(0, 1))], start[_key(ndim, at, slice(1, None))] + xp.cumulative_sum(moved, axis=at)],
        axis=at,
    )
