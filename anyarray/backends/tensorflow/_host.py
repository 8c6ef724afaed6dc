"""Where NumPy may do the work: eager tensors in the memory of the CPU.

NumPy reads such a tensor in place. Its sorts and searches are several times faster than TensorFlow's CPU kernels
at every size and order NaN as the standard's other libraries do. So do its tests and its rounded quotients. All these
have no gradient; sorted values do, and are gathered from the tensor itself.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from anyarray.backends.tensorflow._kernel import NATIVE, Tensor

_EagerTensor: Final = tf.__internal__.EagerTensor
_BFLOAT16: Final = NATIVE["bfloat16"]


def is_on_host(x: Tensor) -> bool:
    """Whether NumPy can read `x` without a copy: neither traced nor on an accelerator."""
    return isinstance(x, _EagerTensor) and "CPU" in x.backing_device


def on_host(x: Tensor) -> npt.NDArray[Any]:
    """The values of `x` in its own memory; for reading only.

    bfloat16 becomes float32: NumPy's sorts and searches do not know the NaN of a dtype that is not its own.
    """
    if x.dtype is _BFLOAT16:
        return np.asarray(x.numpy(), np.float32)
    return np.asarray(x)


def from_host(values: Any) -> Tensor:
    """Tensor of what NumPy found."""
    # An array, not a NumPy scalar: TensorFlow's cache of eager scalars takes 0.0 and -0.0 for one.
    return tf.constant(np.asarray(values))
