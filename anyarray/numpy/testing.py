"""`np.testing`: NumPy's own assertions, on the values of Arrays."""

import functools
from typing import Any

import numpy as _numpy

from anyarray._array.array import Array
from anyarray.numpy import _itself

_WITH_ARRAYS = frozenset(name for name in _numpy.testing.__all__ if name.startswith("assert_"))
_CONTEXTS = frozenset(
    {"assert_no_warnings", "assert_raises", "assert_raises_regex", "assert_warns", "assert_no_gc_cycles"}
)


def _of_values(theirs: Any) -> Any:
    """An assertion of NumPy's that gets elements as NumPy's scalars."""

    def value_of(value: Any) -> Any:
        if type(value) is dict:
            return {key: value_of(one) for key, one in value.items()}
        found = _itself.values_of(value)
        return found[()] if type(value) is Array and not value.ndim else found

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        return theirs(*map(value_of, args), **{name: value_of(value) for name, value in kwargs.items()})

    return function


def __getattr__(name: str) -> Any:
    theirs = getattr(_numpy.testing, name)
    found = _of_values(theirs) if name in _WITH_ARRAYS - _CONTEXTS else theirs
    globals()[name] = found
    return found


__all__ = sorted(_numpy.testing.__all__)  # pyright: ignore[reportUnsupportedDunderAll]
__dir__ = __all__.copy  # for completion
