"""PyTorch's transforms, under the names of the backend contract."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch

from anyarray.backends._shared.derivatives import refused
from anyarray.backends.torch._compiling import can_compile, in_graph, jitted
from anyarray.backends.torch._kernel import Native, derivatives, is_outside_traces, is_recorded, is_transformed
from anyarray.backends.torch._loading import load_triton
from anyarray.backends.torch._loops import is_tracing

__all__ = ["in_graph", "is_reversed", "jacobian", "stop_gradient", "value_and_grad", "vectorized_map"]

if can_compile():  # else functions run as they are
    jit = jitted
    __all__ += ["jit"]


def is_reversed(x: Native) -> bool:
    if not is_transformed():
        return bool(derivatives.get() and x.requires_grad)
    functorch = torch._C._functorch
    levels = functorch.get_interpreter_stack()
    is_open = derivatives.get() or any(level.key() == functorch.TransformType.Grad for level in levels)
    return bool(is_open and functorch.is_gradtrackingtensor(x) and x.requires_grad)


def stop_gradient(x: Native, /) -> Native:
    return x.detach()


def value_and_grad(
    function: Callable[..., Any], xs: Sequence[Native], has_aux: bool = False
) -> tuple[Any, Sequence[Native]]:
    if not xs:
        return function(), []
    load_triton()
    with refused("grad", _reason):
        if not _is_autograd_enough(xs):
            gradients, found = torch.func.grad_and_value(function, argnums=tuple(range(len(xs))), has_aux=has_aux)(*xs)
            return found, list(gradients)
        found, inputs = _recorded(function, xs)
        value, others = found if has_aux else (found, [])
        is_needed = _is_needed([value, *others], inputs)
        gradients = _pulled_back(value, inputs, torch.ones_like(value), is_needed, is_last=True)
    if not is_needed:
        value, others = value.detach(), [one.detach() for one in others]
    return ((value, others) if has_aux else value), gradients


def _is_autograd_enough(xs: Sequence[Native]) -> bool:
    """Whether nothing but derivatives and traces of ours is open.

    Then they are taken by autograd itself. In `torch.func` a function with a derivative of its own, as most of ours
    are, goes through layers of Python code, which take a millisecond for each.
    """
    return (is_outside_traces() or is_tracing()) and not is_recorded() and not any(x.is_inference() for x in xs)


def _recorded(function: Callable[..., Any], xs: Sequence[Native]) -> tuple[Any, list[Native]]:
    """What a function gives of new inputs, for which autograd records it."""
    token = derivatives.set(derivatives.get() + 1)
    try:
        with torch.enable_grad():
            inputs = [x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in xs]
            return function(*inputs), inputs
    finally:
        derivatives.reset(token)


def _is_needed(ys: Sequence[Native], inputs: Sequence[Native]) -> bool:
    """Whether what was recorded leads beyond the inputs.

    Somebody else may take a derivative by that then, as an outer `grad` does.
    """
    if any(x.grad_fn is not None for x in inputs):
        return True
    own = {id(x) for x in inputs}
    seen: set[Any] = set()
    left = [y.grad_fn for y in ys if y.requires_grad and id(y) not in own]
    while left:
        node = left.pop()
        if node is None:  # a tensor of somebody else's is a result
            return True
        if node not in seen:
            seen.add(node)
            variable = getattr(node, "variable", None)
            if variable is not None and id(variable) not in own:
                return True
            left += [one for one, _ in node.next_functions if one is not None]
    return False


def _pulled_back(
    y: Native, inputs: Sequence[Native], slope: Native, is_needed: bool, *, is_last: bool = False
) -> list[Native]:
    """The gradients of `y` by the inputs, zeros if independent.

    The last frees what was recorded as it goes, if nobody else needs it.
    """
    found: Sequence[Native | None] = [None] * len(inputs)
    if y.requires_grad:
        is_kept = is_needed or not is_last
        found = torch.autograd.grad(y, inputs, slope, retain_graph=is_kept, create_graph=is_needed, allow_unused=True)
    return [torch.zeros_like(x) if one is None else one for one, x in zip(found, inputs, strict=True)]


def vectorized_map(function: Callable[..., list[Native]], xs: Sequence[Native]) -> list[Native]:
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


def jacobian(
    function: Callable[..., Any], xs: Sequence[Native], mode: str, has_aux: bool = False, batch_ndim: int = 0
) -> Any:
    if not xs:
        ys, others = function() if has_aux else (function(), None)
        return ([[] for _ in ys], others) if has_aux else [[] for _ in ys]
    load_triton()
    batch = tuple(range(batch_ndim))

    def results(*xs: Native) -> tuple[tuple[Native, ...], tuple[Native, ...]]:
        ys, others = function(*xs) if has_aux else (function(*xs), ())
        if batch and mode == "reverse":  # its elements are independent, so the sum has the derivatives of each
            ys = [torch.sum(y, batch) for y in ys]
        return tuple(ys), tuple(others)

    with refused("jacobian", _reason):
        if mode == "forward":
            rows, others = _pushed_forward(results, xs, batch_ndim)
        elif _is_autograd_enough(xs):
            (ys, others), inputs = _recorded(results, xs)
            is_needed = _is_needed([*ys, *others], inputs)
            rows = [_rows(y, inputs, is_needed) for y in ys]
            others = others if is_needed else [one.detach() for one in others]
        else:
            rows, others = _by_torch(torch.func.jacrev, results, xs)
    if batch and mode == "reverse":
        rows = [
            [_with_batch_first(one, one.ndim - x.ndim, batch) for one, x in zip(row, xs, strict=True)] for row in rows
        ]
    return (rows, list(others)) if has_aux else rows


def _with_batch_first(x: Native, start: int, batch: tuple[int, ...]) -> Native:
    """`x` with the axes of a batch, which begin at `start`, first."""
    return x.movedim(tuple([start + axis for axis in batch]), batch)


def _rows(y: Native, inputs: Sequence[Native], is_needed: bool) -> list[Native]:
    """The derivatives of all elements of `y` by each of the inputs."""
    size = y.numel()
    slopes = torch.eye(size, dtype=y.dtype, device=y.device).reshape(size, *y.shape)
    if size == 1:
        found = _pulled_back(y, inputs, slopes[0], is_needed)
    elif size:
        found = torch.func.vmap(lambda slope: tuple(_pulled_back(y, inputs, slope, is_needed)))(slopes)
    else:
        found = [x.new_zeros((0, *x.shape)) for x in inputs]
    return [one.reshape((*y.shape, *x.shape)) for one, x in zip(found, inputs, strict=True)]


def _pushed_forward(function: Callable[..., Any], xs: Sequence[Native], batch_ndim: int) -> tuple[Any, Any]:
    """Derivatives in forward mode by a shift of a batch's elements."""
    _load_forward_mode()
    if not batch_ndim:
        return _by_torch(torch.func.jacfwd, function, xs)
    shifts = [x.new_full(x.shape[batch_ndim:], -0.0) for x in xs]  # which leaves each number as it is
    return _by_torch(torch.func.jacfwd, lambda *ds: function(*[x + d for x, d in zip(xs, ds, strict=True)]), shifts)


def _by_torch(transform: Any, function: Callable[..., Any], xs: Sequence[Native]) -> tuple[Any, Any]:
    is_empty = False

    def checked(*xs: Native) -> Any:
        nonlocal is_empty
        ys, others = function(*xs)
        is_empty = not ys
        return ys or (xs[0],), others  # PyTorch rejects a function that returns no tensors

    rows, others = transform(checked, argnums=tuple(range(len(xs))), has_aux=True)(*xs)
    return [] if is_empty else [list(row) for row in rows], others


def _reason(name: str, error: Exception) -> str | None:
    if not isinstance(error, NotImplementedError):
        return None
    reason = str(error).partition(". ")[0].partition("\n")[0].rstrip(".")
    return f"PyTorch has no such derivative: {reason}"
