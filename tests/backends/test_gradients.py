"""Derivatives where a library's own are wrong, against NumPy's differences."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest
from comparison import each

import anyarray as xp

Function = Callable[..., Any]
NDArray = npt.NDArray[Any]
Jits = list[Callable[[Any], Any]]
Dealt = Callable[[dict[str, Any], int, int], dict[str, Any]]

STEP: Final = 1e-5
"""Of the differences, whose relative error is its square, and the rounding of values divided by it."""


def number(y: xp.Array) -> xp.Array:
    """A real number that depends on each element and each part of it."""
    weights = 1 / (3 + xp.reshape(xp.arange(y.size, dtype=xp.float64), y.shape))
    if y.dtype.kind != "c":
        return xp.sum(y * weights)
    return xp.sum(xp.real(y) * weights) - 2 * xp.sum(xp.imag(y) * weights**2)


def differences(function: Function, *xs: NDArray) -> list[NDArray]:
    found = [np.empty_like(x) for x in xs]
    with xp.backend("numpy"), np.errstate(divide="ignore"):
        for which, x in enumerate(xs):
            for place in np.ndindex(x.shape):
                values = []
                for step in (STEP, -STEP):
                    moved = [one.copy() for one in xs]
                    moved[which][place] += step
                    values.append(float(function(*map(xp.asarray, moved))))
                found[which][place] = (values[0] - values[1]) / (2 * STEP)
    return found


def assert_near(found: Any, wanted: Any, name: str = "") -> None:
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-6, atol=1e-8, err_msg=name)


def by_all(transform: Function, function: Function, xs: tuple[xp.Array, ...], **options: Any) -> Any:
    return transform(function, argnums=tuple(range(len(xs))), **options)


def stacked(xs: tuple[xp.Array, ...]) -> list[xp.Array]:
    return [xp.stack([x, 2 * x]) for x in xs]


WAYS: Final[dict[str, Callable[[Function], Function]]] = {
    "grad": lambda f: lambda *xs: by_all(xp.grad, f, xs)(*xs),
    "jit of grad": lambda f: lambda *xs: xp.jit(by_all(xp.grad, f, xs))(*xs),
    "grad of jit": lambda f: lambda *xs: by_all(xp.grad, xp.jit(f), xs)(*xs),
    "forward": lambda f: lambda *xs: by_all(xp.jacobian, f, xs, mode="forward")(*xs),
    "vmap of grad": lambda f: lambda *xs: [one[0, ...] for one in xp.vmap(by_all(xp.grad, f, xs))(*stacked(xs))],
    "grad of vmap": lambda f: lambda *xs: by_all(xp.grad, lambda *xs: xp.vmap(f)(*stacked(xs))[0], xs)(*xs),
}


def matrix(z: Any) -> Any:
    return xp.reshape(z[:4], (2, 2))


def written(key: Any, x: Any, v: Any) -> Any:
    y = x + 0
    y[key] = v
    return y


def of_row(key: Any, x: Any, v: Any) -> Any:
    return written(xp.astype(xp.floor(xp.stop_gradient(v)), xp.int64), x, v * x[:3])


OF_COMPLEX: Final[dict[str, Function]] = {
    "acosh": xp.acosh,
    "sign": xp.sign,
    "prod": xp.prod,
    "cumulative_prod": xp.cumulative_prod,
    "cumulative_prod along an axis": lambda z: xp.cumulative_prod(xp.reshape(z, (2, 3)), axis=0, include_initial=True),
    "cumulative_prod with a zero": lambda z: xp.cumulative_prod(z * xp.asarray([1, 0, 1, 0, 1, 1])),
    "det": lambda z: xp.linalg.det(matrix(z)),
    "slogdet": lambda z: xp.linalg.slogdet(matrix(z))[1],
    "sign of slogdet": lambda z: xp.linalg.slogdet(matrix(z))[0],
    "fftn": lambda z: xp.fft.fftn(xp.reshape(z, (2, 3))),
    "ifftn of three axes": lambda z: xp.fft.ifftn(xp.reshape(z, (3, 1, 2)), norm="ortho"),
    "rfftn": lambda z: xp.fft.rfftn(xp.reshape(xp.real(z), (2, 3)), norm="forward"),
    "irfftn": lambda z: xp.fft.irfftn(xp.reshape(z, (2, 3))),
}
ON_THE_AXES: Final = "exp expm1 sin cos tan sinh cosh tanh square".split()
AT_ZERO: Final[dict[str, Function]] = {
    "the larger": lambda x: xp.maximum(x, 0),
    "the larger, turned round": lambda x: xp.maximum(0, x),
    "the smaller": lambda x: xp.minimum(x, 0),
    "the smaller, turned round": lambda x: xp.minimum(0, x),
    "the larger of two alike": lambda x: xp.maximum(x, 3 * x),
    "a bound": lambda x: xp.clip(x, 0, 1),
    "an upper bound": lambda x: xp.clip(x, -1, 0),
    "the absolute value": xp.abs,
    "a sign that is taken over": lambda x: xp.copysign(x, xp.asarray([-1.0, 2.0])),
    "the hypotenuse": lambda x: xp.hypot(x, xp.zeros(2)),
    **{f"the norm of order {n}": functools.partial(xp.linalg.vector_norm, ord=n) for n in (0.5, 1, 2, 3, np.inf)},
    "the norm of complex numbers": lambda x: xp.linalg.vector_norm(x + 1j * x),
    "the Frobenius norm": lambda x: xp.linalg.matrix_norm(xp.reshape(x, (2, 1))),
    "norms of which one is zero": lambda x: xp.linalg.vector_norm(xp.stack([x, x + 1]), axis=1, ord=1.0),
    "the standard deviation": xp.std,
    "the logistic loss": lambda x: xp.maximum(x, 0) - x + xp.log1p(xp.exp(-xp.abs(x))),
    "logaddexp": lambda x: xp.logaddexp(x, xp.zeros(2)),
    "a power of 0": lambda x: x**0,
    "a power of 0.0": lambda x: x**0.0,
    "powers": lambda x: x[:, None] ** xp.arange(4),
    "powers with an exponent that depends": lambda x: (x[:, None] ** xp.arange(4)) ** (1 + 0 * x[0]),
    "powers of complex numbers": lambda x: xp.real((x + 0j)[:, None] ** xp.arange(4)),
}
KEYS: Final[dict[str, tuple[Any, tuple[int, ...]]]] = {
    "rows": ([0, 2, 0], (3, 4)),
    "from the end": ([0, -3], (2, 4)),
    "one value": ([0, 0, 1], ()),
    "two arrays": (([0, 2, 0], [1, 1, 1]), (3,)),
    "behind a slice": ((slice(None), [1, 3, 1]), (3, 3)),
    "no two alike": ([2, 0], (2, 4)),
}
"""Places of which several are alike, where the last value has the gradient, and the shape of the values."""
REDUCTIONS: Final = "sum mean max min prod std var vector_norm".split()
ALTERNATING: Final[list[dict[str, Any]]] = [{"axis": (0, 2, 4)}, {"axis": (-1, 1, 3), "keepdims": True}]
TIED: Final = {
    "identity": np.eye(3),
    "two alike": np.diag([1.0, 2.0, 2.0]),
    "rotation": np.asarray([[0.0, 1.0], [-1.0, 0.0]]),
    "tall": np.eye(4)[:, :2],
    "wide": np.eye(2, 3),
}
"""Matrices with equal singular values."""
ONE_SIDED: Final = np.asarray([[4.0, -7.0, 9.0], [2.0, 5.0, 8.0], [1.0, 0.5, 6.0]])
"""A matrix whose lower triangle belongs to a positive definite one; so does its upper one if it is transposed."""
BROADCAST: Final = [((2, 3), (3,)), ((3,), (2, 1)), ((), (2,)), ((2, 0), (1, 1))]

rng: Final = np.random.default_rng(1)
CASES: Final[dict[str, tuple[Any, ...]]] = {
    **{
        f"{name} of complex numbers": (lambda a, b, f=f: f(a + 1j * b), *rng.normal(size=(2, 6)))
        for name, f in OF_COMPLEX.items()
    },
    **{
        f"{name} of complex numbers of which a part is 0": (
            lambda a, b, name=name: getattr(xp, name)(a + 1j * b),
            np.asarray([1.5, -2.0, 0.5, 0.0, 0.0, 0.0]),
            np.asarray([0.0, 0.0, 0.0, 1.0, -2.0, 0.5]),
        )
        for name in ON_THE_AXES
    },
    **{f"{name} at 0": (f, np.zeros(2)) for name, f in AT_ZERO.items()},
    "running products with zeros": (xp.cumulative_prod, np.asarray([2.0, 0.0, 3.0, 0.0])),
    **{
        f"{name}, {options}": (
            functools.partial(getattr(xp, name, None) or getattr(xp.linalg, name), **options),
            rng.normal(size=(2,) * 6),
        )
        for name in REDUCTIONS
        for options in ALTERNATING
    },
    **{
        f"values written, {name}": (functools.partial(written, key), rng.normal(size=(3, 4)), rng.normal(size=shape))
        for name, (key, shape) in KEYS.items()
    },
    # Doubled, as the second element is when it is mapped, the values are indices, too.
    "values written where a trace does not know": (
        functools.partial(of_row, None), np.asarray([1.0, 2.0, 3.0, 4.0]), np.asarray([1.25, 0.5, 1.75])
    ),
    **{
        f"ties of the shapes {shapes}": (xp.maximum, *map(np.ones, shapes)) for shapes in BROADCAST
    },
    **{
        f"the norm of order {n} beside one that is zero": (
            functools.partial(xp.linalg.vector_norm, axis=1, ord=n), np.asarray([[0.0, 0.0], [3.0, 4.0]])
        )
        for n in (-1, 0.5, 1.5, 2, 3)
    },
    **{f"pinv, {name}": (xp.linalg.pinv, x) for name, x in TIED.items()},
    "equal eigenvalues": (lambda x: xp.sum(xp.linalg.eigh(x)[0]), np.eye(2)),
    "equal singular values": (lambda x: xp.sum(xp.linalg.svd(x)[1]), np.eye(2)),
    "cholesky of one triangle": (xp.linalg.cholesky, ONE_SIDED),
    "cholesky of the upper triangle": (functools.partial(xp.linalg.cholesky, upper=True), ONE_SIDED.T),
    "eigvalsh of one triangle": (xp.linalg.eigvalsh, ONE_SIDED),
    "eigh of one triangle": (lambda x: xp.linalg.eigh(x)[1] ** 2, ONE_SIDED),
}  # fmt: skip
"""Functions with the arguments by which they are differentiated."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("differentiating")
def test_gradients_are_those_of_differences(way: str, jits: Jits, dealt: Dealt) -> None:
    # In forward mode TensorFlow gives NaN for the pseudoinverse of a matrix with equal singular values.
    is_nan = "pinv" if way == "forward" else "none"
    cases = dealt({k: v for k, v in CASES.items() if is_nan not in k}, list(WAYS).index(way), len(WAYS))
    functions = {name: lambda *xs, f=f: number(f(*xs)) for name, (f, *_) in cases.items()}

    def gradients(given: dict[str, list[xp.Array]]) -> dict[str, Any]:
        return {name: WAYS[way](functions[name])(*xs) for name, xs in given.items()}

    found = jits[0](gradients)({name: [xp.asarray(x) for x in xs] for name, (_, *xs) in cases.items()})
    for name, (_, *xs) in cases.items():
        assert_near(found[name], differences(functions[name], *xs), name)


@pytest.mark.usefixtures("differentiating")
def test_values_beside_gradients_are_those_of_numpy(jits: Jits) -> None:
    given = {name: xs for name, (_, *xs) in CASES.items() if "norm" in name or "at 0" in name}
    functions = {name: lambda *xs, f=CASES[name][0]: number(f(*xs)) for name in given}
    with xp.backend("numpy"), np.errstate(divide="ignore"):
        expected = {name: float(f(*map(xp.asarray, given[name]))) for name, f in functions.items()}

    def values(given: dict[str, list[xp.Array]]) -> dict[str, xp.Array]:
        return {name: xp.value_and_grad(functions[name])(*xs)[0] for name, xs in given.items()}

    found = jits[0](values)({name: list(map(xp.asarray, xs)) for name, xs in given.items()})
    for name, one in found.items():
        np.testing.assert_allclose(float(one), expected[name], rtol=1e-12, err_msg=name)


@pytest.mark.usefixtures("differentiating")
def test_inverse_functions_of_complex_numbers_have_the_slope_of_their_branch(jits: Jits) -> None:
    # On the cut the arc cosine is that of above, and i times it is the hyperbolic one.
    functions = [lambda a, b: number(xp.acosh(a + 1j * b)), lambda a, b: number(1j * xp.acos(a + 1j * b))]
    at = np.asarray([2.0, 3.0]), np.zeros(2)
    for jit in jits:
        for found in jit(lambda *xs: [xp.grad(f, argnums=(0, 1))(*xs) for f in functions])(*map(xp.asarray, at)):
            assert_near(found, differences(functions[0], *at))


INF, NAN = np.inf, np.nan
EXACT: Final[dict[str, tuple[Function, tuple[Any, ...], tuple[Any, ...]]]] = {
    "logaddexp of infinities": (
        xp.logaddexp, ([1.0, INF, -INF, -INF], [INF, 1.0, -INF, 0.0]), ([0, 1, 0.5, 0], [1, 0, 0.5, 1])
    ),
    "a square root by a power": (lambda x: x**0.5, ([-0.0, 0.0],), ([INF, INF],)),
    "a power by an exponent that is zero": (
        lambda x, y: x**y, ([2.0, 3.0, 0.0], [0.0, 2.0, 0.0]), ([0, 6, 0], [np.log(2), 9 * np.log(3), 0])
    ),
    "powers": (AT_ZERO["powers"], ([0.0, 0.0],), ([1, 1],)),
    "powers with an exponent that depends": (AT_ZERO["powers with an exponent that depends"], ([0.0, 0.0],), ([1, 1],)),
    "a quotient rounded down": (lambda x, y: x // y, ([3.0, -1.0, 0.0], [2.0, 0.0, 0.0]), ([0, 0, 0], [0, 0, 0])),
    "the sign of a complex number": (lambda x: xp.real(xp.sign(x + 0j)), ([3.0, -1.0, 0.0],), ([0, 0, 0],)),
    "sqrt": (xp.sqrt, ([0.0, -1.0],), ([INF, NAN],)),
    "log": (xp.log, ([0.0],), ([INF],)),
    "reciprocal": (xp.reciprocal, ([0.0],), ([-INF],)),
    "acos": (xp.acos, ([1.0],), ([-INF],)),
    "the root of a square": (lambda x: xp.sqrt(x * x), ([0.0],), ([NAN],)),
    "a row beside a matrix that where does not take": (
        lambda x, y: xp.where(y > 1, x / y * xp.log(x), 0.0), ([0.0, 2.0], [[0.0, 2.0], [1.0, 4.0]]),
        ([0, (1 + np.log(2)) * (1 / 2 + 1 / 4)], [[0, -np.log(2) / 2], [0, -np.log(2) / 8]]),
    ),
}  # fmt: skip
"""Functions, their arguments, and the slopes of the sum by each."""


@pytest.mark.usefixtures("differentiating")
def test_slopes_at_the_edges_are_exact(jits: Jits) -> None:
    def slopes(given: dict[str, tuple[xp.Array, ...]]) -> dict[str, Any]:
        return {name: WAYS["grad"](lambda *xs, f=EXACT[name][0]: xp.sum(f(*xs)))(*xs) for name, xs in given.items()}

    given = {name: tuple(map(xp.asarray, xs)) for name, (_, xs, _) in EXACT.items()}
    for jit in jits:
        for name, found in jit(slopes)(given).items():
            for one, wanted in zip(found, EXACT[name][2], strict=True):
                np.testing.assert_allclose(np.asarray(one), wanted, rtol=1e-12, atol=0, err_msg=name)


@pytest.mark.usefixtures("differentiating")
def test_second_derivatives_at_zero_are_right(jits: Jits) -> None:
    def square(x: xp.Array) -> xp.Array:
        return xp.sum(xp.real((x + 0j) ** xp.asarray([2.0, 2.0])))

    def curved(x: xp.Array) -> xp.Array:
        return xp.sum(xp.grad(lambda x: xp.sum(x[:, None] ** xp.arange(4)))(x))

    for jit in jits:
        of_prod, of_powers = jit(lambda x, y: (xp.jacobian(xp.grad(xp.prod))(x), xp.grad(curved)(y)))(
            xp.asarray([2.0, 0.0, 3.0, 0.0]), xp.zeros(2)
        )
        assert of_prod[1, :].tolist() == [0, 0, 0, 6]
        assert of_powers.tolist() == [2, 2]
    assert xp.jit(xp.jacobian(xp.grad(square)))(xp.zeros(2)).tolist() == [[2, 0], [0, 2]]


@pytest.mark.sampled
@pytest.mark.parametrize("what", [*OF_COMPLEX, "log"])
def test_second_derivatives_through_complex_numbers_are_the_same_on_all_libraries(what: str) -> None:
    pytest.importorskip("jax", reason="two libraries are compared")
    pytest.importorskip("tensorflow", reason="two libraries are compared")
    function = OF_COMPLEX.get(what, xp.log)

    def along(a: xp.Array, b: xp.Array) -> xp.Array:
        slopes = xp.grad(lambda a, b: number(function(a + 1j * b)), argnums=(0, 1))(a, b)
        return xp.sum(slopes[0]) - xp.sum(slopes[1] ** 2)

    xs = np.random.default_rng(2).normal(size=(2, 6))
    found = []
    for name in ("jax", "tf"):
        with xp.backend(name):
            found.append(xp.jit(xp.grad(along, argnums=(0, 1)))(*map(xp.asarray, xs)))
    for of_jax, of_tf in zip(*found, strict=True):
        np.testing.assert_allclose(np.asarray(of_tf), np.asarray(of_jax), rtol=1e-9, atol=1e-9)


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


@each(
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


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
@pytest.mark.usefixtures("differentiating")
def test_the_gradient_of_det_is_the_cofactors_also_of_singular_matrices(size: int, jits: Jits) -> None:
    matrices = np.random.default_rng(size).normal(size=(5, size, size))
    matrices[1, :, 0] = 0
    matrices[2, -1] = 0
    matrices[3] = np.triu(matrices[3], 1)
    matrices[4] = 0
    found = jits[size % len(jits)](xp.grad(lambda x: xp.sum(xp.linalg.det(x))))(xp.asarray(matrices))
    np.testing.assert_allclose(np.asarray(found), list(map(cofactors, matrices)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("function", "size"), [("det", 2), ("det", 3), ("slogdet", 3)])
@pytest.mark.usefixtures("differentiating")
def test_second_derivatives_of_det_are_right_where_singular_values_are_equal(
    function: str, size: int, jits: Jits
) -> None:
    of_matrix: Function = {"det": xp.linalg.det, "slogdet": lambda x: xp.linalg.slogdet(x).logabsdet}[function]
    found = np.asarray(jits[-1 if size > 2 else 0](xp.jacobian(xp.grad(of_matrix)))(xp.eye(size)))
    one = np.eye(size)
    exchanged = np.einsum("il,jk->ijkl", one, one)
    wanted = -exchanged if function == "slogdet" else np.einsum("ij,kl->ijkl", one, one) - exchanged
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("differentiating")
def test_second_derivatives_of_det_at_larger_singular_matrices_are_nan_not_wrong() -> None:
    one = np.eye(4)
    hessian = xp.jit(xp.jacobian(xp.grad(lambda x: xp.sum(xp.linalg.det(x)))))
    found = np.asarray(hessian(xp.asarray(np.stack([one, np.ones((4, 4))]))))
    assert np.isnan(found[1, :, :, 1]).any()
    wanted = np.einsum("ij,kl->ijkl", one, one) - np.einsum("il,jk->ijkl", one, one)
    np.testing.assert_allclose(found[0, :, :, 0], wanted, rtol=0, atol=1e-12)


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


@pytest.mark.sampled
@pytest.mark.usefixtures("differentiating")
@pytest.mark.parametrize("rtol", [1e-2, np.float64(1e-2), np.full(2, 1e-2)], ids=["float", "scalar", "array"])
def test_the_gradient_of_pinv_is_the_same_with_a_tolerance(rtol: Any, jits: Jits) -> None:
    a = xp.asarray(np.random.default_rng(5).normal(size=(2, 4, 3)))
    given = xp.asarray(rtol) if isinstance(rtol, np.ndarray) else rtol
    with_and_without = [lambda x: number(xp.linalg.pinv(x, rtol=given)), lambda x: number(xp.linalg.pinv(x))]
    for jit in jits:
        found, expected = jit(lambda x: [xp.grad(f)(x) for f in with_and_without])(a)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("differentiating")
def test_vectors_of_equal_values_have_no_derivative(way: str, jits: Jits, dealt: Dealt) -> None:
    functions = dealt(REBUILT, list(WAYS).index(way) % 2, 2).values()

    def gradients(*xs: xp.Array) -> list[Any]:
        return [[WAYS[way](function)(x)[0] for x in xs] for function in functions]

    for *of_equal, plain in jits[0](gradients)(xp.eye(2), xp.zeros((2, 2)), xp.asarray([[2.0, 0.0], [0.0, 1.0]])):
        for found in of_equal:
            assert not np.isfinite(np.asarray(found)[1]).any(), "the row that lies in the lower triangle"
        np.testing.assert_allclose(float(xp.sum(plain)), 4, rtol=1e-9)


@pytest.mark.parametrize("function", ["unique_values", "unique_counts", "unique_inverse", "unique_all"])
@pytest.mark.usefixtures("differentiating")
def test_unique_values_have_the_slope_of_those_they_are(function: str) -> None:
    def weighted(x: xp.Array) -> xp.Array:
        found = getattr(xp, function)(x)
        values = found if function == "unique_values" else found[0]
        return xp.sum(values * xp.asarray([1.0, 10.0]))

    assert xp.grad(weighted)(xp.asarray([3.0, 1.0, 3.0])).tolist() == [10, 1, 0]


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
        assert_near(of_few, np.asarray(of_many)[:3, ..., :3])


def test_a_block_inside_keeps_the_derivative(framework: str) -> None:
    def function(x: xp.Array) -> xp.Array:
        with xp.backend("numpy"):
            return xp.sum(xp.square(x))

    with xp.backend(framework) as backend:
        if not backend.has_hook("value_and_grad"):
            pytest.skip("the library has no derivatives")
        assert xp.grad(function)(xp.asarray([0.5, 2.0])).tolist() == [1.0, 4.0]


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_reads_one_triangle(upper: bool, is_complex: bool, jits: Jits, backend: xp.Backend) -> None:
    x = ONE_SIDED + (1j * np.asarray([[3.0, 5.0, 5.0], [0.5, -4.0, 5.0], [0.25, 1.0, 2.0]]) if is_complex else 0)
    wanted = np.linalg.cholesky(x)
    given = xp.asarray(np.stack([x.T.conj() if upper else x] * 2))
    for jit in jits:
        found = np.asarray(jit(functools.partial(xp.linalg.cholesky, upper=upper))(given))
        np.testing.assert_allclose(found, [wanted.T.conj() if upper else wanted] * 2, rtol=1e-14, atol=1e-15)


def test_eigenvalues_are_those_of_the_lower_triangle(jits: Jits, backend: xp.Backend) -> None:
    wanted, x = np.linalg.eigvalsh(ONE_SIDED), xp.asarray(ONE_SIDED)
    below = np.tril(ONE_SIDED, -1)
    for jit in jits:
        found, (values, vectors) = jit(lambda x: (xp.linalg.eigvalsh(x), xp.linalg.eigh(x)))(x)
        for one in (found, values):
            np.testing.assert_allclose(np.asarray(one), wanted, rtol=1e-13)
        product = (below + below.T + np.diag(np.diag(ONE_SIDED))) @ np.asarray(vectors)
        np.testing.assert_allclose(product, np.asarray(vectors) * wanted, rtol=1e-12, atol=1e-12)


EDGES: Final = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan, 1e3, -1e3]
"""Where domains end, slopes are infinite or numbers overflow."""
OF_ONE: Final = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor log log1p log2 log10 negative reciprocal "
    "round sign sin sinh sqrt square tan tanh trunc"
).split()
OF_TWO: Final = (
    "add atan2 copysign divide floor_divide logaddexp maximum minimum multiply pow remainder subtract"
).split()
NOT_TAKEN: Final[dict[str, tuple[Any, ...]]] = {
    **{name: (np.asarray(EDGES),) for name in OF_ONE},
    **{name: tuple(x.ravel() for x in np.meshgrid(EDGES, EDGES)) for name in OF_TWO},
}


@pytest.mark.parametrize("way", [way for way in WAYS if "vmap" not in way and way != "forward"])
@pytest.mark.usefixtures("differentiating")
def test_a_function_that_where_does_not_take_has_the_slope_zero(way: str, jits: Jits, dealt: Dealt) -> None:
    cases = dealt(NOT_TAKEN, list(WAYS).index(way), 3)

    def without(name: str, is_taken: xp.Array, *xs: xp.Array) -> xp.Array:
        return xp.sum(xp.where(is_taken, getattr(xp, name)(*xs), 0.5 * xp.where(is_taken, xs[0], 1.0)))

    def gradients(is_taken: dict[str, xp.Array], given: dict[str, Any]) -> dict[str, Any]:
        return {name: WAYS[way](functools.partial(without, name, is_taken[name]))(*xs) for name, xs in given.items()}

    given = {name: tuple(map(xp.asarray, xs)) for name, xs in cases.items()}
    is_taken = {name: xp.zeros(xs[0].shape, dtype=xp.bool) for name, xs in given.items()}
    for name, found in jits[0](gradients)(is_taken, given).items():
        assert [one.tolist() for one in found] == [[0] * x.size for x in cases[name]], name


# Of each: the function, its first derivative at 4 and its second one there. At 0 and -1 it is constant.
CHOICES: Final[dict[str, tuple[Function, float, float]]] = {
    "sqrt": (xp.sqrt, 1 / 4, -1 / 32),
    "a power": (lambda x: x**0.5, 1 / 4, -1 / 32),
    "a product with a logarithm": (lambda x: x * xp.log(x), 1 + np.log(4), 1 / 4),
    "reciprocal": (lambda x: 1 / x, -1 / 16, 1 / 32),
    "a quotient of roots": (lambda x: x / xp.sqrt(x), 1 / 4, -1 / 32),
    "a root of clip": (lambda x: xp.sqrt(xp.clip(x, 0.0, 9.0)), 1 / 4, -1 / 32),
    "a logarithm of maximum": (lambda x: xp.log(xp.maximum(x, 0.0)), 1 / 4, -1 / 16),
    "log1p": (lambda x: xp.log1p(x - 1), 1 / 4, -1 / 16),
}
DERIVATIVES: Final[dict[str, tuple[int, Function]]] = {
    "grad": (1, lambda f: xp.jacobian(f)),
    "forward": (1, lambda f: xp.jacobian(f, mode="forward")),
    "vmap of grad": (1, lambda f: lambda x: xp.eye(3) * xp.vmap(xp.grad(f))(x)),
    "jacobian of grad": (2, lambda f: xp.jacobian(xp.grad(lambda x: xp.sum(f(x))))),
    "forward of grad": (2, lambda f: xp.jacobian(xp.grad(lambda x: xp.sum(f(x))), mode="forward")),
}
"""Transforms, and the order of the derivative that they give."""


@pytest.mark.parametrize("way", DERIVATIVES)
@pytest.mark.usefixtures("differentiating")
def test_a_choice_has_the_derivatives_of_what_is_taken(way: str, jits: Jits) -> None:
    order, derivative = DERIVATIVES[way]

    def all_of_them(x: xp.Array) -> Any:
        return {what: derivative(lambda x, f=f: xp.where(x > 0, f(x), 0.0))(x) for what, (f, *_) in CHOICES.items()}

    jit = jits[list(DERIVATIVES).index(way) % len(jits)]
    for what, found in jit(all_of_them)(xp.asarray([0.0, 4.0, -1.0])).items():
        wanted = np.diag([0, CHOICES[what][order], 0])
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-13, atol=0, err_msg=what)
