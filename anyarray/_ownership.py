"""Whether anybody but one Array holds its memory.

Then it must not be written, nor lent to who keeps it. Told by reference counts: of the native array, and of the ndarray
whose memory it is a view of. A view, a memoryview, a DLPack capsule or a framework's alias of NumPy memory holds one of
the two, so each counts as somebody else. The counts of an array that is alone are measured at import, as interpreters
differ in how many references a call holds.

A write goes in four steps, wherever it is written out for speed (`Array.__setitem__`, `_write`, `_is_updated`). Under
the Array's lock it forgets the second copy; asks whether the Array is alone; writes, in place if it is; and asks again.
Who has taken the memory up meanwhile, as only another thread can, keeps it, and the Array parts from it.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Final

import numpy as np

_references: Final = sys.getrefcount


WRITES: Final = [threading.RLock() for _ in range(64)]
"""Locks: who replaces an Array's native array takes one, by its id.

Threads that write to parts of one Array would lose each other's parts, as each makes a new native array of the one
before. Many locks, so that writes to other Arrays rarely wait."""


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

    Callers must not hold its native array in a variable of their own.
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

    They copy first. That stays so as long as the Array has a second copy (see `_kept`): what is handed out meanwhile is
    read-only.
    """
    return getattr(array, "_second", None) is not None or is_alone(array)


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
