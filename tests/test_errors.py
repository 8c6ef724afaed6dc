"""Bad input: one sentence, the same on every backend.

It names function, parameter, what was wanted and what came.
"""

from __future__ import annotations

import decimal
import fractions
import math
import operator
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp
from anyarray._base import errors, other_names

pytestmark = pytest.mark.few_backends


def floats(*shape: int) -> xp.Array:
    return xp.ones(shape)


def ints(*shape: int) -> xp.Array:
    return xp.ones(shape, dtype=xp.int64)


def bools(*shape: int) -> xp.Array:
    return xp.ones(shape, dtype=xp.bool)


def complexes(*shape: int) -> xp.Array:
    return xp.ones(shape, dtype=xp.complex128)


class Foreign:
    """An object that no backend knows."""


NOT_ARRAYS: list[tuple[Callable[[], object], str]] = [
    (lambda: xp.exp([1.0, 2.0]), "exp: x must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.exp((1.0, 2.0)), "exp: x must be an Array, not tuple. Wrap it: xp.asarray(...)"),
    (lambda: xp.exp(1.0), "exp: x must be an Array, not float. Wrap it: xp.asarray(...)"),
    (lambda: xp.exp(None), "exp: x must be an Array, not NoneType"),
    (lambda: xp.exp("1"), "exp: x must be an Array, not str"),
    (lambda: xp.exp(Foreign()), "exp: x must be an Array, not Foreign"),
    (lambda: xp.sum([1.0], axis=0), "sum: x must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.add(floats(2), [1.0, 2.0]), "add: x2 must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.add([1.0, 2.0], floats(2)), "add: x1 must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.add(1, 2), "add: x1 must be an Array, not int. Wrap it: xp.asarray(...)"),
    (lambda: xp.add(floats(2), None), "add: x2 must be an Array, not NoneType"),
    (lambda: xp.matmul(floats(2), [1.0, 2.0]), "matmul: x2 must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.matmul(floats(2), 2.0), "matmul: x2 must be an Array, not float. Wrap it: xp.asarray(...)"),
    (lambda: xp.where([True], 1, 2), "where: condition must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.clip(floats(2), [0.0]), "clip: min must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.take(floats(2), [0]), "take: indices must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.concat(3), "concat: arrays must be a list or a tuple of Arrays, not int"),
    (lambda: xp.concat([floats(2), [1.0]]), "concat: arrays[1] must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.stack([floats(2), 1.0]), "stack: arrays[1] must be an Array, not float. Wrap it: xp.asarray(...)"),
    (lambda: xp.broadcast_arrays(floats(2), [1.0]),
     "broadcast_arrays: arrays[1] must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.meshgrid([1.0]), "meshgrid: arrays[0] must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.zeros_like([1.0]), "zeros_like: x must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.astype([1.0], xp.int8), "astype: x must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.linalg.inv([[1.0]]), "inv: x must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.fft.fft([1.0]), "fft: x must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda: xp.from_dlpack([1.0]), "from_dlpack: x must have __dlpack__, not list"),
    (lambda: xp.Array(), "Array: cannot be called. Make an Array: xp.asarray(...)"),
]  # fmt: skip


@pytest.mark.usefixtures("backend")
def test_an_operator_with_a_foreign_operand_is_python_s_own_error() -> None:
    with pytest.raises(TypeError) as caught:
        floats(2) + Foreign()
    assert str(caught.value) == "unsupported operand type(s) for +: 'Array' and 'Foreign'"


@pytest.mark.usefixtures("backend")
def test_no_arrays_at_all_give_an_empty_tuple_as_in_numpy() -> None:
    assert xp.meshgrid() == xp.meshgrid(indexing="ij") == xp.broadcast_arrays() == ()


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("rows", [((1.0,), (1.0, 2.0)), ((), (1.0,))])
def test_arrays_that_make_no_regular_nest_are_refused(rows: tuple[tuple[float, ...], ...]) -> None:
    with pytest.raises(ValueError, match=r"^asarray: obj must be a regular nested sequence, not of arrays of shapes"):
        xp.asarray([[xp.asarray(one) for one in row] for row in rows])


def wrong_dtype(function: str, parameter: str, wanted: str, came: str) -> str:
    """The conventions' sentence, with the standard's word for the dtypes."""
    article = "an" if wanted[0] == "i" else "a"
    cure = "Convert it: xp.astype(...)"
    if "complex" in came:
        part = "xp.real(...)"
        cure = f"Take a part of it: {part}" if "real" in wanted else f"Convert a part of it: xp.astype({part}, ...)"
    return f"{function}: {parameter} must have {article} {wanted} dtype, not {came}. {cure}"


REAL = "atan2 copysign hypot logaddexp nextafter"
ORDERED = "floor_divide remainder less less_equal greater greater_equal maximum minimum"
BITWISE = "bitwise_and bitwise_or bitwise_xor"
SHIFTS = "bitwise_left_shift bitwise_right_shift"

WRONG_DTYPES: list[tuple[Callable[[], object], str]] = [
    *[
        (lambda f=f, inputs=inputs: getattr(xp.fft if "fft" in f else xp, f)(*[make(4) for make in inputs]),
         wrong_dtype(f, parameter, words, came))
        for inputs, parameter, came, names, words in (
            ((complexes, complexes), "x1", "complex128", REAL, "real floating-point"),
            ((complexes, complexes), "x1", "complex128", ORDERED, "real numeric"),
            ((complexes, complexes), "x1", "complex128", SHIFTS, "integer"),
            ((floats, complexes), "x2", "complex128", REAL, "real floating-point"),
            ((floats, complexes), "x2", "complex128", ORDERED, "real numeric"),
            ((complexes,), "x", "complex128", "ceil floor trunc sort argsort argmax argmin max min", "real numeric"),
            ((complexes,), "x", "complex128", "rfft rfftn ihfft signbit", "real floating-point"),
            ((floats, floats), "x1", "float64", BITWISE, "integer or boolean"),
            ((floats, floats), "x1", "float64", SHIFTS, "integer"),
            ((ints, floats), "x2", "float64", BITWISE, "integer or boolean"),
            ((ints, floats), "x2", "float64", SHIFTS, "integer"),
            ((ints, ints), "x1", "int64", "logical_and logical_or logical_xor", "boolean"),
            ((bools,), "x", "bool", "negative positive sign", "numeric"),
        )
        for f in names.split()
    ],
    (lambda: xp.logical_not(ints(2)), wrong_dtype("logical_not", "x", "boolean", "int64")),
    (lambda: xp.bitwise_invert(floats(2)), wrong_dtype("bitwise_invert", "x", "integer or boolean", "float64")),
    (lambda: xp.imag(floats(2)), wrong_dtype("imag", "x", "complex floating-point", "float64")),
    (lambda: xp.clip(complexes(2), 0, 1), wrong_dtype("clip", "x", "real numeric", "complex128")),
    (lambda: xp.subtract(bools(2), bools(2)), wrong_dtype("subtract", "x1", "numeric", "bool")),
    (lambda: xp.take(floats(3), floats(1)), wrong_dtype("take", "indices", "integer", "float64")),
    (lambda: xp.take(floats(3), bools(3)), wrong_dtype("take", "indices", "integer", "bool")),
    (lambda: xp.take_along_axis(floats(3), floats(1)), wrong_dtype("take_along_axis", "indices", "integer", "float64")),
    (lambda: xp.repeat(floats(3), floats(3)), wrong_dtype("repeat", "repeats", "integer", "float64")),
    (lambda: xp.searchsorted(complexes(3), complexes(1)),
     wrong_dtype("searchsorted", "x1", "real numeric", "complex128")),
    (lambda: floats(2) & floats(2), wrong_dtype("bitwise_and", "x1", "integer or boolean", "float64")),
    (lambda: ints(2) << 1.5, wrong_dtype("bitwise_left_shift", "x2", "integer", "float64")),
    (lambda: 1.5 << ints(2), wrong_dtype("bitwise_left_shift", "x1", "integer", "float64")),
    (lambda: ~floats(2), wrong_dtype("bitwise_invert", "x", "integer or boolean", "float64")),
    (lambda: -bools(2), wrong_dtype("negative", "x", "numeric", "bool")),
]  # fmt: skip


DTYPES = "bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64, complex128"


def no_such_axis(function: str, axis: int, ndim: int) -> str:
    why = f"must be between {-ndim} and {ndim - 1}" if ndim else "which has no axes"
    return f"{function}: axis {axis} is out of bounds for array of dimension {ndim}, {why}"


WRONG_AXES: list[tuple[Callable[[], object], str]] = [
    (lambda: xp.sum(floats(2, 3), axis=2), no_such_axis("sum", 2, 2)),
    (lambda: xp.sum(floats(2, 3), axis=-3), no_such_axis("sum", -3, 2)),
    (lambda: xp.sum(floats(2, 3), axis=(0, 5)), no_such_axis("sum", 5, 2)),
    (lambda: xp.sum(floats(), axis=1), no_such_axis("sum", 1, 0)),
    # Bools are no "numeric" dtype, but are added up: what is wrong is the axis.
    (lambda: xp.sum(bools(2), axis=1), no_such_axis("sum", 1, 1)),
    (lambda: xp.max(bools(2), axis=1), no_such_axis("max", 1, 1)),
    *[
        (lambda f=f: getattr(xp, f)(floats(2, 3), axis=2), no_such_axis(f, 2, 2))
        for f in (
            "argmax argmin argsort count_nonzero cumulative_prod cumulative_sum diff flip max mean min prod sort std "
            "unstack var"
        ).split()
    ],
    *[(lambda f=f: getattr(xp, f)(bools(2, 3), axis=2), no_such_axis(f, 2, 2)) for f in ("all", "any")],
    (lambda: xp.concat([floats(), floats()]), no_such_axis("concat", 0, 0)),
    (lambda: xp.concat([floats(2), floats(2)], axis=1), no_such_axis("concat", 1, 1)),
    (lambda: xp.stack([floats(2), floats(2)], axis=2), no_such_axis("stack", 2, 2)),
    (lambda: xp.expand_dims(floats(2), 2), no_such_axis("expand_dims", 2, 2)),
    (lambda: xp.expand_dims(floats(2), (0, 3)), no_such_axis("expand_dims", 3, 3)),
    (lambda: xp.squeeze(floats(1, 1), 2), no_such_axis("squeeze", 2, 2)),
    (lambda: xp.take(floats(2), ints(1), axis=1), no_such_axis("take", 1, 1)),
    (lambda: xp.take_along_axis(floats(2), ints(1), axis=1), no_such_axis("take_along_axis", 1, 1)),
    (lambda: xp.repeat(floats(2), 2, axis=1), no_such_axis("repeat", 1, 1)),
    (lambda: xp.roll(floats(2), 1, axis=1), no_such_axis("roll", 1, 1)),
    (lambda: xp.fft.fft(floats(2), axis=1), no_such_axis("fft", 1, 1)),
    (lambda: xp.fft.rfft(floats(2), axis=-2), no_such_axis("rfft", -2, 1)),
    (lambda: xp.fft.fftn(floats(2), axes=(1,)), no_such_axis("fftn", 1, 1)),
    (lambda: xp.fft.fftshift(floats(2), axes=1), no_such_axis("fftshift", 1, 1)),
    *[
        (lambda axes=axes: xp.moveaxis(floats(2, 3), *axes), no_such_axis("moveaxis", 2, 2))
        for axes in ((2, 0), (0, 2), ((0, 1), (2, 0)))
    ],
    (lambda: xp.linalg.vector_norm(floats(2), axis=1), no_such_axis("vector_norm", 1, 1)),
]  # fmt: skip


KINDS = "bool, signed integer, unsigned integer, integral, real floating, complex floating, numeric"
WRONG_SHAPES: list[tuple[Callable[[], object], str]] = [
    *[
        (lambda f=f, make=make: getattr(xp, f)(make(2), make(3)),
         f"{f}: x1 of shape (2,) and x2 of shape (3,) cannot be broadcast together")
        for make, names in (
            (floats, f"add divide equal multiply not_equal pow subtract {REAL} {ORDERED}"),
            (ints, f"{BITWISE} {SHIFTS}"),
            (bools, "logical_and logical_or logical_xor"),
        )
        for f in names.split()
    ],
    (lambda: floats(2) + floats(3), "add: x1 of shape (2,) and x2 of shape (3,) cannot be broadcast together"),
    (lambda: floats(2, 3) == floats(2), "equal: x1 of shape (2, 3) and x2 of shape (2,) cannot be broadcast together"),
    (lambda: floats(2) + ints(3), "add: x1 of shape (2,) and x2 of shape (3,) cannot be broadcast together"),
    (lambda: xp.where(bools(2), floats(3), floats(3)),
     "where: condition of shape (2,) and x1 of shape (3,) and x2 of shape (3,) cannot be broadcast together"),
    (lambda: xp.where(bools(2), floats(3), 1.0),
     "where: condition of shape (2,) and x1 of shape (3,) and x2 of shape () cannot be broadcast together"),
    (lambda: xp.clip(floats(2), floats(3)), "clip: x of shape (2,) and min of shape (3,) cannot be broadcast together"),
    (lambda: xp.broadcast_arrays(floats(2), floats(3)),
     "broadcast_arrays: arrays[0] of shape (2,) and arrays[1] of shape (3,) cannot be broadcast together"),
    (lambda: xp.repeat(floats(3), ints(2)), "repeat: repeats must have the shape (3,) or (1,) to fit x, not (2,)"),
    (lambda: xp.repeat(floats(2, 3), ints(3), axis=0),
     "repeat: repeats must have the shape (2,) or (1,) to fit x, not (3,)"),
    (lambda: xp.take_along_axis(floats(2, 3), ints(3, 3), axis=1),
     "take_along_axis: x of shape (2, 3) and indices of shape (3, 3) cannot be broadcast beside axis 1"),
    (lambda: xp.broadcast_to(floats(2), (3,)), "broadcast_to: x of shape (2,) does not broadcast to (3,)"),
    (lambda: xp.broadcast_to(floats(2, 2), (2,)), "broadcast_to: x of shape (2, 2) does not broadcast to (2,)"),
    (lambda: xp.reshape(floats(2, 3), (4,)), "reshape: x of shape (2, 3) does not fit shape (4,)"),
    (lambda: xp.reshape(floats(2, 3), (-1, 4)), "reshape: x of shape (2, 3) does not fit shape (-1, 4)"),
    (lambda: xp.reshape(floats(2, 3), (-1, -1)), "reshape: shape must hold -1 once at most, not (-1, -1)"),
    (lambda: xp.squeeze(floats(2, 1), 0), "squeeze: axis 0 of x of shape (2, 1) must have the length 1, not 2"),
    (lambda: xp.permute_dims(floats(2, 3), (0, 0)),
     "permute_dims: axes must be a permutation of the 2 axes of x, not (0, 0)"),
    (lambda: xp.permute_dims(floats(2, 3), (0,)),
     "permute_dims: axes must be a permutation of the 2 axes of x, not (0,)"),
    (lambda: xp.moveaxis(floats(2, 3), (0, 1), 0),
     "moveaxis: source and destination must name as many different axes of x, not (0, 1) and 0"),
    (lambda: xp.concat([floats(2, 3), floats(2, 2)]),
     "concat: arrays[1] of shape (2, 2) does not fit arrays[0] of shape (2, 3) along axis 0"),
    (lambda: xp.stack([floats(2), floats(3)]), "stack: arrays[1] of shape (3,) must have the shape (2,) of arrays[0]"),
    (lambda: xp.matmul(floats(2, 3), floats(2, 3)),
     "matmul: x1 of shape (2, 3) and x2 of shape (2, 3) do not fit: 3 is not 2"),
    (lambda: floats(2) @ floats(3), "matmul: x1 of shape (2,) and x2 of shape (3,) do not fit: 2 is not 3"),
    (lambda: floats(2, 3, 3) @ floats(4, 3, 3),
     "matmul: x1 of shape (2, 3, 3) and x2 of shape (4, 3, 3) cannot be broadcast together"),
    (lambda: xp.matmul(floats(), floats(2)),
     "matmul: x1 and x2 must have at least one axis. Multiply by a scalar with *"),
    (lambda: xp.vecdot(floats(2), floats(3)), "vecdot: x1 of shape (2,) and x2 of shape (3,) do not fit with axis=-1"),
    (lambda: xp.tensordot(floats(2, 3), floats(2, 3), axes=1),
     "tensordot: x1 of shape (2, 3) and x2 of shape (2, 3) do not fit with axes=1"),
    (lambda: xp.take(floats(2, 2), ints(1)), "take: axis must be given, as x has 2 axes"),
    (lambda: xp.cumulative_sum(floats(2, 2)), "cumulative_sum: axis must be given, as x has 2 axes"),
    (lambda: xp.max(floats(0)),
     "max: x of shape (0,) has no elements along the axis, and the function has no identity"),
    (lambda: xp.argmin(floats(0)),
     "argmin: x of shape (0,) has no elements along the axis, and the function has no identity"),
    (lambda: xp.nonzero(floats()), "nonzero: x must have at least one axis"),
    (lambda: xp.repeat(floats(2), -1), "repeat: repeats must not be negative, not -1"),
    (lambda: xp.linalg.inv(floats(2, 3)), "inv: x must be (..., n, n), not shape (2, 3)"),
    (lambda: xp.linalg.det(floats(2)), "det: x must be (..., n, n), not shape (2,)"),
    (lambda: xp.linalg.cholesky(floats(2, 3)), "cholesky: x must be (..., n, n), not shape (2, 3)"),
    (lambda: xp.linalg.svd(floats(2)), "svd: x must be (..., m, n), not shape (2,)"),
    (lambda: xp.linalg.solve(floats(2, 2), floats(3)), "solve: x1 of shape (2, 2) and x2 of shape (3,) do not fit"),
    (lambda: xp.linalg.outer(floats(2, 2), floats(3)), "outer: x1 must have one axis, not shape (2, 2)"),
    (lambda: xp.linalg.cross(floats(2), floats(2)),
     "cross: x1 of shape (2,) and x2 of shape (2,) do not fit with axis=-1"),
    (lambda: xp.concat([]), "concat: arrays must hold at least one Array, but is empty"),
    (lambda: xp.stack([]), "stack: arrays must hold at least one Array, but is empty"),
    (lambda: xp.result_type(), "result_type: needs at least one Array or dtype"),
    (lambda: xp.isdtype(xp.int8, "float"), f"isdtype: kind must be one of {KINDS}, not 'float'"),
    (lambda: xp.__array_namespace_info__().dtypes(kind="float"), f"dtypes: kind must be one of {KINDS}, not 'float'"),
    (lambda: floats(1).__array_namespace__(api_version="2019.01"),
     "__array_namespace__: api_version must be one of 2021.12, 2022.12, 2023.12, 2024.12, 2025.12, not '2019.01'"),
    *[
        (lambda given=given, wanted=wanted: xp.broadcast_to(floats(*given), wanted),
         f"broadcast_to: x of shape {given} does not broadcast to {wanted}")
        for given, wanted in (((1,), (-1,)), ((1, 1, 3), (3,)), ((3,), (2,)))
    ],
    (lambda: xp.zeros((1,) * 65), "zeros: shape must have at most 64 axes, not 65"),
    (lambda: xp.zeros(-1), "zeros: shape must not be negative, not (-1,)"),
    (lambda: xp.full((2, -3), 1), "full: shape must not be negative, not (2, -3)"),
    (lambda: xp.eye(0, -1), "eye: shape must not be negative, not (0, -1)"),
    (lambda: xp.full((2,), floats(3)), "full: fill_value must have no axes, not shape (3,)"),
    (lambda: xp.linspace(0, 1, -1), "linspace: num must not be negative, not -1"),
    (lambda: xp.arange(0, 1, 0), "arange: step must not be 0"),
    (lambda: floats(2).mT, "mT: x must have at least 2 axes, not 1"),
    (lambda: bool(floats(2)), "bool: the truth of an Array of shape (2,) is ambiguous. Use xp.any(x) or xp.all(x)"),
    (lambda: bool(floats(0)), "bool: the truth of an Array of shape (0,) is ambiguous. Use xp.any(x) or xp.all(x)"),
]  # fmt: skip


OTHER_TYPES: list[tuple[Callable[[], object], str]] = [
    (lambda: float(floats(2)), "float: x must have no axes, not shape (2,). Take an element: x[0]"),
    (lambda: float(floats(2, 3)), "float: x must have no axes, not shape (2, 3). Take an element: x[0, 0]"),
    (lambda: float(floats(0)), "float: x must have no axes, not shape (0,)"),
    (lambda: float(complexes()), "float: x must not have the dtype complex128. Convert it: xp.real(x)"),
    (lambda: int(complexes()), "int: x must not have the dtype complex128. Convert it: xp.real(x)"),
    (lambda: range(3)[floats()], "index: x must not have the dtype float64. Convert it: int(x)"),
    (lambda: range(3)[bools()], "index: x must not have the dtype bool. Convert it: int(x)"),
    (lambda: len(floats()), "len: x has no axes"),
    (lambda: iter(floats()), "iter: x has no axes"),
    (lambda: xp.zeros("ab"), "zeros: shape must be an int or a sequence of ints, not 'ab'"),
    (lambda: xp.zeros(2.5), "zeros: shape must be an int or a sequence of ints, not 2.5"),
    (lambda: xp.zeros((2, 1.5)), "zeros: shape must be an int or a sequence of ints, not (2, 1.5)"),
    (lambda: xp.zeros(2, device=3), 'device: must be a device or its name, such as "numpy" or "jax-gpu:1", not int'),
    (lambda: xp.astype(complexes(2), xp.float64),
     "astype: x is complex128 and cannot become float64. Take its real part: xp.real(x)"),
    (lambda: xp.full(2, 1j, dtype=xp.float32), "full: fill_value must not be complex for dtype float32"),
    (lambda: xp.linspace(0, 1j, 3, dtype=xp.float32),
     "linspace: start and stop must not be complex for dtype float32. Leave dtype out"),
    (lambda: xp.arange(1j), "arange: start, stop and step must be real numbers, not 0, 1j and 1"),
    (lambda: xp.asarray(complexes(2), dtype=xp.float32),
     "asarray: obj is complex128 and cannot become float32. Take its real part: xp.real(obj)"),
    (lambda: xp.asarray(xp.to_native(complexes(2)), dtype=xp.float32),
     "asarray: obj is complex128 and cannot become float32. Take its real part: xp.real(obj)"),
    (lambda: xp.asarray([1j], dtype=xp.float32),
     "asarray: obj is complex and cannot become float32. Take its real part"),
    (lambda: xp.full(2, "a"), "full: fill_value must be a number or an Array without axes, not 'a'"),
    *[
        (lambda one=one: xp.zeros(2, dtype=one),
         f"zeros: dtype must be one of {DTYPES}, float16, bfloat16, not {one!r}")
        for one in ("float63", object, "U3", "datetime64[s]")
    ],
    (lambda: xp.finfo(xp.int8), "finfo: type must be a floating-point dtype, not int8. Use xp.iinfo"),
    (lambda: xp.iinfo(xp.float32), "iinfo: type must be an integer dtype, not float32. Use xp.finfo"),
]  # fmt: skip


INT_OR_INTS = "an int, a sequence of ints or None"
SHAPE = "an int or a sequence of ints"
NO_INTEGERS: list[tuple[Callable[[Any], object], str]] = [
    (lambda x: xp.sum(x, axis=1.5), f"sum: axis must be {INT_OR_INTS}, not 1.5"),
    (lambda x: xp.mean(x, axis="0"), f"mean: axis must be {INT_OR_INTS}, not '0'"),
    (lambda x: xp.max(x, axis=(0.0, 1)), f"max: axis must be {INT_OR_INTS}, not (0.0, 1)"),
    (lambda x: xp.any(x, axis=xp.asarray(1.0)), f"any: axis must be {INT_OR_INTS}, not 1.0"),
    (lambda x: xp.sum(x, axis=True), f"sum: axis must be {INT_OR_INTS}, not True"),
    (lambda x: xp.argmax(x, axis=False), "argmax: axis must be an int or None, not False"),
    (lambda x: xp.sum(x, axis=np.True_), f"sum: axis must be {INT_OR_INTS}, not np.True_"),
    (lambda x: xp.sum(x, axis=b"a"), f"sum: axis must be {INT_OR_INTS}, not b'a'"),
    (lambda x: xp.flip(x, axis={0}), f"flip: axis must be {INT_OR_INTS}, not {{0}}"),
    (lambda x: xp.mean(x, axis=((0,),)), f"mean: axis must be {INT_OR_INTS}, not ((0,),)"),
    (lambda x: xp.roll(x, 1, axis=(None, 0)), f"roll: axis must be {INT_OR_INTS}, not (None, 0)"),
    (lambda x: xp.concat([x, x], axis=...), "concat: axis must be an int or None, not Ellipsis"),
    (lambda x: xp.broadcast_to(x, ((2,), 3)), f"broadcast_to: shape must be {SHAPE}, not ((2,), 3)"),
    (lambda x: xp.sort(x, axis=(0,)), "sort: axis must be an int, not (0,)"),
    (lambda x: xp.sort(x, axis=None), "sort: axis must be an int, not None"),
    (lambda x: xp.argmax(x, axis=(0, 1)), "argmax: axis must be an int or None, not (0, 1)"),
    (lambda x: xp.concat([x, x], axis=0.0), "concat: axis must be an int or None, not 0.0"),
    (lambda x: xp.stack([x, x], axis=None), "stack: axis must be an int, not None"),
    (lambda x: xp.expand_dims(x, (0.0,)), "expand_dims: axis must be an int or a sequence of ints, not (0.0,)"),
    (lambda x: xp.squeeze(x, None), "squeeze: axis must be an int or a sequence of ints, not None"),
    (lambda x: xp.moveaxis(x, 0, 1.0), "moveaxis: destination must be an int or a sequence of ints, not 1.0"),
    (lambda x: xp.reshape(x, (6 / 2, 2)), f"reshape: shape must be {SHAPE}, not (3.0, 2)"),
    (lambda x: xp.reshape(x, 6.0), f"reshape: shape must be {SHAPE}, not 6.0"),
    (lambda x: xp.broadcast_to(x, (1.0, 2, 3)), f"broadcast_to: shape must be {SHAPE}, not (1.0, 2, 3)"),
    (lambda x: xp.broadcast_shapes((2.5,)), f"broadcast_shapes: shapes[0] must be {SHAPE}, not (2.5,)"),
    (lambda x: xp.tile(x, (1.0, 2)), f"tile: repetitions must be {SHAPE}, not (1.0, 2)"),
    (lambda x: xp.permute_dims(x, (1.0, 0)), "permute_dims: axes must be a sequence of ints, not (1.0, 0)"),
    (lambda x: xp.roll(x, 1.5), "roll: shift must be an int or a sequence of ints, not 1.5"),
    (lambda x: xp.repeat(x, 2.5), "repeat: repeats must be an int or an Array, not 2.5"),
    (lambda x: xp.tril(x, k=0.5), "tril: k must be an int, not 0.5"),
    (lambda x: xp.eye(2, k=0.5), "eye: k must be an int, not 0.5"),
    (lambda x: xp.linspace(0, 1, 2.5), "linspace: num must be an int, not 2.5"),
    (lambda x: xp.fft.fft(x, n=4.0), "fft: n must be an int or None, not 4.0"),
    (lambda x: xp.fft.fftn(x, axes=0), "fftn: axes must be a sequence of ints or None, not 0"),
    (lambda x: xp.fft.fftshift(x, axes=0.0), "fftshift: axes must be an int, a sequence of ints or None, not 0.0"),
    (lambda x: xp.fft.fftfreq(2.5), "fftfreq: n must be an int, not 2.5"),
    (lambda x: xp.tensordot(x, x, axes=1.0), "tensordot: axes must be an int or two sequences of ints, not 1.0"),
    (lambda x: xp.linalg.matrix_power(x, 2.0), "matrix_power: n must be an int, not 2.0"),
    (lambda x: xp.std(x, correction="1"), "std: correction must be a number, not '1'"),
    (lambda x: xp.var(x, correction=None), "var: correction must be a number, not None"),
]  # fmt: skip


NO_CHOICES: list[tuple[Callable[[Any], object], str]] = [
    (lambda x: xp.linalg.qr(x, mode="full"), "qr: mode must be 'reduced' or 'complete', not 'full'"),
    (lambda x: xp.fft.fft(x, norm="x"), "fft: norm must be 'backward', 'ortho' or 'forward', not 'x'"),
    (lambda x: xp.meshgrid(x[0, :], indexing="x"), "meshgrid: indexing must be 'xy' or 'ij', not 'x'"),
    (lambda x: xp.searchsorted(x[0, :], x, side="x"), "searchsorted: side must be 'left' or 'right', not 'x'"),
    (lambda x: xp.linalg.matrix_norm(x, ord="x"),
     "matrix_norm: ord must be a number, 'fro', 'nuc' or None, not 'x'"),
    (lambda x: xp.linalg.matrix_norm(x, ord=1.5),
     "matrix_norm: ord must be 1, -1, 2, -2, inf, -inf, 'fro', 'nuc' or None, not 1.5"),
]  # fmt: skip


# Axes come from np.argsort, lengths from np.prod.
INTEGERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sum": lambda x, zero, two: xp.sum(x, axis=zero),
    "sum, several": lambda x, zero, two: xp.sum(x, axis=[zero, 1]),
    "max": lambda x, zero, two: xp.max(x, axis=zero),
    "any": lambda x, zero, two: xp.any(x, axis=zero),
    "count_nonzero": lambda x, zero, two: xp.count_nonzero(x, axis=zero),
    "argmax": lambda x, zero, two: xp.argmax(x, axis=zero),
    "sort": lambda x, zero, two: xp.sort(x, axis=zero),
    "cumulative_sum": lambda x, zero, two: xp.cumulative_sum(x, axis=zero),
    "diff": lambda x, zero, two: xp.diff(x, axis=zero, n=two - 1),
    "take": lambda x, zero, two: xp.take(x, xp.asarray([1]), axis=zero),
    "take_along_axis": lambda x, zero, two: xp.take_along_axis(x, xp.zeros((1, 3), dtype=xp.int64), axis=zero),
    "concat": lambda x, zero, two: xp.concat([x, x], axis=zero),
    "stack": lambda x, zero, two: xp.stack([x, x], axis=two),
    "unstack": lambda x, zero, two: xp.unstack(x, axis=zero)[1],
    "squeeze": lambda x, zero, two: xp.squeeze(x[:1, :], axis=zero),
    "expand_dims": lambda x, zero, two: xp.expand_dims(x, axis=two),
    "flip": lambda x, zero, two: xp.flip(x, axis=zero),
    "roll": lambda x, zero, two: xp.roll(x, two),
    "roll along an axis": lambda x, zero, two: xp.roll(x, two, axis=zero + 1),
    "moveaxis": lambda x, zero, two: xp.moveaxis(x, zero, two - 1),
    "permute_dims": lambda x, zero, two: xp.permute_dims(x, (two - 1, zero)),
    "reshape": lambda x, zero, two: xp.reshape(x, (3 * two,)),
    "reshape to one axis": lambda x, zero, two: xp.reshape(x, 3 * two),
    "broadcast_to": lambda x, zero, two: xp.broadcast_to(x[0, 0], two),
    "broadcast_to, several": lambda x, zero, two: xp.broadcast_to(x, (two, two, 3)),
    "tile": lambda x, zero, two: xp.tile(x, two),
    "repeat": lambda x, zero, two: xp.repeat(x, two, axis=zero),
    "tril": lambda x, zero, two: xp.tril(x, k=two - 1),
    "tensordot": lambda x, zero, two: xp.tensordot(x, x, axes=two),
    "tensordot of axes": lambda x, zero, two: xp.tensordot(x, x, axes=([zero], [zero])),
    "matrix_power": lambda x, zero, two: xp.linalg.matrix_power(x @ x.T, two),
    "diagonal": lambda x, zero, two: xp.linalg.diagonal(x, offset=two - 1),
    "vecdot": lambda x, zero, two: xp.vecdot(x, x, axis=zero - 1),
    "vector_norm": lambda x, zero, two: xp.linalg.vector_norm(x, axis=zero),
    "fft": lambda x, zero, two: xp.real(xp.fft.fft(x, n=two, axis=zero)),
    "fftn": lambda x, zero, two: xp.real(xp.fft.fftn(x, s=[two], axes=[zero])),
    "fftshift": lambda x, zero, two: xp.fft.fftshift(x, axes=zero),
}


@pytest.mark.parametrize("function", INTEGERS)
@pytest.mark.usefixtures("backend")
def test_integers_of_numpy_and_arrays_without_axes_do_as_integers(function: str) -> None:
    x = xp.reshape(xp.arange(6.0), (2, 3))
    wanted = INTEGERS[function](x, 0, 2)
    for integer in (np.int64, np.int8, xp.asarray):
        assert INTEGERS[function](x, integer(0), integer(2)).tolist() == wanted.tolist()


@pytest.mark.parametrize("function", [name for name in INTEGERS if name != "repeat"])  # which takes arrays of counts
def test_an_array_as_an_axis_has_no_say_in_where_a_call_runs(function: str, backend: xp.Backend) -> None:
    with xp.backend("auto"):
        x = xp.asarray(np.reshape(np.arange(6.0), (2, 3)), device=backend)
        zero, two = xp.asarray(0, device="numpy"), xp.asarray(2, device="numpy")
        found = INTEGERS[function](x, zero, two)
    assert found.device is backend


CAST = (
    "{}: the result of dtype float64 cannot be cast to int64 in place. "
    "Write x = x {} ..., or convert the operand: xp.astype(...)"
)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("operate", "value", "error", "sentence"),
    [
        (operator.iadd, 1.5, TypeError, CAST.format("__iadd__", "+")),
        (operator.ifloordiv, 1.5, TypeError, CAST.format("__ifloordiv__", "//")),
        (
            operator.iadd,
            np.ones((3, 2), np.int64),
            ValueError,
            "__iadd__: the result of shape (3, 2) does not fit in place of (2,)",
        ),
    ],
)
def test_an_in_place_result_that_would_change_the_dtype_or_the_shape_is_refused(
    operate: Callable[..., Any], value: Any, error: type[Exception], sentence: str
) -> None:
    x = ints(2)
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        operate(x, xp.asarray(value) if isinstance(value, np.ndarray) else value)
    assert x.tolist() == [1, 1]


@pytest.mark.usefixtures("backend")
def test_a_python_complex_number_written_to_a_real_array_is_refused() -> None:
    x = floats(2)
    with pytest.raises(TypeError) as caught:
        x[0] = 1j
    assert x.tolist() == floats(2).tolist()
    assert str(caught.value) == "setitem: value must not be complex for an Array of dtype float64. Take xp.real(value)"


BUILT_INS = {
    "ArgumentIndexError": IndexError,
    "ArgumentOverflowError": OverflowError,
    "ArgumentTypeError": TypeError,
    "ArgumentValueError": ValueError,
    "AxisError": (ValueError, IndexError),
    "BackendError": RuntimeError,
    "BackendMismatchError": ValueError,
    "BackendNotFoundError": ValueError,
    "BackendNotInstalledError": ImportError,
    "DeviceNotFoundError": RuntimeError,
    "LinAlgError": np.linalg.LinAlgError,
    "OutOfMemoryError": MemoryError,
    "TooLargeError": MemoryError,
    "TraceError": RuntimeError,
    "TransferError": RuntimeError,
    "UnsupportedError": NotImplementedError,
}


@pytest.mark.parametrize("exception", [name for name in errors.__all__ if name != "AnyarrayError"])
def test_every_exception_is_one_of_ours_and_the_built_in_that_fits(exception: str) -> None:
    built_in = BUILT_INS[exception]
    for one in (xp.AnyarrayError, *(built_in if isinstance(built_in, tuple) else (built_in,))):
        assert issubclass(getattr(xp, exception), one)


def written(x: xp.Array, key: Any, value: Any) -> None:
    x[key] = value


MISFITS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: xp.searchsorted(floats(3), floats(1), sorter=ints(3) * 9), ValueError,
     "searchsorted: sorter must hold indices of x1, from 0 to 2"),
    (lambda: xp.searchsorted(floats(3), floats(1), sorter=ints(2)), ValueError,
     "searchsorted: sorter must have the shape of x1, (3,), not (2,)"),
    (lambda: xp.roll(floats(2, 2), (1, 2, 3), axis=(0, 1)), ValueError,
     "roll: shift and axis must be of one length, not (1, 2, 3) and (0, 1)"),
    (lambda: xp.repeat(floats(2), ints(2) - 2), ValueError, "repeat: repeats must hold no negative number"),
    (lambda: xp.repeat(floats(0), -1), ValueError, "repeat: repeats must not be negative, not -1"),
    (lambda: xp.reshape(floats(4), (-1, -1)), ValueError, "reshape: shape must hold -1 once at most, not (-1, -1)"),
    (lambda: xp.take(floats(0, 3), ints(1) * 7, axis=1), IndexError,
     "take: index 7 is out of bounds for axis 1 with size 3"),
    (lambda: xp.linalg.solve(floats(2, 2, 2), floats(3, 2, 2)), ValueError,
     "solve: x1 of shape (2, 2, 2) and x2 of shape (3, 2, 2) do not fit"),
    (lambda: xp.fft.fftfreq(2, d=0), ValueError, "fftfreq: d must not be 0"),
    (lambda: xp.fft.fftfreq(2, d="a"), TypeError, "fftfreq: d must be a number, not str"),
    (lambda: xp.fft.rfftfreq(2, d=1j), TypeError, "rfftfreq: d must be a real number, not 1j"),
    (lambda: xp.arange(2, dtype=bool), TypeError, "arange: dtype must be numeric, not bool"),
    (lambda: floats(3)[9], IndexError, "index: index 9 is out of bounds for axis 0 with size 3"),
    (lambda: floats(2, 3)[..., -4], IndexError, "index: index -4 is out of bounds for axis 1 with size 3"),
    (lambda: floats(2, 3)[None, 2], IndexError, "index: index 2 is out of bounds for axis 0 with size 2"),
    (lambda: floats(3)[xp.asarray([0, 7])], IndexError, "index: index 7 is out of bounds for axis 0 with size 3"),
    (lambda: floats(2, 3)[xp.asarray([0, 1]), xp.asarray([0, 1, 2])], IndexError,
     "index: arrays of shapes (2,) and (3,) cannot be broadcast together"),
    (lambda: floats(2, 3)[xp.asarray([True, True]), xp.asarray([True, True, True])], IndexError,
     "index: arrays of shapes (2,) and (3,) cannot be broadcast together"),
    (lambda: written(floats(2, 3), (xp.asarray([True, True]), xp.asarray([0, 1, 2])), 1.0), IndexError,
     "index: arrays of shapes (2,) and (3,) cannot be broadcast together"),
    (lambda: floats(2, 3)[0, 0, 0], IndexError, "index: too many indices, 3 for an array of 2 axes"),
    (lambda: floats(2, 3)[..., ...], IndexError,
     "index: an index can only have a single ellipsis ('...'). Write : for each axis"),
    (lambda: floats(3)[1:2:0], ValueError, "index: slice step cannot be zero. Leave it out for 1"),
    (lambda: floats(2, 3)[0, ::0], ValueError, "index: slice step cannot be zero. Leave it out for 1"),
    (lambda: written(floats(3), slice(None, None, 0), 1.0), ValueError,
     "index: slice step cannot be zero. Leave it out for 1"),
    (lambda: floats(2, 3).item(), ValueError,
     "item: x must hold exactly one element, not shape (2, 3). Take one: x[0, 0], or all: x.tolist()"),
    (lambda: floats(3)[xp.asarray([True])], IndexError, "index: a mask of shape (1,) does not fit axes of shape (3,)"),
    (lambda: written(floats(3), 5, 1.0), IndexError, "index: index 5 is out of bounds for axis 0 with size 3"),
    (lambda: written(floats(3), slice(None), floats(2)), ValueError,
     "setitem: value of shape (2,) does not broadcast to shape (3,), which the key selects"),
    (lambda: written(floats(2, 3), 0, floats(2, 1, 3)), ValueError,
     "setitem: value of shape (2, 1, 3) does not broadcast to shape (3,), which the key selects"),
    (lambda: written(floats(3), xp.asarray([True, False, True]), floats(3)), ValueError,
     "setitem: value of shape (3,) does not broadcast to shape (2,), which the key selects"),
    (lambda: xp.take(floats(3), xp.asarray([7])), IndexError,
     "take: index 7 is out of bounds for axis 0 with size 3"),
    (lambda: xp.take_along_axis(floats(2, 3), xp.asarray([[-4], [0]])), IndexError,
     "take_along_axis: index -4 is out of bounds for axis 1 with size 3"),
    (lambda: xp.sum(floats(2, 3), axis=(0, -2)), ValueError, "sum: axis must not name an axis twice, as (0, -2)"),
    (lambda: xp.flip(floats(2, 3), axis=(0, 0)), ValueError, "flip: axis must not name an axis twice, as (0, 0)"),
    (lambda: xp.tril(floats(3)), ValueError, "tril: x must be (..., m, n), not shape (3,)"),
    (lambda: xp.diff(floats(3), n=-1), ValueError, "diff: n must not be negative, not -1"),
    (lambda: xp.diff(floats(3), prepend=floats(2, 3)), ValueError,
     "diff: prepend of shape (2, 3) does not fit x of shape (3,) along axis -1"),
    (lambda: xp.fft.fft(floats(3), n=0), ValueError, "fft: n must be positive, not 0"),
    (lambda: xp.fft.fftn(floats(2, 3), s=(1, 2, 3)), ValueError,
     "fftn: s must have as many lengths as there are axes, 2, not (1, 2, 3)"),
    (lambda: xp.fft.hfft(floats(0)), ValueError, "hfft: x of shape (0,) has no elements to transform"),
    (lambda: xp.arange(0, 1e30), ValueError, "arange: no array holds 1e+30 elements"),
    (lambda: xp.fft.rfftn(floats(2), axes=()), ValueError, "rfftn: x must be transformed along at least one axis"),
    (lambda: xp.fft.irfftn(floats()), ValueError, "irfftn: x must be transformed along at least one axis"),
    (lambda: xp.fft.irfft(floats(1)), ValueError,
     "irfft: x has one element along axis -1, from which no length follows. Give n"),
    (lambda: xp.fft.irfftn(floats(2, 1)), ValueError,
     "irfftn: x has one element along axis -1, from which no length follows. Give s"),
    (lambda: xp.fft.fft(floats(2), n=2**70), ValueError, f"fft: n is too large, {2**70}"),
    (lambda: xp.repeat(floats(2), 2**63), ValueError, f"repeat: repeats is too large, {2**63}"),
    (lambda: xp.tile(floats(2), 2**70), ValueError, f"tile: repetitions is too large, {2**70}"),
    (lambda: xp.linalg.vector_norm(floats(0), ord=-np.inf), ValueError,
     "vector_norm: x of shape (0,) has no elements along the axis, and the function has no identity"),
    (lambda: xp.linalg.matrix_norm(floats(0, 3), ord=-2), ValueError,
     "matrix_norm: x of shape (0, 3) has no elements along the axis, and the function has no identity"),
    (lambda: xp.bitwise_and(xp.ones(2, dtype=xp.uint64), ints(2)), TypeError,
     ("bitwise_and: x1 of dtype uint64 and x2 of dtype int64 have no integer dtype in common. "
     "Convert one: xp.astype(...)")),
    (lambda: ints(2) << xp.ones(2, dtype=xp.uint64), TypeError,
     ("bitwise_left_shift: x1 of dtype int64 and x2 of dtype uint64 have no integer dtype in common. "
     "Convert one: xp.astype(...)")),
]  # fmt: skip
"""Calls about which each library complains in words, and with classes, of its own."""


REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    *[
        (call, error, sentence)
        for error, rows in (
            (xp.ArgumentTypeError, NOT_ARRAYS),
            (TypeError, WRONG_DTYPES),
            (xp.AxisError, WRONG_AXES),
            (xp.ArgumentValueError, WRONG_SHAPES),
            (TypeError, OTHER_TYPES),
        )
        for call, sentence in rows
    ],
    *[
        (lambda call=call: call(floats(2, 3)), error, sentence)
        for error, rows in ((TypeError, NO_INTEGERS), (ValueError, NO_CHOICES))
        for call, sentence in rows
    ],
    *MISFITS,
]


@pytest.mark.parametrize(("call", "error", "sentence"), REFUSED, ids=[s.partition(". ")[0] for _, _, s in REFUSED])
@pytest.mark.usefixtures("backend")
def test_what_does_not_fit_is_the_same_error_everywhere(
    call: Callable[[], object], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, xp.AnyarrayError)
    assert str(caught.value) == sentence


@pytest.mark.usefixtures("backend")
def test_what_numpy_takes_the_others_take() -> None:
    assert xp.cumulative_sum(xp.asarray(2.0)).tolist() == [2.0]
    assert xp.roll(xp.arange(4), (1, 2), axis=0).tolist() == [1, 2, 3, 0]
    assert xp.meshgrid(xp.asarray([[1], [2]]), xp.asarray([3]))[0].tolist() == [[1, 2]]


@pytest.mark.usefixtures("backend")
def test_a_clear_error_keeps_the_library_s_own_as_its_cause() -> None:
    with pytest.raises(xp.ArgumentValueError) as caught:
        floats(2) + floats(3)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("habit", "cure"),
    [
        ("array", "The standard has xp.asarray"),
        ("concatenate", "The standard has xp.concat"),
        ("inv", "The standard has xp.linalg.inv"),
        ("rfft", "The standard has xp.fft.rfft"),
        ("float", "Use xp.float64"),
        ("ndarray", "Use xp.Array"),
        ("shares_memory", "Use np.shares_memory, which takes Arrays"),
        ("errstate", "Use np.errstate"),
        ("load", "Use np.load"),
        ("hessian", "Use xp.jacobian(xp.grad(f))"),
    ],
)
def test_a_name_of_numpy_leads_to_the_standard_s_or_elsewhere(habit: str, cure: str) -> None:
    sentence = f"module 'anyarray' has no attribute {habit!r}. {cure}"
    with pytest.raises(AttributeError, match=f"^{re.escape(sentence)}$"):
        getattr(xp, habit)
    assert not hasattr(xp, habit)


def test_no_name_of_numpy_is_left_without_a_cure_but_dtypes() -> None:
    for name in set(np.__all__) - vars(xp).keys() - set(xp.__all__):  # `testing` is among these once it is imported
        theirs = getattr(np, name)
        if not (isinstance(theirs, type) and issubclass(theirs, np.generic)):
            with pytest.raises(AttributeError, match=r"\. (Use|The standard has) \w"):
                getattr(xp, name)


@pytest.mark.parametrize(
    ("habit", "cure"),
    [
        ("getfield", "np.asarray(x).getfield"),
        ("ctypes", "np.asarray(x).ctypes"),
        ("numpy", "np.asarray(x)"),
        ("cpu", 'x.to_device("numpy")'),
        ("H", "xp.conj(x).mT"),
        ("setfield", "x[...] = ..."),
    ],
)
def test_a_method_of_ndarrays_leads_to_a_function(backend: xp.Backend, habit: str, cure: str) -> None:
    x = xp.ones(3)
    assert not hasattr(x, habit)
    assert habit not in dir(x)
    assert habit not in dir(xp.Array)
    with pytest.raises(AttributeError) as caught:
        getattr(x, habit)
    assert str(caught.value) == f"'Array' object has no attribute {habit!r}. Use {cure}"


def test_dir_of_a_module_lists_what_is_public() -> None:
    for module in (xp, xp.linalg, xp.fft):
        assert dir(module) == sorted(module.__all__)
        assert not hasattr(module, "TYPE_CHECKING")
    assert {"shape", "to_device", "T", "__dlpack__"} < set(dir(xp.ones(1)))


def test_what_a_name_of_numpy_leads_to_exists() -> None:
    for habit, cure in (other_names.ALIASES | other_names.NEAR_EQUIVALENTS).items():
        assert operator.attrgetter(re.split("[( ]", cure)[0])(xp) is not None, habit


@pytest.mark.parametrize("library", ["numpy", "jax"])
def test_linear_algebra_of_16_bits_is_refused_in_the_same_words(library: str) -> None:
    pytest.importorskip(library)
    with xp.backend(library), pytest.raises(TypeError) as caught:
        xp.linalg.cholesky(xp.ones((1, 1), dtype="float16"))
    assert str(caught.value) == (
        "cholesky: x must not have the dtype float16 on this backend. Convert it: xp.astype(...)"
    )


@pytest.mark.parametrize(
    "create",
    [
        lambda: xp.zeros((2**40, 2**40)),
        lambda: xp.ones(2**62),
        lambda: xp.empty((0, 2**62, 2**62)),
        lambda: xp.full(2**60, 1, dtype="uint8"),
        lambda: xp.eye(2**40),
        lambda: xp.eye(0, 10**30),
        lambda: xp.eye(10**30, 0),
        lambda: xp.linspace(0, 1, 2**60),
        lambda: xp.linspace(0, 1, 10**400),
        lambda: xp.arange(10**18),
        lambda: xp.arange(0, math.inf),
    ],
)
@pytest.mark.usefixtures("backend")
def test_more_elements_than_any_array_has_are_refused(create: Callable[[], xp.Array]) -> None:
    with pytest.raises(xp.ArgumentValueError, match=r"^[a-z]+: no array holds .* elements$"):
        create()


@pytest.mark.usefixtures("backend")
def test_an_array_of_no_elements_may_be_long() -> None:
    assert xp.zeros((0, 2**50)).shape == (0, 2**50)


@pytest.mark.parametrize("flag", ["no", 1.5, [True], None], ids=repr)
@pytest.mark.usefixtures("backend")
def test_a_flag_is_true_or_false_or_an_integer_or_a_bool_of_numpy(flag: Any) -> None:
    x = xp.ones((2, 2))
    for call in (
        lambda: xp.sum(x, keepdims=flag),
        lambda: xp.sort(x, descending=flag),
        lambda: xp.linalg.svd(x, full_matrices=flag),
        lambda: xp.isin(x, x, invert=flag),
        lambda: xp.linspace(0, 1, 3, endpoint=flag),
    ):
        with pytest.raises(xp.ArgumentTypeError, match=r"^[a-z]+: [a-z_]+ must be True or False, not "):
            call()
    for true in (1, np.True_, np.int8(1)):
        assert xp.sum(x, keepdims=true).shape == (1, 1)
        assert xp.sort(xp.asarray([1.0, 2.0]), descending=true).tolist() == [2.0, 1.0]
        assert xp.linalg.svd(x[:1, :], full_matrices=true).Vh.shape == (2, 2)


def test_a_masked_array_is_refused_by_the_function() -> None:
    with pytest.raises(TypeError, match=r"^sum: x cannot be an Array: a masked array would lose its mask\."):
        xp.sum(np.ma.array([1.0, 2.0], mask=[False, True]))


@pytest.mark.parametrize("method", ["toarray", "todense", "to_dense", "to_tensor"])
@pytest.mark.usefixtures("backend")
def test_a_sparse_array_is_refused_with_what_makes_it_dense(method: str) -> None:
    sparse = type("Sparse", (), {method: lambda self: np.eye(2)})()
    with pytest.raises(xp.ArgumentTypeError) as caught:
        xp.sum(sparse)
    assert str(caught.value) == f"sum: x must be an Array, not Sparse. Make it dense: x.{method}()"
    with pytest.raises(xp.ArgumentTypeError, match=rf"^asarray: obj .* Make it dense: x\.{method}\(\)$"):
        xp.asarray(sparse)


@pytest.mark.parametrize(
    "number",
    [1, True, np.True_, np.float32(1), np.int8(1), xp.asarray(1), fractions.Fraction(1), decimal.Decimal(1)],
    ids=repr,
)
@pytest.mark.usefixtures("backend")
def test_a_number_of_numpy_and_an_array_without_axes_do_as_numbers(number: Any) -> None:
    x = xp.asarray([1.0, 2.0, 4.0])
    assert xp.var(x, correction=number).item() == pytest.approx(7 / 3)
    assert xp.linalg.vector_norm(x, ord=number).item() == 7


@pytest.mark.parametrize("number", [None, "2", 1j], ids=repr)
@pytest.mark.usefixtures("backend")
def test_what_is_no_number_is_refused_as_one(number: Any) -> None:
    x = xp.ones(3)
    for call, sentence in (
        (lambda: xp.linalg.vector_norm(x, ord=number), f"vector_norm: ord must be a number, not {number!r}"),
        (lambda: xp.std(x, correction=number), f"std: correction must be a number, not {number!r}"),
    ):
        with pytest.raises(xp.ArgumentTypeError) as caught:
            call()
        assert str(caught.value) == sentence


WITHOUT_INVERSE = "must be invertible, but is singular. Use its pseudoinverse: xp.linalg.pinv"
SINGULAR: list[tuple[str, Callable[[Any], object], str]] = [
    ("inv", xp.linalg.inv, f"inv: x {WITHOUT_INVERSE}(x)"),
    ("solve", lambda x: xp.linalg.solve(x, x), f"solve: x1 {WITHOUT_INVERSE}(x1)"),
    ("matrix_power", lambda x: xp.linalg.matrix_power(x, -1), f"matrix_power: x {WITHOUT_INVERSE}(x)"),
    ("cholesky", lambda x: xp.linalg.cholesky(x - 2), "cholesky: x must be positive definite, but is not"),
    ("svd", lambda x: xp.linalg.svd(x + xp.nan), "svd: the singular values of x do not converge. It may hold NaN or "),
    ("eigvals", lambda x: xp.linalg.eigvals(x + xp.nan), "eigvals: "),
]


@pytest.mark.parametrize(("function", "call", "sentence"), SINGULAR, ids=[name for name, _, _ in SINGULAR])
def test_a_matrix_that_will_not_do_is_refused_by_function_or_gives_what_is_not_finite(
    function: str, call: Callable[[Any], Any], sentence: str, backend: xp.Backend
) -> None:
    """As the deviations say: JAX refuses none, TensorFlow not every one."""
    x = xp.asarray([[1.0, 2.0], [2.0, 4.0]])
    try:
        found = call(x)
    except xp.LinAlgError as error:
        assert str(error).startswith(sentence)
        assert isinstance(error, np.linalg.LinAlgError)
    else:
        is_awaited = backend.library != "tf" or backend.kind == "cpu" or function != "cholesky"
        assert backend.library == "jax" or not is_awaited or (backend.library == "tf" and function == "svd")
        assert not xp.all(xp.isfinite(found[1] if isinstance(found, tuple) else found))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
@pytest.mark.usefixtures("backend")
def test_an_index_out_of_range_is_refused_where_there_are_no_elements(shape: tuple[int, ...]) -> None:
    x = xp.zeros(shape)
    with pytest.raises(IndexError, match=rf"^take: ind.* out of bounds for axis 0 with size {shape[0]}$"):
        xp.take(x, xp.asarray([5]), axis=0)


ENDLESS: Final = [[np.inf, -0.0, 2.5], [3.0, 3.0, -1.5], [0.0, 3.0, 3.0]]
"""A matrix of whose singular vectors LAPACK's `gesdd` finds no end."""


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("function", ["svd", "pinv", "svdvals", "matrix_rank"])
def test_infinity_in_a_matrix_is_refused_or_gives_nan_but_an_end(
    function: str, dtype: str, backend: xp.Backend
) -> None:
    x = xp.asarray(np.asarray([np.eye(3), ENDLESS]), dtype=dtype)
    try:
        found = getattr(xp.linalg, function)(x)
    except xp.LinAlgError as error:
        said = "x must not hold NaN or infinity. Find them: xp.isfinite(x)"
        if function in ("svdvals", "matrix_rank") or backend.library == "cupy":  # the former from NumPy 2.5 on
            said = "the singular values of x do not converge. It may hold NaN or infinity: xp.isfinite(x)"
        assert str(error) == f"{function}: {said}"
        assert backend.library in ("numpy", "cupy", "torch")
        return
    if function != "matrix_rank":
        assert bool(xp.all(xp.isnan((found[1] if function == "svd" else found)[1])))
