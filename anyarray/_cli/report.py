"""What `doctor` prints of a program that ran."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Final

from anyarray._calibration.explanation import duration
from anyarray._choice import automatic
from anyarray._cli.console import Column, Console, Table
from anyarray._cli.sampling import COMPILING, IMPORTING, Line, Sampler
from anyarray._memory.transfer import Transfer

MOST: Final = 15
"""Lines of the table."""
SEEN: Final = 0.01
"""The part of the time from which something is worth a word."""
_SHORTEST: Final = 20
"""Characters of a line of source that are shown where the terminal is narrow."""


@dataclass
class Alike:
    """The copies of a line from one backend to another."""

    times: int = 0
    nbytes: int = 0
    seconds: float = 0.0


class Copies(list[Transfer]):
    """The rows of a ledger, of which copies are added up by line."""

    def __init__(self) -> None:
        super().__init__()
        self.alike: dict[tuple[Line, str, str], Alike] = {}
        """By line, source and target."""
        self._lock = threading.Lock()

    def append(self, row: Transfer, /) -> None:
        if row.kind == "copy":
            with self._lock:
                one = self.alike.setdefault(((row.file, row.line), row.source, row.target), Alike())
                one.times += 1
                one.nbytes += row.nbytes
                one.seconds += row.seconds

    def back_from(self, source: str, target: str) -> Line | None:
        """A line that copies the other way."""
        return next((line for line, *way in self.alike if way == [target, source]), None)


@dataclass
class Program:
    """A program that ran."""

    script: str
    folder: str
    """That of the script: lines are named by their files below it."""
    seconds: float
    sampler: Sampler
    copies: Copies

    @property
    def took(self) -> float:
        """Seconds, without those of the looks."""
        return max(self.seconds - self.sampler.looking, 0.0)

    def name(self, line: Line) -> str:
        """The file, below the script's folder if there, and the number."""
        file, number = line
        inside = os.path.relpath(os.path.abspath(file), self.folder)
        return f"{os.path.basename(file) if inside.startswith('..') else inside}:{number}"

    def is_without_calls(self) -> bool:
        """Whether nothing was seen of anyarray, nor is named in its files."""
        files = {getattr(one, "__file__", None) or "" for one in list(sys.modules.values())}
        files |= {file for file, _ in self.sampler.seconds} | {self.script}
        own = [one for one in files if one and self.sampler.is_of_user(one)]
        is_named = any("anyarray" in line for one in own for line in linecache.getlines(one))
        return not (is_named or self.sampler.has_met_calls or self.copies.alike)


def show(program: Program, to: Console) -> None:
    """Print where the time went, and what would save some of it."""
    sampler, took = program.sampler, program.took
    spent: Counter[str] = Counter()
    for (_, kind, _), seconds in sampler.parts.items():
        spent[kind] += seconds
    spent["copying between backends"] = sum(one.seconds for one in program.copies.alike.values())
    parts = [f"{duration(seconds)} {what}" for what, seconds in spent.items() if seconds >= SEEN * took]
    rest = ", the rest in calls, Python and elsewhere" if parts else ""
    to.line("")
    to.line(f"doctor: {program.script} took {duration(took)}{': ' if parts else ''}{', '.join(parts)}{rest}.")
    to.line(
        f"{_number(sampler.looks, 'look', 'looks')} at its stack tell a line's time within {duration(sampler.error)} or "
        f"so; they took {duration(sampler.looking)}, which is left out."
    )
    if sampler.is_parallel:
        to.line("Several threads ran at once, so lines may add up to more than that.")
    _show_lines(program, to)
    children = os.times()
    if children.children_user >= SEEN:
        text = duration(children.children_user + children.children_system)
        to.line(f"Processes that it started took {text} of processor time; nothing else is known of them.")
    _show_advice(program, to)


def _show_lines(program: Program, to: Console) -> None:
    took, rows = program.took, list[list[str]]()
    for line, seconds in program.sampler.seconds.most_common(MOST):
        if seconds >= SEEN * took:
            parts: Counter[str] = Counter()
            for (where, kind, _), part in program.sampler.parts.items():
                parts[kind] += part if where == line else 0.0
            words = [f"{kind} {part / seconds:.0%}" for kind, part in parts.most_common(1) if part >= 0.1 * seconds]
            text = linecache.getline(*line).strip()
            rows.append([program.name(line), duration(seconds), f"{seconds / took:.0%}", *(words or [""]), text])
    if not rows:
        return
    heads = ["line", "took", "of all", "of that", "source"]
    widths = [max(len(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
    shown = max(_SHORTEST, to.width - sum(widths[:-1]) - 3 * len(heads))
    used = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    table = Table([Column(heads[at], is_right=at in (1, 2)) for at in used])
    for *cells, text in rows:
        row = [*cells, text if len(text) <= shown else f"{text[: shown - 3]}..."]
        table.add(*[row[at] for at in used])
    to.table(table)


def _show_advice(program: Program, to: Console) -> None:
    if program.is_without_calls():
        to.line("This script makes no anyarray call.")
        return
    advice = [one for one in _advice(program) if one[0] >= SEEN * program.took]
    for seconds, text in sorted(advice, reverse=True):
        to.line(f"Up to {duration(seconds)}, {seconds / program.took:.0%}: {text}")
    if not advice:
        to.line("Imports, compiling, copies and conversions take too little of that for any advice.")
    if automatic.model() is None:
        to.line(f"This machine is not measured, so calls stay where their arrays are. {automatic.CURE}")


def _advice(program: Program) -> list[tuple[float, str]]:
    """Advice with the seconds that it saves at most."""
    found: list[tuple[float, str]] = []
    for (line, kind, what), seconds in program.sampler.parts.items():
        name = program.name(line)
        if kind == IMPORTING and what:
            text = (
                f"{name} imports {what} for its calls, which pays only where they save as much. NumPy is there already."
            )
        elif kind == COMPILING and what:
            text = (
                f"{name} compiles, once for each shape and each call of xp.jit: call that outside of loops, or leave it "
                "out where a function runs only a few times."
            )
        elif kind == COMPILING:
            text = f"{name} compiles, once for each function and shape: keep to few shapes, or compute in NumPy."
        elif kind != IMPORTING:
            text = f"{name} {what}: compute with the Arrays, or convert once, after the loop."
        else:
            continue
        found.append((seconds, text))
    for (line, source, target), one in program.copies.alike.items():
        back = program.copies.back_from(source, target)
        to_and_fro = f", and {program.name(back)} copies back" if back else ""
        text = (
            f"{program.name(line)} copies {_bytes(one.nbytes)} from {source} to {target} in "
            f"{_number(one.times, 'transfer', 'transfers')}{to_and_fro}: open the block outside the loop, or bring the "
            "Array over once, before it."
        )
        found.append((one.seconds * (one.times - 1) / one.times, text))
    return found


def _number(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _bytes(nbytes: float) -> str:
    for unit in ("B", "kB", "MB"):
        if nbytes < 1000:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000
    return f"{nbytes:.3g} GB"
