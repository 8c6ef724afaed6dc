"""The settings of glibc's malloc that `import anyarray` changes.

They avoid page faults in NumPy programs: each page of new memory costs a page fault, which takes several times as long
as writing the page. ANYARRAY_MALLOC=off leaves malloc unchanged. Other allocators are not affected.
"""

from __future__ import annotations

import os
from typing import Final

import numpy as np

from anyarray._base import environment, extension
from anyarray._memory import alignment

VARIABLE: Final = "ANYARRAY_MALLOC"
"""The environment variable that leaves malloc unchanged."""
_LEARNED_FROM: Final = alignment.LARGEST_REUSED - 8192
"""Bytes of the largest array that raises glibc's dynamic thresholds: NumPy and malloc add some to each."""


def raise_trim_threshold() -> None:
    """Let glibc keep up to 64 MiB of freed memory for the next arrays.

    glibc's dynamic trim threshold is twice the largest mapped block freed so far, 256 KiB at first. Memory beyond it
    goes back to the system, and the next array page-faults it in again: chains of arrays of 0.1 to 10 MB took 6 to 13
    times as long. So this function frees a block of the largest size that counts, without touching its pages, as a
    program does with its first such array. No setting is changed, and the user's own settings apply, such as
    `MALLOC_TRIM_THRESHOLD_`.
    Source: mallopt(3), M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.
    """
    try:
        np.empty(_LEARNED_FROM, np.uint8)
    except MemoryError:  # more than the process may allocate
        pass


def want_huge_pages() -> None:
    """Let the heap grow by huge pages, unless they are turned off for NumPy.

    `_speedups/core/allocator.h` describes the savings.
    """
    if extension.speedups is not None and os.environ.get("NUMPY_MADVISE_HUGEPAGE") != "0":
        extension.speedups.want_huge_pages()


if not environment.is_off(VARIABLE):
    raise_trim_threshold()
    want_huge_pages()
