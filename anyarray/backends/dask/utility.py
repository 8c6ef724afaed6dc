"""What Dask lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from anyarray._base import errors

__all__ = ["jacobian", "jit", "value_and_grad"]


def _refused(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise errors.UnsupportedError(
            f"{name} is not implemented on dask. Use several devices of JAX: with xp.backend(xp.mesh(...))"
        )

    return refuse


jit, value_and_grad, jacobian = map(_refused, ("jit", "value_and_grad", "jacobian"))
