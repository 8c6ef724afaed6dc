"""NumPy's names and signatures over the same functions.

Write `import anyarray.numpy as np`. With the import changed, a NumPy program runs on every backend, and in `xp.jit`,
`xp.grad` and `xp.vmap`. A name is resolved when it is first used, in this order:

    _differing      functions whose parameters differ in meaning from ours, written out
    _itself         names that NumPy itself serves: dtypes, constants, error states, printing
    _ufuncs         universal functions, with their methods
    _wrapper        all other functions: ours with NumPy's parameters; `_options` has a rule for each option

All other names of NumPy, such as old, deprecated or private names, are NumPy's own.
"""

import importlib
import sys as _sys
from typing import Any

import numpy as _numpy

from anyarray.numpy import _itself

_MODULES = ("emath", "fft", "lib", "linalg", "random", "testing", "typing")

__version__ = _numpy.__version__
_sys.meta_path.insert(0, _itself.NumPysModules())


def __getattr__(name: str) -> Any:
    if name.startswith("_"):  # or the import system asks for ever for a private module of ours
        return _itself.other(__name__, name)
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
    name for name in {*_numpy.__all__, "bool_", *_MODULES} if not name.startswith("__")
)
__dir__ = __all__.copy  # for completion
