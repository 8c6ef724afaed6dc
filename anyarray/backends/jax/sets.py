"""Sets: unique values, and membership."""

from __future__ import annotations

from typing import Final

import jax.numpy as jnp
import numpy as np

from anyarray.backends import numpy as on_numpy
from anyarray.backends.jax._hooks import is_traced
from anyarray.backends.jax._host import data_dependent
from anyarray.backends.jax._kernel import Native, cast, compiled, kind_of, promoted
from anyarray.backends.jax.sorting import argsort_of

_COMPARED: Final = 1 << 16
"""The maximum number of pairs for which all are compared."""
_FEW: Final = 32
"""The maximum length of `x2` for which comparing all pairs, a single loop, takes XLA a tenth of any other method."""


@compiled
def isin(x1: Native, x2: Native, *, invert: bool = False) -> Native:
    if "uint64" in (x1.dtype.name, x2.dtype.name) and "i" in (kind_of(x1), kind_of(x2)):
        # They promote to float64, which is not exact. Cast to uint64, a negative number equals one beyond int64.
        is_in_both = x1 >= 0 if kind_of(x1) == "i" else x1 <= np.uint64(np.iinfo(np.int64).max)
        found = is_in_both & _found(cast(x1, "uint64"), cast(x2, "uint64"), False)
        return ~found if invert else found
    x1, x2 = promoted(x1, x2)
    return _found(x1, x2, invert)


def _found(x1: Native, x2: Native, invert: bool) -> Native:
    # The default compares all pairs. Sorting both arrays together takes 6 to 30 times as long as a binary search for
    # the elements of the first in the sorted second.
    is_short = x2.size <= _FEW or x1.size * x2.size <= _COMPARED
    method = "compare_all" if kind_of(x1) == "c" or is_short else "binary_search"
    return jnp.isin(x1, x2, invert=invert, method=method)


def _all(x: Native) -> tuple[Native, ...]:
    """JAX's, but with the values gathered from `x`, which is differentiable.

    JAX's own values are not.
    """
    _, indices, inverse, counts = jnp.unique_all(x)
    return x.reshape(-1)[indices], indices, inverse, counts


def _counts(x: Native) -> tuple[Native, Native]:
    values, _, _, counts = _all(x)
    return values, counts


def _inverse(x: Native) -> tuple[Native, Native]:
    values, _, inverse, _ = _all(x)
    return values, inverse


def _values(x: Native) -> Native:
    if is_traced(x) or kind_of(x) == "c":  # a derivative is taken of the values, or they have no keys
        return _all(x)[0]
    values, count = _in_front(x.reshape(-1))
    return values[: int(count)]


@compiled
def _in_front(x: Native) -> tuple[Native, Native]:
    """The distinct values of a vector and then others, and their number.

    JAX's finds all indices, too, and takes a hundred times as long on a GPU.
    """
    ascending = x[argsort_of(x)]
    is_first = jnp.concat([jnp.ones(x[:1].shape, bool), ascending[1:] != ascending[:-1]])
    places = jnp.where(is_first, jnp.cumsum(is_first) - 1, x.size)
    return ascending.at[places].set(ascending, mode="drop"), jnp.sum(is_first)


unique_all = data_dependent("unique_all", _all, on_numpy.unique_all)
unique_counts = data_dependent("unique_counts", _counts, on_numpy.unique_counts)
unique_inverse = data_dependent("unique_inverse", _inverse, on_numpy.unique_inverse)
unique_values = data_dependent("unique_values", _values, on_numpy.unique_values)
