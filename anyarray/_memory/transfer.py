"""Bringing an array to another backend: routes, sharing, ledger and guard.

Routes
    Within one library the library moves the array. Between two libraries on one device memory is shared by
    DLPack where that is safe, in a time that does not depend on the size. Else the array goes by the host:
    the source hands out an ndarray (a view where it can), the target takes a copy of it.
Sharing is safe
    if nobody can write to the memory afterwards: the source is immutable, or it is NumPy memory that one Array
    alone holds (which then copies before its next write, as it is no longer alone), or the user said `copy=False`;
    and if the receiver can take it as it is; see `alignment`.
Results of NumPy
    have the alignment that its allocator gives, which hardly ever is enough; large ones of compiled calls are aligned
    when they are made. What is not is copied when it leaves, into memory that the Array then lives in itself: the
    receiver shares it, and so does the next.
Ledger and guard
    `transfers()` records what is moved, `no_transfers()` forbids implicit copies. Both belong to the context (thread,
    asyncio task) and cost nothing where nothing is moved.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from anyarray._base import blocks, errors
from anyarray._memory import alignment
from anyarray._registry.home import Home, Native, Way
from anyarray._registry.registry import Backend, as_backend, is_leak


@dataclass(frozen=True)
class Transfer:
    """A row of the ledger: one array brought from one backend to another."""

    source: str
    """Backend it came from."""
    target: str
    """Backend it went to; "host" if it was handed to NumPy or Python."""
    function: str
    """What caused it, as "add" or "to_device"."""
    file: str
    """The user's file."""
    line: int
    """The line in it."""
    nbytes: int
    """Bytes of the array."""
    kind: Literal["view", "copy"]
    """Whether the memory is shared now."""
    seconds: float
    """Time that the call spent on it."""
    explicit: bool
    """Whether the user asked for it: `to_device`, `asarray`, `to_native`, printing, pickling."""


@dataclass
class TransferLog:
    """What `transfers()` gives: the rows, and a table of them when printed."""

    rows: list[Transfer] = field(default_factory=list)

    @property
    def copied_bytes(self) -> int:
        """Bytes that were copied, views left out."""
        return sum(row.nbytes for row in self.rows if row.kind == "copy")

    @property
    def seconds(self) -> float:
        """Time spent on all of them."""
        return sum(row.seconds for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        heads = ("from", "to", "function", "where", "bytes", "kind", "seconds", "asked for")
        lines = [heads] + [
            (
                r.source, r.target, r.function, f"{os.path.basename(r.file)}:{r.line}", f"{r.nbytes:,}", r.kind,
                f"{r.seconds:.2e}", "yes" if r.explicit else "no",
            )
            for r in self.rows
        ]  # fmt: skip
        widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        copies = [row for row in self.rows if row.kind == "copy"]
        total = (
            f"{len(self.rows)} transfers, {len(copies)} of them copies: {self.copied_bytes:,} bytes copied, "
            f"{self.seconds:.2e} seconds"
        )
        return "\n".join([*table, total])


class _Watch(NamedTuple):
    """What is asked for in a context."""

    logs: tuple[TransferLog, ...] = ()
    guard: Literal["off", "warn", "raise"] = "off"
    own: TransferLog | Literal["warn", "raise"] | None = None
    """What the innermost block asks for."""
    block: object = None
    """What opened it."""
    outer: _Watch | None = None
    """What is asked for again when that is closed."""

    def inner(self, own: TransferLog | Literal["warn", "raise"] | None, block: object) -> _Watch:
        """What is asked for in a block inside."""
        if isinstance(own, TransferLog):
            return _Watch((*self.logs, own), self.guard, own, block, self)
        return _Watch(self.logs, own or self.guard, own, block, self)

    def without(self, block: object) -> _Watch:
        """What is asked for when a block is closed.

        It need not be the innermost, nor open, as generators end when they do.
        """
        if self.outer is None or self.block is block:
            return self.outer or self
        outer = self.outer.without(block)
        return self if outer is self.outer else outer.inner(self.own, self.block)


UNWATCHED: Final = _Watch()
_watch: ContextVar[_Watch] = ContextVar("anyarray transfers", default=UNWATCHED)
watch: Final = _watch.get
"""What is asked for here: `watch() is UNWATCHED` if neither a ledger nor a guard is open."""


@contextlib.contextmanager
def _watching(own: TransferLog | Literal["warn", "raise"]) -> Generator[None]:
    block = object()
    _watch.set(watch().inner(own, block))
    try:
        yield
    finally:
        # No token: a generator may end in another context than it began in, as asyncio ends them.
        _watch.set(watch().without(block))


@blocks.block
def transfers() -> Generator[TransferLog]:
    """Record every transfer inside a `with` block.

    The log has `rows`, a list of `Transfer`, and prints as a table with totals. Blocks nest; each thread and asyncio
    task has its own.

    >>> import anyarray as xp
    >>> with xp.transfers() as log:
    ...     x = xp.ones(1000, device="numpy").to_device("numpy")
    >>> len(log)
    0
    """
    log = TransferLog()
    with _watching(log):
        yield log


@blocks.block
def no_transfers(mode: Literal["raise", "warn"] = "raise", /) -> Generator[None]:
    """Forbid implicit copies between backends inside a `with` block.

    A call that would copy an array to another backend, or off a device to the host, raises TransferError, which names
    the line and the cure; with "warn" it warns. Views pass, and so does what is asked for: `to_device`, `asarray`,
    `to_native`, printing and pickling.

    >>> import anyarray as xp
    >>> with xp.no_transfers():
    ...     total = xp.sum(xp.ones(3))
    """
    if mode not in ("raise", "warn"):
        raise errors.ArgumentValueError(f'no_transfers: mode must be "raise" or "warn", not {mode!r}')
    with _watching(mode):
        yield


class Route(NamedTuple):
    """How arrays go from one backend to another."""

    copy: Callable[[Native], Native]
    """New memory of the target with the same values."""
    take: Callable[[Native, Any], Native] | None = None
    """The same memory as an array of the target on its native device; None if there is no such way.

    An ndarray must be fit; see `alignment`. Raises one of REFUSALS if the target cannot take it.
    """
    device: Any = None
    """The target's native device."""
    is_always_safe: bool = False
    """Whether sharing is safe without a look at who else holds the array."""
    needs_fit: bool = False
    """Whether `take` is for ndarrays, which may be unfit."""

    def share(self, native: Native) -> Native | None:
        """The same memory as an array of the target; None if impossible."""
        if self.take is None or (self.needs_fit and not alignment.is_fit(native)):
            return None
        try:
            return self.take(native, self.device)
        except REFUSALS:
            return None


def route(source: Backend, target: Backend) -> Route:
    """The route between two backends, found once."""
    found: Route | None = source.routes.get(target)
    if found is None:
        found = source.routes[target] = _found_route(source, target)
    return found


def _found_route(source: Backend, target: Backend) -> Route:
    if source.library == target.library:
        return Route(lambda native: target.free.to_device(native, target.native_device))
    to_numpy, from_numpy, device = source.hook("to_numpy"), target.hook("from_numpy"), target.native_device
    is_one_memory = source.kind == target.kind and source.index == target.index

    def by_host(native: Native) -> Native:
        return from_numpy(to_numpy(native), device)

    if target.library == "numpy":
        if not is_one_memory:
            return Route(to_numpy)  # off a device it is a copy already
        return Route(by_host, lambda native, _: to_numpy(native), None, source.is_immutable)
    if not (is_one_memory and target.has_hook("from_dlpack")):
        return Route(by_host)
    from_dlpack, exported = target.function("from_dlpack"), source.hook("exported")
    if source.library == "numpy":
        return Route(by_host, from_dlpack, device, needs_fit=True)
    if source.is_immutable:
        return Route(by_host, lambda native, device: from_dlpack(exported(native), device), device, is_always_safe=True)

    if source.kind == "cpu":
        return Route(by_host, from_dlpack, device)
    synchronize = source.hook("synchronize")

    def on_device(native: Native) -> Native:
        try:
            return from_dlpack(exported(native), device)  # a copy that nobody else holds
        except REFUSALS:
            return by_host(native)

    def taken(native: Native, device: Any) -> Native:
        synchronize(native)  # as the target may read without asking the stream on which it is computed
        return from_dlpack(native, device)

    return Route(on_device, taken, device)


def way_to(home: Home, device: Any) -> Way:
    """The way from `home` to a device, or to what has its name."""
    source, target = home.backend, as_backend(device)
    way = route(source, target)
    read = source.read_in_place if way.is_always_safe and target.library == "numpy" else None
    lend = way.take if way.needs_fit else None
    known: Way = (None, None, None, target.placed) if home.depth else (read, lend, way.device, target.placed)
    home.ways[device] = known
    return known


REFUSALS: Final = (TypeError, ValueError, RuntimeError, BufferError, NotImplementedError, AttributeError)
"""What is raised for an array that cannot be shared.

That is one of a dtype or a layout that DLPack or the receiver does not know, such as bfloat16 or strides, or one that
is traced.
"""


class Moved(NamedTuple):
    """What a transfer gave."""

    native: Native
    """The native array of the target."""
    shares: bool
    """Whether it shares memory with the source, or with `lent`."""
    lent: Native = None
    """A copy of the source to take its place, if that shares memory with `native` and the source does not."""


def moved(
    native: Native, source: Backend, target: Backend, cause: str, *, explicit: bool = False, is_safe: bool = False
) -> Moved:
    """The values of `native`, on `source`, as a native array of `target`.

    `cause` is the function that needs it. `is_safe` says that nobody can write to the memory, as `ownership` tells.
    Raises TransferError if the array is traced and would have to leave its library, or if a guard forbids the copy.
    """
    way = route(source, target)
    watched = watch()
    started = 0.0 if watched is UNWATCHED else time.perf_counter()
    if is_safe or way.is_always_safe:
        arrived = way.share(native)
        if arrived is not None:
            if watched is not UNWATCHED:
                _note(native, source, target.name, cause, "view", started, explicit)
            return Moved(arrived, shares=True)
    if source.library != target.library and source.free.is_traced(native):
        _refuse_leak(native, source, cause)
        raise _traced(source, f"be brought to {target}", "Leave the backend as it is inside the traced function")
    if watched is not UNWATCHED:
        _guard(native, source, target.name, cause, explicit)
    lent = arrived = None
    if is_safe and way.needs_fit:  # an unfit ndarray: both sides share one fit copy
        lent = alignment.copied(native)
        arrived = way.share(lent)
    if arrived is None:
        lent, arrived = None, way.copy(native)
    if watched is not UNWATCHED:
        _note(native, source, target.name, cause, "copy", started, explicit)
    return Moved(arrived, lent is not None, lent)


def shared(native: Native, source: Backend, target: Backend) -> Native | None:
    """A native array of `target` in the same memory; None if impossible.

    The caller knows if it is safe.
    """
    return route(source, target).share(native)


def to_host(native: Native, source: Backend, cause: str, *, explicit: bool = False) -> np.ndarray[Any, Any]:
    """The values as an ndarray, read-only if it shares memory with `native`.

    Raises TransferError if the array is traced, or if a guard forbids the copy off a device.
    """
    if not explicit:
        refuse_differentiated(native, source, "become a NumPy array or a Python scalar")
    watched = watch()
    if watched is UNWATCHED or source.library == "numpy":
        to_numpy = source.free.to_numpy
        try:
            return to_numpy(native)  # type: ignore[no-any-return]  # checked by the contract's test
        except Exception as error:
            _refuse_traced(native, source, cause, error)
            raise
    _refuse_traced(native, source, cause, None)
    started = time.perf_counter()
    is_copy = source.kind != "cpu"
    if is_copy:
        _guard(native, source, "host", cause, explicit)
    host: np.ndarray[Any, Any] = source.free.to_numpy(native)
    _note(native, source, "host", cause, "copy" if is_copy else "view", started, explicit)
    return host


def _refuse_traced(native: Native, source: Backend, cause: str, refusal: Exception | None) -> None:
    """Raise TransferError if an array that is to be read is traced.

    It is raised from what the library itself says to that.
    """
    if not source.free.is_traced(native):
        return
    _refuse_leak(native, source, cause)
    if refusal is None:
        try:
            source.free.to_numpy(native)
        except Exception as error:  # noqa: BLE001 - each library has its own
            refusal = error
    cure = "Return it from the traced function first, or choose by it inside: xp.where(...)"
    raise _traced(source, "become a NumPy array or a Python scalar", cure) from refusal


def is_differentiated(native: Native, source: Backend) -> bool:
    """Whether a derivative is being computed of an array that has values."""
    ask = source.is_differentiated
    return ask is not None and ask(native)


def refuse_differentiated(native: Native, source: Backend, purpose: str) -> None:
    """Raise TransferError if a derivative is being computed of an array.

    What leaves its library would count as a constant.
    """
    if is_differentiated(native, source):
        raise errors.TransferError(
            f"transfer: an array of {source} is being differentiated and cannot {purpose}, which has no derivative. "
            "Take xp.stop_gradient(x) for a constant, or return it"
        )


def from_host(a: np.ndarray[Any, Any], target: Backend) -> Native:
    """A native array of `target` with a copy of the values of `a`."""
    return target.free.from_numpy(a, target.native_device)


def _refuse_leak(native: Native, source: Backend, cause: str) -> None:
    """Raise TraceError if the transform that made a traced array is over.

    An operation on it tells.
    """
    try:
        source.free.expand_dims(native, 0)
    except Exception as error:
        if is_leak(error):
            raise errors.leaked(cause) from error
        raise


def _traced(source: Backend, purpose: str, cure: str) -> errors.TransferError:
    return errors.TransferError(f"transfer: a traced array of {source} has no values yet and cannot {purpose}. {cure}")


def _guard(native: Native, source: Backend, target: str, cause: str, explicit: bool) -> None:
    """Raise or warn if a guard is on and nobody asked for the coming copy."""
    mode = watch().guard
    if explicit or mode == "off":
        return
    frame = user_frame()
    message = (
        f"{cause}: would copy {_nbytes(native, source):,} bytes from {source} to {target} in "
        f"{frame.f_code.co_filename}:{frame.f_lineno}. "
        f'Ask for it: x.to_device("{"numpy" if target == "host" else target}")'
    )
    if mode == "raise":
        raise errors.TransferError(message)
    warnings.warn_explicit(message, TransferWarning, frame.f_code.co_filename, frame.f_lineno)


class TransferWarning(UserWarning):
    """An implicit copy inside `with no_transfers("warn")`."""


def _note(
    native: Native,
    source: Backend,
    target: str,
    cause: str,
    kind: Literal["view", "copy"],
    started: float,
    explicit: bool,
) -> None:
    """Write a row into the logs that are open here."""
    logs = watch().logs
    if not logs:
        return
    seconds = time.perf_counter() - started
    code = user_frame()
    row = Transfer(
        source.name,
        target,
        cause,
        code.f_code.co_filename,
        code.f_lineno,
        _nbytes(native, source),
        kind,
        seconds,
        explicit,
    )
    for log in logs:
        log.rows.append(row)


def _nbytes(native: Native, backend: Backend) -> int:
    size = 1
    for n in backend.free.shape_of(native):
        size *= n or 0
    return size * backend.free.dtype(native).itemsize


_OURS: Final = (os.path.dirname(os.path.dirname(__file__)) + os.sep, "<anyarray", "<frozen ", contextlib.__file__)
"""How the names of the files begin of which a user knows nothing: ours, generated ones, Python's, that of `with`."""


def user_frame() -> FrameType:
    """The innermost frame that is neither ours nor what runs between ours."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return frame
