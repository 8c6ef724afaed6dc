"""Programs whose loops depend on values give the same everywhere.

The expected ones are those of loops of Python over NumPy's own arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp


def newton(x: xp.Array) -> xp.Array:
    """The root of y**3 = x, to a tolerance."""
    return xp.while_loop(lambda y: xp.abs(y**3 - x) > 1e-12, lambda y: y - (y**3 - x) / (3 * y**2), x * 0 + 1.5)


def power_iteration(a: xp.Array) -> xp.Array:
    """The greatest eigenvalue of a symmetric matrix."""

    def step(i: xp.Array, v: xp.Array) -> xp.Array:
        w = a @ v
        return w / xp.linalg.vector_norm(w)

    v = xp.fori_loop(0, 60, step, xp.ones(3))
    return v @ a @ v


def kalman(measured: xp.Array) -> tuple[xp.Array, xp.Array]:
    """Estimates of a position that drifts, and the last variance."""

    def step(state: tuple[xp.Array, xp.Array], z: xp.Array) -> tuple[tuple[xp.Array, xp.Array], xp.Array]:
        x, p = state[0], state[1] + 0.1
        gain = p / (p + 0.5)
        x = x + gain * (z - x)
        return (x, (1 - gain) * p), x

    (_, variance), path = xp.scan(step, (0.0, 1.0), measured)
    return path, variance


def kalman_of_numpy(measured: Any) -> Any:
    x, p, path = 0.0, 1.0, []
    for z in measured:
        p += 0.1
        gain = p / (p + 0.5)
        x += gain * (z - x)
        p *= 1 - gain
        path.append(x)
    return np.asarray(path), p


def metropolis(x: xp.Array) -> xp.Array:
    """A walk by keys over the density of a normal distribution."""

    def step(state: tuple[xp.Array, xp.Array], key: xp.Array) -> tuple[tuple[xp.Array, xp.Array], xp.Array]:
        x, count = state
        first, second = xp.random.split(key)
        there = x + xp.random.uniform(first, ()) * 2 - 1
        is_taken = xp.log(xp.random.uniform(second, ())) < (x**2 - there**2) / 2
        x = xp.cond(is_taken, lambda: there, lambda: x)
        return (x, count + xp.astype(is_taken, count.dtype)), x

    return xp.scan(step, (x, 0), xp.random.split(xp.random.key(7), 30))[1]


def metropolis_of_numpy(x: Any) -> Any:
    path = []
    with xp.backend("numpy"):
        for key in xp.random.split(xp.random.key(7), 30):
            first, second = xp.random.split(key)
            there = x + float(xp.random.uniform(first, ())) * 2 - 1
            if np.log(float(xp.random.uniform(second, ()))) < (x**2 - there**2) / 2:
                x = there
            path.append(x)
    return np.asarray(path)


def rnn(w: xp.Array) -> xp.Array:
    """The loss of a recurrent network of two units over five steps."""
    inputs = xp.linspace(-1, 1, 5)

    def step(h: xp.Array, x: xp.Array) -> tuple[xp.Array, xp.Array]:
        h = xp.tanh(w[:, :2] @ h + w[:, 2] * x)
        return h, xp.sum(h)

    _, outputs = xp.scan(step, xp.zeros(2), inputs)
    return xp.sum((outputs - inputs) ** 2)


def rnn_of_numpy(w: Any) -> Any:
    h, loss = np.zeros(2), 0.0
    for x in np.linspace(-1, 1, 5):
        h = np.tanh(w[:, :2] @ h + w[:, 2] * x)
        loss += (h.sum() - x) ** 2
    return loss


SYMMETRIC: Final = np.asarray([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
WEIGHTS: Final = np.asarray([[0.3, -0.2, 0.5], [0.1, 0.4, -0.6]])
PROGRAMS: Final[dict[str, tuple[Callable[[xp.Array], Any], Callable[[Any], Any], Any]]] = {
    "newton": (newton, np.cbrt, np.asarray(7.0)),
    "power iteration": (power_iteration, lambda a: np.linalg.eigvalsh(a)[-1], SYMMETRIC),
    "kalman": (kalman, kalman_of_numpy, np.asarray([0.2, 1.1, 0.7, 1.5])),
    "metropolis": (metropolis, metropolis_of_numpy, np.asarray(0.25)),
    "rnn": (rnn, rnn_of_numpy, WEIGHTS),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_gives_the_same_everywhere(program: str, backend: xp.Backend, jits: list[Any]) -> None:
    function, of_numpy, given = PROGRAMS[program]
    expected = of_numpy(given)
    for jit in jits:
        found = jit(function)(xp.asarray(given))
        for one, other in zip(*[x if isinstance(x, tuple) else (x,) for x in (found, expected)], strict=True):
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-7, atol=1e-9)


@pytest.mark.needs("derivatives")
def test_the_gradient_of_the_network_is_that_of_differences(backend: xp.Backend, jits: list[Any]) -> None:
    expected = np.empty_like(WEIGHTS)
    for at in np.ndindex(*WEIGHTS.shape):
        off = np.zeros_like(WEIGHTS)
        off[at] = 1e-6
        expected[at] = (rnn_of_numpy(WEIGHTS + off) - rnn_of_numpy(WEIGHTS - off)) / 2e-6
    for jit in jits:
        found = jit(xp.grad(rnn))(xp.asarray(WEIGHTS))
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6, atol=1e-8)
