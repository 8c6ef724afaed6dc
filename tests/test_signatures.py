"""Every name of the standard, every signature as array-api-strict has it."""

from __future__ import annotations

import inspect
import math
from types import ModuleType
from typing import Any

import array_api_strict
import pytest
from comparison import each

import anyarray as xp

# linalg.eig and linalg.eigvals are new in 2025.12; this release of array-api-strict does not have them yet.
NEWER = {"linalg.eig", "linalg.eigvals"}
NOT_OF_THE_STANDARD = {
    "ArrayAPIStrictFlags", "Device", "__array_api_version__", "__version__", "fft", "linalg",
    "get_array_api_strict_flags", "reset_array_api_strict_flags", "set_array_api_strict_flags",
}  # fmt: skip
"""Names of array-api-strict that are no functions, constants or dtypes of the standard."""


def names_of(namespace: ModuleType, prefix: str = "") -> set[str]:
    return {prefix + name for name in namespace.__all__}


STANDARD = sorted(
    (names_of(array_api_strict) - NOT_OF_THE_STANDARD)
    | names_of(array_api_strict.linalg, "linalg.")
    | names_of(array_api_strict.fft, "fft.")
    | NEWER
)


def named(root: Any, path: str) -> Any:
    for part in path.split("."):
        root = getattr(root, part)
    return root


FUNCTIONS = [name for name in STANDARD if name not in NEWER and inspect.isfunction(named(array_api_strict, name))]


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    """Name, kind and default of each parameter but `self`."""
    found = inspect.signature(function).parameters.values()
    # array-api-strict has an object of its own where the standard's default is None and the argument is new.
    defaults = [None if type(p.default).__name__ == "Undef" else p.default for p in found]
    return [(p.name, p.kind, default) for p, default in zip(found, defaults, strict=True) if p.name != "self"]


def test_array_api_strict_follows_the_same_version_of_the_standard() -> None:
    assert array_api_strict.__array_api_version__ == xp.__array_api_version__ == "2025.12"


@each("function", STANDARD)
def test_every_name_of_the_standard_is_there_and_in_all(function: str) -> None:
    chapter, _, name = function.rpartition(".")
    assert named(xp, function) is not NotImplemented
    assert name in (named(xp, chapter) if chapter else xp).__all__


@pytest.mark.parametrize("namespace", [xp, xp.linalg, xp.fft], ids=["anyarray", "linalg", "fft"])
def test_all_holds_what_exists_once(namespace: ModuleType) -> None:
    assert sorted(namespace.__all__) == sorted(set(namespace.__all__))
    assert not [name for name in namespace.__all__ if not hasattr(namespace, name)]


@each("function", [*FUNCTIONS, *NEWER])
def test_a_function_has_the_standard_s_signature(function: str) -> None:
    newer = [("x", inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.empty)]
    assert parameters(named(xp, function)) == (
        newer if function in NEWER else parameters(named(array_api_strict, function))
    )


PYTHON_S_OWN = {"__array__", "__buffer__", "__iter__", "__new__", "__repr__", "__str__"}
"""Methods of array-api-strict's class that the standard does not name."""

METHODS = sorted(
    name
    for name, found in vars(type(array_api_strict.ones(1))).items()
    if inspect.isfunction(found) and name.startswith("__") and name not in PYTHON_S_OWN
)


@each("method", METHODS)
def test_a_method_has_the_standard_s_signature(method: str) -> None:
    expected = parameters(getattr(type(array_api_strict.ones(1)), method))
    assert parameters(getattr(xp.Array, method)) == expected


@each("attribute", ["dtype", "device", "mT", "ndim", "shape", "size", "T"])
def test_an_array_has_the_standard_s_attributes(attribute: str) -> None:
    assert isinstance(inspect.getattr_static(xp.Array, attribute), property)


INFO = [name for name in dir(array_api_strict.__array_namespace_info__()) if not name.startswith("_")]


@each("method", INFO)
def test_the_inspection_api_has_the_standard_s_signatures(method: str) -> None:
    ours, theirs = xp.__array_namespace_info__(), array_api_strict.__array_namespace_info__()
    assert parameters(getattr(ours, method)) == parameters(getattr(theirs, method))


def test_the_constants_are_the_standard_s() -> None:
    for name in ("e", "pi", "inf", "newaxis"):
        assert getattr(xp, name) == getattr(array_api_strict, name)
    assert math.isnan(xp.nan)


def test_functions_are_named_and_placed_for_readers() -> None:
    for function in FUNCTIONS:
        ours = named(xp, function)
        assert ours.__name__ == function.rpartition(".")[2]
        assert ours.__module__ == ".".join(["anyarray", *function.split(".")[:-1]]) or "." in function


def test_the_extensions_hold_the_shared_functions_of_the_main_namespace() -> None:
    for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
        assert getattr(xp.linalg, name) is getattr(xp, name)
