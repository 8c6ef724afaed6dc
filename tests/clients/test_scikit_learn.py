"""scikit-learn's estimators and metrics on Arrays, with NumPy's values.

It is called with `array_api_dispatch=True`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

pytest.importorskip("sklearn")

from sklearn import config_context, metrics
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.preprocessing import (
    Binarizer,
    KernelCenterer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

pytestmark = pytest.mark.few_backends

RTOL: Final = 1e-8
"""Decompositions differ by library in the last digits, times the condition of the data."""

RANDOM: Final = np.random.default_rng(11)
X: Final = RANDOM.normal(size=(30, 4)) @ np.diag([5.0, 3.0, 2.0, 1.0])
LABELS: Final = (X[:, 0] + X[:, 1] > 0).astype(np.int64)
TARGET: Final = X @ np.asarray([1.0, -2.0, 0.5, 3.0]) + 0.1 * RANDOM.normal(size=30)


def of_transformer(transformer: Any) -> Callable[..., Any]:
    return lambda x, labels, target: transformer.fit(x).transform(x)


CALLS: Final[dict[str, Callable[..., Any]]] = {
    "StandardScaler": lambda x, labels, target: StandardScaler().fit_transform(x),
    "MinMaxScaler": of_transformer(MinMaxScaler()),
    "MaxAbsScaler": of_transformer(MaxAbsScaler()),
    "Normalizer": of_transformer(Normalizer()),
    "Binarizer": of_transformer(Binarizer()),
    "PolynomialFeatures": of_transformer(PolynomialFeatures()),
    "KernelCenterer": lambda x, labels, target: KernelCenterer().fit_transform(metrics.pairwise.linear_kernel(x)),
    "Nystroem": lambda x, labels, target: Nystroem(n_components=20, random_state=3).fit_transform(x),
    "GaussianMixture": lambda x, labels, target: (
        GaussianMixture(2, covariance_type="diag", init_params="random", random_state=3).fit(x).means_
    ),
    "PCA": lambda x, labels, target: PCA(2, svd_solver="full").fit(x).explained_variance_,
    "PCA, transformed": lambda x, labels, target: PCA(2, svd_solver="full").fit_transform(x) ** 2,
    "Ridge": lambda x, labels, target: Ridge(solver="svd").fit(x, target).coef_,
    "Ridge, predicted": lambda x, labels, target: Ridge(solver="svd").fit(x, target).predict(x),
    "RidgeCV": lambda x, labels, target: RidgeCV().fit(x, target).coef_,
    "cross_val_predict": lambda x, labels, target: cross_val_predict(Ridge(solver="svd"), x, target),
    "train_test_split": lambda x, labels, target: train_test_split(x, random_state=3)[0],
    "LinearDiscriminantAnalysis": lambda x, labels, target: LinearDiscriminantAnalysis().fit(x, labels).predict(x),
    "r2_score": lambda x, labels, target: metrics.r2_score(target, x[:, 0]),
    "mean_squared_error": lambda x, labels, target: metrics.mean_squared_error(target, x[:, 0]),
    "mean_absolute_error": lambda x, labels, target: metrics.mean_absolute_error(target, x[:, 0]),
    "accuracy_score": lambda x, labels, target: metrics.accuracy_score(labels, 1 - labels),
    "confusion_matrix": lambda x, labels, target: metrics.confusion_matrix(labels, labels),
    "cosine_similarity": lambda x, labels, target: metrics.pairwise.cosine_similarity(x),
    "euclidean_distances": lambda x, labels, target: metrics.pairwise.euclidean_distances(x, x + 1),
    "pairwise_distances, in threads": lambda x, labels, target: metrics.pairwise_distances(x, x + 1, n_jobs=2),
    "rbf_kernel": lambda x, labels, target: metrics.pairwise.rbf_kernel(x),
}


@pytest.fixture(autouse=True)
def dispatch() -> Iterator[None]:
    """scikit-learn takes arrays of the standard."""
    with config_context(array_api_dispatch=True):
        yield


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # silenced by scikit-learn for ndarrays alone
@pytest.mark.sampled
@pytest.mark.parametrize("what", CALLS)
def test_scikit_learn_computes_on_arrays(what: str, backend: xp.Backend) -> None:
    expected = CALLS[what](X, LABELS, TARGET)
    found = CALLS[what](*map(xp.asarray, (X, LABELS, TARGET)))
    if np.ndim(expected) and what != "confusion_matrix":  # which is NumPy's, always
        assert isinstance(found, xp.Array)
        assert found.device is backend
    np.testing.assert_allclose(np.asarray(found), expected, rtol=RTOL, atol=1e-10)
