"""What only the TensorFlow backend can get wrong.

That is whether NumPy and TensorFlow's kernels agree where either may work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from comparison import each
from test_differential import ELEMENTWISE, Call, reference

import anyarray as xp

tf = pytest.importorskip("tensorflow", reason="these tests are about TensorFlow")
ops = pytest.importorskip("anyarray.backends.tensorflow._ops")

MANY = 40_000
"""So many elements are left to TensorFlow's kernels."""

BY_EITHER = (
    "bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor ceil equal floor "
    "floor_divide greater greater_equal isfinite isinf isnan less less_equal logical_and logical_not logical_or "
    "logical_xor not_equal round signbit trunc"
).split()


@pytest.fixture(autouse=True)
def on_tensorflow() -> Any:
    with xp.backend("tf"):
        yield


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the reference, at a division by zero
@pytest.mark.parametrize("size", [3, MANY])
@pytest.mark.parametrize(
    ("function", "dtype"), [(name, dtype) for name in BY_EITHER for dtype in ELEMENTWISE[name].dtypes]
)
def test_few_and_many_elements_give_the_same(function: str, dtype: str, size: int) -> None:
    row = ELEMENTWISE[function]
    pairs = np.broadcast_arrays(*row.grid(dtype).args)
    call = Call(tuple(np.resize(x, max(size, x.size)) for x in pairs))
    row.compare(call.run(xp, function), reference(function, call), call)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_quotient_that_rounds_to_an_integer_is_still_floored(dtype: str) -> None:
    random = np.random.default_rng(0)
    divisors = random.uniform(-2, 2, 10_000).astype(dtype)
    multiples = (random.integers(-1000, 1000, 10_000) * divisors).astype(dtype)
    for x in (multiples, np.nextafter(multiples, np.inf, dtype=dtype), np.nextafter(multiples, -np.inf, dtype=dtype)):
        found = xp.floor_divide(xp.asarray(x), xp.asarray(divisors))
        np.testing.assert_array_equal(np.asarray(found), np.floor_divide(x, divisors))


@pytest.mark.parametrize("size", [3, MANY])
@pytest.mark.parametrize("fill_value", [0.0, -0.0, 2.5])
def test_arrays_are_filled_alike_whatever_their_size(size: int, fill_value: float) -> None:
    wanted = np.full(size, fill_value)
    x = xp.full(size, fill_value)
    for found in (x, xp.full_like(x, fill_value), xp.jit(lambda v: xp.full_like(v, fill_value))(x)):
        np.testing.assert_array_equal(np.asarray(found), wanted)
        np.testing.assert_array_equal(np.signbit(np.asarray(found)), np.signbit(wanted))


@each("k", [-300, -1, 0, 2])
@each("n", [3, 250])
def test_the_diagonal_of_eye_is_where_it_is_in_numpy(n: int, k: int) -> None:
    for columns in (n, n + 5):
        np.testing.assert_array_equal(np.asarray(xp.eye(n, columns, k=k)), np.eye(n, columns, k))


def test_a_result_of_numpy_is_no_memory_of_its_operand() -> None:
    x = xp.asarray(np.arange(1000.0))
    y = xp.floor(x)
    x[0] = 7
    assert float(y[0]) == 0


def test_indices_that_a_graph_holds_count_from_the_end() -> None:
    x, indices = xp.asarray([1.0, 2.0, 3.0]), xp.asarray([-1, 0])
    taken = tf.function(lambda: xp.to_native(xp.take(x, indices)))()
    assert taken.numpy().tolist() == xp.take(x, indices).tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    ("shape", "axis"), [((64,), 0), ((65,), 0), ((64**2 + 3,), 0), ((2, 130, 3), -2), ((2, 3, 200), 2), ((70, 0), 0)]
)
def test_many_parts_are_taken_by_kernels_for_few(
    shape: tuple[int, ...], axis: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A kernel for each number of parts takes 0.1 ms to make for each part: 0.3 s to iterate over 2000 rows once.
    asked = []
    unpack = ops.Unpack

    def counting(x: Any, parts: int, along: int) -> Any:
        asked.append(parts)
        return unpack(x, parts, along)

    monkeypatch.setattr(ops, "Unpack", counting)
    a = np.arange(np.prod(shape)).reshape(shape)
    found = xp.unstack(xp.asarray(a), axis=axis)
    assert max(asked) <= 64
    np.testing.assert_array_equal(np.asarray(xp.stack(found, axis=axis)), a)


def test_slopes_go_through_many_parts() -> None:
    slopes = xp.grad(lambda x: sum((i * part for i, part in enumerate(xp.unstack(x))), start=xp.asarray(0.0)))
    assert slopes(xp.ones(200)).tolist() == list(range(200))
    with tf.GradientTape() as tape:
        x = tf.ones(200)
        tape.watch(x)
        total = sum((i * part for i, part in enumerate(xp.from_native(x))), start=xp.asarray(0.0, dtype=xp.float32))
    assert tape.gradient(xp.to_native(total), x).numpy().tolist() == list(range(200))


def written(x: xp.Array, key: Any, value: Any) -> xp.Array:
    """A copy of `x` with `value` at `key`."""
    y = xp.asarray(x, copy=True)
    y[key] = value
    return y


MASK = np.arange(600) % 3 == 0
PLACES = np.array([5, -1, 5, 0])
BY_NUMPY_OR_A_KERNEL: dict[str, Any] = {
    "tan": xp.tan,
    "sinh": xp.sinh,
    "cosh": xp.cosh,
    "pow": lambda x: xp.abs(x) ** 1.5,
    "pow of two": lambda x: xp.abs(x) ** x,
    "norm": lambda x: xp.linalg.vector_norm(x, ord=3),
    "an element": lambda x: x[3],
    "a slice": lambda x: x[1:-1:2],
    "a mask": lambda x: x[xp.asarray(MASK)],
    "places": lambda x: x[xp.asarray(PLACES)],
    "rows and places": lambda x: xp.reshape(x, (30, 20))[1:, xp.asarray(PLACES)],
    "an element written": lambda x: written(x, 3, 5.0),
    "a slice written": lambda x: written(x, slice(None, None, -2), xp.flip(x[::2])),
    "a mask written": lambda x: written(x, xp.asarray(MASK), 2.0),
    "by a mask": lambda x: written(x, xp.asarray(MASK), x[:200]),
    "places written": lambda x: written(x, xp.asarray(PLACES), x[:4]),
}


@pytest.mark.parametrize("function", BY_NUMPY_OR_A_KERNEL)
def test_with_a_tape_and_without_is_the_same(function: str) -> None:
    called = BY_NUMPY_OR_A_KERNEL[function]
    x = xp.asarray(np.random.default_rng(0).uniform(-1.5, 1.5, 600))
    without = np.asarray(called(x))
    tensor = xp.to_native(x)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        y = xp.to_native(called(xp.from_native(tensor)))
    np.testing.assert_allclose(y.numpy(), without, rtol=1e-13)
    slopes = tape.gradient(y, tensor)
    step = xp.asarray(np.full(600, 1e-6))
    expected = (xp.sum(called(x + step)) - xp.sum(called(x - step))) / 2e-6
    np.testing.assert_allclose(tf.reduce_sum(tf.convert_to_tensor(slopes)), float(expected), rtol=1e-6)


@pytest.mark.parametrize("function", [*BY_NUMPY_OR_A_KERNEL, "sorted"])
def test_slopes_go_to_what_a_graph_has_captured(function: str) -> None:
    called = (BY_NUMPY_OR_A_KERNEL | {"sorted": xp.sort})[function]
    tensor = tf.constant(np.random.default_rng(0).uniform(-1.5, 1.5, 600))

    @tf.function
    def squared() -> Any:
        return tf.reduce_sum(xp.to_native(called(xp.from_native(tensor)) ** 2))

    squared()  # is traced where no tape looks on
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        y = squared()
    with tf.GradientTape() as expected:
        expected.watch(tensor)
        z = tf.reduce_sum(xp.to_native(called(xp.from_native(tensor)) ** 2))
    found, wanted = tape.gradient(y, tensor), expected.gradient(z, tensor)
    np.testing.assert_allclose(tf.convert_to_tensor(found), tf.convert_to_tensor(wanted), rtol=1e-12)


def test_a_part_follows_what_is_written_on_its_backend_alone() -> None:
    x = xp.asarray(np.arange(1000.0))
    parts, number = [x[16:], x[::-1], x[None]], x[5]
    x[...] = 0.0
    x.to_device("numpy")[:] = 1.0
    for part in parts:
        part.to_device("numpy")[...] = -1.0
        assert not np.any(np.asarray(part))
    assert float(number) == 5


def test_gradients_have_tensorflow_ask_python_for_no_type(forked: Callable[..., str]) -> None:
    # While it asks, another thread may call the same function of TensorFlow, and the process crashes.
    program = """
        import anyarray as xp
        from tensorflow.python.util import dispatch

        def known():
            return [checker.cache_size() for checker in dispatch._is_instance_checker_cache.values()]

        def f(x):
            y = xp.concat([xp.sum(x**3, axis=0), xp.mean(x, axis=0), xp.cumulative_sum(x[0] * 2), xp.max(x, axis=0)])
            z = xp.where(x > 1, x @ x, xp.sort(x)) + xp.linalg.inv(x) + xp.take(x, xp.asarray([1, 0]), axis=1)
            return xp.sum(y) + xp.prod(z[:, ::-1]) + xp.std(xp.pad(x, 1)) + xp.sum(xp.tile(x, (2, 1)))

        with xp.backend("tf"):
            x = xp.asarray([[1.0, 2.0], [4.0, 3.0]])
            before = known()
            xp.grad(f)(x)
            xp.grad(xp.jit(f))(x)
            print(min(before) > 0, known() == before)
    """
    assert forked(program) == "True True\n"
