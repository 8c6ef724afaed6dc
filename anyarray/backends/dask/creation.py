"""New arrays: NumPy makes the blocks, which then move to their backend."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks

from anyarray._base import extension
from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.axes import matrices
from anyarray.backends.dask._computing import from_host
from anyarray.backends.dask._kernel import HOST, Native, chunks_for, device_of, like, to_device

__all__ = [
    "arange", "empty", "empty_like", "eye", "full", "full_like", "linspace", "meshgrid", "ones", "ones_like", "tril",
    "triu", "zeros", "zeros_like",
]  # fmt: skip


def _filled(function: str) -> tuple[Callable[..., Native], Callable[..., Native]]:
    def new(shape: tuple[int, ...], /, *value: Any, dtype: Any = None, device: str | None = None) -> Native:
        return to_device(getattr(da, function)(shape, *value, dtype=dtype, chunks=chunks_for(shape)), device)

    def alike(x: Native, /, *value: Any, dtype: Any = None, device: str | None = None) -> Native:
        made = getattr(da, function)(x.shape, *value, dtype=dtype or x.dtype, chunks=x.chunks)
        return to_device(made, device or device_of(x))

    alike.__name__ = f"{function}_like"
    return new, alike


zeros, zeros_like = _filled("zeros")
ones, ones_like = _filled("ones")
full, full_like = _filled("full")
empty, empty_like = zeros, zeros_like  # memory that is not set differs each time it is computed


def blocks_of(function: Callable[..., Any], shape: tuple[int, ...], dtype: Any, *xs: Native) -> Native:
    """An array whose blocks are made by a function.

    It takes the first row of the block, the number of its rows, which are whole, and `xs`.
    """
    row = np.dtype((np.void, max(1, math.prod(shape[1:]) * dtype.itemsize)))
    rows = normalize_chunks(("auto",), (shape[0],), dtype=row)[0]
    firsts = da.from_array(np.cumsum((0, *rows))[:-1], chunks=1)
    counts = da.from_array(np.asarray(rows), chunks=1)
    whole = [part for x in xs for part in (x, tuple(range(-x.ndim, 0)))]
    return da.blockwise(
        function, tuple(range(len(shape))), firsts, (0,), counts, (0,), *whole, new_axes=dict(enumerate(shape[1:], 1)),
        adjust_chunks={0: rows}, align_arrays=False, concatenate=True, dtype=dtype,
        meta=like(firsts, dtype, len(shape)),
    )  # fmt: skip


def _steps(first: Any, count: Any, *, start: Any, step: Any, dtype: Any, last: Any = None) -> Any:
    """A block of an arithmetic sequence, by NumPy's formula."""
    places = np.arange(first[0], first[0] + count[0])
    if dtype.kind in "iu":
        return np.asarray(start, dtype) + places.astype(dtype) * np.asarray(step).astype(dtype)
    found = places * step + start
    if last is not None and first[0] + count[0] == last[0]:
        found[-1] = last[1]
    return found.astype(dtype)


_FEW: Final = 1 << 16
"""The most elements that are made at once."""


def arange(start: float, stop: float, step: float, /, *, dtype: Any, device: str | None = None) -> Native:
    length = max(0, -int(-((stop - start) / step) // 1))
    if length < _FEW:
        return from_host(on_numpy.arange(start, stop, step, dtype=dtype), device)
    gap = step if dtype.kind in "iu" else (start + step) - start
    return _of_steps(length, device, dtype=dtype, start=start, step=gap)


def _of_steps(length: int, device: str | None, *, dtype: Any, **options: Any) -> Native:
    return to_device(blocks_of(functools.partial(_steps, dtype=dtype, **options), (length,), dtype), device)


def linspace(
    start: complex, stop: complex, num: int, /, *, dtype: Any, device: str | None = None, endpoint: bool = True
) -> Native:
    if num < _FEW or dtype.kind in "iu":
        return from_host(on_numpy.linspace(start, stop, num, dtype=dtype, endpoint=endpoint), device)
    step = (stop - start) / (num - 1 if endpoint else num)
    last = (num, stop) if endpoint else None
    return _of_steps(num, device, dtype=dtype, start=start, step=step, last=last)


def eye(n_rows: int, n_cols: int, /, *, k: int = 0, dtype: Any, device: str | None = None) -> Native:
    if n_rows * n_cols < _FEW:
        return from_host(on_numpy.eye(n_rows, n_cols, k=k, dtype=dtype), device)
    return to_device(da.eye(n_rows, "auto", n_cols, k, dtype), device)


def tril(x: Native, /, *, k: int = 0) -> Native:
    return da.tril(matrices(x), k)


def triu(x: Native, /, *, k: int = 0) -> Native:
    return da.triu(matrices(x), k)


def meshgrid(*arrays: Native, indexing: str = "xy") -> tuple[Native, ...]:
    return tuple(da.meshgrid(*arrays, indexing=indexing))


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
