"""Places of elements."""

from __future__ import annotations

from typing import Any, Literal

import dask.array as da
import numpy as np

from anyarray.backends._shared.refusals import refuse_complex
from anyarray.backends.dask._kernel import Block, Native, empty_of, known, whole
from anyarray.backends.dask.creation import zeros
from anyarray.backends.dask.indexing import getitem

__all__ = ["nonzero", "searchsorted"]


def nonzero(x: Native, /) -> tuple[Native, ...]:
    x = known(x)
    if not x.ndim:
        raise ValueError("x must have an axis")
    found = da.nonzero(x) if 0 not in x.shape else tuple(zeros((0,), dtype=np.dtype("int64")) for _ in x.shape)
    for one in found:
        one.anyarray_most = 8 * x.size
    return tuple(found)


def searchsorted(
    x1: Native, x2: Native, /, *, side: Literal["left", "right"] = "left", sorter: Native | None = None
) -> Native:
    refuse_complex(x1, x2)
    if sorter is not None:
        x1 = getitem(x1, sorter)
    x1, labels = whole(x1), tuple(range(x2.ndim))
    return da.blockwise(
        _found, labels, x2, labels, x1, (100,), dtype=np.int64, concatenate=True, align_arrays=False,
        meta=empty_of(np.int64, x2.ndim), side=side,
    )  # fmt: skip


def _found(wanted: Any, among: Any, *, side: str) -> Any:
    return Block("searchsorted", side=side)(among, wanted)
