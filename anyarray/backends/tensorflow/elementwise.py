"""Elementwise functions.

Most call one raw op without a check of dtypes, which would add overhead to every call. If TensorFlow raises, the
operands are promoted and the op is called again. The dtype is checked first where TensorFlow's result differs from the
standard's, or where a kernel is missing, as a graph raises for that only when it runs.

TensorFlow's threads flush subnormal numbers to zero.
"""

from __future__ import annotations

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clip", "complex_of", "conj",
    "copysign", "cos", "cosh", "cube", "divide", "equal", "exp", "expm1", "floor", "floor_divide", "gcd", "greater",
    "greater_equal", "hypot", "imag", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log1p", "log2",
    "log10", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply",
    "negative", "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "root", "round", "sign",
    "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
]  # fmt: skip

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from anyarray._base import dtypes
from anyarray.backends import numpy as on_numpy
from anyarray.backends.tensorflow import _device, _slopes
from anyarray.backends.tensorflow._derivatives import halved_at_ties, power
from anyarray.backends.tensorflow._device import EagerTensor, is_for_cpu, is_on_host
from anyarray.backends.tensorflow._host import (
    from_host,
    is_eager,
    on_host,
    sooner,
    sooner_unless_differentiated,
)
from anyarray.backends.tensorflow._kernel import (
    NAME,
    NATIVE,
    REFUSALS,
    Tensor,
    bitcast,
    cast,
    complex_abs,
    constant,
    floated,
    is_as_on_cpu,
    is_common,
    is_complex,
    keeping_nans,
    kind_of,
    may_be_differentiated,
    may_be_fused,
    name_of,
    op,
    promoted,
)
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow.manipulation import (
    at_every_rank,
    broadcast_arrays,
    is_broadcast_by_kernels,
    unrefused,
)
from anyarray.backends.tensorflow.searching import where

Unary = Callable[[Tensor], Tensor]
Binary = Callable[[Tensor, Tensor], Tensor]

_BOOL: Final = NATIVE["bool"]
_FLOAT64: Final = NATIVE["float64"]
_PART: Final = {NATIVE["complex64"]: NATIVE["float32"], NATIVE["complex128"]: NATIVE["float64"]}
"""The dtype of the real and the imaginary part, by complex dtype."""
_WHOLE: Final = {part: whole for whole, part in _PART.items()}
_BITS: Final = {NATIVE[d.name]: f"int{8 * d.itemsize}" for d in dtypes.KNOWN.values() if d.kind == "f"}
"""The integer dtype of the same size, by floating dtype."""
_WIDTH: Final = {NATIVE[d.name]: 8 * d.itemsize for d in dtypes.KNOWN.values() if d.kind in "iu"}
"""Bits, by integer dtype."""
_NAN: Final = complex(math.nan, math.nan)  # one object, as NaN is a cache hit only by identity
_HALVES: Final = frozenset({"float16", "bfloat16"})


_POWER_BITS: Final = 6
"""Bits of an integer exponent that a GPU and XLA use."""


def with_slope(raw: Binary, where_differentiated: Binary) -> Binary:
    """`where_differentiated` where a derivative may be taken, else `raw`.

    It is for ops whose gradient for floating-point operands is wrong.
    """

    def of_two(x1: Tensor, x2: Tensor) -> Tensor:
        if may_be_differentiated(x1, x2) and x1.dtype is x2.dtype and kind_of(x1) in "fc":
            return where_differentiated(x1, x2)
        return raw(x1, x2)

    return of_two


def _of_every_bit(raw: Binary) -> Binary:
    """The op Pow, which uses all bits of an integer exponent everywhere.

    A GPU and XLA use the lowest six, and refuse no negative exponent. Eagerly we wait for the exponents, and do.
    """

    def power_of(x1: Tensor, x2: Tensor) -> Tensor:
        y = raw(x1, x2)
        if is_as_on_cpu(y) or kind_of(y) != "i":
            return y
        name = name_of(y)
        known = _ends(x2) if isinstance(y, EagerTensor) else tf.get_static_value(x2)
        if isinstance(y, EagerTensor) and np.min(known, initial=0) < 0:
            raise ValueError("Integers to negative integer powers are not allowed.")
        bits = _WIDTH[y.dtype] if known is None else int(np.max(known, initial=0)).bit_length()
        if bits <= _POWER_BITS:
            return y
        more, lowest, zero = constant(_POWER_BITS, name), constant((1 << _POWER_BITS) - 1, name), constant(0, name)
        y = raw(x1, _where(_less(x2, zero), x2, _bitwise_and(x2, lowest)))
        rest = _larger(x2, zero)
        for _ in range(_POWER_BITS, bits, _POWER_BITS):
            for _ in range(_POWER_BITS):
                x1 = _mul(x1, x1)
            rest = _right_shift(rest, more)
            y = _mul(y, raw(x1, _bitwise_and(rest, lowest)))
        return y

    return power_of


def _ends(x: Tensor) -> list[npt.NDArray[Any]]:
    """The least and the greatest of eager numbers, on the host."""
    if not x.shape.num_elements():
        return []
    every = constant(tuple(range(x.shape.rank)))
    return [np.asarray(_least_of(x, every)), np.asarray(_greatest_of(x, every))]


def _end(name: str, comparison: str) -> Binary:
    """The op Maximum or Minimum."""
    is_at_least = op(comparison)
    raw = keeping_nans(op(name), is_at_least)
    return with_slope(raw, halved_at_ties(name, raw, is_at_least))


_abs = _slopes.abs
_add = op("AddV2")
_angle = op("Angle")
_bitwise_and = op("BitwiseAnd")
_bitwise_or = op("BitwiseOr")
_clip_by_value = op("ClipByValue")
_complex = op("Complex")
_conj = op("Conj")
_equal = op("Equal")
_floor_div = op("FloorDiv")
_floor_mod = _slopes.floor_mod
_greatest_of = op("Max")
_imag = op("Imag")
_invert = op("Invert")
_is_finite = op("IsFinite")
_is_inf = op("IsInf")
_is_nan = op("IsNan")
_larger = op("Maximum")
_least_of = op("Min")
_left_shift = op("LeftShift")
_less = op("Less")
_select = op("Select")
_logical_and = op("LogicalAnd")
_logical_or = op("LogicalOr")
_maximum = _end("Maximum", "GreaterEqual")
_minimum = _end("Minimum", "LessEqual")
_mul = _slopes.multiply
_neg = op("Neg")
_next_after = op("NextAfter")
_not_equal = op("NotEqual")
_pow = with_slope(_of_every_bit(op("Pow")), power)
_real = op("Real")
_real_div = _slopes.divide
_right_shift = op("RightShift")
_round = op("Round")
_sign = op("Sign")
_square = _slopes.square
_stop_gradient = op("StopGradient")
_sub = op("Sub")
_where = op("SelectV2")
_truncate_div = op("TruncateDiv")


def _refuse(function: str, wanted: str, *xs: Tensor) -> TypeError:
    return TypeError(f"{function}: takes {wanted} dtypes, not {', '.join(map(name_of, xs))}")


def _unary(raw: Unary, otherwise: Unary) -> Unary:
    """The op `raw`; `otherwise` casts operands of dtypes that it refuses."""

    def function(x: Tensor, /) -> Tensor:
        try:
            return raw(x)
        except REFUSALS:
            y = otherwise(x)
            if y is x:
                raise
        return raw(y)

    return function


def _unless(kinds: str, raw: Unary, otherwise: Unary) -> Unary:
    """`raw`, with the fallback `otherwise` for `kinds`, which it refuses."""

    def function(x: Tensor, /) -> Tensor:
        try:
            return raw(x)
        except REFUSALS:
            if kind_of(x) not in kinds:
                raise
        return otherwise(x)

    return function


def _binary(raw: Binary, otherwise: Callable[[Tensor, Tensor], list[Tensor]], *, takes_bools: bool = False) -> Binary:
    """`raw`; `otherwise` casts operands of pairs of dtypes that it refuses.

    If `takes_bools`, bools are 0 and 1 as in NumPy: + is or, * is and.
    """
    widely = at_every_rank(raw)

    def function(x1: Tensor, x2: Tensor, /) -> Tensor:
        try:
            y = raw(x1, x2)
        except REFUSALS:
            y1, y2 = otherwise(x1, x2)
            if y1 is x1 and y2 is x2:
                if takes_bools and x1.dtype is _BOOL:
                    return cast(widely(cast(x1, "uint8"), cast(x2, "uint8")), "bool")
                if is_broadcast_by_kernels(x1, x2):
                    raise  # each op that fails costs memory which TensorFlow does not free
        else:
            return y if isinstance(y, EagerTensor) else unrefused(y, raw, x1, x2)
        return widely(y1, y2)

    return function


def _floated_pair(x1: Tensor, x2: Tensor) -> list[Tensor]:
    dtype = x1.dtype
    if dtype is x2.dtype and is_common(dtype):
        return [x1, x2]
    y1, y2 = promoted(x1, x2)
    # Each integer dtype is converted to a float dtype by itself, as in NumPy: int8 and uint8 give float16.
    return [y1, y2] if kind_of(y1) in "fc" else promoted(floated(x1), floated(x2))


def _itself(x: Tensor) -> Tensor:
    return x


def _by_parts(
    raw: Unary, of_parts: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]], is_right: Callable[[Tensor], bool]
) -> Unary:
    """The op `raw`; complex operands are computed by parts if it is wrong."""

    def function(x: Tensor, /) -> Tensor:
        if (_device.has_gpu() or not isinstance(x, EagerTensor)) and is_complex(x) and not is_right(x):
            part = _PART[x.dtype]
            return _complex(*of_parts(_real(x, part), _imag(x, part)), x.dtype)
        try:
            return raw(x)
        except REFUSALS:
            y = floated(x)
            if y is x:
                raise
        return raw(y)

    return function


def _times(size: Tensor, angle: Tensor) -> Tensor:
    """A function of one part times the sine or cosine of the other.

    0 times what is not finite is 0.
    """
    y = _mul(size, angle)
    zero = constant(0, name_of(y))
    is_zero = _equal(size, zero)
    is_lost = _logical_and(_is_nan(y), _logical_or(is_zero, _equal(angle, zero)))
    return where(is_lost, where(is_zero, size, angle), y)


def _times_or_infinite(a: Tensor, size: Tensor, angle: Tensor) -> Tensor:
    """As `_times`; the size of infinite `a` remains whatever the angle."""
    y = _times(size, angle)
    return where(_logical_and(_is_nan(y), _is_inf(a)), size, y)


def _exp_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    size = _slopes.exp(a)
    real, imag = _times_or_infinite(a, size, _slopes.cos(b)), _times(size, _slopes.sin(b))
    # What underflows is no zero.
    nothing = _sub(b, b)
    is_turning = _logical_and(_is_finite(a), _is_nan(nothing))
    return where(is_turning, nothing, real), where(is_turning, nothing, imag)


def _cosh_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return _times_or_infinite(a, _slopes.cosh(a), _slopes.cos(b)), _times(_slopes.sinh(a), _slopes.sin(b))


def _sinh_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return _times_or_infinite(a, _slopes.sinh(a), _slopes.cos(b)), _times(_slopes.cosh(a), _slopes.sin(b))


def _cos_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    real, imag = _cosh_parts(b, a)
    return real, _neg(imag)


def _sin_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    imag, real = _sinh_parts(b, a)
    return real, imag


def _tan_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    turned = _slopes.tanh(_complex(_neg(b), a, _WHOLE[a.dtype]))  # tan z = -i tanh iz
    return _imag(turned, a.dtype), _neg(_real(turned, a.dtype))


def _expm1_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    number = name_of(a)
    real, imag = _exp_parts(a, b)
    sine = _slopes.sin(_mul(b, constant(0.5, number)))
    near = _sub(_mul(_slopes.expm1(a), _slopes.cos(b)), _mul(constant(2, number), _mul(sine, sine)))
    is_near = _logical_and(_less(_abs(a), constant(_FAR, number)), _is_finite(b))
    return where(is_near, near, _sub(real, constant(1, number))), imag


acos = _unary(_slopes.acos, floated)
acosh = _unary(_slopes.acosh, floated)
asin = _unary(_slopes.asin, floated)
asinh = _unary(_slopes.asinh, floated)
atan = _unary(_slopes.atan, floated)
atanh = _unary(_slopes.atanh, floated)
cos = _by_parts(_slopes.cos, _cos_parts, is_as_on_cpu)
cosh = sooner_unless_differentiated(np.cosh, _by_parts(_slopes.cosh, _cosh_parts, is_as_on_cpu))
exp = _by_parts(_slopes.exp, _exp_parts, is_for_cpu)
sin = _by_parts(_slopes.sin, _sin_parts, is_as_on_cpu)
sinh = sooner_unless_differentiated(np.sinh, _by_parts(_slopes.sinh, _sinh_parts, is_as_on_cpu))
tan = sooner_unless_differentiated(np.tan, _by_parts(_slopes.tan, _tan_parts, is_for_cpu))
tanh = _unary(_slopes.tanh, floated)
square = _unary(_slopes.square, _itself)

add = _binary(_add, promoted, takes_bools=True)
subtract = _binary(_sub, promoted)
multiply = _binary(_mul, promoted, takes_bools=True)
maximum = _binary(_maximum, promoted, takes_bools=True)
minimum = _binary(_minimum, promoted, takes_bools=True)
atan2 = _binary(_slopes.atan2, _floated_pair)


def _exclusive_or(x1: Tensor, x2: Tensor, /) -> Tensor:
    if x1.dtype is not _BOOL:
        raise _refuse("logical_xor", "bool", x1, x2)
    return _not_equal(x1, x2)


logical_and = sooner(np.logical_and, "b", at_every_rank(_logical_and))
logical_not = sooner(np.logical_not, "b", op("LogicalNot"))
logical_or = sooner(np.logical_or, "b", at_every_rank(_logical_or))
logical_xor = sooner(np.logical_xor, "b", at_every_rank(_exclusive_or))


def _comparison(name: str) -> Binary:
    raw = op(name)
    widely = at_every_rank(raw)

    def function(x1: Tensor, x2: Tensor, /) -> Tensor:
        try:
            y = raw(x1, x2)
        except REFUSALS:
            y1, y2 = promoted(x1, x2)
            if y1 is x1 and y2 is x2 and x1.dtype is _BOOL:
                y1, y2 = cast(x1, "uint8"), cast(x2, "uint8")
        else:
            return y if isinstance(y, EagerTensor) else unrefused(y, raw, x1, x2)
        # uint64 and signed integers promote to float64, in which adjacent large integers compare equal.
        kinds = kind_of(x1) + kind_of(x2)
        if kinds == "iu" and kind_of(y1) == "f":
            return where(_is_negative(x1), raw(constant(-1), constant(0)), widely(cast(x1, "uint64"), x2))
        if kinds == "ui" and kind_of(y1) == "f":
            return where(_is_negative(x2), raw(constant(0), constant(-1)), widely(x1, cast(x2, "uint64")))
        return widely(y1, y2)

    return function


def _is_negative(x: Tensor) -> Tensor:
    return _less(x, constant(0, name_of(x)))


equal = sooner(np.equal, "biufc", _comparison("Equal"))
not_equal = sooner(np.not_equal, "biufc", _comparison("NotEqual"))
less = sooner(np.less, "biuf", _comparison("Less"))
less_equal = sooner(np.less_equal, "biuf", _comparison("LessEqual"))
greater = sooner(np.greater, "biuf", _comparison("Greater"))
greater_equal = sooner(np.greater_equal, "biuf", _comparison("GreaterEqual"))


def _sign_bit(x: Tensor) -> Tensor:
    """Whether the sign bit of each float is set, including NaN and -0."""
    return _is_negative(bitcast(x, _BITS[x.dtype]))


_real_abs = _unless("bu", _abs, _itself)


def abs(x: Tensor, /) -> Tensor:
    return complex_abs(x, _PART[x.dtype]) if is_complex(x) else _real_abs(x)


def conj(x: Tensor, /) -> Tensor:
    return _conj(x) if is_complex(x) else positive(x)


def imag(x: Tensor, /) -> Tensor:
    if not is_complex(x):
        raise _refuse("imag", "complex", x)
    return _imag(x, _PART[x.dtype])


def real(x: Tensor, /) -> Tensor:
    return _real(x, _PART[x.dtype]) if is_complex(x) else positive(x)


def complex_of(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers of their parts."""
    return _complex(real, imag, _WHOLE[real.dtype])


def positive(x: Tensor, /) -> Tensor:
    if x.dtype is _BOOL:
        raise _refuse("positive", "numeric", x)
    return x


# Not 0 - x: the graph optimizer rewrites it to Neg, which has no kernel for these dtypes.
negative = _unless("u", _neg, lambda x: _add(_invert(x), constant(1, name_of(x))))
_real_sign = _unless("u", _sign, lambda x: _minimum(x, constant(1, name_of(x))))


def sign(x: Tensor, /) -> Tensor:
    if is_complex(x):
        if is_on_host(x) and not may_be_differentiated(x) and np.isfinite(_parts(x)).all():
            return _sign(x)
        # TensorFlow computes each part by itself: with a NaN in one of them the other stays a number.
        scaled = _outweighed(x)
        y = where(_equal(scaled, scaled), _sign(scaled), constant(_NAN, name_of(x)))
        if not is_for_cpu(x):
            zero = constant(0, name_of(x))
            y = where(_equal(x, zero), zero, y)  # a GPU's sign of -0 is -0
        return _sign_with_slope(x, y) if may_be_differentiated(x) else y
    y = _real_sign(x)
    if is_as_on_cpu(y) or kind_of(y) != "f":
        return y
    zero = constant(0, name_of(y))
    return where(_equal(x, zero), zero, y)  # a GPU's and XLA's sign of -0 is -0


def _outweighed(x: Tensor) -> Tensor:
    """`x`; an infinite part becomes 1 with its sign, and the other part 0.

    NaN where both parts are infinite.
    """
    part = _PART[x.dtype]
    real, imag = _real(x, part), _imag(x, part)
    is_real_infinite, is_imag_infinite = _is_inf(real), _is_inf(imag)
    zero = constant(0, NAME[part])
    scaled = _complex(
        where(is_real_infinite, _sign(real), where(is_imag_infinite, zero, real)),
        where(is_imag_infinite, _sign(imag), where(is_real_infinite, zero, imag)),
        x.dtype,
    )
    return where(_logical_and(is_real_infinite, is_imag_infinite), constant(_NAN, name_of(x)), scaled)


def _sign_with_slope(x: Tensor, y: Tensor) -> Tensor:
    """`y`, the sign of complex `x`, with the right derivative.

    TensorFlow's derivative is 0, which holds for real operands only.
    """
    part = _PART[x.dtype]
    size = complex_abs(x, part)
    is_common_size = _logical_and(_less(constant(0, NAME[part]), size), _is_finite(size))
    # A NaN in the branch that `where` does not select would make the gradient NaN.
    safe = where(is_common_size, x, constant(1, name_of(x)))
    scale = complex_abs(safe, part)
    quotient = _complex(_real_div(_real(safe, part), scale), _real_div(_imag(safe, part), scale), x.dtype)
    return where(is_common_size, quotient, y)


def _signbit(x: Tensor, /) -> Tensor:
    if is_complex(x):
        raise _refuse("signbit", "real floating", x)
    return _sign_bit(floated(x))


signbit = sooner(np.signbit, "f", _signbit)


def copysign(x1: Tensor, x2: Tensor, /) -> Tensor:
    x1, x2 = _floated_pair(x1, x2)
    magnitude = _abs(x1)
    return where(_sign_bit(x2), _neg(magnitude), magnitude)


ceil = sooner(np.ceil, "f", _unless("biu", op("Ceil"), _itself))
floor = sooner(np.floor, "f", _unless("biu", op("Floor"), _itself))


def _rounded(x: Tensor, /) -> Tensor:
    # TensorFlow's integer kernels return 0.
    kind = kind_of(x)
    if kind == "f":
        y = _round(x)
        return y if is_for_cpu(x) else copysign(y, x)  # a GPU's 0 loses its sign
    if kind == "c":
        part = _PART[x.dtype]
        return _complex(_rounded(_real(x, part)), _rounded(_imag(x, part)), x.dtype)
    return positive(x)


def _truncated(x: Tensor, /) -> Tensor:
    if kind_of(x) != "f":
        return floor(x)
    if not is_eager(x):  # the graph optimizer removes a division by 1
        return _select(_less(x, constant(0, name_of(x))), ceil(x), floor(x))
    return _truncate_div(x, constant(1, name_of(x)))


round = sooner(np.rint, "f", _rounded)
trunc = sooner(np.trunc, "f", _truncated)


def _test(raw: Unary, of_parts: Binary, of_exact: Binary) -> Unary:
    """The predicate `raw`, also for dtypes that it refuses.

    `of_parts` combines the results for the real and the imaginary part. `of_exact` computes integers and bools.
    """

    def function(x: Tensor, /) -> Tensor:
        if is_complex(x):
            part = _PART[x.dtype]
            return of_parts(raw(_real(x, part)), raw(_imag(x, part)))
        try:
            return raw(x)
        except REFUSALS:
            return of_exact(x, x)

    return function


isfinite = sooner(np.isfinite, "fc", _test(_is_finite, _logical_and, _equal))
isinf = sooner(np.isinf, "fc", _test(_is_inf, _logical_or, _not_equal))
isnan = sooner(np.isnan, "fc", _test(_is_nan, _logical_or, _not_equal))


_exp = _slopes.exp
_expm1 = _unary(_slopes.expm1, floated)
_log = _unary(_slopes.log, floated)
_log1p = _unary(_slopes.log1p, floated)
_sqrt = _unary(_slopes.sqrt, floated)


_FAR: Final = 40
"""From here on exp(x) and exp(x) - 1 round to the same number."""


def _parts(x: Tensor) -> npt.NDArray[Any]:
    """Real and imaginary parts of a tensor in host memory, as a 1-d array."""
    return on_host(x).reshape(-1).view(_PART[x.dtype].as_numpy_dtype)


def _root_bounds(part: Any) -> tuple[float, float]:
    """Bounds between which TensorFlow's square root of complex is right."""
    power = np.finfo(NAME[part]).maxexp // 3
    return 2.0**-power, 2.0**power


def sqrt(x: Tensor, /) -> Tensor:
    if not is_complex(x):
        return _sqrt(x)
    if is_on_host(x) and not may_be_differentiated(x):
        sizes = np.abs(_parts(x))
        low, high = _root_bounds(_PART[x.dtype])
        if sizes.size and low < sizes.min() and sizes.max() < high:
            return _sqrt(x)
    # TensorFlow is right above the real axis. Below, it drops the sign of an imaginary part that is zero.
    is_below = _sign_bit(_imag(x, _PART[x.dtype]))
    root = _upper_root(where(is_below, _conj(x), x))
    return where(is_below, _conj(root), root)


def _upper_root(x: Tensor) -> Tensor:
    """Square root above the real axis, by parts if TensorFlow's may be wrong.

    TensorFlow's intermediate results overflow and underflow. Compiled by XLA, its gradient is conjugated, and NaN may
    become 0.
    """
    part = _PART[x.dtype]
    number = NAME[part]
    low, high = _root_bounds(part)
    if is_on_host(x):
        host: Any = on_host(x)
        size = np.maximum(np.abs(host.real), np.abs(host.imag))
        if not (((size > 0) & (size < low)) | ((size > high) & (size < math.inf))).any():
            return _sqrt(x)
    real, imag = _real(x, part), _imag(x, part)
    size = _maximum(_abs(real), _abs(imag))
    is_low, is_high = _less(size, constant(low, number)), _less(constant(high, number), size)

    def factor(if_low: float, if_high: float) -> Tensor:
        others = where(is_high, constant(if_high, number), constant(1, number))
        return where(is_low, constant(if_low, number), others)

    scale = factor(high * high, low * low)
    a, b = _mul(real, scale), _mul(imag, scale)
    zero, one, half = (constant(value, number) for value in (0, 1, 0.5))
    # Not abs, which has no derivative at 0. Not the modulus, whose gradient squares the parts.
    is_left = _sign_bit(a)
    a = where(is_left, _neg(a), a)
    is_steep = _less(a, b)
    longer, shorter = where(is_steep, b, a), where(is_steep, a, b)
    ratio = _real_div(shorter, where(_equal(longer, zero), one, longer))
    modulus = _mul(longer, _sqrt(_add(_mul(ratio, ratio), one)))
    # The modulus is infinite if a part is, even if the other part is NaN.
    larger = _sqrt(_mul(_add(a, where(_is_inf(a), a, modulus)), half))
    smaller = _real_div(_mul(b, half), where(_equal(larger, zero), one, larger))
    larger, smaller = (where(_is_inf(b), b, y) for y in (larger, smaller))
    scale = factor(low, high)
    return _complex(_mul(where(is_left, smaller, larger), scale), _mul(where(is_left, larger, smaller), scale), x.dtype)


def expm1(x: Tensor, /) -> Tensor:
    if not is_complex(x):
        return _expm1(x)
    if not is_for_cpu(x):  # a GPU has no kernel
        part = _PART[x.dtype]
        return _complex(*_expm1_parts(_real(x, part), _imag(x, part)), x.dtype)
    # TensorFlow's expm1 is accurate where exp(x) - 1 would cancel, but gives NaN for an infinite result.
    if is_on_host(x) and np.abs(np.real(on_host(x))).max(initial=0) < _FAR:
        return _expm1(x)
    part = _PART[x.dtype]
    is_near = _less(_abs(_real(x, part)), constant(_FAR, NAME[part]))
    return where(is_near, _expm1(x), _sub(exp(x), constant(1, name_of(x))))


def _argument(x: Tensor, part: Any) -> Tensor:
    """The angle of complex numbers, of the dtype `part`."""
    if is_on_host(x) and not may_be_differentiated(x):
        host: Any = on_host(x)
        # It takes a fifth of the time even in float64. NumPy's float32 result is wrong by 2 ULP.
        with np.errstate(under="ignore"):
            return from_host(np.arctan2(host.imag, host.real, dtype=np.float64).astype(part.as_numpy_dtype), x)
    return _angle(x, part)


def log(x: Tensor, /) -> Tensor:
    if not is_complex(x):
        return _log(x)
    # TensorFlow squares the parts, which may overflow.
    part = _PART[x.dtype]
    return _complex(_log(complex_abs(x, part)), _argument(x, part), x.dtype)


def log1p(x: Tensor, /) -> Tensor:
    if not is_complex(x):
        return _log1p(x)
    part = _PART[x.dtype]
    number = NAME[part]
    a, b = _real(x, part), _imag(x, part)
    # We subtract -1 + 0j instead of adding 1, so that an imaginary part of -0 keeps its sign.
    shifted = _sub(x, constant(-1, name_of(x)))
    near = _mul(_log1p(_add(_mul(a, _add(a, constant(2, number))), _mul(b, b))), constant(0.5, number))
    is_near = _less(complex_abs(x, part), constant(0.5, number))
    modulus = where(is_near, near, _log(complex_abs(shifted, part)))
    return _complex(modulus, _argument(shifted, part), x.dtype)


def _log_to_base(base: int) -> Unary:
    scale = math.log(base)

    def function(x: Tensor, /) -> Tensor:
        if x.dtype is _FLOAT64:
            return _real_div(_log(x), constant(scale, "float64"))
        if is_complex(x):
            # By parts, as TensorFlow's complex division gives NaN for infinities.
            part = _PART[x.dtype]
            angle = _real_div(_argument(x, part), constant(scale, NAME[part]))
            return _complex(function(complex_abs(x, part)), angle, x.dtype)
        x = floated(x)
        name = name_of(x)
        # In 16 bits the scale alone would be wrong by up to half a per cent.
        wide = "float32" if name in _HALVES else name
        return cast(_real_div(_log(cast(x, wide)), constant(scale, wide)), name)

    return function


log2 = _log_to_base(2)
log10 = _log_to_base(10)


def reciprocal(x: Tensor, /) -> Tensor:
    # TensorFlow's op is an approximation in float32: the reciprocal of 2 is 0.49999997.
    x = floated(x)
    one = constant(1, name_of(x))
    return _complex_quotient(one, x) if is_complex(x) else _real_div(one, x)


def _power(x1: Tensor, x2: Tensor, /) -> Tensor:
    try:
        y = _pow(x1, x2)
    except REFUSALS:
        y1, y2 = promoted(x1, x2)
        if kind_of(y1) == "u":
            return _unsigned_pow(y1, y2)
        if y1 is not x1 or y2 is not x2:
            return _power(y1, y2)
        y = at_every_rank(_pow)(x1, x2)
    else:
        y = y if isinstance(y, EagerTensor) else unrefused(y, _pow, x1, x2)
    if is_complex(x2):
        # TensorFlow computes the logarithm of the base, which is undefined for zero.
        zero, one = constant(0, name_of(x2)), constant(1, name_of(x2))
        if not isinstance(y, EagerTensor) and may_be_fused():
            # XLA does so if the exponent is not real. For a real exponent the power has a derivative, which we keep.
            part = _PART[x2.dtype]
            none = constant(0, NAME[part])
            is_slopeless = _logical_and(_less(none, _real(x2, part)), _not_equal(_imag(x2, part), none))
            y = where(_logical_and(_equal(x1, zero), is_slopeless), zero, y)
        return where(_equal(x2, zero), one, y)
    return y


pow = sooner_unless_differentiated(on_numpy.standard_pow, _power)


FEW: Final = 1 << 10
"""Threshold in elements: up to it the overhead of an op outweighs what it computes."""


def _is_short(x: Tensor) -> bool:
    return (x.shape.num_elements() or FEW + 1) <= FEW


def cube(x: Tensor, /) -> Tensor:
    return pow(x, constant(3, name_of(x))) if _is_short(x) and not is_complex(x) else multiply(square(x), x)


def root(x: Tensor, /) -> Tensor:
    if is_complex(x):
        return sqrt(x)
    name = name_of(x)
    if _is_short(x):
        return pow(x, constant(0.5, name))
    # sqrt gives -0 for -0 and NaN for -inf; pow gives 0 and inf.
    infinity = constant(math.inf, name)
    return where(_equal(x, negative(infinity)), infinity, sqrt(_add(x, constant(0, name))))


@at_every_rank
def _unsigned_pow(x1: Tensor, x2: Tensor) -> Tensor:
    """`pow` of unsigned integers, for which TensorFlow has no kernel.

    It computes with signed integers, whose products wrap to the same bits.
    """
    name = name_of(x1)
    if name != "uint64":
        wider = "int64" if name == "uint32" else "int32"
        return cast(_pow(cast(x1, wider), cast(x2, wider)), name)
    # An exponent may overflow int64: x^n = (x^(n // 2))^2 x^(n % 2).
    base = bitcast(x1, "int64")
    one = constant(1, name)
    half = bitcast(_right_shift(x2, one), "int64")
    odd = bitcast(_bitwise_and(x2, one), "int64")
    return bitcast(_mul(_square(_pow(base, half)), _pow(base, odd)), name)


def _in_float32_or_wider(function: Binary) -> Binary:
    """`function` of float32 and float64, extended to any pair of dtypes."""
    widely = at_every_rank(function)

    def widened(x1: Tensor, x2: Tensor, /) -> Tensor:
        x1, x2 = _floated_pair(x1, x2)
        if is_common(x1.dtype):
            return widely(x1, x2)
        name = name_of(x1)
        if name not in _HALVES:
            raise _refuse(function.__name__, "real-valued", x1, x2)
        return cast(widely(cast(x1, "float32"), cast(x2, "float32")), name)

    return widened


@functools.cache
def _bounds(name: str) -> tuple[Tensor, Tensor]:
    """The smallest and the largest finite number of a dtype."""
    limits = np.finfo(name)
    return constant(float(limits.min), name), constant(float(limits.max), name)


@_in_float32_or_wider
def logaddexp(x1: Tensor, x2: Tensor, /) -> Tensor:
    larger = _maximum(x1, x2)
    # The difference of two equal infinities is NaN, so the larger operand is clipped to the finite range.
    finite = _clip_by_value(larger, *_bounds(name_of(larger)))
    # Softplus gives the same, but takes twice as long where the operands are close.
    return _add(larger, _log1p(_exp(_sub(_minimum(x1, x2), finite))))


@_in_float32_or_wider
def hypot(x1: Tensor, x2: Tensor, /) -> Tensor:
    # The kernel of a complex modulus avoids overflow and underflow of intermediate results.
    return complex_abs(_complex(x1, x2, _WHOLE[x1.dtype]), x1.dtype)


@at_every_rank
def nextafter(x1: Tensor, x2: Tensor, /) -> Tensor:
    x1, x2 = _floated_pair(x1, x2)
    name = name_of(x1)
    if name not in _HALVES:
        return _next_after(x1, x2)
    # There is no kernel, so we increment the bits, which are sign and magnitude.
    zero, one, sign_bit = (constant(i, "int16") for i in (0, 1, -(1 << 15)))
    bits1, bits2 = bitcast(x1, "int16"), bitcast(x2, "int16")
    place1, place2 = (where(_less(b, zero), _sub(sign_bit, b), b) for b in (bits1, bits2))
    outwards = _equal(_less(place1, place2), _less(zero, place1))
    bits = where(outwards, _add(bits1, one), _sub(bits1, one))
    bits = where(_equal(place1, zero), _bitwise_or(_bitwise_and(bits2, sign_bit), one), bits)
    bits = where(_equal(place1, place2), bits2, bits)
    return where(_logical_or(_is_nan(x1), _is_nan(x2)), _add(x1, x2), bitcast(bits, name))


def _quotient_pair(x1: Tensor, x2: Tensor) -> list[Tensor]:
    x1, x2 = promoted(x1, x2)
    return [x1, x2] if kind_of(x1) in "fc" else [cast(x1, "float64"), cast(x2, "float64")]


def divide(x1: Tensor, x2: Tensor, /) -> Tensor:
    # RealDiv is declared for integers, but has no integer kernels.
    if is_common(x1.dtype) or kind_of(x1) == "f":
        try:
            y = _real_div(x1, x2)
        except REFUSALS:
            if x1.dtype is x2.dtype and kind_of(x1) == "f" and is_broadcast_by_kernels(x1, x2):
                raise
        else:
            return y if isinstance(y, EagerTensor) else unrefused(y, _real_div, x1, x2)
    x1, x2 = _quotient_pair(x1, x2)
    return (_complex_quotient if is_complex(x1) else _real_quotient)(x1, x2)


_real_quotient = at_every_rank(_real_div)


@at_every_rank
def _complex_quotient(x1: Tensor, x2: Tensor) -> Tensor:
    """Smith's algorithm as in NumPy, except for one more divisor.

    The quotient is also 0 where both parts of the divisor are infinite. TensorFlow gives NaN for zero and infinite
    divisors, and differs between one element and several.
    """
    if is_on_host(x1) and is_on_host(x2):
        if may_be_differentiated(x1, x2):
            y = _real_div(x1, x2)
        else:
            # TensorFlow rounds the first of several elements differently from the last: quotients of conjugate numbers
            # are not conjugate.
            with np.errstate(all="ignore"):
                y = from_host(np.asarray(np.divide(on_host(x1), on_host(x2))), x1)
        if is_on_host(y) and np.isfinite(on_host(y)).all() and np.isfinite(on_host(x2)).all():
            return y
    native = x1.dtype if is_complex(x1) else x2.dtype
    part = _PART[native]
    number = NAME[part]
    zero, one = constant(0, number), constant(1, number)
    a, b, c, d = _real(x1, part), _imag(x1, part), _real(x2, part), _imag(x2, part)
    # Where the imaginary part of the divisor is the larger one, both operands are divided by i.
    is_turned = _less(_abs(c), _abs(d))
    a, b = where(is_turned, b, a), where(is_turned, _neg(a), b)
    c, d = where(is_turned, d, c), where(is_turned, _neg(c), d)
    # Scale down, so that no sum below overflows.
    limit = constant(float(np.finfo(number).max) / 16, number)
    is_large = _less(limit, _maximum(_maximum(_abs(a), _abs(b)), _abs(c)))
    factor = where(is_large, constant(1 / 16, number), one)
    a, b, c, d = (_mul(v, factor) for v in (a, b, c, d))
    # The ratio of two infinities or two zeros is NaN, which would reach the gradient even where it is not selected.
    is_zero, is_infinite = _logical_and(_equal(c, zero), _equal(d, zero)), _is_inf(d)
    ratio = _real_div(where(is_infinite, _sign(d), d), where(is_infinite, _sign(c), where(is_zero, one, c)))
    divisor = where(is_zero, _abs(c), _add(c, _mul(d, ratio)))
    real = where(is_zero, a, _add(a, _mul(b, ratio)))
    imag = where(is_zero, b, _sub(b, _mul(a, ratio)))
    return _complex(_real_div(real, divisor), _real_div(imag, divisor), native)


def _integer_division(raw: Binary, x1: Tensor, x2: Tensor) -> Tensor:
    """`raw`, but 0 where the divisor is 0.

    There TensorFlow raises, or on a GPU returns an undefined value.
    """
    if is_on_host(x2) and on_host(x2).all():
        return raw(x1, x2)
    name = name_of(x2)
    is_zero = cast(_equal(x2, constant(0, name)), name)
    keep = _sub(is_zero, constant(1, name))  # all bits set, or none
    return _bitwise_and(raw(x1, _bitwise_or(x2, is_zero)), keep)


def _division(function: str, raw: Binary, of_floats: Binary) -> Binary:
    @at_every_rank
    def divided(x1: Tensor, x2: Tensor, /) -> Tensor:
        dtype = x1.dtype
        if dtype is not x2.dtype:
            x1, x2 = promoted(x1, x2)
            dtype = x1.dtype
        if is_common(dtype):
            return of_floats(x1, x2)
        kind = kind_of(x1)
        if kind in "bc":
            raise _refuse(function, "real-valued", x1, x2)
        return of_floats(x1, x2) if kind == "f" else _integer_division(raw, x1, x2)

    return divided


def _floor_divide_floats(x1: Tensor, x2: Tensor) -> Tensor:
    # The floor of the quotient is wrong: 1 / 0.1 rounds up to 10. The remainder is exact, so we use it.
    name = name_of(x1)
    if is_on_host(x1) and is_on_host(x2):
        with np.errstate(all="ignore"):
            return cast(from_host(on_numpy.floor_divide(on_host(x1), on_host(x2)), x1), name)
    zero = constant(0, name)
    quotient = _real_div(x1, x2)
    rest = _floor_mod(x1, x2)
    # A step function has the derivative 0, even where the result is the quotient itself.
    quotient = _stop_gradient(quotient)
    # An infinite remainder counts as one whole divisor: -1 // inf is -1, as in NumPy.
    part = where(_is_inf(rest), constant(1, name), _real_div(rest, x2))
    is_whole = _logical_or(_equal(rest, zero), _equal(x2, zero))
    return where(is_whole, quotient, _round(_sub(quotient, part)))


def _remainder_of_floats(x1: Tensor, x2: Tensor) -> Tensor:
    rest = _floor_mod(x1, x2)
    # It has the sign of `x2`, except where it is zero.
    if is_on_host(rest) and on_host(rest).all():
        return rest
    return _mul(_abs(rest), _sign(x2))


floor_divide = _division("floor_divide", _floor_div, _floor_divide_floats)
remainder = _division("remainder", _floor_mod, _remainder_of_floats)


def _bitwise(of_integers: Binary, of_bools: Binary) -> Binary:
    def function(x1: Tensor, x2: Tensor, /) -> Tensor:
        # We check both: in a graph, a bool and an eager integer trigger an assertion inside TensorFlow.
        return of_bools(x1, x2) if x1.dtype is _BOOL and x2.dtype is _BOOL else of_integers(x1, x2)

    return _binary(function, promoted)


def _inverted(x: Tensor, /) -> Tensor:
    return logical_not(x) if x.dtype is _BOOL else _invert(x)


bitwise_and = sooner(np.bitwise_and, "biu", _bitwise(_bitwise_and, _logical_and))
bitwise_invert = sooner(np.invert, "biu", _inverted)
bitwise_or = sooner(np.bitwise_or, "biu", _bitwise(_bitwise_or, _logical_or))
bitwise_xor = sooner(np.bitwise_xor, "biu", _bitwise(op("BitwiseXor"), _not_equal))


def _shift(function: str, raw: Binary, out_of_range: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Binary:
    """The shift `raw`; `out_of_range` for counts outside the dtype's width.

    TensorFlow clips the count: a greater one to width - 1, a negative one to zero.
    """

    @at_every_rank
    def shifted(x1: Tensor, x2: Tensor, /) -> Tensor:
        if x1.dtype is not x2.dtype:
            x1, x2 = promoted(x1, x2)
        try:
            width = _WIDTH[x1.dtype]
        except KeyError:
            raise _refuse(function, "integer", x1, x2) from None
        # Viewed as unsigned, a negative count is a large one.
        unsigned = f"uint{width}"
        if is_on_host(x2) and on_host(x2).view(unsigned).max(initial=0) < width:
            return raw(x1, x2)
        return out_of_range(x1, x2, _less(bitcast(x2, unsigned), constant(width, unsigned)))

    return shifted


def _shifted_left(x1: Tensor, x2: Tensor, in_range: Tensor) -> Tensor:
    return _mul(_left_shift(x1, x2), cast(in_range, name_of(x1)))


def _shifted_right(x1: Tensor, x2: Tensor, in_range: Tensor) -> Tensor:
    name = name_of(x1)
    if kind_of(x1) == "u":
        return _mul(_right_shift(x1, x2), cast(in_range, name))
    # Only copies of the sign bit remain.
    return _right_shift(x1, where(in_range, x2, constant(_WIDTH[x1.dtype] - 1, name)))


bitwise_left_shift = sooner(np.left_shift, "iu", _shift("bitwise_left_shift", _left_shift, _shifted_left))
bitwise_right_shift = sooner(np.right_shift, "iu", _shift("bitwise_right_shift", _right_shift, _shifted_right))


@at_every_rank
def _gcd(x1: Tensor, x2: Tensor, /) -> Tensor:
    """By Euclid's algorithm, in a loop, as TensorFlow has no op for it."""
    if x1.dtype is not x2.dtype:
        x1, x2 = promoted(x1, x2)
    if kind_of(x1) not in "iu":
        raise _refuse("gcd", "integer", x1, x2)
    name = name_of(x1)
    zero, one = constant(0, name), constant(1, name)

    def is_divided(first: Tensor, second: Tensor) -> Tensor:
        return tf.reduce_any(_not_equal(second, zero))

    def divided(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        is_found = _equal(second, zero)
        rest = _floor_mod(first, where(is_found, one, second))
        return where(is_found, first, second), where(is_found, zero, rest)

    x1, x2 = broadcast_arrays(x1, x2)
    divisor, _ = tf.while_loop(is_divided, divided, (x1, x2))
    return abs(divisor)


gcd = sooner(np.gcd, "iu", _gcd)


def clip(x: Tensor, /, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    if min is not None:
        x = maximum(x, min)
    return x if max is None else minimum(x, max)
