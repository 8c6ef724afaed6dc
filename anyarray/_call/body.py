"""The source text of the bodies that `@dispatch` generates from declarations.

A body has the parameters of the declared function, refuses arguments that it does not take, and passes the others on,
in the order of the native function. The globals of the text are `wrapping.body_globals`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType
from typing import Any, Final

from anyarray._call import by_position
from anyarray._call.declaration import Declaration

FUNCTION: Final = "FUNCTION"
"""The placeholder in a generated text for the name of the function."""


@functools.cache
def code(form: str) -> CodeType:
    """The code object of a text, shared by functions that differ only in name.

    Four of five functions share one, which saves 20 ms at import.
    """
    return compile(form, "<anyarray>", "exec")


def source(declaration: Declaration, function: Callable[..., Any]) -> str:
    """The text of a function that makes the body of a declared function."""
    parameters = by_position.text_of_parameters(function)
    if declaration.is_reflected:
        parameters = f"({', '.join(p.name for p in declaration.written)}, /)"
    lines = [f"def {FUNCTION}{parameters}:"]
    if by_position.options_of(function):
        lines += ["    if excess:", "        refuse(declaration.function, excess)"]
    if not by_position.is_operator(function):
        lines += ["    if unknown:", "        refuse_names(declaration.function, unknown)"]
    if function.__name__ in by_position.NEEDED:
        lines += [f"    if {declaration.written[-1].name} is missing:", "        refuse_absence(declaration.function)"]
    for other, ours in by_position.SYNONYMS.get(function.__name__, {}).items():
        lines += [f"    if {other} is not None:", f"        {ours} = one_of(declaration.function, {ours}, {other})"]
    values = "".join(f"{p.name}, " for p in declaration.parameters)
    lines.append(f"    return call(declaration, ({values}))")
    indented = "".join(f"    {line}\n" for line in lines)
    return f"def make(declaration, call):\n{indented}    return {FUNCTION}\n"
