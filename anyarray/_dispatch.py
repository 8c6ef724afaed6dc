"""The call: a declared signature becomes a body.

`@dispatch` reads the annotations of a function of the standard and writes its body in two parts. The fast
path is generated, for the common call: Arrays that all live where the call runs. It unwraps, calls the
native function, wraps. Everything else (inputs to be brought over, native arrays, no choice yet) goes
through `call`, which is written once. The generated source is in `linecache`, so a debugger steps
through it. A native error is examined afterwards: `explain` raises the clear one, if it finds the cause.

Annotations and what they make of a parameter:

    AnyArray                  an array
    AnyArray | complex        an array or a Python scalar, which takes its dtype from the arrays beside it
    int | AnyArray            a Python scalar as it is, or an array
    AnyArray | None           an array or None; `AnyArray | float | None` likewise
    *arrays: AnyArray         any number of arrays
    Sequence[AnyArray]        a list of arrays, or the like
    DTypeLike | None          a dtype: becomes the library's
    Shape                     a tuple of ints, also of one int
    all others                passed on as they are
"""

from __future__ import annotations

import functools
import inspect
import linecache
import math
import operator
import time
from collections.abc import Callable, Iterable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard, TypeVar, overload

import numpy as np

from anyarray import (
    _automatic,
    _backend,
    _batching,
    _choice,
    _cost,
    _diagnosis,
    _dtypes,
    _errors,
    _kept,
    _memory,
    _ownership,
    _transfer,
)
from anyarray._backend import POWERS, VARIABLES, Home, Native, Operands
from anyarray._kept import LENDABLE
from anyarray._transfer import UNWATCHED, watch

if TYPE_CHECKING:
    from anyarray._array import Array  # stands above; `scope` has it when it is there

F = TypeVar("F", bound=Callable[..., Any])

ARRAY, WEAK, SEQUENCE, DTYPE, PLAIN = "array", "weak", "sequence", "dtype", "plain"
SCALARS: Final = frozenset({bool, int, float, complex})
SHAPE: Final = "Shape"


class Parameter:
    """A parameter of a declared function, as dispatch sees it."""

    __slots__ = (
        "annotation",
        "choices",
        "is_condition",
        "is_integral",
        "is_keyword",
        "is_optional",
        "is_read",
        "is_variadic",
        "name",
        "role",
        "takes_plain_scalar",
        "words",
    )

    def __init__(self, parameter: inspect.Parameter, words: str) -> None:
        self.name = parameter.name
        self.annotation = str(parameter.annotation)
        union = [part.strip() for part in self.annotation.split("|")]
        self.words = words
        self.is_keyword = parameter.kind is parameter.KEYWORD_ONLY
        self.is_variadic = parameter.kind is parameter.VAR_POSITIONAL
        self.is_optional = "None" in union
        self.takes_plain_scalar = "AnyArray" in union and union[0] in ("int", "float")
        scalars = {"bool", "int", "float", "complex"}.intersection(union)
        if "Sequence[AnyArray]" in union or (self.is_variadic and union == ["AnyArray"]):
            self.role = SEQUENCE
        elif "AnyArray" in union:
            self.role = WEAK if scalars and not self.takes_plain_scalar else ARRAY
        elif "DTypeLike" in union:
            self.role = DTYPE
        else:
            self.role = PLAIN
        self.is_integral = self.role is PLAIN and not {SHAPE, *_diagnosis.INTEGERS}.isdisjoint(union)
        """Whether it is an integer, or several."""
        self.choices = _diagnosis.words(self.annotation) if self.annotation.startswith("Literal") else []
        """The words that it may be, in quotes."""
        self.is_read = self.is_integral or bool(self.choices)
        # What `where` chooses by and what `searchsorted` sorts by: no dtype follows from them.
        self.is_condition = self.role is ARRAY and (words == "boolean" or (words == "integer" and self.is_optional))


TAKEN: Final = ("promoted", "compared", "exponent")
"""What Python scalars may be to a function: they take a dtype as the standard says; also, integers beyond all values of
that dtype count as infinity; or, other functions stand for it by some of them, which are `_backend.POWERS`.
"""


class Declaration:
    """A declared function: its name, its parameters and what becomes of its result."""

    __slots__ = (
        "_globals", "_is_reflected", "_is_tuple", "alike", "axis_at", "fit", "function", "is_comparison", "is_power",
        "name", "parameters", "result", "taken_at", "timed", "usual_axis",
    )  # fmt: skip

    def __init__(self, function: Callable[..., Any], words: dict[str, str], name: str | None = None) -> None:
        signature = inspect.signature(function)
        self._globals = function.__globals__
        self.name = name or function.__name__
        scalars = words.pop("scalars", "promoted")
        if scalars not in TAKEN:
            raise _errors.unknown_word(self.name, "scalars", scalars, TAKEN)
        self.is_comparison, self.is_power = scalars == "compared", scalars == "exponent"
        self.parameters = [Parameter(p, words.pop(p.name, "any")) for p in signature.parameters.values()]
        self.result = str(signature.return_annotation)
        self._is_tuple = self.result.startswith("tuple[")
        cost = words.pop("cost", "")
        row = _cost.CLASSES.get(cost)
        self.axis_at = list(signature.parameters).index("axis") if row and row.is_by_axis else None
        """The place of `axis`, if it counts for the time of a call."""
        self.usual_axis = signature.parameters["axis"].default if self.axis_at is not None else None
        operands = [p for p in self.parameters if p.role in (ARRAY, WEAK) and not p.is_condition]
        # Unless it is said otherwise, shapes broadcast where a scalar may stand for an array.
        fit = words.pop("fit", "broadcast" if any(p.role is WEAK for p in operands) else "any")
        if fit not in _diagnosis.FITS:
            raise _errors.unknown_word(self.name, "fit", fit, _diagnosis.FITS)
        self.fit = _diagnosis.FITS[fit]
        """How shapes and axes must fit."""
        for p in self.parameters:
            if p.words not in _diagnosis.ACCEPTED:
                raise _errors.unknown_word(self.name, f"dtype of {p.name}", p.words, _diagnosis.ACCEPTED)
        # What is said of an operator was said of its function.
        batch = words.pop("batch", "elementwise" if self.fit.broadcasts or (row and row.is_elementwise) else "")
        self.alike, self.timed = words.pop("alike", ""), words.pop("timed", "")
        if self.timed not in ("", *TIMED):
            raise _errors.unknown_word(self.name, "timed", self.timed, TIMED)
        if words:
            raise ValueError(f"@dispatch of {self.name}: there is no parameter {', '.join(words)}")
        self.function: Callable[..., Any] = function
        """What users call."""
        if not name:
            declarations[self.name] = self
            _backend.declare(self.name)
            if cost:
                _cost.classify(self.name, cost)
            if batch:
                _batching.batch(self.name, batch)

    def settle(self, body: Callable[..., Any], written: Sequence[Parameter]) -> None:
        """Note the body, whose parameters are in the order in which they were written."""
        self.function = body
        self._is_reflected = written != self.parameters
        self.taken_at = [at for at, p in enumerate(self.parameters) if p.role in (ARRAY, WEAK, SEQUENCE)]
        """The places of parameters that are arrays."""

    def called(self, values: Sequence[Any]) -> Any:
        """What the body gives for values in the order of the parameters."""
        if self._is_reflected:
            return self.function(*values[::-1])
        positional: list[Any] = []
        keyword: dict[str, Any] = {}
        for p, value in zip(self.parameters, values, strict=True):
            if p.is_keyword:
                keyword[p.name] = value
            elif p.is_variadic:
                positional += value
            else:
                positional.append(value)
        return self.function(*positional, **keyword)

    def operands(self) -> Operands | None:
        """Those arrays that promote: the first and all that have its words; None if there is none."""
        arrays = [p for p in self.parameters if p.role in (ARRAY, WEAK, SEQUENCE) and not p.is_condition]
        if not arrays or arrays[0].is_variadic:
            return None  # they are bools, or each keeps its dtype
        first = arrays[0]
        places = [p.name if p.is_keyword else at for at, p in enumerate(self.parameters) if p in arrays]
        agreeing = [at for at, p in zip(places, arrays, strict=True) if p.words == first.words]
        return Operands(
            tuple(agreeing),
            first.role is SEQUENCE,
            first.words in ("floating-point", "real floating-point"),
            self._globals["__name__"].endswith(".elementwise"),
        )

    def wrapped(self, native: Any, home: Home) -> Any:
        """The result of the native function as Arrays, in the form that was declared."""
        if self.result == "Array":
            return wrap(native, home)
        arrays = [wrap(one, home) for one in native]
        return tuple(arrays) if self._is_tuple else self._globals[self.result]._make(arrays)


TIMED: Final = ("half a spectrum", "numbers beyond one", "shifts", "truths")
"""Inputs with which a function is measured, where they do not follow from its declaration; `_cells` makes them."""

declarations: Final[dict[str, Declaration]] = {}
"""All functions that were declared, by name."""


scope: Final[dict[str, Any]] = {
    "BY_COST": _choice.BY_COST,
    "NUMPY": _backend.backend_of_name("numpy").free,
    "current": _choice.current,
    "SCALARS": SCALARS,
    "LISTS": (list, tuple),
    "POWERS": POWERS,
    "prod": math.prod,
    "sum_of": sum,
    "size_of": operator.attrgetter("size"),
    "UNSUITED": (_backend.ArrayMustBeCast, OverflowError),
}
"""The globals of the generated bodies; `_array` adds the class Array."""


def wrap(native: Native, home: Home) -> Array:
    """An Array of a native array that lives on `home`."""
    array: Array = scope["new"]()
    array._native = native
    array._home = home
    return array


def arrived(native: Native, home: Home) -> Array:
    """An Array of a native array that was made, or handed in, just now."""
    if home is scope["NUMPY"]:
        _choice.mention(native.size)
    return wrap(native, home)


def made(native: Native, home: Home) -> Array:
    """An Array of a native array that was made for it, of which nobody else knows."""
    array: Array = scope["new"]()
    array._native = native
    array._home = home
    if home.backend.library == "numpy" and native.nbytes >= _memory.SMALL:
        if home is scope["NUMPY"]:
            _choice.mention(native.size)
        if _memory.is_fit(native):
            array._second = LENDABLE
    return array


@overload
def dispatch(function: F, /) -> F: ...
@overload
def dispatch(**words: str) -> Callable[[F], F]: ...
def dispatch(function: F | None = None, /, **words: str) -> F | Callable[[F], F]:
    """Give a declared function its body.

    `words` say, for each array parameter, the dtypes that the standard allows: a key of `_diagnosis.ACCEPTED`. Beside
    them, `cost` says what a call costs (see `_cost.classify`), `fit` how shapes must fit, one of `_diagnosis.FITS`, and
    `batch` how it is called for all elements of a batch, one of `_batching.RULES`; `scalars` what Python scalars are to
    it, one of `TAKEN`; `alike` a function that takes as long, of the same cost, which then need not be measured apart;
    `timed` the inputs with which it is measured, one of `TIMED`.
    """

    def decorated(function: F) -> F:
        declaration = Declaration(function, dict(words))
        _backend.declare(declaration.name, declaration.operands())
        for one in _waiting.pop(declaration.name, []):
            setattr(scope["Array"], one.method.__name__, _operating(one, declaration))
        return _compiled(function, declaration, call, declaration.parameters)

    return decorated if function is None else decorated(function)


@overload
def declare(function: F, /) -> F: ...
@overload
def declare(**words: str) -> Callable[[F], F]: ...
def declare(function: F | None = None, /, **words: str) -> F | Callable[[F], F]:
    """Say of a function that has a body of its own what `dispatch` says of the others."""

    def decorated(function: F) -> F:
        Declaration(function, dict(words))
        return function

    return decorated if function is None else decorated(function)


class Operator(NamedTuple):
    """A method of Array that stands for a function."""

    method: Callable[..., Any]
    is_reflected: bool
    slow: Callable[..., Any]


_waiting: Final[dict[str, list[Operator]]] = {}
"""Operators by the function of which they are; all that is said of it is said of them."""


def operator_of(name: str, *, reflected: bool = False, repeats_lists: bool = False) -> Callable[[F], F]:
    """Give a declared operator of Array the body of the function `name`, as soon as that is declared.

    Unlike a function it answers NotImplemented to operands that it does not know, so that Python asks the other side;
    but to lists, if that `repeats_lists`.
    """
    slow = operate_on_no_list if repeats_lists else operate

    def decorated(method: F) -> F:
        _waiting.setdefault(name, []).append(Operator(method, reflected, slow))
        return method

    return decorated


def _operating(one: Operator, function: Declaration) -> Callable[..., Any]:
    """The body of an operator."""
    declaration = Declaration(one.method, {}, function.name)
    for parameter, its in zip(declaration.parameters, function.parameters, strict=True):
        parameter.words = its.words
        if parameter.name == "self":
            parameter.role = WEAK
    declaration.fit = function.fit
    declaration.is_comparison, declaration.is_power = function.is_comparison, function.is_power
    written = declaration.parameters
    if one.is_reflected:
        # The native function gets the operands in the order in which they were written.
        declaration.parameters = written[::-1]
    return _compiled(one.method, declaration, one.slow, written)


def _compiled(function: F, declaration: Declaration, slow: Callable[..., Any], written: list[Parameter]) -> F:
    name = function.__name__
    form = _source(declaration, written, _parameters(function))
    source = form.replace(FUNCTION, name).replace(NATIVE, declaration.name)
    filename = f"<anyarray {function.__qualname__}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    made: dict[str, Any] = {}
    exec(_code(form), scope, made)  # our own text, from a declared signature
    limit, stays = _automatic.limit_of(declaration.name), _staying(declaration.name)
    body = made["make"](declaration, slow, explain, _native_dtype, limit, stays)
    code = body.__code__
    names, variables = (
        tuple([declaration.name if one == NATIVE else one for one in some])
        for some in (code.co_names, code.co_varnames)
    )
    body.__code__ = code.replace(
        co_name=name, co_qualname=function.__qualname__, co_filename=filename, co_names=names, co_varnames=variables
    )
    body.__name__ = name
    body.__doc__ = function.__doc__
    body.__module__ = function.__module__
    body.__qualname__ = function.__qualname__
    body.__annotations__ = function.__annotations__
    body.__defaults__ = function.__defaults__
    body.__kwdefaults__ = function.__kwdefaults__
    declaration.settle(body, written)
    return body  # type: ignore[no-any-return]  # it has the signature of `function`


FUNCTION, NATIVE = "FUNCTION", "NATIVE"
"""What stands in a generated text for the names of the function and of the native one."""


@functools.cache
def _code(form: str) -> CodeType:
    """The compiled text. Functions that differ in their names alone share it: four of five, 20 ms at import."""
    return compile(form, "<anyarray>", "exec")


def _source(declaration: Declaration, written: list[Parameter], parameters: str) -> str:
    """The text of the body, names left open: the fast path, then the slow one."""
    values = "(" + "".join(f"{p.name}, " for p in declaration.parameters) + ")"
    slow = f"return slow(declaration, {values})"
    lines = [f"def {FUNCTION}{parameters}:"]
    arrays = [p for p in written if p.role in (ARRAY, WEAK, SEQUENCE)]
    is_joining = [p.role for p in arrays] == [SEQUENCE]
    if not (is_joining or (arrays and all(p.role is not SEQUENCE for p in arrays))):
        lines.append(f"    {slow}")
    else:
        first = arrays[0]
        is_method = first.name == "self"
        lines += _entrance_of_sequence(first.name) if is_joining else _entrance(first.name, is_method=is_method)
        lines += ["            if backend is None or backend is home.backend:"]
        lines += [f"                {line}" for line in _common_call(declaration, arrays, slow, values)]
        if len(arrays) == 2:
            lines += [f"            {line}" for line in _small_call(declaration, arrays, values)]
        # After the call though it is asked before: whenever an op of TensorFlow runs, it counts the lines of every
        # frame from the top down to where that is, which makes this condition cost 0.4 us if it stands above.
        settled = _is_settled_for_joining(first) if is_joining else _is_settled(declaration, arrays)
        lines += [
            f"            if not ({settled}):",
            "                break",
            "            backend = None",
            f"    {slow}",
        ]
    indented = "".join(f"    {line}\n" for line in lines)
    return f"def make(declaration, slow, explain, native_dtype, limit, stays):\n{indented}    return {FUNCTION}\n"


def _entrance(first: str, *, is_method: bool) -> list[str]:
    """The lines that lead the common call of a function of arrays in. Python has asked what a method belongs to."""
    home = f"        home = {first}._home"
    if is_method:
        lines = [
            "    try:",
            home,
            "    except AttributeError:",
            "        pass  # of something else, by name",
            "    else:",
        ]
    else:
        lines = [f"    if type({first}) is Array:", home]
    return [*lines, "        backend = current().backend", "        while True:"]


def _entrance_of_sequence(name: str) -> list[str]:
    """The same for a function that joins arrays: as long as all they are together."""
    return [
        f"    if type({name}) in LISTS and {name} and type({name}[0]) is Array:",
        f"        home = {name}[0]._home",
        "        backend = current().backend",
        f"        {name}_ = [one._native for one in {name} if type(one) is Array and one._home is home]",
        f"        while len({name}_) == len({name}):",
    ]


def _common_call(declaration: Declaration, arrays: list[Parameter], slow: str, values: str) -> list[str]:
    """The lines of the call itself, where the first array lives."""
    first = arrays[0]
    lines: list[str] = []
    if first.role is not SEQUENCE:
        # Not before: whoever holds the native array when it is brought elsewhere could write to it.
        lines.append(f"{first.name}_ = {first.name}._native")
    for p in arrays[1:]:
        lines += [
            f"kind = type({p.name})",
            f"if kind is Array and {p.name}._home is home:",
            f"    {p.name}_ = {p.name}._native",
        ]
        # A Python scalar takes the dtype of the first array; beside a condition, of the other one that is chosen from.
        beside = next(other for other in arrays if not (other is p or other.is_condition))
        if p.role is WEAK:
            is_there, dtype = "", f"home.dtype_of({first.name}_)"
            if beside is not first:
                is_there = f" and type({beside.name}) is Array and {beside.name}._home is home"
                dtype = f"home.dtype_of({beside.name}._native)"
            lines.append(f"elif kind in SCALARS{is_there}:")
            if declaration.is_power and p is declaration.parameters[1]:
                lines += [
                    f"    if {p.name} in POWERS:",
                    f"        power = home.powers[{p.name}, kind, home.dtype_of({first.name}_)]",
                    "        if power is not None:",
                    "            result = new()",
                    "            try:",
                    f"                result._native = getattr(home, power)({first.name}_)",
                    "            except Exception as error:",
                    f"                explain(error, declaration, home, {values})",
                    "                raise",
                    "            result._home = home",
                    "            return result",
                ]
            lines += [
                "    try:",
                f"        {p.name}_ = home.constants[{p.name}, kind, {dtype}]",
                "    except UNSUITED:",
                f"        {slow}",
            ]
        if p.takes_plain_scalar:
            is_scalar = "kind is int" if p.annotation.startswith("int") else "kind in SCALARS"
            lines += [f"elif {is_scalar}:", f"    {p.name}_ = {p.name}"]
        if p.is_optional:
            lines += [f"elif {p.name} is None:", f"    {p.name}_ = None"]
        lines += ["else:", f"    {slow}"]
    return lines + _native_call(declaration, values)


def _small_call(declaration: Declaration, arrays: list[Parameter], values: str) -> list[str]:
    """The lines of the call under the automatic choice if both arrays are NumPy's and small, a fifth faster."""
    first, second = (p.name for p in arrays)
    sizes = f"{first}_.size", f"{second}_.size"
    is_small = f"(elements := {sizes[0]}) < limit.side and {sizes[1]} < limit.side"
    is_even = f"elements == {sizes[1]} and ({first}_.ndim == 1 == {second}_.ndim or {first}_.shape == {second}_.shape)"
    return [
        f"if backend is BY_COST and home is NUMPY and type({second}) is Array and {second}._home is home:",
        f"    {first}_ = {first}._native",
        f"    {second}_ = {second}._native",
        f"    if {is_small} or elements * {sizes[1]} < limit.elements or elements < limit.elements and {is_even}:",
        *[f"        {line}" for line in _native_call(declaration, values)],
        f"    del {first}_, {second}_  # whoever holds them when they are brought elsewhere could write to them",
    ]


def _native_call(declaration: Declaration, values: str) -> list[str]:
    """The lines that call the native function and wrap what it gives."""
    arguments = ", ".join(_argument(p) for p in declaration.parameters)
    lines = [
        # Not `home.NAME(...)`: Python 3.11 looks that up as a method, slowly.
        f"{NATIVE} = home.{NATIVE}",
        *(["result = new()"] if declaration.result == "Array" else []),
        "try:",
        *[f"    {_reading(p, at)}" for at, p in enumerate(declaration.parameters) if p.is_read],
        f"    {'result._native' if declaration.result == 'Array' else 'native'} = {NATIVE}({arguments})",
        "except Exception as error:",
        f"    explain(error, declaration, home, {values})",
        "    raise",
    ]
    if declaration.result != "Array":
        return [*lines, "return declaration.wrapped(native, home)"]
    return [*lines, "result._home = home", "return result"]


def _reading(p: Parameter, at: int) -> str:
    """The line that reads an integer or a word. Most are what they should be, so no function is called for them."""
    usual = [f"{p.name} is None"] if p.is_optional else []
    if p.annotation.startswith("int"):
        usual.append(f"type({p.name}) is int")
    if p.annotation == SHAPE or ("[int" in p.annotation and "[Sequence" not in p.annotation):
        # A sum is an int where all are: 45 ns, a quarter of what looking at each takes.
        usual.append(f"type({p.name}) is tuple and type(sum_of({p.name})) is int")
    if p.choices:
        usual.append(f"{p.name} in ({', '.join(p.choices)})")
    return f"{p.name}_ = {p.name} if {' or '.join(usual)} else read(declaration, {at}, {p.name})"


def _is_settled(declaration: Declaration, arrays: list[Parameter]) -> str:
    """The condition under which the automatic choice has nothing to decide.

    The first array is placed, or all are NumPy's, below the limit, or of a call that is known to stay.

    Arrays of different shapes broadcast, or are multiplied, to no more than the product of their sizes.
    """
    first, *others = (p.name for p in arrays)
    small = (
        f"((elements := {first}._native.size) < limit.elements"
        f" or elements < limit.narrow and {first}._native.itemsize <= {_cost.WIDTHS[0]})"
    )
    if len(others) == 1:
        small += f" and type({others[0]}) is not Array"  # else see `_small_call`
        others = []
    for name in others:
        small += (
            f" and (type({name}) is not Array or {name}._home is home and"
            f" (elements * {name}._native.size < limit.elements or {name}._native.shape == {first}._native.shape))"
        )
    has_axis = [] if declaration.axis_at is None else [f"has_axis=axis != {declaration.usual_axis}"]
    numpys = f"home is NUMPY and ({small} or stays({', '.join([p.name for p in arrays] + has_axis)}))"
    return f"backend is BY_COST and ({numpys} or home.placed)"


def _is_settled_for_joining(joined: Parameter) -> str:
    """The same for a function that joins arrays, or broadcasts any number of them."""
    name, total = joined.name, "prod" if joined.is_variadic else "sum"
    small = f"{total}(map(size_of, {name}_)) < limit.elements or stays(*{name})"
    return f"backend is BY_COST and (home is NUMPY and ({small}) or home.placed)"


def _staying(function: str) -> Callable[..., bool]:
    """Whether a call of NumPy's arrays, and scalars, was found to be fastest there."""
    calls = _automatic.calls_of_numpy(function)

    def stays(*arguments: Any, has_axis: bool = False) -> bool:
        key: list[Any] = [has_axis]
        for one in arguments:
            if is_array(one):
                if one._home is not scope["NUMPY"] or getattr(one, "_account", None) is not None:
                    return False
                key += [one._native.shape, one._native.dtype]
        return tuple(key) in calls

    return stays


def _parameters(function: Callable[..., Any]) -> str:
    """The parameters of a function by name alone; their defaults are set on the made function."""
    signature = inspect.signature(function)
    bare = [p.replace(annotation=p.empty, default=p.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(bare))


def _argument(p: Parameter) -> str:
    """How the generated body hands parameter `p` to the native function."""
    value = f"{p.name}_" if p.role in (ARRAY, WEAK, SEQUENCE) or p.is_read else p.name
    if p.is_variadic:
        return f"*{value}"
    if p.role is DTYPE:
        value = f"None if {p.name} is None else native_dtype(home, {p.name})"
    return f"{p.name}={value}" if p.is_keyword else value


def call(declaration: Declaration, values: Sequence[Any]) -> Any:
    """Call a declared function with any arguments.

    Native arrays become Arrays, and so do Python scalars where the fast path wants one. It is then taken after all;
    what it has nothing for comes back, with nothing left to be made an Array.
    """
    taken = list(values)
    borrowed: list[Array] = []
    scalars: list[int] = []
    parameters = declaration.parameters
    for at in declaration.taken_at:
        value = values[at]
        kind = type(value)
        if kind in SCALARS and parameters[at].role is WEAK:
            scalars.append(at)
        elif not is_array(value):
            one = taken[at] = _taken(declaration.name, parameters[at], value)
            if type(one) is list:
                borrowed += [a for a, given in zip(one, value, strict=True) if a is not given]
            elif is_array(one):
                borrowed.append(one)
    is_lacking = bool(scalars) and _fill(declaration, taken, scalars)
    if not (borrowed or is_lacking):
        return _call_anywhere(declaration, taken)
    result = declaration.called(taken)
    if borrowed:
        natives = [one._native for one in borrowed]
        for one in result if isinstance(result, tuple) else (result,):
            one._native = unshared(one._native, natives, one._home)
    return result


def _fill(declaration: Declaration, taken: list[Any], scalars: Sequence[int]) -> bool:
    """Put Arrays in place of Python scalars for which the fast path has nothing; False if it would not help."""
    first = declaration.taken_at[0]
    is_chosen_from = declaration.parameters[first].is_condition
    if declaration.is_comparison or not (first in scalars or (is_chosen_from and len(scalars) == 2)):
        return False
    arrays = [one for one in taken if is_array(one)]
    agreed = _agreed_dtype(declaration, taken) if arrays else None
    if agreed is None or agreed.is_cast:
        return False
    home = arrays[0]._home
    chosen = _choice.current().backend
    if not (chosen is None or chosen is _choice.BY_COST or chosen is home.backend):
        return False
    weak = [at for at in scalars if declaration.parameters[at].role is WEAK]
    try:
        filled = [wrap(home.constants.named(taken[at], agreed.name), home) for at in weak]
    except OverflowError:
        return False  # whoever calls it anywhere says for which function
    for at, one in zip(weak, filled, strict=True):
        taken[at] = one
    return True


def unshared(native: Native, borrowed: Sequence[Native], home: Home) -> Native:
    """A native result, copied where it may be a view of a native array that the user handed in and may write to."""
    may_share = getattr(native, "base", None) is not None or any(native is given for given in borrowed)
    return home.exported(native) if may_share and not home.backend.is_immutable else native


def _call_anywhere(declaration: Declaration, values: Sequence[Any]) -> Any:
    """Call a declared function with Arrays and scalars: choose the home, bring the arrays there, call, wrap."""
    prepared = [
        read(declaration, at, value) if p.is_read else value
        for at, (p, value) in enumerate(zip(declaration.parameters, values, strict=True))
    ]
    arrays = [a for value in prepared for a in (value if isinstance(value, list) else [value]) if is_array(a)]
    if not arrays:
        _refuse_no_arrays(declaration, values)
    name = declaration.name
    traced = _traced_home(arrays)
    has_axis = declaration.axis_at is not None and prepared[declaration.axis_at] != declaration.usual_axis
    decision = _choice.decision(name, arrays, is_traced=traced is not None, has_axis=has_axis)
    if decision is None:
        home = _choice.home_of_call(name, [a._home for a in arrays], traced)
        return _called(declaration, prepared, home)
    started = time.perf_counter()

    def attempt() -> tuple[Any, list[Array]]:
        result = _called(declaration, prepared, decision.home)
        results = [one for one in (result if isinstance(result, tuple) else (result,)) if is_array(one)]
        if decision.must_wait(results):
            decision.home.backend.hook("synchronize")([one._native for one in results][-1])
        return result, results

    try:
        result, results = attempt()
    except Exception as error:
        if not decision.retreat(error):
            raise
        result, results = attempt()
    decision.credit(results)
    if _choice.is_recorded():
        decision.home.backend.hook("synchronize")([one._native for one in results][-1])
        decision.seconds = time.perf_counter() - started
    return result


def _called(declaration: Declaration, prepared: Sequence[Any], home: Home) -> Any:
    """The result of a call on `home`, to which the arrays are brought."""
    if declaration.is_comparison:
        prepared = _comparable(prepared)
    agreed = _agreed_dtype(declaration, prepared)
    positional: list[Any] = []
    keyword: dict[str, Any] = {}
    for p, value in zip(declaration.parameters, prepared, strict=True):
        native = value
        if is_array(value):
            native = brought(value, home, declaration.name)
            if agreed is not None and agreed.is_cast and not p.is_condition:
                native = home.astype(native, _native_dtype(home, agreed.name))
        elif p.role is SEQUENCE:
            native = [brought(a, home, declaration.name) for a in value]
        elif p.role is DTYPE and value is not None:
            native = _native_dtype(home, value)
        elif p.role is WEAK and value is not None:
            native = home.constant(value, agreed.name, declaration.name)  # type: ignore[union-attr]  # there is a scalar: this one
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
    try:
        result = getattr(home, name)(*positional, **keyword)
    except Exception as error:
        explain(error, declaration, home, prepared)
        raise
    return declaration.wrapped(result, home)


def operate(declaration: Declaration, values: Sequence[Any]) -> Any:
    """As `call`, for an operator: NotImplemented if an operand is nothing that it knows."""
    for value in values:
        is_scalar = type(value) in SCALARS or isinstance(value, (int, float, complex))
        if not is_scalar and not is_array(value) and _backend.backend_of_native(value) is None:
            return NotImplemented
        if is_scalar and not declaration.fit.broadcasts:
            raise _errors.ArgumentValueError(f"{declaration.name}: {_diagnosis.WITHOUT_AXES}")
    return call(declaration, values)


def operate_on_no_list(declaration: Declaration, values: Sequence[Any]) -> Any:
    """As `operate`, but of lists not even NotImplemented: one would repeat itself as often as a 0-d Array says."""
    for value in values:
        if type(value) in (list, tuple):
            raise _errors.not_an_array(declaration.name, "the operand", value)
    return operate(declaration, values)


def created(name: str, device: Any, dtype: _dtypes.DType, *args: Any, **kwargs: Any) -> Array:
    """The Array that the native creation function `name` makes on `device`, or where creation runs."""
    home = _choice.chosen_home(device)
    backend = home.backend
    kind = backend.native_dtype(dtype.name)
    return made(getattr(home, name)(*args, dtype=kind, device=backend.native_device, **kwargs), home)


def copied(array: Array) -> Array:
    """An Array of the same values which nothing reaches that is done to the native array of the first.

    Memory that only Arrays can write to is shared, as they copy it first.
    """
    home, native = array._home, array._native
    if home.is_traced(native):
        return wrap(native, home)
    if home.backend.library == "numpy":
        with _ownership.WRITES[id(array) >> 4 & 63]:
            del native
            if _ownership.is_unwritten(array):
                return wrap(array._native, home)
        return made(home.exported(array._native), home)
    return wrap(home.duplicate(native), home)


def is_array(value: Any) -> TypeGuard[Array]:
    """Whether `value` is an Array."""
    return type(value) is scope["Array"]


def _taken(function: str, p: Parameter, value: Any) -> Any:
    """An argument that is no Array as Array, list of Arrays, Python scalar or None, whichever `p` allows."""
    if p.role is SEQUENCE:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise _errors.not_an_array(function, p.name, value)
        return [as_array(function, f"{p.name}[{i}]", one) for i, one in enumerate(value)]
    if value is None and p.is_optional:
        return None
    if p.role is WEAK or p.takes_plain_scalar:
        kind = type(value)
        if kind in (float, complex) and p.annotation.startswith("int"):
            raise _errors.ArgumentTypeError(f"{function}: {p.name} must be an int or an Array, not {value}")
        if kind in SCALARS:
            return value
        for scalar in (bool, int, float, complex):
            # NumPy's float64 is a float by inheritance, but it has a dtype of its own.
            if isinstance(value, scalar) and not isinstance(value, np.generic):
                return scalar(value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # is one already
    return as_array(function, p.name, value)


def as_array(function: str, parameter: str, value: Any) -> Array:
    """An Array of an Array, a native array or a variable, without a copy; only for the time of a call.

    NumPy's arrays are free, those of a framework placed where they are.
    Raises TypeError for anything else.
    """
    if is_array(value):
        return value
    if type(value) is np.ndarray and value.dtype.isnative:  # the most common, in a third of the time
        home = scope["NUMPY"]
        home.dtype(value)
        return arrived(value, home)
    backend = _backend.backend_of_native(value)
    if backend is None:
        raise _errors.not_an_array(function, parameter, value)
    home = backend.free if backend.library == "numpy" else backend.placed
    if type(value) in VARIABLES:
        value = value.value  # pyright: ignore[reportAttributeAccessIssue]  # so it is no ndarray
    native = home.plain(value)
    home.dtype(native)  # raises for dtypes that no Array has
    return wrap(native, home)


def home_of_array(function: str, x: Array) -> Home:
    """Where a call of `function` on this Array runs, if no cost is looked at."""
    here = _choice.current().backend
    # The automatic choice is an object too, but one array stays under it.
    is_chosen = type(here) is _backend.Backend or type(here) is str
    return x._home if not is_chosen or here is x._home.backend else home_of_arrays(function, [x])


def home_of_arrays(function: str, arrays: Sequence[Array]) -> Home:
    """Where a call of `function` on these Arrays runs, if no cost is looked at."""
    return _choice.home_of_call(function, [a._home for a in arrays], _traced_home(arrays))


def _traced_home(arrays: Sequence[Array]) -> Home | None:
    """The home of the traced ones among the Arrays; the innermost of several."""
    traced = [a._home for a in arrays if a._home.is_traced(a._native)]
    return max(traced, key=operator.attrgetter("depth")) if traced else None


def brought(array: Array, home: Home, cause: str, explicit: bool = False) -> Native:
    """The native array of an Array on another home, for the function `cause`.

    What was brought is kept with the Array until that is written, so that a loop does not pay for it again.
    """
    target = home.backend
    source = array._home.backend
    if source is target:
        return array._native
    second = getattr(array, "_second", None)
    if second is not None and second[0] is target and (target.is_deleted is None or not target.is_deleted(second[1])):
        return second[1]
    try:
        way = source.routes[target]
    except KeyError:
        way = _transfer.route(source, target)
    take = way.take
    if take is not None and (way.is_always_safe or second is LENDABLE) and watch() is UNWATCHED:
        # The way of most, without what is asked below.
        native = array._native
        try:
            arrived = take(native, way.device)
        except _transfer.REFUSALS:
            del native  # so that the Array is alone with it
        else:
            if not home.is_traced(arrived):  # which has no value after its trace
                array._second = (target, arrived)
                if array._native is not native:
                    array._second = None  # a thread has written meanwhile
            return arrived
    # What is kept must have the values of the array also if a thread writes meanwhile. Where the source may still be
    # computing, that is not asked under the lock: it may call Python, which may want the lock.
    if source.library == "numpy":
        with _ownership.WRITES[id(array) >> 4 & 63]:
            is_safe = _ownership.is_unwritten(array)
            moved = _transfer.moved(array._native, source, target, cause, explicit=explicit, is_safe=is_safe)
            if moved.lent is not None:
                array._native = moved.lent
            if is_safe:
                _kept.put(array, target, moved.native, moved.shares)
    else:
        native = array._native
        moved = _transfer.moved(native, source, target, cause, explicit=explicit)
        if source.is_immutable:
            _kept.put(array, target, moved.native, moved.shares)
            if array._native is not native:
                _kept.drop(array)
    return moved.native


def read(declaration: Declaration, at: int, value: Any) -> Any:
    """What was given for parameter `at`, which is no array: integers as Python's own, which all libraries take.

    Raises TypeError or ValueError for what the parameter cannot be.
    """
    p = declaration.parameters[at]
    if p.annotation == SHAPE:
        return lengths(declaration.name, p.name, value)
    given = _plain(value) if p.is_integral else value
    _diagnosis.require_plain(declaration.name, p.name, p.annotation, given)
    return given


def lengths(function: str, parameter: str, shape: Any) -> Any:
    """A shape as a tuple of Python's own integers; one integer will do. Raises TypeError."""
    given = _plain(shape)
    if isinstance(given, Iterable) and not isinstance(given, (tuple, str)):
        given = _plain(tuple(given))
    _diagnosis.require_plain(function, parameter, "int | Sequence[int]", given)
    return given if isinstance(given, tuple) else (given,)


def integer(function: str, parameter: str, value: Any) -> int:
    """One integer as Python's own. Raises TypeError."""
    try:
        return operator.index(value)
    except TypeError as error:
        raise _errors.ArgumentTypeError(f"{function}: {parameter} must be an int, not {value!r}") from error


def _plain(value: Any) -> Any:
    """Integers, alone, in sequences or in an array, as Python's own; else what came."""
    if isinstance(value, (np.integer, np.ndarray)) or is_array(value):
        value = value.tolist()
    if isinstance(value, (list, tuple)):  # einops and SciPy pass lists
        return tuple([one if type(one) is int else _plain(one) for one in value])
    return value


scope.update(read=read)


def _native_dtype(home: Home, wanted: Any) -> Any:
    return home.backend.native_dtype(_dtypes.dtype(wanted).name)


def _comparable(operands: Sequence[Any]) -> list[Any]:
    """The operands of a comparison, with infinity for a Python integer that lies beyond all values of the array."""
    comparable = list(operands)
    for i, (one, other) in enumerate(zip(operands, reversed(operands), strict=True)):
        if type(one) is int and is_array(other) and other.dtype.kind in "iu":
            bounds = np.iinfo(other.dtype.dtype)
            if not bounds.min <= one <= bounds.max:
                comparable[i] = math.copysign(math.inf, one)
    return comparable


class _Agreed(NamedTuple):
    """The dtype of the Python scalars of a call, and whether the arrays beside them are cast to it."""

    name: str
    is_cast: bool


def _agreed_dtype(declaration: Declaration, prepared: Sequence[Any]) -> _Agreed | None:
    """The dtype that Python scalars take from the arrays beside them; None if the call has no scalars.

    A condition is not beside them. Without an array, as in `where(condition, 1, 2.5)`, they agree on a default.
    """
    scalars: list[Any] = []
    beside: list[str] = []
    for p, v in zip(declaration.parameters, prepared, strict=True):
        if is_array(v):
            if not p.is_condition and not p.takes_plain_scalar:
                beside.append(v._home.dtype(v._native).name)
        elif p.role is WEAK and v is not None:
            scalars.append(v)
    if not scalars:
        return None
    if not beside:
        return _Agreed(_dtypes.common_default(map(type, scalars)).name, is_cast=False)
    array = _dtypes.result_name(*beside)
    name = _dtypes.beside(array, map(type, scalars))
    return _Agreed(name, is_cast=_dtypes.promoted(name, array) != name)


def _refuse_no_arrays(declaration: Declaration, values: Sequence[Any]) -> None:
    for p, value in zip(declaration.parameters, values, strict=True):
        if p.role is SEQUENCE and not value:
            raise _errors.ArgumentValueError(f"{declaration.name}: {p.name} must hold at least one Array, but is empty")
        if p.role in (ARRAY, WEAK):
            raise _errors.not_an_array(declaration.name, p.name, value)


def explain(error: Exception, declaration: Declaration, home: Home, values: Sequence[Any]) -> None:
    """Raise a clear error from a native one, if the arguments show its cause; else return."""
    if isinstance(error, _errors.AnyarrayError) and not isinstance(error, (TypeError, ValueError)):
        return
    _diagnosis.diagnose_leak(error, declaration.name)
    arguments: dict[str, Any] = {}
    arrays: list[_diagnosis.Input] = []
    for at, (p, value) in enumerate(zip(declaration.parameters, values, strict=True)):
        arguments[p.name] = value
        if p.role is PLAIN:
            try:
                arguments[p.name] = read(declaration, at, value)
            except _errors.AnyarrayError as clear:
                raise clear from None if isinstance(error, _errors.AnyarrayError) else error
        parts = {f"{p.name}[{i}]": one for i, one in enumerate(value)} if p.role is SEQUENCE else {p.name: value}
        for label, one in parts.items():
            if is_array(one):
                its_home = one._home
                shape = tuple(its_home.shape_of(one._native))
                arrays.append(_diagnosis.Input(label, p.words, its_home.dtype(one._native), shape))
            elif p.role is WEAK and type(one) in SCALARS:
                arrays.append(_diagnosis.Input(label, p.words, _dtypes.default(type(one)), ()))
    _diagnosis.diagnose(error, declaration.name, arrays, arguments, declaration.fit)
