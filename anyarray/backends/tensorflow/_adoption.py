"""Makes TensorFlow handle instances of a class as the tensors they hold.

It uses public protocols only, no base class: `__tf_flatten__` for nests (`tf.nest`, gradient tapes, `tf.data`),
`__tf_tracing_type__` for arguments of `tf.function`, which would otherwise receive the bare tensor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Final

import tensorflow as tf

from anyarray._base import errors
from anyarray.backends.tensorflow._kernel import EagerTensor, shape_of, undocumented

__all__ = ["Lengths", "adopt", "count_of", "length", "lengths_of"]


class _HolderType(tf.types.experimental.TraceType):  # type: ignore[misc]  # TensorFlow has no types
    """Trace type of an instance of an adopted class: that of its tensor."""

    def __init__(self, spec: Any, unwrap: Callable[[Any], Any], wrap: Callable[[Any], Any]) -> None:
        self._spec = spec
        self._unwrap = unwrap
        self._wrap = wrap

    def _like(self, spec: Any) -> _HolderType | None:
        return None if spec is None else _HolderType(spec, self._unwrap, self._wrap)

    def is_subtype_of(self, other: Any) -> bool:
        return isinstance(other, _HolderType) and bool(self._spec.is_subtype_of(other._spec))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> _HolderType | None:
        if not all(isinstance(other, _HolderType) for other in others):
            return None
        return self._like(self._spec.most_specific_common_supertype([other._spec for other in others]))

    def placeholder_value(self, placeholder_context: Any) -> Any:
        return self._wrap(self._spec.placeholder_value(placeholder_context))

    def to_tensors(self, value: Any) -> Any:
        return self._spec.to_tensors(self._unwrap(value))

    def from_tensors(self, tensors: Any) -> Any:
        return self._wrap(self._spec.from_tensors(tensors))

    def flatten(self) -> Any:
        return self._spec.flatten()

    def cast(self, value: Any, cast_context: Any) -> Any:
        return self._wrap(self._spec.cast(self._unwrap(value), cast_context))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _HolderType) and bool(self._spec == other._spec)

    def __hash__(self) -> int:
        return hash((_HolderType, self._spec))


class Lengths(tuple[Any, ...]):
    """A shape: a tuple, with the attributes of `tf.TensorShape` besides.

    Gradient tapes and other code of TensorFlow ask the shape of what they take for a tensor for its rank.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"shape: a tuple has no attribute {name!r}", name=name, obj=self)
        return getattr(tf.TensorShape([n if isinstance(n, int) else None for n in self]), name)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)


def lengths_of(x: Any) -> Lengths:
    """The shape of a tensor as users see it.

    A length that a trace does not know is a 0-d instance of the adopted class.
    """
    shape = shape_of(x)
    if None in shape:
        read = tf.shape(x, tf.int64)
        return Lengths([_wrap(read[axis]) if n is None else n for axis, n in enumerate(shape)])
    return Lengths(shape)


def count_of(x: Any) -> int:
    """The length of the first axis; TypeError if there is none."""
    # Of the nests that `tf.vectorized_map` compares TensorFlow asks `len` for the number of tensors in them. There an
    # instance of the adopted class holds one, as its __tf_flatten__ tells all other code.
    if not isinstance(x, EagerTensor) and _is_asked_by_nests():
        return 1
    shape = shape_of(x)
    if not shape:
        raise TypeError("a scalar tensor has no len()")
    if shape[0] is None:
        raise errors.TransferError(
            "len: axis 0 of x has a length that its trace does not know. "
            "Take x.shape[0], an Array, or give tf.function an input_signature with that length"
        )
    return shape[0]


def _is_asked_by_nests() -> bool:
    """Whether TensorFlow's functions of nests have called `len`."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(3):  # `__len__`, and what looks up the hook the first time
        if frame is not None and frame.f_globals.get("__name__") == _NESTS:
            return True
        frame = frame and frame.f_back
    return False


_NESTS: Final = "tensorflow.python.util.nest_util"
_PLACEHOLDER: Final = undocumented(_NESTS, "_DOT")
"""What stands for a tensor when TensorFlow prints a nest."""


class _InNest:
    """What is printed for an instance of the adopted class in a nest."""

    def __repr__(self) -> str:
        return (
            "Array (for a loop of AutoGraph, xp.to_native(x) is its tensor; or map by xp.vmap(f), "
            "xp.vmap(xp.jacobian(f)))"
        )


def length(x: Any) -> Any:
    """A length of an integer tensor of a graph."""
    return tf.cast(x, tf.int64)


def _wrap(x: Any) -> Any:
    """An instance of the adopted class; the tensor before there is one."""
    return x


def adopt(kind: type, unwrap: Callable[[Any], Any], wrap: Callable[[Any], Any]) -> None:
    """Make TensorFlow's transforms accept and return instances of `kind`."""
    globals()["_wrap"] = wrap

    def flatten(self: Any) -> tuple[Any, ...]:
        return (), (unwrap(self),)

    def unflatten(cls: type, metadata: Any, components: Sequence[Any]) -> Any:
        (one,) = components
        if one is None:  # as a gradient, where there is none
            return None
        return _InNest() if one is _PLACEHOLDER else wrap(one)

    def tracing_type(self: Any, context: Any) -> _HolderType:
        return _HolderType(unwrap(self).__tf_tracing_type__(context), unwrap, wrap)

    kind.__tf_flatten__ = flatten  # type: ignore[attr-defined]  # TensorFlow looks up its protocols on the class
    kind.__tf_unflatten__ = classmethod(unflatten)  # type: ignore[attr-defined]  # as above
    kind.__tf_tracing_type__ = tracing_type  # type: ignore[attr-defined]  # as above
