"""Fourier transforms of the NumPy backend.

`numpy.py` imports this file, and so `numpy.fft`, when one is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anyarray.backends import _parts
from anyarray.backends._shared import fourier
from anyarray.backends._shortcut import direct, shortcut
from anyarray.backends.numpy import Native, aligned, as_complex, copied, floating, shape_of


def _transform(function: Callable[..., Native], *, is_half: bool = False) -> Callable[..., Native]:
    """NumPy's Fourier transform; 16-bit floats are computed as float32.

    NumPy scales by n in 16 bits, and returns 16 bits where other libraries return 32. `is_half` says that the input is
    one half of a spectrum: for an empty one NumPy returns uninitialized memory.
    """

    @shortcut(function, "fc")
    def transform(x: Native, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Native:
        if x.dtype.char == "e":
            x = x.astype(np.float32)
        if is_half and n is not None and not x.size and not x.shape[axis]:
            x = _with_one(x, axis)
        return _parts.along(lambda part: function(part, n, axis, norm), x, axis)

    return transform


def _transform_n(
    function: Callable[..., Native], one: Callable[..., Native], *, is_half: bool = False, is_complex: bool = True
) -> Callable[..., Native]:
    """As `_transform` for several axes; complex for no axes if `is_complex`.

    `one` is the transform along one axis.
    """
    direct_n, direct_one = direct(function), direct(one)

    @shortcut(lambda x: direct_one(x) if x.ndim == 1 else direct_n(x), "fc")
    def transform(
        x: Native,
        /,
        *,
        s: tuple[int, ...] | None = None,
        axes: tuple[int, ...] | None = None,
        norm: Any = "backward",
    ) -> Native:
        if x.dtype.char == "e":
            x = x.astype(np.float32)
        if axes is None and s is not None:
            axes = tuple(range(-len(s), 0))  # for NumPy this default is deprecated
        if is_half and s is not None and axes and not x.size and not x.shape[axes[-1]] and s[-1] != -1:
            x = _with_one(x, axes[-1])
        result = function(x, s, axes, norm)
        if is_complex and result.dtype.kind != "c":
            result = as_complex(floating(result))
        return result

    return transform


def _with_one(x: Native, axis: int) -> Native:
    """Zeros in the shape of `x`, with one element along the empty `axis`."""
    return np.zeros([1 if i == axis % x.ndim else n for i, n in enumerate(x.shape)], x.dtype)


fft, ifft = _transform(np.fft.fft), _transform(np.fft.ifft)
rfft, ihfft = _transform(np.fft.rfft), _transform(np.fft.ihfft)
irfft, hfft = _transform(np.fft.irfft, is_half=True), _transform(np.fft.hfft, is_half=True)
fftn, ifftn = _transform_n(np.fft.fftn, np.fft.fft), _transform_n(np.fft.ifftn, np.fft.ifft)
rfftn = _transform_n(np.fft.rfftn, np.fft.rfft)
irfftn = _transform_n(np.fft.irfftn, np.fft.irfft, is_half=True, is_complex=False)


fftshift, ifftshift = (
    shortcut(theirs, "biufc")(ours)
    for theirs, ours in zip((np.fft.fftshift, np.fft.ifftshift), fourier.shifts(np.roll, shape_of, copied), strict=True)
)
fftfreq, rfftfreq = fourier.frequencies(lambda values, dtype, device: aligned(values.astype(dtype, copy=False)))
