"""The branch that `where` does not take has no part in derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

Function = Callable[..., Any]

EDGES: Final = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan, 1e3, -1e3]
"""Where domains end, slopes are infinite or numbers overflow."""
OF_ONE: Final = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor log log1p log2 log10 negative reciprocal "
    "round sign sin sinh sqrt square tan tanh trunc"
).split()
OF_TWO: Final = (
    "add atan2 copysign divide floor_divide logaddexp maximum minimum multiply pow remainder subtract"
).split()
WAYS: Final[dict[str, Function]] = {
    "grad": xp.grad,
    "jit of grad": lambda *a, **k: xp.jit(xp.grad(*a, **k)),
    "grad of jit": lambda f, **k: xp.grad(xp.jit(f), **k),
}


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", OF_ONE)
@pytest.mark.usefixtures("differentiating")
def test_a_function_of_one_that_is_not_taken_has_the_slope_zero(what: str, way: str) -> None:
    is_taken = xp.zeros(len(EDGES), dtype=xp.bool)

    def function(x: xp.Array, is_taken: xp.Array) -> xp.Array:
        return xp.sum(xp.where(is_taken, getattr(xp, what)(x), 0.5 * xp.where(is_taken, x, 1.0)))

    assert WAYS[way](function)(xp.asarray(EDGES), is_taken).tolist() == [0] * len(EDGES)


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", OF_TWO)
@pytest.mark.usefixtures("differentiating")
def test_a_function_of_two_that_is_not_taken_has_the_slope_zero(what: str, way: str) -> None:
    x1, x2 = (xp.asarray(x.ravel()) for x in np.meshgrid(EDGES, EDGES))

    def function(x1: xp.Array, x2: xp.Array, is_taken: xp.Array) -> xp.Array:
        return xp.sum(xp.where(is_taken, getattr(xp, what)(x1, x2), 1.0))

    found = WAYS[way](function, argnums=(0, 1))(x1, x2, xp.zeros(x1.shape, dtype=xp.bool))
    assert [one.tolist() for one in found] == [[0] * x1.size] * 2


# Of each: the function, its first derivative at 4 and its second one there. At 0 and -1 it is constant.
CHOICES: Final[dict[str, tuple[Function, float, float]]] = {
    "sqrt": (xp.sqrt, 1 / 4, -1 / 32),
    "a power": (lambda x: x**0.5, 1 / 4, -1 / 32),
    "a product with a logarithm": (lambda x: x * xp.log(x), 1 + np.log(4), 1 / 4),
    "reciprocal": (lambda x: 1 / x, -1 / 16, 1 / 32),
    "a quotient of roots": (lambda x: x / xp.sqrt(x), 1 / 4, -1 / 32),
    "a root of clip": (lambda x: xp.sqrt(xp.clip(x, 0.0, 9.0)), 1 / 4, -1 / 32),
    "a logarithm of maximum": (lambda x: xp.log(xp.maximum(x, 0.0)), 1 / 4, -1 / 16),
    "log1p": (lambda x: xp.log1p(x - 1), 1 / 4, -1 / 16),
}
DERIVATIVES: Final[dict[str, Function]] = {
    "grad": lambda f: xp.grad(lambda x: xp.sum(f(x))),
    "forward": lambda f: lambda x: xp.sum(xp.jacobian(f, mode="forward")(x), axis=0),
    "vmap of grad": lambda f: lambda x: xp.vmap(xp.grad(f))(x),
}


@pytest.mark.sampled
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("way", DERIVATIVES)
@pytest.mark.parametrize("what", CHOICES)
@pytest.mark.usefixtures("differentiating")
def test_a_choice_has_the_derivative_of_what_is_taken(what: str, way: str, is_compiled: bool) -> None:
    function, wanted, _ = CHOICES[what]
    derivative = DERIVATIVES[way](lambda x: xp.where(x > 0, function(x), 0.0))
    found = (xp.jit(derivative) if is_compiled else derivative)(xp.asarray([0.0, 4.0, -1.0]))
    np.testing.assert_allclose(np.asarray(found), [0, wanted, 0], rtol=1e-14, atol=0)


@pytest.mark.sampled
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("what", CHOICES)
@pytest.mark.usefixtures("differentiating")
def test_a_choice_has_the_second_derivative_of_what_is_taken(what: str, mode: Any, is_compiled: bool) -> None:
    function, _, wanted = CHOICES[what]
    hessian = xp.jacobian(xp.grad(lambda x: xp.sum(xp.where(x > 0, function(x), 0.0))), mode=mode)
    found = (xp.jit(hessian) if is_compiled else hessian)(xp.asarray([0.0, 4.0, -1.0]))
    np.testing.assert_allclose(np.asarray(found), np.diag([0, wanted, 0]), rtol=1e-13, atol=0)


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.usefixtures("differentiating")
def test_slopes_that_are_taken_stay_infinite_or_nan(is_compiled: bool) -> None:
    def slope(function: Function, at: float) -> float:
        gradient = xp.grad(function)
        return float((xp.jit(gradient) if is_compiled else gradient)(xp.asarray(at)))

    assert slope(xp.sqrt, 0.0) == np.inf
    assert slope(xp.log, 0.0) == np.inf
    assert slope(xp.reciprocal, 0.0) == -np.inf
    assert slope(xp.acos, 1.0) == -np.inf
    assert np.isnan(slope(xp.sqrt, -1.0))
    assert np.isnan(slope(lambda x: xp.sqrt(x * x), 0.0))


@pytest.mark.usefixtures("differentiating")
def test_a_row_beside_a_matrix_that_is_not_taken_has_the_slope_zero() -> None:
    def function(x: xp.Array, y: xp.Array) -> xp.Array:
        return xp.sum(xp.where(y > 1, x / y * xp.log(x), 0.0))

    x, y = xp.asarray([0.0, 2.0]), xp.asarray([[0.0, 2.0], [1.0, 4.0]])
    by_x, by_y = xp.grad(function, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(np.asarray(by_x), [0, (1 + np.log(2)) * (1 / 2 + 1 / 4)], rtol=1e-14)
    np.testing.assert_allclose(np.asarray(by_y), [[0, -np.log(2) / 2], [0, -np.log(2) / 8]], rtol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("size", [1e-8, 1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("what", ["sin", "sinh", "cos", "cosh", "tan", "tanh", "expm1"])
@pytest.mark.usefixtures("backend")
def test_complex_functions_near_zero_are_those_of_numpy(what: str, dtype: str, size: float, is_compiled: bool) -> None:
    z = np.asarray([1, 1j, 1 + 0.1j, -0.3 - 1j, 0.5 - 0.5j]).astype(dtype) * np.asarray(size, dtype)
    wanted = getattr(np, what)(z.astype(np.complex128))
    function = getattr(xp, what)
    found: Any = np.asarray((xp.jit(function) if is_compiled else function)(xp.asarray(z)))
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(found.real, wanted.real, rtol=6 * eps, atol=6 * eps * size)
    np.testing.assert_allclose(found.imag, wanted.imag, rtol=6 * eps, atol=6 * eps * size**2)


@pytest.mark.parametrize("what", ["sinh", "cosh"])
@pytest.mark.usefixtures("backend")
def test_hyperbolic_functions_of_great_numbers_are_those_of_numpy(what: str) -> None:
    x = np.asarray([19.9, 20.0, -25.0, 700.0, -699.3, 709.9, 710.2])
    # An exponential is wrong by half a unit, its square and what it is multiplied by add another each.
    np.testing.assert_allclose(np.asarray(getattr(xp, what)(xp.asarray(x))), getattr(np, what)(x), rtol=3e-15)


@pytest.mark.usefixtures("backend")
def test_quotients_of_conjugate_numbers_are_conjugate() -> None:
    rng = np.random.default_rng(6)
    for n in range(1, 12):
        z = rng.normal(size=n) + 1j * rng.normal(size=n)
        z = xp.asarray(np.concatenate([z, [0.5], z[::-1].conj()]))
        y = (4 + z) / (4 - z)
        assert xp.all(y == xp.conj(xp.flip(y)))
        assert xp.all(xp.reciprocal(z) == xp.conj(xp.flip(xp.reciprocal(z))))


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_products_of_conjugate_numbers_are_real(dtype: str, is_compiled: bool) -> None:
    pytest.importorskip("tensorflow", reason="NumPy and JAX add without rounding where a processor can")
    rng = np.random.default_rng(7)
    z = rng.normal(size=(9, 1)) + 1j * rng.normal(size=(9, 1))

    def products(x: xp.Array) -> tuple[xp.Array, ...]:
        return x[:, 0] * x[:, 1], x * xp.conj(x), xp.prod(x, axis=1), xp.cumulative_prod(x, axis=1)[:, 1]

    with xp.backend("tf"):
        pairs = xp.asarray(np.concatenate([z, z.conj()], axis=1).astype(dtype))
        found = (xp.jit(products) if is_compiled else products)(pairs)
        assert all(bool(xp.all(xp.imag(one) == 0)) for one in found)
