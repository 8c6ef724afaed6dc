"""Times of what ran, which correct what the profile predicts.

The ratio of a measured time to the predicted one is kept for each function, width of dtype and size, on each backend,
as long as the process lives. Noise only adds, so the least of the few times counts. `automatic` asks for a call to be
timed where it decides on the word of the profile alone; nothing else is timed.

The environment variable ANYARRAY_LEARN turns it "off": then decisions depend on the profile alone.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from anyarray._base import environment

if TYPE_CHECKING:
    from anyarray._choice.cost import Call

VARIABLE: Final = "ANYARRAY_LEARN"
TIMES: Final = 3
"""So many calls of a function and size are timed on a backend: the first may find its code out of the caches."""
AGREES: Final = 1.5
"""The factor within which a time agrees with what was predicted: then no other call is timed."""
MOST: Final = 100.0
"""The largest correction: a call beyond that was stopped, or the clock was."""
LONG: Final = 1.0
"""Seconds from which on a call moves on the word of the profile: to time it first would take too long."""
OFF: Final = 10.0
"""What is predicted to take a tenth of what a decision may win is timed: the profile may be so far off."""
CHANGED: Final = 1.15
"""The factor from which a correction makes decisions anew."""

clock: Callable[[], float] = time.perf_counter
"""A global, for tests on a simulated clock."""
_ratios: Final[dict[tuple[str, str, int], dict[int, list[float]]]] = {}
"""The ratios by backend, function and width, and by the size of the call."""


@functools.cache
def is_on() -> bool:
    """Whether times of what runs correct the predictions."""
    return not environment.is_off(VARIABLE)


def _size(call: Call) -> int:
    """A class of sizes: work within a factor of 8."""
    return round(math.log2(max(call.work.amount, 1.0)) / 3)


def _of(backend: str, call: Call) -> dict[int, list[float]]:
    return _ratios.get((backend, call.function, call.width), {})


def factor(backend: str, call: Call) -> float:
    """What a predicted time is multiplied by: that of the nearest size."""
    found, size = _of(backend, call), _size(call)
    return min(found[min(list(found), key=lambda one: abs(one - size))]) if found else 1.0  # other threads may add


def is_known(backend: str, call: Call) -> bool:
    """Whether a call like this was timed on a backend."""
    return _size(call) in _of(backend, call)


def is_wanted(backend: str, call: Call) -> bool:
    """Whether one more time would tell more."""
    times = _of(backend, call).get(_size(call), ())
    return is_on() and len(times) < TIMES and not any(1 / AGREES < one < AGREES for one in times)


def note(backend: str, call: Call, ratio: float) -> bool:
    """Note what a call took, as a multiple of what the profile predicts.

    Returns whether predictions change by it.
    """
    before = factor(backend, call)
    times = _ratios.setdefault((backend, call.function, call.width), {}).setdefault(_size(call), [])
    times.append(min(max(ratio, 1 / MOST), MOST))
    del times[:-TIMES]
    return not 1 / CHANGED < factor(backend, call) / before < CHANGED


def forget() -> None:
    """Forget everything that was learned in this process."""
    _ratios.clear()
