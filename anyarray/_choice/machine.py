"""State of the automatic choice in this process.

It is the model of the machine, the thresholds below which no decision is made, the backends that turned out to be
unusable, and caches of predictions. `automatic` loads the model from the profile.
"""

from __future__ import annotations

import functools
import math
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from anyarray._base import errors, extension
from anyarray._base.dtypes import DType
from anyarray._choice import cost, learning
from anyarray._choice.cost import NUMPY
from anyarray._registry import libraries, registry
from anyarray._registry.home import Home
from anyarray._registry.registry import Backend

Shape = tuple[int, ...]


PATIENCE: Final = 0.25
"""Seconds of large calls, as `cost.usual` has them, until the profile is read, unless another library is imported.

Until then no move can pay, as to import a library takes several times as long. To read the profile and to decide for
the first time takes some 8 ms, which a short program is spared. A clock would not tell the same in every run.
"""


class _State:
    """The model of this process, loaded once."""

    def __init__(self) -> None:
        self.is_known = False
        self.model: cost.Model | None = None
        self.is_hint_done = True
        """Whether the hint about a missing profile is not needed, or was logged."""
        self.is_shadowing_logged = False
        """Whether it was logged that this package hides an installed one with compiled calls."""
        self.is_loading = False
        self.patience = PATIENCE
        """What is left of it."""
        self.load_lock = threading.RLock()
        """Held while the profile is loaded."""


class Limit:
    """The `cost.Limits` of a function, in whole elements.

    A smaller call runs in NumPy, if its inputs are there.
    """

    __slots__ = ("elements", "even", "product", "recorded")

    def set(self, limits: cost.Limits) -> None:
        """Set all thresholds."""
        self.elements, self.product, self.even, self.recorded = [math.ceil(min(MOST, one)) for one in limits]


LAZY: Final = getattr(extension.speedups, "Lazy", None)
"""The class of what an Array has whose call is recorded, and which has no memory yet."""
LARGE: Final = 10_000
"""Elements from which an array is large."""
RECORDED: Final = 1 << 15
"""Elements of the result of an elementwise call from which on it is recorded, to run with others."""
MOST: Final = (1 << 30) - 1
"""The threshold for "never": the largest int of one digit, which CPython compares fast."""

state: Final = _State()
"""The state; a global for code that cannot afford a call."""
_limits: Final[dict[str, Limit]] = {}


def is_early(seconds: float) -> bool:
    """Whether a call that usually takes so long need not be decided about yet.

    Nor the profile be read.
    """
    if state.is_known:
        return False
    state.patience -= seconds
    return state.patience > 0 and not any(
        row.package in sys.modules for row in libraries.LIBRARIES.values() if row.name != NUMPY
    )


def limit_of(function: str) -> Limit:
    """The thresholds of a function: one object, mutated by each new model."""
    if function not in _limits:
        _limits[function] = Limit()
        _unmeasured(function)
    return _limits[function]


def use(found: cost.Model | None, *, are_limits_due: bool = True) -> None:
    """Set the model, or None, and all thresholds by it.

    If they are not due, each is set at the first large call of its function, when it is known how long that takes.
    """
    state.is_known, state.model = True, found
    _waiting.clear()
    if found is None:
        for limit in _limits.values():
            limit.set(cost.NEVER)
    elif are_limits_due:
        for function in _limits:
            set_limit(function)
    else:
        for function in _limits:
            _waiting.add(function)
            _unmeasured(function)
    _clear()


_waiting: Final[set[str]] = set()
"""Functions whose thresholds are still those of any machine."""


def _unmeasured(function: str) -> None:
    """Set the thresholds of a function to those of any machine."""
    _limits[function].set(cost.usual_limits(cost.class_of.get(cost.predicted_as(function), "")))


def set_limit(function: str, *, factor: float = 1.0) -> None:
    """Set the thresholds of a function by the model.

    NumPy was found to take `factor` times as long as predicted.
    """
    _waiting.discard(function)
    if state.model is not None:
        _limits[function].set(state.model.limits(function, factor=factor))


def measure_limit(function: str) -> None:
    """Set the thresholds of a function, if that is due."""
    if function in _waiting:
        set_limit(function)


def without(found: cost.Model, names: Sequence[str]) -> cost.Model:
    """The model without these backends."""
    if not names:
        return found
    left = {name: costs for name, costs in found.backends.items() if name not in names}
    return found._replace(backends=left)


def exclude(names: Sequence[str]) -> None:
    """Exclude these backends from the automatic choice from now on."""
    if state.model is not None and not state.model.backends.keys().isdisjoint(names):
        state.model = without(state.model, names)
        _clear()  # the thresholds stay, as they take 0.1 s to compute: they may only be too low now


_before_fork: Final[set[str]] = set()
"""Libraries that were imported in the parent process before a fork."""


def _forked() -> None:
    # The child has none of the other threads, so a lock that one of them held would never be released.
    state.load_lock, state.is_loading = threading.RLock(), False
    # Nor the worker threads of the imported libraries: a call would deadlock.
    rows = libraries.LIBRARIES.values()
    _before_fork.update([row.name for row in rows if row.name != NUMPY and row.package in sys.modules])
    if state.model is not None:
        exclude([name for name in state.model.backends if not may_be_usable(name)])


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


def may_be_usable(name: str) -> bool:
    """Whether a backend may be usable; does not import its library."""
    try:
        library = registry.parse(name)[0]
        if registry.is_loaded(library):
            registry.backend_of_name(name)
    except errors.BackendError:
        return False  # an unknown library, or a device that this process does not see
    return library.name not in _before_fork


def usable_backend(name: str) -> Backend | None:
    """The backend of a name, its library imported; None if unusable.

    An unusable backend is excluded from the automatic choice from now on.
    """
    known = registry._backends.get(name)
    if known is not None and known.library not in _before_fork:
        return known
    if may_be_usable(name):
        try:
            return registry.backend_of_name(name)
        except Exception:  # noqa: BLE001 - a broken installation may raise anything
            pass
    exclude([name])
    return None


def forget() -> None:
    """Load the profile again at the next large call."""
    state.is_known, state.model, state.is_hint_done, state.patience = False, None, True, PATIENCE
    _waiting.clear()
    learning.forget()
    for function in _limits:
        _unmeasured(function)
    _clear()


def _clear() -> None:
    for accounts in _accounts.values():
        accounts.clear()
    compiled.clear()
    unable.clear()
    forget_decisions()


def forget_decisions() -> None:
    """Decide anew about all calls, as what was learned changed."""
    prediction_of.cache_clear()
    for kept in _at_home.values():
        kept.clear()
    for accounts in _accounts.values():
        for one in list(accounts.values()):
            one.backend = None


class Wait(NamedTuple):
    """What an offer waits for that does not pay yet."""

    name: str
    gain: float
    """Seconds that each call misses."""
    needed: float
    """The missed savings from which on it may pay."""
    package: str = ""
    """The package of its library if that is not imported: importing it changes the price."""

    def is_reached(self, missed: Mapping[str, float]) -> bool:
        """Whether a decision must be made."""
        return self.package in sys.modules or missed.get(self.name, 0.0) >= self.needed


class Account:
    """Savings that calls alike have missed, and where they run."""

    __slots__ = ("backend", "missed", "nbytes", "waits")

    def __init__(self) -> None:
        self.missed: dict[str, float] = {}
        """Seconds, by backend."""
        self.backend: Backend | None = None
        """Where they run; None if that is to be decided."""
        self.nbytes = 0.0
        """What a call takes on a backend to which it moves, if that is to be asked for room."""
        self.waits: tuple[Wait, ...] = ()


_accounts: Final[dict[str, dict[Any, Account]]] = {}
_at_home: Final[dict[str, dict[Any, Home]]] = {}
MOST_CALLS: Final = 4096


def accounts_of(function: str) -> dict[Any, Account]:
    """The accounts of calls of a function, by `automatic.key_of`."""
    return _accounts.setdefault(function, {})


def account(function: str, key: Any) -> Account:
    """The account of calls of a function with this key."""
    accounts = accounts_of(function)
    found = accounts.get(key)
    if found is None:
        _add(accounts, key, found := Account())
    return found


def _add(kept: dict[Any, Any], key: Any, value: Any) -> None:
    """Add an entry to a dict, cleared before it has more than `MOST_CALLS`."""
    if len(kept) >= MOST_CALLS:
        kept.clear()
    kept[key] = value


def at_home(function: str) -> dict[Any, Home]:
    """Where calls of a function run that need nothing else, by their key.

    One dict per function, which is cleared in place: `_speedups/entry/choice.c` reads it.
    """
    return _at_home.setdefault(function, {})


def keep_at_home(function: str, key: Any, home: Home) -> None:
    """Let calls of a function with this key run where their inputs are."""
    _add(at_home(function), key, home)


compiled: Final[set[Any]] = set()
"""The calls that ran on a backend before: (its name, `Prediction.key`)."""
MOST_COMPILED: Final = 1 << 16


def note_compiled(name: str, key: Any) -> None:
    """Note that a call ran on a backend, which has compiled it."""
    if len(compiled) > MOST_COMPILED:
        compiled.clear()
    compiled.add((name, key))


unable: Final[set[tuple[str, str]]] = set()
"""Backends and functions that they turned out to lack."""


class Prediction(NamedTuple):
    """The prediction for calls with the same function, shapes and dtypes."""

    call: cost.Call | None
    seconds: Mapping[str, float]
    """Seconds of the call itself, by backend; empty if not measured."""
    key: Any
    known: cost.Model | None
    """The model of the prediction."""
    dtypes: tuple[DType, ...]

    def by_profile(self, name: str) -> float:
        """Seconds on a backend without what was learned; 0 if unmeasured."""
        return (self.call and self.known and self.known.seconds(name, self.call)) or 0.0


@functools.lru_cache(maxsize=4096)
def prediction_of(function: str, shapes: tuple[Shape, ...], dtypes: tuple[DType, ...], axis: cost.Axis) -> Prediction:
    known, found = state.model, cost.call(function, shapes, dtypes, axis=axis)
    key = (function, shapes, tuple([dtype.name for dtype in dtypes]), axis)
    if known is None or found is None:
        return Prediction(None, {}, key, known, dtypes)
    predicted = {name: known.seconds(name, found) for name in known.backends}
    seconds = {name: one * learning.factor(name, found) for name, one in predicted.items() if one is not None}
    return Prediction(found, seconds, key, known, dtypes)
