"""Products, and other functions of the standard's main namespace."""

from __future__ import annotations

from typing import Any

import dask.array as da

from anyarray.backends._shared.axes import contracted_axes, matrices, near_diagonal
from anyarray.backends.dask._kernel import Native, as_dtype, known, promoted
from anyarray.backends.dask.elementwise import FUNCTIONS
from anyarray.backends.dask.statistical import sum

__all__ = ["cross", "diagonal", "einsum", "matmul", "matrix_transpose", "tensordot", "trace", "vecdot"]


def matmul(x1: Native, x2: Native, /) -> Native:
    x1, x2 = promoted(x1, x2)
    if not x1.ndim or not x2.ndim or x1.shape[-1] != x2.shape[-2 if x2.ndim > 1 else 0]:
        raise ValueError(f"shapes {x1.shape} and {x2.shape} cannot be multiplied")
    return as_dtype(da.matmul(x1, x2), x1.dtype)


def tensordot(x1: Native, x2: Native, /, *, axes: Any = 2) -> Native:
    x1, x2 = promoted(x1, x2)
    return as_dtype(da.tensordot(x1, x2, axes=contracted_axes(x1.shape, x2.shape, axes)), x1.dtype)


def vecdot(x1: Native, x2: Native, /, *, axis: int = -1) -> Native:
    x1, x2 = promoted(x1, x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"axis {axis} must have the same length, not {x1.shape[axis]} and {x2.shape[axis]}")
    x1, x2 = da.moveaxis(x1, axis, -1), da.moveaxis(x2, axis, -1)
    return as_dtype(sum(FUNCTIONS["multiply"](FUNCTIONS["conj"](x1), x2), axis=-1), x1.dtype)


def cross(x1: Native, x2: Native, /, *, axis: int = -1) -> Native:
    x1, x2 = promoted(x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"axis {axis} must have the length 3 in both arrays")
    a, b = ([da.moveaxis(x, axis, -1)[..., i] for i in range(3)] for x in (x1, x2))
    parts = [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
    return da.moveaxis(da.stack(parts, axis=-1), -1, axis)


def matrix_transpose(x: Native, /) -> Native:
    return da.swapaxes(matrices(x), -1, -2)


def diagonal(x: Native, /, *, offset: int = 0) -> Native:
    return da.diagonal(x, near_diagonal(x.shape, offset), -2, -1)


def trace(x: Native, /, *, offset: int = 0, dtype: Any = None) -> Native:
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def einsum(operands: Any, /, *, subscripts: str, optimize: Any) -> Native:
    operands = promoted(*map(known, operands))
    return as_dtype(da.einsum(subscripts, *operands, optimize=optimize), operands[0].dtype)
