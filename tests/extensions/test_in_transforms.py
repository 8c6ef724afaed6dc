"""Functions beyond the standard give NumPy's values, and do in transforms.

The calls stand in the files of their subjects: CASES, TRANSFORMED for `jit`, MAPPED for `vmap` where some cannot be
mapped, SMOOTH for derivatives, WRONG for what is refused, and DROP_IN for `anyarray.numpy`.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from against_numpy import (
    Case,
    assert_as_in_numpy,
    assert_gradient_right,
    assert_parts_same,
    assert_same_in_jit,
    assert_same_in_vmap,
    parts,
)  # fmt: skip
from comparison import each

import anyarray as xp
import anyarray.numpy

_NAMES: Final = (
    "calculus correlation creation elementwise histograms linalg manipulation partitions polynomials products "
    "selection sets statistics"
)
SUBJECTS: Final = {name: importlib.import_module(f"test_{name}") for name in _NAMES.split()}


def called(case: Case) -> str:
    return case.function


def table(subject: str, *names: str) -> Any:
    """The first of these tables that the subject has."""
    return next((vars(SUBJECTS[subject])[one] for one in names if one in vars(SUBJECTS[subject])), ())


def marks(subject: str) -> Any:
    return vars(SUBJECTS[subject]).get("pytestmark", ())


def of_calls(*names: str) -> Any:
    """Parametrizes a test by the calls in a table of all subjects."""
    rows = [pytest.param(case, id=repr(case), marks=marks(one)) for one in SUBJECTS for case in table(one, *names)]
    return pytest.mark.parametrize("case", rows)


CALLS: Final = [
    pytest.param(list(cases), id=function, marks=marks(subject))
    for subject in SUBJECTS
    for function, cases in itertools.groupby(sorted(table(subject, "CASES"), key=called), called)
]


@pytest.mark.few_backends
@pytest.mark.parametrize("cases", CALLS)
def test_calls_give_what_numpy_gives(cases: list[Case], backend: xp.Backend, jits: list[Any]) -> None:
    for case in cases[:: 3 if len(jits) == 1 else 1]:
        try:
            assert_as_in_numpy(case)
        except Exception as error:
            error.add_note(f"in {case}")
            raise


MAPPED: Final = {repr(case) for subject in SUBJECTS for case in table(subject, "MAPPED", "TRANSFORMED")}


@pytest.mark.few_backends
@of_calls("TRANSFORMED")
def test_jit_gives_the_same(case: Case, backend: xp.Backend, jits: list[Any]) -> None:
    """And `vmap` gives what a loop does; on JAX both are compiled at once."""
    if len(jits) > 1 or repr(case) not in MAPPED:
        assert_same_in_jit(case)
    if repr(case) in MAPPED:
        assert_same_in_vmap(case, jits[0])


@pytest.mark.few_backends
@pytest.mark.sampled
@of_calls("SMOOTH")
def test_derivatives_are_the_slopes(case: Case, differentiating: xp.Backend, jits: list[Any]) -> None:
    assert_gradient_right(case, jits[0])


@each("subject", SUBJECTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("backend")
def test_what_is_wrong_is_named(subject: str) -> None:
    for call, error, said in table(subject, "WRONG"):
        given = call.arrays if isinstance(call, Case) else vars(SUBJECTS[subject]).get("GIVEN", 0)
        with pytest.raises(error) as caught:
            call.call(xp, list(map(xp.asarray, given))) if isinstance(call, Case) else call(xp.asarray(given))
        assert said in str(caught.value), call


@pytest.mark.few_backends
@each("subject", SUBJECTS)
@pytest.mark.usefixtures("backend")
def test_the_drop_in_takes_what_numpy_takes(subject: str) -> None:
    """Lists, that is, and arguments by NumPy's names."""
    for expression in str(table(subject, "DROP_IN") or "").split("\n")[1:-1]:
        evaluated: Callable[[Any], Any] = eval(f"lambda np, m: {expression}")
        found, expected = (evaluated(one, one.array([[1, 2, 3], [4, 5, 6]])) for one in (anyarray.numpy, np))
        arrays = [one if isinstance(one, xp.Array) else xp.asarray(one) for one in parts(found)]
        assert_parts_same(arrays, expected)
