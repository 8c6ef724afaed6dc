"""Dask as a backend: lazy arrays in blocks."""

from __future__ import annotations

import functools
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anyarray as xp
from anyarray._registry.libraries import LIBRARIES

pytest.importorskip("dask.array")
import dask
import dask.array as da

VALUES = np.random.default_rng(3).normal(size=(12, 5))


class Counted:
    """An array whose reads are counted."""

    shape, dtype, ndim = VALUES.shape, VALUES.dtype, 2

    def __init__(self) -> None:
        self.reads = 0

    def __getitem__(self, key: Any) -> Any:
        self.reads += 1
        return VALUES[key]


HAS_CUPY = LIBRARIES["cupy"].is_installed


@pytest.fixture(params=["dask", *["dask-gpu"] * HAS_CUPY])
def where(request: pytest.FixtureRequest) -> str:
    """Dask with blocks of NumPy, and of CuPy if it is installed."""
    return str(request.param)


@pytest.fixture(autouse=True)
def block(request: pytest.FixtureRequest) -> Iterator[None]:
    name = request.getfixturevalue("where") if "where" in request.fixturenames else "dask"
    with xp.backend(name), dask.config.set(scheduler="synchronous"):
        yield


def counted() -> tuple[xp.Array, Counted]:
    source = Counted()
    x = xp.from_native(da.from_array(source, chunks=(3, 5), asarray=False, meta=np.empty((0, 0))))
    source.reads = 0
    return x, source


def split(a: Any, *chunks: int, where: str = "dask") -> xp.Array:
    return xp.from_native(da.from_array(np.asarray(a), chunks=chunks)).to_device(where)


def has_blocks_of(x: xp.Array, where: str) -> bool:
    """Whether the blocks are arrays of NumPy, or of CuPy on a GPU."""
    native = xp.to_native(x)
    assert native._meta.ndim == native.ndim
    kinds = {type(one).__module__ for one in dask.compute(*native.to_delayed().flat)}
    return kinds == {type(native._meta).__module__} == {"cupy" if where == "dask-gpu" else "numpy"}


READS: dict[str, tuple[Callable[[xp.Array], Any], Any]] = {
    "together": (lambda x: xp.compute(xp.mean(x), xp.sum(x)), [VALUES.mean(), VALUES.sum()]),
    "a length and a sum": (
        lambda x: [(part := x[x > 0.5]).shape[0], xp.sum(part)], [np.sum(VALUES > 0.5), VALUES[VALUES > 0.5].sum()]
    ),
    "asked for again": (lambda x: [total := xp.sum(x), float(total), total.tolist(), total + 0], [VALUES.sum()] * 4),
    "persisted": (lambda x: [np.asarray((y := xp.persist(x * 2)[0]) + 1), y + 2], [VALUES * 2 + 1, VALUES * 2 + 2]),
}  # fmt: skip


@pytest.mark.parametrize("way", READS)
def test_values_that_are_computed_together_or_again_read_the_input_once(way: str) -> None:
    x, source = counted()
    x[x > 0.5]
    assert source.reads == 0
    compute, expected = READS[way]
    for found, wanted in zip(compute(x), expected, strict=True):
        np.testing.assert_allclose(np.asarray(found), wanted)
    assert source.reads == 4


def test_a_chain_of_elementwise_calls_is_one_task_a_block() -> None:
    x, _ = counted()
    y = xp.exp(x - 1.0) * 2 + xp.where(x > 0, x, 0.0)
    (graph,) = dask.optimize(y._native)
    assert len([key for key in graph.dask if key[0] == y._native.name]) == 4
    assert len(dict(graph.dask)) <= 4 + 1  # and the source
    expected = np.exp(VALUES - 1.0) * 2 + np.where(VALUES > 0, VALUES, 0.0)
    np.testing.assert_allclose(y.to_numpy(), expected, rtol=1e-15)


def test_repr_shows_blocks_and_computes_nothing() -> None:
    x, source = counted()
    assert repr(x) == "Array(shape=(12, 5), dtype=float64, device=dask, chunks=(3 + 3 + 3 + 3, 5))"
    assert str(x[x > 0]) == "Array(shape=(None,), dtype=float64, device=dask, chunks=(? + ? + ? + ?,))"
    assert repr(split(np.zeros(9), 1)).endswith("chunks=(1 + 1 + ... + 1,))")
    assert source.reads == 0


def test_tokens_of_arrays_tell_their_values_and_compute_nothing() -> None:
    x, source = counted()
    token = dask.base.tokenize(x)
    assert token == dask.base.tokenize(x) != dask.base.tokenize(x + 1)
    x[0, 0] = 2.0
    assert token != dask.base.tokenize(x)
    assert source.reads == 0
    first, second, other = [xp.asarray(VALUES + one, device="numpy") for one in (0, 0, 1)]
    assert dask.base.tokenize(first) == dask.base.tokenize(second) != dask.base.tokenize(other)


def test_what_is_computed_is_on_the_ledger() -> None:
    x, _ = counted()
    with xp.transfers() as log:
        assert len(x[x > 0]) == np.sum(VALUES > 0)
        float(xp.sum(x))
        xp.compute(xp.mean(x))
    assert [(row.source, row.target, row.function) for row in log.rows if row.target == "host"] == [
        ("dask", "host", "shape"),
        ("dask", "host", "float"),
        ("dask", "host", "compute"),
    ]


def test_arrays_of_dask_are_arrays_of_this_backend() -> None:
    native = da.ones((4,), chunks=2)
    for y in (xp.exp(native), xp.asarray(native), xp.ones(4, device="numpy") + native, native + xp.ones(4)):
        assert isinstance(y, xp.Array)
        assert y.device == xp.device("dask")
    assert isinstance(xp.to_native(xp.exp(native)), da.Array)


@pytest.mark.parametrize("library", ["anyarray", "jax.numpy"])
def test_blocks_of_others_become_blocks_of_numpy(library: str) -> None:
    space = pytest.importorskip(library)
    meta = None if space is xp else space.zeros(0, "float32")  # None: Dask asks the function
    make = functools.partial(xp.asarray, device="numpy") if space is xp else space.asarray
    blocks = da.from_array(np.arange(6, dtype="float32"), chunks=3).map_blocks(make, meta=meta)
    found = xp.exp(blocks)
    assert found.device == xp.device("dask") and has_blocks_of(found, "dask")
    np.testing.assert_allclose(found.to_numpy(), np.exp(np.arange(6)), rtol=1e-6)
    assert float(np.asarray(blocks.sum().compute())) == 15.0


OPERATIONS = {
    "operators": [lambda x: x + 1, lambda x: -x * x, lambda x: x > 0, lambda x: x**2, lambda x: abs(x)],
    "ufuncs": [lambda x: da.exp(x), lambda x: da.isnan(x), lambda x: da.maximum(x, 0), lambda x: da.where(x > 0, x, 0)],
    "reductions": [
        lambda x: x.sum(), lambda x: x.mean(axis=1), lambda x: x.std(), lambda x: x.var(axis=0), lambda x: x.min(),
        lambda x: x.max(axis=0), lambda x: x.prod(axis=1), lambda x: (x > 0).any(axis=0), lambda x: (x > -9).all(),
        lambda x: da.nanmean(x), lambda x: da.linalg.norm(x), lambda x: da.topk(x[:, 0], 3),
    ],
    "along an axis": [
        lambda x: x.cumsum(axis=0), lambda x: da.cumprod(x, axis=0), lambda x: da.diff(x, axis=0),
        lambda x: abs(da.fft.fft(x, axis=1)),
    ],
    "shapes": [
        lambda x: x.T, lambda x: x.ravel(), lambda x: x.reshape(4, 3, 5), lambda x: x[:, None], lambda x: da.flip(x, 0),
        lambda x: da.concatenate([x, x]), lambda x: da.stack([x, x]), lambda x: da.broadcast_to(x, (2, 12, 5)),
        lambda x: da.squeeze(x[:, None]), lambda x: da.roll(x, 2, axis=0), lambda x: da.tile(x, (2, 1)),
        lambda x: da.repeat(x, 2, axis=0), lambda x: da.pad(x, 1), lambda x: x.rechunk((3, 5)),
    ],
    "parts": [lambda x: x[2:9, ::2], lambda x: x[3], lambda x: x[[1, 5, 2]], lambda x: x[x[:, 0] > 0]],
    "products": [
        lambda x: x.T @ x, lambda x: da.dot(x, x.T), lambda x: da.tensordot(x, x, axes=((0,), (0,))),
        lambda x: da.outer(x[:, 0], x[:, 1]), lambda x: abs(da.linalg.qr(x)[1]),
    ],
    "of blocks": [lambda x: x.map_blocks(lambda b: b * 2), lambda x: da.clip(x, -1, 1), lambda x: x.astype("f4")],
}  # fmt: skip
"""Functions of Dask that give Arrays if the blocks are Arrays."""


def check_operations(kinds: Iterable[str], backend: xp.Backend) -> None:
    """Compute functions of Dask, together, of blocks that are Arrays."""
    x = da.from_array(xp.asarray(VALUES, device=backend), chunks=(4, 5), asarray=False, name=False)
    functions = {f"{kind}[{i}]": one for kind in kinds for i, one in enumerate(OPERATIONS[kind])}
    found = dask.compute(*[one(x) for one in functions.values()])
    plain = da.from_array(VALUES, chunks=(4, 5))
    wanted = dask.compute(*[one(plain) for one in functions.values()], scheduler="synchronous")
    for name, one, expected in zip(functions, found, wanted, strict=True):
        assert type(one) is xp.Array and one.device == xp.device(backend), f"{name}: {type(one)}"
        np.testing.assert_allclose(np.asarray(one), expected, rtol=1e-5, err_msg=name)


@pytest.mark.few_backends
@pytest.mark.parametrize("kind", OPERATIONS)
def test_dask_computes_with_arrays_as_blocks(kind: str, backend: xp.Backend) -> None:
    check_operations([kind], backend)


def of_other_processes(pytestconfig: pytest.Config) -> Iterable[str]:
    """Kinds of functions that tell whether Arrays cross to another process."""
    return OPERATIONS if pytestconfig.getoption("--all-cases") else ("operators", "parts")


@pytest.mark.few_backends
def test_dask_computes_with_arrays_as_blocks_in_processes(backend: xp.Backend, pytestconfig: pytest.Config) -> None:
    with dask.config.set(scheduler="processes", num_workers=1):
        check_operations(of_other_processes(pytestconfig), backend)


def test_dask_takes_percentiles_of_arrays(backend: xp.Backend) -> None:
    x = da.from_array(xp.asarray(VALUES[:, 0], device=backend), chunks=4, asarray=False, name=False)
    plain = da.from_array(VALUES[:, 0], chunks=4)
    np.testing.assert_allclose(da.percentile(x, [25, 50]).compute(), da.percentile(plain, [25, 50]).compute())


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_a_task_does_not_see_the_block_of_its_caller(scheduler: str) -> None:
    with xp.backend("dask"), xp.default_dtypes(float="float32"), dask.config.set(scheduler=scheduler, num_workers=1):
        seen = dask.delayed(seen_in_a_task)().compute()
        assert str(xp.ones(1).device) == "dask"
        assert xp.ones(1).dtype == xp.float32
    assert seen == ("numpy", "float64")


def seen_in_a_task() -> tuple[str, str]:
    x = xp.ones(1)
    return str(x.device), str(x.dtype)


def positive(x: xp.Array) -> xp.Array:
    """A lazy result of a task, whose length the task has asked for."""
    part = x[x > 0]
    assert part.shape[0]
    return part


def killed(a: Any, marker: str) -> Any:
    """The array; the first process that asks for it dies."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return a
    return os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_computes_the_same_and_its_tasks_see_no_block(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    distributed = pytest.importorskip("distributed")
    workers = 2 if pytestconfig.getoption("--all-cases") else 1
    with (
        dask.config.set(scheduler=None),  # first, as the workers take the configuration
        distributed.LocalCluster(workers, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert client.submit(seen_in_a_task).result() == ("numpy", "float64")
        check_operations(of_other_processes(pytestconfig), xp.device("numpy"))
        x = split(VALUES, 6, 5)
        assert x[x > 0].shape == (np.sum(VALUES > 0),)
        for one, a in zip(client.gather(client.map(positive, [x, x + 1])), (VALUES, VALUES + 1), strict=True):
            kept = dict(xp.to_native(one).dask).values()
            assert not [one for one in kept if isinstance(one, distributed.Future)]  # which end with the task
            np.testing.assert_allclose(one.to_numpy(), a[a > 0])
        with xp.backend("numpy"):
            wanted = [function(xp.asarray(VALUES)) for function in FUNCTIONS.values()]
        found = xp.compute(*[function(x) for function in FUNCTIONS.values()])
        for name, one, expected in zip(FUNCTIONS, found, wanted, strict=True):
            np.testing.assert_allclose(one.to_numpy(), expected.to_numpy(), rtol=1e-5, err_msg=name)

        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
        dying = da.from_array(VALUES, chunks=(12, 5)).map_blocks(killed, str(tmp_path / "died"), meta=VALUES[:0])
        with pytest.raises(xp.BackendError, match="dask: the cluster ended or lost its workers while it computed"):
            float(xp.sum(xp.from_native(dying)))


OF_ROWS: dict[str, Callable[[xp.Array], Any]] = {
    "poly": xp.poly,
    "ndim": lambda x: x.ndim,
    "transposed": lambda x: x.T @ x,
    "broadcast": lambda x: x * x[:, 0][:, None] + x[0],
    "inverse": xp.linalg.inv,
    "last": lambda x: x[-1],
    "reversed": lambda x: x[::-1, 1:],
    "concat": lambda x: xp.concat([x, x + 1]),
    "iteration": lambda x: [float(xp.sum(row)) for row in x],
    "written": lambda x: [x.__setitem__((slice(1, None), 0), 9.0), x][1],
    "written where": lambda x: [x.__setitem__(x > 1, 0.0), x][1],
}


def test_rows_of_which_the_number_is_unknown_give_what_numpy_gives() -> None:
    is_taken = np.abs(VALUES[:, 0]) > 0.5
    assert np.sum(is_taken) == 5
    for name, function in OF_ROWS.items():
        found = function(split(VALUES, 5, 5)[xp.asarray(is_taken)])
        with xp.backend("numpy"):
            wanted = function(xp.asarray(VALUES[is_taken]))
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), err_msg=name)


FUNCTIONS = {
    "sum": lambda x: xp.sum(x, axis=1),
    "sum of narrow integers": lambda x: xp.sum(xp.astype(xp.abs(x), xp.uint8), axis=0),
    "prod": xp.prod,
    "max": lambda x: xp.max(x, axis=(0, 1), keepdims=True),
    "mean": lambda x: xp.mean(x, axis=0),
    "var": lambda x: xp.var(x, correction=1.0),
    "std": lambda x: xp.std(x, axis=1, keepdims=True),
    "var of one axis of float32": lambda x: xp.var(xp.astype(x, xp.float32), axis=0),
    "any": lambda x: xp.any(x > 1, axis=0),
    "argmax": xp.argmax,
    "argmin along": lambda x: xp.argmin(x, axis=0),
    "first of equal elements": lambda x: xp.argmax(x > 0),
    "cumulative_sum": lambda x: xp.cumulative_sum(x, axis=0, include_initial=True),
    "count_nonzero": lambda x: xp.count_nonzero(x > 0),
    "matmul": lambda x: x.T @ x,
    "matmul of a vector": lambda x: x @ x[0, :],
    "tensordot": lambda x: xp.tensordot(x, x, axes=((0, 1), (0, 1))),
    "vecdot": lambda x: xp.vecdot(x, x),
    "sort": lambda x: xp.sort(x, axis=0, descending=True),
    "argsort": lambda x: xp.argsort(x, axis=1),
    "rfft": lambda x: xp.fft.rfft(x, axis=0),
    "irfft": lambda x: xp.fft.irfft(x, axis=1),
    "fftn": xp.fft.fftn,
    "r of qr": lambda x: xp.abs(xp.linalg.qr(x).R),
    "svdvals": xp.linalg.svdvals,
    "svd": lambda x: xp.linalg.svd(x, full_matrices=False).S,
    "pinv": xp.linalg.pinv,
    "solve": lambda x: xp.linalg.solve(x.T @ x, xp.ones((5, 2), device=x.device)),
    "norm": lambda x: xp.linalg.vector_norm(x, axis=1, ord=3),
    "slices": lambda x: x[1:10:3, ::-1],
    "indices": lambda x: x[xp.asarray([3, -1, 3]), :],
    "two index arrays": lambda x: x[xp.asarray([3, -1]), xp.asarray([0, 4])],
    "a mask of rows": lambda x: x[x[:, 0] > 0],
    "nonzero": lambda x: xp.stack(xp.nonzero(x > 0)),
    "unique": lambda x: xp.unique_counts(xp.round(x)).counts,
    "searchsorted": lambda x: xp.searchsorted(xp.sort(x[:, 0]), x[:, 1]),
    "take_along_axis": lambda x: xp.take_along_axis(x, xp.argsort(x, axis=0), axis=0),
    "repeat": lambda x: xp.repeat(x, 2, axis=1),
    "tril": lambda x: xp.tril(x, k=1),
    "roll": lambda x: xp.roll(x, 3),
    "reshape": lambda x: xp.reshape(x, (5, 12)),
    "clip": lambda x: xp.clip(x, max=0.5),
    "isin": lambda x: xp.isin(xp.round(x), xp.asarray([0.0, 1.0])),
    "median": lambda x: xp.median(x, axis=0),
    "eigvalsh": lambda x: xp.linalg.eigvalsh((z := (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)).T @ z),
    "stack of totals": lambda x: xp.stack([xp.sum(x), xp.std(x), xp.max(x)]),
}  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("chunks", [(12, 5), (5, 5), (5, 2)])
def test_functions_of_blocks_have_the_values_and_dtypes_of_numpy(
    function: str, chunks: tuple[int, int], where: str
) -> None:
    found = FUNCTIONS[function](split(VALUES, *chunks, where=where))
    with xp.backend("numpy"):
        wanted = FUNCTIONS[function](xp.asarray(VALUES))
    assert found.device == xp.device(where) and has_blocks_of(found, where)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found.to_numpy(), wanted.to_numpy(), rtol=1e-5 if found.dtype == xp.float32 else 1e-12)


@pytest.mark.parametrize("key", [0, slice(2, 9), (slice(None), 1), (2, 3), ...], ids=str)
def test_writes_to_blocks(key: Any, where: str) -> None:
    x = split(VALUES, 5, 2, where=where)
    before = x * 1
    x[key] = 7
    wanted = VALUES.copy()
    wanted[key] = 7
    np.testing.assert_array_equal(x.to_numpy(), wanted)
    np.testing.assert_array_equal(before.to_numpy(), VALUES)
    x[x > 5] = 0.0
    x[xp.asarray([1, 3]), xp.asarray([0, 2])] = xp.asarray([1.0, 2.0])
    wanted[wanted > 5] = 0.0
    wanted[[1, 3], [0, 2]] = [1.0, 2.0]
    np.testing.assert_array_equal(x.to_numpy(), wanted)


def test_blocks_stay_blocks() -> None:
    x = split(VALUES, 3, 5)
    q, r = xp.linalg.qr(x)
    many = {"qr": q, "svd": xp.linalg.svd(x, full_matrices=False).U, "sort": xp.sort(x, axis=1), "exp": xp.exp(x)}
    many |= {"fft": xp.fft.fft(x, axis=1), "matmul": x @ r, "sums": xp.sum(x, axis=1), "rows": x[x[:, 0] > 0]}
    assert {name: y._native.npartitions for name, y in many.items()} == dict.fromkeys(many, 4)


def test_edges_that_are_cut_and_put_back_leave_no_more_blocks() -> None:
    x = y = split(VALUES, 6, 5)
    for _ in range(4):
        x = xp.concat([x[:1], x[1:-1] + x[2:] - x[:-2], x[-1:]])
        y = xp.roll(y, 1, axis=0)
    assert x.shape == VALUES.shape and x._native.npartitions <= 4 and y._native.npartitions <= 4
    np.testing.assert_array_equal(y.to_numpy(), np.roll(VALUES, 4, axis=0))


def test_random_numbers_are_those_of_numpy_in_any_blocks(where: str) -> None:
    key = xp.random.key(5)
    with dask.config.set({"array.chunk-size": "4kB"}):
        x = xp.random.standard_normal(key, (1000, 3))
    assert x._native.npartitions > 4 and has_blocks_of(x, where)
    with xp.backend("numpy"):
        np.testing.assert_array_equal(x.to_numpy(), xp.random.standard_normal(xp.random.key(5), (1000, 3)).to_numpy())


@pytest.mark.parametrize(
    "make",
    [
        lambda: xp.linspace(-1, 3, 100_003),
        lambda: xp.arange(0, 10_000, 0.1),
        lambda: xp.arange(5, -300_000, -3),
        lambda: xp.eye(300, 400, k=-2),
        lambda: xp.full((300, 400), 2.5),
    ],
    ids=["linspace", "arange of floats", "arange of integers", "eye", "full"],
)
def test_new_arrays_are_those_of_numpy_in_any_blocks(make: Any, where: str) -> None:
    with dask.config.set({"array.chunk-size": "100kB"}):
        x = make()
    assert x._native.npartitions > 4 and has_blocks_of(x, where)
    with xp.backend("numpy"):
        np.testing.assert_array_equal(x.to_numpy(), make().to_numpy())


def test_what_is_too_large_for_one_block_is_refused_with_the_cure() -> None:
    x = xp.zeros((10**6, 10**6))
    with pytest.raises(
        xp.TooLargeError,
        match=re.escape(
            "dask: an array of shape (1000000, 1000000) would need a block of 7.28 TiB, and the largest allowed is "
            'lgst. Reduce the array first, or allow more: dask.config.set({"anyarray.largest-block": "14.55 TiB"})'
        ).replace("lgst", "2.00 GiB"),
    ):
        xp.linalg.inv(x)
    with dask.config.set({"anyarray.largest-block": "100 B"}), pytest.raises(MemoryError, match="480 B"):
        xp.unique_values(split(VALUES, 3, 5))


LOOPS = {
    "fori_loop": lambda x: xp.fori_loop(0, 3, lambda i, c: c * 2 + i + x, x),
    "while_loop": lambda x: xp.while_loop(lambda c: xp.max(c) < 100, lambda c: xp.abs(c * 2 + 1), x),
    "scan": lambda x: xp.scan(lambda c, row: (c + row, xp.sum(c * row)), xp.zeros(5), x)[1],
    "scan, reversed": lambda x: xp.scan(lambda c, row: (c + row, c), xp.zeros(5), x, reverse=True)[1],
    "cond": lambda x: xp.cond(xp.sum(x) > 3, lambda v: v * 2, lambda v: v, x),
    "map": lambda x: xp.map(lambda row: xp.sum(row * row), x),
    "associative_scan": lambda x: xp.associative_scan(xp.add, x),
}  # fmt: skip


@pytest.mark.parametrize("loop", LOOPS)
def test_loops_and_branches_run_in_python(loop: str) -> None:
    found = LOOPS[loop](split(VALUES, 5, 2))
    with xp.backend("numpy"):
        wanted = LOOPS[loop](xp.asarray(VALUES))
    assert found.device == xp.device("dask")
    np.testing.assert_allclose(found.to_numpy(), wanted.to_numpy(), rtol=1e-12)


def test_derivatives_and_compilation_are_refused_with_the_mesh() -> None:
    for transform in (xp.grad, xp.jit, xp.jacobian):
        with pytest.raises(xp.UnsupportedError, match=r"with xp\.backend\(xp\.mesh\(\.\.\.\)\)"):
            transform(xp.sum)(xp.ones(3))


def test_an_error_of_a_task_comes_where_the_value_is_asked_for() -> None:
    y = xp.linalg.inv(split(np.zeros((2, 2)), 2, 2))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        y.to_numpy()


def test_an_array_can_be_pickled_and_copied_to_numpy(where: str) -> None:
    x = split(VALUES, 3, 5, where=where) + 1
    again = pickle.loads(pickle.dumps(x))
    assert again.device == x.device and repr(again) == repr(x)
    again[0, 0] = 5.0
    np.testing.assert_array_equal(again.to_numpy()[1:], VALUES[1:] + 1)
    np.testing.assert_array_equal(np.asarray(x.to_device("numpy")), VALUES + 1)


def test_what_a_cluster_asks_while_it_holds_locks_computes_nothing() -> None:
    x, source = counted()
    for one in (xp.exp(x)[x > 0.5], xp.sum(x)):
        pickle.dumps(one)
        assert sys.getsizeof(one) < 1000 and one.ndim < 2
        with pytest.raises(TypeError, match=r"^hash: unhashable type: 'Array' on dask"):
            hash(one)
    assert source.reads == 0


def test_blocks_of_a_file_are_read_by_each_task(tmp_path: Path, where: str) -> None:
    np.save(tmp_path / "x.npy", VALUES)
    x = xp.from_file(tmp_path / "x.npy", chunks=(4, 5))
    assert x._native.chunks == ((4, 4, 4), (5,)) and has_blocks_of(x, where)
    np.testing.assert_array_equal((x * 2).to_numpy(), VALUES * 2)
    xp.to_file(x * 2, tmp_path / "y.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), VALUES * 2)


def test_functions_of_arrays_without_elements(where: str) -> None:
    x = split(np.zeros((0, 5)), 0, 5, where=where)
    y = split(VALUES, 5, 2, where=where)[3:3]
    for one in (x, y):
        assert float(xp.sum(one)) == 0 and xp.sort(one, axis=0).shape == (0, 5)
        assert (one.T @ one).tolist() == [[0] * 5] * 5
        assert xp.linalg.qr(one).R.shape == (0, 5) and xp.nonzero(one)[1].shape == (0,)
        assert xp.sum(one, axis=0).device == xp.device(where)
        assert one[:, xp.asarray([0, 3, 3])].shape == (0, 3) and xp.linalg.solve(
            one.T @ one + xp.eye(5), one.T
        ).shape == (5, 0)
        with pytest.raises(ValueError, match=re.escape("max: x of shape (0, 5) has no elements along the axis")):
            xp.max(one)


def test_what_has_no_elements_reads_nothing() -> None:
    x, source = counted()
    none = xp.zeros((0,), dtype=xp.int64)
    assert xp.take(x, none, axis=0).shape == x[none].shape == (0, 5)
    assert (x @ xp.zeros((5, 0))).shape == (12, 0)
    assert not xp.any(xp.isin(x[0, :], xp.zeros((0,))))
    x[none] = xp.zeros((0, 5))
    x[1:1] = xp.zeros((0, 5))
    assert source.reads == 1


def test_the_user_s_own_blocks_decide_the_backend(where: str) -> None:
    x = xp.to_native(split(VALUES, 5, 5, where=where))
    assert xp.from_native(x).device == (xp.exp(x)).device == xp.device(where)
    assert (xp.exp(x) + 1).to_device("numpy").device == xp.device("numpy")


@pytest.mark.skipif(HAS_CUPY, reason="CuPy is installed")
def test_blocks_of_cupy_need_cupy(run_python: Callable[..., str]) -> None:
    program = """
        import anyarray as xp
        try:
            xp.device("dask-gpu")
        except xp.BackendNotInstalledError as error:
            print(error)
    """
    assert run_python(program).strip() == (
        'backend "dask-gpu" has blocks of CuPy: backend "cupy" is known, but cupy is not installed. '
        'Run: pip install "anyarray[cupy]"'
    )


@pytest.mark.skipif(HAS_CUPY or shutil.which("g++") is None, reason="CuPy is installed, or no compiler")
def test_the_same_on_the_stand_in_of_cupy() -> None:
    pytest.importorskip("array_api_compat")
    options = ["-q", "-p", "cupy_on_numpy", "-p", "no:cacheprovider", "--backends", "numpy"]
    here = Path(__file__)
    paths = os.pathsep.join([str(here.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-k", "dask-gpu and not chunks0", str(here)],
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0 and re.search(r"\d\d passed", done.stdout), done.stdout[-3000:]
