"""The Dask backend: lazy arrays in blocks, larger than memory or on a cluster.

How the functions are built, and why:

- **Our blocks.** Dask divides arrays, and schedules; each block is computed by a function of our backend of the block,
  NumPy or CuPy, so that values and dtypes are the same as there. `_kernel.Block` is such a function, which a task
  names. What Dask does well on blocks of both, as `stack`, is its own.
- **No special cases.** `_hooks.scoped` gives functions arrays whose lengths are known; NumPy computes the result of
  arrays without elements.
- **Lazy.** A call adds tasks to a graph. A value that is asked for is computed once, and the blocks then stand in the
  graph in place of the tasks. So is an unknown length, as that of `x[mask]`.
- **Blocks stay blocks** in elementwise functions, reductions, products, and in functions along an axis that is not
  split. What must stand in one block, as a matrix to be inverted, is brought together up to `_kernel.limit`.
- **Tasks know no block.** They run in threads, which Dask gives the caller's context variables, or in other processes;
  the caller's `with xp.backend(...)` does not reach them, see `_scope`.
"""

from __future__ import annotations

from anyarray.backends.dask._hooks import *
from anyarray.backends.dask._scope import *
from anyarray.backends.dask.creation import *
from anyarray.backends.dask.elementwise import *
from anyarray.backends.dask.fft import *
from anyarray.backends.dask.indexing import *
from anyarray.backends.dask.linalg import *
from anyarray.backends.dask.linear_algebra import *
from anyarray.backends.dask.manipulation import *
from anyarray.backends.dask.sorting import *
from anyarray.backends.dask.statistical import *
