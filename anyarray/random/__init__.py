"""Random numbers: the same on every backend, on the device, and in any trace.

    keys           `key`, `split`, `fold_in`: Arrays of two numbers, from which all others follow
    bits           `bits`, the counter-based generator
    distributions  pure functions of a key and a shape
    generator      `Generator`, which keeps a key and a counter, with NumPy's methods

The bits come from Threefry2x32-20 (Salmon and others, *Parallel random numbers: as easy as 1, 2, 3*, 2011), with JAX's
counters: keys and `bits` equal those of `jax.random`. Integers and uniform numbers are equal to the bit on every
backend. Numbers computed from them by `log` and similar functions agree to the last digits. Begin with `_draws`.

A function of a key is pure: the same key gives the same numbers. So split a key for each use:

>>> import anyarray as xp
>>> from anyarray import random
>>> key, other = random.split(random.key(7))
>>> random.normal(key, (2, 3)).shape
(2, 3)
>>> bool(xp.array_equal(random.normal(key, (2,)), random.normal(other, (2,))))
False
"""

import typing as _typing

from anyarray._base import functions as _functions
from anyarray._base import other_names as _other_names
from anyarray.random import distributions as _distributions
from anyarray.random._draws import bits
from anyarray.random.distributions import *
from anyarray.random.generator import Generator
from anyarray.random.keys import fold_in, key, split

__all__ = ["Generator", "bits", "fold_in", "key", "split"]
__all__ += _distributions.__all__
_functions.publish(__name__, __all__, globals())

if not _typing.TYPE_CHECKING:  # type checkers would take every name for one of ours

    def __getattr__(name: str) -> _typing.Any:
        raise _other_names.missing_name("random", name)
