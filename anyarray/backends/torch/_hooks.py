"""Functions that every backend must have and the standard does not."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from anyarray.backends.torch import _transfers
from anyarray.backends.torch._kernel import (
    NATIVE,
    NOTED,
    Native,
    derivatives,
    innermost_level,
    is_outside_traces,
    is_recorded,
    is_transformed,
    note,
    outside_traces,
)
from anyarray.backends.torch._mirrors import is_mirror
from anyarray.backends.torch._transfers import holders, lent

__all__ = [
    "ARRAY_TYPES", "HAS_VIEWS", "address", "as_strided", "base_of", "device_of", "devices", "dtype_of", "duplicate",
    "exported", "exported_from_numpy", "free_memory", "from_dlpack", "from_numpy", "has_graph", "holders",
    "is_differentiated", "is_in_place", "is_leak", "is_out_of_memory", "is_own", "is_replaced", "is_traced",
    "is_writable", "layout_of", "lengths_of", "lent", "may_wait", "memory", "native_dtype", "number", "outside_traces",
    "plain", "scalar", "shape_of", "synchronize", "to_device", "to_numpy",
]  # fmt: skip

ARRAY_TYPES: Final = (torch.Tensor,)
HAS_VIEWS: Final = True

_Tensor: Final = torch.Tensor
_PLAIN: Final = frozenset({torch.Tensor, torch.nn.Parameter})
_CPU: Final = torch.device("cpu")
_KINDS: Final = {"gpu": "cuda", "xpu": "xpu", "mps": "mps"}
"""PyTorch's names of kinds of devices but the CPU, best first."""


def devices() -> dict[str, list[Any]]:
    """The devices of this process by kind, best kind first."""
    found: dict[str, list[Any]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # builds for CUDA warn where its driver does not load
        for kind, name in _KINDS.items():
            module = getattr(torch, name, None)
            if module is not None and module.is_available():
                found[kind] = [torch.device(name, i) for i in range(module.device_count())]
    found["cpu"] = [_CPU]
    return found


def device_of(x: Native, /) -> Any:
    device = x.device
    return None if device.type == "meta" else device  # which `plain` refuses


def native_dtype(name: str, /) -> Any:
    return NATIVE[name]


dtype_of = operator.attrgetter("dtype")


def shape_of(x: Native, /) -> tuple[int | None, ...]:
    shape = lengths_of(x)
    for length in shape:
        if type(length) is not int:
            return tuple([one if type(one) is int else None for one in shape])
    return shape


def lengths_of(x: Native, /) -> tuple[int, ...]:
    shape = tuple(x.shape)  # not a torch.Size, which is shown as that
    if shape and type(shape[0]) is _Tensor:  # `torch.jit.trace` records reading them; its graph is for these lengths
        with outside_traces():
            return tuple(x.shape)
    return shape


def plain(x: Native, /) -> Native:
    """`x` itself, its conjugate and negative bits resolved.

    Raises TypeError for tensors that are no arrays of numbers in memory.
    """
    if x.device.type == "meta":
        raise TypeError(
            "it is on the device meta, without values. Make one that has: torch.empty_like(x, device='cpu')"
        )
    if type(x).__name__ == "MaskedTensor":
        raise TypeError("it is a masked tensor. Fill it: x.to_tensor(0)")
    if x.is_nested:
        raise TypeError("it is a nested tensor. Pad it: x.to_padded_tensor(0)")
    if x.layout is not torch.strided:
        raise TypeError("it is a sparse tensor. Make it dense: x.to_dense()")
    if x.is_quantized:
        raise TypeError("it is a quantized tensor. Take its numbers: x.dequantize()")
    if getattr(x, "has_names", bool)():
        raise TypeError("it has named dims, which would be lost. Leave them out: x.rename(None)")
    if x.is_conj() or x.is_neg():
        return x.resolve_conj().resolve_neg()
    return x


def to_numpy(x: Native, /) -> np.ndarray[Any, Any]:
    """The values of `x`, read-only: a view on the CPU, else a copy."""
    if is_transformed() or (_modes() and type(x) in _PLAIN):  # a constant there
        while torch._C._functorch.is_gradtrackingtensor(x):
            x = torch._C._functorch.get_unwrapped(x)
        with outside_traces():
            return to_numpy(x)
    if _transfers.is_on_gpu(x.device):
        x = _transfers.to_host(x)
    is_known = x.dtype is not torch.bfloat16  # to NumPy
    a = x.numpy(force=True) if is_known else x.view(torch.int16).numpy(force=True).view(_bfloat16())
    a.flags.writeable = False
    return a


def number(x: Native, /) -> complex | None:
    if type(x) is not _Tensor or x.ndim or not x.is_cpu or innermost_level() is not None or _modes():
        return None
    if x.requires_grad and derivatives.get():
        return None
    try:
        return x.item()
    except RuntimeError:  # it outlived a `vmap`, which the usual way says
        return None


def _bfloat16() -> Any:
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


def from_numpy(a: np.ndarray[Any, Any], device: Any, /) -> Native:
    """A copy of `a`, in memory of PyTorch's own."""
    if is_outside_traces():
        return _copied(a, device)
    with outside_traces():
        return _copied(a, device)


def _copied(a: np.ndarray[Any, Any], device: Any) -> Native:
    dtype = _OF_NUMPYS.get(a.dtype) or NATIVE.get(a.dtype.name)  # which takes microseconds
    if dtype is None:
        raise TypeError(f"from_numpy: a must have one of the dtypes {', '.join(NATIVE)}, not {a.dtype}")
    if _transfers.is_on_gpu(device):
        y = torch.empty(a.shape, dtype=dtype, device=device)
        _transfers.to_device(a, y)
        return y
    flags = a.flags
    if flags.c_contiguous and flags.writeable and a.dtype.char in _TAKEN and a.dtype.isnative:
        x = torch.from_numpy(a)  # a third of the time of what follows
        return x.clone() if device == _CPU else x.to(device)
    x = torch.empty(a.shape, dtype=dtype, device=_CPU)
    if dtype is torch.bfloat16:
        x.view(torch.int16).numpy()[...] = a.astype(a.dtype.newbyteorder("="), copy=False).view(np.int16)
    else:
        x.numpy()[...] = a
    return x if device == _CPU else x.to(device)


_OF_NUMPYS: Final = {np.dtype(name): native for name, native in NATIVE.items() if name != "bfloat16"}
_TAKEN: Final = frozenset([dtype.char for dtype in _OF_NUMPYS])
"""Characters of the dtypes that `torch.from_numpy` takes, of which ulonglong is none."""


def scalar(value: complex, dtype: Any, device: Any, /) -> Native:
    if is_outside_traces():
        return torch.tensor(value, dtype=dtype, device=device)
    with outside_traces():
        return torch.tensor(value, dtype=dtype, device=device)


def to_device(x: Native, device: Any, /) -> Native:
    if x.device == device or is_recorded(x) or is_traced(x):  # a copy of ours would be no part of that
        return x.to(device)
    if x.is_cpu and _transfers.is_on_gpu(device):
        return from_numpy(to_numpy(x), device)
    return _transfers.to_host(x) if device == _CPU and _transfers.is_on_gpu(x.device) else x.to(device)


def duplicate(x: Native, /) -> Native:
    return x.clone()


def exported(x: Native, /) -> Native:
    """A copy, as the consumer of a capsule could write to its memory."""
    copy = x.detach().clone()
    synchronize(copy)
    return lent(copy)


def exported_from_numpy(a: np.ndarray[Any, Any], number: int, /) -> Native:
    """An exporter of new memory on a GPU with the values of an ndarray."""
    return lent(from_numpy(a, _transfers.gpu(number)))


def address(x: Native, /) -> int | None:
    if is_traced(x) or is_transformed() or derivatives.get():
        return None
    mirror = x.untyped_storage().__dict__.get("mirror") if NOTED else None
    return int(x.data_ptr()) if mirror is None else int(mirror.address_of(x))


def from_dlpack(x: Any, device: Any, /) -> Native:
    """A tensor that shares the memory of `x`."""
    if type(x) is not np.ndarray:
        found = torch.from_dlpack(x)
    elif x.dtype.name == "bfloat16":
        found = torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)
    else:
        found = torch.from_numpy(x)
    storage = found.untyped_storage()
    storage.is_lent = True
    note(storage)
    return found


def synchronize(x: Native, /) -> None:
    kind = x.device.type
    if kind != "cpu" and not is_traced(x):
        module = getattr(torch, kind)
        module.synchronize() if kind == "mps" else module.synchronize(x.device)


def memory(device: Any, /) -> tuple[int | None, int | None, int | None]:
    """What the device has, and what PyTorch's allocator has taken of it."""
    module: Any = getattr(torch, device.type, None)
    if not hasattr(module, "mem_get_info"):
        return None, None, None
    free, total = module.mem_get_info(device)
    return total, free, module.memory_reserved(device)


def free_memory() -> int:
    """Let PyTorch's allocators give back what they keep of freed tensors."""
    _transfers.free()
    freed = 0
    for device in [one for some in devices().values() for one in some]:
        module: Any = getattr(torch, device.type, None)
        if hasattr(module, "memory_reserved"):
            before = module.memory_reserved(device)
            with module.device(device):
                module.empty_cache()
            freed += before - module.memory_reserved(device)
    return freed


def is_traced(x: Native, /) -> bool:
    """Whether `x` stands for a value: in a batch of `vmap`, or in a graph."""
    functorch = torch._C._functorch
    if type(x) in _PLAIN and not functorch.is_functorch_wrapped_tensor(x):
        return False
    while functorch.is_functorch_wrapped_tensor(x):
        if functorch.is_batchedtensor(x):
            return True
        x = functorch.get_unwrapped(x)
    return _is_fake(x)


def _is_fake(x: Native) -> bool:
    return type(x) not in _PLAIN and any(one.__name__ in ("FakeTensor", "FunctionalTensor") for one in type(x).__mro__)


def is_differentiated(x: Native, /) -> bool:
    """Whether a transform that is open now takes derivatives of `x`."""
    if x.requires_grad and derivatives.get():
        return True
    if not is_transformed():
        return False
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(x):
        if functorch.is_gradtrackingtensor(x) and (x.requires_grad or _is_dual(x)):
            return True
        x = functorch.get_unwrapped(x)
    return False


def has_graph(x: Native, /) -> bool:
    return bool(x.requires_grad) and torch.is_grad_enabled()


def _is_dual(x: Native) -> bool:
    """Whether a tangent comes with `x`, in forward mode."""
    forward = torch.autograd.forward_ad
    return forward._current_level >= 0 and forward.unpack_dual(x).tangent is not None


def is_replaced(x: Native, /) -> bool:
    """Whether `x` is never written in place.

    A derivative may need its values, or a trace has no memory.
    """
    if x.requires_grad or derivatives.get() or is_transformed() or _modes() > 0:
        return True
    return type(x) is not _Tensor and _is_fake(x)


_modes: Final = torch._C._len_torch_dispatch_stack
"""How many modes are open that see each operation, as that of a trace."""


def is_writable(x: Native, /) -> bool:
    """Whether the memory is not that of another library's immutable array."""
    try:
        is_lent = "is_lent" in x.untyped_storage().__dict__
    except (RuntimeError, NotImplementedError):  # it has no memory
        return False
    return not is_lent and (torch.is_inference_mode_enabled() or not x.is_inference())


def is_in_place(x: Native, /) -> bool:
    if type(x) is not _Tensor or x.requires_grad or innermost_level() is not None or _modes() or derivatives.get():
        return False
    return not (NOTED and x.untyped_storage().__dict__) and not x.is_inference()  # not lent, and without mirrors


def is_own(x: Native, /) -> bool:
    """Whether the memory is PyTorch's own: nobody else has its address.

    Somebody may have had it if NumPy once read the tensor in place.
    """
    return is_writable(x) and bool(x.untyped_storage().resizable())


def may_wait(*xs: Native) -> bool:
    """Whether all are values, of which no derivative is taken."""
    if innermost_level() is not None or torch._C._len_torch_dispatch_stack() or derivatives.get():
        return False
    for x in xs:
        if type(x) is not _Tensor or x.is_inference() or x.requires_grad:
            return False
    return not is_recorded(*xs)


def is_leak(error: BaseException) -> bool:
    """Whether a tensor is used after the transform that made it."""
    text = str(error)
    return isinstance(error, RuntimeError) and (
        "escaped" in text or ("INTERNAL ASSERT FAILED" in text and "functorch" in text)
    )


_OUT_OF_MEMORY: Final = (
    "not enough memory", "can't allocate memory",
    "Storage size calculation overflowed", "integer multiplication overflow", "cannot be represented as a SymInt",
)  # fmt: skip
"""What PyTorch says of host memory, on Windows and elsewhere, and of sizes that overflow."""


def is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or (
        isinstance(error, RuntimeError) and any(one in str(error) for one in _OUT_OF_MEMORY)
    )


def base_of(x: Native, /) -> Native | None:
    """The tensor whose memory `x` is a view of."""
    if x._base is None and not is_replaced(x):
        mirror = x.untyped_storage().__dict__.get("mirror")
        return None if mirror is None else mirror.view
    return x._base


def as_strided(x: Native, function: Callable[[Any], Any], /) -> Native | None:
    """The view that a function gives of an ndarray.

    None of what is reversed or replaced.
    """
    if is_replaced(x) or is_mirror(x):
        return None
    found = function(layout_of(x))
    return x.as_strided(found.shape, found.strides)


def layout_of(x: Native, /) -> np.ndarray[Any, Any] | None:
    """An ndarray with the strides of `x`; its elements, bytes, are nowhere."""
    if is_replaced(x):
        return None
    mirror = x.untyped_storage().__dict__.get("mirror")
    strides = x.stride() if mirror is None else mirror.strides_of(x)
    return np.lib.stride_tricks.as_strided(np.empty(1, "V1"), tuple(x.shape), strides)
