"""Every example in README, docs and docstrings runs.

That is on NumPy and one other backend, and on all of them with `--all-cases`.

The reference leaves out no public name.

The blocks ```python of a page run in order in one namespace; the blocks ```pycon are compared with what they print.
Words after that say more: `requires=jax`, that a block is left out where that library is not installed, and
`choice=auto`, that it is about the choice itself and runs with no backend chosen; `choice=tf`, that it is about one.
"""

from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any, Final

import _content  # docs/_content.py
import numpy as np
import pytest
from comparison import each

import anyarray as xp
from anyarray import testing

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK: Final = re.compile(
    r"^```(?P<kind>python|pycon)(?: choice=(?P<choice>\w+))?(?: requires=(?P<library>\w+))?\n(?P<code>.*?)^```$",
    re.M | re.S,
)
OTHER_BLOCK: Final = re.compile(r"^```(?!$|console$|toml$|\{|pycon|python)", re.M)
DEVIATION: Final = re.compile(r"^" + r"\| `(.+?)` " * 5 + r"\|$", re.M)
TRANSLATION: Final = re.compile(r"^\| `([^`|]+)` \| `([^`|]+)` \|$", re.M)
NAMED_CODE: Final = re.compile(r"`((?:[\w.]+/)*(?:[\w.]+/|\w+\.(?:py|c|h|md)))(?::([\w.]+))?`")
"""A file or a folder, and what is defined in it, in the pages for who reads the code."""
SPACES: Final = {
    "": xp, "linalg.": xp.linalg, "fft.": xp.fft, "random.": xp.random, "special.": xp.special, "testing.": testing,
}  # fmt: skip
PUBLIC: Final = {
    prefix + name: getattr(space, name)
    for prefix, space in SPACES.items()
    for name in space.__all__
    if not inspect.ismodule(getattr(space, name))
}
REFERENCE: Final = "\n".join(page.text for page in _content.reference())
FUNCTIONS: Final = sorted(name for name, one in PUBLIC.items() if inspect.isroutine(one))


DIFFERENTIATED = {"grad", "jacobian", "value_and_grad"}
"""Names whose examples take derivatives."""


def run_examples(text: str, name: str, namespace: dict[str, Any]) -> None:
    """Fail with doctest's report if an example prints something else."""
    test = doctest.DocTestParser().get_doctest(text, namespace, name, name, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)


@pytest.mark.few_backends
@pytest.mark.sampled
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page: Path, backend: xp.Backend) -> None:
    text = page.read_text()
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for found in BLOCK.finditer(text):
        if found["library"] and importlib.util.find_spec(found["library"]) is None:
            continue
        # As many lines before the code as in the page, so that a traceback points into it.
        code = "\n" * text.count("\n", 0, found.start("code")) + found["code"]
        with xp.backend(found["choice"] or backend):
            if found["kind"] == "pycon":
                run_examples(code, page.name, namespace)
            else:
                exec(compile(code, str(page), "exec"), namespace)


@each("page", PAGES)
def test_no_block_of_a_page_is_overlooked(page: Path) -> None:
    text = page.read_text()
    assert not OTHER_BLOCK.search(text)
    assert len(BLOCK.findall(text)) == len(re.findall(r"^```(?:python|pycon)", text, re.M))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of invalid values: these rows are about them
@pytest.mark.parametrize(
    "row", DEVIATION.findall((ROOT / "docs" / "deviations.md").read_text()), ids=lambda row: row[0]
)
@pytest.mark.needs("kernels for a CPU")
def test_a_deviation_is_as_documented(row: tuple[str, ...], backend: xp.Backend) -> None:
    expression, *values = row
    documented = dict(zip(("numpy", "jax", "tf", "torch"), values, strict=True)).get(backend.library)
    if documented is None:
        return
    try:
        found = str(eval(expression, {"xp": xp, "nan": xp.nan, "inf": xp.inf}).tolist())
    except Exception as error:  # noqa: BLE001 - the row names the class
        found = documented if documented in {kind.__name__ for kind in type(error).__mro__} else repr(error)
    assert found == documented


@pytest.mark.few_backends
@pytest.mark.parametrize("row", TRANSLATION.findall((ROOT / "docs" / "numpy.md").read_text()), ids=lambda row: row[0])
def test_what_to_write_instead_gives_the_same(row: tuple[str, str], backend: xp.Backend) -> None:
    theirs, ours = row
    host = {"x": np.arange(9.0).reshape(3, 3), "v": np.asarray([0.0, 1.5, -2.0]), "w": np.asarray([1.0, 2.0, 3.0])}
    expected = eval(theirs, {"np": np, **host})
    found = eval(ours, {"xp": xp, **{name: xp.asarray(a) for name, a in host.items()}})
    for one, wanted in zip(*[v if isinstance(v, (list, tuple)) else [v] for v in (found, expected)], strict=True):
        assert np.shape(one) == np.shape(wanted)
        assert np.allclose(np.asarray(one), wanted, rtol=1e-6)  # float32 is among them


@pytest.mark.few_backends
@pytest.mark.parametrize("space", SPACES)
def test_the_examples_of_a_module_run(space: str, backend: xp.Backend) -> None:
    run_examples(SPACES[space].__doc__ or "", space, {})


@each("page", PAGES)
def test_the_names_that_a_page_uses_exist(page: Path) -> None:
    for name in set(re.findall(r"\bxp\.(\w+(?:\.\w+)?)", page.read_text())) - {"dot"}:  # which is told not to
        space, _, member = name.partition(".")
        place = getattr(xp, space) if member and space in ("linalg", "fft") else xp
        assert hasattr(place, space if place is xp else member), name


@pytest.mark.few_backends
@pytest.mark.sampled
@pytest.mark.parametrize(
    "public",
    [
        pytest.param(public, marks=pytest.mark.needs("derivatives") if public in DIFFERENTIATED else ())
        for public in sorted(PUBLIC)
    ],
)
def test_the_examples_of_a_docstring_run(public: str, backend: xp.Backend) -> None:
    found = PUBLIC[public]
    if not (inspect.isroutine(found) or inspect.isclass(found)):
        return
    members = [found, *(vars(found).values() if inspect.isclass(found) else ())]
    for member in members:
        run_examples(inspect.getdoc(member) or "", public, {})


@each("public", FUNCTIONS)
def test_every_public_function_has_an_example(public: str) -> None:
    assert ">>>" in (PUBLIC[public].__doc__ or "")


@each("public", sorted(PUBLIC))
def test_every_public_name_stands_in_the_reference_once(public: str) -> None:
    name = re.escape(public)
    assert (
        len(re.findall(rf"^\.\. auto\w+:: anyarray\.{name}$|^\| <a id=.{name}.></a>`{name}` \|", REFERENCE, re.M)) == 1
    )


def test_the_table_of_backends_has_a_row_for_each_library() -> None:
    rows = _content.backends_table().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [library.package for library in _content.array_libraries()]


def definitions(path: Path) -> set[str]:
    """What a Python module defines, with the members of its classes."""

    def names(body: list[ast.stmt]) -> list[str]:
        found: list[str] = []
        for one in body:
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.append(one.name)
                found += [f"{one.name}.{inner}" for inner in names(one.body)] if isinstance(one, ast.ClassDef) else []
            elif isinstance(one, (ast.Assign, ast.AnnAssign)):
                targets = one.targets if isinstance(one, ast.Assign) else [one.target]
                found += [target.id for target in targets if isinstance(target, ast.Name)]
        return found

    return set(names(ast.parse(path.read_text()).body))


@pytest.mark.skipif(not (ROOT / "anyarray").is_dir(), reason="the sources are not here")
@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_files_and_functions_that_a_page_names_are_there(page: str) -> None:
    named = NAMED_CODE.findall((ROOT / page).read_text())
    assert len(named) > 5
    for file, name in named:
        path = next((root / file for root in (ROOT, ROOT / "anyarray") if (root / file).exists()), None)
        assert path is not None, f"{page} names {file}"
        assert not name or name in definitions(path), f"{page} names {name} in {file}"
