"""`bench`: the experiments on every installed backend, side by side."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from anyarray import Backend
from anyarray._base import errors, files
from anyarray._choice import choice
from anyarray._cli import tables, timing
from anyarray._cli.console import Console, console
from anyarray._cli.experiments import EXPERIMENTS
from anyarray._cli.results import Participant, Results
from anyarray._registry import libraries, registry

STANDARD_OUTPUT: Final = Path("-")


def add_parser(commands: Any) -> None:
    """Add the command to the parser of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "bench",
        help="time the installed backends, side by side",
        description="Time these experiments: "
        + ", ".join(experiment.name for experiment in EXPERIMENTS)
        + ". Each runs with few elements and with up to millions, on every installed backend. "
        "Takes about a minute and a half.",
    )
    parser.add_argument("--backends", metavar="NAMES", help="such as numpy,jax-cpu; default: all that work here")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds, a few seconds")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32", help="default: float32")
    parser.add_argument(
        "--from", metavar="FILE", type=_measured_before, dest="before", help="show what --json wrote; measures nothing"
    )
    parser.add_argument("--plot", metavar="FILE.png", type=picture, help="draw the curves; needs matplotlib")
    parser.add_argument(
        "--json", metavar="FILE", type=_writable, nargs="?", const=STANDARD_OUTPUT,
        help="write the measurements as JSON, without a FILE in place of the table",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure, print, plot; after Ctrl-C what was measured, exit code 130."""
    to = console(stderr=True)
    if options.before is not None:
        return _shown(options.before, options, to)
    backends = _participants(options.backends, to)
    participants = [Participant(one.name, libraries.libraries()[one.library].version) for one in backends]
    results = Results(participants, EXPERIMENTS, options.dtype, options.quick)
    try:
        _measure(results, backends, to)
        results.is_complete = True
    except KeyboardInterrupt:
        pass
    return _shown(results, options, to)


def _shown(results: Results, options: argparse.Namespace, to: Console) -> int:
    """Print and plot results; returns the exit code."""
    status = 0
    text = json.dumps(results.as_json(), indent=2) + "\n" if options.json else ""
    if options.json == STANDARD_OUTPUT:
        sys.stdout.write(text)
    else:
        tables.show(results, console())
        if options.json:
            try:
                options.json.write_text(text)
            except OSError as error:
                status = _refused("bench", options.json, error)
    if options.plot and results.measurements:
        # Imports matplotlib, which only plots need.
        from anyarray._cli import plot

        status = drawn("bench", functools.partial(plot.save, results), options.plot, to) or status
    return status if results.is_complete else 130


def drawn(command: str, save: Callable[[Path], None], path: Path, to: Console) -> int:
    """Save a plot and report it; exit code 1 if it cannot be written."""
    try:
        save(path)
    except OSError as error:
        return _refused(command, path, error)
    to.line(f"Drawn: {path}", wrap=False)
    return 0


def _refused(command: str, path: Path, error: OSError) -> int:
    """Report an unwritable file; exit code 1. Results are printed anyway."""
    print(f"{command}: {path} cannot be written ({error.strerror})", file=sys.stderr)
    return 1


def _participants(names: str | None, to: Console) -> list[Backend]:
    """The backends of a comma-separated list, loaded.

    Without a list, the best device of each library that works here. Raises BackendError for a given name that is not
    available.
    """
    if names:
        wanted = split("bench", names)
        for name in wanted:
            registry.parse(name)  # reports a misspelled name before any library is imported
    else:
        wanted = [name for name, row in libraries.libraries().items() if not row.is_lazy]
    found: list[Backend] = []
    for name in wanted:
        with to.working(f"importing {name}"):
            try:
                found.append(registry.backend_of_name(name))
            except Exception as error:  # a broken installation may raise anything
                if names:
                    raise
                reason = str(error) if isinstance(error, errors.BackendError) else f"{name}, {problem(error)}"
                to.line(f"Left out: {reason}", style="dim", wrap=False)
    return list(dict.fromkeys(found))


def problem(error: Exception) -> str:
    """The first line of the error of a broken installation."""
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def _measure(results: Results, backends: list[Backend], to: Console) -> None:
    """Fill `results`, cell by cell, with a progress bar."""
    effort = timing.QUICK if results.quick else timing.FULL
    contestants = [timing.Contestant(backend.name, backend) for backend in backends]
    cells = [(e, size) for e in results.experiments for size in e.sizes(results.quick)]
    with to.progress() as show:
        for i, (experiment, size) in enumerate(cells):
            show(i / len(cells), f"{experiment.name} {experiment.size_text(size)}")
            shows_the_layer = results.has_baseline and size == min(experiment.sizes(results.quick)) <= _SMALL
            row = [timing.ITSELF, *contestants] if shows_the_layer else contestants
            late = [one for one in row if results.predicted(experiment, size, one.name) > timing.LONGEST_SECONDS]
            results.left_out.update((experiment.name, size, one.name) for one in late)
            row = [one for one in row if one not in late]
            for outcome in timing.measured(experiment, size, row, np.dtype(results.dtype), effort):
                results.add(outcome)


_SMALL: Final = 100
"""Elements up to which anyarray's overhead is a visible part of a call."""


def split(command: str, names: str) -> list[str]:
    """The names in a comma-separated list of backends."""
    return choice.names_of(command, "--backends", [name.strip() for name in names.split(",")])


def _measured_before(text: str) -> Results:
    """The results in a file that `--json` wrote, as an argument."""
    try:
        found = files.json_object(Path(text))
        if found is None:
            raise files.UnusableError(f"there is no file {text}")
        return Results.from_json(found, EXPERIMENTS)
    except files.UnusableError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    except files.MALFORMED as error:
        raise argparse.ArgumentTypeError(f"{text}: is not what anyarray bench --json writes") from error


def _writable(text: str) -> Path:
    """A path for a file that can be written.

    Checked before the measurements, not after them.
    """
    path = Path(text)
    try:
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"{text}: there is no folder {path.parent}")
        if path.is_dir() or not path.exists() or path.is_file():  # opening a pipe could end it
            is_new = not os.path.lexists(path)
            path.open("a").close()
            if is_new:
                path.unlink()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text}: cannot be written ({error.strerror})") from error
    return path


def picture(text: str) -> Path:
    """The path of a plot, as an argument of a command line."""
    path = _writable(text)
    if path.suffix.lower() not in _PICTURES:
        raise argparse.ArgumentTypeError(f"{text}: the name must end in {', '.join(_PICTURES)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise argparse.ArgumentTypeError('matplotlib is not installed. Run: pip install "anyarray[cli]"')
    return path


_PICTURES: Final = (".png", ".svg", ".pdf")
