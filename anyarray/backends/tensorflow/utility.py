"""Utility functions: all and any."""

from __future__ import annotations

from typing import Final

from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._kernel import NATIVE, Ints, Tensor, constant, name_of
from anyarray.backends.tensorflow._shapes import axes_tensor

_BOOL: Final = NATIVE["bool"]


def _truth(x: Tensor) -> Tensor:
    """Whether each element is not zero; True for NaN."""
    return x if x.dtype is _BOOL else ops.NotEqual(x, constant(0, name_of(x)))


def all(x: Tensor, /, *, axis: Ints | None = None, keepdims: bool = False) -> Tensor:
    return ops.All(_truth(x), axes_tensor(x, axis), keepdims)


def any(x: Tensor, /, *, axis: Ints | None = None, keepdims: bool = False) -> Tensor:
    return ops.Any(_truth(x), axes_tensor(x, axis), keepdims)
