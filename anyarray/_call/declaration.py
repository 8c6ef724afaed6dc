"""What a declaration says of a function: annotations, and options in words.

Each fact is declared once. What a word means is defined in one table, which is named below.

`@dispatch` reads the annotations of a function of the standard, and `@declare` those of one that has a body of its own:

    AnyArray                  an array
    AnyArray | complex        an array or a weak Python scalar, which takes its dtype from the other operand
    int | AnyArray            a Python scalar, passed as it is, or an array
    AnyArray | None           an array or None; `AnyArray | float | None` likewise
    *arrays: AnyArray         any number of arrays
    Sequence[AnyArray]        a list or tuple of arrays
    DTypeLike | None          a dtype: becomes the library's
    Shape                     a tuple of ints, or one int
    all others                passed on as they are

The decorators' options are

    NAME      for an array parameter of that name, the dtypes that the standard allows: `diagnosis.ACCEPTED`;
              default "any"
    cost      the cost class of a call: `_choice.cost.COSTS`; without one, calls run where their inputs are, see
              `_choice.cost.classify`
    alike     a function of the same cost class that takes as long, so that this one is not measured
    timed     the inputs with which it is measured, if they do not follow from the parameters: `TIMED`
    fit       how shapes must fit: `fits.FITS`; default "broadcast" if a parameter may be a weak scalar, else "any"
    batch     its batching rule: `batching_rules.RULES`; default "elementwise" if shapes broadcast or the cost class is
              an elementwise one, else none
    promotion the dtype to which its arrays are promoted: `_base.dtypes.PROMOTIONS`; default "floats" for elementwise
              floating-point functions, "wide floats" for other floating-point functions, else "common"
    scalars   how it treats weak scalars: `SCALARS_ARE`
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final, Literal, TypeVar, overload

from anyarray._base import dtypes
from anyarray._call import diagnosis
from anyarray._call.batching import rule_of
from anyarray._call.batching_rules import RULES
from anyarray._call.fits import FITS
from anyarray._choice import cost
from anyarray._memory import views
from anyarray._registry import home
from anyarray._registry.home import Operands

F = TypeVar("F", bound=Callable[..., Any])

ARRAY, WEAK, SEQUENCE, DTYPE, PLAIN = "array", "weak", "sequence", "dtype", "plain"
SHAPE: Final = "Shape"
_OF_SELF: Final = "AnyArray | complex"
"""What stands for the annotation of `self` in methods of Array: an operand."""

SCALARS_ARE: Final = ("promoted", "compared", "exponent")
"""How a function treats weak scalars: they take a dtype as the standard says; "compared", and integers that this dtype
cannot hold count as infinity; "exponent", and the function is replaced for those in `_registry.home.POWERS`.
"""

TIMED: Final = ("half a spectrum", "numbers beyond one", "shifts", "truths")
"""Inputs with which a function is measured, if they do not follow from its declaration; see `_calibration.cells`."""


_INTEGERS: Final = frozenset({SHAPE, *diagnosis.INTEGERS})


class Parameter:
    """A parameter of a declared function, as dispatch sees it."""

    __slots__ = (
        "annotation", "choices", "is_condition", "is_flag", "is_integral", "is_keyword", "is_number", "is_optional",
        "is_read", "is_variadic", "name", "role", "takes_integer", "takes_integers", "takes_plain_scalar", "words",
    )  # fmt: skip

    role: str
    is_optional: bool
    takes_plain_scalar: bool
    is_integral: bool
    """Whether it is an integer, or a sequence of them."""
    takes_integer: bool
    """Whether it may be one integer."""
    takes_integers: bool
    """Whether it may be a tuple of integers."""
    is_flag: bool
    """Whether it is a bool; integers are converted."""
    is_number: bool
    """Whether it is a number; NumPy scalars and 0-d arrays are converted."""
    choices: Sequence[str]
    """The strings that it may be, in quotes."""
    is_read: bool
    """Whether `arguments.convert_argument` checks and converts it."""

    def __init__(self, name: str, annotation: str, words: str, is_keyword: bool, is_variadic: bool) -> None:
        self.name = name
        self.annotation = annotation
        self.words = words
        self.is_keyword = is_keyword
        self.is_variadic = is_variadic
        for attribute, value in _meaning(annotation, is_variadic):
            setattr(self, attribute, value)
        # Such as the condition of `where` and the sorter of `searchsorted`, which take no part in promotion.
        self.is_condition = self.role is ARRAY and (words == "boolean" or (words == "integer" and self.is_optional))


_parameter: Final = functools.cache(Parameter)
"""A parameter, shared by the functions that have it: two thirds of all are one of ten."""


@functools.cache
def _meaning(annotation: str, is_variadic: bool) -> Collection[tuple[str, Any]]:
    """The attributes of a parameter that follow from its annotation."""
    union = [part.strip() for part in annotation.split("|")]
    takes_plain_scalar = "AnyArray" in union and union[0] in ("int", "float")
    if "Sequence[AnyArray]" in union or (is_variadic and union == ["AnyArray"]):
        role = SEQUENCE
    elif "AnyArray" in union:
        role = ARRAY if takes_plain_scalar or {"bool", "int", "float", "complex"}.isdisjoint(union) else WEAK
    else:
        role = DTYPE if "DTypeLike" in union else PLAIN
    is_plain = role is PLAIN
    is_integral = is_plain and not _INTEGERS.isdisjoint(union)
    is_flag, is_number = is_plain and "bool" in union, is_plain and union == ["float"]
    choices = diagnosis.literal_values(annotation) if annotation.startswith("Literal") else ()
    has_integers = annotation == SHAPE or ("[int" in annotation and "[Sequence" not in annotation)
    return {
        "role": role,
        "is_optional": "None" in union,
        "takes_plain_scalar": takes_plain_scalar,
        "is_integral": is_integral,
        "takes_integer": is_integral and annotation.startswith("int"),
        "takes_integers": is_integral and has_integers,
        "is_flag": is_flag,
        "is_number": is_number,
        "choices": choices,
        "is_read": is_integral or is_flag or is_number or bool(choices),
    }.items()


class Declaration:
    """A declared function, or an operator of Array that one implements."""

    __slots__ = (
        "alike", "array_positions", "axis_at", "batch", "cost", "fit", "function", "gives_views", "is_comparison",
        "is_positional",
        "is_power", "is_reflected", "name", "orders_complex", "parameters", "promotion",
        "read_positions", "result", "result_class", "timed", "weak_positions",
    )  # fmt: skip

    def __init__(self, function: Callable[..., Any], words: dict[str, str]) -> None:
        self.function = function
        """The function that users call."""
        self.is_reflected = False
        """Whether its operands come in the reverse order of the native function's, as those of `__radd__`."""
        self.orders_complex = False
        """Whether its slow path takes complex numbers, which backends refuse to put in an order."""
        self.name = function.__name__
        self.gives_views = self.name in views.SELECTIONS or self.name in ("unstack", "broadcast_arrays")
        """Whether its results are views of its arguments where NumPy's are."""
        annotations = function.__annotations__
        body = inspect.unwrap(function)
        self.result = str(annotations.get("return", ""))
        self.result_class: Any = tuple if self.result.startswith("tuple[") else body.__globals__.get(self.result)
        words = dict(words)
        self.parameters = [
            _parameter(
                name,
                _OF_SELF if name == "self" else _written_out(str(annotations.get(name, "")), body.__globals__),
                self._word(name, words, diagnosis.ACCEPTED, "any"),
                is_keyword,
                is_variadic,
            )
            for name, is_keyword, is_variadic in _names_of(body)
        ]
        self.cost = self._word("cost", words, cost.COSTS)
        row = cost.CLASSES.get(self.cost)
        self.axis_at = [p.name for p in self.parameters].index("axis") if row and row.is_by_axis else None
        """The position of `axis`, if the time of a call depends on it."""
        self.alike = words.pop("alike", "")
        self.timed = self._word("timed", words, TIMED)
        is_for_scalars = any(p.role is WEAK for p in self.parameters)
        self.fit = FITS[self._word("fit", words, FITS, "broadcast" if is_for_scalars else "any")]
        """The rule by which shapes and axes must fit."""
        is_elementwise = self.fit.broadcasts or (row is not None and row.is_elementwise)
        self.batch = self._word("batch", words, RULES, "elementwise" if is_elementwise else "")
        operands = [p for p in self.parameters if p.role in (ARRAY, WEAK, SEQUENCE) and not p.is_condition]
        is_floating = bool(operands) and operands[0].words in ("floating-point", "real floating-point")
        usual = ("floats" if self.batch == "elementwise" else "wide floats") if is_floating else "common"
        self.promotion = self._word("promotion", words, dtypes.PROMOTIONS, usual)
        scalars = self._word("scalars", words, SCALARS_ARE, "promoted")
        self.is_comparison, self.is_power = scalars == "compared", scalars == "exponent"
        if words:
            raise ValueError(f"{self.name}: there is no parameter {', '.join(words)}")

    def _word(self, what: str, words: dict[str, str], known: Collection[str], usual: str = "") -> str:
        """Pop the option `what` from `words`.

        Raises ValueError for a word that is not in `known`.
        """
        word = words.pop(what, usual)
        if word and word not in known:
            raise ValueError(f"{self.name}: {what} {word!r} is unknown. Known: {', '.join(known)}")
        return word

    def operator(self, method: Callable[..., Any], *, is_reflected: bool) -> Declaration:
        """The declaration of a method of Array that implements an operator.

        It differs in the names and types of its parameters, and in the order of operands.
        """
        own = method.__code__.co_varnames
        found = Declaration(method, {name: p.words for name, p in zip(own, self.parameters, strict=False)})
        found.name, found.fit = self.name, self.fit
        found.is_comparison, found.is_power = self.is_comparison, self.is_power
        found.promotion, found.batch = self.promotion, self.batch
        if is_reflected:
            # The native function gets the operands in the order of the expression: `1 - x` is `subtract(1, x)`.
            found.parameters.reverse()
            found.is_reflected = True
        return found

    @property
    def takes_ndarrays(self) -> bool:
        """Whether its compiled call takes few elements in ndarrays.

        Not for operators, which Python calls by NumPy's protocols, nor for functions that return a tuple.
        """
        return self.result == "Array" and not self.is_reflected and all(p.name != "self" for p in self.parameters)

    @property
    def gives_new_memory(self) -> bool:
        """Whether the result for two arrays is never a view of one of them."""
        return self.fit.broadcasts or self.multiplies

    @property
    def multiplies(self) -> bool:
        """Whether it is a matrix product."""
        return self.fit is FITS["product"]

    def register(self, operands: Operands | None = None) -> None:
        """Add the function to the lookup tables of functions by name."""
        declarations[self.name] = self
        home.declare(self.name, operands)
        if self.cost:
            cost.classify(self.name, self.cost)
        if self.batch:
            rule_of[self.name] = RULES[self.batch]

    def set_body(self, body: Callable[..., Any]) -> None:
        """Set the body, after the last change of the parameters."""
        self.function = body
        self.array_positions = [at for at, p in enumerate(self.parameters) if p.role in (ARRAY, WEAK, SEQUENCE)]
        """The positions of array parameters."""
        self.weak_positions = [at for at in self.array_positions if self.parameters[at].role is WEAK]
        """Those that may be Python scalars which take the dtype of the arrays."""
        self.read_positions = [at for at, p in enumerate(self.parameters) if p.is_read]
        """The positions of parameters that are checked and converted."""
        self.is_positional = not any(p.is_keyword or p.is_variadic for p in self.parameters)
        """Whether `call` can pass all values by position."""

    def arrays_of(self, values: Sequence[Any]) -> list[Any]:
        """The Arrays among the values of its parameters."""
        given = [values[at] for at in self.array_positions]
        return [one for value in given for one in (value if isinstance(value, list) else [value])]

    @property
    def written(self) -> list[Parameter]:
        """The parameters in the order in which they were written."""
        return self.parameters[::-1] if self.is_reflected else self.parameters

    def call(self, values: Sequence[Any]) -> Any:
        """Call the body with values in the order of the parameters."""
        if self.is_reflected:
            return self.function(*values[::-1])
        if self.is_positional:
            return self.function(*values)
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
        """The arrays that promote together: the first, and those like it."""
        arrays = [p for p in self.parameters if p.role in (ARRAY, WEAK, SEQUENCE) and not p.is_condition]
        if not arrays or arrays[0].is_variadic:
            return None  # each keeps its dtype, as those of `meshgrid`
        first = arrays[0]
        places = [p.name if p.is_keyword else at for at, p in enumerate(self.parameters) if p in arrays]
        agreeing = [at for at, p in zip(places, arrays, strict=True) if p.words == first.words]
        return Operands(tuple(agreeing), first.role is SEQUENCE, self.promotion, self.is_comparison)


def _written_out(annotation: str, names: dict[str, Any]) -> str:
    """An annotation; for the name of a `Literal`, that."""
    meant = names.get(annotation)
    return str(meant).removeprefix("typing.") if getattr(meant, "__origin__", None) is Literal else annotation


def _names_of(function: Callable[..., Any]) -> Iterator[tuple[str, bool, bool]]:
    """Names of parameters in order; whether they are keyword-only, variadic.

    `inspect.signature` would take 5 ms more at import.
    """
    code = function.__code__
    names, least, most = code.co_varnames, code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    for name in names[:least]:
        yield name, False, False
    if code.co_flags & inspect.CO_VARARGS:
        yield names[most], False, True
    for name in names[least:most]:
        yield name, True, False


declarations: Final[dict[str, Declaration]] = {}
"""All functions that were declared, by name."""


@overload
def declare(function: F, /) -> F: ...
@overload
def declare(**words: str) -> Callable[[F], F]: ...
def declare(function: F | None = None, /, **words: str) -> F | Callable[[F], F]:
    """Declare a function that has its own body; options as for `@dispatch`."""

    def decorated(function: F) -> F:
        Declaration(function, words).register()
        return function

    return decorated if function is None else decorated(function)
