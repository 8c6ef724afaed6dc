"""Reductions, cumulative too. Integers sum in 64 bits; NaN propagates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from anyarray.backends._shared.axes import axes_in, only_axis
from anyarray.backends.torch._hooks import is_replaced
from anyarray.backends.torch._kernel import (
    KIND,
    SUMMED,
    Axes,
    Native,
    bits,
    cast,
    directly,
    inexact,
    is_recorded,
    ordered,
    require_kinds,
    restored,
    size_along,
    truth,
    wide,
    with_kernels,
)
from anyarray.backends.torch.elementwise import root_of_sum

_FLOATS = frozenset({torch.float32, torch.float64})
_FEW = 1000
"""Elements up to which PyTorch's own variance, which has one pass, takes less time."""
_WIDE = frozenset({torch.float32, torch.float64, torch.complex64, torch.complex128, torch.int64})


def sum(x: Native, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Native:
    if axis is None and dtype is None and not keepdims and x.dtype in _WIDE:
        return torch.sum(x)
    wanted = SUMMED[x.dtype] if dtype is None else dtype
    axes = axes_in(axis, x.ndim)
    if not axes:
        return cast(x, wanted).clone() if x.dtype is wanted else cast(x, wanted)
    if wanted is torch.bool:
        return torch.any(truth(bits(x)), axes, keepdims)
    if KIND[wanted] in "iu":  # modulo its width
        found = torch.sum(_integers(x), axes, keepdims)
        return found.view(wanted) if wanted is torch.uint64 else cast(found, wanted)
    return torch.sum(cast(x, wanted), axes, keepdims)


directly(sum, torch.sum, _WIDE, options=("axis", "keepdims"))


def _integers(x: Native) -> Native:
    """Numbers as int64, by the bits of uint64."""
    return wide(x).to(torch.int64)


def _multiplied(x: Native, axes: tuple[int, ...], keepdims: bool) -> Native:
    for axis in sorted(axes, reverse=True):
        x = torch.prod(x, axis, keepdims)
    return x


def prod(x: Native, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Native:
    wanted = SUMMED[x.dtype] if dtype is None else dtype
    axes = axes_in(axis, x.ndim)
    if not axes:
        return cast(x, wanted).clone() if x.dtype is wanted else cast(x, wanted)
    if axis is None and not keepdims:
        x, axes = x.reshape(-1), (0,)
    if wanted is torch.bool:
        return torch.all(truth(bits(x)), axes, keepdims)
    if KIND[wanted] in "iu":
        found = _multiplied(_integers(x), axes, keepdims)
        return found.view(wanted) if wanted is torch.uint64 else cast(found, wanted)
    return _multiplied(cast(x, wanted), axes, keepdims)


directly(prod, torch.prod, _WIDE, options=("axis", "keepdims"))


def _extreme(function: Callable[..., Any]) -> Callable[..., Native]:
    def reduced(x: Native, /, *, axis: Axes = None, keepdims: bool = False) -> Native:
        require_kinds("biuf", x)
        axes = axes_in(axis, x.ndim)
        if not axes:
            return x.clone()
        return restored(function(ordered(x), axes, keepdims), x.dtype)

    return reduced


max, min = _extreme(torch.amax), _extreme(torch.amin)
directly(max, torch.amax, with_kernels("iuf"), options=("axis", "keepdims"))
directly(min, torch.amin, with_kernels("iuf"), options=("axis", "keepdims"))


def mean(x: Native, /, *, axis: Axes = None, keepdims: bool = False) -> Native:
    (x,) = inexact(x)
    axes = axes_in(axis, x.ndim)
    if not axes:
        return x.clone()
    if x.dtype.itemsize == 2:  # the sum may overflow in it
        return torch.mean(x.to(torch.float32), axes, keepdims).to(x.dtype)
    return torch.mean(x, axes, keepdims)


directly(mean, torch.mean, _WIDE - {torch.int64}, options=("axis", "keepdims"))


def _variance(x: Native, axis: Axes, correction: float, keepdims: bool) -> Native:
    if x.dtype not in _FLOATS:
        (x,) = inexact(x)
    dtype = x.dtype
    is_narrow = dtype.itemsize == 2
    if is_narrow:
        x = x.to(torch.float32)
    axes = axes_in(axis, x.ndim)
    count = size_along(x, axes)
    if x.dtype in _FLOATS and not is_narrow and axes and count > correction and x.numel() <= _FEW:
        return torch.var(x, axes, correction=correction, keepdim=keepdims)
    centred = x - torch.mean(x, axes, True) if axes else x - x
    if x.is_complex():
        squares = torch.real(centred * torch.conj(centred))
    else:
        squares = centred * centred if is_replaced(centred) or is_recorded(centred) else centred.square_()
    total = torch.sum(squares, axes, keepdims) if axes else squares
    variance = total / (count - correction if count > correction else math.nan)
    return variance.to(dtype) if is_narrow else variance


def var(x: Native, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    return _variance(x, axis, correction, keepdims)


def std(x: Native, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    return root_of_sum(_variance(x, axis, correction, keepdims))


def _running(function: Callable[..., Any], first: int) -> Callable[..., Native]:
    def running(x: Native, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Native:
        x = x if x.ndim else x.reshape(1)  # as in NumPy
        axis = only_axis(axis, x.ndim)
        wanted = SUMMED[x.dtype] if dtype is None else dtype
        if KIND[wanted] in "biu":
            found = function(_integers(truth(bits(x)) if wanted is torch.bool else x), axis)
            found = found.view(wanted) if wanted is torch.uint64 else cast(found, wanted)
        else:
            found = function(cast(x, wanted), axis)
        if not include_initial:
            return found
        shape = [1 if i == axis else n for i, n in enumerate(x.shape)]
        return torch.cat([torch.full(shape, first, dtype=wanted, device=x.device), found], axis)

    return running


cumulative_sum, cumulative_prod = _running(torch.cumsum, 0), _running(torch.cumprod, 1)
