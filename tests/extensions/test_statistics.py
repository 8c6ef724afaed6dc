"""Order statistics and averages beyond the standard, against NumPy's."""

from __future__ import annotations

from typing import Any, Final, get_args

import numpy as np
import pytest
from against_numpy import Case

import anyarray as xp
from anyarray.extensions.statistics import Method

# NumPy's, of NaN, and of slices without a number.
pytestmark = [pytest.mark.few_backends, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

METHODS: Final = get_args(Method)
A: Final = np.asarray([[7.5, -1.0, 3.0, 3.0], [0.5, 2.0, 9.0, -4.0], [1.0, 8.0, -2.5, 6.0]])
CUBE: Final = np.stack([A, A[::-1] * 1.5])
GAPS: Final = np.where(A > 7, np.nan, A)
ROW_OF_NAN: Final = np.where([[False], [True], [False]], np.nan, GAPS)
INFINITE: Final = np.where(A > 7, np.inf, A)
INTS: Final = np.asarray([[7, -1, 3, 3], [0, 2, 9, -4], [1, 8, -2, 6]])
C: Final = GAPS + 1j * A[::-1]
Q: Final = np.asarray([0.0, 0.3, 0.5, 1.0])
DTYPES: Final = [A.astype("float32"), INTS, INTS.astype("int8"), np.abs(INTS).astype("uint8")]
NOTHING: Final = np.zeros((0, 3))

REDUCTIONS: Final = "median nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar ptp".split()
COMPLEX: Final = "nanmean nanprod nanstd nansum nanvar".split()

CASES: Final = [
    *[Case(name, x) for name in REDUCTIONS for x in (A, GAPS, ROW_OF_NAN, INFINITE, *DTYPES, np.asarray(2.5))],
    *[Case(name, x, 1) for name in REDUCTIONS for x in (ROW_OF_NAN, INTS)],
    *[Case(name, CUBE, axes, keepdims=True) for name in REDUCTIONS for axes in ((0, 2), None)],
    *[Case(name, NOTHING, 0) for name in REDUCTIONS if name not in ("nanmax", "nanmin", "ptp")],
    *[Case(name, INTS > 2) for name in ("median", "nansum", "nanmean", "nanprod", "nanmedian")],
    *[Case(name, C, axis) for name in COMPLEX for axis in (None, 0)],
    *[Case(name, x, 0, np.dtype("float32")) for name in ("nansum", "nanmean", "nanvar") for x in (GAPS, INTS)],
    *[Case(name, x, 1, ddof=n) for name in ("nanvar", "nanstd") for x in (GAPS, ROW_OF_NAN, INTS) for n in (1, 4)],
    *[Case(name, x) for name in ("nanargmax", "nanargmin") for x in (A, GAPS, *DTYPES)],
    *[Case(name, GAPS, 1, keepdims=keep) for name in ("nanargmax", "nanargmin") for keep in (False, True)],
    *[Case(name, x) for name in ("nancumsum", "nancumprod") for x in (GAPS, C, *DTYPES, np.asarray(np.nan))],
    *[Case(name, GAPS, axis, np.dtype("float32")) for name in ("nancumsum", "nancumprod") for axis in (0, -1)],
    *[Case("average", x) for x in (A, INTS, C)],
    *[Case("average", CUBE, axis, keepdims=True) for axis in (1, (0, 2))],
    *[Case("average", x, w, A[::-1] + 5, returned=True) for x in (A, INTS, C) for w in (None, 0)],
    Case("average", A.astype("float32"), 1, np.asarray([1, 2, 3, 4], dtype="float32")),
    Case("average", A, 0, np.asarray([1, 2, 3])),
    Case("average", CUBE, (2, 0), np.arange(8.0).reshape(4, 2) + 1, True),
    Case("average", INTS, None, None, True),
    *[Case("quantile", x, q, axis) for x in (A, GAPS, INTS) for q in (0.3, Q) for axis in (None, 1)],
    *[Case("quantile", INFINITE, q) for q in (0.0, 0.5)],
    *[Case("quantile", x, 0.3) for x in DTYPES],
    *[Case("quantile", A.astype("float32"), q) for q in (0, Q, Q.astype("float32"), np.asarray(0.3))],
    *[Case("quantile", INTS, q) for q in (1, np.asarray([0, 1]))],
    *[Case("quantile", CUBE, Q.reshape(2, 2), axes, keepdims=True) for axes in ((0, 2), 1, None)],
    *[Case("quantile", x, Q, 1, method=method) for x in (A, INTS) for method in METHODS],
    *[Case("quantile", CUBE.reshape(-1), np.arange(25) / 24, method=method) for method in METHODS],
    *[Case("percentile", x, q, method=method) for x in (A, INTS) for q in (30, 100 * Q) for method in METHODS[6:9]],
    Case("percentile", A.astype("float32"), 37.5, -1, keepdims=True),
    *[Case("nanquantile", x, Q, axis) for x in (GAPS, ROW_OF_NAN, INTS) for axis in (None, 1)],
    *[Case("nanquantile", x, 0.3, 1, method=method) for x in (GAPS, ROW_OF_NAN) for method in METHODS],
    *[Case("nanpercentile", x, 30, (0, 1), keepdims=True) for x in (GAPS, INTS)],
    Case("nanquantile", NOTHING, 0.5),
    *[Case("quantile", A, Q, 1, method="inverted_cdf", weights=w) for w in (A + 5, np.asarray([0, 2, 1, 3]))],
    Case("percentile", INTS, 30, method="inverted_cdf", weights=INTS + 5),
    Case("nanquantile", GAPS, Q, 1, method="inverted_cdf", weights=A + 5),
]  # fmt: skip


APART: Final = np.where(A == 3, np.arange(12.0).reshape(3, 4) / 8, A)
"""Without equal elements, where order statistics have no derivative."""

SMOOTH: Final = [
    *[Case(name, APART, 1) for name in REDUCTIONS],
    *[Case(name, APART, 1) for name in ("nancumsum", "nancumprod")],
    *[Case(name, APART, 30.0, 1) for name in ("percentile", "nanpercentile")],
    *[Case(name, APART, 0.3, 1, method="hazen") for name in ("quantile", "nanquantile")],
    Case("quantile", APART[0], np.asarray([0.1, 0.9])),
    Case("average", A, 1),
    Case("average", A, 1, A[::-1] + 5),
]
TRANSFORMED: Final = [*SMOOTH, *[Case(name, A, 1) for name in ("nanargmax", "nanargmin")]]


@pytest.mark.parametrize("function", ["nanmean", "nansum", "nanmax", "nanvar", "nanmedian"])
@pytest.mark.usefixtures("differentiating")
def test_what_is_left_out_has_no_derivative(function: str) -> None:
    gradient = xp.grad(lambda x: getattr(xp, function)(x))(xp.asarray([np.nan, 1.0, 2.0, 4.0]))
    assert float(gradient[0]) == 0.0
    assert np.isfinite(np.asarray(gradient)).all()


WRONG: Final[list[Any]] = [
    (Case("quantile", A, 1.5), ValueError, "quantile: Quantiles must be in the range [0, 1]"),
    (Case("quantile", A, np.asarray([0.5, np.nan])), ValueError, "quantile: Quantiles must be in the range [0, 1]"),
    (Case("percentile", A, 101), ValueError, "percentile: Percentiles must be in the range [0, 100]"),
    (Case("nanargmax", ROW_OF_NAN, 1), ValueError, "nanargmax: All-NaN slice encountered"),
    (Case("average", A, 0, np.asarray([1, -1, 0])), ZeroDivisionError, "average: weights must not sum to zero"),
    (Case("average", A, 0, np.ones(4)), ValueError,
     "average: weights must have the shape of a, (3, 4), or of its axes, (3,), not (4,)"),
    (Case("average", A, None, np.ones(4)), TypeError,
     "average: axis must be given, as weights of shape (4,) are not of the shape of a, (3, 4)"),
    (Case("median", A, 2), IndexError,
     "median: axis 2 is out of bounds for array of dimension 2, must be between -2 and 1"),
    (Case("nanmax", NOTHING, 0), ValueError,
     "nanmax: a of shape (0, 3) has no elements along the axis, and the function has no identity"),
    (Case("quantile", C, 0.5), TypeError,
     "quantile: a must have a real numeric dtype, not complex128. Take a part of it: xp.real(...)"),
    (Case("quantile", A, 0.5, method="middle"), ValueError, "quantile: method must be 'inverted_cdf', "),
    (Case("quantile", A, 0.5, method="middle"), ValueError, " or 'nearest', not 'middle'"),
]  # fmt: skip


@pytest.mark.parametrize("function", ["median", "nanmedian", "nanmean", "nanvar", "quantile"])
def test_a_length_that_a_trace_does_not_know_makes_no_difference(function: str) -> None:
    tf = pytest.importorskip("tensorflow", reason="its traces may not know lengths")
    arguments = (0.3,) if function == "quantile" else ()

    def of_rows(x: Any) -> Any:
        return xp.to_native(getattr(xp, function)(x, *arguments, 1 if arguments else -1))

    traced = tf.function(of_rows, autograph=False, input_signature=[tf.TensorSpec([3, None], tf.float64)])
    np.testing.assert_allclose(traced(tf.constant(A)), getattr(np, function)(A, *arguments, 1), rtol=1e-12)
