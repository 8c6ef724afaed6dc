"""`np.rec`: NumPy's own arrays of records."""

from numpy.rec import *  # pyright: ignore[reportWildcardImportFromLibrary]

from anyarray.numpy import _itself

_itself.stand_for(__name__)
