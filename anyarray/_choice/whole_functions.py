"""Where a whole function under `jit` runs: predicted, then measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from anyarray._base.dtypes import DType
from anyarray._choice import automatic, cost, learning
from anyarray._choice.automatic import LEFT_OUT, TWICE, Decision, Offer, shapes_of, why_moving, why_staying
from anyarray._choice.cost import NUMPY
from anyarray._choice.machine import state
from anyarray._registry import registry
from anyarray._registry.home import Home


class WholeFunction:
    """Where a compiled function runs, for one structure and set of shapes.

    Its first calls run where its arguments are, and are timed. The time on another backend is predicted from the
    measured chain, compiled there, until the backend was tried; from then on it is what was measured. A backend is
    tried, once, when the savings missed so far are twice its price (compilation, import, transfer of arguments), and
    kept if it is faster. The time of compilation is what it was for other arguments, if any, else that of the measured
    chain. If the function fails on a backend, as it may under a trace, it runs where its arguments are from then on. If
    a policy excludes that backend, it runs on the best one that the policy allows. Where learning is off nothing is
    timed, and it stays where its arguments are.
    """

    MOST: Final = 3
    """Number of calls that are timed on each backend, without the compiling one; the minimum counts."""
    CHOOSING: Final = 3e-5
    """Seconds that a decision takes: if no backend can save more per call, no more decisions are made."""

    def __init__(self, candidates: tuple[str, ...] | None = None, compiling: dict[str, float] | None = None) -> None:
        self._candidates = candidates
        self._compiling: dict[str, float] = {} if compiling is None else compiling
        """The minimum time of a call that compiled the function, for any arguments, by backend."""
        self.measured: dict[str, list[float]] = {}
        """Seconds of the calls on each backend, without those that compiled."""
        self.missed: dict[str, float] = {}
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
            automatic.warn_of_memory("jit", there.backend, home.backend)

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
        """Whether no more calls on this backend are to be timed."""
        return not learning.is_on() or len(self.measured.get(name, [])) >= self.MOST

    def rests_on(self, name: str) -> bool:
        """Whether a call on this backend needs no decision."""
        return self._resting is not None and self._resting[0] == name and self._resting[1] is state.model

    def decide(self, function: str, here: Home, arrays: Sequence[Any]) -> Decision:
        """Where the next call runs, and why.

        Its arguments are on `here`, or would be transferred there.
        """
        decision, known, name = Decision(function, shapes_of(arrays), here, here), state.model, here.backend.name
        dtypes = [a._home.dtype(a._value) for a in arrays]
        offers = {} if known is None else self._offers(name, arrays, dtypes, known)
        decision.predicted = {there: offer.working + offer.price for there, offer in offers.items()}
        if not self.may_run_on(here):
            decision.home = automatic.narrowed(function, decision.predicted, self._candidates or (), dtypes).free
            decision.reason = LEFT_OUT.format(name)
        elif known is None or name not in known.backends:
            decision.reason = f"stays on {name}, which is not measured"
        elif self.seconds(name) is None:
            decision.reason = f"stays on {name}: " + ("not timed there yet" if learning.is_on() else "nothing is timed")
            if not learning.is_on():
                self._resting = name, known
        else:
            self._choose(decision, offers, known, dtypes)
        return decision

    def _offers(self, here: str, arrays: Sequence[Any], dtypes: Sequence[DType], known: cost.Model) -> dict[str, Offer]:
        """What running on each other backend takes, if something tells."""
        sizes = [math.prod(shape) for shape in shapes_of(arrays)]
        nbytes = [size * dtype.itemsize for size, dtype in zip(sizes, dtypes, strict=True)]
        is_narrow = max(dtype.itemsize for dtype in dtypes) <= cost.WIDTHS[0]
        laws = {name: costs.fused for name, costs in known.backends.items() if costs.fused is not None}
        chain = {name: law(max(sizes), is_narrow=is_narrow) for name, law in laws.items()}
        staying = self.seconds(here)
        if staying is not None and here not in chain:
            return {}
        scale = 1.0 if staying is None else staying / chain[here]
        found: dict[str, Offer] = {}
        for name in chain:
            if name != here and name not in self._unable and (not self._candidates or name in self._candidates):
                arriving, once = automatic.bringing(arrays, nbytes, name, known), 0.0
                if name not in self.measured:
                    compiling = self._compiling.get(name, known.backends[name].compiling)
                    once = compiling + automatic.importing(name, known)
                was = self.seconds(name)
                working = chain[name] * scale if was is None else was
                found[name] = Offer(name, working, arriving, known.bringing(name, here, max(nbytes)), once)
        return found

    def _choose(self, decision: Decision, offers: dict[str, Offer], known: cost.Model, dtypes: Sequence[DType]) -> None:
        """Set the decision to the best backend.

        The call was timed where it is.
        """
        here, best = decision.stay.backend.name, ""
        staying = self.seconds(here) or 0.0
        decision.alone = alone = {here: staying, **{name: offer.working for name, offer in offers.items()}}
        decision.predicted[here] = staying
        decision.reason = why_staying(here, alone, is_more_gained=True)
        for name, offer in offers.items():
            saving = missed = staying - offer.working
            if self.seconds(name) is None:
                missed = self.missed[name] = self.missed.get(name, 0.0) + saving
            pays = saving >= offer.price or missed >= TWICE * offer.price
            if saving > 0 and pays and offer.working < alone[best or here]:
                best = name
        if not best:
            if staying - min(alone.values()) <= self.CHOOSING and self.is_settled(here):
                self._resting = here, known
            return
        offer, imported = offers[best], automatic.importing(best, known)
        if automatic.has_dtypes(best, dtypes):  # imports it
            decision.home = registry.backend_of_name(best).free
            decision.transferred, decision.bought, decision.imported = offer.arriving, offer.once, imported
            decision.reason = why_moving(here, pays_alone=decision.predicted[best] <= staying)
        else:
            decision.reason = f"stays on {here}: {best} has not all its dtypes"
