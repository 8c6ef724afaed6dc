"""`np.rec`: NumPy's own arrays of records."""

from typing import TYPE_CHECKING

from anyarray.numpy import _itself

if TYPE_CHECKING:
    from numpy.rec import *  # pyright: ignore[reportWildcardImportFromLibrary]

_itself.stand_for(__name__)
