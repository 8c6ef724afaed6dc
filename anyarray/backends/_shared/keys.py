"""Keys of indexing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def completed(entries: Sequence[Any], ndim: int, width: Callable[[Any], int], whole: Any = slice(None)) -> list[Any]:
    """The entries of a key, one for each axis: `...` becomes several `whole`.

    `width` is the number of axes that an entry indexes.
    """
    taken = sum(map(width, entries))
    if taken > ndim:
        raise IndexError(f"too many indices: the array has {ndim} axes, but {taken} were indexed")
    places = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    place, after = (places[0], places[0] + 1) if places else (len(entries), len(entries))
    return [*entries[:place], *[whole] * (ndim - taken), *entries[after:]]


def require_within(index: int, length: int, axis: int) -> None:
    """Raise IndexError unless `index` is within an axis of this length."""
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {length}")
