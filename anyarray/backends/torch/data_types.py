"""Casts between dtypes."""

from __future__ import annotations

from typing import Any

import torch

from anyarray.backends.torch._kernel import Native, cast


def astype(x: Native, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Native:
    if x.dtype is dtype:
        x = x if device is None else x.to(device)
        return x.clone() if copy else x
    found = cast(x, dtype) if device is None else cast(x.to(device), dtype)
    return found.clone() if found._base is not None else found  # the real part of complex numbers is a view


def bitcast(x: Native, dtype: Any, /) -> Native:
    if x.dtype is dtype:
        return x
    if not x.ndim:
        return x.reshape(1).view(dtype).reshape(())
    try:
        return x.view(dtype)
    except RuntimeError:  # PyTorch wants a contiguous last axis and an even offset
        return x.clone(memory_format=torch.contiguous_format).view(dtype)
