"""Functions that are pickled by value.

So cloudpickle, joblib and Dask do with those that no module has by name.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import anyarray as xp

pytestmark = pytest.mark.few_backends

cloudpickle = pytest.importorskip("cloudpickle")

MADE: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "jit": xp.jit,
    "jit of static arguments": xp.jit(static_argnames="factor"),
    "jit of vmap": lambda f: xp.jit(xp.vmap(f)),
    "portable": xp.portable,
    "vmap": xp.vmap,
}


def sent(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as another process gets it."""
    found: Callable[..., Any] = pickle.loads(cloudpickle.dumps(function))
    return found


@pytest.mark.parametrize("made", MADE)
def test_a_function_that_was_made_and_called_goes_to_another_process(made: str, backend: xp.Backend) -> None:
    function = MADE[made](lambda x, factor=3.0: x * factor)
    x = xp.asarray([1.0, 2.0])
    for _ in range(3):
        function(x)
    again = sent(function)
    assert again is not function
    assert [again(x).tolist() for _ in range(3)] == [[3.0, 6.0]] * 3


def test_a_derivative_goes_to_another_process(differentiating: xp.Backend) -> None:
    x = xp.asarray([1.0, 2.0], device=differentiating)
    function = xp.jit(xp.grad(lambda x: xp.sum(x**2)))
    assert function(x).tolist() == sent(function)(x).tolist() == [2.0, 4.0]


def test_a_compiled_function_that_calls_itself_goes_to_another_process(backend: xp.Backend) -> None:
    scope: dict[str, Any] = {"xp": xp}
    exec("@xp.jit\ndef power(x, n=2):\n    return x if n == 0 else x * power(x, n - 1)", scope)
    x = xp.asarray([1.0, 2.0])
    for one in (scope["power"], scope["power"].__wrapped__):
        assert sent(one)(x).tolist() == [1.0, 8.0]
