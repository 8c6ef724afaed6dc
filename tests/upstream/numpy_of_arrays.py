"""NumPy, but what makes an array makes an Array, for the tests of others.

So NumPy's functions get Arrays, as in the programs of those who hand an Array to a library that is written for NumPy.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, Final

import numpy
import numpy.ma
import numpy.testing  # which NumPy itself imports when they are asked for

import anyarray

MAKERS: Final = ("arange", "array", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros")


def _making_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def made(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return anyarray.asarray(found) if type(found) is numpy.ndarray and found.dtype.kind in "biufc" else found

    return made


np = types.SimpleNamespace(**vars(numpy))
for _name in MAKERS:
    setattr(np, _name, _making_arrays(getattr(numpy, _name)))
