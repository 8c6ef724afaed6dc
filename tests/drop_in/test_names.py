"""Every name of NumPy's is there, old and private ones, too."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy
import pytest
from comparison import each

import anyarray.numpy
from anyarray.numpy import _signatures

pytestmark = pytest.mark.few_backends

NAMES: Final = [
    *[name for name in sorted(numpy.__all__) if not name.startswith("_") and name != "trapz"],  # gone from 2.4 on
    *[f"linalg.{name}" for name in sorted(numpy.linalg.__all__)],
    *[f"fft.{name}" for name in sorted(numpy.fft.__all__)],
    *[f"random.{name}" for name in sorted(numpy.random.__all__)],
]


def found(space: Any, path: str) -> Any:
    for name in filter(None, path.split(".")):
        space = getattr(space, name)
    return space


@each("path", NAMES)
def test_a_public_name_is_there(path: str) -> None:
    found(anyarray.numpy, path)


SPACES: Final = ("", "core", "fft", "lib", "linalg", "ma", "polynomial", "random", "testing")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@each("space", SPACES)
def test_what_dir_of_a_module_of_numpys_lists_is_there(space: str) -> None:
    paths = [".".join(filter(None, (space, name))) for name in dir(found(numpy, space)) if name[:2] != "__"]
    assert [
        path for path in paths if not hasattr(found(anyarray.numpy, path.rpartition(".")[0]), path.rpartition(".")[2])
    ] == []


def test_an_old_name_warns_as_in_numpy_or_says_what_to_write() -> None:
    with pytest.warns(DeprecationWarning, match=r"^numpy\.core is deprecated"):
        assert found(anyarray.numpy, "core.numeric.ones") is numpy.ones
    with pytest.raises(
        AttributeError, match=r"^module 'anyarray\.numpy' has no attribute 'float_'\. Use `np\.float64` instead$"
    ):
        found(anyarray.numpy, "float_")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@each("path", ["core.numeric", "_core.umath", "lib._iotools", "random._pickle", "random.bit_generator"])
def test_an_old_module_is_imported_by_its_name_and_stays_numpys(path: str) -> None:
    theirs = importlib.import_module(f"numpy.{path}")
    assert importlib.import_module(f"anyarray.numpy.{path}") is theirs
    assert theirs.__name__.startswith("numpy.")


def test_generators_of_old_programs_are_those_of_random() -> None:
    old = importlib.import_module("anyarray.numpy.random.mtrand")
    assert old.RandomState is anyarray.numpy.random.RandomState
    assert isinstance(old._rand, old.RandomState)
    anyarray.numpy.random.seed(3)
    assert old._rand.normal(size=2).tolist() == numpy.random.RandomState(3).normal(size=2).tolist()


def test_a_generator_of_numpys_counts_as_one_of_ours() -> None:
    random = anyarray.numpy.random
    assert isinstance(numpy.random.default_rng(), random.Generator)
    assert isinstance(numpy.random.RandomState(), random.RandomState)
    assert not isinstance(numpy.random.RandomState(), random.Generator)
    assert not isinstance(3, random.Generator)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_matrices_are_numpys_and_decide_what_operators_give() -> None:
    np, values = anyarray.numpy, [[1.0, 2.0], [3.0, 5.0]]
    m, x = np.asmatrix(np.array(values)), np.array(values)
    products = [m * x, x * m, m @ x, np.dot(x, m), np.multiply(m, x) - np.multiply(m, x) + m @ m]
    assert [one.tolist() for one in products] == [[[7, 12], [18, 31]]] * 5
    assert {type(one) for one in products} == {numpy.matrix}
    assert np.bmat([[x, x]]).shape == (2, 4)
    assert not isinstance(3, (tuple, np.ndarray, np.matrix))


MODULES: Final = sorted(
    "char dtypes emath exceptions fft lib lib.array_utils lib.format lib.introspect lib.mixins lib.npyio "
    "lib.recfunctions lib.scimath lib.stride_tricks linalg ma ma.core ma.extras polynomial polynomial.chebyshev "
    "polynomial.hermite polynomial.hermite_e polynomial.laguerre polynomial.legendre polynomial.polynomial rec random "
    "strings testing typing".split()
)
LACKING: Final = {"typing": {"NBitBase"}}
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
    return callable(theirs) and not isinstance(theirs, type)


@each("path", [path for path in NAMES if is_function(path) and not path.startswith("random.")])
def test_a_function_has_numpys_signature(path: str) -> None:
    theirs: Callable[..., Any] = found(numpy, path)
    try:
        expected = inspect.signature(theirs)
    except ValueError:
        return  # of C code that does not tell
    assert str(inspect.signature(found(anyarray.numpy, path))) == str(expected)


def test_what_is_no_name_of_numpys_is_refused() -> None:
    with pytest.raises(
        AttributeError, match=r"""^module 'anyarray\.numpy' has no attribute 'summ'. Did you mean "sum"\?$"""
    ):
        found(anyarray.numpy, "summ")
    with pytest.raises(AttributeError, match=r"^module 'anyarray\.numpy\.lib' has no attribute 'strides'"):
        found(anyarray.numpy, "lib.strides")
