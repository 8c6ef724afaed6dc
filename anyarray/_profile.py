"""The profile: a JSON file with what `calibrate` measured on this machine.

It stands in the user's cache folder under a name made of the machine, so that a home folder that machines share holds
one for each; ANYARRAY_PROFILE names another file, or "off" for none. It is used only if it was measured on
this machine, with these versions of the libraries: else it is ignored, with a warning that says what to run.
"""

from __future__ import annotations

import dataclasses
import errno
import functools
import hashlib
import json
import os
import platform
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import platformdirs

from anyarray import _backend, _cost

FORMAT: Final = 2
"""Of the file; another number is another meaning."""


class UnusableError(Exception):
    """There is a profile, but it cannot be used; says why."""


class UnwritableError(OSError):
    """A profile cannot be kept; says why."""


def path() -> Path | None:
    """Where this machine's profile is or would be; None if none is wanted."""
    named = os.environ.get("ANYARRAY_PROFILE")
    if named:
        return None if named == "off" else Path(named)
    digest = hashlib.sha256(json.dumps(machine(), sort_keys=True).encode()).hexdigest()
    return platformdirs.user_cache_path("anyarray") / f"profile-{digest[:16]}.json"


@functools.cache
def machine() -> dict[str, Any]:
    """What tells this machine from others; imports no library."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    accelerators = sorted(str(one) for one in Path("/proc/driver/nvidia/gpus").glob("*"))
    return {
        "system": platform.system(),
        "processor": _processor(),
        "cores": cores,
        "accelerators": accelerators,
        "hidden": os.environ.get("CUDA_VISIBLE_DEVICES"),
    }


def _processor() -> str:
    """The processor's model; `platform` gives only its family on Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{platform.machine()} {model or platform.processor()}".strip()


def versions(names: Iterable[str]) -> dict[str, str | None]:
    """The installed versions of libraries, by their names in the registry."""
    known = _backend.libraries()
    return {name: known[name].version if name in known else None for name in names}


def save(measured: Mapping[str, Any], libraries: Iterable[str], to: Path) -> None:
    """Write what was measured with these libraries.

    Whoever reads meanwhile sees the old file or the new one.
    """
    data = {
        "format": FORMAT,
        "machine": machine(),
        "versions": versions(libraries),
        "installed": _installed(),
        **measured,
    }
    to.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=to.parent, prefix=to.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "w") as file:
            json.dump(data, file, indent=1)
        os.replace(temporary, to)
    except BaseException:
        os.unlink(temporary)
        raise


LONGEST: Final = 100
"""Characters of a message that may quote what is in a broken file."""


def check(to: Path) -> None:
    """Try to write where a profile is to be; raises UnwritableError.

    Makes the folder if there is none.
    """
    try:
        if to.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not next(folder for folder in to.absolute().parents if folder.exists()).is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        to.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=to.parent, prefix=to.name, suffix=".tmp"):
            pass
    except OSError as error:
        raise UnwritableError(
            f"calibrate: the profile cannot be written to {to} ({error.strerror}). "
            "Name another file by the environment variable ANYARRAY_PROFILE"
        ) from error


def load() -> _cost.Model | None:
    """The model of this machine; None without a profile.

    Raises UnusableError for one that cannot be used.
    """
    file = path()
    if file is None:
        return None
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnusableError(f"{file} cannot be read ({error.strerror})") from error
    try:
        data = json.loads(content)
        fault = _fault(data)
        if fault is None:
            return dataclasses.replace(_cost.model_of(data), added=_added(data))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise UnusableError(f"{file} is broken ({type(error).__name__}: {str(error)[:LONGEST]})") from error
    raise UnusableError(f"{file} {fault}")


def _fault(data: Mapping[str, Any]) -> str | None:
    """Why a profile does not speak for this machine; None if it does."""
    if data["format"] != FORMAT:
        return f"is of format {str(repr(data['format']))[:LONGEST]}, not {FORMAT}"
    if data["machine"] != json.loads(json.dumps(machine())):
        return "is of another machine"
    now = versions(data["versions"])
    changed = [f"{name} {was} is {now[name]} now" for name, was in data["versions"].items() if now[name] != was]
    return f"is stale ({', '.join(changed)})" if changed else None


def _installed() -> list[str]:
    """The libraries that a calibration could measure."""
    # What has no version is in no registry: the simulated accelerator.
    return [library.name for library in _backend.libraries().values() if library.is_installed and library.version]


def _added(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The libraries that were installed since a profile was made.

    None, if it does not tell what there was.
    """
    was = data.get("installed")
    return () if was is None else tuple(name for name in _installed() if name not in was)
