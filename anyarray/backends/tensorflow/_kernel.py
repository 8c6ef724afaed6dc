"""What every chapter stands on: raw ops, cached constants, casts, promotion.

Raw ops are the generated functions behind `tf.raw_ops`, taken positionally: the fastest public way into
TensorFlow that keeps gradients and works inside `tf.function`. Constants are made once, outside any graph:
a Python list or tuple as an argument of an op costs 35 to 80 us a call.
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
from anyarray.backends.tensorflow._loading import tf

Tensor = Any
EagerTensor: Final = tf.__internal__.EagerTensor
Ints = int | tuple[int, ...]

REFUSALS: Final = (
    tf.errors.InvalidArgumentError,
    tf.errors.UnimplementedError,
    tf.errors.NotFoundError,
    TypeError,
    ValueError,
)
"""What a raw op raises for dtypes that it has no kernel for or that do not agree (eagerly, in a graph)."""


def op(name: str) -> Callable[..., Any]:
    """The raw op `name` as a function of positional arguments."""
    return getattr(tf.raw_ops, name).__wrapped__


def undocumented(module: str, name: str) -> Any:
    """What TensorFlow has of an undocumented name; None if it has nothing."""
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

_cast = op("Cast")
_bitcast = op("Bitcast")
_complex = op("Complex")
_complex_abs = op("ComplexAbs")
_imag = op("Imag")
_is_inf = op("IsInf")
_is_nan = op("IsNan")
_logical_or = op("LogicalOr")
_real = op("Real")
_select = op("SelectV2")
_sum = op("Sum")
_zeros_like = op("ZerosLike")
_executing_eagerly = tf.executing_eagerly
_is_for_xla = undocumented("tensorflow.python.ops.control_flow_util", "GraphOrParentsInXlaContext")

could_record: Final = undocumented("tensorflow.python.eager.record", "could_possibly_record")
"""Whether a tape or an accumulator may see what is computed now."""


def may_be_differentiated(*xs: Tensor) -> bool:
    """Whether derivatives may be taken of what is computed of `xs` now.

    A tape may take them, or somebody later of the graph, also by what it has captured.
    """
    if could_record is None or could_record() or not _executing_eagerly():
        return True
    for x in xs:  # noqa: SIM110 - any() takes half a microsecond more
        if not isinstance(x, EagerTensor):
            return True
    return False


@functools.lru_cache(maxsize=1 << 14)
def constant(values: Any, name: str = "int32") -> Tensor:
    """Tensor of a number (not -0.0), a bool or nested tuples, made once.

    It is valid eagerly and in every graph. It lives in the memory of the CPU, where shapes and axes are read, whatever
    the device of the call.
    """
    return lasting(np.asarray(values, dtypes.KNOWN[name].dtype), "/device:CPU:0")


def lasting(values: npt.NDArray[Any], device: str) -> Tensor:
    """Eager tensor of an array never written to; in a graph, a constant.

    An array, not a number: TensorFlow's cache of eager scalars takes 0.0 and -0.0 for one.
    """
    with tf.init_scope(), tf.device(device):
        made = tf.constant(values)
    # By itself TensorFlow makes one more argument of the graph of it, whose value no compiler knows. Then `x**2` is no
    # product but a power, and takes seven times as long.
    made.__tf_tensor__ = lambda dtype=None, name=None: tf.constant(values).__tf_tensor__(dtype, name)
    return made


def is_lasting(x: Tensor) -> bool:
    """Whether `lasting` made an eager tensor."""
    return "__tf_tensor__" in vars(x)


def keeping_nans(raw: Callable[..., Tensor], is_at_least: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The op Maximum or Minimum, giving NaN for NaN also if XLA compiles it.

    XLA on a CPU, as TensorFlow sets it up, takes the first of two numbers of which the second is NaN, and which is the
    second it decides: of a constant and another number, the constant.
    """

    def of_two(x1: Tensor, x2: Tensor) -> Tensor:
        y = raw(x1, x2)
        if isinstance(y, EagerTensor) or not _loses_nans(y):
            return y
        return _select(_logical_or(_is_nan(x1), is_at_least(x1, x2)), x1, x2)

    return of_two


def keeping_nans_along(raw: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same for the op Max or Min, over axes."""

    def of_axes(x: Tensor, axes: Tensor, keepdims: bool = False) -> Tensor:
        y = raw(x, axes, keepdims)
        if isinstance(y, EagerTensor) or not _loses_nans(y):
            return y
        nans = _sum(_select(_is_nan(x), x, constant(0, name_of(x))), axes, keepdims)
        return _select(_is_nan(nans), nans, y)

    return of_axes


def complex_abs(x: Tensor, part: Any) -> Tensor:
    """The modulus of a complex tensor, of the dtype `part`.

    It is infinite if a part is, else NaN if one is, also where XLA compiles it.
    """
    y = _complex_abs(x, part)
    if isinstance(y, EagerTensor) or not _loses_nans(y):
        return y
    real, imag = _real(x, part), _imag(x, part)
    y = _select(_is_nan(real), real, _select(_is_nan(imag), imag, y))
    infinity = constant(math.inf, name_of(y))
    return _select(_is_inf(real), infinity, _select(_is_inf(imag), infinity, y))


def _loses_nans(y: Tensor) -> bool:
    """Whether XLA may compile the graph of `y`, which may be NaN."""
    return kind_of(y) == "f" and may_be_fused()


def may_be_fused() -> bool:
    """Whether XLA may compile the graph that is being made.

    If TensorFlow does not tell, it may.
    """
    return _is_for_xla is None or bool(_is_for_xla(tf.compat.v1.get_default_graph()))


def number(value: complex | Tensor, native: Any) -> Tensor:
    """`value` as a 0-d tensor of the dtype `native`."""
    return _cast(value, native) if tf.is_tensor(value) else constant(value, NAME[native])


def name_of(x: Tensor) -> str:
    """The standard's name of the dtype of `x`."""
    return NAME[x.dtype]


def kind_of(x: Tensor) -> str:
    """One letter for the dtype of `x`, as NumPy's: b, i, u, f or c."""
    return _KIND[x.dtype]


# By identity, which is cheaper than a look-up: TensorFlow's dtypes hash in Python, and each is one object.
def is_complex(x: Tensor) -> bool:
    """Whether `x` is of a complex dtype."""
    dtype = x.dtype
    return dtype is _COMPLEX64 or dtype is _COMPLEX128


def is_common(native: Any) -> bool:
    """Whether a dtype is float32 or float64, which every kernel knows."""
    return native is _FLOAT64 or native is _FLOAT32


def cast(x: Tensor, name: str) -> Tensor:
    """`x` in the dtype `name`; `x` itself if it has it."""
    native = NATIVE[name]
    if x.dtype is native:
        return x
    if x.dtype is _BOOL and _KIND[native] in "fc" and not tf.executing_eagerly() and may_be_fused():
        # Of a bool as a float, times another float, XLA makes a selection, which drops the other's NaN, infinities and
        # -0. Through an integer it does not see that.
        x = _cast(x, _UINT8)
    part = _PART.get(native)
    if part is not None and kind_of(x) == "f" and may_be_differentiated(x):
        # The gradient of Cast drops an imaginary part, and logs a warning each time that it does.
        x = cast(x, NAME[part])
        return _complex(x, _zeros_like(x), native)
    return _cast(x, native)


def bitcast(x: Tensor, name: str) -> Tensor:
    """The bits of `x` as the dtype `name` of the same size; no gradient."""
    return _bitcast(x, NATIVE[name])


def promoted(*xs: Tensor) -> list[Tensor]:
    """`xs`, all cast to the dtype that they promote to."""
    name = dtypes.result_name(*[NAME[x.dtype] for x in xs])
    return [cast(x, name) for x in xs]


def floated(x: Tensor) -> Tensor:
    """`x` in the dtype in which a floating-point function takes it."""
    return cast(x, dtypes.floating(NAME[x.dtype]))


def shape_of(x: Tensor) -> tuple[int | None, ...]:
    """Shape as a tuple, None for an axis that is unknown under a trace."""
    try:
        return tuple(x.shape.as_list())
    except ValueError as error:
        raise errors.TransferError(
            "shape: a trace of TensorFlow does not know how many axes this array has. Give tf.function an "
            "input_signature with them, as tf.TensorSpec([None, None], dtype), or tell it first: tensor.set_shape(...)"
        ) from error
