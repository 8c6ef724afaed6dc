"""What random numbers need of the library: a derivative."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from anyarray.backends.tensorflow._derivatives import is_mapped
from anyarray.backends.tensorflow._kernel import Tensor, may_be_differentiated, op

__all__ = ["random_gammas"]

_below = op("Igamma")
_exp = op("Exp")
_log_gamma = op("Lgamma")
_multiplied = op("MulNoNan")
_ones_like = op("OnesLike")
_quotient = op("DivNoNan")
_slope = op("RandomGammaGrad")
_stop_gradient = op("StopGradient")
_subtract = op("Sub")
_xlogy = op("Xlogy")
_zeros_like = op("ZerosLike")


def random_gammas(a: Tensor, drawn: Tensor, /) -> Tensor:
    if not may_be_differentiated(a, drawn):
        return drawn
    y: Tensor = (_without_custom_gradient if is_mapped.get() else _differentiable)(a, drawn)
    return y


@tf.custom_gradient
def _differentiable(a: Tensor, drawn: Tensor) -> Any:
    return drawn, lambda slope: (_multiplied(_slope(a, drawn), slope), _zeros_like(drawn))


def _without_custom_gradient(a: Tensor, drawn: Tensor) -> Tensor:
    """As `_differentiable`, by a difference that is 0 and has a derivative.

    The distribution function at `drawn` does not change with `a` if `drawn` changes by its derivative.
    """
    shapes, x = _stop_gradient(a), _stop_gradient(drawn)
    density = _exp(_subtract(_subtract(_xlogy(_subtract(shapes, _ones_like(shapes)), x), x), _log_gamma(shapes)))
    chance = _below(a, x)
    return _subtract(x, _quotient(_subtract(chance, _stop_gradient(chance)), density))
