"""Variables of Keras 3: taken as what they hold, a tf.Variable or an array, and gradients go through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import anyarray as xp

tf = pytest.importorskip("tensorflow", reason="Keras runs on TensorFlow here")
xp.device("tf")
keras = pytest.importorskip("keras", reason="these tests are about Keras")
pytestmark = pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="Keras runs on another library")


@pytest.fixture
def variable() -> Any:
    return keras.Variable(np.asarray([1.0, 2.0, 3.0], np.float32))


def test_an_array_of_a_variable_is_on_its_device(variable: Any) -> None:
    x = xp.from_native(variable)
    assert (x.device.library, x.dtype, x.tolist()) == ("tf", xp.float32, [1.0, 2.0, 3.0])
    assert isinstance(xp.to_native(xp.ones(2), like=variable), tf.Tensor)
    assert isinstance(xp.to_native(variable), tf.Tensor)


def test_a_portable_function_takes_a_variable_and_lets_gradients_through(variable: Any) -> None:
    squared = xp.portable(lambda p: xp.sum(p["w"] ** 2))
    with tf.GradientTape() as tape:
        value = squared({"w": variable})
    assert isinstance(value, tf.Tensor)
    assert tape.gradient(value, variable.value).numpy().tolist() == [2.0, 4.0, 6.0]


def test_transforms_take_variables(variable: Any) -> None:
    assert xp.grad(lambda p: xp.sum(p[0] ** 2))([variable])[0].tolist() == [2.0, 4.0, 6.0]
    assert xp.jit(lambda v: v + 1)(variable).tolist() == [2.0, 3.0, 4.0]
    assert xp.vmap(lambda v: v * 2)(variable).tolist() == [2.0, 4.0, 6.0]
    variable.assign([0.0, 0.0, 0.0])
    assert xp.stop_gradient(variable).tolist() == [0.0, 0.0, 0.0]
