"""Creation functions, each compiled once per shape."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from anyarray._base import dtypes
from anyarray.backends._shared.axes import near_diagonal, progression
from anyarray.backends.jax._hooks import placed
from anyarray.backends.jax._kernel import Native, compiled, in_dtype, kind_of


def creation(function: Callable[..., Native]) -> Callable[..., Native]:
    """`function` on the default device, its result committed to `device`."""

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


def _multiples(step: Native, length: int) -> Native:
    """`step` times 0, 1, 2, ..., each product rounded before it is added.

    `step` has a dtype of 64 bits, or complex128.
    On CPUs XLA fuses a product and a sum into an FMA, with one rounding: -1 + 10 * 0.1 would not be 0. It does so
    across `optimization_barrier` and `reduce_precision`, too. But the products of both halves of the digits are exact.
    """
    if kind_of(step) == "u":
        return lax.iota(step.dtype, length) * step
    high, low = _halves(step)
    steps = lax.iota(jnp.float64, length)
    return steps * high + steps * low


def _halves(x: Native) -> tuple[Native, Native]:
    """Two numbers of half the digits, with the same sign, whose sum is `x`.

    Infinities, NaN and numbers whose lower half would be subnormal are not split: the lower half is 0.
    """
    if kind_of(x) == "c":
        (re, small_re), (im, small_im) = _halves(lax.real(x)), _halves(lax.imag(x))
        return lax.complex(re, im), lax.complex(small_re, small_im)
    size = lax.abs(x)
    bits = lax.bitcast_convert_type(x, jnp.int64) & -(1 << 27)
    high = jnp.where((size > 1e-280) & (size < jnp.inf), lax.bitcast_convert_type(bits, jnp.float64), x)
    return high, jnp.copysign(jnp.where(high == x, 0, x - high), x)


@compiled
def _ramp(start: Native, step: Native, *, length: int, dtype: Any) -> Native:
    return lax.convert_element_type(start + _multiples(step, length), dtype)


@creation
def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any) -> Native:
    first, by, length = progression(start, stop, step, is_integer=dtype.kind in "iu")
    if type(first) is int:  # modulo 2**64, which covers the full range of every integer dtype, and negative steps
        return _ramp(np.uint64(first % 2**64), np.uint64(by % 2**64), length=length, dtype=dtype)
    return _ramp(np.float64(first), np.float64(by), length=length, dtype=dtype)


@compiled
def _line(start: Native, stop: Native, step: Native, *, num: int, endpoint: bool, dtype: Any) -> Native:
    line = start + _multiples(step, num)
    if endpoint and num > 1:
        line = jnp.where(lax.iota(jnp.int64, num) == num - 1, stop, line)
    if dtypes.KNOWN[dtype.name].kind in "iu":
        line = lax.floor(line)
    return lax.convert_element_type(line, dtype)


@creation
def linspace(start: complex, stop: complex, /, num: int, *, dtype: Any, endpoint: bool = True) -> Native:
    if num < 0:
        raise ValueError(f"linspace: num must not be negative, not {num}")
    intervals = max(num - 1 if endpoint else num, 1)
    # Divided on the host, as XLA multiplies by reciprocals; floats in Python, which is faster and never warns.
    if isinstance(start, complex) or isinstance(stop, complex):
        first, last = np.complex128(start), np.complex128(stop)
        with np.errstate(all="ignore"):
            step = (last - first) / intervals
    else:
        first, last = np.float64(start), np.float64(stop)
        step = np.float64((float(last) - float(first)) / intervals)
    return _line(first, last, step, num=num, endpoint=endpoint, dtype=dtype)


@compiled(static=("n_rows", "n_cols"))
def _eye(n_rows: int, n_cols: int, *, k: int, dtype: Any) -> Native:
    rows, columns = (lax.broadcasted_iota(jnp.int64, (n_rows, n_cols), axis) for axis in (0, 1))
    return in_dtype(rows + k == columns, dtype)


@creation
def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any) -> Native:
    return _eye(n_rows, n_rows if n_cols is None else n_cols, k=k, dtype=dtype)


@compiled
def tril(x: Native, *, k: int = 0) -> Native:
    return jnp.tril(x, near_diagonal(x.shape, k))


@compiled
def triu(x: Native, *, k: int = 0) -> Native:
    return jnp.triu(x, near_diagonal(x.shape, k))


@compiled
def meshgrid(*arrays: Native, indexing: str = "xy") -> tuple[Native, ...]:
    flat = [jnp.ravel(x) for x in arrays]  # as in NumPy
    return tuple(jnp.meshgrid(*flat, indexing=indexing)) if arrays else ()
