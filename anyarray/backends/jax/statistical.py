"""Reductions and running sums. Integers sum in 64 bits, and NaN wins."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from anyarray import _dtypes
from anyarray.backends.jax._kernel import NATIVE, Axes, Native, cast, compiled, inexact, kind_of, require_kinds, truth

__all__ = ["cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var"]


def total_dtype(x: Native, dtype: Any) -> Any:
    """The dtype of a sum or product over `x`."""
    return dtype or NATIVE[_dtypes.summed(x.dtype.name)]


@compiled
def sum(x: Native, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Native:
    x = truth(x) if dtype == NATIVE["bool"] else x
    return jnp.sum(x, axis=axis, dtype=total_dtype(x, dtype), keepdims=keepdims)


@compiled
def prod(x: Native, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Native:
    x = truth(x) if dtype == NATIVE["bool"] else x
    return jnp.prod(x, axis=axis, dtype=total_dtype(x, dtype), keepdims=keepdims)


def with_nan(found: Native, x: Native, axis: Axes, keepdims: bool) -> Native:
    """`found`, the largest or smallest of values made of `x`, or their NaN.

    XLA's reductions on the CPU drop NaN from 4096 elements and more, in jaxlib 0.10: those of YNNPACK, which
    `xla_cpu_experimental_ynn_fusion_type=""` turns off. May go when jnp.max finds a NaN among so many.
    """

    def marked() -> Native:
        return jnp.where(jnp.any(x != x, axis=axis, keepdims=keepdims), jnp.nan, found)

    def guarded() -> Native:
        # A NaN, or infinities of both signs, make the sum NaN; the sum takes a third of the time of `marked`.
        return lax.cond(jnp.isnan(jnp.sum(x)), marked, lambda: found)

    if kind_of(x) not in "fc":
        return found
    return lax.platform_dependent(cpu=guarded if x.size >= 4096 else marked, default=lambda: found)


@compiled
def max(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    require_kinds("biuf", x)
    return with_nan(jnp.max(x, axis=axis, keepdims=keepdims), x, axis, keepdims)


@compiled
def min(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    require_kinds("biuf", x)
    return with_nan(jnp.min(x, axis=axis, keepdims=keepdims), x, axis, keepdims)


@compiled
def mean(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    (x,) = inexact(x)
    if x.dtype.itemsize == 2:  # whose sum may be beyond its range
        return cast(_mean(cast(x, "float32"), axis, keepdims), x.dtype.name)
    return _mean(x, axis, keepdims)


def _mean(x: Native, axis: Axes, keepdims: bool) -> Native:
    total = jnp.sum(x, axis=axis, keepdims=keepdims)
    return _shared(total, x.size // total.size if total.size else math.nan)


def _shared(total: Native, count: float) -> Native:
    """`total` divided by `count`, behind a barrier.

    There XLA does not see that it is one number. It would multiply by the reciprocal, so that the mean of 49 ones were
    not 1.
    """
    return total / lax.optimization_barrier(lax.full_like(total, count))


def _variance(x: Native, axis: Axes, correction: float, keepdims: bool) -> Native:
    (x,) = inexact(x)
    name = x.dtype.name
    if x.dtype.itemsize == 2:
        x = cast(x, "float32")
    centred = x - _mean(x, axis, keepdims=True)
    squares = lax.real(centred * lax.conj(centred)) if kind_of(x) == "c" else centred * centred
    total = jnp.sum(squares, axis=axis, keepdims=keepdims)
    count = x.size // math.prod(total.shape) if total.size else 0
    variance = _shared(total, count - correction if count > correction else math.nan)
    return cast(variance, name) if name in ("float16", "bfloat16") else variance


@compiled
def var(x: Native, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    return _variance(x, axis, correction, keepdims)


@compiled
def std(x: Native, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    return root_of_sum(_variance(x, axis, correction, keepdims))


def root_of_sum(x: Native) -> Native:
    """The square root of a sum of squares, with the slope 0 where it is 0.

    That is the mean of those on all sides. JAX's is NaN.
    """
    zero = lax.full_like(x, 0)
    return jnp.where(x == 0, zero, lax.sqrt(jnp.where(x == 0, 1, x)))


def _running(function: Callable[..., Native]) -> Any:
    def body(x: Native, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Native:
        x = x if x.ndim else lax.reshape(x, (1,))  # as NumPy takes it
        return function(x, axis=axis, dtype=total_dtype(x, dtype), include_initial=include_initial)

    body.__name__ = function.__name__
    return compiled(body)


cumulative_sum = _running(jnp.cumulative_sum)
cumulative_prod = _running(jnp.cumulative_prod)
