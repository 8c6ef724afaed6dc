"""Logistic regression of 20,000 rows of 50 numbers in 40 steps."""

from __future__ import annotations

from typing import Any

import numpy as np

import anyarray as xp


def inputs(random: np.random.Generator) -> tuple[Any, ...]:
    x, true = random.normal(size=(20_000, 50)), random.normal(size=50)
    return x, (x @ true + random.normal(size=20_000) > 0).astype(np.float64)


def run(rows: Any, labels: Any) -> float:
    x, y = xp.asarray(rows), xp.asarray(labels)
    w, p = xp.zeros(x.shape[1]), y
    for _ in range(40):
        p = 1 / (1 + xp.exp(-(x @ w)))
        w = w - 2.0 * ((x.T @ (p - y)) / x.shape[0])
    return float(xp.mean(xp.astype(xp.equal(p > 0.5, y > 0.5), xp.float64)))
