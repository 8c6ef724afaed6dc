"""The standard's namespace, for functions that are composed of others.

Write `from anyarray.standard import namespace as xp`. `xp.linalg` and `xp.fft` are here, too, imported on first use.
"""

import importlib as _importlib
import types as _types
import typing as _typing

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

if _typing.TYPE_CHECKING:
    from anyarray.standard import fft as fft
    from anyarray.standard import linalg as linalg
else:

    def __getattr__(name: str) -> _types.ModuleType:
        if name in ("fft", "linalg"):
            return globals().setdefault(name, _importlib.import_module(f"anyarray.standard.{name}"))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
