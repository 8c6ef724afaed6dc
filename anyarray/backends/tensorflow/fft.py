"""Fourier transforms.

The ops transform the last axes of complex tensors; other axes are transposed to the end and back. There are ops for
one, two and three axes; the op for n axes has no CPU kernel. All other cases are transformed one axis after the other.
float32 and narrower give complex64, integers complex128.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from anyarray._base import dtypes, errors
from anyarray.backends._shared import fourier
from anyarray.backends._shared.axes import axis_in
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._device import is_on_host
from anyarray.backends.tensorflow._hooks import duplicate
from anyarray.backends.tensorflow._kernel import (
    NAME,
    NATIVE,
    Tensor,
    cast,
    constant,
    is_complex,
    may_be_differentiated,
    name_of,
    number,
)
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow._shapes import Length, lengths, shape_tensor, slab
from anyarray.backends.tensorflow.linear_algebra import permuted

_FORWARD: Final = {2: ops.FFT2D, 3: ops.FFT3D}
_INVERSE: Final = {2: ops.IFFT2D, 3: ops.IFFT3D}
_FORWARD_REAL: Final = {2: ops.RFFT2D, 3: ops.RFFT3D}
_INVERSE_REAL: Final = {2: ops.IRFFT2D, 3: ops.IRFFT3D}
"""Ops by the number of last axes that they transform."""

_REAL: Final = {NATIVE["complex64"]: "float32", NATIVE["complex128"]: "float64"}
_EXPONENT: Final = {"backward": 0.0, "ortho": -0.5, "forward": -1.0}


def _exponent(function: str, norm: str) -> float:
    """Exponent of n in the factor of a forward transform.

    The op for the inverse has the factor n ** -1 already.
    """
    if norm not in _EXPONENT:
        raise errors.ArgumentValueError(f"{function}: norm must be one of {', '.join(_EXPONENT)}, not {norm!r}")
    return _EXPONENT[norm]


_COMPLEX: Final = {
    native: NATIVE[dtypes.promoted(name, "complex64") if dtypes.KNOWN[name].kind in "fc" else "complex128"]
    for name, native in NATIVE.items()
}
"""Complex dtype of a transform, by dtype of its operand."""


def _as_complex(x: Tensor) -> Tensor:
    return x if is_complex(x) else cast(x, NAME[_COMPLEX[x.dtype]])


def _as_real(function: str, x: Tensor) -> Tensor:
    if is_complex(x):
        raise errors.dtype_not_allowed(function, "x", "real floating-point", name_of(x))
    return cast(x, _REAL[_COMPLEX[x.dtype]])


def _resized(x: Tensor, n: Length) -> Tensor:
    """`x` with its last axis truncated or zero-padded to length `n`."""
    m = x.shape[-1]
    if m is None or not isinstance(n, int):
        missing = tf.maximum(n - lengths(x)[-1], 0)
        return tf.concat([x, slab(x, -1, missing, 0)], -1)[..., :n]
    if m < n:
        return ops.ConcatV2([x, slab(x, -1, n - m, 0)], constant(-1))
    return x if m == n else ops.SplitV(x, constant((n, -1)), constant(-1), 2)[0]


def _along(
    function: str,
    transform: Callable[[Tensor, Length], Tensor],
    x: Tensor,
    n: Length | None,
    axis: int,
    exponent: float,
    *,
    is_half: bool = False,
) -> Tensor:
    """`transform` of `x` along `axis`, times n ** `exponent`.

    `is_half` says that `x` is one half of a spectrum of length n.
    """
    if axis != -1:
        last = x.shape.rank - 1
        order = [*range(last + 1)]
        position = axis_in(axis, last + 1)
        order[position], order[last] = last, position
        swapped = permuted(x, tuple(order))
        return permuted(_along(function, transform, swapped, n, -1, exponent, is_half=is_half), tuple(order))
    if n is None:
        m = lengths(x)[-1]
        n = 2 * (m - 1) if is_half else m
    elif isinstance(n, int) and n > 0:
        x = _resized(x, n // 2 + 1 if is_half else n)
    if isinstance(n, int) and n < 1:
        raise errors.ArgumentValueError(f"{function}: n must be positive, but is {n}")
    y = transform(x, n)
    if exponent:
        factor = n**exponent if isinstance(n, int) else cast(n, "float64") ** exponent
        y = ops.Mul(y, number(factor, y.dtype))
    return y


def _forward_real(x: Tensor, n: Length) -> Tensor:
    return ops.RFFT(x, cast(shape_tensor((n,)), "int32"), _COMPLEX[x.dtype])


def _inverse_real(x: Tensor, n: Length) -> Tensor:
    return ops.IRFFT(x, cast(shape_tensor((n,)), "int32"), NATIVE[_REAL[x.dtype]])


def _transform(
    name: str,
    kernel: Callable[[Tensor, Length], Tensor],
    sign: int,
    *,
    is_real: bool = False,
    is_half: bool = False,
    is_hermitian: bool = False,
) -> Callable[..., Tensor]:
    """A transform along one axis.

    `sign` is 1 if it is scaled as a forward one.

    Those of Hermitian signals are the others in the opposite direction, of conjugate spectra, not scaled by n.
    """

    def transform(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
        exponent = sign * (_exponent(name, norm) + is_hermitian)
        y = _as_real(name, x) if is_real else _as_complex(x)
        y = ops.Conj(y) if is_hermitian and is_half else y
        y = _along(name, kernel, y, n, axis, exponent, is_half=is_half)
        return ops.Conj(y) if is_hermitian and is_real else y

    return transform


fft, ifft = _transform("fft", lambda x, n: ops.FFT(x), 1), _transform("ifft", lambda x, n: ops.IFFT(x), -1)
rfft, irfft = _transform("rfft", _forward_real, 1, is_real=True), _transform("irfft", _inverse_real, -1, is_half=True)
hfft = _transform("hfft", _inverse_real, 1, is_half=True, is_hermitian=True)
ihfft = _transform("ihfft", _forward_real, -1, is_real=True, is_hermitian=True)


def _transform_n(
    name: str,
    at_once: dict[int, Callable[..., Tensor]],
    other: Callable[..., Tensor],
    last: Callable[..., Tensor],
    sign: int,
) -> Callable[..., Tensor]:
    """A transform along several axes, at once or one after the other."""
    is_real, is_half = last is rfft, last is irfft

    def transform(
        x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
    ) -> Tensor:
        named, sizes = fourier.plan(lengths(x), s, axes, is_real=is_real, is_half=is_half)
        if not _are_last(x, named, sizes, is_real=is_real, is_half=is_half):
            y = _as_real(name, x) if is_real else _as_complex(x)
            return fourier.one_by_one(y, named, sizes, norm, other, last, is_half=is_half)
        exponent = sign * _exponent(name, norm)
        y = _as_real(name, x) if is_real else _as_complex(x)
        if is_real or is_half:
            of_result = _COMPLEX[y.dtype] if is_real else NATIVE[_REAL[y.dtype]]
            y = at_once[len(named)](
                y, constant(tuple([n for _, n in sorted(zip(named, sizes, strict=True))])), of_result
            )
        else:
            y = at_once[len(named)](y)
        return ops.Mul(y, number(math.prod(sizes) ** exponent, y.dtype)) if exponent else y

    return transform


def _are_last(x: Tensor, axes: Sequence[int], sizes: Sequence[Length], *, is_real: bool, is_half: bool) -> bool:
    """Whether one op transforms these axes.

    They must be the last two or three, not resized and of known length. Of a transform with a real operand or result
    the last one must be last. Not all such ops have a gradient, and on other devices the kernels assume that a spectrum
    is Hermitian.
    """
    count, rank = len(axes), x.shape.rank
    if count not in _FORWARD or count > rank or {*axes} != {*range(rank - count, rank)}:
        return False
    if (is_real or is_half) and (axes[-1] != rank - 1 or not is_on_host(x) or may_be_differentiated(x)):
        return False
    shape = [x.shape[axis] for axis in axes]
    if None in shape or 0 in shape:
        return False
    return [*sizes] == ([*shape[:-1], 2 * (shape[-1] - 1)] if is_half else shape)


fftn = _transform_n("fftn", _FORWARD, fft, fft, 1)
ifftn = _transform_n("ifftn", _INVERSE, ifft, ifft, -1)
rfftn = _transform_n("rfftn", _FORWARD_REAL, fft, rfft, 1)
irfftn = _transform_n("irfftn", _INVERSE_REAL, ifft, irfft, -1)


def _on_device(frequencies: np.ndarray[Any, Any], dtype: Any, device: Any) -> Tensor:
    with tf.device(device):
        return tf.constant(frequencies.astype((dtype or NATIVE["float64"]).as_numpy_dtype))


fftfreq, rfftfreq = fourier.frequencies(_on_device)


def _rolled(x: Tensor, by: Sequence[Length], axis: tuple[int, ...]) -> Tensor:
    return ops.Roll(x, shape_tensor(by), constant(axis))


fftshift, ifftshift = fourier.shifts(_rolled, lengths, duplicate)
