"""Sorting along an axis that is not split."""

from __future__ import annotations

import numpy as np

from anyarray.backends._shared.refusals import refuse_complex
from anyarray.backends.dask._kernel import Block, Native, along

__all__ = ["argsort", "sort"]


def sort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    refuse_complex(x)
    return along(Block("sort", axis=axis, descending=descending, stable=stable), x, [axis])


def argsort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    refuse_complex(x)
    function = Block("argsort", axis=axis, descending=descending, stable=stable)
    return along(function, x, [axis], dtype=np.dtype("int64"))
