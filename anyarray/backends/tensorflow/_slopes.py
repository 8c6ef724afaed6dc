"""Ops whose gradient is 0 wherever the upstream gradient is 0.

`where` passes the upstream gradient 0 to the branch that it does not select. Times an infinite or undefined derivative,
as that of a square root at 0, this is NaN, and so is the sum of both branches. So the gradient of these ops is MulNoNan
of their derivative and the upstream gradient: 0 where the latter is 0, whatever the derivative. Derivatives (here:
slopes) are computed by these ops themselves, for higher orders.

Custom gradients are recorded on tapes as by `tf.custom_gradient`, but without its extra ops, whose overhead is as long
as the op. `tf.vectorized_map` silently drops them; then the gradients are TensorFlow's, right except for these zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from anyarray.backends._shared.derivatives import no_slope
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._kernel import (
    EagerTensor,
    Tensor,
    cast,
    constant,
    could_record,
    is_complex,
    is_lasting,
    kind_of,
    may_be_differentiated,
    may_be_fused,
    name_of,
    op,
    shape_of,
    undocumented,
)
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow._shapes import known_shape, sizes_of

Function = Callable[..., Tensor]
Slope = Callable[..., Tensor]
"""The derivative as a function of the operands and, as last argument, of the result."""


_record: Final = undocumented("tensorflow.python.eager.record", "record_operation")
_unrecorded: Final = undocumented("tensorflow.python.eager.record", "stop_recording")
can_record: Final = None not in (_record, _unrecorded, could_record)
"""Whether this TensorFlow has what custom gradients without extra ops need."""


def sloped(name: str, *slopes: Slope, of_complex: Function | None = None) -> Function:
    """The raw op `name` with these slopes for real floating-point operands.

    `of_complex` replaces it for complex operands where XLA may compile it.
    """

    def gradients(slope: Tensor, y: Tensor, *xs: Tensor) -> list[Tensor | None]:
        parts = [
            None if is_lasting(x) else ops.MulNoNan(slope_by(*xs, y), slope)
            for x, slope_by in zip(xs, slopes, strict=True)
        ]
        return parts if len(xs) == 1 else [None if p is None else summed(p, x) for p, x in zip(parts, xs, strict=True)]

    return with_gradients(name, len(slopes), gradients, of_complex)


def with_gradients(
    name: str, operands: int, gradients: Callable[..., list[Tensor | None]], of_complex: Function | None = None
) -> Function:
    """The raw op `name` with gradients of our own for real floats.

    `gradients` takes the upstream gradient, the result and the operands, one or two. `of_complex` is as in `sloped`.
    """
    raw = op(name)
    if not can_record:
        return raw

    def marked(y: Tensor, *xs: Tensor) -> Tensor:
        """`y` of a graph, with the gradient that TensorFlow calls later."""
        if kind_of(y) == "f":
            y.op._gradient_function = lambda _, slope: gradients(slope, y, *xs)
        elif of_complex is not None and is_complex(y) and may_be_fused():
            return of_complex(*xs)
        return y

    def recorded(*xs: Tensor) -> Tensor:
        is_sloped = kind_of(xs[0]) == "f"
        if is_sloped:
            with _unrecorded():
                y = raw(*xs)
            _record(name, [y], list(xs), lambda slope: gradients(slope, y, *xs))
        else:
            y = raw(*xs)
        return y if isinstance(y, EagerTensor) else marked(y, *xs)

    def of_one(x: Tensor) -> Tensor:
        if could_record():
            return recorded(x)
        y = raw(x)
        return y if isinstance(y, EagerTensor) else marked(y, x)

    def of_two(x1: Tensor, x2: Tensor) -> Tensor:
        if could_record():
            return recorded(x1, x2)
        y = raw(x1, x2)
        return y if isinstance(y, EagerTensor) else marked(y, x1, x2)

    return of_one if operands == 1 else of_two


def summed(gradient: Tensor, x: Tensor) -> Tensor:
    """A gradient summed over the axes along which `x` was broadcast."""
    of_result, of_operand = shape_of(gradient), shape_of(x)
    if None in of_result or None in of_operand:
        shape = sizes_of(x)
        ours, theirs = (cast(one, "int64") for one in (shape, sizes_of(gradient)))
        return ops.Reshape(ops.Sum(gradient, ops.BroadcastGradientArgs(ours, theirs)[0]), shape)
    if of_result == of_operand:
        return gradient
    extra = len(of_result) - len(of_operand)
    axes = *range(extra), *(extra + i for i, n in enumerate(of_operand) if n != of_result[extra + i])
    total = ops.Sum(gradient, constant(axes), False)
    return total if len(axes) == extra else ops.Reshape(total, known_shape(of_operand))


def _number(value: float, x: Tensor) -> Tensor:
    return constant(value, name_of(x))


def _product(x1: Tensor, x2: Tensor) -> Tensor:
    """The product of complex numbers, rounded as by TensorFlow's kernels.

    XLA fuses one product with the addition and does not round it, so that a number times its conjugate is not real.
    """
    (a, b), (c, d) = _parts(x1), _parts(x2)
    return ops.Complex(ops.Sub(_rounded(a, c), _rounded(b, d)), ops.AddV2(_rounded(a, d), _rounded(b, c)), x1.dtype)


def _parts(x: Tensor) -> tuple[Tensor, Tensor]:
    part = x.dtype.real_dtype
    return ops.Real(x, part), ops.Imag(x, part)


def _rounded(x1: Tensor, x2: Tensor) -> Tensor:
    """The product inside a select, so that XLA does not fuse it with a sum."""
    return ops.SelectV2(ops.Equal(x1, x1), multiply(x1, x2), _number(math.nan, x1))


multiply: Function = sloped("Mul", lambda x1, x2, y: x2, lambda x1, x2, y: x1, of_complex=_product)

divide: Function = sloped("RealDiv", lambda x1, x2, y: reciprocal(x2), lambda x1, x2, y: negative(divide(y, x2)))
negative: Function = ops.Neg


def reciprocal(x: Tensor) -> Tensor:
    return divide(_number(1, x), x)


def _one_plus(x: Tensor) -> Tensor:
    return ops.AddV2(x, _number(1, x))


def _one_minus_square(x: Tensor) -> Tensor:
    # (1 - x) (1 + x) does not cancel near 1.
    return multiply(ops.Sub(_number(1, x), x), _one_plus(x))


abs: Function = sloped("Abs", lambda x, y: ops.Sign(x))
acos: Function = sloped("Acos", lambda x, y: negative(reciprocal(sqrt(_one_minus_square(x)))))
acosh: Function = sloped("Acosh", lambda x, y: reciprocal(sinh(y)))
asin: Function = sloped("Asin", lambda x, y: reciprocal(sqrt(_one_minus_square(x))))
asinh: Function = sloped("Asinh", lambda x, y: reciprocal(cosh(y)))
atan: Function = sloped("Atan", lambda x, y: reciprocal(_one_plus(square(x))))
atan2: Function = sloped(
    "Atan2",
    lambda x1, x2, y: divide(x2, ops.AddV2(square(x1), square(x2))),
    lambda x1, x2, y: negative(divide(x1, ops.AddV2(square(x1), square(x2)))),
)
atanh: Function = sloped("Atanh", lambda x, y: reciprocal(_one_minus_square(x)))
cos: Function = sloped("Cos", lambda x, y: negative(sin(x)))
cosh: Function = sloped("Cosh", lambda x, y: sinh(x))
exp: Function = sloped("Exp", lambda x, y: y)
expm1: Function = sloped("Expm1", lambda x, y: exp(x))
floor_mod: Function = sloped(
    "FloorMod", lambda x1, x2, y: ops.OnesLike(y), lambda x1, x2, y: negative(ops.FloorDiv(x1, x2))
)
log: Function = sloped("Log", lambda x, y: reciprocal(x))
log1p: Function = sloped("Log1p", lambda x, y: reciprocal(_one_plus(x)))
power: Function = sloped(
    "Pow",
    lambda x1, x2, y: _of_base(x1, x2),
    # For a base that is not positive TensorFlow uses 0 as the logarithm.
    lambda x1, x2, y: multiply(y, log(ops.SelectV2(ops.LessEqual(x1, _number(0, x1)), ops.OnesLike(x1), x1))),
)
sin: Function = sloped("Sin", lambda x, y: cos(x))
sinh: Function = sloped("Sinh", lambda x, y: cosh(x))
sqrt: Function = sloped("Sqrt", lambda x, y: divide(_number(0.5, y), y))
square: Function = sloped("Square", lambda x, y: ops.AddV2(x, x))
tan: Function = sloped("Tan", lambda x, y: _one_plus(square(y)))
tanh: Function = sloped("Tanh", lambda x, y: _one_minus_square(y))


def _of_base(x1: Tensor, x2: Tensor) -> Tensor:
    """Derivative of a power by its base: 0 where the exponent is 0."""
    zero = _number(0, x2)
    is_constant = ops.Equal(x2, zero)
    other = ops.SelectV2(is_constant, ops.OnesLike(x2), ops.Sub(x2, _number(1, x2)))
    return ops.SelectV2(is_constant, zero, multiply(x2, power(x1, other)))


def with_slopes(name: str, function: Function, slopes: Sequence[Function | None]) -> Function:
    """An elementwise `function` with such derivatives, by each argument.

    None is one that is refused, where anything depends on that argument.
    """

    @tf.custom_gradient
    def differentiated(*xs: Tensor) -> Any:
        def gradients(slope: Tensor) -> list[Tensor]:
            return [
                ops.ZerosLike(x) if slope_by is None else summed(ops.MulNoNan(slope_by(*xs), slope), x)
                for x, slope_by in zip(xs, slopes, strict=True)
            ]

        return function(*xs), gradients

    def refused(which: int, x: Tensor) -> Tensor:
        @tf.custom_gradient
        def same(x: Tensor) -> Any:
            def gradient(slope: Tensor) -> Tensor:
                raise no_slope(name, which)

            return ops.Identity(x), gradient

        return same(x)

    def called(*xs: Tensor) -> Tensor:
        if not may_be_differentiated(*xs):
            return function(*xs)
        given = [refused(which, x) if slopes[which] is None else x for which, x in enumerate(xs)]
        return differentiated(*given)

    return called
