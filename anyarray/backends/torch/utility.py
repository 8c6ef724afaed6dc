"""Logical reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from anyarray.backends._shared.axes import axes_in
from anyarray.backends.torch._kernel import Axes, Native, bits, directly, truth, with_kernels


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
