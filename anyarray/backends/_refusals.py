"""Guards for libraries that take dtypes which the standard forbids and give them a meaning of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Native = Any


def refuse_complex(*xs: Native) -> None:
    """Raise TypeError for complex numbers, which have no order."""
    for x in xs:
        if x.dtype.kind == "c":
            raise TypeError("complex numbers have no order")


def real_valued(function: Callable[..., Native]) -> Callable[..., Native]:
    """`function` of two arrays, refusing complex numbers."""

    def checked(x1: Native, x2: Native, /) -> Native:
        dtype = x1.dtype
        if dtype.kind == "c" or (dtype is not x2.dtype and x2.dtype.kind == "c"):  # mostly they are one object
            raise TypeError("complex numbers have no order")
        return function(x1, x2)

    return checked


def boolean(function: Callable[..., Native]) -> Callable[..., Native]:
    """`function` of booleans, refusing numbers."""

    def checked(*xs: Native) -> Native:
        for x in xs:
            if x.dtype.kind != "b":
                raise TypeError("numbers are neither true nor false")
        return function(*xs)

    return checked
