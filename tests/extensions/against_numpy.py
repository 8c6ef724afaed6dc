"""Calls of functions beyond the standard, compared with NumPy's.

A `Case` is a call with ndarrays among its arguments. `assert_as_in_numpy` makes it on the chosen backend and compares
values, dtypes and shapes; the others make it inside a transform and compare with the call outside, on NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from comparison import assert_same, host

import anyarray as xp


class Case:
    """A function's name, and arguments with ndarrays among them."""

    def __init__(self, function: str, *args: Any, looser: float = 1.0, since: str = "2.1.0", **kwargs: Any) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.looser = looser
        """Multiplies the tolerance of floating-point results."""
        self.since = since
        """The version of NumPy from which on it gives this."""

    def __repr__(self) -> str:
        """The name of the test."""
        shown = [_shown(one) for one in self.args] + [f"{k}={_shown(v)}" for k, v in self.kwargs.items()]
        return f"{self.function}({', '.join(shown)})"

    @property
    def arrays(self) -> list[Any]:
        """The ndarrays among the arguments, in order."""
        found: list[Any] = []
        _mapped((self.args, self.kwargs), lambda a: found.append(a))
        return found

    def call(self, namespace: Any, arrays: list[Any]) -> Any:
        """The call with these arrays in the place of its own."""
        left = list(arrays)
        args, kwargs = _mapped((self.args, self.kwargs), lambda _: left.pop(0))
        function = namespace
        for part in self.function.split("."):
            function = getattr(function, part)
        return function(*args, **kwargs)


def _shown(one: Any) -> str:
    if isinstance(one, np.ndarray):
        return f"{one.dtype.name}{list(one.shape)}"
    if isinstance(one, list):
        return f"[{', '.join(map(_shown, one))}]"
    return getattr(one, "__name__", str(one))  # processes that share tests name them alike


def _mapped(value: Any, of_array: Callable[[Any], Any]) -> Any:
    """Nested values with another in the place of each ndarray."""
    if isinstance(value, np.ndarray):
        return of_array(value)
    if isinstance(value, dict):
        return {key: _mapped(one, of_array) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(one, of_array) for one in value)
    return value


def parts(result: Any) -> list[Any]:
    """The arrays of a result."""
    if isinstance(result, (list, tuple)):
        return [part for one in result for part in parts(one)]
    return [result]


def assert_as_in_numpy(case: Case) -> None:
    if np.lib.NumpyVersion(np.__version__) < case.since:
        return
    expected = case.call(np, case.arrays)
    assert_parts_same(case.call(xp, [xp.asarray(a) for a in case.arrays]), expected, case.looser)


def assert_parts_same(got: Any, expected: Any, looser: float = 1.0) -> None:
    found, wanted = parts(got), parts(expected)
    assert len(found) == len(wanted)
    for one, its in zip(found, wanted, strict=True):
        assert isinstance(one, xp.Array), type(one)
        assert_same(one, its if isinstance(its, xp.Array) else np.asarray(its), looser=looser)


def _in_numpy(case: Case, arrays: list[Any]) -> list[Any]:
    """The parts of the result on NumPy."""
    with xp.backend("numpy"):
        return parts(case.call(xp, [xp.asarray(a) for a in arrays]))


def assert_same_in_jit(case: Case) -> None:
    compiled = xp.jit(lambda *traced: tuple(parts(case.call(xp, list(traced)))))
    assert_parts_same(compiled(*map(xp.asarray, case.arrays)), _in_numpy(case, case.arrays), case.looser)


def assert_same_in_vmap(case: Case, jit: Callable[[Any], Any]) -> None:
    """Over two elements, the arguments and these in reverse order."""
    stacks = [np.stack([a, np.flip(a)]) for a in case.arrays]
    mapped = jit(xp.vmap(lambda *each: tuple(parts(case.call(xp, list(each))))))
    single = [_in_numpy(case, [stack[i, ...] for stack in stacks]) for i in range(2)]
    expected = [np.stack([np.asarray(one) for one in pair]) for pair in zip(*single, strict=True)]
    assert_parts_same(mapped(*map(xp.asarray, stacks)), expected, case.looser)


def assert_gradient_right(case: Case, jit: Callable[[Any], Any], step: float = 1e-6) -> None:
    """Of the sum of the first result by the first array, which is of float64.

    It is compared with central differences on NumPy.
    """
    first, *others = case.arrays

    def loss(x: Any, *rest: Any) -> Any:
        part = parts(case.call(xp, [x, *rest]))[0]
        weights = xp.reshape(xp.arange(1.0, part.size + 1.0), part.shape)
        return xp.sum(part * weights)

    gradient = host(jit(xp.grad(loss))(*map(xp.asarray, case.arrays)))
    differences = np.zeros_like(first)
    with xp.backend("numpy"):
        rest = [xp.asarray(a) for a in others]
        for at in np.ndindex(first.shape):
            moved = np.zeros_like(first)
            moved[at] = step
            ends = [float(loss(xp.asarray(first + sign * moved), *rest)) for sign in (1, -1)]
            differences[at] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(gradient, differences, rtol=1e-4, atol=1e-6)
