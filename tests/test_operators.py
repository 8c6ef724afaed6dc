"""Operators: each is its function, on both sides and in place.

The other operand is an Array, a Python scalar or an ndarray.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from comparison import each
from expressions import rows, several

import anyarray as xp
from anyarray._base.extension import speedups
from anyarray._call import slow_path

Binary = Callable[[Any, Any], Any]

ARITHMETIC: dict[str, tuple[Binary, Binary, str]] = {
    "add": (operator.add, operator.iadd, "float64"),
    "subtract": (operator.sub, operator.isub, "float64"),
    "multiply": (operator.mul, operator.imul, "float64"),
    "divide": (operator.truediv, operator.itruediv, "float64"),
    "floor_divide": (operator.floordiv, operator.ifloordiv, "int64"),
    "remainder": (operator.mod, operator.imod, "int64"),
    "pow": (operator.pow, operator.ipow, "float64"),
    "bitwise_and": (operator.and_, operator.iand, "int64"),
    "bitwise_or": (operator.or_, operator.ior, "int64"),
    "bitwise_xor": (operator.xor, operator.ixor, "int64"),
    "bitwise_left_shift": (operator.lshift, operator.ilshift, "int64"),
    "bitwise_right_shift": (operator.rshift, operator.irshift, "int64"),
}
COMPARISON: dict[str, Binary] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
UNARY = {"abs": operator.abs, "negative": operator.neg, "positive": operator.pos, "bitwise_invert": operator.invert}
ALL_BINARY = {name: row[0] for name, row in ARITHMETIC.items()} | COMPARISON


def operands(name: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    dtype = ARITHMETIC[name][2] if name in ARITHMETIC else "int64"
    return np.asarray([7, 2, 5], dtype=dtype), np.asarray([2, 2, 3], dtype=dtype)


@each("function", ALL_BINARY)
def test_a_binary_operator_gives_what_numpy_s_gives(function: str, backend: xp.Backend) -> None:
    a, b = operands(function)
    x, y, call = xp.asarray(a), xp.asarray(b), ALL_BINARY[function]
    for got, expected in ((call(x, y), call(a, b)), (call(x, 2), call(a, 2)), (call(2, x), call(2, a))):
        assert (got.tolist(), got.dtype) == (expected.tolist(), expected.dtype)
    assert call(x, y).tolist() == getattr(xp, function)(x, y).tolist()
    for got in (call(x, b), call(a, y)):  # an ndarray on the right, and on the left
        assert (type(got), got.device, got.tolist()) == (xp.Array, backend, call(a, b).tolist())


@each("function", UNARY)
@pytest.mark.usefixtures("backend")
def test_a_unary_operator_gives_what_numpy_s_gives(function: str) -> None:
    a = np.asarray([-3, 0, 5])
    assert UNARY[function](xp.asarray(a)).tolist() == UNARY[function](a).tolist()


@each("function", ARITHMETIC)
@pytest.mark.usefixtures("backend")
def test_an_in_place_operator_changes_the_array_itself(function: str) -> None:
    a, b = operands(function)
    for theirs, mine in ((b, xp.asarray(b)), (2, 2)):
        x = kept = xp.asarray(a)
        x = ARITHMETIC[function][1](x, mine)
        assert x is kept
        assert kept.tolist() == ARITHMETIC[function][0](a, theirs).tolist()


PRODUCTS: dict[str, Any] = {
    "m @ m": [[True, False], [True, True]], "m @ v": [True, True], "v @ v": True, "xp.vecdot(m, v)": [True, True],
    "xp.tensordot(m, v, axes=1)": [True, True], "xp.linalg.outer(v, v)": [[True, False], [False, False]],
    "xp.ceil(v)": [True, False], "xp.floor(v)": [True, False], "xp.trunc(v)": [True, False],
}  # fmt: skip
"""Of bools, and whether both are true anywhere."""


@each("product, expected", PRODUCTS.items())
@pytest.mark.usefixtures("backend")
def test_products_of_bools_say_whether_both_are_true_anywhere(product: str, expected: Any) -> None:
    found = eval(product, {"xp": xp, "m": xp.asarray([[True, False], [True, True]]), "v": xp.asarray([True, False])})
    assert found.dtype == xp.bool
    assert found.tolist() == expected


@pytest.mark.usefixtures("backend")
def test_matmul_operator_is_the_matrix_product() -> None:
    x, y = xp.asarray([[1, 2], [3, 4]]), xp.asarray([[0, 1], [1, 0]])
    assert (x @ y).tolist() == [[2, 1], [4, 3]]
    assert (np.asarray([[1, 2], [3, 4]]) @ y).tolist() == [[2, 1], [4, 3]]
    x @= y
    assert x.tolist() == [[2, 1], [4, 3]]


@pytest.mark.usefixtures("backend")
def test_bools_count_as_zero_and_one() -> None:
    a = np.asarray([True, True, False, False])
    b = np.asarray([True, False, True, False])
    x, y = xp.asarray(a), xp.asarray(b)
    for name in ("add", "multiply", "maximum", "minimum", "less", "less_equal", "greater", "greater_equal"):
        found = getattr(xp, name)(x, y)
        assert found.dtype is xp.bool
        assert found.tolist() == getattr(np, name)(a, b).tolist()
    assert abs(x).tolist() == a.tolist()


POWERS = list(
    itertools.product(
        ["int8", "uint8", "int64", "float16", "float32", "float64", "complex128"],
        [2, 2.0, 2 + 0j, True, 3, 3.0, 3 + 0j, 0.5, -1.0],
    )
)


@pytest.mark.parametrize("count", [1, 1000], ids=["few", "many"])
def test_a_power_of_a_scalar_is_numpy_s(count: int, share: Callable[[Any], list[Any]]) -> None:
    for dtype, exponent in share(POWERS):
        host = np.tile(np.asarray([1, 3, 40], dtype=dtype), count)
        x, wanted = xp.asarray(host), np.power(host, exponent)
        for found in (x**exponent, xp.pow(x, exponent)):
            assert found.dtype == wanted.dtype
            # Units in the last place: libraries differ by one or two.
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=2e-3 if dtype == "float16" else 1e-6)


@each("exponent", [2, 3, -1, 0.5])
@pytest.mark.needs("bfloat16")
@pytest.mark.usefixtures("backend")
def test_a_power_of_bfloat16_is_one(exponent: float) -> None:
    found = xp.asarray([0.25, 4.0] * 1000, dtype=xp.bfloat16) ** exponent
    assert found.dtype is xp.bfloat16
    assert found[:2].tolist() == [0.25**exponent, 4.0**exponent]


ZERO, INF, NAN = 0.0, math.inf, math.nan
SPECIAL_POWERS: dict[float, list[float]] = {
    2: [ZERO, ZERO, INF, INF, NAN, 4.0],
    3: [ZERO, -ZERO, INF, -INF, NAN, -8.0],
    -1: [INF, -INF, ZERO, -ZERO, NAN, -0.5],
    0.5: [ZERO, ZERO, INF, INF, NAN, NAN],
}
"""Powers of 0, -0, inf, -inf, NaN and -2."""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", SPECIAL_POWERS)
@pytest.mark.parametrize("count", [1, 1000], ids=["few", "many"])
def test_a_power_of_a_special_value_is_that_of_the_standard(
    dtype: str, exponent: float, count: int, backend: xp.Backend
) -> None:
    wanted = np.tile(np.asarray(SPECIAL_POWERS[exponent], dtype), count)
    host = np.tile(np.asarray([ZERO, -ZERO, INF, -INF, NAN, -2.0], dtype), count)
    with np.errstate(all="ignore"):
        found = np.asarray(xp.asarray(host) ** exponent)
        if backend.name == "numpy" and exponent == 0.5:  # as NumPy's own operator has it, see the deviations page
            wanted = host**exponent
    np.testing.assert_array_equal(found, wanted)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(wanted[numbers]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("exponent", [3, -1, 0.5, -1.0])
@pytest.mark.parametrize("count", [1, 1000], ids=["few", "many"])
@pytest.mark.usefixtures("backend")
def test_a_power_of_a_complex_number_is_good_to_a_few_units(dtype: str, exponent: float, count: int) -> None:
    host = np.tile(np.asarray([1 + 2j, -3 + 1e-3j, complex(-4, -0.0), -1, 1j, 2], dtype), count)
    wanted = host.astype(np.complex128) ** exponent
    found = xp.asarray(host) ** exponent
    assert found.dtype == dtype
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=4 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("count", [1, 1000], ids=["few", "many"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.usefixtures("backend")
def test_reciprocals_of_powers_of_two_are_exact(dtype: str, count: int) -> None:
    x = xp.asarray([0.5, -2.0, 1024.0] * count, dtype=dtype)
    assert xp.reciprocal(x)[:3].tolist() == [2.0, -0.5, 2.0**-10]
    assert xp.all(xp.reciprocal(x) == 1 / x)


@pytest.mark.parametrize("exponent", [-1, -2])
def test_a_negative_power_of_an_integer_is_no_reciprocal(exponent: int, backend: xp.Backend) -> None:
    x = xp.asarray([1, 2])
    if backend.library in ("jax", "cupy"):  # they do not raise for values: the integer part
        assert (x**exponent).tolist() == [1, 0]
    else:
        with pytest.raises(
            ValueError, match=r"negative integer powers are not allowed\. Take floats: xp\.astype\(x1, xp\.float64\)$"
        ):
            x**exponent


@pytest.mark.usefixtures("backend")
def test_sum_of_python_adds_arrays() -> None:
    assert sum([xp.asarray([1, 2]), xp.asarray([3, 4])]).tolist() == [4, 6]


@pytest.mark.usefixtures("backend")
def test_an_operand_that_knows_arrays_is_asked() -> None:
    class Unit:
        def __radd__(self, other: object) -> str:
            return f"{type(other).__name__} with a unit"

    assert xp.ones(2) + Unit() == "Array with a unit"


@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
@pytest.mark.parametrize("other", [memoryview(b"ab"), object(), None, "ab"], ids=lambda one: type(one).__name__)
@pytest.mark.usefixtures("backend")
def test_what_holds_elements_is_not_unequal_as_a_whole(compare: Callable[[Any, Any], Any], other: Any) -> None:
    assert compare(xp.asarray([1, 2]), other) is (compare is operator.ne)


@pytest.mark.usefixtures("backend")
def test_a_foreign_array_compares_itself_or_is_converted() -> None:
    class Mute:
        def __array__(self) -> np.ndarray[Any, Any]:
            return np.ones(2)

    class Speaking(Mute):
        def __eq__(self, other: object) -> Any:
            return f"equal to {type(other).__name__}"

        __hash__ = None  # type: ignore[assignment]  # as usual

    x = xp.ones(2)
    assert (x == Speaking()) == "equal to Array"
    assert (x == Mute()).tolist() == [True, True]
    assert (x != Mute()).tolist() == [False, False]


@pytest.mark.usefixtures("backend")
def test_elements_cannot_be_deleted() -> None:
    x = xp.ones(2)
    with pytest.raises(TypeError, match=r"del: elements of x cannot be deleted. Take the others: x\[mask\]"):
        del x[0]


@pytest.mark.usefixtures("backend")
def test_equal_scalars_of_other_signs_and_classes_are_not_confused() -> None:
    for value in (0.0, -0.0, 0.0, -0.0):  # more than once, in both orders, as 0.0 == -0.0 and scalars are kept
        product = xp.asarray([1.0, -1.0]) * value
        assert xp.signbit(product).tolist() == np.signbit(np.asarray([1.0, -1.0]) * value).tolist()
    x = xp.asarray([1, 2])
    assert [(x + s).dtype for s in (1, 1.0, True, 1 + 0j)] == [xp.int64, xp.float64, xp.int64, xp.complex128]
    x = xp.asarray([1 + 1j])
    for value in (0j, complex(0.0, -0.0), 0j, 1 + 0j, complex(1, -0.0), 1 + 0j, 2j, complex(-0.0, 2), 2j):
        got = xp.where(xp.asarray([True]), value, x)
        assert xp.signbit(xp.imag(got)).tolist() == [bool(np.signbit(value.imag))]
        assert xp.signbit(xp.real(got)).tolist() == [bool(np.signbit(value.real))]


@pytest.mark.usefixtures("backend")
def test_a_nan_scalar_gives_nan() -> None:
    assert xp.isnan(xp.ones(2) * xp.nan).tolist() == [True, True]


@pytest.mark.usefixtures("backend")
def test_a_list_is_an_operand_as_in_numpy() -> None:
    x, host = xp.asarray([2, 3], dtype=xp.float32), np.asarray([2, 3], dtype=np.float32)
    for call in several(
        "x * [1, 2]; [1, 2] * x; x - (1.5, 2); [[1], [2]] / x; x == [2, 4]; x < [[1], [3]]; x @ [1, 2]"
    ):
        found, expected = (eval(call, {"x": one}) for one in (x, host))
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()
    for wrong in (["a"], [None, 1], [x, "a"]):
        with pytest.raises(TypeError, match=r"the operand must be an Array, not list\. Wrap it: xp\.asarray"):
            x + wrong
        with pytest.raises(TypeError, match=r"the operand must be an Array, not list\. Wrap it: xp\.asarray"):
            x == wrong  # noqa: B015 - it raises
    with pytest.raises(ValueError, match="Multiply by a scalar with"):
        xp.ones(2) @ 2  # type: ignore[operator]  # refused on purpose


ASYMMETRIC = [*ALL_BINARY, "atan2", "copysign", "nextafter"]


@each("function", ASYMMETRIC)
@pytest.mark.usefixtures("backend")
def test_a_scalar_on_the_left_of_a_function_takes_the_short_way(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dtype = ARITHMETIC[function][2] if function in ARITHMETIC else "float64"
    x, seven = np.asarray([2, 3, 1], dtype=dtype), 7 if dtype == "int64" else 7.0
    expected = getattr(xp, function)(xp.asarray(np.asarray([seven] * 3, dtype=dtype)), xp.asarray(x))
    with monkeypatch.context() as patched:
        patched.setattr(slow_path, "_call_on_chosen_home", None)
        for _ in range(2):  # the first call makes the body
            got = getattr(xp, function)(seven, xp.asarray(x))
            assert got.dtype == expected.dtype
            assert got.tolist() == expected.tolist()


@each("function", ASYMMETRIC)
@pytest.mark.parametrize("order", ["=", ">"])
def test_an_ndarray_may_be_an_operand_of_a_function(function: str, order: str, backend: xp.Backend) -> None:
    dtype = ARITHMETIC[function][2] if function in ARITHMETIC else "float64"
    a, b = (np.asarray(one, dtype=dtype) for one in ([[2, 3, 1]], [[7], [5]]))
    expected = getattr(xp, function)(xp.asarray(a), xp.asarray(b))
    theirs_a, theirs_b = (one.astype(one.dtype.newbyteorder(order)) for one in (a, b))
    for got in (getattr(xp, function)(theirs_a, xp.asarray(b)), getattr(xp, function)(xp.asarray(a), theirs_b)):
        theirs_a[...] = theirs_b[...] = 0
        assert (got.device, got.dtype, got.tolist()) == (backend, expected.dtype, expected.tolist())
        theirs_a[...], theirs_b[...] = a, b


OF_NDARRAYS: Final = """
xp.exp(x); xp.hypot(x, y); xp.subtract(x, y[:1]); xp.divide(x, 2); xp.pow(x, 0.5); xp.less(x, 3); xp.where(b, x, y)
xp.where(b, 1.5, y); xp.where(b, x, 1); xp.where(b, 1, 2.5); xp.clip(x, None, 2.0); xp.clip(x, y, 8)
xp.sum(x, axis=0, dtype=xp.float32, keepdims=True); xp.matmul(x, y); xp.reshape(x, (3, 1))
xp.take(x, np.asarray([2, 0])); xp.where(b, xp.asarray(x), y); xp.where(b, xp.asarray(x), 2)
xp.vecdot(xp.asarray(x), y); xp.concat([x, y, x]); xp.stack((xp.asarray(x), y), axis=1)
xp.multiply(xp.asarray(x, dtype=xp.float32), np.float64(0.1)); xp.subtract(np.int8(3), xp.asarray(x))
np.float32(0.5) - xp.asarray(x); xp.linalg.vector_norm(x); xp.asarray(x)[b]; xp.asarray(x)[np.asarray([2, -1])]
"""


@each("call", several(OF_NDARRAYS))
def test_a_function_of_ndarrays_gives_what_it_gives_of_arrays(call: str, backend: xp.Backend) -> None:
    given = {"x": np.asarray([-0.0, 4.0, 9.0]), "y": np.asarray([3.0, 1.0, 4.0]), "b": np.asarray([True, False, True])}
    names = {"xp": xp, "np": np}
    expected = eval(call, names | {name: xp.asarray(a) for name, a in given.items()})
    for _ in range(2):  # the first call makes the body
        got = eval(call, names | given)
        assert (got.device, got.dtype, str(got.tolist())) == (backend, expected.dtype, str(expected.tolist()))


@pytest.mark.skipif(speedups is None, reason="in Python an Array is made of each ndarray")
def test_functions_of_few_elements_take_the_short_way_with_ndarrays(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones((2, 3))

    def check() -> None:
        for got in (xp.exp(x * 0), xp.maximum(x, 0.5), xp.where(x > 0, x, 2.0), xp.max(x, axis=0, keepdims=True)):
            assert xp.all(got == 1.0)

    with xp.backend("numpy"):
        check()  # the numbers become arrays in Python, once
        monkeypatch.setattr(slow_path, "_call_on_chosen_home", None)
        monkeypatch.setattr(slow_path, "as_array", None)
        check()


def test_an_array_beside_an_ndarray_is_brought_once(backend: xp.Backend) -> None:
    with xp.backend("numpy"):
        x = xp.asarray(np.arange(20_000.0)) * 1.0
    few, mask = np.ones(1), np.ones(20_000, dtype=bool)
    calls: list[Callable[[], xp.Array]] = [
        lambda: xp.where(mask, x, 1.0),
        lambda: xp.clip(few, x, None),
        lambda: xp.concat([few, x]),
    ]
    with xp.transfers() as log:
        for call in calls + calls:
            call()
    assert sum(row.nbytes == 160_000 for row in log.rows) == (backend.library != "numpy")


def test_explain_records_functions_of_ndarrays() -> None:
    with xp.explain() as why:
        xp.exp(np.ones(3))
    assert [decision.function for decision in why.decisions] == ["exp"]


REFUSED: Final = """
add(x, np.ones(3)) -> ValueError: add: x1 of shape (2,) and x2 of shape (3,) cannot be broadcast
add(np.ones(3), x) -> ValueError: add: x1 of shape (3,) and x2 of shape (2,) cannot be broadcast
less(np.ones(2, complex), x) -> TypeError: less: x1 must have a real numeric dtype, not complex128
less(x, np.complex128(1)) -> TypeError: less: x2 must have a real numeric dtype, not complex128
bitwise_and(np.float32(1), n) -> TypeError: bitwise_and: x1 must have an integer or boolean dtype, not float32
n | np.float32(1) -> TypeError: bitwise_or: x2 must have an integer or boolean dtype, not float32
matmul(x, np.float64(2)) -> ValueError: matmul: x1 and x2 must have at least one axis
bitwise_and(1.5, n) -> TypeError: bitwise_and: x1 must
bitwise_and(1, x) -> TypeError: bitwise_and: x2 must
maximum(1j, x) -> TypeError: maximum: x1 must
add(300, asarray([1], dtype="int8")) -> OverflowError: add:
"""


@each("row", rows(REFUSED))
def test_an_ndarray_and_a_scalar_are_named_in_errors(row: str) -> None:
    call, kind, sentence = re.split(r" -> (\w+): ", row)
    names = vars(xp) | {"np": np, "x": xp.asarray([1.0, 2.0]), "n": xp.asarray([1, 2])}
    with pytest.raises(getattr(builtins, kind), match=f"^{re.escape(sentence)}"):
        eval(call, names)


@pytest.mark.usefixtures("backend")
def test_operands_may_be_laid_out_in_any_way() -> None:
    a, b = np.arange(9.0).reshape(3, 3), np.arange(9.0, 18.0).reshape(3, 3)
    layouts: list[Callable[[Any], Any]] = [lambda x: x.T, lambda x: x[:, ::-1], lambda x: x[::2, 1:], lambda x: x[1]]
    for turn in layouts:
        x, y = turn(xp.asarray(a)), turn(xp.asarray(b))
        for found, wanted in ((x, turn(a)), (x + y, turn(a + b)), (x * 2.0, turn(a * 2)), (xp.sqrt(x), turn(a**0.5))):
            assert found.tolist() == wanted.tolist()
        x += y
        assert x.tolist() == turn(a + b).tolist()


@pytest.mark.parametrize("axis", [0, np.int64(0), np.asarray(0)])
def test_an_axis_is_no_array_of_the_call_in_errors(axis: Any) -> None:
    pytest.importorskip("ml_dtypes")
    x = xp.asarray([1, 2], dtype="int32")
    with pytest.raises(ValueError, match=r"^concat: .*bfloat16"):
        xp.concat([x, xp.astype(x, "bfloat16")], axis=axis)
