"""The computation of special functions, over float64 Arrays.

Nothing here depends on values, so all of it works inside traces. Tables hold Chebyshev coefficients, which mpmath
computed; what has an integral of a smooth function over a half line is computed by the double exponential rule
(Takahasi and Mori, 1974), with the nodes along a last axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from anyarray._array.array import Array
from anyarray.standard import namespace as xp

_ERFCX: Final = (
    1.1775789345674017, -0.004590054580646478, -0.08424913336651792, 0.05920993999819189, -0.026658668435305753,
    0.009074997670705265, -0.002413163540417608, 0.0004907758365258086, -6.916973302501207e-05, 4.13902798607301e-06,
    7.74038306619849e-07, -2.1886401049234397e-07, 1.076499946567091e-08, 4.521959811218287e-09, -7.754400208831351e-10,
    -6.318088340886684e-11, 2.86879501093067e-11, 1.9455868545777347e-13, -9.65469674843344e-13, 3.25254814814874e-14,
    3.3478119482868056e-14, -1.864562880419313e-15, -1.2507950530688648e-15, 7.418235256624044e-17,
    5.068148904796111e-17,
)  # fmt: skip
_LOG_GAMMA: Final = (
    0.41418612492156676, 0.16322170068760064, -0.008658972394126285, 0.0006727515726001485, -6.139556963628233e-05,
    6.110065797003576e-06, -6.410003033826223e-07, 6.962242692768951e-08, -7.747248733788217e-09, 8.774075140687239e-10,
    -1.0070266869830198e-10, 1.1678602130652374e-11, -1.3656871334744932e-12, 1.6079351149711552e-13,
    -1.9039501088488732e-14, 2.2653768767833064e-15, -2.706656814831896e-16, 3.245660731626191e-17,
    -3.904483378457447e-18,
)  # fmt: skip
_DIGAMMA: Final = (
    0.983570260441567, -0.2270640863346444, 0.03336889902393011, -0.005320077271596548, 0.0008788656937820505,
    -0.00014773492650606044, 2.5060543468359146e-05, -4.2721034029993324e-06, 7.302769272465923e-07,
    -1.2502886813559594e-07, 2.1425009322359472e-08, -3.673295918565179e-09, 6.299717236108931e-10,
    -1.080593028883266e-10, 1.853735192053638e-11, -3.18023536582553e-12, 5.456147570322795e-13, -9.360993131036438e-14,
    1.606064636295075e-14, -2.7555431377438815e-15, 4.727736178601912e-16, -8.11148420346509e-17, 1.391707769474154e-17,
)  # fmt: skip

_GAUSS_LEGENDRE: Final = np.asarray([
    0.9982377097105593, 0.990726238699457, 0.9772599499837743, 0.9579168192137917, 0.9328128082786765,
    0.9020988069688743, 0.8659595032122595, 0.8246122308333117, 0.7783056514265194, 0.7273182551899271,
    0.6719566846141796, 0.6125538896679802, 0.5494671250951282, 0.4830758016861787, 0.413779204371605,
    0.3419940908257585, 0.2681521850072537, 0.1926975807013711, 0.11608407067525521, 0.03877241750605082,
    0.004521277098533191, 0.010498284531152813, 0.01642105838190789, 0.02224584919416696, 0.0279370069800234,
    0.033460195282547844, 0.038782167974472016, 0.04387090818567327, 0.04869580763507223, 0.05322784698393682,
    0.05743976909939155, 0.06130624249292894, 0.06480401345660104, 0.0679120458152339, 0.07061164739128678,
    0.07288658239580406, 0.07472316905796826, 0.07611036190062624, 0.07703981816424797, 0.0775059479784248,
]).reshape(2, 20)  # fmt: skip
"""The positive nodes of the rule of 40, and their weights: those that NumPy computes have 13 digits."""

_ROOT_OF_DIGAMMA: Final = (1.4616321449683622, 9.549995429965697e-17)
"""Its positive root, as the sum of two numbers."""

_BERNOULLI: Final = [
    Fraction(*pair)
    for pair in (
        (1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798), (-174611, 330),
        (854513, 138), (-236364091, 2730),
    )
]  # fmt: skip
"""The Bernoulli numbers of index 2, 4, 6 ..."""

_EULER: Final = 0.5772156649015329


def _chebyshev(coefficients: Sequence[float], t: Array) -> Array:
    """A Chebyshev series at `t` in [-1, 1], by Clenshaw's recurrence."""
    twice, found, before = t + t, xp.zeros_like(t), xp.zeros_like(t)
    for one in coefficients[:0:-1]:
        found, before = twice * found + (one - before), found
    return t * found + (coefficients[0] - before)


def _polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """A polynomial; the constant coefficient comes first."""
    found = xp.full_like(x, coefficients[-1])
    for one in coefficients[-2::-1]:
        found = found * x + one
    return found


def _sin_pi(x: Array) -> Array:
    """`sin(pi * x)`, exactly 0 at integers."""
    rest = x - 2 * xp.round(x / 2)
    return xp.sin(math.pi * xp.where(xp.abs(rest) > 0.5, xp.sign(rest) - rest, rest))


def _log1p(x: Array) -> Array:
    # XLA's has 14 digits from -0.42 to -0.29.
    is_middle = (x > -0.45) & (x < -0.25)
    return xp.where(is_middle, xp.log(xp.where(is_middle, 1 + x, 1.0)), xp.log1p(x))


def _is_whole(x: Array) -> Array:
    return x == xp.round(x)


def _product(x: Array, y: Array) -> tuple[Array, Array]:
    """`x * y` and its rounding error (Dekker, 1971)."""
    found = x * y
    (x1, x2), (y1, y2) = ((high, one - high) for one, high in ((x, _upper_half(x)), (y, _upper_half(y))))
    return found, ((x1 * y1 - found) + x1 * y2 + x2 * y1) + x2 * y2


def _upper_half(x: Array) -> Array:
    scaled = x * 134217729.0
    return scaled - (scaled - x)


def _ratio(x: Array, y: Array, more: Array | float = 0.0) -> tuple[Array, Array]:
    """`x / y`, and `log((x + more) / y)` less the logarithm of that."""
    found = x / y
    back, error = _product(found, y)
    lost = ((x - back) - error + more) / x
    return found, xp.where(xp.isfinite(lost), lost, 0.0)


# The error function and the normal distribution.


def _exp_square(x: Array, factor: float) -> Array:
    """`exp(factor * x**2)`, where the square is not rounded before."""
    near = xp.round(xp.clip(x, -64, 64) * 16) / 16
    # Not the product of two calls of `exp`, of which XLA makes one.
    return xp.exp(factor * near * near) * (1 + xp.expm1(factor * (x - near) * (x + near)))


def _erfcx_of_positive(x: Array) -> Array:
    return _chebyshev(_ERFCX, 1 - 7.5 / (x + 3.75)) / (1 + 2 * x)


def _erf_near_zero(x: Array) -> Array:
    return x * _polynomial(_ERF, xp.minimum(x * x, xp.ones_like(x)))


_ERF: Final = [2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(16)]


def erf(x: Array) -> Array:
    size = xp.abs(x)
    far = 1 - _erfcx_of_positive(size) * _exp_square(size, -1)
    return xp.where(size < 0.7, _erf_near_zero(x), xp.copysign(far, x))


def erfc(x: Array) -> Array:
    size = xp.abs(x)
    far = _erfcx_of_positive(size) * _exp_square(size, -1)
    return xp.where(size < 0.5, 1 - _erf_near_zero(x), xp.where(x < 0, 2 - far, far))


def erfcx(x: Array) -> Array:
    found = _erfcx_of_positive(xp.abs(x))
    return xp.where(x < 0, 2 * _exp_square(x, 1) - found, found)


def ndtr(x: Array) -> Array:
    tail = _erfcx_of_positive(xp.abs(x) * math.sqrt(0.5)) * _exp_square(x, -0.5) / 2
    return xp.where(x < -1, tail, erfc(-x * math.sqrt(0.5)) / 2)


def log_ndtr(x: Array) -> Array:
    scaled = _erfcx_of_positive(xp.abs(x) * math.sqrt(0.5)) / 2
    near = _log1p(-xp.where(x < 0, erfc(x * math.sqrt(0.5)) / 2, scaled * _exp_square(x, -0.5)))
    return xp.where(x < -1, xp.log(scaled) - x * x / 2, near)


def erfinv(x: Array) -> Array:
    size = xp.abs(x)
    return xp.copysign(_inverse_of_erf(size, 1 - size), x)


def erfcinv(x: Array) -> Array:
    return xp.copysign(_inverse_of_erf(xp.abs(1 - x), xp.where(x > 1, 2 - x, x)), 1 - x)


def _about_inverse_of_erf(y: Array, rest: Array) -> Array:
    """An approximation by Winitzki for `y` from 0 to 1.

    `rest` is `1 - y` unrounded.
    """
    logs = xp.where(y < 0.5, _log1p(-y * y), xp.log(rest) + xp.log1p(y))
    half = 2 / (math.pi * 0.147) + logs / 2
    return xp.sqrt(-logs / 0.147 / (xp.sqrt(half * half - logs / 0.147) + half))


def _inverse_of_erf(y: Array, rest: Array) -> Array:
    x, log_rest = _about_inverse_of_erf(y, rest), xp.log(rest)
    for _ in range(4):  # of Halley's method
        beyond = xp.where(
            y < 0.5, (_erf_near_zero(x) - y) * xp.exp(x * x), xp.exp(x * x + log_rest) - _erfcx_of_positive(x)
        )
        step = beyond * (math.sqrt(math.pi) / 2)
        x = x - step / (1 + x * step)
    return xp.where(rest > 0, x, xp.where(rest == 0, math.inf, math.nan))


def ndtri(x: Array) -> Array:
    return -math.sqrt(2) * erfcinv(2 * x)


# The gamma function and its kin.

_STIRLING: Final = [float(b / (2 * k * (2 * k - 1))) for k, b in enumerate(_BERNOULLI[:10], 1)]
_OF_DIGAMMA: Final = [float(b / (2 * k)) for k, b in enumerate(_BERNOULLI[:10], 1)]
_SHIFT: Final = 10
"""From where on Stirling's series is accurate."""


def _stirling(x: Array) -> Array:
    """What is missing in Stirling's formula for `log(gamma(x))`."""
    inverse = 1 / xp.maximum(x, xp.full_like(x, _SHIFT))
    return inverse * _polynomial(_STIRLING, inverse * inverse)


def gamma(x: Array) -> Array:
    size = xp.abs(x)
    steps = xp.clip(xp.ceil(_SHIFT - size), 0, _SHIFT)
    y = size + steps
    lost = size - (y - steps)
    product = xp.ones_like(x)
    for k in range(_SHIFT):
        product = product * xp.where(k < steps, size + k, 1.0)
    # In two factors, as y**y overflows before the gamma function does.
    power = xp.pow(y, xp.where(y > 100, (y - 0.5) / 2, y - 0.5))
    found = power * xp.exp(-y) * xp.where(y > 100, power, 1.0) * (math.sqrt(2 * math.pi) / product)
    found = found * xp.exp(_stirling(y)) * (1 + lost * (xp.log(y) - 0.5 / y))
    found = xp.where(size > 172, math.inf, xp.where(_is_whole(x) & (size < 20), xp.round(found), found))
    reflected = -math.pi / x / (_sin_pi(x) * found)
    found = xp.where(x < 0, xp.where(_is_whole(x), math.nan, reflected), found)
    return xp.where(x == 0, xp.copysign(xp.full_like(x, math.inf), x), found)


def gammaln(x: Array) -> Array:
    size = xp.abs(x)
    steps = xp.where(size < 0.5, -2.0, xp.clip(xp.round(size), 1, 10) - 2)
    from_two = xp.where(size < 0.5, size, size - 2 - steps)
    product = xp.ones_like(x)
    for k in range(1, 9):
        product = product * xp.where(k <= steps, size - k, 1.0)
    below = xp.log(size) + xp.where(size < 0.5, xp.log1p(size), 0.0)
    near = from_two * _chebyshev(_LOG_GAMMA, 2 * xp.clip(from_two, -0.5, 0.5)) + xp.where(
        size < 1.5, -below, xp.log(product)
    )
    far = size * (xp.log(size) - 1) - xp.log(size) / 2 + (math.log(2 * math.pi) / 2 + _stirling(size))
    found = xp.where(size < _SHIFT, near, far)
    reflected = xp.log(math.pi / xp.abs(x * _sin_pi(x))) - found
    found = xp.where(x < -1e-100, reflected, found)  # nearer to 0 the product underflows, and both are -log(size)
    return xp.where(((x <= 0) & _is_whole(x)) | (x == math.inf), math.inf, found)


def gammasgn(x: Array) -> Array:
    whole = xp.floor(x)
    sign = 1 - 2 * xp.abs(whole - 2 * xp.floor(whole / 2))
    return xp.where(x > 0, 1.0, xp.where(x == 0, xp.copysign(xp.ones_like(x), x), xp.where(x == whole, math.nan, sign)))


def digamma(x: Array) -> Array:
    size = xp.abs(x)
    steps = xp.clip(xp.floor(size), 1, _SHIFT) - 1
    base = xp.where(size < 1, size + 1, size - steps)
    series = _chebyshev(_DIGAMMA, 2 * xp.clip(base, 1, 2) - 3)
    near = (base - _ROOT_OF_DIGAMMA[0]) * series - _ROOT_OF_DIGAMMA[1] * series  # XLA adds up constants
    for k in range(1, _SHIFT):
        near = near + xp.where(k <= steps, 1 / xp.where(k <= steps, size - k, 1.0), 0.0)
    near = near - xp.where(size < 1, 1 / size, 0.0)
    inverse = 1 / xp.maximum(size, xp.full_like(x, _SHIFT))
    far = xp.log(size) - inverse / 2 - inverse * inverse * _polynomial(_OF_DIGAMMA, inverse * inverse)
    found = xp.where(size < _SHIFT, near, far)
    reflected = found - 1 / x - math.pi * _sin_pi(x + 0.5) / _sin_pi(x)
    found = xp.where(x < 0, xp.where(_is_whole(x), math.nan, reflected), found)
    return xp.where(x == 0, -xp.copysign(xp.full_like(x, math.inf), x), found)


_EULER_MACLAURIN: Final = [float(b / math.factorial(2 * k)) for k, b in enumerate(_BERNOULLI, 1)]
_TERMS: Final = 10


def _hurwitz(s: Array, q: Array, with_slope: bool = False) -> tuple[Array, Array]:
    """The Hurwitz zeta function of positive `q`, by Euler and Maclaurin.

    The second result, with the slope, is its derivative by `s`.
    """
    found, slope = xp.zeros_like(s + q), xp.zeros_like(s + q)
    for k in range(_TERMS):
        power = xp.pow(q + k, -s)
        found = found + power
        if with_slope:
            slope = slope - xp.log(q + k) * power
    far = q + _TERMS
    power, log = xp.pow(far, -s), xp.log(far)
    rest, inverse = xp.pow(far, 1 - s) / (s - 1), 1 / (s - 1)
    found, slope = found + rest + power / 2, slope - rest * (log + inverse) - log * power / 2
    factor, of_factor = s * power / far, (1 - s * log) * power / far
    for k, one in enumerate(_EULER_MACLAURIN):
        found, slope = found + one * factor, slope + one * of_factor
        for j in (2 * k + 1, 2 * k + 2):
            factor, of_factor = factor * ((s + j) / far), of_factor * ((s + j) / far) + factor / far
    is_end = xp.isinf(s) | xp.isinf(q)
    return xp.where(is_end, xp.pow(q, -s), found), xp.where(is_end, 0.0, slope)


def zeta(s: Array, q: Array) -> Array:
    whole = xp.floor(q)
    rest = q - whole
    is_positive = q > 0
    # For a negative q the sum over all integers, less those below q: a sum from q on has too many terms.
    sign = xp.where(xp.abs(s - 2 * xp.floor(s / 2)) == 1, -1.0, 1.0)
    found = _hurwitz(s, xp.where(is_positive, q, xp.where(rest == 0, 1.0, rest)))[0]
    beyond = found + sign * (_hurwitz(s, 1 - rest)[0] - _hurwitz(s, 1 - xp.where(is_positive, 0.0, q))[0])
    beyond = xp.where(_is_whole(s), beyond, math.nan)
    found = xp.where(is_positive, found, xp.where((rest == 0) | xp.isinf(q), math.inf, beyond))
    found = xp.where(s < 1, math.nan, xp.where(s == 1, math.inf, found))
    return xp.where(xp.isnan(q), q, found)


def zeta_slope(s: Array, q: Array) -> Array:
    """The derivative of `zeta` by `s`, of which a negative `q` allows none."""
    is_inside = (q > 0) & (s > 1)
    slope = _hurwitz(xp.where(is_inside, s, 2.0), xp.where(is_inside, q, 1.0), with_slope=True)[1]
    return xp.where(is_inside, slope, math.nan)


def riemann(s: Array) -> Array:
    return _riemann(s)[0]


def riemann_slope(s: Array) -> Array:
    return _riemann(s, with_slope=True)[1]


def _riemann(s: Array, with_slope: bool = False) -> tuple[Array, Array]:
    is_small = s < -0.5
    positive = xp.where(is_small, 1 - s, s)
    value, slope = _hurwitz(xp.where(positive == 1, 2.0, positive), xp.ones_like(s), with_slope)
    # The functional equation. Where the gamma function overflows, the product does not yet.
    sine = _sin_pi(s / 2)
    scale = xp.where(
        s < -160, xp.exp(gammaln(positive) + s * math.log(2 * math.pi)), gamma(positive) * (2 * math.pi) ** s
    )
    reflected = xp.where(sine == 0, 0.0, scale * sine * value / math.pi)
    found = xp.where(s == 1, math.inf, xp.where(is_small, reflected, value))
    if with_slope:
        turned = _sin_pi(s / 2 + 0.5) * value / 2
        of_scale = sine * (value * (math.log(2 * math.pi) - digamma(positive)) - slope) / math.pi
        slope = xp.where(s == 1, math.nan, xp.where(is_small, scale * (of_scale + turned), slope))
    return found, slope


def polygamma(n: Array, x: Array) -> Array:
    is_odd = xp.abs(n - 2 * xp.floor(n / 2)) == 1
    found = gamma(n + 1) * zeta(n + 1, x)
    return xp.where(n == 0, digamma(x), xp.where(is_odd, found, xp.where(_is_whole(n), -found, math.nan)))


def _off_poles(a: Array, b: Array) -> tuple[Array, Array]:
    """An `a` with the same magnitude of the beta function, and the sign.

    That is another one at a pole where both arguments are integers, and the beta function is finite.
    """
    moves = _is_pole(a) & _is_whole(b) & (b > 0) & (a + b <= 0)
    return xp.where(moves, 1 - a - b, a), xp.where(moves & (xp.abs(b - 2 * xp.floor(b / 2)) == 1), -1.0, 1.0)


def betaln(a: Array, b: Array) -> Array:
    a, b = _off_poles(a, b)[0], _off_poles(b, a)[0]
    small, large = xp.minimum(a, b), xp.maximum(a, b)
    both = small + large
    # Differences of logarithms of the gamma function lose what Stirling's formula keeps.
    ratio = _stirling(large) - _stirling(both) - (both - 0.5) * xp.log1p(small / large)
    of_small = gammaln(small) + small - small * xp.log(large)
    of_large = math.log(2 * math.pi) / 2 - xp.log(small) / 2 + _stirling(small) + small * xp.log(small / large)
    far = xp.where(small < _SHIFT, of_small, of_large) + ratio
    near = gammaln(small) + gammaln(large) - gammaln(both)
    found = xp.where((large < _SHIFT) | (small < 0), near, far)
    at_infinity = xp.where(small > 0, -math.inf, math.inf)
    found = xp.where((large == math.inf) & xp.isfinite(small) & (small != 0), at_infinity, found)
    return xp.where(_is_pole(a) | _is_pole(b), math.inf, found)


def _is_pole(x: Array) -> Array:
    return (x <= 0) & _is_whole(x)


def beta(a: Array, b: Array) -> Array:
    (a, first), (b, second) = _off_poles(a, b), _off_poles(b, a)
    small, large = xp.minimum(a, b), xp.maximum(a, b)
    both = small + large
    is_positive = small > 0
    lost = small - (both - large)
    others = xp.where(is_positive, 1.0, xp.stack([small, large, both]))
    near = _beta_of_gammas(others) * (1 - lost * digamma(others[2, ...]))
    is_far = (small < -140) | (large > 140)
    sign = gammasgn(a) * gammasgn(b) * gammasgn(both)
    found = xp.where(is_far, sign * xp.exp(betaln(a, b)), near)
    found = first * second * xp.where(is_positive, _beta_of_positive(small, large), found)
    found = xp.where((large == math.inf) & (small < 0), gammasgn(small) * math.inf, found)
    is_zero = _is_pole(both) | (xp.isinf(large) & is_positive & xp.isfinite(small))
    return xp.where(_is_pole(a) | _is_pole(b), math.inf, xp.where(is_zero, 0.0, found))


def _beta_of_gammas(xs: Array) -> Array:
    """`gamma(a) * gamma(b) / gamma(a + b)` of these three."""
    gammas = gamma(xs)
    return gammas[0, ...] / gammas[2, ...] * gammas[1, ...]


def _beta_of_positive(small: Array, large: Array) -> Array:
    both = small + large
    lost = small - (both - large)
    digamma_of_both = xp.log(both) - 0.5 / both  # about that
    near = _beta_of_gammas(xp.where(large < _SHIFT, xp.stack([small, large, both]), 1.0)) * (1 - lost * digamma_of_both)
    # Powers keep the digits that a difference of logarithms of the gamma function loses.
    (part, more), (rest, more_of_rest) = _ratio(large, both), _ratio(small, both)
    of_small = gamma(xp.minimum(small, xp.full_like(small, _SHIFT))) * xp.exp(small) * xp.pow(both, -small)
    of_large = xp.pow(rest, small - 0.5) * xp.sqrt(2 * math.pi / both)
    is_small = small < _SHIFT
    more = (large - 0.5) * more - lost + xp.where(is_small, 0.0, (small - 0.5) * more_of_rest + _stirling(small))
    found = xp.pow(part, large - 0.5) * xp.exp(_stirling(large) - _stirling(both) + more)
    return xp.where(large < _SHIFT, near, found * xp.where(is_small, of_small, of_large))


def binomial(n: Array, k: Array) -> Array:
    k = xp.where(_is_whole(n) & (n - k < k) & (n >= 0) & xp.isfinite(n) & xp.isfinite(k), n - k, k)
    product = xp.ones_like(n + k)
    for j in range(1, 21):
        product = product * xp.where(j <= k, (n - (k - j)) / j, 1.0)
    # By the reflection of the gamma function where n - k would lose the digits of n.
    is_beyond = k > n
    of_both = beta(xp.where(is_beyond, n + 1, n - k + 1), xp.where(is_beyond, k - n, k + 1))
    odd = xp.abs(k - 2 * xp.round(k / 2))
    sine = xp.where(_is_whole(k), (2 * odd - 1) * _sin_pi(n), _sin_pi(k - n))
    far = xp.where(is_beyond, of_both * sine / math.pi, 1 / ((n + 1) * of_both))
    found = xp.where(_is_whole(k) & (k >= 0) & (k <= 20), product, far)
    found = xp.where(_is_whole(n) & _is_whole(k) & (found < 2**52), xp.round(found), found)
    at_infinity = xp.where(k > 0, math.inf, xp.where(k == 0, 1.0, 0.0))
    found = xp.where(xp.isfinite(n) & xp.isfinite(k), found, at_infinity)
    return xp.where((k < math.inf) & ~((n < 0) & _is_whole(n)) & ~xp.isnan(n), found, math.nan)


# Incomplete functions.

_PLACES: Final = 0.5 + np.concatenate([-_GAUSS_LEGENDRE[0], _GAUSS_LEGENDRE[0]]) / 2
_NODES: Final = _PLACES * (_PLACES + 1) / 2
_WEIGHTS: Final = np.tile(_GAUSS_LEGENDRE[1], 2) * (_PLACES + 0.5) / 2
"""Of a rule for the unit interval: that of Gauss and Legendre, with nodes that are denser near 0."""
_LARGEST_FALL: Final = 37.0
"""Of the logarithm of an integrand, from where on nothing is added in float64."""


def _of_powers(size: Array, factors: Callable[[Array], Array]) -> Array:
    """A product of powers, of which some may overflow.

    `factors` computes it for exponents that are divided by a power of 2: so that `size`, that of the logarithms, is not
    above 600, if it is up to 4800.
    """
    scale = xp.ones_like(size)
    for limit in (600, 1200, 2400):
        scale = scale * xp.where(size > limit, 2.0, 1.0)
    found = factors(scale)
    for limit in (600, 1200, 2400):
        found = found * xp.where(size > limit, found, 1.0)
    return found


def _log_of_ratio_rest(x: Array, mean: Array, more: Array) -> Array:
    """`r - 1 - log(r)` for `r = x / mean`, where `more` is `x - mean`."""
    far = more / mean
    ratio = more / (x + mean)
    square = ratio * ratio
    series = _polynomial([1 / (2 * n + 3) for n in range(18)], xp.minimum(square, xp.full_like(x, 0.12)))
    return xp.where(xp.abs(far) < 0.5, far * ratio - 2 * ratio * square * series, far - xp.log(x / mean))


def _gamma_density(a: Array, x: Array) -> Array:
    """`x**a * exp(-x) / gamma(a)`."""
    root = xp.exp(-x / 2)
    near = root * xp.pow(xp.minimum(x, xp.full_like(x, 1e30)), a) * root / gamma(xp.minimum(a, xp.full_like(a, _SHIFT)))
    large, small = xp.maximum(a, x), xp.minimum(a, x)
    size = large - small
    ratio, lost = _ratio(x, a)
    lost = a * lost + xp.sign(a - x) * ((large - size) - small)
    logs = xp.maximum(size, xp.abs(a * xp.log(ratio)))
    bell = _of_powers(logs, lambda scale: xp.pow(ratio, a / scale) * xp.exp((a - x) / scale)) * (1 + lost)
    bell = xp.where(logs > 4800, xp.exp(-a * _log_of_ratio_rest(x, a, x - a)), bell)
    return xp.where(a < _SHIFT, near, xp.sqrt(a / (2 * math.pi)) * bell * xp.exp(-_stirling(a)))


def _exp_rest(x: Array) -> Array:
    """`exp(x) - 1 - x`, without cancellation."""
    low = xp.clip(x, -1, 1)
    near = low * low * _polynomial([1 / math.factorial(n + 2) for n in range(17)], low)
    return xp.where(xp.abs(x) < 1, near, xp.expm1(x) - x)


def _log_rest(x: Array) -> Array:
    """`x - log1p(x)`, without cancellation."""
    ratio = xp.clip(x, -0.4, 0.7) / (2 + xp.clip(x, -0.4, 0.7))
    square = ratio * ratio
    near = ratio * x - 2 * ratio * square * _polynomial([1 / (2 * n + 3) for n in range(12)], square)
    return xp.where((x > -0.4) & (x < 0.7), near, x - _log1p(x))


def _wide(*xs: Array) -> list[Array]:
    return [xp.expand_dims(x, axis=-1) for x in xs]


def _integral(
    start: Array, spans: Sequence[Array], integrand: Callable[[Array], Array], *factors: Callable[..., Array]
) -> list[Array]:
    """The integral over `spans`, one or two, to either side of `start`.

    Others follow, of the product of the integrand with each of `factors`. The nodes are denser near `start`.
    """
    nodes, weights, which = (
        xp.asarray(np.concatenate(one), dtype=start.dtype)
        for one in zip(*[(_NODES, _WEIGHTS, np.full(len(_NODES), n)) for n in range(len(spans))], strict=True)
    )
    start, first, last = _wide(start, spans[0], spans[-1])
    span = xp.where(which == 0, first, last)
    at = start + span * nodes
    found = integrand(at) * (xp.abs(span) * weights)
    return [xp.sum(one, axis=-1) for one in (found, *[found * factor(at) for factor in factors])]


def _gammainc(a: Array, x: Array, with_slope: bool = False) -> list[Array]:
    """Both incomplete gamma functions of positive numbers, and the density.

    That is the density for `log(x)`. With the slope, the derivative of the lower function by `a` follows.
    """
    density = _gamma_density(a, x)
    is_lower = x < a
    # The integral over t = x * exp(w), towards the nearer end.
    sign = xp.where(is_lower, -1.0, 1.0)
    size = xp.abs(x - a)
    end = 2 * _LARGEST_FALL / (size + xp.sqrt(size * size + 2 * _LARGEST_FALL * x))
    for _ in range(3):
        fall = size * end + x * _exp_rest(sign * end) - _LARGEST_FALL
        end = end - fall / (size + x * sign * xp.expm1(sign * end))
    wide_size, wide_x, wide_sign = _wide(size, x, sign)
    integrals = _integral(
        xp.zeros_like(x),
        [end],
        lambda w: xp.exp(-wide_size * w - wide_x * _exp_rest(wide_sign * w)),
        *[lambda w: w] * with_slope,
    )
    found = density * integrals[0]
    # For small a and x the integrand has two scales; there is a series of few terms.
    low = xp.minimum(x, xp.ones_like(x))
    term, series, slope_of_series = xp.ones_like(x), xp.zeros_like(x), xp.zeros_like(x)
    for n in range(1, 20):
        term = -term * low / n
        series = series + term / (a + n)
        if with_slope:
            slope_of_series = slope_of_series + n * term / ((a + n) * (a + n))
    is_small = (a < 1) & (x < 1)
    log_gamma = xp.where(a < 0.5, a * _log_gamma_one(a), gammaln(a + 1))
    log_power, power = a * xp.log(x) - log_gamma, xp.pow(low, a) * xp.exp(-log_gamma)
    upper = -xp.expm1(log_power) - power * a * series
    lower = xp.where(is_small, power * (1 + a * series), xp.where(is_lower, found, 1 - found))
    upper = xp.where(is_small, upper, xp.where(is_lower, 1 - found, found))
    if not with_slope:
        return [lower, upper, density]
    logs = _log_ratio_to_mean(x, a, (x - a) / a) + _less_digamma(a)
    by_series = lower * logs + power * slope_of_series
    by_integral = -sign * (logs + 1 / a) * found - density * integrals[1]
    return [lower, upper, density, xp.where(is_small, by_series, by_integral)]


def _less_digamma(a: Array) -> Array:
    """`log(a) - digamma(a + 1)`."""
    inverse = 1 / xp.maximum(a, xp.full_like(a, _SHIFT))
    far = inverse * inverse * _polynomial(_OF_DIGAMMA, inverse * inverse) - inverse / 2
    return xp.where(a < _SHIFT, xp.log(a) - digamma(xp.minimum(a, xp.full_like(a, _SHIFT)) + 1), far)


def _log_ratio_to_mean(x: Array, mean: Array, far: Array) -> Array:
    """`log(x / mean)`, where `far` is `x / mean - 1`."""
    is_near = xp.abs(far) < 0.5
    return xp.where(is_near, _log1p(xp.where(is_near, far, 0.0)), xp.log(x / mean))


def _beta_density(a: Array, b: Array, x: Array, y: Array) -> Array:
    """`x**a * y**b / beta(a, b)` for `y = 1 - x`."""
    both = a + b
    lost = (1 - xp.maximum(x, y)) - xp.minimum(x, y)  # of the larger one, which is 1 less the other
    lost_x, lost_y = xp.where(x > 0.5, lost, 0.0), xp.where(x > 0.5, 0.0, lost)
    rest = xp.minimum(a, b) - (both - xp.maximum(a, b))
    (of_x, error_x), (of_y, error_y) = _product(x, both), _product(y, both)
    first, lost_first = _ratio(of_x, a, error_x + x * rest + lost_x * both)
    second, lost_second = _ratio(of_y, b, error_y + y * rest + lost_y * both)
    logs = xp.maximum(xp.abs(a * xp.log(first)), xp.abs(b * xp.log(second)))
    bell = _of_powers(logs, lambda scale: xp.pow(first, a / scale) * xp.pow(second, b / scale))
    bell = bell * (1 + (a * lost_first + b * lost_second))
    more = (b * x - a * y) / both
    series = a * _log_of_ratio_rest(x, a / both, more) + b * _log_of_ratio_rest(y, b / both, -more)
    bell = xp.where(logs > 4800, xp.exp(-series), bell)
    far = bell * xp.exp(_stirling(both) - _stirling(a) - _stirling(b)) * xp.sqrt(a * (b / both) / (2 * math.pi))
    near = xp.pow(x, a) * xp.pow(y, b) * (1 + (a * lost_x / x + b * lost_y / y))
    near = near / _beta_of_positive(xp.minimum(a, b), xp.maximum(a, b))
    return xp.where((a < _SHIFT) | (b < _SHIFT), near, far)


def _end_of_fall(fall: float, a: Array, b: Array, x: Array, y: Array, more: Array) -> Array:
    """Where the logarithm of the integrand of `_betainc` has so fallen."""
    both = a + b
    end = xp.minimum(2 * fall / (xp.sqrt(more * more + 2 * fall * both * x * y) - more), (fall - both * xp.log(y)) / a)
    for _ in range(5):  # of Newton's method, for a convex function
        fallen = a * xp.log1p(y * xp.expm1(end)) + b * xp.log1p(x * xp.expm1(-end))
        end = end - (fallen - fall) / (a - both / (1 + xp.exp(end) * (y / x)))
    return end


def _betainc(a: Array, b: Array, x: Array, y: Array, with_slopes: bool = False) -> list[Array]:
    """The incomplete beta function, `1 -` it, and its density.

    `a` and `b` are positive, `y` is `1 - x`, and the density is that for `log(x / y)`. With the slopes, the derivatives
    by `a` and `b` follow.
    """
    density = _beta_density(a, b, x, y)
    is_lower = b * x < a * y
    a, b = xp.where(is_lower, a, b), xp.where(is_lower, b, a)
    x, y = xp.where(is_lower, x, y), xp.where(is_lower, y, x)
    # The integral for a + 1, to which a recurrence without cancellation leads: that for a small a falls late. It is
    # over t with log(t / (1 - t)) = log(x / y) - w, in two parts, as it falls steeply, but late, for a small b.
    both, one = a + b, a + 1
    (of_x, lost_x), (of_y, lost_y) = _product(b, x), _product(one, y)
    lost = b * ((1 - x) - y)
    more = (of_x - of_y) + (lost_x - lost_y + lost)
    middle, end = (_end_of_fall(fall, one, b, x, y, more) for fall in (0.5, _LARGEST_FALL))
    sign = xp.where(x <= 0.5, -1.0, 1.0)
    is_plain = xp.minimum(one, b) < 50
    one_, b_, both_, x_, y_, more_, sign_, is_plain_ = _wide(one, b, one + b, x, y, more, sign, is_plain)

    def log_t(w: Array) -> Array:
        return -_log1p(y_ * xp.expm1(w))

    def log_rest_of_t(w: Array) -> Array:
        return -_log1p(x_ * xp.expm1(-w))

    def integrand(w: Array) -> Array:
        step = xp.expm1(sign_ * w)
        rest = both_ * _log_rest(xp.where(sign_ < 0, x_, y_) * step) + sign_ * more_ * step
        rest = rest - xp.where(sign_ < 0, one_, b_) * _exp_rest(sign_ * w)
        return xp.exp(xp.where(is_plain_, one_ * log_t(w) + b_ * log_rest_of_t(w), rest))

    factors = (log_t, log_rest_of_t) if with_slopes else ()
    integral, *by_parameters = [x * one for one in _integral(middle, [-middle, end - middle], integrand, *factors)]
    found = density / a * (1 + both * integral)
    lower, upper = xp.where(is_lower, found, 1 - found), xp.where(is_lower, 1 - found, found)
    if not with_slopes:
        return [lower, upper, density]
    mean, far = a / both, (b * x - a * y) / both
    of_both = _less_digamma(both) + 1 / both
    by_a, by_b = (
        found * (log + _less_digamma(parameter) + more_of - of_both) + density / a * (integral + both * one)
        for log, parameter, more_of, one in (
            (_log_ratio_to_mean(x, mean, far / mean), a, 0.0, by_parameters[0]),
            (_log_ratio_to_mean(y, b / both, -far / (b / both)), b, 1 / b, by_parameters[1]),
        )
    )
    return [lower, upper, density, xp.where(is_lower, by_a, -by_b), xp.where(is_lower, by_b, -by_a)]


def _log_gamma_one(x: Array) -> Array:
    """`log(gamma(1 + x)) / x` for `x` from 0 to 0.5."""
    near = _chebyshev(_LOG_GAMMA, 2 * xp.clip(x, 0, 0.5))
    return near - xp.where(x == 0, 1.0, xp.log1p(x) / xp.where(x == 0, 1.0, x))


def gammainc(a: Array, x: Array) -> Array:
    return _of_gamma(0, a, x)


def gammaincc(a: Array, x: Array) -> Array:
    return _of_gamma(1, a, x)


def gammainc_slope(a: Array, x: Array) -> Array:
    """The derivative of `gammainc` by `a`."""
    is_inside, a1, x1 = _inside_gamma(a, x)
    return xp.where(is_inside, _gammainc(a1, x1, with_slope=True)[3], xp.where((a > 0) & (x >= 0), 0.0, math.nan))


def _inside_gamma(a: Array, x: Array) -> list[Array]:
    is_inside = (a > 0) & (x > 0) & xp.isfinite(a) & xp.isfinite(x)
    return [is_inside, *[xp.where(is_inside, one, 1.0) for one in (a, x)]]


def _of_gamma(which: int, a: Array, x: Array) -> Array:
    is_inside, a1, x1 = _inside_gamma(a, x)
    found = _gammainc(a1, x1)[which]
    # At the ends all of the distribution lies on one side: of 0 for a = 0, of infinity for an infinite a.
    is_defined = (a >= 0) & (x >= 0) & ~((a == 0) & (x == 0)) & ~(xp.isinf(a) & xp.isinf(x))
    lower = xp.where(is_defined, xp.where((x == 0) | xp.isinf(a), 0.0, 1.0), math.nan)
    lower = xp.where((a == 0) & (x > 0), 1.0, lower)
    return xp.where(is_inside, found, 1 - lower if which else lower)


def betainc_slopes(which: int, a: Array, b: Array, x: Array) -> Array:
    """The derivatives of `betainc` by `a` and `b`."""
    is_inside, a1, b1, x1 = _inside_beta(a, b, x)
    found = _betainc(a1, b1, x1, 1 - x1, with_slopes=True)[3 + which]
    return xp.where(is_inside, found, xp.where((a > 0) & (b > 0) & (x >= 0) & (x <= 1), 0.0, math.nan))


def _inside_beta(a: Array, b: Array, x: Array) -> list[Array]:
    is_inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & xp.isfinite(a) & xp.isfinite(b)
    return [is_inside, *[xp.where(is_inside, one, 0.5) for one in (a, b, x)]]


def betainc(a: Array, b: Array, x: Array) -> Array:
    is_inside, a1, b1, x1 = _inside_beta(a, b, x)
    found = _betainc(a1, b1, x1, 1 - x1)[0]
    is_low, is_high = (a == 0) | xp.isinf(b), (b == 0) | xp.isinf(a)
    is_defined = (a >= 0) & (b >= 0) & (x >= 0) & (x <= 1) & ~((a == 0) & (b == 0)) & ~(xp.isinf(a) & xp.isinf(b))
    # At the ends all of the distribution lies on one side, at 0 or at 1.
    end = xp.where(is_low & (x > 0), 1.0, xp.where(is_high & (x < 1), 0.0, x))
    return xp.where(is_inside, found, xp.where(is_defined, end, math.nan))


def _step(p: Array, lower: Array, upper: Array, density: Array, log_slope: Array) -> Array:
    """A step of Halley's method.

    The function is the logarithm of the smaller part of a distribution. `log_slope` is the derivative of the logarithm
    of the density.
    """
    is_low = p < 0.5
    slope = density / xp.where(is_low, lower, -upper)
    step = xp.where(is_low, xp.log(p / lower), xp.log((1 - p) / upper)) / slope
    step = step / xp.clip(1 + step * (log_slope - slope) / 2, 0.5, 2)
    return xp.where(xp.isfinite(step), xp.clip(step, -5, 5), 0.0)


def _about_ndtri(p: Array) -> Array:
    found = _about_inverse_of_erf(xp.abs(1 - 2 * p), 2 * xp.minimum(p, 1 - p))
    return xp.copysign(math.sqrt(2) * found, p - 0.5)


def gammaincinv(a: Array, p: Array) -> Array:
    rest = 1 - p
    z = _about_ndtri(p)
    third = 1 / (9 * a)
    normal = a * xp.pow(xp.maximum(1 - third + z * xp.sqrt(third), xp.full_like(z, 1e-3)), 3)
    log_gamma = gammaln(a)
    start = xp.exp((xp.log(p) + log_gamma + xp.log(a)) / a)
    tail = xp.maximum(-xp.log(rest) - log_gamma, xp.ones_like(a))
    start = xp.where((a <= 1) & (tail > 1), xp.maximum(start, tail + (a - 1) * xp.log(tail)), start)
    x = xp.where((a > 1) & (normal > start), normal, start)
    for _ in range(4):
        lower, upper, density = _gammainc(a, x)
        x = x * xp.exp(_step(p, lower, upper, density, a - x))
    is_end = ((p == 0) | (p == 1)) & (a >= 0)
    return xp.where(is_end, xp.where(p == 0, 0.0, math.inf), xp.where((a > 0) & (p > 0) & (p < 1), x, math.nan))


def betaincinv(a: Array, b: Array, p: Array) -> Array:
    rest = 1 - p
    log_beta = betaln(a, b)
    low = (xp.log(p) + xp.log(a) + log_beta) / a
    high = -(xp.log(rest) + xp.log(b) + log_beta) / b
    z = _about_ndtri(p)
    normal = xp.log(a / b) + z * xp.sqrt(1 / a + 1 / b)
    low, high = xp.where(a > 1, xp.maximum(low, normal), low), xp.where(b > 1, xp.minimum(high, normal), high)
    logit = xp.where(p < 0.5, low, high)
    x, y = 1 / (1 + xp.exp(-logit)), 1 / (1 + xp.exp(logit))
    for _ in range(5):
        lower, upper, density = _betainc(a, b, x, y)
        factor = xp.exp(_step(p, lower, upper, density, a * y - b * x))
        x, y = x * factor / (x * factor + y), y / (x * factor + y)
    x = xp.where((a == math.inf) & (b < math.inf), 1.0, xp.where((b == math.inf) & (a < math.inf), 0.0, x))
    is_end = (p == 0) | (p == 1)
    return xp.where((a > 0) & (b > 0) & (p >= 0) & (p <= 1), xp.where(is_end, p, x), math.nan)


# Bessel functions and integrals.

_HALF_TURN: Final = (np.arange(64) + 0.5) * (math.pi / 128)
"""Angles from 0 to a quarter turn: of a periodic function the trapezoidal rule converges exponentially."""


def _mean_over_a_turn(function: Callable[..., Array], x: Array, weights: Any) -> Array:
    """The mean of an even function of the sine of an angle."""
    sines, weights = (xp.asarray(one, dtype=x.dtype) for one in (np.sin(_HALF_TURN), weights))
    return xp.sum(function(xp.expand_dims(x, axis=-1) * sines) * (weights / len(_HALF_TURN)), axis=-1)


def _hankel_terms(order: int) -> list[float]:
    terms = [1.0]
    for k in range(1, 17):
        terms.append(terms[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    return terms


def _hankel(order: int, x: Array) -> Array:
    """A Bessel function of the first kind, by Hankel's expansion."""
    terms = _hankel_terms(order)
    signs = (1, -1) * 8
    inverse = 1 / x
    square = inverse * inverse
    even = _polynomial([s * one for s, one in zip(signs, terms[::2], strict=False)], square)
    odd = inverse * _polynomial([s * one for s, one in zip(signs, terms[1::2], strict=False)], square)
    sine, cosine = xp.sin(x), xp.cos(x)
    near, far = (cosine + sine, sine - cosine) if order == 0 else (sine - cosine, -cosine - sine)
    return (even * near - odd * far) / xp.sqrt(math.pi * x)


def j0(x: Array) -> Array:
    size = xp.abs(x)
    near = _mean_over_a_turn(xp.cos, xp.minimum(size, xp.full_like(x, 26)), np.ones(64))
    return xp.where(size < 26, near, _hankel(0, xp.maximum(size, xp.full_like(x, 26))))


def j1(x: Array) -> Array:
    size = xp.abs(x)
    near = _mean_over_a_turn(xp.sin, xp.minimum(size, xp.full_like(x, 26)), np.sin(_HALF_TURN))
    far = _hankel(1, xp.maximum(size, xp.full_like(x, 26)))
    return xp.where(size < 26, near, far) * xp.sign(x)


def _powers(order: int) -> list[float]:
    """Coefficients of `i0(x)` or `i1(x) * 2 / x`, by powers of `x**2 / 4`."""
    return [1 / (math.factorial(k) * math.factorial(k + order)) for k in range(14)]


def _harmonic(k: int) -> float:
    return float(sum((Fraction(1, j) for j in range(1, k + 1)), Fraction(0))) - _EULER


_K0: Final = [one * _harmonic(k) for k, one in enumerate(_powers(0))]
_K1: Final = [one * (_harmonic(k) + _harmonic(k + 1)) / 2 for k, one in enumerate(_powers(1))]


def k0e(x: Array) -> Array:
    low = xp.minimum(x, xp.ones_like(x))
    square = low * low / 4
    near = _polynomial(_K0, square) - xp.log(low / 2) * _polynomial(_powers(0), square)
    return xp.where(x < 1, near * xp.exp(x), _bessel_of_large(0, x))


def k1e(x: Array) -> Array:
    low = xp.where(x == 0, 1.0, xp.minimum(x, xp.ones_like(x)))
    square, log = low * low / 4, xp.log(low / 2)
    near = 1 / low + (log * _polynomial(_powers(1), square) - _polynomial(_K1, square)) * low / 2
    return xp.where(x == 0, math.inf, xp.where(x < 1, near * xp.exp(x), _bessel_of_large(1, x)))


def _bessel_of_large(order: int, x: Array) -> Array:
    """The scaled modified Bessel function K of an `x` from 1 on."""
    # The integral of exp(-x * cosh(t)) * cosh(order * t), where w**2 is x * (cosh(t) - 1).
    large = xp.expand_dims(xp.maximum(x, xp.ones_like(x)), axis=-1)
    squares, weights = (xp.asarray(one, dtype=x.dtype) for one in (_GAUSS**2, 0.2 * np.exp(-(_GAUSS**2))))
    found = weights * (1 + order * squares / large) / xp.sqrt(0.5 + squares / (4 * large))
    return xp.sum(found, axis=-1) / xp.sqrt(x)


_GAUSS: Final = np.arange(0.1, 6.4, 0.2)


def k0(x: Array) -> Array:
    return k0e(x) * xp.exp(-x)


def k1(x: Array) -> Array:
    return k1e(x) * xp.exp(-x)


_DEBYE: Final = [float(b / math.factorial(2 * k + 1)) for k, b in enumerate(_BERNOULLI, 1)]


def spence(x: Array) -> Array:
    is_large = x > 2
    turned = xp.where(is_large, 1 / xp.where(is_large, x, 1.0), x)
    is_far = turned < 0.5
    logs = -_log1p(xp.where(is_far, -turned, turned - 1))
    square = logs * logs
    found = logs - square / 4 + logs * square * _polynomial(_DEBYE, square)
    # In powers of -log(x), for x near 1; others by the reflection and the inversion of the dilogarithm.
    product = xp.where(turned == 0, 0.0, xp.log(xp.where(turned == 0, 1.0, turned)) * -logs)
    found = xp.where(is_far, math.pi**2 / 6 - product - found, found)
    log = xp.log(xp.where(is_large, x, 1.0))
    return xp.where(x < 0, math.nan, xp.where(is_large, -log * log / 2 - found, found))


def exprel(x: Array) -> Array:
    is_plain = (x != 0) & (x < math.inf)
    return xp.where(x == 0, 1.0, xp.where(is_plain, xp.expm1(x) / xp.where(is_plain, x, 1.0), x))


_EIN: Final = [(-1) ** n / (math.factorial(n + 1) * (n + 1)) for n in range(20)]


def exp1(x: Array) -> Array:
    low = xp.clip(x, 0, 1)
    near = low * _polynomial(_EIN, low) - _EULER - xp.log(low)
    large = xp.maximum(x, xp.ones_like(x))
    (far,) = _integral(
        xp.zeros_like(x), [xp.full_like(x, _LARGEST_FALL)], lambda w: xp.exp(-w) / (xp.expand_dims(large, axis=-1) + w)
    )
    far = xp.exp(-large) * far
    return xp.where(x < 0, math.nan, xp.where(x < 1, near, xp.where(x == math.inf, 0.0, far)))


def expi(x: Array) -> Array:
    middle = xp.clip(x, 0, 40)
    nodes, weights = (xp.asarray(one, dtype=x.dtype) for one in (1 - _NODES, _WEIGHTS))
    wide = xp.expand_dims(middle, axis=-1) * nodes
    near = _EULER + xp.log(middle) + xp.sum(xp.expm1(wide) / nodes * weights, axis=-1)
    large = xp.maximum(x, xp.full_like(x, 40))
    far = xp.exp(large) / large * _polynomial([float(math.factorial(n)) for n in range(40)], 1 / large)
    return xp.where(x < 0, -exp1(-x), xp.where(x < 40, near, xp.where(x == math.inf, x, far)))


def _mean_of_exponentials(order: int, x: Array) -> Array:
    """The scaled modified Bessel function I of positive `x`."""
    low = xp.minimum(x, xp.full_like(x, 40))
    wide = xp.expand_dims(low, axis=-1)
    if order == 0:
        near = _mean_over_a_turn(lambda y: xp.exp(y - wide) / 2 + xp.exp(-y - wide) / 2, low, np.ones(64))
    else:
        near = _mean_over_a_turn(lambda y: xp.exp(y - wide) * xp.expm1(-2 * y) / -2, low, np.sin(_HALF_TURN))
    inverse = 1 / xp.maximum(x, xp.full_like(x, 40))
    terms = [(-1) ** k * one for k, one in enumerate(_hankel_terms(order))]
    return xp.where(x < 40, near, _polynomial(terms, inverse) * xp.sqrt(inverse / (2 * math.pi)))


def i0e(x: Array) -> Array:
    return _mean_of_exponentials(0, xp.abs(x))


def i1e(x: Array) -> Array:
    return xp.copysign(_mean_of_exponentials(1, xp.abs(x)), x)


def i1(x: Array) -> Array:
    return i1e(x) * xp.exp(xp.abs(x))


# Logistic functions, entropies and losses.


def expit(x: Array) -> Array:
    return xp.exp(xp.minimum(x, xp.zeros_like(x))) / (1 + xp.exp(-xp.abs(x)))


def logit(x: Array) -> Array:
    is_middle = xp.abs(x - 0.5) < 0.25
    middle = _log1p(xp.where(is_middle, 2 * x - 1, 0.0) / (1 - x))
    return xp.where(is_middle, middle, xp.log(xp.where(is_middle, 0.5, x)) - _log1p(xp.where(is_middle, -0.5, -x)))


def softplus(x: Array) -> Array:
    return xp.maximum(x, xp.zeros_like(x)) + xp.log1p(xp.exp(-xp.abs(x)))


def log_expit(x: Array) -> Array:
    return -softplus(-x)


def xlogy(x: Array, y: Array) -> Array:
    is_zero = (x == 0) & ~xp.isnan(y)
    return xp.where(is_zero, 0.0, x * xp.log(xp.where(is_zero, 1.0, y)))


def xlog1py(x: Array, y: Array) -> Array:
    is_zero = (x == 0) & ~xp.isnan(y)
    return xp.where(is_zero, 0.0, x * _log1p(xp.where(is_zero, 0.0, y)))


def entr(x: Array) -> Array:
    is_positive = x > 0
    found = -x * xp.log(xp.where(is_positive, x, 1.0))
    return xp.where(is_positive | xp.isnan(x), found, xp.where(x == 0, 0.0, -math.inf))


def _log_ratio(x: Array, y: Array) -> Array:
    """`log(x / y)`, accurate where the ratio is near 1."""
    ratio = x / y
    near = _log1p((x - y) / y)
    return xp.where(
        (ratio > 0.5) & (ratio < 2),
        near,
        xp.where((ratio > 0) & xp.isfinite(ratio), xp.log(ratio), xp.log(x) - xp.log(y)),
    )


def rel_entr(x: Array, y: Array) -> Array:
    is_inside = (x > 0) & (y > 0)
    found = x * _log_ratio(xp.where(is_inside, x, 1.0), xp.where(is_inside, y, 1.0))
    outside = xp.where((x == 0) & (y >= 0), 0.0, math.inf)
    return xp.where(xp.isnan(x) | xp.isnan(y), math.nan, xp.where(is_inside, found, outside))


def kl_div(x: Array, y: Array) -> Array:
    outside = xp.where((x == 0) & (y >= 0), y, math.inf)
    return xp.where(xp.isnan(x) | xp.isnan(y), math.nan, xp.where((x > 0) & (y > 0), rel_entr(x, y) - x + y, outside))


def huber(delta: Array, r: Array) -> Array:
    size = xp.abs(r)
    found = xp.where(size <= delta, r * r / 2, delta * (size - delta / 2))
    return xp.where(delta < 0, math.inf, found)


def pseudo_huber(delta: Array, r: Array) -> Array:
    is_zero = (delta == 0) | (r == 0)
    ratio = r / xp.where(is_zero, 1.0, delta)
    found = xp.where(is_zero, 0.0, r * (r / (1 + xp.hypot(xp.ones_like(ratio), ratio))))
    return xp.where((delta < 0) | (xp.isinf(r) & (delta > 0)), math.inf, found)
