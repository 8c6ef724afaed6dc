"""PyTorch's backend as it copies to a GPU and back, on a CPU.

The device of these tests makes each copy as late as it may; the stream is that of the stand-in for CuPy.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
from types import SimpleNamespace
from typing import Any

import cupy_on_numpy
import numpy as np
import pytest

import anyarray as xp

torch = pytest.importorskip("torch", reason="these tests are about PyTorch")
hooks: Any = pytest.importorskip("anyarray.backends.torch._hooks")
transfers: Any = pytest.importorskip("anyarray.backends.torch._transfers")
staging: Any = importlib.import_module("anyarray.backends._shared.staging")
carrier: Any = importlib.import_module("anyarray.backends._shared.carrier")

CPU = torch.device("cpu")
DTYPES = ["bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
SIZES = [0, 1, 99, 100, 101, 1023, 1024, 1025, 2048, 2049, 3071, 3072, 5000]


class Device:
    """A GPU whose memory is the host's, and what it has been asked for."""

    def __init__(self) -> None:
        self.pinned: list[tuple[int, int]] = []
        self.limit = 1 << 40
        self.waits = 0
        self.sent = 0

    def new_pinned(self, nbytes: int) -> Any:
        if nbytes > self.limit:
            raise RuntimeError("CUDA error: out of memory")
        memory = torch.empty(nbytes, dtype=torch.uint8)
        self.pinned.append((memory.data_ptr(), nbytes))
        return memory

    def is_pinned(self, address: int) -> bool:
        return any(start <= address < start + nbytes for start, nbytes in self.pinned)

    def send(self, target: Any, source: Any) -> None:
        """Take pageable memory over at once, pinned memory in its turn."""
        self.sent += source.nbytes
        values = source if self.is_pinned(source.data_ptr()) else source.clone()
        cupy_on_numpy.enqueue(lambda: cupy_on_numpy.void(target.copy_(values)))

    def synchronize(self, device: Any) -> None:
        self.waits += 1
        cupy_on_numpy._stream.synchronize()


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    """The CPU as a GPU; a piece is 1 kB, few bytes are at most 100."""
    found = Device()
    cuda = SimpleNamespace(
        current_stream=lambda device: cupy_on_numpy._stream, Event=cupy_on_numpy.Event, synchronize=found.synchronize
    )
    monkeypatch.setattr(transfers, "_cuda", cuda)
    monkeypatch.setattr(transfers, "_new_pinned", found.new_pinned)
    monkeypatch.setattr(transfers, "_send", found.send)
    monkeypatch.setattr(transfers, "is_on_gpu", lambda device: True)
    monkeypatch.setattr(transfers, "gpu", lambda number: CPU)
    monkeypatch.setattr(transfers, "_loans", [])
    monkeypatch.setattr(staging, "PIECE", 1024)
    monkeypatch.setattr(staging, "SMALL", 100)
    monkeypatch.setattr(staging, "_seen", set())
    return found


def values(nbytes: int, dtype: str) -> np.ndarray[Any, Any]:
    """An ndarray of some values, of about so many bytes."""
    count = nbytes // np.dtype(dtype).itemsize
    return (np.random.default_rng(nbytes).random(count) * 100).astype(dtype)


@pytest.mark.parametrize("nbytes", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_brought_over_comes_back(nbytes: int, dtype: str) -> None:
    a = values(nbytes, dtype)
    x = hooks.from_numpy(a, CPU)
    assert (x.dtype, tuple(x.shape)) == (getattr(torch, dtype), a.shape)
    for _ in range(3):  # into ordinary, new pinned and kept memory
        back = hooks.to_numpy(x)
        assert (type(back), back.dtype, back.flags.writeable) == (np.ndarray, a.dtype, False)
        np.testing.assert_array_equal(back, a)
        del back


def test_bfloat16_is_brought_over() -> None:
    a = np.arange(3000).astype(xp.bfloat16.dtype)
    x = hooks.from_numpy(a, CPU)
    assert x.dtype is torch.bfloat16
    for _ in range(2):
        assert (hooks.to_numpy(x) == a).all()


LAYOUTS = {
    "transposed": lambda a: a.reshape(2, 30, -1).T,
    "in Fortran's order": lambda a: np.asfortranarray(a.reshape(60, -1)),
    "backwards": lambda a: a[::-1],
    "rows longer than a piece": lambda a: a.reshape(3, -1)[:, ::2],
    "broadcast": lambda a: np.broadcast_to(a[:60], (50, 60)),
    "without elements": lambda a: a.reshape(60, -1)[:, :0],
    "without axes": lambda a: a[5],
    "in another byte order": lambda a: a.astype(a.dtype.newbyteorder()),
}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("dtype", ["bool", "int16", "float64", "complex64"])
def test_every_layout_is_brought_over(layout: str, dtype: str) -> None:
    a = np.asarray(LAYOUTS[layout](values(6000 * np.dtype(dtype).itemsize, dtype)))
    x = hooks.from_numpy(a, CPU)
    assert x.is_contiguous()
    np.testing.assert_array_equal(hooks.to_numpy(x), a)


def test_a_byte_other_than_1_is_true() -> None:
    a = np.frombuffer(bytes(range(256)) * 20, np.bool_)
    assert set(hooks.from_numpy(a, CPU).view(torch.uint8).tolist()) == {0, 1}


def test_a_buffer_is_not_filled_before_it_was_sent(device: Device) -> None:
    a = values(10_240, "float64")
    x = hooks.from_numpy(a, CPU)
    assert len(device.pinned) == 2
    assert device.sent == a.nbytes
    np.testing.assert_array_equal(hooks.to_numpy(x), a)


@pytest.mark.parametrize("nbytes", [1000, 5000])
def test_without_pinned_memory_arrays_are_copied_all_the_same(nbytes: int, device: Device) -> None:
    device.limit = 0
    a = values(nbytes, "float32")
    x = hooks.from_numpy(a, CPU)
    for _ in range(2):
        np.testing.assert_array_equal(hooks.to_numpy(x), a)
    assert not device.pinned


def test_a_result_is_pinned_when_its_size_comes_again(device: Device) -> None:
    x = hooks.from_numpy(values(5000, "float64"), CPU)
    results = [hooks.to_numpy(x) for _ in range(3)]
    assert [device.is_pinned(one.ctypes.data) for one in results] == [False, True, True]
    few = hooks.from_numpy(values(500, "float64"), CPU)
    assert not any(device.is_pinned(hooks.to_numpy(few).ctypes.data) for _ in range(3))


def test_results_in_pinned_memory_have_a_bound(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "MOST", 3 * 8192)
    x = hooks.from_numpy(values(8000, "float64"), CPU)
    results = [hooks.to_numpy(x) for _ in range(6)]
    assert [device.is_pinned(one.ctypes.data) for one in results] == [False, True, True, True, False, False]
    del results
    gc.collect()
    assert not transfers._pinned_nbytes
    assert device.is_pinned(hooks.to_numpy(x).ctypes.data)


def test_a_view_of_a_result_keeps_its_memory(device: Device) -> None:
    x = hooks.from_numpy(values(5000, "float64"), CPU)
    hooks.to_numpy(x)
    part = hooks.to_numpy(x)[10:20]
    gc.collect()
    assert list(transfers._pinned_nbytes.values()) == [8192]
    del part
    gc.collect()
    assert not transfers._pinned_nbytes


def test_lent_memory_is_not_used_before_the_borrower_is_done(device: Device) -> None:
    borrowed = np.from_dlpack(hooks.exported_from_numpy(np.ones(1000), 0))
    memory = (ctypes.c_double * 1000).from_address(borrowed.ctypes.data)
    read: list[float] = []
    cupy_on_numpy.enqueue(lambda: read.append(sum(memory)))  # a kernel of the borrower
    del borrowed
    gc.collect()
    assert (len(transfers._loans), read) == (1, [])
    hooks.exported_from_numpy(np.zeros(1000), 0)
    assert read == [1000.0]


def test_a_loan_ends_when_the_borrower_has_given_it_back(device: Device) -> None:
    x = hooks.lent(torch.ones(1000))
    borrowed = np.from_dlpack(x)
    del x
    hooks.free_memory()
    assert len(transfers._loans) == 1
    assert borrowed.sum() == 1000
    del borrowed
    hooks.free_memory()
    assert not transfers._loans
    assert device.waits == 1


@pytest.fixture(params=["jax", "tensorflow"])
def other(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Hooks of a library whose CPU counts as a GPU; PyTorch carries."""
    pytest.importorskip(request.param)
    found = importlib.import_module(f"anyarray.backends.{request.param}._hooks")
    monkeypatch.setattr(found, "_gpu", lambda device: 0)
    monkeypatch.setattr(found, "_HOST", "none", raising=False)  # of TensorFlow: its way to the CPU
    monkeypatch.setattr(carrier, "carrier", lambda: hooks)
    monkeypatch.setattr(carrier, "LARGE", 1024)
    monkeypatch.setattr(carrier, "_refused", set())
    return found


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "float32", "float64", "complex64"])
def test_a_large_array_is_carried_to_other_libraries(dtype: str, other: Any) -> None:
    a = values(1_000_000, dtype).reshape(2, -1).T
    x = other.from_numpy(a, other.devices()["cpu"][0])
    (loan,) = transfers._loans
    assert other.address(x) == loan.data_ptr()
    np.testing.assert_array_equal(np.asarray(x), a)
    assert not carrier._refused


def test_memory_that_was_carried_comes_back(other: Any, device: Device) -> None:
    x = other.from_numpy(values(1_000_000, "float32"), other.devices()["cpu"][0])
    hooks.free_memory()
    assert len(transfers._loans) == 1
    del x
    gc.collect()
    hooks.free_memory()
    assert not transfers._loans


def test_pytorch_carries_where_it_is_imported_and_cupy_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrier, "_with_gpu", {"cupy": None, "torch": hooks}.get)
    assert carrier.carrier() is hooks
    monkeypatch.delitem(importlib.import_module("sys").modules, "torch")
    assert carrier.carrier() is None


def test_the_allocator_tells_what_it_holds_and_gives_back(monkeypatch: pytest.MonkeyPatch) -> None:
    held = [700]

    class on_device:  # noqa: N801 - a context manager of PyTorch's
        def __init__(self, device: Any) -> None: ...

        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

    cuda = SimpleNamespace(
        mem_get_info=lambda device: (300, 1000),
        memory_reserved=lambda device: held[0],
        empty_cache=lambda: held.__setitem__(0, 200),
        device=on_device,
    )
    gpu = SimpleNamespace(type="cuda", index=0)
    monkeypatch.setattr(torch, "cuda", cuda)
    monkeypatch.setattr(hooks, "devices", lambda: {"gpu": [gpu], "cpu": [CPU]})
    assert hooks.memory(gpu) == (1000, 300, 700)
    assert hooks.memory(CPU) == (None, None, None)
    assert hooks.free_memory() == 500


def test_an_address_tells_a_view_from_a_copy() -> None:
    x = torch.ones(3)
    assert hooks.address(x) == hooks.address(torch.from_dlpack(x)) != hooks.address(x.clone())
