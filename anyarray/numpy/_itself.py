"""What NumPy itself serves, and what has no meaning here."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._array.array import Array

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

_MATRICES: Final = "matrices as a class of their own are deprecated. Use np.array"
_STRIDES: Final = "iterators over memory exist in NumPy alone. Use np.nditer, np.ndindex or np.ndenumerate"
ABSENT: Final[dict[str, str]] = {
    **dict.fromkeys("matrix asmatrix bmat".split(), _MATRICES),
    **dict.fromkeys("nested_iters flatiter".split(), _STRIDES),
    "core": "it is private to NumPy",
    "ctypeslib": "memory exists in NumPy alone. Use numpy.ctypeslib on np.asarray(x) of numpy",
    "f2py": "it is a tool of NumPy. Import it from numpy",
    "test": "it runs NumPy's own tests. Call it in numpy",
    "linalg.test": "it runs NumPy's own tests. Call it in numpy",
    "fft.test": "it runs NumPy's own tests. Call it in numpy",
}  # fmt: skip
"""Why a public name of NumPy's is not here."""


def find(name: str) -> Any:
    """What NumPy has by this name, for Arrays."""
    theirs = np.bool if name == "bool_" else getattr(np, name)
    if name in _OF_ARRAYS:
        return of_ndarrays(theirs)
    return making(theirs) if name in _MAKERS else theirs


def stand_for(module: str) -> None:
    """Let NumPy's module, and those in it, be found under our name, too.

    So `from anyarray.numpy.polynomial import Polynomial` gives the class that `np.polynomial.Polynomial` is. It is
    called by a module of that name, which says the same to type checkers by `from ... import *`.
    """
    theirs = module.removeprefix("anyarray.")
    importlib.import_module(theirs)
    for name, loaded in sys.modules.copy().items():
        if name == theirs or name.startswith(theirs + "."):
            sys.modules["anyarray." + name] = loaded


def of_ndarrays(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy that gets the values of Arrays."""

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        return theirs(*map(values_of, args), **{name: values_of(value) for name, value in kwargs.items()})

    return function


def making(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy whose ndarrays become Arrays."""
    from anyarray.numpy._entrance import brought

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
