"""Names for annotations of arguments and results.

    from anyarray.typing import AnyArray

    def norm(x: AnyArray) -> xp.Array: ...

`AnyArray` is an Array or an array of any library, `Index` a key of `x[...]`, `Shape` a shape, and `DTypeLike` anything
that converts to a dtype. The other classes are those of results with several parts.
"""

from __future__ import annotations

from anyarray._array.array import AnyArray, Index, Shape
from anyarray._base import functions as _functions
from anyarray._base.dtypes import DTypeLike
from anyarray.standard.data_types import FloatInfo, IntegerInfo
from anyarray.standard.inspection import Capabilities, DefaultDTypes, Info
from anyarray.standard.linalg import QR, SVD, Eigensystem, Slogdet
from anyarray.standard.sets import UniqueAll, UniqueCounts, UniqueInverse

__all__ = [
    "QR", "SVD", "AnyArray", "Capabilities", "DTypeLike", "DefaultDTypes", "Eigensystem", "FloatInfo", "Index", "Info",
    "IntegerInfo", "Shape", "Slogdet", "UniqueAll", "UniqueCounts", "UniqueInverse",
]  # fmt: skip

_functions.publish(__name__, __all__, globals())
