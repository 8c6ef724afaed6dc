"""PyTorch as a backend, one file per chapter of the standard.

`_kernel` holds what every chapter uses, `_hooks` the backend's functions that are not in the standard.

How the functions are built, and why:

- **PyTorch's own function where the dtypes are equal**, the common case: a small call has an overhead of a dictionary
  lookup. Other dtypes promote by our rule first: PyTorch gives int64 + float32 in float32, and takes no account of the
  dtype of an array without axes.
- **uint16, uint32 and uint64 by their bits**, as PyTorch has few kernels for them: as signed integers of the same width
  where that is the same, else with the sign bit flipped, which keeps their order. Both are views.
- **Memory is one**: parts of an array are views, written in place. Tensors that are differentiated or traced are not
  written: a write makes a new one, as on JAX.
- **Full float32 products**: PyTorch's default, `torch.backends.cuda.matmul.allow_tf32 = False`, is left as the user has
  set it.
"""

from __future__ import annotations

from typing import Final

from anyarray.backends._shared import chapters
from anyarray.backends.torch._hooks import *
from anyarray.backends.torch._loops import *
from anyarray.backends.torch._slopes import with_slopes as with_slopes
from anyarray.backends.torch._transforms import *
from anyarray.backends.torch.indexing import written as written

globals().update(chapters.functions(__name__))

SPECIAL: Final = "anyarray.backends.torch.special"
