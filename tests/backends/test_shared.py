"""What backends share gives what NumPy gives, on each of them."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anyarray as xp
from anyarray._registry.home import declared
from anyarray.backends._shared import chapters

REAL = np.random.default_rng(0).standard_normal((4, 6, 5))


@pytest.mark.parametrize(
    ("function", "axes"),
    [("fftn", (0, 0)), ("ifftn", (1, 1, 2)), ("rfftn", (1, 1)), ("rfftn", (1, 0, 2)), ("irfftn", (0, 0))],
)
def test_a_transform_takes_axes_in_any_order_and_twice(
    backend: xp.Backend, function: str, axes: tuple[int, ...]
) -> None:
    a = REAL if function == "rfftn" else REAL + 1j * REAL[::-1]
    found = np.asarray(getattr(xp.fft, function)(xp.asarray(a), axes=axes))
    np.testing.assert_allclose(found, getattr(np.fft, function)(a, axes=axes), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("order", [1, 2, math.inf, "nuc", "fro"])
def test_the_norm_of_a_matrix_without_elements_is_zero(framework: str, order: Any) -> None:
    with xp.backend(framework):
        for shape in ((0, 3), (3, 0)):
            assert float(xp.linalg.matrix_norm(xp.zeros(shape), ord=order)) == 0


@pytest.mark.parametrize("order", [0, 1, 2, 3, math.inf])
def test_the_norm_of_a_vector_without_elements_is_zero(framework: str, order: float) -> None:
    with xp.backend(framework):
        assert xp.linalg.vector_norm(xp.zeros((0, 2)), axis=0, ord=order).tolist() == [0, 0]


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
