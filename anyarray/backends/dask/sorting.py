"""Sorting, searching and distinct elements."""

from __future__ import annotations

from typing import Literal

import dask.array as da
import numpy as np

from anyarray.backends._shared.refusals import refuse_complex
from anyarray.backends.dask._kernel import (
    UNKNOWN,
    Block,
    Native,
    along,
    as_dtype,
    beside,
    device_of,
    in_one_block,
    to_device,
)  # fmt: skip
from anyarray.backends.dask.indexing import getitem, selected

__all__ = [
    "argsort", "isin", "nonzero", "searchsorted", "sort", "unique_all", "unique_counts", "unique_inverse",
    "unique_values",
]  # fmt: skip

_INT64 = np.dtype("int64")
_SOME = ((UNKNOWN,), _INT64)


def sort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    refuse_complex(x)
    return along(Block("sort", axis=axis, descending=descending, stable=stable), x, [axis])


def argsort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    refuse_complex(x)
    function = Block("argsort", axis=axis, descending=descending, stable=stable)
    return along(function, x, [axis], dtype=_INT64)


def nonzero(x: Native, /) -> tuple[Native, ...]:
    if not x.ndim:
        raise ValueError("x must have an axis")
    along = [da.arange(n, chunks=(sizes,)) for n, sizes in zip(x.shape, x.chunks, strict=True)]
    places = da.meshgrid(*along, indexing="ij")
    return tuple(selected(to_device(one, device_of(x)), as_dtype(x, np.dtype(bool))) for one in places)


def searchsorted(
    x1: Native, x2: Native, /, *, side: Literal["left", "right"] = "left", sorter: Native | None = None
) -> Native:
    refuse_complex(x1, x2)
    return beside(_found, x2, x1 if sorter is None else getitem(x1, sorter), _INT64, side=side)


def _found(wanted: Native, among: Native, *, side: str) -> Native:
    return Block("searchsorted", side=side)(among, wanted)


def unique_values(x: Native, /) -> Native:
    return in_one_block(Block("unique_values"), [x], ((UNKNOWN,), x.dtype))


def unique_counts(x: Native, /) -> tuple[Native, ...]:
    return in_one_block(Block("unique_counts"), [x], ((UNKNOWN,), x.dtype), _SOME)


def unique_inverse(x: Native, /) -> tuple[Native, ...]:
    return in_one_block(Block("unique_inverse"), [x], ((UNKNOWN,), x.dtype), (x.shape, _INT64))


def unique_all(x: Native, /) -> tuple[Native, ...]:
    return in_one_block(Block("unique_all"), [x], ((UNKNOWN,), x.dtype), _SOME, (x.shape, _INT64), _SOME)


def isin(x1: Native, x2: Native, /, *, invert: bool = False) -> Native:
    return beside(Block("isin", invert=invert), x1, x2, np.dtype(bool))
