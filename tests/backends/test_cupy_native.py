"""What can be said of CuPy's backend without a GPU."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest

import anyarray as xp
from anyarray._registry import home

pytest.importorskip("cupy")
functions: Any = importlib.import_module("anyarray.backends.cupy")


def standard(name: str) -> Any:
    """The function of the standard that has the name, or None."""
    found = (getattr(chapter, name, None) for chapter in (xp, xp.linalg, xp.fft))
    return next((one for one in found if callable(one)), None)


HOOKS = {"from_dlpack"}
"""Named as functions of the standard, but given something else."""

OWN = [
    name
    for name in home.declared
    if name not in HOOKS and callable(vars(functions).get(name)) and standard(name) is not None
]


@pytest.mark.parametrize("function", OWN)
def test_a_function_takes_what_the_contract_gives_it(function: str) -> None:
    declared = inspect.signature(standard(function)).parameters.values()
    by_position = [one.name for one in declared if one.kind not in (one.KEYWORD_ONLY, one.VAR_KEYWORD)]
    by_keyword = {one.name: None for one in declared if one.kind is one.KEYWORD_ONLY}
    inspect.signature(getattr(functions, function)).bind(*by_position, **by_keyword)
