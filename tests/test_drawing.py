"""Which cases a run takes."""

from __future__ import annotations

from collections.abc import Callable

from drawing import other_of

OTHERS = ["jax", "tf", "torch"]


def test_a_case_has_one_backend_beside_numpy_by_its_own_name_and_the_draw() -> None:
    cases = [f"{i} of many-float{i}" for i in range(30)]
    chosen = [{other_of(f"tests/test_a.py::test_b[{one}-{case}]", one, OTHERS, "") for one in OTHERS} for case in cases]
    assert [len(backends) for backends in chosen] == [1] * 30
    assert set.union(*chosen) == set(OTHERS)
    drawn = [{other_of(f"tests/test_a.py::test_b[jax-{case}]", "jax", OTHERS, "2026-01-01")} for case in cases]
    assert drawn != chosen


def test_a_quarter_of_the_seeds_is_drawn(seeds: Callable[[int], range]) -> None:
    assert len(seeds(80)) in (20, 80)
    assert set(seeds(2000)) <= set(range(2000))
