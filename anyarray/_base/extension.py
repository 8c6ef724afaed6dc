"""The extension module in C, if it was built.

It is optional: without a C compiler it is not built, and ANYARRAY_SPEEDUPS=off disables it, to step through Python.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from typing import Any, Final

from anyarray._base import environment

VARIABLE: Final = "ANYARRAY_SPEEDUPS"
"""The environment variable that disables it if it is `off`."""


def is_off() -> bool:
    """Whether the environment variable disables it."""
    return environment.is_off(VARIABLE)


def _found() -> Any:
    if is_off():
        return None
    try:
        return importlib.import_module("anyarray._speedups")
    except ImportError:  # not built, or built for another version of Python or NumPy
        return None


speedups: Final = _found()
"""The module, or None."""


def shadowing() -> str:
    """A message if this folder hides a compiled installation, else "".

    Python prefers a source folder in the working directory to the installed package.
    """
    from pathlib import Path  # 4 ms, so not at `import anyarray`

    own = Path(__file__).resolve().parents[1]
    if speedups is None and not is_off():
        for folder in sys.path:
            other = Path(folder, own.name)
            files = [other / f"_speedups{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES]
            if any(file.is_file() for file in files) and other.resolve() != own:
                return (
                    f"calls run in Python, as {own.parent} is imported in place of {other}, which has compiled calls. "
                    f"Run: pip install -e {own.parent}"
                )
    return ""
