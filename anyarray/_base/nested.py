"""Values that hold others: tuples, lists, dicts, named tuples, dataclasses.

Opened, they are their parts; flattened, their Arrays and a structure. A structure is hashable, and equal structures
hold equal things besides the Arrays, so that a compiled function can be kept by it. The proxies by which `tf.Module`
keeps containers count as the containers that they stand for.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import operator
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np

Structure: TypeAlias = Any
"""LEAF, a `Static`, or a tuple of class, keys and the structures of the parts.

The class of a defaultdict stands in a pair with its factory.
"""

LEAF: Final = "leaf"
"""The structure of an Array."""


class Static:
    """A value that is no Array, as a part of a structure.

    It is equal to another if class and value are.
    """

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        kind = type(value)
        if kind is float or kind is complex or isinstance(value, np.inexact):
            key: Any = repr(value)  # by which 0.0 and -0.0 differ and NaN is NaN
        elif isinstance(value, enum.Enum):  # that of a dataclass may have no hash
            key = id(value)
        elif isinstance(value, tuple):  # equal ones may hold 1, True and 1.0
            key = tuple(map(Static, value))
        else:
            key = frozenset(map(Static, value)) if kind is frozenset else value
        self._key = (kind, key)

    def __eq__(self, other: object) -> bool:
        return type(other) is Static and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def opened(value: Any) -> tuple[tuple[Any, ...] | None, Iterable[Any]] | None:
    """The keys and the parts of a container; None for anything else.

    The keys are None if they are 0, 1, 2 ... Those of a dataclass are its fields that are set, then the other
    attributes of the instance.
    """
    if isinstance(value, enum.Enum):
        return None  # whatever it holds: there is one object of each member
    if isinstance(value, (tuple, list)):
        return None, value
    if isinstance(value, dict):
        return tuple(value), value.values()
    if _is_instance_of_dataclass(value):
        names = dict.fromkeys([*_fields(value), *getattr(value, "__dict__", ())])
        return tuple(names), [getattr(value, name) for name in names]
    return None


def closed(kind: Any, keys: tuple[Any, ...] | None, parts: Iterable[Any]) -> Any:
    """The container of that class with other parts.

    A subclass without a constructor that is known becomes the tuple, list or dict that it is.
    """
    if keys is None:
        if hasattr(kind, "_fields"):
            return kind(*parts)
        return list(parts) if issubclass(kind, list) else tuple(parts)
    if type(kind) is tuple:
        return defaultdict(kind[1], zip(keys, parts, strict=True))
    if issubclass(kind, dict):
        made = dict(zip(keys, parts, strict=True))
        return kind(made) if kind is OrderedDict or kind is Counter else made
    # Not by its constructor: that may check or convert, which the parts of a trace do not stand.
    made = object.__new__(kind)
    for name, part in zip(keys, parts, strict=True):
        object.__setattr__(made, name, part)
    return made


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A container with `change` applied to its parts; anything else itself.

    So is a container that `change` leaves as it was. The parts of a dataclass are its fields here: its other attributes
    stay as they are.
    """
    content = opened(value)
    if content is None:
        return value
    if _is_instance_of_dataclass(value):
        fields = _fields(value)
        changed = {name: change(getattr(value, name)) for name in fields}
        if all(getattr(value, name) is one for name, one in changed.items()):
            return value
        attributes = {**getattr(value, "__dict__", {}), **changed}
        return closed(type(value), tuple(attributes), attributes.values())
    keys, parts = content[0], list(content[1])
    parts_now = [change(part) for part in parts]
    if all(map(operator.is_, parts, parts_now)):
        return value
    kind = type(value)
    if kind is list or kind is dict or getattr(kind, "__setitem__", None) not in _KEEPING:
        return closed(_kind(value), keys, parts_now)
    made = copy.copy(value)
    for key, part in zip(range(len(parts)) if keys is None else keys, parts_now, strict=True):
        made[key] = part
    return made


_KEEPING: Final = (dict.__setitem__, list.__setitem__, OrderedDict.__setitem__)
"""How containers are written whose copies are of their class: they keep what they hold where Python does."""


def _is_instance_of_dataclass(value: Any) -> bool:
    return hasattr(type(value), "__dataclass_fields__") and not isinstance(value, (tuple, list, dict))


def _fields(value: Any) -> list[str]:
    """Names of the fields of a dataclass's instance that are set."""
    return [field.name for field in dataclasses.fields(value) if hasattr(value, field.name)]


def _kind(value: Any) -> Any:
    """The class of a container, as it stands in a structure."""
    # That of a proxy is the one that it stands for, other than its type.
    kind = value.__class__
    return (kind, value.default_factory) if kind is defaultdict else kind


def flattened(value: Any, leaves: list[Any], taken: Callable[[Any], Any | None]) -> Structure:
    """The structure of `value`, whose leaves are appended to `leaves`.

    They come in order. `taken` makes a leaf of what is one and None of the rest. A `Static` is not looked into.
    """
    kind: Any = type(value)
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
        kind = _kind(value)
        keys, parts = content
    return kind, keys, tuple([flattened(part, leaves, taken) for part in parts])


def rebuilt(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The value of that structure with other leaves."""
    if structure is LEAF:
        return next(leaves)
    if type(structure) is Static:
        value = structure.value
        return set(value) if type(value) is set else value  # each time another, as who gets it may write to it
    kind, keys, parts = structure
    return closed(kind, keys, [rebuilt(part, leaves) for part in parts])


def labels(structure: Structure, name: str) -> list[str]:
    """How a message calls the leaves of a value called `name`, in order.

    Examples are `pair[0]`, `params["w"]` and `model.weights`.
    """
    if structure is LEAF:
        return [name]
    if type(structure) is Static:
        return []
    kind, keys, parts = structure
    names = range(len(parts)) if keys is None else keys
    is_dataclass = keys is not None and type(kind) is not tuple and not issubclass(kind, dict)
    pattern = "{}.{}" if is_dataclass else "{}[{!r}]"
    return [label for key, part in zip(names, parts, strict=True) for label in labels(part, pattern.format(name, key))]
