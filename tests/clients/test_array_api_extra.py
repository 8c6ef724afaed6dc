"""array-api-extra: functions over any namespace of the standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

pytestmark = pytest.mark.few_backends

xpx = pytest.importorskip("array_api_extra")

RTOL: Final = 1e-12
"""A few operations in float64."""

DATA: Final = np.random.default_rng(13).normal(size=(4, 5))
INTEGERS: Final = np.asarray([3, 1, 2, 3, 1])

CALLS: Final[dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    "apply_where": (lambda x: xpx.apply_where(x > 0, x, lambda y: y**0.5, lambda y: -y), (DATA,)),
    "at, set": (lambda x: xpx.at(x)[1, 2].set(7.0, copy=True), (DATA,)),
    "at, add": (lambda x: xpx.at(x)[:, 0].add(1.0, copy=True), (DATA,)),
    "at, multiplied at a mask": (lambda x: xpx.at(x)[x > 0].multiply(2.0, copy=True), (DATA,)),
    "atleast_nd": (lambda x: xpx.atleast_nd(x, ndim=4), (DATA,)),
    "cov": (xpx.cov, (DATA,)),
    "create_diagonal": (lambda x: xpx.create_diagonal(x[0], offset=1), (DATA,)),
    "isclose": (lambda x: xpx.isclose(x, x + 1e-12), (DATA,)),
    "kron": (lambda x: xpx.kron(x, x), (DATA,)),
    "nan_to_num": (lambda x: xpx.nan_to_num(x / 0 * (x > 0)), (DATA,)),
    "nunique": (xpx.nunique, (INTEGERS,)),
    "one_hot": (lambda i: xpx.one_hot(i, 4), (INTEGERS,)),
    "pad": (lambda x: xpx.pad(x, ((1, 2), (0, 3)), constant_values=5.0), (DATA,)),
    "setdiff1d": (lambda i: xpx.setdiff1d(i, i[1:3]), (INTEGERS,)),
    "sinc": (xpx.sinc, (DATA,)),
    "argpartition": (lambda x: xpx.partition(x, 2)[..., 2], (DATA,)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of the NaN that nan_to_num is given
@pytest.mark.parametrize("what", CALLS)
def test_array_api_extra_computes_on_arrays(what: str, backend: xp.Backend) -> None:
    function, arrays = CALLS[what]
    expected = function(*arrays)
    found = function(*map(xp.asarray, arrays))
    if not isinstance(found, int):
        assert isinstance(found, xp.Array)
        assert found.device is backend
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=RTOL, atol=1e-14)
