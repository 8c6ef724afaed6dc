"""`info`: the known backends, what is installed, devices, and defaults."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sysconfig
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyarray
from anyarray._base import dtypes as _dtypes
from anyarray._base import errors, extension
from anyarray._choice import choice
from anyarray._cli.bench import problem
from anyarray._cli.console import Cell, Column, Console, Table, console
from anyarray._registry import inventory, libraries, registry


@dataclass(frozen=True)
class Row:
    """A known backend, as `info` shows it."""

    name: str
    is_installed: bool
    version: str | None
    devices: list[str] | None
    """None if not queried: that imports the library."""
    compiles: bool | None
    """Whether `xp.jit` compiles here, for which PyTorch needs a C++ compiler; None if not queried."""
    problem: str | None
    """Why an installed backend is not available here."""
    install: str

    @property
    def state(self) -> str:
        """The text in the table's column of devices."""
        if not self.is_installed:
            return "not installed"
        if self.problem:
            return "not usable"
        if self.devices is None:
            return "not looked for"
        return ", ".join(self.devices) or "no device on this machine"


def add_parser(commands: Any) -> None:
    """Add the command to the parser of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "info", help="what is installed here", description="The backends, their versions and devices, and the defaults."
    )
    parser.add_argument("--devices", action="store_true", help="look for devices, too: imports the libraries (seconds)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the table, or JSON."""
    rows = backend_rows(look_for_devices=options.devices)
    if options.json:
        print(json.dumps({**defaults(), "backends": [asdict(row) for row in rows]}, indent=2))
    else:
        show(rows, console())
    return 0


def backend_rows(*, look_for_devices: bool) -> list[Row]:
    """The known backends. Imports libraries only if `look_for_devices`."""
    problems: dict[str, str] = {}
    compiles: dict[str, bool] = {}
    if look_for_devices:
        for name, library in libraries.libraries().items():
            if library.is_installed:
                try:
                    compiles[name] = hasattr(registry.load(library).module, "jit")
                except Exception as error:  # noqa: BLE001 - a broken installation is a row, not an error
                    problems[name] = problem(error)
    return [
        Row(
            name=one.name,
            is_installed=one.is_installed,
            version=one.version,
            devices=None if one.devices is None else list(one.devices),
            compiles=compiles.get(one.name),
            problem=problems.get(one.name),
            install=one.install,
        )
        for one in inventory.backends()
    ]


def defaults() -> dict[str, Any]:
    """The default settings, and the versions of Python and anyarray."""
    return {
        "anyarray": anyarray.__version__,
        "array_api": anyarray.__array_api_version__,
        "python": platform.python_version(),
        "compiled_calls": extension.speedups is not None,
        "default_backend": str(choice.process_default.backend or choice.AUTO),
        "ANYARRAY_BACKEND": os.environ.get("ANYARRAY_BACKEND"),
        "default_dtypes": {kind.__name__: _dtypes.default(kind).name for kind in (int, float, complex)},
    }


def _why_not_compiled() -> str:
    if extension.is_off():
        return f"{extension.VARIABLE}=off"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python has no GIL"
    hidden = extension.shadowing()
    if hidden:
        return hidden.removeprefix("calls run in Python, as ")
    sources = Path(anyarray.__file__).parents[1]
    if (sources / "setup.py").is_file():  # Python imports from its working directory before site-packages
        return f"{sources} is a folder of sources. Run: pip install -e {sources}"
    return "no compiler at installation"


def show(rows: list[Row], to: Console) -> None:
    """Print the table and the defaults."""
    columns = ("backend", "version", "devices", "xp.jit", "to install")
    table = Table([Column(title, is_folded=title in ("devices", "to install")) for title in columns])
    for row in rows:
        table.add(
            Cell(row.name, "bold"),
            row.version or "-",
            row.state,
            "-" if row.compiles is None else "compiles" if row.compiles else "runs as it is",
            "-" if row.is_installed else row.install,
            style="" if row.is_installed and row.devices != [] and not row.problem else "dim",
        )
    to.table(table)
    for row in rows:
        if row.problem:
            to.line(f"{row.name} cannot be used: {row.problem}")

    now = defaults()
    dtypes = ", ".join(f"{kind} {name}" for kind, name in now["default_dtypes"].items())
    variable = now["ANYARRAY_BACKEND"]
    lines = {
        "anyarray": f"{now['anyarray']}, Array API {now['array_api']}, Python {now['python']}",
        "default backend": f"{now['default_backend']} (ANYARRAY_BACKEND is {variable or 'not set'})",
        "default dtypes": dtypes,
        "calls": "compiled" if now["compiled_calls"] else f"in Python: {_why_not_compiled()}",
    }
    for title, text in lines.items():
        to.line(f"{title + ':':<16} {text}")
    try:
        if now["default_backend"] != choice.AUTO:
            registry.parse(now["default_backend"])
    except errors.BackendNotFoundError as error:
        to.line(str(error), style="red")
    if any(row.is_installed and row.devices is None and not row.problem for row in rows):
        to.line("Devices are looked for with: python -m anyarray info --devices", style="dim")
