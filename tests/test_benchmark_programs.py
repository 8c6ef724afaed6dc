"""The programs of the benchmark give the same numbers on every backend."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import anyarray as xp
from anyarray._choice import cost
from anyarray._choice.law import Law

pytest.importorskip("rich")

from benchmarks import injection
from benchmarks.programs import PROGRAMS


def check(program: str, backend: str) -> None:
    found = importlib.import_module(f"benchmarks.programs.{program}")
    arrays = found.inputs(np.random.default_rng(0))
    with xp.backend("numpy"):
        expected = found.run(*arrays)
    with xp.backend(backend):
        assert found.run(*arrays) == pytest.approx(expected, rel=1e-3)


@pytest.mark.few_backends
@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_gives_what_it_gives_in_numpy(program: str, framework: str) -> None:
    check(program, framework)


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_gives_on_dask_what_it_gives_in_numpy(program: str) -> None:
    pytest.importorskip("dask.array")
    check(program, "dask")


@pytest.mark.parametrize("of_numpy", [True, False])
def test_an_injected_profile_is_wrong_about_one_class_on_one_side(*, of_numpy: bool) -> None:
    costs = cost.Costs({"transcendental": Law(1.0), "sin": Law(2.0), "sum": Law(3.0)})
    found = injection.wrong(
        cost.Model({"numpy": costs, "sim": costs}, {}), "transcendental", of_numpy=of_numpy, factor=10.0
    )
    changed, same = ("numpy", "sim") if of_numpy else ("sim", "numpy")
    assert found.backends[changed].laws == {"transcendental": Law(10.0), "sin": Law(20.0), "sum": Law(3.0)}
    assert found.backends[same] is costs
