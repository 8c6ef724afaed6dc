"""The results of `bench`: measurements, fastest backends, crossovers."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import anyarray
from anyarray._base import processor
from anyarray._cli.experiments import Experiment
from anyarray._cli.timing import ITSELF, Failure, Measurement

BASELINE: Final = "numpy"
"""The backend to which the others are compared."""

ALWAYS, NEVER = "always", "never"


@dataclass(frozen=True)
class Participant:
    """A backend that takes part."""

    name: str
    version: str | None


@dataclass
class Results:
    """All measurements so far."""

    backends: Sequence[Participant]
    experiments: Sequence[Experiment]
    dtype: str
    quick: bool
    measurements: list[Measurement] = field(default_factory=list[Measurement])
    failures: list[Failure] = field(default_factory=list[Failure])
    is_complete: bool = False
    left_out: set[tuple[str, int, str]] = field(default_factory=set[tuple[str, int, str]])
    """Experiment, size and contestant of the cells that would have taken too long."""
    version: str = anyarray.__version__
    machine: str = field(default_factory=lambda: machine())

    @classmethod
    def from_json(cls, told: dict[str, Any], experiments: Sequence[Experiment]) -> Results:
        """The results of which `as_json` gave this.

        Raises KeyError or TypeError for anything else.
        """
        return cls(
            [Participant(**one) for one in told["backends"]],
            experiments,
            told["dtype"],
            told["quick"],
            [Measurement(**one) for one in told["measurements"]],
            [Failure(**one) for one in told["failures"]],
            told["is_complete"],
            {(name, size, contestant) for name, size, contestant in told.get("left_out", ())},
            told["anyarray"],
            told["machine"],
        )

    @property
    def names(self) -> list[str]:
        """The backends by name."""
        return [backend.name for backend in self.backends]

    @property
    def has_baseline(self) -> bool:
        return BASELINE in self.names

    def add(self, outcome: Measurement | Failure) -> None:
        if isinstance(outcome, Failure):
            self.failures.append(outcome)
        else:
            self.measurements.append(outcome)

    def measurement(self, experiment: str, size: int, contestant: str) -> Measurement | None:
        """The measurement of a contestant at a cell; None if there is none."""
        wanted = (experiment, size, contestant)
        return next((m for m in self.measurements if (m.experiment, m.size, m.contestant) == wanted), None)

    def seconds(self, experiment: str, backend: str) -> dict[int, float]:
        """Seconds per call, by size."""
        return {m.size: m.seconds for m in self.measurements if (m.experiment, m.contestant) == (experiment, backend)}

    def predicted(self, experiment: Experiment, size: int, contestant: str) -> float:
        """Seconds of a call from those of fewer elements; 0 if unknown.

        If a smaller one was left out, infinity.
        """
        smaller = [one for one in experiment.sizes(self.quick) if one < size]
        if any((experiment.name, one, contestant) in self.left_out for one in smaller):
            return math.inf
        last = self.measurement(experiment.name, smaller[-1], contestant) if smaller else None
        return 0.0 if last is None else last.seconds * (size / last.size) ** experiment.growth

    def fastest(self, experiment: str, size: int) -> Measurement | None:
        """The fastest backend at a cell; None unless two were measured."""
        row = [self.measurement(experiment, size, name) for name in self.names]
        measured = [m for m in row if m is not None]
        return min(measured, key=lambda m: m.seconds) if len(measured) > 1 else None

    def warm_up(self, experiment: str, backend: str) -> float | None:
        """Additional seconds of a first call, as for compilation.

        The maximum over all sizes.
        """
        return max(
            (
                m.first_call_seconds - m.seconds
                for m in self.measurements
                if (m.experiment, m.contestant) == (experiment, backend)
            ),
            default=None,
        )

    def crossover(self, experiment: str, backend: str) -> float | str | None:
        """The size above which a backend is faster than NumPy.

        `ALWAYS` or `NEVER` if it is at every size or none; None if unknown. Interpolated between the last size at which
        it is slower and the next, on log axes.
        """
        ours, numpys = self.seconds(experiment, backend), self.seconds(experiment, BASELINE)
        gains = [(size, math.log(numpys[size] / ours[size])) for size in sorted(ours.keys() & numpys.keys())]
        if not gains or backend == BASELINE:
            return None
        behind = [i for i, (_, gain) in enumerate(gains) if gain <= 0]
        if not behind:
            return ALWAYS
        if behind[-1] == len(gains) - 1:
            return NEVER
        (small, loss), (large, win) = gains[behind[-1] : behind[-1] + 2]
        return float(small * (large / small) ** (loss / (loss - win)))

    def layer_seconds(self) -> dict[str, float]:
        """Seconds by which a call is slower than NumPy itself, by experiment.

        Of the backend numpy, at the smallest size.
        """
        costs: dict[str, float] = {}
        for itself in self.measurements:
            ours = self.measurement(itself.experiment, itself.size, BASELINE)
            if itself.contestant == ITSELF.name and ours is not None:
                costs[itself.experiment] = ours.seconds - itself.seconds
        return costs

    def as_json(self) -> dict[str, Any]:
        """Everything, in types that JSON supports; times in seconds."""
        return {
            "anyarray": self.version,
            "machine": self.machine,
            "dtype": self.dtype,
            "quick": self.quick,
            "is_complete": self.is_complete,
            "backends": [asdict(backend) for backend in self.backends],
            "measurements": [asdict(measurement) for measurement in self.measurements],
            "failures": [asdict(failure) for failure in self.failures],
            "left_out": sorted(self.left_out),
            "beats_numpy_from": {
                e.name: {name: self.crossover(e.name, name) for name in self.names if name != BASELINE}
                for e in self.experiments
                if self.has_baseline
            },
            "layer_seconds": self.layer_seconds(),
        }


def machine() -> str:
    """A short description of this machine."""
    return f"{platform.system()} {platform.machine()}, {processor.cores()} cores, Python {platform.python_version()}"
