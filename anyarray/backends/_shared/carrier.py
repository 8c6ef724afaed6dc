"""Large arrays to and from a GPU, carried by CuPy or PyTorch for others.

JAX and TensorFlow copy pageable memory, at a fraction of the speed of the bus; the backends of CuPy and PyTorch copy by
pinned memory, see their `_transfers`. So where one of them works, it brings arrays of `LARGE` bytes and more, and hands
them on by DLPack, without a copy:

    NumPy -> JAX, TensorFlow      by the carrier to its own memory, which the library shares
    JAX -> NumPy                  the carrier shares the library's memory and reads that
    TensorFlow -> NumPy           by TensorFlow itself, which was measured near the bus
    fewer bytes, without a carrier, or if anything fails there   by the library itself, as before

CuPy is imported when the first such array comes. PyTorch, whose import takes seconds, stands in for it where the
program has imported it.
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
"""Bytes from which the way by the carrier, some 0.3 ms longer, is faster."""


def carrier() -> Any:
    """The functions of a backend that carries arrays; None without a GPU."""
    found = _with_gpu("cupy")
    return _with_gpu("torch") if found is None and "torch" in sys.modules else found


@functools.cache
def _with_gpu(library: str) -> Any:
    try:
        loaded = registry.load(LIBRARIES[library])
    except Exception:  # noqa: BLE001 - whatever is wrong with it, the others work without it
        return None
    return loaded.module if loaded.devices.get("gpu") else None


_refused: Final[set[tuple[str, str]]] = set()
"""Libraries and dtypes that did not go by a carrier: they are not tried again."""


def to_device(library: str, a: np.ndarray[Any, Any], number: int, take: Callable[[Any], Native]) -> Native | None:
    """An ndarray on the GPU of that number; None if nobody can.

    `take` makes an array of the library of an exporter, whose memory it shares.
    """
    return _carried(library, a.dtype, a.nbytes, lambda by: take(by.exported_from_numpy(a, number)))


def to_host(library: str, exporter: Any, dtype: Any, nbytes: int, number: int) -> np.ndarray[Any, Any] | None:
    """An ndarray of what is on a GPU; None if nobody can."""
    return _carried(library, dtype, nbytes, lambda by: by.to_numpy(by.from_dlpack(exporter, number)))


def _carried(library: str, dtype: Any, nbytes: int, carry: Callable[[Any], Any]) -> Any:
    if nbytes < LARGE or (library, dtype.name) in _refused:
        return None
    by = carrier()
    if by is None:
        return None
    try:
        return carry(by)
    except Exception as error:  # noqa: BLE001 - the library itself is asked next, and raises if that fails, too
        if not isinstance(error, MemoryError):
            _refused.add((library, dtype.name))
        return None
