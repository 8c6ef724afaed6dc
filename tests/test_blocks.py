"""Blocks hold in `with` statements, and in what they decorate.

Those of a suspended generator hold for its caller, too, as context variables do.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from typing import Any, Final

import pytest
from comparison import each
from hypothesis import given, settings
from hypothesis import strategies as st

import anyarray as xp
import anyarray.testing
from anyarray._base import dtypes
from anyarray._choice import choice
from anyarray._memory import transfer

pytestmark = pytest.mark.few_backends

BLOCKS: Final[dict[str, tuple[Callable[[], Any], Callable[[], bool]]]] = {
    "transfers": (xp.transfers, lambda: bool(transfer.watch().logs)),
    "no_transfers": (xp.no_transfers, lambda: transfer.watch().guard == "raise"),
    "default_dtypes": (lambda: xp.default_dtypes(float=xp.float32), lambda: xp.ones(1).dtype == xp.float32),
    "explain": (xp.explain, lambda: bool(choice.current().records)),
    "policy": (lambda: xp.policy(candidates=["numpy"]), lambda: choice.current().candidates == ("numpy",)),
}
ALL: Final = {**BLOCKS, "backend": (lambda: xp.backend("sim"), lambda: xp.ones(1).device.library == "sim")}


@each("which", BLOCKS)
def test_a_block_holds_in_what_it_decorates(which: str) -> None:
    make, holds = BLOCKS[which]

    @make()
    def called() -> bool:
        return holds()

    @make()
    async def awaited() -> bool:
        await asyncio.sleep(0)
        return holds()

    assert [called(), called(), asyncio.run(awaited()), holds()] == [True, True, True, False]


@each("which", BLOCKS)
def test_a_block_decorates_nothing_that_goes_on_outside(which: str) -> None:
    for wrong in (type("Made", (), {}), 5):
        with pytest.raises(TypeError, match=rf"^{which}: "):
            BLOCKS[which][0]()(wrong)


@each("which", BLOCKS)
def test_a_block_may_be_opened_again_but_not_twice_at_once(which: str) -> None:
    make, holds = BLOCKS[which]
    block = make()
    for _ in range(2):
        with block:
            assert holds()
            with pytest.raises(RuntimeError, match=rf"^{which}: this block is open already"), block:
                pass
            assert holds()
        assert not holds()


def loader(which: str, steps: int = 2) -> Iterator[bool]:
    make, holds = ALL[which]
    with make():
        for _ in range(steps):
            yield holds()


async def async_loader(which: str) -> AsyncGenerator[bool]:
    make, holds = ALL[which]
    with make():
        for _ in range(2):
            await asyncio.sleep(0)
            yield holds()


@pytest.mark.parametrize("which", ALL)
def test_a_block_of_a_generator_holds_for_its_caller_until_it_ends(which: str) -> None:
    async def main() -> list[tuple[bool, bool]]:
        found = [(inside, holds()) async for inside in async_loader(which)]
        return [*found, (False, holds())]

    holds = ALL[which][1]
    assert [(inside, holds()) for inside in loader(which)] == [(True, True)] * 2
    assert not holds()
    assert asyncio.run(main()) == [(True, True), (True, True), (False, False)]


@pytest.mark.parametrize("which", ALL)
def test_a_block_that_is_not_the_innermost_ends_alone(which: str) -> None:
    make, holds = ALL[which]
    first, second = loader(which), loader("default_dtypes" if which == "policy" else "policy")
    assert [next(first), next(second)] == [True, True]
    first.close()  # type: ignore[attr-defined]
    assert (holds(), next(second)) == (False, True)
    with make():
        second.close()  # type: ignore[attr-defined]
        assert holds()
    assert not holds()
    assert observed() == dict(zip(STATE, (None, None, (), xp.float64, "off", ()), strict=True))


@pytest.mark.parametrize("which", ALL)
def test_a_block_that_ends_in_another_context_changes_nothing_there(which: str) -> None:
    steps, holds = loader(which, 1), ALL[which][1]
    there = contextvars.copy_context()
    assert there.run(next, steps)
    with ALL[which][0]():
        assert list(steps) == []
        assert holds()
    assert (holds(), there.run(holds)) == (False, True)


def place() -> str:
    return xp.ones(1).device.library


def delegating(which: str) -> Generator[None]:
    yield from waiting(which)


def waiting(which: str) -> Generator[None]:
    with ALL[which][0]():
        yield


class Session:
    """A context manager of a user, which opens a block."""

    def __init__(self, which: str) -> None:
        self.block = ALL[which][0]()

    def __enter__(self) -> None:
        self.block.__enter__()

    def __exit__(self, *error: Any) -> None:
        self.block.__exit__(*error)


MANAGERS: Final[dict[str, Callable[[str], contextlib.AbstractContextManager[None]]]] = {
    "one that delegates": contextlib.contextmanager(delegating),
    "a class": Session,
}


@pytest.mark.parametrize("manager", MANAGERS)
@pytest.mark.parametrize("which", ALL)
def test_a_block_of_a_context_manager_holds_where_that_is_entered(which: str, manager: str) -> None:
    holds = ALL[which][1]
    with MANAGERS[manager](which):
        assert holds()
    assert not holds()


@pytest.mark.parametrize("which", ALL)
def test_a_block_of_an_async_context_manager_holds_where_that_is_entered(which: str) -> None:
    @contextlib.asynccontextmanager
    async def opened() -> AsyncGenerator[None]:
        with make():
            yield

    async def main() -> tuple[bool, bool]:
        async with opened():
            inside = holds()
        return inside, holds()

    make, holds = ALL[which]
    assert asyncio.run(main()) == (True, False)


def test_a_task_begins_with_the_blocks_in_which_it_is_made_and_keeps_its_own_to_itself() -> None:
    async def inside() -> list[str]:
        found = [place()]
        with xp.backend("numpy"):
            await asyncio.sleep(0)
            return [*found, place()]

    async def main() -> list[list[str]]:
        with xp.backend("sim"):
            task = asyncio.create_task(inside())
            await asyncio.sleep(0)
            return [await task, [place(), await asyncio.to_thread(place)]]

    assert asyncio.run(main()) == [["sim", "numpy"], ["sim", "sim"]]


@pytest.mark.parametrize("which", ALL)
def test_a_decorated_generator_is_resumed_in_the_block(which: str) -> None:
    make, holds = ALL[which]
    seen: list[bool] = []

    @make()
    def steps(first: str) -> Generator[str, str, str]:
        try:
            sent = yield first
            seen.append(holds())
            with pytest.raises(ZeroDivisionError):
                yield sent
            seen.append(holds())
            yield "caught"
        finally:
            seen.append(holds())
        return "over"

    running = steps("first")
    found = [next(running), running.send("second"), running.throw(ZeroDivisionError())]
    with pytest.raises(StopIteration) as end:
        next(running)
    closed = steps("first")
    next(closed)
    closed.close()
    assert (found, end.value.value) == (["first", "second", "caught"], "over")
    assert (seen, holds()) == ([True] * 4, False)


@pytest.mark.parametrize("which", ALL)
def test_a_decorated_async_generator_is_resumed_in_the_block(which: str) -> None:
    make, holds = ALL[which]
    seen: list[bool] = []

    @make()
    async def steps(first: str) -> AsyncGenerator[str, str]:
        try:
            sent = yield first
            await asyncio.sleep(0)
            seen.append(holds())
            with pytest.raises(ZeroDivisionError):
                yield sent
            yield "caught"
        finally:
            await asyncio.sleep(0)
            seen.append(holds())

    async def main() -> list[str]:
        running = steps("first")
        found = [await anext(running), await running.asend("second"), await running.athrow(ZeroDivisionError())]
        assert await anext(running, "over") == "over"
        closed = steps("first")
        found.append(await anext(closed))
        await closed.aclose()
        return found

    assert asyncio.run(main()) == ["first", "second", "caught", "first"]
    assert (seen, holds()) == ([True] * 3, False)


def test_tasks_of_a_decorated_generator_are_in_its_block_and_those_of_its_caller_are_not() -> None:
    @xp.backend("sim")
    async def steps() -> AsyncIterator[str]:
        yield await asyncio.to_thread(place)

    async def main() -> list[tuple[str, str]]:
        return [(inside, await asyncio.to_thread(place)) async for inside in steps()]

    assert asyncio.run(main()) == [("sim", "numpy")]


def test_an_error_of_a_decorated_generator_leaves_no_cycle() -> None:
    @xp.backend("numpy")
    def steps() -> Generator[None]:
        yield

    class FaultError(Exception):
        pass

    running = steps()
    next(running)
    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(FaultError):
            running.throw(FaultError())
        del running
        assert not [one for one in gc.get_objects() if type(one) is FaultError]  # PyTorch has objects whose class warns
    finally:
        gc.enable()


STATE: Final = ("backend", "candidates", "records", "float", "guard", "logs")
"""What blocks change."""
KINDS: Final[dict[str, tuple[Callable[[], Any], Callable[[dict[str, Any], Any], dict[str, Any]]]]] = {
    "sim": (lambda: xp.backend("sim"), lambda _, __: {"backend": "sim"}),
    "numpy": (lambda: xp.backend("numpy"), lambda _, __: {"backend": "numpy"}),
    "auto": (lambda: xp.backend("auto"), lambda _, __: {"backend": None}),
    "policy": (lambda: xp.policy(candidates=["numpy"]), lambda _, __: {"backend": None, "candidates": ("numpy",)}),
    "explain": (xp.explain, lambda outer, log: {"records": (*outer["records"], id(log.decisions))}),
    "float32": (lambda: xp.default_dtypes(float=xp.float32), lambda _, __: {"float": xp.float32}),
    "float16": (lambda: xp.default_dtypes(float=xp.float16), lambda _, __: {"float": xp.float16}),
    "guard": (xp.no_transfers, lambda _, __: {"guard": "raise"}),
    "warning": (lambda: xp.no_transfers("warn"), lambda _, __: {"guard": "warn"}),
    "transfers": (xp.transfers, lambda outer, log: {"logs": (*outer["logs"], id(log))}),
}
SHARED: Final = xp.backend("sim")
"""One block that is open several times."""


def observed() -> dict[str, Any]:
    chosen, watch = choice.chosen(), transfer.watch()
    values = (
        None if chosen is None else chosen.library,
        choice.current().candidates,
        tuple([id(one) for one in choice.current().records]),
        dtypes.default(float),
        watch.guard,
        tuple([id(one) for one in watch.logs]),
    )
    return dict(zip(STATE, values, strict=True))


class FaultError(Exception):
    """What is thrown into generators."""


class Interpreter:
    """Runs a program and looks at what holds at each step.

    That is compared with the blocks that are open, in the order in which they were entered.
    """

    def __init__(self) -> None:
        self.generators: list[Any] = []
        self.open: list[tuple[object, Any, Any]] = []
        """The key of each block, what it changes and what it gives; the shared block has one key."""

    def check(self) -> None:
        wanted = dict(zip(STATE, (None, None, (), xp.float64, "off", ()), strict=True))
        for _, change, given_ in self.open:
            wanted |= change(wanted, given_)
        assert observed() == wanted

    @contextlib.contextmanager
    def managed(self, kind: str) -> Generator[Any]:
        with self.made(kind) as given_:
            yield given_

    def made(self, kind: str) -> Any:
        return SHARED if kind == "shared" else KINDS[kind][0]()

    def block(self, how: str, kind: str, stack: contextlib.ExitStack) -> Any:
        block = self.managed(kind) if how == "managed" else self.made(kind)
        return block if how != "stacked" else contextlib.nullcontext(stack.enter_context(block))

    def steps(self, program: list[Any]) -> Iterator[None]:
        """The body of a function or generator."""
        for step in program:
            if step == "yield":
                yield
            elif step[0] in ("with", "managed", "stacked"):
                how, kind, inner = step
                key = kind if kind == "shared" else object()
                with contextlib.ExitStack() as stack, self.block(how, kind, stack) as given_:
                    self.open.append((key, KINDS["sim" if kind == "shared" else kind][1], given_))
                    try:
                        self.check()
                        yield from self.steps(inner)
                        self.check()
                    finally:
                        del self.open[max(at for at, one in enumerate(self.open) if one[0] is key)]
            else:
                self.do(step)
            self.check()

    def do(self, step: Any) -> None:
        action, value = step
        if action == "call":
            for _ in self.steps(value):
                pass
        elif action == "start":
            self.generators.append(self.steps(value))
        elif self.generators:
            at = value % len(self.generators)
            generator = self.generators[at]
            if generator is None or generator.gi_running:
                return
            with contextlib.suppress(StopIteration, FaultError):
                if action == "next":
                    next(generator)
                elif action == "throw":
                    generator.throw(FaultError())
                elif action == "close":
                    generator.close()
                else:
                    self.generators[at] = None
                    del generator


HOW: Final = st.sampled_from(["with", "with", "managed", "stacked"])
WHICH: Final = st.sampled_from(["sim", "numpy", "shared", *KINDS])


def programs() -> st.SearchStrategy[list[Any]]:
    """Programs of two generators, which resume each other, and go on then."""
    resumed = st.tuples(st.sampled_from([*["next"] * 6, "throw", "close", "drop"]), st.integers(0, 2))
    leaf = st.one_of(st.just("yield"), resumed, resumed)

    def suspended(body: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        inner = st.lists(body, min_size=1, max_size=4).map(lambda steps: ["yield", *steps, "yield"])
        return st.tuples(st.just("start"), st.tuples(HOW, WHICH, inner).map(lambda block: [block]))

    def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        body = st.lists(inner, max_size=5)
        return st.one_of(st.tuples(HOW, WHICH, body), suspended(inner), st.tuples(st.just("call"), body))

    step = st.recursive(leaf, nested, max_leaves=10)
    begun = st.tuples(suspended(step), suspended(step)).map(lambda two: [*two, ("next", 0), ("next", 1)])
    return st.builds(lambda first, rest: [*first, *rest], begun, st.lists(step, max_size=8))


def run(program: list[Any]) -> None:
    interpreter = Interpreter()
    interpreter.check()
    interpreter.do(("call", program))
    for at in range(len(interpreter.generators)):
        interpreter.do(("close", at))
        interpreter.check()
    assert transfer.watch() is transfer.UNWATCHED
    assert dtypes.defaults() is dtypes.STANDARD_DEFAULTS
    assert choice.current() is choice.process_default


@settings(max_examples=60)
@given(programs())
def test_what_holds_is_what_open_blocks_say_however_generators_are_resumed(program: list[Any]) -> None:
    contextvars.copy_context().run(run, program)  # so that one that fails leaves nothing to the next
