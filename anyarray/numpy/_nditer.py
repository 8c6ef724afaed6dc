"""`np.nditer` over Arrays.

It yields views, so a loop can write on every backend.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from anyarray._array.array import Array
from anyarray._base import errors
from anyarray._memory import views
from anyarray.numpy._wrapper import as_array
from anyarray.standard import namespace as xp

_FLAGS: Final = frozenset(
    "buffered c_index copy_if_overlap delay_bufalloc external_loop f_index grow_inner multi_index reduce_ok refs_ok "
    "zerosize_ok".split()
)
_MODES: Final = frozenset({"readonly", "readwrite", "writeonly"})
_OP_FLAGS: Final = _MODES | frozenset(
    "aligned allocate contig copy nbo no_broadcast no_subtype overlap_assume_elementwise".split()
)
_BUFFER: Final = 8192
"""NumPy's size of a buffer, in elements."""


class nditer:  # noqa: N801 - NumPy's name
    """An iterator over the elements of arrays, as `numpy.nditer`.

    The arrays broadcast. Each element is an Array without axes: a view if its operand is written according to
    `op_flags`. With `external_loop`, the iterator yields vectors as long as the memory layout of the arrays allows.
    """

    def __new__(cls, op: Any, *args: Any, **kwargs: Any) -> Any:
        operands = op if isinstance(op, (list, tuple)) else [op]
        if operands and all(isinstance(one, np.ndarray) for one in operands):  # what NumPy alone has
            return np.nditer(op, *args, **kwargs)
        return super().__new__(cls)

    def __init__(
        self,
        op: Any,
        flags: Sequence[str] | None = None,
        op_flags: Sequence[Any] | None = None,
        op_dtypes: Any = None,
        order: str = "K",
        casting: Any = "safe",
        op_axes: Any = None,
        itershape: Any = None,
        buffersize: int = 0,
    ) -> None:
        asked = frozenset(flags or ())
        if asked - _FLAGS or op_axes is not None or itershape is not None:
            raise errors.ArgumentValueError(
                f"nditer: flags must be of {', '.join(sorted(_FLAGS))}, and op_axes and itershape None, not "
                f"flags={list(flags or ())}. Iterate over values in NumPy: numpy.nditer(numpy.asarray(x), ...)"
            )
        self._is_one = not isinstance(op, (list, tuple))
        given = [op] if self._is_one else list(op)
        each = _per_operand(op_flags, given)
        self._writes = ["readonly" not in one for one in each]
        kinds = op_dtypes if isinstance(op_dtypes, (list, tuple)) else [op_dtypes] * len(given)
        arrays: list[Any] = [one if one is None else as_array(one) for one in given]
        self.shape = np.broadcast_shapes(*[one.shape for one in arrays if one is not None])
        known = [one for one in arrays if one is not None]
        for at, (one, kind) in enumerate(zip(arrays, kinds, strict=True)):
            if one is None:
                arrays[at] = xp.empty(self.shape, dtype=xp.result_type(*known) if kind is None else kind)
                continue
            if kind is not None and one.dtype != kind:
                arrays[at] = _cast(one, kind, casting, self._writes[at], "buffered" in asked or "copy" in each[at])
            if one.shape != self.shape:
                _check_broadcast(one, self.shape, each[at], "reduce_ok" in asked)
        if 0 in self.shape and "zerosize_ok" not in asked:
            raise errors.ArgumentValueError(
                "nditer: op must hold elements. Pass flags=['zerosize_ok'] if it may be empty"
            )
        if "copy_if_overlap" in asked:
            arrays = _apart(arrays, self._writes)
        self.operands = tuple(arrays)
        self.nop, self._order = len(arrays), order
        self.has_multi_index = "multi_index" in asked
        self.has_index = not asked.isdisjoint(("c_index", "f_index"))
        self._order_of_index = "F" if "f_index" in asked else "C"
        self._is_by_rows = "external_loop" in asked
        if self._is_by_rows and (self.has_multi_index or self.has_index):
            raise errors.ArgumentValueError("nditer: flags must not hold external_loop beside an index")
        self._buffer = 0 if "buffered" not in asked else operator.index(buffersize) or _BUFFER
        self._grows = "grow_inner" in asked
        self._parts: list[Any] = list(arrays)
        self._begin()

    def _begin(self) -> None:
        """Lay out the walk over the operands, and go to its first element."""
        self.ndim = len(self.shape)
        strides = [_strides(one, self.shape) for one in self._parts]
        self._axes, self._ranges = _walk(strides, self.shape, self._order)
        self.itersize = math.prod(self.shape)
        if self._is_by_rows:
            self._make_vectors(strides)
        self.reset()

    def _make_vectors(self, strides: Sequence[Sequence[int]]) -> None:
        """Join the fastest axes of each operand to one vector."""
        order, joined = self._axes, min(1, self.ndim)
        lengths = [self.shape[axis] for axis in order]
        turned = [one.step for one in self._ranges]  # 1, or -1 for an axis that is walked backwards
        steps = [[one[axis] * turned[i] for i, axis in enumerate(order)] for one in strides]
        # On some backends what is turned can be written, but its reshape is a copy.
        may_join = not (any(self._writes) and -1 in turned)
        while may_join and joined < self.ndim and _are_joined(steps, lengths, self.ndim - joined - 1):
            joined += 1
        is_buffered = self._buffer > 0 and joined < self.ndim
        if is_buffered and any(self._writes):
            raise errors.ArgumentValueError(
                "nditer: op must be contiguous to be written in buffers with external_loop. Leave out 'external_loop'"
            )
        inner = order[self.ndim - joined :]
        if any(write and any(not one[axis] and self.shape[axis] > 1 for axis in inner)
               for write, one in zip(self._writes, strides, strict=True)):  # fmt: skip
            raise errors.ArgumentValueError(
                "nditer: op must not be reduced along the axis of a vector. Leave out 'external_loop'"
            )
        turns = tuple(slice(None, None, one) for one in turned)
        outer = tuple(lengths[: self.ndim - joined]) if not is_buffered else ()
        for at, one in enumerate(self._parts):
            wide = one if one.shape == self.shape else xp.broadcast_to(one, self.shape)
            walked = xp.permute_dims(wide, tuple(order))[turns] if order else wide
            self._parts[at] = walked if walked.ndim == len(outer) + 1 else xp.reshape(walked, (*outer, -1))
        self._axes, self._ranges = [*range(len(outer))], [range(n) for n in outer]
        if self._buffer and not outer and (is_buffered or not self._grows):
            length = self._parts[0].shape[0] if self._parts else 0
            self._ranges, self._axes = [range(0, max(length, 1), self._buffer)], [0]

    def reset(self) -> None:
        """Begin again."""
        self.iterindex = 0
        self._begun = False

    @property
    def _place(self) -> tuple[Any, ...] | None:
        """The index of the element; None at the end."""
        left, place = self.iterindex, [0] * len(self._axes)
        for axis, steps in zip(reversed(self._axes), reversed(self._ranges), strict=True):
            left, at = divmod(left, max(len(steps), 1))
            place[axis] = steps[at] if steps else 0
        is_over = left > 0 or 0 in self.shape
        return None if is_over else tuple(place)

    @property
    def finished(self) -> bool:
        """Whether all elements were visited."""
        return self._place is None

    def iternext(self) -> bool:
        """Go on to the next element; False if there is none."""
        self.iterindex += 1
        return self._place is not None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._begun:
            self.iternext()
        self._begun = True
        if self._place is None:
            raise StopIteration
        return self.value

    @property
    def multi_index(self) -> tuple[int, ...]:
        """The index of the element, which may be set.

        Needs the flag `multi_index`.
        """
        place = self._place
        if not self.has_multi_index or place is None:
            raise errors.ArgumentValueError(
                "nditer: has no multi_index. Pass flags=['multi_index'], and ask before the end"
            )
        return place

    @multi_index.setter
    def multi_index(self, index: Sequence[int]) -> None:
        if not self.has_multi_index:
            raise errors.ArgumentValueError("nditer: has no multi_index. Pass flags=['multi_index']")
        place = tuple(map(operator.index, index))
        if len(place) != self.ndim:
            raise errors.ArgumentValueError(f"nditer: multi_index must have {self.ndim} integers, not {len(place)}")
        if not all(0 <= one < n for one, n in zip(place, self.shape, strict=True)):
            raise errors.ArgumentIndexError(
                f"nditer: multi_index {place} is out of bounds for an iterator of shape {self.shape}"
            )
        self.iterindex = 0
        for axis, steps in zip(self._axes, self._ranges, strict=True):
            self.iterindex = self.iterindex * len(steps) + steps.index(place[axis])

    @property
    def index(self) -> int:
        """The number of the element, with the flag `c_index` or `f_index`."""
        place = self._place
        if not self.has_index or place is None:
            raise errors.ArgumentValueError("nditer: has no index. Pass flags=['c_index'], and ask before the end")
        return int(np.ravel_multi_index(place, self.shape, order=self._order_of_index))  # type: ignore[call-overload]  # one of both

    def remove_axis(self, i: int, /) -> None:
        """Iterate anew, at the first element of an axis."""
        if not self.has_multi_index:
            raise errors.ArgumentValueError("nditer: remove_axis needs a multi_index. Pass flags=['multi_index']")
        axis = operator.index(i)
        if not -self.ndim <= axis < self.ndim:
            raise errors.no_such_axis("nditer", axis, self.ndim)
        after = self.ndim - axis % self.ndim - 1
        for at, one in enumerate(self._parts):
            if one.ndim > after:
                self._parts[at] = one[(..., 0, *[slice(None)] * after)]
        self.shape = self.shape[: self.ndim - after - 1] + self.shape[self.ndim - after :]
        self._begin()

    def remove_multi_index(self) -> None:
        """Stop tracking the index, and begin again."""
        self.has_multi_index = False
        self.reset()

    def enable_external_loop(self) -> None:
        """Yield vectors, and begin again."""
        if self.has_multi_index or self.has_index:
            raise errors.ArgumentValueError("nditer: flags must not hold external_loop beside an index")
        self._is_by_rows = True
        self._begin()

    @property
    def value(self) -> Any:
        """The element, or a tuple of one of each operand."""
        return self[0] if self._is_one else tuple(map(self.__getitem__, range(self.nop)))

    def __len__(self) -> int:
        return self.nop

    def __getitem__(self, at: int) -> Array:
        place, part = self._place, self._parts[at]
        if place is None:
            raise errors.ArgumentValueError("nditer: is at its end. Call reset()")
        if self._is_by_rows:
            steps = self._ranges[0].step if self._axes and part.ndim == 1 else 0
            view: Array = part[slice(place[0], place[0] + steps)] if steps else part[(*place, ...)]
        else:
            if not part.ndim and self._writes[at]:
                return part  # type: ignore[no-any-return]  # an Array
            its = place[len(place) - part.ndim :]
            view = part[(*[one if n > 1 else 0 for one, n in zip(its, part.shape, strict=True)], ...)]
        if not self._writes[at]:
            view.setflags(write=False)
        return view

    def __setitem__(self, at: int, value: Any) -> None:
        self[at][...] = value

    @property
    def dtypes(self) -> tuple[Any, ...]:
        """The dtypes of the operands."""
        return tuple(one.dtype for one in self.operands)

    def close(self) -> None:
        """Do nothing: all writes have already happened."""

    def __enter__(self) -> nditer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _per_operand(op_flags: Sequence[Any] | None, operands: Sequence[Any]) -> list[frozenset[str]]:
    """The flags of each operand, with that of reading or writing."""
    if op_flags is None:
        return [frozenset({"writeonly", "allocate"} if one is None else {"readonly"}) for one in operands]
    is_same = not op_flags or isinstance(op_flags[0], str)
    found = [frozenset(one) for one in ([op_flags] * len(operands) if is_same else op_flags)]
    if len(found) != len(operands):
        raise errors.ArgumentValueError(
            f"nditer: op_flags must be {len(operands)} lists, one an operand, not {len(found)}"
        )
    for one in found:
        if one - _OP_FLAGS or len(one & _MODES) != 1:
            raise errors.ArgumentValueError(
                f"nditer: op_flags must be of {', '.join(sorted(_OP_FLAGS))}, with one of "
                f"{', '.join(sorted(_MODES))} for each operand, not {sorted(one)}"
            )
    return found


def _cast(array: Array, kind: Any, casting: Any, is_written: bool, is_buffered: bool) -> Array:
    """An operand in another dtype, which needs a copy."""
    if not is_buffered:
        raise errors.ArgumentTypeError(
            f"nditer: op is {array.dtype} and becomes {np.dtype(kind)} only in a copy. Pass flags=['buffered']"
        )
    if not np.can_cast(np.dtype(array.dtype), np.dtype(kind), casting):
        raise errors.ArgumentTypeError(
            f"nditer: op is {array.dtype} and cannot become {np.dtype(kind)} by casting={casting!r}"
        )
    if is_written:
        raise errors.ArgumentValueError(
            "nditer: op_dtypes must be those of the operands that are written. Cast them: x.astype(...)"
        )
    return xp.astype(array, kind)


def _check_broadcast(array: Array, shape: tuple[int, ...], flags: frozenset[str], may_reduce: bool) -> None:
    """Raise ValueError for an operand that must not broadcast."""
    if "no_broadcast" in flags:
        raise errors.ArgumentValueError(
            f"nditer: op of shape {array.shape} must not broadcast to {shape}, as its op_flags hold 'no_broadcast'"
        )
    if "readonly" not in flags and not (may_reduce and "readwrite" in flags):
        raise errors.ArgumentValueError(
            f"nditer: op of shape {array.shape} is written at each element of {shape}, which is a reduction. Pass "
            "flags=['reduce_ok'] and op_flags of 'readwrite'"
        )


def in_memory(a: Any, b: Any) -> tuple[Any, Any]:
    """Two ndarrays that overlap as writes to one array reach the other."""
    found = views.layouts_of(a, b) if type(a) is type(b) is Array else None
    return (np.asarray(a), np.asarray(b)) if found is None else found


def _apart(arrays: Sequence[Any], writes: Sequence[bool]) -> list[Any]:
    """The operands, copied if a write to another reaches them."""

    def overlaps(at: int) -> bool:
        others = [one for i, one in enumerate(arrays) if writes[i] and i != at and one is not arrays[at]]
        return any(np.may_share_memory(*in_memory(arrays[at], one)) for one in others)

    found = [overlaps(at) for at in range(len(arrays))]
    if any(one and write for one, write in zip(found, writes, strict=True)):
        raise errors.ArgumentValueError("nditer: op must not hold two arrays of one memory that are both written")
    return [xp.asarray(one, copy=True) if its else one for one, its in zip(arrays, found, strict=True)]


def _strides(array: Array, shape: tuple[int, ...]) -> list[int]:
    """The strides of an array that is broadcast to a shape."""
    own = [0 if n == 1 else step for n, step in zip(array.shape, array.strides, strict=True)]
    return [0] * (len(shape) - len(own)) + own


def _are_joined(steps: Sequence[Sequence[int]], lengths: Sequence[int], at: int) -> bool:
    """Whether an axis and the next one are contiguous in all operands."""
    return all(lengths[at] == 1 or lengths[at + 1] == 1 or one[at] == one[at + 1] * lengths[at + 1] for one in steps)


def _walk(strides: Sequence[Sequence[int]], shape: tuple[int, ...], order: str) -> tuple[list[int], list[range]]:
    """The axes from the slowest to the fastest, and the range of each.

    "K" is the order in memory, where an axis that runs backwards in all operands is turned.
    """
    axes, backwards = list(range(len(shape))), [False] * len(shape)
    if order == "F":
        axes.reverse()
    elif order == "K":

        def compare(a: int, b: int) -> int:
            for one in strides:
                if one[a] and one[b] and abs(one[a]) != abs(one[b]):
                    return abs(one[b]) - abs(one[a])
            return a - b

        axes.sort(key=functools.cmp_to_key(compare))
        backwards = [
            all(one[axis] <= 0 for one in strides) and any(one[axis] for one in strides) for axis in range(len(shape))
        ]
    return axes, [range(shape[axis])[:: -1 if backwards[axis] else 1] for axis in axes]
