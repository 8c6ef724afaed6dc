"""Order and distinct values, where shortcuts are taken for some data.

Such data has zeros of two signs or NaN, or is sorted.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import anyarray as xp

NAN = float("nan")

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.parametrize("many", [1, 50, 200])
def test_a_stable_sort_keeps_the_order_of_zeros(many: int) -> None:
    zeros = [0.0, -0.0, -0.0] * many
    ascending = xp.sort(xp.asarray([*zeros, 1.0]))
    assert xp.signbit(ascending).tolist() == [False, True, True] * many + [False]
    descending = xp.sort(xp.asarray([*zeros, 1.0]), descending=True)
    assert xp.signbit(descending).tolist() == [False] + [False, True, True] * many
    columns = xp.sort(xp.asarray([[zero, zero] for zero in [*zeros, 1.0]]), axis=0, descending=True)
    assert xp.signbit(columns[:, 1]).tolist() == [False] + [False, True, True] * many


def test_rows_and_columns_are_sorted_in_both_orders() -> None:
    for x in (np.asarray([[3, 1, 2], [2, 4, 0]]), np.asarray([[0.5, 2.0], [1.0, -1.0]])):
        for axis in (0, 1):
            expected = np.sort(x, axis=axis)
            assert xp.sort(xp.asarray(x), axis=axis).tolist() == expected.tolist()
            descending = xp.sort(xp.asarray(x), axis=axis, descending=True)
            assert descending.tolist() == np.flip(expected, axis).tolist()


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "uint64", "int8", "bool"])
def test_many_elements_are_sorted_as_by_numpy(dtype: str, descending: bool) -> None:
    values = np.random.default_rng(3).integers(0, 100, (2, 600)).astype(float)
    if "float" in dtype:
        values[:, ::7], values[:, ::5], values[:, 3] = NAN, -0.0, np.inf
    with xp.backend("numpy"):
        host = xp.asarray(values, dtype=dtype)
        order = np.asarray(xp.argsort(host, descending=descending))
        expected = np.asarray(xp.astype(xp.take_along_axis(host, xp.asarray(order)), xp.float64))
    x = xp.asarray(values, dtype=dtype)
    found = xp.sort(x, descending=descending)
    assert found.dtype == x.dtype
    assert found.device == x.device
    np.testing.assert_array_equal(np.asarray(xp.astype(found, xp.float64)), expected)
    np.testing.assert_array_equal(np.asarray(xp.argsort(x, descending=descending)), order)


@pytest.mark.few_backends
@pytest.mark.sampled
@pytest.mark.parametrize("special", [[], [NAN], [0.0, -0.0], [np.inf, -np.inf]], ids=["plain", "nan", "zeros", "inf"])
@pytest.mark.parametrize("shape", [(7,), (5000,), (2, 300, 3)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_the_place_of_the_greatest_is_numpys(dtype: str, shape: tuple[int, ...], special: list[float]) -> None:
    # Of equal elements, zeros of two signs and NaN the first one's.
    rng = np.random.default_rng(5)
    values = np.round(rng.standard_normal(shape) * 3)
    if special:
        values.flat[1::2] = rng.choice(special, values.size // 2)
    x = xp.asarray(values, dtype=dtype)
    for called, numpys in ((xp.argmax, np.argmax), (xp.argmin, np.argmin)):
        for axis in (None, *range(len(shape))):
            expected = numpys(values, axis=axis)
            ways: list[Any] = [called]
            if dtype == ("bfloat16" if called is xp.argmin else "float64"):
                ways.append(xp.jit(called, static_argnames="axis"))
            for way in ways:
                found = way(x, axis=axis)
                assert found.dtype == xp.int64
                np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.few_backends
@pytest.mark.parametrize("n", [1, 16, 17, 23, 136, 137, 1023])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32"])
def test_the_place_of_the_greatest_is_numpys_along_an_axis_of_any_length(dtype: str, n: int) -> None:
    rng = np.random.default_rng(n)
    least = 0 if dtype in ("bool", "float32") else np.iinfo(dtype).min
    for (function, worst), greatest in itertools.product([("argmax", -np.inf), ("argmin", np.inf)], [0, 2]):
        # All equal, the least there is, or few values.
        values = (least + rng.integers(0, greatest, (5, n, 3), endpoint=True).astype(dtype)).astype(dtype)
        if dtype == "float32" and not greatest:
            values[...] = worst
        found = getattr(xp, function)(xp.asarray(values), axis=1, keepdims=True)
        np.testing.assert_array_equal(np.asarray(found), getattr(np, function)(values, axis=1, keepdims=True))


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


@pytest.mark.parametrize("count", [10, 20_000])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_sorted_around_nan(backend: xp.Backend, dtype: str, count: int) -> None:
    if not backend.has_dtype(dtype):
        pytest.skip(f"no {dtype} here")
    random = np.random.default_rng(0)
    values = np.where(random.random(count) < 0.1, np.nan, random.integers(-3, 4, count).astype(float))
    x, wanted = xp.astype(xp.asarray(values), getattr(xp, dtype)), np.sort(values)

    def host(x: xp.Array) -> Any:
        assert x.dtype == dtype
        return np.asarray(xp.astype(x, xp.float64))

    for stable in (True, False):
        np.testing.assert_array_equal(host(xp.sort(x, stable=stable)), wanted)
        np.testing.assert_array_equal(host(xp.take(x, xp.argsort(x, stable=stable))), wanted)
    np.testing.assert_array_equal(host(xp.sort(x, descending=True)), wanted[::-1])
    np.testing.assert_array_equal(np.asarray(xp.searchsorted(xp.sort(x), x)), np.searchsorted(wanted, values))
    unique, places, inverse, counts = np.unique_all(values)
    found = xp.unique_all(x)
    np.testing.assert_array_equal(host(found.values), unique)
    np.testing.assert_array_equal(host(xp.unique_values(x)), unique)
    np.testing.assert_array_equal(host(xp.unique_inverse(x).values), unique)
    np.testing.assert_array_equal(np.asarray(found.indices), places)
    np.testing.assert_array_equal(np.asarray(found.inverse_indices), inverse)
    np.testing.assert_array_equal(np.asarray(xp.unique_counts(x).counts), counts)
