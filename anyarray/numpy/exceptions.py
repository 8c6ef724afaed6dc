"""`np.exceptions`: NumPy's own."""

from numpy import exceptions as _theirs
from numpy.exceptions import *  # pyright: ignore[reportWildcardImportFromLibrary]

__all__: list[str] = []
__all__ += _theirs.__all__
