"""`np.dtypes`: NumPy's own classes of dtypes."""

from typing import TYPE_CHECKING

from anyarray.numpy import _itself

if TYPE_CHECKING:
    from numpy.dtypes import *  # pyright: ignore[reportWildcardImportFromLibrary]

_itself.stand_for(__name__)
