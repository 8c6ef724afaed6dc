"""The linear algebra extension, for floating dtypes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from anyarray.backends import jax as backend
from anyarray.backends._shared import linear_algebra
from anyarray.backends._shared.axes import near_diagonal, require_vectors
from anyarray.backends.jax._kernel import Axes, Native, compiled, inexact, kind_of, promoted
from anyarray.backends.jax._slopes import with_jvps
from anyarray.backends.jax.statistical import added, reduced, total_dtype


@compiled
def outer(x1: Native, x2: Native) -> Native:
    require_vectors(x1.ndim, x2.ndim)
    x1, x2 = promoted(x1, x2)
    return jnp.multiply(x1[:, None], x2[None, :])


@compiled
def cross(x1: Native, x2: Native, *, axis: int = -1) -> Native:
    return jnp.linalg.cross(*promoted(x1, x2), axis=axis)


@compiled
def diagonal(x: Native, *, offset: int = 0) -> Native:
    return jnp.linalg.diagonal(x, offset=near_diagonal(x.shape, offset))


@compiled
def trace(x: Native, *, offset: int = 0, dtype: Any = None) -> Native:
    return jnp.sum(jnp.linalg.diagonal(x, offset=near_diagonal(x.shape, offset)), axis=-1, dtype=total_dtype(x, dtype))


def _factoring(function: Callable[..., Any]) -> Any:
    """`function` of `jnp.linalg`, for floating arrays; options by keyword.

    Each integer array is cast to float64, even if the other is a narrower float, as in NumPy's `solve`.
    """

    @functools.wraps(function)
    def body(*arrays: Native, **options: Any) -> Any:
        # Some of these use matrix products internally; the setting is read at trace time.
        with jax.default_matmul_precision("highest"):
            result = function(*promoted(*(one for x in arrays for one in inexact(x))), **options)
        return tuple(result) if isinstance(result, tuple) else result

    return compiled(body)


def _by_lapack(x: Native, found: Any) -> Any:
    """LAPACK's result `found`; TypeError if `x` has 16 bits, which it lacks.

    JAX raises an error only at lowering, where the function's name is no longer known.
    """
    if x.dtype.itemsize == 2 and jax.default_backend() != "tpu":  # XLA for TPUs does without LAPACK
        raise TypeError(f"unsupported dtype {x.dtype.name}")
    return found


@_factoring
def cholesky(x: Native, /, *, upper: bool = False) -> Native:
    return _by_lapack(x, jnp.linalg.cholesky(_mirrored(x, upper=upper), upper=upper))


def _mirrored(x: Native, *, upper: bool = False) -> Native:
    """`x` with its lower triangle, or its upper one, mirrored to the other.

    JAX averages both, which then gives the triangle that NumPy reads.
    """
    if x.ndim < 2 or x.shape[-2] != x.shape[-1]:
        return x  # JAX raises
    lower = jnp.tri(x.shape[-1], dtype=bool)
    return jnp.where(lower.T if upper else lower, x, jnp.conj(x).mT)


# JAX's derivative is 0 at singular matrices with a nonzero one, such as one with a column of zeros.
_determinant = with_jvps(lambda tangent, y, x: jnp.sum(_cofactors(x) * tangent, (-2, -1)))(jnp.linalg.det)


def _cofactors(x: Native) -> Native:
    """The derivative of the determinant with respect to each element."""

    def of_singular(x: Native, is_singular: Native) -> Native:
        found = lax.cond(jnp.any(is_singular), _cofactors_of_singular, jnp.zeros_like, lax.stop_gradient(x))
        return found + _lost(x, is_singular)

    return linear_algebra.cofactors(jnp, x, jnp.eye(x.shape[-1], dtype=x.dtype), _determinant, of_singular)


def _cofactors_of_singular(x: Native) -> Native:
    return linear_algebra.cofactors_of_singular(jnp, _without_infinity(x))


# Zeros, with the derivative NaN where it is lost.
_lost = with_jvps(lambda tangent, y, x, is_lost: tangent * jnp.where(is_lost, np.nan, 0).astype(tangent.dtype), None)(
    lambda x, is_lost: jnp.zeros_like(x)
)


@_factoring
def det(x: Native, /) -> Native:
    if x.shape[-2:] == (0, 0):  # JAX computes the value, but not the derivative
        return jnp.ones(x.shape[:-2], x.dtype)
    found = _determinant(x)
    return found if x.shape[-1] < 4 else _by_lapack(x, found)  # JAX expands those by formula


def _scaled(x: Native) -> tuple[Native, Native]:
    """Each matrix divided by a power of two, and these powers as (..., 1).

    The power is nearly always 1. LAPACK scales a matrix whose largest element is beyond certain limits, but does not
    scale its eigenvalues back. So we scale it just within them, as LAPACK would, so that small elements do not
    underflow.
    """
    parts = [lax.real(x), lax.imag(x)] if kind_of(x) == "c" else [x]
    sizes = [jnp.max(lax.abs(lax.stop_gradient(part)), (-2, -1), keepdims=True, initial=0) for part in parts]
    size = functools.reduce(lax.max, sizes)
    kind = jnp.finfo(size.dtype)
    limit = 2.0 ** -(kind.minexp // 2 + kind.nmant)  # it and its reciprocal are those of ?geev
    exponent = lax.bitcast_convert_type(np.array(np.inf, kind.dtype), f"uint{kind.bits}")
    power = lax.bitcast_convert_type(lax.bitcast_convert_type(size, exponent.dtype) & exponent, kind.dtype)
    # Large ones are scaled below half the limit: the modulus of a complex number may be larger than its parts.
    scale = jnp.where(size >= limit / 2, power * (4 / limit), jnp.where(size < 1 / limit, power * limit, 1))
    scale = jnp.where((power == 0) | ~lax.is_finite(power), 1, scale)
    return _times(x, 1 / scale), scale[..., 0]


def _times(x: Native, factor: Native) -> Native:
    """`x` times a real factor, by parts: infinite parts make no NaN."""
    return lax.complex(lax.real(x) * factor, lax.imag(x) * factor) if kind_of(x) == "c" else x * factor


@_factoring
def eig(x: Native, /) -> tuple[Native, Native]:
    x, scale = _scaled(x)
    values, vectors = _by_lapack(x, jnp.linalg.eig(x))
    return _times(values, scale), vectors


@_factoring
def eigh(x: Native, /) -> tuple[Native, Native]:
    return _by_lapack(x, jnp.linalg.eigh(_mirrored(x)))


@_factoring
def eigvals(x: Native, /) -> Native:
    x, scale = _scaled(x)
    return _times(_by_lapack(x, jnp.linalg.eigvals(x)), scale)


@_factoring
def eigvalsh(x: Native, /) -> Native:
    return _by_lapack(x, jnp.linalg.eigvalsh(_mirrored(x)))


@_factoring
def inv(x: Native, /) -> Native:
    return _by_lapack(x, jnp.linalg.inv(x))


def _eye(x: Native, n_rows: int, n_cols: int) -> Native:
    """An identity, or its first rows or columns, per matrix of `x`."""
    return jnp.broadcast_to(jnp.eye(n_rows, n_cols, dtype=x.dtype), (*x.shape[:-2], n_rows, n_cols))


def _is_empty(x: Native) -> bool:
    """Whether the matrices of `x` have no elements.

    JAX 0.10 returns their factors as float32, and then rejects them.
    """
    return x.ndim > 1 and 0 in x.shape[-2:]


@_factoring
def matrix_norm(x: Native, /, *, keepdims: bool = False, ord: Any = "fro") -> Native:
    return linear_algebra.matrix_norm(backend, x, keepdims, ord)


@_factoring
def _matrix_power(x: Native, /, *, n: int) -> Native:
    power = jnp.linalg.matrix_power(x, n)
    return _by_lapack(x, power) if n < 0 else power


def matrix_power(x: Native, n: int, /) -> Native:
    return _matrix_power(x, n=n)


@_factoring
def qr(x: Native, /, *, mode: str = "reduced") -> tuple[Native, Native]:
    if _is_empty(x) and mode in ("reduced", "complete"):
        m, n = x.shape[-2:]
        k = m if mode == "complete" else 0
        return _eye(x, m, k), jnp.zeros((*x.shape[:-2], k, n), x.dtype)
    return _by_lapack(x, jnp.linalg.qr(x, mode=mode))


@_factoring
def slogdet(x: Native, /) -> tuple[Native, Native]:
    found = jnp.linalg.slogdet(x)
    return found if x.shape[-1] in (1, 2) else _by_lapack(x, found)  # JAX expands those by formula


@_factoring
def solve(x1: Native, x2: Native, /) -> Native:
    return _by_lapack(x1, jnp.linalg.solve(x1, x2))


@_factoring
def svd(x: Native, /, *, full_matrices: bool = True) -> tuple[Native, Native, Native]:
    if _is_empty(x):
        m, n = x.shape[-2:]
        return _eye(x, m, m if full_matrices else 0), svdvals(x), _eye(x, n if full_matrices else 0, n)
    # Square matrices have full factors anyway; older versions have no derivative with `full_matrices=True`.
    are_full = full_matrices and x.shape[-2] != x.shape[-1]
    return _by_lapack(x, jnp.linalg.svd(_without_infinity(x), full_matrices=are_full))


def _without_infinity(x: Native) -> Native:
    """The matrices with infinities replaced by NaN.

    LAPACK may not terminate for infinities.
    """
    return jnp.where(jnp.isinf(x), jnp.nan, x)


@_factoring
def svdvals(x: Native, /) -> Native:
    if _is_empty(x):
        return jnp.zeros((*x.shape[:-2], 0), jnp.finfo(x.dtype).dtype)
    # Not `jnp.linalg.svdvals`, which allocates full matrices: 13 GB for 40,000 rows of two.
    return _by_lapack(x, jnp.linalg.svd(x, full_matrices=False, compute_uv=False))


@_factoring
def vector_norm(x: Native, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Native:
    return linear_algebra.vector_norm(backend, x, axis, keepdims, ord, _euclidean_norm, _norm_of_order)


def _norm_of_order(sizes: Native, axis: Axes, keepdims: bool, ord: float) -> Native:
    return linear_algebra.norm_of_order(jnp, sizes, ord, lambda x: reduced(added, x, axis, keepdims=keepdims))


def _euclidean_norm(x: Native, axis: Axes, keepdims: bool) -> Native:
    squares = lax.real(x * lax.conj(x)) if kind_of(x) == "c" else x * x
    return linear_algebra.root_of_sum(jnp, reduced(added, squares, axis, keepdims=keepdims))


@compiled
def _matrix_rank(x: Native, rtol: Native | float | None) -> Native:
    (x,) = inexact(x)
    values = svdvals(x)
    largest = jnp.max(values, axis=-1, keepdims=True, initial=0)
    return jnp.sum(
        values > largest * jnp.asarray(linear_algebra.tolerance(jnp, x, rtol))[..., None], axis=-1, dtype=jnp.int64
    )


def matrix_rank(x: Native, /, *, rtol: Native | float | None = None) -> Native:
    return _matrix_rank(x, rtol)


@compiled
def _pinv(x: Native, rtol: Native | float | None) -> Native:
    x = _without_infinity(*inexact(x))
    with jax.default_matmul_precision("highest"):
        inverse = (
            jnp.linalg.pinv(x, rtol=linear_algebra.tolerance(jnp, x, None)) if rtol is None else _pseudoinverse(x, rtol)
        )
    return inverse if _is_empty(x) else _by_lapack(x, inverse)


def _slope_of_pseudoinverse(step: Native, inverse: Native, x: Native, rtol: Native) -> Native:
    """The JVP, as of `jnp.linalg.pinv`, which takes no tracer as `rtol`.

    Here it is an operand of a compiled function. Source: Golub and Pereyra, 1973.
    """
    with jax.default_matmul_precision("highest"):
        turned, adjoint = jnp.conj(step).mT, jnp.conj(inverse).mT
        left, right = inverse @ (adjoint @ turned), (turned @ adjoint) @ inverse
        return left - (left @ x) @ inverse + right - inverse @ (x @ right) - inverse @ step @ inverse


_pseudoinverse = with_jvps(_slope_of_pseudoinverse, None)(lambda x, rtol: jnp.linalg.pinv(x, rtol=rtol))


def pinv(x: Native, /, *, rtol: Native | float | None = None) -> Native:
    return _pinv(x, rtol)
