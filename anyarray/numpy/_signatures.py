"""Signatures of NumPy's functions, including C functions without one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

WRITTEN: Final = {
    "bincount": "x, /, weights=None, minlength=0",
    "concatenate": "arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'",
    "copyto": "dst, src, casting='same_kind', where=True",
    "dot": "a, b, out=None",
    "from_dlpack": "x, /, *, device=None, copy=None",
    "inner": "a, b, /",
    "lexsort": "keys, axis=-1",
    "packbits": "a, /, axis=None, bitorder='big'",
    "putmask": "a, /, mask, values",
    "ravel_multi_index": "multi_index, dims, mode='raise', order='C'",
    "unpackbits": "a, /, axis=None, count=None, bitorder='big'",
    "unravel_index": "indices, shape, order='C'",
    "vdot": "a, b, /",
}
"""Parameters of functions in C, which they tell from NumPy 2.4 on."""


def signature_of(theirs: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function of NumPy's.

    Raises ValueError for a C function that has no signature and is not listed here.
    """
    try:
        return inspect.signature(theirs)
    except ValueError:
        if theirs.__name__ not in WRITTEN:
            raise
        made: Callable[..., Any] = eval(f"lambda {WRITTEN[theirs.__name__]}: None")
        return inspect.signature(made)
