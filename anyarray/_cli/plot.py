"""The plot of `bench`: time over size, one panel per experiment."""

# matplotlib's own annotations leave **kwargs without types:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from anyarray._cli.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS: Final = ("#4477aa", "#ee6677", "#228833", "#aa3377", "#ccbb44", "#66ccee", "#777777")
"""Colour-blind safe: the bright scheme of Paul Tol."""
_MARKERS: Final = "osD^vPX"


def save(results: Results, path: Path) -> None:
    """Plot the results to a file, in the format of its extension."""
    experiments = [e for e in results.experiments if any(m.experiment == e.name for m in results.measurements)]
    columns = min(4, len(experiments) + 1)
    rows = -(-(len(experiments) + 1) // columns)
    figure = Figure(figsize=(3.4 * columns, 3.0 * rows + 0.4), layout="constrained", dpi=150)
    figure.suptitle(f"anyarray {results.version} bench, {results.dtype}", fontweight="bold")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True).flatten()
    for axes, experiment in zip(grid, experiments, strict=False):
        for i, name in enumerate(results.names):
            seconds = results.seconds(experiment.name, name)
            axes.plot(
                list(seconds), list(seconds.values()), color=_COLOURS[i % len(_COLOURS)],
                marker=_MARKERS[i % len(_MARKERS)], markersize=4.5, linewidth=1.6, label=name,
            )  # fmt: skip
        axes.set_title(experiment.name, fontweight="bold", fontsize=11, loc="left", pad=16)
        axes.text(0, 1.02, experiment.meaning, fontsize=8, color="0.4", transform=axes.transAxes)
        measured = {size for name in results.names for size in results.seconds(experiment.name, name)}
        _style(axes, experiment.base, sorted(measured))
    for axes in grid[len(experiments) :]:
        axes.axis("off")
    for row in range(rows):
        grid[row * columns].set_ylabel("time of a call")
    legend = grid[len(experiments)]
    handles, labels = grid[0].get_legend_handles_labels()
    versions = {one.name: one.version or "" for one in results.backends}
    texts = [f"{name}  {versions[name]}" for name in labels]
    legend.legend(handles, texts, loc="upper left", frameon=False, fontsize=11)
    legend.text(0.04, 0.05, results.machine.replace(", ", "\n"), fontsize=8, color="0.4", transform=legend.transAxes)
    figure.savefig(path)


def _style(axes: Axes, base: int, sizes: list[int]) -> None:
    axes.set_xscale("log", base=base)
    axes.set_yscale("log")
    axes.set_xticks(sizes)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(_tick))
    axes.set_xlabel("elements", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(True, color="0.9", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


def _tick(seconds: float, position: float | None) -> str:
    """The label of a tick, which is a power of ten."""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.999 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 1e-9:.0f} ns"
