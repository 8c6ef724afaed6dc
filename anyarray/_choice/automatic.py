"""The automatic choice: where calls of free inputs run on a measured machine.

A call *stays* where most of its inputs are. On another backend it may take less time, the *saving*, for a *price*: the
transfer of the inputs and of the result back, and the switch to the other library; and, paid once, the import of the
library and compilation for new shapes. The data moves if

(a) the saving of this call exceeds the price by a margin for error, or
(b) this saving and those missed before by the calls that led to the inputs are at least twice the price of moving (the
    price itself, to go back to NumPy, which is the home of free data), and calls with the same function, shapes and
    dtypes have missed twice what is paid once.

Rule (b) is the rent-or-buy (ski rental) rule: it keeps all calls together within twice the time of NumPy alone and four
times that of the best choice in hindsight; docs/automatic-choice.md has the proof. Results inherit the account of
missed savings of their inputs. A move by (b) spends its price of what all that was computed from the same inputs has
missed, so no saving pays for two moves; savings missed by other results do not count, as they do not predict what this
one is used for.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

from anyarray._base import callers, errors, extension, files
from anyarray._choice import accounts, cost, learning, machine, prices
from anyarray._choice.accounts import HOST_READS, RETURNED, Account, CallAccounts, account_of
from anyarray._choice.cost import NUMPY
from anyarray._choice.machine import Prediction, state, use
from anyarray._choice.rule import Offer, Stay, cheapest, gains, needed, weigh
from anyarray._memory import transfer
from anyarray._registry import libraries, registry
from anyarray._registry.home import Home
from anyarray._registry.registry import Backend

Shape = tuple[int, ...]
A = TypeVar("A")
_NUMPY: Final = registry.backend_of_name(NUMPY).free


def inherited(result: A, source: Any) -> A:
    """`result` with the account of `source`, from which it was made.

    `_speedups/entry/conversion.c` makes none of an Array with one.
    """
    # To read an unset slot takes 0.3 us.
    found = None if state.model is None else account_of(source)
    if found is not None:
        accounts.set_account(result, found.inherited())
    return result


CURE: Final = "Run: python -m anyarray calibrate"


class ProfileWarning(UserWarning):
    """A profile that cannot be used, so calls stay where their inputs are."""


def model() -> cost.Model | None:
    """The model of this machine, from its profile; None without one.

    Reads the file at the first call.
    """
    if not state.is_known:
        with state.load_lock:
            # Loading may re-enter here: a program's own handler of warnings or logs may call functions of ours.
            if not (state.is_known or state.is_loading):
                state.is_loading = True
                try:
                    use(_load_model(), are_limits_due=False)
                except Exception:
                    use(None)  # so that a warning which is an error is raised once; after Ctrl-C it is loaded again
                    raise
                finally:
                    state.is_loading = False
    return state.model


def _load_model() -> cost.Model | None:
    # 15 ms and file access, so not at `import anyarray`.
    from anyarray._choice import profile

    hidden = extension.shadowing()
    if hidden and not state.is_shadowing_told:
        state.is_shadowing_told = True
        callers.log(hidden)
    try:
        loaded = profile.find()
    except files.UnusableError as error:
        callers.warn(f"profile: {error}, so it is ignored. {CURE}", ProfileWarning)
        return None
    state.is_hint_done = loaded is not None or profile.is_off()
    if loaded is None:
        return None
    file, found = loaded
    try:
        learning.load(file)
    except files.UnusableError as error:
        callers.warn(f"profile: {error}, so what was learned is ignored. Remove that file", ProfileWarning)
    if found.added:
        # A log line, no warning: the profile is valid for the backends that it has.
        callers.log(f"no call is moved to {', '.join(found.added)}, installed after the profile was made. {CURE}")
    return machine.without(found, [name for name in found.backends if not machine.may_be_usable(name)])


def hint_at_calibrate() -> None:
    """Log once, without a profile, that `calibrate` would make one.

    A log line, which goes to stderr unless the program configures the logger. Not a warning: nothing is wrong, and a
    program that turns warnings into errors must not fail because of this.
    """
    if state.is_hint_done:
        return
    state.is_hint_done = True
    if any(library.is_installed for library in libraries.libraries().values() if library.name != NUMPY):
        callers.log(f"calls run where their arrays are, as this machine is not measured. {CURE}")


@dataclass(eq=False)
class Decision:
    """Where a call runs, and why."""

    function: str
    shapes: tuple[Shape, ...]
    home: Home
    stay: Home
    """The home where it would have run if nothing moved."""
    reason: str = "nothing to decide"
    predicted: dict[str, float] = field(default_factory=dict[str, float])
    """Seconds on each backend that was considered, with its price."""
    alone: Mapping[str, float] = field(default_factory=dict[str, float])
    """Predicted seconds of the call itself, without transfers, on each backend that was measured."""
    transferred: float = 0.0
    """The part of `predicted` for transferring the inputs and switching to another library."""
    bought: float = 0.0
    """The part of `predicted` for importing the library and compiling for these shapes."""
    imported: float = 0.0
    """The part of `bought` for importing the library."""
    account: Account | None = None
    is_return: bool = False
    """Whether the inputs move back to NumPy with the call, for later calls, too."""
    seconds: float | None = None
    """Measured seconds of the call, synchronized; inside `explain` only."""
    where: tuple[str, int] | None = None
    """The user's file and line; inside `explain` only."""
    timed: Prediction | None = field(default=None, repr=False)
    """The prediction that the time of this call is to correct."""
    part: Part | None = field(default=None, repr=False)
    """What is to be timed before the call is decided about."""

    @property
    def has_moved(self) -> bool:
        """Whether it runs on another home than that of its inputs."""
        return self.home is not self.stay

    def credit(self, results: Iterable[Any]) -> None:
        """Let the results inherit the account."""
        if self.account is not None:
            for one in results:
                accounts.set_account(one, self.account.inherited())

    def retreat(self, error: Exception) -> bool:
        """Change the home to one where the call may succeed; False if none.

        That is the home of the inputs or, if the call was not moved and memory ran out, the host. Warns if memory ran
        out.
        """
        if self.home.placed:
            return False
        there = self.home.backend
        if self.has_moved and isinstance(error, errors.UnsupportedError):
            machine.unable.add((there.name, self.function))
            self.home = self.stay
        elif registry.is_out_of_memory(error) and there.name != NUMPY:
            self.home = self.stay if self.has_moved else _NUMPY
            warn_of_memory(self.function, there, self.home.backend)
        else:
            return False
        self.repeated(there, error)
        return True

    def repeated(self, there: Backend, error: Exception) -> None:
        """Record that the call is repeated, as it failed on a backend."""
        self.reason = f"repeated, as {there} could not: {type(error).__name__}"


class Part(NamedTuple):
    """A part of a call, which is timed on a backend before all of it is.

    The profile alone may be wrong, and the call is long.
    """

    backend: str
    length: int
    """The most elements that are taken along an axis."""


class OutOfMemoryWarning(RuntimeWarning):
    """A device had no memory for a call, which is repeated elsewhere.

    It is repeated where its inputs are if it was moved from there, else on the host.
    """


def warn_of_memory(function: str, there: Backend, instead: Backend) -> None:
    callers.warn(f"{function}: {there} is out of memory, so the call is repeated on {instead}", OutOfMemoryWarning)


def learn(prediction: Prediction, name: str, seconds: float) -> None:
    """Correct predictions by the time of a call on a backend."""
    call, predicted = prediction.call, prediction.by_profile(name)
    if call is None or not predicted:
        return
    is_changed = learning.note(name, call, _in_a_chain(name, call, seconds, predicted), predicted)
    if name == NUMPY and machine.is_limit_due(call.function):
        machine.set_limit(call.function, factor=learning.factor(NUMPY, call))
    if is_changed:
        machine.forget_decisions()


def learn_chain(predictions: Sequence[Prediction], seconds: float) -> None:
    """Correct predictions of NumPy's elementwise calls by a chain's time."""
    by_key = {one.key: (one.call, one.by_profile(NUMPY)) for one in predictions}
    if seconds <= 0 or not all(predicted for _, predicted in by_key.values()):
        return
    ratio, changed = seconds / sum([by_key[one.key][1] for one in predictions]), set[str]()
    for call, predicted in by_key.values():
        is_wanted = call is not None and cost.CLASSES[call.kind].is_elementwise and learning.is_wanted(NUMPY, call)
        if call is not None and is_wanted and learning.note(NUMPY, call, ratio * predicted, predicted):
            changed.add(call.function)
            machine.set_limit(call.function, factor=learning.factor(NUMPY, call))
    if changed:
        machine.forget_decisions()


def of_chain(functions: Sequence[str], elements: int, predictions: Sequence[Prediction]) -> Decision:
    """The decision about a chain of calls that stays in NumPy."""
    names = ", ".join([name if count == 1 else f"{count} {name}" for name, count in Counter(functions).items()])
    known = set[str].intersection(*[set(one.seconds) for one in predictions])
    alone = {n: sum([one.seconds[n] for one in predictions]) for n in predictions[0].seconds if n in known}
    return Decision(
        names, ((elements,),), _NUMPY, _NUMPY, "stays on numpy: the calls run together",
        predicted={name: alone[name] for name in known & {NUMPY}}, alone=alone,
    )  # fmt: skip


def _in_a_chain(name: str, call: cost.Call, seconds: float, predicted: float) -> float:
    """The seconds of a call that took so long when it was run alone.

    In a chain of NumPy's, which is what is predicted, it takes no longer.
    """
    is_chained = name == NUMPY and cost.CLASSES[call.kind].is_elementwise and call.work.results >= machine.RECORDED
    return min(seconds, predicted) if is_chained else seconds


def learn_part(function: str, arrays: Sequence[Any], of: Decision, axis: cost.Axis, seconds: float) -> None:
    """Correct predictions of a call by the time of a part of it."""
    assert of.part is not None
    name, dtypes = of.part.backend, tuple([a._home.dtype(a._value) for a in arrays])
    part, whole = (machine.prediction_of(function, shapes, dtypes, axis) for shapes in (shapes_of(arrays), of.shapes))
    expected = part.by_profile(name)
    if whole.call is not None and expected:
        learning.replace(name, whole.call, _in_a_chain(name, whole.call, seconds, expected) / expected)
        machine.forget_decisions()


def settled(function: str, arrays: Sequence[Any], home: Home, reason: str) -> Decision:
    """A decision that was not made here, for the record."""
    return Decision(function, shapes_of(arrays), home, home, reason)


def note_host_read(array: Any) -> None:
    """Add the time of a read of a device's Array by the host to its account.

    On NumPy the read would take no time.
    """
    account, known = getattr(array, "_account", None), state.model
    if account is not None and known is not None:
        home = array._home
        nbytes = math.prod(home.shape_of(array._value)) * home.dtype(array._value).itemsize
        took = known.bringing(home.backend.name, NUMPY, nbytes)
        account.pool[HOST_READS] = account.pool.get(HOST_READS, 0.0) + took


def misses(decision: Decision) -> bool:
    """Whether the call itself would take less time elsewhere."""
    here = decision.alone.get(decision.home.backend.name)
    return here is not None and min(decision.alone.values()) < here


def shapes_of(arrays: Sequence[Any]) -> tuple[Shape, ...]:
    return tuple([tuple(a._home.shape_of(a._value)) for a in arrays])


def meeting(homes: Iterable[Home]) -> Home:
    """Where free inputs meet: the first home that is not NumPy, else NumPy."""
    return next((home for home in homes if home is not _NUMPY), _NUMPY)


def decide(
    function: str, arrays: Sequence[Any], candidates: tuple[str, ...] | None = None, *, axis: cost.Axis = None
) -> Decision:
    """Where a call with these free Arrays runs, and why.

    It runs on one of `candidates` unless they are None. `axis` is that of a function whose class `is_by_axis`.
    """
    known = model()  # loads the profile: the first call of a program may be this one, where decisions are recorded
    shapes = shapes_of(arrays)
    if known is None:
        stay = meeting([a._home for a in arrays])
        unmeasured = Decision(function, shapes, stay, stay, "stays: no profile of this machine")
        return _follow(unmeasured, arrays, {}, candidates)
    dtypes = tuple([a._home.dtype(a._value) for a in arrays])
    prediction = machine.prediction_of(function, shapes, dtypes, axis)
    known = prediction.known or known  # another thread may have excluded a backend in the meantime
    machine.note_imports([one for one in known.backends if prices.package(one) in sys.modules])
    if machine.is_limit_due(function) and not _is_to_be_timed(NUMPY, prediction):
        machine.set_limit(function)
    sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True)]
    home = prices.place(arrays, sizes, known, prediction.seconds)
    decision = Decision(function, shapes, home, home)
    if prediction.call is None or home.backend.name not in prediction.seconds:
        found = _follow(decision, arrays, prediction.seconds, candidates)
        if candidates is None:
            kept = machine.KeptCall(None, (), home.backend, home.backend.name, (), {}, 0.0)
            machine.keep_call(function, key_of(arrays, axis), kept)
        return found
    weighing = _Weighing(decision, arrays, sizes, prediction, prediction.call, known, candidates)
    best = weighing.choose()
    if candidates is None and learning.is_on():
        best = weighing.checked(best)
        if decision.part is not None:
            return decision
    is_timed = _is_to_be_timed(best, prediction) and (
        best == NUMPY or (best, prediction.key) in machine.compiled or not known.first(best, prediction.call)
    )
    if is_timed:
        decision.timed = prediction
    elif candidates is None:
        weighing.keep(best, axis)
    weighing.update_accounts(weighing.apply(best))
    return decision


def _part(prediction: Prediction, name: str, seconds: float) -> Part | None:
    """The largest part of a call that is predicted to take so long at most.

    None if there is none that is worth it.
    """
    function, shapes, _, axis = prediction.key
    length = max((n for shape in shapes for n in shape), default=1)
    while length > 16:
        length //= 2
        less = tuple([tuple([min(n, length) for n in shape]) for shape in shapes])
        its = machine.prediction_of(function, less, prediction.dtypes, axis).seconds.get(name)
        if its is not None and its <= seconds:
            return Part(name, length)
    return None


SPENT: Final = "spent"
"""A key beside the backends: seconds that calls alike have taken where they are."""


def _is_to_be_timed(name: str, prediction: Prediction) -> bool:
    """Whether the time of this call on a backend is to correct predictions.

    It is not where it takes less than what a decision may win, nor in NumPy where no other library is imported: to
    import one would have to pay first, and then the call is timed before it moves.
    """
    call = prediction.call
    return (
        call is not None
        and prediction.seconds.get(name, 0.0) >= cost.DECIDING / learning.TIMED_FROM
        and learning.is_wanted(name, call)
        and (name != NUMPY or state.imported not in ([], [NUMPY]))
    )


def key_of(arrays: Sequence[Any], axis: cost.Axis) -> tuple[Any, ...]:
    """The key of a kept decision.

    It has the axis, and of each Array the home, the backend of its second copy, the shape and the dtype. `key_of` in
    `_speedups/entry/kept.c` makes the same.
    """
    key: list[Any] = [axis]
    for one in arrays:
        native, second = one._value, getattr(one, "_second", None)
        key += (prices.at(one), second and second[0], one._home.shape_of(native), native.dtype)
    return tuple(key)


def keep_early(function: str, arrays: Sequence[Any], axis: cost.Axis, seconds: float) -> None:
    """Let calls alike run in NumPy, where the Arrays are, for now.

    They do until the profile is read.
    """
    home = arrays[0]._home
    kept = machine.KeptCall(home, (), home.backend, NUMPY, (), {}, 0.0, (machine.early, seconds))
    machine.keep_call(function, key_of(arrays, axis), kept)


def kept_decision(
    calls: Mapping[Any, machine.KeptCall], arrays: Sequence[Any], axis: cost.Axis
) -> tuple[Backend, Account | None, bool] | None:
    """Where a call with these Arrays was decided to run, and its account.

    The account gets what the call misses; the third value says whether that is anything. None if a decision must be
    made.
    """
    found = calls.get(key_of(arrays, axis))
    if found is None:
        return None
    its, best = CallAccounts(arrays, found.alike), found.backend.name
    if its.reading() or any(wait.is_reached(its) for wait in found.waits):
        return None
    if best != found.here:
        if found.nbytes and not prices.has_room(best, found.nbytes):
            return None
        its.spend(best, found.here, 0.0)  # it pays alone
    its.miss(best, found.gains)
    return found.backend, its.account, any(gain > 0 for _, gain in found.gains)


def _follow(
    decision: Decision, arrays: Sequence[Any], predicted: Mapping[str, float], candidates: tuple[str, ...] | None
) -> Decision:
    """Let a call without a prediction run where one of its inputs is.

    If a policy excludes that backend, on the first usable one that it allows.
    """
    here = decision.stay.backend.name
    decision.account = next((found for found in map(account_of, arrays) if found is not None), None)
    if candidates is not None and here not in candidates:
        dtypes = [a._home.dtype(a._value) for a in arrays]
        predicted = predicted or {a._home.backend.name: 0.0 for a in arrays}
        decision.home = prices.narrowed(decision.function, predicted, candidates, dtypes).free
        decision.reason = LEFT_OUT.format(here)
    return decision


class _Weighing:
    """The making of one decision, about a call that is predicted.

    Offers are computed one after the other: to compute one may import a library, which then is free for the next.
    """

    def __init__(
        self,
        decision: Decision,
        arrays: Sequence[Any],
        sizes: Sequence[int],
        prediction: Prediction,
        call: cost.Call,
        known: cost.Model,
        candidates: tuple[str, ...] | None,
    ) -> None:
        here, seconds = decision.stay.backend.name, prediction.seconds
        self.decision, self.arrays, self.sizes, self.dtypes = decision, arrays, sizes, prediction.dtypes
        self.call, self.prediction, self.known, self.candidates = call, prediction, known, candidates
        self.call_accounts = CallAccounts(arrays, machine.missed_by(prediction.key))
        self.allowed = (
            seconds if candidates is None else {n: s for n, s in seconds.items() if n in candidates or n == here}
        )
        bringing, first = prices.bringing(arrays, sizes, here, known), prices.first(here, call, prediction, known)
        if first <= self.call_accounts.alike.get(here, 0.0):
            first = 0.0  # going elsewhere because of it has cost as much
        self.stay = Stay(here, seconds[here] + bringing, first)
        self.on_top = {here: (bringing, first, 0.0)}
        """Seconds of the transfer, of what is paid once and of the import that is part of it, by backend."""
        self.bringing: dict[str, float] = {}
        """Seconds of the transfer of the inputs, by backend."""
        self.unexplored: dict[str, float] = {}
        """Backends of which the profile alone says that they do not gain, and the seconds that pay for trying them."""
        self.is_check = False
        """Whether the call stays only to be timed."""
        self.offers: list[Offer] = []
        """The offers that were considered."""
        decision.alone = seconds
        decision.predicted[here] = self.stay.seconds + first

    def offer(self, name: str, working: float, reading: float) -> Offer:
        """The price of moving to a backend, and the savings missed so far."""
        known, call, home, call_accounts = self.known, self.call, self.decision.stay, self.call_accounts
        self.bringing[name] = bringing = prices.bringing(self.arrays, self.sizes, name, known)
        arriving = bringing + (0.0 if call_accounts.last == name else known.backends[name].entering)
        there = prices.loaded(name)
        is_view = there is not None and transfer.route(there, home.backend).is_always_safe
        returning = known.bringing(name, self.stay.name, call.work.results * call.itemsize, is_view=is_view)
        returning += known.backends[self.stay.name].entering
        imported = prices.importing(name, known)
        once = prices.first(name, call, self.prediction, known) + imported
        self.on_top[name] = arriving, once, imported
        missed, alike = call_accounts.missed(name), call_accounts.alike.get(name, 0.0)
        return Offer(name, working, arriving, returning, once, reading, missed, alike)

    def choose(self) -> str:
        """The fastest backend of those that pay; else that of the inputs."""
        found = cheapest(
            self.stay, self.considered(), self.decision.predicted, lambda name: prices.has_dtypes(name, self.dtypes)
        )
        if found is None:
            return self.stay.name
        self.decision.reason = why_moving(self.stay.name, pays_alone=found[1].pays_alone)
        return found[0].name

    def considered(self) -> Iterator[Offer]:
        """The offers of backends that gain enough, which are kept."""
        for name, working in self.allowed.items():
            is_unable = name == self.stay.name or (name, self.decision.function) in machine.unable
            if is_unable or not prices.has_room(name, self.nbytes):
                continue
            reading = self.call_accounts.reading() if name == NUMPY else 0.0
            is_asked_for = self.candidates is not None
            if is_asked_for or gains(self.stay, name, self.call.kind, working, reading, self.error(name)):
                self.offers.append(self.offer(name, working, reading))
                yield self.offers[-1]
            else:
                self.decision.predicted[name] = working

    def error(self, name: str) -> float:
        """The factor by which the ratio to the time on a backend may be wrong.

        What was timed is not.
        """
        both = self.stay.name, name
        return self.known.error([one for one in both if not learning.is_known(one, self.call)], self.call.kind)

    @property
    def nbytes(self) -> float:
        """What the call takes on an accelerator, if that is to be asked."""
        needed = sum(self.sizes) + self.call.work.results * self.call.itemsize
        return needed if needed >= prices.ASKED else 0.0

    def checked(self, best: str) -> str:
        """Where the call runs, as the profile says that `best` is the place.

        A call that moves for the first time is timed where it is: what the profile says of a function is believed when
        it was seen. One that may take long is checked on a part, there and at the new place. And where calls have taken
        long, what the profile thinks little of is tried on a part.
        """
        stay, decision, call, part = self.stay, self.decision, self.call, self.decision.part
        if best == stay.name:
            part = self.exploration()
        elif not learning.is_known(stay.name, call):
            if self.prediction.seconds[stay.name] <= learning.LONG:
                decision.reason = f"stays on {stay.name}: timed there before it moves"
                self.is_check = True
                return stay.name
            part = _part(self.prediction, stay.name, learning.LONG / 10)
            learning.replace(stay.name, call)
        elif not learning.is_known(best, call):
            if self.known.first(best, call) < stay.seconds / 4:
                part = _part(self.prediction, best, min(self.prediction.seconds[best], stay.seconds) / 8)
            if part is not None:  # else all of it is timed there, after the call that compiles
                learning.replace(best, call)
        decision.part = part
        return best

    def exploration(self) -> Part | None:
        """What is to be timed elsewhere, as calls alike have taken long here.

        They have taken so long that it adds little, compiling included. What is not loaded has a price, and is left.
        """
        here, call, seconds = self.stay.name, self.call, self.prediction.seconds
        spent = self.call_accounts.alike.get(SPENT, 0.0) + seconds[here]
        stay = Stay(here, seconds[here], 0.0)
        for name, one in seconds.items() if learning.is_known(here, call) else ():
            if (
                name != here
                and not learning.is_known(name, call)
                and gains(stay, name, call.kind, one / learning.TIMED_FROM, 0.0)
                and prices.loaded(name) is not None
            ):
                most = min(one / 8, seconds[here])
                self.unexplored[name] = learning.EXPLORING * (self.known.first(name, call) + most)
                if spent >= self.unexplored[name]:
                    del self.unexplored[name]
                    learning.replace(name, call)
                    part = _part(self.prediction, name, most)
                    if part is not None:
                        return part
        return None

    def keep(self, best: str, axis: cost.Axis) -> None:
        """Keep the decision for calls alike until an offer may pay.

        The key tells which inputs have a second copy where, so what bringing them takes is the same.
        """
        stay, waits = self.stay._replace(first=0.0), list[machine.Threshold]()
        if self.is_check or (best == NUMPY != stay.name):
            return  # what goes home is copied for later calls
        for offer in self.offers:
            if best not in (stay.name, offer.name):
                continue
            # Going on with the other library has its full price, or none if the last call ran there.
            moves, entering = offer.name == best, self.known.backends[offer.name].entering
            its = offer._replace(arriving=self.bringing[offer.name] + (entering if moves else 0.0))
            if weigh(stay, its).pays_alone != moves or (moves and its.once):
                return
            waits.append(self.wait(its))
        gains = self.gains(best)
        if best != stay.name:
            waits.clear()
        if self.unexplored:
            waits.append(machine.Threshold(SPENT, 0.0, min(self.unexplored.values())))
            gains += ((SPENT, self.prediction.seconds[best]),)
        home = self.decision.stay
        # Python puts those off that are to be computed with others, on other backends than NumPy.
        is_put_off = (
            best != NUMPY and cost.CLASSES[self.call.kind].is_elementwise and self.call.work.results >= machine.RECORDED
        )
        is_at_once = best == stay.name and not (waits or is_put_off) and all(a._home is home for a in self.arrays)
        kept = machine.KeptCall(
            home if is_at_once else None, gains, registry.backend_of_name(best), stay.name, tuple(waits),
            self.call_accounts.alike, self.nbytes,
        )  # fmt: skip
        machine.keep_call(self.prediction.key[0], key_of(self.arrays, axis), kept)

    def wait(self, offer: Offer) -> machine.Threshold:
        """From when on an offer that does not pay is to be looked at again."""
        package = prices.package(offer.name)
        is_imported, compiled = package in sys.modules, (offer.name, self.prediction.key)
        is_compiled = compiled in machine.compiled or not offer.once
        return machine.Threshold(
            offer.name, *needed(self.stay, offer), "" if is_imported else package, None if is_compiled else compiled
        )

    def gains(self, best: str) -> tuple[tuple[str, float], ...]:
        """Seconds that the call misses on each other backend, by its name.

        None are known if a policy chose a backend that was not measured.
        """
        seconds = self.prediction.seconds
        took = self.stay.seconds if best == self.stay.name else seconds.get(best, math.inf)
        return tuple([(name, took - one) for name, one in seconds.items() if name != best and took < math.inf])

    def apply(self, best: str) -> str:
        """Set the decision to the chosen backend, or to one a policy allows.

        Returns the name of the backend on which the call runs.
        """
        decision, here = self.decision, self.stay.name
        decision.is_return = best == NUMPY != here
        if best != here:
            for found in filter(None, map(account_of, self.arrays)):
                found.own[RETURNED] = float(decision.is_return)
        if self.candidates is not None and best not in self.candidates:
            best = prices.narrowed(decision.function, decision.predicted, self.candidates, self.dtypes).name
            decision.reason = LEFT_OUT.format(here)
        decision.transferred, decision.bought, decision.imported = self.on_top.get(best, (0.0, 0.0, 0.0))
        if best == here and not self.is_check:
            most = self.prediction.seconds[here]
            is_more_gained = any(
                working <= cost.gain(name, self.call.kind, self.error(name)) * most
                for name, working in self.allowed.items()
            )
            decision.reason = why_staying(here, self.allowed, is_more_gained=is_more_gained)
        elif best != here:
            decision.home = registry.backend_of_name(best).free
        return best

    def update_accounts(self, best: str) -> None:
        """Spend the savings that paid for a move; add those now missed."""
        its, gains = self.call_accounts, self.gains(best)
        if best != self.stay.name:
            paid = [needed(self.stay, offer)[0] for offer in self.offers if offer.name == best]
            its.spend(best, self.stay.name, sum(paid))
        if self.unexplored:
            its.alike[SPENT] = its.alike.get(SPENT, 0.0) + self.prediction.seconds[best]
        its.miss(best, () if self.decision.timed else gains)  # what a call misses is not believed before it was timed
        if best != self.stay.name and self.stay.first:
            took = self.on_top.get(best, (0.0,))[0] + self.prediction.seconds.get(best, 0.0)
            its.alike[self.stay.name] = its.alike.get(self.stay.name, 0.0) + max(0.0, took - self.stay.seconds)
        self.decision.account = its.account
        saved = -dict(gains).get(NUMPY, 0.0)
        if saved > 0 and its.account is not None and its.account.pool.get(HOST_READS):
            its.account.pool[HOST_READS] = max(0.0, its.account.pool[HOST_READS] - saved)
        if len(machine.compiled) > machine.MOST_COMPILED:
            machine.compiled.clear()
        machine.compiled.add((best, self.prediction.key))


LEFT_OUT: Final = "moves from {}: the policy leaves it out"


def why_moving(here: str, *, pays_alone: bool) -> str:
    """Why a call moves."""
    payer = "this call alone pays for it" if pays_alone else "missed savings paid for it"
    return f"moves from {here}: {payer}"


def why_staying(here: str, seconds: Mapping[str, float], *, is_more_gained: bool) -> str:
    """Why a call stays, by the seconds that it takes on each backend.

    `is_more_gained` says that the gain elsewhere exceeds the margin for error.
    """
    if seconds[here] <= min(seconds.values()):
        return f"stays on {here}: the fastest"
    return f"stays on {here}: " + ("moving has not paid yet" if is_more_gained else "elsewhere too little is gained")
