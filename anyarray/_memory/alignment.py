"""Memory that every library takes as it is: contiguous, writable, and aligned.

XLA and TensorFlow ask for 64 bytes, NumPy promises 16. TensorFlow does not check: with less, its next operation aborts.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._base import extension

ALIGNMENT: Final = 64
"""Bytes; `_call/c/memory.h` repeats it."""

SMALL: Final = 1000
"""Bytes below which a copy takes no longer than sharing.

So alignment, which takes 0.5 us, is not worth its time.
"""

MODEST: Final = 10_000
"""Bytes below which a copy takes less than to ask whether one is needed. So few elements are no large array, either."""

_allocated: Final = getattr(extension.speedups, "allocated", None)
# By names of their own, which are found faster.
_empty, _ndarray, _address, _BYTE = np.empty, np.ndarray, ctypes.addressof, np.dtype(np.uint8)

# Takes a fifth of the time of `a.__array_interface__`; raises for what is no contiguous, writable, non-empty buffer.
_first_byte: Final[Callable[[Any], ctypes.c_char]] = ctypes.c_char.from_buffer


def is_fit(a: Any) -> bool:
    """Whether a receiver can take the memory of an ndarray as it is.

    False for anything else than an ndarray.
    """
    try:
        return _address(_first_byte(a)) % ALIGNMENT == 0 and isinstance(a, np.ndarray)
    except (TypeError, ValueError, BufferError):
        return False


def allocated(
    allocate: Callable[[int, np.dtype[np.uint8]], Any], shape: int | tuple[int, ...], dtype: np.dtype[Any], size: int
) -> np.ndarray[Any, Any]:
    """An ndarray of `size` bytes that `is_fit`, unless it is empty.

    Its memory is from `allocate`, which is `np.empty` or `np.zeros`.
    """
    if _allocated is not None:
        return _allocated(shape, dtype, allocate is np.zeros)  # type: ignore[no-any-return]  # as below, in C
    memory = allocate(size + ALIGNMENT, _BYTE)
    return _ndarray(shape, dtype, memory, -_address(_first_byte(memory)) % ALIGNMENT)


def copied(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of an ndarray that `is_fit`, unless it is empty.

    It has the machine's byte order.
    """
    dtype = a.dtype
    copy = allocated(_empty, a.shape, dtype if dtype.isnative else dtype.newbyteorder("="), a.nbytes)
    copy[...] = a
    return copy


KEPT: Final = 32 << 20
"""Bytes of the greatest block that glibc's allocator keeps when it is freed.

Larger ones are new memory from the system, unless there is a hole for them between others.
"""
_LEARNT: Final = KEPT - 8192
"""Bytes of the greatest array from which it learns: something is added to each."""


def keep_what_is_freed() -> None:
    """Let glibc keep freed memory, up to 64 MiB, for the next array.

    It gives memory back to the system from twice the greatest block on that was freed so far, 256 KiB at first, and
    takes it anew page by page: chains of arrays of 0.1 to 10 MB took 6 to 13 times as long. So a block of the greatest
    size that counts is freed here, none of whose pages was touched, as a program does with its first such array. No
    setting is changed, and those of the user's hold: `MALLOC_TRIM_THRESHOLD_` and the like. Other allocators do not
    mind. Source: mallopt(3), M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.
    """
    try:
        np.empty(_LEARNT, np.uint8)
    except MemoryError:  # that is more than the process may have
        pass


keep_what_is_freed()


def give_back_what_is_freed() -> None:
    """Let glibc give all freed memory back to the system.

    The next arrays are new memory then, page by page, whatever holes others left. It keeps what it has where the user
    lets it keep blocks of any size, and other allocators do as they like. Source: malloc_trim(3), mallopt(3).
    """
    if _LARGER_KEPT in os.environ.get("GLIBC_TUNABLES", "") or "MALLOC_MMAP_THRESHOLD_" in os.environ:
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, TypeError, OSError):  # another C library, or no such way to ask for one
        pass


_LARGER_KEPT: Final = "glibc.malloc.mmap_threshold"
"""The setting that lets it."""
