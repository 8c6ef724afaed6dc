"""Whether an Array is the sole owner of its memory, by reference counts.

If it is not, the memory must not be written in place, nor shared with a library that keeps it. What counts is the
reference count of the native array, and of its `base`, the ndarray whose memory it is a view of: a view, a memoryview,
a DLPack capsule or a framework's alias of NumPy memory holds a reference to one of the two. The counts of a sole owner
are measured at import, as interpreters differ in how many references a call holds.

A write has four steps, wherever it is inlined for speed (`Array.__setitem__`, `_write`, `_update_in_place`,
`_call/c/assignment.c`). Under the
Array's lock it drops the second copy; checks whether the Array is the sole owner; writes, in place if it is; and checks
again. If the memory was shared in the meantime, which only another thread can do, the Array moves to a copy.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from typing import Any, Final

import numpy as np

_references: Final = sys.getrefcount


WRITES: Final = [threading.RLock() for _ in range(64)]
"""Locks, chosen by the id of an Array: hold it to replace the Array's native array.

Without one, of two threads that write to parts of one Array, one write would be lost, as each makes a new native array
from the old one. There are many locks, so that writes to different Arrays rarely wait for each other.
`_call/c/assignment.c` finds them the same way."""


def _forked() -> None:
    # The child has none of the other threads, so a lock that one of them held would never be released.
    WRITES[:] = [threading.RLock() for _ in WRITES]


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


def _reference_count(holder: Any) -> int:
    """Reference count of an Array's native array, inside a call like this."""
    return _references(holder._native)


def _reference_count_of_base(holder: Any) -> int:
    """Reference count of the `base` of an Array's native array."""
    base = holder._native.base
    return _references(base)


class _Probe:
    """Stands for an Array while the reference counts are measured."""

    __slots__ = ("_native",)

    def __init__(self, native: Any) -> None:
        self._native = native


# The minimum of many, as a specializing interpreter may hold fewer references once the code is warm.
SOLE_REFERENCES: Final = min([_reference_count(one) for one in [_Probe(np.empty(1))] * 100])
_SOLE_BASE_REFERENCES: Final = min([_reference_count_of_base(one) for one in [_Probe(np.empty(2)[:1])] * 100])


def is_sole_owner(array: Any) -> bool:
    """Whether `array`, an Array, is the sole owner of its memory.

    The caller must not hold a reference to its native array, as in a local variable. `owns_memory_alone`
    in `_call/c/assignment.c` does the same, but for some of these Arrays.
    """
    if _references(array._native) > SOLE_REFERENCES:  # as `_reference_count` does
        return False
    base = getattr(array._native, "base", None)
    if base is None:
        return True
    return (
        type(base) is np.ndarray
        and _references(base) <= _SOLE_BASE_REFERENCES  # as `_reference_count_of_base` does
        and base.base is None  # not a view of a buffer or a memory-mapped file
        and base.flags.owndata
        and not _may_overlap(array._native)
    )


def is_private(array: Any) -> bool:
    """Whether only Arrays can write to the NumPy memory of `array`.

    An Array copies shared memory before a write. This stays true as long as the Array has a second copy (see
    `second_copies`), as every view that is exported meanwhile is read-only.
    """
    return getattr(array, "_second", None) is not None or is_sole_owner(array)


read_apart: Final[dict[int, weakref.ref[Any]]] = {}
"""Arrays, by id, that were copied for a write more than once: indexing returns small parts of them as copies.

Otherwise a loop that holds a view of one row while it writes to the Array would copy the whole Array for each row.
"""
_copied_once: Final[dict[int, weakref.ref[Any]]] = {}
"""Arrays, by id, that were copied for a write at least once."""
_SMALL_FRACTION: Final = 8
"""A part is small if its size is at most the whole's divided by this ..."""
_SMALL_SIZE: Final = 64
"""... or if it has at most this many elements."""


def note_copy(array: Any) -> None:
    """Record that the whole of an Array is copied for a write."""
    key = id(array)
    if key in _copied_once:
        read_apart[key] = _copied_once[key]
        return

    def forget(_: object) -> None:
        _copied_once.pop(key, None)
        read_apart.pop(key, None)

    _copied_once[key] = weakref.ref(array, forget)


def copy_small_part(found: Any, array: Any) -> Any:
    """`found`, a part of an Array in `read_apart`; a copy if it is small."""
    if getattr(found, "base", None) is None or found.size > max(array._native.size // _SMALL_FRACTION, _SMALL_SIZE):
        return found
    return _copy(found, array)


def unalias(value: Any, array: Any) -> None:
    """Copy the memory of `value` if it is a view of the memory of `array`.

    `value` is about to be written to `array`, as in `x[0] = x[1]`. The copy keeps its values from changing, and `array`
    need not be copied as a whole. `separate` in `_call/c/assignment.c` does the same.
    """
    native = value._native
    base, whole = getattr(native, "base", None), array._native
    if base is None or value is array or not (base is whole or base is getattr(whole, "base", None)):
        return
    own = _copy(native, value)
    with WRITES[id(value) >> 4 & 63]:
        if value._native is native:  # else another thread has written in the meantime
            value._native = own


def _copy(native: Any, array: Any) -> Any:
    """A copy of a native array on the home of `array`.

    NumPy's is not aligned for other libraries, as that takes longer.
    """
    return native.copy() if isinstance(native, np.ndarray) else array._home.duplicate(native)


def _may_overlap(view: Any) -> bool:
    """Whether an ndarray may have internal overlap, as a broadcast one has."""
    if not isinstance(view, np.ndarray) or view.flags.c_contiguous:
        return False  # arrays of other libraries have no internal overlap
    extent = view.itemsize
    for stride, length in sorted(zip(map(abs, view.strides), view.shape, strict=True)):
        if length > 1:
            if stride < extent:
                return True
            extent = stride * length
    return False
