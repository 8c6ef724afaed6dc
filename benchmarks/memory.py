"""What new memory takes, and what keeps it: `python -m benchmarks.memory`.

`import anyarray` lets the C library keep freed memory, so that temporaries need no new pages; larger arrays than 32 MiB
have them all the same, unless the user says otherwise by the C library's own settings. Fresh processes take turns, as
what was freed before decides what is kept.
"""

from __future__ import annotations

import argparse
import os
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

LARGE: Final = 10_000_000
BACKENDS: Final = ("numpy", "tf", "jax")
KEPT: Final = "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=8589934592"
LARGE_PAGES: Final = "glibc.malloc.hugetlb=1"
SETTINGS: Final = {"as it is": "", "kept": KEPT, "large pages": LARGE_PAGES, "both": f"{KEPT}:{LARGE_PAGES}"}
"""The C library's settings of a process, by what it does then."""

PROGRAM_OF_LARGE: Final = """
import statistics
import time
import anyarray as xp

synchronize = xp.device({backend!r}).hook("synchronize")
times = []
with xp.backend({backend!r}):
    x = xp.ones({size}, dtype=xp.float32)
    for _ in range(15):
        start = time.perf_counter()
        y = xp.tanh(x) * 2 + x
        synchronize(y._native)
        times.append(time.perf_counter() - start)
print(statistics.median(times))
"""


def seconds(program: str, settings: str = "") -> float:
    """What a program prints in a fresh process."""
    command = [sys.executable, "-c", program]
    env = {**os.environ, "GLIBC_TUNABLES": settings} if settings else None
    return float(subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout)


def print_large(rounds: int) -> None:
    """Chains of arrays larger than 32 MiB by backend and settings."""
    rows: list[list[str]] = []
    for backend in BACKENDS:
        program = PROGRAM_OF_LARGE.format(backend=backend, size=LARGE)
        least = dict.fromkeys(SETTINGS, float("inf"))
        for _ in range(rounds):
            for name, settings in SETTINGS.items():
                least[name] = min(least[name], seconds(program, settings))
        rows.append([backend, *[f"{one * 1e3:.1f}" for one in least.values()]])
    print_table(f"tanh(x) * 2 + x of {LARGE:,} float32: ms, by what the C library does", ["", *SETTINGS], rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds: int = parser.parse_args().rounds
    rows: list[list[str]] = []
    for size in SIZES:
        alone = beside = float("inf")
        for _ in range(rounds):
            alone = min(alone, seconds(PROGRAM.format(size=size, before="")))
            beside = min(beside, seconds(PROGRAM.format(size=size, before="import anyarray")))
        rows.append([f"{size:,} elements", f"{alone * 1e6:.0f}", f"{beside * 1e6:.0f}", f"{alone / beside:.1f}"])
    print_table(
        "A chain of four operations of NumPy: us, before and after import anyarray",
        ["", "before", "after", "times faster"],
        rows,
    )
    print_large(rounds)


if __name__ == "__main__":
    main()
