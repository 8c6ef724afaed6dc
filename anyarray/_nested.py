"""Values that hold other values: tuples, lists, dicts, named tuples and dataclasses.

Opened, they are their parts; flattened, their Arrays and a structure. A structure is hashable, and equal structures
hold equal things besides the Arrays, so that a compiled function can be kept by it.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

Structure: TypeAlias = Any
"""LEAF, a `Static`, or a tuple of class, keys and the structures of the parts."""

LEAF: Final = "leaf"
"""The structure of an Array."""


class Static:
    """A value that is no Array, as a part of a structure; equal to another if class and value are."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        kind = type(value)
        # By their text 0.0 and -0.0 differ and NaN is NaN.
        self._key = (kind, repr(value) if kind is float or kind is complex else value)

    def __eq__(self, other: object) -> bool:
        return type(other) is Static and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def opened(value: Any) -> tuple[tuple[Any, ...] | None, Iterable[Any]] | None:
    """The keys of a container, None if they are 0, 1, 2 ..., and its parts; None for anything else."""
    if isinstance(value, (tuple, list)):
        return None, value
    if isinstance(value, dict):
        return tuple(value), value.values()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in dataclasses.fields(value))
        return names, [getattr(value, name) for name in names]
    return None


def closed(kind: type, keys: tuple[Any, ...] | None, parts: Iterable[Any]) -> Any:
    """The container of that class with other parts.

    A subclass without a constructor that is known becomes the tuple, list or dict that it is.
    """
    if keys is None:
        if hasattr(kind, "_fields"):
            return kind(*parts)
        return list(parts) if issubclass(kind, list) else tuple(parts)
    if issubclass(kind, dict):
        pairs = zip(keys, parts, strict=True)
        return OrderedDict(pairs) if kind is OrderedDict else dict(pairs)
    # Not by its constructor: that may check or convert, which the parts of a trace do not stand.
    made = object.__new__(kind)
    for name, part in zip(keys, parts, strict=True):
        object.__setattr__(made, name, part)
    return made


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A container with `change` applied to its parts; anything else as it is."""
    content = opened(value)
    return value if content is None else closed(type(value), content[0], map(change, content[1]))


def flattened(value: Any, leaves: list[Any], taken: Callable[[Any], Any | None]) -> Structure:
    """The structure of `value`; its leaves, in order, are appended to `leaves`.

    `taken` makes a leaf of what is one and None of the rest. A `Static` is not looked into.
    """
    kind = type(value)
    keys: tuple[Any, ...] | None
    parts: Iterable[Any]
    if kind is dict:  # the common containers first, which are no leaves
        keys, parts = tuple(value), value.values()
    elif kind is tuple or kind is list:
        keys, parts = None, value
    else:
        leaf = taken(value)
        if leaf is not None:
            leaves.append(leaf)
            return LEAF
        if kind is Static:
            return value
        content = opened(value)
        if content is None:
            return Static(value)
        keys, parts = content
    return kind, keys, tuple([flattened(part, leaves, taken) for part in parts])


def rebuilt(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The value of that structure with other leaves."""
    if structure is LEAF:
        return next(leaves)
    if type(structure) is Static:
        return structure.value
    kind, keys, parts = structure
    return closed(kind, keys, [rebuilt(part, leaves) for part in parts])


def labels(structure: Structure, name: str) -> list[str]:
    """How a message calls the leaves of a value called `name`, in order: `pair[0]`, `params["w"]`, `model.weights`."""
    if structure is LEAF:
        return [name]
    if type(structure) is Static:
        return []
    kind, keys, parts = structure
    names = range(len(parts)) if keys is None else keys
    pattern = "{}[{!r}]" if keys is None or issubclass(kind, dict) else "{}.{}"
    return [label for key, part in zip(names, parts, strict=True) for label in labels(part, pattern.format(name, key))]
