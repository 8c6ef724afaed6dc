"""Creation functions, each compiled once for a shape."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from anyarray import _dtypes
from anyarray.backends.jax._hooks import placed
from anyarray.backends.jax._kernel import Native, compiled, in_dtype

__all__ = [
    "arange",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


def creation(function: Callable[..., Native]) -> Callable[..., Native]:
    """`function` on the default device, with its result bound to `device`."""

    @functools.wraps(function)
    def on_device(*args: Any, device: Any = None, **kwargs: Any) -> Native:
        return placed(function(*args, **kwargs), device)

    return on_device


@creation
@compiled(static=("shape",))
def zeros(shape: tuple[int, ...], *, dtype: Any) -> Native:
    return lax.full(shape, 0, dtype)


@creation
@compiled(static=("shape",))
def ones(shape: tuple[int, ...], *, dtype: Any) -> Native:
    return lax.full(shape, 1, dtype)


empty = zeros


@compiled(static=("shape",))
def _full(shape: tuple[int, ...], fill_value: Native, *, dtype: Any) -> Native:
    return lax.broadcast(in_dtype(fill_value, dtype), shape)


@creation
def full(shape: tuple[int, ...], fill_value: Any, *, dtype: Any) -> Native:
    value = fill_value if isinstance(fill_value, jax.Array) else np.asarray(fill_value, dtype)
    return _full(shape, value, dtype=dtype)


def zeros_like(x: Native, /, *, dtype: Any = None, device: Any = None) -> Native:
    return zeros(x.shape, dtype=dtype or x.dtype, device=device)


def ones_like(x: Native, /, *, dtype: Any = None, device: Any = None) -> Native:
    return ones(x.shape, dtype=dtype or x.dtype, device=device)


def full_like(x: Native, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Native:
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)


empty_like = zeros_like


@compiled
def _ramp(start: Native, step: Native, *, length: int, dtype: Any) -> Native:
    steps = lax.iota(start.dtype, length)
    return lax.convert_element_type(start + steps * step, dtype)


@creation
def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any) -> Native:
    if stop is None:
        start, stop = 0, start
    first: np.generic
    by: np.generic
    if dtype.kind in "iu" and float(start).is_integer() and float(step).is_integer():
        # Modulo 2**64, so that every integer dtype has its whole range and negative steps.
        start, step = int(start), int(step)
        length = -((start - stop) // step) if isinstance(stop, int) else math.ceil((stop - start) / step)
        first, by = np.uint64(start % 2**64), np.uint64(step % 2**64)
    else:
        length = math.ceil((stop - start) / step)
        first, by = np.float64(start), np.float64(step)
        if dtype.kind in "iu":  # NumPy steps by the difference of the first two, each rounded toward zero
            start, step = int(start), int(start + step) - int(start)
            first, by = np.float64(start), np.float64(step)
    return _ramp(first, by, length=max(length, 0), dtype=dtype)


@compiled
def _line(start: Native, stop: Native, *, num: int, endpoint: bool, dtype: Any) -> Native:
    steps = lax.iota(jnp.float64, num)
    intervals = num - 1 if endpoint else num
    line = start + steps * ((stop - start) / (intervals if intervals > 0 else 1))
    if endpoint and num > 1:
        line = jnp.where(steps == num - 1, stop, line)
    if _dtypes.KNOWN[dtype.name].kind in "iu":
        line = lax.floor(line)
    return lax.convert_element_type(line, dtype)


@creation
def linspace(start: complex, stop: complex, /, num: int, *, dtype: Any, endpoint: bool = True) -> Native:
    if num < 0:
        raise ValueError(f"linspace: num must not be negative, not {num}")
    wide: Any = np.complex128 if isinstance(start, complex) or isinstance(stop, complex) else np.float64
    return _line(wide(start), wide(stop), num=num, endpoint=endpoint, dtype=dtype)


@compiled(static=("n_rows", "n_cols"))
def _eye(n_rows: int, n_cols: int, *, k: int, dtype: Any) -> Native:
    rows, columns = (lax.broadcasted_iota(jnp.int64, (n_rows, n_cols), axis) for axis in (0, 1))
    return in_dtype(rows + k == columns, dtype)


@creation
def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any) -> Native:
    return _eye(n_rows, n_rows if n_cols is None else n_cols, k=k, dtype=dtype)


@compiled
def tril(x: Native, *, k: int = 0) -> Native:
    return jnp.tril(x, near(x, k))


@compiled
def triu(x: Native, *, k: int = 0) -> Native:
    return jnp.triu(x, near(x, k))


def near(x: Native, k: int) -> int:
    """`k`, or the nearest diagonal that is as empty: JAX wants few bits."""
    if x.ndim < 2 or abs(k) < 1 << 31:
        return k
    return max(-x.shape[-2], min(k, x.shape[-1]))


@compiled
def meshgrid(*arrays: Native, indexing: str = "xy") -> tuple[Native, ...]:
    flat = [jnp.ravel(x) for x in arrays]  # as NumPy takes them
    return tuple(jnp.meshgrid(*flat, indexing=indexing)) if arrays else ()
