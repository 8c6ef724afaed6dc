"""`np.ma`: NumPy's own masked arrays."""

from numpy.ma import *  # pyright: ignore[reportWildcardImportFromLibrary]

from anyarray.numpy import _itself

_itself.stand_for(__name__)
