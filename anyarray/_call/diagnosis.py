"""Why a native function raised: the clear error for wrong arguments.

A call does not check its arguments, as a check takes longer than a small call itself. Arguments are examined only after
a native error, by the rules of the standard and so with the same error on every backend.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from anyarray._base import errors
from anyarray._base.dtypes import DType
from anyarray._call.fits import AXES, Fit, Input, Shape, broadcasts_to, of_extremum, of_square
from anyarray._memory import devices
from anyarray._registry import registry

ACCEPTED: Final = {
    "any": "biufc",
    "numeric": "iufc",
    "real numeric": "iuf",
    "floating-point": "biufc",
    "real floating-point": "biuf",
    "complex floating-point": "c",
    "integer": "iu",
    "integer or boolean": "biu",
    "boolean": "b",
}
"""Kinds that a parameter takes, by the standard's category; floating-point functions promote bool and integers."""

INTEGERS: Final = {
    "int": "an int",
    "Sequence[int]": "a sequence of ints",
    "tuple[Sequence[int], Sequence[int]]": "two sequences of ints",
}
"""The names in messages of the types of integer parameters, such as axes and shapes, by annotation."""

TYPES: Final = {**INTEGERS, "float": "a number", "bool": "True or False", "None": "None"}
"""The same for all parameters that are no arrays, except those that are one of several strings."""


_NOT_FINITE: Final = " It may hold NaN or infinity: xp.isfinite({0})"
_FAILURES: Final = {
    "Array must not contain infs or NaNs": "{0} must not hold NaN or infinity. Find them: xp.isfinite({0})",
    "Eigenvalues did not converge": "the eigenvalues of {0} do not converge." + _NOT_FINITE,
    "Matrix is not positive definite": "{0} must be positive definite, but is not",
    "SVD did not converge": "the singular values of {0} do not converge." + _NOT_FINITE,
    "Singular matrix": "{0} must be invertible, but is singular. Use its pseudoinverse: xp.linalg.pinv({0})",
}
"""Our messages about a matrix, by NumPy's."""


def diagnose(error: Exception, function: str, inputs: Sequence[Input], arguments: dict[str, Any], fit: Fit) -> None:
    """Raise the clear error for wrong arguments, from the native `error`.

    Returns if the arguments seem right.
    """
    inputs = _named_as_in_function(inputs)
    wrong = [one for one in inputs if one.dtype.kind not in ACCEPTED[one.words]]
    _diagnose_dtype(error, function, [one for one in wrong if not _may_be_counted(one)])
    _diagnose_narrow_floats(error, function, inputs)
    _diagnose_no_common_integer(error, function, inputs)
    if inputs:
        _diagnose_axis(error, function, inputs, arguments, fit)
        if fit.broadcasts:
            _diagnose_broadcasting(error, function, inputs)
        complaint = fit.complaint(inputs, arguments) if fit.complaint else None
        if complaint:
            kind = errors.LinAlgError if fit.complaint is of_square else errors.ArgumentValueError
            raise kind(f"{function}: {complaint}") from error
        _diagnose_dtype(error, function, wrong)
        if inputs[0].shape and not fit.may_repeat:
            _diagnose_repetition(error, function, inputs, arguments)
        if arguments.get("ord") is not None and 0 in inputs[0].shape and type(error) is not np.linalg.LinAlgError:
            raise errors.ArgumentValueError(f"{function}: {of_extremum(inputs, arguments)}") from error
        if isinstance(error, np.linalg.LinAlgError) and str(error) in _FAILURES:
            raise errors.LinAlgError(f"{function}: {_FAILURES[str(error)].format(inputs[0].label)}") from error
    if isinstance(error, (OverflowError, TypeError, ValueError)):
        _diagnose_size(error, function, arguments)
    if isinstance(error, IndexError) and not isinstance(error, errors.AnyarrayError):
        text = registry.refusal_of(error) or str(error).partition("\n")[0]
        text = text.replace("cannot do a non-empty take from an empty axes.", "indices are out of bounds")
        found = re.match(r"(index -?\d+ is|indices are) out of bounds", text)
        if found and inputs and inputs[0].shape:
            axis = (arguments.get("axis") or 0) % len(inputs[0].shape)
            text = f"{found.group()} for axis {axis} with size {inputs[0].shape[axis]}"
        raise errors.ArgumentIndexError(f"{function}: {text}") from error
    refusal = registry.refusal_of(error)
    if refusal is None and isinstance(error, TypeError) and fit.complaint:
        refusal = str(error).partition("\n")[0]
    if refusal is None and type(error) is ValueError:  # a subclass says more than ours would
        refusal = str(error).partition("\n")[0].removeprefix(f"{function}: ").removesuffix(".")
    if refusal is not None:
        raise errors.ArgumentValueError(f"{function}: {refusal}{_CURES.get(refusal, '')}") from error
    if isinstance(error, np.linalg.LinAlgError) and not isinstance(error, errors.AnyarrayError):
        raise errors.LinAlgError(f"{function}: {error}") from error


_CURES: Final = {
    "Integers to negative integer powers are not allowed": ". Take floats: xp.astype(x1, xp.float64)",
}


def diagnose_failure(error: Exception, function: str) -> None:
    """Raise the clear error for what no argument explains.

    That is TraceError for an array of a past trace, OutOfMemoryError where memory ran out.
    """
    if registry.is_leak(error):
        raise errors.leaked(function) from error
    devices.refuse(function, error)


def check_argument(function: str, parameter: str, annotation: str, given: Any) -> None:
    """Raise the error for a parameter that is no array, if `given` is wrong.

    It is wrong if the annotation does not allow it. Sequences of integers must be tuples here.
    """
    if INTEGERS.keys() & annotation.split(" | "):
        error = _wrong_integers(annotation, given, may_be_bool=parameter not in (*AXES, "shape"))
    elif all(part in TYPES or literal_values(part) for part in annotation.split(" | ")):
        error = _wrong_choice(annotation, given)
    else:
        return  # an annotation that says more than is checked here
    if error:
        wanted = [one for part in annotation.split(" | ") for one in literal_values(part) or (TYPES[part],)]
        listed = " or ".join([", ".join(wanted[:-1]), wanted[-1]] if wanted[1:] else wanted)
        raise error(f"{function}: {parameter} must be {listed}, not {given!r}")


@functools.cache
def literal_values(annotation: str) -> Sequence[str]:
    """The strings that a `Literal` annotation allows, in quotes."""
    return re.findall(r"'\w+'", annotation)


def _wrong_integers(annotation: str, given: Any, *, may_be_bool: bool) -> type[errors.AnyarrayError] | None:
    if not may_be_bool and any(type(one) is bool for one in (given if isinstance(given, tuple) else (given,))):
        return errors.ArgumentTypeError
    if isinstance(given, tuple):
        may_nest = "[Sequence" in annotation
        is_wrong = "Sequence" not in annotation or any(
            (not may_nest or any(map(_is_no_integer, one))) if isinstance(one, tuple) else _is_no_integer(one)
            for one in given
        )
    elif given is None:
        is_wrong = "None" not in annotation
    else:
        is_wrong = _is_no_integer(given) or (isinstance(given, int) and not annotation.startswith("int"))
    return errors.ArgumentTypeError if is_wrong else None


def _is_no_integer(value: Any) -> bool:
    """Whether `value` certainly is no integer.

    A symbolic length under a trace may be of any class, but supports arithmetic.
    """
    kind = type(value)
    return isinstance(value, _NO_INTEGERS) or not (hasattr(kind, "__index__") or hasattr(kind, "__floordiv__"))


_NO_INTEGERS: Final = (str, float, complex, np.inexact, np.bool_)


def _wrong_choice(annotation: str, given: Any) -> type[errors.AnyarrayError] | None:
    """For a bool, a number or one of several strings; ints pass as bools."""
    allowed, parts = literal_values(annotation), annotation.split(" | ")
    if isinstance(given, str) and allowed:
        return None if repr(given) in allowed else errors.ArgumentValueError
    numbers = (int, np.integer, np.bool_) if "float" not in parts else (int, float, np.number, np.bool_)
    is_number = isinstance(given, numbers) and not {"float", "bool"}.isdisjoint(parts)
    return None if is_number or (given is None and "None" in parts) else errors.ArgumentTypeError


def _named_as_in_function(inputs: Sequence[Input]) -> list[Input]:
    """The operands of an operator, named as the parameters of its function."""
    if not any(one.label == "self" for one in inputs):
        return list(inputs)
    labels = ["x"] if len(inputs) == 1 else ["x1", "x2"]
    return [Input(label, one.words, one.dtype, one.shape) for label, one in zip(labels, inputs, strict=True)]


def _may_be_counted(one: Input) -> bool:
    """Whether it is an array of bools where numbers are wanted.

    Most functions take bools as integers, so a wrong axis or shape is the likelier cause of the error.
    """
    return one.dtype.kind == "b" and one.words in ("numeric", "real numeric")


def _diagnose_dtype(error: Exception, function: str, wrong: Sequence[Input]) -> None:
    for one in wrong:
        raise errors.dtype_not_allowed(function, one.label, one.words, one.dtype) from error


def _diagnose_narrow_floats(error: Exception, function: str, inputs: Sequence[Input]) -> None:
    """For 16-bit floats in linear algebra, which some libraries reject."""
    if isinstance(error, (TypeError, NotImplementedError)) and re.search("[Uu]nsupported|not accept dtype", str(error)):
        for one in inputs:
            if one.dtype.name in ("float16", "bfloat16"):
                text = f"{function}: {one.label} must not have the dtype {one.dtype} on this backend"
                raise errors.ArgumentTypeError(f"{text}. Convert it: xp.astype(...)") from error


def _diagnose_no_common_integer(error: Exception, function: str, inputs: Sequence[Input]) -> None:
    if len(inputs) == 2 and {one.words for one in inputs} <= {"integer", "integer or boolean"}:
        first, second = inputs
        if np.result_type(first.dtype.dtype, second.dtype.dtype).kind == "f":
            raise errors.ArgumentTypeError(
                f"{function}: {first.label} of dtype {first.dtype} and {second.label} of dtype {second.dtype} have no "
                "integer dtype in common. Convert one: xp.astype(...)"
            ) from error


def _diagnose_size(error: Exception, function: str, arguments: dict[str, Any]) -> None:
    """For integers beyond 32 bits, which some libraries cannot hold."""
    for name, given in arguments.items():
        for one in given if isinstance(given, tuple) else (given,):
            if isinstance(one, int) and one >= 1 << 31:
                raise errors.ArgumentValueError(f"{function}: {name} is too large, {one}") from error


def _diagnose_axis(
    error: Exception, function: str, inputs: Sequence[Input], arguments: dict[str, Any], fit: Fit
) -> None:
    given = [arguments.get(name) for name in fit.axes]
    axes = [one for some in given for one in (some if isinstance(some, (tuple, list)) else [some])]
    axes = [one for one in axes if one is not None]
    ndim = len(inputs[0].shape) + (fit.new_axes(axes) if fit.new_axes else 0)
    for one in axes:
        if isinstance(one, int) and not -ndim <= one < ndim:
            raise errors.no_such_axis(function, one, ndim) from error


def _diagnose_repetition(error: Exception, function: str, inputs: Sequence[Input], arguments: dict[str, Any]) -> None:
    for name in AXES:
        axes, ndim = arguments.get(name), len(inputs[0].shape)
        if isinstance(axes, tuple) and len({one % ndim if isinstance(one, int) else one for one in axes}) < len(axes):
            raise errors.ArgumentValueError(f"{function}: {name} must not name an axis twice, as {axes}") from error


def _diagnose_broadcasting(error: Exception, function: str, inputs: Sequence[Input]) -> None:
    try:
        np.broadcast_shapes(*[tuple(1 if n is None else n for n in one.shape) for one in inputs])
    except ValueError:
        shapes = " and ".join(f"{one.label} of shape {one.shape}" for one in inputs)
        raise errors.ArgumentValueError(f"{function}: {shapes} cannot be broadcast together") from error


def diagnose_index(error: Exception, shape: Shape, key: Any, value: Shape | None = None) -> None:
    """Raise the error for a key, or a value to be written, that does not fit.

    The array is of `shape`, the value of shape `value`. Returns if they seem right. `key` is a tuple, in which arrays
    are ndarrays or, if traced, an `UnknownIndex`.
    """
    diagnose_failure(error, "index")
    # The next two messages keep NumPy's words, as some libraries test for them.
    if sum(one is Ellipsis for one in key) > 1:
        text = "index: an index can only have a single ellipsis ('...'). Write : for each axis"
        raise errors.ArgumentIndexError(text) from error
    if any(isinstance(one, slice) and type(one.step) is int and one.step == 0 for one in key):
        raise errors.ArgumentValueError("index: slice step cannot be zero. Leave it out for 1") from error
    wanted = sum(map(_axes_of, key))
    if wanted > len(shape):
        text = f"index: too many indices, {wanted} for an array of {len(shape)} axes"
        raise errors.ArgumentIndexError(text) from error
    axis = 0
    for at, one in enumerate(key):
        if one is Ellipsis:
            axis = len(shape) - sum(map(_axes_of, key[at + 1 :]))
            continue
        here = shape[axis : axis + _axes_of(one)]
        axis += len(here)
        if isinstance(one, (np.ndarray, UnknownIndex)) and one.dtype.kind == "b":
            if tuple(one.shape) != here:
                text = f"index: a mask of shape {tuple(one.shape)} does not fit axes of shape {here}"
                raise errors.ArgumentIndexError(text) from error
        elif isinstance(one, (int, np.ndarray)) and here[0] is not None:
            indices = np.asarray(one)
            wrong = indices[(indices < -here[0]) | (indices >= here[0])]
            if wrong.size:
                # NumPy's words, as some libraries test for them.
                text = f"index: index {wrong.flat[0]} is out of bounds for axis {axis - 1} with size {here[0]}"
                raise errors.ArgumentIndexError(text) from error
    arrays = [one for one in key if isinstance(one, np.ndarray)]
    given = [one.shape if one.dtype.kind != "b" else (int(np.count_nonzero(one)),) for one in arrays]
    try:
        np.broadcast_shapes(*given)
    except ValueError:
        shapes = " and ".join(map(str, given))
        raise errors.ArgumentIndexError(f"index: arrays of shapes {shapes} cannot be broadcast together") from error
    refusal = registry.refusal_of(error)
    if refusal is not None and value is None:
        raise errors.ArgumentIndexError(f"index: {refusal}") from error
    if value is not None and not any(isinstance(one, UnknownIndex) for one in key) and None not in shape:
        whole: Any = shape
        selected = np.broadcast_to(np.False_, whole)[key].shape  # a broadcast array takes no memory
        if not broadcasts_to(value, selected):
            raise errors.ArgumentValueError(
                f"setitem: value of shape {value} does not broadcast to shape {selected}, which the key selects"
            ) from error


def _axes_of(entry: Any) -> int:
    """The number of axes that an entry of a key consumes."""
    if isinstance(entry, (np.ndarray, UnknownIndex)) and entry.dtype.kind == "b":
        return len(entry.shape)
    return entry is not None and entry is not Ellipsis


class UnknownIndex(NamedTuple):
    """Stands in a key for a traced index array, whose values are unknown."""

    shape: Shape
    dtype: DType
