"""The programs of the benchmark give the same numbers on every backend."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import anyarray as xp

pytest.importorskip("rich")

from benchmarks.programs import PROGRAMS


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_gives_what_it_gives_in_numpy(program: str, backend: xp.Backend) -> None:
    found = importlib.import_module(f"benchmarks.programs.{program}")
    arrays = found.inputs(np.random.default_rng(0))
    with xp.backend("numpy"):
        expected = found.run(*arrays)
    with xp.backend(backend):
        assert found.run(*arrays) == pytest.approx(expected, rel=1e-3)
