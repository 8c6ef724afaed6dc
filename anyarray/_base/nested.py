"""Containers (pytrees): tuples, lists, dicts, namedtuples, dataclasses.

A nested value is flattened to its leaves, the Arrays, and a structure, and unflattened from them. A structure is
hashable, and values with equal structures differ only in their leaves, so it is a key for the cache of compiled
functions. The proxies in which `tf.Module` wraps containers count as those containers.
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

For a defaultdict the class is a pair: the class and its default factory.
"""

LEAF: Final = "leaf"
"""The structure of an Array."""


class Static:
    """A value in a structure that is not a leaf, such as a static argument.

    Two are equal if their classes and values are.
    """

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        kind = type(value)
        if kind is float or kind is complex or isinstance(value, np.inexact):
            key: Any = repr(value)  # so that 0.0 and -0.0 differ, and NaN equals NaN
        elif isinstance(value, enum.Enum):  # one whose value is a dataclass may not be hashable
            key = id(value)
        elif isinstance(value, tuple):  # (1,), (True,) and (1.0,) are equal, but differ here
            key = tuple(map(Static, value))
        else:
            key = frozenset(map(Static, value)) if kind is frozenset else value
        self._key = (kind, key)

    def __eq__(self, other: object) -> bool:
        return type(other) is Static and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def keys_and_parts(value: Any) -> tuple[tuple[Any, ...] | None, Iterable[Any]] | None:
    """The keys and the parts of a container; None for anything else.

    The keys of a sequence are None. Those of a dataclass are its fields that are set, then the other attributes of
    the instance.
    """
    if isinstance(value, enum.Enum):
        return None  # a member is one object, which must not be rebuilt, also if its value is a container
    if isinstance(value, (tuple, list)):
        return None, value
    if isinstance(value, dict):
        return tuple(value), value.values()
    if _is_instance_of_dataclass(value):
        names = dict.fromkeys([*_fields(value), *getattr(value, "__dict__", ())])
        return tuple(names), [getattr(value, name) for name in names]
    return None


def from_parts(kind: Any, keys: tuple[Any, ...] | None, parts: Iterable[Any]) -> Any:
    """A container of class `kind` with these parts.

    An instance of a subclass with an unknown constructor becomes a plain tuple, list or dict.
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
    # Not by its constructor: that may check or convert values, which fails for traced ones.
    made = object.__new__(kind)
    for name, part in zip(keys, parts, strict=True):
        object.__setattr__(made, name, part)
    return made


def map_parts(value: Any, change: Callable[[Any], Any]) -> Any:
    """A container with `change` applied to its parts; anything else itself.

    If `change` returns every part unchanged, the result is the container itself. Only the fields of a dataclass are
    changed, not its other attributes.
    """
    content = keys_and_parts(value)
    if content is None:
        return value
    if _is_instance_of_dataclass(value):
        fields = _fields(value)
        changed = {name: change(getattr(value, name)) for name in fields}
        if all(getattr(value, name) is one for name, one in changed.items()):
            return value
        attributes = {**getattr(value, "__dict__", {}), **changed}
        return from_parts(type(value), tuple(attributes), attributes.values())
    keys, parts = content[0], list(content[1])
    parts_now = [change(part) for part in parts]
    if all(map(operator.is_, parts, parts_now)):
        return value
    kind = type(value)
    if kind is list or kind is dict or getattr(kind, "__setitem__", None) not in _COPYABLE_SETITEMS:
        return from_parts(_class_of(value), keys, parts_now)
    made = copy.copy(value)
    for key, part in zip(range(len(parts)) if keys is None else keys, parts_now, strict=True):
        made[key] = part
    return made


_COPYABLE_SETITEMS: Final = (dict.__setitem__, list.__setitem__, OrderedDict.__setitem__)
"""`__setitem__` of subclasses that may be shallow-copied and then written: their items are stored as in the base class.
"""


def _is_instance_of_dataclass(value: Any) -> bool:
    return hasattr(type(value), "__dataclass_fields__") and not isinstance(value, (tuple, list, dict))


def _fields(value: Any) -> list[str]:
    """Names of the fields that are set in an instance of a dataclass."""
    return [field.name for field in dataclasses.fields(value) if hasattr(value, field.name)]


def _class_of(value: Any) -> Any:
    """The class of a container, as structures store it."""
    # `__class__` of a proxy is the class of the container that it wraps; its type is not.
    kind = value.__class__
    return (kind, value.default_factory) if kind is defaultdict else kind


def flatten(value: Any, leaves: list[Any], as_leaf: Callable[[Any], Any | None]) -> Structure:
    """The structure of `value`; its leaves are appended to `leaves`, in order.

    `as_leaf` converts a leaf, and returns None for anything else. A `Static` is not flattened.
    """
    kind: Any = type(value)
    keys: tuple[Any, ...] | None
    parts: Iterable[Any]
    if kind is dict:  # the common containers first: they need no call of `as_leaf`
        keys, parts = tuple(value), value.values()
    elif kind is tuple or kind is list:
        keys, parts = None, value
    else:
        leaf = as_leaf(value)
        if leaf is not None:
            leaves.append(leaf)
            return LEAF
        if kind is Static:
            return value
        content = keys_and_parts(value)
        if content is None:
            return Static(value)
        kind = _class_of(value)
        keys, parts = content
    return kind, keys, tuple([flatten(part, leaves, as_leaf) for part in parts])


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The value of a structure with these leaves: the inverse of `flatten`."""
    if structure is LEAF:
        return next(leaves)
    if type(structure) is Static:
        value = structure.value
        return set(value) if type(value) is set else value  # a new set each time, as it may be written to
    kind, keys, parts = structure
    return from_parts(kind, keys, [unflatten(part, leaves) for part in parts])


def labels(structure: Structure, name: str) -> list[str]:
    """The names in messages of the leaves of a value called `name`, in order.

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
