"""Products of matrices and tensors, their transpose.

float32 is multiplied as float32. An NVIDIA GPU with TF32 rounds the operands to 10 bits unless the whole process
disables it by `tf.config.experimental.enable_tensor_float_32_execution(False)`; no op has such an argument. There, and
only there, few elements are multiplied and summed, and for many float32 is cast to float64 (complex64 to complex128).
Results and gradients are right, but consumer GPUs are slow in float64. A program that disables TF32 avoids both.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Final

from anyarray._base import errors
from anyarray.backends._shared.axes import contracted_axes
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._device import is_on_host
from anyarray.backends.tensorflow._kernel import (
    NATIVE,
    REFUSALS,
    EagerTensor,
    Tensor,
    bitcast,
    cast,
    constant,
    is_common,
    is_complex,
    name_of,
    promoted,
)
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow._shapes import Length, lengths, shape_tensor
from anyarray.backends.tensorflow.manipulation import at_every_rank

_multiply = at_every_rank(ops.Mul)


def _matmul(x1: Tensor, x2: Tensor) -> Tensor:
    """Matrix product of operands of two axes or more."""
    if x1.shape.rank == x2.shape.rank == 2 and is_common(x1.dtype):
        return ops.MatMul(x1, x2, False, False)  # for small matrices in a quarter of the time of the other op
    return ops.BatchMatMulV2(x1, x2, False, False)


def reshaped(x: Tensor, shape: list[Length]) -> Tensor:
    """`x` reshaped to these lengths; `x` itself if known to have them."""
    is_known = all(isinstance(n, int) for n in shape)
    return x if is_known and shape == x.shape.as_list() else ops.Reshape(x, shape_tensor(shape))


def permuted(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """`x` with its axes in this order; `x` itself if they are."""
    return x if axes == tuple(range(len(axes))) else ops.Transpose(x, constant(axes))


def require_equal_lengths(function: str, x1: Tensor, x2: Tensor, axis: int) -> None:
    """Raise ValueError if lengths along `axis` are known to differ."""
    n1, n2 = x1.shape[axis], x2.shape[axis]
    if n1 != n2 and None not in (n1, n2):
        raise errors.ArgumentValueError(
            f"{function}: x1 and x2 must have the same length along axis {axis}, not {n1} and {n2}"
        )


def common_axis(function: str, x1: Tensor, x2: Tensor, axis: int) -> int:
    """`axis` as a negative number, valid for both arrays.

    Raises ValueError unless both arrays have the axis, with the same length.
    """
    rank = min(x1.shape.rank, x2.shape.rank)
    if axis >= 0 and x1.shape.rank == x2.shape.rank:
        axis -= rank
    if not -rank <= axis < 0:
        raise errors.AxisError(f"{function}: axis must be between {-rank} and -1, which both arrays have, not {axis}")
    require_equal_lengths(function, x1, x2, axis)
    return axis


@functools.cache
def _knows_tf32() -> bool:
    """Whether a GPU of this process multiplies in TF32.

    It does from compute capability 8.0 on.
    """
    details = map(tf.config.experimental.get_device_details, tf.config.list_physical_devices("GPU"))
    return any(detail.get("compute_capability", (0, 0)) >= (8, 0) for detail in details)


def _through(name: str) -> Callable[[Tensor, Tensor], Tensor]:
    """Product computed in the wider dtype `name`."""

    def product(x1: Tensor, x2: Tensor) -> Tensor:
        return cast(_matmul(cast(x1, name), cast(x2, name)), name_of(x1))

    return product


def _as_signed(name: str) -> Callable[[Tensor, Tensor], Tensor]:
    """Product of the bits as signed integers: equal modulo a power of two."""

    def product(x1: Tensor, x2: Tensor) -> Tensor:
        return bitcast(_matmul(bitcast(x1, name), bitcast(x2, name)), name_of(x1))

    return product


def _unless_tf32(through: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """The op where it keeps the precision, else the fallback `through`."""

    def product(x1: Tensor, x2: Tensor) -> Tensor:
        # The device of a symbolic tensor is unknown (""): it may be the GPU.
        if _knows_tf32() and tf.config.experimental.tensor_float_32_execution_enabled() and not is_on_host(x1):
            return _summed(x1, x2) if _are_few_products(x1, x2) else through(x1, x2)
        return _matmul(x1, x2)

    return product


_FEW: Final = 1 << 24
"""Threshold in products up to which two calls, that write them all, take less time than the casts to float64."""


def _are_few_products(x1: Tensor, x2: Tensor) -> bool:
    """Whether all products of elements fit into little memory.

    False in a graph, which may be compiled and run on any device.
    """
    if not (isinstance(x1, EagerTensor) and isinstance(x2, EagerTensor)):
        return False
    return bool(max(x1.shape.num_elements() * x2.shape[-1], x2.shape.num_elements() * x1.shape[-2]) <= _FEW)


def _summed(x1: Tensor, x2: Tensor) -> Tensor:
    """The matrix product as a sum of products of elements."""
    return ops.Sum(_multiply(ops.ExpandDims(x1, constant(-1)), ops.ExpandDims(x2, constant(-3))), constant(-2), False)


_DETOURS: Final = {
    NATIVE["bool"]: _through("float32"),  # exact: no sum of ones rounds to 0
    NATIVE["int8"]: _through("int32"),
    NATIVE["uint8"]: _through("int32"),
    NATIVE["uint16"]: _as_signed("int16"),
    NATIVE["uint32"]: _as_signed("int32"),
    NATIVE["uint64"]: _as_signed("int64"),
    NATIVE["float32"]: _unless_tf32(_through("float64")),
    NATIVE["complex64"]: _unless_tf32(_through("complex128")),
}
"""Products by dtype for which the op has no kernel, or one that may lose precision."""


def _product(x1: Tensor, x2: Tensor) -> Tensor:
    """Matrix product of stacks of matrices of one dtype."""
    detour = _DETOURS.get(x1.dtype)
    return _matmul(x1, x2) if detour is None else detour(x1, x2)


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    if (
        isinstance(x1, EagerTensor)
        and isinstance(x2, EagerTensor)
        and x1.shape.rank > 1
        and x2.shape.rank > 1
        and not _knows_tf32()
    ):
        # Where the op keeps the precision, it is called without a check of dtypes. A graph would raise only later.
        try:
            return _matmul(x1, x2)
        except REFUSALS:
            if x1.dtype is x2.dtype and x1.dtype not in _DETOURS:
                raise
    rank1, rank2 = x1.shape.rank, x2.shape.rank
    if x1.dtype is not x2.dtype:
        x1, x2 = promoted(x1, x2)
    if rank1 > 1 and rank2 > 1:
        return _product(x1, x2)
    if rank1 == 0 or rank2 == 0:
        raise errors.ArgumentValueError(
            f"matmul: x1 and x2 must have at least one axis each, not {rank1} and {rank2}. Multiply with *"
        )
    if rank1 == rank2:
        require_equal_lengths("matmul", x1, x2, -1)
        return _inner(x1, x2, -1)
    if rank1 == 1:
        return ops.Squeeze(_product(ops.ExpandDims(x1, constant(0)), x2), [-2])
    return ops.Squeeze(_product(x1, ops.ExpandDims(x2, constant(-1))), [-1])


def _inner(x1: Tensor, x2: Tensor, axis: int) -> Tensor:
    """Sum of the products along `axis`, of one dtype."""
    name = name_of(x1)
    if name in ("float16", "bfloat16", "bool"):
        # TensorFlow may accumulate in 16 bits, where 2048 + 1 is 2048. It has no product of bools.
        return cast(_inner(cast(x1, "float32"), cast(x2, "float32"), axis), name)
    return ops.Sum(_multiply(x1, x2), constant(axis), False)


def matrix_transpose(x: Tensor, /) -> Tensor:
    rank = x.shape.rank
    if rank < 2:
        raise errors.ArgumentValueError(f"matrix_transpose: x must have at least two axes, not {rank}")
    return ops.Transpose(x, constant((*range(rank - 2), rank - 1, rank - 2)))


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    rank1, rank2, lengths1, lengths2 = x1.shape.rank, x2.shape.rank, lengths(x1), lengths(x2)
    axes1, axes2 = contracted_axes(lengths1, lengths2, axes)
    kept1 = tuple(axis for axis in range(rank1) if axis not in axes1)
    kept2 = tuple(axis for axis in range(rank2) if axis not in axes2)
    shape1, shape2 = [lengths1[axis] for axis in kept1], [lengths2[axis] for axis in kept2]
    contracted = math.prod(lengths1[axis] for axis in axes1)
    product = matmul(
        reshaped(permuted(x1, kept1 + axes1), [math.prod(shape1), contracted]),
        reshaped(permuted(x2, axes2 + kept2), [contracted, math.prod(shape2)]),
    )
    return reshaped(product, shape1 + shape2)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    axis = common_axis("vecdot", x1, x2, axis)
    x1, x2 = promoted(x1, x2)
    return _inner(ops.Conj(x1) if is_complex(x1) else x1, x2, axis)
