"""Every declared function is documented, and native on every backend."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import linecache
import operator
import pkgutil
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import faults
import pytest
from comparison import each
from test_signatures import STANDARD, named

import anyarray as xp
from anyarray import extensions
from anyarray._array.array import AnyArray, Array
from anyarray._calibration import cells, measuring
from anyarray._call import batching, declaration, dispatch
from anyarray._choice import cost
from anyarray._registry import default_hooks, libraries, registry
from anyarray._registry import home as _home

ROOT: Final = Path(__file__).parents[1]
HAVING_DOCSTRINGS: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FUNCTIONS = [name for name in STANDARD if inspect.isroutine(named(xp, name))]
NATIVE = sorted(
    {*default_hooks.DEFAULT_HOOKS, *(name.rpartition(".")[2] for name in FUNCTIONS)}.intersection(_home.declared)
)


@pytest.mark.parametrize("chapter", ["fft", "linalg"])
def test_an_extension_is_a_module_that_can_be_imported(chapter: str) -> None:
    module = importlib.import_module(f"anyarray.{chapter}")
    assert module is getattr(xp, chapter)
    ours = {f"{chapter}.{name}" for name in module.__all__} - extensions.NAMES.keys()
    assert ours == {name for name in STANDARD if name.startswith(f"{chapter}.")}


def test_what_few_programs_use_is_imported_on_first_use(run_python: Callable[..., str]) -> None:
    program = """
        import sys
        import anyarray as xp
        print([name for name in ("fft", "interop", "linalg", "transforms") if f"anyarray.{name}" in sys.modules])
        try:
            xp.inv
        except AttributeError as error:
            print(error)
        print(xp.linalg.inv(xp.eye(1)).tolist(), xp.fft.fft(xp.ones(1)).tolist(), xp.jit(xp.exp)(xp.zeros(1)).tolist())
        print(xp.to_native(xp.zeros(1)), xp.Explanation.__name__)
    """
    assert run_python(program).splitlines() == [
        "[]",
        "module 'anyarray' has no attribute 'inv'. The standard has xp.linalg.inv",
        "[[1.0]] [(1+0j)] [1.0]",
        "[0.] Explanation",
    ]


def blocks(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a file, expressions left out."""
    yield node
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        inside = getattr(node, field, ())
        for one in inside if isinstance(inside, list) else ():
            yield from blocks(one)


def test_a_docstring_starts_with_one_short_line() -> None:
    folders = [ROOT / name for name in ("anyarray", "benchmarks", "docs", "tests")]
    files = [ROOT / "noxfile.py", *(file for folder in folders for file in sorted(folder.rglob("*.py")))]
    wrong: list[str] = []
    for file in files:
        text = file.read_text()
        lines = text.splitlines()
        for node in blocks(ast.parse(text)):
            if isinstance(node, HAVING_DOCSTRINGS) and ast.get_docstring(node) is not None:
                first, last = node.body[0].lineno, node.body[0].end_lineno
                if len(lines[first - 1]) >= 80 or (first != last and lines[first].strip()):
                    wrong.append(f"{file.relative_to(ROOT)}:{first}")
    assert not wrong, "longer than 79 columns, or not followed by a blank line:\n" + "\n".join(wrong)


@each("function", FUNCTIONS)
def test_a_function_is_annotated_and_its_docstring_has_an_example_and_its_source_in_the_standard(function: str) -> None:
    name, found = function.rpartition(".")[2], named(xp, function)
    assert ">>> import anyarray as xp" in found.__doc__
    assert re.search(rf"Source: array API 2025\.12, ([a-z_]+\.{name}|inspection)\.", found.__doc__)
    signature = inspect.signature(found)
    assert signature.return_annotation is not inspect.Signature.empty
    assert not [p.name for p in signature.parameters.values() if p.annotation is p.empty]


@each("native", NATIVE)
def test_a_backend_has_every_declared_function(native: str, backend: xp.Backend) -> None:
    assert callable(getattr(backend.free, native))


def test_a_function_that_a_backend_lacks_says_so(backend: xp.Backend) -> None:
    with pytest.raises(xp.UnsupportedError) as caught:
        backend.function("no_such_function")
    assert str(caught.value) == f"no_such_function is not implemented on {backend}"


def test_the_source_of_a_generated_body_is_there_for_debuggers() -> None:
    body = inspect.unwrap(xp.exp, stop=lambda one: hasattr(one, "__code__") and one.__code__.co_filename[0] == "<")
    file = body.__code__.co_filename
    assert "return call(declaration, (x, ))" in "".join(linecache.getlines(file))


@pytest.mark.usefixtures("backend")
def test_a_traceback_shows_the_native_call() -> None:
    def failing() -> Any:
        return xp.ones(2) + xp.ones(3)

    try:
        failing()
    except ValueError as error:
        shown = "".join(traceback.format_exception(error))
    assert "result = function(*positional, **keyword)" in shown


def test_every_operator_has_got_the_body_of_its_function() -> None:
    assert not dispatch._pending_operators
    assert inspect.unwrap(xp.Array.__rsub__).__code__.co_filename == "<anyarray Array.__rsub__>"


@pytest.mark.usefixtures("backend")
def test_an_operator_takes_the_dtypes_of_its_function() -> None:
    flags = xp.asarray([True, True])
    assert (flags / flags).dtype == xp.divide(flags, flags).dtype == xp.float64
    for divide in (operator.truediv, xp.divide):
        with pytest.raises(
            ValueError, match=r"^divide: x1 of shape \(2,\) and x2 of shape \(3,\) cannot be broadcast together$"
        ):
            divide(flags, xp.asarray([True, True, False]))


@pytest.fixture
def blended(backend: xp.Backend, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., xp.Array]]:
    """A function that the standard lacks, on the backend of the test.

    It is one declaration, and a native function for that backend.
    """
    for table in (_home.declared, batching.rule_of, cost.class_of, declaration.declarations):
        monkeypatch.setitem(table, "blended", None)  # so that it is not there after the test
    library = registry.load(libraries.LIBRARIES[backend.library])
    monkeypatch.setattr(library.module, "blended", lambda x1, x2: (x1 + x2) / 2, raising=False)

    @dispatch.dispatch(x1="real numeric", x2="real numeric", cost="transcendental")
    def blended(x1: AnyArray | float, x2: AnyArray | float, /) -> Array: ...

    yield blended
    for home in _home._homes:
        vars(home).pop("blended", None)


def test_a_function_that_is_added_in_one_place_has_errors_and_is_batched(
    blended: Callable[..., xp.Array], backend: xp.Backend
) -> None:
    x = xp.asarray([1.0, 2.0])
    assert blended(x, 3.0).tolist() == [2.0, 2.5]
    assert blended(x, xp.asarray([[3.0], [5.0]])).device is backend
    with pytest.raises(
        ValueError, match=r"^blended: x1 of shape \(2,\) and x2 of shape \(3,\) cannot be broadcast together$"
    ):
        blended(x, xp.ones(3))
    with pytest.raises(TypeError, match=r"^blended: x1 must have a real numeric dtype, not complex128\. "):
        blended(xp.ones(2, dtype=xp.complex128), xp.ones(3))
    assert xp.vmap(blended)(xp.asarray([[1.0, 2.0]]), xp.asarray([3.0])).tolist() == [[2.0, 2.5]]
    assert batching.rule_of["blended"] is batching.rule_of["atan2"]


@pytest.mark.usefixtures("backend")
def test_a_function_that_is_added_has_a_cost_and_is_measured(blended: Callable[..., xp.Array]) -> None:
    shapes, dtypes = [(1000, 1), (1000,)], [xp.float64, xp.float64]
    call, like_it = (cost.call(name, shapes, dtypes) for name in ("blended", "atan2"))
    assert call is not None and like_it is not None
    assert call == like_it._replace(function="blended")
    (cell,) = (one for one in itertools.chain(*cells.stages(1 << 26)) if (one.other, one.width) == ("blended", 8))
    assert cell.function is blended
    little = cells.Cell(cell.kind, 8, 16, "blended")
    assert [a.shape for a in little.inputs()] == [(8,), (8,)]
    measuring.waiting(little.function, little.inputs(), xp.device("numpy"))


WRONG_WORDS = {
    "cost": "thinking: cost 'free' is unknown. Known: arithmetic, arithmetic of short rows, transcendental, sum, ",
    "fit": "thinking: fit 'free' is unknown. Known: any, broadcast, ",
    "batch": "thinking: batch 'free' is unknown. Known: elementwise, conversion, ",
    "scalars": "thinking: scalars 'free' is unknown. Known: promoted, compared, exponent",
    "timed": "thinking: timed 'free' is unknown. Known: half a spectrum, numbers beyond one, shifts, truths",
    "x": "thinking: x 'free' is unknown. Known: any, numeric, ",
    "y": "thinking: there is no parameter y",
}


@pytest.mark.parametrize(("said", "sentence"), WRONG_WORDS.items(), ids=WRONG_WORDS)
def test_a_word_that_nobody_knows_is_an_error_which_names_the_known_ones(said: str, sentence: str) -> None:
    def thinking(x: AnyArray, /) -> Array: ...

    before = [set(table) for table in (_home.declared, declaration.declarations)]
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        dispatch.dispatch(**{said: "free"})(thinking)
    assert before == [set(table) for table in (_home.declared, declaration.declarations)]


COMPILED: Final = ROOT / "anyarray" / "_speedups"
CITED: Final = re.compile(
    r"`((?:_array|_base|_call|_choice|_memory|_registry|backends|extensions|random|standard)\.[\w.]+)`"
)
"""A name of the package, in a comment of the C sources."""


def test_every_name_of_python_that_c_cites_exists() -> None:
    missing: list[str] = []
    for file in sorted(COMPILED.rglob("*.[ch]")):
        for name in CITED.findall(file.read_text()):
            try:
                pkgutil.resolve_name(f"anyarray.{name}")
            except (ImportError, AttributeError):
                missing.append(f"{file.name}: {name}")
    assert not missing


def test_every_compiled_path_cites_the_function_that_it_repeats() -> None:
    rows = re.findall(r"^FastPath (.+);(.*)$", (COMPILED / "entry" / "fast_paths.h").read_text(), re.M)
    assert len(rows) > 20
    assert not [names for names, comment in rows if not CITED.search(comment)]


def test_the_text_of_each_fault_stands_once_in_its_file() -> None:
    counts = {str(one): (ROOT / "anyarray" / one.file).read_text().count(one.old) for one in faults.faults()}
    assert {one: count for one, count in counts.items() if count != 1} == {}
