"""The extension module in C, where it is built.

Nothing needs it. It is built where there is a C compiler; ANYARRAY_SPEEDUPS=off leaves it out, to step through Python.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, Final

VARIABLE: Final = "ANYARRAY_SPEEDUPS"
"""The environment variable that leaves it out, if it is `off`."""


def is_off() -> bool:
    """Whether the environment leaves it out."""
    return os.environ.get(VARIABLE, "").strip() == "off"


def _found() -> Any:
    if is_off():
        return None
    try:
        return importlib.import_module("anyarray._speedups")
    except ImportError:  # no compiler was there, or it is of another version of Python or NumPy
        return None


speedups: Final = _found()
"""The module, or None."""
