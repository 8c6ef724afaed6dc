"""Variables of Keras 3: taken as what they hold, gradients go through them.

They hold a tf.Variable or an array.
"""

from __future__ import annotations

from collections.abc import Callable
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


def test_an_array_of_a_variable_is_on_its_device_and_keeps_its_values(variable: Any) -> None:
    x, y = xp.from_native(variable), xp.asarray(variable)
    assert xp.result_type(variable, xp.int64) is xp.float64
    assert isinstance(xp.to_native(xp.ones(2), like=variable), tf.Tensor)
    assert isinstance(xp.to_native(variable), tf.Tensor)
    variable.assign([0.0, 0.0, 0.0])
    for one in (x, y):
        assert (one.device.library, one.dtype, one.tolist()) == ("tf", xp.float32, [1.0, 2.0, 3.0])


def test_a_portable_function_takes_a_variable_and_lets_gradients_through(variable: Any) -> None:
    squared = xp.portable(lambda p: xp.sum(p["w"] ** 2))
    with tf.GradientTape() as tape:
        value = squared({"w": variable})
    assert isinstance(value, tf.Tensor)
    assert tape.gradient(value, variable.value).numpy().tolist() == [2.0, 4.0, 6.0]


FORMS: dict[str, Callable[[Any, xp.Array], xp.Array]] = {
    "function": lambda v, x: xp.multiply(v, x),
    "operator": lambda v, x: x * v,
    "asarray": lambda v, x: xp.asarray(v) * x,
    "from_native": lambda v, x: xp.from_native(v) * x,
    "astype": lambda v, x: xp.astype(v, xp.float32) * x,
    "listed": lambda v, x: xp.asarray([v, v])[1] * x,
    "joined": lambda v, x: xp.concat([v, x])[:3] * x,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_keras_s", [True, False], ids=["keras", "tensorflow"])
def test_gradients_go_through_a_variable_wherever_an_array_may_stand(
    form: str, is_keras_s: bool, variable: Any
) -> None:
    taken = variable if is_keras_s else variable.value
    x = xp.asarray([2.0, 3.0, 4.0], dtype=xp.float32)
    with tf.GradientTape() as tape:
        y = FORMS[form](taken, x)
        total = xp.to_native(xp.sum(y))
    assert y.device.library == "tf"
    assert y.tolist() == [2.0, 6.0, 12.0]
    assert tape.gradient(total, variable.value).numpy().tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("is_left", [True, False], ids=["left", "right"])
def test_a_variable_on_either_side_of_an_operator_lets_gradients_through(is_left: bool, variable: Any) -> None:
    x, sign = xp.ones(3, dtype=xp.float32), 1.0 if is_left else -1.0
    with tf.GradientTape() as tape:
        y = variable - x if is_left else x - variable
        total = tf.reduce_sum(y)
    assert isinstance(y, tf.Tensor if is_left else xp.Array)
    assert np.asarray(y).tolist() == [0.0, sign, 2 * sign]
    assert tape.gradient(total, variable.value).numpy().tolist() == [sign] * 3


def test_variables_of_keras_on_jax_are_arrays_of_jax(run_python: Callable[..., str]) -> None:
    pytest.importorskip("jax")
    program = """
        import jax
        import keras
        import numpy as np
        import anyarray as xp
        v = keras.Variable(np.asarray([1.0, 2.0, 3.0], np.float32))
        x = xp.ones(3, dtype=xp.float32)
        print(xp.sum(v).device.library, (x + v).tolist(), type(xp.portable(xp.exp)(v)).__module__.partition(".")[0])
        print(jax.grad(lambda a: xp.to_native(xp.sum(xp.asarray(a) ** 2)))(v.value).tolist())
    """
    printed = run_python(program, KERAS_BACKEND="jax").splitlines()
    assert printed == ["jax [2.0, 3.0, 4.0] jaxlib", "[2.0, 4.0, 6.0]"]


def test_transforms_take_variables(variable: Any) -> None:
    assert xp.grad(lambda p: xp.sum(p[0] ** 2))([variable])[0].tolist() == [2.0, 4.0, 6.0]
    assert xp.jit(lambda v: v + 1)(variable).tolist() == [2.0, 3.0, 4.0]
    assert xp.vmap(lambda v: v * 2)(variable).tolist() == [2.0, 4.0, 6.0]
    variable.assign([0.0, 0.0, 0.0])
    assert xp.stop_gradient(variable).tolist() == [0.0, 0.0, 0.0]
