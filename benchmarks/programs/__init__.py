"""Ten programs of real kinds, which import anyarray alone.

Each has `inputs`, which makes NumPy's arrays, and `run`, which computes a number from them. `python -m
benchmarks.programs` runs each in a process of its own under the automatic choice and on every backend.
"""

from __future__ import annotations

from typing import Final

PROGRAMS: Final = (
    "attention", "fft_filter", "gaussian_process", "heat_equation", "kmeans", "knn", "logistic_regression",
    "option_pricing", "pca", "ray_caster",
)  # fmt: skip
