"""Special functions of JAX that are accurate to a few units.

Of its others, some lose digits, and they are composed of other functions.
"""

from __future__ import annotations

from jax.scipy import special

from anyarray.backends.jax._kernel import compiled


def _own(name: str) -> object:
    function = getattr(special, name)
    return compiled(lambda *xs: function(*xs))


entr, erf, expit, i0e = map(_own, ("entr", "erf", "expit", "i0e"))
i1e, ndtri, xlogy = map(_own, ("i1e", "ndtri", "xlogy"))
