"""Arrays without axes give to the bit what NumPy's scalars give.

So do operators, conversions and indices. They warn of the same, as of integers that overflow.
"""

from __future__ import annotations

import itertools
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from comparison import each

import anyarray as xp
from anyarray._base import extension

DTYPES: Final = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
INTEGERS: Final = DTYPES[1:9]
REAL: Final = DTYPES[:12]  # complex numbers are left to the ufuncs
ARITHMETIC: Final = ("add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift")
COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge")
UNARY: Final = ("neg", "pos", "abs", "invert")
Seeds = Callable[[int], range]
PYTHONS: Final = (0, 1, -1, 3, 200, -300, 2**40, 2**70, True, False, 0.0, -0.0, 2.5, 1e300, math.inf, math.nan)

pytestmark = pytest.mark.usefixtures("in_numpy")


@pytest.fixture
def in_numpy() -> Any:
    with xp.backend("numpy"):
        yield


def scalars(dtype: str) -> list[Any]:
    """Scalars of NumPy, many at the ends of what the dtype holds."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return [np.False_, np.True_]
    if kind.kind in "iu":
        bounds = np.iinfo(kind)
        return [kind.type(one) for one in {0, 1, 3, bounds.min, bounds.max}]
    if kind.kind == "c":
        return [kind.type(one) for one in (0, -0j, 1.5 - 2j, 3, complex(math.inf, 1), complex(math.nan, 0))]
    bounds = np.finfo(kind)
    return [kind.type(one) for one in (0.0, -0.0, 1.5, -2.5, math.inf, math.nan, bounds.max, bounds.smallest_subnormal)]


def array_of(scalar: np.generic) -> xp.Array:
    """The element of an Array, which is that scalar."""
    array = xp.asarray(np.asarray([scalar]))[0]
    assert type(array._native) is type(scalar)
    return array


def outcome(function: Callable[..., Any], *operands: Any) -> tuple[Any, ...]:
    """The bytes of a result, what else is seen of it, and what was warned of.

    The builtin class of an error, if it raises.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*operands)
        except (ArithmeticError, TypeError, ValueError) as error:
            return (next(one for one in type(error).__mro__ if one.__module__ == "builtins"),)
    if not isinstance(found, (xp.Array, np.generic)):
        return type(found), repr(found)
    native = found._native if isinstance(found, xp.Array) else found
    said = [str(one.message).replace("scalar ", "") for one in caught]  # NumPy's scalars of some dtypes call the ufunc
    # Without the extension every operator is a ufunc, which does not warn of the same.
    return type(native), native.dtype, native.tobytes(), said if extension.speedups else []


@each("right", REAL)
@pytest.mark.parametrize("left", REAL)
def test_an_operator_of_two_gives_what_numpys_scalars_give(left: str, right: str, seeds: Seeds) -> None:
    pairs = list(itertools.product(scalars(left), scalars(right)))
    answered = 0
    for one, other in pairs if left == right else [pair for i in seeds(4) for pair in pairs[i::4]]:
        x, y = array_of(one), array_of(other)
        for name in (*ARITHMETIC, *COMPARISONS):
            function = getattr(operator, name)
            expected = outcome(function, one, other)
            found = outcome(function, x, y)
            assert outcome(function, x, other) == found
            if found == (TypeError,):  # what the standard has no answer for
                continue
            assert found == expected, (name, x, y)
            of_ufunc = outcome(function, one, y)  # as NumPy calls that, which does not warn of the same
            assert of_ufunc[:2] == expected[:2], (name, one, y)
            answered += 1
    assert answered


@pytest.mark.parametrize("dtype", REAL)
def test_an_operator_beside_a_python_scalar_gives_what_numpys_scalars_give(dtype: str, seeds: Seeds) -> None:
    pairs = list(itertools.product(scalars(dtype), PYTHONS))
    for scalar, value in [pair for i in seeds(4) for pair in pairs[i::4]]:
        x = array_of(scalar)
        for name in (*ARITHMETIC, *COMPARISONS):
            function = getattr(operator, name)
            for operands, native in (((x, value), (scalar, value)), ((value, x), (value, scalar))):
                found, expected = outcome(function, *operands), outcome(function, *native)
                if found == (TypeError,) or (OverflowError,) in (found, expected):  # as int8 / 300, which is a number
                    continue
                assert found == expected, (name, operands)


def item(x: Any) -> Any:
    return x.item()


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_operator_of_one_and_a_conversion_give_what_numpys_scalars_give(dtype: str) -> None:
    functions = [getattr(operator, name) for name in UNARY]
    # Before NumPy 2.3 a scalar of booleans is an index.
    indices = () if dtype == "bool" and np.lib.NumpyVersion(np.__version__) < "2.3.0" else (operator.index, range)
    for scalar in scalars(dtype):
        x = array_of(scalar)
        for function in (*functions, bool, int, float, complex, *indices, math.sqrt, list, item):
            found, expected = outcome(function, x), outcome(function, scalar)
            if found == (TypeError,):
                assert expected == found or function in (*functions, int, float, math.sqrt), function
                continue
            assert found == expected, (function, scalar)


@pytest.mark.parametrize("dtype", REAL)
def test_an_operator_in_place_gives_what_numpys_scalars_give(dtype: str) -> None:
    for one, other in itertools.product(scalars(dtype), repeat=2):
        for name in ("iadd", "isub", "imul", "ifloordiv", "iand"):
            function = getattr(operator, name)
            found = outcome(function, array_of(one), array_of(other))
            assert found in (outcome(function, one, other), (TypeError,)), (name, one, other)


@each("wanted", [bool, int, float, *DTYPES])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_conversion_to_a_dtype_gives_what_numpys_scalars_give(dtype: str, wanted: Any) -> None:
    of_numpy = np.dtype(wanted)
    forms = [wanted] if isinstance(wanted, type) else [wanted, of_numpy, of_numpy.type, getattr(xp, wanted)]
    for scalar, form in itertools.product(scalars(dtype), forms):
        found = outcome(xp.astype, array_of(scalar), form)
        assert found in (outcome(scalar.astype, of_numpy), (TypeError,)), (scalar, form)
        assert (found == (TypeError,)) == (np.dtype(dtype).kind == "c" and of_numpy.kind not in "cb")


@pytest.mark.parametrize("dtype", INTEGERS)
def test_an_integer_of_any_class_is_an_index_as_an_int_is(dtype: str) -> None:
    host = np.arange(60.0).reshape(3, 4, 5)
    scalar = np.dtype(dtype).type(2)
    for index in (scalar, array_of(scalar)):
        keys: list[Callable[[Any], Any]] = [
            lambda i: i, lambda i: (i, i), lambda i: (i, i, i), lambda i: (1, i, 0), lambda i: (slice(None), i),
            lambda i: (..., i), lambda i: (None, i), lambda i: slice(i, None), lambda i: slice(None, None, i),
            lambda i: (slice(i), 1, slice(0, i)), lambda i: (i, [0, 1]),
        ]  # fmt: skip
        for key in keys:
            x, expected = xp.asarray(host), host.copy()
            found = x[key(index)]
            assert np.asarray(found).tolist() == expected[key(2)].tolist()
            if found.ndim:
                found[...] = 0  # a view, or none
                expected[key(2)][...] = 0
                assert x.tolist() == expected.tolist()
            x[key(index)] = 7
            expected[key(2)] = 7
            assert x.tolist() == expected.tolist()
            x[key(index)] += 1
            expected[key(2)] += 1
            assert x.tolist() == expected.tolist()


@each("key", [np.uint64(2**63), np.int64(-4), np.int8(3), np.timedelta64(1, "s"), np.float64(1), np.True_])
def test_what_is_no_index_is_refused_in_an_array_too(key: Any) -> None:
    x = xp.asarray([1.0, 2.0, 3.0])
    if type(key) is np.bool:
        assert x[key].shape == np.ones(3)[key].shape
        return
    with pytest.raises((IndexError, TypeError)) as alone:
        x[key]
    if type(key) is not np.timedelta64:
        with pytest.raises(type(alone.value)):
            x[array_of(key)]


@each("right", DTYPES)
@pytest.mark.parametrize("left", DTYPES)
def test_an_element_that_is_written_is_cast_as_numpy_casts(left: str, right: str) -> None:
    for scalar in scalars(right):
        host = np.zeros(2, dtype=left)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            host[1:] = np.asarray([scalar])  # as an array: NumPy refuses some scalars, as NaN for an integer
            for value in (scalar, array_of(scalar), xp.asarray(np.asarray(scalar))):
                x = xp.zeros(2, dtype=left)
                if type(value) is complex and np.dtype(left).kind != "c":
                    with pytest.raises(TypeError):
                        x[1] = value
                    continue
                x[1] = value
                assert np.asarray(x).tobytes() == host.tobytes(), value


def test_loops_over_elements_give_what_numpy_gives() -> None:
    true, guessed = np.random.default_rng(3).integers(0, 4, (2, 60))
    first, second = np.random.default_rng(4).integers(0, 3, (2, 9))

    def confusion(matrix: Any, true: Any, guessed: Any) -> Any:
        for t, p in zip(true, guessed, strict=True):
            matrix[t, p] += 1
        return matrix

    def distances(table: Any, a: Any, b: Any) -> Any:
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                table[i, j] = min(
                    table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
                )
        return table

    side = np.arange(10)
    table = side + side[:, None]
    for function, arrays in ((confusion, (np.zeros((4, 4), int), true, guessed)), (distances, (table, first, second))):
        found = function(*map(xp.asarray, arrays))
        assert found.tolist() == function(*[a.copy() for a in arrays]).tolist()


def test_an_element_that_was_an_index_may_change_later() -> None:
    x = xp.from_native(np.arange(6.0))  # memory that is not written: its views are recorded
    start = xp.asarray([1, 1])[0]
    part = x[start:]
    start += 2
    x[0] = 5
    part[0] = 7
    assert x.tolist() == [5, 7, 2, 3, 4, 5]


@each("index", [np.int64(1), np.uint8(1), xp.asarray([0, 1])[1]])
def test_a_row_of_memory_that_is_not_written_is_a_view_whatever_the_index(index: Any) -> None:
    x = xp.from_native(np.zeros((2, 2)))
    row = x[index]
    row[0] = 9
    assert x.tolist() == [[0, 0], [9, 0]]


@pytest.mark.usefixtures("backend")
def test_an_element_is_another_after_an_update_in_place_but_a_view_without_axes_is_written() -> None:
    total = xp.sum(xp.asarray([1.0, 2.0]))
    history = [total]
    total += 1
    history.append(total)
    total *= 2
    assert [*map(float, history), float(total)] == [3, 4, 8]
    x = xp.asarray([1, 2])
    count = before = x[0]
    count += 0.5
    assert (count.item(), before.item()) == (1.5, 1)
    part = x[..., 0]
    part += 5
    assert x.tolist() == [6, 2]
