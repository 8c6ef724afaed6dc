"""Timing in turns: of each entry the least of its short rounds counts.

The entries of a row take these rounds one after the other. A slow spell of a busy machine so hits all entries alike,
and some round of each is left alone.
"""

from __future__ import annotations

import random
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

ROUND_SECONDS: Final = 5e-4
"""About the length of a round: shorter than the slice of time that a busy machine gives."""


@dataclass(frozen=True)
class Entry:
    """An expression, the names in it, and the block around its rounds."""

    expression: str
    names: Mapping[str, Any] = field(default_factory=dict[str, Any])
    block: Callable[[], AbstractContextManager[Any]] = nullcontext
    fresh: Callable[[int], Sequence[Any]] | None = None
    """Makes so many values, each for one run of the expression, which has it as `a`; untimed."""
    least: int = 1
    """Runs in a round, however long they take: more than one where a library's threads sleep between others' turns."""
    most: int = 1_000_000
    """The same, however short they are."""

    def seconds(self, runs: int) -> float:
        """Seconds of so many runs, all together."""
        if self.fresh is None:
            return timeit.timeit(self.expression, globals=dict(self.names), number=runs)
        # The entry before may have left nothing of ours in the processor's caches.
        names = {**self.names, "values": self.fresh(runs), "others": self.fresh(runs)}
        loop = f"for a in {{}}: {self.expression}"
        return timeit.timeit(loop.format("values"), loop.format("others"), globals=names, number=1)


def seconds_of(entries: Mapping[str, Entry], *, seconds: float) -> dict[str, float]:
    """Seconds that each expression takes, by the names of the entries.

    They share the time: `seconds` for each entry.
    """
    runs: dict[str, int] = {}
    least: dict[str, float] = {}
    for name, entry in entries.items():
        with entry.block():
            few = min(20, entry.most)
            entry.seconds(few)  # compiles, fills caches
            guess = entry.seconds(few) / few
            runs[name] = min(entry.most, max(entry.least, round(ROUND_SECONDS / guess)))
            least[name] = guess
    order = random.Random(0)
    end = time.perf_counter() + seconds * len(entries)
    while time.perf_counter() < end:
        # In any order: what copies a hundred megabytes leaves whoever follows with cold caches.
        for name in order.sample(list(entries), len(entries)):
            entry = entries[name]
            with entry.block():
                least[name] = min(least[name], entry.seconds(runs[name]) / runs[name])
    return least
