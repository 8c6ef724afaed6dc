"""NumPy's methods and attributes of Arrays: each gives what ndarray's gives.

The expected dtype, shape, values and errors are those of NumPy's own methods, on ndarrays of the same values.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from comparison import assert_same

import anyarray as xp

pytestmark = pytest.mark.few_backends

F: Final = np.asarray([[2.5, -1.0, 0.5], [7.25, 3.5, -4.0]])
ROW: Final = np.asarray([3.0, 1.0, 2.0, 1.0])
I: Final = np.asarray([[5, -2, 3], [0, 4, 1]])  # noqa: E741 - integers
SMALL: Final = np.asarray([3, 1, 2], dtype=np.int8)
U: Final = np.asarray([1, 200, 3], dtype=np.uint8)
B: Final = np.asarray([[True, False, True], [False, False, True]])
Z: Final = np.asarray([[1 + 2j, -3j], [0.5, 2 - 1j]])
CUBE: Final = np.arange(24.0).reshape(2, 3, 4)
NUMBER: Final = np.asarray(2.5)
EMPTY: Final = np.ones((0, 2))
SINGLE: Final = np.asarray([1.5, 2.5, 3.5], dtype=np.float32)

CALLS: Final[dict[str, tuple[np.ndarray[Any, Any], Callable[[Any], Any]]]] = {
    "all": (B, lambda x: x.all()),
    "all of an axis": (B, lambda x: x.all(axis=1)),
    "all, by position": (B, lambda x: x.all(0, None)),
    "all where": (B, lambda x: x.all(axis=1, where=[True, False, True])),
    "any": (F, lambda x: x.any(axis=(0, 1), keepdims=True)),
    "any where": (F, lambda x: x.any(where=[False, False, False])),
    "argmax": (F, lambda x: x.argmax()),
    "argmax of an axis": (F, lambda x: x.argmax(1, keepdims=True)),
    "argmax of bools": (B, lambda x: x.argmax(axis=-1)),
    "argmin": (I, lambda x: x.argmin(axis=0)),
    "argpartition": (np.asarray([3, 1, 2]), lambda x: x[x.argpartition(1)][1]),
    "argsort": (F, lambda x: x.argsort()),
    "argsort of all": (F, lambda x: x.argsort(axis=None)),
    "argsort of complex numbers": (np.asarray([2, 1 + 3j, 1 + 2j, np.nan, 0]), lambda x: x.argsort()),
    "argsort, stable": (ROW, lambda x: x.argsort(kind="stable")),
    "astype": (F, lambda x: x.astype(np.float32)),
    "astype of a name": (I, lambda x: x.astype("int16", casting="same_kind")),
    "astype of a class": (F, lambda x: x.astype(int)),
    "choose": (np.asarray([1, 0, 1]), lambda x: x.choose([[1, 2, 3], [4.5, 5.5, 6.5]])),
    "choose of numbers": (np.asarray([[1, 0], [0, 2]]), lambda x: x.choose([10, 20, 30])),
    "choose, wrapped": (np.asarray([-1, 5]), lambda x: x.choose([[1, 2], [3, 4], [5, 6]], mode="wrap")),
    "choose, clipped": (np.asarray([-1, 5]), lambda x: x.choose([[1, 2], [3, 4], [5, 6]], mode="clip")),
    "clip": (F, lambda x: x.clip(-1, 3)),
    "clip by names": (I, lambda x: x.clip(max=2)),
    "clip of one side": (F, lambda x: x.clip(0)),
    "clip by a list": (F, lambda x: x.clip([0, 1, 2], 3.0)),
    "compress": (F, lambda x: x.compress([True, False, True], axis=1)),
    "compress of all": (F, lambda x: x.compress([0, 1, 1, 0, 1])),
    "conj": (Z, lambda x: x.conj()),
    "conj of reals": (F, lambda x: x.conj()),
    "conjugate": (Z, lambda x: x.conjugate()),
    "copy": (F, lambda x: x.copy()),
    "copy of a transpose": (F, lambda x: x.T.copy(order="F")),
    "cumprod": (I, lambda x: x.cumprod(axis=1)),
    "cumprod of bools": (B, lambda x: x.cumprod()),
    "cumsum": (F, lambda x: x.cumsum()),
    "cumsum of an axis": (I, lambda x: x.cumsum(0, np.float64)),
    "cumsum of a number": (NUMBER, lambda x: x.cumsum()),
    "cumsum of narrow integers": (SMALL, lambda x: x.cumsum()),
    "diagonal": (F, lambda x: x.diagonal()),
    "diagonal of axes": (CUBE, lambda x: x.diagonal(1, 0, 2)),
    "dot of vectors": (ROW, lambda x: x.dot(x)),
    "dot of a matrix and a vector": (F, lambda x: x.dot([1.0, 2.0, 3.0])),
    "dot of matrices": (F, lambda x: x.dot(x.T)),
    "dot of stacks": (CUBE, lambda x: x.dot(x.swapaxes(1, 2))),
    "dot of a stack and a vector": (CUBE, lambda x: x.dot(x[0, 0])),
    "dot of a vector and a stack": (CUBE, lambda x: x[0, :, 0].dot(x)),
    "dot of a number": (F, lambda x: x.dot(2)),
    "dot of bools": (B, lambda x: x.dot(x.T)),
    "dumps": (F, lambda x: pickle.loads(x.dumps())),
    "flatten": (F, lambda x: x.flatten()),
    "flatten in columns": (F, lambda x: x.flatten("F")),
    "flatten as it lies": (F, lambda x: x.T.flatten("A")),
    "flatten in memory's order": (CUBE, lambda x: x.transpose(1, 0, 2).flatten("K")),
    "item": (NUMBER, lambda x: np.asarray(x.item())),
    "item of one": (F, lambda x: np.asarray(x.item(4))),
    "item from the end": (F, lambda x: np.asarray(x.item(-1))),
    "item of axes": (F, lambda x: np.asarray(x.item(1, 2))),
    "item of a tuple": (I, lambda x: np.asarray(x.item((0, -1)))),
    "max": (F, lambda x: x.max()),
    "max of an axis": (I, lambda x: x.max(1)),
    "max of bools": (B, lambda x: x.max(axis=0)),
    "max from": (SMALL, lambda x: x.max(initial=5)),
    "max where": (F, lambda x: x.max(axis=1, initial=-9.0, where=[[True, False, True], [False, False, False]])),
    "max of none": (EMPTY, lambda x: x.max(axis=0, initial=3)),
    "min": (F, lambda x: x.min(axis=0, keepdims=True)),
    "min where": (I, lambda x: x.min(initial=9, where=[True, False, True])),
    "mean": (F, lambda x: x.mean()),
    "mean of integers": (I, lambda x: x.mean(axis=0)),
    "mean of bools": (B, lambda x: x.mean(axis=1)),
    "mean in a dtype": (I, lambda x: x.mean(0, np.float32)),
    "mean in integers": (I, lambda x: x.mean(axis=0, dtype=np.int64)),
    "mean where": (I, lambda x: x.mean(axis=1, where=[True, False, True])),
    "mean of complex numbers where": (Z, lambda x: x.mean(where=[True, False])),
    "nonzero": (I, lambda x: x.nonzero()[1]),
    "prod": (I, lambda x: x.prod(axis=1)),
    "prod from": (ROW, lambda x: x.prod(initial=2)),
    "prod where": (ROW, lambda x: x.prod(where=[True, True, True, False])),
    "prod of bools where": (B, lambda x: x.prod(axis=0, where=[[True], [False]])),
    "ravel": (F, lambda x: x.ravel()),
    "ravel in columns": (F, lambda x: x.ravel(order="F")),
    "ravel of a transpose": (CUBE, lambda x: x.T.ravel(order="K")),
    "repeat": (F, lambda x: x.repeat(2)),
    "repeat by a list": (ROW, lambda x: x.repeat([1, 0, 2, 1])),
    "repeat along an axis": (F, lambda x: x.repeat(2, axis=1)),
    "reshape": (F, lambda x: x.reshape(3, 2)),
    "reshape to a tuple": (F, lambda x: x.reshape((3, -1))),
    "reshape to one length": (F, lambda x: x.reshape(-1)),
    "reshape to a list": (F, lambda x: x.reshape([6, 1])),
    "reshape to none": (np.ones(1), lambda x: x.reshape(())),
    "reshape in columns": (F, lambda x: x.reshape(3, 2, order="F")),
    "reshape as it lies": (F, lambda x: x.T.reshape((2, 3), order="A")),
    "reshape of a row in columns": (ROW, lambda x: x.reshape((2, 2), order="F")),
    "round": (F, lambda x: x.round()),
    "round to decimals": (np.asarray([1.234, 5.675, -0.055]), lambda x: x.round(2)),
    "round to tens": (np.asarray([15, 25, 149]), lambda x: x.round(-1)),
    "round integers": (I, lambda x: x.round(2)),
    "round complex numbers": (Z / 3, lambda x: x.round(decimals=1)),
    "round narrow floats": (SINGLE, lambda x: x.round(1)),
    "searchsorted": (np.asarray([1.0, 2.0, 4.0]), lambda x: x.searchsorted([0, 2, 3, 9])),
    "searchsorted of a number": (np.asarray([1.0, 2.0, 4.0]), lambda x: x.searchsorted(2, side="right")),
    "searchsorted by a sorter": (np.asarray([4, 1, 2]), lambda x: x.searchsorted([2], sorter=[1, 2, 0])),
    "squeeze": (F[None, :, None], lambda x: x.squeeze()),
    "squeeze of an axis": (F[None, :, None], lambda x: x.squeeze(axis=0)),
    "squeeze of axes": (F[None, :, None], lambda x: x.squeeze((0, 2))),
    "squeeze of none": (F, lambda x: x.squeeze()),
    "std": (F, lambda x: x.std()),
    "std of a sample": (F, lambda x: x.std(axis=1, ddof=1)),
    "std of integers": (I, lambda x: x.std(0)),
    "std of complex numbers": (Z, lambda x: x.std()),
    "std in a dtype": (SINGLE, lambda x: x.std(dtype=np.float64)),
    "sum": (F, lambda x: x.sum()),
    "sum of an axis": (F, lambda x: x.sum(axis=0)),
    "sum of axes": (CUBE, lambda x: x.sum((0, -1))),
    "sum, by position": (I, lambda x: x.sum(1, np.float32, None, True)),
    "sum of narrow integers": (SMALL, lambda x: x.sum()),
    "sum of unsigned integers": (U, lambda x: x.sum()),
    "sum of bools": (B, lambda x: x.sum(axis=1)),
    "sum from": (ROW, lambda x: x.sum(initial=10)),
    "sum from a float": (SMALL, lambda x: x.sum(initial=2.7)),
    "sum where": (F, lambda x: x.sum(axis=1, where=F > 0)),
    "sum where of bools": (B, lambda x: x.sum(where=[True, False, False])),
    "swapaxes": (CUBE, lambda x: x.swapaxes(0, -1)),
    "take": (F, lambda x: x.take([0, -1, 4])),
    "take a number": (F, lambda x: x.take(3)),
    "take along an axis": (F, lambda x: x.take([2, 0], axis=1)),
    "take one along an axis": (CUBE, lambda x: x.take(1, axis=-1)),
    "take a matrix": (CUBE, lambda x: x.take([[0, 1], [2, 2]], axis=1)),
    "take, wrapped": (ROW, lambda x: x.take([-6, 5, 9], mode="wrap")),
    "take, clipped": (ROW, lambda x: x.take([-6, 1, 9], mode="clip")),
    "take nothing": (ROW, lambda x: x.take([])),
    "tolist": (F, lambda x: np.asarray(x.tolist())),
    "trace": (F, lambda x: x.trace()),
    "trace of axes": (CUBE, lambda x: x.trace(1, 1, 2)),
    "trace in a dtype": (SMALL[:, None] * SMALL, lambda x: x.trace(dtype=np.float64)),
    "transpose": (CUBE, lambda x: x.transpose()),
    "transpose of axes": (CUBE, lambda x: x.transpose(1, 2, 0)),
    "transpose of a tuple": (CUBE, lambda x: x.transpose((2, 0, 1))),
    "transpose of None": (CUBE, lambda x: x.transpose(None)),
    "T": (CUBE, lambda x: x.T),
    "T of a row": (ROW, lambda x: x.T),
    "T of a number": (NUMBER, lambda x: x.T),
    "var": (F, lambda x: x.var(axis=0)),
    "var of a sample": (I, lambda x: x.var(ddof=1)),
    "var of complex numbers": (Z, lambda x: x.var(axis=0)),
    "var where": (F, lambda x: x.var(axis=1, ddof=1, where=[True, False, True])),
    "var about a mean": (F, lambda x: x.var(axis=1, mean=x.mean(axis=1, keepdims=True))),
    "view": (F, lambda x: x.view()),
    "view of bits": (F, lambda x: x.view(np.int64)),
    "view of bits of narrow floats": (SINGLE, lambda x: x.view("uint32")),
    "view of bits of integers": (U, lambda x: x.view(np.int8)),
    "view of bits of a complex number": (Z.astype(np.complex64)[0, 0], lambda x: x.view(np.int64)),
    "view of bytes": (F, lambda x: x.view(np.uint8)),
    "view of bytes of a part": (CUBE, lambda x: x[1:, ::2].view(np.int16)),
    "view of joined bytes": (np.arange(16, dtype=np.uint8).reshape(2, 8), lambda x: x.view(np.int32)),
    "view of parts of complex numbers": (Z, lambda x: x.view(np.float64)),
    "view of bytes of complex numbers": (Z, lambda x: x.view(np.uint8)),
    "view of complex numbers": (CUBE, lambda x: x.view(np.complex128)),
    "view of bools": (B, lambda x: x.view(np.uint8)),
    "view of bytes as bools": (np.asarray([[0, 1], [1, 1]], dtype=np.int8), lambda x: x.view(np.bool_)),
    "view of bytes of none": (EMPTY, lambda x: x.view(np.float32)),
    "real": (Z, lambda x: x.real),
    "real of reals": (F, lambda x: x.real),
    "imag": (Z, lambda x: x.imag),
    "imag of reals": (I, lambda x: x.imag),
    "flat": (F, lambda x: x.flat[4]),
    "flat from the end": (F, lambda x: x.T.flat[-2]),
    "flat of a part": (F, lambda x: x.T.flat[1:4]),
    "flat at indices": (F, lambda x: x.flat[[0, 5, 2]]),
    "flat, copied": (F, lambda x: x.T.flat.copy()),
    "elements of flat": (I, lambda x: np.asarray([int(one) for one in x.T.flat])),
}
"""An ndarray, and what is asked of it and of the Array of its values."""


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.usefixtures("backend")
def test_a_method_gives_what_ndarrays_gives(call: str) -> None:
    values, asked = CALLS[call]
    got, expected = asked(xp.asarray(values)), np.asarray(asked(values))
    assert type(got) in (xp.Array, np.ndarray)
    assert_same(got, expected)


WRITES: Final[dict[str, tuple[np.ndarray[Any, Any], Callable[[Any], Any]]]] = {
    "sort": (F, lambda x: x.sort()),
    "sort of an axis": (F, lambda x: x.sort(axis=0)),
    "sort of a row": (F, lambda x: x[1].sort()),
    "sort of a column": (F, lambda x: x[:, 1].sort(kind="stable")),
    "sort of a transpose": (CUBE, lambda x: x.T.sort()),
    "fill": (F, lambda x: x.fill(7)),
    "fill of a part": (F, lambda x: x[:, ::2].fill(0.5)),
    "put": (F, lambda x: x.put([0, -1, 3], [1, 2, 3])),
    "put of a number": (F, lambda x: x.put(2, 9.5)),
    "put of few": (F, lambda x: x.put([0, 1, 2, 3, 4], [1, 2])),
    "put of many": (F, lambda x: x.put([0, 1], [1, 2, 3])),
    "put of none": (F, lambda x: x.put([0, 1], [])),
    "put into a transpose": (F, lambda x: x.T.put([1, 2], [8, 9])),
    "put, wrapped": (F, lambda x: x.put([7, -8], [1, 2], mode="wrap")),
    "put, clipped": (F, lambda x: x.put([7, -8], [1, 2], mode="clip")),
    "put into a row": (F, lambda x: x[1].put(0, 4)),
    "flat": (F, lambda x: set_item(x.flat, 4, 9)),
    "flat of a part": (F, lambda x: set_item(x.flat, slice(1, None, 2), [1, 2, 3])),
    "flat at indices": (F, lambda x: set_item(x.flat, [0, 5], 3)),
    "flat of a transpose": (F, lambda x: set_item(x.T.flat, slice(0, 4), [1, 2])),
    "flat, all": (F, lambda x: setattr(x, "flat", [1, 2, 3, 4])),
    "flat, one": (F, lambda x: setattr(x[:, 1:], "flat", 0)),
    "what flat gave": (F, lambda x: set_item(x.flat[1:4], 0, 5)),
    "flat of a number": (NUMBER, lambda x: set_item(x.flat, 0, 4)),
    "real": (Z, lambda x: setattr(x, "real", 3)),
    "real of reals": (F, lambda x: setattr(x, "real", F * 2)),
    "imag": (Z, lambda x: setattr(x, "imag", [[1, 2], [3, 4]])),
    "imag of a part": (Z, lambda x: setattr(x[0], "imag", 0)),
    "write to real": (Z, lambda x: set_item(x.real, 0, 5)),
    "bits": (F, lambda x: set_item(x.view(np.int64), (0, 0), 4607182418800017408)),
    "parts of complex numbers": (Z, lambda x: set_item(x.view(np.float64), (0, 1), 8)),
    "numbers as parts": (CUBE, lambda x: set_item(x.view(np.complex128), (0, 1), 2 - 1j)),
    "bytes": (F, lambda x: set_item(x[1].view(np.uint8), slice(0, 8), 0)),
    "view": (F, lambda x: set_item(x.view(), 0, 5)),
    "ravel": (F, lambda x: set_item(x.ravel(), 0, 5)),
    "ravel of a transpose": (F, lambda x: set_item(x.T.ravel(), 0, 5)),
    "ravel of a transpose in columns": (F, lambda x: set_item(x.T.ravel("F"), 0, 5)),
    "flatten": (F, lambda x: set_item(x.flatten(), 0, 5)),
    "copy": (F, lambda x: set_item(x.copy(), 0, 5)),
    "reshape": (F, lambda x: set_item(x.reshape(3, 2), (2, 0), 5)),
    "reshape in columns": (F, lambda x: set_item(x.T.reshape((6,), order="F"), 1, 5)),
    "squeeze": (F[None], lambda x: set_item(x.squeeze(), 0, 5)),
    "swapaxes": (F, lambda x: set_item(x.swapaxes(0, 1), 0, 5)),
    "transpose": (CUBE, lambda x: set_item(x.transpose(2, 0, 1), 0, 5)),
    "T": (CUBE, lambda x: set_item(x.T, (0, 0), 5)),
    "T of a row": (ROW, lambda x: set_item(x.T, 0, 5)),
    "out of sum": (F, lambda x: x.sum(axis=0, out=x[1])),
    "out of mean": (F, lambda x: x.mean(axis=0, out=x[0])),
    "out of cumsum": (F, lambda x: x.cumsum(axis=1, out=x)),
    "out of clip": (F, lambda x: x.clip(0, 2, out=x)),
    "out of round": (F, lambda x: x.round(out=x)),
    "out of take": (F, lambda x: x.take([2, 1, 0], axis=1, out=x, mode="clip")),
    "out of max": (F, lambda x: x.max(axis=1, out=x[:, 0])),
    "out of argmax": (I, lambda x: x.argmax(axis=0, out=x[0])),
    "out of std": (F, lambda x: x.std(axis=0, out=x[0])),
    "out of dot": (F, lambda x: x.dot(np.eye(3), out=x)),
    "out of another dtype": (np.ones((2, 3), np.float32), lambda x: x.sum(axis=0, dtype=np.float64, out=x[0])),
    "out of any": (B, lambda x: x.any(axis=0, out=x[1])),
    "shape": (F, lambda x: setattr(x, "shape", (3, 2))),
    "shape of one length": (F, lambda x: setattr(x, "shape", -1)),
    "resize": (ROW, lambda x: x.resize(2)),
    "resize to more": (ROW, lambda x: x.resize((2, 3))),
    "resize to lengths": (ROW, lambda x: x.resize(2, 2)),
}
"""An ndarray, and how it and the Array of its values are written."""


def set_item(x: Any, key: Any, value: Any) -> None:
    x[key] = value


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # of NumPy's own
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.usefixtures("backend")
def test_a_method_writes_what_ndarrays_writes(write: str) -> None:
    values, done = WRITES[write]
    expected = values.copy()
    x = xp.asarray(values, copy=True)
    if write.startswith("resize"):
        expected.resize(
            *{"resize": (2,), "resize to more": ((2, 3),), "resize to lengths": (2, 2)}[write], refcheck=False
        )
    else:
        done(expected)
    done(x)
    assert_same(x, expected)


@pytest.mark.usefixtures("backend")
def test_a_partition_has_the_smaller_ones_in_front() -> None:
    x = xp.asarray([[5.0, 1.0, 4.0, 2.0, 3.0], [0.0, 9.0, 8.0, 7.0, 6.0]])
    x[1:].partition(2)
    assert x[0].tolist() == [5, 1, 4, 2, 3]
    assert float(x[1, 2]) == 7 and float(x[1, :2].max()) < 7 < float(x[1, 3:].min())
    x.partition((1, 3), axis=-1)
    assert x[0, 1].item() == 2 and x[0, 3].item() == 4


@pytest.mark.usefixtures("backend")
def test_a_method_returns_the_out_that_it_fills() -> None:
    x, out, host = xp.asarray(F), xp.zeros(3), np.zeros(3)
    assert x.sum(axis=0, out=out) is out
    assert x.sum(axis=0, out=(out,)) is out
    assert x.sum(0, None, host) is host
    assert out.tolist() == host.tolist() == F.sum(axis=0).tolist()


ERRORS: Final[dict[str, tuple[Callable[[Any], Any], type[Exception], str]]] = {
    "out of another shape": (
        lambda x: x.sum(axis=0, out=xp.zeros(2)),
        ValueError,
        "sum: out must have the shape (3,) of the result, not (2,)",
    ),
    "out of a lower kind": (
        lambda x: x.std(axis=0, out=xp.zeros(3, dtype=xp.int64)),
        TypeError,
        (
            "std: out must have a dtype to which float64 can be cast, not int64. "
            "Make it of that dtype: xp.empty((3,), dtype=xp.float64)"
        ),
    ),
    "out of no array": (lambda x: x.mean(out=[0]), TypeError, "mean: out must be an Array or an ndarray, not list"),
    "max where without initial": (
        lambda x: x.max(where=[True, False, True]),
        ValueError,
        "max: initial is required with where, for lines without a chosen element",
    ),
    "kind of sort": (
        lambda x: x.sort(kind="bubble"),
        ValueError,
        "sort: kind must be one of quicksort, mergesort, heapsort, stable, not 'bubble'",
    ),
    "order of sort": (
        lambda x: x.argsort(order="name"),
        ValueError,
        "argsort: order must be None, as no Array has fields",
    ),
    "partition beyond": (lambda x: x.partition(3), ValueError, "partition: kth must be from -3 to 2, not 3"),
    "axis of swapaxes": (
        lambda x: x.swapaxes(0, 2),
        IndexError,
        "swapaxes: axis 2 is out of bounds for array of dimension 2, must be between -2 and 1",
    ),
    "axis of take": (
        lambda x: x.take([0], axis=2),
        IndexError,
        "take: axis 2 is out of bounds for array of dimension 2, must be between -2 and 1",
    ),
    "mode of take": (
        lambda x: x.take([0], mode="nearest"),
        ValueError,
        "take: mode must be 'raise', 'wrap' or 'clip', not 'nearest'",
    ),
    "order of reshape": (
        lambda x: x.reshape(6, order="K"),
        ValueError,
        "reshape: order must be 'C', 'F' or 'A', not 'K'",
    ),
    "order of ravel": (lambda x: x.ravel("X"), ValueError, "ravel: order must be 'C', 'F', 'A' or 'K', not 'X'"),
    "casting of astype": (
        lambda x: x.astype(int, casting="safe"),
        TypeError,
        "astype: x is float64 and cannot become int64 by casting='safe'",
    ),
    "diagonal of a row": (lambda x: x[0].diagonal(), ValueError, "diagonal: x must have at least 2 axes, not 1"),
    "trace of one axis": (
        lambda x: x.trace(axis1=1, axis2=-1),
        ValueError,
        "trace: axis1 and axis2 must differ, not both be 1",
    ),
    "fill by several": (
        lambda x: x.fill([1, 2, 3]),
        ValueError,
        "fill: value must be one number. Write several: x[...] = ...",
    ),
    "imag of reals": (
        lambda x: setattr(x, "imag", 1),
        TypeError,
        "imag: x must be complex to have its imaginary part set, not float64",
    ),
    "view of other bytes": (
        lambda x: x.view(xp.complex128),
        ValueError,
        "view: dtype must have 8 bytes as float64 has, not 16 as complex128, since the last axis of x has 3 elements",
    ),
    "view of bytes of columns": (
        lambda x: x.T.view(xp.uint8),
        ValueError,
        "view: dtype must have 8 bytes as float64 has, not 1 as uint8, since the last axis of x is not contiguous",
    ),
    "view of bytes of a number": (
        lambda x: x.sum().view(xp.uint8),
        ValueError,
        "view: dtype must have 8 bytes as float64 has, not 1 as uint8, since x has no axes",
    ),
    "choose by floats": (
        lambda x: x.choose([1, 2]),
        TypeError,
        "choose: x must have an integer dtype, not float64. Convert it: xp.astype(...)",
    ),
    "item of too few": (
        lambda x: x.item((1,)),
        ValueError,
        "item: args must be an index for each of 2 axes, or one for all elements, not 1 integers",
    ),
    "resize of a view": (
        lambda x: x[0].resize(2),
        ValueError,
        (
            "resize: x is a view or has views, whose shape would not change. Make a new array: np.resize, "
            "or xp.reshape(x, ...)"
        ),
    ),
    "sort of a view to be read": (
        lambda x: xp.broadcast_to(x, (2, 2, 3)).sort(),
        ValueError,
        "sort: x is a read-only view, as broadcast_to and diagonal give. Copy it first: xp.asarray(x, copy=True)",
    ),
    "condition of compress": (
        lambda x: x.compress([[True]]),
        ValueError,
        "compress: condition must have one axis, not shape (1, 1)",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
@pytest.mark.usefixtures("backend")
def test_what_a_method_cannot_do_is_said(case: str) -> None:
    done, kind, sentence = ERRORS[case]
    x = xp.asarray(F)
    with pytest.raises(kind) as caught:
        done(x)
    assert str(caught.value) == sentence
    assert x.tolist() == F.tolist()


@pytest.mark.usefixtures("backend")
def test_choose_refuses_what_no_choice_has() -> None:
    with pytest.raises(ValueError, match="choose: x must hold indices of 2 choices, from 0 on"):
        xp.asarray([0, 2]).choose([[1, 2], [3, 4]])


@pytest.mark.usefixtures("backend")
def test_complex_numbers_become_real_with_the_warning_of_numpy() -> None:
    with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
        x = xp.asarray(Z).astype(np.float32)
    assert_same(x, Z.real.astype(np.float32))


@pytest.mark.usefixtures("backend")
def test_an_array_that_has_views_keeps_its_shape() -> None:
    x = xp.zeros(6)
    row = x[:3]
    with pytest.raises(ValueError, match="resize: x is a view or has views"):
        x.resize(3)
    with pytest.raises(ValueError, match="resize: x is a view or has views"):
        row.resize(2)
    row[0] = 1
    assert x.tolist() == [1, 0, 0, 0, 0, 0]


@pytest.mark.usefixtures("backend")
def test_attributes_are_those_of_ndarrays() -> None:
    for values in (F, SMALL, Z, NUMBER):
        x = xp.asarray(values)
        assert (x.nbytes, x.itemsize, x.strides) == (values.nbytes, values.itemsize, values.strides)
        assert len(x.flat) == values.size
    x = xp.asarray(CUBE, copy=True)
    for part, its in ((x.T, CUBE.T), (x[0], CUBE[0]), (x[:, 1:, ::2], CUBE[:, 1:, ::2]), (x[::-1], CUBE[::-1])):
        assert part.strides == its.strides
        for name in ("c_contiguous", "f_contiguous", "contiguous", "forc", "fnc", "writeable", "aligned"):
            assert getattr(part.flags, name) == getattr(its.flags, name)
            assert part.flags[name.upper()] == getattr(part.flags, name)
        assert not part.flags.owndata
        assert part.base is not None
    assert x.flags.owndata
    assert x.base is None
    assert not xp.broadcast_to(x, (2, 2, 3, 4)).flags.writeable
    assert "WRITEABLE : True" in repr(x.flags)
    with pytest.raises(KeyError, match="flags: 'D' is unknown"):
        x.flags["D"]


@pytest.mark.usefixtures("backend")
def test_a_copy_lies_in_rows() -> None:
    for x in (xp.ones((3, 4)), xp.ones((200, 300))):
        assert x.T.copy().flags.c_contiguous
        x.T.copy().ravel()[0] = 2
        assert float(x[0, 0]) == 1


@pytest.mark.usefixtures("backend")
def test_a_view_of_bits_in_another_byte_order_is_refused() -> None:
    x = xp.asarray([1, 256], dtype=xp.int16)
    other = np.dtype("int16").newbyteorder()
    for dtype in (other, other.str):
        with pytest.raises(TypeError, match="view: dtype must be in the byte order of the machine"):
            x.view(dtype)
    assert x.view(np.dtype("int16").newbyteorder("=").str).tolist() == [1, 256]


@pytest.mark.usefixtures("backend")
def test_the_base_of_a_view_shows_its_writes() -> None:
    x = xp.zeros((100, 20))
    row = x[3:5]
    assert row.base is not None
    row[0, 0] = 7
    assert float(row.base.max()) == 7


@pytest.mark.usefixtures("backend")
def test_the_iterator_over_all_elements_says_where_it_is() -> None:
    x = xp.asarray(I)
    each = x.flat
    assert [int(next(each)) for _ in range(4)] == [5, -2, 3, 0]
    assert each.index == 4
    assert each.coords == (1, 1)
    assert each.base is x
    assert np.asarray(x.flat).tolist() == I.ravel().tolist()
    with pytest.raises(ValueError, match="flat: value must hold at least one element, for 6 places"):
        x.flat = []


@pytest.mark.usefixtures("backend")
def test_bytes_and_files_are_those_of_ndarrays(tmp_path: Path) -> None:
    x = xp.asarray(F)
    assert x.tobytes() == F.tobytes()
    assert x.T.tobytes() == F.T.tobytes()
    assert x.tobytes("F") == F.tobytes("F")
    x.tofile(tmp_path / "values")
    assert np.fromfile(tmp_path / "values").tolist() == F.ravel().tolist()
    assert bytes(x.T.data) == F.T.tobytes()
    assert x.data.shape == (2, 3)
    x.dump(tmp_path / "pickle")
    assert_same(pickle.loads((tmp_path / "pickle").read_bytes()), F)
    file = io.BytesIO()
    x.dump(file)
    assert_same(pickle.loads(file.getvalue()), F)


def test_the_pickle_of_a_method_keeps_the_home(backend: xp.Backend) -> None:
    assert pickle.loads(xp.asarray(F).dumps()).device == backend


@pytest.mark.usefixtures("backend")
def test_an_element_is_a_key() -> None:
    labels = xp.asarray([2, 0, 2, 1])
    counts: dict[Any, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    assert counts == {2: 2, 0: 1, 1: 1}
    assert counts[xp.asarray(2)] == counts[np.int64(2)] == 2
    assert len(set(labels)) == 3
    assert hash(xp.asarray(0.5)) == hash(0.5)
    assert hash(xp.asarray(True)) == hash(1)
    assert hash(xp.asarray(1 + 2j)) == hash(1 + 2j)
    nothing = xp.asarray(float("nan"))
    assert hash(nothing) == hash(nothing)


def test_a_traced_array_is_no_key(framework: str) -> None:
    @xp.jit
    def keyed(x: Any) -> Any:
        return x + len({x})

    with xp.backend(framework), pytest.raises(TypeError, match="hash: unhashable type: 'Array' in a trace"):
        keyed(xp.asarray(1.0))


@pytest.mark.parametrize(
    "call",
    [
        "all where", "argmax", "argsort", "astype", "choose of numbers", "choose, clipped", "clip", "conj", "cumsum",
        "diagonal", "dot of stacks", "flatten in columns", "flatten in memory's order", "max where", "mean where",
        "prod from", "ravel", "reshape in columns", "round to decimals", "searchsorted", "squeeze", "std of a sample",
        "sum of axes", "sum where", "swapaxes", "take a matrix", "take, wrapped", "take one along an axis",
        "trace of axes", "transpose of axes", "T", "T of a row", "var where", "var of complex numbers",
        "view of bits", "view of parts of complex numbers", "real", "imag", "flat of a part",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("backend")
def test_a_method_gives_the_same_under_jit(call: str) -> None:
    values, asked = CALLS[call]
    assert_same(xp.jit(asked)(xp.asarray(values)), np.asarray(asked(values)))


@pytest.mark.parametrize(
    "write",
    [
        "sort of a row", "fill of a part", "put of few", "put into a transpose", "flat of a part",
        "flat of a transpose", "imag", "write to real", "bits", "bytes", "ravel", "out of sum", "out of cumsum", "T",
        "reshape in columns", "shape",
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
@pytest.mark.usefixtures("backend")
def test_a_method_writes_the_same_under_jit(write: str) -> None:
    values, done = WRITES[write]
    expected = values.copy()
    done(expected)

    def written(x: Any) -> Any:
        done(x)
        return x

    x = xp.asarray(values)
    assert_same(xp.jit(written)(x), expected)
    assert_same(x, values)


DERIVATIVES: Final[dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "sum": (lambda x: (x * x).sum(), lambda x: 2 * x),
    "mean": (lambda x: x.mean(), lambda x: np.full(x.shape, 1 / x.size)),
    "dot": (lambda x: x[0].dot(x[1]), lambda x: x[::-1]),
    "sum where": (lambda x: (x * x).sum(where=[True, False, True]), lambda x: 2 * x * [1, 0, 1]),
    "max": (lambda x: x.max(), lambda x: (x == x.max()) * 1.0),
    "T": (lambda x: (x.T * xp.asarray([1.0, 2.0])).sum(), lambda x: np.asarray([[1.0], [2.0]]) + 0 * x),
    "ravel": (lambda x: x.ravel("F")[1], lambda x: np.eye(2, 3)[::-1] * [1, 0, 0]),
    "clip": (lambda x: x.clip(0, 3).sum(), lambda x: ((x > 0) & (x < 3)) * 1.0),
    "take": (lambda x: x.take([0, 0, 4]).sum(), lambda x: np.asarray([[2.0, 0, 0], [0, 1, 0]])),
    "astype": (lambda x: x.astype(np.float32).sum(), lambda x: np.ones_like(x)),
    "trace": (lambda x: x.trace(), lambda x: np.eye(2, 3)),
    "cumsum": (lambda x: x.cumsum()[-2], lambda x: np.asarray([[1.0, 1, 1], [1, 1, 0]])),
    "fill": (lambda x: _filled(x).sum(), lambda x: np.asarray([[0.0, 0, 0], [1, 1, 1]])),
    "out": (lambda x: _into(x).sum(), lambda x: np.asarray([[1.0, 1, 1], [1, 1, 1]])),
}
"""A function of F by methods, and its gradient."""


def _filled(x: Any) -> Any:
    y = x.copy()
    y[0].fill(1)
    return y


def _into(x: Any) -> Any:
    y = x.copy()
    x.sum(axis=0, out=y[0])
    y[1] = 0
    return y


@pytest.mark.parametrize("function", DERIVATIVES)
@pytest.mark.usefixtures("differentiating")
def test_methods_have_derivatives(function: str) -> None:
    asked, gradient = DERIVATIVES[function]
    assert_same(xp.grad(asked)(xp.asarray(F)), gradient(F))


def test_an_element_may_be_a_static_argument(framework: str) -> None:
    scaled = xp.jit(lambda x, n: x * int(n), static_argnames="n")
    with xp.backend(framework):
        assert scaled(xp.ones(2), xp.asarray(3)).tolist() == [3, 3]
        assert scaled(xp.ones(2), xp.asarray(4)).tolist() == [4, 4]
        with pytest.raises(TypeError, match=r"jit: n of .* must be made of Arrays and hashable values"):
            scaled(xp.ones(2), xp.asarray([3]))


def test_completion_lists_methods() -> None:
    assert {"sum", "reshape", "flat", "sort", "T"} < set(dir(xp.ones(1))) & set(dir(xp.Array))


@pytest.mark.usefixtures("backend")
def test_what_ndarrays_alone_have_leads_to_an_ndarray() -> None:
    x = xp.ones(3)
    for name in ("ctypes", "setfield", "getfield"):
        assert not hasattr(x, name)
        with pytest.raises(AttributeError, match="'Array' object has no attribute"):
            getattr(x, name)


def test_no_method_of_ndarrays_is_forgotten() -> None:
    lacking = {name for name in dir(np.ndarray) if name[0] != "_" and not hasattr(xp.Array, name)}
    meaningless = {"ctypes", "device", "getfield", "setfield", "to_device"}
    assert lacking <= meaningless


@pytest.mark.parametrize("protocol", ["__array_interface__", "__array_struct__", "__buffer__"])
@pytest.mark.usefixtures("backend")
def test_numpy_reads_an_array_by_its_array_method(protocol: str) -> None:
    # NumPy asks for these first, and what it read so would not be told of a write that gives the Array other memory.
    assert not hasattr(xp.ones(3), protocol)
