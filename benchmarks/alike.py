"""Rows that nobody writes by hand, for functions that others have too.

They are functions of the standard that TensorFlow's other namespaces have. Each is called with the arguments that its
parameters ask for, in another namespace with the very same ones. It makes a row there if that gives the same values.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

import anyarray as xp
from anyarray.standard import namespace
from benchmarks.cases import OTHER, Case

ARGUMENTS: Final = {
    "acos": "half",
    "acosh": "double",
    "arange": "size",
    "asin": "half",
    "atanh": "half",
    "broadcast_to": "x, (2, size)",
    "clip": "x, 0.7, 1.3",
    "concat": "[x, y]",
    "conj": "c",
    "empty": "(size,)",
    "expand_dims": "x, 0",
    "eye": "side",
    "full": "(size,), 1.5",
    "full_like": "x, 1.5",
    "imag": "c",
    "linspace": "0.0, 1.0, size",
    "matmul": "m, k",
    "matrix_transpose": "m",
    "meshgrid": "x[:8], y[:8]",
    "moveaxis": "m, 0, 1",
    "ones": "(size,)",
    "permute_dims": "m, (1, 0)",
    "real": "c",
    "repeat": "x, 2",
    "reshape": "x, (2, -1)",
    "roll": "x, 1",
    "searchsorted": "s, x",
    "squeeze": "row, 0",
    "stack": "[x, y]",
    "take": "x, i",
    "take_along_axis": "x, i, axis=0",
    "tensordot": "m, k, axes=1",
    "tile": "x, (2,)",
    "tril": "m",
    "triu": "m",
    "unstack": "short",
    "where": "b, x, y",
    "zeros": "(size,)",
}
"""What the names of the parameters do not tell; `x` and `x1` are an array, `x2` and `arrays` others."""

OPERANDS: Final = ("x, y", "i, j", "b, b")
"""What array parameters get: floats, or the first that the function takes."""

NUMPY: Final = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "bitwise_invert": "invert", "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift", "concat": "concatenate", "cumulative_prod": "cumprod",
    "cumulative_sum": "cumsum", "permute_dims": "transpose", "pow": "power",
}  # fmt: skip
"""NumPy's older names, which tf.experimental.numpy and keras.ops may have in place of the standard's."""

TENSORFLOW: Final = {
    "all": "reduce_all", "any": "reduce_any", "arange": "range", "bitwise_and": "bitwise.bitwise_and",
    "bitwise_invert": "bitwise.invert", "bitwise_left_shift": "bitwise.left_shift",
    "bitwise_or": "bitwise.bitwise_or", "bitwise_right_shift": "bitwise.right_shift",
    "bitwise_xor": "bitwise.bitwise_xor", "clip": "clip_by_value", "cumulative_prod": "math.cumprod",
    "cumulative_sum": "cumsum", "floor_divide": "math.floordiv", "full": "fill", "isfinite": "math.is_finite",
    "isinf": "math.is_inf", "isnan": "math.is_nan", "matrix_transpose": "linalg.matrix_transpose",
    "max": "reduce_max", "mean": "reduce_mean", "min": "reduce_min", "permute_dims": "transpose",
    "prod": "reduce_prod", "remainder": "math.floormod", "std": "math.reduce_std", "sum": "reduce_sum",
    "take": "gather", "var": "math.reduce_variance",
}  # fmt: skip
"""Names of tf.* that are its own; others are the standard's, there or in tf.math."""

TORCH: Final = {
    "bitwise_invert": "bitwise_not", "concat": "cat", "max": "amax", "min": "amin", "permute_dims": "permute",
}  # fmt: skip
"""PyTorch's names where they are not the standard's."""

IN_TORCH: Final = {
    "x + 1": "x + 1", "x + y": "x + y", "x * 2.0": "x * 2.0", "x < y": "x < y", "-x": "-x", "m @ k": "m @ k",
    "x[0]": "x[0]", "x[1:3]": "x[1:3]", "m[0]": "m[0]", "m[:, 1]": "m[:, 1]", "m[None]": "m[None]", "x[b]": "x[b]",
    "x[i]": "x[i]", "m.T": "m.T", "x.shape": "x.shape", "x.dtype": "x.dtype", "float(x[0])": "float(x[0])",
    "len(x)": "len(x)", "x.__iadd__(0)": "x.__iadd__(0)",
    "x.__setitem__(0, 1.0)": "x.__setitem__(0, 1.0)", "x.__setitem__(slice(1, 3), 1.0)": None,
    "x.__setitem__(slice(1, 3), y[1:3])": None, "x.__setitem__(i, 1.0)": None, "x.__setitem__(b, 1.0)": None,
    "m.__setitem__((slice(None), 1), 2.0)": None,
    "xp.sum(m, axis=0)": "torch.sum(m, dim=0)", "xp.mean(m, axis=-1)": "torch.mean(m, dim=-1)",
    "xp.argmax(x, axis=0)": "torch.argmax(x, dim=0)", "xp.max(m, axis=1)": "torch.amax(m, dim=1)",
    "xp.astype(x, xp.float32)": "x.to(torch.float32)", "xp.where(b, x, 0.0)": "torch.where(b, x, 0.0)",
    "xp.broadcast_to(x, (2, size))": "torch.broadcast_to(x, (2, size))",
    "xp.cumulative_sum(x)": "torch.cumsum(x, 0)", "xp.cumulative_prod(x)": "torch.cumprod(x, 0)",
    "xp.empty((size,))": "torch.empty((size,), dtype=torch.float64)",
    "xp.zeros((size,))": "torch.zeros((size,), dtype=torch.float64)",
    "xp.ones((size,))": "torch.ones((size,), dtype=torch.float64)",
    "xp.full((size,), 1.5)": "torch.full((size,), 1.5, dtype=torch.float64)",
    "xp.eye(side)": "torch.eye(side, dtype=torch.float64)",
    "xp.linspace(0.0, 1.0, size)": "torch.linspace(0.0, 1.0, size, dtype=torch.float64)",
    "xp.expand_dims(x, 0)": "torch.unsqueeze(x, 0)", "xp.flip(x)": "torch.flip(x, (0,))",
    "xp.matrix_transpose(m)": "m.mT", "xp.meshgrid(x[:8], y[:8])": "torch.meshgrid(x[:8], y[:8], indexing='ij')",
    "xp.repeat(x, 2)": "torch.repeat_interleave(x, 2)", "xp.sort(x)": "torch.sort(x, stable=True).values",
    "xp.argsort(x)": "torch.argsort(x, stable=True)", "xp.std(x)": "torch.std(x, correction=0)",
    "xp.var(x)": "torch.var(x, correction=0)", "xp.take(x, i)": "torch.index_select(x, 0, i)",
    "xp.take_along_axis(x, i, axis=0)": "torch.gather(x, 0, i)",
    "xp.tensordot(m, k, axes=1)": "torch.tensordot(m, k, 1)",
    "xp.unique_values(x)": "torch.unique(x)", "xp.unstack(short)": "torch.unbind(short)",
    "xp.count_nonzero(b)": "torch.count_nonzero(b)", "xp.diff(x)": "torch.diff(x)",
    "xp.asarray([1.0, 2.0])": "torch.tensor([1.0, 2.0], dtype=torch.float64)",
    "xp.asarray(1.0)": "torch.tensor(1.0, dtype=torch.float64)", "xp.asarray(x, copy=True)": "torch.clone(x)",
    "xp.linalg.vector_norm(x)": "torch.linalg.vector_norm(x)", "xp.fft.fft(c)": "torch.fft.fft(c)",
    "xp.fft.rfft(x)": "torch.fft.rfft(x)", "xp.linalg.svdvals(m[:4, :4])": "torch.linalg.svdvals(m[:4, :4])",
    "xp.linalg.matrix_norm(m)": "torch.linalg.matrix_norm(m)",
    "xp.linalg.outer(x[:8], y[:8])": "torch.outer(x[:8], y[:8])",
}  # fmt: skip
"""Calls of ours, and PyTorch's of the same; None if it is written alike."""


def alike_in_torch(ours: Mapping[str, Any], native: Mapping[str, Any]) -> dict[str, str]:
    """Calls of ours, and PyTorch's that give the same values."""
    cases = {call: own or call for call, own in IN_TORCH.items()}
    for name in xp.__all__:
        arguments = arguments_of(name, ours)
        spelled = TORCH.get(name, name)
        call = f"xp.{name}({arguments})"
        if arguments is None or call in cases or not has(native["torch"], spelled):
            continue
        own = f"torch.{spelled}({arguments})"
        if is_same(values(own, native), values(call, ours)):
            cases[call] = own
    return cases


def alike(ours: Mapping[str, Any], native: Mapping[str, Any], written: tuple[Case, ...]) -> list[Case]:
    """A case for each function of ours that some namespace in `native` has.

    Those that a case was `written` for are left out. `ours` and `native` are the names that the arguments mean, as
    Arrays and as tensors.
    """
    cases: list[Case] = []
    for name in xp.__all__:
        if any(f"xp.{name}(" in case.standard for case in written):
            continue
        arguments = arguments_of(name, ours)
        if arguments is None:
            continue
        call = f"xp.{name}({arguments})"
        wanted = values(call, ours)
        ways: dict[str, str] = {}
        spellings = {
            "tnp": (name, NUMPY.get(name, name)),
            "tf": (TENSORFLOW.get(name, name), f"math.{name}"),
            "keras": (name, NUMPY.get(name, name)),
        }
        for library, spelled in spellings.items():
            prefix = "ops" if library == "keras" else library
            for its_name in spelled:
                way = f"{prefix}.{its_name}({arguments})"
                if has(native[prefix], its_name) and is_same(values(way, native), wanted):
                    ways[library] = way
                    break
        if ways:
            cases.append(Case(OTHER, call, **ways))
    return cases


def arguments_of(name: str, ours: Mapping[str, Any]) -> str | None:
    """The arguments with which a function of the standard is called.

    None for what is no function of the standard that gives arrays.
    """
    function = getattr(xp, name)
    if not (inspect.isroutine(function) and name in namespace.__all__):
        return None
    required = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    if name in ARGUMENTS:
        choices: tuple[str, ...] = (ARGUMENTS[name],)
    elif [p.name for p in required] == ["x"]:
        choices = tuple(operands.partition(",")[0] for operands in OPERANDS)
    elif [p.name for p in required] in (["x1", "x2"], ["arrays"]):
        choices = OPERANDS
    else:
        return None
    return next((one for one in choices if values(f"xp.{name}({one})", ours) is not None), None)


def has(namespace: Any, name: str) -> bool:
    """Whether a namespace, which may be None, has a dotted name."""
    try:
        operator.attrgetter(name)(namespace)
    except AttributeError:
        return False
    return True


def values(call: str, names: Mapping[str, Any]) -> list[np.ndarray[Any, Any]] | None:
    """What a call gives, in NumPy; None if it raises or gives no arrays."""
    try:
        given = eval(call, dict(names))
        results = [np.asarray(one) for one in (given if isinstance(given, (tuple, list)) else [given])]
    except Exception:  # noqa: BLE001 - whatever a library raises, it does not take the call
        return None
    return None if any(one.dtype.kind not in "biufc" for one in results) else results


def is_same(found: list[np.ndarray[Any, Any]] | None, wanted: list[np.ndarray[Any, Any]] | None) -> bool:
    """Whether two libraries gave equal shapes and values, of any dtypes."""
    if found is None or wanted is None:
        return False
    return [a.shape for a in found] == [a.shape for a in wanted] and all(
        np.allclose(a, b, rtol=1e-5) for a, b in zip(found, wanted, strict=True)
    )
