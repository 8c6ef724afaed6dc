"""SciPy, with SCIPY_ARRAY_API=1: Arrays in, Arrays on the same backend out, with NumPy's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

pytest.importorskip("scipy")

from scipy import cluster, constants, differentiate, fft, integrate, signal, special, stats
from scipy.optimize import elementwise

RTOL: Final = 1e-9
"""SciPy's algorithms of many steps round differently by library; a wrong formula is off by far more."""

DATA: Final = np.random.default_rng(7).normal(size=(6, 8))
POSITIVE: Final = np.abs(DATA) + 0.1

CALLS: Final[dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    "special.logsumexp": (special.logsumexp, (DATA,)),
    "special.softmax": (lambda x: special.softmax(x, axis=1), (DATA,)),
    "special.expit": (special.expit, (DATA,)),
    "special.gammaln": (special.gammaln, (POSITIVE,)),
    "special.xlogy": (special.xlogy, (POSITIVE, POSITIVE)),
    "fft.fft": (fft.fft, (DATA,)),
    "fft.rfft": (fft.rfft, (DATA,)),
    "fft.dct": (fft.dct, (DATA,)),
    "stats.zscore": (stats.zscore, (DATA,)),
    "stats.skew": (stats.skew, (DATA,)),
    "stats.ttest_ind": (lambda x, y: stats.ttest_ind(x, y).statistic, (DATA, DATA * 2)),
    "stats.entropy": (stats.entropy, (POSITIVE,)),
    "stats.gmean": (stats.gmean, (POSITIVE,)),
    "stats.variation": (stats.variation, (POSITIVE,)),
    "signal.detrend": (signal.detrend, (DATA,)),
    "signal.fftconvolve": (signal.fftconvolve, (DATA, DATA)),
    "signal.hilbert": (signal.hilbert, (DATA,)),
    "constants.convert_temperature": (
        lambda x: constants.convert_temperature(x, "C", "K"),
        (DATA,),
    ),
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


@pytest.mark.parametrize("what", CALLS)
def test_scipy_computes_on_arrays(what: str, backend: xp.Backend) -> None:
    function, arrays = CALLS[what]
    expected = function(*arrays)
    found = function(*map(xp.asarray, arrays))
    assert isinstance(found, xp.Array)
    assert found.device is backend
    np.testing.assert_allclose(np.asarray(found), expected, rtol=RTOL, atol=1e-10)
