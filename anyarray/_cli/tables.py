"""The tables of `bench`: one row per size, one column per backend."""

from __future__ import annotations

from collections.abc import Sequence

from anyarray._calibration.explanation import duration
from anyarray._cli import timing
from anyarray._cli.console import Cell, Column, Console, Table
from anyarray._cli.experiments import Experiment
from anyarray._cli.results import BASELINE, Results

_FIXED_WIDTH = 34
"""Width of the first and last column of a table, in characters."""
_BACKEND_WIDTH = 13
"""Width of the column of a backend, in characters."""


def show(results: Results, to: Console) -> None:
    """Print the tables and their legend."""
    names = results.names
    abreast = max(1, (to.width - _FIXED_WIDTH) // _BACKEND_WIDTH)
    for start in range(0, len(names), abreast):
        to.table(_table(results, names[start : start + abreast]))
    for line in _notes(results):
        to.line(line)


def _table(results: Results, names: Sequence[str]) -> Table:
    is_contest = len(results.names) > 1
    table = Table(
        [
            Column("elements"),
            *[Column(f"{name:>9}", is_right=True) for name in names],
            *[Column("fastest")] * is_contest,
        ]
    )
    for experiment in results.experiments:
        sizes = [size for size in experiment.sizes(results.quick) if _is_touched(results, experiment, size)]
        if not sizes:
            continue
        table.add(Cell(experiment.name, "bold"))
        for size in sizes:
            cells = [_time(results, experiment, size, name) for name in names]
            gain = [_gain(results, experiment, size)] if is_contest else []
            table.add(f"  {experiment.size_text(size)}", *cells, *gain)
        table.add("  warm-up", *[_warm_up(results, experiment, name) for name in names], style="dim")
        if results.has_baseline and is_contest:
            table.add("  ahead from", *[_crossover(results, experiment, name) for name in names], style="dim")
        table.separate()
    return table


def _is_touched(results: Results, experiment: Experiment, size: int) -> bool:
    """Whether the run reached this cell."""
    cells = [(m.experiment, m.size) for m in results.measurements] + [(f.experiment, f.size) for f in results.failures]
    cells += [(name, size) for name, size, _ in results.left_out]
    return (experiment.name, size) in cells


def _time(results: Results, experiment: Experiment, size: int, name: str) -> Cell:
    measurement = results.measurement(experiment.name, size, name)
    if measurement is None:
        is_left_out = (experiment.name, size, name) in results.left_out
        return Cell("too long", "dim") if is_left_out else Cell("failed", "red")
    text = duration(measurement.seconds)
    is_best = measurement is results.fastest(experiment.name, size)
    return Cell(f"* {text}", "bold green") if is_best else Cell(text)


def _gain(results: Results, experiment: Experiment, size: int) -> str:
    best = results.fastest(experiment.name, size)
    numpys = results.measurement(experiment.name, size, BASELINE)
    if best is None or numpys is None or best is numpys:
        return best.contestant if best else ""
    gain = numpys.seconds / best.seconds
    return f"{best.contestant} {gain:.{0 if gain >= 9.95 else 1}f}x"


def _warm_up(results: Results, experiment: Experiment, name: str) -> str:
    seconds = results.warm_up(experiment.name, name)
    return "" if seconds is None else duration(seconds)


def _crossover(results: Results, experiment: Experiment, name: str) -> str:
    size = results.crossover(experiment.name, name)
    if size is None or isinstance(size, str):
        return size or ""
    # One digit, as the crossover is between two sizes that are far apart.
    return f"{float(f'{size:.0e}'):,.0f}"


def _notes(results: Results) -> list[str]:
    meanings = "; ".join(f"{experiment.name}: {experiment.meaning}" for experiment in results.experiments)
    versions = ", ".join(f"{one.name} {one.version or ''}".rstrip() for one in results.backends)
    reading = (
        f"Times are of one {results.dtype} call, waited for: the least of several rounds. * is the fastest; gains are "
        "over numpy. Warm-up: what a first call took longer, compiling say. Ahead from: the size where it beats numpy."
    )
    notes = [
        reading,
        meanings + ".",
        f"{versions}; {results.machine}.",
    ]
    layer = ", ".join(f"{name} {seconds * 1e6:+.2f} us" for name, seconds in results.layer_seconds().items())
    if layer:
        notes.append(f"anyarray on numpy above NumPy itself, a call at the smallest size: {layer}.")
    if results.left_out:
        notes.append(
            f"Too long: a call would take more than {timing.LONGEST_SECONDS:.0f} s, by those of fewer elements."
        )
    notes += [
        f"{failure.contestant} failed at {failure.experiment}, {failure.size} elements: {failure.error}"
        for failure in results.failures
    ]
    if not results.is_complete:
        notes.append("Interrupted: these are the results so far.")
    return notes
