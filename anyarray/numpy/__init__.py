"""NumPy's names and signatures over the same functions.

Write `import anyarray.numpy as np`. A program written for NumPy runs on every backend, and under `xp.jit`, `xp.grad`
and `xp.vmap`, with the import changed. A name is resolved when it is first used, in this order:

    _differing      functions whose parameters mean something else than ours, written out
    _itself         what NumPy itself serves: dtypes, constants, error states, printing
    _ufuncs         universal functions, with their methods
    _wrapper        all others: a function of ours, called as NumPy's is; `_options` has a rule for each other option

Names of NumPy that have no meaning here raise AttributeError with the reason: `_itself.ABSENT`.
"""

import importlib
from typing import Any

import numpy as _numpy

from anyarray.numpy import _itself
from anyarray.numpy._itself import ABSENT as _ABSENT

_MODULES = ("emath", "exceptions", "fft", "lib", "linalg", "random", "testing", "typing")

__version__ = _numpy.__version__


def __getattr__(name: str) -> Any:
    if name.startswith("_"):  # or the import system asks for ever for a private module
        raise AttributeError(f"module 'anyarray.numpy' has no attribute {name!r}", name=name)
    found = globals()[name] = importlib.import_module(f"anyarray.numpy.{name}") if name in _MODULES else _find(name)
    return found


def _find(name: str) -> Any:
    """What a name of NumPy's is here; raises AttributeError."""
    from anyarray.numpy import _differing, _names

    if name in _differing.__all__:
        return getattr(_differing, name)
    if name in _itself.NAMES:
        return _itself.find(name)
    return _names.find("", name)


__all__ = sorted(  # pyright: ignore[reportUnsupportedDunderAll]
    name for name in {*_numpy.__all__, "bool_", *_MODULES} if name not in _ABSENT and not name.startswith("__")
)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
