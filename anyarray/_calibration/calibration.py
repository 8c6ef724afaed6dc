"""What `calibrate` measures: calls of each class, transfers, imports.

The backends take turns in short rounds, and the median of each one's rounds counts; of long calls the least, as they
are made only a few times. Each backend has the cores to itself: before its turn the threads of the previous one come to
rest. Arrays larger than the blocks that the allocator keeps are in new memory.

A class is measured by its first function, at sizes that grow until its time is several times the launch on all backends
and a decision could matter. The other functions are measured once. What is most needed comes first, so a run that is
cut short has all classes, if less well. What time is left goes to second visits, where the points lie farthest from
their law: other programs may take a core for seconds, and a visit later tells that from what is so. `fitting` makes the
laws; an interrupted run keeps what it measured.
"""

from __future__ import annotations

import contextlib
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from anyarray._base import files
from anyarray._calibration import cells as _cells
from anyarray._calibration.cells import FUSED, Cell
from anyarray._calibration.fitting import Point, fitted
from anyarray._choice import choice, cost, profile
from anyarray._choice.law import Law
from anyarray._memory import alignment, transfer
from anyarray._registry import libraries, registry
from anyarray._registry.registry import Backend
from anyarray.standard import creation, elementwise

ROUND_SECONDS: Final = 5e-4
"""Approximate seconds of a round: shorter than a time slice of the scheduler on a busy machine."""
ROUNDS: Final = 4
"""Rounds of a backend in its turn."""
BRIEF: Final = 0.01
"""Seconds of a call up to which waking the threads matters, so that several calls are made in a row."""
LONGEST: Final = 0.15
"""Threshold in seconds of a call above which no larger size is measured."""
SEVERAL: Final = 8.0
"""Times the launch: a size where it takes so long tells the rate to an eighth."""
DECISIVE: Final = 20 * cost.DECIDING
"""Seconds in NumPy up to which larger sizes are measured: there a decision matters."""
ONCE: Final = 1.3
"""The factor by which a single visit may be wrong."""
LARGEST_ON_CPU: Final = 10_000_000
"""The largest size that is measured on CPUs alone."""
THREADED: Final = 1 << 20
"""Numbers of a call for which threads wake up."""
UNCACHED: Final = 1 << 21
"""Elements of 4 bytes that are more than the caches of a core hold."""
ENTRIES: Final = 9
"""Calls whose median is the time of a switch to another library."""
BYTES: Final = (1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28)
"""Sizes of the transfers that are measured, the last on accelerators: in one memory they take as long as copies."""
TRANSFERS: Final = 3
"""So often each is made."""

Run = Callable[[int], None]
"""Makes a call so many times, and synchronizes."""
GLANCE: Final = 0.005
"""Seconds over which threads are observed: longer than the ticks by which Linux counts their CPU time."""
IDLE: Final = 5e-4
"""CPU seconds of other threads in that time up to which all of them are idle."""
SPINNING: Final = 0.3
"""The maximum seconds to wait for them. OpenBLAS's threads spin for 2^28 cycles, a tenth of a second."""


def rest() -> None:
    """Wait until all other threads of this process are idle, or for long.

    The threads of some libraries spin after a call, waiting for work, and take a core from the next library's.
    """
    end = time.perf_counter() + SPINNING
    while time.perf_counter() < end:
        working, started = time.process_time(), time.perf_counter()
        time.sleep(GLANCE)
        if time.process_time() - working < 0.25 * (time.perf_counter() - started):
            return


class Turns:
    """Rounds of calls by several backends, each with the cores to itself."""

    def __init__(self) -> None:
        self._last = ""
        self._others = 0.0
        """CPU seconds of all other threads at the last rest."""

    def in_turns(self, runs: Mapping[str, Run], *, in_new_memory: bool = False) -> dict[str, tuple[float, float]]:
        """The usual time of each call, and the additional time of its first.

        Backends that fail are omitted. Each round finds no freed memory if it is to be `in_new_memory`.
        """
        found: dict[str, tuple[float, float]] = {}
        names = list(runs)
        for name in names[::-1] if names[-1:] == [self._last] else names:
            self._rest(name)
            try:
                first, usual = _times(runs[name], in_new_memory=in_new_memory)
            except Exception:  # noqa: BLE001 - whatever a library raises, it cannot do this: so it is no candidate
                continue
            found[name] = usual, max(0.0, first - usual)
        return found

    def _rest(self, name: str) -> None:
        """Wait for the threads of the last backend, if they worked at all."""
        others = time.process_time() - time.thread_time()
        if name != self._last and others - self._others > IDLE:
            rest()
            others = time.process_time() - time.thread_time()
        self._last, self._others = name, others


def _times(run: Run, *, in_new_memory: bool) -> tuple[float, float]:
    """Seconds of the first call, and of a usual one."""

    def timed(loops: int) -> float:
        if in_new_memory:
            alignment.trim_malloc()
        return _timed(run, loops)

    first, times = timed(1), [timed(1)]
    if times[0] < BRIEF:
        loops = max(1, round(ROUND_SECONDS / timed(1)))
        return first, statistics.median([timed(loops) for _ in range(ROUNDS)])
    while len(times) < 3 and sum(times) < LONGEST:
        times.append(timed(1))
    return first, min(times)


def _timed(run: Run, loops: int) -> float:
    started = time.perf_counter()
    run(loops)
    return (time.perf_counter() - started) / loops


def _waiting(function: Callable[..., Any], inputs: Sequence[Any], backend: Backend) -> Run:
    """The call on a backend, its inputs there; synchronizes the result."""
    synchronize = backend.hook("synchronize")
    with choice.backend(backend):
        arrays = [
            [creation.asarray(a) for a in one] if isinstance(one, list) else creation.asarray(one) for one in inputs
        ]

    def run(loops: int) -> None:
        with choice.backend(backend):
            for _ in range(loops):
                result = function(*arrays)
                synchronize((result[0] if isinstance(result, tuple) else result)._native)

    return run


@dataclass
class Calibration:
    """A calibration of some backends.

    `steps` makes the measurements, `data` has the results so far.
    """

    backends: Sequence[Backend]
    importing: Mapping[str, float]
    """Seconds by library."""
    started: float = field(default_factory=time.perf_counter)
    """The `time.perf_counter` before the libraries were imported."""
    _turns: Turns = field(default_factory=Turns)
    _visits: dict[tuple[Cell, str], list[float]] = field(default_factory=dict[tuple[Cell, str], list[float]])
    """Seconds of a call at each visit."""
    _work: dict[Cell, float] = field(default_factory=dict[Cell, float])
    _first: dict[tuple[Cell, str], float] = field(default_factory=dict[tuple[Cell, str], float])
    _copies: dict[tuple[str, str], list[Point]] = field(default_factory=dict[tuple[str, str], list[Point]])
    _views: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """Seconds of a transfer that shares memory."""
    _entering: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """How much longer a call takes right after NumPy's, at each look."""

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

        pairs = [(a, b) for a in self.backends for b in self.backends if a is not b]
        for stage, cells in enumerate(_cells.stages(max(_cells.LONG) if self.has_accelerator else LARGEST_ON_CPU), 1):
            for cell in cells:
                if time.perf_counter() >= end:
                    return
                if self._is_needed(cell):
                    yield done(), f"{cell.other or cell.kind} {cell.size}"
                    self._visit(cell)
            while pairs and stage >= _cells.ENOUGH and time.perf_counter() < end:
                yield done(), "{} to {}".format(*pairs[-1])
                self._measure_route(*pairs.pop())
            if len(self.backends) > 1 and stage >= _cells.ENOUGH and time.perf_counter() < end:
                yield done(), f"calls after those of {self.backends[0]}"
                self._measure_entering()
        while time.perf_counter() < end:
            cell = max(self._visited(), key=self._doubt)
            yield done(), f"{cell.other or cell.kind} {cell.size}, again"
            self._visit(cell)

    def _visited(self) -> list[Cell]:
        return list(dict.fromkeys(cell for cell, _ in self._visits))

    @property
    def has_measured(self) -> bool:
        """Whether any call was."""
        return bool(self._visits)

    def _visit(self, cell: Cell) -> None:
        inputs, chained = cell.inputs(), cell.chained
        self._work[cell] = cell.work(inputs)
        runs: dict[str, Run] = {}
        for backend in self.backends:
            if not self._is_too_long(cell, backend.name):
                with contextlib.suppress(Exception):  # it has no such dtype, or no room
                    function = chained if chained is not None and backend.name == cost.NUMPY else cell.function
                    runs[backend.name] = _waiting(function, inputs, backend)
        with np.errstate(all="ignore"):  # a determinant may overflow
            found = self._turns.in_turns(runs, in_new_memory=cell.is_beyond_kept)
        for name, (seconds, first) in found.items():
            if chained is not None and name == cost.NUMPY:
                seconds /= chained.calls
            self._visits.setdefault((cell, name), []).append(seconds)
            self._first.setdefault((cell, name), first)

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
        if before[0] is None or before[0] < DECISIVE or cell.size <= alignment.LARGEST_KEPT // 4 < sizes[-1]:
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

    def _doubt(self, cell: Cell) -> float:
        """How far the times of a cell lie from the laws, by visit."""
        away = []
        for backend in self.backends:
            seconds, law = self._seconds(cell, backend.name), self._law(cell.kind, backend.name)
            if seconds is not None and law is not None and not cell.other:
                expected = law(self._work[cell], is_narrow=cell.width == cost.WIDTHS[0])
                away.append(abs(math.log(seconds / expected)) + math.log(ONCE))
            elif seconds is not None:
                away.append(math.log(ONCE))
        visits = max([len(self._visits.get((cell, backend.name), [])) for backend in self.backends])
        return max(away, default=0.0) / visits**2

    def _points(self, kind: str, name: str, other: str = "") -> list[Point]:
        """What was measured of a class, or of another function of it."""
        found: list[Point] = []
        is_vector = kind == FUSED or cost.CLASSES[kind].growth == 1
        tells = is_vector and registry.backend_of_name(name).kind == "cpu"
        for (cell, backend), visits in self._visits.items():
            if (cell.kind, backend, cell.other) == (kind, name, other):
                spread = max(visits) / min(visits) if len(visits) > 1 else ONCE
                seconds = statistics.median_low(visits)
                nbytes = 4.0 * cell.size if tells else 0.0
                found.append(Point(self._work[cell], seconds, cell.width == cost.WIDTHS[0], spread, nbytes))
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
                found = fitted([*points, Point(1.0, like.launch)], growth=like.growth, narrow=like.narrow)
                return found._replace(bend=like.bend, beyond=like.beyond)  # it is measured at one size
        return fitted(points, growth=_cells.growth(kind))

    def _measure_route(self, source: Backend, target: Backend) -> None:
        """Time transfers of arrays that are new each time.

        Libraries keep a copy on the host of what the host has read, which takes no time to read again.
        """
        way = transfer.route(source, target)
        numpy = registry.backend_of_name("numpy")
        wait, arrived = source.hook("synchronize"), target.hook("synchronize")

        def new(nbytes: int) -> Any:
            # Aligned, and without other references: memory that can be shared if any can.
            host = numpy.free.exported(np.ones(nbytes // 4, dtype=np.float32))
            native = transfer.from_host(host, source) if source is not numpy else host
            wait(native)
            return native

        def timed(bring: Callable[[Any], Any], nbytes: int) -> float:
            native = new(nbytes)
            started = time.perf_counter()
            arrived(bring(native))
            return time.perf_counter() - started

        last = 0.0
        for nbytes in BYTES if self.has_accelerator else BYTES[:-1]:
            if last * 16 > 2 * LONGEST:
                break
            rest()
            times = [timed(way.copy, nbytes) for _ in range(TRANSFERS + 1)][1:]
            last = statistics.median(times)
            self._copies.setdefault((source.name, target.name), []).append(Point(float(nbytes), last))
        with contextlib.suppress(Exception):  # whatever a library raises, memory cannot be shared then
            if way.share(new(BYTES[2])) is not None:
                self._views[source.name, target.name] = max(timed(way.share, BYTES[i]) for i in (0, 1, 2))

    def _measure_entering(self) -> None:
        """Time calls in a row, and alternating with large calls of NumPy.

        The arrays of those evict the code of the other library and of Python from the CPU caches. Meanwhile its threads
        go to sleep.
        """
        large = _cells.uniform(UNCACHED, np.dtype(np.float32))
        work = _waiting(elementwise.add, [large, large], self.backends[0])
        for backend in self.backends:
            try:
                run = _waiting(elementwise.exp, [_cells.uniform(THREADED, np.dtype(np.float64))], backend)
                run(1)
            except Exception:  # noqa: BLE001 - as in its turns, it is no candidate then
                continue
            rest()
            in_a_row, after = [_timed(run, 1) for _ in range(ENTRIES)], []
            for _ in range(ENTRIES):
                work(2)
                after.append(_timed(run, 1))
            longer = statistics.median(after) - statistics.median(in_a_row)
            self._entering.setdefault(backend.name, []).append(longer)

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

    def _costs(self, backend: Backend) -> dict[str, Any]:
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
        looks = {one: statistics.median(found) for one, found in self._entering.items()}
        return {
            "importing": self.importing.get(backend.library, 0.0),
            "entering": max(0.0, looks.get(name, 0.0) - looks.get(cost.NUMPY, 0.0)),
            "compiling": first.pop(FUSED, 0.0),
            "fused": None if fused is None else _numbers(fused),
            "first": first,
            "laws": {key: _numbers(law) for key, law in laws.items()},
        }


def _numbers(law: Law) -> list[float | None]:
    """The numbers of a law, as JSON can have them."""
    return [None if math.isinf(one) else float(f"{one:.4g}") for one in law]


WAITING: Final = "calibrate: another process measures this machine, so it waits until that has ended"


def alone(tell: Callable[[str], None]) -> AbstractContextManager[None]:
    """Hold the lock of calibrations of this user on this machine.

    Others wait, and say so by `tell`: they would take the cores from each other unnoticed.
    """
    return files.locked(f"{profile.of_machine()}calibrating", lambda: tell(WAITING))


def prepared(names: Sequence[str] | None = None) -> Calibration:
    """A calibration of these backends, or of each library's best.

    Imports them; libraries that do not work are omitted. Raises BackendError for a given name that cannot be used.
    """
    started = time.perf_counter()
    importing: dict[str, float] = {}
    wanted = list(names or libraries.libraries())
    found: dict[str, Backend] = {}
    for name in reversed(wanted):  # TensorFlow, our first, imports JAX, which then would have to be timed elsewhere
        try:
            library = registry.parse(name)[0]
            if library.name not in importing and library.name != "numpy":
                importing[library.name] = _import_seconds(library)
            found[name] = registry.backend_of_name(name)
        except Exception:  # a broken installation may raise anything
            if names:
                raise
    backends = [registry.backend_of_name("numpy"), *[found[name] for name in wanted if name in found]]
    return Calibration(list(dict.fromkeys(backends)), importing, started)


def _import_seconds(library: libraries.Library) -> float:
    """Seconds of importing a library.

    It is imported in another process if it is imported here already, as by a library that uses it.
    """
    started = time.perf_counter()
    if library.package in sys.modules:
        program = f"from anyarray._registry import registry; registry.load(registry.libraries()[{library.name!r}])"
        subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    else:
        registry.load(library)
    return time.perf_counter() - started


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
