"""Results written to where the caller wants them: NumPy's option `out`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anyarray._base import errors
from anyarray._call.wrapping import is_array

if TYPE_CHECKING:
    from anyarray._array.array import Array  # a higher layer


_REDUCTIONS: Final = frozenset({
    "all", "any", "cumprod", "cumsum", "max", "mean", "median", "min", "nanmax", "nanmean", "nanmin", "nanprod",
    "nansum", "prod", "sum", "var",
})  # fmt: skip
"""Functions whose results NumPy casts to the dtype of `out`, whatever it is."""


def write(function: str, out: Any, result: Array) -> Any:
    """Write a result to `out`, an Array or an ndarray, and return that.

    A tuple of one stands for that one, as in ufuncs. The result is cast as NumPy's "same_kind" allows, of reductions to
    any dtype. Raises TypeError for another dtype or another class, ValueError for another shape.
    """
    target = out[0] if type(out) is tuple and len(out) == 1 else out
    is_host = isinstance(target, np.ndarray)
    if not (is_host or is_array(target)):
        raise errors.ArgumentTypeError(f"{function}: out must be an Array or an ndarray, not {type(target).__name__}")
    shape, wanted = tuple(target.shape), result.shape
    lengths: set[int | None] = {*shape, *wanted}
    if shape != wanted and None not in lengths:  # a length that a trace does not know
        raise errors.ArgumentValueError(f"{function}: out must have the shape {wanted} of the result, not {shape}")
    came, wanted_dtype = np.dtype(result.dtype), np.dtype(target.dtype)
    if function in _REDUCTIONS:
        result = result.real if came.kind == "c" and wanted_dtype.kind != "c" else result
    elif came != wanted_dtype and not np.can_cast(came, wanted_dtype, "same_kind"):
        raise errors.ArgumentTypeError(
            f"{function}: out must have a dtype to which {result.dtype} can be cast, not {target.dtype}. "
            f"Make it of that dtype: xp.empty({wanted}, dtype=xp.{result.dtype})"
        )
    if is_host:
        np.copyto(target, np.asarray(result), casting="unsafe")
    else:
        target[...] = result
    return target
