"""The user's cache folder on each system, by faking the platform."""

from __future__ import annotations

from pathlib import Path

import pytest

from anyarray._base.cache_folder import cache_folder

HOME = Path("/home/somebody").absolute()


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder, and none of the variables that name another."""
    monkeypatch.setattr(Path, "home", lambda: HOME)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("platform", "parts"),
    [
        ("linux", (".cache", "anyarray")),
        ("freebsd14", (".cache", "anyarray")),
        ("darwin", ("Library", "Caches", "anyarray")),
        ("win32", ("AppData", "Local", "anyarray", "Cache")),
    ],
)
def test_caches_are_where_the_system_has_them(
    platform: str, parts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    assert cache_folder() == HOME.joinpath(*parts)


def test_a_variable_names_another_folder_under_linux(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "anyarray"


def test_a_relative_folder_in_the_variable_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    assert cache_folder() == HOME / ".cache" / "anyarray"


def test_a_variable_names_another_folder_under_windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert cache_folder() == tmp_path / "anyarray" / "Cache"
