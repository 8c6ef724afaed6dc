"""The hooks of the contract: what an array is, to NumPy and back."""

from __future__ import annotations

import math
from typing import Any, Final

import dask.array as da
import numpy as np

from anyarray._base import dtypes
from anyarray.backends.dask._computing import computed, from_host, from_source, persisted, stored
from anyarray.backends.dask._kernel import Native, known

__all__ = [
    "ARRAY_TYPES", "IS_IMMUTABLE", "PROMOTES", "chunks_of", "computed", "count_of", "device_of", "devices", "duplicate",
    "exported", "from_numpy", "from_source", "is_out_of_memory", "lengths_of", "native_dtype", "persisted", "plain",
    "result_dtype", "scalar", "shape_of", "stored", "synchronize", "to_device", "to_numpy",
]  # fmt: skip

ARRAY_TYPES: Final = (da.Array,)
IS_IMMUTABLE: Final = True
PROMOTES: Final = True


def devices() -> dict[str, list[str]]:
    return {"cpu": ["cpu"]}


def device_of(x: Native, /) -> str:
    return "cpu"


def native_dtype(name: str, /) -> np.dtype[Any]:
    if name == "bfloat16":  # Dask cannot tokenize it, nor find its nothing for a block
        raise KeyError(name)
    return dtypes.KNOWN[name].dtype


def shape_of(x: Native, /) -> tuple[int, ...]:
    return tuple(map(int, known(x).shape))


lengths_of = shape_of


def count_of(x: Native, /) -> int:
    if not x.ndim:
        raise TypeError("x has no axes")
    return shape_of(x)[0]


def chunks_of(x: Native, /) -> tuple[tuple[int | None, ...], str]:
    shape = tuple(None if math.isnan(n) else int(n) for n in x.shape)
    parts = []
    for sizes in x.chunks:
        shown = ["?" if math.isnan(n) else str(n) for n in sizes]
        parts.append(" + ".join(shown if len(shown) <= _MOST_SHOWN else [*shown[:2], "...", shown[-1]]))
    return shape, f"({', '.join(parts)}{',' * (len(parts) == 1)})"


_MOST_SHOWN: Final = 4
"""The most lengths of blocks along an axis that are shown."""


def plain(x: Native, /) -> Native:
    """The user's array with blocks of NumPy, whatever it has."""
    return x if type(x._meta) is np.ndarray else x.map_blocks(np.asarray, dtype=x.dtype)


def to_numpy(x: Native, /) -> np.ndarray[Any, Any]:
    return computed(x)[0]


def from_numpy(a: np.ndarray[Any, Any], device: str, /) -> Native:
    return from_host(np.array(a, order="C"))


def scalar(value: complex, dtype: np.dtype[Any], device: str, /) -> Native:
    x = from_host(np.asarray(value, dtype))
    x.anyarray_value = vars(x)["anyarray_computed"]
    return x


def to_device(x: Native, device: str, /) -> Native:
    return x


def duplicate(x: Native, /) -> Native:
    return x


def exported(x: Native, /) -> np.ndarray[Any, Any]:
    return np.array(to_numpy(x))


def synchronize(x: Native, /) -> None:
    computed(x)


def result_dtype(function: Any, *xs: Native) -> np.dtype[Any]:
    return function(*xs).dtype


def is_out_of_memory(error: BaseException, /) -> bool:
    return isinstance(error, MemoryError)
