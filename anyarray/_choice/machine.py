"""What is known of this machine, and what was found out by its model.

That is the model itself, the limits below which nothing is decided, the backends that turned out not to work here, and
what is predicted of calls. Where the model comes from is no matter here.
"""

from __future__ import annotations

import functools
import math
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from anyarray._base import errors
from anyarray._base.dtypes import DType
from anyarray._choice import accounts, cost
from anyarray._choice.accounts import Seconds
from anyarray._choice.cost import NUMPY
from anyarray._choice.rule import Stay, gains
from anyarray._registry import libraries, registry
from anyarray._registry.registry import Backend

Shape = tuple[int, ...]


class _State:
    """The model of this process, looked up once."""

    def __init__(self) -> None:
        self.is_known = False
        self.model: cost.Model | None = None
        self.is_silent = True
        """Whether there is nothing to say about a missing profile, or it was said."""
        self.is_looking = False
        self.looking = threading.RLock()
        """Held while the profile is looked for: who needs it meanwhile waits."""


class Limit:
    """Elements below which a function needs no decision.

    It runs in NumPy then, where its inputs are.
    """

    __slots__ = ("elements", "even", "narrow", "product", "side")

    def __init__(self) -> None:
        self.set(LARGE)

    def set(
        self, elements: int, *, narrow: int | None = None, product: int | None = None, even: int | None = None
    ) -> None:
        """Set all of them; those that are left out are as `elements`."""
        self.elements = elements
        """For all dtypes and shapes."""
        self.narrow = elements if narrow is None else narrow
        """For dtypes of at most `_cost.WIDTHS[0]` bytes."""
        self.even = elements if even is None else even
        """For inputs of one shape, and scalars beside them."""
        self.product = elements if product is None else product
        """For two arrays, however they broadcast or are multiplied: the product of their elements."""
        self.side = math.isqrt(self.product - 1) + 1 if self.product else 0
        """For each of the two."""


LARGE: Final = 10_000
"""Elements from which a call is large; the limit of every function until the profile was looked for."""
MOST: Final = (1 << 30) - 1
"""The limit where there is none: the greatest of the integers that Python compares fast."""

state: Final = _State()
"""Looked at by who must not call to know."""
_limits: Final[dict[str, Limit]] = {}


def limit_of(function: str) -> Limit:
    """The limit of a function: one object, changed when a model is there."""
    return _limits.setdefault(function, Limit())


def use(found: cost.Model | None) -> None:
    """Decide by this model from now on."""
    state.is_known, state.model = True, found
    for function, limit in _limits.items():
        if found is None:
            limit.set(MOST)
            continue
        usual, narrow = (found.limits(function, widths) for widths in (cost.WIDTHS, cost.WIDTHS[:1]))
        limit.set(
            _whole(usual.elements),
            narrow=_whole(narrow.elements),
            product=_whole(usual.product),
            even=_whole(usual.even),
        )
    _clear()


def _whole(elements: float) -> int:
    return math.ceil(min(MOST, elements))


def without(found: cost.Model, names: Sequence[str]) -> cost.Model:
    """The model of a machine without these backends."""
    if not names:
        return found
    left = {name: costs for name, costs in found.backends.items() if name not in names}
    return found._replace(backends=left)


def leave_out(names: Sequence[str]) -> None:
    """Choose among the other backends from now on."""
    if state.model is not None and not state.model.backends.keys().isdisjoint(names):
        state.model = without(state.model, names)
        _clear()  # but the limits, which take a tenth of a second, and are rather too low now


_before_fork: Final[set[str]] = set()
"""Libraries that were imported in the process of which this one is a fork."""


def _forked() -> None:
    # The child has none of the other threads, so what they hold would never be given back.
    state.looking, state.is_looking = threading.RLock(), False
    # Nor those that work for those libraries: a call of theirs would wait for ever.
    rows = libraries.LIBRARIES.values()
    _before_fork.update([row.name for row in rows if row.name != NUMPY and row.package in sys.modules])
    if state.model is not None:
        leave_out([name for name in state.model.backends if not may_be_here(name)])


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


def may_be_here(name: str) -> bool:
    """Whether a backend can be used, as far as is known.

    Does not import its library to find out.
    """
    try:
        library = registry.parse(name)[0]
        if registry.is_loaded(library):
            registry.backend_of_name(name)
    except errors.BackendError:
        return False  # of a library that is unknown here, or a device that this process does not see
    return library.name not in _before_fork


def found_here(name: str) -> Backend | None:
    """The backend of a name, its library imported; None if unusable here.

    One that cannot be used is left out of the choice from now on.
    """
    known = registry._backends.get(name)
    if known is not None and known.library not in _before_fork:
        return known
    if may_be_here(name):
        try:
            return registry.backend_of_name(name)
        except Exception:  # noqa: BLE001 - a broken installation may raise anything
            pass
    leave_out([name])
    return None


def forget() -> None:
    """Look for the profile again at the next large call."""
    state.is_known, state.model, state.is_silent = False, None, True
    for limit in _limits.values():
        limit.set(LARGE)
    _clear()


def _clear() -> None:
    prospect_of.cache_clear()
    _missed.clear()
    compiled.clear()
    unable.clear()
    accounts.forget_memory()
    for calls in _numpys.values():
        calls.clear()


_numpys: Final[dict[str, dict[Any, Resident]]] = {}
MOST_CALLS: Final = 4096


def calls_of_numpy(function: str) -> dict[Any, Resident]:
    """Calls of a function that stay in NumPy, as they are found.

    A call is whether it has an axis, then the shape and the dtype of each array. One object, which is emptied in place.
    """
    return _numpys.setdefault(function, {})


_missed: Final[OrderedDict[Any, Seconds]] = OrderedDict()
"""What calls with the same function, shapes and dtypes missed: pays for what is bought once, as compiling is."""
MOST_MISSED: Final = 1024
compiled: Final[set[Any]] = set()
"""What ran on a backend before: (its name, function, shapes, dtypes)."""
MOST_COMPILED: Final = 1 << 16
unable: Final[set[tuple[str, str]]] = set()
"""Backends and functions that they turned out to lack."""


class Prospect(NamedTuple):
    """What is predicted of calls with the same function, shapes and dtypes."""

    call: cost.Call | None
    seconds: Mapping[str, float]
    """Of the call alone, by backend; empty if nothing is known."""
    key: Any
    is_numpys: bool
    """Whether no backend is enough faster than NumPy, as far as is known."""
    settled: frozenset[str]
    """The other backends from which nobody is enough faster for a move to be weighed."""
    known: cost.Model | None
    """The model that it is predicted by."""


class Resident(NamedTuple):
    """A call of NumPy's Arrays that stays there, for now or for good."""

    prospect: Prospect
    waits: tuple[Wait, ...] = ()
    """For each backend that is enough faster; on each something must be bought first."""


class Wait(NamedTuple):
    """What must be missed before a backend is worth what is bought once."""

    name: str
    package: str | None
    """Of its library, if that is not imported: once it is, the price is another."""
    needed: float
    """Seconds that calls alike have missed then."""


@functools.lru_cache(maxsize=4096)
def prospect_of(function: str, shapes: tuple[Shape, ...], dtypes: tuple[DType, ...], axis: cost.Axis) -> Prospect:
    known, found = state.model, cost.call(function, shapes, dtypes, axis=axis)
    key = (function, shapes, tuple([dtype.name for dtype in dtypes]), axis)
    if known is None or found is None:
        return Prospect(None, {}, key, True, frozenset(), known)
    predicted = {name: known.seconds(name, found) for name in known.backends}
    seconds = {name: one for name, one in predicted.items() if one is not None}
    is_numpys = NUMPY in seconds and all(
        one + cost.DECIDING > cost.gain(name, found.kind) * seconds[NUMPY]
        for name, one in seconds.items()
        if name != NUMPY
    )
    settled = [
        here
        for here, its in seconds.items()
        if here != NUMPY
        and not any(gains(Stay(here, its, 0.0), name, found.kind, one, 0.0) for name, one in seconds.items())
    ]
    return Prospect(found, seconds, key, is_numpys, frozenset(settled), known)


def missed_by(key: Any) -> Seconds:
    """What calls like this one missed."""
    found = _missed.get(key)
    if found is None:
        found = _missed[key] = {}
        if len(_missed) > MOST_MISSED:
            _missed.popitem(last=False)
    return found
