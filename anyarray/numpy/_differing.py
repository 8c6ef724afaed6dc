"""NumPy functions whose parameters differ in meaning from ours.

Each has NumPy's parameters, and its documentation.
"""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import numpy as np

import anyarray as xp
from anyarray._array import complex_order
from anyarray._array.array import Array
from anyarray._base import errors
from anyarray._base.dtypes import is_numpys_own
from anyarray._call.arguments import unknown_length
from anyarray._call.operators import decides
from anyarray.numpy import _options, _ufuncs
from anyarray.numpy._itself import values_of
from anyarray.numpy._nditer import in_memory
from anyarray.numpy._nditer import nditer as _nditer
from anyarray.numpy._signatures import signature_of
from anyarray.numpy._wrapper import (
    NUMBERS,
    as_array,
    as_numpys_own,
    at_once,
    bound,
    brought,
    dressed,
    in_numpy,
    or_in_numpy,
    wrapper,
)

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "allclose", "arange", "array", "array_equal", "array_equiv", "array_split", "asanyarray", "asarray",
    "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "astype", "bincount", "broadcast", "choose", "clip",
    "copy", "cross", "einsum", "einsum_path", "empty", "empty_like", "eye", "full", "full_like", "imag", "isfortran",
    "isscalar", "linspace", "may_share_memory", "meshgrid", "nanargmax", "nanargmin", "nanmax", "nanmin", "ndarray",
    "ndenumerate", "ndim", "nditer", "ones", "ones_like", "put_along_axis", "real", "require", "reshape", "select",
    "shape", "shares_memory", "size", "sort", "take_along_axis", "tile", "transpose", "ufunc", "where", "zeros",
    "zeros_like",
]  # fmt: skip

_NO_VALUE: Final[Any] = np._NoValue
_EXTREMES: Final = (("max", -math.inf), ("min", math.inf))
ndarray, nditer, ufunc = Array, _nditer, _ufuncs.ufunc


_IN_PYTHON: Final = frozenset({"may_share_memory", "shares_memory"})
"""Functions that look at more than NumPy's memory."""
_FIRST: Final[dict[str, tuple[Any, ...]]] = {
    **{name: (getattr(xp, name),) for name in "arange asarray empty ones reshape where zeros zeros_like".split()},
    "array": (xp.asarray, "l"),
}
"""Functions of ours that come first, as they take less; `array` if it is given a list or an ndarray."""


def as_numpy(function: F) -> F:
    """Give a function the signature and the documentation of NumPy's."""
    name = function.__name__
    theirs = getattr(np, name)
    if isinstance(theirs, np.ufunc):
        return dressed(function, name, theirs)  # type: ignore[no-any-return]  # the function itself
    try:
        signature: inspect.Signature | None = signature_of(theirs)
    except ValueError:  # of functions in C, before NumPy 2.4
        signature = None

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return in_numpy(theirs, args, kwargs) if any(map(decides, args)) else function(*args, **kwargs)

    dressed(called, name, theirs, signature)
    if name in _IN_PYTHON:
        return called  # type: ignore[return-value]  # is called as `function` is
    return at_once(called, theirs, *_FIRST.get(name, ()))  # type: ignore[return-value]  # is called as `function` is


def of_numbers(function: F) -> F:
    """Let NumPy compute the function of a number, which gives a number."""
    theirs = getattr(np, function.__name__)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], NUMBERS):
            return in_numpy(theirs, args, kwargs)
        return function(*args, **kwargs)

    return as_numpy(called)  # type: ignore[return-value]  # is called as `function` is


def or_numpys(function: F) -> F:
    """Let NumPy make text, dates and objects, which no other library has."""
    return as_numpy(or_in_numpy(function, getattr(np, function.__name__)))


def of_lengths(function: F) -> F:
    """As `or_numpys`, for a function whose first argument is a length.

    The common call with that alone, an integer or a tuple, goes to ours in half the time.
    """
    ours, called = getattr(xp, function.__name__), or_in_numpy(function, getattr(np, function.__name__))

    @functools.wraps(function)
    def made(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and type(args[0]) in (int, tuple):
            return ours(args[0])
        return called(*args, **kwargs)

    return as_numpy(made)  # type: ignore[return-value]  # is called as `function` is


# Creation


@as_numpy
def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0,
    ndmax: int = 0, like: Any = None,
) -> Any:  # fmt: skip
    try:
        if dtype is None and not ndmin and type(object) is list:  # the common call
            return xp.asarray(object)
        if dtype is None and is_numpys_own(object):
            return np.array(object, ndmin=ndmin)
        result = xp.asarray(object, dtype=dtype, copy=None if copy is None else bool(copy))
    except (errors.ArgumentTypeError, errors.ArgumentOverflowError):
        return _numpys_own(object, dtype, ndmin)
    if ndmin > result.ndim:
        result = xp.reshape(result, (1,) * (ndmin - result.ndim) + result.shape)
    return _in_rows(result, order)


@as_numpy
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Any:
    if dtype is copy is device is None and type(a) is Array:
        return _in_rows(a, order)
    if dtype is None and is_numpys_own(a):
        return np.array(a)
    try:
        if device is None or device == "cpu":
            result = xp.asarray(a, dtype=dtype, copy=copy)
        else:
            result = xp.asarray(a, dtype=dtype, device=device, copy=copy)
    except (errors.ArgumentTypeError, errors.ArgumentOverflowError):
        return _numpys_own(a, dtype)
    return _in_rows(result, order)


def _in_rows(x: Array, order: Any) -> Array:
    """The array, copied if `order` wants it row-major and it is not."""
    return x.copy("C") if order == "C" and x.ndim and not x.flags.c_contiguous else x


def _numpys_own(value: Any, dtype: Any, ndmin: int = 0) -> Any:
    """An ndarray of what no other library has: text, dates, objects.

    It is called while the error is handled that the value holds no numbers, and raises it again if NumPy refuses it,
    too.
    """
    try:
        return brought(np.array(values_of(value), dtype=dtype, ndmin=ndmin))
    except TypeError:
        pass
    raise


@as_numpy
def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Any:
    return asarray(a, dtype, order, device=device, copy=copy)


@or_numpys
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    x = xp.asarray(a, dtype=dtype)
    return _in_rows(x, "C") if x.ndim else xp.reshape(x, (1,))


@or_numpys
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    return xp.asarray(a, dtype=dtype)


@or_numpys
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    x = asarray(a, dtype, order)
    if x.dtype.kind in "fc" and not bool(xp.all(xp.isfinite(x))):
        raise errors.ArgumentValueError("asarray_chkfinite: a must not hold NaN or infinity. Find them: np.isfinite(a)")
    return x


@or_numpys
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    return asarray(a, dtype)


@or_numpys
def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    x = _array_of(a)
    return xp.asarray(x, copy=True) if type(x) is Array else np.array(x, order=order, subok=subok)


@or_numpys
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    return xp.astype(as_array(x), dtype, copy=copy)


@of_lengths
def zeros(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Array:
    return xp.zeros(shape, dtype=dtype)


@of_lengths
def ones(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Array:
    return xp.ones(shape, dtype=dtype)


@of_lengths
def empty(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Array:
    return xp.empty(shape, dtype=dtype)


@or_numpys
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
) -> Array:
    if isinstance(fill_value, (bool, int, float, complex)) and not isinstance(fill_value, np.generic):
        if dtype is None and type(fill_value) is int and 2**63 <= fill_value < 2**64:
            dtype = np.uint64
        return xp.full(shape, fill_value, dtype=dtype)
    value = asarray(fill_value, dtype=dtype)
    if type(value) is not Array:
        return np.full(shape, value, value.dtype)  # type: ignore[return-value]  # of what no other library has
    return xp.asarray(xp.broadcast_to(value, shape), copy=True)


def _like(name: str, made: Callable[..., Array], a: Any, values: Sequence[Any], dtype: Any, shape: Any) -> Array:
    x = as_array(a)
    if shape is None:
        return made(x, *values, dtype=dtype)
    plain = getattr(xp, name)
    return plain(shape, *values, dtype=x.dtype if dtype is None else dtype)  # type: ignore[no-any-return]  # an Array


@or_numpys
def zeros_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Array:
    return _like("zeros", xp.zeros_like, a, (), dtype, shape)


@or_numpys
def ones_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Array:
    return _like("ones", xp.ones_like, a, (), dtype, shape)


@or_numpys
def empty_like(
    prototype: Any, /, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Array:
    return _like("empty", xp.empty_like, prototype, (), dtype, shape)


@or_numpys
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    x = as_array(a)
    return full(x.shape if shape is None else shape, fill_value, x.dtype if dtype is None else dtype)


@of_lengths
def eye(
    N: Any, M: Any = None, k: int = 0, dtype: Any = float, order: Any = "C", *, device: Any = None, like: Any = None
) -> Array:
    return xp.eye(N, M, k=k, dtype=dtype)


@of_lengths
def arange(
    start: Any = None, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None, like: Any = None
) -> Array:
    if stop is None:
        if start is None:
            raise errors.ArgumentTypeError("arange: takes at least a stop. Write np.arange(stop)")
        start, stop = 0, start
    return xp.arange(_number(start) if start is not None else 0, _number(stop), _number(step), dtype=dtype)


def _number(value: Any) -> Any:
    """A Python number of an element of an array.

    An Array stays one if it is a length that a trace does not know.
    """
    if type(value) in (int, float) or unknown_length(value) is not None:
        return value
    return value.item() if hasattr(value, "item") else value


def _count(value: Any) -> Any:
    """A count as an int, or as an Array if a trace does not know it."""
    return value if unknown_length(value) is not None else int(value)


@or_numpys
def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    num = _count(num)
    parts = num - 1 if endpoint else num
    if isinstance(start, NUMBERS) and isinstance(stop, NUMBERS):
        start, stop = _number(start), _number(stop)
        if dtype is None or np.dtype(dtype).kind in "fc":
            result = xp.linspace(start, stop, num, endpoint=bool(endpoint), dtype=dtype)
        else:
            result = xp.astype(xp.floor(xp.linspace(start, stop, num, endpoint=bool(endpoint))), dtype)
        step = (stop - start) / parts if type(parts) is Array or parts > 0 else math.nan
    else:
        first, last = as_array(start) * 1.0, as_array(stop) * 1.0
        step = (last - first) / parts if parts > 0 else xp.full_like(last - first, math.nan)
        at = xp.reshape(xp.arange(num, dtype=step.dtype), (-1,) + (1,) * step.ndim)
        result = first + at * (step if parts > 0 else 0)
        if endpoint and num > 1:
            result = xp.concat([result[:-1], xp.broadcast_to(last, (1, *step.shape))], axis=0)
        if dtype is not None:
            result = xp.astype(xp.floor(result) if np.dtype(dtype).kind in "iu" else result, dtype)
        result = xp.moveaxis(result, 0, axis)
    return (result, step) if retstep else result


@or_numpys
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Array, ...]:
    arrays = [xp.reshape(as_array(one), (-1,)) for one in xi]
    if not sparse:
        found = xp.meshgrid(*arrays, indexing=indexing)  # type: ignore[arg-type]  # checked there
        return tuple(xp.asarray(one, copy=True) for one in found) if copy else tuple(found)
    places = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        places[:2] = [1, 0]
    return tuple(
        xp.reshape(one, tuple(-1 if at == place else 1 for at in range(len(arrays))))
        for one, place in zip(arrays, places, strict=True)
    )


# Shape and memory


@as_numpy
def ndim(a: Any) -> int:
    return len(shape(a))


@as_numpy
def shape(a: Any) -> tuple[int, ...]:
    return tuple(a.shape if hasattr(a, "shape") else _array_of(a).shape)


@as_numpy
def size(a: Any, axis: Any = None) -> int:
    lengths = shape(a)
    if axis is None:
        return math.prod(lengths)
    return math.prod(lengths[one] for one in ((axis,) if isinstance(axis, int) else axis))


def _array_of(value: Any) -> Any:
    """As `as_array`, which leaves None as it is."""
    return np.asarray(None) if value is None else as_array(value)


@as_numpy
def reshape(a: Any, /, shape: Any, order: Any = "C", *, copy: bool | None = None) -> Array:
    if order == "C" and copy is None:
        return _array_of(a).reshape(shape)  # type: ignore[no-any-return]  # an Array
    return _array_of(a).reshape(shape, order=order, copy=copy)  # type: ignore[no-any-return]  # an Array


@as_numpy
def transpose(a: Any, axes: Any = None) -> Array:
    return _array_of(a).transpose(axes)  # type: ignore[no-any-return]  # an Array


@as_numpy
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    x = as_array(a)
    if type(x) is not Array:
        return np.sort(x, axis, kind, order, stable=stable)
    if kind is order is stable is None and x.dtype.kind != "c":
        return xp.sort(x, axis=axis) if axis is not None else xp.sort(xp.reshape(x, (-1,)))
    x = xp.asarray(x, copy=True) if axis is not None else x.flatten()
    x.sort(-1 if axis is None else axis, kind, order, stable=stable)
    return x


@as_numpy
def isfortran(a: Any) -> bool:
    strides = getattr(np.asarray(a) if type(a) is not Array else a, "flags", None)
    return strides is not None and bool(strides.f_contiguous) and not strides.c_contiguous


@or_numpys
def tile(A: Any, reps: Any) -> Any:
    if type(_array_of(A)) is not Array:
        return np.tile(A, reps)
    is_one = not isinstance(reps, (tuple, list)) and np.ndim(reps) == 0
    return xp.tile(as_array(A), (_count(reps),) if is_one else tuple(_count(one) for one in reps))


@as_numpy
def shares_memory(a: Any, b: Any, /, max_work: Any = -1) -> bool:
    return bool(np.shares_memory(*in_memory(a, b)))


@as_numpy
def may_share_memory(a: Any, b: Any, /, max_work: Any = 0) -> bool:
    return bool(np.may_share_memory(*in_memory(a, b)))


@or_numpys
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    return list(xp.array_split(as_array(ary), indices_or_sections, axis=axis))


class broadcast:  # noqa: N801 - NumPy's name
    """The broadcast of arrays, as `numpy.broadcast`.

    It has a shape, and iterates over tuples of elements.
    """

    def __init__(self, *arrays: Any) -> None:
        self._arrays: list[Array] = []
        for one in arrays:
            self._arrays += one._arrays if isinstance(one, broadcast) else [as_array(one)]
        self.shape = np.broadcast_shapes(*[one.shape for one in self._arrays])
        self.nd = self.ndim = len(self.shape)
        self.size = math.prod(self.shape)
        self.numiter = len(self._arrays)
        self.reset()

    @property
    def iters(self) -> tuple[Any, ...]:
        """An iterator over the elements of each array."""
        return tuple([iter(xp.broadcast_to(one, self.shape).flat) for one in self._arrays])

    def reset(self) -> None:
        """Begin again."""
        self.index = 0
        self._elements = zip(*self.iters, strict=True)

    def __next__(self) -> tuple[Any, ...]:
        found = next(self._elements)
        self.index += 1
        return found

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self


class ndenumerate:  # noqa: N801 - NumPy's name
    """Pairs of an index and its element, as `numpy.ndenumerate`."""

    def __init__(self, arr: Any) -> None:
        self._array = as_array(arr)
        self._pairs = zip(np.ndindex(self._array.shape), xp.reshape(self._array, (-1,)), strict=True)

    def __next__(self) -> tuple[tuple[int, ...], Any]:
        return next(self._pairs)

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], Any]]:
        return self


# Values


@of_numbers
def real(val: Any) -> Any:
    return as_array(val).real


@of_numbers
def imag(val: Any) -> Any:
    return as_array(val).imag


def _as_bool(result: Array) -> Any:
    """A Python bool, as programs print it; an Array under a trace."""
    return result if result._home.is_traced(result._native) else bool(result)


@as_numpy
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    return _as_bool(xp.allclose(as_array(a), as_array(b), rtol, atol, equal_nan))


@as_numpy
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    a1, a2 = _array_of(a1), _array_of(a2)
    if isinstance(a1, np.ndarray) or isinstance(a2, np.ndarray):
        return np.array_equal(values_of(a1), values_of(a2), equal_nan)
    return _as_bool(xp.array_equal(a1, a2, equal_nan))


@as_numpy
def array_equiv(a1: Any, a2: Any) -> Any:
    return _as_bool(xp.array_equiv(as_array(a1), as_array(a2)))


@as_numpy
def isscalar(element: Any) -> bool:
    return element.ndim == 0 if type(element) is Array else np.isscalar(element)


@as_numpy
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    choices = [*choicelist, default]
    if any(as_numpys_own(one) is not None for one in choices):
        return np.select(values_of(list(condlist)), values_of(list(choicelist)), values_of(default))
    plain = (bool, int, float, complex)
    given, last = [one if type(one) in plain else as_array(one) for one in choicelist], default
    return xp.select([as_array(one) for one in condlist], given, last if type(last) in plain else as_array(last))


@as_numpy
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    return as_array(a).choose(choices, out=out, mode=mode)


def _along(function: str, arr: Any, indices: Any, axis: int | None) -> tuple[Any, Any, int]:
    """An array, indices along an axis, and that axis.

    If the axis is None, they are of all elements.
    """
    array, at = as_array(arr), as_array(indices)
    if at.dtype.kind not in "iu":
        raise errors.ArgumentIndexError(f"{function}: indices must be an integer array, not of {at.dtype}")
    if axis is not None:
        return array, at, axis
    if at.ndim != 1:
        raise errors.ArgumentValueError(
            f"{function}: when axis=None, indices must have a single dimension, not shape {at.shape}"
        )
    return xp.reshape(array, (-1,)), at, 0


@or_numpys
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Array:
    array, at, along = _along("take_along_axis", arr, indices, axis)
    return xp.take_along_axis(array, at, axis=along)


@as_numpy
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    array, at, along = _along("put_along_axis", arr, indices, axis)
    if axis is None:
        arr.flat[at] = values
    else:
        xp.put_along_axis(array, at, values, along)


@or_numpys
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Array:
    counted = xp.asarray(x, dtype=xp.int64) if isinstance(x, (list, tuple)) and not x else as_array(x)
    return xp.bincount(counted, as_array(weights), minlength=minlength)


@or_numpys
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = xp.moveaxis(as_array(a), axisa, -1), xp.moveaxis(as_array(b), axisb, -1)
    lengths = first.shape[-1], second.shape[-1]
    if 2 not in lengths:
        return xp.cross(first, second, axisc=axisc)
    warnings.warn(
        "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead.",
        DeprecationWarning,
        stacklevel=2,
    )
    if lengths == (2, 2):  # the third coordinate alone
        return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
    first, second = (xp.pad(one, [(0, 0)] * (one.ndim - 1) + [(0, 3 - one.shape[-1])]) for one in (first, second))
    return xp.cross(first, second, axisc=axisc)


def _of_complex(name: str, method: str, lowest: float) -> Callable[..., Any]:
    """An extreme of what is not NaN, of complex numbers in NumPy's order.

    NaN becomes `lowest`, which no other element is behind.
    """
    plain = wrapper(name, getattr(np, name), getattr(xp, name))

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        x: Any = None if decides(a) else as_array(a)
        if getattr(x, "dtype", None) is None or x.dtype.kind != "c":
            return plain(a, *args, **kwargs)
        given = bound(name, inspect.signature(plain), (x, *args), kwargs)
        out, initial, where = given.pop("out", None), given.pop("initial", None), given.pop("where", True)
        is_nan = xp.isnan(x) | ~xp.asarray(where)
        options = {one: given[one] for one in ("axis", "keepdims") if one in given}
        is_empty = xp.all(is_nan, **options)
        if "arg" in name and not is_empty._home.is_traced(is_empty._native) and bool(xp.any(is_empty)):
            raise errors.ArgumentValueError(f"{name}: All-NaN slice encountered")
        found = getattr(xp.where(is_nan, complex(lowest, lowest), x), method)(**options)
        if "arg" not in name:
            if not is_empty._home.is_traced(is_empty._native) and bool(xp.any(is_empty)):
                warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=2)
            found = xp.where(is_empty, complex(math.nan, math.nan), found)
        if initial is not None:
            found = complex_order.extreme_of_two(found, initial, is_highest=lowest < 0, leaves_nan_out=True)
        return found if out is None else _options.written(name, out, found)

    return dressed(function, name, getattr(np, name), inspect.signature(getattr(np, name)))  # type: ignore[no-any-return]  # the function


nanargmax, nanargmin = (_of_complex(f"nanarg{one}", f"arg{one}", low) for one, low in _EXTREMES)
nanmax, nanmin = (_of_complex(f"nan{one}", one, low) for one, low in _EXTREMES)


@of_numbers
def clip(
    a: Any,
    a_min: Any = _NO_VALUE,
    a_max: Any = _NO_VALUE,
    out: Any = None,
    *,
    min: Any = _NO_VALUE,
    max: Any = _NO_VALUE,
    **options: Any,
) -> Any:
    low, high = (a_min if a_min is not _NO_VALUE else min), (a_max if a_max is not _NO_VALUE else max)
    low, high = (None if one is _NO_VALUE else one for one in (low, high))
    casting = options.get("casting")
    if out is None or casting is None:
        return as_array(a).clip(low, high, out)
    return _options.out_by("clip", out, options)(as_array(a).clip(low, high))


@as_numpy
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Any:
    arrays = _of_einsum(operands)
    if out is None and not kwargs:
        return xp.einsum(*arrays, optimize=optimize)
    dtype = kwargs.pop("dtype", None)
    if dtype is not None:  # in which the products are computed
        operand = [type(one) is Array for one in arrays]
        came = np.result_type(*[np.dtype(one.dtype) for one, is_one in zip(arrays, operand, strict=True) if is_one])
        if not np.can_cast(came, dtype, kwargs.get("casting", "safe")):
            raise errors.ArgumentTypeError(
                f"einsum: operands of dtype {came} cannot be cast to {np.dtype(dtype)} by the rule "
                f"{kwargs.get('casting', 'safe')!r}. Cast them: x.astype(...)"
            )
        if np.dtype(dtype).kind != "c":
            arrays = [
                xp.real(one) if is_one and one.dtype.kind == "c" else one
                for one, is_one in zip(arrays, operand, strict=True)
            ]
        arrays = [xp.astype(one, dtype) if is_one else one for one, is_one in zip(arrays, operand, strict=True)]
    return _options.serve(
        "einsum", xp.einsum, arrays, {"optimize": optimize}, kwargs | ({"out": out} if out is not None else {})
    )


@as_numpy
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    return xp.einsum_path(*_of_einsum(operands), optimize=optimize)


def _of_einsum(operands: tuple[Any, ...]) -> list[Any]:
    """Subscripts and arrays; or arrays, each with its axes."""
    if isinstance(operands[0], str):
        return [operands[0], *map(as_array, operands[1:])]
    return [one if at % 2 or at == len(operands) - 1 else as_array(one) for at, one in enumerate(operands)]


@as_numpy
def where(condition: Any, *operands: Any) -> Any:
    if not operands:
        return as_array(condition).nonzero()
    if len(operands) != 2:
        raise errors.ArgumentValueError("where: takes either both of x and y, or neither")
    x, y = (one if type(one) in (bool, int, float, complex, Array) else _array_of(one) for one in operands)
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.where(values_of(condition), values_of(x), values_of(y))
    chosen = as_array(condition)
    return xp.where(chosen if chosen.dtype.kind == "b" else chosen != 0, x, y)
