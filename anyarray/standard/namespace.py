"""The standard's namespace, for functions that are composed of others.

Write `from anyarray.standard import namespace as xp`. `xp.linalg` and `xp.fft` are here, too.
"""

from anyarray.standard import (
    constants,
    creation,
    data_types,
    elementwise,
    indexing,
    inspection,
    linear_algebra,
    manipulation,
    searching,
    sets,
    sorting,
    statistical,
    utility,
)
from anyarray.standard import fft as fft
from anyarray.standard import linalg as linalg
from anyarray.standard.constants import *
from anyarray.standard.creation import *
from anyarray.standard.data_types import *
from anyarray.standard.elementwise import *
from anyarray.standard.indexing import *
from anyarray.standard.inspection import *
from anyarray.standard.linear_algebra import *
from anyarray.standard.manipulation import *
from anyarray.standard.searching import *
from anyarray.standard.sets import *
from anyarray.standard.sorting import *
from anyarray.standard.statistical import *
from anyarray.standard.utility import *

__all__: list[str] = []
__all__ += constants.__all__
__all__ += creation.__all__
__all__ += data_types.__all__
__all__ += elementwise.__all__
__all__ += indexing.__all__
__all__ += inspection.__all__
__all__ += linear_algebra.__all__
__all__ += manipulation.__all__
__all__ += searching.__all__
__all__ += sets.__all__
__all__ += sorting.__all__
__all__ += statistical.__all__
__all__ += utility.__all__
