"""Run by test_mesh, in an interpreter with eight devices of JAX."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import anyarray as xp


def raises(kind: type[Exception], text: str, function: Callable[[], object]) -> None:
    try:
        function()
    except kind as error:
        assert re.search(text, str(error)), str(error)
    else:
        raise AssertionError(f"no {kind.__name__}")


A = np.arange(64.0).reshape(8, 8)
mesh = xp.mesh("jax", rows=8)
parts = Mesh(np.array(jax.devices()[4:]), ("d",))


def test_an_array_of_some_devices() -> None:
    with jax.enable_x64(True):
        x = xp.from_native(jax.device_put(A, NamedSharding(parts, P("d"))))
    assert str(x.device) == "jax-mesh(d=4)[4, 5, 6, 7]" and xp.device(str(x.device)) is x.device
    assert np.array_equal(x + 1, A + 1)
    assert xp.zeros_like(x).device is x.device
    assert xp.to_native(xp.zeros_like(x)).sharding.spec == P("d", None)
    assert np.array_equal(x + xp.asarray(A), 2 * A)
    turned = Mesh(np.array(jax.devices()[::-1]), ("rows",))
    with jax.enable_x64(True):
        y = xp.from_native(jax.device_put(A, NamedSharding(turned, P("rows"))))
    assert y.device is not mesh and xp.device(str(y.device)) is y.device
    assert np.array_equal(y + 1, A + 1)


def test_layouts_are_defaults() -> None:
    with xp.backend(mesh):
        x = xp.asarray(A)
        assert x.device is mesh and xp.to_native(x).sharding.spec == P("rows", None)
        assert xp.to_native(xp.ones(3)).is_fully_replicated
        y = x.to_device(mesh.split(1))
        assert y.device is mesh and xp.to_native(y).sharding.spec == P(None, ("rows",))
        assert np.array_equal(x + y, 2 * A)
    grid = xp.mesh("jax", rows=2, cols=4)
    assert xp.to_native(xp.ones((4, 8), device=grid)).sharding.spec == P("rows", "cols")


def test_values() -> None:
    with xp.backend(mesh):
        x = xp.asarray(A)
        assert x[x > 40].tolist() == A[A > 40].tolist()
        assert [i.tolist() for i in xp.nonzero(x > 60)] == [i.tolist() for i in np.nonzero(A > 60)]
        assert xp.unique_values(x % 3).tolist() == [0, 1, 2]
        assert np.allclose(xp.linalg.svdvals(x + xp.eye(8)), np.linalg.svd(A + np.eye(8), compute_uv=False))
        x[2:4] = 7
        part = x[2]
        part[0] = -1
        assert x[2, :2].tolist() == [-1, 7]
        w = xp.jit(xp.grad(lambda w: xp.sum((xp.asarray(A) @ w - 1) ** 2)))(xp.zeros(8))
        assert np.allclose(w, -2 * A.sum(0))
        copy = pickle.loads(pickle.dumps(x))
        assert copy.device is mesh and np.array_equal(copy, x)


LOOPS: dict[str, Callable[[Any], Any]] = {
    "fori_loop": lambda x: xp.fori_loop(0, 3, lambda i, c: c * 2 + i + x, x),
    "while_loop": lambda x: xp.while_loop(lambda c: xp.max(c) < 100, lambda c: c * 2 + 1, x),
    "scan": lambda x: xp.scan(lambda c, row: (c + row, xp.sum(c * row)), xp.zeros(8), x)[1],
    "cond": lambda x: xp.cond(xp.sum(x) > 3, lambda v: v * 2, lambda v: v, x),
    "map": lambda x: xp.map(lambda row: xp.sum(row * row), x),
}


def test_loops_and_branches() -> None:
    for name, loop in LOOPS.items():
        with xp.backend("numpy"):
            wanted = loop(xp.asarray(A))
        with xp.backend(mesh):
            for found in (loop(xp.asarray(A)), xp.jit(loop)(xp.asarray(A))):
                assert found.device is mesh and np.allclose(found, wanted), name
    with xp.backend(mesh):
        slope = xp.grad(lambda x: xp.sum(xp.scan(lambda c, row: (c + row, c * row), xp.zeros(8), x)[1]))(xp.asarray(A))
    assert np.allclose(slope, A.sum(0) - A)


def test_its_text() -> None:
    x = xp.asarray(A, device=mesh)
    said = "Array(shape=(8, 8), dtype=float64, device=jax-mesh(rows=8), layout=('rows', None))"
    assert repr(x) == str(x) == said
    assert repr(xp.ones(3, device=mesh)) == "Array([1., 1., 1.], dtype=float64, device=jax-mesh(rows=8))"


def test_errors() -> None:
    raises(
        xp.DeviceNotFoundError,
        "rows=3 \\* cols=4 takes 12 devices, and jax finds 8",
        lambda: xp.mesh("jax", rows=3, cols=4),
    )
    raises(xp.DeviceNotFoundError, "jax has no 2 devices of the numbers", lambda: xp.device("jax-mesh(rows=2)[6, 90]"))
    raises(xp.UnsupportedError, "numpy has no arrays over several devices", lambda: xp.mesh("numpy", rows=2))
    raises(TypeError, "lengths must be integers", lambda: xp.mesh("jax", rows=2.0))
    raises(xp.UnsupportedError, "numpy is one device", lambda: xp.device("numpy").split(0))
    raises(xp.AxisError, "axis 2 of the split", lambda: xp.asarray(A).to_device(mesh.split(2)))
    raises(ValueError, "from_local: device must be a mesh, not numpy", lambda: xp.from_local(A))
    explicit = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Explicit,))
    raises(
        xp.UnsupportedError, "AxisType.Auto", lambda: xp.from_native(jax.device_put(A, NamedSharding(explicit, P("d"))))
    )


def test_parts_of_one_process_are_all() -> None:
    assert xp.from_local(A, device=mesh).tolist() == A.tolist()


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
print("done")
