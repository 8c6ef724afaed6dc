"""Promotion for namespaces that promote only as the standard requires.

The standard leaves int64 with float32 undefined, and also integers as the argument of `exp`. This package defines both,
so for such a namespace arrays are cast before each call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from anyarray._base import dtypes as _dtypes

Home = Any
Native = Any
Operands = Any
"""`_registry.home.Operands`, which this module does not import."""


def promoting(home: Home, function: Callable[..., Any], operands: Operands) -> Callable[..., Any]:
    """A function of a home that casts its operands to their common dtype."""

    @functools.wraps(function)
    def promoted(*args: Any, **kwargs: Any) -> Any:
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        arrays = {at: given[at] for at in operands.places if given.get(at) is not None}
        if operands.is_sequence:
            given[0] = cast(home, operands, given[0])
        elif operands.is_comparison and _are_of_two_signs(home, *args):
            return _compared(home, function, *args)
        else:
            given.update(zip(arrays, cast(home, operands, arrays.values()), strict=True))
        if operands.promotion == "sums" and given.get("dtype") is None:
            came = home.dtype(args[0]).name
            given["dtype"] = None if came in _FLOATS else home.backend.native_dtype(_dtypes.summed(came))
        return function(*[given.pop(at) for at in range(len(args))], **given)

    return promoted


_FLOATS: Final = frozenset(name for name, dtype in _dtypes.KNOWN.items() if dtype.kind in "fc")


def cast(home: Home, operands: Operands, arrays: Any) -> list[Native]:
    """The arrays of a call, cast to the dtype of the computation."""
    names = [home.dtype(x).name for x in arrays]
    wanted = _dtypes.PROMOTIONS[operands.promotion](_dtypes.result_name(*names))
    if _dtypes.KNOWN[wanted].kind == "f" and not home.backend.has_dtype(wanted):
        wanted = "float32"  # float16 is not in the standard
    return [
        x if came == wanted else home.astype(x, home.backend.native_dtype(wanted))
        for x, came in zip(arrays, names, strict=True)
    ]


def _are_of_two_signs(home: Home, x1: Native, x2: Native) -> bool:
    dtypes = home.dtype(x1), home.dtype(x2)
    return _dtypes.uint64 in dtypes and any(dtype.kind == "i" for dtype in dtypes)


def _compared(home: Home, function: Callable[..., Native], x1: Native, x2: Native) -> Native:
    """A comparison of uint64 with signed integers, exact for every value.

    In float64, to which they promote, different integers may be equal.
    """

    def natural(x: Native) -> Native:
        return home.astype(x, home.backend.native_dtype("uint64"))

    zero = home.constant(0, "int64")
    if home.dtype(x1).kind == "i":
        is_negative, beyond = home.less(x1, zero), function(home.constant(-1, "int64"), zero)
    else:
        is_negative, beyond = home.less(x2, zero), function(zero, home.constant(-1, "int64"))
    return home.where(is_negative, beyond, function(natural(x1), natural(x2)))


def of_floats(home: Home, function: Callable[..., Native]) -> Callable[..., Native]:
    """A `function` of float32 and float64, extended to all real dtypes.

    Integers are cast to float64. Floats of 16 bits are computed in float32, and the result is rounded.
    """

    def cast_to(x: Native, name: str) -> Native:
        return home.astype(x, home.backend.native_dtype(name))

    def of_real(*xs: Native) -> Native:
        names = {home.dtype(x).name for x in xs}
        if len(names) == 1 and not names.isdisjoint(_DIRECT):
            return function(*xs)
        own = _dtypes.PROMOTIONS["wide floats"](_dtypes.result_name(*names))
        if _dtypes.KNOWN[own].kind == "c":
            raise TypeError(f"dtype {own} is not real")
        computed = own if own in _DIRECT else "float32"
        found = function(*[cast_to(x, computed) for x in xs])
        return found if own == computed else cast_to(found, own)

    return of_real


_DIRECT: Final = frozenset({"float32", "float64"})
