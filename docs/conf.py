"""Configuration of Sphinx; `nox -s docs` builds the site without a network."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).parent
sys.path.insert(0, str(DOCS))

import _content  # noqa: E402 - found by the line above

import anyarray  # noqa: E402 - as Sphinx wants its own settings below

project = "anyarray"
author = "the anyarray developers"
copyright = "2026, the anyarray developers"  # noqa: A001 - Sphinx asks for this name
version = release = anyarray.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
nitpicky = False
default_role = "code"  # docstrings write `x`, as Markdown does, for what is code
autodoc_typehints = "both"  # in the signature, and as lists of parameters and of what is returned
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 100
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"anyarray {release}"
html_logo = html_favicon = "images/logo.svg"
html_copy_source = False


def write_reference(app: Any) -> None:
    """Write the pages of the reference, which are no sources."""
    folder = DOCS / "reference"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for page in _content.reference():
        (folder / page.name).write_text(page.text)


def put_tables(app: Any, docname: str, source: list[str]) -> None:
    """Put the tables in place, and take words for tests out of code blocks."""
    text = re.sub(r"^```(python|pycon)( \w+=\w+)+$", r"```\1", source[0], flags=re.M)
    source[0] = re.sub(r"^<!-- table: (\w+) -->$", lambda found: _content.TABLES[found[1]](), text, flags=re.M)


def list_errors(app: Any, what: str, name: str, one: Any, options: Any, lines: list[str]) -> None:
    """Render the sentence "Raises TypeError for ..." as a list of errors."""
    text = "\n".join(lines)
    found = re.search(r"^Raises (\w+(?:Error|Warning)\b.*?\.)(?=\s|$)", text, re.S | re.M)
    if found is None:
        return
    parts = re.split(r",\s+(?:and\s+)?(?=\w+(?:Error|Warning)\b)", found[1])
    fields = [re.sub(r"^(\w+)\s+(.*)$", r":raises \1: \2", " ".join(part.split())) for part in parts]
    lines[:] = [*(text[: found.start()] + text[found.end() :].lstrip(" ")).splitlines(), "", *fields, ""]


def setup(app: Any) -> None:
    """Sphinx asks for this function."""
    app.connect("autodoc-process-docstring", list_errors)
    app.connect("builder-inited", write_reference)
    app.connect("source-read", put_tables)
