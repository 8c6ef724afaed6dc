"""`np.lib.recfunctions`: NumPy's own functions of arrays of records."""

from numpy.lib.recfunctions import *  # pyright: ignore[reportWildcardImportFromLibrary]

from anyarray.numpy import _itself

_itself.stand_for(__name__)
