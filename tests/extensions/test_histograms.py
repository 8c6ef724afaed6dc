"""Histograms and counts, against NumPy's."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from against_numpy import Case
from comparison import assert_same, host

import anyarray as xp

pytestmark = pytest.mark.few_backends

RNG: Final = np.random.default_rng(0)
I: Final = RNG.integers(0, 9, 40)  # noqa: E741 - the integers
A: Final = RNG.normal(size=40)
B: Final = RNG.uniform(size=40)
F32: Final = np.round(4 * A).astype(np.float32) / 4
EDGES: Final = np.asarray([-1.0, 0.0, 0.5, 0.5, 2.0])
ODD: Final = np.asarray([np.nan, -np.inf, np.inf, 0.5, 2.0, -1.0, 0.0])
WEIGHTS: Final = np.asarray(I % 3, np.float32)
FEW: Final = np.asarray([0, 1, 3])

CASES: Final = [
    *[Case("bincount", x) for x in (I, I.astype(np.uint8), I > 3, np.zeros(0, np.int64))],
    *[Case("bincount", I, w) for w in (A, WEIGHTS, I, B > 0.5, np.where(B > 0.9, np.nan, A))],
    *[Case("bincount", I, minlength=n) for n in (0, 20)],
    *[
        Case("digitize", ODD, edges, right)
        for edges in (EDGES, EDGES[::-1].copy(), EDGES[2:4], np.zeros(0))
        for right in (False, True)
    ],
    Case("digitize", I, FEW),
    *[Case("histogram", x) for x in (A, I, F32, I.astype(np.uint8), A.reshape(4, 10), np.zeros(0), np.ones(3))],
    *[Case("histogram", x, EDGES) for x in (A, ODD, I)],
    *[Case("histogram", I, bins=b, weights=w) for b in (3, FEW) for w in (A, WEIGHTS, I, A + 1j * B)],
    Case("histogram", I, 3, weights=B > 0.5),
    *[Case("histogram", A, bins=b, density=True) for b in (4, EDGES[:3])],
    *[Case("histogram", x, 2, (0, 1)) for x in (A, ODD, F32, I)],
    *[Case("histogram", A, b) for b in ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")],
    Case("histogram", np.arange(11) / 10, range=(0, 1)),
    Case("histogram", A, EDGES[:1]),
    *[Case("histogram_bin_edges", x, b) for x in (A, F32, I) for b in (3, "auto")],
    Case("histogram_bin_edges", F32, 3, (np.float64(0), np.float64(1))),
    Case("histogram_bin_edges", A, EDGES),
    *[Case("histogram2d", A, B, b) for b in (3, EDGES, [2, EDGES], [EDGES, 2])],
    Case("histogram2d", F32, I, 2, [(0, 1), None], True, A),
    Case("histogramdd", np.stack([A, B, A], 1), 2, density=True, weights=WEIGHTS),
    Case("histogramdd", [A, I], [2, FEW]),
    Case("histogramdd", A),
]

TRANSFORMED: Final = [
    Case("digitize", A, EDGES),
    Case("digitize", A, EDGES[::-1].copy(), True),
    Case("histogram", A, 3),
    Case("histogram", A, 3, (0, 1), True, B),
    Case("histogram", A, EDGES),
    Case("histogram_bin_edges", A, 3),
    Case("histogram2d", A, B, 2),
]
MAPPED: Final = TRANSFORMED[:4]
SMOOTH: Final = [Case("histogram_bin_edges", A, 3)]


@pytest.mark.usefixtures("backend")
def test_counts_of_a_given_length_are_those_of_numpy_in_transforms() -> None:
    rows, weights = np.stack([I - 1, I[::-1] - 3]), np.stack([A, B])

    def counted(x: xp.Array, w: xp.Array) -> tuple[xp.Array, xp.Array]:
        return xp.bincount(x, length=5), xp.bincount(x, w, length=5)

    of_all = xp.vmap(counted)(xp.asarray(rows), xp.asarray(weights))
    for i, (x, w) in enumerate(zip(rows, weights, strict=True)):
        inside = (x >= 0) & (x < 5)
        expected = np.bincount(x[inside], minlength=5), np.bincount(x[inside], w[inside], minlength=5)
        given = xp.asarray(x), xp.asarray(w)
        for found in (counted(*given), xp.jit(counted)(*given), [one[i, :] for one in of_all]):
            for one, its in zip(found, expected, strict=True):
                assert_same(one, its)


def test_counts_of_an_unknown_length_say_what_to_give(framework: str) -> None:
    with xp.backend(framework), pytest.raises(xp.UnsupportedError, match="Give it: length="):
        xp.jit(xp.bincount)(xp.asarray(I))


def test_the_slope_of_a_sum_of_weights_goes_to_the_weights(framework: str) -> None:
    with xp.backend(framework):
        places = xp.asarray(I)
        slopes = xp.grad(lambda w: xp.sum(xp.bincount(places, w) ** 2))(xp.asarray(A))
        assert_same(slopes, 2 * np.bincount(I, A)[I])
        assert_same(xp.grad(lambda w: xp.histogram(places, 9, weights=w)[0][3])(xp.asarray(A)), (I == 3) * 1.0)


def test_limits_may_be_arrays_of_a_trace(framework: str) -> None:
    with xp.backend(framework):
        counts, edges = xp.jit(lambda a: xp.histogram(a, 4, (xp.min(a) - 1, xp.max(a))))(xp.asarray(A))
        expected = np.histogram(A, 4, (A.min() - 1, A.max()))
        assert_same(counts, expected[0])
        assert_same(edges, expected[1])


def test_elements_counted_on_many_backends_are_the_same_when_they_are_many(framework: str) -> None:
    """In a trace the places are searched by other means than outside."""
    x = RNG.normal(size=5000)
    with xp.backend(framework):
        assert_same(xp.jit(lambda a: xp.histogram(a, 20, (-2, 2))[0])(xp.asarray(x)), np.histogram(x, 20, (-2, 2))[0])
        assert host(xp.histogram(xp.asarray(x), 20)[0]).sum() == 5000


DROP_IN: Final = """
np.bincount([1, 1, 0], weights=[0.5, 1, 2])
np.digitize([0.5, 3], [0, 1, 2])
np.histogram([1, 2, 1], bins=[0, 1, 2, 3])
np.histogram([1, 2, 1], 2, weights=[1, 2, 3])
(lambda a: np.histogram(a, bins="auto", range=(a.min(), a.max())))(np.asarray([1.0, 2.0, 4.0]))
np.histogram_bin_edges([0, 4], 2)
np.histogram2d([0, 1], [0, 1], bins=[[0, 1, 2], 2])
np.histogramdd([[0, 1], [0, 1]], bins=2)
"""

TWO: Final = np.stack([A, B], 1)
WRONG: Final[list[Any]] = [
    (Case("bincount", np.asarray([-1])), xp.ArgumentValueError, "bincount"),
    (Case("bincount", np.asarray([1.0])), xp.ArgumentTypeError, "x must have an integer or boolean dtype"),
    (Case("bincount", I, A[:3]), xp.ArgumentValueError, "bincount"),
    (Case("bincount", np.ones((2, 2), np.int64)), xp.ArgumentValueError, "bincount"),
    (Case("digitize", A, ODD[3:]), xp.ArgumentValueError, "digitize: bins must"),
    (Case("digitize", A, np.ones((1, 2))), xp.ArgumentValueError, "digitize"),
    (Case("histogram", ODD), xp.ArgumentValueError, "finite"),
    (Case("histogram", A, 0), xp.ArgumentValueError, "bins must be positive, not 0"),
    (Case("histogram", A, 1.5), xp.ArgumentTypeError, "bins must be an int, not 1.5"),
    (Case("histogram", A, "many"), xp.ArgumentValueError, "bins must be one of auto, "),
    (Case("histogram", A, "auto", weights=B), xp.ArgumentTypeError, "bins must be a number or edges with weights"),
    (Case("histogram", A, EDGES[::-1].copy()), xp.ArgumentValueError, "bins must increase"),
    (Case("histogram", A, 3, (1, 0)), xp.ArgumentValueError, "range must not decrease, as 1 to 0"),
    (Case("histogram", A, 3, (0, np.inf)), xp.ArgumentValueError, "must be finite, not 0 to inf"),
    (Case("histogram", A, 3, weights=B[:3]), xp.ArgumentValueError, "weights must be of the shape of a"),
    (Case("histogram2d", A, B[:3]), xp.ArgumentValueError, "vectors of one length"),
    (Case("histogramdd", TWO, [2]), xp.ArgumentValueError, "bins must have an entry for each of 2 axes, not 1"),
    (Case("histogramdd", TWO, 2, [(0, 1)]), xp.ArgumentValueError, "range must have an entry"),
]
if np.lib.NumpyVersion(np.__version__) >= "2.2.0":
    WRONG.append((Case("histogram", A, 3, (1e20, 1e20)), xp.ArgumentValueError, "bins"))
