"""Arrays under the user's own `jax.jit` and `tf.function`.

Tested are dtypes, writes, and one clear error where values are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from comparison import each

import anyarray as xp

pytestmark = pytest.mark.few_backends

jax = pytest.importorskip("jax", reason="these tests are about JAX's and TensorFlow's own transforms")
tf = pytest.importorskip("tensorflow", reason="these tests are about JAX's and TensorFlow's own transforms")

TRACERS = {"jax": jax.jit, "tf": lambda f: tf.function(f, autograph=False)}


@pytest.fixture(params=TRACERS)
def trace(request: pytest.FixtureRequest) -> Any:
    """The transform of a framework, for functions from Array to Array."""
    tracer = TRACERS[request.param]

    def traced(function: Any) -> Any:
        def call(*xs: xp.Array) -> Any:
            moved = [x.to_device(request.param) for x in xs]
            return tracer(function)(*moved)

        return call

    return traced


def written(x: xp.Array, key: Any, value: Any) -> xp.Array:
    x = +x
    x[key] = value
    return x


def tabulated(i: xp.Array) -> xp.Array:
    """An array made inside that is indexed and written by traced ones."""
    table = xp.asarray([10, 20, 30])
    x = xp.zeros(4, dtype=xp.int64)
    x[0] = i[0]
    x[i[1]] += 1
    x[2:] = table[i]
    return x + table[i[0]]


def grown(x: xp.Array) -> xp.Array:
    y = xp.zeros_like(x)
    for i in range(3):
        y += x * i
    return y


def used_again(x: xp.Array) -> xp.Array:
    w = xp.zeros(3) + 1
    s = x @ w
    w -= x
    return s + w


def assigned(key: Any) -> list[float]:
    a = np.arange(3.0)
    a[key] = 9
    return list(a)


KEYS: Final[list[Any]] = [0, -1, slice(1, None), slice(None, None, -1), (Ellipsis, 0)]
MATRIX: Final = np.arange(6.0).reshape(3, 2)
VALUES: Final[list[tuple[Callable[..., Any], tuple[Any, ...], Any]]] = [
    (lambda x: xp.exp(x) + 1, (np.zeros(2),), [2.0, 2.0]),
    (lambda x: x + 1, (np.asarray([2**60]),), [2**60 + 1]),
    (lambda x: x / 3, (np.asarray([1.0]),), [1 / 3]),
    (lambda x: x + xp.linspace(0, 1, 3, device=x.device) + xp.asarray(0.1, device=x.device), (np.zeros(3),),
     [0.1, 0.6, 1.1]),
    (lambda x: x + np.asarray([1.0, 2.0]), (np.zeros(2),), [1.0, 2.0]),
    *[(lambda x, key=key: written(x, key, 9), (np.arange(3.0),), assigned(key)) for key in KEYS],
    (lambda x: written(x, x > 1, 0), (np.asarray([1.0, 2.0, 3.0]),), [1.0, 0.0, 0.0]),
    (tabulated, (np.asarray([2, 1]),), [32, 31, 60, 50]),
    (grown, (np.ones(2),), [3.0, 3.0]),
    (used_again, (np.ones(3),), [3.0, 3.0, 3.0]),
    *[(getattr(xp, name), (MATRIX,), getattr(np, name)(MATRIX).tolist()) for name in ("hstack", "column_stack")],
    (xp.concat, (MATRIX,), MATRIX.ravel().tolist()),
    (xp.stack, (MATRIX,), MATRIX.tolist()),
    (lambda x, i: x[i], (np.arange(5.0), np.asarray([3, -1])), [3.0, 4.0]),
]  # fmt: skip
"""Functions, arrays and the values that they give in a trace."""


def test_values_are_those_outside(trace: Any) -> None:
    def all_of_them(*xs: xp.Array) -> list[Any]:
        left = list(xs)
        return [function(*[left.pop(0) for _ in arrays]) for function, arrays, _ in VALUES]

    found = trace(all_of_them)(*[xp.asarray(a) for _, arrays, _ in VALUES for a in arrays])
    for n, (one, (*_, wanted)) in enumerate(zip(found, VALUES, strict=True)):
        assert type(one) is xp.Array
        assert one.tolist() == wanted, n


def test_dtypes_are_kept(trace: Any) -> None:
    dtypes = [getattr(xp, name) for name in "int64 uint64 float64 complex128 int8 float32".split()]
    seen: list[xp.DType] = []

    def doubled(*xs: xp.Array) -> list[xp.Array]:
        ys = [x * 2 + 1 - x for x in xs]
        seen.extend(y.dtype for y in ys)
        return ys

    found = trace(doubled)(*[xp.asarray([1, 2], dtype=dtype) for dtype in dtypes])
    assert seen[: len(dtypes)] == [y.dtype for y in found] == dtypes


def test_the_choice_outside_does_not_matter_inside(trace: Any) -> None:
    with xp.backend("numpy"):
        y = trace(lambda x: xp.sum(x * 2))(xp.ones(3))
    assert y.device.library != "numpy"
    assert float(y) == 6.0


def test_gradients_go_through_writes_to_an_array_made_inside() -> None:
    @xp.portable
    def loss(w: Any) -> Any:
        x = xp.zeros(3)
        x[0] = w[0] * 2
        x[1:] = w[1:] ** 2
        return xp.sum(x)

    v = tf.Variable([1.0, 2.0, 3.0], dtype=tf.float64)
    with tf.GradientTape() as tape:
        y = loss(v)
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0, 6.0]
    with jax.enable_x64(True):
        assert jax.grad(loss)(jax.numpy.asarray([1.0, 2.0, 3.0])).tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("size", [1, 4, 100_000])
def test_an_array_that_was_brought_into_a_trace_lives_on_after_it(size: int, trace: Any) -> None:
    # Arrays whose memory is not aligned are not shared, so it is tried with several.
    for a in [xp.zeros(size) + 1 for _ in range(4)]:
        x = xp.ones(size)
        assert [y[0] for y in trace(lambda x, a=a: ((a + x) + a, (x - a) - a))(x)] == [3, -1]
        assert (x.to_device(trace(lambda x: x)(x).device) + a)[0] == 2


def write_to_the_argument(x: xp.Array) -> xp.Array:
    x[0] = 9
    return x


def test_assignment_to_an_argument_of_jit_stays_inside() -> None:
    x = xp.arange(3.0, device="jax")
    assert jax.jit(write_to_the_argument)(x).tolist() == [9.0, 1.0, 2.0]
    assert x.tolist() == [0.0, 1.0, 2.0]


def test_assignment_to_an_argument_of_tf_function_is_tensorflow_s_own_error() -> None:
    x = xp.arange(3.0, device="tf")
    with pytest.raises(ValueError, match="should not modify its Python input arguments"):
        tf.function(write_to_the_argument, autograph=False)(x)
    assert x.tolist() == [0.0, 1.0, 2.0]


def test_an_int_out_of_range_is_an_index_error(trace: Any) -> None:
    with pytest.raises(IndexError):
        trace(lambda x: x[5])(xp.arange(3.0))


def test_shape_and_dtype_are_known_inside(trace: Any) -> None:
    seen: list[Any] = []

    def look(x: xp.Array) -> xp.Array:
        seen.append((x.shape, x.ndim, x.size, x.dtype, len(x)))
        assert repr(x).startswith("Array(<traced, shape=(2, 3)>, dtype=float64, device=")
        return x

    trace(look)(xp.ones((2, 3)))
    assert seen[0] == ((2, 3), 2, 6, xp.float64, 2)


ASKED: Final[dict[str, Any]] = {
    r"a traced array of .* has no values yet and cannot become": [float, np.asarray, lambda x: x.tolist(), bool],
    "has no values yet and cannot be brought to numpy": [lambda x: x.to_device("numpy")],
}


@each("sentence, ask", [(sentence, ask) for sentence, asks in ASKED.items() for ask in asks])
def test_values_cannot_be_had_inside(sentence: str, ask: Any, trace: Any) -> None:
    with pytest.raises(xp.TransferError, match=sentence):
        trace(lambda x: (ask(x), x)[1])(xp.asarray(1.0))


@each("function", [xp.unique_values, xp.nonzero, lambda x: x[x > 0], lambda x: xp.repeat(x, xp.astype(x, xp.int64))])
def test_a_shape_that_depends_on_values_is_one_clear_error_on_jax(function: Any) -> None:
    with pytest.raises(xp.UnsupportedError) as caught:
        jax.jit(function)(xp.ones(3, device="jax"))
    assert str(caught.value).endswith(
        ": the shape of the result depends on values, which JAX does not know inside jit, grad or vmap. "
        "Call it outside, or mask instead of selecting: xp.where(...)"
    )


def test_a_mask_works_under_tf_function() -> None:
    y = tf.function(lambda x: x[x > 0], autograph=False)(xp.asarray([1.0, -1.0, 2.0], device="tf"))
    assert y.tolist() == [1.0, 2.0]


def test_an_unknown_length_is_an_array_without_axes() -> None:
    seen: list[Any] = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)], autograph=False)
    def look(t: Any) -> Any:
        x = xp.asarray(t)
        seen.append((x.shape, x.size, x.ndim))
        return xp.to_native(xp.sum(x * 2, axis=1))

    assert look(tf.ones((2, 3), tf.float64)).numpy().tolist() == [6.0, 6.0]
    (shape, size, ndim), *_ = seen
    assert (shape[1:], ndim) == ((3,), 2)
    assert all(type(one) is xp.Array and one.shape == () and one.dtype == xp.int64 for one in (shape[0], size))
