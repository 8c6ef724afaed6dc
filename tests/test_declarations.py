"""Every declared function has its documentation, and a native function on every backend."""

from __future__ import annotations

import inspect
import linecache
import operator
import re
import traceback
from typing import Any

import pytest
from test_signatures import STANDARD, named

import anyarray as xp
from anyarray import _backend, _dispatch

FUNCTIONS = [name for name in STANDARD if inspect.isfunction(named(xp, name))]
NATIVE = sorted(
    {*_backend._DEFAULT_HOOKS, *(name.rpartition(".")[2] for name in FUNCTIONS)}.intersection(_backend.declared)
)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_docstring_starts_with_one_short_line(function: str) -> None:
    first, *rest = (named(xp, function).__doc__ or "").splitlines()
    assert 0 < len(first) < 100
    assert not rest or rest[0] == "" or first.endswith((".", ",", "on")), first


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_docstring_has_an_example(function: str) -> None:
    assert ">>> import anyarray as xp" in named(xp, function).__doc__


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_docstring_names_its_source_in_the_standard(function: str) -> None:
    name = function.rpartition(".")[2]
    source = rf"Source: array API 2025\.12, ([a-z_]+\.{name}|inspection)\."
    assert re.search(source, named(xp, function).__doc__)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_is_annotated(function: str) -> None:
    signature = inspect.signature(named(xp, function))
    assert signature.return_annotation is not inspect.Signature.empty
    assert not [p.name for p in signature.parameters.values() if p.annotation is p.empty]


@pytest.mark.parametrize("native", NATIVE)
def test_a_backend_has_every_declared_function(native: str, backend: xp.Backend) -> None:
    assert callable(getattr(backend.free, native))


def test_a_function_that_a_backend_lacks_says_so(backend: xp.Backend) -> None:
    with pytest.raises(xp.UnsupportedError) as caught:
        backend.function("no_such_function")
    assert str(caught.value) == f"no_such_function is not implemented on {backend}"


def test_the_source_of_a_generated_body_is_there_for_debuggers() -> None:
    file = xp.exp.__code__.co_filename
    assert "exp(x_)" in "".join(linecache.getlines(file))


@pytest.mark.usefixtures("backend")
def test_a_traceback_shows_the_generated_line() -> None:
    def failing() -> Any:
        return xp.ones(2) + xp.ones(3)

    try:
        failing()
    except ValueError as error:
        shown = "".join(traceback.format_exception(error))
    assert "native = add(" in shown


def test_every_operator_has_got_the_body_of_its_function() -> None:
    assert not _dispatch._waiting
    assert xp.Array.__rsub__.__code__.co_filename == "<anyarray Array.__rsub__>"


@pytest.mark.usefixtures("backend")
def test_an_operator_takes_the_dtypes_of_its_function() -> None:
    flags = xp.asarray([True, True])
    assert (flags / flags).dtype == xp.divide(flags, flags).dtype == xp.float64
    for divide in (operator.truediv, xp.divide):
        with pytest.raises(ValueError, match=r"^divide: x1 of shape \(2,\) and x2 of shape \(3,\) do not broadcast$"):
            divide(flags, xp.asarray([True, True, False]))
