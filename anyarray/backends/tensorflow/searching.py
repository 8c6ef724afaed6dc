"""Searching functions.

Positions and counts have no gradient, so NumPy computes them for eager tensors on the CPU. In a trace and on
accelerators they are composed of other ops of TensorFlow, as its searches do not handle NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np

from anyarray._base import dtypes, errors
from anyarray.backends import _ordering
from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.axes import axes_in, axis_in, bins
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._device import is_on_host
from anyarray.backends.tensorflow._host import from_host, is_eager, on_host
from anyarray.backends.tensorflow._kernel import (
    NATIVE,
    REFUSALS,
    Ints,
    Tensor,
    cast,
    constant,
    kind_of,
    may_be_differentiated,
    name_of,
    promoted,
    shape_of,
)
from anyarray.backends.tensorflow._shapes import sizes_of
from anyarray.backends.tensorflow.indexing import take
from anyarray.backends.tensorflow.manipulation import broadcast_arrays, flattened
from anyarray.backends.tensorflow.sorting import order_keys, refuse_complex

_RANK: Final = 8
"""The largest rank of the kernels of Where and SelectV2."""


def _extreme_index(
    name: str, on_host_by: Callable[..., Any], raw: Callable[..., Tensor], sign: Literal[1, -1]
) -> Callable[..., Tensor]:
    def extreme(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
        refuse_complex(x, name)
        if is_on_host(x):
            a = on_host(x)
            a = a.astype(np.float32) if a.dtype == np.float16 else a  # NumPy compares float16 ten times as slowly
            return from_host(on_host_by(a, axis=axis, keepdims=keepdims), x)
        return _extreme(raw, order_keys(x, is_nan_last=sign > 0), axis, keepdims)

    return extreme


argmax = _extreme_index("argmax", on_numpy.argmax, ops.ArgMax, 1)
argmin = _extreme_index("argmin", on_numpy.argmin, ops.ArgMin, -1)


def _extreme(search: Callable[..., Tensor], keys: Tensor, axis: int | None, keepdims: bool) -> Tensor:
    shape = shape_of(keys)
    rank = len(shape)
    if 0 in (shape if axis is None else (shape[axis_in(axis, rank)],)):
        raise ValueError("argmax, argmin: an axis without elements has no extreme")
    if axis is None:
        found = search(flattened(keys), constant(0))
        return ops.Reshape(found, constant((1,) * rank)) if keepdims else found
    axis = axis_in(axis, rank)
    if rank > 3 and None not in shape:  # the kernels support up to rank 7
        merged = (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))  # type: ignore[arg-type]  # no None
        found = ops.Reshape(
            search(ops.Reshape(keys, constant(merged)), constant(1)), constant(shape[:axis] + shape[axis + 1 :])
        )
    else:
        found = search(keys, constant(axis))
    return ops.ExpandDims(found, constant(axis)) if keepdims else found


def _is_nonzero(x: Tensor) -> Tensor:
    return ops.NotEqual(x, constant(0, name_of(x)))


def count_nonzero(x: Tensor, /, *, axis: Ints | None = None, keepdims: bool = False) -> Tensor:
    if is_on_host(x):
        return from_host(on_numpy.count_nonzero(on_host(x), axis=axis, keepdims=keepdims), x)
    return ops.Sum(cast(_is_nonzero(x), "int64"), constant(axes_in(axis, len(shape_of(x)))), keepdims)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    rank = len(shape_of(x))
    if not rank:
        raise ValueError("nonzero: an array of rank 0 has no axes to give positions along")
    if is_on_host(x):
        return tuple(from_host(positions, x) for positions in on_numpy.nonzero(on_host(x)))
    if rank <= _RANK:
        return tuple(ops.Unpack(ops.Where(_is_nonzero(x)), rank, 1))
    positions = flattened(ops.Where(flattened(_is_nonzero(x))))
    return tuple(ops.Unpack(ops.UnravelIndex(positions, cast(sizes_of(x), "int64")), rank, 0))


def searchsorted(
    x1: Tensor, x2: Tensor, /, *, side: Literal["left", "right"] = "left", sorter: Tensor | None = None
) -> Tensor:
    refuse_complex(x1, "searchsorted")
    refuse_complex(x2, "searchsorted")
    if len(shape_of(x1)) != 1:
        raise ValueError(f"searchsorted: x1 must have one axis, not {len(shape_of(x1))}")
    if is_on_host(x1) and is_on_host(x2) and (sorter is None or is_on_host(sorter)):
        order = None if sorter is None else dtypes.signed(on_host(sorter))
        return from_host(_ordering.searchsorted(on_host(x1), on_host(x2), side, order), x2)
    if sorter is not None:
        if kind_of(sorter) not in "iu":
            raise TypeError("bools and floats would be taken for positions")
        if None not in (shape := shape_of(sorter)) and shape != shape_of(x1):
            raise ValueError(f"searchsorted: sorter must have the shape of x1, not {shape}")
        x1 = take(x1, sorter)
    keys, wanted = (order_keys(x) for x in promoted(x1, x2))
    bound = ops.LowerBound if side == "left" else ops.UpperBound
    row = constant((1, -1))
    return ops.Reshape(bound(ops.Reshape(keys, row), ops.Reshape(wanted, row), NATIVE["int64"]), sizes_of(x2))


def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0, *, length: int | None = None) -> Tensor:
    if kind_of(x) not in "biu" or (weights is not None and kind_of(weights) not in "biuf"):
        raise TypeError("bincount: x must hold integers, and weights real numbers")
    is_summed_here = weights is None or (is_on_host(weights) and not may_be_differentiated(weights))
    if is_on_host(x) and is_summed_here:
        values = None if weights is None else on_host(weights)
        return from_host(on_numpy.bincount(on_host(x), values, minlength, length=length), x)
    if len(shape_of(x)) != 1 or (weights is not None and len(shape_of(weights)) != 1):
        raise ValueError("bincount: x and weights must be vectors of one length")
    places = cast(x, "int64")
    if length is None:
        if not is_eager(x):
            raise errors.unknown_length("bincount")
        length = bins(np.asarray(x), minlength)
    else:  # what is too large has no place, either
        places = ops.SelectV2(ops.Less(places, constant(length, "int64")), places, constant(-1, "int64"))
    added = ops.OnesLike(places) if weights is None else cast(weights, "float64")
    return ops.UnsortedSegmentSum(added, places, constant(length))


def where(condition: Tensor, x1: Tensor, x2: Tensor, /) -> Tensor:
    try:
        chosen = ops.SelectV2(condition, x1, x2)
        # A graph raises for too many axes only when it runs.
        if is_eager(chosen) or _are_few_axes(condition, x1, x2):
            return chosen
    except REFUSALS:
        condition, (x1, x2) = cast(condition, "bool"), promoted(x1, x2)
        if _are_few_axes(condition, x1, x2):
            return ops.SelectV2(condition, x1, x2)
    arrays = broadcast_arrays(condition, x1, x2)
    return ops.Reshape(ops.SelectV2(*(flattened(x) for x in arrays)), sizes_of(arrays[0]))


def _are_few_axes(*xs: Tensor) -> bool:
    return max(len(x.shape) for x in xs) <= _RANK
