"""The `fft` extension of the standard, by the path that users import."""

import typing as _typing

from anyarray import extensions as _extensions
from anyarray._base import functions as _functions
from anyarray._base import other_names
from anyarray.standard import fft as _chapter
from anyarray.standard.fft import *

__all__: list[str] = []
__all__ += _chapter.__all__
_functions.publish(__name__, __all__, globals())
__all__ += [path.partition(".")[2] for path in _extensions.NAMES if path.startswith("fft.")]

if _typing.TYPE_CHECKING:
    from anyarray.extensions.fourier import *
else:  # type checkers would take every name for one of ours

    def __getattr__(name: str) -> _typing.Any:
        if f"fft.{name}" in _extensions.NAMES:
            return globals().setdefault(name, _extensions.find(f"fft.{name}"))
        raise other_names.missing_name("fft", name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
