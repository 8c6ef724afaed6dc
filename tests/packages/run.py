"""Tests of packages from the index, in which NumPy is replaced.

`python tests/packages/run.py numpy jax` fetches each package and runs its tests with NumPy, and then with NumPy
replaced in the package by `python -m anyarray run`. The tests keep NumPy, which remains the judge. Tests that pass with
NumPy are fair, but for those that `UNFAIR` lists. A package of which fewer tests pass than `counts.json` records, or
than must pass, is an error. `--record` writes the counts. `--speed` prints how much processor time the tests take
beside NumPy: the sum over the tests that pass, each at its fastest.
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
    """Files, folders and ids of pytest, or what tests are in a module, as `module:Class` or `module:*`."""
    is_wheel: bool = False
    """Whether the wheel is fetched, as its sdist has no tests or needs a build tool."""
    without: str = ""
    """Ids of tests that are left out: those of 10,000 small calls or more, which take minutes on most backends."""


def _files(folder: str, names: str) -> str:
    return " ".join(f"{folder}/test_{name}.py" for name in names.split())


def _tests(file: str, names: str) -> str:
    return " ".join(f"{file}::test_{name}" for name in names.split())


PACKAGES: Final = {
    "transforms3d": Package(
        "rotations",
        "0.4.2",
        _files("transforms3d/tests", "quaternions axangles affines euler"),
        without=_tests(
            "transforms3d/tests/test_quaternions.py", "qexp_matlab qexp_qlog qnorm quaternion_reconstruction"
        ),
    ),
    "filterpy": Package(
        "filters",
        "2.0.0",
        " ".join(f"filterpy/{name}/tests" for name in "common discrete_bayes gh leastsq memory stats".split()),
        without="filterpy/discrete_bayes/tests/test_discrete_bayes.py::test_predictions "
        "filterpy/leastsq/tests/test_lsq.py::test_big_data filterpy/common/tests/test_helpers.py::test_outer_product",
    ),
    "extensisq": Package(
        "differential equations",
        "0.6.0",
        _tests("tests/test_ivp.py", "classes empty integration_complex integration_zero_rhs no_integration"),
    ),
    "emcee": Package("statistics", "3.1.6", "emcee/tests/unit", is_wheel=True),
    "dtcwt": Package("images", "0.14.0", _files("tests", "coeffs ifm1 reflect sampling utils xfm1 xfm3")),
    "numpy-financial": Package("finance", "1.0.0", "numpy_financial"),
    "vg": Package("geometry", "2.0.0", "vg", is_wheel=True),
    "peakutils": Package("signals", "1.3.5", "tests"),
    "minisom": Package("machine learning by plain NumPy", "2.3.6", "minisom:TestMinisom"),
    "nashpy": Package(
        "games", "0.0.43", _files("tests/unit", "is_best_response minimax polytope tableau vertex_enumeration")
    ),
    "colorspacious": Package(
        "colours",
        "1.1.2",
        " ".join(
            f"colorspacious.{name}:*"
            for name in "basics ciecam02 comparison conversion cvd illuminants luoetal2006 transform_graph util".split()
        ),
    ),
}
"""What they need beside NumPy is in the session `packages` of nox."""

UNFAIR: Final[dict[str, dict[str, str]]] = {
    "emcee": {
        "emcee.tests.unit.test_stretch::test_live_dangerously": "NumPy's own shuffle is given an Array, and warns of it"
    },
    "filterpy": {
        "filterpy.stats.tests.test_stats::test_mahalanobis": "to 1e-12 in thousands, of random ill-conditioned matrices"
    },
    "minisom on tf": {
        "test_minisom.TestMinisom::test_pca_weights_init": "an eigenvector has either sign, TensorFlow's not NumPy's"
    },
    "transforms3d on tf": {
        "transforms3d.tests.test_axangles::test_aa_points": "an eigenvector has either sign, TensorFlow's not NumPy's"
    },
}
"""Tests that cannot be passed by an Array, and why, by package, or by package and backend."""


def fetched(name: str, package: Package, folder: Path) -> Path:
    """The folder with a package and its tests, from its sdist or wheel.

    The build tools of sdists are those that are installed here.
    """
    kind = "--only-binary" if package.is_wheel else "--no-binary"
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation", kind, ":all:",
         f"{name}=={package.version}", "-d", str(folder)],
        check=True,
    )  # fmt: skip
    (archive,) = folder.iterdir()
    unpacked = folder / "unpacked"
    shutil.unpack_archive(archive, unpacked, "zip" if archive.suffix in (".whl", ".zip") else None)
    return unpacked if package.is_wheel else next(one for one in unpacked.iterdir() if one.is_dir())


def test_file(folder: Path, tests: str) -> str:
    """The path of tests; for those in a module, a file that imports them."""
    module, _, name = tests.partition(":")
    if not name or name.startswith(":"):
        return str(folder / tests)
    path = folder / f"test_{module.replace('.', '_')}.py"
    chosen = 'name.startswith("test")' if name == "*" else f'name == "{name}"'
    path.write_text(
        f"import {module} as of\nglobals().update({{name: t for name, t in vars(of).items() if {chosen}}})\n"
    )
    return str(path)


class Outcome(NamedTuple):
    """What came of a test."""

    trouble: str
    """Why it failed or was skipped; "" if it passed."""
    seconds: float
    """Its processor time, if that was measured."""


def outcomes(name: str, folder: Path, backend: str | None, repeat: int = 0) -> dict[str, Outcome]:
    """What came of each test, repeated for its time.

    NumPy itself runs them if no backend is named.
    """
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    replaced = ["anyarray", "run", "--backend", backend, "--modules", name.replace("-", "_"), "-m"] if backend else []
    command = [
        sys.executable, "-m", *replaced, "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:anyarray", "-p", "judge",
        "-c", os.devnull, f"--rootdir={folder}", "--disable-warnings", f"--repeat={repeat}",
        "--continue-on-collection-errors", "-o", "python_classes=Test* *Test* *Exceptions",
        "-o", "python_files=test_*.py *_test.py", "--tb=line",
        f"--junitxml={report}", *[test_file(folder, one) for one in PACKAGES[name].tests.split()],
        *[f"--deselect={one}" for one in PACKAGES[name].without.split()],
    ]  # fmt: skip
    paths = [str(HERE), str(folder), str(folder / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "agg"}
    with tempfile.TemporaryDirectory() as elsewhere:  # so that the tests are not modules of the program
        done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)
    if not report.exists():
        raise SystemExit(f"{name} on {backend or 'NumPy itself'}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    found: dict[str, Outcome] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        troubles = [one.get("message") or one.tag for one in case if one.tag in ("failure", "error", "skipped")]
        seconds = case.find("properties/property[@name='seconds']")
        found[f"{case.get('classname', '')}::{case.get('name')}"] = Outcome(
            troubles[0] if troubles else "", 0 if seconds is None else float(seconds.get("value", 0))
        )
    return found


def time_ratio(name: str, folder: Path, backend: str) -> float:
    """The processor time of the tests beside NumPy's.

    Both take turns, and each test counts at its fastest.
    """
    fastest: dict[str | None, dict[str, float]] = {None: {}, backend: {}}
    for _ in range(2):
        for side, times in fastest.items():
            for test, (_trouble, seconds) in outcomes(name, folder, side, repeat=5).items():
                if seconds:
                    times[test] = min(seconds, times.get(test, seconds))
    of_numpy, ours = fastest.values()
    both = of_numpy.keys() & ours.keys()
    return sum(ours[test] for test in both) / sum(of_numpy[test] for test in both)


def main() -> int:
    """Run the packages on the named backends; gives the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backends", nargs="+", metavar="BACKEND")
    parser.add_argument("--packages", default=",".join(PACKAGES), help="of these only, such as vg,minisom")
    parser.add_argument("--record", action="store_true", help="write how many tests passed")
    parser.add_argument("--speed", action="store_true", help="print the processor time beside NumPy's")
    given = parser.parse_args()
    counts: dict[str, dict[str, int]] = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    few = []
    for name in given.packages.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            folder = fetched(name, PACKAGES[name], Path(scratch))
            unfair = UNFAIR.get(name, {})
            passed = [one for one, outcome in outcomes(name, folder, None).items() if not outcome.trouble]
            fair = [one for one in passed if one not in unfair]
            if not fair:
                raise SystemExit(f"{name}: no test passes with NumPy itself, so none is fair")
            counts.setdefault(name, {})["fair"] = len(fair)
            for backend in given.backends:
                found = outcomes(name, folder, backend)
                there = [one for one in fair if one not in UNFAIR.get(f"{name} on {backend}", {})]
                failed = [one for one in there if one not in found or found[one].trouble]
                now, before = len(there) - len(failed), counts[name].get(backend, 0)
                print(f"{name} on {backend}: {now} of {len(there)} passed, {before} recorded", flush=True)
                for one in failed:
                    print(f"    {one}: {found[one].trouble[:160] if one in found else 'was not run'}", flush=True)
                if given.speed:
                    print(f"    processor time: {time_ratio(name, folder, backend):.2f} of NumPy's", flush=True)
                if now < max(before, SHARES.get(backend, 0.9) * len(there)):
                    few.append(f"{name} on {backend}")
                counts[name][backend] = now
                if given.record:
                    COUNTS.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")
    if few:
        print(f"packages: too few tests passed of {', '.join(few)}", file=sys.stderr)
    return bool(few)


if __name__ == "__main__":
    sys.exit(main())
