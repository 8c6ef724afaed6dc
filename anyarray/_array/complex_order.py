"""NumPy's order of complex numbers: by real part, then by imaginary part.

The standard defines no order, so its functions refuse complex numbers. The methods of arrays and NumPy's names use this
order. Numbers with a NaN part come last. Each function here is called when the standard's function raised TypeError,
and raises that error again for other dtypes.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anyarray._call.operators import operate
from anyarray._call.wrapping import wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    import anyarray as _xp
    from anyarray._array.array import Array
else:
    _xp = sys.modules["anyarray"]  # of a higher layer


_NUMPYS: Final = (np.ndarray, np.generic)


def require_complex(*arrays: Any) -> None:
    """Raise the error that is being handled unless an array is complex."""
    if not any(map(_is_complex, arrays)):
        raise


def compare(declaration: Any, values: Sequence[Any]) -> Any:
    """The slow path of the operators `<`, `<=`, `>` and `>=`."""
    if any(map(_is_complex, values)) and all(_may_be_compared(one) for one in values):
        return compared(declaration.name, *values)
    return operate(declaration, values)


def _is_complex(value: Any) -> bool:
    return type(value) is complex or getattr(getattr(value, "dtype", None), "kind", None) == "c"


def _may_be_compared(value: Any) -> bool:
    return isinstance(value, (np.ndarray, list, tuple, int, float, complex)) or hasattr(value, "__array_namespace__")


def compared(name: str, x1: Any, x2: Any) -> Array:
    """Whether elements compare as `name` says, such as "less".

    False if a part of either is NaN.
    """
    x1, x2 = (_xp.asarray(one) if isinstance(one, (list, tuple)) else one for one in (x1, x2))
    dtype = _xp.result_type(x1, x2)
    x1, x2 = (_xp.astype(_xp.asarray(one), dtype) for one in (x1, x2))
    if x1._home is x2._home and isinstance(x1._native, _NUMPYS) and isinstance(x2._native, _NUMPYS):
        return wrap(getattr(np, name)(x1._native, x2._native), x1._home)
    re1, re2, im1, im2 = _parts(x1, x2)
    is_strictly = (_xp.less if name.startswith("less") else _xp.greater)(re1, re2)
    is_known = ~(_xp.isnan(im1) | _xp.isnan(im2))
    found: Array = (is_strictly & is_known) | ((re1 == re2) & getattr(_xp, name)(im1, im2))
    return found


def _parts(x1: Any, x2: Any) -> tuple[Array, ...]:
    """The real parts of both, and the imaginary ones."""
    return _xp.real(x1), _xp.real(x2), _xp.imag(x1), _xp.imag(x2)


def argsort(x: Any, axis: int | None = -1) -> Array:
    """Indices that sort along `axis`, in a stable order; None: of all."""
    require_complex(x)
    if axis is None:
        x, axis = _xp.reshape(x, (-1,)), -1
    real, imag = _xp.real(x), _xp.imag(x)
    rank = _xp.isnan(real) * 2 + _xp.astype(_xp.isnan(imag), _xp.int64)
    return _xp.lexsort((imag, real, rank), axis=axis)


def sort(x: Any, axis: int = -1) -> Array:
    """A sorted copy."""
    return _xp.take_along_axis(x, argsort(x, axis), axis=axis)


def arg_extreme(x: Any, axis: int | None, keepdims: bool, *, is_highest: bool) -> Array:
    """Index of the highest, or lowest, element, or of the first NaN."""
    require_complex(x)
    shape = (1,) * x.ndim
    if axis is None:
        x = _xp.reshape(x, (-1,))
    along = axis or 0
    reduce, worst = (_xp.max, -math.inf) if is_highest else (_xp.min, math.inf)
    real, imag, is_nan = _xp.real(x), _xp.imag(x), _xp.isnan(x)
    is_chosen = real == reduce(real, axis=along, keepdims=True)
    imag = _xp.where(is_chosen, imag, worst)
    is_chosen = is_chosen & (imag == reduce(imag, axis=along, keepdims=True))
    is_chosen = _xp.where(_xp.any(is_nan, axis=along, keepdims=True), is_nan, is_chosen)
    found = _xp.argmax(_xp.astype(is_chosen, _xp.int8), axis=along, keepdims=keepdims)
    return _xp.reshape(found, shape) if axis is None and keepdims else found


def extreme(x: Any, axis: int | Sequence[int] | None, keepdims: bool, *, is_highest: bool) -> Array:
    """The highest, or lowest, element over `axis`; NaN if any is NaN."""
    require_complex(x)
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = sorted({one % x.ndim for one in axes}) if x.ndim else []
    kept = tuple(1 if at in axes else length for at, length in enumerate(x.shape))
    rest = [at for at in range(x.ndim) if at not in axes]
    lines = _xp.reshape(_xp.permute_dims(x, (*rest, *axes)), (*(x.shape[at] for at in rest), -1))
    at = arg_extreme(lines, -1, keepdims=True, is_highest=is_highest)
    found = _xp.squeeze(_xp.take_along_axis(lines, at, axis=-1), axis=-1)
    return _xp.reshape(found, kept) if keepdims else found


def extreme_of_two(x1: Any, x2: Any, *, is_highest: bool, leaves_nan_out: bool) -> Array:
    """The higher, or lower, of each two elements; NaN if either is NaN.

    With `leaves_nan_out`, the other one if one is NaN.
    """
    require_complex(x1, x2)
    dtype = _xp.result_type(x1, x2)
    x1, x2 = (_xp.astype(_xp.asarray(one), dtype) for one in (x1, x2))
    re1, re2, im1, im2 = _parts(x1, x2)
    before = _xp.greater if is_highest else _xp.less
    is_first = before(re1, re2) | ((re1 == re2) & ~before(im2, im1))
    nan1, nan2 = _xp.isnan(x1), _xp.isnan(x2)
    is_first = nan2 | (is_first & ~nan1) if leaves_nan_out else nan1 | (is_first & ~nan2)
    return _xp.where(is_first, x1, x2)


def clip(x: Any, low: Any, high: Any) -> Any:
    """Elements between `low` and `high`, either of which may be None."""
    require_complex(x, low, high)
    for bound, is_highest in ((low, True), (high, False)):
        if bound is not None:
            x = extreme_of_two(x, bound, is_highest=is_highest, leaves_nan_out=False)
    return x


def searchsorted(x: Any, v: Any, side: str, sorter: Any) -> Array:
    """Indices at which to insert `v` into the sorted vector `x`."""
    v = _xp.asarray(v)
    require_complex(x, v)
    x = x if sorter is None else _xp.take(x, _xp.asarray(sorter))
    dtype = _xp.result_type(x, v)
    x, new = _xp.astype(x, dtype), _xp.astype(_xp.reshape(v, (-1,)), dtype)
    joined, start = (_xp.concat([new, x]), 0) if side == "left" else (_xp.concat([x, new]), x.size)
    among_all, among_new = _xp.argsort(argsort(joined)), _xp.argsort(argsort(new))
    return _xp.reshape(among_all[start : start + new.size] - among_new, v.shape)
