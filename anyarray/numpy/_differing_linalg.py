"""Functions of `np.linalg` whose parameters differ in meaning from ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final, SupportsIndex, TypeVar

import numpy as np

import anyarray as xp
from anyarray._base import errors
from anyarray.numpy._wrapper import as_array, at_once, dressed, or_in_numpy

F = TypeVar("F", bound=Callable[..., Any])

GIVES_REAL_PARTS: Final = np.lib.NumpyVersion(np.__version__) < "2.5.0"
"""Whether NumPy gives real eigenvalues if all are; from 2.5 on they are always complex."""

__all__ = ["eig", "eigh", "eigvals", "eigvalsh", "matrix_power", "matrix_rank", "pinv", "qr", "svd"]


def as_numpy(function: F) -> F:
    """Give a function the signature and the documentation of NumPy's."""
    name = function.__name__
    theirs = getattr(np.linalg, name)
    called = or_in_numpy(function, theirs)
    dressed(called, f"linalg.{name}", theirs, inspect.signature(theirs))
    return at_once(called, theirs)  # type: ignore[return-value]  # is called as `function` is


@as_numpy
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    x = as_array(a)
    return xp.linalg.svd(x, full_matrices=bool(full_matrices)) if compute_uv else xp.linalg.svdvals(x)


def _real_if_all_are(*parts: Any) -> Any:
    """The real parts of arrays, if the first is real as it stands.

    Under a trace they stay complex, as no dtype can depend on values there.
    """
    values = parts[0]
    if values._home.is_traced(values._native) or bool(xp.any(xp.imag(values) != 0)):
        return parts
    return tuple([xp.asarray(xp.real(one), copy=True) for one in parts])


@as_numpy
def eig(a: Any) -> Any:
    x = as_array(a)
    found = xp.linalg.eig(_in_floats(x))
    return found if x.dtype.kind == "c" or not GIVES_REAL_PARTS else type(found)(*_real_if_all_are(*found))


@as_numpy
def eigvals(a: Any) -> Any:
    x = as_array(a)
    found = xp.linalg.eigvals(_in_floats(x))
    return found if x.dtype.kind == "c" or not GIVES_REAL_PARTS else _real_if_all_are(found)[0]


@as_numpy
def eigh(a: Any, UPLO: str = "L") -> Any:
    return xp.linalg.eigh(_in_lower(as_array(a), UPLO))


@as_numpy
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return xp.linalg.eigvalsh(_in_lower(as_array(a), UPLO))


def _in_lower(x: Any, triangle: str) -> Any:
    """A Hermitian matrix of which the lower triangle is read."""
    if not isinstance(triangle, str) or triangle.upper() not in ("L", "U"):
        raise errors.ArgumentValueError(f"linalg.eigh: UPLO argument must be 'L' or 'U', not {triangle!r}")
    x = _in_floats(x)
    return x if triangle.upper() == "L" or x.ndim < 2 else xp.conj(xp.matrix_transpose(x))


def _in_floats(x: Any) -> Any:
    return x if x.dtype.kind in "fc" else xp.astype(x, xp.float64)


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
    is_square = x.ndim > 1 and x.shape[-1] == x.shape[-2]
    if x.dtype.kind in "fc" or not isinstance(n, SupportsIndex) or n < 0 or not is_square:
        return xp.linalg.matrix_power(_in_floats(x), n)
    power = xp.broadcast_to(xp.eye(x.shape[-1], dtype=x.dtype), x.shape)
    for digit in f"{n:b}":  # integers stay integers
        power = power @ power
        if digit == "1":
            power = power @ x
    return power
