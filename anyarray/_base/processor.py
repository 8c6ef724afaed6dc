"""The processor of this machine, as far as this process may use it."""

from __future__ import annotations

import os


def cores() -> int | None:
    """The number of cores that this process may use; None if unknown."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def threads() -> int:
    """How many threads may share a piece of work.

    One for each core, or as many as OMP_NUM_THREADS says. Process pools set that, so that their workers do not compete.
    """
    said = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    here = cores() or 1
    return max(1, min(here, int(said))) if said.isdecimal() else here
