"""The command line: what `info` and `bench` print, and what they refuse.

What follows from measurements is tested, too.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import io
import json
import math
import os
import subprocess
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anyarray as xp
from anyarray.__main__ import main
from anyarray._base import extension
from anyarray._calibration.explanation import duration
from anyarray._choice import automatic, choice, machine
from anyarray._cli import bench, info, tables, timing
from anyarray._cli.console import HINT, Cell, Column, Console, PlainConsole, Table, console
from anyarray._cli.experiments import EXPERIMENTS, Experiment, tanh, vector
from anyarray._cli.results import ALWAYS, NEVER, Participant, Results
from anyarray._cli.timing import Failure, Measurement
from anyarray._registry import libraries, registry

IDLE = (
    'backend "idle": json is installed, but finds no such device on this machine. '
    "It has no device at all; it needs a gpu"
)
ABSENT = 'backend "absent" is known, but no_such_package is not installed. Run: pip install "anyarray[absent]"'
TINY = Experiment("tiny", "tanh(x)", tanh, vector, 2, (0, 1, 2), (0, 1))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """One experiment that takes milliseconds, in place of the usual ones."""
    monkeypatch.setattr(bench, "EXPERIMENTS", (TINY,))
    monkeypatch.setattr(timing, "QUICK", timing.Effort(round_seconds=1e-5, rounds=2, cell_seconds=1.0))


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library `idle` that is installed, but finds no device."""
    module = types.ModuleType("idle_backend")
    module.devices = dict  # type: ignore[attr-defined]  # a hook of the contract
    monkeypatch.setitem(libraries.LIBRARIES, "idle", libraries.Library("idle", "idle_backend", "json", ("gpu",)))
    monkeypatch.setitem(sys.modules, "idle_backend", module)
    monkeypatch.setattr(registry, "_loaded", dict(registry._loaded))


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library `absent` that is known, but not installed."""
    row = libraries.Library("absent", "absent_backend", "no_such_package", ("cpu",), extra="absent")
    monkeypatch.setitem(libraries.LIBRARIES, "absent", row)
    monkeypatch.delitem(libraries.LIBRARIES, "sim", raising=False)  # there if a test has simulated an accelerator


def results(seconds: dict[str, Sequence[float]]) -> Results:
    """Results of TINY at its sizes 1, 2, 4 for each backend."""
    participants = [Participant(name, "1.0") for name in seconds]
    made = Results(participants, (TINY,), "float32", quick=False, is_complete=True)
    for name, row in seconds.items():
        for size, one in zip((1, 2, 4), row, strict=True):
            made.add(Measurement("tiny", size, name, one, 3 * one, 10))
    return made


def console_of(kind: str, file: io.StringIO, width: int) -> Console:
    """A console that prints to a text, with rich or without it."""
    if kind == "plain":
        return PlainConsole(file, width=width)
    pytest.importorskip("rich")
    return console(file, width=width)


@pytest.fixture(params=["plain", "rich"])
def shown(request: pytest.FixtureRequest) -> Callable[[Results, int], str]:
    """The tables as a terminal of some width shows them."""

    def show(made: Results, width: int) -> str:
        text = io.StringIO()
        tables.show(made, console_of(request.param, text, width))
        return text.getvalue()

    return show


@pytest.fixture
def without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment where only NumPy is installed."""
    for name in ("rich", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)


class Terminal(io.StringIO):
    """A text that says of itself that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_version_and_the_help_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"anyarray {xp.__version__}\n"
    assert main([]) == 0
    assert "info" in capsys.readouterr().out


def test_info_lists_every_known_backend_and_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    for row in xp.backends():
        assert row.name in out
    assert f"{xp.__version__}, Array API 2025.12" in out
    assert "default backend: auto" in out
    assert "int int64, float float64, complex complex128" in out
    assert f"calls: {'compiled' if extension.speedups else 'in Python'}" in " ".join(out.split())


def test_info_says_why_calls_are_not_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said() -> str:
        assert main(["info"]) == 0
        return "".join(capsys.readouterr().out.split())

    monkeypatch.setattr(extension, "speedups", None)
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: 0)
    monkeypatch.setattr(xp, "__file__", str(tmp_path / "anyarray" / "__init__.py"))
    monkeypatch.delenv(extension.VARIABLE, raising=False)
    assert "calls:inPython:nocompileratinstallation" in said()
    (tmp_path / "setup.py").touch()
    assert f"isafolderofsources.Run:pipinstall-e{tmp_path}" in said()
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: 1)
    assert "calls:inPython:thisPythonhasnoGIL" in said()
    monkeypatch.setenv(extension.VARIABLE, "off")
    assert "calls:inPython:ANYARRAY_SPEEDUPS=off" in said()


def test_info_as_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["default_backend"] == "auto"
    assert said["compiled_calls"] == (extension.speedups is not None)
    assert said["default_dtypes"] == {"int": "int64", "float": "float64", "complex": "complex128"}
    numpy = next(row for row in said["backends"] if row["name"] == "numpy")
    assert numpy == {
        "name": "numpy",
        "is_installed": True,
        "version": np.__version__,
        "devices": ["numpy"],
        "compiles": None,
        "problem": None,
        "install": "pip install numpy",
    }


def test_info_and_the_list_of_backends_import_no_framework(run_python: Callable[..., str]) -> None:
    program = """
        import sys
        import anyarray as xp
        from anyarray.__main__ import main
        main(["info"])
        print({row.devices for row in xp.backends() if row.name != "numpy"})
        print("loaded:", *sorted({"jax", "tensorflow", "torch", "cupy", "matplotlib"} & set(sys.modules)))
    """
    assert run_python(program).endswith("{None}\nloaded:\n")


@pytest.mark.usefixtures("idle")
def test_info_says_which_backend_has_no_device_here_or_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = libraries.Library("broken", "no_such_module_of_a_backend", "json", ("cpu",))
    monkeypatch.setitem(libraries.LIBRARIES, "broken", broken)
    rows = {row.name: row for row in info.backend_rows(look_for_devices=True)}
    assert (rows["idle"].state, rows["idle"].devices) == ("no device on this machine", [])
    assert rows["broken"].state == "not usable"
    assert rows["broken"].problem == "ModuleNotFoundError: No module named 'no_such_module_of_a_backend'"


@pytest.mark.usefixtures("absent")
def test_info_gives_the_install_line_of_what_is_not_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")  # a local version, as 2.13.0+cpu, leaves too little of 80
    main(["info"])
    line = next(line for line in capsys.readouterr().out.splitlines() if "absent" in line)
    assert "not installed" in line
    assert 'pip install "anyarray[absent]"' in line


def test_info_says_that_the_default_backend_is_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(choice.process_default, "backend", "jaxx")
    assert main(["info"]) == 0
    assert 'backend "jaxx" is unknown. Did you mean "jax"?' in capsys.readouterr().out


@pytest.mark.usefixtures("tiny")
def test_bench_prints_a_row_for_each_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--quick", "--backends", "numpy"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines() if "2^" in line] == ["2^0", "2^1"]
    assert "anyarray on numpy above NumPy itself" in out
    assert "\x1b" not in out, "a pipe gets no colours"


@pytest.mark.usefixtures("tiny", "idle", "absent")
def test_bench_on_all_backends_says_which_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--quick", "--json"]) == 0
    captured = capsys.readouterr()
    names = [row["name"] for row in json.loads(captured.out)["backends"]]
    assert names[0] == "numpy"
    assert not {"idle", "absent"}.intersection(names)
    assert f"Left out: {IDLE}\n" in captured.err
    assert f"Left out: {ABSENT}\n" in captured.err


@pytest.mark.usefixtures("tiny")
def test_bench_writes_json_beside_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    assert main(["bench", "--quick", "--backends", "numpy", "--dtype", "float64", "--json", str(file)]) == 0
    said = json.loads(file.read_text())
    assert said["dtype"] == "float64"
    assert said["is_complete"] is True
    assert {(m["experiment"], m["size"], m["contestant"]) for m in said["measurements"]} == {
        ("tiny", 1, "numpy"),
        ("tiny", 1, "NumPy itself"),
        ("tiny", 2, "numpy"),
    }
    assert "tiny" in capsys.readouterr().out


@pytest.mark.usefixtures("tiny")
def test_bench_shows_what_was_measured_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    file, picture = tmp_path / "bench.json", tmp_path / "bench.png"
    main(["bench", "--quick", "--backends", "numpy", "--json", str(file)])
    said, measured = capsys.readouterr().out, file.read_text()
    assert main(["bench", "--from", str(file), "--plot", str(picture)]) == 0
    assert capsys.readouterr().out == said
    assert picture.read_bytes().startswith(b"\x89PNG")
    main(["bench", "--from", str(file), "--json", str(file)])
    assert file.read_text() == measured


def test_sources_that_hide_an_installed_package_with_compiled_calls_are_told_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    installed = tmp_path / "anyarray"
    installed.mkdir()
    (installed / f"_speedups{EXTENSION_SUFFIXES[0]}").touch()
    monkeypatch.setattr(extension, "speedups", None)
    monkeypatch.setattr(machine.state, "is_shadowing_logged", False)
    monkeypatch.setenv(extension.VARIABLE, "on")
    assert extension.shadowing() == ""
    monkeypatch.syspath_prepend(str(tmp_path))
    sources = Path(xp.__file__).parents[1]
    told = f"{sources} is imported in place of {installed}, which has compiled calls. Run: pip install -e {sources}"
    for _ in range(2):
        machine.forget()
        automatic.model()
    assert caplog.messages == [f"anyarray: calls run in Python, as {told}"]
    main(["info"])
    assert f"inPython:{told}".replace(" ", "") in "".join(capsys.readouterr().out.split())
    monkeypatch.setenv(extension.VARIABLE, "off")
    assert extension.shadowing() == ""


def test_bench_refuses_a_file_that_it_did_not_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "other.json"
    for text, told in (
        (None, f"there is no file {file}"),
        ("{}", f"{file}: is not what anyarray bench --json writes"),
        ("[" * 100_000, f"{file} is broken (RecursionError: "),
        ('{"x": 1e999}', f"{file} is broken (ValueError: 1e999 is not a finite number)"),
    ):
        if text is not None:
            file.write_text(text)
        with pytest.raises(SystemExit):
            main(["bench", "--from", str(file)])
        assert f"argument --from: {told}" in capsys.readouterr().err


def test_bench_leaves_out_what_would_take_too_long() -> None:
    cubic = Experiment("cubic", "", tanh, vector, 10, (2, 4, 6), (), growth=1.5)
    results = Results([Participant("numpy", None)], [cubic], "float32", quick=False)
    assert results.predicted(cubic, 100, "numpy") == 0
    results.add(Measurement("cubic", 100, "numpy", 0.002, 0.002, 1))
    assert results.predicted(cubic, 10_000, "numpy") == pytest.approx(2.0)
    results.left_out.add(("cubic", 10_000, "numpy"))
    assert results.predicted(cubic, 1_000_000, "numpy") == math.inf


def test_bench_times_a_compiled_computation(framework: str) -> None:
    experiment = dataclasses.replace(TINY, is_compiled=True)
    outcomes = list(
        timing.measured(
            experiment, 4, [timing.Contestant("c", xp.device(framework))], np.dtype("float32"), timing.QUICK
        )
    )
    assert [type(one) for one in outcomes] == [Measurement]


@pytest.mark.usefixtures("idle", "absent")
@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            "jaxx",
            (
                'backend "jaxx" is unknown. Did you mean "jax"? '
                "Known: numpy, tf, jax, torch, cupy, dask, cubed, idle, absent"
            ),
        ),
        ("numpy,", 'backend "" is unknown. Known: numpy, tf, jax, torch, cupy, dask, cubed, idle, absent'),
        ("absent", ABSENT),
        ("idle", IDLE),
    ],
)
def test_bench_refuses_a_backend_in_one_sentence(names: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--backends", names]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"python -m anyarray: {sentence}\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("bench --plot no/such/folder/bench.png", "no/such/folder/bench.png: there is no folder no/such/folder"),
        ("bench --plot bench.txt", "bench.txt: the name must end in .png, .svg, .pdf"),
        ("bench --json no/such/folder/bench.json", "no/such/folder/bench.json: there is no folder no/such/folder"),
        ("bench --plot bench.png", 'matplotlib is not installed. Run: pip install "anyarray[cli]"'),
        ("calibrat", "argument COMMAND: invalid choice: 'calibrat'"),
    ],
)
def test_a_command_is_refused_before_it_measures(
    options: str, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="2"):
        main(options.split())
    assert sentence in capsys.readouterr().err


@pytest.mark.usefixtures("tiny")
def test_bench_shows_what_it_has_after_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(experiment: Experiment, size: int, *args: Any) -> Iterator[Measurement]:
        if size > 1:
            raise KeyboardInterrupt
        yield Measurement(experiment.name, size, "numpy", 1e-6, 1e-5, 1)

    monkeypatch.setattr(timing, "measured", interrupted)
    assert main(["bench", "--quick", "--backends", "numpy"]) == 130
    out = capsys.readouterr().out
    assert "1.00 us" in out
    assert "2^1" not in out
    assert out.endswith("Interrupted: these are the results so far.\n")


def test_bench_goes_on_after_a_cell_that_failed() -> None:
    def refuses(namespace: Any, x: Any) -> Any:
        raise ValueError("no\nmore of this")

    wrong = Experiment("wrong", "fails", refuses, vector, 2, (0,), (0,))
    here = timing.Contestant("numpy", xp.device("numpy"))
    assert list(timing.measured(wrong, 1, [here], np.dtype("float32"), timing.QUICK)) == [
        Failure("wrong", 1, "numpy", "ValueError: no")
    ]


@pytest.mark.usefixtures("without_rich")
def test_info_prints_plain_text_without_rich_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    captured = capsys.readouterr()
    assert captured.err == f"{HINT}\n"
    assert 'pip install "anyarray[cli]"' in HINT
    head, rule, *rows = captured.out.splitlines()
    assert head.split() == ["backend", "version", "devices", "xp.jit", "to", "install"]
    assert set(rule) == {"-", " "}
    assert rows[0].split()[:2] == ["numpy", np.__version__]
    assert main(["info", "--json"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("without_rich", "tiny")
def test_bench_prints_plain_text_without_rich_and_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--quick", "--backends", "numpy"]) == 0
    captured = capsys.readouterr()
    assert [line.split()[0] for line in captured.out.splitlines() if "2^" in line] == ["2^0", "2^1"]
    assert captured.err == f"{HINT}\n"


def test_a_plain_table_has_its_numbers_at_the_right() -> None:
    table = Table([Column("name"), Column("a\nb", is_right=True)])
    table.add("x", Cell("1.5", "bold"))
    table.separate()
    table.add("longer")
    text = io.StringIO()
    PlainConsole(text).table(table)
    assert text.getvalue() == "name      a\n          b\n------  ---\nx       1.5\n\nlonger\n\n"


@pytest.mark.parametrize("kind", ["plain", "rich"])
def test_a_console_wraps_texts_but_no_paths(kind: str) -> None:
    text = io.StringIO()
    to = console_of(kind, text, 10)
    to.line("one two three [bold]")
    to.line("/a/long/path/to/a file", wrap=False)
    assert [line.rstrip() for line in text.getvalue().splitlines()] == [
        "one two", "three", "[bold]", "/a/long/path/to/a file"
    ]  # fmt: skip


def test_progress_without_rich_is_one_line_of_a_terminal_that_is_cleared_and_nothing_in_a_pipe() -> None:
    text = Terminal()
    with PlainConsole(text, width=14).progress() as show:
        show(0.25, "sort of many elements")
        show(0.5, "fft")
    first, second, blank, rest = text.getvalue().removeprefix("\r").split("\r")
    assert (first, second) == (" 25% sort of ", " 50% fft     ")
    assert (blank.strip(), rest) == ("", "")
    pipe = io.StringIO()
    with PlainConsole(pipe).progress() as show, PlainConsole(pipe).working("importing jax"):
        show(0.5, "fft")
    assert pipe.getvalue() == ""


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_an_experiment_gives_numpys_values(backend: xp.Backend, experiment: Experiment) -> None:
    inputs = experiment.inputs(np.random.default_rng(0), 100, np.dtype("float64"))
    wanted = experiment.run(np, *inputs)
    found = experiment.run(xp, *[xp.asarray(a) for a in inputs] if experiment.is_resident else inputs)
    assert found.device is backend
    # Sums in another order: a few units in the last place of float64, times the 100 terms.
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-12)


def test_sizes_are_written_as_powers() -> None:
    for experiment in EXPERIMENTS:
        for size, exponent in zip(experiment.sizes(quick=False), experiment.exponents, strict=True):
            assert experiment.size_text(size) == f"{experiment.base}^{exponent}"


def test_the_fastest_backend_is_marked_with_its_gain(shown: Callable[[Results, int], str]) -> None:
    made = results({"numpy": [1e-6, 2e-6, 6e-6], "jax-cpu": [4e-6, 4e-6, 4e-6]})
    lines = {line.split()[0]: line.split() for line in shown(made, 80).splitlines() if "2^" in line}
    assert lines["2^0"] == ["2^0", "*", "1.00", "us", "4.00", "us", "numpy"]
    assert lines["2^2"] == ["2^2", "6.00", "us", "*", "4.00", "us", "jax-cpu", "1.5x"]


@pytest.mark.parametrize(
    ("seconds", "size"),
    [
        ([1, 1, 1], ALWAYS),
        ([4, 4, 4], NEVER),
        ([1, 1, 4], NEVER),
        # Half as fast at 2, twice as fast at 4: equal in the middle, on log axes.
        ([4, 4, 1], 2**1.5),
        ([1, 4, 1], 2**1.5),
    ],
)
def test_the_crossover_is_interpolated_after_the_last_loss(seconds: list[float], size: float | str) -> None:
    made = results({"numpy": [2, 2, 2], "jax-cpu": seconds})
    assert made.crossover("tiny", "jax-cpu") == (pytest.approx(size) if isinstance(size, float) else size)


def test_there_is_no_crossover_without_numpy(shown: Callable[[Results, int], str]) -> None:
    made = results({"tf-cpu": [2, 2, 2], "jax-cpu": [1, 1, 1]})
    assert made.crossover("tiny", "jax-cpu") is None
    assert "ahead from" not in shown(made, 80).split("Times are")[0]


def test_the_warm_up_and_the_cost_of_the_layer_follow_from_what_was_measured() -> None:
    assert results({"numpy": [1, 2, 3]}).warm_up("tiny", "numpy") == 6
    made = results({"numpy": [3e-6, 1, 1]})
    made.add(Measurement("tiny", 1, "NumPy itself", 1e-6, 1e-6, 1))
    assert made.layer_seconds() == {"tiny": pytest.approx(2e-6)}


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_tables_fit_the_terminal(width: int, shown: Callable[[Results, int], str]) -> None:
    names = ["numpy", "tf-gpu", "jax-gpu", "cupy", "jax-cpu"]
    made = results({name: [1e-6, 1e-4, 1e-2] for name in names})
    out = shown(made, width)
    assert all(len(line) <= width for line in out.splitlines())
    assert all(name in out for name in names)
    assert "…" not in out


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1e-9, "0.00 us"), (1.234e-6, "1.23 us"), (9.996e-6, "10.0 us"), (99.96e-6, "100 us"), (0.9999e-3, "1.00 ms"),
     (0.5, "500 ms"), (1.0, "1.00 s"), (100.0, "100 s")],
)  # fmt: skip
def test_a_duration_has_three_digits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_every_option_has_a_help_text() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    for command in (info, bench):
        command.add_parser(commands)
    for command in commands.choices.values():
        assert all(action.help for action in command._actions)


@pytest.mark.usefixtures("tiny")
def test_bench_says_that_its_picture_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    from anyarray._cli import plot

    def full(results: Results, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(plot, "save", full)
    file = tmp_path / "bench.png"
    assert main(["bench", "--quick", "--backends", "numpy", "--plot", str(file)]) == 1
    printed = capsys.readouterr()
    assert "tiny" in printed.out
    assert printed.err.endswith(f"bench: {file} cannot be written (No space left on device)\n")


def test_who_reads_only_the_head_sees_no_traceback() -> None:
    pytest.importorskip("rich")  # without it a line says so
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "anyarray", "info"], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")
