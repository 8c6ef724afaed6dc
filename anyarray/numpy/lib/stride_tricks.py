"""`np.lib.stride_tricks`: arrays that show elements several times."""

from collections.abc import Sequence
from inspect import signature as _signature
from typing import Any

import numpy as _numpy

import anyarray as _xp
from anyarray._array import layout as _layout
from anyarray._array.array import Array as _Array
from anyarray._base import errors as _errors
from anyarray.numpy._wrapper import as_array as _as_array
from anyarray.numpy._wrapper import brought as _brought
from anyarray.numpy._wrapper import dressed as _dressed
from anyarray.numpy._wrapper import wrapper as _wrapper

broadcast_shapes = _numpy.broadcast_shapes
broadcast_to: Any = _wrapper("broadcast_to", _numpy.broadcast_to, _xp.broadcast_to)
broadcast_arrays: Any = _wrapper("broadcast_arrays", _numpy.broadcast_arrays, _xp.broadcast_arrays)
sliding_window_view: Any = _wrapper(
    "lib.stride_tricks.sliding_window_view", _numpy.lib.stride_tricks.sliding_window_view, _xp.sliding_window_view
)


def _as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> Any:
    theirs = _numpy.lib.stride_tricks.as_strided
    array = _as_array(x)
    if type(array) is not _Array:
        return _brought(theirs(array, shape, strides, subok, writeable))
    lengths = array.shape if shape is None else tuple(map(int, shape if isinstance(shape, Sequence) else (shape,)))
    steps = array.strides if strides is None else tuple(map(int, strides))
    size = array.itemsize
    if len(lengths) != len(steps) or any(one % size for one in steps):
        raise _errors.ArgumentValueError(
            f"as_strided: strides must be {len(lengths)} multiples of {size}, the bytes of an element, not {steps}"
        )
    if not _layout.may_be_strided(array) or not (type(array._native) is _numpy.ndarray or array.flags.c_contiguous):
        raise _errors.ArgumentValueError(
            f"as_strided: x must be in NumPy or contiguous, not a part of another on {array.device}. Copy it: x.copy()"
        )
    reach = [(length - 1) * step // size for length, step in zip(lengths, steps, strict=True)]
    least, most = _places(array)
    if 0 not in lengths and not least <= sum(min(one, 0) for one in reach) <= sum(max(one, 0) for one in reach) <= most:
        raise _errors.ArgumentValueError(
            f"as_strided: shape {lengths} and strides {steps} must stay within the memory of x, {array.size} elements"
        )
    found = _layout.strided(array, lambda one: theirs(one, lengths, [step // size * one.itemsize for step in steps]))
    if not writeable:
        found.flags.writeable = False
    return found


def _places(array: _Array) -> tuple[int, int]:
    """The least and the greatest place in memory that may be read.

    They are counted from the first element.
    """
    native = array._native
    if type(native) is not _numpy.ndarray:
        return 0, array.size - 1
    whole = array if array.base is None else array.base
    low, high = _numpy.lib.array_utils.byte_bounds(whole._native)
    start = native.ctypes.data
    return (low - start) // native.itemsize, (high - start) // native.itemsize - 1


as_strided: Any = _dressed(
    _as_strided, "lib.stride_tricks.as_strided", _numpy.lib.stride_tricks.as_strided, _signature(_as_strided)
)
