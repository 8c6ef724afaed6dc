"""`np.strings`: NumPy's own functions of arrays of text."""

from numpy.strings import *  # pyright: ignore[reportWildcardImportFromLibrary]

from anyarray.numpy import _itself

_itself.stand_for(__name__)
