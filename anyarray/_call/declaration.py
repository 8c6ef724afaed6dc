"""What a declaration says of a function, in words whose rules stand elsewhere.

It says each fact once, and the rules of each word stand in one place.

`@dispatch` reads the annotations of a function of the standard, and `@declare` those of one that has a body of its own:

    AnyArray                  an array
    AnyArray | complex        an array or a Python scalar, which takes its dtype from the arrays beside it
    int | AnyArray            a Python scalar as it is, or an array
    AnyArray | None           an array or None; `AnyArray | float | None` likewise
    *arrays: AnyArray         any number of arrays
    Sequence[AnyArray]        a list of arrays, or the like
    DTypeLike | None          a dtype: becomes the library's
    Shape                     a tuple of ints, also of one int
    all others                passed on as they are

Beside them they are told in words

    NAME      for a parameter that is an array, the dtypes that the standard allows: `diagnosis.ACCEPTED`; any
    cost      what a call costs: `_choice.cost.COSTS`; without one, calls stay where their inputs are, see
              `_choice.cost.classify`
    alike     the function of the same cost that takes as long, so that this one is not measured
    timed     the inputs with which it is measured, if they do not follow from the parameters: `TIMED`
    fit       how shapes must fit: `diagnosis.FITS`; they broadcast if a Python scalar may be one of the arrays
    batch     how it is called for all elements of a batch: `batching.RULES`; elementwise if shapes broadcast, or if it
              costs what such functions do, else not at all
    promotion what its arrays become: `_base.dtypes.PROMOTIONS`; for floating-point functions floats, elementwise ones
              narrow where the integers are, for others their common dtype
    scalars   what Python scalars are to it: `SCALARS_ARE`
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final, TypeVar, overload

from anyarray._base import dtypes
from anyarray._call import batching, diagnosis
from anyarray._choice import cost
from anyarray._registry import home
from anyarray._registry.home import Operands

F = TypeVar("F", bound=Callable[..., Any])

ARRAY, WEAK, SEQUENCE, DTYPE, PLAIN = "array", "weak", "sequence", "dtype", "plain"
SHAPE: Final = "Shape"

SCALARS_ARE: Final = ("promoted", "compared", "exponent")
"""What Python scalars may be to a function: they take a dtype as the standard says; also, integers beyond all values of
that dtype count as infinity; or, other functions stand for it by some of them, which are `_registry.home.POWERS`.
"""

TIMED: Final = ("half a spectrum", "numbers beyond one", "shifts", "truths")
"""Inputs that a function is measured with, if they do not follow from its declaration; made by `_calibration.cells`."""


_INTEGERS: Final = frozenset({SHAPE, *diagnosis.INTEGERS})


class Parameter:
    """A parameter of a declared function, as dispatch sees it."""

    __slots__ = (
        "annotation",
        "choices",
        "is_condition",
        "is_flag",
        "is_integral",
        "is_keyword",
        "is_number",
        "is_optional",
        "is_read",
        "is_variadic",
        "name",
        "role",
        "takes_integer",
        "takes_integers",
        "takes_plain_scalar",
        "words",
    )

    def __init__(self, name: str, annotation: str, words: str, *, is_keyword: bool, is_variadic: bool) -> None:
        self.name = name
        self.annotation = annotation
        union = [part.strip() for part in self.annotation.split("|")]
        self.words = words
        self.is_keyword = is_keyword
        self.is_variadic = is_variadic
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
        self.is_integral = self.role is PLAIN and not _INTEGERS.isdisjoint(union)
        """Whether it is an integer, or several."""
        self.takes_integer = self.is_integral and self.annotation.startswith("int")
        """Whether one integer will do."""
        self.takes_integers = self.is_integral and (
            self.annotation == SHAPE or ("[int" in self.annotation and "[Sequence" not in self.annotation)
        )
        """Whether a tuple of them will."""
        self.is_flag = self.role is PLAIN and "bool" in union
        """Whether it is a bool, for which an integer will do."""
        self.is_number = self.role is PLAIN and union == ["float"]
        """Whether it is a number, for which NumPy's and an Array without axes will do."""
        self.choices = diagnosis.words(self.annotation) if self.annotation.startswith("Literal") else []
        """The words that it may be, in quotes."""
        self.is_read = self.is_integral or self.is_flag or self.is_number or bool(self.choices)
        # What `where` chooses by and what `searchsorted` sorts by: no dtype follows from them.
        self.is_condition = self.role is ARRAY and (words == "boolean" or (words == "integer" and self.is_optional))


class Declaration:
    """A declared function, or an operator of Array that stands for one."""

    __slots__ = (
        "alike", "axis_at", "batch", "cost", "fit", "function", "is_comparison", "is_positional", "is_power",
        "is_reflected", "mirror", "name", "of_ndarrays", "parameters", "promotion", "result", "result_class",
        "taken_at", "timed",
    )  # fmt: skip

    def __init__(self, function: Callable[..., Any], words: dict[str, str]) -> None:
        self.function = function
        """What users call."""
        self.is_reflected = False
        """Whether its operands are written in the other order than the native function takes them."""
        self.mirror: Callable[..., Any]
        """The body that takes the right operand first, if it has one."""
        self.of_ndarrays: Callable[..., Any]
        """The body for ndarrays, if it has one."""
        self.name = function.__name__
        annotations = function.__annotations__
        body = inspect.unwrap(function)
        self.result = str(annotations.get("return", ""))
        self.result_class: Any = tuple if self.result.startswith("tuple[") else body.__globals__.get(self.result)
        words = dict(words)
        self.parameters = [
            Parameter(
                name,
                str(annotations.get(name, "")),
                self._word(name, words, diagnosis.ACCEPTED, "any"),
                is_keyword=is_keyword,
                is_variadic=is_variadic,
            )
            for name, is_keyword, is_variadic in _names_of(body)
        ]
        self.cost = self._word("cost", words, cost.COSTS)
        row = cost.CLASSES.get(self.cost)
        self.axis_at = [p.name for p in self.parameters].index("axis") if row and row.is_by_axis else None
        """The place of `axis`, if it counts for the time of a call."""
        self.alike = words.pop("alike", "")
        self.timed = self._word("timed", words, TIMED)
        is_for_scalars = any(p.role is WEAK for p in self.parameters)
        self.fit = diagnosis.FITS[self._word("fit", words, diagnosis.FITS, "broadcast" if is_for_scalars else "any")]
        """How shapes and axes must fit."""
        is_elementwise = self.fit.broadcasts or (row is not None and row.is_elementwise)
        self.batch = self._word("batch", words, batching.RULES, "elementwise" if is_elementwise else "")
        operands = [p for p in self.parameters if p.role in (ARRAY, WEAK, SEQUENCE) and not p.is_condition]
        is_floating = bool(operands) and operands[0].words in ("floating-point", "real floating-point")
        usual = ("floats" if self.batch == "elementwise" else "wide floats") if is_floating else "common"
        self.promotion = self._word("promotion", words, dtypes.PROMOTIONS, usual)
        scalars = self._word("scalars", words, SCALARS_ARE, "promoted")
        self.is_comparison, self.is_power = scalars == "compared", scalars == "exponent"
        if words:
            raise ValueError(f"{self.name}: there is no parameter {', '.join(words)}")

    def _word(self, what: str, words: dict[str, str], known: Collection[str], usual: str = "") -> str:
        """The word for something.

        Raises ValueError for one that nobody knows.
        """
        word = words.pop(what, usual)
        if word and word not in known:
            raise ValueError(f"{self.name}: {what} {word!r} is unknown. Known: {', '.join(known)}")
        return word

    def operator(self, method: Callable[..., Any], *, is_reflected: bool) -> Declaration:
        """The same of a method of Array that stands for the function.

        Its own are the names and types of its parameters, and the order of operands.
        """
        found = Declaration(method, {})
        found.name, found.fit = self.name, self.fit
        found.is_comparison, found.is_power = self.is_comparison, self.is_power
        found.promotion = self.promotion
        for parameter, its in zip(found.parameters, self.parameters, strict=True):
            parameter.words = its.words
            if parameter.name == "self":
                parameter.role = WEAK
        if is_reflected:
            # The native function gets the operands in the order in which they were in the expression.
            found.parameters.reverse()
            found.is_reflected = True
        return found

    @property
    def has_mirror(self) -> bool:
        """Whether it is a function of two operands that may be scalars.

        With an Array on the right alone, `mirror` stands for it, with its operands the other way round.
        """
        return [p.role for p in self.parameters] == [WEAK, WEAK] and all(p.name != "self" for p in self.parameters)

    @property
    def takes_ndarrays(self) -> bool:
        """Whether `of_ndarrays` stands for it beside an ndarray.

        Python asks another way for operators, and tuples of results are made another way.
        """
        return self.result == "Array" and not self.is_reflected and all(p.name != "self" for p in self.parameters)

    @property
    def gives_new_memory(self) -> bool:
        """Whether no result of two arrays is a view of one of them."""
        return self.fit.broadcasts or self.multiplies

    @property
    def multiplies(self) -> bool:
        """Whether it is a product of matrices."""
        return self.fit is diagnosis.FITS["product"]

    def mirrored(self) -> Declaration:
        """The same with its operands written the other way round."""
        found = copy.copy(self)
        found.function = inspect.unwrap(self.function)
        found.is_reflected = True
        return found

    def spread(self, operands: Operands | None = None) -> None:
        """Let all know the function who look for it by its name."""
        declarations[self.name] = self
        home.declare(self.name, operands)
        if self.cost:
            cost.classify(self.name, self.cost)
        if self.batch:
            batching.rule_of[self.name] = batching.RULES[self.batch]

    def settle(self, body: Callable[..., Any]) -> None:
        """Note the body, once the parameters are what they will be."""
        self.function = body
        self.taken_at = [at for at, p in enumerate(self.parameters) if p.role in (ARRAY, WEAK, SEQUENCE)]
        """The places of parameters that are arrays."""
        self.is_positional = not any(p.is_keyword or p.is_variadic for p in self.parameters)
        """Whether values in the order of the parameters can be handed on as they are."""

    @property
    def written(self) -> list[Parameter]:
        """The parameters in the order in which they were written."""
        return self.parameters[::-1] if self.is_reflected else self.parameters

    def called(self, values: Sequence[Any]) -> Any:
        """What the body gives for values in the order of the parameters."""
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
        """Arrays that promote, if any: the first and those of its words."""
        arrays = [p for p in self.parameters if p.role in (ARRAY, WEAK, SEQUENCE) and not p.is_condition]
        if not arrays or arrays[0].is_variadic:
            return None  # they are bools, or each keeps its dtype
        first = arrays[0]
        places = [p.name if p.is_keyword else at for at, p in enumerate(self.parameters) if p in arrays]
        agreeing = [at for at, p in zip(places, arrays, strict=True) if p.words == first.words]
        return Operands(tuple(agreeing), first.role is SEQUENCE, self.promotion, self.is_comparison)


def _names_of(function: Callable[..., Any]) -> Iterator[tuple[str, bool, bool]]:
    """Names of parameters in order; whether they are keyword-only, variadic.

    A signature would take 5 ms more at import.
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
    """Say of a function with its own body what `@dispatch` says of others."""

    def decorated(function: F) -> F:
        Declaration(function, words).spread()
        return function

    return decorated if function is None else decorated(function)
