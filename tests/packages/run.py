"""Tests of packages from the index, in which NumPy is replaced.

`python tests/packages/run.py numpy jax` fetches each package and runs its tests with NumPy, and then with NumPy
replaced in the package by `python -m anyarray run`. The tests keep NumPy, which remains the judge. Tests that pass with
NumPy are fair, but for those that `UNFAIR` lists. A package of which fewer tests pass than `counts.json` records, or
than must pass, is an error. `--record` writes the counts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree

HERE: Final = Path(__file__).parent
COUNTS: Final = HERE / "counts.json"
SHARES: Final = {"numpy": 0.95}
"""The share of fair tests that must pass on a backend; 0.9 on all others."""


class Package(NamedTuple):
    """A package, pinned, and which of its tests are run."""

    about: str
    version: str
    tests: str
    """Files and folders, or a class that is in a module, as `module:Class`."""
    needs: str = ""
    """Distributions that it imports, beside NumPy and SciPy."""


PACKAGES: Final = {
    "transforms3d": Package(
        "rotations",
        "0.4.2",
        " ".join(f"transforms3d/tests/test_{name}.py" for name in "quaternions axangles affines euler".split()),
    ),
    "filterpy": Package(
        "filters",
        "2.0.0",
        " ".join(f"filterpy/{name}/tests" for name in "common discrete_bayes gh leastsq memory stats".split()),
        "matplotlib",
    ),
    "numpy-financial": Package("finance", "1.0.0", "numpy_financial"),
    "vg": Package("geometry", "2.0.0", "vg"),
    "peakutils": Package("signals", "1.3.5", "tests"),
    "minisom": Package("machine learning by plain NumPy", "2.3.6", "minisom:TestMinisom"),
}

UNFAIR: Final[dict[str, dict[str, str]]] = {}
"""Tests that cannot be passed by an Array, and why, by package."""


def fetched(name: str, version: str, folder: Path) -> Path:
    """The folder with a package and its tests, from its sdist or wheel."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"{name}=={version}", "-d", str(folder)]
    for options in (["--no-binary", ":all:"], []):
        if subprocess.run([*pip, *options], capture_output=True, check=False).returncode == 0:
            break
    (archive,) = folder.iterdir()
    shutil.unpack_archive(archive, folder / "unpacked", "zip" if archive.suffix in (".whl", ".zip") else None)
    setups = [path.parent for path in (folder / "unpacked").glob("*/setup.py")]
    return setups[0] if setups else folder / "unpacked"


def test_file(folder: Path, tests: str) -> str:
    """The path of tests; for those in a module, a file that imports them."""
    module, _, name = tests.partition(":")
    if not name:
        return str(folder / tests)
    path = folder / f"test_{module}.py"
    path.write_text(f"from {module} import {name}\n")
    return str(path)


def outcomes(name: str, folder: Path, backend: str | None) -> dict[str, str]:
    """What came of each test: "passed" or the reason.

    NumPy itself runs them if no backend is named.
    """
    package = PACKAGES[name]
    module = name.replace("-", "_")
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    replaced = ["anyarray", "run", "--backend", backend, "--modules", module, "-m"] if backend else []
    command = [
        sys.executable, "-m", *replaced, "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:anyarray", "-p", "judge",
        "-c", os.devnull, f"--rootdir={folder}", "-W", "ignore",
        "-o", "python_classes=Test* *Test* *Exceptions", "--tb=line", f"--junitxml={report}",
        *[test_file(folder, one) for one in package.tests.split()],
    ]  # fmt: skip
    paths = os.pathsep.join([str(HERE), str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths, "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as elsewhere:  # so that the tests are not modules of the program
        done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)
    if not report.exists():
        raise SystemExit(f"{name} on {backend or 'NumPy itself'}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        troubles = [one.get("message", "") or one.tag for one in case if one.tag in ("failure", "error", "skipped")]
        found[f"{case.get('classname', '')}::{case.get('name')}"] = troubles[0] if troubles else "passed"
    return found


def main() -> int:
    """Run the packages on the named backends; gives the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backends", nargs="+", metavar="BACKEND")
    parser.add_argument("--packages", default=",".join(PACKAGES), help="of these only, such as vg,minisom")
    parser.add_argument("--record", action="store_true", help="write how many tests passed")
    given = parser.parse_args()
    counts: dict[str, dict[str, int]] = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    few = []
    for name in given.packages.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            folder = fetched(name, PACKAGES[name].version, Path(scratch))
            unfair = UNFAIR.get(name, {})
            passed = [one for one, outcome in outcomes(name, folder, None).items() if outcome == "passed"]
            fair = [one for one in passed if one not in unfair]
            if not fair:
                raise SystemExit(f"{name}: no test passes with NumPy itself, so none is fair")
            counts.setdefault(name, {})["fair"] = len(fair)
            for backend in given.backends:
                found = outcomes(name, folder, backend)
                failed = [one for one in fair if found.get(one) != "passed"]
                now, before = len(fair) - len(failed), counts[name].get(backend, 0)
                print(f"{name} on {backend}: {now} of {len(fair)} passed, {before} recorded", flush=True)
                for one in failed:
                    print(f"    {one}: {found.get(one, 'was not run')[:160]}", flush=True)
                if now < max(before, SHARES.get(backend, 0.9) * len(fair)):
                    few.append(f"{name} on {backend}")
                counts[name][backend] = now
                if given.record:
                    COUNTS.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")
    if few:
        print(f"packages: too few tests passed of {', '.join(few)}", file=sys.stderr)
    return bool(few)


if __name__ == "__main__":
    sys.exit(main())
