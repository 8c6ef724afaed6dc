"""The time of a call: the first call, then the minimum of several rounds.

Each call is synchronized. Contestants alternate within a cell (an experiment at one size), so that a slow period of the
machine affects all of them; the result is the minimum of the rounds, as noise only adds time.
"""

from __future__ import annotations

import functools
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import anyarray
from anyarray import Backend
from anyarray._cli.experiments import Experiment, Host


@dataclass(frozen=True)
class Effort:
    """Limits on the time spent on a cell."""

    round_seconds: float
    """The minimum time of a round, which determines its number of calls."""
    rounds: int
    """The maximum number of rounds per contestant."""
    cell_seconds: float
    """Average time per contestant after which no round starts."""


LONGEST_SECONDS: Final = 3.0
"""Predicted time of a call above which it is left out."""

FULL: Final = Effort(round_seconds=0.002, rounds=100, cell_seconds=0.35)
QUICK: Final = Effort(round_seconds=0.001, rounds=30, cell_seconds=0.04)


@dataclass(frozen=True)
class Contestant:
    """What is timed: anyarray on a backend, or NumPy itself."""

    name: str
    backend: Backend | None
    """None for NumPy itself."""

    def call(self, experiment: Experiment, inputs: tuple[Host, ...]) -> Callable[[], Any]:
        """The call to time, which includes synchronization."""
        run = experiment.run
        if self.backend is None:
            return lambda: run(np, *inputs)
        if experiment.is_compiled:
            run = _compiled(run)
        synchronize = self.backend.hook("synchronize")
        here = tuple(anyarray.asarray(a) for a in inputs) if experiment.is_resident else inputs
        return lambda: synchronize(run(anyarray, *here)._native)

    def chosen(self) -> Any:
        """The `with` block in which its calls run."""
        return nullcontext() if self.backend is None else anyarray.backend(self.backend)


def _compiled(run: Callable[..., Any]) -> Callable[..., Any]:
    """The computation under `jit`, which takes arrays alone."""
    compiled = anyarray.jit(functools.partial(run, anyarray))
    return lambda _, *inputs: compiled(*inputs)


ITSELF: Final = Contestant("NumPy itself", None)
"""Compared with the backend numpy, it shows anyarray's overhead."""


@dataclass(frozen=True)
class Measurement:
    """The times of a contestant at a cell."""

    experiment: str
    size: int
    contestant: str
    seconds: float
    """Seconds per call: the minimum of the rounds."""
    first_call_seconds: float
    """Seconds of the first call at this size, which may include compilation."""
    calls: int
    """The number of timed calls, without the first one."""


@dataclass(frozen=True)
class Failure:
    """The error of a contestant at a cell."""

    experiment: str
    size: int
    contestant: str
    error: str


class _Runner:
    """A contestant's call at a cell, warmed up, and the calls per round."""

    def __init__(
        self, contestant: Contestant, experiment: Experiment, inputs: tuple[Host, ...], effort: Effort
    ) -> None:
        self.contestant = contestant
        with contestant.chosen():
            self._timer = timeit.Timer(contestant.call(experiment, inputs))
            self.first = self._timer.timeit(1)
            self._timer.timeit(1)  # in some libraries the second call is still slower
            self._loops, taken = self._enough_loops(effort.round_seconds)
        self.best = taken / self._loops
        self.calls = self._loops

    def _enough_loops(self, wanted: float) -> tuple[int, float]:
        """The number of calls that take the wanted time, and their time.

        As `Timer.autorange`, which always aims at 0.2 s.
        """
        for loops in _one_two_five():
            taken = self._timer.timeit(loops)
            if taken >= wanted:
                return loops, taken
        raise AssertionError("unreachable: the row of loops is endless")

    def round(self) -> None:
        with self.contestant.chosen():
            self.best = min(self.best, self._timer.timeit(self._loops) / self._loops)
        self.calls += self._loops


def _one_two_five() -> Iterator[int]:
    unit = 1
    while True:
        yield from (unit, 2 * unit, 5 * unit)
        unit *= 10


def measured(
    experiment: Experiment, size: int, contestants: Sequence[Contestant], dtype: np.dtype[Any], effort: Effort
) -> Iterator[Measurement | Failure]:
    """Time a cell: all contestants on the same inputs."""
    if not contestants:
        return
    inputs = experiment.inputs(np.random.default_rng(0), size, dtype)
    runners: list[_Runner] = []
    for contestant in contestants:
        try:
            runners.append(_Runner(contestant, experiment, inputs, effort))
        except Exception as error:  # noqa: BLE001 - whatever a library raises, the run continues
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            yield Failure(experiment.name, size, contestant.name, reason)
    end = time.perf_counter() + effort.cell_seconds * len(runners)
    for _ in range(effort.rounds):
        if time.perf_counter() > end:
            break
        for runner in runners:
            runner.round()
    for runner in runners:
        yield Measurement(experiment.name, size, runner.contestant.name, runner.best, runner.first, runner.calls)
