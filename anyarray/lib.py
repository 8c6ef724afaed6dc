"""`lib.stride_tricks`, where NumPy has its views of windows."""

from types import SimpleNamespace as _SimpleNamespace

from anyarray.extensions.manipulation import sliding_window_view as _sliding_window_view
from anyarray.standard.manipulation import broadcast_arrays as _broadcast_arrays
from anyarray.standard.manipulation import broadcast_to as _broadcast_to

stride_tricks = _SimpleNamespace(
    broadcast_arrays=_broadcast_arrays, broadcast_to=_broadcast_to, sliding_window_view=_sliding_window_view
)

__all__ = ["stride_tricks"]
