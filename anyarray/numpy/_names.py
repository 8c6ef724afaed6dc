"""The function of ours for each name of NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

import numpy as np

import anyarray as xp
from anyarray._base.other_names import ALIASES
from anyarray.numpy._entrance import entrance
from anyarray.numpy._itself import ABSENT
from anyarray.numpy._ufuncs import ufunc_of

_OTHER: Final = {"row_stack": "vstack", "rint": "rint", "invert": "bitwise_invert", "in1d": "isin"}


def find(chapter: str, name: str) -> Any:
    """The function of that name in the main namespace, "linalg" or "fft".

    Raises AttributeError for a name that is none, or that has no meaning here.
    """
    path = f"{chapter}.{name}" if chapter else name
    space: Any = getattr(np, chapter) if chapter else np
    theirs = getattr(space, name, None) if name in space.__all__ else None
    ours = ours_of(chapter, name)
    if theirs is None or ours is None:
        missing(path)
    return ufunc_of(name, theirs, ours) if isinstance(theirs, np.ufunc) else entrance(path, theirs, ours)


def ours_of(chapter: str, name: str) -> Callable[..., Any] | None:
    """The function of ours by a name of NumPy's, or None."""
    space: Any = getattr(xp, chapter) if chapter else xp
    for one in (_OTHER.get(name, name), ALIASES.get(name, name)):
        found = getattr(space, one, None)
        if found is not None:
            return found  # type: ignore[no-any-return]  # a function
    return None


def missing(path: str) -> NoReturn:
    """Raise AttributeError for a name, with the reason if it is one of NumPy's."""
    reason = f": {ABSENT[path]}" if path in ABSENT else ""
    chapter, _, name = path.rpartition(".")
    module = ".".join(filter(None, ("anyarray.numpy", chapter)))
    raise AttributeError(f"module {module!r} has no attribute {name!r}{reason}", name=name)
