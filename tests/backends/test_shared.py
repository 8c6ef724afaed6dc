"""The table of chapters names each function of a backend."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from anyarray._registry.home import declared
from anyarray.backends._shared import chapters


def names_of(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module binds, but for imports."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    targets = getattr(statement, "targets", [statement.target] if isinstance(statement, ast.AnnAssign) else [])
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("library", ["tensorflow", "jax", "torch"])
@pytest.mark.parametrize("chapter", chapters.FUNCTIONS)
def test_a_function_of_a_backend_stands_in_the_table_of_its_file(chapter: str, library: str) -> None:
    # Without it the backend does not have the function, and another one is called in silence.
    path = Path(chapters.__file__).parents[1] / library / f"{chapter}.py"
    bound = {name for one in ast.parse(path.read_text()).body for name in names_of(one) if not name.startswith("_")}
    hooks = {"written"}  # of PyTorch's indexing, which its backend names
    assert not bound & declared.keys() - {*chapters.FUNCTIONS[chapter].split()} - hooks
    assert bound & {*chapters.FUNCTIONS[chapter].split()}
