"""SciPy on Arrays: results on the same backend, with NumPy's values.

It is called with SCIPY_ARRAY_API=1.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

pytest.importorskip("scipy")

from scipy import (
    cluster,
    constants,
    differentiate,
    fft,
    integrate,
    interpolate,
    ndimage,
    signal,
    sparse,
    special,
    stats,
)
from scipy.optimize import elementwise
from scipy.spatial.transform import Rotation

pytestmark = pytest.mark.few_backends

RTOL: Final = 1e-9
"""SciPy's algorithms of many steps round differently by library; a wrong formula is off by far more."""

DATA: Final = np.random.default_rng(7).normal(size=(6, 8))
POSITIVE: Final = np.abs(DATA) + 0.1
WITH_NAN: Final = np.where(np.random.default_rng(8).random(6000) < 0.01, np.nan, 1.0)

CALLS: Final[dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    "special.logsumexp": (special.logsumexp, (DATA,)),
    "special.softmax": (lambda x: special.softmax(x, axis=1), (DATA,)),
    "special.expit": (special.expit, (DATA,)),
    "special.gammaln": (special.gammaln, (POSITIVE,)),
    "special.xlogy": (special.xlogy, (POSITIVE, POSITIVE)),
    "special.erf": (special.erf, (DATA,)),
    "special.betainc": (special.betainc, (POSITIVE, POSITIVE, 1 / (1 + POSITIVE))),
    "special.stdtrit": (special.stdtrit, (POSITIVE, 1 / (1 + POSITIVE))),
    "special.log_softmax": (lambda x: special.log_softmax(x, axis=0), (DATA,)),
    "fft.fft": (fft.fft, (DATA,)),
    "fft.rfft": (fft.rfft, (DATA,)),
    "fft.dct": (fft.dct, (DATA,)),
    "fft.irfftn": (fft.irfftn, (DATA + 0j,)),
    "fft.fht": (lambda x: fft.fht(x, 0.1, 0.5), (POSITIVE,)),
    "stats.zscore": (stats.zscore, (DATA,)),
    "stats.skew": (stats.skew, (DATA,)),
    "stats.ttest_ind": (lambda x, y: stats.ttest_ind(x, y).statistic, (DATA, DATA * 2)),
    "stats.entropy": (stats.entropy, (POSITIVE,)),
    "stats.gmean": (stats.gmean, (POSITIVE,)),
    "stats.variation": (stats.variation, (POSITIVE,)),
    "stats.describe": (lambda x: stats.describe(x).variance, (DATA,)),
    "stats.kurtosis": (stats.kurtosis, (DATA,)),
    "stats.moment": (lambda x: stats.moment(x, [1, 2, 3]), (DATA,)),
    "stats.trim_mean": (lambda x: stats.trim_mean(x, 0.2), (DATA,)),
    "stats.rankdata": (stats.rankdata, (DATA,)),
    "stats.quantile": (lambda x: stats.quantile(x, 0.3, axis=1), (DATA,)),
    "stats.pearsonr": (lambda x, y: stats.pearsonr(x, y, axis=1).pvalue, (DATA, DATA**2)),
    "stats.mannwhitneyu": (lambda x, y: stats.mannwhitneyu(x, y, method="asymptotic").pvalue, (DATA, DATA + 0.5)),
    "stats.kruskal": (lambda x, y: stats.kruskal(x, y).pvalue, (DATA, DATA + 0.5)),
    "stats.zscore, NaN omitted": (lambda x: stats.zscore(x, nan_policy="omit"), (WITH_NAN,)),
    "signal.detrend": (signal.detrend, (DATA,)),
    "signal.fftconvolve": (signal.fftconvolve, (DATA, DATA)),
    "signal.hilbert": (signal.hilbert, (DATA,)),
    "signal.firwin": (lambda x: signal.firwin(9, x), (np.asarray(0.3),)),
    "signal.savgol_filter": (lambda x: signal.savgol_filter(x, 5, 2), (DATA,)),
    "signal.resample": (lambda x: signal.resample(x, 12, axis=1), (DATA,)),
    "signal.lfilter": (lambda x: signal.lfilter(x[0, :3], x[1, :3] + 3, x), (DATA,)),
    "signal.convolve": (signal.convolve, (DATA, DATA)),
    "ndimage.gaussian_filter": (lambda x: ndimage.gaussian_filter(x, 1.5), (DATA,)),
    "ndimage.zoom": (lambda x: ndimage.zoom(x, 2), (DATA,)),
    "ndimage.label": (lambda x: ndimage.label(x > 0)[0], (DATA,)),
    "ndimage.binary_dilation": (lambda x: ndimage.binary_dilation(x > 1), (DATA,)),
    "interpolate.make_interp_spline": (
        lambda x, y: interpolate.make_interp_spline(x, y, axis=1)(x + 0.1),
        (np.arange(8.0), DATA),
    ),
    "spatial.transform.Rotation": (lambda x: Rotation.from_quat(x[:, :4]).as_matrix(), (DATA,)),
    "spatial.transform.Rotation, applied": (lambda x: Rotation.from_rotvec(x[:, :3]).inv().apply(x[:, 3:6]), (DATA,)),
    "constants.convert_temperature": (lambda x: constants.convert_temperature(x, "C", "K"), (DATA,)),
    "integrate.trapezoid": (integrate.trapezoid, (DATA,)),
    "integrate.cumulative_simpson": (integrate.cumulative_simpson, (DATA,)),
    "cluster.vq.whiten": (cluster.vq.whiten, (DATA,)),
    "cluster.vq.vq": (lambda x, y: cluster.vq.vq(x, y)[1], (DATA, DATA[:2])),
    "optimize.elementwise.find_root": (
        lambda a: elementwise.find_root(lambda x, square: x**2 - square, (0 * a, 4 + a), args=(a**2,)).x,
        (POSITIVE,),
    ),
    "differentiate.derivative": (lambda a: differentiate.derivative(special.expit, a).df, (DATA,)),
}


@pytest.mark.sampled
@pytest.mark.parametrize("what", CALLS)
def test_scipy_computes_on_arrays(what: str, backend: xp.Backend) -> None:
    function, arrays = CALLS[what]
    expected = function(*arrays)
    found = function(*map(xp.asarray, arrays))
    assert isinstance(found, xp.Array)
    assert found.device is backend
    np.testing.assert_allclose(np.asarray(found), expected, rtol=RTOL, atol=1e-10)


@pytest.mark.usefixtures("backend")
def test_sparse_arrays_are_made_of_arrays_and_multiply_them() -> None:
    dense = np.asarray([[4.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 2.0]])
    v = np.asarray([1.0, 2.0, 3.0])
    made, x = sparse.csr_array(xp.asarray(dense)), xp.asarray(v)
    np.testing.assert_array_equal(made.toarray(), dense)
    np.testing.assert_array_equal(made @ x, dense @ v)
    np.testing.assert_array_equal(x @ made, v @ dense)
    np.testing.assert_array_equal((made * x).toarray(), dense * v)
    np.testing.assert_array_equal(made[xp.asarray([0, 2])].toarray(), dense[[0, 2]])
    for compare in (operator.eq, operator.ne):
        for found, wanted in ((compare(made, x), compare(made, v)), (compare(x, made), compare(v, made))):
            assert type(found) is type(wanted)
            np.testing.assert_array_equal(sparse.csr_array(found).toarray(), sparse.csr_array(wanted).toarray())
