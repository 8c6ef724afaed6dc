"""Elementwise functions: one element of each operand gives one of the result.

Shapes and dtypes
    Two operands broadcast to one shape and promote to one dtype by the rule in `anyarray._base.dtypes`. One of them
    may be a Python scalar. The result has that shape and dtype, unless the function says otherwise.

    Floating-point functions (`exp`, `hypot` ...) also accept bools and integers and return floats for them: float16
    for bool, int8 and uint8, float32 for integers of 16 bits, float64 for wider ones.
Values
    Integers wrap around on overflow. NaN gives NaN, unless the function says otherwise.

    Floats follow IEEE 754, complex numbers C99 and its branch cuts. The last digits of functions such as `sin` and
    `exp` may differ between backends, and some backends flush subnormal numbers to zero.
Errors
    TypeError for a dtype that the function does not allow, ValueError for shapes that do not broadcast.
"""

from __future__ import annotations

from anyarray._array.array import AnyArray, Array
from anyarray._call.dispatch import dispatch

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clip", "conj", "copysign", "cos",
    "cosh", "divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag",
    "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "nextafter", "not_equal",
    "positive", "pow", "real", "reciprocal", "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square",
    "subtract", "tan", "tanh", "trunc",
]  # fmt: skip


@dispatch(x="numeric", cost="arithmetic")
def abs(x: AnyArray, /) -> Array:
    """Magnitude of each element.

    For a complex dtype, the result has the dtype of its parts. An infinite part makes the magnitude infinite, even if
    the other part is NaN. The lowest integer of a signed dtype has no positive counterpart and stays unchanged.

    >>> import anyarray as xp
    >>> xp.abs(xp.asarray([-2, 0, 3])).tolist()
    [2, 0, 3]

    Source: array API 2025.12, elementwise_functions.abs.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def acos(x: AnyArray, /) -> Array:
    """Angle in [0, π] radians whose cosine is the element.

    Real elements outside [-1, 1] give NaN; complex ones have branch cuts there, along the real axis.

    >>> import anyarray as xp
    >>> f"{xp.acos(xp.asarray(-1.0)):.4f}"
    '3.1416'

    Source: array API 2025.12, elementwise_functions.acos.
    """
    ...


@dispatch(x="floating-point", cost="transcendental", timed="numbers beyond one")
def acosh(x: AnyArray, /) -> Array:
    """Inverse hyperbolic cosine, the root that is not negative.

    Real elements below 1 give NaN; complex ones have a branch cut there, along the real axis.

    >>> import anyarray as xp
    >>> xp.acosh(xp.asarray([1.0, xp.inf])).tolist()
    [0.0, inf]

    Source: array API 2025.12, elementwise_functions.acosh.
    """
    ...


@dispatch(x1="numeric", x2="numeric", cost="arithmetic")
def add(x1: AnyArray | complex, x2: AnyArray | complex, /) -> Array:
    """Sum of `x1` and `x2`.

    Infinities of opposite sign give NaN.

    >>> import anyarray as xp
    >>> xp.add(xp.asarray([1, 2]), 10).tolist()
    [11, 12]

    Source: array API 2025.12, elementwise_functions.add.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def asin(x: AnyArray, /) -> Array:
    """Angle in [-π/2, π/2] radians whose sine is the element.

    Real elements outside [-1, 1] give NaN; complex ones have branch cuts there, along the real axis.

    >>> import anyarray as xp
    >>> f"{xp.asin(xp.asarray(1.0)):.4f}"
    '1.5708'

    Source: array API 2025.12, elementwise_functions.asin.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def asinh(x: AnyArray, /) -> Array:
    """Inverse hyperbolic sine.

    Infinities and the sign of zero are kept. Branch cuts lie on the imaginary axis, beyond -1j and 1j.

    >>> import anyarray as xp
    >>> xp.asinh(xp.asarray([0.0, -xp.inf])).tolist()
    [0.0, -inf]

    Source: array API 2025.12, elementwise_functions.asinh.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def atan(x: AnyArray, /) -> Array:
    """Angle in [-π/2, π/2] radians whose tangent is the element.

    Infinities give -π/2 and π/2. Branch cuts lie on the imaginary axis, beyond -1j and 1j.

    >>> import anyarray as xp
    >>> f"{xp.atan(xp.asarray(1.0)):.4f}"
    '0.7854'

    Source: array API 2025.12, elementwise_functions.atan.
    """
    ...


@dispatch(x1="real floating-point", x2="real floating-point", cost="transcendental")
def atan2(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Angle in [-π, π] radians of the point (x2, x1).

    The signs of both operands choose the quadrant, including the signs of zeros: atan2(0.0, -0.0) is π.

    >>> import anyarray as xp
    >>> f"{xp.atan2(xp.asarray(1.0), -1.0):.4f}"
    '2.3562'

    Source: array API 2025.12, elementwise_functions.atan2.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def atanh(x: AnyArray, /) -> Array:
    """Inverse hyperbolic tangent.

    -1 and 1 give infinities. Real elements outside [-1, 1] give NaN; complex ones have branch cuts there.

    >>> import anyarray as xp
    >>> f"{xp.atanh(xp.asarray(0.5)):.4f}"
    '0.5493'

    Source: array API 2025.12, elementwise_functions.atanh.
    """
    ...


@dispatch(x1="integer or boolean", x2="integer or boolean", cost="arithmetic")
def bitwise_and(x1: AnyArray | int, x2: AnyArray | int, /) -> Array:
    """Bits that are set in both `x1` and `x2`.

    For bools this is the logical "and".

    >>> import anyarray as xp
    >>> xp.bitwise_and(xp.asarray([12, 7]), 10).tolist()
    [8, 2]

    Source: array API 2025.12, elementwise_functions.bitwise_and.
    """
    ...


@dispatch(x="integer or boolean", cost="arithmetic", alike="bitwise_and")
def bitwise_invert(x: AnyArray, /) -> Array:
    """Every bit flipped.

    For signed integers this is -x - 1, for bools the logical "not".

    >>> import anyarray as xp
    >>> xp.bitwise_invert(xp.asarray([0, 5])).tolist()
    [-1, -6]

    Source: array API 2025.12, elementwise_functions.bitwise_invert.
    """
    ...


@dispatch(x1="integer", x2="integer", cost="arithmetic", timed="shifts")
def bitwise_left_shift(x1: AnyArray | int, x2: AnyArray | int, /) -> Array:
    """Bits of `x1` moved to the left by `x2` places, filled with zeros.

    A shift by the width of the dtype or more gives 0. Shifts must not be negative: their results are undefined.

    >>> import anyarray as xp
    >>> xp.bitwise_left_shift(xp.asarray([1, 3]), xp.asarray([4, 1])).tolist()
    [16, 6]

    Source: array API 2025.12, elementwise_functions.bitwise_left_shift.
    """
    ...


@dispatch(x1="integer or boolean", x2="integer or boolean", cost="arithmetic", alike="bitwise_and")
def bitwise_or(x1: AnyArray | int, x2: AnyArray | int, /) -> Array:
    """Bits that are set in `x1`, in `x2` or in both.

    For bools this is the logical "or".

    >>> import anyarray as xp
    >>> xp.bitwise_or(xp.asarray([12, 7]), 10).tolist()
    [14, 15]

    Source: array API 2025.12, elementwise_functions.bitwise_or.
    """
    ...


@dispatch(x1="integer", x2="integer", cost="arithmetic", alike="bitwise_left_shift")
def bitwise_right_shift(x1: AnyArray | int, x2: AnyArray | int, /) -> Array:
    """Bits of `x1` moved to the right by `x2` places, filled with the sign.

    This is the floor division by 2**x2, so a shift by the width of the dtype or more gives 0, or -1 if
    `x1` is negative. Shifts must not be negative: their results are undefined.

    >>> import anyarray as xp
    >>> xp.bitwise_right_shift(xp.asarray([9, -9]), 1).tolist()
    [4, -5]

    Source: array API 2025.12, elementwise_functions.bitwise_right_shift.
    """
    ...


@dispatch(x1="integer or boolean", x2="integer or boolean", cost="arithmetic", alike="bitwise_and")
def bitwise_xor(x1: AnyArray | int, x2: AnyArray | int, /) -> Array:
    """Bits that are set in one of `x1` and `x2`, but not in both.

    For bools this is the logical exclusive "or".

    >>> import anyarray as xp
    >>> xp.bitwise_xor(xp.asarray([12, 7]), 10).tolist()
    [6, 13]

    Source: array API 2025.12, elementwise_functions.bitwise_xor.
    """
    ...


@dispatch(x="real numeric", cost="arithmetic", alike="floor")
def ceil(x: AnyArray, /) -> Array:
    """Lowest whole number that is not below the element, in the dtype of `x`.

    Integers and infinities stay as they are. Elements in (-1, 0) give -0.0.

    >>> import anyarray as xp
    >>> xp.ceil(xp.asarray([-1.5, 0.2, 2.0])).tolist()
    [-1.0, 1.0, 2.0]

    Source: array API 2025.12, elementwise_functions.ceil.
    """
    ...


@dispatch(x="real numeric", min="real numeric", max="real numeric", cost="arithmetic", alike="maximum")
def clip(x: AnyArray, /, min: AnyArray | float | None = None, max: AnyArray | float | None = None) -> Array:
    """Elements of `x`, limited to the range from `min` to `max`.

    The bounds broadcast with `x`; None means no bound. All arguments promote to the dtype of the result. Where `min` is
    above `max`, the result is `max`. A bound of NaN gives NaN.

    >>> import anyarray as xp
    >>> xp.clip(xp.asarray([-4, 1, 9]), 0, 5).tolist()
    [0, 1, 5]

    Source: array API 2025.12, elementwise_functions.clip.
    """
    ...


@dispatch(x="numeric", cost="complex negative", batch="elementwise")
def conj(x: AnyArray, /) -> Array:
    """Complex conjugate: the imaginary part with its sign changed.

    Arrays of a real dtype stay as they are.

    >>> import anyarray as xp
    >>> xp.conj(xp.asarray([1 + 2j])).tolist()
    [(1-2j)]

    Source: array API 2025.12, elementwise_functions.conj.
    """
    ...


@dispatch(x1="real floating-point", x2="real floating-point", cost="arithmetic")
def copysign(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Magnitude of `x1` with the sign of `x2`.

    The sign is the sign bit, so -0.0 and a negative NaN count as negative.

    >>> import anyarray as xp
    >>> xp.copysign(xp.asarray([1.0, -2.0]), xp.asarray([-0.0, 3.0])).tolist()
    [-1.0, 2.0]

    Source: array API 2025.12, elementwise_functions.copysign.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def cos(x: AnyArray, /) -> Array:
    """Cosine of an angle in radians.

    Real infinities give NaN.

    >>> import anyarray as xp
    >>> f"{xp.cos(xp.asarray(xp.pi / 3)):.4f}"
    '0.5000'

    Source: array API 2025.12, elementwise_functions.cos.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def cosh(x: AnyArray, /) -> Array:
    """Hyperbolic cosine.

    Real infinities give inf.

    >>> import anyarray as xp
    >>> xp.cosh(xp.asarray([0.0, -xp.inf])).tolist()
    [1.0, inf]

    Source: array API 2025.12, elementwise_functions.cosh.
    """
    ...


@dispatch(x1="floating-point", x2="floating-point", cost="arithmetic", alike="add", promotion="wide floats")
def divide(x1: AnyArray | complex, x2: AnyArray | complex, /) -> Array:
    """Quotient of `x1` and `x2`, never rounded to a whole number.

    Bools and integers are divided as float64. 0 / 0 and inf / inf give NaN; other divisions
    of a real number by zero give infinities, with the sign of zero taken into account.

    >>> import anyarray as xp
    >>> xp.divide(xp.asarray([3, -1]), 2).tolist()
    [1.5, -0.5]

    Source: array API 2025.12, elementwise_functions.divide.
    """
    ...


@dispatch(cost="arithmetic", scalars="compared")
def equal(x1: AnyArray | complex, x2: AnyArray | complex, /) -> Array:
    """Whether `x1` equals `x2`: an array of bools.

    NaN equals nothing, not even itself; -0.0 equals 0.0. Complex numbers are equal if both parts are.

    >>> import anyarray as xp
    >>> xp.equal(xp.asarray([1.0, xp.nan]), xp.asarray([1.0, xp.nan])).tolist()
    [True, False]

    Source: array API 2025.12, elementwise_functions.equal.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def exp(x: AnyArray, /) -> Array:
    """e to the power of the element.

    -inf gives 0.0.

    >>> import anyarray as xp
    >>> xp.exp(xp.asarray([0.0, -xp.inf])).tolist()
    [1.0, 0.0]

    Source: array API 2025.12, elementwise_functions.exp.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def expm1(x: AnyArray, /) -> Array:
    """e to the power of the element, minus 1, accurate near 0.

    -inf gives -1.0; the sign of zero is kept.

    >>> import anyarray as xp
    >>> xp.expm1(xp.asarray([0.0, -xp.inf])).tolist()
    [0.0, -1.0]

    Source: array API 2025.12, elementwise_functions.expm1.
    """
    ...


@dispatch(x="real numeric", cost="arithmetic")
def floor(x: AnyArray, /) -> Array:
    """Highest whole number that is not above the element, in the dtype of `x`.

    Integers, infinities and the sign of zero stay as they are.

    >>> import anyarray as xp
    >>> xp.floor(xp.asarray([-1.5, 0.2, 2.0])).tolist()
    [-2.0, 0.0, 2.0]

    Source: array API 2025.12, elementwise_functions.floor.
    """
    ...


@dispatch(x1="real numeric", x2="real numeric", cost="transcendental")
def floor_divide(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Quotient of `x1` and `x2`, rounded down to a whole number.

    Integers stay integers, and give 0 if divided by zero. Floats divided by zero give the result of `divide`. An
    infinite `x1` gives NaN, and an infinite `x2` of the opposite sign gives -1.0, as in Python.

    >>> import anyarray as xp
    >>> xp.floor_divide(xp.asarray([7, -7]), 2).tolist()
    [3, -4]

    Source: array API 2025.12, elementwise_functions.floor_divide.
    """
    ...


@dispatch(x1="real numeric", x2="real numeric", cost="arithmetic", alike="less", scalars="compared")
def greater(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Whether `x1` is above `x2`: an array of bools.

    NaN on either side gives False.

    >>> import anyarray as xp
    >>> xp.greater(xp.asarray([1, 2, 3]), 2).tolist()
    [False, False, True]

    Source: array API 2025.12, elementwise_functions.greater.
    """
    ...


@dispatch(x1="real numeric", x2="real numeric", cost="arithmetic", alike="less", scalars="compared")
def greater_equal(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Whether `x1` is above or equal to `x2`: an array of bools.

    NaN on either side gives False.

    >>> import anyarray as xp
    >>> xp.greater_equal(xp.asarray([1, 2, 3]), 2).tolist()
    [False, True, True]

    Source: array API 2025.12, elementwise_functions.greater_equal.
    """
    ...


@dispatch(x1="real floating-point", x2="real floating-point", cost="transcendental")
def hypot(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Length of the vector (x1, x2), without intermediate overflow.

    An infinity gives inf, even if the other is NaN.

    >>> import anyarray as xp
    >>> f"{xp.hypot(xp.asarray(3.0), 4.0):.4f}"
    '5.0000'

    Source: array API 2025.12, elementwise_functions.hypot.
    """
    ...


@dispatch(x="complex floating-point", batch="elementwise")
def imag(x: AnyArray, /) -> Array:
    """Imaginary part: float32 of complex64, float64 of complex128.

    >>> import anyarray as xp
    >>> xp.imag(xp.asarray([1 + 2j])).tolist()
    [2.0]

    Source: array API 2025.12, elementwise_functions.imag.
    """
    ...


@dispatch(x="numeric", cost="arithmetic")
def isfinite(x: AnyArray, /) -> Array:
    """Whether the element is neither infinite nor NaN: an array of bools.

    A complex number is finite if both parts are.

    >>> import anyarray as xp
    >>> xp.isfinite(xp.asarray([1.0, xp.inf, xp.nan])).tolist()
    [True, False, False]

    Source: array API 2025.12, elementwise_functions.isfinite.
    """
    ...


@dispatch(x="numeric", cost="arithmetic", alike="isnan")
def isinf(x: AnyArray, /) -> Array:
    """Whether the element is infinite: an array of bools.

    A complex number is infinite if one of its parts is, even if the other is NaN.

    >>> import anyarray as xp
    >>> xp.isinf(xp.asarray([1.0, -xp.inf, xp.nan])).tolist()
    [False, True, False]

    Source: array API 2025.12, elementwise_functions.isinf.
    """
    ...


@dispatch(x="numeric", cost="arithmetic")
def isnan(x: AnyArray, /) -> Array:
    """Whether the element is NaN: an array of bools.

    A complex number is NaN if one of its parts is.

    >>> import anyarray as xp
    >>> xp.isnan(xp.asarray([1.0, -xp.inf, xp.nan])).tolist()
    [False, False, True]

    Source: array API 2025.12, elementwise_functions.isnan.
    """
    ...


@dispatch(x1="real numeric", x2="real numeric", cost="arithmetic", scalars="compared")
def less(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Whether `x1` is below `x2`: an array of bools.

    NaN on either side gives False.

    >>> import anyarray as xp
    >>> xp.less(xp.asarray([1, 2, 3]), 2).tolist()
    [True, False, False]

    Source: array API 2025.12, elementwise_functions.less.
    """
    ...


@dispatch(x1="real numeric", x2="real numeric", cost="arithmetic", alike="less", scalars="compared")
def less_equal(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Whether `x1` is below or equal to `x2`: an array of bools.

    NaN on either side gives False.

    >>> import anyarray as xp
    >>> xp.less_equal(xp.asarray([1, 2, 3]), 2).tolist()
    [True, True, False]

    Source: array API 2025.12, elementwise_functions.less_equal.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def log(x: AnyArray, /) -> Array:
    """Natural logarithm.

    Zeros give -inf. Real elements below 0 give NaN; complex ones have a branch cut there, along the real axis.

    >>> import anyarray as xp
    >>> f"{xp.log(xp.asarray(xp.e)):.4f}"
    '1.0000'

    Source: array API 2025.12, elementwise_functions.log.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def log1p(x: AnyArray, /) -> Array:
    """Natural logarithm of 1 + x, accurate near 0.

    -1 gives -inf; the sign of zero is kept. Real elements below -1 give NaN; complex ones have a branch cut there.

    >>> import anyarray as xp
    >>> f"{xp.log1p(xp.asarray(1e-12)):.4e}"
    '1.0000e-12'

    Source: array API 2025.12, elementwise_functions.log1p.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def log2(x: AnyArray, /) -> Array:
    """Logarithm to base 2.

    Zeros give -inf. Real elements below 0 give NaN; complex ones have a branch cut there, along the real axis.

    >>> import anyarray as xp
    >>> f"{xp.log2(xp.asarray(8.0)):.4f}"
    '3.0000'

    Source: array API 2025.12, elementwise_functions.log2.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def log10(x: AnyArray, /) -> Array:
    """Logarithm to base 10.

    Zeros give -inf. Real elements below 0 give NaN; complex ones have a branch cut there, along the real axis.

    >>> import anyarray as xp
    >>> f"{xp.log10(xp.asarray(100.0)):.4f}"
    '2.0000'

    Source: array API 2025.12, elementwise_functions.log10.
    """
    ...


@dispatch(x1="real floating-point", x2="real floating-point", cost="transcendental")
def logaddexp(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Logarithm of exp(x1) + exp(x2), without intermediate overflow.

    An infinity of positive sign gives inf, two of negative sign -inf.

    >>> import anyarray as xp
    >>> xp.logaddexp(xp.asarray([0.0, xp.inf]), -xp.inf).tolist()
    [0.0, inf]

    Source: array API 2025.12, elementwise_functions.logaddexp.
    """
    ...


@dispatch(x1="boolean", x2="boolean", cost="arithmetic")
def logical_and(x1: AnyArray | bool, x2: AnyArray | bool, /) -> Array:
    """Whether both `x1` and `x2` are True.

    >>> import anyarray as xp
    >>> xp.logical_and(xp.asarray([True, False]), True).tolist()
    [True, False]

    Source: array API 2025.12, elementwise_functions.logical_and.
    """
    ...


@dispatch(x="boolean", cost="arithmetic", alike="logical_and")
def logical_not(x: AnyArray, /) -> Array:
    """Whether the element is False.

    >>> import anyarray as xp
    >>> xp.logical_not(xp.asarray([True, False])).tolist()
    [False, True]

    Source: array API 2025.12, elementwise_functions.logical_not.
    """
    ...


@dispatch(x1="boolean", x2="boolean", cost="arithmetic", alike="logical_and")
def logical_or(x1: AnyArray | bool, x2: AnyArray | bool, /) -> Array:
    """Whether at least one of `x1` and `x2` is True.

    >>> import anyarray as xp
    >>> xp.logical_or(xp.asarray([True, False]), False).tolist()
    [True, False]

    Source: array API 2025.12, elementwise_functions.logical_or.
    """
    ...


@dispatch(x1="boolean", x2="boolean", cost="arithmetic", alike="logical_and")
def logical_xor(x1: AnyArray | bool, x2: AnyArray | bool, /) -> Array:
    """Whether exactly one of `x1` and `x2` is True.

    >>> import anyarray as xp
    >>> xp.logical_xor(xp.asarray([True, False]), True).tolist()
    [False, True]

    Source: array API 2025.12, elementwise_functions.logical_xor.
    """
    ...


@dispatch(x1="real numeric", x2="real numeric", cost="arithmetic")
def maximum(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """The higher one of `x1` and `x2`.

    NaN on either side gives NaN. Of -0.0 and 0.0, either may be the result.

    >>> import anyarray as xp
    >>> xp.maximum(xp.asarray([1, 5]), 3).tolist()
    [3, 5]

    Source: array API 2025.12, elementwise_functions.maximum.
    """
    ...


@dispatch(x1="real numeric", x2="real numeric", cost="arithmetic")
def minimum(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """The lower one of `x1` and `x2`.

    NaN on either side gives NaN. Of -0.0 and 0.0, either may be the result.

    >>> import anyarray as xp
    >>> xp.minimum(xp.asarray([1, 5]), 3).tolist()
    [1, 3]

    Source: array API 2025.12, elementwise_functions.minimum.
    """
    ...


@dispatch(x1="numeric", x2="numeric", cost="arithmetic", alike="add")
def multiply(x1: AnyArray | complex, x2: AnyArray | complex, /) -> Array:
    """Product of `x1` and `x2`.

    An infinity times zero gives NaN.

    >>> import anyarray as xp
    >>> xp.multiply(xp.asarray([1, 2]), 10).tolist()
    [10, 20]

    Source: array API 2025.12, elementwise_functions.multiply.
    """
    ...


@dispatch(x="numeric", cost="arithmetic", alike="abs")
def negative(x: AnyArray, /) -> Array:
    """The element with its sign changed.

    Unsigned integers wrap around, and the lowest integer of a signed dtype stays as it is.

    >>> import anyarray as xp
    >>> xp.negative(xp.asarray([-2, 0, 3])).tolist()
    [2, 0, -3]

    Source: array API 2025.12, elementwise_functions.negative.
    """
    ...


@dispatch(x1="real floating-point", x2="real floating-point", cost="arithmetic")
def nextafter(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """The representable number next to `x1` in the direction of `x2`.

    If both are equal, the result is `x2`, so that the sign of zero is that of `x2`.

    >>> import anyarray as xp
    >>> (xp.nextafter(xp.asarray([1.0]), 2.0) - 1.0 == xp.finfo(xp.float64).eps).tolist()
    [True]

    Source: array API 2025.12, elementwise_functions.nextafter.
    """
    ...


@dispatch(cost="arithmetic", alike="equal", scalars="compared")
def not_equal(x1: AnyArray | complex, x2: AnyArray | complex, /) -> Array:
    """Whether `x1` differs from `x2`: an array of bools.

    NaN differs from everything, even from itself; -0.0 does not differ from 0.0.

    >>> import anyarray as xp
    >>> xp.not_equal(xp.asarray([1.0, xp.nan]), xp.asarray([1.0, xp.nan])).tolist()
    [False, True]

    Source: array API 2025.12, elementwise_functions.not_equal.
    """
    ...


@dispatch(x="numeric", batch="elementwise")
def positive(x: AnyArray, /) -> Array:
    """The element, unchanged: the counterpart of `negative`.

    >>> import anyarray as xp
    >>> xp.positive(xp.asarray([-2, 3])).tolist()
    [-2, 3]

    Source: array API 2025.12, elementwise_functions.positive.
    """
    ...


@dispatch(x1="numeric", x2="numeric", cost="transcendental", scalars="exponent")
def pow(x1: AnyArray | complex, x2: AnyArray | complex, /) -> Array:
    """`x1` to the power of `x2`.

    Integers stay integers and wrap around. A negative exponent of an integer is undefined and may raise an error. For
    floats, x**0 and 1**x are 1.0 even if x is NaN, and a negative base with a fractional exponent gives NaN. Complex
    powers have the branch cut of `log`.

    >>> import anyarray as xp
    >>> xp.pow(xp.asarray([2, 3]), xp.asarray([3, 2])).tolist()
    [8, 9]

    Source: array API 2025.12, elementwise_functions.pow.
    """
    ...


@dispatch(x="numeric", batch="elementwise")
def real(x: AnyArray, /) -> Array:
    """Real part: float32 of complex64, float64 of complex128.

    Arrays of a real dtype stay as they are.

    >>> import anyarray as xp
    >>> xp.real(xp.asarray([1 + 2j])).tolist()
    [1.0]

    Source: array API 2025.12, elementwise_functions.real.
    """
    ...


@dispatch(x="floating-point", cost="arithmetic")
def reciprocal(x: AnyArray, /) -> Array:
    """1 divided by the element, by the rules of `divide`.

    Bools and integers give floats of about their width.

    >>> import anyarray as xp
    >>> xp.reciprocal(xp.asarray([4.0, -xp.inf])).tolist()
    [0.25, -0.0]

    Source: array API 2025.12, elementwise_functions.reciprocal.
    """
    ...


@dispatch(x1="real numeric", x2="real numeric", cost="transcendental")
def remainder(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Remainder of the floor division of `x1` by `x2`, as Python's `%`.

    It has the sign of `x2`. Integers divided by zero give 0; floats divided by zero and infinite `x1` give NaN.

    >>> import anyarray as xp
    >>> xp.remainder(xp.asarray([7, -7]), 3).tolist()
    [1, 2]

    Source: array API 2025.12, elementwise_functions.remainder.
    """
    ...


@dispatch(x="numeric", cost="arithmetic")
def round(x: AnyArray, /) -> Array:
    """Whole number nearest to the element, in the dtype of `x`.

    Ties are rounded to the even one. Integers, infinities and the sign of zero are unchanged. The parts of complex
    numbers are rounded separately.

    >>> import anyarray as xp
    >>> xp.round(xp.asarray([0.5, 1.5, 2.7])).tolist()
    [0.0, 2.0, 3.0]

    Source: array API 2025.12, elementwise_functions.round.
    """
    ...


@dispatch(x="numeric", cost="arithmetic")
def sign(x: AnyArray, /) -> Array:
    """-1, 0 or 1: the sign of the element, in the dtype of `x`.

    Complex numbers give x / abs(x), and 0 for zero.

    >>> import anyarray as xp
    >>> xp.sign(xp.asarray([-2, 0, 3])).tolist()
    [-1, 0, 1]

    Source: array API 2025.12, elementwise_functions.sign.
    """
    ...


@dispatch(x="real floating-point", cost="arithmetic")
def signbit(x: AnyArray, /) -> Array:
    """Whether the sign bit is set: an array of bools.

    It is set in negative numbers, in -0.0 and in a negative NaN.

    >>> import anyarray as xp
    >>> xp.signbit(xp.asarray([-2.0, -0.0, 0.0])).tolist()
    [True, True, False]

    Source: array API 2025.12, elementwise_functions.signbit.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def sin(x: AnyArray, /) -> Array:
    """Sine of an angle in radians.

    Real infinities give NaN; the sign of zero is kept.

    >>> import anyarray as xp
    >>> f"{xp.sin(xp.asarray(xp.pi / 6)):.4f}"
    '0.5000'

    Source: array API 2025.12, elementwise_functions.sin.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def sinh(x: AnyArray, /) -> Array:
    """Hyperbolic sine.

    Real infinities and the sign of zero are kept.

    >>> import anyarray as xp
    >>> xp.sinh(xp.asarray([0.0, -xp.inf])).tolist()
    [0.0, -inf]

    Source: array API 2025.12, elementwise_functions.sinh.
    """
    ...


@dispatch(x="floating-point", cost="arithmetic")
def sqrt(x: AnyArray, /) -> Array:
    """Square root: the one whose real part is not negative.

    Real elements below 0 give NaN; complex ones have a branch cut there. The sign of zero is kept.

    >>> import anyarray as xp
    >>> xp.sqrt(xp.asarray([4.0, 0.25])).tolist()
    [2.0, 0.5]

    Source: array API 2025.12, elementwise_functions.sqrt.
    """
    ...


@dispatch(x="numeric", cost="arithmetic")
def square(x: AnyArray, /) -> Array:
    """The element times itself.

    >>> import anyarray as xp
    >>> xp.square(xp.asarray([-2, 3])).tolist()
    [4, 9]

    Source: array API 2025.12, elementwise_functions.square.
    """
    ...


@dispatch(x1="numeric", x2="numeric", cost="arithmetic", alike="add")
def subtract(x1: AnyArray | complex, x2: AnyArray | complex, /) -> Array:
    """Difference of `x1` and `x2`.

    Infinities of equal sign give NaN.

    >>> import anyarray as xp
    >>> xp.subtract(xp.asarray([1, 2]), 10).tolist()
    [-9, -8]

    Source: array API 2025.12, elementwise_functions.subtract.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def tan(x: AnyArray, /) -> Array:
    """Tangent of an angle in radians.

    Real infinities give NaN; the sign of zero is kept.

    >>> import anyarray as xp
    >>> f"{xp.tan(xp.asarray(xp.pi / 4)):.4f}"
    '1.0000'

    Source: array API 2025.12, elementwise_functions.tan.
    """
    ...


@dispatch(x="floating-point", cost="transcendental")
def tanh(x: AnyArray, /) -> Array:
    """Hyperbolic tangent.

    Real infinities give -1.0 and 1.0; the sign of zero is kept.

    >>> import anyarray as xp
    >>> xp.tanh(xp.asarray([0.0, -xp.inf])).tolist()
    [0.0, -1.0]

    Source: array API 2025.12, elementwise_functions.tanh.
    """
    ...


@dispatch(x="real numeric", cost="arithmetic", alike="floor")
def trunc(x: AnyArray, /) -> Array:
    """The element without its fraction, in the dtype of `x`.

    Integers, infinities and the sign of zero stay as they are.

    >>> import anyarray as xp
    >>> xp.trunc(xp.asarray([-1.5, 0.2, 2.7])).tolist()
    [-1.0, 0.0, 2.0]

    Source: array API 2025.12, elementwise_functions.trunc.
    """
    ...
