"""Chains of elementwise calls: NumPy beside anyarray.

Each line is one expression on so many float64: the least time of NumPy, of anyarray, and their ratio, both in one
process and in turns. Run: python -m benchmarks.chains [ELEMENTS ...]
"""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import anyarray as xp

Expression = Callable[[types.ModuleType, Any, Any], Any]


def polynomial(m: Any, x: Any, y: Any) -> Any:
    return ((x * 0.1 + 0.3) * x - 2.0) * x + 1.0


def thirteen_arithmetic(m: Any, x: Any, y: Any) -> Any:
    z = x * y + 2.0
    z = z - x * 0.5
    z = z * z + y
    z = (z + x) * (y - 1.0)
    return z * 0.25 + x * y - z


def sigmoid(m: Any, x: Any, y: Any) -> Any:
    return 1 / (1 + m.exp(-x))


def eleven(m: Any, x: Any, y: Any) -> Any:
    z = m.exp(-x * x)
    z = m.sin(z) * y + m.cos(x)
    return m.tanh(z) + m.sqrt(m.abs(z)) - x


def standardise(m: Any, x: Any, y: Any) -> Any:
    return (x - m.mean(x)) / m.std(x)


def black_scholes(m: Any, x: Any, y: Any) -> Any:
    price, time_left = m.abs(x) * 20 + 80, m.abs(y) + 0.1
    root = 0.2 * m.sqrt(time_left)
    d1 = (m.log(price / 100) + 0.04 * time_left) / root
    d2 = d1 - root
    return 0.5 * (1 + m.tanh(0.8 * d1)) * price - 100 * m.exp(-0.02 * time_left) * 0.5 * (1 + m.tanh(0.8 * d2))


def heat_step(m: Any, x: Any, y: Any) -> Any:
    u = m.reshape(x[: 1000 * (len(x) // 1000)], (-1, 1000))
    return u[1:-1, 1:-1] + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])


def mandelbrot_step(m: Any, x: Any, y: Any) -> Any:
    real, imaginary = x * x - y * y + 0.3, 2 * x * y + 0.5
    return m.where(real * real + imaginary * imaginary < 4, real, imaginary)


def forces(m: Any, x: Any, y: Any) -> Any:
    dx, dy = x - 0.5, y + 0.5
    distance = dx * dx + dy * dy + 1e-3
    return (dx + dy) / (distance * m.sqrt(distance))


def squared_error(m: Any, x: Any, y: Any) -> Any:
    return m.mean((x - y) ** 2)


def inside_circle(m: Any, x: Any, y: Any) -> Any:
    return m.count_nonzero(x * x + y * y < 9)


def close(m: Any, x: Any, y: Any) -> Any:
    return m.all(m.abs(x - y) <= 9 + 1e-5 * m.abs(y))


def distances(m: Any, x: Any, y: Any) -> Any:
    points, centres = m.reshape(x[: 30 * (len(x) // 300)], (-1, 1, 3)), m.reshape(y[:30], (1, 10, 3))
    return m.sum((points - centres) ** 2, axis=-1)


def softmax(m: Any, x: Any, y: Any) -> Any:
    rows = m.reshape(x, (-1, 100))
    powers = m.exp(rows - m.max(rows, axis=-1, keepdims=True))
    return powers / m.sum(powers, axis=-1, keepdims=True)


def heat_in_place(m: Any, x: Any, y: Any) -> Any:
    u, new = (m.reshape(one[: 1000 * (len(one) // 1000)], (-1, 1000)) for one in (x, y))
    new[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    )
    return new


def momentum(m: Any, x: Any, y: Any) -> Any:
    x -= 0.001 * (y + x * 0.1)
    return x


EXPRESSIONS: tuple[Expression, ...] = (
    polynomial, thirteen_arithmetic, forces, mandelbrot_step, heat_step, sigmoid, standardise, black_scholes, eleven,
    squared_error, inside_circle, close, distances, softmax, heat_in_place, momentum,
)  # fmt: skip


def seconds(expression: Expression, module: Any, x: Any, y: Any, calls: int) -> float:
    """The time of one call, its value read."""
    started = time.perf_counter()
    for _ in range(calls):
        np.asarray(expression(module, x, y))
    return (time.perf_counter() - started) / calls


def main(sizes: list[int]) -> None:
    for size in sizes:
        random = np.random.default_rng(0)
        a, b = random.standard_normal(size), random.standard_normal(size) + 3
        x, y = xp.asarray(a), xp.asarray(b)
        print(f"\n{size:,} elements, milliseconds:  NumPy  anyarray  ratio")
        for expression in EXPRESSIONS:
            assert np.array_equal(np.asarray(expression(xp, x, y)), expression(np, a, b)), expression.__name__
            calls = max(1, 1_000_000 // size)
            numpy, ours = np.inf, np.inf
            for _ in range(9):
                numpy = min(numpy, seconds(expression, np, a, b, calls))
                ours = min(ours, seconds(expression, xp, x, y, calls))
            print(f"{expression.__name__:22} {1e3 * numpy:12.3f} {1e3 * ours:9.3f} {numpy / ours:6.2f}")


if __name__ == "__main__":
    with xp.backend("auto"), xp.policy(fuse=True):
        main([int(float(one)) for one in sys.argv[1:]] or [100_000, 1_000_000, 10_000_000])
