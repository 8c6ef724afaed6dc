"""Interpolation, integrals and slopes, against NumPy's."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
from against_numpy import Case

pytestmark = pytest.mark.few_backends

RNG: Final = np.random.default_rng(0)
V: Final = RNG.normal(size=5)
M: Final = RNG.normal(size=(3, 5))
T: Final = RNG.normal(size=(3, 4, 3))
F32: Final = M.astype(np.float32)
C: Final = M + 1j * M[::-1]
I: Final = RNG.integers(-9, 9, (3, 5))  # noqa: E741 - the integers
U8: Final = np.abs(I).astype(np.uint8)
X: Final = np.asarray([-1.0, 0.0, 0.5, 2.0, 7.0])
EVEN: Final = np.asarray([1, 3, 5])
AT: Final = np.asarray([-2.0, -1.0, 0.2, 0.5, 6.5, 7.0, 8.0, np.nan, np.inf])
ANGLES: Final = np.asarray([[0.0, 3.0, 7.0, -2.0, 1.0], [0.5, np.pi + 0.5, 0.0, -np.pi, np.nan]])
HALVES: Final = np.asarray([0, 2, 4, 1, 7, 5, 3, 9])
POINT: Final = np.asarray(0.25)

CASES: Final = [
    *[Case("interp", AT, X, y) for y in (V, I[0], C[0], F32[0], np.asarray([1.0, np.inf, 2.0, 2.0, -np.inf]))],
    Case("interp", AT, X, V, -5, 5),
    Case("interp", AT, X, C[0], left=1j, right=2),
    *[Case("interp", AT[:-1], x, y, period=p) for x, y in ((V, X), (X, C[0])) for p in (3, -2.5)],
    Case("interp", AT, X[:1], V[:1]),
    Case("interp", AT, np.asarray([0.0, 0.0, 1.0, 1.0, 2.0]), V),
    *[Case("interp", x, X, V) for x in (POINT, M, I)],
    *[Case("trapezoid", y) for y in (V, M, I, C, F32, U8, V[:1], V[:0])],
    *[Case("trapezoid", M, x, looser=10.0) for x in (X, M * 2, I)],
    Case("trapezoid", M, X[:3], axis=0),
    *[Case("trapezoid", M, dx=d, axis=0, looser=10.0) for d in (0.5, 3, RNG.uniform(size=(2, 1)))],
    *[Case("gradient", f, *h, edge_order=order, looser=100.0)
        for order in (1, 2)
        for f, *h in ((V,), (M,), (T, 2), (I, 0.5, X), (C, EVEN, X), (U8, 1, 2.5), (F32, 2))],
    *[Case("gradient", M, 0.5, axis=axis, looser=10.0) for axis in (0, -1, (1, 0))],
    Case("gradient", F32, X.astype(np.float32), axis=1, edge_order=2),
    Case("gradient", V[:2]),
    *[Case("ediff1d", x) for x in (V, M, I, U8, C, V[:1], V[:0], POINT)],
    Case("ediff1d", I, 99, np.asarray([[1, 2]])),
    Case("ediff1d", F32, np.asarray([1.5]), 2),
    Case("ediff1d", V[:1], to_begin=-1.0),
    *[Case("unwrap", x, looser=10.0) for x in (ANGLES, ANGLES[0], I, ANGLES.astype(np.float32), V[:1])],
    *[Case("unwrap", ANGLES[:1], discont=d, looser=10.0) for d in (0.5, 4)],
    Case("unwrap", ANGLES, axis=0),
    *[Case("unwrap", x, period=p) for x in (HALVES, -HALVES, ANGLES[0]) for p in (4, 5)],
]  # fmt: skip

TRANSFORMED: Final = [
    Case("interp", V, X, M[0]),
    Case("interp", V, X, M[0], period=3.0),
    Case("trapezoid", M, X, looser=10.0),
    Case("gradient", M, 0.5, X, edge_order=2, looser=100.0),
    Case("gradient", V, looser=10.0),
    Case("ediff1d", M, to_end=1.0),
    Case("unwrap", ANGLES[:1], looser=10.0),
]
SMOOTH: Final = TRANSFORMED

DROP_IN: Final = """
np.interp(0.25, [0.0, 0.5, 2], [1.0, 2, 4])
np.interp([0.5, 3], [0, 1, 2], [0, 10, 20], right=-1)
np.interp(0.5, [0, 1], [0, 10])
np.trapezoid([1, 2, 3], x=[0, 1, 3])
np.gradient([1, 2, 4], [0, 1, 3], edge_order=1)
np.gradient([[1, 2], [4, 8]])
np.ediff1d([1, 2, 4], to_end=[7, 8])
np.unwrap([0, 1, 2, -1, 0], period=4)
"""

WRONG: Final = [
    (Case("interp", AT, X, V[:3]), ValueError, "interp"),
    (Case("interp", AT, X[:0], V[:0]), ValueError, "interp"),
    (Case("interp", AT, M, M), ValueError, "interp"),
    (Case("interp", AT, X, V, period=0), ValueError, "period"),
    (Case("trapezoid", M, axis=2), np.exceptions.AxisError, "axis 2"),
    (Case("trapezoid", M, X[:3]), ValueError, ""),
    (Case("gradient", M, 1.0, 2.0, 3.0), TypeError, "varargs must be one number or a distance for each of 2 axes"),
    (Case("gradient", M, X[:3], V[:2]), ValueError, "along axis 1 must be a vector of length 5"),
    (Case("gradient", V[:1]), ValueError, "f must have at least 2 elements along axis 0, not 1"),
    (Case("gradient", V, edge_order=3), ValueError, "edge_order must be 1 or 2, not 3"),
    (Case("gradient", V, axis=1), np.exceptions.AxisError, "axis 1"),
    (Case("ediff1d", I, to_end=1.5), TypeError, "to_end"),
    (Case("unwrap", V, axis=1), np.exceptions.AxisError, "axis 1"),
]
