"""Runs a graph of recorded calls on a library that compiles or fuses.

A graph becomes one compiled function, by the hook `jit`, or one kernel, by the hook `fused`. Compiling takes at least a
hundred times as long as a run, and a function is compiled for each shape. So a graph first runs call by call. It is
compiled when these runs have taken as long as the compilation would: a program then takes at most twice the time of the
better way. JAX also compiles each single call for a new shape: the time of a graph of this form at the last new shape
is the estimate for the next.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from anyarray._base.extension import speedups
from anyarray._memory import devices
from anyarray._registry import registry
from anyarray._registry.home import Home, Native, Step

PATIENCE: Final = 1.0
"""The time that runs call by call may take before compiling, as a multiple of the compile time."""
MOST: Final = 256
"""The largest number of cached forms, and of cached pairs of form and shapes, of a home."""


class Graph(NamedTuple):
    """Recorded calls with all calls that they depend on, in order."""

    calls: tuple[tuple[str, tuple[str, ...], Any], ...]
    """The function of each call, its operands as in a `Step`, and the native dtype of its result."""
    arrays: tuple[Native, ...]
    """The input arrays: `x0`, `x1` ..."""
    results: list[str]
    """The names of the results that are needed."""
    nodes: list[Any]
    """The recorded calls of these results."""
    origins: list[Any]
    """The recorded call of each step."""

    @classmethod
    def of(cls, *targets: Any) -> Graph:
        """The graph of recorded calls of one shape.

        Computed calls are inputs of it.
        """
        calls, *more = speedups.graph(targets)
        return cls(tuple(calls), *more)

    def steps(self, dtypes: Sequence[Any]) -> tuple[Step, ...]:
        """The calls in the form of the hook `fused`.

        `dtypes` are those of the arrays.
        """
        known = {f"x{number}": dtype for number, dtype in enumerate(dtypes)}
        found: list[Step] = []
        for number, (function, operands, dtype) in enumerate(self.calls):
            found.append(Step(function, operands, tuple([known[name] for name in operands]), dtype))
            known[f"v{number}"] = dtype
        return tuple(found)


class _Known:
    """Compiled code and times of graphs of a form and shapes."""

    __slots__ = ("has_run", "is_refused", "run", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        """The time that runs call by call have taken, or are expected to take the first time."""
        self.has_run = False
        self.run: Callable[[Sequence[Native]], list[Native]] | None = None
        self.is_refused = False
        """Whether it could not be compiled."""


class Compiler:
    """Runs graphs on a home, and caches what it compiled."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._backend = home.backend
        self._makes_kernels = self._backend.has_hook("fused")
        """Whether a graph becomes a kernel, for arrays of all shapes."""
        self._known: OrderedDict[Any, _Known] = OrderedDict()
        self._first: OrderedDict[Any, float] = OrderedDict()
        """The seconds of the first run of a form at its latest new shape."""
        self.compiling = 0.1
        """The seconds that compiling a graph takes: a moving average."""

    def values(self, graph: Graph, at_once: bool = False) -> list[Native]:
        """The results of a graph; `at_once` compiles it now."""
        arrays = graph.arrays
        form = graph.calls, tuple(map(self._home.dtype_of, arrays)), tuple(graph.results)
        key = form, () if self._makes_kernels else tuple(map(self._home.shape_of, arrays))
        known = self._known.get(key)
        if known is None:
            known = _put(self._known, key, _Known(self._first.get(form, 0.0)))
        else:
            self._known.move_to_end(key)
        if known.run is not None:
            try:
                return known.run(arrays)
            except Exception as error:
                if not registry.is_out_of_memory(error):
                    raise
            return self._one_by_one(graph)
        if len(graph.calls) == 1 or known.is_refused:
            return self._one_by_one(graph)
        started = time.perf_counter()
        if at_once or known.seconds >= PATIENCE * self.compiling:
            try:
                run = self.compiled(graph)
                found = run(arrays)
            except Exception as error:  # noqa: BLE001 - the single calls raise what is wrong with them
                known.is_refused = not registry.is_out_of_memory(error)
            else:
                known.run = run
                self.compiling += (time.perf_counter() - started - self.compiling) / 4
                return found
            started = time.perf_counter()
        found = self._one_by_one(graph)
        for one in found:
            self._home.synchronize(one)
        seconds = time.perf_counter() - started
        if known.has_run:
            known.seconds += seconds
        else:
            known.has_run, known.seconds = True, _put(self._first, form, seconds)
        return found

    def compiled(self, graph: Graph) -> Callable[[Sequence[Native]], list[Native]]:
        """A function of the arrays that returns results, compiled lazily."""
        backend, is_one = self._backend, len(graph.results) == 1
        made = self._kernel(graph) if self._makes_kernels else self._function(graph)
        run = backend.hook("scoped")(made, backend.native_device)
        return (lambda given: [run(*given)]) if is_one else (lambda given: list(run(*given)))

    def _kernel(self, graph: Graph) -> Callable[..., Any]:
        """A kernel that computes the results."""
        dtypes = tuple(map(self._home.dtype_of, graph.arrays))
        kernel: Callable[..., Any] = self._backend.hook("fused")(graph.steps(dtypes), dtypes, tuple(graph.results))
        return kernel

    def _function(self, graph: Graph) -> Callable[..., Any]:
        """A function that computes the results, compiled at its first call."""
        calls, results = graph.calls, graph.results

        def traced(*arrays: Native) -> Any:
            values = {f"x{number}": x for number, x in enumerate(arrays)}
            for number, call in enumerate(calls):
                values[f"v{number}"] = self._called(call, values)
            return values[results[0]] if len(results) == 1 else [values[name] for name in results]

        compiled: Callable[..., Any] = self._backend.hook("jit")(traced)
        return compiled

    def _one_by_one(self, graph: Graph) -> list[Native]:
        """The results, computed call by call.

        Values that no later call needs are freed on the way.
        """
        values = {f"x{number}": x for number, x in enumerate(graph.arrays)}
        last = {name: number for number, call in enumerate(graph.calls) for name in call[1]}
        for number, call in enumerate(graph.calls):
            try:
                values[f"v{number}"] = devices.tried(call[0], self._called, call, values)
            except Exception as error:
                file, line = graph.origins[number].where
                error.add_note(f"{call[0]} was called at {file}:{line}, and recorded")
                raise
            for name in set(call[1]):
                if last[name] == number and name not in graph.results and name[0] == "v":
                    del values[name]
        return [values[name] for name in graph.results]

    def _called(self, call: tuple[str, tuple[str, ...], Any], values: dict[str, Native]) -> Native:
        function, operands, dtype = call
        more = [dtype] if function == "astype" else []
        return getattr(self._home, function)(*[values[name] for name in operands], *more)


compilers: Final[dict[Home, Compiler]] = {}


def compiler_of(home: Home) -> Compiler:
    """The compiler of a home."""
    found = compilers.get(home)
    if found is None:
        found = compilers[home] = Compiler(home)
    return found


def _put(table: OrderedDict[Any, Any], key: Any, value: Any) -> Any:
    """The value, cached as the latest of at most `MOST`."""
    table[key] = value
    table.move_to_end(key)
    if len(table) > MOST:
        table.popitem(last=False)
    return value
