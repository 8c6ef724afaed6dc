"""Copies between the host and the device, near the speed of the bus.

to the device
    In pieces by pinned buffers, see `_shared.staging`; `cupy.array` would hold a second copy of the whole.
to the host
    A large result lies in pinned memory itself, into which the device writes at once. Freed memory is kept for the next
    result. All of it together is at most `_shared.staging.MOST` bytes; beyond that, results are in ordinary memory.
to another library
    Memory that is lent by DLPack comes back when the other library has queued its last kernel, not when that is done.
    CuPy would give it to the next array at once; so it waits in `_returned` until the device was synchronized.
"""

from __future__ import annotations

import functools
import math
import weakref
from collections import deque
from typing import Any, Final

import cupy
import numpy as np

from anyarray.backends._shared import staging

Native = Any

_Error: Final = cupy.cuda.runtime.CUDARuntimeError


def to_device(a: np.ndarray[Any, Any], y: Native) -> None:
    """Copy an ndarray to `y`, C-contiguous on the current device, and wait."""
    nbytes = y.nbytes
    if not nbytes:
        return
    stream = cupy.cuda.get_current_stream()
    if nbytes <= staging.SMALL:
        whole = np.empty(a.shape, y.dtype)
        staging.copy(a, whole)
        y.data.copy_from_host_async(whole.__array_interface__["data"][0], nbytes, stream)
        stream.synchronize()
        return
    try:
        staging.send(a, y.dtype, [_Buffer(size, y, stream) for size in staging.sizes(nbytes)])
    finally:
        stream.synchronize()  # also after Ctrl-C: the pool would give the buffers, and the memory of y, to others


class _Buffer:
    """A pinned buffer from CuPy's pool, with the event that ends its journey.

    Where no memory can be pinned it is in ordinary memory.
    """

    def __init__(self, nbytes: int, y: Native, stream: Any) -> None:
        self.bytes = np.frombuffer(_memory(nbytes), np.uint8, nbytes)
        self._address = self.bytes.ctypes.data
        self._target, self._stream, self._is_one = y, stream, nbytes == y.nbytes

    def send(self, start: int, nbytes: int) -> None:
        (self._target.data + start).copy_from_host_async(self._address, nbytes, self._stream)
        if not self._is_one:
            self._sent.record(self._stream)

    def wait(self) -> None:
        self._sent.synchronize()

    @functools.cached_property
    def _sent(self) -> Any:
        return cupy.cuda.Event(disable_timing=True)


def _memory(nbytes: int) -> Any:
    try:
        return cupy.cuda.alloc_pinned_memory(nbytes)
    except _Error:
        return np.empty(nbytes, np.uint8)


_pinned: Final[weakref.WeakSet[Any]] = weakref.WeakSet()
"""All pinned memory for results."""


def _allocated(size: int) -> Any:
    """Pinned memory for the pool; MemoryError beyond `staging.MOST`."""
    if size + sum(one.size for one in _pinned) > staging.MOST:
        raise MemoryError
    memory = cupy.cuda.PinnedMemory(size)
    _pinned.add(memory)
    return cupy.cuda.PinnedMemoryPointer(memory, 0)


_pool: Final = cupy.cuda.PinnedMemoryPool(_allocated)


def place_for(x: Native) -> np.ndarray[Any, Any] | None:
    """An ndarray in pinned memory for the values of `x`.

    None if ordinary memory will do: for few bytes, the first result of a size, or if no more can be pinned.
    """
    if not staging.is_worth_pinning("cupy", x.nbytes):
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
