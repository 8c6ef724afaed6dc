"""Arguments as calls take them: native arrays, integers, numbers, shapes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from anyarray._base import dtypes as _dtypes
from anyarray._base import errors
from anyarray._call import diagnosis
from anyarray._call.declaration import SEQUENCE, SHAPE, WEAK, Declaration, Parameter
from anyarray._call.wrapping import NUMPY, SCALARS, body_globals, expose, is_array, wrap
from anyarray._choice import choice as _choice
from anyarray._registry import registry
from anyarray._registry.home import Home, Native, compositions
from anyarray._registry.registry import VARIABLES

if TYPE_CHECKING:
    from anyarray._array.array import Array  # a higher layer


def as_array(function: str, parameter: str, value: Any) -> Array:
    """An Array of an Array, a native array or a variable, without a copy.

    The Array is only for the time of a call, as it shares the user's memory. NumPy's arrays are free, those of a
    framework placed where they are. Raises TypeError for anything else.
    """
    kind = type(value)
    if kind is np.ndarray and value.dtype.isnative:  # the most common case, in a third of the time
        home = NUMPY
        if value.dtype not in home.dtypes:
            require_dtype(function, parameter, home, value)
        _choice.hint_at_calibrate(value.size)
        expose(value)
        array: Array = body_globals["new"]()
        array._native = value
        array._home = home
        return array
    if kind is body_globals["Array"]:
        return value  # type: ignore[no-any-return]  # `kind` says so
    backend = registry.backend_of_native(value)
    if backend is None:
        raise errors.not_an_array(function, parameter, value)
    home = backend.free if backend.library == "numpy" else backend.placed
    if type(value) in VARIABLES:
        value = value.value  # pyright: ignore[reportAttributeAccessIssue]  # a Keras variable, not an ndarray
    try:
        native = home.plain(value)
    except TypeError as error:
        raise errors.ArgumentTypeError(f"{function}: {parameter} cannot be an Array: {error}") from error
    require_dtype(function, parameter, home, native)
    if isinstance(native, np.ndarray):
        expose(native)
    return wrap(native, home)


def as_written(function: str, parameter: str, value: Any, dtype: _dtypes.DType) -> Array:
    """An Array of a value that is written to an array of `dtype`.

    An Array keeps its own dtype. NumPy converts anything else to `dtype` as it does in an assignment: integers must be
    within bounds, None becomes NaN, and a Fraction or a Decimal becomes a float.
    """
    backend = None if is_array(value) else registry.backend_of_native(value)
    if is_array(value) or (backend is not None and not _dtypes.is_numpys_own(value)):
        return as_array(function, parameter, value)
    if backend is None and isinstance(value, np.ndarray):  # of a class with ufuncs of its own, as one with units
        raise errors.not_an_array(function, parameter, value)
    if dtype.kind in "iu" and isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        value = _dtypes.integer_within(function, value, dtype)
    try:
        return wrap(np.asarray(value, dtype=dtype.dtype), NUMPY)
    except OverflowError as error:
        text = f"{function}: {parameter} must hold numbers within the bounds of {dtype}: {error}"
        raise errors.ArgumentOverflowError(text) from None
    except ValueError as error:
        raise errors.ArgumentValueError(f"{function}: {parameter} must hold numbers: {error}") from None
    except TypeError as error:
        if isinstance(value, (list, tuple)):
            raise errors.ArgumentTypeError(f"{function}: {parameter} must hold numbers: {error}") from None
        raise errors.not_an_array(function, parameter, value) from None


def require_dtype(function: str, parameter: str, home: Home, native: Native) -> None:
    """Raise TypeError for a native array of a dtype that no Array can have."""
    try:
        home.dtype(native)
    except errors.ArgumentTypeError as error:
        raise errors.ArgumentTypeError(
            f"{function}: {parameter} has the dtype {home.dtype_of(native)}, which no Array can have"
        ) from error


def as_argument(function: str, p: Parameter, value: Any) -> Any:
    """An argument that is no Array, converted to what parameter `p` takes.

    That is an Array, a list of Arrays, a Python scalar or None.
    """
    if p.role is SEQUENCE:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise errors.ArgumentTypeError(
                f"{function}: {p.name} must be a list or a tuple of Arrays, not {type(value).__name__}"
            )
        return [as_array(function, f"{p.name}[{i}]", one) for i, one in enumerate(value)]
    if value is None and p.is_optional:
        return None
    if p.role is WEAK or p.takes_plain_scalar:
        kind = type(value)
        if kind in (float, complex) and p.annotation.startswith("int"):
            raise errors.ArgumentTypeError(f"{function}: {p.name} must be an int or an Array, not {value}")
        if kind in SCALARS:
            return value
        for scalar in (bool, int, float, complex):
            # np.float64 is a subclass of float, but it has a dtype, so it is no weak scalar.
            if isinstance(value, scalar) and not isinstance(value, np.generic):
                return scalar(value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # is one already
    return as_array(function, p.name, value)


def convert_argument(declaration: Declaration, at: int, value: Any) -> Any:
    """The argument for parameter `at`, no array: checked and converted.

    Integers, numbers and bools become Python's own, which all libraries take. Raises TypeError or ValueError for what
    the parameter does not allow.
    """
    p = declaration.parameters[at]
    kind = type(value)
    if (
        p.is_optional
        if value is None
        else (kind is int and p.takes_integer)
        or (kind is bool and p.is_flag)
        or (kind is float and p.is_number)
        or (kind is tuple and p.takes_integers and all(type(one) is int for one in value))
    ):
        return value  # as below, in a tenth of the time
    if p.annotation == SHAPE:
        return as_shape(declaration.name, p.name, value, may_be_unknown=declaration.name not in compositions)
    given = value
    if is_array(value) and value.ndim and declaration.parameters[0].role is SEQUENCE:
        raise errors.ArgumentTypeError(
            f"{declaration.name}: {p.name} must be an int, not an Array. Pass the arrays as one list: "
            f"xp.{declaration.name}([a, b])"
        )
    if p.is_number:
        given = value.item() if isinstance(value, np.generic) else as_python_integers(value)
        if hasattr(type(given), "as_integer_ratio") and not isinstance(given, (int, float)):
            given = float(given)  # a Fraction or a Decimal
    elif p.is_integral:
        given = as_python_integers(value)
    diagnosis.check_argument(declaration.name, p.name, p.annotation, given)
    return bool(given) if p.is_flag and given is not None else given


def as_shape(function: str, parameter: str, shape: Any, may_be_unknown: bool = False) -> tuple[Any, ...]:
    """A shape as a tuple of Python ints, from a sequence or one integer.

    With `may_be_unknown`, a length that a trace does not know is a native array of its library. Raises TypeError for
    anything else.
    """
    given = as_python_integers(shape, may_be_unknown)
    # Any sequence: also TensorFlow's shapes, which are not registered as such.
    is_sequence = hasattr(type(given), "__getitem__") and hasattr(type(given), "__len__")
    if is_sequence and not isinstance(given, (tuple, str, Mapping)) and not is_array(given):
        given = as_python_integers(tuple(given), may_be_unknown)
    lengths = given if isinstance(given, tuple) else (given,)
    known = tuple([n for n in lengths if not is_array(n)]) if any(map(is_array, lengths)) else given
    diagnosis.check_argument(function, parameter, "int | Sequence[int]", known)
    return lengths if known is given else tuple([n._native if is_array(n) else n for n in lengths])


def unknown_length(value: Any) -> Array | None:
    """An integer that a trace does not know, as a length for its library.

    None for all that has a value now, and where the library needs to know every length.
    """
    if not is_array(value):
        if type(value) in SCALARS or value is None or registry.backend_of_native(value) is None:
            return None
        value = as_array("length", "value", value)
    home = value._home
    is_one = home.depth == 0 and home.backend.has_hook("length") and home.is_traced(value._native)
    if not is_one or home.shape_of(value._native) != () or home.dtype(value._native).kind not in "iu":
        return None
    return wrap(home.backend.hook("length")(value._native), home)


def holds_unknown_length(values: Iterable[Any]) -> bool:
    """Whether one of the values is one that `unknown_length` tells of."""
    return any(unknown_length(value) is not None for value in values)


def known_shape(x: Any) -> tuple[int | None, ...]:
    """Length of each axis; None for one that a trace does not know."""
    return x._home.shape_of(x._native)  # type: ignore[no-any-return]  # checked by the contract's test


def as_length(function: str, parameter: str, value: Any) -> Any:
    """A length as a Python int, or as an Array if it is unknown."""
    unknown = unknown_length(value)
    return as_integer(function, parameter, value) if unknown is None else unknown


def as_integer(function: str, parameter: str, value: Any) -> int:
    """An integer as a Python int. Raises TypeError for anything else."""
    try:
        return operator.index(value)
    except errors.TransferError as error:
        raise errors.TransferError(
            f"{function}: {parameter} must be an int with a value, not one that a trace does not know. "
            "If it is a length, give tf.function an input_signature with it"
        ) from error
    except TypeError as error:
        raise errors.ArgumentTypeError(f"{function}: {parameter} must be an int, not {value!r}") from error


def as_number(function: str, parameter: str, value: Any) -> Any:
    """A Python number from a number or a 0-d array."""
    if type(value) in SCALARS:
        return value
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return value
    if hasattr(value, "item") and not getattr(value, "shape", ()):
        item = value.item()
        if isinstance(item, (bool, int, float, complex)):
            return item
    raise errors.ArgumentTypeError(f"{function}: {parameter} must be a number, not {type(value).__name__}")


def as_python_integers(value: Any, may_be_unknown: bool = False) -> Any:
    """NumPy integers and arrays of them as Python ints; else the value itself.

    Sequences and arrays become tuples, nested ones nested tuples. With `may_be_unknown`, what `unknown_length` tells
    of is an Array.
    """
    if isinstance(value, (list, tuple, range)):  # einops and SciPy pass lists
        return tuple([one if type(one) is int else as_python_integers(one, may_be_unknown) for one in value])
    if may_be_unknown and (unknown := unknown_length(value)) is not None:
        return unknown
    if isinstance(value, (np.integer, np.ndarray)) or is_array(value):
        return as_python_integers(value.tolist())
    return operator.index(value) if is_index(value) else value


def is_index(value: Any) -> bool:
    """Whether an object is an integer by `__index__` alone.

    A symbolic length has arithmetic, and stays one.
    """
    return hasattr(type(value), "__index__") and not hasattr(type(value), "__floordiv__")
