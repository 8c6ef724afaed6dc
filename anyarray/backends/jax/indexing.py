"""Indexing and assignment.

A key is split into static parameters of a compiled function (extents, steps, moving axes) and its operands (starts,
index arrays), so that all slices of one length share a compiled function.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.axes import only_axis
from anyarray.backends._shared.keys import completed, require_within
from anyarray.backends.jax._hooks import device_of, lent, to_numpy
from anyarray.backends.jax._host import in_host_memory, is_read_in_place, unknown_shape
from anyarray.backends.jax._kernel import Native, compiled, in_dtype, kind_of, require_kinds
from anyarray.backends.jax._scope import sometimes
from anyarray.backends.jax._seldom import is_rare
from anyarray.backends.jax.data_types import converted


def _wide(indices: Native) -> Native:
    """`indices` cast to int64; uint64 is clamped, so that none turns negative.

    Then adding the length of a long axis does not overflow.
    """
    if indices.dtype == jnp.uint64:
        indices = lax.min(indices, lax.full_like(indices, np.iinfo(np.int64).max))
    return lax.convert_element_type(indices, jnp.int64)


@compiled
def _take(x: Native, indices: Native, *, axis: int) -> Native:
    require_kinds("iu", indices)
    return jnp.take(x, _wide(indices), axis=axis, mode="fill")


def take(x: Native, indices: Native, /, *, axis: int | None = None) -> Native:
    axis = only_axis(axis, x.ndim)
    if indices.dtype != bool:  # `_take` rejects it
        _check_bounds(indices, x.shape[axis], axis)
    return _take(x, indices, axis=axis)


@compiled
def _take_along_axis(x: Native, indices: Native, *, axis: int) -> Native:
    require_kinds("iu", indices)
    return jnp.take_along_axis(x, _wide(indices), axis=axis, mode="fill")


def take_along_axis(x: Native, indices: Native, /, *, axis: int = -1) -> Native:
    _check_bounds(indices, x.shape[axis], axis % x.ndim)
    return _take_along_axis(x, indices, axis=axis)


def extremes(indices: Native) -> tuple[int, ...]:
    """The minimum and maximum of `indices`, if known without blocking.

    Empty if reading the values would block, or if there are none.
    """
    if isinstance(indices, jax.core.Tracer):
        return ()
    if isinstance(indices, jax.Array):
        if device_of(indices).platform != "cpu" or not indices.is_ready():
            return ()
        indices = to_numpy(indices)
    if not indices.size:
        return ()
    return int(np.minimum.reduce(indices, None)), int(np.maximum.reduce(indices, None))  # half the time of the methods


def _check_bounds(indices: Native, length: int, axis: int) -> None:
    """Raise IndexError if an index is known to be out of range.

    It is not checked where that would block on a device or an operation.
    """
    for index in extremes(indices):
        require_within(index, length, axis)


_CALL: Final = 40
"""Microseconds of an indexing by NumPy, the result brought to JAX included."""
_COPIED: Final = 4096
"""Bytes that are copied in a microsecond."""
_LARGE: Final = 16 << 20
"""Bytes above which none is copied that need not be."""


def _is_rare(key: Any, size: int) -> bool:
    """Whether NumPy computes an indexing: it was too seldom to be compiled.

    `key` is what XLA compiles for, `size` the bytes that NumPy copies.
    """
    return size <= _LARGE and is_rare(key, _CALL + size / _COPIED)


class _Region(NamedTuple):
    """What a basic index selects, except for its start along each axis.

    A basic index consists of ints, slices, None and Ellipsis.
    """

    extents: tuple[int, ...]
    """Length of the block that contains the region, along each axis of x."""
    steps: tuple[int, ...]
    moving: tuple[int, ...]
    """The axes whose start is not 0."""
    shape: tuple[int, ...]
    """Shape of the result."""

    def starts(self, moving: tuple[Native, ...]) -> list[Native]:
        """Start along every axis of x."""
        starts: list[Native] = [np.int64(0)] * len(self.extents)
        for axis, start in zip(self.moving, moving, strict=True):
            starts[axis] = lax.convert_element_type(start, jnp.int64)
        return starts

    @property
    def reversed_axes(self) -> tuple[int, ...]:
        """Axes with a negative step."""
        return tuple(axis for axis, step in enumerate(self.steps) if step < 0)

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps without their signs."""
        return tuple(abs(step) for step in self.steps)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Number of elements selected along each axis of x."""
        return tuple(-(-extent // stride) for extent, stride in zip(self.extents, self.strides, strict=True))


def _basic(shape: tuple[int, ...], key: tuple[Any, ...]) -> tuple[_Region, list[int]]:
    """The region that `key` selects, and the starts along its moving axes."""
    extents: list[Any] = []
    steps: list[Any] = []
    moving: list[Any] = []
    starts: list[Any] = []
    result: list[Any] = []
    for entry in completed(key, len(shape), _width):
        if entry is None:
            result.append(1)
            continue
        axis = len(extents)
        length = shape[axis]
        if isinstance(entry, slice):
            start, stop, step = entry.indices(length)
            count = len(range(start, stop, step))
            extent = (count - 1) * abs(step) + 1 if count else 0
            start = (start if step > 0 else start - extent + 1) if count else 0
            step = step if count > 1 else 1
            result.append(count)
        else:
            require_within(entry, length, axis)
            start, extent, step = entry % length, 1, 1
        extents.append(extent)
        steps.append(step)
        # The start is an operand, so that all slices of one length and step share a compiled function.
        if extent < length and extent:
            moving.append(axis)
            starts.append(start)
    return _Region(tuple(extents), tuple(steps), tuple(moving), tuple(result)), starts


@compiled(static=("region",))
def _read(region: _Region, x: Native, *starts: Native) -> Native:
    if region.moving:
        x = lax.dynamic_slice(x, region.starts(starts), region.extents)
    elif region.extents != x.shape:
        x = lax.slice(x, (0,) * x.ndim, region.extents)
    x = lax.slice(x, (0,) * x.ndim, x.shape, region.strides)
    return lax.reshape(lax.rev(x, region.reversed_axes), region.shape)


@compiled(instead=lambda x, index: x[index])
def row(x: Native, index: Native) -> Native:
    """`x[index]` as `_read` returns it, with less overhead in loops."""
    return lax.dynamic_index_in_dim(x, index, keepdims=False)


def _written(region: _Region, x: Native, value: Native, *starts: Native) -> Native:
    value = _fitted(value, x, region.shape)
    value = lax.rev(lax.reshape(value, region.lengths), region.reversed_axes)
    if 0 in value.shape:
        return x
    corner = region.starts(starts)
    if set(region.strides) - {1}:
        # A step leaves gaps: the value is padded to the extent, and the elements in the gaps are kept.
        gaps = [(0, 0, stride - 1) for stride in region.strides]
        hit = lax.pad(lax.full(value.shape, True), np.bool_(False), gaps)
        spread = lax.pad(value, lax.full((), 0, value.dtype), gaps)
        value = lax.select(hit, spread, lax.dynamic_slice(x, corner, region.extents))
    return lax.dynamic_update_slice(x, value, corner)


def _fitted(value: Native, x: Native, shape: tuple[int, ...]) -> Native:
    """`value` cast to the dtype of `x`, broadcast to `shape`.

    Extra leading axes of length 1 are dropped, as in NumPy.
    """
    if kind_of(value) == "c" and kind_of(x) not in "cb":
        raise TypeError(f"cannot assign {value.dtype.name} to an array of dtype {x.dtype.name}")
    extra = max(value.ndim - len(shape), 0)
    if math.prod(value.shape[:extra]) == 1:
        value = lax.reshape(value, value.shape[extra:])
    return jnp.broadcast_to(in_dtype(value, x.dtype), shape)


_Slot = tuple[int | None, int | None, int | None] | str | None | EllipsisType
"""The static part of an entry of a key: the bounds of a slice, or "array" for an operand."""


def _advanced(shape: tuple[int, ...], key: tuple[Any, ...]) -> tuple[tuple[_Slot, ...], tuple[int, ...], list[Native]]:
    """The slots of an advanced index, axes to add, and integer index arrays.

    The axes are added to x for 0-d masks.
    """
    slots: list[_Slot] = []
    added: list[int] = []
    arrays: list[Native] = []
    width = sum(_width(entry) for entry in key)
    if width > len(shape):
        raise IndexError(f"too many indices: the array has {len(shape)} axes, but {width} were indexed")
    axis = 0
    for entry in key:
        if entry is None:
            slots.append(None)
        elif entry is Ellipsis:
            slots.append(...)
            axis += len(shape) - width
        elif isinstance(entry, slice):
            slots.append((entry.start, entry.stop, entry.step))
            axis += 1
        elif isinstance(entry, int):
            require_within(entry, shape[axis], axis)
            slots.append("array")
            arrays.append(np.int64(entry))
            axis += 1
        elif entry.dtype == bool:
            if entry.shape != shape[axis : axis + entry.ndim]:
                raise IndexError(f"a mask of shape {entry.shape} does not fit axes {shape[axis : axis + entry.ndim]}")
            mask = _values(entry)
            if not mask.ndim:
                added.append(axis + len(added))
            chosen = np.nonzero(mask) if mask.ndim else (np.zeros(int(mask), np.int64),)
            slots.extend(["array"] * len(chosen))
            arrays.extend(chosen)
            axis += mask.ndim
        else:
            _check_bounds(entry, shape[axis], axis)
            slots.append("array")
            arrays.append(entry)
            axis += 1
    if len(arrays) > 1:
        try:
            np.broadcast_shapes(*(array.shape for array in arrays))
        except ValueError as cause:
            raise IndexError(str(cause)) from cause
    return tuple(slots), tuple(added), arrays


def _width(entry: Any) -> int:
    """The number of axes that an entry of a key indexes."""
    if entry is None or entry is Ellipsis:
        return 0
    return entry.ndim if _is_mask(entry) else 1


def _filled(slots: tuple[_Slot, ...], arrays: tuple[Native, ...]) -> tuple[Any, ...]:
    """The key that `slots` describe."""
    remaining = iter(arrays)
    return tuple(
        [
            _wide(next(remaining)) if slot == "array" else slice(*slot) if isinstance(slot, tuple) else slot
            for slot in slots
        ]
    )


@compiled(static=("slots", "added"))
def _gather(slots: tuple[_Slot, ...], added: tuple[int, ...], x: Native, *arrays: Native) -> Native:
    return lax.expand_dims(x, added).at[_filled(slots, arrays)].get(mode="fill")


def _scattered(slots: tuple[_Slot, ...], added: tuple[int, ...], x: Native, value: Native, *arrays: Native) -> Native:
    key = _filled(slots, arrays)
    expanded = lax.expand_dims(x, added)
    shape = jax.eval_shape(lambda x: x[key], expanded).shape
    return lax.squeeze(expanded.at[key].set(_fitted(value, x, shape), mode="drop"), added)


def _masked(before: int, x: Native, mask: Native, value: Native) -> Native:
    after = x.ndim - before - mask.ndim
    return jnp.where(lax.reshape(mask, (1,) * before + mask.shape + (1,) * after), _fitted(value, x, ()), x)


class _Update(NamedTuple):
    """A function that returns an updated x, compiled in two ways.

    One leaves x valid, to the other x is donated.
    """

    keeping: Any
    reusing: Any

    def __call__(self, exclusive: bool, *args: Any) -> Native:
        return (self.reusing if exclusive else self.keeping)(*args)


def _update(function: Callable[..., Native], static: tuple[str, ...]) -> _Update:
    # Donation is safe whatever else refers to the buffer: XLA copies it instead if a NumPy view or a DLPack export is
    # alive or another library owns it, and pending operations complete first.
    return _Update(
        jax.jit(function, static_argnames=static),
        jax.jit(function, static_argnames=static, donate_argnames="x"),
    )


_DONATED: Final = 1 << 13
"""Threshold in elements above which a copy takes longer than the overhead of donation, 6 us."""
_write: Final = _update(_written, ("region",))
_scatter: Final = _update(_scattered, ("slots", "added"))
_fill: Final = _update(_masked, ("before",))


def _is_array(entry: Any) -> bool:
    return not (entry is None or entry is Ellipsis or isinstance(entry, int | slice))


def _is_mask(entry: Any) -> bool:
    return _is_array(entry) and entry.dtype == bool


_row: Final = sometimes(row)


def getitem(x: Native, key: Any) -> Native:
    """`x[key]`."""
    if type(key) is int and x.shape and -x.shape[0] <= key < x.shape[0]:
        return _row(x, key)
    entries = key if type(key) is tuple else (key,)
    if not any(map(_is_array, entries)):
        region, starts = _basic(x.shape, entries)
        if region.shape == region.extents == x.shape and min(region.steps, default=1) == 1:
            return x  # no copy, as it is immutable
        # Elements and whole rows have one shape each, whatever their indices.
        if (
            region.shape != x.shape[len(entries) :]
            and _is_rare((region, x.shape, x.dtype), math.prod(region.shape) * x.dtype.itemsize)
            and is_read_in_place(x)
        ):
            return _lent_copy(to_numpy(x)[key], x)
        return _read(region, x, *starts)
    if any(map(_is_mask, entries)) and in_host_memory((x, *entries)):
        return lent(on_numpy.getitem(to_numpy(x), _on_host(entries)), device_of(x))
    try:
        slots, added, arrays = _advanced(x.shape, entries)
    except jax.errors.TracerArrayConversionError as cause:
        raise unknown_shape("x[mask]") from cause
    if (
        _is_rare((slots, added, x.shape, x.dtype, *[one.shape for one in arrays]), _gathered(x, arrays))
        and is_read_in_place(x)
        and _are_readable(arrays)
    ):
        return _lent_copy(to_numpy(x)[_on_host(entries)], x)
    return _gather(slots, added, x, *arrays)


def setitem(x: Native, key: Any, value: Native, exclusive: bool) -> Native:
    """`x` with `value` at `key`; `x` may be donated if `exclusive`."""
    # Another thread that reads x meanwhile would find it deleted.
    exclusive = (
        exclusive
        and not isinstance(x, jax.core.Tracer)
        and math.prod(x.shape) >= _DONATED
        and threading.active_count() == 1
    )
    entries = key if type(key) is tuple else (key,)
    if not any(map(_is_array, entries)):
        region, starts = _basic(x.shape, entries)
        if region.shape != x.shape[len(entries) :] and _is_written_on_host((region,), x, value):
            return _written_on_host(x, entries, value)
        return _write(exclusive, region, x, value, *starts)
    if any(map(_is_mask, entries)):
        mask, before = _only_mask(x.shape, entries)
        if mask is not None and not value.ndim:
            return _fill(exclusive, before, x, mask, value)
        if in_host_memory((x, value, *entries)):
            return _written_on_host(x, entries, value)
    try:
        slots, added, arrays = _advanced(x.shape, entries)
    except jax.errors.TracerArrayConversionError as cause:
        raise unknown_shape("x[mask] = value") from cause
    if _is_written_on_host((slots, added, *[one.shape for one in arrays]), x, value) and _are_readable(arrays):
        return _written_on_host(x, entries, value)
    return _scatter(exclusive, slots, added, x, value, *arrays)


def _lent_copy(part: Any, like: Native) -> Native:
    """A copy of a part of an array, where the array is."""
    return lent(np.array(part), device_of(like))


def _gathered(x: Native, arrays: Sequence[Native]) -> int:
    """Bytes of what arrays select of `x`, at most and about."""
    return int(max(one.size for one in arrays) * x.dtype.itemsize)


def _are_readable(arrays: Sequence[Native]) -> bool:
    """Whether NumPy can index with these arrays, and in place."""
    return in_host_memory(arrays) and all(one.dtype != np.uint64 for one in arrays)  # which NumPy would cast to int64


def _is_written_on_host(key: tuple[Any, ...], x: Native, value: Native) -> bool:
    """Whether a write is computed by NumPy, as `_is_rare` tells."""
    return (
        value.dtype == x.dtype
        and _is_rare((*key, x.shape, x.dtype, value.shape), 2 * math.prod(x.shape) * x.dtype.itemsize)
        and is_read_in_place(x)
        and in_host_memory((value,))
    )


def _written_on_host(x: Native, entries: tuple[Any, ...], value: Native) -> Native:
    """`x` with `value` at a key, by NumPy."""
    # A cast recompiles for every shape, of which there are many here.
    written = to_numpy(value if value.dtype == x.dtype else converted(value, x.dtype))
    return lent(on_numpy.setitem(np.array(to_numpy(x)), _on_host(entries), written, True), device_of(x))


def _on_host(entries: tuple[Any, ...]) -> Any:
    """The key of these entries, for NumPy."""
    key = tuple(_values(entry) if _is_array(entry) else entry for entry in entries)
    return key[0] if len(key) == 1 else key


def _values(entry: Any) -> np.ndarray[Any, Any]:
    return to_numpy(entry) if isinstance(entry, jax.Array) else np.asarray(entry)


def _only_mask(shape: tuple[int, ...], key: tuple[Any, ...]) -> tuple[Native | None, int]:
    """The mask of a key, and its first axis; other entries are full slices.

    None instead of the mask if the key has any other entry.
    """
    masks = [entry for entry in key if _is_array(entry)]
    if len(masks) != 1 or masks[0].dtype != bool:
        return None, 0
    (mask,) = masks
    at = next(i for i, entry in enumerate(key) if entry is mask)
    if any(entry is not mask and entry is not Ellipsis and entry != slice(None) for entry in key):
        return None, 0
    before = len(shape) - mask.ndim - (len(key) - at - 1) if Ellipsis in key[:at] else at
    return (mask, before) if shape[before : before + mask.ndim] == mask.shape else (None, 0)
