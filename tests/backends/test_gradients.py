"""Derivatives where a library's own are wrong, against NumPy's differences."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

import anyarray as xp

Function = Callable[..., Any]
NDArray = npt.NDArray[Any]

STEP: Final = 1e-5
"""Of the differences, whose relative error is its square, and the rounding of values divided by it."""


def as_numbers(function: Function) -> Function:
    """`function` of complex numbers as one real number of their parts."""

    def number(real: xp.Array, imag: xp.Array) -> xp.Array:
        y = function(real + 1j * imag)
        weights = 1 / (3 + xp.reshape(xp.arange(y.size, dtype=xp.float64), y.shape))
        return xp.sum(xp.real(y) * weights) - 2 * xp.sum(xp.imag(y) * weights**2)

    return number


def differences(function: Function, *xs: NDArray) -> list[NDArray]:
    found = [np.empty_like(x) for x in xs]
    with xp.backend("numpy"):
        for which, x in enumerate(xs):
            for place in np.ndindex(x.shape):
                values = []
                for step in (STEP, -STEP):
                    moved = [one.copy() for one in xs]
                    moved[which][place] += step
                    values.append(float(function(*map(xp.asarray, moved))))
                found[which][place] = (values[0] - values[1]) / (2 * STEP)
    return found


def assert_same(gradients: Sequence[xp.Array], wanted: Sequence[NDArray]) -> None:
    for found, one in zip(gradients, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(found), one, rtol=1e-6, atol=1e-8)


def second(function: Function) -> Function:
    """The derivative of the sum of the gradient."""

    def along(*xs: xp.Array) -> xp.Array:
        a, b = xp.grad(function, argnums=(0, 1))(*xs)
        return xp.sum(a) - xp.sum(b**2)

    return xp.grad(along, argnums=(0, 1))


WAYS: Final[dict[str, Function]] = {
    "grad": lambda f: xp.grad(f, argnums=(0, 1)),
    "jit of grad": lambda f: xp.jit(xp.grad(f, argnums=(0, 1))),
    "grad of jit": lambda f: xp.grad(xp.jit(f), argnums=(0, 1)),
    "forward": lambda f: xp.jacobian(f, argnums=(0, 1), mode="forward"),
    "vmap of grad": lambda f: (
        lambda *xs: [one[0, ...] for one in xp.vmap(xp.grad(f, argnums=(0, 1)))(*[xp.stack([x, 2 * x]) for x in xs])]
    ),
    "grad of vmap": lambda f: xp.grad(lambda *xs: xp.vmap(f)(*[xp.stack([x, 2 * x]) for x in xs])[0], argnums=(0, 1)),
}


def matrix(z: Any) -> Any:
    return xp.reshape(z[:4], (2, 2))


OF_COMPLEX: Final[dict[str, Function]] = {
    "acosh": xp.acosh,
    "sign": xp.sign,
    "prod": xp.prod,
    "cumulative_prod": xp.cumulative_prod,
    "cumulative_prod along an axis": lambda z: xp.cumulative_prod(xp.reshape(z, (2, 3)), axis=0, include_initial=True),
    "cumulative_prod with a zero": lambda z: xp.cumulative_prod(z * xp.asarray([1, 0, 1, 0, 1, 1])),
    "det": lambda z: xp.linalg.det(matrix(z)),
    "slogdet": lambda z: (1 + 0j) * xp.linalg.slogdet(matrix(z))[1],
    "sign of slogdet": lambda z: xp.linalg.slogdet(matrix(z))[0],
    "fftn": lambda z: xp.fft.fftn(xp.reshape(z, (2, 3))),
    "ifftn of three axes": lambda z: xp.fft.ifftn(xp.reshape(z, (3, 1, 2)), norm="ortho"),
    "rfftn": lambda z: xp.fft.rfftn(xp.reshape(xp.real(z), (2, 3)), norm="forward"),
    "irfftn": lambda z: xp.fft.irfftn(xp.reshape(z, (2, 3))) + 0j,
}


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", OF_COMPLEX)
@pytest.mark.usefixtures("differentiating")
def test_the_gradient_through_complex_numbers_is_that_of_differences(what: str, way: str) -> None:
    xs = np.random.default_rng(1).normal(size=(2, 6))
    function = as_numbers(OF_COMPLEX[what])
    assert_same(WAYS[way](function)(*map(xp.asarray, xs)), differences(function, *xs))


ON_THE_AXES: Final = np.asarray([[1.5, -2.0, 0.5, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, -2.0, 0.5]])
"""Real and imaginary parts of numbers of which one is 0."""


@pytest.mark.sampled
@pytest.mark.parametrize("way", ["grad", "jit of grad", "forward", "grad of vmap"])
@pytest.mark.parametrize("what", ["exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "square"])
@pytest.mark.usefixtures("differentiating")
def test_the_gradient_through_complex_numbers_on_the_axes_is_that_of_differences(what: str, way: str) -> None:
    function = as_numbers(getattr(xp, what))
    assert_same(WAYS[way](function)(*map(xp.asarray, ON_THE_AXES)), differences(function, *ON_THE_AXES))


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.usefixtures("differentiating")
def test_inverse_functions_of_complex_numbers_have_the_slope_of_their_branch(is_compiled: bool) -> None:
    def slopes(function: Function) -> Any:
        gradient = xp.grad(as_numbers(function), argnums=(0, 1))
        return (xp.jit(gradient) if is_compiled else gradient)(xp.asarray([2.0, 3.0]), xp.zeros(2))

    wanted = differences(as_numbers(xp.acosh), np.asarray([2.0, 3.0]), np.zeros(2))
    assert_same(slopes(xp.acosh), wanted)
    # On the cut the arc cosine is that of above, and i times it is the hyperbolic one.
    assert_same(slopes(lambda z: 1j * xp.acos(z)), wanted)


def square_of_complex(x: xp.Array) -> xp.Array:
    return xp.sum(xp.real((x + 0j) ** xp.asarray([2.0, 2.0])))


def test_a_square_of_complex_zero_has_a_second_derivative() -> None:
    pytest.importorskip("jax", reason="TensorFlow has NaN there")
    with xp.backend("jax"):
        assert xp.jacobian(xp.grad(square_of_complex))(xp.zeros(2)).tolist() == [[2, 0], [0, 2]]


@pytest.mark.usefixtures("differentiating")
def test_a_square_of_complex_zero_has_a_second_derivative_inside_jit() -> None:
    assert xp.jit(xp.jacobian(xp.grad(square_of_complex)))(xp.zeros(2)).tolist() == [[2, 0], [0, 2]]


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.usefixtures("differentiating")
def test_logaddexp_of_infinities_has_the_slope_of_the_larger(is_compiled: bool) -> None:
    slopes = xp.grad(lambda x, y: xp.sum(xp.logaddexp(x, y)), argnums=(0, 1))
    x, y = xp.asarray([1.0, np.inf, -np.inf, -np.inf]), xp.asarray([np.inf, 1.0, -np.inf, 0.0])
    found = (xp.jit(slopes) if is_compiled else slopes)(x, y)
    assert [one.tolist() for one in found] == [[0, 1, 0.5, 0], [1, 0, 0.5, 1]]


@pytest.mark.usefixtures("differentiating")
def test_a_square_root_by_a_power_has_no_negative_slope_at_negative_zero() -> None:
    assert xp.grad(lambda x: xp.sum(x**0.5))(xp.asarray([-0.0, 0.0])).tolist() == [np.inf, np.inf]


@pytest.mark.sampled
@pytest.mark.parametrize("what", [*OF_COMPLEX, "log"])
def test_second_derivatives_through_complex_numbers_are_the_same_on_all_libraries(what: str) -> None:
    pytest.importorskip("jax", reason="two libraries are compared")
    pytest.importorskip("tensorflow", reason="two libraries are compared")
    xs = np.random.default_rng(2).normal(size=(2, 6))
    found = []
    for name in ("jax", "tf"):
        with xp.backend(name):
            found.append(xp.jit(second(as_numbers(OF_COMPLEX.get(what, xp.log))))(*map(xp.asarray, xs)))
    for of_jax, of_tf in zip(*found, strict=True):
        np.testing.assert_allclose(np.asarray(of_tf), np.asarray(of_jax), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.usefixtures("differentiating")
def test_products_with_zeros_have_derivatives(is_compiled: bool) -> None:
    compiled = xp.jit if is_compiled else lambda f: f
    x = xp.asarray([2.0, 0.0, 3.0, 0.0])
    of_running = compiled(xp.grad(lambda x: xp.sum(xp.cumulative_prod(x))))(x)
    # The products are x, xy, xyz, xyzw.
    assert of_running.tolist() == [1, 8, 0, 0]
    of_product = compiled(xp.jacobian(xp.grad(xp.prod)))(x)
    assert of_product[1, :].tolist() == [0, 0, 0, 6]


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(0,), (3,)])
@pytest.mark.parametrize(
    "function", [xp.prod, lambda x: xp.sum(xp.cumulative_prod(x))], ids=["prod", "cumulative_prod"]
)
def test_products_of_a_length_that_a_graph_does_not_know_have_derivatives(
    function: Function, shape: tuple[int, ...]
) -> None:
    tf = pytest.importorskip("tensorflow", reason="only its graphs have such lengths")
    x = np.arange(float(shape[0])) - 1

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)], autograph=False)  # type: ignore[untyped-decorator]  # TensorFlow has no types
    def gradient(tensor: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(tensor)
            y = tf.convert_to_tensor(function(xp.asarray(tensor)))
        return tape.gradient(y, tensor)

    (wanted,) = differences(function, x)
    np.testing.assert_allclose(gradient(tf.constant(x)), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "to_complex",
    [
        lambda x: x * 1j,
        lambda x: x + xp.asarray([1j, 2j]),
        xp.fft.fft,
        xp.fft.irfft,
        xp.fft.hfft,
        xp.fft.ifftn,
        functools.partial(xp.sum, dtype=xp.complex128),
        functools.partial(xp.cumulative_prod, dtype=xp.complex128),
    ],
)
def test_gradients_through_complex_numbers_say_nothing(to_complex: Function, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tensorflow", reason="it is the one that warns")
    with xp.backend("tf"):
        xp.grad(lambda x: xp.abs(xp.sum(to_complex(x))))(xp.asarray([1.0, 2.0]))
    assert "discard the imaginary part" not in capfd.readouterr().err


@pytest.mark.sampled
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize(("axis", "keepdims"), [((0, 2, 4), False), ((-1, 1, 3), True)])
@pytest.mark.parametrize("reduction", ["sum", "mean", "max", "min", "prod", "std", "var", "vector_norm"])
@pytest.mark.usefixtures("differentiating")
def test_reductions_over_axes_that_alternate_have_gradients(
    reduction: str, axis: tuple[int, ...], keepdims: bool, is_compiled: bool
) -> None:
    reduce = getattr(xp, reduction, None) or getattr(xp.linalg, reduction)
    x = np.random.default_rng(3).normal(size=(2,) * 6)

    def function(x: xp.Array) -> xp.Array:
        y = reduce(x, axis=axis, keepdims=keepdims)
        return xp.sum(y * xp.reshape(xp.arange(8.0), y.shape))

    gradient = xp.grad(function)
    found = (xp.jit(gradient) if is_compiled else gradient)(xp.asarray(x))
    np.testing.assert_allclose(np.asarray(found), *differences(function, x), rtol=1e-6, atol=1e-8)


def written(key: Any, x: Any, v: Any) -> Any:
    y = x + 0
    y[key] = v
    return xp.sum(y * xp.reshape(xp.arange(float(y.size)), y.shape) ** 2)


KEYS: Final[dict[str, tuple[Any, tuple[int, ...]]]] = {
    "rows": ([0, 2, 0], (3, 4)),
    "from the end": ([0, -3], (2, 4)),
    "one value": ([0, 0, 1], ()),
    "two arrays": (([0, 2, 0], [1, 1, 1]), (3,)),
    "behind a slice": ((slice(None), [1, 3, 1]), (3, 3)),
    "no two alike": ([2, 0], (2, 4)),
}


@pytest.mark.sampled
@pytest.mark.parametrize("way", ["grad", "grad of jit", "grad of vmap"])
@pytest.mark.parametrize("what", KEYS)
@pytest.mark.usefixtures("differentiating")
def test_of_values_for_one_place_the_last_has_the_gradient(what: str, way: str) -> None:
    key, shape = KEYS[what]
    rng = np.random.default_rng(4)
    x, v = rng.normal(size=(3, 4)), rng.normal(size=shape)

    def function(x: Any, v: Any) -> Any:
        return written(key, x, v)

    for found, wanted in zip(
        WAYS[way](function)(xp.asarray(x), xp.asarray(v)), differences(function, x, v), strict=True
    ):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("differentiating")
def test_of_values_for_one_place_that_a_trace_does_not_know_the_last_has_the_gradient(way: str) -> None:
    def function(x: Any, v: Any) -> Any:
        return written(xp.astype(xp.floor(xp.stop_gradient(v)), xp.int64), x, v * x[:3])

    x, v = np.asarray([1.0, 2.0, 3.0, 4.0]), np.asarray([1.25, 0.5, 1.75])
    # Doubled, as the second element is when it is mapped, the values are indices, too.
    for found, wanted in zip(
        WAYS[way](function)(xp.asarray(x), xp.asarray(v)), differences(function, x, v), strict=True
    ):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("inner", [xp.prod, xp.sum])
def test_a_tape_around_a_compiled_function_whose_backward_pass_xla_lacks(inner: Function) -> None:
    tf = pytest.importorskip("tensorflow", reason="these are its tapes")
    x = tf.constant([1.0, 2.0], tf.float64)

    def function(x: xp.Array) -> xp.Array:
        # TensorFlow's own product: its gradient has running products of complex numbers, for which XLA has no kernel.
        return xp.real(xp.asarray(tf.reduce_prod(xp.to_native(x + 1j * x * x)))) + 0 * inner(x)

    compiled = xp.jit(function)
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = xp.to_native(compiled(xp.asarray(x)))
        np.testing.assert_allclose(tape.gradient(y, x), [-6.0, -3.0], rtol=1e-12)


@pytest.mark.parametrize(
    ("library", "function", "message"),
    [
        ("tf", lambda x: xp.linalg.qr(x, mode="complete")[1], "grad: TensorFlow has no such gradient: QrGrad not impl"),
        ("tf", lambda x: xp.linalg.svd(x)[0], "grad: TensorFlow has no such gradient: svd gradient is not impl"),
        ("jax", lambda x: xp.linalg.svd(x)[0], "grad: JAX has no such derivative: Singular value decomposition JVP"),
        (
            "jax",
            lambda x: xp.abs(xp.linalg.eig(x[:2, :])[1]),
            "grad: JAX has no such derivative: (Derivatives of non-sy|The derivatives of eigenv)",
        ),
    ],
)
def test_a_derivative_that_a_library_lacks_is_refused_with_a_cure(
    library: str, function: Function, message: str
) -> None:
    pytest.importorskip({"tf": "tensorflow"}.get(library, library), reason="each lacks others")
    x = np.random.default_rng(5).normal(size=(5, 2))
    with xp.backend(library), pytest.raises(xp.UnsupportedError, match=message + r".*xp\.stop_gradient"):
        xp.grad(lambda x: xp.sum(function(x)))(xp.asarray(x))


def cofactors(matrix: NDArray) -> NDArray:
    found = np.empty_like(matrix)
    for i, j in np.ndindex(matrix.shape):
        minor = np.delete(np.delete(matrix, i, 0), j, 1)
        found[i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return found


@pytest.mark.parametrize(("size", "is_compiled"), [(1, False), (2, False), (3, False), (3, True), (4, True), (5, True)])
@pytest.mark.usefixtures("differentiating")
def test_the_gradient_of_det_is_the_cofactors_also_of_singular_matrices(size: int, is_compiled: bool) -> None:
    matrices = np.random.default_rng(size).normal(size=(5, size, size))
    matrices[1, :, 0] = 0
    matrices[2, -1] = 0
    matrices[3] = np.triu(matrices[3], 1)
    matrices[4] = 0
    gradient = xp.grad(lambda x: xp.sum(xp.linalg.det(x)))
    found = (xp.jit(gradient) if is_compiled else gradient)(xp.asarray(matrices))
    np.testing.assert_allclose(np.asarray(found), list(map(cofactors, matrices)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("function", "size", "is_compiled"), [("det", 2, False), ("det", 3, True), ("det", 4, True), ("slogdet", 3, True)]
)
@pytest.mark.usefixtures("differentiating")
def test_second_derivatives_of_det_are_right_where_singular_values_are_equal(
    function: str, size: int, is_compiled: bool
) -> None:
    of_matrix: Function = {"det": xp.linalg.det, "slogdet": lambda x: xp.linalg.slogdet(x).logabsdet}[function]
    hessian = xp.jacobian(xp.grad(of_matrix))
    found = np.asarray((xp.jit(hessian) if is_compiled else hessian)(xp.eye(size)))
    one = np.eye(size)
    exchanged = np.einsum("il,jk->ijkl", one, one)
    wanted = -exchanged if function == "slogdet" else np.einsum("ij,kl->ijkl", one, one) - exchanged
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("differentiating")
def test_second_derivatives_of_det_at_larger_singular_matrices_are_nan_not_wrong() -> None:
    hessian = xp.jit(xp.jacobian(xp.grad(lambda x: xp.sum(xp.linalg.det(x)))))
    found = np.asarray(hessian(xp.stack([xp.eye(4), xp.ones((4, 4))])))
    assert np.isnan(found[1, :, :, 1]).any()
    assert not np.isnan(found[0, :, :, 0]).any()


def test_the_gradient_of_a_logarithm_of_zero_is_refused_by_tensorflow() -> None:
    pytest.importorskip("tensorflow", reason="JAX has NaN there")
    with xp.backend("tf"), pytest.raises(np.linalg.LinAlgError, match=r"grad: .* needs the inverse"):
        xp.grad(lambda x: xp.linalg.slogdet(x).logabsdet)(xp.ones((2, 2)))


def test_parts_along_a_length_that_a_graph_does_not_know_are_refused() -> None:
    tf = pytest.importorskip("tensorflow", reason="only its graphs have such lengths")

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)], autograph=False)  # type: ignore[untyped-decorator]  # TensorFlow has no types
    def graph(tensor: Any) -> Any:
        x = xp.asarray(tensor)
        with pytest.raises(xp.TransferError, match=r"unstack: axis 0 of x .* input_signature"):
            next(iter(x))
        with pytest.raises(xp.TransferError, match=r"unstack: axis 0 of x .* input_signature"):
            xp.unstack(x)
        with pytest.raises(xp.TransferError, match=r"len: axis 0 of x .* input_signature"):
            len(x)
        return tensor

    graph(np.ones((2, 3)))


AT_ZERO: Final[dict[str, tuple[Function, float]]] = {
    "the larger": (lambda x: xp.maximum(x, 0), 0.5),
    "the larger, turned round": (lambda x: xp.maximum(0, x), 0.5),
    "the smaller": (lambda x: xp.minimum(x, 0), 0.5),
    "the smaller, turned round": (lambda x: xp.minimum(0, x), 0.5),
    "the larger of two alike": (lambda x: xp.maximum(x, 3 * x), 2),
    "a bound": (lambda x: xp.clip(x, 0, 1), 0.5),
    "an upper bound": (lambda x: xp.clip(x, -1, 0), 0.5),
    "the absolute value": (xp.abs, 0),
    "a sign that is taken over": (lambda x: xp.copysign(x, xp.asarray([-1.0, 2.0])), 0),
    "the hypotenuse": (lambda x: xp.hypot(x, xp.zeros(2)), 0),
    "the norm of absolute values": (lambda x: xp.linalg.vector_norm(x, ord=1), 0),
    "the norm of the largest": (lambda x: xp.linalg.vector_norm(x, ord=np.inf), 0),
    "the Euclidean norm": (xp.linalg.vector_norm, 0),
    "the norm of order 3": (lambda x: xp.linalg.vector_norm(x, ord=3), 0),
    "the norm of order a half": (lambda x: xp.linalg.vector_norm(x, ord=0.5), 0),
    "the norm of complex numbers": (lambda x: xp.linalg.vector_norm(x + 1j * x), 0),
    "the Frobenius norm": (lambda x: xp.linalg.matrix_norm(xp.reshape(x, (2, 1))), 0),
    "norms of which one is zero": (lambda x: xp.linalg.vector_norm(xp.stack([x, x + 1]), axis=1, ord=1.0), 1),
    "the standard deviation": (xp.std, 0),
    "the logistic loss": (lambda x: xp.maximum(x, 0) - x + xp.log1p(xp.exp(-xp.abs(x))), -0.5),
    "logaddexp": (lambda x: xp.logaddexp(x, xp.zeros(2)), 0.5),
    "a power of 0": (lambda x: x**0, 0),
    "a power of 0.0": (lambda x: x**0.0, 0),
    "powers": (lambda x: x[:, None] ** xp.arange(4), 1),
    "powers with an exponent that depends": (lambda x: (x[:, None] ** xp.arange(4)) ** (1 + 0 * x[0]), 1),
    "powers of complex numbers": (lambda x: xp.real((x + 0j)[:, None] ** xp.arange(4)), 1),
    "the sign of a complex number": (lambda x: xp.real(xp.sign(x + 0j)), 0),
    "the whole part of a quotient": (lambda x: x // 2.0, 0),
}


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", AT_ZERO)
@pytest.mark.usefixtures("differentiating")
def test_the_slope_at_zero_is_that_between_its_sides(what: str, way: str) -> None:
    function, wanted = AT_ZERO[what]
    found, _ = WAYS[way](lambda x, _: xp.sum(function(x)))(xp.zeros(2), xp.ones(2))
    assert found.tolist() == [wanted, wanted]


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.usefixtures("differentiating")
def test_a_power_has_a_slope_by_an_exponent_that_is_zero(is_compiled: bool) -> None:
    compiled = xp.jit if is_compiled else lambda f: f
    x, y = xp.asarray([2.0, 3.0, 0.0]), xp.asarray([0.0, 2.0, 0.0])
    by_x, by_y = compiled(xp.grad(lambda x, y: xp.sum(x**y), argnums=(0, 1)))(x, y)
    np.testing.assert_allclose(np.asarray(by_x), [0, 6, 0], rtol=1e-12)  # products of a few numbers
    np.testing.assert_allclose(np.asarray(by_y), [np.log(2), 9 * np.log(3), 0], rtol=1e-12)
    second = compiled(xp.grad(lambda x: xp.sum(xp.grad(lambda x: xp.sum(x[:, None] ** xp.arange(4)))(x))))
    assert second(xp.zeros(2)).tolist() == [2, 2]


@pytest.mark.parametrize("order", [-1, 0.5, 1.5, 2, 3])
@pytest.mark.usefixtures("differentiating")
def test_norms_beside_one_that_is_zero_keep_their_values_and_slopes(order: float) -> None:
    x = np.asarray([[0.0, 0.0], [3.0, 4.0]])
    both = xp.value_and_grad(lambda x: xp.sum(xp.linalg.vector_norm(x, axis=1, ord=order)))
    value, found = both(xp.asarray(x))
    assert float(value) == pytest.approx(np.linalg.norm(x[1], order))
    (wanted,) = differences(lambda x: xp.linalg.vector_norm(x, ord=order), x[1])
    np.testing.assert_allclose(found, [[0, 0], wanted], rtol=1e-6)


TIED: Final = {
    "identity": np.eye(3),
    "two alike": np.diag([1.0, 2.0, 2.0]),
    "rotation": np.asarray([[0.0, 1.0], [-1.0, 0.0]]),
    "tall": np.eye(4)[:, :2],
    "wide": np.eye(2, 3),
}


@pytest.mark.sampled
@pytest.mark.parametrize("way", ["grad", "jit of grad", "grad of jit", "vmap of grad"])
@pytest.mark.parametrize("what", TIED)
@pytest.mark.usefixtures("differentiating")
def test_the_gradient_of_pinv_is_right_where_singular_values_are_equal(what: str, way: str) -> None:
    x = TIED[what]
    weights = np.random.default_rng(6).normal(size=x.T.shape)

    def function(x: Any, y: Any) -> Any:
        return xp.sum(xp.linalg.pinv(x) * xp.asarray(weights)) * y

    assert_same(WAYS[way](function)(xp.asarray(x), xp.asarray(1.0)), differences(function, x, np.asarray(1.0)))


@pytest.mark.sampled
@pytest.mark.usefixtures("differentiating")
@pytest.mark.parametrize("rtol", [1e-2, np.float64(1e-2), np.full(2, 1e-2)], ids=["float", "scalar", "array"])
def test_the_gradient_of_pinv_is_the_same_with_a_tolerance(rtol: Any) -> None:
    a, weights = np.random.default_rng(5).normal(size=(2, 2, 4, 3))
    weights = weights.swapaxes(-1, -2)
    given = xp.asarray(rtol) if isinstance(rtol, np.ndarray) else rtol
    expected = xp.grad(lambda x: xp.sum(xp.linalg.pinv(x) * xp.asarray(weights)))(xp.asarray(a))
    slope = xp.grad(lambda x: xp.sum(xp.linalg.pinv(x, rtol=given) * xp.asarray(weights)))
    for found in (slope, xp.jit(slope)):
        np.testing.assert_allclose(found(xp.asarray(a)), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.usefixtures("differentiating")
def test_second_derivatives_of_pinv_are_those_of_the_inverse() -> None:
    def hessian(inverse: Function) -> Any:
        found = xp.jit(xp.jacobian(xp.grad(lambda x: xp.sum(inverse(x) ** 2))))(xp.eye(2) * xp.asarray([1.0, 3.0]))
        return np.asarray(found)

    np.testing.assert_allclose(hessian(xp.linalg.pinv), hessian(xp.linalg.inv), rtol=1e-9, atol=1e-9)


REBUILT: Final[dict[str, Function]] = {
    "eigenvectors": lambda x: (lambda w, v: xp.sum((v * w) @ v.mT))(*xp.linalg.eigh(x)),
    "singular vectors": lambda x: (lambda u, s, vh: xp.sum((u * s) @ vh))(*xp.linalg.svd(x, full_matrices=False)),
}


@pytest.mark.sampled
@pytest.mark.parametrize("way", ["grad", "jit of grad", "grad of jit", "forward", "vmap of grad", "grad of vmap"])
@pytest.mark.parametrize("what", REBUILT)
@pytest.mark.usefixtures("differentiating")
def test_vectors_of_equal_values_have_no_derivative(what: str, way: str) -> None:
    gradient = WAYS[way](lambda x, y: REBUILT[what](x) * y)
    tied, zero, plain = xp.eye(2), xp.zeros((2, 2)), xp.asarray([[2.0, 0.0], [0.0, 1.0]])
    for x in (tied, zero):
        found = np.asarray(gradient(x, xp.asarray(1.0))[0])
        assert not np.isfinite(found[1]).any(), "the row that lies in the lower triangle"
    np.testing.assert_allclose(float(xp.sum(gradient(plain, xp.asarray(1.0))[0])), 4, rtol=1e-9)


@pytest.mark.sampled
@pytest.mark.parametrize("way", ["grad", "jit of grad", "forward", "grad of vmap"])
@pytest.mark.usefixtures("differentiating")
def test_equal_values_themselves_have_a_derivative(way: str) -> None:
    for of_values in (lambda x: xp.sum(xp.linalg.eigh(x)[0]), lambda x: xp.sum(xp.linalg.svd(x)[1])):
        found, _ = WAYS[way](lambda x, y, f=of_values: f(x) * y)(xp.eye(2), xp.asarray(1.0))
        np.testing.assert_allclose(np.asarray(found), np.eye(2), atol=1e-12)


@pytest.mark.parametrize("shapes", [((2, 3), (3,)), ((3,), (2, 1)), ((), (2,)), ((2, 0), (1, 1))])
@pytest.mark.usefixtures("differentiating")
def test_ties_of_arrays_that_are_broadcast_share_the_slope(shapes: tuple[tuple[int, ...], ...]) -> None:
    x, y = map(xp.ones, shapes)
    for found in xp.grad(lambda x, y: xp.sum(xp.maximum(x, y)), argnums=(0, 1))(x, y):
        size = np.prod(np.broadcast_shapes(*shapes)) / max(found.size, 1)
        assert np.asarray(found).tolist() == np.full(found.shape, size / 2).tolist()


@pytest.mark.parametrize("function", ["unique_values", "unique_counts", "unique_inverse", "unique_all"])
@pytest.mark.usefixtures("differentiating")
def test_unique_values_have_the_slope_of_those_they_are(function: str) -> None:
    def weighted(x: xp.Array) -> xp.Array:
        found = getattr(xp, function)(x)
        values = found if function == "unique_values" else found[0]
        return xp.sum(values * xp.asarray([1.0, 10.0]))

    assert xp.grad(weighted)(xp.asarray([3.0, 1.0, 3.0])).tolist() == [10, 1, 0]


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.usefixtures("differentiating")
def test_a_quotient_rounded_down_has_no_slope_also_by_a_divisor_of_zero(is_compiled: bool) -> None:
    slopes = xp.grad(lambda x, y: xp.sum(x // y), argnums=(0, 1))
    found = (xp.jit(slopes) if is_compiled else slopes)(xp.asarray([3.0, -1.0, 0.0]), xp.asarray([2.0, 0.0, 0.0]))
    assert [one.tolist() for one in found] == [[0, 0, 0]] * 2


def as_numpy(x: xp.Array) -> np.ndarray[Any, Any]:
    return xp.to_native(x, like="numpy")  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "read",
    [float, math.exp, np.asarray, xp.Array.tolist, lambda x: x.to_device("numpy"), as_numpy],
    ids=["float", "math", "asarray", "tolist", "to_device", "to_native"],
)
@pytest.mark.parametrize(
    "derivative",
    [xp.grad, xp.jacobian, functools.partial(xp.jacobian, mode="forward")],
    ids=["grad", "jacobian", "forward"],
)
def test_what_is_differentiated_does_not_leave_as_a_constant(
    derivative: Callable[..., Any], read: Callable[[xp.Array], Any], framework: str
) -> None:
    with xp.backend(framework) as backend:
        if not backend.has_hook("value_and_grad"):
            pytest.skip("the library has no derivatives")
        x = xp.asarray([0.1, 0.2])
        with pytest.raises(xp.TransferError):
            derivative(lambda x: xp.sum(x) * read(x[0]))(x)
        # What is no part of it does, as does what was decided to be none; a choice by value has the right derivative.
        three = xp.asarray(3.0)
        assert derivative(lambda x: xp.sum(x) * float(three))(x).tolist() == [3.0, 3.0]
        assert derivative(lambda x: xp.sum(x) * float(xp.stop_gradient(x[1])))(x).tolist() == [0.2, 0.2]
        assert derivative(lambda x: xp.sum(x) if x[0] < x[1] else xp.sum(-x))(x).tolist() == [1.0, 1.0]
        printed: list[str] = []
        derivative(lambda x: (printed.append(repr(x)), xp.sum(x))[1])(x)
        assert printed


@pytest.mark.parametrize("read", [np.asarray, lambda x: x.to_device("numpy")], ids=["asarray", "to_device"])
@pytest.mark.usefixtures("differentiating")
def test_an_argument_of_many_elements_does_not_leave_in_forward_mode(read: Callable[[xp.Array], Any]) -> None:
    with pytest.raises(xp.TransferError):
        xp.jacobian(lambda x: x * xp.asarray(read(x)), mode="forward")(xp.ones(100))


@pytest.mark.few_backends
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.usefixtures("differentiating")
def test_the_jacobian_of_few_elements_is_a_part_of_that_of_many(mode: Any) -> None:
    def function(x: xp.Array) -> tuple[xp.Array, xp.Array, xp.Array]:
        squares = xp.reshape(x * x, (-1, 1)) * xp.asarray([1.0, 2.0])
        twice = x * x
        twice[xp.asarray([1, 1])] = x[:2] * 3
        return squares, twice, xp.jit(xp.cumulative_prod)(xp.where(x > 2, xp.sqrt(x), x))

    many = xp.linspace(0.5, 4.0, 100)
    for of_few, of_many in zip(*[xp.jit(xp.jacobian(function, mode=mode))(x) for x in (many[:3], many)], strict=True):
        assert_same(of_few, np.asarray(of_many)[:3, ..., :3])


def test_a_block_inside_keeps_the_derivative(framework: str) -> None:
    def function(x: xp.Array) -> xp.Array:
        with xp.backend("numpy"):
            return xp.sum(xp.square(x))

    with xp.backend(framework) as backend:
        if not backend.has_hook("value_and_grad"):
            pytest.skip("the library has no derivatives")
        assert xp.grad(function)(xp.asarray([0.5, 2.0])).tolist() == [1.0, 4.0]


ONE_SIDED: Final = np.asarray([[4.0, -7.0, 9.0], [2.0, 5.0, 8.0], [1.0, 0.5, 6.0]])
"""A matrix whose lower triangle belongs to a positive definite one; so does its upper one if it is transposed."""


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_reads_one_triangle(upper: bool, is_complex: bool, is_compiled: bool, backend: xp.Backend) -> None:
    x = ONE_SIDED + (1j * np.asarray([[3.0, 5.0, 5.0], [0.5, -4.0, 5.0], [0.25, 1.0, 2.0]]) if is_complex else 0)
    wanted = np.linalg.cholesky(x)
    given = np.stack([x.T.conj() if upper else x] * 2)

    def factor(x: xp.Array) -> xp.Array:
        return xp.linalg.cholesky(x, upper=upper)

    found = np.asarray((xp.jit(factor) if is_compiled else factor)(xp.asarray(given)))
    np.testing.assert_allclose(found, [wanted.T.conj() if upper else wanted] * 2, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_eigenvalues_are_those_of_the_lower_triangle(is_compiled: bool, backend: xp.Backend) -> None:
    compiled = xp.jit if is_compiled else lambda f: f
    wanted = np.linalg.eigvalsh(ONE_SIDED)
    x = xp.asarray(ONE_SIDED)
    np.testing.assert_allclose(np.asarray(compiled(xp.linalg.eigvalsh)(x)), wanted, rtol=1e-13)
    values, vectors = compiled(lambda x: tuple(xp.linalg.eigh(x)))(x)
    np.testing.assert_allclose(np.asarray(values), wanted, rtol=1e-13)
    below = np.tril(ONE_SIDED, -1)
    product = (below + below.T + np.diag(np.diag(ONE_SIDED))) @ np.asarray(vectors)
    np.testing.assert_allclose(product, np.asarray(vectors) * wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("way", ["grad", "jit of grad", "forward", "grad of vmap"])
@pytest.mark.parametrize("what", ["cholesky", "upper cholesky", "eigvalsh", "eigh"])
@pytest.mark.usefixtures("differentiating")
def test_the_triangle_that_is_not_read_has_no_derivative(what: str, way: str) -> None:
    def function(x: xp.Array, scale: xp.Array) -> xp.Array:
        if what.endswith("cholesky"):
            y = xp.linalg.cholesky(x, upper=what.startswith("upper"))
        else:
            y = xp.linalg.eigvalsh(x) if what == "eigvalsh" else xp.linalg.eigh(x)[1] ** 2
        return xp.sum(y * xp.reshape(xp.arange(float(y.size)), y.shape) * scale)

    x, scale = ONE_SIDED.T if what.startswith("upper") else ONE_SIDED, np.ones(1)
    assert_same(WAYS[way](function)(xp.asarray(x), xp.asarray(scale)), differences(function, x, scale))
