"""Elementwise functions.

Most call one raw op without a check of dtypes, which would add overhead to every call. If TensorFlow raises, the
operands are promoted and the op is called again. The dtype is checked first where TensorFlow's result differs from the
standard's, or where a kernel is missing, as a graph raises for that only when it runs.

TensorFlow's threads flush subnormal numbers to zero.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from anyarray._base import dtypes
from anyarray.backends import numpy as on_numpy
from anyarray.backends._shared.arithmetic import complex_sign
from anyarray.backends.tensorflow import _device, _slopes
from anyarray.backends.tensorflow import _ops as ops
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
        y = raw(x1, ops.SelectV2(ops.Less(x2, zero), x2, ops.BitwiseAnd(x2, lowest)))
        rest = ops.Maximum(x2, zero)
        for _ in range(_POWER_BITS, bits, _POWER_BITS):
            for _ in range(_POWER_BITS):
                x1 = _mul(x1, x1)
            rest = ops.RightShift(rest, more)
            y = _mul(y, raw(x1, ops.BitwiseAnd(rest, lowest)))
        return y

    return power_of


def _ends(x: Tensor) -> list[npt.NDArray[Any]]:
    """The least and the greatest of eager numbers, on the host."""
    if not x.shape.num_elements():
        return []
    every = constant(tuple(range(x.shape.rank)))
    return [np.asarray(ops.Min(x, every)), np.asarray(ops.Max(x, every))]


def _end(name: str, comparison: str) -> Binary:
    """The op Maximum or Minimum."""
    is_at_least = op(comparison)
    raw = keeping_nans(op(name), is_at_least)
    return with_slope(raw, halved_at_ties(name, raw, is_at_least))


_abs = _slopes.abs
_floor_mod = _slopes.floor_mod
_maximum = _end("Maximum", "GreaterEqual")
_minimum = _end("Minimum", "LessEqual")
_mul = _slopes.multiply
_pow = with_slope(_of_every_bit(ops.Pow), power)
_real_div = _slopes.divide
_square = _slopes.square


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
            return ops.Complex(*of_parts(ops.Real(x, part), ops.Imag(x, part)), x.dtype)
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
    is_zero = ops.Equal(size, zero)
    is_lost = ops.LogicalAnd(ops.IsNan(y), ops.LogicalOr(is_zero, ops.Equal(angle, zero)))
    return where(is_lost, where(is_zero, size, angle), y)


def _times_or_infinite(a: Tensor, size: Tensor, angle: Tensor) -> Tensor:
    """As `_times`; the size of infinite `a` remains whatever the angle."""
    y = _times(size, angle)
    return where(ops.LogicalAnd(ops.IsNan(y), ops.IsInf(a)), size, y)


def _exp_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    size = _slopes.exp(a)
    real, imag = _times_or_infinite(a, size, _slopes.cos(b)), _times(size, _slopes.sin(b))
    # What underflows is no zero.
    nothing = ops.Sub(b, b)
    is_turning = ops.LogicalAnd(ops.IsFinite(a), ops.IsNan(nothing))
    return where(is_turning, nothing, real), where(is_turning, nothing, imag)


def _cosh_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return _times_or_infinite(a, _slopes.cosh(a), _slopes.cos(b)), _times(_slopes.sinh(a), _slopes.sin(b))


def _sinh_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return _times_or_infinite(a, _slopes.sinh(a), _slopes.cos(b)), _times(_slopes.cosh(a), _slopes.sin(b))


def _cos_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    real, imag = _cosh_parts(b, a)
    return real, ops.Neg(imag)


def _sin_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    imag, real = _sinh_parts(b, a)
    return real, imag


def _tan_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    turned = _slopes.tanh(ops.Complex(ops.Neg(b), a, _WHOLE[a.dtype]))  # tan z = -i tanh iz
    return ops.Imag(turned, a.dtype), ops.Neg(ops.Real(turned, a.dtype))


def _expm1_parts(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    number = name_of(a)
    real, imag = _exp_parts(a, b)
    sine = _slopes.sin(_mul(b, constant(0.5, number)))
    near = ops.Sub(_mul(_slopes.expm1(a), _slopes.cos(b)), _mul(constant(2, number), _mul(sine, sine)))
    is_near = ops.LogicalAnd(ops.Less(_abs(a), constant(_FAR, number)), ops.IsFinite(b))
    return where(is_near, near, ops.Sub(real, constant(1, number))), imag


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

add = _binary(ops.AddV2, promoted, takes_bools=True)
subtract = _binary(ops.Sub, promoted)
multiply = _binary(_mul, promoted, takes_bools=True)
maximum = _binary(_maximum, promoted, takes_bools=True)
minimum = _binary(_minimum, promoted, takes_bools=True)
atan2 = _binary(_slopes.atan2, _floated_pair)


def _exclusive_or(x1: Tensor, x2: Tensor, /) -> Tensor:
    if x1.dtype is not _BOOL:
        raise _refuse("logical_xor", "bool", x1, x2)
    return ops.NotEqual(x1, x2)


logical_and = sooner(np.logical_and, "b", at_every_rank(ops.LogicalAnd))
logical_not = sooner(np.logical_not, "b", ops.LogicalNot)
logical_or = sooner(np.logical_or, "b", at_every_rank(ops.LogicalOr))
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
    return ops.Less(x, constant(0, name_of(x)))


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
    return ops.Conj(x) if is_complex(x) else positive(x)


def imag(x: Tensor, /) -> Tensor:
    if not is_complex(x):
        raise _refuse("imag", "complex", x)
    return ops.Imag(x, _PART[x.dtype])


def real(x: Tensor, /) -> Tensor:
    return ops.Real(x, _PART[x.dtype]) if is_complex(x) else positive(x)


def complex_of(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers of their parts."""
    return ops.Complex(real, imag, _WHOLE[real.dtype])


def positive(x: Tensor, /) -> Tensor:
    if x.dtype is _BOOL:
        raise _refuse("positive", "numeric", x)
    return x


# Not 0 - x: the graph optimizer rewrites it to Neg, which has no kernel for these dtypes.
negative = _unless("u", ops.Neg, lambda x: ops.AddV2(ops.Invert(x), constant(1, name_of(x))))
_real_sign = _unless("u", ops.Sign, lambda x: _minimum(x, constant(1, name_of(x))))


def sign(x: Tensor, /) -> Tensor:
    if is_complex(x):
        if is_on_host(x) and not may_be_differentiated(x) and np.isfinite(_parts(x)).all():
            return ops.Sign(x)
        part = _PART[x.dtype]
        return ops.Complex(*complex_sign(_OF_PARTS, ops.Real(x, part), ops.Imag(x, part)), x.dtype)
    y = _real_sign(x)
    if is_as_on_cpu(y) or kind_of(y) != "f":
        return y
    zero = constant(0, name_of(y))
    return where(ops.Equal(x, zero), zero, y)  # a GPU's and XLA's sign of -0 is -0


def _selected(condition: Tensor, x1: Any, x2: Any) -> Tensor:
    """As `where`, also of one number."""
    name = name_of(x1 if tf.is_tensor(x1) else x2)
    return where(condition, *[x if tf.is_tensor(x) else constant(x, name) for x in (x1, x2)])


_OF_PARTS: Final = SimpleNamespace(where=_selected, isinf=ops.IsInf, sign=ops.Sign, hypot=lambda x1, x2: hypot(x1, x2))
"""The functions of `complex_sign`."""


def _signbit(x: Tensor, /) -> Tensor:
    if is_complex(x):
        raise _refuse("signbit", "real floating", x)
    return _sign_bit(floated(x))


signbit = sooner(np.signbit, "f", _signbit)


def copysign(x1: Tensor, x2: Tensor, /) -> Tensor:
    x1, x2 = _floated_pair(x1, x2)
    magnitude = _abs(x1)
    return where(_sign_bit(x2), ops.Neg(magnitude), magnitude)


ceil = sooner(np.ceil, "f", _unless("biu", ops.Ceil, _itself))
floor = sooner(np.floor, "f", _unless("biu", ops.Floor, _itself))


def _rounded(x: Tensor, /) -> Tensor:
    # TensorFlow's integer kernels return 0.
    kind = kind_of(x)
    if kind == "f":
        y = ops.Round(x)
        return y if is_for_cpu(x) else copysign(y, x)  # a GPU's 0 loses its sign
    if kind == "c":
        part = _PART[x.dtype]
        return ops.Complex(_rounded(ops.Real(x, part)), _rounded(ops.Imag(x, part)), x.dtype)
    return positive(x)


def _truncated(x: Tensor, /) -> Tensor:
    if kind_of(x) != "f":
        return floor(x)
    if not is_eager(x):  # the graph optimizer removes a division by 1
        return ops.Select(ops.Less(x, constant(0, name_of(x))), ceil(x), floor(x))
    return ops.TruncateDiv(x, constant(1, name_of(x)))


round = sooner(np.rint, "f", _rounded)
trunc = sooner(np.trunc, "f", _truncated)


def _test(raw: Unary, of_parts: Binary, of_exact: Binary) -> Unary:
    """The predicate `raw`, also for dtypes that it refuses.

    `of_parts` combines the results for the real and the imaginary part. `of_exact` computes integers and bools.
    """

    def function(x: Tensor, /) -> Tensor:
        if is_complex(x):
            part = _PART[x.dtype]
            return of_parts(raw(ops.Real(x, part)), raw(ops.Imag(x, part)))
        try:
            return raw(x)
        except REFUSALS:
            return of_exact(x, x)

    return function


isfinite = sooner(np.isfinite, "fc", _test(ops.IsFinite, ops.LogicalAnd, ops.Equal))
isinf = sooner(np.isinf, "fc", _test(ops.IsInf, ops.LogicalOr, ops.NotEqual))
isnan = sooner(np.isnan, "fc", _test(ops.IsNan, ops.LogicalOr, ops.NotEqual))


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
    is_below = _sign_bit(ops.Imag(x, _PART[x.dtype]))
    root = _upper_root(where(is_below, ops.Conj(x), x))
    return where(is_below, ops.Conj(root), root)


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
    real, imag = ops.Real(x, part), ops.Imag(x, part)
    size = _maximum(_abs(real), _abs(imag))
    is_low, is_high = ops.Less(size, constant(low, number)), ops.Less(constant(high, number), size)

    def factor(if_low: float, if_high: float) -> Tensor:
        others = where(is_high, constant(if_high, number), constant(1, number))
        return where(is_low, constant(if_low, number), others)

    scale = factor(high * high, low * low)
    a, b = _mul(real, scale), _mul(imag, scale)
    zero, one, half = (constant(value, number) for value in (0, 1, 0.5))
    # Not abs, which has no derivative at 0. Not the modulus, whose gradient squares the parts.
    is_left = _sign_bit(a)
    a = where(is_left, ops.Neg(a), a)
    is_steep = ops.Less(a, b)
    longer, shorter = where(is_steep, b, a), where(is_steep, a, b)
    ratio = _real_div(shorter, where(ops.Equal(longer, zero), one, longer))
    modulus = _mul(longer, _sqrt(ops.AddV2(_mul(ratio, ratio), one)))
    # The modulus is infinite if a part is, even if the other part is NaN.
    larger = _sqrt(_mul(ops.AddV2(a, where(ops.IsInf(a), a, modulus)), half))
    smaller = _real_div(_mul(b, half), where(ops.Equal(larger, zero), one, larger))
    larger, smaller = (where(ops.IsInf(b), b, y) for y in (larger, smaller))
    scale = factor(low, high)
    return ops.Complex(
        _mul(where(is_left, smaller, larger), scale), _mul(where(is_left, larger, smaller), scale), x.dtype
    )


def expm1(x: Tensor, /) -> Tensor:
    if not is_complex(x):
        return _expm1(x)
    if not is_for_cpu(x):  # a GPU has no kernel
        part = _PART[x.dtype]
        return ops.Complex(*_expm1_parts(ops.Real(x, part), ops.Imag(x, part)), x.dtype)
    # TensorFlow's expm1 is accurate where exp(x) - 1 would cancel, but gives NaN for an infinite result.
    if is_on_host(x) and np.abs(np.real(on_host(x))).max(initial=0) < _FAR:
        return _expm1(x)
    part = _PART[x.dtype]
    is_near = ops.Less(_abs(ops.Real(x, part)), constant(_FAR, NAME[part]))
    return where(is_near, _expm1(x), ops.Sub(exp(x), constant(1, name_of(x))))


def _argument(x: Tensor, part: Any) -> Tensor:
    """The angle of complex numbers, of the dtype `part`."""
    if is_on_host(x) and not may_be_differentiated(x):
        host: Any = on_host(x)
        # It takes a fifth of the time even in float64. NumPy's float32 result is wrong by 2 ULP.
        with np.errstate(under="ignore"):
            return from_host(np.arctan2(host.imag, host.real, dtype=np.float64).astype(part.as_numpy_dtype), x)
    return ops.Angle(x, part)


def log(x: Tensor, /) -> Tensor:
    if not is_complex(x):
        return _log(x)
    # TensorFlow squares the parts, which may overflow.
    part = _PART[x.dtype]
    return ops.Complex(_log(complex_abs(x, part)), _argument(x, part), x.dtype)


def log1p(x: Tensor, /) -> Tensor:
    if not is_complex(x):
        return _log1p(x)
    part = _PART[x.dtype]
    number = NAME[part]
    a, b = ops.Real(x, part), ops.Imag(x, part)
    # We subtract -1 + 0j instead of adding 1, so that an imaginary part of -0 keeps its sign.
    shifted = ops.Sub(x, constant(-1, name_of(x)))
    near = _mul(_log1p(ops.AddV2(_mul(a, ops.AddV2(a, constant(2, number))), _mul(b, b))), constant(0.5, number))
    is_near = ops.Less(complex_abs(x, part), constant(0.5, number))
    modulus = where(is_near, near, _log(complex_abs(shifted, part)))
    return ops.Complex(modulus, _argument(shifted, part), x.dtype)


def _log_to_base(base: int) -> Unary:
    scale = math.log(base)

    def function(x: Tensor, /) -> Tensor:
        if x.dtype is _FLOAT64:
            return _real_div(_log(x), constant(scale, "float64"))
        if is_complex(x):
            # By parts, as TensorFlow's complex division gives NaN for infinities.
            part = _PART[x.dtype]
            angle = _real_div(_argument(x, part), constant(scale, NAME[part]))
            return ops.Complex(function(complex_abs(x, part)), angle, x.dtype)
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
            is_slopeless = ops.LogicalAnd(ops.Less(none, ops.Real(x2, part)), ops.NotEqual(ops.Imag(x2, part), none))
            y = where(ops.LogicalAnd(ops.Equal(x1, zero), is_slopeless), zero, y)
        return where(ops.Equal(x2, zero), one, y)
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
    return where(ops.Equal(x, negative(infinity)), infinity, sqrt(ops.AddV2(x, constant(0, name))))


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
    half = bitcast(ops.RightShift(x2, one), "int64")
    odd = bitcast(ops.BitwiseAnd(x2, one), "int64")
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
    finite = ops.ClipByValue(larger, *_bounds(name_of(larger)))
    # Softplus gives the same, but takes twice as long where the operands are close.
    return ops.AddV2(larger, _log1p(_exp(ops.Sub(_minimum(x1, x2), finite))))


@_in_float32_or_wider
def hypot(x1: Tensor, x2: Tensor, /) -> Tensor:
    # The kernel of a complex modulus avoids overflow and underflow of intermediate results.
    return complex_abs(ops.Complex(x1, x2, _WHOLE[x1.dtype]), x1.dtype)


@at_every_rank
def nextafter(x1: Tensor, x2: Tensor, /) -> Tensor:
    x1, x2 = _floated_pair(x1, x2)
    name = name_of(x1)
    if name not in _HALVES:
        return ops.NextAfter(x1, x2)
    # There is no kernel, so we increment the bits, which are sign and magnitude.
    zero, one, sign_bit = (constant(i, "int16") for i in (0, 1, -(1 << 15)))
    bits1, bits2 = bitcast(x1, "int16"), bitcast(x2, "int16")
    place1, place2 = (where(ops.Less(b, zero), ops.Sub(sign_bit, b), b) for b in (bits1, bits2))
    outwards = ops.Equal(ops.Less(place1, place2), ops.Less(zero, place1))
    bits = where(outwards, ops.AddV2(bits1, one), ops.Sub(bits1, one))
    bits = where(ops.Equal(place1, zero), ops.BitwiseOr(ops.BitwiseAnd(bits2, sign_bit), one), bits)
    bits = where(ops.Equal(place1, place2), bits2, bits)
    return where(ops.LogicalOr(ops.IsNan(x1), ops.IsNan(x2)), ops.AddV2(x1, x2), bitcast(bits, name))


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
    a, b, c, d = ops.Real(x1, part), ops.Imag(x1, part), ops.Real(x2, part), ops.Imag(x2, part)
    # Where the imaginary part of the divisor is the larger one, both operands are divided by i.
    is_turned = ops.Less(_abs(c), _abs(d))
    a, b = where(is_turned, b, a), where(is_turned, ops.Neg(a), b)
    c, d = where(is_turned, d, c), where(is_turned, ops.Neg(c), d)
    # Scale down, so that no sum below overflows.
    limit = constant(float(np.finfo(number).max) / 16, number)
    is_large = ops.Less(limit, _maximum(_maximum(_abs(a), _abs(b)), _abs(c)))
    factor = where(is_large, constant(1 / 16, number), one)
    a, b, c, d = (_mul(v, factor) for v in (a, b, c, d))
    # The ratio of two infinities or two zeros is NaN, which would reach the gradient even where it is not selected.
    is_zero, is_infinite = ops.LogicalAnd(ops.Equal(c, zero), ops.Equal(d, zero)), ops.IsInf(d)
    ratio = _real_div(where(is_infinite, ops.Sign(d), d), where(is_infinite, ops.Sign(c), where(is_zero, one, c)))
    divisor = where(is_zero, _abs(c), ops.AddV2(c, _mul(d, ratio)))
    real = where(is_zero, a, ops.AddV2(a, _mul(b, ratio)))
    imag = where(is_zero, b, ops.Sub(b, _mul(a, ratio)))
    return ops.Complex(_real_div(real, divisor), _real_div(imag, divisor), native)


def _integer_division(raw: Binary, x1: Tensor, x2: Tensor) -> Tensor:
    """`raw`, but 0 where the divisor is 0.

    There TensorFlow raises, or on a GPU returns an undefined value.
    """
    if is_on_host(x2) and on_host(x2).all():
        return raw(x1, x2)
    name = name_of(x2)
    is_zero = cast(ops.Equal(x2, constant(0, name)), name)
    keep = ops.Sub(is_zero, constant(1, name))  # all bits set, or none
    return ops.BitwiseAnd(raw(x1, ops.BitwiseOr(x2, is_zero)), keep)


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
    quotient = ops.StopGradient(quotient)
    # An infinite remainder counts as one whole divisor: -1 // inf is -1, as in NumPy.
    part = where(ops.IsInf(rest), constant(1, name), _real_div(rest, x2))
    is_whole = ops.LogicalOr(ops.Equal(rest, zero), ops.Equal(x2, zero))
    return where(is_whole, quotient, ops.Round(ops.Sub(quotient, part)))


def _remainder_of_floats(x1: Tensor, x2: Tensor) -> Tensor:
    rest = _floor_mod(x1, x2)
    # It has the sign of `x2`, except where it is zero.
    if is_on_host(rest) and on_host(rest).all():
        return rest
    return _mul(_abs(rest), ops.Sign(x2))


floor_divide = _division("floor_divide", ops.FloorDiv, _floor_divide_floats)
remainder = _division("remainder", _floor_mod, _remainder_of_floats)


def _bitwise(of_integers: Binary, of_bools: Binary) -> Binary:
    def function(x1: Tensor, x2: Tensor, /) -> Tensor:
        # We check both: in a graph, a bool and an eager integer trigger an assertion inside TensorFlow.
        return of_bools(x1, x2) if x1.dtype is _BOOL and x2.dtype is _BOOL else of_integers(x1, x2)

    return _binary(function, promoted)


def _inverted(x: Tensor, /) -> Tensor:
    return logical_not(x) if x.dtype is _BOOL else ops.Invert(x)


bitwise_and = sooner(np.bitwise_and, "biu", _bitwise(ops.BitwiseAnd, ops.LogicalAnd))
bitwise_invert = sooner(np.invert, "biu", _inverted)
bitwise_or = sooner(np.bitwise_or, "biu", _bitwise(ops.BitwiseOr, ops.LogicalOr))
bitwise_xor = sooner(np.bitwise_xor, "biu", _bitwise(ops.BitwiseXor, ops.NotEqual))


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
        return out_of_range(x1, x2, ops.Less(bitcast(x2, unsigned), constant(width, unsigned)))

    return shifted


def _shifted_left(x1: Tensor, x2: Tensor, in_range: Tensor) -> Tensor:
    return _mul(ops.LeftShift(x1, x2), cast(in_range, name_of(x1)))


def _shifted_right(x1: Tensor, x2: Tensor, in_range: Tensor) -> Tensor:
    name = name_of(x1)
    if kind_of(x1) == "u":
        return _mul(ops.RightShift(x1, x2), cast(in_range, name))
    # Only copies of the sign bit remain.
    return ops.RightShift(x1, where(in_range, x2, constant(_WIDTH[x1.dtype] - 1, name)))


bitwise_left_shift = sooner(np.left_shift, "iu", _shift("bitwise_left_shift", ops.LeftShift, _shifted_left))
bitwise_right_shift = sooner(np.right_shift, "iu", _shift("bitwise_right_shift", ops.RightShift, _shifted_right))


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
        return tf.reduce_any(ops.NotEqual(second, zero))

    def divided(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        is_found = ops.Equal(second, zero)
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
