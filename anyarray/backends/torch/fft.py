"""The Fourier transform extension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from anyarray.backends._shared import fourier
from anyarray.backends._shared.axes import axis_in
from anyarray.backends.torch._hooks import duplicate, from_numpy, shape_of
from anyarray.backends.torch._kernel import Native, cast, directly, inexact, require_kinds
from anyarray.backends.torch.manipulation import roll


def _spectral(x: Native, is_real: bool) -> Native:
    """`x` in a dtype of which PyTorch has transforms."""
    if is_real:
        require_kinds("biuf", x)
    (x,) = inexact(x)
    return x.to(torch.float32) if x.dtype.itemsize == 2 else x


def _transform(function: Callable[..., Any], *, is_real: bool = False, is_half: bool = False) -> Callable[..., Native]:
    """A transform along one axis; `is_half`, of one half of a spectrum."""

    def transform(x: Native, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Native:
        x = _spectral(x, is_real)
        axis = axis_in(axis, x.ndim)
        length = n if n is not None else 2 * (x.shape[axis] - 1) if is_half else x.shape[axis]
        if length < 1:
            raise ValueError("there are no elements to transform")
        if not x.numel():
            if x.shape[axis]:  # no rows
                size = length // 2 + 1 if is_real else length
                shape = [size if i == axis else one for i, one in enumerate(x.shape)]
                real = torch.real(x).dtype if x.is_complex() else x.dtype
                dtype = real if is_half else torch.complex64 if real is torch.float32 else torch.complex128
                return torch.zeros(shape, dtype=dtype, device=x.device)
            x = torch.zeros([1 if i == axis else one for i, one in enumerate(x.shape)], dtype=x.dtype, device=x.device)
        return function(x, n, axis, norm)

    floats = frozenset({torch.float32, torch.float64})
    dtypes = floats if is_real else floats | {torch.complex64, torch.complex128}
    return directly(transform, function, dtypes, options=("n", "axis", "norm"))


fft, ifft = _transform(torch.fft.fft), _transform(torch.fft.ifft)
rfft, ihfft = _transform(torch.fft.rfft, is_real=True), _transform(torch.fft.ihfft, is_real=True)
irfft, hfft = _transform(torch.fft.irfft, is_half=True), _transform(torch.fft.hfft, is_half=True)


def _transform_n(
    function: Callable[..., Any], other: Callable[..., Native], last: Callable[..., Native]
) -> Callable[..., Native]:
    """A transform along several axes; one at a time if one comes twice.

    Then `last` transforms along the last one, `other` along the others.
    """
    is_real, is_half = last is rfft, last is irfft

    def transform(
        x: Native, /, *, s: tuple[int, ...] | None = None, axes: tuple[int, ...] | None = None, norm: str = "backward"
    ) -> Native:
        x = _spectral(x, is_real)
        named, lengths = fourier.plan(x.shape, s, axes, is_real=is_real, is_half=is_half)
        if not named:
            return (x if x.is_complex() else x.to(torch.complex64 if x.dtype is torch.float32 else torch.complex128))[
                ...
            ].clone()
        if len(set(named)) == len(named) and x.numel():
            return function(x, lengths, named, norm)
        return fourier.one_by_one(x, named, lengths, norm, other, last, is_half=is_half)

    return transform


fftn, ifftn = _transform_n(torch.fft.fftn, fft, fft), _transform_n(torch.fft.ifftn, ifft, ifft)
rfftn, irfftn = _transform_n(torch.fft.rfftn, fft, rfft), _transform_n(torch.fft.irfftn, ifft, irfft)


def _made(frequencies: np.ndarray[Any, Any], dtype: Any, device: Any) -> Native:
    return cast(from_numpy(frequencies, device), dtype)


fftfreq, rfftfreq = fourier.frequencies(_made)
fftshift, ifftshift = fourier.shifts(roll, shape_of, duplicate)
