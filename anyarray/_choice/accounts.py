"""What was missed for an Array by not being elsewhere, in seconds.

Savings that are missed pay for a move when they are enough; `automatic` has the rule.
"""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from anyarray._choice.cost import NUMPY

Seconds = dict[str, float]
"""Seconds that were missed by not being on a backend, by its name."""


class Pool(Seconds):
    """What was missed by all that was computed from the same arrays."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        super().__init__()
        self.last = NUMPY
        """The backend that the last of these calls ran on: its code is in the caches, and its threads are awake."""


class Account(NamedTuple):
    """What was missed for an array: a move is paid by both."""

    pool: Pool
    """Shared, so that no saving pays for two moves."""
    own: Seconds
    """On the way to this array alone: what other results missed does not make moving this one pay."""

    def inherited(self) -> Account:
        """The account of a result."""
        return Account(self.pool, self.own.copy())


RETURNED: Final = "returned"
"""Stands in an array's own account beside the backends: whether it went home to NumPy; not 0 if so."""
READING: Final = "reading"
"""Stands in a pool beside the backends: what the host's reading took more than the work there won."""
by_memory: Final[dict[int, tuple[weakref.ref[Any], Account]]] = {}
"""The accounts of Arrays by the id of their memory, weakly, for Arrays of NumPy that are views of it.

Views are made where nothing is decided, which must not take the time to hand on an account.
"""


def account_of(array: Any) -> Account | None:
    """What was missed for an Array or one with its memory, if anything."""
    found: Account | None = getattr(array, "_account", None)
    if found is None and by_memory and array._home.backend.library == NUMPY:
        memory = _memory_of(array._native)
        entry = by_memory.get(id(memory))
        if entry is not None and entry[0]() is memory:
            found = array._account = entry[1].inherited()
    return found


def _memory_of(native: Any) -> Any:
    """What all views of an ndarray hold."""
    return native if native.base is None else native.base


def give(array: Any, account: Account) -> None:
    """Let an Array have an account, and views of its memory inherit it."""
    array._account = account
    if array._home.backend.library == NUMPY:
        memory = _memory_of(array._native)
        key = id(memory)
        known = by_memory.get(key)
        if known is not None and known[1] is account and known[0]() is memory:
            return
        with contextlib.suppress(TypeError):  # some memory of others takes no weak references
            by_memory[key] = (weakref.ref(memory, lambda _: by_memory.pop(key, None)), account)


def account_for(arrays: Sequence[Any]) -> Account:
    """The account that this call's missed savings go to.

    It is that of one of its inputs; if none has one, they open it together.
    """
    found = one_of(arrays)
    if found is None:
        found = Account(Pool(), {})
        for array in arrays:
            give(array, found)
    return found


def one_of(arrays: Sequence[Any]) -> Account | None:
    """The account of the first of these Arrays that has one."""
    for array in arrays:
        found = account_of(array)
        if found is not None:
            give(array, found)  # anew, as it may have other memory since
            return found
    return None


def pools_of(arrays: Sequence[Any]) -> list[Pool]:
    """The pools of the inputs, each once."""
    pools: dict[int, Pool] = {}
    for array in arrays:
        account = account_of(array)
        if account is not None:
            pools[id(account.pool)] = account.pool
    return list(pools.values())


def forget_memory() -> None:
    """Let views inherit no accounts of the Arrays whose memory they have."""
    by_memory.clear()


class Books(NamedTuple):
    """The accounts that a call draws on and adds to."""

    account: Account
    pools: Sequence[Pool]
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
        pool.last = best
        if took < math.inf:
            for name, working in seconds.items():
                if name != best:
                    for missed in (pool, self.account.own, self.alike):
                        missed[name] = max(0.0, missed.get(name, 0.0) + took - working)
        if took < seconds.get(NUMPY, 0.0) and pool.get(READING):
            pool[READING] = max(0.0, pool[READING] + took - seconds[NUMPY])
