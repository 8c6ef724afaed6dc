"""Views: Arrays that share elements, and writes that reach all of them.

On NumPy and CuPy, a view is the library's own: memory is shared and written in place, and nothing is recorded. A `View`
is recorded if memory must not be written in place:

- The arrays of a library are immutable, as those of JAX and TensorFlow. A write makes a new native array of the written
  Array; `replace` then updates its base and reads the other views again.
- Memory of NumPy or CuPy is *guarded*: an immutable array shares it, or the user passed it in. A guarded ndarray and
  its views are read-only, which marks them for recording. Before a write, `own` gives the Array private memory, by a
  copy if other code still uses the old memory, and reads its views again from there.

So every Array always has its current values, reading costs nothing, and no write reaches memory that other code relies
on. A result that NumPy copies is a copy on every backend: the strides that NumPy would have decide whether a `reshape`
is a view. Elementwise results, casts and copies have the order of their operands in memory; other results count as
row-major.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

import numpy as np

from anyarray._base import errors
from anyarray._base.dtypes import KNOWN
from anyarray._memory import alignment, ownership, second_copies
from anyarray._registry import registry
from anyarray._registry.home import Home, Native

_NUMPY: Final = registry.backend_of_name("numpy").free
_ndarray: Final = np.ndarray
_NUMPYS: Final = (np.ndarray, np.generic)


class Selection(Protocol):
    """The elements of an array that a view shows, and their order."""

    is_read_only: bool
    """Whether NumPy refuses to write to such a view."""
    is_reordered: bool
    """Whether the order of its axes may differ from that of memory."""

    def read(self, home: Home, native: Native) -> Native:
        """The view of a native array."""

    def write(self, home: Home, native: Native, value: Native, exclusive: bool) -> Native:
        """The native array with `value` in place of its view.

        `exclusive` is as for `setitem` in the contract of backends.
        """


class Indexed:
    """`x[key]` for a basic key: integers, slices, None and `...`.

    An integer may be a 0-d native array, whose value is unknown.
    """

    __slots__ = ("_key",)

    is_read_only = is_reordered = False

    def __init__(self, key: Any) -> None:
        self._key = key

    def read(self, home: Home, native: Native) -> Native:
        return home.getitem(native, self._key)

    def write(self, home: Home, native: Native, value: Native, exclusive: bool) -> Native:
        return home.setitem(native, self._key, value, exclusive)

    def has(self, key: Any) -> bool:
        """Whether a normalised key is that of this view, by entry."""
        mine = self._key if type(self._key) is tuple else (self._key,)
        other = key if type(key) is tuple else (key,)
        return len(mine) == len(other) and all(
            one is another or (type(one) is type(another) and not hasattr(one, "shape") and one == another)
            for one, another in zip(mine, other, strict=True)
        )

    @property
    def has_arrays(self) -> bool:
        """Whether an integer of the key is in a trace or on a device."""
        return any(hasattr(one, "shape") for one in (self._key if type(self._key) is tuple else (self._key,)))


class Rearranged:
    """The elements of an array in another shape or order, by a function.

    Without an inverse, the view is read-only, as that of `broadcast_to`.
    """

    __slots__ = ("_function", "_inverse", "is_read_only", "is_reordered")

    def __init__(
        self,
        function: Callable[[Home, Native], Native],
        inverse: Callable[[Home, Native, Native], Native] | None = None,
        is_reordered: bool = False,
    ) -> None:
        self._function = function
        self._inverse = inverse
        """Returns the whole array after a write to the view; takes the home, the whole array and the value."""
        self.is_read_only = inverse is None
        self.is_reordered = is_reordered or inverse is None

    def read(self, home: Home, native: Native) -> Native:
        return self._function(home, native)

    def write(self, home: Home, native: Native, value: Native, exclusive: bool) -> Native:
        if self._inverse is None:
            raise read_only("setitem")
        return self._inverse(home, native, value)


class Strided:
    """Elements selected by strides, as by a function of an ndarray."""

    __slots__ = ("_function", "_places", "is_read_only", "may_repeat")

    is_reordered = True

    def __init__(self, function: Callable[[Any], Any], is_read_only: bool) -> None:
        self._function = function
        self._places: Native = None
        self.is_read_only = is_read_only
        self.may_repeat = True
        """Whether an element may occur more than once, as in windows; exact once the places are computed."""

    def read(self, home: Home, native: Native) -> Native:
        if type(native) is _ndarray:
            return self._function(native)
        if home.has_views:
            return home.backend.hook("as_strided")(native, self._function)
        return home.getitem(home.reshape(native, (-1,)), self._places_in(home, native))

    def write(self, home: Home, native: Native, value: Native, exclusive: bool) -> Native:
        if self.is_read_only:
            raise read_only("setitem")
        flat, places = home.reshape(native, (-1,)), self._places_in(home, native)
        if self.may_repeat:  # changed elements are written last
            places, value = home.reshape(places, (-1,)), home.reshape(value, (-1,))
            before = home.getitem(flat, places)
            is_nan = home.not_equal(value, value) if home.dtype(value).kind in "fc" else None
            is_new = home.not_equal(value, before)
            if is_nan is not None:
                is_new = home.logical_and(is_new, home.logical_not(home.logical_and(is_nan, home.isnan(before))))
            order = home.argsort(home.astype(is_new, home.backend.native_dtype("int8")), axis=-1)
            places, value = home.take(places, order, axis=0), home.take(value, order, axis=0)
        flat = home.setitem(flat, places, value, False)
        return home.reshape(flat, tuple(home.shape_of(native)))

    def _places_in(self, home: Home, native: Native) -> Native:
        """The indices of the elements in the flattened array.

        They are computed at their first use: most views are neither written nor read again.
        """
        if self._places is None:
            shape = tuple(home.shape_of(native))
            places = self._function(np.arange(math.prod(shape)).reshape(shape))
            self.may_repeat = np.unique(places).size < places.size
            self._places = home.from_numpy(np.ascontiguousarray(places), home.backend.native_device)
        return self._places


class View:
    """The record of an Array that shares elements with others."""

    __slots__ = ("_views", "layout", "parent", "selection")

    def __init__(self, parent: Any, selection: Selection | None) -> None:
        self.parent = parent
        """The base of this view, which it keeps alive; None for an Array that is not a view."""
        self.selection = selection
        self.layout: np.ndarray[Any, Any] | None = None
        """An ndarray without memory, with the strides that NumPy would have; None until its first use."""
        self._views: list[weakref.ref[Any]] = []

    def add(self, view: Any) -> None:
        """Record a view of this Array."""
        if len(self._views) >= _MANY and not len(self._views) & (len(self._views) - 1):
            self._views = [one for one in self._views if one() is not None]
        self._views.append(weakref.ref(view))

    def views(self) -> Iterator[Any]:
        """The views that still exist."""
        for one in self._views:
            view = one()
            if view is not None:
                yield view

    def is_seen(self) -> bool:
        """Whether it is a view, or has a view that still exists."""
        return self.parent is not None or any(True for _ in self.views())  # without the truth value of an Array


class Reordered(View):
    """The record of an Array that might not be row-major in NumPy."""

    __slots__ = ()


_MANY: Final = 16
"""The number of views above which their list is cleared whenever it has doubled."""

READ_ONLY: Final = View(None, None)
"""A placeholder for the record of a read-only view of NumPy whose memory is written in place."""


def read_only(function: str) -> errors.ArgumentValueError:
    """The error for a write to a view that is read-only in NumPy."""
    return errors.ArgumentValueError(
        f"{function}: x is a read-only view, as broadcast_to and diagonal give. Copy it first: xp.asarray(x, copy=True)"
    )


def view_of(array: Any) -> View | None:
    """The record of an Array, or None."""
    return getattr(array, "_view", None)


def root_of(array: Any) -> Any:
    """The base of an Array that is not a view itself."""
    view = view_of(array)
    while view is not None and view.parent is not None:
        array = view.parent
        view = view_of(array)
    return array


def is_view(array: Any) -> bool:
    """Whether an Array without axes shows an element of another."""
    if view_of(array) is not None:
        return True
    native, home = array._native, array._home
    return home.has_views and not isinstance(native, np.generic) and home.base_of(native) is not None


def is_guarded(array: Any) -> bool:
    """Whether an Array is not written in place, so views are recorded."""
    native, home = array._native, array._home
    if type(native) is _ndarray and home.has_views:
        return not native.flags.writeable
    if not home.has_views:
        # Without axes it counts as a number, of which NumPy has no views, unless it is a view itself.
        try:
            return len(home.shape_of(native)) > 0 or view_of(array) is not None
        except errors.TransferError:  # in a graph that does not know how many axes it has
            return False
    if isinstance(native, np.generic):
        return False
    second = getattr(array, "_second", None)
    if (second is not None and second[0] is not None) or view_of(array) is not None:
        return True
    return bool(home.is_replaced(native) or not home.is_writable(native))


def is_replaced(array: Any) -> bool:
    """Whether a write makes a new native array of an Array."""
    home, native = array._home, array._native
    return not home.has_views or (not isinstance(native, _NUMPYS) and bool(home.is_replaced(native)))


def may_be_seen(array: Any) -> bool:
    """Whether other Arrays, or other code, may see a write to an Array.

    Callers must not hold its native array in a variable.
    """
    view = view_of(array)
    if view is not None and view.is_seen():
        return True
    # Guarded memory has only recorded views.
    return array._home.has_views and not is_guarded(array) and not ownership.is_sole_owner(array)


def is_part(value: Any, array: Any, key: Any) -> bool:
    """Whether an Array is the view of another at a key.

    A write of it at that key then changes nothing, as in the last step of `x[key] += 1`.
    """
    view = view_of(value)
    return view is not None and view.parent is array and isinstance(view.selection, Indexed) and view.selection.has(key)


def record(view: Any, parent: Any, selection: Selection) -> None:
    """Record that an Array is a view of a guarded Array."""
    its = view_of(parent)
    if its is READ_ONLY:
        view._view = READ_ONLY
        return
    if its is None:
        its = parent._view = View(None, None)
    is_reordered = selection.is_reordered or type(its) is Reordered
    view._view = (Reordered if is_reordered else View)(parent, selection)
    its.add(view)


def exchange(array: Any, view: Any) -> bool:
    """Exchange an Array and its view; returns False if it is not a view of it.

    Other views of the Array, and its base, stay unchanged.
    """
    its, whole = view_of(view), view_of(array)
    if its is None or whole is None or its.parent is not array:
        return False
    with ownership.lock_of(root_of(array)):
        for one in (array, view):
            second_copies.drop(one)
        array._native, view._native = view._native, array._native
        array._view, view._view = its, whole
        whole._views = [weakref.ref(array) if one() is view else one for one in whole._views]
        for one in whole.views():
            one._view.parent = view
        above = view_of(whole.parent)
        if above is not None:
            above._views = [weakref.ref(view) if one() is array else one for one in above._views]
    return True


def layouts_of(one: Any, other: Any) -> tuple[Any, Any] | None:
    """Layouts of two Arrays, which overlap where the Arrays share elements.

    None if the location of their memory is unknown.
    """
    root, others = root_of(one), root_of(other)
    if root._home.has_views and others._home.has_views:
        places = _place_of(one), _place_of(other)
        return None if places[0] is None or places[1] is None else places
    if root is not others:
        return np.empty(1), np.empty(1)
    first = layout_of(one)
    return None if first is None else (first, first if one is other else layout_of(other))


def _place_of(array: Any) -> Any:
    """An ndarray over the memory of an Array, which must not be read."""
    home, native = array._home, array._native
    if isinstance(native, _NUMPYS):
        return np.asarray(native)
    layout, address = home.backend.hook("layout_of")(native), home.backend.hook("address")(native)
    if layout is None or address is None:
        return None
    itemsize = home.dtype(native).itemsize
    strides = tuple([stride // layout.dtype.itemsize * itemsize for stride in layout.strides])
    interface = {"data": (address, True), "shape": tuple(layout.shape), "strides": strides, "version": 3}
    return np.asarray(_ArrayInterface(interface | {"typestr": f"|V{itemsize}"}))


class _ArrayInterface:
    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


def layout_of(array: Any) -> np.ndarray[Any, Any] | None:
    """An ndarray with the shape and strides of the Array in NumPy.

    It has the dtype V1 and no memory, so its elements must not be read. None if a length is unknown.
    """
    view = view_of(array)
    if view is None or view.parent is None:
        if view is not None and view.layout is not None:
            return view.layout
        found: np.ndarray[Any, Any] | None = None
        if array._home.has_views:
            found = array._home.backend.hook("layout_of")(array._native)
        if found is not None:
            return found
        shape = tuple(array._home.shape_of(array._native))
        if None in shape:
            return None
        strides = np.cumprod((1, *shape[:0:-1]), dtype=np.int64)[::-1].tolist() if shape else ()
        found = np.lib.stride_tricks.as_strided(np.empty(1, "V1"), shape, strides)
        if view is not None:
            view.layout = found
        return found
    if view.layout is None and view.selection is not None:
        if isinstance(view.selection, Indexed) and view.selection.has_arrays:
            return None
        whole = layout_of(view.parent)
        view.layout = None if whole is None else view.selection.read(_NUMPY, whole)
    return view.layout


def keep_order(operands: Sequence[Any], result: Any) -> None:
    """Record the layout of a result in the order of its operands, as in NumPy.

    Only needed for immutable memory, if the axes of an operand are reordered.
    """
    if result._home.has_views or not any(type(view_of(one)) is Reordered for one in operands):
        return
    if view_of(result) is not None or any(result is one for one in operands):
        return  # an in-place operator returns the array that it has written
    layouts = [layout_of(one) for one in operands if hasattr(one, "_home")]
    shape = tuple(result._home.shape_of(result._native))
    if None in shape or 0 in shape or any(one is None for one in layouts):
        return
    # Strides decide, so elements beyond the second of an axis do not count.
    parts: list[Any] = [one[(slice(2),) * one.ndim] for one in layouts if one is not None]
    flags: list[Any] = [["readonly"]] * len(parts) + [["writeonly", "allocate"]]
    try:
        like = np.nditer([*parts, None], [], flags, [*[None] * len(parts), "V1"]).operands[-1]
    except ValueError:  # they do not broadcast, such as the arguments of a dtype
        return
    axes = sorted(range(len(shape)), key=lambda axis: -like.strides[axis])
    if len(like.shape) != len(shape) or axes == sorted(axes):
        return
    result._view = Reordered(None, None)
    back = np.argsort(axes)
    strides = np.cumprod([1, *[shape[axis] for axis in axes[:0:-1]]])[::-1][back]
    result._view.layout = np.lib.stride_tricks.as_strided(np.empty(1, "V1"), shape, strides.tolist())


def forget_order(array: Any) -> None:
    """Let an Array that is not a view count as row-major."""
    view = view_of(array)
    if type(view) is Reordered and view.parent is None:
        del array._view


def _may_overlap(one: Any, other: Any) -> bool:
    first, second = layout_of(one), layout_of(other)
    return first is None or second is None or np.may_share_memory(first, second)


def require_writable(array: Any, function: str) -> None:
    """Raise ValueError for a read-only view."""
    view = view_of(array)
    if view is READ_ONLY:
        raise read_only(function)
    while view is not None and view.parent is not None:
        if view.selection is not None and view.selection.is_read_only:
            raise read_only(function)
        view = view_of(view.parent)


def freeze(array: Any) -> None:
    """Make an Array read-only, and all views that are made of it later.

    It still shows writes to its base and to its existing views.
    """
    view = view_of(array)
    if view is not None and view.is_seen():
        whole = array[...]
        its = view_of(whole)
        if its is not None:
            its.selection = Rearranged(lambda home, x: guarded(x))
        if not exchange(array, whole):
            raise errors.ArgumentValueError(
                "flags: x is a view or has views and must be on the chosen backend. Copy it: xp.asarray(x, copy=True)"
            )
        return
    if array._home.has_views:
        array._native = guarded(array._native)
    array._view = READ_ONLY


def replace(array: Any, native: Native, *, is_own: bool = True) -> None:
    """Replace the native array of an Array with immutable memory.

    Its base and all other views of the base get the values. `is_own` means that a write made the native array, so no
    other code has it.
    """
    changes = [(array, native)]
    view = view_of(array)
    child = array
    while view is not None and view.parent is not None and view.selection is not None:
        parent = view.parent
        is_sole = getattr(parent, "_second", None) is second_copies.OWN and ownership.is_sole_owner(parent)
        native = view.selection.write(parent._home, parent._native, native, is_sole)
        if type(view.selection) is Strided and view.selection.may_repeat:
            changes[-1] = (child, view.selection.read(parent._home, native))
        changes.append((parent, native))
        child, view = parent, view_of(parent)
    del child
    before = None
    for one, its in changes:
        second_copies.drop(one)
        one._native = its
        one._second = second_copies.OWN if is_own or one is not array else None
        _read_anew(one, before, array)
        before = one


def _read_anew(array: Any, but: Any, written: Any) -> None:
    """Read the views of an Array again that may contain written elements."""
    view = view_of(array)
    if view is None:
        return
    for one in view.views():
        if one is not but and (array is written or _may_overlap(one, written)):
            second_copies.drop(one)
            one._native = one._view.selection.read(one._home, array._native)
            _read_anew(one, None, written)


def guard(array: Any) -> None:
    """Protect the current memory of an Array from writes."""
    native = array._native
    if type(native) is _ndarray:
        array._native = guarded(native)
    elif array._home.has_views and not isinstance(native, np.generic) and view_of(array) is None:
        array._view = View(None, None)


def guard_alone(array: Any) -> bool:
    """Guard an Array, unless other code has its memory, too.

    They would miss later writes. Returns whether the Array is now guarded. Callers must not hold its native array in a
    variable.
    """
    if not ownership.is_sole_owner(array):
        return False
    guard(array)
    return True


def guarded(native: Native) -> Native:
    """A native array in the same memory that no Array writes.

    An immutable array is returned unchanged.
    """
    if type(native) is not _ndarray or not native.flags.writeable:
        return native
    view = native.view()
    view.flags.writeable = False
    return view


def apart(native: Native) -> Native:
    """A native array of the same values that writes to an Array do not change.

    Small arrays are copied, which takes no longer than guarding them and makes their views cheaper.
    """
    if type(native) is _ndarray and native.nbytes < alignment.MODEST:
        return native.copy("K")
    return guarded(native)


def own(array: Any) -> None:
    """Give a guarded Array and its views writable memory.

    The memory is copied unless no other code uses it any more.
    """
    root = root_of(array)
    with ownership.lock_of(root):
        if not is_guarded(array):
            return  # another thread did it first
        views = list(_views_within(root))
        if array is not root and all(one is not array for one in views):
            views.append(array)  # recorded by another thread while the others got this memory
        for one in (root, *views):
            second_copies.drop(one)
        if not (ownership.is_sole_owner(root, len(views)) and _is_writable_again(root)):
            root._native = _copied(root)
        root._view = None
        for one in views:  # each after its base
            view = one._view
            one._native = view.selection.read(one._home, view.parent._native)
        for one in views:
            view = one._view
            stays = _is_read_only(one) or view.selection.is_read_only or view.parent._view is READ_ONLY
            one._view = READ_ONLY if stays else None


def _copied(array: Any) -> Native:
    """A copy of a native array in its memory order.

    So views of it can become views of the copy.
    """
    native = array._native
    is_usual = type(native) is not _ndarray or native.flags.c_contiguous
    return array._home.duplicate(native) if is_usual else native.copy("K")


def _views_within(array: Any) -> Iterator[Any]:
    view = view_of(array)
    if view is not None:
        for one in view.views():
            yield one
            yield from _views_within(one)


def _is_read_only(array: Any) -> bool:
    return isinstance(array._native, _ndarray) and not array._native.flags.writeable


def _is_writable_again(array: Any) -> bool:
    """Make memory writable that no other code uses; returns success."""
    native = array._native
    if type(native) is not _ndarray:
        return bool(array._home.backend.hook("is_own")(native))
    try:
        native.flags.writeable = True
    except ValueError:  # it is not NumPy's own
        return False
    return True


def _is_layout(home: Home, x: Native) -> bool:
    """Whether an array is a result of `layout_of`."""
    return home is _NUMPY and x.dtype.kind == "V"


def _shaped(home: Home, whole: Native, value: Native, *args: Any, **kwargs: Any) -> Native:
    """The value of a write to a view, in the shape of the whole array."""
    return home.reshape(value, tuple(home.shape_of(whole)))


def _by(
    name: str, inverse: Callable[..., Native] | None = None, *, is_reordered: bool = False
) -> Callable[..., Selection]:
    """A selection by the native function `name`; see `Rearranged`."""

    def selection(*args: Any, **kwargs: Any) -> Selection:
        def read(home: Home, x: Native) -> Native:
            return getattr(home, name)(x, *args, **kwargs)

        back = inverse
        if back is None:
            return Rearranged(read)
        return Rearranged(read, lambda home, whole, value: back(home, whole, value, *args, **kwargs), is_reordered)

    return selection


def _permuted_back(home: Home, whole: Native, value: Native, axes: Sequence[int]) -> Native:
    return home.permute_dims(value, tuple(sorted(range(len(axes)), key=lambda i: axes[i] % len(axes))))


permuted: Final = _by("permute_dims", _permuted_back, is_reordered=True)
"""The selection of `permute_dims`."""


def _reshaped(shape: Any, **options: Any) -> Selection:
    def read(home: Home, x: Native) -> Native:
        return home.reshape(x, shape, copy=False if _is_layout(home, x) else None)

    return Rearranged(read, _shaped)


def _part(name: str) -> Callable[..., Selection]:
    """Views of the real or the imaginary parts of complex numbers.

    The real parts of real numbers are the numbers.
    """

    def inverse(home: Home, whole: Native, value: Native) -> Native:
        if home.dtype(whole).kind != "c":
            return value
        parts = (value, home.imag(whole)) if name == "real" else (home.real(whole), value)
        return home.complex_of(*parts)

    def read(home: Home, x: Native) -> Native:
        return x if _is_layout(home, x) else getattr(home, name)(x)

    return lambda: Rearranged(read, inverse)


def of_bits(came: str, wanted: str) -> Selection:
    """The bits of elements of one dtype as numbers of another.

    The selection has a layout only if both have the same size.
    """
    is_alike = KNOWN[came].itemsize == KNOWN[wanted].itemsize

    def read(home: Home, x: Native) -> Native:
        if _is_layout(home, x):
            return x if is_alike else None
        return home.bitcast(x, home.backend.native_dtype(wanted))

    return Rearranged(read, lambda home, whole, value: home.bitcast(value, home.backend.native_dtype(came)))


SELECTIONS: Final[dict[str, Callable[..., Selection]]] = {
    "broadcast_to": _by("broadcast_to"),
    "diagonal": _by("diagonal"),
    "expand_dims": _by("expand_dims", _shaped),
    "flip": lambda axis=None: _by("flip", lambda home, whole, value, axis: home.flip(value, axis=axis))(axis=axis),
    "imag": _part("imag"),
    "matrix_transpose": _by(
        "matrix_transpose", lambda home, whole, value: home.matrix_transpose(value), is_reordered=True
    ),
    "moveaxis": _by(
        "moveaxis", lambda home, whole, value, source, to: home.moveaxis(value, to, source), is_reordered=True
    ),
    "permute_dims": permuted,
    "real": _part("real"),
    "reshape": _reshaped,
    "squeeze": _by("squeeze", _shaped),
}
"""The view that a function of one array returns, by its name, for its other arguments."""


READ_ONLY_VIEWS: Final = frozenset({"broadcast_arrays", "broadcast_to", "diagonal"})
"""Functions whose views are read-only."""


def record_result(name: str, result: Any, parent: Any, *args: Any, **kwargs: Any) -> None:
    """Record that a result of a function of `SELECTIONS` is a view."""
    selection = SELECTIONS[name](*args, **kwargs)
    if not is_guarded(parent):
        if selection.is_read_only and parent._home.has_views:
            result._native = guarded(result._native)
            result._view = READ_ONLY
    elif _is_view(name, result, parent, selection) and kwargs.get("copy") is not True:
        record(result, parent, selection)


def _is_view(name: str, result: Any, parent: Any, selection: Selection) -> bool:
    """Whether a result is a view in NumPy.

    `reshape` copies arrays that are not contiguous.
    """
    if parent._home is _NUMPY:
        return _is_read_only(result)
    its = view_of(parent)
    is_whole = type(its) is not Reordered and (its is None or its.parent is None)
    if name != "reshape" or (is_whole and not parent._home.has_views):
        return True
    layout = layout_of(parent)
    try:
        return layout is not None and selection.read(_NUMPY, layout) is not None
    except ValueError:
        return False


def record_parts(name: str, results: Sequence[Any], parents: Sequence[Any], **options: Any) -> None:
    """The same for functions that return several views.

    These are `unstack` and `broadcast_arrays`.
    """
    if name == "broadcast_arrays":
        for result, parent in zip(results, parents, strict=True):
            record_result("broadcast_to", result, parent, tuple(result._home.shape_of(result._native)))
    elif is_guarded(parents[0]) and parents[0].ndim > 1:
        before = (slice(None),) * (options.get("axis", 0) % parents[0].ndim)
        for i, result in enumerate(results):
            record(result, parents[0], Indexed((*before, i)))
