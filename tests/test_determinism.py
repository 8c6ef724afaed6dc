"""Without learning decisions follow from program and profile alone."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import anyarray as xp
from anyarray import testing
from anyarray._choice import cost, machine
from anyarray._choice.law import Law

classes = "arithmetic", "transcendental", "sum", "matmul", "sort"
costs = {
    name: cost.Costs({kind: Law(launch, 1e4, 1.0) for kind in classes}, fused=Law(launch, 1e4, 1.0))
    for name, launch in (("numpy", 1e-3), ("sim", 1e-4), ("jax-cpu", 2e-4))
}
ways = {(a, b): cost.Route(Law(2e-3)) for a in costs for b in costs if a != b}
with testing.simulated():
    xp.device("sim")
    machine.use(cost.Model(costs, ways))
    with xp.explain() as why:
        for size in (100, 3_000, 40_000):
            x = xp.linspace(0, 1, size)
            for _ in range(12):
                y = xp.sin(x) + xp.cos(x) * x
                x = xp.sort(y) / (1 + xp.max(xp.abs(y)))
                total = float(xp.sum(x))
            square = xp.reshape(x[:100], (10, 10))
            for _ in range(12):
                square = xp.matmul(square, square)
    for one in why.decisions:
        print(one.function, one.shapes, one.home, one.reason, one.predicted, one.alone)
"""


def decisions(seed: int) -> list[str]:
    """What a fresh process with this seed of hashes decides."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "ANYARRAY_LEARN": "off"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_decisions_are_the_same_in_every_process() -> None:
    first, *others = (decisions(seed) for seed in range(3))
    assert any("moves from numpy" in line for line in first)
    assert any("stays on sim" in line for line in first)
    for other in others:
        assert other == first
