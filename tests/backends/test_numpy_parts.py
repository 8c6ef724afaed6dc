"""Parts of arrays that several threads treat, and integers that are few."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from comparison import each

import anyarray as xp
from anyarray.backends import _parts

pytestmark = pytest.mark.usefixtures("on_numpy")


@pytest.fixture
def on_numpy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """NumPy, with threads for however little work."""
    monkeypatch.setattr(_parts, "_most_threads", 3)
    monkeypatch.setattr(_parts, "_WORTH", 1e-9)
    with xp.backend("numpy"):
        yield


def of_axis(shape: tuple[int, ...], dtype: str = "float64") -> np.ndarray[Any, Any]:
    return (np.random.default_rng(3).standard_normal(shape) * 50).astype(dtype)


@pytest.mark.parametrize("shape", [(70, 300), (3, 2, 4000), (1, 30_000), (40, 30, 20)])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_what_lies_along_an_axis_is_treated_as_by_numpy(shape: tuple[int, ...], axis: int) -> None:
    a = of_axis(shape)
    x = xp.asarray(a)
    for found, expected in (
        (xp.sort(x, axis=axis), np.sort(a, axis=axis)),
        (xp.sort(x, axis=axis, descending=True), np.flip(np.sort(a, axis=axis), axis)),
        (xp.argsort(x, axis=axis), np.argsort(a, axis=axis, stable=True)),
        (xp.fft.rfft(x, axis=axis), np.fft.rfft(a, axis=axis)),
        (xp.fft.ifft(x + 0j, n=9, axis=axis), np.fft.ifft(a + 0j, n=9, axis=axis)),
    ):
        np.testing.assert_array_equal(np.asarray(found), expected)


LINEAR: dict[str, Callable[[Any, Any], Any]] = {
    "cholesky": lambda linalg, x: linalg.cholesky(x @ x.mT + np.eye(3)),
    "det": lambda linalg, x: linalg.det(x),
    "eigh": lambda linalg, x: tuple(linalg.eigh(x + x.mT)),
    "eigvalsh": lambda linalg, x: linalg.eigvalsh(x + x.mT),
    "inv": lambda linalg, x: linalg.inv(x),
    "pinv": lambda linalg, x: linalg.pinv(x),
    "qr": lambda linalg, x: tuple(linalg.qr(x)),
    "slogdet": lambda linalg, x: tuple(linalg.slogdet(x)),
    "solve": lambda linalg, x: linalg.solve(x, x + 1),
    "solve of one matrix": lambda linalg, x: linalg.solve(x, x[0]),
    "svd": lambda linalg, x: tuple(linalg.svd(x)),
}


@pytest.mark.parametrize("function", sorted(LINEAR))
def test_stacks_of_matrices_give_what_numpy_gives(function: str) -> None:
    a = of_axis((900, 2, 3, 3))
    found, expected = LINEAR[function](xp.linalg, xp.asarray(a)), LINEAR[function](np.linalg, a)
    for one, its in zip(*[x if isinstance(x, tuple) else (x,) for x in (found, expected)], strict=True):
        np.testing.assert_array_equal(np.asarray(one), its)


def test_an_error_in_a_part_is_raised_where_the_call_is_made() -> None:
    a = of_axis((3000, 3, 3))
    a[2500] = 0
    with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
        xp.linalg.inv(xp.asarray(a))
    assert np.isfinite(np.asarray(xp.linalg.inv(xp.asarray(a[:2500])))).all()


def test_all_slices_are_done_by_threads_in_the_callers_context() -> None:
    done, threads = list[int](), set[int]()

    def work(part: slice) -> None:
        threads.add(threading.get_ident())
        with pytest.raises(FloatingPointError):
            np.ones(3) / np.zeros(3)
        done.extend(range(part.start, part.stop))

    with np.errstate(all="raise"):
        _parts.shared(work, 1000)
    assert sorted(done) == list(range(1000))


def test_one_thread_does_all_where_no_other_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    done = list[int]()
    _parts.shared(lambda part: done.extend(range(part.start, part.stop)), 100)
    assert sorted(done) == list(range(100))


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("place", ["least", "middle", "greatest"])
def test_many_integers_of_a_short_range_are_sorted_and_told_apart(dtype: str, place: str) -> None:
    info = np.iinfo(dtype)
    offsets = np.random.default_rng(2).integers(0, min(1000, int(info.max) - int(info.min)), 30_000)
    low = {"least": int(info.min), "middle": 3, "greatest": int(info.max) - int(offsets.max())}[place]
    a = np.asarray([low + one for one in offsets.tolist() if low + one <= info.max], dtype)
    x = xp.asarray(a)
    for found, expected in (
        (xp.sort(x), np.sort(a)),
        (xp.sort(x, descending=True), np.sort(a)[::-1]),
        (xp.unique_values(x), np.unique(a)),
    ):
        assert np.asarray(found).dtype == a.dtype
        np.testing.assert_array_equal(np.asarray(found), expected)


@each("second", INTEGERS)
@pytest.mark.parametrize("first", INTEGERS)
@pytest.mark.parametrize("most", [9, 200, 2**31])
def test_products_of_integers_wrap_around_as_numpys(first: str, second: str, most: int) -> None:
    random = np.random.default_rng(6)
    a, b = (
        random.integers(max(-most, int(np.iinfo(dtype).min)), min(most, int(np.iinfo(dtype).max)), shape).astype(dtype)
        for dtype, shape in ((first, (4, 20, 90)), (second, (90, 24)))
    )
    x, y = xp.asarray(a), xp.asarray(b)
    if {first[0], second[0]} == {"i", "u"} and "uint64" in (first, second):
        return  # no dtype holds both
    np.testing.assert_array_equal(np.asarray(x @ y), a @ b)
    np.testing.assert_array_equal(np.asarray(xp.tensordot(x[0], y, axes=1)), a[0] @ b)
    assert np.asarray(x @ y).dtype == (a @ b).dtype


@pytest.mark.parametrize(("rows", "inner", "columns"), [(100, 100, 4), (4000, 8, 3), (0, 100, 100), (100, 0, 100)])
@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_products_of_integers_with_few_columns_or_none_are_numpys(
    rows: int, inner: int, columns: int, dtype: str
) -> None:
    a, b = of_axis((rows, inner), dtype), of_axis((inner, columns), dtype)
    found = np.asarray(xp.asarray(a) @ xp.asarray(b))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, a @ b)


@pytest.mark.parametrize("points", ["int32", "float32", "float64"])
@pytest.mark.parametrize("options", [{}, {"left": -9.0, "right": 9.0}, {"period": 7.5}])
def test_interpolation_at_many_points_has_numpys_bits(points: str, options: dict[str, float]) -> None:
    at = of_axis((40, 1000))
    at[3, 7] = np.nan
    table = np.arange(-90, 90).astype(points)
    for values in (of_axis((180,)), of_axis((180,)) + 1j, np.arange(180)):
        expected = np.interp(at, table, values, **options)
        found = xp.interp(xp.asarray(at), xp.asarray(table), xp.asarray(values), **options)
        assert np.asarray(found).dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(found), expected)
