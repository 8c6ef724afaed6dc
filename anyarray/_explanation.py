"""See and steer the automatic choice: `explain`, `policy`, `calibrate`."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Final

from anyarray import _automatic, _backend, _choice, _errors
from anyarray._automatic import Decision
from anyarray._backend import Backend

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Explanation:
    """The decisions in order, as `explain()` gives them; prints as a table.

    Calls that were decided alike share a line of the table, with the mean of their times.
    """

    decisions: list[Decision] = field(default_factory=list[Decision])

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds that calls took, by backend."""
        totals: dict[str, float] = {}
        for one in self.decisions:
            name = one.home.backend.name
            totals[name] = totals.get(name, 0.0) + (one.seconds or 0.0)
        return totals

    @property
    def predicted_seconds(self) -> float:
        """Predicted seconds of the calls where they ran, transfers included.

        Of those that were decided by cost.
        """
        return sum(one.predicted[one.home.backend.name] for one in self._by_cost())

    @property
    def predicted_on_numpy(self) -> float:
        """Predicted seconds of the same calls, had NumPy made them all.

        Nothing would have been moved then.
        """
        return sum(one.alone.get(_automatic.NUMPY, 0.0) for one in self._by_cost())

    def _by_cost(self) -> list[Decision]:
        return [one for one in self.decisions if one.home.backend.name in one.predicted]

    def __len__(self) -> int:
        return len(self.decisions)

    def __str__(self) -> str:
        alike: dict[tuple[object, ...], list[Decision]] = {}
        for one in self.decisions:
            alike.setdefault((one.function, one.shapes, one.home, one.reason), []).append(one)
        names = list(dict.fromkeys([name for one in self.decisions for name in one.predicted]))
        predicted = [f"predicted: {name}" if name == names[0] else name for name in names]
        function, shape, place, reason = TEXTS
        lines = [[function, shape, place, "calls", "took", *predicted, "of it moving", reason]]
        for calls in alike.values():
            one, took = calls[0], _mean([call.seconds for call in calls])
            on_each = [_mean([call.predicted.get(name) for call in calls]) for name in names]
            shapes = " ".join(str(shape).replace(" ", "") for shape in one.shapes)
            moving = _mean([call.transferred or None for call in calls])
            lines.append(
                [one.function, shapes, str(one.home.backend), str(len(calls)), took, *on_each, moving, one.reason]
            )
        columns = [_aligned(column, is_text=column[0] in TEXTS) for column in zip(*lines, strict=True)]
        table = ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
        totals = [f"{name}: {duration(seconds)}" for name, seconds in self.seconds.items()]
        if self._by_cost():
            ran, numpys = duration(self.predicted_seconds), duration(self.predicted_on_numpy)
            totals.append(f"predicted: {ran}, all in NumPy: {numpys}")
        return "\n".join([*table, *totals])


TEXTS: Final = ("function", "shapes", "ran on", "reason")
"""The columns of the table that hold no numbers."""


def _aligned(cells: Sequence[str], *, is_text: bool) -> list[str]:
    width = max(map(len, cells))
    return [cell.ljust(width) if is_text else cell.rjust(width) for cell in cells]


def _mean(seconds: Sequence[float | None]) -> str:
    known = [one for one in seconds if one is not None]
    return duration(sum(known) / len(known)) if known else ""


def duration(seconds: float) -> str:
    """A time in the unit that fits, with three digits: 12.3 us."""
    for unit, name in ((1e-6, "us"), (1e-3, "ms"), (1.0, "s")):
        if seconds < 999.5 * unit or name == "s":
            value = seconds / unit
            digits = 0 if value >= 99.5 else 1 if value >= 9.95 else 2
            return f"{value:.{digits}f} {name}"
    raise AssertionError("unreachable: the last unit takes all")


@contextmanager
def explain() -> Generator[Explanation]:
    """Record every automatic decision inside a `with` block.

    That is where a call ran, what was predicted for each backend, why, and how long it took. The explanation has
    `decisions` and prints as a table with totals by backend and what all in NumPy would have cost. Each call is waited
    for, so that times are its own. Calls inside `with xp.backend(NAME)` are no decisions. Blocks nest; each thread and
    asyncio task has its own.

    >>> import anyarray as xp
    >>> with xp.backend("auto"), xp.explain() as why:
    ...     total = xp.sum(xp.ones(3))
    >>> [one.function for one in why.decisions]
    ['sum']
    """
    explanation = Explanation()
    with _choice.recorded(explanation.decisions):
        yield explanation


@contextmanager
def policy(*, candidates: Sequence[str | Backend]) -> Generator[None]:
    """Make the automatic choice inside a `with` block among these backends.

    They are given by name or as devices; no other is chosen. Free inputs that live elsewhere are brought to the best of
    them. Backends that are not installed or have no device here are left out. Raises BackendNotFoundError for an
    unknown name, BackendError if none is left.

    >>> import anyarray as xp
    >>> with xp.policy(candidates=["numpy", "cupy"]):
    ...     print((xp.ones(3, device="numpy") + 1).device)
    numpy
    """
    wanted = _choice.names_of("policy", "candidates", candidates)
    names = [found for name in wanted for found in _present(name)]
    if not names:
        raise _errors.BackendError(
            f'policy: none of the candidates can be used here: {", ".join(wanted)}. Add one that can: "numpy"'
        )
    with _choice.narrowed(tuple(dict.fromkeys(names))):
        yield


SECONDS: Final = 84.0
"""How long measuring takes if nobody says, importing included.

What follows ends within a minute and a half.
"""


def calibrate(*, seconds: float = SECONDS, backends: Sequence[str | Backend] | None = None) -> Path | None:
    """Measure this machine for the automatic choice; gives the profile's path.

    Takes about `seconds`, importing the libraries included, but at least half of them after it. `backends` are names,
    such as ["numpy", "jax"], or devices; left out, all that work here. The profile is used at once, and by every later
    program of this user. Interrupted by Ctrl-C it keeps what is measured. None, and nothing is written, if
    ANYARRAY_PROFILE is "off". The same at the command line: `python -m anyarray calibrate`. Raises BackendError for a
    name that cannot be used, OSError before anything is measured if the profile cannot be written.

    >>> import anyarray as xp
    >>> xp.calibrate(seconds=0.1, backends=["numpy"])  # doctest: +SKIP
    """
    from anyarray import _calibration, _profile  # 15 ms, which `import anyarray` need not take

    if not isinstance(seconds, Real):
        raise _errors.ArgumentTypeError(f"calibrate: seconds must be a number, not {type(seconds).__name__}")
    if not 0 < seconds < math.inf:
        raise _errors.ArgumentValueError(f"calibrate: seconds must be positive and finite, not {seconds}")
    wanted = None if backends is None else _choice.names_of("calibrate", "backends", backends)
    _profile.check()
    measuring = _calibration.prepared(wanted)
    try:
        for _ in measuring.steps(seconds):
            pass
    finally:
        written = _calibration.keep(measuring)
    return written


def _present(name: str) -> list[str]:
    """The backends that a name means here; there may be none.

    Imports the library unless the profile knows its devices.
    """
    library, kind, _ = _backend.parse(name)
    if not library.is_installed or not _automatic.may_be_here(library.name):
        return []
    model = _automatic.model()
    if model is not None and kind is None and ":" not in name:
        measured = [one for one in model.backends if _backend.parse(one)[0] is library and _automatic.may_be_here(one)]
        if measured:
            return measured
    try:
        return [_backend.backend_of_name(name).name]
    except _errors.DeviceNotFoundError:
        return []
