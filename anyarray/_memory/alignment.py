"""Memory that every library can share: contiguous, writable, and aligned.

XLA and TensorFlow need an alignment of 64 bytes, NumPy guarantees 16. TensorFlow does not check: with less, its next
operation aborts the process.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._base import extension

ALIGNMENT: Final = 64
"""Bytes; `_speedups/core/memory.h` repeats it."""

SMALL: Final = 1000
"""Bytes below which a copy takes no longer than sharing.

Aligned allocation, which takes 0.5 us more, does not pay below it.
"""

MODEST: Final = 10_000
"""Bytes below which a copy takes less time than checking whether it is necessary."""

_allocated: Final = getattr(extension.speedups, "allocated", None)
# Module globals: faster to look up than attributes of modules.
_empty, _ndarray, _address, _BYTE = np.empty, np.ndarray, ctypes.addressof, np.dtype(np.uint8)

# A fifth of the time of `a.__array_interface__`. Raises unless the buffer is contiguous, writable and not empty.
_first_byte: Final[Callable[[Any], ctypes.c_char]] = ctypes.c_char.from_buffer


def is_shareable(a: Any) -> bool:
    """Whether `a` is an ndarray whose memory every library can share."""
    try:
        return _address(_first_byte(a)) % ALIGNMENT == 0 and isinstance(a, np.ndarray)
    except (TypeError, ValueError, BufferError):
        return False


def as_writable(a: Any) -> Any:
    """A writable view of an ndarray that is read-only, if its memory is not.

    The caller must not write to it; some libraries accept only writable memory.
    """
    if type(a) is not _ndarray or a.flags.writeable:
        return a
    view = a.view()
    try:
        view.flags.writeable = True
    except ValueError:  # the memory itself is read-only
        return a
    return view


def is_constant(a: Any) -> bool:
    """Whether the memory of an ndarray can never be written.

    This is a file mapped with `mmap_mode="r"`, or bytes.
    """
    if a.flags.writeable or as_writable(a) is not a:
        return False
    while isinstance(a, np.ndarray):
        a = a.base
    return a is not None and not isinstance(a, memoryview)  # whose exporter may be written


def allocated(
    allocate: Callable[[int, np.dtype[np.uint8]], Any], shape: int | tuple[int, ...], dtype: np.dtype[Any], size: int
) -> np.ndarray[Any, Any]:
    """A new ndarray of `size` bytes that `is_shareable`, unless it is empty.

    `allocate` is `np.empty` or `np.zeros`.
    """
    if _allocated is not None:
        return _allocated(shape, dtype, allocate is np.zeros)  # type: ignore[no-any-return]  # the same in C
    memory = allocate(size + ALIGNMENT, _BYTE)
    return _ndarray(shape, dtype, memory, -_address(_first_byte(memory)) % ALIGNMENT)


def copied(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of an ndarray in native byte order, aligned.

    It `is_shareable` unless it is empty.
    """
    dtype = a.dtype
    copy = allocated(_empty, a.shape, dtype if dtype.isnative else dtype.newbyteorder("="), a.nbytes)
    copy[...] = a
    return copy


LARGEST_REUSED: Final = 32 << 20
"""Bytes of the largest block that glibc's allocator reuses when it is freed (DEFAULT_MMAP_THRESHOLD_MAX).

Larger blocks are mapped from the system each time, unless a free block of the heap is large enough.
"""


def trim_malloc() -> None:
    """Let glibc return all freed memory to the system.

    The next arrays then page-fault all of their memory in, regardless of what was freed before. Does nothing where the
    user has set the mmap threshold, or with another allocator.
    Source: malloc_trim(3), mallopt(3).
    """
    if _MMAP_TUNABLE in os.environ.get("GLIBC_TUNABLES", "") or "MALLOC_MMAP_THRESHOLD_" in os.environ:
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, TypeError, OSError):  # another C library, or a platform without `CDLL(None)`
        pass


_MMAP_TUNABLE: Final = "glibc.malloc.mmap_threshold"
"""The name in GLIBC_TUNABLES of the setting that fixes the threshold."""
