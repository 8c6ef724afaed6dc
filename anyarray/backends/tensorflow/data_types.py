"""Data type functions."""

from __future__ import annotations

__all__ = ["astype"]

from typing import Any, Final

from anyarray._base import dtypes
from anyarray.backends.tensorflow._kernel import NAME, Tensor, cast, constant, is_complex, kind_of, name_of, op

_WIDER: Final = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64"}
"""By way of which integers floating numbers become narrower ones."""

_not_equal = op("NotEqual")


def astype(x: Tensor, dtype: Any, /, *, copy: bool = True) -> Tensor:
    """`x` in `dtype`: `x` itself if it has that, whatever `copy` says.

    Tensors do not change, so a copy could not be told from it.
    """
    name = NAME[dtype]
    if is_complex(x):
        kind = dtypes.KNOWN[name].kind
        if kind == "b":
            return _not_equal(x, constant(0, name_of(x)))
        if kind != "c":
            raise TypeError(f"astype: x is {name_of(x)} and cannot become {name}")
    elif name in _WIDER and kind_of(x) == "f":
        # What does not fit wraps, as in NumPy. TensorFlow's own result depends on where in the array the element is.
        x = cast(x, _WIDER[name])
    return cast(x, name)
