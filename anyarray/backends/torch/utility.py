"""Logical reductions, and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from anyarray.backends._shared.axes import axes_in, axis_in
from anyarray.backends.torch._kernel import Axes, Native, bits, directly, promoted, truth, with_bits, with_kernels


def _logical(function: Callable[..., Any]) -> Callable[..., Native]:
    def reduced(x: Native, /, *, axis: Axes = None, keepdims: bool = False) -> Native:
        x = truth(bits(x))
        if axis is None and not keepdims:
            return function(x)
        axes = axes_in(axis, x.ndim)
        return function(x, axes, keepdims) if axes else x.clone()  # PyTorch reduces over all axes if there are none

    return reduced


all, any = _logical(torch.all), _logical(torch.any)
_TRUTH = with_kernels("bifc")  # PyTorch gives uint8 for that
directly(all, torch.all, _TRUTH, options=("axis", "keepdims"))
directly(any, torch.any, _TRUTH, options=("axis", "keepdims"))


def diff(
    x: Native, /, *, axis: int = -1, n: int = 1, prepend: Native | None = None, append: Native | None = None
) -> Native:
    axis = axis_in(axis, x.ndim)
    dtypes = {one.dtype for one in (prepend, x, append) if one is not None}
    if len(dtypes) > 1:
        given = iter(promoted(*[one for one in (prepend, x, append) if one is not None]))
        prepend, x, append = (None if one is None else next(given) for one in (prepend, x, append))
    shape = [1 if i == axis else length for i, length in enumerate(x.shape)]
    ends = [one if one is None or one.ndim else one.expand(shape) for one in (prepend, append)]
    if not n:  # as NumPy's
        return x.clone()
    parts = [one for one in (ends[0], x, ends[1]) if one is not None]
    dtype = x.dtype
    x = torch.cat(parts, axis) if len(parts) > 1 else x
    y = bits(x)
    if n < 0:
        raise ValueError(f"n must not be negative, not {n}")
    for _ in range(min(n, y.shape[axis])):
        later, earlier = y.narrow(axis, 1, y.shape[axis] - 1), y.narrow(axis, 0, y.shape[axis] - 1)
        y = later != earlier if dtype is torch.bool else later - earlier
    return with_bits(y, dtype)
