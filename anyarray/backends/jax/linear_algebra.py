"""Matrix products, with `Precision.HIGHEST`."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp

from anyarray.backends.jax._kernel import HIGHEST, Native, compiled, promoted

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


@compiled
def matrix_transpose(x: Native) -> Native:
    return jnp.matrix_transpose(x)


@compiled
def matmul(x1: Native, x2: Native) -> Native:
    return jnp.matmul(*promoted(x1, x2), precision=HIGHEST)


@compiled
def _tensordot(x1: Native, x2: Native, *, axes: int | tuple[tuple[int, ...], tuple[int, ...]]) -> Native:
    if isinstance(axes, int) and axes < 0:  # JAX does not reject it
        raise ValueError(f"axes must not be negative, not {axes}")
    return jnp.tensordot(*promoted(x1, x2), axes=axes, precision=HIGHEST)


def tensordot(x1: Native, x2: Native, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Native:
    if not isinstance(axes, int):
        axes = tuple(one if isinstance(one, int) else tuple(one) for one in axes)  # type: ignore[assignment]  # as in NumPy
    return _tensordot(x1, x2, axes=axes)


@compiled
def vecdot(x1: Native, x2: Native, *, axis: int = -1) -> Native:
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: x1 and x2 must be of one length along axis {axis}, not {x1.shape} and {x2.shape}")
    x1, x2 = (jnp.moveaxis(x, axis, -1) for x in promoted(x1, x2))
    return jnp.matmul(jnp.conj(x1)[..., None, :], x2[..., None], precision=HIGHEST)[..., 0, 0]
