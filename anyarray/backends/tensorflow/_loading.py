"""Imports TensorFlow, with GPU memory growth and without its startup log.

Nothing changes for a program that imported TensorFlow before us or set the environment variables.
"""

from __future__ import annotations

__all__ = ["chatter_held_back", "tf"]

import os
import re
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_LEVEL: Final = "TF_CPP_MIN_LOG_LEVEL"
_CHATTER: Final = re.compile(
    rb"^(I\d{4} .*|WARNING: All log messages before absl::InitializeLog.*|"
    rb"(E\d{4}|[-\d]+ [:.\d]+: E) .*(failed call to cuInit|Unable to register cu\w+ factory).*|"
    rb"W\d{4} .*computation placer already registered.*)\n",
    re.MULTILINE,
)
"""Log lines about builds, instruction sets and a missing GPU; 2.19 also logs factories registered twice."""


def _stderr_is_open() -> bool:
    try:
        os.fstat(2)
    except OSError:  # as under a service or pythonw
        return False
    return sys.stderr is not None


_is_first = "tensorflow" not in sys.modules
_level = os.environ.get(_LEVEL)
# Only level 0 requests every line; JAX sets 1 when it is imported.
_may_hush = _is_first and _level != "0" and _stderr_is_open()


@contextmanager
def chatter_held_back() -> Generator[None]:
    """Context manager that removes TensorFlow's startup log from stderr.

    All other output to stderr is written at the end of the block. C++ logs these lines before its log level is set, so
    no setting of TensorFlow suppresses them.
    """
    if not _may_hush:
        yield
        return
    sys.stderr.flush()
    true_stderr = os.dup(2)
    with tempfile.TemporaryFile() as written:
        os.dup2(written.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(true_stderr, 2)
            os.close(true_stderr)
            written.seek(0)
            os.write(2, _CHATTER.sub(b"", written.read()))


if _is_first:
    # Otherwise the first op allocates all GPU memory, and JAX or CuPy in this process gets none.
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
if _may_hush and _level is None:
    os.environ[_LEVEL] = "1"  # C++ reads it once, during the import; warnings are still logged
try:
    with chatter_held_back():
        import tensorflow as tf
finally:
    if _may_hush and _level is None:
        os.environ.pop(_LEVEL, None)
