"""Sorting in NumPy's order: NaN last.

On a GPU, XLA sorts pairs by CUB's radix sort, which is stable, where their keys are unsigned integers; otherwise, as by
JAX's total order of floats, ten times as slowly. So positions are sorted there by such keys.
"""

from __future__ import annotations

import functools
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from anyarray.backends import numpy as on_numpy
from anyarray.backends.jax._host import sooner
from anyarray.backends.jax._kernel import Native, compiled, kind_of, require_kinds


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
def argsort_of(x: Native, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    require_kinds("biuf", x)
    if not x.ndim:
        raise ValueError("argsort: x must have at least one axis")
    if _has_gpu() and x.shape[axis] <= _MOST:
        keys = _unsigned_keys(x)
        places = lax.broadcasted_iota(np.int32, x.shape, axis % x.ndim)
        order = lax.sort((~keys if descending else keys, places), axis % x.ndim, is_stable=True, num_keys=1)[1]
        return lax.convert_element_type(order, np.int64)
    return jnp.argsort(x, axis=axis, descending=descending, stable=stable)


_MOST: Final = (1 << 31) - 1
"""The largest length of an axis whose positions are int32."""


@functools.cache
def _has_gpu() -> bool:
    """Whether JAX computes on a GPU, by default."""
    return jax.default_backend() in ("gpu", "cuda", "rocm")


def _unsigned_keys(x: Native) -> Native:
    """Unsigned integers that sort as `x`, equal where its values are equal."""
    if kind_of(x) == "b":
        return x.astype(np.uint8)
    if kind_of(x) == "u":
        return x
    bits = 8 * x.dtype.itemsize
    least = np.array(-(1 << bits - 1), f"int{bits}")
    keys = x
    if kind_of(x) == "f":
        # The bits of a float are sign and magnitude. Converted to two's complement they sort as the float, and -0 is 0.
        keys = lax.bitcast_convert_type(x, least.dtype)
        keys = jnp.where(keys < 0, least - keys, keys)
        keys = jnp.where(jnp.isnan(x), ~least, keys)
    return lax.bitcast_convert_type(keys ^ least, np.dtype(f"uint{bits}"))


sort: Final = sooner(_sort, on_numpy.sort)
argsort: Final = sooner(argsort_of, on_numpy.argsort)
