"""Shortcuts: faster functions with the same result for common arguments.

A function of NumPy's backend checks for arguments that NumPy treats differently, and for sizes above which another
algorithm is faster. For small arrays these checks take as long as the call itself; compiled calls do them in a tenth of
the time, and then call the shortcut. Without shortcuts, a quarter of the calls in `benchmarks.small_calls` take 0.4 us
or more over NumPy's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

FEW: Final = 1000
"""Threshold in elements of each array below which a shortcut may be called; the C code has it, too."""
_CODES: Final = {"b": "?", "i": "bhilq", "u": "BHILQ", "f": "fd", "c": "FD"}
"""NumPy's codes of the dtypes of each kind, without 16-bit floats, which NumPy often treats differently."""


_DISPATCHED: Final = type(np.concatenate)
"""The class of NumPy's functions that dispatch by `__array_function__`."""


def direct(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy without `__array_function__` dispatch.

    Dispatch takes a fifth of a microsecond, and all arrays are NumPy's.
    """
    return getattr(function, "__wrapped__", function) if type(function) is _DISPATCHED else function


def shortcut(
    function: Callable[..., Any] | None, *kinds: str, axes: int = 1, is_finite: bool = False
) -> Callable[[F], F]:
    """Say what gives the same as a native function of few elements.

    `function` gets the arrays alone, where all else is left out. `kinds` are the kinds of dtypes that each array may
    have, or NumPy's codes of single ones; the first has at least so many `axes` and, if it `is_finite`, holds neither
    NaN nor infinity. What `function` raises is nobody's to see: the native one is called then. None leaves it as it is.
    `_speedups/entry/shortcuts.c` asks whether all this holds.
    """
    masks = tuple(
        [sum({1 << np.dtype(code).num for kind in of_one for code in _CODES.get(kind, kind)}) for of_one in kinds]
    )

    def decorated(native: F) -> F:
        if function is not None:
            native.shortcut = direct(function), masks, axes, is_finite  # type: ignore[attr-defined]  # which functions may have
        return native

    return decorated


def directly(
    native: F,
    function: Callable[..., Any],
    kind: type,
    dtypes: frozenset[Any],
    guard: Callable[[], Any] | None = None,
    options: Iterable[str] = (),
    *,
    is_guarded: bool = False,
) -> F:
    """A native function, with the library's own that gives the same.

    That is called for arrays of the class `kind` and one dtype of `dtypes`, where all else but the `options` is left
    out: these it takes as `native` does. The `guard` gives None as long as no transform of the library is open. If it
    `is_guarded`, it must do so, and none of the arrays may have a true `requires_grad`. `_speedups/entry/shortcuts.c`
    asks for all this.
    """
    native.direct = function, kind, dtypes, guard, is_guarded, frozenset(options)  # type: ignore[attr-defined]  # which functions may have
    return native
