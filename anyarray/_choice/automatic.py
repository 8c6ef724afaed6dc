"""The automatic choice: where calls of free inputs run on a measured machine.

A call *stays* where most of its inputs are. Another backend *saves* what the call takes less there, and has a *price*:
bringing the inputs over and the result back, and going on with the other library; and, bought once, importing it and
compiling for new shapes. The data moves if

(a) the saving of this call is at least the price, and what is left of it is more than error may feign, or
(b) this saving and those missed before on the lineage of the inputs are at least twice the price of moving (once, to
    go back to NumPy, which is the home of free data), and what is to be bought has been missed twice by calls with the
    same function, shapes and dtypes.

Rule (b) is that of rent or buy: it keeps all calls together within twice NumPy alone and four times the best choice
made with hindsight; docs/automatic-choice.md has the proof. Results inherit the account of missed savings of their
inputs. What is spent is spent for all that was computed from them, so no saving counts for two moves; what other
results missed does not count, as it says nothing of what comes of this one.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from anyarray._base import errors
from anyarray._base.dtypes import DType
from anyarray._choice import accounts, cost, machine, prices
from anyarray._choice.accounts import READING, RETURNED, Account, Books, account_of
from anyarray._choice.cost import NUMPY
from anyarray._choice.machine import Prospect, Resident, Wait, calls_of_numpy, state, use
from anyarray._choice.rule import Offer, Stay, gains, needed, weigh
from anyarray._memory import transfer
from anyarray._registry import libraries, registry
from anyarray._registry.home import Home
from anyarray._registry.registry import Backend

Shape = tuple[int, ...]
A = TypeVar("A")


def inherited(result: A, source: Any) -> A:
    """An Array made of another without a decision, with its account.

    `_call/c/conversion.c` makes none of an Array with one.
    """
    # To look for what is not set takes 0.3 us.
    found = None if state.model is None else account_of(source)
    if found is not None:
        accounts.give(result, found.inherited())
    return result


CURE: Final = "Run: python -m anyarray calibrate"


class ProfileWarning(UserWarning):
    """A profile that cannot be used, so calls stay where their inputs are."""


def model() -> cost.Model | None:
    """The model of this machine, from its profile; None without one.

    Reads the file at the first call.
    """
    if not state.is_known:
        with state.looking:
            # It may look for itself, as where a program's own handler of warnings or logs computes.
            if not (state.is_known or state.is_looking):
                state.is_looking = True
                try:
                    use(_looked_up())
                except Exception:
                    use(None)  # a warning that is an error comes once; after Ctrl-C it is looked for again
                    raise
                finally:
                    state.is_looking = False
    return state.model


def _looked_up() -> cost.Model | None:
    # Reads files; 15 ms, which `import anyarray` need not take.
    from anyarray._choice import profile

    try:
        found = profile.load()
    except profile.UnusableError as error:
        warnings.warn(f"profile: {error}, so it is ignored. {CURE}", ProfileWarning, stacklevel=_outside())
        return None
    state.is_silent = found is not None or profile.is_off()
    if found is None:
        return None
    if found.added:
        # No warning either: what is measured is right.
        log(f"anyarray: no call is moved to {', '.join(found.added)}, installed after the profile was made. {CURE}")
    return machine.without(found, [name for name in found.backends if not machine.may_be_here(name)])


def _outside() -> int:
    """The `stacklevel` at which a warning of the caller names the user's line.

    It does so however many calls of ours lead here.
    """
    # `skip_file_prefixes` of `warnings.warn` does it from Python 3.12 on.
    the_user_s, frame, level = transfer.user_frame(), sys._getframe(1), 1
    while frame is not the_user_s and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return level


def mention() -> None:
    """Say once, on a machine that is not measured, what would let it choose.

    By the logger, which writes a line to stderr unless the program says otherwise. Not a warning: nothing is wrong, and
    a program that turns warnings into errors must not fail of this.
    """
    if state.is_silent:
        return
    state.is_silent = True
    if any(library.is_installed for library in libraries.libraries().values() if library.name != NUMPY):
        log(f"anyarray: calls run where their arrays are, as this machine is not measured. {CURE}")


def log(line: str) -> None:
    import logging  # 5 ms, which `import anyarray` need not take

    logging.getLogger("anyarray").warning(line)


@dataclass(eq=False)
class Decision:
    """Where a call runs, and why."""

    function: str
    shapes: tuple[Shape, ...]
    home: Home
    stay: Home
    """Where it would have run if nothing moved."""
    reason: str = "nothing to decide"
    predicted: dict[str, float] = field(default_factory=dict[str, float])
    """Seconds on each backend that was considered, with its price."""
    alone: Mapping[str, float] = field(default_factory=dict[str, float])
    """Predicted seconds of the call alone, inputs at hand, on each backend that was measured."""
    transferred: float = 0.0
    """Predicted seconds of bringing the inputs and of going on with another library, part of `predicted`."""
    bought: float = 0.0
    """Predicted seconds of importing the library and compiling for these shapes, part of `predicted` too."""
    account: Account | None = None
    is_return: bool = False
    """Whether the inputs go home to NumPy with the call, where those that follow find them."""
    seconds: float | None = None
    """What the call took, waited for; inside `explain` only."""

    @property
    def has_moved(self) -> bool:
        """Whether it runs elsewhere than its inputs are."""
        return self.home is not self.stay

    def credit(self, results: Iterable[Any]) -> None:
        """Let results inherit the account."""
        if self.account is not None:
            for one in results:
                accounts.give(one, self.account.inherited())

    def must_wait(self, results: Sequence[Any]) -> bool:
        """Whether a late error may come that repeating the call would mend.

        Libraries that work in the background say only when a result is waited for that there was no memory. So results
        are waited for whose inputs were brought to an accelerator just now, and large ones, which it does not slow
        down by much.
        """
        if self.home.backend.kind == "cpu" or self.home.placed:
            return False
        home = self.home
        return self.has_moved or any(
            math.prod(home.shape_of(one._native)) * home.dtype(one._native).itemsize >= WAITED for one in results
        )

    def retreat(self, error: Exception) -> bool:
        """Turn to where the call may succeed; False if there is no such place.

        It is where the inputs are or, if the call was not moved and memory ran out, the host. Warns if memory ran out.
        """
        if self.home.placed:
            return False
        there = self.home.backend
        if self.has_moved and isinstance(error, errors.UnsupportedError):
            machine.unable.add((there.name, self.function))
            self.home = self.stay
        elif registry.is_out_of_memory(error) and there.name != NUMPY:
            self.home = self.stay if self.has_moved else registry.backend_of_name(NUMPY).free
            warn_of_memory(self.function, there, self.home.backend)
        else:
            return False
        self.repeated(there, error)
        return True

    def repeated(self, there: Backend, error: Exception) -> None:
        """Note that the call is made again, as a backend could not make it."""
        self.reason = f"repeated, as {there} could not: {type(error).__name__}"


WAITED: Final = 1 << 28
"""Bytes of a result on an accelerator from which it is waited for."""


class OutOfMemoryWarning(RuntimeWarning):
    """A device had no memory for a call, which is repeated elsewhere.

    It is repeated where its inputs are if it was moved from there, else on the host.
    """


def warn_of_memory(function: str, there: Backend, instead: Backend) -> None:
    warnings.warn(
        f"{function}: {there} is out of memory, so the call is repeated on {instead}",
        OutOfMemoryWarning,
        stacklevel=_outside(),
    )


def settled(function: str, arrays: Sequence[Any], home: Home, reason: str) -> Decision:
    """What is not decided here, for the record."""
    return Decision(function, shapes_of(arrays), home, home, reason)


def note_reading(array: Any) -> None:
    """Count that the host reads a device's Array.

    In NumPy that would take nothing.
    """
    account, known = getattr(array, "_account", None), state.model
    if account is not None and known is not None:
        home = array._home
        nbytes = math.prod(home.shape_of(array._native)) * home.dtype(array._native).itemsize
        took = known.bringing(home.backend.name, NUMPY, nbytes)
        account.pool[READING] = account.pool.get(READING, 0.0) + took


def shapes_of(arrays: Sequence[Any]) -> tuple[Shape, ...]:
    return tuple([tuple(a._home.shape_of(a._native)) for a in arrays])


def _unmeasured(
    function: str, arrays: Sequence[Any], shapes: tuple[Shape, ...], candidates: tuple[str, ...] | None
) -> Decision:
    """The decision without a model of this machine.

    The call stays where its inputs are, or goes to the first backend that a policy names.
    """
    homes = [a._home for a in arrays]
    stay = next((home for home in homes if home.backend.name != NUMPY), homes[0])
    if candidates is None or stay.backend.name in candidates:
        return Decision(function, shapes, stay, stay, "stays: no profile of this machine")
    home = prices.narrowed(function, {}, candidates, [a._home.dtype(a._native) for a in arrays]).free
    return Decision(function, shapes, home, stay, "moves: the first that the policy names, and there is no profile")


def decide(
    function: str, arrays: Sequence[Any], candidates: tuple[str, ...] | None = None, *, axis: cost.Axis = None
) -> Decision:
    """Where a call with these free Arrays runs, and why.

    It runs on one of `candidates` if there are any. `axis` is that of a function whose class `is_by_axis`.
    """
    known = model()  # where each call is recorded, nobody else has looked
    shapes = shapes_of(arrays)
    if known is None:
        return _unmeasured(function, arrays, shapes, candidates)
    dtypes = tuple([a._home.dtype(a._native) for a in arrays])
    prospect = machine.prospect_of(function, shapes, dtypes, axis)
    known = prospect.known or known  # a thread may have left a backend out meanwhile
    is_at_home = candidates is None and all(a._home.backend.library == NUMPY for a in arrays)
    if prospect.is_numpys and is_at_home:
        _note_resident(arrays, Resident(prospect), axis=axis)
        if all(account_of(a) is None for a in arrays):
            return _of_numpy(function, arrays, shapes, prospect)
    if candidates is None and prospect.settled and (found := _settled(function, arrays, shapes, prospect)):
        return found
    sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True)]
    home = prices.place(arrays, sizes, known)
    decision = Decision(function, shapes, home, home, predicted={}, alone={})
    if prospect.call is None or home.backend.name not in prospect.seconds:
        _follow(decision, arrays, dtypes, prospect, candidates)
        return decision
    making = _Making(decision, arrays, sizes, dtypes, prospect.call, prospect, known, candidates)
    best = making.choose()
    if is_at_home and best == NUMPY and making.offers:
        making.note(axis=axis)
    making.book(making.settle(best))
    return decision


def _note_resident(arrays: Sequence[Any], found: Resident, *, axis: cost.Axis) -> None:
    """Let calls like this one, of Arrays in NumPy, be decided about no more.

    They are as long as nobody of `found.waits` is worth it.
    """
    calls = calls_of_numpy(found.prospect.key[0])
    if len(calls) >= machine.MOST_CALLS:
        calls.clear()
    calls[(axis, *[part for a in arrays for part in (a._native.shape, a._native.dtype)])] = found


def missed_by_resident(found: Resident, arrays: Sequence[Any]) -> Account | None:
    """The account of such a call with these Arrays, with what it misses.

    None if it is to be decided about, or there is nothing to miss and no account.
    """
    prospect, waits = found
    alike = machine.missed_by(prospect.key)
    for name, package, least in waits:
        is_bought = package in sys.modules or (name, prospect.key) in machine.compiled
        if is_bought or alike.get(name, 0.0) >= least:
            return None
    account, seconds = (accounts.account_for if waits else accounts.one_of)(arrays), prospect.seconds
    if account is not None and seconds:
        Books(account, (), alike).miss(NUMPY, seconds[NUMPY], seconds)
    return account


def _of_numpy(function: str, arrays: Sequence[Any], shapes: tuple[Shape, ...], prospect: Prospect) -> Decision:
    """The decision where nobody is enough faster than NumPy."""
    home = arrays[0]._home
    decision = Decision(function, shapes, home, home, predicted=dict(prospect.seconds), alone=prospect.seconds)
    if prospect.seconds:
        decision.reason = why_staying(NUMPY, prospect.seconds, is_more_gained=False)
    return decision


def _settled(function: str, arrays: Sequence[Any], shapes: tuple[Shape, ...], prospect: Prospect) -> Decision | None:
    """The decision where all inputs are on a backend from which nobody gains.

    It is what weighing would give, in a third of the time. None if something is left to weigh.
    """
    home = arrays[0]._home
    here, seconds = home.backend.name, prospect.seconds
    if here not in prospect.settled or (here, prospect.key) not in machine.compiled:
        return None
    for one in arrays:
        account = getattr(one, "_account", None)
        if one._home is not home or (account and (account.own.get(RETURNED) or account.pool.get(READING))):
            return None
    account = accounts.account_for(arrays)
    Books(account, (), machine.missed_by(prospect.key)).miss(here, seconds[here], seconds)
    reason = why_staying(here, seconds, is_more_gained=False)
    return Decision(function, shapes, home, home, reason, dict(seconds), seconds, account=account)


def _follow(
    decision: Decision,
    arrays: Sequence[Any],
    dtypes: Sequence[DType],
    prospect: Prospect,
    candidates: tuple[str, ...] | None,
) -> None:
    """Let a call of which nothing is predicted run where one of its inputs is.

    If a policy leaves that out, on the first that it leaves in.
    """
    here = decision.stay.backend.name
    decision.account = next((found for found in map(account_of, arrays) if found is not None), None)
    if candidates is not None and here not in candidates:
        predicted = prospect.seconds or {a._home.backend.name: 0.0 for a in arrays}
        decision.home = prices.narrowed(decision.function, predicted, candidates, dtypes).free
        decision.reason = LEFT_OUT.format(here)


class _Making:
    """One decision in the making, about a call that is predicted.

    What an offer takes is found out when its turn comes: to look at one may import a library, which is at hand for the
    next then.
    """

    __slots__ = (
        "allowed", "arrays", "books", "call", "candidates", "decision", "dtypes", "known", "offers", "on_top",
        "prospect", "sizes", "stay",
    )  # fmt: skip

    def __init__(
        self,
        decision: Decision,
        arrays: Sequence[Any],
        sizes: Sequence[int],
        dtypes: Sequence[DType],
        call: cost.Call,
        prospect: Prospect,
        known: cost.Model,
        candidates: tuple[str, ...] | None,
    ) -> None:
        here, seconds = decision.stay.backend.name, prospect.seconds
        self.decision, self.arrays, self.sizes, self.dtypes = decision, arrays, sizes, dtypes
        self.call, self.prospect, self.known, self.candidates = call, prospect, known, candidates
        self.books = Books(accounts.account_for(arrays), accounts.pools_of(arrays), machine.missed_by(prospect.key))
        self.allowed = (
            seconds if candidates is None else {n: s for n, s in seconds.items() if n in candidates or n == here}
        )
        bringing, first = prices.bringing(arrays, sizes, here, known), prices.first(here, call, prospect, known)
        self.stay = Stay(here, seconds[here] + bringing, first)
        self.on_top = {here: (bringing, first)}
        """Seconds of bringing the inputs and of what is bought once, where the call was weighed."""
        self.offers: list[Offer] = []
        """Those that were weighed."""
        decision.alone, decision.account = seconds, self.books.account
        decision.predicted[here] = self.stay.seconds + first

    def offer(self, name: str, working: float, reading: float) -> Offer:
        """What moving to a backend takes, and what was missed so far."""
        known, call, home, books = self.known, self.call, self.decision.stay, self.books
        arriving = prices.arriving(self.arrays, self.sizes, name, books.account.pool.last, known)
        there = prices.loaded(name)
        is_view = there is not None and transfer.route(there, home.backend).is_always_safe
        returning = known.bringing(name, self.stay.name, call.work.results * call.itemsize, is_view=is_view)
        returning += known.backends[self.stay.name].entering
        once = prices.first(name, call, self.prospect, known) + prices.importing(name, known)
        self.on_top[name] = arriving, once
        return Offer(name, working, arriving, returning, once, reading, books.missed(name), books.alike.get(name, 0.0))

    def choose(self) -> str:
        """The backend that takes least of those that pay; else this one."""
        stay, decision = self.stay, self.decision
        best, least = stay.name, math.inf
        for name, working in self.allowed.items():
            if name == stay.name or (name, decision.function) in machine.unable:
                continue
            reading = self.books.reading() if name == NUMPY else 0.0
            if self.candidates is None and not gains(stay, name, self.call.kind, working, reading):
                decision.predicted[name] = working
                continue
            offer = self.offer(name, working, reading)
            self.offers.append(offer)
            price = weigh(stay, offer)
            decision.predicted[name] = price.seconds
            if price.pays and price.seconds < least and prices.has_dtypes(name, self.dtypes):
                best, least = name, price.seconds
                decision.reason = why_moving(stay.name, pays_alone=price.pays_alone)
        return best

    def note(self, *, axis: cost.Axis) -> None:
        """Decide about no call like this until an offer may pay.

        It stays in NumPy, where its inputs are, as on each other backend something must be bought first.
        """
        waits: list[Wait] = []
        for offer in self.offers:
            package = prices.package(offer.name)
            is_imported = package in sys.modules
            # It may have a copy of the next inputs.
            best = offer._replace(arriving=0.0) if is_imported else offer
            if not offer.once or weigh(self.stay, best).pays_alone:
                return
            waits.append(Wait(offer.name, None if is_imported else package, needed(self.stay, best)))
        _note_resident(self.arrays, Resident(self.prospect, tuple(waits)), axis=axis)

    def settle(self, best: str) -> str:
        """Turn the decision to what was chosen, if a policy leaves it in.

        Gives the name of the backend on which the call runs.
        """
        decision, here = self.decision, self.stay.name
        decision.is_return = best == NUMPY != here
        if best != here:
            for found in filter(None, map(account_of, self.arrays)):
                found.own[RETURNED] = float(decision.is_return)
        if self.candidates is not None and best not in self.candidates:
            best = prices.narrowed(decision.function, decision.predicted, self.candidates, self.dtypes).name
            decision.reason = LEFT_OUT.format(here)
        decision.transferred, decision.bought = self.on_top.get(best, (0.0, 0.0))
        if best == here:
            most = self.prospect.seconds[here]
            is_more_gained = any(
                working <= cost.gain(name, self.call.kind) * most for name, working in self.allowed.items()
            )
            decision.reason = why_staying(here, self.allowed, is_more_gained=is_more_gained)
        else:
            decision.home = registry.backend_of_name(best).free
        return best

    def book(self, best: str) -> None:
        """Spend what paid for the move, and add what this call misses."""
        stay, seconds = self.stay, self.prospect.seconds
        took = stay.seconds
        if best != stay.name:
            self.books.spend(best, stay.name)
            # Infinite where a policy chose what was not measured: then nothing is known to be missed.
            took = seconds.get(best, math.inf)
        self.books.miss(best, took, seconds)
        if len(machine.compiled) > machine.MOST_COMPILED:
            machine.compiled.clear()
        machine.compiled.add((best, self.prospect.key))


LEFT_OUT: Final = "moves from {}: the policy leaves it out"


def why_moving(here: str, *, pays_alone: bool) -> str:
    """Why a call moves."""
    payer = "this call alone pays for it" if pays_alone else "missed savings paid for it"
    return f"moves from {here}: {payer}"


def why_staying(here: str, seconds: Mapping[str, float], *, is_more_gained: bool) -> str:
    """Why a call stays, by the seconds that it takes on each backend.

    `is_more_gained` says that elsewhere more is gained than error may feign.
    """
    if seconds[here] <= min(seconds.values()):
        return f"stays on {here}: the fastest"
    return f"stays on {here}: " + ("moving has not paid yet" if is_more_gained else "elsewhere too little is gained")
