"""Data type functions."""

from __future__ import annotations

from typing import Any, Final

from anyarray._base import dtypes
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._kernel import NAME, NATIVE, Tensor, cast, constant, is_complex, kind_of, name_of
from anyarray.backends.tensorflow._shapes import lengths, shape_tensor

_WIDER: Final = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64"}
"""Intermediate dtype of a cast from a float to a narrow integer."""


def astype(x: Tensor, dtype: Any, /, *, copy: bool = True) -> Tensor:
    """`x` cast to `dtype`; `x` itself if it has it, whatever `copy` is.

    Tensors are immutable, so a copy would not differ from `x`.
    """
    name = NAME[dtype]
    if is_complex(x):
        kind = dtypes.KNOWN[name].kind
        if kind == "b":
            return ops.NotEqual(x, constant(0, name_of(x)))
        if kind != "c":
            raise TypeError(f"astype: x is {name_of(x)} and cannot become {name}")
    elif name in _WIDER and kind_of(x) == "f":
        # Out-of-range values wrap, as in NumPy. TensorFlow's result depends on the element's position in the array.
        x = cast(x, _WIDER[name])
    return cast(x, name)


def bitcast(x: Tensor, dtype: Any, /) -> Tensor:
    if kind_of(x) == "b":  # of which TensorFlow has no bits
        x = cast(x, "uint8")
    wanted = NATIVE["uint8"] if NAME[dtype] == "bool" else dtype
    ratio, shape = wanted.size // x.dtype.size, lengths(x)
    if ratio > 1:
        x = ops.Reshape(x, shape_tensor([*shape[:-1], shape[-1] // ratio, ratio]))
    bits = ops.Bitcast(x, wanted)
    if ratio == 0:
        bits = ops.Reshape(bits, shape_tensor([*shape[:-1], shape[-1] * (x.dtype.size // wanted.size)]))
    return bits if wanted is dtype else ops.NotEqual(bits, constant(0, "uint8"))
