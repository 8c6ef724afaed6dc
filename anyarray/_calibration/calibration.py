"""What `calibrate` measures: calls by class, transfers, imports, compilation.

The backends take turns in short rounds, and the median of each one's rounds counts. The minimum would be how fast a
library can be: close to its usual time on one thread, but far from it on several. Each backend has the cores to itself:
before its turn the threads of the previous one come to rest. Arrays larger than the blocks that the allocator keeps are
in new memory, whose page faults may take as long as the work, whatever earlier calls have left.

All calls of a visit to a cell (a class of functions at one size and width) may coincide with a busy spell, in which
other programs take a core, and slow down one backend a hundred times and another not at all. So the visits to a cell
are spread over time, and their lower median counts: of two the faster, as noise only adds; of more not always the
fastest, as calls with arrays beyond the caches take half their usual time now and then. The next cell to visit is the
one with the greatest doubt: few visits agree with its time, or it is slower than expected from the other sizes, the
other width and the other backends, or it is missing although the smaller size says that it can be measured. A cell that
is far too slow comes before one that was not visited yet. A plausible time of a single visit comes after those, but
first where it decides: where another backend is the fastest, but might not be if a busy spell had slowed down this
one's calls. Cells with which others are compared are visited at least twice. An interrupted run keeps what it measured.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import getpass
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from anyarray._calibration import cells as _cells
from anyarray._calibration.cells import FUSED, Cell
from anyarray._choice import choice, cost, profile
from anyarray._memory import alignment, transfer
from anyarray._registry import libraries, registry
from anyarray._registry.registry import Backend
from anyarray.standard import creation, elementwise

ROUND_SECONDS: Final = 5e-4
"""Approximate seconds of a round: shorter than a time slice of the scheduler on a busy machine."""
LONGEST: Final = 0.12
"""Threshold in seconds of a call above which no larger size is measured."""
LONGEST_VECTOR: Final = 0.05
"""The same for vectors, whose time is proportional to the size from there on."""
LAUNCHING: Final = 1e-3
"""Seconds of a call up to which it may be launch overhead alone, which says nothing about larger sizes."""
ROUNDS: Final = 4
"""Rounds of a backend in each of its turns."""
SHORTEST: Final = 0.004
"""The minimum seconds of all turns of a visit."""
LONGEST_CELL: Final = 0.15
"""The maximum seconds of all turns of a visit, for a better median."""
BRIEF: Final = 0.01
"""Seconds of a call up to which waking the threads matters, so that several calls are made in a row."""
LARGEST_ON_CPU: Final = 1 << 24
"""The largest size that is measured on CPUs alone."""
APART: Final = 0.06
"""The minimum time between two visits to a cell, as a part of the total: five seconds, longer than most busy spells."""
AGREEING: Final = 1.2
"""The maximum ratio of a visit's time and the median for which the visit confirms it."""
MISSING: Final = 5.0
"""The doubt where nothing was measured that could be."""
UNCONFIRMED: Final = 0.3
"""The doubt in what one visit alone says, beside the logarithm of how many times slower than expected it is."""
CONTESTED: Final = 1.2
"""The same where another backend is the fastest, but by less than `SLOWED_DOWN`."""
SLOWED_DOWN: Final = 2.5
"""The factor by which a busy spell may slow down a call."""
UNVISITED: Final = 1.6
"""The doubt in a cell that was not visited: so much as if one visit said that it is four times as slow as expected.

What was measured in a busy spell misleads more than what was not measured, for which other cells stand.
"""
COMPARED_WITH: Final = 1.7
"""The same of the first of a class where its other functions are measured, as all that is known of them lies in it."""
STOOD_FOR: Final = 0.7
"""The same of a function for which the other width stands, or else the first of its class, and quite well."""
NEVER_WON: Final = cost.DECIDING / 2
"""Seconds in NumPy up to which a cell cannot affect a decision, as there is little to save."""
STEEP: Final = 1.5
"""The usual maximum of the ratio of times of two sizes, relative to that of their work."""
STEEPER: Final = 1.2
"""The usual maximum of that ratio, relative to another backend's."""
WIDER: Final = 3.0
"""The usual maximum of the ratio of times of the two widths for as many bytes."""
THREADED: Final = 1 << 20
"""Numbers of a call for which threads wake up."""
UNCACHED: Final = 1 << 21
"""Elements of 4 bytes that are more than the caches of a core hold."""
ENTRIES: Final = 15
"""Calls whose median is the time of a switch to another library."""
ROUNDS_OF_ROUTES: Final = 3
"""So often transfers are measured, spread over the time."""
LOOKS: Final = 9
"""The same of going on with another library: which cores its threads are given changes from second to second."""
LOOK_PER: Final = 10.0
"""Seconds of the time for each of these looks at least, as one takes a fifth of a second."""
PATIENCE: Final = 3
"""Failed waits in a row for threads to come to rest, after which they are waited for only now and then."""
WEARY: Final = 5.0
"""Seconds for which they are not waited for then."""


Run = Callable[[int], None]
"""Makes a call so many times, and synchronizes."""
NOTHING: Final[Mapping[str, float]] = {}
GLANCE: Final = 0.005
"""Seconds over which threads are observed: longer than the ticks by which Linux counts their CPU time."""
IDLE: Final = 5e-4
"""CPU seconds of other threads in that time up to which all of them are idle."""
SPINNING: Final = 0.3
"""The maximum seconds to wait for them. OpenBLAS's threads spin for 2^28 cycles, a tenth of a second."""


def rest() -> bool:
    """Wait until all other threads of this process are idle; False if not.

    The threads of some libraries spin after a call, waiting for work, and take a core from the next library's.
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
        self._restless = 0
        """Failed waits in a row: some thread of the process may always be busy."""
        self._patient_from = -math.inf
        """The time from which they are waited for again."""
        self._others = 0.0
        """CPU seconds of all other threads at the last rest."""
        self._calm: set[str] = set()
        """Backends whose threads were idle at once after the call that is timed."""

    def turn(self, name: str, run: Run, loops: int, rounds: int, *, in_new_memory: bool = False) -> list[float]:
        """Seconds of a call, for each of some rounds of `loops` calls.

        Each round finds no freed memory if it is to be `in_new_memory`.
        """
        if name != self._last:
            self._rest()
        self._last = name
        times: list[float] = []
        for _ in range(rounds):
            if in_new_memory:
                alignment.trim_malloc()
            times.append(_timed(run, loops))
        return times

    def _rest(self) -> None:
        """Wait for the threads of the last backend, if they worked at all.

        A check takes 5 ms, so backends whose threads were idle at once are not checked again for the same call.
        """
        others = time.process_time() - time.thread_time()
        now = time.perf_counter()
        if others - self._others > IDLE and now >= self._patient_from and self._last not in self._calm:
            self._restless = 0 if rest() else self._restless + 1
            if time.perf_counter() - now < 2 * GLANCE:
                self._calm.add(self._last)
            if self._restless >= PATIENCE:
                self._patient_from = time.perf_counter() + WEARY
            others = time.process_time() - time.thread_time()
        self._others = others

    def in_turns(
        self,
        runs: Mapping[str, Run],
        seconds: float,
        expected: Mapping[str, float] = NOTHING,
        *,
        in_new_memory: bool = False,
    ) -> dict[str, tuple[float, float]]:
        """The usual time of each call, and the additional time of its first.

        Backends that fail are omitted. A long call that takes longer than `expected` is repeated: threads that were
        woken on one core take some time to move to the other.
        """
        times: dict[str, list[float]] = {}
        loops: dict[str, int] = {}
        first: dict[str, float] = {}
        started = time.perf_counter()
        self._calm.clear()
        turn = functools.partial(self.turn, in_new_memory=in_new_memory)
        for name in self._there_and_back(list(runs)):
            try:
                found = turn(name, runs[name], 1, 2)
                if found[1] < BRIEF:
                    found += turn(name, runs[name], 1, 1)
            except Exception:  # noqa: BLE001 - whatever a library raises, it cannot do this: so it is no candidate
                continue
            first[name], *times[name] = found
            least = min(times[name])
            loops[name] = max(1, round(ROUND_SECONDS / least))
            if loops[name] > 1:
                times[name] = turn(name, runs[name], loops[name], ROUNDS)
            elif least < BRIEF:
                times[name] += turn(name, runs[name], 1, ROUNDS - 1)
            while min(times[name]) > max(BRIEF, 1.5 * expected.get(name, math.inf)) and sum(times[name]) < LONGEST_CELL:
                times[name] += turn(name, runs[name], 1, 1)
        while times and time.perf_counter() - started < seconds:
            for name in self._there_and_back(list(times)):
                times[name] += turn(name, runs[name], loops[name], ROUNDS if loops[name] > 1 else 2)
        usual = {name: _usual(of_one) for name, of_one in times.items()}
        return {name: (its, first[name] - its) for name, its in usual.items()}

    def _there_and_back(self, names: list[str]) -> list[str]:
        """The names, reversed if the last one was timed last.

        Its threads may still spin, but they do not disturb itself.
        """
        return names[::-1] if names[-1] == self._last else names


def _usual(times: Sequence[float]) -> float:
    """The usual time of a call: the median; of long calls the minimum.

    Long calls are made only a few times.
    """
    least = min(times)
    return statistics.median(times) if least < BRIEF else least


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


def _repeated(bring: Callable[[Any], Any], native: Any, target: Backend) -> Run:
    """The transfer of a native array to a backend."""
    synchronize = target.hook("synchronize")

    def run(loops: int) -> None:
        for _ in range(loops):
            synchronize(bring(native))

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
    _unable: set[tuple[Cell, str]] = field(default_factory=set[tuple[Cell, str]])
    """Cells whose call fails on a backend."""
    _work: dict[Cell, float] = field(default_factory=dict[Cell, float])
    _first: dict[tuple[Cell, str], float] = field(default_factory=dict[tuple[Cell, str], float])
    _last: dict[Cell, tuple[float, float]] = field(default_factory=dict[Cell, tuple[float, float]])
    """When the last visit ended, and how long it took."""
    _doubts: dict[Cell, float] = field(default_factory=dict[Cell, float])
    """A cache of doubts, updated after visits to a cell and its neighbours, as to compute all takes too long."""
    _copies: dict[tuple[str, str], dict[int, float]] = field(default_factory=dict[tuple[str, str], dict[int, float]])
    """Seconds of a transfer by its ends and by bytes."""
    _views: dict[tuple[str, str], dict[int, float]] = field(default_factory=dict[tuple[str, str], dict[int, float]])
    """The same where memory is shared."""
    _entering: dict[str, list[tuple[float, float]]] = field(default_factory=dict[str, list[tuple[float, float]]])
    """Seconds of a call in a row, and right after NumPy's, for each measurement."""

    def steps(self, seconds: float) -> Iterator[tuple[float, str]]:
        """Measure, yielding the part that is done and what comes next.

        Ends `seconds` after the start, but lasts at least half of that.
        """
        end = max(self.started + seconds, time.perf_counter() + seconds / 2)

        def done() -> float:
            return 1 - (end - time.perf_counter()) / seconds

        pairs = [(a, b) for a in self.backends for b in self.backends if a is not b]
        each = 0.02 * seconds / max(ROUNDS_OF_ROUTES * len(pairs) * len(_BYTES), 1)

        def routes() -> Iterator[tuple[float, str]]:
            for source, target in pairs:
                yield done(), f"{source} to {target}"
                self._measure_route(source, target, each)

        def entering() -> Iterator[tuple[float, str]]:
            if pairs:
                yield done(), f"calls after those of {self.backends[0]}"
                self._measure_entering()

        has_accelerator = any(backend.kind != "cpu" for backend in self.backends)
        cells = _cells.cells(max(_cells.LONG) if has_accelerator else LARGEST_ON_CPU)
        began = time.perf_counter()
        looks = min(LOOKS, 1 + int(seconds / LOOK_PER))
        due = [
            (began + (end - began) * (i + shift) / rounds, measure)
            for rounds, shift, measure in ((ROUNDS_OF_ROUTES, 0.0, routes), (looks, 0.5, entering))
            for i in range(rounds)
        ]
        due.sort(key=lambda one: one[0])
        while (now := time.perf_counter()) < end:
            if due and now >= due[0][0]:
                yield from due.pop(0)[1]()
            cell = self._next(cells, APART * seconds, end - now)
            if cell is None:
                return
            again = ", again" if cell in self._last else ""
            yield done(), f"{cell.kind} {cell.size}{again}"
            self._visit(cell)

    def _visit(self, cell: Cell) -> None:
        began = time.perf_counter()
        self._measure(cell, SHORTEST)
        ended = time.perf_counter()
        self._last[cell] = ended, ended - began
        for one in (cell, _neighbour(cell, -1), _neighbour(cell, 1), *_of_other_width(cell)):
            if one is not None:
                self._doubts[one] = self._doubt(one)

    def _next(self, cells: Sequence[Cell], apart: float, left: float) -> Cell | None:
        """The cell with the greatest doubt that was not visited just now.

        None if there is none whose visit is short enough for the time left.
        """
        now, never = time.perf_counter(), (-math.inf, 0.0)
        doubtful = [(self._doubts.get(cell, _unvisited(cell)), *self._last.get(cell, never), cell) for cell in cells]
        short = [one for one in doubtful if one[0] and one[2] <= left]
        ripe = [one for one in short if now - one[1] >= apart]
        if ripe:
            return max(ripe, key=lambda one: one[0])[-1]
        return min(short, key=lambda one: one[1])[-1] if short else None

    @property
    def has_measured(self) -> bool:
        """Whether any call was."""
        return bool(self._visits)

    def _seconds(self, cell: Cell, name: str) -> float | None:
        """Seconds of a call, as its visits tell; None without one."""
        visits = self._visits.get((cell, name))
        return statistics.median_low(visits) if visits else None

    def _doubt(self, cell: Cell) -> float:
        """The doubt in the times of a cell: that of its most doubtful backend.

        It is 0 if the cell cannot affect a decision, or cannot be measured.
        """
        if cell not in self._last:
            return _unvisited(cell)
        numpys = self._seconds(cell, "numpy")
        if numpys is not None and numpys < NEVER_WON and cell.size != _cells.sizes(cell.kind)[0]:
            return 0.0
        return max([self._doubt_of(cell, backend) for backend in self.backends], default=0.0)

    def _doubt_of(self, cell: Cell, backend: Backend) -> float:
        its = self._seconds(cell, backend.name)
        if its is None:
            return 0.0 if (cell, backend.name) in self._unable or self._is_too_long(cell, backend) else MISSING
        agreeing = sum(its / AGREEING <= one <= its * AGREEING for one in self._visits[cell, backend.name])
        if _cells.is_compared_with(cell):
            doubt = COMPARED_WITH
        else:
            doubt = CONTESTED if self._is_contested(cell, backend.name, its) else UNCONFIRMED
        return (doubt + math.log(max(1.0, its / self._most(cell, backend.name)))) / agreeing**2

    def _is_contested(self, cell: Cell, name: str, seconds: float) -> bool:
        """Whether a backend with this time might be the fastest after all.

        Another one seems to be.
        """
        others = [self._seconds(cell, backend.name) for backend in self.backends if backend.name != name]
        fastest = min([its for its in others if its is not None], default=math.inf)
        return cost.DECIDING < fastest < seconds < SLOWED_DOWN * fastest

    def _most(self, cell: Cell, name: str) -> float:
        """The maximum seconds that a call is expected to take.

        From the measurements of neighbouring sizes, of the other width and of other backends. Infinite without any.
        """
        smaller, larger = _neighbour(cell, -1), _neighbour(cell, 1)
        limits = [(one, WIDER) for one in _of_other_width(cell)]
        if smaller is not None and smaller in self._work:
            limits.append((smaller, STEEP * max(1.0, self._work[cell] / self._work[smaller])))
            limits.append((smaller, STEEPER * self._growth_of_others(smaller, cell, name)))
        if larger is not None:
            limits.append((larger, 1.0))
        return self._tightest(name, limits)

    def _tightest(self, name: str, limits: Sequence[tuple[Cell, float]]) -> float:
        """The minimum of the limits by cells: multiples of their seconds.

        Infinite if none of them was visited.
        """
        found = [(self._seconds(one, name), times) for one, times in limits]
        return min([seconds * times for seconds, times in found if seconds is not None], default=math.inf)

    def _growth_of_others(self, smaller: Cell, cell: Cell, name: str) -> float:
        """The ratio of another backend's times of this size and the smaller.

        That of the backend which grows most. Infinite if the smaller time is launch overhead.
        """
        its = self._seconds(smaller, name)
        found: list[float] = []
        for backend in self.backends:
            before, after = self._seconds(smaller, backend.name), self._seconds(cell, backend.name)
            if backend.name != name and after is not None and before is not None and before > cost.DECIDING:
                found.append(after / before)
        return max(found, default=math.inf) if its is not None and its > cost.DECIDING else math.inf

    def _believed(self, cell: Cell, name: str) -> float:
        """Seconds of a call: what was measured, if plausible.

        It is not if, by the other width, all visits were slowed down.
        """
        return self._tightest(name, [(cell, 1.0), *[(one, WIDER) for one in _of_other_width(cell)]])

    def _in_proportion(self, cell: Cell) -> dict[str, float]:
        """Seconds of a call by backend, extrapolated from the smaller size.

        In proportion to the work.
        """
        before = _neighbour(cell, -1)
        if before is None or cell not in self._work or before not in self._work:
            return {}
        growth = self._work[cell] / self._work[before]
        found = {backend.name: self._seconds(before, backend.name) for backend in self.backends}
        return {name: seconds * growth for name, seconds in found.items() if seconds is not None}

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
        with np.errstate(all="ignore"):  # a determinant may overflow
            expected = self._in_proportion(cell)
            found = self._turns.in_turns(runs, seconds, expected, in_new_memory=cell.is_beyond_kept)
        self._unable.update([(cell, backend.name) for backend in names if backend.name not in found])
        for name, (seconds, first) in found.items():
            self._visits.setdefault((cell, name), []).append(seconds)
            self._first.setdefault((cell, name), max(first, 0.0))

    def _is_too_long(self, cell: Cell, backend: Backend) -> bool:
        """Whether a size would take a backend too long.

        By its time for the smaller size, or if it failed there.
        """
        smaller = _neighbour(dataclasses.replace(cell, other=""), -1)
        if smaller is None:
            return False
        before = self._seconds(smaller, backend.name)
        growth, longest = (1.0, LONGEST_VECTOR) if _cells.sizes(cell.kind) in _cells.OF_VECTORS else (1.5, LONGEST)
        if before is None:
            return True
        return before > LAUNCHING and before * (cell.size / smaller.size) ** growth > longest

    def _measure_route(self, source: Backend, target: Backend, seconds: float) -> None:
        way = transfer.route(source, target)
        numpy = registry.backend_of_name("numpy")
        ends = source.name, target.name
        for nbytes in _BYTES:
            # Aligned, and without other references: memory that can be shared if any can.
            host = numpy.free.exported(np.zeros(nbytes // 4, dtype=np.float32))
            native = transfer.from_host(host, source) if source is not numpy else host
            runs = {"copy": _repeated(way.copy, native, target)}
            if way.share(native) is not None:
                runs["view"] = _repeated(way.share, native, target)
            found = self._turns.in_turns(runs, seconds)
            for what, times in (("copy", self._copies), ("view", self._views)):
                if what in found:
                    least = times.setdefault(ends, {})
                    least[nbytes] = min(found[what][0], least.get(nbytes, math.inf))

    def _measure_entering(self) -> None:
        """Time calls in a row, and alternating with large calls of NumPy.

        The arrays of those evict the code of the other library and of Python from the CPU caches. Meanwhile its threads
        go to sleep.
        """
        numpy = self.backends[0]
        large = _cells.uniform(UNCACHED, np.dtype(np.float32))
        work = _waiting(elementwise.add, [large, large], numpy)
        runs: dict[str, Run] = {}
        usual: dict[str, list[float]] = {}
        for backend in self.backends:
            try:
                run = _waiting(elementwise.exp, [_cells.uniform(THREADED, np.dtype(np.float64))], backend)
                run(1)
            except Exception:  # noqa: BLE001 - as in its turns, it is no candidate then
                continue
            runs[backend.name], usual[backend.name] = run, self._turns.turn(backend.name, run, 1, ENTRIES)
        after: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(ENTRIES):
            for name, run in runs.items():
                work(2)
                after[name].append(_timed(run, 1))
        for name in runs:
            look = statistics.median(usual[name]), statistics.median(after[name])
            self._entering.setdefault(name, []).append(look)

    def _longer(self, name: str) -> float:
        """Additional seconds of a call right after NumPy's.

        In a row it runs on both cores in some measurements, and on one in others; after NumPy's calls rarely on both.
        """
        looks = self._entering.get(name, [(0.0, 0.0)])
        return statistics.median([after for _, after in looks]) - min([in_a_row for in_a_row, _ in looks])

    def data(self) -> dict[str, Any]:
        """The content of the profile, of JSON's types."""
        return {
            "backends": {backend.name: self._costs(backend) for backend in self.backends},
            "routes": [
                {
                    "source": ends[0],
                    "target": ends[1],
                    "copy": list(copies.items()),
                    "view": max(self._views.get(ends, {}).values(), default=None),
                }
                for ends, copies in self._copies.items()
            ],
        }

    def _costs(self, backend: Backend) -> dict[str, Any]:
        classes: dict[str, dict[str, list[tuple[float, float]]]] = {}
        firsts: dict[str, list[float]] = {}
        for cell, name in self._visits:
            if name == backend.name and not cell.other:
                point = self._work[cell], self._believed(cell, name)
                classes.setdefault(cell.kind, {}).setdefault(str(cell.width), []).append(point)
                firsts.setdefault(cell.kind, []).append(self._first[cell, name])
        classes = {k: {w: _plausible(points) for w, points in by_width.items()} for k, by_width in classes.items()}
        others: dict[str, dict[str, cost.Beside]] = {}
        for cell, name in self._visits:
            if name == backend.name and cell.other:
                beside = _beside(self._believed(cell, name), self._work[cell], classes[cell.kind][str(cell.width)])
                for function in (cell.other, *_cells.alike(cell.other)):
                    others.setdefault(function, {})[str(cell.width)] = beside
        first = {kind: float(np.median(found)) for kind, found in firsts.items()}
        return {
            "importing": self.importing.get(backend.library, 0.0),
            "entering": max(0.0, self._longer(backend.name) - self._longer("numpy")),
            "compiling": first.pop(FUSED, 0.0),
            "fused": classes.pop(FUSED, {}),
            "first": first,
            "classes": classes,
            "others": others,
        }


def _unvisited(cell: Cell) -> float:
    """The doubt in a cell that was not visited."""
    has_stand_in = cell.other and cell.kind not in _cells.DIFFERING and cell.width == cost.WIDTHS[0]
    return STOOD_FOR if has_stand_in else UNVISITED


def _of_other_width(cell: Cell) -> list[Cell]:
    """The cells of the other width, whose arrays have as many bytes."""
    return [dataclasses.replace(cell, width=width) for width in cost.WIDTHS if width != cell.width]


def _neighbour(cell: Cell, step: int) -> Cell | None:
    """The cell that is `step` sizes larger; None if there is none.

    Functions that are not the first of their class are measured at one size.
    """
    sizes = _cells.sizes(cell.kind)
    at = sizes.index(cell.size) + step
    return None if cell.other or not 0 <= at < len(sizes) else dataclasses.replace(cell, size=sizes[at])


def _beside(seconds: float, work: float, points: Sequence[tuple[float, float]]) -> cost.Beside:
    """The time of a function relative to the first of its class.

    Where most of it is launch overhead, as on an accelerator, the rest says nothing.
    """
    first, launching = cost.Curve(points)(work), points[0][1]
    if seconds > first:
        return cost.Beside(more=(seconds - first) / work, at=work)
    working, its = (max(one - launching, 0.2 * first) for one in (first, seconds))
    return cost.Beside(part=its / working, at=work)


def _plausible(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points without implausible ones, as measured in a busy spell.

    More work takes no less time, nor far more than in proportion.
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
"""The maximum factor by which a size may take more than in proportion to its work.

It takes more beyond a cache, and most where each array is new memory, with page faults.
"""
_BYTES: Final = (1 << 8, 1 << 16, 1 << 20, 1 << 23)


WAITING: Final = "calibrate: another process measures this machine, so it waits until that has ended"
LOOK: Final = 0.2
"""Seconds between two checks whether another calibration has ended."""


@contextlib.contextmanager
def alone(tell: Callable[[str], None]) -> Generator[None]:
    """Hold the lock of calibrations of this user on this machine.

    Others wait, and say so by `tell`: they would take the cores from each other unnoticed. The system releases the lock
    when the process ends.
    """
    with contextlib.ExitStack() as stack:
        try:
            who = getpass.getuser()
            lock = stack.enter_context(open(Path(tempfile.gettempdir(), f"anyarray-calibrating-{who}"), "ab"))
        except (OSError, KeyError, ImportError):
            pass  # no such folder, or no name, which Windows may have to import: nobody is kept out
        else:
            if not _is_locked(lock.fileno()):
                tell(WAITING)
                while not _is_locked(lock.fileno()):
                    time.sleep(LOOK)
        yield


def _is_locked(descriptor: int) -> bool:
    """Whether this process holds the lock of a file now.

    True, too, where files cannot be locked.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
    return True


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
