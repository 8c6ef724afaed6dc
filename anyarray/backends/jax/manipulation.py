"""Manipulation: shapes and order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from anyarray._base.errors import ArgumentValueError
from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.axes import rolled
from anyarray.backends.jax._host import data_dependent
from anyarray.backends.jax._kernel import Axes, Native, compiled, instead_of, promoted, require_kinds
from anyarray.backends.jax._scope import sometimes
from anyarray.backends.jax.indexing import row


@compiled(static=("shape",), instead=np.broadcast_to)
def broadcast_to(x: Native, shape: tuple[int, ...]) -> Native:
    return jnp.broadcast_to(x, shape)


@compiled
def _broadcast_arrays(*arrays: Native) -> tuple[Native, ...]:
    return tuple(jnp.broadcast_arrays(*arrays))


def broadcast_arrays(*arrays: Native) -> tuple[Native, ...]:
    are_alike = all(x.shape == arrays[0].shape for x in arrays)
    return arrays if are_alike else _broadcast_arrays(*arrays)


@sometimes
@compiled(instead=lambda *arrays, axis: np.concatenate(arrays, axis=axis))
def _concat(*arrays: Native, axis: int | None) -> Native:
    return jnp.concatenate(promoted(*arrays), axis=axis)


def concat(arrays: Sequence[Native], /, *, axis: int | None = 0) -> Native:
    return _concat(*arrays, axis=axis)


@sometimes
@compiled(instead=lambda *arrays, axis: np.stack(arrays, axis=axis))
def _stack(*arrays: Native, axis: int) -> Native:
    return jnp.stack(promoted(*arrays), axis=axis)


def stack(arrays: Sequence[Native], /, *, axis: int = 0) -> Native:
    return _stack(*arrays, axis=axis)


@compiled
def _unstack(x: Native, *, axis: int) -> tuple[Native, ...]:
    return tuple(jnp.unstack(x, axis=axis))


def unstack(x: Native, *, axis: int = 0) -> tuple[Native, ...]:
    # XLA compiles for 5 ms per result array, once per shape, so many rows are read one at a time.
    n = x.shape[axis]
    if n <= 32 or isinstance(x, jax.core.Tracer):
        return _unstack(x, axis=axis)
    rows = moveaxis(x, axis, 0) if axis else x
    return tuple(row(rows, i) for i in range(n))


@compiled(static=("axis",), instead=np.expand_dims)
def expand_dims(x: Native, axis: int | tuple[int, ...]) -> Native:
    return jnp.expand_dims(x, axis)


@compiled(static=("axis",), instead=np.squeeze)
def squeeze(x: Native, axis: int | tuple[int, ...]) -> Native:
    return jnp.squeeze(x, axis)


@compiled(instead=np.flip)
def flip(x: Native, *, axis: Axes = None) -> Native:
    return jnp.flip(x, axis)


@compiled(static=("source", "destination"))
def moveaxis(x: Native, source: int | tuple[int, ...], destination: int | tuple[int, ...]) -> Native:
    moved = jnp.moveaxis(x, source, destination)
    places = destination if isinstance(destination, tuple) else (destination,)
    if len({place % x.ndim for place in places}) < len(places):
        raise ArgumentValueError(f"moveaxis: destination must not name an axis twice, as {destination}")
    return moved


@compiled(static=("axes",), instead=np.transpose)
def permute_dims(x: Native, axes: tuple[int, ...]) -> Native:
    return jnp.permute_dims(x, tuple(axis + x.ndim if axis < 0 else axis for axis in axes))


def _reshaped_on_host(x: Any, shape: tuple[int, ...], copy: bool | None = None) -> Any:
    if min(shape, default=0) < -1:  # which NumPy takes for -1
        raise ValueError(f"a length must be -1 or more, not {shape}")
    return np.reshape(x, shape)


@compiled(static=("shape",), instead=_reshaped_on_host)
def _reshape(x: Native, shape: tuple[int, ...]) -> Native:
    return jnp.reshape(x, shape)


def reshape(x: Native, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Native:
    return x if x.shape == shape else _reshape(x, shape)  # no copy, as it is immutable


instead_of[reshape] = _reshaped_on_host


@compiled(static=("repeats",))
def _repeat(x: Native, repeats: int, *, axis: int | None) -> Native:
    return jnp.repeat(x, repeats, axis=axis)


_repeat_each: Final = data_dependent("repeat", jnp.repeat, on_numpy.repeat)


def repeat(x: Native, repeats: int | Native, /, *, axis: int | None = None) -> Native:
    if axis is not None and not x.ndim:  # JAX accepts 0 and -1
        raise np.exceptions.AxisError(axis, 0)
    if isinstance(repeats, int):
        return _repeat(x, repeats, axis=axis)
    require_kinds("iu", repeats)  # JAX accepts bools
    return _repeat_each(x, repeats, axis=axis)


@compiled(instead=np.roll)
def _roll(x: Native, *shifts: Native, axis: Axes) -> Native:
    return jnp.roll(x, shifts if isinstance(axis, tuple) else shifts[0], axis)


def roll(x: Native, /, shift: int | tuple[int, ...], *, axis: Axes = None) -> Native:
    if axis is None:
        return _roll(x, *rolled(shift if isinstance(shift, int) else sum(shift), 0, (x.size,))[0], axis=None)
    shifts, axes = rolled(shift, axis, x.shape)
    return _roll(x, *shifts, axis=axes)


instead_of[roll] = np.roll


@compiled(static=("repetitions",))
def tile(x: Native, repetitions: tuple[int, ...]) -> Native:
    if min(repetitions, default=0) < 0:  # XLA raises, but not at trace time
        raise ValueError("repetitions must not be negative")
    return jnp.tile(x, repetitions)
