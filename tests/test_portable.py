"""`portable`: any array in, the same kind out."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from comparison import each, host

import anyarray as xp
from anyarray import interop
from anyarray._registry import registry

pytestmark = pytest.mark.few_backends

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


CALLS: Final[list[tuple[Callable[..., Any], Callable[..., tuple[Any, ...]]]]] = [
    (softmax, lambda a: (a,)), (softmax, lambda a: (a, 0)), (logsumexp, lambda a: (a,)),
    (density, lambda a: (a, a[:4] + 0.1)), (k_means_step, lambda a: (a, a[:3])),
    (principal_components, lambda a: (a, 2)),
]  # fmt: skip


@pytest.fixture
def native(framework: str) -> Callable[..., Any]:
    """Makes an array of the framework's own, float64, of an ndarray."""
    backend = xp.device(framework)
    return lambda a: xp.to_native(xp.asarray(a, device=backend))


def assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(host(found), host(expected), rtol=RTOL, atol=1e-12)


@each("function, arguments", CALLS)
def test_a_library_function_gives_each_framework_its_own_kind(
    function: Callable[..., Any], arguments: Callable[..., tuple[Any, ...]], native: Callable[..., Any]
) -> None:
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


def test_the_signature_the_docstring_and_arrays_are_kept(backend: xp.Backend) -> None:
    assert list(inspect.signature(softmax).parameters) == ["x", "axis"]
    assert softmax.__doc__ == "Exponentials that sum to 1 along `axis`."
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


def test_methods_and_functions_without_a_name_are_portable(native: Callable[..., Any]) -> None:
    class Scaler:
        factor = 3

        @xp.portable
        def scaled(self, x: Any) -> Any:
            return x * self.factor

    given = native(POINTS)
    assert_close(Scaler().scaled(given), POINTS * 3)
    found = xp.portable(functools.partial(lambda factor, x, y: factor * x + y, 2))(given, POINTS)
    assert type(found) is type(given)
    assert_close(found, 3 * POINTS)


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


def test_variables_and_symbolic_tensors_of_tensorflow_go_in_and_gradients_come_back() -> None:
    tf: ModuleType = pytest.importorskip("tensorflow")
    xp.device("tf")
    variable = tf.Variable(POINTS)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(softmax(variable) * POINTS)
    assert tape.gradient(total, variable).shape == (12, 3)
    assert isinstance(softmax(variable), tf.Tensor)
    graph = tf.function(softmax, input_signature=[tf.TensorSpec([None, 3], tf.float64)])
    assert_close(graph(tf.constant(POINTS)), softmax(POINTS))


def test_tracers_of_jax_go_in_and_out() -> None:
    jax: ModuleType = pytest.importorskip("jax")
    array = xp.to_native(xp.asarray(POINTS, device="jax"))
    with jax.enable_x64(True):
        assert_close(jax.jit(softmax)(array), softmax(POINTS))
        gradient = jax.grad(lambda x: logsumexp(x, axis=0).sum())(array)
    assert_close(gradient, softmax(POINTS, 0))


def test_classes_without_end_are_not_kept() -> None:
    twice = xp.portable(lambda x, _: x * 2)
    for _ in range(registry.MOST_CLASSES + 10):
        assert twice(np.ones(1), type("Made", (), {})()).tolist() == [2]
    assert len(registry._library_by_class) <= registry.MOST_CLASSES
    assert len(interop._are_arrays) <= registry.MOST_CLASSES


@xp.portable(convert=True)
def centred(x: Any, axis: int | None = None) -> Any:
    return x - xp.mean(x, axis=axis, keepdims=True)


@xp.portable(convert=True)
def joined(arrays: Any, axis: int = 0) -> Any:
    return xp.concat(arrays, axis=axis)


@xp.portable(convert=("x", "weights"))
def weighted(x: Any, power: Any, weights: Any = None) -> Any:
    assert type(power) is int  # which is not among the names
    return x**power if weights is None else x**power * weights


def test_lists_and_tuples_of_numbers_and_numbers_are_one_array() -> None:
    for given in ([[1, 3]], ([1, 3],), [(1, np.int64(3))]):
        found = centred(given)
        assert type(found) is xp.Array
        assert found.tolist() == [[-1, 1]]
    assert (centred(3).ndim, centred(3).tolist()) == (0, 0)


class WithArray:
    """Something of another library, which NumPy can read."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray([1.0, 3.0])


class WithDLPack:
    """The same by DLPack."""

    held = np.asarray([1.0, 3.0])

    def __dlpack__(self, **options: Any) -> Any:
        return self.held.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.held.__dlpack_device__()


@each("given", [WithArray(), WithDLPack(), memoryview(np.asarray([1.0, 3.0])), range(1, 4, 2)])
def test_what_numpy_or_dlpack_can_read_is_converted(given: Any) -> None:
    found = centred(given)
    assert type(found) is xp.Array
    assert found.tolist() == [-1, 1]


def test_a_number_takes_the_dtype_of_the_arrays_beside_it() -> None:
    @xp.portable(convert=True)
    def scaled(x: Any, by: Any, *others: Any) -> Any:
        assert type(by) is xp.Array
        return x * by

    x = np.ones(2, dtype=np.float32)
    assert scaled(x, 2).dtype == scaled(x, 2.5).dtype == scaled(x, True).dtype == np.float32
    assert scaled(x, 2.5j).dtype == np.complex64
    assert scaled(2, 2.5).dtype == xp.float64
    assert scaled(np.ones(2, dtype=np.int8), 2.5).dtype == np.float64


def test_a_list_of_arrays_stays_a_list(native: Callable[..., Any], framework: str) -> None:
    assert joined([np.ones(1), [2, 3]]).tolist() == [1, 2, 3]
    found = joined([native(np.ones(1)), np.zeros(1), [2.0]])
    assert xp.from_native(found).device == xp.device(framework)
    assert host(found).tolist() == [1, 0, 2]


def test_parameters_with_a_default_are_converted_if_they_are_named() -> None:
    assert weighted([1, 2], 2).tolist() == [1, 4]
    assert weighted([1, 2], 2, [10, 1]).tolist() == [10, 4]
    assert weighted(np.asarray([1, 2]), power=2, weights=None).tolist() == [1, 4]


def test_native_arrays_come_back_from_a_converting_function_as_before(native: Callable[..., Any]) -> None:
    given = native(np.asarray([1.0, 3.0]))
    assert type(centred(given)) is type(given)
    assert type(centred(np.ones(2))) is np.ndarray
    assert type(centred(xp.ones(2))) is xp.Array


@each(
    "given, sentence",
    [
        ("text", "centred: x must be an Array, not str"),
        (None, "centred: x must be an Array, not NoneType"),
        ([1, "a"], "centred: x[1] must be an Array, not str"),
        (np.asarray(["a"]), "centred: x has the dtype <U1, which no Array can have"),
    ],
)
def test_what_cannot_be_converted_is_refused_by_the_function_that_was_called(given: Any, sentence: str) -> None:
    with pytest.raises(TypeError) as caught:
        centred(given)
    assert str(caught.value) == sentence
    with pytest.raises(ValueError, match=r"^centred: x must be a regular nested sequence: "):
        centred([[1], [1, 2]])
    with pytest.raises(TypeError, match=r"^centred: missing a required argument: 'x'$"):
        centred()
    with pytest.raises(TypeError, match=r"^centred: got an unexpected keyword argument 'y'$"):
        centred([1], y=2)


def test_a_name_that_is_no_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^portable: convert names y, but the parameters of <lambda> are x$"):
        xp.portable(convert=["y"])(lambda x: x)


def test_an_async_function_converts_too() -> None:
    @xp.portable(convert=True)
    async def later(x: Any) -> Any:
        return x + 1

    assert asyncio.run(later([1, 2])).tolist() == [2, 3]


def test_series_and_frames_come_back_with_their_labels() -> None:
    pandas = pytest.importorskip("pandas")
    given = pandas.Series([1.0, 3.0], index=["a", "b"], name="n")
    pandas.testing.assert_series_equal(centred(given), pandas.Series([-1.0, 1.0], index=["a", "b"], name="n"))
    assert given.tolist() == [1, 3]
    frame = pandas.DataFrame({"p": [1, 3], "q": [2.0, 6.0]}, index=[5, 6])
    expected = pandas.DataFrame({"p": [-1.0, 1.0], "q": [-2.0, 2.0]}, index=[5, 6])
    pandas.testing.assert_frame_equal(centred(frame, axis=0), expected)
    found = xp.portable(convert=True)(lambda x: xp.sum(x))(given)  # of another shape
    assert type(found) is xp.Array
    assert found.tolist() == 4


def test_a_series_beside_an_array_of_a_framework_gives_that(native: Callable[..., Any]) -> None:
    pandas = pytest.importorskip("pandas")
    given = native(np.asarray([1.0, 3.0]))
    found = xp.portable(convert=True)(lambda x, y: x + y)(pandas.Series([1.0, 3.0]), given)
    assert type(found) is type(given)


def test_a_data_array_comes_back_with_its_coordinates_and_keeps_an_array(backend: xp.Backend) -> None:
    xarray = pytest.importorskip("xarray")
    given = xarray.DataArray(np.asarray([1.0, 3.0]), dims="t", coords={"t": [10, 20]}, name="n", attrs={"unit": "m"})
    found = centred(given)
    xarray.testing.assert_identical(found, given.copy(data=np.asarray([-1.0, 1.0])))
    assert type(found.data) is np.ndarray
    found = centred(xarray.DataArray(xp.asarray([1.0, 3.0]), dims="t"))
    assert type(found.data) is xp.Array
    assert found.data.device is backend


def test_an_array_is_known_to_jax_right_after_the_function_made_it(run_python: Callable[..., str]) -> None:
    pytest.importorskip("jax")
    program = """
        import numpy as np, anyarray as xp
        import jax.numpy as jnp
        print(xp.portable(lambda f, x: f(x) + 1)(lambda x: jnp.sum(jnp.abs(x)), np.ones(3)))
    """
    assert float(run_python(program)) == 4
