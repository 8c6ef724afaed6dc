"""scikit-learn's estimators and metrics on Arrays, with NumPy's values.

It is called with `array_api_dispatch=True`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pytest
from expressions import several

import anyarray as xp

pytest.importorskip("sklearn")

from sklearn import config_context

pytestmark = pytest.mark.few_backends

RTOL: Final = 1e-8
"""Decompositions differ by library in the last digits, times the condition of the data."""

RANDOM: Final = np.random.default_rng(11)
X: Final = RANDOM.normal(size=(30, 4)) @ np.diag([5.0, 3.0, 2.0, 1.0])
LABELS: Final = (X[:, 0] + X[:, 1] > 0).astype(np.int64)
TARGET: Final = X @ np.asarray([1.0, -2.0, 0.5, 3.0]) + 0.1 * RANDOM.normal(size=30)


MODULES: Final = """
decomposition discriminant_analysis kernel_approximation linear_model metrics mixture model_selection preprocessing
"""
NAMES: Final[dict[str, Any]] = {name: importlib.import_module(f"sklearn.{name}") for name in MODULES.split()}
CALLS: Final = """
preprocessing.StandardScaler().fit_transform(x); preprocessing.MinMaxScaler().fit(x).transform(x)
preprocessing.MaxAbsScaler().fit(x).transform(x); preprocessing.Normalizer().fit(x).transform(x)
preprocessing.Binarizer().fit(x).transform(x); preprocessing.PolynomialFeatures().fit(x).transform(x)
preprocessing.KernelCenterer().fit_transform(metrics.pairwise.linear_kernel(x))
kernel_approximation.Nystroem(n_components=20, random_state=3).fit_transform(x)
mixture.GaussianMixture(2, covariance_type="diag", init_params="random", random_state=3).fit(x).means_
decomposition.PCA(2, svd_solver="full").fit(x).explained_variance_
decomposition.PCA(2, svd_solver="full").fit_transform(x) ** 2; linear_model.Ridge(solver="svd").fit(x, target).coef_
linear_model.Ridge(solver="svd").fit(x, target).predict(x); linear_model.RidgeCV().fit(x, target).coef_
model_selection.cross_val_predict(linear_model.Ridge(solver="svd"), x, target)
model_selection.train_test_split(x, random_state=3)[0]
discriminant_analysis.LinearDiscriminantAnalysis().fit(x, labels).predict(x); metrics.r2_score(target, x[:, 0])
metrics.mean_squared_error(target, x[:, 0]); metrics.mean_absolute_error(target, x[:, 0])
metrics.accuracy_score(labels, 1 - labels); metrics.confusion_matrix(labels, labels)
metrics.pairwise.cosine_similarity(x); metrics.pairwise.euclidean_distances(x, x + 1)
metrics.pairwise_distances(x, x + 1, n_jobs=2); metrics.pairwise.rbf_kernel(x)
"""


@pytest.fixture(autouse=True)
def dispatch() -> Iterator[None]:
    """scikit-learn takes arrays of the standard."""
    with config_context(array_api_dispatch=True):
        yield


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # silenced by scikit-learn for ndarrays alone
@pytest.mark.sampled
@pytest.mark.parametrize("call", several(CALLS))
def test_scikit_learn_computes_on_arrays(call: str, backend: xp.Backend) -> None:
    arrays = {"x": X, "labels": LABELS, "target": TARGET}
    expected = eval(call, NAMES | arrays)
    found = eval(call, NAMES | {name: xp.asarray(value) for name, value in arrays.items()})
    if np.ndim(expected) and "confusion_matrix" not in call:  # which is NumPy's, always
        assert isinstance(found, xp.Array)
        assert found.device is backend
    np.testing.assert_allclose(np.asarray(found), expected, rtol=RTOL, atol=1e-10)
