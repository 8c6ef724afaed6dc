"""dtypes: one set equal to NumPy's, one promotion, weak scalars, defaults."""

from __future__ import annotations

import asyncio
import itertools
import math
import pickle
import sys
import threading
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import array_api_strict
import numpy as np
import pytest
from comparison import each
from expressions import several

import anyarray as xp

STANDARD = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip
PAIRS = [(first, second) for first in STANDARD for second in STANDARD]
Share = Callable[[Iterable[Any]], list[Any]]
SCALARS = [True, 1, 1.5, 1 + 2j]


def ours(name: str) -> xp.DType:
    found: xp.DType = getattr(xp, name)
    return found


def numpys(name: str) -> np.dtype[Any]:
    return np.dtype(name)


def promoted(first: str, second: str) -> str:
    """The standard's promotion of two dtypes; NumPy's where that has none."""
    try:
        found = array_api_strict.result_type(getattr(array_api_strict, first), getattr(array_api_strict, second))
    except TypeError:
        return np.result_type(first, second).name
    return next(name for name in STANDARD if getattr(array_api_strict, name) == found)


@each("name", [*STANDARD, "float16"])
def test_a_dtype_is_numpy_s(name: str) -> None:
    mine, theirs = ours(name), numpys(name)
    assert mine == theirs and theirs == mine and mine == theirs.type and mine == name
    assert hash(mine) == hash(theirs)
    assert {theirs: "found"}[mine] == "found"
    assert isinstance(mine, (np.dtype, type(theirs)))
    for attribute in ("name", "kind", "itemsize", "char", "num", "str", "byteorder", "type"):
        assert getattr(mine, attribute) == getattr(theirs, attribute), attribute
    assert np.zeros(2, mine).dtype == np.dtype(mine) == np.asarray([0, 1]).astype(mine).dtype == theirs
    for form in (theirs, theirs.type, name):
        assert xp.zeros(2, dtype=form).dtype is mine


@each("name", [*STANDARD, "float16", "bfloat16"])
def test_a_dtype_is_one_object_and_equal_to_nothing_else(name: str) -> None:
    assert type(ours(name)) is xp.DType
    assert (ours(name) == None) is False  # noqa: E711 - what is tested
    assert (ours(name) != None) is True  # noqa: E711 - what is tested
    assert pickle.loads(pickle.dumps(ours(name))) is ours(name)
    assert not isinstance(xp.bfloat16, np.dtype)
    for other in ("float63", 5, object(), [], "int32", np.dtype("float32")):
        assert xp.float64 != other
    assert len({ours(name) for name in (*STANDARD, "float16", "bfloat16")}) == 15


def test_repr_and_str_of_a_dtype() -> None:
    assert (repr(xp.float32), str(xp.float32)) == ("anyarray.float32", "float32")


@each("kind, name", [(bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128")])
def test_a_python_class_is_the_default_dtype_of_its_kind(kind: Any, name: str) -> None:
    assert xp.zeros(2, dtype=kind).dtype is ours(name)


def test_a_dtype_of_foreign_byte_order_is_the_native_one() -> None:
    assert xp.zeros(2, dtype=np.dtype(">f4")).dtype is xp.float32


@pytest.mark.parametrize("wrong", [None, "no such", 5, object])
def test_what_is_no_dtype_cannot_be_cast_to(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^astype: dtype must be one of bool, int8"):
        xp.astype(xp.ones(2), wrong)


def test_result_type_of_scalars_alone_is_of_their_defaults() -> None:
    for scalars, wanted in (((1,), "int64"), ((1, 2.0), "float64"), ((True,), "bool"), ((1, 1j), "complex128")):
        assert xp.result_type(*scalars) is ours(wanted)
    with xp.default_dtypes(float=xp.float32):
        assert xp.result_type(1, 2.0) is xp.float32
        assert xp.where(xp.asarray([True, False]), 1, 2.5).dtype is xp.float32


@each("first, second", PAIRS)
def test_result_type_is_the_one_promotion_rule(first: str, second: str) -> None:
    assert xp.result_type(ours(first), ours(second)) is ours(promoted(first, second))


def test_arrays_of_two_dtypes_promote_by_the_one_rule_and_lose_nothing(share: Share) -> None:
    condition = xp.asarray([True])
    for first, second in share(PAIRS):
        x, y = (xp.asarray([100], dtype=ours(name)) for name in (first, second))
        expected = ours(promoted(first, second))
        assert xp.where(condition, x, y).dtype is expected
        if first < second and "bool" not in (first, second):
            total = x + y
            assert (total.dtype, complex(total[0])) == (expected, 200)
    for first, second in (("int64", "float32"), ("uint64", "int64"), ("bool", "float32")):
        x, y = (xp.ones(1, dtype=ours(name)) for name in (first, second))
        assert xp.concat([x, y]).dtype is xp.stack([x, y]).dtype is ours(promoted(first, second))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int16", "uint64", "complex64"])
@pytest.mark.usefixtures("backend")
@pytest.mark.needs("bfloat16")
def test_bfloat16_promotes_to_what_holds_both(dtype: str) -> None:
    # What NumPy's ufuncs make of the bfloat16 of ml_dtypes.
    expected = {"float16": "float32", "int8": "bfloat16", "int16": "float32", "uint64": "float64"}.get(dtype, dtype)
    x, y = xp.ones(1, dtype=xp.bfloat16), xp.ones(1, dtype=ours(dtype))
    assert (x + y).dtype is (y + x).dtype is ours(expected)


@each("first, second", PAIRS)
def test_can_cast_says_whether_promotion_leads_there(first: str, second: str) -> None:
    assert xp.can_cast(ours(first), ours(second)) is (promoted(first, second) == second)


def test_a_python_scalar_takes_the_dtype_of_the_array_unless_its_kind_is_higher(share: Share) -> None:
    condition = xp.asarray([True, False])
    for dtype, scalar in share(itertools.product([*STANDARD, "float16"], SCALARS)):
        x, expected = xp.ones(2, dtype=ours(dtype)), ours(np.result_type(numpys(dtype), scalar).name)
        if dtype != "bool":
            assert (x + scalar).dtype is (scalar + x).dtype is expected
        got = xp.where(condition, x, scalar)
        assert (got.dtype, complex(got[1])) == (expected, scalar)
    assert xp.where(condition, 1, 2).dtype is xp.int64
    assert xp.where(condition, 1, 2.5).dtype is xp.float64
    assert xp.where(condition, 1, 2j).tolist() == [1, 2j]


@pytest.mark.parametrize(("dtype", "scalar"), [("int8", 1000), ("uint32", 2**32)])
@pytest.mark.usefixtures("backend")
def test_a_floating_point_function_takes_an_integer_that_the_dtype_cannot_hold(dtype: str, scalar: int) -> None:
    x, a = xp.asarray([1, 3], dtype=ours(dtype)), np.asarray([1, 3], dtype=dtype)
    float_functions = [(xp.divide, np.divide), (xp.atan2, np.arctan2), (xp.hypot, np.hypot), (xp.copysign, np.copysign)]
    for mine, numpys in float_functions:
        for got, expected in ((mine(x, scalar), numpys(a, scalar)), (mine(scalar, x), numpys(scalar, a))):
            assert got.dtype == expected.dtype
            # To the last digit but two: trigonometry is each library's own.
            np.testing.assert_allclose(np.asarray(got), expected, rtol=4 * float(np.finfo(expected.dtype).eps))
    assert (x / scalar).tolist() == (a / scalar).tolist()
    assert xp.isin(x, scalar).tolist() == [False, False]


@pytest.mark.parametrize(
    ("dtype", "scalar"),
    [("int8", 128), ("int8", -129), ("uint8", 256), ("uint8", -1), ("int64", 2**63), ("uint64", 2**64)],
)
@pytest.mark.usefixtures("backend")
def test_an_integer_that_the_dtype_cannot_hold_is_an_overflow(dtype: str, scalar: int) -> None:
    x = xp.ones(2, dtype=ours(dtype))
    calls = """
add: x + n; subtract: n - x; maximum: xp.maximum(x, n); setitem: x.__setitem__(0, n); full: xp.full(2, n, dtype=x.dtype)
full_like: xp.full_like(x, n); asarray: xp.asarray(n, dtype=x.dtype); asarray: xp.asarray([0, n], dtype=x.dtype)
asarray: xp.asarray([[n, 0]], dtype=x.dtype)
"""
    for row in several(calls):
        name, call = row.split(": ")
        with pytest.raises(xp.ArgumentOverflowError) as caught:
            eval(call, {"x": x, "n": scalar, "xp": xp})
        assert isinstance(caught.value, OverflowError)
        assert str(caught.value).startswith(f"{name}: Python integer {scalar} out of bounds for {dtype}")
    assert x.tolist() == [1, 1]


@pytest.mark.usefixtures("backend")
def test_a_float_that_no_integer_stands_for_does_not_become_one() -> None:
    x = xp.ones(2, dtype=xp.int32)
    for value, error in ((math.nan, ValueError), (math.inf, OverflowError), (-1e30, OverflowError)):
        for call in (
            lambda: x.__setitem__(0, value),  # noqa: B023 - called before the next turn
            lambda: xp.full(2, value, dtype=xp.int32),  # noqa: B023 - called in this turn
            lambda: xp.asarray([0.0, value], dtype=xp.int32),  # noqa: B023 - called in this turn
        ):
            with pytest.raises(error) as caught:
                call()
            assert isinstance(caught.value, xp.AnyarrayError)
    assert x.tolist() == [1, 1]
    x[0] = -1.9
    assert x.tolist() == xp.asarray([-1.9, 1.9], dtype=xp.int32).tolist() == [-1, 1]


def test_integers_beyond_all_dtypes_are_floats_or_an_overflow() -> None:
    assert xp.asarray([2**70, 1.5]).tolist() == [2.0**70, 1.5]
    assert xp.asarray(2**70, dtype=xp.float64).item() == 2.0**70
    for call in (lambda: xp.asarray(2**70), lambda: xp.asarray([1, 2**70]), lambda: xp.full(2, 2**70)):
        with pytest.raises(OverflowError, match="out of bounds for int64"):
            call()


@pytest.mark.parametrize("defaults", [{}, {"float": xp.float32}, {"int": xp.int32, "float": xp.float32}])
@pytest.mark.usefixtures("backend")
def test_result_type_is_that_of_the_operators(defaults: dict[str, xp.DType]) -> None:
    with xp.default_dtypes(**defaults):
        for dtype in (xp.int8, xp.int64, xp.uint8, xp.float32, xp.float64, xp.complex64):
            x = xp.ones(2, dtype=dtype)
            for scalar in (1, 2.5, 2j):
                assert xp.result_type(x, scalar) is (x * scalar).dtype
        assert xp.result_type(xp.int32, 1, 2.5) is xp.clip(xp.arange(3, dtype=xp.int32), 1, 2.5).dtype


@pytest.mark.usefixtures("backend")
def test_a_numpy_scalar_has_a_dtype_of_its_own() -> None:
    x = xp.ones(2, dtype=xp.float32)
    assert (x + np.float64(1)).dtype is (np.float64(1) + x).dtype is xp.float64
    assert (x + np.int8(1)).dtype is xp.float32
    assert (xp.ones(2, dtype=xp.int32) + np.float32(2.5)).tolist() == [3.5, 3.5]


@each("name", ["float32", "float64", "complex64", "complex128"])
def test_finfo_gives_the_limits(name: str) -> None:
    got, expected = xp.finfo(ours(name)), array_api_strict.finfo(getattr(array_api_strict, name))
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(got, field) == getattr(expected, field)
    assert got.dtype is (xp.float32 if name in ("float32", "complex64") else xp.float64)


@each("name", [name for name in STANDARD if "int" in name])
def test_iinfo_gives_the_limits(name: str) -> None:
    got, expected = xp.iinfo(ours(name)), np.iinfo(name)
    assert (got.bits, got.min, got.max, got.dtype) == (expected.bits, expected.min, expected.max, ours(name))


KINDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric")


@each("name, kind", itertools.product(STANDARD, KINDS))
def test_isdtype_knows_the_kinds_of_the_standard(name: str, kind: str) -> None:
    assert xp.isdtype(ours(name), kind) is array_api_strict.isdtype(getattr(array_api_strict, name), kind)


def test_isdtype_takes_dtypes_and_tuples() -> None:
    assert xp.isdtype(xp.int8, xp.int8)
    assert not xp.isdtype(xp.int8, xp.int16)
    assert xp.isdtype(xp.int8, (xp.int16, "integral"))
    assert not xp.isdtype(xp.int8, ())


@pytest.mark.usefixtures("backend")
def test_functions_of_dtypes_take_arrays() -> None:
    x = xp.ones(2, dtype=xp.float32)
    assert xp.finfo(x).bits == 32
    assert xp.iinfo(xp.ones(2, dtype=xp.int8)).bits == 8
    assert xp.result_type(x, xp.float64, 1) is xp.float64
    assert xp.can_cast(x, xp.float64)


def test_astype_gives_numpy_s_values(share: Share) -> None:
    for first, second in share(PAIRS):
        a = np.asarray([0, 1, 100], dtype=first)
        if first.startswith("complex") and not second.startswith(("complex", "bool")):
            with pytest.raises(TypeError):
                xp.astype(xp.asarray(a), ours(second))
            continue
        got = xp.astype(xp.asarray(a), ours(second))
        assert (got.dtype, got.tolist()) == (ours(second), a.astype(second).tolist())
    a = np.asarray([-1, 300, 2**40 + 7, -(2**63)])
    for narrow in ("int8", "uint8", "int32", "uint32", "int64"):
        assert xp.astype(xp.asarray(a), ours(narrow)).tolist() == a.astype(narrow).tolist()
    truths = xp.astype(xp.asarray([xp.nan, xp.inf, 0.0, -0.0, 1e-300]), xp.bool)
    assert truths.tolist() == [True, True, False, False, True]


@pytest.mark.usefixtures("backend")
def test_integers_on_both_sides_of_the_greatest_int64_are_exact() -> None:
    values = [0, 2**63 + 1, 2**64 - 1]
    assert xp.asarray(values).dtype is xp.uint64
    assert xp.asarray(values).tolist() == values
    assert xp.asarray([values, values], dtype=xp.uint64).tolist() == [values, values]
    assert xp.asarray([0, 2.0**63]).dtype is xp.float64


FLOATING = (
    "acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 reciprocal sin sinh sqrt tan tanh".split()
)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # of atanh(1)
def test_floating_point_functions_keep_a_floating_point_dtype_and_take_integers_as_numpy_does(share: Share) -> None:
    cases = list(itertools.product(FLOATING, [*STANDARD, "float16"]))
    for name, dtype in dict.fromkeys([*share(cases), *[case for case in cases if case[1] == "complex64"]]):
        x = xp.ones(1, dtype=ours(dtype))
        got = getattr(xp, name)(x)
        if dtype not in STANDARD[:9]:
            assert got.dtype is ours(dtype), (name, dtype)
        elif name != "reciprocal":
            with np.errstate(divide="ignore"):
                expected = getattr(np, name)(np.ones(1, dtype))
            assert got.dtype == expected.dtype, (name, dtype)
            np.testing.assert_allclose(np.asarray(got, "f8"), expected.astype("f8"), rtol=2e-3)  # float16's precision
        elif dtype != "bool":  # the reciprocal of an integer, which is one in NumPy
            got = xp.reciprocal(xp.asarray([2, 4], dtype=ours(dtype)))
            assert (got.dtype, got.tolist()) == (xp.sqrt(x).dtype, [0.5, 0.25])
    for dtype in ("bool", "int8", "int32", "uint8", "uint64"):
        a = np.asarray([1], dtype=dtype)
        assert (xp.asarray(a) / xp.asarray(a)).dtype == np.divide(a, a).dtype


ROOM = {"bool": "int64", "int8": "int64", "int32": "int64", "uint8": "uint64", "uint64": "uint64", "float16": "float16",
        "float32": "float32", "complex64": "complex64"}  # fmt: skip
SUMS = ("sum", "prod", "cumulative_sum", "cumulative_prod")


def test_sums_and_products_have_room(share: Share) -> None:
    for name, (dtype, expected) in share(itertools.product(SUMS, ROOM.items())):
        assert getattr(xp, name)(xp.ones(2, dtype=ours(dtype))).dtype is ours(expected), (name, dtype)


@pytest.mark.usefixtures("backend")
def test_a_sum_takes_the_dtype_that_is_asked_for() -> None:
    x = xp.full(300, 1, dtype=xp.int8)
    assert int(xp.sum(x)) == 300
    assert int(xp.sum(x, dtype=xp.int8)) == 44
    assert xp.sum(x, dtype=xp.float32).dtype is xp.float32


@pytest.mark.parametrize("size", [3, 27_000])
def test_sums_and_products_have_the_dtype_that_is_asked_for(size: int, share: Share) -> None:
    every = ("int32", "uint64", "float32", "int8", "int64", "uint8", "uint32", "float64", "complex64")[
        : 9 if size == 3 else 3
    ]
    given = ("bool", "int8", "int32", "int64", "uint8", "uint32", "float32")
    for name, dtype, wanted in share(itertools.product(SUMS, given, every)):
        a = np.resize([1, 0, 1, 2, 3], size).reshape(3, -1).astype(dtype)
        found = getattr(xp, name)(xp.asarray(a), axis=0, dtype=ours(wanted))
        exact = getattr(np, name)(a.astype("int64"), axis=0)
        assert found.dtype is ours(wanted), (name, dtype)
        assert np.array_equal(np.asarray(found), exact.astype(wanted)), (name, dtype, wanted)


@pytest.mark.usefixtures("backend")
def test_indices_are_int64() -> None:
    for function in (xp.argmax, xp.argmin, xp.argsort, xp.count_nonzero):
        assert function(xp.ones(2, dtype=xp.float32)).dtype is xp.int64


@pytest.mark.usefixtures("backend")
def test_all_dtypes_of_the_standard_are_there() -> None:
    found = xp.__array_namespace_info__().dtypes()
    assert found == {name: ours(name) for name in STANDARD}


@pytest.mark.usefixtures("backend")
def test_default_dtypes_hold_for_creation() -> None:
    with xp.default_dtypes(float=xp.float32, int=xp.int32):
        made = [xp.zeros(1), xp.ones(1), xp.empty(1), xp.full(1, 0.5), xp.eye(1), xp.linspace(0, 1, 2), xp.arange(0.5),
                xp.asarray(0.5), xp.asarray([0.5]), xp.fft.fftfreq(2)]  # fmt: skip
        assert {x.dtype for x in made} == {xp.float32}
        assert {x.dtype for x in (xp.full(1, 1), xp.arange(3), xp.asarray(1), xp.asarray([1]))} == {xp.int32}


@pytest.mark.usefixtures("backend")
def test_default_dtypes_hold_for_python_floats_beside_integers() -> None:
    x = xp.arange(2)
    for _ in range(2):
        with xp.default_dtypes(float=xp.float32):
            assert ((x * 0.5).dtype, (0.5 * x).dtype, (x * 1j).dtype) == (xp.float32, xp.float32, xp.complex64)
        assert ((x * 0.5).dtype, (0.5 * x).dtype, (x * 1j).dtype) == (xp.float64, xp.float64, xp.complex128)


@pytest.mark.usefixtures("backend")
def test_default_dtypes_do_not_touch_arrays_that_have_one_and_decide_of_complex_numbers() -> None:
    x = xp.ones(2, dtype=xp.float64)
    with xp.default_dtypes(float=xp.float32):
        assert (x * 0.5).dtype is xp.asarray(np.ones(2)).dtype is xp.float64
        assert xp.asarray(1j).dtype is xp.complex64
    with xp.default_dtypes(float=xp.float32, complex=xp.complex128):
        assert xp.asarray(1j).dtype is xp.complex128


def test_default_dtypes_nest_and_restore() -> None:
    with xp.default_dtypes(float=xp.float32):
        with pytest.raises(ZeroDivisionError), xp.default_dtypes(int=xp.int32):
            1 / (xp.asarray(1).dtype is not xp.int32)  # for the exception
        assert (xp.asarray(0.5).dtype, xp.asarray(1).dtype) == (xp.float32, xp.int64)
    assert xp.asarray(0.5).dtype is xp.float64


def test_default_dtypes_are_shown_by_the_inspection_api() -> None:
    with xp.default_dtypes(float=xp.float32):
        found = xp.__array_namespace_info__().default_dtypes()
    assert found == {
        "real floating": xp.float32,
        "complex floating": xp.complex64,
        "integral": xp.int64,
        "indexing": xp.int64,
    }


def test_another_thread_has_its_own_default_dtypes() -> None:
    seen: list[xp.DType] = []
    with xp.default_dtypes(float=xp.float32):
        thread = threading.Thread(target=lambda: seen.append(xp.asarray(0.5).dtype))
        thread.start()
        thread.join()
    is_inherited = getattr(sys.flags, "thread_inherit_context", 0)  # from Python 3.14 on without a GIL
    assert seen == [xp.float32 if is_inherited else xp.float64]


def test_another_task_has_its_own_default_dtypes() -> None:
    async def work(dtype: xp.DType) -> xp.DType:
        with xp.default_dtypes(float=dtype):
            await asyncio.sleep(0)
            return xp.asarray(0.5).dtype

    async def main() -> list[xp.DType]:
        return list(await asyncio.gather(work(xp.float32), work(xp.float64)))

    assert asyncio.run(main()) == [xp.float32, xp.float64]


@each("kind, dtype", [("float", "int32"), ("int", "float32"), ("complex", "float64"), ("int", "bool")])
def test_a_default_dtype_of_another_kind_is_refused(kind: str, dtype: str) -> None:
    with pytest.raises(TypeError) as caught, xp.default_dtypes(**{kind: ours(dtype)}):
        pass
    assert str(caught.value) == f"default_dtypes: {kind} must be a dtype of that kind, not {dtype}"


BEYOND: dict[str, list[tuple[float, ...]]] = {
    "uint8": [(250, 258), (-1, 3), (3, -2, -1), (0.5, 600.0, 300)], "int8": [(0, 300, 100)],
    "int64": [(2**63, 2**63 + 2), (2**63 - 2, 2**63 + 1)],
}  # fmt: skip


@each("dtype, bounds", [(dtype, bounds) for dtype, several in BEYOND.items() for bounds in several])
@pytest.mark.usefixtures("backend")
def test_a_range_does_not_wrap_around(dtype: str, bounds: tuple[float, ...]) -> None:
    with pytest.raises(OverflowError, match=f"^arange: Python integer .* out of bounds for {dtype}"):
        xp.arange(*bounds, dtype=ours(dtype))
    assert xp.arange(2**63 - 2, 2**63).tolist() == [2**63 - 2, 2**63 - 1]


@pytest.mark.usefixtures("backend")
def test_a_range_has_integers_if_the_step_is_one_too() -> None:
    assert xp.arange(3, step=1).dtype == xp.int64
    assert {xp.arange(3, step=step).dtype for step in (1.0, np.float64(1))} == {xp.float64}
    steps: list[Any] = [Fraction(1), 1 + 0j]
    for step in steps:
        with pytest.raises(TypeError, match=r"^arange: "):
            xp.arange(3, step=step)


@pytest.mark.usefixtures("backend")
def test_integers_beyond_a_narrow_default_are_refused() -> None:
    with xp.default_dtypes(int=xp.int8):
        assert xp.asarray(127).dtype == xp.arange(128).dtype == xp.full(1, 127).dtype == xp.int8
        for make in (
            lambda: xp.asarray(128),
            lambda: xp.arange(129),
            lambda: xp.arange(-129, 0),
            lambda: xp.full(1, 128),
        ):
            with pytest.raises(xp.ArgumentOverflowError, match=r" out of bounds for int8\. "):
                make()


@pytest.mark.parametrize("one", [np.int64(1), np.float32(2), np.ones(2), xp.ones(2)], ids=repr)
def test_an_array_is_no_dtype(one: Any) -> None:
    with pytest.raises(TypeError, match=r"^zeros: dtype must be one of"):
        xp.zeros(2, dtype=one)
