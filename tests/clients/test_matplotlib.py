"""Matplotlib: pictures of Arrays are those of ndarrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import anyarray as xp

pytestmark = pytest.mark.few_backends

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def axes() -> Any:
    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


@pytest.mark.usefixtures("backend")
def test_columns_of_a_matrix_are_the_data_sets(axes: Any) -> None:
    x = xp.reshape(xp.arange(15.0), (5, 3))
    assert len(axes.boxplot(x)["boxes"]) == 3
    counts, _, _ = axes.hist(x, bins=4)
    assert np.array_equal(counts, axes.hist(np.asarray(x), bins=4)[0])


@pytest.mark.usefixtures("backend")
def test_lines_and_points_lie_where_the_values_are(axes: Any) -> None:
    x, y = xp.linspace(0, 1, 50), xp.linspace(0, 1, 50) ** 2
    (line,) = axes.plot(x, y)
    assert np.array_equal(line.get_xydata(), np.stack([x, y], axis=1))
    points = axes.scatter(x, y, c=y)
    assert np.array_equal(points.get_offsets(), np.stack([x, y], axis=1))
    assert np.array_equal(axes.imshow(xp.reshape(x, (5, 10))).get_array(), np.reshape(x, (5, 10)))
