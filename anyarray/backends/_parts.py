"""Functions of NumPy that treat parts of an array, by several threads.

NumPy sorts the rows of an array, transforms them and inverts matrices one after the other in one thread, and lets go of
the GIL meanwhile. Here the first parts are timed. If the others take long, threads share them, and give the same.
Row of `benchmarks.many_elements`: `xp.sort(m)`.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np

from anyarray._base import processor

if TYPE_CHECKING:
    import numpy.typing as npt  # 1 ms at import

Host: TypeAlias = "npt.NDArray[Any]"
R = TypeVar("R")

MANY: Final = 1 << 14
"""Threshold in elements above which it is worth to look at the clock."""

_WORTH: Final = 1e-3
"""Seconds of work for which another thread is started, which takes some 1e-4."""

_SHARES: Final = 4
"""The parts of each thread: one that is slower takes fewer."""

_most_threads: Final = processor.threads()


def shared(work: Callable[[slice], object], length: int) -> None:
    """Have `work` done for all of `range(length)`, by slices.

    Several threads call it at once if it takes long, in the context of the caller, so that what it set holds there.
    """
    first = max(1, length // 16)
    started = time.perf_counter()
    work(slice(0, first))
    left = length - first
    threads = int(min(_most_threads, left, 1 + (time.perf_counter() - started) / first * left / _WORTH))
    if threads < 2:
        if left:
            work(slice(first, length))
        return
    step = -(-left // (threads * _SHARES))
    left_to_do = _Slices(work, [slice(start, min(start + step, length)) for start in range(first, length, step)])
    try:
        for _ in range(threads - 1):
            run = contextvars.copy_context().run
            try:
                threading.Thread(target=run, args=(left_to_do.do,), daemon=True).start()
            except RuntimeError:  # the process may have no more threads
                break
        left_to_do.do()
    finally:
        left_to_do.end()
    if left_to_do.errors:
        raise left_to_do.errors[0]


class _Slices:
    """Slices that threads take, one after the other.

    Nobody waits for a thread that has not taken one, as on a busy machine it may begin milliseconds later.
    """

    def __init__(self, work: Callable[[slice], object], slices: list[slice]) -> None:
        self._work = work
        self._slices = slices
        self._running = 0
        self._changed = threading.Condition()
        self.errors: list[Exception] = []

    def do(self) -> None:
        """Do what nobody has taken; an error ends it for all."""
        while True:
            with self._changed:
                if not self._slices or self.errors:
                    return
                one = self._slices.pop()
                self._running += 1
            try:
                self._work(one)
            except Exception as error:  # noqa: BLE001 - raised in the thread that asked
                self.errors.append(error)
            finally:
                with self._changed:
                    self._running -= 1
                    self._changed.notify_all()

    def end(self) -> None:
        """Let nobody take any more, and wait for those who have."""
        with self._changed:
            self._slices.clear()
            while self._running:
                self._changed.wait()


def mapped(function: Callable[[slice], R], length: int, axis: int) -> R:
    """What a function gives for all parts of a length, put together.

    It gives an array that has them along `axis`, or a tuple of such.
    """
    before, wholes, kinds = (slice(None),) * axis, list[Host](), list[Any]()

    def work(part: slice) -> None:
        its: Any = function(part)
        several = its if isinstance(its, tuple) else (its,)
        if not kinds:  # the first part, which is done alone
            kinds.append(type(its))
            wholes.extend([np.empty((*x.shape[:axis], length, *x.shape[axis + 1 :]), x.dtype) for x in several])
        for whole, one in zip(wholes, several, strict=True):
            whole[(*before, part)] = one

    shared(work, length)
    found: Any = wholes[0]
    if issubclass(kinds[0], tuple):
        found = tuple(wholes) if kinds[0] is tuple else kinds[0](*wholes)  # a named tuple
    return found


def along(function: Callable[[Host], R], x: Host, axis: int) -> R:
    """`function(x)`, which treats the elements along an axis together."""
    other = apart(x, axis)
    if other is None:
        return function(x)
    before = (slice(None),) * other
    return mapped(lambda part: function(x[(*before, part)]), x.shape[other], other)


def of_elements(function: Callable[[Host], Host], x: Host) -> Host:
    """`function(x)`, which treats each element apart."""
    if x.size < MANY or _most_threads < 2:
        return function(x)
    flat = x.reshape(-1)
    return mapped(lambda part: function(flat[part]), flat.size, 0).reshape(x.shape)


def of_each(function: Callable[..., R]) -> Callable[..., R]:
    """A function of matrices, or of stacks of them.

    Large matrices are left alone, as LAPACK has threads of its own for them.
    """

    def called(x: Host, *others: Host, **options: Any) -> R:
        is_stack = x.ndim > 2 and x.size >= MANY and x.shape[-1] * x.shape[-2] <= _SMALL_MATRIX and _most_threads > 1
        if is_stack and len(x) > 1 and all(one.ndim == x.ndim and len(one) == len(x) for one in others):
            return mapped(lambda part: function(x[part], *[one[part] for one in others], **options), len(x), 0)
        return function(x, *others, **options)

    return called


_SMALL_MATRIX: Final = 64 * 64
"""The most elements of a matrix of which two threads treat a stack sooner than LAPACK does.

Measured: `inv` and `solve` of 32 x 32 to 96 x 96 gain 1.4 to 1.7 times and lose a tenth from
128 x 128 on, `eigh` and `svd` of 32 x 32 gain 1.4 times and lose up to a sixth from 64 x 64 on.
"""


def apart(x: Host, axis: int) -> int | None:
    """The longest axis but one along which a large array has several parts.

    None if there is none.
    """
    if x.size < MANY or x.ndim < 2 or _most_threads < 2 or not -x.ndim <= axis < x.ndim:
        return None
    other = max([i for i in range(x.ndim) if i != axis % x.ndim], key=x.shape.__getitem__)
    return other if x.shape[other] > 1 else None
