"""JAX's transforms, under the names of the backend contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
from jax import lax

from anyarray._base.errors import no_reverse_derivative
from anyarray.backends._shared.derivatives import refused
from anyarray.backends.jax._kernel import Native
from anyarray.backends.jax._scope import scoped

__all__ = [
    "COMPILES_LOOPS", "is_tracing", "jacobian", "jit", "prepared", "scan", "stop_gradient", "switch", "value_and_grad",
    "vmap", "while_loop",
]  # fmt: skip

jit = jax.jit
stop_gradient = lax.stop_gradient


def prepared(function: Any, xs: Sequence[Native], device: Any) -> tuple[Any, Callable[..., Any] | None]:
    # The scope is part of the cache key of `jax.jit`. An executable needs no scope: it checks its arguments in C++ and
    # raises if their shapes, dtypes or devices differ, if they are tracers, or inside `jax.disable_jit`.
    traced = scoped(function.trace, device)(*xs)
    # A tracer of an outer trace that the function closes over is an additional argument of the executable.
    if len(traced.jaxpr.in_avals) > len(xs):
        return scoped(function, device)(*xs), None
    text = str(traced.jaxpr)
    if "callback" in text or "debug_print" in text:  # outside the scope JAX rounds their operands and results
        return scoped(function, device)(*xs), None
    executable = scoped(lambda: traced.lower().compile(), device)()
    # Called outside the scope: its cache depends on the scope as well, and the scope of the first call is fastest.
    result = executable(*xs)
    # `Compiled.__call__` is a Python wrapper of `_call`, which is not documented. It would shard uncommitted arrays
    # over the devices of a sharded one.
    is_on_one_device = all(len(x.devices()) == 1 for x in xs)
    return result, getattr(executable, "_call", None) if is_on_one_device else None


def value_and_grad(
    function: Callable[..., Any], xs: Sequence[Native], has_aux: bool = False
) -> tuple[Any, Sequence[Native]]:
    if not xs:  # JAX's own does not accept that
        return function(), []
    with refused("grad", _reason):
        return jax.value_and_grad(function, argnums=tuple(range(len(xs))), has_aux=has_aux)(*xs)


def vmap(function: Callable[..., list[Native]], xs: Sequence[Native]) -> list[Native]:
    return jax.vmap(function)(*xs)


def jacobian(function: Callable[..., Any], xs: Sequence[Native], mode: str, has_aux: bool = False) -> Any:
    if not xs:
        ys, others = function() if has_aux else (function(), None)
        return ([[] for _ in ys], others) if has_aux else [[] for _ in ys]
    transform = jax.jacfwd if mode == "forward" else jax.jacrev
    is_empty = False

    def checked(*xs: Native) -> tuple[list[Native], Any]:
        nonlocal is_empty
        ys, others = function(*xs) if has_aux else (function(*xs), None)
        is_empty = not ys
        return ys or [xs[0]], others  # `jax.jacrev` rejects a function that returns no arrays

    with refused("jacobian", _reason):
        rows, others = transform(checked, argnums=tuple(range(len(xs))), has_aux=True)(*xs)
    rows = [] if is_empty else rows
    return (rows, others) if has_aux else rows


def _reason(name: str, error: Exception) -> str | None:
    if isinstance(error, ValueError) and str(error).startswith("Reverse-mode differentiation does not work"):
        raise no_reverse_derivative() from error
    if not isinstance(error, NotImplementedError):
        return None
    return f"JAX has no such derivative: {str(error).partition('. ')[0].rstrip('.')}"


COMPILES_LOOPS: Final = True


def is_tracing() -> bool:
    return _is_clean is None or not _is_clean()


_is_clean: Final[Callable[[], bool] | None] = getattr(jax._src.core, "trace_state_clean", None)
"""Whether no trace is open. It is not documented, hence the fallback: then a loop always counts as part of one."""


def while_loop(
    test: Callable[..., Native], body: Callable[..., list[Native]], xs: list[Native], captured: list[Native]
) -> list[Native]:
    return lax.while_loop(lambda xs: test(*xs), lambda xs: body(*xs), xs)


def scan(
    body: Callable[..., Any],
    carry: list[Native],
    xs: list[Native],
    length: int | None,
    reverse: bool,
    unroll: int,
    captured: list[Native],
) -> tuple[list[Native], list[Native]]:
    return lax.scan(body, carry, xs, length, reverse, unroll)


def switch(
    index: Native, branches: Sequence[Callable[..., list[Native]]], xs: list[Native], captured: list[Native]
) -> list[Native]:
    if len(branches) == 2:
        return lax.cond(index != 0, branches[1], branches[0], *xs)
    return lax.switch(index, branches, *xs)
