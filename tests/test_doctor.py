"""`doctor` runs a script, says where its time goes, and advises."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anyarray as xp
from anyarray import testing
from anyarray.__main__ import main
from anyarray._choice import machine
from anyarray._cli import console, sampling
from anyarray._memory import transfer

Doctor = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def unmeasured() -> Iterator[None]:
    with testing.simulated():
        machine.use(None)
        yield


@pytest.fixture
def doctor(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Doctor:
    """Runs a script; gives its status and its output.

    Blanks are single in the output of both streams.
    """
    monkeypatch.setattr(console, "has_rich", lambda: False)
    monkeypatch.setenv("COLUMNS", "1000")

    def run(text: str, *arguments: str) -> tuple[int, str, str]:
        (tmp_path / "script.py").write_text(textwrap.dedent(text).lstrip())
        status = main(["doctor", str(tmp_path / "script.py"), *arguments])
        printed = capsys.readouterr()
        return status, re.sub(" +", " ", printed.out), printed.err

    return run


def test_it_tells_the_time_of_lines_with_their_source_and_ends_as_the_script_does(doctor: Doctor) -> None:
    status, out, _ = doctor(
        """
        import sys, time
        import anyarray as xp
        def wait(): time.sleep(0.2)
        wait()
        print("arguments", *sys.argv[1:])
        sys.exit(3)
        """,
        "a",
        "--b",
    )
    assert status == 3
    assert out.startswith("arguments a --b\n\ndoctor: ")
    assert re.search(r"^script\.py:3 [\d.]+ m?s \d+% def wait\(\): time\.sleep\(0\.2\)$", out, re.MULTILINE)
    assert "script.py:4" not in out  # which only called the line that took the time
    assert "This machine is not measured, so calls stay where their arrays are." in out


def test_it_advises_to_copy_once(doctor: Doctor) -> None:
    _, out, _ = doctor(
        """
        import anyarray as xp
        x = xp.ones(1_000_000)
        for _ in range(9):
            with xp.backend("sim"):
                y = x + 1
            x = y.to_device("numpy")
        """
    )
    copies = r"script\.py:5 copies 72 MB from numpy to sim in 9 transfers, and script\.py:6 copies back: open the block"
    assert re.search(rf"^Up to [\d.]+ ms, \d+%: {copies}", out, re.MULTILINE)
    assert "script.py:6 copies 72 MB from sim to numpy in 9 transfers, and script.py:5 copies back" in out


def test_it_advises_on_lists_and_loops(doctor: Doctor) -> None:
    _, out, _ = doctor(
        """
        import anyarray as xp
        x, y = xp.arange(400_000), xp.arange(20_000)
        for _ in range(10):
            x.tolist()
            list(y)
        """
    )
    cure = "an Array and waits for its values: compute with the Array, or convert once, after the loop."
    assert f"script.py:4 calls tolist of {cure}" in out
    assert f"script.py:5 loops over the elements of {cure}" in out


LIBRARY, OURS = Path(sysconfig.get_path("purelib")), Path(xp.__file__).parent
FRAMES = {
    "user": ("user.py", "f", "inner()"),
    "traced": ("user.py", "g", "inner()"),
    "numpy": (LIBRARY / "numpy" / "core.py", "f", "inner()"),
    "jax": (LIBRARY / "jax" / "__init__.py", "f", "inner()"),
    "keras": (LIBRARY / "keras" / "__init__.py", "f", "inner()"),
    "import": ("<frozen importlib._bootstrap>", "load", "inner()"),
    "miss": (LIBRARY / "jax" / "_src" / "pjit.py", "cache_miss", "inner()"),
    "jit": (OURS / "transforms" / "_jit.py", "call", "inner()"),
    "graph": (OURS / "backends" / "tensorflow" / "_transforms.py", "called", "is_fused = inner()"),
    "new graph": (OURS / "backends" / "tensorflow" / "_transforms.py", "called", "is_fused = True; inner()"),
    "item": (OURS / "_array" / "array.py", "item", "inner()"),
    "computing": (OURS / "_array" / "array.py", "item", "array.native"),
}
"""Files with a function and what that does."""


@pytest.mark.parametrize(
    ("stack", "line", "kind", "advice"),
    [
        ("user", "f", "", ""),
        ("user, numpy", "f", "", ""),
        ("user, miss", "f", "compiling", "compiles, once for each function and shape"),
        ("user, miss, traced", "f", "compiling", "compiles, once for each function and shape"),
        ("user, jit, miss", "f", "compiling", "compiles, once for each shape and call of xp.jit"),
        ("user, jit, new graph", "f", "compiling", "compiles, once for each shape and call of xp.jit"),
        ("user, jit, graph", "f", "", ""),
        ("user, import, jax", "f", "importing", ""),
        ("user, import, traced", "g", "", ""),
        ("user, jit, import, jax", "f", "importing", "imports jax for its calls"),
        ("user, jit, import, keras, import, jax", "f", "importing", ""),
        ("user, miss, import, jax", "f", "importing", ""),
        ("user, item", "f", "reading", "calls item of an Array"),
        ("user, item, numpy", "f", "reading", "calls item of an Array"),
        ("user, computing", "f", "", ""),
    ],
)
def test_stacks_tell_what_a_line_does_besides_computing(stack: str, line: str, kind: str, advice: str) -> None:
    found: list[Any] = []

    def sampled(*_: Any) -> None:
        found.append(sampling.Sampler("elsewhere")._seen(sys._getframe(1)))

    array, latest = type("Array", (), {"native": property(sampled)})(), sampled
    for one in reversed(stack.split(", ")):
        file, name, text = FRAMES[one]
        names: dict[str, Any] = {"inner": latest, "array": array}
        exec(compile(f"def {name}():\n    {text}", str(file), "exec"), names)
        latest = names[name]
    latest()
    ((frame, (its_kind, its_advice)),) = found
    assert (frame.f_code.co_filename, frame.f_code.co_name, its_kind) == ("user.py", line, kind)
    assert its_advice.startswith(advice) and bool(its_advice) == bool(advice)


def test_operations_between_two_checks_of_the_interpreter_share_their_time() -> None:
    code = compile("y = x + 1\nz = f(y)\nfor _ in z:\n    w = z - y\n    v = z * w\n", "script.py", "exec")
    lines = list(sampling.between_checks(code).values())
    assert [1, 2] in lines and [4, 5] in lines


def test_operations_on_pythons_own_numbers_take_no_share() -> None:
    def work(x: Any) -> None:
        for number in range(500):
            other = number + number
            x + x
            len((x, other))

    work(np.ones(3))
    first = work.__code__.co_firstlineno
    lines = [[line - first for line in found] for found in sampling.between_checks(work.__code__).values()]
    assert [3, 4] in lines


def test_a_line_without_a_check_gets_its_time(doctor: Doctor) -> None:
    _, out, _ = doctor(
        """
        import anyarray as xp
        x = xp.ones(8)
        for _ in range(50_000):
            y = x + 1
            z = x * y
        """
    )
    assert "script.py:4" in out and "script.py:5" in out


def test_it_runs_the_script_as_python_does_and_leaves_no_trace(doctor: Doctor) -> None:
    interval = sys.getswitchinterval()
    _, out, _ = doctor(
        """
        import threading
        import anyarray as xp
        from anyarray._choice import choice
        from anyarray._memory import transfer
        print(type(choice.current()) is choice.Choice, choice.current().records, transfer.watch() is transfer.UNWATCHED)
        print(threading.getprofile(), xp.ones(3).device)
        """
    )
    assert out.startswith("True () True\nNone numpy\n")
    assert sys.getswitchinterval() == interval and not transfer.logs_of_copies
    assert all(one.name != "anyarray doctor" for one in threading.enumerate())


def test_it_waits_for_threads_of_the_script(doctor: Doctor) -> None:
    status, out, _ = doctor(
        """
        import threading, time
        from concurrent.futures import ThreadPoolExecutor
        import anyarray as xp

        def work():
            time.sleep(0.1)
            xp.exp(xp.ones(3))
            with xp.backend("sim"):
                for _ in range(20): xp.ones(1_000_000, device="numpy") + 1

        pool = ThreadPoolExecutor(1)
        pool.submit(int).result()
        threading.Thread(target=work).start()
        """
    )
    assert status == 0
    assert "script.py:6" in out
    assert "script.py:9 copies 160 MB from numpy to sim in 20 transfers" in out


def test_it_waits_for_a_thread_that_only_begins(doctor: Doctor) -> None:
    status, out, _ = doctor(
        """
        import threading
        import anyarray as xp

        def work():
            with xp.backend("sim"):
                for _ in range(20): xp.ones(1_000_000, device="numpy") + 1

        threading.Timer(0.1, work).start()
        """
    )
    assert status == 0
    assert "script.py:6 copies 160 MB from numpy to sim in 20 transfers" in out


def test_a_module_is_run_as_by_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "doctored"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "core.py").write_text("import time\ndef f():\n    time.sleep(0.1)\n")
    (package / "__main__.py").write_text("import sys\nfrom .core import f\nf()\nsys.exit(int(sys.argv[1]))\n")
    monkeypatch.chdir(tmp_path)
    assert main(["doctor", "-m", "doctored", "4"]) == 4
    assert "doctored/core.py:3" in capsys.readouterr().out
    for missing, kind in ((["-m", "doctored.none"], "module"), (["no_such_script.py"], "file")):
        assert main(["doctor", *missing]) == 2
        assert capsys.readouterr().err == f"doctor: {missing[-1]}: there is no such {kind}\n"


def test_a_script_without_calls_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import time\ntime.sleep(0.1)\n")
    command = [sys.executable, "-m", "anyarray", "doctor", str(tmp_path / "script.py")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.endswith("This script makes no anyarray call.\n")


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        ("raise KeyboardInterrupt", 130, "doctor: interrupted\n"),
        ("sys.exit('no data')", 1, "no data\n"),
        ("{}['key']", 1, "KeyError: 'key'\n"),
    ],
)
def test_a_script_that_ends_early_is_reported_all_the_same(doctor: Doctor, end: str, status: int, said: str) -> None:
    ended, out, err = doctor(f"import sys, time\ntime.sleep(0.1)\n{end}\n")
    assert ended == status
    assert "script.py:2" in out
    assert err.removesuffix(f"{console.HINT}\n").endswith(said)
    if status == 1 and "Error" in said:  # whose traceback begins with the script
        assert re.match(r'Traceback \(most recent call last\):\n  File ".*script\.py", line 3', err)
