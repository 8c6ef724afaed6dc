"""Searching: positions and counts. Of equal values the first one wins."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp
import numpy as np
from jax import lax

from anyarray.backends import numpy as on_numpy
from anyarray.backends.jax._host import data_dependent
from anyarray.backends.jax._kernel import Axes, Native, cast, compiled, kind_of, promoted, require_kinds, truth
from anyarray.backends.jax.indexing import extremes
from anyarray.backends.jax.statistical import added, reduced

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]


@compiled
def count_nonzero(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    return reduced(added, cast(truth(x), "int64"), axis, keepdims=keepdims)


def _extreme(exceeds: Callable[[Native, Native], Native], worst: int) -> Any:
    """Position of the first element that exceeds all others, or is NaN.

    `worst` is an index of `_range`. Not by `lax.argmax`, which JAX lowers after the scope of this call has ended: in
    the user's own jit, with 32 bits, that raises.
    """

    def first(one: tuple[Native, Native], other: tuple[Native, Native]) -> tuple[Native, Native]:
        (a, i), (b, j) = one, other
        is_nan = a != a, b != b
        wins = exceeds(a, b) | (is_nan[0] & ~is_nan[1])
        ties = (a == b) | (is_nan[0] & is_nan[1])
        is_one = wins | (ties & (i < j))
        # Not by jnp.where, a call: XLA crashes on a reduction with calls of which nothing comes.
        return lax.select(is_one, a, b), lax.select(is_one, i, j)

    def body(x: Native, *, axis: int | None = None, keepdims: bool = False) -> Native:
        require_kinds("biuf", x)
        if axis is not None and not -x.ndim <= axis < x.ndim:
            raise ValueError(f"axis {axis} is out of range for {x.ndim} axes")
        flat = lax.reshape(x, (x.size,)) if axis is None else x
        along = 0 if axis is None else operator.index(axis) % max(x.ndim, 1)
        if not flat.shape[along]:
            raise ValueError("there is no first among no elements")
        index = np.int32 if flat.shape[along] < 2**31 else np.int64
        pairs = lax.stop_gradient(flat), lax.broadcasted_iota(index, flat.shape, along)
        start = np.asarray(_range(x)[worst], x.dtype), index(0)

        def at_once(x: Native, places: Native) -> Native:
            return lax.reduce((x, places), start, first, (along,))[1]

        def in_turns(x: Native, places: Native) -> Native:
            keys = _keys(x, is_nan_last=worst == 0) if kind_of(x) == "f" else x
            best = (jnp.max if worst == 0 else jnp.min)(keys, axis=along, keepdims=True)
            return jnp.min(jnp.where(keys == best, places, flat.shape[along]), axis=along)

        # Two reductions of integers, which XLA does by vectors on a CPU, take a third of one of pairs of floats.
        found = lax.platform_dependent(*pairs, cpu=in_turns, default=at_once)
        position = cast(found, "int64")
        if not keepdims:
            return position
        return lax.expand_dims(position, range(x.ndim) if axis is None else (along,))

    return compiled(body)


def _keys(x: Native, *, is_nan_last: bool) -> Native:
    """Integers in the order of the floats `x`, equal where its values are.

    NaN is the last of all, or the first.
    """
    signed = np.dtype(f"int{8 * x.dtype.itemsize}")
    limits = np.iinfo(signed)
    bits = lax.bitcast_convert_type(x, signed)
    # The bits of a float are its sign and its magnitude; as two's complement they are in order, and -0.0 is 0.
    keys = jnp.where(bits < 0, limits.min - bits, bits)
    return jnp.where(x != x, limits.max if is_nan_last else limits.min, keys)


def _range(x: Native) -> tuple[Any, Any]:
    """The least and the greatest value in the dtype of `x`, a real one."""
    if kind_of(x) == "f":
        return -np.inf, np.inf
    return (False, True) if x.dtype == bool else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)


argmax = _extreme(lax.gt, 0)
argmin = _extreme(lax.lt, 1)


@compiled
def where(condition: Native, x1: Native, x2: Native) -> Native:
    x1, x2 = promoted(x1, x2)
    return jnp.where(truth(condition), x1, x2)


@compiled
def _searchsorted(x1: Native, x2: Native, sorter: Native | None, *, side: str) -> Native:
    x1, x2 = promoted(x1, x2)
    require_kinds("biuf", x1)
    if sorter is not None:
        require_kinds("iu", sorter)
        sorter = cast(sorter, "int64")
    return cast(jnp.searchsorted(x1, x2, side=side, sorter=sorter), "int64")


def searchsorted(x1: Native, x2: Native, /, *, side: str = "left", sorter: Native | None = None) -> Native:
    # Which jnp does not ask. The sentence is that of `_call.diagnosis`.
    if sorter is not None and (sorter.shape != x1.shape or any(not 0 <= index < x1.size for index in extremes(sorter))):
        raise ValueError("sorter does not fit")
    return _searchsorted(x1, x2, sorter, side=side)


def nonzero(x: Native, /) -> tuple[Native, ...]:
    if x.ndim == 0:
        raise ValueError("nonzero: x must have at least one axis")
    return _nonzero(x)


_nonzero: Final = data_dependent("nonzero", jnp.nonzero, on_numpy.nonzero)
