"""Casts between dtypes."""

from __future__ import annotations

from typing import Any

from jax import lax

from anyarray.backends.jax._hooks import to_device
from anyarray.backends.jax._kernel import Native, compiled, in_dtype, truth

__all__ = ["astype", "bitcast"]


@compiled(static=("dtype",))
def converted(x: Native, dtype: Any) -> Native:
    return truth(x) if dtype.kind == "b" else in_dtype(x, dtype)


def astype(x: Native, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Native:
    if device is not None:
        x = to_device(x, device)
    return x if x.dtype == dtype and not copy else converted(x, dtype)


@compiled(static=("dtype",))
def bitcast(x: Native, dtype: Any) -> Native:
    return lax.bitcast_convert_type(x, dtype)
