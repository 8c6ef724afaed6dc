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
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from anyarray._base import errors
from anyarray._base.dtypes import DType
from anyarray._choice import accounts, cost, learning
from anyarray._choice.accounts import CallAccounts, Seconds
from anyarray._choice.cost import NUMPY
from anyarray._registry import libraries, registry
from anyarray._registry.home import Home
from anyarray._registry.registry import Backend

Shape = tuple[int, ...]


class _State:
    """The model of this process, loaded once."""

    def __init__(self) -> None:
        self.is_known = False
        self.model: cost.Model | None = None
        self.is_hint_done = True
        """Whether the hint about a missing profile is not needed, or was logged."""
        self.is_shadowing_told = False
        """Whether it was logged that this package hides an installed one with compiled calls."""
        self.is_loading = False
        self.imported: list[str] = []
        """The backends of the model whose libraries were imported at the last decision."""
        self.load_lock = threading.RLock()
        """Held while the profile is loaded."""


class Limit:
    """The `cost.Limits` of a function, in whole elements.

    A smaller call runs in NumPy, if its inputs are there.
    """

    __slots__ = ("elements", "even", "product", "recorded", "side")

    def set(self, limits: cost.Limits) -> None:
        """Set all thresholds."""
        self.elements, self.product, self.even, self.recorded = [math.ceil(min(MOST, one)) for one in limits]
        self.side = math.isqrt(self.product - 1) + 1 if self.product else 0
        """For each of two arrays: the square root of `product`."""


LARGE: Final = 10_000
"""Elements from which an array is large."""
RECORDED: Final = 1 << 15
"""Elements of the result of an elementwise call from which on it is recorded, to run with others."""
MOST: Final = (1 << 30) - 1
"""The threshold for "never": the largest int of one digit, which CPython compares fast."""

state: Final = _State()
"""The state; a global for code that cannot afford a call."""
_limits: Final[dict[str, Limit]] = {}


PATIENCE: Final = 0.25
"""Seconds of large calls, as `cost.usual` has them, until the profile is read, unless another library is imported.

Until then no move can pay, as to import a library takes several times as long. To read the profile and to decide for
the first time takes some 8 ms, which a short program is spared. A clock would not tell the same in every run.
"""


early: Final = {"left": PATIENCE}
"""What is left of it. `_speedups/entry/kept.c` takes from it, too, for calls alike; it asks not what is imported."""


def is_early(seconds: float) -> bool:
    """Whether a call that usually takes so long need not be decided about yet.

    Nor the profile be read.
    """
    if state.is_known:
        return False
    early["left"] -= seconds
    return early["left"] > 0 and not any(
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
    state.is_known, state.model, state.imported = True, found, []
    _waiting.clear()
    if found is None:
        for limit in _limits.values():
            limit.set(cost.NEVER)
    elif are_limits_due:
        for function in _limits:
            set_limit(function)
    else:
        _postpone_limits()
    _clear()


def note_imports(names: list[str]) -> None:
    """Note of which backends of the model the libraries are imported.

    Calls in NumPy are timed once there is another one, so then all are decided about again.
    """
    if state.imported and state.imported != names and learning.is_on():
        _postpone_limits()
        forget_decisions()
    state.imported = names


def _postpone_limits() -> None:
    """Set each threshold at the first large call of its function."""
    for function in _limits:
        _waiting.add(function)
        _unmeasured(function)


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


def is_limit_due(function: str) -> bool:
    """Whether the thresholds of a function are not its own yet."""
    return function in _waiting


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
    state.is_known, state.model, state.is_hint_done, early["left"] = False, None, True, PATIENCE
    _waiting.clear()
    learning.forget()
    for function in _limits:
        _unmeasured(function)
    _clear()


def _clear() -> None:
    _missed.clear()
    compiled.clear()
    unable.clear()
    chain_factors.clear()
    accounts.by_memory.clear()  # so views inherit none any more
    forget_decisions()


def forget_decisions() -> None:
    """Decide anew about all calls: the model, or what was learned, changed."""
    prediction_of.cache_clear()
    for kept in _kept_calls.values():
        kept.clear()


_kept_calls: Final[dict[str, dict[Any, KeptCall]]] = {}
MOST_CALLS: Final = 4096


def kept_calls(function: str) -> dict[Any, KeptCall]:
    """A cache of where calls of a function run, by `automatic.key_of`.

    One dict per function, which is cleared in place; `_speedups/entry/kept.c` reads it, too.
    """
    return _kept_calls.setdefault(function, {})


def keep_call(function: str, key: Any, call: KeptCall) -> None:
    """Let calls of a function with this key run without a decision."""
    calls = kept_calls(function)
    if len(calls) >= MOST_CALLS:
        calls.clear()
    calls[key] = call


_missed: Final[OrderedDict[Any, Seconds]] = OrderedDict()
"""Missed savings by function, shapes and dtypes: they pay for what is paid once, such as compilation."""
MOST_MISSED: Final = 1024
compiled: Final[set[Any]] = set()
"""The calls that ran on a backend before: (its name, `Prediction.key`)."""
MOST_COMPILED: Final = 1 << 16
chain_factors: Final[dict[Any, float]] = {}
"""What the predicted time of a chain is multiplied by on a backend: of its name and a `whole_chains.Workload`."""
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


class KeptCall(NamedTuple):
    """A call that is to run on a backend without another decision."""

    at_once: Home | None
    """The home where it runs if nothing is to be asked or brought there."""
    gains: tuple[tuple[str, float], ...]
    """Seconds that it misses on each other backend; negative if it takes longer there."""
    backend: Backend
    here: str
    """The backend of its inputs."""
    waits: tuple[Threshold, ...]
    """One for each backend that may pay later, if it stays."""
    alike: Seconds
    """Missed savings of calls with the same function, shapes and dtypes."""
    nbytes: float
    """What it takes on a backend to which it moves, if that is to be asked for room."""
    early: tuple[Seconds, float] | None = None
    """`early` and the usual seconds of the call that are taken from it, if the profile was not read yet."""


class Threshold(NamedTuple):
    """The missed savings from which on a move may pay, in seconds."""

    name: str
    lineage: float
    """Those of the calls that led to the inputs."""
    alike: float = 0.0
    """Those of calls with the same function, shapes and dtypes."""
    package: str = ""
    """The package of its library if that is not imported: importing it changes the price."""
    compiled: Any = None
    """What is in `compiled` once another call has paid for compiling."""

    def is_reached(self, its: CallAccounts) -> bool:
        """Whether a decision must be made."""
        return (
            self.package in sys.modules
            or self.compiled in compiled
            or (its.missed(self.name) >= self.lineage and its.alike.get(self.name, 0.0) >= self.alike)
        )


@functools.lru_cache(maxsize=4096)
def prediction_of(function: str, shapes: tuple[Shape, ...], dtypes: tuple[DType, ...], axis: cost.Axis) -> Prediction:
    known, found = state.model, cost.call(function, shapes, dtypes, axis=axis)
    key = (function, shapes, tuple([dtype.name for dtype in dtypes]), axis)
    if known is None or found is None:
        return Prediction(None, {}, key, known, dtypes)
    predicted = {name: known.seconds(name, found) for name in known.backends}
    seconds = {name: one * learning.factor(name, found) for name, one in predicted.items() if one is not None}
    return Prediction(found, seconds, key, known, dtypes)


def missed_by(key: Any) -> Seconds:
    """The missed savings of calls with this key."""
    found = _missed.get(key)
    if found is None:
        found = _missed[key] = {}
        if len(_missed) > MOST_MISSED:
            _missed.popitem(last=False)
    return found
