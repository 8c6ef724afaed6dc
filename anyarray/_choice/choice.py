"""The backend of a call: `backend(...)`, the default, and the rule.

1. Inside `with backend(NAME)`: on NAME. The innermost block wins; each thread and asyncio task has its own.
2. With none chosen, or `backend("auto")`: if an input is placed, on its home; two different placed homes are an
   error. If all are free: where the cost model says (`automatic`); on a machine without a profile, where they
   already are (NumPy data follows the others). NumPy for creation.
3. Under a trace: in that trace's library, always.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar

from anyarray._base import callers, environment, errors, settings
from anyarray._base.blocks import hint_at_use, within
from anyarray._base.settings import Holding, close
from anyarray._choice import automatic, cost, machine
from anyarray._choice.automatic import Decision
from anyarray._choice.whole_functions import WholeFunction
from anyarray._registry import libraries, registry
from anyarray._registry.home import Home
from anyarray._registry.registry import Backend

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

AUTO: Final = "auto"
VARIABLE: Final = "ANYARRAY_BACKEND"
"""The environment variable that sets the default of the process."""

_NUMPY: Final = registry.backend_of_name("numpy").free
_UNADOPTED: Final = registry.unadopted
_are_absent: Final = registry.are_absent


class Automatic:
    """The automatic choice, with a model or before the profile is loaded."""

    def __repr__(self) -> str:
        return AUTO


BY_COST: Final = Automatic()
"""A decision is made for each call above the thresholds of `machine.Limit`."""
OBSERVED: Final = Automatic()
"""A decision is made for every call, as it is recorded or must not stay in NumPy."""


class Choice:
    """What is chosen: a backend, the name of one, or the automatic choice.

    A name is replaced by its backend once the library is imported. `backend` is None for the automatic choice without a
    profile: calls run where their inputs are, without overhead.
    """

    __slots__ = ("backend", "block", "candidates", "fuses", "is_careful", "outer", "records")

    def __init__(
        self,
        backend: Backend | str | Automatic | None,
        candidates: tuple[str, ...] | None = None,
        records: tuple[list[Decision], ...] = (),
        block: Any = None,
        outer: Choice | None = None,
    ) -> None:
        self.backend = backend
        self.is_careful: bool = outer is not None and outer.is_careful
        """Whether each decided call is waited for, so that an error comes where it is made."""
        self.fuses: bool | None = None if outer is None else outer.fuses
        """Whether calls of elementwise functions are recorded and run together; None: if the choice is automatic."""
        self.candidates = candidates
        """Names of the backends that a policy allows; None for all."""
        self.records = records
        """Where decisions are recorded."""
        # Kept here, not with the block: threads and tasks may share one block object, each in a context of its own.
        self.block = block
        """The block that opened it."""
        self.outer = outer
        """What is chosen again when that is closed."""


def _be_automatic(found: Choice) -> None:
    """Make a choice automatic: BY_COST, or OBSERVED if all calls are decided.

    They are if decisions are recorded or waited for, or if the candidates leave NumPy out, where small calls would run.
    """
    leaves_numpy_out = found.candidates is not None and cost.NUMPY not in found.candidates
    found.backend = OBSERVED if found.records or found.is_careful or leaves_numpy_out else BY_COST


def _changing(change: Callable[[Choice], None], given: T) -> AbstractContextManager[T]:
    """A block in which `change` has been made to what is chosen outside."""

    def inside(outer: Choice, block: Any) -> Choice:
        found = Choice(outer.backend, outer.candidates, outer.records, block, outer)
        change(found)
        return found

    return Holding(context_variable, inside, given)


def _named(name: str) -> Choice:
    return Choice(BY_COST if name == AUTO else name)


process_default: Final = _named(environment.variable(VARIABLE) or AUTO)
"""The choice where no block is open; one object, which `set_default_backend` mutates."""

FUSE_VARIABLE: Final = "ANYARRAY_FUSE"
"""The environment variable that says "off" where no chains of elementwise calls are to be run together."""
if environment.is_off(FUSE_VARIABLE):
    process_default.fuses = False

context_variable: ContextVar[Choice] = settings.variable("anyarray backend", process_default)

current: Final = context_variable.get
"""The choice of this context; a bound method, as every call needs it."""


def chosen() -> Backend | None:
    """The backend that is chosen here; None for the automatic choice.

    Imports its library.
    """
    choice = current()
    named = choice.backend
    if isinstance(named, Automatic):
        return None
    if not isinstance(named, str):
        return named
    try:
        found = registry.backend_of_name(named)
    except errors.BackendError as error:
        if named == process_default.backend == environment.variable(VARIABLE):
            error.args = (f"{error}. The environment variable {VARIABLE} asks for it",)
        raise
    if choice.backend is named:  # else another thread has set another default in the meantime
        choice.backend = found
    return found


class backend:  # noqa: N801 - used as a function
    """Run a `with` block, or a decorated function, on one backend.

    `name` is a name such as "numpy", "jax" or "tf-gpu:1", a device, or "auto". Inputs that live elsewhere move to the
    backend. The innermost block wins, and a block applies to one thread or asyncio task. The end of the block restores
    the previous choice, also after an exception. The library is imported on entry.
    Raises BackendNotFoundError, BackendNotInstalledError, DeviceNotFoundError.

    >>> import anyarray as xp
    >>> with xp.backend("numpy"):
    ...     print(xp.ones(2).device)
    numpy
    """

    name = "backend"

    def __init__(self, name: str | Backend = AUTO, /) -> None:
        found = registry.known(name) if type(name) is str else None
        if found is None:
            _check_name("backend", name)
            if isinstance(name, str):
                if name != AUTO:
                    registry.parse(name)
            else:
                found = name
        self._spec = name
        self._backend = found
        """None until it is entered, unless the backend was asked for before; always for "auto"."""
        self._is_used = False

    def inside(self, outer: Choice, /) -> Choice:
        """What is chosen in the block."""
        found = Choice(self._backend, outer.candidates, outer.records, self, outer)
        if self._backend is None:
            _be_automatic(found)
        return found

    def __enter__(self) -> Backend | None:
        self._is_used = True
        if self._backend is None and self._spec != AUTO:
            self._backend = registry.as_backend(self._spec)
        context_variable.set(self.inside(current()))
        return self._backend

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        close(context_variable, self)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        self._is_used = True
        return within(self.name, functools.partial(backend, self._spec), function)

    def __repr__(self) -> str:
        return f'anyarray.backend("{self._spec}")'

    def __del__(self) -> None:
        if not getattr(self, "_is_used", True):  # absent if the name was refused
            hint_at_use(repr(self), f'. For the whole program: anyarray.set_default_backend("{self._spec}")')


def _check_name(function: str, name: object) -> None:
    """Raise TypeError for what is neither a name nor a device."""
    if not isinstance(name, (str, Backend)):
        raise errors.ArgumentTypeError(
            f'{function}: must be a name, such as "jax", or a device, not {type(name).__name__}'
        )


def set_default_backend(name: str | Backend, /) -> None:
    """Choose the backend of the process outside of all blocks.

    "auto" is the default. The environment variable ANYARRAY_BACKEND sets it, too. The library is imported at the first
    call, not here. Raises BackendNotFoundError for an unknown name, TypeError for anything that is not a name or
    device.

    >>> import anyarray as xp
    >>> xp.set_default_backend("auto")
    """
    _check_name("set_default_backend", name)
    if str(name) != AUTO:
        registry.parse(str(name))
    process_default.backend = _named(str(name)).backend


def names_of(function: str, parameter: str, given: Iterable[str | Backend]) -> list[str]:
    """The names of the backends in `given`, which are names or devices.

    Raises ValueError, for `function`, if there are none.
    """
    names = [] if isinstance(given, (str, Backend)) or not isinstance(given, Iterable) else list(given)
    if not names:
        raise errors.ArgumentValueError(
            f'{function}: {parameter} must be names of backends, such as ["numpy", "jax"], not {given!r}'
        )
    for one in names:
        if not isinstance(one, (str, Backend)):
            raise errors.ArgumentTypeError(
                f'{function}: {parameter} must be names of backends, such as ["numpy", "jax"], or devices, '
                f"but one is {type(one).__name__}"
            )
        if one == AUTO:
            raise errors.BackendNotFoundError(
                f'{function}: "{AUTO}" is the choice among backends, not one of them. Name some: '
                + ", ".join(libraries.libraries())
            )
    return [str(one) for one in names]


def device(name: str | Backend, /) -> Backend:
    """The device object of a name such as "jax-gpu:0".

    Equal names give the same object.

    >>> import anyarray as xp
    >>> xp.device("numpy") is xp.asarray(1, device="numpy").device
    True
    """
    return registry.as_backend(name)


def chosen_home(given: Any = None) -> Home:
    """Where a creation function runs.

    It runs on the device it was given, else on what is chosen, else on NumPy. `creates_in_numpy` in
    `_speedups/entry/choice.c` says when it is NumPy.
    """
    if _UNADOPTED and not _are_absent(_UNADOPTED):
        registry.adopt_in_imported()  # before the user hands the Array to a library that was imported meanwhile
    if given is not None:
        return registry.as_backend(given).placed
    choice = current()
    backend = choice.backend
    if type(backend) is Backend:
        return backend.free
    if backend is None or type(backend) is Automatic:
        return _NUMPY
    here = chosen()
    return _NUMPY if here is None else here.free


@functools.cache
def _only(backend: Backend, fuses: bool) -> Choice:
    """The choice of this backend, with or without chains."""
    found = Choice(backend)
    found.fuses = fuses
    return found


def call_on(backend: Backend, function: Callable[P, R], *arguments: P.args, **keywords: P.kwargs) -> R:
    """Call a function with `backend` chosen, and chains as here."""
    here = current()
    if here.backend is backend:
        return function(*arguments, **keywords)
    fuses = here.fuses
    if fuses is None:
        fuses = here.backend is None or (isinstance(here.backend, Automatic) and not here.is_careful)
    chosen = _only(backend, fuses)
    if here.records:  # where chains are recorded, too
        chosen = Choice(backend, records=here.records)
        chosen.fuses = fuses
    before = context_variable.set(chosen)
    try:
        return function(*arguments, **keywords)
    finally:
        context_variable.reset(before)


def hint_at_calibrate(elements: int) -> None:
    """Log once that `calibrate` would enable the automatic choice.

    Only for a large array of so many `elements`, and where no backend is chosen.
    """
    if elements >= machine.LARGE and chosen() is None and not machine.is_early(cost.usual("", ((elements,),))):
        _settle(current())
        automatic.hint_at_calibrate()


def _settle(choice: Choice) -> bool:
    """Whether no decision is needed, as there is no model of this machine.

    Then sets `choice.backend` to None: calls run where their inputs are.
    """
    is_settled = choice.backend is BY_COST and choice.candidates is None and automatic.model() is None
    if is_settled and machine.state.is_known and choice.backend is BY_COST:  # unless another thread has set a default
        choice.backend = None
    return choice.backend is None


def home_of_call(function: str, homes: Iterable[Home], traced: Home | None = None) -> Home:
    """Where a call of `function` with inputs on `homes` runs, by the rule.

    Raises BackendMismatchError if no block is open and inputs are placed on two backends.
    """
    if traced is not None:
        return traced
    here = chosen()
    placed = {home.backend: home for home in homes if home.placed}
    if here is not None:
        return here.placed if here in placed else here.free
    if len(placed) == 1:
        return next(iter(placed.values()))
    if placed:
        first, second = list(placed)[:2]
        raise errors.BackendMismatchError(
            f"{function}: one input is placed on {first} and another on {second}. Bring one over with "
            f'x.to_device("{second}"), or choose for a block: with xp.backend("{first}")'
        )
    return automatic.meeting(homes)


def decision(function: str, arrays: Sequence[Any], *, is_traced: bool, axis: cost.Axis) -> Decision | None:
    """The decision about a call with these Arrays.

    None if the backend is chosen, or there is no model to decide by.
    """
    choice = current()
    if is_traced or not (choice.backend is None or isinstance(choice.backend, Automatic)):
        return None
    if _settle(choice):
        hint_at_calibrate(max(math.prod(a._home.shape_of(a._value)) for a in arrays))
        return None
    if any(a._home.placed for a in arrays):
        if choice.backend is BY_COST:
            return None
        home = home_of_call(function, [a._home for a in arrays])
        found = automatic.settled(function, arrays, home, f"an input is placed on {home.backend}")
    else:
        found = automatic.decide(function, arrays, choice.candidates, axis=axis)
    _record(found, choice)
    return found


def decision_about_function(
    function: str, arrays: Sequence[Any], home: Home, whole: WholeFunction | None
) -> Decision | None:
    """The decision about a call of a whole function with these Arrays.

    `home` is where it runs if nothing moves; `whole` is what is known of it, None if it stays there. Returns None if
    there is nothing to decide and nothing to record.
    """
    choice = current()
    if whole is not None:
        found = whole.decide(function, home, arrays)
    elif choice.records and isinstance(choice.backend, Automatic) and arrays:
        if any(a._home.is_traced(a._native) for a in arrays):
            return None
        if any(a._home.placed for a in arrays):
            reason = f"an input is placed on {home.backend}"
        elif choice.candidates is None and automatic.model() is None:
            reason = "stays: no profile of this machine"
        else:
            reason = f"stays on {home.backend}: its arguments are not all hashable"
        found = automatic.settled(function, arrays, home, reason)
    else:
        return None
    _record(found, choice)
    return found


def _record(found: Decision, choice: Choice) -> None:
    if choice.records:
        frame = callers.user_frame()
        found.where = frame.f_code.co_filename, frame.f_lineno
        for record in choice.records:
            record.append(found)


def is_by_cost(arrays: Sequence[Any]) -> bool:
    """Whether a whole function of these Arrays may run where it is fastest."""
    choice = current()
    return (
        isinstance(choice.backend, Automatic)
        and not _settle(choice)
        and (choice.candidates is not None or automatic.model() is not None)
        and bool(arrays)
        and not any(a._home.placed or a._home.is_traced(a._native) for a in arrays)
    )


def forget_profile() -> None:
    """Load the profile again at the next large call."""
    machine.forget()
    choice: Choice | None = current()
    while choice is not None:  # that of the process is the last
        if choice.backend is None:
            choice.backend = BY_COST
        choice = choice.outer


def narrowed(
    candidates: tuple[str, ...] | None, *, careful: bool | None, fuses: bool | None
) -> AbstractContextManager[None]:
    """The automatic choice in a `with` block among these backends.

    Careful or not, with chains or without; None leaves each as it is outside.
    """

    def change(found: Choice) -> None:
        found.candidates = found.candidates if candidates is None else candidates
        found.is_careful = found.is_careful if careful is None else careful
        found.fuses = found.fuses if fuses is None else fuses
        if candidates is not None or isinstance(found.backend, Automatic):
            _be_automatic(found)

    return _changing(change, None)


def fused() -> AbstractContextManager[None]:
    """Run chains of elementwise calls together inside a `with` block.

    On NumPy, calls of elementwise functions whose results have at least 32,768 elements are recorded. They run when a
    value is needed, block by block and on all cores, with NumPy's own loops and therefore its bits. No temporary array
    has full size, and unused values are never computed. The automatic choice does the same without a block;
    `xp.policy(fuse=False)` and the environment variable ANYARRAY_FUSE=off turn it off. Warnings of floating-point
    errors appear when a call runs, and name the line of the call. Calls run one by one if NumPy should raise such
    errors, in a trace, and without the compiled extension.

    On other backends the calls are recorded, too. They run as one compiled function once they have recurred often
    enough to be worth compiling. Values equal those of single calls up to rounding.

    >>> import anyarray as xp
    >>> with xp.backend("numpy"), xp.fused():
    ...     x = xp.linspace(0, 1, 100_000)
    ...     y = 1 / (1 + xp.exp(-x))
    >>> y.shape
    (100000,)
    """
    return _changing(lambda found: setattr(found, "fuses", True), None)


def recorded(record: list[Decision], given: T) -> AbstractContextManager[T]:
    """Record the decisions made in a `with` block, which gives `given`."""

    def change(found: Choice) -> None:
        found.records += (record,)
        if found.backend is None or isinstance(found.backend, Automatic):
            _be_automatic(found)

    return _changing(change, given)
