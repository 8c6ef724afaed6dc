"""The inspection API: capabilities, devices and dtypes of the namespace."""

from __future__ import annotations

from typing import Any, TypedDict

from anyarray._base import dtypes as _dtypes
from anyarray._base import errors
from anyarray._base.dtypes import DType
from anyarray._choice import choice
from anyarray._registry import registry
from anyarray._registry.registry import Backend

__all__ = ["__array_namespace_info__"]

Capabilities = TypedDict(
    "Capabilities", {"boolean indexing": bool, "data-dependent shapes": bool, "max dimensions": int | None}
)
Capabilities.__doc__ = """What `Info.capabilities` gives, a dict."""
DefaultDTypes = TypedDict(
    "DefaultDTypes",
    {"real floating": DType, "complex floating": DType, "integral": DType, "indexing": DType},
)
DefaultDTypes.__doc__ = """What `Info.default_dtypes` gives, a dict."""

Device = Backend | str


class Info:
    """What `__array_namespace_info__()` returns.

    Source: array API 2025.12, inspection.
    """

    def capabilities(self) -> Capabilities:
        """The optional features of the standard, supported on every backend.

        Under a trace of JAX, boolean indexing and data-dependent shapes raise an error.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> Backend:
        """The device on which creation functions run in this context."""
        return choice.chosen_home().backend

    def default_dtypes(self, *, device: Device | None = None) -> DefaultDTypes:
        """The dtypes of creation functions; see `xp.default_dtypes`."""
        if device is not None:
            registry.as_backend(device)
        return {
            "real floating": _dtypes.default(float),
            "complex floating": _dtypes.default(complex),
            "integral": _dtypes.default(int),
            "indexing": _dtypes.int64,
        }

    def dtypes(self, *, device: Device | None = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """The standard's dtypes on a device, by name.

        The result has all dtypes, or those of one kind; see `xp.isdtype`.
        """
        backend = self.default_device() if device is None else registry.as_backend(device)
        kinds: Any = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        unknown = [one for one in kinds if one not in _dtypes.KINDS]
        if unknown:
            raise errors.ArgumentValueError(
                f"dtypes: kind must be one of {', '.join(_dtypes.KINDS)}, not {unknown[0]!r}"
            )
        letters = "".join(_dtypes.KINDS[one] for one in kinds)
        return {n: d for n, d in _dtypes.STANDARD.items() if d.kind in letters and backend.has_dtype(n)}

    def devices(self) -> tuple[Backend, ...]:
        """The devices of the libraries that are in use.

        `xp.backends()` lists the others, too.
        """
        return tuple(registry.loaded_backends())


def __array_namespace_info__() -> Info:  # noqa: N807 - the standard's name
    """The inspection API of the standard.

    >>> import anyarray as xp
    >>> sorted(xp.__array_namespace_info__().dtypes(kind="real floating"))
    ['float32', 'float64']

    Source: array API 2025.12, inspection.
    """
    return Info()
