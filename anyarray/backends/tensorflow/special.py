"""Special functions of TensorFlow that are accurate to a few units.

Of its others, some lose digits, and they are composed of other functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from anyarray.backends._shared.blocks import in_blocks
from anyarray.backends.tensorflow._kernel import op
from anyarray.backends.tensorflow._loading import tf


def _of_bessel(name: str) -> Callable[..., Any]:
    """A modified Bessel function of the second kind; NaN for negative numbers.

    TensorFlow gives infinity for these.
    """
    function = op(name)
    return lambda x: tf.where(x < 0, tf.constant(math.nan, x.dtype), function(x))


_erf = op("Erf")


def erf(x: Any) -> Any:
    # TensorFlow gives NaN for infinity; from 6 on the result rounds to 1.
    return _erf(tf.clip_by_value(x, tf.constant(-10, x.dtype), tf.constant(10, x.dtype)))


erfcinv = tf.math.erfcinv
expit = op("Sigmoid")
gammaln = op("Lgamma")
i0e = op("BesselI0e")
i1e = op("BesselI1e")
k0, k0e = _of_bessel("BesselK0"), _of_bessel("BesselK0e")
k1, k1e = _of_bessel("BesselK1"), _of_bessel("BesselK1e")
log_expit = tf.math.log_sigmoid
ndtri = op("Ndtri")
softplus = op("Softplus")

UNTRACED: Final = 10


def composed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A composed function, as a graph from the tenth call on.

    Each graph is for arguments of some dtypes and ranks. The calls of a function one after the other take some 30
    times as long as a graph, which takes a second to trace.
    """
    graphs: dict[Any, Callable[..., Any]] = {}
    calls: dict[Any, int] = {}

    def called(*xs: Any) -> Any:
        key = tuple([(x.dtype, x.shape.rank) for x in xs])
        if key in graphs:
            return graphs[key](*xs)
        calls[key] = calls.get(key, 0) + 1
        if calls[key] < UNTRACED:
            return function(*xs)
        kinds = [tf.TensorSpec([None] * rank, dtype) for dtype, rank in key]
        graphs[key] = tf.function(function, autograph=False).get_concrete_function(*kinds)
        return graphs[key](*xs)

    in_graphs = in_blocks(
        called,
        lambda x, shape: tf.reshape(tf.broadcast_to(x, shape), [-1]),
        lambda blocks, shape: tf.reshape(tf.concat(blocks, axis=0), shape),
    )
    return lambda *xs: in_graphs(*xs) if tf.executing_eagerly() else function(*xs)
