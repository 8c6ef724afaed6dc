"""Options of NumPy's functions that ours lack: one rule for each, whatever the function.

`serve` calls a function of ours. What is left of the arguments goes to the rules: one that changes the arguments
beforehand, or one that changes the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from anyarray._array.array import Array
from anyarray._base import errors
from anyarray._call import by_position as _by_position
from anyarray.standard import namespace as xp


def by_position(function: Callable[..., Any]) -> Sequence[str]:
    """The options of a function of the standard that may be given by position."""
    return _by_position.options_of(function)


class Call:
    """A call of ours that is being prepared."""

    def __init__(self, name: str, ours: Callable[..., Any], arrays: list[Any], options: dict[str, Any]) -> None:
        self.name = name
        self.ours = ours
        self.positional = arrays
        self.options = options
        self.afterwards: list[Callable[[Any], Any]] = []
        self.has_initial = False
        self.initial_where: Array | None = None

    def cast(self, dtype: Any) -> None:
        """Let the array arguments have this dtype."""
        self.positional = [xp.astype(one, dtype) if type(one) is Array else one for one in self.positional]


def serve(
    name: str, ours: Callable[..., Any], positional: list[Any], options: dict[str, Any], left: dict[str, Any]
) -> Any:
    """The result of ours for these arguments, and NumPy's other options in `left`."""
    made = Call(name, ours, positional, options)
    made.has_initial = "initial" in left
    for option in sorted(left, key=lambda one: _ORDER.get(one, 0)):
        rule = RULES.get(option)
        if rule is None:
            raise errors.ArgumentTypeError(
                f"{name}: {option}={left[option]!r} is not supported on every backend. Leave it out"
            )
        rule(made, left[option])
    result = made.ours(*made.positional, **made.options)
    for change in made.afterwards:
        result = change(result)
    return result


def _no_effect(call: Call, value: Any) -> None:
    """What concerns memory that only NumPy has, or its subclasses."""


def _order(call: Call, value: Any) -> None:
    if value not in ("C", "K", "A", "F", None):
        raise errors.ArgumentValueError(f"{call.name}: order must be 'C', 'F', 'A' or 'K', not {value!r}")


def _out(call: Call, value: Any) -> None:
    call.afterwards.append(lambda result: written(call.name, value, result))


def written(name: str, out: Any, result: Any) -> Any:
    """`out` with the result in it.

    Raises ValueError for another shape, TypeError for a dtype to which the result's is not cast by "same_kind".
    """
    if isinstance(out, tuple) and not isinstance(result, tuple):
        (out,) = out
    if isinstance(out, tuple):
        return tuple(written(name, one, part) for one, part in zip(out, result, strict=True) if one is not None)
    if type(out) is not Array and not isinstance(out, np.ndarray):
        raise errors.ArgumentTypeError(f"{name}: out must be an Array, not {type(out).__name__}")
    result = xp.asarray(result)
    if tuple(out.shape) != tuple(result.shape):
        raise errors.ArgumentValueError(
            f"{name}: out must have the shape {result.shape} of the result, not {out.shape}"
        )
    if not np.can_cast(result.dtype.dtype, np.dtype(out.dtype), "same_kind"):
        raise errors.ArgumentTypeError(
            f"{name}: the result of dtype {result.dtype} cannot be written to out of dtype {out.dtype} by the rule "
            f"'same_kind'. Give an out of dtype {result.dtype}"
        )
    out[...] = result if type(out) is Array else np.asarray(result)
    return out


def _dtype(call: Call, value: Any) -> None:
    if call.name in _COMPUTES_IN_DTYPE:
        call.cast(value)
    call.afterwards.append(lambda result: xp.astype(result, value))


_COMPUTES_IN_DTYPE: Final = ("mean", "std", "var", "trace", "nanmean", "nanstd", "nanvar")

_IDENTITIES: Final = {"sum": 0, "prod": 1, "all": True, "any": False, "nansum": 0, "nanprod": 1, "count_nonzero": 0}
_COMBINED: Final = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "amax": "maximum",
                    "amin": "minimum", "nansum": "add", "nanprod": "multiply"}  # fmt: skip


def _where(call: Call, value: Any) -> None:
    """Reduce the elements alone where the condition holds."""
    where = xp.asarray(value)
    x = call.positional[0]
    axis, keepdims = call.options.get("axis"), call.options.get("keepdims", False)
    if call.name in _IDENTITIES:
        call.positional[0] = xp.where(where, x, xp.asarray(_IDENTITIES[call.name], dtype=x.dtype))
    elif call.name == "mean":
        total = xp.sum(xp.where(where, x, xp.asarray(0, dtype=x.dtype)), axis=axis, keepdims=keepdims)
        count = xp.count_nonzero(xp.broadcast_to(where, x.shape), axis=axis, keepdims=keepdims)
        call.ours, call.positional, call.options = xp.divide, [total, xp.astype(count, (total / 1).dtype)], {}
    elif call.name in ("var", "std"):
        whole = xp.broadcast_to(where, x.shape)
        count = xp.count_nonzero(whole, axis=axis, keepdims=True)
        floats = x if x.dtype.kind in "fc" else xp.astype(x, xp.float64)
        zero = xp.asarray(0, dtype=floats.dtype)
        mean = xp.sum(xp.where(whole, floats, zero), axis=axis, keepdims=True) / xp.astype(count, floats.dtype)
        square = xp.where(whole, xp.abs(floats - mean) ** 2, xp.astype(zero, xp.abs(zero).dtype))
        left = xp.astype(count - int(call.options.pop("correction", 0)), square.dtype)
        variance = xp.sum(square, axis=axis, keepdims=True) / left
        if not keepdims:
            axes = tuple(range(x.ndim)) if axis is None else axis
            variance = xp.squeeze(variance, axis=axes)
        call.ours, call.positional, call.options = (xp.sqrt if call.name == "std" else xp.positive), [variance], {}
    elif call.name in _COMBINED:
        raise errors.ArgumentValueError(
            f"{call.name}: where needs initial, as {_COMBINED[call.name]} has no identity. Give initial=..."
        )
    else:
        raise errors.ArgumentTypeError(f"{call.name}: where is not supported. Use np.where on the argument")


def _initial(call: Call, value: Any) -> None:
    """Start a reduction with this number."""
    combined = getattr(xp, _COMBINED[call.name])
    x = call.positional[0]
    if call.name in ("max", "min", "amax", "amin") and (x.size == 0 or call.initial_where is not None):
        x = x if call.initial_where is None else xp.where(call.initial_where, x, xp.astype(xp.asarray(value), x.dtype))
        if x.size == 0:
            return _of_none(call, x, value)
        call.positional[0] = x
    call.afterwards.append(lambda result: combined(result, value))
    return None


def _where_of(call: Call, value: Any) -> None:
    if call.name in ("max", "min", "amax", "amin") and call.has_initial:
        call.initial_where = xp.asarray(value)
    else:
        _where(call, value)


def _of_none(call: Call, x: Array, value: Any) -> None:
    """The largest or smallest of no elements and a number."""
    axis = call.options.get("axis")
    axes = (
        range(x.ndim) if axis is None else [axis % x.ndim] if isinstance(axis, int) else [one % x.ndim for one in axis]
    )
    keepdims = call.options.get("keepdims", False)
    shape = [1 if at in axes else n for at, n in enumerate(x.shape) if keepdims or at not in axes]
    call.ours, call.positional = xp.full, [tuple(shape), value]
    call.options = {"dtype": x.dtype}


def _ddof(call: Call, value: Any) -> None:
    call.options["correction"] = value


def _kind(call: Call, value: Any) -> None:
    if value is not None and value not in ("quicksort", "mergesort", "heapsort", "stable", "introselect"):
        raise errors.ArgumentValueError(
            f"{call.name}: kind must be quicksort, mergesort, heapsort or stable, not {value!r}"
        )


def _casting(call: Call, value: Any) -> None:
    if value not in ("no", "equiv", "safe", "same_kind", "unsafe", "same_value"):
        raise errors.ArgumentValueError(
            f"{call.name}: casting must be no, equiv, safe, same_kind or unsafe, not {value!r}"
        )


RULES: Final[dict[str, Callable[[Call, Any], None]]] = {
    "casting": _casting,
    "correction": _ddof,
    "ddof": _ddof,
    "dtype": _dtype,
    "initial": _initial,
    "kind": _kind,
    "like": _no_effect,
    "order": _order,
    "out": _out,
    "overwrite_input": _no_effect,
    "subok": _no_effect,
    "where": _where_of,
}
"""The rule for each option."""
_ORDER: Final = {"dtype": -2, "ddof": -1, "where": 1, "initial": 2, "out": 9}
"""Which options come before others, and which after."""
