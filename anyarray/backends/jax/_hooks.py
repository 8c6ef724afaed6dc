"""The backend contract beyond the standard, but transforms and indexing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters.partial_eval import DynamicJaxprTracer

from anyarray._memory import alignment
from anyarray.backends._shared import carrier
from anyarray.backends.jax import _mesh
from anyarray.backends.jax._kernel import NATIVE, Native
from anyarray.backends.jax._seldom import is_rare

__all__ = [
    "ARRAY_TYPES", "IS_IMMUTABLE", "address", "adopt", "device_of", "devices", "dtype_of", "duplicate", "exported",
    "from_dlpack", "from_numpy", "is_deleted", "is_leak", "is_out_of_memory", "is_traced", "may_wait", "memory",
    "namespace", "native_dtype", "outside_traces", "plain", "read_in_place", "result_dtype", "scalar", "shape_of",
    "synchronize", "to_device", "to_numpy",
]  # fmt: skip

namespace = jnp
ARRAY_TYPES: Final = (jax.Array, jax.core.Tracer)
IS_IMMUTABLE: Final = True


def devices() -> dict[str, list[Any]]:
    """The devices of this process by kind, best kind first."""
    found: dict[str, list[Any]] = {}
    for kind in ("gpu", "tpu", "cpu"):
        try:
            found[kind] = jax.local_devices(backend=kind)
        except RuntimeError:  # JAX raises it for a platform that it was built without or does not find
            continue
    return found


def device_of(x: Native) -> Any:
    """Device of `x`, or the layout of its mesh; JAX's default for a tracer."""
    if isinstance(x, jax.core.Tracer):
        return _default_device()
    return _mesh.layout_of(x) or next(iter(x.devices()))


@functools.cache
def _default_device() -> Any:
    return jax.local_devices()[0]


def native_dtype(name: str) -> Any:
    """The NumPy dtype, which JAX uses as its own."""
    return NATIVE[name]


def dtype_of(x: Native) -> Any:
    """The dtype of `x`."""
    return x.dtype


def shape_of(x: Native) -> tuple[int | None, ...]:
    """Shape of `x`; None for symbolic dimensions, as from `jax.export`."""
    shape: tuple[Any, ...] = x.shape
    for length in shape:
        if type(length) is not int:
            return tuple(length if isinstance(length, int) else None for length in shape)
    return shape


def is_traced(x: Native) -> bool:
    """Whether `x` is a tracer."""
    return isinstance(x, jax.core.Tracer)


def to_numpy(x: Native) -> np.ndarray[Any, Any]:
    """The values of `x`, read-only: a view on the CPU, else a copy."""
    if not isinstance(x, jax.core.Tracer) and not x.is_fully_addressable:
        return _mesh.gathered(x)
    if x.size > _LARGE:
        synchronize(x)
        if x.nbytes >= carrier.LARGE and not isinstance(x, jax.core.Tracer) and len(x.devices()) == 1:
            number = _gpu(device_of(x))
            carried = None if number is None else carrier.to_host("jax", x, x.dtype, x.nbytes, number)
            if carried is not None:
                return carried
    return np.asarray(x)


def _gpu(device: Any) -> int | None:
    """The number of a GPU on this machine; None for other devices."""
    if isinstance(device, _mesh.Layout) or device.platform != "gpu":
        return None
    return int(device.local_hardware_id)


read_in_place: Final = to_numpy

_LARGE: Final = 1 << 16
"""Threshold in elements above which we block until an array is ready, then read it.

If its allocation failed, blocking raises. Reading it without blocking aborts the process.
"""


def from_numpy(a: np.ndarray[Any, Any], device: Any) -> Native:
    """A copy of `a`, in its dtype, on `device`."""
    if a.nbytes >= carrier.LARGE:
        number = _gpu(device)
        take = functools.partial(_taken, device=device)
        carried = None if number is None else carrier.to_device("jax", a, number, take)
        if carried is not None:
            return carried
    # JAX reads its source later, in another thread, and may alias it as the array's buffer; `copy=True` and
    # `may_alias=False` do not prevent that. So we pass a copy that nothing else can write to.
    return lent(alignment.copied(a), device)


def lent(a: np.ndarray[Any, Any], device: Any) -> Native:
    """`a` on `device`, perhaps aliased: nothing may write to `a` any more."""
    if isinstance(device, _mesh.Layout):
        with jax.enable_x64(True):
            return jax.device_put(a, device.sharding(a.shape))
    with jax.enable_x64(True), jax.default_device(device):
        if a.nbytes <= _SMALL and not is_rare((_identity, a.shape, a.dtype), _TRANSFER):
            return placed(_identity(a), device)
        # Committed to a device only where needed, see `placed`: functions recompile for committed arrays.
        return jax.device_put(a, None if device == _default_device() else device)


@functools.partial(jax.jit, inline=True)
def _identity(a: Native) -> Native:
    return a


_SMALL: Final = 1 << 16
"""Bytes up to which a compiled identity is faster than `jax.device_put`: 9 us for a few elements."""
_TRANSFER: Final = 100
"""Microseconds of `jax.device_put` of a few elements."""


def plain(x: Native) -> Native:
    """`x`, but copied if it is a tracer of 64-bit NumPy values.

    Outside our scope JAX recorded an abstract value of 32 bits for it; the copy has that dtype.
    """
    if isinstance(x, jax.core.Tracer) and not isinstance(x, DynamicJaxprTracer) and not jax.config.jax_enable_x64:
        return jnp.copy(x)
    return x


def duplicate(x: Native) -> Native:
    """A copy that stays valid when `x` is donated or deleted."""
    with jax.enable_x64(True):
        return jnp.array(x, copy=True)


def is_deleted(x: Native) -> bool:
    """Whether the buffer of `x` was deleted, as by donation to a call."""
    return bool(x.is_deleted())


def address(x: Native) -> int | None:
    """Where the memory of `x` begins; None if it is in several places."""
    return int(x.unsafe_buffer_pointer()) if len(x.devices()) == 1 else None


def exported(x: Native) -> Native:
    """`x` itself: its DLPack capsule has the read-only flag."""
    if x.size > _LARGE:
        synchronize(x)
    return x


def from_dlpack(x: Any, device: Any) -> Native:
    """An array that aliases `x`; outside our scope JAX would round it."""
    return jax.dlpack.from_dlpack(EagerTensor(x) if type(x) is np.ndarray else x, copy=False)


def _taken(x: Any, device: Any) -> Native:
    """As `from_dlpack`, in our scope; ValueError if it is not on `device`."""
    with jax.enable_x64(True):
        taken = from_dlpack(x, device)
    if taken.devices() != {device}:
        raise ValueError(f"{taken.devices()} is not {device}")
    return taken


class EagerTensor:
    """An ndarray in a class with the name of TensorFlow's tensors.

    `jax.dlpack.from_dlpack` looks up a stream for all others. On a CPU that raises inside JAX and takes 10 of 24 us.
    """

    __module__ = "tensorflow.python.framework.ops"
    __slots__ = ("_a",)

    def __init__(self, a: np.ndarray[Any, Any]) -> None:
        self._a = a

    def __dlpack__(self, **options: Any) -> Any:
        return self._a.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._a.__dlpack_device__()


def to_device(x: Native, device: Any) -> Native:
    """`x` itself if it is on `device` already, else a copy there."""
    if isinstance(device, _mesh.Layout):
        return _mesh.laid_out(x, device)
    if not isinstance(x, jax.core.Tracer) and not x.is_fully_addressable:
        return lent(_mesh.gathered(x), device)
    # device_put to the same device returns a second array with the same buffer; donating either would delete both.
    if isinstance(x, jax.core.Tracer) or x.devices() != {device}:
        with jax.enable_x64(True):
            return jax.device_put(x, device)
    return x


def placed(x: Native, device: Any) -> Native:
    """`x`, new on the scope's default device, committed to `device`."""
    # Arrays on JAX's own default device stay uncommitted, as `jnp` makes them: committing takes 30 us, and JAX
    # raises where committed arrays on different devices are mixed. In a trace, the trace decides the device.
    if device is None or device == _default_device() or isinstance(x, jax.core.Tracer):
        return x
    return jax.device_put(x, device.sharding(x.shape) if isinstance(device, _mesh.Layout) else device)


def scalar(value: bool | int | float | complex, dtype: Any, device: Any) -> Native:
    """0-d array; concrete even inside a trace, so that it can be cached."""
    with jax.ensure_compile_time_eval():
        return from_numpy(np.asarray(value, dtype), device)


def synchronize(x: Native) -> None:
    """Block until `x` is computed."""
    if not isinstance(x, jax.core.Tracer):
        x.block_until_ready()


def may_wait(*xs: Native) -> bool:
    """Whether all have values."""
    for x in xs:  # noqa: SIM110 - any() takes longer
        if isinstance(x, jax.core.Tracer):
            return False
    return True


outside_traces: Final = jax.ensure_compile_time_eval


def result_dtype(function: Callable[..., Native], *xs: Any) -> Any:
    """The dtype of what a function returns; nothing is compiled."""
    static = xs[1:] if not all(isinstance(x, jax.Array) for x in xs) else ()  # the dtype for `astype`
    given = xs[: len(xs) - len(static)]
    with jax.enable_x64(True):
        return jax.eval_shape(lambda *arrays: function(*arrays, *static), *given).dtype


def is_leak(error: BaseException) -> bool:
    """Whether JAX reports a leaked tracer: one used after its transform."""
    return isinstance(error, jax.errors.UnexpectedTracerError)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device ran out of memory.

    JAX has one class for all errors of XLA; the message begins with the status code.
    """
    return isinstance(error, jax.errors.JaxRuntimeError) and (
        "RESOURCE_EXHAUSTED" in str(error) or "Out of memory" in str(error)  # the latter on a CPU
    )


def memory(device: Any) -> tuple[None, None, int | None]:
    """JAX says what it holds of an accelerator, not what others do."""
    told = {} if isinstance(device, _mesh.Layout) else device.memory_stats() or {}
    return None, None, told.get("pool_bytes", told.get("bytes_in_use"))


def adopt(kind: type, unwrap: Callable[[Any], Native], wrap: Callable[[Native], Any]) -> None:
    """Register `kind` as a pytree node with one leaf and no auxiliary data."""
    key = jax.tree_util.GetAttrKey("native")
    jax.tree_util.register_pytree_with_keys(
        kind,
        lambda instance: (((key, unwrap(instance)),), None),
        lambda _, leaves: wrap(leaves[0]),  # type: ignore[index, unused-ignore]
        lambda instance: ((unwrap(instance),), None),
    )
