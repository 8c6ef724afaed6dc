"""What random numbers need of the library: a derivative."""

from __future__ import annotations

import jax
from jax import lax

from anyarray.backends.jax._kernel import Native
from anyarray.backends.jax._slopes import scaled

__all__ = ["random_gammas"]


@jax.custom_jvp
def random_gammas(a: Native, drawn: Native, /) -> Native:
    return drawn


@random_gammas.defjvp
def _slope(primals: tuple[Native, Native], tangents: tuple[Native, Native]) -> tuple[Native, Native]:
    a, drawn = primals
    return drawn, scaled(tangents[0], lax.random_gamma_grad(a, drawn))
