"""Data type functions: conversion, limits and the promotion rule.

Every backend promotes by the standard's rule, and by NumPy's where the standard defines no result. Python scalars are
weakly typed.
"""

from __future__ import annotations

import builtins
import functools
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from anyarray._array.array import AnyArray, Array
from anyarray._base import dtypes, errors
from anyarray._base.dtypes import (
    DType,
    DTypeLike,
    bfloat16,
    complex64,
    complex128,
    default_dtypes,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from anyarray._call.arguments import as_array
from anyarray._call.compiled import fast_path
from anyarray._call.declaration import declare
from anyarray._call.placement import home_of_array, native_on
from anyarray._call.wrapping import SCALARS, cast, copied, wrap
from anyarray._registry import registry
from anyarray._registry.registry import Backend
from anyarray.standard.creation import asarray

bool = dtypes.bool_  # the standard's name

__all__ = [
    "DType", "astype", "bfloat16", "bool", "can_cast", "complex64", "complex128", "default_dtypes", "finfo", "float16",
    "float32", "float64", "iinfo", "int8", "int16", "int32", "int64", "isdtype", "result_type", "uint8", "uint16",
    "uint32", "uint64",
]  # fmt: skip

Bool: TypeAlias = builtins.bool


@dataclass(frozen=True)
class FloatInfo:
    """Limits of a floating-point dtype, or of the parts of a complex dtype."""

    bits: int
    """Bits of one element, of its real part if it is complex."""
    eps: float
    """Distance from 1 to the next larger number."""
    max: float
    """Largest number."""
    min: float
    """Smallest (most negative) number."""
    smallest_normal: float
    """Smallest positive number with full precision."""
    dtype: DType
    """The dtype of the numbers, real."""


@dataclass(frozen=True)
class IntegerInfo:
    """Limits of an integer dtype."""

    bits: int
    """Bits of one element."""
    max: int
    """Largest number."""
    min: int
    """Smallest number."""
    dtype: DType
    """The dtype itself."""


@declare(batch="conversion")
@fast_path("astype")
def astype(x: AnyArray, dtype: DTypeLike, /, *, copy: Bool = True, device: Backend | str | None = None) -> Array:
    """`x` converted to `dtype`.

    Floats become integers by truncation, and nonzero numbers become True. With `copy=False`, an Array of that dtype is
    returned unchanged. Raises TypeError for complex to real: use `xp.real(x)`.

    >>> import anyarray as xp
    >>> xp.astype(xp.asarray([1.7, -1.7]), xp.int32).tolist()
    [1, -1]

    Source: array API 2025.12, data_type_functions.astype.
    """
    wanted = dtypes.dtype(dtype, "astype")
    if type(x) is not Array:
        as_array("astype", "x", x)  # raises TypeError if it is not an array
        x = asarray(x)  # copies memory that the user could write to
    home = home_of_array("astype", x) if device is None else registry.as_backend(device).placed
    if home is x._home:
        if x.dtype is not wanted:
            return cast("astype", "x", x, wanted)
        return copied(x) if copy else x
    native = native_on(x, home, "astype", explicit=device is not None)
    here = wrap(native, home)
    return here if here.dtype is wanted else cast("astype", "x", here, wanted)


def can_cast(from_: DTypeLike | AnyArray, to: DTypeLike, /) -> Bool:
    """Whether one dtype can be cast to another by the promotion rule.

    An Array counts as its dtype.

    >>> import anyarray as xp
    >>> xp.can_cast(xp.int16, xp.int32), xp.can_cast(xp.float64, xp.float32)
    (True, False)

    Source: array API 2025.12, data_type_functions.can_cast.
    """
    wanted = dtypes.dtype(to)
    return dtypes.promoted(_of(from_).name, wanted.name) == wanted.name


def finfo(type: DTypeLike | AnyArray, /) -> FloatInfo:
    """Limits of a floating-point dtype, or of the dtype of an Array.

    The limits are Python floats. For a complex dtype, they are those of its parts. Raises TypeError for other dtypes.

    >>> import anyarray as xp
    >>> xp.finfo(xp.float32).bits, xp.finfo(xp.complex128).dtype
    (32, anyarray.float64)

    Source: array API 2025.12, data_type_functions.finfo.
    """
    found = _of(type)
    if found.kind not in "fc":
        raise errors.ArgumentTypeError(f"finfo: type must be a floating-point dtype, not {found}. Use xp.iinfo")
    return _limits({"complex64": float32, "complex128": float64}.get(found.name, found))


@functools.cache
def _limits(real: DType) -> FloatInfo:
    if real is bfloat16:
        import ml_dtypes

        limits: Any = ml_dtypes.finfo(real.dtype)
    else:
        limits = np.finfo(real.dtype)
    return FloatInfo(
        real.itemsize * 8,
        float(limits.eps),
        float(limits.max),
        float(limits.min),
        float(limits.smallest_normal),
        real,
    )


def iinfo(type: DTypeLike | AnyArray, /) -> IntegerInfo:
    """Limits of an integer dtype, or of the dtype of an Array.

    Raises TypeError for other dtypes.

    >>> import anyarray as xp
    >>> xp.iinfo(xp.int8).max
    127

    Source: array API 2025.12, data_type_functions.iinfo.
    """
    found = _of(type)
    if found.kind not in "iu":
        raise errors.ArgumentTypeError(f"iinfo: type must be an integer dtype, not {found}. Use xp.finfo")
    limits = np.iinfo(found.dtype)
    return IntegerInfo(found.itemsize * 8, int(limits.max), int(limits.min), found)


def isdtype(dtype: DTypeLike, kind: DTypeLike | str | tuple[DTypeLike | str, ...]) -> Bool:
    """Whether `dtype` is of a kind, or of one of several.

    `kind` is a dtype, the name of a kind, or a tuple of those. The names are bool, signed integer, unsigned integer,
    integral, real floating, complex floating, numeric. Raises ValueError for another name.

    >>> import anyarray as xp
    >>> xp.isdtype(xp.float32, ("integral", "real floating"))
    True

    Source: array API 2025.12, data_type_functions.isdtype.
    """
    found = dtypes.dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(found, one) for one in kind)
    if isinstance(kind, str):
        if kind not in dtypes.KINDS:
            raise errors.ArgumentValueError(f"isdtype: kind must be one of {', '.join(dtypes.KINDS)}, not {kind!r}")
        return found.kind in dtypes.KINDS[kind]
    return found is dtypes.dtype(kind)


@fast_path("result_type")
def result_type(*arrays_and_dtypes: AnyArray | DTypeLike | complex) -> DType:
    """The dtype that Arrays, dtypes and Python scalars promote to.

    Python scalars alone, which the standard leaves undefined, give the default dtype of the highest kind. Raises
    ValueError without arguments.

    >>> import anyarray as xp
    >>> xp.result_type(xp.int8, xp.uint8), xp.result_type(xp.float32, 1)
    (anyarray.int16, anyarray.float32)

    Source: array API 2025.12, data_type_functions.result_type.
    """
    if not arrays_and_dtypes:
        raise errors.ArgumentValueError("result_type: needs at least one Array or dtype")
    scalars: list[type[Any]] = []
    others: list[str] = []
    for value in arrays_and_dtypes:
        kind = type(value)
        if kind in SCALARS:
            scalars.append(kind)
        else:
            others.append(value._home.dtype(value._native).name if kind is Array else _of(value).name)  # type: ignore[union-attr]  # `kind` says so
    if not others:
        return dtypes.common_default(scalars)
    name = dtypes.result_name(*others)
    return dtypes.KNOWN[dtypes.with_scalars(name, scalars) if scalars else name]


def _of(value: Any) -> DType:
    """The dtype of an Array or native array, or the given dtype."""
    if type(value) is DType:
        return value
    if type(value) is Array:
        return value.dtype
    if registry.backend_of_native(value) is None:
        return dtypes.dtype(value)
    found: DType = as_array("dtype", "x", value).dtype
    return found
