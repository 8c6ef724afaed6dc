"""SciPy on Arrays: results on the same backend, with NumPy's values.

It is called with SCIPY_ARRAY_API=1.
"""

from __future__ import annotations

import importlib
import operator
from typing import Any, Final

import numpy as np
import pytest
from expressions import several

import anyarray as xp

pytest.importorskip("scipy")

from scipy import sparse
from scipy.optimize import elementwise
from scipy.spatial.transform import Rotation

pytestmark = pytest.mark.few_backends

RTOL: Final = 1e-9
"""SciPy's algorithms of many steps round differently by library; a wrong formula is off by far more."""

DATA: Final = np.random.default_rng(7).normal(size=(6, 8))
POSITIVE: Final = np.abs(DATA) + 0.1
WITH_NAN: Final = np.where(np.random.default_rng(8).random(6000) < 0.01, np.nan, 1.0)

MODULES: Final = "cluster constants differentiate fft integrate interpolate ndimage signal special stats".split()
NAMES: Final[dict[str, Any]] = {name: importlib.import_module(f"scipy.{name}") for name in MODULES}
NAMES.update(elementwise=elementwise, Rotation=Rotation)
CALLS: Final = """
special.logsumexp(x); special.softmax(x, axis=1); special.expit(x); special.gammaln(p); special.xlogy(p, p)
special.erf(x); special.betainc(p, p, (1 / (1 + p))); special.stdtrit(p, (1 / (1 + p)))
special.log_softmax(x, axis=0); fft.fft(x); fft.rfft(x); fft.dct(x); fft.irfftn((x + 0j)); fft.fht(p, 0.1, 0.5)
stats.zscore(x); stats.skew(x); stats.ttest_ind(x, x * 2).statistic; stats.entropy(p); stats.gmean(p)
stats.variation(p); stats.describe(x).variance; stats.kurtosis(x); stats.moment(x, [1, 2, 3]); stats.trim_mean(x, 0.2)
stats.rankdata(x); stats.quantile(x, 0.3, axis=1); stats.pearsonr(x, x ** 2, axis=1).pvalue
stats.mannwhitneyu(x, x + 0.5, method="asymptotic").pvalue; stats.kruskal(x, x + 0.5).pvalue
stats.zscore(holed, nan_policy="omit"); signal.detrend(x); signal.fftconvolve(x, x); signal.hilbert(x)
signal.firwin(9, p[0, 0] / 9); signal.savgol_filter(x, 5, 2); signal.resample(x, 12, axis=1)
signal.lfilter(x[0, :3], x[1, :3] + 3, x); signal.convolve(x, x); ndimage.gaussian_filter(x, 1.5); ndimage.zoom(x, 2)
ndimage.label(x > 0)[0]; ndimage.binary_dilation(x > 1); interpolate.make_interp_spline(n, x, axis=1)(n + 0.1)
Rotation.from_quat(x[:, :4]).as_matrix(); Rotation.from_rotvec(x[:, :3]).inv().apply(x[:, 3:6])
constants.convert_temperature(x, "C", "K"); integrate.trapezoid(x); integrate.cumulative_simpson(x)
cluster.vq.whiten(x); cluster.vq.vq(x, x[:2])[1]
elementwise.find_root(lambda x, square: x ** 2 - square, (0 * p, 4 + p), args=(p ** 2,)).x
differentiate.derivative(special.expit, x).df
"""


@pytest.mark.sampled
@pytest.mark.parametrize("call", several(CALLS))
def test_scipy_computes_on_arrays(call: str, backend: xp.Backend) -> None:
    arrays = {"x": DATA, "p": POSITIVE, "holed": WITH_NAN, "n": np.arange(8.0)}
    expected = eval(call, NAMES | arrays)
    found = eval(call, NAMES | {name: xp.asarray(value) for name, value in arrays.items()})
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
