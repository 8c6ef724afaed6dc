"""The Arrays and constants that a function may depend on.

They are in its closure, its defaults, the globals that it names, the object whose method it is, and in the functions
among these. They identify functions that an enclosing function creates at each call, and distinguish a function whose
Arrays have been written since.
"""

from __future__ import annotations

import functools
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final

from anyarray._array.array import Array
from anyarray._base import nested
from anyarray._base.nested import Static
from anyarray._registry import libraries
from anyarray._registry.home import Native
from anyarray.transforms._call import leaf_of_argument

MOST_PARTS: Final = 1000
"""The largest number of objects to inspect for one function."""
MOST_BYTES: Final = 1 << 16
"""The largest memory, in bytes, that is compared by its contents because other code may write to it."""

_FOREIGN: Final = {
    "anyarray",
    *(root for row in libraries.LIBRARIES.values() for root in (row.package, *row.roots)),
    *sys.stdlib_module_names,
} - {"__main__"}
"""Packages whose functions are constants."""


class _Same:
    """An object as part of a key, equal only to itself."""

    __slots__ = ("_one",)

    def __init__(self, one: object) -> None:
        self._one = one

    def __eq__(self, other: object) -> bool:
        return type(other) is _Same and self._one is other._one

    def __hash__(self) -> int:
        return id(self._one)


class Reach:
    """The objects that functions may depend on."""

    def __init__(self, functions: Sequence[Callable[..., Any]]) -> None:
        self.arrays: list[Array] = []
        self._seen: dict[int, tuple[int, Any]] = {}
        """The number of each object by its id, and the object, so that the id is not reused."""
        self.key: Hashable | None
        """A key that is equal for functions that compute the same; None if unknown."""
        try:
            self.key = tuple([self._key(one) for one in functions])
            hash(self.key)
        except (_CannotTell, TypeError):
            self.key = None

    def _key(self, value: Any) -> Hashable:
        kind = type(value)
        if kind is Array:
            return self._key_of_array(value)
        if kind in _CONSTANTS:
            return Static(value)
        number, _ = self._seen.setdefault(id(value), (len(self._seen), value))
        if number < len(self._seen) - 1:
            return number
        if number >= MOST_PARTS:
            raise _CannotTell
        if kind is types.FunctionType:
            return self._key_of_function(value)
        if kind is types.MethodType:
            return kind, self._key(value.__func__), self._key(value.__self__)
        if kind is functools.partial:
            return kind, self._key(value.func), self._key(value.args), self._key(value.keywords)
        content = nested.keys_and_parts(value)
        if content is not None:
            return kind, content[0], tuple([self._key(one) for one in content[1]])
        array = leaf_of_argument(value)
        if array is not None:
            return self._key_of_array(array)
        if _is_foreign(kind.__module__):
            return Static(value)
        return _Same(value), self._key(getattr(value, "__dict__", None))

    def _key_of_array(self, array: Array) -> Hashable:
        self.arrays.append(array)
        native: Native = array._native
        if array._home.backend.is_immutable or array._home.is_traced(native):
            return _Same(native)
        if array.nbytes > MOST_BYTES:
            raise _CannotTell
        return array._home, array.shape, str(array.dtype), array._home.to_numpy(native).tobytes()

    def _key_of_function(self, function: types.FunctionType) -> Hashable:
        if _is_foreign(function.__module__):
            return _Same(function)
        cells = []
        for cell in function.__closure__ or ():
            try:
                cells.append(cell.cell_contents)
            except ValueError:  # it is empty
                cells.append(None)
        names, spaces = _names(function.__code__), function.__globals__
        named = [(name, spaces[name]) for name in names if name in spaces]
        for value in (*cells, *[value for _, value in named]):
            if type(value) is types.ModuleType and not _is_foreign(value.__name__):  # one of the user's, with constants
                space = vars(value)
                named += [(name, space[name]) for name in names if name in space and not callable(space[name])]
        wrapped = getattr(function, "__wrapped__", None)
        parts = cells, function.__defaults__, function.__kwdefaults__, named, wrapped
        return function.__code__, tuple([self._key(one) for one in parts])


class _CannotTell(Exception):  # noqa: N818 - a signal
    """A function depends on too many objects, or on mutable objects."""


_CONSTANTS: Final = frozenset(
    {
        *(bool, int, float, complex, str, bytes, type(None), type(...), slice, range, type),
        *(types.ModuleType, types.BuiltinFunctionType),
    }
)


def _is_foreign(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _FOREIGN


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """Names of globals and attributes in a function and inner ones."""
    return tuple(dict.fromkeys(_all_names(code)))


def _all_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _all_names(one)


class Programs(OrderedDict[Hashable, Callable[..., Any]]):
    """A cache of compiled functions: the most recent ones."""

    MOST: Final = 256

    def of(self, key: Hashable | None, make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        """The function for a key, made if it is new or None."""
        if key is None:
            return make()
        try:
            self.move_to_end(key)
            return self[key]
        except KeyError:
            pass
        made = self[key] = make()
        while len(self) > self.MOST:
            try:
                self.popitem(last=False)
            except KeyError:  # another thread has emptied it
                break
        return made
