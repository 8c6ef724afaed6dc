"""Second copies: a cache of each Array's native array on another backend.

A loop therefore transfers an Array once. An Array has at most one second copy, in its slot `_second`, until it is
written or deleted. The copies of all Arrays together take at most `MOST_BYTES`; the oldest are evicted first. A second
copy may be a view, which takes no memory. A write drops it first, because its reference would force a copy.

An Array on NumPy has a second copy only if no other code can write to its memory; see `ownership.is_private`.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from typing import Any, Final

from anyarray._registry.home import Native
from anyarray._registry.registry import Backend

MOST_BYTES: Final = 1 << 30
"""Bytes of all second copies together."""

LENDABLE: Final[tuple[None, None]] = (None, None)
"""The value of the slot for private memory that every library can share: it was allocated for the Array."""

OWN: Final[tuple[None, str]] = (None, "own")
"""The value of the slot if a write made the native array and no other code has had a reference to it since.

Several native arrays may share one buffer (as from `jax.device_put`), so reference counts do not prove ownership. A
write therefore reuses (donates) the buffer of an immutable array only with this value.
"""


def note_export(array: Any) -> None:
    """Record that the user now has a reference to the native array."""
    if getattr(array, "_second", None) is OWN:
        array._second = None


_lock = threading.RLock()  # reentrant: garbage collection in `put` may run a finalizer that transfers an Array
sizes: Final[OrderedDict[int, tuple[weakref.ref[Any], int]]] = OrderedDict()
"""A weak reference to each Array, by its id, with the bytes of its second copy; oldest first."""
_total_bytes = 0
"""Bytes of all second copies."""


def _forked() -> None:
    # The child has none of the other threads, so a lock that one of them held would never be released.
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


def get(array: Any, target: Backend) -> Native | None:
    """The second copy of an Array on `target`, or None."""
    second = getattr(array, "_second", None)
    return second[1] if second is not None and second[0] is target else None


def put(array: Any, target: Backend, native: Native, is_view: bool) -> None:
    """Keep a copy or a view of an Array on `target` as its second copy.

    A traced array is not cached, because it has no value after its trace.
    """
    if target.free.is_traced(native):
        return
    if is_view:
        array._second = (target, native)
        return
    home = array._home
    if home.is_traced(array._native):
        return
    size = home.dtype(array._native).itemsize
    for n in home.shape_of(array._native):
        size *= n or 0
    if size > MOST_BYTES:
        return
    global _total_bytes
    key = id(array)
    with _lock:
        _forget(key)
        array._second = (target, native)
        sizes[key] = (weakref.ref(array, lambda _: _forget(key)), size)
        _total_bytes += size
        while _total_bytes > MOST_BYTES and sizes:
            dying = _forget(next(iter(sizes)))
            if dying is not None:
                dying._second = None


def clear() -> int:
    """Drop the second copies of all Arrays; returns their bytes."""
    with _lock:
        freed = _total_bytes
        for key in list(sizes):
            array = _forget(key)
            if array is not None:
                array._second = None
    return freed


def _forget(key: int) -> Any:
    """Remove an Array from `sizes`; returns it, or None if it is gone."""
    global _total_bytes
    with _lock:
        found = sizes.pop(key, None)
        if found is None:
            return None
        array, size = found
        _total_bytes = _total_bytes - size if sizes else 0
    return array()


def drop(array: Any) -> None:
    """Drop the second copy of an Array that is about to be written."""
    array._second = None
    if sizes and id(array) in sizes:
        _forget(id(array))
