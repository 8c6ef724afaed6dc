"""Where the arrays of a call live, and how they come to its home."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from anyarray._call.wrapping import wrap_apart
from anyarray._choice import choice as _choice
from anyarray._choice import machine
from anyarray._memory import ownership, second_copies, transfer, views
from anyarray._memory.second_copies import LENDABLE
from anyarray._memory.transfer import UNWATCHED, watch
from anyarray._registry import registry
from anyarray._registry.home import Home, Native
from anyarray._registry.registry import Backend

if TYPE_CHECKING:
    from anyarray._array.array import Array  # a higher layer


def home_of_array(function: str, x: Array) -> Home:
    """Where a call on this Array runs, without asking the cost model."""
    here = _choice.current().backend
    # The automatic choice is an object, too; under it an Array stays on its home.
    is_chosen = type(here) is registry.Backend or type(here) is str
    return x._home if not is_chosen or here is x._home.backend else home_of_arrays(function, [x])


def home_of_arrays(function: str, arrays: Sequence[Array]) -> Home:
    """Where a call on these Arrays runs, without asking the cost model."""
    return _choice.home_of_call(function, [a._home for a in arrays], traced_home(arrays))


def traced_home(arrays: Sequence[Array]) -> Home | None:
    """The home of the traced Arrays among these; the innermost of several.

    One of which a derivative may be taken counts as traced: on another home its gradient would be lost.
    """
    traced = [
        a._home
        for a in arrays
        if type(a._value) is not machine.LAZY
        and (a._home.is_traced(a._value) or transfer.has_derivative(a._value, a._home.backend))
    ]
    return max(traced, key=operator.attrgetter("depth")) if traced else None


def native_on(array: Array, home: Home, cause: str, explicit: bool = False) -> Native:
    """The native array of an Array on `home`, transferred if need be.

    `cause` is the function that needs it. The transferred array is kept as the Array's second copy until the Array is
    written, so that a loop transfers it once.
    """
    target = home.backend
    source = array._home.backend
    if source is target:
        return array._native
    second = getattr(array, "_second", None)
    if (
        second is not None
        and second[0] is target
        and (target.is_deleted is None or not target.is_deleted(second[1]))
        and (source.has_graph is None or not source.has_graph(array._native))  # which the user may have asked for since
    ):
        return second[1]
    transfer.refuse_differentiated(array._native, source, f"be brought to {target}")
    try:
        way = source.routes[target]
    except KeyError:
        way = transfer.route(source, target)
    alias = way.alias
    is_lendable = second is LENDABLE and ownership.is_sole_owner(array)
    if alias is not None and (way.is_always_safe or is_lendable) and watch() is UNWATCHED:
        # The way of most, without what is asked below.
        try:
            return lent(array, target, alias, way.device)
        except transfer.REFUSALS:
            pass
    # The second copy must have the Array's values even if another thread writes in the meantime. The lock is not held
    # where the source may still be computing: that may call Python code which needs the lock.
    if source.has_views and (source.library == "numpy" or source.holders is not None):
        with ownership.lock_of(array):
            is_safe = ownership.is_private(array)
            if is_safe:
                views.guard(array)  # or a write of another thread would be lost while it is copied
            moved = transfer.transferred(array._native, source, target, cause, explicit=explicit, is_safe=is_safe)
            if moved.lent is not None:
                array._native = views.guarded(moved.lent)
            if is_safe:
                second_copies.put(array, target, moved.native, moved.shares)
    else:
        native = array._native
        moved = transfer.transferred(native, source, target, cause, explicit=explicit)
        if source.is_immutable:
            second_copies.put(array, target, moved.native, moved.shares)
            if array._native is not native:
                second_copies.drop(array)
    return moved.native


def lent(array: Array, target: Backend, lend: Callable[[Native, Any], Native], device: Any) -> Native:
    """The memory of an Array as a native array of another library, by `lend`.

    Nobody else may hold it, unless it is immutable. It is not written from then on, until somebody asks who holds it.
    Raises what `lend` raises.
    """
    native = array._native
    views.guard(array)  # before it is lent, as another thread may write
    guarded = array._native
    arrived = lend(native, device)
    if not target.free.is_traced(arrived):  # a traced array has no value after its trace
        array._second = (target, arrived)
        if array._native is not guarded:
            array._second = None  # another thread has written in the meantime
    return arrived


def constant(function: str, array: Array) -> Array:
    """The same values, as a constant for derivatives."""
    home = home_of_arrays(function, [array])
    native = native_on(array, home, function)
    if home.backend.has_hook("stop_gradient"):
        native = home.stop_gradient(native)
    return wrap_apart(native, home)


def keep_copy_on(array: Array, home: Home, cause: str) -> None:
    """Copy an Array to `home`, NumPy's, and keep the copy for later calls.

    The Array itself stays where it is, as other threads may read it.
    """
    here = array._native
    native = native_on(array, home, cause)
    if array._home is not home and second_copies.get(array, home.backend) is None:
        with ownership.lock_of(array):
            if array._native is here:  # else a thread has written meanwhile
                second_copies.put(array, home.backend, native, False)
