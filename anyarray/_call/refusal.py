"""The clear error for a call that cannot be made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anyarray._base import dtypes as _dtypes
from anyarray._base import errors
from anyarray._call import diagnosis
from anyarray._call.arguments import as_array, convert_argument, is_index
from anyarray._call.declaration import ARRAY, PLAIN, SEQUENCE, WEAK, Declaration
from anyarray._call.fits import Input
from anyarray._call.wrapping import NUMPYS, SCALARS, is_array
from anyarray._memory import devices
from anyarray._registry import registry


def of_no_arrays(declaration: Declaration, values: Sequence[Any]) -> Any:
    """The empty tuple of a function of any number of arrays, as NumPy gives.

    Raises TypeError or ValueError for other functions.
    """
    for p, value in zip(declaration.parameters, values, strict=True):
        if p.is_variadic and declaration.result_class is tuple:
            return ()
        if p.role is SEQUENCE and not value:
            raise errors.ArgumentValueError(f"{declaration.name}: {p.name} must hold at least one Array, but is empty")
        if p.role in (ARRAY, WEAK):
            raise errors.not_an_array(declaration.name, p.name, value)
    return None


def explain(error: Exception, declaration: Declaration, values: Sequence[Any]) -> bool:
    """Raise a clear error from a native one if the arguments explain it.

    Returns whether the call is to be made once more by its slow path: memory ran out and some was freed, or that path
    takes complex numbers or converts an argument.
    """
    if errors.is_signal(error):
        return False
    if registry.is_out_of_memory(error):
        return devices.is_worth_another_try(declaration.name, error)
    if isinstance(error, errors.AnyarrayError) and not isinstance(error, (TypeError, ValueError)):
        return False
    diagnosis.diagnose_failure(error, declaration.name)
    arguments: dict[str, Any] = {}
    arrays: list[Input] = []
    for at, (p, value) in enumerate(zip(declaration.parameters, values, strict=True)):
        arguments[p.name] = value
        if p.role is PLAIN:
            try:
                arguments[p.name] = convert_argument(declaration, at, value)
            except errors.AnyarrayError as clear:
                raise clear from None if isinstance(error, errors.AnyarrayError) else error
            if any(map(is_index, value if isinstance(value, (list, tuple)) else [value])):
                return True
        if at not in declaration.array_positions:
            continue
        parts = {f"{p.name}[{i}]": one for i, one in enumerate(value)} if p.role is SEQUENCE else {p.name: value}
        for label, one in parts.items():
            if type(one) in NUMPYS:
                one = as_array(declaration.name, label, one)
            if is_array(one):
                its_home = one._home
                shape = tuple(its_home.shape_of(one._native))
                arrays.append(Input(label, p.words, its_home.dtype(one._native), shape))
            elif p.role is WEAK and type(one) in SCALARS:
                arrays.append(Input(label, p.words, _dtypes.default(type(one)), ()))
    if declaration.orders_complex and any(one.dtype.kind == "c" for one in arrays):
        return True
    diagnosis.diagnose(error, declaration.name, arrays, arguments, declaration.fit)
    return False
