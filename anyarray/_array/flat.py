"""`x.flat`: the elements of an Array in row-major order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from anyarray._array import layout
from anyarray._base import errors
from anyarray._call.arguments import as_written
from anyarray._call.wrapping import SCALARS

if TYPE_CHECKING:
    import anyarray as _xp
    from anyarray._array.array import Array
else:
    _xp = sys.modules["anyarray"]  # of a higher layer


class Flat:
    """The elements of an Array, one after another, to read and to write.

    `x.flat[key]` is a copy; `x.flat[key] = values` writes to `x`, and repeats values that are too few.
    """

    __slots__ = ("_elements", "base", "index")

    def __init__(self, array: Array) -> None:
        self.base = array
        """The Array itself."""
        self.index = 0
        """The number of elements taken from the iterator."""
        self._elements: Iterator[Array] | None = None

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Array]:
        return self

    def __next__(self) -> Array:
        if self._elements is None:
            self._elements = iter(_xp.reshape(self.base, (-1,)))
        found = next(self._elements)
        self.index += 1
        return found

    @property
    def coords(self) -> tuple[int, ...]:
        """The index of the next element in the Array."""
        return tuple([int(one) for one in np.unravel_index(self.index, self.base.shape)])

    def copy(self) -> Array:
        """All elements, in an Array of one axis."""
        return _xp.reshape(self.base, (-1,), copy=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return _xp.reshape(self.base, (-1,)).__array__(dtype, copy)

    def __getitem__(self, key: Any) -> Array:
        found = _xp.reshape(self.base, (-1,))[key]
        return found.copy() if found.ndim else found

    def __setitem__(self, key: Any, value: Any) -> None:
        array = self.base
        target = _xp.reshape(array, (-1,))
        # Of what has no axes, and of what lies otherwise in memory, a reshape is a copy.
        is_view = array.ndim > 0 and layout.is_contiguous(array, "C") and target._home.backend is array._home.backend
        if not is_view:
            target = target.copy()
        if type(value) not in SCALARS:
            value = as_written("flat", "value", value, array.dtype)
            value = as_many(value, target[key].size) if value.ndim else value
        target[key] = value
        if not is_view:
            array[...] = _xp.reshape(target, array.shape)


def as_many(values: Array, count: int) -> Array:
    """Values in an Array of one axis with `count` elements.

    Too few are repeated, too many are cut. Raises ValueError for none.
    """
    flat = _xp.reshape(values, (-1,))
    if flat.size == count or flat.size == 1:
        return flat
    if not flat.size:
        raise errors.ArgumentValueError(f"flat: value must hold at least one element, for {count} places")
    return _xp.take(flat, _xp.remainder(_xp.arange(count), flat.size))


def as_operand(value: Any) -> Any:
    """A list, a tuple or a range as an Array; else the value itself.

    An empty sequence has an integer dtype, for use as indices.
    """
    if not isinstance(value, (list, tuple, range)):
        return value
    return _xp.asarray(list(value), dtype=None if value else _xp.int64)
