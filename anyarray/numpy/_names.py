"""The function of ours for each name of NumPy's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import anyarray as xp
from anyarray._array.array import Array
from anyarray._base import sizes
from anyarray._base.other_names import ALIASES
from anyarray._call.operators import decides
from anyarray.numpy._itself import other
from anyarray.numpy._signatures import signature_of
from anyarray.numpy._ufuncs import ufunc_of
from anyarray.numpy._wrapper import (
    NUMBERS,
    as_array,
    at_once,
    brought,
    dressed,
    in_numpy,
    is_as_theirs,
    wrapper,
)

_OTHER: Final = {"row_stack": "vstack", "rint": "rint", "invert": "bitwise_invert", "in1d": "isin"}


_METHODS: Final = frozenset(
    "all any argmax argmin argpartition argsort choose cumprod cumsum diagonal dot max mean min nonzero prod put ravel "
    "repeat round searchsorted squeeze std sum swapaxes take trace var".split()
)
"""Functions that are methods of their first argument, with the same further parameters."""
_SPELLINGS: Final = {"amax": "max", "amin": "min", "around": "round"}


def find(chapter: str, name: str) -> Any:
    """The function of that name in the main namespace, "linalg" or "fft".

    Other objects of NumPy are NumPy's own. Raises AttributeError for an unknown name.
    """
    path = f"{chapter}.{name}" if chapter else name
    space: Any = getattr(np, chapter) if chapter else np
    theirs = getattr(space, name, None) if name in space.__all__ else None
    if not chapter and _SPELLINGS.get(name, name) in _METHODS:
        return of_method(name, theirs)
    ours = ours_of(chapter, name)
    if theirs is None or ours is None:
        return other(".".join(filter(None, ("anyarray.numpy", chapter))), name)
    if not inspect.isroutine(theirs) and not isinstance(theirs, np.ufunc):
        return ours  # a class, or an object such as `r_`
    return ufunc_of(name, theirs, ours) if isinstance(theirs, np.ufunc) else wrapper(path, theirs, ours)


def of_method(name: str, theirs: Any) -> Callable[..., Any]:
    """The method of an Array, as a function of it."""
    method, documented = getattr(Array, _SPELLINGS.get(name, name)), theirs
    theirs = sizes.CHECKED.get(name, theirs)

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        if decides(a) or any(map(decides, args)):
            return in_numpy(theirs, (a, *args), kwargs)
        if type(a) is Array:
            return method(a, *args, **kwargs)
        if isinstance(a, NUMBERS):
            return brought(theirs(a, *args, **kwargs))
        x = as_array(a)
        return method(x, *args, **kwargs) if type(x) is Array else in_numpy(theirs, (x, *args), kwargs)

    dressed(function, name, documented, signature_of(documented))
    ours = ours_of("", _SPELLINGS.get(name, name))
    return at_once(function, theirs, ours if ours is not None and is_as_theirs(name, theirs, ours) else None)


def ours_of(chapter: str, name: str) -> Callable[..., Any] | None:
    """The function of ours by a name of NumPy's, or None."""
    space: Any = getattr(xp, chapter) if chapter else xp
    for one in (_OTHER.get(name, name), ALIASES.get(name, name)):
        found = getattr(space, one, None)
        if found is not None:
            return found  # type: ignore[no-any-return]  # a function
    return None
