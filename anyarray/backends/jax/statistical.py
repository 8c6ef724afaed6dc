"""Reductions, cumulative too. Integers sum in 64 bits; NaN propagates."""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from anyarray._base import dtypes
from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.linear_algebra import root_of_sum
from anyarray.backends.jax._host import sooner
from anyarray.backends.jax._kernel import (
    NATIVE,
    Axes,
    Native,
    cast,
    compiled,
    in_dtype,
    inexact,
    instead_of,
    kind_of,
    require_kinds,
    truth,
)


def total_dtype(x: Native, dtype: Any) -> Any:
    """The dtype of a sum or product over `x`."""
    return dtype or NATIVE[dtypes.summed(x.dtype.name)]


_LONG: Final = 1 << 15
"""Threshold in bytes of a row above which the reduction is by halves."""
added: Final = functools.partial(jnp.sum, promote_integers=False)
"""The sum in the dtype of the input."""
_JOINED_BY: Final[dict[Any, Callable[[Native, Native], Native]]] = {
    added: lax.add, jnp.max: lax.max, jnp.min: lax.min
}  # fmt: skip
"""The binary function of each reduction."""


def reduced(reduce: Any, x: Native, axis: Axes, *, keepdims: bool) -> Native:
    """`x` reduced by `added`, `jnp.max` or `jnp.min`.

    It combines halves of the rows where XLA's reduction down the columns takes ten to fifty times as long: on a CPU, in
    jaxlib before 0.12. Remove with support for those.
    """
    given = () if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(sorted({a % x.ndim for a in given if -x.ndim <= a < x.ndim}))
    row = x.shape[builtins.max(axes) + 1 :] if axes else ()
    is_slow = (
        jax.__version_info__ < (0, 12)
        and len(axes) == len(given)  # else JAX rejects them
        and x.dtype.itemsize >= 4  # XLA accumulates narrower dtypes in a wider one
        and all(type(n) is int for n in x.shape)
        and math.prod(row) * x.dtype.itemsize >= _LONG
    )
    if not is_slow:
        return reduce(x, axis=axis, keepdims=keepdims)
    return lax.platform_dependent(
        x,
        cpu=lambda x: _by_halves(x, reduce, axes, keepdims),
        default=lambda x: reduce(x, axis=axes, keepdims=keepdims),
    )


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2, 3))
def _by_halves(x: Native, reduce: Any, axes: tuple[int, ...], keepdims: bool) -> Native:
    join = _JOINED_BY[reduce]
    for axis in axes:
        while (n := x.shape[axis]) > 1:
            half = n // 2
            *halves, odd = (
                lax.slice_in_dim(x, *ends, axis=axis) for ends in ((0, half), (half, 2 * half), (2 * half, n))
            )
            x = lax.concatenate([join(*halves), odd], axis)
    return reduce(x, axis=axes, keepdims=keepdims)


@_by_halves.defjvp
def _slope_by_halves(
    reduce: Any, axes: tuple[int, ...], keepdims: bool, primals: tuple[Native], tangents: tuple[Native]
) -> tuple[Native, Native]:
    # JAX's own JVP, whose transpose is a broadcast.
    _, slope = jax.jvp(lambda x: reduce(x, axis=axes, keepdims=keepdims), primals, tangents)
    return _by_halves(*primals, reduce, axes, keepdims), slope


@compiled(instead=np.sum)
def sum(x: Native, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Native:
    x = truth(x) if dtype == NATIVE["bool"] else x
    dtype = total_dtype(x, dtype)
    if dtype.itemsize < 4:
        return jnp.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)
    return reduced(added, in_dtype(x, dtype), axis, keepdims=keepdims)


@compiled(instead=np.prod)
def prod(x: Native, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Native:
    x = truth(x) if dtype == NATIVE["bool"] else x
    return jnp.prod(x, axis=axis, dtype=total_dtype(x, dtype), keepdims=keepdims)


def with_nan(found: Native, x: Native, axis: Axes, keepdims: bool) -> Native:
    """`found`, a maximum or minimum over `x`, but NaN where `x` has one.

    XLA's reductions on the CPU drop NaN from 4096 elements and more, in jaxlib 0.10: those of YNNPACK, which
    `xla_cpu_experimental_ynn_fusion_type=""` turns off. Remove when jnp.max propagates NaN for so many.
    """

    def marked() -> Native:
        return jnp.where(jnp.any(x != x, axis=axis, keepdims=keepdims), jnp.nan, found)

    def guarded() -> Native:
        # A NaN, or infinities of both signs, make the sum NaN; the sum takes a third of the time of `marked`.
        return lax.cond(jnp.isnan(jnp.sum(x)), marked, lambda: found)

    if kind_of(x) not in "fc":
        return found
    return lax.platform_dependent(cpu=guarded if x.size >= 4096 else marked, default=lambda: found)


@compiled(instead=np.max)
def max(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    require_kinds("biuf", x)
    return with_nan(reduced(jnp.max, x, axis, keepdims=keepdims), x, axis, keepdims)


@compiled(instead=np.min)
def min(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    require_kinds("biuf", x)
    return with_nan(reduced(jnp.min, x, axis, keepdims=keepdims), x, axis, keepdims)


@compiled(instead=np.mean)
def mean(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    (x,) = inexact(x)
    if x.dtype.itemsize == 2:  # the sum may overflow in it
        return cast(_mean(cast(x, "float32"), axis, keepdims), x.dtype.name)
    return _mean(x, axis, keepdims)


def _mean(x: Native, axis: Axes, keepdims: bool) -> Native:
    total = reduced(added, x, axis, keepdims=keepdims)
    return _shared(total, x.size // total.size if total.size else math.nan)


def _shared(total: Native, count: float) -> Native:
    """`total` divided by `count`, which is behind an optimization barrier.

    The barrier hides from XLA that the divisor is constant. Else XLA multiplies by its reciprocal, and the mean of 49
    ones is not 1.
    """
    return total / lax.optimization_barrier(lax.full_like(total, count))


def _variance(x: Native, axis: Axes, correction: float, keepdims: bool) -> Native:
    (x,) = inexact(x)
    name = x.dtype.name
    if x.dtype.itemsize == 2:
        x = cast(x, "float32")
    centred = x - _mean(x, axis, keepdims=True)
    squares = lax.real(centred * lax.conj(centred)) if kind_of(x) == "c" else centred * centred
    total = reduced(added, squares, axis, keepdims=keepdims)
    count = x.size // math.prod(total.shape) if total.size else 0
    variance = _shared(total, count - correction if count > correction else math.nan)
    return cast(variance, name) if name in ("float16", "bfloat16") else variance


def _variance_on_host(x: Any, *, axis: Axes, correction: float, keepdims: bool) -> Any:
    """As `np.var`, but NaN without a warning for no degrees of freedom."""
    centred = x - np.mean(x, axis=axis, keepdims=True)
    total = np.sum((centred * centred.conj()).real, axis=axis, keepdims=keepdims)
    count = x.size // total.size
    return total / (count - correction if count > correction else math.nan)


@compiled(instead=_variance_on_host)
def var(x: Native, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    return _variance(x, axis, correction, keepdims)


@compiled(instead=lambda x, **options: np.sqrt(_variance_on_host(x, **options)))
def std(x: Native, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    return root_of_sum(jnp, _variance(x, axis, correction, keepdims))


_SHORT: Final = 16
"""The longest rows for which XLA's cumulative sum of integers is as fast as NumPy's."""


def _running(function: Callable[..., Native], on_host: Callable[..., Any]) -> Any:
    """Cumulative sums or products; of integers by NumPy if that is faster."""

    def body(x: Native, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Native:
        x = x if x.ndim else lax.reshape(x, (1,))  # as in NumPy
        return function(x, axis=axis, dtype=total_dtype(x, dtype), include_initial=include_initial)

    body.__name__ = function.__name__
    by_xla = compiled(body, instead=on_host)
    of_integers = sooner(by_xla, on_host)

    def chosen(x: Native, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Native:
        is_long = x.shape[axis:][:1] > (_SHORT,)  # False if `axis` is out of bounds
        way = of_integers if dtype is None and is_long and kind_of(x) in "iu" else by_xla
        return way(x, axis=axis, dtype=dtype, include_initial=include_initial)

    instead_of[chosen] = on_host
    return functools.wraps(body)(chosen)


cumulative_sum = _running(jnp.cumulative_sum, on_numpy.cumulative_sum)
cumulative_prod = _running(jnp.cumulative_prod, on_numpy.cumulative_prod)
