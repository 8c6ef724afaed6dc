"""Places of elements."""

from __future__ import annotations

from typing import Literal

import dask.array as da
import numpy as np

from anyarray.backends._shared.refusals import refuse_complex
from anyarray.backends.dask._kernel import Block, Native, as_dtype, beside, device_of, to_device
from anyarray.backends.dask.indexing import getitem, selected

__all__ = ["nonzero", "searchsorted"]


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
    return beside(_found, x2, x1 if sorter is None else getitem(x1, sorter), np.dtype("int64"), side=side)


def _found(wanted: Native, among: Native, *, side: str) -> Native:
    return Block("searchsorted", side=side)(among, wanted)
