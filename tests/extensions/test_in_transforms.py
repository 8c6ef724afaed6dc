"""Functions beyond the standard give NumPy's values, and do in transforms.

The calls stand in the files of their subjects: CASES, TRANSFORMED for `jit`, MAPPED for `vmap` where some cannot be
mapped, SMOOTH for derivatives.
"""

from __future__ import annotations

import importlib
import itertools
from typing import Any, Final

import pytest
from against_numpy import Case, assert_as_in_numpy, assert_gradient_right, assert_same_in_jit, assert_same_in_vmap

import anyarray as xp

pytestmark = pytest.mark.few_backends

_NAMES: Final = (
    "calculus correlation creation elementwise histograms linalg manipulation partitions polynomials products "
    "selection sets statistics"
)
SUBJECTS: Final = [importlib.import_module(f"test_{name}") for name in _NAMES.split()]


def called(case: Case) -> str:
    return case.function


def of_calls(*tables: str) -> Any:
    """A decorator that parametrizes a test by the calls of all subjects.

    They are in the first of these tables that the subject has.
    """
    calls = []
    for subject in SUBJECTS:
        found = next((vars(subject)[one] for one in tables if one in vars(subject)), [])
        calls += [pytest.param(case, id=repr(case), marks=vars(subject).get("pytestmark", ())) for case in found]
    return pytest.mark.parametrize("case", calls)


CALLS: Final = [
    pytest.param(list(cases), id=function, marks=vars(subject).get("pytestmark", ()))
    for subject in SUBJECTS
    for function, cases in itertools.groupby(sorted(vars(subject).get("CASES", ()), key=called), called)
]


@pytest.fixture
def is_slow(request: pytest.FixtureRequest) -> bool:
    """Whether the backend compiles each call, and not all cases run.

    What is compiled as a whole takes less then.
    """
    is_jax = "jax" in request.node.callspec.params.values()
    return is_jax and not request.config.getoption("--all-cases")


@pytest.mark.parametrize("cases", CALLS)
def test_calls_give_what_numpy_gives(cases: list[Case], backend: xp.Backend, is_slow: bool) -> None:
    for case in cases[:: 3 if is_slow else 1]:
        try:
            assert_as_in_numpy(case)
        except Exception as error:
            error.add_note(f"in {case}")
            raise


@of_calls("TRANSFORMED")
@pytest.mark.usefixtures("backend")
def test_jit_gives_the_same(case: Case) -> None:
    assert_same_in_jit(case)


@of_calls("MAPPED", "TRANSFORMED")
def test_vmap_gives_what_a_loop_does(case: Case, backend: xp.Backend, is_slow: bool) -> None:
    assert_same_in_vmap(case, is_compiled=is_slow)


@pytest.mark.sampled
@of_calls("SMOOTH")
def test_derivatives_are_the_slopes(case: Case, differentiating: xp.Backend, is_slow: bool) -> None:
    assert_gradient_right(case, is_compiled=is_slow)
