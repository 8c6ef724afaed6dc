"""Elementwise functions with NumPy's values.

They are for libraries whose own functions differ.
"""

from __future__ import annotations

import math
from typing import Any

Native = Any


def floor_and_rest(xp: Any, x1: Native, x2: Native, remainder: Native) -> tuple[Native, Native]:
    """NumPy's `floor_divide` and `remainder` of floats.

    The signs of zeros are NumPy's, and so are the results for zero divisors and infinities. `remainder` is the result
    of C's `fmod`.
    """
    exact = x1 / x2
    quotient = (x1 - remainder) / x2
    down = (remainder != 0) & ((remainder < 0) != (x2 < 0))
    quotient = xp.where(down, quotient - 1, quotient)
    remainder = xp.where(down, remainder + x2, remainder)
    remainder = xp.where(remainder == 0, xp.copysign(xp.zeros_like(remainder), x2), remainder)
    whole = xp.floor(quotient)
    whole = xp.where(quotient - whole > 0.5, whole + 1, whole)
    whole = xp.where(quotient == 0, xp.copysign(xp.zeros_like(whole), exact), whole)
    return xp.where(x2 == 0, exact, whole), remainder


def complex_sign(xp: Any, real: Native, imag: Native) -> tuple[Native, Native]:
    """The real and imaginary parts of z / abs(z), for those of z; 0 for 0.

    If one part is infinite, the other counts as 0; if both are, the sign is NaN.
    """
    infinite = xp.isinf(real) | xp.isinf(imag)
    undefined = xp.isinf(real) & xp.isinf(imag)
    first, second = (xp.where(infinite, xp.where(xp.isinf(part), xp.sign(part), 0), part) for part in (real, imag))
    is_zero = (real == 0) & (imag == 0)
    # The size must not be 0 even where it is not selected, else the gradient is NaN.
    size = xp.where(undefined, math.nan, xp.hypot(xp.where(is_zero, 1, first), second))
    return xp.where(is_zero, 0, first / size), xp.where(is_zero, 0, second / size)
