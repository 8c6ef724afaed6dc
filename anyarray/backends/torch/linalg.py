"""The linear algebra extension, for floating dtypes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from anyarray.backends import torch as backend
from anyarray.backends._shared import linear_algebra
from anyarray.backends._shared.axes import axes_in, matrices, near_diagonal, require_vectors
from anyarray.backends.torch._hooks import is_traced
from anyarray.backends.torch._kernel import SUMMED, Axes, Native, directly, inexact, is_recorded, promoted, with_kernels
from anyarray.backends.torch._slopes import with_derivative
from anyarray.backends.torch.elementwise import multiply, root_of_sum, subtract
from anyarray.backends.torch.statistical import sum as summed


def outer(x1: Native, x2: Native, /) -> Native:
    require_vectors(x1.ndim, x2.ndim)
    return multiply(x1[:, None], x2[None, :])


def cross(x1: Native, x2: Native, /, *, axis: int = -1) -> Native:
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"axis {axis} must have the length 3 in both arrays")
    x1, x2 = torch.broadcast_tensors(*(torch.movedim(x, (axis,), (-1,)) for x in promoted(x1, x2)))
    (a1, a2, a3), (b1, b2, b3) = x1.unbind(-1), x2.unbind(-1)
    parts = [
        subtract(multiply(p, q), multiply(r, s))
        for p, q, r, s in ((a2, b3, a3, b2), (a3, b1, a1, b3), (a1, b2, a2, b1))
    ]
    return torch.movedim(torch.stack(parts, -1), (-1,), (axis,))


def diagonal(x: Native, /, *, offset: int = 0) -> Native:
    return torch.diagonal(x, near_diagonal(x.shape, offset), -2, -1)


def trace(x: Native, /, *, offset: int = 0, dtype: Any = None) -> Native:
    return summed(diagonal(x, offset=offset), axis=-1, dtype=dtype or SUMMED[x.dtype])


_LinAlgError: Any = torch.linalg.LinAlgError


def _factoring(failure: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function of floating matrices, which raises NumPy's error.

    Each integer array is cast to float64, even if the other is a narrower float, as in NumPy's `solve`.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def body(*arrays: Native, **options: Any) -> Any:
            arrays = promoted(*[one for x in arrays for one in inexact(x)])
            try:
                found = function(*arrays, **options)
            except _LinAlgError as error:
                raise np.linalg.LinAlgError(failure) from error
            except RuntimeError as error:
                if "not implemented for" in str(error) or "Low precision dtypes" in str(error):
                    raise TypeError(f"unsupported dtype {str(arrays[0].dtype).removeprefix('torch.')}") from error
                raise
            return tuple(found) if isinstance(found, tuple) else found

        return body

    return decorated


_SINGULAR = "Singular matrix"
_DIVERGING = "SVD did not converge"
_UNSTABLE = "Eigenvalues did not converge"


def _mirrored(x: Native, upper: bool = False) -> Native:
    """`x` with one triangle mirrored to the other, which has no derivative."""
    if x.ndim < 2 or x.shape[-2] != x.shape[-1] or not is_recorded(x):
        return x
    lower = torch.ones(x.shape[-2:], dtype=torch.bool, device=x.device).tril()
    return torch.where(lower.mT if upper else lower, x, torch.conj(x).mT)


@_factoring("Matrix is not positive definite")
def cholesky(x: Native, /, *, upper: bool = False) -> Native:
    return torch.linalg.cholesky(_mirrored(x, upper), upper=upper)


def _cofactors(x: Native) -> Native:
    """The derivative of the determinant with respect to each element."""

    def of_singular(x: Native, is_singular: Native) -> Native:
        constant = torch.where(torch.isfinite(x), x, 0).detach()
        return linear_algebra.cofactors_of_singular(torch, constant) + _lost(x, is_singular)

    identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    return linear_algebra.cofactors(torch, x, identity, _determinant, of_singular)


# PyTorch's second derivatives of the determinant are NaN where singular values are equal.
_determinant: Final = with_derivative(
    torch.linalg.det,
    lambda slope, x: slope[..., None, None] * torch.conj(_cofactors(x)),
    lambda tangent, x: torch.sum(_cofactors(x) * tangent, (-2, -1)),
)


def _nan_where(is_lost: Native, slope: Native) -> Native:
    return slope * torch.where(is_lost, math.nan, 0.0).to(slope.dtype)


# Zeros, with the derivative NaN where it is lost.
_lost: Final = with_derivative(
    lambda x, is_lost: torch.zeros_like(x),
    lambda slope, x, is_lost: _nan_where(is_lost, slope),
    lambda tangent, x, is_lost: _nan_where(is_lost, tangent),
)


@_factoring(_SINGULAR)
def det(x: Native, /) -> Native:
    return _determinant(x) if is_recorded(x) and x.shape[-1] else torch.linalg.det(x)


@_factoring(_UNSTABLE)
def eig(x: Native, /) -> tuple[Native, Native]:
    return torch.linalg.eig(_without(_is_not_finite, x))


@_factoring(_UNSTABLE)
def eigh(x: Native, /) -> tuple[Native, Native]:
    return torch.linalg.eigh(_mirrored(x))


@_factoring(_UNSTABLE)
def eigvals(x: Native, /) -> Native:
    return torch.linalg.eigvals(_without(_is_not_finite, x))


@_factoring(_UNSTABLE)
def eigvalsh(x: Native, /) -> Native:
    return torch.linalg.eigvalsh(_mirrored(x))


@_factoring(_SINGULAR)
def inv(x: Native, /) -> Native:
    return torch.linalg.inv(x)


@_factoring(_DIVERGING)
def matrix_norm(x: Native, /, *, keepdims: bool = False, ord: Any = "fro") -> Native:
    if ord == "fro":
        return _euclidean(matrices(x), (x.ndim - 2, x.ndim - 1), keepdims)
    return linear_algebra.matrix_norm(backend, matrices(x), keepdims, ord)


@_factoring(_SINGULAR)
def _matrix_power(x: Native, /, *, n: int) -> Native:
    if x.shape[-2] != x.shape[-1]:
        raise ValueError("x must be square")
    found = torch.linalg.matrix_power(x, n)
    return found.clone() if n in (0, 1) else found


def matrix_power(x: Native, n: int, /) -> Native:
    return _matrix_power(x, n=n)


@_factoring("QR did not converge")
def qr(x: Native, /, *, mode: str = "reduced") -> tuple[Native, Native]:
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode must be 'reduced' or 'complete', not {mode!r}")
    return torch.linalg.qr(x, mode=mode)


@_factoring(_SINGULAR)
def slogdet(x: Native, /) -> tuple[Native, Native]:
    return torch.linalg.slogdet(x)


@_factoring(_SINGULAR)
def solve(x1: Native, x2: Native, /) -> Native:
    if x2.ndim == 1:
        stack = torch.broadcast_shapes(x1.shape[:-2], ())
        return torch.linalg.solve(x1, x2[:, None].expand((*stack, x2.shape[0], 1)))[..., 0]
    shape = torch.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return torch.linalg.solve(x1.expand((*shape, *x1.shape[-2:])), x2.expand((*shape, *x2.shape[-2:])))


def _without(is_wrong: Callable[[Native], Native], x: Native) -> Native:
    """The matrices themselves. Raises LinAlgError for such numbers."""
    if not is_traced(x) and bool(is_wrong(x).any()):
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")
    return x


def _is_not_finite(x: Native) -> Native:
    return ~torch.isfinite(x)


@_factoring(_DIVERGING)
def svd(x: Native, /, *, full_matrices: bool = True) -> tuple[Native, Native, Native]:
    are_full = full_matrices and x.shape[-2] != x.shape[-1]
    u, s, vh = torch.linalg.svd(_without(torch.isinf, x), full_matrices=are_full)
    return u, s, vh.resolve_conj()


@_factoring(_DIVERGING)
def svdvals(x: Native, /) -> Native:
    return torch.linalg.svdvals(x)


@_factoring(_DIVERGING)
def vector_norm(x: Native, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Native:
    return linear_algebra.vector_norm(backend, x, axes_in(axis, x.ndim), keepdims, ord, _euclidean, _norm_of_order)


def _norm_of_order(sizes: Native, axes: tuple[int, ...], keepdims: bool, ord: float) -> Native:
    if not is_recorded(sizes):
        return torch.linalg.vector_norm(sizes, ord, axes, keepdims) if axes else sizes
    return linear_algebra.norm_of_order(torch, sizes, ord, lambda x: summed(x, axis=axes, keepdims=keepdims))


directly(vector_norm, torch.linalg.vector_norm, with_kernels("fc"), ("axis", "keepdims"), is_sloped=True)


def _euclidean(x: Native, axes: tuple[int, ...], keepdims: bool) -> Native:
    if not is_recorded(x) and axes:
        return torch.linalg.vector_norm(x, 2, axes, keepdims)
    squares = torch.real(x * torch.conj(x)) if x.is_complex() else x * x
    return root_of_sum(summed(squares, axis=axes, keepdims=keepdims))


@_factoring(_DIVERGING)
def _matrix_rank(x: Native, /, *, rtol: Any) -> Native:
    values = torch.linalg.svdvals(matrices(x))
    if not values.shape[-1]:
        return torch.zeros(x.shape[:-2], dtype=torch.int64, device=x.device)
    largest = torch.amax(values, -1, keepdim=True)
    limit = linear_algebra.tolerance(torch, x, rtol)
    limit = limit[..., None] if isinstance(limit, torch.Tensor) else limit
    return torch.sum(values > largest * limit, -1)


def matrix_rank(x: Native, /, *, rtol: Any = None) -> Native:
    return _matrix_rank(x, rtol=rtol)


@_factoring(_DIVERGING)
def _pinv(x: Native, /, *, rtol: Any) -> Native:
    return torch.linalg.pinv(_without(torch.isinf, matrices(x)), rtol=linear_algebra.tolerance(torch, x, rtol))


def pinv(x: Native, /, *, rtol: Any = None) -> Native:
    return _pinv(x, rtol=rtol)
