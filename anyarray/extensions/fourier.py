"""Fourier transforms along two axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from anyarray._array.array import AnyArray, Array
from anyarray.standard import namespace as xp

__all__ = ["fft2", "ifft2", "irfft2", "rfft2"]

Norm = Literal["backward", "ortho", "forward"]


def fft2(
    a: AnyArray, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: Norm | None = None
) -> Array:
    """The discrete Fourier transform along two axes, as `fftn` with `axes`.

    >>> import anyarray as xp
    >>> xp.real(xp.fft.fft2(xp.ones((2, 2)))).tolist()
    [[4.0, 0.0], [0.0, 0.0]]

    Source: NumPy 2.4, numpy.fft.fft2.
    """
    return xp.fft.fftn(a, s=s, axes=axes, norm=norm or "backward")


def ifft2(
    a: AnyArray, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: Norm | None = None
) -> Array:
    """The inverse of `fft2`.

    >>> import anyarray as xp
    >>> xp.real(xp.fft.ifft2(xp.ones((2, 2)))).tolist()
    [[1.0, 0.0], [0.0, 0.0]]

    Source: NumPy 2.4, numpy.fft.ifft2.
    """
    return xp.fft.ifftn(a, s=s, axes=axes, norm=norm or "backward")


def rfft2(
    a: AnyArray, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: Norm | None = None
) -> Array:
    """Half of `fft2` of real numbers, along the last axis.

    The other half follows by symmetry.

    >>> import anyarray as xp
    >>> xp.fft.rfft2(xp.ones((2, 4))).shape
    (2, 3)

    Source: NumPy 2.4, numpy.fft.rfft2.
    """
    return xp.fft.rfftn(a, s=s, axes=axes, norm=norm or "backward")


def irfft2(
    a: AnyArray, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: Norm | None = None
) -> Array:
    """The inverse of `rfft2`; `s` says whether the last length was odd.

    >>> import anyarray as xp
    >>> xp.fft.irfft2(xp.fft.rfft2(xp.ones((2, 4)))).shape
    (2, 4)

    Source: NumPy 2.4, numpy.fft.irfft2.
    """
    return xp.fft.irfftn(a, s=s, axes=axes, norm=norm or "backward")
