"""Run by test_mesh twice, as two processes with four devices each."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import anyarray as xp

rank, port = int(sys.argv[1]), sys.argv[2]
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"127.0.0.1:{port}", 2, rank)

DRAWN = xp.random.uniform(xp.random.key(1), (3,)).tolist()
mesh = xp.mesh("jax", rows=8)
A = np.arange(64.0).reshape(8, 8) + 50 * np.eye(8)
failed: list[str] = []


def check(name: str, find: Callable[[], Any], expected: Any) -> None:
    try:
        found = find()
        parts = found if isinstance(found, (tuple, list)) else (found,)
        wanted = expected if isinstance(expected, (tuple, list)) else (expected,)
        for one, other in zip(parts, wanted, strict=True):
            if type(one) is xp.Array:
                assert one.device is mesh, one.device
                one = one.to_numpy()
            assert np.allclose(one, other), (one, other)
    except Exception as error:  # noqa: BLE001 - each is reported
        failed.append(f"{name}: {type(error).__name__}: {error}")


def written(x: Any) -> Any:
    x[2] = 9.0
    x[1:3, 0] += 1
    x[x > 100] = 0
    part = x[4:6]
    part[...] = 7
    return x


def read_from_a_file() -> Any:
    """A file of which each process reads its rows."""
    path = f"{sys.argv[3]}/rows_{rank}.npy"
    np.save(path, A)
    found = xp.from_file(path)
    parts = [piece.index[0] for piece in xp.to_native(found).addressable_shards]
    assert {one.start for one in parts} == set(range(4 * rank, 4 * rank + 4)), parts
    return found, found[4:] + 1


def loss(w: Any, x: Any) -> Any:
    return ((x @ w - 1) ** 2).sum() if isinstance(x, np.ndarray) else xp.sum((x @ w - 1) ** 2)


with xp.backend(mesh):
    x = xp.asarray(A)
    check(
        "creation",
        lambda: [xp.zeros((8, 2)), xp.arange(16.0), xp.eye(8), xp.full(3, 2.0)],
        [np.zeros((8, 2)), np.arange(16.0), np.eye(8), np.full(3, 2.0)],
    )
    check("arithmetic", lambda: [x + np.ones(8), x + xp.ones(1), xp.exp(-x)], [A + 1, A + 1, np.exp(-A)])
    check("reductions", lambda: [xp.std(x), xp.argmax(x), xp.cumulative_sum(x, axis=0)], [A.std(), 63, A.cumsum(0)])
    check(
        "manipulation",
        lambda: [xp.reshape(x, (4, 16)), xp.concat([x, x]), xp.take(x, xp.asarray([1, 3]), axis=0)],
        [A.reshape(4, 16), np.concatenate([A, A]), A[[1, 3]]],
    )
    check("writes", lambda: written(xp.asarray(A, copy=True)), written(A.copy()))
    check(
        "masks",
        lambda: [x[x > 40], *xp.nonzero(x > 60), xp.unique_values(x % 3)],
        [A[A > 40], *np.nonzero(A > 60), np.unique(A % 3)],
    )
    check(
        "sorting",
        lambda: [xp.sort(x, axis=0), xp.searchsorted(xp.arange(8.0), xp.asarray([2.5]))],
        [np.sort(A, 0), [3]],
    )
    check(
        "linear algebra",
        lambda: [x @ x.T, xp.linalg.svdvals(x), xp.linalg.solve(x, xp.ones(8))],
        [A @ A.T, np.linalg.svd(A, compute_uv=False), np.linalg.solve(A, np.ones(8))],
    )
    check("FFT", lambda: xp.fft.fft(x), np.fft.fft(A))
    slope = 2 * A.T @ (A @ np.zeros(8) - 1)
    check(
        "derivatives",
        lambda: [
            xp.grad(loss)(xp.zeros(8), x),
            xp.jit(xp.grad(loss))(xp.zeros(8), x),
            xp.vmap(lambda row: xp.sum(row * row))(x),
        ],
        [slope, slope, (A * A).sum(1)],
    )
    check("random numbers", lambda: xp.random.uniform(xp.random.key(1), (3,)), [DRAWN])
    check(
        "reads",
        lambda: [
            float(x[3, 3]),
            x.tolist(),
            np.asarray(x),
            bool(xp.any(x > 3)),
            [float(row[0]) for row in x][:2],
            x.to_device("numpy").to_numpy(),
        ],
        [A[3, 3], A.tolist(), A, True, [50.0, 8.0], A],
    )
    check("parts", lambda: xp.from_local(np.full((4, 2), float(rank))), np.repeat([0.0, 1.0], 4)[:, None] * np.ones(2))
    check("files", read_from_a_file, [A, A[4:] + 1])
    check("layouts", lambda: x.to_device(mesh.split(1)), A)
    check("pickling", lambda: pickle.loads(pickle.dumps(x)), A)
    if "layout=('rows', None)" not in repr(x):
        failed.append(repr(x))
    try:
        xp.jit(lambda w: x @ w)(xp.ones(8))
    except xp.UnsupportedError as error:
        if "Pass it as one" not in str(error):
            failed.append(str(error))
    else:
        failed.append("a function may read what is no argument")
print("\n".join(failed) or "done")
