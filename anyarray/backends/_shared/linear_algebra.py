"""Norms, and the derivative of the determinant."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Native = Any


def vector_norm(
    xp: Any,
    x: Native,
    axis: Any,
    keepdims: bool,
    ord: float,
    euclidean: Callable[..., Native],
    of_order: Callable[..., Native],
) -> Native:
    """`vector_norm` of any order, by the functions of a backend.

    `euclidean` computes order 2. `of_order` computes the general formula, of the absolute values.
    """
    if ord == 2:
        return euclidean(x, axis, keepdims)
    sizes = xp.abs(x)
    if ord == 0:
        return xp.astype(xp.count_nonzero(sizes, axis=axis, keepdims=keepdims), sizes.dtype)
    if ord == 1 or (ord == math.inf and 0 in x.shape):  # the norm of no elements is 0
        return xp.sum(sizes, axis=axis, keepdims=keepdims)
    if math.isinf(ord):
        return (xp.max if ord > 0 else xp.min)(sizes, axis=axis, keepdims=keepdims)
    return of_order(sizes, axis, keepdims, ord)


def matrix_norm(xp: Any, x: Native, keepdims: bool, ord: Any) -> Native:
    """`matrix_norm` of any order, by the functions of a backend."""
    if ord in ("fro", None):
        return xp.vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord not in (1, -1, 2, -2, math.inf, -math.inf, "nuc"):
        raise ValueError(f"ord must be one of 'fro', 'nuc', 1, -1, 2, -2, inf, -inf, not {ord!r}")
    if 0 in x.shape[-2:] and ord in (1, 2, math.inf, "nuc"):  # the norm of no elements is 0
        return xp.sum(xp.abs(x), axis=(-2, -1), keepdims=keepdims)
    if ord in (2, -2, "nuc"):
        combine = xp.sum if ord == "nuc" else xp.max if ord == 2 else xp.min
        norm = combine(xp.svdvals(x), axis=-1, keepdims=keepdims)
        return xp.expand_dims(norm, axis=-1) if keepdims else norm
    sums = xp.sum(xp.abs(x), axis=-2 if abs(ord) == 1 else -1, keepdims=True)
    return (xp.max if ord > 0 else xp.min)(sums, axis=(-2, -1), keepdims=keepdims)


def norm_of_order(xp: Any, sizes: Native, ord: float, total: Callable[[Native], Native]) -> Native:
    """The norm of any order; `total` sums the powers.

    Where it is not differentiable, its derivative is the mean of the one-sided derivatives; libraries give NaN.
    """
    powers = total(xp.where(sizes == 0, 0, sizes) ** ord)
    is_zero = powers == (0 if ord > 0 else math.inf)
    return xp.where(is_zero, 0, xp.where(is_zero, 1, powers) ** (1 / ord))


def root_of_sum(xp: Any, x: Native) -> Native:
    """The square root, with derivative 0 at 0.

    For a sum of squares this is the mean of the one-sided derivatives; libraries give NaN.
    """
    return xp.where(x == 0, 0, xp.sqrt(xp.where(x == 0, 1, x)))


def tolerance(xp: Any, x: Native, rtol: Any) -> Any:
    """`rtol`, or the standard's default for the singular values of `x`."""
    return max(x.shape[-2:]) * xp.finfo(x.dtype).eps if rtol is None else rtol


def cofactors(
    xp: Any,
    x: Native,
    identity: Native,
    determinant: Callable[[Native], Native],
    of_singular: Callable[[Native, Native], Native],
) -> Native:
    """The derivative of the determinant with respect to each element.

    `of_singular` gives it for the matrices whose determinant is 0.
    """
    size = x.shape[-1]
    if size == 1:
        return xp.ones_like(x)
    if size == 2:
        a, b, c, d = (x[..., i, j] for i in (0, 1) for j in (0, 1))
        return xp.stack([xp.stack([d, -c], -1), xp.stack([-b, a], -1)], -2)
    if size == 3:
        return xp.linalg.cross(xp.roll(x, -1, -2), xp.roll(x, -2, -2))
    y = determinant(x)[..., None, None]
    is_singular = y == 0
    inverse = xp.linalg.inv(xp.where(is_singular, identity, x))
    return xp.where(is_singular, of_singular(x, is_singular), y * inverse.mT)


def cofactors_of_singular(xp: Any, x: Native) -> Native:
    """`cofactors` of singular matrices, by their singular values."""
    u, s, vh = xp.linalg.svd(x)
    ones = xp.ones_like(s[..., :1])
    before = xp.cumprod(xp.concatenate([ones, s[..., :-1]], -1), -1)
    after = xp.flip(xp.cumprod(xp.concatenate([ones, xp.flip(s[..., 1:], (-1,))], -1), -1), (-1,))
    sign = (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]
    return sign * xp.conj(u * (before * after)[..., None, :] @ vh)
