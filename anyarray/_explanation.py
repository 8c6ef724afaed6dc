"""What users have of the automatic choice: `explain()` it, narrow it by a `policy()`, `calibrate()` it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from anyarray import _automatic, _backend, _choice, _errors
from anyarray._automatic import Decision

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Explanation:
    """What `explain()` gives: the decisions in order, and a table with totals when printed."""

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
        """Predicted seconds of all calls where they ran, transfers included; of those that were decided by cost."""
        return sum(one.predicted[one.home.backend.name] for one in self._by_cost())

    @property
    def predicted_on_numpy(self) -> float:
        """Predicted seconds of the same calls had all been made by NumPy and nothing been moved."""
        return sum(one.alone.get(_automatic.NUMPY, 0.0) for one in self._by_cost())

    def _by_cost(self) -> list[Decision]:
        return [one for one in self.decisions if one.home.backend.name in one.predicted]

    def __len__(self) -> int:
        return len(self.decisions)

    def __str__(self) -> str:
        heads = ("function", "shapes", "ran on", "took", "predicted", "moving", "reason")
        lines = [heads] + [
            (
                one.function, " ".join(str(shape).replace(" ", "") for shape in one.shapes), one.home.backend.name,
                _text(one.seconds), ", ".join(f"{name} {_text(s)}" for name, s in one.predicted.items()),
                _text(one.transferred or None), one.reason,
            )
            for one in self.decisions
        ]  # fmt: skip
        widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
        table = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        totals = [f"{name}: {_text(seconds)}" for name, seconds in self.seconds.items()]
        if self._by_cost():
            totals.append(f"predicted: {_text(self.predicted_seconds)}, all in NumPy: {_text(self.predicted_on_numpy)}")
        return "\n".join([*table, *totals])


def _text(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.2e} s"


@contextmanager
def explain() -> Generator[Explanation]:
    """Record every automatic decision inside a `with` block: where a call ran, what was predicted, why, what it took.

    The explanation has `decisions` and prints as a table with totals by backend and what all in NumPy would have cost.
    Each call is waited for, so that times are its own. Calls inside `with xp.backend(NAME)` are no decisions. Blocks
    nest; each thread and asyncio task has its own.

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
def policy(*, candidates: Sequence[str]) -> Generator[None]:
    """Make the automatic choice inside a `with` block among these backends alone.

    Free inputs that live elsewhere are brought to the best of them. Backends that are not installed or have no device
    here are left out. Raises BackendNotFoundError for an unknown name, BackendError if none is left.

    >>> import anyarray as xp
    >>> with xp.policy(candidates=["numpy", "cupy"]):
    ...     print((xp.ones(3, device="numpy") + 1).device)
    numpy
    """
    if isinstance(candidates, str) or not candidates:
        raise _errors.ArgumentValueError(
            f'policy: candidates must be names of backends, such as ["numpy", "jax"], not {candidates!r}'
        )
    names = [found for name in candidates for found in _present(name)]
    if not names:
        raise _errors.BackendError(
            f'policy: none of the candidates can be used here: {", ".join(candidates)}. Add one that can: "numpy"'
        )
    with _choice.narrowed(tuple(dict.fromkeys(names))):
        yield


SECONDS: Final = 72.0
"""How long measuring takes if nobody says; with importing, a minute and a half at most."""


def calibrate(*, seconds: float = SECONDS, backends: Sequence[str] | None = None) -> Path | None:
    """Measure the backends of this machine, so that the automatic choice can choose; gives the profile's path.

    Takes at most about `seconds` once the libraries are imported. `backends` are names, such as ["numpy", "jax"]; left
    out, all that work here. The profile is used at once, and by every later program of this user. Interrupted by
    Ctrl-C it keeps what is measured. None, and nothing is written, if ANYARRAY_PROFILE is "off". The same at the
    command line: `python -m anyarray calibrate`. Raises BackendError for a name that cannot be used.

    >>> import anyarray as xp
    >>> xp.calibrate(seconds=0.1, backends=["numpy"])  # doctest: +SKIP
    """
    from anyarray import _calibration  # 15 ms, which `import anyarray` need not take

    measuring = _calibration.prepared(backends)
    try:
        for _ in measuring.steps(seconds):
            pass
    finally:
        written = _calibration.keep(measuring)
    return written


def _present(name: str) -> list[str]:
    """The backend that a name means, if there is one here; imports its library unless the profile knows its devices."""
    library, kind, _ = _backend.parse(name)
    if not library.is_installed:
        return []
    model = _automatic.model()
    if model is not None and kind is None and ":" not in name:
        measured = [one for one in model.backends if _backend.parse(one)[0] is library]
        if measured:
            return measured
    try:
        return [_backend.backend_of_name(name).name]
    except _errors.DeviceNotFoundError:
        return []
