"""Order statistics and averages beyond the standard, as NumPy has them."""

from __future__ import annotations

from collections.abc import Sequence

from anyarray._array.array import AnyArray, Array
from anyarray._call.dispatch import composed
from anyarray.standard import namespace as xp

__all__ = ["ptp"]


@composed(own="numpy jax cupy", a="real numeric")
def ptp(a: AnyArray, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
    """The largest element less the smallest, along `axis`.

    >>> import anyarray as xp
    >>> xp.ptp(xp.asarray([[4, 9], [2, 1]]), axis=1).tolist()
    [5, 1]

    Source: NumPy 2.4, numpy.ptp.
    """
    return xp.max(a, axis=axis, keepdims=keepdims) - xp.min(a, axis=axis, keepdims=keepdims)
