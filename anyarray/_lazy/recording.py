"""Elementwise calls that are recorded on backends other than NumPy.

They are recorded inside `fused()`, and if the automatic choice has decided that they run there.
`_speedups/lazy/recording.c` records them like those of NumPy, and calls this module for dtypes of results and for
memory.

The result of such a call is an Array with a `Lazy` of the compiled code instead of its native array. `_native` computes
it and all calls that it depends on, by one compiled function; see `compiler`.

No write may reach the inputs of such a call. If a library has views, a call is recorded only if no other code can write
to its inputs. They are guarded, so no Array writes to them, and reading their native arrays computes the calls that
depend on them.
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
"""Inside `every_call`, the numbers of calls in the graphs that have run."""
Lazy: Final = machine.LAZY

_running = threading.RLock()
"""The lock for computing calls, so that each is computed once."""


def _forked() -> None:
    global _running
    _running = threading.RLock()  # a thread that the child does not have may hold the other


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


def result_dtype(name: str, home: Home, operands: tuple[Any, ...], /) -> Any:
    """The native dtype of a result, from those of the operands.

    For `astype`, the last operand is NumPy's dtype of the result. None if the home does not record calls of the
    function.
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
    """Guard the inputs of a recorded call on a home.

    Returns the native arrays that own the memory, or True for a library without views. Returns False if the call must
    run at once: because other code may write to the memory, a trace or a derivative must see the call, or its result
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
    """Compute recorded calls of one home and shape, and their dependencies.

    Dependencies that other code holds keep their results.
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
        speedups.set_values(graph.nodes, values)


@contextmanager
def every_call() -> Generator[list[int]]:
    """A context for `xp.jit` that also records calls of few elements.

    They are compiled when they first run.

    Yields the numbers of calls in the graphs that have run so far.
    """
    lengths: list[int] = []
    token = _lengths.set(lengths)
    try:
        with choice.fused():
            yield lengths
    finally:
        _lengths.reset(token)


def _is_private(array: Any) -> bool:
    """Whether no other code can write to the memory of an Array."""
    view = views.view_of(array)
    if view is not None and (view.parent is not None or _lengths.get() is not None):
        return view.parent is None  # `jit` guards its arguments
    return ownership.is_sole_owner(array) and bool(array._home.backend.hook("is_own")(array._value))


def base_of(native: Native) -> Native | None:
    """The native array that owns the memory of a view."""
    backend = registry.backend_of_native(native)
    return None if backend is None else backend.hook("base_of")(native)
