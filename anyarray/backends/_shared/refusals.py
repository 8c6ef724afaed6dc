"""Checks of dtypes for libraries that accept more than the standard allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray.backends._shortcut import shortcut

Native = Any

_BOOL: Final = np.dtype(bool)


def refuse_complex(*xs: Native) -> None:
    """Raise TypeError for complex numbers, which have no order."""
    for x in xs:
        if x.dtype.kind == "c":
            raise TypeError("complex numbers have no order")


def real_valued(function: Callable[..., Native]) -> Callable[..., Native]:
    """`function` of two arrays, raising TypeError for complex numbers."""

    @shortcut(function, "biuf", "biuf", axes=0)
    def checked(x1: Native, x2: Native, /) -> Native:
        if x1.real is x1 and x2.real is x2:  # true for real arrays; half the time of comparing dtypes
            return function(x1, x2)
        refuse_complex(x1, x2)
        return function(x1, x2)

    return checked


def boolean(function: Callable[..., Native]) -> Callable[..., Native]:
    """`function` of booleans, raising TypeError for numbers."""

    @shortcut(function, *["b"] * getattr(function, "nin", 2), axes=0)
    def checked(*xs: Native) -> Native:
        for x in xs:
            if x.dtype is not _BOOL and x.dtype.kind != "b":
                raise TypeError("numbers are neither true nor false")
        return function(*xs)

    return checked
