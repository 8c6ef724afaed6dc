"""`np.emath`, which is `np.lib.scimath`."""

import sys as _sys

from anyarray.numpy.lib import scimath as _scimath

_sys.modules[__name__] = _scimath
