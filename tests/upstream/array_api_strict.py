"""anyarray under the name of array_api_strict, for the tests of others.

They import it by name, and skip what a library of the standard need not have. This folder comes before site-packages
on the path of `run.py`, and nowhere else.
"""

from __future__ import annotations

import contextlib
import sys
import types
from typing import Any

import anyarray
from anyarray import *  # noqa: F403  # all names of another module

__version__ = "2.6"


def __getattr__(name: str) -> Any:
    return getattr(anyarray, name)


def _device(_: str) -> anyarray.Device:
    """The device that runs the tests, whichever is named."""
    return anyarray.empty(0).device


def _changed(**flags: Any) -> contextlib.AbstractContextManager[None]:
    """No flag of the strict library is ours."""
    return contextlib.nullcontext()


# Tests ask the namespace of an Array for them, which is anyarray itself.
anyarray.Device = _device  # type: ignore[misc, assignment]
anyarray.set_array_api_strict_flags = anyarray.ArrayAPIStrictFlags = _changed  # type: ignore[attr-defined]
Device, set_array_api_strict_flags, ArrayAPIStrictFlags = _device, _changed, _changed

_array_object = types.ModuleType("array_api_strict._array_object")
_array_object.Array = anyarray.Array  # type: ignore[attr-defined]
sys.modules[_array_object.__name__] = _array_object
