"""Matrix products, with `Precision.HIGHEST`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from anyarray.backends.jax._kernel import HIGHEST, Native, compiled, kind_of, promoted


@compiled
def matrix_transpose(x: Native) -> Native:
    return jnp.matrix_transpose(x)


@compiled(instead=np.matmul)
def matmul(x1: Native, x2: Native) -> Native:
    return jnp.matmul(*promoted(x1, x2), precision=HIGHEST)


@compiled
def _dot(a: Native, b: Native) -> Native:
    return jnp.dot(*promoted(a, b), precision=HIGHEST)


@compiled
def _inner(a: Native, b: Native) -> Native:
    return jnp.inner(*promoted(a, b), precision=HIGHEST)


# The parameters may be given by name.
def dot(a: Native, b: Native) -> Native:
    return _dot(a, b)


def inner(a: Native, b: Native) -> Native:
    return _inner(a, b)


@compiled
def _einsum(*operands: Native, subscripts: str, optimize: Any) -> Native:
    arrays = promoted(*operands)
    if kind_of(arrays[0]) == "b":  # JAX adds them modulo 2
        return jnp.einsum(subscripts, *[x.astype("int64") for x in arrays], optimize=optimize) != 0
    return jnp.einsum(subscripts, *arrays, optimize=optimize, precision=HIGHEST)


def einsum(operands: Sequence[Native], /, *, subscripts: str, optimize: Any) -> Native:
    path = optimize[1:] if isinstance(optimize, tuple) else optimize
    if isinstance(path, tuple) and any(len(step) > 2 for step in path):
        path = "auto"  # JAX contracts two at a time
    return _einsum(*operands, subscripts=subscripts, optimize=path or "auto")


@compiled
def _tensordot(x1: Native, x2: Native, *, axes: int | tuple[tuple[int, ...], tuple[int, ...]]) -> Native:
    if isinstance(axes, int) and axes < 0:  # JAX does not reject it
        raise ValueError(f"axes must not be negative, not {axes}")
    return jnp.tensordot(*promoted(x1, x2), axes=axes, precision=HIGHEST)


def tensordot(x1: Native, x2: Native, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Native:
    if not isinstance(axes, int):
        axes = tuple(one if isinstance(one, int) else tuple(one) for one in axes)  # type: ignore[assignment]  # as in NumPy
    return _tensordot(x1, x2, axes=axes)


@compiled(instead=np.vecdot)
def vecdot(x1: Native, x2: Native, *, axis: int = -1) -> Native:
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: x1 and x2 must be of one length along axis {axis}, not {x1.shape} and {x2.shape}")
    x1, x2 = (jnp.moveaxis(x, axis, -1) for x in promoted(x1, x2))
    return jnp.matmul(jnp.conj(x1)[..., None, :], x2[..., None], precision=HIGHEST)[..., 0, 0]
