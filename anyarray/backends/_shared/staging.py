"""Copies of arrays in host memory to a GPU, in pieces by pinned buffers.

The bus reads and writes pinned memory only. Of pageable memory CUDA copies each piece first, and the pages of a new
ndarray are made one by one while it is written, which takes longer than all else. So an array travels in pieces by two
pinned buffers: one is filled while the other travels. The host never holds a second copy of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

import numpy as np

PIECE: Final = 4 << 20
"""Bytes of a piece, and of the smallest array that is large: two of them make a copy and a journey overlap."""
SMALL: Final = 1 << 16
"""Bytes up to which CUDA takes over pageable memory while the call is made."""
MOST: Final = 1 << 30
"""Bytes of pinned memory for results, in use and kept for later ones."""


class Buffer(Protocol):
    """A pinned buffer, whose contents travel to an array on a device."""

    bytes: np.ndarray[Any, Any]

    def send(self, start: int, nbytes: int) -> None:
        """Let its first bytes travel to the byte `start` of the array."""

    def wait(self) -> None:
        """Until what was sent last has left."""


def send(a: np.ndarray[Any, Any], dtype: np.dtype[Any], buffers: Sequence[Buffer]) -> None:
    """Let an ndarray travel, in C order, as elements of `dtype`.

    That is its own dtype in native byte order. The caller waits for the device then.
    """
    for number, (start, piece) in enumerate(_pieces(a, dtype.itemsize)):
        buffer = buffers[number % len(buffers)]
        if number >= len(buffers):
            buffer.wait()
        nbytes = piece.size * dtype.itemsize
        copy(piece, buffer.bytes[:nbytes].view(dtype).reshape(piece.shape))
        buffer.send(start, nbytes)


def sizes(nbytes: int) -> list[int]:
    """The bytes of each of the buffers for an array of so many bytes."""
    return [min(PIECE, nbytes)] * (1 if nbytes <= PIECE else 2)


def copy(a: np.ndarray[Any, Any], target: np.ndarray[Any, Any]) -> None:
    """Copy an ndarray; a kernel takes no byte but 1 for True."""
    if a.dtype.kind == "b":
        np.not_equal(a.view(np.uint8), 0, out=target)
    else:
        np.copyto(target, a)


def _pieces(a: np.ndarray[Any, Any], itemsize: int, start: int = 0) -> Iterator[tuple[int, np.ndarray[Any, Any]]]:
    """Parts of `a` of at most a piece, in C order, and where each begins."""
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
    """Whether a result of so many bytes belongs in pinned memory.

    Pinning takes as long as several copies, so it is done for a size that comes again. Sizes count as powers of two, as
    the libraries' pools of pinned memory round them.
    """
    if nbytes < PIECE:
        return False
    size = library, (nbytes - 1).bit_length()
    if size not in _seen:
        _seen.add(size)
        return False
    return True
