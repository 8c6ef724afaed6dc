"""What `xp.jit` makes of functions on CuPy: few kernels of many calls."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import cupy_on_numpy
import numpy as np
import pytest

import anyarray as xp
from anyarray._lazy import compiler
from anyarray._lazy.tracing import MOST, Tracing
from anyarray._registry import registry

pytest.importorskip("array_api_compat")
if shutil.which("g++") is None:
    pytest.skip("kernels are compiled by g++", allow_module_level=True)


@pytest.fixture(scope="module")
def module() -> Iterator[Any]:
    """CuPy's backend over the stand-in, known to the registry."""
    loaded = registry._loaded.pop("cupy", None)
    backends = {name: registry._backends.pop(name) for name in list(registry._backends) if name.startswith("cupy")}
    with cupy_on_numpy.installed() as found:
        registry._loaded["cupy"] = registry._Loaded(registry.LIBRARIES["cupy"], found)
        yield found
    for name in [name for name in registry._backends if name.startswith("cupy")]:
        del registry._backends[name]
    del registry._loaded["cupy"]
    registry._backends.update(backends)
    if loaded is not None:
        registry._loaded["cupy"] = loaded


@pytest.fixture
def kernels(module: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """The functions in each kernel that was called; calls are made there."""
    called: list[list[str]] = []
    fused = module.fused

    def noting(steps: Any, *rest: Any) -> Any:
        kernel = fused(steps, *rest)
        return lambda *arrays: (called.append([one.function for one in steps]), kernel(*arrays))[1]

    monkeypatch.setattr(module, "fused", noting)
    compiler.compilers.clear()
    with xp.backend("cupy"):
        yield called


X = np.asarray([-2.5, -1.0, -0.0, 0.0, 0.3, 1.0, 2.5, np.inf, -np.inf, np.nan])
FLOATS = ["float32", "float64"]


ONE = ["abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "expm1", "floor", "log"]
ONE += ["log10", "log1p", "log2", "negative", "positive", "reciprocal", "round", "sin", "sinh", "sqrt", "square", "tan"]
ONE += ["tanh", "trunc", "isfinite", "isinf", "isnan", "signbit"]
TWO = ["add", "atan2", "copysign", "divide", "equal", "greater", "greater_equal", "hypot", "less", "less_equal"]
TWO += ["maximum", "minimum", "multiply", "not_equal", "pow", "subtract"]


def numpys(name: str) -> Callable[..., Any]:
    return getattr(np, name, None) or getattr(np, {"round": "rint"}[name])  # type: ignore[no-any-return]  # a function


def check(found: xp.Array, expected: Any) -> None:
    """The values of NumPy but for the last digits, and the sign of zeros."""
    got = np.asarray(found)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=1e-5 if expected.dtype == "float32" else 1e-12)
    if expected.dtype.kind == "f":
        zeros = expected == 0
        assert np.signbit(got[zeros]).tolist() == np.signbit(expected[zeros]).tolist()


def all_of(names: list[str]) -> Callable[..., dict[str, xp.Array]]:
    """A function whose results are those of the functions of these names."""

    def called(x: Any, *more: Any) -> dict[str, xp.Array]:
        y = -x
        return {name: getattr(xp, name)(y, *more) for name in names}

    return called


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_have_numpys_values(dtype: str, kernels: list[list[str]]) -> None:
    a = X.astype(dtype)
    found = xp.jit(all_of(ONE))(xp.asarray(a))
    for name in ONE:
        with np.errstate(all="ignore"):
            check(found[name], numpys(name)(-a))
    assert kernels == [["negative", *ONE]]


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_of_two_have_numpys_values(dtype: str, kernels: list[list[str]]) -> None:
    a, b = (np.asarray(one, dtype) for one in zip(*itertools.product(X, X), strict=True))
    found = xp.jit(all_of(TWO))(xp.asarray(a), xp.asarray(b))
    for name in TWO:
        # Of zeros of two signs either may be the greater.
        chosen = (a != 0) | (b != 0) if name in ("maximum", "minimum") else slice(None)
        with np.errstate(all="ignore"):
            check(found[name][chosen], numpys(name)(-a, b)[chosen])
    assert kernels == [["negative", *TWO]]


NUMBERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", *FLOATS]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_comparisons_choices_and_casts_are_part_of_a_kernel(dtype: str, kernels: list[list[str]]) -> None:
    a = np.asarray([0, 1, 100, 1]).astype(dtype)
    b = a[::-1].copy()
    found = xp.jit(lambda x, y: xp.astype(xp.where(x < y, x, y), xp.float64) * 2)(xp.asarray(a), xp.asarray(b))
    check(found, np.where(a < b, a, b).astype("float64") * 2)
    casts = [] if dtype == "float64" else ["astype"]
    assert kernels == [["less", "where", *casts, "multiply"]]


def softmax(x: Any) -> Any:
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True)) * 2
    return e / xp.sum(e, axis=-1, keepdims=True)


def updated(x: Any) -> Any:
    x += 1
    x *= 2
    return x


def squared(x: Any) -> Any:
    y = xp.exp(x)
    return y * y + y


def written(x: Any) -> Any:
    y = x * 2 + 1
    y[0] = 5
    return y


def numpys_softmax(a: Any) -> Any:
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


A, COLUMN, ROW = np.arange(12.0).reshape(3, 4), np.asarray([[1.0], [2.0], [3.0]]), np.asarray([0.0, 1.0, 2.0, 3.0])
FEW, WIDE = np.asarray([0.1, 0.2], "float32"), np.asarray([0.1, 0.3])
with np.errstate(all="ignore"):
    CHAINS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any, list[list[str]]]] = {
        **{
            f"one kernel, {dtype}": (
                lambda x: 1 / (1 + xp.exp(-x)), (X.astype(dtype),), 1 / (1 + np.exp(-X.astype(dtype))),
                [["negative", "exp", "add", "divide"]],
            )
            for dtype in FLOATS
        },
        "truth values": (
            lambda x: xp.logical_xor(xp.logical_not((x > 0) & (x < 3)), xp.logical_or(x == 2, x == 0)), (ROW,),
            np.asarray([False, False, True, True]),
            [["logical_not", "equal", "equal", "logical_or", "logical_xor"]],
        ),
        "promotion": (lambda x, y: (x + y) * x, (FEW, WIDE), (FEW + WIDE) * FEW, [["add", "multiply"]]),
        "what needs values divides a chain": (softmax, (A,), numpys_softmax(A), [["subtract", "exp", "multiply"]]),
        "what is smaller is computed once": (
            lambda x, y: (xp.exp(y) * 2 + x) * x, (A, COLUMN), (np.exp(COLUMN) * 2 + A) * A,
            [["exp", "multiply"], ["add", "multiply"]],
        ),
        "shared results are computed once": (squared, (np.zeros(2),), np.full(2, 2.0), [["exp", "multiply", "add"]]),
        **{
            f"the shape {shape}": (lambda x: xp.exp(x) + 1, (np.zeros(shape),), np.full(shape, 2.0), [["exp", "add"]])
            for shape in [(0,), (), (2, 0, 3), (1, 1)]
        },
        "what is not contiguous": (
            lambda x: (x + 1) * 2, (A.T[::2],), (A.T[::2] + 1) * 2, [["add", "multiply"]]
        ),
        "an update in place": (updated, (ROW,), (ROW + 1) * 2, [["add", "multiply"]]),
        "a function that writes": (written, (ROW,), np.asarray([5.0, 3, 5, 7]), [["multiply", "add"]]),
        "a batch": (
            xp.vmap(lambda x: xp.tanh(x) * 2 + 1), (A,), np.tanh(A) * 2 + 1, [["tanh", "multiply", "add"]]
        ),
        "one call alone": (xp.exp, (np.zeros(2),), np.ones(2), []),
        **{
            f"no kernel computes {dtype}": (lambda x: (x * x + x) * x, (a,), (a * a + a) * a, [])
            for dtype in ("float16", "int32", "complex64")
            for a in [np.asarray([1, 2, 3], dtype)]
        },
    }  # fmt: skip
"""Functions, arrays, NumPy's values, and the functions in each kernel."""


@pytest.mark.parametrize("chain", CHAINS)
def test_a_chain_is_computed_by_few_kernels(chain: str, kernels: list[list[str]]) -> None:
    function, arrays, expected, of_kernels = CHAINS[chain]
    compiled, given = xp.jit(function), [xp.asarray(a) for a in arrays]
    for _ in range(2):
        check(compiled(*given), expected)
    assert kernels == of_kernels * 2
    for x, a in zip(given, arrays, strict=True):
        np.testing.assert_array_equal(np.asarray(x), a)


def test_a_compiled_function_is_mapped(kernels: list[list[str]]) -> None:
    assert xp.vmap(xp.jit(lambda x: xp.sum(x * 2 + 1)))(xp.asarray(A)).tolist() == (A * 2 + 1).sum(1).tolist()


def test_several_results_are_one_kernel(kernels: list[list[str]]) -> None:
    @xp.jit
    def f(x: Any, y: Any) -> Any:
        s = x * y + 2
        return {"root": xp.sqrt(s), "pair": (s > 3, s, x), "n": 3}

    found = f(xp.asarray([1.0, 2.0]), xp.asarray([3.0, 0.5]))
    assert found["root"].tolist() == [5**0.5, 3**0.5]
    assert [one.tolist() for one in found["pair"]] == [[True, False], [5, 3], [1, 2]]
    assert found["n"] == 3
    assert all(one.device == xp.device("cupy") for one in (found["root"], *found["pair"]))
    assert [sorted(one) for one in kernels] == [["add", "greater", "multiply", "sqrt"]]


def test_values_are_not_kept_from_call_to_call(kernels: list[list[str]]) -> None:
    f = xp.jit(lambda x, y: (xp.exp(y) + x) * x)
    a = np.arange(6.0).reshape(3, 2)
    for b in (np.asarray([[1.0], [2.0], [3.0]]), np.zeros((3, 1)), a):
        np.testing.assert_allclose(np.asarray(f(xp.asarray(a), xp.asarray(b))), (np.exp(b) + a) * a, rtol=1e-12)


def test_a_function_that_one_kernel_computes_runs_once_for_shapes_and_dtypes(kernels: list[list[str]]) -> None:
    runs: list[Any] = []

    @xp.jit
    def f(x: Any, y: Any, factor: float = 2.0) -> Any:
        runs.append(x.shape)
        return (x - y) * factor

    for _ in range(2):
        for a in (np.arange(3.0), np.arange(4.0), np.arange(3.0, dtype="float32"), np.arange(3.0)):
            x = xp.asarray(a)
            check(f(x, x), a * 0)
            check(f(x, x[0]), a * 2)
            check(f(x, y=x * 2), (a - a * 2) * 2)
            check(f(x, x * 2, 3.0), (a - a * 2) * 3)
    assert len(runs) == 3 * 3  # Arrays, one without axes, a constant
    assert len(kernels) == 8 * 4


def test_default_dtypes_are_part_of_what_is_kept(kernels: list[list[str]]) -> None:
    f = xp.jit(lambda x: xp.astype(x > 0, None or xp.float32) * 1.5 + 1)
    x = xp.ones(2)
    assert f(x).dtype == xp.float32
    with xp.default_dtypes(float=xp.float32):
        assert f(x).tolist() == [2.5, 2.5]


def test_a_kernel_has_a_bound(kernels: list[list[str]]) -> None:
    def f(x: Any) -> Any:
        for _ in range(3 * MOST):
            x = x + 1
        return x

    assert xp.jit(f)(xp.zeros(3)).tolist() == [3 * MOST] * 3
    assert all(len(one) <= MOST for one in kernels)
    assert sum(map(len, kernels)) == 3 * MOST


def test_a_function_that_asks_for_values_is_computed_in_parts(kernels: list[list[str]]) -> None:
    @xp.jit
    def f(x: Any) -> Any:
        return x * 2 + 1 if float(x[0]) > 0 else x - 1

    for value in (1.0, -1.0, 2.0):
        assert f(xp.asarray([value])).tolist() == [value * 2 + 1 if value > 0 else value - 1]
    assert kernels == [["multiply", "add"]] * 2


def test_a_write_outside_does_not_reach_what_is_still_to_be_computed(kernels: list[list[str]]) -> None:
    whole = xp.asarray([1.0, 2.0, 3.0])
    part, other = whole[1:], xp.asarray([10.0, 20.0])

    @xp.jit
    def f(x: Any) -> Any:
        y = x * 2 + other
        whole[1] = 100
        other[0] = 100
        return y + 1

    assert f(part).tolist() == [15, 27]
    assert whole.tolist() == [1, 100, 3]
    assert part.tolist() == [100, 3]


def test_an_error_is_that_of_the_function(kernels: list[list[str]]) -> None:
    f = xp.jit(lambda x, y: (x + 1) * y)
    with pytest.raises(ValueError, match=r"^multiply: "):
        f(xp.zeros(3), xp.zeros(2))
    assert f(xp.zeros(3), xp.ones(3)).tolist() == [1, 1, 1]
    assert kernels == [["add", "multiply"]]
    with pytest.raises(ZeroDivisionError):
        xp.jit(lambda x: x * 2 + 1 / 0)(xp.zeros(3))


def test_a_kernel_that_fails_leaves_the_work_to_the_function(
    kernels: list[list[str]], module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("nvrtc: error")

    monkeypatch.setattr(module, "fused", fails)
    assert xp.jit(lambda x: x * 2 + 1)(xp.ones(2)).tolist() == [3, 3]


def test_an_array_that_is_kept_is_of_no_use_outside(kernels: list[list[str]]) -> None:
    kept: list[xp.Array] = []

    @xp.jit
    def f(x: Any) -> Any:
        y = x * 2 + 1
        kept.append(y * 3)
        return y

    f(xp.ones(2))
    with pytest.raises(xp.TraceError):
        kept[0] + 1


def test_a_home_that_is_closed_gives_no_values(kernels: list[list[str]]) -> None:
    home = Tracing(xp.device("cupy").free)
    x = home.given(home.below.zeros((2,), dtype=np.dtype("float64"), device=0))
    with pytest.raises(xp.TraceError):
        home.exp(x)
