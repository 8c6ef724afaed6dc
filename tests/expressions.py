"""Python text that is run twice: over ndarrays, and over Arrays of the same values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Arrays = Mapping[str, Any]
"""Values by the names that they have in the text."""


def rows(text: str) -> list[str]:
    """The lines of a table; one that starts with a space belongs to the line before it."""
    return [one for one in re.sub(r"\n +", " ", text).splitlines() if one]


def several(text: str) -> list[str]:
    """The expressions or statements of a table, which semicolons separate."""
    return "; ".join(rows(text)).split("; ")


def head(row: str) -> str:
    """A name for a test of a row."""
    return row[:40]


def evaluated(row: str, arrays: Arrays, array: Callable[[Any], Any], **names: Any) -> list[Any]:
    """The values of expressions that stand in a row, of arrays made by `array`."""
    code = compile(f"[{row}]", "<row>", "eval")
    found: list[Any] = eval(code, names | {name: array(arrays[name]) for name in code.co_names if name in arrays})
    return found


def written(statement: str, arrays: Arrays, array: Callable[[Any], Any], **names: Any) -> dict[str, Any]:
    """What a statement leaves of the arrays that it names, each made by `array`."""
    code = compile(statement.strip(), "<statement>", "exec")
    made = {name: array(arrays[name]) for name in code.co_names if name in arrays}
    variables = names | made
    exec(code, variables)
    return {name: variables[name] for name in made}


def left(program: str, np: Any) -> dict[str, Any]:
    """The arrays that a program leaves, as lists; `np` is NumPy, or has its names."""
    variables: dict[str, Any] = {"np": np}
    exec(program, variables)
    return {name: value.tolist() for name, value in variables.items() if hasattr(value, "tolist")}
