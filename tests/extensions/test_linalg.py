"""What NumPy's linalg has beyond the standard, against NumPy's."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from against_numpy import Case
from comparison import assert_same

import anyarray as xp

pytestmark = pytest.mark.few_backends

RNG: Final = np.random.default_rng(0)
V: Final = np.asarray([1.0, -5.0, 2.5])
INTS: Final = np.arange(12).reshape(3, 4)
T: Final = RNG.normal(size=(2, 3, 4))
M: Final = RNG.normal(size=(3, 3))
C: Final = M + 1j * M.T
X: Final = RNG.normal(size=(5, 3))
F32: Final = X.astype(np.float32)
SINGULAR: Final = np.diag([1.0, 0.0, 2.0])
INF: Final = np.inf

CASES: Final = [
    *[Case("linalg.norm", V, kind, looser=10.0) for kind in (None, 2, 1, 0, INF, -INF, 3, 0.5, -1)],
    *[Case("linalg.norm", T, kind, 1, looser=10.0) for kind in (None, 1, INF, 3)],
    *[Case("linalg.norm", C, kind, 0, looser=10.0) for kind in (None, 1, 0)],
    *[Case("linalg.norm", M, kind, looser=10.0) for kind in (None, 2, 1, INF, -INF, -1, -2, "fro", "nuc", "f")],
    *[Case("linalg.norm", T, kind, (2, 0), True, looser=10.0) for kind in (None, 2, 1, -INF, "nuc")],
    *[
        Case("linalg.norm", x, looser=10.0)
        for x in (T, INTS, F32, np.asarray([np.nan, 1.0]), INTS > 5, np.asarray(-3.0))
    ],
    Case("linalg.norm", T, None, None, True, looser=10.0),
    *[Case("linalg.cond", M, p, looser=100.0) for p in (None, 2, -2, 1, -1, INF, -INF, "fro", "nuc")],
    *[Case("linalg.cond", np.stack([M, SINGULAR]), p, looser=100.0) for p in (None, 1, "fro")],
    *[Case("linalg.cond", x, looser=100.0) for x in (X, C, F32, INTS[:, :3] + 5 * np.eye(3, dtype=int))],
    Case("linalg.cond", np.asarray([[np.nan, 2.0], [3.0, 4.0]]), 1),
    *[Case("linalg.multi_dot", given, looser=10.0) for given in ([X, M], [X, M, INTS, T[0].T], [V, M, X.T], [V, M, V])],
    Case("linalg.tensorinv", RNG.normal(size=(4, 6, 8, 3)), looser=1e4),
    Case("linalg.tensorinv", RNG.normal(size=(12, 4, 3)), 1, looser=1e4),
    Case("linalg.tensorsolve", RNG.normal(size=(6, 4, 2, 3, 4)), RNG.normal(size=(6, 4)), looser=1e4),
    Case("linalg.tensorsolve", RNG.normal(size=(3, 6, 2)), RNG.normal(size=6), (0,), looser=1e4),
]

LEAST_SQUARES: Final = {
    "a vector": (X, np.arange(5.0)),
    "several": (X, RNG.normal(size=(5, 2))),
    "fewer equations": (X.T, V),
    "a square matrix": (M, V),
    "a deficient rank": (np.ones((4, 2)), np.arange(4.0)),
    "integers": (INTS.T, np.arange(4)),
    "float32": (F32, np.arange(5.0, dtype=np.float32)),
    "complex": (C, V),
    "a cut": (X, np.arange(5.0), 0.7),
    "a negative cut": (X, np.arange(5.0), -1),
}

TRANSFORMED: Final = [
    Case("linalg.norm", V, looser=10.0),
    Case("linalg.norm", T, 2, (0, 2), looser=100.0),
    Case("linalg.cond", M, looser=100.0),
    Case("linalg.cond", M, 1, looser=100.0),
    Case("linalg.multi_dot", [X, M, V], looser=10.0),
    Case("linalg.tensorinv", np.reshape(M, (3, 3, 1)), 1, looser=1e4),
    Case("linalg.tensorsolve", np.reshape(M, (3, 3, 1)), V, looser=1e4),
]

SMOOTH: Final = [
    Case("linalg.norm", V),
    Case("linalg.norm", M, "nuc"),
    Case("linalg.cond", M),
    Case("linalg.cond", M, "fro"),
    Case("linalg.multi_dot", [X, M, V]),
    Case("linalg.lstsq", X, np.arange(5.0)),
    Case("linalg.tensorsolve", np.reshape(M, (3, 3, 1)), V),
]


@pytest.mark.parametrize("given", LEAST_SQUARES.values(), ids=LEAST_SQUARES)
@pytest.mark.usefixtures("backend")
def test_least_squares_are_numpy_s(given: tuple[Any, ...]) -> None:
    a, b, *rest = given
    expected = np.linalg.lstsq(a, b, *rest)
    found = xp.linalg.lstsq(xp.asarray(a), xp.asarray(b), *rest)
    assert len(found) == 4
    for one, its in zip(found, expected, strict=True):
        # As far apart as the condition of these matrices lets two algorithms be; a singular value of 0 is only small.
        assert_same(one, np.asarray(its), looser=1e3, scaled=True)


@pytest.mark.usefixtures("backend")
def test_least_squares_are_the_same_in_jit_and_vmap() -> None:
    a, b = xp.asarray(X), xp.asarray(np.arange(5.0))
    expected = xp.linalg.lstsq(a, b)
    for one, its in zip(xp.jit(lambda a, b: xp.linalg.lstsq(a, b))(a, b), expected, strict=True):
        assert_same(one, its, looser=1e3, scaled=True)
    stacked = xp.vmap(lambda b: xp.linalg.lstsq(a, b)[0])(xp.stack([b, 2 * b]))
    assert_same(stacked, np.stack([np.asarray(expected[0]), 2 * np.asarray(expected[0])]), looser=1e3, scaled=True)


GIVEN: Final = INTS * 1.0
WRONG: Final[list[Any]] = [
    (lambda x: xp.linalg.norm(x, 3), ValueError, "norm: "),
    (lambda x: xp.linalg.norm(x[0], "fro"), ValueError, "norm: "),
    (lambda x: xp.linalg.norm(x, "max"), ValueError, "norm: ord must be "),
    (lambda x: xp.linalg.norm(x[None], 2), ValueError, "norm: "),
    (lambda x: xp.linalg.norm(x, None, 2), IndexError, "norm: axis 2 is out of bounds for array of dimension 2"),
    (lambda x: xp.linalg.cond(x[:, :0]), xp.LinAlgError, "cond: "),
    (lambda x: xp.linalg.lstsq(x, x.T), xp.LinAlgError, "lstsq: "),
    (lambda x: xp.linalg.multi_dot([x]), ValueError, "multi_dot: arrays must hold at least two, not 1"),
    (lambda x: xp.linalg.multi_dot([x, x[0], x]), xp.LinAlgError,
     "multi_dot: arrays[1] must be a matrix, not of 1"),
    (lambda x: xp.linalg.tensorinv(x), xp.LinAlgError,
     "tensorinv: a must have as many elements in its first 2 axes"),
    (lambda x: xp.linalg.tensorinv(x, 0), ValueError, "tensorinv: ind must be at least 1, not 0"),
    (lambda x: xp.linalg.tensorsolve(x, x[:, 0]), xp.LinAlgError, "tensorsolve: a must have as many elements in"),
]  # fmt: skip
"""Calls of an Array of `GIVEN`, with the error and what it says."""
