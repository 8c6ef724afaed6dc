"""array-api-extra: functions over any namespace of the standard."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
from expressions import several

import anyarray as xp

pytestmark = pytest.mark.few_backends

xpx = pytest.importorskip("array_api_extra")

RTOL: Final = 1e-12
"""A few operations in float64."""

DATA: Final = np.random.default_rng(13).normal(size=(4, 5))
INTEGERS: Final = np.asarray([3, 1, 2, 3, 1])

CALLS: Final = """
xpx.apply_where(x > 0, x, lambda y: y ** 0.5, lambda y: -y); xpx.at(x)[1, 2].set(7.0, copy=True)
xpx.at(x)[:, 0].add(1.0, copy=True); xpx.at(x)[x > 0].multiply(2.0, copy=True); xpx.atleast_nd(x, ndim=4); xpx.cov(x)
xpx.create_diagonal(x[0], offset=1); xpx.isclose(x, x + 1e-12); xpx.kron(x, x); xpx.nan_to_num(x / 0 * (x > 0))
xpx.nunique(i); xpx.one_hot(i, 4); xpx.pad(x, ((1, 2), (0, 3)), constant_values=5.0); xpx.setdiff1d(i, i[1:3])
xpx.sinc(x); xpx.partition(x, 2)[..., 2]
"""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of the NaN that nan_to_num is given
@pytest.mark.parametrize("call", several(CALLS))
def test_array_api_extra_computes_on_arrays(call: str, backend: xp.Backend) -> None:
    expected = eval(call, {"xpx": xpx, "x": DATA, "i": INTEGERS})
    found = eval(call, {"xpx": xpx, "x": xp.asarray(DATA), "i": xp.asarray(INTEGERS)})
    if not isinstance(found, int):
        assert isinstance(found, xp.Array)
        assert found.device is backend
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=RTOL, atol=1e-14)
