"""`np.polynomial`: NumPy's own polynomials, which read values of Arrays."""

from numpy.polynomial import *  # pyright: ignore[reportWildcardImportFromLibrary]

from anyarray.numpy import _itself

_itself.stand_for(__name__)
