"""Sorting in NumPy's order: NaN is last, and the sort is stable.

Where a derivative may be taken, `sort` gathers floats by `argsort`, as a gather has a gradient.
"""

from __future__ import annotations

import numpy as np

from anyarray._base import dtypes
from anyarray.backends import numpy as on_numpy
from anyarray.backends.tensorflow._device import is_on_host
from anyarray.backends.tensorflow._host import from_host, on_host
from anyarray.backends.tensorflow._kernel import (
    Tensor,
    bitcast,
    cast,
    constant,
    is_complex,
    kind_of,
    may_be_differentiated,
    name_of,
    op,
    shape_of,
)
from anyarray.backends.tensorflow._shapes import axis_in, sizes_of
from anyarray.backends.tensorflow.indexing import gathered
from anyarray.backends.tensorflow.manipulation import flattened, moveaxis

__all__ = ["argsort", "sort"]

_gather = op("GatherV2")
_invert = op("Invert")
_is_nan = op("IsNan")
_less = op("Less")
_reshape = op("Reshape")
_select = op("SelectV2")
_sub = op("Sub")
_top_k = op("TopKV2")


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
    signed = f"int{8 * dtype.itemsize}"
    limits = np.iinfo(signed)
    flat = flattened(x)  # SelectV2 supports up to 8 axes
    bits = bitcast(flat, signed)
    # The bits of a float are sign and magnitude. Converted to two's complement they sort as the float, and -0.0 is 0.
    keys = _select(_less(bits, constant(0, signed)), _sub(constant(limits.min, signed), bits), bits)
    keys = _select(_is_nan(flat), constant(limits.max if is_nan_last else limits.min, signed), keys)
    return _reshape(keys, sizes_of(x))


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    refuse_complex(x, "argsort")
    if is_on_host(x):
        return from_host(on_numpy.argsort(on_host(x), axis=axis, descending=descending, stable=stable), x)
    last = len(shape_of(x)) - 1
    axis = axis_in(axis, last + 1)
    keys = moveaxis(order_keys(x), axis, last)
    # TopKV2 sorts in descending order; of equal elements the one with the lower index is first.
    size = _gather(sizes_of(keys), constant(last), constant(0))
    order = _top_k(keys if descending else _invert(keys), size).indices
    return moveaxis(cast(order, "int64"), last, axis)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    refuse_complex(x, "sort")
    if is_on_host(x) and name_of(x) != "bfloat16" and (kind_of(x) != "f" or not may_be_differentiated(x)):
        return from_host(on_numpy.sort(on_host(x), axis=axis, descending=descending, stable=stable), x)
    order = argsort(x, axis=axis, descending=descending, stable=stable)
    return gathered(x, order, axis_in(axis, len(x.shape)))
