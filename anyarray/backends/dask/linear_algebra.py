"""Products, and other functions of the standard's main namespace."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from anyarray.backends._shared.axes import matrices
from anyarray.backends.dask._kernel import Native, as_dtype, axis_within, known, promoted
from anyarray.backends.dask.creation import zeros
from anyarray.backends.dask.elementwise import conj, multiply
from anyarray.backends.dask.statistical import sum

__all__ = ["cross", "diagonal", "einsum", "matmul", "matrix_transpose", "outer", "tensordot", "trace", "vecdot"]


def matmul(x1: Native, x2: Native, /) -> Native:
    x1, x2 = promoted(known(x1), known(x2))
    if not x1.ndim or not x2.ndim or x1.shape[-1] != x2.shape[-2 if x2.ndim > 1 else 0]:
        raise ValueError(f"shapes {x1.shape} and {x2.shape} cannot be multiplied")
    dtype = x1.dtype
    if 0 in x1.shape or 0 in x2.shape:
        shape = np.matmul(np.broadcast_to(0, x1.shape), np.broadcast_to(0, x2.shape)).shape
        return zeros(shape, dtype=dtype)
    return as_dtype(da.matmul(x1, x2), dtype)


def tensordot(x1: Native, x2: Native, /, *, axes: Any = 2) -> Native:
    if isinstance(axes, int) and axes < 0:
        raise ValueError(f"axes must not be negative, not {axes}")
    x1, x2 = promoted(known(x1), known(x2))
    pairs = (range(x1.ndim - axes, x1.ndim), range(axes)) if isinstance(axes, int) else axes
    first, second = ([axis_within(i, x.ndim) for i in one] for x, one in zip((x1, x2), pairs, strict=True))
    if [x1.shape[i] for i in first] != [x2.shape[i] for i in second]:
        raise ValueError(f"shapes {x1.shape} and {x2.shape} do not fit along the axes {axes}")
    return as_dtype(da.tensordot(x1, x2, axes=(first, second)), x1.dtype)


def vecdot(x1: Native, x2: Native, /, *, axis: int = -1) -> Native:
    x1, x2 = promoted(known(x1), known(x2))
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"axis {axis} must have the same length, not {x1.shape[axis]} and {x2.shape[axis]}")
    x1, x2 = da.moveaxis(x1, axis, -1), da.moveaxis(x2, axis, -1)
    return as_dtype(sum(multiply(conj(x1) if x1.dtype.kind == "c" else x1, x2), axis=-1), x1.dtype)


def outer(x1: Native, x2: Native, /) -> Native:
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"both arrays must have one axis, not {x1.ndim} and {x2.ndim}")
    return multiply(known(x1)[:, None], known(x2)[None])


def cross(x1: Native, x2: Native, /, *, axis: int = -1) -> Native:
    x1, x2 = promoted(known(x1), known(x2))
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"axis {axis} must have the length 3 in both arrays")
    a, b = ([da.moveaxis(x, axis, -1)[..., i] for i in range(3)] for x in (x1, x2))
    parts = [multiply(a[i - 2], b[i - 1]) - multiply(a[i - 1], b[i - 2]) for i in range(3)]
    return da.moveaxis(da.stack(parts, axis=-1), -1, axis)


def matrix_transpose(x: Native, /) -> Native:
    return da.swapaxes(matrices(x), -1, -2)


def diagonal(x: Native, /, *, offset: int = 0) -> Native:
    x = matrices(known(x))
    offset = max(-x.shape[-2], min(offset, x.shape[-1]))
    if 0 in x.shape or offset in (-x.shape[-2], x.shape[-1]):
        return zeros(np.diagonal(np.broadcast_to(0, x.shape), offset, -2, -1).shape, dtype=x.dtype)
    return da.diagonal(x, offset, -2, -1)


def trace(x: Native, /, *, offset: int = 0, dtype: Any = None) -> Native:
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def einsum(operands: Any, /, *, subscripts: str, optimize: Any) -> Native:
    operands = promoted(*map(known, operands))
    return as_dtype(da.einsum(subscripts, *operands, optimize=optimize), operands[0].dtype)
