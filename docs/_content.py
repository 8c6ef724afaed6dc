"""What the site shows of the code: tables, and the pages of the reference.

The tables are of backends, dtypes and promotion.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import operator
import pkgutil
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, Final

import numpy as np

import anyarray as xp
import anyarray.numpy
from anyarray import extensions, standard, testing, typing
from anyarray._base import dtypes, other_names
from anyarray._calibration.explanation import duration
from anyarray._registry import libraries
from anyarray.numpy import _itself

FIRST: Final = ("array", "choice", "registry", "inventory", "interop")
"""Pages of the reference that stand before the others, which follow by name."""

SPACES: Final = ("fft", "linalg", "testing", "typing")
"""Modules whose names are not those of anyarray itself."""


@dataclass(frozen=True)
class Page:
    """A page of the reference."""

    name: str
    """Its file name in docs/reference/."""
    text: str
    """MyST Markdown."""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def array_libraries() -> list[libraries.Library]:
    """The libraries of the registry, less the simulated accelerator.

    `testing` adds that; it is no array library.
    """
    return [library for library in libraries.LIBRARIES.values() if library.package != xp.__name__]


def backends_table() -> str:
    """The registry: the names of each library, and what installs it."""
    rows = []
    for library in array_libraries():
        stems = [library.name, *(alias for alias, name in libraries.ALIASES.items() if name == library.name)]
        kinds = [f"{library.name}-{kind}" for kind in library.kinds] if len(library.kinds) > 1 else []
        names = ", ".join(f"`{name}`" for name in (*stems, *kinds))
        rows.append((f"`{library.package}`", names, ", ".join(library.kinds), f"`{library.install_line}`"))
    return table(("library", "names", "devices", "installed by"), rows)


def dtypes_table() -> str:
    """The dtypes, and whether the standard has them."""
    kinds = {letter: kind for kind, letter in dtypes.KINDS.items()}
    rows = [
        (f"`{name}`", kinds[dtype.kind], str(8 * dtype.itemsize), "yes" if name in dtypes.STANDARD else "no")
        for name, dtype in dtypes.KNOWN.items()
    ]
    return table(("dtype", "kind", "bits", "in the standard"), rows)


def promotion_table() -> str:
    """What two dtypes promote to, for every pair."""
    names = list(dtypes.KNOWN)
    rows = [[f"**{first}**", *(dtypes.promoted(first, second) for second in names)] for first in names]
    return table(["", *names], rows)


def numpy_table() -> str:
    """NumPy's public names, and what stands for each here."""
    rows = []
    for chapter, space in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        ours = getattr(xp, chapter[:-1]) if chapter else xp
        for name in sorted(space.__all__, key=str.lower):
            path = chapter + name
            if name.startswith("__"):
                continue
            standard_name = other_names.ALIASES.get(name, name)
            main = f"`xp.{chapter}{standard_name}`" if standard_name in ours.__all__ else ""
            rows.append((f"`np.{path}`", "NumPy's own" if is_numpys(path) else "yes", main))
    return table(("NumPy", "anyarray.numpy", "anyarray"), rows)


def benchmarks_tables() -> str:
    """A table for each run of `anyarray bench` in the history."""
    parts: list[str] = []
    for run in reversed(json.loads((Path(__file__).parent / "benchmarks.json").read_text())):
        names = list(run["backends"])
        rows = [
            (name, *(duration(row[one]) if one in row else "" for one in names)) for name, row in run["seconds"].items()
        ]
        versions = ", ".join(f"{name} {version}" for name, version in run["backends"].items())
        layer = ", ".join(f"{name} {seconds * 1e6:+.2f} us" for name, seconds in run["layer_seconds"].items())
        parts += [
            f"## anyarray {run['anyarray']}, {run['dtype']}",
            f"{run['machine']}; {versions}." + (" A quick run." if run["quick"] else ""),
            table(("experiment", *names), rows),
            f"On `numpy`, a call at the smallest size took longer than NumPy itself by: {layer}." if layer else "",
        ]
    return "\n\n".join(part for part in parts if part)


def is_numpys(path: str) -> bool:
    """Whether NumPy itself serves a name, as a constant or a dtype."""
    found = operator.attrgetter(path)
    return path in _itself.NAMES or found(anyarray.numpy) is found(np)


TABLES: Final = {
    "numpy": numpy_table,
    "backends": backends_table,
    "benchmarks": benchmarks_tables,
    "dtypes": dtypes_table,
    "promotion": promotion_table,
}
"""What stands for `<!-- table: NAME -->` in a page."""


def reference() -> list[Page]:
    """The reference: a page for each module with public names, and a list."""
    chapters = [
        importlib.import_module(f"{standard.__name__}.{m.name}")
        for m in pkgutil.iter_modules(standard.__path__)
        if m.name != "namespace"
    ]
    names_of: dict[ModuleType, list[str]] = {chapter: list(chapter.__all__) for chapter in chapters}
    for path, subject in extensions.NAMES.items():
        chapter = importlib.import_module(f"{extensions.__name__}.{subject}")
        names_of.setdefault(chapter, []).append(path)
    chapters = list(names_of)
    in_chapters = set(itertools.chain.from_iterable(names_of.values()))
    for name in xp.__all__:
        one = getattr(xp, name)
        if name not in in_chapters and one not in chapters:
            names_of.setdefault(sys.modules[getattr(one, "__module__", xp.__name__)], []).append(name)
    names_of.update({one: list(one.__all__) for one in (testing, typing)})
    pages = {stem_of(module): page(module, names) for module, names in names_of.items()}
    stems = [*FIRST, *sorted(pages.keys() - FIRST)]
    toctree = "\n".join(("```{toctree}", ":hidden:", "", *stems, "```"))
    meanings = {stem_of(module): (module.__doc__ or "").partition("\n")[0] for module in names_of}
    listed = "\n".join(f"- [](./{stem}.md): {meanings[stem]}" for stem in stems)
    return [Page("index.md", f"# Reference\n\n{listed}\n\n{toctree}\n"), *(pages[stem] for stem in stems)]


def stem_of(module: ModuleType) -> str:
    """The name of a module's page."""
    folder, _, name = module.__name__.rpartition(".")
    return f"further_{name}" if folder == extensions.__name__ else name.strip("_")


def page(module: ModuleType, names: list[str]) -> Page:
    """The page of one module, made of docstrings and constants.

    It has the module's docstring, its constants as a table, then what has a docstring itself.
    """
    stem = stem_of(module)
    space = f"{stem}." if stem in SPACES else ""
    first_line, _, body = inspect.cleandoc(module.__doc__ or "").partition("\n")
    objects = {name: getattr(module, name.rpartition(".")[2]) for name in names}
    documented = [name for name, one in objects.items() if is_documented(one)]
    values = [(f"`{space}{name}`", value(one)) for name, one in objects.items() if name not in documented]
    # As for all docstrings: reStructuredText, but for blocks that stand apart, which are literal without a "::".
    literal = re.sub(r"\n\n(?= {4}\S)", "\n\n::\n\n", f"\n{body}").strip()
    parts = [f"# {stem.replace('_', ' ').capitalize()}", first_line, *[rst(literal)] * bool(literal)]
    if values:
        parts.append(table(("name", "value"), values))
    parts += [directive(f"anyarray.{space}{name}", objects[name]) for name in documented]
    return Page(f"{stem}.md", "\n\n".join(parts) + "\n")


def value(one: Any) -> str:
    """A constant, or what a name for annotations stands for, in a table."""
    text = one if isinstance(one, str) else repr(one)
    if isinstance(one, UnionType):
        text = re.sub(r"(\w+\.)+", "", text)  # the modules of the classes
    return f"`{text}`".replace("|", r"\|")


def is_documented(one: Any) -> bool:
    """Whether `one` has a docstring of its own; a constant has none."""
    return inspect.isroutine(one) or inspect.isclass(one)


def directive(path: str, one: Any) -> str:
    """What makes Sphinx read the signature and the docstring."""
    lines = [f".. autofunction:: {path}"]
    if inspect.isclass(one):
        lines = [f".. autoclass:: {path}", "   :members:", "   :inherited-members: BaseException, tuple"]
    return rst("\n".join(lines))


def rst(text: str) -> str:
    """reStructuredText within Markdown."""
    return f"```{{eval-rst}}\n{text}\n```"
