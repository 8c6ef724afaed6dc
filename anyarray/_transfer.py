"""Bringing an array to another backend: the routes, when memory may be shared, the ledger and the guard.

Routes
    Within one library the library moves the array. Between two libraries on one device memory is shared by
    DLPack where that is safe, in a time that does not depend on the size. Else the array goes by the host:
    the source hands out an ndarray (a view where it can), the target takes a copy of it.
Sharing is safe
    if nobody can write to the memory afterwards: the source is immutable, or it is NumPy memory that one Array
    alone holds (which then copies before its next write, as it is no longer alone), or the user said `copy=False`;
    and if the receiver can take it as it is: C-contiguous and aligned to 64 bytes. TensorFlow does not check that,
    and its next operation would abort the process.
Ledger and guard
    `transfers()` records what is moved, `no_transfers()` forbids implicit copies. Both belong to the context (thread,
    asyncio task) and cost nothing where nothing is moved.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from anyarray import _errors
from anyarray._backend import Backend, Native

ALIGNMENT: Final = 64
"""Bytes; what XLA and TensorFlow ask of memory that they take as it is."""


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
    """Whether the user asked for it: `to_device`, `asarray`, `to_native`."""


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


@dataclass(frozen=True)
class _Watch:
    """What is asked for in a context."""

    logs: tuple[TransferLog, ...] = ()
    guard: Literal["off", "warn", "raise"] = "off"


_UNWATCHED: Final = _Watch()
_watch: ContextVar[_Watch] = ContextVar("anyarray transfers", default=_UNWATCHED)


@contextmanager
def _watching(watch: _Watch) -> Generator[None]:
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
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
    here = _watch.get()
    with _watching(_Watch((*here.logs, log), here.guard)):
        yield log


@contextmanager
def no_transfers(mode: Literal["raise", "warn"] = "raise", /) -> Generator[None]:
    """Forbid implicit copies between backends inside a `with` block.

    A call that would copy an array to another backend, or off a device to the host, raises TransferError, which names
    the line and the cure; with "warn" it warns. Views pass, and so does what is asked for: `to_device`, `asarray`,
    `to_native`.

    >>> import anyarray as xp
    >>> with xp.no_transfers():
    ...     total = xp.sum(xp.ones(3))
    """
    if mode not in ("raise", "warn"):
        raise _errors.ArgumentValueError(f'no_transfers: mode must be "raise" or "warn", not {mode!r}')
    with _watching(_Watch(_watch.get().logs, mode)):
        yield


# ---------------------------------------------------------------------- the routes
class Route(NamedTuple):
    """How arrays go from one backend to another."""

    share: Callable[[Native], Native | None] | None
    """The same memory as an array of the target, or None if it cannot take it; None if there is no such way."""
    copy: Callable[[Native], Native]
    """New memory of the target with the same values."""
    is_always_safe: bool
    """Whether sharing is safe without a look at who else holds the array."""


_routes: Final[dict[tuple[Backend, Backend], Route]] = {}


def route(source: Backend, target: Backend) -> Route:
    """The route between two backends, found once."""
    found = _routes.get((source, target))
    if found is None:
        found = _routes[source, target] = _found_route(source, target)
    return found


def _found_route(source: Backend, target: Backend) -> Route:
    if source.library == target.library:
        return Route(None, lambda native: target.free.to_device(native, target.native_device), False)
    to_numpy, from_numpy, device = source.free.to_numpy, target.free.from_numpy, target.native_device
    is_one_memory = source.kind == target.kind and source.index == target.index

    def by_host(native: Native) -> Native:
        return from_numpy(to_numpy(native), device)

    if target.library == "numpy":
        if is_one_memory:
            return Route(_unless_refused(to_numpy), by_host, source.is_immutable)
        return Route(None, to_numpy, False)  # off a device it is a copy already
    if not (is_one_memory and target.has_hook("from_dlpack")):
        return Route(None, by_host, False)
    from_dlpack, exported = target.free.from_dlpack, source.free.exported
    taken = _unless_refused(lambda native: from_dlpack(native, device))
    of_export = _unless_refused(lambda native: from_dlpack(exported(native), device))
    if source.library == "numpy":
        return Route(lambda native: taken(native) if is_fit(native) else None, by_host, False)

    def on_device(native: Native) -> Native:
        if source.is_immutable or source.kind == "cpu":
            return by_host(native)
        arrived = of_export(native)  # a copy that nobody else holds
        return by_host(native) if arrived is None else arrived

    return Route(of_export if source.is_immutable else taken, on_device, source.is_immutable)


def _unless_refused(share: Callable[[Native], Native]) -> Callable[[Native], Native | None]:
    """`share`; None for an array that it refuses.

    That is one of a dtype or a layout that DLPack or the receiver does not know, such as bfloat16 or strides, or a
    traced one.
    """

    def shared(native: Native) -> Native | None:
        try:
            return share(native)
        except _REFUSALS:
            return None

    return shared


_REFUSALS: Final = (TypeError, ValueError, RuntimeError, BufferError, NotImplementedError, AttributeError)


def moved(
    native: Native, source: Backend, target: Backend, cause: str, *, explicit: bool = False, is_safe: bool = False
) -> tuple[Native, bool]:
    """The values of `native`, which lives on `source`, as a native array of `target`; and whether it shares memory.

    `cause` is the function that needs it. `is_safe` says that nobody can write to the memory, as `_ownership` tells.
    Raises TransferError if the array is traced and would have to leave its library, or if a guard forbids the copy.
    """
    way = _routes.get((source, target)) or route(source, target)
    watch = _watch.get()
    started = 0.0 if watch is _UNWATCHED else time.perf_counter()
    if way.share is not None and (is_safe or way.is_always_safe):
        arrived = way.share(native)
        if arrived is not None:
            if watch is not _UNWATCHED:
                _note(native, source, target.name, cause, "view", started, explicit)
            return arrived, True
    if source.library != target.library and source.free.is_traced(native):
        _refuse_leak(native, source, cause)
        raise _traced(source, f"be brought to {target}", "Leave the backend as it is inside the traced function")
    if watch is not _UNWATCHED:
        _guard(native, source, target.name, cause, explicit)
    arrived = way.copy(native)
    if watch is not _UNWATCHED:
        _note(native, source, target.name, cause, "copy", started, explicit)
    return arrived, False


def shared(native: Native, source: Backend, target: Backend) -> Native | None:
    """A native array of `target` in the same memory; None if that is impossible. The caller knows if it is safe."""
    share = route(source, target).share
    return None if share is None else share(native)


def is_fit(a: Native) -> bool:
    """Whether a receiver can take the memory of an ndarray as it is."""
    if not isinstance(a, np.ndarray):
        return False
    if not (a.flags.carray and a.size):
        return False
    try:
        address = ctypes.addressof(_byte_of(a))  # a fifth of the time that the address takes NumPy itself
    except (TypeError, ValueError, BufferError):  # a dtype that the buffer protocol does not know
        address = a.__array_interface__["data"][0]
    return address % ALIGNMENT == 0


_byte_of: Final[Callable[[Any], ctypes.c_char]] = ctypes.c_char.from_buffer


def to_host(native: Native, source: Backend, cause: str, *, explicit: bool = False) -> np.ndarray[Any, Any]:
    """The values of `native` as an ndarray: read-only if it shares memory with it.

    Raises TransferError if the array is traced, or if a guard forbids the copy off a device.
    """
    if source.free.is_traced(native):
        _refuse_leak(native, source, cause)
        cure = "Return it from the traced function first, or choose by it inside: xp.where(...)"
        raise _traced(source, "become a NumPy array or a Python scalar", cure) from _refusal(native, source)
    watch = _watch.get()
    if watch is _UNWATCHED or source.library == "numpy":
        host: np.ndarray[Any, Any] = source.free.to_numpy(native)
        return host
    started = time.perf_counter()
    is_copy = source.kind != "cpu"
    if is_copy:
        _guard(native, source, "host", cause, explicit)
    host = source.free.to_numpy(native)
    _note(native, source, "host", cause, "copy" if is_copy else "view", started, explicit)
    return host


def from_host(a: np.ndarray[Any, Any], target: Backend) -> Native:
    """A native array of `target` with the values of the ndarray `a`; shares no memory with it."""
    return target.free.from_numpy(a, target.native_device)


def _refuse_leak(native: Native, source: Backend, cause: str) -> None:
    """Raise TraceError if the transform in which a traced array was made is over, which an operation on it tells."""
    try:
        source.free.expand_dims(native, 0)
    except Exception as error:
        if _errors.is_leak(error):
            raise _errors.leaked(cause) from error
        raise


def _refusal(native: Native, source: Backend) -> Exception | None:
    """What the library itself says to a traced array that is to become an ndarray."""
    try:
        source.free.to_numpy(native)
    except Exception as error:  # noqa: BLE001 - each library has its own
        return error
    return None


def _traced(source: Backend, purpose: str, cure: str) -> _errors.TransferError:
    return _errors.TransferError(f"transfer: a traced array of {source} has no values yet and cannot {purpose}. {cure}")


# ---------------------------------------------------------------------- the ledger and the guard
def _guard(native: Native, source: Backend, target: str, cause: str, explicit: bool) -> None:
    """Raise or warn if a guard is on and the user did not ask for the copy that comes."""
    mode = _watch.get().guard
    if explicit or mode == "off":
        return
    frame = _user_frame()
    message = (
        f"{cause}: would copy {_nbytes(native, source):,} bytes from {source} to {target} in "
        f"{frame.f_code.co_filename}:{frame.f_lineno}. "
        + ("Ask for it: xp.to_native(x)" if target == "host" else f'Ask for it: x.to_device("{target}")')
    )
    if mode == "raise":
        raise _errors.TransferError(message)
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
    logs = _watch.get().logs
    if not logs:
        return
    seconds = time.perf_counter() - started
    code = _user_frame()
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


_PACKAGE: Final = os.path.dirname(__file__) + os.sep


def _user_frame() -> FrameType:
    """The innermost frame that is not ours, nor the libraries' machinery between two of ours."""
    frame: FrameType | None = sys._getframe(1)
    last = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not (name.startswith((_PACKAGE, "<anyarray ", "<frozen ")) or name.endswith("contextlib.py")):
            return frame
        last, frame = frame, frame.f_back
    return last
