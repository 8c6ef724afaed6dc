"""Timing in turns: the entries of a row take short rounds one after the other, and the least round of each counts.

A slow spell of a busy machine so hits all entries alike, and some round of each is left alone.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

ROUND_SECONDS: Final = 5e-4
"""About the length of a round: shorter than the slice of time that a busy machine gives."""


@dataclass(frozen=True)
class Entry:
    """An expression, the names in it, and the block that is open around its rounds."""

    expression: str
    names: Mapping[str, Any] = field(default_factory=dict[str, Any])
    block: Callable[[], AbstractContextManager[Any]] = nullcontext


def seconds_of(entries: Mapping[str, Entry], *, seconds: float) -> dict[str, float]:
    """Seconds that each expression takes, by the names of the entries, which share `seconds` for each of them."""
    timers = {name: timeit.Timer(entry.expression, globals=dict(entry.names)) for name, entry in entries.items()}
    loops: dict[str, int] = {}
    least: dict[str, float] = {}
    for name, timer in timers.items():
        with entries[name].block():
            timer.timeit(20)  # compiles, fills caches
            guess = timer.timeit(20) / 20
            loops[name] = max(1, round(ROUND_SECONDS / guess))
            least[name] = guess
    end = time.perf_counter() + seconds * len(timers)
    while time.perf_counter() < end:
        for name, timer in timers.items():
            with entries[name].block():
                least[name] = min(least[name], timer.timeit(loops[name]) / loops[name])
    return least
