"""The automatic choice: where calls of free inputs run on a measured machine.

A call *stays* where its inputs are. Another backend may take less time for it, the *saving*, at a *price*: to bring the
inputs over and the result back and, paid once, to import that library and to compile for new shapes. Calls with the
same function, shapes, dtypes and homes share an *account*, which has what each of them would have saved. The call moves
if

(a) with its price it takes at most three quarters of the time here, or
(b) the account and this saving hold twice the price; once the price, to go back to NumPy, the home of free data.

A move by (b) empties the account. That is the rent-or-buy (ski rental) rule: what is paid for moves is at most half of
what staying has lost; docs/automatic-choice.md says what follows.

A profile may be wrong. So a call is timed where it is before it moves, and the first calls on the other backend are
timed, too (`learning`).
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from anyarray._base import callers, errors, extension, files
from anyarray._base.dtypes import DType
from anyarray._choice import cost, learning, machine
from anyarray._choice.cost import NUMPY
from anyarray._choice.machine import Account, Prediction, Wait, state, usable_backend
from anyarray._memory import alignment, ownership, second_copies, transfer
from anyarray._registry import libraries, registry
from anyarray._registry.home import Home
from anyarray._registry.registry import Backend

Shape = tuple[int, ...]
_NUMPY: Final = registry.backend_of_name(NUMPY).free
CURE: Final = "Run: python -m anyarray calibrate"


class ProfileWarning(UserWarning):
    """A profile that cannot be used, so calls stay where their inputs are."""


class OutOfMemoryWarning(RuntimeWarning):
    """A device had no memory for a call, which is repeated elsewhere.

    It is repeated where its inputs are if it was moved from there, else on the host.
    """


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
                    machine.use(_load_model(), are_limits_due=False)
                except Exception:
                    machine.use(None)  # a warning that is an error is raised once; after Ctrl-C it is loaded again
                    raise
                finally:
                    state.is_loading = False
    return state.model


def _load_model() -> cost.Model | None:
    # 15 ms and file access, so not at `import anyarray`.
    from anyarray._choice import profile

    hidden = extension.shadowing()
    if hidden and not state.is_shadowing_logged:
        state.is_shadowing_logged = True
        callers.log(hidden)
    try:
        at = profile.find()
    except files.UnusableError as error:
        callers.warn(f"profile: {error}, so it is ignored. {CURE}", ProfileWarning)
        return None
    state.is_hint_done = at is not None or profile.is_off()
    if at is None:
        return None
    _, found = at
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
    """The part of `predicted` for transferring the inputs."""
    bought: float = 0.0
    """The part of `predicted` for importing the library and compiling for these shapes."""
    imported: float = 0.0
    """The part of `bought` for importing the library."""
    seconds: float | None = None
    """Measured seconds of the call, synchronized; inside `explain` only."""
    where: tuple[str, int] | None = None
    """The user's file and line; inside `explain` only."""
    timed: Prediction | None = field(default=None, repr=False)
    """The prediction that the time of this call is to correct."""

    @property
    def has_moved(self) -> bool:
        """Whether it runs on another home than that of its inputs."""
        return self.home is not self.stay

    @property
    def misses(self) -> bool:
        """Whether the call itself would take less time elsewhere."""
        here = self.alone.get(self.home.backend.name)
        return here is not None and min(self.alone.values()) < here

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


def warn_of_memory(function: str, there: Backend, instead: Backend) -> None:
    callers.warn(f"{function}: {there} is out of memory, so the call is repeated on {instead}", OutOfMemoryWarning)


def learn(prediction: Prediction, name: str, seconds: float) -> None:
    """Correct predictions by the time of a call on a backend."""
    call, predicted = prediction.call, prediction.by_profile(name)
    if call is None or not predicted:
        return
    if name == NUMPY and cost.CLASSES[call.kind].is_elementwise and call.work.results >= machine.RECORDED:
        seconds = min(seconds, predicted)  # in a chain, which is what is predicted, it takes no longer
    _note({prediction.key: (call, predicted)}, name, seconds / predicted)


def learn_chain(predictions: Sequence[Prediction], seconds: float) -> None:
    """Correct predictions of NumPy's elementwise calls by a chain's time."""
    by_key = {one.key: (one.call, one.by_profile(NUMPY)) for one in predictions}
    if seconds > 0 and all(predicted for _, predicted in by_key.values()):
        wanted = {
            key: (call, predicted)
            for key, (call, predicted) in by_key.items()
            if call is not None and cost.CLASSES[call.kind].is_elementwise and learning.is_wanted(NUMPY, call)
        }
        _note(wanted, NUMPY, seconds / sum([by_key[one.key][1] for one in predictions]))


def _note(calls: Mapping[Any, tuple[cost.Call, float]], name: str, ratio: float) -> None:
    """Multiply what is predicted of calls on a backend by a ratio."""
    changed = [call for call, _ in calls.values() if learning.note(name, call, ratio)]
    for call in changed if name == NUMPY else ():
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


def settled(function: str, arrays: Sequence[Any], home: Home, reason: str) -> Decision:
    """A decision that was not made here, for the record."""
    return Decision(function, shapes_of(arrays), home, home, reason)


def shapes_of(arrays: Sequence[Any]) -> tuple[Shape, ...]:
    return tuple([tuple(a._home.shape_of(a._value)) for a in arrays])


def meeting(homes: Iterable[Home]) -> Home:
    """Where free inputs meet: the first home that is not NumPy, else NumPy."""
    return next((home for home in homes if home is not _NUMPY), _NUMPY)


LEFT: Final = 3 / 4
"""A call pays alone if elsewhere, with its price, it takes at most this part of the time here: a margin for error.

With the return of the result at most all of it.
"""
TWICE: Final = 2.0
"""The factor by which an account must exceed the price before data moves away from NumPy."""


class Offer(NamedTuple):
    """What a call takes on another backend, in seconds."""

    name: str
    working: float
    """The call itself."""
    arriving: float
    """Transfer of the inputs."""
    returning: float
    """Transfer of the result back to where the call stays; 0 to NumPy, where it may stay."""
    once: float
    """Import of the library, and compilation for these shapes."""

    @property
    def price(self) -> float:
        """What the move takes beside the call."""
        return self.arriving + self.returning + self.once

    def pays_alone(self, here: float) -> bool:
        """Whether one call that takes `here` seconds saves the price.

        With a margin for error of what is paid in any case: the result may never go back.
        """
        paid = self.working + self.arriving + self.once
        return paid <= LEFT * here and paid + self.returning <= here

    def pays(self, here: float, missed: float) -> bool:
        """Whether it does, or does together with what calls alike missed."""
        if self.pays_alone(here):
            return True
        # Without missed savings, twice the price may be within the error of a call that takes far longer.
        return (missed > 0 or self.name == NUMPY) and missed >= self.needed(here) and here > self.working

    def needed(self, here: float) -> float:
        """The missed savings from which on it pays, if not alone."""
        return (1.0 if self.name == NUMPY else TWICE) * self.price - (here - self.working)


def gains(here: str, seconds: float, there: str, working: float, kind: str) -> bool:
    """Whether a call is so much faster elsewhere that a move is considered."""
    deciding = cost.DECIDING if here == NUMPY else 0.0
    return working < seconds and working + deciding <= cost.gain(there, kind) * seconds


def cheapest(offers: Iterable[Offer], here: float, missed: Mapping[str, float]) -> list[Offer]:
    """The offers that pay, that which takes least first."""
    return sorted(
        [one for one in offers if one.pays(here, missed.get(one.name, 0.0))], key=lambda one: one.working + one.price
    )


def key_of(arrays: Sequence[Any], axis: cost.Axis) -> tuple[Any, ...]:
    """What calls alike have in common, beside the function.

    The axis, and of each Array the home, the backend of its second copy, the shape and the dtype. `key_of` in
    `_speedups/entry/choice.c` makes the same.
    """
    key: list[Any] = [axis]
    for one in arrays:
        native, second = one._value, getattr(one, "_second", None)
        key += (one._home, second and second[0], one._home.shape_of(native), native.dtype)
    return tuple(key)


def cached_decision(function: str, arrays: Sequence[Any], axis: cost.Axis) -> Backend | None:
    """Where a call with these Arrays was decided to run.

    None if a decision must be made.
    """
    found = machine.accounts_of(function).get(key_of(arrays, axis))
    if found is None or found.backend is None or any(one.is_reached(found.missed) for one in found.waits):
        return None
    if found.nbytes and not has_room(found.backend.name, found.nbytes):
        return None
    for one in found.waits:
        found.missed[one.name] = found.missed.get(one.name, 0.0) + one.gain
    return found.backend


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
        return _left(Decision(function, shapes, stay, stay, "stays: no profile of this machine"), arrays, candidates)
    dtypes = tuple([a._home.dtype(a._value) for a in arrays])
    prediction = machine.prediction_of(function, shapes, dtypes, axis)
    known = prediction.known or known  # another thread may have excluded a backend in the meantime
    machine.measure_limit(function)
    sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True)]
    stay = _place(arrays, sizes, known, prediction.seconds)
    decision = Decision(function, shapes, stay, stay, alone=prediction.seconds)
    key = key_of(arrays, axis)
    account = machine.account(function, key if candidates is None else (*key, candidates))
    here = stay.backend.name
    if prediction.call is None or here not in prediction.seconds:
        account.backend = stay.backend
        return _left(decision, arrays, candidates)
    weighing = _Weighing(decision, arrays, sizes, prediction, prediction.call, known, candidates, account)
    weighing.choose()
    if candidates is None:
        weighing.keep(key)
    machine.note_compiled(decision.home.backend.name, prediction.key)
    return decision


def _left(decision: Decision, arrays: Sequence[Any], candidates: tuple[str, ...] | None) -> Decision:
    """Let a call without a prediction run where one of its inputs is.

    If a policy excludes that backend, on the first usable one that it allows.
    """
    here = decision.stay.backend.name
    if candidates is not None and here not in candidates:
        dtypes = [a._home.dtype(a._value) for a in arrays]
        predicted = decision.alone or {a._home.backend.name: 0.0 for a in arrays}
        decision.home = narrowed(decision.function, predicted, candidates, dtypes).free
        decision.reason = LEFT_OUT.format(here)
    return decision


class _Weighing:
    """The making of one decision, about a call that is predicted."""

    def __init__(
        self, decision: Decision, arrays: Sequence[Any], sizes: Sequence[int], prediction: Prediction, call: cost.Call,
        known: cost.Model, candidates: tuple[str, ...] | None, account: Account,
    ) -> None:  # fmt: skip
        self.decision, self.arrays, self.sizes, self.dtypes = decision, arrays, sizes, prediction.dtypes
        self.call, self.prediction, self.known, self.candidates = call, prediction, known, candidates
        self.account = account
        self.here: str = decision.stay.backend.name
        self.bringing = bringing(arrays, sizes, self.here, known)
        self.seconds = prediction.seconds[self.here] + self.bringing
        """Of the call where it stays."""
        self.first = first(self.here, call, prediction, known)
        """Additional seconds of the first call with these shapes there."""
        if self.first <= account.missed.get(self.here, 0.0):
            self.first = 0.0  # going elsewhere because of it has cost as much
        self.offers: list[Offer] = []

    @property
    def nbytes(self) -> float:
        """What the call takes on an accelerator, if that is to be asked."""
        needed = sum(self.sizes) + self.call.work.results * self.call.itemsize
        return needed if needed >= ASKED else 0.0

    def find_offers(self) -> None:
        """Find the backends that may do the call faster."""
        decision, staying = self.decision, self.seconds + self.first
        decision.predicted[self.here] = staying
        for name, working in self.prediction.seconds.items():
            is_allowed = self.candidates is None or name in self.candidates
            if name == self.here or not is_allowed or (name, self.call.function) in machine.unable:
                continue
            if not has_room(name, self.nbytes):
                continue
            if self.candidates is not None or gains(self.here, staying, name, working, self.call.kind):
                self.offers.append(self.offer(name, working))
                decision.predicted[name] = working + self.offers[-1].price
            else:
                decision.predicted[name] = working

    def offer(self, name: str, working: float) -> Offer:
        """What moving to a backend takes."""
        known, call, there = self.known, self.call, loaded(name)
        arriving = bringing(self.arrays, self.sizes, name, known)
        is_view = there is not None and transfer.route(there, self.decision.stay.backend).is_always_safe
        returning = known.bringing(name, self.here, call.work.results * call.itemsize, is_view=is_view)
        once = first(name, call, self.prediction, known) + importing(name, known)
        return Offer(name, working, arriving, 0.0 if name == NUMPY else returning, once)

    def choose(self) -> None:
        """Decide where the call runs, and add to the account."""
        decision, here, missed = self.decision, self.here, self.account.missed
        staying = self.seconds + self.first
        self.find_offers()
        paying = cheapest(self.offers, staying, missed)
        best = next((one for one in paying if has_dtypes(one.name, self.dtypes)), None)
        is_to_be_timed = (
            best is not None
            and self.candidates is None
            and learning.is_on()
            and not learning.is_known(here, self.call)
            and self.prediction.seconds[here] <= learning.LONG
        )
        if is_to_be_timed:
            best, decision.timed = None, self.prediction
            decision.reason = f"stays on {here}: timed there before it moves"
        elif best is None:
            decision.reason = why_staying(here, decision.alone, is_more_gained=bool(self.offers))
        else:
            decision.reason = why_moving(here, pays_alone=best.pays_alone(staying))
            decision.home = registry.backend_of_name(best.name).free
        if self.candidates is not None and decision.home.backend.name not in self.candidates:
            decision.home = narrowed(decision.function, decision.predicted, self.candidates, self.dtypes).free
            decision.reason = LEFT_OUT.format(here)
        name = decision.home.backend.name
        chosen = next((one for one in self.offers if one.name == name), None)
        decision.transferred, decision.bought = self.bringing, self.first
        if chosen is not None:
            decision.transferred, decision.bought = chosen.arriving, chosen.once
            # It is imported by now.
            decision.imported = chosen.once - first(name, self.call, self.prediction, self.known)
        self.add_up(best, name)

    def add_up(self, best: Offer | None, name: str) -> None:
        """Spend what paid for a move, or add what is missed now."""
        missed = self.account.missed
        if self.candidates is None and self.is_time_wanted(name):
            self.decision.timed = self.prediction
        if best is not None:
            if not best.pays_alone(self.seconds + self.first):
                missed[best.name] = 0.0
            took = best.working + best.arriving + best.once
            if self.first:
                missed[self.here] = missed.get(self.here, 0.0) + max(0.0, took - self.seconds)
        elif self.decision.timed is None:  # what a call misses is not believed before it was timed
            for one in self.offers:
                missed[one.name] = missed.get(one.name, 0.0) + (self.seconds - one.working)

    def is_time_wanted(self, name: str) -> bool:
        """Whether the time of this call on a backend corrects predictions.

        It is not where it takes less than what a decision may win, nor where it compiles, nor in NumPy where no other
        library is imported: to import one would have to pay first, and then the call is timed before it moves.
        """
        if self.prediction.seconds.get(name, 0.0) < cost.DECIDING / learning.OFF:
            return False
        if name == NUMPY:
            is_usual = any(package_of(one) in sys.modules for one in self.known.backends if one != NUMPY)
        else:
            is_usual = not first(name, self.call, self.prediction, self.known)
        return is_usual and learning.is_wanted(name, self.call)

    def keep(self, key: Any) -> None:
        """Keep the decision for calls alike until an offer may pay.

        The key tells which inputs have a second copy where, so what bringing them takes is the same.
        """
        decision, account, home = self.decision, self.account, self.decision.home
        offers = [one for one in self.offers if not decision.has_moved or one.name == home.backend.name]
        is_open = any(one.pays_alone(self.seconds) != decision.has_moved for one in offers)
        is_copied = decision.has_moved and home is _NUMPY and decision.transferred > 0  # for later calls
        if is_open or is_copied or decision.timed is not None or (decision.has_moved and decision.bought):
            account.backend = None
            return
        account.waits = () if decision.has_moved else tuple([self.wait(one) for one in offers])
        account.nbytes = self.nbytes if decision.has_moved else 0.0
        account.backend = home.backend
        # Python puts those off that are to be computed with others, on other backends than NumPy.
        is_put_off = (
            home is not _NUMPY and cost.CLASSES[self.call.kind].is_elementwise
            and self.call.work.results >= machine.RECORDED
        )  # fmt: skip
        if not (decision.has_moved or account.waits or is_put_off) and all(a._home is home for a in self.arrays):
            machine.keep_at_home(decision.function, key, home)

    def wait(self, offer: Offer) -> Wait:
        """From when on an offer that does not pay is to be looked at again."""
        package = package_of(offer.name)
        needed = max(math.ulp(0.0), offer.needed(self.seconds))
        return Wait(offer.name, self.seconds - offer.working, needed, "" if package in sys.modules else package)


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


def _place(arrays: Sequence[Any], sizes: Sequence[int], known: cost.Model, seconds: Mapping[str, float]) -> Home:
    """Where the inputs are: of their homes that where the call ends first.

    `seconds` are those of the call itself, by backend. NumPy is preferred by the margin for error.
    """
    homes: list[Home] = list(dict.fromkeys([a._home for a in arrays]))
    if len(homes) == 1:
        return homes[0]

    def ends(home: Home) -> tuple[float, bool, str]:
        name = home.backend.name
        working = seconds.get(name, math.inf) if seconds else 0.0
        return bringing(arrays, sizes, name, known) + working * (LEFT if name == NUMPY else 1.0), name != NUMPY, name

    return min(homes, key=ends)


def bringing(arrays: Sequence[Any], sizes: Sequence[int], target: str, known: cost.Model) -> float:
    """Seconds of transferring the Arrays that are not on `target`."""
    if {a._home.backend.name for a in arrays} == {target}:
        return 0.0
    seconds, there = 0.0, loaded(target)
    for array, nbytes in zip(arrays, sizes, strict=True):
        source = array._home.backend
        if source.name != target and (there is None or second_copies.get(array, there) is None):
            is_view = there is not None and _is_view(array, source, there)
            seconds += known.bringing(source.name, target, nbytes, is_view=is_view)
    return seconds


def _is_view(array: Any, source: Backend, target: Backend) -> bool:
    """Whether a transfer shares memory, as `_memory.transfer` decides."""
    way = transfer.route(source, target)
    return way.is_always_safe or (
        way.needs_shareable and ownership.is_private(array) and alignment.is_shareable(array._native)
    )


ASKED: Final = 1 << 28
"""Bytes of a call from which an accelerator is asked for what is free, which takes some microseconds."""


def has_room(name: str, nbytes: float) -> bool:
    """Whether a backend has so much memory left, as far as it tells."""
    there = loaded(name) if nbytes else None
    if there is None or there.kind == "cpu":
        return True
    free = there.hook("memory")(there.native_device)[1]
    return free is None or nbytes <= free


def _library(name: str) -> libraries.Library:
    """The library of a backend; a name that is in the cache is not parsed."""
    met = registry._backends.get(name)
    return registry.parse(name)[0] if met is None else met._loaded.library


def loaded(name: str) -> Backend | None:
    """The backend of a name if its library is loaded and has the device."""
    return usable_backend(name) if registry.is_loaded(_library(name)) else None


def package_of(name: str) -> str:
    """The package of a backend's library."""
    return _library(name).package


def importing(name: str, known: cost.Model) -> float:
    """Seconds of importing a backend's library; 0 if it is imported."""
    return 0.0 if package_of(name) in sys.modules else known.backends[name].importing


def first(name: str, call: cost.Call, prediction: Prediction, known: cost.Model) -> float:
    """Additional seconds of the first call with these shapes; else 0."""
    return 0.0 if (name, prediction.key) in machine.compiled else known.first(name, call)


def has_dtypes(name: str, dtypes: Iterable[DType]) -> bool:
    """Whether a backend is usable and has the dtypes; imports its library."""
    there = usable_backend(name)
    return there is not None and all(there.has_dtype(dtype.name) for dtype in dtypes)


def narrowed(
    function: str, predicted: Mapping[str, float], candidates: Sequence[str], dtypes: Sequence[DType]
) -> Backend:
    """The best of the backends that a policy allows, whatever the price.

    One that has the dtypes and the function is preferred. Raises BackendError if none can be used.
    """
    names = sorted(candidates, key=lambda name: ((name, function) in machine.unable, predicted.get(name, math.inf)))
    # Then the best device of each library, in case this process sees none of those that were measured.
    names += [registry.parse(name)[0].name for name in candidates]
    usable = [there for name in names if (there := usable_backend(name)) is not None]
    if not usable:
        raise errors.BackendError(
            f"{function}: none of the backends that the policy leaves can be used here: {', '.join(candidates)}. "
            f'Add one that can: "{NUMPY}"'
        )
    return next((there for there in usable if has_dtypes(there.name, dtypes)), usable[0])
