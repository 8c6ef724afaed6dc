"""Elementwise functions beyond the standard, as NumPy has them.

Shapes, dtypes and errors are those of the standard's elementwise functions. Comparisons of whole arrays, such as
`allclose`, return a 0-d Array of bool, so they work in a trace; `bool(...)` converts it.
"""

from __future__ import annotations

import builtins
import math
from typing import Any, Final

from anyarray._array.array import AnyArray, Array
from anyarray._base import dtypes, errors
from anyarray._call.arguments import as_array, known_shape
from anyarray._call.dispatch import composed
from anyarray.standard import namespace as xp

__all__ = [
    "allclose", "angle", "array_equal", "array_equiv", "bitwise_count", "cbrt", "deg2rad", "degrees", "divmod", "exp2",
    "fabs", "fix", "float_power", "fmax", "fmin", "fmod", "frexp", "gcd", "heaviside", "i0", "isclose", "iscomplex",
    "iscomplexobj", "isneginf", "isposinf", "isreal", "isrealobj", "lcm", "ldexp", "logaddexp2", "modf", "nan_to_num",
    "rad2deg", "radians", "real_if_close", "rint", "sinc", "spacing",
]  # fmt: skip


def _as_floats(*arrays: Any) -> list[Array]:
    """The arrays in the floating-point dtype that they promote to."""
    wanted = dtypes.KNOWN[dtypes.floating(xp.result_type(*arrays).name)]
    return [xp.astype(a, wanted, copy=False) for a in arrays]


def _require_real(function: str, parameter: str, x: AnyArray) -> None:
    """Raise TypeError for complex numbers."""
    if xp.isdtype(x.dtype, "complex floating"):
        raise errors.dtype_not_allowed(function, parameter, "real numeric", x.dtype)


@composed(reads_no_values=True, a="numeric", b="numeric", batch="")
def allclose(
    a: AnyArray | complex,
    b: AnyArray | complex,
    rtol: float | AnyArray = 1e-05,
    atol: float | AnyArray = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """Whether all elements of `a` and `b` are close, as by `isclose`.

    The result is a 0-d Array of bool.

    >>> import anyarray as xp
    >>> bool(xp.allclose(xp.asarray([1.0, 2.0]), xp.asarray([1.0, 2.0 + 1e-9])))
    True

    Source: NumPy 2.4, numpy.allclose.
    """
    return xp.all(isclose(a, b, rtol, atol, equal_nan))


@composed(own="numpy cupy", reads_no_values=True, z="numeric", batch="elementwise")
def angle(z: AnyArray, deg: bool = False) -> Array:
    """Angle of each element in the complex plane, in (-π, π].

    It is in radians, or in degrees if `deg` is True. The angle of a real number is 0 or π.

    >>> import anyarray as xp
    >>> xp.angle(xp.asarray([1.0 + 0.0j, 1.0j]), deg=True).tolist()
    [0.0, 90.0]

    Source: NumPy 2.4, numpy.angle.
    """
    if z.dtype.kind == "c":
        found = xp.atan2(xp.imag(z), xp.real(z))
    else:
        (z,) = _as_floats(z)
        found = xp.atan2(xp.zeros_like(z), z)
    return found * (180 / math.pi) if deg else found


@composed(reads_no_values=True)
def array_equal(a1: AnyArray, a2: AnyArray, equal_nan: bool = False) -> Array:
    """Whether `a1` and `a2` have the same shape and equal elements.

    With `equal_nan`, NaN equals NaN. The result is a 0-d Array of bool.

    >>> import anyarray as xp
    >>> bool(xp.array_equal(xp.asarray([1, 2]), xp.asarray([1.0, 2.0])))
    True
    >>> bool(xp.array_equal(xp.asarray([1, 2]), xp.asarray([1])))
    False

    Source: NumPy 2.4, numpy.array_equal.
    """
    if known_shape(a1) != known_shape(a2):
        return xp.asarray(False)
    equal = xp.equal(a1, a2)
    return xp.all(equal | (xp.isnan(a1) & xp.isnan(a2)) if equal_nan and _may_be_nan(a1, a2) else equal)


def _may_be_nan(*arrays: AnyArray) -> bool:
    return all(xp.isdtype(a.dtype, ("real floating", "complex floating")) for a in arrays)


@composed(reads_no_values=True)
def array_equiv(a1: AnyArray, a2: AnyArray) -> Array:
    """Whether `a1` and `a2` broadcast to one shape and are equal there.

    The result is a 0-d Array of bool.

    >>> import anyarray as xp
    >>> bool(xp.array_equiv(xp.asarray([1, 2]), xp.asarray([[1, 2], [1, 2]])))
    True

    Source: NumPy 2.4, numpy.array_equiv.
    """
    try:
        xp.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return xp.asarray(False)
    return xp.all(xp.equal(a1, a2))


@composed(own="numpy jax", x="integer", batch="elementwise")
def bitwise_count(x: AnyArray, /) -> Array:
    """Number of ones among the bits of the magnitude of each element.

    The result is uint8.

    >>> import anyarray as xp
    >>> xp.bitwise_count(xp.asarray([0, 7, -3])).tolist()
    [0, 3, 2]

    Source: NumPy 2.4, numpy.bitwise_count.
    """
    bits = xp.astype(xp.abs(x) if x.dtype.kind == "i" else x, xp.uint64)
    bits = bits & ((1 << 8 * x.dtype.itemsize) - 1)  # the least integer has no magnitude, and stays negative
    for width, mask in _FIELDS:
        bits = (bits & mask) + (xp.bitwise_right_shift(bits, width) & mask)
    return xp.astype(bits, xp.uint8)


_FIELDS: Final = [(width, (2**64 - 1) // (2**width + 1)) for width in (1, 2, 4, 8, 16, 32)]
"""Widths of fields of bits, and the mask of every other such field."""


@composed(own="numpy jax cupy", x="real floating-point", batch="elementwise")
def cbrt(x: AnyArray, /) -> Array:
    """Cube root of each element.

    >>> import anyarray as xp
    >>> f"{xp.cbrt(xp.asarray(-27.0)):.4f}"
    '-3.0000'

    Source: NumPy 2.4, numpy.cbrt.
    """
    (x,) = _as_floats(x)
    size = xp.abs(x)
    root = xp.pow(size, 1 / 3)
    # One step of Newton's method, as a third is no floating-point number.
    is_usual = (root > 0) & xp.isfinite(root)
    safe = xp.where(is_usual, root, 1.0)
    root = xp.where(is_usual, safe - (safe - size / (safe * safe)) / 3, root)
    return xp.copysign(root, x)


@composed(own="numpy jax cupy", x="real floating-point", batch="elementwise")
def deg2rad(x: AnyArray, /) -> Array:
    """Degrees in radians.

    >>> import anyarray as xp
    >>> f"{xp.deg2rad(xp.asarray(180.0)):.4f}"
    '3.1416'

    Source: NumPy 2.4, numpy.deg2rad.
    """
    (x,) = _as_floats(x)
    return x * (math.pi / 180)


@composed(own="numpy jax cupy", x="real floating-point", batch="elementwise")
def degrees(x: AnyArray, /) -> Array:
    """Radians in degrees.

    >>> import anyarray as xp
    >>> f"{xp.degrees(xp.asarray(xp.pi)):.4f}"
    '180.0000'

    Source: NumPy 2.4, numpy.degrees.
    """
    (x,) = _as_floats(x)
    return x * (180 / math.pi)


@composed(own="numpy", reads_no_values=True, x1="real numeric", x2="real numeric")
def divmod(x1: AnyArray | float, x2: AnyArray | float, /) -> tuple[Array, Array]:
    """Quotient and remainder, as by `floor_divide` and `remainder`.

    >>> import anyarray as xp
    >>> [part.tolist() for part in xp.divmod(xp.asarray([7, -7]), 3)]
    [[2, -3], [1, 2]]

    Source: NumPy 2.4, numpy.divmod.
    """
    return xp.floor_divide(x1, x2), xp.remainder(x1, x2)


@composed(own="numpy cupy", reads_no_values=True, x="floating-point", batch="elementwise")
def exp2(x: AnyArray, /) -> Array:
    """Two to the power of each element.

    >>> import anyarray as xp
    >>> xp.exp2(xp.asarray([3.0, -1.0])).tolist()
    [8.0, 0.5]

    Source: NumPy 2.4, numpy.exp2.
    """
    (x,) = _as_floats(x)
    return xp.pow(2.0, x)


@composed(own="numpy", reads_no_values=True, x="real floating-point", batch="elementwise")
def fabs(x: AnyArray, /) -> Array:
    """Magnitude of each element, as a floating-point number.

    >>> import anyarray as xp
    >>> xp.fabs(xp.asarray([-2, 3])).tolist()
    [2.0, 3.0]

    Source: NumPy 2.4, numpy.fabs.
    """
    (x,) = _as_floats(x)
    return xp.abs(x)


@composed(own="numpy", x="real numeric", batch="elementwise")
def fix(x: AnyArray) -> Array:
    """Each element rounded towards zero.

    >>> import anyarray as xp
    >>> xp.fix(xp.asarray([1.7, -1.7])).tolist()
    [1.0, -1.0]

    Source: NumPy 2.4, numpy.fix.
    """
    return xp.trunc(x)


@composed(own="numpy cupy", fit="broadcast", x1="numeric", x2="numeric", batch="elementwise")
def float_power(x1: float | complex | AnyArray, x2: float | complex | AnyArray, /) -> Array:
    """`x1` to the power of `x2`, in float64 or complex128.

    >>> import anyarray as xp
    >>> xp.float_power(xp.asarray([2, 4]), -1).tolist()
    [0.5, 0.25]

    Source: NumPy 2.4, numpy.float_power.
    """
    wanted = xp.complex128 if xp.result_type(x1, x2).kind == "c" else xp.float64
    base, exponent = [xp.asarray(one, dtype=wanted) for one in (x1, x2)]
    return xp.pow(base, exponent)


@composed(own="numpy jax cupy", x1="real numeric", x2="real numeric")
def fmax(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """The greater of two elements; of NaN and a number, the number.

    >>> import anyarray as xp
    >>> xp.fmax(xp.asarray([1.0, xp.nan]), xp.asarray([2.0, 3.0])).tolist()
    [2.0, 3.0]

    Source: NumPy 2.4, numpy.fmax.
    """
    return xp.where(xp.not_equal(x1, x1), x2, xp.where(xp.not_equal(x2, x2), x1, xp.maximum(x1, x2)))


@composed(own="numpy jax cupy", x1="real numeric", x2="real numeric")
def fmin(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """The lesser of two elements; of NaN and a number, the number.

    >>> import anyarray as xp
    >>> xp.fmin(xp.asarray([1.0, xp.nan]), xp.asarray([2.0, 3.0])).tolist()
    [1.0, 3.0]

    Source: NumPy 2.4, numpy.fmin.
    """
    return xp.where(xp.not_equal(x1, x1), x2, xp.where(xp.not_equal(x2, x2), x1, xp.minimum(x1, x2)))


@composed(own="numpy", reads_no_values=True, x1="real numeric", x2="real numeric")
def fmod(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Remainder of `x1` divided by `x2`, with the sign of `x1`.

    Integers divided by zero give 0.

    >>> import anyarray as xp
    >>> xp.fmod(xp.asarray([7, -7]), 3).tolist()
    [1, -1]

    Source: NumPy 2.4, numpy.fmod.
    """
    if xp.result_type(x1, x2).kind == "f":
        magnitudes = map(xp.abs, _as_floats(x1, x2))
        return xp.copysign(xp.remainder(*magnitudes), x1)
    found = xp.remainder(x1, x2)  # of the sign of x2
    return xp.where((found != 0) & (xp.less(x1, 0) != xp.less(x2, 0)), found - x2, found)


@composed(own="numpy cupy", reads_no_values=True, x="real floating-point", batch="elementwise")
def frexp(x: AnyArray, /) -> tuple[Array, Array]:
    """Mantissa and exponent of each element.

    `x` is the mantissa times two to the power of the exponent. The magnitude of the mantissa is in [0.5, 1), and the
    exponent is int32. For zero, infinity and NaN, the mantissa is the element and the exponent is 0.

    >>> import anyarray as xp
    >>> [part.tolist() for part in xp.frexp(xp.asarray([6.0, -0.25]))]
    [[0.75, -0.5], [3, -1]]

    Source: NumPy 2.4, numpy.frexp.
    """
    (x,) = _as_floats(x)
    is_usual = xp.isfinite(x) & (x != 0)
    size = xp.where(is_usual, xp.abs(x), 0.5)
    # The logarithm may be rounded up to an integer.
    exponent = xp.astype(xp.floor(xp.log2(size)), xp.int32) + 1
    mantissa = ldexp(size, -exponent)
    exponent = xp.where(mantissa < 0.5, exponent - 1, xp.where(mantissa >= 1, exponent + 1, exponent))
    mantissa = xp.where(mantissa < 0.5, mantissa * 2, xp.where(mantissa >= 1, mantissa / 2, mantissa))
    return xp.where(is_usual, xp.copysign(mantissa, x), x), exponent


@composed(own="numpy cupy", x1="integer", x2="integer")
def gcd(x1: AnyArray | int, x2: AnyArray | int, /) -> Array:
    """Greatest common divisor of the magnitudes of two elements.

    >>> import anyarray as xp
    >>> xp.gcd(xp.asarray([12, 0, -6]), 8).tolist()
    [4, 8, 2]

    Source: NumPy 2.4, numpy.gcd.
    """
    first, second = xp.broadcast_arrays(x1, x2)  # type: ignore[arg-type]  # a body gets Arrays
    dtype = xp.result_type(first, second)
    first, second = xp.astype(first, dtype), xp.astype(second, dtype)
    for _ in range(_DIVISIONS[dtype.itemsize]):
        is_found = second == 0
        rest = xp.remainder(first, xp.where(is_found, 1, second))
        first, second = xp.where(is_found, first, second), xp.where(is_found, 0, rest)
    return xp.abs(first)


_DIVISIONS: Final = {1: 13, 2: 25, 4: 48, 8: 94}
"""The most divisions of Euclid's algorithm, for two successive Fibonacci numbers, by the itemsize of integers."""


@composed(own="numpy jax cupy", x1="real floating-point", x2="real floating-point")
def heaviside(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """0 where `x1` is negative, 1 where it is positive, `x2` where it is 0.

    >>> import anyarray as xp
    >>> xp.heaviside(xp.asarray([-1.5, 0.0, 2.0]), 0.5).tolist()
    [0.0, 0.5, 1.0]

    Source: NumPy 2.4, numpy.heaviside.
    """
    x1, x2 = _as_floats(x1, x2)
    return xp.where(xp.isnan(x1), x1, xp.where(x1 == 0, x2, xp.astype(x1 > 0, x1.dtype)))


@composed(own="numpy jax cupy", x="real floating-point", batch="elementwise", promotion="wide floats")
def i0(x: AnyArray) -> Array:
    """Modified Bessel function of the first kind and order 0.

    >>> import anyarray as xp
    >>> f"{xp.i0(xp.asarray(1.0)):.6f}"
    '1.266066'

    Source: NumPy 2.4, numpy.i0.
    """
    size = xp.abs(x if x.dtype.kind == "f" else xp.astype(x, xp.float64))
    # The mean of exp(x cos(t)) over a turn, by the trapezoidal rule, which for periodic functions converges
    # exponentially: 256 points are enough for every x whose result is finite. Half of them suffice, by symmetry.
    cosines = [math.cos(math.pi * k / 128) for k in range(129)]
    less_one = xp.asarray([one - 1 for one in cosines], dtype=size.dtype)
    weights = xp.asarray([1 / 256, *[1 / 128] * 127, 1 / 256], dtype=size.dtype)
    return xp.exp(size) * xp.sum(xp.exp(xp.expand_dims(size, axis=-1) * less_one) * weights, axis=-1)


@composed(own="numpy jax cupy", a="numeric", b="numeric")
def isclose(
    a: AnyArray | complex,
    b: AnyArray | complex,
    rtol: float | AnyArray = 1e-05,
    atol: float | AnyArray = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """Whether `abs(a - b) <= atol + rtol * abs(b)`, or `a` equals `b`.

    With `equal_nan`, NaN is close to NaN.

    >>> import anyarray as xp
    >>> xp.isclose(xp.asarray([1.0, 2.0]), xp.asarray([1.0 + 1e-9, 2.1])).tolist()
    [True, False]

    Source: NumPy 2.4, numpy.isclose.
    """
    b = xp.astype(b, xp.result_type(b, 1.0), copy=False)  # type: ignore[arg-type]  # a body gets Arrays
    found = ((xp.abs(a - b) <= atol + rtol * xp.abs(b)) & xp.isfinite(b)) | (a == b)
    return found | (xp.isnan(a) & xp.isnan(b)) if equal_nan else found  # type: ignore[arg-type]


@composed(own="numpy jax cupy", x="numeric", batch="elementwise")
def iscomplex(x: AnyArray) -> Array:
    """Whether the imaginary part of each element is not zero.

    >>> import anyarray as xp
    >>> xp.iscomplex(xp.asarray([1.0 + 0.0j, 1.0j])).tolist()
    [False, True]

    Source: NumPy 2.4, numpy.iscomplex.
    """
    return xp.imag(x) != 0 if x.dtype.kind == "c" else xp.zeros_like(x, dtype=xp.bool)


def iscomplexobj(x: AnyArray) -> builtins.bool:
    """Whether `x` has a complex dtype.

    >>> import anyarray as xp
    >>> xp.iscomplexobj(xp.asarray([1.0 + 0.0j]))
    True

    Source: NumPy 2.4, numpy.iscomplexobj.
    """
    return as_array("iscomplexobj", "x", x).dtype.kind == "c"


@composed(own="numpy", reads_no_values=True, x="real numeric", batch="elementwise")
def isneginf(x: AnyArray) -> Array:
    """Whether each element is negative infinity.

    >>> import anyarray as xp
    >>> xp.isneginf(xp.asarray([-xp.inf, xp.inf, 0.0])).tolist()
    [True, False, False]

    Source: NumPy 2.4, numpy.isneginf.
    """
    _require_real("isneginf", "x", x)
    return xp.equal(x, -math.inf)


@composed(own="numpy", reads_no_values=True, x="real numeric", batch="elementwise")
def isposinf(x: AnyArray) -> Array:
    """Whether each element is positive infinity.

    >>> import anyarray as xp
    >>> xp.isposinf(xp.asarray([-xp.inf, xp.inf, 0.0])).tolist()
    [False, True, False]

    Source: NumPy 2.4, numpy.isposinf.
    """
    _require_real("isposinf", "x", x)
    return xp.equal(x, math.inf)


@composed(own="numpy jax cupy", x="numeric", batch="elementwise")
def isreal(x: AnyArray) -> Array:
    """Whether the imaginary part of each element is zero.

    >>> import anyarray as xp
    >>> xp.isreal(xp.asarray([1.0 + 0.0j, 1.0j])).tolist()
    [True, False]

    Source: NumPy 2.4, numpy.isreal.
    """
    return xp.imag(x) == 0 if x.dtype.kind == "c" else xp.ones_like(x, dtype=xp.bool)


def isrealobj(x: AnyArray) -> builtins.bool:
    """Whether `x` has a dtype that is not complex.

    >>> import anyarray as xp
    >>> xp.isrealobj(xp.asarray([1.0 + 0.0j]))
    False

    Source: NumPy 2.4, numpy.isrealobj.
    """
    return as_array("isrealobj", "x", x).dtype.kind != "c"


@composed(own="numpy cupy", reads_no_values=True, x1="integer", x2="integer")
def lcm(x1: AnyArray | int, x2: AnyArray | int, /) -> Array:
    """Least common multiple of the magnitudes of two elements.

    >>> import anyarray as xp
    >>> xp.lcm(xp.asarray([4, 0, -6]), 6).tolist()
    [12, 0, 6]

    Source: NumPy 2.4, numpy.lcm.
    """
    divisor = gcd(x1, x2)
    return xp.floor_divide(xp.abs(x1), xp.where(divisor == 0, 1, divisor)) * xp.abs(x2)  # type: ignore[arg-type]


@composed(own="numpy", reads_no_values=True, x1="real floating-point", x2="integer", promotion="floats")
def ldexp(x1: AnyArray | float, x2: AnyArray | int, /) -> Array:
    """`x1` times two to the power of the integer `x2`.

    >>> import anyarray as xp
    >>> xp.ldexp(xp.asarray([0.75, -0.5]), xp.asarray([3, -1])).tolist()
    [6.0, -0.25]

    Source: NumPy 2.4, numpy.ldexp.
    """
    (found,) = _as_floats(x1)
    # In two steps, as the power may be infinite or zero although the product is neither.
    half = xp.floor_divide(x2, 2)
    for exponent in (half, x2 - half):
        found = found * xp.pow(2.0, xp.astype(exponent, found.dtype))
    return found


@composed(own="numpy cupy", reads_no_values=True, x1="real floating-point", x2="real floating-point")
def logaddexp2(x1: AnyArray | float, x2: AnyArray | float, /) -> Array:
    """Logarithm to base 2 of `2**x1 + 2**x2`, without overflow.

    >>> import anyarray as xp
    >>> float(xp.logaddexp2(xp.asarray(1000.0), 1000.0))
    1001.0

    Source: NumPy 2.4, numpy.logaddexp2.
    """
    x1, x2 = _as_floats(x1, x2)
    gap = xp.where(x1 == x2, 0.0, xp.abs(x1 - x2))  # of equal infinities the difference is NaN
    return xp.maximum(x1, x2) + xp.log1p(xp.exp(gap * -math.log(2))) / math.log(2)


@composed(own="numpy", reads_no_values=True, x="real floating-point", batch="elementwise")
def modf(x: AnyArray, /) -> tuple[Array, Array]:
    """Fractional and integral part of each element, both of its sign.

    >>> import anyarray as xp
    >>> [part.tolist() for part in xp.modf(xp.asarray([1.5, -2.25]))]
    [[0.5, -0.25], [1.0, -2.0]]

    Source: NumPy 2.4, numpy.modf.
    """
    (x,) = _as_floats(x)
    whole = xp.trunc(x)
    return xp.copysign(xp.where(xp.isinf(x), 0.0, x - whole), x), whole


def nan_to_num(
    x: AnyArray,
    copy: builtins.bool = True,
    nan: float | AnyArray = 0.0,
    posinf: float | AnyArray | None = None,
    neginf: float | AnyArray | None = None,
) -> Array:
    """`x` with NaN and the infinities replaced by numbers.

    By default, `posinf` is the greatest number of the dtype and `neginf` the least. The parts of complex numbers are
    replaced separately. If `copy` is False, `x` itself is changed and returned.

    >>> import anyarray as xp
    >>> xp.nan_to_num(xp.asarray([xp.nan, xp.inf, 1.0]), posinf=9.0).tolist()
    [0.0, 9.0, 1.0]

    Source: NumPy 2.4, numpy.nan_to_num.
    """
    x = as_array("nan_to_num", "x", x)
    if x.dtype.kind not in "fc":
        return xp.asarray(x, copy=True) if copy else x
    found = finite_of(x, nan, posinf, neginf)
    if copy:
        return found
    x[...] = found
    return x


@composed(reads_no_values=True, x="numeric", batch="elementwise")
def finite_of(
    x: AnyArray, nan: float | AnyArray, posinf: float | AnyArray | None, neginf: float | AnyArray | None
) -> Array:
    """What `nan_to_num` gives for floating-point numbers."""
    if xp.isdtype(x.dtype, "complex floating"):
        real, imag = [_finite(part, nan, posinf, neginf) for part in (xp.real(x), xp.imag(x))]
        return real + imag * 1j
    return _finite(x, nan, posinf, neginf)


def _finite(
    x: AnyArray, nan: float | AnyArray, posinf: float | AnyArray | None, neginf: float | AnyArray | None
) -> Array:
    """A real `x` with other numbers for NaN and the infinities."""
    found = xp.where(xp.isnan(x), nan, x)
    found = xp.where(xp.equal(x, math.inf), xp.finfo(x.dtype).max if posinf is None else posinf, found)
    found = xp.where(xp.equal(x, -math.inf), xp.finfo(x.dtype).min if neginf is None else neginf, found)
    return xp.astype(found, x.dtype, copy=False)


@composed(own="numpy jax cupy", x="real floating-point", batch="elementwise")
def rad2deg(x: AnyArray, /) -> Array:
    """Radians in degrees.

    >>> import anyarray as xp
    >>> f"{xp.rad2deg(xp.asarray(xp.pi)):.4f}"
    '180.0000'

    Source: NumPy 2.4, numpy.rad2deg.
    """
    return degrees(x)


@composed(own="numpy jax cupy", x="real floating-point", batch="elementwise")
def radians(x: AnyArray, /) -> Array:
    """Degrees in radians.

    >>> import anyarray as xp
    >>> f"{xp.radians(xp.asarray(180.0)):.4f}"
    '3.1416'

    Source: NumPy 2.4, numpy.radians.
    """
    return deg2rad(x)


def real_if_close(a: AnyArray, tol: float = 100) -> Array:
    """The real part of `a` if all imaginary parts are close to zero, else `a`.

    Close means below `tol` times the epsilon of the dtype, or below `tol` if `tol` is at most 1. The dtype of the
    result depends on values, so the function does not work in a trace.

    >>> import anyarray as xp
    >>> xp.real_if_close(xp.asarray([2.0 + 1e-15j])).tolist()
    [2.0]

    Source: NumPy 2.4, numpy.real_if_close.
    """
    a = as_array("real_if_close", "a", a)
    if a.dtype.kind != "c":
        return a
    limit = tol * xp.finfo(a.dtype).eps if tol > 1 else tol
    return xp.real(a) if xp.all(xp.abs(xp.imag(a)) < limit) else a


@composed(own="numpy jax cupy", x="floating-point", batch="elementwise")
def rint(x: AnyArray, /) -> Array:
    """Each element rounded to the nearest integer, in a floating-point dtype.

    Ties are rounded to the even one.

    >>> import anyarray as xp
    >>> xp.rint(xp.asarray([0.5, 1.5, -1.7])).tolist()
    [0.0, 2.0, -2.0]

    Source: NumPy 2.4, numpy.rint.
    """
    (x,) = _as_floats(x)
    return xp.round(x)


@composed(own="numpy jax cupy", x="floating-point", batch="elementwise", promotion="wide floats")
def sinc(x: AnyArray) -> Array:
    """`sin(pi * x) / (pi * x)`, and 1 at 0.

    >>> import anyarray as xp
    >>> xp.sinc(xp.asarray([0.0])).tolist()
    [1.0]

    Source: NumPy 2.4, numpy.sinc.
    """
    turned = xp.multiply(x, math.pi)
    safe = xp.where(turned == 0, xp.finfo(turned.dtype).eps, turned)
    return xp.sin(safe) / safe


@composed(own="numpy cupy", x="real floating-point", batch="elementwise")
def spacing(x: AnyArray, /) -> Array:
    """Distance from each element to the next number farther from zero.

    The distance has the sign of the element. It is NaN for infinity.

    >>> import anyarray as xp
    >>> xp.spacing(xp.asarray([1.0, -2.0])).tolist() == [2.0**-52, -(2.0**-51)]
    True

    Source: NumPy 2.4, numpy.spacing.
    """
    floats = x if x.dtype.kind == "f" else xp.astype(x, xp.float64)
    size = xp.abs(floats)
    return xp.copysign(xp.nextafter(size, xp.full_like(size, math.inf)) - size, floats)
