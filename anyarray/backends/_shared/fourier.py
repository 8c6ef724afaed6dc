"""Fourier transforms along several axes, frequencies and shifts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anyarray.backends._shared.axes import axis_in

Native = Any
Axes = int | Sequence[int] | None


def plan(
    shape: Sequence[Any], s: Sequence[int] | None, axes: Sequence[int] | None, *, is_real: bool, is_half: bool
) -> tuple[tuple[int, ...], list[Any]]:
    """The axes of a transform, and its lengths along them.

    A transform of real numbers (`is_real`) or of half a spectrum (`is_half`) needs an axis. Lengths of `shape` that are
    not ints are unknown.
    """
    if axes is None:
        axes = range(len(shape)) if s is None else range(-len(s), 0)
    axes = tuple([axis_in(axis, len(shape)) for axis in axes])
    if s is None:
        lengths = [shape[axis] for axis in axes]
        if is_half and axes:
            lengths[-1] = 2 * (lengths[-1] - 1)
    else:
        lengths = [shape[axis] if n == -1 else n for axis, n in zip(axes, s, strict=True)]
    if ((is_real or is_half) and not axes) or any(isinstance(n, int) and n < 1 for n in lengths):
        raise ValueError("there are no elements to transform")
    return axes, lengths


def one_by_one(
    x: Native,
    axes: Sequence[int],
    lengths: Sequence[Any],
    norm: str,
    other: Callable[..., Native],
    last: Callable[..., Native],
    *,
    is_half: bool,
) -> Native:
    """A transform along one axis after another, in NumPy's order.

    An axis may occur twice. `last` transforms along the last axis, `other` along the others.
    """
    transforms = [*[other] * (len(axes) - 1), last] if axes else []
    steps = list(zip(transforms, lengths, axes, strict=True))
    for transform, n, axis in steps if is_half else reversed(steps):
        x = transform(x, n=n, axis=axis, norm=norm)
    return x


def shifts(
    roll: Callable[..., Native], lengths: Callable[[Native], Sequence[Any]], copied: Callable[[Native], Native]
) -> tuple[Any, Any]:
    """`fftshift` and `ifftshift`, by a `roll` along several axes.

    Without axes they copy the array by `copied`.
    """

    def rolled(x: Native, axes: Axes, sign: int) -> Native:
        shape = lengths(x)
        named = range(len(shape)) if axes is None else (axes,) if isinstance(axes, int) else axes
        places = tuple([axis_in(axis, len(shape)) for axis in named])  # an axis that occurs twice is shifted twice
        return roll(x, tuple([sign * (shape[axis] // 2) for axis in places]), axis=places) if places else copied(x)

    def fftshift(x: Native, /, *, axes: Axes = None) -> Native:
        return rolled(x, axes, 1)

    def ifftshift(x: Native, /, *, axes: Axes = None) -> Native:
        return rolled(x, axes, -1)

    return fftshift, ifftshift


def frequencies(made: Callable[[np.ndarray[Any, Any], Any, Any], Native]) -> tuple[Any, Any]:
    """`fftfreq` and `rfftfreq`.

    `made` makes a native array of an ndarray, in a dtype and on a device.
    """

    def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Native:
        return made(np.fft.fftfreq(n, d), dtype, device)

    def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Native:
        return made(np.fft.rfftfreq(n, d), dtype, device)

    return fftfreq, rfftfreq
