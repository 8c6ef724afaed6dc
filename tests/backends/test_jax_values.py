"""Values that XLA, LAPACK or `jax.numpy` get wrong.

They are computed eagerly, in our jit, and in the user's own, which has 32 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest
from comparison import each

import anyarray as xp

jax = pytest.importorskip("jax")

Function = Callable[..., Any]
NDArray = np.ndarray[Any, Any]
INF: Final = math.inf
NAN: Final = math.nan
MODES: Final[dict[str, Callable[[Any], Any]]] = {"eager": lambda function: function, "jit": xp.jit, "jax.jit": jax.jit}
EMPTY: Final = [(0, 0), (0, 3), (2, 3, 0)]
FLOATING: Final = ["float64", "complex128"]


@pytest.fixture(autouse=True)
def on_jax() -> Iterator[None]:
    """JAX is chosen around each test."""
    with xp.backend("jax"):
        yield


def same(actual: Any, expected: Any) -> None:
    """Assert that values, signs of zeros and dtype are the same."""
    found, wanted = np.asarray(actual), np.asarray(expected)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(found, wanted)
    for part in ("real", "imag"):
        one, other = getattr(found, part), getattr(wanted, part)
        assert (np.isnan(one) | (np.signbit(one) == np.signbit(other))).all()


OTHERS: Final = [NAN, INF, -INF, -0.0, 0.0, -2.0, 3.0]
FLAGS: Final = np.array([[True], [False]])
ENDLESS: Final = complex(-INF, NAN)  # whose absolute value is infinity
INTEGERS: Final = ["bool", "int8", "uint8", "int16", "int64"]
TRANSFORMS: Final = ["fftn", "ifftn", "rfftn", "irfftn"]
ROWS: Final = np.random.default_rng(7).standard_normal((7, 3, 5000)).astype(np.float32)
"""Rows so long that they are joined by halves."""
Row = tuple[Function, tuple[Any, ...], Any]


def product(b: Any, x: Any) -> Any:
    return b * x


def assigned(b: xp.Array, x: xp.Array) -> xp.Array:
    y = xp.asarray([1.0, 1.0], copy=True)
    y[...] = b[1]
    return y * x


def given(name: str, x: Any) -> NDArray:
    """An argument of a transform."""
    return np.asarray(x).astype(complex if name.startswith("i") else float)


def isin(times: int, dtype: str, invert: bool) -> Iterator[Row]:
    unsigned = [2**53, 2**63, 2**64 - 1, 2**64 - 5, 0, 7] * times
    signed = ([2**53 + 1, -(2**63), -1, -5, 7] if dtype == "int64" else [-128, -1, -5, 7]) * times
    arrays = np.asarray(unsigned, np.uint64), np.asarray(signed, dtype)
    yield lambda x1, x2: xp.isin(x1, x2, invert=invert), arrays, [(n in signed) != invert for n in unsigned]
    yield lambda x1, x2: xp.isin(x2, x1, invert=invert), arrays, [(n in unsigned) != invert for n in signed]


def rolled(shift: Any, axis: Any) -> Row:
    x = np.arange(6).reshape(2, 3)
    lengths = [x.size] if axis is None else [x.shape[n] for n in (axis if isinstance(axis, tuple) else (axis,))]
    least = math.lcm(*lengths)
    small = tuple(n % least for n in shift) if isinstance(shift, tuple) else shift % least
    return lambda x: xp.roll(x, shift, axis=axis), (x,), np.roll(x, small, axis)


def with_mean(shape: tuple[int, ...], dtype: str, axis: int) -> Row:
    wanted = np.ones(np.ones(shape).sum(axis).shape, dtype) * (1 if shape[axis] else NAN)
    return lambda x: xp.mean(x, axis=axis), (np.ones(shape, dtype),), wanted.astype(dtype)


def norms(order: float, sizes: Any, of_nan: bool) -> Iterator[Row]:
    def norm(z: xp.Array) -> xp.Array:
        return xp.linalg.vector_norm(z, ord=order)

    yield norm, (np.asarray([ENDLESS, 1]),), sizes
    yield xp.vmap(norm), (np.asarray([[ENDLESS, 1], [1, ENDLESS]]),), [sizes, sizes]
    if of_nan:
        yield norm, (np.asarray([ENDLESS, complex(NAN, 1)]),), NAN


ROLLS: Final = [
    ((1, 2), None), (10**20, None), (-(10**20), 0), ((10**20, -1), (0, 1)), ((2**62, 2**62), None), ((1, 2), 1),
    (1, (0, 1)), ((1,), (0, 1)), ((), 0), (-1, None),
]  # fmt: skip
LINES: Final = [
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
]
RAMPS: Final = [
    (-1.0, 1.0, 0.1), (-0.7, 49.3, 0.01), (49.3, -0.7, -0.01), (3, 40, 0.0123), (1e308, 1.7e308, 1e308),
    (1e10, 1e10 + 1, 0.1),  # by 0.0999985
    (0.0, 5.0, INF), (0.0, 1e-300, 1e300), (0.0, -5.0, INF), (5.0, 5.0, 0.1),
]  # fmt: skip
HALF: Final = np.eye(2, dtype="float16")

with np.errstate(all="ignore"):
    VALUES: Final[dict[str, list[Row]]] = {
        "a narrow index counts from the end of a long axis": [
            (read, (np.arange(length), np.asarray([-1, -128, 127], dtype)), [length - 1, length - 128, 127])
            for read in (xp.take, xp.take_along_axis, lambda x, i: x[i])
            for length in (200, 300, 40_000)
            for dtype in ("int8", "int16")
        ],
        "bool times float is a product": [
            row
            for others in (*[np.array(OTHERS, f"float{bits}") for bits in (16, 32, 64)], np.resize(OTHERS, 100_000))
            for row in ((product, (FLAGS, others), FLAGS * others), (product, (others, FLAGS), FLAGS * others))
        ],
        "bool times a Python number is a product": [
            (lambda b, n=n: b * n, (FLAGS[:, 0],), FLAGS[:, 0] * n) for n in (NAN, INF, -1.0, -0.0, complex(INF, 1))
        ],
        "bool times complex is a product": [
            (product, (FLAGS, z), FLAGS * z)
            for z in [np.array([complex(INF, 1), complex(NAN, -1), complex(1, INF), complex(-1, 2)])]
        ],
        "what was a bool counts as a factor": [
            (f, (np.asarray([True, False]), np.asarray([-INF, 2.0])), [NAN, 0.0])
            for f in (
                lambda b, x: xp.full((2,), b[1], dtype=xp.float64) * x,
                assigned,
                lambda b, x: xp.astype(b[1], xp.float64) * x,
                lambda b, x: xp.astype(x > INF, xp.float64) * x,
            )
        ] + [(lambda x: xp.eye(2)[1, ...] * x, (np.asarray([-INF, 2.0]),), [NAN, 2.0])],
        "a matrix product of bools and floats keeps nan": [
            (f, (np.asarray([True, False]), np.asarray([1.0, NAN])), NAN)
            for f in (xp.matmul, xp.vecdot, lambda x1, x2: xp.tensordot(x1, x2, axes=1))
        ],
        "svd and qr of empty matrices are those of numpy": [
            row
            for x in [np.zeros(shape, dtype) for shape in EMPTY for dtype in FLOATING]
            for full in (True, False)
            for row in (
                (lambda x, full=full: xp.linalg.svd(x, full_matrices=full), (x,), np.linalg.svd(x, full_matrices=full)),
                (
                    lambda x, mode="complete" if full else "reduced": xp.linalg.qr(x, mode=mode), (x,),
                    np.linalg.qr(x, mode="complete" if full else "reduced"),
                ),
            )
        ],
        "singular values, norms and the rank of empty matrices are zero": [
            row
            for x in [np.zeros(shape, dtype) for shape in EMPTY for dtype in FLOATING]
            for row in (
                (xp.linalg.svdvals, (x,), np.linalg.svdvals(x)),
                (lambda x: xp.linalg.matrix_norm(x, ord=2), (x,), np.zeros(x.shape[:-2])),
                (lambda x: xp.linalg.matrix_norm(x, ord="nuc", keepdims=True), (x,), np.zeros((*x.shape[:-2], 1, 1))),
                (xp.linalg.matrix_rank, (x,), np.zeros(x.shape[:-2], np.int64)),
            )
        ],
        "no degrees of freedom give nan": [
            (lambda x, f=f, n=n: f(x, correction=n), (np.asarray([1.0, 2.0, 4.0]),), NAN)
            for f in (xp.var, xp.std)
            for n in (3, 3.5, 4, INF, NAN)
        ],
        "some degrees of freedom give a variance": [
            (lambda x: xp.var(x, correction=2.5), (np.asarray([1.0, 2.0, 3.0]),), 4.0)
        ],
        "a mean is divided by the number": [
            *[
                with_mean(shape, dtype, axis)
                for shape in [(49,), (3, 41), (41, 2), (0, 3), (3, 0)]
                for dtype in ("float16", "float32", "float64", "complex64")
                for axis in (0, -1)
            ],
            (xp.mean, (np.ones((3, 41)),), 1.0),
            *[(xp.var, (np.ones((3, 41), dtype),), np.zeros((), dtype)) for dtype in ("float16", "float64")],
        ],
        "isin is exact for uint64 beside signed integers": [
            row
            for options in [(1, "int64", False), (1, "int64", True), (1, "int8", False), (200, "int64", False)]
            for row in isin(*options)
        ],
        "searchsorted takes a narrow sorter": [(
            lambda x1, x2, sorter: xp.searchsorted(x1, x2, sorter=sorter),
            (np.arange(200)[::-1], np.asarray([3, 199, 500]), np.arange(199, -1, -1).astype(np.uint8)), [3, 199, 200],
        )],
        "roll takes any integers": [
            *[rolled(*row) for row in ROLLS],
            (lambda x: xp.roll(x, 10**20), (np.zeros((0, 3)),), np.zeros((0, 3))),
            (lambda x: xp.roll(x, 10**20, axis=0), (np.zeros((0, 3)),), np.zeros((0, 3))),
        ],
        "a line rounds its products": [
            (
                lambda a=a, b=b, n=n, end=end, dtype=dtype: xp.linspace(a, b, n, endpoint=end, dtype=dtype), (),
                np.linspace(a, b, n, endpoint=end, dtype=dtype),
            )
            for a, b, n, end, dtype in LINES
        ],
        "a ramp steps by the difference of its first two": [
            (lambda ends=ends: xp.arange(*ends), (), np.arange(*ends)) for ends in RAMPS
        ],
        "the norm of a vector with an infinite part is that of its sizes": [
            row
            for order, sizes in [(0, 2.0), *[(n, INF) for n in (1, 3, 0.5, INF)], *[(-n, 1.0) for n in (1, 2, INF)]]
            for row in norms(order, sizes, of_nan=bool(order))
        ],
        "the norm of a matrix with an infinite part is that of its sizes": [
            (lambda z, n=n: xp.linalg.matrix_norm(z, ord=n), (np.asarray([[ENDLESS, 1], [1, last]]),), wanted)
            for n, sizes in [(1, INF), (INF, INF), (-1, 3.0), (-INF, 3.0)]
            for last, wanted in ((2, sizes), (NAN, NAN))
        ],
        "integers count as float64 in solve": [
            row
            for n in INTEGERS
            for floating, dtype in (("float32", "float64"), ("complex64", "complex128"))
            for v in [np.asarray([1.0, 0.0])]
            for row in (
                (xp.linalg.solve, (np.eye(2).astype(n), v.astype(floating)), v.astype(dtype)),
                (xp.linalg.solve, (np.eye(2).astype(floating), v.astype(n)), v.astype(dtype)),
            )
        ],
        "another axis without elements is kept": [
            (
                lambda x, name=name: getattr(xp.fft, name)(x, axes=(1,)), (given(name, np.zeros((0, 4))),),
                getattr(np.fft, name)(given(name, np.zeros((0, 4))), axes=(1,)),
            )
            for name in TRANSFORMS
        ],
        "a transform over no lengths is complex": [
            (lambda x, name=name: getattr(xp.fft, name)(x, s=()), (given(name, x),), x.astype(complex))
            for name in ("fftn", "ifftn")
            for x in (np.asarray(1.0), np.ones(2))
        ],
        "clip without bounds is what is given": [(xp.clip, (np.asarray([1j]),), [1j])],
        "an imaginary number is true in a sum of bools": [
            (lambda x: xp.sum(x, dtype=xp.bool), (np.asarray([0, 1j]),), True),
            (lambda x: xp.prod(x, dtype=xp.bool), (np.asarray([1j, 2j]),), True),
        ],
        "what takes no lapack is in half precision": [
            (xp.linalg.det, (HALF,), np.float16(1)),
            (lambda x: xp.linalg.matrix_power(x, 2), (HALF,), HALF),
            (xp.linalg.pinv, (np.zeros((0, 3), "float16"),), np.zeros((3, 0), "float16")),
        ],
    }  # fmt: skip
"""Functions, arrays, and the values, signs of zeros and dtypes that they give."""
NEAR: Final[list[Row]] = [
    *[
        (
            lambda x, name=name, s=s, axes=axes: getattr(xp.fft, name)(x, s=s, axes=axes, norm="ortho"),
            (given(name, np.random.default_rng(0).normal(size=(3, 4))),),
            getattr(np.fft, name)(np.random.default_rng(0).normal(size=(3, 4)), s=s, axes=axes, norm="ortho"),
        )
        for name in TRANSFORMS
        for s, axes in [
            ((-1,), (1,)), ((2, -1), (0, 1)), ((-1, 6), (-1, 0)), (None, (1, 1)), (None, (0, 1, 0)), (None, (1, -1)),
            ((2, 3, 5), (0, 1, 0)), ((-1, 3, -1), (1, 0, 1)),
        ]
    ],
    *[
        (
            lambda x, name=name, axis=axis: getattr(xp, name)(x, axis=axis, keepdims=True),
            (np.round(ROWS) if name == "count_nonzero" else ROWS,),
            getattr(np, name)(np.round(ROWS) if name == "count_nonzero" else ROWS, axis=axis, keepdims=True),
        )
        for name in ("sum", "max", "min", "mean", "std", "count_nonzero")
        for axis in (0, 1, -2, (0, 1), (1, 0))
    ],
]  # fmt: skip
"""The same of transforms over whole and repeated axes and of long rows, but for rounding."""


def found_in(mode: str, rows: list[Row]) -> list[Any]:
    """What the functions give: eagerly, or compiled together."""

    def results(*xs: list[xp.Array]) -> list[Any]:
        return [function(*arrays) for (function, *_), arrays in zip(rows, xs, strict=True)]

    return list(MODES[mode](results)(*[list(map(xp.asarray, arrays)) for _, arrays, _ in rows]))


@pytest.mark.parametrize("mode", MODES)
@each("claim", VALUES)
def test_values_are_right(claim: str, mode: str, pytestconfig: pytest.Config) -> None:
    is_slow = mode == "eager" and not pytestconfig.getoption("--all-cases")
    rows = VALUES[claim][:: 4 if is_slow else 1]
    for found, (*_, wanted) in zip(found_in(mode, rows), rows, strict=True):
        is_several = isinstance(wanted, tuple)
        for one, other in zip(found if is_several else [found], wanted if is_several else [wanted], strict=True):
            same(one, other)


@pytest.mark.parametrize("mode", MODES)
def test_values_are_right_but_for_rounding(mode: str) -> None:
    rows = NEAR if mode == "jit" else NEAR[::4]
    for found, (*_, wanted) in zip(found_in(mode, rows), rows, strict=True):
        tolerance = 1e-13 if wanted.dtype.name in FLOATING else 1e-5
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=10 * tolerance, atol=tolerance)


FACTORINGS: Final = "cholesky det eig eigh eigvals eigvalsh inv matrix_rank pinv qr slogdet svd svdvals".split()
OF_LAPACK: Final[dict[str, Function]] = {
    **{name: getattr(xp.linalg, name) for name in FACTORINGS},
    "matrix_norm": lambda x: xp.linalg.matrix_norm(x, ord=2),
    "matrix_power": lambda x: xp.linalg.matrix_power(x, -1),
}
THREE: Final = np.asarray([3, 1, 2])
REFUSED: Final[list[tuple[Function, tuple[Any, ...], type[Exception], str]]] = [
    (lambda x, y: xp.searchsorted(x, y, sorter=y), (THREE, THREE[:2]), ValueError,
     r"sorter must have the shape of x1, \(3,\), not \(2,\)"),
    *[(lambda x, to=to: xp.moveaxis(x, (0, 1), to), (np.zeros((2, 3, 4)),), ValueError,
       "source and destination must name as many different axes") for to in ((0, 0), (1, -2))],
    *[(xp.repeat, (np.ones(2), np.asarray(counts)), TypeError, "repeats must have an integer dtype, not bool")
      for counts in ([True, False], [True], True)],
    *[(getattr(xp.fft, name), (given(name, np.zeros(shape)),), ValueError,
       rf"{name}: x of shape \({str(shape)[1:-1]}\) has no elements to transform")
      for name in TRANSFORMS for shape in [(0, 3), (3, 0), (2, 0, 3), (0, 0)]],
    *[(lambda x, name=name: getattr(xp.fft, name)(x, s=()), (given(name, x),), ValueError, f"{name}: ")
      for name in ("rfftn", "irfftn") for x in (np.asarray(1.0), np.ones(2))],
    (lambda x: xp.clip(x, 0), (np.asarray([1j]),), TypeError,
     r"^clip: x must have a real numeric dtype, not complex128"),
    *[(lambda x, n=n: xp.tile(x, n), (THREE,), ValueError, r"^tile: repetitions must not be negative, not \(")
      for n in ((2, -1), (-1,), (1, -2, 1))],
    *[(function, (np.eye(4, dtype=dtype),), TypeError,
       f"^{name}: x must not have the dtype {dtype} on this backend")
      for name, function in OF_LAPACK.items() for dtype in (xp.float16.dtype, xp.bfloat16.dtype)],
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@each("function, arrays, error, sentence", REFUSED)
def test_what_is_wrong_is_refused(
    function: Function, arrays: tuple[Any, ...], error: type[Exception], sentence: str, mode: str
) -> None:
    with pytest.raises(error, match=sentence):
        MODES[mode](function)(*map(xp.asarray, arrays))


def test_an_index_beyond_int64_does_not_count_from_the_end() -> None:
    beyond = xp.asarray([2**64 - 1, 1], dtype=xp.uint64)
    same(xp.jit(xp.take)(xp.asarray([1.0, 2.0]), beyond), [NAN, 2.0])


@each(
    "value, wanted",
    [([[5.0, 6.0]], [5, 1, 6]), ([[[5.0, 6.0]]], [5, 1, 6]), ([[5.0]], [5, 1, 5]), ([[5.0], [6.0]], None),
     ([[5.0, 6.0, 7.0]], None)],
)  # fmt: skip
def test_a_masked_assignment_takes_leading_axes_of_length_one(value: Any, wanted: Any) -> None:
    x = xp.asarray([0.0, 1.0, 2.0])
    mask = xp.asarray([True, False, True])
    if wanted is None:
        with pytest.raises(ValueError, match="does not broadcast"):
            x[mask] = xp.asarray(value)
    else:
        x[mask] = xp.asarray(value)
        assert x.tolist() == wanted


def test_the_gradient_of_a_product_with_bools_is_the_bools() -> None:
    flags, x = xp.asarray([True, False]), xp.asarray([3.0, 4.0])
    same(xp.value_and_grad(lambda x: xp.sum(flags * x))(x)[1], [1.0, 0.0])


def of_size(exponent: int, dtype: str) -> NDArray:
    """A matrix of eigenvalues 2 and 5, or 2j and 5j, times 2**exponent."""
    turn = 1j if dtype.startswith("complex") else 1
    return (np.array([[3.0, 2.0], [1.0, 4.0]]) * 2.0**exponent * turn).astype(dtype)


EXPONENTS: Final = {
    "float32": [-110, -41, -38, 0, 37, 38, 39, 40, 120],
    "complex64": [-110, 0, 38, 39, 120],
    "float64": [-1000, -460, -457, 0, 455, 456, 457, 458, 1018],
    "complex128": [-1000, 0, 456, 457, 1018],
}


@pytest.mark.parametrize("mode", MODES)
@each("dtype", EXPONENTS)
def test_eigenvalues_have_the_scale_of_the_matrix(dtype: str, mode: str) -> None:
    matrices = xp.asarray(np.stack([of_size(exponent, dtype) for exponent in EXPONENTS[dtype]]))
    turn = 1j if dtype.startswith("complex") else 1
    for values in MODES[mode](lambda x: (xp.linalg.eigvals(x), xp.linalg.eig(x)[0]))(matrices):
        assert values.dtype == np.result_type(dtype, "complex64").name
        relative = np.asarray(values).astype("complex128") / 2.0 ** np.array(EXPONENTS[dtype])[:, None] / turn
        expected = np.broadcast_to([2.0, 5.0], relative.shape)
        # a few roundings
        np.testing.assert_allclose(np.sort_complex(relative), expected, rtol=16 * np.finfo(dtype).eps)


@pytest.mark.parametrize("mode", MODES)
def test_eigenvalues_of_matrices_of_extreme_elements(mode: str) -> None:
    large = np.asarray([[[1e200, 0.0], [0.0, 1e-100]], [[1e100, 0.0], [0.0, 1e-250]]])
    odd = np.asarray([[[0.0, 0.0], [0.0, 0.0]], [[NAN, 1e200], [0.0, 1.0]], [[INF, 0.0], [0.0, 1.0]]])
    values = np.asarray(MODES[mode](xp.linalg.eigvals)(xp.asarray(np.concatenate([large, odd]))))
    np.testing.assert_allclose(values[:2], [[1e200, 1e-100], [1e100, 1e-250]], rtol=1e-15)
    assert (values[2] == 0).all()
    assert np.isnan(values[3:]).all()


@each("exponent", [-600, 0, 600])
def test_the_gradient_of_the_trace_by_eigenvalues_is_the_identity(exponent: int) -> None:
    gradient = xp.grad(lambda x: xp.sum(xp.real(xp.linalg.eigvals(x))))(xp.asarray(of_size(exponent, "float64")))
    np.testing.assert_allclose(np.asarray(gradient), np.eye(2), atol=1e-14)


@each("index", [3, -1])
def test_a_sorter_out_of_range_is_refused(index: int) -> None:
    with pytest.raises(ValueError, match=r"^searchsorted: sorter must hold indices of x1, from 0 to 2$"):
        xp.searchsorted(xp.asarray(THREE), xp.asarray([1, 2]), sorter=xp.asarray([1, 2, index]))


@each(
    "start, stop, step, dtype",
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
def test_arange_fills_the_range_of_its_dtype(start: int, stop: int, step: int, dtype: str) -> None:
    assert xp.arange(start, stop, step, dtype=getattr(xp, dtype)).tolist() == list(range(start, stop, step))


@each("s", [(0,), (-2,)])
def test_transforms_refuse_other_lengths(s: tuple[int]) -> None:
    with pytest.raises(ValueError, match="s must be positive"):
        xp.fft.fftn(xp.zeros((3, 4)), s=s, axes=(1,))


@each(
    "call, sentence",
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
)
def test_an_array_that_no_memory_holds_is_refused_and_does_not_end_the_process(call: Function, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


@each("dtype, divisor", [("float16", 300.0), ("float32", 1e20), ("float64", 1e200)])
def test_the_slope_by_a_divisor_is_right_where_its_square_overflows(dtype: str, divisor: float) -> None:
    dividend = divisor**1.5
    slopes = xp.jit(lambda x: (xp.grad(lambda x: dividend / x)(x), xp.grad(lambda x: x / (1 + x))(x)))
    of_divisor, share = slopes(xp.asarray(divisor, dtype=dtype))
    np.testing.assert_allclose(float(of_divisor), -dividend / divisor / divisor, rtol=2e-3)
    np.testing.assert_allclose(float(share), 1 / divisor / divisor, rtol=0.05, atol=1e-38)


@each("order, expected", [(1, [0.6, 0.0, 1.0]), (3, [0.6, 0.0, 0.0]), (INF, [0.6, 0.0, 0.0])])
def test_the_slope_of_a_complex_norm_is_that_of_its_sizes(order: float, expected: list[float]) -> None:
    def norm(x: xp.Array) -> xp.Array:
        return xp.linalg.vector_norm(x * xp.asarray([1, 1, 1j]) + xp.asarray([4e9j, 0, 0]), ord=order)

    np.testing.assert_allclose(np.asarray(xp.jit(xp.grad(norm))(xp.asarray([3e9, 0.0, 1.0]))), expected, atol=1e-15)


@each("counts", [[1, 0, 2], [2], 2])
def test_an_array_is_repeated_by_counts_of_uint64(counts: Any) -> None:
    x = np.array([1.0, 2.0, 3.0])
    same(xp.repeat(xp.asarray(x), xp.asarray(counts, dtype=xp.uint64)), np.repeat(x, counts))


def test_a_reduction_of_long_rows_has_the_slopes_of_a_short_one() -> None:
    x = xp.asarray(np.round(ROWS[:, 0]))  # in which a column's largest value is there more than once

    def largest(a: xp.Array) -> xp.Array:
        return xp.sum(xp.max(a, axis=0) * xp.sum(a, axis=0))

    slope = xp.jit(xp.grad(largest))
    of_short = xp.concat([slope(x[:, at : at + 100]) for at in range(0, 5000, 100)], axis=1)
    assert xp.all(slope(x) == of_short)


def test_a_tall_matrix_takes_no_memory_for_a_full_one() -> None:
    x = xp.reshape(xp.arange(400_000.0), (200_000, 2))  # of which a full one takes 320 GB
    values = xp.linalg.svdvals(x)
    assert xp.linalg.matrix_rank(x) == 2
    assert xp.linalg.pinv(x).shape == (2, 200_000)
    for order, expected in ((2, values[0]), (-2, values[1]), ("nuc", xp.sum(values))):
        assert xp.linalg.matrix_norm(x, ord=order) == expected


def test_an_array_for_which_there_is_no_memory_does_not_end_the_process(forked: Callable[..., str]) -> None:
    found = forked("""
        import anyarray as xp, numpy as np
        programs = [
            lambda: np.asarray(xp.arange(0, 2**40, 2)),
            lambda: np.asarray(xp.eye(2**40, 3)),
            lambda: np.asarray(xp.fft.fft(xp.ones(4), n=2**38)),
            lambda: xp.linspace(0, 1, 2**40).to_device("numpy"),
            lambda: np.from_dlpack(xp.linspace(0, 1, 2**40)),
        ]
        for program in programs:
            with xp.backend("jax"):
                try:
                    program()
                except Exception as error:
                    print("ut of memory" in str(error))
    """)
    assert found.split() == ["True"] * 5
