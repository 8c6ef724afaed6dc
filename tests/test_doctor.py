"""`doctor` runs a script and says where its time goes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import anyarray as xp
from anyarray import testing
from anyarray.__main__ import main
from anyarray._choice import cost, machine
from anyarray._choice.law import Law


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


def test_it_tells_calls_and_transfers_by_line(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(script), "a", "--b"]) == 3
    printed = capsys.readouterr().out
    assert "arguments a --b" in printed
    (calls,) = (line for line in printed.splitlines() if line.strip().startswith("script.py:7"))
    assert calls.split()[3] == "5" and calls.split()[4] == "numpy"
    (brought,) = (
        line for line in printed.splitlines() if "8 kB" in line and "script.py:9" in line and "copies" not in line
    )
    assert "numpy" in brought and "sim" in brought


def test_it_tells_what_other_choices_are_predicted_to_take(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", str(script)])
    printed = capsys.readouterr().out
    assert 'xp.set_default_backend("numpy"): 5.00 ms, now 5.00 ms\n' in printed
    assert 'xp.set_default_backend("sim"): 500 us, now 5.00 ms  <- faster' in printed
    assert "xp.jit around the elementwise calls, on sim: 45.5 us" in printed
    assert "script.py:9 brings 8 kB from numpy to sim in 1 copies" in printed


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
