"""The cubed backend: lazy arrays in blocks, computed within a bound of memory.

cubed has a namespace of the standard, which gives the functions. What it cannot do is refused by name: writes, masks,
sorting, sets and most of `linalg`.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn, TypeAlias

import cubed  # type: ignore[import-untyped, unused-ignore]
import cubed.array_api as namespace  # type: ignore[import-untyped, unused-ignore]
import numpy as np

from anyarray._base import errors

__all__ = ["ARRAY_TYPES", "IS_IMMUTABLE", "chunks_of", "computed", "getitem", "namespace", "setitem", "to_numpy"]

Native: TypeAlias = Any

ARRAY_TYPES: Final = (cubed.Array,)
IS_IMMUTABLE: Final = True


def chunks_of(x: Native, /) -> tuple[tuple[int, ...], str]:
    return x.shape, str(x.chunks)


def computed(*xs: Native) -> list[np.ndarray[Any, Any]]:
    """The values of arrays, computed together and kept."""
    missing = [x for x in xs if "anyarray_computed" not in vars(x)]
    if missing:
        found: Any = cubed.compute(*missing)
        for x, value in zip(missing, found, strict=True):
            x.anyarray_computed = np.asarray(value)
            x.anyarray_computed.flags.writeable = False
    return [x.anyarray_computed for x in xs]


def to_numpy(x: Native, /) -> np.ndarray[Any, Any]:
    return computed(x)[0]


def getitem(x: Native, key: Any, /) -> Native:
    entries = key if type(key) is tuple else (key,)
    arrays = [entry for entry in entries if isinstance(entry, cubed.Array)]
    if len(arrays) > 1 or any(entry.dtype == bool or entry.ndim != 1 for entry in arrays):
        raise errors.UnsupportedError(
            "getitem: cubed takes one index array of one axis, and no mask. Use xp.where, or move the array: "
            'x.to_device("numpy")'
        )
    return x[key]


def setitem(x: Native, key: Any, value: Any, exclusive: bool, /) -> NoReturn:
    raise errors.UnsupportedError(
        'setitem: an array of cubed cannot be written to. Use xp.where, or move it: x.to_device("numpy")'
    )
