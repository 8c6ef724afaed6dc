"""The profile: a JSON file with what `calibrate` measured on this machine.

It is in the user's cache folder. Its name has a digest of the machine and one of the environment, so machines that
share a home folder have one each, and so have environments; ANYARRAY_PROFILE names another file, or "off" for none. It
is used only if it was measured on this machine, with these versions of the libraries: else it is ignored, with a
warning that says what to run. An environment without one uses that of another environment if the versions match.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
import sys
import zlib
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from anyarray._base import environment, files, processor
from anyarray._base.cache_folder import cache_folder
from anyarray._choice import cost
from anyarray._registry.libraries import LIBRARIES, Library, libraries

FORMAT: Final = 7
"""Version of the file format; increased by each incompatible change."""
VARIABLE: Final = "ANYARRAY_PROFILE"
"""The environment variable that names another file, or turns the profile off."""


class UnwritableError(OSError):
    """A profile cannot be written; the message says why."""


def is_off() -> bool:
    """Whether the environment variable disables the profile."""
    return environment.is_off(VARIABLE)


def path() -> Path | None:
    """The path of the profile of this machine and environment; None if off.

    Raises UnwritableError if there is no folder for one.
    """
    if is_off():
        return None
    named = environment.variable(VARIABLE)
    if named:
        return Path(os.path.expanduser(named))
    try:
        folder = cache_folder()
    except RuntimeError:  # the user has no home folder, as in some containers
        folder = Path()
    if not folder.is_absolute():
        raise UnwritableError(
            f"calibrate: there is no home folder, where the profile would be kept. Name a file {BY_NAME}"
        )
    return folder / f"{of_machine()}{_digest({'environment': sys.prefix})}.json"


BY_NAME: Final = f"by the environment variable {VARIABLE}"


def of_machine() -> str:
    """The prefix of the names of this machine's profiles."""
    return f"profile-{_digest(machine())}-"


def _digest(of: Mapping[str, Any]) -> str:
    # The file says what it is of: this only tells files apart. `hashlib` takes 4 ms to import.
    return f"{zlib.crc32(json.dumps(of, sort_keys=True).encode()):08x}"


@functools.cache
def machine() -> dict[str, Any]:
    """What identifies this machine; imports no library."""
    accelerators = processor.accelerators()
    return {
        "system": platform.system(),
        "processor": processor.model(),
        "cores": processor.cores(),
        "accelerators": accelerators,
        # Without accelerators it does not matter, and is often set to keep a library from looking for them.
        "hidden": os.environ.get("CUDA_VISIBLE_DEVICES") if accelerators else None,
    }


def versions(names: Iterable[str]) -> dict[str, str | None]:
    """The installed versions of our libraries, and of these."""
    rows: dict[str, Library | None] = {name: row for name, row in LIBRARIES.items() if not row.is_lazy}
    for name in set(names) - rows.keys():  # another distribution brings them; to look for it takes 50 ms
        rows[name] = libraries().get(name)
    return {name: None if row is None else row.version for name, row in rows.items()}


def save(measured: Mapping[str, Any], names: Iterable[str], to: Path) -> None:
    """Write what was measured with these libraries; raises UnwritableError.

    The file is replaced atomically: a reader sees the old one or the new one.
    """
    names = list(names)
    now = versions(names)
    data = {
        "format": FORMAT,
        "machine": machine(),
        "environment": sys.prefix,
        "versions": {name: now[name] for name in names},
        "installed": [name for name, version in now.items() if version],  # the simulated accelerator has none
        **measured,
    }
    text = json.dumps(data, indent=1)
    with _beside(to) as (temporary, there):
        temporary.write_text(text)
        os.replace(temporary, there)


def check() -> None:
    """Check that the profile, unless it is off, can be written.

    Makes the folder if there is none. Raises UnwritableError.
    """
    file = path()
    if file is not None:
        with _beside(file) as (temporary, _):
            temporary.write_bytes(bytes(USUAL))


@contextlib.contextmanager
def _beside(to: Path) -> Generator[tuple[Path, Path]]:
    """As `files.replacement`; raises UnwritableError for an OSError."""
    try:
        with files.replacement(to) as paths:
            yield paths
    except OSError as error:
        raise UnwritableError(
            f"calibrate: the profile cannot be written to {to} ({error.strerror}). Name another file {BY_NAME}"
        ) from error


USUAL: Final = 1 << 17
"""Bytes that are more than the usual size of a profile."""


def find() -> tuple[Path, cost.Model] | None:
    """The profile that is used, and its model; None without one.

    Raises `files.UnusableError` for one that cannot be used.
    """
    try:
        file = path()
    except UnwritableError:
        return None
    if file is None or not (environment.variable(VARIABLE) or os.access(file.parent, os.X_OK)):
        return None  # no such folder, or in the home folder of another user, as in some containers
    data = files.json_object(file)
    if data is not None:
        return file, _model_of(file, data)
    for other in [] if environment.variable(VARIABLE) else _others(file):
        with contextlib.suppress(files.UnusableError):  # what another environment has is no error here
            data = files.json_object(other)
            if data is not None:
                return other, _model_of(other, data)
    return None


def _others(file: Path) -> list[Path]:
    """The profiles of other environments on this machine, the newest first."""
    ages: list[tuple[float, Path]] = []
    for other in file.parent.glob(f"{of_machine()}*.json"):
        with contextlib.suppress(OSError):  # another process may replace it at the same time
            ages.append((other.stat().st_mtime, other))
    return [other for _, other in sorted(ages, reverse=True)]


def _model_of(file: Path, data: Mapping[str, Any]) -> cost.Model:
    """The model of the content of a file; raises `files.UnusableError`."""
    try:
        now = versions(data["versions"])
        fault = _fault(data, now)
        if fault is None:
            was = data.get("installed", now)
            return cost.model_of(data)._replace(added=tuple(n for n, one in now.items() if one and n not in was))
    except files.MALFORMED as error:
        raise files.malformed(file, error) from error
    raise files.UnusableError(f"{file} {fault}")


def _fault(data: Mapping[str, Any], now: Mapping[str, str | None]) -> str | None:
    """Why a profile does not apply to this machine and these versions.

    None if it does.
    """
    if data["format"] != FORMAT:
        return f"is of format {repr(data['format'])[: files.LONGEST]}, not {FORMAT}"
    if data["machine"] != json.loads(json.dumps(machine())):
        return "is of another machine"
    changed = [f"{name} {was} is {now[name]} now" for name, was in data["versions"].items() if now[name] != was]
    return f"is stale ({', '.join(changed)})" if changed else None
