"""K-means: 8 rounds over 20,000 points of 8 numbers, 16 clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

import anyarray as xp


def inputs(random: np.random.Generator) -> tuple[Any, ...]:
    centers = random.normal(scale=5.0, size=(16, 8))
    return (centers[random.integers(0, 16, 20_000)] + random.normal(size=(20_000, 8)),)


def run(points: Any) -> float:
    x = xp.asarray(points)
    centers, every = x[:16, :], xp.arange(16)
    distances = x
    for _ in range(8):
        distances = xp.sum((x[:, None, :] - centers[None, :, :]) ** 2, axis=-1)
        members = xp.astype(xp.argmin(distances, axis=1)[:, None] == every, x.dtype)
        centers = (members.T @ x) / xp.maximum(xp.sum(members, axis=0), xp.asarray(1.0))[:, None]
    return float(xp.sum(xp.min(distances, axis=1)))
