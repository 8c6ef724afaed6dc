"""Edges of NumPy's functions have the same results everywhere.

A result is a value or a kind of error. Each table is one test, which lists all expressions that differ.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy
import pytest
from expressions import several

import anyarray as xp
import anyarray.numpy

pytestmark = pytest.mark.few_backends


class Index:
    """An integer by `__index__` alone."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


WRITES: Final = """
u.__setitem__(slice(None), [1, 2, 300]); u.__setitem__(b, [300, 1]); u.__setitem__(0, 300)
u.flat.__setitem__(slice(None), 300); np.insert(u, 1, 300); np.insert(u, 1, -1); np.insert(u, 1, [1, 300])
np.insert(i8, 1, 128); np.insert(u, 1, np.nan); np.insert(u, 1, 255); np.insert(x, 1, 2**70); np.insert(x, 1, None)
np.r_[u, 300]; np.r_[-1, u]; np.r_[u, 1, 255]; np.r_[x, 2**70]; np.r_[2**63, 1]; np.r_[True, False]; np.c_[u[:1], 300]
np.put(u, [0], [300]); np.place(u, b, 300); np.putmask(u, b, [300, 1, 1]); np.putmask(u, b, -1)
np.put_along_axis(u, np.array([0]), [300], 0); np.fill_diagonal(np.zeros((2, 2), dtype="u1"), [300, 1])
np.piecewise(u, [b], [300, 1]); np.piecewise(u, [b], [1, 255]); np.full(2, 2**63)
np.array([Decimal("1.5"), Fraction(1, 4), 2], dtype=float); np.array([[1, None], [2, Decimal(3)]], dtype="f4")
np.array(Fraction(1, 2), dtype=float); np.array([Decimal("1.5")], dtype=int)
np.array([Fraction(1, 2)], dtype=complex); np.asarray([1, "a"], dtype=float); np.asarray([object()], dtype=float)
np.asarray_chkfinite([1, Decimal(2)], dtype=float); np.full(2, Decimal("1.5"), dtype=float)
np.full(2, Fraction(1, 2), dtype="f4"); np.full(2, [None, 1], dtype=float); np.full_like(x, Decimal("1.5"))
x.__setitem__(0, None) or x; x.__setitem__(0, Decimal("1.5")) or x; x.__setitem__(x > 2, Fraction(1, 2)) or x
x.__setitem__(slice(0, 2), [None, Fraction(1, 2)]) or x; x.__setitem__(0, "2.5") or x; x.__setitem__(0, "a")
x.__setitem__(0, {}); x.__setitem__(0, 2**2000); v.__setitem__(0, None); v.__setitem__(0, Decimal("2.7")) or v
b.__setitem__(0, None) or b; c.__setitem__(0, Decimal(1)) or c; m.__setitem__(0, [1, 2.5, True]) or m
x.flat.__setitem__(0, None) or x; x.fill(Decimal(1)) or x; np.put(x, [0], Decimal(1)) or x; x.__setitem__(1, [3])
x.__setitem__(1, []); x.__setitem__((1, ...), [3]); x.__setitem__(np.array(1), [3]); x.__setitem__([1], [3]) or x
x.__setitem__(slice(0, 2), [[3, 4]]); x.__setitem__(slice(0, 2), np.array([[3, 4]])) or x; f.__setitem__((1, 1), [3])
m.__setitem__(1, [[3]]); m.__setitem__(1, [3]) or m; m.__setitem__((None, 1), [[3, 4, 5]]) or m
np.array(1.0).__setitem__((), [3]); np.array(1.0).__setitem__(..., [3])
x.__setitem__(slice(None), np.array([1j, 2, 3, 4])) or x; x.__setitem__(0, np.complex128(2 + 1j)) or x
x.__setitem__([0, 1], np.array([1j, 2])) or x; v.__setitem__(slice(None), c) or v; b.__setitem__(slice(None), c) or b
x.__setitem__(slice(None), [1j, 2, 3, 4]); x.__setitem__(0, 1j)
"""

FUNCTIONS: Final = """
np.pad([True, False], 1, mode="mean"); np.pad([True, True, False], 1, mode="median")
np.pad([True, False], 2, mode="reflect", reflect_type="odd"); np.pad(v, 1, constant_values=np.nan)
np.pad(v, 1, constant_values=(np.inf, 1)); np.pad(v, 1, constant_values=1.7); np.pad(x, 1, constant_values=np.nan)
np.pad(np.array(5), 1); np.pad(np.array(5), 1, mode="edge"); np.pad(np.array(5), ()); np.pad(c, 1, mode="maximum")
np.vectorize(otypes=[float])(lambda a: a + 1)([1, 2]); np.vectorize(signature="(n)->()")(lambda a: a.sum())(m)
np.vectorize(excluded=["k"])(lambda a, k=2: a + k)([1, 2], k=3); np.apply_along_axis(lambda r: "ab", 0, m)
np.apply_along_axis(lambda r: None, 0, m); np.apply_along_axis(lambda r: [str(a) for a in r], 1, m)
np.apply_along_axis(lambda r: np.datetime64("2024"), 1, m); np.apply_along_axis(lambda r: {}, 1, m)
np.apply_along_axis(lambda r: r[::-1], 1, m); np.bincount([]); np.bincount([], minlength=3)
np.bincount([1, 3], weights=[1, 2]); np.argsort(np.array(5)); np.argsort(np.array(5), axis=0)
np.argsort(np.array(5), axis=1); np.argmax(np.array(5), axis=0); np.lexsort([3, 1, 2]); np.lexsort(([3, 1, 2],))
np.clip(u, -1, 300); np.clip(i8, -1000, 2); np.clip(u, 300, None); u.clip(-1, 2); np.median(c)
np.median([[1j, 2], [3, 4]], axis=0); np.median(np.array([1j, 2], dtype="c8")); np.nanmedian(c)
np.einsum("i,i->", v, v, optimize=("greedy", 100)); np.einsum("ij,kj,kl->il", m, m, m, optimize=("optimal", 1000))
np.dot(m, m.T, out=np.zeros((2, 2), dtype="f4")); np.dot(m, m.T, out=np.zeros((2, 2), dtype=int))
m.dot(m.T, out=np.zeros((2, 2))); np.lib.stride_tricks.sliding_window_view(v, 2).flags.writeable
(w := np.lib.stride_tricks.sliding_window_view(v, 2, writeable=True)).__setitem__((0, 1), 9) or (w, v)
(w := np.lib.stride_tricks.sliding_window_view(x, 3, writeable=True)).__setitem__((1, 1), np.nan) or (w, x)
(w := np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8))).__setitem__((0, 1), 9) or (w, x); np.zeros({})
np.zeros({1}); np.ones(frozenset([2])); np.full({1}, 1); np.zeros_like(v, shape={1}); np.zeros(iter([2]))
np.zeros(True); np.zeros((Index(2), 3)); np.ones(Index(2)); np.full((Index(2),), [1, 2]); np.zeros((Index(-1),))
np.reshape(m, (Index(3), Index(-1))); m.reshape(Index(3), Index(2)); np.sum(m, axis=(Index(0), Index(1)))
np.transpose(m, (Index(1), Index(0))); setattr(m, "shape", (5, 5)); setattr(m, "shape", {6})
setattr(m, "shape", (Index(3), 2)) or m
"""

WEIGHTS: Final = [
    f"np.{function}({values}, weights={weights}, method='inverted_cdf')"
    for function, part in (("quantile", 0.5), ("nanpercentile", 50))
    for values in (f"x, {part}", f"[np.nan, 1, 2, 3], {part}")
    for weights in (
        "[1, -2, 1, 1]",
        "[0] * 4",
        "[1, 0, 0, 0]",
        "[1, np.nan, 1, 1]",
        "[1, np.inf, 1, 1]",
        "[np.nan, 1, 1, 1]",
    )
] + [
    f"np.quantile(m, 0.5, axis=1, weights={weights}, method='inverted_cdf')"
    for weights in ([[1, 0, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 0]], [[1, 0, 0], [0, -1, 2]])
]

KINDS: Final = (OverflowError, MemoryError, IndexError, TypeError, ValueError)


def outcome(expression: str, np: Any) -> Any:
    """The value of an expression, or the kind of error."""
    names = {"np": np, "Decimal": Decimal, "Fraction": Fraction, "Index": Index}
    names |= {"v": np.array([1, 2, 3]), "x": np.array([1.5, 2.5, -1, 4]), "c": np.array([1 + 2j, 3 - 1j, 0])}
    names |= {"u": np.array([1, 2, 3], dtype="u1"), "i8": np.array([1, 2, 3], dtype="i1")}
    names |= {"b": np.array([True, False, True]), "m": np.array([[1, 2, 3], [4, 5, 6]]), "f": np.ones((2, 2))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(expression, names)
        except Exception as error:  # noqa: BLE001 - that it is the same is tested
            return next((kind for kind in KINDS if isinstance(error, kind)), type(error))


def is_same(found: Any, expected: Any) -> bool:
    if isinstance(expected, (tuple, list)):
        return len(found) == len(expected) and all(map(is_same, found, expected))
    if isinstance(expected, type) or isinstance(found, type):
        return found is expected
    one, other = numpy.asarray(found), numpy.asarray(expected)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return numpy.allclose(one, other, equal_nan=True) if one.dtype.kind in "fc" else bool((one == other).all())


def assert_as_numpy(expressions: list[str]) -> None:
    assert expressions
    both = {one: (outcome(one, anyarray.numpy), outcome(one, numpy)) for one in expressions}
    assert not {one: pair for one, pair in both.items() if not is_same(*pair)}


@pytest.mark.parametrize("table", [WRITES, FUNCTIONS], ids=["writes", "functions"])
@pytest.mark.usefixtures("backend")
def test_edges_are_numpy_s(table: str) -> None:
    assert_as_numpy(several(table))


@pytest.mark.skipif(numpy.lib.NumpyVersion(numpy.__version__) < "2.4.0", reason="NumPy refuses these from 2.4 on")
@pytest.mark.usefixtures("backend")
def test_weights_that_are_none_are_refused_and_an_element_takes_no_array_of_one() -> None:
    assert_as_numpy([*WEIGHTS, "x.__setitem__(1, np.array([3]))", "m.__setitem__((1, 1), np.array([[3]]))"])


@pytest.mark.usefixtures("backend")
def test_a_complex_array_written_to_a_real_one_warns() -> None:
    x = xp.zeros(2)
    with pytest.warns(numpy.exceptions.ComplexWarning, match=r"^Casting complex values to real discards the imaginary"):
        x[0] = xp.asarray(2 + 1j)
    assert x.tolist() == [2, 0]


@pytest.mark.usefixtures("backend")
def test_what_cannot_be_written_is_said() -> None:
    x, n = xp.zeros(2), xp.zeros(2, dtype=xp.uint8)
    with pytest.raises(
        ValueError, match=r"^setitem: setting an array element with a sequence: value has 1 axes, more "
    ):
        x[0] = [3]
    with pytest.raises(
        OverflowError, match=r"^setitem: value must hold numbers within the bounds of uint8: Python integer 300 "
    ):
        n[:] = [1, 300]
    with pytest.raises(ValueError, match=r"^quantile: [Ww]eights must be non-negative$"):
        anyarray.numpy.quantile([1.0, 2.0], 0.5, weights=xp.asarray([1.0, -1.0]), method="inverted_cdf")
    with pytest.raises(ValueError, match=r"^shape: x of shape \(2,\) cannot have the shape \(5, 5\) in place\. Take "):
        x.shape = (5, 5)


SIZES: Final = """
xp.repeat(xp.ones(4), 2**62); xp.repeat(xp.ones((4, 2)), 2**62, axis=0)
xp.repeat(xp.ones(4), xp.asarray([2**62] * 4)); np.repeat(np.ones(5), 3689348814741910324)
np.repeat([1.0] * 4, 2**62); np.ones(8).repeat(2**61); xp.tile(xp.ones(4), (2**61, 4)); xp.pad(xp.ones(3), 2**61)
xp.pad(xp.ones(3), 2**61, mode="edge"); xp.broadcast_to(xp.ones(3), (2**61, 4, 3))
xp.meshgrid(xp.broadcast_to(xp.ones(1), (2**61,)), xp.ones(3)); xp.linspace(0, 1, 2**61); xp.eye(2**61)
xp.zeros((2**61, 4)); xp.full(2**61, 1.0); np.full(2**61, [1.0]); xp.diag(xp.ones(3), 2**61)
xp.diagflat(xp.ones(3), 2**61); np.resize(np.ones(3), (2**61, 4)); xp.fft.fft(xp.ones(3), n=2**61)
xp.fft.fftfreq(2**61); np.copy(np.broadcast_to(np.ones(1), (2**61,)))
"""

PROGRAM: Final = """
import anyarray as xp, anyarray.numpy as np
with xp.backend({name!r}):
    for one in {sizes}:
        print(one, end=": ", flush=True)
        try:
            eval(one)
        except (MemoryError, ValueError):
            print("refused", flush=True)
"""


def test_a_size_that_overflows_is_refused_and_the_process_lives(name: str, forked: Callable[..., str]) -> None:
    sizes = several(SIZES)
    assert forked(PROGRAM.format(name=name, sizes=sizes)).splitlines() == [f"{one}: refused" for one in sizes]
