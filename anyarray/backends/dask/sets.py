"""Distinct elements of an array in one block."""

from __future__ import annotations

import dask.array as da
import numpy as np

from anyarray.backends.dask._kernel import UNKNOWN, Block, Native, empty_of, in_one_block, known, whole

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]

_INT64 = np.dtype("int64")


def unique_values(x: Native, /) -> Native:
    return in_one_block(Block("unique_values"), [x], ((UNKNOWN,), x.dtype))


def unique_counts(x: Native, /) -> tuple[Native, ...]:
    return in_one_block(Block("unique_counts"), [x], ((UNKNOWN,), x.dtype), ((UNKNOWN,), _INT64))


def unique_inverse(x: Native, /) -> tuple[Native, ...]:
    x = known(x)
    return in_one_block(Block("unique_inverse"), [x], ((UNKNOWN,), x.dtype), (x.shape, _INT64))


def unique_all(x: Native, /) -> tuple[Native, ...]:
    x = known(x)
    some = ((UNKNOWN,), _INT64)
    return in_one_block(Block("unique_all"), [x], ((UNKNOWN,), x.dtype), some, (x.shape, _INT64), some)


def isin(x1: Native, x2: Native, /, *, invert: bool = False) -> Native:
    labels = tuple(range(x1.ndim))
    x2 = whole(x2)
    return da.blockwise(
        Block("isin", invert=invert), labels, x1, labels, x2, tuple(range(100, 100 + x2.ndim)), dtype=bool,
        concatenate=True, align_arrays=False, meta=empty_of(bool, x1.ndim),
    )  # fmt: skip
