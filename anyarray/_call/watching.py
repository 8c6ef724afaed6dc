"""Recording the seconds of decided calls, each second once.

`explain` asks for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from anyarray._choice import cost, machine
from anyarray._choice.automatic import Decision


class _Thread(threading.local):
    recorded = 0.0
    """Seconds of all calls that were recorded in this thread."""


_thread: Final = _Thread()


class Stopwatch:
    """The seconds of a call, without those of calls recorded meanwhile."""

    __slots__ = ("_recorded", "_started")

    def __init__(self) -> None:
        self._recorded = _thread.recorded
        self._started = time.perf_counter()

    def seconds(self) -> float:
        """The seconds; to be asked once, when the call is recorded."""
        whole = time.perf_counter() - self._started
        inside = _thread.recorded - self._recorded
        _thread.recorded = self._recorded + whole
        return whole - inside


def started(decision: Decision, arrays: Sequence[Any], axis: cost.Axis) -> Stopwatch:
    """A stopwatch for a recorded call, which gets its prediction."""
    if not decision.alone:
        dtypes = tuple([a._home.dtype(a._value) for a in arrays])
        decision.alone = machine.prediction_of(decision.function, decision.shapes, dtypes, axis).seconds
    return Stopwatch()


def forget(record: list[Decision], decision: Decision) -> None:
    """Remove a decision from a record, where it is one of the last."""
    for at in reversed(range(len(record))):
        if record[at] is decision:
            del record[at]
            return


def record_chain(
    records: Sequence[list[Decision]], decision: Decision, seconds: float, file: str | None, line: int
) -> None:
    """Record calls that ran together.

    The last was made in this line of a file.
    """
    decision.seconds, decision.where = seconds, None if file is None else (file, line)
    _thread.recorded += seconds
    for one in records:
        one.append(decision)
