"""Functions of blocks, and how they are mapped over the blocks of arrays."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

import dask
import dask.array as da
import numpy as np
from dask.utils import format_bytes, parse_bytes

from anyarray._base import errors
from anyarray.backends import numpy as on_numpy

Native: TypeAlias = Any
Axis: TypeAlias = int | tuple[int, ...] | None

UNKNOWN: Final = math.nan
"""The length of a block that is not computed yet."""
LIMIT: Final = "anyarray.largest-block"
"""The setting of Dask for the most bytes of what must stand in one block."""
dask.config.update_defaults({"anyarray": {"largest-block": "2 GiB"}})


@functools.cache
def _function(name: str) -> Callable[..., Any]:
    """The function of our NumPy backend."""
    for space in (on_numpy, np.linalg, np.fft, np):
        if hasattr(space, name):
            return getattr(space, name)
    raise errors.unsupported(name, "dask")


class Block:
    """A function of our NumPy backend, as a task.

    It travels by its name and options, and Dask knows equal ones as equal.
    """

    __slots__ = ("__name__", "options")

    def __init__(self, name: str, **options: Any) -> None:
        self.__name__ = name
        self.options = options

    def __call__(self, *blocks: Any, **more: Any) -> Any:
        with np.errstate(all="ignore"):
            found = _function(self.__name__)(*map(np.asarray, blocks), **self.options, **more)
        return tuple(map(np.asarray, found)) if isinstance(found, tuple) else np.asarray(found)

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(Block, **self.options), (self.__name__,)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return "anyarray", self.__name__, sorted(self.options.items())


def cast(block: Any, *, dtype: Any) -> Any:
    """A block in another dtype."""
    with np.errstate(all="ignore"):
        return np.asarray(block).astype(dtype)


def empty_of(dtype: Any, ndim: int) -> np.ndarray[Any, Any]:
    """An ndarray that tells Dask the dtype and number of axes."""
    return np.empty((0,) * ndim, dtype)


def chunks_for(shape: tuple[int, ...]) -> Any:
    """How Dask is to divide a new array: by its own setting.

    It cannot apply that to an array without elements.
    """
    return "auto" if shape and 0 not in shape else shape


def lengths_are_known(x: Native) -> bool:
    return not any(map(math.isnan, x.shape))


def known(x: Native) -> Native:
    """`x` with known lengths and without empty blocks."""
    if not lengths_are_known(x):
        from anyarray.backends.dask._computing import count

        count(x)
    if any(0 in sizes and len(sizes) > 1 for sizes in x.chunks):
        x = x.rechunk(tuple(tuple(n for n in sizes if n) or (0,) for sizes in x.chunks))
    return x


def limit() -> int:
    """The most bytes that are brought together in one block."""
    return int(parse_bytes(dask.config.get(LIMIT)))


def whole(x: Native, axes: Sequence[int] | None = None) -> Native:
    """`x` with these axes in one block, by default all.

    Raises TooLargeError if such a block is larger than `limit`.
    """
    x = known(x)
    axes = range(x.ndim) if axes is None else [axis % x.ndim for axis in axes]
    if all(x.numblocks[axis] == 1 for axis in axes):
        return x
    least = math.prod(x.shape[axis] for axis in axes) * x.dtype.itemsize
    if least > limit():
        raise errors.TooLargeError(
            f"dask: an array of shape {x.shape} would need a block of {format_bytes(least)}, "
            f"and the largest allowed is {format_bytes(limit())}. Reduce the array first, or allow more: "
            f'dask.config.set({{"{LIMIT}": "{format_bytes(2 * least)}"}})'
        )
    return x.rechunk({axis: -1 if axis in axes else "auto" for axis in range(x.ndim)})


def axis_within(axis: int, ndim: int) -> int:
    """A valid axis, counted from the first."""
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def axes_within(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Valid and different axes, counted from the first; None means all."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(axis_within(one, ndim) for one in ((axis,) if isinstance(axis, int) else axis))
    if len({*axes}) < len(axes):
        raise ValueError(f"axis must not name an axis twice, as in {axis}")
    return axes


@functools.lru_cache(1024)
def _dtype_of(function: Callable[..., Any], key: Any, dtypes: tuple[Any, ...]) -> Any:
    found = function(*(np.ones(1, dtype) for dtype in dtypes))
    return found.dtype


def dtype_of_result(function: Block, *xs: Native) -> Any:
    """The dtype that an elementwise function returns."""
    return _dtype_of(function, None, tuple(x.dtype for x in xs))


def elementwise(function: Callable[..., Any], *xs: Native, dtype: Any = None) -> Native:
    """A function of elements, on each block.

    Dask fuses a chain of these into one task for each block.
    Arrays of one value, as Python scalars are here, become part of the task.
    """
    if len([x for x in xs if x.ndim]) > 1:
        xs = apart(*map(known, xs))
    if dtype is None:
        dtype = dtype_of_result(function, *xs)  # type: ignore[arg-type]
    ndim = max((x.ndim for x in xs), default=0)
    pairs: list[Any] = []
    for x in xs:
        value = vars(x).get("anyarray_value")
        pairs += [x, tuple(range(x.ndim))[::-1]] if value is None or not ndim else [value, None]
    labels = tuple(range(ndim))[::-1]
    if ndim > 0 and len(xs) > 1:
        np.broadcast_shapes(*(tuple(-1 if math.isnan(n) else n for n in x.shape) for x in xs if lengths_are_known(x)))
    y = da.blockwise(function, labels, *pairs, dtype=dtype, meta=empty_of(dtype, ndim))
    if any("anyarray_again" in vars(x) for x in xs):
        y.anyarray_again = lambda known: elementwise(function, *(again(x, known) for x in xs), dtype=dtype)
    return y


def again(x: Native, known: Collection[str]) -> Native:
    """`x`, computed of blocks of its files that `known` layers have not read.

    It is `x` itself if it reads none.
    """
    return vars(x)["anyarray_again"](known) if "anyarray_again" in vars(x) else x


def apart(*xs: Native) -> tuple[Native, ...]:
    """The arrays, of which none waits with its blocks for another.

    In `x - mean(x)` all blocks of `x` would stay in memory until the mean is known. Those of a file are read again.
    """
    ready = []
    for x in xs:
        awaited = [one.dask.layers for one in xs if one.npartitions < x.npartitions and x.name in one.dask.layers]
        ready.append(again(x, {*chain(*awaited)}) if awaited else x)
    return tuple(ready)


def promoted(*xs: Native) -> tuple[Native, ...]:
    """The arrays in their common dtype."""
    xs = apart(*xs)
    dtype = np.result_type(*(x.dtype for x in xs))
    return tuple(as_dtype(x, dtype) for x in xs)


def as_dtype(x: Native, dtype: Any) -> Native:
    """`x` in a dtype; itself, if it has that."""
    return x if x.dtype == dtype else elementwise(functools.partial(cast, dtype=dtype), x, dtype=dtype)


def floating(x: Native) -> Native:
    """Bools and integers as float64, as in all linear algebra."""
    return as_dtype(x, np.dtype("float64")) if x.dtype.kind in "biu" else x


def along(
    function: Callable[..., Any], x: Native, axes: Sequence[int], lengths: Sequence[int] = (), dtype: Any = None
) -> Native:
    """A function of blocks in which these axes are not split.

    `lengths` are those of the result along these axes, if they change.
    """
    axes = [axis % x.ndim for axis in axes]
    x = whole(x, axes)
    chunks = list(x.chunks)
    for axis, length in zip(axes, lengths, strict=False):
        chunks[axis] = (length,)
    dtype = x.dtype if dtype is None else dtype
    return da.map_blocks(function, x, dtype=dtype, chunks=tuple(chunks), meta=empty_of(dtype, x.ndim))


Core: TypeAlias = tuple[tuple[int, ...], Any]
"""Lengths of the last axes of a result, which are not split, and its dtype."""


def stacked(function: Callable[..., Any], xs: Sequence[Native], cores: Sequence[int], *results: Core) -> Any:
    """A function of stacks, on each block of them.

    `cores` are the numbers of last axes of `xs` that are not split.
    """
    xs = [whole(x, range(x.ndim - core, x.ndim)) for x, core in zip(xs, cores, strict=True)]
    stacks = [x.shape[: x.ndim - core] for x, core in zip(xs, cores, strict=True)]
    np.broadcast_shapes(*stacks)
    if any(0 in x.shape for x in xs) or any(0 in lengths for lengths, _ in results):
        shape = np.broadcast_shapes(*stacks)
        return in_one_block(function, xs, *[((*shape, *lengths), dtype) for lengths, dtype in results])
    ndim = max(map(len, stacks))
    sizes = {f"o{i}_{j}": n for i, (lengths, _) in enumerate(results) for j, n in enumerate(lengths)}
    inputs = ",".join(f"({','.join(f'i{i}_{j}' for j in range(core))})" for i, core in enumerate(cores))
    outputs = ",".join(f"({','.join(f'o{i}_{j}' for j in range(len(one[0])))})" for i, one in enumerate(results))
    metas = tuple(empty_of(dtype, ndim + len(lengths)) for lengths, dtype in results)
    meta: Any = metas[0] if len(results) == 1 else metas
    signature = f"{inputs}->{outputs}"
    return da.apply_gufunc(function, signature, *xs, output_sizes=sizes, meta=meta, allow_rechunk=True)


def in_one_block(function: Callable[..., Any], xs: Sequence[Native], *results: tuple[tuple[float, ...], Any]) -> Any:
    """A function of whole arrays, each in one block, as one task.

    `results` are shapes and dtypes; a length may be UNKNOWN.
    """
    blocks = [whole(x).to_delayed(optimize_graph=False).item() for x in xs]
    task = dask.delayed(function, pure=False, nout=len(results) if len(results) > 1 else None)
    found = task(*blocks)
    parts = [found] if len(results) == 1 else list(found)
    made = tuple(
        da.from_delayed(part, shape, meta=empty_of(dtype, len(shape)))
        for part, (shape, dtype) in zip(parts, results, strict=True)
    )
    return made[0] if len(results) == 1 else made
