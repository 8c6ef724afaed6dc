"""Which functions transforms take, and how these are called.

Tested are threads, closures, results that vary and arguments by name.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from types import FrameType
from typing import Any, Final

import numpy as np
import pytest
from comparison import assert_same, each

import anyarray as xp
from anyarray._choice import choice

pytestmark = pytest.mark.few_backends

ROWS: Final = np.asarray([[0.5, 1.0, -2.0], [3.0, -0.25, 4.0]])
THREADS: Final = 6


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(work: Callable[[int], None]) -> None:
    """Do `work(1)`, `work(2)` ... in a thread each; raise what any raises."""
    barrier = threading.Barrier(THREADS)
    raised: list[BaseException] = []

    def run(n: int) -> None:
        barrier.wait()
        try:
            work(n)
        except BaseException as error:  # noqa: BLE001 - raised below
            raised.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(1, THREADS + 1)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if raised:
        raise raised[0]


def pair_if_even(v: xp.Array) -> Any:
    return v if v.shape[0] % 2 else (v, v + 1)


def check_pair_if_even(compiled: Callable[[xp.Array], Any], x: xp.Array) -> None:
    found = compiled(x)
    one = found[0] if type(found) is tuple else found
    assert (type(found) is tuple) == (x.shape[0] % 2 == 0)
    assert type(one._native) is type(x._native)
    assert one.tolist() == x.tolist()


@pytest.mark.parametrize("before", range(4))
def test_a_function_called_often_with_one_array_may_come_to_give_two(before: int, backend: xp.Backend) -> None:
    compiled = xp.jit(pair_if_even)
    for _ in range(before):
        check_pair_if_even(compiled, xp.ones(1))
    for n in (2, 2, 2, 1, 2, 3, 4, 4, 1):
        check_pair_if_even(compiled, xp.ones(n))


@pytest.mark.usefixtures("hasty")
def test_threads_that_trace_at_once_get_each_its_own_result(framework: str) -> None:
    inputs = {n: xp.ones(n, device=framework) for n in range(1, THREADS + 1)}
    for before in range(3):
        compiled = xp.jit(pair_if_even)
        for _ in range(before):
            compiled(inputs[1])
        at_once(lambda n, f=compiled: [check_pair_if_even(f, inputs[n]) for _ in range(5)])  # type: ignore[misc]  # its defaults
        for x in inputs.values():
            check_pair_if_even(compiled, x)


@pytest.mark.usefixtures("hasty")
def test_threads_fall_back_at_once_where_xla_compiles_nothing() -> None:
    pytest.importorskip("tensorflow")
    inputs = {n: xp.ones(n, device="tf") for n in range(1, THREADS + 1)}
    compiled = xp.jit(lambda x: xp.real(xp.cumulative_prod(x * 1j)))
    at_once(lambda n: [compiled(inputs[n]) for _ in range(3)])  # type: ignore[arg-type]  # a list of Arrays is no Array


def test_a_compiled_function_may_close_over_a_traced_array(differentiating: xp.Backend) -> None:
    def twice(w: xp.Array) -> xp.Array:
        dotted = xp.jit(lambda y: xp.sum(y * w))
        c = xp.ones(3)
        return dotted(c) + dotted(c) + dotted(c)

    x = xp.asarray(ROWS[0])
    assert_same(xp.grad(twice)(x), np.full(3, 3.0))
    assert_same(xp.jit(twice)(x), np.asarray(3 * ROWS[0].sum()))
    assert_same(xp.vmap(twice)(xp.asarray(ROWS)), 3 * ROWS.sum(1))


def test_a_compiled_function_may_close_over_arrays_with_values(framework: str) -> None:
    w = xp.asarray(np.arange(1000.0), device=framework)
    added = xp.jit(lambda y: xp.sum(y + w))
    for _ in range(3):
        assert float(added(xp.ones(1000, device=framework))) == 500500.0


def test_a_function_whose_backward_pass_xla_does_not_compile_has_a_gradient(differentiating: xp.Backend) -> None:
    def function(x: xp.Array) -> xp.Array:
        return xp.real(xp.prod(x + 1j * x * x))

    x = xp.asarray([1.0, 2.0])
    # The real part of (x + ix²)(y + iy²) is xy - x²y².
    gradient, hessian = np.asarray([-6.0, -3.0]), np.asarray([[-8.0, -7.0], [-7.0, -2.0]])
    for _ in range(2):
        compiled = xp.jit(function)
        for _ in range(2):
            assert_same(xp.grad(compiled)(x), gradient)
        assert_same(xp.jacobian(xp.jit(function))(x), gradient)
        assert_same(xp.jacobian(xp.grad(xp.jit(function)))(x), hessian)
        assert_same(compiled(x), np.asarray(-2.0))


def generating(x: Any) -> Iterator[Any]:
    yield x


async def generating_later(x: Any) -> AsyncIterator[Any]:
    yield x


async def awaited(x: Any) -> Any:
    await asyncio.sleep(0)
    return x * 2


class AwaitedObject:
    async def __call__(self, x: Any) -> Any:
        return x


TRANSFORMS: Final = ["jit", "grad", "value_and_grad", "jacobian", "vmap"]


@each("transform", [*TRANSFORMS, "portable"])
@each(
    "function, sentence",
    [
        *[(function, ("f must be a function that returns its result, not the generator function "
           rf"{function.__name__}\. Decorate the function that makes each value$"))
          for function in (generating, generating_later)],
        *[(function, ("f must be a function that returns its result, not the async function "
           r"(awaited|AwaitedObject)\. Transform the function that it calls$"))
          for function in (awaited, AwaitedObject())],
        (3, r"f must be a function, not int$"),
    ],
)  # fmt: skip
def test_what_gives_no_result_is_refused_when_decorated(function: Any, sentence: str, transform: str) -> None:
    if transform != "portable" or "async" not in sentence:
        with pytest.raises(TypeError, match=f"^{transform}: {sentence}"):
            getattr(xp, transform)(function)


def test_async_functions_are_portable(name: str) -> None:
    x = xp.to_native(xp.asarray(ROWS, device=name))
    function = xp.portable(awaited)
    assert inspect.iscoroutinefunction(function)
    found = asyncio.run(function(x))
    assert type(found) is type(x)
    assert_same(xp.asarray(found), ROWS * 2)
    assert isinstance(asyncio.run(function(xp.asarray(ROWS))), xp.Array)


def test_the_derivative_by_nothing_is_empty(differentiating: xp.Backend) -> None:
    assert xp.grad(lambda p: xp.asarray(1.0))({}) == {}
    value, gradient = xp.value_and_grad(lambda p: xp.asarray(2.0))({})
    assert (float(value), gradient) == (2.0, {})
    for mode in ("reverse", "forward"):
        assert xp.jacobian(lambda p: [xp.ones(2)], mode=mode)({}) == [{}]
        assert xp.jacobian(lambda x: {}, mode=mode)(xp.ones(2)) == {}
        assert xp.jacobian(lambda p: {}, mode=mode)({}) == {}


@pytest.mark.parametrize("transform", ["grad", "value_and_grad", "jacobian"])
def test_argnums_are_different_integers(transform: str) -> None:
    with pytest.raises(ValueError, match=rf"^{transform}: argnums must name each argument once, not \(0, 0\)$"):
        getattr(xp, transform)(xp.sum, argnums=(0, 0))
    for wrong in ("x", 1.0, True, (0, "x"), None):
        with pytest.raises(
            TypeError, match=rf"^{transform}: argnums must be an int or a sequence of ints, not .*\. It counts"
        ):
            getattr(xp, transform)(xp.sum, argnums=wrong)


@pytest.mark.parametrize("argnums", [np.int64(1), [np.int64(1)], np.asarray(1)])
def test_argnums_may_be_integers_of_numpy(argnums: Any, differentiating: xp.Backend) -> None:
    gradient = xp.grad(lambda x, y: xp.sum(x * y), argnums)(xp.asarray(ROWS), xp.ones(3))
    assert_same(gradient[0] if isinstance(argnums, list) else gradient, ROWS.sum(0))


@each(
    "argnums, positional, sentence",
    [
        (0, False, (r"argnums counts the arguments that are given by position, 0 here, but 0 is x, which came by name"
                    r"\. Give it by position$")),
        (1, True, "argnums must name arguments that are given by position, 1 here, not 1$"),
        ((0, -1), True, r"argnums must name each argument once, not \(0, -1\)$"),
    ],
)  # fmt: skip
def test_argnums_name_arguments_that_were_given_by_position(
    argnums: Any, positional: bool, sentence: str, differentiating: xp.Backend
) -> None:
    gradient = xp.grad(lambda x: xp.sum(x), argnums=argnums)
    with pytest.raises(ValueError, match=f"^grad: {sentence}"):
        gradient(xp.ones(2)) if positional else gradient(x=xp.ones(2))


def called_often(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What the third call gives, when every way to call was looked for."""
    for _ in range(2):
        function(*args, **kwargs)
    return function(*args, **kwargs)


def test_a_function_called_often_writes_to_none_of_its_arguments(backend: xp.Backend) -> None:
    def written(x: xp.Array, factor: float = 2) -> xp.Array:
        x[0, 0] = 9
        x *= factor
        return x

    x = xp.asarray(ROWS)
    expected = ROWS.copy()
    expected[0, 0] = 9
    for found in (
        called_often(xp.jit(lambda x: written(x)), x),
        called_often(xp.jit(written), x, 2),
        called_often(xp.jit(written), x),
        called_often(xp.jit(written, static_argnames="factor"), x, factor=2),
    ):
        assert_same(found, expected * 2)
    assert_same(x, ROWS)


def test_what_a_function_called_often_closes_over_is_brought_to_its_arguments(framework: str) -> None:
    there = xp.asarray(ROWS, device=framework)
    function = xp.jit(lambda x: x + there)
    for _ in range(4):
        found = function(xp.asarray(ROWS))
        assert found.device.library == "numpy"
        assert_same(found, ROWS * 2)


def test_a_function_called_often_on_numpy_goes_where_a_block_says(framework: str) -> None:
    x = xp.asarray(ROWS)
    function = xp.jit(lambda x: x * 2)
    called_often(function, x)
    with xp.backend(framework):
        assert called_often(function, x).device.library == framework
    assert called_often(function, x).device.library == "numpy"


def test_a_function_that_is_defined_again_has_the_code_of_its_wrapper(backend: xp.Backend) -> None:
    def made(factor: float) -> Any:
        return xp.jit(lambda x, shift=factor: x * factor + shift)

    twice, thrice = made(2.0), made(3.0)
    assert twice.__code__ is thrice.__code__
    assert_same(twice(xp.ones(2)), xp.asarray([4.0, 4.0]))
    assert_same(thrice(xp.ones(2)), xp.asarray([6.0, 6.0]))


def test_what_cannot_be_hashed_is_taken_where_nothing_is_compiled() -> None:
    x = xp.asarray(ROWS, device="numpy")
    assert_same(called_often(xp.jit(lambda x, which: x * len(which)), x, {1, 2}), ROWS * 2)


def interrupted_at(line: int, ran: list[Any]) -> Callable[[FrameType, str, Any], Any]:
    """What Ctrl-C does before that line of ours, unless the function ran."""
    lines = itertools.count()

    def interrupt(frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        if not (file.startswith("<anyarray jit") or file.endswith("_jit.py")):
            return None
        if event == "line" and not ran and next(lines) == line:
            raise KeyboardInterrupt
        return interrupt

    return interrupt


@pytest.mark.parametrize("arguments", [{}, {"factor": 2}])
def test_an_interrupt_before_a_function_called_often_runs_leaves_nothing_chosen(arguments: dict[str, float]) -> None:
    ran: list[Any] = []

    def doubled(x: xp.Array, factor: float = 2) -> xp.Array:
        ran.append(x)
        return x * factor

    function, x = xp.jit(doubled), xp.ones(2)
    called_often(function, x, **arguments)
    before, traced = choice.current().backend, sys.gettrace()
    for line in range(50):
        ran.clear()
        sys.settrace(interrupted_at(line, ran))
        with contextlib.suppress(KeyboardInterrupt):
            function(x, **arguments)
        sys.settrace(traced)
        assert choice.current().backend is before
    assert ran


def test_methods_called_often_see_their_object(backend: xp.Backend) -> None:
    class Scaler:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        @xp.jit
        def scaled(self, x: xp.Array, *, more: float = 1) -> xp.Array:
            return x * self.factor * more

    for factor in (2, 3):
        assert_same(called_often(Scaler(factor).scaled, xp.asarray(ROWS), more=2), ROWS * factor * 2)
