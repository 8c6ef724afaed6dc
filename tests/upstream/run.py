"""Tests of other projects on Arrays, with recorded counts.

The wheels of SciPy, scikit-learn, array-api-extra, xarray, einops and pint have their tests. `python
tests/upstream/run.py numpy jax` runs a choice of them on each backend and compares what passed with `counts.json`,
which `--record` writes. A suite that has fewer passing tests, or a test that failed and is not listed there, is an
error.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

HERE: Final = Path(__file__).parent
COUNTS: Final = HERE / "counts.json"

# Files of a package, and the expression by which those tests are chosen that run on the stand-in.
SUITES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "scipy": (
        "array_api_strict",
        (
            "cluster/tests/test_vq.py", "constants/tests/test_constants.py", "fft/tests/test_basic.py",
            "fft/tests/test_helper.py", "integrate/tests/test_quadrature.py", "signal/tests/test_waveforms.py",
            "signal/tests/test_windows.py", "special/tests/test_logsumexp.py", "stats/tests/test_entropy.py",
            "stats/tests/test_mannwhitneyu.py", "stats/tests/test_variation.py",
        ),
    ),
    "sklearn": (
        "array_api_strict",
        (
            "utils/tests/test_array_api.py", "utils/tests/test_extmath.py", "utils/tests/test_multiclass.py",
            "utils/tests/test_validation.py", "metrics/tests/test_common.py", "metrics/tests/test_pairwise.py",
            "preprocessing/tests/test_data.py", "preprocessing/tests/test_label.py", "decomposition/tests/test_pca.py",
            "linear_model/tests/test_ridge.py", "model_selection/tests/test_split.py",
            "tests/test_discriminant_analysis.py",
        ),
    ),
    "array_api_extra": ("array_api_strict and not strictest", ("tests/main",)),
    "xarray": ("", ("tests/test_array_api.py",)),
    "einops": ("array_api", ("tests/test_ops.py", "tests/test_packing.py")),
    "pint": ("", ("testsuite/test_numpy.py", "testsuite/test_numpy_func.py", "testsuite/test_umath.py")),
}  # fmt: skip

# What is changed in the tests of a package that name NumPy: patterns, and what comes in their place.
CHANGED: Final[dict[str, dict[str, str]]] = {
    "einops": {"import numpy as xp": "import anyarray as xp", r"xp\.__version__": "np.__version__"},
    "pint": {
        "from pint.compat import np": "from numpy_of_arrays import np",
        r"return (\[\[.*\]\]) \*": r"return np.array(\1) *",
    },
}


def paths_of(suite: str, files: tuple[str, ...], scratch: Path) -> list[str]:
    """The test files of an installed package."""
    spec = importlib.util.find_spec(suite)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{suite} is not installed. Run: nox -s downstream")
    found = [Path(spec.origin).parent / file for file in files]
    for i, file in enumerate(found if suite in CHANGED else []):
        found[i] = scratch / file.name
        text = file.read_text()
        for pattern, replacement in CHANGED[suite].items():
            text = re.sub(pattern, replacement, text)
        found[i].write_text(text)
    return [str(file) for file in found if file.exists()]


def outcomes(suite: str, backend: str) -> dict[str, Any]:
    """How many tests of a suite pass on a backend, and which fail."""
    chosen, files = SUITES[suite]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        report = scratch / "report.xml"
        environment = {
            **os.environ,
            "ANYARRAY_BACKEND": backend,
            "EINOPS_TEST_BACKENDS": "numpy",
            "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "SCIPY_ARRAY_API": json.dumps(["array_api_strict"]) if suite == "scipy" else "1",
        }
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:anyarray", "-c", os.devnull,
            "-W", "ignore", "--import-mode=importlib", "--tb=short", f"--junitxml={report}", "-k", chosen,
            *paths_of(suite, files, scratch),
        ]  # fmt: skip
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if not report.exists() or done.returncode not in (0, 1):
            raise SystemExit(f"{suite} on {backend}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
        Path(tempfile.gettempdir(), f"upstream-{suite}-{backend}.txt").write_text(done.stdout)
        cases = list(ElementTree.parse(report).iter("testcase"))
    kinds = [{one.tag for one in case} for case in cases]
    failed = [case for case, kind in zip(cases, kinds, strict=True) if kind & {"failure", "error"}]
    return {
        "passed": sum(not kind & {"failure", "error", "skipped"} for kind in kinds),
        "failed": sorted({f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}" for case in failed}),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backends", nargs="+", metavar="BACKEND")
    parser.add_argument("--suites", default=",".join(SUITES), help="of these only, such as scipy,xarray")
    parser.add_argument("--record", action="store_true", help="write what passed and failed")
    given = parser.parse_args()
    recorded: dict[str, Any] = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    worse = []
    for suite in given.suites.split(","):
        for backend in given.backends:
            now = outcomes(suite, backend)
            before = recorded.setdefault(suite, {}).get(backend, {"passed": 0, "failed": now["failed"]})
            new = sorted(set(now["failed"]) - set(before["failed"]))
            print(
                f"{suite} on {backend}: {now['passed']} passed ({before['passed']} recorded), "
                f"{len(now['failed'])} failed, of which {len(new)} are not listed",
                *new, sep="\n    ", flush=True,
            )  # fmt: skip
            worse += [f"{suite} on {backend}"] * (now["passed"] < before["passed"] or bool(new))
            recorded[suite][backend] = now
            if given.record:
                COUNTS.write_text(json.dumps(recorded, indent=1) + "\n")
    if given.record:
        return 0
    if worse:
        print("worse than recorded:", ", ".join(worse))
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
