"""Where NumPy may do the work: eager tensors in the memory of the CPU.

NumPy reads such a tensor in place. Its sorts and searches are several times faster than TensorFlow's CPU kernels
at every size and order NaN as the standard's other libraries do. So do its rounded quotients; and for few elements
its comparisons, tests, roundings and operations on bits, as an op of TensorFlow takes 7 us before it begins. All these
have no gradient. What has one, as reading and writing at a key, powers and sorted values, is NumPy's where nobody may
ask for it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from anyarray._memory import alignment
from anyarray.backends.tensorflow._kernel import NATIVE, EagerTensor, Tensor, may_be_differentiated

_BFLOAT16: Final = NATIVE["bfloat16"]
_INT32: Final = NATIVE["int32"]
_FIRST_CPU: Final = "/job:localhost/replica:0/task:0/device:CPU:0"
FEW: Final = 1 << 14
"""Up to so many elements NumPy is done before TensorFlow's threads are at work."""

_read: Final[Callable[[Tensor], Any]] = getattr(EagerTensor, "_numpy_internal", np.asarray)
"""The values of an eager tensor on the CPU in its own memory, or a NumPy scalar; for reading only.

What `Tensor.numpy` copies. It takes 0.25 us in place of 0.65, but is not documented, hence the other.
"""


def is_eager(x: Tensor) -> bool:
    """Whether `x` has its values now, and what made it has run."""
    return isinstance(x, EagerTensor)


def is_on_host(x: Tensor) -> bool:
    """Whether NumPy reads `x` in place: not traced nor on an accelerator."""
    return isinstance(x, EagerTensor) and "CPU" in x.backing_device


def on_host(x: Tensor) -> npt.NDArray[Any]:
    """The values of `x` in its own memory; for reading only.

    bfloat16 becomes float32: NumPy's sorts and searches do not know the NaN of a dtype that is not its own.
    """
    if x.dtype is _BFLOAT16:
        return np.asarray(x.numpy(), np.float32)
    return np.asarray(x)


def raw(x: Tensor) -> npt.NDArray[Any]:
    """As `on_host`, of the dtype of `x`, which may be bfloat16."""
    return np.asarray(_read(x))


def tensor(values: npt.NDArray[Any], device: str | None = None) -> Tensor:
    """Eager tensor on `device`, perhaps in the memory of `values`.

    Nobody may write to `values` again. `tf.constant` copies first and then asks where the call runs: 8 us in place of
    1.6, or of 1.2 where None means the first CPU.
    """
    return EagerTensor(values, device, None)


def from_host(values: Any, x: Tensor) -> Tensor:
    """Tensor of the array or scalar that NumPy made of the values of `x`."""
    device = x.backing_device
    if device == _FIRST_CPU and type(values) is np.ndarray and not _has_gpu():
        return EagerTensor(values, None, None)  # most calls: nothing more is asked
    # An array, not a NumPy scalar: TensorFlow's cache of eager scalars takes 0.0 and -0.0 for one.
    values = np.asarray(values)
    if _has_gpu() and x.dtype is _INT32:
        return tf.constant(values)  # beside a GPU they are all on the host, wherever the call runs
    return EagerTensor(values, None if device == _FIRST_CPU else device, None)


def sooner(ufunc: np.ufunc, kinds: str, otherwise: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function without gradient: `ufunc` of few elements, else `otherwise`.

    The few elements are of one dtype of these kinds.
    """

    def of_one(x: Tensor, /) -> Tensor:
        if isinstance(x, EagerTensor) and "CPU" in x.backing_device:
            a = _read(x)
            if a.size <= FEW and a.dtype.kind in kinds:
                return from_host(ufunc(a), x)
        return otherwise(x)

    def of_two(x1: Tensor, x2: Tensor, /) -> Tensor:
        if is_on_host(x1) and is_on_host(x2):
            a1, a2 = _read(x1), _read(x2)
            dtype = a1.dtype
            # Of other shapes the result may have the product of their elements.
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
    """`otherwise`, or `on_numpy` of floats of which no derivatives are taken.

    They are of 32 or 64 bits. It is for functions that TensorFlow does not compute by vectors, and takes `out`.
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


@functools.cache
def _has_gpu() -> bool:
    return bool(tf.config.list_logical_devices("GPU"))
