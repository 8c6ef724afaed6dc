"""Special functions of SciPy, for the NumPy backend.

Raises BackendNotInstalledError without SciPy.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from anyarray._base.errors import BackendNotInstalledError

try:
    _special: Final[Any] = importlib.import_module("scipy.special")
except ImportError as error:
    raise BackendNotInstalledError(
        "anyarray.special: on numpy the functions are SciPy's, and scipy is not installed. "
        "Run: pip install anyarray[special]"
    ) from error

globals().update({name: getattr(_special, name) for name in _special.__all__})
hurwitz_zeta = riemann_zeta = _special.zeta
