"""Linear algebra: decompositions, norms, solutions.

Products are in `linear_algebra`. Integers and bools are cast to float64, as in NumPy. TensorFlow has no kernels here
for 16 bits: float16 and bfloat16 are cast to float32 and back. A singular or non-square matrix raises NumPy's
`LinAlgError` with its message, where TensorFlow reports it. Inside `tf.function` TensorFlow's own error is raised when
the graph runs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np

from anyarray._base import dtypes, errors
from anyarray.backends import tensorflow as backend
from anyarray.backends._shared import linear_algebra as shared
from anyarray.backends._shared.axes import require_vectors
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._derivatives import determinant, inverse_with_slope, log_determinant, lost_at_ties
from anyarray.backends.tensorflow._device import EagerTensor, Tensor, is_for_cpu, is_on_host
from anyarray.backends.tensorflow._host import on_host, sooner_unless_differentiated
from anyarray.backends.tensorflow._kernel import (
    NATIVE,
    Ints,
    cast,
    complex_abs,
    constant,
    is_complex,
    keeping_nans_along,
    may_be_differentiated,
    may_be_fused,
    name_of,
    number,
    promoted,
)
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow._shapes import axes_tensor, cut, lengths, shape_tensor, sizes_of
from anyarray.backends.tensorflow.elementwise import multiply
from anyarray.backends.tensorflow.linear_algebra import common_axis, matmul, matrix_transpose, require_equal_lengths
from anyarray.backends.tensorflow.manipulation import common_lengths, stretched
from anyarray.backends.tensorflow.searching import where
from anyarray.backends.tensorflow.statistical import alternate, with_axes_merged, with_slope_at_zero
from anyarray.backends.tensorflow.statistical import sum as total

_max = keeping_nans_along(ops.Max)
_pow = sooner_unless_differentiated(np.power, ops.Pow)

_KERNELS: Final = ("float32", "float64", "complex64", "complex128")
_HALVES: Final = ("float16", "bfloat16")
_MATRIX: Final = (-2, -1)


def _inexact(x: Tensor) -> Tensor:
    """`x` in an inexact dtype: integers and bools are cast to float64."""
    return x if name_of(x) in (*_KERNELS, *_HALVES) else cast(x, "float64")


def _of_every_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of an array, extended to every dtype.

    16-bit floats are computed as float32, and the results cast back.
    """

    @functools.wraps(function)
    def of_every_dtype(x: Tensor, /, **options: Any) -> Any:
        name = name_of(x)
        if name in _KERNELS:
            return function(x, **options)
        if name not in _HALVES:
            return function(cast(x, "float64"), **options)
        result = function(cast(x, "float32"), **options)
        if isinstance(result, tuple):
            return tuple(_narrowed(part, name) for part in result)
        return _narrowed(result, name)

    return of_every_dtype


def _narrowed(x: Tensor, name: str) -> Tensor:
    """`x` cast to `name` if it is float32; complex64 eigenvalues are kept."""
    return cast(x, name) if x.dtype is tf.float32 else x


def _run(kernel: Callable[..., Any], failure: str, *arguments: Any) -> Any:
    """Result of `kernel`; raises LinAlgError with `failure` if it fails."""
    try:
        return kernel(*arguments)
    except tf.errors.InvalidArgumentError as error:
        raise np.linalg.LinAlgError(failure) from error


def _require_matrix(function: str, x: Tensor, parameter: str = "x") -> None:
    if x.shape.rank < 2:
        raise np.linalg.LinAlgError(f"{function}: {parameter} must have at least two axes, not {x.shape.rank}")


def _require_square(function: str, x: Tensor, parameter: str = "x") -> None:
    shape = x.shape.as_list()
    if len(shape) < 2 or (shape[-1] != shape[-2] and None not in shape[-2:]):
        raise np.linalg.LinAlgError(
            f"{function}: the last two axes of {parameter} must be equally long; its shape is {shape}"
        )


def _adjoint(x: Tensor) -> Tensor:
    x = matrix_transpose(x)
    return ops.Conj(x) if is_complex(x) else x


def _real_part(x: Tensor) -> Tensor:
    return ops.Real(x, x.dtype.real_dtype) if is_complex(x) else x


def _modulus(x: Tensor) -> Tensor:
    return complex_abs(x, x.dtype.real_dtype) if is_complex(x) else ops.Abs(x)


@_of_every_dtype
def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    _require_square("cholesky", x)
    failure = "Matrix is not positive definite"
    if upper:
        x = _adjoint(x)  # the op reads the lower triangle
    if may_be_differentiated(x):
        # TensorFlow divides the gradient between both triangles, and XLA uses a diagonal that is not real.
        below = ops.MatrixBandPart(x, constant(-1), constant(0))
        on_diagonal = _real_part(ops.MatrixDiagPartV3(x, constant(0), constant(0, name_of(x))))
        x = ops.MatrixSetDiagV3(ops.AddV2(below, _adjoint(below)), cast(on_diagonal, name_of(x)), constant(0))
    factor = _run(ops.Cholesky, failure, x)
    # On a CPU the op does not fail: it puts NaN (0 if complex) on the diagonal, and leaves the upper triangle
    # uninitialized. On a GPU it leaves there what has no root.
    if not is_on_host(factor):
        factor = ops.MatrixBandPart(factor, constant(-1), constant(0))
        if is_complex(factor) or not is_for_cpu(factor):
            diagonal = ops.StopGradient(
                _real_part(ops.MatrixDiagPartV3(factor, constant(0), constant(0, name_of(factor))))
            )
            roots = ops.Sqrt(diagonal)
            # We subtract 0, or NaN where there is no positive root.
            nothing = cast(ops.RealDiv(ops.Sub(roots, roots), roots), name_of(factor))
            factor = ops.Sub(factor, ops.ExpandDims(nothing, constant(-1)))
    elif not (np.real(np.diagonal(on_host(factor), 0, -2, -1)) > 0).all():
        raise np.linalg.LinAlgError(failure)
    return _adjoint(factor) if upper else factor


@_of_every_dtype
def eigh(x: Tensor, /) -> tuple[Tensor, Tensor]:
    _require_square("eigh", x)
    values, vectors = _run(ops.SelfAdjointEigV2, "Eigenvalues did not converge", x, True)
    values = _real_part(values)
    return values, lost_at_ties(vectors, values) if may_be_differentiated(x) else vectors


@_of_every_dtype
def eigvalsh(x: Tensor, /) -> Tensor:
    _require_square("eigvalsh", x)
    values, _ = _run(ops.SelfAdjointEigV2, "Eigenvalues did not converge", x, False)
    return _real_part(values)


def _scaled(x: Tensor) -> tuple[Tensor, Tensor]:
    """`x` over the largest modulus in each matrix, and that as (..., 1, 1).

    Both have the dtype of `x`. CPU kernels square elements without scaling, which overflows for large elements and
    underflows for small ones.
    """
    size = _modulus(x)
    name = name_of(size)
    smallest = constant(float(np.finfo(name).tiny), name)
    scale = cast(ops.StopGradient(ops.Maximum(_max(size, constant(_MATRIX), True), smallest)), name_of(x))
    return ops.RealDiv(x, scale), scale


def _eigen(function: str, x: Tensor, has_vectors: bool) -> tuple[Tensor, Tensor]:
    """Eigenvalues and, if `has_vectors`, eigenvectors, both complex."""
    _require_square(function, x)
    native = NATIVE[dtypes.promoted(name_of(x), "complex64")]
    x, scale = _scaled(x)
    values, vectors = _run(ops.Eig, "Eigenvalues did not converge", x, native, has_vectors)
    return ops.Mul(values, cast(ops.Squeeze(scale, [-1]), name_of(values))), vectors


@_of_every_dtype
def eig(x: Tensor, /) -> tuple[Tensor, Tensor]:
    return _eigen("eig", x, True)


@_of_every_dtype
def eigvals(x: Tensor, /) -> Tensor:
    return _eigen("eigvals", x, False)[0]


@_of_every_dtype
def qr(x: Tensor, /, *, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    _require_matrix("qr", x)
    if mode not in ("reduced", "complete"):
        raise errors.ArgumentValueError(f"qr: mode must be 'reduced' or 'complete', not {mode!r}")
    x, scale = _scaled(x)
    q, r = ops.Qr(x, mode == "complete")
    return q, ops.Mul(r, scale)


def _all_nan_unless_finite(x: Tensor, *parts: Tensor) -> tuple[Tensor, ...]:
    """`parts` of matrices `x`, NaN for matrices that are not finite.

    For those the complex kernel gives zeros, and those of a GPU any numbers.
    """
    if not is_complex(x):
        if is_for_cpu(x):  # its kernel gives NaN
            return parts
        is_kept = ops.IsFinite(x)
    elif is_on_host(x) and np.isfinite(on_host(x)).all():
        return parts
    else:
        native = x.dtype.real_dtype
        is_kept = ops.LogicalAnd(ops.IsFinite(ops.Real(x, native)), ops.IsFinite(ops.Imag(x, native)))
    is_kept = ops.All(is_kept, constant(_MATRIX), True)
    of_values = ops.Squeeze(is_kept, [-1])
    rank = x.shape.rank
    return tuple(
        where(is_kept if part.shape.rank == rank else of_values, part, number(math.nan, part.dtype)) for part in parts
    )


@_of_every_dtype
def svd(x: Tensor, /, *, full_matrices: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    _require_matrix("svd", x)
    s, u, v = ops.Svd(x, True, full_matrices)
    s = _real_part(s)
    s, u, v = _all_nan_unless_finite(x, s, u, v)
    if may_be_differentiated(x):
        u, v = lost_at_ties(u, s), lost_at_ties(v, s)
    return u, s, _adjoint(v)


@_of_every_dtype
def svdvals(x: Tensor, /) -> Tensor:
    _require_matrix("svdvals", x)
    s, _, _ = ops.Svd(x, False, False)
    return _all_nan_unless_finite(x, _real_part(s))[0]


@_of_every_dtype
def det(x: Tensor, /) -> Tensor:
    _require_square("det", x)
    return determinant(x) if may_be_differentiated(x) else ops.MatrixDeterminant(x)


@_of_every_dtype
def slogdet(x: Tensor, /) -> tuple[Tensor, Tensor]:
    _require_square("slogdet", x)
    is_differentiated = may_be_differentiated(x)
    sign, logarithm = log_determinant(x) if is_differentiated else ops.LogMatrixDeterminant(x)
    real = _real_part(logarithm)
    if is_complex(x) and is_differentiated:
        # TensorFlow has no gradient of the sign, but the logarithm has that of a complex logarithm.
        angle = ops.Imag(logarithm, real.dtype)
        sign = ops.Mul(ops.StopGradient(sign), ops.Exp(ops.Complex(ops.ZerosLike(angle), angle, sign.dtype)))
    return sign, real


@_of_every_dtype
def inv(x: Tensor, /) -> Tensor:
    _require_square("inv", x)
    return _inverted(ops.MatrixInverse, x)


def _inverted(kernel: Callable[..., Tensor], x: Tensor, *others: Tensor) -> Tensor:
    """Result of `kernel`, which inverts `x`; NaN for matrices with NaN.

    The kernel reports matrices with NaN as singular.
    """
    try:
        return kernel(x, *others, False)
    except tf.errors.InvalidArgumentError as error:
        is_lost = ops.Any(ops.NotEqual(x, x), constant(_MATRIX), True)
        if not ops.Any(is_lost, axes_tensor(x, None), False):
            raise np.linalg.LinAlgError("Singular matrix") from error
    inverted = _run(kernel, "Singular matrix", ops.SelectV2(is_lost, matrix_power(x, 0), x), *others, False)
    return ops.SelectV2(is_lost, number(math.nan, x.dtype), inverted)


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    if x1.dtype is not x2.dtype:
        x1, x2 = promoted(_inexact(x1), _inexact(x2))
    name = name_of(x1)
    if name not in _KERNELS:
        narrow, wide = (name, "float32") if name in _HALVES else ("float64", "float64")
        return cast(solve(cast(x1, wide), cast(x2, wide)), narrow)
    _require_square("solve", x1, "x1")
    is_vector = x2.shape.rank == 1
    if is_vector:
        x2 = ops.ExpandDims(x2, constant(-1))
    _require_matrix("solve", x2, "x2")
    require_equal_lengths("solve", x1, x2, -2)
    if x2.shape[-1] == 0 and is_on_host(x1):  # then the op does not check x1
        _inverted(ops.MatrixInverse, x1)
    x1, x2 = _in_equal_stacks(x1, x2)
    solution = _inverted(ops.MatrixSolve, x1, x2)
    return ops.Squeeze(solution, [-1]) if is_vector else solution


def _in_equal_stacks(x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    """Both stacks of matrices, with their leading axes broadcast."""
    shape1, shape2 = x1.shape.as_list()[:-2], x2.shape.as_list()[:-2]
    if shape1 == shape2 and None not in shape1:
        return x1, x2
    (*stack1, m1, n1), (*stack2, m2, n2) = lengths(x1), lengths(x2)
    stack = common_lengths(stack1, stack2)
    return stretched(x1, [*stack, m1, n1]), stretched(x2, [*stack, m2, n2])


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    _require_square("matrix_power", x)
    x = _inexact(x)
    if n < 0:
        return matrix_power(inv(x), -n)
    if n == 0:
        # Inside `tf.function`, OnesLike gives zeros for unsigned integers.
        return ops.MatrixSetDiagV3(
            ops.ZerosLike(x), ops.Fill(sizes_of(diagonal(x)), constant(1, name_of(x))), constant(0)
        )
    if n == 1:
        return x
    half = matrix_power(x, n // 2)
    power = matmul(half, half)
    return matmul(power, x) if n % 2 else power


def _cutoff(x: Tensor, s: Tensor, rtol: float | Tensor | None) -> Tensor:
    """Threshold up to which singular values `s` of `x` count as zero.

    Its last axis has length 1.
    """
    if rtol is None:
        m, n = lengths(x)[-2:]
        longest = max(m, n) if isinstance(m, int) and isinstance(n, int) else tf.maximum(m, n)
        eps = float(ml_dtypes.finfo(s.dtype.as_numpy_dtype).eps)
        rtol = ops.Mul(number(longest, s.dtype), number(eps, s.dtype))
    elif tf.is_tensor(rtol):
        rtol = ops.ExpandDims(cast(rtol, name_of(s)), constant(-1))
    else:
        rtol = number(rtol, s.dtype)
    return ops.Mul(_max(s, constant(-1), True), rtol)


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    s = svdvals(x)
    return total(ops.Greater(s, _cutoff(x, s, rtol)), axis=-1)


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    if may_be_differentiated(x) and name_of(x) in _KERNELS:
        return inverse_with_slope(x, lambda x: _pseudo_inverse(x, rtol))
    return _pseudo_inverse(x, rtol)


def _pseudo_inverse(x: Tensor, rtol: float | Tensor | None) -> Tensor:
    u, s, vh = svd(x, full_matrices=False)
    is_zero = tf.logical_not(ops.Greater(s, _cutoff(x, s, rtol)))
    # Two selects, so that neither the values nor their gradients divide by zero.
    reciprocal = ops.SelectV2(
        is_zero, ops.ZerosLike(s), ops.RealDiv(ops.OnesLike(s), ops.SelectV2(is_zero, ops.OnesLike(s), s))
    )
    return matmul(ops.Mul(_adjoint(vh), ops.ExpandDims(cast(reciprocal, name_of(u)), constant(-2))), _adjoint(u))


@_of_every_dtype
def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Tensor:
    _require_matrix("matrix_norm", x)
    return shared.matrix_norm(backend, x, keepdims, ord)


@_of_every_dtype
def vector_norm(x: Tensor, /, *, axis: Ints | None = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    if alternate(x, axis):
        return with_axes_merged(lambda y: vector_norm(y, axis=-1, ord=ord), x, axis, keepdims)
    return shared.vector_norm(backend, x, axis, keepdims, ord, _euclidean, _norm_of_order)


def _euclidean(x: Tensor, axis: Ints | None, keepdims: bool) -> Tensor:
    return with_slope_at_zero(lambda y, k: _length(y, axes_tensor(y, axis), k), _modulus(x), keepdims)


def _length(x: Tensor, axes: Tensor, keepdims: bool) -> Tensor:
    if isinstance(x, EagerTensor) or not may_be_fused():
        return ops.EuclideanNorm(x, axes, keepdims)
    return ops.Sqrt(ops.Sum(ops.Square(x), axes, keepdims))  # the same; XLA has no kernel for that op


def _norm_of_order(size: Tensor, axis: Ints | None, keepdims: bool, ord: float) -> Tensor:
    if may_be_differentiated(size):  # with the derivative 0 where abs has a kink
        zero = constant(0, name_of(size))
        size = where(ops.Equal(size, zero), zero, size)

    def norm(y: Tensor, keepdims: bool) -> Tensor:
        powers = total(_pow(y, number(ord, y.dtype)), axis=axis, keepdims=keepdims)
        return _pow(powers, number(1 / ord, y.dtype))

    return with_slope_at_zero(norm, size, keepdims)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    _require_matrix("diagonal", x)
    *stack, m, n = lengths(x)
    is_beside = (isinstance(n, int) and offset >= n) or (isinstance(m, int) and -offset >= m)
    if is_beside and offset:
        return ops.Fill(shape_tensor([*stack, 0]), constant(0, name_of(x)))
    if x.dtype is NATIVE["bool"]:  # `tf.vectorized_map` cannot pad it with False
        return cast(diagonal(cast(x, "uint8"), offset=offset), "bool")
    if offset and not (isinstance(m, int) and isinstance(n, int)):  # the op refuses an offset outside the matrix
        x, offset = cut(x, -1 if offset > 0 else -2, abs(offset)), 0
    return ops.MatrixDiagPartV3(x, constant(offset), constant(0, name_of(x)))


def trace(x: Tensor, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    return total(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    require_vectors(x1.shape.rank, x2.shape.rank)
    return multiply(ops.ExpandDims(x1, constant(-1)), x2)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    axis = common_axis("cross", x1, x2, axis)
    if x1.shape[axis] not in (3, None):
        raise errors.ArgumentValueError(f"cross: x1 and x2 must have length 3 along axis {axis}, not {x1.shape[axis]}")
    x1, x2 = promoted(x1, x2)
    if axis == -1 and x1.shape.as_list() == x2.shape.as_list() and not is_complex(x1):
        return ops.Cross(x1, x2)
    one_back, along = constant((2, 0, 1)), constant(axis)
    # x1[i - 1] x2[i] - x1[i] x2[i - 1] is component i + 1.
    turned = ops.Sub(multiply(ops.GatherV2(x1, one_back, along), x2), multiply(x1, ops.GatherV2(x2, one_back, along)))
    return ops.GatherV2(turned, one_back, along)
