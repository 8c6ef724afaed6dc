"""Casts between dtypes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from anyarray.backends.jax._hooks import to_device
from anyarray.backends.jax._kernel import PADDED, Native, compiled, in_dtype, truth
from anyarray.backends.jax._scope import sometimes


@sometimes
@compiled(static=("dtype",), instead=PADDED)
def _converted(x: Native, *, dtype: Any) -> Native:
    return truth(x) if dtype.kind == "b" else in_dtype(x, dtype)


def converted(x: Native, dtype: Any) -> Native:
    """`x` in `dtype`."""
    return _converted(x, dtype=dtype)


def astype(x: Native, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Native:
    if device is not None:
        x = to_device(x, device)
    return x if x.dtype == dtype and not copy else converted(x, dtype)


@compiled(static=("dtype",))
def bitcast(x: Native, dtype: Any) -> Native:
    if x.ndim == 0:
        return bitcast(x.reshape(1), dtype).reshape(())
    # XLA has bits of bools as bytes and of complex numbers as their parts.
    if x.dtype.kind == "b":
        x = lax.convert_element_type(x, jnp.uint8)
    elif x.dtype.kind == "c":
        x = jnp.stack([lax.real(x), lax.imag(x)], axis=-1)
        x = x.reshape(*x.shape[:-2], 2 * x.shape[-2])
    part = jnp.dtype({"b": jnp.uint8, "c": jnp.float64 if dtype.itemsize == 16 else jnp.float32}.get(dtype.kind, dtype))
    ratio = part.itemsize // x.dtype.itemsize
    if ratio > 1:
        x = x.reshape(*x.shape[:-1], x.shape[-1] // ratio, ratio)
    bits = lax.bitcast_convert_type(x, part)
    if ratio == 0:
        bits = bits.reshape(*x.shape[:-1], x.shape[-1] * (x.dtype.itemsize // part.itemsize))
    if dtype.kind == "c":
        return lax.complex(bits[..., ::2], bits[..., 1::2])
    return lax.ne(bits, jnp.uint8(0)) if dtype.kind == "b" else bits
