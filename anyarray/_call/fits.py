"""How the shapes and axes of a call must fit.

A `Fit` is checked only after a native error; see `diagnosis`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from anyarray._base.dtypes import DType

Shape = tuple[int | None, ...]


class Input(NamedTuple):
    """What an error message needs to know of an array argument."""

    label: str
    words: str
    """The dtypes it may have: a key of `ACCEPTED`."""
    dtype: DType
    shape: Shape


Complaint = str | None

AXES: Final = ("axis", "axes", "source", "destination")
"""Parameters that name axes of the first array."""


class Fit(NamedTuple):
    """How shapes and axes must fit.

    Checked only after a native error, once the dtypes are known to be right.
    """

    complaint: Callable[[Sequence[Input], dict[str, Any]], Complaint] | None = None
    """What is wrong with shapes and arguments, or None; called once the axes are known to be right."""
    broadcasts: bool = False
    """Whether the arrays broadcast."""
    axes: tuple[str, ...] = AXES
    """Parameters that name axes of the first array."""
    new_axes: Callable[[list[Any]], int] | None = None
    """The number of axes that the result has more than the input, if `axes` count those of the result."""
    may_repeat: bool = False
    """Whether an axis may be named twice."""


def broadcasts_to(value: Shape, selected: Shape) -> bool:
    """Whether a value of that shape broadcasts to the selected shape.

    It may have extra leading axes of length 1.
    """
    extra = len(value) - len(selected)
    if extra > 0:
        if value[:extra] != (1,) * extra:
            return False
        value = value[extra:]
    return all(n in (1, m) for n, m in zip(reversed(value), reversed(selected), strict=False))


WITHOUT_AXES: Final = "x1 and x2 must have at least one axis. Multiply by a scalar with *"
"""What is wrong with a matrix product of which one operand is a scalar."""


def _of_matmul(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first, second = inputs
    if not first.shape or not second.shape:
        return WITHOUT_AXES
    inner = second.shape[-2:][0]
    if first.shape[-1] != inner:
        return f"x1 of shape {first.shape} and x2 of shape {second.shape} do not fit: {first.shape[-1]} is not {inner}"
    return f"x1 of shape {first.shape} and x2 of shape {second.shape} cannot be broadcast together"


def _of_reshape(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape = arguments.get("shape")
    if isinstance(shape, tuple) and shape.count(-1) > 1:
        return f"shape must hold -1 once at most, not {shape}"
    if isinstance(shape, tuple) and -1 not in shape and None not in inputs[0].shape:
        size = math.prod(n or 0 for n in inputs[0].shape)
        if size == math.prod(shape):
            return None  # the library refuses it for a reason of its own
    return f"x of shape {inputs[0].shape} does not fit shape {shape}"


def of_extremum(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    label, shape = inputs[0].label, inputs[0].shape
    return (
        f"{label} of shape {shape} has no elements along the axis, and the function has no identity"
        if 0 in shape
        else None
    )


def _of_norm(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    order = arguments["ord"]
    if order in (1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc", None):
        return _of_matrix(inputs, arguments)
    return f"ord must be 1, -1, 2, -2, inf, -inf, 'fro', 'nuc' or None, not {order!r}"


def of_square(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape = inputs[0].shape
    is_square = len(shape) >= 2 and shape[-1] == shape[-2]
    return None if is_square else f"{inputs[0].label} must be (..., n, n), not shape {shape}"


def _of_matrix(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape = inputs[0].shape
    return None if len(shape) >= 2 else f"{inputs[0].label} must be (..., m, n), not shape {shape}"


def _of_solve(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first, second = inputs
    complaint = of_square(inputs, arguments)
    if complaint:
        return complaint
    is_stack = len(second.shape) > 1
    fits = second.shape[-2 if is_stack else -1 :][:1] == first.shape[-1:]
    if fits and is_stack:
        fits = all(n == m or 1 in (n, m) for n, m in zip(first.shape[-3::-1], second.shape[-3::-1], strict=False))
    return None if fits else f"x1 of shape {first.shape} and x2 of shape {second.shape} do not fit"


def _of_concat(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first, axis = inputs[0], arguments["axis"]
    if axis is None:
        return None

    def others(one: Input) -> Shape:
        lengths = list(one.shape)
        del lengths[axis]
        return tuple(lengths)

    for one in inputs[1:]:
        if len(one.shape) != len(first.shape) or others(one) != others(first):
            return (
                f"{one.label} of shape {one.shape} does not fit {first.label} of shape {first.shape} along axis {axis}"
            )
    return None


def _of_stack(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first = inputs[0]
    odd = [one for one in inputs if one.shape != first.shape]
    return f"{odd[0].label} of shape {odd[0].shape} must have the shape {first.shape} of {first.label}" if odd else None


def _of_permutation(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    ndim = len(inputs[0].shape)
    return f"axes must be a permutation of the {ndim} axes of x, not {arguments.get('axes')}"


def _of_contraction(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shapes = " and ".join(f"{one.label} of shape {one.shape}" for one in inputs)
    chosen = ", ".join(f"{name}={arguments[name]}" for name in ("axis", "axes") if name in arguments)
    return f"{shapes} do not fit with {chosen}"


def _of_subscripts(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    lengths: dict[str, int | None] = {}
    terms = arguments["subscripts"].partition("->")[0].split(",")
    for term, one in zip(terms, inputs, strict=True):
        for letter, n in zip(term, one.shape, strict=True):
            other = lengths.get(letter)
            if n not in (None, 1) and other not in (None, 1, n):
                text = f"{one.label} of shape {one.shape} does not fit {term!r}"
                return f"{text}, as {letter!r} is of length {other} elsewhere"
            lengths[letter] = n if other in (None, 1) else other
    return None


def _of_summed_axes(inputs: Sequence[Input], arguments: dict[str, Any], at: int) -> Complaint:
    """For sums along the last axis of `a` and the axis `at` of `b`.

    A vector has only one.
    """
    first, second = (one.shape for one in inputs)
    before = max(at, -len(second))
    if not first or not second or first[-1] == second[before]:
        return None
    return (
        f"a of shape {first} and b of shape {second} do not fit, as axis {len(first) - 1} of a has {first[-1]} "
        f"elements and axis {len(second) + before} of b has {second[before]}"
    )


def _of_sizes(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first, second = (one.shape for one in inputs)
    sizes = {math.prod([n or 0 for n in shape]) for shape in (first, second)}
    if None in (*first, *second) or len(sizes) == 1:
        return None
    return f"a of shape {first} and b of shape {second} must have as many elements"


def _of_broadcast(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape: Any = arguments.get("shape")
    is_shape = isinstance(shape, tuple) and len(inputs[0].shape) <= len(shape) and all(n >= 0 for n in shape)
    if is_shape and broadcasts_to(inputs[0].shape, shape):
        return None  # the shapes fit; the result is too large for the library
    return f"x of shape {inputs[0].shape} does not broadcast to {shape}"


def _of_squeezing(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape, axis = inputs[0].shape, arguments.get("axis")
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    long = [one for one in axes if isinstance(one, int) and shape[one] != 1]
    return f"axis {long[0]} of x of shape {shape} must have the length 1, not {shape[long[0]]}" if long else None


def _of_moving(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    source, destination = arguments.get("source"), arguments.get("destination")
    return f"source and destination must name as many different axes of x, not {source} and {destination}"


def _of_axis_needed(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    ndim = len(inputs[0].shape)
    return f"axis must be given, as x has {ndim} axes" if arguments.get("axis") is None and ndim != 1 else None


def _of_vectors(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    odd = [one for one in inputs if len(one.shape) != 1]
    return f"{odd[0].label} must have one axis, not shape {odd[0].shape}" if odd else None


def _of_sorted_vector(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    complaint = _of_vectors(inputs[:1], arguments)
    if complaint or len(inputs) < 3:
        return complaint
    shape, sorter = inputs[0].shape, inputs[2]
    if sorter.shape != shape:
        return f"{sorter.label} must have the shape of x1, {shape}, not {sorter.shape}"
    return f"{sorter.label} must hold indices of x1, from 0 to {shape[0] - 1}" if shape[0] else None


def _of_shifts(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shift, axis = arguments.get("shift"), arguments.get("axis")
    lengths = {len(one) if isinstance(one, tuple) else 1 for one in (shift, axis)} - {1}
    return f"shift and axis must be of one length, not {shift} and {axis}" if len(lengths) > 1 else None


def _of_counts(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    for name in ("repeats", "repetitions"):
        counts = arguments.get(name)
        if any(isinstance(n, int) and n < 0 for n in (counts if isinstance(counts, tuple) else (counts,))):
            return f"{name} must not be negative, not {counts}"
    shape, axis = inputs[0].shape, arguments.get("axis")
    lengths = [n for n in (shape if axis is None else (shape[axis],)) if n is not None]
    count = math.prod(lengths)
    for one in [] if None in shape else inputs[1:]:
        if one.shape not in ((), (1,), (count,)):
            return f"{one.label} must have the shape ({count},) or (1,) to fit x, not {one.shape}"
    if inputs[1:] and inputs[1].dtype.kind in "iu":
        return f"{inputs[1].label} must hold no negative number"
    return None


def _of_transform(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    shape = inputs[0].shape
    sizes = arguments.get("n", arguments.get("s"))
    sizes = sizes if isinstance(sizes, tuple) else (sizes,)
    if any(isinstance(n, int) and n < 1 for n in sizes):
        return f"{'n' if 'n' in arguments else 's'} must be positive, not {sizes if 's' in arguments else sizes[0]}"
    axes = arguments.get("axes")
    if axes == () or not shape:
        return "x must be transformed along at least one axis"
    if "s" in arguments and sizes != (None,) and len(sizes) != len(shape if axes is None else axes):
        return f"s must have as many lengths as there are axes, {len(shape if axes is None else axes)}, not {sizes}"
    if 0 in shape:
        return f"x of shape {shape} has no elements to transform"
    last = arguments.get("axis", -1) if not axes else axes[-1]
    is_alone = sizes == (None,) and isinstance(last, int) and shape[last] == 1
    cure = f"Give {'n' if 'n' in arguments else 's'}"
    return f"x has one element along axis {last}, from which no length follows. {cure}" if is_alone else None


def _of_difference(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    if isinstance(arguments.get("n"), int) and arguments["n"] < 0:
        return f"n must not be negative, not {arguments['n']}"
    return _of_concat(inputs, {"axis": arguments.get("axis")})


def _of_same_rank(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    first, second = inputs
    shapes = f"x of shape {first.shape} and indices of shape {second.shape}"
    if len(first.shape) != len(second.shape):
        return f"{shapes} must have as many axes as each other"
    lengths = list(zip(first.shape, second.shape, strict=True))
    del lengths[arguments["axis"]]
    if any(n != m and not {1, None}.intersection((n, m)) for n, m in lengths):
        return f"{shapes} cannot be broadcast beside axis {arguments['axis']}"
    return None


def _of_having_axes(inputs: Sequence[Input], arguments: dict[str, Any]) -> Complaint:
    return None if inputs[0].shape else "x must have at least one axis"


FITS: Final[dict[str, Fit]] = {
    "any": Fit(),
    "broadcast": Fit(broadcasts=True),
    "broadcast to": Fit(_of_broadcast),
    "as many elements": Fit(_of_reshape),
    "some element": Fit(of_extremum),
    "some axis": Fit(_of_having_axes),
    "one axis or a named one": Fit(_of_axis_needed),
    "equal ranks": Fit(_of_same_rank),
    "vectors": Fit(_of_vectors),
    "vector first": Fit(_of_sorted_vector),
    "matrices": Fit(_of_matrix),
    "square matrices": Fit(of_square),
    "norm": Fit(_of_norm),
    "product": Fit(_of_matmul),
    "equations": Fit(_of_solve),
    "contraction": Fit(_of_contraction),
    "contraction of axes": Fit(_of_contraction, axes=(), may_repeat=True),
    "subscripts": Fit(_of_subscripts, axes=()),
    "dot": Fit(functools.partial(_of_summed_axes, at=-2)),
    "inner": Fit(functools.partial(_of_summed_axes, at=-1)),
    "as many elements in both": Fit(_of_sizes),
    "joined": Fit(_of_concat),
    "stacked": Fit(_of_stack, new_axes=lambda axes: 1),
    "new axes": Fit(new_axes=len),
    "length 1": Fit(_of_squeezing),
    "permutation": Fit(_of_permutation),
    "moved axes": Fit(_of_moving),
    "axes that may repeat": Fit(_of_shifts, may_repeat=True),
    "counts": Fit(_of_counts),
    "differences": Fit(_of_difference),
    "transform": Fit(_of_transform),
}
"""How shapes and axes must fit, by the option `fit` of a declaration."""
