"""What `doctor` prints of a program that ran."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import anyarray as xp
from anyarray._calibration.explanation import duration
from anyarray._call import watching
from anyarray._call.watching import Line
from anyarray._choice import automatic, cost, prices
from anyarray._cli.console import Column, Console, Table
from anyarray._cli.sampling import Sampler
from anyarray._cli.spent import Record, Spent
from anyarray._memory.transfer import Transfer

MOST: Final = 15
"""Lines of a table."""
WORTH: Final = 0.9
"""What a change must leave of the time to be called faster."""
SEEN: Final = 0.01
"""The part of the time from which something is worth a word."""
_DERIVATIVES: Final = os.path.join("anyarray", "transforms", "_derivatives")
"""A part of the name of the file whose functions do not run in NumPy."""


@dataclass
class Program:
    """A program that ran."""

    script: str
    folder: str
    """That of the script: lines are named by their files below it."""
    seconds: float
    record: Record
    sampler: Sampler
    transfers: Sequence[Transfer]

    def name(self, line: Line) -> str:
        """The file, below the script's folder if there, and the number."""
        file, number = line
        inside = os.path.relpath(os.path.abspath(file), self.folder)
        return f"{os.path.basename(file) if inside.startswith('..') else inside}:{number}"


def show(program: Program, to: Console) -> None:
    """Print where the time went, and what would change that."""
    calls, total = program.record.by_line(), Spent()
    whole, inside, least = _recording(program.record.model)
    for one in calls.values():
        one.correct(inside, least)
        total.add(one)
    recording = whole * total.calls
    copies = [row for row in program.transfers if row.kind == "copy"]
    importing = sum(program.sampler.importing.values())
    parts = [
        f"{duration(total.seconds)} in {_number(total.calls, 'call', 'calls')}" if calls else "no call of anyarray"
    ]
    if copies:
        parts.append(f"{duration(_sum(copies))} in {_number(len(copies), 'copy', 'copies')} between backends")
    if importing >= SEEN * program.seconds:
        parts.append(f"{duration(importing)} in imports")
    took = max(program.seconds - recording, total.seconds)
    to.line("")
    to.line(f"doctor: {program.script} took {duration(took)}: {', '.join(parts)}, the rest in Python and elsewhere.")
    if recording >= SEEN * program.seconds:
        to.line(f"Recording its calls took about {duration(recording)} more, which is left out.")
    if program.sampler.is_parallel:
        to.line("Several threads ran at once, so lines may add up to more than that.")
    _show_lines(program, calls, whole, to)
    _show_copies(program, copies, to)
    children = os.times()
    if children.children_user >= SEEN:
        text = duration(children.children_user + children.children_system)
        to.line(f"Processes that it started took {text} of processor time; nothing else is known of them.")
    _show_changes(program, took, calls, total, to)


def _recording(model: cost.Model | None) -> tuple[float, float, float]:
    """Seconds that recording adds to a small call, and those of the call.

    The first are in all, the second within the time that is recorded, the third are those of the call.
    """
    x, count = xp.ones(1, device="numpy"), 200

    def seconds() -> float:
        started = time.perf_counter()
        for _ in range(count):
            xp.add(x, 1)
        return time.perf_counter() - started

    def recorded() -> tuple[float, float]:
        record, started = Record(model), time.perf_counter()
        with watching.every_call(record):
            seconds()
        (spent,) = record.by_line().values()
        return time.perf_counter() - started, spent.seconds

    plain = min(seconds() for _ in range(5))
    whole, inside = min(recorded() for _ in range(5))
    return max(0.0, whole - plain) / count, max(0.0, inside - plain) / count, plain / count


def _show_lines(program: Program, calls: dict[Line, Spent], recording: float, to: Console) -> None:
    sampler, elsewhere = program.sampler, program.record.ran_elsewhere
    found: list[tuple[float, list[str]]] = []
    for line in {**calls, **sampler.seconds}:
        spent = calls.get(line, Spent())
        by_clock = sampler.seconds.get(line, 0.0) + elsewhere.get(line, 0.0) - recording * spent.calls
        took, importing = max(spent.seconds, by_clock), sampler.importing.get(line, 0.0)
        where = [f"{name} {count}" if len(spent.backends) > 1 else name for name, count in spent.backends.items()]
        cells = [_if_any(importing), _if_any(spent.compiling), str(spent.calls or ""), ", ".join(where)]
        if took >= SEEN * SEEN * program.seconds or spent.calls:
            found.append((took, [program.name(line), duration(took) if took >= 1e-6 else "< 1 us", *cells]))
    found.sort(key=lambda row: -row[0])
    _print(to, ["line", "took", "importing", "compiling", "calls", "ran on"], [cells for _, cells in found])


def _show_copies(program: Program, copies: Sequence[Transfer], to: Console) -> None:
    alike: dict[tuple[Line, str, str, bool], list[Transfer]] = {}
    for row in copies:
        alike.setdefault(((row.file, row.line), row.source, row.target, row.explicit), []).append(row)
    rows = [
        [program.name(line), _bytes(sum(row.nbytes for row in some)), str(len(some)), source, target,
         duration(_sum(some)), "yes" if explicit else "no"]
        for (line, source, target, explicit), some in sorted(alike.items(), key=lambda one: -_sum(one[1]))
    ]  # fmt: skip
    if rows:
        _print(to, ["line", "copied", "times", "from", "to", "took", "asked for"], rows)


def _show_changes(program: Program, took: float, calls: dict[Line, Spent], total: Spent, to: Console) -> None:
    """Print what changes are predicted to make of the program's time.

    These are another backend, `xp.jit`, and a line that copies nothing.
    """
    model = program.record.model
    if model is None:
        to.line(f"This machine is not measured, so nothing is predicted. {automatic.CURE}")
        return
    rows = [["as it is", duration(took), "", ""]]
    libraries = program.sampler.libraries if len(total.backends.keys() - {cost.NUMPY}) == 1 else 0.0
    if total.here and total.took + program.sampler.libraries >= (1 - WORTH) * took:
        scale = total.took / total.here  # as far as this run is from what is predicted, so is another
        for name, costs in model.backends.items():
            once = prices.importing(name, model)
            if total.backends.keys() != {name} and not (name == cost.NUMPY and program.sampler.has_met(_DERIVATIVES)):
                unneeded = 0.0 if name in total.backends and name != cost.NUMPY else libraries
                gain = total.took - scale * total.there[name] + unneeded
                rows.append(_change(f"all calls on {name}", took, gain, once))
            if costs.fused is not None and name != cost.NUMPY:
                gains = {line: scale * (one.here - one.jitted[name]) for line, one in calls.items() if one.known}
                best = [line for line, gain in sorted(gains.items(), key=lambda one: -one[1]) if gain > 0][:3]
                what = f"xp.jit on {name} around {', '.join(map(program.name, best))}"
                row = _change(what, took, sum(gains.values()), once + costs.compiling)
                if row[-1]:
                    rows.append(row)
    implicit: Counter[Line] = Counter()
    for copy in program.transfers:
        if copy.kind == "copy" and not copy.explicit:
            implicit[copy.file, copy.line] += copy.seconds  # type: ignore[assignment]  # seconds
    for line, seconds in implicit.most_common(1):
        if seconds >= SEEN * took:
            rows.append([f"without the copies of {program.name(line)}", duration(took - seconds), "", ""])
    if len(rows) == 1 and calls:
        to.line("Its calls take too little of that for another backend or xp.jit to make it faster.")
    if len(rows) == 1:
        return
    _print(to, ["predicted", "takes", "of that once", "faster"], rows)
    if total.known < total.calls:
        to.line(
            f"{total.calls - total.known} of {total.calls} calls are not predicted, and taken to last as long as now."
        )


def _change(what: str, took: float, gain: float, once: float) -> list[str]:
    """The row of a change that gains seconds in each run, and takes some once.

    The last cell says whether it is faster, or from how many times the work on.
    """
    then, word = took - gain + once, ""
    if then < WORTH * took:
        word = "yes"
    elif once > gain > (1 - WORTH) * took:
        word = f"from {math.ceil(once / gain)} x the work on"
    return [what, duration(max(0.0, then)), _if_any(once), word]


def _sum(rows: Sequence[Transfer]) -> float:
    return sum(row.seconds for row in rows)


def _number(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _bytes(nbytes: float) -> str:
    for unit in ("B", "kB", "MB"):
        if nbytes < 1000:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000
    return f"{nbytes:.3g} GB"


def _if_any(seconds: float) -> str:
    return duration(seconds) if seconds >= 1e-5 else ""


def _print(to: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table without the columns that are empty."""
    used = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    words = ("ran on", "from", "to", "asked for", "faster")
    table = Table([Column(heads[at], is_right=at > 0 and heads[at] not in words, is_folded=at == 0) for at in used])
    for row in rows[:MOST]:
        table.add(*[row[at] for at in used])
    if rows:
        to.table(table)
    if len(rows) > MOST:
        to.line(f"and {len(rows) - MOST} more lines")
