"""Where a chain of recorded calls runs: decided for all its calls together.

It is decided when a value is needed. Each call of it that another backend may do faster was decided about when it was
made, by what it saves and what the calls before it missed. As a whole the chain may save what none of them does: all
that it reads is brought once, and only what is needed of it comes back. It moves if that takes less time than NumPy, by
the margin for error of a call that pays alone. The arrays stay where they are, so a chain neither spends nor misses
savings of theirs.

Where calls are learned from, a chain moves only if NumPy's times of its calls were seen, and on each backend a part of
it is timed first. What a chain took corrects what the next one like it is predicted to take.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from anyarray._base.dtypes import DType
from anyarray._choice import automatic, cost, learning, machine
from anyarray._choice.automatic import TWICE, Decision, Offer, cheapest, of_chain
from anyarray._choice.cost import NUMPY
from anyarray._choice.machine import Prediction, state
from anyarray._registry import registry


class Workload(NamedTuple):
    """What the time of recorded calls depends on that run together."""

    calls: tuple[tuple[str, DType], ...]
    """Names of functions, each with the dtype that it reads."""
    elements: int
    read: tuple[int, ...]
    """The bytes of each array that it reads."""
    kept: tuple[int, ...]
    """The bytes of each array that is needed of it."""

    def predictions(self) -> list[Prediction]:
        """The predictions of its calls."""
        return [machine.prediction_of(name, ((self.elements,),), (dtype,), None) for name, dtype in self.calls]


def decide(work: Workload, candidates: tuple[str, ...] | None = None) -> Decision:
    """Where a chain runs whose arrays are in NumPy, and why."""
    known, predictions = state.model, work.predictions()
    decision = of_chain([name for name, _ in work.calls], work.elements, predictions)
    if known is None or NUMPY not in decision.alone or not _is_seen(predictions):
        return decision
    here, missed = decision.alone[NUMPY], machine.account("", work).missed
    offers = [
        _offer(work, name, working, predictions, known)
        for name, working in decision.alone.items()
        if name != NUMPY
        and (candidates is None or name in candidates)
        and machine.chain_factors.get((name, work)) != math.inf
        and not any((name, function) in machine.unable for function, _ in work.calls)
    ]
    decision.predicted.update({one.name: one.working + one.price for one in offers})
    found = next((one for one in cheapest(offers, here, missed) if _has_room(one.name, work)), None)
    if found is not None:
        decision.home = registry.backend_of_name(found.name).free
        decision.reason = f"moves from {NUMPY}: the calls together pay for it"
        decision.transferred, decision.bought = found.arriving, found.once
    for offer in offers:
        if offer.once and offer is not found and offer._replace(once=0.0).pays_alone(here):
            missed[offer.name] = missed.get(offer.name, 0.0) + max(0.0, here - decision.alone[offer.name])
    return decision


def _is_seen(predictions: list[Prediction]) -> bool:
    """Whether NumPy's times of all calls were, if calls are learned from."""
    calls = [one.call for one in predictions]
    return not learning.is_on() or all(call is not None and learning.is_known(NUMPY, call) for call in calls)


def _offer(work: Workload, name: str, working: float, predictions: list[Prediction], known: cost.Model) -> Offer:
    factor = machine.chain_factors.get((name, work), 1.0)
    arriving = sum([known.bringing(NUMPY, name, nbytes) for nbytes in work.read]) + known.backends[name].entering
    returning = sum([known.bringing(name, NUMPY, nbytes) for nbytes in work.kept]) + known.backends[NUMPY].entering
    first = {one.key: automatic.first(name, one.call, one, known) for one in predictions if one.call is not None}
    once = automatic.importing(name, known) + sum(first.values())
    # What is needed comes back in any case, so the margin for error is for that, too.
    return Offer(name, factor * working, factor * (arriving + returning), 0.0, once, TWICE)


def _has_room(name: str, work: Workload) -> bool:
    needed = sum(work.read) + sum(work.kept)
    has_room = automatic.has_room(name, needed if needed >= automatic.ASKED else 0.0)
    return has_room and automatic.has_dtypes(name, [dtype for _, dtype in work.calls])


def seconds_of(work: Workload, name: str) -> float:
    """What a chain is predicted to take on a backend.

    Without what was learned of it, and what is paid once.
    """
    known, predictions = state.model, work.predictions()
    if known is None:
        return 0.0
    working = sum([one.seconds.get(name, 0.0) for one in predictions])
    offer = _offer(work, name, working, predictions, known)
    factor: float = machine.chain_factors.get((name, work), 1.0)
    return (offer.working + offer.arriving) / factor


def is_tried(work: Workload, name: str) -> bool:
    """Whether nothing is to be timed before it moves to a backend."""
    return not learning.is_on() or (name, work) in machine.chain_factors


def note(work: Workload, name: str, ratio: float) -> None:
    """Correct what a chain takes on a backend by a measured time.

    That is given by its ratio to what was predicted. The first is believed, and a quarter of others, as they may be
    noise.
    """
    known: dict[Any, float] = machine.chain_factors
    if learning.is_on():
        before = known.get((name, work), ratio)
        if len(known) >= machine.MOST_CALLS:
            known.clear()
        known[name, work] = before + (ratio - before) / 4


def ran(work: Workload, name: str) -> None:
    """Note that a chain ran on a backend, which has compiled its calls."""
    machine.compiled.update([(name, one.key) for one in work.predictions()])


def give_up(work: Workload, name: str) -> None:
    """Exclude a backend on which a chain failed from running it."""
    machine.chain_factors[name, work] = math.inf
