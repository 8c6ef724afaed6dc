"""CuPy by array-api-compat, plus what the standard or value semantics ask.

Memory of CuPy is mutable, so an Array is copied on write unless it alone holds its ndarray. A CuPy function
runs on the current CUDA device; with more than one, each call enters its own.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Final

import cupy
import numpy as np
from array_api_compat import cupy as namespace

from anyarray import _dtypes
from anyarray.backends._refusals import boolean, real_valued, refuse_complex

Native = Any
Axis = int | tuple[int, ...] | None

ARRAY_TYPES: Final = (cupy.ndarray,)
PROMOTES: Final = True


@functools.cache
def _device_count() -> int:
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0  # no driver, or one that is too old


def devices() -> dict[str, list[int]]:
    return {"gpu": list(range(_device_count()))}


def device_of(x: Native, /) -> int:
    return int(x.device.id)


def native_dtype(name: str, /) -> np.dtype[Any]:
    if name == "bfloat16":
        raise KeyError(name)
    return _dtypes.KNOWN[name].dtype


dtype_of = operator.attrgetter("dtype")
shape_of = operator.attrgetter("shape")


def scoped(function: Callable[..., Any], device: int, /) -> Callable[..., Any]:
    if _device_count() == 1:
        return function

    @functools.wraps(function)
    def on_device(*args: Any, **kwargs: Any) -> Any:
        with cupy.cuda.Device(device):
            return function(*args, **kwargs)

    return on_device


def synchronize(x: Native, /) -> None:
    x.device.synchronize()


def to_numpy(x: Native, /) -> np.ndarray[Any, Any]:
    return cupy.asnumpy(x)


def from_numpy(a: np.ndarray[Any, Any], device: int, /) -> Native:
    with cupy.cuda.Device(device):
        # Blocking, as the caller may write to `a` as soon as this returns.
        return cupy.array(a.astype(a.dtype.newbyteorder("="), copy=False), copy=True, order="C", blocking=True)


def to_device(x: Native, device: int, /) -> Native:
    with cupy.cuda.Device(device):
        return cupy.array(x, copy=True)


def scalar(value: complex, dtype: np.dtype[Any], device: int, /) -> Native:
    with cupy.cuda.Device(device):
        return cupy.asarray(value, dtype=dtype)


def exported(x: Native, /) -> Native:
    """A copy of `x`, as the consumer of a capsule could write to it.

    CuPy does not count the consumer as a holder of `x`.
    """
    return x.copy()


duplicate = exported


def from_dlpack(x: Any, device: int, /) -> Native:
    with cupy.cuda.Device(device):
        return cupy.from_dlpack(x)


getitem = operator.getitem


_memory = cupy.cuda.memory
_OWN_MEMORY: Final = (_memory.PooledMemory, _memory.Memory, _memory.ManagedMemory, _memory.MemoryAsync)
"""Classes of memory that CuPy allocated. In that of others, such as a DLPack capsule's, somebody else may read."""


def setitem(x: Native, key: Any, value: Native, exclusive: bool, /) -> Native:
    """`x` with `value` at `key`; in place only in memory it alone holds.

    A view, a buffer that somebody else holds and memory of another library are copied first.
    """
    if not (exclusive and type(x.data.mem) in _OWN_MEMORY):
        x = x.copy()
    x[key] = value
    return x


less, less_equal = real_valued(cupy.less), real_valued(cupy.less_equal)
greater, greater_equal = real_valued(cupy.greater), real_valued(cupy.greater_equal)
maximum, minimum = real_valued(cupy.maximum), real_valued(cupy.minimum)
logical_and, logical_or = boolean(cupy.logical_and), boolean(cupy.logical_or)
logical_xor, logical_not = boolean(cupy.logical_xor), boolean(cupy.logical_not)


def reciprocal(x: Native, /) -> Native:
    return cupy.reciprocal(x.astype(_dtypes.floating(x.dtype.name), copy=False))


def max(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
    refuse_complex(x)
    return cupy.max(x, axis=axis, keepdims=keepdims)


def min(x: Native, /, *, axis: Axis = None, keepdims: bool = False) -> Native:
    refuse_complex(x)
    return cupy.min(x, axis=axis, keepdims=keepdims)


def argmax(x: Native, /, *, axis: int | None = None, keepdims: bool = False) -> Native:
    refuse_complex(x)
    return cupy.argmax(x, axis=axis, keepdims=keepdims)


def argmin(x: Native, /, *, axis: int | None = None, keepdims: bool = False) -> Native:
    refuse_complex(x)
    return cupy.argmin(x, axis=axis, keepdims=keepdims)


def sort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    refuse_complex(x)
    return namespace.sort(x, axis=axis, descending=descending, stable=stable)


def argsort(x: Native, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    refuse_complex(x)
    return namespace.argsort(x, axis=axis, descending=descending, stable=stable)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: int | None = None) -> Native:
    return cupy.fft.fftfreq(n, d).astype(dtype, copy=False)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: int | None = None) -> Native:
    return cupy.fft.rfftfreq(n, d).astype(dtype, copy=False)


def eig(x: Native, /) -> tuple[Native, Native]:
    """CuPy's, but always complex, as dtypes must not depend on values."""
    values, vectors = cupy.linalg.eig(x)
    return _as_complex(values), _as_complex(vectors)


def eigvals(x: Native, /) -> Native:
    return _as_complex(cupy.linalg.eigvals(x))


def _as_complex(x: Native) -> Native:
    return x.astype(np.result_type(x.dtype, np.complex64), copy=False)
