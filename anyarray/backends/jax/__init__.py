"""The JAX backend: functions of `jax.Array`, each compiled separately.

There is one file per chapter of the standard.

How the functions are built, and why:

- **Compiled separately.** `compiled` is `jax.jit`: an eager call is a cache lookup in C++, with less overhead than a
  `jax.numpy` function or an operator. It is not inlined: an eager derivative would run the backward pass of its body
  one operation at a time, and compile each `lax.cond` in it anew at each call. XLA inlines it in a compiled function.
- **Promotion at trace time.** The body runs once per dtype and shape. It applies our promotion rule, not
  JAX's (int64 with float32 would be float32), and rejects dtypes, at no cost in later calls.
- **64 bits and the device are set per call.** JAX rounds to 32 bits outside `jax.enable_x64(True)`. `scoped` sets
  both for the thread during one call; it changes no global flag, and nothing stays set across an `await`. Compiled
  functions need it only while they are traced, and for calls with tracers; see `_scope`.
  The backward pass of the user's own `jax.grad` runs after the calls, outside: with float64 it needs
  `jax.enable_x64(True)` around it, else some operations raise and matrix products are rounded to float32.
- **Full float32 products.** Matrix products use `Precision.HIGHEST`: TF32 is accurate to 1e-3.

XLA deviates from NumPy: subnormal numbers are flushed to zero; casts of floats to integers clamp and NaN
becomes 0; linear algebra returns NaN or infinity for a singular matrix instead of raising; an index that is out of
range reads NaN (integers: the minimum) and writes nothing where checking it would block.
"""

from __future__ import annotations

from typing import Final

from anyarray.backends.jax import _loading as _loading  # before anything else imports JAX

# isort: split
from anyarray.backends._shared import chapters
from anyarray.backends.jax._composition import *
from anyarray.backends.jax._hooks import *
from anyarray.backends.jax._mesh import *
from anyarray.backends.jax._scope import *
from anyarray.backends.jax._slopes import with_slopes as with_slopes
from anyarray.backends.jax._transforms import *

globals().update(chapters.functions(__name__))

SPECIAL: Final = "anyarray.backends.jax.special"
