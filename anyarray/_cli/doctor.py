"""`doctor`: run a script, say where its time goes and what may change it."""

from __future__ import annotations

import argparse
import math
import runpy
import sys
import time
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from anyarray._calibration.explanation import duration, explain
from anyarray._choice import automatic, choice, cost
from anyarray._choice.automatic import Decision
from anyarray._cli.console import Column, Console, Table, console
from anyarray._memory import transfer
from anyarray._memory.transfer import Transfer

MOST: Final = 15
"""Lines of a table."""
CHAINED: Final = 11
"""Elementwise calls of the chain that `calibrate` measures compiled."""
WORTH: Final = 0.9
"""What a change must leave of the time to be named."""

Line = tuple[str, int]


class Spent(NamedTuple):
    """What a line of the program took."""

    line: Line
    seconds: float
    calls: int
    backends: str
    compiling: float
    """Predicted seconds of compiling and importing."""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "doctor",
        help="run a script, and say where its time goes",
        description="Run a script under the automatic choice. Each call is waited for, so all takes longer than usual. "
        "Printed are, however it ends, its calls and transfers by line, and what other choices are predicted to take.",
    )
    parser.add_argument("script", metavar="SCRIPT", help="a Python file")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="what the script gets")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the script and print the tables; gives its exit status."""
    if not Path(options.script).is_file():
        print(f"doctor: {options.script}: there is no such file", file=sys.stderr)
        return 2
    arguments, folder = sys.argv, sys.path[0]
    sys.argv, sys.path[0] = [options.script, *options.arguments], str(Path(options.script).resolve().parent)
    started = time.perf_counter()
    try:
        with choice.backend(choice.AUTO), transfer.transfers() as log, explain() as why:
            status = _ran(options.script)
    finally:
        sys.argv, sys.path[0] = arguments, folder
    report(why.decisions, log.rows, time.perf_counter() - started, console())
    return status


def _ran(script: str) -> int:
    """The exit status of a script, as Python would give it.

    However it ends, what it did until then is to be told: an error is printed, and 130 stands for Ctrl-C.
    """
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, int | None):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("doctor: interrupted", file=sys.stderr)
        return 130
    except BaseException as error:  # noqa: BLE001  # of whatever class a program raises
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code.co_filename != script:
            own = own.tb_next
        traceback.print_exception(type(error), error, own)
        return 1
    return 0


def report(decisions: list[Decision], rows: list[Transfer], seconds: float, to: Console) -> None:
    """Print where the time went, and what would change that."""
    lines = by_line(decisions)
    inside = sum(one.seconds for one in lines)
    to.line(f"{duration(seconds)}, of which {duration(inside)} in {len(decisions)} calls")
    _print(
        to,
        ["line", "took", "calls", "ran on", "compiling, importing"],
        [
            [_name(one.line), duration(one.seconds), str(one.calls), one.backends, _or_none(one.compiling)]
            for one in lines
        ],
    )
    caused = by_line_of_transfers(rows)
    if caused:
        head = ["line", "brought", "times", "from", "to", "took"]
        _print(to, head, [[_name(line), *row] for line, row in caused])
    for sentence in advice(decisions, rows):
        to.line(sentence, wrap=False)


def by_line(decisions: Iterable[Decision]) -> list[Spent]:
    """What each line took, the longest first."""
    alike: dict[Line, list[Decision]] = {}
    for one in decisions:
        alike.setdefault(one.where or ("?", 0), []).append(one)
    found = [
        Spent(
            line,
            sum(one.seconds or 0.0 for one in calls),
            len(calls),
            ", ".join(dict.fromkeys(str(one.home.backend) for one in calls)),
            sum(one.bought for one in calls),
        )
        for line, calls in alike.items()
    ]
    return sorted(found, key=lambda one: -one.seconds)


def by_line_of_transfers(rows: Iterable[Transfer]) -> list[tuple[Line, list[str]]]:
    """Copies between backends by the line that caused them, longest first."""
    alike: dict[tuple[Line, str, str], list[Transfer]] = {}
    for row in rows:
        if row.kind == "copy":
            alike.setdefault(((row.file, row.line), row.source, row.target), []).append(row)
    found = sorted(alike.items(), key=lambda one: -sum(row.seconds for row in one[1]))
    return [
        (line, [_bytes(sum(r.nbytes for r in some)), str(len(some)), source, target, duration(_sum(some))])
        for (line, source, target), some in found
    ]


def advice(decisions: list[Decision], rows: list[Transfer]) -> list[str]:
    """What a backend, `xp.jit` or a changed line is predicted to give."""
    model = automatic.model()
    if model is None:
        return [f"This machine is not measured, so nothing is predicted. {automatic.CURE}"]
    known = [one for one in decisions if one.home.backend.name in one.alone]
    now = sum(one.alone[one.home.backend.name] + one.transferred for one in known)
    found: list[str] = []
    for name, costs in model.backends.items():
        there = [one for one in known if name in one.alone]
        if len(there) == len(known) and known:
            took = sum(one.alone[name] for one in there)
            buying = 0.0 if name == cost.NUMPY else costs.importing
            text = f" and {duration(buying)} for importing it" if buying else ""
            text += f", now {duration(now)}" + ("  <- faster" if took < WORTH * now else "")
            found.append(f'xp.set_default_backend("{name}"): {duration(took)}{text}')
        if costs.fused is not None and known and name != cost.NUMPY:
            took = sum(_compiled(one, name, costs.fused) for one in known)
            if took < WORTH * now:
                buying = costs.compiling + costs.importing
                found.append(
                    f"xp.jit around the elementwise calls, on {name}: {duration(took)}, "
                    f"and {duration(buying)} once for compiling and importing  <- faster"
                )
    caused = by_line_of_transfers([row for row in rows if not row.explicit])
    if caused:
        line, (nbytes, times, source, target, spent) = caused[0]
        found.append(f"{_name(line)} brings {nbytes} from {source} to {target} in {times} copies, which took {spent}")
    return found


def _compiled(one: Decision, name: str, fused: Any) -> float:
    """Seconds of a call in a compiled chain, if it is elementwise."""
    kind = cost.class_of.get(one.function)
    here = one.alone[one.home.backend.name] + one.transferred
    if kind is None or not cost.CLASSES[kind].is_elementwise:
        return here
    elements = max([math.prod(shape) for shape in one.shapes], default=1)
    return min(here, float(fused(elements)) / CHAINED)


def _sum(rows: Iterable[Transfer]) -> float:
    return sum(row.seconds for row in rows)


def _name(line: Line) -> str:
    return f"{Path(line[0]).name}:{line[1]}"


def _bytes(nbytes: float) -> str:
    for unit in ("B", "kB", "MB"):
        if nbytes < 1000:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000
    return f"{nbytes:.3g} GB"


def _or_none(seconds: float) -> str:
    return duration(seconds) if seconds else ""


def _print(to: Console, heads: list[str], rows: list[list[str]]) -> None:
    table = Table(
        [Column(head, is_right=i > 0 and head not in ("ran on", "from", "to")) for i, head in enumerate(heads)]
    )
    for row in rows[:MOST]:
        table.add(*row)
    to.table(table)
    if len(rows) > MOST:
        to.line(f"and {len(rows) - MOST} more")
