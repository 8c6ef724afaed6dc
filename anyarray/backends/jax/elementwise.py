"""Elementwise functions."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.arithmetic import complex_sign, floor_and_rest
from anyarray.backends.jax._host import of_floats_sooner
from anyarray.backends.jax._kernel import (
    PADDED,
    Native,
    cast,
    compiled,
    elementwise,
    floating,
    inexact,
    kind_of,
    promoted,
    require_kinds,
)
from anyarray.backends.jax._slopes import with_jvps, with_zeros


def _sloped(function: Callable[..., Native], kinds: str = "fc") -> Callable[..., Native]:
    """`with_zeros(function)` for these `kinds`; else `function` itself."""
    differentiated = with_zeros(function)

    @functools.wraps(function)
    def of_kind(*arrays: Native) -> Native:
        return (differentiated if kind_of(arrays[0]) in kinds else function)(*arrays)

    return of_kind


def _by_parts(function: Callable[..., Native]) -> Callable[..., Native]:
    """`function`, applied to the real and imaginary parts separately."""

    @functools.wraps(function)
    def parts(x: Native) -> Native:
        if kind_of(x) == "c":
            return lax.complex(function(lax.real(x)), function(lax.imag(x)))
        return function(x)

    return parts


def _round_to_even(x: Native) -> Native:
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


def _unless_integer(function: Callable[..., Native]) -> Callable[..., Native]:
    """`function` of floats; integers and bools are returned unchanged."""

    @functools.wraps(function)
    def kept(x: Native) -> Native:
        return x if kind_of(x) in "biu" else function(x)

    return kept


def absolute(x: Native) -> Native:
    """The absolute values of `x`, with derivative 0 at 0."""
    if kind_of(x) == "c":  # XLA returns NaN if one part is infinite and the other NaN
        return jnp.where(lax.is_finite(lax.abs(x)) | ~_any_infinite(x), lax.abs(x), jnp.inf)
    return modulus(x) if kind_of(x) == "f" else jnp.abs(x)


# The derivative at 0 is 0, where JAX has 1: so functions such as log1p(exp(-abs(x))) have the right one there.
modulus = with_jvps(lambda tangent, y, x: tangent * lax.sign(x))(lax.abs)


def _any_infinite(x: Native) -> Native:
    return jnp.isinf(lax.real(x)) | jnp.isinf(lax.imag(x))


def _sign(x: Native) -> Native:
    if kind_of(x) != "c":
        return jnp.where(x == 0, lax.full_like(x, 0), jnp.sign(x))
    return lax.complex(*complex_sign(jnp, lax.real(x), lax.imag(x)))


def _dividend_and_divisor(x1: Native, x2: Native) -> tuple[Native, Native]:
    """`x1` and `x2` in one shape, the divisor behind an optimization barrier.

    The barrier hides from XLA that the divisor was broadcast. Else XLA multiplies by its reciprocal, which is rounded,
    and flushed to zero for the largest numbers.
    """
    wide1, wide2 = jnp.broadcast_arrays(x1, x2)
    is_safe = wide2.shape == x2.shape or kind_of(x2) in "iu"
    return wide1, wide2 if is_safe else lax.optimization_barrier(wide2)


def _divide(x1: Native, x2: Native) -> Native:
    return _sloped_quotient(*_dividend_and_divisor(*inexact(x1, x2)))


def _quotient(x1: Native, x2: Native) -> Native:
    if kind_of(x2) != "c":
        return _ratio(x1, x2)
    # For a divisor with one part infinite and the other NaN, XLA returns 0, unlike the other libraries.
    return jnp.where(jnp.isnan(x2), lax.full_like(x2, complex(math.nan, math.nan)), lax.div(x1, x2))


@with_zeros
def _sloped_quotient(x1: Native, x2: Native) -> Native:
    return _quotient(x1, x2)


@jax.custom_jvp
def _ratio(x1: Native, x2: Native) -> Native:
    return lax.div(x1, x2)


def _slope_of_ratio(primals: tuple[Native, Native], tangents: tuple[Any, Any]) -> tuple[Native, Native]:
    """The JVP of the quotient, computed from the quotient.

    JAX squares the divisor, which overflows in float16 from 256 on.
    """
    _, x2 = primals
    t1, t2 = tangents
    y = _ratio(*primals)
    slopes = [] if type(t1) is SymbolicZero else [lax.div(t1, x2)]
    if type(t2) is not SymbolicZero:
        slopes.append(lax.div(-t2 * y, x2))
    return y, functools.reduce(lax.add, slopes) if slopes else lax.full_like(y, 0)


_ratio.defjvp(_slope_of_ratio, symbolic_zeros=True)


def _divided(x1: Native, x2: Native) -> tuple[Native, Native]:
    """Floor of the quotient, and remainder, as in NumPy.

    That includes the signs of zeros, zero divisors and infinities.
    """
    x1, x2 = _dividend_and_divisor(x1, x2)
    zero = lax.full_like(x1, 0)
    if kind_of(x1) in "iu":
        none = x2 == 0
        safe = jnp.where(none, lax.full_like(x2, 1), x2)
        quotient = lax.div(x1, safe)
        rest = x1 - quotient * safe
        if kind_of(x1) == "i":
            down = (rest != 0) & ((rest < 0) != (x2 < 0))
            quotient, rest = quotient - cast(down, x1.dtype.name), jnp.where(down, rest + x2, rest)
        return jnp.where(none, zero, quotient), jnp.where(none, zero, rest)
    name = x1.dtype.name
    if x1.dtype.itemsize == 2:
        x1, x2 = cast(x1, "float32"), cast(x2, "float32")
    whole, rest = floor_and_rest(jnp, x1, x2, lax.rem(x1, x2))
    return cast(whole, name), cast(rest, name)


def _floor_divide(x1: Native, x2: Native) -> Native:
    # The derivative is 0 everywhere, also for a divisor of 0, where that of the quotient itself is infinite.
    return _divided(lax.stop_gradient(x1), lax.stop_gradient(x2))[0]


def _remainder(x1: Native, x2: Native) -> Native:
    return _divided(x1, x2)[1]


def _common_divisor(x1: Native, x2: Native) -> Native:
    """By Euclid's algorithm.

    `jnp.gcd` of the least integer of a signed dtype does not end in JAX 0.10.
    """

    def divided(state: tuple[Native, Native]) -> tuple[Native, Native]:
        first, second = state
        is_found = second == 0
        rest = lax.rem(first, jnp.where(is_found, lax.full_like(second, 1), second))
        return jnp.where(is_found, first, second), jnp.where(is_found, second, rest)

    x1, x2 = jnp.broadcast_arrays(x1, x2)
    return jnp.abs(lax.while_loop(lambda state: jnp.any(state[1] != 0), divided, (x1, x2))[0])


def _power(x1: Native, x2: Native) -> Native:
    if kind_of(x1) == "f":
        return _real_power(x1, x2)
    if kind_of(x1) == "c":
        return _complex_power(x1, x2)

    # Like jnp.power, six bits of the exponent in one pass over the arrays. Larger exponents take a pass per six bits.
    is_great = jnp.any((x2 < 0) | (x2 >= 1 << 6))
    return lax.cond(is_great, _power_of_integers, functools.partial(_power_of_integers, is_one_pass=True), x1, x2)


def _power_of_integers(x1: Native, x2: Native, *, is_one_pass: bool = False) -> Native:
    """Power by repeated squaring, in one pass or as many as needed.

    For a negative exponent it is the integer part of the exact result.
    """

    def squared(state: tuple[Native, Native, Native]) -> tuple[Native, Native, Native]:
        result, base, exponent = state
        for _ in range(6):
            result = jnp.where(exponent & 1 == 1, result * base, result)
            base, exponent = base * base, lax.shift_right_logical(exponent, one)
        return result, base, exponent

    base, exponent = jnp.broadcast_arrays(x1, x2)
    one = lax.full_like(base, 1)
    if kind_of(x1) == "i":
        is_unit = (base == 1) | (base == -1)
        base = jnp.where((exponent < 0) & ~is_unit, 0, base)
        exponent = jnp.where(is_unit, exponent & 1, exponent)
    state = one, base, exponent
    if is_one_pass:
        return squared(state)[0]
    return lax.while_loop(lambda state: jnp.any(state[2] != 0), squared, state)[0]


@jax.custom_jvp
def _real_power(x1: Native, x2: Native) -> Native:
    return jnp.power(x1, x2)


@jax.custom_jvp
def _complex_power(x1: Native, x2: Native) -> Native:
    # XLA computes it with the logarithm of `x1`, so the base 0 is handled here.
    of_zero = jnp.where(lax.real(x2) > 0, 0, jnp.nan).astype(x1.dtype)
    power = jnp.power(jnp.where(x1 == 0, lax.full_like(x1, 1), x1), x2)
    return jnp.where(x2 == 0, lax.full_like(power, 1), jnp.where(x1 == 0, of_zero, power))


def _with_slope_of_power(power: Any) -> None:
    """Define the JVP of `power` as JAX's, but 0 for `x1` where `x2` is 0.

    There JAX multiplies 0 by x1**-1, which is infinite at 0.
    """

    def slope_of_power(primals: tuple[Native, Native], tangents: tuple[Any, Any]) -> tuple[Native, Native]:
        x1, x2 = primals
        y = power(x1, x2)
        slope = lax.full_like(y, 0)
        if type(tangents[0]) is not SymbolicZero:
            is_constant = x2 == 0
            of_base = x2 * power(x1, jnp.where(is_constant, 1, x2 - 1))
            slope += tangents[0] * jnp.where(is_constant, 0, of_base)
        if type(tangents[1]) is not SymbolicZero:
            slope += tangents[1] * (y * lax.log(jnp.where(x1 == 0, 1, x1)))
        return y, slope

    power.defjvp(slope_of_power, symbolic_zeros=True)


_with_slope_of_power(_real_power)
_with_slope_of_power(_complex_power)


def _share(tangent: Native, y: Native, x: Native) -> Native:
    """The JVP of hypot by one argument: at 0 it is 0, as for the modulus."""
    return tangent * (x / jnp.where(y == 0, 1, y))


_hypotenuse = with_jvps(
    lambda tangent, y, x1, x2: _share(tangent, y, x1), lambda tangent, y, x1, x2: _share(tangent, y, x2)
)(jnp.hypot)


def _with_sign_of(x1: Native, x2: Native) -> Native:
    size = modulus(x1)
    return jnp.where(jnp.signbit(x2), -size, size)


# JAX has no JVP.
_next_after = with_jvps(lambda tangent, y, x1, x2: jnp.broadcast_to(tangent, y.shape), None)(jnp.nextafter)


def _share_of_sum(tangent: Native, x1: Native, x2: Native) -> Native:
    """The JVP of logaddexp by its first argument.

    It is the share of that argument in the sum; JAX's own treats infinities as 0.
    """
    return tangent * lax.logistic(jnp.where((x1 == x2) & jnp.isinf(x1), 0, x1 - x2))


_log_of_sum = with_jvps(
    lambda tangent, y, x1, x2: _share_of_sum(tangent, x1, x2), lambda tangent, y, x1, x2: _share_of_sum(tangent, x2, x1)
)(jnp.logaddexp)


@with_jvps(lambda tangent, y, x: tangent)
def _without_sign_of_zero(x: Native) -> Native:
    # Not x + 0, which XLA evaluates to -0 for -0.
    return jnp.where(x == 0, 0, x)


def _root(x: Native) -> Native:
    return lax.sqrt(_without_sign_of_zero(jnp.where(x == -jnp.inf, jnp.inf, x)))


def _comparison(function: Callable[[Native, Native], Native], kinds: str) -> Any:
    """As `elementwise`, but exact for int64 with uint64, as in NumPy."""

    def body(x1: Native, x2: Native) -> Native:
        signed = [kind_of(x) == "i" for x in (x1, x2)]
        if "uint64" in (x1.dtype.name, x2.dtype.name) and any(signed):
            negative = x1 < 0 if signed[0] else x2 < 0
            below = function(np.int64(-1), np.int64(0)) if signed[0] else function(np.int64(0), np.int64(-1))
            return jnp.where(negative, below, function(cast(x1, "uint64"), cast(x2, "uint64")))
        x1, x2 = promoted(x1, x2)
        require_kinds(kinds, x1)
        return function(x1, x2)

    body.__name__ = function.__name__
    return compiled(body, instead=PADDED)


def _itself_unless(kinds: str, function: Callable[[Native], Native]) -> Callable[[Native], Native]:
    """`function` of arrays of these kinds; any other is returned itself.

    No copy is needed, as JAX's arrays are immutable.
    """

    def kept(x: Native) -> Native:
        return function(x) if x.dtype.kind in kinds else x

    return kept


@compiled(instead=PADDED)
def clip(x: Native, min: Native | None = None, max: Native | None = None) -> Native:
    if min is None and max is None:
        return x
    given = iter(promoted(x, *(bound for bound in (min, max) if bound is not None)))
    x, low, high = (None if bound is None else next(given) for bound in (x, min, max))
    require_kinds("biuf", x)
    if low is not None:
        x = jnp.maximum(x, low)
    return x if high is None else jnp.minimum(x, high)


abs = elementwise(_sloped(absolute, "f"), "biufc")
add = elementwise(jnp.add, "biufc")
atan2 = floating(with_zeros(jnp.arctan2), "biuf")
bitwise_and = elementwise(jnp.bitwise_and, "biu")
bitwise_invert = elementwise(jnp.bitwise_not, "biu")
bitwise_left_shift = elementwise(jnp.left_shift, "iu")
bitwise_or = elementwise(jnp.bitwise_or, "biu")
bitwise_right_shift = elementwise(jnp.right_shift, "iu")
bitwise_xor = elementwise(jnp.bitwise_xor, "biu")
ceil = elementwise(_unless_integer(lax.ceil), "biuf")
conj = _itself_unless("bc", elementwise(jnp.conj, "c"))
copysign = floating(with_zeros(_with_sign_of), "biuf")
complex_of = compiled(lax.complex, instead=PADDED)
cube = elementwise(_sloped(lambda x: x * x * x), "iufc")
divide = compiled(_divide, instead=PADDED)
equal = _comparison(jnp.equal, "biufc")
floor = elementwise(_unless_integer(lax.floor), "biuf")
floor_divide = of_floats_sooner(elementwise(_floor_divide, "iuf"), on_numpy.floor_divide)
gcd = elementwise(_common_divisor, "iu")
greater = _comparison(jnp.greater, "biuf")
greater_equal = _comparison(jnp.greater_equal, "biuf")
hypot = floating(with_zeros(_hypotenuse), "biuf")
imag = elementwise(jnp.imag, "c")
isfinite = elementwise(jnp.isfinite, "biufc")
isinf = elementwise(jnp.isinf, "biufc")
isnan = elementwise(jnp.isnan, "biufc")
less = _comparison(jnp.less, "biuf")
less_equal = _comparison(jnp.less_equal, "biuf")
logaddexp = floating(with_zeros(_log_of_sum), "biuf")
logical_and = elementwise(jnp.logical_and, "b")
logical_not = elementwise(jnp.logical_not, "b")
logical_or = elementwise(jnp.logical_or, "b")
logical_xor = elementwise(jnp.logical_xor, "b")
maximum = elementwise(jnp.maximum, "biuf")
minimum = elementwise(jnp.minimum, "biuf")
multiply = elementwise(_sloped(jnp.multiply), "biufc")
negative = elementwise(jnp.negative, "iufc")
nextafter = floating(_next_after, "biuf", in_half=True)
not_equal = _comparison(jnp.not_equal, "biufc")
positive = _itself_unless("b", elementwise(jnp.positive, "iufc"))
pow = of_floats_sooner(elementwise(_sloped(_power), "iufc"), on_numpy.standard_pow)
real = _itself_unless("bc", elementwise(jnp.real, "c"))
reciprocal = floating(with_zeros(lambda x: _quotient(lax.full_like(x, 1), x)))
remainder = elementwise(_sloped(_remainder), "iuf")
round = elementwise(_unless_integer(_by_parts(_round_to_even)), "iufc")
sign = elementwise(_sign, "iufc")
signbit = floating(jnp.signbit, "biuf", in_half=True)
square = elementwise(_sloped(jnp.square), "iufc")
subtract = elementwise(jnp.subtract, "iufc")
trunc = elementwise(_unless_integer(jnp.trunc), "biuf")


# XLA's complex functions lose the sign of zero, hence the side of a branch cut, and most NaN and infinities of C99.
# The functions below correct their arguments and results, so that the accuracy is XLA's. Where the corrected values
# have no derivative, or XLA's has the wrong sign, a custom JVP computes it from other functions.
def _mirrored(function: Callable[[Native], Native], symmetry: str) -> Callable[[Native], Native]:
    """A function of complex numbers, evaluated in one half plane or quadrant.

    The others follow by symmetry. With `symmetry` "conjugate", f(conj z) = conj f(z): the imaginary part is made
    nonnegative. With "odd", f(-z) = -f(z) as well: both parts are.
    """

    def mirrored(z: Native) -> Native:
        re, im = lax.real(z), lax.imag(z)
        one = lax.full_like(re, 1)
        beside, above = (jnp.copysign(one, re) if symmetry == "odd" else one), jnp.copysign(one, im)
        w = function(lax.complex(re * beside, im * above))
        return lax.complex(lax.real(w) * beside, lax.imag(w) * above)

    return mirrored


def _product(a: Native, b: Native) -> Native:
    """The product, with zero times infinity or NaN defined as zero.

    C99 requires that of the parts of complex functions.
    """
    signs = (jnp.where(jnp.isnan(v), 1, lax.clamp(lax.full_like(v, -1), v, lax.full_like(v, 1))) for v in (a, b))
    return jnp.where((a == 0) | (b == 0), operator.mul(*signs), a * b)


def _turned(z: Native) -> Native:
    """Times i, exactly."""
    return lax.complex(-lax.imag(z), lax.real(z))


def _turned_back(z: Native) -> Native:
    """Times -i, exactly."""
    return lax.complex(lax.imag(z), -lax.real(z))


_GREAT: Final = 20
"""From here on the hyperbolic sine and cosine are half an exponential, up to rounding."""


def _hyperbolic(function: Callable[[Native], Native], sign: Callable[[Native], Native]) -> Callable[[Native], Native]:
    """The hyperbolic `function` of reals, accurate for large ones, too.

    For those XLA computes exp(x + log(0.5)), with an error from rounding the sum.
    """

    def exact(x: Native) -> Native:
        half = lax.exp(lax.abs(x) / 2)
        return jnp.where(lax.abs(x) < _GREAT, function(x), sign(x) * (half / 2) * half)

    return exact


# Not the JVP of `where`, as the derivative of the branch that is not selected may be infinite.
_real_sinh: Callable[..., Native] = with_jvps(lambda tangent, y, x: tangent * _real_cosh(x))(
    _hyperbolic(lax.sinh, lax.sign)
)
_real_cosh: Callable[..., Native] = with_jvps(lambda tangent, y, x: tangent * _real_sinh(x))(
    _hyperbolic(lax.cosh, lambda x: lax.full_like(x, 1))
)


@with_jvps(lambda tangent, w, z: tangent * w)
def _exp(z: Native) -> Native:
    re, im = lax.real(z), lax.imag(z)
    half = lax.exp(re / 2)  # exp(re) may overflow where its product with a small cosine does not
    u = _product(_product(half, lax.cos(im)), half)
    v = _product(_product(half, lax.sin(im)), half)
    turns_for_ever = lax.is_finite(re) & ~lax.is_finite(im)  # also where `half` is rounded to zero
    u = jnp.where((re == jnp.inf) & ~lax.is_finite(im), re, jnp.where(turns_for_ever, jnp.nan, u))
    return lax.complex(u, jnp.where(turns_for_ever, jnp.nan, v))


@with_jvps(lambda tangent, w, z: tangent * _sinh(z))  # pyright: ignore[reportGeneralTypeIssues]  # each is the other's
def _cosh(z: Native) -> Native:
    re, im = lax.real(z), lax.imag(z)
    u = jnp.where(jnp.isinf(re) & ~lax.is_finite(im), lax.abs(re), _product(_real_cosh(re), lax.cos(im)))
    return lax.complex(u, _product(_real_sinh(re), lax.sin(im)))


@with_jvps(lambda tangent, w, z: tangent * _cosh(z))
def _sinh(z: Native) -> Native:
    re, im = lax.real(z), lax.imag(z)
    u = jnp.where(jnp.isinf(re) & ~lax.is_finite(im), re, _product(_real_sinh(re), lax.cos(im)))
    return lax.complex(u, _product(_real_cosh(re), lax.sin(im)))


@with_jvps(lambda tangent, w, z: tangent * ((1 + w) * (1 - w)))
def _tanh(z: Native) -> Native:
    w = _mirrored(lax.tanh, "odd")(z)
    re, im = lax.real(z), lax.imag(z)
    return lax.complex(jnp.where((re == 0) & ~lax.is_finite(im), re, lax.real(w)), jnp.where(im == 0, im, lax.imag(w)))


def _infinite_log(log: Callable[[Native], Native]) -> Callable[[Native], Native]:
    def patched(z: Native) -> Native:
        w = _mirrored(log, "conjugate")(z)
        return lax.complex(jnp.where(_any_infinite(z), jnp.inf, lax.real(w)), lax.imag(w))

    return patched


_log: Final = _infinite_log(lax.log)


def _log_to(base: float) -> Callable[[Native], Native]:
    def log_to_base(z: Native) -> Native:
        w, scale = _log(z), 1 / math.log(base)
        return lax.complex(lax.real(w) * scale, lax.imag(w) * scale)

    return log_to_base


def _sqrt(z: Native) -> Native:
    w = _mirrored(lax.sqrt, "conjugate")(z)
    re, im = lax.real(z), lax.imag(z)
    u = jnp.where(jnp.isinf(im) | (re == jnp.inf), jnp.inf, lax.real(w))
    v = jnp.where(jnp.isinf(im), im, lax.imag(w))
    return lax.complex(u, jnp.where((re == -jnp.inf) & jnp.isnan(im), jnp.inf, v))


def _asinh(z: Native) -> Native:
    w = _mirrored(lax.asinh, "odd")(z)
    re, im = lax.real(z), lax.imag(z)
    unknown = _is_half_known(z)
    u = jnp.where(unknown & (im != 0), jnp.nan, lax.real(w))
    return lax.complex(u, jnp.where(jnp.isnan(re) & (im == 0), im, jnp.where(unknown, jnp.nan, lax.imag(w))))


def _is_half_known(z: Native) -> Native:
    """Whether one part is NaN and the other finite.

    XLA ignores the NaN if the square of the other part overflows.
    """
    re, im = lax.real(z), lax.imag(z)
    return (jnp.isnan(re) & lax.is_finite(im)) | (jnp.isnan(im) & lax.is_finite(re))


def _atanh(z: Native) -> Native:
    w = _mirrored(lax.atanh, "odd")(z)
    re, im = lax.real(z), lax.imag(z)
    unknown = jnp.isnan(im) | (jnp.isnan(re) & lax.is_finite(im))
    zero = jnp.copysign(lax.full_like(re, 0), re)
    u = jnp.where(jnp.isinf(im) | (jnp.isnan(im) & ((re == 0) | jnp.isinf(re))), zero, lax.real(w))
    return lax.complex(u, jnp.where(unknown, jnp.nan, lax.imag(w)))


# Minus the JVP of asin; XLA's own has the wrong sign at 2.
_arc_cosine = with_jvps(lambda tangent, w, z: -jax.jvp(_rotated(_asinh), (z,), (tangent,))[1])(lax.acos)


def _acos(z: Native) -> Native:
    w = _mirrored(_arc_cosine, "conjugate")(z)
    right = (lax.real(z) == 0) & jnp.isnan(lax.imag(z))
    unknown = _is_half_known(z)
    u = jnp.where(right, math.pi / 2, jnp.where(unknown, jnp.nan, lax.real(w)))
    return lax.complex(u, jnp.where(unknown, jnp.nan, lax.imag(w)))


def _acosh(z: Native) -> Native:
    # Not lax.acosh, whose derivative has the wrong sign to the left of the imaginary axis.
    w = _mirrored(lambda z: _turned(_arc_cosine(z)), "conjugate")(z)
    right = (lax.real(z) == 0) & jnp.isnan(lax.imag(z))
    unknown = _is_half_known(z)
    v = jnp.where(right, math.pi / 2, jnp.where(unknown, jnp.nan, lax.imag(w)))
    return lax.complex(jnp.where(unknown, jnp.nan, lax.real(w)), v)


def _expm1(z: Native) -> Native:
    # XLA returns NaN for infinite numbers where the standard does not.
    is_finite = lax.bitwise_and(lax.is_finite(lax.real(z)), lax.is_finite(lax.imag(z)))
    return jnp.where(is_finite, _mirrored(lax.expm1, "conjugate")(z), _exp(z) - 1)


def _by_kind(real: Callable[[Native], Native], complex: Callable[[Native], Native]) -> Any:
    @with_zeros
    def either(x: Native) -> Native:
        return (complex if kind_of(x) == "c" else real)(x)

    either.__name__ = getattr(real, "__name__", "function")
    return floating(either)


def _rotated(function: Callable[[Native], Native]) -> Callable[[Native], Native]:
    """-i f(i z): sin from sinh, tan from tanh, and likewise their inverses."""
    return lambda z: _turned_back(function(_turned(z)))


acos = _by_kind(lax.acos, _acos)
acosh = _by_kind(lax.acosh, _acosh)
asin = _by_kind(lax.asin, _rotated(_asinh))
asinh = _by_kind(lax.asinh, _asinh)
atan = _by_kind(lax.atan, _rotated(_atanh))
atanh = _by_kind(lax.atanh, _atanh)
cos = _by_kind(lax.cos, lambda z: _cosh(_turned(z)))
cosh = _by_kind(_real_cosh, _cosh)
exp = _by_kind(lax.exp, _exp)
expm1 = _by_kind(lax.expm1, _expm1)
log = _by_kind(lax.log, _log)
log1p = _by_kind(lax.log1p, _infinite_log(lax.log1p))
log2 = _by_kind(jnp.log2, _log_to(2))
log10 = _by_kind(jnp.log10, _log_to(10))
sin = _by_kind(lax.sin, _rotated(_sinh))
sinh = _by_kind(_real_sinh, _sinh)
root = _by_kind(_root, _sqrt)
sqrt = _by_kind(lax.sqrt, _sqrt)
tan = _by_kind(lax.tan, _rotated(_tanh))
tanh = _by_kind(lax.tanh, _tanh)
