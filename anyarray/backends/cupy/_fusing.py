"""One kernel of several elementwise calls.

Of real floating-point numbers of 32 and 64 bits, and of comparisons and choices: of these a line of C++ gives the value
that CuPy's own kernel gives. All else is left to that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import cupy
import numpy as np

from anyarray._registry.home import Step

__all__ = ["fused", "fusible"]

_FLOATS: Final[dict[np.dtype[Any], str]] = {np.dtype("float32"): "float", np.dtype("float64"): "double"}
_TYPES: Final[dict[np.dtype[Any], str]] = {
    **_FLOATS,
    **{np.dtype(f"int{bits}"): f"signed {word}" for bits, word in ((8, "char"), (16, "short"), (32, "int"))},
    **{np.dtype(f"uint{bits}"): f"unsigned {word}" for bits, word in ((8, "char"), (16, "short"), (32, "int"))},
    np.dtype("int64"): "long long", np.dtype("uint64"): "unsigned long long", np.dtype("bool"): "bool",
}  # fmt: skip
"""The types of C++ by NumPy's dtype."""

_OF_FLOATS: Final = {
    **{name: f"{name}({{0}})" for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "expm1", "floor", "log",
        "log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
    )},
    "abs": "fabs({0})", "negative": "-{0}", "positive": "{0}", "reciprocal": "1 / {0}", "round": "rint({0})",
    "square": "{0} * {0}", "cube": "{0} * {0} * {0}",
    "add": "{0} + {1}", "subtract": "{0} - {1}", "multiply": "{0} * {1}", "divide": "{0} / {1}",
    "atan2": "atan2({0}, {1})", "copysign": "copysign({0}, {1})", "hypot": "hypot({0}, {1})", "pow": "pow({0}, {1})",
    "maximum": "{0} >= {1} || isnan({0}) ? {0} : {1}", "minimum": "{0} <= {1} || isnan({0}) ? {0} : {1}",
}  # fmt: skip
"""Functions whose operands and result are numbers of one dtype."""
_TESTS: Final = {"isfinite": "isfinite({0})", "isinf": "isinf({0})", "isnan": "isnan({0})", "signbit": "signbit({0})"}
_COMPARISONS: Final = {
    "equal": "{0} == {1}", "not_equal": "{0} != {1}", "less": "{0} < {1}", "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}", "greater_equal": "{0} >= {1}",
}  # fmt: skip
_OF_BOOLS: Final = {
    "logical_and": "{0} && {1}", "logical_or": "{0} || {1}", "logical_xor": "{0} != {1}", "logical_not": "!{0}",
}  # fmt: skip
_TEXTS: Final = {
    **_OF_FLOATS, **_TESTS, **_COMPARISONS, **_OF_BOOLS, "where": "{0} ? {1} : {2}", "astype": "{0}",
}  # fmt: skip
"""A line of C++ for each function; its operands are constants of the dtype in which it computes."""

_BOOL: Final = np.dtype("bool")
# As in CuPy's own kernels a product is rounded before it is added. HIP has no such option.
_OPTIONS: Final = () if cupy.cuda.runtime.is_hip else ("--fmad=false",)


@functools.cache
def fusible(name: str, dtypes: tuple[np.dtype[Any], ...], *to: np.dtype[Any]) -> np.dtype[Any] | None:
    """The dtype of what a function returns; None if no kernel computes it.

    `to` is what `astype` casts to.
    """
    if name == "astype":
        return to[0] if to[0] in _FLOATS and dtypes[0] in _TYPES else None
    if name in _OF_BOOLS:
        return _BOOL if set(dtypes) == {_BOOL} else None
    if name == "where" and dtypes[0] != _BOOL:
        return None
    common = _common(dtypes[1:] if name == "where" else dtypes)
    if common is None or (common not in _FLOATS and name not in _COMPARISONS and name != "where"):
        return None
    if name in _TESTS or name in _COMPARISONS:
        return _BOOL
    return common if name in _OF_FLOATS or name == "where" else None


def _common(dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any] | None:
    """The dtype to which operands are cast, where C++ casts as NumPy does."""
    first = dtypes[0]
    if set(dtypes) == {first}:
        return first if first in _TYPES else None
    return np.result_type(*dtypes) if _FLOATS.keys() >= set(dtypes) else None


@functools.lru_cache(maxsize=1024)
def fused(steps: tuple[Step, ...], dtypes: tuple[np.dtype[Any], ...], results: tuple[str, ...]) -> Callable[..., Any]:
    """A kernel of arrays `x0`, `x1` ... of these dtypes."""
    of_results = {f"v{number}": step.dtype for number, step in enumerate(steps)}
    kernel: Callable[..., Any] = cupy.ElementwiseKernel(
        ", ".join(f"{dtype} x{number}" for number, dtype in enumerate(dtypes)),
        ", ".join(f"{of_results[name]} y{number}" for number, name in enumerate(results)),
        "\n".join(
            [_line(number, step) for number, step in enumerate(steps)]
            + [f"y{number} = {name};" for number, name in enumerate(results)]
        ),
        "anyarray_fused",
        options=_OPTIONS,
    )
    return kernel


def _line(number: int, step: Step) -> str:
    condition = int(step.function == "where")
    common = _common(step.dtypes[condition:])
    type_of = ["bool"] * condition + [_TYPES[common]] * (len(step.operands) - condition) if common else []
    casts = [f"static_cast<{kind}>({name})" for kind, name in zip(type_of, step.operands, strict=True)]
    return f"const {_TYPES[step.dtype]} v{number} = {_TEXTS[step.function].format(*casts)};"
