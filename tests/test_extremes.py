"""The largest and the smallest: NaN counts, among few elements and many.

Libraries reduce many elements in other ways than few.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import pytest
from comparison import each

import anyarray as xp

SHAPES: Final = [(7,), (5000,), (3, 5000), (5000, 3), (2, 64, 64)]
FUNCTIONS: Final = ["max", "min"]


def with_nan(shape: tuple[int, ...], dtype: str = "float64") -> np.ndarray[tuple[int, ...], np.dtype[np.floating]]:
    a = np.random.default_rng(5).normal(size=shape).astype(dtype)
    a.flat[a.size // 3] = np.nan
    return a


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@each("function", FUNCTIONS)
@pytest.mark.usefixtures("backend")
def test_a_nan_is_the_largest_and_the_smallest(function: str, shape: tuple[int, ...], dtype: str) -> None:
    a = with_nan(shape, dtype)
    for axis in (None, 0, -1):
        found = getattr(xp, function)(xp.asarray(a), axis=axis, keepdims=True)
        np.testing.assert_array_equal(np.asarray(found), getattr(np, function)(a, axis=axis, keepdims=True))


@each("function", FUNCTIONS)
@pytest.mark.usefixtures("backend")
def test_infinities_of_both_signs_are_no_nan(function: str) -> None:
    a = np.linspace(0, 1, 5000)
    a[[10, 20]] = -np.inf, np.inf
    assert float(getattr(xp, function)(xp.asarray(a))) == getattr(np, function)(a)


@pytest.mark.parametrize("order", [np.inf, -np.inf])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.usefixtures("backend")
def test_a_nan_is_in_the_norm_of_a_vector(shape: tuple[int, ...], order: float) -> None:
    a = with_nan(shape)
    found = xp.linalg.vector_norm(xp.asarray(a), axis=0, ord=order)
    np.testing.assert_array_equal(np.asarray(found), np.linalg.vector_norm(a, axis=0, ord=order))


@pytest.mark.parametrize("order", [1, -1, np.inf, -np.inf])
@pytest.mark.parametrize("shape", SHAPES[2:], ids=str)
@pytest.mark.usefixtures("backend")
def test_a_nan_is_in_the_norm_of_a_matrix(shape: tuple[int, ...], order: float) -> None:
    a = with_nan(shape)
    found = xp.linalg.matrix_norm(xp.asarray(a), ord=order)
    np.testing.assert_allclose(np.asarray(found), np.linalg.matrix_norm(a, ord=order), rtol=1e-12)  # sums of 5000


@pytest.mark.parametrize("shape", [(3, 0), (0, 0), (2, 0, 3), (2, 0, 3, 3), (1000, 3, 0)])
@pytest.mark.usefixtures("backend")
def test_the_rank_of_a_matrix_of_nothing_is_none(shape: tuple[int, ...]) -> None:
    found = xp.linalg.matrix_rank(xp.ones(shape))
    assert found.dtype == xp.int64
    assert np.array_equal(np.asarray(found), np.zeros(shape[:-2]))


@pytest.mark.needs("derivatives")
def test_the_derivative_of_the_largest_of_many_is_one_at_it(framework: str) -> None:
    with xp.backend(framework):
        found = xp.grad(lambda x: xp.max(x))(xp.asarray(np.linspace(0, 1, 5000)))
    assert found.tolist() == [0.0] * 4999 + [1.0]


@pytest.mark.usefixtures("backend")
def test_narrow_ramps_do_not_drift() -> None:
    x = xp.arange(1000.0, 1001.0, 0.001, dtype=xp.float32)
    assert np.array_equal(np.asarray(x), np.arange(1000.0, 1001.0, 0.001).astype(np.float32))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("start", "stop", "num"),
    [(4, 54, 55), (-1.0, 1.0, 21), (1.0, math.inf, 1), (1.7e308, -1.7e308, 1), (-7 + 3j, 11 - 49j, 1000)],
)
def test_linspace_has_the_values_of_numpy(start: complex, stop: complex, num: int) -> None:
    dtype = "int64" if isinstance(start, int) else None
    with np.errstate(all="ignore"):
        wanted = np.linspace(start, stop, num, dtype=dtype)
        found = np.asarray(xp.linspace(start, stop, num, dtype=dtype))
    np.testing.assert_array_equal(found, wanted)


@each("endpoint", [True, False])
@each("num", [0, 1, 2, 3, 7, 500])
@each("start, stop", [(2.5, 2.5), (0, 5e-324), (1e308, -1e308), (0.0, math.inf), (math.nan, 1.0), (2**53 + 1, -0.0)])
def test_linspace_of_extreme_widths_on_numpy_is_that_of_numpy(
    start: float, stop: float, num: int, endpoint: bool
) -> None:
    with np.errstate(all="ignore"), xp.backend("numpy"):
        wanted, found = (np.linspace(start, stop, num, endpoint), xp.linspace(start, stop, num, endpoint=endpoint))
    np.testing.assert_array_equal(np.asarray(found), wanted)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("shape", [(), (1,), (2000,)], ids=str)
@pytest.mark.parametrize("dtype", [xp.complex64, xp.complex128], ids=str)
def test_expm1_of_infinite_complex_numbers_is_what_the_standard_says(dtype: xp.DType, shape: tuple[int, ...]) -> None:
    inf, nan = math.inf, math.nan
    wanted = {
        complex(inf, 0): complex(inf, 0), complex(inf, inf): complex(inf, nan), complex(inf, nan): complex(inf, nan),
        complex(-inf, inf): -1, complex(-inf, nan): -1, complex(-inf, 1): -1, complex(nan, 0): complex(nan, 0),
        complex(1, inf): complex(nan, nan), 1 + 1j: np.expm1(1 + 1j), 1e-9j: np.expm1(1e-9j),
    }  # fmt: skip
    for z, value in wanted.items():
        x = xp.full(shape, z, dtype=dtype)
        with np.errstate(all="ignore"):
            found = np.asarray(xp.expm1(x))
        assert found.shape == shape
        # By parts: a NaN in one would hide the other.
        np.testing.assert_allclose(found.real, complex(value).real, rtol=1e-6)
        np.testing.assert_allclose(found.imag, complex(value).imag, rtol=1e-6)
