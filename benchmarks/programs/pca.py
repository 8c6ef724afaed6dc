"""Principal components of 20,000 rows of 60 numbers, by an SVD."""

from __future__ import annotations

from typing import Any

import numpy as np

import anyarray as xp


def inputs(random: np.random.Generator) -> tuple[Any, ...]:
    return (random.normal(size=(20_000, 12)) @ random.normal(size=(12, 60)) + random.normal(size=(20_000, 60)),)


def run(table: Any) -> float:
    x = xp.asarray(table)
    z = (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)
    _, values, components = xp.linalg.svd(z, full_matrices=False)
    scores = z @ components[:12, :].T
    return float(xp.sum(values[:12] ** 2) / xp.sum(values**2)) + float(xp.sum(scores**2))
