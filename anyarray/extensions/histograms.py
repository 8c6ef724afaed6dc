"""Histograms: the number of elements, or of their weights, in bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors
from anyarray._call.arguments import as_array, as_integer, known_shape
from anyarray._call.dispatch import composed
from anyarray._call.wrapping import is_array
from anyarray.extensions._axes import in_host_memory, known
from anyarray.standard import namespace as xp

__all__ = ["bincount", "digitize", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

Bins: TypeAlias = int | str | Sequence[float] | AnyArray
"""The number of bins, how to estimate it, or the edges."""

Range: TypeAlias = Sequence[float | AnyArray]
"""The lowest and the highest edge."""

_ESTIMATORS: Final = ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges")


@composed(x="integer or boolean", weights="real floating-point", batch="counts")
def bincount(x: AnyArray, weights: AnyArray | None = None, minlength: int = 0, *, length: int | None = None) -> Array:
    """Number of occurrences of each integer from 0 on in `x`.

    With `weights`, the result is their sum for each integer, in float64. `x` and `weights` have the shape (n,). The
    length of the result is the largest element plus 1, at least `minlength`; or it is `length`, which `xp.jit` and
    `xp.vmap` require, and larger elements are not counted.
    Raises ValueError for negative elements.

    >>> import anyarray as xp
    >>> xp.bincount(xp.asarray([0, 1, 1, 3])).tolist()
    [1, 2, 0, 1]

    Source: NumPy 2.4, numpy.bincount.
    """
    if length is None:
        values = known(x)
        if values is None:
            raise errors.unknown_length("bincount")
        if values.size and values.min() < 0:
            raise errors.ArgumentValueError("bincount: x must not be negative")
        length = max(minlength, int(values.max()) + 1 if values.size else 0)
    is_here = xp.equal(xp.reshape(x, (1, -1)), xp.arange(length)[:, None])
    if weights is None:
        return xp.count_nonzero(is_here, axis=1)
    added = xp.astype(weights, xp.float64)
    return xp.sum(xp.where(is_here, added, xp.zeros((), dtype=xp.float64)), axis=1)


@composed(own="numpy cupy", x="real numeric", bins="real numeric")
def digitize(x: AnyArray, bins: AnyArray, right: bool = False) -> Array:
    """The number of the bin of each element.

    `bins` has n edges, which increase or decrease. Bin i starts at edge i - 1 and ends before edge i; with `right`, it
    includes its end and not its start. 0 and n are outside of the edges.
    Raises ValueError unless `bins` is monotonic.

    >>> import anyarray as xp
    >>> xp.digitize(xp.asarray([0.5, 1.0, 9.0]), xp.asarray([0.0, 1.0, 2.0])).tolist()
    [1, 2, 3]

    Source: NumPy 2.4, numpy.digitize.
    """
    if len(bins.shape) != 1:
        raise errors.ArgumentValueError(f"digitize: bins must have one axis, not shape {tuple(bins.shape)}")
    if not bins.shape[0]:
        return xp.zeros(x.shape, dtype=xp.int64)
    edges: Any = bins
    falls = edges[0] > edges[-1]
    values = known(edges)
    if values is not None:
        _require_order("digitize", values if values[0] <= values[-1] else values[::-1])
    side: Literal["left", "right"] = "left" if right else "right"
    found = xp.searchsorted(xp.where(falls, xp.flip(edges), edges), x, side=side)
    return xp.where(falls, edges.shape[0] - found, found)


def histogram(
    a: AnyArray,
    bins: Bins = 10,
    range: Range | None = None,
    density: bool | None = None,
    weights: AnyArray | None = None,
) -> tuple[Array, Array]:
    """Number of elements in each bin, and the edges of the bins.

    `bins` is a number of bins of equal width from the least element to the greatest, or over `range`; or it holds n + 1
    edges; or it names an estimator, such as "auto", which does not work in `xp.jit`. The last bin includes its upper
    edge. `weights` has the shape of `a`: the result is their sum in each bin. With `density`, the integral is 1.
    Raises ValueError for an infinite range or edges that decrease.

    >>> import anyarray as xp
    >>> [part.tolist() for part in xp.histogram(xp.asarray([1, 2, 1]), bins=2)]
    [[2, 1], [1.0, 1.5, 2.0]]

    Source: NumPy 2.4, numpy.histogram.
    """
    array = _as_numbers("histogram", a)
    limits = _limits("histogram", range)
    shape = () if weights is None else known_shape(as_array("histogram", "weights", weights))
    if weights is not None and shape != known_shape(array):
        raise errors.ArgumentValueError(f"histogram: weights must be of the shape of a, {array.shape}, not {shape}")
    return _histogram(array, _bins_of("histogram", array, bins, limits, weights), limits, bool(density), weights)


def histogram_bin_edges(
    a: AnyArray,
    bins: Bins = 10,
    range: Range | None = None,
    weights: AnyArray | None = None,
) -> Array:
    """The edges of the bins that `histogram` uses for these arguments.

    >>> import anyarray as xp
    >>> xp.histogram_bin_edges(xp.asarray([0, 4]), bins=2).tolist()
    [0.0, 2.0, 4.0]

    Source: NumPy 2.4, numpy.histogram_bin_edges.
    """
    array = _as_numbers("histogram_bin_edges", a)
    limits = _limits("histogram_bin_edges", range)
    return _bin_edges(array, _bins_of("histogram_bin_edges", array, bins, limits, weights), limits)


def histogram2d(
    x: AnyArray,
    y: AnyArray,
    bins: Bins | Sequence[Bins] = 10,
    range: Sequence[Range | None] | None = None,
    density: bool | None = None,
    weights: AnyArray | None = None,
) -> tuple[Array, Array, Array]:
    """Number of points in each cell of a grid, and the edges of the cells.

    `bins` is the number of bins along both axes, or their edges, or a list of two of these.
    Raises ValueError unless `x` and `y` have the same length.

    >>> import anyarray as xp
    >>> xp.histogram2d(xp.asarray([0, 1]), xp.asarray([0, 1]), bins=2)[0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]

    Source: NumPy 2.4, numpy.histogram2d.
    """
    first, second = as_array("histogram2d", "x", x), as_array("histogram2d", "y", y)
    if known_shape(first) != known_shape(second) or first.ndim != 1:
        raise errors.ArgumentValueError(
            f"histogram2d: x and y must be vectors of one length, not of shapes {first.shape} and {second.shape}"
        )
    is_for_each = isinstance(bins, (list, tuple)) and len(bins) in (1, 2)
    is_for_each = is_for_each or getattr(bins, "shape", None) == (2,)
    counts, edges = _over_grid(
        "histogram2d", [first, second], bins if is_for_each else [bins, bins], range, density, weights
    )
    return counts, edges[0], edges[1]


def histogramdd(
    sample: AnyArray | Sequence[AnyArray],
    bins: int | Sequence[Bins] = 10,
    range: Sequence[Range | None] | None = None,
    density: bool | None = None,
    weights: AnyArray | None = None,
) -> tuple[Array, list[Array]]:
    """Number of points in each cell of a grid of any number of axes.

    The edges of the cells along each axis are returned, too. `sample` has the shape (n, d), d coordinates of each
    point, or is a list of d vectors. `bins` is the number of bins along each axis, or a list with a number or edges for
    each.
    Raises ValueError unless `bins` and `range` have one entry for each axis.

    >>> import anyarray as xp
    >>> xp.histogramdd(xp.asarray([[0, 0], [1, 1]]), bins=2)[0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]

    Source: NumPy 2.4, numpy.histogramdd.
    """
    if isinstance(sample, (list, tuple)):
        columns = [as_array("histogramdd", f"sample[{i}]", one) for i, one in enumerate(sample)]
    else:
        array = as_array("histogramdd", "sample", sample)
        columns = list(xp.unstack(array, axis=1)) if array.ndim == 2 else [array]
    if any(one.ndim != 1 or known_shape(one) != known_shape(columns[0]) for one in columns):
        raise errors.ArgumentValueError("histogramdd: sample must be a matrix, or a list of vectors of one length")
    return _over_grid("histogramdd", columns, bins, range, density, weights)


def _over_grid(
    function: str, columns: Sequence[Array], bins: Any, ranges: Any, density: bool | None, weights: AnyArray | None
) -> tuple[Array, list[Array]]:
    is_number = not hasattr(bins, "__len__") or not getattr(bins, "shape", (1,))
    each = [bins] * len(columns) if is_number else list(bins)
    limits = [None] * len(columns) if ranges is None else list(ranges)
    for name, given in (("bins", each), ("range", limits)):
        if len(given) != len(columns):
            raise errors.ArgumentValueError(
                f"{function}: {name} must have an entry for each of {len(columns)} axes, not {len(given)}"
            )
    edges = [
        count if is_array(count) else _uniform_edges(function, column, count, _limits(function, limit), None)
        for column, limit, count in zip(columns, limits, [_bins(function, one) for one in each], strict=True)
    ]
    places = _place(columns[0], edges[0])
    for column, its in zip(columns[1:], edges[1:], strict=True):
        places = places * (its.shape[0] + 1) + _place(column, its)
    shape = tuple([its.shape[0] + 1 for its in edges])
    counts = xp.astype(bincount(places, weights, length=math.prod(shape)), xp.float64, copy=False)
    inner = xp.reshape(counts, shape)[(slice(1, -1),) * len(shape)]
    if density:
        total = xp.sum(inner)
        for axis, its in enumerate(edges):
            inner = inner / xp.reshape(xp.diff(its), tuple([-1 if i == axis else 1 for i in range(len(shape))]))
        inner = inner / total
    return inner, edges


def _as_numbers(function: str, a: AnyArray) -> Array:
    """The array, with integers for bools."""
    array = as_array(function, "a", a)
    return xp.astype(array, xp.uint8) if array.dtype.kind == "b" else array


def _bins(function: str, bins: Any) -> int | Array:
    """The number of bins or their edges.

    Raises TypeError for something else, ValueError for edges of no bin, or which decrease.
    """
    if isinstance(bins, (list, tuple)):
        bins = xp.asarray(bins)
    if getattr(bins, "shape", ()):
        edges = as_array(function, "bins", bins)
        if edges.ndim != 1:
            raise errors.ArgumentValueError(f"{function}: bins must be a number or a vector, not of {edges.ndim} axes")
        values = known(edges)
        if values is not None:
            _require_order(function, values)
        return edges
    count = as_integer(function, "bins", bins)
    if count < 1:
        raise errors.ArgumentValueError(f"{function}: bins must be positive, not {count}")
    return count


def _bins_of(function: str, a: Array, bins: Any, limits: Any, weights: Any) -> int | Array:
    """The number of bins, which may have to be estimated, or their edges."""
    if not isinstance(bins, str):
        return _bins(function, bins)
    if bins not in _ESTIMATORS:
        raise errors.ArgumentValueError(f"{function}: bins must be one of {', '.join(_ESTIMATORS)}, not {bins!r}")
    if weights is not None:
        raise errors.ArgumentTypeError(f"{function}: bins must be a number or edges with weights, not {bins!r}")
    return len(np.histogram_bin_edges(np.asarray(a), bins, limits)) - 1


def _require_order(function: str, edges: np.ndarray[Any, Any]) -> None:
    """Raise ValueError for edges that decrease."""
    if np.any(edges[:-1] > edges[1:]):
        raise errors.ArgumentValueError(f"{function}: bins must increase monotonically")


def _limits(function: str, limits: Any) -> tuple[Any, Any] | None:
    """The lowest and the highest edge, as numbers where they are known."""
    if limits is None:
        return None
    low, high = [_number(one) for one in limits]
    if not is_array(low) and not is_array(high):
        if low > high:
            raise errors.ArgumentValueError(f"{function}: range must not decrease, as {low} to {high}")
        _require_finite(function, low, high)
    return low, high


def _number(one: Any) -> Any:
    """A number, of NumPy's class for an array; an Array if it is unknown."""
    if not is_array(one):
        return one
    values = known(one)
    return one if values is None else values[()]


def _require_finite(function: str, low: Any, high: Any) -> None:
    if not (np.isfinite(low) and np.isfinite(high)):
        raise errors.ArgumentValueError(f"{function}: the range of the bins must be finite, not {low} to {high}")


def _uniform_edges(function: str, a: Any, count: Any, limits: tuple[Any, Any] | None, beside: Any) -> Array:
    """The edges of bins of one width.

    They are of the dtype of the limits, promoted with `beside`, and of float64 rather than integers.
    """
    if limits is None:
        limits = (_number(xp.min(a)), _number(xp.max(a))) if a.size else (0, 1)
    low, high = limits
    if is_array(low) or is_array(high):
        low, high = xp.asarray(low), xp.asarray(high)
        dtype = xp.result_type(low, high, *([] if beside is None else [beside]))
        dtype = xp.float64 if dtype.kind in "biu" else dtype
        low, high = xp.astype(low, dtype, copy=False), xp.astype(high, dtype, copy=False)
        low, high = xp.where(low == high, low - 0.5, low), xp.where(low == high, high + 0.5, high)
        steps = xp.arange(count + 1, dtype=dtype)
        return xp.where(steps == count, high, low + steps * ((high - low) / count))
    _require_finite(function, low, high)
    if low == high:
        low, high = low - 0.5, high + 0.5
    # NumPy's own, as elements may lie on an edge, whose last digit then decides.
    wanted = None if beside is None else np.result_type(low, high, np.dtype(str(beside)))
    edges = np.linspace(
        low, high, count + 1, dtype=np.float64 if wanted is not None and wanted.kind in "iu" else wanted
    )
    if beside is not None and np.any(edges[:-1] >= edges[1:]):
        raise errors.ArgumentValueError(
            f"{function}: bins must be finite, but {count} are too many for {low} to {high}"
        )
    return xp.asarray(edges)


def _place(a: Array, edges: Array) -> Array:
    """The number of the bin of each element, from 1 on.

    0 is before the first edge, the number of edges after the last, where NaN are.
    """
    return xp.searchsorted(edges, a, side="right") - xp.astype(a == edges[-1], xp.int64)


def _counts(
    a: AnyArray,
    bins: int | AnyArray,
    range: Any,
    density: bool,
    weights: AnyArray | None,
) -> tuple[Array, Array]:
    """What `histogram` gives for a number of bins or their edges."""
    in_place = in_host_memory(a, bins, weights, *(range or ()))
    if in_place is not None:
        found = np.histogram(in_place[0], in_place[1], tuple(in_place[3:]) or None, density, in_place[2])
        return xp.asarray(found[0]), xp.asarray(found[1])
    edges = bins if is_array(bins) else _uniform_edges("histogram", a, bins, range, a.dtype)
    if edges.shape[0] < 2:
        return xp.zeros((0,), dtype=xp.int64 if weights is None else weights.dtype), edges
    flat, length = xp.reshape(a, (-1,)), edges.shape[0] - 1
    places = _place(flat, edges) - 1
    if weights is None:
        counts = bincount(places, length=length)
    elif weights.dtype.kind == "c":
        parts = [
            bincount(places, xp.reshape(part, (-1,)), length=length) for part in (xp.real(weights), xp.imag(weights))
        ]
        counts = xp.astype(parts[0] + 1j * parts[1], weights.dtype, copy=False)
    else:
        counts = xp.astype(bincount(places, xp.reshape(weights, (-1,)), length=length), weights.dtype, copy=False)
    if density:
        counts = counts / xp.astype(xp.diff(edges), xp.float64, copy=False) / xp.sum(counts)
    return counts, edges


_counts.__name__ = "histogram"
_histogram: Final = composed(own="numpy", a="real numeric", bins="real numeric")(_counts)


def _edges(a: AnyArray, bins: int | AnyArray, range: Any) -> Array:
    """What `histogram_bin_edges` gives for a number of bins or their edges."""
    return (
        xp.asarray(bins, copy=True)
        if is_array(bins)
        else _uniform_edges("histogram_bin_edges", a, bins, range, a.dtype)
    )


_edges.__name__ = "histogram_bin_edges"
_bin_edges: Final = composed(own="numpy", a="real numeric", bins="real numeric")(_edges)
