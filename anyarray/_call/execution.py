"""A call made on a home, from Arrays that live there or elsewhere.

Arrays are transferred, scalars get a dtype, the native function is called, and its result is wrapped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from anyarray._base import dtypes as _dtypes
from anyarray._call.declaration import DTYPE, SEQUENCE, WEAK, Declaration
from anyarray._call.placement import native_on
from anyarray._call.refusal import explain
from anyarray._call.wrapping import SCALARS, body_globals, is_array, record_views, wrap_result
from anyarray._memory import devices, views
from anyarray._registry.home import POWERS, Home


def native_dtype(home: Home, wanted: Any, declaration: Declaration) -> Any:
    return home.backend.native_dtype(_dtypes.dtype(wanted, declaration.name).name)


def call_on(declaration: Declaration, prepared: Sequence[Any], home: Home) -> Any:
    """The result of a call on `home`, to which the arrays are transferred."""
    agreed, is_cast = "", False
    for at in declaration.weak_positions:
        if type(prepared[at]) in SCALARS:
            prepared = _comparable(prepared) if declaration.is_comparison else prepared
            agreed, is_cast = _scalar_dtype(declaration, prepared)
            break
    positional: list[Any] = []
    keyword: dict[str, Any] = {}
    ours = body_globals["Array"]
    for p, value in zip(declaration.parameters, prepared, strict=True):
        native = value
        if type(value) is ours:
            native = native_on(value, home, declaration.name)
            if is_cast and not p.is_condition:
                native = home.astype(native, native_dtype(home, agreed, declaration))
        elif p.role is SEQUENCE:
            native = [native_on(a, home, declaration.name) for a in value]
        elif p.role is DTYPE and value is not None:
            native = native_dtype(home, value, declaration)
        elif p.role is WEAK and value is not None:
            native = home.constants.named(value, agreed, declaration.name)
        if p.is_variadic:
            positional += native
        elif p.is_keyword:
            keyword[p.name] = native
        else:
            positional.append(native)
    name = declaration.name
    if declaration.is_power and is_array(prepared[0]) and type(prepared[1]) in SCALARS and prepared[1] in POWERS:
        power = home.powers[prepared[1], type(prepared[1]), home.dtype_of(positional[0])]
        if power is not None:
            name, positional = power, positional[:1]
    function = getattr(home, name)
    try:
        result = function(*positional, **keyword)
    except Exception as error:
        if not explain(error, declaration, prepared):
            raise
        result = devices.tried(declaration.name, function, *positional, **keyword)
    results = wrap_result(declaration, result, home)
    if declaration.gives_views and all(a._home is home for a in declaration.arrays_of(prepared)):
        record_views(declaration, prepared, results)
    if declaration.batch == "elementwise" and declaration.result == "Array":
        views.keep_order(prepared, results)
    return results


def _comparable(operands: Sequence[Any]) -> list[Any]:
    """The operands of a comparison, with infinity for out-of-range integers.

    Those are Python ints outside the bounds of an integer array's dtype.
    """
    dtypes = [one.dtype for one in operands if is_array(one) and one.dtype.kind in "iu"]
    return [
        math.copysign(math.inf, one) if type(one) is int and not all(_dtypes.holds(d, one) for d in dtypes) else one
        for one in operands
    ]


def _scalar_dtype(declaration: Declaration, prepared: Sequence[Any]) -> tuple[str, bool]:
    """The dtype that weak Python scalars take from the arrays of the call.

    The second value says whether the arrays are cast to it. A condition does not count as an array. Without any, as in
    `where(condition, 1, 2.5)`, it is a default dtype.
    """
    scalars: list[Any] = []
    beside: list[str] = []
    for at in declaration.array_positions:
        p, v = declaration.parameters[at], prepared[at]
        if is_array(v):
            if not p.is_condition and not p.takes_plain_scalar:
                beside.append(v._home.dtype(v._native).name)
        elif p.role is WEAK and v is not None:
            scalars.append(v)
    if not beside:
        return _dtypes.common_default(map(type, scalars)).name, False
    array = _dtypes.result_name(*beside)
    dtype = _dtypes.KNOWN[array]
    if dtype.kind in "iu" and any(type(one) is int and not _dtypes.holds(dtype, one) for one in scalars):
        # A scalar that the integer dtype cannot hold may be exact enough as the float that the function computes in.
        array = _dtypes.PROMOTIONS[declaration.promotion](array)
    name = _dtypes.with_scalars(array, map(type, scalars))
    return name, array != dtype.name or _dtypes.promoted(name, array) != name
