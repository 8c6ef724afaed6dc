"""Chains of calls on a library that compiles functions, or makes kernels.

A chain becomes one compiled function, by the hook `jit`, or one kernel, by the hook `fused`. To compile takes longer
than to run, by a factor of a hundred and more, and a function is to be compiled for each shape. So a chain first runs
one call after the other, and is compiled when these runs have taken as long as compiling would: a program then takes at
most twice the time of the better of the two. JAX compiles each single call for a new shape, too: what a chain of such a
form has taken at the last new shape is what to expect of the next.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final

from anyarray._lazy.tracing import Gathered
from anyarray._memory import devices
from anyarray._registry import registry
from anyarray._registry.home import Home, Native

PATIENCE: Final = 1.0
"""The multiple of the time of compiling that running one call after the other may take before."""
MOST: Final = 256
"""The most forms, and pairs of form and shapes, that are kept of a home, the latest used."""


class _Known:
    """What is known of chains of a form, for arrays of some shapes."""

    __slots__ = ("has_run", "is_refused", "run", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        """What running one call after the other has taken, or is expected to take the first time."""
        self.has_run = False
        self.run: Callable[[Sequence[Native]], list[Native]] | None = None
        self.is_refused = False
        """Whether it could not be compiled."""


class Forms:
    """The chains that were run on a home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._backend = home.backend
        self._makes_kernels = self._backend.has_hook("fused")
        """Whether a chain becomes a kernel, for arrays of all shapes."""
        self._known: OrderedDict[Any, _Known] = OrderedDict()
        self._first: OrderedDict[Any, float] = OrderedDict()
        """The seconds that a form took the first time at the latest new shape."""
        self.compiling = 0.1
        """The seconds that compiling a chain takes: a moving average."""

    def values(self, chain: Gathered, wanted: Sequence[Any]) -> list[Native]:
        """The values of calls in a chain."""
        arrays = [one.value if hasattr(one, "value") else one for one in chain.arrays]
        results = tuple([chain.names[id(x)] for x in wanted])
        dtypes = tuple(map(self._home.dtype_of, arrays))
        form = (
            tuple([(x.function, x.dtype if x.function == "astype" else None) for x in chain.calls]),
            tuple(chain.operands), dtypes, results,
        )  # fmt: skip
        key = (form, () if self._makes_kernels else tuple(map(self._home.shape_of, arrays)))
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
            return self._one_by_one(chain, arrays, results)
        if len(chain.calls) == 1 or known.is_refused:
            return self._one_by_one(chain, arrays, results)
        started = time.perf_counter()
        if known.seconds >= PATIENCE * self.compiling:
            try:
                found = self._compiled(chain, results, known, arrays)
            except Exception as error:  # noqa: BLE001 - the single calls raise what is wrong with them
                known.is_refused = not registry.is_out_of_memory(error)
            else:
                self.compiling += (time.perf_counter() - started - self.compiling) / 4
                return found
            started = time.perf_counter()
        found = self._one_by_one(chain, arrays, results)
        for one in found:
            self._home.synchronize(one)
        seconds = time.perf_counter() - started
        if known.has_run:
            known.seconds += seconds
        else:
            known.has_run, known.seconds = True, _put(self._first, form, seconds)
        return found

    def _scoped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        scoped: Callable[..., Any] = self._backend.hook("scoped")(function, self._backend.native_device)
        return scoped

    def _compiled(
        self, chain: Gathered, results: Sequence[str], known: _Known, arrays: Sequence[Native]
    ) -> list[Native]:
        """The values, by a function that is compiled now."""
        made = self._kernel(chain, results, arrays) if self._makes_kernels else self._traced(chain, results)
        run = self._scoped(made)
        if len(results) == 1:
            known.run = lambda given: [run(*given)]
        else:
            known.run = lambda given: list(run(*given))
        try:
            return known.run(arrays)
        except BaseException:
            known.run = None
            raise

    def _kernel(self, chain: Gathered, results: Sequence[str], arrays: Sequence[Native]) -> Callable[..., Any]:
        """A kernel that computes the results."""
        dtypes = tuple(map(self._home.dtype_of, arrays))
        kernel: Callable[..., Any] = self._backend.hook("fused")(chain.steps(dtypes), dtypes, tuple(results))
        return kernel

    def _traced(self, chain: Gathered, results: Sequence[str]) -> Callable[..., Any]:
        """A function that computes the results, compiled at its first call."""
        home = self._home
        calls = [
            (getattr(home, x.function), operands, [x.dtype] if x.function == "astype" else [])
            for x, operands in zip(chain.calls, chain.operands, strict=True)
        ]

        def traced(*xs: Native) -> Any:
            values = {f"x{number}": x for number, x in enumerate(xs)}
            for number, (function, operands, more) in enumerate(calls):
                values[f"v{number}"] = function(*[values[name] for name in operands], *more)
            found = [values[name] for name in results]
            return found[0] if len(found) == 1 else found

        compiled: Callable[..., Any] = self._backend.hook("jit")(traced)
        return compiled

    def _one_by_one(self, chain: Gathered, arrays: Sequence[Native], results: Sequence[str]) -> list[Native]:
        """The values, by one call after the other.

        Those that nobody needs any more are given up on the way.
        """
        values = {f"x{number}": x for number, x in enumerate(arrays)}
        last = {name: number for number, operands in enumerate(chain.operands) for name in operands}
        for number, (call, operands) in enumerate(zip(chain.calls, chain.operands, strict=True)):
            more = [call.dtype] if call.function == "astype" else []
            function = getattr(self._home, call.function)
            try:
                values[f"v{number}"] = devices.tried(call.function, function, *[values[one] for one in operands], *more)
            except Exception as error:
                error.add_note(f"{call.function} was called at {call.where()}, and put off")
                raise
            for name in set(operands):
                if last[name] == number and name not in results and name[0] == "v":
                    del values[name]
        return [values[name] for name in results]


def _put(table: OrderedDict[Any, Any], key: Any, value: Any) -> Any:
    """The value, kept as the latest of at most `MOST`."""
    table[key] = value
    table.move_to_end(key)
    if len(table) > MOST:
        table.popitem(last=False)
    return value
