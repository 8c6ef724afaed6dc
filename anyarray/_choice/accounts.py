"""Savings missed for an Array by staying where it is, in seconds.

Once missed savings are large enough, they pay for a move; `automatic` has the rule.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from anyarray._base import extension
from anyarray._choice.cost import NUMPY

LAZY: Final = getattr(extension.speedups, "Lazy", None)
"""The class of recorded calls. An Array has one in place of its native array until its value is needed."""

Seconds = dict[str, float]
"""Seconds that were missed by not running on a backend, by its name."""


class Pool(Seconds):
    """The missed savings of all that was computed from the same arrays."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        super().__init__()
        self.last = NUMPY
        """The backend that the last of these calls ran on: its code is in the CPU caches, and its threads are awake."""


class Account(NamedTuple):
    """The missed savings of an array; a move is paid from both."""

    pool: Pool
    """Shared, so that no saving pays for two moves."""
    own: Seconds
    """Those of the calls that led to this array: savings missed by other results do not pay for moving it."""

    def inherited(self) -> Account:
        """The account of a result."""
        return Account(self.pool, self.own.copy())


RETURNED: Final = "returned"
"""A key of `Account.own` beside the backends: not 0 if the array was moved back to NumPy."""
HOST_READS: Final = "reading"
"""A key of `Pool` beside the backends: seconds of reads by the host, less what running there has saved."""
by_memory: Final[dict[int, tuple[weakref.ref[Any], Account]]] = {}
"""The accounts of Arrays on NumPy by the id of the ndarray that owns the memory, for views of it.

A view is made on the fast path, which has no time to pass an account on.
"""


def account_of(array: Any) -> Account | None:
    """The account of an Array, or of the Array whose memory it shares."""
    found: Account | None = getattr(array, "_account", None)
    is_in_memory = array._home.backend.library == NUMPY and type(array._value) is not LAZY
    if found is None and by_memory and is_in_memory:
        memory = _memory_of(array._value)
        entry = by_memory.get(id(memory))
        if entry is not None and entry[0]() is memory:
            found = array._account = entry[1].inherited()
    return found


def _memory_of(native: Any) -> Any:
    """The ndarray that owns the memory, which all its views refer to."""
    return native if native.base is None else native.base


def set_account(array: Any, account: Account) -> None:
    """Set the account of an Array, which views of its memory inherit."""
    array._account = account
    if array._home.backend.library == NUMPY and type(array._value) is not LAZY:
        memory = _memory_of(array._value)
        key = id(memory)
        known = by_memory.get(key)
        if known is not None and known[1] is account and known[0]() is memory:
            return
        with contextlib.suppress(TypeError):  # some owners of memory cannot be weakly referenced
            by_memory[key] = (weakref.ref(memory, lambda _: by_memory.pop(key, None)), account)


class CallAccounts:
    """The accounts that a call draws on and adds to."""

    __slots__ = ("account", "alike", "arrays", "pools")

    def __init__(self, arrays: Sequence[Any], alike: Seconds) -> None:
        self.arrays = arrays
        self.alike = alike
        """Missed savings of calls with the same function, shapes and dtypes."""
        self.account: Account | None = None
        """That of the first input that has one."""
        pools: dict[int, Pool] = {}
        for array in arrays:
            found = account_of(array)
            if found is not None:
                if self.account is None:
                    self.account = found
                    set_account(array, found)  # again, as its memory may have been replaced
                pools[id(found.pool)] = found.pool
        self.pools = list(pools.values())
        """The pools of all inputs, without duplicates."""

    @property
    def last(self) -> str:
        """The backend that the last call of the lineage ran on."""
        return NUMPY if self.account is None else self.account.pool.last

    def missed(self, name: str) -> float:
        """Unspent savings missed by the calls that led to the inputs."""
        if self.account is None:
            return 0.0
        return min(self.account.own.get(name, 0.0), sum([pool.get(name, 0.0) for pool in self.pools]))

    def reading(self) -> float:
        """Seconds of reads by the host that running there has not saved."""
        return sum([pool.get(HOST_READS, 0.0) for pool in self.pools])

    def spend(self, best: str, here: str, paid: float) -> None:
        """Pay for a move between two backends with so many missed seconds.

        What the results inherit begins anew. The inputs keep what they have missed if the call pays for itself.
        """
        left = paid
        for pool in self.pools:
            part = min(left, pool.get(best, 0.0))
            pool[best], left = pool.get(best, 0.0) - part, left - part
        for pool in self.pools:
            pool[here] = pool[HOST_READS] = 0.0
        self.alike[best] = 0.0
        if self.account is not None:
            if not paid:
                self.account = self.account.inherited()
            self.account.own[best] = self.account.own[here] = 0.0

    def miss(self, best: str, gains: Sequence[tuple[str, float]]) -> None:
        """Add the seconds that a call on `best` misses on other backends.

        Inputs without an account get one, unless the call runs in NumPy and misses nothing.
        """
        if self.account is None and (best != NUMPY or any(gain > 0 for _, gain in gains)):
            self.account = Account(Pool(), {})
            for array in self.arrays:
                set_account(array, self.account)
        if self.account is not None:
            self.account.pool.last = best
        for missed in (*(self.account or ()), self.alike):
            for name, gain in gains:
                before = missed.get(name, 0.0)
                if before or gain > 0:  # most calls miss nothing where nothing was missed
                    missed[name] = max(0.0, before + gain)
