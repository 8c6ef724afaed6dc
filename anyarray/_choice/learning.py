"""Times of what ran, which correct what the profile predicts.

The ratio of a measured time to the predicted one is kept for each function, width of dtype and size, on each backend.
Noise only adds, so the least of the last few counts. `automatic` asks for a call to be timed where it is about to
decide on the word of the profile alone; nothing else is timed. What was learned is kept beside the profile when a
program ends well, and the next program starts from it.

The environment variable ANYARRAY_LEARN turns it "off": then decisions depend on the profile alone.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import math
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from anyarray._base import environment, files

if TYPE_CHECKING:
    from pathlib import Path

    from anyarray._choice.cost import Call

VARIABLE: Final = "ANYARRAY_LEARN"
TIMES: Final = 3
"""So many calls of a function and size are timed on a backend: the first may find its code out of the caches."""
AGREES: Final = 1.5
"""The factor within which a time agrees with what was predicted: then no other call is timed."""
MOST: Final = 100.0
"""The largest correction: a call beyond that was stopped, or the clock was."""
LONG: Final = 1.0
"""Seconds from which a call is checked on a part of its data, not by what all of it takes."""
TIMED_FROM: Final = 10.0
"""What is predicted to take this part of what a decision may win is timed: the profile may be so far off."""
EXPLORING: Final = 20.0
"""Calls must have taken this many times what it takes to try a part elsewhere: it adds a twentieth at most."""
CHANGED: Final = 1.15
"""The factor from which a correction makes decisions anew."""

Key = tuple[str, str, int]
"""Backend, function and width."""
clock: Callable[[], float] = time.perf_counter
"""A global, for tests on a simulated clock."""
_ratios: Final[dict[Key, dict[int, list[float]]]] = {}
"""The last ratios by key, and by the size of the call."""
_state: Final[dict[str, Any]] = {"is_changed": False, "file": None}


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
    found = _of(backend, call)
    if not found:
        return 1.0
    size = _size(call)
    return min(found[min(list(found), key=lambda one: abs(one - size))])  # other threads may add to it


def is_known(backend: str, call: Call) -> bool:
    """Whether a call like this was timed on a backend."""
    return _size(call) in _of(backend, call)


def is_wanted(backend: str, call: Call) -> bool:
    """Whether one more time would tell more."""
    times = _of(backend, call).get(_size(call), ())
    return is_on() and len(times) < TIMES and not any(1 / AGREES < one < AGREES for one in times)


def note(backend: str, call: Call, seconds: float, predicted: float) -> bool:
    """Note what a call took, and what the profile alone predicts.

    Returns whether predictions change by it.
    """
    before = factor(backend, call)
    ratio = min(max(seconds / max(predicted, 1e-9), 1 / MOST), MOST)
    times = _ratios.setdefault((backend, call.function, call.width), {}).setdefault(_size(call), [])
    times.append(ratio)
    del times[:-TIMES]
    _state["is_changed"] = True
    return not 1 / CHANGED < factor(backend, call) / before < CHANGED


def replace(backend: str, call: Call, ratio: float | None = None) -> None:
    """Set the ratio of a call; without one, mark it as known as it is."""
    found = factor(backend, call) if ratio is None else min(max(ratio, 1 / MOST), MOST)
    _ratios.setdefault((backend, call.function, call.width), {})[_size(call)] = [found]
    _state["is_changed"] = True


def forget() -> None:
    """Forget everything that was learned in this process."""
    _ratios.clear()
    _state.update(is_changed=False, file=None)


def load(profile: Path) -> None:
    """Start from what earlier programs learned beside this profile.

    Raises `files.UnusableError` for a file that tells nothing.
    """
    forget()
    if not is_on():
        return
    _state["file"], file = profile, _beside(profile)
    data = files.json_object(file)
    try:
        if data is not None and data["of"] == _digest(profile):
            for backend, function, width, size, ratio in data["ratios"]:
                if 1 / MOST <= ratio <= MOST:
                    _ratios.setdefault((str(backend), str(function), int(width)), {})[int(size)] = [float(ratio)]
    except OSError:
        pass  # the profile is gone
    except files.MALFORMED as error:
        _ratios.clear()
        raise files.malformed(file, error) from error


def _beside(profile: Path) -> Path:
    return profile.with_name(f"{profile.stem}-learned.json")


def _digest(profile: Path) -> list[int]:
    status = profile.stat()
    return [status.st_mtime_ns, status.st_size]


@atexit.register
def save() -> None:
    """Keep what was learned, if the program ended well."""
    profile, ended_badly = _state["file"], getattr(sys, "last_value", None) is not None
    if profile is None or ended_badly or not _state["is_changed"]:
        return
    import json

    rows = [[*key, size, round(min(times), 4)] for key, by in _ratios.items() for size, times in by.items()]
    # In a folder that cannot be written, or without room, the next program learns again.
    with contextlib.suppress(OSError), files.replacement(_beside(profile)) as (temporary, file):
        temporary.write_text(json.dumps({"of": _digest(profile), "ratios": rows}))
        os.replace(temporary, file)
