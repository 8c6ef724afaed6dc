"""Sorting in NumPy's order: NaN last."""

from __future__ import annotations

from typing import Final

import jax.numpy as jnp

from anyarray.backends import numpy as on_numpy
from anyarray.backends.jax._host import sooner
from anyarray.backends.jax._kernel import Native, compiled, kind_of, require_kinds

__all__ = ["argsort", "sort"]


@compiled
def _sort(x: Native, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    """JAX's, but stable for zeros of both signs if descending, too.

    So the gradients of equal elements keep their order, too.
    """
    require_kinds("biuf", x)
    if descending and stable and x.ndim and kind_of(x) == "f":
        return jnp.flip(jnp.sort(jnp.flip(x, axis), axis=axis, stable=True), axis)
    return jnp.sort(x, axis=axis, descending=descending, stable=stable)


@compiled
def _argsort(x: Native, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    require_kinds("biuf", x)
    if not x.ndim:
        raise ValueError("argsort: x must have at least one axis")
    return jnp.argsort(x, axis=axis, descending=descending, stable=stable)


sort: Final = sooner(_sort, on_numpy.sort)
argsort: Final = sooner(_argsort, on_numpy.argsort)
