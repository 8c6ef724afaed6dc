"""Arrays in loops, branches, maps, replicas and shards of the frameworks.

JAX and TensorFlow run these themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import anyarray as xp

START = np.asarray([1.0, 2.0, 4.0])


@pytest.fixture
def jax() -> ModuleType:
    found: ModuleType = pytest.importorskip("jax")
    xp.device("jax")
    return found


@pytest.fixture
def tf() -> ModuleType:
    pytest.importorskip("tensorflow")
    xp.device("tf")  # first, as it quiets TensorFlow's import
    found: ModuleType = pytest.importorskip("tensorflow")
    return found


def assert_array(found: Any, expected: Any, library: str) -> None:
    assert isinstance(found, xp.Array)
    assert found.device.library == library
    np.testing.assert_array_equal(np.asarray(found), expected)


def test_a_scan_of_jax_carries_and_stacks_arrays(jax: ModuleType) -> None:
    x = xp.asarray(START, device="jax")
    with jax.enable_x64(True):
        total, sums = jax.lax.scan(lambda carry, one: (carry + one, {"sum": carry * 2}), x[0], x)
    assert_array(total, 8, "jax")
    assert_array(sums["sum"], [2, 4, 8], "jax")


def test_loops_and_branches_of_jax_take_arrays(jax: ModuleType) -> None:
    x = xp.asarray(START, device="jax")
    with jax.enable_x64(True):
        assert_array(jax.lax.fori_loop(0, 3, lambda i, v: v * 2, x), START * 8, "jax")
        assert_array(jax.lax.cond(True, lambda v: v + 1, lambda v: v - 1, x), START + 1, "jax")
        grown = jax.lax.while_loop(lambda v: xp.to_native(xp.sum(v) < 50), lambda v: v * 2, x)
    assert_array(grown, START * 8, "jax")


def test_grad_and_vmap_of_jax_give_arrays(jax: ModuleType) -> None:
    x = xp.asarray(START, device="jax")
    with jax.enable_x64(True):
        slope = jax.grad(lambda tree: xp.to_native(xp.sum(tree["x"] ** 2)))({"x": x})
        assert_array(slope["x"], START * 2, "jax")
        assert_array(jax.vmap(lambda v, w: v * w, in_axes=(0, None))(x, x), np.outer(START, START), "jax")


def test_shards_of_jax_stay_where_they_are(run_python: Callable[..., str]) -> None:
    pytest.importorskip("jax")
    printed = run_python(
        """
        import jax, numpy as np
        from jax.sharding import Mesh, NamedSharding, PartitionSpec
        import anyarray as xp

        mesh = Mesh(np.asarray(jax.devices()), ("i",))
        split = NamedSharding(mesh, PartitionSpec("i"))
        native = jax.device_put(np.arange(8, dtype=np.float32), split)
        x = xp.from_native(native)
        y = xp.exp(x) * 2 + x
        z = xp.jit(lambda x: xp.sin(x) + 1)(x)
        g = xp.grad(lambda x: xp.sum(x**2))(x)
        print(len(jax.devices()), *[xp.to_native(one).sharding == split for one in (x, y, z, g)])
        print(float(xp.sum(x)), np.asarray(g).tolist())
        """,
        XLA_FLAGS="--xla_force_host_platform_device_count=4",
        JAX_PLATFORMS="cpu",
    )
    assert printed.splitlines() == ["4 True True True True", "28.0 [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]"]


def test_map_fn_of_tensorflow_maps_arrays(tf: ModuleType) -> None:
    x = xp.asarray(START, device="tf")
    assert_array(tf.map_fn(lambda v: v * 2, x), START * 2, "tf")
    assert_array(tf.function(lambda v: tf.map_fn(lambda one: one + 1, v))(x), START + 1, "tf")


def test_loops_and_branches_of_tensorflow_take_arrays(tf: ModuleType) -> None:
    @tf.function  # type: ignore[untyped-decorator]  # TensorFlow has no types
    def graph(x: Any) -> Any:
        (grown,) = tf.while_loop(lambda v: xp.to_native(xp.sum(v) < 50), lambda v: (v * 2,), (x,))
        return tf.cond(tf.constant(True), lambda: grown + 1, lambda: grown)

    assert_array(graph(xp.asarray(START, device="tf")), START * 8 + 1, "tf")


def test_a_data_set_of_tensorflow_maps_arrays(tf: ModuleType) -> None:
    x = xp.asarray(START, device="tf")
    data = tf.data.Dataset.from_tensor_slices({"x": x}).map(lambda row: row["x"] * 2).batch(3)
    (batch,) = list(data)
    assert_array(batch, START * 2, "tf")


def test_a_strategy_of_tensorflow_runs_on_arrays(tf: ModuleType) -> None:
    strategy = tf.distribute.get_strategy()
    x = xp.asarray(START, device="tf")
    assert_array(strategy.run(lambda v: v * 2, args=(x,)), START * 2, "tf")
    assert_array(tf.function(lambda v: strategy.run(xp.exp, args=(v,)))(x), np.exp(START), "tf")


def test_a_tape_of_tensorflow_gives_gradients_by_nested_arrays(tf: ModuleType) -> None:
    tree = {"a": xp.asarray(START, device="tf"), "b": [xp.ones(3, device="tf")]}
    with tf.GradientTape() as tape:
        tape.watch(tree)
        total = xp.sum(tree["a"] ** 2 * tree["b"][0])
    found = tape.gradient(total, tree)
    assert_array(found["a"], START * 2, "tf")
    assert_array(found["b"][0], START**2, "tf")


def test_an_unknown_length_goes_through_a_transform(tf: ModuleType) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)])  # type: ignore[untyped-decorator]  # as above
    def graph(native: Any) -> Any:
        x = xp.from_native(native)
        slopes = xp.vmap(xp.grad(lambda row: xp.sum(row**2)))(x)
        return xp.to_native(slopes), xp.to_native(xp.jit(xp.exp)(x))

    slopes, grown = graph(np.tile(START, (2, 1)))
    np.testing.assert_array_equal(slopes.numpy(), np.tile(START * 2, (2, 1)))
    np.testing.assert_allclose(grown.numpy(), np.exp(np.tile(START, (2, 1))), rtol=1e-15)
