"""What the calls of a program took, added up by line."""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from anyarray._call import watching
from anyarray._call.watching import Line
from anyarray._choice import cost
from anyarray._choice.automatic import Decision

CHAINED: Final = 11
"""Elementwise calls of the chain that `calibrate` measures compiled."""


@dataclass
class Alike:
    """Calls of one function with the same shapes in a line, on one backend."""

    first: float
    """Seconds of the first, which may compile."""
    least: float = math.inf
    """The least of the others."""

    @property
    def compiling(self) -> float:
        """Seconds that the first took longer than the others."""
        return 0.0 if math.isinf(self.least) else max(0.0, self.first - self.least)


@dataclass
class Spent:
    """What the calls of a line, or of all lines, took."""

    seconds: float = 0.0
    backends: Counter[str] = field(default_factory=Counter[str])
    """Calls by backend."""
    compiling: float = 0.0
    """Measured seconds that first calls took longer than others alike."""
    known: int = 0
    """Calls that are predicted on each measured backend."""
    took: float = 0.0
    """Measured seconds of these."""
    here: float = 0.0
    """Predicted seconds of these where they ran, transfers included."""
    there: dict[str, float] = field(default_factory=dict[str, float])
    """Predicted seconds of these if all ran on one backend, by its name."""
    jitted: dict[str, float] = field(default_factory=dict[str, float])
    """The same if elementwise calls ran in compiled functions there, and others where they ran."""

    @property
    def calls(self) -> int:
        """The number of calls."""
        return self.backends.total()

    def predict(self, one: Decision, model: cost.Model, elementwise: int) -> None:
        """Add predictions of a call, or of so many elementwise ones."""
        here = one.alone[one.home.backend.name] + one.transferred
        self.here += here
        elements = max([math.prod(shape) for shape in one.shapes], default=1) if elementwise else 0
        for name, costs in model.backends.items():
            its = here
            if elementwise and costs.fused is not None:
                its = min(here, costs.fused(elements) / CHAINED * elementwise)
            self.there[name] = self.there.get(name, 0.0) + one.alone[name]
            self.jitted[name] = self.jitted.get(name, 0.0) + its

    def correct(self, recording: float, least: float) -> None:
        """Take away what recording adds to each call, but not the least."""
        self.seconds = max(least * self.calls, self.seconds - recording * self.calls)
        self.took = max(least * self.known, self.took - recording * self.known)

    def add(self, other: Spent) -> None:
        """Add what others took."""
        self.seconds += other.seconds
        self.backends.update(other.backends)
        self.compiling += other.compiling
        self.known += other.known
        self.took += other.took
        self.here += other.here
        for mine, its in ((self.there, other.there), (self.jitted, other.jitted)):
            for name, seconds in its.items():
                mine[name] = mine.get(name, 0.0) + seconds


class Record(watching.Calls):
    """The calls of a program. All but the latest are added up by line."""

    WAITING: Final = 4096
    """Calls that are kept before they are added up."""

    def __init__(self, model: cost.Model | None) -> None:
        super().__init__()
        self.model = model
        self._lines: dict[Line, Spent] = {}
        self._alike: dict[tuple[Any, ...], Alike] = {}

    def append(self, decision: Decision, /) -> None:
        super().append(decision)
        if len(self) >= self.WAITING:
            self._add_up()

    def by_line(self) -> dict[Line, Spent]:
        """What each line took."""
        self._add_up()
        for (line, *_), alike in self._alike.items():
            self._lines[line].compiling += alike.compiling
        self._alike.clear()
        return self._lines

    def _add_up(self) -> None:
        done = [one for one in self if one.seconds is not None]
        self[:] = [one for one in self if one.seconds is None]  # they still run
        for one in done:
            line, here, seconds = one.where or ("?", 0), one.home.backend.name, one.seconds or 0.0
            spent = self._lines.get(line)
            if spent is None:
                spent = self._lines[line] = Spent()
            count, is_elementwise = _calls_of(one.function)
            spent.seconds += seconds
            spent.backends[here] += count
            if one.alone and self.model is not None and {here, *self.model.backends} <= one.alone.keys():
                spent.known += count
                spent.took += seconds
                spent.predict(one, self.model, count if is_elementwise else 0)
            if here != cost.NUMPY:
                key = line, one.function, one.shapes, here
                alike = self._alike.get(key)
                if alike is None:
                    self._alike[key] = Alike(seconds)
                else:
                    alike.least = min(alike.least, seconds)


@functools.lru_cache
def _calls_of(function: str) -> tuple[int, bool]:
    """How many calls a decision is about, of which a chain has several.

    And whether all are elementwise.
    """
    parts = [part.rpartition(" ") for part in function.split(", ")]
    kinds = [cost.class_of.get(name) for *_, name in parts]
    is_elementwise = all(kind is not None and cost.CLASSES[kind].is_elementwise for kind in kinds)
    return sum([int(count or 1) for count, *_ in parts]), is_elementwise
