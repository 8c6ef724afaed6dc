"""Covariances, and sums of products of shifted vectors."""

from __future__ import annotations

import functools
import math
import operator
import warnings
from typing import Any, Final, Literal

import numpy as np

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors
from anyarray._base.dtypes import DTypeLike
from anyarray._call.arguments import known_shape
from anyarray._call.dispatch import composed
from anyarray._call.wrapping import is_array
from anyarray.extensions._axes import in_host_memory, known
from anyarray.standard import namespace as xp

__all__ = ["convolve", "corrcoef", "correlate", "cov"]


@composed(own="numpy cupy", fweights="real numeric", aweights="real numeric")
def cov(
    m: AnyArray,
    y: AnyArray | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: AnyArray | None = None,
    aweights: AnyArray | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """Covariance matrix of variables, from observations of them.

    The rows of `m` are variables, or its columns if `rowvar` is False; a vector is one variable. `y` adds further
    variables. The sums are divided by the number of observations minus `ddof`; None means 1, or 0 with `bias`.
    `fweights` are the numbers of occurrences of each observation, `aweights` their weights. The result is float64 or
    complex128, or has the dtype `dtype`.
    Raises ValueError for more than two axes or negative weights, RuntimeError for weights of a wrong length.

    >>> import anyarray as xp
    >>> xp.cov(xp.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]

    Source: NumPy 2.4, numpy.cov.
    """
    wanted = dtype
    if wanted is None:
        wanted = xp.result_type(m, xp.float64) if y is None else xp.result_type(m, y, xp.float64)
    rows = _variables("m", m, wanted, not rowvar and len(m.shape) != 1)
    if known_shape(rows)[0] == 0:
        return xp.zeros((0, 0), dtype=xp.float64)
    if y is not None:
        more = _variables("y", y, wanted, False)
        rows = xp.concat([rows, more.T if not rowvar and known_shape(more)[0] != 1 else more])
    weights = _weights(fweights, aweights, rows.shape[1])
    less = ddof if ddof is not None else 0 if bias else 1
    if weights is None:
        factor: Any = rows.shape[1] - less
        factor = xp.maximum(factor, 0) if is_array(factor) else max(factor, 0)
        if not is_array(factor) and not factor:
            warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        means = xp.mean(rows, axis=1, keepdims=True)
    else:
        total = xp.sum(weights)
        factor = total
        if less:
            factor = total - (less if aweights is None else less * xp.sum(weights * aweights) / total)
        factor = xp.where(factor <= 0, 0.0, factor)
        means = xp.sum(rows * weights, axis=1, keepdims=True) / total
    rows = rows - xp.astype(means, rows.dtype, copy=False)
    weighted = rows if weights is None else rows * weights
    products = xp.matmul(rows, xp.conj(weighted).T)
    found = products * (math.inf if type(factor) is int and not factor else 1 / factor)
    found = xp.reshape(found, tuple([n for n in found.shape if n != 1]))
    return xp.astype(found, wanted, copy=False)


def _variables(parameter: str, given: AnyArray, dtype: Any, is_transposed: bool) -> Array:
    """A matrix of one row for each variable."""
    ndim = len(given.shape)
    if ndim > 2:
        raise errors.ArgumentValueError(f"cov: {parameter} must have at most 2 axes, not {ndim}")
    array = xp.astype(given, dtype, copy=False)
    matrix = array if ndim == 2 else xp.reshape(array, (1, -1))
    return matrix.T if is_transposed else matrix


def _weights(fweights: AnyArray | None, aweights: AnyArray | None, length: int) -> Array | None:
    """The product of both, as float64."""
    found: Array | None = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        values = known(given)
        if values is not None and name == "fweights" and (values != values.round()).any():
            raise errors.ArgumentTypeError("cov: fweights must hold integers")
        if len(known_shape(given)) != 1 or known_shape(given)[0] != length:
            raise _LengthError(
                f"cov: {name} must be a vector of an element for each of {length} observations, not of shape "
                f"{tuple(given.shape)}"
            )
        if values is not None and (values < 0).any():
            raise errors.ArgumentValueError(f"cov: {name} must not be negative")
        array = xp.astype(given, xp.float64, copy=False)
        found = array if found is None else found * array
    return found


class _LengthError(errors.ArgumentValueError, RuntimeError):
    """A wrong length, for which NumPy raises RuntimeError."""


@composed(own="numpy cupy")
def corrcoef(x: AnyArray, y: AnyArray | None = None, rowvar: bool = True, *, dtype: DTypeLike | None = None) -> Array:
    """Correlation coefficients of variables, from observations of them.

    They are the covariances of `cov`, divided by the standard deviations. The coefficients of a constant variable are
    NaN.

    >>> import anyarray as xp
    >>> xp.round(xp.corrcoef(xp.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]

    Source: NumPy 2.4, numpy.corrcoef.
    """
    found = cov(x, y, rowvar, dtype=dtype)
    if not found.ndim:
        return found / found
    deviations = xp.sqrt(xp.real(xp.linalg.diagonal(found)))
    found = found / deviations[:, None] / deviations[None, :]
    if found.dtype.kind != "c":
        return xp.clip(found, -1, 1)
    return xp.astype(xp.clip(xp.real(found), -1, 1) + 1j * xp.clip(xp.imag(found), -1, 1), found.dtype, copy=False)


@composed(own="numpy cupy")
def convolve(a: AnyArray, v: AnyArray, mode: Literal["full", "same", "valid"] = "full") -> Array:
    """Convolution of two vectors.

    The result holds the sum of products of one vector with the reverse of the other, for each shift. With "full", the
    vectors overlap in at least one element (n + m - 1 shifts); with "valid", they overlap completely; "same" is the
    middle part of "full", as long as the longer vector.
    Raises ValueError for an empty vector.

    >>> import anyarray as xp
    >>> xp.convolve(xp.asarray([1, 2, 3]), xp.asarray([0, 1, 10])).tolist()
    [0, 1, 12, 23, 30]

    Source: NumPy 2.4, numpy.convolve.
    """
    first, second = _vectors("convolve", a, v)
    values = in_host_memory(first, second)
    if values is not None:
        return xp.asarray(np.convolve(values[0], values[1], mode))
    if second.shape[0] > first.shape[0]:
        first, second = second, first
    return _at_each_shift(first, xp.flip(second), mode)


@composed(own="numpy cupy")
def correlate(a: AnyArray, v: AnyArray, mode: Literal["valid", "same", "full"] = "valid") -> Array:
    """Correlation of two vectors.

    The result holds the sum of products of one vector with the conjugate of the other, for each shift. With "full", the
    vectors overlap in at least one element (n + m - 1 shifts); with "valid", they overlap completely; "same" is the
    middle part of "full", as long as the longer vector.
    Raises ValueError for an empty vector.

    >>> import anyarray as xp
    >>> xp.correlate(xp.asarray([1, 2, 3]), xp.asarray([0, 1]), "full").tolist()
    [1, 2, 3, 0]

    Source: NumPy 2.4, numpy.correlate.
    """
    first, second = _vectors("correlate", a, v)
    values = in_host_memory(first, second)
    if values is not None:
        return xp.asarray(np.correlate(values[0], values[1], mode))
    second = xp.conj(second) if second.dtype.kind == "c" else second
    if second.shape[0] > first.shape[0]:
        return xp.flip(_at_each_shift(second, first, mode))
    return _at_each_shift(first, second, mode)


def _vectors(function: str, a: AnyArray, v: AnyArray) -> tuple[Array, Array]:
    """Both in the dtype that they promote to."""
    for name, given in (("a", a), ("v", v)):
        ndim = len(given.shape)
        if ndim > 1 or (not ndim and function == "correlate"):
            raise errors.ArgumentValueError(f"{function}: {name} must have one axis, not {ndim}")
        if ndim and known_shape(given)[0] == 0:
            raise errors.ArgumentValueError(f"{function}: {name} must not be empty")
    dtype = xp.result_type(a, v)
    first, second = [xp.astype(xp.reshape(one, (-1,)), dtype, copy=False) for one in (a, v)]
    return first, second


_FEW: Final = 64
"""Most elements of the shorter vector for which its products are added one after the other, which XLA fuses."""
_AT_ONCE: Final = 1 << 22
"""Number of products that are made at a time otherwise."""


def _at_each_shift(a: Array, v: Array, mode: str) -> Array:
    """Sums of the products of `v` with as many elements of `a`."""
    if a.dtype.kind == "b":
        return xp.not_equal(_at_each_shift(xp.astype(a, xp.int64), xp.astype(v, xp.int64), mode), 0)
    k = v.shape[0]
    before, after = {"valid": (0, 0), "same": (k // 2, k - k // 2 - 1), "full": (k - 1, k - 1)}[mode]
    parts = [_sums(a, v)]
    if before:
        zeros = xp.zeros((before,), dtype=a.dtype)
        parts.insert(0, _sums(xp.concat([zeros, a[: k - 1]]), v, (before, before + k - 1)))
    if after:
        zeros = xp.zeros((after,), dtype=a.dtype)
        parts.append(_sums(xp.concat([a[a.shape[0] - k + 1 :], zeros]), v, (0, k - 1)))
    return xp.concat(parts) if len(parts) > 1 else parts[0]


def _sums(a: Array, v: Array, inside: tuple[int, int] | None = None) -> Array:
    """Sums of the products with elements of `a`, with each one first.

    Elements outside of `inside` are skipped: zero times an infinite element of `v` would be NaN.
    """
    k = v.shape[0]
    length = a.shape[0] - k + 1
    if inside is None and k <= _FEW:
        return functools.reduce(operator.add, [a[i : i + length] * v[i] for i in range(k)])
    rows = max(1, _AT_ONCE // length)
    parts: list[Array] = []
    for start in range(0, k, rows):
        stop = min(start + rows, k)
        shifted, factors = _shifted(a[start : stop - 1 + length], stop - start, length), v[start:stop]
        if inside is None:
            parts.append(xp.matmul(factors, shifted))
            continue
        places = xp.arange(start, stop)[:, None] + xp.arange(length)
        is_inside = xp.logical_and(places >= inside[0], places < inside[1])
        products = xp.where(is_inside, shifted * factors[:, None], xp.zeros((), dtype=a.dtype))
        parts.append(xp.sum(products, axis=0, dtype=a.dtype))
    return functools.reduce(operator.add, parts)


def _shifted(a: Array, rows: int, length: int) -> Array:
    """Rows of `a`, each one element later than the one before."""
    # As rows of one element more than `a` has, copies of `a` one after the other begin one later in each row.
    width = a.shape[0]
    copies = xp.reshape(xp.broadcast_to(a, (rows + 1, width)), (-1,))
    return xp.reshape(copies[: rows * (width + 1)], (rows, width + 1))[:, :length]
