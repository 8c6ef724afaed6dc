"""The hooks of the contract: what an array is, to NumPy and back."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final, NoReturn

import cloudpickle
import dask.array as da
import numpy as np

from anyarray._base import dtypes, errors
from anyarray._registry import registry
from anyarray.backends.dask._computing import computed, from_host, from_source, persisted, stored
from anyarray.backends.dask._kernel import GPU, HOST, Native, device_of, known, native, to_device
from anyarray.backends.dask.elementwise import FUNCTIONS, astype, clip
from anyarray.backends.dask.indexing import setitem, values_in

__all__ = [
    "ARRAY_TYPES", "IS_IMMUTABLE", "PROMOTES", "chunks_of", "computed", "count_of", "device_of", "devices",
    "devices_of", "duplicate", "exported", "from_numpy", "from_source", "jacobian", "jit", "lengths_of", "namespace",
    "native_dtype", "persisted", "pickled", "plain", "scalar", "scoped", "shape_of", "stored", "synchronize",
    "to_device", "to_numpy", "value_and_grad",
]  # fmt: skip

ARRAY_TYPES: Final = (da.Array,)
IS_IMMUTABLE: Final = True
PROMOTES: Final = True
namespace: Final = da


def devices() -> dict[str, list[str]]:
    return {"cpu": [HOST]}


def devices_of(kind: str, /) -> list[str]:
    """Those of CuPy, whose arrays are the blocks on a GPU."""
    try:
        registry.backend_of_name(GPU)
    except errors.BackendError as error:
        raise type(error)(f'backend "dask-{kind}" has blocks of CuPy: {error}') from error
    return [one.name for one in registry.loaded_backends() if one.library == GPU]


def native_dtype(name: str, /) -> np.dtype[Any]:
    if name == "bfloat16":  # Dask cannot tokenize it, nor find its nothing for a block
        raise KeyError(name)
    return dtypes.KNOWN[name].dtype


def shape_of(x: Native, /) -> tuple[int | None, ...]:
    return tuple([None if math.isnan(n) else int(n) for n in x.shape])


def lengths_of(x: Native, /) -> tuple[int, ...]:
    return tuple(map(int, known(x).shape))


def count_of(x: Native, /) -> int:
    if not x.ndim:
        raise TypeError("x has no axes")
    return lengths_of(x)[0]


def chunks_of(x: Native, /) -> tuple[tuple[int | None, ...], str]:
    shape = tuple(None if math.isnan(n) else int(n) for n in x.shape)
    parts = []
    for sizes in x.chunks:
        shown = ["?" if math.isnan(n) else str(n) for n in sizes]
        parts.append(" + ".join(shown if len(shown) <= _MOST_SHOWN else [*shown[:2], "...", shown[-1]]))
    return shape, f"({', '.join(parts)}{',' * (len(parts) == 1)})"


_MOST_SHOWN: Final = 4
"""The most lengths of blocks along an axis that are shown."""


def plain(x: Native, /) -> Native:
    """The user's array with blocks of NumPy, unless they are on a GPU."""
    is_known = type(x._meta) is np.ndarray or device_of(x) != HOST
    return x if is_known else x.map_blocks(np.asarray, dtype=x.dtype)


def scoped(function: Callable[..., Any], device: str, /) -> Callable[..., Any]:
    """A function of arrays with known lengths.

    NumPy computes what has no elements, or follows from an array that has none: there are no blocks to divide.
    Elementwise functions take any arrays, and a write reads nothing that it need not.
    """
    if function in _OF_ANY:
        return function
    name = getattr(function, "__name__", "")

    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        args = tuple(known(one) if isinstance(one, da.Array) else one for one in args)
        arrays = [one for one in args if isinstance(one, da.Array)]
        if all(0 not in one.shape for one in arrays):
            return function(*args, **options)

        def in_numpy(of: Callable[[Native], Any]) -> Any:
            home = registry.backend_of_name(HOST).free
            return native(home, name)(*[values_in(one, of) for one in args], **options)

        try:
            found = in_numpy(_without_values)
        except np.linalg.LinAlgError:  # ones are no invertible matrix
            found = in_numpy(to_numpy)
        if any(np.size(one) for one in (found if isinstance(found, tuple) else (found,))):
            if 0 not in arrays[0].shape:
                return function(*args, **options)
            found = in_numpy(to_numpy)
        if isinstance(found, tuple):
            return tuple(from_host(np.asarray(one), device) for one in found)
        return from_host(np.asarray(found), device)

    return called


def _without_values(x: Native) -> np.ndarray[Any, Any]:
    """An array of the shape of `x`, which takes no memory."""
    return np.broadcast_to(np.ones((), x.dtype), x.shape)


_OF_ANY: Final = {*FUNCTIONS.values(), astype, clip, setitem}


def to_numpy(x: Native, /) -> np.ndarray[Any, Any]:
    return computed(x)[0]


class _Graph:
    """An array to pickle, of which Dask's own tasks may be closures."""

    def __init__(self, x: Native) -> None:
        self._x = x

    def __reduce__(self) -> tuple[Any, ...]:
        return cloudpickle.loads, (cloudpickle.dumps(self._x),)


def pickled(x: Native, /) -> _Graph:
    """The graph, as pickle must not compute.

    A cluster pickles arguments and results of tasks while it holds locks that computing needs.
    """
    return _Graph(x)


def from_numpy(a: np.ndarray[Any, Any], device: str, /) -> Native:
    return from_host(np.array(a, order="C"), device)


def scalar(value: complex, dtype: np.dtype[Any], device: str, /) -> Native:
    a = np.asarray(value, dtype)
    x = from_host(a, device)
    x.anyarray_value = a
    return x


def duplicate(x: Native, /) -> Native:
    return x


def exported(x: Native, /) -> np.ndarray[Any, Any]:
    return np.array(to_numpy(x))


def synchronize(x: Native, /) -> None:
    computed(x)


def _refused(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise errors.UnsupportedError(
            f"{name} is not implemented on dask. Use several devices of JAX: with xp.backend(xp.mesh(...))"
        )

    return refuse


jit, value_and_grad, jacobian = map(_refused, ("jit", "value_and_grad", "jacobian"))
