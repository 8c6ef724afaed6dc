"""What differs between systems and C libraries, by faking the platform."""

from __future__ import annotations

import ctypes
import os
import types
from pathlib import Path
from typing import Any

import pytest

from anyarray._base import processor
from anyarray._base.cache_folder import cache_folder
from anyarray._choice import profile
from anyarray._memory import alignment

HOME = Path("/home/somebody").absolute()


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder, and none of the variables that name another."""
    monkeypatch.setattr(Path, "home", lambda: HOME)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)


CACHES = HOME / ".cache" / "anyarray"


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {}, CACHES),
        ("freebsd14", {}, CACHES),
        ("darwin", {}, HOME / "Library" / "Caches" / "anyarray"),
        ("win32", {}, HOME / "AppData" / "Local" / "anyarray" / "Cache"),
        ("linux", {"XDG_CACHE_HOME": os.path.abspath("/caches")}, Path("/caches/anyarray").absolute()),
        ("linux", {"XDG_CACHE_HOME": "caches"}, CACHES),  # a relative folder does not count
        ("win32", {"LOCALAPPDATA": os.path.abspath("/local")}, Path("/local/anyarray/Cache").absolute()),
    ],
)
def test_caches_are_where_the_system_or_a_variable_has_them(
    platform: str, variables: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == folder


def no_library(name: str | None) -> Any:
    """As `ctypes.CDLL` of Windows, which has no library without a name."""
    raise TypeError("argument of type 'NoneType' is not iterable")


@pytest.mark.parametrize("library", [no_library, lambda name: types.SimpleNamespace()], ids=["windows", "musl"])
def test_freed_memory_is_returned_by_no_other_allocator_than_glibcs(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []
    for variable in ("GLIBC_TUNABLES", "MALLOC_MMAP_THRESHOLD_"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: (asked.append(name), library(name))[1])
    alignment.trim_malloc()
    assert asked == [None]


def test_cores_are_counted_where_a_process_has_no_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert processor.cores() == 7


def test_a_machine_without_proc_has_a_description(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(path: str, *args: Any, **kwargs: Any) -> Any:
        raise FileNotFoundError(path)

    monkeypatch.setattr("builtins.open", absent)
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    monkeypatch.setattr("platform.processor", lambda: "arm")
    assert profile.machine.__wrapped__()["processor"] == "arm64 arm"
