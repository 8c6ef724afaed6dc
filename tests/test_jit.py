"""Arrays under the user's own `jax.jit` and `tf.function`.

Tested are dtypes, writes, and one clear error where values are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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


def test_arrays_go_in_and_out(trace: Any) -> None:
    y = trace(lambda x: xp.exp(x) + 1)(xp.zeros(2))
    assert type(y) is xp.Array
    assert y.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64", "complex128", "int8", "float32"])
def test_dtypes_are_kept(dtype: str, trace: Any) -> None:
    wanted = getattr(xp, dtype)
    seen: list[xp.DType] = []

    def double(x: xp.Array) -> xp.Array:
        y = x * 2 + 1 - x
        seen.append(y.dtype)
        return y

    y = trace(double)(xp.asarray([1, 2], dtype=wanted))
    assert (seen[0], y.dtype) == (wanted, wanted)


def test_64_bit_values_are_exact(trace: Any) -> None:
    assert trace(lambda x: x + 1)(xp.asarray([2**60])).tolist() == [2**60 + 1]
    assert trace(lambda x: x / 3)(xp.asarray([1.0])).tolist() == [1 / 3]


def test_creation_inside_is_64_bit(trace: Any) -> None:
    y = trace(lambda x: x + xp.linspace(0, 1, 3, device=x.device) + xp.asarray(0.1, device=x.device))(xp.zeros(3))
    assert (y.dtype, y.tolist()) == (xp.float64, [0.1, 0.6, 1.1])


def test_the_choice_outside_does_not_matter_inside(trace: Any) -> None:
    with xp.backend("numpy"):
        y = trace(lambda x: xp.sum(x * 2))(xp.ones(3))
    assert y.device.library != "numpy"
    assert float(y) == 6.0


def test_numpy_data_inside_is_a_constant(trace: Any) -> None:
    assert trace(lambda x: x + np.asarray([1.0, 2.0]))(xp.zeros(2)).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("key", [0, -1, slice(1, None), slice(None, None, -1), (Ellipsis, 0)], ids=str)
def test_assignment_works(key: Any, trace: Any) -> None:
    def write(x: xp.Array) -> xp.Array:
        x = +x
        x[key] = 9
        return x

    a = np.arange(3.0)
    a[key] = 9
    assert trace(write)(xp.arange(3.0)).tolist() == a.tolist()


def test_an_array_made_inside_is_indexed_and_written_by_traced_ones(trace: Any) -> None:
    def tabulated(i: xp.Array) -> xp.Array:
        table = xp.asarray([10, 20, 30])
        x = xp.zeros(4, dtype=xp.int64)
        x[0] = i[0]
        x[i[1]] += 1
        x[2:] = table[i]
        return x + table[i[0]]

    assert trace(tabulated)(xp.asarray([2, 1])).tolist() == [32, 31, 60, 50]


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
    for a in [xp.zeros(size) + 1 for _ in range(8)]:
        x = xp.ones(size)
        assert trace(lambda x, a=a: (a + x) + a)(x)[0] == 3
        assert trace(lambda x, a=a: (x - a) - a)(x)[0] == -1
        assert (x.to_device(trace(lambda x: x)(x).device) + a)[0] == 2


def test_an_array_made_inside_is_used_again_and_given_back(trace: Any) -> None:
    def twice(x: xp.Array) -> tuple[xp.Array, xp.Array]:
        w = xp.zeros(3) + 1
        s = x @ w
        w -= x
        return s + w, w

    for a in trace(twice)(xp.ones(3)):
        assert a.shape == (3,)


def test_assignment_by_a_mask_works(trace: Any) -> None:
    def write(x: xp.Array) -> xp.Array:
        x = +x
        x[x > 1] = 0
        return x

    assert trace(write)(xp.asarray([1.0, 2.0, 3.0])).tolist() == [1.0, 0.0, 0.0]


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


def test_in_place_operators_work(trace: Any) -> None:
    def grow(x: xp.Array) -> xp.Array:
        y = xp.zeros_like(x)
        for i in range(3):
            y += x * i
        return y

    assert trace(grow)(xp.ones(2)).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("function", ["concat", "stack", "hstack", "column_stack"])
def test_the_rows_of_one_traced_array_are_joined(function: str, trace: Any) -> None:
    x = np.arange(6.0).reshape(3, 2)
    wanted = getattr(np, {"concat": "concatenate"}.get(function, function))(x)
    np.testing.assert_array_equal(trace(lambda x: getattr(xp, function)(x))(xp.asarray(x)), wanted)


def test_an_index_array_may_be_traced(trace: Any) -> None:
    assert trace(lambda x, i: x[i])(xp.arange(5.0), xp.asarray([3, -1])).tolist() == [3.0, 4.0]


def test_an_int_out_of_range_is_an_index_error(trace: Any) -> None:
    with pytest.raises(IndexError):
        trace(lambda x: x[5])(xp.arange(3.0))


def test_shape_and_dtype_are_known_inside(trace: Any) -> None:
    seen: list[Any] = []

    def look(x: xp.Array) -> xp.Array:
        seen.append((x.shape, x.ndim, x.size, x.dtype, len(x)))
        return x

    trace(look)(xp.ones((2, 3)))
    assert seen[0] == ((2, 3), 2, 6, xp.float64, 2)


def test_repr_inside_shows_the_shape(trace: Any) -> None:
    seen: list[str] = []

    def look(x: xp.Array) -> xp.Array:
        seen.append(repr(x))
        return x

    trace(look)(xp.ones((2, 3)))
    assert seen[0].startswith("Array(<traced, shape=(2, 3)>, dtype=float64, device=")


@pytest.mark.parametrize(
    "ask", [float, np.asarray, lambda x: x.tolist(), bool], ids=["float", "asarray", "tolist", "bool"]
)
def test_values_cannot_be_had_inside(ask: Any, trace: Any) -> None:
    def need(x: xp.Array) -> xp.Array:
        ask(x)
        return x

    with pytest.raises(xp.TransferError, match=r"a traced array of .* has no values yet and cannot become"):
        trace(need)(xp.asarray(1.0))


def test_an_array_cannot_leave_a_trace(trace: Any) -> None:
    with pytest.raises(xp.TransferError, match="has no values yet and cannot be brought to numpy"):
        trace(lambda x: x.to_device("numpy"))(xp.ones(2))


@pytest.mark.parametrize(
    "function",
    [xp.unique_values, xp.nonzero, lambda x: x[x > 0], lambda x: xp.repeat(x, xp.astype(x, xp.int64))],
    ids=["unique_values", "nonzero", "mask", "repeat"],
)
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


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + xp.exp(x), lambda x: xp.mean(x, axis=0), lambda x: x @ x.T, lambda x: xp.reshape(x, (-1,)),
        lambda x: x[1:], lambda x: x[-1], lambda x: xp.concat([x, x]), lambda x: xp.sort(x, axis=0), xp.zeros_like,
        lambda x: xp.max(x, axis=1, keepdims=True), lambda x: xp.flip(x), lambda x: xp.where(x > 0, x, 0.0),
        lambda x: xp.cumulative_sum(x, axis=0), lambda x: xp.std(x, axis=0), lambda x: xp.linalg.svdvals(x),
    ],
    ids=["exp", "mean", "matmul", "reshape", "slice", "last", "concat", "sort", "zeros_like", "max", "flip", "where",
         "cumulative_sum", "std", "svdvals"],
)  # fmt: skip
def test_functions_work_with_an_unknown_length(function: Any) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)], autograph=False)
    def traced(t: Any) -> Any:
        return xp.to_native(function(xp.asarray(t)))

    a = np.asarray([[3.0, -1.0, 2.0], [0.5, 4.0, -2.0]])
    np.testing.assert_allclose(traced(tf.constant(a)).numpy(), np.asarray(function(xp.asarray(a))), rtol=1e-12)
