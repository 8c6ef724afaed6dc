"""JAX as a backend: functions over `jax.Array`, each compiled by itself.

There is one file per chapter of the standard.

How the functions here are made, and why:

- **Compiled one by one.** `compiled` is `jax.jit` with `inline=True`: a call is a lookup in C++, less than
  a `jax.numpy` function or an operator takes; inside the user's own `jit` its body is inlined.
- **Promotion when traced.** The body runs once per dtype and shape. It applies our promotion rule, not
  JAX's (int64 with float32 would be float32), and refuses dtypes, at no cost in later calls.
- **64 bits and the device belong to a call.** JAX rounds to 32 bits outside `jax.enable_x64(True)`. `scoped` sets
  both for the thread during one call; no global flag is touched, and nothing is held over an `await`. Compiled
  functions need it only while they are traced, and around calls with tracers; see `_scope`.
  A backward pass of the user's own `jax.grad` runs after the calls, outside: with float64 it needs
  `jax.enable_x64(True)` around it, else some of it raises and matrix products are rounded to float32.
- **Full float32 products.** Matrix products ask for `Precision.HIGHEST`: TF32 is accurate to 1e-3.

Deviations from NumPy, as XLA has them: subnormal numbers count as zero; casts of floats to integers clamp and
NaN becomes 0; linear algebra gives NaN or infinity for a singular matrix instead of raising; an index array that is
out of range reads NaN (integers: the lowest number) and writes nothing where it cannot be checked without waiting.
"""

from __future__ import annotations

from anyarray.backends.jax import _loading as _loading  # before anything else imports JAX

# isort: split
from anyarray.backends.jax._hooks import *
from anyarray.backends.jax._scope import *
from anyarray.backends.jax._transforms import *
from anyarray.backends.jax.creation import *
from anyarray.backends.jax.data_types import *
from anyarray.backends.jax.elementwise import *
from anyarray.backends.jax.fft import *
from anyarray.backends.jax.indexing import *
from anyarray.backends.jax.linalg import *
from anyarray.backends.jax.linear_algebra import *
from anyarray.backends.jax.manipulation import *
from anyarray.backends.jax.searching import *
from anyarray.backends.jax.sets import *
from anyarray.backends.jax.sorting import *
from anyarray.backends.jax.statistical import *
from anyarray.backends.jax.utility import *
