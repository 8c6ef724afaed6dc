"""The processor of this machine, as far as this process may use it."""

from __future__ import annotations

import os


def cores() -> int | None:
    """The number of cores that this process may use; None if unknown."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def threads() -> int:
    """The number of threads that may share a task.

    It is the number of cores, or OMP_NUM_THREADS, which process pools set so that their workers do not compete.
    """
    said = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    here = cores() or 1
    return max(1, min(here, int(said))) if said.isdecimal() else here


def model() -> str:
    """Its model; on Linux, `platform` returns only its family."""
    import platform  # 3 ms, so not at `import anyarray`

    found = _line_of("/proc/cpuinfo", "model name") or platform.processor()
    return f"{platform.machine()} {found}".strip()


def accelerators() -> list[str]:
    """The NVIDIA GPUs that the kernel knows, with their models."""
    folder = "/proc/driver/nvidia/gpus"
    found = [f"{folder}/{name}" for name in os.listdir(folder)] if os.path.isdir(folder) else []
    return sorted(f"{one} {_line_of(f'{one}/information', 'Model:')}".strip() for one in found)


def _line_of(file: str, name: str) -> str:
    """The value of the line with this name in a file of the kernel, or ""."""
    try:
        with open(file) as opened:
            lines = opened.read().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
