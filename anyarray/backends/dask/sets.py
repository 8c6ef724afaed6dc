"""Distinct elements of an array in one block."""

from __future__ import annotations

import numpy as np

from anyarray.backends.dask._kernel import UNKNOWN, Block, Native, beside, in_one_block

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]

_INT64 = np.dtype("int64")
_SOME = ((UNKNOWN,), _INT64)


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
