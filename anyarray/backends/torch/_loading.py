"""Loads Triton beside TensorFlow.

PyTorch imports Triton for derivatives and compilation.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import sys
from pathlib import Path
from typing import Final

__all__ = ["load_triton"]

_APART: Final = getattr(os, "RTLD_DEEPBIND", None)
"""The mode of glibc in which a library's symbols are bound to its own definitions first; None elsewhere."""
_is_done = False


def load_triton() -> None:
    """Load Triton's shared library apart from TensorFlow's.

    Does nothing unless TensorFlow is imported. Both contain LLVM, and TensorFlow exports its copy. Without this,
    Triton's symbols are bound to that copy, and the import of Triton ends the process. Python's `import triton` finds
    the library that is loaded here.
    """
    global _is_done
    if _is_done or _APART is None or "tensorflow" not in sys.modules or "triton" in sys.modules:
        return
    _is_done = True
    found = importlib.util.find_spec("triton")
    for folder in (found and found.submodule_search_locations) or ():
        for library in Path(folder, "_C").glob("libtriton*.so"):
            with contextlib.suppress(OSError):  # PyTorch does without a Triton that cannot be loaded
                ctypes.CDLL(str(library), mode=_APART | os.RTLD_LOCAL)
