"""`calibrate`: measure this machine, or show its profile."""

from __future__ import annotations

import argparse
import contextlib
import functools
import math
import sys
from pathlib import Path
from typing import Any, Final

from anyarray._base import files
from anyarray._calibration import calibration, explanation
from anyarray._choice import automatic, cost, profile
from anyarray._cli.bench import drawn, picture, split
from anyarray._cli.console import Column, Console, Table, console


def add_parser(commands: Any) -> None:
    """Add the command to the parser of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "calibrate",
        help="measure this machine for the automatic choice",
        description="Measure every installed backend, so that calls without a chosen backend run on the fastest. "
        "Takes half a minute, or a minute with an accelerator. Ctrl-C keeps the measurements so far.",
    )
    parser.add_argument("--show", action="store_true", help="only print the sizes from which each backend wins")
    parser.add_argument("--plot", metavar="FILE.png", type=picture, help="draw the measured times; needs matplotlib")
    parser.add_argument(
        "--seconds", type=_positive,
        help=f"the total time, including imports; default: {explanation.SECONDS:.0f}, or "
        f"{explanation.WITH_ACCELERATOR:.0f} with an accelerator",
    )  # fmt: skip
    parser.add_argument(
        "--quick", dest="seconds", action="store_const", const=QUICK, help=f"the same as --seconds {QUICK:.0f}"
    )
    parser.add_argument("--backends", metavar="NAMES", help="for example numpy,jax-cpu; default: all available")
    parser.set_defaults(run=run)


QUICK: Final = 9.0
"""Seconds that are enough to choose by, if less well."""


def run(options: argparse.Namespace) -> int:
    """Measure unless `--show` is given; print the crossovers, and plot.

    Exit code 130 after Ctrl-C, 1 without a profile, 2 if it could not be saved.
    """
    status = 0
    if not options.show and profile.is_off():
        wanted = "Unset it, or name a file by it"
        print(f'calibrate: ANYARRAY_PROFILE is "off", so no profile would be kept. {wanted}', file=sys.stderr)
        return 2
    try:
        if not options.show:
            profile.check()
            status = _measure(options, console(stderr=True))
        found = profile.find()
    except profile.UnwritableError as error:
        print(error, file=sys.stderr)
        return 2
    except files.UnusableError as error:
        print(f"profile: {error}. {automatic.CURE}", file=sys.stderr)
        return status or 1
    if found is None:
        print(f"There is no profile of this machine. {automatic.CURE}", file=sys.stderr)
        return status or 1
    used, model = found
    to = console()
    show(model, to)
    to.line(f"Profile: {used}", wrap=False)
    if options.plot:
        status = drawn("calibrate", functools.partial(draw, model), options.plot, to) or status
    return status


def _positive(text: str) -> float:
    """Seconds, as an argument of a command line."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: must be a positive number of seconds")
    return seconds


def _measure(options: argparse.Namespace, to: Console) -> int:
    names = split("calibrate", options.backends) if options.backends else None
    status = 0
    with (
        calibration.alone(lambda text: to.line(text, wrap=False)),
        contextlib.ExitStack() as stack,
    ):
        with to.working("importing the libraries"):
            measuring = stack.enter_context(calibration.prepared(names))
        with to.progress() as progress:
            try:
                seconds = options.seconds or explanation.usual_seconds(has_accelerator=measuring.has_accelerator)
                for done, what in measuring.steps(seconds):
                    progress(done, what)
            except KeyboardInterrupt:
                status = 130
        written = calibration.keep(measuring)
    for line in measuring.told():
        to.line(line, wrap=False)
    if status:
        kept = "the profile has what was measured so far" if written else "nothing was measured yet, nothing is changed"
        to.line(f"Interrupted: {kept}.")
    return status


def show(model: cost.Model, to: Console) -> None:
    """Print the work above which backends beat NumPy, by class and width."""
    others = [name for name in model.backends if name != "numpy"]
    titles = [f"{name}\nfloat{8 * width}" for name in others for width in cost.WIDTHS]
    table = Table([Column("class"), *[Column(title, is_right=True) for title in titles]])
    for kind in cost.CLASSES:
        cells = [_size(model.crossover(kind, width, name)) for name in others for width in cost.WIDTHS]
        table.add(kind, *cells)
    to.table(table)
    if model.added:
        to.line(f"Not measured, as installed since: {', '.join(model.added)}. {automatic.CURE}")
    to.line(
        "The work from which a backend beats NumPy, its inputs at hand: elements, n log n for sort and fft, 2mnk for "
        "matmul, n^3 for factorisations.",
    )
    for (source, target), route in model.routes.items():
        view = "" if route.view is None else f", shared {route.view * 1e6:.0f} us"
        ends = f"{route.copy(1) * 1e6:.0f} us, {route.copy(1e6) * 1e6:.0f} us for 1 MB"
        to.line(f"{source} to {target}: {ends}{view}")
    for name in others:
        to.line(f"{name}: {model.backends[name].importing:.1f} s for importing")


def _size(work: float) -> str:
    """Two digits, as 28k or 1.5M: the measured sizes are far apart."""
    if math.isinf(work):
        return "never"
    unit, name = next(
        (unit, name) for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")) if work >= unit or unit == 1
    )
    return f"{work / unit:.2g}{name}" if work / unit < 100 else f"{work / unit:.0f}{name}"


def draw(model: cost.Model, path: Path) -> None:
    """Plot seconds over work, one panel per class."""
    from matplotlib.figure import Figure  # only plots need it

    kinds = [kind for kind in cost.CLASSES if any(kind in one.laws for one in model.backends.values())]
    columns = 5
    rows = -(-len(kinds) // columns)
    figure = Figure(figsize=(3 * columns, 2.4 * rows), layout="constrained", dpi=120)
    grid = figure.subplots(rows, columns, squeeze=False).flatten()
    for axes, kind in zip(grid, kinds, strict=False):
        for name, costs in model.backends.items():
            law = costs.laws.get(kind)
            if law is not None:
                works = [work for work in cost.WORKS if work <= law.reach]
                axes.loglog(works, [law(work) for work in works], label=name)
        axes.set_title(kind, fontsize=10, loc="left")
        axes.tick_params(labelsize=7)
    for axes in grid[len(kinds) :]:
        axes.axis("off")
    grid[0].legend(fontsize=8, frameon=False)
    figure.supxlabel("work, float64")
    figure.supylabel("seconds of a call")
    figure.savefig(path)
