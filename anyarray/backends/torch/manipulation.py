"""Manipulation: shapes and order."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Final

import numpy as np
import torch

from anyarray._base import sizes
from anyarray.backends._shared.axes import axes_in, axis_in, rolled
from anyarray.backends.torch._hooks import is_replaced, layout_of
from anyarray.backends.torch._kernel import (
    KIND,
    SIGNED,
    Axes,
    Native,
    bits,
    directly,
    indices,
    on_bits,
    promoted,
    require_kinds,
    with_bits,
)
from anyarray.backends.torch._mirrors import is_mirror, mirrored

_ALL: Final = frozenset(KIND)
"""All dtypes, for what moves elements alone."""


def broadcast_to(x: Native, /, shape: tuple[int, ...]) -> Native:
    if min(shape, default=0) < 0:  # PyTorch leaves such an axis as it is
        raise ValueError(f"no length of shape may be negative, as in {shape}")
    return torch.broadcast_to(x, shape)


def broadcast_arrays(*arrays: Native) -> tuple[Native, ...]:
    if all(x.shape == arrays[0].shape for x in arrays):
        return arrays
    return tuple(torch.broadcast_tensors(*arrays))


def concat(arrays: Sequence[Native], /, *, axis: int | None = 0) -> Native:
    if axis is None:
        arrays, axis = [x.reshape(-1) for x in arrays], 0
    dtype, ndim = arrays[0].dtype, arrays[0].ndim
    are_alike = True
    for x in arrays:
        if x.dtype is not dtype:
            are_alike = False
        if x.ndim != ndim:  # PyTorch passes over an empty vector among arrays of any shape
            raise ValueError(f"arrays of shapes {tuple(arrays[0].shape)} and {tuple(x.shape)} do not fit")
    if not ndim:
        raise ValueError("arrays without axes cannot be concatenated")
    return torch.cat(list(arrays) if are_alike else promoted(*arrays), axis)


def stack(arrays: Sequence[Native], /, *, axis: int = 0) -> Native:
    dtype = arrays[0].dtype
    if any(x.dtype is not dtype for x in arrays):
        arrays = promoted(*arrays)
    return torch.stack(list(arrays), axis)


directly(stack, torch.stack, _ALL, options=("axis",))


def unstack(x: Native, /, *, axis: int = 0) -> tuple[Native, ...]:
    axis = axis_in(axis, x.ndim)
    return torch.unbind(x, axis)


def expand_dims(x: Native, /, axis: int | tuple[int, ...] = 0) -> Native:
    if type(axis) is int:
        return torch.unsqueeze(x, axis)
    ndim = x.ndim + len(axis)  # type: ignore[arg-type]  # a tuple
    for one in sorted(axes_in(axis, ndim)):
        x = torch.unsqueeze(x, one)
    return x


def squeeze(x: Native, /, axis: int | tuple[int, ...]) -> Native:
    if type(axis) is int and x.shape[axis] == 1:
        return torch.squeeze(x, axis)
    axes = axes_in(axis, x.ndim)
    for one in axes:
        if x.shape[one] != 1:  # PyTorch leaves it as it is
            raise ValueError(f"axis {one} must have the length 1, not {x.shape[one]}")
    return torch.squeeze(x, axes) if axes else x[...]


def flip(x: Native, /, *, axis: Axes = None) -> Native:
    axes = axes_in(axis, x.ndim)
    if is_replaced(x):
        return with_bits(torch.flip(bits(x), axes), x.dtype)
    return mirrored(x, axes)


def moveaxis(x: Native, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Native:
    source, destination = ((one,) if isinstance(one, int) else tuple(one) for one in (source, destination))
    return torch.movedim(x, source, destination)  # PyTorch cannot map it over a batch for integers


def permute_dims(x: Native, /, axes: tuple[int, ...]) -> Native:
    return torch.permute(x, axes)


directly(permute_dims, torch.permute, _ALL, options=("axes",))


def matrix_transpose(x: Native, /) -> Native:
    return x.mT


directly(matrix_transpose, operator.attrgetter("mT"), _ALL)


def reshape(x: Native, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Native:
    if min(shape, default=0) < -1:
        raise ValueError(f"no length of shape may be less than -1, as in {shape}")
    if copy is False:
        try:
            return x.view(shape)
        except RuntimeError as error:  # as NumPy's
            raise ValueError(str(error)) from error
    found = torch.reshape(x, shape)
    if not copy and is_mirror(x):
        try:  # where NumPy copies what is reversed, this must not be a view of the mirror
            np.reshape(layout_of(x), shape, copy=False)  # type: ignore[arg-type]  # not in a trace
        except ValueError:
            copy = True
    return found.clone(memory_format=torch.contiguous_format) if copy else found


@on_bits
def repeat(x: Native, repeats: int | Native, /, *, axis: int | None = None) -> Native:
    if axis is None:
        x, axis = x.reshape(-1), 0
    else:
        axis = axis_in(axis, x.ndim)
    if isinstance(repeats, int):
        if repeats < 0:
            raise ValueError("repeats must not be negative")
        return torch.repeat_interleave(x, repeats, axis)
    require_kinds("iu", repeats)
    counts = indices(repeats)
    if counts.ndim > 1:
        raise ValueError("repeats must have at most one axis")
    if type(counts) is torch.Tensor and counts.device.type == "cpu" and not is_replaced(counts):
        sizes.refuse_counts(x.shape, counts.numpy(), axis, x.itemsize)  # PyTorch does not check it
    return torch.repeat_interleave(x, counts.expand(x.shape[axis]) if counts.numel() == 1 else counts, axis)


def roll(x: Native, /, shift: int | tuple[int, ...], *, axis: Axes = None) -> Native:
    if axis is None:
        total = shift if isinstance(shift, int) else sum(shift)
        return torch.roll(x.reshape(-1), total % max(x.numel(), 1), 0).reshape(x.shape)
    shifts, axes = rolled(shift, axis, x.shape)
    return torch.roll(x, shifts, axes) if axes else x.clone()


def tile(x: Native, repetitions: tuple[int, ...], /) -> Native:
    if min(repetitions, default=0) < 0:
        raise ValueError("repetitions must not be negative")
    found = torch.tile(bits(x), repetitions)
    found = found.view(x.dtype) if x.dtype in SIGNED else found
    return found.clone() if found is x or not repetitions else found
