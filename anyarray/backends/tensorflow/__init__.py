"""TensorFlow as a backend: raw ops, one file per chapter of the standard.

`_kernel` holds what every chapter uses, `_hooks` the backend's functions that are not in the standard.
"""

from __future__ import annotations

import inspect
import sys
from types import FunctionType
from typing import Any, Final

from anyarray.backends.tensorflow import _loading as _loading  # before anything else imports TensorFlow

# isort: split
from anyarray.backends._shared import chapters
from anyarray.backends.tensorflow._adoption import *
from anyarray.backends.tensorflow._hooks import *
from anyarray.backends.tensorflow._loops import *
from anyarray.backends.tensorflow._slopes import with_slopes as with_slopes
from anyarray.backends.tensorflow._transforms import *

globals().update(chapters.functions(__name__))

SPECIAL: Final = "anyarray.backends.tensorflow.special"

_PACKAGE: Final = __name__.partition(".")[0]


def _leave_to_python(one: Any) -> None:
    """Keep AutoGraph from rewriting a function, or the methods of a class.

    Without this mark it converts our functions, from their source.
    """
    is_compiled = inspect.ismethoddescriptor(one) and hasattr(one, "__dict__")
    is_ours = str(getattr(one, "__module__", "")).startswith(_PACKAGE)
    if (isinstance(one, FunctionType) or is_compiled) and is_ours:
        vars(one)["autograph_info__"] = None  # AutoGraph skips functions with this attribute
    elif isinstance(one, type) and is_ours:
        for method in vars(one).values():
            if not isinstance(method, type):
                _leave_to_python(method)


for _name, _module in sys.modules.copy().items():  # another thread may import; `copy` alone is atomic
    if _name.partition(".")[0] == _PACKAGE:
        for _one in list(vars(_module).values()):
            _leave_to_python(_one)
