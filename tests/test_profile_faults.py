"""Profiles that are broken or tell too little, calibrations that fail.

Those cannot begin, or are interrupted.
"""

from __future__ import annotations

import json
import math
import os
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp
from anyarray import testing
from anyarray.__main__ import main
from anyarray._base import callers, files
from anyarray._calibration import calibration
from anyarray._choice import automatic, choice, cost, profile
from anyarray._choice import machine as _machine
from anyarray._cli import bench
from anyarray._cli.experiments import EXPERIMENTS
from anyarray._registry import libraries

LAW: Final = [1e-6, 100.0, 1.0, 0.5, 1e6]
"""Launch, half, growth, narrow, reach."""
ROUTE: Final = {"source": "numpy", "target": "jax-cpu", "copy": LAW, "view": None}


def measured(law: Any = LAW, **entries: Any) -> dict[str, Any]:
    """What a profile holds, NumPy's law or entries exchanged."""
    row = {"importing": 0.0, "compiling": 0.0, "first": {}, "fused": None}
    other = {**row, "laws": {"transcendental": LAW}}
    numpy = {**row, "laws": {"transcendental": law} if law else {}} | entries
    return {"backends": {"numpy": numpy, "jax-cpu": other}, "routes": [ROUTE]}


@pytest.fixture(autouse=True)
def own_lock(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no calibration but those of the test."""
    folder = tmp_path_factory.mktemp("lock")
    monkeypatch.setattr(files, "cache_folder", lambda: folder)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the profile is looked for; a sound one is there."""
    file = tmp_path / "profile.json"
    monkeypatch.setenv("ANYARRAY_PROFILE", str(file))
    profile.save(measured(), ["numpy"], file)
    _machine.forget()
    yield file
    _machine.use(None)


def changed(file: Path, **entries: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | entries))


def used() -> None:
    """Calls that look at all parts of a profile."""
    x = xp.ones(100_000)
    for _ in range(2):
        xp.sin(x)
        xp.jit(xp.cos)(x)
    with xp.policy(candidates=["numpy"]):
        xp.sin(x)


BROKEN: Final[dict[str, Callable[[Path], Any]]] = {
    "bytes of no text": lambda file: file.write_bytes(b'{"format": "\xff\xfe"}'),
    "nested": lambda file: file.write_text("[" * 100_000),
    "a long number": lambda file: file.write_text('{"format": ' + "9" * 5000 + "}"),
    "too large for a float": lambda file: changed(file, **measured([10**400, *LAW[1:]])),
    "a string for a law": lambda file: changed(file, **measured("x")),
    **{
        f"{where} {number}": lambda file, number=number, part=part: changed(file, **part(number))  # type: ignore[misc]  # its defaults
        for number in (-1.0, float("nan"), float("inf"), 1e308)
        for where, part in {
            "seconds": lambda n: measured([n, *LAW[1:]]),
            "work": lambda n: measured([*LAW[:4], n]),
            "importing": lambda n: measured(importing=n),
            "compiling": lambda n: measured(compiling=n),
            "first": lambda n: measured(first={"matmul": n}),
            "fused": lambda n: measured(fused=[n, *LAW[1:]]),
            "of one function": lambda n: measured(laws={"sin": [n, *LAW[1:]]}),
            "copy": lambda n: {
                "routes": [{"source": "numpy", "target": "jax-cpu", "copy": [n, *LAW[1:]], "view": None}]
            },
            "view": lambda n: {"routes": [{"source": "numpy", "target": "jax-cpu", "copy": LAW, "view": n}]},
        }.items()
    },
    "no seconds": lambda file: changed(file, **measured([0, *LAW[1:]])),
    "no work": lambda file: changed(file, **measured([LAW[0], 0, *LAW[2:]])),
    "too few numbers": lambda file: changed(file, **measured(LAW[:4])),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_profile_is_ignored_with_one_warning(file: Path, broken: Callable[[Path], Any]) -> None:
    broken(file)
    wanted = r"^profile: .+profile\.json is broken \(.+\), so it is ignored\. Run: python -m anyarray calibrate$"
    with pytest.warns(xp.ProfileWarning, match=wanted) as caught:
        used()
    assert len(caught) == 1
    assert len(str(caught[0].message)) < 300 + len(str(file))


@pytest.mark.parametrize(("given", "shown"), [("2", "'2'"), (None, "None"), ("x" * 1000, "'" + "x" * 99)])
def test_the_format_is_quoted_as_it_is(file: Path, given: Any, shown: str) -> None:
    changed(file, format=given)
    with pytest.warns(xp.ProfileWarning, match=f"is of format {shown}, not {profile.FORMAT}, so"):
        used()


@pytest.mark.parametrize("law", [None, [1e-3, None, 1, 1, None]])
def test_a_profile_that_tells_little_is_used(file: Path, law: Any) -> None:
    changed(file, **measured(law))
    used()
    assert _machine.state.model is not None


def test_a_backend_that_is_unknown_here_is_not_used(file: Path) -> None:
    data = measured()
    data["backends"]["no_such_library-cpu"] = data["backends"]["jax-cpu"]
    changed(file, **data)
    used()
    assert _machine.state.model is not None
    assert "no_such_library-cpu" not in _machine.state.model.backends


LINES: Final[dict[str, Callable[[], Any]]] = {
    "a creation function": lambda: xp.ones(100_000),
    "a block": xp.policy(candidates=["numpy"])(lambda: None),
    "a function of a native array": lambda: xp.sin(np.ones(100_000)),
}


@pytest.mark.parametrize("call", LINES.values(), ids=LINES)
def test_the_warning_names_the_line_of_the_user(file: Path, call: Callable[[], Any]) -> None:
    file.write_text("nothing")
    outside = callers.SKIPPED_FILES
    with pytest.warns(xp.ProfileWarning) as caught:
        call()
    assert caught[0].filename == __file__
    assert not __file__.startswith(outside)


@pytest.mark.parametrize("call", [lambda x: x + x, lambda x: xp.add(x, x)], ids=["an operator", "a function"])
def test_a_lack_of_memory_names_the_line_of_the_user(call: Callable[[xp.Array], xp.Array]) -> None:
    with testing.simulated(memory=8.0), xp.backend("auto"):
        xp.device("sim")
        with xp.policy(candidates=["sim"]), pytest.warns(xp.OutOfMemoryWarning) as caught:
            call(xp.ones(1000))
    assert caught[0].filename == __file__


def test_threads_that_look_for_the_profile_at_once_all_use_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly() -> Any:
        looking.set()
        time.sleep(0.2)
        return found()

    found, looking = automatic._load_model, threading.Event()
    monkeypatch.setattr(automatic, "_load_model", slowly)
    first = threading.Thread(target=lambda: xp.sin(xp.ones(100_000)))
    first.start()
    looking.wait()
    xp.sin(xp.ones(100_000))
    first.join()
    assert _machine.state.model is not None
    assert choice.process_default.backend is choice.BY_COST


@pytest.fixture
def loaded(file: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Has an item once the profile was read; NumPy alone is imported."""
    found: list[str] = []
    load = automatic._load_model
    monkeypatch.setattr(automatic, "_load_model", lambda: found.append("") or load())
    monkeypatch.setattr(_machine.state, "patience", 0.01)
    monkeypatch.setattr(libraries, "LIBRARIES", {"numpy": libraries.LIBRARIES["numpy"]})
    return found


@pytest.mark.parametrize("is_imported", [False, True])
def test_a_short_program_reads_the_profile_only_where_another_library_is_imported(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch, is_imported: bool
) -> None:
    x = xp.ones(100_000)
    for _ in range(3):
        x = xp.sin(x) + x
    assert x[0] > 1 and not loaded
    if is_imported:
        row = libraries.LIBRARIES["numpy"]._replace(name="another", package="json")
        monkeypatch.setitem(libraries.LIBRARIES, "another", row)
    xp.sin(x)
    assert len(loaded) == is_imported


@pytest.mark.parametrize(
    ("call", "shape", "seconds"),
    [
        (xp.sin, (400, 400), 3 * 160_000e-9),
        (lambda x: xp.matmul(x, x), (400, 400), 2 * 400**3 / 16 * 1e-9),
        (lambda x: xp.sort(x, axis=-1), (256, 1024), 256 * 1024 * 10e-9),
    ],
    ids=["sin", "matmul", "sort"],
)
@pytest.mark.parametrize("pause", [0.0, 0.01])
def test_the_profile_is_read_after_as_much_work_in_every_run(
    loaded: list[str], call: Callable[[xp.Array], xp.Array], shape: tuple[int, ...], seconds: float, pause: float
) -> None:
    x = xp.ones(shape)
    calls = 0
    while not loaded:
        call(x)
        time.sleep(pause)
        calls += 1
    assert calls == math.ceil((0.01 - 1e-9 * x.size) / seconds)


def test_a_profile_is_looked_for_again_after_ctrl_c(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    found = automatic._load_model
    monkeypatch.setattr(automatic, "_load_model", interrupted)
    with pytest.raises(KeyboardInterrupt):
        xp.ones(100_000)
    monkeypatch.setattr(automatic, "_load_model", found)
    xp.sin(xp.ones(100_000))
    assert _machine.state.model is not None


def test_who_computes_in_a_warning_finds_no_profile_yet(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(*args: Any) -> None:
        shapes.append(xp.sin(xp.ones(100_000)).shape)

    shapes: list[Any] = []
    file.write_text("{")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", shown)
        xp.sin(xp.ones(100_000))
    assert shapes == [(100_000,)]


def test_a_profile_is_used_at_once_in_blocks_that_are_open(file: Path) -> None:
    file.rename(file.with_suffix(".other"))
    with xp.backend("auto"):
        xp.sin(xp.ones(100_000))
        file.with_suffix(".other").rename(file)
        choice.forget_profile()
        xp.sin(xp.ones(100_000))
        assert _machine.state.model is not None


@pytest.mark.parametrize("function", ["qr", "svd"])
def test_an_empty_matrix_is_square(function: str) -> None:
    call = cost.call(function, [(2, 0, 0)], [xp.float64])
    assert call is not None and call.slimness == 0


def test_a_library_that_came_later_is_told_once(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    changed(file, installed=["numpy"])
    later = [name for name, version in profile.versions([]).items() if version and name != "numpy"]
    used()
    told = f"anyarray: no call is moved to {', '.join(later)}, installed after the profile was made. "
    assert caplog.messages == ([told + "Run: python -m anyarray calibrate"] if later else [])
    assert _machine.state.model is not None and "jax-cpu" in _machine.state.model.backends


def test_what_was_left_out_and_what_an_old_profile_does_not_tell_are_not(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    used()  # made with `--backends numpy`, so to say
    data = json.loads(file.read_text())
    assert {"numpy", *data["versions"]} <= set(data["installed"])
    del data["installed"]
    file.write_text(json.dumps(data))
    _machine.forget()
    used()
    assert caplog.messages == []


def test_show_tells_what_came_later(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(file, installed=[])
    assert main(["calibrate", "--show"]) == 0
    assert "Not measured, as installed since: numpy" in capsys.readouterr().out


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is refused is refused before anything is measured."""

    def measure(*arguments: Any) -> None:
        raise AssertionError("measured")

    monkeypatch.setattr(calibration, "prepared", measure)
    monkeypatch.setattr(bench, "_measure", measure)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("below", "reason"),
    [("afile/x.json", "Not a directory"), ("adir", "Is a directory"), ("afile/deeper/x.json", "Not a directory")],
)
def test_a_profile_that_cannot_be_written_is_refused(
    below: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "afile").touch()
    (tmp_path / "adir").mkdir()
    monkeypatch.setenv("ANYARRAY_PROFILE", str(tmp_path / below))
    wanted = (
        f"calibrate: the profile cannot be written to {tmp_path / below} ({reason}). "
        "Name another file by the environment variable ANYARRAY_PROFILE"
    )
    assert main(["calibrate"]) == 2
    assert capsys.readouterr().err == wanted + "\n"
    with pytest.raises(OSError, match=f"^{re.escape(wanted)}$"):
        xp.calibrate()


@pytest.mark.usefixtures("unmeasured")
def test_a_calibration_that_would_not_be_kept_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANYARRAY_PROFILE", "off")
    assert main(["calibrate"]) == 2
    refusal = 'calibrate: ANYARRAY_PROFILE is "off", so no profile would be kept. Unset it, or name a file by it\n'
    assert capsys.readouterr().err == refusal
    monkeypatch.setattr(calibration, "prepared", pytest.fail)
    assert xp.calibrate() is None


@pytest.mark.usefixtures("unmeasured", "file")
@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "a"])
def test_seconds_on_the_command_line_are_positive(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["calibrate", f"--seconds={text}"])
    assert caught.value.code == 2
    assert f"argument --seconds: {text}: must be a positive number of seconds\n" in capsys.readouterr().err


NAMES: Final = 'backends must be names of backends, such as ["numpy", "jax"], not '


@pytest.mark.usefixtures("unmeasured", "file")
@pytest.mark.parametrize(
    ("arguments", "kind", "sentence"),
    [
        *[
            ({"seconds": given}, xp.ArgumentValueError, f"seconds must be positive and finite, not {shown}")
            for given, shown in ((-1, "-1"), (0, "0"), (float("nan"), "nan"), (10**400, "inf"))
        ],
        ({"seconds": "a"}, xp.ArgumentTypeError, "seconds must be a number, not str"),
        ({"backends": "numpy"}, xp.ArgumentValueError, f"{NAMES}'numpy'"),
    ],
)
def test_calibrate_refuses_arguments(arguments: dict[str, Any], kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=f"^{re.escape(f'calibrate: {sentence}')}$"):
        xp.calibrate(**arguments)


@pytest.mark.usefixtures("unmeasured", "file")
@pytest.mark.parametrize("command", ["calibrate", "bench"])
def test_auto_is_no_backend_of_the_command_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--backends", "numpy,auto"]) == 2
    refusal = f'{command}: "auto" is the choice among backends, not one of them. Name some: numpy, tf, jax'
    assert refusal in capsys.readouterr().err


def test_names_are_stripped_and_devices_are_names(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Any] = []

    def prepared(names: Any) -> None:
        seen.append(names)
        raise xp.BackendError("enough")

    monkeypatch.setattr(calibration, "prepared", prepared)
    assert main(["calibrate", "--backends", "numpy, jax "]) == 2
    with pytest.raises(xp.BackendError, match="enough"):
        xp.calibrate(backends=[xp.device("numpy")])
    assert seen == [["numpy", "jax"], ["numpy"]]


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("option", "file", "reason"),
    [
        ("--json", "folder.png", "Is a directory"),
        ("--plot", "folder.png", "Is a directory"),
        ("--json", "x" * 1000, "File name too long"),
    ],
    ids=["json", "plot", "long"],
)
def test_bench_refuses_a_file_that_cannot_be_written(
    option: str, file: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(SystemExit) as caught:
        main(["bench", option, str(tmp_path / file)])
    assert caught.value.code == 2
    assert f"{file}: cannot be written ({reason})\n" in capsys.readouterr().err


def test_to_look_if_a_file_can_be_written_leaves_it_as_it_is(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("something")
    assert [bench._writable(str(file)) for file in (old, new)] == [old, new]
    assert old.read_text() == "something" and not new.exists()


def test_bench_prints_its_table_though_the_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "folder" / "x.json"
    file.parent.mkdir()
    monkeypatch.setattr(bench, "_measure", lambda results, backends, console: file.parent.rmdir())
    assert main(["bench", "--backends", "numpy", "--quick", "--json", str(file)]) == 1
    printed = capsys.readouterr()
    assert EXPERIMENTS[0].meaning in printed.out
    assert printed.err.endswith(f"bench: {file} cannot be written (No such file or directory)\n")


NO_ROOM: Final = OSError(28, "No space left on device")


def refuse_to_write(monkeypatch: pytest.MonkeyPatch, least: int) -> None:
    """A disk that has no room for so many bytes."""
    write = Path.write_bytes

    def refusing(self: Path, content: bytes) -> int:
        if len(content) < least:
            return write(self, content)
        write(self, content[:least])
        raise NO_ROOM

    monkeypatch.setattr(Path, "write_bytes", refusing)
    monkeypatch.setattr(Path, "write_text", lambda self, text: refusing(self, text.encode()))


@pytest.mark.usefixtures("unmeasured")
def test_a_full_disk_is_told_before_anything_is_measured(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refuse_to_write(monkeypatch, 1 << 16)
    assert main(["calibrate"]) == 2
    assert f"cannot be written to {file} (No space left on device). Name another file" in capsys.readouterr().err
    assert list(file.parent.iterdir()) == [file]


def test_a_disk_that_fills_up_meanwhile_leaves_the_old_profile_and_no_traceback(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_text()
    monkeypatch.setattr(profile, "USUAL", 0)
    refuse_to_write(monkeypatch, 10)
    assert main(["calibrate", "--backends", "numpy", "--seconds", "0.1"]) == 2
    assert capsys.readouterr().err.endswith(
        f"calibrate: the profile cannot be written to {file} (No space left on device). "
        "Name another file by the environment variable ANYARRAY_PROFILE\n"
    )
    assert file.read_text() == before
    assert list(file.parent.iterdir()) == [file]


def test_a_link_stays_one_and_others_may_read_a_profile(file: Path, tmp_path: Path) -> None:
    link, plain = tmp_path / "link.json", tmp_path / "plain"
    plain.touch()
    assert file.stat().st_mode == plain.stat().st_mode
    link.symlink_to(file.name)
    file.unlink()
    profile.save(measured(), ["numpy"], link)
    assert link.is_symlink() and file.is_file()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="There are no pipes with names on Windows")
def test_a_pipe_is_neither_read_nor_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setenv("ANYARRAY_PROFILE", str(pipe))
    _machine.forget()
    with pytest.warns(xp.ProfileWarning, match=r"pipe cannot be read \(Not a regular file\), so it is ignored"):
        used()
    assert main(["calibrate"]) == 2
    assert f"cannot be written to {pipe} (Not a regular file)" in capsys.readouterr().err
    assert pipe.is_fifo()


def test_a_huge_file_is_not_read(file: Path) -> None:
    with file.open("ab") as huge:
        huge.truncate(1 << 40)
    with pytest.warns(xp.ProfileWarning, match=r"cannot be read \(File too large\)"):
        used()


def test_a_user_without_a_home_has_no_profile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def homeless(*arguments: Any) -> Path:
        raise RuntimeError("could not determine the home directory for '~/.cache'")

    monkeypatch.delenv("ANYARRAY_PROFILE")
    monkeypatch.setattr(profile, "cache_folder", homeless)
    _machine.forget()
    used()
    assert main(["calibrate", "--show"]) == 1
    assert main(["calibrate"]) == 2
    wanted = (
        "calibrate: there is no home folder, where the profile would be kept. "
        "Name a file by the environment variable ANYARRAY_PROFILE\n"
    )
    assert capsys.readouterr().err.endswith(wanted)


@pytest.mark.parametrize(
    ("given", "path"),
    [("~/profile.json", "/home/somebody/profile.json"), (" /a profile.json ", "/a profile.json"), ("off ", None)],
)
def test_the_variable_may_name_the_home_and_have_spaces_around(
    given: str, path: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("USERPROFILE", "/home/somebody")  # which Windows has for it
    monkeypatch.setenv("ANYARRAY_PROFILE", given)
    assert profile.path() == (None if path is None else Path(path))
    assert profile.is_off() is (path is None)


@pytest.mark.parametrize("home", ["/dev/null", "/absent/home"])
def test_who_has_no_folder_for_a_profile_is_not_warned(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANYARRAY_PROFILE")
    monkeypatch.setattr(profile, "cache_folder", lambda: Path(home, "anyarray"))
    _machine.forget()
    used()
    assert _machine.state.model is None


def test_a_folder_of_another_user_holds_no_profile(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANYARRAY_PROFILE")
    monkeypatch.setattr(profile, "cache_folder", lambda: file.parent)
    usual = profile.path()
    assert usual is not None
    usual.write_text("")
    monkeypatch.setattr(os, "access", lambda *args: False)  # nobody keeps root out
    assert profile.find() is None


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Enter an environment with a folder and a version of JAX of its own."""
    monkeypatch.delenv("ANYARRAY_PROFILE")
    monkeypatch.setattr(profile, "cache_folder", lambda: tmp_path)

    def enter(prefix: str, **libraries: str) -> None:
        monkeypatch.setattr("sys.prefix", prefix)
        found = {"numpy": "2.0", **libraries}
        monkeypatch.setattr(profile, "versions", lambda names: {**dict.fromkeys(names), **found})
        _machine.forget()

    yield enter
    _machine.use(None)


def saved(*libraries: str) -> Path:
    file = profile.path()
    assert file is not None
    profile.save(measured(), libraries, file)
    return file


def used_file() -> Path | None:
    found = profile.find()
    return None if found is None else found[0]


def test_environments_of_a_machine_have_a_profile_each(environment: Callable[..., None]) -> None:
    environment("a", jax="1")
    first = saved("numpy", "jax")
    environment("b", jax="2")
    assert used_file() is None  # and no warning: nothing of this environment is stale
    second = saved("numpy", "jax")
    assert used_file() == second != first
    environment("a", jax="1")
    assert used_file() == first


def test_an_environment_with_one_more_library_takes_the_profile_that_fits(environment: Callable[..., None]) -> None:
    environment("a", jax="1")
    first = saved("numpy", "jax")
    environment("b", jax="1", tf="1")
    assert used_file() == first
    found = profile.find()
    assert found is not None and found[1].added == ("tf",)


def test_after_an_upgrade_the_old_profile_is_stale(environment: Callable[..., None]) -> None:
    environment("a", jax="1")
    saved("numpy", "jax")
    environment("a", jax="2")
    with pytest.warns(xp.ProfileWarning, match=r"is stale \(jax 1 is 2 now\), so it is ignored"):
        used()


def test_hiding_accelerators_where_there_are_none_changes_no_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    machine = profile.machine.__wrapped__()
    assert machine["hidden"] == ("-1" if machine["accelerators"] else None)
