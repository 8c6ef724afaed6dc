"""anyarray: the Array API standard on NumPy, TensorFlow, JAX and CuPy, under one name.

Write `import anyarray as xp`. Calls run where their arrays are; `with xp.backend("jax"):` runs them on another
library. The whole standard v2025.12 stands here, `xp.linalg` and `xp.fft` included.
"""

from anyarray import _array as _array
from anyarray import standard as standard
from anyarray._array import Array
from anyarray._backend import Backend
from anyarray._choice import backend, device, set_default_backend
from anyarray._errors import *
from anyarray._errors import __all__ as _errors_all
from anyarray._inventory import BackendInfo, backends
from anyarray.interop import from_native, portable, to_native
from anyarray.standard import fft, linalg
from anyarray.standard.constants import *
from anyarray.standard.constants import __all__ as _constants_all
from anyarray.standard.creation import *
from anyarray.standard.creation import __all__ as _creation_all
from anyarray.standard.data_types import *
from anyarray.standard.data_types import __all__ as _data_types_all
from anyarray.standard.elementwise import *
from anyarray.standard.elementwise import __all__ as _elementwise_all
from anyarray.standard.indexing import *
from anyarray.standard.indexing import __all__ as _indexing_all
from anyarray.standard.inspection import *
from anyarray.standard.inspection import __all__ as _inspection_all
from anyarray.standard.linear_algebra import *
from anyarray.standard.linear_algebra import __all__ as _linear_algebra_all
from anyarray.standard.manipulation import *
from anyarray.standard.manipulation import __all__ as _manipulation_all
from anyarray.standard.searching import *
from anyarray.standard.searching import __all__ as _searching_all
from anyarray.standard.sets import *
from anyarray.standard.sets import __all__ as _sets_all
from anyarray.standard.sorting import *
from anyarray.standard.sorting import __all__ as _sorting_all
from anyarray.standard.statistical import *
from anyarray.standard.statistical import __all__ as _statistical_all
from anyarray.standard.utility import *
from anyarray.standard.utility import __all__ as _utility_all

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

__all__ = [
    "Array",
    "Backend",
    "BackendInfo",
    "__array_api_version__",
    "__version__",
    "backend",
    "backends",
    "device",
    "fft",
    "from_native",
    "linalg",
    "portable",
    "set_default_backend",
    "to_native",
]
__all__ += _errors_all
__all__ += _constants_all
__all__ += _creation_all
__all__ += _data_types_all
__all__ += _elementwise_all
__all__ += _indexing_all
__all__ += _inspection_all
__all__ += _linear_algebra_all
__all__ += _manipulation_all
__all__ += _searching_all
__all__ += _sets_all
__all__ += _sorting_all
__all__ += _statistical_all
__all__ += _utility_all
