"""Statistical functions: sums, extremes and moments over axes.

Shapes
    `axis` is an int, a tuple of ints, or None for all axes. A negative axis counts from the end. These axes are
    reduced, or kept with length 1 if `keepdims` is True. If all axes are reduced, the result is 0-d.
Dtypes of sums and products
    With `dtype=None`, floating dtypes are kept, signed integers and bools give int64 and unsigned integers uint64.
    `x` is cast to `dtype` before it is summed, which avoids overflow.
Values
    NaN propagates. Each backend adds floats in its fastest order, so last digits may differ.
Errors
    IndexError for an axis that `x` does not have, TypeError for a dtype that the function does not allow.
"""

from __future__ import annotations

from collections.abc import Sequence

from anyarray._array.array import AnyArray, Array
from anyarray._base.dtypes import DTypeLike
from anyarray._call import compiled
from anyarray._call.dispatch import dispatch

__all__ = [
    "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var",
]  # fmt: skip


@dispatch(x="numeric", cost="cumulative", fit="one axis or a named one", batch="along an axis", promotion="sums")
def cumulative_prod(
    x: AnyArray,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Products of the elements up to each position along `axis`.

    The result has the shape of `x`. If `include_initial` is True, it starts with 1 and is one element longer along
    `axis`. `axis` is required unless `x` has one axis. `dtype=None` is resolved as in `prod`.

    >>> import anyarray as xp
    >>> xp.cumulative_prod(xp.asarray([2, 3, 4])).tolist()
    [2, 6, 24]

    Source: array API 2025.12, statistical_functions.cumulative_prod.
    """
    ...


@dispatch(x="numeric", cost="cumulative", fit="one axis or a named one", batch="along an axis", promotion="sums")
def cumulative_sum(
    x: AnyArray,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Sums of the elements up to each position along `axis`.

    The result has the shape of `x`. If `include_initial` is True, it starts with 0 and is one element longer along
    `axis`. `axis` is required unless `x` has one axis. `dtype=None` is resolved as in `sum`.

    >>> import anyarray as xp
    >>> xp.cumulative_sum(xp.asarray([2, 3, 4]), include_initial=True).tolist()
    [0, 2, 5, 9]

    Source: array API 2025.12, statistical_functions.cumulative_sum.
    """
    ...


@dispatch(x="real numeric", cost="extremum", fit="some element", batch="reduction")
def max(x: AnyArray, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Highest element over `axis`, in the dtype of `x`.

    A NaN among the elements gives NaN. Of -0.0 and 0.0, either may be the result.
    Raises ValueError if there are no elements.

    >>> import anyarray as xp
    >>> xp.max(xp.asarray([[1, 5], [7, 2]]), axis=0).tolist()
    [7, 5]

    Source: array API 2025.12, statistical_functions.max.
    """
    ...


@dispatch(x="floating-point", cost="sum", batch="reduction")
def mean(x: AnyArray, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Arithmetic mean over `axis`, in the dtype of `x`.

    Bools and integers give float64. The mean of no elements is NaN.

    >>> import anyarray as xp
    >>> xp.mean(xp.asarray([[1.0, 5.0], [2.0, 4.0]]), axis=0).tolist()
    [1.5, 4.5]

    Source: array API 2025.12, statistical_functions.mean.
    """
    ...


@dispatch(x="real numeric", cost="extremum", alike="max", fit="some element", batch="reduction")
def min(x: AnyArray, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Lowest element over `axis`, in the dtype of `x`.

    A NaN among the elements gives NaN. Of -0.0 and 0.0, either may be the result.
    Raises ValueError if there are no elements.

    >>> import anyarray as xp
    >>> xp.min(xp.asarray([[1, 5], [7, 2]]), axis=0).tolist()
    [1, 2]

    Source: array API 2025.12, statistical_functions.min.
    """
    ...


@dispatch(x="numeric", cost="sum", batch="reduction", promotion="sums")
def prod(
    x: AnyArray,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> Array:
    """Product over `axis`, in `dtype`.

    With `dtype` None, floating dtypes are kept, signed integers and bools give int64 and unsigned integers uint64.
    The product of no elements is 1.

    >>> import anyarray as xp
    >>> xp.prod(xp.asarray([[1, 5], [7, 2]]), axis=1).tolist()
    [5, 14]

    Source: array API 2025.12, statistical_functions.prod.
    """
    ...


@dispatch(x="real floating-point", cost="variance", alike="var", batch="reduction")
def std(
    x: AnyArray,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Array:
    """Standard deviation over `axis`, in the dtype of `x`.

    This is the square root of `var`. Bools and integers give float64. `correction` is subtracted from the number of
    elements: use 0 for a whole population and 1 for a sample. The result is NaN if the difference is not positive.

    >>> import anyarray as xp
    >>> float(xp.std(xp.asarray([1.0, 3.0, 1.0, 3.0])))
    1.0

    Source: array API 2025.12, statistical_functions.std.
    """
    ...


@dispatch(x="numeric", cost="sum", batch="reduction", promotion="sums")
def sum(
    x: AnyArray,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> Array:
    """Sum over `axis`, in `dtype`.

    With `dtype` None, floating dtypes are kept, signed integers and bools give int64 and unsigned integers uint64.
    The sum of no elements is 0.

    >>> import anyarray as xp
    >>> xp.sum(xp.asarray([[1, 5], [7, 2]]), axis=1, keepdims=True).tolist()
    [[6], [9]]

    Source: array API 2025.12, statistical_functions.sum.
    """
    ...


@dispatch(x="real floating-point", cost="variance", batch="reduction")
def var(
    x: AnyArray,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Array:
    """Variance over `axis`, in the dtype of `x`.

    This is the mean of the squared distances from the mean. Bools and integers give float64. `correction` is subtracted
    from the number of elements by which the sum is divided: use 0 for a whole population and 1 for a sample. The result
    is NaN if the difference is not positive.

    >>> import anyarray as xp
    >>> float(xp.var(xp.asarray([1.0, 5.0, 1.0, 5.0])))
    4.0

    Source: array API 2025.12, statistical_functions.var.
    """
    ...


for _name in ("mean", "prod", "std", "sum", "var"):  # whose first options have the order of NumPy's methods
    setattr(Array, _name, compiled.with_numpy_function(getattr(Array, _name), None, globals()[_name], "o"))
