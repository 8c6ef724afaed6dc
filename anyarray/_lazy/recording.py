"""Elementwise calls that are recorded on other backends than NumPy.

They are recorded inside `fused()`, and where the automatic choice has decided that they run there.
`_speedups/lazy/recording.c` records them, as those of NumPy, and asks here what a function returns, and for memory.

The result of such a call is an Array with a `Lazy` of the compiled code in the place of its native array. `_native`
computes it with all calls that lead to it, by one compiled function; see `compiler`.

No write may reach what such a call reads. Of a library with views a call reads only memory to which nobody outside may
write. That is guarded, so that no Array writes to it, and asking for its native array computes the calls that read it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from anyarray._base import dtypes
from anyarray._base.extension import speedups
from anyarray._choice import choice, machine
from anyarray._lazy.compiler import Graph, compiler_of
from anyarray._memory import ownership, views
from anyarray._registry import registry
from anyarray._registry.home import Home, Native

_lengths: Final[ContextVar[list[int] | None]] = ContextVar("anyarray lengths", default=None)
"""Inside `every_call` the numbers of calls in the graphs that have run."""
Lazy: Final = machine.LAZY

_running = threading.RLock()
"""Held while calls are computed, so that each is computed once."""


def _forked() -> None:
    global _running
    _running = threading.RLock()  # a thread that the child does not have may hold the other


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


def result_dtype(name: str, home: Home, operands: tuple[Any, ...], /) -> Any:
    """The native dtype of a result, by those of the operands.

    The last of `astype` is NumPy's dtype of the result. None if its calls are not recorded on the home.
    """
    backend = home.backend
    if not (backend.has_hook("jit") or backend.has_hook("fused")):
        return None
    try:
        more = []
        if name == "astype":
            operands, to = operands[:1], operands[1]
            more = [backend.native_dtype(dtypes.dtype(to).name)]
        if backend.has_hook("fusible"):
            return backend.hook("fusible")(name, operands, *more)
        ones = [home.constant(1, home.dtypes[dtype].name) for dtype in operands]
        dtype = backend.hook("result_dtype")(getattr(home, name), *ones, *more)
        kind = home.dtypes[dtype].kind
    except Exception:  # noqa: BLE001 - the call raises it itself
        return None
    return None if name == "pow" and kind in "biu" else dtype  # a negative exponent raises


def readable(home: Home, is_small: bool, /, *arrays: Any) -> tuple[Native, ...] | bool:
    """Guard what a recorded call on a home reads.

    Returns the native arrays that have the memory, True for a library without views. False if the call is to run at
    once, as somebody outside may write to the memory, as a trace or a derivative has to see the call, or as its result
    `is_small`.
    """
    if is_small and _lengths.get() is None:
        return False
    # `_native` would compute the calls that read the same memory.
    if not home.may_wait(*[array._native if type(array._value) is Lazy else array._value for array in arrays]):
        return False
    if not home.has_views:
        return True
    found: list[Native] = []
    for array in arrays:
        if not speedups.is_read(array):
            if not _is_private(array):
                return False
            views.guard(array)
        native = array._value
        found += [native, home.base_of(native)]
    return tuple(found)


def compute(*targets: Any) -> None:
    """Compute recorded calls of one home and shape, and what leads to them.

    Of these, results that others hold, too, are kept.
    """
    with _running:
        graph = Graph.of(*targets)
        if not graph.nodes:  # another thread has computed them
            return
        home = targets[0].home
        lengths = _lengths.get()
        if lengths is not None:
            lengths.append(len(graph.calls))
        with home.outside_traces():
            try:
                values = compiler_of(home).values(graph, at_once=lengths is not None)
            except Exception as error:
                if len(graph.nodes) == len(targets) or not registry.is_out_of_memory(error):
                    raise
                names = dict(zip(map(id, graph.nodes), graph.results, strict=True))
                graph = graph._replace(nodes=list(targets), results=[names[id(one)] for one in targets])
                values = compiler_of(home).values(graph)
        speedups.keep(graph.nodes, values)


@contextmanager
def every_call() -> Generator[list[int]]:
    """A context for `xp.jit`, in which calls of few elements are recorded.

    They are compiled when they first run.

    Gives the numbers of calls in the graphs that have run so far.
    """
    lengths: list[int] = []
    token = _lengths.set(lengths)
    try:
        with choice.fused():
            yield lengths
    finally:
        _lengths.reset(token)


def _is_private(array: Any) -> bool:
    """Whether nobody outside can write to the memory of an Array."""
    view = views.view_of(array)
    if view is not None and (view.parent is not None or _lengths.get() is not None):
        return view.parent is None  # `jit` guards its arguments
    return ownership.is_sole_owner(array) and bool(array._home.backend.hook("is_own")(array._value))


def base_of(native: Native) -> Native | None:
    """The native array of which one is a view."""
    backend = registry.backend_of_native(native)
    return None if backend is None else backend.hook("base_of")(native)
