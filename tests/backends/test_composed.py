"""What a library lacks is composed of what it has, with the same values."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import array_api_strict
import numpy as np
import pytest

import anyarray as xp
from anyarray._registry import libraries, registry
from anyarray.backends._shared import composed

NAME = "bare"


class Bare:
    """array-api-strict without the functions that `_shared.composed` has."""

    def __getattr__(self, name: str) -> Any:
        if name in composed.__all__:
            raise AttributeError(name)
        return getattr(array_api_strict, name)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("bare_backend")
    module.namespace = Bare()  # type: ignore[attr-defined]  # a backend's module
    module.ARRAY_TYPES = (type(array_api_strict.asarray(0)),)  # type: ignore[attr-defined]  # a backend's module
    monkeypatch.setitem(sys.modules, "bare_backend", module)
    monkeypatch.setitem(
        libraries.LIBRARIES, NAME, libraries.Library(NAME, "bare_backend", "array_api_strict", ("cpu",))
    )
    with xp.backend(NAME):
        yield
    for kept in (registry._loaded, registry._backends):
        kept.pop(NAME, None)


M = [[3, 0, 1], [2, 5, 4]]


def with_other_parts(x: xp.Array) -> xp.Array:
    """Complex numbers whose parts were written, as views."""
    z = xp.astype(x, xp.complex128)
    xp.real(z)[0] = 7.0
    xp.imag(z)[...] = 2.0
    return z


CASES: dict[str, Any] = {
    "complex_of": with_other_parts,
    "count_nonzero": lambda x: xp.count_nonzero(x, axis=1),
    "diff": lambda x: xp.diff(x, axis=0, prepend=x[:1, :], append=x[-1:, :], n=2),
    "full_like": lambda x: xp.full_like(x, 7),
    "isin": lambda x: xp.isin(x, xp.asarray([1, 5])),
    "isin, inverted": lambda x: xp.isin(x, xp.asarray([1, 5]), invert=True),
    "isin nothing": lambda x: xp.isin(x, xp.asarray([], dtype=xp.int64)),
    "logaddexp": lambda x: xp.logaddexp(xp.astype(x, xp.float64), xp.asarray([1.0, -np.inf, 800.0])),
    "moveaxis": lambda x: xp.moveaxis(xp.reshape(x, (1, 2, 3)), (0, -1), (1, 0)),
    "ones_like": lambda x: xp.ones_like(x, dtype=xp.float32),
    "reciprocal": lambda x: xp.reciprocal(xp.astype(x + 1, xp.float64)),
    "square": lambda x: xp.square(x),
    "take_along_axis": lambda x: xp.take_along_axis(x, xp.asarray([[2, -1], [0, 0]]), axis=-1),
    "tile": lambda x: xp.tile(x, (2, 1, 2)),
    "tile to nothing": lambda x: xp.tile(x, (0,)),
    "unstack": lambda x: xp.stack(xp.unstack(x, axis=-1)),
    "vecdot": lambda x: xp.vecdot(xp.astype(x, xp.complex128) * 1j, xp.astype(x, xp.complex128)),
    "zeros_like": lambda x: xp.zeros_like(x),
}


@pytest.mark.usefixtures("bare")
def test_powers_are_powers_where_nothing_stands_for_them() -> None:
    x = xp.asarray([4, 9])
    assert (x**3).tolist() == [64, 729]
    assert (xp.astype(x, xp.float64) ** 0.5).tolist() == [2, 3]


def test_every_composed_function_has_a_case() -> None:
    assert {case.partition(",")[0].split(" ")[0] for case in CASES} == set(composed.__all__)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("bare")
def test_a_composed_function_gives_what_numpy_gives(case: str) -> None:
    got = CASES[case](xp.asarray(M))
    assert got.device.name == NAME
    with xp.backend("numpy"):
        expected = CASES[case](xp.asarray(M))
    # 2 units in the last place: log1p(exp(...)) rounds twice.
    np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=5e-16)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
