"""TensorFlow as a backend: raw ops, one file per chapter of the standard.

`_kernel` holds what every chapter stands on, `_hooks` what the contract asks beside the standard.
"""

from __future__ import annotations

from anyarray.backends.tensorflow import _loading as _loading  # before anything else imports TensorFlow

# isort: split
from anyarray.backends.tensorflow._adoption import *
from anyarray.backends.tensorflow._hooks import *
from anyarray.backends.tensorflow._transforms import *
from anyarray.backends.tensorflow.creation import *
from anyarray.backends.tensorflow.data_types import *
from anyarray.backends.tensorflow.elementwise import *
from anyarray.backends.tensorflow.fft import *
from anyarray.backends.tensorflow.indexing import *
from anyarray.backends.tensorflow.linalg import *
from anyarray.backends.tensorflow.linear_algebra import *
from anyarray.backends.tensorflow.manipulation import *
from anyarray.backends.tensorflow.searching import *
from anyarray.backends.tensorflow.sets import *
from anyarray.backends.tensorflow.sorting import *
from anyarray.backends.tensorflow.statistical import *
from anyarray.backends.tensorflow.utility import *

for _function in list(globals().values()):
    if getattr(_function, "__module__", "").startswith(__name__ + "."):
        # AutoGraph takes a function with this attribute as it is; it would rewrite the rest from their source.
        _function.autograph_info__ = None
