"""The automatic choice: where calls of free inputs run on a measured machine.

A call *stays* where most of its inputs are. Another backend *saves* what the call takes less there, and has a *price*:
bringing the inputs over and the result back; and, bought once, importing its library and compiling for new shapes. The
data moves if

(a) the saving of this call is at least the price, or
(b) this saving and those missed before on the lineage of the inputs are at least twice the price of moving (once, to
    go back to NumPy, which is the home of free data), and what is to be bought has been missed twice by calls with the
    same function, shapes and dtypes.

Rule (b) is that of rent or buy: it keeps all calls together within twice NumPy alone and four times the best choice
made with hindsight; docs/automatic-choice.md has the proof. Results inherit the account of missed savings of their
inputs. What is spent is spent for all that was computed from them, so no saving counts for two moves; what other
results missed does not count, as it says nothing of what comes of this one.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
import threading
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

from anyarray import _backend, _cost, _errors, _kept, _memory, _ownership, _transfer
from anyarray._backend import Backend, Home
from anyarray._dtypes import DType

NUMPY: Final = "numpy"
_NUMPY: Final = _backend.backend_of_name(NUMPY).free
TWICE: Final = 2.0
"""Times the price that missed savings must reach before data leaves NumPy."""
Shape = tuple[int, ...]
A = TypeVar("A")
Seconds = dict[str, float]
"""Seconds that were missed by not being on a backend, by its name."""


class Account(NamedTuple):
    """What was missed for an array: a move is paid by both."""

    pool: Seconds
    """Shared by all that was computed from the same arrays, so that no saving pays for two moves."""
    own: Seconds
    """On the way to this array alone: what other results missed does not make moving this one pay."""

    def inherited(self) -> Account:
        """The account of a result."""
        return Account(self.pool, self.own.copy())


RETURNED: Final = "returned"
"""Stands in an array's own account beside the backends: whether it went home to NumPy; not 0 if so."""
READING: Final = "reading"
"""Stands in a pool beside the backends: what the host's reading took more than the work there won."""
_by_memory: Final[dict[int, tuple[weakref.ref[Any], Account]]] = {}
"""The accounts of Arrays by the id of their memory, weakly, for Arrays of NumPy that are views of it.

Views are made where nothing is decided, which must not take the time to hand on an account.
"""


def account_of(array: Any) -> Account | None:
    """What was missed for an Array or one with its memory, if anything."""
    found: Account | None = getattr(array, "_account", None)
    if found is None and _by_memory and array._home.backend.library == NUMPY:
        memory = _memory_of(array._native)
        entry = _by_memory.get(id(memory))
        if entry is not None and entry[0]() is memory:
            found = array._account = entry[1].inherited()
    return found


def _memory_of(native: Any) -> Any:
    """What all views of an ndarray hold."""
    return native if native.base is None else native.base


def _give(array: Any, account: Account) -> None:
    """Let an Array have an account, and views of its memory inherit it."""
    array._account = account
    if array._home.backend.library == NUMPY:
        memory = _memory_of(array._native)
        key = id(memory)
        with contextlib.suppress(TypeError):  # some memory of others takes no weak references
            _by_memory[key] = (weakref.ref(memory, lambda _: _by_memory.pop(key, None)), account)


def inherited(result: A, source: Any) -> A:
    """An Array made of another without a decision, with its account."""
    # To look for what is not set takes 0.3 us.
    found = None if state.model is None else account_of(source)
    if found is not None:
        _give(result, found.inherited())
    return result


CURE: Final = "Run: python -m anyarray calibrate"


class ProfileWarning(UserWarning):
    """A profile that cannot be used, so calls stay where their inputs are."""


class _State:
    """The model of this process, looked up once."""

    def __init__(self) -> None:
        self.is_known = False
        self.model: _cost.Model | None = None
        self.is_silent = True
        """Whether there is nothing to say about a missing profile, or it was said."""
        self.is_looking = False
        self.looking = threading.RLock()
        """Held while the profile is looked for: who needs it meanwhile waits."""


class Limit:
    """Elements below which a function needs no decision.

    It runs in NumPy then, where its inputs are.
    """

    __slots__ = ("elements", "narrow", "side")

    def __init__(self) -> None:
        self.set(LARGE, LARGE)

    def set(self, elements: int, narrow: int) -> None:
        """Set all of them."""
        self.elements = elements
        """For all dtypes."""
        self.narrow = narrow
        """For those of at most `_cost.WIDTHS[0]` bytes."""
        self.side = math.isqrt(elements - 1) + 1 if elements else 0
        """For each of two arrays, however they broadcast."""


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


def model() -> _cost.Model | None:
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


def _looked_up() -> _cost.Model | None:
    # Reads files; 15 ms, which `import anyarray` need not take.
    from anyarray import _profile

    try:
        found = _profile.load()
    except _profile.UnusableError as error:
        warnings.warn(f"profile: {error}, so it is ignored. {CURE}", ProfileWarning, stacklevel=_outside())
        return None
    state.is_silent = found is not None or _profile.is_off()
    if found is None:
        return None
    if found.added:
        # No warning either: what is measured is right.
        log(f"anyarray: no call is moved to {', '.join(found.added)}, installed after the profile was made. {CURE}")
    return _without(found, [name for name in found.backends if not may_be_here(name)])


def _outside() -> int:
    """The `stacklevel` at which a warning of the caller names the user's line.

    It does so however many calls of ours lead here.
    """
    # `skip_file_prefixes` of `warnings.warn` does it from Python 3.12 on.
    the_user_s, frame, level = _transfer.user_frame(), sys._getframe(1), 1
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
    if any(library.is_installed for library in _backend.libraries().values() if library.name != NUMPY):
        log(f"anyarray: calls run where their arrays are, as this machine is not measured. {CURE}")


def log(line: str) -> None:
    import logging  # 5 ms, which `import anyarray` need not take

    logging.getLogger("anyarray").warning(line)


def use(found: _cost.Model | None) -> None:
    """Decide by this model from now on."""
    state.is_known, state.model = True, found
    for function, limit in _limits.items():
        limit.set(
            *[
                MOST
                if found is None
                else math.ceil(min(MOST, found.never_below(function, widths), found.worth_a_look(function, widths)))
                for widths in (_cost.WIDTHS, _cost.WIDTHS[:1])
            ]
        )
    _clear()


def _without(found: _cost.Model, names: Sequence[str]) -> _cost.Model:
    """The model of a machine without these backends."""
    if not names:
        return found
    left = {name: costs for name, costs in found.backends.items() if name not in names}
    return found._replace(backends=left)


def _leave_out(names: Sequence[str]) -> None:
    """Choose among the other backends from now on."""
    if state.model is not None and not state.model.backends.keys().isdisjoint(names):
        state.model = _without(state.model, names)
        _clear()  # but the limits, which take a tenth of a second, and are rather too low now


_before_fork: Final[set[str]] = set()
"""Libraries that were imported in the process of which this one is a fork."""


def _forked() -> None:
    # The child has none of the other threads, so what they hold would never be given back.
    state.looking, state.is_looking = threading.RLock(), False
    # Nor those that work for those libraries: a call of theirs would wait for ever.
    rows = _backend.LIBRARIES.values()
    _before_fork.update([row.name for row in rows if row.name != NUMPY and row.package in sys.modules])
    if state.model is not None:
        _leave_out([name for name in state.model.backends if not may_be_here(name)])


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


def may_be_here(name: str) -> bool:
    """Whether a backend can be used, as far as is known.

    Does not import its library to find out.
    """
    try:
        library = _backend.parse(name)[0]
        if library.is_loaded():
            _backend.backend_of_name(name)
    except _errors.BackendError:
        return False  # of a library that is unknown here, or a device that this process does not see
    return library.name not in _before_fork


def found_here(name: str) -> Backend | None:
    """The backend of a name, its library imported; None if unusable here.

    One that cannot be used is left out of the choice from now on.
    """
    known = _backend._backends.get(name)
    if known is not None and known.library not in _before_fork:
        return known
    if may_be_here(name):
        try:
            return _backend.backend_of_name(name)
        except Exception:  # noqa: BLE001 - a broken installation may raise anything
            pass
    _leave_out([name])
    return None


def forget() -> None:
    """Look for the profile again at the next large call."""
    state.is_known, state.model, state.is_silent = False, None, True
    for limit in _limits.values():
        limit.set(LARGE, LARGE)
    _clear()


def _clear() -> None:
    _prospect.cache_clear()
    _missed.clear()
    _compiled.clear()
    _unable.clear()
    _by_memory.clear()
    for calls in _numpys.values():
        calls.clear()


_numpys: Final[dict[str, set[Any]]] = {}
MOST_CALLS: Final = 4096


def calls_of_numpy(function: str) -> set[Any]:
    """Calls of a function that stay in NumPy; the set grows as they are found.

    A call is whether it has an axis, then the shape and the dtype of each array. One object, which is emptied in place.
    """
    return _numpys.setdefault(function, set())


_missed: Final[OrderedDict[Any, Seconds]] = OrderedDict()
"""What calls with the same function, shapes and dtypes missed: pays for what is bought once, as compiling is."""
MOST_MISSED: Final = 1024
_compiled: Final[set[Any]] = set()
"""What ran on a backend before: (its name, function, shapes, dtypes)."""
MOST_COMPILED: Final = 1 << 16
_unable: Final[set[tuple[str, str]]] = set()
"""Backends and functions that they turned out to lack."""


class Prospect(NamedTuple):
    """What is predicted of calls with the same function, shapes and dtypes."""

    call: _cost.Call | None
    seconds: Mapping[str, float]
    """Of the call alone, by backend; empty if nothing is known."""
    key: Any
    is_numpys: bool
    """Whether no backend is enough faster than NumPy, as far as is known."""
    known: _cost.Model | None
    """The model that it is predicted by."""


@functools.lru_cache(maxsize=4096)
def _prospect(function: str, shapes: tuple[Shape, ...], dtypes: tuple[DType, ...], has_axis: bool) -> Prospect:
    known, found = state.model, _cost.call(function, shapes, dtypes, has_axis=has_axis)
    key = (function, shapes, tuple([dtype.name for dtype in dtypes]), has_axis)
    if known is None or found is None:
        return Prospect(None, {}, key, True, known)
    predicted = {name: known.seconds(name, found) for name in known.backends}
    seconds = {name: one for name, one in predicted.items() if one is not None}
    is_numpys = NUMPY in seconds and min(seconds.values()) + _cost.DECIDING > _cost.GAIN * seconds[NUMPY]
    return Prospect(found, seconds, key, is_numpys, known)


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
    """Predicted seconds of bringing the inputs, part of `predicted`."""
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
                _give(one, self.account.inherited())

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
        if self.has_moved and isinstance(error, _errors.UnsupportedError):
            _unable.add((there.name, self.function))
            self.home = self.stay
        elif _backend.is_out_of_memory(error) and there.name != NUMPY:
            self.home = self.stay if self.has_moved else _backend.backend_of_name(NUMPY).free
            _warn_of_memory(self.function, there, self.home.backend)
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


def _warn_of_memory(function: str, there: Backend, instead: Backend) -> None:
    warnings.warn(
        f"{function}: {there} is out of memory, so the call is repeated on {instead}",
        OutOfMemoryWarning,
        stacklevel=_outside(),
    )


def settled(function: str, arrays: Sequence[Any], home: Home, reason: str) -> Decision:
    """What is not decided here, for the record."""
    return Decision(function, _shapes(arrays), home, home, reason)


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


def _shapes(arrays: Sequence[Any]) -> tuple[Shape, ...]:
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
    home = _narrowed(function, {}, candidates, [a._home.dtype(a._native) for a in arrays]).free
    return Decision(function, shapes, home, stay, "moves: the first that the policy names, and there is no profile")


def decide(
    function: str, arrays: Sequence[Any], candidates: tuple[str, ...] | None = None, *, has_axis: bool = False
) -> Decision:
    """Where a call with these free Arrays runs, and why.

    It runs on one of `candidates` if there are any. `has_axis` says whether a function whose class `is_by_axis` goes
    along another axis than if none is named.
    """
    known = model()  # where each call is recorded, nobody else has looked
    shapes = _shapes(arrays)
    if known is None:
        return _unmeasured(function, arrays, shapes, candidates)
    dtypes = tuple([a._home.dtype(a._native) for a in arrays])
    prospect = _prospect(function, shapes, dtypes, has_axis)
    known = prospect.known or known  # a thread may have left a backend out meanwhile
    if prospect.is_numpys and candidates is None and all(_is_plain(a) for a in arrays):
        return _of_numpy(function, arrays, shapes, prospect, has_axis=has_axis)
    sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True)]
    home = _place(arrays, sizes, known)
    decision = Decision(function, shapes, home, home, predicted={}, alone={})
    if prospect.call is None or home.backend.name not in prospect.seconds:
        _follow(decision, arrays, dtypes, prospect, candidates)
        return decision
    making = _Making(decision, arrays, sizes, dtypes, prospect.call, prospect, known, candidates)
    making.book(making.settle(making.choose()))
    return decision


def _of_numpy(
    function: str, arrays: Sequence[Any], shapes: tuple[Shape, ...], prospect: Prospect, *, has_axis: bool
) -> Decision:
    """The decision where nobody is enough faster than NumPy.

    Calls like this one are not asked about any more.
    """
    calls = calls_of_numpy(function)
    if len(calls) >= MOST_CALLS:
        calls.clear()
    calls.add((has_axis, *[part for a in arrays for part in (a._native.shape, a._native.dtype)]))
    home = arrays[0]._home
    decision = Decision(function, shapes, home, home, predicted=dict(prospect.seconds), alone=prospect.seconds)
    if prospect.seconds:
        decision.reason = _staying(NUMPY, prospect.seconds, is_more_gained=False)
    return decision


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
        decision.home = _narrowed(decision.function, predicted, candidates, dtypes).free
        decision.reason = LEFT_OUT.format(here)


class Stay(NamedTuple):
    """What a call takes where most of its inputs are."""

    name: str
    seconds: float
    """With bringing those of its inputs that are elsewhere."""
    first: float
    """What the first call with these shapes takes on top."""


class Offer(NamedTuple):
    """What a call takes on another backend, and what speaks for moving."""

    name: str
    working: float
    """Seconds of the call alone."""
    arriving: float
    """Of bringing the inputs."""
    returning: float
    """Of bringing the result back to where the call stays."""
    once: float
    """Of importing the library and compiling for these shapes."""
    reading: float
    """What the host's reading took that a move to NumPy saves from now on."""
    missed: float
    """What was missed on the lineage of the inputs."""
    alike: float
    """What was missed by calls with the same function, shapes and dtypes."""


class Price(NamedTuple):
    """What a call takes on another backend, and whether it is worth it."""

    seconds: float
    """All in all."""
    pays_alone: bool
    """Whether this call saves the price: rule (a)."""
    pays: bool
    """Whether it does, or what was missed before it with it: rule (b)."""


def gains(stay: Stay, name: str, working: float, reading: float) -> bool:
    """Whether a call takes so much less elsewhere that a move is weighed."""
    # What reading took is saved from now on, if the results of calls to come are read likewise.
    deciding = _cost.DECIDING if stay.name == NUMPY else 0.0
    return (
        stay.seconds - working + reading + stay.first > 0
        and working + deciding <= _gain(name) * (stay.seconds + reading + stay.first)
    )  # fmt: skip


def weigh(stay: Stay, offer: Offer) -> Price:
    """The price of an offer, by the rules above."""
    saving = stay.seconds - offer.working
    moving = offer.arriving + offer.returning
    multiple = 1.0 if offer.name == NUMPY else TWICE
    pays_alone = saving + stay.first >= moving + offer.once
    pays = pays_alone or (
        saving + offer.reading > 0
        and (saving >= moving or offer.missed + offer.reading + saving >= multiple * moving)
        and (not offer.once or offer.alike + saving >= multiple * (moving + offer.once))
    )
    return Price(offer.working + moving + offer.once, pays_alone, pays)


class _Making:
    """One decision in the making, about a call that is predicted.

    What an offer takes is found out when its turn comes: to look at one may import a library, which is at hand for the
    next then.
    """

    __slots__ = (
        "allowed", "arrays", "books", "call", "candidates", "decision", "dtypes", "known", "on_top", "prospect",
        "sizes", "stay",
    )  # fmt: skip

    def __init__(
        self,
        decision: Decision,
        arrays: Sequence[Any],
        sizes: Sequence[int],
        dtypes: Sequence[DType],
        call: _cost.Call,
        prospect: Prospect,
        known: _cost.Model,
        candidates: tuple[str, ...] | None,
    ) -> None:
        here, seconds = decision.stay.backend.name, prospect.seconds
        self.decision, self.arrays, self.sizes, self.dtypes = decision, arrays, sizes, dtypes
        self.call, self.prospect, self.known, self.candidates = call, prospect, known, candidates
        self.books = Books(_account(arrays), _pools(arrays), _missed_by(prospect.key))
        self.allowed = (
            seconds if candidates is None else {n: s for n, s in seconds.items() if n in candidates or n == here}
        )
        bringing, first = _bringing(arrays, sizes, here, known), _first(here, call, prospect, known)
        self.stay = Stay(here, seconds[here] + bringing, first)
        self.on_top = {here: (bringing, first)}
        """Seconds of bringing the inputs and of what is bought once, where the call was weighed."""
        decision.alone, decision.account = seconds, self.books.account
        decision.predicted[here] = self.stay.seconds + first

    def offer(self, name: str, working: float, reading: float) -> Offer:
        """What moving to a backend takes, and what was missed so far."""
        known, call, home, books = self.known, self.call, self.decision.stay, self.books
        arriving, there = _bringing(self.arrays, self.sizes, name, known), _loaded(name)
        is_view = there is not None and _transfer.route(there, home.backend).is_always_safe
        returning = known.bringing(name, self.stay.name, call.work.results * call.itemsize, is_view=is_view)
        once = _first(name, call, self.prospect, known) + _importing(name, known)
        self.on_top[name] = arriving, once
        return Offer(name, working, arriving, returning, once, reading, books.missed(name), books.alike.get(name, 0.0))

    def choose(self) -> str:
        """The backend that takes least of those that pay; else this one."""
        stay, decision = self.stay, self.decision
        best, least = stay.name, math.inf
        for name, working in self.allowed.items():
            if name == stay.name or (name, decision.function) in _unable:
                continue
            reading = self.books.reading() if name == NUMPY else 0.0
            if self.candidates is None and not gains(stay, name, working, reading):
                decision.predicted[name] = working
                continue
            price = weigh(stay, self.offer(name, working, reading))
            decision.predicted[name] = price.seconds
            if price.pays and price.seconds < least and _has_dtypes(name, self.dtypes):
                best, least = name, price.seconds
                decision.reason = _moving(stay.name, pays_alone=price.pays_alone)
        return best

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
            best = _narrowed(decision.function, decision.predicted, self.candidates, self.dtypes).name
            decision.reason = LEFT_OUT.format(here)
        decision.transferred, decision.bought = self.on_top.get(best, (0.0, 0.0))
        if best == here:
            most = self.prospect.seconds[here]
            is_more_gained = any(working <= _gain(name) * most for name, working in self.allowed.items())
            decision.reason = _staying(here, self.allowed, is_more_gained=is_more_gained)
        else:
            decision.home = _backend.backend_of_name(best).free
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
        if len(_compiled) > MOST_COMPILED:
            _compiled.clear()
        _compiled.add((best, self.prospect.key))


def _gain(name: str) -> float:
    """Part of the time here that a call may take on a backend at most."""
    return _cost.GAIN_AT_HOME if name == NUMPY else _cost.GAIN


LEFT_OUT: Final = "moves from {}: the policy leaves it out"


def _moving(here: str, *, pays_alone: bool) -> str:
    """Why a call moves."""
    payer = "this call alone pays for it" if pays_alone else "missed savings paid for it"
    return f"moves from {here}: {payer}"


def _staying(here: str, seconds: Mapping[str, float], *, is_more_gained: bool) -> str:
    """Why a call stays, by the seconds that it takes on each backend.

    `is_more_gained` says that elsewhere more is gained than error may feign.
    """
    if seconds[here] <= min(seconds.values()):
        return f"stays on {here}: the fastest"
    return f"stays on {here}: " + ("moving has not paid yet" if is_more_gained else "elsewhere too little is gained")


def _is_plain(array: Any) -> bool:
    """Whether an Array is in NumPy, and nothing was missed for it."""
    return array._home.backend.library == NUMPY and account_of(array) is None


def _place(arrays: Sequence[Any], sizes: Sequence[int], known: _cost.Model) -> Home:
    """The home to which bringing the others takes least; NumPy on a tie."""
    homes = list(dict.fromkeys([_at(a) for a in arrays]))
    if len(homes) == 1:
        return homes[0]
    return min(
        homes, key=lambda h: (_bringing(arrays, sizes, h.backend.name, known), h.backend.name != NUMPY, h.backend.name)
    )


def _at(array: Any) -> Home:
    """Where an Array counts as living.

    In NumPy after it went home, as long as its copy is kept there.
    """
    account = getattr(array, "_account", None)
    if account is not None and account.own.get(RETURNED) and _kept.get(array, _NUMPY.backend) is not None:
        return _NUMPY
    return array._home  # type: ignore[no-any-return]  # an Array's home


def _bringing(arrays: Sequence[Any], sizes: Sequence[int], target: str, known: _cost.Model) -> float:
    """Seconds of bringing those of the Arrays that are not there."""
    if {a._home.backend.name for a in arrays} == {target}:
        return 0.0
    seconds, there = 0.0, _loaded(target)
    for array, nbytes in zip(arrays, sizes, strict=True):
        source = array._home.backend
        if source.name != target and (there is None or _kept.get(array, there) is None):
            is_view = there is not None and _is_view(array, source, there)
            seconds += known.bringing(source.name, target, nbytes, is_view=is_view)
    return seconds


def _is_view(array: Any, source: Backend, target: Backend) -> bool:
    """Whether bringing it would share memory, as `_transfer.moved` does."""
    way = _transfer.route(source, target)
    return way.is_always_safe or (way.needs_fit and _ownership.is_unwritten(array) and _memory.is_fit(array._native))


def _library(name: str) -> _backend.Library:
    """The library of a backend; a name that was met before is not parsed."""
    met = _backend._backends.get(name)
    return _backend.parse(name)[0] if met is None else met._loaded.library


def _loaded(name: str) -> Backend | None:
    """The backend of a name, if its library is imported and has the device."""
    return found_here(name) if _library(name).is_loaded() else None


def _importing(name: str, known: _cost.Model) -> float:
    """Seconds that importing its library takes; 0 if it is imported."""
    return 0.0 if _library(name).package in sys.modules else known.backends[name].importing


def _first(name: str, call: _cost.Call, prospect: Prospect, known: _cost.Model) -> float:
    """Seconds that the first call with these shapes adds; 0 for others."""
    return 0.0 if (name, prospect.key) in _compiled else known.first(name, call)


def _has_dtypes(name: str, dtypes: Iterable[DType]) -> bool:
    """Whether the backend, imported for it, is there and has the dtypes."""
    there = found_here(name)
    return there is not None and all(there.has_dtype(dtype.name) for dtype in dtypes)


def _narrowed(
    function: str, predicted: Mapping[str, float], candidates: Sequence[str], dtypes: Sequence[DType]
) -> Backend:
    """The best of the backends that a policy leaves, whatever it costs.

    It has the dtypes and the function if any of them has. Raises BackendError if none can be used.
    """
    names = sorted(candidates, key=lambda name: ((name, function) in _unable, predicted.get(name, math.inf)))
    # The best of a library, if none of its devices that were measured is seen by this process.
    names += [_backend.parse(name)[0].name for name in candidates]
    first: Backend | None = None
    for name in names:
        there = found_here(name)
        if there is not None and _has_dtypes(name, dtypes):
            return there
        first = first or there
    if first is None:
        raise _errors.BackendError(
            f"{function}: none of the backends that the policy leaves can be used here: {', '.join(candidates)}. "
            f'Add one that can: "{NUMPY}"'
        )
    return first


def _account(arrays: Sequence[Any]) -> Account:
    """The account that this call's missed savings go to.

    It is that of one of its inputs; if none has one, they open it together.
    """
    for array in arrays:
        found = account_of(array)
        if found is not None:
            _give(array, found)  # anew, as it may have other memory since
            return found
    opened = Account({}, {})
    for array in arrays:
        _give(array, opened)
    return opened


def _pools(arrays: Sequence[Any]) -> list[Seconds]:
    """The pools of the inputs, each once."""
    pools: dict[int, Seconds] = {}
    for array in arrays:
        account = account_of(array)
        if account is not None:
            pools[id(account.pool)] = account.pool
    return list(pools.values())


def _missed_by(key: Any) -> Seconds:
    """What calls like this one missed."""
    found = _missed.get(key)
    if found is None:
        found = _missed[key] = {}
        if len(_missed) > MOST_MISSED:
            _missed.popitem(last=False)
    return found


class Books(NamedTuple):
    """The accounts that a call draws on and adds to."""

    account: Account
    pools: Sequence[Seconds]
    """Of all inputs, each once."""
    alike: Seconds
    """Of calls with the same function, shapes and dtypes."""

    def missed(self, name: str) -> float:
        """Seconds that were missed on the way to the inputs and not spent."""
        return min(self.account.own.get(name, 0.0), sum([pool.get(name, 0.0) for pool in self.pools]))

    def reading(self) -> float:
        """Seconds of reading by the host that the work there did not win."""
        return sum([pool.get(READING, 0.0) for pool in self.pools])

    def spend(self, best: str, here: str) -> None:
        """Pay for a move between two backends."""
        for missed in (*self.pools, self.account.own, self.alike):
            missed[best] = missed[here] = missed[READING] = 0.0

    def miss(self, best: str, took: float, seconds: Mapping[str, float]) -> None:
        """Add what a call that `took` so long misses on the other backends."""
        pool = self.account.pool
        if took < math.inf:
            for name, working in seconds.items():
                if name != best:
                    for missed in (pool, self.account.own, self.alike):
                        missed[name] = max(0.0, missed.get(name, 0.0) + took - working)
        if took < seconds.get(NUMPY, 0.0) and pool.get(READING):
            pool[READING] = max(0.0, pool[READING] + took - seconds[NUMPY])


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

    def __init__(self, candidates: tuple[str, ...] | None = None, compiling: Seconds | None = None) -> None:
        self._candidates = candidates
        self._compiling: Seconds = {} if compiling is None else compiling
        """The least time of a call that compiled the function, for whatever arguments, by backend."""
        self.measured: dict[str, list[float]] = {}
        """Seconds of the calls on each backend, those that compiled left out."""
        self.missed: Seconds = {}
        self._unable: set[str] = set()
        """Backends on which it failed."""

    def may_run_on(self, home: Home) -> bool:
        """Whether a policy leaves this in."""
        return self._candidates is None or home.backend.name in self._candidates

    def give_up(self, there: Home, home: Home, failure: Exception) -> None:
        """Try a backend no more, on which failed what succeeded at home."""
        self._unable.add(there.backend.name)
        if _backend.is_out_of_memory(failure):
            _warn_of_memory("jit", there.backend, home.backend)

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

    def decide(self, function: str, here: Home, arrays: Sequence[Any]) -> Decision:
        """Where the next call runs, and why.

        Its arguments are `here`, or are brought there.
        """
        shapes = _shapes(arrays)
        itemsizes = [a._home.dtype(a._native).itemsize for a in arrays]
        sizes = [math.prod(shape) for shape in shapes]
        nbytes = [size * itemsize for size, itemsize in zip(sizes, itemsizes, strict=True)]
        dtypes = [a._home.dtype(a._native) for a in arrays]
        width = _cost.WIDTHS[0] if max(itemsizes) <= _cost.WIDTHS[0] else _cost.WIDTHS[1]
        name, known = here.backend.name, state.model
        decision = Decision(function, shapes, here, here)

        def price(target: str) -> _Price:
            assert known is not None
            bringing = _bringing(arrays, nbytes, target, known)
            once = 0.0
            if target not in self.measured:
                once = self._compiling.get(target, known.backends[target].compiling) + _importing(target, known)
            return _Price(bringing, bringing + known.bringing(target, name, max(nbytes)), once)

        if self._candidates is not None and name not in self._candidates:
            for one in self._candidates:
                self._predict(decision, known, one, max(sizes), width, price)
            decision.home = _narrowed(function, decision.predicted, self._candidates, dtypes).free
            decision.reason = LEFT_OUT.format(name)
            return decision
        best = self._choose(decision, known, max(sizes), width, price)
        if best != name:
            if _has_dtypes(best, dtypes):
                decision.home = _backend.backend_of_name(best).free
            else:
                decision.transferred = decision.bought = 0.0
                decision.reason = f"stays on {name}: {best} has not all its dtypes"
        return decision

    def _predict(
        self,
        decision: Decision,
        known: _cost.Model | None,
        name: str,
        elements: int,
        width: int,
        price: Callable[[str], _Price],
    ) -> None:
        """Add what a call takes elsewhere, with what it takes to get there.

        Nothing if nothing is known.
        """
        costs = None if known is None else known.backends.get(name)
        if costs is not None and width in costs.fused:
            was, its = self.seconds(name), price(name)
            working = costs.fused[width](elements) if was is None else was
            decision.predicted[name] = working + its.moving + its.once

    def _choose(
        self,
        decision: Decision,
        known: _cost.Model | None,
        elements: int,
        width: int,
        price: Callable[[str], _Price],
    ) -> str:
        """The best backend; the decision gets what speaks for it."""
        here = decision.home.backend.name
        staying = self.seconds(here)
        if known is None or here not in known.backends:
            decision.reason = f"stays on {here}, which is not measured"
            return here
        if staying is None:
            decision.reason = f"stays on {here}: not timed there yet"
            return here
        ours = known.backends[here].fused.get(width)
        alone = {here: staying}
        best, least = here, staying
        decision.predicted[here] = staying
        for name, costs in known.backends.items():
            curve, was = costs.fused.get(width), self.seconds(name)
            if name == here or name in self._unable or curve is None or ours is None:
                continue
            if self._candidates is not None and name not in self._candidates:
                continue
            working = alone[name] = staying * curve(elements) / ours(elements) if was is None else was
            its = price(name)
            decision.predicted[name] = working + its.moving + its.once
            saving = staying - working
            if was is None:
                self.missed[name] = self.missed.get(name, 0.0) + saving
            pays_alone = saving >= its.moving + its.once
            pays = pays_alone or (was is None and self.missed[name] >= TWICE * (its.moving + its.once))
            if saving > 0 and pays and working < least:
                best, least = name, working
                decision.transferred, decision.bought = its.bringing, its.once
                decision.reason = _moving(here, pays_alone=pays_alone)
        decision.alone = alone
        if best == here:
            decision.reason = _staying(here, alone, is_more_gained=True)
        return best


class _Price(NamedTuple):
    """Seconds that a function takes elsewhere beside its own."""

    bringing: float
    """Of its arguments."""
    moving: float
    """The same, and the result back."""
    once: float
    """Importing and compiling, where it did not run yet."""
