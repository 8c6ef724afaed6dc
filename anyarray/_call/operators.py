"""The slow paths of operators, which unlike functions may decline.

They return NotImplemented for operands of unknown classes, so that Python tries the other operand's method.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from anyarray._base import dtypes as _dtypes
from anyarray._base import errors
from anyarray._call.declaration import Declaration
from anyarray._call.fits import WITHOUT_AXES
from anyarray._call.slow_path import call
from anyarray._call.wrapping import SCALARS, body_globals
from anyarray._registry import registry


def operate(declaration: Declaration, values: Sequence[Any]) -> Any:
    """As `call`, for an operator: NotImplemented for unknown classes.

    Beside dtypes and classes that NumPy alone has it computes, and classes that it asks decide. A class to which
    ndarrays leave operators gets an ndarray. A list, a tuple, a range, and an object with `__array__` is an array of
    NumPy's, as it is to ndarrays.
    """
    ours = body_globals["Array"]
    taken = values
    for at, value in enumerate(values):
        kind: Any = type(value)
        if kind is ours or kind is np.ndarray or (declaration.fit.broadcasts and type(value) in SCALARS):
            continue
        if isinstance(value, (list, tuple, range)):
            taken = [*taken]
            taken[at] = _array_of_sequence(declaration.name, value)
            continue
        is_derived = isinstance(value, np.ndarray) and decides(value)
        if (
            _is_exact(kind)  # NumPy makes objects of it
            or (is_derived and kind.__array_ufunc__ is np.ndarray.__array_ufunc__)  # matrices, masked arrays
            or (_knows_ndarrays(kind) and registry.backend_of_native(value) is None)
        ):
            return _PYTHONS[declaration.name](*[np.asarray(one) if type(one) is ours else one for one in values])
        if decides(value) and hasattr(kind, "__array_ufunc__"):
            is_asked = kind.__array_ufunc__ is not None
            return getattr(np, declaration.name)(*values) if is_asked else NotImplemented
        is_scalar = kind in SCALARS or isinstance(value, (int, float, complex))
        if not is_scalar and registry.backend_of_native(value) is None:
            if not is_converted(kind):
                return NotImplemented
            taken = [*taken]
            taken[at] = np.asarray(value)
        if is_scalar and not declaration.fit.broadcasts:
            raise errors.ArgumentValueError(f"{declaration.name}: {WITHOUT_AXES}")
    try:
        return call(declaration, taken)
    except errors.ArgumentTypeError:
        if any(map(_dtypes.is_numpys_own, values)):
            return NotImplemented
        raise


_PYTHONS: Final = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "pow": operator.pow, "matmul": operator.matmul,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "bitwise_left_shift": operator.lshift, "bitwise_right_shift": operator.rshift, "equal": operator.eq,
    "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge,
}  # fmt: skip
"""Python's operator of each function, which a class derived from np.ndarray may define otherwise."""


def decides(value: Any) -> bool:
    """Whether NumPy asks an object's class for results of functions.

    Columns of pandas are such, and arrays of a class derived from np.ndarray, as masked arrays are.
    """
    kind: Any = type(value)
    return _class_decides(kind) and (issubclass(kind, np.ndarray) or registry.backend_of_native(value) is None)


@functools.lru_cache(maxsize=256)
def _class_decides(kind: Any) -> bool:
    if issubclass(kind, np.ndarray):
        return kind is not np.ndarray and kind is not np.memmap
    if kind is body_globals["Array"] or issubclass(kind, np.generic):
        return False
    return hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array_function__")


@functools.lru_cache(maxsize=256)
def _is_exact(kind: Any) -> bool:
    """Whether a class is Decimal or Fraction, or derived from one.

    Their modules, which take long to import, are not imported.
    """
    return any(one.__module__ in ("decimal", "_pydecimal", "fractions") for one in kind.__mro__)


@functools.lru_cache(maxsize=256)
def _knows_ndarrays(kind: Any) -> bool:
    """Whether ndarrays leave operators to a class.

    They do to SciPy's sparse arrays.
    """
    priority = getattr(kind, "__array_priority__", 0)
    return isinstance(priority, (int, float)) and priority > 0 and not hasattr(kind, "__array_ufunc__")


@functools.lru_cache(maxsize=256)
def is_converted(kind: Any) -> bool:
    """Whether operators convert objects of a class by `__array__`.

    They do if it has no operators of its own.
    """
    others = ("__add__", "__array_namespace__", "__array_priority__", "__array_ufunc__", "__dlpack__")
    has_others: bool = any(hasattr(kind, one) for one in others) or kind.__eq__ is not object.__eq__
    return hasattr(kind, "__array__") and not has_others


def _array_of_sequence(function: str, value: Sequence[Any]) -> Any:
    """An array of a list or a tuple beside an Array."""
    try:
        return sys.modules["anyarray"].asarray(value)  # of a higher layer
    except errors.ArgumentTypeError:
        raise errors.not_an_array(function, "the operand", value) from None


def compare(declaration: Declaration, values: Sequence[Any]) -> Any:
    """As `operate`, but raise for an array of an unknown library.

    After NotImplemented from both operands Python would compare identity and return one bool.
    """
    result = operate(declaration, values)
    other = values[1]
    if result is NotImplemented and any(hasattr(type(other), name) for name in _OF_ARRAYS):
        result = getattr(type(other), declaration.function.__name__)(other, values[0])
        if result is NotImplemented:
            raise errors.not_an_array(declaration.name, "the operand", other)
    return result


_OF_ARRAYS: Final = ("__dlpack__", "__array__")
"""Attributes by which array classes are known."""


def multiply(declaration: Declaration, values: Sequence[Any]) -> Any:
    """As `operate`, but an integer without axes repeats a list or a tuple.

    So do NumPy's integers. Python does it after NotImplemented.
    """
    ours = body_globals["Array"]
    if any(isinstance(one, (list, tuple)) for one in values):
        counts = [one for one in values if type(one) is ours]
        if any(one.dtype.kind in "iu" and not one.ndim for one in counts):
            return NotImplemented
    return operate(declaration, values)


SLOW_PATHS: Final = {"equal": compare, "not_equal": compare, "multiply": multiply}
"""The slow paths of operators for which Python has a fallback of its own after NotImplemented."""
