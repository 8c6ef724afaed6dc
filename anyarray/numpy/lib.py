"""The public parts of `np.lib` that have a meaning on every backend."""

from types import SimpleNamespace
from typing import Any

import numpy as _numpy

NumpyVersion = _numpy.lib.NumpyVersion


class _StrideTricks(SimpleNamespace):
    """`np.lib.stride_tricks`."""

    def __getattr__(self, name: str) -> Any:
        if name == "as_strided":
            raise AttributeError(
                "module 'anyarray.numpy.lib.stride_tricks' has no attribute 'as_strided': views with strides of "
                "their own exist in NumPy alone. Use sliding_window_view",
                name=name,
            )
        raise AttributeError(f"module 'anyarray.numpy.lib.stride_tricks' has no attribute {name!r}", name=name)


def _stride_tricks() -> Any:
    import anyarray as xp
    from anyarray.numpy._entrance import entrance

    found = {
        name: entrance(f"lib.stride_tricks.{name}", theirs, getattr(xp, name))
        for name, theirs in (
            ("sliding_window_view", _numpy.lib.stride_tricks.sliding_window_view),
            ("broadcast_to", _numpy.broadcast_to),
            ("broadcast_arrays", _numpy.broadcast_arrays),
        )
    }
    return _StrideTricks(**found, broadcast_shapes=_numpy.broadcast_shapes)


def __getattr__(name: str) -> Any:
    if name != "stride_tricks":
        raise AttributeError(
            f"module 'anyarray.numpy.lib' has no attribute {name!r}: the rest of numpy.lib concerns NumPy alone",
            name=name,
        )
    found = globals()[name] = _stride_tricks()
    return found
