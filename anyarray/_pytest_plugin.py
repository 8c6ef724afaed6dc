"""The pytest plugin: the fixture `xp`, one test for each backend."""

from __future__ import annotations

from collections.abc import Generator
from types import ModuleType

import pytest


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses this fixture `xp` once for each backend.

    Another fixture of that name is left alone, and so is a test that has its own values for it.
    """
    fixtures = metafunc.definition._fixtureinfo.name2fixturedefs.get("xp")
    is_given = any("xp" in call.params for call in metafunc._calls)
    if fixtures and fixtures[-1].func.__module__ == __name__ and not is_given:
        metafunc.parametrize("xp", _names(), indirect=True)


def _names() -> list[str]:
    import anyarray as xp
    import anyarray.testing  # adds "sim"  # pyright: ignore[reportUnusedImport]

    names = []
    for row in xp.backends():
        if row.is_installed:
            try:
                xp.device(row.name)
            except xp.DeviceNotFoundError:
                continue
            names.append(row.name)
    return names


@pytest.fixture
def xp(request: pytest.FixtureRequest) -> Generator[ModuleType]:
    """The namespace of anyarray, with one backend chosen around the test."""
    import anyarray

    with anyarray.backend(request.param):
        yield anyarray
