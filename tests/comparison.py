"""When two arrays count as the same: shape, dtype and values.

Booleans, integers and everything that is only moved must be equal. Floating-point results may differ by rounding, as
each library has its own kernels: the tolerances below are some tens of units in the last place, which every library
keeps for one operation on numbers of moderate size, and which no wrong formula does.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

RELATIVE: Final = {
    "float16": 2e-3,
    "bfloat16": 2e-2,
    "float32": 1e-5,
    "float64": 1e-12,
    "complex64": 1e-5,
    "complex128": 1e-12,
}
"""Tolerance relative to the expected value, by dtype."""

SMALLEST: Final = {"float16": 6.2e-5, "bfloat16": 1.2e-38, "float32": 1.2e-38, "complex64": 1.2e-38}
"""Smallest normal number: XLA and TensorFlow take what is below it for zero, which the standard allows."""


def host(x: Any) -> np.ndarray[Any, Any]:
    """The values of an array of any library."""
    if type(x).__module__.startswith("cupy"):
        return np.asarray(x.get())  # CuPy's arrays are not read in passing
    return np.asarray(x._array if type(x).__module__.startswith("array_api_strict") else x)


def assert_same(got: Any, expected: Any, *, looser: float = 1.0, zeros: bool = False, scaled: bool = False) -> None:
    """Assert equal shape, dtype and values, NaN equal to NaN.

    `looser` multiplies the tolerance, for algorithms of many operations. With `zeros`, zeros have the same sign. With
    `scaled`, the tolerance is relative to the largest element, as each element of a transform or a solution is a sum.
    """
    values = host(expected)
    assert got.shape == expected.shape
    assert str(got.dtype) == values.dtype.name
    if scaled and values.size and values.dtype.name in RELATIVE:
        difference = np.abs(host(got) - values).max()
        assert difference <= RELATIVE[values.dtype.name] * looser * max(1.0, float(np.abs(values).max()))
    else:
        assert_arrays_same(host(got), values, looser, zeros)


def assert_arrays_same(got: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], looser: float, zeros: bool) -> None:
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    name = expected.dtype.name
    if name not in RELATIVE:
        np.testing.assert_array_equal(got, expected)
        return
    if expected.dtype.kind == "c":
        # Part by part where a part is not finite; else by size, as each part of a product is a difference of products.
        finite = np.isfinite(expected)
        for part in (np.real, np.imag):
            assert_arrays_same(part(got[~finite]), part(expected[~finite]), looser, zeros=False)
            if zeros:
                assert_zeros_same(part(got), part(expected))
        got, expected = got[finite], expected[finite]
    if name == "bfloat16":
        got, expected = got.astype(np.float32), expected.astype(np.float32)
    smallest = SMALLEST.get(name, 2.3e-308)
    np.testing.assert_allclose(got, expected, rtol=RELATIVE[name] * looser, atol=smallest, equal_nan=True)
    if zeros and expected.dtype.kind == "f":
        assert_zeros_same(got, expected)


def assert_zeros_same(got: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    at_zero = (expected == 0) & (got == 0)
    np.testing.assert_array_equal(np.signbit(got[at_zero]), np.signbit(expected[at_zero]), "signs of zeros")


def each(parameters: str, values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, but one test over all values.

    It names each value that fails. For thousands of quick cases that need nothing set up for each.
    """
    names = parameters.replace(",", " ").split()

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def of_all(**others: Any) -> None:
            failed: list[tuple[Any, Exception]] = []
            for value in values:
                try:
                    test(**dict(zip(names, value if len(names) > 1 else (value,), strict=True)), **others)
                except Exception as error:  # noqa: BLE001 - the last is raised again
                    failed.append((value, error))
            if failed:
                said = "\n".join(f"{value}: {error}" for value, error in failed)
                raise AssertionError(f"fails for {len(failed)} values of {parameters}:\n{said}") from failed[-1][1]

        signature = inspect.signature(test)
        left = [p for p in signature.parameters.values() if p.name not in names]
        vars(of_all)["__signature__"] = signature.replace(parameters=left)
        return of_all

    return decorated
