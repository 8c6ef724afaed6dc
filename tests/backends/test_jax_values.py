"""Values that XLA, LAPACK or `jax.numpy` get wrong.

They are computed eagerly, in our jit, and in the user's own, which has 32 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

jax = pytest.importorskip("jax")

INF: Final = math.inf
NAN: Final = math.nan
MODES: Final[dict[str, Callable[[Any], Any]]] = {"eager": lambda function: function, "jit": xp.jit, "jax.jit": jax.jit}
Mode = Callable[[Callable[..., Any]], Callable[..., Any]]
EMPTY: Final = [(0, 0), (0, 3), (2, 3, 0)]
FLOATING: Final = ["float64", "complex128"]


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> Iterator[Mode]:
    """What makes of a function one that is called in this way."""
    with xp.backend("jax"):
        yield MODES[request.param]


@pytest.fixture
def on_jax() -> Iterator[None]:
    """JAX is chosen around the test."""
    with xp.backend("jax"):
        yield


def same(actual: xp.Array, expected: Any) -> None:
    """Assert that values, signs of zeros and dtype are the same."""
    found, wanted = np.asarray(actual), np.asarray(expected)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    for part in ("real", "imag"):
        one, other = getattr(found, part), getattr(wanted, part)
        assert (np.isnan(one) | (np.signbit(one) == np.signbit(other))).all()


@pytest.mark.parametrize("function", ["take", "take_along_axis", "index"])
@pytest.mark.parametrize("length", [200, 300, 40_000])
@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_a_narrow_index_counts_from_the_end_of_a_long_axis(function: str, length: int, dtype: str, mode: Mode) -> None:
    read = (lambda x, i: x[i]) if function == "index" else getattr(xp, function)
    indices = xp.asarray([-1, -128, 127], dtype=getattr(xp, dtype))
    assert mode(read)(xp.arange(length), indices).tolist() == [length - 1, length - 128, 127]


def test_an_index_beyond_int64_does_not_count_from_the_end() -> None:
    with xp.backend("jax"):
        beyond = xp.asarray([2**64 - 1, 1], dtype=xp.uint64)
        read = xp.jit(xp.take)(xp.asarray([1.0, 2.0]), beyond)
    same(read, [NAN, 2.0])


@pytest.mark.parametrize("value", [[[5.0, 6.0]], [[[5.0, 6.0]]]])
def test_a_masked_assignment_takes_leading_axes_of_length_one(value: Any, on_jax: None) -> None:
    x = xp.asarray([0.0, 1.0, 2.0])
    x[xp.asarray([True, False, True])] = xp.asarray(value)
    same(x, [5.0, 1.0, 6.0])


def test_a_masked_assignment_repeats_a_single_element_of_two_axes(on_jax: None) -> None:
    x = xp.asarray([0.0, 1.0, 2.0])
    x[xp.asarray([True, False, True])] = xp.asarray([[5.0]])
    same(x, [5.0, 1.0, 5.0])


@pytest.mark.parametrize("value", [[[5.0], [6.0]], [[5.0, 6.0, 7.0]]])
def test_a_masked_assignment_refuses_other_shapes(value: Any, on_jax: None) -> None:
    x = xp.asarray([0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="does not broadcast"):
        x[xp.asarray([True, False, True])] = xp.asarray(value)


OTHERS: Final = [NAN, INF, -INF, -0.0, 0.0, -2.0, 3.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("is_first", [True, False])
def test_bool_times_float_is_a_product(dtype: str, is_first: bool, mode: Mode) -> None:
    flags, others = np.array([[True], [False]]), np.array(OTHERS, dtype)
    multiply = mode(lambda b, x: b * x if is_first else x * b)
    with np.errstate(invalid="ignore"):
        expected = flags * others
    same(multiply(xp.asarray(flags), xp.asarray(others)), expected)


@pytest.mark.parametrize("factor", [NAN, INF, -1.0, -0.0])
def test_bool_times_a_python_number_is_a_product(factor: float, mode: Mode) -> None:
    same(mode(lambda b: b * factor)(xp.asarray([True, False])), [1.0 * factor, 0.0 * factor])


def test_bool_times_complex_is_a_product(mode: Mode) -> None:
    flags = np.array([[True], [False]])
    others = np.array([complex(INF, 1), complex(NAN, -1), complex(1, INF), complex(-1, 2)])
    with np.errstate(invalid="ignore"):
        expected = flags * others
    same(mode(xp.multiply)(xp.asarray(flags), xp.asarray(others)), expected)
    with np.errstate(invalid="ignore"):
        expected = flags * complex(INF, 1)
    same(mode(lambda b: b * complex(INF, 1))(xp.asarray(flags)), expected)


def test_bool_times_float_is_a_product_for_many_elements(mode: Mode) -> None:
    flags, others = np.resize([True, False], 100_000), np.resize(OTHERS, 100_000)
    with np.errstate(invalid="ignore"):
        expected = flags * others
    same(mode(xp.multiply)(xp.asarray(flags), xp.asarray(others)), expected)


@pytest.mark.parametrize("flags", ["astype", "compared", "full", "eye", "assigned"])
def test_what_was_a_bool_counts_as_a_factor(flags: str, mode: Mode) -> None:
    def product(b: xp.Array, x: xp.Array) -> xp.Array:
        if flags == "full":
            return xp.full((2,), b[1], dtype=xp.float64) * x
        if flags == "eye":
            return xp.eye(2)[1, ...] * x
        if flags == "assigned":
            y = xp.asarray([1.0, 1.0], copy=True)
            y[...] = b[1]
            return y * x
        return xp.astype(b[1] if flags == "astype" else x > INF, xp.float64) * x

    x = xp.asarray([-INF, 2.0])
    same(mode(product)(xp.asarray([True, False]), x), [NAN, 2.0] if flags == "eye" else [NAN, 0.0])


@pytest.mark.parametrize("function", ["matmul", "vecdot", "tensordot"])
def test_a_matrix_product_of_bools_and_floats_keeps_nan(function: str, mode: Mode) -> None:
    multiply = mode(lambda b, x: getattr(xp, function)(b, x, **({"axes": 1} if function == "tensordot" else {})))
    same(multiply(xp.asarray([True, False]), xp.asarray([1.0, NAN])), NAN)


def test_the_gradient_of_a_product_with_bools_is_the_bools(on_jax: None) -> None:
    flags, x = xp.asarray([True, False]), xp.asarray([3.0, 4.0])
    same(xp.value_and_grad(lambda x: xp.sum(flags * x))(x)[1], [1.0, 0.0])


def of_size(exponent: int, dtype: str) -> np.ndarray[Any, Any]:
    """A matrix of eigenvalues 2 and 5, or 2j and 5j, times 2**exponent."""
    turn = 1j if dtype.startswith("complex") else 1
    return (np.array([[3.0, 2.0], [1.0, 4.0]]) * 2.0**exponent * turn).astype(dtype)


@pytest.mark.parametrize("function", ["eig", "eigvals"])
@pytest.mark.parametrize(
    ("dtype", "exponents"),
    [
        ("float32", [-110, -41, -38, 0, 37, 38, 39, 40, 120]),
        ("complex64", [-110, 0, 38, 39, 120]),
        ("float64", [-1000, -460, -457, 0, 455, 456, 457, 458, 1018]),
        ("complex128", [-1000, 0, 456, 457, 1018]),
    ],
)
def test_eigenvalues_have_the_scale_of_the_matrix(function: str, dtype: str, exponents: list[int], mode: Mode) -> None:
    matrices = np.stack([of_size(exponent, dtype) for exponent in exponents])
    found = mode(getattr(xp.linalg, function))(xp.asarray(matrices))
    values = np.asarray(found if function == "eigvals" else found[0])
    assert values.dtype == np.result_type(dtype, "complex64")
    turn = 1j if dtype.startswith("complex") else 1
    relative = np.sort_complex(values.astype("complex128") / 2.0 ** np.array(exponents)[:, None] / turn)
    expected = np.broadcast_to([2.0, 5.0], relative.shape)
    np.testing.assert_allclose(relative, expected, rtol=16 * np.finfo(dtype).eps)  # a few roundings


def test_a_large_matrix_keeps_its_small_eigenvalues(mode: Mode) -> None:
    x = xp.asarray([[[1e200, 0.0], [0.0, 1e-100]], [[1e100, 0.0], [0.0, 1e-250]]])
    values = np.asarray(mode(xp.linalg.eigvals)(x))
    np.testing.assert_allclose(values, [[1e200, 1e-100], [1e100, 1e-250]], rtol=1e-15)


def test_eigenvalues_of_zero_nan_and_infinite_matrices(mode: Mode) -> None:
    x = xp.asarray([[[0.0, 0.0], [0.0, 0.0]], [[NAN, 1e200], [0.0, 1.0]], [[INF, 0.0], [0.0, 1.0]]])
    values = np.asarray(mode(xp.linalg.eigvals)(x))
    assert (values[0] == 0).all()
    assert np.isnan(values[1:]).all()


@pytest.mark.parametrize("exponent", [-600, 0, 600])
def test_the_gradient_of_the_trace_by_eigenvalues_is_the_identity(exponent: int, on_jax: None) -> None:
    def trace(x: xp.Array) -> xp.Array:
        return xp.sum(xp.real(xp.linalg.eigvals(x)))

    gradient = xp.value_and_grad(trace)(xp.asarray(of_size(exponent, "float64")))[1]
    np.testing.assert_allclose(np.asarray(gradient), np.eye(2), atol=1e-14)


@pytest.mark.parametrize("shape", EMPTY)
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("full", [True, False])
def test_svd_of_empty_matrices_is_that_of_numpy(shape: tuple[int, ...], dtype: str, full: bool, mode: Mode) -> None:
    x = np.zeros(shape, dtype)
    found = mode(lambda x: xp.linalg.svd(x, full_matrices=full))(xp.asarray(x))
    for one, other in zip(found, np.linalg.svd(x, full_matrices=full), strict=True):
        same(one, other)
    if full:
        same(mode(xp.linalg.svdvals)(xp.asarray(x)), np.linalg.svdvals(x))


@pytest.mark.parametrize("shape", EMPTY)
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("kind", ["reduced", "complete"])
def test_qr_of_empty_matrices_is_that_of_numpy(shape: tuple[int, ...], dtype: str, kind: Any, mode: Mode) -> None:
    x = np.zeros(shape, dtype)
    found = mode(lambda x: xp.linalg.qr(x, mode=kind))(xp.asarray(x))
    for one, other in zip(found, np.linalg.qr(x, mode=kind), strict=True):
        same(one, other)


@pytest.mark.parametrize("shape", EMPTY)
@pytest.mark.parametrize("dtype", FLOATING)
def test_norms_and_rank_of_empty_matrices_are_zero(shape: tuple[int, ...], dtype: str, mode: Mode) -> None:
    x = xp.asarray(np.zeros(shape, dtype))
    same(mode(lambda x: xp.linalg.matrix_norm(x, ord=2))(x), np.zeros(shape[:-2]))
    same(mode(lambda x: xp.linalg.matrix_norm(x, ord="nuc", keepdims=True))(x), np.zeros((*shape[:-2], 1, 1)))
    same(mode(xp.linalg.matrix_rank)(x), np.zeros(shape[:-2], np.int64))


@pytest.mark.parametrize("function", ["var", "std"])
@pytest.mark.parametrize("correction", [3, 3.5, 4, INF, NAN])
def test_no_degrees_of_freedom_give_nan(function: str, correction: float, mode: Mode) -> None:
    deviation = mode(lambda x: getattr(xp, function)(x, correction=correction))
    same(deviation(xp.asarray([1.0, 2.0, 4.0])), NAN)


def test_some_degrees_of_freedom_give_a_variance(mode: Mode) -> None:
    assert float(mode(lambda x: xp.var(x, correction=2.5))(xp.asarray([1.0, 2.0, 3.0]))) == 4.0


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(49,), (3, 41), (41, 2), (0, 3), (3, 0)])
def test_a_mean_is_divided_by_the_number(shape: tuple[int, ...], dtype: str, mode: Mode) -> None:
    x = xp.ones(shape, dtype=getattr(xp, dtype))
    for axis in (0, -1):
        expected = np.ones(np.ones(shape).sum(axis).shape, dtype) * (1 if shape[axis] else NAN)
        np.testing.assert_array_equal(np.asarray(mode(lambda x, axis=axis: xp.mean(x, axis=axis))(x)), expected)
    if x.size:
        assert complex(mode(xp.mean)(x)) == 1
        assert float(mode(xp.var)(x)) == 0


@pytest.mark.parametrize(
    ("times", "dtype", "invert"),
    [(1, "int64", False), (1, "int64", True), (1, "int8", False), (200, "int64", False)],  # so many are sorted
)
def test_isin_is_exact_for_uint64_beside_signed_integers(times: int, dtype: str, invert: bool, mode: Mode) -> None:
    unsigned = [2**53, 2**63, 2**64 - 1, 2**64 - 5, 0, 7] * times
    signed = ([2**53 + 1, -(2**63), -1, -5, 7] if dtype == "int64" else [-128, -1, -5, 7]) * times
    isin = mode(lambda x1, x2: xp.isin(x1, x2, invert=invert))
    x1, x2 = xp.asarray(unsigned, dtype=xp.uint64), xp.asarray(signed, dtype=getattr(xp, dtype))
    assert isin(x1, x2).tolist() == [(n in signed) != invert for n in unsigned]
    assert isin(x2, x1).tolist() == [(n in unsigned) != invert for n in signed]


def test_a_sorter_of_another_shape_is_refused(mode: Mode) -> None:
    search = mode(lambda x1, x2, sorter: xp.searchsorted(x1, x2, sorter=sorter))
    with pytest.raises(ValueError, match=r"sorter must have the shape of x1, \(3,\), not \(2,\)"):
        search(xp.asarray([3, 1, 2]), xp.asarray([1, 2]), xp.asarray([1, 2]))


@pytest.mark.parametrize("index", [3, -1])
def test_a_sorter_out_of_range_is_refused(index: int, on_jax: None) -> None:
    with pytest.raises(ValueError, match=r"^searchsorted: sorter must hold indices of x1, from 0 to 2$"):
        xp.searchsorted(xp.asarray([3, 1, 2]), xp.asarray([1, 2]), sorter=xp.asarray([1, 2, index]))


def test_searchsorted_takes_a_narrow_sorter(mode: Mode) -> None:
    search = mode(lambda x1, x2, sorter: xp.searchsorted(x1, x2, sorter=sorter))
    x1, sorter = xp.arange(200)[::-1], xp.arange(199, -1, -1, dtype=xp.uint8)
    assert search(x1, xp.asarray([3, 199, 500]), sorter).tolist() == [3, 199, 200]


@pytest.mark.parametrize(
    ("shift", "axis"),
    [
        ((1, 2), None),
        (10**20, None),
        (-(10**20), 0),
        ((10**20, -1), (0, 1)),
        ((2**62, 2**62), None),
        ((1, 2), 1),
        (1, (0, 1)),
        ((1,), (0, 1)),
        ((), 0),
        (-1, None),
    ],
)
def test_roll_takes_any_integers(shift: Any, axis: Any, mode: Mode) -> None:
    x = np.arange(6).reshape(2, 3)
    lengths = [x.size] if axis is None else [x.shape[n] for n in (axis if isinstance(axis, tuple) else (axis,))]
    least = math.lcm(*lengths)
    small = tuple(n % least for n in shift) if isinstance(shift, tuple) else shift % least
    same(mode(lambda x: xp.roll(x, shift, axis=axis))(xp.asarray(x)), np.roll(x, small, axis))


def test_roll_of_no_elements(mode: Mode) -> None:
    assert mode(lambda x: xp.roll(x, 10**20))(xp.zeros((0, 3))).shape == (0, 3)
    assert mode(lambda x: xp.roll(x, 10**20, axis=0))(xp.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("destination", [(0, 0), (1, -2)])
def test_moveaxis_refuses_one_place_for_two_axes(destination: tuple[int, int], mode: Mode) -> None:
    with pytest.raises(ValueError, match="source and destination must name as many different axes"):
        mode(lambda x: xp.moveaxis(x, (0, 1), destination))(xp.zeros((2, 3, 4)))


@pytest.mark.parametrize(
    ("start", "stop", "step", "dtype"),
    [
        (2**63 - 2, 2**63, 1, "int64"),
        (-(2**63), -(2**63) + 2, 1, "int64"),
        (2**64 - 1, 2**63, -(2**62), "uint64"),
        (250, 256, 1, "uint8"),
        (3, -1, -1, "uint8"),
        (2**63, 2**63, 1, "int64"),
        (300, 0, 1, "uint8"),
    ],
)
def test_arange_fills_the_range_of_its_dtype(start: int, stop: int, step: int, dtype: str, on_jax: None) -> None:
    assert xp.arange(start, stop, step, dtype=getattr(xp, dtype)).tolist() == list(range(start, stop, step))


@pytest.mark.parametrize(
    ("start", "stop", "num", "endpoint", "dtype"),
    [
        (4, 54, 55, True, "int64"),  # 29 at place 27
        (-1.0, 1.0, 21, True, "float64"),  # 0 at place 10
        (59, -73, 3000, False, "int32"),
        (-0.3, 0.9, 3000, True, "float64"),
        (-0.3, 0.9, 3000, False, "float32"),
        (0.1 - 2j, -0.7 + 0.3j, 3000, True, "complex128"),
        (-0.0, -1.0, 3, True, "float64"),
        (1e-300, 3e-300, 8, True, "float64"),
        (1e308, -1e308, 5, True, "float64"),
        (0.0, INF, 3, True, "float64"),
        (1.0, INF, 1, True, "float64"),
        (NAN, 1.0, 2, True, "float64"),
        (1 + 1j, INF, 3, True, "complex128"),
        (1.0, 2.0, 0, True, "float64"),
        (1.0, 2.0, 1, False, "float64"),
    ],
)
def test_a_line_rounds_its_products(
    start: complex, stop: complex, num: int, endpoint: bool, dtype: str, mode: Mode
) -> None:
    line = mode(lambda: xp.linspace(start, stop, num, endpoint=endpoint, dtype=getattr(xp, dtype)))()
    with np.errstate(all="ignore"):
        same(line, np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype))


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [
        (-1.0, 1.0, 0.1),
        (-0.7, 49.3, 0.01),
        (49.3, -0.7, -0.01),
        (1e10, 1e10 + 1, 0.1),  # by 0.0999985
        (3, 40, 0.0123),
        (1e308, 1.7e308, 1e308),
        (0.0, 5.0, INF),
        (0.0, 1e-300, 1e300),
        (0.0, -5.0, INF),
        (5.0, 5.0, 0.1),
    ],
)
def test_a_ramp_steps_by_the_difference_of_its_first_two(start: float, stop: float, step: float, mode: Mode) -> None:
    same(mode(lambda: xp.arange(start, stop, step))(), np.arange(start, stop, step))


@pytest.mark.sampled
@pytest.mark.parametrize("function", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize(
    ("s", "axes"),
    [
        ((-1,), (1,)),
        ((2, -1), (0, 1)),
        ((-1, 6), (-1, 0)),
        (None, (1, 1)),
        (None, (0, 1, 0)),
        (None, (1, -1)),
        ((2, 3, 5), (0, 1, 0)),
        ((-1, 3, -1), (1, 0, 1)),
    ],
)
def test_transforms_over_whole_and_repeated_axes(function: str, s: Any, axes: Any, mode: Mode) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4))
    transform = mode(lambda x: getattr(xp.fft, function)(x, s=s, axes=axes, norm="ortho"))
    given = xp.asarray(x.astype(complex) if function.startswith("i") else x)
    expected = getattr(np.fft, function)(x, s=s, axes=axes, norm="ortho")
    np.testing.assert_allclose(np.asarray(transform(given)), expected, atol=1e-13)


@pytest.mark.parametrize("s", [(0,), (-2,)])
def test_transforms_refuse_other_lengths(s: tuple[int], on_jax: None) -> None:
    with pytest.raises(ValueError, match="s must be positive"):
        xp.fft.fftn(xp.zeros((3, 4)), s=s, axes=(1,))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: xp.zeros((10**10, 10**10)), r"^zeros: no array holds 1e\+20 elements$"),
        (lambda: xp.ones((2**40, 2**40, 0)), r"^ones: no array holds 1\.21e\+24 elements$"),
        (lambda: xp.full((2**62, 4), 1.0), r"^full: no array holds 1\.84e\+19 elements$"),
        (lambda: xp.eye(10**10), r"^eye: no array holds 1e\+20 elements$"),
        (lambda: xp.broadcast_to(xp.ones(1), (10**10, 10**10)), "^broadcast_to: shape is too large, 10000000000$"),
        (lambda: xp.tile(xp.ones(2), (10**10, 10**10)), "^tile: repetitions is too large, 10000000000$"),
        (lambda: xp.repeat(xp.ones(2), 10**18), "^repeat: repeats is too large, 1000000000000000000$"),
        (lambda: xp.fft.fft(xp.ones(2), n=10**18), "^fft: n is too large, 1000000000000000000$"),
    ],
    ids="zeros ones full eye broadcast_to tile repeat fft".split(),
)
def test_an_array_that_no_memory_holds_is_refused_and_does_not_end_the_process(
    call: Callable[[], xp.Array], sentence: str
) -> None:
    with xp.backend("jax"), pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize(("dtype", "divisor"), [("float16", 300.0), ("float32", 1e20), ("float64", 1e200)])
def test_the_slope_by_a_divisor_is_right_where_its_square_overflows(dtype: str, divisor: float, on_jax: None) -> None:
    x, dividend = xp.asarray(divisor, dtype=dtype), divisor**1.5
    for slope in (xp.grad(lambda x: dividend / x), xp.jit(xp.grad(lambda x: dividend / x))):
        np.testing.assert_allclose(float(slope(x)), -dividend / divisor / divisor, rtol=2e-3)
    share = xp.grad(lambda x: x / (1 + x))
    np.testing.assert_allclose(float(share(x)), 1 / divisor / divisor, rtol=0.05, atol=1e-38)


ENDLESS: Final = complex(-INF, NAN)  # whose absolute value is infinity


@pytest.mark.parametrize(
    ("order", "expected"), [(0, 2.0), (1, INF), (3, INF), (0.5, INF), (INF, INF), (-1, 1.0), (-2, 1.0), (-INF, 1.0)]
)
def test_the_norm_of_a_vector_with_an_infinite_part_is_that_of_its_sizes(
    order: float, expected: float, mode: Mode
) -> None:
    norm = mode(lambda z: xp.linalg.vector_norm(z, ord=order))
    same(norm(xp.asarray([ENDLESS, 1])), expected)
    same(xp.vmap(norm)(xp.asarray([[ENDLESS, 1], [1, ENDLESS]])), [expected, expected])
    if order:
        same(norm(xp.asarray([ENDLESS, complex(NAN, 1)])), NAN)


@pytest.mark.parametrize(("order", "expected"), [(1, INF), (INF, INF), (-1, 3.0), (-INF, 3.0)])
def test_the_norm_of_a_matrix_with_an_infinite_part_is_that_of_its_sizes(
    order: Any, expected: float, mode: Mode
) -> None:
    norm = mode(lambda z: xp.linalg.matrix_norm(z, ord=order))
    same(norm(xp.asarray([[ENDLESS, 1], [1, 2]])), expected)
    same(norm(xp.asarray([[ENDLESS, 1], [1, NAN]])), NAN)


@pytest.mark.parametrize(("order", "expected"), [(1, [0.6, 0.0, 1.0]), (3, [0.6, 0.0, 0.0]), (INF, [0.6, 0.0, 0.0])])
def test_the_slope_of_a_complex_norm_is_that_of_its_sizes(order: float, expected: list[float], on_jax: None) -> None:
    def norm(x: xp.Array) -> xp.Array:
        return xp.linalg.vector_norm(x * xp.asarray([1, 1, 1j]) + xp.asarray([4e9j, 0, 0]), ord=order)

    for slope in (xp.grad(norm), xp.jit(xp.grad(norm))):
        np.testing.assert_allclose(np.asarray(slope(xp.asarray([3e9, 0.0, 1.0]))), expected, atol=1e-15)


@pytest.mark.sampled
@pytest.mark.parametrize("integer", ["bool", "int8", "uint8", "int16", "int64"])
@pytest.mark.parametrize(("floating", "expected"), [("float32", "float64"), ("complex64", "complex128")])
def test_integers_count_as_float64_in_solve(integer: str, floating: str, expected: str, mode: Mode) -> None:
    solve = mode(xp.linalg.solve)
    matrix, vector = np.eye(2), np.array([1.0, 0.0])
    whole, narrow = (xp.asarray(matrix.astype(dtype)) for dtype in (integer, floating))
    same(solve(whole, xp.asarray(vector.astype(floating))), vector.astype(expected))
    same(solve(narrow, xp.asarray(vector.astype(integer))), vector.astype(expected))


@pytest.mark.parametrize("counts", [[1, 0, 2], [2], 2])
def test_an_array_is_repeated_by_counts_of_uint64(counts: Any, on_jax: None) -> None:
    x = np.array([1.0, 2.0, 3.0])
    same(xp.repeat(xp.asarray(x), xp.asarray(counts, dtype=xp.uint64)), np.repeat(x, counts))


@pytest.mark.parametrize("counts", [[True, False], [True], True])
def test_an_array_is_not_repeated_by_bools(counts: Any, mode: Mode) -> None:
    with pytest.raises(TypeError, match="repeats must have an integer dtype, not bool"):
        mode(xp.repeat)(xp.asarray([1.0, 2.0]), xp.asarray(counts))


TRANSFORMS: Final = ["fftn", "ifftn", "rfftn", "irfftn"]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3), (0, 0)])
@pytest.mark.parametrize("function", TRANSFORMS)
def test_no_elements_are_not_transformed(function: str, shape: tuple[int, ...], mode: Mode) -> None:
    x = xp.zeros(shape, dtype=xp.complex128 if function.startswith("i") else xp.float64)
    with pytest.raises(
        ValueError, match=rf"{function}: x of shape \({str(shape)[1:-1]}\) has no elements to transform"
    ):
        mode(getattr(xp.fft, function))(x)


@pytest.mark.parametrize("function", TRANSFORMS)
def test_another_axis_without_elements_is_kept(function: str, mode: Mode) -> None:
    x = np.zeros((0, 4), complex if function.startswith("i") else float)
    same(
        mode(lambda x: getattr(xp.fft, function)(x, axes=(1,)))(xp.asarray(x)), getattr(np.fft, function)(x, axes=(1,))
    )


@pytest.mark.parametrize("function", TRANSFORMS)
def test_a_transform_over_no_lengths_is_complex_or_refused(function: str, mode: Mode) -> None:
    transform = mode(lambda x: getattr(xp.fft, function)(x, s=()))
    for x in (np.asarray(1.0), np.ones(2)):
        given = xp.asarray(x.astype(complex) if function.startswith("i") else x)
        if "r" in function:
            with pytest.raises(ValueError, match=f"{function}: "):
                transform(given)
        else:
            same(transform(given), x.astype(complex))


def test_clip_without_bounds_is_what_is_given(mode: Mode) -> None:
    same(mode(xp.clip)(xp.asarray([1j])), [1j])


def test_an_imaginary_number_is_true_in_a_sum_of_bools(mode: Mode) -> None:
    assert mode(lambda x: xp.sum(x, dtype=xp.bool))(xp.asarray([0, 1j])).tolist() is True
    assert mode(lambda x: xp.prod(x, dtype=xp.bool))(xp.asarray([1j, 2j])).tolist() is True


def test_clip_with_a_bound_refuses_complex_numbers(mode: Mode) -> None:
    with pytest.raises(TypeError, match=r"^clip: x must have a real numeric dtype, not complex128"):
        mode(lambda x: xp.clip(x, 0))(xp.asarray([1j]))


@pytest.mark.parametrize("repetitions", [(2, -1), (-1,), (1, -2, 1)])
def test_negative_repetitions_are_refused(repetitions: tuple[int, ...], mode: Mode) -> None:
    with pytest.raises(ValueError, match=r"^tile: repetitions must not be negative, not \("):
        mode(lambda x: xp.tile(x, repetitions))(xp.asarray([1, 2, 3]))


FACTORINGS: Final = "cholesky det eig eigh eigvals eigvalsh inv matrix_rank pinv qr slogdet svd svdvals".split()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("function", FACTORINGS)
def test_a_dtype_that_lapack_lacks_is_refused_by_name(function: str, dtype: str, mode: Mode) -> None:
    with pytest.raises(TypeError, match=f"^{function}: x must not have the dtype {dtype} on this backend"):
        mode(getattr(xp.linalg, function))(xp.eye(4, dtype=getattr(xp, dtype)))


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("matrix_norm", lambda x: xp.linalg.matrix_norm(x, ord=2)),
        ("matrix_power", lambda x: xp.linalg.matrix_power(x, -1)),
    ],
)
def test_an_option_that_asks_for_lapack_is_refused_by_name(
    function: str, call: Callable[[xp.Array], xp.Array], mode: Mode
) -> None:
    with pytest.raises(TypeError, match=f"^{function}: x must not have the dtype float16 on this backend"):
        mode(call)(xp.eye(4, dtype=xp.float16))


def test_what_takes_no_lapack_is_in_half_precision(mode: Mode) -> None:
    x = np.eye(2, dtype="float16")
    same(mode(xp.linalg.det)(xp.asarray(x)), np.float16(1))
    same(mode(lambda x: xp.linalg.matrix_power(x, 2))(xp.asarray(x)), x)
    same(mode(xp.linalg.pinv)(xp.zeros((0, 3), dtype=xp.float16)), np.zeros((3, 0), "float16"))


ROWS: Final = np.random.default_rng(7).standard_normal((7, 3, 5000)).astype(np.float32)
"""Rows so long that they are joined by halves."""


@pytest.mark.sampled
@pytest.mark.parametrize("axis", [0, 1, -2, (0, 1), (1, 0)])
@pytest.mark.parametrize("function", ["sum", "max", "min", "mean", "std", "count_nonzero"])
def test_long_rows_are_reduced_to_the_values_of_numpy(function: str, axis: Any, mode: Mode) -> None:
    x = np.round(ROWS) if function == "count_nonzero" else ROWS
    with xp.backend("numpy"):
        expected = np.asarray(getattr(xp, function)(x, axis=axis, keepdims=True))
    found = mode(lambda a: getattr(xp, function)(a, axis=axis, keepdims=True))(xp.asarray(x))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("on_jax")
def test_a_reduction_of_long_rows_has_the_slopes_of_a_short_one() -> None:
    x = xp.asarray(np.round(ROWS[:, 0]))  # in which a column's largest value is there more than once

    def largest(a: xp.Array) -> xp.Array:
        return xp.sum(xp.max(a, axis=0) * xp.sum(a, axis=0))

    of_short = xp.concat([xp.grad(largest)(x[:, at : at + 100]) for at in range(0, 5000, 100)], axis=1)
    assert xp.all(xp.grad(largest)(x) == of_short)


@pytest.mark.usefixtures("on_jax")
def test_a_tall_matrix_takes_no_memory_for_a_full_one() -> None:
    x = xp.reshape(xp.arange(400_000.0), (200_000, 2))  # of which a full one takes 320 GB
    values = xp.linalg.svdvals(x)
    assert xp.linalg.matrix_rank(x) == 2
    assert xp.linalg.pinv(x).shape == (2, 200_000)
    for order, expected in ((2, values[0]), (-2, values[1]), ("nuc", xp.sum(values))):
        assert xp.linalg.matrix_norm(x, ord=order) == expected
