"""Chains of NumPy's that run on another backend.

Before a chain runs in which a call was decided about, `_speedups/lazy/moves.c` tells what it does, and
`_choice.whole_chains` decides where it runs. On another backend its calls are made one by one with Arrays there, which
puts them off and computes them together; see `recording`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from anyarray._base import dtypes
from anyarray._base.dtypes import DType
from anyarray._call import dispatch, watching
from anyarray._call.declaration import declarations
from anyarray._choice import choice, learning, machine, whole_chains
from anyarray._choice.automatic import Decision
from anyarray._choice.whole_chains import Chain
from anyarray._memory import transfer
from anyarray._registry import registry
from anyarray._registry.home import Home

NDArray = np.ndarray[Any, Any]
_NUMPY: Final = registry.backend_of_name("numpy").free


class _Told(NamedTuple):
    """A chain, as compiled code tells it."""

    calls: Sequence[tuple[str | None, np.dtype[Any], np.dtype[Any], tuple[int, ...]]]
    """Name of the function, None for a cast, the dtype that it reads, the one that it gives, and its operands.

    These are indices of calls before, or -1 - the index of an array.
    """
    arrays: Sequence[NDArray]
    kept: Sequence[int]
    """The indices of the calls that are needed, of which the last is the chain's last."""
    shape: tuple[int, ...]
    """That of all its calls, but of a reduction at its end, which gives another."""
    shape_of_last: tuple[int, ...]
    is_reduced: bool

    def shape_of(self, call: int) -> tuple[int, ...]:
        return self.shape_of_last if call == len(self.calls) - 1 else self.shape

    def chain(self) -> Chain | None:
        """What its time depends on.

        None if it has but casts, or a function that other backends lack.
        """
        its: list[tuple[str, DType]] = [(name, _NUMPY.dtypes[dtype]) for name, dtype, _, _ in self.calls if name]
        if not its or not all(name in declarations for name, _ in its):
            return None
        read = {id(one): one.nbytes for one in self.arrays if one.size > 1}
        kept = [math.prod(self.shape_of(at)) * self.calls[at][2].itemsize for at in self.kept]
        return Chain(tuple(its), math.prod(self.shape), tuple(read.values()), tuple(kept))

    def part(self, length: int) -> _Told:
        """The same of the first so many elements along the first axis."""
        count = self.shape[0]
        cut = [one[:length] if one.ndim == len(self.shape) and one.shape[0] == count else one for one in self.arrays]
        is_whole = self.is_reduced and self.shape_of_last[:1] != (count,)
        last = self.shape_of_last if is_whole else (length, *self.shape_of_last[1:])
        return self._replace(arrays=cut, shape=(length, *self.shape[1:]), shape_of_last=last)

    def values(self, home: Home) -> tuple[NDArray, ...]:
        """The values that are needed, computed on a home."""
        cause = next((name for name, *_ in self.calls if name), "astype")
        own = {id(one): one for one in self.arrays}  # one that is read twice is there twice
        brought = {key: _brought(one, home, cause) for key, one in own.items()}
        arrays = [brought[id(one)] for one in self.arrays]
        found: list[Any] = []
        for name, _, dtype, places in self.calls:
            operands = [found[place] if place >= 0 else arrays[-1 - place] for place in places]
            if name is None:
                found.append(operands[0].astype(_NUMPY.dtypes[dtype]))
            elif self.is_reduced and len(found) == len(self.calls) - 1:
                is_all = math.prod(self.shape_of_last) == 1
                found.append(declarations[name].function(*operands, axis=None if is_all else -1))
            else:
                found.append(declarations[name].function(*operands))
        return tuple([_on_host(found[at], self.shape_of(at), self.calls[at][2]) for at in self.kept])


def _brought(array: NDArray, home: Home, cause: str) -> Any:
    """The values of an ndarray as an Array of a home."""
    if array.ndim == 0:
        return dispatch.wrap(home.constants.named(array.item(), array.dtype.name), home)
    return dispatch.wrap(transfer.transferred(array, _NUMPY.backend, home.backend, cause).native, home)


def _on_host(array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray:
    """The values of an Array as an ndarray that can be written."""
    backend = array._home.backend
    host = transfer.to_host(array._native, backend, "asarray")
    host = host.reshape(shape).astype(dtype, copy=False)
    return host if host.flags.writeable and host.flags.c_contiguous else host.copy()


def moved(
    calls: Sequence[Any], arrays: Sequence[NDArray], kept: Sequence[int], shape: tuple[int, ...],
    shape_of_last: tuple[int, ...], is_reduced: int, file: str | None, line: int,
) -> tuple[NDArray, ...] | None:  # fmt: skip
    """The values of a chain, if it is to run on another backend than NumPy.

    Its last call was made in a line of a file. None if it stays.
    """
    here, told = choice.current(), _Told(calls, arrays, kept, shape, shape_of_last, bool(is_reduced))
    if not isinstance(here.backend, choice.Automatic) or transfer.watch().guard != "off":
        return None
    chain = told.chain() if dtypes.defaults() is dtypes.STANDARD_DEFAULTS else None
    if chain is None or machine.state.model is None:
        return None
    decision = whole_chains.decide(chain, here.candidates)
    there = decision.home.backend
    if not decision.has_moved or not _is_worth(told, chain, decision, here.candidates):
        return None
    seconds = learning.clock()
    values: tuple[NDArray, ...] | None = _tried(chain, there.name, lambda: _values_on(told, decision.home))
    if values is None:
        return None
    seconds = learning.clock() - seconds
    whole_chains.ran(chain, there.name)
    whole_chains.note(chain, there.name, seconds / max(whole_chains.seconds_of(chain, there.name), 1e-9))
    if here.records:
        watching.record_chain(here.records, decision, seconds, file, line)
    return values


def _values_on(told: _Told, home: Home) -> tuple[NDArray, ...]:
    with home.backend.hook("outside_traces")():
        return choice.call_on(home.backend, told.values, home)


def _tried(chain: Chain, name: str, run: Callable[[], Any]) -> Any:
    """What a function gives; None if the backend fails.

    The chain does not run there any more then.
    """
    try:
        return run()
    except Exception as error:  # noqa: BLE001 - NumPy raises what is wrong with the calls
        if not registry.is_out_of_memory(error):
            whole_chains.give_up(chain, name)
        return None


PARTS: Final = 16
"""The part of a chain that is timed on a backend before all of it moves there."""


def _is_worth(told: _Told, chain: Chain, decision: Decision, candidates: tuple[str, ...] | None) -> bool:
    """Whether a chain moves after a part of it was timed there."""
    name, length = decision.home.backend.name, told.shape[0] // PARTS
    if whole_chains.is_tried(chain, name):
        return True
    part = told.part(length)
    its = part.chain() if length else None
    if its is None:
        return False

    def timed() -> float:
        started = learning.clock()
        _values_on(part, decision.home)
        return learning.clock() - started

    seconds = _tried(chain, name, lambda: min(timed(), timed()))  # the first may compile
    if seconds is None:
        return False
    whole_chains.note(chain, name, seconds / max(whole_chains.seconds_of(its, name), 1e-9))
    return whole_chains.decide(chain, candidates).home is decision.home
