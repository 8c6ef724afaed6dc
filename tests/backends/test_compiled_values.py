"""Values inside `xp.jit` and `xp.vmap` where an optimiser, or what maps a function, would take another path."""

from __future__ import annotations

import pytest

import anyarray as xp


@pytest.mark.parametrize("function", ["argmax", "argmin"])
@pytest.mark.usefixtures("backend")
def test_a_compiler_may_drop_what_comes_of_a_position(function: str) -> None:
    # XLA crashed, and with it the process.
    x = xp.asarray([3, 1, 2], dtype=xp.int8)
    assert not xp.jit(lambda x: xp.isnan(getattr(xp, function)(x)))(x)
