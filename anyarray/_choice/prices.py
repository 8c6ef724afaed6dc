"""The price of running a call on a backend, and whether it can run there."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from anyarray._base import errors
from anyarray._base.dtypes import DType
from anyarray._choice import cost
from anyarray._choice.accounts import RETURNED
from anyarray._choice.cost import NUMPY
from anyarray._choice.machine import Prediction, compiled, unable, usable_backend
from anyarray._choice.rule import LEFT
from anyarray._memory import alignment, ownership, second_copies, transfer
from anyarray._registry import libraries, registry
from anyarray._registry.home import Home
from anyarray._registry.registry import Backend

_NUMPY: Final = registry.backend_of_name(NUMPY).free


def place(arrays: Sequence[Any], sizes: Sequence[int], known: cost.Model, seconds: Mapping[str, float]) -> Home:
    """Where the inputs are: of their homes that where the call ends first.

    `seconds` are those of the call itself, by backend. NumPy is preferred by the margin for error.
    """
    homes = list(dict.fromkeys([at(a) for a in arrays]))
    if len(homes) == 1:
        return homes[0]

    def ends(home: Home) -> tuple[float, bool, str]:
        name = home.backend.name
        working = seconds.get(name, math.inf) if seconds else 0.0
        return bringing(arrays, sizes, name, known) + working * (LEFT if name == NUMPY else 1.0), name != NUMPY, name

    return min(homes, key=ends)


def at(array: Any) -> Home:
    """The home of an Array for decisions.

    It is NumPy after the Array was moved back there, as long as its second copy is kept.
    """
    account = getattr(array, "_account", None)
    if account is not None and account.own.get(RETURNED) and second_copies.get(array, _NUMPY.backend) is not None:
        return _NUMPY
    return array._home  # type: ignore[no-any-return]  # an Array's home


def bringing(arrays: Sequence[Any], sizes: Sequence[int], target: str, known: cost.Model) -> float:
    """Seconds of transferring the Arrays that are not on `target`."""
    if {a._home.backend.name for a in arrays} == {target}:
        return 0.0
    seconds, there = 0.0, loaded(target)
    for array, nbytes in zip(arrays, sizes, strict=True):
        source = array._home.backend
        if source.name != target and (there is None or second_copies.get(array, there) is None):
            is_view = there is not None and _is_view(array, source, there)
            seconds += known.bringing(source.name, target, nbytes, is_view=is_view)
    return seconds


ASKED: Final = 1 << 28
"""Bytes of a call from which an accelerator is asked for what is free, which takes some microseconds."""


def has_room(name: str, nbytes: float) -> bool:
    """Whether a backend has so much memory left, as far as it tells."""
    there = loaded(name) if nbytes else None
    if there is None or there.kind == "cpu":
        return True
    free = there.hook("memory")(there.native_device)[1]
    return free is None or nbytes <= free


def _is_view(array: Any, source: Backend, target: Backend) -> bool:
    """Whether a transfer shares memory, as `_memory.transfer` decides."""
    way = transfer.route(source, target)
    return way.is_always_safe or (
        way.needs_shareable and ownership.is_private(array) and alignment.is_shareable(array._native)
    )


def _library(name: str) -> libraries.Library:
    """The library of a backend; a name that is in the cache is not parsed."""
    met = registry._backends.get(name)
    return registry.parse(name)[0] if met is None else met._loaded.library


def loaded(name: str) -> Backend | None:
    """The backend of a name if its library is loaded and has the device."""
    return usable_backend(name) if registry.is_loaded(_library(name)) else None


def importing(name: str, known: cost.Model) -> float:
    """Seconds of importing a backend's library; 0 if it is imported."""
    return 0.0 if package(name) in sys.modules else known.backends[name].importing


def package(name: str) -> str:
    """The package of a backend's library."""
    return _library(name).package


def first(name: str, call: cost.Call, prediction: Prediction, known: cost.Model) -> float:
    """Additional seconds of the first call with these shapes; else 0."""
    return 0.0 if (name, prediction.key) in compiled else known.first(name, call)


def has_dtypes(name: str, dtypes: Iterable[DType]) -> bool:
    """Whether a backend is usable and has the dtypes; imports its library."""
    there = usable_backend(name)
    return there is not None and all(there.has_dtype(dtype.name) for dtype in dtypes)


def narrowed(
    function: str, predicted: Mapping[str, float], candidates: Sequence[str], dtypes: Sequence[DType]
) -> Backend:
    """The best of the backends that a policy allows, whatever the price.

    One that has the dtypes and the function is preferred. Raises BackendError if none can be used.
    """
    names = sorted(candidates, key=lambda name: ((name, function) in unable, predicted.get(name, math.inf)))
    # Then the best device of each library, in case this process sees none of those that were measured.
    names += [registry.parse(name)[0].name for name in candidates]
    first: Backend | None = None
    for name in names:
        there = usable_backend(name)
        if there is not None and has_dtypes(name, dtypes):
            return there
        first = first or there
    if first is None:
        raise errors.BackendError(
            f"{function}: none of the backends that the policy leaves can be used here: {', '.join(candidates)}. "
            f'Add one that can: "{NUMPY}"'
        )
    return first
