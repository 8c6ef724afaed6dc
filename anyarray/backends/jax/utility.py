"""Logical reductions, and differences."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from anyarray.backends.jax._kernel import Axes, Native, compiled, promoted, truth


@compiled(instead=np.all)
def all(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    return jnp.all(truth(x), axis=axis, keepdims=keepdims)


@compiled(instead=np.any)
def any(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    return jnp.any(truth(x), axis=axis, keepdims=keepdims)


@compiled
def _diff(x: Native, prepend: Native | None, append: Native | None, *, axis: int, n: int) -> Native:
    given = iter(promoted(x, *(end for end in (prepend, append) if end is not None)))
    x, prepend, append = (None if end is None else next(given) for end in (x, prepend, append))
    if not -x.ndim <= axis < x.ndim:  # JAX does not check it if n is 0
        raise np.exceptions.AxisError(axis, x.ndim)
    ends = (end for end in (prepend, append) if end is not None)
    length = sum(end.shape[axis] if end.ndim else 1 for end in (x, *ends))
    if isinstance(length, int):  # the result is empty after so many, but JAX would go on subtracting
        n = min(n, length)
    return jnp.diff(x, n=n, axis=axis, prepend=prepend, append=append)


def diff(
    x: Native, /, *, axis: int = -1, n: int = 1, prepend: Native | None = None, append: Native | None = None
) -> Native:
    return _diff(x, prepend, append, axis=axis, n=n)
