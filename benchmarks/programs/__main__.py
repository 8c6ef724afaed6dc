"""The automatic choice beside every backend, on ten programs.

Run it by `python -m benchmarks.programs [--backends NAMES] [--programs NAMES] [--rounds N]`. Each program runs in a
process of its own. *Cold* is its first run in that process, after the library was imported: with compiling and, under
auto, with imports that the choice makes itself. *Warm* is the median of the runs after the first few. Processes of a
program take turns over the backends, and the least of the rounds counts. Rows are sorted by loss.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any, Final

import numpy as np
from rich.progress import track

from benchmarks.overhead import print_table, progress, verdict
from benchmarks.programs import PROGRAMS

AUTO: Final = "auto"
WARMING: Final = 3
"""Runs after the first that are not counted, in which the choice settles."""
ROW_BOUND: Final = 1.1
"""Times NumPy, warm and cold."""
TOTAL_BOUND: Final = 1.05
"""Times the sum of the best backend of each program, warm."""


def timed(program: str, backend: str, seconds: float) -> dict[str, Any]:
    """Times of a program in this process; to be called once in it."""
    import anyarray as xp

    found = importlib.import_module(f"benchmarks.programs.{program}")
    arrays = found.inputs(np.random.default_rng(0))
    with xp.backend(backend):  # imports the library
        runs: list[float] = []
        result, end = 0.0, time.perf_counter() + seconds
        while len(runs) < WARMING + 4 or time.perf_counter() < end:
            started = time.perf_counter()
            result = found.run(*arrays)
            runs.append(time.perf_counter() - started)
    return {"cold": runs[0], "warm": statistics.median(runs[WARMING:]), "result": result, "runs": len(runs)}


def in_process(program: str, backend: str, seconds: float) -> dict[str, Any] | None:
    """`timed` in a process of its own; None if it failed."""
    code = (
        "import json; from benchmarks.programs.__main__ import timed; "
        f"print(json.dumps(timed({program!r}, {backend!r}, {seconds!r})))"
    )
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ}
    quiet.pop("PYTHONDONTWRITEBYTECODE", None)  # with it each process would compile what it imports
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=quiet)
    if done.returncode:
        sys.stderr.write(f"{program} on {backend}: {done.stderr.strip().splitlines()[-1]}\n")
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(programs: list[str], backends: list[str], rounds: int, seconds: float) -> dict[str, dict[str, Any]]:
    """Times by program and backend."""
    times: dict[str, dict[str, Any]] = {program: {} for program in programs}
    for _ in range(rounds):
        for program in track(programs, "programs", console=progress, transient=True):
            for backend in backends:
                found = in_process(program, backend, seconds)
                before = times[program].get(backend)
                if found is not None:
                    for what in ("cold", "warm"):
                        found[what] = min(found[what], before[what] if before else found[what])
                    times[program][backend] = found
    return times


def show(times: dict[str, dict[str, Any]], backends: list[str]) -> None:
    """Print the programs, the greatest loss first, and the totals."""
    for what in ("warm", "cold"):
        rows: list[tuple[float, list[Any]]] = []
        totals = dict.fromkeys(backends, 0.0)
        hindsight = 0.0
        for program, row in times.items():
            if len(row) < len(backends):
                continue
            for name in backends:
                totals[name] += row[name][what]
            hindsight += min(row[name][what] for name in backends if name != AUTO)
            beside = row[AUTO][what] / row["numpy"][what] if AUTO in row else 0.0
            cells = [f"{row[name][what] * 1e3:.1f}" for name in backends]
            rows.append((beside, [program, *cells, verdict(beside, ROW_BOUND, f"{beside:.2f}")]))
        rows.sort(key=lambda row: -row[0])
        last = ["total", *[f"{totals[name] * 1e3:.0f}" for name in backends], ""]
        print_table(f"{what}: ms", ["program", *backends, "auto/numpy"], [*[row for _, row in rows], last])
        if AUTO in totals:
            ratio = totals[AUTO] / hindsight
            text = verdict(ratio, TOTAL_BOUND, f"{ratio:.2f}")
            print_table(f"{what}: auto", ["beside the best backend of each program"], [[text]])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__)
    parser.add_argument("--backends", default="numpy,jax,tf,auto", help="default: numpy,jax,tf,auto")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="default: all")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each process; default: 1")
    parser.add_argument("--json", metavar="FILE", help="write what was measured there")
    options = parser.parse_args()
    backends = options.backends.split(",")
    times = measured(options.programs.split(","), backends, options.rounds, options.seconds)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(times, file, indent=1)
    show(times, backends)


if __name__ == "__main__":
    main()
