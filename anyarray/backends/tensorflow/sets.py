"""Sets: the distinct values of a tensor, in ascending order.

Each NaN is distinct; 0.0 and -0.0 are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from anyarray.backends import numpy as on_numpy
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._derivatives import written
from anyarray.backends.tensorflow._device import is_on_host
from anyarray.backends.tensorflow._host import from_host, is_eager, on_host
from anyarray.backends.tensorflow._kernel import (
    NATIVE,
    Tensor,
    bitcast,
    cast,
    constant,
    is_common,
    is_complex,
    kind_of,
    may_be_differentiated,
    name_of,
    promoted,
)
from anyarray.backends.tensorflow._shapes import sizes_of
from anyarray.backends.tensorflow.indexing import getitem
from anyarray.backends.tensorflow.manipulation import flattened
from anyarray.backends.tensorflow.searching import searchsorted
from anyarray.backends.tensorflow.sorting import argsort, sort
from anyarray.backends.tensorflow.statistical import running_sum


def unique_all(x: Tensor, /) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The distinct values, with indices, inverse indices and counts.

    Indices are of first occurrences. Inverse indices reconstruct `x` from the values.
    """
    flat = flattened(x)
    indices, inverse, counts = _groups(flat, "index", "inverse", "counts")
    return ops.GatherV2(flat, indices, constant(0)), indices, ops.Reshape(inverse, sizes_of(x)), counts


def unique_counts(x: Tensor, /) -> tuple[Tensor, Tensor]:
    if _is_sorted_on_host(x):
        values, counts = on_numpy.unique_counts(on_host(x))
        return from_host(values, x), from_host(counts, x)
    flat = flattened(x)
    indices, counts = _groups(flat, "index", "counts")
    return ops.GatherV2(flat, indices, constant(0)), counts


def unique_inverse(x: Tensor, /) -> tuple[Tensor, Tensor]:
    flat = flattened(x)
    indices, inverse = _groups(flat, "index", "inverse")
    return ops.GatherV2(flat, indices, constant(0)), ops.Reshape(inverse, sizes_of(x))


def unique_values(x: Tensor, /) -> Tensor:
    if _is_sorted_on_host(x):
        return from_host(on_numpy.unique_values(on_host(x)), x)
    flat = flattened(x)
    (indices,) = _groups(flat, "index")
    return ops.GatherV2(flat, indices, constant(0))


def isin(x1: Tensor, x2: Tensor, /, *, invert: bool = False) -> Tensor:
    kinds = kind_of(x1) + kind_of(x2)
    y1, y2 = promoted(x1, x2)
    if kinds in ("iu", "ui") and kind_of(y1) == "f":
        # uint64 and signed integers promote to float64, in which adjacent large integers compare equal. A value that
        # only one of the two dtypes holds is negative as int64.
        y1, y2 = (bitcast(x, "int64") if name_of(x) == "uint64" else cast(x, "int64") for x in (x1, x2))
        found = ops.LogicalAnd(isin(y1, y2), ops.GreaterEqual(y1, constant(0, "int64")))
        return ops.LogicalNot(found) if invert else found
    x1, x2 = y1, y2
    if is_on_host(x1) and is_on_host(x2):
        return from_host(np.isin(on_host(x1), on_host(x2), invert=invert), x1)
    ours, theirs = flattened(x1), flattened(x2)
    if kind_of(x1) in "iuf":
        ascending = sort(theirs)
        place = searchsorted(ascending, ours)
        padded = ops.ConcatV2([ascending, ops.Fill(constant((1,)), constant(0, name_of(x1)))], constant(0))
        is_there = ops.Less(place, ops.Size(ascending, NATIVE["int64"]))
        found = ops.Reshape(
            ops.LogicalAnd(is_there, ops.Equal(ops.GatherV2(padded, place, constant(0)), ours)), sizes_of(x1)
        )
        return ops.LogicalNot(found) if invert else found
    both = ops.ConcatV2([ours, theirs], constant(0))
    (inverse,) = _groups(both, "inverse")
    # An element is in x2 if its group of equal elements has one from x2.
    is_theirs = ops.ConcatV2(
        [ops.Fill(sizes_of(ours), constant(0)), ops.Fill(sizes_of(theirs), constant(1))], constant(0)
    )
    has_theirs = ops.UnsortedSegmentMax(is_theirs, inverse, ops.Size(both))
    found = ops.Greater(
        ops.GatherV2(has_theirs, ops.Slice(inverse, constant((0,)), sizes_of(ours)), constant(0)), constant(0)
    )
    found = ops.Reshape(found, sizes_of(x1))
    return ops.LogicalNot(found) if invert else found


def _groups(flat: Tensor, *wanted: Literal["index", "inverse", "counts"]) -> list[Tensor]:
    """Groups of equal elements of `flat`, in ascending order of their values.

    "index" is the first occurrence of each, "inverse" the group of every element, "counts" the size of each.
    """
    if is_on_host(flat):
        _, index, inverse, counts = on_numpy.unique_all(on_host(flat))
        places = {"index": index, "inverse": inverse, "counts": counts}
        return [from_host(places[name], flat) for name in wanted]
    order = _order(flat)
    ascending = ops.GatherV2(flat, order, constant(0))
    if is_eager(flat):
        return list(_groups_on_device(ascending, order, wanted))
    is_new = ops.NotEqual(getitem(ascending, slice(1, None)), getitem(ascending, slice(None, -1)))
    # The first element, if there is one, starts a group.
    starts = ops.ConcatV2([ops.OnesLike(getitem(order, slice(None, 1))), cast(is_new, "int64")], constant(0))
    groups = ops.Sub(ops.Cumsum(starts, constant(0)), constant(1, "int64"))
    if wanted == ("inverse",):
        return [written(groups, order, groups, may_repeat=False)]
    # We use as many segments as elements and drop the empty ones: XLA crashes on a number of segments that depends on
    # values.
    counts = ops.UnsortedSegmentSum(ops.OnesLike(groups), groups, ops.Size(groups))
    first = ops.Cumsum(counts, constant(0), True)
    is_group = ops.Greater(counts, constant(0, "int64"))
    found = {
        "index": ops.GatherV2(order, getitem(first, is_group), constant(0)),
        "inverse": written(groups, order, groups, may_repeat=False),
        "counts": getitem(counts, is_group),
    }
    return [found[name] for name in wanted]


def _groups_on_device(ascending: Tensor, order: Tensor, wanted: Sequence[str]) -> Iterator[Tensor]:
    """As `_groups`, for eager tensors, of which a length may depend on values.

    A GPU has no kernel for the sum of int64 by segments.
    """
    is_first = ops.NotEqual(getitem(ascending, slice(1, None)), getitem(ascending, slice(None, -1)))
    is_first = ops.ConcatV2(
        [ops.Fill(constant((min(order.shape[0], 1),)), constant(True, "bool")), is_first], constant(0)
    )
    starts = ops.Reshape(ops.Where(is_first), constant((-1,)))
    for name in wanted:
        if name == "index":
            yield ops.GatherV2(order, starts, constant(0))
        elif name == "counts":
            ends = ops.ConcatV2([getitem(starts, slice(1, None)), constant((order.shape[0],), "int64")], constant(0))
            yield ops.Sub(ends, starts) if starts.shape[0] else starts
        else:
            groups = ops.Sub(running_sum(cast(is_first, "int64"), 0), constant(1, "int64"))
            yield written(groups, order, groups, may_repeat=False)


def _is_sorted_on_host(x: Tensor) -> bool:
    """Whether NumPy's sort finds the values, which then have no gradient.

    Of zeros of both signs the first one counts. float16 is left out: NumPy leaves it unsorted if there are NaN.
    """
    if not is_on_host(x) or kind_of(x) in "biu":
        return is_on_host(x)
    return is_common(x.dtype) and not may_be_differentiated(x) and not on_numpy.shows_order(on_host(x))


def _order(flat: Tensor) -> Tensor:
    """Stable argsort, also for complex numbers.

    Complex numbers are sorted by real part, then by imaginary part; those with a NaN are last.
    """
    if not is_complex(flat):
        return argsort(flat)
    real, imag = ops.Real(flat, flat.dtype.real_dtype), ops.Imag(flat, flat.dtype.real_dtype)
    nans = ops.AddV2(cast(ops.IsNan(imag), "int32"), ops.Mul(cast(ops.IsNan(real), "int32"), constant(2)))
    order = argsort(imag)
    for key in (real, nans):
        order = ops.GatherV2(order, argsort(ops.GatherV2(key, order, constant(0))), constant(0))
    return order
