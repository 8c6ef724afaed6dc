"""`np.random`: NumPy's own numbers, moved to the chosen backend.

NumPy's generators draw them, so they are equal to the digit on every backend. Each draw of an array is a transfer.
`np.random.mtrand`, which older programs use, is this module.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as _numpy

from anyarray._array.array import Array
from anyarray._base import errors
from anyarray.numpy import _itself
from anyarray.numpy._itself import values_of
from anyarray.numpy._wrapper import at_once, brought

_IN_PLACE = frozenset({"shuffle"})
_CLASSES = frozenset({"BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence"})


class _ClassOfGenerators(type):
    """The metaclass of generators: NumPy's own of that name are instances."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or isinstance(instance, getattr(_numpy.random, cls.__name__, ()))


class _Drawing(metaclass=_ClassOfGenerators):
    """A generator of NumPy whose methods give Arrays."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._theirs, name)
        if callable(found) and not name.startswith("_"):
            found = drawing(found)
            vars(self)[name] = found
        return found

    def __repr__(self) -> str:
        return repr(self._theirs)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (self._theirs,)

    @classmethod
    def _of(cls, theirs: Any) -> Any:
        made = cls.__new__(cls)
        vars(made)["_theirs"] = theirs
        return made


class Generator(_Drawing):
    """As `numpy.random.Generator`."""

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(_numpy.random.Generator(bit_generator))

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators that are independent of this one."""
        return [Generator._of(one) for one in self._theirs.spawn(n_children)]


class RandomState(_Drawing):
    """As `numpy.random.RandomState`."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(_numpy.random.RandomState(values_of(seed)))


def default_rng(seed: Any = None) -> Generator:
    """A generator of NumPy's default kind, from a seed or a generator."""
    if type(seed) is Generator:
        return seed
    return Generator._of(_numpy.random.default_rng(values_of(seed)))  # type: ignore[no-any-return]  # a Generator


_NUMBERS: Final = frozenset({int, float})


def drawing(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a generator that accepts and returns Arrays."""
    name = theirs.__name__

    def shuffled(x: Any, *args: Any, **kwargs: Any) -> None:
        if type(x) is not Array:
            theirs(x, *args, **kwargs)
            return
        values = _numpy.array(x)
        theirs(values, *args, **kwargs)
        x[...] = values

    def drawn(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and _NUMBERS.issuperset(map(type, args)):
            return brought(theirs(*args))
        out = kwargs.get("out")
        given = {key: values_of(value) for key, value in kwargs.items()}
        if out is None:
            return brought(theirs(*map(values_of, args), **given))
        if type(out) is not Array:
            raise errors.ArgumentTypeError(f"{name}: out must be an Array, not {type(out).__name__}")
        given["out"] = values = _numpy.array(out)
        theirs(*map(values_of, args), **given)
        out[...] = values
        return out

    return at_once(functools.wraps(theirs)(shuffled if name in _IN_PLACE else drawn), theirs, variant="d")


_rand = RandomState._of(_numpy.random.mtrand._rand)
mtrand = sys.modules[f"{__name__}.mtrand"] = sys.modules[__name__]
__path__: list[str] = []  # other modules in it are NumPy's own


def __getattr__(name: str) -> Any:
    theirs = _itself.other(__name__, name)
    found = drawing(theirs) if name in _numpy.random.__all__ and name not in _CLASSES else theirs
    globals()[name] = found
    return found


__all__ = sorted(_numpy.random.__all__)  # pyright: ignore[reportUnsupportedDunderAll]
__dir__ = __all__.copy  # for completion
