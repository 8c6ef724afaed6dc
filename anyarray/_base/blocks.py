"""Context managers for a `with` statement that also decorate functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar, cast

from anyarray._base import errors
from anyarray._base.functions import is_any_of, qualified_name_of

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def block(opened: Callable[P, Generator[T]]) -> Callable[P, Block[T]]:
    """As `contextlib.contextmanager`, but it decorates coroutines, too.

    With `contextlib.contextmanager` a decorated coroutine function runs outside the block.
    """
    managed = contextmanager(opened)

    @functools.wraps(opened)
    def made(*args: P.args, **kwargs: P.kwargs) -> Block[T]:
        return Block(opened.__name__, functools.partial(managed, *args, **kwargs))

    return made


class Block(Generic[T]):
    """A block, opened by a `with` statement or by each call of a function."""

    def __init__(self, name: str, opened: Callable[[], AbstractContextManager[T]]) -> None:
        self._name = name
        self._opened = opened
        self._open: AbstractContextManager[T] | None = None

    def __enter__(self) -> T:
        if self._open is not None:
            raise RuntimeError(f"{self._name}: this block is open already. Make one for each with statement")
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
        return within(self._name, self._opened, function)


def within(name: str, opened: Callable[[], AbstractContextManager[Any]], function: Callable[P, R]) -> Callable[P, R]:
    """`function`, called in a block, and awaited in it if it is a coroutine.

    Raises TypeError, which names the block, for a generator function or a class, whose code would run outside it.
    """
    if not callable(function):
        raise errors.ArgumentTypeError(f"{name}: decorates a function, not {type(function).__name__}")
    if is_any_of(function, inspect.isgeneratorfunction, inspect.isasyncgenfunction):
        raise errors.ArgumentTypeError(
            f"{name}: {qualified_name_of(function)} is a generator function, which is suspended with the block open. "
            "Use a with block inside it"
        )
    if inspect.isclass(function):
        raise errors.ArgumentTypeError(
            f"{name}: {qualified_name_of(function)} is a class, of which only the making would run in the block. "
            "Decorate its methods"
        )
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
