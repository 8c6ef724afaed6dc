"""`np.strings`: NumPy's own functions of arrays of text."""

from typing import TYPE_CHECKING

from anyarray.numpy import _itself

if TYPE_CHECKING:
    from numpy.strings import *  # pyright: ignore[reportWildcardImportFromLibrary]

_itself.stand_for(__name__)
