"""Special functions of real numbers, as SciPy has them.

Each function is elementwise: shapes broadcast, and integers are computed in float64. A function is the library's own if
the module that its backend names has it, because it is accurate there; otherwise `_special` computes it in float64.
Derivatives are declared here, so they are the same on each backend. A derivative of None is not supported.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors
from anyarray._call.arguments import as_array, known_shape
from anyarray._call.dispatch import composed
from anyarray.extensions import _special as by
from anyarray.extensions.elementwise import sinc
from anyarray.standard import namespace as xp

__all__ = [
    "beta", "betainc", "betaincinv", "betaln", "binom", "comb", "digamma", "entr", "erf", "erfc", "erfcinv", "erfcx",
    "erfinv", "exp1", "expi", "expit", "exprel", "factorial", "gamma", "gammainc", "gammaincc", "gammaincinv",
    "gammaln", "gammasgn", "huber", "i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "kl_div",
    "log_expit", "log_ndtr", "log_softmax", "logit", "logsumexp", "ndtr", "ndtri", "polygamma", "pseudo_huber",
    "rel_entr", "sinc", "softmax", "softplus", "spence", "xlog1py", "xlogy", "zeta",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
Slope = Callable[..., Any] | None
sc: Any = sys.modules[__name__]
"""This module, for derivatives that call functions which are declared later."""


def _in_float64(function: Callable[..., Any], *xs: Array) -> Array:
    """`function` of arrays in float64, rounded to their own dtype.

    On a device without float64 it is computed in float32.
    """
    own = xp.result_type(*xs)
    wide = xp.float64 if xs[0].device.has_dtype("float64") else xp.float32
    return xp.astype(function(*[xp.astype(x, wide, copy=False) for x in xs]), own, copy=False)


def _elementwise(computed: Callable[..., Array], *slopes: Slope) -> Callable[[F], F]:
    """Declare a function that `computed` computes, with its derivatives."""

    def decorated(declared: F) -> F:
        return composed(
            reads_no_values=True,
            body=functools.partial(_in_float64, computed),
            slopes=[one and functools.partial(_in_float64, one) for one in slopes],
            promotion="wide floats",
            batch="elementwise",
            **dict.fromkeys(declared.__code__.co_varnames, "real floating-point"),
        )(declared)

    return decorated


def _log_gamma_density(a: AnyArray, x: AnyArray) -> Array:
    return xlogy(a - 1, x) - x - gammaln(a)


def _log_beta_density(a: AnyArray, b: AnyArray, x: AnyArray) -> Array:
    return xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b)


def _over(y: AnyArray, x: AnyArray) -> Array:
    """`y / x` of a Bessel function of order 1, which is 1/2 at 0."""
    is_zero = xp.equal(x, 0.0)
    return xp.where(is_zero, 0.5, y / xp.where(is_zero, 1.0, x))


def _slope_of_exprel(x: AnyArray) -> Array:
    is_small = xp.less(xp.abs(x), 0.5)
    series = by._polynomial([(n + 1) / math.factorial(n + 2) for n in range(14)], xp.where(is_small, x, 0.0))
    return xp.where(is_small, series, (xp.exp(x) - exprel(x)) / xp.where(is_small, 1.0, x))


def _slope_of_pseudo_huber(delta: AnyArray, r: AnyArray) -> Array:
    ratio = r / delta
    root = xp.hypot(xp.ones_like(ratio), ratio)
    return xp.multiply(delta * ratio**2, 2 / (1 + root) - 1 / root)


def _slope_of_spence(x: AnyArray) -> Array:
    is_one = xp.equal(x, 1.0)
    return xp.where(is_one, -1.0, xp.log(x) / xp.where(is_one, 1.0, 1 - x))


def _slope_of_gammaincinv(a: AnyArray, y: AnyArray) -> Array:
    x = gammaincinv(a, y)
    return -xp.exp(-_log_gamma_density(a, x)) * gammainc_by_a(a, x)


def _slope_of_betaincinv(by_parameter: Callable[..., Array], a: AnyArray, b: AnyArray, y: AnyArray) -> Array:
    x = betaincinv(a, b, y)
    return -xp.exp(-_log_beta_density(a, b, x)) * by_parameter(a, b, x)


@_elementwise(
    by.beta,
    lambda a, b: sc.beta(a, b) * (sc.digamma(a) - sc.digamma(a + b)),
    lambda a, b: sc.beta(a, b) * (sc.digamma(b) - sc.digamma(a + b)),
)
def beta(a: AnyArray | float, b: AnyArray | float, /) -> Array:
    """The beta function, `gamma(a) * gamma(b) / gamma(a + b)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.beta(2.0, xp.asarray(3.0)):.6f}"
    '0.083333'

    Source: SciPy 1.17, scipy.special.beta.
    """
    ...


@_elementwise(
    by.betainc,
    lambda a, b, x: sc.betainc_by_a(a, b, x),
    lambda a, b, x: sc.betainc_by_b(a, b, x),
    lambda a, b, x: xp.exp(_log_beta_density(a, b, x)),
)
def betainc(a: AnyArray | float, b: AnyArray | float, x: AnyArray | float, /) -> Array:
    """The regularized incomplete beta function.

    It is the integral of `t**(a - 1) * (1 - t)**(b - 1)` from 0 to `x`, divided by `beta(a, b)`, for positive `a` and
    `b` and `x` from 0 to 1.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.betainc(2.0, 3.0, xp.asarray(0.5)):.6f}"
    '0.687500'

    Source: SciPy 1.17, scipy.special.betainc.
    """
    ...


@_elementwise(
    by.betaincinv,
    lambda a, b, y: _slope_of_betaincinv(sc.betainc_by_a, a, b, y),
    lambda a, b, y: _slope_of_betaincinv(sc.betainc_by_b, a, b, y),
    lambda a, b, y: xp.exp(-_log_beta_density(a, b, sc.betaincinv(a, b, y))),
)
def betaincinv(a: AnyArray | float, b: AnyArray | float, y: AnyArray | float, /) -> Array:
    """The `x` at which `betainc(a, b, x)` is `y`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.betaincinv(2.0, 3.0, xp.asarray(0.5)):.6f}"
    '0.385728'

    Source: SciPy 1.17, scipy.special.betaincinv.
    """
    ...


@_elementwise(by.betaln, lambda a, b: sc.digamma(a) - sc.digamma(a + b), lambda a, b: sc.digamma(b) - sc.digamma(a + b))
def betaln(a: AnyArray | float, b: AnyArray | float, /) -> Array:
    """The logarithm of the magnitude of `beta(a, b)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.betaln(2.0, xp.asarray(3.0)):.6f}"
    '-2.484907'

    Source: SciPy 1.17, scipy.special.betaln.
    """
    ...


@_elementwise(
    by.binomial,
    lambda n, k: sc.binom(n, k) * (sc.digamma(n + 1) - sc.digamma(n - k + 1)),
    lambda n, k: sc.binom(n, k) * (sc.digamma(n - k + 1) - sc.digamma(k + 1)),
)
def binom(n: AnyArray | float, k: AnyArray | float, /) -> Array:
    """The binomial coefficient, also of numbers that are not integers.

    It is `1 / ((n + 1) * beta(n - k + 1, k + 1))`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.binom(5.0, xp.asarray(2.0)):.6f}"
    '10.000000'

    Source: SciPy 1.17, scipy.special.binom.
    """
    ...


@_elementwise(by.digamma, lambda x: sc.polygamma(1.0, x))
def digamma(x: AnyArray, /) -> Array:
    """The digamma function, the derivative of `gammaln`.

    It has poles at 0 and the negative integers.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.digamma(xp.asarray(2.0)):.6f}"
    '0.422784'

    Source: SciPy 1.17, scipy.special.digamma.
    """
    ...


@_elementwise(by.entr, lambda x: -xp.log(x) - 1)
def entr(x: AnyArray, /) -> Array:
    """The entropy `-x * log(x)`; 0 for 0, and -infinity for negative `x`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.entr(xp.asarray(0.5)):.6f}"
    '0.346574'

    Source: SciPy 1.17, scipy.special.entr.
    """
    ...


@_elementwise(by.erf, lambda x: 2 / math.sqrt(math.pi) * xp.exp(-x * x))
def erf(x: AnyArray, /) -> Array:
    """The error function.

    It is `2 / sqrt(pi)` times the integral of `exp(-t**2)` from 0 to `x`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.erf(xp.asarray(0.5)):.6f}"
    '0.520500'

    Source: SciPy 1.17, scipy.special.erf.
    """
    ...


@_elementwise(by.erfc, lambda x: -2 / math.sqrt(math.pi) * xp.exp(-x * x))
def erfc(x: AnyArray, /) -> Array:
    """The complementary error function, `1 - erf(x)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.erfc(xp.asarray(0.5)):.6f}"
    '0.479500'

    Source: SciPy 1.17, scipy.special.erfc.
    """
    ...


@_elementwise(by.erfcinv, lambda y: -math.sqrt(math.pi) / 2 * xp.exp(sc.erfcinv(y) ** 2))
def erfcinv(y: AnyArray, /) -> Array:
    """The `x` at which `erfc(x)` is `y`, for `y` from 0 to 2.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.erfcinv(xp.asarray(0.5)):.6f}"
    '0.476936'

    Source: SciPy 1.17, scipy.special.erfcinv.
    """
    ...


@_elementwise(by.erfcx, lambda x: 2 * x * sc.erfcx(x) - 2 / math.sqrt(math.pi))
def erfcx(x: AnyArray, /) -> Array:
    """The scaled complementary error function, `exp(x**2) * erfc(x)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.erfcx(xp.asarray(0.5)):.6f}"
    '0.615690'

    Source: SciPy 1.17, scipy.special.erfcx.
    """
    ...


@_elementwise(by.erfinv, lambda y: math.sqrt(math.pi) / 2 * xp.exp(sc.erfinv(y) ** 2))
def erfinv(y: AnyArray, /) -> Array:
    """The `x` at which `erf(x)` is `y`, for `y` from -1 to 1.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.erfinv(xp.asarray(0.5)):.6f}"
    '0.476936'

    Source: SciPy 1.17, scipy.special.erfinv.
    """
    ...


@_elementwise(by.exp1, lambda x: -xp.exp(-x) / x)
def exp1(x: AnyArray, /) -> Array:
    """The exponential integral E1 of positive `x`.

    It is the integral of `exp(-t) / t` from `x` to infinity.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.exp1(xp.asarray(0.5)):.6f}"
    '0.559774'

    Source: SciPy 1.17, scipy.special.exp1.
    """
    ...


@_elementwise(by.expi, lambda x: xp.exp(x) / x)
def expi(x: AnyArray, /) -> Array:
    """The exponential integral Ei.

    It is the integral of `exp(t) / t` from -infinity to `x`, as a principal value.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.expi(xp.asarray(0.5)):.6f}"
    '0.454220'

    Source: SciPy 1.17, scipy.special.expi.
    """
    ...


@_elementwise(by.expit, lambda x: sc.expit(x) * sc.expit(-x))
def expit(x: AnyArray, /) -> Array:
    """The logistic sigmoid, `1 / (1 + exp(-x))`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.expit(xp.asarray(0.5)):.6f}"
    '0.622459'

    Source: SciPy 1.17, scipy.special.expit.
    """
    ...


@_elementwise(by.exprel, _slope_of_exprel)
def exprel(x: AnyArray, /) -> Array:
    """The relative exponential, `(exp(x) - 1) / x`; 1 for 0.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.exprel(xp.asarray(0.5)):.6f}"
    '1.297443'

    Source: SciPy 1.17, scipy.special.exprel.
    """
    ...


@_elementwise(by.gamma, lambda x: sc.gamma(x) * sc.digamma(x))
def gamma(x: AnyArray, /) -> Array:
    """The gamma function, `(x - 1)!` of a positive integer.

    It has poles at 0 and the negative integers.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.gamma(xp.asarray(4.5)):.6f}"
    '11.631728'

    Source: SciPy 1.17, scipy.special.gamma.
    """
    ...


@_elementwise(by.gammainc, lambda a, x: sc.gammainc_by_a(a, x), lambda a, x: xp.exp(_log_gamma_density(a, x)))
def gammainc(a: AnyArray | float, x: AnyArray | float, /) -> Array:
    """The regularized lower incomplete gamma function.

    It is the integral of `t**(a - 1) * exp(-t)` from 0 to `x`, divided by `gamma(a)`, for positive `a` and `x`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.gammainc(2.0, xp.asarray(0.5)):.6f}"
    '0.090204'

    Source: SciPy 1.17, scipy.special.gammainc.
    """
    ...


@_elementwise(by.gammaincc, lambda a, x: -sc.gammainc_by_a(a, x), lambda a, x: -xp.exp(_log_gamma_density(a, x)))
def gammaincc(a: AnyArray | float, x: AnyArray | float, /) -> Array:
    """The regularized upper incomplete gamma function.

    It is `1 - gammainc(a, x)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.gammaincc(2.0, xp.asarray(0.5)):.6f}"
    '0.909796'

    Source: SciPy 1.17, scipy.special.gammaincc.
    """
    ...


@_elementwise(by.gammaincinv, _slope_of_gammaincinv, lambda a, y: xp.exp(-_log_gamma_density(a, sc.gammaincinv(a, y))))
def gammaincinv(a: AnyArray | float, y: AnyArray | float, /) -> Array:
    """The `x` at which `gammainc(a, x)` is `y`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.gammaincinv(2.0, xp.asarray(0.5)):.6f}"
    '1.678347'

    Source: SciPy 1.17, scipy.special.gammaincinv.
    """
    ...


@_elementwise(by.gammaln, lambda x: sc.digamma(x))
def gammaln(x: AnyArray, /) -> Array:
    """The logarithm of the magnitude of `gamma(x)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.gammaln(xp.asarray(4.5)):.6f}"
    '2.453737'

    Source: SciPy 1.17, scipy.special.gammaln.
    """
    ...


@_elementwise(by.gammasgn, xp.zeros_like)
def gammasgn(x: AnyArray, /) -> Array:
    """The sign of `gamma(x)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.gammasgn(xp.asarray(-0.5)):.6f}"
    '-1.000000'

    Source: SciPy 1.17, scipy.special.gammasgn.
    """
    ...


@_elementwise(by.huber)
def huber(delta: AnyArray | float, r: AnyArray | float, /) -> Array:
    """The Huber loss.

    It is `r**2 / 2` up to a magnitude of `delta`, and `delta * (abs(r) - delta / 2)` beyond.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.huber(1.0, xp.asarray(3.0)):.6f}"
    '2.500000'

    Source: SciPy 1.17, scipy.special.huber.
    """
    ...


@_elementwise(by.i0e, lambda x: sc.i1e(x) - xp.sign(x) * sc.i0e(x))
def i0e(x: AnyArray, /) -> Array:
    """The scaled modified Bessel function `exp(-abs(x)) * i0(x)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.i0e(xp.asarray(0.5)):.6f}"
    '0.645035'

    Source: SciPy 1.17, scipy.special.i0e.
    """
    ...


@_elementwise(by.i1, lambda x: sc.i0(x) - _over(sc.i1(x), x))
def i1(x: AnyArray, /) -> Array:
    """The modified Bessel function of the first kind and order 1.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.i1(xp.asarray(0.5)):.6f}"
    '0.257894'

    Source: SciPy 1.17, scipy.special.i1.
    """
    ...


@_elementwise(by.i1e, lambda x: sc.i0e(x) - xp.sign(x) * sc.i1e(x) - _over(sc.i1e(x), x))
def i1e(x: AnyArray, /) -> Array:
    """The scaled modified Bessel function `exp(-abs(x)) * i1(x)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.i1e(xp.asarray(0.5)):.6f}"
    '0.156421'

    Source: SciPy 1.17, scipy.special.i1e.
    """
    ...


@_elementwise(by.j0, lambda x: -sc.j1(x))
def j0(x: AnyArray, /) -> Array:
    """The Bessel function of the first kind and order 0.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.j0(xp.asarray(0.5)):.6f}"
    '0.938470'

    Source: SciPy 1.17, scipy.special.j0.
    """
    ...


@_elementwise(by.j1, lambda x: sc.j0(x) - _over(sc.j1(x), x))
def j1(x: AnyArray, /) -> Array:
    """The Bessel function of the first kind and order 1.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.j1(xp.asarray(0.5)):.6f}"
    '0.242268'

    Source: SciPy 1.17, scipy.special.j1.
    """
    ...


@_elementwise(by.k0, lambda x: -sc.k1(x))
def k0(x: AnyArray, /) -> Array:
    """The modified Bessel function of the second kind and order 0.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.k0(xp.asarray(0.5)):.6f}"
    '0.924419'

    Source: SciPy 1.17, scipy.special.k0.
    """
    ...


@_elementwise(by.k0e, lambda x: sc.k0e(x) - sc.k1e(x))
def k0e(x: AnyArray, /) -> Array:
    """The scaled modified Bessel function `exp(x) * k0(x)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.k0e(xp.asarray(0.5)):.6f}"
    '1.524109'

    Source: SciPy 1.17, scipy.special.k0e.
    """
    ...


@_elementwise(by.k1, lambda x: -sc.k0(x) - sc.k1(x) / x)
def k1(x: AnyArray, /) -> Array:
    """The modified Bessel function of the second kind and order 1.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.k1(xp.asarray(0.5)):.6f}"
    '1.656441'

    Source: SciPy 1.17, scipy.special.k1.
    """
    ...


@_elementwise(by.k1e, lambda x: sc.k1e(x) - sc.k0e(x) - sc.k1e(x) / x)
def k1e(x: AnyArray, /) -> Array:
    """The scaled modified Bessel function `exp(x) * k1(x)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.k1e(xp.asarray(0.5)):.6f}"
    '2.731010'

    Source: SciPy 1.17, scipy.special.k1e.
    """
    ...


@_elementwise(by.kl_div, lambda x, y: xp.log(x / y), lambda x, y: 1 - x / y)
def kl_div(x: AnyArray | float, y: AnyArray | float, /) -> Array:
    """The Kullback-Leibler divergence, `x * log(x / y) - x + y`.

    It is `y` for `x = 0`, and infinite for negative numbers.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.kl_div(0.5, xp.asarray(1.0)):.6f}"
    '0.153426'

    Source: SciPy 1.17, scipy.special.kl_div.
    """
    ...


@_elementwise(by.log_expit, lambda x: sc.expit(-x))
def log_expit(x: AnyArray, /) -> Array:
    """The logarithm of `expit(x)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.log_expit(xp.asarray(0.5)):.6f}"
    '-0.474077'

    Source: SciPy 1.17, scipy.special.log_expit.
    """
    ...


@_elementwise(by.log_ndtr, lambda x: math.sqrt(2 / math.pi) / sc.erfcx(-x * math.sqrt(0.5)))
def log_ndtr(x: AnyArray, /) -> Array:
    """The logarithm of `ndtr(x)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.log_ndtr(xp.asarray(0.5)):.6f}"
    '-0.368946'

    Source: SciPy 1.17, scipy.special.log_ndtr.
    """
    ...


@_elementwise(by.logit, lambda x: 1 / (x * (1 - x)))
def logit(x: AnyArray, /) -> Array:
    """The inverse of `expit`, `log(x / (1 - x))`, for `x` from 0 to 1.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.logit(xp.asarray(0.25)):.6f}"
    '-1.098612'

    Source: SciPy 1.17, scipy.special.logit.
    """
    ...


@_elementwise(by.ndtr, lambda x: xp.exp(-x * x / 2) / math.sqrt(2 * math.pi))
def ndtr(x: AnyArray, /) -> Array:
    """The distribution function of the standard normal distribution.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.ndtr(xp.asarray(0.5)):.6f}"
    '0.691462'

    Source: SciPy 1.17, scipy.special.ndtr.
    """
    ...


@_elementwise(by.ndtri, lambda y: math.sqrt(2 * math.pi) * xp.exp(sc.ndtri(y) ** 2 / 2))
def ndtri(y: AnyArray, /) -> Array:
    """The `x` at which `ndtr(x)` is `y`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.ndtri(xp.asarray(0.25)):.6f}"
    '-0.674490'

    Source: SciPy 1.17, scipy.special.ndtri.
    """
    ...


@_elementwise(by.polygamma, None, lambda n, x: sc.polygamma(n + 1, x))
def polygamma(n: AnyArray | float, x: AnyArray | float, /) -> Array:
    """The derivative of order `n` of `digamma`, for integers `n` from 0 on.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.polygamma(1.0, xp.asarray(2.0)):.6f}"
    '0.644934'

    Source: SciPy 1.17, scipy.special.polygamma.
    """
    ...


@_elementwise(
    by.pseudo_huber,
    _slope_of_pseudo_huber,
    lambda delta, r: r / xp.hypot(xp.ones_like(r), r / delta),
)
def pseudo_huber(delta: AnyArray | float, r: AnyArray | float, /) -> Array:
    """The Pseudo-Huber loss, `delta**2 * (sqrt(1 + (r / delta)**2) - 1)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.pseudo_huber(1.0, xp.asarray(3.0)):.6f}"
    '2.162278'

    Source: SciPy 1.17, scipy.special.pseudo_huber.
    """
    ...


@_elementwise(by.rel_entr, lambda x, y: xp.log(x / y) + 1, lambda x, y: -x / y)
def rel_entr(x: AnyArray | float, y: AnyArray | float, /) -> Array:
    """The relative entropy, `x * log(x / y)`.

    It is 0 for `x = 0`, and infinite for negative numbers.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.rel_entr(0.5, xp.asarray(1.0)):.6f}"
    '-0.346574'

    Source: SciPy 1.17, scipy.special.rel_entr.
    """
    ...


@_elementwise(by.softplus, lambda x: sc.expit(x))
def softplus(x: AnyArray, /) -> Array:
    """A smooth approximation of `max(x, 0)`, `log(1 + exp(x))`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.softplus(xp.asarray(0.5)):.6f}"
    '0.974077'

    Source: SciPy 1.17, scipy.special.softplus.
    """
    ...


@_elementwise(by.spence, _slope_of_spence)
def spence(x: AnyArray, /) -> Array:
    """Spence's function, the dilogarithm of `1 - x`.

    It is the integral of `log(t) / (1 - t)` from 1 to `x`, for `x` from 0 on.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.spence(xp.asarray(0.5)):.6f}"
    '0.582241'

    Source: SciPy 1.17, scipy.special.spence.
    """
    ...


@_elementwise(by.xlog1py, lambda x, y: xp.log1p(y), lambda x, y: x / (1 + y))
def xlog1py(x: AnyArray | float, y: AnyArray | float, /) -> Array:
    """`x * log1p(y)`; 0 for `x = 0`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.xlog1py(2.0, xp.asarray(0.5)):.6f}"
    '0.810930'

    Source: SciPy 1.17, scipy.special.xlog1py.
    """
    ...


@_elementwise(by.xlogy, lambda x, y: xp.log(y), lambda x, y: x / y)
def xlogy(x: AnyArray | float, y: AnyArray | float, /) -> Array:
    """`x * log(y)`; 0 for `x = 0`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.xlogy(2.0, xp.asarray(0.5)):.6f}"
    '-1.386294'

    Source: SciPy 1.17, scipy.special.xlogy.
    """
    ...


@_elementwise(by.zeta, lambda x, q: sc.zeta_by_x(x, q), lambda x, q: -x * sc.hurwitz_zeta(x + 1, q))
def hurwitz_zeta(x: AnyArray | float, q: AnyArray | float, /) -> Array:
    """The zeta function of Hurwitz."""
    ...


@_elementwise(by.riemann, lambda x: sc.riemann_by_x(x))
def riemann_zeta(x: AnyArray, /) -> Array:
    """The zeta function of Riemann."""
    ...


# Derivatives by parameters, of the first order alone.


@_elementwise(by.gammainc_slope, None, lambda a, x: xp.exp(_log_gamma_density(a, x)) * (xp.log(x) - sc.digamma(a)))
def gammainc_by_a(a: AnyArray, x: AnyArray, /) -> Array:
    """The derivative of `gammainc` by `a`."""
    ...


@_elementwise(
    functools.partial(by.betainc_slopes, 0),
    None,
    None,
    lambda a, b, x: xp.exp(_log_beta_density(a, b, x)) * (xp.log(x) - sc.digamma(a) + sc.digamma(a + b)),
)
def betainc_by_a(a: AnyArray, b: AnyArray, x: AnyArray, /) -> Array:
    """The derivative of `betainc` by `a`."""
    ...


@_elementwise(
    functools.partial(by.betainc_slopes, 1),
    None,
    None,
    lambda a, b, x: xp.exp(_log_beta_density(a, b, x)) * (xp.log1p(-x) - sc.digamma(b) + sc.digamma(a + b)),
)
def betainc_by_b(a: AnyArray, b: AnyArray, x: AnyArray, /) -> Array:
    """The derivative of `betainc` by `b`."""
    ...


@_elementwise(by.zeta_slope, None, lambda x, q: -sc.hurwitz_zeta(x + 1, q) - x * sc.zeta_by_x(x + 1, q))
def zeta_by_x(x: AnyArray, q: AnyArray, /) -> Array:
    """The derivative of `hurwitz_zeta` by `x`."""
    ...


@_elementwise(by.riemann_slope, None)
def riemann_by_x(x: AnyArray, /) -> Array:
    """The derivative of `riemann_zeta`."""
    ...


def i0(x: AnyArray, /) -> Array:
    """The modified Bessel function of the first kind and order 0.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.i0(xp.asarray(0.5)):.6f}"
    '1.063483'

    Source: SciPy 1.17, scipy.special.i0.
    """
    root = xp.exp(xp.abs(x) / 2)  # in two factors, as their product may overflow before the result
    return i0e(x) * root * root


def zeta(x: AnyArray | float, q: AnyArray | float | None = None) -> Array:
    """Riemann's zeta function, or Hurwitz's with `q`.

    It is the sum of `(k + q)**-x` over all `k` from 0 on; `q` is 1 by default.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.zeta(xp.asarray(2.0)):.6f}"
    '1.644934'

    Source: SciPy 1.17, scipy.special.zeta.
    """
    return riemann_zeta(x) if q is None else hurwitz_zeta(x, q)  # type: ignore[arg-type]


def _refuse_exact(function: str, exact: bool) -> None:
    if exact:
        raise errors.ArgumentValueError(
            f"{function}: exact must be False, as integers of any size are no Arrays. Use scipy.special.{function}"
        )


def factorial(n: AnyArray | float, exact: bool = False, extend: Literal["zero"] = "zero") -> Array:
    """The factorial of `n` as a floating-point number, `gamma(n + 1)`.

    It is 0 for negative `n`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> sc.factorial(xp.asarray([3, 5])).tolist()
    [6.0, 120.0]

    Source: SciPy 1.17, scipy.special.factorial.
    """
    _refuse_exact("factorial", exact)
    if extend != "zero":
        raise errors.ArgumentValueError(f'factorial: extend must be "zero", not {extend!r}. Use gamma(n + 1)')
    n = xp.asarray(n)
    is_small = n < 1  # n + 1 may be rounded, which loses digits for a large n
    return xp.where(n < 0, 0.0, gamma(xp.where(is_small, xp.where(n < 0, 0, n) + 1.0, n)) * xp.where(is_small, 1.0, n))


def comb(N: AnyArray | float, k: AnyArray | float, *, exact: bool = False, repetition: bool = False) -> Array:  # noqa: N803 - SciPy's name
    """The number of ways to choose `k` of `N` things, a floating-point number.

    It is 0 where `k` is negative or above `N`. With `repetition`, a thing may be chosen more than once.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> sc.comb(xp.asarray([4, 5]), 2).tolist()
    [6.0, 10.0]

    Source: SciPy 1.17, scipy.special.comb.
    """
    _refuse_exact("comb", exact)
    n, k = xp.asarray(N), xp.asarray(k)
    if repetition:
        return xp.where((k == 0) & (n == 0), 1.0, comb(n + k - 1, k))
    return xp.where((k <= n) & (n >= 0) & (k >= 0), binom(n, k), 0.0)


def _largest(x: Array, axis: Any) -> Array:
    """The largest elements along `axis`; 0 for infinite ones and for none."""
    if 0 in known_shape(x):
        return xp.sum(x, axis=axis, keepdims=True)
    found = xp.max(x, axis=axis, keepdims=True)
    return xp.where(xp.isfinite(found), found, 0.0)


@composed(reads_no_values=True, x="real floating-point")
def softmax(x: AnyArray, axis: int | tuple[int, ...] | None = None) -> Array:
    """`exp(x)`, divided by its sum along `axis`; by default, along all axes.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> sc.softmax(xp.asarray([1.0, 1.0])).tolist()
    [0.5, 0.5]

    Source: SciPy 1.17, scipy.special.softmax.
    """
    powers = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return powers / xp.sum(powers, axis=axis, keepdims=True)


@composed(reads_no_values=True, x="real floating-point")
def log_softmax(x: AnyArray, axis: int | tuple[int, ...] | None = None) -> Array:
    """The logarithm of `softmax(x, axis)`.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.log_softmax(xp.asarray([1.0, 1.0]))[0]:.6f}"
    '-0.693147'

    Source: SciPy 1.17, scipy.special.log_softmax.
    """
    rest = x - _largest(x, axis)  # type: ignore[arg-type]
    return rest - xp.log(xp.sum(xp.exp(rest), axis=axis, keepdims=True))


@overload
def logsumexp(
    a: AnyArray,
    axis: int | tuple[int, ...] | None = None,
    b: AnyArray | float | None = None,
    keepdims: bool = False,
    return_sign: Literal[False] = False,
) -> Array: ...
@overload
def logsumexp(
    a: AnyArray,
    axis: int | tuple[int, ...] | None = None,
    b: AnyArray | float | None = None,
    keepdims: bool = False,
    *,
    return_sign: Literal[True],
) -> tuple[Array, Array]: ...
def logsumexp(
    a: AnyArray,
    axis: int | tuple[int, ...] | None = None,
    b: AnyArray | float | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any:
    """The logarithm of the sum of `b * exp(a)` along `axis`, without overflow.

    By default, `axis` means all axes and `b` is 1. With `return_sign`, the sum may be negative: the results are the
    logarithm of its magnitude, and its sign.

    >>> import anyarray as xp
    >>> from anyarray import special as sc
    >>> f"{sc.logsumexp(xp.asarray([1000.0, 1000.0])):.4f}"
    '1000.6931'

    Source: SciPy 1.17, scipy.special.logsumexp.
    """
    a = as_array("logsumexp", "a", a)
    weights = None if b is None else as_array("logsumexp", "b", b)
    if weights is not None:
        a, weights = xp.broadcast_arrays(a, weights)
    found, sign = log_of_sum(a, weights, axis, keepdims=keepdims)
    return (found, sign) if return_sign else xp.where(sign < 0, math.nan, found)


@composed(reads_no_values=True, a="real floating-point", b="real numeric")
def log_of_sum(
    a: AnyArray, b: AnyArray | None, axis: int | tuple[int, ...] | None, *, keepdims: bool
) -> tuple[Array, Array]:
    """The logarithm of the size of a sum of exponentials, and its sign."""
    if b is None:
        shift = _largest(a, axis)  # type: ignore[arg-type]
        is_top = xp.equal(a, shift)
        top = xp.sum(xp.astype(is_top, a.dtype), axis=axis, keepdims=True)
        rest = xp.sum(xp.where(is_top, 0.0, xp.exp(a - shift)), axis=axis, keepdims=True)
        has_top, is_zero = top > 0, (top == 0) & (rest == 0)
        safe = xp.where(has_top, top, xp.where(is_zero, 1.0, rest))
        log = xp.log(safe) + xp.where(has_top, xp.log1p(rest / safe), xp.where(is_zero, -math.inf, 0.0))
        sign = xp.sign(top + rest)
    else:
        a = xp.where(xp.equal(b, 0), -math.inf, a)
        shift = _largest(a, axis)
        total = xp.sum(b * xp.exp(a - shift), axis=axis, keepdims=True)
        log, sign = xp.log(xp.abs(total)), xp.sign(total)
    found = log + shift
    axes = tuple(range(found.ndim)) if axis is None else axis
    return (found, sign) if keepdims else (xp.squeeze(found, axis=axes), xp.squeeze(sign, axis=axes))
