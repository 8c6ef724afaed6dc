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
from dask.array.utils import meta_from_array
from dask.utils import format_bytes, parse_bytes

from anyarray._base import errors
from anyarray._registry import registry
from anyarray._registry.home import Home

Native: TypeAlias = Any
Axis: TypeAlias = int | tuple[int, ...] | None

UNKNOWN: Final = math.nan
"""The length of a block that is not computed yet."""
LIMIT: Final = "anyarray.largest-block"
"""The setting of Dask for the most bytes of what must stand in one block."""
dask.config.update_defaults({"anyarray": {"largest-block": "2 GiB"}})

HOST, GPU = "numpy", "cupy"
"""The libraries of blocks. A device of Dask is named for the backend of its blocks."""


def backend_of(block: Any) -> Any:
    """The backend of a block: NumPy, unless it is a block on a GPU."""
    found = registry.backend_of_native(block)
    return found if found is not None and found.library == GPU else registry.backend_of_name(HOST)


def home_of(*blocks: Any) -> Home:
    """Where a function of blocks runs: on the GPU if one of them is there."""
    homes = [backend_of(one).free for one in blocks]
    return next((home for home in homes if home.backend.name != HOST), homes[0])


def on_home(block: Any, home: Home) -> Any:
    """A block, in the memory of a home. NumPy's scalars become arrays."""
    backend = backend_of(block)
    if home.backend.name == HOST:
        return np.asarray(block) if backend.name == HOST else backend.free.to_numpy(block)
    return block if backend is home.backend else home.from_numpy(np.asarray(block), home.backend.native_device)


@functools.cache
def native(home: Home, name: str) -> Callable[..., Any]:
    """A native function of a home.

    It is found also in a process that has not declared it.
    """
    return home.lookup(name)


class Block:
    """A function of the backend of the blocks, as a task.

    It travels by its name and options, and Dask knows equal ones as equal.
    """

    __slots__ = ("__name__", "options")

    def __init__(self, name: str, **options: Any) -> None:
        self.__name__ = name
        self.options = options

    def __call__(self, *blocks: Any, **more: Any) -> Any:
        home = home_of(*blocks)
        with np.errstate(all="ignore"):
            found = native(home, self.__name__)(*[on_home(one, home) for one in blocks], **self.options, **more)
        return tuple(on_home(one, home) for one in found) if isinstance(found, tuple) else on_home(found, home)

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(Block, **self.options), (self.__name__,)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return "anyarray", self.__name__, sorted(self.options.items())


def cast(block: Any, *, dtype: Any) -> Any:
    """A block in another dtype."""
    with np.errstate(all="ignore"):
        return on_home(block, home_of(block)).astype(dtype)


def device_of(x: Native) -> str:
    """The name of the backend of the blocks of an array."""
    return backend_of(x._meta).name


def to_device(x: Native, device: str | None) -> Native:
    """An array with its blocks on another backend."""
    if device is None or device == device_of(x):
        return x
    home = registry.backend_of_name(device).free
    return da.map_blocks(on_home, x, home, dtype=x.dtype, meta=on_home(np.empty((0,) * x.ndim, x.dtype), home))


def like(x: Native, dtype: Any, ndim: int | None = None) -> Any:
    """An empty block that tells Dask the class, dtype and number of axes."""
    meta = meta_from_array(x._meta, ndim)  # type: ignore[no-untyped-call]  # Dask has few annotations
    return np.empty_like(meta, dtype=dtype)  # Dask would cast, which warns of complex numbers that become real


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


@functools.lru_cache(1024)
def _dtype_of(function: Callable[..., Any], dtypes: tuple[Any, ...]) -> Any:
    """The dtype that an elementwise function returns."""
    return function(*(np.ones(1, dtype) for dtype in dtypes)).dtype


def elementwise(function: Callable[..., Any], *xs: Native, dtype: Any = None) -> Native:
    """A function of elements, on each block.

    Dask fuses a chain of these into one task for each block.
    Arrays of one value, as Python scalars are here, become part of the task.
    """
    if len([x for x in xs if x.ndim]) > 1:
        xs = apart(*map(known, xs))
    if dtype is None:
        dtype = _dtype_of(function, tuple(x.dtype for x in xs))
    ndim = max((x.ndim for x in xs), default=0)
    pairs: list[Any] = []
    for x in xs:
        value = vars(x).get("anyarray_value")
        pairs += [x, tuple(range(x.ndim))[::-1]] if value is None or not ndim else [value, None]
    labels, meta = tuple(range(ndim))[::-1], like(xs[0], dtype, ndim)
    if ndim > 0 and len(xs) > 1:
        np.broadcast_shapes(*(tuple(-1 if math.isnan(n) else n for n in x.shape) for x in xs if lengths_are_known(x)))
    y = da.blockwise(function, labels, *pairs, dtype=dtype, meta=meta)
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
    return da.map_blocks(function, x, dtype=dtype, chunks=tuple(chunks), meta=like(x, dtype))


def stacked(function: Callable[..., Any], xs: Sequence[Native], cores: Sequence[int], *results: tuple[int, ...]) -> Any:
    """A function of stacks, on each block of them.

    `cores` are the numbers of last axes of `xs` that are not split, `results` the lengths of those of the results.
    """
    xs = [whole(x, range(x.ndim - core, x.ndim)) for x, core in zip(xs, cores, strict=True)]
    ndim = len(np.broadcast_shapes(*[x.shape[: x.ndim - core] for x, core in zip(xs, cores, strict=True)]))
    kinds = [(x.dtype, core) for x, core in zip(xs, cores, strict=True)]
    found = function(*[np.eye(2, dtype=dtype) if n == 2 else np.ones((2,) * n, dtype) for dtype, n in kinds])
    dtypes = [one.dtype for one in (found if isinstance(found, tuple) else (found,))]
    sizes = {f"o{i}_{j}": n for i, lengths in enumerate(results) for j, n in enumerate(lengths)}
    inputs = ",".join(f"({','.join(f'i{i}_{j}' for j in range(core))})" for i, core in enumerate(cores))
    outputs = ",".join(f"({','.join(f'o{i}_{j}' for j in range(len(one)))})" for i, one in enumerate(results))
    metas = tuple(like(xs[0], dtype, ndim + len(one)) for one, dtype in zip(results, dtypes, strict=True))
    return da.apply_gufunc(
        function, f"{inputs}->{outputs}", *xs, output_sizes=sizes, meta=metas if results[1:] else metas[0],
        allow_rechunk=True,
    )  # fmt: skip


def beside(function: Callable[..., Any], x: Native, other: Native, dtype: Any, **options: Any) -> Native:
    """A function of each block of `x` and the whole of another array."""
    labels = tuple(range(x.ndim))
    other = whole(other)
    return da.blockwise(
        function, labels, x, labels, other, tuple(range(100, 100 + other.ndim)), dtype=dtype, concatenate=True,
        align_arrays=False, meta=like(x, dtype), **options,
    )  # fmt: skip


def in_one_block(function: Callable[..., Any], xs: Sequence[Native], *results: tuple[tuple[float, ...], Any]) -> Any:
    """A function of whole arrays, each in one block, as one task.

    `results` are shapes and dtypes; a length may be UNKNOWN.
    """
    blocks = [whole(x).to_delayed(optimize_graph=False).item() for x in xs]
    task = dask.delayed(function, pure=False, nout=len(results) if len(results) > 1 else None)
    found = task(*blocks)
    parts = [found] if len(results) == 1 else list(found)
    made = tuple(
        da.from_delayed(part, shape, meta=like(xs[0], dtype, len(shape)))
        for part, (shape, dtype) in zip(parts, results, strict=True)
    )
    return made[0] if len(results) == 1 else made
