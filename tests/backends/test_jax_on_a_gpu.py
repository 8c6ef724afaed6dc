"""JAX's backend as it computes on a GPU, on a CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import anyarray as xp

jax = pytest.importorskip("jax", reason="these tests are about JAX")
host = pytest.importorskip("anyarray.backends.jax._host")
sets = pytest.importorskip("anyarray.backends.jax.sets")
sorting = pytest.importorskip("anyarray.backends.jax.sorting")

DTYPES = ["float16", "float32", "float64", "int8", "int64", "uint8", "uint64", "bool"]


@pytest.fixture
def on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """JAX, whose arrays the host does not read in place."""
    with xp.backend("jax"):
        monkeypatch.setattr(sorting, "_has_gpu", lambda: True)
        monkeypatch.setattr(host, "in_host_memory", lambda args: False)
        sorting.argsort_of.clear_cache()
        sets._in_front.clear_cache()
        yield
    sorting.argsort_of.clear_cache()
    sets._in_front.clear_cache()


def numbers(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Numbers with many equal ones, zeros of both signs, infinity and NaN."""
    a = np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)
    if a.dtype.kind == "f" and a.size > 9:
        a.flat[[1, 5, 6]], a.flat[2], a.flat[3], a.flat[4] = np.nan, -0.0, 0.0, -np.inf
        a.flat[5] = -a.flat[5]
    return a


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(0,), (1,), (1000,), (30, 20)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("on_a_gpu")
def test_positions_are_sorted_by_unsigned_keys(dtype: str, shape: tuple[int, ...]) -> None:
    a = numbers(dtype, shape)
    for axis in range(a.ndim):
        found = xp.argsort(xp.asarray(a), axis=axis)
        assert found.dtype == xp.int64
        np.testing.assert_array_equal(np.asarray(found), np.argsort(a, axis, stable=True))
        backwards = a.shape[axis] - 1 - np.flip(np.argsort(np.flip(a, axis), axis, stable=True), axis)
        np.testing.assert_array_equal(np.asarray(xp.argsort(xp.asarray(a), axis=axis, descending=True)), backwards)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("on_a_gpu")
def test_the_keys_are_unsigned(dtype: str) -> None:
    with jax.enable_x64(True):
        keys = sorting._unsigned_keys(jax.numpy.asarray(numbers(dtype, (20,))))
    assert keys.dtype.kind == "u"


@pytest.mark.sampled
@pytest.mark.parametrize("n", [0, 1, 1000])
@pytest.mark.parametrize("dtype", [*DTYPES, "complex128"])
@pytest.mark.usefixtures("on_a_gpu")
def test_distinct_values_are_numpys(dtype: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if dtype != "complex128":
        monkeypatch.setattr(jax.numpy, "unique_all", None)
    a = numbers(dtype, (n,))
    found = np.asarray(xp.unique_values(xp.asarray(a)))
    np.testing.assert_array_equal(found, np.unique(a, equal_nan=False))
    assert found.dtype == a.dtype


@pytest.mark.usefixtures("on_a_gpu")
def test_distinct_values_have_slopes() -> None:
    slopes = xp.grad(lambda x: xp.sum(xp.unique_values(x) * xp.asarray([1.0, 2.0])))(xp.asarray([3.0, 1.0, 3.0]))
    assert slopes.tolist() == [2.0, 1.0, 0.0]
