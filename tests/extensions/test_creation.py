"""Arrays from numbers and slices, windows, 2-d transforms: as in NumPy."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from against_numpy import Case, assert_parts_same
from comparison import assert_same

import anyarray as xp

pytestmark = pytest.mark.few_backends

V: Final = np.asarray([1.0, -5.0, 2.5])
F32: Final = V.astype(np.float32)
M: Final = np.random.default_rng(0).normal(size=(3, 3))
T: Final = np.random.default_rng(0).normal(size=(2, 4, 5))
LOW: Final = np.asarray([1.0, 2.0])
HIGH: Final = np.asarray([8.0, 32.0])

CASES: Final = [
    *[Case(name, n) for name in ("bartlett", "blackman", "hamming", "hanning") for n in (0, 1, 2, 7, 8)],
    *[Case("kaiser", *given) for given in ((7, 8.6), (1, 2), (0, 1))],
    *[Case("geomspace", *given) for given in ((1, 1000, 4), (1, 256, 9, False), (-1, -8, 4), (1j, 8j, 4), (2, 3, 0))],
    *[Case("geomspace", *given, looser=10.0) for given in ((LOW, HIGH, 5), (-LOW, -HIGH, 5, False), (1, HIGH, 1))],
    Case("geomspace", LOW, HIGH, 5, axis=-1, looser=10.0),
    Case("geomspace", 1, 100, 3, dtype=np.int64),
    *[Case("logspace", *given) for given in ((0, 2, 5), (0, 2, 5, False, 2), (0, 3, 0), (0, 1j, 3))],
    *[Case("logspace", *given, looser=10.0) for given in ((LOW, LOW + 1, 4), (LOW, 3, 4, False), (LOW, 3, 1))],
    Case("logspace", 0, 2, 4, base=LOW, looser=10.0),
    Case("logspace", LOW, 3, 4, axis=1, looser=10.0),
    Case("logspace", 0, 3, 4, dtype=np.float32),
    Case("identity", 3),
    Case("identity", 2, dtype=np.int32),
    *[Case(f"fft.{name}", T, looser=10.0) for name in ("fft2", "ifft2", "rfft2", "irfft2")],
    *[Case(f"fft.{name}", T, (3, 6), looser=10.0) for name in ("fft2", "ifft2", "rfft2", "irfft2")],
    Case("fft.fft2", T, None, (0, 1), "ortho", looser=10.0),
]

TRANSFORMED: Final = [
    Case("geomspace", LOW, HIGH, 5, looser=10.0),
    Case("logspace", LOW, 3, 4, looser=10.0),
    Case("fft.rfft2", T, looser=100.0),
]
SMOOTH: Final = TRANSFORMED[:2]

KEYS: Final = {
    "mgrid": ["0:3, 0:2", "0:3", "0:1:5j", "0:2:.5, 1:3", "0:2, 0:1:3j"],
    "ogrid": ["0:3, 0:2", "0:3", "0:2:.5, 1:3"],
    "r_": [
        "1:4, 0, v", "v, v", "0:1:5j", "'0,2', v, v", "'1,2,0', v, v", "'0,2,0', v, v", "'-1', m, m", "1, 2, 3",
        "1, 2.5", "f, 1, 2.5", "m, m", "1:5:2, [3, 4]", "'0,3', v, v", "v", "3:0:-1", ":3",
    ],
    "c_": ["v, v", "m, v", "1:4, v", "v", "m", "[1, 2], [3, 4]"],
}  # fmt: skip


@pytest.mark.parametrize(("trick", "key"), [(name, key) for name, keys in KEYS.items() for key in keys], ids=str)
def test_an_index_trick_is_numpy_s(trick: str, key: str, target: str) -> None:
    given = {"v": V, "m": M, "f": F32}
    expected = eval(f"np.{trick}[{key}]", {"np": np, **given})
    with xp.backend(target):
        found = eval(f"xp.{trick}[{key}]", {"xp": xp, **{k: xp.asarray(a) for k, a in given.items()}})
        assert_parts_same(found, expected)


@pytest.mark.usefixtures("backend")
def test_arrays_are_joined_by_an_index_under_transforms() -> None:
    x = xp.asarray(V)
    expected = xp.r_[0, x, 1:3]
    assert_same(xp.jit(lambda x: xp.r_[0, x, 1:3])(x), expected)
    assert_same(xp.vmap(lambda x: xp.c_[x, x])(xp.stack([x, x])), np.stack([np.c_[V, V]] * 2))


@pytest.mark.usefixtures("backend")
def test_the_keys_of_an_index_are_kept() -> None:
    x = xp.asarray(M)
    assert xp.s_[1:, None] == (slice(1, None), None)
    assert xp.index_exp[1] == (1,)
    assert x[xp.s_[1:]].tolist() == M[1:].tolist()


@pytest.mark.usefixtures("backend")
def test_new_arrays_have_the_default_dtypes() -> None:
    with xp.default_dtypes(float=xp.float32, int=xp.int32):
        assert xp.hanning(3).dtype == xp.logspace(0, 1, 3).dtype == xp.geomspace(1, 2, 3).dtype == xp.float32
        assert xp.mgrid[0:2].dtype == xp.int32
        assert xp.ogrid[0:2:0.5].dtype == xp.identity(2).dtype == xp.float32
        assert xp.fromfunction(lambda i: i, (2,)).dtype == xp.float32


@pytest.mark.usefixtures("backend")
def test_a_function_of_coordinates_is_called_once() -> None:
    calls: list[tuple[Any, ...]] = []

    def function(i: Any, j: Any, scale: int) -> Any:
        calls.append((i, j))
        return i * scale + j

    found = xp.fromfunction(function, (2, 3), dtype=xp.int64, scale=10)
    assert_same(found, np.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype=np.int64))
    assert len(calls) == 1


WRONG: Final[list[Any]] = [
    (lambda _: xp.hanning(2.5), TypeError, "hanning: M must be an int, not 2.5"),
    (lambda _: xp.kaiser(2, "x"), TypeError, "kaiser: beta must be a number, not str"),
    (lambda _: xp.geomspace(0, 1), ValueError, "geomspace: Geometric sequence cannot include zero, as start or stop"),
    (lambda _: xp.logspace(0, 1, -1), ValueError, "logspace: num must not be negative, but is -1"),
    (lambda _: xp.logspace([0], 1), TypeError, "logspace: start must be an Array, not list"),
    (lambda _: xp.logspace(xp.asarray(V), 1, axis=2), IndexError, "logspace: axis 2 is out of bounds for array of"),
    (lambda _: xp.r_["r", 1], ValueError, "index: a directive must be integers, as \"0,2,0\", not 'r'."),
    (lambda _: xp.r_[1, "0,2"], ValueError, "index: special directives must be the first entry"),
    (lambda _: xp.fft.fft2([1.0]), TypeError, "fftn: x must be an Array, not list"),
]
