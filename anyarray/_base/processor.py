"""The processor of this machine, as far as this process may use it."""

from __future__ import annotations

import os


def cores() -> int | None:
    """The number of cores that this process may use; None if unknown."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
