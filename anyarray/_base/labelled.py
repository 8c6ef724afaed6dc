"""Arrays with labels: those of pandas and xarray, which are not imported."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

CLASSES: Final = {("pandas", "Series"), ("pandas", "DataFrame"), ("xarray", "DataArray")}


def _name_of(kind: type) -> str | None:
    """The name of the class of `CLASSES` that `kind` is, or derives from."""
    names = [one.__name__ for one in kind.__mro__ if (one.__module__.partition(".")[0], one.__name__) in CLASSES]
    return names[0] if names else None


def is_labelled(value: Any) -> bool:
    """Whether it is a Series, a DataFrame or a DataArray."""
    return _name_of(type(value)) is not None


def values(of: Any) -> Any:
    """The values without labels: an ndarray, or the array of a DataArray."""
    return of.data if _name_of(type(of)) == "DataArray" else np.asarray(of)


def with_values(of: Any, new: Any) -> Any:
    """An object of the same class and labels, with other values."""
    name = _name_of(type(of))
    if name == "DataArray":
        return of.copy(data=new)
    if name == "Series":
        return type(of)(new, index=of.index, name=of.name)
    return type(of)(new, index=of.index, columns=of.columns)
