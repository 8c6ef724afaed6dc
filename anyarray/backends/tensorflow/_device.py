"""Where a tensor is, and whose kernels compute with it.

TensorFlow's kernels for a CPU are written by hand and check values. Most of those for a GPU are generated, as XLA's
are: an index out of bounds reads 0 and writes nothing, complex functions are sums of exponentials, which cancel, and of
infinities are NaN, a power of an integer uses six bits of the exponent. What depends on that asks `is_for_cpu`.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy.typing as npt

from anyarray.backends.tensorflow._loading import chatter_held_back, tf

Tensor = Any
EagerTensor: Final = tf.__internal__.EagerTensor

HOST = "CPU"
"""Part of the name of each device whose memory NumPy can read."""


def is_on_host(x: Tensor) -> bool:
    """Whether NumPy can read `x` in place: an eager tensor in host memory."""
    return isinstance(x, EagerTensor) and HOST in x.backing_device


_MANY: Final = 1 << 16
"""Threshold in elements above which it takes too long to look for the least and the greatest."""


def note_range(x: Tensor, a: npt.NDArray[Any]) -> None:
    """Note the least and the greatest of integers that came from the host.

    Then they can be indices without a question to the device. A tensor never changes.
    """
    if a.dtype.kind in "iu" and 0 < a.size <= _MANY:
        x.range_on_host = int(a.min()), int(a.max())


def known_range(x: Tensor) -> tuple[int, int] | None:
    """What `note_range` has noted of a tensor."""
    return vars(x).get("range_on_host") if isinstance(x, EagerTensor) else None


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
