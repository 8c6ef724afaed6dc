"""`np.dtypes`: NumPy's own classes of dtypes."""

from numpy.dtypes import *  # pyright: ignore[reportWildcardImportFromLibrary]

from anyarray.numpy import _itself

_itself.stand_for(__name__)
