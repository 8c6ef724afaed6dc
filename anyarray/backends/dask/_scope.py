"""A task's choice is its own: it never sees the caller's `with` blocks."""

from __future__ import annotations

import threading
from contextvars import ContextVar, Token
from importlib import import_module
from typing import Any

import numpy as np
from dask.callbacks import Callback

from anyarray._base import settings

__all__ = ["adopt"]


class _Outside(Callback):  # type: ignore[misc]  # Dask has no annotations
    """Resets our settings while one of Dask's local schedulers runs.

    It gives its threads the context variables of the caller. Workers of a cluster never see them.
    """

    def __init__(self) -> None:
        super().__init__(start=self._enter, finish=self._leave)
        self._local = threading.local()

    def _enter(self, graph: Any) -> None:
        tokens: list[tuple[ContextVar[Any], Token[Any]]] = [(one, one.set(v)) for one, v in settings.defaults.items()]
        vars(self._local).setdefault("open", []).append(tokens)

    def _leave(self, graph: Any, state: Any, failed: bool) -> None:
        for variable, token in self._local.open.pop():
            variable.reset(token)


_outside = _Outside()


def adopt(kind: type, unwrap: Any, wrap: Any) -> None:
    """Called once Dask is imported, whether or not this backend is used."""
    _outside.register()
    tokens = import_module("dask.base").normalize_token

    def token_of(x: Any) -> Any:
        # Not by pickle: that computes an array of Dask, and a cluster waits for the lock that Dask holds meanwhile.
        return "Array", str(x.device), tokens(unwrap(x) if x.device.library == "dask" else x.to_numpy())

    tokens.register(kind, token_of)
    # As for NumPy's blocks: Dask merges the percentiles of blocks as ndarrays.
    dispatch = import_module("dask.array.dispatch").percentile_lookup
    dispatch.register(kind, lambda x, *args: dispatch(np.asarray(x), *args))
