"""`np.lib.recfunctions`: NumPy's own functions of arrays of records."""

from typing import TYPE_CHECKING

from anyarray.numpy import _itself

if TYPE_CHECKING:
    from numpy.lib.recfunctions import *  # pyright: ignore[reportWildcardImportFromLibrary]

_itself.stand_for(__name__)
