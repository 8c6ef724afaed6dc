"""Where a whole function under `jit` runs: measured, once it was tried."""

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
    """Where a compiled function runs, for one kind of arguments.

    That is one structure and one set of shapes. It starts where its arguments are, and that is timed. What a backend
    would take is predicted from the measured chain, compiled there, until the backend was tried; then it is what was
    measured. A backend is tried, once, when the savings missed so far are twice its price (compiling, importing,
    bringing the arguments), and kept if it is faster. What compiling takes is what it took for other arguments, if it
    did, else what it took for the measured chain. Where the function fails there, as it may where it is traced, it
    is called where its arguments are, from then on. If a policy leaves out the one where the arguments are, the best of
    those that it leaves in is taken.
    """

    MOST: Final = 3
    """Calls of each backend that are timed, the compiling one aside; the least of them counts."""
    CHOOSING: Final = 3e-5
    """Seconds that a choice takes: where no backend can win more by a call, none is made any more."""

    def __init__(self, candidates: tuple[str, ...] | None = None, compiling: Seconds | None = None) -> None:
        self._candidates = candidates
        self._compiling: Seconds = {} if compiling is None else compiling
        """The least time of a call that compiled the function, for whatever arguments, by backend."""
        self.measured: dict[str, list[float]] = {}
        """Seconds of the calls on each backend, those that compiled left out."""
        self.missed: Seconds = {}
        self._unable: set[str] = set()
        """Backends on which it failed."""
        self._resting: tuple[str, cost.Model] | None = None
        """Where it runs for good, by this model."""

    def may_run_on(self, home: Home) -> bool:
        """Whether a policy leaves this in."""
        return self._candidates is None or home.backend.name in self._candidates

    def give_up(self, there: Home, home: Home, failure: Exception) -> None:
        """Try a backend no more, on which failed what succeeded at home."""
        self._unable.add(there.backend.name)
        if registry.is_out_of_memory(failure):
            warn_of_memory("jit", there.backend, home.backend)

    def seconds(self, name: str) -> float | None:
        """The least time of a measured call on a backend; None without one."""
        times = self.measured.get(name, [])
        return min(times, default=None)

    def note(self, name: str, seconds: float) -> None:
        """Count a call; the first where it compiles tells what that takes."""
        if name in self.measured or name == NUMPY:
            self.measured.setdefault(name, []).append(seconds)
        else:
            self.measured[name] = []
            self._compiling[name] = min(seconds, self._compiling.get(name, seconds))

    def is_settled(self, name: str) -> bool:
        """Whether a call on this backend need not be timed any more."""
        return len(self.measured.get(name, [])) >= self.MOST

    def rests_on(self, name: str) -> bool:
        """Whether a call on this backend need not be decided about."""
        return self._resting is not None and self._resting[0] == name and self._resting[1] is state.model

    def rest(self, name: str, known: cost.Model) -> None:
        """Decide no more about calls on a backend.

        It is where the function was timed often enough, and no other can win what deciding takes.
        """
        if self.is_settled(name):
            self._resting = name, known

    def decide(self, function: str, here: Home, arrays: Sequence[Any]) -> Decision:
        """Where the next call runs, and why.

        Its arguments are `here`, or are brought there.
        """
        decision = Decision(function, shapes_of(arrays), here, here)
        making = _WholeMaking(self, decision, arrays, state.model)
        if not self.may_run_on(here):
            making.leave()
        else:
            making.settle(making.choose())
        return decision


class _WholeMaking:
    """One decision in the making, about a call of a whole function."""

    def __init__(
        self, whole: WholeFunction, decision: Decision, arrays: Sequence[Any], known: cost.Model | None
    ) -> None:
        sizes = [math.prod(shape) for shape in decision.shapes]
        self.whole, self.decision, self.arrays, self.known = whole, decision, arrays, known
        self.here = decision.stay.backend.name
        self.dtypes = [a._home.dtype(a._native) for a in arrays]
        self.nbytes = [size * dtype.itemsize for size, dtype in zip(sizes, self.dtypes, strict=True)]
        self.elements = max(sizes)
        widest = max(dtype.itemsize for dtype in self.dtypes)
        self.width = cost.WIDTHS[0] if widest <= cost.WIDTHS[0] else cost.WIDTHS[1]

    def price(self, name: str, known: cost.Model) -> _Price:
        """What running elsewhere takes beside the call."""
        whole, costs = self.whole, known.backends[name]
        once = 0.0
        if name in whole.measured:  # with what going on with another library takes
            bringing = prices.bringing(self.arrays, self.nbytes, name, known)
        else:
            bringing = prices.arriving(self.arrays, self.nbytes, name, self.here, known)
            once = whole._compiling.get(name, costs.compiling) + prices.importing(name, known)
        return _Price(bringing, bringing + known.bringing(name, self.here, max(self.nbytes)), once)

    def leave(self) -> None:
        """Turn to the best that a policy leaves in; it leaves this one out."""
        candidates, decision, known = self.whole._candidates or (), self.decision, self.known
        for name in candidates:
            costs = None if known is None else known.backends.get(name)
            if known is not None and costs is not None and self.width in costs.fused:
                was, its = self.whole.seconds(name), self.price(name, known)
                working = costs.fused[self.width](self.elements) if was is None else was
                decision.predicted[name] = working + its.moving + its.once
        decision.home = prices.narrowed(decision.function, decision.predicted, candidates, self.dtypes).free
        decision.reason = LEFT_OUT.format(self.here)

    def choose(self) -> str:
        """The best backend; the decision gets what speaks for it."""
        whole, decision, known, here = self.whole, self.decision, self.known, self.here
        staying = whole.seconds(here)
        if known is None or here not in known.backends:
            decision.reason = f"stays on {here}, which is not measured"
            return here
        if staying is None:
            decision.reason = f"stays on {here}: not timed there yet"
            return here
        ours = known.backends[here].fused.get(self.width)
        alone = {here: staying}
        best, least, most_saved = here, staying, 0.0
        decision.predicted[here] = staying
        for name, costs in known.backends.items():
            curve, was = costs.fused.get(self.width), whole.seconds(name)
            if name == here or name in whole._unable or curve is None or ours is None:
                continue
            if whole._candidates is not None and name not in whole._candidates:
                continue
            working = alone[name] = staying * curve(self.elements) / ours(self.elements) if was is None else was
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
                decision.reason = why_moving(here, pays_alone=pays_alone)
        decision.alone = alone
        if best == here:
            decision.reason = why_staying(here, alone, is_more_gained=True)
            if most_saved <= whole.CHOOSING:
                whole.rest(here, known)
        return best

    def settle(self, best: str) -> None:
        """Turn the decision to what was chosen, if that has the dtypes."""
        decision = self.decision
        if best == self.here:
            return
        if prices.has_dtypes(best, self.dtypes):
            decision.home = registry.backend_of_name(best).free
        else:
            decision.transferred = decision.bought = 0.0
            decision.reason = f"stays on {self.here}: {best} has not all its dtypes"


class _Price(NamedTuple):
    """Seconds that a function takes elsewhere beside its own."""

    bringing: float
    """Of its arguments, and of going on with another library."""
    moving: float
    """The same, and the result back."""
    once: float
    """Importing and compiling, where it did not run yet."""
