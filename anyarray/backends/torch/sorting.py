"""Sorting in NumPy's order: NaN last."""

from __future__ import annotations

import torch

from anyarray.backends._shared.axes import axis_in
from anyarray.backends.torch._kernel import Native, ordered, require_kinds, restored


def sort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    require_kinds("biuf", x)
    axis = axis_in(axis, x.ndim)
    return restored(torch.sort(ordered(x), dim=axis, descending=descending, stable=stable)[0], x.dtype)


def argsort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    require_kinds("biuf", x)
    axis = axis_in(axis, x.ndim)
    return torch.sort(ordered(x), dim=axis, descending=descending, stable=stable)[1]
