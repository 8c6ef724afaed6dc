"""Functions of `anyarray.numpy` that NumPy's own compute of few elements.

They keep what Arrays promise: see `_speedups/entry/numpy_function.c`.
"""

from __future__ import annotations

import inspect
import pickle

import numpy
import pytest

import anyarray as xp
import anyarray.numpy as np

pytestmark = pytest.mark.few_backends


def test_out_is_the_array_that_comes_back_and_array_copies_an_ndarray(backend: xp.Backend) -> None:
    out = np.zeros(3)
    assert np.add([1, 2, 3], 0.5, out=out) is out
    assert np.median(np.asarray([[1.0, 2.0, 3.0]]), axis=0, out=out) is out
    assert out.tolist() == [1.0, 2.0, 3.0]
    given = numpy.asarray([1.0, 2.0, 3.0])
    copies = [np.array(given), np.array(given, dtype="f4"), np.array(given, ndmin=2)]
    given[0] = 9
    copies[0][1] = 8
    assert [one.tolist() for one in copies] == [[1, 8, 3], [1, 2, 3], [[1, 2, 3]]]
    assert given.tolist() == [9, 2, 3]
    assert all(type(one) is np.ndarray and one.device is backend for one in copies)


def test_a_function_that_writes_in_place_writes_to_a_view(backend: xp.Backend) -> None:
    x = np.zeros((3, 4))
    np.fill_diagonal(x[:, 1:], 7)
    x[0].put([0], 5)
    assert x.tolist() == [[5, 7, 0, 0], [0, 0, 7, 0], [0, 0, 0, 7]]


def test_a_read_only_view_of_numpys_is_not_written_and_where_without_out_leaves_zeros(backend: xp.Backend) -> None:
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(5), 2)
    with pytest.raises(ValueError, match="read-only view"):
        windows[0, 0] = 9
    assert np.median(windows, axis=0).tolist() == [1.5, 2.5]
    x = np.asarray([1.0, 4.0, 9.0])
    assert np.sqrt(x, where=np.asarray([True, False, True])).tolist() == [1.0, 0.0, 3.0]


def test_a_draw_is_made_once(backend: xp.Backend) -> None:
    ours, theirs = np.random.default_rng(3), numpy.random.default_rng(3)
    assert ours.bytes(4) == theirs.bytes(4)
    assert ours.random() == theirs.random()


def test_results_live_where_calls_run(backend: xp.Backend) -> None:
    x = np.asarray([3.0, 1.0, 2.0])
    for found in (np.median(x), np.outer([1, 2], [3, 4]), x.copy(), np.hanning(4), x.max(), np.sqrt(x)):
        assert type(found) is xp.Array
        assert found.device == backend


def test_a_function_sees_arrays_but_text_and_dates_stay_numpys(backend: xp.Backend) -> None:
    kinds = []
    np.apply_along_axis(lambda row: kinds.append(type(row)) or row.sum(), 1, np.ones((2, 3)))
    assert kinds == [xp.Array] * 2
    assert type(np.diff(numpy.array(["2024-01-01", "2024-03-01"], dtype="M8[D]"))) is numpy.ndarray
    names, counts = np.unique(numpy.array(["b", "a", "b"]), return_counts=True)
    assert names.tolist() == ["a", "b"]
    assert type(counts) is xp.Array


def test_ours_errors_are_raised(backend: xp.Backend) -> None:
    with pytest.raises(IndexError):
        np.median(np.ones((2, 3)), axis=5)
    with pytest.raises(ValueError, match=r"add|broadcast"):
        np.add(np.ones(2), np.ones(3))


def test_a_ufunc_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(np.sqrt)) is np.sqrt
    assert pickle.loads(pickle.dumps(np.median)) is np.median
    assert "x" in str(inspect.signature(np.sqrt))


def test_attributes_are_those_of_ndarray(backend: xp.Backend) -> None:
    x = np.zeros((2, 3))
    assert (x.shape, x.ndim, x.size, len(x)) == ((2, 3), 2, 6, 2)
    x.shape = (3, 2)
    assert (x.shape, x[0, 0].shape, x[0, 0].size, x[0, 0].ndim) == ((3, 2), (), 1, 0)
    assert x.dtype == xp.float64
    with pytest.raises(TypeError):
        len(x[0, 0])
    assert f"{x[0, 0]:.2f}" == "0.00"
