"""Reading arguments of functions: axes, values, arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors
from anyarray._call.arguments import as_array, as_integer, as_python_integers
from anyarray._call.wrapping import is_array
from anyarray.standard import namespace as xp


def axis_of(function: str, axis: Any, ndim: int, parameter: str = "axis") -> int:
    """An axis, counted from the first.

    Raises TypeError unless it is an integer, IndexError for one that does not exist.
    """
    given = as_integer(function, parameter, axis)
    if not -ndim <= given < ndim:
        raise errors.no_such_axis(function, given, ndim)
    return given % ndim


def axes_of(function: str, axes: Any, ndim: int, parameter: str = "axis") -> tuple[int, ...]:
    """Axes, counted from the first; one integer means one of them.

    Raises ValueError if one is named twice.
    """
    given = as_python_integers(axes)
    found = tuple([axis_of(function, one, ndim, parameter) for one in (given if type(given) is tuple else (given,))])
    if len(set(found)) < len(found):
        raise errors.ArgumentValueError(f"{function}: {parameter} must not name an axis twice, as {axes}")
    return found


def own_array(function: str, parameter: str, value: Any) -> Array:
    """An Array whose parts may be returned as views.

    An Array is returned unchanged, and other arrays are copied, because other code may write to them. Raises TypeError
    for other objects.
    """
    if is_array(value):
        return value
    as_array(function, parameter, value)
    return xp.asarray(value)


Values: TypeAlias = Sequence[Any] | AnyArray | complex
"""What is written: an array, a list or a Python number."""


def array_of(function: str, parameter: str, value: Any) -> Array:
    """An Array of an array, a list or a Python number.

    Raises TypeError for anything else.
    """
    if isinstance(value, (bool, int, float, complex, list, tuple)):
        return xp.asarray(value)
    return as_array(function, parameter, value)


def known(array: Any) -> np.ndarray[Any, Any] | None:
    """The values of an array, or None where there are none, as in a trace."""
    if array._home.is_traced(array._native):
        return None
    try:
        return np.asarray(array)
    except errors.TransferError:
        return None


def in_host_memory(*values: Any) -> list[Any] | None:
    """The arguments with ndarrays for Arrays, or None.

    None means that NumPy cannot read all Arrays in place. Else its own function takes less time than many small calls.
    """
    found: list[Any] = []
    for one in values:
        if not is_array(one):
            found.append(one)
            continue
        array = known(one) if one._home.backend.kind == "cpu" else None
        if array is None or array.dtype.kind not in "biufc":
            return None
        found.append(array)
    return found


def clearly(declared: Callable[..., Array], body: Callable[..., Array], *args: Any, **options: Any) -> Array:
    """A call of a declared function, or of its body if NumPy's own refuses.

    The body says what is wrong with values, as on the other backends.
    """
    try:
        return declared(*args, **options)
    except (errors.ArgumentIndexError, errors.ArgumentValueError):
        pass
    return body(*args, **options)
