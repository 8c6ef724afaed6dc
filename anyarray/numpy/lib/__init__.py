"""`np.lib`: views of windows on every backend; the rest is NumPy's own."""

import importlib as _importlib
from typing import Any

import numpy as _numpy

from anyarray.numpy import _itself

_OURS = ("recfunctions", "scimath", "stride_tricks")
__all__ = sorted({*_numpy.lib.__all__, *_OURS})  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _OURS:
        return _importlib.import_module(f"{__name__}.{name}")
    return _itself.other(__name__, name)


__dir__ = __all__.copy  # for completion
