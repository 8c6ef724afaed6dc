"""Functions that users pass in: checks, names for messages, wrappers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from anyarray._base import errors

P = ParamSpec("P")
R = TypeVar("R")


def wraps(function: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """As `functools.wraps`, but AutoGraph leaves the wrapper as it is."""

    def named(made: Callable[P, R]) -> Callable[P, R]:
        functools.update_wrapper(made, function)
        # AutoGraph, which rewrites functions called in a tf.function, does not rewrite one with this attribute.
        made.autograph_info__ = None  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]
        return made

    return named


def check_is_function(name: str, function: Any) -> None:
    """Raise TypeError unless it is callable and not a generator function."""
    if not callable(function):
        raise errors.ArgumentTypeError(f"{name}: f must be a function, not {type(function).__name__}")
    if is_any_of(function, inspect.isgeneratorfunction, inspect.isasyncgenfunction):
        raise errors.ArgumentTypeError(
            f"{name}: f must be a function that returns its result, not the generator function {name_of(function)}. "
            "Decorate the function that makes each value"
        )


def publish(module: str, names: Iterable[str], where: Mapping[str, Any]) -> None:
    """Name a public module as that of functions and classes.

    `help`, pickles and tracebacks then show that module instead of the private one.
    """
    for name in names:
        found = where.get(name)
        if getattr(found, "__module__", "").startswith("anyarray.") and hasattr(found, "__qualname__"):
            found.__module__ = module


def is_async(function: Callable[..., Any]) -> bool:
    """Whether it is a coroutine function."""
    return is_any_of(function, inspect.iscoroutinefunction)


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, for messages."""
    return getattr(function, "__name__", type(function).__name__)


def is_any_of(function: Any, *kinds: Callable[[Any], bool]) -> bool:
    """Whether any of `kinds` holds for a function or its `__call__`."""
    return any(is_kind(function) or is_kind(type(function).__call__) for is_kind in kinds)


def qualified_name_of(function: Callable[..., Any]) -> str:
    """The qualified name of a function, for messages; a partial's repr."""
    return getattr(function, "__qualname__", None) or repr(function)
