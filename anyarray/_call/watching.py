"""Recording what calls take: each second once, and on request every call.

`explain` records what is decided. `doctor` records calls whose backend is chosen, too: while it does, blocks make a
`Watched` choice, which neither compiled nor generated fast paths know, so that each call is made by `dispatch`.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final

from anyarray._base import callers
from anyarray._choice import accounts, automatic, choice, cost, machine
from anyarray._choice.automatic import Decision
from anyarray._choice.choice import Automatic, Choice
from anyarray._choice.machine import Prediction
from anyarray._registry import registry
from anyarray._registry.home import Home
from anyarray._registry.registry import Backend

Line = tuple[str, int]
"""A file of the user's, and a line in it."""


class _Thread(threading.local):
    recorded = 0.0
    """Seconds of all calls that were recorded in this thread."""


_thread: Final = _Thread()
_NUMPY: Final = registry.backend_of_name("numpy").free


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


def forget(record: list[Decision], decision: Decision) -> None:
    """Remove a decision from a record, where it is one of the last."""
    for at in reversed(range(len(record))):
        if record[at] is decision:
            del record[at]
            return


class Calls(list[Decision]):
    """A record of all calls. Those of a chain are recorded by line."""

    def __init__(self) -> None:
        super().__init__()
        self.ran_elsewhere: dict[Line, float] = {}
        """Seconds of calls of chains that ran in other lines than they were made in.

        Below zero where they ran.
        """

    def add_chain(self, chain: Decision, parts: Mapping[Line | None, Decision]) -> None:
        """Add a chain that runs now, by the lines of its calls."""
        ran_at = here()
        for line, part in parts.items():
            part.where = line or chain.where
            self.append(part)
            for one, sign in ((part.where, 1.0), (ran_at, -1.0)):
                if one is not None:
                    self.ran_elsewhere[one] = self.ran_elsewhere.get(one, 0.0) + sign * (part.seconds or 0.0)


def record(records: Sequence[list[Decision]], decision: Decision) -> None:
    """Record a call whose seconds are known."""
    _thread.recorded += decision.seconds or 0.0
    for one in records:
        one.append(decision)


def record_chain(
    records: Sequence[list[Decision]],
    calls: Sequence[tuple[str, Any, str | None, int]],
    elements: int,
    predictions: Sequence[Prediction],
    seconds: float,
) -> None:
    """Record a chain: as one decision, but in `Calls` as one for each line."""
    _thread.recorded += seconds

    def of(made: Sequence[tuple[int, str]]) -> Decision:
        its = [predictions[at] for at, _ in made]
        found = automatic.of_chain([name for _, name in made], elements, its)
        found.seconds = seconds * weight(its) / weight(predictions)
        return found

    def weight(its: Sequence[Prediction]) -> float:
        known = [one.seconds.get(cost.NUMPY) for one in predictions]
        return len(its) if None in known else sum([one.seconds[cost.NUMPY] for one in its])

    chain = of([(at, call[0]) for at, call in enumerate(calls)])
    lines: dict[Line | None, list[tuple[int, str]]] = {}
    for at, (name, _, file, line) in enumerate(calls):
        lines.setdefault(None if file is None else (file, line), []).append((at, name))
    *_, file, line = calls[-1]
    chain.where = None if file is None else (file, line)
    for one in records:
        if isinstance(one, Calls):
            one.add_chain(chain, {line: of(made) for line, made in lines.items()})
        else:
            one.append(chain)


def is_undecided(function: str, arrays: Sequence[Any], axis: cost.Axis) -> bool:
    """Whether every call is recorded and this one needs no decision.

    It is small, or was decided about before: so it runs as it would if nothing were recorded.
    """
    here = choice.current()
    if here.backend is not choice.OBSERVED or here.candidates is not None or here.is_careful:
        return False
    if not all(isinstance(one, Calls) for one in here.records) or any(a._home is not _NUMPY for a in arrays):
        return False
    limit, shapes = machine.limit_of(function), automatic.shapes_of(arrays)
    sizes = [math.prod(shape) for shape in shapes]
    largest = max(sizes)
    is_even = all(size < 2 or shape == shapes[0] for size, shape in zip(sizes, shapes, strict=True))
    if largest < limit.even if is_even else math.prod(sizes) < limit.elements:
        return True
    if type(axis) not in (int, type(None)) or any(accounts.account_of(a) is not None for a in arrays):
        return False
    kept = machine.kept_calls(function).get(automatic.key_of(arrays, axis))
    return (
        kept is not None and kept.at_once is _NUMPY and kept.early is None and all(gain <= 0 for _, gain in kept.gains)
    )


def chosen(function: str, arrays: Sequence[Any], home: Home) -> Decision | None:
    """The record of a call about which nothing is decided, if it is wanted."""
    records = [one for one in choice.current().records if isinstance(one, Calls)]
    if not records:
        return None
    found = automatic.settled(function, arrays, home, f"stays on {home.backend}: nothing to decide")
    found.where = here()
    for one in records:
        one.append(found)
    return found


def started(decision: Decision, arrays: Sequence[Any], axis: cost.Axis) -> Stopwatch:
    """A stopwatch for a recorded call, which gets its prediction."""
    if not decision.alone:
        dtypes = tuple([a._home.dtype(a._value) for a in arrays])
        decision.alone = machine.prediction_of(decision.function, decision.shapes, dtypes, axis).seconds
    return Stopwatch()


def here() -> Line:
    """The line of the user's that is running."""
    frame = callers.user_frame()
    return frame.f_code.co_filename, frame.f_lineno


_backend: Final[Any] = Choice.__dict__["backend"]


class Watched(Choice):
    """What is chosen in a block while every call is recorded.

    Its backend is the name of one, or has every call decided, so that no fast path takes it for what it knows.
    """

    __slots__ = ()

    def __init__(self, backend: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(backend, *args, **kwargs)
        if self.block is None:  # no block of the user's: it is set for the time of a call that is recorded already
            self.__class__ = Choice  # type: ignore[assignment]  # which has the same slots

    @property
    def backend(self) -> Any:
        found = _backend.__get__(self)
        if found is None or isinstance(found, Automatic):
            return choice.OBSERVED
        return found.name if isinstance(found, Backend) else found

    @backend.setter
    def backend(self, found: Any) -> None:
        _backend.__set__(self, found)


@contextlib.contextmanager
def every_call(record: Calls) -> Generator[None]:
    """Record all calls of the process, whatever the thread and the backend."""
    default: Any = choice.process_default
    choice.Choice, default.__class__, default.records = Watched, Watched, (record,)  # type: ignore[misc]
    try:
        yield
    finally:
        choice.Choice, default.__class__, default.records = Choice, Choice, ()  # type: ignore[misc]
