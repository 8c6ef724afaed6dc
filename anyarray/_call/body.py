"""The source text of the bodies that `@dispatch` generates from declarations.

The fast path is for the common call: Arrays that all live where the call runs. It unwraps, calls the native function,
wraps. Everything else goes to `slow`, the slow path: `slow_path.call` or, for an operator, `operators.operate` or what
`operators.SLOW_PATHS` has for it. The globals of the text are `wrapping.body_globals`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType
from typing import Any, Final

from anyarray._base import extension
from anyarray._call import by_position
from anyarray._call.declaration import ARRAY, DTYPE, SEQUENCE, WEAK, Declaration, Parameter

FUNCTION, NATIVE = "FUNCTION", "NATIVE"
"""Placeholders in a generated text for the names of the function and of the native function."""


OPERATORS: Final = {
    "add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "divide": "{} / {}", "floor_divide": "{} // {}",
    "remainder": "{} % {}", "bitwise_and": "{} & {}", "bitwise_or": "{} | {}", "bitwise_xor": "{} ^ {}",
    "bitwise_left_shift": "{} << {}", "bitwise_right_shift": "{} >> {}", "negative": "-{}", "positive": "+{}",
    "abs": "abs({})", "bitwise_invert": "~{}", "equal": "{} == {}", "not_equal": "{} != {}", "less": "{} < {}",
    "less_equal": "{} <= {}", "greater": "{} > {}", "greater_equal": "{} >= {}",
}  # fmt: skip
"""Functions with a Python operator that NumPy's scalars have, too: it takes a tenth of the time of the ufunc.

It warns as it does of scalars, which is of integers that overflow, too. Not `**`: its floats are not those of the ufunc
to the bit. `_speedups/entry/call.c` repeats them.
"""


@functools.cache
def code(form: str) -> CodeType:
    """The code object of a text, shared by functions that differ only in name.

    Four of five functions share one, which saves 20 ms at import.
    """
    return compile(form, "<anyarray>", "exec")


def source(declaration: Declaration, function: Callable[..., Any]) -> str:
    """The text of the body of a declared function, with placeholders.

    First comes the fast path, then the slow.
    """
    values = "(" + "".join(f"{p.name}, " for p in declaration.parameters) + ")"
    slow = f"return slow(declaration, {values})"
    parameters = by_position.text_of_parameters(function)
    if declaration.is_reflected:
        parameters = f"({', '.join(p.name for p in declaration.written)}, /)"
    lines = [f"def {FUNCTION}{parameters}:"]
    if by_position.options_of(function):
        lines += ["    if excess:", "        refuse(declaration.function, excess)"]
    if not (declaration.is_reflected or by_position.is_operator(function)):
        lines += ["    if unknown:", "        refuse_names(declaration.function, unknown)"]
    if function.__name__ in by_position.NEEDED:
        lines += [f"    if {declaration.written[-1].name} is missing:", "        refuse_absence(declaration.function)"]
    for other, ours in by_position.SYNONYMS.get(function.__name__, {}).items():
        lines += [f"    if {other} is not None:", f"        {ours} = one_of(declaration.function, {ours}, {other})"]
    arrays = [p for p in declaration.written if p.role in (ARRAY, WEAK, SEQUENCE)]
    is_joining = [p.role for p in arrays] == [SEQUENCE]
    if not (is_joining or (arrays and all(p.role is not SEQUENCE for p in arrays))):
        lines.append(f"    {slow}")
    else:
        first = arrays[0]
        is_method = first.name == "self"
        lines += _prologue_of_sequence(first.name) if is_joining else _prologue(first.name, is_method=is_method)
        lines += ["            if backend is None or backend is home.backend:"]
        lines += [f"                {line}" for line in _common_call(declaration, arrays, slow, values)]
        # This condition is evaluated before the call (the `while` loop runs again), but its line stands below the call:
        # each op of TensorFlow walks the line table of every frame down to its current line, so a condition of this
        # length above the call would cost 0.4 us.
        settled = _is_settled_for_joining(first) if is_joining else _is_settled(declaration, arrays)
        lines += [
            f"            if not ({settled}):",
            "                break",
            "            backend = None",
        ]
        if declaration.has_mirror and not declaration.is_reflected:
            left, right = (p.name for p in arrays)
            lines += [
                f"    elif type({right}) is Array and type({left}) in OPERANDS:",
                f"        return declaration.mirror({right}, {left})",
            ]
        lines.append(f"    {slow}")
    return _factory(lines)


def _factory(lines: list[str]) -> str:
    """The text of a function that makes the body as a closure."""
    indented = "".join(f"    {line}\n" for line in lines)
    return f"def make(declaration, slow, explain, native_dtype, limit):\n{indented}    return {FUNCTION}\n"


def _prologue(first: str, *, is_method: bool) -> list[str]:
    """The lines before the common call of a function of arrays.

    They check the class of the first array, but not that of a method's `self`.
    """
    home = f"        home = {first}._home"
    if is_method:
        lines = [
            "    try:",
            home,
            "    except AttributeError:",
            "        pass  # an unbound method, called with another class",
            "    else:",
        ]
    else:
        lines = [f"    if type({first}) is Array:", home]
    return [*lines, "        backend = current().backend", "        while True:"]


def _prologue_of_sequence(name: str) -> list[str]:
    """As `_prologue`, for a sequence of arrays that all live on one home."""
    return [
        f"    if type({name}) in LISTS and {name} and type({name}[0]) is Array:",
        f"        home = {name}[0]._home",
        "        backend = current().backend",
        f"        {name}_ = [one._native for one in {name} if type(one) is Array and one._home is home]",
        f"        while len({name}_) == len({name}):",
    ]


def _common_call(declaration: Declaration, arrays: list[Parameter], slow: str, values: str) -> list[str]:
    """The lines of the call on the home of the first array."""
    first = arrays[0]
    lines: list[str] = []
    if first.role is not SEQUENCE:
        # Not earlier: a local variable would be one more reference when the slow path transfers the array.
        lines.append(f"{first.name}_ = {first.name}._native")
    for p in arrays[1:]:
        lines += [
            f"kind = type({p.name})",
            f"if kind is Array and {p.name}._home is home:",
            f"    {p.name}_ = {p.name}._native",
        ]
        if len(arrays) == 2 and declaration.gives_new_memory:
            lines += [
                f"elif kind in NUMPYS and home is NUMPY and {p.name}.dtype in home.dtypes:",
                f"    {p.name}_ = {p.name}",
            ]
        # A Python scalar takes the dtype of the first array that is no condition: in `where`, that of the other choice.
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
                    *[f"            {line}" for line in _explained(values)],
                    "            result._home = home",
                    "            return result",
                ]
            lines += _constant(p, dtype, slow, f"{first.name}_" if operation(declaration) else "")
            if beside is not first:
                lines += [
                    f"elif kind in SCALARS and type({beside.name}) in SCALARS:",
                    "    try:",
                    f"        {p.name}_ = scalar_beside(home, {p.name}, {beside.name})",
                    "    except OverflowError:",
                    f"        {slow}",
                ]
        lines += _remaining_branches(p, slow)
    return lines + _native_call(declaration, values)


# `native_scalar` in `_speedups/entry/functions.c` repeats this.
def _constant(p: Parameter, dtype: str, slow: str, scalar: str = "") -> list[str]:
    """The lines that convert a Python scalar to a 0-d array of this dtype.

    If the other operand, `scalar`, is a scalar of NumPy that takes it, it becomes one, too.
    """
    constant = f"home.constants[{p.name} or zero({p.name}), kind, {dtype}]"
    if scalar:
        own = f"type({scalar})"
        constant = f"{own}({p.name}) if {own} in REAL_NUMBERS and kind in REAL_NUMBERS[{own}] else {constant}"
    return [
        "    try:",
        f"        {p.name}_ = {constant}",
        "    except SCALAR_DOES_NOT_FIT:",
        f"        {slow}",
    ]


def _remaining_branches(p: Parameter, slow: str) -> list[str]:
    """The last branches for an array argument: scalar, None, slow path."""
    lines: list[str] = []
    if p.takes_plain_scalar:
        is_scalar = "kind is int" if p.annotation.startswith("int") else "kind in SCALARS"
        lines += [f"elif {is_scalar}:", f"    {p.name}_ = {p.name}"]
    if p.is_optional:
        lines += [f"elif {p.name} is None:", f"    {p.name}_ = None"]
    return [*lines, "else:", f"    {slow}"]


def _native_call(declaration: Declaration, values: str) -> list[str]:
    """The lines that call the native function and wrap its result."""
    lines = [
        # Not `home.NAME(...)`: Python 3.11 looks that up as a method, slowly.
        f"{NATIVE} = home.{NATIVE}",
        *(["result = new()"] if declaration.result == "Array" else []),
        "try:",
        *_conversions(declaration),
        f"    {'result._native' if declaration.result == 'Array' else 'native'} = {_value(declaration)}",
        "except Exception as error:",
        *_explained(values),
    ]
    if declaration.result != "Array":
        lines.append("result = wrap_result(declaration, native, home)")
    else:
        lines.append("result._home = home")
    if declaration.batch == "elementwise" and declaration.result == "Array" and extension.speedups is None:
        lines.append(f"keep_order(({''.join(f'{p.name}, ' for p in declaration.parameters)}), result)")
    if declaration.gives_views:
        read = "".join(f"{p.name}_, " if p.is_read else f"{p.name}, " for p in declaration.parameters)
        lines.append(f"record_views(declaration, ({read}), result)")
    return [*lines, "return result"]


def _explained(values: str) -> list[str]:
    """The lines in `except Exception as error` around a native call."""
    return [
        f"    if explain(error, declaration, {values}):",
        f"        return slow(declaration, {values})",
        "    raise",
    ]


def _value(declaration: Declaration) -> str:
    """The native call, or an operator of NumPy's scalars, as an expression."""
    call = f"{NATIVE}({_arguments(declaration)})"
    operator = operation(declaration)
    if operator is None:
        return call
    operands = [_argument(p) for p in declaration.parameters]
    is_usual = " or ".join([f"type({one}) not in REAL_NUMBERS" for one in operands])
    return f"{call} if {is_usual} else {operator.format(*operands)}"


def operation(declaration: Declaration) -> str | None:
    """The expression of a method of Array that scalars of NumPy have, too."""
    is_method = any(p.name == "self" for p in declaration.parameters)
    return OPERATORS.get(declaration.name) if is_method else None


def _conversions(declaration: Declaration) -> list[str]:
    """The lines that check and convert the arguments that are no arrays."""
    return [f"    {_conversion(p, at)}" for at, p in enumerate(declaration.parameters) if p.is_read]


# `takes_value` in `_speedups/entry/arguments.c` repeats this.
def _conversion(p: Parameter, at: int) -> str:
    """The line that converts an integer, a bool, a number or a string.

    A value of the usual class is used as it is, without a function call.
    """
    usual = [f"{p.name} is None"] if p.is_optional else []
    if p.takes_integer:
        usual.append(f"type({p.name}) is int")
    if p.takes_integers:
        # The sum is an int if all elements are: 45 ns, a quarter of the time of a check of each.
        usual.append(f"isinstance({p.name}, tuple) and type(sum_of({p.name})) is int")
    if p.is_flag:
        usual.append(f"type({p.name}) is bool")
    if p.is_number:
        usual.append(f"type({p.name}) in REAL")
    if p.choices:
        usual.append(f"{p.name} in ({', '.join(p.choices)})")
    return f"{p.name}_ = {p.name} if {' or '.join(usual)} else convert_argument(declaration, {at}, {p.name})"


# `is_settled` in `_speedups/entry/functions.c` repeats this.
def _is_settled(declaration: Declaration, arrays: list[Parameter]) -> str:
    """The condition under which the automatic choice has nothing to decide.

    The first array is placed; or all are on NumPy, and the call is smaller than the limit. The size of a call of arrays
    of different shapes, or of a matrix product, is at most the product of their sizes.
    """
    first, *others = (p.name for p in arrays)
    small = f"(elements := {first}._native.size) < limit.even"
    for name in others:
        native = f"getattr({name}, '_native', {name})"  # no variable: it would be one more reference to a shared memory
        even = "" if declaration.multiplies else f" or {native}.shape == {first}._native.shape"
        small += (
            f" and (type({name}) is not Array and type({name}) is not ndarray"
            f" or getattr({name}, '_home', home) is home and (elements * {native}.size < limit.product{even}))"
        )
    return f"backend is BY_COST and (home is NUMPY and {small} or home.placed)"


def _is_settled_for_joining(joined: Parameter) -> str:
    """As `_is_settled`, for a function that joins or broadcasts a sequence."""
    name, total = joined.name, "prod" if joined.is_variadic else "sum"
    small = f"{total}(map(size_of, {name}_)) < limit.elements"
    return f"backend is BY_COST and (home is NUMPY and {small} or home.placed)"


def _arguments(declaration: Declaration) -> str:
    """The arguments that the generated body passes to the native function."""
    return ", ".join(_argument(p) for p in declaration.parameters)


def _argument(p: Parameter) -> str:
    """The expression that the generated body passes for parameter `p`."""
    value = f"{p.name}_" if p.role in (ARRAY, WEAK, SEQUENCE) or p.is_read else p.name
    if p.is_variadic:
        return f"*{value}"
    if p.role is DTYPE:
        value = f"None if {p.name} is None else native_dtype(home, {p.name}, declaration)"
    return f"{p.name}={value}" if p.is_keyword else value
