"""The memory layout of an Array: strides, flags, base.

On NumPy and CuPy they are the library's. On other libraries they are those that NumPy would have, which determine the
views.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._base import errors
from anyarray._call.wrapping import wrap
from anyarray._memory import alignment, views


def memory_of(x: Any) -> Any:
    """An object with the strides and flags of an Array.

    None in a trace that does not know all lengths.
    """
    native = x._native
    return native if x._home.has_views and hasattr(native, "strides") else views.layout_of(x)


def strides(x: Any) -> tuple[int, ...]:
    """Bytes from one element to the next along each axis."""
    memory = memory_of(x)
    if memory is None:
        raise errors.ArgumentValueError(
            f"strides: x has the shape {x.shape}, of which its trace does not know all lengths"
        )
    unit: int = x.dtype.itemsize if memory is not x._native else 1  # the elements of a layout count as one byte
    return tuple([unit * stride for stride in memory.strides])


def is_contiguous(x: Any, order: str) -> bool:
    """Whether elements are contiguous in the order "C" or "F"."""
    native = x._native
    if type(native) is np.ndarray:  # the common case, in a third of the time
        return native.flags.c_contiguous if order == "C" else native.flags.f_contiguous
    view = views.view_of(x)
    is_whole = type(view) is not views.Reordered and (view is None or view.parent is None)
    if order == "C" and not x._home.has_views and is_whole:
        return True  # as what immutable arrays hold counts
    memory = memory_of(x)
    return memory is not None and bool(memory.flags.c_contiguous if order == "C" else memory.flags.f_contiguous)


def base(x: Any) -> Any:
    """The base of a view; None for an Array that is not a view."""
    view = views.view_of(x)
    if view is not None and view.parent is not None:
        return views.root_of(x)
    native = x._native
    if x._home.has_views and not isinstance(native, (np.ndarray, np.generic)):
        whole = x._home.base_of(native)
        return None if whole is None else wrap(whole, x._home)
    holder = getattr(native, "base", None)
    if type(native) is not np.ndarray or type(holder) is not np.ndarray or _is_own(native, holder):
        return None
    if holder.dtype != native.dtype:  # bytes that were allocated aligned
        count = (holder.nbytes - alignment.ALIGNMENT) // native.itemsize
        first = -holder.ctypes.data % alignment.ALIGNMENT
        holder = holder[first : first + count * native.itemsize].view(native.dtype)
    return wrap(holder, x._home)


def may_be_strided(x: Any) -> bool:
    """Whether `strided` supports an Array.

    It does not if a trace does not know a length, nor for reversed or differentiated tensors of PyTorch.
    """
    native, home = x._native, x._home
    if home.has_views:
        return type(native) is np.ndarray or home.backend.hook("as_strided")(native, lambda one: one) is not None
    return None not in home.shape_of(native)


def strided(x: Any, function: Callable[[Any], Any], found: Any = None, *, is_read_only: bool = False) -> Any:
    """The view with the elements that `function` selects from an ndarray.

    `found` are these elements, if they are known and not a view.
    """
    native, home = x._native, x._home
    selection = views.Strided(function, is_read_only)
    if home.has_views or found is None:
        found = wrap(selection.read(home, native), home)
    if views.is_guarded(x):
        views.record(found, x, selection)
    elif is_read_only and home.has_views:
        found._native = views.guarded(found._native)
        found._view = views.READ_ONLY
    return found


def _is_own(native: np.ndarray[Any, Any], holder: np.ndarray[Any, Any]) -> bool:
    """Whether a base is only the bytes that were allocated for an ndarray."""
    return holder.dtype == np.uint8 and holder.nbytes == native.nbytes + alignment.ALIGNMENT


def _all_of(*names: str) -> property:
    """Whether all of these flags are set."""
    return property(lambda flags: all(getattr(flags, name) for name in names))


class Flags:
    """`x.flags`: NumPy's description of the memory of an array, read-only."""

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    @property
    def c_contiguous(self) -> bool:
        """Whether elements in row-major order lie one behind another."""
        return is_contiguous(self._array, "C")

    @property
    def f_contiguous(self) -> bool:
        """Whether elements in column-major order lie one behind another."""
        return is_contiguous(self._array, "F")

    contiguous = _all_of("c_contiguous")
    fortran = _all_of("f_contiguous")
    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous)
    forc = property(lambda self: self.c_contiguous or self.f_contiguous)
    behaved = _all_of("writeable")
    carray = _all_of("writeable", "c_contiguous")
    farray = _all_of("writeable", "fnc")
    aligned = property(lambda self: True)
    writebackifcopy = property(lambda self: False)

    @property
    def num(self) -> int:
        """The flags as the bits of an integer."""
        return sum(bit for name, bit in _BITS.items() if self[name])

    @property
    def owndata(self) -> bool:
        """Whether the Array is not a view."""
        native = self._array._native
        holder = getattr(native, "base", None)
        is_own = not self._array._home.has_views or holder is None
        return base(self._array) is None and (is_own or (type(holder) is np.ndarray and _is_own(native, holder)))

    @property
    def writeable(self) -> bool:
        """Whether the Array may be written: all but read-only views."""
        try:
            views.require_writable(self._array, "flags")
        except ValueError:
            return False
        return True

    @writeable.setter
    def writeable(self, value: bool) -> None:
        if value and not self.writeable:
            raise errors.ArgumentValueError(
                "flags: a read-only array cannot be made writeable again. Copy it: xp.asarray(x, copy=True)"
            )
        if not value:
            views.freeze(self._array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and all(self[name] == other[name] for name in _NAMES)

    __hash__ = None  # type: ignore[assignment]  # flags change

    def __setitem__(self, name: str, value: bool) -> None:
        if name not in ("WRITEABLE", "W"):
            raise KeyError(f"flags: {name!r} cannot be set, only 'WRITEABLE' can")
        self.writeable = value

    def __getitem__(self, name: str) -> bool:
        if name not in _NAMES:
            raise KeyError(f"flags: {name!r} is unknown. Known: {', '.join(_NAMES)}")
        return getattr(self, _NAMES[name])  # type: ignore[no-any-return]  # each is a bool

    def __repr__(self) -> str:
        return "".join(f"  {name} : {self[name]}\n" for name in _BITS)


_NAMES: Final = {
    "C_CONTIGUOUS": "c_contiguous", "F_CONTIGUOUS": "f_contiguous", "OWNDATA": "owndata", "WRITEABLE": "writeable",
    "ALIGNED": "aligned", "C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned",
    "CONTIGUOUS": "contiguous", "FORTRAN": "fortran", "FORC": "forc", "FNC": "fnc", "BEHAVED": "behaved",
    "B": "behaved", "CARRAY": "carray", "CA": "carray", "FARRAY": "farray", "FA": "farray",
    "WRITEBACKIFCOPY": "writebackifcopy", "X": "writebackifcopy",
}  # fmt: skip
"""The attribute by the name that NumPy has for it as a key."""
_BITS: Final = {
    "C_CONTIGUOUS": 0x1, "F_CONTIGUOUS": 0x2, "OWNDATA": 0x4, "WRITEABLE": 0x400, "ALIGNED": 0x100,
    "WRITEBACKIFCOPY": 0x2000,
}  # fmt: skip
"""The flags that NumPy shows, and the bit of each in their number."""
