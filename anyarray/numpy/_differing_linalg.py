"""Functions of `np.linalg` whose parameters mean something else than ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import anyarray as xp
from anyarray.numpy._entrance import as_array, dressed

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["matrix_power", "matrix_rank", "pinv", "qr", "svd"]


def as_numpy(function: F) -> F:
    """Give a function the signature and the documentation of NumPy's."""
    name = function.__name__
    theirs = getattr(np.linalg, name)
    return dressed(function, f"linalg.{name}", theirs, inspect.signature(theirs))  # type: ignore[no-any-return]  # itself


@as_numpy
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    x = as_array(a)
    return xp.linalg.svd(x, full_matrices=bool(full_matrices)) if compute_uv else xp.linalg.svdvals(x)


@as_numpy
def qr(a: Any, mode: str = "reduced") -> Any:
    found = xp.linalg.qr(as_array(a), mode="reduced" if mode == "r" else mode)  # type: ignore[arg-type]  # checked there
    return found.R if mode == "r" else found


@as_numpy
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Any:
    given = rcond if rtol is np._NoValue else rtol
    x = as_array(a)
    if given is None:
        return xp.linalg.pinv(x, rtol=1e-15) if rtol is np._NoValue else xp.linalg.pinv(x)
    return xp.linalg.pinv(x, rtol=given if isinstance(given, float) else as_array(given))


@as_numpy
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    x = as_array(A)
    if x.ndim < 2:
        return xp.astype(xp.any(x != 0), xp.int64)
    if tol is not None:
        singular = xp.linalg.svdvals(x)
        return xp.count_nonzero(singular > xp.expand_dims(xp.asarray(tol), axis=-1), axis=-1)
    return xp.linalg.matrix_rank(x, rtol=rtol)


@as_numpy
def matrix_power(a: Any, n: int) -> Any:
    x = as_array(a)
    if x.dtype.kind in "fc" or n < 0:
        return xp.linalg.matrix_power(x, n)
    power = xp.broadcast_to(xp.eye(x.shape[-1], dtype=x.dtype), x.shape)
    for digit in f"{n:b}":  # integers stay integers
        power = power @ power
        if digit == "1":
            power = power @ x
    return power
