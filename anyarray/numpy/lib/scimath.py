"""`np.emath`: functions that give complex numbers where reals have no result.

Their dtype depends on the values, so NumPy computes them, and inside a trace they raise.
"""

from typing import Any

import numpy as _numpy

from anyarray.numpy import _itself

__all__ = sorted(_numpy.lib.scimath.__all__)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    found = globals()[name] = _itself.making(getattr(_numpy.lib.scimath, name))
    return found


__dir__ = __all__.copy  # for completion
