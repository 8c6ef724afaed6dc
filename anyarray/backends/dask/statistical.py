"""Reductions: of each block by its backend, then of the results."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np

from anyarray._base import dtypes
from anyarray.backends._shared.axes import axes_in, axis_in, only_axis
from anyarray.backends._shared.refusals import refuse_complex
from anyarray.backends.dask._kernel import Axis, Block, Native, as_dtype, device_of, elementwise, home_of, like, on_home
from anyarray.backends.dask.creation import full

__all__ = [
    "all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum", "max", "mean", "min",
    "prod", "std", "sum", "var",
]  # fmt: skip

_FLOAT64 = np.dtype("float64")


def _reduced(name: str, x: Native, axis: Axis, keepdims: bool, result: Any, /, **options: Any) -> Native:
    axes = axes_in(axis, x.ndim)
    if not axes:
        return elementwise(Block(name, axis=(), **options), x, dtype=result)
    part = Block(name, **options)
    return _reduction(x, part, part, axes, keepdims, result)


def _reduction(x: Native, chunk: Any, aggregate: Any, axes: Any, keepdims: bool, dtype: Any, **options: Any) -> Native:
    options |= {"axis": axes, "keepdims": keepdims, "dtype": dtype, "meta": like(x, dtype)}
    found = da.reduction(x, chunk, aggregate, **options)
    found._meta = like(x, dtype, found.ndim)  # Dask leaves that of the blocks, which has the reduced axes
    return found


def _total(name: str) -> Callable[..., Native]:
    def total(x: Native, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Native:
        dtype = dtypes.KNOWN[dtypes.summed(x.dtype.name)].dtype if dtype is None else dtype
        return _reduced(name, x, axis, keepdims, dtype, dtype=dtype)

    total.__name__ = name
    return total


def _extremum(name: str) -> Callable[..., Native]:
    def extremum(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
        refuse_complex(x)
        return _reduced(name, x, axis, keepdims, x.dtype)

    extremum.__name__ = name
    return extremum


def _truth(name: str) -> Callable[..., Native]:
    def truth(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
        return _reduced(name, as_dtype(x, np.dtype(bool)), axis, keepdims, np.dtype(bool))

    truth.__name__ = name
    return truth


sum, prod = _total("sum"), _total("prod")
max, min, all, any = _extremum("max"), _extremum("min"), _truth("all"), _truth("any")


def count_nonzero(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
    return sum(as_dtype(x, np.dtype(bool)), axis=axis, keepdims=keepdims, dtype=np.dtype("int64"))


def _wide(dtype: Any) -> Any:
    """The dtype in which means of a dtype are computed."""
    return _FLOAT64 if dtype.kind in "biu" else np.promote_types(dtype, np.float32)


def mean(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
    count = math.prod(x.shape[one] for one in axes_in(axis, x.ndim))
    total = sum(x, axis=axis, dtype=_wide(x.dtype), keepdims=keepdims)
    dtype = _FLOAT64 if x.dtype.kind in "biu" else x.dtype
    return elementwise(functools.partial(_divided, by=count, dtype=dtype), total, dtype=dtype)


def _divided(block: Any, *, by: float, dtype: Any) -> Any:
    with np.errstate(all="ignore"):
        return on_home(block / by, home_of(block)).astype(dtype, copy=False)


@dataclass(slots=True)
class _Moments:
    """Count, means and sums of squared distances of elements of blocks."""

    count: int
    mean: Any
    squares: Any


def _moments(block: Any, axis: Any, keepdims: bool, *, wide: Any, computing_meta: bool = False) -> Any:
    block = on_home(block, home_of(block)).astype(wide, copy=False)
    if computing_meta:  # Dask wants an array where it asks for the class and dtype of a block
        return block
    with np.errstate(all="ignore"):
        middle = block.mean(axis, keepdims=True)
        away = block - middle
        squares = (away * away.conj()).real.sum(axis, keepdims=True)
    return _Moments(math.prod(block.shape[i] for i in axis), middle, squares)


def _merged(found: Any, axis: Any, keepdims: bool) -> _Moments:
    """The moments of several blocks, by Chan, Golub and LeVeque."""
    parts = [found]
    while not isinstance(parts[0], _Moments):
        parts = [one for part in parts for one in part]
    total = parts[0]
    with np.errstate(all="ignore"):
        for one in parts[1:]:
            count, away = total.count + one.count, one.mean - total.mean
            middle = total.mean + away * (one.count / count)
            squares = total.squares + one.squares + (away * away.conj()).real * (total.count * one.count / count)
            total = _Moments(count, middle, squares)
    return total


def _spread(found: Any, axis: Any, keepdims: bool, *, correction: float, root: bool, dtype: Any) -> Any:
    total = _merged(found, axis, keepdims)
    with np.errstate(all="ignore"):
        freedom = total.count - correction
        squares = total.squares / (freedom if freedom > 0 else math.nan)
        squares = np.sqrt(squares) if root else squares
    return (squares if keepdims else np.squeeze(squares, axis)).astype(dtype, copy=False)


def _variance(name: str) -> Callable[..., Native]:
    def variance(x: Native, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Native:
        axes = axes_in(axis, x.ndim)
        dtype = _FLOAT64 if x.dtype.kind in "biu" else np.dtype(x.dtype.char.lower())
        if not axes:
            return elementwise(Block(name, axis=axes, correction=correction), x, dtype=dtype)
        moments = functools.partial(_moments, wide=_wide(x.dtype))
        spread = functools.partial(_spread, correction=correction, root=name == "std", dtype=dtype)
        return _reduction(x, moments, spread, axes, keepdims, dtype, combine=_merged, concatenate=False)

    variance.__name__ = name
    return variance


var, std = _variance("var"), _variance("std")


def _place(name: str) -> Callable[..., Native]:
    def place(x: Native, /, *, axis: int | None = None, keepdims: bool = False) -> Native:
        refuse_complex(x)
        if axis is None:  # the first in the order of elements, not of blocks
            found = getattr(da, name)(x.reshape(-1), axis=0)
            return found.reshape((1,) * x.ndim) if keepdims else found
        return getattr(da, name)(x, axis=axis_in(axis, x.ndim), keepdims=keepdims)

    place.__name__ = name
    return place


argmax, argmin = _place("argmax"), _place("argmin")


def _running(name: str, combine: Callable[..., Any], identity: int) -> Callable[..., Native]:
    def running(x: Native, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Native:
        x = x if x.ndim else x[None]
        at = only_axis(axis, x.ndim)
        dtype = dtypes.KNOWN[dtypes.summed(x.dtype.name)].dtype if dtype is None else dtype
        function = Block(name, dtype=dtype)
        found = da.reductions.cumreduction(function, combine, identity, as_dtype(x, dtype), axis=at, dtype=dtype)
        if include_initial:
            shape = tuple(1 if i == at else n for i, n in enumerate(x.shape))
            found = da.concatenate([full(shape, identity, dtype=dtype, device=device_of(x)), found], axis=at)
        return found

    running.__name__ = name
    return running


cumulative_sum = _running("cumulative_sum", np.add, 0)
cumulative_prod = _running("cumulative_prod", np.multiply, 1)
