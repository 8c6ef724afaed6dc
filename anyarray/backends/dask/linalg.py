"""Linear algebra: stacks of matrices in blocks, each matrix in one.

A matrix with many more rows than columns may be split along its rows for `qr` and `svd`.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

from anyarray.backends._shared.axes import axes_in, matrices
from anyarray.backends.dask._computing import from_host
from anyarray.backends.dask._kernel import (
    Axis,
    Block,
    Native,
    as_dtype,
    elementwise,
    floating,
    home_of,
    native,
    promoted,
    stacked,
)  # fmt: skip
from anyarray.backends.dask.statistical import max, min, sum

__all__ = [
    "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matrix_norm", "matrix_power", "matrix_rank",
    "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "vector_norm",
]  # fmt: skip


def _square(x: Native) -> Native:
    x = matrices(floating(x))
    if x.shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return x


def _of_square(name: str, *results: int) -> Callable[..., Any]:
    """A function of square matrices.

    `results` are the numbers of axes of the results, which have the length of the matrices.
    """

    def function(x: Native, /, **options: Any) -> Any:
        x = _square(x)
        return stacked(Block(name, **options), [x], [2], *[(x.shape[-1],) * ndim for ndim in results])

    function.__name__ = name
    return function


det, inv, cholesky = _of_square("det", 0), _of_square("inv", 2), _of_square("cholesky", 2)
slogdet, eig, eigh = _of_square("slogdet", 0, 0), _of_square("eig", 1, 2), _of_square("eigh", 1, 2)
eigvals, eigvalsh = _of_square("eigvals", 1), _of_square("eigvalsh", 1)


def matrix_power(x: Native, n: int, /) -> Native:
    return stacked(functools.partial(_power, n=n), [_square(x)], [2], x.shape[-2:])


def _power(block: Any, *, n: int) -> Any:
    return native(home_of(block), "matrix_power")(block, n)


def _tall(x: Native) -> bool:
    return x.ndim == 2 and x.numblocks[0] > 1 and x.numblocks[1] == 1


def qr(x: Native, /, *, mode: str = "reduced") -> tuple[Native, Native]:
    x = matrices(floating(x))
    rows, columns = x.shape[-2:]
    if mode == "reduced" and _tall(x) and rows >= columns:
        return tuple(da.linalg.qr(x))
    inner = rows if mode == "complete" else builtins.min(rows, columns)
    return stacked(Block("qr", mode=mode), [x], [2], (rows, inner), (inner, columns))


def svd(x: Native, /, *, full_matrices: bool = True) -> tuple[Native, ...]:
    x = matrices(floating(x))
    rows, columns = x.shape[-2:]
    if not full_matrices and _tall(x) and rows >= columns:
        return tuple(da.linalg.svd(x, coerce_signs=False))
    least = builtins.min(rows, columns)
    left, right = (rows, columns) if full_matrices else (least, least)
    return stacked(Block("svd", full_matrices=full_matrices), [x], [2], (rows, left), (least,), (right, columns))


def svdvals(x: Native, /) -> Native:
    x = matrices(floating(x))
    if _tall(x) and x.shape[0] >= x.shape[1]:
        return da.linalg.svd(x, coerce_signs=False)[1]
    return stacked(Block("svdvals"), [x], [2], (builtins.min(x.shape[-2:]),))


def matrix_rank(x: Native, /, *, rtol: Any = None) -> Native:
    return _with_tolerance("matrix_rank", matrices(floating(x)), rtol, ())


def pinv(x: Native, /, *, rtol: Any = None) -> Native:
    x = matrices(floating(x))
    return _with_tolerance("pinv", x, rtol, x.shape[:-3:-1])


def _with_tolerance(name: str, x: Native, rtol: Any, core: tuple[int, ...]) -> Native:
    if isinstance(rtol, da.Array):
        return stacked(functools.partial(_within, name=name), [x, rtol], [2, 0], core)
    return stacked(Block(name) if rtol is None else Block(name, rtol=rtol), [x], [2], core)


def _within(block: Any, rtol: Any, *, name: str) -> Any:
    return Block(name, rtol=rtol)(block)


def solve(x1: Native, x2: Native, /) -> Native:
    x1, x2 = promoted(_square(x1), floating(x2))
    if x2.ndim == 1:
        return solve(x1, x2[:, None])[..., 0]
    if x1.shape[-1] != x2.shape[-2]:
        raise ValueError(f"shapes {x1.shape} and {x2.shape} do not fit")
    return stacked(Block("solve"), [x1, x2], [2, 2], x2.shape[-2:])


def matrix_norm(x: Native, /, *, keepdims: bool = False, ord: Any = "fro") -> Native:
    x = matrices(floating(x))
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    found = stacked(Block("matrix_norm", ord=ord), [x], [2], ())
    return found[..., None, None] if keepdims else found


def vector_norm(x: Native, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Native:
    x = floating(x)
    options: Any = {"axis": axes_in(axis, x.ndim), "keepdims": keepdims}
    sizes = elementwise(Block("abs"), x)
    dtype = sizes.dtype
    if ord in (np.inf, -np.inf):
        return (max if ord > 0 else min)(sizes, **options)
    if ord == 0:
        return sum(as_dtype(as_dtype(x, np.dtype(bool)), dtype), **options)
    if ord == 1:
        return as_dtype(sum(sizes, **options), dtype)
    if ord == 2:
        return as_dtype(elementwise(Block("sqrt"), sum(sizes * sizes, **options)), dtype)
    total = sum(elementwise(_POW, sizes, _number(ord, dtype)), **options)
    return as_dtype(elementwise(_POW, total, _number(1 / ord, dtype)), dtype)


_POW = Block("pow")


def _number(value: Any, dtype: Any) -> Native:
    return from_host(np.asarray(value, dtype))
