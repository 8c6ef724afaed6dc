"""Order and distinct values, where shortcuts are taken for some data.

Such data has zeros of two signs or NaN, or is sorted.
"""

from __future__ import annotations

import pytest

import anyarray as xp

NAN = float("nan")

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.parametrize("many", [1, 50])
def test_a_stable_sort_keeps_the_order_of_zeros(many: int) -> None:
    zeros = [0.0, -0.0, -0.0] * many
    ascending = xp.sort(xp.asarray([*zeros, 1.0]))
    assert xp.signbit(ascending).tolist() == [False, True, True] * many + [False]
    descending = xp.sort(xp.asarray([*zeros, 1.0]), descending=True)
    assert xp.signbit(descending).tolist() == [False] + [False, True, True] * many
    columns = xp.sort(xp.asarray([[zero, zero] for zero in [*zeros, 1.0]]), axis=0, descending=True)
    assert xp.signbit(columns[:, 1]).tolist() == [False] + [False, True, True] * many


@pytest.mark.parametrize("values", [[1.0, 1.0, 2.0, NAN, NAN], [NAN, 2.0, 1.0, NAN, 1.0]], ids=["sorted", "unsorted"])
def test_unique_values_ascend_and_every_nan_is_one(values: list[float]) -> None:
    found = xp.unique_values(xp.asarray(values))
    assert found.shape == (4,)
    assert found[:2].tolist() == [1.0, 2.0]
    assert bool(xp.all(xp.isnan(found[2:])))


@pytest.mark.parametrize(
    ("values", "distinct"),
    [([[1, 1], [1, 3]], [1, 3]), ([False, True, True], [False, True]), ([], []), (5, [5]), ([1j, 1j, 0j], [0j, 1j])],
)
def test_unique_values_of_a_sorted_array(values: object, distinct: list[complex]) -> None:
    assert xp.unique_values(xp.asarray(values)).tolist() == distinct


def test_unique_values_are_no_view_of_a_sorted_array() -> None:
    x = xp.asarray([1.0, 2.0, 3.0])
    found = xp.unique_values(x)
    x[0] = 9.0
    assert found.tolist() == [1.0, 2.0, 3.0]
