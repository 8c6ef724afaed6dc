"""Transforms: the same on every backend that has them.

They are `jit`, `grad`, `value_and_grad`, `jacobian`, `vmap` and `stop_gradient`.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from comparison import assert_same, each

import anyarray as xp
from anyarray._registry import libraries

pytestmark = pytest.mark.few_backends

ROWS: Final = np.asarray([[0.5, 1.0, -2.0], [3.0, -0.25, 4.0]])
SQUARE: Final = np.asarray([[2.0, 1.0, 0.0], [0.5, 3.0, -1.0], [1.0, 0.0, 4.0]])


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass(frozen=True)
class Layer:
    weights: Any
    bias: Any
    name: str = "dense"

    def __post_init__(self) -> None:
        assert self.weights.shape, "a constructor that looks at its arguments"


@dataclass(frozen=True)
class Model:
    scale: int


def counted(function: Callable[..., Any]) -> tuple[Callable[..., Any], list[None]]:
    """A function, and a list that grows by one whenever its body runs."""
    runs: list[None] = []

    def body(*args: Any, **kwargs: Any) -> Any:
        runs.append(None)
        return function(*args, **kwargs)

    return body, runs


def test_jit_keeps_signature_name_and_docstring() -> None:
    def scaled(x: xp.Array, factor: float = 2.0) -> xp.Array:
        """Scaled."""
        return x * factor

    compiled = xp.jit(scaled)
    assert inspect.signature(compiled) == inspect.signature(scaled)
    assert (compiled.__name__, compiled.__doc__) == ("scaled", "Scaled.")


@pytest.mark.needs("traces")
def test_jit_traces_each_shape_dtype_constant_and_way_to_call_once(framework: str) -> None:
    body, runs = counted(lambda x, factor: x * factor)
    compiled = xp.jit(body)
    free = xp.asarray(ROWS, device=framework)
    x = free.to_device(framework)
    with xp.backend(framework):
        arrays = (free, x, x[0], xp.astype(x, xp.float32))
        for array, factor in [*[(one, 2) for one in arrays], (x, 2.0), (x, 3), (x, True)] * 2:
            compiled(array, factor)
        assert len(runs) == 6
        for other in (x, x + 1) * 2:
            compiled(x, other)
            compiled(x, factor=other)
    assert len(runs) == 8


def test_dtypes_are_those_outside_inside_jit(backend: xp.Backend) -> None:
    for value in (2, 2.5, True, -0.0, 1j):
        for dtype in (xp.float32, xp.int64):
            x = xp.ones(3, dtype=dtype)
            assert_same(xp.jit(lambda x, value: x * value)(x, value), np.asarray(x * value))
    assert xp.jit(lambda a, b: a + b)(xp.ones(2, dtype=xp.int64), xp.ones(2, dtype=xp.float32)).dtype == xp.float64


def test_default_dtypes_hold_inside_jit(backend: xp.Backend) -> None:
    make = xp.jit(lambda x: xp.ones(2) + xp.sum(x))
    x = xp.ones(2, dtype=xp.float32)
    assert make(x).dtype == xp.float64
    with xp.default_dtypes(float=xp.float32):
        assert make(x).dtype == xp.float32
    assert make(x).dtype == xp.float64


def test_arrays_made_inside_jit_belong_to_its_backend(framework: str) -> None:
    x = xp.asarray(ROWS, device=framework)
    made, ones = xp.jit(lambda x: (x + xp.arange(3), xp.ones(2)))(x)
    assert made.device is ones.device is x.device


def test_jit_takes_and_gives_nested_arrays_and_constants(backend: xp.Backend) -> None:
    def function(tree: dict[str, Any], pair: Pair, *rest: Any, **named: Any) -> Any:
        layer = tree["layer"]
        return Layer(layer.weights * 2, layer.bias + 1, "new"), Pair(pair.second, [None, "text", 3]), {"q": named["z"]}

    x = xp.asarray(ROWS)
    layer, pair, named = xp.jit(function)({"layer": Layer(x, x[0])}, Pair(1, (x, 2.5)), "unused", z=x)
    assert_same(layer.weights, ROWS * 2)
    assert_same(layer.bias, ROWS[0] + 1)
    assert layer.name == "new"
    assert_same(pair.first[0], ROWS)
    assert (pair.first[1], pair.second) == (2.5, [None, "text", 3])
    assert_same(named["q"], ROWS)


def test_containers_that_jit_gives_are_those_of_the_function(backend: xp.Backend) -> None:
    x = xp.asarray(ROWS)
    found = xp.jit(lambda d: OrderedDict(z=d["b"], a=d["a"]))({"b": x, "a": x + 1})
    assert (type(found), list(found)) == (OrderedDict, ["z", "a"])
    function = xp.jit(lambda x: (x, {1, 2}))
    function(x)[1].add(3)
    assert function(x)[1] == {1, 2}


def test_a_result_may_have_another_structure_for_another_shape(backend: xp.Backend) -> None:
    halves = xp.jit(lambda x: x if x.shape[0] == 1 else (x, x.shape[0]))
    x = xp.asarray(ROWS)
    for _ in range(2):
        assert_same(halves(x[:1]), ROWS[:1])
        assert halves(x)[1] == 2


def test_static_argnames_count_by_their_value(backend: xp.Backend) -> None:
    @xp.jit(static_argnames=("axis", "model"))
    def total(x: xp.Array, axis: int, *, model: Any = None) -> xp.Array:
        return xp.sum(x, axis=axis) * (1 if model is None else model.scale)

    x = xp.asarray(ROWS)
    assert_same(total(x, 1), ROWS.sum(1))
    assert_same(total(x, axis=0), ROWS.sum(0))
    assert_same(total(x, 0, model=Model(3)), ROWS.sum(0) * 3)


@pytest.mark.parametrize(
    "kind", [tuple, frozenset, lambda values: Pair(None, tuple(values)), lambda values: np.float32(values[0])]
)
def test_static_arguments_that_hold_numbers_count_by_their_kind(
    kind: Callable[[Any], Any], backend: xp.Backend
) -> None:
    @xp.jit(static_argnames="numbers")
    def kinds(x: xp.Array, numbers: Any) -> tuple[xp.Array, str]:
        return x + 1, repr(numbers)

    for number in (1, True, 1.0, 0.0, -0.0, 1):
        numbers = kind([number])
        assert kinds(xp.ones(2), numbers)[1] == repr(numbers)


@each("config", [{1, 2}, ({1, 2},), [3, [{1, 2}]], {"a": (4, {1, 2})}])
@pytest.mark.needs("traces")
def test_jit_refuses_what_is_neither_array_nor_hashable(
    config: Any, framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYARRAY_TRACEBACK", "full")

    def function(x: Any, config: Any) -> Any:
        return x

    with (
        xp.backend(framework),
        pytest.raises(
            TypeError,
            match=r"^jit: config of function must be made of Arrays and hashable values, but holds set\. "
            r"Pass a tuple, or a frozen dataclass$",
        ) as raised,
    ):
        xp.jit(function)(xp.ones(2), config)
    assert isinstance(raised.value.__cause__, TypeError)


@pytest.mark.parametrize(("names", "first"), [("n", "'n'"), (1, "1"), (["x", 0, "n"], "0")])
def test_static_argnames_must_be_parameters(names: Any, first: str) -> None:
    with pytest.raises(ValueError, match=rf"^jit: static_argnames must name parameters of double, not {first}$"):

        @xp.jit(static_argnames=names)
        def double(x: xp.Array) -> xp.Array:
            return 2 * x


def test_inputs_on_two_backends_are_refused_by_jit_as_by_any_call(framework: str) -> None:
    with pytest.raises(xp.BackendMismatchError, match=r"^jit: one input is placed on numpy and another on "):
        xp.jit(lambda a, b: a + b)(xp.ones(2, device="numpy"), xp.ones(2, device=framework))


def test_an_exception_of_the_body_leaves_nothing_behind_and_is_raised_once(target: str) -> None:
    def picky(x: xp.Array) -> xp.Array:
        runs.append(None)
        if x.shape == (3, 3):
            raise RuntimeError("mine")
        return x + 1

    runs: list[None] = []
    compiled = xp.jit(picky)
    one, wrong = xp.asarray(ROWS, device=target), xp.asarray(SQUARE, device=target)
    for calls in (0, 3):  # also one of a function that is called often
        for _ in range(calls):
            compiled(one)
        runs.clear()
        with pytest.raises(RuntimeError, match=r"^mine"):  # to which JAX adds a note
            compiled(wrong)
        assert len(runs) <= 2  # TensorFlow tries without XLA
        assert xp.ones(2).device.library == "numpy"


@pytest.mark.parametrize("calls", [1, 4])
@pytest.mark.needs("traces")
def test_a_function_called_often_takes_other_arrays_as_before(calls: int, framework: str) -> None:
    body, runs = counted(lambda x: x * 2)
    compiled = xp.jit(body)
    with xp.backend(framework):
        one, two = xp.asarray(ROWS), xp.asarray(SQUARE)
        for _ in range(calls):
            assert_same(compiled(one), ROWS * 2)
        for x, expected in [(two, SQUARE * 2), (one, ROWS * 2), (xp.astype(one, xp.int8), None)] * 2:
            found = compiled(x)
            assert found.dtype == x.dtype
            if expected is not None:
                assert_same(found, expected)
    assert len(runs) == 3


def test_a_function_called_often_goes_into_other_transforms(differentiating: xp.Backend) -> None:
    square = xp.jit(lambda x: x**2)
    x = xp.asarray(ROWS)
    for _ in range(4):
        square(x)
    for _ in range(2):
        assert_same(xp.grad(lambda x: xp.sum(square(x)))(x), 2 * ROWS)
        assert_same(xp.vmap(square)(x), ROWS**2)
        assert_same(xp.jit(lambda x: square(x) + 1)(x), ROWS**2 + 1)
        assert_same(square(x), ROWS**2)


def test_default_dtypes_of_a_copied_context_hold_in_a_function_called_often(framework: str) -> None:
    make = xp.jit(lambda x: xp.sum(x) + xp.ones(()))
    x = xp.ones(2, dtype=xp.float32, device=framework)
    with xp.default_dtypes(float=xp.float32):
        context = contextvars.copy_context()
    for _ in range(4):
        assert make(x).dtype == xp.float64
    assert context.run(make, x).dtype == xp.float32


def test_jax_s_switches_hold_in_a_function_called_often() -> None:
    jax = pytest.importorskip("jax")
    body, runs = counted(lambda x: x + 1)
    compiled = xp.jit(body)
    x = xp.asarray(ROWS, device="jax")
    for _ in range(3):
        compiled(x)
    with jax.disable_jit():
        assert_same(compiled(x), ROWS + 1)
    assert len(runs) == 2
    assert not jax.config.jax_enable_x64
    assert_same(compiled(x), ROWS + 1)


def test_a_callback_of_jax_keeps_64_bits_in_a_function_called_often() -> None:
    jax = pytest.importorskip("jax")
    seen: list[Any] = []

    def host(a: Any) -> Any:
        seen.append(np.asarray(a).dtype)
        if np.any(np.asarray(a) > 100):
            raise ValueError("mine")
        return np.asarray(a) / 3

    def divided(x: xp.Array) -> xp.Array:
        shape = jax.ShapeDtypeStruct(x.shape, np.float64)
        return xp.from_native(jax.pure_callback(host, shape, xp.to_native(x)))

    compiled = xp.jit(divided)
    x = xp.asarray(ROWS, device="jax")
    for _ in range(4):
        assert_same(compiled(x), ROWS / 3)
    assert seen == [np.float64] * 4
    with pytest.raises(Exception, match="mine"):
        xp.to_native(compiled(x * 100)).block_until_ready()
    assert len(seen) == 5  # not tried again


def test_what_jax_prints_from_a_function_called_often_has_64_bits(capsys: pytest.CaptureFixture[str]) -> None:
    jax = pytest.importorskip("jax")

    def printing(x: xp.Array) -> xp.Array:
        jax.debug.print("{}", xp.to_native(x))
        return x + 1

    compiled = xp.jit(printing)
    for _ in range(4):
        compiled(xp.asarray(1 / 7, device="jax"))
    jax.effects_barrier()
    assert capsys.readouterr().out.split() == [str(np.asarray(1 / 7))] * 4


DERIVATIVES: Final[dict[str, tuple[Callable[[xp.Array], xp.Array], Callable[[np.ndarray[Any, Any]], Any]]]] = {
    "sum of sines": (lambda x: xp.sum(xp.sin(x)), np.cos),
    "product of two elements": (lambda x: x[0, 1] * x[1, -1], lambda a: np.asarray([[0, a[1, 2], 0], [0, 0, a[0, 1]]])),
    "matrix product": (lambda x: xp.sum(x @ x.mT), lambda a: 2 * np.tile(a.sum(0), (2, 1))),
    "taken twice": (
        lambda x: xp.sum(xp.take(x, xp.asarray([0, 0]), axis=0)),
        lambda a: np.asarray([[2.0] * 3, [0.0] * 3]),
    ),
    "where": (lambda x: xp.sum(xp.where(x > 0, x**2, 0.0)), lambda a: np.where(a > 0, 2 * a, 0.0)),
    "sorted": (lambda x: xp.sum(xp.sort(x)[:, 0]), lambda a: (a == a.min(1, keepdims=True)).astype(float)),
    "largest": (xp.max, lambda a: (a == a.max()).astype(float)),
    "variance": (xp.var, lambda a: 2 * (a - a.mean()) / a.size),
    "constant": (lambda x: xp.sum(xp.ones(3)), np.zeros_like),
    "stopped": (lambda x: xp.sum(x * xp.stop_gradient(x)), np.array),
}


def test_gradients_are_those_of_the_formulas(differentiating: xp.Backend, jits: list[Any]) -> None:
    def gradients(x: xp.Array) -> dict[str, xp.Array]:
        return {what: xp.grad(function)(x) for what, (function, _) in DERIVATIVES.items()}

    for jit in jits:
        for what, found in jit(gradients)(xp.asarray(ROWS)).items():
            assert_same(found, DERIVATIVES[what][1](ROWS))


POWERS: Final = {2: 0.0, 3: 0.0, -1: -np.inf, 0.5: np.inf}
"""Exponents, and the slope of the power of 0."""


@pytest.mark.parametrize("count", [1, 1000], ids=["few", "many"])
def test_the_gradient_of_a_power_is_that_of_the_formula(
    count: int, differentiating: xp.Backend, jits: list[Any]
) -> None:
    x = xp.asarray(np.tile([0.0, 0.5, 4.0], count))
    for jit in jits:
        found = jit(lambda x: [xp.grad(lambda x, n=n: xp.sum(x**n))(x) for n in POWERS])(x)
        for one, (n, of_zero) in zip(found, POWERS.items(), strict=True):
            assert_same(one[:3], np.asarray([of_zero, n * 0.5 ** (n - 1), n * 4.0 ** (n - 1)]))


def test_value_and_grad_gives_both(differentiating: xp.Backend) -> None:
    value, (by_a, by_b) = xp.value_and_grad(lambda a, b: xp.sum(a * b), argnums=(0, 1))(xp.asarray(ROWS), xp.ones(3))
    assert_same(value, np.asarray(ROWS.sum()))
    assert_same(by_a, np.ones((2, 3)))
    assert_same(by_b, ROWS.sum(0))


def test_an_array_that_comes_twice_counts_as_two_variables(differentiating: xp.Backend) -> None:
    x = xp.asarray(ROWS)
    for found in (*xp.grad(lambda a, b: xp.sum(a * b), argnums=(0, -1))(x, x), xp.grad(lambda y: xp.sum(y * x))(x)):
        assert_same(found, ROWS)


def test_the_gradient_has_the_structure_of_the_argument(differentiating: xp.Backend) -> None:
    layer = Layer(xp.asarray(SQUARE), xp.asarray(ROWS[0]))
    found = xp.grad(lambda p, x: xp.sum(x @ p["layer"].weights + p["layer"].bias))({"layer": layer}, xp.asarray(ROWS))
    assert_same(found["layer"].weights, np.tile(ROWS.sum(0)[:, None], (1, 3)))
    assert_same(found["layer"].bias, np.full(3, 2.0))
    assert found["layer"].name is None


def test_derivatives_nest(differentiating: xp.Backend) -> None:
    third = xp.grad(xp.grad(xp.grad(lambda x: x**4)))
    assert_same(third(3.0), np.asarray(72.0))
    assert_same(xp.jit(third)(xp.asarray(3.0)), np.asarray(72.0))


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_the_jacobian_has_the_axes_of_the_result_then_those_of_the_argument(
    mode: Any, differentiating: xp.Backend
) -> None:
    a = xp.asarray(SQUARE)
    found = xp.jacobian(lambda x: (a @ x, {"sum": xp.sum(x), "constant": xp.ones(2)}), mode=mode)(xp.asarray(ROWS[0]))
    assert_same(found[0], SQUARE)
    assert_same(found[1]["sum"], np.ones(3))
    assert_same(found[1]["constant"], np.zeros((2, 3)))


def test_the_jacobian_of_no_elements_has_none(differentiating: xp.Backend) -> None:
    x = xp.asarray([[2.0, 1.0], [0.0, 3.0]], device=differentiating)
    assert xp.jacobian(lambda x: xp.linalg.lstsq(x, x[:, 0])[1])(x).shape == (0, 2, 2)


def test_float32_stays_float32_in_derivatives(differentiating: xp.Backend) -> None:
    x = xp.asarray(ROWS, dtype=xp.float32)
    value, gradient = xp.value_and_grad(lambda x: xp.sum(x * 2.5))(x)
    assert value.dtype == gradient.dtype == xp.float32


def test_stop_gradient_takes_nested_arrays(backend: xp.Backend) -> None:
    x = xp.asarray(ROWS)
    found = xp.stop_gradient({"a": [x], "b": "text"})
    found["a"][0] += 1
    assert_same(x, ROWS)
    assert found["b"] == "text"


def test_numpy_has_no_derivatives_and_says_who_has() -> None:
    x = xp.ones(2, device="numpy")
    for name in ("grad", "value_and_grad", "jacobian"):
        with pytest.raises(
            xp.UnsupportedError,
            match=rf"^{name}: numpy has no derivatives\. "
            r'Choose a backend that has: with xp\.backend\("tf"\) or with xp\.backend\("jax"\) '
            rf'or with xp\.backend\("torch"\), or name one for derivatives alone: xp\.{name}\(f, backend="tf"\)$',
        ):
            getattr(xp, name)(lambda x: xp.sum(x))(x)


@pytest.mark.needs("derivatives")
@pytest.mark.parametrize("chosen", ["its name", "any"])
def test_a_backend_for_derivatives_alone_gives_them_to_arrays_of_numpy(chosen: str, framework: str) -> None:
    x = xp.asarray([1.0, 2.0], device="numpy")
    backend = framework if chosen == "its name" else "any"
    xp.device(framework)

    def f(x: xp.Array, scale: float) -> xp.Array:
        return xp.sum(x**3) * scale

    slope = xp.grad(f, backend=backend)(x, 2.0)
    value, gradient = xp.value_and_grad(f, backend=backend)(x, 2.0)
    rows = xp.jacobian(lambda x: x**2, backend=backend)(x)
    (_, more), _ = xp.value_and_grad(lambda x: (xp.sum(x**2), {"twice": 2 * x}), has_aux=True, backend=backend)(x)
    found = (slope, value, gradient, rows, more["twice"])
    for one, expected in zip(found, ([6, 24], 18, [6, 24], [[2, 0], [0, 4]], [2, 4]), strict=True):
        assert one.device == xp.device("numpy")
        assert one.tolist() == expected


def test_a_backend_for_derivatives_alone_is_not_used_where_the_own_has_them(differentiating: xp.Backend) -> None:
    x = xp.asarray([1.0, 2.0])
    assert xp.grad(lambda x: xp.sum(x**2), backend="numpy")(x).device is differentiating


def test_without_a_library_for_derivatives_any_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, row in libraries.LIBRARIES.items():
        if row.has_derivatives:
            monkeypatch.setitem(libraries.LIBRARIES, name, row._replace(package="no_such_package"))
    with pytest.raises(
        xp.BackendNotInstalledError, match=r"^grad: no library with derivatives is installed\. Run: pip "
    ):
        xp.grad(lambda x: xp.sum(x), backend="any")(xp.ones(1, device="numpy"))


def test_a_misspelled_backend_for_derivatives_is_reported_at_once() -> None:
    with pytest.raises(xp.BackendNotFoundError, match=r'backend "jaxx" is unknown'):
        xp.jacobian(lambda x: x, backend="jaxx")


def test_a_function_of_the_library_itself_is_differentiated(differentiating: xp.Backend) -> None:
    if differentiating.library == "jax":
        import jax.numpy as jnp

        def f(x: Any) -> Any:
            return jnp.sum(jnp.sin(x) ** 2)
    elif differentiating.library == "tf":
        import tensorflow as tf

        def f(x: Any) -> Any:
            return tf.reduce_sum(tf.sin(x) ** 2)
    else:
        pytest.skip("torch's functions take its tensors alone")
    x = xp.asarray([0.5, 1.0])
    expected = 2 * np.sin([0.5, 1.0]) * np.cos([0.5, 1.0])
    value, found = xp.value_and_grad(f)(x)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)  # TensorFlow and JAX may take float32
    assert type(value) is xp.Array


def test_the_libraries_named_as_differentiating_are_those_that_do(name: str) -> None:
    library = xp.device(name).library
    if library in libraries.LIBRARIES:
        assert xp.device(name).has_hook("value_and_grad") == libraries.LIBRARIES[library].has_derivatives


@pytest.mark.parametrize("dtype", ["int64", "bool", "complex128"])
def test_derivatives_by_other_than_real_floats_are_refused(dtype: str, backend: xp.Backend) -> None:
    x = xp.ones(2, dtype=getattr(xp, dtype))
    for name in ("grad", "value_and_grad", "jacobian"):
        with pytest.raises(
            TypeError,
            match=rf"^{name}: x must have a real floating-point dtype, not {dtype}\. "
            rf"{'Take a part of it: xp.real' if 'complex' in dtype else 'Convert it: xp.astype'}\(\.\.\.\)$",
        ):
            getattr(xp, name)(lambda x: xp.sum(x))(x)


def test_what_is_no_float_among_parameters_is_a_constant_with_the_slope_none(
    differentiating: xp.Backend, jits: list[Any]
) -> None:
    parameters = {
        "w": xp.asarray(ROWS), "n": 2, "flag": True, "x": 1.5, "name": "dense", "nothing": None,
        "places": xp.asarray([0, 1]), "mask": xp.asarray(ROWS > 0), "size": np.int64(3), "pair": (4, xp.asarray(2.0)),
    }  # fmt: skip

    def function(p: dict[str, Any]) -> xp.Array:
        assert type(p["n"]) is int
        assert p["flag"] is True
        assert type(p["pair"][0]) is int
        factors = xp.take(p["w"], p["places"], axis=0) * p["mask"]
        return xp.sum(factors ** p["n"]) * p["x"] * p["pair"][1] * p["size"]

    of_squares = np.sum((ROWS * (ROWS > 0)) ** 2)
    expected = dict.fromkeys(parameters) | {
        "w": 2 * ROWS * (ROWS > 0) * 1.5 * 2 * 3, "x": of_squares * 2 * 3, "pair": (None, of_squares * 1.5 * 3),
    }  # fmt: skip
    derivatives = [
        xp.grad(function),
        lambda p: xp.value_and_grad(function)(p)[1],
        xp.jacobian(function),
        xp.jacobian(function, mode="forward"),
    ]
    for found in [jit(derivative)(parameters) for jit in jits for derivative in derivatives]:
        assert list(found) == list(parameters)
        assert [name for name, slope in found.items() if slope is None] == [
            name for name, slope in expected.items() if slope is None
        ]
        assert found["pair"][0] is None
        assert_same(found["w"], expected["w"])
        assert_same(found["x"], expected["x"])
        assert_same(found["pair"][1], expected["pair"][1])


def test_the_slope_of_a_python_float_is_an_array(differentiating: xp.Backend) -> None:
    slope = xp.grad(lambda p: p[0] ** 3)([2.0])[0]
    assert type(slope) is xp.Array
    assert (slope.shape, slope.dtype, float(slope)) == ((), xp.float64, 12.0)


def test_the_gradient_by_constants_alone_holds_none(differentiating: xp.Backend) -> None:
    assert xp.grad(lambda p: xp.asarray(1.0))({"n": 2, "k": xp.asarray([1, 2])}) == {"n": None, "k": None}


def with_extra(x: xp.Array) -> tuple[xp.Array, dict[str, Any]]:
    y = x * 2
    return xp.sum(y**2), {"y": y, "layer": Layer(y + 1, None), "rest": (None, 3, "text", 1.5), "place": xp.argmax(y)}


def assert_extra(found: dict[str, Any], x: np.ndarray[Any, Any]) -> None:
    assert list(found) == ["y", "layer", "rest", "place"]
    assert_same(found["y"], 2 * x)
    assert_same(found["layer"].weights, 2 * x + 1)
    assert found["layer"].name == "dense"
    assert found["layer"].bias is None
    assert found["rest"] == (None, 3, "text", 1.5)
    assert int(found["place"]) == np.argmax(x)


AUXILIARY: Final[list[Callable[..., Any]]] = [
    functools.partial(xp.grad, has_aux=True),
    functools.partial(xp.jacobian, has_aux=True),
    functools.partial(xp.jacobian, mode="forward", has_aux=True),
]


def test_a_differentiated_function_gives_anything_beside_its_value(
    differentiating: xp.Backend, jits: list[Any]
) -> None:
    x = xp.asarray(ROWS)
    for jit in jits:
        (value, extra), slopes = jit(xp.value_and_grad(with_extra, has_aux=True))(x)
        assert_same(value, np.sum((2 * ROWS) ** 2))
        for by_x, more in [(slopes, extra), *[jit(transform(with_extra))(x) for transform in AUXILIARY]]:
            assert_same(by_x, 8 * ROWS)
            assert_extra(more, ROWS)


def test_what_comes_beside_a_value_is_mapped(differentiating: xp.Backend, jits: list[Any]) -> None:
    for transform in AUXILIARY:
        slopes, extra = jits[0](xp.vmap(transform(with_extra)))(xp.asarray(ROWS))
        assert_same(slopes, 8 * ROWS)
        assert_same(extra["y"], 2 * ROWS)
        assert_same(extra["place"], np.argmax(ROWS, axis=1))
        assert extra["rest"][2] == "text"


def test_what_comes_beside_a_value_has_slopes_in_an_outer_derivative(
    differentiating: xp.Backend, jits: list[Any]
) -> None:
    def outer(x: xp.Array) -> tuple[xp.Array, Any]:
        (value, extra), slopes = xp.value_and_grad(with_extra, has_aux=True)(x)
        return xp.sum(extra["y"] * slopes) + value, extra["rest"]  # 16 x**2 + 4 x**2

    for jit in jits:
        slopes, extra = jit(xp.grad(outer, has_aux=True))(xp.asarray(ROWS))
        assert_same(slopes, 40 * ROWS)
        assert extra == (None, 3, "text", 1.5)
    x = ROWS[0]
    for mode in ("reverse", "forward"):
        inner = xp.grad(with_extra, has_aux=True)
        hessian, extra = xp.jacobian(inner, mode=mode, has_aux=True)(xp.asarray(x))
        assert_same(hessian, 8 * np.eye(3))
        assert_extra(extra, x)


def test_the_derivative_by_nothing_comes_with_what_is_beside_it(differentiating: xp.Backend) -> None:
    assert xp.grad(lambda p: (xp.asarray(1.0), "more"), has_aux=True)({}) == ({}, "more")
    for mode in ("reverse", "forward"):
        assert xp.jacobian(lambda p: ([xp.ones(2)], "more"), mode=mode, has_aux=True)({}) == ([{}], "more")


def several(x: xp.Array) -> xp.Array:
    return x


NO_PAIR: Final = r"<lambda> must give a pair with has_aux=True, not {}\. Return value, extra"
UNDIFFERENTIATED: Final[list[tuple[str, Any, Any, type[Exception], str]]] = [
    ("grad", lambda x: np.ones(()), {}, TypeError, r"<lambda> must give an Array, not ndarray\. "),
    ("grad", several, {}, ValueError,
     (r"several must give an Array without axes, not of shape \(2, 3\)\. Reduce it, as by xp\.sum\(\.\.\.\), or take "
      r"xp\.jacobian")),
    ("grad", xp.count_nonzero, {}, TypeError, r"count_nonzero must have a real floating-point dtype, not int64\."),
    ("grad", with_extra, {}, TypeError,
     (r"with_extra must give an Array, not tuple\. Return what functions of Arrays give, such as xp\.sum\(\.\.\.\), or "
      r"take has_aux=True for a pair of that and anything else")),
    *[
        (transform, gives, {"has_aux": True}, TypeError, NO_PAIR.format(came))
        for transform in ("grad", "value_and_grad", "jacobian")
        for gives, came in ((lambda x: xp.sum(x), "Array"), (lambda x: (xp.sum(x), 1, 2), "tuple of 3"))
    ],
]  # fmt: skip


@pytest.mark.parametrize(("transform", "function", "options", "error", "sentence"), UNDIFFERENTIATED)
@pytest.mark.usefixtures("differentiating")
def test_what_has_no_derivative_is_refused(
    transform: str, function: Any, options: dict[str, bool], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=f"^{transform}: {sentence}"):
        getattr(xp, transform)(function, **options)(xp.asarray(ROWS))


@pytest.mark.parametrize("number", [1j, np.complex64(1j)])
@pytest.mark.usefixtures("backend")
def test_derivatives_by_a_complex_number_in_a_container_are_refused(number: Any) -> None:
    dtype = np.result_type(number)
    with pytest.raises(TypeError, match=rf"^grad: pair\[1\] must have a real floating-point dtype, not {dtype}\. "):
        xp.grad(lambda pair: xp.sum(pair[0]))([xp.ones(2), number])


def test_jacobian_knows_two_modes() -> None:
    with pytest.raises(ValueError, match=r"^jacobian: mode must be \"reverse\" or \"forward\", not 'up'$"):
        xp.jacobian(xp.exp, mode="up")  # type: ignore[arg-type]  # refused on purpose


@pytest.mark.parametrize("integer", [int, np.int64])
def test_vmap_maps_the_axes_that_are_named(integer: Callable[[int], int], backend: xp.Backend) -> None:
    def function(column: xp.Array, other: xp.Array, factor: float) -> tuple[xp.Array, xp.Array]:
        return column * factor, xp.sum(column) + other

    x, y = xp.asarray(ROWS), xp.asarray([1.0, 2.0])
    scaled, total = xp.vmap(function, in_axes=(integer(-1), None, None), out_axes=(integer(1), 0))(x, y, 3.0)
    assert_same(xp.vmap(xp.sum, in_axes=integer(1))(x), ROWS.sum(0))
    assert_same(scaled, ROWS * 3)
    assert_same(total, ROWS.sum(0)[:, None] + np.asarray([1.0, 2.0]))


def test_vmap_maps_parts_of_nested_arguments(backend: xp.Backend) -> None:
    x = xp.asarray(ROWS)
    found = xp.vmap(lambda d, *, k: {"r": d["x"] + d["y"] + k}, in_axes=({"y": None, "x": 0},))(
        {"x": x, "y": x[0]}, k=xp.asarray([10.0, 20.0])
    )
    assert_same(found["r"], ROWS + ROWS[0] + np.asarray([[10.0], [20.0]]))


@pytest.mark.parametrize("f", [lambda row: row, lambda row: row[::-1]], ids=["the argument", "a view of it"])
def test_a_result_of_vmap_shows_no_write_to_its_argument(
    f: Callable[[xp.Array], xp.Array], backend: xp.Backend
) -> None:
    x = xp.reshape(xp.arange(6000, dtype=xp.float32), (2, 3000))
    found = xp.vmap(f)(x)
    before = np.array(found)
    x[...] = -1.0
    np.testing.assert_array_equal(np.asarray(found), before)


def test_vmap_repeats_what_does_not_vary_and_looks_at_each_element(backend: xp.Backend) -> None:
    constant, x, y = xp.ones(2), xp.asarray(ROWS[0]), xp.asarray(ROWS[1])
    number, array = xp.vmap(lambda x: (1.5, constant))(xp.asarray(ROWS))
    assert_same(number, np.full(2, 1.5))
    assert_same(array, np.ones((2, 2)))
    outer = xp.vmap(xp.vmap(lambda a, b: a * b, in_axes=(None, 0)), in_axes=(0, None))
    assert_same(outer(x, y), np.outer(ROWS[0], ROWS[1]))
    found = xp.vmap(xp.isin)(xp.asarray([[1, 2, 3], [1, 2, 3]]), xp.asarray([[1], [3]]))
    assert found.tolist() == [[True, False, False], [False, False, True]]


UNMAPPED: Final[list[tuple[Any, tuple[Any, ...], type[Exception], str]]] = [
    (0, ((2,), {"a": (3,)}), ValueError,
     (r"the mapped axes must have one length, but that of x is 2 and that of y\['a'\] is 3\. Leave one as it is: "
      r"in_axes=\(0, None\)$")),
    (1, ((2,), (2,)), IndexError, r"axis 1 is out of bounds for array of dimension 1, must be between -1 and 0$"),
    (None, ((2,), (2,)), ValueError, r"in_axes must map an axis of some Array, but there is none to map$"),
    ((0, 0, 0), ((2,), (2,)), ValueError, r"in_axes must have the structure of its values, 2 parts, not 3$"),
]  # fmt: skip


@pytest.mark.parametrize(("in_axes", "shapes", "error", "sentence"), UNMAPPED)
@pytest.mark.usefixtures("backend")
def test_axes_that_cannot_be_mapped_are_refused(
    in_axes: Any, shapes: tuple[Any, ...], error: type[Exception], sentence: str
) -> None:
    given = [{"a": xp.ones(one["a"])} if isinstance(one, dict) else xp.ones(one) for one in shapes]
    with pytest.raises(error, match=f"^vmap: {sentence}"):
        xp.vmap(lambda x, y: x, in_axes=in_axes)(*given)


def per_example(weights: xp.Array, x: xp.Array) -> xp.Array:
    return xp.sum(xp.maximum(x @ weights, 0) ** 2)


@pytest.mark.parametrize(
    "order",
    [
        lambda f: xp.jit(xp.vmap(xp.grad(f), in_axes=(None, 0))),
        lambda f: xp.vmap(xp.jit(xp.grad(f)), in_axes=(None, 0)),
        lambda f: xp.vmap(xp.grad(xp.jit(f)), in_axes=(None, 0)),
        lambda f: xp.jit(xp.jacobian(xp.vmap(f, in_axes=(None, 0)))),
        lambda f: xp.jacobian(xp.jit(xp.vmap(f, in_axes=(None, 0))), mode="forward"),
    ],
    ids=["jit vmap grad", "vmap jit grad", "vmap grad jit", "jit jacobian vmap", "jacobian jit vmap"],
)
def test_transforms_compose_in_any_order(order: Callable[..., Any], differentiating: xp.Backend) -> None:
    hidden = np.maximum(ROWS @ SQUARE, 0)
    expected = 2 * ROWS[:, :, None] * hidden[:, None, :]
    assert_same(order(per_example)(xp.asarray(SQUARE), xp.asarray(ROWS)), expected)


def test_transforms_take_native_arrays_and_give_arrays(differentiating: xp.Backend) -> None:
    native = xp.to_native(xp.asarray(ROWS))
    for found in (xp.jit(xp.exp)(native), xp.vmap(xp.exp)(native)):
        assert_same(found, np.exp(ROWS))
    assert_same(xp.grad(xp.sum)(native), np.ones((2, 3)))


def test_transforms_leave_the_flag_of_jax_alone() -> None:
    jax = pytest.importorskip("jax")
    x = xp.asarray(ROWS, device="jax")
    for transform in (xp.jit, xp.grad, xp.jacobian, xp.vmap):

        def failing(x: xp.Array) -> xp.Array:
            assert jax.config.jax_enable_x64
            raise RuntimeError

        with pytest.raises(RuntimeError):
            transform(failing)(x)
        assert not jax.config.jax_enable_x64


doubled = xp.jit(lambda x: 2 * x)

USES: Final[dict[str, Callable[[xp.Array], Any]]] = {
    "exp": xp.exp,
    "operator": lambda x: x + 1,
    "right operand": lambda x: xp.add(xp.ones(3), x),
    "index": lambda x: x[0],
    "assignment": lambda x: x.__setitem__(0, 1.0),
    "in place": lambda x: x.__iadd__(1.0),
    "square": lambda x: x**2,
    "iteration": list,
    "transpose": lambda x: x.T,
    "astype": lambda x: xp.astype(x, xp.int8),
    "concat": lambda x: xp.concat([x, x]),
    "unique_values": xp.unique_values,
    "np.exp": np.exp,
    "np.asarray": np.asarray,
    "tolist": lambda x: x.tolist(),
    "to_device": lambda x: x.to_device("numpy"),
    "from_dlpack": np.from_dlpack,
    "bool": lambda x: bool(x) if x.shape == () else xp.any(x),
    "argument of jit": lambda x: doubled(x),
    "nested argument of jit": lambda x: xp.jit(lambda pair: pair[0] * 2)([x, 1]),
    "closure of jit": lambda x: xp.jit(lambda y: x * y)(xp.ones(3, device=x.device)),
    "argument of vmap": xp.vmap(lambda x: x * 2),
    "stop_gradient": xp.stop_gradient,
    "portable": xp.portable(lambda x: x * 2),
}


@pytest.mark.parametrize(
    "use", [pytest.param(use, marks=pytest.mark.needs("host memory") if use == "from_dlpack" else ()) for use in USES]
)
@pytest.mark.parametrize("transform", [xp.jit, xp.vmap])
@pytest.mark.needs("traces")
def test_an_array_that_outlives_its_trace_is_refused(transform: Callable[..., Any], use: str, framework: str) -> None:
    kept: list[xp.Array] = []

    def leaking(x: xp.Array) -> xp.Array:
        kept.append(xp.sum(x) if use == "bool" else x * 2)
        return x

    with xp.backend(framework):
        for _ in range(3):
            doubled(xp.ones((3, 3)))  # often enough for its fast path
    transform(leaking)(xp.ones((3, 3, 3) if transform is xp.vmap else (3, 3), device=framework))
    with pytest.raises(
        xp.TraceError,
        match=r"^\w+: an Array outlived the jit, grad or vmap in which it was made, and has no value\. "
        r"Return it from the transformed function",  # to which JAX adds a note
    ) as raised:
        USES[use](kept[0])
    is_of_batch = framework in ("tf", "torch") and transform is xp.vmap  # where no library complains
    assert is_of_batch or raised.value.__cause__ is not None


@each("use", sorted({*USES} - {"unique_values"}))
def test_an_array_that_outlives_its_gradient_is_refused_on_jax(use: str) -> None:
    pytest.importorskip("jax")
    kept: list[xp.Array] = []

    def leaking(x: xp.Array) -> xp.Array:
        kept.append(xp.sum(x) if use == "bool" else x * 2)
        return xp.sum(x)

    xp.grad(leaking)(xp.ones((3, 3), device="jax"))
    with pytest.raises(xp.TraceError, match=r"^\w+: an Array outlived the jit, grad or vmap"):
        USES[use](kept[0])


@pytest.mark.parametrize("ask", [bool, float, np.asarray])
@pytest.mark.needs("traces")
def test_the_value_of_a_traced_array_cannot_be_had(
    ask: Callable[..., Any], framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYARRAY_TRACEBACK", "full")

    def asking(x: xp.Array) -> xp.Array:
        ask(x)
        return x

    with pytest.raises(
        xp.TransferError,
        match=r"^transfer: a traced array of [\w-]+ has no values yet and cannot become a NumPy array or a Python "
        r"scalar\. Return it from the traced function first, or choose by it inside: xp\.where\(\.\.\.\)",
    ) as raised:
        xp.jit(asking)(xp.asarray(1.0, device=framework))
    assert raised.value.__cause__ is not None
