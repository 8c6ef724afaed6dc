"""Partial sorts and sorts by several keys, against NumPy."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from against_numpy import Case
from comparison import assert_same

import anyarray as xp

pytestmark = pytest.mark.few_backends

M: Final = np.array([[7, 1, 5, 3, 1], [0, 9, -4, 2, 8]])
F: Final = np.array([0.5, np.nan, 2.0, -np.inf, 0.5])
C: Final = np.array(
    [complex(np.nan, 1), 1 + 2j, complex(2, np.nan), 1, complex(np.nan, np.nan), complex(np.nan, 0), 1j]
)

CASES: Final = [
    Case("lexsort", [np.array([2, 1, 3, 0]), np.array([7, 7, 5, 5])]),
    Case("lexsort", [F, np.array([True, False, True, False, True])]),
    Case("lexsort", M),
    Case("lexsort", [M, -M], axis=0),
    Case("lexsort", [np.array([1, 0, 1]), np.float32([2, np.nan, 2]), np.int8([0, 0, 0])]),
    Case("lexsort", [C]),
    Case("lexsort", [np.zeros(0), np.zeros(0)]),
    Case("sort_complex", C),
    Case("sort_complex", np.complex64(C.reshape(1, -1))),
    Case("sort_complex", M),
    Case("sort_complex", np.int16(M)),
    Case("sort_complex", np.float32(F)),
    Case("sort_complex", F > 1),
]


PARTITIONS: Final[list[tuple[Any, Any, Any]]] = [
    (M, 2, -1),
    (M, -2, 1),
    (M, 0, 0),
    (M, 4, None),
    (M, (1, 3), 1),
    (F, 3, -1),
    (np.float32(F), 0, 0),
    (M > 2, 3, 1),
    (C, 4, 0),
]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("at", range(len(PARTITIONS)))
def test_partition_puts_the_elements_where_a_sort_does(at: int) -> None:
    x, kth, axis = PARTITIONS[at]
    array = xp.asarray(x)
    expected = np.sort(x, axis=axis)
    along = -1 if axis is None else axis
    found = xp.partition(array, kth, axis=axis)
    order = xp.argpartition(array, kth, axis)
    assert order.dtype == xp.int64
    for one in (found, xp.take_along_axis(xp.reshape(array, (-1,)) if axis is None else array, order, axis=along)):
        assert_same(xp.asarray(np.sort(np.asarray(one), axis=along)), expected)
        where = xp.asarray(np.atleast_1d(kth) % expected.shape[along])
        assert_same(xp.take(one, where, axis=along), np.take(expected, np.asarray(where), axis=along))


TRANSFORMED: Final = [
    Case("partition", np.array([3.0, 1.0, 2.0]), 1),
    Case("argpartition", np.array([3.0, 1.0, 2.0]), 1),
    Case("lexsort", [np.array([1, 1, 0]), np.array([2, 1, 1])]),
    Case("sort_complex", np.array([3.0, 1.0, 2.0])),
]
MAPPED: Final = TRANSFORMED[2:]
SMOOTH: Final = TRANSFORMED[:1]


@pytest.mark.usefixtures("backend")
def test_partition_in_vmap_partitions_each_row() -> None:
    found = xp.vmap(lambda row: xp.partition(row, 2))(xp.asarray(M))
    assert_same(found[:, 2], np.sort(M)[:, 2])


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("function", ["partition", "argpartition"])
def test_no_elements_are_partitioned_by_any(function: str) -> None:
    for kth in (0, 5, -1, (0, 9)):
        assert getattr(xp, function)(xp.zeros((3, 0)), kth).shape == (3, 0)
    x = xp.zeros(0)
    x.partition(3)
    assert x.argpartition(3).shape == (0,)


DROP_IN: Final = """
np.partition([3, 1, 2], 1)[1]
np.partition([[3, 1], [2, 0]], 1, axis=None)[1]
np.argpartition([3, 1, 2], 0)[0]
np.lexsort(([2, 1, 3], [7, 7, 5]))
np.lexsort([[2, 1, 3], [7, 7, 5]], axis=0)
np.sort_complex([2, 1j, 1])
"""

WRONG: Final[list[Any]] = [
    *[(Case(name, M, 5), ValueError, f"{name}: kth") for name in ("partition", "argpartition")],
    *[(Case(name, M, 0, axis=2), np.exceptions.AxisError, f"{name}: axis 2") for name in ("partition", "argpartition")],
    (Case("lexsort", [M[0], M[0, :1]]), ValueError, "lexsort: keys must be of one shape"),
    (Case("lexsort", []), ValueError, "lexsort: keys must hold"),
]
