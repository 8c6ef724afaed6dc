"""`portable`: any array in, the same kind out."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from comparison import host

import anyarray as xp
from anyarray import interop
from anyarray._registry import registry

POINTS: Final = np.random.default_rng(5).normal(size=(12, 3))
RTOL: Final = 1e-12
"""Rounding of some tens of operations in float64."""


@xp.portable
def softmax(x: Any, axis: int = -1) -> Any:
    """Exponentials that sum to 1 along `axis`."""
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True)


@xp.portable
def logsumexp(x: Any, *, axis: int = -1) -> Any:
    largest = xp.max(x, axis=axis, keepdims=True)
    return xp.squeeze(largest + xp.log(xp.sum(xp.exp(x - largest), axis=axis, keepdims=True)), axis=axis)


@xp.portable
def density(points: Any, where: Any, width: float = 0.5) -> Any:
    """Gaussian kernel density estimate."""
    squares = xp.sum((where[:, None, :] - points[None, :, :]) ** 2, axis=-1) / width**2
    norm = points.shape[0] * (2 * xp.pi * width**2) ** (points.shape[1] / 2)
    return xp.sum(xp.exp(-squares / 2), axis=1) / norm


@xp.portable
def k_means_step(points: Any, centres: Any) -> tuple[Any, Any]:
    """New centres, and the number of the old one nearest to each point."""
    nearest = xp.argmin(xp.sum((points[:, None, :] - centres) ** 2, axis=-1), axis=1)
    belongs = xp.astype(nearest[:, None] == xp.arange(centres.shape[0]), points.dtype)
    return belongs.mT @ points / xp.sum(belongs, axis=0)[:, None], nearest


@xp.portable
def principal_components(x: Any, k: int) -> tuple[Any, Any]:
    """Directions, up to their sign, and standard deviations along them."""
    centred = x - xp.mean(x, axis=0)
    _, s, vh = xp.linalg.svd(centred, full_matrices=False)
    return xp.abs(vh[:k, :]), s[:k] / (x.shape[0] - 1) ** 0.5


CALLS: Final[dict[str, tuple[Callable[..., Any], Callable[..., tuple[Any, ...]]]]] = {
    "softmax": (softmax, lambda a: (a,)),
    "softmax along an axis": (softmax, lambda a: (a, 0)),
    "logsumexp": (logsumexp, lambda a: (a,)),
    "density": (density, lambda a: (a, a[:4] + 0.1)),
    "k_means_step": (k_means_step, lambda a: (a, a[:3])),
    "principal_components": (principal_components, lambda a: (a, 2)),
}


@pytest.fixture
def native(framework: str) -> Callable[..., Any]:
    """Makes an array of the framework's own, float64, of an ndarray."""
    backend = xp.device(framework)
    return lambda a: xp.to_native(xp.asarray(a, device=backend))


def assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(host(found), host(expected), rtol=RTOL, atol=1e-12)


@pytest.mark.parametrize("what", CALLS)
def test_a_library_function_gives_each_framework_its_own_kind(what: str, native: Callable[..., Any]) -> None:
    function, arguments = CALLS[what]
    expected = function(*arguments(POINTS))
    given = tuple(native(a) if isinstance(a, np.ndarray) else a for a in arguments(POINTS))
    found = function(*given)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for one, right in pairs:
        assert isinstance(right, np.ndarray)
        assert type(one) is type(given[0])
        assert_close(one, right)


def test_the_functions_are_right() -> None:
    e = np.exp(POINTS)
    assert_close(softmax(POINTS), e / e.sum(1, keepdims=True))
    assert_close(logsumexp(POINTS, axis=0), np.log(e.sum(0)))
    centres, nearest = k_means_step(POINTS, POINTS[:3])
    assert_close(centres, [POINTS[nearest == i].mean(0) for i in range(3)])
    _, spread = principal_components(POINTS, 3)
    assert_close(np.sum(spread**2), POINTS.var(0, ddof=1).sum())
    assert_close(density(POINTS[:1], POINTS[:1]), [(2 * np.pi * 0.25) ** -1.5])


def test_signature_and_docstring_are_kept() -> None:
    assert list(inspect.signature(softmax).parameters) == ["x", "axis"]
    assert softmax.__doc__ == "Exponentials that sum to 1 along `axis`."


def test_arrays_come_back_as_arrays(backend: xp.Backend) -> None:
    found = softmax(xp.asarray(POINTS))
    assert isinstance(found, xp.Array)
    assert found.device is backend


def test_numpy_and_numbers_follow_the_framework(native: Callable[..., Any]) -> None:
    @xp.portable
    def combined(x: Any, y: Any, z: Any) -> Any:
        return x + y * z

    tensor = native(POINTS)
    found = combined(POINTS, tensor, 2.0)
    assert type(found) is type(tensor)
    assert_close(found, POINTS * 3)


def test_lists_of_numbers_and_text_pass_through() -> None:
    @xp.portable
    def told(x: Any, *, axes: list[int], name: str, kind: Any = None) -> Any:
        return [axes, name, kind, x]

    axes, name, kind, x = told(POINTS, axes=[0, 1], name="text", kind=int)
    assert (axes, name, kind) == ([0, 1], "text", int)
    assert x.tolist() == POINTS.tolist()


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass(frozen=True)
class Layer:
    weights: Any
    name: str


def test_nested_arguments_and_results_keep_their_classes(native: Callable[..., Any]) -> None:
    @xp.portable
    def doubled(tree: dict[str, Any]) -> Any:
        layer, pair = tree["layer"], tree["pair"]
        assert all(isinstance(one, xp.Array) for one in (layer.weights, pair.first, pair.second[0]))
        return Layer(layer.weights * 2, layer.name), Pair(pair.first + 1, [pair.second[0]])

    tensor = native(POINTS)
    layer, pair = doubled({"layer": Layer(tensor, "dense"), "pair": Pair(tensor, [POINTS])})
    assert_close(layer.weights, POINTS * 2)
    assert layer.name == "dense"
    assert isinstance(pair, Pair)
    for one in (layer.weights, pair.first, pair.second[0]):
        assert type(one) is type(tensor)


def test_methods_are_portable(native: Callable[..., Any]) -> None:
    class Scaler:
        factor = 3

        @xp.portable
        def scaled(self, x: Any) -> Any:
            return x * self.factor

    assert_close(Scaler().scaled(native(POINTS)), POINTS * 3)


def test_what_is_handed_in_is_never_written(name: str) -> None:
    @xp.portable
    def overwritten(x: Any) -> Any:
        x[0] = 0.0
        x += 1
        return x

    mine = POINTS.copy()
    given = mine if name == "numpy" else xp.to_native(xp.asarray(mine, device=name))
    assert_close(overwritten(given)[0], np.ones(3))
    assert_close(given, POINTS)


def test_arrays_of_two_frameworks_are_refused() -> None:
    pytest.importorskip("jax")
    pytest.importorskip("tensorflow")
    ours, other = (xp.to_native(xp.ones(2, device=name)) for name in ("jax", "tf"))
    with pytest.raises(
        xp.BackendMismatchError,
        match=r"one input is placed on jax-\w+ and another on tf-\w+\.|"
        r"one input is an array of jax-\w+ and another of tf-\w+\. Convert one of them first",
    ):
        xp.portable(lambda x, y: x + y)(ours, other)


def test_a_function_without_a_name_is_portable(name: str) -> None:
    native = xp.to_native(xp.asarray(POINTS, device=name))
    found = xp.portable(functools.partial(lambda factor, x, y: factor * x + y, 2))(native, POINTS)
    assert type(found) is type(native)
    assert_close(found, 3 * POINTS)


def test_variables_of_tensorflow_go_in_and_gradients_come_back() -> None:
    tf: ModuleType = pytest.importorskip("tensorflow")
    xp.device("tf")
    variable = tf.Variable(POINTS)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(softmax(variable) * POINTS)
    assert tape.gradient(total, variable).shape == (12, 3)
    assert isinstance(softmax(variable), tf.Tensor)


def test_tracers_of_jax_go_in_and_out() -> None:
    jax: ModuleType = pytest.importorskip("jax")
    array = xp.to_native(xp.asarray(POINTS, device="jax"))
    with jax.enable_x64(True):
        assert_close(jax.jit(softmax)(array), softmax(POINTS))
        gradient = jax.grad(lambda x: logsumexp(x, axis=0).sum())(array)
    assert_close(gradient, softmax(POINTS, 0))


def test_symbolic_tensors_go_in_and_out() -> None:
    tf: ModuleType = pytest.importorskip("tensorflow")
    xp.device("tf")
    graph = tf.function(softmax, input_signature=[tf.TensorSpec([None, 3], tf.float64)])
    assert_close(graph(tf.constant(POINTS)), softmax(POINTS))


def test_classes_without_end_are_not_kept() -> None:
    twice = xp.portable(lambda x, _: x * 2)
    for _ in range(registry.MOST_CLASSES + 10):
        assert twice(np.ones(1), type("Made", (), {})()).tolist() == [2]
    assert len(registry._library_by_class) <= registry.MOST_CLASSES
    assert len(interop._are_arrays) <= registry.MOST_CLASSES
