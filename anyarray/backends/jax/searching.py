"""Searching: indices and counts. Ties go to the first occurrence."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp
import numpy as np
from jax import lax

from anyarray._base import errors
from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.axes import bins
from anyarray.backends.jax._hooks import device_of, is_traced, lent, to_numpy
from anyarray.backends.jax._host import data_dependent, in_host_memory
from anyarray.backends.jax._kernel import PADDED, Axes, Native, cast, compiled, kind_of, promoted, require_kinds, truth
from anyarray.backends.jax.indexing import extremes
from anyarray.backends.jax.statistical import added, reduced


@compiled(instead=np.count_nonzero)
def count_nonzero(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    return reduced(added, cast(truth(x), "int64"), axis, keepdims=keepdims)


_BLOCK: Final = 8
"""Elements of a block that XLA reduces at once, on a CPU."""


def _extreme(exceeds: Callable[[Native, Native], Native], worst: int, on_host: Callable[..., Any]) -> Any:
    """Index of the first element that exceeds all others, or is NaN.

    `worst` is an index of `_range`. Not `lax.argmax`, whose lowering happens after this call's scope: in the user's
    own jit, with 32 bits, that raises.
    """

    def first(one: tuple[Native, Native], other: tuple[Native, Native]) -> tuple[Native, Native]:
        (a, i), (b, j) = one, other
        is_nan = a != a, b != b
        wins = exceeds(a, b) | (is_nan[0] & ~is_nan[1])
        ties = (a == b) | (is_nan[0] & is_nan[1])
        is_one = wins | (ties & (i < j))
        # Not jnp.where, which is a nested jit: XLA crashes on a reduction that contains calls whose result is unused.
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
        start = np.asarray(_range(x)[worst], x.dtype), index(0)

        def found(x: Native, places: Native, along: int) -> tuple[Native, Native]:
            return tuple(lax.reduce((x, places), start, first, (along,)))

        def at_once(x: Native) -> Native:
            return found(x, lax.broadcasted_iota(index, x.shape, along), along)[1]

        def by_blocks(x: Native) -> Native:
            """Reduces blocks, then their results: up to ten times faster.

            XLA reduces a row with one accumulator, so that each step depends on the previous one.
            """
            places = None
            while (n := x.shape[along]) > 2 * _BLOCK:
                even = n - n % _BLOCK
                shape = (*x.shape[:along], even // _BLOCK, _BLOCK, *x.shape[along + 1 :])
                if places is None:  # iotas of the final shapes: XLA takes 1 s to constant-fold slices of one
                    blocks = lax.broadcasted_iota(index, shape, along)
                    its = blocks * _BLOCK + lax.broadcasted_iota(index, shape, along + 1)
                    shape_of_rest = (*x.shape[:along], n - even, *x.shape[along + 1 :])
                    rest = even + lax.broadcasted_iota(index, shape_of_rest, along)
                else:
                    its = lax.reshape(lax.slice_in_dim(places, 0, even, axis=along), shape)
                    rest = lax.slice_in_dim(places, even, n, axis=along)
                best, where = found(lax.reshape(lax.slice_in_dim(x, 0, even, axis=along), shape), its, along + 1)
                x = lax.concatenate([best, lax.slice_in_dim(x, even, n, axis=along)], along)
                places = lax.concatenate([where, rest], along)
            return at_once(x) if places is None else found(x, places, along)[1]

        position = cast(lax.platform_dependent(lax.stop_gradient(flat), cpu=by_blocks, default=at_once), "int64")
        if not keepdims:
            return position
        return lax.expand_dims(position, range(x.ndim) if axis is None else (along,))

    return compiled(body, instead=on_host)


def _range(x: Native) -> tuple[Any, Any]:
    """The minimum and maximum of the dtype of `x`, a real one."""
    if kind_of(x) == "f":
        return -np.inf, np.inf
    return (False, True) if x.dtype == bool else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)


argmax = _extreme(lax.gt, 0, np.argmax)
argmin = _extreme(lax.lt, 1, np.argmin)


@compiled(instead=PADDED)
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
    # jnp does not check this. `_call.diagnosis` has the message.
    if sorter is not None and (sorter.shape != x1.shape or any(not 0 <= index < x1.size for index in extremes(sorter))):
        raise ValueError("sorter does not fit")
    return _searchsorted(x1, x2, sorter, side=side)


@compiled
def _summed(x: Native, weights: Native | None, *, length: int) -> Native:
    """Sums of the weights at each place from 0 to `length` - 1, or counts."""
    require_kinds("biu", x)
    if weights is not None:
        require_kinds("biuf", weights)
    places = cast(x, "int64")
    places = jnp.where(places < 0, length, places)  # a negative one would count from the end
    added = np.int64(1) if weights is None else cast(weights, "float64")
    return jnp.zeros(length, added.dtype).at[places].add(added, mode="drop")


def bincount(x: Native, weights: Native | None = None, minlength: int = 0, *, length: int | None = None) -> Native:
    if in_host_memory((x, weights)):
        values = None if weights is None else to_numpy(weights)
        return lent(on_numpy.bincount(to_numpy(x), values, minlength, length=length), device_of(x))
    if x.ndim != 1 or (weights is not None and weights.shape != x.shape):
        raise ValueError("x and weights must be vectors of one length")
    if length is None:
        if is_traced(x):
            raise errors.unknown_length("bincount")
        length = bins(to_numpy(x), minlength)
    return _summed(x, weights, length=length)


def nonzero(x: Native, /) -> tuple[Native, ...]:
    if x.ndim == 0:
        raise ValueError("nonzero: x must have at least one axis")
    return _nonzero(x)


_nonzero: Final = data_dependent("nonzero", jnp.nonzero, on_numpy.nonzero)
