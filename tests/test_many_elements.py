"""Functions that go another way where there are many elements.

The values are NumPy's, bit by bit.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

pytestmark = pytest.mark.usefixtures("backend")

DTYPES: Final = "float64 float32 float16 bfloat16 int8 uint16 int32 uint64 bool complex64 complex128".split()
SHAPES: Final = [(40_000,), (200, 210), (30, 40, 50)]


def made(dtype: str, shape: tuple[int, ...], seed: int = 0) -> xp.Array:
    values = np.random.default_rng(seed).integers(0, 100, shape).astype(float)
    if "float" in dtype or "complex" in dtype:
        values.flat[::7], values.flat[::5], values.flat[3] = np.nan, -0.0, np.inf
    return xp.asarray(values, dtype=dtype)


def mask_of(shape: tuple[int, ...], part: float) -> xp.Array:
    """A random mask; of 1 and -1 one that a processor foresees.

    It is true and false in turns of a thousand.
    """
    if abs(part) == 1:
        return xp.asarray(np.resize(np.repeat([part > 0, part < 0], 1000), shape))
    return xp.asarray(np.random.default_rng(2).random(shape) < part)


def same(found: xp.Array, expected: Any) -> None:
    """Assert that the bits are the same, those of NaN included."""
    actual = np.asarray(found)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    assert actual.tobytes() == expected.tobytes()


CASES: Final = list(itertools.product(SHAPES, [0.02, 0.5, 0.9, 1, -1]))


@pytest.mark.few_backends
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_mask_reads_writes_and_chooses(dtype: str, backend: xp.Backend, seeds: Callable[[int], range]) -> None:
    cases = [case for i in seeds(2) for case in CASES[i::2]]
    for shape, part in cases if backend.name == "numpy" else [cases[DTYPES.index(dtype) % len(cases)]]:
        check_a_mask(dtype, shape, part)


def check_a_mask(dtype: str, shape: tuple[int, ...], part: float) -> None:
    x, y, mask = made(dtype, shape), made(dtype, shape, 1), mask_of(shape, part)
    host, other, at = np.array(x), np.array(y), np.array(mask)
    same(x[mask], host[at])
    same(xp.permute_dims(x, range(x.ndim)[::-1])[xp.permute_dims(mask, range(x.ndim)[::-1])], host.T[at.T])
    zero = np.zeros((), host.dtype)
    same(xp.where(mask, x, y), np.where(at, host, other))
    same(xp.where(mask, x, xp.zeros((), dtype=x.dtype)), np.where(at, host, zero))
    same(xp.where(mask, False if dtype == "bool" else 0, y), np.where(at, zero, other))
    for axis, places in zip(xp.nonzero(mask), at.nonzero(), strict=True):
        same(axis, places)
    z, selected = xp.asarray(x, copy=True), other[at]
    z[mask] = y[mask]
    host[at] = selected
    same(z, host)
    z[mask] = True if dtype == "bool" else 1
    host[at] = 1
    same(z, host)


def test_a_wrong_value_is_not_written_by_a_mask() -> None:
    x = xp.zeros(40_000)
    with pytest.raises(ValueError, match="setitem: value of shape"):
        x[mask_of((40_000,), 0.5)] = xp.ones(3)
    assert not xp.any(x)


@pytest.mark.few_backends
def test_a_number_that_is_not_zero_is_a_condition_and_nan_is_none() -> None:
    for dtype, kind in itertools.product(["int8", "uint8", "int64", "float32"], ["float32", "int8"]):
        condition = np.random.default_rng(8).integers(0, 4, 40_000).astype(dtype)
        x = made(kind, (40_000,))
        same(xp.where(xp.asarray(condition), x, xp.flip(x)), np.where(condition, np.asarray(x), np.asarray(x)[::-1]))
    for shape in SHAPES:
        x = made("float64", shape)
        for axis, places in zip(xp.nonzero(x), np.asarray(x).nonzero(), strict=True):
            same(axis, places)


def test_what_is_true_may_be_any_byte(backend: xp.Backend) -> None:
    if backend.library == "jax" and tuple(map(int, version("jax").split(".")[:2])) < (0, 10):
        pytest.skip("JAX before 0.10 looks at the last bit alone")
    if backend.library == "jax" and "fusion_emitters=false" in os.environ.get("XLA_FLAGS", ""):
        pytest.skip("XLA looks at the last bit alone if it compiles without optimisation")
    condition = np.random.default_rng(8).integers(0, 4, 40_000).astype(np.uint8).view(np.bool_)
    x = made("float32", (40_000,))
    y = xp.flip(x)
    same(xp.where(xp.asarray(condition), x, y), np.where(condition, np.asarray(x), np.asarray(y)))


@pytest.mark.few_backends
@pytest.mark.parametrize("few", [1, 3, 16, 17])
@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "complex128", "bfloat16"])
def test_few_elements_are_found_among_many(dtype: str, few: int) -> None:
    x = made(dtype, (200, 210))
    sought = x[0, :few]
    found = np.asarray(xp.isin(x, sought))
    values = np.asarray(sought)
    assert found.tolist() == (np.asarray(x)[..., None] == values).any(-1).tolist()
    assert (np.asarray(xp.isin(x, sought, invert=True)) == ~found).all()


@pytest.mark.parametrize(
    ("shape", "axis", "length"),
    [((200, 210), 0, 150), ((200, 210), -1, 50), ((30, 40, 50), 1, 70), ((30, 40, 50), 0, 9), ((6000, 1, 1), 0, 6000)],
)
def test_elements_along_an_axis(backend: xp.Backend, shape: tuple[int, ...], axis: int, length: int) -> None:
    wanted = list(shape)
    wanted[axis] = length
    x = made("float32", shape)
    host = np.asarray(x)
    for kind in ("int64", "int8", "uint16", "uint64") if backend.library == "numpy" else ("int64",):
        least, most = (-1, 1) if kind == "int8" else (0 if kind[0] == "u" else -shape[axis], shape[axis])
        indices = np.random.default_rng(9).integers(least, most, wanted)
        along = xp.asarray(indices, dtype=kind)
        same(xp.take_along_axis(x, along, axis=axis), np.take_along_axis(host, indices, axis))
        if kind == "int64":
            back = range(x.ndim)[::-1]
            turned = xp.take_along_axis(xp.permute_dims(x, back), xp.permute_dims(along, back), axis=back[axis])
            same(turned, np.take_along_axis(host, indices, axis).T)
    indices = np.random.default_rng(9).integers(-1, 1, [1] * (len(shape) - 1) + [90])  # which broadcasts
    same(xp.take_along_axis(x, xp.asarray(indices), axis=-1), np.take_along_axis(host, indices, -1))


def test_an_index_along_an_axis_may_be_out_of_range(backend: xp.Backend) -> None:
    if backend.library == "jax":
        pytest.skip("it does not wait for the indices")
    x, indices = xp.ones((200, 210)), xp.zeros((200, 210), dtype=xp.int64)
    for index in (200, -201):
        indices[7, 9] = index
        with pytest.raises(IndexError, match="take_along_axis"):
            xp.take_along_axis(x, indices, axis=0)


FLOATING: Final = ["mean", "var", "std", "vector_norm"]
REDUCED: Final = ["sum", "prod", "max", "min", "all", "any", "count_nonzero", *FLOATING]


@pytest.mark.few_backends
@pytest.mark.sampled
@pytest.mark.parametrize("values", ["real", "whole", "zeros", "special"])
@pytest.mark.parametrize(("shape", "length"), [((40, 30), 1), ((40, 30), 11), ((1200,), 16)])
@pytest.mark.parametrize("function", REDUCED)
def test_short_rows_are_reduced_as_by_numpy(
    function: str, shape: tuple[int, ...], length: int, values: str, backend: xp.Backend
) -> None:
    random = np.random.default_rng(7)
    host = random.standard_normal((*shape, length)) * 10
    if values == "whole":
        host = np.round(host / 6)
    elif values == "zeros":
        host = random.choice([0.0, -0.0], host.shape)
    elif values == "special":
        host.flat[::5], host.flat[::7], host.flat[1::11] = np.nan, np.inf, -np.inf
    called, numpys = (getattr(m.linalg if function == "vector_norm" else m, function) for m in (xp, np))
    for dtype in ["float64", "float32"] + ["int64", "int8", "bool"] * (values == "whole"):
        if (dtype[0] != "f" and function in FLOATING) or (dtype == "bool" and function in ("max", "min")):
            continue
        a = host.astype(dtype)
        wanted = {"dtype": xp.int64} if dtype == "bool" and function in ("sum", "prod") else {}
        for axis, keepdims in ((-1, False), (len(shape), True), (0, False), (-len(shape) - 1, True)):
            if keepdims and values != "real":  # which is a matter of shapes
                continue
            with np.errstate(all="ignore"):
                found = called(xp.asarray(a), axis=axis, keepdims=keepdims, **wanted)
                expected = numpys(a, axis=axis, keepdims=keepdims)
            actual = np.asarray(found)
            is_down = axis in (0, -a.ndim) and function not in ("max", "min", "all", "any", "count_nonzero")
            if dtype[0] == "f" and (is_down or backend.name != "numpy"):  # added in another order
                np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-4)
                continue
            np.testing.assert_array_equal(actual, expected)
            assert actual.dtype == expected.dtype
            if function not in ("max", "min"):  # of zeros of two signs either is the greatest
                np.testing.assert_array_equal(np.signbit(actual[actual == 0]), np.signbit(expected[expected == 0]))


@pytest.mark.parametrize("divisors", ["many", "one", "column"])
@pytest.mark.parametrize("values", ["real", "whole", "special", "large"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_quotients_are_rounded_down_as_by_numpy(dtype: str, values: str, divisors: str, backend: xp.Backend) -> None:
    random = np.random.default_rng(4)
    x1, x2 = random.standard_normal((2, 100, 200)) * 30
    if values == "whole":
        x1, x2 = np.round(x1), np.round(x2)
    elif values == "special":
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.1, 1.0, -1.0, 1e-300]
        x1[:, ::3], x2[:, ::2] = random.choice(special, (100, 67)), random.choice(special, (100, 100))
    elif values == "large":
        x1 *= 2.0 ** random.integers(0, 12 if dtype == "float16" else 30, x1.shape)
    x2 = {"many": x2, "one": x2[0, 0], "column": x2[:, :1]}[divisors]
    with np.errstate(all="ignore"):
        a1, a2 = np.asarray(x1, dtype), np.asarray(x2, dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = np.asarray(xp.floor_divide(xp.asarray(a1), xp.asarray(a2)))
        expected = np.floor_divide(a1, a2)
    if backend.name == "numpy":
        same(xp.asarray(found), expected)
        return
    # Beyond half the mantissa NumPy's quotients are off by one, and a library's may be right.
    is_exact = ~(np.abs(expected) >= 2.0 ** (np.finfo(dtype).nmant - 1))
    np.testing.assert_array_equal(found[is_exact], expected[is_exact])


@pytest.mark.parametrize("step", [1, 3, -1])
@pytest.mark.parametrize("values", ["real", "whole", "tiny", "special", "bits"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", ["floor_divide", "remainder"])
def test_quotients_and_rests_on_numpy_have_its_bits_and_warnings(
    function: str, dtype: str, values: str, step: int
) -> None:
    random = np.random.default_rng(8)
    x1, x2 = random.standard_normal((2, 6000)) * 30
    if values == "whole":
        x1, x2 = np.round(x1) / 8, np.round(x2 / 10)
    elif values == "tiny":
        x1 *= 10.0 ** random.integers(-330 if dtype == "float64" else -44, 0, 6000)
    elif values == "special":
        x1[::97] = np.resize([0.0, -0.0, np.inf, -np.inf, np.nan], 62)
        x2[::61] = np.resize([np.inf, 0.0, np.nan], 99)
    with np.errstate(all="ignore"):
        a1, a2 = x1.astype(dtype), x2.astype(dtype)
    if values == "bits":
        bits = f"i{a1.itemsize}"
        a1, a2 = (random.integers(np.iinfo(bits).min, np.iinfo(bits).max, 6000, dtype=bits).view(dtype) for _ in "12")
    given, called = (a1[::step], a2[::step]), (getattr(np, function), getattr(xp, function))
    for one, two in (given, (given[0], a2[5]), (a1[5], given[1])):
        found = []
        for module, ours in zip((np, xp), called, strict=True):
            with warnings.catch_warnings(record=True) as warned, np.errstate(all="warn"), xp.backend("numpy"):
                warnings.simplefilter("always")
                result = ours(*(module.asarray(x) for x in (one, two)))
            result = np.asarray(result)
            bits = np.where(np.isnan(result), 0, result.view(f"i{result.itemsize}"))
            found.append((bits.tolist(), np.isnan(result).tolist(), sorted(str(one.message) for one in warned)))
        assert found[0] == found[1]


def ordered(dtype: str) -> dict[str, np.ndarray[Any, Any]]:
    """Values of a dtype, by what is special of them for a sort."""
    random = np.random.default_rng(5)
    values = random.integers(-2000, 2000, 9000)
    limits = np.iinfo(dtype) if "int" in dtype else np.iinfo(np.int64)
    found = {
        "many are equal": values // 500,
        "ascending": np.sort(values),
        "descending": np.sort(values)[::-1],
        "sorted parts": np.concatenate([np.sort(part) for part in np.split(values, 90)]),
        "of the whole range": random.integers(limits.min, limits.max, 9000, dtype=limits.dtype, endpoint=True),
        "the limits": random.choice(np.array([limits.min, 0, limits.max], limits.dtype), 9000),
    }
    if "float" in dtype:
        found["with NaN"] = np.where(values % 9 == 0, np.nan, values / 7)
        found["zeros of two signs"] = np.where(values % 2 == 0, -0.0, values // 1500)
        found["all NaN"] = np.full(9000, np.nan)
        found["the infinite"] = random.choice([-np.inf, np.inf, 0.0, np.nan], 9000)
    elif dtype[0] == "u":
        found = {name: np.abs(a) if a.dtype.kind == "i" else a for name, a in found.items()}
    with np.errstate(over="ignore"):  # float16 has not so many
        return {name: a.astype(dtype) for name, a in found.items()}


@pytest.mark.few_backends
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape", [(9000,), (900, 10), (90, 100), (10, 3, 300), (2, 4500)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "int8", "uint64", "uint32"])
def test_a_stable_order_is_numpys(dtype: str, shape: tuple[int, ...], descending: bool) -> None:
    for name, values in ordered(dtype).items():
        host = values.reshape(shape)
        expected = np.argsort(np.flip(host, -1) if descending else host, axis=-1, stable=True)
        if descending:
            expected = shape[-1] - 1 - np.flip(expected, -1)
        x = xp.asarray(host)
        same(xp.argsort(x, descending=descending), expected)
        if len(shape) == 1:
            found = np.asarray(xp.sort(x, descending=descending))
            np.testing.assert_array_equal(found, host[expected], err_msg=name)
            np.testing.assert_array_equal(np.signbit(found)[found == 0], np.signbit(host[expected])[found == 0])


@pytest.mark.few_backends
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "int8", "uint64", "complex128"])
def test_all_of_unique_is_numpys(dtype: str) -> None:
    kind = "float64" if dtype == "complex128" else dtype
    for values in ordered(kind).values():
        host = values.astype(dtype).reshape(90, 100)
        expected = np.unique_all(host.astype(np.float32) if dtype == "float16" else host)
        for found, wanted in zip(xp.unique_all(xp.asarray(host)), expected, strict=True):
            np.testing.assert_array_equal(np.asarray(found), wanted)


@pytest.mark.parametrize("axis", [0, 1, 2, -2])
def test_long_rows_are_ordered_along_any_axis(axis: int) -> None:
    values = np.random.default_rng(6).integers(0, 300, (3, 5000, 2))
    same(xp.argsort(xp.asarray(values), axis=axis), np.argsort(values, axis=axis, stable=True))


@pytest.mark.few_backends
@pytest.mark.sampled
@pytest.mark.parametrize("length", [1, 31, 33, 70_000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "int8", "uint64"])
def test_places_in_a_sorted_table_are_numpys(dtype: str, length: int) -> None:
    random = np.random.default_rng(7)
    scale = 100 if dtype == "int8" else 50_000 if dtype == "float16" else 10**9
    table = np.sort(random.integers(0, scale, length).astype(dtype))
    if "float" in dtype and length > 4:
        table[0], table[-1] = -np.inf, np.nan
    sought = {
        "anything": random.integers(0, scale + scale // 10, 20_000).astype(dtype),
        "of the table": random.choice(table, 20_000),
        "sorted": np.sort(random.integers(0, scale, 20_000).astype(dtype)),
    }
    if "float" in dtype:
        sought["anything"][::9], sought["anything"][3::50], sought["anything"][4::50] = np.nan, np.inf, -np.inf
    wide = np.float32 if dtype == "float16" else dtype
    for name, values in sought.items():
        for keys in (values, values.reshape(100, 200), values[::-1])[: 3 if name == "anything" else 1]:
            for side in ("left", "right"):
                found = xp.searchsorted(xp.asarray(table), xp.asarray(keys), side=side)
                assert found.dtype == xp.int64
                expected = np.searchsorted(table.astype(wide), keys.astype(wide), side)
                np.testing.assert_array_equal(np.asarray(found), expected, err_msg=name)


@pytest.mark.parametrize("exponents", ["one", "a column", "many"])
def test_square_roots_as_powers_are_those_of_the_standard(exponents: str, backend: xp.Backend) -> None:
    host = np.resize([4.0, 0.0, -0.0, np.inf, -np.inf, np.nan, -1.0], (100, 70))
    halves = np.full({"one": (), "a column": (100, 1), "many": (100, 70)}[exponents], 0.5)
    with np.errstate(all="ignore"):
        found = np.asarray(xp.pow(xp.asarray(host), xp.asarray(halves)))
    if backend.name == "numpy":  # which takes `sqrt` for some, see the deviations page
        host, found = (np.where((host == 0) | np.isinf(host), 1.0, a) for a in (host, found))
    expected = np.resize([2.0, 0.0, 0.0, np.inf, np.inf, np.nan, np.nan], (100, 70))
    np.testing.assert_array_equal(found, np.where(host == 1, 1.0, expected))
    assert not np.signbit(found[found == 0]).any()


@pytest.mark.few_backends
@pytest.mark.sampled
@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        (dtype, shape)
        for shape in [(5000,), (300, 300), (900, 8), (8, 900), (9, 9, 70), (70, 70, 4), (2500, 2), (1, 4000)]
        for dtype in ["float64", "float32", "float16", "int64", "int8", "uint32", "bool", "complex64"]
        if dtype in ("float64", "int8") or shape in [(5000,), (300, 300)]
    ],
)
def test_running_results_are_numpys(dtype: str, shape: tuple[int, ...], backend: xp.Backend) -> None:
    x = made(dtype, shape)
    host = np.array(x)
    for axis in range(-1, len(shape) - 1) if backend.name == "numpy" else (-1,):
        for name in ("cumulative_sum", "cumulative_prod"):
            ours, numpys = getattr(xp, name), getattr(np, name)
            cases = [(x, host, {})]
            if len(shape) > 1:
                cases.append((xp.flip(x, axis=0), host[::-1], {}))  # whose rows do not lie one by one
            if dtype in ("int8", "float64"):
                cases.append((x, host, {"dtype": "float32" if dtype == "float64" else "int16"}))
            for given, expected, options in cases:
                with np.errstate(all="ignore"):
                    found = np.asarray(ours(given, axis=axis, **options))
                    expected = numpys(expected, axis=axis, **options)
                assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
                if backend.library == "numpy" or expected.dtype.kind in "iub":
                    np.testing.assert_array_equal(found, expected)
    if len(shape) > 1 and dtype != "bool":
        with pytest.raises(ValueError, match="axis"):
            xp.cumulative_sum(x)
        with pytest.raises(IndexError, match="axis"):
            xp.cumulative_sum(x, axis=len(shape))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_variance_of_all_elements_is_numpys(dtype: str, backend: xp.Backend) -> None:
    for size in (1 << 17, 200_003, 1 << 19) if backend.library == "numpy" else (1 << 17,):  # also in whole blocks
        host = np.random.default_rng(size).standard_normal(size).astype(dtype)
        is_exact = backend.library == "numpy" and np.lib.NumpyVersion(np.__version__) >= "2.3.0"
        for ours, numpys in ((xp.var, np.var), (xp.std, np.std)):
            np.testing.assert_allclose(
                np.asarray(ours(xp.asarray(host))), numpys(host), rtol=0 if is_exact else 1e-5, err_msg=str(size)
            )
