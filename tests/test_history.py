"""The history of benchmarks, and the page that is made of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import _content  # docs/_content.py
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program that keeps the history, which is no part of the package."""
    monkeypatch.syspath_prepend(str(ROOT))
    return pytest.importorskip("benchmarks.history")


def told(version: str, seconds: float) -> dict[str, Any]:
    """What `anyarray bench --json` writes."""
    measurements = [
        {"experiment": "sort", "size": size, "contestant": "numpy", "seconds": seconds * size} for size in (10, 1000)
    ]
    return {
        "anyarray": version, "machine": "m", "dtype": "float32", "quick": True, "layer_seconds": {"sort": 1.2345e-7},
        "backends": [{"name": "numpy", "version": "2.4"}], "measurements": measurements,
    }  # fmt: skip


def test_the_largest_size_of_an_experiment_is_kept(history: Any) -> None:
    kept = history.entry(told("1.0", 1.23456e-6))
    assert kept["seconds"] == {"sort, 1,000 elements": {"numpy": 0.00123}}
    assert kept["layer_seconds"] == {"sort": 1.2e-7}


def test_a_run_replaces_one_of_the_same_circumstances_alone(
    history: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, run = tmp_path / "history.json", tmp_path / "run.json"
    for version, seconds in (("1.0", 1e-6), ("1.1", 2e-6), ("1.0", 3e-6)):
        run.write_text(json.dumps(told(version, seconds)))
        monkeypatch.setattr(sys, "argv", ["history", str(run), "--history", str(file)])
        history.main()
    kept = json.loads(file.read_text())
    assert [(one["anyarray"], one["seconds"]["sort, 1,000 elements"]["numpy"]) for one in kept] == [
        ("1.1", 0.002), ("1.0", 0.003)
    ]  # fmt: skip


def test_the_page_has_a_table_for_each_run() -> None:
    runs = json.loads((ROOT / "docs" / "benchmarks.json").read_text())
    page = _content.benchmarks_tables()
    assert page.count("\n| experiment | ") == len(runs)
    for run in runs:
        assert run["machine"] in page
        assert all(f"| {experiment} | " in page for experiment in run["seconds"])
