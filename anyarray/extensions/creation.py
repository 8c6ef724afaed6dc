"""Creation functions of NumPy beyond the standard.

The Arrays have the default dtypes and are on the backend of new Arrays.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._array.array import AnyArray, Array, Shape
from anyarray._base import dtypes, errors
from anyarray._base.dtypes import DTypeLike
from anyarray._call.arguments import as_array, as_integer, as_shape
from anyarray._call.wrapping import is_array
from anyarray.extensions._axes import axis_of
from anyarray.standard import namespace as xp

__all__ = [
    "c_", "fromfunction", "geomspace", "identity", "index_exp", "logspace", "mgrid", "ogrid", "r_", "s_",
]  # fmt: skip


def identity(n: int, dtype: DTypeLike | None = None) -> Array:
    """The identity matrix of `n` rows.

    >>> import anyarray as xp
    >>> xp.identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]

    Source: NumPy 2.4, numpy.identity.
    """
    return xp.eye(n, dtype=dtype)


def fromfunction(function: Callable[..., Any], shape: Shape, *, dtype: DTypeLike | None = None, **kwargs: Any) -> Any:
    """The result of a function of the coordinates of an array of `shape`.

    The function is called once, with an Array of coordinates for each axis.

    >>> import anyarray as xp
    >>> xp.fromfunction(lambda i, j: i + 10 * j, (2, 2), dtype=xp.int64).tolist()
    [[0, 10], [1, 11]]

    Source: NumPy 2.4, numpy.fromfunction.
    """
    wanted = dtypes.default(float) if dtype is None else dtype
    lengths = as_shape("fromfunction", "shape", shape)
    coordinates = xp.meshgrid(*[xp.arange(n, dtype=wanted) for n in lengths], indexing="ij") if lengths else ()
    return function(*coordinates, **kwargs)


def logspace(
    start: AnyArray | complex,
    stop: AnyArray | complex,
    num: int = 50,
    endpoint: bool = True,
    base: AnyArray | complex = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """`num` powers of `base` with evenly spaced exponents.

    The exponents go from `start` to `stop`, which is excluded unless `endpoint` is True. Both may be arrays, which
    broadcast; the powers are along `axis` of the result.
    Raises ValueError if `num` is negative.

    >>> import anyarray as xp
    >>> xp.logspace(0, 2, 3).tolist()
    [1.0, 10.0, 100.0]

    Source: NumPy 2.4, numpy.logspace.
    """
    count = _count("logspace", num)
    if _are_numbers(start, stop, base):
        return _of_numbers(np.logspace, dtype, start, stop, count, endpoint, base)
    if not _are_numbers(base):
        start, stop = _array("logspace", "start", start), _array("logspace", "stop", stop)
        base = _array("logspace", "base", base)
        start, stop, base = xp.broadcast_arrays(start, stop, base)
        base = xp.expand_dims(base, 0)
    found = xp.pow(base, _spaced("logspace", start, stop, count, endpoint))
    return _along(found, axis, dtype, "logspace")


def geomspace(
    start: AnyArray | complex,
    stop: AnyArray | complex,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """`num` numbers from `start` to `stop`, in a geometric progression.

    `stop` is excluded unless `endpoint` is True. Both may be arrays, which broadcast; the numbers are along `axis` of
    the result. Raises ValueError if `num` is negative, or if one of two Python numbers is 0.

    >>> import anyarray as xp
    >>> xp.round(xp.geomspace(1, 1000, 4)).tolist()
    [1.0, 10.0, 100.0, 1000.0]

    Source: NumPy 2.4, numpy.geomspace.
    """
    count = _count("geomspace", num)
    if _are_numbers(start, stop):
        if start == 0 or stop == 0:
            raise errors.ArgumentValueError("geomspace: Geometric sequence cannot include zero, as start or stop is 0")
        return _of_numbers(np.geomspace, dtype, start, stop, count, endpoint)
    first, last = xp.broadcast_arrays(
        _array("geomspace", "start", start) + 0.0, _array("geomspace", "stop", stop) + 0.0
    )
    sign = xp.sign(first)
    exponents = _spaced("geomspace", xp.log10(first / sign), xp.log10(last / sign), count, endpoint)
    found = xp.pow(10.0, exponents) * sign
    if count > 1:
        found = xp.concat([first[None], found[1:-1], last[None]] if endpoint else [first[None], found[1:]])
    return _along(found, axis, dtype, "geomspace")


def _count(function: str, num: int) -> int:
    count = as_integer(function, "num", num)
    if count < 0:
        raise errors.ArgumentValueError(f"{function}: num must not be negative, but is {num}")
    return count


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(one, numbers.Number) for one in values)


def _array(function: str, parameter: str, value: Any) -> Array:
    return xp.asarray(value) if _are_numbers(value) else as_array(function, parameter, value)


def _of_numbers(function: Callable[..., Any], dtype: DTypeLike | None, *arguments: Any) -> Array:
    """An Array of what NumPy computes from numbers.

    It is of a default dtype if `dtype` is None.
    """
    values = function(*arguments)
    wanted = dtypes.default(complex if values.dtype.kind == "c" else float) if dtype is None else dtypes.dtype(dtype)
    return xp.asarray(values.astype(wanted.name, copy=False), dtype=wanted)


def _spaced(function: str, start: Any, stop: Any, count: int, endpoint: bool) -> Array:
    """Evenly spaced values along a new first axis."""
    first, last = _array(function, "start", start) + 0.0, _array(function, "stop", stop) + 0.0
    width = last - first
    steps = count - 1 if endpoint else count
    counted = xp.reshape(xp.astype(xp.arange(count), width.dtype), (-1, *[1] * width.ndim))
    found = counted * (width / steps if steps > 0 else width) + first
    if endpoint and count > 1:
        found = xp.concat([found[:-1], xp.broadcast_to(last, width.shape)[None]])
    return found


def _along(found: Array, axis: int, dtype: DTypeLike | None, function: str) -> Array:
    found = xp.moveaxis(found, 0, axis_of(function, axis, found.ndim))
    return found if dtype is None else xp.astype(found, dtype)


class _Grid:
    """The coordinates of a grid, from slices: `mgrid[0:3, 0:2]`.

    A step that is an imaginary number, as `5j`, is a number of points, the last included.
    """

    def __init__(self, on_host: Any) -> None:
        self._on_host = on_host

    def __getitem__(self, key: Any) -> Any:
        found = self._on_host[key]
        return tuple(map(_default, found)) if isinstance(found, tuple) else _default(found)


def _default(values: np.ndarray[Any, Any]) -> Array:
    """An Array of the default dtype of that kind."""
    return xp.asarray(values, dtype=dtypes.default(int if values.dtype.kind in "iu" else float))


mgrid: Final = _Grid(np.mgrid)
"""Coordinates of a grid, from slices, each of the grid's shape: `mgrid[0:3, 0:2]` is (2, 3, 2)."""
ogrid: Final = _Grid(np.ogrid)
"""Coordinates of a grid, from slices, to be broadcast: `ogrid[0:3, 0:2]` is of (3, 1) and (1, 2)."""
s_: Final = np.s_
"""The key of an index: `s_[1:, None]` is `(slice(1, None), None)`."""
index_exp: Final = np.index_exp
"""The key of an index, always a tuple."""


class _Concatenator:
    """Arrays, numbers and slices joined: `r_[1:4, 0, x]`.

    A string in front, as "1,2,0", says along which axis, the least number of axes, and which of these a vector has.
    """

    def __init__(self, axis: int, ndmin: int, trans1d: int) -> None:
        self._usual = axis, ndmin, trans1d

    def __getitem__(self, key: Any) -> Array:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, trans1d = self._usual
        if items and isinstance(items[0], str):
            axis, ndmin, trans1d = _directive(items.pop(0), axis, ndmin, trans1d)
        parts = [item if _are_numbers(item) and not isinstance(item, np.generic) else _part(item) for item in items]
        arrays = [one for one in parts if is_array(one)]
        dtype = xp.result_type(*parts) if arrays else xp.asarray([type(one)() for one in parts]).dtype
        cast = [xp.astype(one, dtype, copy=False) if is_array(one) else xp.asarray(one, dtype=dtype) for one in parts]
        placed = [_placed(one, ndmin, trans1d) for one in cast]
        return xp.concat(placed, axis=axis)


def _directive(text: str, axis: int, ndmin: int, trans1d: int) -> tuple[int, int, int]:
    try:
        given = [int(one) for one in text.split(",")]
    except ValueError as error:
        raise errors.ArgumentValueError(
            f'index: a directive must be integers, as "0,2,0", not {text!r}. There are no matrices'
        ) from error
    axis, ndmin, trans1d = [*given, *[axis, ndmin, trans1d][len(given) :]][:3]
    return axis, ndmin, trans1d


def _part(item: Any) -> Array:
    if isinstance(item, str):
        raise errors.ArgumentValueError("index: special directives must be the first entry, as in r_['0,2', x, y]")
    if not isinstance(item, slice):
        return xp.asarray(item)
    start = 0 if item.start is None else item.start
    step = 1 if item.step is None else item.step
    if isinstance(step, (complex, np.complexfloating)):
        return xp.linspace(start, item.stop, int(abs(complex(step))))
    return xp.arange(start, item.stop, step)


def _placed(array: Array, ndmin: int, trans1d: int) -> Array:
    """An array with axes of length 1, so that its own begin at `trans1d`."""
    more = ndmin - array.ndim
    if more <= 0:
        return array
    first = more if trans1d == -1 else trans1d + (more + 1 if trans1d < 0 else 0)
    found = xp.expand_dims(array, tuple(range(more)))
    if first >= more:
        return found
    order = [*range(ndmin)]
    return xp.permute_dims(found, (*order[:first], *order[more:], *order[first:more]))


r_: Final = _Concatenator(0, 1, -1)
"""Arrays, numbers and slices joined along the first axis: `r_[1:4, 0, x]`."""
c_: Final = _Concatenator(-1, 2, 0)
"""Arrays, numbers and slices joined as columns: `c_[x, y]`."""
