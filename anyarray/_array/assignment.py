"""`x[key] = value`, and in-place operators such as `x += y`.

A write changes the Array and its views on every backend: `_memory.views`. The fast paths for memory of NumPy's are
`_speedups/entry/assignment.c` and `_speedups/entry/operators.c`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anyarray._array import methods, protocols
from anyarray._array.indexing import axes_of, checked, explain_index, home_of_key, native_key
from anyarray._base import dtypes, errors
from anyarray._call.arguments import as_written
from anyarray._call.placement import native_on
from anyarray._call.slow_path import stays_in_numpy
from anyarray._call.wrapping import SCALARS, cast, is_array
from anyarray._choice import choice
from anyarray._memory import alignment, ownership, second_copies, views
from anyarray._registry.home import ArrayMustBeCast, Home, Native, zero

if TYPE_CHECKING:
    import anyarray as _xp
    from anyarray._array.array import AnyArray, Array, Scalar
else:
    _xp = sys.modules["anyarray"]  # of a higher layer

_EXACT_KINDS: Final[dict[Any, str]] = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}
"""Kinds of dtypes to which NumPy itself may cast a Python scalar on a write, by the scalar's class.

`_speedups/entry/assignment.c` repeats them."""


def setitem(x: Array, key: Any, value: AnyArray | Scalar | Sequence[Any]) -> None:
    """`x[key] = value`: casts the value to the dtype of x, and broadcasts."""
    views.require_writable(x, "setitem")
    is_sequence = isinstance(value, (list, tuple))
    key = checked(key)
    if type(value) not in SCALARS:
        value = as_written("setitem", "value", value, x.dtype)
    home = home_of_key("setitem", x, key, x._home, value if is_array(value) else None)
    if home is not x._home:
        _move(x, home)
    home = x._home
    key = native_key(key, home)
    shape: tuple[int, ...] = ()
    if is_array(value):
        if views.is_part(value, x, key):
            return
        new = native_on(value, home, "setitem")
        if value.dtype.kind == "c" and x.dtype.kind not in "cb":
            methods.warn_of_imaginary_parts()
            new = home.real(new)
        shape = tuple(home.shape_of(new))
        if shape:
            _require_axes(key, x, len(shape), is_sequence=is_sequence)
    else:
        new = _native_scalar(x, value)
    try:
        if not views.is_replaced(x):
            if views.is_guarded(x):
                views.own(x)
            native = home.setitem(x._native, key, new, True)
            if native is not x._native:  # a scalar of NumPy's
                second_copies.drop(x)
                x._native = native
            return
        with ownership.lock_of(views.root_of(x)):
            is_own = getattr(x, "_second", None) is second_copies.OWN
            # Not below, where the call holds the native array, too.
            is_own = is_own and ownership.is_sole_owner(x)
            views.replace(x, home.setitem(x._native, key, new, is_own))
    except Exception as error:
        if isinstance(error, OverflowError) and type(value) is int:
            as_written("setitem", "value", value, x.dtype)
        explain_index(error, key, x._native, home, shape)
        raise


def _is_written(x: Array, native: Native, value: Native) -> bool:
    """Write all elements by the hook `written`; says whether it did."""
    written = x._home.backend.written
    if written is None or getattr(x, "_view", None) is not None or getattr(x, "_second", None) is not None:
        return False
    return written(native, ..., value)


def _native_scalar(x: Array, value: Any) -> Native:
    """A Python scalar for a write to `x`, as its home takes it."""
    home, kind, dtype = x._home, type(value), x.dtype
    if kind is complex and dtype.kind != "c":
        raise errors.ArgumentTypeError(
            f"setitem: value must not be complex for an Array of dtype {dtype}. Take xp.real(value)"
        )
    if type(x._native) is np.ndarray and dtype.kind in _EXACT_KINDS[kind]:
        return value  # not `home.constants`: a loop would fill that cache with its values
    if dtype.kind in "iu":
        value, kind = dtypes.integer_within("setitem", value, dtype), int
    try:
        return home.constants[value or zero(value), kind, home.dtype_of(x._native)]
    except ArrayMustBeCast:
        # In a write the value is cast to the array's dtype, not the array.
        return home.constant(value, dtypes.default(kind).name)


def _require_axes(key: Any, x: Array, ndim: int, *, is_sequence: bool) -> None:
    """Raise ValueError for a value with more axes than NumPy takes at a key.

    An element accepts a value without axes, one of bool also an array of one element. A selection accepts arrays with
    further axes of length 1, but not lists of them.
    """
    selected = axes_of(key, x)
    if selected is None:
        return
    selects, is_element = selected
    if (is_element and x.dtype.kind != "b") or (is_sequence and ndim > selects):
        raise errors.ArgumentValueError(
            f"setitem: setting an array element with a sequence: value has {ndim} axes, more than the key selects. "
            "Write its elements, or select as many axes"
        )


def _move(x: Array, home: Home) -> None:
    """Move an Array to another home.

    It stays if other Arrays, or other code, would be left behind.
    """
    if views.may_be_seen(x):
        return
    while True:
        here = x._native
        native = native_on(x, home, "setitem")
        with ownership.lock_of(x):
            if x._native is here:  # else a thread has written meanwhile
                second_copies.drop(x)
                x._native, x._home = native, home
                return


_OPERATORS: Final = {
    "__iadd__": "+", "__isub__": "-", "__imul__": "*", "__itruediv__": "/", "__ifloordiv__": "//", "__imod__": "%",
    "__ipow__": "**", "__iand__": "&", "__ior__": "|", "__ixor__": "^", "__ilshift__": "<<", "__irshift__": ">>",
    "__imatmul__": "@",
}  # fmt: skip
"""The binary operators of in-place operators, for messages."""
_WRITTEN: Final = {"__iadd__": "add", "__isub__": "subtract", "__imul__": "multiply", "__itruediv__": "divide"}
"""The functions of in-place operators that are written to the memory of an ndarray."""


def in_place_operators() -> dict[str, Callable[[Array, Any], Array]]:
    """The methods of in-place operators, by name."""
    return {name: _in_place(name, _WRITTEN.get(name)) for name in _OPERATORS}


def _in_place(name: str, function: str | None) -> Callable[[Array, Any], Array]:
    """The method of an in-place operator.

    `function` is one that `_update_in_place` computes.
    """
    binary = f"__{name[3:]}"

    def update(self: Array, other: AnyArray | complex, /) -> Array:
        if function is not None and type(self._native) is np.ndarray and _update_in_place(self, function, other):
            return self
        updated: Array = _rebind(self, getattr(self, binary)(other), name, other)
        return updated

    update.__name__, update.__qualname__ = name, f"Array.{name}"
    return update


def _update_in_place(x: Array, function: str, other: Any) -> bool:
    """Compute `function` of both in place if possible; say whether it was.

    It is possible for writable NumPy memory. It takes half the time of a new array, and no memory. It is not done
    if another backend is faster, or if the result may have another dtype or shape.
    """
    home, kind, dtype = x._home, type(other), x._native.dtype
    if dtype.kind not in ("fc" if function == "divide" else "iufc") or not x._native.flags.writeable:
        return False
    if is_array(other) and other._home is home and other._native.dtype is dtype:
        if other._native.shape not in (x._native.shape, ()):
            return False
    elif kind not in SCALARS or x._native.nbytes < alignment.SMALL:
        return False  # the compiled call does the same for few elements and a number that is used again
    compute: Any = getattr(home, function)
    if type(compute) is not np.ufunc:  # before its first call, it is a placeholder
        compute = home.lookup(function)
        if hasattr(compute, "ufunc_of"):
            compute = compute.ufunc_of(dtype, dtype)
        if type(compute) is not np.ufunc:
            return False
    if not is_array(other) and dtype.kind not in _EXACT_KINDS[kind]:
        return False
    value = other._native if is_array(other) else other
    if type(value) is int and dtype.kind in "iu" and not dtypes.holds(home.dtype(x._native), value):
        return False
    chosen = choice.current().backend
    if chosen is choice.BY_COST:
        if not (home.placed or stays_in_numpy(function, x, other)):
            return False
    elif chosen is not None and chosen is not home.backend:
        return False
    compute(x._native, value, out=x._native)
    return True


def _rebind(x: Array, result: Any, function: str, other: Any) -> Any:
    """`x` with the result of an in-place operator.

    An Array without axes that is not a view counts as a number, like NumPy's scalars: the result is a new Array of
    any shape, and other names keep the old Array. Otherwise shape and dtype stay. Raises ValueError for a result of
    another shape, TypeError for one of a dtype that cannot be cast to that of `x` by NumPy's rule "same_kind".
    `fast_inplace` in `_speedups/entry/operators.c` does the same for few elements.
    """
    if result is NotImplemented:
        if getattr(type(other), "__array_ufunc__", ...) is None:  # Python would make another array
            cure = f". Write x = x {_OPERATORS[function]} ..."
            raise errors.takes_part_in_no_ufunc(function, other, cure)
        return NotImplemented
    if not is_array(result):
        if protocols.overrides(type(result), "__array_ufunc__") or not isinstance(result, np.ndarray):
            return result  # as the class of the operand decides
        result = _xp.asarray(result)
    home, native, before = result._home, result._native, x._native
    is_number = type(before) is not np.ndarray and not x._home.shape_of(before) and not views.is_view(x)
    if home.shape_of(native) != x._home.shape_of(before):
        if is_number:
            return result
        raise errors.ArgumentValueError(
            f"{function}: the result of shape {result.shape} does not fit in place of {x.shape}"
        )
    has_same = home is x._home and home.dtype_of(native) is home.dtype_of(before)  # common and fast
    if not has_same and home.dtype(native) is not x._home.dtype(before):
        is_same_kind = dtypes.is_same_kind(result.dtype, x.dtype)
        if is_number and (isinstance(before, np.generic) or not is_same_kind):
            return result
        if not is_same_kind:
            raise errors.ArgumentTypeError(
                f"{function}: the result of dtype {result.dtype} cannot be cast to {x.dtype} in place. "
                f"Write x = x {_OPERATORS[function]} ..., or convert the operand: xp.astype(...)"
            )
        result = cast(function, "x", result, x.dtype)
        home, native = result._home, result._native
    if is_number:
        return result
    views.require_writable(x, function)
    in_memory = type(before) is np.ndarray or (x._home.has_views and not isinstance(before, np.generic))
    if in_memory and home is x._home and _is_written(x, before, native):
        return x
    if in_memory or views.view_of(x) is not None:
        del before, native
        if home is not x._home and not views.may_be_seen(x):
            second_copies.drop(x)
            x._native, x._home = result._native, home  # nothing is left behind
        elif home is x._home and views.is_replaced(x):
            with ownership.lock_of(views.root_of(x)):
                views.replace(x, result._native, is_own=False)
        else:
            setitem(x, ..., result)
        return x
    second_copies.drop(x)
    x._native = native
    x._home = home
    return x
