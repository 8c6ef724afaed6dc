"""What `calibrate` measures: calls by class, transfers, imports, compiling.

The backends take turns in short rounds, and the median of each one's counts: the least would say how fast a library can
be, which is far from what it usually is where threads share the work, and near it where one does it all. Each has the
cores to itself: before the next one's turn the threads of the last come to rest. A short pass over all cells (a class
of functions at one size and width) compiles; what time is left goes to those that take longer than the next smaller
one lets expect. Of several visits the fastest counts, as noise only ever adds: so a slow minute of the machine spoils
none, and a run that is cut short has what it came to.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from anyarray import _backend, _cells, _choice, _cost, _errors, _profile, _transfer
from anyarray._backend import Backend
from anyarray._cells import FUSED, Cell
from anyarray.standard import creation

ROUND_SECONDS: Final = 5e-4
"""About the length of a round: shorter than the slice of time that a busy machine gives."""
LONGEST: Final = 0.12
"""Seconds of a call from which on no larger size is tried."""
LONGEST_VECTOR: Final = 0.05
"""The same for vectors, as what takes so long grows in proportion from there on."""
LAUNCHING: Final = 1e-3
"""Seconds of a call up to which it may be all launching, and tells nothing of larger sizes."""
ROUNDS: Final = 4
"""Of a backend in each of its turns."""
SHORTEST: Final = 0.004
"""Seconds of the turns of a cell at least."""
LONGEST_CELL: Final = 0.15
"""Seconds that the turns of a cell go on at most for the sake of a better median."""
BRIEF: Final = 0.01
"""Seconds of a call up to which it counts that threads wake up for it, and several more are made at once."""
LARGEST_ON_CPU: Final = 1 << 24
"""Size beyond which only accelerators have something new to show."""


Run = Callable[[int], None]
"""Makes a call so many times, and waits for it."""
NOTHING: Final[Mapping[str, float]] = {}
GLANCE: Final = 0.005
"""Seconds over which threads are watched: longer than the ticks by which Linux counts their time."""
IDLE: Final = 5e-4
"""Seconds of work of other threads that leave none of them at work."""
SPINNING: Final = 0.3
"""Seconds that they are waited for at most. OpenBLAS's spin for 2^28 cycles of the processor, a tenth of a second."""


def rest() -> bool:
    """Wait until no thread of this process works; False if they go on.

    The threads of some libraries spin after a call, in wait for more, and take a core from the next library's.
    """
    end = time.perf_counter() + SPINNING
    while time.perf_counter() < end:
        working, started = time.process_time(), time.perf_counter()
        time.sleep(GLANCE)
        if time.process_time() - working < 0.25 * (time.perf_counter() - started):
            return True
    return False


class Turns:
    """Rounds of calls by several backends, each with the cores to itself."""

    def __init__(self) -> None:
        self._last = ""
        self._comes_to_rest = True
        """False where some thread of the process always works."""
        self._others = 0.0
        """Processor seconds of all other threads at the last rest."""

    def turn(self, name: str, run: Run, loops: int, rounds: int) -> list[float]:
        """Seconds of a call, for each of some rounds of `loops` calls."""
        if name != self._last:
            self._rest()
        self._last = name
        return [_timed(run, loops) for _ in range(rounds)]

    def _rest(self) -> None:
        """Let the threads of the last backend rest, if they worked at all.

        To look takes 5 ms.
        """
        others = time.process_time() - time.thread_time()
        if self._comes_to_rest and others - self._others > IDLE:
            self._comes_to_rest = rest()
            others = time.process_time() - time.thread_time()
        self._others = others

    def in_turns(
        self, runs: Mapping[str, Run], seconds: float, expected: Mapping[str, float] = NOTHING
    ) -> dict[str, tuple[float, float]]:
        """What each call usually takes, and what its first took longer.

        Who fails is left out. A long call that takes longer than `expected` is made some times more: threads that were
        woken on one core take their time to find the other.
        """
        times: dict[str, list[float]] = {}
        loops: dict[str, int] = {}
        first: dict[str, float] = {}
        started = time.perf_counter()
        for name in self._there_and_back(list(runs)):
            try:
                first[name], *times[name] = self.turn(name, runs[name], 1, 3)
            except Exception:  # noqa: BLE001 - whatever a library raises, it cannot do this: so it is no candidate
                continue
            least = min(times[name])
            loops[name] = max(1, round(ROUND_SECONDS / least))
            if loops[name] > 1:
                times[name] = self.turn(name, runs[name], loops[name], ROUNDS)
            elif least < BRIEF:
                times[name] += self.turn(name, runs[name], 1, ROUNDS)
            while min(times[name]) > max(BRIEF, 1.5 * expected.get(name, math.inf)) and sum(times[name]) < LONGEST_CELL:
                times[name] += self.turn(name, runs[name], 1, 1)
        while left := self._unfinished(times, time.perf_counter() - started, seconds):
            for name in self._there_and_back(left):
                times[name] += self.turn(name, runs[name], loops[name], ROUNDS if loops[name] > 1 else 2)
        usual = {name: _usual(of_one) for name, of_one in times.items()}
        return {name: (its, first[name] - its) for name, its in usual.items()}

    def _there_and_back(self, names: list[str]) -> list[str]:
        """The names, reversed if the one that was timed last comes last.

        Its threads may spin: they are its own.
        """
        return names[::-1] if names[-1] == self._last else names

    def _unfinished(self, times: Mapping[str, Sequence[float]], spent: float, seconds: float) -> list[str]:
        """Who is timed again."""
        if spent < seconds:
            return list(times)
        return [name for name, of_one in times.items() if len(of_one) < ROUNDS and spent < LONGEST_CELL]


def _usual(times: Sequence[float]) -> float:
    """What a call usually takes: the median, or of long calls the least.

    Few of those are made.
    """
    least = min(times)
    return statistics.median(times) if least < BRIEF else least


def _timed(run: Run, loops: int) -> float:
    started = time.perf_counter()
    run(loops)
    return (time.perf_counter() - started) / loops


def _waiting(function: Callable[..., Any], inputs: Sequence[Any], backend: Backend) -> Run:
    """The call on a backend, its inputs there; it waits for the result."""
    synchronize = backend.hook("synchronize")
    with _choice.backend(backend):
        arrays = [
            [creation.asarray(a) for a in one] if isinstance(one, list) else creation.asarray(one) for one in inputs
        ]

    def run(loops: int) -> None:
        with _choice.backend(backend):
            for _ in range(loops):
                result = function(*arrays)
                synchronize((result[0] if isinstance(result, tuple) else result)._native)

    return run


def _repeated(bring: Callable[[Any], Any], native: Any, target: Backend) -> Run:
    """Bringing a native array to a backend."""
    synchronize = target.hook("synchronize")

    def run(loops: int) -> None:
        for _ in range(loops):
            synchronize(bring(native))

    return run


@dataclass
class Calibration:
    """What is measured of some backends.

    `steps` goes on with it, `data` is what there is so far.
    """

    backends: Sequence[Backend]
    importing: Mapping[str, float]
    """Seconds by library."""
    started: float = field(default_factory=time.perf_counter)
    """When, by `time.perf_counter`, importing them began."""
    _turns: Turns = field(default_factory=Turns)
    _least: dict[tuple[Cell, str], float] = field(default_factory=dict[tuple[Cell, str], float])
    _work: dict[Cell, float] = field(default_factory=dict[Cell, float])
    _first: dict[tuple[Cell, str], float] = field(default_factory=dict[tuple[Cell, str], float])
    _routes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def steps(self, seconds: float) -> Iterator[tuple[float, str]]:
        """Measure, yielding the part that is done and what comes next.

        Ends `seconds` after the start, but lasts at least half of that.
        """
        end = max(self.started + seconds, time.perf_counter() + seconds / 2)
        pairs = [(a, b) for a in self.backends for b in self.backends if a is not b]
        for source, target in pairs:
            yield 1 - (end - time.perf_counter()) / seconds, f"{source} to {target}"
            self._measure_route(source, target, 0.02 * seconds / len(pairs) / len(_BYTES))
        has_accelerator = any(backend.kind != "cpu" for backend in self.backends)
        cells = _cells.cells(max(_cells.LONG) if has_accelerator else LARGEST_ON_CPU)
        for cell in cells:
            left = end - time.perf_counter()
            if left <= 0:
                return
            yield 1 - left / seconds, f"{cell.kind} {cell.size}"
            self._measure(cell, SHORTEST)
        # Where there is most to be mended, again and again.
        visits = dict.fromkeys(cells, 1)
        while (left := end - time.perf_counter()) > 0:
            cell = max(cells, key=lambda one: self._doubt(one) / visits[one])
            visits[cell] += 1
            yield 1 - left / seconds, f"{cell.kind} {cell.size}, again"
            self._measure(cell, SHORTEST)

    @property
    def has_measured(self) -> bool:
        """Whether any call was."""
        return bool(self._least)

    def _doubt(self, cell: Cell) -> float:
        """Seconds that noise may have added to a call, at most.

        All by which it takes longer than in proportion to that of the size before, else some part of it.
        """
        expected = self._in_proportion(cell)
        doubts = [0.0]
        for backend in self.backends:
            seconds = self._least.get((cell, backend.name), math.inf)
            if seconds < math.inf:
                doubts.append(max(0.1 * seconds, seconds - expected.get(backend.name, seconds)))
        return max(doubts)

    def _in_proportion(self, cell: Cell) -> dict[str, float]:
        """Seconds of a call by backend, as expected from the size before.

        That is what they are if they grow in proportion to the work.
        """
        sizes = _cells.sizes(cell.kind)
        at = sizes.index(cell.size)
        before = Cell(cell.kind, cell.width, sizes[at - 1])
        if not at or cell.other or cell not in self._work or before not in self._work:
            return {}
        growth = self._work[cell] / self._work[before]
        found = {backend.name: self._least.get((before, backend.name), math.inf) for backend in self.backends}
        return {name: seconds * growth for name, seconds in found.items()}

    def _measure(self, cell: Cell, seconds: float) -> None:
        names = [backend for backend in self.backends if not self._is_too_long(cell, backend)]
        if not names:
            return
        function, inputs = cell.function, cell.inputs()
        self._work[cell] = cell.work(inputs)
        runs: dict[str, Run] = {}
        for backend in names:
            try:
                runs[backend.name] = _waiting(function, inputs, backend)
            except Exception:  # noqa: BLE001 - it has no such dtype, or no room
                continue
        with np.errstate(all="ignore"):  # a determinant may be beyond all numbers
            found = self._turns.in_turns(runs, seconds, self._in_proportion(cell))
        for name, (least, first) in found.items():
            self._note(cell, name, least, first)

    def _note(self, cell: Cell, name: str, least: float, first: float) -> None:
        self._least[cell, name] = min(least, self._least.get((cell, name), least))
        self._first.setdefault((cell, name), max(first, 0.0))

    def _is_too_long(self, cell: Cell, backend: Backend) -> bool:
        """Whether a backend needs too long for a size.

        What it took for the size before tells, or that it failed there.
        """
        sizes = _cells.sizes(cell.kind)
        at = sizes.index(cell.size)
        if at == 0:
            return False
        before = self._least.get((Cell(cell.kind, cell.width, sizes[at - 1]), backend.name))
        growth, longest = (1.0, LONGEST_VECTOR) if sizes is _cells.LONG else (1.5, LONGEST)
        if before is None:
            return True
        return before > LAUNCHING and before * (cell.size / sizes[at - 1]) ** growth > longest

    def _measure_route(self, source: Backend, target: Backend, seconds: float) -> None:
        way = _transfer.route(source, target)
        numpy = _backend.backend_of_name("numpy")
        points: list[tuple[int, float]] = []
        view: float | None = None
        for nbytes in _BYTES:
            # Aligned, and held by nobody else: memory that can be shared if any can.
            host = numpy.free.exported(np.zeros(nbytes // 4, dtype=np.float32))
            native = _transfer.moved(host, numpy, source, "calibrate").native if source is not numpy else host
            runs = {"copy": _repeated(way.copy, native, target)}
            if way.share(native) is not None:
                runs["view"] = _repeated(way.share, native, target)
            found = self._turns.in_turns(runs, seconds)
            if "copy" in found:
                points.append((nbytes, found["copy"][0]))
            if "view" in found:
                view = max(view or 0.0, found["view"][0])
        self._routes.append({"source": source.name, "target": target.name, "copy": points, "view": view})

    def data(self) -> dict[str, Any]:
        """What the profile holds, as JSON knows it."""
        return {
            "backends": {backend.name: self._costs(backend) for backend in self.backends},
            "routes": self._routes,
        }

    def _costs(self, backend: Backend) -> dict[str, Any]:
        classes: dict[str, dict[str, list[tuple[float, float]]]] = {}
        firsts: dict[str, list[float]] = {}
        for (cell, name), seconds in self._least.items():
            if name == backend.name and not cell.other:
                classes.setdefault(cell.kind, {}).setdefault(str(cell.width), []).append((self._work[cell], seconds))
                firsts.setdefault(cell.kind, []).append(self._first[cell, name])
        classes = {k: {w: _plausible(points) for w, points in by_width.items()} for k, by_width in classes.items()}
        others: dict[str, dict[str, _cost.Beside]] = {}
        for (cell, name), seconds in self._least.items():
            if name == backend.name and cell.other:
                beside = _beside(seconds, self._work[cell], classes[cell.kind][str(cell.width)])
                for function in (cell.other, *_cells.alike(cell.other)):
                    others.setdefault(function, {})[str(cell.width)] = beside
        first = {kind: float(np.median(found)) for kind, found in firsts.items()}
        return {
            "importing": self.importing.get(backend.library, 0.0),
            "compiling": first.pop(FUSED, 0.0),
            "fused": classes.pop(FUSED, {}),
            "first": first,
            "classes": classes,
            "others": others,
        }


def _beside(seconds: float, work: float, points: Sequence[tuple[float, float]]) -> _cost.Beside:
    """A function that took so long, beside the first of its class.

    Where next to all is launching, as on an accelerator, what is left of it tells nothing.
    """
    first, launching = _cost.Curve(points)(work), points[0][1]
    if seconds > first:
        return _cost.Beside(more=(seconds - first) / work)
    working, its = (max(one - launching, 0.2 * first) for one in (first, seconds))
    return _cost.Beside(part=its / working)


def _plausible(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points, without those that a busy machine spoiled.

    More work takes no less, nor far more than in proportion.
    """
    kept: list[tuple[float, float]] = []
    least = math.inf
    for work, seconds in sorted(points, reverse=True):
        least = min(least, seconds)
        kept.append((work, least))
    kept.reverse()
    found = kept[:1]
    for work, seconds in kept[1:]:
        before, took = found[-1]
        if seconds <= STEEPEST * took * work / before:
            found.append((work, seconds))
    return found


STEEPEST: Final = 10.0
"""How many times more than in proportion to its work a size may take.

Beyond a cache it does, and most where each array is new memory, of which the system makes one page after the other.
"""
_BYTES: Final = (1 << 8, 1 << 16, 1 << 20, 1 << 23)


def prepared(names: Sequence[str] | None = None) -> Calibration:
    """A calibration of these backends, or of each library's best.

    Imports them; libraries that do not work here are left out. Raises BackendError for a name that was given and cannot
    be used.
    """
    started = time.perf_counter()
    importing: dict[str, float] = {}
    wanted = list(names or _backend.libraries())
    found: dict[str, Backend] = {}
    for name in reversed(wanted):  # TensorFlow, our first, imports JAX, which then would have to be timed elsewhere
        try:
            library = _backend.parse(name)[0]
            if library.name not in importing and library.name != "numpy":
                importing[library.name] = _import_seconds(library)
            found[name] = _backend.backend_of_name(name)
        except (_errors.BackendError, ImportError, OSError):  # the latter two: a broken installation
            if names:
                raise
    backends = [_backend.backend_of_name("numpy"), *[found[name] for name in wanted if name in found]]
    return Calibration(list(dict.fromkeys(backends)), importing, started)


def _import_seconds(library: _backend.Library) -> float:
    """Seconds that loading a library takes.

    It is loaded in another process if it is loaded here, as by another library that uses it.
    """
    started = time.perf_counter()
    if library.package in sys.modules:
        program = f"from anyarray import _backend; _backend.load(_backend.libraries()[{library.name!r}])"
        subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    else:
        _backend.load(library)
    return time.perf_counter() - started


def keep(measuring: Calibration) -> Path | None:
    """Write what was measured into the profile, and use it from now on.

    Gives its path, or None if nothing was written. A calibration that was interrupted before it had measured any call
    leaves the profile that there is. Raises UnwritableError.
    """
    file = _profile.path()
    if file is None or not measuring.has_measured:
        return None
    _profile.save(measuring.data(), {backend.library for backend in measuring.backends}, file)
    _choice.forget_profile()
    return file
