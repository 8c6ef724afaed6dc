"""Fourier transforms along several axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from anyarray.backends._shared.axes import axis_in

Native = Any


def plan(
    shape: Sequence[Any], s: Sequence[int] | None, axes: Sequence[int] | None, *, is_real: bool, is_half: bool
) -> tuple[tuple[int, ...], list[Any]]:
    """The axes of a transform, and its lengths along them.

    One of real numbers, or of one half of a spectrum, needs an axis. A length of `shape` that is not known may be
    anything but an int.
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
    """A transform along one axis after the other, in NumPy's order.

    An axis may be named twice. `last` transforms along the last one, `other` along the others.
    """
    transforms = [*[other] * (len(axes) - 1), last] if axes else []
    steps = list(zip(transforms, lengths, axes, strict=True))
    for transform, n, axis in steps if is_half else reversed(steps):
        x = transform(x, n=n, axis=axis, norm=norm)
    return x
