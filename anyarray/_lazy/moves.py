"""Recorded calls of NumPy's that another backend runs.

Before they run, if a call among them was decided about, `_choice.whole_chains` decides about all together. Another
backend gets the same graph that NumPy would run, and runs it by its `compiler`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._base import dtypes
from anyarray._base.extension import speedups
from anyarray._call import watching
from anyarray._call.declaration import declarations
from anyarray._call.wrapping import wrap
from anyarray._choice import choice, learning, machine, whole_chains
from anyarray._choice.automatic import Decision
from anyarray._choice.whole_chains import Workload
from anyarray._lazy.compiler import Graph, compiler_of
from anyarray._memory import transfer
from anyarray._registry import registry
from anyarray._registry.home import Home

NDArray = np.ndarray[Any, Any]
_NUMPY: Final = registry.backend_of_name("numpy").free


def move(target: Any) -> None:
    """Run a recorded call, and all that lead to it, where that is decided."""
    here = choice.current()
    if not isinstance(here.backend, choice.Automatic) or transfer.watch().guard != "off":
        return
    if machine.state.model is None or dtypes.defaults() is not dtypes.STANDARD_DEFAULTS:
        return
    graph = Graph.of(target)
    workload = _workload(graph)
    if workload is None:
        return
    decision = whole_chains.decide(workload, here.candidates)
    there = decision.home.backend
    if not decision.has_moved or not _is_worth(graph, workload, decision, here.candidates):
        return
    seconds, (file, line) = learning.clock(), target.where or (None, 0)
    values = _tried(workload, there.name, lambda: _values_on(graph, decision.home))
    if values is None:
        return
    results = [_result(value, node) for value, node in zip(values, graph.nodes, strict=True)]
    seconds = learning.clock() - seconds
    speedups.keep(graph.nodes, results)
    whole_chains.ran(workload, there.name)
    whole_chains.note(workload, there.name, seconds / max(whole_chains.seconds_of(workload, there.name), 1e-9))
    if here.records:
        watching.record_chain(here.records, decision, seconds, file, line)


def _workload(graph: Graph) -> Workload | None:
    """What the time of a graph depends on.

    None if it has only casts, or a function that other backends lack or that would promote there.
    """
    calls, known = [], {f"x{number}": one.dtype for number, one in enumerate(graph.arrays)}
    for number, (function, operands, dtype) in enumerate(graph.calls):
        read = [known[name] for name in operands]
        known[f"v{number}"] = dtype
        if function != "astype":
            calls.append((function, _NUMPY.dtypes[read[0]]))
            if function not in declarations or len(set(read[function == "where" :])) > 1:
                return None
    read_bytes = tuple([one.nbytes for one in graph.arrays if one.size > 1])
    kept = tuple([node.size * node.dtype.itemsize for node in graph.nodes])
    return Workload(tuple(calls), _size(graph), read_bytes, kept) if calls else None


def _size(graph: Graph) -> int:
    """The number of elements of each call but for a reduction at the end."""
    target = graph.nodes[-1]
    size: int = target.size * (target.group or 1)
    return size


def _values_on(graph: Graph, home: Home) -> list[NDArray]:
    """The results, computed on a home and brought back."""
    backend, group = home.backend, graph.nodes[-1].group
    cause = next(function for function, *_ in graph.calls if function != "astype")
    with backend.hook("outside_traces")():
        calls = [(name, given, backend.native_dtype(_NUMPY.dtypes[dtype].name)) for name, given, dtype in graph.calls]
        reduction, (operand,), _ = calls.pop() if group else ("", ("",), None)
        names = [operand if name == f"v{len(calls)}" else name for name in graph.results]
        wanted = list(dict.fromkeys(names))
        arrays = tuple([_brought(one, home, cause) for one in graph.arrays])
        found = compiler_of(home).values(graph._replace(calls=tuple(calls), arrays=arrays, results=wanted))
        values = dict(zip(wanted, found, strict=True))
        natives = [values[name] for name in names]
        if group:
            axis = None if graph.nodes[-1].size == 1 else -1
            whole = wrap(natives[-1], home)
            natives[-1] = choice.call_on(backend, declarations[reduction].function, whole, axis=axis)._native
        return [transfer.to_host(native, backend, "asarray") for native in natives]


def _brought(array: NDArray, home: Home, cause: str) -> Any:
    """The native array on a home of an ndarray."""
    if array.ndim == 0:
        return home.constants.named(array.item(), array.dtype.name)
    return transfer.transferred(array, _NUMPY.backend, home.backend, cause).native


def _result(host: NDArray, node: Any) -> NDArray:
    """A writable ndarray from another backend, as the result of a call."""
    host = host.reshape(node.shape).astype(node.dtype, copy=False)
    return host if host.flags.writeable and host.flags.c_contiguous else host.copy()


def _tried(workload: Workload, name: str, run: Callable[[], Any]) -> Any:
    """What a function gives; None if the backend fails.

    It is not asked for such a workload again.
    """
    try:
        return run()
    except Exception as error:  # noqa: BLE001 - NumPy raises what is wrong with the calls
        if not registry.is_out_of_memory(error):
            whole_chains.give_up(workload, name)
        return None


PARTS: Final = 16
"""The part of a graph that is timed on a backend before all of it moves there."""


def _is_worth(graph: Graph, workload: Workload, decision: Decision, candidates: tuple[str, ...] | None) -> bool:
    """Whether a graph moves, after a part of it was timed there."""
    name = decision.home.backend.name
    if whole_chains.is_tried(workload, name):
        return True
    shape = np.broadcast_shapes(*[one.shape for one in graph.arrays])
    length = shape[0] // PARTS
    if not length:
        return False
    # The first elements along the first axis.
    arrays = [one[:length] if one.ndim == len(shape) and len(one) == shape[0] else one for one in graph.arrays]
    part = graph._replace(arrays=tuple(arrays))
    its = workload._replace(
        elements=workload.elements * length // shape[0],
        read=tuple([one.nbytes for one in arrays if one.size > 1]),
        kept=tuple([nbytes * length // shape[0] for nbytes in workload.kept]),
    )

    def timed() -> float:
        started = learning.clock()
        _values_on(part, decision.home)
        return learning.clock() - started

    seconds = _tried(workload, name, lambda: min(timed(), timed()))  # the first may compile
    if seconds is None:
        return False
    whole_chains.note(workload, name, seconds / max(whole_chains.seconds_of(its, name), 1e-9))
    return whole_chains.decide(workload, candidates).home is decision.home
