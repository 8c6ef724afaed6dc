"""The base of all distributions: bits, fractions, normal numbers."""

from __future__ import annotations

from typing import Final

from anyarray._array.array import AnyArray, Array, Shape
from anyarray._base import dtypes, errors
from anyarray._base.dtypes import DType, DTypeLike, float32, float64, int32, int64, uint32, uint64
from anyarray._call.arguments import as_shape
from anyarray._call.dispatch import composed
from anyarray._call.wrapping import wrap
from anyarray._memory import transfer
from anyarray._registry import registry
from anyarray.random._quantile import normal_quantile
from anyarray.random._threefry import threefry
from anyarray.random.keys import checked
from anyarray.standard import namespace as xp

__all__ = ["bits", "random", "standard_normal"]

_DTYPES: Final = ("uint8", "uint16", "uint32", "uint64")


def bits(key: AnyArray, shape: Shape = (), dtype: DTypeLike | None = None) -> Array:
    """Integers of `shape` whose bits are random.

    `dtype` is uint8, uint16, uint32 or uint64. Raises TypeError for other dtypes.

    >>> from anyarray import random
    >>> random.bits(random.key(7), (3,)).tolist()
    [2895194379, 4185947648, 1300703658]

    Source: jax.random.bits.
    """
    wanted = uint32 if dtype is None else dtypes.dtype(dtype, "bits")
    if wanted.name not in _DTYPES:
        raise errors.ArgumentTypeError(f"bits: dtype must be one of {', '.join(_DTYPES)}, not {wanted}")
    wide = uint64 if wanted is uint64 else uint32
    words = random_bits(checked("bits", key), as_shape("bits", "shape", shape), wide)
    return words if wanted is wide else xp.astype(words, wanted)


def random(key: AnyArray, shape: Shape = (), dtype: DTypeLike | None = None) -> Array:
    """Floats in [0, 1): each multiple of 2**-53 is equally likely.

    float32 and narrower dtypes use multiples of 2**-24. `dtype` defaults to the default floating dtype.

    >>> from anyarray import random
    >>> bool(0 <= random.random(random.key(7)) < 1)
    True

    Source: NumPy 2.4, numpy.random.Generator.random.
    """
    wanted, wide = floating("random", dtype)
    numbers = random_fractions(checked("random", key), as_shape("random", "shape", shape), wide)
    return numbers if wanted is wide else xp.astype(numbers, wanted)


def standard_normal(key: AnyArray, shape: Shape = (), dtype: DTypeLike | None = None) -> Array:
    """Normal numbers with the mean 0 and the standard deviation 1.

    They are quantiles of uniform numbers. `dtype` defaults to the default floating dtype.

    >>> import anyarray as xp
    >>> from anyarray import random
    >>> bool(xp.abs(xp.mean(random.standard_normal(random.key(7), (10000,)))) < 0.05)
    True

    Source: NumPy 2.4, numpy.random.Generator.standard_normal.
    """
    wanted, wide = floating("standard_normal", dtype)
    numbers = random_normals(checked("standard_normal", key), as_shape("standard_normal", "shape", shape), wide)
    return numbers if wanted is wide else xp.astype(numbers, wanted)


# Each is in NumPy's backend, too, where the calls are compiled.
@composed(own="numpy", key="integer", reads_no_values=True)
def random_bits(key: AnyArray, shape: Shape, dtype: DTypeLike) -> Array:
    """Words of uint32 or uint64."""
    host = _on_host("random_bits", key, shape, dtype)
    if host is not None:
        return host
    x0, x1 = threefry(checked("bits", key), shape)
    if dtypes.dtype(dtype) is uint64:
        return (xp.astype(x0, uint64) << 32) | xp.astype(x1, uint64)
    return x0 ^ x1


@composed(own="numpy", key="integer", reads_no_values=True)
def random_fractions(key: AnyArray, shape: Shape, dtype: DTypeLike) -> Array:
    """The leading bits of words as fractions of 1: 53 of 64, or 24 of 32."""
    host = _on_host("random_fractions", key, shape, dtype)
    if host is not None:
        return host
    if dtypes.dtype(dtype) is float64:
        return xp.astype(random_bits(key, shape, uint64) >> 11, float64) * 2.0**-53
    return xp.astype(random_bits(key, shape, uint32) >> 8, float32) * 2.0**-24


@composed(own="numpy", key="integer", reads_no_values=True)
def random_normals(key: AnyArray, shape: Shape, dtype: DTypeLike) -> Array:
    """Normal numbers of float32 or float64."""
    host = _on_host("random_normals", key, shape, dtype)
    if host is not None:
        return host
    if dtypes.dtype(dtype) is float64:
        words = xp.astype(random_bits(key, shape, uint64) >> 11, int64)
        steps, unit = xp.astype(words - (1 << 52), float64), 2.0**-53
    else:
        words = xp.astype(random_bits(key, shape, uint32) >> 8, int32)
        steps, unit = xp.astype(words - (1 << 23), float32), 2.0**-24
    centred = (steps + 0.5) * unit  # exact, and the same to both sides of 0
    return normal_quantile(centred, 0.5 - xp.abs(centred))


def _on_host(function: str, key: AnyArray, shape: Shape, dtype: DTypeLike) -> Array | None:
    """The numbers, made at once in host memory, if the key is there.

    None if not, as in a trace and on an accelerator, and on NumPy without the compiled calls.
    """
    given = checked(function, key)
    home, there = given._home, given._home.backend
    if there.kind != "cpu" or there is _NUMPY.backend or home.depth or home.is_traced(given._native):
        return None
    numbers = getattr(_NUMPY, function)(home.to_numpy(given._native), shape, dtypes.dtype(dtype).dtype)
    native = transfer.shared(numbers, _NUMPY.backend, there)  # nobody else has the memory
    return wrap(transfer.from_host(numbers, there) if native is None else native, home)


_NUMPY: Final = registry.backend_of_name("numpy").free


def floating(function: str, dtype: DTypeLike | None) -> tuple[DType, DType]:
    """The floating dtype that is wanted, and that in which it is computed."""
    wanted = dtypes.default(float) if dtype is None else dtypes.dtype(dtype, function)
    if wanted.kind != "f":
        raise errors.ArgumentTypeError(f"{function}: dtype must be a real floating dtype, not {wanted}")
    return wanted, float64 if wanted is float64 else float32
