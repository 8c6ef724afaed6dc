"""Values and errors at the edges, the same on every backend."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from comparison import each

import anyarray as xp

pytestmark = pytest.mark.usefixtures("backend")

INF, NAN = np.inf, np.nan
Call = Callable[[], Any]


def one() -> xp.Array:
    """An array without axes."""
    return xp.asarray(1.0)


def are_nan(z: xp.Array) -> bool:
    return bool(xp.all(xp.isnan(xp.real(z))) and xp.all(xp.isnan(xp.imag(z))))


@each("dtype, far", [("complex64", 1e30), ("complex128", 1e300), ("complex128", 1e16)])
@np.errstate(all="ignore")
def test_a_nan_beside_a_large_or_infinite_number_makes_nan_of_both_parts(dtype: str, far: float) -> None:
    assert are_nan(1 / xp.asarray([complex(INF, NAN), complex(NAN, -INF)], dtype=dtype))
    assert are_nan(xp.reciprocal(xp.asarray([complex(INF, NAN), complex(NAN, -INF)], dtype=dtype)))
    assert are_nan(xp.exp(xp.asarray([complex(a, b) for a in (-far, -800.0, 0, 1) for b in (INF, -INF, NAN)])))
    z = xp.asarray([complex(far, NAN), complex(-far, NAN), complex(NAN, far), complex(NAN, -far)], dtype=dtype)
    for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh"):
        assert are_nan(getattr(xp, name)(z)), name


REDUCTIONS: Final = "sum prod mean max min std var argmax argmin count_nonzero all any".split()


def of(name: str, x: xp.Array, **options: Any) -> Any:
    return getattr(xp, name)(xp.astype(x, xp.bool) if name in ("all", "any") else x, **options)


REFUSED: Final[list[tuple[Call, type[Exception], str | None]]] = [
    (lambda: xp.reshape(xp.ones(6), (-2, 3)), ValueError, "reshape"),
    (lambda: xp.reshape(xp.ones(0), (-1, 0)), ValueError, r"reshape: x of shape \(0,\) does not fit shape \(-1, 0\)"),
    (lambda: xp.take(one(), xp.asarray([0]), axis=0), xp.AxisError, "take: axis 0 is out of bounds"),
    *[
        (lambda name=name, axis=axis: of(name, one(), axis=axis), xp.AxisError, f"{name}: axis {axis} is out of bounds")
        for name in (*REDUCTIONS, "sort", "argsort", "squeeze")
        for axis in (0, -1)
    ],
    *[
        (lambda axis=axis: xp.repeat(one(), 2, axis=axis), xp.AxisError, f"repeat: axis {axis} is out of bounds")
        for axis in (0, -1)
    ],
    *[(lambda n=n: xp.diff(one(), n=n), xp.AxisError, "diff: axis") for n in (0, 1)],
    *[
        (lambda n=n: xp.diff(xp.ones(1), axis=1, n=n), xp.AxisError, "diff: axis 1 is out of bounds") for n in (0, 1)
    ],
    (lambda: xp.fft.irfft(xp.asarray([1 + 1j])), ValueError, None),
    (lambda: xp.fft.hfft(xp.asarray([1 + 1j])), ValueError, None),
    (lambda: xp.fft.fftshift(one(), axes=0), xp.AxisError, "axis 0 is out of bounds"),
    (lambda: xp.fft.ifftshift(one(), axes=0), xp.AxisError, "axis 0 is out of bounds"),
    (lambda: xp.linalg.matrix_rank(one()), ValueError, r"matrix_rank: x must be \(\.\.\., m, n\), not shape"),
    (lambda: xp.linalg.matrix_rank(xp.ones(3)), ValueError, r"matrix_rank: x must be \(\.\.\., m, n\), not shape"),
    (lambda: xp.tensordot(xp.eye(2), xp.eye(2), axes=-1), ValueError, r"tensordot: .* do not fit with axes=-1"),
]  # fmt: skip


@each("call, error, sentence", REFUSED)
def test_what_is_wrong_at_the_edges_is_refused(call: Call, error: type[Exception], sentence: str | None) -> None:
    with pytest.raises(error, match=sentence):
        call()


@pytest.mark.parametrize("function", ["conj", "real", "round"])
def test_booleans_have_neither_parts_nor_digits(function: str, backend: xp.Backend) -> None:
    if backend.library != "numpy":
        with pytest.raises(TypeError, match=f"{function}: x must have a numeric dtype, not bool"):
            getattr(xp, function)(xp.asarray([True]))


def uint64(*values: int) -> xp.Array:
    return xp.asarray(values, dtype=xp.uint64)


REAL: Final = np.random.default_rng(0).standard_normal((4, 6, 5))
MATRIX: Final = np.asarray([[0.0, 1.0, 2.0], [3.0, 0.0, 5.0]])
HALVES: Final = np.asarray([0.7, 3.75, -1.0], np.float16)
FAR: Final = [2**40, -(2**40), 2**70, -(2**70)]
VALUES: Final[dict[str, tuple[Call, Any]]] = {
    "integers that are the same float": (
        lambda: xp.isin(xp.asarray([2**63 - 1, 2**63 - 2, 5]), xp.asarray([5.0, 0.5])), [False, False, True]),
    "uint64 in int64": (
        lambda: xp.isin(uint64(2**64 - 2, 2**64 - 1, 5), xp.asarray([2**63 - 1, 2**63 - 2, 5])), [False, False, True]),
    "uint64 not in int64": (
        lambda: xp.isin(uint64(2**64 - 2, 2**64 - 1, 5), xp.asarray([-2, -1, 5]), invert=True), [True, True, False]),
    "an infinite part outweighs the other in a sign": (
        lambda: xp.sign(xp.asarray([complex(3, INF), complex(-INF, 3), complex(NAN, -INF), complex(INF, INF)])),
        [1j, -1, -1j, complex(NAN, NAN)]),
    **{f"roll by {n}": (lambda n=n: xp.roll(xp.arange(7), n), np.roll(np.arange(7), n % 7))
       for n in (10**12, -(10**12), 10**30)},
    "vecdot conjugates its first argument": (lambda: xp.vecdot(xp.asarray([1j, 2]), xp.asarray([1j, 1])), 3),
    "differences end when nothing is left": (lambda: xp.diff(xp.ones((3, 1)), axis=0, n=2**62), np.zeros((0, 1))),
    "differences of what is joined end": (
        lambda: xp.diff(xp.ones(2), prepend=xp.ones(2), append=xp.ones(1), n=2**62), np.zeros(0)),
    "four differences": (lambda: xp.diff(xp.ones(3), prepend=xp.asarray([1.0, 2.0]), n=4), [-4.0]),
    "differences of nothing have the dtype of all": (
        lambda: xp.diff(xp.zeros(0, dtype="uint16"), prepend=xp.zeros(0, dtype="complex64")),
        np.zeros(0, "complex64")),
    "one axis of each is contracted": (
        lambda: xp.tensordot(xp.eye(2, 3), xp.eye(2, 3), axes=(0, -2)),
        np.tensordot(np.eye(2, 3), np.eye(2, 3), (0, 0))),
    **{f"the trace far away, {n}": (lambda n=n: xp.linalg.trace(xp.ones((2, 3)), offset=n), 0.0) for n in FAR},
    **{f"a diagonal far away, {n}": (lambda n=n: xp.linalg.diagonal(xp.ones((2, 3)), offset=n), []) for n in FAR},
    **{f"tril far away, {n}": (lambda n=n: xp.tril(xp.ones((2, 3)), k=n), np.full((2, 3), float(n > 0))) for n in FAR},
    **{f"triu far away, {n}": (lambda n=n: xp.triu(xp.ones((2, 3)), k=n), np.full((2, 3), float(n < 0))) for n in FAR},
    **{f"{name} without an axis to name": (lambda name=name: xp.asarray(of(name, one(), axis=()).shape), np.zeros(0))
       for name in "sum prod max min all any count_nonzero".split()},
    **{f"{name} of a matrix along no axes": (lambda name=name: of(name, xp.asarray(MATRIX), axis=()), wanted)
       for names, wanted in [("sum prod max min", MATRIX), ("all any", MATRIX != 0),
                             ("count_nonzero", (MATRIX != 0).astype("int64"))]
       for name in names.split()},
    **{f"{name} of dtype {dtype} without axes": (
        lambda name=name, dtype=dtype: getattr(xp.fft, name)(xp.asarray(1, dtype=dtype)),
        np.asarray(1, "complex64" if dtype == "float32" else "complex128"))
       for name in ("fftn", "ifftn") for dtype in ("int8", "float32", "float64")},
    **{f"{name} of dtype {dtype} over no axes": (
        lambda name=name, dtype=dtype: getattr(xp.fft, name)(xp.ones(2, dtype=dtype), axes=()),
        np.ones(2, "complex64" if dtype == "float32" else "complex128"))
       for name in ("fftn", "ifftn") for dtype in ("int8", "float32", "float64")},
    **{f"{name} of no spectrum of shape {shape}": (
        lambda name=name, shape=shape, n=n: getattr(xp.fft, name)(xp.ones(shape), n=n), np.zeros((*shape[:-1], n)))
       for name in ("irfft", "hfft") for shape in ((0,), (2, 0)) for n in (2, 5)},
    **{f"{name} along {axes}": (
        lambda name=name, axes=axes, z=z: getattr(xp.fft, name)(xp.asarray(z), axes=axes),
        getattr(np.fft, name)(z, axes=axes))
       for name, axes in [("fftn", (0, 0)), ("ifftn", (1, 1, 2)), ("rfftn", (1, 1)), ("rfftn", (1, 0, 2)),
                          ("irfftn", (0, 0))]
       for z in [REAL if name == "rfftn" else REAL + 1j * REAL[::-1]]},
    **{f"the norm of order {n} of a matrix of shape {shape}": (
        lambda n=n, shape=shape: xp.linalg.matrix_norm(xp.zeros(shape), ord=n), 0.0)
       for n in (1, 2, INF, "nuc", "fro") for shape in ((0, 3), (3, 0))},
    **{f"the norm of order {n} of no elements": (
        lambda n=n: xp.linalg.vector_norm(xp.zeros((0, 2)), axis=0, ord=n), np.zeros(2)) for n in (0, 1, 2, 3, INF)},
    "irfftn of no spectrum": (lambda: xp.fft.irfftn(xp.ones((3, 0)), s=(2, 4), axes=(0, 1)), np.zeros((2, 4))),
    "fftshift without axes": (lambda: xp.fft.fftshift(xp.asarray(2.0)), 2.0),
    "ifftshift without axes": (lambda: xp.fft.ifftshift(xp.asarray(2.0)), 2.0),
    **{f"16 bits are transformed by {name} as 32": (
        lambda name=name: getattr(xp.fft, name)(xp.asarray(HALVES)), getattr(np.fft, name)(HALVES.astype("float32")))
       for name in ("fft", "rfft", "irfft")},
    **{f"{name} with the flag {flag}": (lambda name=name, flag=flag: of(name, xp.ones((2, 3)), axis=0, keepdims=flag),
        np.asarray(getattr(np, name)(np.ones((2, 3)), axis=0, keepdims=bool(flag))))
       for name in REDUCTIONS for flag in (0, 1)},
    **{f"sort with the flag {flag}": (
        lambda flag=flag: xp.sort(xp.asarray([2.0, 3.0, 1.0]), stable=flag, descending=flag),
        sorted([1.0, 2.0, 3.0], reverse=bool(flag))) for flag in (0, 1, 2)},
    **{f"argsort with the flag {flag}": (
        lambda flag=flag: xp.argsort(xp.asarray([2.0, 3.0, 1.0]), stable=flag), [2, 0, 1]) for flag in (0, 1, 2)},
    **{f"the norm of order {n} with the flag 1": (
        lambda n=n: xp.linalg.vector_norm(xp.ones((2, 3)), axis=0, keepdims=1, ord=n),
        np.linalg.norm(np.ones((2, 3)), n, 0, True)) for n in (2, 1, 3, INF, -INF, 0)},
    "a norm of matrices with the flag 1": (lambda: xp.linalg.matrix_norm(xp.ones((2, 3)), keepdims=1, ord=1), [[2.0]]),
    **{f"all of {name}, its axes kept": (
        lambda name=name: xp.all(xp.ones((2, 3), dtype=name), keepdims=True), [[True]]) for name in ("int8", "uint8")},
    "svd with the flag 0": (lambda: xp.asarray(xp.linalg.svd(xp.ones((2, 3)), full_matrices=0)[2].shape), [2, 3]),
}  # fmt: skip
"""Calls with the values that they give; of an ndarray the dtype, too."""


@each("name", VALUES)
def test_values_at_the_edges_are_right(name: str) -> None:
    call, wanted = VALUES[name]
    found = call()
    assert found.shape == np.shape(wanted)
    assert not isinstance(wanted, np.ndarray) or found.dtype == wanted.dtype.name
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6, atol=1e-6)  # 16 bits are good for 1e-3


@each("dtypes, wanted", [(("int8", "uint8"), "float16"), (("int8", "uint16"), "float32")])
def test_two_integers_are_taken_as_the_floats_of_each(dtypes: tuple[str, str], wanted: str) -> None:
    x1, x2 = (xp.ones(2, dtype=name) for name in dtypes)
    for name in ("atan2", "copysign", "hypot", "logaddexp", "nextafter"):
        assert getattr(xp, name)(x1, x2).dtype == wanted


@each("rows", [[[-4, 0], [0, 1]], [[1, 2], [2, 1]], [[4, 0], [0, -1]]])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_a_matrix_that_is_not_positive_definite_has_no_root(
    rows: list[list[int]], dtype: str, jits: list[Callable[[Any], Any]]
) -> None:
    x = xp.asarray(np.asarray([np.eye(2), rows], dtype))
    for jit in jits:
        try:
            root = np.asarray(jit(xp.linalg.cholesky)(x))
        except np.linalg.LinAlgError:
            continue
        assert np.isnan(root[1]).any(axis=-1).any()
        np.testing.assert_array_equal(root[0], np.eye(2))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_a_shift_by_all_bits_leaves_the_sign(dtype: str) -> None:
    width, sign = 8 * np.dtype(dtype).itemsize, -(dtype[0] == "i")
    x = xp.asarray([1, 100, 3 + 6 * sign], dtype=dtype)
    for far in (width, width + 1):
        counts = xp.asarray([far] * 3, dtype=dtype)
        assert xp.bitwise_left_shift(x, counts).tolist() == [0, 0, 0]
        assert xp.bitwise_right_shift(x, counts).tolist() == [0, 0, sign]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64", "bfloat16"])
def test_many_elements_are_clipped_as_few_are(dtype: str) -> None:
    few = xp.astype(xp.asarray([0.0, 1.0, 2.0, 5.0]), getattr(xp, dtype))
    low, high = (xp.asarray(bound, dtype=few.dtype) for bound in (1, 2))
    for bounds in ((low, high), (high, low), (low, None), (None, high)):
        assert xp.clip(xp.tile(few, (2000,)), *bounds).tolist() == xp.clip(few, *bounds).tolist() * 2000


def test_many_elements_and_a_bound_of_another_kind_are_clipped_as_few_are() -> None:
    few, many = (xp.ones(n, dtype=xp.int32) for n in (2, 5000))
    with pytest.raises(xp.ArgumentTypeError, match="clip: min must have a real numeric dtype, not complex128"):
        xp.clip(many, 1j, 3)
    assert xp.clip(many, 2.5, 3).dtype == xp.clip(few, 2.5, 3).dtype == xp.float64
    assert bool(xp.all(xp.clip(many, 2.5, 3) == 2.5))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64"])
def test_equal_integers_keep_their_order_when_they_descend(dtype: str) -> None:
    ends = (False, True) if dtype == "bool" else (xp.iinfo(dtype).min, xp.iinfo(dtype).max)
    x = xp.asarray([[ends[0], ends[1], 1, 0], [ends[1], ends[0], 1, 1], [1, 0, 0, 1]], dtype=dtype)
    for axis, rows in ((1, x.tolist()), (0, x.T.tolist())):
        wanted = [sorted(range(len(row)), key=row.__getitem__, reverse=True) for row in rows]
        found = xp.argsort(x, axis=axis, descending=True)
        assert (found if axis else found.T).tolist() == wanted


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "complex64"])
def test_many_elements_are_made_unique_as_few_are(dtype: str) -> None:
    few = [7, 0, 3, 7, 1, 0]
    x = xp.asarray(few * 500, dtype=dtype)
    assert xp.unique_values(x).tolist() == [0, 1, 3, 7]
    assert x.tolist() == few * 500


@pytest.mark.parametrize("n", [2, 32, 33, 3000])
def test_few_elements_are_sought_as_many_are(n: int) -> None:
    x, sought = np.arange(-5, 4000) / 2, np.arange(n) * 3
    np.testing.assert_array_equal(np.asarray(xp.isin(xp.asarray(x), xp.asarray(sought))), np.isin(x, sought))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_powers_of_integers_are_exact_whatever_the_exponent(dtype: str) -> None:
    kind = xp.iinfo(dtype)
    bases = [0, 1, 2, 3, kind.max] + ([-1, -2, kind.min] if kind.min else [])
    exponents = [0, 1, 5, 63, 64, 65, 127, 2]
    modulus = 1 << kind.bits
    wanted = [[(base**exponent - kind.min) % modulus + kind.min for exponent in exponents] for base in bases]
    x = xp.asarray(bases, dtype=dtype)
    for columns in (slice(8), slice(0, 4), slice(4, 7), slice(5, 8)):
        assert (x[:, None] ** xp.asarray(exponents[columns], dtype=dtype)).tolist() == [row[columns] for row in wanted]
    for n, exponent in enumerate(exponents):
        assert (x**exponent).tolist() == [row[n] for row in wanted]


@pytest.mark.parametrize("shape", [(3000,), (30, 100), (30, 0), (3, 5, 7)])
def test_a_mask_selects_what_it_selects_in_numpy(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).random(shape)
    for mask in (x < 0.5, x.reshape(len(x), -1).sum(-1) < x.size / len(x) / 2, x < 0, x < 2):
        for source in (x, np.asfortranarray(x)):
            np.testing.assert_array_equal(np.asarray(xp.asarray(source)[xp.asarray(mask)]), x[mask])


def test_indices_of_uint64_are_not_negative() -> None:
    x, far, order = xp.asarray([3, 1]), uint64(2**64 - 1), uint64(1, 0)
    for read in (lambda i: x[i], lambda i: xp.take(x, i), lambda i: xp.take_along_axis(x, i)):
        assert read(order).tolist() == [1, 3]
        with pytest.raises(IndexError):
            read(far)
    with pytest.raises(IndexError):
        x[far] = 9
    assert x.tolist() == [3, 1]


@each("function", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
def test_signed_integers_and_uint64_are_compared_exactly(function: Any) -> None:
    signed, unsigned = [-1, 0, 2**63 - 1], [0, 2**63 - 1, 2**63, 2**64 - 1]
    x, y = xp.asarray(signed, dtype=xp.int64), uint64(*unsigned)
    assert function(x[:, None], y).tolist() == [[function(a, b) for b in unsigned] for a in signed]
    assert function(y[:, None], x).tolist() == [[function(b, a) for a in signed] for b in unsigned]


IN_HALF: Final = {
    "acos asin atanh": (-0.9, 0.9),
    "acosh log log10 log2 reciprocal sqrt": (1.0, 9.0),
    "asinh atan cos cosh exp expm1 log1p sin sinh tan tanh": (-0.8, 9.0),
    "atan2 copysign hypot logaddexp": (-9.0, 9.0),
}
"""The ends of the arguments of functions; those of the last row have two."""


def test_functions_of_float16_are_rounded_once() -> None:
    wrong = {}
    for names, (low, high) in IN_HALF.items():
        x = np.linspace(low, high, 301).astype(np.float16)
        for name in names.split():
            given = (x, np.roll(x, 1)) if low == -9 else (x,)
            exact = getattr(np, name)(*[one.astype(np.float64) for one in given]).astype(np.float16)
            found = np.asarray(getattr(xp, name)(*map(xp.asarray, given)))
            steps = np.abs(found.view(np.int16).astype(int) - exact.view(np.int16)).max()
            if steps > 1:
                wrong[name] = int(steps)
    assert not wrong


NEAR_ZERO: Final = "sin sinh cos cosh tan tanh expm1".split()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_functions_near_zero_are_those_of_numpy(dtype: str, jits: list[Callable[[Any], Any]]) -> None:
    sizes = np.asarray([[1e-8], [1e-6], [1e-4], [1e-2]])
    z = (np.asarray([1, 1j, 1 + 0.1j, -0.3 - 1j, 0.5 - 0.5j]) * sizes).astype(dtype)
    eps = 6 * float(np.finfo(dtype).eps)
    for jit in jits:
        for name, found in jit(lambda z: {one: getattr(xp, one)(z) for one in NEAR_ZERO})(xp.asarray(z)).items():
            wanted = getattr(np, name)(z.astype(np.complex128))
            error = np.asarray(found) - wanted
            assert np.all(np.abs(error.real) <= eps * (np.abs(wanted.real) + sizes)), name
            assert np.all(np.abs(error.imag) <= eps * (np.abs(wanted.imag) + sizes**2)), name


def test_hyperbolic_functions_of_great_numbers_are_those_of_numpy() -> None:
    x = np.asarray([19.9, 20.0, -25.0, 700.0, -699.3, 709.9, 710.2])
    for name in ("sinh", "cosh"):
        # An exponential is wrong by half a unit, its square and what it is multiplied by add another each.
        np.testing.assert_allclose(np.asarray(getattr(xp, name)(xp.asarray(x))), getattr(np, name)(x), rtol=3e-15)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_quotients_of_conjugate_numbers_are_conjugate_and_products_real(
    dtype: str, backend: xp.Backend, jits: list[Callable[[Any], Any]]
) -> None:
    def products(x: xp.Array) -> tuple[xp.Array, ...]:
        return x[:, 0] * x[:, 1], x * xp.conj(x), xp.prod(x, axis=1), xp.cumulative_prod(x, axis=1)[:, 1]

    rng = np.random.default_rng(6)
    for n in (1, 4, 11):
        half = rng.normal(size=n) + 1j * rng.normal(size=n)
        z = xp.asarray(np.concatenate([half, [0.5], half[::-1].conj()]))
        y = (4 + z) / (4 - z)
        assert xp.all(y == xp.conj(xp.flip(y)))
        assert xp.all(xp.reciprocal(z) == xp.conj(xp.flip(xp.reciprocal(z))))
    if backend.library == "tf":  # NumPy and JAX add without rounding where a processor can
        pairs = xp.asarray(np.stack([half, half.conj()], axis=1).astype(dtype))
        assert all(xp.all(xp.imag(one) == 0) for jit in jits for one in jit(products)(pairs))
