"""A function of elementwise calls as one kernel, for `xp.jit`.

The function runs once on a home whose arrays have no values, and which records the calls. Anything else, such as a
reduction, a write or a read by the host, is refused: the caller then runs the function uncompiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._call.inner import Inner, Standing
from anyarray._lazy.compiler import Graph, compiler_of
from anyarray._registry.home import Constants, Home, Native

MOST: Final = 64
"""The largest number of calls in a kernel: compile time grows faster than the number of calls."""


class Traced(Standing):
    """An array of a function that is traced."""

    __slots__ = ("dtype", "name", "shape")

    base = None

    def __init__(self, home: Tracing, name: str, shape: tuple[int, ...], dtype: Any) -> None:
        self.home, self.name, self.shape, self.dtype = home, name, shape, dtype


class Tracing(Inner):
    """A home that records elementwise calls and refuses all others."""

    def __init__(self, below: Home) -> None:
        super().__init__(below)
        self._fusible: Callable[..., Any] = self.backend.hook("fusible")
        self.constants = Constants(self)
        self._arrays: list[Native] = []
        self._calls: list[tuple[str, tuple[str, ...], Any]] = []

    def constant(self, value: Any, name: str, function: str = "asarray") -> Native:
        return self.given(self.below.constants.named(value, name))

    def given(self, x: Native) -> Traced:
        """An array of the underlying home, as one of this home."""
        self._arrays.append(x)
        name = f"x{len(self._arrays) - 1}"
        return Traced(self, name, tuple(self.below.shape_of(x)), self.below.dtype_of(x))

    def lookup(self, name: str) -> Callable[..., Any]:
        below = getattr(self.below, name)

        def noted(*args: Any, **kwargs: Any) -> Any:
            if not self.is_within((*args, *kwargs.values())):
                return below(*args, **kwargs)
            operands = args[:1] if name == "astype" else args
            if not self.is_open or kwargs or not all(map(self.holds, operands)) or len(self._calls) == MOST:
                self.refuse(name)
            try:
                shape = np.broadcast_shapes(*[one.shape for one in operands])
            except ValueError:
                self.refuse(name)
            dtype = self._fusible(name, tuple([one.dtype for one in operands]), *args[len(operands) :])
            # A kernel would compute a smaller result again for each element of a larger one.
            if dtype is None or any(one.name[0] == "v" and one.shape != shape for one in operands):
                self.refuse(name)
            self._calls.append((name, tuple([one.name for one in operands]), dtype))
            return Traced(self, f"v{len(self._calls) - 1}", shape, dtype)

        return noted

    def kernel(self, results: list[Traced], count: int) -> Callable[..., list[Native]] | None:
        """The results as a function of the first given arrays.

        None unless they have one shape and come from several calls.
        """
        names = list(dict.fromkeys([one.name for one in results if one.name[0] == "v"]))
        if len(self._calls) < 2 or len({one.shape for one in results if one.name[0] == "v"}) != 1:
            return None
        graph = Graph(tuple(self._calls), tuple(self._arrays), names, [], [])
        run, constants = compiler_of(self.below).compiled(graph), self._arrays[count:]

        def called(*natives: Native) -> list[Native]:
            values = dict(zip(names, run([*natives, *constants]), strict=True))
            return [values[one.name] if one.name[0] == "v" else natives[int(one.name[1:])] for one in results]

        return called

    def shape_of(self, x: Native) -> tuple[int, ...]:
        shape: tuple[int, ...] = x.shape if self.holds(x) else self.below.shape_of(x)
        return shape

    def dtype_of(self, x: Native) -> Any:
        """The dtype, as on the underlying home."""
        return x.dtype if self.holds(x) else self.below.dtype_of(x)

    def base_of(self, x: Native) -> Any:
        """The base of a view; None for other arrays."""
        return None if self.holds(x) else self.below.base_of(x)
