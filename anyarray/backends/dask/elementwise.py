"""Elementwise functions: those of the backend of the blocks, on each block."""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from anyarray.backends.dask._kernel import Block, Native, along, as_dtype, elementwise

NAMES: Final = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "cbrt", "ceil", "conj", "copysign",
    "cos", "cosh", "cube", "deg2rad", "degrees", "divide", "equal", "exp", "exp2", "expm1", "fabs", "floor",
    "floor_divide", "fmax", "fmin", "fmod", "gcd", "greater", "greater_equal", "heaviside", "hypot", "imag",
    "isfinite", "isinf", "isnan", "lcm", "ldexp", "less", "less_equal", "log", "log10", "log1p", "log2",
    "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum",
    "multiply", "negative", "nextafter", "not_equal", "positive", "pow", "rad2deg", "radians", "real",
    "reciprocal", "remainder", "rint", "root", "round", "sign", "signbit", "sin", "sinh", "spacing", "sqrt",
    "square", "subtract", "tan", "tanh", "trunc", "where",
]  # fmt: skip
FUNCTIONS: Final = {name: functools.partial(elementwise, Block(name)) for name in NAMES}
globals().update(FUNCTIONS)

__all__ = ["astype", "bitcast", "clip", *NAMES]  # pyright: ignore[reportUnsupportedDunderAll]


def clip(x: Native, /, min: Native | None = None, max: Native | None = None) -> Native:
    if min is not None and max is not None:
        return elementwise(_CLIP, x, min, max)
    if min is not None:
        return FUNCTIONS["maximum"](x, min)
    return x if max is None else FUNCTIONS["minimum"](x, max)


_CLIP: Final = Block("clip")


def astype(x: Native, dtype: Any, /) -> Native:
    return as_dtype(x, dtype)


def _viewed(block: Any, *, dtype: Any) -> Any:
    return np.ascontiguousarray(block).view(dtype)


def bitcast(x: Native, dtype: Any, /) -> Native:
    function = functools.partial(_viewed, dtype=dtype)
    if x.dtype.itemsize == dtype.itemsize:
        return elementwise(function, x, dtype=dtype)
    return along(function, x, [-1], [x.shape[-1] * x.dtype.itemsize // dtype.itemsize], dtype)
