"""Linear algebra functions of the main namespace: products, and the transpose.

The arguments promote to the dtype of the result. Products of float32 are computed in full float32, never in the TF32 of
some GPUs. Only `vecdot` conjugates, namely its first argument.
"""

from __future__ import annotations

from collections.abc import Sequence

from anyarray._array.array import AnyArray, Array
from anyarray._call.dispatch import dispatch

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


@dispatch(x1="numeric", x2="numeric", cost="matmul", fit="product", batch="product")
def matmul(x1: AnyArray, x2: AnyArray, /) -> Array:
    """Matrix product, as the operator `@`.

    `x1` is (..., m, k), `x2` (..., k, n), the result (..., m, n); the batch axes broadcast. A vector (k,) counts as a
    row on the left and as a column on the right; the added axis is removed from the result.
    Raises ValueError if an argument is 0-d or the shapes do not fit.

    >>> import anyarray as xp
    >>> xp.matmul(xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 10])).tolist()
    [21, 43]

    Source: array API 2025.12, linear_algebra_functions.matmul.
    """
    ...


@dispatch(fit="matrices", batch="matrices")
def matrix_transpose(x: AnyArray, /) -> Array:
    """The matrices of `x` with rows and columns exchanged.

    `x` is (..., m, n), the result (..., n, m). Complex elements are not conjugated.

    >>> import anyarray as xp
    >>> xp.matrix_transpose(xp.asarray([[1, 2], [3, 4]])).tolist()
    [[1, 3], [2, 4]]

    Source: array API 2025.12, linear_algebra_functions.matrix_transpose.
    """
    ...


@dispatch(x1="numeric", x2="numeric", cost="matmul of what is reshaped", fit="contraction of axes")
def tensordot(
    x1: AnyArray,
    x2: AnyArray,
    /,
    *,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
) -> Array:
    """Sum of products over axes of `x1` and `x2`.

    `axes` is a number n, for the last n axes of `x1` and the first n of `x2`, or a pair of the axes of each. Their
    lengths must be equal; they do not broadcast. The result has the other axes of `x1`, then those of `x2`.

    >>> import anyarray as xp
    >>> xp.tensordot(xp.ones((2, 3, 4)), xp.ones((4, 3, 5)), axes=((1, 2), (1, 0))).shape
    (2, 5)

    Source: array API 2025.12, linear_algebra_functions.tensordot.
    """
    ...


@dispatch(x1="numeric", x2="numeric", cost="dot", fit="contraction", batch="contraction")
def vecdot(x1: AnyArray, x2: AnyArray, /, *, axis: int = -1) -> Array:
    """Scalar product of the vectors along `axis`.

    This is the sum of conj(x1) * x2. `axis` is negative and has equal length in both; the other axes broadcast.

    >>> import anyarray as xp
    >>> xp.vecdot(xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 10])).tolist()
    [21, 43]

    Source: array API 2025.12, linear_algebra_functions.vecdot.
    """
    ...
