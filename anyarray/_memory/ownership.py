"""Whether anybody but one Array holds its memory.

Then it must not be written, nor lent to who keeps it. Told by reference counts: of the native array, and of the ndarray
whose memory it is a view of. A view, a memoryview, a DLPack capsule or a framework's alias of NumPy memory holds one of
the two, so each counts as somebody else. The counts of an array that is alone are measured at import, as interpreters
differ in how many references a call holds.

A write goes in four steps, wherever it is written out for speed (`Array.__setitem__`, `_write`, `_is_updated`, and
`_call/c/assignment.c`). Under the Array's lock it forgets the second copy; asks whether the Array is alone; writes, in
place if it is; and asks again. Who has taken the memory up meanwhile, as only another thread can, keeps it, and the
Array parts from it.
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
"""Locks: who replaces an Array's native array takes one, by its id.

Threads that write to parts of one Array would lose each other's parts, as each makes a new native array of the one
before. Many locks, so that writes to other Arrays rarely wait. `_call/c/assignment.c` finds them the same way."""


def _forked() -> None:
    # The child has none of the other threads, so what they hold would never be given back.
    WRITES[:] = [threading.RLock() for _ in WRITES]


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


def _holders(holder: Any) -> int:
    """References to the native array of an Array, inside a call like this."""
    return _references(holder._native)


def _holders_of_base(holder: Any) -> int:
    """References to the ndarray that an Array's native array is a view of."""
    base = holder._native.base
    return _references(base)


class _Probe:
    """Stands for an Array while the counts are measured."""

    __slots__ = ("_native",)

    def __init__(self, native: Any) -> None:
        self._native = native


# The least of many, as an interpreter that has run the code often enough to know it may hold fewer.
ALONE: Final = min([_holders(one) for one in [_Probe(np.empty(1))] * 100])
_BASE_ALONE: Final = min([_holders_of_base(one) for one in [_Probe(np.empty(2)[:1])] * 100])


def is_alone(array: Any) -> bool:
    """Whether `array`, an Array, alone holds its memory, to write to.

    Callers must not hold its native array in a variable of their own. `owns_memory_alone` in `_call/c/assignment.c`
    says so of some of these Arrays, and of no other.
    """
    if _references(array._native) > ALONE:  # as `_holders` does
        return False
    base = getattr(array._native, "base", None)
    if base is None:
        return True
    return (
        type(base) is np.ndarray
        and _references(base) <= _BASE_ALONE  # as `_holders_of_base` does
        and base.base is None  # so it is no view of a buffer or file
        and base.flags.owndata
        and not _may_overlap(array._native)
    )


def is_unwritten(array: Any) -> bool:
    """Whether only Arrays can write to the NumPy memory of `array`.

    They copy first. That stays so as long as the Array has a second copy (see `second_copies`): what is handed out
    meanwhile is read-only.
    """
    return getattr(array, "_second", None) is not None or is_alone(array)


read_apart: Final[dict[int, weakref.ref[Any]]] = {}
"""Arrays, by id, that were copied for a write more than once: small parts of them are read as copies.

A program that holds a row of an Array while it writes to that, and takes the next, would else copy all of it each time.
"""
_copied: Final[dict[int, weakref.ref[Any]]] = {}
"""Those that were copied for a write at all."""
_PART: Final = 8
"""A part is small that is at most so small a fraction of the whole ..."""
_FEW: Final = 64
"""... or has at most so many elements."""


def note_copy(array: Any) -> None:
    """Note that all of an Array is copied for a write."""
    key = id(array)
    if key in _copied:
        read_apart[key] = _copied[key]
        return

    def forget(_: object) -> None:
        _copied.pop(key, None)
        read_apart.pop(key, None)

    _copied[key] = weakref.ref(array, forget)


def apart(found: Any, array: Any) -> Any:
    """What was found in one of `read_apart`, with its own memory if small."""
    if getattr(found, "base", None) is None or found.size > max(array._native.size // _PART, _FEW):
        return found
    return _copy(found, array)


def separate(value: Any, array: Any) -> None:
    """Give `value` memory of its own if it has that of another Array.

    It is to be written to `array`, as in `x[0] = x[1]`. So what is written leaves it as it is, and not all of `array`
    must be copied for it. `separate` in `_call/c/assignment.c` does the same.
    """
    native = value._native
    base, whole = getattr(native, "base", None), array._native
    if base is None or value is array or not (base is whole or base is getattr(whole, "base", None)):
        return
    own = _copy(native, value)
    with WRITES[id(value) >> 4 & 63]:
        if value._native is native:  # else a thread has written meanwhile
            value._native = own


def _copy(native: Any, array: Any) -> Any:
    """A copy of a native array that lives where `array` does.

    NumPy's need not be fit for other libraries, which takes longer.
    """
    return native.copy() if isinstance(native, np.ndarray) else array._home.duplicate(native)


def _may_overlap(view: Any) -> bool:
    """Whether elements of an ndarray may share memory with each other.

    Those of a broadcast one do.
    """
    if not isinstance(view, np.ndarray) or view.flags.c_contiguous:
        return False  # other libraries have none such
    extent = view.itemsize
    for stride, length in sorted(zip(map(abs, view.strides), view.shape, strict=True)):
        if length > 1:
            if stride < extent:
                return True
            extent = stride * length
    return False
