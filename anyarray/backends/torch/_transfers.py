"""Copies between the host and a GPU, near the speed of the bus, and loans.

to the device
    In pieces by pinned buffers, see `_shared.staging`; PyTorch's own copy is of pageable memory.
to the host
    A large result lies in pinned memory itself, into which the device writes at once. PyTorch keeps what is freed for
    the next result. All of it in use is at most `_shared.staging.MOST` bytes. Beyond that, results are in ordinary
    memory.
to another library
    Memory that is lent by DLPack comes back when the other library has queued its last kernel, not when that is done.
    PyTorch would give it to the next tensor at once; so it waits in `_loans` until the device was synchronized.

PyTorch pins memory itself, so none of it needs CuPy. What is said of CUDA holds for ROCm, which has its names.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from typing import Any, Final

import numpy as np
import torch

from anyarray.backends._shared import staging
from anyarray.backends.torch._kernel import Native, outside_traces

_cuda: Any = torch.cuda


def is_on_gpu(device: Any) -> bool:
    return bool(device.type == "cuda")


def gpu(number: int) -> Any:
    return torch.device("cuda", number)


def to_device(a: np.ndarray[Any, Any], y: Native) -> None:
    """Copy an ndarray to `y`, contiguous on a GPU, and wait."""
    nbytes = y.nbytes
    if not nbytes:
        return
    take_back()
    dtype = a.dtype.newbyteorder("=")
    target = _bytes_of(y)
    if nbytes <= staging.SMALL:
        whole = np.empty(a.shape, dtype)
        staging.copy(a, whole)
        target.copy_(torch.from_numpy(whole.reshape(-1).view(np.uint8)))
        return
    stream = _cuda.current_stream(y.device)
    try:
        staging.send(a, dtype, [_Buffer(size, target, stream) for size in staging.sizes(nbytes)])
    finally:
        stream.synchronize()  # also after Ctrl-C: PyTorch would give the memory of `y` to others


def _bytes_of(y: Native) -> Native:
    return y.reshape(-1).view(torch.uint8)


class _Buffer:
    """A pinned tensor, with the event that ends its journey."""

    def __init__(self, nbytes: int, target: Native, stream: Any) -> None:
        self._tensor = _pinned(nbytes)
        self.bytes = self._tensor.numpy()
        self._target, self._stream, self._is_one = target, stream, nbytes == target.nbytes

    def send(self, start: int, nbytes: int) -> None:
        _send(self._target[start : start + nbytes], self._tensor[:nbytes])
        if not self._is_one:
            self._sent.record(self._stream)

    def wait(self) -> None:
        self._sent.synchronize()

    @functools.cached_property
    def _sent(self) -> Any:
        return _cuda.Event()


def _pinned(nbytes: int) -> Native:
    """Bytes in pinned memory; in ordinary memory if none can be pinned."""
    try:
        return _new_pinned(nbytes)
    except RuntimeError:
        return torch.empty(nbytes, dtype=torch.uint8, device="cpu")


def _new_pinned(nbytes: int) -> Native:
    return torch.empty(nbytes, dtype=torch.uint8, device="cpu", pin_memory=True)


def _send(target: Native, source: Native) -> None:
    """Start a copy to the device; pageable memory is taken over now."""
    target.copy_(source, non_blocking=True)


_pinned_nbytes: Final[dict[int, int]] = {}
"""Bytes of pinned memory of each result in use, by a number of it."""
_numbers: Final = itertools.count()


def to_host(x: Native) -> Native:
    """A tensor in host memory with the values of `x`, which is on a GPU."""
    x = x.detach()
    place = _place_for(x)
    return x.cpu() if place is None else place.copy_(x)


def _place_for(x: Native) -> Native | None:
    """A tensor in pinned memory for the values of `x`.

    None if ordinary memory will do: for few bytes, the first result of a size, or if no more can be pinned.
    """
    if not staging.is_worth_pinning("torch", x.nbytes):
        return None
    size = 1 << (x.nbytes - 1).bit_length()  # as PyTorch rounds it
    if size + sum(_pinned_nbytes.values()) > staging.MOST:
        return None
    try:
        memory = _new_pinned(x.nbytes)
    except RuntimeError:
        return None
    number = next(_numbers)
    _pinned_nbytes[number] = size
    weakref.finalize(memory.untyped_storage(), _pinned_nbytes.pop, number, None)
    return memory.view(x.dtype).reshape(tuple(x.shape))


_storage_count: Final[Any] = getattr(torch._C, "_storage_Use_Count", None)


def _holders(x: Native) -> int:
    storage = x.untyped_storage()
    return int(x._use_count()) + int(_storage_count(storage._cdata))


def _holders_of_none() -> int:
    """What is counted of a tensor that nobody else holds."""
    with outside_traces():  # the import may be inside of one
        return min([_holders(torch.empty(1, device="cpu")) for _ in range(100)])


_ALONE: Final = 0 if _storage_count is None else _holders_of_none()


def holders(x: Native, /) -> int:
    """How many others hold the memory of `x`: tensors, buffers, capsules."""
    if _storage_count is None:
        return 1
    is_mirror = "mirror" in x.untyped_storage().__dict__  # as what it mirrors is another's
    return max(_holders(x) - _ALONE, 0) + is_mirror


_loans: Final[list[Native]] = []
"""Tensors whose memory others use, or have used since the last wait. Their kernels may still read it."""


def lent(x: Native, /) -> Native:
    """`x`, whose memory another library on its device is to share."""
    if is_on_gpu(x.device):
        take_back()
        _loans.append(x)
    return x


def take_back() -> None:
    """Let PyTorch have what was lent and has come back, after a wait."""
    back = [x for x in _loans if not holders(x)]
    for device in {x.device for x in back}:
        _cuda.synchronize(device)
    _loans[:] = [x for x in _loans if not any(x is one for one in back)]


def free() -> None:
    """Give back what is kept: loans, and pinned memory to the system."""
    take_back()
    accelerator: Any = getattr(torch, "accelerator", None)
    if hasattr(accelerator, "empty_host_cache") and accelerator.is_available():  # older PyTorch has neither
        accelerator.empty_host_cache()
