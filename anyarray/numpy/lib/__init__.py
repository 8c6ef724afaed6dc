"""`np.lib`: views of windows on every backend; the rest is NumPy's own."""

import importlib as _importlib
from typing import Any

import numpy as _numpy

from anyarray.numpy import _itself

_OURS = ("recfunctions", "scimath", "stride_tricks")
_THEIRS = ("array_utils", "format", "introspect", "mixins", "npyio")
__all__ = sorted({*_numpy.lib.__all__, *_OURS, *_THEIRS} - {"test"})  # pyright: ignore[reportUnsupportedDunderAll]

for _name in _THEIRS:
    _itself.stand_for(f"{__name__}.{_name}")


def __getattr__(name: str) -> Any:
    if name in _OURS:
        return _importlib.import_module(f"{__name__}.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return getattr(_numpy.lib, name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
