"""What every chapter uses: cached constants, casts, promotion.

Constants are cached outside any graph: a Python list or tuple as an argument of an op costs 35 to 80 us a call.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from anyarray._base import dtypes, errors
from anyarray.backends.tensorflow import _device
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._device import EagerTensor as EagerTensor
from anyarray.backends.tensorflow._device import Tensor as Tensor
from anyarray.backends.tensorflow._device import is_on_host
from anyarray.backends.tensorflow._loading import tf

Ints = int | tuple[int, ...]

REFUSALS: Final = (
    tf.errors.InvalidArgumentError,
    tf.errors.UnimplementedError,
    tf.errors.NotFoundError,
    TypeError,
    ValueError,
)
"""What a raw op raises, eagerly or in a graph, for dtypes without a kernel or that do not match."""


def op(name: str) -> Callable[..., Any]:
    """The raw op `name`, for names that are not written out: see `_ops`."""
    return getattr(ops, name)


def undocumented(module: str, name: str) -> Any:
    """An undocumented attribute of TensorFlow; None if it does not exist."""
    try:
        return getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None


NATIVE: Final[dict[str, Any]] = {name: tf.as_dtype(name) for name in dtypes.KNOWN}
"""TensorFlow's dtype by the standard's name."""

NAME: Final[dict[Any, str]] = {native: name for name, native in NATIVE.items()}
"""The standard's name by TensorFlow's dtype."""

_KIND: Final = {native: dtypes.KNOWN[name].kind for name, native in NATIVE.items()}
_BOOL: Final = NATIVE["bool"]
_UINT8: Final = NATIVE["uint8"]
_FLOAT32: Final = NATIVE["float32"]
_FLOAT64: Final = NATIVE["float64"]
_COMPLEX64: Final = NATIVE["complex64"]
_COMPLEX128: Final = NATIVE["complex128"]
_PART: Final = {_COMPLEX64: _FLOAT32, _COMPLEX128: _FLOAT64}

_executing_eagerly = tf.executing_eagerly
_is_for_xla = undocumented("tensorflow.python.ops.control_flow_util", "GraphOrParentsInXlaContext")

could_record: Final = undocumented("tensorflow.python.eager.record", "could_possibly_record")
"""Whether a tape or an accumulator may record the ops that run now."""


def may_be_differentiated(*xs: Tensor) -> bool:
    """Whether a derivative of an op on `xs` may be taken, now or later.

    A tape may record the op, or a graph that has it may be differentiated later, also with respect to what it captured.
    """
    if could_record is None or could_record() or not _executing_eagerly():
        return True
    for x in xs:  # noqa: SIM110 - any() takes half a microsecond more
        if not isinstance(x, EagerTensor):
            return True
    return False


@functools.lru_cache(maxsize=1 << 14)
def constant(values: Any, name: str = "int32") -> Tensor:
    """Cached tensor of a number (not -0.0), a bool or nested tuples.

    It is valid eagerly and in every graph. It is in host memory, where kernels read shapes and axes, whatever the
    device of the call.
    """
    return lasting(np.asarray(values, dtypes.KNOWN[name].dtype), "/device:CPU:0")


def lasting(values: npt.NDArray[Any], device: str) -> Tensor:
    """Eager tensor of an array never written to; in a graph, a constant.

    An array, not a number: TensorFlow's cache of eager scalars treats 0.0 and -0.0 as one key.
    """
    with tf.init_scope(), tf.device(device):
        made = tf.constant(values)
    # By default TensorFlow captures it as one more argument of the graph, whose value no compiler knows. Then `x**2`
    # stays a power instead of a product, and takes seven times as long.
    made.__tf_tensor__ = lambda dtype=None, name=None: tf.constant(values).__tf_tensor__(dtype, name)
    return made


def is_lasting(x: Tensor) -> bool:
    """Whether an eager tensor was made by `lasting`."""
    return "__tf_tensor__" in vars(x)


def keeping_nans(raw: Callable[..., Tensor], is_at_least: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The op Maximum or Minimum, which propagates NaN even if XLA compiles it.

    XLA on a CPU, as TensorFlow configures it, returns the first operand if the second is NaN. It may swap the operands:
    a constant becomes the second.
    """

    def of_two(x1: Tensor, x2: Tensor) -> Tensor:
        y = raw(x1, x2)
        if isinstance(y, EagerTensor) or not _loses_nans(y):
            return y
        return ops.SelectV2(ops.LogicalOr(ops.IsNan(x1), is_at_least(x1, x2)), x1, x2)

    return of_two


def keeping_nans_along(raw: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """As `keeping_nans`, for the reduction op Max or Min."""

    def of_axes(x: Tensor, axes: Tensor, keepdims: bool = False) -> Tensor:
        y = raw(x, axes, keepdims)
        if isinstance(y, EagerTensor) or not _loses_nans(y):
            return y
        nans = ops.Sum(ops.SelectV2(ops.IsNan(x), x, constant(0, name_of(x))), axes, keepdims)
        return ops.SelectV2(ops.IsNan(nans), nans, y)

    return of_axes


def complex_abs(x: Tensor, part: Any) -> Tensor:
    """The modulus of a complex tensor, of the dtype `part`.

    It is infinite if a part is, else NaN if a part is, also on a GPU and if XLA compiles it.
    """
    y = ops.ComplexAbs(x, part)
    if is_as_on_cpu(y):
        return y
    real, imag = ops.Real(x, part), ops.Imag(x, part)
    y = ops.SelectV2(ops.IsNan(real), real, ops.SelectV2(ops.IsNan(imag), imag, y))
    infinity = constant(math.inf, name_of(y))
    return ops.SelectV2(ops.IsInf(real), infinity, ops.SelectV2(ops.IsInf(imag), infinity, y))


def _loses_nans(y: Tensor) -> bool:
    """Whether `y` may be NaN, in a graph that XLA may compile."""
    return kind_of(y) == "f" and may_be_fused()


def is_as_on_cpu(y: Tensor) -> bool:
    """Whether `y` comes from a kernel for a CPU, not for a GPU or from XLA.

    False if that is not known yet.
    """
    if isinstance(y, EagerTensor):
        return not _device.has_gpu() or is_on_host(y)
    return not (_device.has_gpu() or may_be_fused())


def may_be_fused() -> bool:
    """Whether XLA may compile the graph that is being traced.

    True if TensorFlow has no function that tells.
    """
    return _is_for_xla is None or bool(_is_for_xla(tf.compat.v1.get_default_graph()))


def number(value: complex | Tensor, native: Any) -> Tensor:
    """`value` as a 0-d tensor of the dtype `native`."""
    return ops.Cast(value, native) if tf.is_tensor(value) else constant(value, NAME[native])


def name_of(x: Tensor) -> str:
    """The standard's name of the dtype of `x`."""
    return NAME[x.dtype]


def kind_of(x: Tensor) -> str:
    """One letter for the dtype of `x`, as NumPy's: b, i, u, f or c."""
    return _KIND[x.dtype]


# Identity is cheaper than a lookup: TensorFlow's dtypes are singletons, and their hash is Python code.
def is_complex(x: Tensor) -> bool:
    """Whether `x` is of a complex dtype."""
    dtype = x.dtype
    return dtype is _COMPLEX64 or dtype is _COMPLEX128


def is_common(native: Any) -> bool:
    """Whether a dtype is float32 or float64, which all kernels support."""
    return native is _FLOAT64 or native is _FLOAT32


def cast(x: Tensor, name: str) -> Tensor:
    """`x` cast to the dtype `name`; `x` itself if that is its dtype."""
    native = NATIVE[name]
    if x.dtype is native:
        return x
    if x.dtype is _BOOL and _KIND[native] in "fc" and not tf.executing_eagerly() and may_be_fused():
        # XLA replaces the product of a cast bool and a float by a select, which drops the float's NaN, infinities and
        # -0. A cast through an integer prevents that.
        x = ops.Cast(x, _UINT8)
    part = _PART.get(native)
    if part is not None and kind_of(x) == "f" and may_be_differentiated(x):
        # The gradient of Cast drops the imaginary part, and logs a warning each time.
        x = cast(x, NAME[part])
        return ops.Complex(x, ops.ZerosLike(x), native)
    return ops.Cast(x, native)


def bitcast(x: Tensor, name: str) -> Tensor:
    """The bits of `x` as the dtype `name` of the same size; no gradient."""
    return ops.Bitcast(x, NATIVE[name])


def promoted(*xs: Tensor) -> list[Tensor]:
    """`xs`, all cast to their promoted dtype."""
    name = dtypes.result_name(*[NAME[x.dtype] for x in xs])
    return [cast(x, name) for x in xs]


def floated(x: Tensor) -> Tensor:
    """`x` cast to the dtype that a floating-point function computes in."""
    return cast(x, dtypes.floating(NAME[x.dtype]))


def shape_of(x: Tensor) -> tuple[int | None, ...]:
    """Shape as a tuple; None for a length that a trace does not know."""
    shape = x.shape
    if type(shape) is tuple:
        return shape  # of a recorded call
    try:
        return tuple(shape.as_list())
    except ValueError as error:
        raise errors.TransferError(
            "shape: a trace of TensorFlow does not know how many axes this array has. Give tf.function an "
            "input_signature with them, as tf.TensorSpec([None, None], dtype), or tell it first: tensor.set_shape(...)"
        ) from error
