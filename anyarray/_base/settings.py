"""Settings that `with` blocks change, for the code inside the block only.

A setting is the value of a context variable, so each thread and each asyncio task has its own. A block sets the
variable on entry and resets it on exit. In between it applies to all code that runs in the context, which is right as
long as only code inside the block can run.

A generator breaks this: while it is suspended, its caller runs in the same context, as generators have none of their
own (PEP 568, deferred). So while a generator has a block open, the variable holds a *view*: a value that inspects the
frames of the call stack on every read. The block of a generator applies while that generator runs; if several
generators call each other, the innermost wins. Without an open block of a generator there is no overhead.

The generator of a context manager, or of a pytest fixture, is suspended on purpose while the code that uses it runs:
its blocks apply to that code. See `DRIVERS`.
"""

from __future__ import annotations

import inspect
import opcode
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from contextvars import ContextVar, Token
from types import CodeType, FrameType, TracebackType
from typing import Any, Final, Generic, Protocol, TypeVar, cast

R = TypeVar("R")
V = TypeVar("V")
S = TypeVar("S")
T = TypeVar("T")

SUSPENDS: Final = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
"""Flags of code objects that can be suspended by `yield`."""
OPENERS: Final = frozenset({"__enter__", "__aenter__", "enter_context", "enter_async_context"})
"""Names of functions that enter a block on behalf of their caller."""
DRIVERS: Final = frozenset(
    {
        "contextlib",  # contextmanager, asynccontextmanager
        "_pytest.fixtures",
        "pluggy._callers",  # hook wrappers
        "pytest_asyncio.plugin",
        "pytest_trio.plugin",
        "anyio._backends._asyncio",  # fixtures, as below
        "anyio._backends._trio",
        "aiohttp.web_app",  # cleanup contexts
    }
)
"""Modules that use a generator for setup and teardown, and run other code while it is suspended."""
_BLOCKS: Final = "anyarray._base.blocks"
"""The module whose blocks enter those of this module on behalf of their users."""

_SEND: Final = opcode.opmap.get("SEND", -1)
"""The instruction of `yield from` and `await`."""
_CACHE: Final = opcode.opmap.get("CACHE", 0)
"""The inline cache entry after an instruction, to which `f_lasti` may point."""
_MOVES_ALONE: Final = getattr(sys, "_is_gil_enabled", lambda: True)()
"""Whether the GIL stops other threads, so that their frames can be read safely."""

_probe: ContextVar[None] = ContextVar("anyarray contexts", default=None)
"""Identifies contexts: its tokens can only be reset in the context in which they were created."""


class Change(Protocol[S]):
    """The change that a block makes to a setting."""

    @property
    def name(self) -> str:
        """The function that makes the block, for messages."""
        ...

    def inside(self, outer: S, /) -> S:
        """The value inside the block; `self` is its `change`."""
        ...


class Opened:
    """An open block, recorded while a generator has this or another open."""

    __slots__ = ("change", "code", "frame", "line", "token")

    def __init__(self, change: Change[Any], frame: FrameType | None) -> None:
        self.change = change
        self.frame = frame
        """The frame of the generator that opened it; None if none did, or if it was closed."""
        self.code: CodeType | None = None
        self.line = 0
        self.token: Token[None] | None = None
        """A token of the context in which a generator opened it; None if none did."""
        if frame is not None:
            self.code, self.line, self.token = frame.f_code, frame.f_lineno, _probe.set(None)

    def is_of_this_context(self) -> bool:
        """Whether the generator opened it in this context.

        Else this context is a copy of that one.
        """
        try:
            _probe.reset(cast("Token[None]", self.token))
        except ValueError:
            return False
        self.token = _probe.set(None)
        return True

    def __str__(self) -> str:
        code = cast(CodeType, self.code)
        return f"{code.co_qualname} ({os.path.basename(code.co_filename)}:{self.line})"


_of_generators: Final[dict[FrameType, list[Opened]]] = {}
"""The open blocks of generators, in all contexts."""


class Layers(Generic[V]):
    """The open blocks over a base value, while a generator has one open."""

    __slots__ = ("base", "known", "opened", "setting")

    def __init__(self, setting: Setting[V], base: V, opened: tuple[Opened, ...]) -> None:
        self.setting = setting
        self.base = base
        self.opened = opened
        self.known: dict[tuple[Opened, ...], V] = {}
        """A cache of values, by the blocks that produce them."""

    def read(self, read: Callable[[V], R]) -> R:
        """Apply `read` to the value in effect here.

        Raises RuntimeError if it is ambiguous.
        """
        sure, possible, unclear = self._held()
        found = read(sure)
        if unclear is not None and read(possible) != found:
            name = unclear.change.name
            raise RuntimeError(
                f"{name}: whether the block that the generator {unclear} opened holds here cannot be told, as this "
                "task or thread was begun while it was open. Open a block here, or let the generator have none: "
                f"decorate its function, @xp.{name}(...)"
            )
        return found

    def held(self) -> V:
        """The value in effect here."""
        return self._held()[0]

    def _held(self) -> tuple[V, V, Opened | None]:
        """The value here, a possible other one, and the block that decides."""
        order = running({one.frame for one in self.opened if one.frame is not None})
        sure: list[Opened] = []
        possible: list[Opened] = []
        inside: dict[FrameType, list[Opened]] = {frame: [] for frame in reversed(order)}
        unclear = None
        for one in self.opened:
            if one.token is None:
                sure.append(one)
                possible.append(one)
            elif one.frame in inside:
                inside[one.frame].append(one)
            elif not one.is_of_this_context():
                possible.append(one)
                unclear = one
        inner = [one for ones in inside.values() for one in ones]
        held = self._folded((*sure, *inner))
        return held, held if unclear is None else self._folded((*possible, *inner)), unclear

    def _folded(self, opened: tuple[Opened, ...]) -> V:
        if not opened:
            return self.base
        found = self.known.get(opened)
        if found is None:
            found = self.known[opened] = opened[-1].change.inside(self._folded(opened[:-1]))
        return found

    def value(self) -> V:
        """The value of the variable: a view, or a plain one if possible."""
        opened = [
            one for one in self.opened if one.token is None or one.frame is not None or not one.is_of_this_context()
        ]
        if any(one.token is not None for one in opened):
            return self.setting.view(Layers(self.setting, self.base, tuple(opened)))
        return self._folded(tuple(opened))


class Setting(Generic[V]):
    """The context variable that blocks of one kind change.

    `view` makes the value that inspects the frames, from its `layers`. The values of blocks have a `change` and an
    `outer`, which is None where no block is open.
    """

    def __init__(self, variable: ContextVar[V], view: Callable[[Layers[V]], V]) -> None:
        self.variable = variable
        self.view = view

    def _layers(self, value: V) -> Layers[V] | None:
        return cast(Any, value).layers if type(value) is self.view else None

    def open(self, change: Change[V], frame: FrameType) -> None:
        """Open a block that is entered in `frame`."""
        outer = self.variable.get()
        layers = self._layers(outer)
        generator = generator_of(frame, is_far=layers is not None)
        if layers is None and generator is None:
            self.variable.set(change.inside(outer))
            return
        layers = layers or Layers(self, outer, ())
        one = Opened(change, generator)
        if generator is not None:
            _of_generators.setdefault(generator, []).append(one)
        self.variable.set(Layers(self, layers.base, (*layers.opened, one)).value())

    def close(self, change: Change[V], frame: FrameType, error: type[BaseException] | None) -> None:
        """Close a block that is exited in `frame`, perhaps in another context.

        It need not be the innermost, nor open here, as a generator may be closed at any time and in any context.
        """
        value = self.variable.get()
        if getattr(value, "change", None) is change:
            self.variable.set(cast(Any, value).outer)
            return
        layers = self._layers(value)
        one = _of_running_generator(change, frame)
        if one is None and layers is not None:
            here = [each for each in layers.opened if each.change is change]
            # Otherwise the block belongs to a generator that ended before its context manager.
            one = next((each for each in reversed(here) if each.token is None), here[-1] if here else None)
        if one is not None:
            _forget(one)
        if layers is None:
            if one is None:
                self.variable.set(_without(value, change))
        elif one is None:
            self.variable.set(Layers(self, _without(layers.base, change), layers.opened).value())
        elif one in layers.opened:
            rest = tuple([each for each in layers.opened if each is not one])
            self.variable.set(Layers(self, layers.base, rest).value())
            return
        if one is not None and error is None:
            name, code = change.name, cast(CodeType, one.code)
            message = (
                f"{name}: the generator {one} went on in another context than that of its block, which did not hold "
                f"there. Let it have none: decorate its function, @xp.{name}(...)"
            )
            warnings.warn_explicit(message, RuntimeWarning, code.co_filename, one.line)


class Holding(Generic[V, T]):
    """A `with` block that makes a change; its target gets `given`."""

    __slots__ = ("_change", "_given", "_setting")

    def __init__(self, setting: Setting[V], change: Change[V], given: T) -> None:
        self._setting = setting
        self._change = change
        self._given = given

    def __enter__(self) -> T:
        self._setting.open(self._change, sys._getframe(1))
        return self._given

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._setting.close(self._change, sys._getframe(1), kind)


def _without(value: V, change: Change[V]) -> V:
    """The value without a block, which others may be nested in."""
    outer: V | None = getattr(value, "outer", None)
    if outer is None:
        return value
    if cast(Any, value).change is change:
        return outer
    rest = _without(outer, change)
    # A new value, as other contexts may refer to the old one. What it inherited from the closed block is dropped.
    return value if rest is outer else cast(Any, value).change.inside(rest)


def _of_running_generator(change: Change[Any], frame: FrameType) -> Opened | None:
    """The block that is exited in `frame`, if a generator opened it.

    If several have the same change, it is the innermost.
    """
    opened = {
        generator: one for generator, ones in list(_of_generators.items()) for one in ones if one.change is change
    }
    found = running(opened, frame)
    return opened[found[0]] if found else None


def _forget(one: Opened) -> None:
    """Close a block, and drop its reference to the generator's frame."""
    if one.frame is None:
        return
    # No other thread changes this list, as the generator runs here.
    ones = _of_generators[one.frame]
    ones.remove(one)
    if not ones:
        del _of_generators[one.frame]
    one.frame = None


def running(frames: Iterable[FrameType], frame: FrameType | None = None) -> list[FrameType]:
    """The generator frames that are on this call stack, innermost first."""
    # The frame of a suspended generator has no `f_back`; one that has may run in another thread.
    wanted = {one for one in frames if one.f_back is not None} if _MOVES_ALONE else set(frames)
    found: list[FrameType] = []
    here = frame or sys._getframe(1)
    while len(found) < len(wanted):
        if here in wanted:
            found.append(here)
        if here.f_back is None:
            break
        here = here.f_back
    return found


def generator_of(frame: FrameType, *, is_far: bool = False) -> FrameType | None:
    """The frame of the generator in which `frame` enters a block, or None.

    That is `frame` itself, or one on whose behalf it does. `is_far` searches all callers, for the innermost.
    """
    here: FrameType | None = frame
    while here is not None:
        code, caller = here.f_code, here.f_back
        if code.co_flags & SUSPENDS:
            if caller is not None and _delegates(caller, code):
                here = caller
            elif caller is not None and caller.f_globals.get("__name__") in DRIVERS:
                here = caller.f_back
            else:
                return here
        elif is_far or code.co_name in OPENERS:
            # A block that is entered without a `with` statement may outlive its callers; one that `Block` enters does
            # not.
            is_far = is_far or here.f_globals.get("__name__") != _BLOCKS
            here = caller
        else:
            return None
    return None


def _delegates(caller: FrameType, code: CodeType) -> bool:
    """Whether a caller is suspended whenever the generator that it resumes is.

    That is so for `yield from` and `await`. `async for` compiles to the same instruction, but resumes async generators
    only.
    """
    if not code.co_flags & inspect.CO_GENERATOR:
        return False
    at, instructions = caller.f_lasti, caller.f_code.co_code
    while at > 0 and instructions[at] == _CACHE:
        at -= 2
    return at >= 0 and instructions[at] == _SEND
