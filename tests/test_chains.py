"""Chains: elementwise calls that are recorded, and run together."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from comparison import each
from expressions import several

import anyarray as xp
from anyarray import testing
from anyarray._base.extension import speedups
from anyarray._call import dispatch
from anyarray._choice import choice, cost, learning, machine
from anyarray._choice.law import Law
from anyarray._lazy import loops

pytestmark = pytest.mark.skipif(speedups is None, reason="chains are compiled")

MANY = 100_000
VALUES = np.linspace(-3, 3, MANY)


@pytest.fixture(autouse=True)
def automatic() -> Iterator[None]:
    """The automatic choice without a profile, where chains are recorded."""
    with xp.backend("auto"), xp.policy(fuse=True):
        yield


@pytest.fixture
def few() -> Iterator[None]:
    """Calls of two elements are recorded, too."""
    before = speedups.record_from(2)
    yield
    speedups.record_from(before)


def of_values() -> Any:
    return xp.asarray(VALUES)


def is_recorded(x: Any) -> bool:
    """Whether the values of an Array are not computed yet."""
    return type(x._value).__name__ == "Lazy" and not x._value.is_computed


@each(
    "read",
    several("""
np.asarray(y); repr(y); str(y); copy.copy(y); copy.deepcopy(y); pickle.dumps(y); xp.sum(y); xp.to_native(y); y.tolist()
y.data; y[3]; y.__dlpack__(); xp.sort(y); y.to_device("numpy"); bool(xp.all(y)); np.median(y)
"""),
)
def test_whoever_reads_a_value_computes_it(read: str) -> None:
    y = of_values() * 2 + 1
    assert is_recorded(y)
    eval(read, {"y": y, "np": np, "xp": xp, "copy": copy, "pickle": pickle})
    assert np.array_equal(np.asarray(y), VALUES * 2 + 1)


def test_few_elements_and_a_chosen_backend_are_computed_at_once_unless_it_is_fused() -> None:
    assert not is_recorded(xp.asarray(VALUES[:1000]) + 1)
    with xp.backend("numpy"):
        x = of_values()
        with xp.policy(fuse=False):
            assert not is_recorded(x + 1)
        with xp.fused():
            y = x + 1
            assert is_recorded(y)
    assert np.array_equal(np.asarray(y), VALUES + 1)


@pytest.mark.parametrize(("setting", "expected"), [("off", "False"), ("", "True")])
def test_the_environment_turns_chains_off(setting: str, expected: str) -> None:
    code = (
        "import anyarray as xp; y = xp.ones(100_000) + 1; print(type(y._value).__name__ == 'Lazy'); "
        "assert float(y[0]) == 2"
    )
    environment = os.environ | {"ANYARRAY_FUSE": setting, "ANYARRAY_PROFILE": "off", "ANYARRAY_BACKEND": "auto"}
    out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == expected


def test_many_calls_of_parts_do_not_keep_large_arrays(few: None) -> None:
    results, kept = [], []
    for _ in range(12):
        x = xp.zeros(1 << 25, dtype=xp.float64)  # 256 MiB, of which no page is touched but those that are read
        results.append(x[:1024] + 1)
        kept.append(weakref.ref(x._value.base))
        del x
    assert is_recorded(results[0])
    assert sum(one() is not None for one in kept) <= 4
    assert all(np.array_equal(np.asarray(y), np.ones(1024)) for y in results)


def test_a_value_that_nobody_needs_is_never_computed() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = xp.log(of_values())
        assert is_recorded(y)
        del y  # the logarithm of a negative number would have warned


def test_variables_that_hold_a_recorded_array_are_freed() -> None:
    variables = {"xp": xp, "array": of_values(), "kept": threading.Thread()}
    kept = weakref.ref(variables["kept"])
    exec("y = array * 2", variables)  # the call refers to the variables of its module
    assert is_recorded(variables["y"])
    del variables
    gc.collect()
    assert kept() is None


@each(
    "write",
    several("""
x[0] = 9.0; x[:] = 9.0; x[:10][0] = 9.0; y = xp.reshape(x, (10, -1)).__iadd__(1.0); x += 1.0; x *= x; x.fill(9.0)
x[::-1].sort(); np.add(x, 1, out=x); np.asarray(x).fill(9.0); np.asarray(x.data).fill(9.0)
np.require(np.from_dlpack(x, copy=True), requirements="W").fill(9.0)
"""),
)
def test_a_later_write_does_not_reach_a_chain(write: str) -> None:
    x = of_values()
    y, total = x * 2, xp.sum(x * 2)
    assert is_recorded(y)
    exec(write, {"x": x, "np": np, "xp": xp})
    assert np.array_equal(np.asarray(y), VALUES * 2)
    assert float(total) == float((VALUES * 2).sum())


def test_memory_that_somebody_outside_may_write_to_is_read_at_once() -> None:
    x = of_values()
    outside = np.asarray(x)
    y = x + 1
    outside[0] = 50.0
    assert float(y[0]) == VALUES[0] + 1
    del outside
    assert is_recorded(x + 1)


def test_memory_that_others_had_before_does_not_keep_slices_from_being_recorded() -> None:
    seen = set()
    for _ in range(20):
        x = of_values()
        seen.add(id(x._value.base))  # those that were freed come again
        assert is_recorded(x[1:] + x[:-1])
        np.asarray(x)
        del x
    assert len(seen) < 20


def test_memory_that_the_user_brought_in_is_read_at_once() -> None:
    brought_in: list[Callable[[Any], Any]] = [
        xp.from_native,
        lambda a: xp.asarray(a, copy=False),
        lambda a: xp.asarray(memoryview(a), copy=False),
    ]
    for bring in brought_in:
        a = VALUES.copy()
        y = bring(a) + 1
        a[0] = 50.0
        assert float(y[0]) == VALUES[0] + 1


def test_a_file_mapped_read_only_is_read_block_by_block(tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", VALUES)
    x = xp.asarray(np.load(tmp_path / "x.npy", mmap_mode="r"))
    y = (x - 1.0) ** 2
    assert is_recorded(y)
    assert np.asarray(y).tolist() == ((VALUES - 1.0) ** 2).tolist()


def test_an_ndarray_beside_an_array_is_read_at_once() -> None:
    a, x = VALUES.copy(), of_values()
    y, z = x + a, xp.add(a, x)
    a[0] = 50.0
    assert float(y[0]) == float(z[0]) == 2 * VALUES[0]


def test_a_chain_is_written_to_the_memory_of_an_update_in_place() -> None:
    x, y = of_values(), of_values() * 1
    np.asarray(y)
    part, address = x[10:20], x._native.ctypes.data
    before = x * 3
    x -= y * 0.5 + x * y
    expected = VALUES - (VALUES * 0.5 + VALUES * VALUES)
    assert np.array_equal(np.asarray(x), expected)
    assert np.array_equal(np.asarray(part), expected[10:20])
    assert np.array_equal(np.asarray(before), VALUES * 3)
    assert x._native.ctypes.data == address


@each(
    "write",
    several("""
x[...] = y * 2; x[:] = x * y + 1; x[1:-1] = (y[2:] + y[:-2]) * 0.5; x[1:] = x[:-1] * 2; x[::2] = m.exp(y[::2]) + 1
x *= x * 2 + m.sum(x * y); x[1:] += x[:-1] * 2; m.reshape(x, (-1, 10))[:, 2:5] = m.reshape(y, (-1, 10))[:, :3] * 2
"""),
)
def test_a_chain_that_is_written_gives_numpys_values(write: str, few: None) -> None:
    a, b = VALUES.copy(), VALUES[::-1].copy()
    x, y = xp.asarray(a.copy()), xp.asarray(b.copy())
    exec(write, {"m": np, "x": a, "y": b})
    exec(write, {"m": xp, "x": x, "y": y})
    assert np.array_equal(np.asarray(x), a)
    assert np.array_equal(np.asarray(y), b)


def test_a_broadcast_exponent_has_the_standards_roots(few: None) -> None:
    x, exponents = xp.asarray(np.full((200, 8), -np.inf)), xp.asarray(np.full((200, 1), 0.5))
    assert xp.all(xp.pow(x, exponents) == xp.inf)


def test_what_was_written_stays_apart_from_where_it_was_written() -> None:
    u, v = xp.zeros(MANY), of_values()
    arguments = (..., v * 2)
    u.__setitem__(*arguments)
    u[0] = 5
    assert float(arguments[1][0]) == VALUES[0] * 2
    assert float(u[1]) == VALUES[1] * 2


REDUCTIONS = ["all", "any", "count_nonzero", "max", "mean", "min", "sum"]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool"])
@pytest.mark.parametrize("shape", [(70_001,), (40, 2000), (20_000, 3), (7000, 8), (30, 40, 50)])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_reduction_that_ends_a_chain_has_numpys_bits(reduction: str, shape: tuple[int, ...], dtype: str) -> None:
    random = np.random.default_rng(len(shape))
    a, b = [(random.standard_normal(shape) * 10).astype(dtype) for _ in range(2)]
    x, y = xp.asarray(a), xp.asarray(b)
    for options in ({}, {"axis": -1}, {"axis": len(shape) - 1, "keepdims": True}, {"keepdims": True}):
        chain = xp.logical_xor(x, y) if dtype == "bool" else x * y + x
        found = getattr(xp, reduction)(chain, **options)
        expected = getattr(np, reduction)(np.logical_xor(a, b) if dtype == "bool" else a * b + a, **options)
        if reduction != "count_nonzero" or dtype == "bool":
            is_float = dtype in ("float64", "float32")
            assert is_recorded(found) or (reduction == "mean" and not is_float) or not loops.SUMS_ARE_IN_PAIRS
        assert found.shape == np.shape(expected)
        assert np.array_equal(np.asarray(found), expected)
        assert np.asarray(found).dtype == np.asarray(expected).dtype or reduction == "count_nonzero"


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_sum_of_rows_of_any_length_has_numpys_bits(dtype: str) -> None:
    random = np.random.default_rng(5)
    for length in (*range(2, 20), 31, 64, 127, 128, 129, 136, 200, 256, 257):
        a = random.normal(size=(40_000 // length, length)).astype(dtype)
        for special, part in ((-0.0, 0.1), (np.inf, 0.002), (-np.inf, 0.002), (np.nan, 0.001)):
            a[random.random(a.shape) < part] = special
        a[::7] = -0.0
        found = xp.sum(xp.asarray(a) * 1, axis=1)
        assert is_recorded(found) or not loops.SUMS_ARE_IN_PAIRS
        assert are_same(np.asarray(found), np.sum(a, axis=1))


def test_what_has_a_name_is_computed_with_its_reduction() -> None:
    e = xp.exp(of_values())
    p = e / xp.sum(e)
    assert not is_recorded(e)
    assert is_recorded(p)
    expected = np.exp(VALUES)
    assert np.array_equal(np.asarray(p), expected / expected.sum())


def test_one_reduction_is_recorded_at_a_time() -> None:
    x = of_values()
    first = xp.min(x * 2)
    assert is_recorded(first)
    second = xp.max(x * 3)
    assert not is_recorded(first)
    assert is_recorded(second)
    assert (first.shape, first.dtype, float(second)) == ((), xp.float64, 9.0)
    with pytest.raises(TypeError, match="no axes"):
        len(xp.sum(x * 2))


@pytest.mark.skipif(not loops.SUMS_ARE_IN_PAIRS, reason="before NumPy 2.3 sums of floats are not recorded")
def test_a_reduction_warns_where_it_was_called() -> None:
    x = xp.full(MANY, 1e308)
    total = xp.sum(x * 1)
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce") as caught:
        assert float(total) == np.inf
    assert caught[0].filename == __file__


def test_shapes_that_do_not_fit_and_integer_powers_raise_where_the_call_is_made() -> None:
    with pytest.raises(ValueError, match="cannot be broadcast"):
        of_values() + xp.ones(7)
    with pytest.raises(ValueError, match="negative integer powers"):
        xp.ones(MANY, dtype=xp.int64) ** xp.asarray(-1)


def test_a_warning_names_the_line_of_the_call() -> None:
    x = of_values()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = sys._getframe().f_lineno + 1
        y = xp.log(x)
        z = y + 1
        assert not caught
        assert np.isnan(float(z[0]))
    assert [(str(one.message), one.filename, one.lineno) for one in caught] == [
        ("invalid value encountered in log", __file__, line)
    ]


def test_the_modes_of_the_call_hold_not_those_of_the_read() -> None:
    x = of_values()
    with np.errstate(all="ignore"):
        y = xp.log(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(float(y[0]))


def test_a_warning_that_is_an_error_leaves_the_value_whole() -> None:
    y = xp.log(of_values())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="invalid value"):
            y[0]
        assert np.isnan(float(y[0]))


@each("write", ["x[0] = 9.0", "x += 1", "np.asarray(x)", "x.fill(1.0)"])
def test_a_write_raises_a_warning_that_is_an_error(write: str) -> None:
    x = of_values()
    y = xp.log(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="invalid value"):
            exec(write, {"x": x, "np": np})
    assert float(x[0]) == VALUES[0]
    assert np.isnan(float(y[0]))


def test_errors_that_numpy_raises_come_where_the_call_is_made() -> None:
    x = of_values()
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="invalid value"):
        xp.log(x)


def test_several_threads_may_need_one_chain() -> None:
    x = of_values()
    shared = x * 3

    def is_right(k: int) -> bool:
        found = [float(((x + k) * 2 - shared)[5]) for _ in range(20)]
        return found == [(VALUES[5] + k) * 2 - VALUES[5] * 3] * 20

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(is_right, range(6)))


@pytest.mark.filterwarnings("ignore")  # of who has threads, such as JAX
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_process_computes_what_its_parent_recorded() -> None:
    y = of_values() * 2
    child = os.fork()
    if child == 0:
        os._exit(0 if float(y[3]) == VALUES[3] * 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert float(y[3]) == VALUES[3] * 2


MATRIX = VALUES.reshape(400, 250)


@each(
    "expression",
    several("""
x + x[0]; (x - x[:, :1]) / (1 + m.abs(x[:1, :])); x[1:-1, 1:-1] + x[2:, 1:-1] + x[:-2, 1:-1] - 4 * x[1:-1, 2:]
m.where(x > 0, x * 2, 0.0); m.where(x[0] > 0, x, -x); m.where(x > 0, 1, x); x[:399:3, ::2] * x[1::3, 1::2]; x.T * 2 + 1
x[::-1] + x; x[:, None, :] * x[None, :3, :].reshape(1, 3, 250); x.astype(m.float32) * 2; (x > 0).astype(m.int8) + 1
(x * 10).astype(m.int32) // 3; m.maximum(x, 0) ** 2 - x**0.5; m.exp(1j * x) * x; (x * 1e3).astype(m.int16) % 7 + (x > 1)
"""),
)
def test_a_chain_gives_what_one_call_after_the_other_gives(expression: str) -> None:
    names = {"m": xp, "x": xp.asarray(MATRIX)}
    with np.errstate(all="ignore"):
        found = eval(expression, names)
        with xp.policy(fuse=False):
            expected = eval(expression, names)
        assert found.dtype == expected.dtype
        assert found.strides == expected.strides
        assert np.array_equal(np.asarray(found), np.asarray(expected), equal_nan=True)


UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_invert cbrt ceil conj cos cosh deg2rad exp exp2 expm1 floor isfinite "
    "isinf isnan log log10 log1p log2 logical_not negative positive reciprocal round sign signbit sin sinh sqrt square "
    "tan tanh trunc"
).split()
BINARY = (
    "add atan2 bitwise_and bitwise_or bitwise_xor copysign divide equal floor_divide fmod greater greater_equal hypot "
    "less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow "
    "remainder subtract"
).split()
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, 1e-310, 1e300, 709.9)


def random_array(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Numbers of any dtype, some of them special."""
    dtype = np.dtype(random.choice(DTYPES))
    if dtype.kind == "b":
        return np.asarray(random.integers(0, 2, shape)).astype(bool)
    if dtype.kind in "iu":
        return np.asarray(random.integers(0, 100, shape)).astype(dtype)
    numbers = np.where(random.random(shape) < 0.05, random.choice(SPECIAL, shape), random.standard_normal(shape))
    with np.errstate(all="ignore"):
        return np.asarray(numbers + 1j * np.flip(numbers) if dtype.kind == "c" else numbers).astype(dtype)


def random_call(random: np.random.Generator, count: int) -> Callable[[list[Any]], Any]:
    """A call of some of the arrays that there are so far."""
    places = [int(i) for i in random.integers(0, count, 3)]
    kind, scalar = random.random(), random.choice([2, 3, -1, 0.5, 1.5])
    if kind < 0.4:
        function = getattr(xp, random.choice(UNARY))
        return lambda arrays: function(arrays[places[0]])
    if kind < 0.7:
        function = getattr(xp, random.choice(BINARY))
        return lambda arrays: function(arrays[places[0]], arrays[places[1]])
    if kind < 0.8:
        function = getattr(xp, random.choice(BINARY))
        return lambda arrays: function(arrays[places[0]], float(scalar) if scalar % 1 else int(scalar))
    if kind < 0.87:
        return lambda arrays: xp.where(arrays[places[0]] != 0, arrays[places[1]], arrays[places[2]])
    if kind < 0.94:
        function = getattr(xp, random.choice(["all", "any", "count_nonzero", "mean", "sum"]))
        axis = random.choice([None, -1])
        return lambda arrays: function(arrays[places[0]], axis=axis, keepdims=True)
    dtype = getattr(xp, random.choice(DTYPES))
    return lambda arrays: xp.astype(arrays[places[0]], dtype)


def outcome(call: Callable[[list[Any]], Any], arrays: list[Any]) -> Any:
    """What a call gives, or what it raises."""
    try:
        return call(arrays)
    except (TypeError, ValueError, OverflowError) as error:
        return type(error), str(error)


def are_same(found: Any, expected: Any) -> bool:
    """Whether two ndarrays have the same bits, but for the sign of NaN."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if found.dtype.kind == "c":
        return are_same(found.real, expected.real) and are_same(found.imag, expected.imag)
    if found.dtype.kind != "f":
        return bool(np.array_equal(found, expected))
    same_sign = (np.signbit(found) == np.signbit(expected)) | np.isnan(expected)
    return bool(np.array_equal(found, expected, equal_nan=True) and same_sign.all())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(40))
def test_random_chains_have_numpys_bits(few: None, seed: int) -> None:
    random = np.random.default_rng(seed)
    for _ in range(8):
        rows = int(random.integers(1, 60))
        columns = [(2,), (5,), (17,), (64,), (1100,), (16, 8), (3, 400)][random.integers(7)]
        one = (1,) * len(columns)
        shapes = [(rows, *columns), (rows, *one), (rows, *one[1:], columns[-1]), columns, (1, *columns), ()]
        given = [random_array(random, shapes[0]), *[random_array(random, shapes[i]) for i in random.integers(0, 6, 2)]]
        late, at_once = [xp.asarray(a) for a in given], [xp.asarray(a) for a in given]
        for _ in range(int(random.integers(1, 14))):
            call = random_call(random, len(late))
            found = outcome(call, late)
            with xp.policy(fuse=False):
                expected = outcome(call, at_once)
            if isinstance(expected, tuple):
                assert found == expected
                continue
            late.append(found)
            at_once.append(expected)
        for i in random.permutation(len(late)):
            assert are_same(np.asarray(late[i]), np.asarray(at_once[i]))


def measured(numpys: Law, sims: Law) -> cost.Model:
    """A machine with an accelerator; what an elementwise call takes on it."""
    route = cost.Route(Law(1e-2))
    backends = {
        name: cost.Costs({"arithmetic": law, "transcendental": law}) for name, law in (("numpy", numpys), ("sim", sims))
    }
    return cost.Model(backends, {(a, b): route for a in backends for b in backends if a != b})


@pytest.fixture
def sim() -> Iterator[None]:
    """An accelerator, and the automatic choice on a measured machine."""
    with testing.simulated(), xp.backend("auto"):
        choice.current().fuses = None  # as where no block is open
        xp.device("sim")
        learning.forget()
        yield
        learning.forget()
        machine.use(None)


@pytest.mark.usefixtures("sim")
def test_what_no_backend_does_faster_is_recorded_without_a_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    machine.use(measured(Law(1e-4), Law(1.0)))
    x = of_values()
    with monkeypatch.context() as patch:
        patch.setattr(dispatch, "call", None)
        y = 1 / (1 + xp.exp(-x))
        assert is_recorded(y)
    assert np.array_equal(np.asarray(y), 1 / (1 + np.exp(-VALUES)))


@pytest.mark.usefixtures("sim")
def test_what_was_decided_to_stay_is_recorded() -> None:
    machine.use(measured(Law(1e-3), Law(1e-5)))
    learning.note("numpy", machine.prediction_of("exp", ((MANY,),), (xp.float64,), None).call, 1.0)
    first, second = xp.exp(of_values()), xp.exp(of_values())
    assert is_recorded(first)
    assert is_recorded(second)
    (account,) = machine.accounts_of("exp").values()
    assert account.missed["sim"] > 0


@pytest.mark.usefixtures("sim")
def test_the_time_of_a_chain_corrects_a_wrong_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "is_on", lambda: True)
    machine.use(measured(Law(1e-12), Law(1e-3)))
    x = xp.ones(3_000_000)  # of which no other test makes chains: a few are timed
    for _ in range(3):
        np.asarray(1 / (1 + xp.exp(-x)))
    call = machine.prediction_of("exp", ((3_000_000,),), (xp.float64,), None).call
    assert call is not None
    assert learning.factor("numpy", call) == learning.MOST


@pytest.mark.usefixtures("sim")
@pytest.mark.parametrize("is_measured", [True, False])
def test_explain_shows_a_chain_as_one_row(is_measured: bool) -> None:
    machine.use(measured(Law(1e-4), Law(1.0)) if is_measured else None)
    x = of_values()
    with xp.explain() as why:
        y = 1 / (1 + xp.exp(-x)) + x + 1
        assert len(why) == 0
        float(xp.max(y))
    assert [one.function for one in why.decisions] == ["negative, exp, 3 add, divide, max"]
    found = why.decisions[0]
    assert found.seconds is not None
    assert found.where is not None
    assert found.where[0] == __file__
    assert found.shapes == ((MANY,),)
    assert found.reason == "stays on numpy: the calls run together"


def test_the_time_of_a_chain_that_a_call_runs_is_told_once() -> None:
    with xp.explain() as why:
        started = time.perf_counter()
        for _ in range(3):
            xp.roll(xp.exp(of_values()) + 1, 1)
        took = time.perf_counter() - started
    assert [one.function for one in why.decisions].count("roll") == 3 and len(why) == 6
    assert sum(one.seconds or 0.0 for one in why.decisions) < took


def test_ctrl_c_while_a_chain_is_noted_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(loops.automatic, "of_chain", interrupted)
    y = xp.exp(of_values()) + 1

    def read() -> None:
        y[0].item()
        for _ in range(1000):  # it comes between two instructions
            pass

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored where tests are run
    try:
        with pytest.raises(KeyboardInterrupt), xp.explain():
            read()
    finally:
        signal.signal(signal.SIGINT, before)
    assert np.array_equal(np.asarray(y), np.exp(VALUES) + 1)


def test_no_call_of_a_process_without_a_profile_runs_at_once(run_python: Callable[..., str]) -> None:
    program = """
        import anyarray as xp
        x = xp.ones(1 << 24)
        for _ in range(4):
            y = x - 1.0
            print(type(y._value).__name__)
            xp.mean(y**2).item()
    """
    assert run_python(program).split() == ["Lazy"] * 4
