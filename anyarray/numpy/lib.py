"""The public parts of `np.lib` that have a meaning on every backend."""

from types import SimpleNamespace
from typing import Any

import numpy as _numpy

NumpyVersion = _numpy.lib.NumpyVersion


def _strides() -> Any:
    import anyarray as xp
    from anyarray.numpy._entrance import entrance

    theirs = _numpy.lib.stride_tricks
    names = ("sliding_window_view", "broadcast_to", "broadcast_arrays", "broadcast_shapes")
    return SimpleNamespace(
        **{
            name: entrance(f"lib.stride_tricks.{name}", getattr(theirs, name, getattr(_numpy, name)), getattr(xp, name))
            for name in names
            if name != "broadcast_shapes"
        },
        broadcast_shapes=_numpy.broadcast_shapes,
    )


def __getattr__(name: str) -> Any:
    if name == "stride_tricks":
        found = globals()[name] = _strides()
        return found
    raise AttributeError(
        f"module 'anyarray.numpy.lib' has no attribute {name!r}: the other parts of numpy.lib concern NumPy alone",
        name=name,
    )
