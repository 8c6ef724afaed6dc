"""Attributes of Array, and what Python's built-ins and modules make of one."""

from __future__ import annotations

import copy
import itertools
import math
import operator
import pickle
import re
import sys
import weakref
from typing import Any, Final

import numpy as np
import pytest
from comparison import each, host

import anyarray as xp

pytestmark = pytest.mark.few_backends

STANDARD = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip
SHAPES = [(), (0,), (3,), (2, 3), (0, 3), (2, 0, 3), (1, 1, 1, 1), (1,) * 32]


def test_attributes_say_shape_dtype_and_device(backend: xp.Backend) -> None:
    for shape in SHAPES:
        x = xp.ones(shape)
        assert (x.shape, x.ndim, x.size) == (shape, len(shape), int(np.prod(shape)))
        assert isinstance(x.shape, tuple)
    for dtype in STANDARD:
        x = xp.ones(2, dtype=getattr(xp, dtype))
        assert x.dtype is getattr(xp, dtype)
        assert x.device is backend
    for attribute in ("ndim", "dtype", "device", "unknown"):
        with pytest.raises(AttributeError):
            setattr(x, attribute, None)
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2025.12") is xp


def test_eye_is_numpy_s_for_all_small_shapes_and_diagonals(backend: xp.Backend, pytestconfig: pytest.Config) -> None:
    is_whole = backend.library == "numpy" or pytestconfig.getoption("--all-cases")
    step = 1 if is_whole else 3  # others compile for each
    for rows, columns in itertools.product(range(0, 5, step), (None, *range(0, 5, step))):
        for k in range(-6, 7, step):
            got, wanted = xp.eye(rows, columns, k=k), np.eye(rows, columns, k)
            assert got.shape == wanted.shape
            assert got.tolist() == wanted.tolist(), (rows, columns, k)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("k", [2**81, -(2**81), 2**40, -(2**31)])
def test_a_diagonal_beyond_all_integers_of_a_library_is_empty(k: int) -> None:
    for shape in ((2, 3), (30, 40)):
        assert xp.eye(*shape, k=k).shape == shape
        assert not xp.any(xp.eye(*shape, k=k) != 0)


@pytest.mark.usefixtures("backend")
def test_transposes_exchange_the_last_two_axes() -> None:
    x = xp.reshape(xp.arange(6), (2, 3))
    assert x.T.tolist() == x.mT.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert xp.ones((4, 2, 3)).mT.shape == (4, 3, 2)


ITEMS: Final = [
    (True, "bool"),
    (-5, "int8"),
    (2**64 - 1, "uint64"),
    (-(2**63), "int64"),
    (0.1, "float64"),
    (1j, "complex64"),
]


@each("value, dtype", ITEMS)
@pytest.mark.usefixtures("backend")
def test_item_gives_the_python_scalar(value: complex, dtype: str) -> None:
    found = xp.asarray(value, dtype=getattr(xp, dtype)).item()
    assert found == value
    assert type(found) is type(value)


REFUSED: Final = {"c": (int, float, operator.index), "f": (operator.index,), "b": (operator.index,)}


@each("dtype", STANDARD)
@pytest.mark.usefixtures("backend")
def test_an_element_converts_to_python_as_its_dtype_allows(dtype: str) -> None:
    for element in (xp.asarray([1], dtype=getattr(xp, dtype))[0], xp.asarray(1, dtype=getattr(xp, dtype))):
        for convert in (bool, int, float, complex, operator.index):
            if convert in REFUSED.get(element.dtype.kind, ()):
                with pytest.raises(TypeError, match=f"must not have the dtype {element.dtype}"):
                    convert(element)
            else:
                found = convert(element)
                assert (found, type(found)) == (1, int if convert is operator.index else convert)


@pytest.mark.usefixtures("backend")
def test_special_floats_truths_indices_and_errors_of_conversions_are_python_s() -> None:
    for value in (float("nan"), float("inf"), -0.0):
        assert repr(float(xp.asarray(value))) == repr(value)
    for shape in ((1,), (1, 1, 1)):
        assert bool(xp.ones(shape)) and not xp.zeros(shape)
    assert bool(xp.asarray(xp.nan))
    assert "abc"[xp.asarray(1)] == "b"
    assert list(range(xp.asarray(2, dtype=xp.uint8))) == [0, 1]
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        int(xp.asarray(xp.nan))
    with pytest.raises(OverflowError, match="cannot convert float infinity to integer"):
        int(xp.asarray(xp.inf))
    with pytest.raises(ValueError):
        xp.ones(2).item()


@each("values", [[1, 2], [[1.5, 2.5], [3.5, 4.5]], [True], [], 2.5, 3])
@pytest.mark.usefixtures("backend")
def test_bytes_are_those_of_an_ndarray(values: Any) -> None:
    assert bytes(xp.asarray(values)) == bytes(np.asarray(values))
    assert bytes(xp.asarray([values, values], dtype=xp.float32)[1]) == bytes(np.asarray(values, np.float32))


@pytest.mark.usefixtures("backend")
def test_round_and_trunc_give_python_s_numbers() -> None:
    x = xp.asarray(2.567)
    assert (round(x), round(x, 1), math.trunc(x)) == (3, 2.6, 2)
    with pytest.raises(TypeError, match=re.escape("round: x must have no axes, not shape (2,). Take an element: x[0]")):
        round(xp.ones(2))


@pytest.mark.usefixtures("backend")
def test_divmod_is_the_quotient_and_the_remainder() -> None:
    x = xp.asarray([7, -7])
    assert [part.tolist() for part in divmod(x, 2)] == [[3, -4], [1, 1]]
    assert [part.tolist() for part in divmod(9, x)] == [[1, -2], [2, -5]]


@pytest.mark.usefixtures("backend")
def test_an_array_is_a_sequence_of_its_rows() -> None:
    x = xp.asarray([[1, 2], [3, 4]])
    assert (x.tolist(), xp.asarray(5).tolist(), xp.zeros((2, 0)).tolist()) == ([[1, 2], [3, 4]], 5, [[], []])
    assert (len(x), len(xp.ones((0, 2)))) == (2, 0)
    assert [(type(row), row.tolist()) for row in x] == [(xp.Array, [1, 2]), (xp.Array, [3, 4])]
    first, *rest = xp.asarray([1, 2, 3])
    assert (int(first), [int(v) for v in rest]) == (1, [2, 3])
    assert (3 in x, 5 in x, xp.asarray(2) in x, xp.nan in xp.asarray([xp.nan])) == (True, False, True, False)


@pytest.mark.usefixtures("backend")
def test_who_asks_for_an_iterator_alone_unstacks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x = xp.asarray([1, 2])
    monkeypatch.delitem(vars(x._home), "unstack")
    assert np.iterable(x)
    with pytest.raises(TypeError, match="iter: x has no axes"):
        iter(x[0])
    monkeypatch.undo()
    assert [int(one) for one in x] == [1, 2]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("dtype", STANDARD)
@pytest.mark.parametrize("shape", [(12,), (12, 2)])
def test_elements_of_a_loop_that_are_kept_stay_as_they_were(shape: tuple[int, ...], dtype: str) -> None:
    x = xp.astype(xp.reshape(xp.arange(math.prod(shape)), shape), getattr(xp, dtype))
    read, kept, copies, seen = [], [], [], []
    for i, one in enumerate(x):
        assert all(reference() is None or reference().tolist() == value for reference, value in seen)
        read.append(one.tolist())
        if i % 5 == 0:
            kept.append(one)
        elif i % 5 == 1:
            copies.append((copy.copy(one), xp.reshape(one, shape[1:]), xp.to_native(one)))
        elif i % 5 == 2:
            seen.append((weakref.ref(one), one.tolist()))
        elif i % 5 == 3:
            one = one + one
    assert read == x.tolist()
    assert [one.tolist() for one in kept] == read[::5]
    assert [[host(one).tolist() for one in several] for several in copies] == [[one] * 3 for one in read[1::5]]
    assert len({id(one) for one in list(x)}) == 12


def test_rows_of_a_loop_arrive_elsewhere_as_they_are(framework: str) -> None:
    with xp.backend("numpy"):
        x = xp.reshape(xp.arange(40_000), (4, 10_000))
    for i, row in enumerate(x):
        for _ in range(2):  # a copy may be kept
            with xp.backend(framework):
                assert int(xp.sum(row)) == sum(range(i * 10_000, (i + 1) * 10_000))


@pytest.mark.usefixtures("backend")
def test_an_array_is_not_equal_to_what_is_no_array() -> None:
    x = xp.ones(2)
    assert (x == None) is False  # noqa: E711 - what is tested
    assert (x != None) is True  # noqa: E711 - what is tested
    assert (x == "ones") is False


@pytest.mark.usefixtures("backend")
def test_an_array_is_no_key() -> None:
    with pytest.raises(TypeError, match="unhashable type: 'Array'"):
        hash(xp.ones(2))


REPRS: Final = {
    "xp.asarray([0.5, 1.0])": "[0.5, 1. ], dtype=float64",
    "xp.asarray(3, dtype=xp.int8)": "3, dtype=int8",
    "xp.asarray([0.1, 1 / 3])[1]": "0.3333333333333333, dtype=float64",
    "xp.reshape(xp.arange(4), (2, 2))": "[[0, 1],\n       [2, 3]], dtype=int64",
    "xp.zeros((2, 0))": "[], shape=(2, 0), dtype=float64",
    "xp.arange(10**6)": "[     0,      1,      2, ..., 999997, 999998, 999999], shape=(1000000,), dtype=int64",
}


@each("made, text", REPRS.items())
def test_repr_shows_values_dtype_and_home(made: str, text: str, backend: xp.Backend) -> None:
    assert repr(eval(made)) == f"Array({text}, device={backend})"


@pytest.mark.usefixtures("backend")
def test_str_is_that_of_numpy() -> None:
    for shape in ((2000,), (100, 100), (3, 2000), (2000, 3), (2, 3, 500), (20, 1, 20, 5)):
        a = np.arange(np.prod(shape)).reshape(shape)
        assert str(xp.asarray(a)) == str(a)
    a = np.asarray([[0.1, -0.0, np.nan], [np.inf, 1e300, 5]])
    assert str(xp.asarray(a)) == str(a)
    for value in (3.0, 1 / 3, 1 + 2j, 1e-300, True, 7):
        assert str(xp.asarray(value)) == f"{xp.asarray(value)}" == str(np.asarray(value))
    assert len(repr(xp.zeros((500, 500, 10)))) < 3000


@pytest.mark.usefixtures("backend")
def test_str_follows_numpy_s_print_options() -> None:
    with np.printoptions(precision=2):
        assert str(xp.asarray([0.123456])) == "[0.12]"
    with np.printoptions(threshold=5, edgeitems=1):
        assert str(xp.arange(10)) == "[0 ... 9]"
    with np.printoptions(threshold=3000):
        assert str(xp.arange(3000)) == str(np.arange(3000))


def test_a_number_becomes_an_array_by_an_update_in_place(backend: xp.Backend) -> None:
    total = xp.sum(xp.asarray([1.0, 2.0]))
    before = total
    total *= xp.asarray([1.0, 10.0])
    assert total.tolist() == [3.0, 30.0]
    assert float(before) == 3.0
    with pytest.raises(ValueError, match="does not fit"):
        xp.asarray([1.0]).__iadd__(xp.asarray([1.0, 2.0]))


@pytest.mark.usefixtures("backend")
def test_format_takes_the_specification_of_the_scalar() -> None:
    assert f"{xp.asarray(3.14159):.2f}" == "3.14"
    assert f"{xp.asarray(7):03d}" == "007"
    assert f"{xp.asarray([1, 2])}" == "[1 2]"
    assert f"{xp.asarray([1, 2]):>8}" == "   [1 2]"
    sentence = "format: x must have no axes for '.2f', not shape (2,). Format its elements: x.tolist()"
    with pytest.raises(TypeError, match=re.escape(sentence)):
        format(xp.asarray([1.5, 2.5]), ".2f")


@pytest.mark.parametrize("dtype", [*STANDARD, "float16", "bfloat16"])
def test_a_pickled_array_comes_back_the_same(dtype: str, backend: xp.Backend) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    x = xp.asarray([[0, 1], [1, 0]], dtype=getattr(xp, dtype))
    y = pickle.loads(pickle.dumps(x))
    assert (y.dtype, y.shape, y.device, y.tolist()) == (x.dtype, x.shape, backend, x.tolist())
    assert str(pickle.loads(pickle.dumps(xp.asarray([xp.nan, xp.inf, -0.0]))).tolist()) == "[nan, inf, -0.0]"


def test_a_pickled_array_stays_placed(framework: str) -> None:
    x = pickle.loads(pickle.dumps(xp.ones(2, device=framework)))
    with pytest.raises(xp.BackendMismatchError):
        x + xp.ones(2, device="numpy")


def test_a_copy_has_the_same_values_and_home(backend: xp.Backend) -> None:
    x = xp.asarray([1.5, 2.5])
    for y in (copy.copy(x), copy.deepcopy(x), copy.deepcopy({"x": x})["x"]):
        y[0] += 1
        assert (y.tolist(), y.dtype, y.device) == ([2.5, 2.5], xp.float64, backend)
    assert x.tolist() == [1.5, 2.5]
    assert weakref.ref(x)() is x


@pytest.mark.usefixtures("backend")
def test_the_size_of_an_object_counts_its_elements() -> None:
    few, many = (sys.getsizeof(xp.zeros(n, dtype=xp.float32)) for n in (10, 1010))
    assert many - few == 4000


DTYPES_OF_PARTS: Final = [
    ("int8", "uint8", "int16"), ("bool", "int8", "int8"), ("int64", "uint64", "float64"),
    ("float32", "int64", "float64"), ("bfloat16", "bfloat16", "bfloat16"), ("complex64", "float64", "complex128"),
]  # fmt: skip


@each("first, second, expected", DTYPES_OF_PARTS)
def test_a_list_of_arrays_has_the_dtype_to_which_they_promote(first: str, second: str, expected: str) -> None:
    if "bfloat16" in (first, second) and not xp.device("numpy").has_dtype("bfloat16"):
        return
    parts = [xp.asarray(1, dtype=getattr(xp, first)), xp.asarray(1, dtype=getattr(xp, second))]
    found = xp.asarray(parts)
    assert found.dtype == getattr(xp, expected)
    assert xp.all(found == 1)


def test_a_nest_of_arrays_becomes_one_array_where_it_is_wanted(backend: xp.Backend) -> None:
    rows = [[1.5, 2.0], [3.0, 4.0]]
    with xp.backend("numpy"):
        nests: list[Any] = [
            [[xp.asarray(one) for one in row] for row in rows],
            [xp.asarray(rows[0]), tuple(xp.asarray(one) for one in rows[1])],
            (xp.asarray(rows)[0], xp.asarray(rows)[1]),
        ]
    for nest in nests:
        found = xp.asarray(nest)
        assert (found.device, found.dtype, found.tolist()) == (backend, xp.float64, rows)
        assert xp.asarray(nest, dtype=xp.int8).tolist() == [[1, 2], [3, 4]]
        assert xp.asarray(nest, device=backend).device == backend


def test_a_list_of_arrays_is_copied() -> None:
    parts = [xp.asarray([1.0, 2.0]), xp.asarray([3.0, 4.0])]
    found = xp.asarray(parts)
    found[0, 0] = 9.0
    parts[1][0] = 7.0
    assert parts[0].tolist() == [1.0, 2.0]
    assert found.tolist() == [[9.0, 2.0], [3.0, 4.0]]
