"""Fourier transforms along axes that are not split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.axes import axes_in, axis_in
from anyarray.backends.dask._computing import from_host
from anyarray.backends.dask._kernel import Axis, Block, Native, along

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip


def _length(name: str, n: int) -> int:
    """The length of the result for the argument `n`."""
    return n // 2 + 1 if name in ("rfft", "ihfft", "rfftn") else n


def _transform(name: str) -> Callable[..., Native]:
    is_whole = name in ("irfft", "hfft")

    def transform(x: Native, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Native:
        axis = axis_in(axis, x.ndim)
        given = n if n is not None else 2 * (x.shape[axis] - 1) if is_whole else x.shape[axis]
        if given < 1:
            raise ValueError(f"n must be positive, not {given}")
        function = Block(name, n=n, axis=axis, norm=norm)
        dtype = Block(name)(np.ones(2, x.dtype)).dtype
        return along(function, x, [axis], [_length(name, given)], dtype)

    transform.__name__ = name
    return transform


def _transform_n(name: str) -> Callable[..., Native]:
    def transform(
        x: Native,
        /,
        *,
        s: tuple[int, ...] | None = None,
        axes: tuple[int, ...] | None = None,
        norm: Any = "backward",
    ) -> Native:
        if axes is None:
            axes = tuple(range(-(x.ndim if s is None else len(s)), 0))
        places = [axis_in(axis, x.ndim) for axis in axes]
        lengths = [x.shape[axis] for axis in places]
        if s is not None:
            lengths = [old if n == -1 else n for old, n in zip(lengths, s, strict=True)]
        elif name == "irfftn" and lengths:
            lengths[-1] = 2 * (lengths[-1] - 1)
        if any(n < 1 for n in lengths):
            raise ValueError(f"lengths must be positive, not {lengths}")
        if lengths:
            lengths[-1] = _length(name, lengths[-1])
        dtype = Block(name, axes=(0,) if places else ())(np.ones(2, x.dtype)).dtype
        return along(Block(name, s=s, axes=tuple(axes), norm=norm), x, places, lengths, dtype)

    transform.__name__ = name
    return transform


fft, ifft, rfft, irfft, hfft, ihfft = map(_transform, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = map(_transform_n, ("fftn", "ifftn", "rfftn", "irfftn"))


def fftshift(x: Native, /, *, axes: Axis = None) -> Native:
    places = axes_in(axes, x.ndim)
    return da.roll(x, tuple(x.shape[one] // 2 for one in places), places) if places else x


def ifftshift(x: Native, /, *, axes: Axis = None) -> Native:
    places = axes_in(axes, x.ndim)
    return da.roll(x, tuple(-(x.shape[one] // 2) for one in places), places) if places else x


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: str | None = None) -> Native:
    return from_host(on_numpy.fftfreq(n, d=d, dtype=dtype), device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: str | None = None) -> Native:
    return from_host(on_numpy.rfftfreq(n, d=d, dtype=dtype), device)
