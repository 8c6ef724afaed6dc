"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from anyarray.backends._shared.axes import axis_in, contracted_axes
from anyarray.backends.torch._kernel import KIND, PROMOTED, SIGNED, Native, bits, directly, promoted, with_kernels

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
    pairs = contracted_axes(x1.shape, x2.shape, axes)
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
