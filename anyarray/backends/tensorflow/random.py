"""What random numbers need of the library: a derivative."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._derivatives import is_mapped
from anyarray.backends.tensorflow._kernel import Tensor, may_be_differentiated


def random_gammas(a: Tensor, drawn: Tensor, /) -> Tensor:
    if not may_be_differentiated(a, drawn):
        return drawn
    y: Tensor = (_without_custom_gradient if is_mapped.get() else _differentiable)(a, drawn)
    return y


@tf.custom_gradient
def _differentiable(a: Tensor, drawn: Tensor) -> Any:
    return drawn, lambda slope: (ops.MulNoNan(ops.RandomGammaGrad(a, drawn), slope), ops.ZerosLike(drawn))


def _without_custom_gradient(a: Tensor, drawn: Tensor) -> Tensor:
    """As `_differentiable`, by a difference that is 0 and has a derivative.

    The distribution function at `drawn` does not change with `a` if `drawn` changes by its derivative.
    """
    shapes, x = ops.StopGradient(a), ops.StopGradient(drawn)
    density = ops.Exp(ops.Sub(ops.Sub(ops.Xlogy(ops.Sub(shapes, ops.OnesLike(shapes)), x), x), ops.Lgamma(shapes)))
    chance = ops.Igamma(a, x)
    return ops.Sub(x, ops.DivNoNan(ops.Sub(chance, ops.StopGradient(chance)), density))
