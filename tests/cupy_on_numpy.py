"""A stand-in for CuPy on the host.

Its functions are NumPy's; kernels written for CuPy are compiled by g++. So the backend of CuPy is tested without a GPU.
`installed()` puts it in place of CuPy until a block ends; `pytest -p cupy_on_numpy --backends cupy` runs tests on it.
It is right where NumPy is, and as careless as CuPy about indices: they wrap around the length of their axis, and of
values written to one place any may remain, here the first.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import importlib.machinery
import math
import re
import subprocess
import sys
import tempfile
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

_queue: list[Callable[[], None]] = []
"""What the stream is still to do: it copies from pinned memory when somebody waits, as late as can be."""
_done = 0
"""How much of the queue was ever done."""


def enqueue(work: Callable[[], None]) -> None:
    """Have the device do something after all that it is to do."""
    _queue.append(work)


def _run(until: float = math.inf) -> None:
    global _done
    while _queue and _done < until:
        _done += 1
        _queue.pop(0)()


class Memory:
    """Memory that CuPy has allocated."""


class UnownedMemory:
    """Memory of another library."""

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        self.ptr, self.size, self._owner, self.device_id = ptr, size, owner, device_id


class MemoryPointer:
    def __init__(self, mem: Any, offset: int) -> None:
        self.mem, self.ptr = mem, getattr(mem, "ptr", 0) + offset

    def __add__(self, offset: int) -> MemoryPointer:
        moved = MemoryPointer(self.mem, 0)
        moved.ptr = self.ptr + offset
        return moved

    def copy_from_host_async(self, mem: int, size: int, stream: Any = None) -> None:
        """Take pageable memory over at once, pinned memory in its turn."""
        assert stream is _stream
        is_pinned = any(one.ptr <= mem < one.ptr + one.size for one in _pinned)
        values = None if is_pinned else ctypes.string_at(mem, size)
        enqueue(lambda: void(ctypes.memmove(self.ptr, mem if values is None else values, size)))


def void(_: Any) -> None: ...


class Stream:
    def synchronize(self) -> None:
        _run()


_stream: Final = Stream()


class Event:
    def __init__(self, disable_timing: bool = False) -> None:
        self.place = 0

    def record(self, stream: Stream) -> None:
        self.place = _done + len(_queue)

    def synchronize(self) -> None:
        _run(self.place)


_pinned: Final[weakref.WeakSet[PinnedMemory]] = weakref.WeakSet()
limits: Final = {"pinned": 1 << 40}
"""Bytes of pinned memory that the host has."""


class PinnedMemory:
    """Memory of the host that the device reads and writes by itself."""

    def __init__(self, size: int) -> None:
        if size + sum(one.size for one in _pinned) > limits["pinned"]:
            raise CUDARuntimeError("cudaErrorMemoryAllocation: out of memory")
        self.size, self._buffer = size, (ctypes.c_uint8 * size)()
        self.ptr = ctypes.addressof(self._buffer)
        _pinned.add(self)


def PinnedMemoryPointer(mem: Any, offset: int) -> Any:  # noqa: N802 - CuPy's name
    """An object with a buffer, which a class of Python can be from 3.12 on."""
    pointer = type("PinnedMemoryPointer", (ctypes.c_uint8 * (mem.size - offset),), {}).from_address(mem.ptr + offset)
    pointer.mem, pointer.ptr = mem, mem.ptr + offset
    return pointer


class _Pooled:
    def __init__(self, mem: Any, free: list[Any]) -> None:
        self.ptr, self.size, self._mem, self._free = mem.ptr, mem.size, mem, free

    def __del__(self) -> None:
        self._free.append(self._mem)


class PinnedMemoryPool:
    """Keeps what was freed, by powers of two."""

    def __init__(self, allocator: Callable[[int], Any] | None = None) -> None:
        self._allocator = allocator or (lambda size: PinnedMemoryPointer(PinnedMemory(size), 0))
        self._free: dict[int, list[Any]] = {}

    def malloc(self, size: int) -> Any:
        size = 1 << (max(size, 512) - 1).bit_length()
        free = self._free.setdefault(size, [])
        return PinnedMemoryPointer(_Pooled(free.pop() if free else self._allocator(size).mem, free), 0)

    def free_all_blocks(self) -> None:
        for free in self._free.values():
            free.clear()


class MemoryPool:
    def total_bytes(self) -> int:
        return 0

    def free_all_blocks(self) -> None: ...


class Device:
    def __init__(self, number: int | None = None) -> None:
        self.id = number or 0

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None: ...

    def synchronize(self) -> None:
        _run()


class ndarray(np.ndarray):  # noqa: N801 - CuPy's name
    """An array "on the device": NumPy reads it only by `cupy.asnumpy`."""

    __module__ = "cupy"  # by which Dask knows it
    __array_priority__ = 100
    device = Device()

    def __new__(cls, shape: Any, dtype: Any = float, memptr: Any = None, **_: Any) -> Any:
        if memptr is None:
            return _empty(shape, dtype)
        count = int(np.prod(shape)) * np.dtype(dtype).itemsize
        made = super().__new__(cls, shape, dtype, (ctypes.c_uint8 * count).from_address(memptr.ptr))
        made._memptr = memptr
        return made

    @property  # type: ignore[override]  # CuPy's has a pointer
    def data(self) -> MemoryPointer:
        found = vars(self).get("_memptr")
        return MemoryPointer(Memory(), self.ctypes.data) if found is None else found

    def __getitem__(self, key: Any) -> Any:
        return made(super().__getitem__(self._wrapped(key)))

    def __setitem__(self, key: Any, value: Any) -> None:
        key = self._wrapped(key)
        entries = key if type(key) is tuple else (key,)
        if any(isinstance(one, np.ndarray) and one.dtype.kind in "iu" and one.ndim for one in entries):
            host = self.view(np.ndarray)
            places = np.arange(host.size).reshape(host.shape)[key]
            values = np.broadcast_to(np.asarray(value), places.shape).astype(self.dtype)
            host.flat[places.reshape(-1)[::-1]] = values.reshape(-1)[::-1]
        else:
            super().__setitem__(key, value)

    def _wrapped(self, key: Any) -> Any:
        entries, axis, wrapped = key if type(key) is tuple else (key,), 0, []
        for one in entries:
            count = one.ndim if isinstance(one, np.ndarray) and one.dtype == bool else int(one is not None)
            if one is Ellipsis:
                rest = entries[len(wrapped) + 1 :]
                used = [k.ndim if isinstance(k, np.ndarray) and k.dtype == bool else int(k is not None) for k in rest]
                axis = self.ndim - sum(used)
            elif isinstance(one, np.ndarray) and one.dtype.kind in "iu":
                length = self.shape[axis]
                one = one.view(np.ndarray).astype(np.int64) % length if length else one.view(np.ndarray)
                axis += 1
            else:
                one = one.view(np.ndarray) if isinstance(one, np.ndarray) else one
                axis += count
            wrapped.append(one)
        return tuple(wrapped) if type(key) is tuple else wrapped[0]

    def get(self, out: Any = None) -> Any:
        _run()
        if out is None:
            return np.array(self.view(np.ndarray))
        assert (out.dtype, out.shape) == (self.dtype, self.shape)
        assert out.flags.c_contiguous
        np.copyto(out, self.view(np.ndarray))
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return of_numpy(func)(*args, **kwargs)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return made(array)


def made(result: Any) -> Any:
    """What CuPy returns for NumPy's result: arrays, no scalars."""
    if isinstance(result, (np.ndarray, np.generic)) and not isinstance(result, ndarray):
        return np.asarray(result).view(ndarray)
    if isinstance(result, tuple):
        parts = [made(one) for one in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return [made(one) for one in result] if isinstance(result, list) else result


def of_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        _run()
        with np.errstate(all="ignore"):
            return made(function(*map(_plain, args), **{name: _plain(one) for name, one in kwargs.items()}))

    called.__name__ = getattr(function, "__name__", "function")
    return called


def _plain(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value.view(np.ndarray)
    if type(value) in (tuple, list):
        return type(value)(map(_plain, value))
    return value


_C: Final = {
    "bool": "bool", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "long long", "uint8": "uint8_t",
    "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "unsigned long long", "float16": "_Float16",
    "float32": "float", "float64": "double", "complex64": "std::complex<float>", "complex128": "std::complex<double>",
}  # fmt: skip
_COMPLEX: Final = "#include <complex>\n"
"""What the compiler reads longest, for kernels of complex numbers alone."""
_HEAD: Final = """
#include <cmath>
#include <cstdint>
#include <limits>
using namespace std;
template <class T> T atomicMax(T* at, T value) { T before = *at; if (value > before) *at = value; return before; }
"""
_FOLDER: Final = Path(tempfile.gettempdir()) / "anyarray-kernels"


class _Parameter:
    def __init__(self, text: str) -> None:
        *words, self.name = text.split()
        self.is_raw, self.type = "raw" in words, words[-1]


def _parameters(text: str) -> list[_Parameter]:
    return [_Parameter(one) for one in text.split(",") if one.strip()]


class ElementwiseKernel:
    """A kernel of CuPy's, whose text is compiled for the host."""

    def __init__(self, in_params: str, out_params: str, operation: str, name: str = "kernel", **options: Any) -> None:
        assert set(options) <= {"preamble", "no_return", "options"}
        self.ins, self.outs, self.operation = _parameters(in_params), _parameters(out_params), operation

    def __call__(self, *args: Any, size: int | None = None) -> Any:
        values = [_plain(one) for one in args]
        parameters = self.ins + self.outs
        types = self._types(parameters, values)
        shapes = [np.shape(v) for one, v in zip(parameters, values, strict=False) if not one.is_raw]
        shape = np.broadcast_shapes(*shapes) if shapes else (size or 0,)
        arrays, kept = [], []
        for k, one in enumerate(parameters):
            dtype = types[one.type] if one.type in types else np.dtype(one.type)
            if k < len(values):
                v = np.asarray(values[k], None if isinstance(values[k], np.ndarray) else dtype)
                assert v.dtype == dtype or one.type in types, f"{one.name} has dtype {v.dtype}"
                if k >= len(self.ins):
                    assert v.dtype == dtype and v.flags.c_contiguous and (one.is_raw or v.shape == shape)
                    arrays.append(v)
                else:
                    v = v if one.is_raw else np.broadcast_to(v, shape)
                    arrays.append(np.ascontiguousarray(v, dtype).reshape(-1) if v.ndim else np.array([v], dtype))
                    if v.ndim == 0 and not one.is_raw:
                        arrays[-1] = np.full(shape, v, dtype)
            else:
                assert not one.is_raw
                arrays.append(np.empty(shape, dtype))
            if k >= len(self.ins):
                kept.append(values[k] if k < len(values) else arrays[-1])
        lines = []
        for k, one in enumerate(parameters):
            const = "const " if k < len(self.ins) else ""
            kind = _C.get(one.type, one.type)
            lines.append(f"{const}{kind}* _{k} = ({kind}*)p[{k}];")
        inner = []
        for k, one in enumerate(parameters):
            kind = _C.get(one.type, one.type)
            if one.is_raw:
                inner.append(f"{'const ' if k < len(self.ins) else ''}{kind}* {one.name} = _{k};")
            else:
                inner.append(f"{'const ' if k < len(self.ins) else ''}{kind}& {one.name} = _{k}[i];")
        body = "\n".join([*lines, "for (long long i = 0; i < n; i++) {", *inner, self.operation + ";", "}"])
        self._run(self._compiled(types, body), int(np.prod(shape)), arrays)
        results = [args[k] if k < len(args) else made(arrays[k]) for k in range(len(self.ins), len(parameters))]
        return results[0] if len(results) == 1 else tuple(results)

    def _types(self, parameters: list[_Parameter], args: list[Any]) -> dict[str, np.dtype[Any]]:
        types: dict[str, np.dtype[Any]] = {}
        for one, arg in zip(parameters, args, strict=False):
            if one.type in _C:
                types[one.type] = np.dtype(one.type)
            elif isinstance(arg, (np.ndarray, np.generic)):
                assert types.setdefault(one.type, arg.dtype) == arg.dtype, f"{one.type} has two dtypes"
        for one, arg in zip(parameters, args, strict=False):
            types.setdefault(one.type, np.asarray(arg).dtype)
        return types

    def _compiled(self, types: dict[str, np.dtype[Any]], body: str) -> Callable[..., None]:
        aliases = "".join(f"typedef {_C[d.name]} {name};\n" for name, d in types.items() if name not in _C)
        head = _COMPLEX + _HEAD if "complex" in aliases + body else _HEAD
        source = f'{head}{aliases}extern "C" void run(long long n, void** p) {{\n{body}\n}}\n'
        _FOLDER.mkdir(exist_ok=True)
        library = _FOLDER / f"{hashlib.sha1(source.encode()).hexdigest()}.so"
        if not library.exists():
            made_here = library.with_suffix(f".{id(self)}.so")
            command = ["g++", "-O1", "-std=c++17", "-ffp-contract=off", "-shared", "-fPIC", "-x", "c++", "-"]
            subprocess.run([*command, "-o", str(made_here)], input=source.encode(), check=True)
            made_here.replace(library)
        return ctypes.CDLL(str(library)).run  # type: ignore[no-any-return]

    def _run(self, function: Callable[..., None], n: int, arrays: list[Any]) -> None:
        pointers = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
        function(ctypes.c_longlong(n), pointers)


def _empty(shape: Any, dtype: Any = float, **_: Any) -> Any:
    """New memory, aligned as that of a device."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.full(size + 512, 0xAB, np.uint8)
    start = -memory.ctypes.data % 512
    return memory[start : start + size].view(dtype).reshape(shape).view(ndarray)


def _asnumpy(a: Any, out: Any = None) -> Any:
    return a.get(out) if isinstance(a, ndarray) else np.array(a)


def _array(obj: Any, dtype: Any = None, copy: bool = True, order: str = "K", ndmin: int = 0, **_: Any) -> Any:
    obj = _plain(obj)
    return made(np.array(obj, dtype) if copy else np.asarray(obj, dtype))


def _take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> Any:
    return made(np.take(_plain(a), _plain(indices), axis, mode="wrap"))


def _take_along_axis(a: Any, indices: Any, axis: Any = None) -> Any:
    a, indices = _plain(a), _plain(indices)
    return made(np.take_along_axis(a, indices.astype(np.int64) % max(a.shape[axis], 1), axis))


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return made(np.searchsorted(_plain(a), _plain(v), side, _plain(sorter)))


@contextlib.contextmanager
def _errstate(**_: Any) -> Iterator[None]:
    yield


class CUDARuntimeError(RuntimeError): ...


_default_pool: Final = PinnedMemoryPool()


def modules() -> dict[str, ModuleType]:
    """The modules of the stand-in by name."""
    cupy, cupyx, cuda = (ModuleType(name) for name in ("cupy", "cupyx", "cupy.cuda"))
    linalg, fft = ModuleType("cupy.linalg"), ModuleType("cupy.fft")
    for source, target in ((np, cupy), (np.linalg, linalg), (np.fft, fft)):
        for name in dir(source):
            value = getattr(source, name)
            if name.startswith("_") or isinstance(value, ModuleType):
                continue
            is_function = callable(value) and not isinstance(value, type)
            setattr(target, name, of_numpy(value) if is_function else value)
    stride_tricks = types.SimpleNamespace(as_strided=of_numpy(np.lib.stride_tricks.as_strided))
    cupy.__version__ = "14.2.0"  # type: ignore[attr-defined]
    own = {
        "ndarray": ndarray, "ElementwiseKernel": ElementwiseKernel, "cuda": cuda,
        "linalg": linalg, "fft": fft, "asnumpy": _asnumpy, "take": _take, "empty": _empty,
        "from_dlpack": lambda x: made(np.from_dlpack(x)), "get_default_memory_pool": MemoryPool,
        "get_default_pinned_memory_pool": lambda: _default_pool, "array": _array,
        "asarray": lambda obj, dtype=None, **_: _array(obj, dtype, copy=False),
        "argsort": lambda a, axis=-1, kind=None: made(np.argsort(_plain(a), axis, kind="stable")),
        "take_along_axis": _take_along_axis, "searchsorted": _searchsorted,
        "lib": types.SimpleNamespace(stride_tricks=stride_tricks),
    }  # fmt: skip
    vars(cupy).update(own)
    del cupy.vecdot  # type: ignore[attr-defined]
    runtime = ModuleType("cupy.cuda.runtime")
    free = total = 1 << 30
    vars(runtime).update(
        getDeviceCount=lambda: 1, CUDARuntimeError=CUDARuntimeError, memGetInfo=lambda: (free, total), is_hip=False
    )
    plans = types.SimpleNamespace(get_plan_cache=lambda: types.SimpleNamespace(clear=lambda: None))
    vars(fft).update(config=plans)
    memory = ModuleType("cupy.cuda.memory")
    vars(memory).update(PooledMemory=Memory, Memory=Memory, ManagedMemory=Memory, MemoryAsync=Memory)
    device = ModuleType("cupy.cuda.device")
    vars(device).update(Device=Device)
    vars(cuda).update(
        Device=Device, device=device, runtime=runtime, memory=memory, Stream=Stream, Event=Event,
        get_current_stream=lambda: _stream, alloc_pinned_memory=lambda size: _default_pool.malloc(size),
        PinnedMemory=PinnedMemory, PinnedMemoryPointer=PinnedMemoryPointer, PinnedMemoryPool=PinnedMemoryPool,
        UnownedMemory=UnownedMemory, MemoryPointer=MemoryPointer,
    )  # fmt: skip
    vars(cupyx).update(errstate=_errstate)
    found = {one.__name__: one for one in (cupy, cupyx, cuda, runtime, memory, device, linalg, fft)}
    for name, module in found.items():
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=name == "cupy")
        module.__path__ = []  # type: ignore[attr-defined]
    return found


def install() -> None:
    """Put the stand-in in place of CuPy for the rest of the process."""
    sys.modules.update(modules())


_OF_CUPY: Final = re.compile(r"cupyx?(\.|$)|array_api_compat\.cupy|anyarray\.backends\.cupy(\.|$)")


@contextlib.contextmanager
def installed() -> Iterator[Any]:
    """Context manager: the backend's module, with the stand-in as CuPy."""
    before = {name: module for name, module in sys.modules.items() if _OF_CUPY.match(name)}
    for name in before:
        del sys.modules[name]
    install()
    try:
        yield importlib.import_module("anyarray.backends.cupy")
    finally:
        for name in [name for name in sys.modules if _OF_CUPY.match(name)]:
            del sys.modules[name]
        sys.modules.update(before)


if "-p" in sys.argv and "cupy_on_numpy" in sys.argv:
    install()
