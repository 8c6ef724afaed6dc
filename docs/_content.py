"""What the site shows of the code: tables, and the pages of the reference.

The tables are of backends, dtypes and promotion.
"""

from __future__ import annotations

import importlib
import inspect
import json
import operator
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Final

import numpy as np

import anyarray as xp
import anyarray.numpy
from anyarray import extensions
from anyarray._base import dtypes, other_names
from anyarray._calibration.explanation import duration
from anyarray._registry import libraries
from anyarray.numpy import _itself

SPACES: Final = ("fft", "linalg", "random", "special", "testing", "typing")
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


def packages_table() -> str:
    """The packages tested with NumPy replaced, and the counts by backend."""
    counts = json.loads((Path(__file__).parents[1] / "tests" / "packages" / "counts.json").read_text())
    columns = ("fair", "numpy", "jax", "tf", "torch")
    rows = [(name, *(str(row.get(one, "")) for one in columns)) for name, row in counts.items()]
    return table(("package", "tests", *columns[1:]), rows)


def is_numpys(path: str) -> bool:
    """Whether NumPy itself serves a name, as a constant or a dtype."""
    found = operator.attrgetter(path)
    return path in _itself.NAMES or found(anyarray.numpy) is found(np)


TABLES: Final = {
    "numpy": numpy_table,
    "backends": backends_table,
    "benchmarks": benchmarks_tables,
    "dtypes": dtypes_table,
    "packages": packages_table,
    "promotion": promotion_table,
}
"""What stands for `<!-- table: NAME -->` in a page."""


def reference() -> list[Page]:
    """The reference: a page for each subject, and a list of them."""
    pages = {stem: page(stem, title, names_of(stem)) for stem, title in SUBJECTS.items()}
    listed = "\n".join(f"- [{title}](./{stem}.md)" for stem, title in SUBJECTS.items())
    toctree = "\n".join(("```{toctree}", ":hidden:", "", *SUBJECTS, "```"))
    return [Page("index.md", f"# Reference\n\n{listed}\n\n{toctree}\n"), *pages.values()]


SUBJECTS: Final = {
    "arrays": "Arrays, constants and dtypes",
    "backends": "Backends and devices",
    "conversion": "Conversion between libraries",
    "transforms": "Transforms and control flow",
    "creation": "Creation",
    "elementwise": "Elementwise functions",
    "manipulation": "Shapes, axes and indexing",
    "sorting": "Sorting, searching and sets",
    "statistics": "Statistics and reductions",
    "products": "Products and linear algebra",
    "linalg": "linalg",
    "fft": "fft and windows",
    "polynomials": "Polynomials and calculus",
    "random": "random",
    "special": "special",
    "memory": "Transfers and memory",
    "errors": "Errors and warnings",
    "typing": "typing",
    "testing": "testing",
}
"""The title of each page of the reference, by its name."""

_CHAPTERS: Final = {
    "arrays": "standard.constants standard.data_types standard.inspection",
    "creation": "standard.creation extensions.creation",
    "elementwise": "standard.elementwise extensions.elementwise",
    "manipulation": "standard.manipulation standard.indexing extensions.manipulation extensions.selection",
    "sorting": "standard.sorting standard.searching standard.sets extensions.sorting extensions.sets",
    "statistics": "standard.statistical standard.utility extensions.statistics extensions.histograms "
    "extensions.correlation",
    "products": "standard.linear_algebra extensions.products",
    "linalg": "linalg",
    "fft": "fft extensions.windows",
    "polynomials": "extensions.polynomials extensions.calculus",
    "random": "random",
    "special": "special",
    "transforms": "transforms",
    "errors": "_base.errors",
    "typing": "typing",
    "testing": "testing",
}
"""The modules whose names stand on a page."""

_OTHERS: Final = {
    "arrays": "Array __array_api_version__ __version__",
    "backends": "backend set_default_backend device backends Backend BackendInfo calibrate explain Explanation "
    "Decision policy fused mesh",
    "conversion": "from_native to_native portable from_local from_file to_file compute persist",
    "memory": "transfers no_transfers Transfer TransferLog memory free_memory DeviceMemory",
    "errors": "OutOfMemoryWarning ProfileWarning TransferWarning",
}
"""Further names on a page."""


def names_of(stem: str) -> list[str]:
    """The public names on a page, as paths below `anyarray`."""
    names = _OTHERS.get(stem, "").split()
    for chapter in _CHAPTERS.get(stem, "").split():
        folder, _, subject = chapter.rpartition(".")
        if folder == "extensions":
            names += [path for path, found in extensions.NAMES.items() if found == subject and "." not in path]
        else:
            prefix = f"{subject}." if not folder and chapter in SPACES else ""
            names += [f"{prefix}{name}" for name in importlib.import_module(f"anyarray.{chapter}").__all__]
    return names


def page(stem: str, title: str, names: list[str]) -> Page:
    """The page of a subject, made of docstrings and constants.

    It begins with the docstring of the module that has its name, if there is one. Constants are a table, with an anchor
    for each; what has a docstring itself follows.
    """
    parts = [f"# {title}"]
    if stem in SPACES:
        first_line, _, body = inspect.cleandoc(
            getattr(xp, stem, sys.modules.get(f"anyarray.{stem}")).__doc__
        ).partition("\n")
        # As for all docstrings: reStructuredText, but for blocks that stand apart, which are literal without a "::".
        literal = re.sub(r"\n\n(?= {4}\S)", "\n\n::\n\n", f"\n{body}").strip()
        parts += [first_line, *[rst(literal)] * bool(literal)]
    objects = {name: operator.attrgetter(name)(xp) for name in names}
    documented = [name for name, one in objects.items() if is_documented(one)]
    values = [(f'<a id="{name}"></a>`{name}`', value(one)) for name, one in objects.items() if name not in documented]
    if values:
        parts.append(table(("name", "value"), values))
    parts += [directive(f"anyarray.{name}", objects[name]) for name in documented]
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
