"""NumPy's linalg beyond the standard: norms, least squares, tensors.

The last two axes of a stack hold its matrices. Bools and integers are cast to float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors
from anyarray._call.arguments import as_array, as_integer, known_shape
from anyarray._call.dispatch import composed
from anyarray.extensions._axes import axes_of, axis_of, known
from anyarray.standard import namespace as xp

__all__ = ["cond", "lstsq", "multi_dot", "norm", "tensorinv", "tensorsolve"]


@composed(own="numpy cupy", x="floating-point", reads_no_values=True)
def norm(
    x: AnyArray,
    ord: float | Literal["fro", "nuc", "f"] | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Array:
    """Norms of vectors along one axis, or of matrices along two.

    For vectors, `ord` is the exponent of the sum of powers; `inf` means the largest magnitude, `-inf` the smallest, 0
    the number of nonzero elements, and None 2. For matrices, "fro" or None means the root of the sum of squares, "nuc"
    the sum of the singular values, 2 and -2 the largest and the smallest singular value, 1 and -1 the largest and the
    smallest column sum, `inf` and `-inf` the row sums. If `axis` is None, `x` is a vector or a matrix; without `ord`,
    it may have any shape and is flattened.
    Raises ValueError for an unknown `ord` and a wrong number of axes.

    >>> import anyarray as xp
    >>> xp.linalg.norm(xp.asarray([[3.0, 4.0], [6.0, 8.0]]), axis=1).tolist()
    [5.0, 10.0]

    Source: NumPy 2.4, numpy.linalg.norm.
    """
    ndim = len(x.shape)
    if axis is None and ord is None:
        return xp.linalg.vector_norm(x, keepdims=keepdims)
    axes = tuple(range(ndim)) if axis is None else axes_of("norm", axis, ndim)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise errors.ArgumentValueError(f"norm: ord must be a number for vectors, not {ord!r}")
        return xp.linalg.vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise errors.ArgumentValueError(f"norm: axis must name one axis or two, not {len(axes)}")
    if ord not in (None, "fro", "f", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise errors.ArgumentValueError(f"norm: ord must be 'fro', 'nuc', 1, 2 or inf for matrices, not {ord!r}")
    matrices = x if axes == (ndim - 2, ndim - 1) else xp.moveaxis(x, axes, (-2, -1))
    found = xp.linalg.matrix_norm(matrices, ord="fro" if ord is None or ord == "f" else ord)
    return xp.expand_dims(found, axes) if keepdims else found


@composed(own="numpy cupy", x="floating-point", fit="matrices", reads_no_values=True)
def cond(x: AnyArray, p: float | Literal["fro", "nuc"] | None = None) -> Array:
    """Condition numbers of matrices: the norm times that of the inverse.

    `x` has the shape (..., m, n), the result (...). `p` is the `ord` of a matrix norm; None means 2. With 2 and -2, the
    result is the ratio of the largest and the smallest singular value, and the matrices need not be square. A singular
    matrix gives infinity. Raises LinAlgError for empty matrices.

    >>> import anyarray as xp
    >>> xp.linalg.cond(xp.asarray([[1.0, 0.0], [0.0, 4.0]])).tolist()
    4.0

    Source: NumPy 2.4, numpy.linalg.cond.
    """
    if 0 in known_shape(x)[-2:]:
        raise errors.LinAlgError("cond: x must not be empty, as condition numbers are of matrices with elements")
    if p is None or p in (2, -2):
        values = xp.linalg.svdvals(x)
        over, under = (values[..., -1], values[..., 0]) if p == -2 else (values[..., 0], values[..., -1])
        is_zero = under == 0
        found = xp.where(is_zero, math.inf, over / xp.where(is_zero, 1.0, under))
    else:
        sign = xp.linalg.slogdet(x).sign
        is_zero = sign == 0
        safe = xp.where(is_zero[..., None, None], xp.eye(x.shape[-1], dtype=sign.dtype), x)
        found = xp.linalg.matrix_norm(x, ord=p) * xp.linalg.matrix_norm(xp.linalg.inv(safe), ord=p)
        found = xp.where(is_zero, math.inf, found)
    has_nan = xp.any(xp.isnan(x), axis=(-2, -1))
    return xp.where(
        xp.logical_and(xp.isnan(found), xp.logical_not(has_nan)), math.inf, xp.where(has_nan, xp.nan, found)
    )


@composed(own="numpy cupy", a="floating-point", b="floating-point")
def lstsq(a: AnyArray, b: AnyArray, rcond: float | None = None) -> tuple[Array, Array, Array, Array]:
    """Least-squares solutions of `a @ x = b`.

    `a` has the shape (m, n), `b` (m,) or (m, k). The result is a tuple: x of the shape (n,) or (n, k), the shortest of
    all solutions; the sums of squared residuals of the shape (1,) or (k,), empty if m <= n or the rank of `a` is less
    than n; the rank; and the singular values. Singular values up to `rcond` times the largest count as 0; None means
    max(m, n) times the epsilon of float64. In a trace, the rank is assumed to be n.
    Raises LinAlgError for shapes that do not fit.

    >>> import anyarray as xp
    >>> a = xp.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> xp.round(xp.linalg.lstsq(a, xp.asarray([1.0, 3.0, 5.0]))[0]).tolist()
    [1.0, 2.0]

    Source: NumPy 2.4, numpy.linalg.lstsq.
    """
    if len(a.shape) != 2 or len(b.shape) not in (1, 2) or known_shape(a)[0] != known_shape(b)[0]:
        raise errors.LinAlgError(
            f"lstsq: a must be a matrix and b of as many rows, but their shapes are {a.shape} and {b.shape}"
        )
    m, n = a.shape
    eps = xp.finfo(xp.float64).eps
    cut = eps * max(m, n) if rcond is None else eps if rcond < 0 else float(rcond)
    x, residuals, rank, values = least_squares(a, b, cut)
    if m <= n or known(rank) not in (None, n):
        residuals = residuals[:0]
    return x, residuals, rank, values


@composed(reads_no_values=True)
def least_squares(a: AnyArray, b: AnyArray, cut: float) -> tuple[Array, Array, Array, Array]:
    """As `lstsq`, but with residuals whatever the rank is."""
    dtype = xp.result_type(a, b, xp.float32)
    # As NumPy, which computes in 64 bits: the rank of float32 depends on it.
    wide = xp.complex128 if dtype.kind == "c" else xp.float64
    wide_a, wide_b = xp.astype(a, wide, copy=False), xp.astype(b, wide, copy=False)
    values = xp.linalg.svdvals(wide_a)
    rank = xp.count_nonzero(values > cut * values[0]) if 0 not in known_shape(a) else xp.zeros((), dtype=xp.int64)
    columns = wide_b if len(b.shape) == 2 else wide_b[:, None]
    x = xp.matmul(xp.linalg.pinv(wide_a, rtol=cut), columns)
    residuals = xp.sum(xp.square(xp.abs(columns - xp.matmul(wide_a, x))), axis=0)
    real = xp.finfo(dtype).dtype
    return (
        xp.astype(x if len(b.shape) == 2 else x[:, 0], dtype),
        xp.astype(residuals, real),
        xp.astype(rank, xp.int32),
        xp.astype(values, real),
    )


def multi_dot(arrays: Sequence[AnyArray]) -> Array:
    """Product of several matrices, in the order of the fewest operations.

    The first and the last may be vectors: a row and a column. Raises ValueError for fewer than two matrices,
    LinAlgError for a wrong number of axes.

    >>> import anyarray as xp
    >>> xp.linalg.multi_dot([xp.ones((2, 3)), xp.ones((3, 4)), xp.ones(4)]).tolist()
    [12.0, 12.0]

    Source: NumPy 2.4, numpy.linalg.multi_dot.
    """
    given = [as_array("multi_dot", f"arrays[{i}]", one) for i, one in enumerate(arrays)]
    if len(given) < 2:
        raise errors.ArgumentValueError(f"multi_dot: arrays must hold at least two, not {len(given)}")
    for i, one in enumerate(given):
        if one.ndim != 2 and not (one.ndim == 1 and i in (0, len(given) - 1)):
            raise errors.LinAlgError(f"multi_dot: arrays[{i}] must be a matrix, not of {one.ndim} axes")
    if len(given) == 2:
        return xp.matmul(*given)
    is_row, is_column = given[0].ndim == 1, given[-1].ndim == 1
    matrices = [given[0][None, :] if is_row else given[0], *given[1:-1], given[-1][:, None] if is_column else given[-1]]
    if len(matrices) == 3:  # as below, in a fifth of the time
        a, b, c = matrices
        (m, k), (n, p) = a.shape, c.shape
        found = (a @ b) @ c if m * n * (k + p) <= k * p * (m + n) else a @ (b @ c)
    else:
        lengths = [*[one.shape[0] for one in matrices], matrices[-1].shape[1]]
        found = _multiplied(matrices, _splits(lengths), 0, len(matrices))
    if is_row:
        found = found[0, :]
    return found[..., 0] if is_column else found


def _splits(lengths: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to split each run of matrices for the fewest operations.

    A run is a pair (start, stop).
    """
    count = len(lengths) - 1
    cost = {(at, at + 1): 0 for at in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for run in range(2, count + 1):
        for start in range(count - run + 1):
            stop = start + run
            costs = [
                cost[start, at] + cost[at, stop] + lengths[start] * lengths[at] * lengths[stop]
                for at in range(start + 1, stop)
            ]
            cost[start, stop] = min(costs)
            splits[start, stop] = start + 1 + costs.index(min(costs))
    return splits


def _multiplied(matrices: Sequence[Array], splits: dict[tuple[int, int], int], start: int, stop: int) -> Array:
    if stop - start == 1:
        return matrices[start]
    at = splits[start, stop]
    return xp.matmul(_multiplied(matrices, splits, start, at), _multiplied(matrices, splits, at, stop))


def tensorinv(a: AnyArray, ind: int = 2) -> Array:
    """The inverse of the map `tensordot(a, x, axes=...)` of tensors.

    The first `ind` axes of `a` are its rows, the others its columns, with equal numbers of elements. The result has the
    columns first. Raises ValueError if `ind` is not positive, LinAlgError if the numbers of elements differ.

    >>> import anyarray as xp
    >>> xp.linalg.tensorinv(xp.reshape(xp.eye(6), (6, 2, 3)), ind=1).shape
    (2, 3, 6)

    Source: NumPy 2.4, numpy.linalg.tensorinv.
    """
    array = as_array("tensorinv", "a", a)
    rows = as_integer("tensorinv", "ind", ind)
    if rows <= 0:
        raise errors.ArgumentValueError(f"tensorinv: ind must be at least 1, not {ind}")
    size = math.prod(array.shape[rows:])
    if array.size != size**2:
        raise errors.LinAlgError(
            f"tensorinv: a must have as many elements in its first {ind} axes as in the others, but is of shape "
            f"{array.shape}"
        )
    return xp.reshape(xp.linalg.inv(xp.reshape(array, (size, size))), (*array.shape[rows:], *array.shape[:rows]))


def tensorsolve(a: AnyArray, b: AnyArray, axes: Sequence[int] | None = None) -> Array:
    """The tensor x with `tensordot(a, x, axes=x.ndim) == b`.

    The first axes of `a` are those of `b`, the others those of the result, with equal numbers of elements. `axes` are
    first moved to the end of `a`. Raises LinAlgError for other shapes.

    >>> import anyarray as xp
    >>> xp.linalg.tensorsolve(xp.reshape(2 * xp.eye(4), (4, 2, 2)), xp.ones(4)).tolist()
    [[0.5, 0.5], [0.5, 0.5]]

    Source: NumPy 2.4, numpy.linalg.tensorsolve.
    """
    array, values = as_array("tensorsolve", "a", a), as_array("tensorsolve", "b", b)
    for one in () if axes is None else axes:
        array = xp.moveaxis(array, axis_of("tensorsolve", one, array.ndim, "axes"), -1)
    shape = array.shape[values.ndim :] if array.ndim > values.ndim else ()
    size = math.prod(shape)
    if array.size != size**2 or values.size != size:
        raise errors.LinAlgError(
            f"tensorsolve: a must have as many elements in the axes of b as in the others, but the shapes are "
            f"{array.shape} and {values.shape}"
        )
    found = xp.linalg.solve(xp.reshape(array, (size, size)), xp.reshape(values, (-1,)))
    return xp.reshape(found, shape)
