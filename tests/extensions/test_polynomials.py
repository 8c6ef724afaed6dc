"""Polynomials, against NumPy's."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from against_numpy import Case

import anyarray as xp

pytestmark = pytest.mark.few_backends

V: Final = np.asarray([1.0, -5.0, 2.5])
INTS: Final = np.asarray([3, 0, 1])
F32: Final = V.astype(np.float32)
C: Final = np.asarray([1 + 2j, 3])
X: Final = np.linspace(0.0, 2.0, 9)
Y: Final = np.sin(X)
YS: Final = np.stack([Y, np.exp(X)], axis=1)
M: Final = np.random.default_rng(0).normal(size=(3, 3))
NONE: Final = np.zeros(0)

CASES: Final = [
    *[Case("polyval", p, x, looser=10.0) for p in (V, INTS, C, F32) for x in (X, INTS, F32, M, np.asarray(2.0))],
    Case("polyval", NONE, X),
    *[
        Case(name, *pair)
        for name in ("polyadd", "polysub")
        for pair in ((V, INTS), (V, X), (X, V), (C, V), (F32, INTS))
    ],
    *[Case("polymul", *pair, looser=10.0) for pair in ((V, INTS), (V, X), (X, V), (C, V), (F32, F32), (INTS, INTS))],
    *[Case("polymul", p, INTS) for p in (np.asarray([0, 0, 1.0, 2]), np.asarray([0, 0]), np.asarray(3))],
    *[Case("polydiv", *pair, looser=10.0) for pair in ((X[1:], V), (INTS, np.asarray([2, 1, 4, 5])), (V, V))],
    Case("polydiv", np.asarray([1.0, 0, 0, -1]), np.asarray([1.0, -1])),
    *[Case("polyder", V, m) for m in (0, 1, 2, 3)],
    *[Case("polyder", p) for p in (INTS, F32, C)],
    *[Case("polyint", V, m) for m in (0, 1, 2)],
    *[Case("polyint", p) for p in (INTS, F32, C)],
    Case("polyint", V, 1, 3),
    Case("polyint", V, 3, np.asarray([6.0, 5, 3])),
    Case("polyint", V, 2, 5),
    *[Case("polyfit", X, Y, deg, looser=1e4) for deg in (0, 1, 3)],
    Case("polyfit", X, YS, 2, looser=1e4),
    Case("polyfit", X, Y, 2, w=X, looser=1e4),
    *[Case("polyfit", X, y, 2, cov=cov, looser=1e4) for y in (Y, YS) for cov in (True, "unscaled")],
    Case("polyfit", F32, F32 + 1, 1, looser=100.0),
    *[Case("poly", x, looser=10.0) for x in (V, INTS, F32, C, np.asarray([1j, -1j]))],
    Case("poly", M, looser=1e3),
    *[Case("roots", p) for p in (np.asarray([0, 0]), np.asarray([3]), np.asarray([0, 2.0, 0]))],
]

TRANSFORMED: Final = [
    Case("polyval", V, X),
    Case("polyadd", V, X),
    Case("polysub", V, X),
    Case("polyder", V),
    Case("polyint", V, 2),
    Case("polyfit", X, Y, 2, looser=1e5),
    Case("poly", V),
]

SMOOTH: Final = [
    Case("polyval", V, X),
    Case("polyadd", V, X),
    Case("polyder", V),
    Case("polyint", V, 2),
    Case("polyfit", X, Y, 2),
    Case("poly", V),
]


@pytest.mark.parametrize(
    ("coefficients", "expected"),
    [([1.0, -3.0, 2.0], [1.0, 2.0]), ([0, 1, 0, 1, 0], [-1j, 0.0, 1j]), ([2, 0, -8, 0, 0], [-2.0, 0.0, 0.0, 2.0])],
)
@pytest.mark.usefixtures("backend")
def test_the_roots_are_where_the_polynomial_is_zero(coefficients: list[float], expected: list[Any]) -> None:
    found = xp.roots(xp.asarray(coefficients))
    assert str(found.dtype) == np.asarray(expected).dtype.name
    ordered = sorted(found.tolist(), key=lambda one: (round(complex(one).real, 6), complex(one).imag))
    np.testing.assert_allclose(ordered, sorted(expected, key=lambda one: (one.real, one.imag)), atol=1e-12)


@pytest.mark.usefixtures("backend")
def test_a_full_fit_says_how_well_it_fits() -> None:
    expected = np.polyfit(X, Y, 2, full=True)
    found = xp.polyfit(xp.asarray(X), xp.asarray(Y), 2, full=True)
    assert found[-1] == expected[-1]
    for one, its in zip(found[:-1], expected[:-1], strict=True):
        assert one.shape == np.shape(its)
        np.testing.assert_allclose(np.asarray(one), its, rtol=1e-8)


@pytest.mark.usefixtures("backend")
def test_a_fit_of_too_few_points_warns() -> None:
    with pytest.warns(np.exceptions.RankWarning, match="^Polyfit may be poorly conditioned$"):
        xp.polyfit(xp.asarray([1.0, 1.0]), xp.asarray([1.0, 2.0]), 1)


@pytest.mark.usefixtures("backend")
def test_a_polynomial_is_an_object_with_arithmetic() -> None:
    p, q = xp.poly1d(xp.asarray([0.0, 1.0, 2.0, 3.0])), np.poly1d([1.0, 2.0, 3.0])
    assert p.order == len(p) == 2
    assert p.coeffs.tolist() == p.c.tolist() == [1.0, 2.0, 3.0]
    assert (p[0].tolist(), p[2].tolist(), p[3].tolist(), p[-1].tolist()) == (3.0, 1.0, 0.0, 0.0)
    assert p(2).tolist() == q(2)
    assert p(xp.asarray([1.0, 2.0])).tolist() == [6.0, 11.0]
    for found, expected in (
        (p + 1, q + 1),
        (1 - p, 1 - q),
        (2 * p, 2 * q),
        (p**2, q**2),
        (-p, -q),
        (p / 2, q / 2),
        (p(p), q(q)),
        (p.deriv(), q.deriv()),
        (p.integ(), q.integ()),
        (p.integ(2, 1.0), q.integ(2, 1.0)),
        *zip(p / xp.poly1d([1.0, 1.0]), q / np.poly1d([1.0, 1.0]), strict=True),
        (xp.poly1d([1.0, 2.0], True), np.poly1d([1.0, 2.0], True)),
    ):
        np.testing.assert_allclose(np.asarray(found), expected.coeffs, rtol=1e-12)
    assert p == xp.poly1d(p)
    assert p != xp.poly1d([1.0])
    assert p != 1
    assert str(p) == str(q)
    assert repr(p) == "poly1d([1.0, 2.0, 3.0])"
    assert sorted(p.r.tolist(), key=lambda one: one.imag) == pytest.approx([-1 - 2**0.5 * 1j, -1 + 2**0.5 * 1j])


GIVEN: Final = V
WRONG: Final[list[Any]] = [
    (lambda x: xp.polyder(x, -1), ValueError, "polyder: m must not be negative, but is -1. Use xp.polyint"),
    (lambda x: xp.polyint(x, -1), ValueError, "polyint: m must not be negative, but is -1. Use xp.polyder"),
    (lambda x: xp.polyint(x, 3, [1, 2]), ValueError, "polyint: k must be a number or hold 3 of them, but holds 2"),
    (lambda x: xp.polyfit(x, x, -1), ValueError, "polyfit: deg must not be negative, but is -1"),
    (lambda x: xp.polyfit(x, x[1:], 1), TypeError, "polyfit: x must be a vector of at least one element, and y of"),
    (lambda x: xp.polyfit(x, x, 1, w=x[1:]), TypeError, "polyfit: w must be of the shape of x, (3,), not (2,)"),
    (lambda x: xp.polyfit(x, x, 2, cov=True), ValueError, "polyfit: x must have more than 3 elements for a scaled"),
    (lambda x: xp.poly(x[None]), ValueError, "poly: seq_of_zeros must be a vector or a square matrix, but is of"),
    (lambda x: xp.roots(x[None]), ValueError, "roots: "),
    (lambda x: xp.polymul(x, x[None]), ValueError, "polymul: "),
    (lambda x: xp.poly1d(x) ** -1, ValueError, "poly1d: the exponent must be a non-negative integer, not -1"),
]
"""Calls of an Array of `GIVEN`, with the error and what it says."""
