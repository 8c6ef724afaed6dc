"""Chains of NumPy before and after the import: `python -m benchmarks.memory`.

`import anyarray` lets the C library keep freed memory, so that temporaries need no new pages. Fresh processes take
turns, as what was freed before decides what is kept.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from typing import Final

from benchmarks.overhead import print_table

SIZES: Final = (10_000, 30_000, 100_000, 300_000, 1_000_000)

PROGRAM: Final = """
import time
import numpy as np
{before}

x = np.ones({size})

def chain():
    y = x + x
    z = y * x
    return x * (z - y)

least = float("inf")
for _ in range(40):
    start = time.perf_counter()
    chain()
    least = min(least, time.perf_counter() - start)
print(least)
"""


def seconds(size: int, before: str) -> float:
    """The least time of a chain of four operations in a fresh process."""
    program = PROGRAM.format(size=size, before=before)
    return float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds: int = parser.parse_args().rounds
    rows: list[list[str]] = []
    for size in SIZES:
        alone = beside = float("inf")
        for _ in range(rounds):
            alone = min(alone, seconds(size, ""))
            beside = min(beside, seconds(size, "import anyarray"))
        rows.append([f"{size:,} elements", f"{alone * 1e6:.0f}", f"{beside * 1e6:.0f}", f"{alone / beside:.1f}"])
    print_table(
        "A chain of four operations of NumPy: us, before and after import anyarray",
        ["", "before", "after", "times faster"],
        rows,
    )


if __name__ == "__main__":
    main()
