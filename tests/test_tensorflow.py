"""Arrays for TensorFlow's users: tensors, layers, data, gradients, devices."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

tf = pytest.importorskip("tensorflow", reason="these tests are about TensorFlow")

from anyarray.backends.tensorflow import _transforms  # noqa: E402 - imports TensorFlow


def address(a: Any) -> int:
    """Where the values are in the memory of the host."""
    found: int = np.asarray(a).__array_interface__["data"][0]
    return found


def on_tf(values: Any) -> xp.Array:
    return xp.asarray(values, device="tf")


def test_an_array_of_a_tensor_and_a_tensor_of_an_array_share_its_memory() -> None:
    t, x = tf.constant(np.arange(100.0)), on_tf(np.arange(100.0))
    assert address(xp.asarray(t)) == address(t)
    assert address(tf.convert_to_tensor(x)) == address(x)


@pytest.mark.parametrize(
    ("call", "kind", "values"),
    [
        (lambda: xp.exp(tf.zeros(2, tf.float64)), xp.Array, [1.0, 1.0]),
        (lambda: on_tf([1.0]) + tf.constant([2.0], tf.float64), xp.Array, [3.0]),
        (lambda: on_tf([1]) + tf.constant([0.1]), xp.Array, [1 + float(np.float32(0.1))]),  # in float64
        (lambda: tf.constant([2.0], tf.float64) + on_tf([1.0]), tf.Tensor, [3.0]),
        (lambda: tf.experimental.numpy.add(on_tf([1.0]), 1), tf.Tensor, [2.0]),
        (lambda: xp.exp(xp.from_native(tf.Variable([0.0]))), xp.Array, [1.0]),
        (lambda: tf.Variable(on_tf([1.5])), tf.Variable, [1.5]),
        (lambda: tf.keras.layers.Dense(2, kernel_initializer="ones")(on_tf([[1.0, 2.0]])), tf.Tensor, [[3.0, 3.0]]),
        (lambda: next(iter(tf.data.Dataset.from_tensor_slices(on_tf([[1.0, 2.0]])))), xp.Array, [1.0, 2.0]),
    ],
)
def test_arrays_and_tensors_take_each_other(call: Callable[[], Any], kind: Any, values: list[Any]) -> None:
    found = call()
    assert isinstance(found, kind) and np.asarray(found).tolist() == values
    assert kind is not xp.Array or found.device is xp.device("tf")


@pytest.mark.parametrize(
    "call",
    [
        tf.reduce_sum,
        tf.math.exp,
        tf.identity,
        lambda x: tf.cast(x, tf.float32),
        lambda x: tf.stack([x, x]),
        lambda x: tf.concat([x, x], 0),
    ],
    ids=["reduce_sum", "exp", "identity", "cast", "stack", "concat"],
)
def test_a_function_of_tensorflow_takes_an_array(call: Callable[[Any], Any]) -> None:
    a = np.asarray([1.0, 2.0])
    np.testing.assert_array_equal(call(on_tf(a)).numpy(), call(tf.constant(a)).numpy())


def test_a_write_to_a_variable_is_not_seen() -> None:
    v = tf.Variable([1.0, 2.0])
    x = xp.asarray(v)
    v.assign([9.0, 9.0])
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "make",
    [lambda: tf.constant(["a"]), lambda: tf.constant(1, tf.qint8), lambda: tf.ragged.constant([[1], [2, 3]])],
    ids=["string", "quantised", "ragged"],
)
def test_a_tensor_that_no_array_can_be_is_a_type_error(make: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        xp.exp(make())
    with pytest.raises(TypeError):
        xp.asarray(make())


def test_a_dtype_of_tensorflow_is_taken() -> None:
    assert xp.zeros(2, dtype=tf.float32).dtype is xp.float32
    with pytest.raises(TypeError, match="dtype must be one of"):
        xp.zeros(2, dtype=np.int64(1))  # which is equal to tf.float32, and has its hash
    assert tf.as_dtype(xp.float32) is tf.float32


KEYS_OF_XLA: list[Any] = [
    *(slice(1, None), slice(None, None, -1), slice(None, None, 2), (slice(2, None, -2), slice(None, None, 3))),
    *((0, slice(4, None, -2), None, 1), (..., slice(3, 0, -3)), (slice(0, 0), 1), ..., 1, (slice(None), 2)),
]
"""Steps, nothing to write and numbers to broadcast, all of which XLA refuses in TensorFlow's own ops."""


def several(result: Any) -> tuple[xp.Array, ...]:
    return tuple(result) if isinstance(result, tuple) else (result,)


def test_arrays_of_one_shape_trace_once() -> None:
    traces: list[xp.Array] = []
    f = tf.function(lambda x: traces.append(x) or x * 2, autograph=False)
    assert [f(on_tf([one])).tolist() for one in (1.0, 2.0)] == [[2.0], [4.0]]
    assert len(traces) == 1


def test_numbers_are_constants_of_the_graph() -> None:
    """No compiler could fold them if they were arguments of the graph.

    Arguments are what TensorFlow makes of tensors from outside.
    """

    @tf.function(autograph=False)
    def f(x: xp.Array) -> xp.Array:
        return xp.sum(xp.where(x > 0, x**2 + 3 * x, -0.0), axis=0)[1:]

    graph = f.get_concrete_function(on_tf([[1.0, -2.0], [3.0, 4.0]]))
    assert graph.captured_inputs == []
    assert f(on_tf([[1.0, -2.0], [3.0, 4.0]])).tolist() == [28.0]


@pytest.mark.parametrize("function", [xp.unique_values, xp.unique_counts, xp.unique_inverse, xp.unique_all, xp.nonzero])
def test_xla_finds_shapes_that_depend_on_values(function: Callable[[xp.Array], Any]) -> None:
    x = on_tf([[3, 1, 3], [2, 2, 3]])
    fused = tf.function(lambda x: several(function(x)), jit_compile=True, autograph=False)
    assert [one.tolist() for one in fused(x)] == [one.tolist() for one in several(function(x))]


@pytest.mark.parametrize("key", KEYS_OF_XLA, ids=str)
def test_xla_compiles_an_assignment(key: Any) -> None:
    def assigned(x: xp.Array, value: xp.Array) -> tuple[xp.Array, xp.Array]:
        y, z = +x, +x
        y[key] = 7.0
        z[key] = value
        return y, z

    a = np.arange(60.0).reshape(3, 5, 4)
    value = -a[key]
    fused = tf.function(assigned, jit_compile=True, autograph=False)
    one, other = fused(on_tf(a), on_tf(value))
    b, c = a.copy(), a.copy()
    b[key], c[key] = 7.0, value
    assert (one.tolist(), other.tolist()) == (b.tolist(), c.tolist())


@pytest.mark.parametrize("missing", ["_call_flat", "_inference_function", "recording"])
def test_a_compiled_function_runs_without_what_tensorflow_does_not_document(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Less:
        """A concrete function of a TensorFlow that has less."""

        def __init__(self, concrete: Any) -> None:
            self._concrete = concrete

        def __getattr__(self, name: str) -> Any:
            if name == missing:
                raise AttributeError(name)
            return getattr(self._concrete, name)

        def __call__(self, *tensors: Any) -> Any:
            return self._concrete(*tensors)

    if missing == "recording":
        monkeypatch.setattr(_transforms, "could_record", None)
    runner = _transforms._runner
    monkeypatch.setattr(_transforms, "_runner", lambda concrete, is_fused: runner(Less(concrete), is_fused))
    weights = on_tf([1.0, 2.0])
    f = xp.jit(lambda x: (x @ weights, {"twice": 2 * x}))
    for _ in range(2):
        product, rest = f(on_tf([3.0, 4.0]))
        assert (product.tolist(), rest["twice"].tolist()) == (11.0, [6.0, 8.0])


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize(
    "function",
    [
        xp.max,
        xp.min,
        lambda x: xp.maximum(0.0, x),
        lambda x: xp.minimum(x, x[::-1]),
        lambda x: xp.clip(x, 1.0, x),
        lambda x: xp.logaddexp(1.0, x),
        lambda x: xp.hypot(1.0, x),
        lambda x: abs(1.0 + 1j * x),
        lambda x: xp.linalg.vector_norm(x, ord=INF),
    ],
)
def test_nan_stays_in_what_xla_compiles(function: Callable[[xp.Array], xp.Array], place: int) -> None:
    values = [1.0, 2.0, 3.0, 4.0]
    values[place] = NAN
    expected = function(on_tf(values))
    for compiled in (xp.jit(function), tf.function(function, jit_compile=True, autograph=False)):
        np.testing.assert_allclose(compiled(on_tf(values)), expected, rtol=1e-14)


def test_a_compiled_function_keeps_signs_of_zeros_and_infinite_parts() -> None:
    assert str(xp.jit(xp.max)(on_tf([-0.0, -0.0])).tolist()) == "-0.0"
    assert xp.jit(xp.abs)(on_tf([complex(INF, NAN), complex(NAN, -INF), 3 + 4j])).tolist() == [INF, INF, 5.0]


@pytest.mark.parametrize("function", [xp.linalg.svdvals, xp.linalg.eigvalsh, xp.linalg.pinv])
def test_a_compiled_function_has_all_digits(function: Callable[[xp.Array], xp.Array]) -> None:
    square = np.random.default_rng(0).normal(size=(30, 30))
    x = on_tf(square + square.T)
    np.testing.assert_allclose(xp.jit(function)(x), function(x), rtol=1e-10, atol=1e-12)


def test_a_compiled_function_finds_nothing_in_a_mask_of_one_false() -> None:
    assert xp.jit(lambda x: x[x > 1])(on_tf([0.0])).shape == (0,)


def test_a_compiled_function_has_gradients_for_the_tapes_of_others() -> None:
    variable = tf.Variable([2.0, 3.0])
    f = xp.jit(lambda x: xp.sum(x**2 * variable))
    x = tf.constant([1.0, 2.0])
    assert f(x).tolist() == 14.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = xp.to_native(f(x))
    assert [one.numpy().tolist() for one in tape.gradient(y, [x, variable])] == [[4.0, 12.0], [1.0, 4.0]]
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as accumulator:
        y = xp.to_native(f(x))
    assert accumulator.jvp(y).numpy() == 4.0
    variable.assign([0.0, 1.0])
    assert f(x).tolist() == 4.0


def test_autograph_leaves_our_functions_alone() -> None:
    @tf.function
    def f(x: Any) -> Any:
        y = xp.linalg.solve(x, xp.ones(2, device="tf"))
        return xp.to_native(xp.sum(xp.sort(y) + x[0]))

    assert float(f(on_tf([[2.0, 0.0], [0.0, 4.0]]))) == 0.25 + 0.5 + 2.0


SQUARE = np.asarray([[4.0, 1.0], [0.5, 3.0]])
DIFFERENTIABLE: dict[str, Callable[[xp.Array], xp.Array]] = {
    "exp": xp.exp,
    "expm1": xp.expm1,
    "log1p": xp.log1p,
    "log10": xp.log10,
    "pow": lambda x: x**2.5,
    "remainder": lambda x: x % 1.75,
    "hypot": lambda x: xp.hypot(x, x[::-1]),
    "atan2": lambda x: xp.atan2(x, xp.flip(x)),
    "logaddexp": lambda x: xp.logaddexp(x, xp.flip(x)),
    "copysign": lambda x: xp.copysign(x, -x),
    "maximum": lambda x: xp.maximum(x, 2.0),
    "clip": lambda x: xp.clip(x, 0.75, 3.5),
    "where": lambda x: xp.where(x > 2, x * x, x),
    "reciprocal": xp.reciprocal,
    "sort": lambda x: xp.sort(x, axis=0) * xp.asarray([1.0, 2.0], device="tf"),
    "sort descending": lambda x: xp.sort(x, axis=1, descending=True) * xp.asarray([1.0, 2.0], device="tf"),
    "take": lambda x: xp.take(x, xp.asarray([1, 1, 0], device="tf"), axis=1),
    "take_along_axis": lambda x: xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1) ** 2,
    "element": lambda x: x[0, 1] * x[1, 0],
    "slice": lambda x: x[::-1, 1:] ** 2,
    "mask": lambda x: x[x > 2] ** 2,
    "integer arrays": lambda x: x[xp.asarray([0, 1], device="tf"), xp.asarray([1, 1], device="tf")] ** 2,
    "sum": lambda x: xp.sum(x, axis=0) ** 2,
    "prod": lambda x: xp.prod(x, axis=1),
    "max": lambda x: xp.max(x, axis=1),
    "mean": lambda x: xp.mean(x) ** 2,
    "std": lambda x: xp.std(x, axis=0),
    "var with correction": lambda x: xp.var(x, correction=1),
    "cumulative_sum": lambda x: xp.cumulative_sum(x, axis=1) ** 2,
    "cumulative_prod": lambda x: xp.cumulative_prod(x, axis=1),
    "diff": lambda x: xp.diff(x, axis=0) ** 2,
    "concat": lambda x: xp.concat([x, x * x]),
    "roll": lambda x: xp.roll(x, 1, axis=0) * x,
    "repeat": lambda x: xp.repeat(x, 2, axis=0) ** 2,
    "tile": lambda x: xp.tile(x, (2, 1)) ** 2,
    "broadcast_to": lambda x: xp.broadcast_to(x, (3, 2, 2)) ** 2,
    "permute_dims": lambda x: x.T * x,
    "tril": lambda x: xp.tril(x) ** 2,
    "matmul": lambda x: x @ x,
    "tensordot": lambda x: xp.tensordot(x, x, axes=1),
    "vecdot": lambda x: xp.vecdot(x, x * x),
    "cross": lambda x: xp.linalg.cross(xp.concat([x[0], x[0, :1]]), xp.concat([x[1], x[1, 1:]])),
    "det": xp.linalg.det,
    "slogdet": lambda x: xp.linalg.slogdet(x).logabsdet,
    "inv": xp.linalg.inv,
    "solve": lambda x: xp.linalg.solve(x, x[0] ** 2),
    "cholesky": lambda x: xp.linalg.cholesky(x @ x.T),
    "svdvals": xp.linalg.svdvals,
    "eigvalsh": lambda x: xp.linalg.eigvalsh(x + x.T),
    "qr": lambda x: xp.abs(xp.linalg.qr(x).R),
    "matrix_norm": xp.linalg.matrix_norm,
    "vector_norm": lambda x: xp.linalg.vector_norm(x, ord=3),
    "matrix_power": lambda x: xp.linalg.matrix_power(x, 3),
    "fft": lambda x: xp.abs(xp.fft.fft(x)),
    "rfftn": lambda x: xp.abs(xp.fft.rfftn(x)),
    "irfft": lambda x: xp.fft.irfft(xp.fft.rfft(x * x), n=2),
}


def slope(function: Callable[[xp.Array], xp.Array]) -> np.ndarray[Any, Any]:
    """Gradient of the sum of `function` at `SQUARE`: central differences."""
    step = 1e-6
    found = np.zeros_like(SQUARE)
    for place in np.ndindex(*SQUARE.shape):
        ends = []
        for sign in (1, -1):
            a = SQUARE.copy()
            a[place] += sign * step
            ends.append(float(xp.sum(function(on_tf(a)))))
        found[place] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("function", DIFFERENTIABLE.values(), ids=DIFFERENTIABLE)
def test_gradients_go_through(function: Callable[[xp.Array], xp.Array]) -> None:
    t = tf.constant(SQUARE)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = xp.to_native(xp.sum(function(xp.asarray(t))))
    gradient = tape.gradient(y, t)
    assert gradient is not None
    # Central differences with a step of 1e-6 are good for some eight digits.
    np.testing.assert_allclose(tf.convert_to_tensor(gradient).numpy(), slope(function), rtol=1e-5, atol=1e-6)


def test_gradients_go_through_assignment_and_tapes_watch_arrays() -> None:
    x = on_tf(SQUARE)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = +x
        y[0] = y[1] ** 2
        y *= 3
        total = xp.sum(y)
    assert np.asarray(tape.gradient(total, x)).tolist() == [[0.0, 0.0], [3.0 + 6 * 0.5, 3.0 + 6 * 3.0]]


def test_the_second_of_two_devices_is_used_and_named(forked: Callable[..., str]) -> None:
    program = """
        import json
        import numpy as np
        import tensorflow as tf

        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
        )
        import anyarray as xp

        def place(x):
            return xp.to_native(x).device.rpartition(":")[2]

        with xp.backend("tf-cpu:1"):
            x = xp.linspace(0, 1, 5)
            placed = {
                "creation": x, "creation of much": xp.zeros(10**5), "function": xp.exp(x), "comparison": x > 0,
                "search": xp.argsort(x), "shape of another": xp.ones_like(x), "operator": x + 1, "indexing": x[1:],
                "linalg": xp.linalg.inv(xp.eye(2)), "brought from numpy": xp.asarray(np.ones(2)),
                "int32": xp.ones(2, dtype=xp.int32) + 1,
            }
            x[0] = 7
        y = xp.ones(2, device="tf-cpu:0").to_device("tf-cpu:1")
        with tf.device("CPU:1"):
            t = tf.ones(2)
        placed |= {"assignment": x, "to_device": y, "of a placed array": y * 2, "the user's tensor": xp.asarray(t)}
        places = {what: (place(x), str(x.device)) for what, x in placed.items()}
        found = {"elsewhere": {what: one for what, one in places.items() if one != ("1", "tf-cpu:1")}}
        z = xp.ones(2, device="tf-cpu:1").to_device("tf-cpu")
        found["back"] = place(z), str(z.device)
        try:
            y + z
        except xp.BackendMismatchError as error:
            found["mismatch"] = str(error).partition(".")[0]
        found["devices"] = [row.devices for row in xp.backends() if row.name == "tf"][0]
        found["same object"] = xp.device("tf-cpu:1") is y.device
        try:
            xp.device("tf-cpu:2")
        except xp.DeviceNotFoundError as error:
            found["none such"] = str(error)
        print(json.dumps(found))
    """
    assert json.loads(forked(program).splitlines()[-1]) == {
        "elsewhere": {},
        "back": ["0", "tf-cpu"],
        "devices": ["tf-cpu", "tf-cpu:1"],
        "same object": True,
        "mismatch": "add: one input is placed on tf-cpu:1 and another on tf-cpu",
        "none such": 'backend "tf-cpu:2": tensorflow is installed, but finds no such device on this machine. '
        "It has: tf-cpu, tf-cpu:1",
    }


@pytest.mark.parametrize("is_first", [True, False])
def test_tensorflow_knows_earlier_arrays_of_numpy_and_keeps_the_log_level_of_the_user(
    is_first: bool, forked: Callable[..., str]
) -> None:
    program = f"""
        import os, sys
        import tensorflow as tf
        if not {is_first}:
            del sys.modules["tensorflow"]  # as if anyarray were imported before it
        import anyarray as xp
        from anyarray._registry import registry
        sys.modules["tensorflow"] = tf
        x = xp.ones(2)
        print([str(one) for one in registry.loaded_backends()], x.device)
        tf.config.set_visible_devices([], "GPU")  # which TensorFlow refuses once it has looked at its devices
        twice = tf.function(lambda v: v * 2)
        print(type(twice(x)).__name__, type(twice(x)).__name__, type(tf.nest.flatten([x])[0]).__name__)
        xp.ones(2, device="tf")
        print(os.environ["TF_CPP_MIN_LOG_LEVEL"])
    """
    told = forked(program, TF_CPP_MIN_LOG_LEVEL="0").splitlines()
    assert told == ["['numpy'] numpy", "Array Array EagerTensor", "0"]


def test_arrays_are_found_on_the_devices_of_a_worker(forked: Callable[..., str]) -> None:
    program = """
        import json, os, socket
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{one.getsockname()[1]}"
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": [address]}, "task": {"type": "worker", "index": 0}})
        import tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        assert tf.constant(1.0).device.startswith("/job:worker/")
        import anyarray as xp
        with strategy.scope():
            x = xp.ones(3, device="tf")
            print(x.device, (x + xp.from_native(tf.constant([1.0, 2.0, 3.0]))).tolist())
            print(float(strategy.run(lambda: xp.to_native(xp.sum(x)))), xp.grad(lambda x: xp.sum(x * x))(x).tolist())
    """
    assert forked(program).splitlines() == ["tf-cpu [2.0, 3.0, 4.0]", "3.0 [2.0, 2.0, 2.0]"]


def test_a_call_that_fails_calls_few_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    from tensorflow.python import pywrap_tfe

    called: list[str] = []
    execute = pywrap_tfe.TFE_Py_FastPathExecute
    monkeypatch.setattr(
        pywrap_tfe,
        "TFE_Py_FastPathExecute",
        lambda context, op, *a, **k: called.append(op) or execute(context, op, *a, **k),
    )
    x, y = on_tf(np.ones((3, 4))), on_tf(np.ones(5))
    for call in (lambda: x + y, lambda: x * y, lambda: x / y, lambda: x @ x, lambda: xp.concat([x, y]),
                 lambda: xp.stack([x, y]), lambda: xp.sum(x, axis=5)):  # fmt: skip
        called.clear()
        with pytest.raises(ValueError):
            call()
        assert 1 <= len(called) <= 2, called  # of the fast path and of the slow one: TensorFlow frees nothing of them


CURE: Final = (
    "In a tf.function, AutoGraph needs tensors: if xp.to_native(x > 0):, and in a loop also v = xp.to_native(v)"
)


def chosen(v: Any, is_tensor: bool) -> Any:
    read = xp.to_native if is_tensor else lambda x: x
    if read(xp.sum(v) > 1):
        v = v * 2
    return v


def repeated(v: Any, is_tensor: bool) -> Any:
    read = xp.to_native if is_tensor else lambda x: x
    v = read(v)
    while read(xp.sum(v) < 100):
        v = read(xp.multiply(v, 2))
    return v


def counted(v: Any, is_tensor: bool) -> Any:
    read = xp.to_native if is_tensor else lambda x: x
    v = read(v)
    for _ in tf.range(2):
        v = read(xp.add(v, 1))
    return v


@pytest.mark.parametrize(
    ("function", "sentence", "expected"),
    [
        (chosen, CURE, [2.0] * 3),
        (repeated, CURE, [64.0] * 3),
        (counted, "for a loop of AutoGraph, xp.to_native(x) is its tensor", [3.0] * 3),
    ],
)
def test_autograph_refuses_an_array_with_the_cure_and_takes_its_tensor(
    function: Any, sentence: str, expected: list[float]
) -> None:
    with xp.backend("tf"):
        with pytest.raises(Exception, match=re.escape(sentence)):
            tf.function(lambda x: function(x, False))(xp.ones(3))
        assert np.asarray(tf.function(lambda x: function(x, True))(xp.ones(3))).tolist() == expected
