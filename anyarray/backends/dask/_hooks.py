"""The hooks of the contract: what an array is, to NumPy and back."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import dask.array as da
import numpy as np

from anyarray._base import dtypes, errors
from anyarray._registry import registry
from anyarray.backends.dask import elementwise
from anyarray.backends.dask._computing import computed, from_host, from_source, persisted, stored
from anyarray.backends.dask._kernel import HOST, Native, device_of, known, to_device

__all__ = [
    "ARRAY_TYPES", "IS_IMMUTABLE", "PROMOTES", "chunks_of", "computed", "count_of", "device_of", "devices",
    "devices_of", "duplicate", "exported", "from_numpy", "from_source", "lengths_of", "namespace",
    "native_dtype", "persisted", "plain", "scalar", "scoped", "shape_of", "stored", "synchronize",
    "to_device", "to_numpy",
]  # fmt: skip

ARRAY_TYPES: Final = (da.Array,)
IS_IMMUTABLE: Final = True
PROMOTES: Final = True
namespace: Final = da


def devices() -> dict[str, list[str]]:
    return {"cpu": [HOST]}


def devices_of(kind: str, /) -> list[str]:
    """Those of CuPy, whose arrays are the blocks on a GPU."""
    try:
        registry.backend_of_name("cupy")
    except errors.BackendError as error:
        raise type(error)(f'backend "dask-{kind}" has blocks of CuPy: {error}') from error
    return [one.name for one in registry.loaded_backends() if one.library == "cupy"]


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
    """The user's array with blocks of NumPy, unless they are on a GPU."""
    return x if registry.backend_of_native(x._meta) is not None else x.map_blocks(np.asarray, dtype=x.dtype)


def scoped(function: Callable[..., Any], device: str, /) -> Callable[..., Any]:
    """A function of arrays with known lengths and with elements.

    NumPy computes the result of arrays without elements, which cannot be divided. Elementwise functions take any.
    """
    name = getattr(function, "__name__", "")
    if function in _OF_ANY:
        return function

    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        args = tuple(known(one) if isinstance(one, da.Array) else one for one in args)
        arrays = [one for one in args if isinstance(one, da.Array)]
        if all(0 not in one.shape for one in arrays):
            return function(*args, **options)
        computed(*arrays)
        on_host = [to_numpy(one) if isinstance(one, da.Array) else one for one in args]
        found = getattr(registry.backend_of_name(HOST).free, name)(*on_host, **options)
        results = [from_host(np.asarray(one), device) for one in (found if isinstance(found, tuple) else (found,))]
        return tuple(results) if isinstance(found, tuple) else results[0]

    return called


_OF_ANY: Final = {*elementwise.FUNCTIONS.values(), elementwise.astype, elementwise.clip}


def to_numpy(x: Native, /) -> np.ndarray[Any, Any]:
    return computed(x)[0]


def from_numpy(a: np.ndarray[Any, Any], device: str, /) -> Native:
    return from_host(np.array(a, order="C"), device)


def scalar(value: complex, dtype: np.dtype[Any], device: str, /) -> Native:
    a = np.asarray(value, dtype)
    x = from_host(a, device)
    x.anyarray_value = a
    return x


def duplicate(x: Native, /) -> Native:
    return x


def exported(x: Native, /) -> np.ndarray[Any, Any]:
    return np.array(to_numpy(x))


def synchronize(x: Native, /) -> None:
    computed(x)
