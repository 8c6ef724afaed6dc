"""Manipulation functions: other shapes and orders of the same elements.

A negative axis counts from the end, and an axis out of bounds raises IndexError. Results keep the dtype, unless several
arrays promote to one dtype. They are views of `x` where NumPy's are: a write to either changes both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anyarray._array.array import AnyArray, Array, Shape
from anyarray._base.errors import ArgumentValueError
from anyarray._call.arguments import as_shape
from anyarray._call.dispatch import dispatch

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis", "permute_dims",
    "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


@dispatch(fit="broadcast", batch="broadcast")
def broadcast_arrays(*arrays: AnyArray) -> tuple[Array, ...]:
    """The arrays, each broadcast to the shape that fits all of them.

    Every array keeps its dtype. Without arrays, the result is (). Raises ValueError if the shapes do not broadcast.

    >>> import anyarray as xp
    >>> [x.tolist() for x in xp.broadcast_arrays(xp.asarray([1, 2]), xp.asarray([[5], [6]]))]
    [[[1, 2], [1, 2]], [[5, 5], [6, 6]]]

    Source: array API 2025.12, manipulation_functions.broadcast_arrays.
    """
    ...


def broadcast_shapes(*shapes: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Shape to which arrays of these shapes broadcast.

    An unknown length, as in a trace, is None and gives None. Without shapes, the result is ().
    Raises ValueError if the lengths of an axis differ and neither is 1.

    >>> import anyarray as xp
    >>> xp.broadcast_shapes((5, 1, 3), (4, 1))
    (5, 4, 3)

    Source: array API 2025.12, manipulation_functions.broadcast_shapes.
    """
    try:
        return np.broadcast_shapes(*shapes)  # type: ignore[arg-type]  # it raises TypeError for None
    except (TypeError, ValueError):
        pass  # for an unknown length, or for a clearer error
    given = [as_shape("broadcast_shapes", f"shapes[{i}]", shape) for i, shape in enumerate(shapes)]
    ndim = max(map(len, given), default=0)
    padded = [(1,) * (ndim - len(shape)) + shape for shape in given]
    result: list[int | None] = []
    for axis, sizes in enumerate(zip(*padded, strict=True), start=-ndim):
        known = {size for size in sizes if size is not None and size != 1}
        if len(known) > 1:
            raise ArgumentValueError(
                f"broadcast_shapes: shape mismatch, as {', '.join(map(str, given))} have the lengths "
                f"{' and '.join(map(str, sorted(known)))} on axis {axis}, which must be equal, or 1"
            )
        result.append(None if None in sizes else known.pop() if known else 1)
    return tuple(result)


@dispatch(fit="broadcast to", batch="broadcast to")
def broadcast_to(x: AnyArray, /, shape: Shape) -> Array:
    """`x` repeated to another shape, as a read-only view.

    Axes of length 1, and new axes at the front, are repeated to the lengths in `shape`. Raises ValueError if other
    lengths differ.

    >>> import anyarray as xp
    >>> xp.broadcast_to(xp.asarray([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]

    Source: array API 2025.12, manipulation_functions.broadcast_to.
    """
    ...


@dispatch(cost="join", fit="joined", batch="join")
def concat(arrays: Sequence[AnyArray], /, *, axis: int | None = 0) -> Array:
    """The arrays joined along an existing axis.

    The shapes may differ on that axis only. If `axis` is None, the arrays are flattened first. The arrays promote to
    the dtype of the result.
    Raises ValueError if `arrays` is empty or the shapes do not fit.

    >>> import anyarray as xp
    >>> xp.concat([xp.asarray([1, 2]), xp.asarray([3])]).tolist()
    [1, 2, 3]

    Source: array API 2025.12, manipulation_functions.concat.
    """
    ...


@dispatch(fit="new axes", batch="new axes")
def expand_dims(x: AnyArray, /, axis: int | Sequence[int]) -> Array:
    """`x` with new axes of length 1.

    `axis` holds the positions of the new axes in the result.
    Raises IndexError for an axis out of bounds, ValueError for a repeated one.

    >>> import anyarray as xp
    >>> xp.expand_dims(xp.asarray([1, 2, 3]), (0, -1)).shape
    (1, 3, 1)

    Source: array API 2025.12, manipulation_functions.expand_dims.
    """
    ...


@dispatch(batch="flip")
def flip(x: AnyArray, /, *, axis: int | Sequence[int] | None = None) -> Array:
    """Elements of `x` in reverse order along `axis`; None means all axes.

    >>> import anyarray as xp
    >>> xp.flip(xp.asarray([[1, 2], [3, 4]]), axis=0).tolist()
    [[3, 4], [1, 2]]

    Source: array API 2025.12, manipulation_functions.flip.
    """
    ...


@dispatch(fit="moved axes", batch="moved axes")
def moveaxis(x: AnyArray, source: int | Sequence[int], destination: int | Sequence[int], /) -> Array:
    """`x` with the axes `source` moved to the positions `destination`.

    The other axes keep their order. Raises ValueError if the two differ in number or one axis is named twice.

    >>> import anyarray as xp
    >>> xp.moveaxis(xp.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)

    Source: array API 2025.12, manipulation_functions.moveaxis.
    """
    ...


@dispatch(fit="permutation", batch="permutation")
def permute_dims(x: AnyArray, /, axes: Sequence[int]) -> Array:
    """`x` with its axes in the order `axes`.

    Raises ValueError unless `axes` names each axis of `x` once.

    >>> import anyarray as xp
    >>> xp.permute_dims(xp.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)

    Source: array API 2025.12, manipulation_functions.permute_dims.
    """
    ...


@dispatch(repeats="integer", fit="counts", batch="repetition")
def repeat(x: AnyArray, repeats: int | AnyArray, /, *, axis: int | None = None) -> Array:
    """Elements of `x`, each repeated `repeats` times along `axis`.

    `x` has the shape (..., n, ...). `repeats` is a number, or an integer array of the shape (n,) or (1,). If `axis` is
    None, `x` is flattened. The shape of the result depends on the values of an array `repeats`: such a call
    synchronizes with the device, and does not work where shapes must be static, such as in `jax.jit`.

    >>> import anyarray as xp
    >>> xp.repeat(xp.asarray([7, 8]), 2).tolist()
    [7, 7, 8, 8]
    >>> xp.repeat(xp.asarray([7, 8]), xp.asarray([1, 3])).tolist()
    [7, 8, 8, 8]

    Source: array API 2025.12, manipulation_functions.repeat.
    """
    ...


@dispatch(fit="as many elements", batch="reshape")
def reshape(x: AnyArray, /, shape: Shape, *, copy: bool | None = None) -> Array:
    """Elements of `x`, in row-major order, in another shape.

    One length in `shape` may be -1: it is inferred. `copy=True` always copies, and None copies only if necessary.
    Raises ValueError if the number of elements does not fit, or if `copy` is False and a copy is necessary.

    >>> import anyarray as xp
    >>> xp.reshape(xp.asarray([1, 2, 3, 4, 5, 6]), (2, -1)).tolist()
    [[1, 2, 3], [4, 5, 6]]

    Source: array API 2025.12, manipulation_functions.reshape.
    """
    ...


@dispatch(fit="axes that may repeat", batch="roll")
def roll(x: AnyArray, /, shift: int | Sequence[int], *, axis: int | Sequence[int] | None = None) -> Array:
    """Elements of `x`, shifted by `shift` positions along `axis`.

    Elements that move beyond the last position reappear at the first. A negative shift moves backwards. One shift
    applies to all axes, or each axis has its own. If `axis` is None, `x` is flattened, shifted and reshaped back.

    >>> import anyarray as xp
    >>> xp.roll(xp.asarray([1, 2, 3, 4]), 1).tolist()
    [4, 1, 2, 3]

    Source: array API 2025.12, manipulation_functions.roll.
    """
    ...


@dispatch(fit="length 1", batch="squeeze")
def squeeze(x: AnyArray, /, axis: int | Sequence[int]) -> Array:
    """`x` without the axes `axis`, which have length 1.

    Raises ValueError if one of the axes is longer.

    >>> import anyarray as xp
    >>> xp.squeeze(xp.zeros((1, 3, 1)), 0).shape
    (3, 1)

    Source: array API 2025.12, manipulation_functions.squeeze.
    """
    ...


@dispatch(cost="join", alike="concat", fit="stacked", batch="stack")
def stack(arrays: Sequence[AnyArray], /, *, axis: int = 0) -> Array:
    """The arrays, all of one shape, joined along a new axis.

    `axis` is the position of the new axis in the result. The arrays promote to the dtype of the result.
    Raises ValueError if `arrays` is empty or the shapes differ.

    >>> import anyarray as xp
    >>> xp.stack([xp.asarray([1, 2]), xp.asarray([3, 4])], axis=-1).tolist()
    [[1, 3], [2, 4]]

    Source: array API 2025.12, manipulation_functions.stack.
    """
    ...


@dispatch(fit="counts", batch="tiles")
def tile(x: AnyArray, repetitions: Shape, /) -> Array:
    """`x` repeated along each axis as often as `repetitions` says.

    Axes and repetitions are aligned at the last one. The shorter shape or tuple gets ones at the front.

    >>> import anyarray as xp
    >>> xp.tile(xp.asarray([1, 2]), (2, 2)).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]

    Source: array API 2025.12, manipulation_functions.tile.
    """
    ...


@dispatch(batch="along an axis")
def unstack(x: AnyArray, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts of `x` along `axis`, each without that axis.

    >>> import anyarray as xp
    >>> [part.tolist() for part in xp.unstack(xp.asarray([[1, 2], [3, 4]]), axis=1)]
    [[1, 3], [2, 4]]

    Source: array API 2025.12, manipulation_functions.unstack.
    """
    ...
