"""NumPy's functions, called as NumPy's are.

The same expression in both gives the same, on every backend.
"""

from __future__ import annotations

import copy
import itertools
import numbers
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy
import pytest
from comparison import each
from expressions import groups, head, several

import anyarray as xp
import anyarray.numpy

np: Any = anyarray.numpy
pytestmark = [pytest.mark.few_backends, pytest.mark.usefixtures("backend")]

CREATION: Final = """
np.array([1, 2, 3]); np.array([[1.5, 2], [3, 4]], dtype=np.float32); np.array([1, 2], float); np.array(5)
np.array([1, 2, 3], ndmin=2); np.array((1, 2), "int16"); np.array([True, False]); np.array([1 + 2j, 3])
np.array(range(3)); np.array([np.float32(1), np.float32(2)]); np.array([np.array([1, 2]), np.array([3, 4])])
np.asarray([[1], [2]], dtype="uint8")
np.ascontiguousarray(3); np.ascontiguousarray(m.T).strides, np.ascontiguousarray(m[:, ::-1])
m.T.copy().strides, np.copy(m.T).strides, (m.T + 1).strides, np.array(m.T, order="C").strides
np.asarray(m.T, order="C").strides, m.T.astype("f4").strides, m.T.astype("f4", order="C").strides
np.zeros(3); np.zeros((2, 3), int); np.zeros((2,), dtype=bool, order="F"); np.ones([2, 2], np.complex64)
np.full((2, 2), 7); np.full(3, [1, 2, 3]); np.full(2, 1.5, dtype=int); np.zeros_like([[1, 2], [3, 4]])
np.ones_like(m, dtype=float); np.full_like(m, 2.7); np.full_like(v, 9, shape=(2,)); np.empty_like(m).shape
np.eye(3); np.eye(2, 3, 1, int)
np.arange(5); np.arange(1, 10, 3); np.arange(0, 1, 0.25); np.arange(3, dtype=np.float32); np.arange(np.int64(4))
np.linspace(0, 1, 5); np.linspace(0, 10, num=4, endpoint=False); np.linspace(0, 10, 5, retstep=True)
np.linspace(0, 10, 4, dtype=int); np.linspace([0, 10], [1, 20], 3); np.linspace([0, 10], [1, 20], 3, axis=1)
np.meshgrid([1, 2, 3], [4, 5]); np.meshgrid([1, 2, 3], [4, 5], indexing="ij")
np.meshgrid([1, 2, 3], [4, 5], sparse=True); np.copy(m); np.frombuffer(b"\\x01\\x02", dtype=np.uint8)
np.fromiter((i * i for i in range(4)), dtype=float); np.fromstring("1 2 3", sep=" ")
"""

SHAPES: Final = """
np.shape([[1, 2]]); np.ndim(3.5); np.size(m); np.size(m, 1)
np.reshape(m, (3, 2)); np.reshape(m, -1); np.reshape(m, (3, 2), order="F"); np.reshape([1, 2, 3, 4], (2, 2))
np.ravel(m); np.ravel([[1, 2], [3, 4]], order="F"); np.squeeze([[[1], [2]]]); np.squeeze(np.ones((1, 2, 1)), axis=0)
np.expand_dims([1, 2], 0); np.transpose(m); np.transpose(np.ones((2, 3, 4)), (1, 0, 2)).shape; np.swapaxes(m, 0, 1)
np.moveaxis(np.ones((2, 3, 4)), 0, -1).shape
np.concatenate([m, [[7, 8, 9]]]); np.concatenate((v, [1.5]), axis=None); np.concatenate([[1], [2]], dtype=float)
np.stack([v, v]); np.stack(([1, 2], [3, 4]), axis=1); np.tile([1, 2], 2); np.tile(v, (2, 1))
np.repeat([1, 2], 2); np.repeat(m, [1, 2], axis=0); np.roll(v, 1); np.roll(m, 1, axis=1)
np.flip(m, 0); np.flip([1, 2, 3]); np.broadcast_to([1, 2], (2, 2)); np.broadcast_arrays([1, 2], [[1], [2]])
np.array(np.ndenumerate([[1, 2]]).__next__()[1]); np.iterable(v); np.broadcast_shapes((2, 1), (3,))
"""

VALUES: Final = """
np.sum([1, 2, 3]); np.sum(m, 0); np.sum(m, axis=1, keepdims=True); np.sum(m, dtype=np.float32); np.sum(m, where=m > 2)
np.sum(m, axis=0, initial=10); np.prod(v)
np.max(m); np.max(m, 1); np.max([], initial=3.0); np.max(m, where=m < 4, initial=0); np.amin(m, axis=0)
np.mean(m); np.mean([1, 2, 4]); np.mean(m, axis=0, dtype=np.float32); np.mean(m, where=m > 2)
np.std(v); np.std(v, ddof=1); np.var(m, axis=1, ddof=1); np.var(m, where=m > 1); np.all([True, False])
np.any(m > 5, axis=0); np.argmax(m); np.argmin([3, 1, 2]); np.argmax(m, axis=1); np.cumsum(m); np.cumsum(m, axis=1)
np.cumprod([1, 2, 3], dtype=float); np.sort([3, 1, 2]); np.sort(-m, axis=None); np.sort(-m, axis=0, kind="stable")
np.argsort([3, 1, 2]); np.argsort(-m, axis=1)
np.searchsorted([1, 2, 4], 3); np.searchsorted([1, 2, 4], [2, 5], side="right")
np.where([True, False], 1, 2); np.where(m > 2); np.where(m > 2, m, -1); np.where(m > 2, [0, 1, 2], 0.5)
np.nonzero([0, 3, 0, 4]); np.count_nonzero(m > 1, axis=0)
np.clip(m, 2, 4); np.clip([1, 5], 2, None); np.clip(v, a_min=1, a_max=2.5); np.clip(m, min=3)
np.round([1.234, 5.678], 1); np.round(1234, -2); np.around(v, decimals=1)
np.take(m, [0, 2]); np.take(m, [[0, 1]], axis=1); np.take(v, [5, -1], mode="wrap"); np.take(v, 7, mode="clip")
np.take_along_axis(m, np.argsort(-m, axis=1), axis=1); np.diff([1, 4, 9]); np.diff(m, axis=0); np.isin([1, 5], [5, 6])
np.real([1 + 2j]); np.imag(v); np.real(3.5); np.tril(m); np.tensordot(m, m.T, 1); np.matmul(m, [1, 2, 3])
np.nansum([1.0, np.nan], initial=10); np.nanmax([[1.0, np.nan, 3], [4, 5, 6]], axis=0, initial=5)
np.nanmean([1.0, np.nan, 3, 5], where=[True, True, False, True]); np.mean([1.0, 3]).is_integer()
np.einsum("ij,j", m, v); np.einsum(m, [0, 1], v, [1], [0]); np.pad(v, 1, constant_values=9); np.median(m, axis=1)
np.percentile([1, 2, 4], [25, 75]); np.unique([3, 1, 3], return_counts=True); np.histogram([1, 2, 1], bins=[0, 1, 2, 3])
np.interp([1.5, 9], [1, 2], [10, 20]); np.linalg.norm([3.0, 4.0]); np.fft.fft([1, 2, 3], norm=None)
np.r_[1, [2, 3], 4:6]; np.mgrid[:2, :3]; np.linalg.det([[1.0, 2], [3, 4]]); np.linalg.solve([[2.0, 0], [0, 4]], [2, 4])
np.linalg.svd([[2.0, 0], [0, 1]], compute_uv=False); np.linalg.qr([[2.0, 0], [0, 1]], mode="r").shape
np.linalg.matrix_rank([[1, 1], [1, 1]]); np.linalg.matrix_rank(np.eye(3), tol=0.5); np.linalg.pinv([[2.0, 0], [0, 4]])
np.linalg.matrix_power([[1, 1], [1, 0]], 5); np.fft.fft([1, 2, 3]); np.fft.rfft(v); np.fft.fftfreq(4, 0.5)
"""

RANDOM: Final = """
[g.random(2) for g in np.random.default_rng(0).spawn(2)]; np.random.RandomState(5).uniform(size=3)
np.random.default_rng(0).normal(1, 2, (2, 3)); np.random.default_rng(0).normal(v, m)
np.random.default_rng(0).random(); np.random.default_rng(0).integers(5)
np.random.default_rng(0).choice(v, 2, replace=False); np.random.default_rng(0).permutation(m)
np.random.seed(0), np.random.rand(2), np.random.randn(2), np.random.randint(0, 5, 3)
"""

OF_ELEMENTS: Final = """
np.array([v[0], v[1] * 2, v.sum()]); np.array([[v[0], v[1]], (v[2], v[0])]); np.array([v[0], np.arange(3)[1]])
np.array([v[0], v[1]], dtype=np.float32); np.array([(v > 1)[0], (v > 1)[1]])
"""

UFUNCS: Final = """
np.sqrt(2.0); np.sqrt([1, 4]); np.add(1, 2); np.add([1, 2], 3); np.add(m, v); np.power(2, 3); np.power(m, 2)
np.maximum(m, 3); np.maximum([1, 5], [4, 2]); np.arctan2(1.0, [1, -1]); np.exp(v, dtype=np.float64); np.abs(-3)
np.absolute([-1, 2]); np.negative(m); np.logical_not([0, 1]); np.isnan([1.0, np.nan]); np.hypot(3, 4); np.mod(m, 4)
np.floor_divide(m, 2); np.sign([-2, 0, 3]); np.add(m, 1, where=m > 3, out=np.zeros((2, 3), int))
np.add.reduce(m); np.add.reduce(m, axis=None); np.add.reduce(m, axis=1, keepdims=True); np.maximum.reduce(m, axis=1)
np.logical_and.reduce([[True, False], [True, True]]); np.logical_or.reduce([[0, 0], [0, 1]], axis=1)
np.subtract.reduce(m, axis=1); np.bitwise_or.reduce([1, 2, 4]); np.hypot.reduce([3.0, 4.0, 12.0]); np.add.accumulate(m)
np.multiply.accumulate([1, 2, 3, 4]); np.maximum.accumulate([3, 1, 4, 1, 5]); np.minimum.accumulate(m, axis=1)
np.subtract.accumulate([10, 1, 2]); np.logical_and.accumulate([True, False, True]); np.subtract.outer([1, 2], [3, 4, 5])
np.multiply.outer(v, v); np.equal.outer([1, 2], [2, 1])
np.add.reduceat([1, 2, 3, 4], [0, 2]); np.add.reduceat(m, [0, 1, 1], axis=1)
np.maximum.reduceat([3, 1, 4, 1], [0, 2, 1]); np.add.nin, np.add.nout, np.add.identity, np.multiply.identity
"""


COMPLEX: Final = """
c.max(), c.min(), c.argmax(), c.argmin(); np.max(c, axis=0); np.min(c, axis=(0, 1), keepdims=True)
np.max(c, where=[[True], [False]], initial=-1j); np.argmax(c, axis=1); np.argmin(c, keepdims=True)
np.max(np.array([1, complex(0, np.nan), 5j])); np.argmax(np.array([1, complex(0, np.nan), np.nan]))
np.sort(c); np.sort(c, axis=None); np.sort(np.array([np.nan, 1j, complex(1, np.nan), 2, -1])); np.argsort(c, axis=0)
np.maximum(c, 1 + 1j); np.minimum([1, 2j], np.array([1j, complex(0, np.nan)]))
np.fmax(np.array([1j, complex(0, np.nan)]), 2); np.clip(c, 1j, 1 + 1j)
np.searchsorted(np.sort(c[0]), [0, 1 + 1j], side="right"); np.nanmax(np.array([[1j, np.nan], [2, 3]]), axis=1)
np.nanmin(np.array([1j, np.nan]), initial=-2); np.nanargmax(np.array([np.nan, 1j, 1]))
np.real_if_close(np.conjugate(c) * c); c > 1, c >= 1 + 1j, 2j < c, c <= c[::-1], [[1j], [2]] > c
np.less(c, c.T[0, 0]), np.greater_equal([1, 1 - 1j], np.array([1, 1j]))
np.emath.sqrt([-1.0, 4.0]), np.emath.log(-np.e), np.lib.scimath.sqrt(-1)
c.byteswap().byteswap(), np.arange(3, dtype=np.int16).byteswap(), m[0, 0].byteswap()
"""

OPTIONS: Final = """
np.einsum("ij,j->i", m, v, dtype=np.float32, casting="same_kind"); np.einsum("ij->i", m, out=np.zeros(2), dtype=float)
np.select([m > 4, m < 2], [m, 0.5], -1); np.isin([1, 2], [2], assume_unique=True, kind="sort")
np.sort([3, 1], kind="merge"); np.hstack([[1], [2]], dtype=np.float32)
np.concatenate([v, v], dtype=np.float32, casting="same_kind"); np.percentile(v.astype(np.float32), 40.0)
np.quantile(v.astype(np.float32), [0.4, 0.5])
np.histogramdd(np.array([[0.0, 1], [1, 2], [1, 2]]), bins=2); np.histogramdd([[0.0, 1, 1], [1, 2, 2]], bins=(2, 3))
np.histogramdd([0.0, 1, 1], bins=2)
np.choose([0, 1, 2], [[1, 2, 3], m[0], 9]); np.choose([0, 5], (1.5, np.array([1, 2], np.float32)), mode="clip")
np.array([1, 0, 1]).choose(10, v); np.broadcast([1, 2, 3], [[1], [2]]).shape
np.array(list(np.broadcast([1, 2], [[3], [4]])))
np.array_equal(m, m), np.array_equal(m, v), np.allclose(v, v), np.array_equiv(m, m[:1])
np.isscalar(3), np.isscalar(m), np.isscalar(m.sum()); np.take_along_axis(m, np.argsort(-m, axis=None), axis=None)
np.r_[0 : 1 : np.complex64(3j)]; np.all(m, where=True), np.any(m > 5, where=[[True], [False]])
np.add(m, 1, out=np.zeros((3, 2, 3), int)); np.add([1.5], 1, dtype=np.float32)
np.multiply(np.array([1, 2], np.uint8), 3, dtype=np.uint8); np.less(m, v, casting="same_kind")
np.linalg.eig([[2.0, 1], [1, 2]])[0]; np.linalg.eigvals([[0.0, 1], [-1, 0]])
np.linalg.eigvalsh([[2.0, 9], [1, 2]], UPLO="L")
np.linalg.eigh([[2.0, 1], [9, 2]], "U")[0];
  (lambda w, v: np.round(v * w @ v.conj().T, 9))(*np.linalg.eigh([[2, 1j], [9, 3]], "U"))
np.apply_along_axis(np.sum, 0, np.ones((0, 2))); v.conj(np.zeros(3)); [[1] * m[0, 1], m[0, 1] * (1, 2)]
np.lib.stride_tricks.as_strided(v, (2, 2), (8, 8)); np.lib.stride_tricks.as_strided(m, (3, 2), m.T.strides)
"""


def test_a_complex_number_of_which_a_part_is_nan_is_in_no_order() -> None:
    values = numpy.array([complex(real, imag) for real in (0, 1, numpy.nan) for imag in (0, 1, numpy.nan)])
    with numpy.errstate(invalid="ignore"):
        for function in ("less", "less_equal", "greater", "greater_equal"):
            found = getattr(anyarray.numpy, function)(xp.asarray(values), xp.asarray(values)[:, None])
            assert_same(found, getattr(numpy, function)(values, values[:, None]))


REFUSED: Final = """
np.concatenate([v, v], out=np.zeros(6, np.float32), casting="safe")
np.concatenate([v, v], out=np.zeros(6), dtype=float)
np.add([1, 2], 1.5, dtype=int); np.add(v, 1, out=np.zeros(3, np.float32), casting="safe"); np.arange(step=2)
np.einsum("i->", v, dtype=np.float32); np.isin([1], [1], kind="quick"); np.partition(v, 1, kind="nonsense"); m[0.5]
np.linalg.inv(np.ones((2, 3))); np.linalg.matrix_power(np.eye(2), 1.5); np.linalg.eigh(np.eye(2), "x")
np.nanargmax(np.array([complex(0, np.nan)])); np.take_along_axis(m, np.array([[True]]), 0)
"""


def test_an_expression_raises_what_numpy_raises() -> None:
    for expression in several(REFUSED):
        with pytest.raises((IndexError, TypeError, ValueError)) as expected:
            evaluated(expression, numpy)
        with pytest.raises(expected.type):
            evaluated(expression, anyarray.numpy)


class Point(NamedTuple):
    row: int
    column: int


def test_a_named_tuple_is_a_key_of_several_entries() -> None:
    x: Any = np.array([[1, 2], [3, 4]])
    assert x[Point(1, 0)] == 3
    x[Point(1, 0)] = 9
    assert x.tolist() == [[1, 2], [9, 4]]


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.usefixtures("backend")
def test_cross_takes_vectors_of_two_elements_which_numpy_no_longer_does() -> None:
    assert np.cross([1, 2], [3, 4]).tolist() == -2
    assert np.cross([[1, 2, 3]], [4, 5]).tolist() == [[-15, 12, -3]]


def test_an_eigenvalue_under_a_trace_is_complex(framework: str) -> None:
    with xp.backend(framework):
        assert xp.jit(np.linalg.eigvals)(np.eye(2)).dtype == np.complex128


def evaluated(expression: str, np: Any) -> Any:
    m, v = np.array([[1, 2, 3], [4, 5, 6]]), np.array([0.5, 1.5, 2.5])
    c = np.array([[1 + 2j, 1 - 1j, 0], [2j, 1 + 2j, 1]])
    return eval(expression, {"np": np, "m": m, "v": v, "c": c})


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
        return
    if isinstance(expected, numpy.ndarray):
        assert type(found) is xp.Array
    assert numpy.shape(found) == numpy.shape(expected)
    actual = numpy.asarray(found)
    assert actual.dtype == numpy.asarray(expected).dtype
    if actual.dtype.kind in "fc":
        numpy.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-12)
    else:
        numpy.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    "group", groups(CREATION + OF_ELEMENTS + SHAPES + VALUES + UFUNCS + COMPLEX + OPTIONS + RANDOM), ids=head
)
def test_an_expression_gives_what_numpy_gives(group: list[str]) -> None:
    for expression in group:
        assert_same(evaluated(expression, anyarray.numpy), evaluated(expression, numpy))


WRITES: Final = """
np.add.at(z, [0, 1, 1], [1, 2, 3]); np.add.at(zz, [0, 2, 2], [[1], [3], [5]]); np.add.at(zz, ([0, 0, 1], [1, 1, 2]), 1)
np.add.at(z, np.arange(300) % 3, np.arange(300.0)); np.add.at(z, np.arange(300) % 3, np.r_[np.inf, np.ones(299)])
np.add.at(n, np.arange(200) % 2, 2**55 + np.arange(200)); np.add.at(z, slice(1, 3), 1); np.add.at(zz[0], [0, 0], 1)
np.subtract.at(v, [0, 0], 2); np.maximum.at(z, [1, 1, 2], [5, 3, -1]); np.negative.at(v, [0, 0, 1])
np.multiply.at(v, [0, 0, 2], [3, 5, 7])
np.add([1, 2, 3], 1, out=z); np.add(x, v, out=x); np.add(many[1:], many[:-1], out=many[1:]); np.add(v, v, out=s)
np.less(v, v[::-1], out=b); np.multiply(v, v, z); np.sqrt(v, out=s); np.exp(v, out=zz[1]); np.clip(v, 1, 2, out=v)
np.sum(m, axis=0, out=z); np.sum(v[:2] + m[:, :2], 1, out=n[:2]); np.max(v[:2] + m[:, :2], 1, out=n[:2])
np.mean(v[:2] + m[:, :2], axis=1, out=n[:2]); np.cumsum(v[:2] * 2, out=n[:2]); np.var(2 * m[:, :2], axis=1, out=n[:2])
np.nansum(v[:2] + m[:, :2], axis=1, out=n[:2]); np.concatenate([v[:1], v[:2]], out=z); short.byteswap(inplace=True)
np.divide(v, [1, 0, 2], out=z, where=np.array([True, False, True])); np.random.default_rng(0).random(out=z)
np.random.default_rng(3).shuffle(many); np.random.seed(3), np.random.shuffle(many)
"""


@pytest.mark.parametrize("group", groups(WRITES), ids=head)
def test_a_statement_leaves_what_numpy_leaves(group: list[str]) -> None:
    def run(np: Any, statement: str) -> Any:
        arrays = {
            "m": np.array([[1, 2, 3], [4, 5, 6]]), "v": np.array([0.5, 1.5, 2.5]), "x": np.array([1.0, 2.0, 3.0]),
            "z": np.zeros(3), "zz": np.zeros((3, 3)), "n": np.zeros(3, int), "s": np.zeros(3, np.float32),
            "b": np.zeros(3, bool), "short": np.arange(3, dtype=np.int16), "many": np.arange(50_000.0),
        }  # fmt: skip
        exec(statement, {"np": np, **arrays})
        return list(arrays.values())

    for statement in group:
        assert_same(run(anyarray.numpy, statement), run(numpy, statement))


def test_text_is_numpys() -> None:
    words = np.array(["b", "a", "b"])
    assert isinstance(words, numpy.ndarray)
    assert np.sort(words).tolist() == ["a", "b", "b"]
    assert np.where(words == "b", 1, 0).tolist() == [1, 0, 1]
    assert np.concatenate([words, ["c"]]).tolist() == ["b", "a", "b", "c"]
    assert np.sum(words == "b") == 2
    assert np.select([np.array([True, False, False])], ["x"], default="y").tolist() == ["x", "y", "y"]


def test_an_ndarray_of_numpys_is_one_to_a_program() -> None:
    for one in (np.array(["a"]), np.array([None]), np.ma.ones(2), np.zeros(1, dtype="datetime64[D]")):
        assert isinstance(one, np.ndarray)
    assert isinstance(numpy.ones(1), np.ndarray)
    assert issubclass(numpy.ndarray, np.ndarray)
    assert type(numpy.ones(1)) is not np.ndarray
    assert isinstance(np.ones(1), np.ndarray)
    assert not isinstance([1.0], np.ndarray)
    assert not isinstance(numpy.str_("a"), np.ndarray)


def test_a_class_derived_from_ndarray_is_numpys() -> None:
    class Measured(np.ndarray):  # type: ignore[misc]  # as a program for NumPy has it
        unit: str | None

        def __new__(cls, values: Any, unit: str | None = None) -> Any:
            made = np.asarray(values).view(cls)
            made.unit = unit
            return made

        def __array_finalize__(self, other: Any) -> None:
            self.unit = getattr(other, "unit", None)

    x = Measured([1.0, 4.0], "m")
    for one in (x, x[1:], x + 1, np.sqrt(x), np.add(x, np.ones(2)), np.maximum(x, 2, dtype=float)):
        assert type(one) is Measured
        assert one.unit == "m"
        assert isinstance(one, np.ndarray)
    x[0] = 9
    assert x.tolist() == [9, 4]
    assert issubclass(Measured, np.ndarray)
    assert Measured.__mro__.index(numpy.ndarray)


def test_an_object_with_array_ufunc_decides_what_a_function_gives() -> None:
    class Named(np.lib.mixins.NDArrayOperatorsMixin):  # type: ignore[misc]  # as a program for NumPy has it
        def __init__(self, values: Any) -> None:
            self.values = numpy.asarray(values)

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
            assert method == "__call__"
            return Named(ufunc(*[one.values if isinstance(one, Named) else one for one in inputs], **options))

    for one in (np.sqrt(Named([1, 4])), np.add(Named([0, 1]), 1), np.maximum(np.ones(2), Named([0, 2]))):
        assert type(one) is Named
        assert numpy.asarray(one.values).tolist() == [1, 2]


def test_a_column_of_pandas_stays_one() -> None:
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([4.0, 1.0, 9.0], index=["a", "b", "c"])
    frame = pandas.DataFrame({"x": column, "y": column})
    for found, expected in (
        (np.sqrt(column), numpy.sqrt(column)),
        (np.round(column), numpy.round(column)),
        (np.clip(column, 2, 5), numpy.clip(column, 2, 5)),
        (np.cumsum(column), numpy.cumsum(column)),
        (np.maximum(np.arange(3), column), numpy.maximum(numpy.arange(3), column)),
        (np.mean(frame, axis=0), numpy.mean(frame, axis=0)),
    ):
        pandas.testing.assert_series_equal(found, expected)
    pandas.testing.assert_frame_equal(np.exp(frame), numpy.exp(frame))
    assert type(np.where(column > 2, 1, 0)) is xp.Array
    assert np.dot(np.ones(3), column) == 14
    assert np.array(pandas.DataFrame({"n": ["a"], "x": [1]})).tolist() == [["a", 1]]


def test_assertions_take_elements_and_look_into_a_dict() -> None:
    element = np.array([20.0], dtype=np.float16)[0]  # whose 0-d ndarray is equal to no decimals
    np.testing.assert_almost_equal(element, numpy.float16(20), 14)
    np.testing.assert_equal({"x": np.arange(3), "n": [np.ones(2), 1]}, {"x": np.arange(3), "n": [np.ones(2), 1]})
    with pytest.raises(AssertionError):
        np.testing.assert_equal({"x": np.arange(3)}, {"x": np.ones(3)})
    assert np.zeros(3).flags == np.ones(3).flags
    assert np.zeros((2, 3)).flags != np.zeros((2, 3)).T.flags


def test_a_class_of_arrays_takes_parameters_in_an_annotation() -> None:
    for one in (np.ndarray[Any, np.dtype[np.float64]], np.typing.NDArray[np.float64]):
        assert one.__origin__ is xp.Array


def test_a_strided_view_and_its_array_show_each_others_writes() -> None:
    x = np.arange(6.0)
    windows = np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8))
    x[1] = 9
    windows[0, 0] = 5
    assert windows.tolist() == [[5, 9], [9, 2], [2, 3]]
    assert x.tolist() == [5, 9, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="read-only"):
        np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8), writeable=False)[0] = 1
    for shape, strides in (((4, 4), (8, 16)), ((2,), (-8,)), ((7,), (8,))):
        with pytest.raises(ValueError, match=r"^as_strided: shape .* must stay within the memory of x, 6 elements$"):
            np.lib.stride_tricks.as_strided(x, shape, strides)
    with pytest.raises(
        ValueError, match=r"^as_strided: strides must be 1 multiples of 8, the bytes of an element, not "
    ):
        np.lib.stride_tricks.as_strided(x, (3,), (4,))


def test_views_share_memory_where_a_write_to_one_is_seen_in_the_other() -> None:
    x = np.arange(12)
    assert np.shares_memory(x, x)
    assert np.shares_memory(x, x.reshape(3, 4)[1])
    assert np.may_share_memory(x[:5], x[::-1])
    assert not np.shares_memory(x[::2], x[1::2])
    assert not np.may_share_memory(x[:5], x[5:])
    assert not np.may_share_memory(x, x.copy())


def test_a_file_keeps_the_values(tmp_path: Any) -> None:
    x = np.array([[1.5, 2], [3, 4]])
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "x.npz", a=x)
    np.savetxt(tmp_path / "x.txt", x)
    assert_same(np.load(tmp_path / "x.npy"), numpy.asarray(x))
    assert_same(np.asarray(np.load(tmp_path / "x.npz")["a"]), numpy.asarray(x))
    assert_same(np.loadtxt(tmp_path / "x.txt"), numpy.asarray(x))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r+")
    mapped[0, 0] = 9
    del mapped
    assert np.load(tmp_path / "x.npy")[0, 0] == 9


def test_it_runs_in_transforms(framework: str) -> None:
    with xp.backend(framework):

        def loss(w: Any) -> Any:
            w = w.copy()
            w[0] *= 2
            return np.sum(np.maximum(w, 0) ** 2) + np.mean(np.concatenate([w, [1.0]]))

        w = np.array([1.0, -2.0, 3.0])
        assert float(xp.jit(loss)(w)) == pytest.approx(float(loss(w)))
        assert xp.grad(loss)(w).tolist() == pytest.approx([8.5, 0.25, 6.25])


NUMPYS_OWN: Final = """
np.arange("2024-01-01", "2024-01-05", dtype="datetime64[D]")
np.diff(np.array(["2024-01-01", "2024-01-04"], dtype="datetime64[D]"))
np.arange(3) * np.timedelta64(2, "D") + np.datetime64("2024-01-01")
np.where(v > 1, np.datetime64("2024"), np.datetime64("2025"))
np.sort(np.array([(2, "b"), (1, "a")], dtype=[("n", int), ("t", "U1")]), order="n")["t"]
np.zeros(2, dtype=[("n", int)])["n"]; np.zeros(2, dtype={"names": ["p", "m"], "formats": ["2f4", "f8"]})["p"]
np.unique(np.array([[2, 1], [0, 3], [2, 1]]).view([("a", int), ("b", int)]))["b"]
np.arange(98, 101).astype(np.uint8).view("S1"); np.arange(3).view("timedelta64[D]")
np.linalg.matrix_power(np.array([[1, 1], [1, 0]], dtype=object), 90); np.full((2, 2), None); np.array(None)
np.lib.recfunctions.unstructured_to_structured(m)["f1"]; np.array([None, 1]); v + np.array([1, 2, 3], dtype=object)
np.add.reduce(np.array([1, 2], dtype=object)); np.frompyfunc(lambda a: a + 1, 1, 1)(v)
np.ones(2, dtype=np.longdouble) / 3; np.zeros(2, dtype="U5"); v.astype(str); np.array(["1", "2"], dtype=float)
np.vectorize(str)(m); np.char.add(np.char.upper(["a", "b"]), "!"); np.mean(np.ma.masked_greater(v, 2))
(v + np.ma.masked_greater(v, 2)).filled(0); np.busday_count("2024-01-01", "2024-02-01")
np.polynomial.Polynomial([1, 2, 3])(v)
"""


@pytest.mark.parametrize("group", groups(NUMPYS_OWN), ids=head)
def test_what_numpy_alone_has_stays_numpys(group: list[str]) -> None:
    for expression in group:
        found, expected = (numpy.asarray(evaluated(expression, np)) for np in (anyarray.numpy, numpy))
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()


def test_a_dtype_that_none_has_is_refused_by_our_error() -> None:
    with pytest.raises(TypeError, match=r"dtype must be one of .* not 'flot64'$"):
        np.zeros(3, dtype="flot64")


OBJECTS: Final[list[Any]] = [len, [len, None], None, {}, [[len], [1]], 2**70, [2**70, 1]]
OF_OBJECTS: Final = """
array asarray atleast_1d atleast_2d atleast_3d copy ndim ravel shape size squeeze transpose
stack([x,x]) append(x,x) tile(x,2) repeat(x,2) reshape(x,(-1,1)) broadcast_to(x,(2,2)) expand_dims(x,0) array_equal(x,x)
where([True,False],x,x)
""".split()


def test_functions_of_shape_take_any_object() -> None:
    def outcome(np: Any, call: str, x: Any) -> Any:
        try:
            found = eval(f"np.{call}" if "(" in call else f"np.{call}(x)", {"np": np, "x": x})
        except Exception as error:  # noqa: BLE001 - NumPy's are compared
            return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        return numpy.shape(found), repr(numpy.asarray(found).tolist())

    pairs = itertools.product(OF_OBJECTS, OBJECTS)
    assert [(call, x) for call, x in pairs if outcome(np, call, x) != outcome(numpy, call, x)] == []


OF_SPARSE_ARRAYS: Final = "A-x x-A A+x x+A A@x x@A x*A A/x A==x x==A x!=A x<A A<=x A*x[0,0] x[0,0]*A".split()


def test_operators_with_sparse_arrays_of_scipy_give_what_ndarrays_give() -> None:
    sparse = pytest.importorskip("scipy.sparse")

    def outcome(np: Any, call: str) -> Any:
        found = eval(call, {"x": np.asarray([[1.0, 2.0], [3.0, 4.0]]), "A": sparse.eye_array(2)})
        return type(found), numpy.asarray(found.todense() if sparse.issparse(found) else found).tolist()

    assert [call for call in OF_SPARSE_ARRAYS if outcome(np, call) != outcome(numpy, call)] == []


KINDS_OF_NUMBERS: Final = (numbers.Number, numbers.Complex, numbers.Real, numbers.Integral)


def test_an_element_is_the_number_that_numpys_is_and_an_array_is_none() -> None:
    for values in ([1, 2], [1.5, 2.5], [1j, 2j], [True, False]):
        x, n = np.array(values), numpy.array(values)
        for kind in KINDS_OF_NUMBERS:
            assert isinstance(x[0], kind) is isinstance(n[0], kind)
            assert isinstance(x.sum(), kind) is isinstance(n.sum(), kind)
            assert not isinstance(x, kind)
            assert not isinstance(n, kind)
        assert (type(x[0]), isinstance(x[0], xp.Array)) == (xp.Array, True)
        assert type(copy.deepcopy(x[0])) is type(pickle.loads(pickle.dumps(x[0]))) is xp.Array
    assert numpy.isscalar(np.ones(2)[0])
    assert not numpy.isscalar(np.ones(2))
    numpy.testing.assert_equal(np.ones(2)[0], 1.0)
    with pytest.raises(AssertionError):
        numpy.testing.assert_equal(np.ones(2)[0], 2.0)


def test_fractions_and_decimals_make_objects_as_in_numpy() -> None:
    for call in ("x * f", "f + x", "x[1] * d", "d ** x[1]", "x - d", "f < x"):
        found, expected = (
            eval(call, {"x": np.arange(3), "f": Fraction(1, 2), "d": Decimal(3)}) for np in (anyarray.numpy, numpy)
        )
        assert repr(numpy.asarray(found).tolist()) == repr(numpy.asarray(expected).tolist()), call
    with pytest.raises(TypeError, match=r"unsupported operand type"):
        np.ones(2) * Decimal(2)


def test_matplotlib_takes_colors_and_opacity_of_arrays() -> None:
    colors = pytest.importorskip("matplotlib.colors")
    rgb = np.array([[0.5, 0.0, 1.0], [1.0, 0.25, 0.0]])
    assert colors.to_rgba(rgb[0]) == (0.5, 0, 1, 1)
    assert colors.to_rgba(rgb[0], alpha=rgb[0, 0]) == (0.5, 0, 1, 0.5)
    assert colors.to_hex(rgb[1]) == "#ff4000"
    assert colors.ListedColormap(rgb)(1) == (1, 0.25, 0, 1)


WRITES_OF_NDARRAYS: Final = """
np.copyto(x, n, where=[True, False]); np.copyto(x, n); np.putmask(x, n > 5, 9.0); np.place(x, n > 5, n)
np.put(x, n[:1].astype(int) - 5, n)
"""


def test_functions_that_write_take_ndarrays() -> None:
    for call in several(WRITES_OF_NDARRAYS):
        x, y, n = np.array([1.0, 2.0]), numpy.array([1.0, 2.0]), numpy.array([5.0, 6.0])
        eval(call, {"np": np, "x": x, "n": n})
        eval(call, {"np": numpy, "x": y, "n": n})
        assert x.tolist() == y.tolist(), call


OF_MASKED: Final = """
A+v v-A A*v A/v v<A A==v np.dot(A,v) np.dot(v,A) np.add(A,v) np.divide(A,v) np.where(v>1,v,A) np.mean(v)
np.concatenate([A,v[None]]) np.sqrt(v) np.log(v-1) np.asarray(v) np.asanyarray(v) np.cumsum(v)
np.clip(v,1,2) np.outer(v,v) np.ma.masked_where(A>1,A) numpy.dot(A,v) numpy.add(A,v)
A.__setitem__((slice(None),0),np.ma.masked)
""".split()


def test_masked_arrays_decide_what_functions_and_operators_give() -> None:
    def outcome(np: Any, call: str) -> Any:
        v = numpy.ma.masked_array([1.0, 2.0], [False, True])
        found = eval(call, {"np": np, "numpy": numpy, "v": v, "A": np.array([[1.0, 2.0], [3.0, 4.0]])})
        is_masked = isinstance(found, numpy.ma.MaskedArray)
        return is_masked, numpy.ma.getmaskarray(found).tolist(), repr(numpy.ma.filled(found, -1).tolist())

    with numpy.errstate(all="ignore"):
        assert [one for one in OF_MASKED if outcome(np, one) != outcome(numpy, one)] == []


ITERATIONS: Final = """
x = [
    [float(one) for one in np.nditer(v)],
    [int(one) for one in np.nditer(m.T)], [int(one) for one in np.nditer(m[:, ::-1])],
    [int(one) for one in np.nditer(m, order="F")],
    [(int(a), float(b)) for a, b in np.nditer([m, v])],
    [one.tolist() for one in np.nditer(m[:, :2], flags=["external_loop"])],
    [one.dtype == float for one in np.nditer(m, op_dtypes=[float], flags=["buffered"])],
    [one.tolist() for one in np.nditer(m.T[:, ::-1], flags=["external_loop"])],
    [one.tolist() for one in np.nditer(m, flags=["external_loop"], order="F")],
    [a.tolist() for a in np.nditer(m, flags=["external_loop", "buffered"], order="F", buffersize=4)],
]

it = np.nditer(m.T, flags=["f_index"], order="C"); x = [(it.index, int(one)) for one in it]

x = []
it = np.nditer(m, flags=["multi_index"])
while not it.finished:
    x.append((it.multi_index, int(it[0])))
    it.iternext()

with np.nditer(m, op_flags=["readwrite"]) as it:
    for one in it:
        one[...] = 2 * one
x = m

it = np.nditer(v, flags=["multi_index"], op_flags=["readwrite"])
while not it.finished:
    it[0] = it[0] * it.multi_index[0]
    it.iternext()
x = v

it = np.nditer([m, v, None])
for a, b, c in it:
    c[...] = a + b
x = it.operands[2]

x = np.array(0)
for a, b in np.nditer([m, x], flags=["reduce_ok"], op_flags=[["readonly"], ["readwrite"]]):
    b[...] += a

x = np.zeros(2)
for a, b in np.nditer([m, x[:, None]], flags=["reduce_ok"], op_flags=[["readonly"], ["readwrite"]]):
    b[...] += a

for one in np.nditer(m[:, ::-1], flags=["external_loop"], op_flags=["readwrite"]):
    one[...] = one * 2
x = m

it = np.nditer(m.T, flags=["multi_index"])
it.multi_index = (1, 1)
x = [int(it[0]), it.iterindex, it.iternext(), it.multi_index]

it = np.nditer([m, v], flags=["multi_index"])
it.remove_axis(1)
x = [it.shape, it.itersize, [(int(a), float(b)) for a, b in it]]

with np.nditer([v[:-1], v[1:]], flags=["copy_if_overlap"], op_flags=[["readonly"], ["writeonly"]]) as it:
    for a, b in it:
        b[...] = a
x = v

it = np.nditer(m, flags=["multi_index"])
it.remove_axis(0)
it.remove_multi_index()
it.enable_external_loop()
x = [one.tolist() for one in it]
"""
"""Programs, with a blank line between two."""


@each("program", ITERATIONS.split("\n\n"))
def test_nditer_gives_what_numpys_gives(program: str) -> None:
    def run(np: Any) -> Any:
        names = {"np": np, "m": np.array([[1, 2, 3], [4, 5, 6]]), "v": np.array([0.5, 1.5, 2.5])}
        exec(program, names)
        x = names["x"]
        return x if isinstance(x, (list, tuple)) else x.tolist()

    assert run(np) == run(numpy)


def test_nditer_writes_on_every_backend() -> None:
    x = np.zeros((2, 2))
    for at, one in enumerate(np.nditer(x[:, 1], op_flags=["writeonly"])):
        one[...] = at + 1
    assert x.tolist() == [[0, 1], [0, 2]]
    with pytest.raises(ValueError, match="read-only"):
        next(np.nditer(x))[...] = 1


NOT_ITERATED: Final[list[tuple[int, dict[str, Any], type[Exception], str]]] = [
    (1, {"flags": ["ranged"]}, ValueError, r"^nditer: flags must be of .* Iterate over values in NumPy"),
    (1, {"op_flags": ["nope"]}, ValueError, r"^nditer: op_flags must be of aligned, .* not \['nope'\]$"),
    (1, {"op_dtypes": [int]}, TypeError, r"^nditer: op is float64 and becomes int64 only in a copy\. Pass flags="),
    (2, {"op_flags": [["readonly"], ["readwrite"]]}, ValueError,
     r"^nditer: op of shape \(1,\) is written at each element of \(3,\), which is a reduction\. Pass flags="),
    (2, {"op_flags": [["readonly"], ["readonly", "no_broadcast"]]}, ValueError,
     r"^nditer: op of shape \(1,\) must not broadcast to \(3,\), as its op_flags hold 'no_broadcast'$"),
]  # fmt: skip


@each("count, options, error, message", NOT_ITERATED)
def test_nditer_refuses_what_numpy_refuses(
    count: int, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        np.nditer([np.ones(3), np.ones(1)][:count], **options)
    if "flags" not in options:  # which NumPy takes
        with pytest.raises(error):
            numpy.nditer([numpy.ones(3), numpy.ones(1)][:count], **options)


def test_an_array_of_an_object_whose_array_method_gives_an_array() -> None:
    class Wrapped:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ones(2)

    assert (np.asarray(Wrapped()) + Wrapped().__array__()).tolist() == [2, 2]


def test_einsum_path_takes_subscripts() -> None:
    x = np.ones((2, 2))
    assert np.einsum_path("ij,jk,kl->il", x, x, x, optimize="optimal")[0] == ["einsum_path", (0, 1), (0, 1)]
