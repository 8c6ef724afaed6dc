"""Values that TensorFlow's kernels refuse or miss.

They are computed eagerly, in a graph of unknown lengths and compiled by XLA.
"""

from __future__ import annotations

import contextlib
import fractions
import functools
import itertools
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest
from comparison import each

import anyarray as xp

tf = pytest.importorskip("tensorflow", reason="these tests are about TensorFlow")

Function = Callable[..., Any]
NDArray = npt.NDArray[Any]
Dealt = Callable[[dict[Any, Any], int, int], dict[Any, Any]]


@pytest.fixture(autouse=True)
def on_tensorflow() -> Any:
    with xp.backend("tf"):
        yield


def eagerly(function: Function, *arrays: NDArray) -> NDArray:
    return np.asarray(function(*map(xp.asarray, arrays)))


def compiled(function: Function, *arrays: NDArray) -> NDArray:
    return np.asarray(xp.jit(function)(*map(xp.asarray, arrays)))


def in_a_graph(function: Function, *arrays: NDArray) -> NDArray:
    """By a `tf.function` that knows the ranks, but no length."""
    signature = [tf.TensorSpec([None] * a.ndim, a.dtype) for a in arrays]

    @tf.function(input_signature=signature, autograph=False)  # type: ignore[untyped-decorator]  # TensorFlow has no types
    def graph(*tensors: Any) -> Any:
        return tf.convert_to_tensor(function(*map(xp.asarray, tensors)))

    return np.asarray(graph(*map(tf.constant, arrays)))


WAYS: Final = [eagerly, in_a_graph, compiled]
each_way: Final = pytest.mark.parametrize("way", WAYS)


def stretching(rank: int, first: int, dtype: str) -> NDArray:
    """Small numbers whose every second axis, from `first` on, has length 1."""
    shape = [1 if (axis - first) % 2 == 0 else 2 for axis in range(rank)]
    return np.random.default_rng(rank + first).integers(1, 7, shape).astype(dtype)


def pair(dtype: str, other: str = "") -> tuple[NDArray, NDArray]:
    return stretching(6, 0, dtype), stretching(6, 1, other or dtype)


BINARY: Final = {
    **dict.fromkeys("add divide pow minimum atan2 hypot logaddexp nextafter copysign".split(), "float64"),
    "remainder": "float32", "less": "float32", "floor_divide": "int64", "maximum": "int8", "multiply": "complex64",
    "bitwise_xor": "int16", "bitwise_left_shift": "uint8", "bitwise_right_shift": "int32",
    "equal": "bool", "logical_and": "bool", "logical_xor": "bool",
}  # fmt: skip
"""Functions of two arrays, and dtypes."""


def written(x: xp.Array, value: xp.Array) -> xp.Array:
    y = xp.zeros_like(x)
    y[...] = value
    return y


def std(x: Any, **options: Any) -> Any:
    return xp.std(x, correction=1, **options)


PARTS: Final = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
INTEGERS: Final = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ORDER: Final = np.asarray([1, 0, 2])
THREE: Final = np.asarray([1.0, 2.0, 3.0])


def complex_grid(parts: list[float], dtype: str) -> NDArray:
    z = np.empty(len(parts) ** 2, dtype)
    z.real, z.imag = np.repeat(parts, len(parts)), np.tile(parts, len(parts))
    return z


def quotients(dtype: str) -> tuple[Any, ...]:
    z = complex_grid(PARTS, dtype)
    x1, x2 = np.repeat(z, z.size), np.tile(z, z.size)
    wanted = x1 / x2
    # Of two infinite parts NumPy takes the ratio; what is finite is still nothing beside them.
    wanted[np.isfinite(x1) & np.isinf(x2.real) & np.isinf(x2.imag)] = 0
    return xp.divide, x1, x2, wanted


def sought(x: xp.Array, order: xp.Array) -> xp.Array:
    return xp.searchsorted(x, xp.asarray([0.5, 2.0, 2.5]), sorter=order)


UINT64: Final = np.asarray([2**53, 3, 2**64 - 1], np.uint64)
INT64: Final = np.asarray([2**53 + 1, 3, -1])
SIX: Final = np.random.default_rng(0).normal(size=(2,) * 6)
BOOLS: Final = np.asarray([[[True, False, True], [True, True, False]], [[False, True, True], [False, False, True]]])
LINE: Final = np.arange(15.0).reshape(3, 5)

with np.errstate(all="ignore"):
    VALUES: Final[dict[str, list[tuple[Any, ...]]]] = {
        **{
            f"{name} of axes that alternate": [(getattr(xp, name), *pair(dtype), getattr(np, ufunc)(*pair(dtype)))]
            for name, dtype in BINARY.items()
            for ufunc in [{"pow": "power", "atan2": "arctan2"}.get(name, name.removeprefix("bitwise_")
                          if name.endswith("shift") else name)]
        },
        "other dtypes of axes that alternate": [
            (xp.add, *pair("bool"), np.add(*pair("bool"))),
            (xp.divide, *pair("complex128"), np.divide(*pair("complex128"))),
            (xp.pow, *pair("uint8"), np.power(*pair("uint8"))),
            (xp.less, *pair("uint64", "int64"), np.less(*pair("uint64", "int64"))),
        ],
        "ten axes are stretched": [
            (xp.subtract, x, y, x - y) for x, y in [(stretching(10, 0, "int64"), stretching(9, 1, "float64"))]
        ],
        "bounds are stretched": [(lambda x, a: xp.clip(x, a, x), y, x, np.clip(y, x, y)) for x, y in [pair("int64")]],
        "vecdot stretches": [
            (xp.vecdot, x, y, np.vecdot(x, y))
            for x, y in [[np.repeat(one[..., :1], 2, -1) for one in pair("float64")]]
        ],
        "solve stretches": [
            (xp.linalg.solve, x, y, np.linalg.solve(x, y))
            for one, other in [pair("float64")]
            for x, y in [(one[..., None, None] * np.eye(2), other[..., None, None] * np.ones((2, 1)))]
        ],
        "a value is stretched when written": [
            (written, np.zeros((2,) * 6), value, np.broadcast_to(value, (2,) * 6)) for value, _ in [pair("float64")]
        ],
        "std over axes that alternate": [
            (functools.partial(std, axis=axis, keepdims=keep), x, np.std(x, axis=axis, ddof=1, keepdims=keep))
            for x in (SIX, SIX * (1 + 1j))
            for axis in ((0, 2, 4), (-1, 1, 3))
            for keep in (False, True)
        ],
        "complex quotients are numpy's": [quotients("complex64"), quotients("complex128")],
        "complex quotients do not overflow half way": [
            (lambda *xs: xp.divide(*xs)[:1], np.asarray([1e308 + 1e308j, np.inf]), np.asarray([1.6e308 + 1.6e308j, 1]),
             np.asarray([0.625 + 0j]))
        ],
        "the reciprocal of infinity is zero": [
            (xp.reciprocal, np.full(3, complex(np.inf, 0)), np.zeros(3, complex))
        ],
        "the sign of negative zero is zero": [
            (lambda x: 1 / xp.sign(x), np.asarray([-0.0, 0.0, -2.0, np.nan], dtype),
             np.asarray([np.inf, np.inf, -1, np.nan], dtype))
            for dtype in ("float16", "float32", "float64")
        ],
        "a complex power of zero is zero": [
            (xp.pow, np.asarray([0, 0, 0, 1, 2], dtype), np.asarray([1 + 1j, 2 - 0.5j, 0, 1j, 2], dtype),
             np.asarray([0, 0, 1, 1, 4], dtype))
            for dtype in ("complex64", "complex128")
        ],
        "isin of uint64 and signed integers is exact": [
            (functools.partial(xp.isin, invert=invert), x1, x2, np.asarray(wanted) != invert)
            for x1, x2, wanted in [
                (UINT64, INT64, [False, True, False]), (INT64, UINT64, [False, True, False]),
                (np.asarray([-1, 3], np.int8), UINT64[::-1][:2], [False, True]),
            ]
            for invert in (False, True)
        ],
        "powers of integer matrices are float64": [
            (lambda x, n=n: xp.linalg.matrix_power(x, n), np.asarray([[100]], np.int8), np.asarray([[100.0**n]]))
            for n in range(4)
        ],
        "any real number corrects": [
            (functools.partial(f, correction=n), np.asarray([1.0, 2.0, 4.0]), np.asarray(wanted))
            for f, wanted in ((xp.var, 7 / 3), (xp.std, (7 / 3) ** 0.5))
            for n in (np.float32(1), np.int64(1), fractions.Fraction(1), True)
        ],
        "no difference is of the dtype that all promote to": [
            (lambda x, before: xp.diff(x, n=0, prepend=before), np.asarray([1, 2], np.int8), np.asarray([1.0]),
             np.asarray([1.0, 2.0]))
        ],
        "an imaginary number is true in a sum of bools": [
            (lambda x: xp.sum(x, dtype=xp.bool), np.asarray([0, 1j]), np.asarray(True)),
            (lambda x: xp.cumulative_prod(x, dtype=xp.bool), np.asarray([1j, 2, 0]), np.asarray([True, True, False])),
        ],
        "a sorter is of any integer dtype": [(sought, THREE[[1, 0, 2]], ORDER.astype(n), ORDER * 0 + [0, 1, 2])
                                             for n in INTEGERS],
        "a sorter is mapped": [
            (lambda x, order: xp.vmap(sought)(x[None, :], order[None, :]), THREE[[1, 0, 2]], ORDER,
             np.asarray([[0, 1, 2]]))
        ],
        "counts are of any integer dtype": [
            (xp.repeat, THREE[: len(counts) if len(counts) > 1 else 2], np.asarray(counts, dtype), np.asarray(wanted))
            for dtype in INTEGERS
            for counts, wanted in (([2, 0, 1], [1.0, 1, 3]), ([2], [1.0, 1, 2, 2]), ([0], np.zeros(0)))
        ],
        "diagonals of bools are mapped": [
            row
            for n in (-2, -1, 0, 1, 3)
            for row in (
                (xp.vmap(functools.partial(xp.linalg.diagonal, offset=n)), BOOLS, np.linalg.diagonal(BOOLS, offset=n)),
                (xp.vmap(functools.partial(xp.linalg.trace, offset=n, dtype=xp.int64)), BOOLS,
                 np.linalg.trace(BOOLS, offset=n)),
            )
        ],
        "an axis that is named twice is shifted twice": [
            (functools.partial(getattr(xp.fft, name), axes=axes), LINE, getattr(np.fft, name)(LINE, axes))
            for name in ("fftshift", "ifftshift")
            for axes in [(1, -1), (0, 0, 0), (0, 1, 0), -1, None, ()]
        ],
        "powers beside one of zero may be infinite": [
            (xp.pow, np.asarray([2.0, np.inf, 0.5])[:, None], np.asarray([0.0, 1.0, np.inf]),
             np.asarray([[1, 2, np.inf], [1, np.inf, np.inf], [1, 0.5, 0]]))
        ],
    }  # fmt: skip
"""Functions, their arrays, and the values and dtypes that they give."""


@each_way
def test_values_are_right(way: Function, dealt: Dealt) -> None:
    rows = {(claim, n): row for claim, rows in VALUES.items() for n, row in enumerate(rows)}
    rows = rows if way is eagerly else dealt(rows, WAYS.index(way) - 1, 2)
    for (claim, _), (function, *arrays, wanted) in rows.items():
        found = way(function, *arrays)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), claim
        tolerance = 1e-6 if wanted.dtype.name in ("float32", "complex64") else 1e-12
        np.testing.assert_allclose(found, wanted, rtol=tolerance, err_msg=claim)


def test_uint16_is_tiled() -> None:
    for way in (eagerly, compiled):
        assert way(lambda x: xp.tile(x, (2,)), np.asarray([1, 65535], np.uint16)).tolist() == [1, 65535] * 2


def gradients(function: Function, *arrays: NDArray) -> list[NDArray]:
    tensors = list(map(tf.constant, arrays))
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        y = tf.convert_to_tensor(function(*map(xp.asarray, tensors)))
    return [g.numpy() for g in tape.gradient(y, tensors)]


def test_the_gradient_of_what_is_stretched() -> None:
    x1, x2 = pair("float64")
    of_x1, of_x2 = gradients(xp.multiply, x1, x2)
    np.testing.assert_array_equal(of_x1, np.broadcast_to(x2.sum((0, 2, 4), keepdims=True), x1.shape))
    np.testing.assert_array_equal(of_x2, np.broadcast_to(x1.sum((1, 3, 5), keepdims=True), x2.shape))


def test_shapes_that_do_not_broadcast_are_still_refused() -> None:
    with pytest.raises(ValueError, match="cannot be broadcast together"):
        xp.zeros((2,) * 6) + xp.zeros((3, 1) * 3)
    with pytest.raises(IndexError, match="does not fit"):
        xp.ones((3, 4))[xp.asarray(np.zeros((2, 0), bool))]


@each("size", [1, 3, 64])
@each(
    "x1, x2, quotient",
    [
        (1 + 2j, complex(np.inf, 0), 0),
        (1 + 2j, complex(np.inf, -np.inf), 0),
        (1 + 2j, 0, complex(np.inf, np.inf)),
        (-1j, 0, complex(np.nan, -np.inf)),
        (0, complex(np.inf, np.nan), complex(np.nan, np.nan)),
    ],
)
def test_a_quotient_does_not_depend_on_how_many_there_are(
    x1: complex, x2: complex, quotient: complex, size: int
) -> None:
    arrays = np.full(size, x1, np.complex128), np.full(size, x2, np.complex128)
    np.testing.assert_array_equal(eagerly(xp.divide, *arrays), np.full(size, quotient, np.complex128))


def test_the_gradient_of_a_complex_quotient() -> None:
    # The infinity leaves all of them to the way by parts.
    x1, x2 = np.asarray([1 + 2j, 1 + 2j]), np.asarray([2 - 1j, np.inf])
    of_x1, of_x2 = gradients(xp.divide, x1, x2)
    np.testing.assert_allclose(of_x1, [0.4 - 0.2j, 0], rtol=1e-15)
    np.testing.assert_allclose(of_x2, [0.2 + 0.4j, 0], rtol=1e-15)


@each("function", ["maximum", "minimum", "clip", "logaddexp"])
def test_nan_among_constants_makes_nan_inside_jit(function: str) -> None:
    a, b = xp.asarray([1.0, np.nan, 2.0]), xp.asarray([np.nan, 1.0, 2.0])
    found = xp.jit(lambda x: getattr(xp, function)(a, b) + x)(xp.zeros(3))
    assert xp.isnan(found).tolist() == [True, True, False]


def test_complex_constants_are_divided_inside_jit() -> None:
    a, b = xp.asarray([1 + 2j, 4j]), xp.asarray([1j, 2])
    found = xp.jit(lambda x: (a / b + x, xp.reciprocal(b) + x))(xp.zeros(2))
    assert [one.tolist() for one in found] == [[2 - 1j, 2j], [-1j, 0.5]]


def test_powers_beside_one_of_zero_may_be_infinite_when_they_are_differentiated() -> None:
    base, n = xp.asarray([[2.0], [np.inf], [0.5]]), xp.asarray([0.0, 1.0, np.inf])
    kept: list[xp.Array] = []

    def loss(n: xp.Array) -> xp.Array:
        kept.append(xp.stop_gradient(base**n))
        return xp.sum(n)

    xp.grad(loss)(n)
    np.testing.assert_array_equal(np.asarray(kept[0]), [[1, 2, np.inf], [1, np.inf, np.inf], [1, 0.5, 0]])


@each_way
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_roots_are_numpy_s(dtype: str, way: Function) -> None:
    limits = np.finfo(dtype)
    large, small = float(limits.max), float(limits.tiny)
    z = complex_grid([*PARTS, large, -large, large / 2, small, -4 * small, 1e-3, 1e10], dtype)
    with np.errstate(all="ignore"):
        wanted = np.sqrt(z.astype(np.clongdouble))
    found = way(xp.sqrt, z)
    for part, of_wanted in ((found.real, wanted.real), (found.imag, wanted.imag)):
        # A part that is beyond the other's last digit may be lost, not more.
        with np.errstate(all="ignore"):
            error = np.abs(part - of_wanted) / np.maximum(np.abs(wanted.real), np.abs(wanted.imag))
        is_number = np.isfinite(wanted) & (wanted != 0)
        assert np.all(error[is_number] < 4 * limits.eps)
        np.testing.assert_array_equal(part[~is_number], of_wanted[~is_number].astype(part.dtype))
        np.testing.assert_array_equal(np.signbit(part[is_number]), np.signbit(of_wanted[is_number]))


@each_way
def test_the_gradient_of_a_complex_root(way: Function) -> None:
    z = np.asarray([3 + 4j, -3 - 4j, 2j, -2j, -9 + 0j, 1e308 + 1e308j, 1e-300 + 1e-301j])

    def gradient(x: xp.Array) -> Any:
        tensor = tf.convert_to_tensor(x)
        with tf.GradientTape() as tape:
            tape.watch(tensor)
            y = tf.convert_to_tensor(xp.sqrt(xp.asarray(tensor)))
        return xp.asarray(tape.gradient(y, tensor))

    np.testing.assert_allclose(way(gradient, z), np.conj(0.5 / np.sqrt(z)), rtol=1e-14)


LONG: Final = 3_000_000_000


@each(
    "make",
    [
        lambda: xp.zeros((0, LONG)),
        lambda: xp.ones((0, LONG)),
        lambda: xp.empty((0, LONG)),
        lambda: xp.full((0, LONG), 2.5),
        lambda: xp.zeros_like(xp.zeros((0, LONG))),
        lambda: xp.broadcast_to(xp.zeros((0, 1)), (0, LONG)),
        lambda: xp.reshape(xp.zeros((0, 3)), (0, LONG)),
    ],
)
def test_a_length_may_be_beyond_int32(make: Callable[[], xp.Array]) -> None:
    assert make().shape == (0, LONG)


@each("make", [lambda x: xp.broadcast_to(x, (LONG,)), lambda x: xp.zeros((LONG,), dtype=xp.int8)])
def test_a_graph_may_hold_a_length_beyond_int32(make: Function) -> None:
    graph = tf.function(lambda x: tf.convert_to_tensor(make(xp.asarray(x))), autograph=False)
    assert graph.get_concrete_function(tf.TensorSpec([1], tf.int8)).structured_outputs.shape == (LONG,)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_trunc_is_not_lost_in_a_graph(dtype: str) -> None:
    values = np.asarray([0.58, 1.7, -2.4, -0.5, -0.0, np.inf, np.nan], dtype)
    for rank in (1, 10):
        shaped = tf.constant(values.reshape((-1,) + (1,) * (rank - 1)))
        traced = tf.function(lambda v: xp.to_native(xp.trunc(xp.asarray(v))), autograph=False)(shaped)
        np.testing.assert_array_equal(np.signbit(traced), np.signbit(np.trunc(values)).reshape(traced.shape))
        np.testing.assert_array_equal(traced, np.trunc(values).reshape(traced.shape))
    found = xp.jit(lambda v: xp.trunc(v[v > -9]))(xp.asarray(values))
    np.testing.assert_array_equal(np.asarray(found), np.trunc(values[values > -9]))


@each("inverse", ["irfft", "hfft", "irfftn"])
def test_inverse_real_transforms_take_unknown_lengths(inverse: str) -> None:
    values = np.arange(5.0) + 1j
    found = in_a_graph(getattr(xp.fft, inverse), values)
    np.testing.assert_allclose(found, getattr(np.fft, inverse)(values), atol=1e-12)


AXES: Final[list[tuple[tuple[int, ...], Any]]] = [
    ((4, 5), None), ((4, 5), (1, 0)), ((3, 4, 5), None), ((3, 4, 5), (-2, -1)), ((3, 4, 5), (0, 2)),
    ((2, 1, 3, 4), None),
]  # fmt: skip
NORMS: Final = ["backward", "ortho", "forward"]


@each_way
def test_axes_are_transformed_together_as_one_by_one(way: Function, dealt: Dealt) -> None:
    cases = dict.fromkeys(itertools.product(["fftn", "ifftn", "rfftn", "irfftn"], AXES, NORMS))
    for n, (function, (shape, axes), norm) in enumerate(dealt(cases, WAYS.index(way), 9)):
        parts = np.random.default_rng(n).normal(size=(2, *shape))
        values = parts[0] if function == "rfftn" else parts[0] + 1j * parts[1]
        found = way(functools.partial(getattr(xp.fft, function), axes=axes, norm=norm), values)
        np.testing.assert_allclose(found, getattr(np.fft, function)(values, axes=axes, norm=norm), atol=1e-12)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@each("function", ["expm1", "log", "log1p", "log10", "sign", "sqrt"])
def test_ordinary_complex_numbers_have_the_same_values_beside_others(function: str, dtype: str) -> None:
    parts = np.random.default_rng(0).normal(size=(2, 100))
    ordinary = (parts[0] + 1j * parts[1]).astype(dtype)
    others = np.asarray([0, -1 - 0j, 1e-30, 1e30j, 50, complex(np.inf, 1), complex(1, np.nan)], dtype)
    together, of_ordinary, of_others = (
        eagerly(getattr(xp, function), x) for x in (np.concatenate([ordinary, others]), ordinary, others)
    )
    # TensorFlow's kernels compute several numbers in another way than the last few.
    rounding = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(together, np.concatenate([of_ordinary, of_others]), rtol=rounding)
    wanted = ordinary / np.abs(ordinary) if function == "sign" else getattr(np, function)(ordinary)
    np.testing.assert_allclose(of_ordinary, wanted, rtol=8 * rounding)
    assert eagerly(getattr(xp, function), ordinary[:0]).shape == (0,)
    assert eagerly(getattr(xp, function), ordinary[0]).shape == ()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64"])
@each("shape", [(0,), (1,), (300, 50), (2, 0, 3)])
@each("is_recorded", [False, True])
def test_unique_elements_are_the_first_of_their_kind(is_recorded: bool, shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 9, shape).astype(dtype)
    if values.dtype.kind in "fc":
        values[rng.random(shape) < 0.1] = -0.0  # the zero that comes first stands for both
    wanted = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    with tf.GradientTape() if is_recorded else contextlib.nullcontext():
        x = xp.asarray(values)
        of_all = xp.unique_all(x)
        others = {(0, 2): xp.unique_inverse(x), (0, 3): xp.unique_counts(x), (0,): (xp.unique_values(x),)}
    for positions, found in [((0, 1, 2, 3), of_all), *others.items()]:
        for position, one in zip(positions, found, strict=True):
            np.testing.assert_array_equal(np.asarray(one), wanted[position].reshape(one.shape), strict=True)
    if values.dtype.kind == "f":
        for found in (of_all.values, others[0, 2][0], others[0, 3][0], others[0,][0]):
            np.testing.assert_array_equal(xp.signbit(found), np.signbit(wanted[0]))


@each("dtype", ["float16", "float32", "float64"])
def test_each_nan_is_unique_among_many_numbers(dtype: str) -> None:
    rng = np.random.default_rng(0)
    values = np.where(rng.random(20000) < 0.1, np.nan, rng.integers(-3, 4, 20000)).astype(dtype)
    numbers, counts = np.unique(values[~np.isnan(values)].astype("int64"), return_counts=True)
    nans = np.isnan(values).sum()
    found = xp.unique_counts(xp.asarray(values))
    np.testing.assert_array_equal(found.values, [*numbers, *[np.nan] * nans])
    np.testing.assert_array_equal(found.counts, [*counts, *[1] * nans])


@each("dtype", ["bool", "int8", "float16", "float64", "complex128"])
@each("shape", [(9,), (4, 5), (3, 4, 5), (2, 0, 3), (1, 2, 3, 1, 2, 1, 1, 2, 1)])
def test_positions_of_nonzeros_are_numpy_s(shape: tuple[int, ...], dtype: str) -> None:
    values = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    if dtype == "float64":
        values[values == 1] = np.nan
        values[values == 0] = -0.0
    for found, wanted in zip(xp.nonzero(xp.asarray(values)), np.nonzero(values), strict=True):
        np.testing.assert_array_equal(np.asarray(found), wanted, strict=True)


@pytest.mark.parametrize("way", WAYS[::2])
@each("shape, of_mask", [((3,), (0,)), ((3, 4), (0,)), ((3, 4), (0, 4)), ((3, 4), (3, 0)), ((2, 3, 4), (0, 0))])
def test_a_mask_may_have_a_length_of_zero_anywhere(
    shape: tuple[int, ...], of_mask: tuple[int, ...], way: Function
) -> None:
    mask = np.zeros(of_mask, bool)

    def written(x: xp.Array) -> xp.Array:
        y = x + 0
        y[xp.asarray(mask)] = 5.0
        return y

    x = np.ones(shape)
    assert way(lambda x: x[xp.asarray(mask)], x).shape == x[mask].shape
    np.testing.assert_array_equal(way(written, x), x)


@each_way
def test_singular_values_of_what_is_not_finite_are_nan(way: Function, dealt: Dealt) -> None:
    cases = itertools.product([np.nan, np.inf], [True, False], ["float64", "complex64", "complex128"])
    for value, full, dtype in dealt(dict.fromkeys(cases), WAYS.index(way), 6):
        x = np.asarray([[[value, 1.0, 0.0], [1.0, 2.0, 0.0]], [[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]]]).astype(dtype)
        wanted = [True, False]
        for place in range(3):
            found = way(lambda x, place=place, full=full: xp.linalg.svd(x, full_matrices=full)[place], x)
            assert np.isnan(found).any(axis=tuple(range(1, found.ndim))).tolist() == wanted
        np.testing.assert_allclose(way(xp.linalg.svdvals, x), [[np.nan] * 2, [4, 3]], rtol=1e-6)  # also of 32 bits
        assert np.isnan(way(xp.linalg.pinv, x)).all(axis=(1, 2)).tolist() == wanted
        for order, norm in ((2, 4), (-2, 3), ("nuc", 7)):
            found = way(functools.partial(xp.linalg.matrix_norm, ord=order), x)
            np.testing.assert_allclose(found, [np.nan, norm], rtol=1e-6)


@pytest.mark.parametrize("function", ["svdvals", "pinv"])
def test_complex_matrices_beside_one_with_nan_keep_their_slopes(function: str) -> None:
    def norm(x: xp.Array) -> xp.Array:
        return xp.sum(xp.abs(getattr(xp.linalg, function)(x + xp.asarray([[1j, 0.0], [2.0, 1.0]]))) ** 2)

    x = xp.asarray([[[1.0, 2.0], [3.0, 4.0]], [[np.nan, 0.0], [0.0, 1.0]]])
    alone = np.asarray(xp.grad(norm)(x[0]))
    for slopes in (xp.vmap(xp.grad(norm)), xp.jit(xp.vmap(xp.grad(norm))), xp.grad(lambda x: xp.sum(xp.vmap(norm)(x)))):
        np.testing.assert_allclose(np.asarray(slopes(x))[0], alone, rtol=1e-9)  # of the same few operations


@each_way
@each("dtype", ["bool", "float32"])
def test_what_is_no_integer_is_refused(dtype: str, way: Function) -> None:
    x, wrong = np.asarray([2.0, 1.0]), np.asarray([1, 0], dtype)
    with pytest.raises(TypeError, match=f"searchsorted: sorter must have an integer dtype, not {dtype}"):
        way(lambda x, order: xp.searchsorted(x, x, sorter=order), x, wrong)
    with pytest.raises(TypeError, match=f"repeat: repeats must have an integer dtype, not {dtype}"):
        way(xp.repeat, x, wrong)


NEGATIVE: Final[dict[str, Function]] = {
    "reshape: shape must hold -1 once at most, not (-1, -1)": lambda x: xp.reshape(x, (-1, -1)),
    "broadcast_to: x of shape (2, 3) does not broadcast to (-1, 3)": lambda x: xp.broadcast_to(x, (-1, 3)),
    "broadcast_to: x of shape (2, 3) does not broadcast to (-1, 2, 3)": lambda x: xp.broadcast_to(x, (-1, 2, 3)),
    "tile: repetitions must not be negative, not (2, -1)": lambda x: xp.tile(x, (2, -1)),
}
"""Calls for x of shape (2, 3), by the error."""


@each("transform", [lambda f: f, xp.jit, lambda f: lambda x: xp.vmap(f)(x[None, ...])])
@each("message", NEGATIVE)
def test_negative_lengths_and_counts_are_refused_alike(message: str, transform: Function) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        transform(NEGATIVE[message])(xp.ones((2, 3)))


@each("transform", [xp.vmap, lambda f: xp.jit(xp.vmap(f))])
@each("function", [xp.nonzero, xp.unique_values, lambda x: x[x > 0]])
def test_a_map_over_no_elements_tells_no_length_that_depends_on_them(function: Function, transform: Function) -> None:
    with pytest.raises(xp.UnsupportedError, match="vmap: the mapped axes have the length 0, and a result has a length"):
        transform(function)(xp.zeros((0, 2)))


def test_a_map_over_no_elements_has_slopes_of_zero() -> None:
    slopes = xp.grad(lambda x, y: xp.sum(xp.vmap(lambda x: x * y)(x)), argnums=(0, 1))(xp.zeros((0, 2)), xp.ones(2))
    assert [one.tolist() for one in slopes] == [[], [0, 0]]


def test_singular_equations_without_right_sides_are_refused() -> None:
    regular, singular, nothing = xp.eye(2), xp.ones((2, 2)), xp.zeros((2, 0))
    assert xp.linalg.solve(regular, nothing).shape == (2, 0)
    assert xp.linalg.solve(singular * xp.nan, nothing).shape == (2, 0)
    assert xp.linalg.solve(xp.zeros((0, 0)), xp.zeros((0, 0))).shape == (0, 0)
    with pytest.raises(xp.LinAlgError, match="solve: x1 must be invertible, but is singular"):
        xp.linalg.solve(singular, nothing)
