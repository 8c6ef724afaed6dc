"""What every chapter uses: dtypes, promotion, unsigned integers by bits."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import Any, Final

import torch

from anyarray._base import dtypes
from anyarray.backends import _shortcut

Native = Any
"""A torch.Tensor."""
Axes = int | tuple[int, ...] | None
NATIVE: Final[dict[str, Any]] = {name: getattr(torch, name) for name in dtypes.KNOWN}
NAME: Final[dict[Any, str]] = {native: name for name, native in NATIVE.items()}
KIND: Final[dict[Any, str]] = {native: dtypes.KNOWN[name].kind for name, native in NATIVE.items()}
"""The character of a dtype's kind: b, i, u, f or c."""

SIGNED: Final[dict[Any, Any]] = {
    torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64
}  # fmt: skip
"""The unsigned dtypes that lack most kernels, and the signed dtypes of the same width."""

_LEAST: Final = {torch.int16: -(1 << 15), torch.int32: -(1 << 31), torch.int64: -(1 << 63)}
"""The sign bit alone, of signed dtypes."""


def with_kernels(kinds: str) -> frozenset[Any]:
    """The dtypes of these kinds that have kernels."""
    return frozenset(native for native, kind in KIND.items() if kind in kinds and native not in SIGNED)


def kind_of(x: Native) -> str:
    return KIND[x.dtype]


def require_kinds(kinds: str, *arrays: Native) -> None:
    """Raise TypeError unless the dtypes of `arrays` are of these kinds."""
    for x in arrays:
        if KIND[x.dtype] not in kinds:
            raise TypeError(f"dtype {NAME[x.dtype]} is not one of the kinds {kinds!r}")


class _Promotions(dict[tuple[Any, Any], Any]):
    """A cache of the dtype that two dtypes promote to."""

    def __missing__(self, pair: tuple[Any, Any]) -> Any:
        found = self[pair] = NATIVE[dtypes.promoted(NAME[pair[0]], NAME[pair[1]])]
        return found


PROMOTED: Final = _Promotions()
FLOATING: Final = {native: NATIVE[dtypes.floating(name)] for name, native in NATIVE.items()}
"""The dtype in which a floating-point function computes: each integer dtype has its own, as in NumPy."""
SUMMED: Final = {native: NATIVE[dtypes.summed(name)] for name, native in NATIVE.items()}
"""The dtype of a sum or product."""


def cast(x: Native, dtype: Any) -> Native:
    """`x` in a dtype; itself if it has that."""
    if x.dtype is dtype:
        return x
    if x.dtype.is_complex and not dtype.is_complex:  # PyTorch warns
        x = x != 0 if dtype is torch.bool else torch.real(x)
    return x.to(dtype)


def truth(x: Native) -> Native:
    """Whether each element is nonzero."""
    return x if x.dtype is torch.bool else x != 0


def promoted(*arrays: Native) -> tuple[Native, ...]:
    """`arrays` cast to the dtype that they promote to."""
    dtype = functools.reduce(lambda one, other: PROMOTED[one, other], [x.dtype for x in arrays])
    return tuple([cast(x, dtype) for x in arrays])


def inexact(*arrays: Native) -> tuple[Native, ...]:
    """`arrays` cast to the floating dtype that they promote to.

    Integers become float64, as in NumPy's reductions.
    """
    arrays = promoted(*arrays)
    return arrays if KIND[arrays[0].dtype] in "fc" else tuple([x.to(torch.float64) for x in arrays])


def bits(x: Native) -> Native:
    """Unsigned integers as signed ones of the same bits; all else itself."""
    signed = SIGNED.get(x.dtype)
    return x if signed is None else x.view(signed)


def with_bits(y: Native, dtype: Any) -> Native:
    """The inverse of `bits`, of values of a dtype."""
    return y if y.dtype is dtype else y.view(dtype)  # a view of the same dtype would have no derivative


def ordered(x: Native) -> Native:
    """Unsigned integers as signed ones in the same order; all else itself."""
    signed = SIGNED.get(x.dtype)
    return x if signed is None else x.view(signed) ^ _LEAST[signed]


def restored(y: Native, dtype: Any) -> Native:
    """The inverse of `ordered`, of values of a dtype."""
    signed = SIGNED.get(dtype)
    return y if signed is None else (y ^ _LEAST[signed]).view(dtype)


def on_bits(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that moves elements of one array, for unsigned ones, too."""

    @functools.wraps(function)
    def moved(x: Native, /, *args: Any, **options: Any) -> Any:
        dtype = x.dtype
        if dtype not in SIGNED:
            return function(x, *args, **options)
        found = function(x.view(SIGNED[dtype]), *args, **options)
        return tuple([one.view(dtype) for one in found]) if isinstance(found, tuple) else found.view(dtype)

    return moved


def wide(x: Native) -> Native:
    """Integers in a dtype that holds their values; uint64 by its bits."""
    if x.dtype in SIGNED:
        return x.view(torch.int64) if x.dtype is torch.uint64 else x.to(torch.int64)
    return x


def indices(x: Native) -> Native:
    """Integers as int64; greater ones of uint64 as its maximum."""
    if x.dtype is torch.int64:
        return x
    require_kinds("iu", x)
    if x.dtype is torch.uint64:
        x = x.view(torch.int64)
        return torch.where(x < 0, torch.iinfo(torch.int64).max, x)
    return x.to(torch.int64)


def size_along(x: Native, axes: tuple[int, ...]) -> int:
    return math.prod([x.shape[axis] for axis in axes])


innermost_level: Final[Callable[[], Any]] = getattr(
    getattr(torch._C, "_functorch", None), "maybe_current_level", lambda: None
)
"""The innermost open transform of `torch.func`, or None. It is not documented, hence the fallback."""


def directly(
    native: Callable[..., Any],
    function: Callable[..., Any],
    dtypes: frozenset[Any],
    options: tuple[str, ...] = (),
    *,
    is_sloped: bool = False,
) -> Callable[..., Any]:
    """As `_shortcut.directly`, for tensors.

    If it `is_sloped`, its derivatives are others than PyTorch's. A method without arguments takes 0.03 to 0.08 us less
    than the function of that name, which has to parse them.
    """
    name = getattr(function, "__name__", "")
    if function is getattr(torch, name, None) and native.__code__.co_argcount == 1 and not options:
        function = getattr(torch.Tensor, name, function)
    return _shortcut.directly(native, function, torch.Tensor, dtypes, innermost_level, options, is_guarded=is_sloped)


derivatives: Final[ContextVar[int]] = ContextVar("anyarray derivatives of PyTorch", default=0)
"""How many derivatives of ours autograd now records, each inside the one before."""


def is_recorded(*arrays: Native) -> bool:
    """Whether a derivative may be taken of a function of these arrays."""
    if innermost_level() is not None:
        functorch = torch._C._functorch
        if any(level.key() != functorch.TransformType.Vmap for level in functorch.get_interpreter_stack()):
            return True
        arrays = tuple(map(_inside, arrays))
    return (torch.is_grad_enabled() and any(x.requires_grad for x in arrays)) or _is_forward()


def _inside(x: Native) -> Native:
    """The tensor inside all batches of `torch.func.vmap`."""
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(x):
        x = functorch.get_unwrapped(x)
    return x


def _is_forward() -> bool:
    return torch.autograd.forward_ad._current_level >= 0


def can_be_read(x: Native) -> bool:
    """Whether its values are known here without waiting for a device."""
    return type(x) is torch.Tensor and x.is_cpu and not is_transformed() and not torch._C._len_torch_dispatch_stack()


def extent(x: Native) -> tuple[int, int]:
    """The least and the greatest of some integers that can be read."""
    if x.numel() <= _FEW and x.ndim == 1:
        few = x.tolist()  # a fifth of the time
        return min(few), max(few)
    least, greatest = torch.aminmax(x) if x.ndim else (x, x)
    return int(least), int(greatest)


_FEW: Final = 32


def is_transformed() -> bool:
    """Whether a transform of `torch.func` is open."""
    return innermost_level() is not None


@contextlib.contextmanager
def outside_traces() -> Generator[None]:
    """Where tensors are made that are no part of any trace, to be kept."""
    with contextlib.ExitStack() as stack:
        if torch._C._len_torch_dispatch_stack():
            stack.enter_context(torch.utils._python_dispatch._disable_current_modes())
            stack.enter_context(torch._C.DisableTorchFunction())  # of modes as `_Lifting`
        if is_transformed():
            stack.enter_context(torch._functorch.pyfunctorch.temporarily_clear_interpreter_stack())
        if torch.is_inference_mode_enabled():
            stack.enter_context(torch.inference_mode(False))
        recorder = _recorder()
        if recorder is not None:
            stack.callback(torch._C._set_tracing_state, recorder)
            torch._C._set_tracing_state(None)
        yield


def is_outside_traces() -> bool:
    return not (
        is_transformed()
        or torch._C._len_torch_dispatch_stack()
        or torch.is_inference_mode_enabled()
        or _recorder() is not None
    )


_recorder: Final[Callable[[], Any]] = torch._C._get_tracing_state
"""What records for `torch.jit.trace`, or None."""

NOTED: Final[list[None]] = []
"""An element for each storage of which something is noted: while there is none, nobody need look."""


class _Note:
    """Lets `NOTED` have an element as long as a storage has it."""

    __slots__ = ()

    _noted = NOTED  # module globals may be gone when the interpreter ends

    def __init__(self) -> None:
        self._noted.append(None)

    def __del__(self) -> None:
        self._noted.pop()


def note(storage: Any) -> None:
    """Say that something is noted of a storage, in its `__dict__`."""
    if "note" not in storage.__dict__:
        storage.note = _Note()  # the object is one for all tensors of that memory, and lives as long
