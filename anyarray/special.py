"""Special functions, under the names of `scipy.special`.

Write `from anyarray import special as sc`. On NumPy the functions are SciPy's, which `pip install anyarray[special]`
installs.
"""

from anyarray._base import functions as _functions
from anyarray.extensions import special as _chapter
from anyarray.extensions.special import *

__all__: list[str] = []
__all__ += _chapter.__all__
_functions.publish(__name__, [name for name in __all__ if name != "sinc"], globals())


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
