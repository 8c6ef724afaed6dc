"""`np.random`: NumPy's own numbers, brought to the chosen backend.

They are drawn by its generators, and equal to the digit on every backend. Each draw that makes an array is a
transfer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as _numpy

from anyarray._array.array import Array
from anyarray._base import errors
from anyarray.numpy._itself import values_of
from anyarray.numpy._wrapper import at_once, brought

_IN_PLACE = frozenset({"shuffle"})
_CLASSES = frozenset({"BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence"})


class _Drawing:
    """A generator of NumPy whose methods give Arrays."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._theirs, name)
        if callable(found) and not name.startswith("_"):
            found = drawing(found)
            self.__dict__[name] = found
        return found

    def __repr__(self) -> str:
        return repr(self._theirs)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (self._theirs,)

    @classmethod
    def _of(cls, theirs: Any) -> Any:
        made = cls.__new__(cls)
        made.__dict__["_theirs"] = theirs
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
    if isinstance(seed, Generator):
        return seed
    return Generator._of(_numpy.random.default_rng(values_of(seed)))  # type: ignore[no-any-return]  # a Generator


_NUMBERS: Final = frozenset({int, float})


def drawing(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a generator that takes and gives Arrays."""
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
        if not isinstance(out, Array):
            raise errors.ArgumentTypeError(f"{name}: out must be an Array, not {type(out).__name__}")
        given["out"] = values = _numpy.array(out)
        theirs(*map(values_of, args), **given)
        out[...] = values
        return out

    return at_once(functools.wraps(theirs)(shuffled if name in _IN_PLACE else drawn), theirs, variant="d")


def __getattr__(name: str) -> Any:
    if name not in _numpy.random.__all__:
        raise AttributeError(f"module 'anyarray.numpy.random' has no attribute {name!r}", name=name)
    theirs = getattr(_numpy.random, name)
    found = theirs if name in _CLASSES else drawing(theirs)
    globals()[name] = found
    return found


__all__ = sorted(_numpy.random.__all__)  # pyright: ignore[reportUnsupportedDunderAll]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
