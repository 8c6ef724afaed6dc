"""Functions that every backend must have and the standard does not."""

from __future__ import annotations

__all__ = [
    "ARRAY_TYPES", "IS_IMMUTABLE", "address", "data_of", "device_of", "devices", "dtype_of", "duplicate", "exported",
    "from_dlpack", "from_numpy", "is_leak", "is_out_of_memory", "is_traced", "may_wait", "memory", "native_dtype",
    "outside_traces", "plain", "read_in_place", "refusal_of", "scalar", "scoped", "shape_of", "synchronize",
    "to_device", "to_numpy",
]  # fmt: skip

import contextlib
import functools
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from anyarray._memory import alignment
from anyarray.backends._shared import carrier
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._device import note_range
from anyarray.backends.tensorflow._kernel import (
    NATIVE,
    EagerTensor,
    Tensor,
    bitcast,
    lasting,
    may_be_differentiated,
    shape_of,
    undocumented,
)
from anyarray.backends.tensorflow._loading import chatter_held_back, tf

ARRAY_TYPES: Final = (tf.Tensor, tf.Variable)
IS_IMMUTABLE: Final = True

_HERE: Final = "/job:localhost/replica:0/task:0"
"""Prefix of the name of a device of this process. TensorFlow adds it in some places only."""

_HOST: Final = "/device:CPU:0"
"""The device of host memory imported by DLPack."""

_EXPORTS: Final = hasattr(EagerTensor, "__dlpack__")
"""Whether tensors implement `__dlpack__`: in TensorFlow 2.21 they do, in 2.19 they do not."""

_from_dlpack = tf.experimental.dlpack.from_dlpack
_to_dlpack = tf.experimental.dlpack.to_dlpack


_dispatcher = undocumented("tensorflow.python.util.dispatch", "_api_dispatcher")
_checkers = undocumented("tensorflow.python.util.dispatch", "_is_instance_checker_cache")


def _settle_dispatch() -> None:
    """Have TensorFlow's dispatcher check the common types of arguments.

    The functions of `tf` ask it whether an argument is of a type that overrides them. It notes the arguments of a call
    in one place for all threads, and asks a type that it does not know in Python code, where threads may take turns;
    the other thread's arguments replace these, and the process crashes. Gradients call such functions. A type that it
    knows is looked up in C++, with the GIL held. The dispatcher used here belongs to this call alone.
    """
    if _dispatcher is None or not _checkers:
        return
    with tf.Graph().as_default():
        symbolic = tf.raw_ops.Placeholder(dtype=tf.float32)
    eager = tf.constant(0.0)
    with contextlib.suppress(AttributeError, TypeError):  # of another version of TensorFlow
        asked = _dispatcher.PythonAPIDispatcher("", ["x"], ())
        for checker in list(_checkers.values()):
            asked.Register(_dispatcher.PySignatureChecker([(0, checker)]), lambda x: None)
        numpys = np.zeros(0), np.float64(0)
        tensors = eager, symbolic, tf.IndexedSlices(eager, eager)
        others: tuple[object, ...] = (None, False, 0, 0.0, 0j, "", b"", [], (), eager.shape, eager.dtype)
        for x in tensors + numpys + others:
            asked.Dispatch((x,), {})


@functools.cache
def _task() -> str:
    """Prefix of this process's devices, which is another one in a cluster."""
    with tf.init_scope():
        return str(tf.identity(tf.constant(0.0)).device.partition("/device:")[0])


def _short(device: str) -> str:
    """The name of a device of this process without its prefix."""
    return device.removeprefix(_HERE).removeprefix(_task())


@functools.cache
def devices() -> dict[str, list[str]]:
    """Names of the logical devices by kind, best kind first."""
    with chatter_held_back():
        found = tf.config.list_logical_devices()
    _settle_dispatch()  # what follows the start of TensorFlow's runtime, before the first op
    return {
        kind: [name for name in map(_short, [one.name for one in found]) if name.startswith(f"/device:{kind.upper()}:")]
        for kind in ("gpu", "tpu", "cpu")
    }


@functools.cache
def _default_device() -> str:
    """Device of eager ops outside `tf.device`, wherever their inputs are."""
    return (devices()["gpu"] or devices()["cpu"])[0]


def device_of(x: Tensor) -> str | None:
    """Name of the device whose memory holds `x`; None if it has none.

    A symbolic tensor has none. With a GPU, an int32 tensor has none either: TensorFlow keeps int32 in host memory for
    the kernels of every device.
    """
    if not isinstance(x, EagerTensor):
        return _short(x.device) or None if isinstance(x, tf.Variable) else None
    device = _short(x.backing_device)
    if devices()["gpu"] and x.dtype is tf.int32 and "CPU" in device:
        return None
    return device


def native_dtype(name: str) -> Any:
    """TensorFlow's dtype for the standard's name."""
    return NATIVE[name]


def dtype_of(x: Tensor) -> Any:
    """TensorFlow's dtype of `x`."""
    return x.dtype


def data_of(x: Tensor) -> Tensor:
    """The tensor itself, as of an array of TensorFlow NumPy."""
    return x


def is_traced(x: Tensor) -> bool:
    """Whether `x` is a symbolic tensor, as inside `tf.function`."""
    return tf.is_symbolic_tensor(x)


def plain(x: Tensor) -> Tensor:
    """The value of a `tf.Variable`, which is no array; a tensor unchanged."""
    return x if isinstance(x, EagerTensor) or not isinstance(x, tf.Variable) else x.read_value()


def to_numpy(x: Tensor) -> npt.NDArray[Any]:
    """The values of `x`; on a CPU a read-only view of its buffer.

    Raises TypeError for dtypes that no Array has.
    """
    try:
        host = _asarray(x)
        if host.dtype.num in _READ_IN_PLACE:
            return host
    except ValueError:  # of a 0-d bfloat16, for which NumPy gets no array
        pass
    dtype = x.dtype
    if dtype is not tf.bfloat16:  # strings, of which NumPy gets pointers
        raise TypeError(f"to_numpy: x must have one of the dtypes {', '.join(NATIVE)}, not {dtype.name}")
    # A bfloat16 tensor has no buffer protocol, and the array that NumPy gets instead is writable.
    return np.asarray(bitcast(x, "int16")).view(dtype.as_numpy_dtype)


read_in_place = _asarray = np.asarray
_READ_IN_PLACE: Final = frozenset([np.dtype(name).num for name in NATIVE if name != "bfloat16"])
"""NumPy's type numbers. We read them from the ndarray: reading a tensor's dtype takes four times as long."""


def from_numpy(a: npt.NDArray[Any], device: str) -> Tensor:
    """Tensor of the values of an ndarray, of any dtype that an Array has."""
    if device == _HOST and a.dtype.num in _READ_IN_PLACE:
        # `tf.constant` takes 8 us and, for a large array, twice as long as NumPy's copy.
        return _from_dlpack(alignment.copied(a).__dlpack__())
    if a.dtype.names is not None or a.dtype.name not in NATIVE:
        raise TypeError(f"from_numpy: a must have one of the dtypes {', '.join(NATIVE)}, not {a.dtype}")
    if a.nbytes >= carrier.LARGE and a.dtype.num not in _ON_HOST:
        number = _gpu(device)
        take = functools.partial(_taken, device=device)
        carried = None if number is None else carrier.to_device("tf", a, number, take)
        if carried is not None:
            return carried
    if a.dtype.kind == "b":
        a = a.view(np.uint8) != 0  # a GPU takes no byte but 1 for True
    if tf.executing_eagerly():  # what `tf.constant` calls, without the scopes: an eighth of the time
        made = EagerTensor(np.array(a), device, None)
    else:
        with tf.init_scope(), tf.device(device):
            made = tf.constant(a)
    note_range(made, a)
    return made


_ON_HOST: Final = frozenset([np.dtype("int32").num])
"""NumPy's type numbers of what TensorFlow keeps in host memory for the kernels of every device."""


def _gpu(device: str) -> int | None:
    """The number of a GPU; None for other devices."""
    name = tf.DeviceSpec.from_string(device)
    return name.device_index if name.device_type == "GPU" else None


def _taken(x: Any, device: str) -> Tensor:
    """As `from_dlpack`; ValueError if it is not on `device`."""
    taken = from_dlpack(x, device)
    if taken.backing_device.removeprefix(_HERE) != device:
        raise ValueError(f"{taken.backing_device} is not {device}")
    return taken


def address(x: Tensor) -> int | None:
    """Where the memory of `x` begins; None if it is on a device."""
    if not isinstance(x, EagerTensor) or "CPU" not in x.backing_device or x.dtype is tf.bfloat16:
        return None
    pointer: int = _asarray(x).__array_interface__["data"][0]
    return pointer


def duplicate(x: Tensor, /) -> Tensor:
    """`x` itself, as no caller can write to its buffer or delete it."""
    return x


def exported(x: Tensor, /) -> Any:
    """`x` as a DLPack exporter that any consumer accepts."""
    # JAX imports a tensor of TensorFlow itself in half the time.
    return x if _EXPORTS and "GPU" not in x.backing_device else _ForAnyStream(x)


class _ForAnyStream:
    """A tensor on a GPU, exported for any stream.

    The `__dlpack__` of a tensor, if there is one, refuses every stream, even the default one.
    """

    def __init__(self, x: Tensor) -> None:
        self._x = x

    def __dlpack__(self, **options: Any) -> Any:
        synchronize(self._x)  # then every stream may read the buffer
        return _to_dlpack(self._x)

    def __dlpack_device__(self) -> tuple[int, int]:
        _, kind, index = self._x.backing_device.rsplit(":", 2)
        return {"CPU": 1, "GPU": 2}[kind], int(index)


def from_dlpack(x: Any, device: str) -> Tensor:
    """Tensor that shares the memory of `x`, which must be aligned.

    TensorFlow does not check the alignment; without it the next op aborts.
    """
    return _from_dlpack(x.__dlpack__())


def to_device(x: Tensor, device: str) -> Tensor:
    """`x` on `device`; `x` itself if it is there already."""
    if not is_traced(x) and x.backing_device.removeprefix(_HERE) == device:
        return x
    with tf.device(device):
        return ops.Identity(x)


def scalar(value: complex, dtype: Any, device: str) -> Tensor:
    """0-d tensor, valid eagerly and in every graph."""
    return lasting(np.asarray(value, dtype.as_numpy_dtype), device)


def scoped(function: Callable[..., Any], device: str) -> Callable[..., Any]:
    """`function`, run on `device`."""
    if device == _default_device():
        return function

    @functools.wraps(function)
    def on_device(*args: Any, **kwargs: Any) -> Any:
        with tf.device(device):
            return function(*args, **kwargs)

    return on_device


def synchronize(x: Tensor) -> None:
    """Block until `x` is computed."""
    if is_traced(x):
        return
    if "CPU" in x.backing_device:
        to_numpy(x)  # waits for this one tensor: 1 us; a sync of all devices takes 60
    else:
        tf.test.experimental.sync_devices()


def may_wait(*xs: Tensor) -> bool:
    """Whether all have values, and no tape records what comes of them."""
    return not may_be_differentiated(*xs)


outside_traces: Final = tf.init_scope


def is_leak(error: BaseException) -> bool:
    """Whether TensorFlow raised `error` for a tensor used outside its graph.

    Such a tensor is symbolic. TensorFlow raises several classes for it, so we compare the message.
    """
    return "is out of scope and cannot be used here" in str(error)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device ran out of memory."""
    return isinstance(error, (MemoryError, tf.errors.ResourceExhaustedError))


def memory(device: str) -> tuple[None, None, int | None]:
    """TensorFlow says what its tensors take of an accelerator."""
    name = tf.DeviceSpec.from_string(device)
    if name.device_type == "CPU":
        return None, None, None
    return None, None, tf.config.experimental.get_memory_info(f"{name.device_type}:{name.device_index}")["current"]


def refusal_of(error: Any) -> str | None:
    """TensorFlow's message about an argument; None for any other error.

    The names of the node and the op are removed.
    """
    if not isinstance(error, _REFUSALS):
        return None
    return _NAMES.sub("", str(error.message).partition("\n")[0])


_REFUSALS: Final = (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError, tf.errors.NotFoundError)
_NAMES: Final = re.compile(r"\{\{function_node .*?\}\} ?| \[Op:.*")
