"""The measurements of `calibrate` in the process of one library.

They are of calls, transfers and imports.
`processes` starts these processes and asks them, one at a time. Each has the cores to itself: it answers when its
threads have come to rest. Arrays larger than the blocks that the allocator keeps are in new memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from anyarray._base import errors
from anyarray._calibration.cells import Cell
from anyarray._choice import choice
from anyarray._choice.cost import NUMPY
from anyarray._memory import alignment, transfer
from anyarray._registry import registry
from anyarray._registry.registry import Backend
from anyarray.standard import creation

ROUND_SECONDS: Final = 5e-4
"""Approximate seconds of a round: shorter than a time slice of the scheduler on a busy machine."""
ROUNDS: Final = 4
"""Rounds of a backend in its turn."""
BRIEF: Final = 0.01
"""Seconds of a call up to which waking the threads matters, so that several calls are made in a row."""
LONGEST: Final = 0.15
"""Threshold in seconds of a call above which no larger size is measured."""
BYTES: Final = (1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28)
"""Sizes of the transfers that are measured, the last on accelerators: in one memory they take as long as copies."""
TRANSFERS: Final = 3
"""So often each is made."""

Run = Callable[[int], None]
"""Makes a call so many times, and synchronizes."""
GLANCE: Final = 0.005
"""Seconds over which threads are observed: longer than the ticks by which Linux counts their CPU time."""
IDLE: Final = 5e-4
"""CPU seconds of other threads in that time up to which all of them are idle."""
SPINNING: Final = 0.3
"""The maximum seconds to wait for them. OpenBLAS's threads spin for 2^28 cycles, a tenth of a second."""
MARK: Final = "anyarray: "
"""The beginning of a line with an answer; a library may print others."""


def rest() -> None:
    """Wait until all other threads of this process are idle, or for long.

    The threads of some libraries spin after a call, waiting for work, and take a core from the next library's.
    """
    end = time.perf_counter() + SPINNING
    while time.perf_counter() < end:
        working, started = time.process_time(), time.perf_counter()
        time.sleep(GLANCE)
        if time.process_time() - working < 0.25 * (time.perf_counter() - started):
            return


@contextlib.contextmanager
def resting() -> Generator[None]:
    """Wait at the end of the block for the other threads, if they worked."""
    before = time.process_time() - time.thread_time()
    try:
        yield
    finally:
        if time.process_time() - time.thread_time() - before > IDLE:
            rest()


def load(names: Sequence[str]) -> dict[str, Any]:
    """Import the library of these backends.

    Gives the seconds, and the names and kinds of the backends.
    In their place gives the message of an error, and the name of its class if that is one of ours.
    """
    started = time.perf_counter()
    try:
        registry.load(registry.parse(names[0])[0])
        seconds = time.perf_counter() - started
        found = [registry.backend_of_name(name) for name in names]
    except errors.BackendError as error:
        return {"error": str(error), "kind": type(error).__name__}
    except Exception as error:  # noqa: BLE001 - a broken installation may raise anything
        return {"error": f"{type(error).__name__}: {error}"}
    return {"seconds": seconds, "backends": [(one.name, one.kind) for one in found]}


def visit(cell: Sequence[Any], name: str) -> tuple[float, float, float] | None:
    """The work of a cell, its usual seconds and those that come first.

    The last are the additional seconds of the first call.
    None if the backend cannot make it: it has no such dtype, or no room.
    """
    measured = Cell(*cell)
    chained = measured.chained if name == NUMPY else None
    try:
        inputs = measured.inputs()
        run = waiting(chained or measured.function, inputs, registry.backend_of_name(name))
        with resting(), np.errstate(all="ignore"):  # a determinant may overflow
            first, usual = _times(run, in_new_memory=measured.is_beyond_reused)
    except Exception:  # noqa: BLE001 - whatever a library raises, it cannot do this: so it is no candidate
        return None
    return measured.work(inputs), usual / (chained.calls if chained else 1), max(0.0, first - usual)


def _times(run: Run, *, in_new_memory: bool) -> tuple[float, float]:
    """Seconds of the first call, and of a usual one."""

    def in_new(loops: int) -> float:
        if in_new_memory:
            alignment.trim_malloc()
        return timed(run, loops)

    first, times = in_new(1), [in_new(1)]
    if times[0] < BRIEF:
        loops = max(1, round(ROUND_SECONDS / in_new(1)))
        return first, statistics.median([in_new(loops) for _ in range(ROUNDS)])
    while len(times) < 3 and sum(times) < LONGEST:
        times.append(in_new(1))
    return first, min(times)


def timed(run: Run, loops: int) -> float:
    started = time.perf_counter()
    run(loops)
    return (time.perf_counter() - started) / loops


def waiting(function: Callable[..., Any], inputs: Sequence[Any], backend: Backend) -> Run:
    """The call on a backend, its inputs there; synchronizes the result."""
    synchronize = backend.hook("synchronize")
    with choice.backend(backend):
        arrays = [
            [creation.asarray(a) for a in one] if isinstance(one, list) else creation.asarray(one) for one in inputs
        ]

    def run(loops: int) -> None:
        with choice.backend(backend):
            for _ in range(loops):
                result = function(*arrays)
                synchronize((result[0] if isinstance(result, tuple) else result)._native)

    return run


def route(source_name: str, target_name: str, sizes: int) -> dict[str, Any]:
    """Seconds of transfers by number of bytes, and of one that shares memory.

    The arrays are new each time: libraries keep a copy on the host of what the host has read, which takes no time to
    read again.
    """
    source, target, numpy = map(registry.backend_of_name, (source_name, target_name, NUMPY))
    way = transfer.route(source, target)
    wait, arrived = source.hook("synchronize"), target.hook("synchronize")

    def new(nbytes: int) -> Any:
        # Aligned, and without other references: memory that can be shared if any can.
        host = numpy.free.exported(np.ones(nbytes // 4, dtype=np.float32))
        native = transfer.from_host(host, source) if source is not numpy else host
        wait(native)
        return native

    def brought(bring: Callable[[Any], Any], nbytes: int) -> float:
        native = new(nbytes)
        started = time.perf_counter()
        arrived(bring(native))
        return time.perf_counter() - started

    copies: list[tuple[float, float]] = []
    for nbytes in BYTES[:sizes]:
        if copies and copies[-1][1] * 16 > 2 * LONGEST:
            break
        rest()
        copies.append((float(nbytes), statistics.median([brought(way.copy, nbytes) for _ in range(TRANSFERS + 1)][1:])))
    view = None
    with resting(), contextlib.suppress(Exception):  # whatever a library raises, memory cannot be shared then
        if way.share(new(BYTES[2])) is not None:
            view = max(brought(way.share, BYTES[i]) for i in (0, 1, 2))
    return {"copies": copies, "view": view}


TASKS: Final[Mapping[str, Callable[..., Any]]] = {"load": load, "visit": visit, "route": route}


def serve() -> None:
    """Answer requests until the last one.

    Each is a line of JSON with a task and its arguments.
    Whatever the library prints goes to standard error.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks ends this one
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            task, *arguments = json.loads(line)
            print(f"\n{MARK}{json.dumps(TASKS[task](*arguments))}", file=answers, flush=True)
