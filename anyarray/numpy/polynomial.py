"""`np.polynomial`: NumPy's own polynomials, which read values of Arrays."""

from typing import TYPE_CHECKING

from anyarray.numpy import _itself

if TYPE_CHECKING:
    from numpy.polynomial import *  # pyright: ignore[reportWildcardImportFromLibrary]

_itself.stand_for(__name__)
