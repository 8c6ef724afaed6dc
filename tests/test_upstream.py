"""Counts of the tests of other projects.

`nox -s downstream` compares them.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parent / "upstream" / "run.py"


@pytest.fixture
def upstream() -> Any:
    """The program that runs them."""
    spec = importlib.util.spec_from_file_location("upstream_run", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_suite_has_counts_on_the_backends_of_a_cpu(upstream: Any) -> None:
    recorded = json.loads(upstream.COUNTS.read_text())
    assert list(recorded) == list(upstream.SUITES)
    for suite, on in recorded.items():
        assert {"numpy", "jax", "tf"} <= set(on), suite
        assert all(one["passed"] > len(one["failed"]) for one in on.values()), suite


@pytest.mark.parametrize(
    ("passed", "failed", "is_worse"),
    [(10, ["a::known"], False), (12, [], False), (9, ["a::known"], True), (11, ["a::known", "b::new"], True)],
)
def test_fewer_that_pass_and_failures_that_are_not_listed_are_errors(
    passed: int, failed: list[str], is_worse: bool, upstream: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = tmp_path / "counts.json"
    counts.write_text(json.dumps({"scipy": {"jax": {"passed": 10, "failed": ["a::known"]}}}))
    monkeypatch.setattr(upstream, "COUNTS", counts)
    monkeypatch.setattr(upstream, "outcomes", lambda suite, backend: {"passed": passed, "failed": failed})
    monkeypatch.setattr(sys, "argv", ["run.py", "jax", "--suites", "scipy"])
    assert bool(upstream.main()) == is_worse


def test_a_backend_without_counts_is_no_error(upstream: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "COUNTS", tmp_path / "none.json")
    monkeypatch.setattr(upstream, "outcomes", lambda suite, backend: {"passed": 1, "failed": ["a::b"]})
    monkeypatch.setattr(sys, "argv", ["run.py", "torch", "--suites", "scipy"])
    assert not upstream.main()
