"""The quantiles of the normal distribution, in functions of the standard."""

from __future__ import annotations

from typing import Final

from anyarray._array.array import Array
from anyarray._base.dtypes import float32
from anyarray.standard import namespace as xp


def normal_quantile(centred: Array, tail: Array) -> Array:
    """The number below which a normal number is with a probability.

    `centred` is the probability less a half, `tail` the smaller of it and its complement, which need not lose digits.
    By algorithm AS 241 of Wichura (1988): to some 16 digits, or 7 in float32, whose tails end before the third part.
    """
    is_narrow = centred.dtype is float32
    of_centre, of_near = (_CENTRE_32, _NEAR_32) if is_narrow else (_CENTRE, _NEAR)
    is_central = xp.abs(centred) <= 0.425
    central = centred * _ratio(0.180625 - xp.where(is_central, centred * centred, 0.0), of_centre)
    root = xp.sqrt(-xp.log(xp.where(is_central, 0.5, tail)))
    if is_narrow:
        beyond = _ratio(root - 1.6, of_near)
    else:
        is_near = root <= 5
        near = _ratio(xp.where(is_near, root, 2.0) - 1.6, of_near)
        beyond = xp.where(is_near, near, _ratio(xp.where(is_near, 6.0, root) - 5, _FAR))
    return xp.where(is_central, central, xp.copysign(beyond, centred))


def _ratio(x: Array, coefficients: tuple[tuple[float, ...], tuple[float, ...]]) -> Array:
    """The quotient of two polynomials."""
    over, under = (_polynomial(x, one) for one in coefficients)
    return over / under


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    *lower, before, last = coefficients
    total = x * last + before
    for factor in reversed(lower):
        total = total * x + factor
    return total


_CENTRE: Final = (
    (3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
     45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727),
    (1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867,
     39307.895800092710610, 28729.085735721942674, 5226.4952788528545610),
)  # fmt: skip
_NEAR: Final = (
    (1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
     1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550, 0.148103976427480074590,
     0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip
_FAR: Final = (
    (6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230,
     0.0265321895265761230930, 0.00124266094738807843860, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip
_CENTRE_32: Final = (
    (3.3871327179, 50.434271938, 159.29113202, 59.109374720), (1.0, 17.895169469, 78.757757664, 67.187563600),
)  # fmt: skip
_NEAR_32: Final = (
    (1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103), (1.0, 0.73700164250, 0.12021132975),
)  # fmt: skip
"""Coefficients of numerator and denominator, from the constant on."""
