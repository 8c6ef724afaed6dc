"""Values and errors at the edges, the same on every backend."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp


@pytest.mark.usefixtures("backend")
def test_a_divisor_with_a_nan_makes_nan() -> None:
    z = xp.asarray([complex(np.inf, np.nan), complex(np.nan, -np.inf)])
    with np.errstate(all="ignore"):
        assert xp.all(xp.isnan(xp.real(1 / z))) and xp.all(xp.isnan(xp.imag(xp.reciprocal(z))))


@pytest.mark.parametrize(("dtype", "far"), [("complex64", 1e30), ("complex128", 1e300), ("complex128", 1e16)])
@pytest.mark.parametrize("function", ["acos", "acosh", "asin", "asinh", "atan", "atanh"])
@pytest.mark.usefixtures("backend")
def test_a_nan_beside_a_large_number_makes_nan_of_both_parts(function: str, dtype: str, far: float) -> None:
    parts = [complex(far, np.nan), complex(-far, np.nan), complex(np.nan, far), complex(np.nan, -far)]
    with np.errstate(all="ignore"):
        found = getattr(xp, function)(xp.asarray(parts, dtype=getattr(xp, dtype)))
    assert xp.all(xp.isnan(xp.real(found))) and xp.all(xp.isnan(xp.imag(found)))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.usefixtures("backend")
def test_an_exponential_that_turns_for_ever_is_nan_however_small(dtype: str) -> None:
    turning = [complex(re, im) for re in (-1e16, -800.0, 0.0, 1.0) for im in (np.inf, -np.inf, np.nan)]
    with np.errstate(all="ignore"):
        found = xp.exp(xp.asarray(turning, dtype=getattr(xp, dtype)))
    assert xp.all(xp.isnan(xp.real(found))) and xp.all(xp.isnan(xp.imag(found)))


@pytest.mark.usefixtures("backend")
def test_a_length_below_minus_one_is_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        xp.reshape(xp.ones(6), (-2, 3))


@pytest.mark.usefixtures("backend")
def test_a_length_that_could_be_any_is_refused() -> None:
    with pytest.raises(ValueError, match=r"reshape: x of shape \(0,\) does not fit shape \(-1, 0\)"):
        xp.reshape(xp.ones(0), (-1, 0))


@pytest.mark.usefixtures("backend")
def test_nothing_is_taken_along_an_axis_that_is_not_there() -> None:
    with pytest.raises(xp.AxisError, match="take: axis 0 is out of bounds"):
        xp.take(xp.asarray(1.0), xp.asarray([0]), axis=0)


REDUCTIONS: Final = "sum prod mean max min all any std var argmax argmin count_nonzero sort argsort".split()


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("function", REDUCTIONS)
@pytest.mark.usefixtures("backend")
def test_an_array_without_axes_has_no_axis_to_name(function: str, axis: int) -> None:
    x = xp.asarray(True if function in ("all", "any") else 1.0)
    with pytest.raises(xp.AxisError, match=f"{function}: axis {axis} is out of bounds"):
        getattr(xp, function)(x, axis=axis)


@pytest.mark.parametrize("function", ["sum", "prod", "max", "min", "all", "any", "count_nonzero"])
@pytest.mark.usefixtures("backend")
def test_no_axis_may_be_named(function: str) -> None:
    x = xp.asarray(True if function in ("all", "any") else 1.0)
    assert getattr(xp, function)(x, axis=()).shape == ()


@pytest.mark.parametrize(("dtypes", "wanted"), [(("int8", "uint8"), "float16"), (("int8", "uint16"), "float32")])
@pytest.mark.parametrize("function", ["atan2", "copysign", "hypot", "logaddexp", "nextafter"])
@pytest.mark.usefixtures("backend")
def test_two_integers_are_taken_as_the_floats_of_each(function: str, dtypes: tuple[str, str], wanted: str) -> None:
    x1, x2 = (xp.ones(2, dtype=getattr(xp, name)) for name in dtypes)
    assert str(getattr(xp, function)(x1, x2).dtype).removeprefix("anyarray.") == wanted


@pytest.mark.usefixtures("backend")
def test_integers_that_are_the_same_float_are_not_in_one_another() -> None:
    x = xp.asarray([2**63 - 1, 2**63 - 2, 5])
    assert xp.isin(x, xp.asarray([5.0, 0.5])).tolist() == [False, False, True]
    big = xp.asarray([2**64 - 2, 2**64 - 1, 5], dtype=xp.uint64)
    assert xp.isin(big, x).tolist() == [False, False, True]
    assert xp.isin(big, xp.asarray([-2, -1, 5]), invert=True).tolist() == [True, True, False]


@pytest.mark.usefixtures("backend")
def test_an_infinite_part_outweighs_the_other_in_a_sign() -> None:
    inf, nan = np.inf, np.nan
    z = xp.asarray([complex(3, inf), complex(-inf, 3), complex(nan, -inf), complex(inf, inf), complex(0, nan)])
    np.testing.assert_array_equal(np.asarray(xp.sign(z)), [1j, -1, -1j, complex(nan, nan), complex(nan, nan)])


@pytest.mark.parametrize("function", ["conj", "real", "round"])
def test_booleans_have_neither_parts_nor_digits(framework: str, function: str) -> None:
    with xp.backend(framework), pytest.raises(TypeError, match=f"{function}: x must have a numeric dtype, not bool"):
        getattr(xp, function)(xp.asarray([True]))


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.usefixtures("backend")
def test_no_difference_is_taken_along_an_axis_that_is_not_there(n: int) -> None:
    with pytest.raises(xp.AxisError, match="diff: axis"):
        xp.diff(xp.asarray(1.0), n=n)
    with pytest.raises(xp.AxisError, match="diff: axis 1 is out of bounds"):
        xp.diff(xp.asarray([1.0]), axis=1, n=n)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("rows", [[[-4, 0], [0, 1]], [[1, 2], [2, 1]], [[4, 0], [0, -1]]])
@pytest.mark.usefixtures("backend")
def test_a_matrix_that_is_not_positive_definite_has_no_root(rows: list[list[int]], dtype: str) -> None:
    x = xp.asarray(np.asarray([np.eye(2), rows], dtype))
    for cholesky in (xp.linalg.cholesky, xp.jit(xp.linalg.cholesky)):
        try:
            root = cholesky(x)
        except np.linalg.LinAlgError:
            continue
        assert np.isnan(np.asarray(root)[1]).any(axis=-1).any()
        np.testing.assert_array_equal(np.asarray(root)[0], np.eye(2))


@pytest.mark.parametrize("function", ["irfft", "hfft"])
@pytest.mark.usefixtures("backend")
def test_no_real_signal_follows_from_one_number(function: str) -> None:
    with pytest.raises(ValueError):
        getattr(xp.fft, function)(xp.asarray([1 + 1j]))


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.usefixtures("backend")
def test_what_is_no_matrix_has_no_rank(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"matrix_rank: x must be \(\.\.\., m, n\), not shape"):
        xp.linalg.matrix_rank(xp.ones(shape))


@pytest.mark.parametrize("shift", [10**12, -(10**12), 10**30])
@pytest.mark.usefixtures("backend")
def test_a_long_shift_is_not_cut_off(shift: int) -> None:
    assert xp.roll(xp.arange(7), shift).tolist() == np.roll(np.arange(7), shift % 7).tolist()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
@pytest.mark.usefixtures("backend")
def test_a_shift_by_all_bits_leaves_the_sign(dtype: str) -> None:
    width, sign = 8 * np.dtype(dtype).itemsize, -(dtype[0] == "i")
    x = xp.asarray([1, 100, 3 + 6 * sign], dtype=dtype)
    for far in (width, width + 1):
        counts = xp.asarray([far] * 3, dtype=dtype)
        assert xp.bitwise_left_shift(x, counts).tolist() == [0, 0, 0]
        assert xp.bitwise_right_shift(x, counts).tolist() == [0, 0, sign]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64", "bfloat16"])
@pytest.mark.usefixtures("backend")
def test_many_elements_are_clipped_as_few_are(dtype: str) -> None:
    few = xp.astype(xp.asarray([0.0, 1.0, 2.0, 5.0]), getattr(xp, dtype))
    low, high = (xp.asarray(bound, dtype=few.dtype) for bound in (1, 2))
    for bounds in ((low, high), (high, low), (low, None), (None, high)):
        assert xp.clip(xp.tile(few, (2000,)), *bounds).tolist() == xp.clip(few, *bounds).tolist() * 2000


@pytest.mark.parametrize("bound", [1j, 2.5])
@pytest.mark.usefixtures("backend")
def test_many_elements_and_a_bound_of_another_kind_are_clipped_as_few_are(bound: complex) -> None:
    few, many = (xp.ones(n, dtype=xp.int32) for n in (2, 5000))
    if bound == 1j:
        with pytest.raises(xp.ArgumentTypeError, match="clip: min must have a real numeric dtype, not complex128"):
            xp.clip(many, bound, 3)
    else:
        assert xp.clip(many, bound, 3).dtype == xp.clip(few, bound, 3).dtype == xp.float64
        assert bool(xp.all(xp.clip(many, bound, 3) == 2.5))


def test_on_numpy_a_square_root_is_that_of_numpy() -> None:
    host = np.asarray([4.0, -0.0, -np.inf, 2.0, np.nan, 0.1])
    with xp.backend("numpy"), np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.asarray(xp.asarray(host) ** 0.5), host**0.5)
        assert bool(xp.signbit((xp.asarray(host) ** 0.5)[1]))


def test_on_numpy_a_copy_lies_in_memory_as_the_array_does() -> None:
    host = np.arange(6000.0).reshape(10, 20, 30)
    with xp.backend("numpy"):
        for few_or_many in (host[:2, :2, :2], host):
            for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
                source = few_or_many.transpose(order)[::-1]
                copy = xp.asarray(source)
                np.testing.assert_array_equal(np.asarray(copy), source)
                assert np.asarray(copy).strides == source.copy("K").strides


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64"])
@pytest.mark.usefixtures("backend")
def test_equal_integers_keep_their_order_when_they_descend(dtype: str) -> None:
    ends = (False, True) if dtype == "bool" else (xp.iinfo(dtype).min, xp.iinfo(dtype).max)
    x = xp.asarray([[ends[0], ends[1], 1, 0], [ends[1], ends[0], 1, 1], [1, 0, 0, 1]], dtype=dtype)
    for axis, rows in ((1, x.tolist()), (0, x.T.tolist())):
        wanted = [sorted(range(len(row)), key=row.__getitem__, reverse=True) for row in rows]
        found = xp.argsort(x, axis=axis, descending=True)
        assert (found if axis else found.T).tolist() == wanted


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "complex64"])
@pytest.mark.usefixtures("backend")
def test_many_elements_are_made_unique_as_few_are(dtype: str) -> None:
    few = [7, 0, 3, 7, 1, 0]
    x = xp.asarray(few * 500, dtype=dtype)
    assert xp.unique_values(x).tolist() == [0, 1, 3, 7]
    assert x.tolist() == few * 500


@pytest.mark.parametrize("n", [2, 32, 33, 3000])
@pytest.mark.usefixtures("backend")
def test_few_elements_are_sought_as_many_are(n: int) -> None:
    x, sought = np.arange(-5, 4000) / 2, np.arange(n) * 3
    np.testing.assert_array_equal(np.asarray(xp.isin(xp.asarray(x), xp.asarray(sought))), np.isin(x, sought))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
@pytest.mark.usefixtures("backend")
def test_powers_of_integers_are_exact_whatever_the_exponent(dtype: str) -> None:
    kind = xp.iinfo(dtype)
    bases = [0, 1, 2, 3, kind.max] + ([-1, -2, kind.min] if kind.min else [])
    for exponents in ([0, 1, 5, 63], [64, 65, 127, 0], [127, 64, 2, 1]):
        found = xp.asarray(bases, dtype=dtype)[:, None] ** xp.asarray(exponents, dtype=dtype)
        modulus = 1 << kind.bits
        wanted = [[(base**exponent - kind.min) % modulus + kind.min for exponent in exponents] for base in bases]
        assert found.tolist() == wanted
        assert (xp.asarray(bases, dtype=dtype) ** exponents[0]).tolist() == [row[0] for row in wanted]


@pytest.mark.parametrize("shape", [(3000,), (30, 100), (30, 0), (3, 5, 7)])
@pytest.mark.usefixtures("backend")
def test_a_mask_selects_what_it_selects_in_numpy(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).random(shape)
    for mask in (x < 0.5, x.reshape(len(x), -1).sum(-1) < x.size / len(x) / 2, x < 0, x < 2):
        for source in (x, np.asfortranarray(x)):
            np.testing.assert_array_equal(np.asarray(xp.asarray(source)[xp.asarray(mask)]), x[mask])


@pytest.mark.parametrize("function", ["irfft", "hfft"])
@pytest.mark.parametrize("shape", [(0,), (2, 0)])
@pytest.mark.usefixtures("backend")
def test_of_no_spectrum_comes_a_signal_of_zeros(function: str, shape: tuple[int, ...]) -> None:
    transform = getattr(xp.fft, function)
    for n in (2, 5):
        np.full((*shape[:-1], n), 7e300)  # what stands in the memory that is taken next
        assert transform(xp.ones(shape), n=n).tolist() == np.zeros((*shape[:-1], n)).tolist()


@pytest.mark.usefixtures("backend")
def test_of_no_spectrum_comes_a_signal_of_zeros_along_several_axes() -> None:
    found = xp.fft.irfftn(xp.ones((3, 0)), s=(2, 4), axes=(0, 1))
    assert found.tolist() == np.zeros((2, 4)).tolist()


@pytest.mark.parametrize("function", ["fftn", "ifftn"])
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
@pytest.mark.usefixtures("backend")
def test_a_transform_of_no_axes_is_complex(function: str, dtype: str) -> None:
    wanted = xp.complex64 if dtype == "float32" else xp.complex128
    transform = getattr(xp.fft, function)
    for x in (transform(xp.ones(2, dtype=dtype), axes=()), transform(xp.asarray(1, dtype=dtype))):
        assert x.dtype == wanted and xp.all(x == 1)


@pytest.mark.parametrize("function", ["fftshift", "ifftshift"])
@pytest.mark.usefixtures("backend")
def test_an_array_without_axes_is_not_shifted(function: str) -> None:
    assert getattr(xp.fft, function)(xp.asarray(2.0)).tolist() == 2.0
    with pytest.raises(xp.AxisError):
        getattr(xp.fft, function)(xp.asarray(2.0), axes=0)


@pytest.mark.parametrize(("function", "dtype"), [("fft", "complex64"), ("rfft", "complex64"), ("irfft", "float32")])
@pytest.mark.usefixtures("backend")
def test_16_bits_are_transformed_as_32(function: str, dtype: str) -> None:
    a = np.asarray([0.7, 3.75, -1.0], np.float16)
    found = getattr(xp.fft, function)(xp.asarray(a))
    assert found.dtype == getattr(xp, dtype)
    wanted = getattr(np.fft, function)(a.astype(np.float32))
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6, atol=1e-6)  # 16 bits are good for 1e-3


@pytest.mark.parametrize("far", [2**40, -(2**40), 2**70, -(2**70)])
@pytest.mark.usefixtures("backend")
def test_a_diagonal_may_be_as_far_away_as_one_likes(far: int) -> None:
    x = xp.ones((2, 3))
    assert float(xp.linalg.trace(x, offset=far)) == 0.0
    assert xp.linalg.diagonal(x, offset=far).shape == (0,)
    assert float(xp.sum(xp.tril(x, k=far))) == (6.0 if far > 0 else 0.0)
    assert float(xp.sum(xp.triu(x, k=far))) == (0.0 if far > 0 else 6.0)


@pytest.mark.usefixtures("backend")
def test_differences_end_when_nothing_is_left() -> None:
    assert xp.diff(xp.ones((3, 1)), axis=0, n=2**62).shape == (0, 1)
    assert xp.diff(xp.ones(2), prepend=xp.ones(2), append=xp.ones(1), n=2**62).shape == (0,)
    assert xp.diff(xp.ones(3), prepend=xp.asarray([1.0, 2.0]), n=4).tolist() == [-4.0]


@pytest.mark.usefixtures("backend")
def test_one_axis_of_each_may_be_contracted_as_in_numpy() -> None:
    x = xp.reshape(xp.arange(6.0), (2, 3))
    assert xp.tensordot(x, x, axes=(0, -2)).tolist() == np.tensordot(np.asarray(x), np.asarray(x), (0, 0)).tolist()
    with pytest.raises(ValueError, match=r"tensordot: .* do not fit with axes=-1"):
        xp.tensordot(x, x, axes=-1)


@pytest.mark.parametrize("function", ["squeeze", "repeat"])
@pytest.mark.usefixtures("backend")
def test_what_has_no_axes_has_none_to_repeat_or_to_take_away(function: str) -> None:
    arguments = () if function == "squeeze" else (2,)
    for axis in (0, -1):
        with pytest.raises(xp.AxisError, match=f"{function}: axis {axis} is out of bounds"):
            getattr(xp, function)(xp.asarray(1.0), *arguments, axis=axis)


FLAGGED: Final = "sum prod mean max min std var all any count_nonzero argmax argmin".split()


@pytest.mark.parametrize("function", FLAGGED)
@pytest.mark.usefixtures("backend")
def test_a_flag_may_be_0_or_1(function: str) -> None:
    x = xp.ones((2, 3), dtype=xp.bool if function in ("all", "any") else xp.float64)
    assert getattr(xp, function)(x, axis=0, keepdims=1).shape == (1, 3)
    assert getattr(xp, function)(x, axis=0, keepdims=0).shape == (3,)


@pytest.mark.parametrize("flag", [0, 1, 2])
@pytest.mark.usefixtures("backend")
def test_a_flag_of_sorting_may_be_an_int(flag: int) -> None:
    x = xp.asarray([2.0, 3.0, 1.0])
    assert xp.sort(x, stable=flag, descending=flag).tolist() == sorted([1.0, 2.0, 3.0], reverse=bool(flag))
    assert xp.argsort(x, stable=flag).tolist() == [2, 0, 1]


@pytest.mark.usefixtures("backend")
def test_vecdot_conjugates_its_first_argument() -> None:
    assert complex(xp.vecdot(xp.asarray([1j, 2]), xp.asarray([1j, 1]))) == 3


@pytest.mark.usefixtures("backend")
def test_a_flag_of_linear_algebra_may_be_0_or_1() -> None:
    x = xp.ones((2, 3))
    for order in (2, 1, 3, np.inf, -np.inf, 0):
        assert xp.linalg.vector_norm(x, axis=0, keepdims=1, ord=order).shape == (1, 3)
    assert xp.linalg.matrix_norm(x, keepdims=1, ord=1).shape == (1, 1)
    assert xp.linalg.svd(x, full_matrices=0)[2].shape == (2, 3)


def test_an_array_for_which_there_is_no_memory_does_not_end_the_process(forked: Callable[..., str]) -> None:
    pytest.importorskip("jax")
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


@pytest.mark.usefixtures("backend")
def test_indices_of_uint64_are_not_negative() -> None:
    x, far, order = xp.asarray([3, 1]), xp.asarray([2**64 - 1], dtype="uint64"), xp.asarray([1, 0], dtype="uint64")
    for read in (lambda i: x[i], lambda i: xp.take(x, i), lambda i: xp.take_along_axis(x, i)):
        assert read(order).tolist() == [1, 3]
        with pytest.raises(IndexError):
            read(far)
    with pytest.raises(IndexError):
        x[far] = 9
    assert x.tolist() == [3, 1]


@pytest.mark.usefixtures("backend")
def test_differences_of_nothing_have_the_dtype_of_all() -> None:
    assert xp.diff(xp.zeros(0, dtype="uint16"), prepend=xp.zeros(0, dtype="complex64")).dtype == xp.complex64


@pytest.mark.parametrize("function", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
@pytest.mark.usefixtures("backend")
def test_signed_integers_and_uint64_are_compared_exactly(function: Any) -> None:
    signed, unsigned = [-1, 0, 2**63 - 1], [0, 2**63 - 1, 2**63, 2**64 - 1]
    x, y = xp.asarray(signed, dtype=xp.int64), xp.asarray(unsigned, dtype=xp.uint64)
    assert function(x[:, None], y).tolist() == [[function(a, b) for b in unsigned] for a in signed]
    assert function(y[:, None], x).tolist() == [[function(b, a) for a in signed] for b in unsigned]


IN_HALF: Final = {
    "acos asin atanh": (-0.9, 0.9),
    "acosh log log10 log2 reciprocal sqrt": (1.0, 9.0),
    "asinh atan cos cosh exp expm1 log1p sin sinh tan tanh": (-0.8, 9.0),
    "atan2 copysign hypot logaddexp": (-9.0, 9.0),
}
"""The ends of the arguments of functions; those of the last row have two."""


@pytest.mark.usefixtures("backend")
def test_functions_of_float16_are_rounded_once() -> None:
    wrong = {}
    for names, (low, high) in IN_HALF.items():
        x = np.linspace(low, high, 301).astype(np.float16)
        for name in names.split():
            given = (x, np.roll(x, 1)) if low == -9 else (x,)
            numpys = getattr(np, name)
            exact = numpys(*[one.astype(np.float64) for one in given]).astype(np.float16)
            found = np.asarray(getattr(xp, name)(*map(xp.asarray, given)))
            steps = np.abs(found.view(np.int16).astype(int) - exact.view(np.int16)).max()
            if steps > 1:
                wrong[name] = int(steps)
    assert not wrong
