"""Creation functions.

`scoped` has entered `device` already, so ops run on it.
"""

from __future__ import annotations

import math
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from anyarray._base import dtypes
from anyarray.backends._shared.axes import grid_axes
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._host import tensor
from anyarray.backends.tensorflow._kernel import NAME, Tensor, cast, constant, name_of, shape_of
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow._shapes import Length, length_tensor, shape_tensor, sizes_of
from anyarray.backends.tensorflow.manipulation import broadcast_arrays
from anyarray.backends.tensorflow.searching import where

_SMALL: Final = 1 << 15
"""Threshold in elements, up to which NumPy makes the array: it is faster, and a graph can hold it as a constant."""
_MAX_INT64: Final = (1 << 63) - 1


def _value(number: complex, dtype: Any) -> Tensor:
    # The cache of constants treats -0.0 and 0.0 as one key.
    return constant(number, NAME[dtype]) if number else tf.constant(np.asarray(number, dtype.as_numpy_dtype))


def _is_small(shape: tuple[Length, ...]) -> bool:
    """Whether NumPy makes an array of `shape` faster.

    False in a graph, which would hold all its elements.
    """
    return tf.executing_eagerly() and math.prod(shape) <= _SMALL


def full(shape: tuple[Length, ...], fill_value: complex, *, dtype: Any, device: str | None = None) -> Tensor:
    if not _is_small(shape):
        return ops.Fill(shape_tensor(shape), _value(fill_value, dtype))
    host = dtype.as_numpy_dtype
    return tensor(np.full(shape, np.asarray(fill_value, host), host), device)


def ones(shape: tuple[Length, ...], *, dtype: Any, device: str | None = None) -> Tensor:
    return full(shape, 1, dtype=dtype, device=device)


def zeros(shape: tuple[Length, ...], *, dtype: Any, device: str | None = None) -> Tensor:
    if _is_small(shape):
        return tensor(np.zeros(shape, dtype.as_numpy_dtype), device)
    return ops.Fill(shape_tensor(shape), constant(0, NAME[dtype]))


def full_like(x: Tensor, /, fill_value: complex, *, dtype: Any = None, device: str | None = None) -> Tensor:
    shape: tuple[Any, ...] = shape_of(x)
    if None in shape:
        return ops.Fill(sizes_of(x), _value(fill_value, dtype or x.dtype))
    return full(shape, fill_value, dtype=dtype or x.dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: Any = None, device: str | None = None) -> Tensor:
    return full_like(x, 1, dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: Any = None, device: str | None = None) -> Tensor:
    shape: tuple[Any, ...] = shape_of(x)
    if None in shape:
        return ops.Fill(sizes_of(x), constant(0, NAME[dtype or x.dtype]))
    return zeros(shape, dtype=dtype or x.dtype, device=device)


empty = zeros
empty_like = zeros_like


def eye(n_rows: Length, n_cols: Length = None, /, *, k: int = 0, dtype: Any, device: str | None = None) -> Tensor:
    if n_cols is None:
        n_cols = n_rows
    if not (isinstance(n_rows, int) and isinstance(n_cols, int)):
        rows, columns = _places(n_rows), _places(n_cols)
        return cast(ops.Equal(ops.ExpandDims(ops.AddV2(rows, constant(k, "int64")), constant(1)), columns), NAME[dtype])
    if _is_small((n_rows, n_cols)):
        return tensor(np.eye(n_rows, n_cols, k, dtype.as_numpy_dtype), device)
    length = min(n_rows, n_cols - k) if k >= 0 else min(n_rows + k, n_cols)
    if length <= 0:
        return zeros((n_rows, n_cols), dtype=dtype, device=device)
    ones_on_it = ones((length,), dtype=dtype, device=device)
    return ops.MatrixDiagV3(ones_on_it, constant(k), constant(n_rows), constant(n_cols), constant(0, NAME[dtype]))


def _made(values: npt.NDArray[Any], device: str | None) -> Tensor:
    """Tensor of a small array; in a graph, a constant that can be folded."""
    return tensor(values, device) if tf.executing_eagerly() else tf.constant(values)


def _places(length: Length) -> Tensor:
    """The integers from 0 up to, without, `length`."""
    return ops.Range(constant(0, "int64"), length_tensor(length), constant(1, "int64"))


def _float64(value: Any) -> Tensor:
    """A number as a tensor, whether it is known or not."""
    return cast(value, "float64") if tf.is_tensor(value) else tf.constant(np.float64(value))


def _ramp(start: Any, step: Any, length: Length) -> Tensor:
    """start, start + step, ... in float64, equal bit for bit to NumPy's."""
    return ops.AddV2(ops.Mul(cast(_places(length), "float64"), _float64(step)), _float64(start))


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any, device: str | None = None) -> Tensor:
    if stop is None:
        start, stop = 0, start
    bounds = (start, stop, step)
    if any(map(tf.is_tensor, bounds)):
        none = constant(0, "int64")  # the op Range refuses bounds between which there is nothing
        if all(isinstance(b, int) or tf.is_tensor(b) for b in bounds):
            low, high, gap = map(length_tensor, bounds)
            length = ops.Neg(ops.FloorDiv(ops.Sub(low, high), gap))
            return cast(ops.AddV2(ops.Mul(_places(ops.Maximum(length, none)), gap), low), NAME[dtype])
        steps = ops.Ceil(ops.RealDiv(ops.Sub(_float64(stop), _float64(start)), _float64(step)))
        return cast(_ramp(start, step, ops.Maximum(cast(steps, "int64"), none)), NAME[dtype])
    is_exact = all(isinstance(b, int) and abs(b) <= _MAX_INT64 for b in bounds)
    name = NAME[dtype]
    kind = dtypes.KNOWN[name].kind
    if (stop - start) / step > _SMALL:
        if kind == "f":
            # NumPy also computes the step as the difference of the first two values.
            second = float(start) + float(step)
            return cast(_ramp(start, second - float(start), math.ceil((stop - start) / step)), name)
        if kind in "iu" and is_exact:
            return cast(ops.Range(*(tf.constant(np.int64(b)) for b in bounds)), name)
    wide = "float64" if kind == "f" else dtype.as_numpy_dtype
    return _made(np.arange(*bounds, dtype=wide).astype(dtype.as_numpy_dtype, copy=False), device)


def linspace(
    start: Any, stop: Any, /, num: Length, *, dtype: Any, device: str | None = None, endpoint: bool = True
) -> Tensor:
    name = NAME[dtype]
    if any(map(tf.is_tensor, (start, stop, num))):
        count, one = length_tensor(num), constant(1, "int64")
        last = ops.Sub(count, one) if endpoint else count
        first, width = _float64(start), ops.Sub(_float64(stop), _float64(start))
        values = _ramp(first, ops.RealDiv(width, cast(ops.Maximum(last, one), "float64")), count)
        if endpoint:  # the last value is exact; the computed one may be rounded
            is_last = ops.LogicalAnd(ops.Equal(_places(count), last), ops.Less(one, count))
            values = where(is_last, _float64(stop), values)
        return cast(values, name)
    kind = dtypes.KNOWN[name].kind
    if kind not in "fc":
        return _made(np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype.as_numpy_dtype), device)
    number: Any = np.float64 if kind == "f" else np.complex128  # complex division as in NumPy's linspace
    first, last = number(start), number(stop)
    intervals = num - 1 if endpoint else num
    with np.errstate(all="ignore"):
        step = (last - first) / (intervals or 1)
    if num <= _SMALL:
        with np.errstate(all="ignore"):
            ramp = np.arange(num) * step + first
        if endpoint and num > 1:
            ramp[-1] = last  # exact; the computed value may be rounded
        return _made(ramp.astype(dtype.as_numpy_dtype, copy=False), device)
    if kind == "c":
        ends = (first.real, last.real), (first.imag, last.imag)
        return ops.Complex(*(linspace(a, b, num, dtype=dtype.real_dtype, endpoint=endpoint) for a, b in ends), dtype)
    values = _ramp(first, step, intervals)
    if endpoint:
        values = ops.ConcatV2([values, tf.constant(np.asarray([last]))], constant(0))
    return cast(values, name)


def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> tuple[Tensor, ...]:
    axes = grid_axes(len(arrays), indexing)
    shapes = [(1,) * axis + (-1,) + (1,) * (len(axes) - 1 - axis) for axis in axes]
    return broadcast_arrays(*(ops.Reshape(x, constant(shape)) for x, shape in zip(arrays, shapes, strict=True)))


def _reach(x: Tensor, axis: int, k: int) -> Tensor:
    """`k`, at most the length of `axis`, the limit of MatrixBandPart."""
    shape = shape_of(x)
    if len(shape) < 2:
        raise ValueError(f"tril, triu: x must have two axes or more, not {len(shape)}")
    length = shape[axis]
    if length is None:
        return ops.Minimum(constant(k), ops.GatherV2(sizes_of(x), constant(len(shape) + axis), constant(0)))
    return constant(min(k, length))


def _without(x: Tensor, n_below: Tensor, n_above: Tensor) -> Tensor:
    """`x` with zeros in a band around the main diagonal."""
    band = ops.MatrixBandPart(ops.Fill(sizes_of(x), constant(True, "bool")), n_below, n_above)
    return where(band, constant(0, name_of(x)), x)


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    if k >= 0:
        return ops.MatrixBandPart(x, constant(-1), _reach(x, -1, k))
    return _without(x, _reach(x, -2, -k - 1), constant(-1))


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    if k <= 0:
        return ops.MatrixBandPart(x, _reach(x, -2, -k), constant(-1))
    return _without(x, constant(-1), _reach(x, -1, k - 1))
