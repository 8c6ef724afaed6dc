"""The libraries that are known by name without an import."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
from typing import Final, NamedTuple


class Library(NamedTuple):
    """A row of the registry: data about a library, without importing it."""

    name: str
    module: str
    """The module with the contract of `anyarray.backends`."""
    package: str
    """The package whose presence means that the library is installed."""
    kinds: tuple[str, ...]
    """Kinds of devices; see `unnamed` for the one that names of backends omit."""
    distributions: tuple[str, ...] = ()
    """Names of its distributions on PyPI."""
    roots: tuple[str, ...] = ()
    """Top-level packages that define its array classes."""
    extra: str | None = None
    """The extra of anyarray that installs it."""
    has_derivatives: bool = False
    """Whether error messages recommend it for derivatives."""
    needs: tuple[str, ...] = ()
    """Further packages that its backend imports."""
    registers_classes: bool = False
    """Whether Array must be registered with it (as a JAX pytree, say) before its own functions accept Arrays."""

    is_lazy: bool = False
    """Whether its arrays are computed later. The automatic choice then moves no call there."""

    @property
    def unnamed(self) -> str | None:
        """The kind that names of backends omit.

        It is the only one, or that of blocks in NumPy.
        """
        return self.kinds[0] if len(self.kinds) == 1 or self.is_lazy else None

    @property
    def is_installed(self) -> bool:
        """Whether its package can be found; imports nothing."""
        return self.package in sys.modules or importlib.util.find_spec(self.package) is not None

    @property
    def missing(self) -> list[str]:
        """Required packages that cannot be found; imports nothing."""
        return [package for package in self.needs if importlib.util.find_spec(package) is None]

    @property
    def version(self) -> str | None:
        """Its installed version, or None; does not import it."""
        if not self.is_installed:
            return None
        for distribution in self.distributions:
            found = _version_in_folders(distribution)
            if found is not None:
                return found
        for distribution in self.distributions:
            from importlib import metadata  # 50 ms, which few need

            with contextlib.suppress(metadata.PackageNotFoundError):
                return metadata.version(distribution)
        return None

    @property
    def install_line(self) -> str:
        """The command that installs it."""
        return f'pip install "anyarray[{self.extra}]"' if self.extra else f"pip install {self.package}"


def _version_in_folders(distribution: str) -> str | None:
    """The version of a distribution by the name of its `.dist-info` folder."""
    prefix, suffix = f"{distribution.replace('-', '_')}-", ".dist-info"
    for folder in sys.path:
        with contextlib.suppress(OSError):  # no folder, as an archive
            for name in os.listdir(folder):
                if name.startswith(prefix) and name.endswith(suffix):
                    return name[len(prefix) : -len(suffix)]
    return None


LIBRARIES: Final[dict[str, Library]] = {
    row.name: row
    for row in (
        Library("numpy", "anyarray.backends.numpy", "numpy", ("cpu",), ("numpy",), ("numpy",)),
        Library(
            "tf", "anyarray.backends.tensorflow", "tensorflow", ("cpu", "gpu", "tpu"),
            ("tensorflow", "tensorflow-cpu", "tf-nightly"), ("tensorflow", "tf_keras"), "tensorflow",
            has_derivatives=True, registers_classes=True,
        ),
        Library(
            "jax", "anyarray.backends.jax", "jax", ("cpu", "gpu", "tpu"),
            ("jax",), ("jax", "jaxlib"), "jax", has_derivatives=True, registers_classes=True,
        ),
        Library(
            "torch", "anyarray.backends.torch", "torch", ("cpu", "gpu", "mps", "xpu"), ("torch",), ("torch",), "torch",
            has_derivatives=True,
        ),
        Library(
            "cupy", "anyarray.backends.cupy", "cupy", ("gpu",),
            ("cupy-cuda12x", "cupy-cuda13x", "cupy-cuda11x", "cupy"), ("cupy",), "cupy", needs=("array_api_compat",),
        ),
        Library(
            "dask", "anyarray.backends.dask", "dask", ("cpu", "gpu"), ("dask",), ("dask",), "dask",
            registers_classes=True, is_lazy=True,
        ),
        Library("cubed", "anyarray.backends.cubed", "cubed", ("cpu",), ("cubed",), ("cubed",), "cubed", is_lazy=True),
    )
}  # fmt: skip
"""The libraries for which anyarray has a backend. A new one is a row here and a file."""

ALIASES: Final = {"tensorflow": "tf", "cpu": "numpy"}
"""Other names of libraries. NumPy's only device is "cpu", which code for several libraries passes as `device`."""


@functools.cache
def registered() -> dict[str, Library]:
    """Libraries from the entry points of other distributions; imports none."""
    from importlib import metadata  # 20 ms, so not at `import anyarray`

    found = {}
    for point in metadata.entry_points(group="anyarray.backends"):
        root = point.module.partition(".")[0]
        distribution = (point.dist.name,) if point.dist else ()
        found[point.name] = Library(point.name, point.module, root, ("cpu", "gpu", "tpu"), distribution)
    return found


def register(library: Library) -> None:
    """Add a library to `LIBRARIES`."""
    LIBRARIES.setdefault(library.name, library)


def libraries() -> dict[str, Library]:
    """Every known library by name, `LIBRARIES` first; imports none."""
    return {**LIBRARIES, **{k: v for k, v in registered().items() if k not in LIBRARIES}}
