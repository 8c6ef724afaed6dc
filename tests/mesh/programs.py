"""Programs of the benchmark on a mesh of two devices; test_mesh runs it."""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path

import numpy as np

import anyarray as xp

sys.path.append(str(Path(__file__).parents[2]))
from benchmarks.programs import PROGRAMS

MESH = xp.mesh("jax", rows=2)
OTHER = MESH.split(1)

# Calls that need all devices, of which many could be under way at once: on a CPU XLA may then end the process.
with xp.backend(MESH):
    x = xp.asarray(np.random.default_rng(0).normal(size=(20_000, 16, 8)))
    totals = [xp.sum((xp.permute_dims(x, (1, 0, 2)) @ xp.ones((8, 2))).to_device(OTHER)) for _ in range(40)]
    assert xp.all(xp.stack(totals) == totals[0])

for name in PROGRAMS if sys.argv[1] == "every" else sys.argv[1:]:
    program = importlib.import_module(f"benchmarks.programs.{name}")
    arrays = program.inputs(np.random.default_rng(0))
    with xp.backend("numpy"):
        expected = program.run(*arrays)
    with xp.backend(MESH):
        found = program.run(*arrays)
    assert math.isclose(found, expected, rel_tol=1e-3), f"{name}: {found}, not {expected}"
print("done")
