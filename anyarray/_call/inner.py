"""Homes of arrays that stand for values while a function runs.

An `Inner` home lies over another, on the same backend. Its own arrays count as traced: they have no values that the
host could read, a call that gets one runs here, and one that is kept after the function has returned is of no use.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NoReturn

from anyarray._base import errors
from anyarray._registry.home import Home, Native


class Standing:
    """A native array of an inner home."""

    __slots__ = ("__weakref__", "home")

    home: Inner

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        self.home.refuse("asarray")

    def __getattr__(self, name: str) -> NoReturn:
        self.home.refuse(name)


class Inner(Home):
    """A home over another, `below`, whose constants and dtypes it shares."""

    refusal: type[Exception] = errors.UnsupportedError
    """The error for what cannot be done here."""
    refused = "has no value yet"

    def __init__(self, below: Home) -> None:
        # Home's __init__ is not called: the lookup tables of dtypes and 0-d constants are those of the home below.
        self.backend = below.backend
        self.placed = below.placed
        self.has_views = False
        self.dtypes = below.dtypes
        self.latest_dtype = below.latest_dtype
        self.constants = below.constants
        self.powers = below.powers
        self.scalars = below.scalars
        self.below = below
        self.depth = below.depth + 1
        self.is_refused = False
        """Whether `refuse` was called, also if the function caught the error."""
        self.is_open = False
        """Whether the function is running. Afterwards the arrays have no value."""

    @contextmanager
    def open(self) -> Generator[None]:
        """The context in which the function runs."""
        self.is_open = True
        try:
            yield
        finally:
            self.is_open = False

    def refuse(self, function: str) -> NoReturn:
        """Raise `refusal`; TraceError if the function has returned."""
        if not self.is_open:
            raise errors.leaked(function)
        self.is_refused = True
        raise self.refusal(f"{function}: {self.refused}")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = self.__dict__[name] = self.lookup(name)
        return function

    def holds(self, x: Any) -> bool:
        """Whether `x` is an array of this home, and not of the one below."""
        return isinstance(x, Standing) and x.home is self

    def is_within(self, value: Any) -> bool:
        """The same of any array in a tuple or list."""
        return any(map(self.is_within, value)) if isinstance(value, (tuple, list)) else self.holds(value)

    def is_traced(self, x: Native) -> bool:
        """Whether `x` has no value that the host could read."""
        return self.holds(x) or bool(self.below.is_traced(x))

    def synchronize(self, x: Native) -> None:
        """Does nothing: the values are those of the home below."""

    def shape_of(self, x: Native) -> tuple[int, ...]:
        """Shape as the function sees it."""
        raise NotImplementedError

    def lengths_of(self, x: Native) -> tuple[int, ...]:
        """The same."""
        return self.shape_of(x)

    def count_of(self, x: Native) -> int:
        """Length of the first axis. Raises TypeError if there is none."""
        shape = self.shape_of(x)
        if not shape:
            raise TypeError("it has no axes")
        return shape[0]
