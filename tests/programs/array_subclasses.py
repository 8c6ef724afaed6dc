from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = np.ndarray[Any, np.dtype[np.float64]]

class InfoArray(np.ndarray):
    def __new__(cls, values, info=None):
        made = np.asarray(values).view(cls)
        made.info = info
        return made

    def __array_finalize__(self, other):
        self.info = getattr(other, "info", None)

class Logged(np.lib.mixins.NDArrayOperatorsMixin):
    calls: list[str] = []

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        self.calls.append(ufunc.__name__)
        return Logged(getattr(ufunc, method)(*[one.values if isinstance(one, Logged) else one for one in inputs], **options))

@dataclass
class Layer:
    weights: np.ndarray
    bias: np.ndarray | None = None
    history: list[npt.NDArray[np.float64]] = field(default_factory=list)

    def __call__(self, x: Matrix) -> Matrix:
        y = x @ self.weights
        if self.bias is not None:
            y += self.bias
        self.history.append(y)
        return np.maximum(y, 0)

def describe(x: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> str:
    a = np.asarray(x, dtype=dtype)
    assert isinstance(a, np.ndarray)
    return f"{a.dtype} {a.shape} {a.ndim}"

def kind_of(x):
    if not isinstance(x, np.ndarray):
        raise TypeError("not an array")
    return {"U": "text", "M": "dates", "O": "objects"}.get(x.dtype.kind, x.dtype.name)

def main():
    a = InfoArray([0.0, 1.0, 4.0], info="metres")
    a[0] = 9
    logged = np.sqrt(Logged([1.0, 4.0])) + 1
    layer = Layer(np.arange(6.0).reshape(3, 2), np.array([-10.0, 1.0]))
    out = layer(np.ones((2, 3)))
    grid = np.full((2, 2), None)
    grid[0, 1] = {"k": 1}
    arrays = (np.array(["a"]), np.array([None]), np.arange(2), np.array(["2024-01-01"], dtype="datetime64[D]"), a)
    return {"info": [a[1:].info, (a + 1).info, np.sqrt(a).info], "class": type(np.sqrt(a)).__name__, "values": np.asarray(np.sqrt(a)),
            "is": [isinstance(one, np.ndarray) for one in arrays], "kinds": [kind_of(one) for one in arrays],
            "logged": logged.values, "calls": Logged.calls[-2:], "out": out, "history": layer.history[0].sum(), "grid": str(grid),
            "describe": [describe([1, 2]), describe(5, int)], "scalars": [isinstance(np.float64(3), float), np.isscalar(np.int64(2))]}
