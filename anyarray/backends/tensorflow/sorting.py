"""Sorting in NumPy's order: NaN is last, and the sort is stable.

Where a derivative may be taken, `sort` gathers floats by `argsort`, as a gather has a gradient. On a GPU vectors are
sorted by XLA, in one call: its sort of pairs with unsigned keys is CUB's radix sort, which is stable.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._base import dtypes
from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.axes import axis_in
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._device import is_for_cpu, is_on_host
from anyarray.backends.tensorflow._host import from_host, is_eager, on_host
from anyarray.backends.tensorflow._kernel import (
    REFUSALS,
    Tensor,
    bitcast,
    cast,
    constant,
    is_complex,
    kind_of,
    may_be_differentiated,
    name_of,
    shape_of,
)
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow._shapes import cut, sizes_of
from anyarray.backends.tensorflow.indexing import gathered
from anyarray.backends.tensorflow.manipulation import flattened, moveaxis


def refuse_complex(x: Tensor, function: str) -> None:
    """Raise TypeError if `x` is complex, as complex numbers have no order."""
    if is_complex(x):
        raise TypeError(f"{function}: complex numbers have no order, but the array is {name_of(x)}")


def order_keys(x: Tensor, *, is_nan_last: bool = True) -> Tensor:
    """Integers that sort as the real `x`, equal where its values are equal.

    NaN is last if `is_nan_last`, else first.
    """
    name = name_of(x)
    dtype = dtypes.KNOWN[name]
    if dtype.kind == "b":
        return cast(x, "uint8")
    if dtype.kind != "f":
        return x
    if name == "float32" and not is_for_cpu(x):
        # All kernels for int32 compute on the host.
        return order_keys(cast(x, "float64"), is_nan_last=is_nan_last)
    signed = f"int{8 * dtype.itemsize}"
    limits = np.iinfo(signed)
    flat = flattened(x)  # SelectV2 supports up to 8 axes
    bits = bitcast(flat, signed)
    # The bits of a float are sign and magnitude. Converted to two's complement they sort as the float, and -0.0 is 0.
    keys = ops.SelectV2(ops.Less(bits, constant(0, signed)), ops.Sub(constant(limits.min, signed), bits), bits)
    keys = ops.SelectV2(ops.IsNan(flat), constant(limits.max if is_nan_last else limits.min, signed), keys)
    return ops.Reshape(keys, sizes_of(x))


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    refuse_complex(x, "argsort")
    if is_on_host(x):
        return from_host(on_numpy.argsort(on_host(x), axis=axis, descending=descending, stable=stable), x)
    last = len(shape_of(x)) - 1
    axis = axis_in(axis, last + 1)
    if not last and is_eager(x) and (found := _sorted_by_xla(x, descending)) is not None:
        return found
    keys = moveaxis(order_keys(x), axis, last)
    # TopKV2 sorts in descending order; of equal elements the one with the lower index is first.
    size = ops.GatherV2(sizes_of(keys), constant(last), constant(0))
    order = ops.TopKV2(keys if descending else ops.Invert(keys), size).indices
    return moveaxis(cast(order, "int64"), last, axis)


_LEAST: Final = 1 << 10
"""Length of the shortest vectors for which a sort is compiled; others are padded to the next power of two."""


def _sorted_by_xla(x: Tensor, descending: bool) -> Tensor | None:
    """The stable argsort of an eager vector; None if XLA compiles none."""
    n = x.shape[0]
    length = max(_LEAST, 1 << (n - 1).bit_length())
    if n > _MOST or (x.dtype, descending) in _not_compiled:
        return None
    if length > n:
        x = ops.ConcatV2([x, ops.Fill(constant((length - n,)), constant(0, name_of(x)))], constant(0))
    try:
        order = _compiled(x.dtype, descending, length)(x, constant(n, "int64"))
    except (*REFUSALS, tf.errors.InternalError):
        _not_compiled.add((x.dtype, descending))
        return None
    return order if length == n else cut(order, 0, 0, n)


_MOST: Final = 1 << 30
"""Length of the longest vectors that are sorted so: positions are int32 on the way."""
_not_compiled: Final[set[tuple[Any, bool]]] = set()
"""dtypes and directions that XLA has refused."""


@functools.cache
def _compiled(dtype: Any, descending: bool, length: int) -> Callable[[Tensor, Tensor], Tensor]:
    """The order of the first n elements of a vector, with the rest behind."""

    def order(x: Tensor, n: Tensor) -> Tensor:
        keys = _unsigned_keys(x)
        last = constant(0, name_of(keys)) if descending else ops.Invert(constant(0, name_of(keys)))
        places = ops.Range(constant(0, "int64"), constant(length, "int64"), constant(1, "int64"))
        keys = ops.SelectV2(ops.Less(places, n), keys, last)  # a stable sort leaves them behind equal keys
        return cast(ops.TopKV2(keys if descending else ops.Invert(keys), constant(length)).indices, "int64")

    graph = tf.function(order, autograph=False, jit_compile=True)
    called: Callable[[Tensor, Tensor], Tensor] = graph.get_concrete_function(
        tf.TensorSpec((length,), dtype), tf.TensorSpec((), tf.int64)
    )
    return called


def _unsigned_keys(x: Tensor) -> Tensor:
    """Unsigned integers that sort as the real vector `x`."""
    name = name_of(x)
    dtype = dtypes.KNOWN[name]
    bits = 8 * dtype.itemsize
    if dtype.kind in "bu":
        return cast(x, "uint32") if bits < 32 else x
    signed, unsigned = f"int{bits}", f"uint{bits}"
    least = constant(np.iinfo(signed).min, signed)
    keys = x
    if dtype.kind == "f":
        keys = bitcast(x, signed)
        keys = ops.SelectV2(ops.Less(keys, constant(0, signed)), ops.Sub(least, keys), keys)
        keys = ops.SelectV2(ops.IsNan(x), constant(np.iinfo(signed).max, signed), keys)
    keys = bitcast(ops.BitwiseXor(keys, least), unsigned)
    return cast(keys, "uint32") if bits < 32 else keys  # XLA has no kernel for 16 bits


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    refuse_complex(x, "sort")
    if is_on_host(x) and name_of(x) != "bfloat16" and (kind_of(x) != "f" or not may_be_differentiated(x)):
        return from_host(on_numpy.sort(on_host(x), axis=axis, descending=descending, stable=stable), x)
    order = argsort(x, axis=axis, descending=descending, stable=stable)
    return gathered(x, order, axis_in(axis, len(x.shape)))
