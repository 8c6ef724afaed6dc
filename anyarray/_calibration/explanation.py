"""User interface of the automatic choice: `explain`, `policy`, `calibrate`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Final

from anyarray._base import callers, errors
from anyarray._base.blocks import block
from anyarray._choice import automatic, choice, cost, machine
from anyarray._choice.automatic import Decision
from anyarray._registry import registry
from anyarray._registry.registry import Backend

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(repr=False)
class Explanation:
    """The decisions that `explain()` recorded, in order; prints as a table.

    Calls with equal decisions share a row of the table, with the mean of their times; what took longest in all comes
    first.
    """

    decisions: list[Decision] = field(default_factory=list[Decision])

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds that calls took, by backend."""
        totals: dict[str, float] = {}
        for one in self.decisions:
            name = one.home.backend.name
            totals[name] = totals.get(name, 0.0) + (one.seconds or 0.0)
        return totals

    @property
    def predicted_seconds(self) -> float:
        """Predicted seconds of the calls where they ran.

        Of those that are predicted, with transfers, imports and compilation. The transfer back, which is part of
        the price of a move, counts only if it is made.
        """
        return sum(
            one.alone[one.home.backend.name] + sum(part(one) for part in SPENT.values()) for one in self._by_cost()
        )

    @property
    def predicted_on_numpy(self) -> float:
        """Predicted seconds of the same calls in NumPy, without transfers."""
        return sum(one.alone[cost.NUMPY] for one in self._by_cost())

    def _by_cost(self) -> list[Decision]:
        return [one for one in self.decisions if {one.home.backend.name, cost.NUMPY} <= one.alone.keys()]

    def __len__(self) -> int:
        return len(self.decisions)

    def __str__(self) -> str:
        if not self.decisions:
            return "No call was decided."
        import shutil  # with `textwrap` a few milliseconds, so not at `import anyarray`

        width = shutil.get_terminal_size().columns
        return "\n".join([*self._table(width), *self._totals()])

    __repr__ = __str__

    def _table(self, width: int) -> list[str]:
        """The heads, then words and numbers of calls decided alike."""
        import textwrap

        alike: dict[tuple[object, ...], list[Decision]] = {}
        for one in self.decisions:
            alike.setdefault((one.function, one.shapes, one.home, one.reason), []).append(one)
        groups = sorted(alike.values(), key=lambda found: -sum(one.seconds or 0.0 for one in found))
        names = list(dict.fromkeys([name for one in self.decisions for name in one.alone]))
        spent = {what: part for what, part in SPENT.items() if what == "moving" or any(map(part, self.decisions))}
        rows = [["ran on", "calls", "took", *names, *spent]]
        for found in groups:
            took = _mean([one.seconds for one in found])
            on_each = [_mean([one.alone.get(name) for one in found]) for name in names]
            paid = [_mean([part(one) or None for one in found]) for part in spent.values()]
            rows.append([str(found[0].home.backend), str(len(found)), took, *on_each, *paid])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        heads, *numbers = [
            GAP + GAP.join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
        ]
        over = " " * sum(one + len(GAP) for one in widths[:3]) + GAP + "predicted:"
        lines = [over, heads] if names else [heads]
        for found, row in zip(groups, numbers, strict=True):
            text = f"{_call(found[0])} {found[0].reason}{_price(found[-1])}"
            lines += [*textwrap.wrap(text, width, subsequent_indent=2 * GAP, break_long_words=False), row]
        return lines

    def _totals(self) -> list[str]:
        totals = ["took: " + ", ".join([f"{name} {duration(seconds)}" for name, seconds in self.seconds.items()])]
        known = len(self._by_cost())
        if known:
            which = "" if known == len(self) else f", of {known} of {len(self)} calls"
            ran, numpys = duration(self.predicted_seconds), duration(self.predicted_on_numpy)
            totals.append(f"predicted: {ran}, all in NumPy: {numpys}{which}")
        return totals


GAP: Final = "  "
"""Between the columns of the table."""
SPENT: Final[dict[str, Callable[[Decision], float]]] = {
    "moving": lambda one: one.transferred,
    "compiling": lambda one: 0.0 if one.home.backend.name == cost.NUMPY else one.bought - one.imported,
    "importing": lambda one: one.imported,
}
"""Columns of what a decision costs beside the call: the last two only where one does."""


def _call(one: Decision) -> str:
    """The function and the shapes of its arrays, as add 2*(3,4)."""
    shapes = [(shape, len(list(alike))) for shape, alike in itertools.groupby(one.shapes)]
    texts = [(f"{n}*" if n > 1 else "") + str(shape).replace(" ", "") for shape, n in shapes]
    return " ".join([one.function, *texts])


def _price(one: Decision) -> str:
    """What moving a call would cost that stays, if elsewhere is faster."""
    here = one.home.backend.name
    best = min(one.alone, key=one.alone.__getitem__, default=here)
    paid = one.predicted.get(best, 0.0) - one.alone.get(best, 0.0)
    return f" (to {best}: {duration(paid)})" if best != here and paid > 0 and not one.has_moved else ""


def _mean(seconds: Sequence[float | None]) -> str:
    known = [one for one in seconds if one is not None]
    return duration(sum(known) / len(known)) if known else ""


def duration(seconds: float) -> str:
    """A time in the unit that fits, with three digits: 12.3 us."""
    for unit, name in ((1e-6, "us"), (1e-3, "ms"), (1.0, "s")):
        if seconds < 999.5 * unit or name == "s":
            value = seconds / unit
            digits = 0 if value >= 99.5 else 1 if value >= 9.95 else 2
            return f"{value:.{digits}f} {name}"
    raise AssertionError("unreachable: the last unit takes all")


@block
def explain() -> AbstractContextManager[Explanation]:
    """Record the decisions of the automatic choice in a `with` block.

    A decision holds the backend of a call, the predictions for each backend, the reason and the time taken. The
    explanation has `decisions`, and prints as a table with totals by backend and the predicted total on NumPy. Each
    call waits for its result, so times are exact. Calls inside `with xp.backend(NAME)` are not decisions. Blocks nest,
    and apply to one thread or asyncio task.

    >>> import anyarray as xp
    >>> with xp.backend("auto"), xp.explain() as why:
    ...     total = xp.sum(xp.ones(3))
    >>> [one.function for one in why.decisions]
    ['sum']
    """
    explanation = Explanation()
    return choice.recorded(explanation.decisions, explanation)


@block
def policy(
    *,
    candidates: Sequence[str | Backend] | None = None,
    careful: bool | None = None,
    fuse: bool | None = None,
) -> AbstractContextManager[None]:
    """Restrict the automatic choice in a `with` block.

    `candidates` are the names or devices of the backends to choose from. Free inputs that live elsewhere move to the
    best of them. Backends without a library or device here are skipped. With `careful=True`, each call waits for its
    result, so an error of a library that computes in the background, such as lack of memory, is raised by its own call,
    which is then repeated elsewhere. With `fuse=False`, elementwise calls run one by one; see `fused`. Omitted options
    keep their outer values.
    Raises BackendNotFoundError for an unknown name, BackendError if no backend is left, TypeError for a flag that is
    not a bool.

    >>> import anyarray as xp
    >>> with xp.policy(candidates=["numpy", "cupy"]):
    ...     print((xp.ones(3, device="numpy") + 1).device)
    numpy
    """
    for name, given in (("careful", careful), ("fuse", fuse)):
        if given is not None and not isinstance(given, bool):
            raise errors.ArgumentTypeError(f"policy: {name} must be True, False or None, not {given!r}")
    if candidates is None and (careful is not None or fuse is not None):
        return choice.narrowed(None, careful=careful, fuses=fuse)
    wanted = choice.names_of("policy", "candidates", candidates)  # type: ignore[arg-type]  # it refuses None
    names = [found for name in wanted for found in _present(name)]
    if not names:
        raise errors.BackendError(
            f'policy: none of the candidates can be used here: {", ".join(wanted)}. Add one that can: "numpy"'
        )
    return choice.narrowed(tuple(dict.fromkeys(names)), careful=careful, fuses=fuse)


SECONDS: Final = 28.0
"""How long measuring takes if nobody says, importing included; what follows ends within half a minute."""
WITH_ACCELERATOR: Final = 57.0
"""The same where there is an accelerator, whose classes are measured at larger sizes."""


def calibrate(*, seconds: float | None = None, backends: Sequence[str | Backend] | None = None) -> Path | None:
    """Measure this machine for the automatic choice; return the profile path.

    The measurement takes about `seconds`, including the imports of libraries: by default half a minute, or a minute
    with an accelerator. `backends` are names, such as ["numpy", "jax"], or devices; by default, all that work here. The
    profile is used at once, and by every later program of this user. Ctrl-C keeps the measurements so far. If
    ANYARRAY_PROFILE is "off", nothing is measured and the result is None. The command `python -m anyarray calibrate`
    does the same. Each library is measured in its own process; a library that crashes or does not answer is left out,
    with a log message. If another process of this user calibrates, this one waits, with a log message. Raises
    BackendError for a name that cannot be used, OSError if the profile cannot be written.

    >>> import anyarray as xp
    >>> xp.calibrate(seconds=0.1, backends=["numpy"])  # doctest: +SKIP
    """
    from anyarray._calibration import calibration
    from anyarray._choice import profile  # 15 ms, so not at `import anyarray`

    if seconds is not None and not isinstance(seconds, Real):
        raise errors.ArgumentTypeError(f"calibrate: seconds must be a number, not {type(seconds).__name__}")
    try:
        is_finite = seconds is None or 0 < float(seconds) < math.inf
    except OverflowError:
        is_finite, seconds = False, math.inf
    if not is_finite:
        raise errors.ArgumentValueError(f"calibrate: seconds must be positive and finite, not {seconds}")
    wanted = None if backends is None else choice.names_of("calibrate", "backends", backends)
    if profile.is_off():
        return None
    profile.check()
    with calibration.alone(callers.log), calibration.prepared(wanted) as measuring:
        try:
            for _ in measuring.steps(seconds or usual_seconds(has_accelerator=measuring.has_accelerator)):
                pass
        finally:
            written = calibration.keep(measuring)
            for line in measuring.told():
                callers.log(line)
    return written


def usual_seconds(*, has_accelerator: bool) -> float:
    """How long measuring takes if nobody says."""
    return WITH_ACCELERATOR if has_accelerator else SECONDS


def _present(name: str) -> list[str]:
    """The backends that a name means here; there may be none.

    Imports the library unless the profile knows its devices.
    """
    library, kind, _ = registry.parse(name)
    if not library.is_installed or not machine.may_be_usable(library.name):
        return []
    model = automatic.model()
    if model is not None and kind is None and ":" not in name:
        measured = [one for one in model.backends if registry.parse(one)[0] is library and machine.may_be_usable(one)]
        if measured:
            return measured
    try:
        return [registry.backend_of_name(name).name]
    except errors.DeviceNotFoundError:
        return []
