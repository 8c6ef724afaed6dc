"""Elementwise functions beyond the standard, against NumPy's."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
from against_numpy import Case

import anyarray as xp

pytestmark = [
    pytest.mark.few_backends,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's, of NaN and infinities
    pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning"),  # what ours is compared with
]

F: Final = np.asarray([-2.5, -1.0, -0.0, 0.0, 0.5, 1.5, 27.0, np.inf, -np.inf, np.nan])
F32: Final = F.astype(np.float32)
PLAIN: Final = np.asarray([-2.5, -1.25, 0.75, 1.5, 27.0])
INTS: Final = np.asarray([-128, -7, -1, 0, 1, 6, 12, 127])
I8: Final = INTS.astype(np.int8)
U8: Final = np.asarray([0, 1, 6, 255], dtype=np.uint8)
C: Final = np.asarray([1 + 0j, 2j, -3 + 4j, complex(np.nan, np.inf), complex(-np.inf, 0)])
POINT: Final = np.asarray(-0.75)
NONE: Final = np.asarray([], dtype=np.float32)

UNARY: Final = "cbrt deg2rad degrees exp2 fabs frexp modf rad2deg radians rint sinc".split()
OF_TWO: Final = "fmax fmin fmod heaviside logaddexp2".split()

CASES: Final = [
    *[Case(name, x) for name in UNARY for x in (F, F32, INTS, I8, POINT, NONE)],
    *[Case(name, x[:, None], x[::-1]) for name in OF_TWO for x in (F, F32)],
    *[Case(name, F, np.float32(2.0) * F32) for name in OF_TWO],
    *[Case(name, PLAIN, 2.0) for name in OF_TWO],
    *[Case(name, 2.5, PLAIN.astype(np.float32)) for name in OF_TWO],
    *[Case(name, I8[:, None], I8) for name in ("fmax", "fmin", "fmod", "gcd", "lcm", "divmod")],
    *[Case(name, INTS[:, None], INTS) for name in ("gcd", "lcm", "fmod", "divmod")],
    *[Case(name, U8[:, None], U8) for name in ("gcd", "lcm", "fmod")],
    Case("gcd", I8, np.asarray([6], dtype=np.uint8)),
    Case("lcm", INTS, 4),
    Case("divmod", F, 0.75),
    *[Case(name, x) for name in ("isneginf", "isposinf") for x in (F, F32, INTS, POINT)],
    *[Case(name, x) for name in ("isreal", "iscomplex") for x in (F, I8, C)],
    *[Case("angle", x, deg) for x in (F, F32, INTS, C, C.astype(np.complex64)) for deg in (False, True)],
    *[Case("fix", x) for x in (F, F32, INTS)],
    *[Case("bitwise_count", x) for x in (I8, INTS, U8, np.asarray([-(2**63), 2**62 - 1]))],
    *[Case("float_power", x, 2) for x in (F, I8, C[:3].astype(np.complex64))],
    Case("float_power", F32, 0.1),
    Case("float_power", 2, I8[1:7]),
    Case("float_power", PLAIN[2:].astype(np.float32), 1j),
    *[Case("i0", x, looser=500.0) for x in (np.linspace(-700, 700, 15), np.linspace(-2, 2, 5).astype(np.float32), I8)],
    *[Case("ldexp", x, np.asarray([3, -2, 0, 1, 5])) for x in (PLAIN, PLAIN.astype(np.float32))],
    Case("ldexp", np.asarray([0.5, 2.0**-1000]), np.asarray([1024, 2000])),
    Case("ldexp", F[:, None], I8),
    *[Case("nan_to_num", x) for x in (F, F32, I8, C, POINT)],
    Case("nan_to_num", F, True, 1.0, 2.0, -3.0),
    Case("nan_to_num", F32, nan=np.arange(10.0), posinf=7),
    *[Case("isclose", x[:, None], x, equal_nan=nan) for x in (F, F32, C) for nan in (False, True)],
    Case("isclose", F, F * (1 + 1e-4), 1e-3),
    Case("isclose", F, F + 1e-4, 0.0, 1e-3),
    Case("isclose", I8, I8[::-1]),
    Case("isclose", U8, 1),
    Case("isclose", PLAIN, PLAIN + 0.1, np.asarray([1.0, 0.1, 0.1, 0.0, 0.0])),
    *[Case("allclose", F, x) for x in (F, F[::-1])],
    Case("allclose", F, F * (1 + 1e-7), equal_nan=True),
    Case("allclose", INTS, 1e9, 0.0, 1e10),
    *[Case("array_equal", F, x, nan) for x in (F, F32, F[:3], INTS) for nan in (False, True)],
    Case("array_equal", INTS, INTS.astype(np.float32)),
    *[Case("array_equiv", x, y) for x in (INTS, INTS[:1], INTS[:3]) for y in (INTS, np.broadcast_to(INTS, (2, 8)))],
]
"""Calls with finite, infinite and NaN elements, of several dtypes, without elements and 0-d."""


STEEP: Final = np.asarray([-2.3, -1.2, 0.7, 1.6, 3.3])
"""Without halves and equal magnitudes, where some functions have steps."""

SMOOTH: Final = [
    *[Case(name, STEEP) for name in UNARY],
    *[Case(name, STEEP, STEEP[::-1] / 2.1) for name in OF_TWO],
    Case("angle", PLAIN),
    Case("float_power", PLAIN, 2.0),
    Case("i0", STEEP, looser=100.0),
    Case("ldexp", PLAIN, np.asarray([3, -2, 0, 1, 5])),
    Case("nan_to_num", PLAIN),
]
TRANSFORMED: Final = [
    *SMOOTH,
    *[Case(name, INTS, INTS[::-1]) for name in ("gcd", "lcm", "divmod")],
    Case("isclose", PLAIN, PLAIN[::-1], 1e-3),
    Case("isclose", PLAIN, 1.5),
    Case("allclose", PLAIN, PLAIN),
    Case("array_equal", PLAIN, PLAIN[::-1]),
    Case("array_equiv", PLAIN, PLAIN[::-1]),
    Case("bitwise_count", INTS),
    Case("isposinf", PLAIN),
    Case("isneginf", PLAIN),
    Case("isreal", PLAIN),
    Case("iscomplex", PLAIN),
    Case("fix", PLAIN),
]


@pytest.mark.usefixtures("differentiating")
def test_derivatives_are_finite_at_zero() -> None:
    for name in ("sinc", "i0", "fabs"):
        gradient = xp.grad(lambda x, name=name: xp.sum(getattr(xp, name)(x)))(xp.asarray([0.0]))
        assert gradient.tolist() == [0.0]


@pytest.mark.usefixtures("backend")
def test_a_real_dtype_is_told_from_a_complex_one() -> None:
    assert xp.isrealobj(xp.asarray(I8)) and not xp.iscomplexobj(xp.asarray(I8))
    assert xp.iscomplexobj(xp.asarray(C)) and not xp.isrealobj(xp.asarray(C))


@pytest.mark.parametrize(
    ("imag", "tol", "dtype"), [(1e-15, 100, "float64"), (1e-3, 100, "complex128"), (1e-3, 0.1, "float64")]
)
@pytest.mark.usefixtures("backend")
def test_numbers_close_to_real_ones_become_real(imag: float, tol: float, dtype: str) -> None:
    found = xp.real_if_close(xp.asarray([complex(1, imag), 2 + 0j]), tol)
    assert found.dtype == getattr(xp, dtype)
    assert xp.real(found).tolist() == [1.0, 2.0]


@pytest.mark.usefixtures("backend")
def test_nan_to_num_writes_to_its_argument_if_asked_to() -> None:
    x = xp.asarray([np.nan, 1.0])
    assert xp.nan_to_num(x, copy=False) is x
    assert x.tolist() == [0.0, 1.0]
    y = xp.asarray([np.nan, 1.0])
    xp.nan_to_num(y)
    assert np.isnan(float(y[0]))


WRONG: Final = [
    (Case("isposinf", C), TypeError, "isposinf: x must have a real numeric dtype, not complex128. Take a part of it: "),
    (Case("cbrt", C), TypeError, "cbrt: x must have a real floating-point dtype, not complex128. Take a part of it: "),
    (Case("isclose", PLAIN, F), ValueError, "isclose: a of shape (5,) and b of shape (10,) cannot be broadcast"),
    (Case("gcd", PLAIN, PLAIN), TypeError, "gcd: x1 must have an integer dtype, not float64. Convert it: xp.astype"),
]
