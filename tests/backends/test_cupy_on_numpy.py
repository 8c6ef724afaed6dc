"""CuPy's backend without a GPU, with its kernels compiled for the host."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import cupy_on_numpy
import numpy as np
import pytest
from comparison import each

pytest.importorskip("array_api_compat")
if shutil.which("g++") is None:
    pytest.skip("kernels are compiled by g++", allow_module_level=True)


@pytest.fixture(scope="module")
def functions() -> Iterator[Any]:
    """The backend's module."""
    with cupy_on_numpy.installed() as module:
        yield module


def on_device(values: Any, dtype: Any = None) -> Any:
    return cupy_on_numpy.made(np.array(values, dtype))


def same(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.get(), expected)


A = np.arange(24.0).reshape(2, 3, 4)


@each("dtype", ["int8", "uint8", "int64", "uint64"])
@each("axis", [0, 1, 2, -1])
@each("a", [A, A.T])
def test_elements_are_taken_along_an_axis(a: Any, axis: int, dtype: str, functions: Any) -> None:
    indices = np.asarray([1, 0, 1, 1]).astype(dtype)
    if indices.dtype.kind == "i":
        indices[0] = -1
    same(functions.take(on_device(a), on_device(indices), axis=axis), a.take(indices, axis))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex64", "complex128"])
def test_elements_of_every_kind_are_taken(dtype: str, functions: Any) -> None:
    a = np.arange(10).astype(dtype)
    indices = np.asarray([[3, -1], [0, 9]])
    same(functions.take(on_device(a), on_device(indices)), a[indices])
    same(functions.getitem(on_device(a), on_device(indices)), a[indices])
    same(functions.getitem(on_device(a.reshape(5, 2)), on_device([[4, -5]])), a.reshape(5, 2)[[[4, -5]]])


@pytest.mark.parametrize(
    ("index", "dtype"), [(3, "int64"), (-4, "int64"), (-4, "int8"), (200, "uint8"), (2**64 - 1, "uint64")]
)
def test_an_index_out_of_bounds_is_refused(index: int, dtype: str, functions: Any) -> None:
    x, wrong = on_device(A), on_device(np.asarray([0, index], dtype))
    said = rf"^index {index} is out of bounds for axis 1 with size 3$"
    for use in (
        lambda: functions.take(x, wrong, axis=1),
        lambda: functions.getitem(x, (slice(None), wrong)),
        lambda: functions.getitem(x, (0, wrong, Ellipsis)),
        lambda: functions.setitem(x, (Ellipsis, wrong, slice(None)), on_device(1.0), True),
        lambda: functions.take_along_axis(x, wrong.reshape(1, 2, 1), axis=1),
    ):
        with pytest.raises(IndexError, match=said):
            use()
    assert x.get().tolist() == A.tolist()


def test_no_index_is_in_bounds_of_nothing(functions: Any) -> None:
    for shape in ((0,), (0, 3)):
        with pytest.raises(IndexError):
            functions.take(on_device(np.zeros(shape)), on_device([0]), axis=0)
        assert functions.take(on_device(np.zeros(shape)), on_device([], np.int64), axis=0).shape == shape
    with pytest.raises(IndexError):
        functions.take(on_device(np.zeros((3, 0))), on_device([5]), axis=0)


def test_masks_and_integers_are_not_looked_at(functions: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_found", None)
    x, mask = on_device(A), on_device(A > 4)
    same(functions.getitem(x, mask), A[A > 4])
    same(functions.getitem(x, (0, slice(None), -1)), A[0, :, -1])
    functions.setitem(x, mask, on_device(0.0), True)
    assert float(x.get().max()) == 4.0


@pytest.mark.parametrize(
    "key",
    [
        (np.asarray([1, 0, 1, -1]),),
        (0, np.asarray([1, 1, 0])),
        (slice(None), np.asarray([2, -1, 2])),
        (np.asarray([[0], [1], [-1]]), np.asarray([0, 0]), 1),
    ],
    ids=range(4),
)
def test_of_values_for_one_place_the_last_is_written(key: Any, functions: Any) -> None:
    expected, x = A.copy(), on_device(A)
    value = np.random.default_rng(0).random(expected[key].shape)
    expected[key] = value
    of_device = tuple(on_device(one) if isinstance(one, np.ndarray) else one for one in key)
    changed = functions.setitem(x, of_device if len(key) > 1 else of_device[0], on_device(value), False)
    assert changed.get().tolist() == expected.tolist()
    assert x.get().tolist() == A.tolist()
    with_leading_axes = functions.setitem(x, on_device([1, 0, 1]), on_device(np.ones((1, 1, 1, 4))), False)
    assert with_leading_axes.get().tolist() == np.ones((2, 3, 4)).tolist()


@each("dtype", ["float16", "float32", "float64", "complex64", "int32", "bool"])
@each("axis", [None, 0, (0, 2), -1])
@each("correction", [0, 1.5])
def test_the_variance_is_the_mean_of_squares(dtype: str, axis: Any, correction: float, functions: Any) -> None:
    a = (np.random.default_rng(0).random((4, 5, 6)) * 10).astype(dtype)
    if a.dtype.kind == "c":
        a = (a + 3j * a[::-1]).astype(dtype)
    for name in ("var", "std"):
        found = getattr(functions, name)(on_device(a), axis=axis, correction=correction, keepdims=True)
        expected = getattr(np, name)(a, axis, ddof=correction, keepdims=True)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found.get(), expected, rtol=2e-3 if dtype == "float16" else 1e-5)
    assert np.isnan(functions.var(on_device([1.0]), correction=1).get())
    assert np.isnan(functions.var(on_device(np.zeros(0))).get())


@pytest.mark.parametrize(
    ("start", "stop", "num"),
    [(-1.0, 1.0, 21), (np.inf, 1.0, 1), (-7 + 3j, 11 - 49j, 1000), (0.1, 7.3, 40_000), (-7 + 3j, 11 - 49j, 40_000)],
)
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace_is_that_of_numpy(start: complex, stop: complex, num: int, endpoint: bool, functions: Any) -> None:
    with np.errstate(all="ignore"):
        expected = np.linspace(start, stop, num, endpoint)
    same(functions.linspace(start, stop, num, dtype=expected.dtype, device=0, endpoint=endpoint), expected)


@pytest.mark.parametrize("function", ["svd", "svdvals", "matrix_rank", "pinv", "eig", "eigvals"])
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_a_matrix_that_is_not_finite_is_refused(function: str, value: float, functions: Any) -> None:
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        getattr(functions, function)(on_device([[1.0, value], [0.0, 1.0]]))


@pytest.mark.parametrize("shape", [(6,), (-1, 2), (3, 2, 1), ()])
def test_a_reshape_is_a_view_unless_a_copy_is_asked_for(shape: tuple[int, ...], functions: Any) -> None:
    x = on_device(np.arange(6 if shape else 1))
    assert np.shares_memory(functions.reshape(x, shape), x)
    assert not np.shares_memory(functions.reshape(x, shape, copy=True), x)
    with pytest.raises(ValueError, match="no length of shape may be less than -1"):
        functions.reshape(x, (-2, 3))
