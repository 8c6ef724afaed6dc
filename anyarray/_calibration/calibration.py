"""What `calibrate` measures: calls of each class, transfers, imports.

The backends take turns in short rounds, and the median of each one's rounds counts; of long calls the least, as they
are made only a few times. Each library runs in a process of its own: one that ends or blocks its process is left out,
with a message, and the others are measured. `measuring` has the code that runs there.

A class is measured by its first function, at sizes that grow until its time is several times the launch on all backends
and a decision could matter. The other functions are measured once. What is most needed comes first, so a run that is
cut short has all classes, if less well. What time is left goes to second visits, as other programs may take a core for
seconds. `fitting` makes the laws; an interrupted run keeps what it measured.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from anyarray._base import errors, files
from anyarray._calibration import cells as _cells
from anyarray._calibration.cells import FUSED, Cell
from anyarray._calibration.fitting import Point, fitted
from anyarray._calibration.measuring import BYTES, LONGEST
from anyarray._calibration.processes import EndedError, Process
from anyarray._choice import choice, cost, profile
from anyarray._choice.law import Law
from anyarray._registry import libraries, registry

SEVERAL: Final = 8.0
"""Times the launch: a size where it takes so long tells the rate to an eighth."""
DECISIVE: Final = 20 * cost.DECIDING
"""Seconds in NumPy up to which larger sizes are measured: there a decision matters."""
ONCE: Final = 1.3
"""The factor by which a single visit may be wrong."""
LARGEST_ON_CPU: Final = 10_000_000
"""The largest size that is measured on CPUs alone."""


class Candidate(NamedTuple):
    """A backend that is measured in the process of its library."""

    name: str
    library: str
    kind: str
    """cpu, gpu or tpu."""
    process: Process


@dataclass
class Calibration:
    """A calibration of some backends.

    `steps` makes the measurements, `data` has the results so far.
    """

    backends: list[Candidate]
    """NumPy first; without those of libraries that were left out."""
    importing: dict[str, float]
    """Seconds by library."""
    started: float = field(default_factory=time.perf_counter)
    """The `time.perf_counter` before the libraries were imported."""
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    """Why libraries were left out, by name."""
    _visits: dict[tuple[Cell, str], list[float]] = field(default_factory=dict[tuple[Cell, str], list[float]])
    """Seconds of a call at each visit."""
    _work: dict[Cell, float] = field(default_factory=dict[Cell, float])
    _first: dict[tuple[Cell, str], float] = field(default_factory=dict[tuple[Cell, str], float])
    _copies: dict[tuple[str, str], list[Point]] = field(default_factory=dict[tuple[str, str], list[Point]])
    _views: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """Seconds of a transfer that shares memory."""

    @property
    def has_accelerator(self) -> bool:
        """Whether one of the backends is no CPU."""
        return any(backend.kind != "cpu" for backend in self.backends)

    def steps(self, seconds: float) -> Iterator[tuple[float, str]]:
        """Measure, yielding the part that is done and what comes next.

        Ends `seconds` after the start, but lasts at least half of that.
        """
        end = max(self.started + seconds, time.perf_counter() + seconds / 2)

        def done() -> float:
            return 1 - (end - time.perf_counter()) / seconds

        near = [(a, b) for a in self.backends for b in self.backends if a is not b and _share_a_process(a, b)]
        far = [(a, b) for a in self.backends for b in self.backends if not _share_a_process(a, b)]
        for stage, cells in enumerate(_cells.stages(max(_cells.LONG) if self.has_accelerator else LARGEST_ON_CPU), 1):
            for cell in cells:
                if time.perf_counter() >= end:
                    return
                if self._is_needed(cell):
                    yield done(), f"{cell.other or cell.kind} {cell.size}"
                    self._visit(cell)
            while near and stage >= _cells.ENOUGH and time.perf_counter() < end:
                yield done(), _ends(*near[-1])
                self._measure_route(*near.pop())
        # A process has to import the other library, too. What is not measured is predicted by way of NumPy.
        while far and time.perf_counter() < end:
            yield done(), _ends(*far[-1])
            self._measure_route(*far.pop())
        while time.perf_counter() < end:
            cell = min(self._visited(), key=self._visits_of)
            yield done(), f"{cell.other or cell.kind} {cell.size}, again"
            self._visit(cell)

    def _visits_of(self, cell: Cell) -> int:
        return max(len(self._visits.get((cell, backend.name), ())) for backend in self.backends)

    def _visited(self) -> list[Cell]:
        return list(dict.fromkeys(cell for cell, _ in self._visits))

    @property
    def has_measured(self) -> bool:
        """Whether any call was."""
        return bool(self._visits)

    def told(self) -> list[str]:
        """A sentence for each library that was left out."""
        return [f"calibrate: {library} is left out: {reason}" for library, reason in self.left_out.items()]

    def _ask(self, backend: Candidate, what: str, task: str, *arguments: Any) -> Any:
        """The answer of its process; None if the library is left out.

        Raises BackendError for NumPy, with which all others are compared.
        """
        try:
            return None if backend.library in self.left_out else backend.process.ask(task, *arguments)
        except EndedError as error:
            if backend.name == cost.NUMPY:
                raise errors.BackendError(f"calibrate: {cost.NUMPY} cannot be measured: {error}, at {what}") from error
            self.left_out[backend.library] = f"{error}, at {what}"
            names = {one.name for one in self.backends if one.library == backend.library}
            self.backends = [one for one in self.backends if one.name not in names]
            for by_cell in (self._visits, self._first):
                for cell_and_name in [one for one in by_cell if one[1] in names]:
                    del by_cell[cell_and_name]
            for by_ends in (self._copies, self._views):
                for ends in [one for one in by_ends if not names.isdisjoint(one)]:
                    del by_ends[ends]
            return None

    def _visit(self, cell: Cell) -> None:
        for backend in list(self.backends):
            if not self._is_too_long(cell, backend.name):
                what = f"{cell.other or cell.kind} {cell.size}"
                found = self._ask(backend, what, "visit", dataclasses.astuple(cell), backend.name)
                if found is not None:
                    self._work[cell], seconds, first = found
                    self._visits.setdefault((cell, backend.name), []).append(seconds)
                    self._first.setdefault((cell, backend.name), first)

    def _seconds(self, cell: Cell, name: str) -> float | None:
        """The lower median of the visits, in seconds, as noise only adds."""
        visits = self._visits.get((cell, name))
        return statistics.median_low(visits) if visits else None

    def _is_needed(self, cell: Cell) -> bool:
        """Whether a size tells more than the smaller ones.

        It does where it is not several times the launch on some backend, or so small that no decision matters.
        """
        sizes = _cells.sizes(cell.kind)
        at = sizes.index(cell.size)
        if cell.other or at < 2:
            return True
        before, small = (
            [self._seconds(Cell(cell.kind, cell.width, sizes[i]), backend.name) for backend in self.backends]
            for i in (at - 1, 0)
        )
        if before[0] is None or before[0] < DECISIVE:
            return before[0] is not None
        return any(b is not None and s is not None and b < SEVERAL * s for b, s in zip(before, small, strict=True))

    def _is_too_long(self, cell: Cell, name: str) -> bool:
        """Whether a size would take a backend too long, by a smaller one."""
        if cell.other:
            return False
        smaller = [one for one, by in self._visits if by == name and one.kind == cell.kind and one.size < cell.size]
        if not smaller:
            return False
        last = max(smaller, key=lambda one: one.size)
        seconds = self._seconds(last, name) or 0.0
        exponent = cost.CLASSES[cell.kind].growth if cell.kind != FUSED else 1.0
        return seconds > 1e-3 and seconds * (cell.size / last.size) ** exponent > 3 * LONGEST

    def _points(self, kind: str, name: str, other: str = "") -> list[Point]:
        """What was measured of a class, or of another function of it."""
        found: list[Point] = []
        for (cell, backend), visits in self._visits.items():
            if (cell.kind, backend, cell.other) == (kind, name, other):
                spread = max(visits) / min(visits) if len(visits) > 1 else ONCE
                seconds = statistics.median_low(visits)
                found.append(Point(self._work[cell], seconds, cell.width == cost.WIDTHS[0], spread))
        return found

    def _law(self, kind: str, name: str, other: str = "") -> Law | None:
        """The law of a class, or of a function of it; None if unmeasured."""
        points = self._points(kind, name, other)
        if not points:
            return None
        whole = _cells.WHOLE.get(kind, kind) if not other else kind
        if other or whole != kind:
            like = self._law(whole, name)
            if like is not None:
                return fitted([*points, Point(1.0, like.launch)], growth=like.growth, narrow=like.narrow)
        return fitted(points, growth=_cells.growth(kind))

    def _measure_route(self, source: Candidate, target: Candidate) -> None:
        """Time transfers, in the process of a library other than NumPy."""
        if source not in self.backends or target not in self.backends:
            return
        asked = next(one for one in self.backends if one in (source, target) and one.name != cost.NUMPY)
        sizes = len(BYTES) if self.has_accelerator else len(BYTES) - 1
        found = self._ask(asked, _ends(source, target), "route", source.name, target.name, sizes)
        if found is not None:
            self._copies[source.name, target.name] = [Point(nbytes, seconds) for nbytes, seconds in found["copies"]]
            if found["view"] is not None:
                self._views[source.name, target.name] = found["view"]

    def data(self) -> dict[str, Any]:
        """The content of the profile, of JSON's types."""
        return {
            "backends": {backend.name: self._costs(backend) for backend in self.backends},
            "routes": [
                {
                    "source": ends[0],
                    "target": ends[1],
                    "copy": _numbers(fitted(points, is_by_width=False)),
                    "view": self._views.get(ends),
                }
                for ends, points in self._copies.items()
            ],
        }

    def _costs(self, backend: Candidate) -> dict[str, Any]:
        name = backend.name
        laws: dict[str, Law] = {}
        firsts: dict[str, list[float]] = {}
        for cell in self._visited():
            key = cell.other or cell.kind
            law = self._law(cell.kind, name, cell.other) if key not in laws else None
            if law is not None:
                laws.update(dict.fromkeys([key, *_cells.alike(cell.other)], law))
            if not cell.other and (cell, name) in self._first:
                firsts.setdefault(cell.kind, []).append(self._first[cell, name])
        first = {kind: statistics.median(found) for kind, found in firsts.items()}
        fused = laws.pop(FUSED, None)
        return {
            "importing": self.importing.get(backend.library, 0.0),
            "compiling": first.pop(FUSED, 0.0),
            "fused": None if fused is None else _numbers(fused),
            "first": first,
            "laws": {key: _numbers(law) for key, law in laws.items()},
        }


def _ends(source: Candidate, target: Candidate) -> str:
    return f"{source.name} to {target.name}"


def _share_a_process(a: Candidate, b: Candidate) -> bool:
    """Whether one process has both backends; each has NumPy."""
    return cost.NUMPY in (a.name, b.name) or a.library == b.library


def _numbers(law: Law) -> list[float | None]:
    """The numbers of a law, as JSON can have them."""
    return [None if math.isinf(one) else float(f"{one:.4g}") for one in law]


WAITING: Final = "calibrate: another process measures this machine, so it waits until that has ended"


def alone(tell: Callable[[str], None]) -> AbstractContextManager[None]:
    """Hold the lock of calibrations of this user on this machine.

    Others wait, and say so by `tell`: they would take the cores from each other unnoticed.
    """
    return files.locked(f"{profile.of_machine()}calibrating", lambda: tell(WAITING))


@contextlib.contextmanager
def prepared(names: Sequence[str] | None = None) -> Generator[Calibration]:
    """A `with` block with a calibration of backends.

    Without names they are the best backend of each library.
    Starts a process for each library, which imports it; libraries that do not work are left out. Raises BackendError
    for a given name that cannot be used.
    """
    started = time.perf_counter()
    by_library = {cost.NUMPY: [cost.NUMPY]}
    for name in names or libraries.libraries():
        library = registry.parse(name)[0]
        if names or (library.is_installed and not library.is_lazy):
            by_library.setdefault(library.name, []).append(name)
    measuring = Calibration([], {}, started)
    with contextlib.ExitStack() as processes:
        for one, its in by_library.items():
            process = Process()
            processes.callback(process.end)
            found: Any
            try:
                found = process.ask("load", list(dict.fromkeys(its)))
            except EndedError as error:
                found = {"error": str(error)}
            if "error" not in found:
                measuring.importing[one] = 0.0 if one == cost.NUMPY else found["seconds"]
                of = [Candidate(name, one, kind, process) for name, kind in found["backends"]]
                measuring.backends += dict.fromkeys(of)
            elif "kind" not in found:
                if names or one == cost.NUMPY:
                    raise errors.BackendError(f'calibrate: backend "{one}" cannot be used: {found["error"]}')
                measuring.left_out[one] = found["error"]
            elif names:  # else it has no device here, or needs what is not installed
                raise getattr(errors, found["kind"])(found["error"])
        yield measuring


def keep(measuring: Calibration) -> Path | None:
    """Write the results to the profile, and use it from now on.

    Returns its path, or None if nothing was written. A calibration that was interrupted before it had measured any call
    does not replace the profile. Raises UnwritableError.
    """
    _cells.uniform.cache_clear()
    file = profile.path()
    if file is None or not measuring.has_measured:
        return None
    profile.save(measuring.data(), {backend.library for backend in measuring.backends}, file)
    choice.forget_profile()
    return file
