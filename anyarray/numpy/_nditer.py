"""`np.nditer` over Arrays.

It gives views, so that a loop writes on every backend.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from anyarray._array.array import Array
from anyarray._base import errors
from anyarray.numpy._entrance import as_array
from anyarray.standard import namespace as xp

_FLAGS: Final = frozenset(
    "buffered c_index copy_if_overlap delay_bufalloc external_loop f_index grow_inner multi_index reduce_ok refs_ok "
    "zerosize_ok".split()
)
"""Those that say what is given, and those that change nothing here."""
_WRITES: Final = {"readwrite", "writeonly", "allocate"}


class nditer:  # noqa: N801 - NumPy's name
    """An iterator over the elements of arrays, as `numpy.nditer`.

    The arrays broadcast. Each element is an Array without axes: a view, if `op_flags` say that it is written. With
    `external_loop` it gives rows in the place of elements.
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
        writes = _per_operand(op_flags, given)
        kinds = op_dtypes if isinstance(op_dtypes, (list, tuple)) else [op_dtypes] * len(given)
        arrays: list[Any] = [one if one is None else as_array(one) for one in given]
        self.shape = np.broadcast_shapes(*[one.shape for one in arrays if one is not None])
        known = [one for one in arrays if one is not None]
        for at, (one, kind) in enumerate(zip(arrays, kinds, strict=True)):
            if one is None:
                arrays[at] = xp.empty(self.shape, dtype=xp.result_type(*known) if kind is None else kind)
            elif kind is not None and one.dtype != kind:
                if not np.can_cast(np.dtype(one.dtype), np.dtype(kind), casting):
                    raise errors.ArgumentTypeError(
                        f"nditer: op is {one.dtype} and cannot become {np.dtype(kind)} by casting={casting!r}"
                    )
                if writes[at]:
                    raise errors.ArgumentValueError(
                        "nditer: op_dtypes must be those of the operands that are written. Cast them: x.astype(...)"
                    )
                arrays[at] = xp.astype(one, kind)
        if 0 in self.shape and "zerosize_ok" not in asked:
            raise errors.ArgumentValueError(
                "nditer: op must hold elements. Pass flags=['zerosize_ok'] if it may be empty"
            )
        self.operands = tuple(arrays)
        self.nop, self.ndim = len(arrays), len(self.shape)
        self.has_multi_index = "multi_index" in asked
        self.has_index = not asked.isdisjoint(("c_index", "f_index"))
        self._order_of_index = "F" if "f_index" in asked else "C"
        self._is_by_rows = "external_loop" in asked and self.ndim > 0
        if self._is_by_rows and (self.has_multi_index or self.has_index):
            raise errors.ArgumentValueError("nditer: flags must not hold external_loop beside an index")
        self._views = [
            one if write and one.shape == self.shape else xp.broadcast_to(one, self.shape)
            for one, write in zip(arrays, writes, strict=True)
        ]
        self._writes = writes
        self._axes, self._ranges = _walk(self._views, self.shape, order, self._is_by_rows)
        self.itersize = math.prod(map(len, self._ranges))
        self.reset()

    def reset(self) -> None:
        """Begin again."""
        self.iterindex = 0
        self._begun = False
        self._places = itertools.product(*self._ranges)
        self._place: tuple[Any, ...] | None = self._next()

    def _next(self) -> tuple[Any, ...] | None:
        found = next(self._places, None)
        if found is None:
            return None
        place: list[Any] = [slice(None)] * self.ndim
        for axis, at in zip(self._axes, found, strict=True):
            place[axis] = at
        return tuple(place)

    @property
    def finished(self) -> bool:
        """Whether all elements were visited."""
        return self._place is None

    def iternext(self) -> bool:
        """Go on to the next element; False if there is none."""
        self._place = self._next()
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
        """The index of the element, with the flag `multi_index`."""
        if not self.has_multi_index or self._place is None:
            raise errors.ArgumentValueError(
                "nditer: has no multi_index. Pass flags=['multi_index'], and ask before the end"
            )
        return self._place

    @property
    def index(self) -> int:
        """The number of the element, with the flag `c_index` or `f_index`."""
        if not self.has_index or self._place is None:
            raise errors.ArgumentValueError("nditer: has no index. Pass flags=['c_index'], and ask before the end")
        return int(np.ravel_multi_index(self._place, self.shape, order=self._order_of_index))  # type: ignore[call-overload]  # one of both

    @property
    def value(self) -> Any:
        """The element, or a tuple of one of each operand."""
        return self[0] if self._is_one else tuple(map(self.__getitem__, range(self.nop)))

    def __len__(self) -> int:
        return self.nop

    def __getitem__(self, at: int) -> Array:
        if self._place is None:
            raise errors.ArgumentValueError("nditer: is at its end. Call reset()")
        view: Array = self._views[at][(*self._place, ...)]
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
        """Nothing: what was written is there."""

    def __enter__(self) -> nditer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _per_operand(op_flags: Sequence[Any] | None, operands: Sequence[Any]) -> list[bool]:
    """Whether each operand is written."""
    if op_flags is None:
        return [one is None for one in operands]
    each: Iterable[Any] = op_flags
    if not op_flags or isinstance(op_flags[0], str):  # the same for all
        each = [op_flags] * len(operands)
    found = [not _WRITES.isdisjoint(one) for one in each]
    if len(found) != len(operands):
        raise errors.ArgumentValueError(
            f"nditer: op_flags must be {len(operands)} lists, one an operand, not {len(found)}"
        )
    return found


def _walk(
    views: Sequence[Array], shape: tuple[int, ...], order: str, is_by_rows: bool
) -> tuple[list[int], list[range]]:
    """The axes from the slowest to the fastest, and the range of each.

    "K" is the order in memory, where an axis that runs backwards in all operands is turned.
    """
    axes, backwards = list(range(len(shape))), [False] * len(shape)
    if order == "F":
        axes.reverse()
    elif order == "K":
        strides = [one.strides for one in views]

        def compare(a: int, b: int) -> int:
            for one in strides:
                if one[a] and one[b] and abs(one[a]) != abs(one[b]):
                    return abs(one[b]) - abs(one[a])
            return a - b

        axes.sort(key=functools.cmp_to_key(compare))
        backwards = [
            all(one[axis] <= 0 for one in strides) and any(one[axis] for one in strides) for axis in range(len(shape))
        ]
    if is_by_rows:
        axes = axes[:-1]
    return axes, [range(shape[axis])[:: -1 if backwards[axis] else 1] for axis in axes]
