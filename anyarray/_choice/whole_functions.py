"""Where a whole function under `jit` runs: predicted, then measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from anyarray._choice import cost, prices
from anyarray._choice.accounts import Seconds
from anyarray._choice.automatic import LEFT_OUT, Decision, shapes_of, warn_of_memory, why_moving, why_staying
from anyarray._choice.cost import NUMPY
from anyarray._choice.machine import state
from anyarray._choice.rule import TWICE
from anyarray._registry import registry
from anyarray._registry.home import Home


class WholeFunction:
    """Where a compiled function runs, for one structure and set of shapes.

    Its first calls run where its arguments are, and are timed. The time on another backend is predicted from the
    measured chain, compiled there, until the backend was tried; from then on it is what was measured. A backend is
    tried, once, when the savings missed so far are twice its price (compilation, import, transfer of arguments), and
    kept if it is faster. The time of compilation is what it was for other arguments, if any, else that of the measured
    chain. If the function fails on a backend, as it may under a trace, it runs where its arguments are from then on. If
    a policy excludes that backend, it runs on the best one that the policy allows.
    """

    MOST: Final = 3
    """Number of calls that are timed on each backend, without the compiling one; the minimum counts."""
    CHOOSING: Final = 3e-5
    """Seconds that a decision takes: if no backend can save more per call, no more decisions are made."""

    def __init__(self, candidates: tuple[str, ...] | None = None, compiling: Seconds | None = None) -> None:
        self._candidates = candidates
        self._compiling: Seconds = {} if compiling is None else compiling
        """The minimum time of a call that compiled the function, for any arguments, by backend."""
        self.measured: dict[str, list[float]] = {}
        """Seconds of the calls on each backend, without those that compiled."""
        self.missed: Seconds = {}
        self._unable: set[str] = set()
        """Backends on which it failed."""
        self._resting: tuple[str, cost.Model] | None = None
        """The backend on which it runs from now on without decisions, and the model by which that was decided."""

    def may_run_on(self, home: Home) -> bool:
        """Whether the policy allows this home."""
        return self._candidates is None or home.backend.name in self._candidates

    def give_up(self, there: Home, home: Home, failure: Exception) -> None:
        """Exclude a backend on which the function failed but not on `home`."""
        self._unable.add(there.backend.name)
        if registry.is_out_of_memory(failure):
            warn_of_memory("jit", there.backend, home.backend)

    def seconds(self, name: str) -> float | None:
        """The minimum of the times on a backend; None without any."""
        times = self.measured.get(name, [])
        return min(times, default=None)

    def note(self, name: str, seconds: float) -> None:
        """Record a timed call; the first on a backend compiles."""
        if name in self.measured or name == NUMPY:
            self.measured.setdefault(name, []).append(seconds)
        else:
            self.measured[name] = []
            self._compiling[name] = min(seconds, self._compiling.get(name, seconds))

    def is_settled(self, name: str) -> bool:
        """Whether enough calls on this backend were timed."""
        return len(self.measured.get(name, [])) >= self.MOST

    def rests_on(self, name: str) -> bool:
        """Whether a call on this backend needs no decision."""
        return self._resting is not None and self._resting[0] == name and self._resting[1] is state.model

    def rest(self, name: str, known: cost.Model) -> None:
        """Make no more decisions about calls on a backend.

        Only if enough calls were timed there; no other backend can save the time of a decision.
        """
        if self.is_settled(name):
            self._resting = name, known

    def decide(self, function: str, here: Home, arrays: Sequence[Any]) -> Decision:
        """Where the next call runs, and why.

        Its arguments are on `here`, or would be transferred there.
        """
        decision = Decision(function, shapes_of(arrays), here, here)
        weighing = _WholeWeighing(self, decision, arrays, state.model)
        if not self.may_run_on(here):
            weighing.apply_policy()
        else:
            weighing.apply(weighing.choose())
        return decision


class _WholeWeighing:
    """The making of one decision, about a call of a whole function."""

    def __init__(
        self, whole: WholeFunction, decision: Decision, arrays: Sequence[Any], known: cost.Model | None
    ) -> None:
        sizes = [math.prod(shape) for shape in decision.shapes]
        self.whole, self.decision, self.arrays, self.known = whole, decision, arrays, known
        self.here = decision.stay.backend.name
        self.dtypes = [a._home.dtype(a._value) for a in arrays]
        self.nbytes = [size * dtype.itemsize for size, dtype in zip(sizes, self.dtypes, strict=True)]
        self.elements = max(sizes)
        widest = max(dtype.itemsize for dtype in self.dtypes)
        self.is_narrow = widest <= cost.WIDTHS[0]

    def price(self, name: str, known: cost.Model) -> _Price:
        """The price of running elsewhere, without the call itself."""
        whole, costs = self.whole, known.backends[name]
        bringing, once = prices.bringing(self.arrays, self.nbytes, name, known), 0.0
        if name not in whole.measured:  # the measured time includes the switch to another library
            bringing += costs.entering
            once = whole._compiling.get(name, costs.compiling) + prices.importing(name, known)
        return _Price(bringing, bringing + known.bringing(name, self.here, max(self.nbytes)), once)

    def apply_policy(self) -> None:
        """Set the decision to the best backend that the policy allows.

        For a policy that excludes the backend of the arguments.
        """
        candidates, decision, known = self.whole._candidates or (), self.decision, self.known
        for name in candidates:
            costs = None if known is None else known.backends.get(name)
            if known is not None and costs is not None and costs.fused is not None:
                was, its = self.whole.seconds(name), self.price(name, known)
                working = costs.fused(self.elements, is_narrow=self.is_narrow) if was is None else was
                decision.predicted[name] = working + its.moving + its.once
        decision.home = prices.narrowed(decision.function, decision.predicted, candidates, self.dtypes).free
        decision.reason = LEFT_OUT.format(self.here)

    def choose(self) -> str:
        """The best backend; sets predictions and reason of the decision."""
        whole, decision, known, here = self.whole, self.decision, self.known, self.here
        staying = whole.seconds(here)
        if known is None or here not in known.backends:
            decision.reason = f"stays on {here}, which is not measured"
            return here
        if staying is None:
            decision.reason = f"stays on {here}: not timed there yet"
            return here
        ours = known.backends[here].fused
        alone = {here: staying}
        best, least, most_saved = here, staying, 0.0
        decision.predicted[here] = staying
        for name, costs in known.backends.items():
            law, was = costs.fused, whole.seconds(name)
            if name == here or name in whole._unable or law is None or ours is None:
                continue
            if whole._candidates is not None and name not in whole._candidates:
                continue
            if was is None:
                n, is_narrow = self.elements, self.is_narrow
                working = staying * law(n, is_narrow=is_narrow) / ours(n, is_narrow=is_narrow)
            else:
                working = was
            alone[name] = working
            its = self.price(name, known)
            decision.predicted[name] = working + its.moving + its.once
            saving = staying - working
            most_saved = max(most_saved, saving)
            if was is None:
                whole.missed[name] = whole.missed.get(name, 0.0) + saving
            pays_alone = saving >= its.moving + its.once
            pays = pays_alone or (was is None and whole.missed[name] >= TWICE * (its.moving + its.once))
            if saving > 0 and pays and working < least:
                best, least = name, working
                decision.transferred, decision.bought = its.bringing, its.once
                decision.imported = prices.importing(name, known)
                decision.reason = why_moving(here, pays_alone=pays_alone)
        decision.alone = alone
        if best == here:
            decision.reason = why_staying(here, alone, is_more_gained=True)
            if most_saved <= whole.CHOOSING:
                whole.rest(here, known)
        return best

    def apply(self, best: str) -> None:
        """Set the decision to the chosen backend, if that has the dtypes."""
        decision = self.decision
        if best == self.here:
            return
        if prices.has_dtypes(best, self.dtypes):
            decision.home = registry.backend_of_name(best).free
        else:
            decision.transferred = decision.bought = decision.imported = 0.0
            decision.reason = f"stays on {self.here}: {best} has not all its dtypes"


class _Price(NamedTuple):
    """Seconds of running a function elsewhere, without the function itself."""

    bringing: float
    """Transfer of its arguments, and the switch to another library."""
    moving: float
    """The same, and transfer of the result back."""
    once: float
    """Import and compilation, if it did not run there yet."""
