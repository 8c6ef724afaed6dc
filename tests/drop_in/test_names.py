"""Every public name of NumPy's is there, or is listed with a reason."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy
import pytest
from comparison import each

import anyarray.numpy
from anyarray.numpy import _itself, _signatures

pytestmark = pytest.mark.few_backends

NAMES: Final = [
    *[name for name in sorted(numpy.__all__) if not name.startswith("_") and name != "trapz"],  # gone from 2.4 on
    *[f"linalg.{name}" for name in sorted(numpy.linalg.__all__)],
    *[f"fft.{name}" for name in sorted(numpy.fft.__all__)],
    *[f"random.{name}" for name in sorted(numpy.random.__all__)],
]


def found(space: Any, path: str) -> Any:
    for name in path.split("."):
        space = getattr(space, name)
    return space


@each("path", NAMES)
def test_a_name_is_there_or_has_a_reason(path: str) -> None:
    if path in _itself.ABSENT:
        with pytest.raises(AttributeError, match=rf"no attribute '{path.rpartition('.')[2]}': \w"):
            found(anyarray.numpy, path)
    else:
        found(anyarray.numpy, path)


MODULES: Final = sorted(
    "char dtypes emath exceptions fft lib lib.array_utils lib.format lib.introspect lib.mixins lib.npyio "
    "lib.recfunctions lib.scimath lib.stride_tricks linalg ma ma.core ma.extras polynomial polynomial.chebyshev "
    "polynomial.hermite polynomial.hermite_e polynomial.laguerre polynomial.legendre polynomial.polynomial rec random "
    "strings testing typing".split()
)
LACKING: Final = {"fft": {"test"}, "linalg": {"test"}, "typing": {"NBitBase"}}
"""Public names of NumPy's modules that have no meaning here."""


@pytest.mark.filterwarnings("ignore:The chararray class:DeprecationWarning")  # from NumPy 2.5 on
@each("path", MODULES)
def test_a_module_of_numpys_is_imported_by_its_name(path: str) -> None:
    module = importlib.import_module(f"anyarray.numpy.{path}")
    theirs = found(numpy, path) if path == "emath" else importlib.import_module(f"numpy.{path}")
    listed = getattr(theirs, "__all__", [])
    assert {name for name in listed if not hasattr(module, name)} <= LACKING.get(path, set())
    assert found(anyarray.numpy, path) is module


@pytest.mark.skipif(numpy.lib.NumpyVersion(numpy.__version__) < "2.4.0", reason="its functions in C tell no signature")
@each("path", _signatures.WRITTEN)
def test_a_signature_is_written_as_numpys_is(path: str) -> None:
    assert str(inspect.signature(found(numpy, path))) == f"({_signatures.WRITTEN[path]})"


def test_a_class_of_numpys_has_one_object_under_both_names() -> None:
    ours = importlib.import_module("anyarray.numpy.polynomial.chebyshev")
    assert ours.Chebyshev is numpy.polynomial.Chebyshev
    assert importlib.import_module("anyarray.numpy.ma").masked is numpy.ma.masked


def is_function(path: str) -> bool:
    theirs = found(numpy, path)
    return path not in _itself.ABSENT and callable(theirs) and not isinstance(theirs, type)


@each("path", [path for path in NAMES if is_function(path) and not path.startswith("random.")])
def test_a_function_has_numpys_signature(path: str) -> None:
    theirs: Callable[..., Any] = found(numpy, path)
    try:
        expected = inspect.signature(theirs)
    except ValueError:
        return  # of C code that does not tell
    assert str(inspect.signature(found(anyarray.numpy, path))) == str(expected)


def test_what_is_no_name_of_numpys_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"^module 'anyarray\.numpy' has no attribute 'summ'$"):
        found(anyarray.numpy, "summ")
    with pytest.raises(AttributeError, match=r"^module 'anyarray\.numpy\.lib' has no attribute 'strides'$"):
        found(anyarray.numpy, "lib.strides")


def test_no_reason_is_left_of_what_is_there() -> None:
    assert {path for path in _itself.ABSENT if path.partition(".")[0] not in dir(numpy)} == set()
    assert not _itself.ABSENT.keys() & set(anyarray.numpy.__all__)
