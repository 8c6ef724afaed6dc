"""Threefry2x32 with 20 rounds, as Random123 defines it."""

from __future__ import annotations

import math
from typing import Final

from anyarray._array.array import Array, Shape
from anyarray._base import errors
from anyarray._base.dtypes import uint32, uint64
from anyarray.standard import namespace as xp

_PARITY: Final = 0x1BD11BDA
_ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(key: Array, shape: Shape, counters: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
    """Two words of 32 bits for each element of `shape`.

    The counters are the positions of the elements in row-major order, high word and low word, unless they are given.
    """
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    # With an axis, as NumPy warns of sums of scalars that wrap around.
    high, low = _positions(lengths, key) if counters is None else [xp.reshape(one, (-1,)) for one in counters]
    first, second = key[:1], key[1:]
    keys = (first, second, first ^ second ^ _PARITY)
    x0, x1 = high + first, low + second
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x0 = x0 + x1
            x1 = ((x1 << rotation) | (x1 >> (32 - rotation))) ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + (keys[(group + 2) % 3] + (group + 1))
    return xp.reshape(x0, lengths), xp.reshape(x1, lengths)


def _positions(shape: tuple[int, ...], like: Array) -> tuple[Array, Array]:
    size = math.prod(shape)
    if size > 1 << 62:
        raise errors.ArgumentValueError(f"random: shape {shape} has too many elements")
    device = like.device
    if size <= 1 << 32:
        return xp.zeros(1, dtype=uint32, device=device), xp.arange(size, dtype=uint32, device=device)
    whole = xp.arange(size, dtype=uint64, device=device)
    return xp.astype(whole >> 32, uint32), xp.astype(whole & 0xFFFFFFFF, uint32)
