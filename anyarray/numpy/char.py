"""`np.char`: NumPy's own functions of arrays of text."""

from numpy.char import *  # pyright: ignore[reportWildcardImportFromLibrary]

from anyarray.numpy import _itself

_itself.stand_for(__name__)
