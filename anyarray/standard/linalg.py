"""The `linalg` extension: decompositions, inverses, norms of matrices.

The last two axes are those of matrices; all others are batch axes, and functions apply to each matrix. Bools and
integers are cast to float64, except in products, `diagonal` and `trace`. Real results of complex input have the dtype
of its parts. A matrix without an inverse or factor raises an error or gives elements that are not finite, depending on
the library. No library checks that a matrix is symmetric. If a decomposition is not unique (signs or phases of
vectors), backends may return different ones.
Raises ValueError for shapes that do not fit, TypeError for a dtype that the function does not allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from anyarray._array.array import AnyArray, Array
from anyarray._base.dtypes import DTypeLike
from anyarray._call.dispatch import dispatch
from anyarray.standard.linear_algebra import matmul, matrix_transpose, tensordot, vecdot

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
    "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip


class Eigensystem(NamedTuple):
    """What `eig` and `eigh` return."""

    eigenvalues: Array
    """Those of `eigh` are real and ascend."""
    eigenvectors: Array
    """One in each column."""


class QR(NamedTuple):
    """What `qr` returns."""

    Q: Array
    """Its columns are orthonormal."""
    R: Array
    """Upper triangular."""


class Slogdet(NamedTuple):
    """What `slogdet` returns."""

    sign: Array
    """0, or of absolute value 1."""
    logabsdet: Array
    """The logarithm of the determinant's absolute value, real; -inf where that is 0."""


class SVD(NamedTuple):
    """What `svd` returns."""

    U: Array
    """Its columns are the left singular vectors."""
    S: Array
    """The singular values, real; they descend."""
    Vh: Array
    """Its rows are the right singular vectors, conjugated."""


@dispatch(x="floating-point", cost="cholesky", fit="square matrices", batch="matrices")
def cholesky(x: AnyArray, /, *, upper: bool = False) -> Array:
    """Triangular matrix L with L @ L^H = x; if `upper`, U with U^H @ U = x.

    `x` has the shape (..., m, m) and is Hermitian (symmetric if real) and positive definite. Only its lower triangle is
    read, or its upper triangle if `upper` is True. The other triangle of the result is zero.

    >>> import anyarray as xp
    >>> xp.linalg.cholesky(xp.asarray([[4.0, 0.0], [0.0, 9.0]])).tolist()
    [[2.0, 0.0], [0.0, 3.0]]

    Source: array API 2025.12, linalg.cholesky.
    """
    ...


@dispatch(x1="numeric", x2="numeric", fit="contraction", batch="contraction")
def cross(x1: AnyArray, x2: AnyArray, /, *, axis: int = -1) -> Array:
    """Vector product of the vectors along `axis`.

    `axis` is negative and has length 3 in both; the other axes broadcast.

    >>> import anyarray as xp
    >>> xp.linalg.cross(xp.asarray([1, 0, 0]), xp.asarray([0, 1, 0])).tolist()
    [0, 0, 1]

    Source: array API 2025.12, linalg.cross.
    """
    ...


@dispatch(x="floating-point", cost="solve", fit="square matrices", batch="matrices")
def det(x: AnyArray, /) -> Array:
    """Determinant of square matrices.

    `x` is (..., m, m), the result (...). The determinant of a matrix (0, 0) is 1.

    >>> import anyarray as xp
    >>> f"{xp.linalg.det(xp.asarray([[1.0, 2.0], [3.0, 4.0]])):.4f}"
    '-2.0000'

    Source: array API 2025.12, linalg.det.
    """
    ...


@dispatch(fit="matrices", batch="matrices")
def diagonal(x: AnyArray, /, *, offset: int = 0) -> Array:
    """Elements on a diagonal of matrices.

    `x` is (..., m, n), the result (..., k). `offset` counts diagonals from the main one, upwards if positive.

    >>> import anyarray as xp
    >>> xp.linalg.diagonal(xp.asarray([[1, 2, 3], [4, 5, 6]]), offset=1).tolist()
    [2, 6]

    Source: array API 2025.12, linalg.diagonal.
    """
    ...


@dispatch(x="floating-point", fit="square matrices", batch="matrices")
def eig(x: AnyArray, /) -> Eigensystem:
    """Eigenvalues and eigenvectors of square matrices.

    `x` is (..., m, m). `eigenvalues` is (..., m), in no particular order, `eigenvectors` (..., m, m) with the vectors
    as columns; both are complex, of the precision of `x`. For Hermitian matrices, `eigh` is faster and more accurate.

    >>> import anyarray as xp
    >>> eigenvalues, eigenvectors = xp.linalg.eig(xp.asarray([[1.0, 2.0], [0.0, 1.0]]))
    >>> eigenvalues.tolist(), eigenvectors.shape
    ([(1+0j), (1+0j)], (2, 2))

    Source: array API 2025.12, linalg.eig.
    """
    ...


@dispatch(x="floating-point", cost="eigh", fit="square matrices", batch="matrices")
def eigh(x: AnyArray, /) -> Eigensystem:
    """Eigenvalues and eigenvectors of Hermitian (symmetric if real) matrices.

    `x` is (..., m, m); its lower triangle is read. `eigenvalues` is (..., m), real, in ascending order; `eigenvectors`
    (..., m, m) of the dtype of `x`, with the vectors as orthonormal columns.

    >>> import anyarray as xp
    >>> eigenvalues, eigenvectors = xp.linalg.eigh(xp.asarray([[2.0, 1.0], [1.0, 2.0]]))
    >>> [round(value, 4) for value in eigenvalues.tolist()], eigenvectors.shape
    ([1.0, 3.0], (2, 2))

    Source: array API 2025.12, linalg.eigh.
    """
    ...


@dispatch(x="floating-point", fit="square matrices", batch="matrices")
def eigvals(x: AnyArray, /) -> Array:
    """Eigenvalues of square matrices.

    `x` is (..., m, m), the result (..., m), complex of the precision of `x`, in no particular order.

    >>> import anyarray as xp
    >>> xp.linalg.eigvals(xp.asarray([[1.0, 2.0], [0.0, 1.0]])).tolist()
    [(1+0j), (1+0j)]

    Source: array API 2025.12, linalg.eigvals.
    """
    ...


@dispatch(x="floating-point", cost="eigh", fit="square matrices", batch="matrices")
def eigvalsh(x: AnyArray, /) -> Array:
    """Eigenvalues of Hermitian (symmetric if real) matrices.

    `x` is (..., m, m), of which the lower triangle is read; the result is (..., m), real, in ascending order.

    >>> import anyarray as xp
    >>> [round(value, 4) for value in xp.linalg.eigvalsh(xp.asarray([[2.0, 1.0], [1.0, 2.0]])).tolist()]
    [1.0, 3.0]

    Source: array API 2025.12, linalg.eigvalsh.
    """
    ...


@dispatch(x="floating-point", cost="solve", fit="square matrices", batch="matrices")
def inv(x: AnyArray, /) -> Array:
    """Inverse of square matrices.

    `x` and the result are (..., m, m).

    >>> import anyarray as xp
    >>> xp.linalg.inv(xp.asarray([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]

    Source: array API 2025.12, linalg.inv.
    """
    ...


@dispatch(x="floating-point", fit="norm", batch="matrices")
def matrix_norm(
    x: AnyArray,
    /,
    *,
    keepdims: bool = False,
    ord: float | Literal["fro", "nuc"] | None = "fro",
) -> Array:
    """Norm of matrices.

    `x` is (..., m, n), the result (...), real; with `keepdims` it is (..., 1, 1). `ord` is

        "fro", None     Frobenius: the root of the sum of squares
        "nuc"           nuclear: the sum of the singular values
        1, -1           the greatest and the least sum of magnitudes in a column
        2, -2           the greatest and the least singular value
        inf, -inf       the greatest and the least sum of magnitudes in a row

    >>> import anyarray as xp
    >>> float(xp.linalg.matrix_norm(xp.asarray([[1.0, -2.0], [3.0, 4.0]]), ord=xp.inf))
    7.0

    Source: array API 2025.12, linalg.matrix_norm.
    """
    ...


@dispatch(x="floating-point", cost="matmul at least", fit="square matrices", batch="matrices")
def matrix_power(x: AnyArray, n: int, /) -> Array:
    """Square matrices to the power of a whole number.

    `x` and the result are (..., m, m). `n = 0` gives the identity, and a negative `n` a power of the inverse.

    >>> import anyarray as xp
    >>> xp.linalg.matrix_power(xp.asarray([[1.0, 1.0], [0.0, 1.0]]), 3).tolist()
    [[1.0, 3.0], [0.0, 1.0]]

    Source: array API 2025.12, linalg.matrix_power.
    """
    ...


@dispatch(x="floating-point", rtol="real floating-point", cost="svd", alike="svdvals", fit="matrices", batch="matrices")
def matrix_rank(x: AnyArray, /, *, rtol: float | AnyArray | None = None) -> Array:
    """Number of singular values above a tolerance, as int64.

    `x` has the shape (..., m, n), the result (...). The tolerance is `rtol` times the greatest singular value of the
    matrix. `rtol` is a number or an array that broadcasts with the result; None means max(m, n) times the `eps` of the
    dtype.

    >>> import anyarray as xp
    >>> int(xp.linalg.matrix_rank(xp.asarray([[1.0, 2.0], [2.0, 4.0]])))
    1

    Source: array API 2025.12, linalg.matrix_rank.
    """
    ...


@dispatch(x1="numeric", x2="numeric", cost="outer", fit="vectors", batch="outer product")
def outer(x1: AnyArray, x2: AnyArray, /) -> Array:
    """Outer product: each element of `x1` times each element of `x2`.

    `x1` is (n,), `x2` (m,), the result (n, m). Complex elements are not conjugated.

    >>> import anyarray as xp
    >>> xp.linalg.outer(xp.asarray([1, 2]), xp.asarray([10, 20])).tolist()
    [[10, 20], [20, 40]]

    Source: array API 2025.12, linalg.outer.
    """
    ...


@dispatch(x="floating-point", rtol="real floating-point", cost="svd", fit="matrices", batch="matrices")
def pinv(x: AnyArray, /, *, rtol: float | AnyArray | None = None) -> Array:
    """Pseudo-inverse (Moore-Penrose) of matrices.

    `x` is (..., m, n), the result (..., n, m). Singular values up to `rtol` times the greatest one count as zero.
    `rtol` is as in `matrix_rank`.

    >>> import anyarray as xp
    >>> inverse = xp.linalg.pinv(xp.asarray([[2.0, 0.0], [0.0, 0.0]]))
    >>> round(float(inverse[0, 0]), 4), float(inverse[1, 1])
    (0.5, 0.0)

    Source: array API 2025.12, linalg.pinv.
    """
    ...


@dispatch(x="floating-point", cost="qr", fit="matrices", batch="matrices")
def qr(x: AnyArray, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QR:
    """Q with orthonormal columns and upper triangular R with Q @ R = x.

    `x` is (..., m, n). With k = min(m, n), `Q` is (..., m, k) and `R` (..., k, n) if `mode` is "reduced", (..., m, m)
    and (..., m, n) if it is "complete". Signs, or phases, of the columns of Q are not determined.

    >>> import anyarray as xp
    >>> Q, R = xp.linalg.qr(xp.asarray([[3.0, 1.0], [4.0, 1.0], [0.0, 2.0]]))
    >>> Q.shape, R.shape, round(abs(float(R[0, 0])), 4)
    ((3, 2), (2, 2), 5.0)

    Source: array API 2025.12, linalg.qr.
    """
    ...


@dispatch(x="floating-point", cost="solve", alike="det", fit="square matrices", batch="matrices")
def slogdet(x: AnyArray, /) -> Slogdet:
    """Determinant of square matrices, as sign and logarithm of its magnitude.

    `x` is (..., m, m), both results are (...): `sign` of the dtype of `x`, `logabsdet` real. They do not overflow if
    `det` does. A determinant of zero gives the sign 0 and the logarithm -inf.

    >>> import anyarray as xp
    >>> sign, logabsdet = xp.linalg.slogdet(xp.asarray([[0.0, 1.0], [1.0, 0.0]]))
    >>> float(sign), float(logabsdet)
    (-1.0, 0.0)

    Source: array API 2025.12, linalg.slogdet.
    """
    ...


@dispatch(x1="floating-point", x2="floating-point", cost="solve", fit="equations", batch="equations")
def solve(x1: AnyArray, x2: AnyArray, /) -> Array:
    """Solution of the linear equations x1 @ result = x2.

    `x1` has the shape (..., m, m). `x2` is one right-hand side (m,), or has right-hand sides as columns (..., m, k).
    The result has the shape of `x2`; the batch axes broadcast.

    >>> import anyarray as xp
    >>> xp.linalg.solve(xp.asarray([[2.0, 0.0], [0.0, 4.0]]), xp.asarray([2.0, 2.0])).tolist()
    [1.0, 0.5]

    Source: array API 2025.12, linalg.solve.
    """
    ...


@dispatch(x="floating-point", cost="svd", fit="matrices", batch="matrices")
def svd(x: AnyArray, /, *, full_matrices: bool = True) -> SVD:
    """Singular values and vectors of matrices: U @ diag(S) @ Vh = x.

    `x` is (..., m, n). With k = min(m, n), `S` is (..., k), real, in descending order. `U` is (..., m, m) and `Vh`
    (..., n, n), or (..., m, k) and (..., k, n) if `full_matrices` is False. Signs, or phases, of the vectors are
    not determined.

    >>> import anyarray as xp
    >>> U, S, Vh = xp.linalg.svd(xp.asarray([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]]), full_matrices=False)
    >>> U.shape, [round(value, 4) for value in S.tolist()], Vh.shape
    ((3, 2), [3.0, 2.0], (2, 2))

    Source: array API 2025.12, linalg.svd.
    """
    ...


@dispatch(x="floating-point", cost="svd", fit="matrices", batch="matrices")
def svdvals(x: AnyArray, /) -> Array:
    """Singular values of matrices.

    `x` is (..., m, n), the result (..., min(m, n)), real, in descending order.

    >>> import anyarray as xp
    >>> [round(value, 4) for value in xp.linalg.svdvals(xp.asarray([[0.0, 2.0], [3.0, 0.0]])).tolist()]
    [3.0, 2.0]

    Source: array API 2025.12, linalg.svdvals.
    """
    ...


@dispatch(x="numeric", fit="matrices", batch="matrices", promotion="sums")
def trace(x: AnyArray, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Sum of a diagonal of matrices.

    `x` is (..., m, n), the result (...). `offset` is as in `diagonal`, `dtype` as in `sum`. An empty diagonal gives 0.

    >>> import anyarray as xp
    >>> int(xp.linalg.trace(xp.asarray([[1, 2], [3, 4]])))
    5

    Source: array API 2025.12, linalg.trace.
    """
    ...


@dispatch(x="floating-point", cost="sum", batch="reduction")
def vector_norm(
    x: AnyArray,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Array:
    """Norm of vectors along `axis`.

    Several axes, or all axes if `axis` is None, count as one vector. The axes are reduced, or kept with length 1 if
    `keepdims` is True. The result is real. `ord` is

        inf, -inf       the greatest and the least magnitude
        0               the number of elements that are not zero
        any other p     the sum of abs(x)**p, to the power of 1 / p

    >>> import anyarray as xp
    >>> float(xp.linalg.vector_norm(xp.asarray([1.0, -2.0, 3.0]), ord=1))
    6.0

    Source: array API 2025.12, linalg.vector_norm.
    """
    ...
