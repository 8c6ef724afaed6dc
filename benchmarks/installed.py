"""Small calls of an installed wheel beside those of this environment.

Run it by `python -m benchmarks.installed OTHER_PYTHON`, with the interpreter of the environment that has the wheel.
Processes of both take turns, and the least of many rounds counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from typing import Final

CALLS: Final = ("x + y", "x * 2.0", "xp.exp(x)", "xp.sum(x)", "x[0]", "xp.reshape(x, (2, 4))", "x.T", "xp.zeros(8)")
BOUND: Final = 1.1
"""What the wheel may take, as a part of what the editable installation takes."""

PROGRAM: Final = """
import timeit
import anyarray as xp
x, y = xp.arange(8.0), xp.ones(8)
for call in {calls!r}:
    print(min(timeit.repeat(call, globals=globals(), number=5000, repeat=40)) / 5000)
"""


def seconds(python: str) -> list[float]:
    """Seconds of each call in a fresh process, away from the sources."""
    with tempfile.TemporaryDirectory() as folder:
        program = PROGRAM.format(calls=CALLS)
        variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run([python, "-c", program], cwd=folder, env=variables, capture_output=True, check=True)
    return [float(line) for line in done.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.installed", description=__doc__)
    parser.add_argument("python", help="the interpreter of the other environment")
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    here = there = [float("inf")] * len(CALLS)
    for _ in range(options.rounds):
        here = list(map(min, here, seconds(sys.executable)))
        there = list(map(min, there, seconds(options.python)))
    print(f"{'call':24} {'here':>9} {'wheel':>9}  ratio, at most {BOUND}")
    for call, ours, theirs in zip(CALLS, here, there, strict=True):
        ratio = theirs / ours
        print(f"{call:24} {ours * 1e9:6.0f} ns {theirs * 1e9:6.0f} ns  {ratio:.2f} {'ok' if ratio <= BOUND else 'NO'}")


if __name__ == "__main__":
    main()
