"""Reductions: of each block by our NumPy backend, then of the results."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

from anyarray._base import dtypes
from anyarray.backends._shared.refusals import refuse_complex
from anyarray.backends.dask._kernel import (
    Axis,
    Block,
    Native,
    as_dtype,
    axes_within,
    axis_within,
    elementwise,
    empty_of,
    in_one_block,
    known,
)  # fmt: skip
from anyarray.backends.dask.creation import full

__all__ = [
    "all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum", "max", "mean", "min",
    "prod", "std", "sum", "var",
]  # fmt: skip

_FLOAT64 = np.dtype("float64")


def _summed(dtype: Any) -> Any:
    return dtypes.KNOWN[dtypes.summed(dtype.name)].dtype


def _reduced(name: str, x: Native, axis: Axis, keepdims: bool, result: Any, /, **options: Any) -> Native:
    x = known(x)
    axes = axes_within(axis, x.ndim)
    if not axes:
        return elementwise(Block(name, axis=(), **options), x, dtype=result)
    if 0 in x.shape:
        kept = [1 if i in axes else n for i, n in enumerate(x.shape)]
        shape = tuple(kept if keepdims else [n for i, n in enumerate(kept) if i not in axes])
        Block(name, axis=axes, **options)(np.empty([n if i in axes else 1 for i, n in enumerate(x.shape)], x.dtype))
        return in_one_block(Block(name, axis=axes, keepdims=keepdims, **options), [x], (shape, result))
    part = Block(name, **options)
    return da.reduction(
        x, part, part, axis=axes, keepdims=keepdims, dtype=result, meta=empty_of(result, x.ndim),
    )  # fmt: skip


def sum(x: Native, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Native:
    dtype = _summed(x.dtype) if dtype is None else dtype
    return _reduced("sum", x, axis, keepdims, dtype, dtype=dtype)


def prod(x: Native, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Native:
    dtype = _summed(x.dtype) if dtype is None else dtype
    return _reduced("prod", x, axis, keepdims, dtype, dtype=dtype)


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


max, min, all, any = _extremum("max"), _extremum("min"), _truth("all"), _truth("any")


def count_nonzero(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
    return sum(as_dtype(x, np.dtype(bool)), axis=axis, keepdims=keepdims, dtype=np.dtype("int64"))


def _count(x: Native, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[axis] for axis in axes)


def _wide(dtype: Any) -> Any:
    """The dtype in which means of a dtype are computed."""
    return _FLOAT64 if dtype.kind in "biu" else np.promote_types(dtype, np.float32)


def mean(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
    x = known(x)
    count = _count(x, axes_within(axis, x.ndim))
    total = sum(x, axis=axis, dtype=_wide(x.dtype), keepdims=keepdims)
    dtype = _FLOAT64 if x.dtype.kind in "biu" else x.dtype
    return elementwise(functools.partial(_divided, by=count, dtype=dtype), total, dtype=dtype)


def _divided(block: Any, *, by: float, dtype: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(np.true_divide(block, by)).astype(dtype, copy=False)


class _Moments:
    """Count, means and sums of squared distances of elements of blocks."""

    __slots__ = ("count", "mean", "squares")

    def __init__(self, count: int, mean: Any, squares: Any) -> None:
        self.count, self.mean, self.squares = count, mean, squares


def _moments(block: Any, axis: Any, keepdims: bool, *, wide: Any, computing_meta: bool = False) -> Any:
    if computing_meta:  # Dask wants an array where it asks for the class and dtype of a block
        return np.empty(np.shape(block), wide)
    block = np.asarray(block).astype(wide, copy=False)
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
        squares = total.squares / freedom if freedom > 0 else np.full_like(total.squares, np.nan)
        squares = np.sqrt(squares) if root else squares
    return (squares if keepdims else np.squeeze(squares, axis)).astype(dtype, copy=False)


def _variance(x: Native, axis: Axis, correction: float, keepdims: bool, root: bool) -> Native:
    x = known(x)
    axes = axes_within(axis, x.ndim)
    wide = _wide(x.dtype)
    dtype = _FLOAT64 if x.dtype.kind in "biu" else np.dtype(x.dtype.char.lower())
    if not axes or 0 in x.shape:
        name = "std" if root else "var"
        kept = [1 if i in axes else n for i, n in enumerate(x.shape)]
        shape = tuple(kept if keepdims else [n for i, n in enumerate(kept) if i not in axes])
        function = Block(name, axis=axes, correction=correction, keepdims=keepdims)
        if not axes:
            return elementwise(function, x, dtype=dtype)
        return in_one_block(function, [x], (shape, dtype))
    return da.reduction(
        x, functools.partial(_moments, wide=wide),
        functools.partial(_spread, correction=correction, root=root, dtype=dtype), combine=_merged, axis=axes,
        keepdims=keepdims, dtype=dtype, concatenate=False, meta=empty_of(dtype, x.ndim),
    )  # fmt: skip


def var(x: Native, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    return _variance(x, axis, correction, keepdims, root=False)


def std(x: Native, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    return _variance(x, axis, correction, keepdims, root=True)


def _place(name: str) -> Callable[..., Native]:
    def place(x: Native, /, *, axis: int | None = None, keepdims: bool = False) -> Native:
        refuse_complex(x)
        x = known(x)
        if 0 in x.shape or not x.ndim:
            shape = Block(name, axis=axis, keepdims=keepdims)(np.broadcast_to(np.zeros((), x.dtype), x.shape)).shape
            return in_one_block(Block(name, axis=axis, keepdims=keepdims), [x], (shape, np.dtype("int64")))
        if axis is None:  # the first in the order of elements, not of blocks
            found = getattr(da, name)(x.reshape(-1), axis=0)
            return found.reshape((1,) * x.ndim) if keepdims else found
        return getattr(da, name)(x, axis=axis_within(axis, x.ndim), keepdims=keepdims)

    place.__name__ = name
    return place


argmax, argmin = _place("argmax"), _place("argmin")


def _running(name: str, combine: Callable[..., Any], identity: int) -> Callable[..., Native]:
    def running(x: Native, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Native:
        x = known(x)
        if axis is None and x.ndim > 1:
            raise ValueError("axis must be given for an array that does not have one axis")
        x = x if x.ndim else x[None]
        at = axis_within(0 if axis is None else axis, x.ndim)
        dtype = _summed(x.dtype) if dtype is None else dtype
        function = Block(name, dtype=dtype)
        found = (
            x.astype(dtype)
            if 0 in x.shape
            else da.reductions.cumreduction(function, combine, identity, as_dtype(x, dtype), axis=at, dtype=dtype)
        )
        if include_initial:
            first = full(tuple(1 if i == at else n for i, n in enumerate(x.shape)), identity, dtype=dtype)
            found = da.concatenate([first, found], axis=at)
        return found

    running.__name__ = name
    return running


cumulative_sum = _running("cumulative_sum", np.add, 0)
cumulative_prod = _running("cumulative_prod", np.multiply, 1)
