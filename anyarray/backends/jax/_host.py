"""Functions that NumPy computes where the values are in host memory.

Their shapes depend on values, or they are sorts, powers or floor divisions, for which XLA takes ten to fifty times as
long on a CPU.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
import numpy as np
from jax import lax

from anyarray._base.errors import UnsupportedError
from anyarray.backends.jax._hooks import device_of, is_traced, lent, to_numpy
from anyarray.backends.jax._kernel import PADDED, Native, compiled, instead_of


@compiled
def _touch(x: Native) -> Native:
    return lax.expand_dims(x, (0,))


def data_dependent(name: str, function: Callable[..., Any], on_host: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose shape depends on values; `on_host` on a CPU.

    NumPy's `on_host` replaces it where no transfer is needed. XLA recompiles for every shape: tens of milliseconds
    where NumPy takes microseconds.
    """

    def chosen(*args: Any, **options: Any) -> Any:
        if not in_host_memory(args):
            try:
                result = function(*args, **options)
            except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as cause:
                _touch(args[0])  # raises if it is a leaked tracer
                raise unknown_shape(name) from cause
            return tuple(result) if isinstance(result, tuple) else result
        result = on_host(*(to_numpy(x) if isinstance(x, jax.Array) else x for x in args), **options)
        device = device_of(args[0])
        return tuple(lent(a, device) for a in result) if isinstance(result, tuple) else lent(result, device)

    return chosen


_FEW: Final = 256
"""Threshold in elements below which XLA sorts faster than an ndarray is converted to JAX."""


def sooner(function: Callable[..., Native], on_host: Callable[..., Any]) -> Callable[..., Native]:
    """`function` of one array; NumPy's `on_host` where that is faster."""

    def chosen(x: Native, /, **options: Any) -> Native:
        if x.size < _FEW or not is_read_in_place(x):
            return function(x, **options)
        return lent(on_host(to_numpy(x), **options), device_of(x))

    return functools.wraps(function)(chosen)


_MANY: Final = 1 << 12
"""Threshold in elements above which XLA's power or floor division is slower than NumPy's and the conversion."""


def of_floats_sooner(function: Callable[..., Native], on_host: Callable[..., Any]) -> Callable[..., Native]:
    """`function` of two arrays; NumPy's `on_host` for large ones of one dtype.

    That is float32 or float64.
    """

    def chosen(x1: Native, x2: Native, /) -> Native:
        if x1.size < _MANY > x2.size or x1.dtype != x2.dtype or x1.dtype.kind != "f" or x1.dtype.itemsize == 2:
            return function(x1, x2)
        if not (is_read_in_place(x1) and is_read_in_place(x2) and device_of(x1) == device_of(x2)):
            return function(x1, x2)
        with np.errstate(all="ignore"):
            result = on_host(to_numpy(x1), to_numpy(x2))
        return lent(result, device_of(x1))

    instead_of[chosen] = PADDED
    return functools.wraps(function)(chosen)


def is_read_in_place(x: Native) -> bool:
    """Whether NumPy can read `x` without a copy: not traced, on one CPU."""
    return not is_traced(x) and in_host_memory((x,)) and len(x.devices()) == 1


def in_host_memory(args: Sequence[Any]) -> bool:
    """Whether all arrays in `args` are concrete and in host memory."""
    arrays = [x for x in args if isinstance(x, jax.Array)]
    if any(map(is_traced, arrays)):
        return False
    return not any(device_of(x).platform != "cpu" for x in arrays)


def unknown_shape(name: str) -> UnsupportedError:
    """The error for a result whose shape is unknown at trace time."""
    return UnsupportedError(
        f"{name}: the shape of the result depends on values, which JAX does not know inside jit, grad or vmap. "
        "Call it outside, or mask instead of selecting: xp.where(...)"
    )
