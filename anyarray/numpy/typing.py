"""`np.typing`: NumPy's annotations, where an ndarray is an Array."""

from typing import TypeAlias

from numpy.typing import ArrayLike, DTypeLike

from anyarray._array.array import Array

NDArray: TypeAlias = Array
__all__ = ["ArrayLike", "DTypeLike", "NDArray"]
