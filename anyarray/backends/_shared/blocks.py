"""Elementwise functions computed in blocks.

These functions need many temporary arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

Native = Any

BLOCK: Final = 2**16
"""Elements of a block. With 80 temporaries, a block takes 42 MB."""


def in_blocks(
    function: Callable[..., Native],
    flat: Callable[[Native, Sequence[int]], Native],
    joined: Callable[[list[Native], Sequence[int]], Native],
) -> Callable[..., Native]:
    """`function` of native arrays, called on one block after another.

    `flat` broadcasts an array to a shape and flattens it, `joined` concatenates blocks and gives them a shape.
    """

    def called(*xs: Native) -> Native:
        if all(math.prod(x.shape) <= BLOCK for x in xs):
            return function(*xs)
        shape = _broadcast_shape([tuple(x.shape) for x in xs])
        long = [flat(x, shape) for x in xs]
        blocks = [slice(start, start + BLOCK) for start in range(0, math.prod(shape), BLOCK)]
        return joined([function(*[x[block] for x in long]) for block in blocks], shape)

    return called


def _broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    ndim = max(map(len, shapes))
    columns = zip(*[(1,) * (ndim - len(shape)) + shape for shape in shapes], strict=True)
    return tuple([next((n for n in column if n != 1), 1) for column in columns])
