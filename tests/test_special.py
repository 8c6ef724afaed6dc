"""Special functions: SciPy's edges, mpmath's values, and derivatives."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import mpmath
import numpy as np
import pytest
import scipy.special

import anyarray as xp
from anyarray import errors
from anyarray import special as sc
from anyarray.backends._shared import blocks
from benchmarks import special as accuracy

pytestmark = [
    pytest.mark.few_backends,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's and SciPy's, of NaN and infinities
]

NAN, INF = math.nan, math.inf
LINE: Final = [NAN, INF, -INF, 0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 10, -10, 1e-300, -1e-300, 0.25, 1.5, -1.5]
LINE += [100, -100, 1e-10, 1e5, -1e5, 700, -700]
PLANE: Final = [NAN, INF, 0.0, 1, -1, 2, 0.5, 3, -2.5, 10, 1e-10, 100]
PARAMETERS: Final = [0.0, 1, 2, 0.5, -2.5, 10, 100]
ARGUMENTS: Final = {
    **{name: [PLANE, PLANE] for name in "beta betaln gammainc gammaincc huber kl_div rel_entr xlog1py xlogy".split()},
    "polygamma": [[0.0, 1, 1.5, 2, 3, 5], [x for x in LINE if x != -INF]],
    "zeta": [[NAN, 0.0, 1, -1, 2, 0.5, 3, -2.5, 10, 100], PLANE[1:]],
    "betainc": [PLANE, PLANE, PLANE],
    "betaincinv": [PARAMETERS, PARAMETERS, PARAMETERS],
    "gammaincinv": [PARAMETERS, PARAMETERS],
    "binom": [[*PARAMETERS, NAN], [*PARAMETERS, -INF, NAN]],
    "gammaln": [[x for x in LINE if x != -INF]],  # which C's lgamma takes for a pole
    "pseudo_huber": [PARAMETERS, [*PLANE, -INF]],
    "spence": [[x for x in LINE if x != INF]],  # SciPy gives NaN for infinity
}
"""Arguments of a function, by default those of a line; without some that SciPy gives NaN for, or wrong values."""
ON_A_LINE: Final = (
    "digamma entr erf erfc erfcinv erfcx erfinv exp1 expi expit exprel gamma gammasgn i0e i1 i1e j0 j1 k0 k0e k1 k1e "
    "log_expit log_ndtr logit ndtr ndtri softplus"
)
ELEMENTWISE: Final = sorted([*ON_A_LINE.split(), *ARGUMENTS])


Jits = list[Callable[[Any], Any]]


def on_grid(*axes: list[float]) -> list[np.ndarray]:
    return [np.ravel(one) for one in np.meshgrid(*axes, indexing="ij")]


def called(name: str, *xs: Any) -> np.ndarray:
    return np.asarray(getattr(sc, name)(*[xp.asarray(x) for x in xs]))


LIMITS: Final[dict[str, list[tuple[tuple[float, ...], float]]]] = {
    "spence": [((INF,), -INF)],
    "zeta": [((INF, 2.0), 0.0), ((1.0, NAN), NAN)],
    "pseudo_huber": [((INF, 2.0), 2.0)],
    "binom": [((INF, 0.5), INF), ((INF, 0.0), 1.0), ((1e-10, 100.0), -9.999999994822619e-13)],
    "beta": [((-INF, 1.0), 0.0), ((INF, -2.5), -INF)],
    "betaln": [((INF, -2.5), INF)],
    "betaincinv": [((INF, 0.5, 0.5), 1.0), ((0.5, INF, 0.5), 0.0)],
}
"""Limits that SciPy may lack: arguments, and values on the other backends."""

WORST: Final = {"betainc": 30, "betaincinv": 100, "beta": 20, "betaln": 50, "gammaincinv": 100, "i1": 30, "sinc": 50}
"""The most units in the last place of functions for which it is more than ten; see the table in docs/special.md."""
SCIPYS: Final = {
    "beta": 3e3,
    "betaln": 1e10,
    "erfc": 400,
    "erfcx": 300,
    "gammaincc": 500,
    "gammaln": 1e9,
    "digamma": 100,
    "gammainc": 500,
    "j0": 50,
    "j1": 80,
    "log_ndtr": 200,
    "ndtr": 2000,
    "betaincinv": 1000,
    "spence": 20,
    "expi": 100,
    "betainc": 2000,
    "gammaincinv": 200,
    "pseudo_huber": 20,
}
"""The same for SciPy's own."""


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "dtype"), [*itertools.product(accuracy.CASES, accuracy.DTYPES), ("binom", "float64")]
)
def test_values_are_those_of_mpmath_and_at_the_edges_those_of_scipy(
    function: str, dtype: str, backend: xp.Backend
) -> None:
    """All in one call, as JAX compiles for each."""
    is_scipys = backend.library == "numpy"
    inner = accuracy.arguments(function, dtype, 10 if is_scipys else 30, seed=1) if function in accuracy.CASES else []
    edges = on_grid(*ARGUMENTS.get(function, [LINE])) if function in ELEMENTWISE and dtype == "float64" else []
    limits = LIMITS.get(function, []) if edges and not is_scipys else []
    parts = [one for one in (inner, edges, [np.asarray(x) for x in zip(*[at for at, _ in limits], strict=True)]) if one]
    found = called(function, *[np.concatenate(xs) for xs in zip(*parts, strict=True)])
    assert found.dtype == dtype
    of_inner, found = np.split(found, [inner[0].size if inner else 0])
    if inner:
        worst = max(WORST.get(function, 10), SCIPYS.get(function, 0) if is_scipys else 0)
        assert np.nanmax(accuracy.errors(function, inner, of_inner, accuracy.references(function, inner))) <= worst
    if edges:
        found, of_limits = np.split(found, [edges[0].size])
        wanted = getattr(scipy.special, function)(*edges)
        if function == "beta":  # SciPy's sign at a pole of both arguments depends on their order
            found = np.where(np.isinf(found) & (np.maximum(*edges) <= 0), wanted, found)
        # Subnormal numbers are flushed to zero by XLA.
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-307, equal_nan=True)
        np.testing.assert_allclose(of_limits, [limit for _, limit in limits], rtol=1e-13)


@pytest.mark.usefixtures("backend")
def test_the_zeta_function_is_that_of_riemann_without_q() -> None:
    x = np.asarray([NAN, 0.0, 1, 2, 0.5, 1.5, 3, 100, -0.25, -1, -2, -2.5, -10, -100.5, -700])
    np.testing.assert_allclose(np.asarray(sc.zeta(xp.asarray(x))), scipy.special.zeta(x), rtol=1e-12, atol=1e-300)


INNER: Final = {
    "beta": (2.5, 0.75),
    "betainc": (2.5, 0.75, 0.4),
    "betaincinv": (2.5, 0.75, 0.4),
    "betaln": (2.5, 0.75),
    "comb": (9.5, 3.0),
    "gammainc": (2.5, 1.75),
    "gammaincc": (2.5, 1.75),
    "gammaincinv": (2.5, 0.4),
    "huber": (1.0, 2.5),
    "kl_div": (0.5, 0.75),
    "polygamma": (2.0, 1.75),
    "pseudo_huber": (1.5, 2.5),
    "rel_entr": (0.5, 0.75),
    "xlog1py": (0.5, 0.75),
    "xlogy": (0.5, 0.75),
    "zeta": (2.5, 1.75),
}
"""A point at which derivatives are taken, by default 0.75."""
ONCE: Final = "betainc betaincinv gammainc gammaincc gammaincinv zeta".split()
"""Functions that have derivatives by parameters of the first order alone."""
SMOOTH: Final = sorted({*accuracy.CASES} - {"gammasgn"})


def by_mpmath(name: str, point: tuple[float, ...], which: int, order: int) -> float:
    with mpmath.mp.workdps(40):
        at = [mpmath.mpf(x) for x in point]
        function = accuracy.CASES[name].reference
        slope = mpmath.diff(
            lambda x: function(*at[:which], x, *at[which + 1 :]), at[which], order, h=mpmath.mpf(10) ** -9
        )
        return float(slope)


@pytest.mark.sampled
@pytest.mark.parametrize("function", SMOOTH)
@pytest.mark.usefixtures("differentiating")
def test_mapped_derivatives_are_those_of_mpmath(function: str, jits: Jits, pytestconfig: pytest.Config) -> None:
    *parameters, x = INNER.get(function, (0.75,))
    points = [(*parameters, x), (*parameters, 0.9 * x)]
    called_with, last = getattr(sc, function), len(parameters)
    orders = [(which, 1) for which in range(function == "polygamma", last + 1)]
    if function not in ONCE and (not parameters or pytestconfig.getoption("--all-cases")):  # as some compile long
        orders += [(last, 2)]

    def derivatives(*xs: xp.Array) -> list[Any]:
        slopes = {which: xp.grad(lambda *xs: xp.sum(called_with(*xs)), argnums=which) for which, _ in orders}
        found = [(slopes[n] if order == 1 else xp.grad(slopes[n], argnums=n))(*xs) for n, order in orders]
        return [called_with(*xs), *found]

    values, *found = map(np.asarray, jits[0](xp.vmap(derivatives))(*map(xp.asarray, zip(*points, strict=True))))
    np.testing.assert_allclose(values, called(function, *zip(*points, strict=True)), rtol=1e-13)
    for (which, order), one in zip(orders, found, strict=True):
        wanted = [by_mpmath(function, point, which, order) for point in points]
        np.testing.assert_allclose(one, wanted, rtol=1e-9 if order == 1 else 1e-7, atol=1e-12 * (order == 2))


@pytest.mark.parametrize("function", ["erf", "gammaln", "i1e", "polygamma", "gammainc", "xlogy"])
@pytest.mark.usefixtures("differentiating")
def test_jit_gives_the_same(function: str) -> None:
    point = [xp.asarray([one, 0.9 * one]) for one in INNER.get(function, (0.75,))]
    found = xp.jit(getattr(sc, function))(*point)
    np.testing.assert_allclose(np.asarray(found), called(function, *map(np.asarray, point)), rtol=1e-13)


GAMMA_POINTS: Final = (
    (1e-3, 1e-4), (1e-3, 0.5), (1e-3, 3.0), (0.3, 1e-6), (0.9, 1.1), (1.0, 0.99), (2.5, 0.01), (2.5, 40.0), (9.9, 9.0),
    (10.1, 11.0), (50.0, 20.0), (50.0, 49.0), (50.0, 120.0), (1e3, 900.0), (1e3, 1100.0), (1e4, 10030.0),
)  # fmt: skip
BETA_POINTS: Final = (
    (0.01, 0.01, 0.3), (0.01, 2.0, 1e-5), (0.5, 0.5, 0.5), (0.5, 0.5, 0.999), (2.5, 0.75, 0.99), (100.0, 0.01, 0.5),
    (100.0, 0.01, 0.9999), (0.1, 50.0, 1e-4), (0.1, 50.0, 0.3), (10.0, 20.0, 0.3), (100.0, 200.0, 0.25),
    (1e3, 1e3, 0.48), (1e3, 30.0, 0.99), (300.0, 2.0, 0.999),
)  # fmt: skip
ZETA_POINTS: Final = (
    (1.001, 1.0), (1.5, 0.1), (2.5, 1.75), (8.0, 0.5), (20.0, 3.0), (3.0, 100.0), (1.2, 1e4), (50.0, 2.0)
)  # fmt: skip


def _smaller_part(a: Any, x: Any, at: float) -> Any:
    """`gammainc(a, x)`, less 1 in its upper tail."""
    return accuracy._gammainc(a, x) if x < at else -mpmath.gammainc(a, x, mpmath.inf, regularized=True)


@pytest.mark.parametrize(
    ("function", "parameters", "points"),
    [
        ("gammainc", (0,), GAMMA_POINTS),
        ("betainc", (0, 1), BETA_POINTS),
        ("zeta", (0,), ZETA_POINTS),
        ("zeta", (0,), [(s,) for s in (-10.5, -4.0, -0.7, -0.3, 0.0, 0.5, 1.5, 3.0)]),
    ],
)
@pytest.mark.usefixtures("differentiating")
def test_derivatives_by_parameters_have_13_digits(
    function: str, parameters: tuple[int, ...], points: Any, jits: Jits
) -> None:
    slopes = jits[0](xp.grad(lambda *xs: xp.sum(getattr(sc, function)(*xs)), argnums=parameters))
    for which, found in zip(parameters, slopes(*map(xp.asarray, zip(*points, strict=True))), strict=True):
        for point, one in zip(points, np.asarray(found), strict=True):
            with mpmath.mp.workdps(50):
                at = [mpmath.mpf(x) for x in point]
                reference: Any = mpmath.zeta if function == "zeta" else accuracy.CASES[function].reference
                if function == "gammainc":
                    reference = lambda a, x, at=point[0]: _smaller_part(a, x, at)  # noqa: E731
                wanted = mpmath.diff(
                    lambda z, at=at, reference=reference, n=which: reference(*at[:n], z, *at[n + 1 :]),
                    at[which],
                    h=mpmath.mpf(10) ** -18,
                )
            assert one == pytest.approx(float(wanted), rel=1e-13), point


@pytest.mark.usefixtures("differentiating")
def test_a_derivative_that_does_not_exist_is_refused() -> None:
    n, x = xp.asarray([2.0]), xp.asarray([1.75])
    with pytest.raises(errors.UnsupportedError, match="polygamma: has no derivative by its first argument"):
        xp.grad(lambda n: xp.sum(sc.polygamma(n, x)))(n)
    assert float(xp.grad(lambda n: xp.sum(sc.polygamma(xp.stop_gradient(n), x) * n))(n)[0]) < 0
    slope = xp.grad(lambda a: xp.sum(sc.gammainc(a, x)))
    with pytest.raises(errors.UnsupportedError, match=r"^gammainc: has no second derivative with respect to a"):
        xp.grad(lambda a: xp.sum(slope(a)))(n)


SPECIAL_POINTS: Final = [
    ("entr", 0.0, INF),
    ("j1", 0.0, 0.5),
    ("i1", 0.0, 0.5),
    ("exprel", 0.0, 0.5),
    ("spence", 1.0, -1.0),
    ("gammasgn", 2.5, 0.0),
    ("erfcx", -0.5, -3.0807397),
    ("erfinv", 0.0, math.sqrt(math.pi) / 2),
    ("erfc", 20.0, -2.161e-174),
    ("softplus", -50.0, math.exp(-50)),
    ("log_ndtr", -30.0, 30.0332595),
    ("huber", 0.0, 0.0),
    ("gammaln", 1e10, math.log(1e10)),
]


@pytest.mark.usefixtures("differentiating")
def test_derivatives_at_special_points(jits: Jits) -> None:
    def slope(function: str, at: xp.Array) -> xp.Array:
        called_with = getattr(sc, function)
        return xp.grad(lambda x: called_with(1.0, x) if function == "huber" else called_with(x))(at)

    slopes = jits[0](lambda points: [slope(name, at) for (name, *_), at in zip(SPECIAL_POINTS, points, strict=True)])
    for (name, _, wanted), found in zip(
        SPECIAL_POINTS, slopes([xp.asarray(at) for _, at, _ in SPECIAL_POINTS]), strict=True
    ):
        assert float(found) == pytest.approx(wanted, rel=1e-4), name


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("int8", "float64"), ("uint64", "float64"), ("bool", "float64"), ("float16", "float16"), ("float32", "float32")],
)
def test_integers_become_float64_and_floats_keep_their_dtype(given: str, wanted: str, backend: xp.Backend) -> None:
    if given == "float16" and not backend.has_dtype("float16"):
        pytest.skip("no float16")
    x = xp.asarray([1, 0], dtype=given)
    for name in ("erf", "erfcx", "gamma", "i0e"):
        found = getattr(sc, name)(x)
        assert found.dtype == wanted
        exact = getattr(scipy.special, name)([1.0, 0.0]).astype(wanted)
        np.testing.assert_allclose(np.asarray(found), exact, rtol=1e-3 if wanted == "float16" else 1e-6)
    assert sc.xlogy(x, xp.asarray([2.0], dtype="float32")).dtype == xp.result_type(x, xp.float32)
    assert sc.xlogy(xp.asarray([2.0], dtype="float32"), 2).dtype == xp.float32


@pytest.mark.usefixtures("backend")
def test_arguments_broadcast_and_may_be_scalars() -> None:
    a, x = xp.asarray([[0.5], [2.0]]), xp.asarray([0.25, 1.0, 3.0])
    wanted = scipy.special.xlogy([[0.5], [2.0]], [0.25, 1.0, 3.0])
    np.testing.assert_allclose(np.asarray(sc.xlogy(a, x)), wanted, rtol=1e-13)
    np.testing.assert_allclose(np.asarray(sc.xlogy(2.0, x)), wanted[1], rtol=1e-13)
    np.testing.assert_allclose(np.asarray(sc.huber(1, a)), scipy.special.huber(1, [[0.5], [2.0]]), rtol=1e-13)
    assert sc.gamma(xp.zeros((0, 3))).shape == (0, 3)
    assert sc.gamma(xp.asarray(4.0)).shape == ()


@pytest.mark.usefixtures("backend")
def test_blocks_of_large_arrays_and_later_calls_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 8)
    a, x = xp.asarray([[0.5], [2.0], [30.0]]), xp.asarray([0.25, 1.0, 3.0, 25.0, 40.0])
    wanted = scipy.special.gammainc([[0.5], [2.0], [30.0]], [0.25, 1.0, 3.0, 25.0, 40.0])
    for _ in range(7):  # TensorFlow makes a graph of it at the tenth block
        np.testing.assert_allclose(np.asarray(sc.gammainc(a, x)), wanted, rtol=1e-12)
    assert sc.gammainc(a[:0, ...], x).shape == (0, 5)


def test_complex_numbers_are_refused(backend: xp.Backend) -> None:
    with pytest.raises(TypeError):
        sc.erf(xp.asarray([1j]))


X: Final = np.asarray([[1.0, -2.0, 3.0], [1000.0, 1000.0, -INF]])


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.usefixtures("backend")
def test_sums_of_exponentials_are_scipys(axis: Any) -> None:
    x = xp.asarray(X)
    for name in ("softmax", "log_softmax", "logsumexp"):
        wanted = getattr(scipy.special, name)(X, axis=axis)
        np.testing.assert_allclose(np.asarray(getattr(sc, name)(x, axis=axis)), wanted, rtol=1e-13, atol=1e-300)
    b = np.asarray([[1.0, -2.0, 0.0], [1.0, -0.5, 3.0]])
    found = sc.logsumexp(x, axis, xp.asarray(b), True, True)
    for one, wanted in zip(found, scipy.special.logsumexp(X, axis, b, True, True), strict=True):
        np.testing.assert_allclose(np.asarray(one), wanted, rtol=1e-12)
    assert np.asarray(sc.logsumexp(xp.asarray([0.0, -50.0]))) == pytest.approx(math.exp(-50), rel=1e-12)
    for one in ([INF, 1.0], [-INF, -INF], [NAN, 1.0], []):
        np.testing.assert_equal(np.asarray(sc.logsumexp(xp.asarray(one))), scipy.special.logsumexp(np.asarray(one)))


@pytest.mark.usefixtures("differentiating")
def test_the_gradient_of_logsumexp_is_softmax(jits: Jits) -> None:
    wanted = scipy.special.softmax([1.0, -2.0, 3.0])
    for jit in jits:
        slopes = jit(lambda x: (xp.grad(sc.logsumexp)(x), xp.grad(lambda x: sc.log_softmax(x)[0])(x)))
        found, of_log = map(np.asarray, slopes(xp.asarray([1.0, -2.0, 3.0])))
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
        np.testing.assert_allclose(of_log, [1, 0, 0] - wanted, rtol=1e-13)


@pytest.mark.usefixtures("backend")
def test_factorials_and_combinations_are_scipys() -> None:
    n = np.asarray([-2, -1, 0, 1, 5, 20, 170, 171])
    np.testing.assert_allclose(np.asarray(sc.factorial(xp.asarray(n))), scipy.special.factorial(n), rtol=1e-13)
    of, k = on_grid([0.0, 1, 5, 10.5, 60, -2], [0.0, 1, 3, 7, -1])
    for repetition in (False, True):
        if repetition:
            of, k = np.abs(of), np.abs(k)
        wanted = scipy.special.comb(of, k, repetition=repetition)
        np.testing.assert_allclose(
            np.asarray(sc.comb(xp.asarray(of), xp.asarray(k), repetition=repetition)), wanted, rtol=1e-12
        )
    with pytest.raises(
        errors.ArgumentValueError, match="factorial: exact must be False, as integers of any size are no"
    ):
        sc.factorial(5, exact=True)


@pytest.mark.parametrize("function", ["erf", "gammaln", "betainc", "xlogy"])
def test_scipy_computes_our_arrays_on_their_backend(function: str, framework: str) -> None:
    point = [xp.asarray([one, one], device=framework) for one in INNER.get(function, (0.75,))]
    found = getattr(scipy.special, function)(*point)
    assert isinstance(found, xp.Array)
    assert found.device == xp.device(framework)
    np.testing.assert_allclose(np.asarray(found), called(function, *map(np.asarray, point)), rtol=1e-12)


def test_without_scipy_an_error_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['scipy'] = None\n"
        "import anyarray as xp\nfrom anyarray import special as sc\n"
        "print(sc.softmax(xp.asarray([1.0, 1.0])).tolist())\n"
        "try: sc.erf(xp.asarray([1.0]))\nexcept xp.BackendNotInstalledError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert found.splitlines() == [
        "[0.5, 0.5]",
        (
            "anyarray.special: on numpy the functions are SciPy's, and scipy is not installed. "
            "Run: pip install anyarray[special]"
        ),
    ]
