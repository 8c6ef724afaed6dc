"""Transfers between host and GPU by CuPy or PyTorch, for other libraries.

JAX and TensorFlow copy pageable memory, at a fraction of the speed of the bus. The backends of CuPy and PyTorch copy
through pinned memory; see their `_transfers`. So one of them, the carrier, transfers arrays of at least `LARGE` bytes,
and the other library shares its memory by DLPack:

    NumPy -> JAX, TensorFlow   the carrier copies to its own memory, which the library shares
    JAX -> NumPy               the carrier shares the library's memory and copies it
    TensorFlow -> NumPy        TensorFlow itself, which is about as fast as the bus
    otherwise                  the library itself: smaller arrays, no carrier, or an error in it

CuPy is imported at the first such transfer. Without CuPy, PyTorch is the carrier if the program has imported it: its
import takes seconds.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._registry import registry
from anyarray._registry.libraries import LIBRARIES

Native = Any

LARGE: Final = 4 << 20
"""Bytes from which the carrier, with an overhead of about 0.3 ms, is faster."""


def carrier() -> Any:
    """The module of the carrier's backend; None if there is none."""
    found = _with_gpu("cupy")
    return _with_gpu("torch") if found is None and "torch" in sys.modules else found


@functools.cache
def _with_gpu(library: str) -> Any:
    try:
        loaded = registry.load(LIBRARIES[library])
    except Exception:  # noqa: BLE001 - the others work without it, whatever the error
        return None
    return loaded.module if loaded.devices.get("gpu") else None


_refused: Final[set[tuple[str, str]]] = set()
"""Libraries and dtypes that failed with a carrier, which are not tried again."""


def to_device(library: str, a: np.ndarray[Any, Any], number: int, take: Callable[[Any], Native]) -> Native | None:
    """An ndarray copied to the GPU `number`; None if there is no carrier.

    `take` makes an array of the library that shares the memory of a DLPack exporter.
    """
    return _carried(library, a.dtype, a.nbytes, lambda by: take(by.exported_from_numpy(a, number)))


def to_host(library: str, exporter: Any, dtype: Any, nbytes: int, number: int) -> np.ndarray[Any, Any] | None:
    """An array on a GPU as an ndarray; None if there is no carrier."""
    return _carried(library, dtype, nbytes, lambda by: by.to_numpy(by.from_dlpack(exporter, number)))


def _carried(library: str, dtype: Any, nbytes: int, carry: Callable[[Any], Any]) -> Any:
    if nbytes < LARGE or (library, dtype.name) in _refused:
        return None
    by = carrier()
    if by is None:
        return None
    try:
        return carry(by)
    except Exception as error:  # noqa: BLE001 - the library itself is tried next, and raises its own error
        if not isinstance(error, MemoryError):
            _refused.add((library, dtype.name))
        return None
