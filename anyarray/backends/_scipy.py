"""Special functions of SciPy, for the NumPy backend.

Raises BackendNotInstalledError without SciPy.
"""

from __future__ import annotations

from anyarray._base.errors import BackendNotInstalledError

try:
    from scipy import special
except ImportError as error:
    raise BackendNotInstalledError(
        "anyarray.special: on numpy the functions are SciPy's, and scipy is not installed. "
        "Run: pip install anyarray[special]"
    ) from error

from scipy.special import *  # noqa: E402

hurwitz_zeta = riemann_zeta = special.zeta
