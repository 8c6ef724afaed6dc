"""How CuPy's backend copies between the host and the device.

The device of these tests makes each copy as late as it may.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any

import cupy_on_numpy
import numpy as np
import pytest
from comparison import each

import anyarray as xp

pytest.importorskip("array_api_compat")
carrier: Any = importlib.import_module("anyarray.backends._shared.carrier")
staging: Any = importlib.import_module("anyarray.backends._shared.staging")


@pytest.fixture
def functions() -> Iterator[Any]:
    """The backend's module, nothing kept from other tests."""
    with cupy_on_numpy.installed() as module:
        yield module


@pytest.fixture
def transfers(functions: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """How it copies, by pieces of 1 kB; few bytes are at most 100."""
    monkeypatch.setattr(staging, "PIECE", 1024)
    monkeypatch.setattr(staging, "SMALL", 100)
    monkeypatch.setattr(staging, "_seen", set())
    return functions._transfers


SIZES = [0, 1, 99, 100, 101, 1023, 1024, 1025, 2048, 2049, 3071, 3072, 5000]
DTYPES = ["bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def values(nbytes: int, dtype: str) -> np.ndarray[Any, Any]:
    """An ndarray of some values, of about so many bytes."""
    count = nbytes // np.dtype(dtype).itemsize
    return (np.random.default_rng(nbytes).random(count) * 100).astype(dtype)


@each("nbytes", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_brought_over_comes_back(nbytes: int, dtype: str, functions: Any, transfers: Any) -> None:
    a = values(nbytes, dtype)
    x = functions.from_numpy(a, 0)
    assert (x.dtype, x.shape) == (a.dtype, a.shape)
    for _ in range(3):  # into ordinary, new pinned and kept memory
        back = functions.to_numpy(x)
        assert (type(back), back.dtype, back.flags.writeable) == (np.ndarray, a.dtype, False)
        np.testing.assert_array_equal(back, a)
        del back


LAYOUTS = {
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


@each("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("dtype", ["bool", "int16", "float64", "complex64"])
def test_every_layout_is_brought_over(layout: str, dtype: str, functions: Any, transfers: Any) -> None:
    a = np.asarray(LAYOUTS[layout](values(6000 * np.dtype(dtype).itemsize, dtype)))
    x = functions.from_numpy(a, 0)
    assert x.dtype == a.dtype.newbyteorder("=")
    assert x.flags.c_contiguous
    np.testing.assert_array_equal(functions.to_numpy(x), a)


def test_a_zero_keeps_its_sign(functions: Any) -> None:
    assert np.signbit(functions.to_numpy(functions.from_numpy(np.asarray(-0.0), 0)))


def test_a_byte_other_than_1_is_true(functions: Any, transfers: Any) -> None:
    a = np.frombuffer(bytes(range(256)) * 20, np.bool_)
    x = functions.from_numpy(a, 0)
    assert set(np.asarray(functions.to_numpy(x)).view(np.uint8).tolist()) == {0, 1}
    assert int(functions.to_numpy(x).sum()) == 255 * 20


def test_a_buffer_is_not_filled_before_it_was_sent(functions: Any, transfers: Any) -> None:
    """Without a wait the device would send the next piece."""
    a = values(10_240, "float64")
    waits: list[int] = []
    wait = cupy_on_numpy.Event.synchronize
    try:
        cupy_on_numpy.Event.synchronize = lambda self: (waits.append(1), wait(self))[1]  # type: ignore[method-assign]
        x = functions.from_numpy(a, 0)
    finally:
        cupy_on_numpy.Event.synchronize = wait  # type: ignore[method-assign]
    assert len(waits) == 10 - 2
    np.testing.assert_array_equal(functions.to_numpy(x), a)


def test_the_host_never_holds_a_second_copy(functions: Any, transfers: Any) -> None:
    before = sum(one.size for one in cupy_on_numpy._pinned)
    functions.from_numpy(values(1 << 20, "float64")[::2], 0)
    assert sum(one.size for one in cupy_on_numpy._pinned) - before <= 2 * staging.PIECE


@pytest.mark.parametrize("nbytes", [1000, 5000])
def test_without_pinned_memory_arrays_are_copied_all_the_same(
    nbytes: int, functions: Any, transfers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cupy_on_numpy.limits, "pinned", 0)
    monkeypatch.setattr(cupy_on_numpy._default_pool, "_free", {})
    a = values(nbytes, "float32")
    x = functions.from_numpy(a, 0)
    for _ in range(2):
        np.testing.assert_array_equal(functions.to_numpy(x), a)


def is_pinned(a: np.ndarray[Any, Any]) -> bool:
    return any(one.ptr <= a.ctypes.data < one.ptr + one.size for one in cupy_on_numpy._pinned)


def test_a_result_is_pinned_when_its_size_comes_again(functions: Any, transfers: Any) -> None:
    x = functions.from_numpy(values(5000, "float64"), 0)
    first, second, third = functions.to_numpy(x), functions.to_numpy(x), functions.to_numpy(x)
    assert [is_pinned(one) for one in (first, second, third)] == [False, True, True]
    assert second.ctypes.data != third.ctypes.data
    few = functions.from_numpy(values(500, "float64"), 0)
    assert not any(is_pinned(functions.to_numpy(few)) for _ in range(3))


def test_memory_of_a_result_is_used_again_when_no_view_of_it_is_left(functions: Any, transfers: Any) -> None:
    x = functions.from_numpy(values(5000, "float64"), 0)
    functions.to_numpy(x)
    part = functions.to_numpy(x)[10:20]
    address, expected = part.ctypes.data, part.copy()
    other = functions.to_numpy(functions.from_numpy(np.zeros(625), 0))
    assert part.tolist() == expected.tolist()
    assert not np.shares_memory(part, other)
    del part, other
    gc.collect()
    results = [functions.to_numpy(x) for _ in range(2)]
    assert address in [one[10:].ctypes.data for one in results]


def test_results_in_pinned_memory_have_a_bound(functions: Any, transfers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "MOST", 3 * 8192)
    x = functions.from_numpy(values(8000, "float64"), 0)
    results = [functions.to_numpy(x) for _ in range(6)]
    assert [is_pinned(one) for one in results] == [False, True, True, True, False, False]
    del results
    larger = functions.from_numpy(values(16_000, "float64"), 0)
    functions.to_numpy(larger)
    assert is_pinned(functions.to_numpy(larger))  # what was kept of others has been given back


def test_freeing_memory_gives_pinned_memory_back(functions: Any, transfers: Any) -> None:
    x = functions.from_numpy(values(5000, "float64"), 0)
    for _ in range(3):
        functions.to_numpy(x)
    functions.free_memory()
    gc.collect()
    assert not list(transfers._pinned)


def test_lent_memory_is_not_used_before_the_borrower_is_done(functions: Any, transfers: Any) -> None:
    borrowed = np.from_dlpack(functions.exported_from_numpy(np.ones(1000), 0))
    memory = (ctypes.c_double * 1000).from_address(borrowed.ctypes.data)
    read: list[float] = []
    cupy_on_numpy.enqueue(lambda: read.append(sum(memory)))  # a kernel of the borrower
    del borrowed
    gc.collect()
    assert (len(transfers._returned), read) == (1, [])
    other = functions.exported_from_numpy(np.zeros(1000), 0)
    assert (len(transfers._returned), read) == (0, [1000.0])
    assert other.size == 1000


def test_an_array_that_was_lent_waits_for_a_synchronization(functions: Any, transfers: Any) -> None:
    lent = functions.exported(functions.from_numpy(np.ones(1000), 0))
    borrowed = np.from_dlpack(lent)
    assert not functions.is_writable(lent)
    del lent
    gc.collect()
    assert not transfers._returned
    del borrowed
    gc.collect()
    assert len(transfers._returned) == 1
    functions.free_memory()
    assert not transfers._returned


def test_nothing_can_be_lent(functions: Any) -> None:
    assert functions.exported_from_numpy(np.zeros((0, 3)), 0).shape == (0, 3)


@pytest.fixture(params=["jax", "tensorflow"])
def hooks(request: pytest.FixtureRequest, functions: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Hooks of a library whose CPU counts as a GPU, and 1 kB as much."""
    pytest.importorskip(request.param)
    found = importlib.import_module(f"anyarray.backends.{request.param}._hooks")
    monkeypatch.setattr(found, "_gpu", lambda device: 0)
    monkeypatch.setattr(found, "_HOST", "none", raising=False)  # of TensorFlow: its way to the CPU
    monkeypatch.setattr(carrier, "carrier", lambda: functions)
    monkeypatch.setattr(carrier, "LARGE", 1024)
    monkeypatch.setattr(carrier, "_refused", set())
    return found


def device_of(hooks: Any) -> Any:
    return hooks.devices()["cpu"][0]


@pytest.mark.parametrize("dtype", [one for one in DTYPES if one != "int32"])
def test_a_large_array_is_carried_to_other_libraries(
    dtype: str, hooks: Any, functions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lent: list[Any] = []
    export = functions.exported_from_numpy
    monkeypatch.setattr(functions, "exported_from_numpy", lambda a, device: lent.append(export(a, device)) or lent[-1])
    a = values(1_000_000, dtype).reshape(2, -1).T
    x = hooks.from_numpy(a, device_of(hooks))
    assert hooks.address(x) == lent[0].data.ptr
    np.testing.assert_array_equal(np.asarray(x), a)
    assert np.asarray(x).dtype == a.dtype
    few = hooks.from_numpy(values(1000, dtype), device_of(hooks))
    assert len(lent) == 1
    assert np.asarray(few).tolist() == values(1000, dtype).tolist()


def test_memory_that_was_carried_comes_back(hooks: Any, functions: Any) -> None:
    x = hooks.from_numpy(values(1_000_000, "float32"), device_of(hooks))
    assert not functions._transfers._returned
    del x
    gc.collect()
    assert len(functions._transfers._returned) == 1


FAILURES = [ValueError("no such device"), MemoryError("none left"), BufferError("unknown dtype")]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda one: type(one).__name__)
def test_what_cupy_cannot_carry_goes_as_before(
    failure: Exception, hooks: Any, functions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def fails(*_: Any) -> Any:
        tries.append(1)
        raise failure

    monkeypatch.setattr(functions, "exported_from_numpy", fails)
    a = values(1_000_000, "float32")
    for _ in range(3):
        assert np.asarray(hooks.from_numpy(a, device_of(hooks))).tolist() == a.tolist()
    assert len(tries) == (3 if isinstance(failure, MemoryError) else 1)


def test_without_cupy_the_library_copies_itself(hooks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrier, "carrier", lambda: None)
    a = values(1_000_000, "float32")
    x = hooks.from_numpy(a, device_of(hooks))
    assert hooks.to_numpy(x).tolist() == a.tolist()


def test_without_a_gpu_cupy_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    jax = pytest.importorskip("anyarray.backends.jax._hooks")
    monkeypatch.setattr(carrier, "carrier", None)
    a = values(8 << 20, "float32")
    assert np.asarray(jax.from_numpy(a, device_of(jax)))[-1] == a[-1]
    x = jax.from_numpy(a, device_of(jax))
    assert jax.to_numpy(x)[-1] == a[-1]


@pytest.mark.parametrize("hooks", ["jax"], indirect=True)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_large_array_of_jax_is_read_by_cupy(
    dtype: str, functions: Any, hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    to_numpy = functions.to_numpy
    monkeypatch.setattr(functions, "to_numpy", lambda x: (read.append(x.data.ptr), to_numpy(x))[1])
    a = values(100_000 * np.dtype(dtype).itemsize, dtype)
    x = hooks.from_numpy(a, device_of(hooks))
    back = hooks.to_numpy(x)
    assert read == [hooks.address(x)]
    assert (back.dtype, back.flags.writeable) == (a.dtype, False)
    np.testing.assert_array_equal(back, a)


def test_bfloat16_goes_as_before(hooks: Any) -> None:
    a = np.asarray(np.arange(100_000) % 250, xp.bfloat16)
    x = hooks.from_numpy(a, device_of(hooks))
    assert (hooks.to_numpy(x) == a).all()


def test_a_machine_without_cupy_has_no_carrier(monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("cupy") is not None:
        pytest.skip("CuPy is installed")
    carrier._with_gpu.cache_clear()
    assert carrier.carrier() is None
