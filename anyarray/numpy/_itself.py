"""Names that NumPy itself serves."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any, Final

import numpy as np

from anyarray._array.array import Array
from anyarray._base.other_names import near

_AS_IT_IS: Final = (
    "True_ False_ e euler_gamma inf nan newaxis pi little_endian sctypeDict typecodes ScalarType "  # constants
    "errstate seterr geterr seterrcall geterrcall setbufsize getbufsize "  # the state of floating-point errors
    "set_printoptions get_printoptions printoptions format_float_positional format_float_scientific base_repr "
    "binary_repr "
    "dtype finfo iinfo isdtype issubdtype promote_types typename mintypecode dtypes exceptions "
    "iterable ndindex broadcast_shapes show_config show_runtime get_include info s_ index_exp typing "
    "char strings rec recarray datetime_as_string datetime_data busday_count busday_offset busdaycalendar is_busday "
    "isnat frompyfunc ma memmap polynomial"  # what no other library has
).split()
_OF_ARRAYS: Final = (
    "array2string array_repr array_str save savetxt savez savez_compressed result_type can_cast min_scalar_type "
    "common_type "
).split()
"""Functions of NumPy that look at the values or the dtypes of arrays, and make none."""
_MAKERS: Final = "load loadtxt genfromtxt fromfile fromregex frombuffer fromstring fromiter".split()
"""Functions of NumPy that read an array from elsewhere."""
_CLASSES: Final = [
    name for name in np.__all__ if isinstance(getattr(np, name), type) and issubclass(getattr(np, name), np.generic)
]
NAMES: Final = frozenset({*_AS_IT_IS, *_OF_ARRAYS, *_MAKERS, *_CLASSES, "bool_"})
"""Names that `find` knows."""


def find(name: str) -> Any:
    """The object of NumPy by this name, for Arrays."""
    theirs = np.bool if name == "bool_" else getattr(np, name)
    if name in _OF_ARRAYS:
        return of_ndarrays(theirs)
    return making(theirs) if name in _MAKERS else theirs


def other(module: str, name: str) -> Any:
    """The object of NumPy by a name without an equivalent here.

    Such names are old, deprecated or private, or tools. Raises AttributeError, with NumPy's reason if it has one.
    """
    if name.startswith("__"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
    theirs = importlib.import_module(module.removeprefix("anyarray."))
    try:
        return getattr(theirs, name)
    except AttributeError as error:
        instead = str(error).partition(" release.")[2].rstrip(".")  # NumPy's advice for a name that it has removed
        hint = "." + instead if instead else near(name, dir(sys.modules[module]))
        raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}", name=name) from None


class NumPysModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds NumPy's modules under our name if we have no such module.

    So `from anyarray.numpy.polynomial import Polynomial` imports the class `np.polynomial.Polynomial`, and
    `import anyarray.numpy.core` works. Stubs that import everything say so to type checkers.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """A specification for a module of NumPy's; None for all others."""
        if not name.startswith("anyarray.numpy."):
            return None
        own = importlib.machinery.PathFinder.find_spec(name, path)
        if own is not None and str(own.origin).startswith(os.path.dirname(__file__)):
            return None
        theirs = importlib.util.find_spec(name.removeprefix("anyarray."))
        return theirs and ModuleSpec(name, self)

    def exec_module(self, module: Any) -> None:
        """Replace the new module by NumPy's."""
        sys.modules[module.__name__] = importlib.import_module(module.__name__.removeprefix("anyarray."))


def of_ndarrays(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy that gets the values of Arrays."""

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        return theirs(*map(values_of, args), **{name: values_of(value) for name, value in kwargs.items()})

    return function


def making(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy whose ndarrays become Arrays."""
    from anyarray.numpy._wrapper import brought

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        made = theirs(*map(values_of, args), **kwargs)
        return made if isinstance(made, np.memmap) and made.mode == "r+" else brought(made)  # or no write reached it

    return function


def values_of(value: Any) -> Any:
    """The ndarray of an Array, in nested lists and tuples, too."""
    if type(value) is Array:
        return np.asarray(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(map(values_of, value))
    return value
