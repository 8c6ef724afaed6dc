"""`x[key]` and iteration, and the keys of reads and writes.

The fast paths on NumPy, and on libraries whose arrays are written in place, are `_speedups/entry/indexing.c` and
`_speedups/entry/keys.c`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from types import EllipsisType, NoneType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anyarray._base import dtypes, errors
from anyarray._call import diagnosis
from anyarray._call.arguments import as_array, unknown_length
from anyarray._call.placement import home_of_array, home_of_arrays, native_on
from anyarray._call.wrapping import is_array, wrap, wrap_all
from anyarray._memory import views
from anyarray._memory.transfer import UNWATCHED, watch
from anyarray._registry import registry
from anyarray._registry.home import Home, Native

if TYPE_CHECKING:
    from anyarray._array.array import Array  # which calls these functions

_INTEGERS: Final = frozenset({int, *[np.dtype(code).type for code in "bhilqBHILQ"]})
_BASIC: Final = _INTEGERS | {slice, NoneType, EllipsisType}
"""Classes of basic index entries, which are passed to NumPy unchanged; it checks the bounds of slices itself.

`_speedups/entry/keys.c` repeats them."""
_BOUNDS: Final = frozenset({int, NoneType})
"""Classes of bounds of slices that need no conversion."""


def getitem(x: Array, key: Any) -> Array:
    """`x[key]`: a view for a basic key, else a copy."""
    home = home_of_array("index", x)
    key = checked(key)
    if not is_basic(key):
        home = home_of_key("index", x, key, home)
        key = native_key(key, home)
    native = native_on(x, home, "index")
    if type(native) is not np.ndarray:
        key = _counted(key, home)
    try:
        found = home.getitem(native, key)
    except Exception as error:
        explain_index(error, key, native, home)
        raise
    result = wrap(found, home)
    if home is x._home and _is_view(key, x):
        views.record(result, x, views.Indexed(key))
    return result


def checked(key: Any) -> Any:
    """A key of ints, slices, None, `...` and Arrays, or a tuple of these.

    Raises IndexError for anything else.
    """
    if isinstance(key, tuple):  # also of a class of its own, as a named tuple is
        return tuple([one if type(one) is int else _checked_entry(one) for one in key])
    return key if type(key) is int else _checked_entry(key)


def _checked_entry(key: Any) -> Any:
    kind = type(key)
    if kind is int or key is None or key is Ellipsis:
        return key
    if kind is slice:
        bounds = (key.start, key.stop, key.step)
        if {*map(type, bounds)} <= _BOUNDS:
            return key
        return slice(*[None if one is None else _bound(one) for one in bounds])
    if not (is_array(key) or (kind is np.ndarray and key.ndim)):
        if kind is bool or isinstance(key, (list, tuple, range, np.bool_)):  # NumPy takes a nested tuple as a list
            key = np.asarray(key, dtype=np.intp if isinstance(key, (list, tuple, range)) and not key else None)
        elif hasattr(key, "__index__") and not getattr(key, "shape", ()):  # as tensors of one element have
            try:
                return operator.index(key)
            except TypeError:  # a traced integer of JAX
                if registry.backend_of_native(key) is None:
                    raise
        if registry.backend_of_native(key) is None:
            raise errors.ArgumentIndexError(
                "index: key must hold integers, slices, ..., None and arrays of integers or bool, "
                f"not {type(key).__name__}"
            )
    key = as_array("index", "key", key)
    if key._home.dtype(key._native).kind not in "biu":
        raise errors.ArgumentIndexError(f"index: key must be of an integer dtype or bool, not {key.dtype}")
    return key


def _bound(bound: Any) -> Any:
    """A bound of a slice as an int.

    A bound that a trace does not know is a native array.
    """
    unknown = unknown_length(bound)
    if unknown is not None:
        return unknown._native
    try:
        return operator.index(bound)
    except TypeError as error:
        raise errors.ArgumentTypeError(
            f"index: bounds of a slice must be integers or None, not {type(bound).__name__}"
        ) from error


def is_basic(key: Any) -> bool:
    """Whether a checked key holds no Arrays."""
    return type(key) in _BASIC or (type(key) is tuple and _BASIC.issuperset(map(type, key)))


def home_of_key(function: str, x: Array, key: Any, home: Home, value: Array | None = None) -> Home:
    """Where `x` is indexed by a checked key, or written.

    An Array in the key, or the value that is written, decides if it lives elsewhere, and is placed or traced. Otherwise
    it is `home`.
    """
    others = [one for one in (*(key if type(key) is tuple else (key,)), value) if is_array(one)]
    for one in others:
        there = one._home
        if there is not home and (there.placed or there.is_traced(one._native)):
            return home_of_arrays(function, [x, *others])
    return home


def native_key(key: Any, home: Home) -> Any:
    """A checked key with native arrays on `home` for its Arrays."""
    if type(key) is tuple:
        return tuple([_native_entry(one, home) if is_array(one) else one for one in key])
    return _native_entry(key, home) if is_array(key) else key


def _native_entry(key: Array, home: Home) -> Native:
    native = native_on(key, home, "index")
    # NumPy would take uint64 indices of 2**63 or more as negative.
    return dtypes.signed(native) if type(native) is np.ndarray else native


def _counted(key: Any, home: Home) -> Any:
    """A native key with Python integers for those of Arrays without axes.

    Integers in a trace or on a device stay unchanged.
    """
    if type(key) is tuple:
        return key if is_basic(key) else tuple([_counted(one, home) for one in key])
    if type(key) in _BASIC or not _is_integer(key, home) or home.is_traced(key) or home.backend.kind != "cpu":
        return key
    number = number_of(key, home)
    return key if number is None else number


def number_of(native: Native, home: Home) -> complex | None:
    """The Python number of an Array without axes, if its library returns it.

    None if the library does not, or if transfers are logged.
    """
    ask = home.backend.number
    return None if ask is None or watch() is not UNWATCHED else ask(native)


def _is_integer(entry: Native, home: Home) -> bool:
    """Whether an entry of a native key is an integer.

    An integer array without axes is one; it may be in a trace or on a device.
    """
    if type(entry) in _BASIC:
        return type(entry) in _INTEGERS
    return not home.shape_of(entry) and home.dtype(entry).kind in "iu"


def axes_of(key: Any, x: Array) -> tuple[int, bool] | None:
    """How many axes a native key selects, and whether it selects one element.

    None if it holds arrays with axes, or masks.
    """
    entries = key if type(key) is tuple else (key,)
    integers = 0
    for one in entries:
        if _is_integer(one, x._home):
            integers += 1
        elif type(one) not in _BASIC:
            return None
    return x.ndim - integers + sum([one is None for one in entries]), integers == len(entries) == x.ndim


def _is_view(key: Any, x: Array) -> bool:
    """Whether NumPy gives a view for a native key, which must be recorded.

    NumPy gives views for basic keys, but a scalar for one element.
    """
    if type(x._native) is np.ndarray and x._native.flags.writeable:
        return False
    selected = axes_of(key, x)
    return selected is not None and not selected[1] and views.is_guarded(x)


def explain_index(error: Exception, key: Any, native: Native, home: Home, value: tuple[int, ...] | None = None) -> None:
    """Raise a clear error for a wrong key, or a wrong value for it.

    The key is native. Returns if both seem right.
    """
    parts: list[Any] = []
    for one in key if type(key) is tuple else (key,):
        if one is None or one is Ellipsis or type(one) in (int, slice):
            parts.append(one)
        elif home.is_traced(one):
            parts.append(diagnosis.UnknownIndex(tuple(home.shape_of(one)), home.dtype(one)))
        else:
            parts.append(home.to_numpy(one))
    diagnosis.diagnose_index(error, tuple(home.shape_of(native)), tuple(parts), value)


_UNSTACKED_AT_ONCE: Final = 32
_CHUNK: Final = 4096
"""An iterator over at most `_UNSTACKED_AT_ONCE` elements unstacks all; over more, one, then `_CHUNK` at a time."""


def elements(array: Array) -> Iterator[Array]:
    """The elements along the first axis, with their values at access.

    Some code creates only the iterator (`np.iterable`), or reads only the first element (Matplotlib). So the other
    elements are unstacked later, many at once, unless the Array is written.
    """
    home, whole = array._home, array._native
    try:
        length = home.shape_of(whole)[0]
        if length is None:
            yield from wrap_all(home.unstack(whole, axis=0), home)
            return
        is_recorded = array.ndim > 1 and views.is_guarded(array)
        ready: Sequence[Native] = ()
        first = 0
        for i in range(length):
            if array._native is not whole:
                native = array._home.getitem(array._native, i)
            elif i == 0 and length > _UNSTACKED_AT_ONCE:
                native = home.getitem(whole, 0)
                first = 1
            else:
                if i - first >= len(ready):
                    first = i
                    part = whole if length <= _CHUNK and i == 0 else home.getitem(whole, slice(i, i + _CHUNK))
                    ready = home.unstack(part, axis=0)
                native = ready[i - first]
            element = wrap(native, array._home)
            if is_recorded and views.is_guarded(array):  # a write may have given it memory of its own
                views.record(element, array, views.Indexed(i))
            yield element
    except Exception as error:
        diagnosis.diagnose_failure(error, "iter")
        raise
