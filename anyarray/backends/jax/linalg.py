"""The linear algebra extension, on floating arrays."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from anyarray.backends.jax._kernel import Axes, Native, compiled, inexact, promoted
from anyarray.backends.jax.statistical import total_dtype, with_nan

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "trace",
    "vector_norm",
]


@compiled
def outer(x1: Native, x2: Native) -> Native:
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer: x1 and x2 must have one axis, not {x1.ndim} and {x2.ndim}")
    x1, x2 = promoted(x1, x2)
    return jnp.multiply(x1[:, None], x2[None, :])


@compiled
def cross(x1: Native, x2: Native, *, axis: int = -1) -> Native:
    return jnp.linalg.cross(*promoted(x1, x2), axis=axis)


@compiled
def diagonal(x: Native, *, offset: int = 0) -> Native:
    return jnp.linalg.diagonal(x, offset=offset)


@compiled
def trace(x: Native, *, offset: int = 0, dtype: Any = None) -> Native:
    return jnp.sum(jnp.linalg.diagonal(x, offset=offset), axis=-1, dtype=total_dtype(x, dtype))


def _factoring(function: Callable[..., Any]) -> Any:
    """`function` of `jnp.linalg` on floating arrays; its parameters but arrays are keyword-only."""

    @functools.wraps(function)
    def body(*arrays: Native, **options: Any) -> Any:
        # Some of these multiply matrices inside; the setting is read while they are traced.
        with jax.default_matmul_precision("highest"):
            result = function(*inexact(*arrays), **options)
        return tuple(result) if isinstance(result, tuple) else result

    return compiled(body)


@_factoring
def cholesky(x: Native, /, *, upper: bool = False) -> Native:
    return jnp.linalg.cholesky(x, upper=upper)


@_factoring
def det(x: Native, /) -> Native:
    return jnp.linalg.det(x)


@_factoring
def eig(x: Native, /) -> tuple[Native, Native]:
    return jnp.linalg.eig(x)


@_factoring
def eigh(x: Native, /) -> tuple[Native, Native]:
    return jnp.linalg.eigh(x)


@_factoring
def eigvals(x: Native, /) -> Native:
    return jnp.linalg.eigvals(x)


@_factoring
def eigvalsh(x: Native, /) -> Native:
    return jnp.linalg.eigvalsh(x)


@_factoring
def inv(x: Native, /) -> Native:
    return jnp.linalg.inv(x)


@_factoring
def matrix_norm(x: Native, /, *, keepdims: bool = False, ord: Any = "fro") -> Native:
    norm = jnp.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
    return with_nan(norm, x, (-2, -1), keepdims) if ord in (1, -1, math.inf, -math.inf) else norm


@_factoring
def _matrix_power(x: Native, /, *, n: int) -> Native:
    return jnp.linalg.matrix_power(x, n)


def matrix_power(x: Native, n: int, /) -> Native:
    return _matrix_power(x, n=n)


@_factoring
def qr(x: Native, /, *, mode: str = "reduced") -> tuple[Native, Native]:
    return jnp.linalg.qr(x, mode=mode)


@_factoring
def slogdet(x: Native, /) -> tuple[Native, Native]:
    return jnp.linalg.slogdet(x)


@_factoring
def solve(x1: Native, x2: Native, /) -> Native:
    return jnp.linalg.solve(x1, x2)


@_factoring
def svd(x: Native, /, *, full_matrices: bool = True) -> tuple[Native, Native, Native]:
    return jnp.linalg.svd(x, full_matrices=full_matrices)


@_factoring
def svdvals(x: Native, /) -> Native:
    return jnp.linalg.svdvals(x)


@_factoring
def vector_norm(x: Native, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Native:
    norm = jnp.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    return with_nan(norm, x, axis, keepdims) if math.isinf(ord) else norm


def _tolerance(x: Native, rtol: Native | float | None) -> Native:
    """`rtol`, or the standard's default for the singular values of `x`."""
    if rtol is None:
        return max(x.shape[-2:]) * jnp.finfo(x.dtype).eps
    return rtol


@compiled
def _matrix_rank(x: Native, rtol: Native | float | None) -> Native:
    (x,) = inexact(x)
    values = jnp.linalg.svdvals(x)
    largest = jnp.max(values, axis=-1, keepdims=True, initial=0)
    return jnp.sum(values > largest * jnp.asarray(_tolerance(x, rtol))[..., None], axis=-1, dtype=jnp.int64)


def matrix_rank(x: Native, /, *, rtol: Native | float | None = None) -> Native:
    return _matrix_rank(x, rtol)


@compiled
def _pinv(x: Native, rtol: Native | float | None) -> Native:
    (x,) = inexact(x)
    with jax.default_matmul_precision("highest"):
        return jnp.linalg.pinv(x, rtol=_tolerance(x, rtol))


def pinv(x: Native, /, *, rtol: Native | float | None = None) -> Native:
    return _pinv(x, rtol)
