"""The pytest plugin: the fixtures `xp`, one test a backend, and `key`.

The mark `xp_needs` leaves out the backends that lack what a test is about.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator
from types import ModuleType
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from anyarray import Array, Backend

HOOKS: Final = {"derivatives": "value_and_grad", "jit": "jit"}
"""The hook of a backend that has what a word of the mark means."""


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    words = ", ".join(f'"{word}"' for word in HOOKS)
    config.addinivalue_line(
        "markers", f"xp_needs(*words): skip on a backend without what they mean: {words} or the name of a dtype"
    )


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
    import anyarray.testing  # adds "sim"  # pyright: ignore[reportUnusedImport]

    for word in [word for mark in request.node.iter_markers("xp_needs") for word in mark.args]:
        if not _has(anyarray.device(request.param), word):
            pytest.skip(f"{request.param} has no {word}")
    with anyarray.backend(request.param):
        yield anyarray


def _has(backend: Backend, word: str) -> bool:
    """Whether a backend has what a word of the mark means."""
    from anyarray._base import dtypes

    if word not in HOOKS and word not in dtypes.KNOWN:
        raise pytest.UsageError(
            f'xp_needs: a word must be one of {", ".join(HOOKS)} or the name of a dtype, not "{word}"'
        )
    return backend.has_hook(HOOKS[word]) if word in HOOKS else backend.has_dtype(word)


@pytest.fixture
def key(request: pytest.FixtureRequest) -> Array:
    """A key for `anyarray.random`, which is the same in each run of the test.

    Other tests have other keys; one test has the same on each backend.
    """
    from anyarray import random

    if "xp" in request.fixturenames:
        request.getfixturevalue("xp")  # it chooses the backend on which the key is made
    return random.key(zlib.crc32(f"{request.node.parent.nodeid}::{request.node.originalname}".encode()))
