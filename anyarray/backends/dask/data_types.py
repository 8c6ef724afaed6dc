"""Casts."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from anyarray.backends.dask._kernel import Native, along, as_dtype, elementwise

__all__ = ["astype", "bitcast"]


def astype(x: Native, dtype: Any, /) -> Native:
    return as_dtype(x, dtype)


def _viewed(block: Any, *, dtype: Any) -> Any:
    return np.ascontiguousarray(block).view(dtype)


def bitcast(x: Native, dtype: Any, /) -> Native:
    function = functools.partial(_viewed, dtype=dtype)
    if x.dtype.itemsize == dtype.itemsize:
        return elementwise(function, x, dtype=dtype)
    return along(function, x, [-1], [x.shape[-1] * x.dtype.itemsize // dtype.itemsize], dtype)
