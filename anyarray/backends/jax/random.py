"""What random numbers need of the library: a derivative."""

from __future__ import annotations

from jax import lax

from anyarray.backends.jax._slopes import scaled, with_jvps

random_gammas = with_jvps(lambda tangent, y, a, drawn: scaled(tangent, lax.random_gamma_grad(a, drawn)), None)(
    lambda a, drawn: drawn
)
