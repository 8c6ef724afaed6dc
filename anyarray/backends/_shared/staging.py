"""Copies from host memory to a GPU in pieces, through pinned buffers.

The bus reads and writes pinned memory only. CUDA first copies pageable memory to pinned memory, and the page faults of
a new ndarray take longer than anything else. So an array is copied in pieces through two pinned buffers: one is filled
while the other is sent. The host never holds a second copy of the whole array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

import numpy as np

PIECE: Final = 4 << 20
"""Bytes of a piece. From two pieces on, filling a buffer and sending the other overlap."""
SMALL: Final = 1 << 16
"""Bytes up to which CUDA copies pageable memory before the call returns."""
MOST: Final = 1 << 30
"""Bytes of pinned memory for results, in use and cached."""


class Buffer(Protocol):
    """A pinned buffer, whose contents are sent to an array on a device."""

    bytes: np.ndarray[Any, Any]

    def send(self, start: int, nbytes: int) -> None:
        """Start to copy its first `nbytes` to byte `start` of the array."""

    def wait(self) -> None:
        """Wait until the last copy is complete."""


def send(a: np.ndarray[Any, Any], dtype: np.dtype[Any], buffers: Sequence[Buffer]) -> None:
    """Send an ndarray, in C order, as elements of `dtype`.

    `dtype` is its own dtype in native byte order. The caller must then wait for the device.
    """
    for number, (start, piece) in enumerate(_pieces(a, dtype.itemsize)):
        buffer = buffers[number % len(buffers)]
        if number >= len(buffers):
            buffer.wait()
        nbytes = piece.size * dtype.itemsize
        copy(piece, buffer.bytes[:nbytes].view(dtype).reshape(piece.shape))
        buffer.send(start, nbytes)


def sizes(nbytes: int) -> list[int]:
    """The size in bytes of each buffer for an array of `nbytes` bytes."""
    return [min(PIECE, nbytes)] * (1 if nbytes <= PIECE else 2)


def copy(a: np.ndarray[Any, Any], target: np.ndarray[Any, Any]) -> None:
    """Copy an ndarray; True becomes the byte 1, as kernels require."""
    if a.dtype.kind == "b":
        np.not_equal(a.view(np.uint8), 0, out=target)
    else:
        np.copyto(target, a)


def _pieces(a: np.ndarray[Any, Any], itemsize: int, start: int = 0) -> Iterator[tuple[int, np.ndarray[Any, Any]]]:
    """Parts of `a` of at most `PIECE` bytes, in C order, and their offsets."""
    if a.flags.c_contiguous:
        a = a.reshape(-1)
    if a.size * itemsize <= PIECE:
        yield start, a
        return
    row = a[0].size * itemsize
    if row > PIECE:
        for i, part in enumerate(a):
            yield from _pieces(part, itemsize, start + i * row)
        return
    count = PIECE // row
    for i in range(0, len(a), count):
        yield start + i * row, a[i : i + count]


_seen: Final[set[tuple[str, int]]] = set()


def is_worth_pinning(library: str, nbytes: int) -> bool:
    """Whether a result of `nbytes` bytes should be in pinned memory.

    Pinning takes as long as several copies, so it pays only for a size that occurs again. Sizes are rounded up to
    powers of two, as in the libraries' pools of pinned memory.
    """
    if nbytes < PIECE:
        return False
    size = library, (nbytes - 1).bit_length()
    if size not in _seen:
        _seen.add(size)
        return False
    return True
