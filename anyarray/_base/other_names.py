"""Names that the namespace and Array lack, and what to write instead.

Names of NumPy and methods of other libraries' arrays raise AttributeError with the cure. `ALIASES` has the standard's
names of functions for which NumPy has another name.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from typing import Any, Final, NoReturn

import numpy as np

ALIASES: Final = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "around": "round",
    "power": "pow",
    "true_divide": "divide",
    "mod": "remainder",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "invert": "bitwise_invert",
    "bitwise_not": "bitwise_invert",
    "conjugate": "conj",
    "concatenate": "concat",
    "amax": "max",
    "amin": "min",
}
"""The standard's name of a function by NumPy's, if they differ."""

NEAR_EQUIVALENTS: Final = {
    "array": "asarray",
    "asanyarray": "asarray",
    "ascontiguousarray": "asarray",
    "asfortranarray": "asarray",
    "bool_": "bool",
    "cat": "concat",
    "copy": "asarray(x, copy=True)",
    "in1d": "isin",
    "row_stack": "concat",
    "tensor": "asarray",
}
"""A similar function, by the name of a NumPy function that the standard lacks."""

REPLACEMENTS: Final = {
    "complex": "xp.complex128",
    "complex_": "xp.complex128",
    "devices": "xp.backends()",
    "double": "xp.float64",
    "dtype": "xp.float32 and the like, or xp.DType in annotations",
    "float": "xp.float64",
    "float_": "xp.float64",
    "get_backend": "x.device for the backend of an Array, or xp.backends() for those that are installed",
    "half": "xp.float16",
    "hessian": "xp.jacobian(xp.grad(f))",
    "info": "python -m anyarray info, or xp.backends()",
    "int": "xp.int64",
    "int_": "xp.int64",
    "intp": "xp.int64",
    "jacfwd": 'xp.jacobian(f, mode="forward")',
    "jacrev": "xp.jacobian",
    "ndarray": "xp.Array",
    "ndim": "x.ndim",
    "random.default_rng": "xp.random.Generator(0)",
    "random.rand": "xp.random.random(xp.random.key(0), shape)",
    "random.randint": "xp.random.integers",
    "random.randn": "xp.random.normal(xp.random.key(0), shape)",
    "random.seed": "xp.random.key(0) or xp.random.Generator(0)",
    "set_backend": "xp.set_default_backend(name), or with xp.backend(name):",
    "shape": "x.shape",
    "single": "xp.float32",
    "size": "x.size",
    "testing": "it after import anyarray.testing",
    "typing": "it after import anyarray.typing",
}
"""What to write instead, by a name without such a function, if not NumPy's own function of that name."""

ATTRIBUTE_REPLACEMENTS: Final = {
    "H": "xp.conj(x).mT",
    "at": "x[...] = ...",
    "backward": "xp.grad(f), or xp.to_native(x).backward()",
    "block_until_ready": "xp.to_native(x).block_until_ready()",
    "cpu": 'x.to_device("numpy")',
    "detach": "xp.stop_gradient(x)",
    "get": "np.asarray(x)",
    "grad": "xp.grad(f), or ask the tensor that you made: t.grad",
    "numpy": "np.asarray(x)",
    "ptp": "x.max() - x.min()",
    "requires_grad": "xp.to_native(x).requires_grad",
    "setfield": "x[...] = ...",
    "to": "x.to_device(...), or xp.astype(x, ...)",
}
"""What to write instead, by a method or an attribute that arrays of some library have and Array lacks."""


def missing_name(chapter: str, name: str) -> AttributeError:
    """The AttributeError for a name that the namespace or an extension lacks.

    Its message says what to write instead, if that is known. `chapter` is "linalg", "fft" or "".
    """
    path = ".".join(filter(None, (chapter, name)))
    module = ".".join(filter(None, ("anyarray", chapter)))
    text = f"module {module!r} has no attribute {name!r}"
    ours = NEAR_EQUIVALENTS.get(path, ALIASES.get(path, _in_chapter(path)))
    theirs = getattr(np, chapter) if chapter else np
    if ours is not None:
        text += f". The standard has xp.{ours}"
    elif path in REPLACEMENTS:
        text += f". Use {REPLACEMENTS[path]}"
    elif name in theirs.__all__ and not _is_scalar_class(getattr(theirs, name)):
        takes = inspect.isroutine(getattr(theirs, name)) and not name.startswith(("from", "load", "mem"))
        text += f". Use np.{path}" + (", which takes Arrays" if takes else "")
    else:
        text += near(name, dir(sys.modules[module]))
    return AttributeError(text, name=name)


def near(name: str, known: Iterable[str]) -> str:
    """The end of a message that suggests a similar name, if there is one."""
    import difflib  # 2 ms, so not at `import anyarray`

    found = difflib.get_close_matches(name, known, n=1)
    return f'. Did you mean "{found[0]}"?' if found else ""


def _in_chapter(name: str) -> str | None:
    """The qualified name of a function of linalg or fft, or None."""
    for chapter in ("linalg", "fft"):
        if name in getattr(sys.modules["anyarray"], chapter).__all__:
            return f"{chapter}.{name}"
    return None


def _is_scalar_class(theirs: Any) -> bool:
    return isinstance(theirs, type) and issubclass(theirs, np.generic)


class MissingAttribute:
    """A descriptor for an attribute that Array lacks: its error has the cure.

    `__getattr__` could raise the same error, but a class with `__getattr__` has slower attribute access.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, array: Any, owner: type) -> NoReturn:
        name = self.name
        cure = ATTRIBUTE_REPLACEMENTS.get(name, f"np.asarray(x).{name}")
        raise AttributeError(f"'Array' object has no attribute {name!r}. Use {cure}", name=name)


def missing_attributes(array_class: type) -> list[MissingAttribute]:
    """Descriptors for the attributes of other arrays that the class lacks."""
    names = ATTRIBUTE_REPLACEMENTS.keys() | vars(np.ndarray).keys()
    return [
        MissingAttribute(name) for name in sorted(names) if not (name.startswith("_") or hasattr(array_class, name))
    ]
