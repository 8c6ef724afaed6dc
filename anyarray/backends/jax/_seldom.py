"""Calls whose lengths are too rare to be compiled for.

XLA compiles each function for each shape, which takes tens of milliseconds. A program that selects by masks, or loops
over slices, has a length of its own at each turn. So a function is compiled for the first few lengths, and then for one
that has recurred so often that compiling it would have paid. For others it raises Seldom when JAX traces it, and
`instead` computes the call: an elementwise function in arrays padded to a power of two, with the same bits (but for the
last ones of atan, which XLA computes otherwise at the end of an array); a reduction or a copy by NumPy.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import jax
import numpy as np

from anyarray._memory import alignment

Native = Any


class Seldom(Exception):  # noqa: N818 - it is no error: it is always caught
    """Raised at trace time: the function is not to be compiled for these."""


class _Tracing(threading.local):
    """What this thread traces."""

    depth = 0
    """How many functions of ours are being traced, each called by the one before."""
    compiles = False
    """Whether functions are compiled for any length."""


tracing: Final = _Tracing()

COMPILATION: Final = 20_000
"""Microseconds that XLA takes to compile a function, at the least."""
_CALL: Final = 200
"""Microseconds of a call by other means."""
_FEW: Final = 4
"""Lengths for which each function is compiled at once."""
_LONG: Final = 1 << 20
"""Elements from which on a function is compiled: the call itself takes some milliseconds."""
_SHORT: Final = 64
"""The length to which shorter arrays are padded."""
_MOST_CACHED: Final = 4096
"""The maximum number of keys whose time is counted."""
_spent: Final[dict[Any, float]] = {}
_lengths: Final[dict[Any, set[Any]]] = {}


def is_rare(key: Any, microseconds: float) -> bool:
    """Whether compiling would take longer than all calls have taken so far.

    So what recurs is compiled, and lengths that depend on values, of which a loop has very many, are not. `key` is what
    XLA compiles for, `microseconds` what a call takes otherwise; they are counted.
    """
    spent = _spent.get(key, 0.0)
    if spent >= COMPILATION:
        return False
    if len(_spent) >= _MOST_CACHED:
        for one in [one for one, its in _spent.items() if its < COMPILATION] or list(_spent):
            _spent.pop(one, None)  # another thread may have been here
    _spent[key] = spent + microseconds
    return True


def require_frequent(function: Any, args: Sequence[Any], options: Mapping[str, Any], is_padded: bool) -> None:
    """Raise Seldom if these shapes are too rare to be compiled for.

    It is called at trace time. A function that another one calls is compiled with it.
    """
    if not tracing.depth and not tracing.compiles and not is_frequent(function, args, options, is_padded):
        raise Seldom


def is_frequent(function: Any, args: Sequence[Any], options: Mapping[str, Any], is_padded: bool) -> bool:
    """Whether a function is to be compiled for these shapes, or is compiled.

    If not, the call counts as one of those that are computed otherwise.
    """
    arrays = [x for x in args if x is not None]
    shapes = [getattr(x, "shape", ()) for x in arrays]
    dtypes = [getattr(x, "dtype", type(x)) for x in arrays]
    if not all(type(n) is int for shape in shapes for n in shape):
        return True  # jax.export has symbols in the place of lengths
    sizes = [*map(math.prod, shapes)]
    if 0 in sizes or not any(shapes) or max(sizes) >= _LONG:
        return True
    form: list[Any] = dtypes
    length: Any
    if is_padded:
        try:
            length = max(sizes) if len({*filter(None, shapes)}) == 1 else math.prod(np.broadcast_shapes(*shapes))
        except ValueError:
            return True  # the function raises it
        if length == _padded(length):
            return True
        form += [bool(shape) for shape in shapes]
    elif any(one.itemsize == 2 and one.kind not in "iu" for one in dtypes if not isinstance(one, type)):
        return True  # NumPy adds them up in themselves
    else:
        length = tuple(shapes)
        form += [*map(len, shapes)]
    key = (function, *form, *sorted((name, repr(value)) for name, value in options.items()))
    compiled = _lengths.setdefault(key, set())
    if length in compiled:
        return True
    if len(compiled) >= _FEW and is_rare((key, length), _CALL):
        return False
    compiled.add(length)
    return True


class Meetings:
    """Whether a function has met rare lengths, and the shapes that are not.

    Raising Seldom takes a millisecond, so that a function which has met one is asked before it is called.
    """

    __slots__ = ("_body", "_common", "_is_padded")

    def __init__(self, body: Any, is_padded: bool) -> None:
        self._body, self._is_padded = body, is_padded
        self._common: set[Any] = set()

    def is_frequent(self, args: Sequence[Any], options: Mapping[str, Any]) -> bool:
        """Whether the function is to be called, compiled, for these arrays."""
        shapes = tuple([getattr(x, "shape", ()) for x in args if x is not None])
        if shapes in self._common:
            return True
        if any(isinstance(x, jax.core.Tracer) for x in args):
            return True
        if not is_frequent(self._body, args, options, self._is_padded):
            return False
        if len(self._common) >= _MOST_CACHED:
            self._common.clear()
        self._common.add(shapes)
        return True


def _padded(length: int) -> int:
    return max(_SHORT, 1 << (length - 1).bit_length())


def in_padded(
    call: Callable[..., Native], args: Sequence[Any], options: Mapping[str, Any], brought: Callable[[Any], Native]
) -> np.ndarray[Any, Any]:
    """An elementwise function, in arrays that are padded to a power of two.

    They are filled with ones, for which no function takes longer. `brought` makes arrays of JAX of them.
    """
    hosts = [None if x is None else np.asarray(x) for x in args]
    shape = np.broadcast_shapes(*[x.shape for x in hosts if x is not None])
    size = math.prod(shape)
    length = _padded(size)
    padded: list[Any] = []
    for host in hosts:
        if host is None or not host.shape:
            padded.append(None if host is None else brought(host))
            continue
        memory = alignment.allocated(np.empty, (length,), host.dtype, length * host.dtype.itemsize)
        memory[size:] = 1
        memory[:size].reshape(shape)[...] = host
        padded.append(brought(memory))
    return np.asarray(call(*padded, **options))[:size].reshape(shape)


def compiling(call: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """The call, compiled for any length."""
    before = tracing.compiles
    tracing.compiles = True
    try:
        return call(*args, **options)
    finally:
        tracing.compiles = before


def is_in_host_memory(args: Sequence[Any]) -> bool:
    """Whether NumPy reads all arrays in place: on one CPU, not traced."""
    return all(
        not isinstance(x, jax.core.Tracer) and len(x.devices()) == 1 and next(iter(x.devices())).platform == "cpu"
        for x in args
        if isinstance(x, jax.Array)
    )
