"""repr and str of an Array: its values, dtype and home.

Of a large one only the edge items are transferred and shown.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anyarray._memory import transfer
from anyarray._registry import registry


def values_of(x: Any) -> str:
    """The values as NumPy prints them; the shape of a traced Array."""
    if isinstance(x._native, np.generic):
        return str(x._native)
    return _layout(x) or _text(x, prefix="")


def text_of(x: Any) -> str:
    """The values, dtype and home: `Array([0.], dtype=float64, device=numpy)`.

    The shape is included if the values do not show it. NumPy's print option `override_repr` applies, if it is set.
    """
    options: Any = np.get_printoptions()  # whose types lack this one
    override = options["override_repr"]
    if override is not None and not x._home.is_traced(x._native):
        return str(override(x))
    if _is_stand_in(x):
        return f"Array({x._native!r}, device={x.device})"
    if _layout(x):
        return _layout(x)
    size = x.size
    shown = (size is not None and 0 < size <= _options()[0]) or x.shape == (0,) or x._home.is_traced(x._native)
    shape = "" if shown else f", shape={x.shape}"
    return f"Array({_text(x, prefix='Array(')}{shape}, dtype={x.dtype}, device={x.device})"


def _layout(x: Any) -> str:
    """The text of an array that is lazy or on several devices, else "".

    Only explicit reads compute or gather the values.
    """
    backend = x._home.backend
    if backend.has_hook("chunks_of") and not x._home.is_traced(x._native):
        shape, chunks = backend.hook("chunks_of")(x._native)
        return f"Array(shape={shape}, dtype={x.dtype}, device={backend}, chunks={chunks})"
    layout = backend.hook("layout")(x._native) if backend.kind == "mesh" else None
    return f"Array(shape={x.shape}, dtype={x.dtype}, device={backend}, layout={layout})" if layout else ""


def _text(x: Any, prefix: str) -> str:
    home, native = x._home, x._native
    if home.is_traced(native):
        return f"<traced, shape={x.shape}>"
    if _is_stand_in(x):
        return str(native)
    threshold, edge = _options()
    is_long = x.size > threshold
    if is_long:
        for axis, n in enumerate(x.shape):
            if n > 2 * edge + 1:
                # One element more than is shown, so that NumPy summarizes with `...`.
                before = (slice(None),) * axis
                ends = [home.getitem(native, (*before, part)) for part in (slice(edge + 1), slice(n - edge, None))]
                native = home.concat(ends, axis=axis)
    host = transfer.to_host(native, home.backend, "repr", explicit=True)
    if not host.ndim:
        return str(host[()])  # all digits, as of NumPy's scalars
    separator = ", " if prefix else " "
    return np.array2string(
        host, separator=separator, prefix=prefix, threshold=0 if is_long else threshold, edgeitems=edge
    )


def _options() -> tuple[int, int]:
    """NumPy's print options `threshold` and `edgeitems`."""
    options = np.get_printoptions()
    return options["threshold"], options["edgeitems"]


def _is_stand_in(x: Any) -> bool:
    """Whether it holds a framework's stand-in for an array.

    An example is a sharding that `jax.tree.map` has put in place of each leaf.
    """
    return not x._home.is_traced(x._native) and registry.backend_of_native(x._native) is None
