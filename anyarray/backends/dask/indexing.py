"""Reading and writing parts.

Slices, ints and masks stay in blocks, and so does one array of indices, which is computed first. For other keys the
array must stand in one block.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

from anyarray._registry.home import Home
from anyarray.backends._shared.axes import axis_in, only_axis
from anyarray.backends.dask._computing import computed
from anyarray.backends.dask._kernel import (
    UNKNOWN,
    Block,
    Native,
    as_dtype,
    elementwise,
    home_of,
    in_one_block,
    known,
    native,
    on_home,
    stacked,
)  # fmt: skip

__all__ = ["getitem", "repeat", "setitem", "take", "take_along_axis"]


def _entries(x: Native, key: Any) -> list[Any]:
    """One entry for each axis of `x` that is not a mask's, and each None."""
    given = list(key) if type(key) is tuple else [key]
    taken = sum(k.ndim if _is_mask(k) else k is not None and k is not Ellipsis for k in given)
    if taken > x.ndim:
        raise IndexError(f"too many indices: x has {x.ndim} axes, not {taken}")
    rest = [slice(None)] * (x.ndim - taken)
    at = next((i for i, k in enumerate(given) if k is Ellipsis), None)
    if at is None:
        return [*given, *rest]
    if any(k is Ellipsis for k in given[at + 1 :]):
        raise IndexError("the key may have one Ellipsis")
    return [*given[:at], *rest, *given[at + 1 :]]


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, da.Array) and entry.dtype == bool


def getitem(x: Native, key: Any, /) -> Native:
    given = key if type(key) is tuple else (key,)
    arrays = [k for k in given if isinstance(k, da.Array)]
    if not arrays:
        return x[tuple(_entries(x, key))]
    masks = [k for k in arrays if k.dtype == bool]
    if len(given) == 1 and masks and 0 < masks[0].ndim in (1, x.ndim):
        return selected(x, masks[0])
    entries = _entries(x, key)
    if len(arrays) == 1 and not masks and arrays[0].ndim and not any(type(k) is int for k in entries):
        at = next(i for i, k in enumerate(entries) if isinstance(k, da.Array))
        index = computed(arrays[0])[0]
        if index.size:
            entries[at] = index.reshape(-1).astype(np.int64)
            y = x[tuple(entries)]
            return y if index.ndim == 1 else y.reshape((*y.shape[:at], *index.shape, *y.shape[at + 1 :]))
    plain = values_in(key, _value)
    shape = np.broadcast_to(np.zeros((), x.dtype), x.shape)[plain].shape
    return in_one_block(functools.partial(_read, key=plain), [x], (shape, x.dtype))


def values_in(key: Any, of: Callable[[Native], Any]) -> Any:
    """A key with what a function gives for its arrays."""
    if type(key) is tuple:
        return tuple(values_in(one, of) for one in key)
    return of(key) if isinstance(key, da.Array) else key


def _value(x: Native) -> Any:
    return computed(x)[0]


def selected(x: Native, mask: Native) -> Native:
    """The elements, or rows, where a mask is true."""
    mask = known(mask)
    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(f"the mask has the shape {mask.shape}, not {x.shape[: mask.ndim]}")
    most = x.nbytes
    if mask.ndim == x.ndim:
        x, mask = x.reshape(-1), mask.reshape(-1)
    x = x.rechunk(dict.fromkeys(range(1, x.ndim), -1)) if x.ndim > 1 else x
    mask = mask.rechunk((x.chunks[0],))
    labels = tuple(range(x.ndim))
    y = da.blockwise(
        _where_true, labels, x, labels, mask, (0,), dtype=x.dtype, meta=x._meta,
        adjust_chunks={0: lambda n: UNKNOWN}, align_arrays=False,
    )  # fmt: skip
    y.anyarray_most = most
    return y


def _where_true(block: Any, mask: Any) -> Any:
    return block[mask]


def _read(block: Any, *, key: Any) -> Any:
    home = home_of(block)
    return on_home(home.getitem(on_home(block, home), _key_on(home, key)), home).copy()


def _key_on(home: Home, key: Any) -> Any:
    if type(key) is tuple:
        return tuple(_key_on(home, one) for one in key)
    return on_home(key, home) if isinstance(key, np.ndarray) else key


def setitem(x: Native, key: Any, value: Native, exclusive: bool, /) -> Native:
    x, value = known(x), as_dtype(known(value), x.dtype)
    given = key if type(key) is tuple else (key,)
    arrays = [k for k in given if isinstance(k, da.Array)]
    if len(given) == 1 and _is_mask(given[0]) and given[0].shape == x.shape and not value.ndim:
        return elementwise(_WHERE, given[0], value, x)
    if not arrays and x.ndim and 0 not in x.shape and None not in given:
        entries = tuple(_entries(x, key))
        shape = np.broadcast_to(np.zeros((), x.dtype), x.shape)[entries].shape
        if 0 in shape:
            np.broadcast_to(np.zeros(value.shape), shape)
            return x
        if value.ndim <= len(shape):
            y = x.copy()
            y[entries] = value
            return y
    return in_one_block(functools.partial(_written, key=values_in(key, _value)), [x, value], (x.shape, x.dtype))


_WHERE = Block("where")


def _written(block: Any, value: Any, *, key: Any) -> Any:
    home = home_of(block)
    return home.setitem(on_home(block, home), _key_on(home, key), on_home(value, home), False)


def take(x: Native, indices: Native, /, *, axis: int | None = None) -> Native:
    at = only_axis(axis, x.ndim)
    if indices.dtype.kind not in "iu":
        raise TypeError("indices must be integers")
    return getitem(x, (*[slice(None)] * at, indices))


def take_along_axis(x: Native, indices: Native, /, *, axis: int = -1) -> Native:
    if x.ndim != indices.ndim:
        raise ValueError("x and indices must have as many axes")
    x, indices = da.moveaxis(x, axis, -1), da.moveaxis(indices, axis, -1)
    return da.moveaxis(stacked(_taken_along, [x, indices], [1, 1], (indices.shape[-1],)), -1, axis)


def _taken_along(block: Any, indices: Any) -> Any:
    lead = np.broadcast_shapes(block.shape[:-1], indices.shape[:-1])
    home = home_of(block)
    spread = [native(home, "broadcast_to")(one, (*lead, one.shape[-1])) for one in (block, indices)]
    return native(home, "take_along_axis")(*spread, axis=-1)


def repeat(x: Native, repeats: Any, /, *, axis: int | None = None) -> Native:
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = axis_in(axis, x.ndim)
    if not isinstance(repeats, int):
        if repeats.dtype.kind not in "iu":
            raise TypeError("repeats must be integers")
        repeats = computed(repeats)[0].astype(np.int64)
    if np.min(repeats, initial=0) < 0:
        raise ValueError("repeats must not be negative")
    index = np.repeat(np.arange(x.shape[axis]), repeats)
    return x[(*[slice(None)] * axis, index)]
