"""The user's code that calls us: its frame, warnings and log lines for it."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from types import FrameType
from typing import Any, Final

_PACKAGE: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep
SKIPPED_FILES: Final = (_PACKAGE, "<anyarray", "<frozen ", contextlib.__file__)
"""Prefixes of file names that are not the user's: ours, generated bodies, frozen modules, `contextlib`."""


def user_frame() -> FrameType:
    """The innermost frame of the user's code."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(SKIPPED_FILES):
        frame = frame.f_back
    return frame


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code."""
    frame = user_frame()
    warn_at(message, category, frame.f_code.co_filename, frame.f_lineno, frame.f_globals)


def warn_at(message: str, category: type[Warning], file: str, line: int, variables: dict[str, Any]) -> None:
    """Warn at a line of a module with these global variables.

    By default Python shows it once there, as `warnings.warn` does.
    """
    known = variables.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, file, line, variables.get("__name__", "<unknown>"), known)


def log(line: str) -> None:
    """Log a line, which goes to stderr unless the program configures it."""
    import logging  # 5 ms, so not at `import anyarray`

    logging.getLogger("anyarray").warning("anyarray: %s", line)
