"""What `xp.jit` makes on CuPy has the values of the calls one by one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_sharing_on_a_gpu import GPUS

import anyarray as xp

if "cupy" not in GPUS:
    pytest.skip("CuPy is missing, or finds no GPU", allow_module_level=True)
fusing: Any = importlib.import_module("anyarray.backends.cupy._fusing")

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sigmoid": lambda x, y: 1 / (1 + xp.exp(-x)),
    "product and sum": lambda x, y: x * y + x * x - y / 3,
    "gelu": lambda x, y: 0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x**3))),
    "choice": lambda x, y: xp.where(x < y, xp.sqrt(xp.abs(x)) * 2, xp.maximum(x, y) - 1),
    "softmax": lambda x, y: xp.exp(x - xp.max(x)) / xp.sum(xp.exp(x - xp.max(x))),
    "powers": lambda x, y: xp.abs(x) ** 1.5 + y**2,
    "several": lambda x, y: (x + y * 2, {"less": (x < y) & (x > 0), "cast": xp.astype(x > y, xp.float32) * 2}),
}


EXACT = {"choice", "product and sum", "several"}
"""Programs whose operations round alike everywhere."""


def same(found: Any, expected: Any, is_exact: bool = False) -> None:
    if isinstance(expected, xp.Array):
        assert found.dtype == expected.dtype
        # Some units in the last place, where the compiler of each kernel has its own exponential.
        rtol = 0.0 if is_exact else 1e-5 if expected.dtype == xp.float32 else 1e-13
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=rtol, atol=rtol / 10)
    elif isinstance(expected, dict):
        for key in expected:
            same(found[key], expected[key], is_exact)
    else:
        for one, other in zip(found, expected, strict=True):
            same(one, other, is_exact)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("program", sorted(FUNCTIONS))
def test_a_compiled_function_has_the_values_of_its_calls(program: str, dtype: str) -> None:
    f = FUNCTIONS[program]
    compiled = xp.jit(f)
    with xp.backend("cupy"):
        for shape in ((1000,), (300, 7), (1,), (0,) if program != "softmax" else (2,)):
            x, y = (xp.asarray(a.astype(dtype)) for a in np.random.default_rng(0).standard_normal((2, *shape)))
            for _ in range(2):
                same(compiled(x, y), f(x, y), program in EXACT)
        if x.size and x.ndim == 2:
            same(compiled(x.T, y.T), f(x.T, y.T), program in EXACT)


NAMES = sorted(fusing._OF_FLOATS.keys() | fusing._TESTS.keys() | fusing._COMPARISONS.keys())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", NAMES)
def test_each_function_has_the_values_of_cupys_own(function: str, dtype: str) -> None:
    if not hasattr(xp, function):
        pytest.skip("no function of the standard")
    a = np.concatenate([np.linspace(-20, 20, 4001), [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-30, 1e30]]).astype(dtype)
    call = getattr(xp, function)
    with xp.backend("cupy"):
        x = xp.asarray(a)
        y = x[::-1]
        try:
            expected = call(-x)
            compiled = xp.jit(lambda x, y: call(-x))
        except TypeError:
            expected = call(-x, y)
            compiled = xp.jit(lambda x, y: call(-x, y))
        same(compiled(x, y), expected)
