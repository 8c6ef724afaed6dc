"""The Array API standard on NumPy, TensorFlow, JAX, PyTorch and CuPy.

Write `import anyarray as xp`. Calls run where their arrays are; `with xp.backend("jax"):` runs them on another library.
The namespace has the whole standard v2025.12, including `xp.linalg` and `xp.fft`.
"""

import importlib as _importlib
import typing as _typing

# Before the function `backends`, which is to be what that name means, whatever is imported later.
from anyarray import backends as _contract  # noqa: F401  # pyright: ignore[reportUnusedImport]
from anyarray import extensions as _extensions
from anyarray._array.array import Array
from anyarray._base import errors, other_names
from anyarray._base import functions as _functions
from anyarray._base.errors import *
from anyarray._choice.automatic import Decision, OutOfMemoryWarning, ProfileWarning
from anyarray._choice.choice import backend, device, fused, set_default_backend
from anyarray._memory import heap as _heap  # noqa: F401  # pyright: ignore[reportUnusedImport]  # it is set at import
from anyarray._memory.devices import DeviceMemory, free_memory, memory
from anyarray._memory.transfer import Transfer, TransferLog, TransferWarning, no_transfers, transfers
from anyarray._registry.inventory import BackendInfo, backends
from anyarray._registry.registry import Backend
from anyarray.standard import namespace as _namespace
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
    from anyarray import fft, lib, linalg, random, special
    from anyarray._calibration.explanation import Explanation, calibrate, explain, policy
    from anyarray.extensions.calculus import *
    from anyarray.extensions.correlation import *
    from anyarray.extensions.creation import *
    from anyarray.extensions.elementwise import *
    from anyarray.extensions.histograms import *
    from anyarray.extensions.manipulation import *
    from anyarray.extensions.polynomials import *
    from anyarray.extensions.products import *
    from anyarray.extensions.selection import *
    from anyarray.extensions.sets import *
    from anyarray.extensions.sorting import *
    from anyarray.extensions.statistics import *
    from anyarray.extensions.windows import *
    from anyarray.files import from_file, to_file
    from anyarray.interop import compute, from_local, from_native, mesh, persist, portable, to_native
    from anyarray.transforms import (
        associative_scan,
        cond,
        fori_loop,
        grad,
        jacobian,
        jit,
        map,  # noqa: A004 - jax.lax's name
        scan,
        stop_gradient,
        switch,
        value_and_grad,
        vmap,
        while_loop,
    )
else:  # type checkers would take every name for one of ours
    # Imported on first use, as few programs use them all: a quarter of the time of `import anyarray`.
    _MODULES = ("fft", "lib", "linalg", "random", "special")
    _NAMES = {
        "_calibration.explanation": ("Explanation", "calibrate", "explain", "policy"),
        "files": ("from_file", "to_file"),
        "interop": ("compute", "from_local", "from_native", "mesh", "persist", "portable", "to_native"),
        "transforms": (
            "associative_scan",
            "cond",
            "fori_loop",
            "grad",
            "jacobian",
            "jit",
            "map",
            "scan",
            "stop_gradient",
            "switch",
            "value_and_grad",
            "vmap",
            "while_loop",
        ),
    }
    _MODULE_OF = {name: f"anyarray.{module}" for module, names in _NAMES.items() for name in names}

    def __getattr__(name: str) -> _typing.Any:
        if name in _MODULES:
            return _importlib.import_module(f"anyarray.{name}")
        if name in _MODULE_OF:
            module = _importlib.import_module(_MODULE_OF[name])
            _functions.publish(__name__, [name], vars(module))
            return globals().setdefault(name, getattr(module, name))
        if name in _extensions.NAMES:
            return globals().setdefault(name, _extensions.find(name))
        raise other_names.missing_name("", name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__


__version__ = "0.1.0"
__array_api_version__ = "2025.12"

__all__ = [
    "Array", "Backend", "BackendInfo", "Decision", "DeviceMemory", "Explanation", "OutOfMemoryWarning",
    "ProfileWarning", "Transfer", "TransferLog", "TransferWarning", "__array_api_version__", "__version__",
    "associative_scan", "backend", "backends", "calibrate", "compute", "cond", "device", "explain", "fft",
    "fori_loop", "free_memory", "from_file", "from_local", "from_native", "fused", "grad", "jacobian", "jit",
    "lib", "linalg", "map", "memory", "mesh", "no_transfers", "persist", "policy", "portable", "random", "scan",
    "set_default_backend", "special", "stop_gradient", "switch", "to_file", "to_native", "transfers", "value_and_grad",
    "vmap", "while_loop",
]  # fmt: skip
__all__ += errors.__all__
__all__ += _namespace.__all__
_functions.publish("anyarray", __all__, globals())
__all__ += [name for name in _extensions.NAMES if "." not in name]
