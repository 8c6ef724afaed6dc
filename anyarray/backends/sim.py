"""A simulated accelerator: computes with NumPy, but in device memory.

The host cannot read its arrays without a transfer, and each operation and transfer advances a virtual clock, by the
figures of a `Machine`. So transfers and the choice of a backend are tested without a GPU, with the same result
on every machine. `anyarray.testing` is the public interface.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from anyarray._base import dtypes
from anyarray.backends import numpy as host

Native = Any


@dataclass
class Machine:
    """The simulated machine, and its virtual clock."""

    launch: float = 5e-6
    """Overhead of each operation, in seconds."""
    speed: float = 1e10
    """Elements that an operation processes per second."""
    latency: float = 1e-5
    """Overhead of each transfer, in seconds."""
    bandwidth: float = 1e10
    """Bytes that a transfer copies per second."""
    is_read_only: bool = False
    """Whether arrays are immutable, as in JAX and TensorFlow: a write never happens in place."""
    is_float32_only: bool = False
    """Whether float64 and complex128 are missing, as on some accelerators."""
    memory: float = math.inf
    """The maximum size of a result, in bytes, and of what is kept for later ones."""
    factors: Mapping[str, float] = field(default_factory=dict[str, float])
    """Factors by which operations are slower than others, by NumPy's name of the function."""
    seconds: float = 0.0
    """The virtual clock."""
    operations: int = 0
    """Number of operations."""
    transfers: int = 0
    """Number of transfers to and from the host."""
    kept: int = 0
    """Bytes of `memory` that the library keeps of freed arrays, until it is told to free them."""

    def work(self, function: str, elements: int) -> None:
        """Count an operation on a number of elements."""
        self.seconds += self.factors.get(function, 1.0) * (self.launch + elements / self.speed)
        self.operations += 1

    def move(self, nbytes: int) -> None:
        """Count a transfer of a number of bytes."""
        self.seconds += self.latency + nbytes / self.bandwidth
        self.transfers += 1


machine: Machine = Machine()
"""The current machine; `anyarray.testing.simulated` sets another."""


EXTENSION_DEVICE: Final = 12
"""DLPack's device type for devices that it does not list."""


class SimArray:
    """An array in simulated device memory. NumPy and Python cannot read it."""

    __slots__ = ("__weakref__", "_memory", "device")

    def __init__(self, memory: np.ndarray[Any, Any], device: int) -> None:
        # Always a new view: so all arrays of one buffer have the same `base`, whose reference count is their number.
        self._memory = memory.view()
        self.device = device

    @property
    def shape(self) -> tuple[int, ...]:
        return self._memory.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._memory.dtype

    @property
    def ndim(self) -> int:
        return self._memory.ndim

    @property
    def base(self) -> np.ndarray[Any, Any] | None:
        """The array whose memory this is a view of, as in NumPy."""
        return self._memory.base

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        raise TypeError(
            "an array in device memory cannot be read by the host. Bring it over: xp.to_native(x, like='numpy')"
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return EXTENSION_DEVICE, self.device

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("simulated device memory has no DLPack capsule. Bring it over: x.to_device('numpy')")

    def __repr__(self) -> str:
        return f"SimArray(shape={self.shape}, dtype={self.dtype}, device={self.device})"


ARRAY_TYPES: Final = (SimArray,)

_WIDE: Final = ("float64", "complex128")


def devices() -> dict[str, list[int]]:
    return {"gpu": [0, 1]}


def device_of(x: SimArray, /) -> int:
    return x.device


def native_dtype(name: str, /) -> np.dtype[Any]:
    if machine.is_float32_only and name in _WIDE:
        raise KeyError(name)
    return dtypes.KNOWN[name].dtype


def to_numpy(x: SimArray, /) -> np.ndarray[Any, Any]:
    machine.move(x._memory.nbytes)
    copy = x._memory.copy()
    copy.flags.writeable = False
    return copy


def from_numpy(a: np.ndarray[Any, Any], device: int, /) -> SimArray:
    _refuse_wide(a.dtype)
    _require(a.nbytes)
    machine.move(a.nbytes)
    return SimArray(host.from_numpy(a, "cpu"), device)


def memory(device: int, /) -> tuple[int | None, int | None, int]:
    if math.isinf(machine.memory):
        return None, None, machine.kept
    return int(machine.memory), int(machine.memory) - machine.kept, machine.kept


def free_memory() -> int:
    freed, machine.kept = machine.kept, 0
    return freed


def to_device(x: SimArray, device: int, /) -> SimArray:
    machine.move(x._memory.nbytes)
    return SimArray(x._memory.copy(), device)


def scalar(value: complex, dtype: np.dtype[Any], device: int, /) -> SimArray:
    return SimArray(host.scalar(value, dtype, "cpu"), device)


def exported(x: SimArray, /) -> SimArray:
    return SimArray(x._memory.copy(), x.device)


duplicate = exported


def synchronize(x: SimArray, /) -> None:
    """Does nothing, as no operation is asynchronous."""


class OutOfMemoryError(MemoryError):
    """The device has no memory for a result."""


def _require(nbytes: int) -> None:
    free = machine.memory - machine.kept
    if nbytes > free:
        raise OutOfMemoryError(f"allocating {nbytes} bytes, of {free} that are free")


def _refuse_wide(dtype: np.dtype[Any]) -> None:
    if machine.is_float32_only and dtype.name in _WIDE:
        raise TypeError(f"this device has no {dtype}")


class _Namespace:
    """Every function of the NumPy backend, over `SimArray`."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(host, name, None)
        for chapter in (np.linalg, np.fft, np):  # in the order of the registry, as `np.trace` takes the first two axes
            function = function if callable(function) else getattr(chapter, name, None)
        if name.startswith("__") or not callable(function):
            raise AttributeError(name)
        return function


namespace: Final = _Namespace()
PROMOTES: Final = True


def scoped(function: Callable[..., Any], device: int, /) -> Callable[..., Any]:
    """`function` of ndarrays, as one of arrays on `device`, with the clock."""

    @functools.wraps(function)
    def simulated(*args: Any, **kwargs: Any) -> Any:
        if "device" in kwargs:
            kwargs["device"] = "cpu"
        result = function(*_unwrapped(args), **{name: _unwrapped(one) for name, one in kwargs.items()})
        machine.work(function.__name__, max([math.prod(x.shape) for x in _arrays((args, result))], default=0))
        return _wrapped(result, device)

    return simulated


def setitem(x: Any, key: Any, value: Any, exclusive: bool, /) -> Any:
    return host.setitem(x, key, value, exclusive and not machine.is_read_only)


getitem = host.getitem


def _unwrapped(value: Any) -> Any:
    if isinstance(value, SimArray):
        return value._memory
    if isinstance(value, (tuple, list)):
        return type(value)(_unwrapped(one) for one in value)
    return value


def _wrapped(value: Any, device: int) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        _refuse_wide(value.dtype)
        _require(value.nbytes)
        return SimArray(np.asarray(value), device)
    if isinstance(value, (tuple, list)):
        return tuple(_wrapped(one, device) for one in value)
    return value


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, (SimArray, np.ndarray, np.generic)):
        return [value]
    return [x for one in value for x in _arrays(one)] if isinstance(value, (tuple, list)) else []
