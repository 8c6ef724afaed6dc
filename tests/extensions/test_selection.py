"""Elements chosen and written by conditions and indices, against NumPy."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from against_numpy import Case
from comparison import assert_same

import anyarray as xp
import anyarray.numpy

pytestmark = pytest.mark.few_backends

on_backends = pytest.mark.usefixtures("backend")

M: Final = np.array([[3, 0, 2], [0, 5, 1]])
F: Final = np.array([0.5, np.nan, 0.0, -2.0])
T: Final = np.array([True, False, True])
AT: Final = np.array([0, 2, 1, 0])

CASES: Final = [
    Case("argwhere", M),
    Case("argwhere", np.array(5)),
    Case("argwhere", np.array(0)),
    Case("argwhere", np.zeros((0, 3))),
    Case("flatnonzero", M),
    Case("flatnonzero", F),
    Case("extract", M > 1, M),
    Case("extract", T, M),
    Case("compress", T, M, axis=1),
    Case("compress", T, M),
    Case("compress", np.array([2.0, 0.0]), M, axis=0),
    Case("compress", np.array([True]), M, axis=-1),
    Case("compress", np.array([False, True, False]), M, axis=0),
    Case("choose", AT, [np.arange(4), np.arange(4) * 10.0, np.array(7)]),
    Case("choose", AT, [1, 2, 3]),
    Case("choose", AT - 1, np.arange(12).reshape(3, 4), mode="wrap"),
    Case("choose", AT * 3 - 1, [1, 2, 3], mode="clip"),
    Case("select", [F > 0, F < 0], [F, -F]),
    Case("select", [F > 0, F < 0], [np.float32([1, 2, 3, 4]), 0.5], 2),
    Case("select", [M > 2, M > 0], [np.int8([1, 2, 3]), 7], 1.5),
    Case("select", [T, ~T], [1, 2.5]),
    Case("select", [T], [True], False),
    Case("select", [T[:, None], ~T], [np.arange(3), np.array(9)], np.array([[7], [8], [9]])),
    Case("unravel_index", np.array([[0, 7], [23, 5]]), (2, 3, 4)),
    Case("unravel_index", np.array([0, 7, 23]), (2, 3, 4), order="F"),
    Case("unravel_index", np.array(5), 6),
    Case("unravel_index", np.zeros(0, np.int64), (2, 3)),
    Case("unravel_index", np.array([5], np.uint8), (2, 3)),
    Case("ravel_multi_index", (np.array([0, 1]), np.array([1, 2])), (2, 3)),
    Case("ravel_multi_index", (np.array([[0], [1]]), np.array([1, 2])), (2, 3), order="F"),
    Case("ravel_multi_index", (np.array([-3, 7]), np.array([4, -1])), (2, 3), mode="wrap"),
    Case("ravel_multi_index", (np.array([-3, 7]), np.array([4, -1])), (2, 3), mode=("clip", "wrap")),
    Case("ravel_multi_index", (np.array([1, 0]), 2), (2, 3)),
    Case("ravel_multi_index", np.array([[0, 1], [1, 2]]), (2, 3)),
    Case("indices", (2, 3)),
    Case("indices", (2, 3), dtype=np.float32),
    Case("indices", (2, 3), sparse=True),
    Case("indices", ()),
    Case("diag_indices", 3),
    Case("diag_indices", 2, 3),
    Case("diag_indices_from", np.zeros((2, 2, 2))),
    Case("tril_indices", 3),
    Case("tril_indices", 3, -1, 4),
    Case("triu_indices", 3, 1),
    Case("triu_indices", 2, m=4),
    Case("tril_indices_from", np.zeros((2, 3)), k=1),
    Case("triu_indices_from", np.zeros((2, 3))),
    Case("ix_", np.array([0, 1]), T, np.zeros(0, np.int64)),
]


@on_backends
def test_mask_indices_asks_the_function() -> None:
    for got, expected in zip(xp.mask_indices(3, xp.triu, 1), np.mask_indices(3, np.triu, 1), strict=True):
        assert_same(got, expected)


PIECES: Final[list[tuple[Any, Any, Any]]] = [
    (F, lambda x: [x < 0, x >= 0], [lambda v: -v, lambda v: v + 10]),
    (F, lambda x: [x < 0], [1.5, lambda v: v * 2]),
    (F, lambda x: x < 0, [1.5, 2]),
    (M, lambda x: [x > 1, x > 2], [7.9, -1]),
    (M, lambda x: [x > 9, x > 0], [lambda v: 1 / 0, lambda v: v[::-1]]),
    (F, lambda x: [x > 5], [lambda v, a, b: v * a + b, lambda v, a, b: v + b - a]),
    (np.array(1.5), lambda x: [x > 1], [lambda v: -v, 3]),
]


@on_backends
@pytest.mark.parametrize("at", range(len(PIECES)))
def test_piecewise_gives_what_numpy_gives(at: int) -> None:
    x, conditions, functions = PIECES[at]
    more = (2, 1) if at == 5 else ()
    mine = xp.asarray(x)
    assert_same(
        xp.piecewise(mine, conditions(mine), functions, *more), np.piecewise(x, conditions(x), functions, *more)
    )


def test_piecewise_in_transforms_chooses_of_all(framework: str) -> None:
    with xp.backend(framework):
        x = xp.asarray([-2.0, 0.5, 3.0])

        def f(x: Any) -> Any:
            return xp.piecewise(x, [x < 0, x > 1], [lambda v: v * v, lambda v: 3 * v, 1.0])

        assert_same(xp.jit(f)(x), np.array([4.0, 1.0, 9.0]))
        assert_same(xp.grad(lambda x: xp.sum(f(x)))(x), np.array([-4.0, 0.0, 3.0]))


WRITES: Final = {
    "fill_diagonal": (M, lambda np, x: np.fill_diagonal(x, 9)),
    "fill_diagonal, values": (np.zeros((3, 3)), lambda np, x: np.fill_diagonal(x, [1, 2])),
    "fill_diagonal, tall": (np.zeros((5, 2)), lambda np, x: np.fill_diagonal(x, 1)),
    "fill_diagonal, wrapping": (np.zeros((7, 2)), lambda np, x: np.fill_diagonal(x, 1, wrap=True)),
    "fill_diagonal, a cube": (np.zeros((2, 2, 2)), lambda np, x: np.fill_diagonal(x, np.asarray([3, 4]))),
    "fill_diagonal, a view": (np.zeros((4, 3)), lambda np, x: np.fill_diagonal(x[1:, ::-1].T, 2)),
    "put": (M, lambda np, x: np.put(x, [0, -1], [-5, -6])),
    "put, one value": (M, lambda np, x: np.put(x, np.asarray([1, 2]), 1.9)),
    "put, repeated": (M, lambda np, x: np.put(x, [1, 2, 4], [7, 8])),
    "put, wrapping": (M, lambda np, x: np.put(x, [7, -8], [7, 8], mode="wrap")),
    "put, clipping": (M, lambda np, x: np.put(x, [70, -8], [7, 8], mode="clip")),
    "put, none": (M, lambda np, x: np.put(x, [], [7, 8])),
    "put, a view": (M, lambda np, x: np.put(x[:, ::2], [0, 3], 8)),
    "place": (M, lambda np, x: np.place(x, x > 0, [7, 8.5])),
    "place, one": (M, lambda np, x: np.place(x, [1, 0, 2, 0, 0, 3], 9)),
    "place, nowhere": (M, lambda np, x: np.place(x, x > 99, [])),
    "place, a view": (M, lambda np, x: np.place(x[1], x[1] > 0, [7, 8])),
    "putmask": (M, lambda np, x: np.putmask(x, x > 0, [7, 8])),
    "putmask, all": (M, lambda np, x: np.putmask(x, x > 0, -x)),
    "putmask, one": (M, lambda np, x: np.putmask(x, x > 0, 1.5)),
    "putmask, none": (M, lambda np, x: np.putmask(x, x > 0, [])),
    "copyto": (M, lambda np, x: np.copyto(x, [7, 8, 9])),
    "copyto, a number": (np.float32(M), lambda np, x: np.copyto(x, 1.5)),
    "copyto, where": (M, lambda np, x: np.copyto(x, [7, 8, 9], where=x > 1)),
    "copyto, where in a row": (M, lambda np, x: np.copyto(x, 4, where=np.asarray([True, False, True]))),
    "copyto, casting": (M, lambda np, x: np.copyto(x, np.asarray([1.5, 2.5, 3.5]), casting="unsafe")),
    "copyto, a view": (M, lambda np, x: np.copyto(x.T, np.asarray([[1, 2]]))),
    "put_along_axis": (M, lambda np, x: np.put_along_axis(x, np.asarray([[1], [-1]]), 9, axis=1)),
    "put_along_axis, values": (M, lambda np, x: np.put_along_axis(x, np.asarray([[1, 0, 1]]), [[7, 8, 9]], axis=0)),
    "put_along_axis, flat": (M, lambda np, x: np.put_along_axis(x, np.asarray([1, 5]), np.asarray([7, 8]), axis=None)),
    "put_along_axis, a view": (M, lambda np, x: np.put_along_axis(x[:, 1:], np.asarray([[1], [0]]), 9, axis=1)),
}


@on_backends
@pytest.mark.parametrize("write", WRITES)
def test_a_write_leaves_what_numpy_leaves(write: str) -> None:
    before, function = WRITES[write]
    expected = before.copy()
    function(np, expected)
    for namespace in (xp, anyarray.numpy):
        x = namespace.array(before) if namespace is anyarray.numpy else xp.asarray(before)
        rows = [x[i, ...] for i in range(2)]
        function(namespace, x)
        assert_same(x, expected)
        for row, its in zip(rows, expected[:2], strict=True):
            assert_same(row, its)


@pytest.mark.parametrize("write", ["fill_diagonal", "place", "putmask", "put, repeated", "copyto, where"])
def test_a_write_works_in_jit(write: str, framework: str) -> None:
    with xp.backend(framework):
        before, function = WRITES[write]
        expected = before.copy()
        function(np, expected)

        def run(x: Any) -> Any:
            x = x.copy()
            function(xp, x)
            return x

        assert_same(xp.jit(run)(xp.asarray(before)), expected)


@on_backends
def test_a_write_reaches_an_ndarray() -> None:
    x = np.arange(4)
    xp.putmask(x, xp.asarray([True, False, True, False]), xp.asarray([7]))
    xp.put(x, xp.asarray([3]), 8)
    xp.copyto(x[1:2], xp.asarray([5]))
    assert x.tolist() == [7, 5, 7, 8]


@on_backends
def test_memory_that_was_handed_in_is_not_written() -> None:
    given = np.zeros((3, 3))
    x = xp.from_native(given)
    xp.fill_diagonal(x, 1)
    assert not given.any()
    assert_same(x, np.eye(3))


TRANSFORMED: Final = [
    Case("choose", AT % 2, [np.arange(4), np.arange(4) * 10.0]),
    Case("select", [T, ~T], [np.arange(3.0), np.arange(3.0) * 2], -1),
    Case("unravel_index", np.array([0, 7, 23]), (2, 3, 4)),
    Case("ravel_multi_index", (np.array([0, 1]), np.array([1, 1])), (2, 3)),
]
MAPPED: Final = TRANSFORMED[1:]
SMOOTH: Final = [Case("select", choicelist=[np.array([1.0, 2.0, 3.0])], condlist=[T])]


WRONG: Final[list[tuple[Any, type[Exception], str]]] = [
    (lambda _: xp.compress(xp.asarray([True] * 3), xp.asarray(M), axis=0), IndexError, "compress: condition must be"),
    (lambda _: xp.compress(xp.asarray([[True]]), xp.asarray(M)), ValueError, "compress: condition must have 1 axis"),
    (lambda _: xp.choose(xp.asarray([3]), [1, 2]), ValueError, "choose: x must hold indices of 2 choices"),
    (lambda _: xp.select([], []), ValueError, "select: condlist must hold"),
    (lambda _: xp.select([xp.asarray([True])], []), ValueError, "select: choicelist must have"),
    (lambda _: xp.select([xp.asarray([1])], [1]), TypeError, "select: condlist[0] must have a boolean"),
    (lambda _: xp.piecewise(xp.asarray(F), [xp.asarray(F) > 0], []), ValueError, "piecewise: funclist must have"),
    (lambda _: xp.fill_diagonal(xp.zeros(3), 1), ValueError, "fill_diagonal: a must have at least 2"),
    (lambda _: xp.fill_diagonal(xp.zeros((2, 3, 3)), 1), ValueError, "fill_diagonal: a must have axes of one"),
    (lambda _: xp.put([1, 2], 0, 1), TypeError, "put: a must be an Array or an ndarray, which is written to, not list"),
    (lambda _: xp.place(xp.zeros(3), [True], 1), ValueError, "place: mask must have as many elements as arr, 3, not 1"),
    (lambda _: xp.place(xp.zeros(1), [True], []), ValueError, "place: vals must hold"),
    (lambda _: xp.copyto(xp.zeros(3, dtype=xp.int64), 1.5), TypeError,
     "copyto: src must have a dtype that casts to int64"),
    (lambda _: xp.put_along_axis(xp.zeros(3), xp.asarray([[1]]), 1, 0), ValueError,
     "put_along_axis: indices must have"),
    (lambda _: xp.unravel_index(xp.asarray([6]), (2, 3)), ValueError, "unravel_index: "),
    (lambda _: xp.unravel_index(xp.asarray([0]), ()), ValueError, "0d array"),
    (lambda _: xp.unravel_index(xp.asarray([1.5]), (2, 3)), TypeError, "unravel_index: indices must"),
    (lambda _: xp.ravel_multi_index(([2], [0]), (2, 3)), ValueError,
     "ravel_multi_index: multi_index[0] must be from 0"),
    (lambda _: xp.ravel_multi_index(([0],), (2, 3)), ValueError, "ravel_multi_index: multi_index must have an array"),
    (lambda _: xp.diag_indices_from(xp.zeros((2, 3))), ValueError, "diag_indices_from: arr must have"),
    (lambda _: xp.tril_indices_from(xp.zeros(3)), ValueError, "tril_indices_from: arr must have 2 axes, not 1"),
    (lambda _: xp.ix_(xp.zeros((2, 2))), ValueError, "ix_: args[0] must have 1 axis, not 2"),
]  # fmt: skip


DROP_IN: Final = """
np.argwhere([[1, 0], [0, 3]])
np.flatnonzero([0, 2, 0, 3])
np.extract([True, False, True], [1, 2, 3])
np.compress([0, 1], [[1, 2], [3, 4]], axis=1)
np.compress([0, 1, 1], [1, 2, 3], out=np.zeros(2, int))
np.choose([0, 1, 1], [[1, 2, 3], [10, 20, 30]])
np.select([np.array([True, False]), [False, True]], [[1, 2], 0.5], default=9)
np.select([m > 4, m > 2], [m, m * 10])
np.piecewise([-1.0, 2.0], [[True, False], [False, True]], [lambda v: -v, 5])
np.unravel_index([1, 5], (2, 3))
np.unravel_index(np.argmax(m), m.shape)
np.unravel_index(4, (2, 3))
np.ravel_multi_index(([0, 1], [1, 2]), (2, 3))
np.ravel_multi_index((1, 2), (2, 3))
np.indices((2, 2), dtype=int)
np.indices(dimensions=(2, 2), sparse=True)
m[np.ix_([0, 1], [True, False, True])]
np.ix_([0, 1], [])
m[np.unravel_index(4, m.shape)]
np.diag_indices(2)
m[np.diag_indices_from(m[:, :2])]
np.tril_indices(3, k=-1)
m[np.triu_indices_from(m, 1)]
np.mask_indices(3, np.triu)
"""
