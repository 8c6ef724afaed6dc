"""Options of NumPy's functions that ours lack.

Each option has one rule for all functions. `serve` calls a function of ours and passes the remaining options to their
rules, which change the arguments before the call or the result after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from anyarray._array.array import Array
from anyarray._base import errors
from anyarray._call.out import write
from anyarray.standard import namespace as xp

Change = Callable[[Any], Any]


def serve(
    name: str,
    ours: Callable[..., Any],
    positional: Sequence[Any],
    options: Mapping[str, Any],
    left: Mapping[str, Any],
) -> Any:
    """The result of ours, with NumPy's other options in `left`.

    Raises TypeError for an option that has no rule.
    """
    for option in left:
        if option not in RULES and not (option == "where" and name.startswith("nan")):
            raise errors.ArgumentTypeError(
                f"{name}: {option}={left[option]!r} is not supported on every backend. Leave it out"
            )
    if "out" in left and "dtype" in left and name in _JOINING:
        raise errors.ArgumentTypeError(f"{name}: takes either out or dtype, not both. Give an out of that dtype")
    if "where" in left and name.startswith("nan"):  # what is left out counts as NaN
        x = options["a"] if options["a"].dtype.kind in "fc" else xp.astype(options["a"], xp.float64)
        options = {**options, "a": xp.where(xp.asarray(left["where"]), x, math.nan)}
    changes = [rule(name, left[option], left) for option, rule in RULES.items() if option in left]
    result = ours(*positional, **options)
    for change in filter(None, changes):
        result = change(result)
    return result


def _no_effect(name: str, value: Any, others: Mapping[str, Any]) -> None:
    """What concerns memory that only NumPy has, or its subclasses."""


def _kind(name: str, value: Any, others: Mapping[str, Any]) -> None:
    kinds = ("sort", "table") if name == "isin" else ("introselect",)
    if value not in kinds:
        raise errors.ArgumentValueError(f"{name}: kind must be {' or '.join(map(repr, kinds))}, not {value!r}")


def _order(name: str, value: Any, others: Mapping[str, Any]) -> None:
    if (value.upper() if isinstance(value, str) else value) not in ("C", "K", "A", "F", None):
        raise errors.ArgumentValueError(f"{name}: order must be 'C', 'F', 'A' or 'K', not {value!r}")


def _casting(name: str, value: Any, others: Mapping[str, Any]) -> None:
    if value not in ("no", "equiv", "safe", "same_kind", "unsafe", "same_value"):
        raise errors.ArgumentValueError(
            f"{name}: casting must be 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', not {value!r}"
        )


def _dtype(name: str, value: Any, others: Mapping[str, Any]) -> Change:
    def cast(result: Any) -> Any:
        casting: Any = others.get("casting") or "same_kind"
        if not np.can_cast(result.dtype.dtype, value, casting):
            raise errors.ArgumentTypeError(
                f"{name}: the result of dtype {result.dtype} cannot be cast to {np.dtype(value)} by the rule "
                f"{casting!r}. Cast the arrays: x.astype(...)"
            )
        return xp.astype(result, value)

    return cast


def out_by(name: str, value: Any, others: Mapping[str, Any]) -> Change:
    casting: Any = others.get("casting", "same_kind")
    if casting == "same_kind" or isinstance(value, tuple):
        return lambda result: written(name, value, result)

    def cast(result: Any) -> Any:
        if not np.can_cast(np.dtype(result.dtype), np.dtype(value.dtype), casting):
            raise errors.ArgumentTypeError(
                f"{name}: the result of dtype {result.dtype} cannot be cast to {value.dtype}, the dtype of out, by the "
                f"rule {casting!r}. Give an out of that dtype"
            )
        return written(name, value, xp.astype(result, np.dtype(value.dtype)))

    return cast


_COMBINED: Final = {"nansum": xp.add, "nanprod": xp.multiply, "nanmax": xp.maximum, "nanmin": xp.minimum}


def _initial(name: str, value: Any, others: Mapping[str, Any]) -> Change:
    """Start a reduction with a number."""
    combined = _COMBINED[name]
    return lambda result: combined(result, value)


def written(name: str, out: Any, result: Any) -> Any:
    """`out` with the result in it; a tuple of them for several results."""
    if isinstance(result, tuple):
        return tuple([part if one is None else write(name, one, part) for one, part in zip(out, result, strict=True)])
    return write(name, out, result if type(result) is Array else xp.asarray(result))


_JOINING: Final = frozenset({"concat", "concatenate", "dstack", "hstack", "stack", "vstack"})

RULES: Final[dict[str, Callable[[str, Any, Mapping[str, Any]], Change | None]]] = {
    "assume_unique": _no_effect,
    "casting": _casting,
    "kind": _kind,
    "like": _no_effect,
    "order": _order,
    "overwrite_input": _no_effect,
    "subok": _no_effect,
    "initial": _initial,
    "dtype": _dtype,
    "out": out_by,
}
"""The rule for each option, in the order in which they apply."""
