"""Check the prose of pages and docstrings by rules; `nox -s lint` runs it.

Each rule is a pattern of word order or wording that had to be read twice, with what to write instead.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
RULES: Final = {
    r"(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b|one\b|way\b|worse\b|\w+er\b)\w+": (
        'say "is not a": "They are not views"'
    ),
    r"(?:^|[.:;] )Who\b|\bwho (?:wants|needs|reads|has|asks)\b": "name the reader: you, a program, a thread",
    r"(?:^|[.:;] )What (?:is|has|must|no|was|others|runs|comes|goes)\b.* (?:is|are|has|goes|counts|takes)\b": (
        "begin with the subject"
    ),
    r"\bfrom which on\b|\bfrom then on\b": '"after that"',
    r"\bends? soonest\b": '"runs fastest"',
    r"\bcan do no other\b": '"cannot do otherwise"',
    r"\bwithout a word\b": '"silently"',
    r"\bto and fro\b": '"in both directions"',
    r"\bit is to be\b|\bis to be had\b": '"is available", or an imperative',
    r"\band its kin\b|\band the like\b": "name them",
    r"\bwhich no card\b": '"not yet measured on a GPU"',
    r"\bof its making\b|\bof your own making\b": '"your own"',
    r"\bof (?:its|your) own\b": '"its own X", not "an X of its own"',
    r"\bbut for\b": '"except"',
    r"\b[Nn]obody\b|\bis told\b|\b[Ss]eldom\b": "name the actor, in common words",
    r"\b(?:brought|bring|brings) (?:over|back)\b": '"move", "transfer"',
    r"\bwhat (?:it|they|he) (?:has|have|had|gives?|takes?)\b": 'name it: "its result", "its arguments"',
}
"""What to write instead, by pattern."""
FOLDERS: Final = (
    ".", "_array", "_base", "_memory", "_registry", "extensions", "numpy", "random", "standard",
)  # fmt: skip
"""Folders of the package whose docstrings are checked."""
LONGEST: Final = 36
"""Words of a sentence; code in backticks counts as one."""


def too_long(prose: str) -> list[tuple[int, str, str]]:
    """Line, begin and advice for each sentence with too many words."""
    prose = re.sub(r"^(?:[|#<$:]|!\[).*$", lambda found: "\0" * len(found[0]), prose, flags=re.M)
    ends = r"(?<=[.!?:;])[\s*]+|\n\s*\n|\n\s*(?:[-*]|\d+\.) |\0+"
    found: list[tuple[int, str, str]] = []
    at = 0
    for end in [*re.finditer(ends, prose), None]:
        sentence = prose[at : end.start() if end else len(prose)]
        if len(sentence.split()) > LONGEST:
            found.append((prose.count("\n", 0, at) + 1, sentence[:40], f"at most {LONGEST} words: split it"))
        at = end.end() if end else at
    return found


def complaints(text: str) -> list[tuple[int, str, str]]:
    """Line, words and advice for each match outside of code."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", lambda found: re.sub(r"[^\n]", "x", found[0]), text, flags=re.M | re.S)
    return [
        (prose.count("\n", 0, found.start()) + 1, found[0], advice)
        for pattern, advice in RULES.items()
        for found in re.finditer(pattern, prose, re.M)
    ] + too_long(re.sub(r"^xxx+$", "", re.sub(r"x{4,}", "x", prose), flags=re.M))


def docstrings(file: Path) -> list[str]:
    """The docstrings of a module, without their examples."""
    tree = ast.parse(file.read_text())
    nodes = [one for one in ast.walk(tree) if isinstance(one, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    return [re.sub(r"^ *(?:>>>|\.\.\.) .*$", "", ast.get_docstring(one) or "", flags=re.M) for one in nodes]


def main() -> int:
    """Print what the rules find; the exit status."""
    found = [
        f"{page.relative_to(ROOT)}:{line}: {words!r}: {advice}"
        for page in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
        for line, words, advice in complaints(page.read_text())
    ]
    found += [
        f"{file.relative_to(ROOT)}: {words!r}: {advice}"
        for folder in FOLDERS
        for file in sorted((ROOT / "anyarray" / folder).glob("*.py"))
        for text in docstrings(file)
        for _, words, advice in complaints(text)
        if "words: split" not in advice  # there are lists and tables in them
    ]
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
