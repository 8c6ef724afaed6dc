"""The user's code that calls us: its frame, warnings and log lines for it."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterable
from types import FrameType, TracebackType
from typing import Any, Final

from anyarray._base import environment, errors

_PACKAGE: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep
SKIPPED_FILES: Final = (_PACKAGE, "<anyarray", "<frozen ", contextlib.__file__)
"""Prefixes of file names that are not the user's: ours, generated bodies, frozen modules, `contextlib`."""


def user_frame() -> FrameType:
    """The innermost frame of the user's code."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(SKIPPED_FILES):
        frame = frame.f_back
    return frame


TRACEBACK: Final = "ANYARRAY_TRACEBACK"
"""The environment variable; "full" shows our frames in tracebacks."""


def shortened(error: Exception, libraries: Iterable[str]) -> Exception:
    """The error with a traceback of only the user's frames.

    An error of ours also loses the frames of these packages and the library's error as its cause. Other errors keep the
    frames of the packages. Does nothing if ANYARRAY_TRACEBACK is "full".
    """
    if environment.variable(TRACEBACK).lower() == "full":
        return error
    hidden = SKIPPED_FILES
    if isinstance(error, errors.AnyarrayError):
        if not isinstance(error, errors.TraceError):  # whose library says where the Array was made
            error.__cause__, error.__suppress_context__ = None, True
        found = [getattr(sys.modules.get(name), "__file__", None) for name in libraries]
        hidden += (*[os.path.dirname(file) + os.sep for file in found if file], "<string>", "<__array_function__")
    kept, trace = None, error.__traceback__
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    for one in reversed(frames):
        if not one.tb_frame.f_code.co_filename.startswith(hidden):
            kept = TracebackType(kept, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return error.with_traceback(kept)


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
