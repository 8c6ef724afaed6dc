"""Values and errors at the edges, the same on every backend."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest

import anyarray as xp


@pytest.mark.usefixtures("backend")
def test_a_divisor_with_a_nan_makes_nan() -> None:
    z = xp.asarray([complex(np.inf, np.nan), complex(np.nan, -np.inf)])
    with np.errstate(all="ignore"):
        assert xp.all(xp.isnan(xp.real(1 / z))) and xp.all(xp.isnan(xp.imag(xp.reciprocal(z))))


@pytest.mark.usefixtures("backend")
def test_a_length_below_minus_one_is_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        xp.reshape(xp.ones(6), (-2, 3))


REDUCTIONS: Final = "sum prod mean max min all any std var argmax argmin count_nonzero sort argsort".split()


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("function", REDUCTIONS)
@pytest.mark.usefixtures("backend")
def test_an_array_without_axes_has_no_axis_to_name(function: str, axis: int) -> None:
    x = xp.asarray(True if function in ("all", "any") else 1.0)
    with pytest.raises(xp.AxisError, match=f"{function}: axis {axis} is out of bounds"):
        getattr(xp, function)(x, axis=axis)


@pytest.mark.parametrize("function", ["sum", "prod", "max", "min", "all", "any", "count_nonzero"])
@pytest.mark.usefixtures("backend")
def test_no_axis_may_be_named(function: str) -> None:
    x = xp.asarray(True if function in ("all", "any") else 1.0)
    assert getattr(xp, function)(x, axis=()).shape == ()
