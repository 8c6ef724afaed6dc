"""Distinct elements and sets, against NumPy."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from against_numpy import Case, assert_as_in_numpy, assert_parts_same, assert_same_in_jit
from comparison import assert_same

import anyarray as xp
import anyarray.numpy

pytestmark = pytest.mark.few_backends

N: Final = np.array([[3, 1, 3], [2, 1, 7]])
F: Final = np.array([np.nan, 0.5, 2.0, np.nan, -np.inf, 0.5, np.nan])
C: Final = np.array([1 + 2j, 1, complex(np.nan, 1), 1, complex(2, np.nan), 1 - 2j])
ROWS: Final = np.array([[1, 2, 0], [0, 5, 5], [1, 2, 0], [1, 0, 9], [0, 5, 5], [0, 5, 4]])
NANS: Final = np.array([[np.nan, 5.0], [1.0, np.nan], [np.nan, 3.0], [1.0, 2.0], [1.0, np.nan], [1.0, 2.0]])
ALL: Final = {"return_index": True, "return_inverse": True, "return_counts": True}

CASES: Final = [
    Case("unique", N),
    Case("unique", N, **ALL),
    Case("unique", N, return_index=True),
    Case("unique", N, return_inverse=True),
    Case("unique", N, return_counts=True),
    Case("unique", N > 2, return_counts=True),
    Case("unique", F),
    Case("unique", F, **ALL),
    Case("unique", F, **ALL, equal_nan=False),
    Case("unique", np.float32(F), return_counts=True),
    Case("unique", F[:2], return_inverse=True),
    Case("unique", C, **ALL),
    Case("unique", np.zeros(0), **ALL),
    Case("unique", np.array(5), **ALL),
    Case("unique", ROWS, axis=0),
    Case("unique", ROWS, axis=0, **ALL),
    Case("unique", ROWS.T, axis=-1, **ALL),
    Case("unique", ROWS.reshape(3, 2, 3), axis=1, **ALL),
    Case("unique", NANS, axis=0, **ALL),
    Case("unique", ROWS > 1, axis=0, return_inverse=True),
    Case("unique", ROWS[:, 0], axis=0, return_counts=True),
    Case("unique", np.zeros((3, 0)), axis=0, **ALL),
    Case("unique", np.zeros((0, 3)), axis=0, **ALL),
    Case("union1d", N, np.array([9.5, 3.0])),
    Case("union1d", F, F),
    Case("intersect1d", N, np.array([7, 1, 8, 1])),
    Case("intersect1d", N, np.array([7.0, 1, 8, 1]), return_indices=True),
    Case("intersect1d", F, F, return_indices=True),
    Case("intersect1d", np.array([3, 1, 2]), np.array([2, 3]), assume_unique=True),
    Case("intersect1d", np.array([[3], [1]]), np.array([2, 3]), assume_unique=True, return_indices=True),
    Case("intersect1d", C, C),
    Case("intersect1d", N > 2, np.array([True])),
    Case("intersect1d", np.zeros(0), np.zeros(0)),
    Case("setdiff1d", N, np.array([1, 9])),
    Case("setdiff1d", F, np.array([0.5, np.nan])),
    Case("setdiff1d", np.array([3, 1, 2]), np.array([1]), assume_unique=True),
    Case("setxor1d", N, np.array([1, 9])),
    Case("setxor1d", F, F),
    Case("setxor1d", np.array([[3, 1, 2]]), np.array([1]), assume_unique=True),
    Case("setxor1d", np.zeros(0), np.zeros(0)),
]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("columns", [1, 4, 7])
def test_distinct_rows_are_in_lexicographical_order(columns: int) -> None:
    rows = np.random.default_rng(columns).integers(0, 3, (40, columns)) * 10**12
    assert_as_in_numpy(Case("unique", rows, axis=0, **ALL))


IN_JIT: Final = [
    Case("unique", F, **ALL),
    Case("unique", ROWS, axis=0, **ALL),
    Case("union1d", N, N[0]),
    Case("intersect1d", F, F, return_indices=True),
    Case("setdiff1d", N, N[0]),
    Case("setxor1d", N, N[0]),
]


@pytest.mark.parametrize("case", IN_JIT, ids=repr)
def test_it_works_in_jit_where_shapes_may_depend_on_values(case: Case, framework: str) -> None:
    with xp.backend(framework):
        if framework in ("jax", "torch"):
            with pytest.raises(xp.UnsupportedError, match="the shape of the result depends on values"):
                assert_same_in_jit(case)
        else:
            assert_same_in_jit(case)


DROP_IN: Final = """
np.unique([3, 1, 3])
np.unique([3, 1, 3], return_counts=True)
np.unique([3, 1, 3], True, True, True)
np.unique([[1, 2], [1, 2]], axis=0)
np.union1d([1, 2], [2, 3])
np.intersect1d([1, 2], [2, 3], return_indices=True)
np.setdiff1d([1, 2, 3], [2])
np.setxor1d([1, 2], [2, 3])
np.setdiff1d(range(5), [2])
"""

WRONG: Final[list[Any]] = [
    (Case("unique", N, axis=2), np.exceptions.AxisError, "unique: axis 2"),
    (Case("setdiff1d", N, [1]), TypeError, "setdiff1d: ar2 must be an Array"),
]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="its unique has no `sorted`")
@pytest.mark.usefixtures("backend")
def test_the_drop_in_takes_whether_unique_sorts() -> None:
    assert_parts_same(anyarray.numpy.unique([0.5, np.nan, np.nan], sorted=False), np.asarray([0.5, np.nan]))


@pytest.mark.usefixtures("backend")
def test_text_in_the_drop_in_is_numpys() -> None:
    names: Any = anyarray.numpy
    values, counts = names.unique(np.array(["b", "a", "b"]), return_counts=True)
    assert values.tolist() == ["a", "b"]
    assert_same(counts, np.array([1, 2]))
    assert names.union1d(["b"], ["a", "b"]).tolist() == ["a", "b"]
