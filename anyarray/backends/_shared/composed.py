"""Functions of the standard composed of others, for backends that lack them.

The first argument is the home, which has the backend's native functions: `home.exp(x)`. The others are as in the
contract. Most functions are recent additions to the standard.
"""

from __future__ import annotations

import math
from typing import Any

from anyarray._base import dtypes
from anyarray.backends._shared.axes import axis_in, moved

Home = Any
Native = Any

__all__ = [
    "complex_of", "count_nonzero", "diff", "full_like", "isin", "logaddexp", "moveaxis", "ones_like", "reciprocal",
    "square", "take_along_axis", "tile", "unstack", "vecdot", "zeros_like",
]  # fmt: skip


def unstack(home: Home, x: Native, /, *, axis: int = 0) -> tuple[Native, ...]:
    before = (slice(None),) * (axis % x.ndim)
    return tuple(home.getitem(x, (*before, i)) for i in range(x.shape[axis]))


def complex_of(home: Home, real: Native, imag: Native) -> Native:
    """Complex numbers from their parts, which must be finite."""
    unit = home.constants.named(1j, "complex64" if home.dtype(real).itemsize <= 4 else "complex128")
    return home.add(real, home.multiply(imag, unit))


def count_nonzero(home: Home, x: Native, /, *, axis: Any = None, keepdims: bool = False) -> Native:
    counted = home.astype(home.astype(x, home.backend.native_dtype("bool")), home.backend.native_dtype("int64"))
    return home.sum(counted, axis=axis, keepdims=keepdims)


def diff(
    home: Home, x: Native, /, *, axis: int = -1, n: int = 1, prepend: Native | None = None, append: Native | None = None
) -> Native:
    if n < 0:
        raise ValueError(f"n must not be negative, not {n}")
    axis = axis_in(axis, len(home.shape_of(x)))
    ends = [one for one in (prepend, x, append) if one is not None]
    if not n:
        name = dtypes.result_name(*[home.dtype(one).name for one in ends])
        return home.duplicate(home.astype(x, home.backend.native_dtype(name)))
    if len(ends) > 1:
        ends = [one if home.shape_of(one) else _like_a_row(home, one, x, axis) for one in ends]
        x = home.concat(ends, axis=axis)
    before = (slice(None),) * axis
    subtract = home.not_equal if home.dtype(x).kind == "b" else home.subtract
    for _ in range(n):
        if home.shape_of(x)[axis] == 0:
            break
        x = subtract(home.getitem(x, (*before, slice(1, None))), home.getitem(x, (*before, slice(None, -1))))
    return x


def _like_a_row(home: Home, number: Native, x: Native, axis: int) -> Native:
    """A number in the shape of `x`, but of length 1 along an axis.

    A trace may not know the other lengths.
    """
    return home.broadcast_arrays(number, home.sum(x, axis=axis, keepdims=True))[0]


def isin(home: Home, x1: Native, x2: Native, /, *, invert: bool = False) -> Native:
    flat = home.reshape(x2, (-1,) if x2.size else (0,))
    found = home.any(home.equal(home.expand_dims(x1, axis=-1), flat), axis=-1)
    return home.logical_not(found) if invert else found


def logaddexp(home: Home, x1: Native, x2: Native, /) -> Native:
    larger = home.maximum(x1, x2)
    gap = home.negative(home.abs(home.subtract(x1, x2)))
    # Where both are the same infinity the gap is NaN and the answer is that infinity.
    tail = home.log1p(home.exp(home.where(home.equal(x1, x2), home.zeros_like(gap), gap)))
    return home.add(larger, tail)


def moveaxis(home: Home, x: Native, source: Any, destination: Any, /) -> Native:
    return home.permute_dims(x, moved(x.ndim, source, destination))


def reciprocal(home: Home, x: Native, /) -> Native:
    return home.divide(home.ones_like(x), x)


def square(home: Home, x: Native, /) -> Native:
    return home.multiply(x, x)


def take_along_axis(home: Home, x: Native, indices: Native, /, *, axis: int = -1) -> Native:
    """Elements by linear indices into the flattened array."""
    axis %= x.ndim
    shape = [1 if i == axis else n for i, n in enumerate(x.shape)]
    indices = home.where(home.less(indices, home.zeros_like(indices)), home.add(
        indices, home.full_like(indices, x.shape[axis])), indices)  # fmt: skip
    linear = home.multiply(indices, home.full_like(indices, math.prod(x.shape[axis + 1 :])))
    for i, n in enumerate(shape):
        if i != axis:
            steps = home.arange(0, n, 1, dtype=home.dtype_of(indices), device=home.backend.native_device)
            step = math.prod(x.shape[i + 1 :])
            along = home.reshape(
                home.multiply(steps, home.full_like(steps, step)), (1,) * i + (n,) + (1,) * (x.ndim - i - 1)
            )
            linear = home.add(linear, along)
    flat = home.take(home.reshape(x, (-1,)), home.reshape(linear, (-1,)), axis=0)
    return home.reshape(flat, linear.shape)


def tile(home: Home, x: Native, repetitions: tuple[int, ...], /) -> Native:
    ndim = max(x.ndim, len(repetitions))
    x = home.reshape(x, (1,) * (ndim - x.ndim) + x.shape)
    for axis, times in enumerate((1,) * (ndim - len(repetitions)) + tuple(repetitions)):
        before = (slice(None),) * axis
        x = home.concat([x] * times, axis=axis) if times else home.getitem(x, (*before, slice(0, 0)))
    return x


def vecdot(home: Home, x1: Native, x2: Native, /, *, axis: int = -1) -> Native:
    if home.dtype(x1).kind == "c":
        x1 = home.conj(x1)
    return home.sum(home.multiply(x1, x2), axis=axis)


def _like(home: Home, name: str, x: Native, dtype: Any, device: Any, *args: Any) -> Native:
    return getattr(home, name)(
        x.shape, *args, dtype=dtype or home.dtype_of(x), device=device or home.backend.native_device
    )


def full_like(home: Home, x: Native, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Native:
    return _like(home, "full", x, dtype, device, fill_value)


def ones_like(home: Home, x: Native, /, *, dtype: Any = None, device: Any = None) -> Native:
    return _like(home, "ones", x, dtype, device)


def zeros_like(home: Home, x: Native, /, *, dtype: Any = None, device: Any = None) -> Native:
    return _like(home, "zeros", x, dtype, device)
