"""The automatic choice beside every fixed backend, on a mixed workload.

Run it by `python -m benchmarks.automatic [--plot FILE.png]`.

The workload is the experiments of `bench` at all their sizes, and a few programs. Inputs start in NumPy. Times are of
the steady state, every call waited for: medians of rounds in turns, which are taken in another order each time, each
when the threads of the last have come to rest. Both matters, as a thread that spins takes one of few cores from whoever
comes next, and as the least of a few rounds is luck where a call takes longer every other time. As for `calibrate`, the
C library keeps memory from the start, so that no row depends on how large the arrays before it were. NumPy and auto
have the same inputs: a small product of matrices takes up to a seventh longer by where those lie in memory.

"Hindsight" is, row by row, the fastest fixed backend. Were its time the least of the backends' times it would be too
low, by what chance favoured one of those that are equally fast; so one half of the turns tells which it is, and the
other what it takes, and the other way round. Needs a profile of this machine: `python -m anyarray calibrate`.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.progress import track
from rich.text import Text

import anyarray as xp
from anyarray._calibration import measuring
from anyarray._choice import automatic
from anyarray._cli.experiments import EXPERIMENTS
from benchmarks.overhead import print_table, progress, verdict

AUTO: Final = "auto"
HINDSIGHT_BOUND: Final = 1.1
"""Times the sum of the fastest fixed backend of each row."""
ROW_BOUND: Final = 1.2
"""Times NumPy, for each row that takes NumPy more than `VISIBLE`."""
VISIBLE: Final = 20e-6


def standardise_and_reduce(x: Any) -> Any:
    z = (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)
    _, _, components = xp.linalg.svd(z, full_matrices=False)
    return z @ components[:10, :].T


def logistic_loss(x: Any, w: Any, y: Any) -> Any:
    return xp.mean(xp.log1p(xp.exp(-y * (x @ w))))


def chain(x: Any) -> Any:
    y = xp.tanh(x) * 2 + 1
    return xp.sqrt(xp.abs(y * y - x)) / (1 + xp.exp(-y))


def sort_and_unique(x: Any) -> Any:
    return xp.unique_values(xp.sort(x))


def filtered(x: Any) -> Any:
    return xp.real(xp.fft.ifft(xp.fft.fft(x) * xp.exp(-xp.abs(x))))


@dataclass
class Row:
    name: str
    run: Callable[..., Any]
    host: tuple[Any, ...]
    turns: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """Seconds of a call, by turn, on each backend and under auto."""

    def seconds(self, name: str) -> float:
        """Of a call on a backend, or under auto."""
        return statistics.median(self.turns[name])

    @property
    def ratio(self) -> float:
        """The ratio of auto to NumPy, of neighbours in time.

        A spell in which the machine is slow hits both.
        """
        return statistics.median(a / n for a, n in zip(self.turns[AUTO], self.turns["numpy"], strict=True))

    @property
    def hindsight(self) -> float:
        """Seconds on the fixed backend that the other half of the turns names.

        It is the fastest there; of both halves, the mean.
        """
        halves = [
            {name: statistics.median(turns[start::2]) for name, turns in self.turns.items() if name != AUTO}
            for start in (0, 1)
        ]
        return statistics.mean(half[min(other, key=other.__getitem__)] for half, other in (halves, halves[::-1]))


def rows() -> list[Row]:
    """The mixed workload."""
    random = np.random.default_rng(0)
    found = [
        Row(
            f"{e.name} {e.size_text(size)}", lambda *xs, run=e.run: run(xp, *xs), e.inputs(random, size, np.dtype("f4"))
        )
        for e in EXPERIMENTS
        if e.is_resident
        for size in e.sizes(quick=False)
    ]
    table, weights = random.standard_normal((20_000, 50)), random.standard_normal(50)
    vector, words = random.standard_normal(1_000_000), random.integers(0, 50_000, 300_000)
    return [
        *found,
        Row("standardise, SVD", standardise_and_reduce, (table,)),
        Row("logistic loss", logistic_loss, (table, weights, np.sign(table[:, 0]))),
        Row("chain 1e6", chain, (vector,)),
        Row("sort, unique", sort_and_unique, (words,)),
        Row("fft filter", filtered, (vector[: 1 << 18].astype(np.complex64),)),
    ]


FEWEST: Final = 12
"""Turns of each backend and of auto."""
MOST: Final = 48
"""The same, where the ratio to NumPy comes to `DOUBTFUL`."""
DOUBTFUL: Final = 1.1
ROUNDS: Final = 3
"""Of a turn, whose median counts."""


def measure(row: Row, backends: list[str], seconds: float) -> None:
    """Fill in the turns of each backend and of the automatic choice."""
    order = random.Random(0)
    at_home, *others = [[xp.asarray(a) for a in row.host] for _ in backends]
    inputs = {**dict(zip(backends, [at_home, *others], strict=True)), AUTO: at_home}
    runs = {name: _repeated(row.run, arrays, lambda name=name: xp.backend(name)) for name, arrays in inputs.items()}
    loops: dict[str, int] = {}
    for name, run in runs.items():
        measuring.rest()
        started = time.perf_counter()
        run(1)
        calls = 1
        while time.perf_counter() - started < (2.0 if name == AUTO else 0.1) * seconds and calls < 400:
            run(1)
            calls += 1
        loops[name] = max(1, round(1e-3 / _timed(run, 1)))
    row.turns = {name: [] for name in runs}
    end = time.perf_counter() + seconds * len(runs)
    while (
        len(row.turns[AUTO]) < FEWEST
        or time.perf_counter() < end
        or (row.ratio > DOUBTFUL and len(row.turns[AUTO]) < MOST)
    ):
        for name in order.sample(list(runs), len(runs)):
            measuring.rest()
            row.turns[name].append(statistics.median(_timed(runs[name], loops[name]) for _ in range(ROUNDS)))


def _repeated(
    function: Callable[..., Any], arrays: list[Any], block: Callable[[], AbstractContextManager[Any]]
) -> Callable[[int], None]:
    def run(loops: int) -> None:
        with block():
            for _ in range(loops):
                result = function(*arrays)
                result._home.synchronize(result._native)

    return run


def _timed(run: Callable[[int], None], loops: int) -> float:
    started = time.perf_counter()
    run(loops)
    return (time.perf_counter() - started) / loops


def show(measured: list[Row], backends: list[str]) -> None:
    """Print the rows, the totals and the targets."""
    lines: list[list[str | Text]] = []
    for row in measured:
        times = [f"{row.seconds(name) * 1e6:,.0f}" for name in (*backends, AUTO)]
        is_bound = row.seconds("numpy") > VISIBLE
        text = f"{row.ratio:.2f}"
        lines.append([row.name, *times, verdict(row.ratio, ROW_BOUND, text) if is_bound else text])
    totals = {name: sum(row.seconds(name) for row in measured) for name in (*backends, AUTO)}
    hindsight = sum(row.hindsight for row in measured)
    lines.append(["total", *[f"{totals[name] * 1e6:,.0f}" for name in totals], f"{totals[AUTO] / totals['numpy']:.2f}"])
    print_table("us a row", ["row", *backends, AUTO, "auto/numpy"], lines)
    regret, fixed = totals[AUTO] / hindsight, totals[AUTO] / min(totals[name] for name in backends)
    print_table(
        "the total under auto",
        ["beside", "ratio"],
        [
            ["the fastest backend of each row", verdict(regret, HINDSIGHT_BOUND, f"{regret:.2f}")],
            ["the best fixed backend", verdict(fixed, 1.0, f"{fixed:.2f}")],
        ],
    )


def draw(measured: list[Row], backends: list[str], path: Path) -> None:
    """Draw each row's times over the fastest fixed backend."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 0.24 * len(measured) + 1), layout="constrained", dpi=110)
    axes = figure.subplots()
    for name, marker in zip((*backends, AUTO), "osD^v", strict=False):
        ratios = [row.seconds(name) / row.hindsight for row in measured]
        is_auto = name == AUTO
        axes.plot(
            ratios, range(len(measured)), marker if not is_auto else "|", markersize=14 if is_auto else 5, label=name,
            color="black" if is_auto else None, markeredgewidth=2 if is_auto else 1, linestyle="none",
        )  # fmt: skip
    axes.set_yticks(range(len(measured)), [row.name for row in measured], fontsize=7)
    axes.set_xscale("log")
    axes.set_xlabel("time over the fastest fixed backend of the row")
    axes.invert_yaxis()
    axes.grid(True, axis="x", color="0.9")
    axes.legend(frameon=False)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.automatic", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3, help="for each figure; default: 0.3")
    parser.add_argument("--plot", type=Path, metavar="FILE.png")
    options = parser.parse_args()
    model = automatic.model()
    if model is None:
        sys.exit(f"There is no profile of this machine. {automatic.CURE}")
    backends = list(model.backends)
    measured = rows()
    with np.errstate(all="ignore"):
        for row in track(measured, "automatic", console=progress, transient=True):
            measure(row, backends, options.seconds)
    show(measured, backends)
    if options.plot:
        draw(measured, backends, options.plot)


if __name__ == "__main__":
    main()
