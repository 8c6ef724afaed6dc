"""Shortcuts of native functions give to the bit what these give.

They answer nothing that these refuse.
"""

from __future__ import annotations

import itertools
from typing import Any, Final, Literal

import numpy as np
import pytest

import anyarray as xp
from anyarray.backends import _fourier
from anyarray.backends import numpy as on_numpy
from anyarray.backends._shortcut import _CODES, FEW, shortcut

FUNCTIONS: Final = {
    name: one for module in (on_numpy, _fourier) for name, one in vars(module).items() if hasattr(one, "shortcut")
}
SHAPES: Final = ((), (0,), (1,), (5,), (70,), (900,), (3, 3), (2, 3), (3, 0), (2, 3, 3))
ODD: Final = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, 1.5, -2.0, 300.0]


def arrays(mask: int, shape: tuple[int, ...]) -> list[np.ndarray[Any, Any]]:
    """One of each dtype, with values that sort and round in odd ways."""
    rng = np.random.default_rng(len(shape))
    values = rng.choice(ODD, shape)
    codes = [code for code in "".join(_CODES.values()) if mask >> np.dtype(code).num & 1]
    found = [values.astype(code) for code in codes]
    usual = rng.standard_normal(shape) * 3
    found += [usual.astype(code) for code in codes if code in "fdFD"]
    if shape[-2:] == (3, 3):
        found += [np.broadcast_to(2 * np.eye(3, dtype=code), shape) for code in codes if code in "fdFD"]
    if not shape:
        found += [one[()] for one in found]  # scalars
    return [*found, *[one.T for one in found if one.ndim > 1]]


def outcome(function: Any, given: tuple[Any, ...]) -> Any:
    """The results to the bit; None if it raises."""
    try:
        found = function(*given)
    except Exception:  # noqa: BLE001 - that it does is what is compared
        return None
    parts = found if isinstance(found, tuple) else (found,)
    return [(type(one), one.dtype, one.shape, np.asarray(one).tobytes()) for one in parts]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("native_name", sorted(FUNCTIONS))
def test_a_shortcut_is_the_same(native_name: str) -> None:
    native = FUNCTIONS[native_name]
    shortcut, masks, axes, is_finite = native.shortcut
    compared = 0
    for shape in SHAPES:
        if len(shape) < axes:
            continue
        if native_name in ("take", "take_along_axis"):
            places = [np.asarray([0, -1, 7], dtype=code) for code in "bhilq"]
            choices = [arrays(masks[0], shape), [*places, places[0][:0], places[0].reshape(3, 1)]]
        else:
            choices = [arrays(mask, shape)[: 40 if len(masks) == 1 else 12] for mask in masks]
        for given in itertools.product(*choices):
            if is_finite and not np.isfinite(given[0]).all():
                continue
            found, expected = outcome(shortcut, given), outcome(native, given)
            assert found is None or found == expected, [(one.dtype, one.shape) for one in given]
            compared += found is not None
    assert compared > 5


def test_shortcuts_are_said_of_what_takes_long_without() -> None:
    assert {"less", "logical_and", "sort", "take", "where", "fft", "trace", "unique_all"} <= FUNCTIONS.keys()
    assert max(np.prod(shape) for shape in SHAPES) < FEW


SINGULAR: Final = np.asarray([[1.0, 2.0], [2.0, 4.0]])
INDEFINITE: Final = np.asarray([[1.0, 2.0], [2.0, 1.0]])


@pytest.mark.parametrize("how", ["ignore", "warn", "raise"])
@pytest.mark.parametrize(
    ("function", "given"), [("inv", (SINGULAR,)), ("solve", (SINGULAR, np.ones(2))), ("cholesky", (INDEFINITE,))]
)
def test_what_has_no_solution_is_numpys_error_whatever_the_error_state(
    function: str, given: tuple[Any, ...], how: Literal["ignore", "warn", "raise"]
) -> None:
    with xp.backend("numpy"), np.errstate(all=how):
        state = np.geterr()
        with pytest.raises(xp.LinAlgError):
            getattr(xp.linalg, function)(*map(xp.asarray, given))
        assert np.geterr() == state


def test_where_there_is_no_shortcut_the_function_stands_as_it_is() -> None:
    def function(x: Any) -> Any:
        return x

    assert not hasattr(shortcut(None, "f")(function), "shortcut")
