"""Elementwise functions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared import linear_algebra
from anyarray.backends._shared.arithmetic import complex_sign, floor_and_rest
from anyarray.backends.torch._kernel import (
    FLOATING,
    KIND,
    PROMOTED,
    SIGNED,
    Native,
    bits,
    can_be_read,
    cast,
    directly,
    extent,
    inexact,
    innermost_level,
    is_recorded,
    is_transformed,
    ordered,
    promoted,
    require_kinds,
    restored,
    wide,
    with_bits,
    with_kernels,
)
from anyarray.backends.torch._slopes import sloped

Function = Callable[..., Native]

_OF_C: Final = frozenset({torch.float32, torch.float64})
"""The floats of which all functions have kernels."""


def _of_bits(function: Function, *xs: Native) -> Native:
    """For unsigned integers, of which the bits are those of signed ones."""
    return function(*map(bits, xs)).view(xs[0].dtype)


def _of_order(function: Function, *xs: Native) -> Native:
    """For unsigned integers, of which only the order counts."""
    return restored(function(*map(ordered, xs)), xs[0].dtype)


def _of_two(
    function: Function,
    kinds: str,
    unsigned: Callable[..., Native] | None = None,
    differentiated: Function | None = None,
    *,
    direct: str = "",
    inner: Function | None = None,
) -> Function:
    """`function` of two arrays of one dtype, of these kinds.

    `unsigned` computes those of uint16, uint32 and uint64. `differentiated` is the function where a derivative may be
    taken, `inner` that of kinds which are not in `direct`.
    """
    usual = with_kernels(direct or (kinds.replace("fc", "") if differentiated is not None else kinds))
    floats = with_kernels("f") if differentiated is not None else frozenset()
    plain = inner or function
    recorded = differentiated or plain

    def otherwise(x1: Native, x2: Native) -> Native:
        x1, x2 = promoted(x1, x2)
        require_kinds(kinds, x1)
        if x1.dtype in SIGNED and unsigned is not None:
            return unsigned(function, x1, x2)
        return (recorded if is_recorded(x1, x2) else plain)(x1, x2)

    def of_two(x1: Native, x2: Native, /) -> Native:
        dtype = x1.dtype
        if dtype is x2.dtype and (
            dtype in usual
            or (
                dtype in floats
                and not (x1.requires_grad or x2.requires_grad)
                and innermost_level() is None
                and not _is_forward_open()
            )
        ):
            return function(x1, x2)
        return otherwise(x1, x2)

    return directly(of_two, function, usual | floats, is_sloped=bool(floats))


def _of_parts(function: Function) -> Function:
    """`function`, of complex numbers by their real and imaginary parts.

    PyTorch multiplies one of them by the complex number 1, which loses signs of zeros and makes NaN of infinities.
    """

    def of_parts(*xs: Native) -> Native:
        if not xs[0].is_complex():
            return function(*xs)
        return torch.view_as_complex(function(*[torch.view_as_real(x.resolve_conj()) for x in xs]))

    return of_parts


def _of_one(
    function: Function,
    kinds: str,
    unsigned: Callable[..., Native] | None = None,
    *,
    direct: str = "",
    inner: Function | None = None,
) -> Function:
    """`function` of an array of these kinds, as `_of_two`."""
    usual = with_kernels(direct or kinds)
    plain = inner or function

    def of_one(x: Native, /) -> Native:
        dtype = x.dtype
        if dtype in usual:
            return function(x)
        require_kinds(kinds, x)
        return unsigned(function, x) if dtype in SIGNED and unsigned is not None else plain(x)

    return directly(of_one, function, usual)


def _floating(function: Function, *slopes: Function, direct: Function | None = None) -> Function:
    """As `_of_one`, with integers and bools cast to floats."""
    derived = sloped(function, *slopes)

    def of_floats(x: Native, /) -> Native:
        dtype = x.dtype
        if dtype.is_floating_point and not x.requires_grad and not is_transformed():
            return function(x) if not _is_forward_open() else derived(x)
        x = cast(x, FLOATING[dtype])
        return (derived if is_recorded(x) else function)(x)

    return directly(of_floats, direct or function, with_kernels("f"), is_sloped=True)


def _is_forward_open() -> bool:
    return torch.autograd.forward_ad._current_level >= 0


def _floating_two(function: Function, direct: Function, *slopes: Function, kinds: str = "biuf") -> Function:
    """As `_of_two`, with integers and bools cast to floats.

    `direct` gives the same as `function` for floats of 32 and 64 bits.
    """
    derived = sloped(function, *slopes)

    def of_floats(x1: Native, x2: Native, /) -> Native:
        dtype = PROMOTED[x1.dtype, x2.dtype]
        if KIND[dtype] in "biu":
            require_kinds(kinds, x1, x2)
            dtype = PROMOTED[FLOATING[x1.dtype], FLOATING[x2.dtype]]
        x1, x2 = cast(x1, dtype), cast(x2, dtype)
        require_kinds(kinds, x1)
        return (derived if is_recorded(x1, x2) else function)(x1, x2)

    return directly(of_floats, direct, _OF_C, is_sloped=True)


def _copied(x: Native) -> Native:
    return x.clone()


def _unless_integer(function: Function, kinds: str, direct: Function) -> Function:
    """`function` of floats, which is `direct` for real ones.

    Integers and bools are copied.
    """

    def kept(x: Native, /) -> Native:
        require_kinds(kinds, x)
        return x.clone() if KIND[x.dtype] in "biu" else function(x)

    return directly(kept, direct, with_kernels("f"))


def _absolute(x: Native) -> Native:
    if not x.is_complex():
        return torch.abs(x)
    found = torch.abs(x)
    return torch.where(torch.isinf(torch.real(x)) | torch.isinf(torch.imag(x)), math.inf, found)


_abs_sloped: Final = sloped(torch.abs, lambda x: sign(x))


def abs(x: Native, /) -> Native:
    kind = KIND[x.dtype]
    if kind in "if":
        return _abs_sloped(x) if kind == "f" and is_recorded(x) else torch.abs(x)
    return _absolute(x) if kind == "c" else x.clone()


directly(abs, torch.abs, with_kernels("if"), is_sloped=True)


def _sign(x: Native) -> Native:
    if not x.is_complex():
        if x.dtype.is_floating_point:  # PyTorch's gives 0 for NaN
            return torch.where(torch.isnan(x), x, torch.sign(x))
        return torch.sign(x)
    return torch.complex(*complex_sign(torch, torch.real(x), torch.imag(x)))


def _unsigned_sign(_: Function, x: Native) -> Native:
    return (x != 0).to(x.dtype)


def _compared(function: Function, kinds: str) -> Function:
    """A comparison, exact for signed integers with uint64, as in NumPy."""
    direct = with_kernels(kinds)

    def otherwise(x1: Native, x2: Native) -> Native:
        signed = [KIND[x.dtype] == "i" for x in (x1, x2)]
        if torch.uint64 in (x1.dtype, x2.dtype) and any(signed):
            negative = (x1 if signed[0] else x2) < 0
            low, high = (torch.tensor(n, device=x1.device) for n in (-1, 0))
            beyond = function(low, high) if signed[0] else function(high, low)
            one, other = (x.to(torch.int64) if KIND[x.dtype] == "i" else x.view(torch.int64) for x in (x1, x2))
            least = -(1 << 63)
            return torch.where(negative, beyond, function(one ^ least, other ^ least))
        x1, x2 = promoted(x1, x2)
        require_kinds(kinds, x1)
        return function(ordered(x1), ordered(x2))

    def of_two(x1: Native, x2: Native, /) -> Native:
        dtype = x1.dtype
        if dtype is x2.dtype and dtype in direct:
            return function(x1, x2)
        return otherwise(x1, x2)

    return directly(of_two, function, direct)


def _quotient(x1: Native, x2: Native) -> Native:
    if not x2.is_complex():
        return torch.div(x1, x2)
    y = torch.div(x1, x2)
    re, im = torch.real(x2), torch.imag(x2)
    is_nan = torch.isnan(re) | torch.isnan(im)
    unknown = torch.full_like(re, math.nan)  # not a complex number, which graphs do not print right
    y = torch.where(is_nan, torch.complex(unknown, unknown), y)
    # A finite number divided by an infinite one is 0.
    is_none = torch.isfinite(x1) & (torch.isinf(re) | torch.isinf(im)) & ~is_nan
    return torch.where(is_none, torch.zeros_like(y), y)


_quotient_sloped: Final = sloped(
    _quotient, lambda x1, x2: reciprocal(x2), lambda x1, x2: negative(divide(divide(x1, x2), x2))
)


def divide(x1: Native, x2: Native, /) -> Native:
    if (
        x1.dtype is x2.dtype
        and x1.dtype.is_floating_point
        and not (x1.requires_grad or x2.requires_grad or is_transformed())
        and not _is_forward_open()
    ):
        return torch.div(x1, x2)
    x1, x2 = inexact(x1, x2)
    return (_quotient_sloped if is_recorded(x1, x2) else _quotient)(x1, x2)


def _divided(x1: Native, x2: Native) -> tuple[Native, Native]:
    """Floor of the quotient, and remainder, as in NumPy.

    That includes the signs of zeros, zero divisors and infinities.
    """
    dtype = x1.dtype
    if dtype in SIGNED:
        return _divided_unsigned(x1, x2)
    if not dtype.is_floating_point:
        none = x2 == 0
        least = torch.iinfo(dtype).min
        # The least integer divided by -1 overflows: for processors that is an error.
        turns = (x2 == -1) & (x1 == least) if least else torch.zeros_like(none)
        safe = torch.where(none | turns, 1, x2)
        quotient = torch.div(x1, safe, rounding_mode="floor")
        rest = x1 - quotient * safe
        return torch.where(none, 0, quotient), torch.where(none, 0, rest)
    if dtype.itemsize == 2:
        x1, x2 = x1.to(torch.float32), x2.to(torch.float32)
    rest = torch.fmod(x1, x2)
    # PyTorch's is NaN where the quotient overflows.
    is_lost = torch.isnan(rest) & torch.isfinite(x1) & (x2 != 0) & ~torch.isnan(x2)
    whole, rest = floor_and_rest(torch, x1, x2, torch.where(is_lost, 0, rest))
    return whole.to(dtype), rest.to(dtype)


def _divided_unsigned(x1: Native, x2: Native) -> tuple[Native, Native]:
    dtype = x1.dtype
    a, b = wide(x1), wide(x2)
    none = b == 0
    b = torch.where(none, 1, b)
    if dtype is not torch.uint64:
        quotient = torch.div(a, b, rounding_mode="floor")
        rest = a - quotient * b
        return torch.where(none, 0, quotient).to(dtype), torch.where(none, 0, rest).to(dtype)
    # As Java's Long.divideUnsigned: of a halved dividend, which has no sign bit, and then at most one more.
    least = -(1 << 63)
    half = torch.div((a >> 1) & ~least, torch.where(b < 0, 1, b), rounding_mode="floor") << 1
    rest = a - half * b
    exceeds = (rest ^ least) >= (b ^ least)
    is_great = (a ^ least) >= (b ^ least)  # for a divisor beyond int64 the quotient is 0 or 1
    quotient = torch.where(b < 0, is_great.to(torch.int64), half + exceeds.to(torch.int64))
    rest = a - quotient * b
    return torch.where(none, 0, quotient).view(dtype), torch.where(none, 0, rest).view(dtype)


def floor_divide(x1: Native, x2: Native, /) -> Native:
    x1, x2 = promoted(x1, x2)
    require_kinds("iuf", x1)
    if x1.dtype in _OF_NUMPY and can_be_read(x1) and can_be_read(x2):
        return _on_host(on_numpy.floor_divide, x1, x2)
    # The derivative is 0 everywhere, also for a divisor of 0, where that of the quotient itself is infinite.
    return _divided(x1.detach(), x2.detach())[0] if is_recorded(x1, x2) else _divided(x1, x2)[0]


def _rest(x1: Native, x2: Native) -> Native:
    return _divided(x1, x2)[1]


_rest_sloped: Final = sloped(_rest, lambda x1, x2: _ones_of(x1, x2), lambda x1, x2: -_divided(x1, x2)[0])


def remainder(x1: Native, x2: Native, /) -> Native:
    x1, x2 = promoted(x1, x2)
    require_kinds("iuf", x1)
    if x1.dtype.is_floating_point and is_recorded(x1, x2):
        return _rest_sloped(x1, x2)
    if x1.dtype in _OF_NUMPY and can_be_read(x1) and can_be_read(x2):
        return _on_host(np.remainder, x1, x2)
    return _rest(x1, x2)


_OF_NUMPY: Final = frozenset(native for native, kind in KIND.items() if kind in "iuf") - {torch.bfloat16}
"""The real dtypes that NumPy has, too."""


def _on_host(function: Callable[..., Any], *xs: Native) -> Native:
    """NumPy's function of tensors that it can read in place."""
    with np.errstate(all="ignore"):
        return torch.from_numpy(np.asarray(function(*[x.numpy(force=True) for x in xs])))


def _shifted(function: Function, is_left: bool) -> Function:
    """A shift of bits, as NumPy's for counts of the width and beyond."""

    def shift(x1: Native, x2: Native, /) -> Native:
        x1, x2 = promoted(x1, x2)
        require_kinds("iu", x1)
        dtype = x1.dtype
        width = 8 * dtype.itemsize
        a, b = bits(x1), bits(x2)
        if (is_left or dtype not in SIGNED) and can_be_read(b) and b.numel():
            least, greatest = extent(b)
            if least >= 0 and greatest < width:
                return with_bits(function(a, b), dtype)
        is_far = (b < 0) | (b >= width)
        near = torch.where(is_far, 0, b)
        if is_left or dtype is torch.uint8:
            found = torch.where(is_far, 0, function(a, near))
        elif dtype in SIGNED:  # logical: the bits that the sign fills in are cleared
            kept = torch.where(near == 0, -1, ~(torch.full_like(a, -1) << (width - near).clamp(max=width - 1)))
            found = torch.where(is_far, 0, function(a, near) & kept)
        else:
            found = torch.where(is_far, torch.where(a < 0, -1, 0).to(a.dtype), function(a, near))
        return found.to(a.dtype).view(dtype) if dtype in SIGNED else found

    return shift


def _integer_power(x1: Native, x2: Native) -> Native:
    """By repeated squaring; for a negative exponent the integer part."""
    dtype = x1.dtype
    base, exponent = torch.broadcast_tensors(bits(x1), bits(x2))
    result = torch.ones_like(base)
    if KIND[dtype] == "i":
        if can_be_read(x2) and bool((x2 < 0).any()):
            raise ValueError("Integers to negative integer powers are not allowed.")
        is_unit = (base == 1) | (base == -1)
        base = torch.where((exponent < 0) & ~is_unit, 0, base)
        exponent = torch.where(is_unit, exponent & 1, exponent)
    for bit in range(8 * dtype.itemsize):
        result = torch.where((exponent >> bit) & 1 == 1, result * base, result)
        base = base * base
    return result.view(dtype) if dtype in SIGNED else result


def _float_power(x1: Native, x2: Native) -> Native:
    if not x1.is_complex():
        return torch.pow(x1, x2)
    of_zero = torch.where(torch.real(x2) > 0, 0, math.nan).to(x1.dtype)
    power = torch.pow(torch.where(x1 == 0, 1, x1), x2)
    return torch.where(x2 == 0, torch.ones_like(power), torch.where(x1 == 0, of_zero, power))


def _slope_by_base(x1: Native, x2: Native) -> Native:
    is_constant = x2 == 0
    of_base = x2 * pow(x1, torch.where(is_constant, torch.ones_like(x2), x2 - 1))
    return torch.where(is_constant, torch.zeros_like(of_base), of_base)


def _slope_by_exponent(x1: Native, x2: Native) -> Native:
    return pow(x1, x2) * log(torch.where(x1 == 0, torch.ones_like(x1), x1))


_power_sloped: Final = sloped(_float_power, _slope_by_base, _slope_by_exponent)


def pow(x1: Native, x2: Native, /) -> Native:
    x1, x2 = promoted(x1, x2)
    kind = KIND[x1.dtype]
    if kind == "f":
        return _power_sloped(x1, x2) if is_recorded(x1, x2) else torch.pow(x1, x2)
    require_kinds("iuc", x1)
    if kind == "c":
        return _power_sloped(x1, x2) if is_recorded(x1, x2) else _float_power(x1, x2)
    return _integer_power(x1, x2)


directly(pow, torch.pow, with_kernels("f"), is_sloped=True)


def _log_of_sum(x1: Native, x2: Native) -> Native:
    if x1.dtype.itemsize == 2:
        return torch.logaddexp(x1.to(torch.float32), x2.to(torch.float32)).to(x1.dtype)
    return torch.logaddexp(x1, x2)


def _share(x1: Native, x2: Native) -> Native:
    """The share of the first in the sum: the derivative of `logaddexp`."""
    return torch.sigmoid(torch.where((x1 == x2) & torch.isinf(x1), 0, x1 - x2))


def _hypotenuse(x1: Native, x2: Native) -> Native:
    return torch.hypot(x1, x2)


def _slope_by_height(x1: Native, x2: Native) -> Native:
    size = torch.hypot(x1, x2)
    return divide(divide(x2, size), size)


def _slope_by_width(x1: Native, x2: Native) -> Native:
    return negative(_slope_by_height(x2, x1))


def _leg(x1: Native, x2: Native) -> Native:
    size = torch.hypot(x1, x2)
    return x1 / torch.where(size == 0, 1, size)


def _with_sign_of(x1: Native, x2: Native) -> Native:
    return torch.copysign(x1, x2)


def _sign_change(x1: Native, x2: Native) -> Native:
    return torch.sign(x1) * torch.copysign(torch.ones_like(x1), x2)


def _zeros_of(x1: Native, x2: Native) -> Native:
    return torch.zeros(torch.broadcast_shapes(x1.shape, x2.shape), dtype=x1.dtype, device=x1.device)


def _next_after(x1: Native, x2: Native) -> Native:
    if x1.dtype.itemsize != 2:
        return torch.nextafter(x1, x2)
    # PyTorch has no kernel for 16 bits: as integers, floats of one sign are in order.
    x1, x2 = torch.broadcast_tensors(x1, x2)
    a = x1.view(torch.int16)
    away = torch.where((x2 > x1) == (x1 > 0), 1, -1).to(torch.int16)
    smallest = torch.where(torch.signbit(x2), -(1 << 15) + 1, 1).to(torch.int16)
    moved = torch.where(x1 == 0, smallest, a + away).view(x1.dtype)
    found = torch.where(x1 == x2, x2, moved)
    return torch.where(torch.isnan(x1) | torch.isnan(x2), x1 + x2, found)


def _ones_of(x1: Native, x2: Native) -> Native:
    return torch.ones(torch.broadcast_shapes(x1.shape, x2.shape), dtype=x1.dtype, device=x1.device)


def _rounded(x: Native) -> Native:
    return torch.complex(torch.round(torch.real(x)), torch.round(torch.imag(x))) if x.is_complex() else torch.round(x)


directly(divide, torch.div, with_kernels("f"), is_sloped=True)


def conj(x: Native, /) -> Native:
    require_kinds("iufc", x)
    if not x.is_complex():
        return x.clone()
    # PyTorch cannot map its own over a batch.
    return torch.complex(torch.real(x), -torch.imag(x)) if is_transformed() else torch.conj_physical(x)


def real(x: Native, /) -> Native:
    require_kinds("iufc", x)
    return torch.real(x) if x.is_complex() else x


def imag(x: Native, /) -> Native:
    require_kinds("c", x)
    return torch.imag(x)


def gcd(x1: Native, x2: Native, /) -> Native:
    x1, x2 = promoted(x1, x2)
    require_kinds("iu", x1)
    if x1.dtype not in SIGNED:
        return torch.abs(torch.gcd(x1, x2))  # beside the least integer PyTorch's may be negative
    x1, x2 = torch.broadcast_tensors(x1, x2)  # by Euclid's algorithm
    for _ in range({2: 25, 4: 48, 8: 94}[x1.dtype.itemsize]):
        is_found = x2 == 0
        rest = _rest(x1, x2)  # 0 by 0
        x1 = torch.where(is_found, bits(x1), bits(x2)).view(x1.dtype)
        x2 = rest
    return x1


def complex_of(real: Native, imag: Native, /) -> Native:
    return torch.complex(*promoted(real, imag))


def _isinf(x: Native) -> Native:
    return torch.isinf(x)


def clip(x: Native, /, min: Native | None = None, max: Native | None = None) -> Native:
    """Lower bound first, so that `max` wins where the bounds cross."""
    if min is not None and max is not None and not min.ndim and not max.ndim and _can_be_clamped(x, min, max):
        return torch.clamp(x, min.item(), max.item())  # of tensors it takes twice the time
    if min is not None:
        x = maximum(x, min)
    if max is not None:
        x = minimum(x, max)
    if min is None and max is None:
        require_kinds("biuf", x)
        return x.clone()
    return x


_CLAMPED: Final = with_kernels("iuf")


def _can_be_clamped(x: Native, min: Native, max: Native) -> bool:
    """Whether PyTorch's own gives the same: derivatives are others."""
    if not (min.dtype is x.dtype is max.dtype and x.dtype in _CLAMPED):
        return False
    return can_be_read(min) and can_be_read(max) and not is_recorded(x, min, max)


_product_sloped: Final = sloped(
    torch.mul,
    lambda x1, x2: x2.expand(torch.broadcast_shapes(x1.shape, x2.shape)),
    lambda x1, x2: x1.expand(torch.broadcast_shapes(x1.shape, x2.shape)),
)
add = _of_two(torch.add, "biufc", _of_bits, direct="biuf", inner=_of_parts(torch.add))
atan2 = _floating_two(torch.atan2, torch.atan2, _slope_by_height, _slope_by_width)
bitwise_and = _of_two(torch.bitwise_and, "biu", _of_bits)
bitwise_invert = _of_one(torch.bitwise_not, "biu", _of_bits)
bitwise_left_shift = _shifted(torch.bitwise_left_shift, is_left=True)
bitwise_or = _of_two(torch.bitwise_or, "biu", _of_bits)
bitwise_right_shift = _shifted(torch.bitwise_right_shift, is_left=False)
bitwise_xor = _of_two(torch.bitwise_xor, "biu", _of_bits)
ceil = _unless_integer(torch.ceil, "biuf", torch.ceil)
copysign = _floating_two(_with_sign_of, torch.copysign, _sign_change, _zeros_of)
equal = _compared(torch.eq, "biufc")
floor = _unless_integer(torch.floor, "biuf", torch.floor)
greater = _compared(torch.gt, "biuf")
greater_equal = _compared(torch.ge, "biuf")
hypot = _floating_two(_hypotenuse, torch.hypot, _leg, lambda x1, x2: _leg(x2, x1))
isfinite = _of_one(torch.isfinite, "biufc", lambda f, x: torch.isfinite(bits(x)))
isinf = _of_one(_isinf, "biufc", lambda f, x: torch.isinf(bits(x)))
isnan = _of_one(torch.isnan, "biufc", lambda f, x: torch.isnan(bits(x)))
less = _compared(torch.lt, "biuf")
less_equal = _compared(torch.le, "biuf")
logaddexp = _floating_two(_log_of_sum, torch.logaddexp, _share, lambda x1, x2: _share(x2, x1))
logical_and = _of_two(torch.logical_and, "b")
logical_not = _of_one(torch.logical_not, "b")
logical_or = _of_two(torch.logical_or, "b")
logical_xor = _of_two(torch.logical_xor, "b")
maximum = _of_two(torch.maximum, "biuf", _of_order)
minimum = _of_two(torch.minimum, "biuf", _of_order)
multiply = _of_two(torch.mul, "biufc", _of_bits, _product_sloped)
negative: Function = _of_one(torch.neg, "iufc", _of_bits, direct="iuf", inner=_of_parts(torch.neg))
nextafter = _floating_two(_next_after, torch.nextafter, _ones_of, _zeros_of)
not_equal = _compared(torch.ne, "biufc")
positive = _of_one(_copied, "iufc", lambda f, x: x.clone())
round = _unless_integer(_rounded, "iufc", torch.round)
sign: Function = _of_one(_sign, "iufc", _unsigned_sign)
signbit = _of_one(torch.signbit, "biuf", lambda f, x: torch.zeros(x.shape, dtype=torch.bool, device=x.device))
subtract = _of_two(torch.sub, "iufc", _of_bits, direct="iuf", inner=_of_parts(torch.sub))
trunc = _unless_integer(torch.trunc, "biuf", torch.trunc)


def square(x: Native, /) -> Native:
    require_kinds("iufc", x)
    return multiply(x, x)


directly(square, torch.square, with_kernels("if"), is_sloped=True)


def cube(x: Native, /) -> Native:
    return multiply(multiply(x, x), x)


def _root(x: Native) -> Native:
    """`x**0.5`, whose values for -0 and -inf are 0 and inf."""
    if x.is_complex():
        return _by_host(np.sqrt, torch.sqrt)(x)
    return torch.sqrt(torch.where(x == 0, torch.zeros_like(x), torch.where(x == -math.inf, math.inf, x)))


def _reciprocal(x: Native) -> Native:
    return _quotient(torch.ones_like(x), x) if x.is_complex() else torch.reciprocal(x)


def _by_host(on_numpy: Callable[..., Any], otherwise: Function) -> Function:
    """A complex function by NumPy where values are in host memory.

    NumPy has the values of C99 at infinities, NaN and branch cuts, and near zeros; PyTorch has not.
    """

    @functools.wraps(otherwise)
    def of_complex(x: Native) -> Native:
        if not x.is_complex():
            return otherwise(x)
        is_asked = x.requires_grad and torch.is_grad_enabled()
        if x.device.type != "cpu" or is_transformed() or type(x) is not torch.Tensor or is_asked:
            return otherwise(x)
        return _on_host(on_numpy, x)

    return of_complex


def _log1p(x: Native) -> Native:
    y = torch.log1p(x)
    return torch.complex(torch.real(y) + 0.0, torch.imag(y)) if y.is_complex() else y  # as NumPy's, not -0


def _log_to(function: Function, base: int) -> Function:
    """A logarithm to a base, of complex numbers by parts."""

    def log_to_base(x: Native) -> Native:
        if not x.is_complex():
            return function(x)
        y, scale = _log(x), 1 / math.log(base)
        return torch.complex(torch.real(y) * scale, torch.imag(y) * scale)

    return log_to_base


def _one_less_square(x: Native) -> Native:
    """The root of `1 - x**2` by factors, on the side of the branch cut."""
    return multiply(sqrt(_one_and(x, -1)), sqrt(_one_and(x, 1)))


def _one_and(x: Native, sign: int) -> Native:
    """`1 + sign * x`, where an imaginary zero keeps its sign."""
    if not x.is_complex():
        return 1 + sign * x
    return torch.complex(1 + sign * torch.real(x), sign * torch.imag(x))


def _ones_like(x: Native) -> Native:
    return torch.ones_like(x)


def _times_i(x: Native) -> Native:
    return multiply(x, torch.full_like(x, 1j))


def _slope_of_asinh(x: Native) -> Native:
    if x.is_complex():
        return reciprocal(_one_less_square(_times_i(x)))
    return reciprocal(hypot(_ones_like(x), x))


def _slope_of_acosh(x: Native) -> Native:
    below = torch.complex(torch.real(x) - 1, torch.imag(x)) if x.is_complex() else x - 1
    return reciprocal(multiply(sqrt(below), sqrt(_one_and(x, 1))))


def _slope_of_atanh(x: Native) -> Native:
    return reciprocal(multiply(_one_and(x, -1), _one_and(x, 1)))


def _slope_of_tanh(x: Native) -> Native:
    y, one = tanh(x), _ones_like(x)
    return multiply(subtract(one, y), add(one, y))


def _slope_of_tan(x: Native) -> Native:
    return add(_ones_like(x), square(tan(x)))


def _half_reciprocal(function: Function) -> Function:
    return lambda x: divide(torch.full_like(x, 0.5), function(x))


def _over(factor: float) -> Function:
    return lambda x: reciprocal(multiply(x, torch.full_like(x, factor)))


_log = _by_host(np.log, torch.log)
acos = _floating(_by_host(np.acos, torch.acos), lambda x: negative(reciprocal(_one_less_square(x))), direct=torch.acos)
acosh = _floating(_by_host(np.acosh, torch.acosh), _slope_of_acosh, direct=torch.acosh)
asin = _floating(_by_host(np.asin, torch.asin), lambda x: reciprocal(_one_less_square(x)), direct=torch.asin)
asinh = _floating(_by_host(np.asinh, torch.asinh), _slope_of_asinh, direct=torch.asinh)
atan = _floating(_by_host(np.atan, torch.atan), lambda x: reciprocal(add(_ones_like(x), square(x))), direct=torch.atan)
atanh = _floating(_by_host(np.atanh, torch.atanh), _slope_of_atanh, direct=torch.atanh)
cos = _floating(_by_host(np.cos, torch.cos), lambda x: negative(sin(x)), direct=torch.cos)
cosh = _floating(_by_host(np.cosh, torch.cosh), lambda x: sinh(x), direct=torch.cosh)
exp: Function = _floating(_by_host(np.exp, torch.exp), lambda x: exp(x), direct=torch.exp)
expm1 = _floating(_by_host(on_numpy.expm1, torch.expm1), lambda x: exp(x), direct=torch.expm1)
log = _floating(_log, lambda x: reciprocal(x), direct=torch.log)
log1p = _floating(_by_host(np.log1p, _log1p), lambda x: reciprocal(add(_ones_like(x), x)), direct=torch.log1p)
log2 = _floating(_log_to(torch.log2, 2), _over(math.log(2)), direct=torch.log2)
log10 = _floating(_log_to(torch.log10, 10), _over(math.log(10)), direct=torch.log10)
reciprocal: Function = _floating(_reciprocal, lambda x: negative(square(reciprocal(x))), direct=torch.reciprocal)
root: Function = _floating(_root, _half_reciprocal(lambda x: root(x)))
sin: Function = _floating(_by_host(np.sin, torch.sin), lambda x: cos(x), direct=torch.sin)
sinh: Function = _floating(_by_host(np.sinh, torch.sinh), lambda x: cosh(x), direct=torch.sinh)
sqrt: Function = _floating(_by_host(np.sqrt, torch.sqrt), _half_reciprocal(lambda x: sqrt(x)), direct=torch.sqrt)
tan = _floating(_by_host(np.tan, torch.tan), _slope_of_tan, direct=torch.tan)
tanh = _floating(_by_host(np.tanh, torch.tanh), _slope_of_tanh, direct=torch.tanh)


def root_of_sum(x: Native) -> Native:
    """The square root of a sum of squares, with derivative 0 at 0."""
    return linear_algebra.root_of_sum(torch, x) if is_recorded(x) else torch.sqrt(x)
