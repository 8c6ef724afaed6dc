"""NumPy's names of linear algebra: `np.linalg`."""

from typing import Any

import numpy as _numpy

__path__: list[str] = []  # its old modules are NumPy's own
LinAlgError = _numpy.linalg.LinAlgError


def __getattr__(name: str) -> Any:
    from anyarray.numpy import _differing_linalg, _names

    own = getattr(_differing_linalg, name, None) if name in _differing_linalg.__all__ else None
    found = globals()[name] = own or _names.find("linalg", name)
    return found


__all__ = sorted(_numpy.linalg.__all__)  # pyright: ignore[reportUnsupportedDunderAll]
__dir__ = __all__.copy  # for completion
