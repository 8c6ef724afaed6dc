"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from anyarray.backends._shared.axes import axis_in
from anyarray.backends.torch._kernel import KIND, PROMOTED, SIGNED, Native, bits, directly, promoted, with_kernels

__all__ = ["matmul", "tensordot", "vecdot"]

_FLOATS = with_kernels("fc")


def _factors(x1: Native, x2: Native) -> tuple[Native, Native]:
    """Both in one dtype that has kernels."""
    if x1.dtype is not x2.dtype:
        x1, x2 = promoted(x1, x2)
    if x1.dtype is torch.bool:
        return x1.to(torch.uint8), x2.to(torch.uint8)
    return bits(x1), bits(x2)


def _product(found: Native, x1: Native, x2: Native) -> Native:
    """The product in the dtype of the factors."""
    dtype = PROMOTED[x1.dtype, x2.dtype]
    if dtype in SIGNED:
        return found.view(dtype)
    return found != 0 if dtype is torch.bool else found


def matmul(x1: Native, x2: Native, /) -> Native:
    if x1.dtype is x2.dtype and x1.dtype in _FLOATS:
        return torch.matmul(x1, x2)
    if not x1.ndim or not x2.ndim:
        raise ValueError("arrays without axes have no matrix product")
    first, second = _factors(x1, x2)
    if x1.dtype is torch.bool and x2.dtype is torch.bool:  # a sum of bytes may wrap around to 0
        first, second = first.to(torch.int64), second.to(torch.int64)
    return _product(torch.matmul(first, second), x1, x2)


directly(matmul, torch.matmul, _FLOATS)


def tensordot(x1: Native, x2: Native, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Native:
    if isinstance(axes, int):
        if axes < 0 or axes > min(x1.ndim, x2.ndim):
            raise ValueError(f"axes must be between 0 and the number of axes of both, not {axes}")
        pairs: Any = (list(range(x1.ndim - axes, x1.ndim)), list(range(axes)))
    else:
        pairs = tuple([[one] if isinstance(one, int) else list(one) for one in axes])
        pairs = (
            [axis_in(one, x1.ndim) for one in pairs[0]],
            [axis_in(one, x2.ndim) for one in pairs[1]],
        )
        if len(pairs[0]) != len(pairs[1]):
            raise ValueError("axes must name as many axes of both")
    for i, j in zip(*pairs, strict=True):
        if x1.shape[i] != x2.shape[j]:  # PyTorch broadcasts an axis of length 1
            raise ValueError(f"axes {i} and {j} must have one length, not {x1.shape[i]} and {x2.shape[j]}")
    first, second = _factors(x1, x2)
    if x1.dtype is torch.bool and x2.dtype is torch.bool:
        first, second = first.to(torch.int64), second.to(torch.int64)
    return _product(torch.tensordot(first, second, pairs), x1, x2)


def vecdot(x1: Native, x2: Native, /, *, axis: int = -1) -> Native:
    if axis >= 0 or axis < -min(x1.ndim, x2.ndim):
        axis_in(axis, min(x1.ndim, x2.ndim))
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"x1 and x2 must be of one length along axis {axis}, not {tuple(x1.shape)}, {tuple(x2.shape)}")
    x1, x2 = (torch.movedim(x, (axis,), (-1,)) for x in (x1, x2))
    if KIND[x1.dtype] == "c":
        x1 = torch.conj(x1)
    return matmul(x1[..., None, :], x2[..., None])[..., 0, 0]
