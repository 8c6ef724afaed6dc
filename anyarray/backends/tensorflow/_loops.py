"""Loops and branches of graphs, under the names of the backend contract."""

from __future__ import annotations

__all__ = ["COMPILES_LOOPS", "is_tracing", "scan", "switch", "while_loop"]

from collections.abc import Callable, Sequence
from typing import Any, Final

from anyarray.backends.tensorflow._kernel import Tensor
from anyarray.backends.tensorflow._loading import tf

COMPILES_LOOPS: Final = True


def is_tracing() -> bool:
    return not tf.executing_eagerly()


def while_loop(
    test: Callable[..., Tensor], body: Callable[..., list[Tensor]], xs: list[Tensor], captured: list[Tensor]
) -> list[Tensor]:
    return tf.while_loop(lambda *xs: test(*xs), lambda *xs: body(*xs), xs)


def scan(
    body: Callable[..., Any],
    carry: list[Tensor],
    xs: list[Tensor],
    length: int | None,
    reverse: bool,
    unroll: int,
    captured: list[Tensor],
) -> tuple[list[Tensor], list[Tensor]]:
    n = tf.shape(xs[0])[0] if length is None else length
    rows = [tf.TensorArray(x.dtype, n, element_shape=x.shape[1:]).unstack(x) for x in xs]
    specs = [tf.TensorSpec(x.shape, x.dtype) for x in carry], [tf.TensorSpec(x.shape[1:], x.dtype) for x in xs]
    kinds = tf.function(lambda carry, row: body(carry, row)[1], autograph=False).get_concrete_function(*specs)
    outputs = kinds.structured_outputs
    stacks = [tf.TensorArray(y.dtype, n, element_shape=y.shape) for y in outputs]

    def turn(i: Tensor, carry: list[Tensor], stacks: list[Any]) -> tuple[Tensor, list[Tensor], list[Any]]:
        at = n - 1 - i if reverse else i
        found, ys = body(list(carry), [row.read(at) for row in rows])
        return i + 1, found, [stack.write(at, y) for stack, y in zip(stacks, ys, strict=True)]

    _, found, stacks = tf.while_loop(
        lambda i, *_: i < n, turn, (tf.constant(0), list(carry), stacks), maximum_iterations=n
    )
    ys = [stack.stack() for stack in stacks]
    for y, one in zip(ys, outputs, strict=True):
        y.set_shape((length, *one.shape))
    return list(found), ys


def switch(
    index: Tensor, branches: Sequence[Callable[..., list[Tensor]]], xs: list[Tensor], captured: list[Tensor]
) -> list[Tensor]:
    if len(branches) == 2:
        return tf.cond(index != 0, lambda: branches[1](*xs), lambda: branches[0](*xs))
    return tf.switch_case(tf.cast(index, tf.int32), [lambda branch=one: branch(*xs) for one in branches])
