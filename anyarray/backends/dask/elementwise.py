"""Elementwise functions: those of our NumPy backend, on each block."""

from __future__ import annotations

from collections.abc import Callable

from anyarray.backends.dask._kernel import Block, Native, elementwise

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "cube",
    "deg2rad",
    "degrees",
    "divide",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "ldexp",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "rad2deg",
    "radians",
    "real",
    "reciprocal",
    "remainder",
    "rint",
    "root",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "where",
]  # fmt: skip


def _on_blocks(name: str) -> Callable[..., Native]:
    function = Block(name)

    def call(*xs: Native) -> Native:
        return elementwise(function, *xs)

    call.__name__ = name
    return call


abs, negative, positive, sign, signbit, conj, real, imag = map(_on_blocks, (
    "abs", "negative", "positive", "sign", "signbit", "conj", "real", "imag",
))  # fmt: skip
add, subtract, multiply, divide, floor_divide, remainder, fmod, pow = map(_on_blocks, (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "pow",
))  # fmt: skip
square, sqrt, cbrt, reciprocal, cube, root = map(_on_blocks, (
    "square", "sqrt", "cbrt", "reciprocal", "cube", "root",
))  # fmt: skip
exp, exp2, expm1, log, log1p, log2, log10, logaddexp, logaddexp2 = map(_on_blocks, (
    "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp", "logaddexp2",
))  # fmt: skip
sin, cos, tan, asin, acos, atan, atan2, hypot = map(_on_blocks, (
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "hypot",
))  # fmt: skip
sinh, cosh, tanh, asinh, acosh, atanh = map(_on_blocks, ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"))
ceil, floor, trunc, round, rint, fabs = map(_on_blocks, ("ceil", "floor", "trunc", "round", "rint", "fabs"))
equal, not_equal, less, less_equal, greater, greater_equal = map(_on_blocks, (
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
))  # fmt: skip
maximum, minimum, fmax, fmin, copysign, nextafter, spacing = map(_on_blocks, (
    "maximum", "minimum", "fmax", "fmin", "copysign", "nextafter", "spacing",
))  # fmt: skip
isfinite, isinf, isnan = map(_on_blocks, ("isfinite", "isinf", "isnan"))
logical_and, logical_or, logical_xor, logical_not = map(_on_blocks, (
    "logical_and", "logical_or", "logical_xor", "logical_not",
))  # fmt: skip
bitwise_and, bitwise_or, bitwise_xor, bitwise_invert = map(_on_blocks, (
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert",
))  # fmt: skip
bitwise_left_shift, bitwise_right_shift = map(_on_blocks, ("bitwise_left_shift", "bitwise_right_shift"))
gcd, lcm, ldexp, heaviside = map(_on_blocks, ("gcd", "lcm", "ldexp", "heaviside"))
deg2rad, rad2deg, degrees, radians = map(_on_blocks, ("deg2rad", "rad2deg", "degrees", "radians"))
where = _on_blocks("where")


def clip(x: Native, /, min: Native | None = None, max: Native | None = None) -> Native:
    if min is not None and max is not None:
        return elementwise(_CLIP, x, min, max)
    if min is not None:
        return maximum(x, min)
    return x if max is None else minimum(x, max)


_CLIP = Block("clip")
