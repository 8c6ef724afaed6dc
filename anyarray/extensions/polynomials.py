"""Polynomials: vectors of coefficients, the highest power first."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any, Final, Literal

import numpy as np

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors
from anyarray._call.arguments import as_array, as_integer, known_shape
from anyarray._call.dispatch import composed
from anyarray._call.wrapping import is_array
from anyarray.extensions._axes import known, own_array
from anyarray.extensions.correlation import convolve
from anyarray.extensions.linalg import lstsq
from anyarray.extensions.manipulation import atleast_1d, trim_zeros
from anyarray.extensions.products import vander
from anyarray.standard import namespace as xp

__all__ = [
    "poly", "poly1d", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots",
]  # fmt: skip


@composed(own="numpy cupy", p="numeric", x="numeric", reads_no_values=True)
def polyval(p: AnyArray, x: AnyArray) -> Array:
    """Values of a polynomial at `x`.

    `p` has the shape (n,), and the result has the shape of `x`.

    >>> import anyarray as xp
    >>> xp.polyval(xp.asarray([3, 0, 1]), xp.asarray([1, 2])).tolist()
    [4, 13]

    Source: NumPy 2.4, numpy.polyval.
    """
    found = xp.zeros_like(x, dtype=xp.result_type(p, x))
    for one in xp.unstack(p):
        found = found * x + one
    return found


@composed(own="numpy cupy", a1="numeric", a2="numeric", reads_no_values=True)
def polyadd(a1: AnyArray, a2: AnyArray) -> Array:
    """Sum of two polynomials.

    >>> import anyarray as xp
    >>> xp.polyadd(xp.asarray([1, 2]), xp.asarray([9, 5, 4])).tolist()
    [9, 6, 6]

    Source: NumPy 2.4, numpy.polyadd.
    """
    first, second = _of_one_length(a1, a2)
    return first + second


@composed(own="numpy cupy", a1="numeric", a2="numeric", reads_no_values=True)
def polysub(a1: AnyArray, a2: AnyArray) -> Array:
    """Difference of two polynomials.

    >>> import anyarray as xp
    >>> xp.polysub(xp.asarray([2, 10, -2]), xp.asarray([3, 10, -4])).tolist()
    [-1, 0, 2]

    Source: NumPy 2.4, numpy.polysub.
    """
    first, second = _of_one_length(a1, a2)
    return first - second


def _of_one_length(a1: AnyArray, a2: AnyArray) -> tuple[Array, Array]:
    """Both with zeros in front, for the powers that only the other has."""
    first, second = atleast_1d(a1), atleast_1d(a2)
    length = max(first.shape[0], second.shape[0])
    return _extended(first, length), _extended(second, length)


def _extended(p: Array, length: int) -> Array:
    more = length - p.shape[0]
    return xp.concat([xp.zeros((more,), dtype=p.dtype), p]) if more else p


@composed(own="numpy cupy")
def polymul(a1: AnyArray, a2: AnyArray) -> Array:
    """Product of two polynomials, without leading zeros.

    The shape of the result depends on values, so this does not work inside `xp.jit`.

    >>> import anyarray as xp
    >>> xp.polymul(xp.asarray([1, 2, 3]), xp.asarray([9, 5, 1])).tolist()
    [9, 23, 38, 17, 3]

    Source: NumPy 2.4, numpy.polymul.
    """
    first, second = _without_leading_zeros("polymul", "a1", a1), _without_leading_zeros("polymul", "a2", a2)
    return convolve(first, second)


def _coefficients(function: str, parameter: str, value: AnyArray) -> Array:
    """A vector of coefficients; of a 0-d array, it has one.

    Raises ValueError for more axes.
    """
    array = as_array(function, parameter, value)
    if array.ndim > 1:
        raise errors.ArgumentValueError(f"{function}: {parameter} must have 1 axis, not {array.ndim}")
    found: Array = atleast_1d(value)
    return found


def _without_leading_zeros(function: str, parameter: str, value: AnyArray) -> Array:
    found = trim_zeros(_coefficients(function, parameter, value), "f")
    return found if found.shape[0] else xp.zeros((1,), dtype=found.dtype)


@composed(own="numpy cupy", u="numeric", v="numeric")
def polydiv(u: AnyArray, v: AnyArray) -> tuple[Array, Array]:
    """Quotient and remainder of two polynomials.

    The shape of the remainder depends on values, so this does not work inside `xp.jit`.

    >>> import anyarray as xp
    >>> [p.tolist() for p in xp.polydiv(xp.asarray([3.0, 5.0, 2.0]), xp.asarray([2.0, 1.0]))]
    [[1.5, 1.75], [0.25]]

    Source: NumPy 2.4, numpy.polydiv.
    """
    dtype = xp.result_type(u, v, 0.0)
    rest, divisor = xp.astype(atleast_1d(u), dtype), xp.astype(atleast_1d(v), dtype)
    m, n = rest.shape[0] - 1, divisor.shape[0] - 1
    scale = 1.0 / divisor[0]
    quotient: list[Array] = []
    for k in range(m - n + 1):
        factor = scale * rest[k]
        quotient.append(factor)
        rest = xp.concat([rest[:k], rest[k : k + n + 1] - factor * divisor, rest[k + n + 1 :]])
    values = np.asarray(rest)
    start = 0
    while start < len(values) - 1 and np.allclose(values[start], 0, rtol=1e-14):
        start += 1
    return xp.stack(quotient) if quotient else xp.zeros((1,), dtype=dtype), rest[start:]


def polyder(p: AnyArray, m: int = 1) -> Array:
    """The derivative of order `m` of a polynomial.

    Raises ValueError if `m` is negative.

    >>> import anyarray as xp
    >>> xp.polyder(xp.asarray([1, 1, 1, 1])).tolist()
    [3, 2, 1]

    Source: NumPy 2.4, numpy.polyder.
    """
    order = as_integer("polyder", "m", m)
    if order < 0:
        raise errors.ArgumentValueError(f"polyder: m must not be negative, but is {m}. Use xp.polyint")
    array = own_array("polyder", "p", p)
    return _derivative(array, order) if order else array


def _derived(p: AnyArray, m: int) -> Array:
    """The derivative of order `m`, at least 1."""
    found = as_array("polyder", "p", p)
    for _ in range(m):
        found = found[:-1] * xp.asarray(np.arange(found.shape[0] - 1, 0, -1))
    return found


_derived.__name__ = "polyder"
_derivative: Final = composed(own="numpy cupy", reads_no_values=True)(_derived)


def polyint(p: AnyArray, m: int = 1, k: AnyArray | complex | None = None) -> Array:
    """The integral of order `m` of a polynomial.

    `k` is the constant of integration, or a vector of `m` constants, the first integral first; None means zeros.
    Raises ValueError if `m` is negative, or if there are too few constants.

    >>> import anyarray as xp
    >>> xp.polyint(xp.asarray([6, 2])).tolist()
    [3.0, 2.0, 0.0]

    Source: NumPy 2.4, numpy.polyint.
    """
    order = as_integer("polyint", "m", m)
    if order < 0:
        raise errors.ArgumentValueError(f"polyint: m must not be negative, but is {m}. Use xp.polyder")
    found = own_array("polyint", "p", p)
    constants = xp.asarray([0.0]) if k is None else atleast_1d(xp.asarray(k))
    if constants.shape[0] == 1 and order > 1:
        constants = xp.broadcast_to(constants, (order,))
    if constants.shape[0] < order:
        raise errors.ArgumentValueError(
            f"polyint: k must be a number or hold {order} of them, but holds {constants.shape[0]}"
        )
    return _integral(found, order, constants) if order else found


def _integrated(p: AnyArray, m: int, k: AnyArray) -> Array:
    """The integral of order `m`, at least 1, with a vector of constants."""
    found, constants = as_array("polyint", "p", p), as_array("polyint", "k", k)
    for i in range(m):
        divisors = xp.asarray(np.arange(found.shape[0], 0, -1))
        found = xp.concat([found / divisors, constants[i : i + 1]])
    return found


_integrated.__name__ = "polyint"
_integral: Final = composed(own="numpy cupy", reads_no_values=True)(_integrated)


def polyfit(
    x: AnyArray,
    y: AnyArray,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: AnyArray | None = None,
    cov: bool | Literal["unscaled"] = False,
) -> Any:
    """The polynomial of degree `deg` that fits points, by least squares.

    `x` and the weights `w` have the shape (n,), `y` (n,) or (n, k), the coefficients (deg + 1,) or (deg + 1, k).
    `full=True` also returns the residuals, the rank, the singular values and `rcond`, as `linalg.lstsq` does.
    `cov=True` also returns the covariance matrix of the coefficients; "unscaled" does not scale it by the residuals.
    NumPy's RankWarning is issued if points are too few or too close.
    Raises TypeError for shapes that do not fit, ValueError if `deg` is negative.

    >>> import anyarray as xp
    >>> xp.round(xp.polyfit(xp.asarray([0.0, 1.0, 2.0]), xp.asarray([1.0, 3.0, 5.0]), 1)).tolist()
    [2.0, 1.0]

    Source: NumPy 2.4, numpy.polyfit.
    """
    degree = as_integer("polyfit", "deg", deg)
    if degree < 0:
        raise errors.ArgumentValueError(f"polyfit: deg must not be negative, but is {deg}")
    places, values = as_array("polyfit", "x", x) + 0.0, as_array("polyfit", "y", y) + 0.0
    if places.ndim != 1 or not places.size or values.ndim not in (1, 2) or values.shape[0] != places.shape[0]:
        raise errors.ArgumentTypeError(
            "polyfit: x must be a vector of at least one element, and y of the same length with one axis or two, but "
            f"the shapes are {places.shape} and {values.shape}"
        )
    order, length = degree + 1, places.shape[0]
    cut = length * xp.finfo(places.dtype).eps if rcond is None else rcond
    weights = None if w is None else as_array("polyfit", "w", w) + 0.0
    if weights is not None and known_shape(weights) != known_shape(places):
        raise errors.ArgumentTypeError(f"polyfit: w must be of the shape of x, {places.shape}, not {weights.shape}")
    lhs, scale = scaled_powers(places, weights, order)
    rhs = values if weights is None else values * (weights[:, None] if values.ndim == 2 else weights)
    found, residuals, rank, singular = lstsq(lhs, rhs, cut)
    found = found / (scale[:, None] if found.ndim == 2 else scale)
    if full:
        return found, residuals, rank, singular, cut
    if known(rank) not in (None, order):
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    if not cov:
        return found
    covariance = xp.linalg.inv(xp.matmul(lhs.T, lhs)) / (scale[:, None] * scale)
    if cov != "unscaled":
        if length <= order:
            raise errors.ArgumentValueError(
                f"polyfit: x must have more than {order} elements for a scaled covariance matrix, not {length}. Use "
                'cov="unscaled"'
            )
        factor = residuals / (length - order)
        covariance = covariance * factor if values.ndim == 1 else covariance[:, :, None] * factor
    elif values.ndim == 2:
        covariance = covariance[:, :, None]
    return found, covariance


@composed(reads_no_values=True)
def scaled_powers(x: AnyArray, w: AnyArray | None, order: int) -> tuple[Array, Array]:
    """The left side of the equations of `polyfit`, and its scale.

    Its columns were divided by that.
    """
    powers = vander(x, order)
    if w is not None:
        powers = powers * xp.expand_dims(w, 1)
    scale = xp.sqrt(xp.sum(powers * powers, axis=0))
    return powers / scale, scale


def poly(seq_of_zeros: AnyArray) -> Array:
    """The polynomial with these roots; of a matrix, the characteristic one.

    The coefficients are real if the roots are real or come in conjugate pairs, except inside `xp.jit`.
    Raises ValueError unless `seq_of_zeros` is a vector or a square matrix.

    >>> import anyarray as xp
    >>> xp.poly(xp.asarray([1.0, -1.0])).tolist()
    [1.0, 0.0, -1.0]

    Source: NumPy 2.4, numpy.poly.
    """
    zeros = atleast_1d(as_array("poly", "seq_of_zeros", seq_of_zeros))
    lengths = known_shape(zeros)
    if zeros.ndim == 2 and (None in lengths or lengths[0] == lengths[1] != 0):
        is_real = zeros.dtype.kind != "c"
        zeros = xp.linalg.eigvals(zeros)
    elif zeros.ndim == 1:
        is_real = False
        zeros = zeros if zeros.dtype.kind in "fc" else xp.astype(zeros, xp.float64)
    else:
        raise errors.ArgumentValueError(
            f"poly: seq_of_zeros must be a vector or a square matrix, but is of shape {zeros.shape}"
        )
    found = polynomial_with_roots(zeros)
    if zeros.dtype.kind != "c" or not zeros.shape[0]:
        return found if zeros.shape[0] else xp.reshape(found, ())
    values = known(zeros)
    if values is not None:
        is_real = np.array_equal(np.sort(values), np.sort(values.conj()))
    return xp.real(found) if is_real else found


@composed(reads_no_values=True)
def polynomial_with_roots(zeros: AnyArray) -> Array:
    """The coefficients of a polynomial with these roots."""
    found = xp.ones((1,), dtype=zeros.dtype)
    end = xp.zeros((1,), dtype=zeros.dtype)
    for one in xp.unstack(zeros):
        found = xp.concat([found, end]) - one * xp.concat([end, found])
    return found


@composed(own="numpy cupy")
def roots(p: AnyArray) -> Array:
    """The roots of a polynomial, as eigenvalues of its companion matrix.

    The result is real if all roots are. Their number depends on values, so the function does not work inside `xp.jit`.
    Raises ValueError unless `p` has one axis.

    >>> import anyarray as xp
    >>> xp.round(xp.roots(xp.asarray([1.0, -3.0, 2.0]))).tolist()
    [2.0, 1.0]

    Source: NumPy 2.4, numpy.roots.
    """
    given = _coefficients("roots", "p", p)
    stripped = trim_zeros(given)
    if not stripped.shape[0]:
        return xp.zeros((0,))
    at_zero = given.shape[0] - trim_zeros(given, "b").shape[0]
    found = stripped if stripped.dtype.kind in "fc" else xp.astype(stripped, xp.float64)
    degree = found.shape[0] - 1
    if not degree:
        return xp.zeros((at_zero,))
    first = -found[1:] / found[0]
    companion = xp.concat([first[None, :], xp.eye(degree - 1, degree, dtype=found.dtype)])
    zeros = xp.linalg.eigvals(companion)
    if found.dtype.kind == "f" and not np.any(np.asarray(xp.imag(zeros))):
        zeros = xp.real(zeros)
    return xp.concat([zeros, xp.zeros((at_zero,), dtype=zeros.dtype)]) if at_zero else zeros


class poly1d:  # noqa: N801 - NumPy's name
    """A polynomial in one variable.

    A call evaluates the polynomial, and operators combine polynomials. `c_or_r` holds the coefficients, or the roots if
    `r` is True. As in NumPy, p[k] is the coefficient of the power k, and a division returns quotient and remainder.
    Leading zeros are removed, so the class does not work inside `xp.jit`.

    >>> import anyarray as xp
    >>> p = xp.poly1d(xp.asarray([1, 2, 3]))
    >>> p(2).tolist(), (p * p).coeffs.tolist()
    (11, [1, 4, 10, 12, 9])

    Source: NumPy 2.4, numpy.poly1d.
    """

    __hash__ = None  # type: ignore[assignment]  # as polynomials compare equal by value
    __array_ufunc__ = None  # an ndarray on the left leaves its operators to ours

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        given = c_or_r.coeffs if isinstance(c_or_r, poly1d) else xp.asarray(c_or_r)
        self.coeffs: Array = _without_leading_zeros("poly1d", "c_or_r", poly(given) if r else given)
        """The coefficients, the one of the highest power first."""
        self.variable = variable or getattr(c_or_r, "variable", "x")
        """The name of the variable."""

    @property
    def order(self) -> int:
        """The degree."""
        return self.coeffs.shape[0] - 1

    @property
    def roots(self) -> Array:
        """The roots."""
        return roots(self.coeffs)

    c = coef = coefficients = property(lambda self: self.coeffs)
    o = property(lambda self: self.order)
    r = property(lambda self: self.roots)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.coeffs.__array__(dtype, copy)

    def __call__(self, val: Any) -> Any:
        """Values at `val`, or the polynomial of another one."""
        if isinstance(val, poly1d):
            found = poly1d(xp.zeros((1,), dtype=self.coeffs.dtype))
            for one in xp.unstack(self.coeffs):
                found = found * val + poly1d(one)
            return found
        return polyval(self.coeffs, val if is_array(val) else xp.asarray(val))

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[Array]:
        return iter(self.coeffs)

    def __getitem__(self, power: int) -> Array:
        at = self.order - power
        return self.coeffs[at] if power >= 0 <= at else xp.zeros((), dtype=self.coeffs.dtype)

    def __neg__(self) -> poly1d:
        return poly1d(-self.coeffs)

    def __pos__(self) -> poly1d:
        return self

    def __add__(self, other: Any) -> poly1d:
        return poly1d(polyadd(self.coeffs, poly1d(other).coeffs))

    __radd__ = __add__

    def __sub__(self, other: Any) -> poly1d:
        return poly1d(polysub(self.coeffs, poly1d(other).coeffs))

    def __rsub__(self, other: Any) -> poly1d:
        return poly1d(other) - self

    def __mul__(self, other: Any) -> poly1d:
        return poly1d(polymul(self.coeffs, poly1d(other).coeffs))

    __rmul__ = __mul__

    def __pow__(self, power: int) -> poly1d:
        if power != math.floor(power) or power < 0:
            raise errors.ArgumentValueError(f"poly1d: the exponent must be a non-negative integer, not {power}")
        found = poly1d([1])
        for _ in range(int(power)):
            found = found * self
        return found

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, poly1d):
            quotient, rest = polydiv(self.coeffs, other.coeffs)
            return poly1d(quotient), poly1d(rest)
        return poly1d(self.coeffs / other)

    def __rtruediv__(self, other: Any) -> Any:
        return poly1d(other) / self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, poly1d):
            return NotImplemented
        return self.coeffs.shape == other.coeffs.shape and bool(xp.all(self.coeffs == other.coeffs))

    def deriv(self, m: int = 1) -> poly1d:
        """The derivative of order `m`."""
        return poly1d(polyder(self.coeffs, m))

    def integ(self, m: int = 1, k: AnyArray | complex | None = 0) -> poly1d:
        """The integral of order `m`, with constants `k`."""
        return poly1d(polyint(self.coeffs, m, k))

    def __repr__(self) -> str:
        return f"poly1d({self.coeffs.tolist()})"

    def __str__(self) -> str:
        return str(np.poly1d(np.asarray(self.coeffs), variable=self.variable))
