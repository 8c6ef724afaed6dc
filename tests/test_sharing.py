"""Memory is shared where that is safe, and nobody sees others' writes."""

from __future__ import annotations

import asyncio
import gc
import operator
import resource
import sysconfig
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import hypothesis
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st
from numpy._core import multiarray

import anyarray as xp
from anyarray._base import extension
from anyarray._memory import alignment, second_copies, transfer

INSTALLED = [row.name for row in xp.backends() if row.is_installed]
CPU = [b for b in ("numpy", "jax", "tf") if b in INSTALLED and xp.device(b).kind == "cpu"]
PAIRS = [(a, b) for a in CPU for b in CPU if a != b]
others = pytest.mark.parametrize("receiver", [b for b in CPU if b != "numpy"])
needs_another = pytest.mark.skipif(not PAIRS, reason="is about two libraries")


def address(x: xp.Array) -> int:
    """Where the memory of an Array begins."""
    native = x._native if isinstance(x._native, np.ndarray) else np.asarray(x)  # which asks for memory to write to
    pointer: int = native.__array_interface__["data"][0]
    return pointer


@pytest.mark.parametrize(("source", "receiver"), PAIRS)
@pytest.mark.parametrize("n", [500, 100_000])
def test_memory_of_ours_is_shared_whether_it_is_watched_or_not(source: str, receiver: str, n: int) -> None:
    x, unwatched = xp.ones(n, device=source), xp.ones(n, device=source)
    with xp.transfers() as log, xp.no_transfers():
        y = x.to_device(receiver)
    assert [row.kind for row in log.rows] == ["view"]
    assert (address(x), address(unwatched)) == (address(y), address(unwatched.to_device(receiver)))
    assert y.device is xp.device(receiver)


@pytest.mark.parametrize("source", CPU)
@pytest.mark.parametrize("n", [4, 100_000])
def test_a_write_is_seen_by_no_array_elsewhere(source: str, n: int) -> None:
    x = xp.zeros(n, device=source)
    others = [x.to_device(b) for b in CPU if b != source]
    again = [y.to_device(b) for y in others for b in CPU]
    views, copied = [x[1:], xp.reshape(x, (2, -1)), xp.flip(x)], x.__copy__()
    x[...] = 7.0
    x += 1
    for other in (*others, *again, copied):
        assert float(xp.max(other)) == 0.0
    for view in views:
        assert float(xp.min(view)) == 8.0
    for other in (*others, *again):
        other[...] = 3.0
    assert float(xp.min(x)) == 8.0


@pytest.mark.skipif("jax" not in CPU, reason="is about JAX")
def test_a_write_is_not_seen_by_an_operation_in_flight() -> None:
    x = xp.ones(3_000_000)
    y = x.to_device("jax")
    z = xp.sum(xp.cos(xp.sin(y)) * 0 + y)
    x[...] = 5.0
    y[...] = 6.0
    assert float(z) == 3_000_000.0


def test_an_array_of_the_user_is_copied_unless_they_say_so() -> None:
    a = np.zeros(1000)
    copied, wrapped, forced = xp.asarray(a), xp.from_native(a), xp.asarray(a, copy=False)
    a[0] = 1.0
    assert [float(x[0]) for x in (copied, wrapped, forced)] == [0.0, 1.0, 1.0]
    for x in (copied, wrapped):
        x[1] = 2.0
    assert a[1] == 0.0
    forced[1] = 2.0
    assert a[1] == 2.0


FITTING = {
    "empty": lambda n: xp.empty(n),
    "zeros": lambda n: xp.zeros((2, n)),
    "ones": lambda n: xp.ones(n, dtype=xp.bool),
    "full": lambda n: xp.full((n, 1), 2.5),
    "arange": lambda n: xp.arange(n),
    "arange of float32": lambda n: xp.arange(n, dtype=xp.float32),
    "arange downwards": lambda n: xp.arange(float(n), 0.0, -0.5),
    "linspace": lambda n: xp.linspace(0, 1, n),
    "linspace of float32": lambda n: xp.linspace(0, 1, n, dtype=xp.float32),
    "linspace of complex": lambda n: xp.linspace(0, 1j, n),
    "eye": lambda n: xp.eye(n, 30, k=1),
    "zeros_like": lambda n: xp.zeros_like(xp.ones(n)),
    "full_like": lambda n: xp.full_like(xp.ones((3, n)).T, 2.0),
    "fftfreq": lambda n: xp.fft.fftfreq(n),
    "rfftfreq": lambda n: xp.fft.rfftfreq(n),
    "a list": lambda n: xp.asarray([1.0] * n),
    "an ndarray": lambda n: xp.asarray(np.arange(n + 1.0)[1:]),
    "a transposed ndarray": lambda n: xp.asarray(np.ones((n, 3)).T),
    "foreign byte order": lambda n: xp.asarray(np.arange(n, dtype=">i4")),
}


@pytest.mark.parametrize("make", FITTING.values(), ids=FITTING)
def test_what_counts_as_fit_to_be_lent_is_fit(make: Any) -> None:
    # TensorFlow would end the process over what is not.
    with xp.backend("numpy"):
        for n in (*range(1, 200, 7), 999, 1000, 1001, 125_000):
            x = make(n)
            assert getattr(x, "_second", None) is not second_copies.LENDABLE or alignment.is_shareable(x._native)


def unfit(n: int) -> xp.Array:
    """0, 1, 2 ... in memory that nobody can take as it is.

    One Array alone holds it. Most results of NumPy are such.
    """
    return xp.asarray(alignment.copied(np.arange(-1.0, n))[1:], copy=False)


@others
@pytest.mark.parametrize("n", [8, 100_000])
def test_a_result_of_numpy_is_copied_once_into_memory_that_all_share(n: int, receiver: str) -> None:
    x = unfit(n)
    expected = x.tolist()
    with xp.transfers() as log:
        y = x.to_device(receiver)
        others = [x.to_device(b) for b in CPU if b not in ("numpy", receiver)]
    assert [row.kind for row in log.rows] == ["copy"] + ["view"] * len(others)
    assert {address(one) for one in (x, *others)} == {address(y)}
    x[0] = -1.0
    y[1] = -2.0
    assert x.tolist() == [-1.0, *expected[1:]]
    assert y.tolist() == [expected[0], -2.0, *expected[2:]]
    assert all(other.tolist() == expected for other in others)


MANY = 1 << 17
"""Elements of an array from which on what NumPy gives for it is aligned, where the compiled calls are built."""
is_built = pytest.mark.skipif(extension.speedups is None, reason="the compiled calls are not built")
handler: Callable[..., str] = getattr(multiarray, "get_handler_name")  # noqa: B009 - it is not in NumPy's stubs
RESULTS: dict[str, Callable[[xp.Array], xp.Array]] = {
    "operator": lambda x: x + 1,
    "reflected": lambda x: 2 - x,
    "power": lambda x: x**2,
    "bools": lambda x: x > 1,
    "joined": lambda x: xp.concat([xp.zeros(1), x]),
    "chosen": lambda x: xp.where(x > 1, x, 0.0),
    "masked": lambda x: x[x >= 0],
    "taken": lambda x: xp.take(x, xp.arange(MANY)),
    "cast": lambda x: xp.astype(x, xp.float32),
    "sorted": xp.sort,
    "transformed": xp.fft.fft,
    "product": lambda x: xp.matmul(xp.ones((MANY, 1)), xp.reshape(x[:2], (1, 2))),
    "of NumPy's name": lambda x: np.exp(-x),  # type: ignore[return-value]  # pyright: ignore[reportReturnType]
}


@is_built
@others
@pytest.mark.parametrize("result", RESULTS)
def test_a_large_result_of_numpy_is_shared(result: str, receiver: str) -> None:
    y = RESULTS[result](xp.asarray(np.arange(2.0 * MANY)))
    at, expected = address(y), np.array(y)
    assert at % alignment.ALIGNMENT == 0
    with xp.transfers() as log:
        z = y.to_device(receiver)
    assert [row.kind for row in log.rows] == ["view"]
    assert address(z) == at
    y[0] = 7
    assert address(y) != at
    del y
    np.testing.assert_array_equal(np.asarray(z), expected)


@is_built
def test_memory_of_large_results_is_given_back() -> None:
    x = xp.zeros(1_000_000)
    (x + 1)._native.sum()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for n in range(300):
        y = x + n
        np.asarray(y)[-1:].sum()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB; all together were 2.4 GB


@is_built
def test_an_aligned_array_can_be_resized() -> None:
    with xp.policy(fuse=False):
        a = (xp.asarray(np.arange(MANY)) + 0)._native
    for n, kept in ((10 * MANY, MANY), (3, 3), (1, 1), (5 * MANY, 1)):
        a.resize(n, refcheck=False)
        np.testing.assert_array_equal(a[:kept], np.arange(kept))
        assert a.ctypes.data % alignment.ALIGNMENT == 0
    assert handler(a) == "anyarray_aligned"


@is_built
def test_numpy_allocates_for_the_user_as_before() -> None:
    x = xp.asarray(np.arange(1.0 * MANY))
    names = []

    def noted(*_: object) -> None:
        names.append(handler())

    def in_a_thread() -> None:
        (x + 1).to_device(CPU[-1])
        noted()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: in_a_thread(), range(20)))
    noted()
    with pytest.raises(ValueError):
        xp.add(x, xp.ones(3))
    with pytest.raises(TypeError):
        operator.add(x, "1")
    noted()
    asyncio.run(asyncio.to_thread(in_a_thread))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        operator.truediv(x, 0.0)
    noted()
    assert set(names) == {"default_allocator"}
    assert handler(np.ones(MANY) + 1) == "default_allocator"


@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="without a GIL reference counts do not tell that another thread begins to lend the memory: docs/programs.md",
)
@pytest.mark.sampled
@pytest.mark.parametrize("make", [xp.zeros, lambda n, device: xp.zeros(n, device=device) + 0], ids=["made", "result"])
@pytest.mark.parametrize(("source", "receiver"), PAIRS)
def test_a_write_is_not_lost_to_a_transfer_of_another_thread(source: str, receiver: str, make: Any) -> None:
    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            x = make(100_000, device=source)
            moves = [pool.submit(x.to_device, receiver) for _ in range(2)]
            pool.submit(x.__setitem__, 0, 1.0).result()
            moves.append(pool.submit(x.to_device, receiver))
            assert float(x[0]) == 1.0
            assert [float(move.result()[0]) for move in moves][-1] == 1.0
            assert float(x[0]) == float(x.to_device(receiver)[0]) == 1.0


@others
def test_a_large_result_that_somebody_else_holds_too_stays_where_it_is(receiver: str) -> None:
    x = unfit(100_000)
    native = x._native
    native[...] = 2.0
    part, host = x[1:], np.asarray(x)
    y = x.to_device(receiver)
    assert x._native is native
    native[...] = 5.0
    assert float(xp.min(y)) == float(xp.max(y)) == 2.0
    assert float(part[0]) == host[0] == 5.0


@others
def test_a_result_that_one_other_variable_holds_stays_where_it_is(receiver: str) -> None:
    x = xp.zeros(1000, device="numpy") + 1
    native = x._native
    y = x.to_device(receiver)
    assert x._native is native
    native[...] = 5
    assert float(xp.max(y)) == 1


@others
def test_memory_that_the_user_can_write_is_not_shared(receiver: str) -> None:
    a, x = np.zeros(100_000), xp.zeros(1000, device="numpy")
    capsule = x.__dlpack__(copy=False)  # of DLPack before 1.0, which says nothing of writing
    with xp.transfers() as log:
        y, z = xp.from_native(a).to_device(receiver), x.to_device(receiver)
    a[0] = 1.0
    assert [row.kind for row in log.rows] == ["copy", "copy"]
    assert float(y[0]) == 0.0 and address(z) != address(x)
    del capsule


@others
def test_copy_false_shares_or_raises(receiver: str) -> None:
    x = xp.ones(1000)
    assert address(xp.asarray(x, device=receiver, copy=False)) == address(x)
    with pytest.raises(ValueError, match="cannot be shared with"):
        xp.asarray(xp.ones((100, 100))[:, ::2], device=receiver, copy=False)


@needs_another
def test_what_is_brought_over_is_kept_until_a_write() -> None:
    receiver = CPU[-1]
    x = xp.from_native(np.ones(3)) + 0
    with xp.transfers() as log:
        for _ in range(5):
            x.to_device(receiver)
        assert len(log) == 1
        x[0] = 2.0
        assert float(x.to_device(receiver)[0]) == 2.0
    assert len([row for row in log.rows if row.target == xp.device(receiver).name]) == 2


def test_kept_copies_are_bounded_and_die_with_their_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_copies, "MOST_BYTES", 1000)
    arrays = [xp.from_native(np.ones(60)) + 0 for _ in range(5)]
    for x in arrays:
        second_copies.put(x, xp.device(CPU[-1]), object(), False)
    assert [second_copies.get(x, xp.device(CPU[-1])) is not None for x in arrays] == [False, False, False, True, True]
    del arrays, x
    gc.collect()
    assert not second_copies.sizes


@needs_another
def test_the_ledger_names_what_happened_and_where() -> None:
    receiver = CPU[-1]
    a, b = np.ones(8), np.ones(4)  # who holds them may write to them, so they are copied
    x = xp.from_native(a)
    with xp.transfers() as log:
        with xp.backend(receiver):
            y = x + 1
        xp.from_native(b).to_device(receiver)
        np.asarray(y)
    first = log.rows[0]
    said = (first.source, first.target, first.function, first.nbytes, first.kind, first.explicit, first.file)
    assert said == ("numpy", xp.device(receiver).name, "add", 64, "copy", False, __file__)
    assert first.seconds > 0
    assert [row.explicit for row in log.rows] == [False, True, False]
    assert f"{log.copied_bytes} bytes copied" in str(log)
    assert log.copied_bytes == 64 + 32


@needs_another
def test_the_guard_forbids_implicit_copies_alone() -> None:
    receiver = CPU[-1]
    a = np.ones(1000)
    with xp.no_transfers():
        assert float(xp.sum(xp.ones(1000).to_device(receiver))) == 1000.0
        xp.asarray(a, device=receiver)
        with (
            xp.backend(receiver),
            pytest.raises(xp.TransferError, match=r"^add: would copy 8,000 bytes from numpy to "),
        ):
            xp.from_native(a) + 1
    with xp.no_transfers("warn"), xp.backend(receiver), pytest.warns(xp.TransferWarning, match="add: would copy"):
        xp.from_native(a) + 1
    with xp.backend(receiver):
        xp.from_native(a) + 1
    with pytest.raises(ValueError, match=r"""^no_transfers: mode must be "raise" or "warn", not 'off'$"""):
        xp.no_transfers("off").__enter__()


def test_watches_that_end_in_another_order_leave_nothing_behind() -> None:
    def suspended() -> Generator[None]:
        with xp.transfers(), xp.no_transfers("warn"):
            yield

    generator = suspended()
    next(generator)
    with xp.no_transfers(), xp.transfers() as log:
        next(generator, None)
        assert (transfer.watch().logs, transfer.watch().guard) == ((log,), "raise")
    assert transfer.watch() is transfer.UNWATCHED


def test_a_watch_that_ends_in_another_context_leaves_that_alone() -> None:
    async def suspended() -> AsyncGenerator[None]:
        with xp.transfers(), xp.no_transfers():
            yield

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context["message"]))
        async for _ in suspended():
            break
        gc.collect()  # ends it in a task of its own
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        gc.collect()

    failures: list[str] = []
    asyncio.run(main())
    assert failures == []


MISALIGNED = """
    import numpy as np
    import anyarray as xp

    memory = np.zeros(64 * 200 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    for offset in range(1, 64):
        a = memory[start + offset : start + offset + 8000].view(np.float64)
        a[:] = np.arange(1000)
        for receiver in {targets}:
            for share in (None, False):
                try:
                    y = xp.asarray(a, device=receiver, copy=share)
                except ValueError:
                    continue
                assert float(xp.sum(y * 2)) == 999000.0, (offset, receiver)
            with xp.backend(receiver):
                assert float(xp.sum(xp.from_native(a) * 2)) == 999000.0, (offset, receiver)
    print("right")
"""


def test_no_misaligned_memory_ends_the_process(forked: Callable[..., str]) -> None:
    assert forked(MISALIGNED.replace("{targets}", repr([b for b in CPU if b != "numpy"]))) == "right\n"


DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()


@st.composite
def odd_arrays(draw: st.DrawFn) -> npt.NDArray[Any]:
    """ndarrays of every dtype, layout, alignment, byte order, writability."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(st.lists(st.integers(0, 5), max_size=3))
    count = int(np.prod([2 * n for n in shape], dtype=int))
    memory = np.zeros(count * dtype.itemsize + 64, np.uint8)
    offset = draw(st.integers(0, 63))
    a = memory[offset : offset + count * dtype.itemsize].view(dtype).reshape([2 * n for n in shape])
    a[...] = np.arange(count).reshape(a.shape) % 100
    key = tuple(
        draw(st.sampled_from([slice(None), slice(None, None, 2), slice(None, None, -1), slice(1, None)])) for _ in shape
    )
    a = np.asarray(a[key])
    if draw(st.booleans()):
        a = a.T
    if draw(st.booleans()):
        a = np.asfortranarray(a)
    if draw(st.booleans()):
        a = a.astype(dtype.newbyteorder())
    if draw(st.booleans()):
        a = np.broadcast_to(a, (2, *a.shape))
    if draw(st.booleans()):
        a = a.view()
        a.flags.writeable = False
    return a


@needs_another
@hypothesis.settings(max_examples=100)
@hypothesis.given(a=odd_arrays(), pair=st.sampled_from(PAIRS), share=st.sampled_from([None, True, False]))
def test_every_buffer_arrives_with_its_values(a: npt.NDArray[Any], pair: tuple[str, str], share: bool | None) -> None:
    source, receiver = pair
    expected = a.tolist()
    try:
        x = xp.asarray(a, device=source, copy=share)
        y = xp.asarray(x, device=receiver, copy=share)
    except ValueError as error:
        assert share is False and "copy" in str(error) + "copy=None"
        return
    assert y.tolist() == expected
    assert y.dtype == a.dtype.newbyteorder("=")
    assert y.shape == a.shape
    y[...] = 1
    assert a.tolist() == expected and x.tolist() == expected


@pytest.mark.sampled
@pytest.mark.parametrize("make", [xp.ones, lambda n, device: xp.ones(n, device=device) + 1], ids=["made", "result"])
@pytest.mark.parametrize(("source", "receiver"), PAIRS)
def test_thousands_of_transfers_leave_no_memory_behind(source: str, receiver: str, make: Any) -> None:
    def loop(times: int) -> None:
        for _ in range(times):
            float(make(10_000, device=source).to_device(receiver)[0])

    loop(300)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    loop(700)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    # 1 MB in place of the 56 MB and more that keeping each array would take.
    assert grown < 10_000_000


def test_a_finaliser_may_bring_an_array_over_while_another_is_kept(
    framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = xp.device(framework)
    kept, dying = xp.arange(10), xp.arange(20)
    sizes = len(second_copies.sizes)

    def ref(array: Any, callback: Any) -> Any:
        if array is kept:  # the collector runs just then
            second_copies.put(dying, there, xp.to_native(dying, like=there), False)
        return weakref.ref(array, callback)

    monkeypatch.setattr(second_copies, "weakref", SimpleNamespace(ref=ref))
    thread = threading.Thread(
        target=second_copies.put, args=(kept, there, xp.to_native(kept, like=there), False), daemon=True
    )
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert len(second_copies.sizes) == sizes + 2
    for array in (kept, dying):
        second_copies.drop(array)
    assert len(second_copies.sizes) == sizes
