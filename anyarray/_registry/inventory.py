"""`xp.backends()`: libraries known, installed, loaded; versions, devices."""

from __future__ import annotations

from dataclasses import dataclass

from anyarray._registry import libraries, registry


@dataclass(frozen=True)
class BackendInfo:
    """A known library; a row of `xp.backends()`."""

    name: str
    """The name for `xp.backend(...)`, such as "jax"."""
    is_installed: bool
    """Whether its package can be found."""
    version: str | None
    """The installed version, if it is known."""
    is_loaded: bool
    """Whether anyarray has imported it."""
    devices: tuple[str, ...] | None
    """Names of its devices on this machine; None until it is loaded."""
    install: str
    """The command that installs it."""


def backends() -> list[BackendInfo]:
    """The known backends, including those from entry points.

    >>> import anyarray as xp
    >>> xp.backends()[0].name
    'numpy'
    """
    loaded = registry.loaded_backends()
    return [
        BackendInfo(
            name=library.name,
            is_installed=library.is_installed,
            version=library.version,
            is_loaded=registry.is_loaded(library),
            devices=tuple(b.name for b in loaded if b.library == library.name) if registry.is_loaded(library) else None,
            install=library.install_line,
        )
        for library in libraries.libraries().values()
    ]
