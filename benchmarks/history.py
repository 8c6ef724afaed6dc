"""The history of `anyarray bench`, for the benchmark page of the site.

Run it by `python -m benchmarks.history FILE.json`, with what `anyarray bench --json FILE.json` wrote; `nox -s bench`
does. It adds a line to `docs/benchmarks.json`: version, machine, backends, and seconds at the largest size of each
experiment. A line of the same version, machine, backends and kind of run is replaced.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Final

HISTORY: Final = Path(__file__).parents[1] / "docs" / "benchmarks.json"


def entry(told: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a run."""
    largest: dict[str, int] = {}
    for one in told["measurements"]:
        largest[one["experiment"]] = max(one["size"], largest.get(one["experiment"], 0))
    seconds: dict[str, dict[str, float]] = {}
    for one in told["measurements"]:
        if one["size"] == largest[one["experiment"]]:
            row = seconds.setdefault(f"{one['experiment']}, {one['size']:,} elements", {})
            row[one["contestant"]] = float(f"{one['seconds']:.3g}")
    return {
        "anyarray": told["anyarray"],
        "machine": told["machine"],
        "backends": {one["name"]: one["version"] for one in told["backends"]},
        "dtype": told["dtype"],
        "quick": told["quick"],
        "layer_seconds": {name: float(f"{one:.2g}") for name, one in told["layer_seconds"].items()},
        "seconds": seconds,
    }


def with_entry(history: list[dict[str, Any]], new: dict[str, Any]) -> list[dict[str, Any]]:
    """The history with a run, in place of one of the same circumstances."""
    same = ("anyarray", "machine", "backends", "dtype", "quick")
    return [one for one in history if any(one[key] != new[key] for key in same)] + [new]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description=__doc__)
    parser.add_argument("file", type=Path, help="what `anyarray bench --json` wrote")
    parser.add_argument("--history", type=Path, default=HISTORY)
    options = parser.parse_args()
    history = json.loads(options.history.read_text()) if options.history.exists() else []
    text = json.dumps(with_entry(history, entry(json.loads(options.file.read_text()))), indent=1)
    options.history.write_text(text + "\n")


if __name__ == "__main__":
    main()
