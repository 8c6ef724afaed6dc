"""Elementwise functions for which libraries have other values than NumPy.

`xp` is a library's module with operators of arrays.
"""

from __future__ import annotations

import math
from typing import Any

Native = Any


def floor_and_rest(xp: Any, x1: Native, x2: Native, rest: Native) -> tuple[Native, Native]:
    """Floor of the quotient, and remainder, of floats as in NumPy.

    That includes the signs of zeros, zero divisors and infinities. `rest` is that of C's `fmod`.
    """
    exact = x1 / x2
    quotient = (x1 - rest) / x2
    down = (rest != 0) & ((rest < 0) != (x2 < 0))
    quotient = xp.where(down, quotient - 1, quotient)
    rest = xp.where(down, rest + x2, rest)
    rest = xp.where(rest == 0, xp.copysign(xp.zeros_like(rest), x2), rest)
    whole = xp.floor(quotient)
    whole = xp.where(quotient - whole > 0.5, whole + 1, whole)
    whole = xp.where(quotient == 0, xp.copysign(xp.zeros_like(whole), exact), whole)
    return xp.where(x2 == 0, exact, whole), rest


def complex_sign(xp: Any, real: Native, imag: Native) -> tuple[Native, Native]:
    """The parts of z / abs(z) of the parts of z; 0 for 0.

    If one part is infinite, the finite one counts as 0; if both are, the sign is NaN.
    """
    infinite = xp.isinf(real) | xp.isinf(imag)
    undefined = xp.isinf(real) & xp.isinf(imag)
    first, second = (xp.where(infinite, xp.where(xp.isinf(part), xp.sign(part), 0), part) for part in (real, imag))
    is_zero = (real == 0) & (imag == 0)
    # The size must not be 0 even where it is not selected, else the gradient is NaN.
    size = xp.where(undefined, math.nan, xp.hypot(xp.where(is_zero, 1, first), second))
    return xp.where(is_zero, 0, first / size), xp.where(is_zero, 0, second / size)
