"""The `linalg` extension of the standard, by the path that users import."""

from typing import TYPE_CHECKING, NoReturn

from anyarray import _protocols
from anyarray.standard import linalg as _chapter
from anyarray.standard.linalg import *

__all__: list[str] = []
__all__ += _chapter.__all__

if not TYPE_CHECKING:  # to which every name would be one of ours

    def __getattr__(name: str) -> NoReturn:
        raise _protocols.absent("linalg", name)
