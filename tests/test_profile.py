"""The profile of a machine: what is kept of it, and what is refused.

Measuring, on little, and the command are tested, too.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp
from anyarray import testing
from anyarray.__main__ import main
from anyarray._base import files
from anyarray._calibration import calibration as _calibration
from anyarray._calibration import cells, fitting, measuring, processes
from anyarray._call import declaration
from anyarray._choice import automatic, cost, machine, profile
from anyarray._choice.law import Law
from anyarray._memory import alignment, transfer
from anyarray._registry import libraries
from anyarray.backends import _rows

MEASURED: Final[dict[str, Any]] = {
    "backends": {
        name: {
            "importing": 0.0, "compiling": 0.0, "first": {}, "fused": None,
            "laws": {
                "transcendental": [launch, launch / each, 1, 0.5, 1e6],
                "log1p": [launch, launch / each / 1.5, 1, 0.5, 1e6],
            },
        }
        for name, launch, each in (("numpy", 1e-6, 1e-8), ("jax-cpu", 1e-5, 1e-9))
    },
    "routes": [
        {"source": source, "target": target, "copy": [1e-6, 1e4, 1, 1, 1e6], "view": None}
        for source, target in (("numpy", "jax-cpu"), ("jax-cpu", "numpy"))
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def own_lock(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no calibration but those of the test."""
    folder = tmp_path_factory.mktemp("lock")
    monkeypatch.setattr(files, "cache_folder", lambda: folder)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the profile is looked for; a sound one is there."""
    file = tmp_path / "folder" / "profile.json"
    monkeypatch.setenv("ANYARRAY_PROFILE", str(file))
    profile.save(MEASURED, ["numpy"], file)
    machine.forget()
    return file


def changed(file: Path, **entries: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | entries))


def test_what_is_saved_is_loaded(file: Path) -> None:
    model = automatic.model()
    assert model is not None
    call = cost.call("exp", [(1000, 1000)], [xp.float64])
    assert call is not None
    assert model.seconds("numpy", call) == pytest.approx(1e-2, rel=1e-3)
    assert model.seconds("numpy", call._replace(function="log1p")) == pytest.approx(1.5e-2, rel=1e-3)
    assert model.bringing("numpy", "jax-cpu", 1e6) == pytest.approx(1.01e-4)


def test_a_program_that_begins_with_explain_uses_the_profile(file: Path) -> None:
    with xp.explain() as why:
        xp.exp(xp.ones(3))
    assert [one.reason for one in why.decisions] == ["stays on numpy: the fastest"]


def test_the_name_of_a_folder_tells_the_version() -> None:
    found = {one.metadata["Name"].lower(): one.version for one in metadata.distributions()}
    for library in libraries.LIBRARIES.values():
        assert library.version == next((found[one] for one in library.distributions if one in found), None)


def test_a_distribution_without_such_a_folder_has_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "_version_in_folders", lambda distribution: None)
    assert libraries.LIBRARIES["numpy"].version == np.__version__


def test_a_save_leaves_nothing_else_in_the_folder_and_if_it_fails_the_old_profile(file: Path) -> None:
    profile.save(MEASURED, ["numpy"], file)
    assert list(file.parent.iterdir()) == [file]
    before = file.read_text()
    with pytest.raises(TypeError):
        profile.save({"backends": object()}, ["numpy"], file)
    assert file.read_text() == before
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ({"format": 0}, f"is of format 0, not {profile.FORMAT}"),
        ({"machine": {"processor": "Z80"}}, "is of another machine"),
        ({"versions": {"numpy": "0.1"}}, r"is stale \(numpy 0\.1 is .+ now\)"),
        ({"backends": {}}, r"is broken \(ValueError: numpy is missing\)"),
        ({"backends": [1]}, r"is broken \(AttributeError: .+\)"),
        ({"routes": [{}]}, r"is broken \(KeyError: .+\)"),
    ],
)
def test_a_profile_that_does_not_fit_is_ignored_with_one_warning(
    file: Path, entries: dict[str, Any], fault: str
) -> None:
    changed(file, **entries)
    cure = "Run: python -m anyarray calibrate"
    with pytest.warns(xp.ProfileWarning, match=rf"^profile: .+profile\.json {fault}, so it is ignored\. {cure}$"):
        x = xp.sin(xp.ones(100_000))
    assert x.device.library == "numpy"
    xp.sin(x)  # a second warning would be an error here


def test_a_torn_profile_is_ignored_with_a_warning(file: Path) -> None:
    file.write_text(file.read_text()[:100])
    with pytest.warns(xp.ProfileWarning, match="is broken"):
        assert automatic.model() is None


def test_the_profile_is_not_read_where_a_backend_is_chosen(file: Path) -> None:
    file.write_text("no profile at all")
    with xp.backend("numpy"):
        assert float(xp.sum(xp.sin(xp.zeros(1000)) + 1)) == 1000


def test_the_usual_place_is_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYARRAY_PROFILE", "off")
    assert profile.path() is profile.find() is None
    monkeypatch.delenv("ANYARRAY_PROFILE")
    path = profile.path()
    assert path is not None
    assert path.name.startswith("profile-") and "anyarray" in str(path.parent)


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three classes and two sizes in place of all."""
    kinds = ("arithmetic", "matmul", cells.FUSED)
    sizes = (16, 256)
    monkeypatch.setattr(
        cells, "stages", lambda largest: [[cells.Cell(k, w, n) for k in kinds for w in (4, 8)] for n in sizes]
    )
    monkeypatch.setattr(cells, "LONG", sizes)
    monkeypatch.setattr(cells, "INPUTS", {kind: row._replace(sizes=sizes) for kind, row in cells.INPUTS.items()})
    monkeypatch.setattr(cells, "ENOUGH", 1)


@pytest.mark.usefixtures("little")
def test_calibrate_measures_and_is_used_at_once(file: Path) -> None:
    file.unlink()
    assert xp.calibrate(seconds=0.5, backends=["numpy"]) == file
    model = automatic.model()
    assert model is not None
    law = model.backends["numpy"].laws["matmul"]
    assert law.reach == 2 * 16**3  # of float32; of float64 there are half as many elements
    assert 0 < law.launch < 1 and law(1e9) > law.launch


@pytest.mark.usefixtures("little")
def test_calibrate_copies_where_copies_that_nobody_asked_for_are_forbidden(file: Path) -> None:
    pytest.importorskip("jax")  # which a new process imports fastest
    with xp.no_transfers():
        assert xp.calibrate(seconds=0.5, backends=["numpy", "jax"]) == file


@pytest.mark.usefixtures("little")
def test_an_interrupted_calibration_keeps_what_it_has(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.unlink()
    visit = _calibration.Calibration._visit

    def interrupted(self: _calibration.Calibration, cell: cells.Cell) -> None:
        if cell.kind == "matmul":
            raise KeyboardInterrupt
        visit(self, cell)

    monkeypatch.setattr(_calibration.Calibration, "_visit", interrupted)
    assert main(["calibrate", "--backends", "numpy", "--seconds", "1"]) == 130
    assert set(json.loads(file.read_text())["backends"]["numpy"]["laws"]) == {"arithmetic"}


def test_a_calibration_interrupted_at_once_leaves_the_profile_alone(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(self: _calibration.Calibration, cell: cells.Cell) -> None:
        raise KeyboardInterrupt

    before = file.read_text()
    monkeypatch.setattr(_calibration.Calibration, "_visit", interrupted)
    assert main(["calibrate", "--backends", "numpy", "--seconds", "1"]) == 130
    assert file.read_text() == before
    assert "Interrupted: nothing was measured yet, nothing is changed." in capsys.readouterr().err


def test_half_of_the_time_is_left_however_long_importing_took(calibration: _calibration.Calibration) -> None:
    calibration.started = -1e9
    done, _ = next(calibration.steps(60.0))
    assert done == pytest.approx(0.5, abs=0.1)


BACKEND: Final = """
import os, signal, sys, time
import array_api_strict as namespace

ARRAY_TYPES = (type(namespace.empty(0)),)
"""
CHATTER: Final = """
print("a line of the library", end="", flush=True)
os.write(1, b"[1, 2]")
"""
AT_A_CALL: Final = """
def add(x1, x2):
    {}
"""
ENDINGS: Final = {
    "sound": CHATTER,
    "exiting": "os._exit(3)",
    "raising": "raise TypeError('Descriptors cannot be created directly')",
    "aborting": AT_A_CALL.format("os.write(2, b'LLVM ERROR\\n'); os.abort()"),
    "blocking": AT_A_CALL.format("time.sleep(1000)"),
}
"""What modules of libraries do at their import or at a call."""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Install some of these libraries beside NumPy, and no other."""
    monkeypatch.setattr(libraries, "LIBRARIES", {"numpy": libraries.LIBRARIES["numpy"]})
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(*names: str) -> None:
        metadata = tmp_path / "several_backends-1.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: several-backends\nVersion: 1\n")
        points = [f"{name} = {name}_backend" for name in names]
        (metadata / "entry_points.txt").write_text("\n".join(["[anyarray.backends]", *points]))
        for name in names:
            (tmp_path / f"{name}_backend.py").write_text(BACKEND + ENDINGS[name])
        libraries.registered.cache_clear()

    yield install
    libraries.registered.cache_clear()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.usefixtures("little")
def test_a_library_that_ends_or_blocks_its_process_costs_itself_alone(
    file: Path, install: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 10.0)
    install(*ENDINGS)
    assert main(["calibrate", "--seconds", "1"]) == 0
    assert set(json.loads(file.read_text())["backends"]) == {"numpy", "sound-cpu"}
    reasons = {
        "exiting": "its process ended with exit status 3",
        "raising": "TypeError: Descriptors cannot be created directly",
        "aborting": "its process ended by SIGABRT (LLVM ERROR), at arithmetic 16",
        "blocking": "its process did not answer for 10 s, at arithmetic 16",
    }
    told = "".join([f"calibrate: {name} is left out: {reason}\n" for name, reason in reasons.items()])
    assert capsys.readouterr().err == told


@pytest.mark.usefixtures("file")
def test_a_library_that_was_asked_for_and_cannot_be_used_is_an_error(install: Callable[..., None]) -> None:
    install("exiting")
    reason = "its process ended with exit status 3"
    with pytest.raises(xp.BackendError, match=f'^calibrate: backend "exiting" cannot be used: {reason}$'):
        xp.calibrate(seconds=0.5, backends=["numpy", "exiting"])


@pytest.mark.usefixtures("little", "file")
def test_ctrl_c_ends_the_processes_of_a_calibration(
    install: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[processes.Process] = []
    begin = processes.Process.__init__

    def noted(self: processes.Process) -> None:
        begin(self)
        started.append(self)

    def interrupted(self: processes.Process, task: str, *arguments: Any) -> Any:
        if task == "visit" and arguments[1] == "blocking-cpu":
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        return ask(self, task, *arguments)

    ask = processes.Process.ask
    monkeypatch.setattr(processes.Process, "__init__", noted)
    monkeypatch.setattr(processes.Process, "ask", interrupted)
    install("blocking")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        assert main(["calibrate", "--seconds", "20"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(started) == 2 and all(one._process.returncode is not None for one in started)


@pytest.mark.usefixtures("little", "file")
def test_a_calibration_waits_until_another_one_has_ended(caplog: pytest.LogCaptureFixture) -> None:
    calibrating = threading.Thread(target=xp.calibrate, kwargs={"seconds": 0.1, "backends": ["numpy"]})
    with _calibration.alone(pytest.fail):
        calibrating.start()
        calibrating.join(3 * files.LOOK)
        assert calibrating.is_alive()
    calibrating.join()
    assert caplog.messages == [f"anyarray: {_calibration.WAITING}"]


@pytest.mark.usefixtures("little", "file")
def test_the_command_says_that_it_waits(capsys: pytest.CaptureFixture[str]) -> None:
    def release() -> None:
        with _calibration.alone(pytest.fail):
            held.set()
            time.sleep(2 * files.LOOK)

    held = threading.Event()
    other = threading.Thread(target=release)
    other.start()
    held.wait()
    assert main(["calibrate", "--backends", "numpy", "--seconds", "0.1"]) == 0
    other.join()
    assert _calibration.WAITING in capsys.readouterr().err


def test_who_can_lock_nothing_measures_all_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(files, "cache_folder", lambda: tmp_path / "file" / "folder")
    with _calibration.alone(pytest.fail), _calibration.alone(pytest.fail):
        pass


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such users")
def test_no_other_user_can_hold_the_lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "cache_folder", lambda: tmp_path / "caches")
    with _calibration.alone(pytest.fail):
        [lock] = (tmp_path / "caches").iterdir()
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600
        monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
        with _calibration.alone(pytest.fail):  # whose folder is another user's waits for nobody
            pass


@pytest.fixture
def calibration() -> _calibration.Calibration:
    """Of NumPy, which visited nothing yet; its process is the test's."""
    process: Any = SimpleNamespace(ask=lambda task, *arguments: measuring.TASKS[task](*arguments))
    return _calibration.Calibration([_calibration.Candidate("numpy", "numpy", "cpu", process)], {})


def visited(calibration: _calibration.Calibration, cell: cells.Cell, *seconds: float) -> None:
    """Let a cell have been visited, and the calls have taken so long."""
    calibration._work[cell] = float(cell.size)
    calibration._visits.setdefault((cell, "numpy"), []).extend(seconds)


SIZES: Final = [cells.Cell("sum", 8, size) for size in cells.LONG]


def test_the_lower_median_of_the_visits_counts(calibration: _calibration.Calibration) -> None:
    visited(calibration, SIZES[2], 0.01, 0.04, 0.011, 0.05)
    assert calibration._seconds(SIZES[2], "numpy") == 0.011


def test_one_bad_visit_does_not_bend_a_law() -> None:
    work = [64.0, 2.0**16, 2.0**20, 2.0**23]
    points = [fitting.Point(w, 1e-6 + 1e-9 * w) for w in work]
    law = fitting.fitted([*points[:2], points[2]._replace(seconds=20 * points[2].seconds, spread=1.3), *points[3:]])
    for w in (2.0**14, 2.0**22):
        assert law(w) == pytest.approx(1e-6 + 1e-9 * w, rel=0.5)


def test_a_visit_whose_times_differ_weighs_less() -> None:
    points = [fitting.Point(w, 1e-9 * w) for w in (2.0**14, 2.0**17, 2.0**20, 2.0**23)]
    wrong = [fitting.fitted([*points[:3], fitting.Point(2.0**23, 3e-9 * 2**23, spread=s)]) for s in (1.1, 3.0)]
    often, rarely = [law(2.0**23) / (1e-9 * 2**23) for law in wrong]
    assert 0.8 < rarely < 0.9 * often


def test_a_law_is_found_again_from_its_own_times() -> None:
    true = Law(2e-5, 1e5, 1.1, 0.6, 1e8)
    points = [fitting.Point(w, true(w, is_narrow=n), n) for w in (64.0, 1e4, 1e6, 1e8) for n in (False, True)]
    law = fitting.fitted(points)
    for w in (1e3, 1e5, 1e7):
        assert law(w) == pytest.approx(true(w), rel=0.1)
        assert law(w, is_narrow=True) == pytest.approx(true(w, is_narrow=True), rel=0.15)


def test_larger_sizes_are_measured_until_launching_does_not_matter(calibration: _calibration.Calibration) -> None:
    visited(calibration, SIZES[0], 1e-6)
    visited(calibration, SIZES[1], 1e-4)
    assert calibration._is_needed(SIZES[2])  # where no decision matters yet
    visited(calibration, SIZES[2], 3e-3)
    assert not calibration._is_needed(cells.Cell("sort", 8, cells.LONG[2]))
    assert not calibration._is_needed(dataclasses.replace(SIZES[4]))


def test_a_size_that_takes_too_long_is_not_measured(calibration: _calibration.Calibration) -> None:
    visited(calibration, SIZES[2], 0.1)
    assert calibration._is_too_long(SIZES[3], "numpy")
    assert not calibration._is_too_long(SIZES[2], "numpy")


def test_transfers_are_timed_with_a_new_array_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sources: list[Any] = []
    found = transfer.route

    def noted(source: Any, target: Any) -> Any:
        way = found(source, target)
        return SimpleNamespace(
            copy=lambda native: sources.append(native) or way.copy(native), share=lambda native: None
        )

    monkeypatch.setattr(measuring.transfer, "route", noted)
    monkeypatch.setattr(measuring, "BYTES", tuple([1 << i for i in (10, 14, 16, 18, 20)]))  # as all are kept here
    with testing.simulated():
        measuring.route("numpy", "sim", 5)
        measuring.route("sim", "numpy", 5)
    assert len({id(one) for one in sources}) == len(sources) > 20


def test_only_arrays_larger_than_what_is_kept_are_measured_in_new_memory(
    calibration: _calibration.Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    monkeypatch.setattr(alignment, "trim_malloc", lambda: happened.append("gives back"))
    monkeypatch.setattr(measuring, "timed", lambda run, loops: happened.append("timed") or 0.001)
    monkeypatch.setattr(calibration, "_is_too_long", lambda *_: False)  # as if smaller sizes had been measured
    larger = next(size for size in cells.LONG if 4 * size > alignment.LARGEST_REUSED)
    calibration._visit(cells.Cell("sum", 4, larger))
    assert happened == ["gives back", "timed"] * (len(happened) // 2) != []
    happened.clear()
    calibration._visit(cells.Cell("sum", 4, cells.LONG[0]))
    assert set(happened) == {"timed"}


def test_every_class_can_be_measured() -> None:
    for kind in (*cost.CLASSES, cells.FUSED):
        cell = cells.Cell(kind, 4, cells.sizes(kind)[0])
        inputs = cell.inputs()
        found = measuring.visit(dataclasses.astuple(cell), "numpy")
        assert found is not None and found[0] == cell.work(inputs) > 0, kind
        assert found[1] > 0 and found[2] >= 0, kind


def test_show_prints_the_crossovers_or_what_to_run(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "curves.png"
    assert main(["calibrate", "--show", "--plot", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert "transcendental" in printed and "numpy to jax-cpu: 1 us, 101 us for 1 MB" in printed
    assert "jax-cpu: 0.0 s for importing" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
    file.unlink()
    assert main(["calibrate", "--show"]) == 1
    assert capsys.readouterr().err == "There is no profile of this machine. Run: python -m anyarray calibrate\n"


def model_of(each: dict[str, float]) -> cost.Model:
    """Of NumPy: seconds of a unit of work, by class; a launch takes 1 us."""
    return cost.Model({"numpy": cost.Costs({kind: Law(1e-6, 1e-6 / one) for kind, one in each.items()})}, {})


def seconds_of(
    model: cost.Model, function: str, *shapes: tuple[int, ...], dtype: xp.DType = xp.float64, axis: cost.Axis = None
) -> float:
    call = cost.call(function, shapes, [dtype] * len(shapes), axis=axis)
    assert call is not None
    seconds = model.seconds("numpy", call)
    assert seconds is not None
    return seconds


def test_a_matrix_is_taken_for_a_slim_one_by_how_slim_it_is() -> None:
    model = model_of({"svd": 1e-9, "svd of a slim matrix": 1e-7})
    assert seconds_of(model, "svd", (256, 256)) == pytest.approx(1e-9 * 256**3, rel=1e-2)
    assert seconds_of(model, "svd", (1024, 64)) == pytest.approx(1e-8 * 1024 * 64**2, rel=1e-2)
    assert seconds_of(model, "svd", (16, 65536)) == pytest.approx(1e-7 * 65536 * 16**2, rel=1e-2)


def test_a_reduction_along_an_axis_is_one_of_rows_by_how_short_they_are() -> None:
    model = model_of({"sum": 1e-9, "sum of short rows": 1e-7})
    short, long = 1e-7 * 1e6, 1e-9 * 1e6
    middle = long + (short - long) / 16  # of rows sixteen times as long
    for shape, axis, seconds in [
        ((62_500, 16), None, long),
        ((62_500, 16), 1, short),
        ((62_500, 16), -1, short),
        ((62_500, 16), 0, long),  # many narrow rows at once
        ((3906, 256), 1, middle),
        ((3906, 256), 0, middle),
        ((244, 4096), 1, long),
        ((15_625, 4, 16), 2, short),
        ((15_625, 4, 16), (1, 2), long + (short - long) / 4),  # rows of 64
        ((15_625, 4, 16), (0, 1, 2), long),
        ((15_625, 4, 16), 1, short),
        ((15_625, 4, 16), 0, long),
        ((15_625, 4, 16), (), long),
        ((250_000, 4), 1, long + (short - long) / 4),  # by columns
        ((1_000_000, 1), 1, long + (short - long) / 16),
    ]:
        for function in ("sum", "mean"):
            assert seconds_of(model, function, shape, axis=axis) == pytest.approx(seconds, rel=0.02), (shape, axis)


def test_broadcasting_takes_time_for_each_run_of_elements() -> None:
    model = model_of({"arithmetic": 1e-9, "arithmetic of short rows": 1e-8})
    for shapes, part in [
        (((500, 1, 4), (1, 500, 4)), 4),
        (((500, 1, 8), (1, 500, 8)), 2),
        (((500, 1, 2), (500, 2)), 8),
        (((500, 1, 2, 2), (1, 500, 2, 2)), 4),
        (((1000, 4), (4,)), 4),
        (((1000, 4), (1000, 1)), 4),
        (((1000, 1), (1, 1000)), 16 / 1000),
        (((1000, 1000), (1000, 1000)), 0),
        (((1000, 4), ()), 0),
        (((1000, 4), (1, 1)), 0),
        (((1000, 4),), 0),
    ]:
        elements = math.prod(np.broadcast_shapes(*shapes))
        expected = 1e-6 + elements * (1e-9 + part * 9e-9)
        for function in ("add", "multiply")[: len(shapes)]:
            assert seconds_of(model, function, *shapes) == pytest.approx(expected, rel=0.15), shapes


def test_the_model_counts_rows_as_numpy_s_backend_takes_them() -> None:
    assert cost.SHORT_ROW == _rows.SHORT + 1
    assert cost.NARROW_ROW == _rows.NARROW


def test_a_transform_along_another_axis_than_the_last_is_one_of_columns() -> None:
    model = model_of({"fft": 1e-9, "fft of columns": 1e-8})
    last, first = (seconds_of(model, "ifft", (1024, 1024), dtype=xp.complex64, axis=one) for one in (-1, 0))
    assert first == pytest.approx(10 * last, rel=1e-2)


def test_a_product_takes_no_less_than_reading_its_matrices() -> None:
    model = model_of({"matmul": 1e-12, "product with a vector": 1e-8})
    assert seconds_of(model, "matmul", (1000, 1000), (1000,)) == pytest.approx(1e-2, rel=1e-2)
    assert seconds_of(model, "matmul", (1000, 1000), (1000, 2)) == pytest.approx(1e-2, rel=1e-2)
    model = model_of({"matmul": 1e-9, "product with a vector": 1e-9})
    assert seconds_of(model, "matmul", (1000, 1000), (1000, 1000)) == pytest.approx(2.0, rel=1e-2)


def test_complex_elements_count_twice() -> None:
    model = model_of({"arithmetic": 1e-9})
    assert seconds_of(model, "add", (10**7,), dtype=xp.complex128) == pytest.approx(2e-2, rel=1e-2)


def test_a_function_that_was_measured_itself_has_its_own_law() -> None:
    model = model_of({"arithmetic": 1e-9, "sqrt": 4e-9, "negative": 5e-10})
    assert seconds_of(model, "add", (10**7,)) == pytest.approx(1e-2, rel=1e-2)
    assert seconds_of(model, "sqrt", (10**7,)) == pytest.approx(4e-2, rel=1e-2)
    assert seconds_of(model, "negative", (10**7,)) == pytest.approx(5e-3, rel=1e-2)


def test_what_takes_as_long_as_another_is_of_its_class() -> None:
    others = {name: row.alike for name, row in declaration.declarations.items() if row.alike}
    assert others["less_equal"] == "less"
    assert not [name for name, other in others.items() if cost.class_of[name] != cost.class_of[other]]
    assert not [name for name, other in others.items() if other in others]


def every_cell() -> list[cells.Cell]:
    return [cell for stage in cells.stages(max(cells.LONG)) for cell in stage]


def test_every_function_of_a_class_is_measured_or_like_one_that_is() -> None:
    measured = {cell.other for cell in every_cell() if cell.other} | {row.first for row in cost.CLASSES.values()}
    assert measured | {other for name in measured for other in cells.alike(name)} == set(cost.class_of)


def test_the_odd_inputs_are_those_that_a_declaration_may_name() -> None:
    assert tuple(cells.ODD) == declaration.TIMED


@pytest.mark.parametrize("cell", [cell for cell in every_cell() if cell.other and cell.width == 8], ids=str)
def test_every_other_function_takes_its_inputs(cell: cells.Cell) -> None:
    little = cells.Cell(cell.kind, 4, 4, cell.other)
    inputs = little.inputs()
    run = measuring.waiting(little.function, inputs, xp.device("numpy"))
    run(1)
    assert little.work(inputs) > 0
