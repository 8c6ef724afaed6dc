"""NumPy's names of Fourier transforms: `np.fft`."""

from typing import Any

import numpy as _numpy

__path__: list[str] = []  # its old modules are NumPy's own


def __getattr__(name: str) -> Any:
    from anyarray.numpy import _names

    found = globals()[name] = _names.find("fft", name)
    return found


__all__ = sorted(_numpy.fft.__all__)  # pyright: ignore[reportUnsupportedDunderAll]
__dir__ = __all__.copy  # for completion
