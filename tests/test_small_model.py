"""A small model: one text, the same numbers on every backend.

It is a dense layer, relu and projection; the backends are those with derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

INPUTS, HIDDEN, OUTPUTS, BATCH = 5, 7, 3, 4
RTOL: Final = 1e-6
"""What the same mathematics in float64 may differ by; sums of a few terms differ by far less."""


@dataclass
class Model:
    """Dense, relu, projection."""

    dense: xp.Array
    bias: xp.Array
    projection: xp.Array

    def __call__(self, x: xp.Array) -> xp.Array:
        return xp.maximum(x @ self.dense + self.bias, 0) @ self.projection


def loss(model: Model, x: xp.Array, y: xp.Array) -> xp.Array:
    return xp.mean(xp.square(model(x) - y))


def numbers(compiled: bool) -> dict[str, xp.Array]:
    """What the guide of TensorFlow computes of the model."""
    random = np.random.default_rng(3)
    draw = [random.normal(size=shape) for shape in ((INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, OUTPUTS))]
    model = Model(*map(xp.asarray, draw))
    x, y = xp.asarray(random.normal(size=(BATCH, INPUTS))), xp.asarray(random.normal(size=(BATCH, OUTPUTS)))
    may_compile: Callable[..., Any] = xp.jit if compiled else lambda function: function
    value, gradient = may_compile(xp.value_and_grad(loss))(model, x, y)
    examples = may_compile(xp.vmap(xp.grad(loss), in_axes=(None, 0, 0)))(model, x, y)
    jacobians = may_compile(xp.vmap(xp.jacobian(Model.__call__, argnums=1), in_axes=(None, 0)))(model, x)
    return {
        "loss": value,
        "gradient of the dense layer": gradient.dense,
        "gradient of the bias": gradient.bias,
        "gradient of the projection": gradient.projection,
        "gradients of the dense layer by example": examples.dense,
        "gradients of the projection by example": examples.projection,
        "batch jacobian": jacobians,
    }


def expected() -> dict[str, np.ndarray[Any, Any]]:
    """The same by hand, in NumPy."""
    random = np.random.default_rng(3)
    dense, bias, projection = (random.normal(size=shape) for shape in ((INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, OUTPUTS)))
    x, y = random.normal(size=(BATCH, INPUTS)), random.normal(size=(BATCH, OUTPUTS))
    before = x @ dense + bias
    hidden = np.maximum(before, 0)
    error = hidden @ projection - y
    by_output = 2 * error / OUTPUTS  # of the loss of one example
    by_hidden = (by_output @ projection.T) * (before > 0)
    by_dense = x[:, :, None] * by_hidden[:, None, :]
    by_projection = hidden[:, :, None] * by_output[:, None, :]
    return {
        "loss": np.mean(error**2),
        "gradient of the dense layer": by_dense.mean(0),
        "gradient of the bias": by_hidden.mean(0),
        "gradient of the projection": by_projection.mean(0),
        "gradients of the dense layer by example": by_dense,
        "gradients of the projection by example": by_projection,
        "batch jacobian": np.einsum("ho,bh,ih->boi", projection, before > 0, dense),
    }


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_the_model_gives_the_same_numbers(compiled: bool, framework: str) -> None:
    with xp.backend(framework) as backend:
        if not backend.has_hook("value_and_grad"):
            pytest.skip("the library has no derivatives")
        found = numbers(compiled)
    for what, value in expected().items():
        assert found[what].device.library == framework
        assert found[what].dtype == xp.float64
        np.testing.assert_allclose(np.asarray(found[what]), value, rtol=RTOL, err_msg=what)
