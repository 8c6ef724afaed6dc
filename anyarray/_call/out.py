"""Results written to where the caller wants them: NumPy's option `out`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anyarray._base import errors
from anyarray._call import dispatch

if TYPE_CHECKING:
    from anyarray._array.array import Array  # a higher layer


def write(function: str, out: Any, result: Array) -> Any:
    """Write a result to `out`, an Array or an ndarray, and return that.

    A tuple of one stands for that one, as in ufuncs. The result is cast as NumPy's "same_kind" allows. Raises TypeError
    for another dtype or another class, ValueError for another shape.
    """
    target = out[0] if type(out) is tuple and len(out) == 1 else out
    is_host = isinstance(target, np.ndarray)
    if not (is_host or dispatch.is_array(target)):
        raise errors.ArgumentTypeError(f"{function}: out must be an Array or an ndarray, not {type(target).__name__}")
    shape, wanted = tuple(target.shape), result.shape
    lengths: set[int | None] = {*shape, *wanted}
    if shape != wanted and None not in lengths:  # a length that a trace does not know
        raise errors.ArgumentValueError(f"{function}: out must have the shape {wanted} of the result, not {shape}")
    if result.dtype != target.dtype and not np.can_cast(np.dtype(result.dtype), np.dtype(target.dtype), "same_kind"):
        raise errors.ArgumentTypeError(
            f"{function}: out must have a dtype to which {result.dtype} can be cast, not {target.dtype}. "
            f"Make it of that dtype: xp.empty({wanted}, dtype=xp.{result.dtype})"
        )
    if is_host:
        np.copyto(target, np.asarray(result), casting="same_kind")
    else:
        target[...] = result
    return target
