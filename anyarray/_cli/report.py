"""The report that `doctor` prints."""

from __future__ import annotations

import linecache
import math
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from anyarray._calibration.explanation import duration
from anyarray._choice import automatic
from anyarray._cli.console import Column, Console, Table
from anyarray._cli.sampling import Line, Sampler
from anyarray._memory.devices import size
from anyarray._memory.transfer import Transfer

MOST: Final = 15
"""Lines of the table."""
SEEN: Final = 0.01
"""The least part of the time that is reported."""


@dataclass
class Program:
    """A program that ran."""

    script: str
    folder: str
    """That of the script: lines are named by their files below it."""
    seconds: float
    sampler: Sampler
    copies: Sequence[Transfer]

    @property
    def took(self) -> float:
        """Seconds, without those of the samples; at least a microsecond."""
        return max(self.seconds - self.sampler.sampling, 1e-6)

    def name(self, line: Line) -> str:
        """The file, below the script's folder if there, and the number."""
        file, number = line
        inside = os.path.relpath(os.path.abspath(file), self.folder)
        return f"{os.path.basename(file) if inside.startswith('..') else inside}:{number}"

    def is_without_calls(self) -> bool:
        """Whether neither the samples nor the user's files show anyarray."""
        files = {getattr(one, "__file__", None) for one in list(sys.modules.values())}
        files |= {self.script, *[file for file, _ in self.sampler.seconds]}
        own = [one for one in files if one and self.sampler.is_of_user(one)]
        is_named = any("anyarray" in line for one in own for line in linecache.getlines(one))
        return not (is_named or self.sampler.calls_were_seen or self.copies)

    def advice(self) -> list[tuple[float, str]]:
        """Advice, with the seconds that it saves at most."""
        found = [(its, f"{self.name(line)} {text}") for (line, (_, text)), its in self.sampler.parts.items() if text]
        ways: dict[tuple[str, str], dict[Line, list[Transfer]]] = {}
        for row in self.copies:
            ways.setdefault((row.source, row.target), {}).setdefault((row.file, row.line), []).append(row)
        for (source, target), lines in ways.items():
            back = "".join([f", and {self.name(line)} copies back" for line in ways.get((target, source), ())][:1])
            for line, rows in lines.items():
                copied = f"{size(sum([row.nbytes for row in rows]))} from {source} to {target} in {len(rows)} transfers"
                text = f"copies {copied}{back}: open the block outside the loop, or bring the Array over before it."
                found.append((sum([row.seconds for row in rows[1:]]), f"{self.name(line)} {text}"))
        return sorted([one for one in found if one[0] >= SEEN * self.took], reverse=True)


def show(program: Program, to: Console) -> None:
    """Print where the time went, and advice."""
    sampler, took = program.sampler, program.took
    spent = {"copying between backends": sum([row.seconds for row in program.copies])}
    for (_, (kind, _)), seconds in sampler.parts.items():
        spent[kind] = spent.get(kind, 0.0) + seconds
    parts = ", ".join([f"{duration(seconds)} {kind}" for kind, seconds in spent.items() if seconds >= SEEN * took])
    rest = f": {parts}, the rest in calls, Python and elsewhere" if parts else ""
    to.line("")
    to.line(f"doctor: {program.script} took {duration(took)}{rest}.")
    error = math.sqrt(sampler.squares)  # at most twice the standard error
    to.line(
        f"The time of a line is an estimate, and may be off by {duration(error)}. The {sampler.samples} samples took "
        f"{duration(sampler.sampling)}, which is not included."
    )
    if sampler.is_parallel:
        to.line("Several threads ran at once, so lines may add up to more than that.")
    _show_lines(program, to)
    children = os.times()
    if children.children_user >= SEEN:
        text = duration(children.children_user + children.children_system)
        to.line(f"Processes that the script started took {text} of processor time, which the table does not show.")
    if program.is_without_calls():
        to.line("This script makes no anyarray call.")
        return
    advice = program.advice()
    for seconds, text in advice:
        to.line(f"Up to {duration(seconds)}, {seconds / took:.0%}: {text}")
    if not advice:
        to.line("No advice would save a hundredth of that.")
    if automatic.model() is None:
        to.line(f"This machine is not measured, so calls stay where their arrays are. {automatic.CURE}")


def _show_lines(program: Program, to: Console) -> None:
    """Print the lines that took longest, with what most of that was for."""
    heads = ["line", "took", "of all", "of that", "source"]
    parts: dict[Line, defaultdict[str, float]] = {}
    for (line, (kind, _)), seconds in program.sampler.parts.items():
        parts.setdefault(line, defaultdict(float))[kind] += seconds
    rows: list[list[str]] = []
    for line, seconds in sorted(program.sampler.seconds.items(), key=lambda one: -one[1])[:MOST]:
        share, kind = max([(part / seconds, kind) for kind, part in parts.get(line, {}).items()], default=(0.0, ""))
        if seconds >= SEEN * program.took:
            part = f"{kind} {share:.0%}" if share >= 0.1 else ""
            cells = [program.name(line), duration(seconds), f"{seconds / program.took:.0%}", part]
            rows.append([*cells, linecache.getline(*line).strip()])
    used = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    taken = sum([3 + max(len(row[at]) for row in [heads, *rows]) for at in used[:-1]])
    table = Table([Column(heads[at], is_right=at in (1, 2)) for at in used])
    for row in rows:
        row[-1] = row[-1][: max(20, to.width - taken - 3)]
        table.add(*[row[at] for at in used])
    if rows:
        to.table(table)
