"""Functions beyond the standard give NumPy's values, and do in transforms.

The calls stand in the files of their subjects: CASES, TRANSFORMED for `jit`, MAPPED for `vmap` where some cannot be
mapped, SMOOTH for derivatives.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

import pytest
from against_numpy import Case, assert_as_in_numpy, assert_gradient_right, assert_same_in_jit, assert_same_in_vmap

pytestmark = pytest.mark.few_backends

_NAMES: Final = (
    "calculus correlation creation elementwise histograms linalg manipulation partitions polynomials products "
    "selection sets statistics"
)
SUBJECTS: Final = [importlib.import_module(f"test_{name}") for name in _NAMES.split()]


def of_calls(*tables: str) -> Any:
    """A decorator that parametrizes a test by the calls of all subjects.

    They are in the first of these tables that the subject has.
    """
    calls = []
    for subject in SUBJECTS:
        found = next((vars(subject)[one] for one in tables if one in vars(subject)), [])
        calls += [pytest.param(case, id=repr(case), marks=vars(subject).get("pytestmark", ())) for case in found]
    return pytest.mark.parametrize("case", calls)


@of_calls("CASES")
@pytest.mark.usefixtures("backend")
def test_a_call_gives_what_numpy_gives(case: Case) -> None:
    assert_as_in_numpy(case)


@of_calls("TRANSFORMED")
@pytest.mark.usefixtures("backend")
def test_jit_gives_the_same(case: Case) -> None:
    assert_same_in_jit(case)


@of_calls("MAPPED", "TRANSFORMED")
@pytest.mark.usefixtures("backend")
def test_vmap_gives_what_a_loop_does(case: Case) -> None:
    assert_same_in_vmap(case)


@pytest.mark.sampled
@of_calls("SMOOTH")
@pytest.mark.usefixtures("differentiating")
def test_derivatives_are_the_slopes(case: Case) -> None:
    assert_gradient_right(case)
