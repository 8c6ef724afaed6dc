"""Functions whose gradient is wrong in TensorFlow, composed of other ops.

The derivatives of these ops are right at every order. The functions take several times as long, so they are called
only where a derivative may be taken. A custom gradient would cost less, but `tf.vectorized_map` silently drops it. So
there is one only where a function is known not to be mapped, or where the gradient without it is right but incomplete.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow import _slopes
from anyarray.backends.tensorflow._device import EagerTensor, Tensor, is_for_cpu, is_on_host
from anyarray.backends.tensorflow._host import FEW, from_host, on_host
from anyarray.backends.tensorflow._kernel import (
    NATIVE,
    cast,
    constant,
    is_common,
    is_complex,
    is_lasting,
    kind_of,
    may_be_differentiated,
    may_be_fused,
    name_of,
    number,
)
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow._shapes import Length, length_tensor, lengths, shape_tensor

Binary = Callable[[Tensor, Tensor], Tensor]

_multiply = _slopes.multiply
_pow = _slopes.power

_LEVELS: Final = 31
"""How often a length is halved that a trace does not know."""


def halved_at_ties(name: str, larger: Binary, is_at_least: Binary) -> Binary:
    """Maximum or minimum, with half the gradient for each operand at a tie.

    It is called where derivatives may be taken. `larger` is the op `name`, right even if XLA compiles it.
    `is_at_least` tells whether the result equals the first operand. TensorFlow gives the whole gradient to the first
    operand, so that the gradients of max(x, 0) and max(0, x) differ.
    """

    def composed(x1: Tensor, x2: Tensor) -> Tensor:
        # The mean has half the derivative by each operand. It replaces the first where both are equal, so the value is
        # the same.
        half = constant(0.5, name_of(x1))
        mean = ops.AddV2(_multiply(x1, half), _multiply(x2, half))
        return larger(ops.SelectV2(ops.Equal(mean, x1), mean, x1), x2)

    reaches = np.greater_equal if name == "Maximum" else np.less_equal

    def gradients(slope: Tensor, y: Tensor, x1: Tensor, x2: Tensor) -> list[Tensor | None]:
        if all(map(_is_read_sooner, (slope, x1, x2))) and not may_be_differentiated(slope):
            return gradients_by_numpy(slope, x1, x2)
        if _is_number(x2):
            return [ops.MulNoNan(slope, _share(above(x1, x2))), None]
        if _is_number(x1):
            return [None, ops.MulNoNan(slope, _share(above(x2, x1)))]
        nothing = ops.ZerosLike(slope)
        # Select takes half the time of SelectV2, for tensors of one shape.
        shared = ops.Select(ops.Equal(x1, x2), _multiply(slope, constant(0.5, name_of(slope))), slope)
        return [
            None if is_lasting(x) else _slopes.summed(ops.Select(is_at_least(x, other), shared, nothing), x)
            for x, other in ((x1, x2), (x2, x1))  # a constant needs no gradient
        ]

    def gradients_by_numpy(slope: Tensor, x1: Tensor, x2: Tensor) -> list[Tensor | None]:
        a, a1, a2 = map(on_host, (slope, x1, x2))
        nothing = a.dtype.type(0)
        shared = np.where(a1 == a2, a * a.dtype.type(0.5), a)
        return [
            None if is_lasting(x) else _slopes.summed(from_host(np.where(reaches(b, other), shared, nothing), slope), x)
            for x, b, other in ((x1, a1, a2), (x2, a2, a1))
        ]

    def above(x: Tensor, other: Tensor) -> Tensor:
        """A number that is positive where `x` is the result, else negative."""
        if name == "Maximum":
            return ops.Sub(x, other) if on_host(other) else x
        return ops.Sub(other, x) if on_host(other) else ops.Neg(x)

    @tf.custom_gradient
    def for_xla(x1: Tensor, x2: Tensor) -> Any:
        y = larger(x1, x2)
        return y, lambda slope: gradients(slope, y, x1, x2)

    raw = _slopes.with_gradients(name, 2, gradients)

    def of_two(x1: Tensor, x2: Tensor) -> Tensor:
        if is_mapped.get():
            is_tied = not (is_on_host(x1) and is_on_host(x2)) or np.any(on_host(x1) == on_host(x2))
            return (composed if is_tied else larger)(x1, x2)
        is_plain = _slopes.can_record and kind_of(x1) == "f" and (tf.executing_eagerly() or not may_be_fused())
        y: Tensor = (raw if is_plain else for_xla)(x1, x2)
        return y

    return of_two


def _is_read_sooner(x: Tensor) -> bool:
    """Whether NumPy computes of `x` in less time than TensorFlow."""
    return is_on_host(x) and is_common(x.dtype) and math.prod(x.shape) <= FEW


def _is_number(x: Tensor) -> bool:
    """Whether `x` is a finite constant without axes."""
    return is_lasting(x) and not x.shape.rank and bool(np.isfinite(on_host(x)))


def _share(x: Tensor) -> Tensor:
    """1 where `x` is positive, 0.5 where it is 0, and 0 elsewhere.

    TensorFlow's comparisons take six times as long as the ops of activation functions.
    """
    half = constant(0.5, name_of(x))
    is_not_negative = ops.AddV2(ops.Sign(x), half)
    share = ops.ReluGrad(ops.LeakyReluGrad(ops.OnesLike(x), x, 0.5), is_not_negative)
    return ops.StopGradient(share) if may_be_differentiated(share) else share


def power(x1: Tensor, x2: Tensor) -> Tensor:
    """`x1` to the power of `x2`; the derivative by `x1` is 0 where `x2` is 0.

    It is called where derivatives may be taken. TensorFlow multiplies 0 by the power of -1, which is infinite where
    `x1` is 0, too. Where `x2` is 1 it does so in the second derivative, and for complex numbers in the first.
    """
    if not is_complex(x1) and not is_mapped.get():
        return _slopes.power(x1, x2)
    known = on_host(x2) if is_on_host(x2) else tf.get_static_value(x2)
    if known is not None and not np.any((known == 0) | (known == 1)):
        return _pow(x1, x2)
    name = name_of(x2)
    zero, one = constant(0, name), constant(1, name)
    is_zero = ops.Equal(x2, zero)
    if known is None:  # right in reverse mode only, but cheap if no gradient is computed
        return _pow(ops.SelectV2(is_zero, ops.StopGradient(x1), x1), x2)
    is_origin = ops.LogicalAnd(ops.Equal(x1, zero), ops.Equal(x2, one))
    y = ops.SelectV2(is_origin, x1, _pow(ops.SelectV2(ops.LogicalOr(is_zero, is_origin), one, x1), x2))
    if not isinstance(x2, EagerTensor) or is_lasting(x2):  # a constant needs no gradient
        return y
    is_base = ops.NotEqual(x1, zero) if is_complex(x1) else ops.LogicalAnd(ops.Less(zero, x1), ops.IsFinite(x1))
    has_log = ops.LogicalAnd(is_zero, is_base)
    log = ops.SelectV2(has_log, ops.Log(ops.SelectV2(has_log, x1, one)), zero)
    # The second factor is 1. It has the derivative by `x2` that the first factor lacks.
    return _multiply(y, ops.Exp(_multiply(log, ops.SelectV2(is_zero, x2, zero))))


def product(x: Tensor) -> Tensor:
    """Products along the last axis, pairwise, as with keepdims."""
    rows, n = _rows(x)
    if isinstance(n, int) and n == 0:
        return ops.Fill(shape_tensor([*lengths(x)[:-1], 1]), constant(1, name_of(x)))
    y = ops.Reshape(x, shape_tensor([rows, n]))
    for _ in range(_levels(n)):
        even, odd, n = _neighbours(y, rows, n)
        y = _multiply(even, odd)
    return ops.Reshape(y, shape_tensor([*lengths(x)[:-1], 1]))


def running_product(x: Tensor) -> Tensor:
    """Cumulative products along the last axis."""
    rows, n = _rows(x)
    y = _running(ops.Reshape(x, shape_tensor([rows, n])), rows, n, _levels(n))
    return ops.Reshape(y, shape_tensor(lengths(x)))


def _running(x: Tensor, rows: Length, n: Length, levels: int) -> Tensor:
    if not levels:
        return x
    even, odd, half = _neighbours(x, rows, n)
    to_odd = _running(_multiply(even, odd), rows, half, levels - 1)
    ones = ops.Fill(shape_tensor([rows, 1]), constant(1, name_of(x)))
    before_even = _first(ops.ConcatV2([ones, to_odd], constant(1)), half)
    both = ops.Reshape(ops.Pack([_multiply(before_even, even), to_odd], 2), shape_tensor([rows, half * 2]))
    return _first(both, n)


def _first(x: Tensor, n: Length) -> Tensor:
    """First `n` elements of each row."""
    end = shape_tensor([0, n])
    # Not Slice: for XLA, its gradient has no gradient.
    return ops.StridedSlice(x, constant((0, 0), name_of(end)), end, constant((1, 1), name_of(end)), 0, 1, 0, 0, 0)


def _rows(x: Tensor) -> tuple[Length, Length]:
    """Number of rows along the last axis, and their length."""
    *others, n = lengths(x)
    return math.prod(others), n


def _levels(n: Length) -> int:
    return max(n - 1, 0).bit_length() if isinstance(n, int) else _LEVELS


def _neighbours(x: Tensor, rows: Length, n: Length) -> tuple[Tensor, Tensor, Length]:
    """Elements of each row at even and odd positions, and the length of each.

    A row of odd length is padded with 1.
    """
    odd_one = n % 2
    if not isinstance(n, int) or odd_one:
        # Not PadV2, which `tf.vectorized_map` pads with zeros.
        x = ops.ConcatV2([x, ops.Fill(shape_tensor([rows, odd_one]), constant(1, name_of(x)))], constant(1))
    half = (n + odd_one) // 2
    even, odd = ops.Unpack(ops.Reshape(x, shape_tensor([rows, half, 2])), 2, 2)
    return even, odd, half


is_mapped: Final[ContextVar[bool]] = ContextVar("anyarray mapped", default=False)
"""Whether `tf.vectorized_map` will convert the graph that is traced now, or an accumulator watches.

Neither uses custom gradients.
"""

is_for_xla: Final[ContextVar[bool]] = ContextVar("anyarray for XLA", default=False)
"""Whether XLA will compile the graph that is traced now."""


_MOST_INT32: Final = 2**31 - 1


def written(rows: Tensor, index: Tensor, value: Tensor, *, may_repeat: bool = True) -> Tensor:
    """`rows` with `value` at `index`; the last value if an index repeats."""
    if may_repeat and not is_for_cpu(rows):  # a GPU writes in no order
        places, last = _last(rows, index)
        winning = ops.StopGradient(ops.GatherV2(value, last, constant(0)))
        value = ops.SelectV2(_like_rows(ops.Equal(last, places), value), value, winning)
    length = rows.shape[0]
    fits = length is None or length <= _MOST_INT32
    if fits and index.dtype is NATIVE["int64"] and may_be_differentiated(rows, value):
        # TensorFlow's maps and Jacobians concatenate the index with int32 ones. An invalid index stays invalid.
        index = cast(ops.ClipByValue(index, constant(-1, "int64"), constant(_MOST_INT32, "int64")), "int32")
    return ops.TensorScatterUpdate(rows, ops.Reshape(index, constant((-1, 1))), value)


def written_last(rows: Tensor, index: Tensor, value: Tensor) -> Tensor:
    """As `written`, with a gradient only for values not overwritten.

    It is called where derivatives may be taken. TensorFlow gives a gradient to every value, overwritten or not.
    """
    known = index if is_on_host(index) else tf.get_static_value(index)
    if known is not None:
        places = np.asarray(on_host(index) if known is index else known)
        last = np.full(places.max(initial=-1) + 1, -1)
        last[places] = np.arange(places.size)
        stays = last[places] == np.arange(places.size)
        return written(rows, index, value if stays.all() else _constant_unless(tf.constant(stays), value))
    if is_mapped.get():
        return written(rows, index, _constant_unless(_stays(rows, index), value))

    @tf.custom_gradient
    def update(rows: Tensor, value: Tensor) -> Any:
        def gradient(slope: Tensor) -> tuple[Tensor, Tensor]:
            nothing = ops.ZerosLike(value)
            of_value = ops.SelectV2(
                _like_rows(_stays(rows, index), value), ops.GatherV2(slope, index, constant(0)), nothing
            )
            return written(slope, index, nothing), of_value

        return written(rows, index, value), gradient

    updated: Tensor = update(rows, value)
    return updated


def _stays(rows: Tensor, index: Tensor) -> Tensor:
    """Whether each entry of `index` is the last one for its position."""
    return ops.Equal(*_last(rows, index))


def _last(rows: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """The number of each entry of `index`, and of the last for its place."""
    order = ops.Range(constant(0, "int64"), ops.Size(index, NATIVE["int64"]), constant(1, "int64"))
    if is_for_cpu(rows):  # its kernels write in order
        last = written(ops.Fill(shape_tensor(lengths(rows)[:1]), constant(-1, "int64")), index, order)
        return order, ops.GatherV2(last, index, constant(0))
    length, zero = length_tensor(lengths(rows)[0]), constant(0, "int64")
    index = cast(index, "int64")
    is_in = ops.LogicalAnd(ops.Less(constant(-1, "int64"), index), ops.Less(index, length))
    # In float64, for which a GPU has the kernel. An index of -1 is left out.
    last = ops.UnsortedSegmentMax(cast(order, "float64"), ops.SelectV2(is_in, index, constant(-1, "int64")), length)
    return order, ops.SelectV2(
        is_in, ops.GatherV2(cast(last, "int64"), ops.SelectV2(is_in, index, zero), constant(0)), order
    )


def _constant_unless(stays: Tensor, value: Tensor) -> Tensor:
    """`value`, with stop_gradient in the rows where `stays` is False."""
    return ops.SelectV2(_like_rows(stays, value), value, ops.StopGradient(value))


def _like_rows(stays: Tensor, value: Tensor) -> Tensor:
    return ops.Reshape(stays, shape_tensor([*lengths(value)[:1], *[1] * (value.shape.rank - 1)]))


def determinant(x: Tensor) -> Tensor:
    """Determinants of square matrices, with gradients for singular ones, too.

    It is called where derivatives may be taken. TensorFlow's gradient needs the inverse. From 2.22 on it uses the
    gradient of singular values, which is wrong where two are equal, and is not conjugated for complex numbers.
    """

    @tf.custom_gradient
    def differentiable(x: Tensor) -> Any:
        return _determinant(x), lambda slope: _multiply(_as_matrices(slope), _cofactors(x))

    y: Tensor = differentiable(x)
    return y


def _determinant(x: Tensor) -> Tensor:
    """Determinants; their first derivatives are right for regular matrices."""
    if not is_complex(x):
        return ops.MatrixDeterminant(x)
    sign, logarithm = ops.LogMatrixDeterminant(x)
    return _multiply(ops.StopGradient(sign), ops.Exp(logarithm))


def _cofactors(x: Tensor) -> Tensor:
    """Derivatives of the determinant of `x` by its elements, conjugated."""
    if x.shape[-1] in (2, 3):
        cofactors = _cofactors_of_few(x)
        return ops.Conj(cofactors) if is_complex(x) else cofactors
    is_singular = _as_matrices(ops.Equal(ops.StopGradient(ops.MatrixDeterminant(x)), constant(0, name_of(x))))
    is_any = ops.Any(is_singular, ops.Range(0, tf.rank(is_singular), 1), False)
    y = _as_matrices(determinant(x))
    regular = x if is_on_host(is_any) and not on_host(is_any) else ops.SelectV2(is_singular, _identity_like(x), x)
    cofactors = _multiply(ops.Conj(y) if is_complex(y) else y, ops.MatrixInverse(regular, True))
    if regular is x:
        return cofactors
    # No derivative is taken of the condition: TensorFlow would trace graphs of its derivatives without end.
    constant_x = ops.StopGradient(x)
    of_singular = tf.cond(is_any, lambda: _cofactors_of_singular(constant_x), lambda: ops.ZerosLike(constant_x))
    return ops.SelectV2(is_singular, ops.AddV2(of_singular, _lost(x)), cofactors)


def _cofactors_of_few(x: Tensor) -> Tensor:
    """Derivatives of the determinants of 2 x 2 and 3 x 3 matrices."""
    if x.shape[-1] == 2:
        (a, b), (c, d) = (ops.Unpack(row, 2, -1) for row in ops.Unpack(x, 2, -2))
        return ops.Pack([ops.Pack([d, ops.Neg(c)], -1), ops.Pack([ops.Neg(b), a], -1)], -2)
    one, two, three = ops.Unpack(x, 3, -2)
    return ops.Pack([ops.Cross(two, three), ops.Cross(three, one), ops.Cross(one, two)], -2)


def _cofactors_of_singular(x: Tensor) -> Tensor:
    """As `_cofactors`, from singular values."""
    s, u, v = ops.Svd(x, True, True)
    before, after = (ops.Cumprod(s, constant(-1), True, is_reversed) for is_reversed in (False, True))
    sign = _multiply(
        ops.Conj(ops.MatrixDeterminant(u)) if is_complex(u) else ops.MatrixDeterminant(u), ops.MatrixDeterminant(v)
    )
    weights = _multiply(_multiply(before, after), ops.ExpandDims(sign, constant(-1)))
    weighted = _multiply(u, ops.ExpandDims(weights, constant(-2)))
    return ops.BatchMatMulV2(weighted, v, False, True)


@tf.custom_gradient
def _lost(x: Tensor) -> Any:
    """Zeros for each matrix of `x`, whose derivative is NaN."""

    def gradient(slope: Tensor) -> Tensor:
        zero = constant(0, name_of(slope))
        is_asked = ops.Any(ops.NotEqual(slope, zero), constant((-2, -1)), True)
        return ops.AddV2(ops.ZerosLike(slope), ops.SelectV2(is_asked, number(math.nan, slope.dtype), zero))

    return ops.ZerosLike(x), gradient


def log_determinant(x: Tensor) -> tuple[Tensor, Tensor]:
    """Signs and logarithms of determinants of square matrices.

    It is called where derivatives may be taken; TensorFlow's have the faults named in `determinant`.
    """

    @tf.custom_gradient
    def differentiable(x: Tensor) -> Any:
        return ops.LogMatrixDeterminant(x), lambda _, slope: _multiply(_as_matrices(slope), ops.MatrixInverse(x, True))

    sign, logarithm = differentiable(x)
    return sign, logarithm


def lost_at_ties(vectors: Tensor, values: Tensor) -> Tensor:
    """Eigenvectors or singular vectors, with the derivative NaN at ties.

    It is called where derivatives may be taken. If two of the real `values` are equal, their vectors may be any basis
    of the common plane. The vector of a zero may be any vector orthogonal to the others. There TensorFlow replaces
    infinite terms by 0, so that functions of the vectors, even differentiable ones, get a wrong gradient.
    """
    if vectors.shape[-1] != values.shape[-1]:  # full_matrices, for most of which TensorFlow has no gradient
        return vectors
    values = ops.StopGradient(values)
    is_equal = ops.Equal(ops.ExpandDims(values, constant(-1)), ops.ExpandDims(values, constant(-2)))
    is_lost = ops.Less(constant(1), ops.Sum(cast(is_equal, "int32"), constant(-2), True))
    if vectors.shape[-2] != vectors.shape[-1]:
        is_lost = ops.LogicalOr(is_lost, ops.ExpandDims(ops.Equal(values, constant(0, name_of(values))), constant(-2)))
    if is_on_host(is_lost) and not on_host(is_lost).any():
        return vectors

    @tf.custom_gradient
    def differentiable(x: Tensor) -> Any:
        return x, lambda slope: ops.SelectV2(is_lost, number(math.nan, slope.dtype), slope)

    y: Tensor = differentiable(vectors)
    if not is_mapped.get():
        return y
    # `tf.vectorized_map` drops the custom gradient, so we use a square root of 0, whose derivative is infinite.
    part = ops.Real(vectors, values.dtype) if is_complex(vectors) else vectors
    zeros, ones = ops.Sub(part, ops.StopGradient(part)), ops.OnesLike(part)
    root = ops.Pow(ops.SelectV2(is_lost, zeros, ones), constant(0.5, name_of(part)))
    return ops.AddV2(y, cast(ops.SelectV2(is_lost, root, ops.ZerosLike(part)), name_of(y)))


def inverse_with_slope(x: Tensor, inverse: Callable[[Tensor], Tensor]) -> Tensor:
    """Pseudo-inverses by `inverse`, with a gradient that has no division.

    It is called where derivatives may be taken. The gradient of singular vectors is NaN where two values are equal, as
    for the identity. Source: Golub and Pereyra, SIAM J. Numer. Anal. 10 (1973) 413.
    """

    @tf.custom_gradient
    def differentiable(x: Tensor) -> Any:
        def gradient(slope: Tensor) -> Tensor:
            y = inverse_with_slope(x, inverse)
            y_adjoint, slope_adjoint = _adjoint(y), _adjoint(slope)
            inner = ops.Neg(_product(_product(y_adjoint, slope), y_adjoint))
            left = _product(slope_adjoint, _product(y, y_adjoint))
            right = _product(_product(y_adjoint, y), slope_adjoint)
            left = ops.AddV2(left, ops.Neg(_product(x, _product(y, left))))
            right = ops.AddV2(right, ops.Neg(_product(_product(right, y), x)))
            return ops.AddV2(inner, ops.AddV2(left, right))

        return inverse(x), gradient

    y: Tensor = differentiable(x)
    return y


def _product(x1: Tensor, x2: Tensor) -> Tensor:
    return ops.BatchMatMulV2(x1, x2, False, False)


def _adjoint(x: Tensor) -> Tensor:
    rank = x.shape.rank
    y = ops.Transpose(x, constant((*range(rank - 2), rank - 1, rank - 2)))
    return ops.Conj(y) if is_complex(x) else y


def _as_matrices(x: Tensor) -> Tensor:
    return ops.ExpandDims(ops.ExpandDims(x, constant(-1)), constant(-1))


def _identity_like(x: Tensor) -> Tensor:
    zeros = ops.ZerosLike(x)
    return ops.MatrixSetDiagV3(
        zeros,
        ops.AddV2(ops.MatrixDiagPartV3(zeros, constant(0), constant(0, name_of(x))), constant(1, name_of(x))),
        constant(0),
    )
