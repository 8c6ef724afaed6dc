"""How the backends of CuPy and PyTorch copy between the host and a GPU.

CuPy is its stand-in, and PyTorch's GPU its CPU. Both devices make each copy as late as they may.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

import cupy_on_numpy
import numpy as np
import pytest
from comparison import each

import anyarray as xp

staging: Any = importlib.import_module("anyarray.backends._shared.staging")
carrier: Any = importlib.import_module("anyarray.backends._shared.carrier")
DTYPES: Final = "bool int8 uint16 int32 int64 float16 float32 float64 complex64 complex128".split()
SIZES: Final = [0, 1, 99, 100, 101, 1023, 1024, 1025, 2048, 2049, 3071, 3072, 5000]


@dataclass
class Copies:
    """A backend that copies."""

    functions: Any
    device: Any
    is_at: Callable[[int], bool]
    """Whether memory at an address is pinned."""
    limit: Callable[[], None]
    """Let there be no pinned memory."""
    address: Callable[[Any], int]
    """Where what was lent to another library lies."""
    is_given_back: Callable[[], bool]
    """Whether the borrower has let go of it."""

    def over(self, a: Any) -> Any:
        return self.functions.from_numpy(a, self.device)

    def back(self, x: Any) -> Any:
        return self.functions.to_numpy(x)

    def are_pinned(self, *results: Any) -> list[bool]:
        return [self.is_at(one.ctypes.data) for one in results]


def on_cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Copies]:
    pytest.importorskip("array_api_compat")

    def limit() -> None:
        monkeypatch.setitem(cupy_on_numpy.limits, "pinned", 0)
        monkeypatch.setattr(cupy_on_numpy._default_pool, "_free", {})

    def is_at(address: int) -> bool:
        return any(one.ptr <= address < one.ptr + one.size for one in cupy_on_numpy._pinned)

    with cupy_on_numpy.installed() as functions:
        yield Copies(
            functions, 0, is_at, limit, lambda lent: lent.data.ptr, lambda: bool(functions._transfers._returned)
        )


class Device:
    """A GPU of PyTorch's in the host's memory, and what it was asked for."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.pinned: list[np.ndarray[Any, Any]] = []  # held, or other memory would get their addresses
        self.limit = 1 << 40
        self.waits = 0
        self.sent = 0

    def new_pinned(self, nbytes: int) -> Any:
        if nbytes > self.limit:
            raise RuntimeError("CUDA error: out of memory")
        self.pinned.append(np.empty(nbytes, np.uint8))
        return self.torch.from_numpy(self.pinned[-1])

    def is_pinned(self, address: int) -> bool:
        return any(one.ctypes.data <= address < one.ctypes.data + one.nbytes for one in self.pinned)

    def send(self, target: Any, source: Any) -> None:
        """Take pageable memory over at once, pinned memory in its turn."""
        self.sent += source.nbytes
        values = source if self.is_pinned(source.data_ptr()) else source.clone()
        cupy_on_numpy.enqueue(lambda: cupy_on_numpy.void(target.copy_(values)))

    def synchronize(self, device: Any) -> None:
        self.waits += 1
        cupy_on_numpy._stream.synchronize()


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture
def gpu(torch: Any, monkeypatch: pytest.MonkeyPatch) -> Device:
    """The CPU as a GPU of PyTorch's."""
    transfers = importlib.import_module("anyarray.backends.torch._transfers")
    found = Device(torch)
    cuda = SimpleNamespace(
        current_stream=lambda device: cupy_on_numpy._stream, Event=cupy_on_numpy.Event, synchronize=found.synchronize
    )
    changes = {"_cuda": cuda, "_new_pinned": found.new_pinned, "_send": found.send, "_loans": []}
    for name, value in {**changes, "is_on_gpu": lambda _: True, "gpu": lambda _: torch.device("cpu")}.items():
        monkeypatch.setattr(transfers, name, value)
    return found


def on_torch(gpu: Device) -> Iterator[Copies]:
    hooks = importlib.import_module("anyarray.backends.torch._hooks")
    transfers = importlib.import_module("anyarray.backends.torch._transfers")

    def is_given_back() -> bool:
        hooks.free_memory()
        return not transfers._loans

    def limit() -> None:
        gpu.limit = 0

    cpu = gpu.torch.device("cpu")
    yield Copies(hooks, cpu, gpu.is_pinned, limit, lambda _: transfers._loans[-1].data_ptr(), is_given_back)


@pytest.fixture(params=["cupy", "torch"])
def copies(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Copies]:
    """A backend that copies by pieces of 1 kB, or 100 bytes at once."""
    monkeypatch.setattr(staging, "PIECE", 1024)
    monkeypatch.setattr(staging, "SMALL", 100)
    monkeypatch.setattr(staging, "_seen", set())
    yield from on_cupy(monkeypatch) if request.param == "cupy" else on_torch(request.getfixturevalue("gpu"))


of_cupy: Final = pytest.mark.parametrize("copies", ["cupy"], indirect=True)
of_torch: Final = pytest.mark.parametrize("copies", ["torch"], indirect=True)


def values(nbytes: int, dtype: str = "float64") -> np.ndarray[Any, Any]:
    """An ndarray of some values, of about so many bytes."""
    count = nbytes // np.dtype(dtype).itemsize
    return (np.random.default_rng(nbytes).random(count) * 100).astype(dtype)


@each("nbytes", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_brought_over_comes_back(nbytes: int, dtype: str, copies: Copies) -> None:
    a = values(nbytes, dtype)
    x = copies.over(a)
    assert (str(x.dtype).removeprefix("torch."), tuple(x.shape)) == (dtype, a.shape)
    for _ in range(3):  # into ordinary, new pinned and kept memory
        back = copies.back(x)
        assert (type(back), back.dtype, back.flags.writeable) == (np.ndarray, a.dtype, False)
        np.testing.assert_array_equal(back, a)
        del back


LAYOUTS: Final[dict[str, Callable[[Any], Any]]] = {
    "transposed": lambda a: a.reshape(2, 30, -1).T,
    "in Fortran's order": lambda a: np.asfortranarray(a.reshape(60, -1)),
    "backwards": lambda a: a[::-1],
    "every third": lambda a: a[::3],
    "rows longer than a piece": lambda a: a.reshape(3, -1)[:, ::2],
    "broadcast": lambda a: np.broadcast_to(a[:60], (50, 60)),
    "without elements": lambda a: a.reshape(60, -1)[:, :0],
    "without axes": lambda a: a[5],
    "in another byte order": lambda a: a.astype(a.dtype.newbyteorder()),
}


@each("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["bool", "int16", "float64", "complex64"])
def test_every_layout_is_brought_over(layout: str, dtype: str, copies: Copies) -> None:
    a = np.asarray(LAYOUTS[layout](values(6000 * np.dtype(dtype).itemsize, dtype)))
    x = copies.over(a)
    assert x.is_contiguous() if hasattr(x, "is_contiguous") else x.flags.c_contiguous
    np.testing.assert_array_equal(copies.back(x), a)


def test_a_zero_keeps_its_sign(copies: Copies) -> None:
    assert np.signbit(copies.back(copies.over(np.asarray(-0.0))))


def test_a_byte_other_than_1_is_true(copies: Copies) -> None:
    found = copies.back(copies.over(np.frombuffer(bytes(range(256)) * 20, np.bool_)))
    assert set(np.asarray(found).view(np.uint8).tolist()) == {0, 1}
    assert int(found.sum()) == 255 * 20


def test_a_buffer_is_not_filled_before_it_was_sent(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a wait the device would send the next piece."""
    waits: list[int] = []
    wait = cupy_on_numpy.Event.synchronize
    monkeypatch.setattr(cupy_on_numpy.Event, "synchronize", lambda self: (waits.append(1), wait(self))[1])
    a = values(10_240)
    x = copies.over(a)
    assert len(waits) == 10 - 2
    np.testing.assert_array_equal(copies.back(x), a)


@of_cupy
def test_the_host_never_holds_a_second_copy(copies: Copies) -> None:
    before = sum(one.size for one in cupy_on_numpy._pinned)
    copies.over(values(1 << 20)[::2])
    assert sum(one.size for one in cupy_on_numpy._pinned) - before <= 2 * staging.PIECE


@pytest.mark.parametrize("nbytes", [1000, 5000])
def test_without_pinned_memory_arrays_are_copied_all_the_same(nbytes: int, copies: Copies) -> None:
    copies.limit()
    a = values(nbytes, "float32")
    x = copies.over(a)
    results = [copies.back(x) for _ in range(2)]
    for one in results:
        np.testing.assert_array_equal(one, a)
    assert copies.are_pinned(*results) == [False, False]


def test_a_result_is_pinned_when_its_size_comes_again(copies: Copies) -> None:
    x, few = copies.over(values(5000)), copies.over(values(500))
    results = [copies.back(x) for _ in range(3)]
    assert copies.are_pinned(*results) == [False, True, True]
    assert results[1].ctypes.data != results[2].ctypes.data
    assert copies.are_pinned(*[copies.back(few) for _ in range(3)]) == [False] * 3


def test_results_in_pinned_memory_have_a_bound(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "MOST", 3 * 8192)
    x = copies.over(values(8000))
    results = [copies.back(x) for _ in range(6)]
    assert copies.are_pinned(*results) == [False, True, True, True, False, False]
    del results
    gc.collect()
    larger = copies.over(values(16_000))
    copies.back(larger)
    assert copies.are_pinned(copies.back(larger)) == [True]  # what was kept of others has been given back


def test_memory_of_a_result_is_kept_while_there_is_a_view_of_it(copies: Copies) -> None:
    x = copies.over(values(5000))
    copies.back(x)
    part = copies.back(x)[10:20]
    expected = part.copy()
    gc.collect()
    other = copies.back(copies.over(np.zeros(625)))
    assert part.tolist() == expected.tolist()
    assert not np.shares_memory(part, other)


@of_torch
def test_pinned_memory_is_counted_until_the_last_view_of_it_ends(copies: Copies) -> None:
    transfers = importlib.import_module("anyarray.backends.torch._transfers")
    x = copies.over(values(5000))
    copies.back(x)
    part = copies.back(x)[10:20]
    gc.collect()
    assert list(transfers._pinned_nbytes.values()) == [8192]
    del part
    gc.collect()
    assert not transfers._pinned_nbytes


@of_cupy
def test_pinned_memory_is_used_again_and_given_back(copies: Copies) -> None:
    x = copies.over(values(5000))
    copies.back(x)
    address = copies.back(x).ctypes.data
    gc.collect()
    assert address in [one.ctypes.data for one in [copies.back(x) for _ in range(2)]]
    copies.functions.free_memory()
    gc.collect()
    assert not list(copies.functions._transfers._pinned)


def test_lent_memory_is_not_used_before_the_borrower_is_done(copies: Copies) -> None:
    borrowed = np.from_dlpack(copies.functions.exported_from_numpy(np.ones(1000), 0))
    memory = (ctypes.c_double * 1000).from_address(borrowed.ctypes.data)
    read: list[float] = []
    cupy_on_numpy.enqueue(lambda: read.append(sum(memory)))  # a kernel of the borrower
    del borrowed
    gc.collect()
    assert read == []
    copies.functions.exported_from_numpy(np.zeros(1000), 0)
    assert read == [1000.0]


@of_cupy
def test_an_array_that_was_lent_waits_for_a_synchronization(copies: Copies) -> None:
    functions = copies.functions
    lent = functions.exported(copies.over(np.ones(1000)))
    borrowed = np.from_dlpack(lent)
    assert not functions.is_writable(lent)
    del lent
    gc.collect()
    assert not functions._transfers._returned
    del borrowed
    gc.collect()
    assert len(functions._transfers._returned) == 1
    functions.free_memory()
    assert not functions._transfers._returned
    assert functions.exported_from_numpy(np.zeros((0, 3)), 0).shape == (0, 3)


@of_torch
def test_a_loan_ends_when_the_borrower_has_given_it_back(copies: Copies, torch: Any, gpu: Device) -> None:
    x = copies.functions.lent(torch.ones(1000))
    borrowed = np.from_dlpack(x)
    del x
    assert not copies.is_given_back()
    assert borrowed.sum() == 1000
    del borrowed
    assert copies.is_given_back()
    assert gpu.waits == 1


@pytest.fixture(params=["jax", "tensorflow"])
def other(request: pytest.FixtureRequest, copies: Copies, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Hooks of a library whose CPU counts as a GPU; `copies` carries 1 kB."""
    pytest.importorskip(request.param)
    found = importlib.import_module(f"anyarray.backends.{request.param}._hooks")
    monkeypatch.setattr(found, "_gpu", lambda device: 0)
    monkeypatch.setattr(found, "_HOST", "none", raising=False)  # of TensorFlow: its way to the CPU
    monkeypatch.setattr(carrier, "carrier", lambda: copies.functions)
    monkeypatch.setattr(carrier, "LARGE", 1024)
    monkeypatch.setattr(carrier, "_refused", set())
    return found


def device_of(hooks: Any) -> Any:
    return hooks.devices()["cpu"][0]


@pytest.mark.parametrize("dtype", [one for one in DTYPES if one != "int32"])
def test_a_large_array_is_carried_to_other_libraries(
    dtype: str, other: Any, copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    lent: list[Any] = []
    export = copies.functions.exported_from_numpy

    def noting(*args: Any) -> Any:
        lent.append(export(*args))
        return lent[-1]

    monkeypatch.setattr(copies.functions, "exported_from_numpy", noting)
    a = values(1_000_000, dtype).reshape(2, -1).T
    x = other.from_numpy(a, device_of(other))
    assert other.address(x) == copies.address(lent[0])
    np.testing.assert_array_equal(np.asarray(x), a, strict=True)
    few = other.from_numpy(values(1000, dtype), device_of(other))
    assert len(lent) == 1
    assert np.asarray(few).tolist() == values(1000, dtype).tolist()
    assert not carrier._refused


def test_memory_that_was_carried_comes_back(other: Any, copies: Copies) -> None:
    x = other.from_numpy(values(1_000_000, "float32"), device_of(other))
    assert not copies.is_given_back()
    del x
    gc.collect()
    assert copies.is_given_back()


@of_cupy
@each("failure", [ValueError("no such device"), MemoryError("none left"), BufferError("unknown dtype")])
def test_what_cupy_cannot_carry_goes_as_before(failure: Exception, other: Any, copies: Copies) -> None:
    tries: list[int] = []

    def fails(*_: Any) -> Any:
        tries.append(1)
        raise failure

    a = values(1_000_000, "float32")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies.functions, "exported_from_numpy", fails)
        patch.setattr(carrier, "_refused", set())
        for _ in range(3):
            assert np.asarray(other.from_numpy(a, device_of(other))).tolist() == a.tolist()
    assert len(tries) == (3 if isinstance(failure, MemoryError) else 1)


@of_cupy
def test_without_a_carrier_the_library_copies_itself(other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrier, "carrier", lambda: None)
    a = values(1_000_000, "float32")
    assert other.to_numpy(other.from_numpy(a, device_of(other))).tolist() == a.tolist()


def test_without_a_gpu_no_carrier_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    jax = pytest.importorskip("anyarray.backends.jax._hooks")
    monkeypatch.setattr(carrier, "carrier", None)
    a = values(8 << 20, "float32")
    x = jax.from_numpy(a, device_of(jax))
    assert np.asarray(x)[-1] == jax.to_numpy(x)[-1] == a[-1]


@of_cupy
@pytest.mark.parametrize("other", ["jax"], indirect=True)
@each("dtype", DTYPES)
def test_a_large_array_of_jax_is_read_by_cupy(dtype: str, copies: Copies, other: Any) -> None:
    read: list[int] = []
    to_numpy = copies.functions.to_numpy
    a = values(100_000 * np.dtype(dtype).itemsize, dtype)
    x = other.from_numpy(a, device_of(other))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies.functions, "to_numpy", lambda x: (read.append(x.data.ptr), to_numpy(x))[1])
        back = other.to_numpy(x)
    assert read == [other.address(x)]
    assert (back.dtype, back.flags.writeable) == (a.dtype, False)
    np.testing.assert_array_equal(back, a)


@of_cupy
def test_bfloat16_goes_as_before(other: Any) -> None:
    a = np.asarray(np.arange(100_000) % 250, xp.bfloat16)
    assert (other.to_numpy(other.from_numpy(a, device_of(other))) == a).all()


@of_torch
def test_bfloat16_is_brought_over(copies: Copies, torch: Any) -> None:
    a = np.arange(3000).astype(xp.bfloat16.dtype)
    x = copies.over(a)
    assert x.dtype is torch.bfloat16
    for _ in range(2):
        assert (copies.back(x) == a).all()


@of_torch
def test_pytorch_carries_where_it_is_imported_and_cupy_is_missing(
    copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carrier, "_with_gpu", {"cupy": None, "torch": copies.functions}.get)
    assert carrier.carrier() is copies.functions
    monkeypatch.delitem(importlib.import_module("sys").modules, "torch")
    assert carrier.carrier() is None


def test_a_machine_without_cupy_has_no_carrier() -> None:
    if importlib.util.find_spec("cupy") is not None:
        pytest.skip("CuPy is installed")
    carrier._with_gpu.cache_clear()
    assert carrier.carrier() is None


@of_torch
def test_the_allocator_tells_what_it_holds_and_gives_back(
    copies: Copies, torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    hooks, card = copies.functions, SimpleNamespace(type="cuda", index=0)
    monkeypatch.setattr(torch, "cuda", cuda)
    monkeypatch.setattr(hooks, "devices", lambda: {"gpu": [card], "cpu": [copies.device]})
    assert hooks.memory(card) == (1000, 300, 700)
    assert hooks.memory(copies.device) == (None, None, None)
    assert hooks.free_memory() == 500


@of_torch
def test_an_address_tells_a_view_from_a_copy(copies: Copies, torch: Any) -> None:
    x, address = torch.ones(3), copies.functions.address
    assert address(x) == address(torch.from_dlpack(x)) != address(x.clone())
