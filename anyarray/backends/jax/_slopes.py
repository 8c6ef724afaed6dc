"""Derivatives that give a zero gradient for a zero cotangent.

In reverse mode the operand that `where` does not select gets a zero cotangent. Zero times an infinite or undefined
derivative, as that of a square root at 0, is NaN, and so is the sum of both operands' gradients. So the product with a
derivative is defined as zero where the cotangent is zero. In forward mode, where `where` itself discards the tangent
that it does not select, it is the ordinary product, with its NaN.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from anyarray.backends._shared.derivatives import no_slope
from anyarray.backends.jax._kernel import Native

Function = Callable[..., Native]

_scaled_p: Any = Primitive("anyarray_scaled")


def _multiplied(x1: Native, x2: Native, *, zeros: tuple[bool, bool]) -> Native:
    """`x1 * x2`, but 0 * inf is 0 for a 0 in an operand flagged in `zeros`."""
    with jax.enable_x64(True):  # for lowering, too, which happens after the call
        y = lax.mul(x1, x2)
        for x, counts in zip((x1, x2), zeros, strict=True):
            if counts:
                none = lax.full_like(y, 0)
                y = lax.select(lax.eq(x, none), none, y)
        return y


def scaled(x1: Native, x2: Native, zeros: tuple[bool, bool] = (False, False)) -> Native:
    y: Native = _scaled_p.bind(x1, x2, zeros=zeros)
    return y


def _batched(xs: Any, axes: Any, *, zeros: tuple[bool, bool]) -> tuple[Native, int]:
    (size,) = {x.shape[axis] for x, axis in zip(xs, axes, strict=True) if axis is not None}
    wide = [
        jnp.broadcast_to(x, (size, *x.shape)) if axis is None else jnp.moveaxis(x, axis, 0)
        for x, axis in zip(xs, axes, strict=True)
    ]
    return scaled(wide[0], wide[1], zeros), 0


_scaled_p.def_impl(jax.jit(_multiplied, static_argnames="zeros"))
_scaled_p.def_abstract_eval(lambda x1, x2, *, zeros: jax.core.ShapedArray(x1.shape, x1.dtype))
mlir.register_lowering(_scaled_p, mlir.lower_fun(_multiplied, multiple_results=False))
batching.primitive_batchers[_scaled_p] = _batched
_define_bilinear: Any = ad.defbilinear
_define_bilinear(
    _scaled_p,
    lambda slope, x1, x2, *, zeros: scaled(slope, x2, (True, zeros[1])),
    lambda slope, x1, x2, *, zeros: scaled(x1, slope, (zeros[0], True)),
)


def with_zeros(function: Function) -> Function:
    """An elementwise `function` of arrays of one dtype, with such derivatives.

    Its partial derivatives are its JVPs with tangents of ones. For higher orders they have such derivatives, too.
    """
    differentiated = jax.custom_jvp(function)

    @functools.cache
    def slope_by(which: int) -> Function:
        def slope(*xs: Native) -> Native:
            def of_one(x: Native) -> Native:
                return function(*xs[:which], x, *xs[which + 1 :])

            return jax.jvp(of_one, (xs[which],), (lax.full_like(xs[which], 1),))[1]

        return with_zeros(slope)

    def derivative(primals: tuple[Native, ...], tangents: tuple[Any, ...]) -> tuple[Native, Native]:
        y = differentiated(*primals)
        found = [
            scaled(jnp.broadcast_to(tangent, y.shape), slope_by(which)(*primals))
            for which, tangent in enumerate(tangents)
            if type(tangent) is not SymbolicZero
        ]
        return y, functools.reduce(lax.add, found) if found else lax.full_like(y, 0)

    differentiated.defjvp(derivative, symbolic_zeros=True)
    return differentiated


def with_jvps(*slopes: Function | None) -> Callable[[Function], Function]:
    """A decorator that sets the JVPs of a function by each argument.

    They take the tangent, the value and the arguments; None is 0.
    """

    def decorated(function: Function) -> Function:
        differentiated = jax.custom_jvp(function)
        differentiated.defjvps(*slopes)
        return differentiated

    return decorated


def with_slopes(name: str, function: Function, slopes: Sequence[Function | None]) -> Function:
    """An elementwise `function` with such derivatives, by each argument.

    None is one that is refused.
    """
    differentiated = jax.custom_jvp(function)

    def derivative(primals: tuple[Native, ...], tangents: tuple[Any, ...]) -> tuple[Native, Native]:
        with jax.enable_x64(True):
            y = differentiated(*primals)
            total = lax.full_like(y, 0)
            for which, (slope, tangent) in enumerate(zip(slopes, tangents, strict=True)):
                if type(tangent) is not SymbolicZero:
                    if slope is None:
                        raise no_slope(name, which)
                    wide = jnp.broadcast_to(slope(*primals), y.shape)
                    total = lax.add(total, scaled(jnp.broadcast_to(tangent, y.shape), wide))
            return y, total

    differentiated.defjvp(derivative, symbolic_zeros=True)

    def called(*xs: Native) -> Native:
        return (differentiated if any(isinstance(x, jax.core.Tracer) for x in xs) else function)(*xs)

    return called
