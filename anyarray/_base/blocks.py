"""Context managers for a `with` statement that also decorate functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar, cast

from anyarray._base import callers, errors
from anyarray._base.functions import is_any_of, qualified_name_of

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def block(opened: Callable[P, AbstractContextManager[T]]) -> Callable[P, Block[T]]:
    """A function that returns blocks, each with its own context manager.

    A block also decorates functions, as `contextlib.contextmanager` does, and coroutines and generators as well.
    """

    @functools.wraps(opened)
    def made(*args: P.args, **kwargs: P.kwargs) -> Block[T]:
        if args:  # what comes by name is checked when the block is entered
            try:
                inspect.signature(opened).bind(*args, **kwargs)
            except TypeError as error:
                name = opened.__name__
                text = f"{name}: {error}. Use it in a with statement: with xp.{name}(...):"
                raise errors.ArgumentTypeError(text) from None
        return Block(opened.__name__, functools.partial(opened, *args, **kwargs))

    return made


class Block(Generic[T]):
    """A block, opened by a `with` statement or by each call of a function."""

    def __init__(self, name: str, opened: Callable[[], AbstractContextManager[T]]) -> None:
        self._name = name
        self._opened = opened
        self._open: AbstractContextManager[T] | None = None
        self._is_used = False

    def __repr__(self) -> str:
        return f"anyarray.{self._name}(...)"

    def __del__(self) -> None:
        if not self._is_used:
            hint_at_use(f"xp.{self._name}(...)")

    def __enter__(self) -> T:
        if self._open is not None:
            raise RuntimeError(f"{self._name}: this block is open already. Make one for each with statement")
        self._is_used = True
        manager = self._opened()
        found = manager.__enter__()
        self._open = manager
        return found

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        manager, self._open = cast(AbstractContextManager[T], self._open), None
        return manager.__exit__(kind, error, trace)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        self._is_used = True
        return within(self._name, self._opened, function)


def hint_at_use(written: str, more: str = "") -> None:
    """Warn that a block was dropped before it had an effect."""
    text = f"{written} was dropped unused: it has an effect in a with statement or as a decorator{more}"
    callers.warn(text, RuntimeWarning)


def within(name: str, opened: Callable[[], AbstractContextManager[Any]], function: Callable[P, R]) -> Callable[P, R]:
    """`function`, called in a block; coroutines and generators resumed in one.

    Raises TypeError, which names the block, for a generator function or a class, whose code would run outside it.
    """
    if not callable(function):
        raise errors.ArgumentTypeError(f"{name}: decorates a function, not {type(function).__name__}")
    if inspect.isclass(function):
        raise errors.ArgumentTypeError(
            f"{name}: {qualified_name_of(function)} is a class, and only its construction would run in the block. "
            "Decorate its methods"
        )
    if is_any_of(function, inspect.isgeneratorfunction):

        @functools.wraps(function)
        def stepped(*args: P.args, **kwargs: P.kwargs) -> Generator[Any, Any, Any]:
            generator = cast(Any, function)(*args, **kwargs)
            resume = functools.partial(next, generator)
            try:
                while True:
                    is_over, value = _resumed_in(opened, resume)
                    if is_over:
                        return value
                    try:
                        resume = functools.partial(generator.send, (yield value))
                    except BaseException as error:  # noqa: BLE001 - it is the generator's, GeneratorExit too
                        resume = functools.partial(generator.throw, error)
            finally:
                del resume  # it may hold the error whose traceback holds this frame

        return cast(Callable[P, R], stepped)
    if is_any_of(function, inspect.isasyncgenfunction):

        @functools.wraps(function)
        async def stepped_later(*args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[Any, Any]:
            generator = cast(Any, function)(*args, **kwargs)
            resume = functools.partial(generator.asend, None)
            try:
                while True:
                    is_over, value = await _awaited_in(opened, resume)
                    if is_over:
                        return
                    try:
                        resume = functools.partial(generator.asend, (yield value))
                    except BaseException as error:  # noqa: BLE001 - as above
                        resume = functools.partial(generator.athrow, error)
            finally:
                del resume

        return cast(Callable[P, R], stepped_later)
    if is_any_of(function, inspect.iscoroutinefunction):

        @functools.wraps(function)
        async def awaited(*args: P.args, **kwargs: P.kwargs) -> Any:
            with opened():
                return await cast(Any, function)(*args, **kwargs)

        return cast(Callable[P, R], awaited)

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        with opened():
            return function(*args, **kwargs)

    return called


def _resumed_in(opened: Callable[[], AbstractContextManager[Any]], resume: Callable[[], Any]) -> tuple[bool, Any]:
    """Resume a generator in a block.

    Gives whether it is over, and what it returns or yields.
    """
    with opened():
        try:
            return False, resume()
        except StopIteration as end:
            return True, end.value
        finally:
            del resume  # as its caller does


async def _awaited_in(
    opened: Callable[[], AbstractContextManager[Any]], resume: Callable[[], Awaitable[Any]]
) -> tuple[bool, Any]:
    """Resume an async generator in a block.

    Gives whether it is over, and what it yields.
    """
    with opened():
        try:
            return False, await resume()
        except StopAsyncIteration:
            return True, None
        finally:
            del resume
