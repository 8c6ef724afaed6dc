"""The extension module in C, if it was built.

It is optional: without a C compiler it is not built, and ANYARRAY_SPEEDUPS=off disables it, to step through Python.
"""

from __future__ import annotations

import importlib
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
