"""Where a tensor is, and whose kernels compute with it.

TensorFlow's kernels for a CPU are written by hand and check values. Most of those for a GPU are generated, as XLA's
are: an index out of bounds reads 0 and writes nothing, complex functions are sums of exponentials, which cancel, and of
infinities are NaN, a power of an integer uses six bits of the exponent. What depends on that asks `is_for_cpu`.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from anyarray.backends.tensorflow._loading import chatter_held_back, tf

Tensor = Any
EagerTensor: Final = tf.__internal__.EagerTensor

HOST = "CPU"
"""Part of the name of each device whose memory NumPy can read."""


def is_on_host(x: Tensor) -> bool:
    """Whether NumPy can read `x` in place: an eager tensor in host memory."""
    return isinstance(x, EagerTensor) and HOST in x.backing_device


def is_for_cpu(x: Tensor) -> bool:
    """Whether an op on `x` is known to run on a CPU.

    A graph may run on any device of the process.
    """
    return not has_gpu() or is_on_host(x)


@functools.cache
def has_gpu() -> bool:
    """Whether TensorFlow has a GPU in this process."""
    with chatter_held_back():
        return bool(tf.config.list_logical_devices("GPU"))
