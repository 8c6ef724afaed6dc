"""`python -m anyarray run` runs NumPy programs unchanged."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy
import pytest

import anyarray as xp
import anyarray.numpy  # which adds a finder of modules of its own
from anyarray.__main__ import main

SCRIPT: Final = """
import sys
import numpy, numpy.linalg, numpy.linalg as la, numpy as np
from numpy import ones
from numpy.random.mtrand import RandomState
import its_helper, library_of_its, its_package.part
print(sys.argv[1:], __name__, numpy is np)
print([m.__name__ for m in (np, la, its_helper.np, its_helper.late(), its_package.part.np, library_of_its.np)])
print(repr(ones(2)), [ones(2)[0]], eval(repr(np.arange(3)), {"array": np.array}), RandomState(0).randint(9))
print(type(library_of_its.made(ones(2))).__module__, isinstance(library_of_its.made(1.0), np.ndarray))
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script, modules beside it, and a library that it imports."""
    folder, library = tmp_path / "program", tmp_path / "library"
    (folder / "its_package").mkdir(parents=True)
    library.mkdir()
    (folder / "main.py").write_text(SCRIPT)
    (folder / "its_helper.py").write_text("import numpy as np\ndef late():\n    import numpy\n    return numpy\n")
    (folder / "its_package" / "__init__.py").write_text("")
    (folder / "its_package" / "part.py").write_text("import numpy as np\n")
    (library / "library_of_its.py").write_text("import numpy as np\ndef made(x): return np.array(x)\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(library)])
    for name in ("its_helper", "its_package", "its_package.part", "library_of_its"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder


OURS: Final = "anyarray.numpy"


@pytest.mark.parametrize(("modules", "librarys"), [([], "numpy"), (["--modules", "a,library_of_its"], OURS)])
def test_numpy_is_replaced_in_the_script_its_folder_and_named_modules(
    modules: list[str], librarys: str, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finders = list(sys.meta_path)
    assert main(["run", *modules, str(program / "main.py"), "a", "--b"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "['a', '--b'] __main__ True",
        str([OURS, f"{OURS}.linalg", OURS, OURS, OURS, librarys]),
        "array([1., 1.]) [np.float64(1.0)] [0 1 2] 5",
        f"{'numpy' if librarys == 'numpy' else 'anyarray'} True",
    ]
    assert sys.meta_path == finders
    assert repr(xp.ones(1)) == "Array([1.], dtype=float64, device=numpy)"


def test_a_module_is_run_with_its_exit_status_and_no_file_is_changed(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (program / "its_package" / "__main__.py").write_text("import numpy, sys; print(numpy.__name__); sys.exit(3)")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(program)
    before = {path: path.read_bytes() for path in program.rglob("*.py")}
    assert main(["run", "-m", "its_package"]) == 3
    assert capsys.readouterr().out == f"{OURS}\n"
    assert {path: path.read_bytes() for path in program.rglob("*.py")} == before


def test_the_backend_is_chosen_by_name(program: Path, framework: str, forked: Callable[..., str]) -> None:
    (program / "where.py").write_text("import numpy as np; print(np.ones(2).device, repr(np.ones(2)))")
    command = ["run", "--backend", framework, str(program / "where.py")]
    told = forked(f"from anyarray.__main__ import main; raise SystemExit(main({command}))")
    assert told == f"{xp.device(framework)} array([1., 1.])\n"


def test_a_script_or_a_backend_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "no_such.py"]) == 2
    assert main(["run", "--backend", "jaxx", __file__]) == 2
    assert capsys.readouterr().err.startswith(
        'run: no_such.py: there is no such file\npython -m anyarray: backend "jaxx" is unknown.'
    )


def test_numpys_option_override_repr_decides_how_an_array_is_shown() -> None:
    with numpy.printoptions(override_repr=lambda x: f"<{x.tolist()}>"):
        assert repr(xp.asarray([1, 2])) == "<[1, 2]>"
        assert str(xp.asarray([1, 2])) == "[1 2]"
