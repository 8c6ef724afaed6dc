"""A low-pass filter of a signal of 2**19 samples, and of an image."""

from __future__ import annotations

from typing import Any

import numpy as np

import anyarray as xp


def inputs(random: np.random.Generator) -> tuple[Any, ...]:
    return random.normal(size=1 << 19), random.normal(size=(512, 512))


def run(signal: Any, image: Any) -> float:
    x, y = xp.asarray(signal), xp.asarray(image)
    frequencies = xp.fft.rfftfreq(x.shape[0])
    low = xp.fft.irfft(xp.fft.rfft(x) * xp.exp(-((frequencies / 0.1) ** 2)), n=x.shape[0])
    across = xp.fft.fftfreq(512)
    mask = xp.exp(-(across[:, None] ** 2 + across[None, :] ** 2) / 0.02)
    smooth = xp.real(xp.fft.ifftn(xp.fft.fftn(xp.astype(y, xp.complex128)) * mask))
    return float(xp.std(low)) + float(xp.std(smooth))
