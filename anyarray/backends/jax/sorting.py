"""Sorting: NumPy's order, in which NaN comes last."""

from __future__ import annotations

import jax.numpy as jnp

from anyarray.backends.jax._kernel import Native, compiled, require_kinds

__all__ = ["argsort", "sort"]


@compiled
def sort(x: Native, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    require_kinds("biuf", x)
    return jnp.sort(x, axis=axis, descending=descending, stable=stable)


@compiled
def argsort(x: Native, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    require_kinds("biuf", x)
    if not x.ndim:
        raise ValueError("argsort: x must have at least one axis")
    return jnp.argsort(x, axis=axis, descending=descending, stable=stable)
