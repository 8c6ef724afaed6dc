"""A Gaussian process: 800 observations, 2,000 predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

import anyarray as xp


def inputs(random: np.random.Generator) -> tuple[Any, ...]:
    x = random.uniform(0, 10, size=(800, 3))
    return x, np.sin(x).sum(axis=1) + 0.1 * random.normal(size=800), random.uniform(0, 10, size=(2_000, 3))


def kernel(a: Any, b: Any) -> Any:
    squared = xp.sum(a**2, axis=1)[:, None] + xp.sum(b**2, axis=1)[None, :] - 2 * (a @ b.T)
    return xp.exp(-0.5 * xp.maximum(squared, xp.asarray(0.0)))


def run(observed: Any, values: Any, wanted: Any) -> float:
    x, y, new = xp.asarray(observed), xp.asarray(values), xp.asarray(wanted)
    lower = xp.linalg.cholesky(kernel(x, x) + 0.01 * xp.eye(x.shape[0]))
    weights = xp.linalg.solve(lower.T, xp.linalg.solve(lower, y))
    across = kernel(new, x)
    spread = 1.0 - xp.sum(xp.linalg.solve(lower, across.T) ** 2, axis=0)
    return float(xp.sum(across @ weights)) + float(xp.sum(spread))
