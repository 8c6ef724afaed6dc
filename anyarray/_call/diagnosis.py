"""Why a native function raised: the clear error for wrong arguments.

A call does not check its arguments, as a check takes longer than a small call itself. Arguments are examined only after
a native error, by the rules of the standard and so with the same error on every backend.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from anyarray._base import errors
from anyarray._base.dtypes import DType
from anyarray._memory import devices
from anyarray._registry import registry

Shape = tuple[int | None, ...]

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


class Input(NamedTuple):
    """What an error message needs to know of an array argument."""

    label: str
    words: str
    """The dtypes it may have: a key of `ACCEPTED`."""
    dtype: DType
    shape: Shape


Complaint = str | None

AXES: Final = ("axis", "axes", "source", "destination")
"""Parameters that name axes of the first array."""


class Fit(NamedTuple):
    """How shapes and axes must fit.

    Checked only after a native error, once the dtypes are known to be right.
    """

    complaint: Callable[[Sequence[Input], dict[str, Any]], Complaint] | None = None
    """What is wrong with shapes and arguments, or None; called once the axes are known to be right."""
    broadcasts: bool = False
    """Whether the arrays broadcast."""
    axes: tuple[str, ...] = AXES
    """Parameters that name axes of the first array."""
    new_axes: Callable[[list[Any]], int] | None = None
    """The number of axes that the result has more than the input, if `axes` count those of the result."""
    may_repeat: bool = False
    """Whether an axis may be named twice."""


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
            kind = errors.LinAlgError if fit.complaint is _of_square else errors.ArgumentValueError
            raise kind(f"{function}: {complaint}") from error
        _diagnose_dtype(error, function, wrong)
        if inputs[0].shape and not fit.may_repeat:
            _diagnose_repetition(error, function, inputs, arguments)
        if arguments.get("ord") is not None and 0 in inputs[0].shape and type(error) is not np.linalg.LinAlgError:
            raise errors.ArgumentValueError(f"{function}: {_of_extremum(inputs, arguments)}") from error
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
        if not _fits(value, selected):
            raise errors.ArgumentValueError(
                f"setitem: value of shape {value} does not broadcast to shape {selected}, which the key selects"
            ) from error


def _axes_of(entry: Any) -> int:
    """The number of axes that an entry of a key consumes."""
    if isinstance(entry, (np.ndarray, UnknownIndex)) and entry.dtype.kind == "b":
        return len(entry.shape)
    return entry is not None and entry is not Ellipsis


def _fits(value: Shape, selected: Shape) -> bool:
    """Whether a value of that shape broadcasts to the selected shape.

    It may have extra leading axes of length 1.
    """
    extra = len(value) - len(selected)
    if extra > 0:
        if value[:extra] != (1,) * extra:
            return False
        value = value[extra:]
    return all(n in (1, m) for n, m in zip(reversed(value), reversed(selected), strict=False))


class UnknownIndex(NamedTuple):
    """Stands in a key for a traced index array, whose values are unknown."""

    shape: Shape
    dtype: DType


WITHOUT_AXES: Final = "x1 and x2 must have at least one axis. Multiply by a scalar with *"
"""What is wrong with a matrix product of which one operand is a scalar."""


def _of_matmul(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first, second = inputs
    if not first.shape or not second.shape:
        return WITHOUT_AXES
    inner = second.shape[-2:][0]
    if first.shape[-1] != inner:
        return f"x1 of shape {first.shape} and x2 of shape {second.shape} do not fit: {first.shape[-1]} is not {inner}"
    return f"x1 of shape {first.shape} and x2 of shape {second.shape} cannot be broadcast together"


def _of_reshape(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape = arguments.get("shape")
    if isinstance(shape, tuple) and shape.count(-1) > 1:
        return f"shape must hold -1 once at most, not {shape}"
    return f"x of shape {inputs[0].shape} does not fit shape {shape}"


def _of_extremum(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    label, shape = inputs[0].label, inputs[0].shape
    return (
        f"{label} of shape {shape} has no elements along the axis, and the function has no identity"
        if 0 in shape
        else None
    )


def _of_norm(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    order = arguments["ord"]
    if order in (1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc", None):
        return _of_matrix(inputs, arguments)
    return f"ord must be 1, -1, 2, -2, inf, -inf, 'fro', 'nuc' or None, not {order!r}"


def _of_square(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape = inputs[0].shape
    is_square = len(shape) >= 2 and shape[-1] == shape[-2]
    return None if is_square else f"{inputs[0].label} must be (..., n, n), not shape {shape}"


def _of_matrix(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape = inputs[0].shape
    return None if len(shape) >= 2 else f"{inputs[0].label} must be (..., m, n), not shape {shape}"


def _of_solve(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first, second = inputs
    complaint = _of_square(inputs, arguments)
    if complaint:
        return complaint
    is_stack = len(second.shape) > 1
    fits = second.shape[-2 if is_stack else -1 :][:1] == first.shape[-1:]
    if fits and is_stack:
        fits = all(n == m or 1 in (n, m) for n, m in zip(first.shape[-3::-1], second.shape[-3::-1], strict=False))
    return None if fits else f"x1 of shape {first.shape} and x2 of shape {second.shape} do not fit"


def _of_concat(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first, axis = inputs[0], arguments["axis"]
    if axis is None:
        return None

    def others(one: Input) -> Shape:
        lengths = list(one.shape)
        del lengths[axis]
        return tuple(lengths)

    for one in inputs[1:]:
        if len(one.shape) != len(first.shape) or others(one) != others(first):
            return (
                f"{one.label} of shape {one.shape} does not fit {first.label} of shape {first.shape} along axis {axis}"
            )
    return None


def _of_stack(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first = inputs[0]
    odd = [one for one in inputs if one.shape != first.shape]
    return f"{odd[0].label} of shape {odd[0].shape} must have the shape {first.shape} of {first.label}" if odd else None


def _of_permutation(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    ndim = len(inputs[0].shape)
    return f"axes must be a permutation of the {ndim} axes of x, not {arguments.get('axes')}"


def _of_contraction(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shapes = " and ".join(f"{one.label} of shape {one.shape}" for one in inputs)
    chosen = ", ".join(f"{name}={arguments[name]}" for name in ("axis", "axes") if name in arguments)
    return f"{shapes} do not fit with {chosen}"


def _of_subscripts(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    lengths: dict[str, int | None] = {}
    terms = arguments["subscripts"].partition("->")[0].split(",")
    for term, one in zip(terms, inputs, strict=True):
        for letter, n in zip(term, one.shape, strict=True):
            other = lengths.get(letter)
            if n not in (None, 1) and other not in (None, 1, n):
                text = f"{one.label} of shape {one.shape} does not fit {term!r}"
                return f"{text}, as {letter!r} is of length {other} elsewhere"
            lengths[letter] = n if other in (None, 1) else other
    return None


def _of_summed_axes(inputs: Sequence[Input], arguments: dict[str, Any], at: int) -> Complaint:
    """For sums along the last axis of `a` and the axis `at` of `b`.

    A vector has only one.
    """
    first, second = (one.shape for one in inputs)
    before = max(at, -len(second))
    if not first or not second or first[-1] == second[before]:
        return None
    return (
        f"a of shape {first} and b of shape {second} do not fit, as axis {len(first) - 1} of a has {first[-1]} "
        f"elements and axis {len(second) + before} of b has {second[before]}"
    )


def _of_sizes(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first, second = (one.shape for one in inputs)
    sizes = {math.prod([n or 0 for n in shape]) for shape in (first, second)}
    if None in (*first, *second) or len(sizes) == 1:
        return None
    return f"a of shape {first} and b of shape {second} must have as many elements"


def _of_broadcast(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape: Any = arguments.get("shape")
    is_shape = isinstance(shape, tuple) and len(inputs[0].shape) <= len(shape) and all(n >= 0 for n in shape)
    if is_shape and _fits(inputs[0].shape, shape):
        return None  # the shapes fit; the result is too large for the library
    return f"x of shape {inputs[0].shape} does not broadcast to {shape}"


def _of_squeezing(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape, axis = inputs[0].shape, arguments.get("axis")
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    long = [one for one in axes if isinstance(one, int) and shape[one] != 1]
    return f"axis {long[0]} of x of shape {shape} must have the length 1, not {shape[long[0]]}" if long else None


def _of_moving(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    source, destination = arguments.get("source"), arguments.get("destination")
    return f"source and destination must name as many different axes of x, not {source} and {destination}"


def _of_axis_needed(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    ndim = len(inputs[0].shape)
    return f"axis must be given, as x has {ndim} axes" if arguments.get("axis") is None and ndim != 1 else None


def _of_vectors(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    odd = [one for one in inputs if len(one.shape) != 1]
    return f"{odd[0].label} must have one axis, not shape {odd[0].shape}" if odd else None


def _of_sorted_vector(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    complaint = _of_vectors(inputs[:1], arguments)
    if complaint or len(inputs) < 3:
        return complaint
    shape, sorter = inputs[0].shape, inputs[2]
    if sorter.shape != shape:
        return f"{sorter.label} must have the shape of x1, {shape}, not {sorter.shape}"
    return f"{sorter.label} must hold indices of x1, from 0 to {shape[0] - 1}" if shape[0] else None


def _of_shifts(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shift, axis = arguments.get("shift"), arguments.get("axis")
    lengths = {len(one) if isinstance(one, tuple) else 1 for one in (shift, axis)} - {1}
    return f"shift and axis must be of one length, not {shift} and {axis}" if len(lengths) > 1 else None


def _of_counts(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    for name in ("repeats", "repetitions"):
        counts = arguments.get(name)
        if any(isinstance(n, int) and n < 0 for n in (counts if isinstance(counts, tuple) else (counts,))):
            return f"{name} must not be negative, not {counts}"
    shape, axis = inputs[0].shape, arguments.get("axis")
    lengths = [n for n in (shape if axis is None else (shape[axis],)) if n is not None]
    count = math.prod(lengths)
    for one in [] if None in shape else inputs[1:]:
        if one.shape not in ((), (1,), (count,)):
            return f"{one.label} must have the shape ({count},) or (1,) to fit x, not {one.shape}"
    if inputs[1:] and inputs[1].dtype.kind in "iu":
        return f"{inputs[1].label} must hold no negative number"
    return None


def _of_transform(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape = inputs[0].shape
    sizes = arguments.get("n", arguments.get("s"))
    sizes = sizes if isinstance(sizes, tuple) else (sizes,)
    if any(isinstance(n, int) and n < 1 for n in sizes):
        return f"{'n' if 'n' in arguments else 's'} must be positive, not {sizes if 's' in arguments else sizes[0]}"
    axes = arguments.get("axes")
    if axes == () or not shape:
        return "x must be transformed along at least one axis"
    if "s" in arguments and sizes != (None,) and len(sizes) != len(shape if axes is None else axes):
        return f"s must have as many lengths as there are axes, {len(shape if axes is None else axes)}, not {sizes}"
    if 0 in shape:
        return f"x of shape {shape} has no elements to transform"
    last = arguments.get("axis", -1) if not axes else axes[-1]
    is_alone = sizes == (None,) and isinstance(last, int) and shape[last] == 1
    cure = f"Give {'n' if 'n' in arguments else 's'}"
    return f"x has one element along axis {last}, from which no length follows. {cure}" if is_alone else None


def _of_difference(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    if isinstance(arguments.get("n"), int) and arguments["n"] < 0:
        return f"n must not be negative, not {arguments['n']}"
    return _of_concat(inputs, {"axis": arguments.get("axis")})


def _of_same_rank(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first, second = inputs
    shapes = f"x of shape {first.shape} and indices of shape {second.shape}"
    if len(first.shape) != len(second.shape):
        return f"{shapes} must have as many axes as each other"
    lengths = list(zip(first.shape, second.shape, strict=True))
    del lengths[arguments["axis"]]
    if any(n != m and not {1, None}.intersection((n, m)) for n, m in lengths):
        return f"{shapes} cannot be broadcast beside axis {arguments['axis']}"
    return None


def _of_having_axes(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    return None if inputs[0].shape else "x must have at least one axis"


FITS: Final[dict[str, Fit]] = {
    "any": Fit(),
    "broadcast": Fit(broadcasts=True),
    "broadcast to": Fit(_of_broadcast),
    "as many elements": Fit(_of_reshape),
    "some element": Fit(_of_extremum),
    "some axis": Fit(_of_having_axes),
    "one axis or a named one": Fit(_of_axis_needed),
    "equal ranks": Fit(_of_same_rank),
    "vectors": Fit(_of_vectors),
    "vector first": Fit(_of_sorted_vector),
    "matrices": Fit(_of_matrix),
    "square matrices": Fit(_of_square),
    "norm": Fit(_of_norm),
    "product": Fit(_of_matmul),
    "equations": Fit(_of_solve),
    "contraction": Fit(_of_contraction),
    "contraction of axes": Fit(_of_contraction, axes=(), may_repeat=True),
    "subscripts": Fit(_of_subscripts, axes=()),
    "dot": Fit(functools.partial(_of_summed_axes, at=-2)),
    "inner": Fit(functools.partial(_of_summed_axes, at=-1)),
    "as many elements in both": Fit(_of_sizes),
    "joined": Fit(_of_concat),
    "stacked": Fit(_of_stack, new_axes=lambda axes: 1),
    "new axes": Fit(new_axes=len),
    "length 1": Fit(_of_squeezing),
    "permutation": Fit(_of_permutation),
    "moved axes": Fit(_of_moving),
    "axes that may repeat": Fit(_of_shifts, may_repeat=True),
    "counts": Fit(_of_counts),
    "differences": Fit(_of_difference),
    "transform": Fit(_of_transform),
}
"""How shapes and axes must fit, by the option `fit` of a declaration."""
