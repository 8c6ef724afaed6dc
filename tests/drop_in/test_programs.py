"""Ordinary NumPy programs give NumPy's results on every backend.

They are unchanged but for the import.
"""

from __future__ import annotations

import contextlib
import io
import numbers
import re
import sys
import types
from pathlib import Path
from typing import Any, Final

import numpy
import pytest

import anyarray as xp

pytestmark = pytest.mark.few_backends

PROGRAMS: Final = sorted((Path(__file__).parents[1] / "programs").glob("*.py"))


def results(program: Path, module: str) -> Any:
    """What `main` of a program returns, with NumPy from this module."""
    source = re.sub(r"^(import|from) numpy\b", rf"\1 {module}", program.read_text(), flags=re.MULTILINE)
    made = types.ModuleType(program.stem)
    sys.modules[program.stem] = made  # where dataclasses look for what annotations name
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, program, "exec"), made.__dict__)
            return made.main()
    finally:
        del sys.modules[program.stem]


def assert_same(found: Any, expected: Any, path: str) -> None:
    if isinstance(expected, dict):
        assert [str(key) for key in found] == [str(key) for key in expected], path
        for (key, value), one in zip(expected.items(), found.values(), strict=True):
            assert_same(one, value, f"{path}[{key!r}]")
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), path
        for at, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{path}[{at}]")
    elif isinstance(expected, (numpy.ndarray, numbers.Number)) and numpy.asarray(expected).dtype.kind in "fc":
        assert numpy.shape(found) == numpy.shape(expected), path
        numpy.testing.assert_allclose(numpy.asarray(found), expected, rtol=1e-6, atol=1e-9, err_msg=path)
    elif isinstance(expected, (numpy.ndarray, numpy.generic)):
        assert numpy.asarray(found).dtype == expected.dtype, path
        numpy.testing.assert_array_equal(numpy.asarray(found), expected, err_msg=path)
    else:
        assert found == expected, path


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_numpy_program_gives_numpys_results(program: Path, backend: xp.Backend) -> None:
    assert_same(results(program, "anyarray.numpy"), results(program, "numpy"), "main()")
