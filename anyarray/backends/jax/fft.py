"""The Fourier transform extension."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from anyarray.backends._shared import fourier
from anyarray.backends.jax._hooks import duplicate
from anyarray.backends.jax._kernel import Native, cast, compiled, inexact
from anyarray.backends.jax.creation import creation


def _spectral(x: Native) -> Native:
    """`x` in a dtype that XLA's FFT supports: 16-bit floats as float32."""
    (x,) = inexact(x)
    return cast(x, "float32") if x.dtype.itemsize == 2 else x


def _transform(function: Callable[..., Native]) -> Any:
    def body(x: Native, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Native:
        length = x.shape[axis] if n is None else n
        if n is None and function in (jnp.fft.irfft, jnp.fft.hfft):
            length = 2 * (length - 1)
        if length < 1:
            raise ValueError("there are no elements to transform")
        return function(_spectral(x), n=n, axis=axis, norm=norm)

    body.__name__ = function.__name__
    return compiled(body)


def _transform_n(function: Callable[..., Native], other: Callable[..., Native], last: Callable[..., Native]) -> Any:
    """`function`; one axis at a time if an axis is repeated.

    Then `last` transforms along the last one, `other` along the others.
    """
    is_half = last is jnp.fft.irfft

    def body(x: Native, *, s: tuple[int, ...] | None, axes: tuple[int, ...] | None, norm: str) -> Native:
        x = _spectral(x)
        named, lengths = fourier.plan(x.shape, s, axes, is_real=last is jnp.fft.rfft, is_half=is_half)
        if len(set(named)) < len(named):
            return fourier.one_by_one(x, named, lengths, norm, other, last, is_half=is_half)
        return function(x, s=lengths or None, axes=named, norm=norm)  # it rejects an empty `s` for a 0-d array

    body.__name__ = function.__name__
    transform = compiled(body)

    def over_axes(
        x: Native, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
    ) -> Native:
        return transform(x, s=None if s is None else tuple(s), axes=None if axes is None else tuple(axes), norm=norm)

    return over_axes


fft = _transform(jnp.fft.fft)
ifft = _transform(jnp.fft.ifft)
rfft = _transform(jnp.fft.rfft)
irfft = _transform(jnp.fft.irfft)
hfft = _transform(jnp.fft.hfft)
ihfft = _transform(jnp.fft.ihfft)
fftn = _transform_n(jnp.fft.fftn, jnp.fft.fft, jnp.fft.fft)
ifftn = _transform_n(jnp.fft.ifftn, jnp.fft.ifft, jnp.fft.ifft)
rfftn = _transform_n(jnp.fft.rfftn, jnp.fft.fft, jnp.fft.rfft)
irfftn = _transform_n(jnp.fft.irfftn, jnp.fft.ifft, jnp.fft.irfft)


@creation
def _made(frequencies: np.ndarray[Any, Any], dtype: Any) -> Native:
    return jnp.asarray(frequencies.astype(dtype))


fftfreq, rfftfreq = fourier.frequencies(lambda values, dtype, device: _made(values, dtype, device=device))


@compiled(static=("by",))  # `roll` is compiled for all shifts, and takes twice the time
def _rolled(x: Native, by: tuple[int, ...], *, axis: tuple[int, ...]) -> Native:
    return jnp.roll(x, by, axis)


fftshift, ifftshift = fourier.shifts(_rolled, operator.attrgetter("shape"), duplicate)
