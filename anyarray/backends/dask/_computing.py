"""Values and lengths, computed when they are asked for, and kept."""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from anyarray._base import errors
from anyarray._memory import transfer
from anyarray._registry import registry
from anyarray.backends.dask._kernel import HOST, Native, chunks_for, home_of, known, limit, on_home, to_device

__all__ = ["computed", "from_source", "persisted", "stored"]


def computed(*xs: Native) -> list[np.ndarray[Any, Any]]:
    """The values of arrays, computed together and kept.

    What they share is computed once. From then on the graphs of `xs` hold them in place of the tasks.
    """
    missing = {id(x): x for x in xs if "anyarray_computed" not in vars(x)}
    with _errors_of_a_cluster():
        found = dask.compute(*missing.values())
    for x, value in zip(missing.values(), found, strict=True):
        _keep(x, on_home(value, home_of(value)))
    return [vars(x)["anyarray_computed"] for x in xs]


@contextmanager
def _errors_of_a_cluster() -> Generator[None]:
    """Say what to do if the scheduler or its workers are gone.

    Errors of tasks pass.
    """
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("distributed."):
            raise
        raise errors.BackendError(
            f"dask: the cluster ended or lost its workers while it computed ({error}). Open a new Client and "
            "compute again from the files; what was persisted on the cluster is lost"
        ) from error


def _keep(x: Native, value: Any) -> None:
    if not any(map(math.isnan, x.shape)) or x.npartitions == 1:
        x._chunks = tuple((n,) for n in value.shape) if x.npartitions == 1 else x.chunks
        starts = [np.cumsum([0, *sizes]).tolist() for sizes in x.chunks]
        blocks = {
            (x.name, *at): value[tuple(slice(row[i], row[i + 1]) for row, i in zip(starts, at, strict=True))]
            for at in np.ndindex(x.numblocks)
        }
        x.dask = HighLevelGraph.from_collections(x.name, blocks)
    x.anyarray_computed = home_of(value).to_numpy(value)


def persisted(*xs: Native) -> None:
    """Compute arrays together and keep their blocks where they are."""
    with _errors_of_a_cluster():
        found = dask.persist(*xs)
    for x, kept in zip(xs, found, strict=True):
        x.dask = kept.dask


def count(x: Native) -> None:
    """Compute the unknown lengths of an array.

    Its blocks are kept, unless they may be larger than `limit`. A task of a cluster keeps none, as they end with it.
    """
    backend, started = registry.backend_of_native(x), time.perf_counter()
    if vars(x).get("anyarray_most", 0) <= limit() and not _is_task_of_a_cluster():
        persisted(x)
    with _errors_of_a_cluster():
        x.compute_chunk_sizes()
    if backend is not None:
        transfer.record(x, backend, "host", "shape", "view", started)


def _is_task_of_a_cluster() -> bool:
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def from_host(a: np.ndarray[Any, Any], device: str | None = None) -> Native:
    """An array of the memory of an ndarray, which nobody writes to."""
    x = da.from_array(a, chunks=chunks_for(a.shape), name=False, meta=np.empty((0,) * a.ndim, a.dtype))
    x = to_device(x, device)
    x.anyarray_computed = a
    return x


def from_source(source: Any, device: str, chunks: Any) -> Native:
    """An array whose blocks are read from a file by the tasks."""

    def read(known: Collection[str]) -> Native:
        name = next(name for name in (f"from_file-{source.name}-{i}" for i in itertools.count()) if name not in known)
        x = to_device(da.from_array(source, chunks, name=name, inline_array=True), device)
        x.anyarray_again = read
        return x

    return read(())


def stored(x: Native, make: Any, in_turn: bool) -> None:
    """Compute an array and write each block to a target.

    `make` returns the target for the lengths of most blocks. Blocks are written one after another, and by this process,
    if they must be `in_turn`.
    """
    x = to_device(known(x), HOST)
    x = x.rechunk(tuple(max(sizes, default=1) or 1 for sizes in x.chunks))
    target = make(tuple(sizes[0] for sizes in x.chunks))
    if x.size:
        with _errors_of_a_cluster():
            da.store(x, target, lock=in_turn, **({"scheduler": "threads"} if in_turn else {}))
