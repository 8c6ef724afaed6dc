"""Gradients of `maximum` and `minimum` on TensorFlow, computed in three ways.

NumPy does for few elements, ops without comparisons for constants, and comparisons for the rest, eagerly and in graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

FEW, MANY = 8, 1 << 15
VALUES: Final = np.asarray([-np.inf, -2, 0, 1.5, 3, np.inf, np.nan, -0.0])
SLOPES: Final = np.asarray([np.inf, 3, 2, 4, np.inf, 5, 0, 6])


@pytest.fixture
def tf() -> ModuleType:
    module: ModuleType = pytest.importorskip("tensorflow")
    return module


def eager(tf: ModuleType, function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def traced(tf: ModuleType, function: Callable[..., Any]) -> Callable[..., Any]:
    graph: Callable[..., Any] = tf.function(function, autograph=False)
    return graph


@pytest.mark.parametrize("how", [eager, traced])
@pytest.mark.parametrize("count", [FEW, MANY])
@pytest.mark.parametrize("other", [0.0, 1.5, -2.0, np.inf, "an array"])
@pytest.mark.parametrize("function", ["maximum", "minimum"])
def test_each_operand_has_half_the_gradient_at_a_tie(
    tf: ModuleType, function: str, other: float | str, count: int, how: Callable[..., Any]
) -> None:
    x, slopes = np.resize(VALUES, count), np.resize(SLOPES, count)
    beside = np.resize(VALUES[::-1], count) if isinstance(other, str) else np.full(count, other)
    is_result = x > beside if function == "maximum" else x < beside
    expected = np.where(is_result, slopes, np.where(x == beside, slopes / 2, 0))

    def gradients(x: Any, beside: Any, slopes: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch((x, beside))
            second = beside if isinstance(other, str) else other
            ys = getattr(xp, function)(x, second), getattr(xp, function)(second, x)
        return [tape.gradient(y, x, output_gradients=xp.to_native(slopes)) for y in ys]

    arrays = [xp.asarray(one, device="tf") for one in (x, beside, slopes)]
    for found in how(tf, gradients)(*arrays):
        np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("count", [FEW, MANY])
@pytest.mark.parametrize("function", ["maximum", "minimum"])
def test_an_operand_that_is_broadcast_has_the_sum_of_its_gradients(tf: ModuleType, function: str, count: int) -> None:
    rows = np.stack([np.linspace(-1, 1, count), np.zeros(count)])
    row = np.zeros((1, count))
    x1, x2 = xp.asarray(rows, device="tf"), xp.asarray(row, device="tf")
    with tf.GradientTape() as tape:
        tape.watch((x1, x2))
        y = getattr(xp, function)(x1, x2)
    first, second = tape.gradient(y, (x1, x2))
    is_result = rows > row if function == "maximum" else rows < row
    shares = np.where(is_result, 1, np.where(rows == row, 0.5, 0))
    np.testing.assert_array_equal(np.asarray(first), shares)
    np.testing.assert_array_equal(np.asarray(second), (1 - shares).sum(axis=0, keepdims=True))
