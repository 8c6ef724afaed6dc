"""Chains: Python functions for compiled code that records calls.

`_speedups/lazy/recording.c` records elementwise calls, and `_speedups/lazy/chains.c` runs them.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, Final

import numpy as np

from anyarray._base import callers, extension
from anyarray._base import dtypes as _dtypes
from anyarray._call import watching
from anyarray._choice import automatic, choice, learning, machine
from anyarray._registry import registry

_FUNCTIONS_OF_NUMPY: Final = registry.backend_of_name("numpy").function

_KINDS: Final = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
"""NumPy's numbers of floating-point errors."""

_WORDS: Final = {1: "divide by zero", 2: "overflow", 4: "underflow", 8: "invalid value"}
"""Their names in NumPy's warnings."""

ERROR_VARIABLE: Final = getattr(sys.modules.get("numpy._core.umath"), "_extobj_contextvar", None)
"""The ContextVar of NumPy's error modes: the same object means the same modes."""


def loop_of(name: str, dtypes: tuple[np.dtype[Any], ...], /) -> tuple[Any, ...] | None:
    """The ufunc of a function for these dtypes, and the dtypes of its loop.

    The second entry is whether it rounds correctly. None for a function that is not a single ufunc on NumPy's backend,
    or whose errors depend on values. The ufunc is None for `where`, and the reducing ufunc for a reduction.
    """
    if _HALF in dtypes:  # whose last bit NumPy's loops give by where an element lies, as the ends of a block do
        return None
    if name in _REDUCED_BY:
        return _reduction_of(name, *dtypes)
    function: Any = _FUNCTIONS_OF_NUMPY(name)
    if hasattr(function, "ufunc_of"):
        function = function.ufunc_of(*dtypes)
    if not isinstance(function, np.ufunc):
        function, masks, *_ = getattr(function, "shortcut", (None, ()))
        if len(masks) != len(dtypes) or not all(mask >> d.num & 1 for mask, d in zip(masks, dtypes, strict=True)):
            return None
    if function is _WHERE:
        dtype = np.result_type(*dtypes[1:])
        return None, True, dtypes[0], dtype, dtype, dtype
    if not isinstance(function, np.ufunc) or function.signature is not None:
        return None
    if function.nin != len(dtypes) or function.nout != 1:
        return None
    try:
        resolved = function.resolve_dtypes((*dtypes, None))
    except TypeError:  # which the call raises, too
        return None
    if function is np.power and resolved[-1].kind in "biu":
        return None  # a negative exponent raises
    is_correctly_rounded = function.__name__ in _CORRECTLY_ROUNDED and resolved[0].kind != "c"
    return function, is_correctly_rounded, *resolved


def _reduction_of(name: str, dtype: np.dtype[Any]) -> tuple[Any, ...] | None:
    """The ufunc of a reduction, and the dtypes of its loop.

    None if NumPy's sum depends on buffers: for complex numbers, for casts to floats, and before NumPy 2.3 for all
    floats.
    """
    kind = dtype.kind
    if name in ("all", "any"):
        dtype = _BOOL
    elif name in ("sum", "count_nonzero") and kind == "b":
        return np.add, True, dtype, _INT64
    elif name == "sum" and kind in "iu":
        dtype = _UINT64 if kind == "u" else _INT64
    elif name in ("sum", "mean"):
        if kind != "f" or not SUMS_ARE_IN_PAIRS:
            return None
    elif name == "count_nonzero" or kind not in "biuf":
        return None
    return _REDUCED_BY[name], True, dtype, dtype


SUMS_ARE_IN_PAIRS: Final = np.lib.NumpyVersion(np.__version__) >= "2.3.0"
"""Whether NumPy adds all floats pairwise; before 2.3, it does so within buffers and then adds their sums."""

_REDUCED_BY: Final = {
    "all": np.logical_and, "any": np.logical_or, "count_nonzero": np.add, "max": np.maximum, "mean": np.add,
    "min": np.minimum, "sum": np.add,
}  # fmt: skip
"""The ufuncs of functions that may end a chain."""

_CORRECTLY_ROUNDED: Final = {
    "absolute", "add", "bitwise_and", "bitwise_or", "bitwise_xor", "ceil", "clip", "divide", "equal", "fabs",
    "floor", "floor_divide", "fmax", "fmin", "fmod", "greater", "greater_equal", "invert", "isfinite", "isinf",
    "isnan", "less", "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum",
    "minimum", "multiply", "negative", "not_equal", "positive", "reciprocal", "remainder", "rint", "sign",
    "sqrt", "square", "subtract", "trunc",
}  # fmt: skip
"""The ufuncs whose results for real numbers do not depend on the memory layout of the operands."""

_BOOL: Final = np.dtype(np.bool_)
_INT64: Final = np.dtype(np.int64)
_UINT64: Final = np.dtype(np.uint64)
_HALF: Final = np.dtype(np.float16)
_WHERE: Final = getattr(np.where, "__wrapped__", np.where)


def warned_errors() -> int:
    """The floating-point errors to warn of, by NumPy's numbers.

    -1 if calls must not run later, because NumPy should raise, call or print at the call.
    """
    modes = np.geterr()
    if not {"ignore", "warn"}.issuperset(modes.values()):
        return -1
    return sum(_KINDS[kind] for kind, mode in modes.items() if mode == "warn")


def warn(function: str, errors: int, where: tuple[str, int] | None, variables: dict[str, Any] | None) -> None:
    """Warn of floating-point errors at the line where a call was made."""
    for error, words in _WORDS.items():
        if errors & error:
            message = f"{words} encountered in {function}"
            if where is None or variables is None:
                warnings.warn(message, RuntimeWarning, stacklevel=1)
            else:
                callers.warn_at(message, RuntimeWarning, *where, variables)


def ran(
    calls: list[tuple[str, np.dtype[Any]]], elements: int, seconds: float, is_typical: bool,
    where: tuple[str, int] | None,
) -> bool:  # fmt: skip
    """Record the time of calls that ran together.

    `calls` are names of functions, each with the dtype of its input. The last call was made at a line of a file. If the
    run `is_typical`, its time is representative of such calls in chains. Returns whether the time was used, or never
    will be.
    """
    records, learns = choice.current().records, machine.state.model is not None and learning.is_on()
    if not (records or learns):
        return machine.state.is_known  # else the profile may be read yet
    predictions = [
        machine.prediction_of(name, ((elements,),), (_dtypes.dtype(dtype.name),), None) for name, dtype in calls
    ]
    if records:
        decision = automatic.of_chain([name for name, _ in calls], elements, predictions)
        file, line = where or (None, 0)
        watching.record_chain(records, decision, seconds, file, line)
    if is_typical and learns:
        automatic.learn_chain(predictions, seconds)
    return learns or machine.state.is_known


def _forked() -> None:
    if extension.speedups is not None:
        extension.speedups.reset_chains()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)
