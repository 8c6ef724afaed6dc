"""Options by position: those that NumPy's functions have at the same place."""

from __future__ import annotations

import inspect
import itertools
import re
from types import ModuleType
from typing import Any, Final

import numpy as np
import pytest
from comparison import each
from expressions import rows

import anyarray as xp
from anyarray import standard
from anyarray._call import by_position
from anyarray.standard import namespace

pytestmark = pytest.mark.few_backends

OURS: Final = {"rcond": "rtol"}
"""NumPy's name of an option whose meaning is that of ours."""
UNTOLD: Final = {"arange": ("dtype",)}
"""What NumPy's function takes by position, where its signature does not tell, before 2.4 or since."""
THEIRS: Final = {"cumulative_sum": "cumsum", "cumulative_prod": "cumprod"}
"""NumPy's older function of the same, which takes by position what the one of our name does not."""

FUNCTIONS: Final[dict[str, tuple[Any, Any]]] = {
    f"{prefix}{name}": (getattr(space, name), getattr(theirs, THEIRS.get(name, name), None))
    for space, declared, theirs, prefix in (
        (xp, namespace, np, ""),
        (xp.linalg, standard.linalg, np.linalg, "linalg."),
        (xp.fft, standard.fft, np.fft, "fft."),
    )
    for name in declared.__all__
    if callable(getattr(space, name))
    and not inspect.isclass(getattr(space, name))
    and getattr(space, name) is not getattr(xp if prefix else ModuleType(""), name, None)
}


def signature_of(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some of NumPy's functions in C
        return None


@each("function", FUNCTIONS)
def test_a_function_takes_by_position_what_numpy_has_there(function: str) -> None:
    one, theirs = FUNCTIONS[function]
    parameters = list(inspect.signature(one).parameters.values())
    options = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    found = by_position.OPTIONS.get(one.__name__, ())
    signature = signature_of(theirs)
    if signature is None or function in UNTOLD:
        assert found == UNTOLD.get(function, found)
        return
    places = [p.name for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    behind = [OURS.get(name, name) for name in places[len(parameters) - len(options) :]]
    assert found == tuple(itertools.takewhile(options.__contains__, behind))


CALLS: Final = """
xp.sum(x, 0) == xp.sum(x, axis=0)
xp.sum(x, 0, np.float32) == xp.sum(x, axis=0, dtype=xp.float32)
xp.sum(x, 0, keepdims=True) == xp.sum(x, axis=0, keepdims=True)
xp.argmax(x, 0) == xp.argmax(x, axis=0)
xp.std(x, 0, correction=1) == xp.std(x, axis=0, correction=1)
xp.roll(x, 1, 0) == xp.roll(x, 1, axis=0)
xp.concat([x, x], 1) == xp.concat([x, x], axis=1)
xp.diff(x, 2) == xp.diff(x, n=2)
xp.diff(x, 1, 0) == xp.diff(x, n=1, axis=0)
xp.zeros(3, np.float32) == xp.zeros(3, dtype=xp.float32)
xp.eye(2, 3, 1) == xp.eye(2, 3, k=1)
xp.arange(0, 6, 2, np.int8) == xp.arange(0, 6, 2, dtype=xp.int8)
xp.linspace(0, 1, 4, False) == xp.linspace(0, 1, 4, endpoint=False)
xp.asarray([1, 2], np.float32) == xp.asarray([1, 2], dtype=xp.float32)
xp.fft.fft(x, 2, 0) == xp.fft.fft(x, n=2, axis=0)
"""


@each("call", rows(CALLS))
def test_an_option_by_position_is_the_one_by_name(call: str, backend: xp.Backend) -> None:
    with xp.backend(backend):
        x = xp.asarray([[1.0, 4.0, 9.0, 16.0], [2.0, 3.0, 5.0, 7.0], [0.0, 1.0, 0.0, 1.0]])
        found, expected = (eval(one, {"xp": xp, "np": np, "x": x}) for one in call.split(" == "))
    assert (found.dtype, found.shape, found.device) == (expected.dtype, expected.shape, expected.device)
    assert found.tolist() == expected.tolist()


def test_second_differences_are_numpy_s(backend: xp.Backend) -> None:
    with xp.backend(backend):
        assert xp.diff(xp.asarray([1, 4, 9, 16]), 2).tolist() == np.diff([1, 4, 9, 16], 2).tolist() == [2, 2]


WRONG: Final = """
xp.sum(x, 0, np.float32, np.zeros(2)) -> sum: takes x, axis and dtype by position, not 4 arguments. Give the others by
 name: keepdims=.... Write to an array by out[...] = xp.sum(...)
xp.mean(x, 0, np.float32) -> mean: takes x and axis by position, not 3 arguments. Give the others by name: keepdims=...
xp.concat([x], 0, None) -> concat: takes arrays and axis by position, not 3 arguments
xp.zeros(2, int, "C") -> zeros: takes shape and dtype by position, not 3 arguments. Give the others by name: device=...
xp.sum(x, 0, axis=0) -> sum() got multiple values for argument 'axis'
"""


@each("row", rows(WRONG))
def test_more_by_position_is_an_error_that_says_what_to_write(row: str) -> None:
    call, sentence = row.split(" -> ")
    with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
        eval(call, {"xp": xp, "np": np, "x": xp.ones((2, 2))})


def test_numpy_s_names_lead_to_functions_that_take_options_by_position() -> None:
    assert THEIRS.keys() <= by_position.OPTIONS.keys()


def test_ddof_is_numpy_s_name_of_the_correction() -> None:
    x = xp.asarray([1.0, 2.0, 4.0, 9.0])
    for function in (xp.std, xp.var):
        assert function(x, ddof=1) == function(x, correction=1)  # type: ignore[call-arg]  # no signature shows it
        assert "ddof" not in inspect.signature(function).parameters
