"""Derivatives that give a zero gradient for a zero cotangent.

In reverse mode the operand that `where` does not select gets a zero cotangent. Zero times an infinite or undefined
derivative, as that of a square root at 0, is NaN, and so is the sum of both operands' gradients. So the product with a
derivative is defined as zero where the cotangent is zero. In forward mode, where `where` itself discards the tangent
that it does not select, it is the ordinary product, with its NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from anyarray.backends._shared.derivatives import no_slope
from anyarray.backends.torch._kernel import Native, can_be_read, innermost_level, is_recorded

Function = Callable[..., Native]


class _Rule:
    """An elementwise function, and its derivatives by each argument."""

    __slots__ = ("function", "slopes")

    def __init__(self, function: Function, slopes: tuple[Function, ...]) -> None:
        self.function = function
        self.slopes = slopes


def _apply(function: Any, *args: Any) -> Native:
    """As `function.apply`, without what only transforms need.

    It inspects the signature of `forward` in each call, 40 us.
    """
    if innermost_level() is not None:
        return function.apply(*args)
    return super(torch.autograd.Function, function).apply(*args)


def _scaled(x1: Native, x2: Native, first_counts: bool, second_counts: bool) -> Native:
    if torch.is_grad_enabled() or is_recorded():
        return _apply(_Scaled, x1, x2, first_counts, second_counts)
    y = x1 * _conjugate(x2)
    if can_be_read(y):
        total = torch.sum(y).item()
        if total == total:  # there is no NaN, of which to make 0
            return y
    return _Scaled.forward(x1, x2, first_counts, second_counts)


class _Scaled(torch.autograd.Function):  # type: ignore[misc]  # a class of the library, which is Any
    """`x1 * conj(x2)`, but 0 * inf is 0 for a 0 in an operand that counts."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x1: Native, x2: Native, first_counts: bool, second_counts: bool) -> Native:
        y = x1 * (torch.conj(x2) if x2.is_complex() else x2)
        none = torch.zeros((), dtype=y.dtype, device=y.device)
        if first_counts:
            y = torch.where(x1 == 0, none, y)
        return torch.where(x2 == 0, none, y) if second_counts else y

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x1, x2, ctx.first_counts, ctx.second_counts = inputs
        ctx.save_for_backward(x1, x2)
        ctx.save_for_forward(x1, x2)

    @staticmethod
    def backward(ctx: Any, slope: Native) -> Any:
        x1, x2 = ctx.saved_tensors
        first, second = ctx.first_counts, ctx.second_counts
        # y = x1 * conj(x2): by x1 it is slope * x2, by x2 it is conj(slope) * x1.
        by_first = _scaled(slope, _conjugate(x2), True, second) if ctx.needs_input_grad[0] else None
        by_second = _scaled(x1, slope, first, True) if ctx.needs_input_grad[1] else None
        return (
            None if by_first is None else by_first.sum_to_size(x1.shape),
            None if by_second is None else _fitting(by_second, x2).sum_to_size(x2.shape),
            None,
            None,
        )

    @staticmethod
    def jvp(ctx: Any, first: Native, second: Native, *_: Any) -> Native:
        x1, x2 = ctx.saved_tensors
        counts = ctx.first_counts, ctx.second_counts
        parts = []
        if first is not None:
            parts.append(_scaled(first, x2, *counts))
        if second is not None:
            parts.append(_scaled(x1, second, *counts))
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def _conjugate(x: Native) -> Native:
    return torch.conj(x) if x.is_complex() else x


def _fitting(slope: Native, x: Native) -> Native:
    """A gradient by a real number is real."""
    return torch.real(slope) if slope.is_complex() and not x.is_complex() else slope


class _Sloped(torch.autograd.Function):  # type: ignore[misc]  # a class of the library, which is Any
    """A function with such derivatives."""

    generate_vmap_rule = True

    @staticmethod
    def forward(rule: _Rule, *xs: Native) -> Native:
        return rule.function(*xs)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.rule = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, slope: Native) -> Any:
        xs = ctx.saved_tensors
        found: list[Any] = [None]
        for x, derivative, is_needed in zip(xs, ctx.rule.slopes, ctx.needs_input_grad[1:], strict=True):
            if is_needed:
                found.append(_fitting(_scaled(slope, derivative(*xs), True, False), x).sum_to_size(x.shape))
            else:
                found.append(None)
        return tuple(found)

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Native:
        xs = ctx.saved_tensors
        parts = [
            tangent * derivative(*xs)
            for tangent, derivative in zip(tangents, ctx.rule.slopes, strict=True)
            if tangent is not None
        ]
        total = parts[0]
        for one in parts[1:]:
            total = total + one
        return total


def sloped(function: Function, *slopes: Function) -> Function:
    """An elementwise `function` with such derivatives, by each argument."""
    rule = _Rule(function, slopes)

    def differentiated(*xs: Native) -> Native:
        return _apply(_Sloped, rule, *xs)

    return differentiated


def with_derivative(function: Function, pulled: Function, pushed: Function) -> Function:
    """`function` with a derivative by its first argument alone.

    In reverse mode that is `pulled(slope, *xs)`, in forward mode `pushed(tangent, *xs)`.
    """

    class _Differentiated(torch.autograd.Function):  # type: ignore[misc]  # a class of the library, which is Any
        generate_vmap_rule = True

        @staticmethod
        def forward(*xs: Native) -> Native:
            return function(*xs)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, slope: Native) -> Any:
            xs = ctx.saved_tensors
            return pulled(slope, *xs), *[None] * (len(xs) - 1)

        @staticmethod
        def jvp(ctx: Any, tangent: Native, *_: Any) -> Native:
            return pushed(tangent, *ctx.saved_tensors)

    return lambda *xs: _apply(_Differentiated, *xs)


def with_slopes(name: str, function: Function, slopes: Sequence[Function | None]) -> Function:
    """As `sloped`, where it may be differentiated.

    None is a derivative that is refused.
    """

    def refused(which: int) -> Function:
        def slope(*xs: Native) -> Native:
            raise no_slope(name, which)

        return slope

    differentiated = sloped(function, *[slope or refused(which) for which, slope in enumerate(slopes)])
    return lambda *xs: (differentiated if is_recorded(*xs) else function)(*xs)
