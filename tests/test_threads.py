"""Many threads at once give what one gives, with a GIL and without one."""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

pytestmark = pytest.mark.few_backends

THREADS: Final = 6
DATA: Final = np.random.default_rng(0).standard_normal((24, 24))

CALLS: Final[dict[str, Callable[[xp.Array], Any]]] = {
    "an operator": lambda x: x * 2 - x,
    "a function": xp.exp,
    "a reduction": lambda x: xp.sum(x, axis=0),
    "an index": lambda x: x[3:9, ::2],
    "a mask": lambda x: x[x > 0],
    "a view": lambda x: xp.reshape(x.T, (-1,)) + 1,
    "a sequence": lambda x: xp.concat([x, x]),
    "a cast": lambda x: xp.astype(x, xp.float32),
    "a scalar": lambda x: float(x[2, 3]) + float(xp.max(x)),
    "a product": lambda x: x @ x,
    "a composed function": lambda x: xp.einsum("ij,ik->jk", x, x),
    "several results": lambda x: xp.linalg.qr(x)[1],
    "creation": lambda x: xp.zeros_like(x) + xp.ones(24),
}


@pytest.fixture(autouse=True)
def frequent_switches() -> Iterator[None]:
    """Let threads take turns as often as the interpreter allows."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], None]) -> None:
    """Run `work(i)` in a thread for each i, all from the same moment on."""
    start, errors = threading.Barrier(THREADS), list[BaseException]()

    def run(i: int) -> None:
        start.wait()
        try:
            work(i)
        except BaseException as error:  # noqa: BLE001  # raised below, in the thread of the test
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "the threads wait for each other"
    if errors:
        raise errors[0]


@pytest.fixture
def on(name: str) -> Iterator[str]:
    """A backend that all threads run on."""
    xp.set_default_backend(name)
    yield name
    xp.set_default_backend("auto")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.usefixtures("on")
def test_a_call_of_an_array_that_threads_share_gives_what_it_gives_alone(call: Callable[[xp.Array], Any]) -> None:
    x = xp.asarray(DATA)
    alone = np.asarray(call(x))

    def work(_: int) -> None:
        for _ in range(20):
            np.testing.assert_array_equal(np.asarray(call(x)), alone)

    together(work)


@pytest.mark.usefixtures("on")
def test_threads_that_write_to_parts_of_an_array_lose_no_write() -> None:
    x, times = xp.zeros(THREADS * 10), 40

    def work(i: int) -> None:
        for j in range(1, times + 1):
            x[i::THREADS] = float(j)

    together(work)
    assert xp.unique_values(x).tolist() == [times]


@pytest.mark.usefixtures("on")
def test_a_thread_that_writes_to_a_view_of_its_own_changes_these_elements_alone() -> None:
    x, times = xp.zeros((THREADS, 32)), 20
    rows = [x[i] for i in range(THREADS)]

    def work(i: int) -> None:
        for j in range(1, times + 1):
            row = rows[i]
            row += i
            assert float(x[i, 0]) == i * j

    together(work)
    assert x.tolist() == [[times * i] * 32 for i in range(THREADS)]


@pytest.mark.usefixtures("on")
def test_copies_that_are_taken_while_a_thread_writes_elsewhere_keep_the_values_of_their_own() -> None:
    x = xp.asarray(DATA)
    takes: list[Callable[[], Any]] = [
        x.copy,
        lambda: np.array(x),
        lambda: xp.asarray(x, copy=True),
        lambda: x + 0,
        lambda: x.to_device("numpy") + 0,
    ]

    def work(i: int) -> None:
        for j in range(20):
            if i == 0:
                x[0, :] = float(j)
            else:
                taken = takes[i - 1]()
                taken[-1, 0] = 7.0
                np.testing.assert_array_equal(np.asarray(taken)[1:-1], DATA[1:-1])

    together(work)
    assert np.asarray(x)[1:].tolist() == DATA[1:].tolist()


@pytest.mark.usefixtures("on")
def test_calls_of_many_elements_see_the_writes_of_their_own_thread() -> None:
    shared = xp.ones(40_000)

    def work(i: int) -> None:
        for j in range(10):
            found = (shared * i + 1) * 2 - shared
            found += j
            if i == 0:
                shared[-1] = float(j)
            assert float(found[j]) == 2 * i + 1 + j

    together(work)


def test_a_block_holds_in_its_thread_alone(name: str) -> None:
    def suspended(own: str) -> Iterator[xp.Device]:
        @xp.backend(own)
        def steps() -> Iterator[xp.Device]:
            yield xp.ones(1).device

        return steps()

    def work(i: int) -> None:
        own, other = ("numpy", name) if i % 2 else (name, "numpy")
        dtype = xp.float32 if i % 3 else xp.float64
        for _ in range(20):
            with xp.backend(own), xp.default_dtypes(float=dtype):
                for device in suspended(other):
                    assert device == xp.device(other)
                    assert (xp.ones(2).device, xp.ones(2).dtype) == (xp.device(own), dtype)

    together(work)


def test_functions_that_threads_compile_and_differentiate_at_once_give_each_its_own(on: str) -> None:
    compiled, derivative = xp.jit(lambda x, y: xp.sum(x * y + 1)), xp.grad(lambda x: xp.sum(x**3))

    def work(i: int) -> None:
        for n in (2, 3, 4):
            assert float(compiled(xp.ones(n) * i, xp.ones(n))) == n * (i + 1)
            if xp.device(on).has_hook("value_and_grad"):
                assert derivative(xp.asarray([1.0, 2.0]) * i).tolist() == [3.0 * i * i, 12.0 * i * i]

    together(work)


def test_a_portable_function_gives_each_thread_the_kind_it_gave() -> None:
    doubled = xp.portable(lambda x: xp.add(x, x))

    def work(i: int) -> None:
        for _ in range(50):
            given = np.ones(3) if i % 2 else xp.ones(3)
            assert type(doubled(given)) is type(given)

    together(work)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="is about an interpreter without a GIL")
def test_import_leaves_the_gil_off(run_python: Callable[..., str]) -> None:
    program = """
        import sys, warnings
        warnings.simplefilter("error")
        import anyarray as xp
        xp.linalg.svd(xp.exp(xp.ones((3, 3))) + 1)
        xp.random.uniform(xp.random.key(0), (2,))
        print(sys._is_gil_enabled())
    """
    assert run_python(program) == "False\n"
