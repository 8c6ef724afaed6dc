"""Settings that `with` blocks change: the values of context variables.

They behave like `decimal.localcontext`. A block sets the variable on entry, so the change applies to its thread or
asyncio task and to tasks that start inside. Each value refers to its block and to the outer value, so blocks may end in
any order. As with any context variable, a block of a generator also applies to the caller while the generator is
suspended, because generators have no separate context. `blocks.within` opens a block around each step of a decorated
generator function instead.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Generic, TypeVar

V = TypeVar("V")
T = TypeVar("T")


defaults: Final[dict[ContextVar[Any], Any]] = {}
"""The context variables that hold settings, and their values outside all blocks."""


def variable(name: str, default: V) -> ContextVar[V]:
    """A new context variable of a setting."""
    made = ContextVar(name, default=default)
    defaults[made] = default
    return made


class Holding(Generic[V, T]):
    """A `with` block that changes the value of a context variable.

    Its target gets `given`. `change` takes the outer value and the block, and returns a value that stores them as
    `outer` and `block`.
    """

    __slots__ = ("_change", "_given", "_variable")

    def __init__(self, variable: ContextVar[V], change: Callable[[V, Any], V], given: T) -> None:
        self._variable = variable
        self._change = change
        self._given = given

    def inside(self, outer: V, /) -> V:
        """The value in the block."""
        return self._change(outer, self)

    def __enter__(self) -> T:
        self._variable.set(self.inside(self._variable.get()))
        return self._given

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        close(self._variable, self)


def close(variable: ContextVar[V], block: Any) -> None:
    """Close a block, which need not be the innermost.

    If a generator is closed elsewhere, the block may be open only in another context. Then nothing changes.
    """
    variable.set(_without(variable.get(), block))


def _without(value: Any, block: Any) -> Any:
    """The value without a block, which may contain other blocks."""
    outer = getattr(value, "outer", None)
    if outer is None:
        return value
    if value.block is block:
        return outer
    rest = _without(outer, block)
    # A new value, as other contexts may refer to the old one. What it inherited from the closed block is dropped.
    return value if rest is outer else value.block.inside(rest)
