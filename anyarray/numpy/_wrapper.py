"""Functions of the namespace with the call conventions of NumPy's.

A wrapper accepts the arguments of NumPy's function, by position or by name, including lists and numbers for arrays, and
calls ours. If all arguments mean the same to both, the wrapper only checks their classes. A rule in `_options` serves
each option that ours lacks. NumPy itself computes functions of numbers alone, which return numbers; of text, dates,
objects and records, which no other library has; and of pandas columns, quantities and similar objects, which decide
about the result themselves.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from anyarray._array.array import Array
from anyarray._base import dtypes, errors
from anyarray._call import by_position as _by_position
from anyarray._call import compiled
from anyarray._call.operators import decides
from anyarray.numpy import _options
from anyarray.numpy._itself import values_of
from anyarray.numpy._signatures import signature_of
from anyarray.standard import namespace as xp

F = TypeVar("F", bound=Callable[..., Any])

NUMBERS: Final = (bool, int, float, complex, np.generic)
_PYTHON_NUMBERS: Final = frozenset({bool, int, float, complex})
_NESTS: Final = frozenset({list, tuple})


class Parameter(NamedTuple):
    """A parameter of NumPy's function, and the equivalent of ours."""

    ours: str | int
    """Its name, or its position."""
    role: str
    """ "array", "arrays" for a sequence of them, "either" of both, or "plain"."""
    takes_numbers: bool
    """Whether a Python number may stand for an array, whose dtype it does not decide."""
    is_same: bool
    """Whether both have the same default, so that it may be passed on as it is."""


class Plan(NamedTuple):
    """The mapping of the parameters of NumPy's function to ours."""

    name: str
    theirs: Callable[..., Any]
    ours: Callable[..., Any]
    signature: inspect.Signature
    parameters: Mapping[str, Parameter]
    variadic: str | None
    """The parameter that takes any number of arrays."""
    options: str | None
    """The parameter that takes any options."""
    by_position: Sequence[str]
    """NumPy's parameters by position, if none takes any number of arguments."""
    required: frozenset[str]
    defaults: Mapping[str, Any]


def wrapper(name: str, theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the parameters of NumPy's `theirs` that calls `ours`.

    Arrays and ndarrays for common parameters are passed on; `call` handles everything else.
    """
    plan = plan_of(name, theirs, ours)
    names = _same_names(plan)
    shared = _shared(plan, ours)
    roles = [plan.parameters[p].role for p in shared]
    leading = sum(1 for _ in itertools.takewhile("array".__eq__, roles))
    least = sum(not _is_optional(plan, p) for p in shared[:leading])
    most = len(shared) if leading == roles.count("array") else leading
    operands: Any = slice(leading)
    if roles[:1] == ["arrays"]:
        least, operands = 1, 0
    elif plan.variadic is not None and not plan.parameters:
        most, operands = sys.maxsize, slice(None)
    elif not leading:
        most = -1

    def function(*args: Any, **kwargs: Any) -> Any:
        if least <= len(args) <= most and names.issuperset(kwargs):
            given = args[operands]
            if operands != 0 and np.ndarray in map(type, given):
                given = tuple([as_array(one) if type(one) is np.ndarray else one for one in given])
                args = given + args[len(given) :]
            if _are_arrays(given):
                return ours(*args, **kwargs)
        return call(plan, args, kwargs)

    dressed(function, name, theirs, plan.signature)
    if name == "broadcast_arrays":  # NumPy's views warn when they are written
        return function
    return at_once(function, theirs, ours if is_as_theirs(name, theirs, ours) else None)


def is_as_theirs(name: str, theirs: Callable[..., Any], ours: Callable[..., Any]) -> bool:
    """Whether all arguments mean the same to our function and NumPy's."""
    plan = plan_of(name, theirs, ours)
    names = _same_names(plan)
    own = inspect.signature(ours).parameters.values()
    by_name = [p.name for p in own if p.kind is p.KEYWORD_ONLY]
    return len(by_position(ours)) <= len(_shared(plan, ours)) and all(
        name in names or name not in plan.signature.parameters for name in by_name
    )


def _same_names(plan: Plan) -> frozenset[str]:
    """The options that mean the same by the same name."""
    same = [p for p, one in plan.parameters.items() if one.ours == p and one.role == "plain" and one.is_same]
    return frozenset(same)


def at_once(
    function: Callable[..., Any], theirs: Callable[..., Any], ours: Callable[..., Any] | None = None, variant: str = "f"
) -> Callable[..., Any]:
    """A function that calls NumPy's own for Arrays on NumPy.

    See `compiled.with_numpy_function`.
    """
    called = compiled.with_numpy_function(function, theirs, ours, variant)
    if called is not function and hasattr(function, "__signature__"):
        called.__signature__ = function.__signature__  # type: ignore[attr-defined]  # it has attributes
    return called


def _are_arrays(values: Sequence[Any]) -> bool:
    return type(values) in _NESTS and {*map(type, values)} == {Array}


def dressed(function: Any, name: str, theirs: Any, signature: inspect.Signature | None = None) -> Any:
    """The function with NumPy's name, signature and documentation."""
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__module__ = ".".join(["anyarray.numpy", *name.split(".")[:-1]])
    function.__doc__ = f"As `numpy.{name}`, on every backend.\n\n{inspect.getdoc(theirs) or ''}"
    if signature is not None:
        function.__signature__ = signature
    return function


def plan_of(name: str, theirs: Callable[..., Any], ours: Callable[..., Any]) -> Plan:
    """The mapping of calls of NumPy's function to ours."""
    signature = signature_of(theirs)
    own = inspect.signature(ours).parameters
    by_position = [p for p in own.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    # What stands before any number of arrays can only be given by position beside them.
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in own.values())
    found: dict[str, Parameter] = {}
    variadic = options = None
    for at, p in enumerate(signature.parameters.values()):
        if p.kind is p.VAR_POSITIONAL:
            variadic = p.name
            continue
        if p.kind is p.VAR_KEYWORD:
            options = p.name
            continue
        same = own.get(p.name)
        if same is None and at < len(by_position) and by_position[at].name not in signature.parameters:
            same = by_position[at]
        if same is not None:
            is_positional = same.kind is same.POSITIONAL_ONLY or (takes_any and same.kind is not same.KEYWORD_ONLY)
            is_same = p.default is same.default or p.default == same.default
            place = by_position.index(same) if is_positional else same.name
            found[p.name] = Parameter(place, _role(same.annotation), _takes_numbers(same.annotation), is_same)
    listed = signature.parameters.values()
    positional = [p.name for p in listed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return Plan(
        name,
        theirs,
        ours,
        signature,
        found,
        variadic,
        options,
        () if variadic or options else positional,
        frozenset(p.name for p in listed if p.default is p.empty),
        {p.name: p.default for p in listed},
    )


def _role(annotation: Any) -> str:
    text = str(annotation)
    if "Sequence[AnyArray]" in text:
        return "either" if text.startswith("AnyArray |") else "arrays"
    return "array" if "AnyArray" in text else "plain"


def _takes_numbers(annotation: Any) -> bool:
    return not {"float", "complex", "int"}.isdisjoint(str(annotation).split(" | "))


def _is_optional(plan: Plan, parameter: str) -> bool:
    return plan.signature.parameters[parameter].default is not inspect.Parameter.empty


def _shared(plan: Plan, ours: Callable[..., Any]) -> Sequence[str]:
    """The parameters that both take by position, at the same places."""
    found: list[str] = []
    theirs = [p for p in plan.signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    own = by_position(ours)
    for at, p in enumerate(theirs):
        mapped = plan.parameters.get(p.name)
        if mapped is None or at >= len(own) or mapped.ours not in (at, own[at]) or (at and not mapped.is_same):
            break
        found.append(p.name)
    return found


def by_position(function: Callable[..., Any]) -> Sequence[str]:
    """The names of our parameters that may be passed by position."""
    parameters = inspect.signature(function).parameters.values()
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [*plain, *_by_position.options_of(function)]


def call(plan: Plan, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call with any arguments that NumPy's function accepts."""
    given = _bound(plan, args, kwargs)
    if any(map(_has_decider, given.values())):
        return in_numpy(plan.theirs, args, kwargs)
    variadic = given.pop(plan.variadic, ()) if plan.variadic else ()
    options = given.pop(plan.options, {}) if plan.options else {}
    operands = [given[p] for p, one in plan.parameters.items() if one.role == "array" and given.get(p) is not None]
    if operands and not variadic and all(isinstance(one, NUMBERS) for one in operands) and given.get("out") is None:
        return brought(plan.theirs(*args, **kwargs))
    positional: dict[int, Any] = {}
    keyword: dict[str, Any] = {**options}
    left: dict[str, Any] = {}
    for name, value in given.items():
        p = plan.parameters.get(name)
        if p is None:
            left[name] = value
            continue
        if p.takes_numbers and type(value) in _PYTHON_NUMBERS:
            pass
        elif value is None and p.role != "plain" and name in plan.required:
            value = np.asarray(value)
        elif p.role == "array" or (p.role == "either" and type(value) is not list and type(value) is not tuple):
            value = as_array(value)
        elif p.role == "arrays" or (p.role == "either" and value and not isinstance(value[0], NUMBERS)):
            value = as_arrays(value)
        elif p.role == "either":  # a list of numbers
            value = as_array(value)
        if isinstance(p.ours, int):
            positional[p.ours] = value
        else:
            keyword[p.ours] = value
    converted = [*positional.values(), *keyword.values()]
    others = as_arrays(variadic)
    if any(map(_is_numpys, others)) or any(
        _is_numpys(one) or (type(one) is list and any(map(_is_numpys, one))) for one in converted
    ):
        return in_numpy(plan.theirs, args, kwargs)
    at_places = [positional[at] for at in sorted(positional)] + others
    return _options.serve(plan.name, plan.ours, at_places, keyword, left)


def _has_decider(value: Any) -> bool:
    """Whether NumPy asks an object, or one in a list or a tuple."""
    return any(map(decides, {type(one): one for one in value}.values())) if type(value) in _NESTS else decides(value)


def _is_numpys(converted: Any) -> bool:
    return isinstance(converted, np.ndarray) and dtypes.is_numpys_own(converted)


def _bound(plan: Plan, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """As `bound`, for the common call in a fifth of its time."""
    given = dict(zip(plan.by_position, args, strict=False))
    if len(given) == len(args) and plan.required <= given.keys() and (not kwargs or _are_others(plan, given, kwargs)):
        given.update(kwargs)
        return {one: value for one, value in given.items() if value is not plan.defaults[one]}
    return bound(plan.name, plan.signature, args, kwargs)


def _are_others(plan: Plan, given: Mapping[str, Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether keywords name parameters that were not given by position."""
    listed = plan.signature.parameters
    return all(one in listed and one not in given and listed[one].kind is not _ONLY_BY_POSITION for one in kwargs)


_ONLY_BY_POSITION: Final = inspect.Parameter.POSITIONAL_ONLY


def bound(name: str, signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are not the defaults, by NumPy's names.

    Raises TypeError for arguments that do not fit the signature.
    """
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise errors.ArgumentTypeError(f"{name}: {error}. The signature is {name}{signature}") from None
    defaults = signature.parameters
    return {one: value for one, value in given.items() if value is not defaults[one].default}


def as_array(value: Any) -> Any:
    """An Array of anything that NumPy accepts as an array; None stays None.

    Text, dates and objects stay ndarrays, since no other library has them.
    """
    if type(value) is Array or value is None:
        return value
    theirs = as_numpys_own(value)
    if theirs is not None:
        return theirs
    try:
        return xp.asarray(value)
    except (errors.ArgumentTypeError, errors.ArgumentOverflowError):  # objects, unless it is an array
        if hasattr(value, "__array__"):
            raise
        return np.asanyarray(values_of(value), dtype=object)


def as_numpys_own(value: Any) -> np.ndarray[Any, Any] | None:
    """An ndarray of text, dates or objects; None for numbers."""
    one = value
    while type(one) in (list, tuple) and one:
        one = one[0]
    if isinstance(one, (str, bytes)) or dtypes.is_numpys_own(one):
        return np.asanyarray(values_of(value))  # type: ignore[no-any-return]  # an ndarray
    return None


def as_arrays(values: Any) -> Any:
    """A list of Arrays of a sequence, or of the rows of an array."""
    if type(values) is not Array and isinstance(values, np.ndarray):
        values = xp.asarray(values)
    return [np.asarray(one) if one is None else as_array(one) for one in values]


def in_numpy(theirs: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call of NumPy's own function, for dtypes that only NumPy has."""
    options = {name: values_of(value) for name, value in kwargs.items()}
    out = kwargs.get("out")
    if type(out) is tuple and len(out) == 1:
        (out,) = out
    if type(out) is Array and out.device.library != "numpy":  # whose memory cannot be written by others
        options["out"] = np.array(out)
    result = theirs(*map(values_of, args), **options)
    if type(out) is Array and result is options["out"]:
        out[...] = result
        return out
    return brought(result)


def or_in_numpy(function: F, theirs: Callable[..., Any]) -> F:
    """Let NumPy's function compute dtypes that only NumPy has."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except errors.ArgumentTypeError as refusal:
            return instead(refusal, theirs, args, kwargs)

    return called  # type: ignore[return-value]  # is called as `function` is


def instead(
    refusal: errors.ArgumentTypeError, theirs: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """NumPy's result for arguments that our function refused.

    Raises the refusal if no argument is one that only NumPy supports, or if NumPy refuses them, too.
    """
    given = (*args, *kwargs.values())
    if any(dtypes.is_numpys_dtype(one) or (type(one) is not Array and _is_numpys(as_array(one))) for one in given):
        try:
            return in_numpy(theirs, args, kwargs)
        except TypeError:
            pass
    raise refusal


def brought(result: Any) -> Any:
    """A result of NumPy with Arrays in place of ndarrays.

    Numbers and arrays of other classes stay as they are.
    """
    if isinstance(result, tuple):
        parts = map(brought, result)
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    is_array = isinstance(result, np.ndarray) and not (dtypes.is_numpys_own(result) or decides(result))
    return xp.asarray(result) if is_array else result
