"""How the memory of a process that runs tests is kept below a limit.

JAX keeps what it compiled, 1.4 MB for each function, dtype and shape, and the tests ask for thousands of them. None is
of use to many tests, so all are dropped whenever the process has grown. What TensorFlow compiles by XLA it never frees.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Final

MOST: Final = 3_000_000_000
"""Bytes that a process may take: four, a compiler and the system beside them fit in 16 GB."""
USUAL: Final = 2_000_000_000
"""Bytes beyond which caches are cleared, rarely, as what is needed again is compiled again."""
ROOM: Final = 250_000_000
"""Bytes that a process may grow by until they are cleared again."""

_STATUS: Final = Path("/proc/self/status")


class _Growth:
    until = USUAL
    """Bytes beyond which caches are cleared next."""


def bound() -> None:
    """Clear caches of compiled functions if the process grew too large."""
    if _bytes("VmRSS") > _Growth.until:
        from anyarray._memory import alignment  # not before pytest has set up how tests import

        if "jax" in sys.modules:
            sys.modules["jax"].clear_caches()
        gc.collect()
        alignment.trim_malloc()  # as glibc keeps what is freed
        _Growth.until = max(USUAL, _bytes("VmRSS") + ROOM)


def peak() -> int:
    """The most bytes that the process took at once; 0 where none can tell."""
    return _bytes("VmHWM")


def _bytes(field: str) -> int:
    """A line of what Linux says of the process; 0 on other systems."""
    if not _STATUS.exists():
        return 0
    (line,) = [line for line in _STATUS.read_text().splitlines() if line.startswith(f"{field}:")]
    return int(line.split()[1]) * 1024


def complaint(peaks: dict[str, int]) -> str:
    """What is wrong with these peaks, by process; nothing if all may be."""
    large = [f"{name} took {taken / 1e9:.1f} GB" for name, taken in peaks.items() if taken > MOST]
    if not large:
        return ""
    return (
        f"{', '.join(large)}; a process that runs tests may take {MOST / 1e9:.1f}. "
        "See which test grows it, and what is kept of that: tests/process_memory.py"
    )
