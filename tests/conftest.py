"""The backends that tests run on, and a choice that no test leaves behind.

A test with the parameter `backend` runs once inside `with xp.backend(...)` for each library that is installed and
has a device; `name`, `target` and `framework` are the same names with no block open, the last without NumPy.

Not all cases of a test run, as JAX compiles for most of them. On NumPy all do; on each other backend a choice in which
each function and each value of a parameter occurs, or a quarter if the test has one and is marked `sampled`. Each case
of a test marked `few_backends`, of what hardly depends on them, runs on NumPy and on one other, not always the same.
`--all-cases` runs all of all.
Every run makes the same choice, and Hypothesis draws the same examples, unless `--draw WORD` is given: both follow from
the word, which the report repeats; `today` is the date. `--hypothesis-profile=thorough` draws more examples.
What is known to fail stands in `known_failures`, and only there.
"""

from __future__ import annotations

import collections
import datetime
import functools
import gc
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import array_api_strict
import hypothesis
import process_memory
import pytest
from drawing import other_of
from known_failures import KNOWN_FAILURES

import anyarray as xp
from anyarray._choice import choice, machine
from anyarray._registry import libraries

ROOT: Final = Path(__file__).parents[1]
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # SciPy reads it once, and JAX imports SciPy
os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")  # each compilation takes seconds; graphs run as they are
os.environ["ANYARRAY_LEARN"] = "off"  # decisions follow from a test's model alone
os.environ["ANYARRAY_PROFILE"] = "off"  # what is measured of this machine is no test's business
# Tests import JAX and TensorFlow before anyarray, and several processes share a GPU.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
vars(machine)["PATIENCE"] = machine.state.patience = 0.0  # the profile is read at the first large call
NAMES: Final = pytest.StashKey[list[str]]()
PEAKS: Final = pytest.StashKey[dict[str, int]]()
"""The most memory that each process took which runs tests."""
BESIDE_A_GPU: Final = pytest.StashKey[bool]()
"""Whether such a process found a GPU."""
COMPILED: Final = pytest.StashKey[dict[str, float]]()
"""How many functions JAX compiled in these processes, and in how many seconds."""
RAN: Final = pytest.StashKey[collections.Counter[str]]()
"""How many tests passed on each backend, and without one."""
FORKING: Final = pytest.StashKey[str]()
"""The socket of `forking.py`; empty where it does not run."""
DRAW: Final = pytest.StashKey[str]()
"""The word from which follows what is drawn; empty for what every run draws."""

# Compiling for each new shape takes JAX tens of milliseconds: a deadline would judge the machine.
# The fixture `backend` opens one block around all examples of a test, which is what is wanted.
hypothesis.settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    max_examples=5,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile("thorough", hypothesis.settings.get_profile("repeatable"), max_examples=300)
hypothesis.settings.load_profile("repeatable")

array_api_strict.set_array_api_strict_flags(api_version="2025.12")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("anyarray")
    group.addoption("--backends", metavar="NAMES", help="run on these backends only, such as numpy,jax")
    group.addoption("--expect", metavar="NAMES", default="", help="fail unless these are installed and have a device")
    group.addoption("--all-cases", action="store_true", help="run all cases of all tests")
    group.addoption("--draw", metavar="WORD", default="", help="draw cases and examples by this word; today: the date")


def pytest_configure(config: pytest.Config) -> None:
    only = config.getoption("--backends")
    lazy = {name for name, row in libraries.LIBRARIES.items() if row.is_lazy}  # which have their own tests
    installed = [row.name for row in xp.backends() if row.is_installed and row.name not in lazy]
    names = only.split(",") if only else installed
    # What starts the processes that run tests runs none: importing libraries, which takes seconds, is left to those.
    is_starter = bool(config.getoption("numprocesses", None)) and not hasattr(config, "workerinput")
    config.stash[NAMES] = [name for name in names if is_starter or has_device(name)]
    config.stash[PEAKS] = {}
    config.stash[BESIDE_A_GPU] = False
    config.stash[COMPILED] = {"functions": 0, "seconds": 0.0}
    config.stash[RAN] = collections.Counter()
    config.stash[FORKING] = config.workerinput["forking"] if hasattr(config, "workerinput") else fork_server(config)
    config.pluginmanager.register(Ran(config))
    draw = config.getoption("--draw")
    config.stash[DRAW] = draw = datetime.date.today().isoformat() if draw == "today" else draw
    if draw:
        for profile in ("repeatable", "thorough"):
            drawn = hypothesis.settings(hypothesis.settings.get_profile(profile), derandomize=False)
            hypothesis.settings.register_profile(profile, drawn)
        hypothesis.settings.load_profile("repeatable")
        config.option.hypothesis_seed = str(zlib.crc32(draw.encode()))
    if "jax" in sys.modules:
        import jax.monitoring  # has_device has imported JAX if any test is to run on it

        note = functools.partial(note_compilation, config.stash[COMPILED])
        jax.monitoring.register_event_duration_secs_listener(note)
    missing = [name for name in config.getoption("--expect").split(",") if name and name not in config.stash[NAMES]]
    if missing:
        raise pytest.UsageError(f"--expect: {', '.join(missing)} not installed or without a device")


def fork_server(config: pytest.Config) -> str:
    """The socket of a new process of `forking.py`, which ends with ours."""
    if sys.platform != "linux":
        return ""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "socket")
    libraries = [name for name in ("tensorflow", "jax") if importlib.util.find_spec(name)]
    command = [sys.executable, "-W", "ignore", str(ROOT / "tests" / "forking.py")]
    environment, away = inherited() | {"TMPDIR": folder}, subprocess.DEVNULL
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        server = subprocess.Popen(
            [*command, str(listening.fileno()), *libraries], cwd=ROOT, env=environment, pass_fds=[listening.fileno()],
            stdin=subprocess.PIPE, stdout=away, stderr=away,
        )  # fmt: skip

    def end() -> None:
        server.communicate()
        shutil.rmtree(folder)

    config.add_cleanup(end)
    return path


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["forking"] = node.config.stash[FORKING]


def note_compilation(compiled: dict[str, float], event: str, seconds: float, **_: Any) -> None:
    """Count what JAX tells of, if it is a compilation."""
    if event.endswith("/backend_compile_duration"):
        compiled["functions"] += 1
        compiled["seconds"] += seconds


def has_device(name: str) -> bool:
    """Whether the library has any device on this machine; imports it."""
    try:
        xp.device(name)
    except xp.DeviceNotFoundError:
        return False
    return True


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    names = metafunc.config.stash[NAMES]
    for fixture, values in (("name", names), ("target", names), ("framework", [n for n in names if n != "numpy"])):
        if fixture in metafunc.fixturenames:
            metafunc.parametrize(fixture, values)


NEEDS: Final[dict[str, Callable[[xp.Backend], bool]]] = {
    "bfloat16": lambda backend: backend.has_dtype("bfloat16"),
    "derivatives": lambda backend: backend.has_hook("value_and_grad"),
    "traces": lambda backend: backend.has_hook("jit"),
    "host memory": lambda backend: backend.kind == "cpu",
    "kernels for a CPU": lambda backend: backend.kind == "cpu",
}
"""What a test may need of its backend, by the words of `pytest.mark.needs`."""


def lacking(item: pytest.Item) -> str | None:
    """What a test needs that its backend has not, or a dtype it is about."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    for name in ("name", "target", "framework"):
        if name in parameters and isinstance(parameters[name], str):
            backend = xp.device(parameters[name])
            for need in (word for mark in item.iter_markers("needs") for word in mark.args):
                if not NEEDS[need](backend):
                    return f"{backend} has no {need}"
            if "bfloat16" in map(str, parameters.values()) and not backend.has_dtype("bfloat16"):
                return f"{backend} has no bfloat16"
    return None


BACKENDS: Final = ("name", "target", "framework")
"""Parameters that say where a test runs."""
SAMPLED: Final = 4
"""Of so many cases of a test that is marked `sampled` one runs at most."""


def left_out(items: list[pytest.Item], names: list[str], draw: str) -> set[pytest.Item]:
    """The cases that do not run.

    On NumPy, which compiles nothing, all run. On each other backend runs the case with the most kinds of values that no
    case before had, the first in the order of checksums of their names, and so on until there is none; or until there
    are enough, if the test is marked `sampled` and has one parameter, or asks several libraries itself. Before that a
    case of a test that is marked `few_backends` is left out on all others than one, and these others count as one.
    """
    others = [name for name in names if name != "numpy"]
    cases = collections.defaultdict[tuple[str, str], list[pytest.Function]](list)
    unwanted = set[pytest.Item]()
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            test, backend = item.nodeid.partition("[")[0], backend_of(item)
            is_limited = item.get_closest_marker("few_backends") is not None and backend in others
            if is_limited and backend != other_of(item.nodeid, backend, others, draw):
                unwanted.add(item)
            else:
                cases[test, "others" if is_limited else backend].append(item)
    for (_, name), of_one in cases.items():
        is_sampled = of_one[0].get_closest_marker("sampled") is not None
        if name == "numpy" or (name == "none" and not is_sampled):
            continue
        is_limited = name == "none" or len(of_one[0].callspec.params.keys() - BACKENDS) == 1
        left = -(-len(of_one) // SAMPLED) if is_sampled and is_limited else len(of_one)
        waiting = {
            item: {(key, kind_of(value)) for key, value in item.callspec.params.items()}
            for item in sorted(of_one, key=lambda item: zlib.crc32((item.nodeid + draw).encode()))
        }
        while left and any(waiting.values()):
            seen = waiting.pop(max(waiting, key=lambda item: len(waiting[item])))  # the first of several
            waiting = {item: kinds - seen for item, kinds in waiting.items()}
            left -= 1
        unwanted |= waiting.keys()
    return unwanted


def kind_of(value: object) -> str:
    """The kind of a value of a parameter: itself, or the function it calls."""
    text = value if isinstance(value, str) else repr(value)
    called = re.match(r"[\w. =]+(?=\()", text)
    return called[0] if called else text


def backend_of(item: pytest.Item) -> str:
    """The name of the backend that a test runs on, or "none".

    Parameters say it, or the name of the file.
    """
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    chosen = [str(parameters[one]) for one in BACKENDS if one in parameters]
    return next(iter([*chosen, *[name for word, name in LIBRARIES.items() if word in item.path.name]]), "none")


LIBRARIES: Final = {"jax": "jax", "tensorflow": "tf", "torch": "torch"}
"""Backends, by what the files of their own tests are called."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--all-cases"):
        unwanted = left_out(items, config.stash[NAMES], config.stash[DRAW])
        config.hook.pytest_deselected(items=list(unwanted))
        items[:] = [item for item in items if item not in unwanted]
    for item in items:
        item.user_properties.append(("backend", backend_of(item)))
        lack = lacking(item)
        if lack:
            item.add_marker(pytest.mark.skip(reason=lack))
        reason = KNOWN_FAILURES.get(f"{item.path.name}::{item.name}")
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def pytest_collection_finish() -> None:
    """Let garbage collections visit neither libraries nor tests.

    One takes a second else, with TensorFlow and JAX.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    process_memory.bound()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Note what a worker says of itself; one that crashed says nothing."""
    if "peak" in getattr(node, "workeroutput", {}):
        node.config.stash[PEAKS][node.gateway.id] = node.workeroutput["peak"]
        node.config.stash[BESIDE_A_GPU] |= node.workeroutput["beside_a_gpu"]
        for what, amount in node.workeroutput["compiled"].items():
            node.config.stash[COMPILED][what] += amount


class Ran:
    """Counts the tests that pass, where their reports arrive."""

    def __init__(self, config: pytest.Config) -> None:
        self.count = config.stash[RAN]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.count[dict(report.user_properties).get("backend", "none")] += 1  # type: ignore[arg-type]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a process took too much memory."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["peak"] = process_memory.peak()
        config.workeroutput["beside_a_gpu"] = has_gpu()
        config.workeroutput["compiled"] = config.stash[COMPILED]
        return
    if not config.stash[PEAKS]:
        config.stash[PEAKS]["pytest"] = process_memory.peak()
        config.stash[BESIDE_A_GPU] = has_gpu()
    if memory_complaint(config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def memory_complaint(config: pytest.Config) -> str:
    """What is wrong with the memory that was taken.

    Beside a GPU nothing is: its drivers and libraries take as much again.
    """
    return "" if config.stash[BESIDE_A_GPU] else process_memory.complaint(config.stash[PEAKS])


def has_gpu() -> bool:
    """Whether a library that was imported found a GPU."""
    return any("gpu" in name for row in xp.backends() for name in row.devices or ())


def pytest_report_header(config: pytest.Config) -> str:
    return f"drawn by: {config.stash[DRAW]}" if config.stash[DRAW] else "drawn as always"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    peaks = config.stash[PEAKS]
    said = ", ".join(f"{name} {taken / 1e9:.1f} GB" for name, taken in peaks.items() if taken)
    if said:
        terminalreporter.write_line(f"memory at most: {said}")
    compiled = config.stash[COMPILED]
    if compiled["functions"]:
        terminalreporter.write_line(f"JAX compiled {compiled['functions']} functions in {compiled['seconds']:.0f} s")
    ran = sorted(config.stash[RAN].items())
    terminalreporter.write_line(f"passed on: {', '.join(f'{name} {count}' for name, count in ran)}")
    complaint = memory_complaint(config)
    if complaint:
        terminalreporter.write_line(complaint, red=True)


@pytest.fixture(scope="session", autouse=True)
def temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder of pytest's for the temporary files that TensorFlow leaves."""
    folder = str(tmp_path_factory.mktemp("files"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", folder)
        patch.setenv("TMPDIR", folder)
        yield


@pytest.fixture
def backend(name: str) -> Iterator[xp.Backend]:
    """The backend that is chosen around the test."""
    with xp.backend(name) as entered:
        assert entered is not None
        yield entered


@pytest.fixture
def jits(request: pytest.FixtureRequest) -> list[Callable[[Any], Any]]:
    """How a function is called: as it is, and in `xp.jit`.

    On JAX, which compiles each call outside of it, in `xp.jit` alone unless all cases run.
    """
    is_slow = backend_of(request.node) == "jax" and not request.config.getoption("--all-cases")
    return [xp.jit] if is_slow else [lambda function: function, xp.jit]


@pytest.fixture
def dealt(request: pytest.FixtureRequest) -> Callable[[dict[str, Any], int, int], dict[str, Any]]:
    """Deal cases to the tests that share them, others on each backend."""
    first = zlib.crc32(f"{backend_of(request.node)}{request.config.stash[DRAW]}".encode())

    def found(cases: dict[str, Any], part: int, parts: int) -> dict[str, Any]:
        is_whole = request.config.getoption("--all-cases")
        return {name: one for n, (name, one) in enumerate(cases.items(), first) if is_whole or n % parts == part}

    return found


@pytest.fixture(autouse=True)
def no_choice_is_left_behind() -> Iterator[None]:
    """Start each test with the automatic choice, and end it so.

    ANYARRAY_BACKEND makes no difference.
    """
    before = choice.process_default.backend
    xp.set_default_backend("auto")
    machine.use(None)
    outside = choice.current()
    yield
    choice.process_default.backend = before
    assert choice.current() is outside, "the test left a block open"


_OURS = {"ANYARRAY_BACKEND", "TF_FORCE_GPU_ALLOW_GROWTH", "XLA_PYTHON_CLIENT_PREALLOCATE"}
"""Variables that this process may have set: choosing a backend, or loading one."""


def inherited() -> dict[str, str]:
    """The environment of this process as it was given to it."""
    return {key: value for key, value in os.environ.items() if key not in _OURS}


@pytest.fixture(scope="session")
def run_python() -> Callable[..., str]:
    """Run a program in a new interpreter, and get what it printed.

    Keyword arguments are environment variables of it.
    """

    def run(program: str, **variables: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            cwd=ROOT,
            env=inherited() | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def forked(
    run_python: Callable[..., str], tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Callable[..., str]:
    """`run_python` for programs that may find TensorFlow and JAX imported.

    These share one import of both: see `forking.py`. Elsewhere than on Linux libraries do not always survive a fork.
    """
    path = pytestconfig.stash[FORKING]
    if not path:
        return run_python
    outputs = [tmp_path_factory.mktemp("forked") / name for name in ("out", "err")]

    def run(program: str, **variables: str) -> str:
        for output in outputs:
            output.write_text("")
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            with client.makefile("rw") as file:
                print(json.dumps([textwrap.dedent(program), variables, *map(str, outputs)]), file=file, flush=True)
                assert file.readline() == "0\n", outputs[1].read_text()
        return outputs[0].read_text()

    return run


@pytest.fixture(scope="session")
def seeds(pytestconfig: pytest.Config) -> Callable[[int], range]:
    """The seeds of so many random cases, or of a quarter of them."""

    def drawn(count: int) -> range:
        if pytestconfig.getoption("--all-cases"):
            return range(count)
        share = -(-count // SAMPLED)
        first = zlib.crc32(pytestconfig.stash[DRAW].encode()) % (count - share + 1)
        return range(first, first + share)

    return drawn


@pytest.fixture
def share(backend: xp.Backend, seeds: Callable[[int], range]) -> Callable[[Iterable[Any]], list[Any]]:
    """All of some cases on NumPy, and a quarter of them elsewhere."""

    def chosen(cases: Iterable[Any]) -> list[Any]:
        every = list(cases)
        return every if backend.name == "numpy" else [one for i in seeds(SAMPLED) for one in every[i::SAMPLED]]

    return chosen


@pytest.fixture
def differentiating(framework: str) -> Iterator[xp.Backend]:
    """A backend with derivatives, chosen around the test."""
    with xp.backend(framework) as entered:
        assert entered is not None
        if not entered.has_hook("value_and_grad"):
            pytest.skip("the library has no derivatives")
        yield entered
