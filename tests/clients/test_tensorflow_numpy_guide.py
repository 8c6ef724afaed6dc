"""The subjects of TensorFlow NumPy's guide, with `anyarray.numpy` as `tnp`."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp
import anyarray.numpy as tnp

pytestmark = pytest.mark.few_backends

ROWS: Final = np.arange(12.0).reshape(4, 3) / 10 - 0.5
WEIGHTS: Final = np.asarray([[0.5, -1.0], [2.0, 0.25], [-0.75, 1.0]])


@pytest.fixture
def tf() -> Any:
    module: ModuleType = pytest.importorskip("tensorflow")
    with xp.backend("tf"):
        yield module


def hidden(x: Any) -> Any:
    """A layer with relu; its slope by `x` is `WEIGHTS.T`, or 0."""
    return tnp.maximum(tnp.matmul(x, tnp.asarray(WEIGHTS)), 0)


SLOPES: Final = (ROWS @ WEIGHTS > 0)[:, :, None] * WEIGHTS.T
"""The derivatives of `hidden` for each row."""


def taped(tf: ModuleType, x: Any) -> tuple[Any, Any, Any]:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = hidden(x)
    return tape, y, x


@pytest.mark.parametrize("compiled", [False, True])
def test_the_batch_jacobian_of_a_tape_takes_arrays(tf: ModuleType, compiled: bool) -> None:
    def of_rows(x: Any) -> Any:
        tape, y, x = taped(tf, x)
        return tape.batch_jacobian(y, x)

    found = (tf.function(of_rows) if compiled else of_rows)(tnp.asarray(ROWS))
    np.testing.assert_array_equal(np.asarray(found), SLOPES)


def test_the_jacobian_of_a_tape_takes_arrays(tf: ModuleType) -> None:
    tape, y, x = taped(tf, tnp.asarray(ROWS))
    found = np.asarray(tape.jacobian(y, x))
    assert found.shape == (4, 2, 4, 3)
    np.testing.assert_array_equal(found[range(4), :, range(4)], SLOPES)


def test_a_gradient_that_is_none_is_none(tf: ModuleType) -> None:
    x, unused = tnp.asarray(ROWS), tnp.ones(2)
    with tf.GradientTape() as tape:
        tape.watch([x, unused])
        total = tnp.sum(x * 2)
    slopes = tape.gradient(total, [x, unused])
    assert slopes[0].tolist() == np.full((4, 3), 2.0).tolist()
    assert slopes[1] is None


def test_a_vectorized_map_of_tensorflow_takes_and_gives_arrays(tf: ModuleType) -> None:
    x = tnp.asarray(ROWS)
    found = tf.vectorized_map(lambda row: {"total": tnp.sum(row), "rows": hidden(row[None])}, x)
    assert isinstance(found["total"], tnp.ndarray)
    np.testing.assert_allclose(np.asarray(found["total"]), ROWS.sum(axis=1), atol=1e-15)
    np.testing.assert_allclose(np.asarray(found["rows"])[:, 0], np.maximum(ROWS @ WEIGHTS, 0), rtol=1e-15)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_vectorized_map_of_gradients_gives_those_of_each_example(tf: ModuleType, compiled: bool) -> None:
    def of_one(row: Any) -> Any:
        tape, y, x = taped(tf, tnp.expand_dims(row, 0))
        return tape.gradient(y, x)

    def of_all(x: Any) -> Any:
        return tf.vectorized_map(of_one, x)

    found = (tf.function(of_all) if compiled else of_all)(tnp.asarray(ROWS))
    np.testing.assert_array_equal(np.asarray(found)[:, 0], SLOPES.sum(axis=1))


def test_a_map_with_a_signature_of_tensors_names_the_cure(tf: ModuleType) -> None:
    x = tnp.asarray(ROWS)
    with pytest.raises(ValueError, match=r"xp\.to_native\(x\) is its tensor; or map by xp\.vmap\(f\)"):
        tf.map_fn(lambda row: (row * 2, row + 1), x, fn_output_signature=(tf.float64, tf.float64))
    doubled, _ = tf.map_fn(
        lambda row: (xp.to_native(row * 2), xp.to_native(row + 1)), x, fn_output_signature=(tf.float64, tf.float64)
    )
    np.testing.assert_array_equal(np.asarray(doubled), ROWS * 2)


def test_the_data_of_an_array_is_its_tensor(tf: ModuleType) -> None:
    x = tnp.asarray(ROWS)
    assert isinstance(x.data, tf.Tensor)
    assert "CPU" in tnp.ones(2).data.device or "GPU" in tnp.ones(2).data.device
    assert tnp.asarray(x.data).tolist() == ROWS.tolist()


def test_len_is_that_of_the_first_axis_in_a_graph(tf: ModuleType) -> None:
    lengths = []

    def graph(x: Any) -> Any:
        lengths.append(len(x))
        return x

    tf.function(graph)(tnp.asarray(ROWS))
    assert lengths == [4]


def test_the_rows_of_promotion_are_numpys(tf: ModuleType) -> None:
    kinds = (tnp.int32, tnp.int64, tnp.float32, tnp.float64)
    for first in kinds:
        for second in kinds:
            both = (tnp.asarray(1, dtype=first) + tnp.asarray(1, dtype=second)).dtype
            assert both == np.result_type(np.dtype(first), np.dtype(second))


def test_keys_of_the_guide_are_those_of_ndarrays(tf: ModuleType) -> None:
    x, a = tnp.arange(24).reshape(2, 3, 4), np.arange(24).reshape(2, 3, 4)
    for ours, theirs in (
        (x[1, tnp.newaxis, 1:3, ...], a[1, np.newaxis, 1:3, ...]),
        (x[:, (True, False, True)], a[:, (True, False, True)]),
        (x[1, (0, 0, 1), tnp.asarray([0, 1, 1])], a[1, (0, 0, 1), [0, 1, 1]]),
    ):
        assert ours.tolist() == theirs.tolist()
