"""Bringing an array to another backend: the routes.

Within one library the library moves the array itself. Between two libraries it goes by the host: the
source hands out an ndarray (a read-only view where it can), the target takes a copy of it. So nothing that
arrives shares memory that somebody else could write.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anyarray import _errors
from anyarray._backend import Backend, Native


def moved(native: Native, source: Backend, target: Backend) -> Native:
    """The values of `native`, which lives on `source`, as a native array of `target`.

    Raises TransferError if the array is traced and would have to leave its library.
    """
    if source is target:
        return native
    if source.library == target.library:
        return target.free.to_device(native, target.native_device)
    if source.free.is_traced(native):
        raise _errors.TransferError(
            f"transfer: a traced array of {source} has no values yet and cannot be brought to {target}. "
            "Leave the backend as it is inside the traced function"
        )
    return from_host(source.free.to_numpy(native), target)


def to_host(native: Native, source: Backend) -> np.ndarray[Any, Any]:
    """The values of `native` as an ndarray: read-only if it shares memory with it.

    Raises TransferError if the array is traced.
    """
    if source.free.is_traced(native):
        raise _errors.TransferError(
            "transfer: a traced array has no values yet and cannot become a NumPy array or a Python scalar. "
            "Return it from the traced function first"
        )
    host: np.ndarray[Any, Any] = source.free.to_numpy(native)
    return host


def from_host(a: np.ndarray[Any, Any], target: Backend) -> Native:
    """A native array of `target` with the values of the ndarray `a`; shares no memory with it."""
    return target.free.from_numpy(a, target.native_device)
