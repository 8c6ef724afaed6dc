"""The `fft` extension: discrete Fourier transforms.

Sizes
    `n` is the length of the transform along `axis`: `x` is cropped to it, or padded with zeros. None means the whole
    axis. Transforms over several axes have `s`, one length for each of `axes`; -1 means the whole axis, and None all
    axes. Without `axes`, the lengths are those of the last axes.
Factors
    `norm` selects the transform that divides by n, the product of the lengths: "backward" the inverse transform,
    "forward" the forward transform, "ortho" both, by the square root of n.
Dtypes
    Results have the precision of `x`. A real `x` is cast to complex, except in `rfft`, `rfftn` and `ihfft`, which
    accept only real arrays.
Symmetry
    The transform of n real numbers is Hermitian: its second half follows from the first n // 2 + 1 numbers. `rfft`
    returns only these, and `irfft` accepts them; `hfft` accepts them, and `ihfft` returns them. An even and an odd n
    have halves of the same length: the default is the even n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from anyarray._array.array import AnyArray, Array
from anyarray._base import dtypes, errors
from anyarray._base.dtypes import DTypeLike
from anyarray._call.arguments import as_integer, as_number
from anyarray._call.by_position import takes_by_position
from anyarray._call.declaration import declare
from anyarray._call.dispatch import dispatch
from anyarray._call.wrapping import wrap_aligned
from anyarray._choice import choice
from anyarray._memory import devices
from anyarray._registry.registry import Backend

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip


@dispatch(x="floating-point", cost="fft", fit="transform", batch="along an axis", promotion="complex")
def fft(
    x: AnyArray,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Array:
    """Fourier transform along one axis.

    The axis gets length `n`, by default its own; the dtype is complex.

    >>> import anyarray as xp
    >>> xp.fft.fft(xp.asarray([1 + 0j, 0j, 0j, 0j])).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]

    Source: array API 2025.12, fft.fft.
    """
    ...


@dispatch(x="floating-point", cost="fft of all axes", fit="transform", batch="transform of axes", promotion="complex")
def fftn(
    x: AnyArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Array:
    """Fourier transform along several axes, by default all.

    The axes get lengths `s`, by default their own; the dtype is complex.

    >>> import anyarray as xp
    >>> xp.real(xp.fft.fftn(xp.ones((2, 2), dtype=xp.complex128))).tolist()
    [[4.0, 0.0], [0.0, 0.0]]

    Source: array API 2025.12, fft.fftn.
    """
    ...


@dispatch(batch="transform of axes")
def fftshift(x: AnyArray, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """`x` with the zero-frequency element shifted to the center of each axis.

    An axis of length n is rolled by n // 2. `axes` None means all axes.

    >>> import anyarray as xp
    >>> xp.fft.fftshift(xp.asarray([0.0, 1.0, 2.0, -2.0, -1.0])).tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]

    Source: array API 2025.12, fft.fftshift.
    """
    ...


@dispatch(x="floating-point", cost="fft", alike="irfft", fit="transform", batch="along an axis", promotion="complex")
def hfft(
    x: AnyArray,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Array:
    """Fourier transform of a Hermitian signal, given its first half.

    The axis of length m gets length `n`, by default 2 * (m - 1); the dtype is real.

    >>> import anyarray as xp
    >>> xp.fft.hfft(xp.asarray([1 + 0j, 0j, 0j])).tolist()
    [1.0, 1.0, 1.0, 1.0]

    Source: array API 2025.12, fft.hfft.
    """
    ...


@dispatch(x="floating-point", cost="fft", fit="transform", batch="along an axis", promotion="complex")
def ifft(
    x: AnyArray,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Array:
    """Inverse of `fft`.

    The axis gets length `n`, by default its own; the dtype is complex.

    >>> import anyarray as xp
    >>> xp.fft.ifft(xp.asarray([4 + 0j, 0j, 0j, 0j])).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]

    Source: array API 2025.12, fft.ifft.
    """
    ...


@dispatch(x="floating-point", cost="fft of all axes", fit="transform", batch="transform of axes", promotion="complex")
def ifftn(
    x: AnyArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Array:
    """Inverse of `fftn`.

    The axes get lengths `s`, by default their own; the dtype is complex.

    >>> import anyarray as xp
    >>> xp.real(xp.fft.ifftn(xp.ones((2, 2), dtype=xp.complex128))).tolist()
    [[1.0, 0.0], [0.0, 0.0]]

    Source: array API 2025.12, fft.ifftn.
    """
    ...


@dispatch(batch="transform of axes")
def ifftshift(x: AnyArray, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Inverse of `fftshift`; they differ where a length is odd.

    An axis of length n is rolled by -(n // 2). `axes` None means all axes.

    >>> import anyarray as xp
    >>> xp.fft.ifftshift(xp.asarray([-2.0, -1.0, 0.0, 1.0, 2.0])).tolist()
    [0.0, 1.0, 2.0, -2.0, -1.0]

    Source: array API 2025.12, fft.ifftshift.
    """
    ...


@dispatch(x="real floating-point", cost="fft", alike="rfft", fit="transform", batch="along an axis")
def ihfft(
    x: AnyArray,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Array:
    """Inverse of `hfft`: the first half of a Hermitian signal.

    `x` is real, as the transform of such a signal is. The axis gets length n // 2 + 1, where `n` is by default its
    own; the dtype is complex.

    >>> import anyarray as xp
    >>> xp.real(xp.fft.ihfft(xp.asarray([1.0, 1.0, 1.0, 1.0]))).tolist()
    [1.0, 0.0, 0.0]

    Source: array API 2025.12, fft.ihfft.
    """
    ...


@dispatch(
    x="floating-point", cost="fft", timed="half a spectrum", fit="transform", batch="along an axis", promotion="complex"
)
def irfft(
    x: AnyArray,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Array:
    """Inverse of `rfft`.

    The axis of length m gets length `n`, by default 2 * (m - 1); the dtype is real. An odd length must be given as `n`.

    >>> import anyarray as xp
    >>> xp.fft.irfft(xp.asarray([4 + 0j, 0j, 0j])).tolist()
    [1.0, 1.0, 1.0, 1.0]

    Source: array API 2025.12, fft.irfft.
    """
    ...


@dispatch(
    x="floating-point",
    cost="fft of all axes",
    alike="ifftn",
    fit="transform",
    batch="transform of axes",
    promotion="complex",
)
def irfftn(
    x: AnyArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Array:
    """Inverse of `rfftn`.

    The axes get lengths `s`, by default their own, but the last one of length m gets 2 * (m - 1); the dtype is real.

    >>> import anyarray as xp
    >>> xp.fft.irfftn(xp.asarray([[4 + 0j, 0j], [0j, 0j]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]

    Source: array API 2025.12, fft.irfftn.
    """
    ...


@dispatch(x="real floating-point", cost="fft", fit="transform", batch="along an axis")
def rfft(
    x: AnyArray,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Array:
    """First half of the Fourier transform of real numbers along one axis.

    The axis gets length n // 2 + 1, where `n` is by default its own; the dtype is complex.

    >>> import anyarray as xp
    >>> xp.real(xp.fft.rfft(xp.asarray([1.0, 1.0, 1.0, 1.0]))).tolist()
    [4.0, 0.0, 0.0]

    Source: array API 2025.12, fft.rfft.
    """
    ...


@dispatch(x="real floating-point", cost="fft of all axes", fit="transform", batch="transform of axes")
def rfftn(
    x: AnyArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Array:
    """First half of the Fourier transform of real numbers along several axes.

    By default, these are all axes. They get the lengths `s`, by default their own, but the last one gets s[-1] // 2 +
    1. The dtype is complex.

    >>> import anyarray as xp
    >>> xp.real(xp.fft.rfftn(xp.ones((2, 2)))).tolist()
    [[4.0, 0.0], [0.0, 0.0]]

    Source: array API 2025.12, fft.rfftn.
    """
    ...


@declare
@takes_by_position
def fftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Backend | str | None = None) -> Array:
    """Frequencies of a transform of length `n`, in cycles per unit of `d`.

    The result is (n,): [0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1] / (d * n), of the default float unless `dtype`
    is given. `d` is the spacing of the samples. Raises ValueError if `n` is less than 1.

    >>> import anyarray as xp
    >>> xp.fft.fftfreq(4, d=0.25).tolist()
    [0.0, 1.0, -2.0, -1.0]

    Source: array API 2025.12, fft.fftfreq.
    """
    return _frequencies("fftfreq", n, d, dtype, device)


@declare
@takes_by_position
def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Backend | str | None = None
) -> Array:
    """Frequencies of an `rfft` of length `n`, in cycles per unit of `d`.

    The result is (n // 2 + 1,): [0, 1, ..., n // 2] / (d * n), of the default float unless `dtype` is given.
    `d` is the spacing of the samples. Raises ValueError if `n` is less than 1.

    >>> import anyarray as xp
    >>> xp.fft.rfftfreq(4, d=0.25).tolist()
    [0.0, 1.0, 2.0]

    Source: array API 2025.12, fft.rfftfreq.
    """
    return _frequencies("rfftfreq", n, d, dtype, device)


def _frequencies(name: str, n: int, d: float, dtype: DTypeLike | None, device: Backend | str | None) -> Array:
    if type(n) is not int:
        n = as_integer(name, "n", n)
    if n < 1:
        raise errors.ArgumentValueError(f"{name}: n must be at least 1, not {n}")
    if type(d) is not float:
        d = as_number(name, "d", d)
        if isinstance(d, complex):
            raise errors.ArgumentTypeError(f"{name}: d must be a real number, not {d}")
    if not d:
        raise errors.ArgumentValueError(f"{name}: d must not be 0")
    wanted = dtypes.defaults()[float] if dtype is None else dtypes.dtype(dtype, name)
    if wanted.kind != "f":
        raise errors.dtype_not_allowed(name, "dtype", "real floating-point", wanted)
    home = choice.chosen_home(device)
    place = home.backend.native_device
    made = devices.tried(name, getattr(home, name), n, d=d, dtype=home.backend.dtype_for(wanted), device=place)
    return wrap_aligned(made, home)
