"""Copies between the host and the device, near the speed of the bus.

The bus reads and writes pinned memory only. Of pageable memory CUDA copies each piece first, and the pages of a new
ndarray are made one by one while it is written, which takes longer than all else. So

to the device
    An array travels in pieces by two pinned buffers: one is filled while the other travels. The host never holds a
    second copy of the whole, as it would by `cupy.array`.
to the host
    A large result lies in pinned memory itself, into which the device writes at once. Pinning takes as long as several
    copies, so it is done for a size that comes again, and freed memory is kept for the next result. All of it together
    is at most `MOST` bytes; beyond that, results are in ordinary memory.
to another library
    Memory that is lent by DLPack comes back when the other library has queued its last kernel, not when that is done.
    CuPy would give it to the next array at once; so it waits in `_returned` until the device was synchronized.
"""

from __future__ import annotations

import functools
import math
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

import cupy
import numpy as np

Native = Any

PIECE: Final = 4 << 20
"""Bytes of a piece, and of the smallest array that is large: two of them make a copy and a journey overlap."""
SMALL: Final = 1 << 16
"""Bytes up to which CUDA takes over pageable memory while the call is made."""
MOST: Final = 1 << 30
"""Bytes of pinned memory for results, in use and kept for later ones."""

_Error: Final = cupy.cuda.runtime.CUDARuntimeError


def to_device(a: np.ndarray[Any, Any], y: Native) -> None:
    """Copy an ndarray to `y`, C-contiguous on the current device, and wait."""
    nbytes = y.nbytes
    if not nbytes:
        return
    stream = cupy.cuda.get_current_stream()
    if nbytes <= SMALL:
        whole = np.empty(a.shape, y.dtype)
        _copy(a, whole)
        y.data.copy_from_host_async(whole.__array_interface__["data"][0], nbytes, stream)
        stream.synchronize()
        return
    count = 1 if nbytes <= PIECE else 2
    buffers = [_Buffer(min(PIECE, nbytes)) for _ in range(count)]
    try:
        for number, (start, piece) in enumerate(_pieces(a, y.itemsize)):
            buffer = buffers[number % count]
            if number >= count:
                buffer.sent.synchronize()  # what it held has left
            nbytes = piece.size * y.itemsize
            _copy(piece, buffer.bytes[:nbytes].view(y.dtype).reshape(piece.shape))
            (y.data + start).copy_from_host_async(buffer.address, nbytes, stream)
            if count > 1:
                buffer.sent.record(stream)
    finally:
        stream.synchronize()  # also after Ctrl-C: the pool would give the buffers, and the memory of y, to others


class _Buffer:
    """A pinned buffer from CuPy's pool, with the event that ends its journey.

    Where no memory can be pinned it is in ordinary memory.
    """

    def __init__(self, nbytes: int) -> None:
        self.bytes = np.frombuffer(_memory(nbytes), np.uint8, nbytes)
        self.address = self.bytes.ctypes.data

    @functools.cached_property
    def sent(self) -> Any:
        return cupy.cuda.Event(disable_timing=True)


def _memory(nbytes: int) -> Any:
    try:
        return cupy.cuda.alloc_pinned_memory(nbytes)
    except _Error:
        return np.empty(nbytes, np.uint8)


def _copy(a: np.ndarray[Any, Any], target: np.ndarray[Any, Any]) -> None:
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


_pinned: Final[weakref.WeakSet[Any]] = weakref.WeakSet()
"""All pinned memory for results."""


def _allocated(size: int) -> Any:
    """Pinned memory for the pool; MemoryError beyond `MOST`."""
    if size + sum(one.size for one in _pinned) > MOST:
        raise MemoryError
    memory = cupy.cuda.PinnedMemory(size)
    _pinned.add(memory)
    return cupy.cuda.PinnedMemoryPointer(memory, 0)


_pool: Final = cupy.cuda.PinnedMemoryPool(_allocated)
_seen: Final[set[int]] = set()
"""Sizes of results so far, as the pool rounds them: to powers of two."""


def place_for(x: Native) -> np.ndarray[Any, Any] | None:
    """An ndarray in pinned memory for the values of `x`.

    None if ordinary memory will do: for few bytes, the first result of a size, or if no more can be pinned.
    """
    if x.nbytes < PIECE:
        return None
    size = (x.nbytes - 1).bit_length()
    if size not in _seen:
        _seen.add(size)
        return None
    for _ in range(2):
        try:
            memory = _pool.malloc(x.nbytes)
        except (_Error, MemoryError):
            _pool.free_all_blocks()
        else:
            return np.frombuffer(memory, x.dtype, math.prod(x.shape)).reshape(x.shape)
    return None


_returned: Final[deque[Native]] = deque()
"""Arrays that others have given back. Their kernels may still read or write them."""


class _Loan:
    """Holds an array while others use its memory.

    It may be deleted in any thread, also where CUDA allows no call.
    """

    __slots__ = ("_x",)

    def __init__(self, x: Native) -> None:
        self._x = x

    def __del__(self, _returned: deque[Native] = _returned) -> None:
        _returned.append(self._x)


def lent(x: Native) -> Native:
    """`x`, which is computed and nobody else holds, for another library."""
    if not x.nbytes:
        return x
    memory = cupy.cuda.UnownedMemory(x.data.ptr, x.nbytes, _Loan(x), x.device.id)
    return cupy.ndarray(x.shape, x.dtype, cupy.cuda.MemoryPointer(memory, 0))


def take_back() -> None:
    """Give what was lent and has come back to CuPy's pool, after a wait."""
    back: list[Native] = []
    while True:
        try:
            back.append(_returned.popleft())
        except IndexError:
            break
    for device in {x.device.id: x.device for x in back}.values():
        device.synchronize()


def free() -> None:
    """Give kept memory back: pinned memory to the system, lent to CuPy."""
    take_back()
    _pool.free_all_blocks()
    cupy.get_default_pinned_memory_pool().free_all_blocks()
