"""Transfer of an array to another backend: routes, sharing, ledger and guard.

Routes
    Within a library, the library itself moves the array. Two libraries on one device share memory by DLPack where that
    is safe, in a time that does not depend on the size. Otherwise the array moves through the host: the source exports
    an ndarray (a view if possible), and the target copies it.
Sharing is safe
    if the target supports the memory (see `alignment`) and no code can write to it afterwards. That is true if the
    source is immutable, if one Array is the sole owner of NumPy memory (it then copies before its next write), or if
    the user passed `copy=False`.
Results of NumPy
    have the alignment of its allocator, which is rarely sufficient; large results of compiled calls are aligned. Other
    results are copied at their first transfer into aligned memory, which replaces that of the Array. All receivers
    share it.
Ledger and guard
    `transfers()` records transfers, `no_transfers()` forbids implicit copies. Both belong to the context (thread,
    asyncio task) and cost nothing where nothing is transferred.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from anyarray._base import blocks, callers, errors
from anyarray._base.settings import Holding, variable
from anyarray._memory import alignment, devices
from anyarray._registry.home import Native
from anyarray._registry.registry import Backend, is_leak


@dataclass(frozen=True)
class Transfer:
    """A row of the ledger: one array transferred between two backends."""

    source: str
    """The backend of the source."""
    target: str
    """The backend of the target; "host" for NumPy and Python."""
    function: str
    """The function that caused it, such as "add" or "to_device"."""
    file: str
    """The user's file."""
    line: int
    """The line in it."""
    nbytes: int
    """The size of the array."""
    kind: Literal["view", "copy"]
    """Whether both share the memory."""
    seconds: float
    """Time that the call spent on it."""
    explicit: bool
    """Whether it was explicit: `to_device`, `asarray`, `to_native`, printing, pickling."""


@dataclass
class TransferLog:
    """The log of `transfers()`: the rows, printed as a table."""

    rows: list[Transfer] = field(default_factory=list)

    @property
    def copied_bytes(self) -> int:
        """Bytes that were copied; views do not count."""
        return sum(row.nbytes for row in self.rows if row.kind == "copy")

    @property
    def seconds(self) -> float:
        """Total time of all transfers."""
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


class _Watch:
    """The ledgers and guards of a context."""

    __slots__ = ("block", "guard", "logs", "outer")

    guard: Literal["off", "warn", "raise"]

    def __init__(
        self,
        logs: tuple[TransferLog, ...] = (),
        guard: Literal["off", "warn", "raise"] = "off",
        block: Any = None,
        outer: _Watch | None = None,
    ) -> None:
        self.logs = logs
        self.guard = guard
        self.block = block
        """The innermost block."""
        self.outer = outer
        """The watch that applies again when that is closed."""


UNWATCHED: Final = _Watch()
_variable: ContextVar[_Watch] = variable("anyarray transfers", UNWATCHED)
logs_of_copies: Final[list[TransferLog]] = []
"""Logs of all copies in the process, in every context. They do not record views, so views take no longer."""
watch: Final = _variable.get
"""The watch of this context: `watch() is UNWATCHED` only if neither a ledger nor a guard is open."""


@blocks.block
def transfers() -> AbstractContextManager[TransferLog]:
    """Record every transfer inside a `with` block.

    The log has `rows`, a list of `Transfer`, and prints as a table with totals. Blocks nest, and apply to one thread or
    asyncio task.

    >>> import anyarray as xp
    >>> with xp.transfers() as log:
    ...     x = xp.ones(1000, device="numpy").to_device("numpy")
    >>> len(log)
    0
    """
    log = TransferLog()
    return Holding(_variable, lambda outer, block: _Watch((*outer.logs, log), outer.guard, block, outer), log)


@blocks.block
def no_transfers(mode: Literal["raise", "warn"] = "raise", /) -> AbstractContextManager[None]:
    """Forbid implicit copies between backends inside a `with` block.

    A call that would copy an array to another backend, or from a device to the host, raises TransferError, which names
    the line and the cure. With "warn", it warns instead. Views are allowed, and so are explicit transfers: `to_device`,
    `asarray`, `to_native`, printing and pickling.

    >>> import anyarray as xp
    >>> with xp.no_transfers():
    ...     total = xp.sum(xp.ones(3))
    """
    if mode not in ("raise", "warn"):
        raise errors.ArgumentValueError(f'no_transfers: mode must be "raise" or "warn", not {mode!r}')
    return Holding(_variable, lambda outer, block: _Watch(outer.logs, mode, block, outer), None)


class Route(NamedTuple):
    """The route of arrays from one backend to another."""

    copy: Callable[[Native], Native]
    """Copies the values to new memory of the target."""
    alias: Callable[[Native, Any], Native] | None = None
    """Makes an array of the target, on its native device, that aliases the memory; None if no memory can be shared.

    An ndarray must be shareable; see `alignment`. Raises one of REFUSALS if the target cannot take the array.
    """
    device: Any = None
    """The target's native device."""
    is_always_safe: bool = False
    """Whether sharing is safe regardless of other references to the array."""
    needs_shareable: bool = False
    """Whether the source is NumPy, so that `alias` needs an ndarray that `alignment.is_shareable`."""

    def share(self, native: Native) -> Native | None:
        """An alias of the memory as an array of the target, or None."""
        if self.alias is None:
            return None
        if self.needs_shareable:
            native = alignment.as_writable(native)  # a guarded ndarray is read-only
            if not alignment.is_shareable(native):
                return None
        try:
            return self.alias(native, self.device)
        except REFUSALS:
            return None


def route(source: Backend, target: Backend) -> Route:
    """The route between two backends, cached."""
    found: Route | None = source.routes.get(target)
    if found is None:
        found = source.routes[target] = _new_route(source, target)
    return found


def _new_route(source: Backend, target: Backend) -> Route:
    if source.library == target.library:
        return Route(lambda native: target.free.to_device(native, target.native_device))
    to_numpy = np.asarray if source.library == "numpy" else source.hook("to_numpy")
    from_numpy, device = target.hook("from_numpy"), target.native_device
    is_one_memory = source.kind == target.kind and source.index == target.index

    def by_host(native: Native) -> Native:
        return from_numpy(to_numpy(native), device)

    if target.library == "numpy":
        if not is_one_memory:
            return Route(to_numpy)  # from a device to the host it always is a copy
        return Route(by_host, lambda native, _: _read(native, source, to_numpy), None, source.is_immutable)
    if not (is_one_memory and target.has_hook("from_dlpack")):
        return Route(by_host)
    from_dlpack, exported = target.function("from_dlpack"), source.hook("exported")
    if source.library == "numpy":
        return Route(by_host, from_dlpack, device, needs_shareable=True)
    if source.is_immutable:
        return Route(by_host, lambda native, device: from_dlpack(exported(native), device), device, is_always_safe=True)

    if source.kind == "cpu":
        return Route(by_host, from_dlpack, device)
    synchronize, lent = source.hook("synchronize"), source.hook("lent")

    def on_device(native: Native) -> Native:
        try:
            return from_dlpack(exported(native), device)  # shares the memory of a new copy
        except REFUSALS:
            return by_host(native)

    def aliased(native: Native, device: Any) -> Native:
        synchronize(native)  # the target may read without waiting for the stream on which it is computed
        return from_dlpack(lent(native), device)

    return Route(on_device, aliased, device)


def _read(native: Native, source: Backend, to_numpy: Callable[[Native], Native]) -> Native:
    """The ndarray of a native array, by `read_in_place` if it gives a view."""
    if source.read_in_place is not None:
        host = source.read_in_place(native)
        if type(host.base) is memoryview:
            return host
    return to_numpy(native)


REFUSALS: Final = (TypeError, ValueError, RuntimeError, BufferError, NotImplementedError, AttributeError)
"""The errors that libraries raise for an array that cannot be shared.

Such an array has a dtype or a layout that DLPack or the target does not support, such as bfloat16 or strides, or it is
traced.
"""


class Transferred(NamedTuple):
    """The result of a transfer."""

    native: Native
    """The native array of the target."""
    shares: bool
    """Whether it shares memory with the source, or with `lent`."""
    lent: Native = None
    """An aligned copy of the source that shares memory with `native` and must replace the source; else None."""


def transferred(
    native: Native, source: Backend, target: Backend, cause: str, *, explicit: bool = False, is_safe: bool = False
) -> Transferred:
    """The values of `native`, on `source`, as a native array of `target`.

    `cause` is the function that needs it. `is_safe` means that no code can write to the memory; see `ownership`.
    Raises TransferError if the array is traced and would have to leave its library, or if a guard forbids the copy.
    """
    way = route(source, target)
    watched, started = watch(), time.perf_counter()
    if is_safe or way.is_always_safe:
        arrived = way.share(native)
        if arrived is not None:
            if watched is not UNWATCHED:
                kind: Literal["view", "copy"] = "view" if _is_one_memory(native, source, arrived, target) else "copy"
                record(native, source, target.name, cause, kind, started, explicit)
            return Transferred(arrived, shares=True)
    if source.library != target.library and source.free.is_traced(native):
        _refuse_leak(native, source, cause)
        raise _traced_error(source, f"be brought to {target}", "Leave the backend as it is inside the traced function")
    if watched is not UNWATCHED:
        _guard(native, source, target.name, cause, explicit)
    lent = arrived = None
    if is_safe and way.needs_shareable:  # an unaligned ndarray: both sides share one aligned copy
        lent = alignment.copied(native)
        arrived = way.share(lent)
    if arrived is None:
        lent, arrived = None, devices.tried(cause, way.copy, native)
    record(native, source, target.name, cause, "copy", started, explicit)
    return Transferred(arrived, lent is not None, lent)


def _is_one_memory(native: Native, source: Backend, arrived: Native, target: Backend) -> bool:
    """Whether both arrays start at one address, if libraries report it."""
    addresses = {source.hook("address")(native), target.hook("address")(arrived)}
    return None in addresses or len(addresses) == 1 or not _nbytes(native, source)


def shared(native: Native, source: Backend, target: Backend) -> Native | None:
    """A native array of `target` that aliases the memory; None if impossible.

    The caller must know that sharing is safe.
    """
    return route(source, target).share(native)


def to_host(native: Native, source: Backend, cause: str, *, explicit: bool = False) -> np.ndarray[Any, Any]:
    """The values as an ndarray, read-only if it shares memory with `native`.

    Raises TransferError if the array is traced, or if a guard forbids the copy off a device.
    """
    if not explicit and is_differentiated(native, source):
        raise _differentiated_error(source, "become a NumPy array or a Python scalar")
    if source.library == "numpy" or (watch() is UNWATCHED and not (logs_of_copies and source.kind != "cpu")):
        to_numpy = source.free.to_numpy
        try:
            return to_numpy(native)  # type: ignore[no-any-return]  # checked by the contract's test
        except Exception as error:
            _refuse_traced(native, source, cause, error)
            devices.refuse(cause, error)
            raise
    _refuse_traced(native, source, cause, None)
    started = time.perf_counter()
    is_copy = source.kind != "cpu"
    if is_copy:
        _guard(native, source, "host", cause, explicit)
    host: np.ndarray[Any, Any] = source.free.to_numpy(native)
    record(native, source, "host", cause, "copy" if is_copy else "view", started, explicit)
    return host


def _refuse_traced(native: Native, source: Backend, cause: str, refusal: Exception | None) -> None:
    """Raise TransferError if an array that is to be read is traced.

    Its cause is the library's own error, `refusal`, or the one that reading it raises.
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
    if cause == "bool":
        cure += ", and in place of if and while: xp.cond(...), xp.while_loop(...)"
        if source.library == "tf":
            cure += f". {_AUTOGRAPH}"
    elif cause == "index":
        cure += ", and in place of for: xp.fori_loop(...), xp.scan(...)"
    raise _traced_error(source, "become a NumPy array or a Python scalar", cure) from refusal


def is_differentiated(native: Native, source: Backend) -> bool:
    """Whether an array with values is being differentiated."""
    ask = source.is_differentiated
    return ask is not None and ask(native)


def has_derivative(native: Native, source: Backend) -> bool:
    """Whether an array with values would lose a derivative in another library.

    A transform or the user's own code differentiates by it.
    """
    ask = source.has_graph
    return is_differentiated(native, source) or (ask is not None and ask(native))


def refuse_differentiated(native: Native, source: Backend, purpose: str) -> None:
    """Raise TransferError if a derivative may be taken of an array.

    On another library it would be a constant, and its gradient zero.
    """
    if is_differentiated(native, source):
        raise _differentiated_error(source, purpose)
    if has_derivative(native, source):
        raise errors.TransferError(
            f"transfer: an array of {source} requires grad and cannot {purpose}, where its derivative would be lost. "
            "Take x.detach() of the tensor, or xp.stop_gradient(x) of the Array, for a constant"
        )


def _differentiated_error(source: Backend, purpose: str) -> errors.TransferError:
    return errors.TransferError(
        f"transfer: an array of {source} is being differentiated and cannot {purpose}, which has no derivative. "
        "Take xp.stop_gradient(x) for a constant, or return it"
    )


def from_host(a: np.ndarray[Any, Any], target: Backend) -> Native:
    """A native array of `target` with a copy of the values of `a`."""
    return devices.tried("asarray", target.free.from_numpy, a, target.native_device)


def _refuse_leak(native: Native, source: Backend, cause: str) -> None:
    """Raise TraceError if the transform that made a traced array is over.

    Any operation on such an array makes its library raise.
    """
    try:
        source.free.expand_dims(native, 0)
    except Exception as error:
        if is_leak(error):
            leak = errors.leaked(cause)
            if (
                source.library == "tf" and cause == "bool"
            ):  # AutoGraph evaluates the condition of a loop in another graph
                leak.args = (f"{leak}. {_AUTOGRAPH}",)
            raise leak from error
        raise


_AUTOGRAPH: Final = (
    "In a tf.function, AutoGraph needs tensors: if xp.to_native(x > 0):, and in a loop also v = xp.to_native(v)"
)


def _traced_error(source: Backend, purpose: str, cure: str) -> errors.TransferError:
    return errors.TransferError(f"transfer: a traced array of {source} has no values yet and cannot {purpose}. {cure}")


def _guard(native: Native, source: Backend, target: str, cause: str, explicit: bool) -> None:
    """Raise or warn if a guard is open and the copy is implicit."""
    mode = watch().guard
    if explicit or mode == "off":
        return
    frame = callers.user_frame()
    message = (
        f"{cause}: would copy {_nbytes(native, source):,} bytes from {source} to {target} in "
        f"{frame.f_code.co_filename}:{frame.f_lineno}. "
        f'Ask for it: x.to_device("{"numpy" if target == "host" else target}")'
    )
    if mode == "raise":
        raise errors.TransferError(message)
    callers.warn(message, TransferWarning)


class TransferWarning(UserWarning):
    """An implicit copy inside `with no_transfers("warn")`."""


def record(
    native: Native,
    source: Backend,
    target: str,
    cause: str,
    kind: Literal["view", "copy"],
    started: float,
    explicit: bool = False,
) -> None:
    """Append a row to the logs that are open in this context."""
    logs = (*watch().logs, *logs_of_copies) if kind == "copy" else watch().logs
    if not logs:
        return
    seconds = time.perf_counter() - started
    frame = callers.user_frame()
    row = Transfer(
        source.name,
        target,
        cause,
        frame.f_code.co_filename,
        frame.f_lineno,
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
