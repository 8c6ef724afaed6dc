"""`np.testing`: NumPy's own assertions, on the values of Arrays."""

from typing import Any

import numpy as _numpy

from anyarray.numpy import _itself

_WITH_ARRAYS = frozenset(name for name in _numpy.testing.__all__ if name.startswith("assert_"))
_CONTEXTS = frozenset(
    {"assert_no_warnings", "assert_raises", "assert_raises_regex", "assert_warns", "assert_no_gc_cycles"}
)


def __getattr__(name: str) -> Any:
    theirs = getattr(_numpy.testing, name)
    found = _itself.of_ndarrays(theirs) if name in _WITH_ARRAYS - _CONTEXTS else theirs
    globals()[name] = found
    return found


__all__ = sorted(_numpy.testing.__all__)  # pyright: ignore[reportUnsupportedDunderAll]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
