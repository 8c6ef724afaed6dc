"""Functions whose gradient TensorFlow gets wrong, composed of ops whose derivatives of all orders are right.

They take several times as long, so they are called only where a derivative may be taken. A custom gradient would cost
less, but `tf.vectorized_map` drops it in silence: there is one where a function is known not to be mapped.
"""

from __future__ import annotations

import math
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

from anyarray.backends.tensorflow._host import is_on_host, on_host
from anyarray.backends.tensorflow._kernel import NATIVE, Tensor, cast, constant, name_of, op
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow._shapes import Length, lengths, shape_tensor

_concat = op("ConcatV2")
_equal = op("Equal")
_fill = op("Fill")
_gather = op("GatherV2")
_multiply = op("Mul")
_pack = op("Pack")
_range = op("Range")
_reshape = op("Reshape")
_scatter = op("TensorScatterUpdate")
_select = op("SelectV2")
_size = op("Size")
_stop_gradient = op("StopGradient")
_strided_slice = op("StridedSlice")
_unpack = op("Unpack")
_zeros_like = op("ZerosLike")

_LEVELS: Final = 31
"""How often a length that a trace does not know is halved."""


def product(x: Tensor) -> Tensor:
    """Products along the last axis, which stays, of neighbours first."""
    rows, n = _rows(x)
    if isinstance(n, int) and n == 0:
        return _fill(shape_tensor([*lengths(x)[:-1], 1]), constant(1, name_of(x)))
    y = _reshape(x, shape_tensor([rows, n]))
    for _ in range(_levels(n)):
        even, odd, n = _neighbours(y, rows, n)
        y = _multiply(even, odd)
    return _reshape(y, shape_tensor([*lengths(x)[:-1], 1]))


def running_product(x: Tensor) -> Tensor:
    """Products up to each element along the last axis."""
    rows, n = _rows(x)
    y = _running(_reshape(x, shape_tensor([rows, n])), rows, n, _levels(n))
    return _reshape(y, shape_tensor(lengths(x)))


def _running(x: Tensor, rows: Length, n: Length, levels: int) -> Tensor:
    if not levels:
        return x
    even, odd, half = _neighbours(x, rows, n)
    to_odd = _running(_multiply(even, odd), rows, half, levels - 1)
    ones = _fill(shape_tensor([rows, 1]), constant(1, name_of(x)))
    before_even = _first(_concat([ones, to_odd], constant(1)), half)
    both = _reshape(_pack([_multiply(before_even, even), to_odd], 2), shape_tensor([rows, half * 2]))
    return _first(both, n)


def _first(x: Tensor, n: Length) -> Tensor:
    """The first `n` elements of each row."""
    end = shape_tensor([0, n])
    # Not by Slice: for XLA, its gradient has none itself.
    return _strided_slice(x, constant((0, 0), name_of(end)), end, constant((1, 1), name_of(end)), 0, 1, 0, 0, 0)


def _rows(x: Tensor) -> tuple[Length, Length]:
    """How many rows along the last axis, and how long."""
    *others, n = lengths(x)
    return math.prod(others), n


def _levels(n: Length) -> int:
    return max(n - 1, 0).bit_length() if isinstance(n, int) else _LEVELS


def _neighbours(x: Tensor, rows: Length, n: Length) -> tuple[Tensor, Tensor, Length]:
    """The elements of each row at even and at odd places, 1 standing for one that lacks; how many of each."""
    odd_one = n % 2
    if not isinstance(n, int) or odd_one:
        # Not by PadV2, for which `tf.vectorized_map` puts zeros.
        x = _concat([x, _fill(shape_tensor([rows, odd_one]), constant(1, name_of(x)))], constant(1))
    half = (n + odd_one) // 2
    even, odd = _unpack(_reshape(x, shape_tensor([rows, half, 2])), 2, 2)
    return even, odd, half


is_mapped: Final[ContextVar[bool]] = ContextVar("anyarray mapped", default=False)
"""Whether `tf.vectorized_map` makes another graph of the one that is made now."""


def written(rows: Tensor, index: Tensor, value: Tensor) -> Tensor:
    """`rows` with those of `value` at the places `index`, at one that comes twice the last."""
    if is_mapped.get():
        index = cast(index, "int32")  # with which alone `tf.vectorized_map` joins its own
    return _scatter(rows, _reshape(index, constant((-1, 1))), value)


def written_last(rows: Tensor, index: Tensor, value: Tensor) -> Tensor:
    """The same, where derivatives may be taken: TensorFlow's are of all that is written to a place, lost or not."""
    known = index if is_on_host(index) else tf.get_static_value(index)
    if known is not None:
        places = np.asarray(on_host(index) if known is index else known)
        last = np.full(places.max(initial=-1) + 1, -1)
        last[places] = np.arange(places.size)
        stays = last[places] == np.arange(places.size)
        return written(rows, index, value if stays.all() else _constant_unless(tf.constant(stays), value))
    if is_mapped.get():
        return written(rows, index, _constant_unless(_stays(rows, index), value))

    @tf.custom_gradient
    def update(rows: Tensor, value: Tensor) -> Any:
        def gradient(slope: Tensor) -> tuple[Tensor, Tensor]:
            nothing = _zeros_like(value)
            of_value = _select(_like_rows(_stays(rows, index), value), _gather(slope, index, constant(0)), nothing)
            return written(slope, index, nothing), of_value

        return written(rows, index, value), gradient

    updated: Tensor = update(rows, value)
    return updated


def _stays(rows: Tensor, index: Tensor) -> Tensor:
    """Whether what is written at each of the places `index` is the last that is."""
    order = _range(constant(0, "int64"), _size(index, NATIVE["int64"]), constant(1, "int64"))
    last = written(_fill(shape_tensor(lengths(rows)[:1]), constant(-1, "int64")), index, order)
    return _equal(_gather(last, index, constant(0)), order)


def _constant_unless(stays: Tensor, value: Tensor) -> Tensor:
    """`value`, constant for derivatives in the rows that do not stay."""
    return _select(_like_rows(stays, value), value, _stop_gradient(value))


def _like_rows(stays: Tensor, value: Tensor) -> Tensor:
    return _reshape(stays, shape_tensor([*lengths(value)[:1], *[1] * (value.shape.rank - 1)]))
