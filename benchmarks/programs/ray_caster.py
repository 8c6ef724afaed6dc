"""A ray caster: 240 x 320 rays, 12 spheres, the light of the nearest hit."""

from __future__ import annotations

from typing import Any

import numpy as np

import anyarray as xp


def inputs(random: np.random.Generator) -> tuple[Any, ...]:
    return random.uniform((-4, -3, 6), (4, 3, 12), size=(12, 3)), random.uniform(0.5, 1.5, size=12)


def run(centers: Any, radii: Any) -> float:
    c, r = xp.asarray(centers), xp.asarray(radii)
    v, u = xp.meshgrid(xp.linspace(-0.75, 0.75, 240), xp.linspace(-1.0, 1.0, 320), indexing="ij")
    rays = xp.stack([u, v, xp.ones_like(u)], axis=-1)
    rays = xp.reshape(rays / xp.sqrt(xp.sum(rays**2, axis=-1, keepdims=True)), (-1, 3))
    nearest, light = xp.full(rays.shape[:1], xp.inf), xp.zeros(rays.shape[:1])
    for i in range(c.shape[0]):
        along = rays @ c[i, :]
        inside = r[i] ** 2 - (xp.sum(c[i, :] ** 2) - along**2)
        depth = along - xp.sqrt(xp.maximum(inside, xp.asarray(0.0)))
        is_seen = (inside > 0) & (depth < nearest)
        normals = (rays * depth[:, None] - c[i, :]) / r[i]
        shade = xp.clip(normals @ xp.asarray([0.5, -0.7, -0.5]), min=0.0)
        nearest, light = xp.where(is_seen, depth, nearest), xp.where(is_seen, shade, light)
    return float(xp.sum(light))
