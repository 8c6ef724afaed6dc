"""Whether an Array is the sole owner of its memory, by reference counts.

Only the memory of a sole owner may be shared with a library of immutable arrays (from NumPy or CuPy), or be written in
place (of an immutable array). The reference counts of the native array and of its `base`, the ndarray of which it is a
view, decide: every view, memoryview, DLPack capsule and alias in a framework holds a reference to one of the two. The
counts of a sole owner are measured at import, because interpreters differ in how many references a call holds.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np

_references: Final = sys.getrefcount


_LOCKS: Final = [threading.RLock() for _ in range(64)]
"""Locks of Arrays, by id. There are many, so threads rarely wait for the lock of another Array."""


def lock_of(array: Any) -> threading.RLock:
    """The lock for replacing the native array of an Array.

    Without it, threads that write to parts of one Array would lose writes, because each makes a new native array from
    the previous one.
    """
    return _LOCKS[id(array) >> 4 & 63]


def _forked() -> None:
    # The child has none of the other threads, so a lock that one of them held would never be released.
    _LOCKS[:] = [threading.RLock() for _ in _LOCKS]


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


def _reference_count(holder: Any) -> int:
    """References to the native array of an Array, inside a call like this."""
    return _references(holder._native)


def _reference_count_of_base(holder: Any) -> int:
    """References to the ndarray that an Array's native array is a view of."""
    base = holder._native.base
    return _references(base)


class _Probe:
    """A stand-in for an Array while the counts are measured."""

    __slots__ = ("_native",)

    def __init__(self, native: Any) -> None:
        self._native = native


# The minimum of many, as a specializing interpreter may hold fewer references once the code is warm.
SOLE_REFERENCES: Final = min([_reference_count(one) for one in [_Probe(np.empty(1))] * 100])
_SOLE_BASE_REFERENCES: Final = min([_reference_count_of_base(one) for one in [_Probe(np.empty(2)[:1])] * 100])


def is_sole_owner(array: Any, views: int = 0) -> bool:
    """Whether `array`, an Array, is the sole owner of its memory.

    This number of known `views` does not count. The caller must not hold a reference to its native array, for example
    in a local variable.
    """
    holders = array._home.backend.holders
    if holders is not None and type(array._native) is not np.ndarray:
        return _references(array._native) <= SOLE_REFERENCES and _is_held_by(array, holders, views)
    base = getattr(array._native, "base", None)
    if base is None:
        return _references(array._native) <= SOLE_REFERENCES + views  # as `_reference_count` does
    return (
        _references(array._native) <= SOLE_REFERENCES
        and type(base) is np.ndarray
        and _references(base) <= _SOLE_BASE_REFERENCES + views  # as `_reference_count_of_base` does
        and base.base is None  # not a view of a buffer or a memory-mapped file
        and base.flags.owndata
        and not _may_overlap(array._native)
    )


def _is_held_by(array: Any, holders: Callable[[Any], int], views: int) -> bool:
    """Whether only this number of views holds the memory of an Array."""
    try:
        return holders(array._native) <= views
    except (RuntimeError, NotImplementedError):  # a traced array has no memory
        return False


def is_private(array: Any) -> bool:
    """Whether no other code can write to the NumPy memory of `array`.

    This stays true while the Array has a second copy (see `second_copies`), because the memory is then guarded.
    """
    second = getattr(array, "_second", None)
    return (second is not None and second[0] is not None) or is_sole_owner(array)


def _may_overlap(view: Any) -> bool:
    """Whether elements of an ndarray may share memory with each other.

    Elements of a broadcast ndarray do.
    """
    if not isinstance(view, np.ndarray) or view.flags.c_contiguous:
        return False  # arrays of other libraries do not overlap
    extent = view.itemsize
    for stride, length in sorted(zip(map(abs, view.strides), view.shape, strict=True)):
        if length > 1:
            if stride < extent:
                return True
            extent = stride * length
    return False
