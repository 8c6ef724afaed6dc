"""PyTorch's transforms, under the names of the backend contract."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch

from anyarray._base.errors import UnsupportedError
from anyarray.backends.torch._compiling import can_compile, in_graph, jitted
from anyarray.backends.torch._kernel import Native
from anyarray.backends.torch._loading import load_triton

__all__ = ["in_graph", "jacobian", "stop_gradient", "value_and_grad", "vmap"]

if can_compile():  # else functions run as they are
    jit = jitted
    __all__ += ["jit"]


def stop_gradient(x: Native, /) -> Native:
    return x.detach()


def value_and_grad(
    function: Callable[..., Any], xs: Sequence[Native], has_aux: bool = False
) -> tuple[Any, Sequence[Native]]:
    if not xs:
        return function(), []
    load_triton()
    with _NoDerivative("grad"):
        gradients, found = torch.func.grad_and_value(function, argnums=tuple(range(len(xs))), has_aux=has_aux)(*xs)
    return found, list(gradients)


def vmap(function: Callable[..., list[Native]], xs: Sequence[Native]) -> list[Native]:
    load_triton()
    return list(torch.func.vmap(lambda *xs: tuple(function(*xs)))(*xs))


@functools.cache
def _load_forward_mode() -> None:
    """Import what PyTorch imports at the first derivative in forward mode.

    PyTorch 2.13 warns there of a function of its own.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module("torch._decomp.decompositions_for_jvp")


def jacobian(function: Callable[..., Any], xs: Sequence[Native], mode: str, has_aux: bool = False) -> Any:
    if not xs:
        ys, others = function() if has_aux else (function(), None)
        return ([[] for _ in ys], others) if has_aux else [[] for _ in ys]
    load_triton()
    transform = torch.func.jacrev
    if mode == "forward":
        _load_forward_mode()
        transform = torch.func.jacfwd
    is_empty = False

    def checked(*xs: Native) -> tuple[tuple[Native, ...], Any]:
        nonlocal is_empty
        ys, others = function(*xs) if has_aux else (function(*xs), None)
        is_empty = not ys
        return tuple(ys or [xs[0]]), (() if others is None else tuple(others))

    with _NoDerivative("jacobian"):
        rows, others = transform(checked, argnums=tuple(range(len(xs))), has_aux=True)(*xs)
    found = [] if is_empty else [list(row) for row in rows]
    return (found, list(others)) if has_aux else found


class _NoDerivative:
    """Raises UnsupportedError where PyTorch cannot differentiate."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, NotImplementedError) and not isinstance(error, UnsupportedError):
            reason = str(error).partition(". ")[0].partition("\n")[0].rstrip(".")
            raise UnsupportedError(
                f"{self._name}: PyTorch has no such derivative: {reason}. "
                "Keep it out of the derivative: xp.stop_gradient(x)"
            ) from error
