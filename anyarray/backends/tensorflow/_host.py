"""NumPy's functions for eager tensors in host memory.

NumPy reads such a tensor in place. Its sorts and searches are several times faster than TensorFlow's CPU kernels
at every size, and sort NaN as the standard's other libraries do. Its floor division is faster, too. For small arrays so
are its comparisons, tests, roundings and bitwise functions: an op of TensorFlow has an overhead of 7 us. None of these
has a gradient. Functions with a gradient, as indexing, powers and sorted values, run in NumPy only where no derivative
can be taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from anyarray._memory import alignment
from anyarray.backends.tensorflow import _device
from anyarray.backends.tensorflow._device import EagerTensor, Tensor, is_on_host
from anyarray.backends.tensorflow._kernel import NATIVE, may_be_differentiated

_BFLOAT16: Final = NATIVE["bfloat16"]
_INT32: Final = NATIVE["int32"]
_FIRST_CPU: Final = "/job:localhost/replica:0/task:0/device:CPU:0"
FEW: Final = 1 << 14
"""Threshold in elements: up to it NumPy finishes before TensorFlow's threads start."""

_read: Final[Callable[[Tensor], Any]] = getattr(EagerTensor, "_numpy_internal", np.asarray)
"""View of the buffer of an eager tensor on the CPU, or a NumPy scalar; do not write to it.

`Tensor.numpy` copies it. It takes 0.25 us instead of 0.65. It is undocumented, hence the fallback.
"""


def is_eager(x: Tensor) -> bool:
    """Whether `x` is an eager tensor: the op that made it has run."""
    return isinstance(x, EagerTensor)


def on_host(x: Tensor) -> npt.NDArray[Any]:
    """View of the buffer of `x`; do not write to it.

    bfloat16 is copied to float32: NumPy's sorts and searches do not recognize the NaN of a dtype that is not its own.
    """
    if x.dtype is _BFLOAT16:
        return np.asarray(x.numpy(), np.float32)
    return np.asarray(x)


def raw(x: Tensor) -> npt.NDArray[Any]:
    """As `on_host`, but keeps bfloat16."""
    return np.asarray(_read(x))


def tensor(values: npt.NDArray[Any], device: str | None = None) -> Tensor:
    """Eager tensor on `device`, which may alias `values`.

    The caller must not write to `values` again. `tf.constant` copies first and then looks up the device: 8 us instead
    of 1.6, or of 1.2 where None means the first CPU.
    """
    return EagerTensor(values, device, None)


def from_host(values: Any, x: Tensor) -> Tensor:
    """Tensor of NumPy's result for the operand `x`, on the device of `x`."""
    device = x.backing_device
    if device == _FIRST_CPU and type(values) is np.ndarray and not _device.has_gpu():
        return EagerTensor(values, None, None)  # the common case, with the fewest checks
    # An array, not a NumPy scalar: TensorFlow's cache of eager scalars treats 0.0 and -0.0 as one key.
    values = np.asarray(values)
    if _device.has_gpu() and x.dtype is _INT32:
        return tf.constant(values)  # with a GPU, int32 is in host memory whatever the device of the call
    return EagerTensor(values, None if device == _FIRST_CPU else device, None)


def sooner(ufunc: np.ufunc, kinds: str, otherwise: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Function without gradient: `ufunc` for small arrays, else `otherwise`.

    `ufunc` is used if the operands have one dtype, of one of `kinds`.
    """

    def of_one(x: Tensor, /) -> Tensor:
        if isinstance(x, EagerTensor) and _device.HOST in x.backing_device:
            a = _read(x)
            if a.size <= FEW and a.dtype.kind in kinds:
                return from_host(ufunc(a), x)
        return otherwise(x)

    def of_two(x1: Tensor, x2: Tensor, /) -> Tensor:
        if is_on_host(x1) and is_on_host(x2):
            a1, a2 = _read(x1), _read(x2)
            dtype = a1.dtype
            # Other shapes may broadcast to as many elements as the product of both sizes.
            if (
                a1.size <= FEW >= a2.size
                and dtype is a2.dtype
                and dtype.kind in kinds
                and (a1.shape == a2.shape or not a1.shape or not a2.shape)
            ):
                return from_host(ufunc(a1, a2), x1)
        return otherwise(x1, x2)

    return of_one if ufunc.nin == 1 else of_two


def sooner_unless_differentiated(
    on_numpy: Callable[..., Any], otherwise: Callable[..., Tensor]
) -> Callable[..., Tensor]:
    """`on_numpy` for floats if no derivative can be taken, else `otherwise`.

    The floats are float32 or float64. It is for functions that TensorFlow does not vectorize. `on_numpy` takes `out`.
    """

    def called(*xs: Tensor) -> Tensor:
        if all(map(is_on_host, xs)) and not may_be_differentiated(*xs):
            arrays = [raw(x) for x in xs]
            dtype = arrays[0].dtype
            if dtype.kind == "f" and dtype.itemsize > 2 and all(a.dtype is dtype for a in arrays):
                shape = np.broadcast_shapes(*[a.shape for a in arrays])
                out = alignment.allocated(np.empty, shape, dtype, math.prod(shape) * dtype.itemsize)
                with np.errstate(all="ignore"):
                    on_numpy(*arrays, out=out)
                return from_host(out, xs[0])
        return otherwise(*xs)

    return called
