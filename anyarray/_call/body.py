"""The text of the bodies that `@dispatch` makes of declarations.

The fast path is for the common call: Arrays that all live where the call runs. It unwraps, calls the native function,
wraps. What it does not know goes to `slow`, which is `dispatch.call` or, for an operator, `dispatch.operate` or what
`dispatch._MISLED` has for it. The globals of the text are `dispatch.scope`.
"""

from __future__ import annotations

import functools
from types import CodeType
from typing import Final

from anyarray._call import by_position
from anyarray._call.declaration import ARRAY, DTYPE, SEQUENCE, WEAK, Declaration, Parameter
from anyarray._choice import cost

FUNCTION, NATIVE = "FUNCTION", "NATIVE"
"""What stands in a generated text for the names of the function and of the native one."""


SIGNS: Final = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "equal": "==", "not_equal": "!=", "less": "<",
    "less_equal": "<=", "greater": ">", "greater_equal": ">=",
}  # fmt: skip
"""Functions whose operators NumPy's float64 has itself: of two of these they take a tenth of what the ufunc takes."""


@functools.cache
def code(form: str) -> CodeType:
    """The compiled text, shared by functions that differ in their names alone.

    Four of five do, which saves 20 ms at import.
    """
    return compile(form, "<anyarray>", "exec")


def source(declaration: Declaration) -> str:
    """The text of the body, names left open: the fast path, then the slow."""
    values = "(" + "".join(f"{p.name}, " for p in declaration.parameters) + ")"
    slow = f"return slow(declaration, {values})"
    parameters = by_position.text_of_parameters(declaration.function)
    if declaration.is_reflected:
        parameters = f"({', '.join(p.name for p in declaration.written)}, /)"
    lines = [f"def {FUNCTION}{parameters}:"]
    if by_position.options_of(declaration.function):
        lines += ["    if excess:", "        refuse(declaration.function, excess)"]
    arrays = [p for p in declaration.written if p.role in (ARRAY, WEAK, SEQUENCE)]
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
        ]
        if declaration.has_mirror and not declaration.is_reflected:
            left, right = (p.name for p in arrays)
            lines += [
                f"    elif type({right}) is Array and type({left}) in OPERANDS:",
                f"        return declaration.mirror({right}, {left})",
            ]
        if declaration.takes_ndarrays and is_joining:
            slow = f"return declaration.of_ndarrays{values}"
        elif declaration.takes_ndarrays:
            lines += [f"    elif type({first.name}) is ndarray:", f"        return declaration.of_ndarrays{values}"]
        lines.append(f"    {slow}")
    return _made_by(lines)


def source_of_ndarrays(declaration: Declaration) -> str:
    """The text of a body for few elements, some in an ndarray.

    It does what would be done with free Arrays of the same memory, but makes none.
    """
    values = "(" + "".join(f"{p.name}, " for p in declaration.parameters) + ")"
    arrays = [p for p in declaration.parameters if p.role in (ARRAY, WEAK, SEQUENCE)]
    # Whoever holds the native arrays when they are brought elsewhere could write to them.
    released = " = ".join([f"{p.name}_" for p in arrays])
    slow = f"{released} = None; return slow(declaration, {values})"
    is_joining = arrays[0].role is SEQUENCE
    lines = _taken_sequence(arrays[0].name, slow) if is_joining else _taken_ndarrays(declaration, arrays, slow)
    return _made_by(
        [
            f"def {FUNCTION}({', '.join(p.name for p in declaration.parameters)}):",
            "    home = NUMPY",
            *[f"    {line}" for line in lines],
            "    backend = current().backend",
            "    if elements < LARGE and (",
            "        backend is BY_COST and elements < limit.elements",
            "        or backend is None or backend is home.backend",
            "    ):",
            *[f"        {line}" for line in _unshared_call(declaration, arrays)],
            f"    {slow}",
        ]
    )


def _taken_ndarrays(declaration: Declaration, arrays: list[Parameter], slow: str) -> list[str]:
    """The lines that take each ndarray as it is and unwrap each Array."""
    first = arrays[0]
    lines: list[str] = []
    for p in arrays:
        lines += [
            f"kind = type({p.name})",
            f"if kind is ndarray and {p.name}.dtype in home.dtypes:",
            f"    {p.name}_ = {p.name}",
            f"elif kind is Array and {p.name}._home is home:",
            f"    {p.name}_ = {p.name}._native",
        ]
        if p.role is WEAK and p is not first:
            beside = next(other for other in arrays if not (other is p or other.is_condition))
            is_there, dtype = "", f"home.dtype_of({first.name}_)"
            if beside is not first:
                is_there, dtype = f" and (agreed := dtype_in_numpy({beside.name})) is not None", "agreed"
            if declaration.is_power:
                lines += [f"elif kind in SCALARS and {p.name} in POWERS:", f"    {slow}"]
            lines += [f"elif kind in SCALARS{is_there}:", *_constant(p, dtype, slow)]
        lines += _otherwise(p, slow)
        if p is first:
            lines.append(f"elements = {p.name}_.size")
        else:
            # Broadcast or multiplied, they give no more elements than this.
            lines += [
                f"if (kind is ndarray or kind is Array) and {p.name}_.shape != {first.name}_.shape:",
                f"    elements *= {p.name}_.size",
            ]
    return lines


def _taken_sequence(name: str, slow: str) -> list[str]:
    """The same for the arrays that a function joins."""
    return [
        f"{name}_ = []",
        "elements = 0",
        f"for one in {name} if type({name}) in LISTS else ():",
        "    kind = type(one)",
        "    if kind is ndarray and one.dtype in home.dtypes:",
        f"        {name}_.append(one)",
        "    elif kind is Array and one._home is home:",
        f"        {name}_.append(one._native)",
        "    else:",
        f"        {slow}",
        "    elements += one.size",
    ]


def _made_by(lines: list[str]) -> str:
    """The text of a function that makes the body of these lines."""
    indented = "".join(f"    {line}\n" for line in lines)
    return f"def make(declaration, slow, explain, native_dtype, limit, stays):\n{indented}    return {FUNCTION}\n"


def _entrance(first: str, *, is_method: bool) -> list[str]:
    """The lines that lead into the common call of a function of arrays.

    For a method nothing looks at the class of its first array: Python has asked what it belongs to.
    """
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
    """The same for a function that joins arrays, while all are together."""
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
        if len(arrays) == 2 and declaration.gives_new_memory:
            lines += [
                f"elif kind in NUMPYS and home is NUMPY and {p.name}.dtype in home.dtypes:",
                f"    {p.name}_ = {p.name} if kind is ndarray else ndarray_of({p.name})",
            ]
        elif declaration.takes_ndarrays:
            lines += ["elif kind is ndarray:", f"    return declaration.of_ndarrays{values}"]
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
                    f"                explain(error, declaration, {values})",
                    "                raise",
                    "            result._home = home",
                    "            return result",
                ]
            lines += _constant(p, dtype, slow, f"{first.name}_" if sign(declaration) else "")
            if beside is not first:
                lines += [
                    f"elif kind in SCALARS and type({beside.name}) in SCALARS:",
                    "    try:",
                    f"        {p.name}_ = scalar_beside(home, {p.name}, {beside.name})",
                    "    except OverflowError:",
                    f"        {slow}",
                ]
        lines += _otherwise(p, slow)
    return lines + _native_call(declaration, values)


def _constant(p: Parameter, dtype: str, slow: str, scalar: str = "") -> list[str]:
    """The lines that make a Python scalar a native one of this dtype.

    Beside a native `scalar` of float64 it becomes another one.
    """
    constant = f"home.constants[{p.name} or zero({p.name}), kind, {dtype}]"
    if scalar:
        constant = f"{constant} if type({scalar}) is not FLOAT or kind is complex else FLOAT({p.name})"
    return [
        "    try:",
        f"        {p.name}_ = {constant}",
        "    except UNSUITED:",
        f"        {slow}",
    ]


def _otherwise(p: Parameter, slow: str) -> list[str]:
    """The last lines of those that take an array beside the first."""
    lines: list[str] = []
    if p.takes_plain_scalar:
        is_scalar = "kind is int" if p.annotation.startswith("int") else "kind in SCALARS"
        lines += [f"elif {is_scalar}:", f"    {p.name}_ = {p.name}"]
    if p.is_optional:
        lines += [f"elif {p.name} is None:", f"    {p.name}_ = None"]
    return [*lines, "else:", f"    {slow}"]


def _small_call(declaration: Declaration, arrays: list[Parameter], values: str) -> list[str]:
    """The lines of the call under the automatic choice for two small arrays.

    Both are NumPy's; it is a fifth faster than by the general way.
    """
    first, second = (p.name for p in arrays)
    sizes = f"{first}_.size", f"{second}_.size"
    is_small = f"(elements := {sizes[0]}) < limit.even and ((others := {sizes[1]}) < limit.side > elements"
    shapes = f"({first}_.ndim == 1 == {second}_.ndim or {first}_.shape == {second}_.shape)"
    is_even = f"others == elements and {shapes} or others < 2 or {_work_of_two(declaration, first, second)}"
    is_even += " < limit.product)"
    return [
        f"if backend is BY_COST and home is NUMPY and type({second}) is Array and {second}._home is home:",
        f"    {first}_ = {first}._native",
        f"    {second}_ = {second}._native",
        f"    if {is_small} or {is_even}:",
        *[f"        {line}" for line in _native_call(declaration, values)],
        f"    del {first}_, {second}_  # whoever holds them when they are brought elsewhere could write to them",
    ]


def _work_of_two(declaration: Declaration, first: str, second: str) -> str:
    """The most elements that a call of two arrays can have to do with."""
    if not declaration.multiplies:
        return "elements * others"
    columns = f"{second}_.shape[-1] if {second}_.ndim == 2 else 1 if {second}_.ndim == 1 else others"
    return f"elements * ({columns})"


def _native_call(declaration: Declaration, values: str) -> list[str]:
    """The lines that call the native function and wrap what it gives."""
    lines = [
        # Not `home.NAME(...)`: Python 3.11 looks that up as a method, slowly.
        f"{NATIVE} = home.{NATIVE}",
        *(["result = new()"] if declaration.result == "Array" else []),
        "try:",
        *_readings(declaration),
        f"    {'result._native' if declaration.result == 'Array' else 'native'} = {_value(declaration)}",
        "except Exception as error:",
        f"    explain(error, declaration, {values})",
        "    raise",
    ]
    if declaration.result != "Array":
        return [*lines, "return wrapped(declaration, native, home)"]
    return [*lines, "result._home = home", "return result"]


def _value(declaration: Declaration) -> str:
    """The expression of what the native function gives."""
    call = f"{NATIVE}({_arguments(declaration)})"
    its = sign(declaration)
    if not its:
        return call
    left, right = (_argument(p) for p in declaration.parameters)
    return f"{call} if type({left}) is not FLOAT or type({right}) is not FLOAT else {left} {its} {right}"


def sign(declaration: Declaration) -> str | None:
    """The sign for a function of two operands that may be scalars."""
    return SIGNS.get(declaration.name) if [p.role for p in declaration.parameters] == [WEAK, WEAK] else None


def _unshared_call(declaration: Declaration, arrays: list[Parameter]) -> list[str]:
    """The lines of a call of ndarrays, whose memory the user may write to.

    What went wrong is left to be found out by the slow way.
    """
    if arrays[0].role is SEQUENCE:
        given = f"{arrays[0].name}_"
        is_new = "native.base is None"  # to join is to copy
    else:
        given = "(" + "".join(f"{p.name}_, " for p in arrays) + ")"
        is_new = " and ".join(["native.base is None", *[f"native is not {p.name}_" for p in arrays]])
    return [
        f"{NATIVE} = home.{NATIVE}",
        "try:",
        *_readings(declaration),
        f"    native = {NATIVE}({_arguments(declaration)})",
        "except Exception:",
        "    pass",
        "else:",
        "    result = new()",
        f"    result._native = native if {is_new} else unshared(native, {given}, home)",
        "    result._home = home",
        "    return result",
    ]


def _readings(declaration: Declaration) -> list[str]:
    """The lines that read what is not an array."""
    return [f"    {_reading(p, at)}" for at, p in enumerate(declaration.parameters) if p.is_read]


def _reading(p: Parameter, at: int) -> str:
    """The line that reads an integer, a flag, a number or a word.

    Most are what they should be, so no function is called for them.
    """
    usual = [f"{p.name} is None"] if p.is_optional else []
    if p.takes_integer:
        usual.append(f"type({p.name}) is int")
    if p.takes_integers:
        # A sum is an int where all are: 45 ns, a quarter of what looking at each takes.
        usual.append(f"type({p.name}) is tuple and type(sum_of({p.name})) is int")
    if p.is_flag:
        usual.append(f"type({p.name}) is bool")
    if p.is_number:
        usual.append(f"type({p.name}) in REAL")
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
        f"((elements := {first}._native.size) < limit.even"
        f" or elements < limit.narrow and {first}._native.itemsize <= {cost.WIDTHS[0]})"
    )
    if len(others) == 1:
        second = others[0]
        small += (
            f" and type({second}) is not Array"  # else see `_small_call`
            f" and (type({second}) is not ndarray or elements * {second}.size < limit.product"
            f" or {second}.shape == {first}._native.shape)"
        )
        others = []
    for name in others:
        small += (
            f" and (type({name}) is not Array or {name}._home is home and"
            f" (elements * {name}._native.size < limit.product or {name}._native.shape == {first}._native.shape))"
        )
    axis = [] if declaration.axis_at is None else ["axis=axis"]
    numpys = f"home is NUMPY and ({small} or stays({', '.join([p.name for p in arrays] + axis)}))"
    return f"backend is BY_COST and ({numpys} or home.placed)"


def _is_settled_for_joining(joined: Parameter) -> str:
    """The same for a function that joins or broadcasts a number of arrays."""
    name, total = joined.name, "prod" if joined.is_variadic else "sum"
    small = f"{total}(map(size_of, {name}_)) < limit.elements or stays(*{name})"
    return f"backend is BY_COST and (home is NUMPY and ({small}) or home.placed)"


def _arguments(declaration: Declaration) -> str:
    """What the generated body hands to the native function."""
    return ", ".join(_argument(p) for p in declaration.parameters)


def _argument(p: Parameter) -> str:
    """How the generated body hands parameter `p` to the native function."""
    value = f"{p.name}_" if p.role in (ARRAY, WEAK, SEQUENCE) or p.is_read else p.name
    if p.is_variadic:
        return f"*{value}"
    if p.role is DTYPE:
        value = f"None if {p.name} is None else native_dtype(home, {p.name})"
    return f"{p.name}={value}" if p.is_keyword else value
