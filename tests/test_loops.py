"""Loops of NumPy's ufuncs give to the bit what the ufuncs give.

They warn of the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from comparison import each

import anyarray as xp
from anyarray._registry import registry
from anyarray.standard import elementwise

pytestmark = pytest.mark.few_backends

NATIVE: Final = {name: registry.backend_of_name("numpy").function(name) for name in elementwise.__all__}
UFUNCS: Final = {
    **{name: one for name, one in NATIVE.items() if isinstance(one, np.ufunc)},
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
}
DTYPES: Final = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip
ODD: Final = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e-310, 1e308, -1e308, 700.0, -800.0, 1e-45, 3e38, 65.0]
LAYOUTS: Final[dict[str, Callable[[xp.Array], xp.Array]]] = {
    "vector": lambda x: x,
    "strided": lambda x: x[::-3],
    "matrix": lambda x: xp.reshape(x, (3, 4)),
    "transposed": lambda x: xp.reshape(x, (3, 4)).mT,
    "one": lambda x: x[3:4],
    "none": lambda x: x[:0],
    "without axes": lambda x: x[3],
}


def drawn(dtype: str, rng: np.random.Generator) -> xp.Array:
    """A vector of 12 elements.

    Many of them are at the ends of what the dtype holds.
    """
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return xp.asarray(rng.integers(0, 2, 12).astype(bool))
    if kind.kind in "iu":
        least, most = np.iinfo(kind).min, np.iinfo(kind).max
        values = rng.integers(least, most, 12, dtype=kind, endpoint=True)
        return xp.asarray(np.where(rng.random(12) < 0.5, rng.choice(np.asarray([0, 3, least, most], kind), 12), values))
    with np.errstate(all="ignore"):
        parts = np.where(rng.random((2, 12)) < 0.4, rng.choice(ODD, (2, 12)), rng.normal(size=(2, 12)))
        return xp.asarray((parts[0] + 1j * parts[1] if kind.kind == "c" else parts[0]).astype(kind))


def outcome(function: Callable[..., Any], *operands: Any) -> tuple[Any, ...]:
    """The bytes of a result, what else is seen of it, and what was warned of.

    The class of an error and what it says, if it raises.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*operands)
        except (ArithmeticError, TypeError, ValueError) as error:
            return type(error), str(error).replace("scalar ", "")
    native = found._native if type(found) is xp.Array else found
    said = [str(one.message).replace("scalar ", "") for one in caught]  # as float64's own operators say
    return type(native), native.dtype, native.shape, native.tobytes(), said


def test_most_functions_of_elements_are_ufuncs() -> None:
    assert len(UFUNCS) > 45
    assert {"add", "divide", "equal", "exp", "sqrt"} <= UFUNCS.keys()


@pytest.mark.parametrize("dtype", DTYPES)
@each("called", UFUNCS)
def test_a_function_of_few_elements_gives_what_the_ufunc_does(called: str, dtype: str) -> None:
    ours, ufunc = getattr(xp, called), UFUNCS[called]
    rng = np.random.default_rng(7)
    compared = 0
    with xp.backend("numpy"):
        vectors = [drawn(dtype, rng) for _ in range(2)]
        cases = [[layout(x) for x in vectors[: ufunc.nin]] for layout in LAYOUTS.values()]
        if ufunc.nin == 2:
            x, y = vectors
            cases += [[x, y[0]], [x[0], y], [x, x], [x, y[:1]], [xp.reshape(x, (3, 4)), y[:4]]]
        for operands in cases:
            natives = [x._native for x in operands]
            for state in ("warn", "raise", "ignore"):
                with np.errstate(all=state):
                    found = outcome(ours, *operands)
                    if issubclass(found[0], TypeError):
                        continue  # what the standard has no answer for
                    expected = outcome(ufunc, *natives)
                    if issubclass(found[0], ValueError):  # in words of our own
                        assert issubclass(expected[0], ValueError)
                        continue
                    assert found == expected, (natives, state)
                    compared += 1
    assert compared or issubclass(found[0], TypeError)


@pytest.mark.parametrize("dtype", DTYPES)
def test_operands_of_two_dtypes_are_promoted(dtype: str) -> None:
    rng = np.random.default_rng(7)
    with xp.backend("numpy"), np.errstate(all="ignore"):
        x = drawn(dtype, rng)
        for other in DTYPES:
            y = drawn(other, rng)
            for name in ("multiply", "less_equal", "floor_divide", "remainder"):
                found = outcome(getattr(xp, name), x, y)
                assert issubclass(found[0], TypeError) or found == outcome(getattr(np, name), x._native, y._native)


def test_what_is_no_function_of_elements_is_left_to_the_ufunc() -> None:
    x = np.asarray([[1.0, 2.0], [3.0, 4.0]])
    with xp.backend("numpy"):
        m = xp.asarray(x)
        assert outcome(xp.matmul, m, m) == outcome(np.matmul, x, x)
        assert outcome(xp.vecdot, m, m) == outcome(np.vecdot, x, x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotients_of_some_hundred_floats_have_numpys_bits(dtype: str) -> None:
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, 300)).astype(dtype)
    x[::50] = y[::40] = 0
    with xp.backend("numpy"):
        for name in ("floor_divide", "remainder"):
            assert outcome(getattr(xp, name), xp.asarray(x), xp.asarray(y)) == outcome(getattr(np, name), x, y)


@pytest.mark.parametrize("size", [999, 1000, 1001])
def test_where_few_elements_end_nothing_changes(size: int) -> None:
    x = np.linspace(-3, 3, size)
    y = x[::-1].copy()
    with xp.backend("numpy"):
        for name in ("add", "exp", "atan2", "equal"):
            operands = (x, y)[: UFUNCS[name].nin]
            found = outcome(getattr(xp, name), *[xp.asarray(one) for one in operands])
            assert found == outcome(UFUNCS[name], *operands)


def test_what_overlaps_is_read_before_it_is_written() -> None:
    with xp.backend("numpy"):
        x = xp.arange(10, dtype=xp.float64)
        x[1:] += x[:-1]
        assert x.tolist() == [0.0, 1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 17.0]


def test_who_asks_to_be_called_for_what_overflows_is_called_once() -> None:
    kinds = []
    with xp.backend("numpy"), np.errstate(over="call"):
        before = np.seterrcall(lambda kind, flags: kinds.append(kind))
        try:
            assert xp.exp(xp.asarray([1.0, 1000.0]))[1] == xp.inf
        finally:
            np.seterrcall(before)
    assert kinds == ["overflow"]


def test_operands_of_another_byte_order_or_place_are_left_to_the_ufunc() -> None:
    swapped = np.asarray([1.0, 2.0], ">f8")
    apart = np.frombuffer(b"\0" + np.asarray([1.0, 2.0]).tobytes(), "u1")[1:].view("f8")
    assert not apart.flags.aligned
    with xp.backend("numpy"):
        x = xp.asarray([3.0, 4.0])
        assert xp.to_native(np.add(apart, x)).tolist() == [4.0, 6.0]
        assert xp.add(xp.asarray(swapped), x).tolist() == [4.0, 6.0]
        assert xp.add(xp.asarray(apart, copy=False), x).tolist() == [4.0, 6.0]
