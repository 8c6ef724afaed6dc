"""`doctor` runs a script and says where its time goes."""

from __future__ import annotations

import contextlib
import itertools
import re
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import anyarray as xp
from anyarray import testing
from anyarray.__main__ import main
from anyarray._choice import choice, cost, machine
from anyarray._choice.law import Law
from anyarray._cli import console
from anyarray._cli.spent import Record


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A script that computes, brings an array over, and ends by itself."""
    file = tmp_path / "script.py"
    file.write_text(
        textwrap.dedent(
            """
            import sys
            import anyarray as xp

            x = xp.ones(1000)
            for _ in range(5):
                x = xp.tanh(x)
            with xp.backend("sim"):
                y = x + 1
            print("arguments", *sys.argv[1:])
            sys.exit(3)
            """
        )
    )
    return file


@pytest.fixture(autouse=True)
def model() -> Iterator[None]:
    """An accelerator that takes a tenth of NumPy's time."""
    costs = {
        name: cost.Costs({"transcendental": Law(each)}, fused=Law(each))
        for name, each in (("numpy", 1e-3), ("sim", 1e-4))
    }
    route = cost.Route(Law(1.0))
    with testing.simulated():
        xp.device("sim")
        machine.use(cost.Model(costs, {("numpy", "sim"): route, ("sim", "numpy"): route}))
        yield
        machine.use(None)


@contextlib.contextmanager
def plain() -> Iterator[None]:
    """Tables without rich, which are as wide as they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console, "has_rich", lambda: False)
        yield


def test_it_tells_calls_and_transfers_by_line(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(script), "a", "--b"]) == 3
    printed = capsys.readouterr().out
    assert "arguments a --b" in printed
    (calls,) = (line for line in printed.splitlines() if line.strip().startswith("script.py:7"))
    assert calls.split()[3] == "5" and calls.split()[4] == "numpy"
    (brought,) = (line for line in printed.splitlines() if "8 kB" in line and "script.py:9" in line)
    assert "numpy" in brought and "sim" in brought


def rows(printed: str, head: str) -> list[list[str]]:
    """The cells of the table whose first column has this head."""
    lines = printed.splitlines()
    start = next(at for at, line in enumerate(lines) if line.split()[:1] == [head])
    found = [re.split(r"\s{2,}", line.strip()) for line in lines[start + 2 :]]
    return list(itertools.takewhile(lambda cells: cells != [""], found))


def test_it_tells_what_other_choices_are_predicted_to_take(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text("import anyarray as xp\nx = xp.ones(1000)\nfor _ in range(500):\n    x = xp.tanh(x)\n")
    with plain():
        main(["doctor", str(script)])
    now, there, jitted = rows(capsys.readouterr().out, "predicted")
    assert now[0] == "as it is"
    assert there[0] == "all calls on sim" and there[-1] == "yes"
    assert jitted[0] == "xp.jit on sim around script.py:4" and jitted[-1] == "yes"


def test_it_runs_what_the_script_chooses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "chosen.py"
    script.write_text(
        textwrap.dedent(
            """
            import threading
            import anyarray as xp

            def work():
                xp.set_default_backend("sim")
                xp.exp(x)

            with xp.backend("sim"):
                x = xp.ones(1000)
                xp.sin(x)
                xp.jit(lambda v: xp.cos(v) + 1)(x)  # which sim runs as it is
            one = threading.Thread(target=work)
            one.start()
            one.join()
            print(xp.ones(3).device)
            xp.set_default_backend("auto")
            """
        )
    )
    with plain():
        assert main(["doctor", str(script)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("sim\n")
    calls = {cells[0]: cells[-2:] for cells in rows(printed, "line") if cells[-1] == "sim"}
    assert calls == {"chosen.py:7": ["1", "sim"], "chosen.py:11": ["1", "sim"], "chosen.py:12": ["3", "sim"]}


def test_calls_of_a_chain_are_told_at_the_lines_where_they_are_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.use(None)
    script = tmp_path / "chain.py"
    script.write_text(
        "import anyarray as xp\nx = xp.linspace(0, 1, 1_000_000)\ny = xp.exp(-x)\nz = xp.sin(y)\nfloat(xp.sum(z))\n"
    )
    with plain():
        main(["doctor", str(script)])
    calls = {cells[0]: cells[-2] for cells in rows(capsys.readouterr().out, "line") if cells[-1] == "numpy"}
    assert calls == {"chain.py:3": "2", "chain.py:4": "1", "chain.py:5": "1"}


def test_it_waits_for_threads_of_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "late.py"
    script.write_text(
        textwrap.dedent(
            """
            import threading, time
            from concurrent.futures import ThreadPoolExecutor
            import anyarray as xp

            def work():
                time.sleep(0.3)
                xp.exp(xp.ones(3))

            pool = ThreadPoolExecutor(1)
            pool.submit(int).result()
            threading.Thread(target=work).start()
            """
        )
    )
    assert main(["doctor", str(script)]) == 0
    assert "late.py:8" in capsys.readouterr().out


def test_a_module_is_run_as_by_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "doctored"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "core.py").write_text("import anyarray as xp\ndef f():\n    return xp.exp(xp.ones(3))\n")
    (package / "__main__.py").write_text("import sys\nfrom .core import f\nf()\nsys.exit(int(sys.argv[1]))\n")
    monkeypatch.chdir(tmp_path)
    assert main(["doctor", "-m", "doctored", "4"]) == 4
    assert "doctored/core.py:3" in capsys.readouterr().out
    assert main(["doctor", "-m", "doctored.none"]) == 2
    assert capsys.readouterr().err == "doctor: doctored.none: there is no such module\n"


def test_it_leaves_no_trace(script: Path) -> None:
    default, hook = type(choice.process_default), threading.getprofile()
    main(["doctor", str(script)])
    assert type(choice.process_default) is default is choice.Choice
    assert choice.process_default.records == () and choice.current().records == ()
    assert threading.getprofile() is hook


def test_what_is_recorded_is_added_up_now_and_then() -> None:
    record = Record(None)
    home = xp.asarray(1)._home
    for _ in range(3 * record.WAITING):
        record.append(xp.Decision("sin", ((3,),), home, home, seconds=1e-6, where=("a.py", 1)))
    assert len(record) < record.WAITING
    assert record.by_line()["a.py", 1].calls == 3 * record.WAITING


def test_without_a_profile_it_says_so(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    machine.use(None)
    main(["doctor", str(script)])
    assert "This machine is not measured, so nothing is predicted." in capsys.readouterr().out


def test_a_script_that_is_missing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "no_such_script.py"]) == 2
    assert capsys.readouterr().err == "doctor: no_such_script.py: there is no such file\n"


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        ("raise KeyboardInterrupt", 130, "doctor: interrupted\n"),
        ("sys.exit('no data')", 1, "no data\n"),
        ("{}['key']", 1, "KeyError: 'key'\n"),
    ],
)
def test_a_script_that_ends_early_is_reported_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], end: str, status: int, said: str
) -> None:
    script = tmp_path / "early.py"
    script.write_text(f"import sys\nimport anyarray as xp\nxp.exp(xp.ones(3))\n{end}\n")
    assert main(["doctor", str(script)]) == status
    printed = capsys.readouterr()
    assert "early.py:3" in printed.out
    assert printed.err.endswith(said)


def test_the_traceback_of_a_script_begins_with_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "broken.py"
    script.write_text("{}['key']\n")
    main(["doctor", str(script)])
    first, where, *_ = capsys.readouterr().err.splitlines()
    assert first == "Traceback (most recent call last):"
    assert f'File "{script}", line 1' in where
