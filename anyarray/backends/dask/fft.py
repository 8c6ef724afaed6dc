"""Fourier transforms along axes that are not split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.axes import axis_in
from anyarray.backends.dask._computing import from_host
from anyarray.backends.dask._kernel import Block, Native, along

__all__ = [
    "fft", "fftfreq", "fftn", "hfft", "ifft", "ifftn", "ihfft", "irfft", "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip


def _along(name: str, x: Native, axes: Sequence[int], given: Sequence[int] | None, /, **options: Any) -> Native:
    """A transform along axes, of which the lengths may be given."""
    places = [axis_in(axis, x.ndim) for axis in axes]
    lengths = [x.shape[axis] for axis in places] if given is None else list(given)
    if given is None and name in ("irfft", "hfft", "irfftn") and lengths:
        lengths[-1] = 2 * (lengths[-1] - 1)
    if any(n < 1 for n in lengths):
        raise ValueError(f"lengths must be positive, not {lengths}")
    if name in ("rfft", "ihfft", "rfftn") and lengths:
        lengths[-1] = lengths[-1] // 2 + 1
    dtype = Block(name, **({"axes": (0,) if places else ()} if "axes" in options else {}))(np.ones(2, x.dtype)).dtype
    return along(Block(name, **options), x, places, lengths, dtype)


def _transform(name: str) -> Callable[..., Native]:
    def transform(x: Native, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Native:
        return _along(name, x, [axis], None if n is None else [n], n=n, axis=axis, norm=norm)

    def of_many(x: Native, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> Native:
        axes = tuple(range(-(x.ndim if s is None else len(s)), 0) if axes is None else axes)
        if s is not None:
            s = tuple(x.shape[axis] if n == -1 else n for axis, n in zip(axes, s, strict=True))
        return _along(name, x, axes, s, s=s, axes=axes, norm=norm)

    made = of_many if name.endswith("n") else transform
    made.__name__ = name
    return made


fft, ifft, rfft, irfft, hfft, ihfft = map(_transform, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = map(_transform, ("fftn", "ifftn", "rfftn", "irfftn"))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: str | None = None) -> Native:
    return from_host(on_numpy.fftfreq(n, d=d, dtype=dtype), device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: str | None = None) -> Native:
    return from_host(on_numpy.rfftfreq(n, d=d, dtype=dtype), device)
