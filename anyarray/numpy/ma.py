"""`np.ma`: NumPy's own masked arrays."""

from typing import TYPE_CHECKING

from anyarray.numpy import _itself

if TYPE_CHECKING:
    from numpy.ma import *  # pyright: ignore[reportWildcardImportFromLibrary]

_itself.stand_for(__name__)
