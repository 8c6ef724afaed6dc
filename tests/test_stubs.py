"""The stubs of `anyarray.numpy` have every name, with its signature.

`python tests/test_stubs.py` writes them, with NumPy 2.4, from the signatures that the functions have.
"""

from __future__ import annotations

import importlib
import inspect
import keyword
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy
import pytest
from comparison import each

import anyarray.numpy as np
from anyarray.numpy import _differing, _itself, _names

FOLDER: Final = Path(np.__file__).parent
MODULES: Final[dict[str, tuple[Any, ModuleType]]] = {
    "__init__": (np, numpy),
    "linalg": (np.linalg, numpy.linalg),
    "fft": (np.fft, numpy.fft),
    "random": (np.random, numpy.random),
}
HAS_SIGNATURES: Final = numpy.__version__.startswith("2.4.")
MAKERS: Final = ("array", "asanyarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "copy")
"""Functions that give an Array, and have none of ours behind them."""
BY_PLATFORM: Final = ("complex192", "complex256", "float96", "float128")
"""Classes that NumPy has on some platforms."""
HEAD: Final = """# Written by tests/test_stubs.py from the signatures of the functions.
from typing import Any

from anyarray import Array
"""
UFUNC: Final = """
class ufunc:
    __name__: str
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    identity: Any
    signature: str | None
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Array: ...
    def at(self, a: Any, indices: Any, b: Any = None, /) -> None: ...
    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Array: ...
    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = ...,
        where: Any = True,
    ) -> Array: ...
    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Array: ...
"""


def parameters(function: Any, *, is_method: bool = False) -> str:
    """The parameters of a function in a stub; any if it does not tell them."""
    first = ["self"] if is_method else []
    try:
        listed = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
    except ValueError:
        return ", ".join([*first, "*args: Any", "**kwargs: Any"])
    kinds = [p.kind for p in listed]
    found = list(first)
    for at, p in enumerate(listed):
        if p.kind is p.KEYWORD_ONLY and not {p.KEYWORD_ONLY, p.VAR_POSITIONAL}.intersection(kinds[:at]):
            found.append("*")
        star = "*" * (p.kind is p.VAR_POSITIONAL) + "**" * (p.kind is p.VAR_KEYWORD)
        found.append(f"{star}{p.name}: Any" + ("" if p.default is p.empty else " = ..."))
        if p.kind is p.POSITIONAL_ONLY and p.POSITIONAL_ONLY not in kinds[at + 1 :]:
            found.append("/")
    return ", ".join(found)


def result(name: str, chapter: str) -> str:
    """The class of the result: Array where ours gives one, else any."""
    if name in MAKERS:
        return "Array"
    ours = _names.ours_of(chapter, name)
    made = getattr(inspect.unwrap(ours), "__annotations__", {}).get("return") if ours is not None else None
    return "Array" if made == "Array" else "Any"


def methods(theirs: type, name: str) -> list[str]:
    """A class that gives Arrays by the methods of a class of NumPy's."""
    public = [one for one in dir(theirs) if not one.startswith("_")]
    lines = [f"class {name}:", "    def __init__(self, *args: Any, **kwargs: Any) -> None: ..."]
    for one in public:
        member = getattr(theirs, one)
        is_routine = callable(member)
        text = f"def {one}({parameters(member, is_method=True)}) -> Any: ..." if is_routine else f"{one}: Any"
        lines.append(f"    {text}")
    return lines


def stub(module: str) -> str:
    """The text of the stub of a module."""
    ours, theirs = MODULES[module]
    chapter = module.replace("__init__", "")
    same: list[str] = []
    lines: list[str] = []
    if not chapter:
        lines += UFUNC.splitlines()
    for name in sorted(ours.__all__):
        found = getattr(ours, name)
        if keyword.iskeyword(name):
            continue
        if name in BY_PLATFORM:
            lines.append(f"{name}: Any")
        elif not chapter and name in _itself.NAMES and (not inspect.isroutine(found) or found is getattr(theirs, name)):
            same.append(f"from numpy import {name} as {name}")
        elif inspect.ismodule(found):
            home = "anyarray.numpy" if found.__name__.startswith("anyarray.") else "numpy"
            same.append(f"from {home} import {name} as {name}")
        elif not chapter and name == "ufunc":
            pass
        elif isinstance(getattr(theirs, name, None), numpy.ufunc):
            lines.append(f"{name}: ufunc")
        elif found is np.ndarray:
            lines.append(f"{name} = Array")
        elif chapter == "random" and name in ("Generator", "RandomState"):
            lines += methods(getattr(theirs, name), name)
        elif inspect.isclass(found) and getattr(_differing, name, None) is found:
            same.append(f"from anyarray.numpy._differing import {name} as {name}")
        elif inspect.isclass(found) and found is getattr(theirs, name, None):
            same.append(f"from {theirs.__name__} import {name} as {name}")
        elif inspect.isclass(found):
            same.append(f"from anyarray import {name} as {name}")
        elif not callable(found):
            lines.append(f"{name}: Any")
        else:
            given = "Generator" if name == "default_rng" else result(name, chapter)
            lines.append(f"def {name}({parameters(found)}) -> {given}: ...")
    if not chapter:
        same.append("__version__: str")
    return "\n".join([HEAD, *sorted(same), "", *lines, ""])


def names_in(text: str) -> set[str]:
    """The names that a stub defines."""
    space: dict[str, str] = {}
    for line in text.splitlines():
        words = line.replace("(", " ").replace(":", " ").split()
        if not line or line.startswith((" ", "#")):
            continue
        if words[0] == "from":
            space[words[-1]] = line
        else:
            space[words[1] if words[0] in ("def", "class") else words[0]] = line
    return {*space}


@each("module", MODULES)
def test_a_stub_has_every_public_name(module: str) -> None:
    text = (FOLDER / f"{module}.pyi").read_text()
    missing = {name for name in MODULES[module][0].__all__ if not keyword.iskeyword(name)} - names_in(text)
    assert not missing or not HAS_SIGNATURES


@pytest.mark.skipif(not HAS_SIGNATURES, reason="the stubs are those of NumPy 2.4")
@each("module", MODULES)
def test_the_stubs_are_those_of_the_signatures(module: str) -> None:
    assert (FOLDER / f"{module}.pyi").read_text() == stub(module), "write them: python tests/test_stubs.py"


if __name__ == "__main__":
    for name in MODULES:
        (FOLDER / f"{name}.pyi").write_text(stub(name))
        importlib.invalidate_caches()
