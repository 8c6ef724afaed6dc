"""What it takes to have a call run on a backend, and whether it can."""

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
from anyarray._choice.machine import Prospect, compiled, found_here, unable
from anyarray._memory import alignment, ownership, second_copies, transfer
from anyarray._registry import libraries, registry
from anyarray._registry.home import Home
from anyarray._registry.registry import Backend

_NUMPY: Final = registry.backend_of_name(NUMPY).free


def place(arrays: Sequence[Any], sizes: Sequence[int], known: cost.Model) -> Home:
    """The home to which bringing the others takes least; NumPy on a tie."""
    homes = list(dict.fromkeys([_at(a) for a in arrays]))
    if len(homes) == 1:
        return homes[0]
    return min(
        homes, key=lambda h: (bringing(arrays, sizes, h.backend.name, known), h.backend.name != NUMPY, h.backend.name)
    )


def _at(array: Any) -> Home:
    """Where an Array counts as living.

    In NumPy after it went home, as long as its copy is kept there.
    """
    account = getattr(array, "_account", None)
    if account is not None and account.own.get(RETURNED) and second_copies.get(array, _NUMPY.backend) is not None:
        return _NUMPY
    return array._home  # type: ignore[no-any-return]  # an Array's home


def bringing(arrays: Sequence[Any], sizes: Sequence[int], target: str, known: cost.Model) -> float:
    """Seconds of bringing those of the Arrays that are not there."""
    if {a._home.backend.name for a in arrays} == {target}:
        return 0.0
    seconds, there = 0.0, loaded(target)
    for array, nbytes in zip(arrays, sizes, strict=True):
        source = array._home.backend
        if source.name != target and (there is None or second_copies.get(array, there) is None):
            is_view = there is not None and _is_view(array, source, there)
            seconds += known.bringing(source.name, target, nbytes, is_view=is_view)
    return seconds


def arriving(arrays: Sequence[Any], sizes: Sequence[int], target: str, last: str, known: cost.Model) -> float:
    """Seconds of bringing them, and of going on with another library.

    Which takes nothing if the `last` call with what was computed from them ran there.
    """
    seconds = bringing(arrays, sizes, target, known)
    return seconds if last == target else seconds + known.backends[target].entering


def _is_view(array: Any, source: Backend, target: Backend) -> bool:
    """Whether a transfer shares memory, as `_memory.transfer` decides."""
    way = transfer.route(source, target)
    return way.is_always_safe or (
        way.needs_shareable and ownership.is_private(array) and alignment.is_shareable(array._native)
    )


def _library(name: str) -> libraries.Library:
    """The library of a backend; a name that was met before is not parsed."""
    met = registry._backends.get(name)
    return registry.parse(name)[0] if met is None else met._loaded.library


def loaded(name: str) -> Backend | None:
    """The backend of a name, if its library is imported and has the device."""
    return found_here(name) if registry.is_loaded(_library(name)) else None


def importing(name: str, known: cost.Model) -> float:
    """Seconds that importing its library takes; 0 if it is imported."""
    return 0.0 if package(name) in sys.modules else known.backends[name].importing


def package(name: str) -> str:
    """The package of its library."""
    return _library(name).package


def first(name: str, call: cost.Call, prospect: Prospect, known: cost.Model) -> float:
    """Seconds that the first call with these shapes adds; 0 for others."""
    return 0.0 if (name, prospect.key) in compiled else known.first(name, call)


def has_dtypes(name: str, dtypes: Iterable[DType]) -> bool:
    """Whether the backend, imported for it, is there and has the dtypes."""
    there = found_here(name)
    return there is not None and all(there.has_dtype(dtype.name) for dtype in dtypes)


def narrowed(
    function: str, predicted: Mapping[str, float], candidates: Sequence[str], dtypes: Sequence[DType]
) -> Backend:
    """The best of the backends that a policy leaves, whatever it costs.

    It has the dtypes and the function if any of them has. Raises BackendError if none can be used.
    """
    names = sorted(candidates, key=lambda name: ((name, function) in unable, predicted.get(name, math.inf)))
    # The best of a library, if none of its devices that were measured is seen by this process.
    names += [registry.parse(name)[0].name for name in candidates]
    first: Backend | None = None
    for name in names:
        there = found_here(name)
        if there is not None and has_dtypes(name, dtypes):
            return there
        first = first or there
    if first is None:
        raise errors.BackendError(
            f"{function}: none of the backends that the policy leaves can be used here: {', '.join(candidates)}. "
            f'Add one that can: "{NUMPY}"'
        )
    return first
