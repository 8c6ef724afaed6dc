"""The random numbers of the other backends, made block by block."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from anyarray._base import extension
from anyarray.backends import numpy as on_numpy
from anyarray.backends.dask._kernel import HOST, Native, device_of, to_device
from anyarray.backends.dask.creation import blocks_of

__all__: list[str] = []


def _drawn(name: str) -> Callable[..., Native]:
    def draw(key: Native, shape: tuple[int, ...], dtype: Any, /) -> Native:
        rows = shape or (1,)
        function = functools.partial(_block, name=name, row=rows[1:], dtype=np.dtype(dtype))
        found = to_device(blocks_of(function, rows, np.dtype(dtype), to_device(key, HOST)), device_of(key))
        return found if shape else found[0]

    return draw


def _block(first: Any, count: Any, key: Any, *, name: str, row: tuple[int, ...], dtype: Any) -> Any:
    numbers = on_numpy.empty((int(count[0]), *row), dtype=dtype)
    seed, flat = int(key[0]) << 32 | int(key[1]), numbers.reshape(-1)
    extension.speedups.random_fill(name, seed, int(first[0]) * (flat.size // max(1, int(count[0]))), flat)
    return numbers


if extension.speedups is not None:  # else they are composed of calls
    random_bits, random_fractions, random_normals = map(_drawn, ("bits", "random", "standard_normal"))
    __all__ += ["random_bits", "random_fractions", "random_normals"]
