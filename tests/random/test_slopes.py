"""Derivatives of gamma numbers and their kin by the parameters of shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp
from anyarray import random
from anyarray.random.distributions import random_gammas

pytestmark = [pytest.mark.few_backends, pytest.mark.usefixtures("differentiating")]

SHAPES: Final = np.repeat([0.05, 0.3, 0.9, 1.0, 2.5, 30.0, 1000.0], 8)
TOLERANCE: Final = 1e-8
"""Of the differences by which PyTorch's are taken."""


def _drawn(a: xp.Array) -> xp.Array:
    return random.gamma(random.key(3), a)


def _slope_of_quantile(a: np.ndarray[Any, Any], x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How a number changes with the shape at the same probability."""
    special = pytest.importorskip("scipy.special")
    lower, upper = special.gammainc(a, x), special.gammaincc(a, x)

    def quantile(at: np.ndarray[Any, Any]) -> Any:
        return np.where(lower < 0.5, special.gammaincinv(at, lower), special.gammainccinv(at, upper))

    h = 1e-4 * np.minimum(a, np.sqrt(a))
    near, far = quantile(a + h) - quantile(a - h), quantile(a + 2 * h) - quantile(a - 2 * h)
    return np.asarray((8 * near - far) / (12 * h))


WAYS: Final[dict[str, Callable[[Callable[[xp.Array], xp.Array]], Callable[[xp.Array], xp.Array]]]] = {
    "jit of grad": lambda f: xp.jit(xp.grad(lambda a: xp.sum(f(a)))),
    "grad of jit": lambda f: xp.grad(xp.jit(lambda a: xp.sum(f(a)))),
    "forward": lambda f: lambda a: xp.sum(xp.jacobian(f, mode="forward")(a), axis=0),
    "reverse": lambda f: lambda a: xp.sum(xp.jacobian(f)(a), axis=0),
}


def test_a_gamma_number_has_the_slope_of_the_quantile() -> None:
    a = xp.asarray(SHAPES)
    expected = _slope_of_quantile(SHAPES, np.asarray(_drawn(a)))
    np.testing.assert_allclose(np.asarray(xp.grad(lambda a: xp.sum(_drawn(a)))(a)), expected, rtol=TOLERANCE)


@pytest.mark.sampled
@pytest.mark.parametrize("way", list(WAYS))
def test_every_transform_gives_that_slope(way: str) -> None:
    x = _drawn(xp.asarray(SHAPES))  # once: it takes seconds to compile
    found = WAYS[way](lambda a: random_gammas(a, x))(xp.asarray(SHAPES))
    np.testing.assert_allclose(np.asarray(found), _slope_of_quantile(SHAPES, np.asarray(x)), rtol=TOLERANCE)


def test_a_gamma_number_has_the_slope_of_jax_random() -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        key, a = jax.random.key(5), jax.numpy.asarray(SHAPES)
        drawn, back = jax.vjp(lambda a: jax.random.gamma(key, a), a)
        numbers, expected = np.asarray(drawn), np.asarray(back(jax.numpy.ones_like(a))[0])
    x = xp.asarray(numbers)
    found = xp.grad(lambda a: xp.sum(random_gammas(a, x)))(xp.asarray(SHAPES))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=TOLERANCE)


def test_a_batch_of_shapes_has_the_slopes_of_each() -> None:
    x = xp.asarray([0.1, 0.5, 4.0])

    def total(a: xp.Array) -> xp.Array:
        return xp.sum(random_gammas(xp.broadcast_to(a, (3,)), x))

    a = xp.asarray([0.3, 2.5])
    expected = [float(xp.grad(total)(one)) for one in a]
    for batched in (xp.vmap(xp.grad(total)), xp.grad(lambda a: xp.sum(xp.vmap(total)(a)))):
        np.testing.assert_allclose(np.asarray(batched(a)), expected, rtol=TOLERANCE)


N: Final = 4000
MEANS: Final[dict[str, tuple[Callable[[xp.Array], xp.Array], float, Callable[[float], float]]]] = {
    "beta, first": (lambda a: random.beta(random.key(1), a, 3.0, (N,)), 0.5, lambda a: a / (a + 3)),
    "beta, second": (lambda a: random.beta(random.key(1), 0.5, a, (N,)), 3.0, lambda a: 0.5 / (0.5 + a)),
    "dirichlet": (
        lambda a: random.dirichlet(random.key(1), xp.stack([a, xp.ones_like(a)]), (N,))[:, 0],
        2.0,
        lambda a: a / (a + 1),
    ),
    "square of student_t": (lambda a: random.student_t(random.key(1), a, (N,)) ** 2, 30.0, lambda a: a / (a - 2)),
    "gamma of float32": (lambda a: random.gamma(random.key(1), a, (N,), dtype="float32"), 0.7, lambda a: a),
    "gamma of a scale": (lambda a: random.gamma(random.key(1), 0.7, (N,), scale=a), 2.0, lambda a: 0.7 * a),
}


@pytest.mark.sampled
@pytest.mark.parametrize("distribution", list(MEANS))
def test_slopes_of_many_numbers_have_the_slope_of_the_mean(distribution: str, jits: list[Any]) -> None:
    draw, at, mean = MEANS[distribution]
    slopes = np.asarray(jits[0](xp.jacobian(draw, mode="forward"))(xp.asarray(at)))
    expected = (mean(at + 1e-4) - mean(at - 1e-4)) / 2e-4
    assert abs(slopes.mean() - expected) < 4 * slopes.std() / np.sqrt(N)


def test_a_gamma_number_that_is_zero_has_no_slope() -> None:
    assert float(_drawn(xp.asarray(1e-5))) == 0
    assert float(xp.grad(_drawn)(xp.asarray(1e-5))) == 0


def test_a_second_slope_by_the_shape_is_refused() -> None:
    with pytest.raises(xp.UnsupportedError, match=r"Keep it out of the derivative: xp\.stop_gradient"):
        xp.grad(xp.grad(_drawn))(xp.asarray(2.5))
