"""Builds the functions: each compiled, its dtypes promoted at trace time."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from anyarray._base import dtypes
from anyarray.backends.jax._seldom import require_frequent, tracing

Native = Any
"""A jax.Array or a tracer."""
Axes = int | tuple[int, ...] | None
NATIVE: Final = {name: jnp.dtype(name) for name in dtypes.KNOWN}
HIGHEST: Final = lax.Precision.HIGHEST


class Compiled(NamedTuple):
    """What `compiled` built a function from."""

    body: Callable[..., Any]
    static: list[str]
    """Names of the static parameters."""


made_of: Final[dict[Callable[..., Any], Compiled]] = {}
"""The functions that `compiled` made."""
instead_of: Final[dict[Callable[..., Any], Callable[..., Any]]] = {}
"""What computes calls of lengths that are too rare to be compiled for: `PADDED`, or a function of NumPy's."""


def compiled(
    function: Callable[..., Any] | None = None,
    *,
    static: tuple[str, ...] = (),
    instead: Callable[..., Any] | None = None,
) -> Any:
    """`jax.jit` of `function`, with its keyword-only parameters static.

    Those named in `static` are, too. With `instead`, the function raises Seldom for lengths that are too rare to be
    compiled for; `_scope` then computes the call by that.
    """
    if function is None:
        return functools.partial(compiled, static=static, instead=instead)
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY or p.name in static]

    @functools.wraps(function)
    def body(*args: Any, **options: Any) -> Any:
        if instead is not None:
            require_frequent(body, args, options, instead is PADDED)
        tracing.depth += 1
        try:
            with jax.enable_x64(True):
                result = function(*args, **options)
                _require_memory(result)
                return result
        finally:
            tracing.depth -= 1

    made = jax.jit(body, static_argnames=names)
    made_of[made] = Compiled(body, names)
    if instead is not None:
        instead_of[made] = instead
    return made


def PADDED(*args: Any) -> Any:  # noqa: N802 - a constant
    """Stands for the function itself, in arrays that are padded."""
    raise NotImplementedError


def _require_memory(result: Any) -> None:
    """Raise ValueError for arrays whose size in bytes overflows int64.

    XLA would abort the process. It runs at trace time only.
    """
    for x in jax.tree.leaves(result):
        lengths = [n for n in x.shape if type(n) is int and n]
        if math.prod(lengths) * x.dtype.itemsize >= 1 << 63:
            raise ValueError(f"no memory holds an array of shape {x.shape}")


def kind_of(x: Native) -> str:
    """The character of the dtype's kind: b, i, u, f or c."""
    return dtypes.KNOWN[x.dtype.name].kind


def require_kinds(kinds: str, *arrays: Native) -> None:
    """Raise TypeError unless the dtypes of `arrays` are of these kinds.

    It runs at trace time only.
    """
    for x in arrays:
        if kind_of(x) not in kinds:
            raise TypeError(f"dtype {x.dtype.name} is not one of the kinds {kinds!r}")


def in_dtype(x: Native, dtype: Any) -> Native:
    """`x` in `dtype`; not for complex to bool, see `truth`."""
    # XLA rewrites a bool cast to float, times another float, to a select, which drops the other's NaN, infinities and
    # -0. It does not if the bool is cast to an integer first.
    if x.dtype == bool and jnp.issubdtype(dtype, jnp.inexact):
        x = lax.convert_element_type(x, jnp.uint8)
    return lax.convert_element_type(x, dtype)


def cast(x: Native, name: str) -> Native:
    """`x` in the dtype named `name`."""
    return in_dtype(x, NATIVE[name])


def truth(x: Native) -> Native:
    """Whether each element is nonzero; a cast would drop imaginary parts."""
    return x if x.dtype == bool else lax.ne(x, lax.full_like(x, 0))


def promoted(*arrays: Native) -> tuple[Native, ...]:
    """`arrays` cast to the dtype that they promote to."""
    name = dtypes.result_name(*(x.dtype.name for x in arrays))
    return tuple(cast(x, name) for x in arrays)


def inexact(*arrays: Native) -> tuple[Native, ...]:
    """`arrays` cast to the floating dtype that they promote to.

    Integers become float64, as in NumPy's reductions.
    """
    arrays = promoted(*arrays)
    return arrays if kind_of(arrays[0]) in "fc" else tuple(cast(x, "float64") for x in arrays)


def elementwise(function: Callable[..., Native], kinds: str) -> Any:
    """`function` of arrays cast to their common dtype, of these `kinds`."""

    def body(*arrays: Native) -> Native:
        arrays = promoted(*arrays)
        require_kinds(kinds, arrays[0])
        return function(*arrays)

    body.__name__ = function.__name__
    return compiled(body, instead=PADDED)


def floating(function: Callable[..., Native], kinds: str = "biufc", in_half: bool = False) -> Any:
    """As `elementwise`, with integers and bools cast to floats.

    A function of floats of 16 bits is evaluated in float32, unless `in_half`: as NumPy's, it rounds once.
    """

    def body(*arrays: Native) -> Native:
        names = [x.dtype.name for x in arrays]
        arrays = promoted(*arrays)
        require_kinds(kinds, arrays[0])
        # Each integer dtype has its own float, as in NumPy: float16 for int8 and uint8.
        is_integer = kind_of(arrays[0]) in "biu"
        name = dtypes.result_name(*map(dtypes.floating, names)) if is_integer else arrays[0].dtype.name
        wide = name if in_half or name not in ("float16", "bfloat16") else "float32"
        values = function(*(cast(x, wide) for x in arrays))
        return values if wide == name else cast(values, name)

    body.__name__ = function.__name__
    return compiled(body, instead=PADDED)
