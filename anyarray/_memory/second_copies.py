"""Second copies: what went to another backend stays with its Array.

So a loop pays for it once. An Array keeps one at a time, in its slot `_second`, until it is written or dies. Copies of
all Arrays together take at most `MOST_BYTES`; the oldest go first. Views take no memory of their own, but they would
make a write copy, so they are kept just as well and dropped before the write.

An Array of NumPy's has one only if nobody but Arrays can write to its memory, which so is known as long as it has one.
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
"""Stands for a second copy where memory was made for the Array.

Every library can take it as it is.
"""

OWN: Final[tuple[None, str]] = (None, "own")
"""Stands for a second copy where a write made the native array.

Nobody outside has seen it since. A library may give several native arrays one memory (`jax.device_put` does); then
nobody can count who holds it. So memory of a library whose arrays are immutable is taken over by a write only where
that is known.
"""


def hand_out(array: Any) -> None:
    """Note that somebody outside gets to see the native array."""
    if getattr(array, "_second", None) is OWN:
        array._second = None


_lock = threading.RLock()  # as garbage may be collected in `put`, and its finaliser bring an Array over
sizes: Final[OrderedDict[int, tuple[weakref.ref[Any], int]]] = OrderedDict()
"""Each Array by its id, weakly, with its second copy's bytes; oldest first."""
_total = 0
"""Bytes of all of them."""


def _forked() -> None:
    # The child has none of the other threads, so what they hold would never be given back.
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


def get(array: Any, target: Backend) -> Native | None:
    """The copy of an Array on `target`, or None."""
    second = getattr(array, "_second", None)
    return second[1] if second is not None and second[0] is target else None


def put(array: Any, target: Backend, native: Native, is_view: bool) -> None:
    """Keep a copy or a view of an Array on `target`.

    What is of a trace is not kept, as it has no value after it.
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
    global _total
    key = id(array)
    with _lock:
        _forget(key)
        array._second = (target, native)
        sizes[key] = (weakref.ref(array, lambda _: _forget(key)), size)
        _total += size
        while _total > MOST_BYTES and sizes:
            dying = _forget(next(iter(sizes)))
            if dying is not None:
                dying._second = None


def _forget(key: int) -> Any:
    """Take an Array out of `sizes`; gives it, if it was there and lives."""
    global _total
    with _lock:
        found = sizes.pop(key, None)
        if found is None:
            return None
        array, size = found
        _total = _total - size if sizes else 0
    return array()


def drop(array: Any) -> None:
    """Forget the copy of an Array, which is about to be written."""
    array._second = None
    if sizes and id(array) in sizes:
        _forget(id(array))
