"""Python text that is run over ndarrays, and over Arrays of their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Arrays = Mapping[str, Any]
"""Values by the names that they have in the text."""


def rows(text: str) -> list[str]:
    """The lines of a table; an indented line continues the one before."""
    return [one for one in re.sub(r"\n +", " ", text).splitlines() if one]


def groups(text: str) -> list[list[str]]:
    """The rows of a table, each split at its semicolons."""
    return [row.split("; ") for row in rows(text)]


def several(text: str) -> list[str]:
    """All expressions or statements of a table."""
    return [one for group in groups(text) for one in group]


def head(group: list[str]) -> str:
    """A name for the test of a group."""
    return group[0][:40]


def evaluated(expression: str, arrays: Arrays, array: Callable[[Any], Any], **names: Any) -> Any:
    """The value of an expression of arrays that are made by `array`."""
    code = compile(expression, "<expression>", "eval")
    return eval(code, names | {name: array(arrays[name]) for name in code.co_names if name in arrays})


def written(statement: str, arrays: Arrays, array: Callable[[Any], Any], **names: Any) -> dict[str, Any]:
    """The arrays that a statement names, after it; `array` makes them."""
    code = compile(statement, "<statement>", "exec")
    made = {name: array(arrays[name]) for name in code.co_names if name in arrays}
    variables = names | made
    exec(code, variables)
    return {name: variables[name] for name in made}


def left(program: str, np: Any) -> dict[str, Any]:
    """The arrays that a program leaves, as lists; `np` has NumPy's names."""
    variables: dict[str, Any] = {"np": np}
    exec(program, variables)
    return {name: value.tolist() for name, value in variables.items() if hasattr(value, "tolist")}
