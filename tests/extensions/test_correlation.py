"""Covariances, correlations and convolutions, against NumPy's."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
from against_numpy import Case, assert_parts_same

import anyarray as xp

pytestmark = [
    pytest.mark.few_backends,
    pytest.mark.filterwarnings("ignore:Degrees of freedom", "ignore:invalid value", "ignore:divide by zero"),
]

RNG: Final = np.random.default_rng(0)
M: Final = RNG.normal(size=(3, 5))
Y: Final = RNG.normal(size=(2, 5))
V: Final = RNG.normal(size=5)
C: Final = RNG.normal(size=(3, 5)) + 1j * RNG.normal(size=(3, 5))
I: Final = RNG.integers(-9, 9, (3, 5))  # noqa: E741 - the integers
COUNTS: Final = np.asarray([1, 2, 0, 3, 1])
WEIGHTS: Final = RNG.uniform(size=5)
F32: Final = M.astype(np.float32)
ODD: Final = np.asarray([np.inf, 1.0, np.nan])
MODES: Final = ("full", "same", "valid")

CASES: Final = [
    *[Case(name, x, looser=10.0) for name in ("cov", "corrcoef") for x in (M, I, F32, C, V, M[:0], M[:, :1])],
    *[Case("cov", x, looser=10.0, rowvar=False) for x in (M, V, M[:1], I)],
    *[Case("cov", M, y, looser=10.0) for y in (Y, V, C, I)],
    *[Case("cov", M.T, y, False, looser=10.0) for y in (Y.T, M.T)],
    Case("cov", V, V, looser=10.0),
    Case("cov", M > 0, looser=10.0),
    *[Case("cov", M, bias=bias, ddof=ddof, looser=10.0) for bias in (False, True) for ddof in (None, 0, 2, 7)],
    *[
        Case("cov", x, looser=10.0, ddof=ddof, **weights)
        for x, ddof in ((M, None), (M, 0), (M, 30), (C, None))
        for weights in ({"fweights": COUNTS}, {"fweights": COUNTS, "aweights": WEIGHTS})
    ],
    Case("cov", M, aweights=WEIGHTS, looser=10.0),
    Case("cov", M, dtype=np.float32),
    Case("cov", np.asarray([[1.0, np.nan, 2.0], [1.0, 2.0, 3.0]])),
    Case("corrcoef", M, Y, looser=10.0),
    Case("corrcoef", M.T, rowvar=False, looser=10.0),
    Case("corrcoef", M, dtype=np.float32, looser=10.0),
    Case("corrcoef", np.ones((2, 3))),
    Case("corrcoef", np.ones(3)),
    *[
        Case(name, *pair, mode, looser=100.0)
        for name in ("convolve", "correlate")
        for mode in MODES
        for pair in ((V, M[0, :2]), (M[0, :2], V), (V, M[0, :3]), (V, V))
    ],
    *[
        Case(name, *pair, "full", looser=100.0)
        for name in ("convolve", "correlate")
        for pair in ((I[0], V), (C[0], C[1, :3]), (V[:2], C[0]), (F32[0], F32[1]), (V > 0, V < 0.5), (V[:1], V))
    ],
    *[Case("convolve", *pair) for pair in ((ODD, V), (V, ODD), (np.asarray(2), I[0]), (I[0].astype(np.int8),) * 2)],
]  # fmt: skip

TRANSFORMED: Final = [
    Case("cov", M, looser=10.0),
    Case("cov", M, Y, fweights=COUNTS, aweights=WEIGHTS, looser=10.0),
    Case("corrcoef", M, looser=10.0),
    Case("convolve", V, M[0, :3], looser=100.0),
    Case("correlate", V, M[0, :3], "same", looser=100.0),
    Case("convolve", V, ODD),
    Case("convolve", M[0, :3], V, looser=100.0),
]
MAPPED: Final = TRANSFORMED[:5]
SMOOTH: Final = [*TRANSFORMED[1:4], Case("convolve", M[0, :3], V)]


@pytest.mark.parametrize(
    "case",
    [
        Case("convolve", V, M[0], looser=100.0),
        Case("correlate", V > 0, V[:3] < 0.5, "full"),
        Case("convolve", ODD, V),
        Case("convolve", V, ODD),
        Case("correlate", C[0], C[1, :4], "same", looser=100.0),
    ],
    ids=repr,
)
def test_a_sum_of_many_products_is_made_in_parts_in_jit(
    framework: str, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anyarray.extensions.correlation._FEW", 2)
    monkeypatch.setattr("anyarray.extensions.correlation._AT_ONCE", 12)
    with xp.backend(framework):
        found = xp.jit(lambda a, v: case.call(xp, [a, v]))(*[xp.asarray(one) for one in case.arrays])
        assert_parts_same(found, case.call(np, case.arrays), case.looser)


@pytest.mark.usefixtures("backend")
def test_no_degree_of_freedom_warns_as_in_numpy() -> None:
    with pytest.warns(RuntimeWarning, match="Degrees of freedom <= 0"), np.errstate(all="ignore"):
        assert np.isnan(np.asarray(xp.cov(xp.asarray([1.0])))).all()


DROP_IN: Final = """
np.cov([[0, 1, 2], [2, 1, 0]])
np.cov([0, 1, 2], [2, 1, 0], fweights=[1, 0, 1])
np.corrcoef([0, 1, 2], [2, 1, 0])
np.convolve([1, 2], [1, 10], mode="full")
np.correlate([1, 2, 3], [0, 1])
"""

WRONG: Final = [
    (Case("cov", np.ones((2, 2, 2))), ValueError, "m"),
    (Case("cov", M, fweights=WEIGHTS), TypeError, "fweights must"),
    (Case("cov", M, fweights=-COUNTS), ValueError, "fweights"),
    (Case("cov", M, fweights=COUNTS[:3]), RuntimeError, "fweights"),
    (Case("cov", M, aweights=M), RuntimeError, "aweights"),
    (Case("convolve", V, V[:0]), ValueError, "v"),
    (Case("convolve", M, V), ValueError, "convolve"),
    (Case("correlate", V[:0], V), ValueError, "correlate"),
    (Case("correlate", V, V, "all"), ValueError, "mode must be 'valid', 'same' or 'full', not 'all'"),
]
