"""The dtypes, their kinds, and the one promotion rule of every backend.

A dtype is one object for all backends. It equals NumPy's dtype of the same name and NumPy
takes it wherever it takes a dtype, but `xp.float64 == None` is False (NumPy says True).

Promotion is the standard's table. Where the standard is silent (int64 with float32, int64
with uint64, bool with a number) NumPy's rule holds on every backend. Python scalars are weak:
they take the dtype of the array operand, unless their kind is higher (a float with an
integer array), in which case they count as the default dtype of their kind.
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Final, TypeAlias, cast

import numpy as np

from anyarray._base.blocks import block
from anyarray._base.errors import ArgumentOverflowError, ArgumentTypeError, ArgumentValueError
from anyarray._base.settings import Holding, variable


class DType:
    """A dtype of the standard: one object everywhere, equal to NumPy's."""

    __slots__ = ("__weakref__", "_hash", "bounds", "dtype", "itemsize", "kind", "name")

    name: str
    """The standard's name, as `"float32"`."""
    kind: str
    """One letter, as NumPy's: b, i, u, f or c."""
    itemsize: int
    """Bytes of one element."""
    dtype: np.dtype[Any]
    """NumPy's dtype; NumPy, JAX and TensorFlow read this attribute."""
    bounds: tuple[int, int]
    """The least and the greatest value; only integers have them."""

    def __init__(self, name: str, kind: str, itemsize: int) -> None:
        self.name = name
        self.kind = kind
        self.itemsize = itemsize
        self._hash: int | None = None
        if name != "bfloat16":
            self.dtype = np.dtype(name)
        if kind in "iu":
            values = 1 << 8 * itemsize
            self.bounds = (0, values - 1) if kind == "u" else (-values // 2, values // 2 - 1)

    def __getattr__(self, name: builtins.str) -> Any:
        # bfloat16 is defined in ml_dtypes, a dependency of JAX and TensorFlow but not of NumPy, so its dtype is
        # imported at first use.
        if name.startswith("_") or (name != "dtype" and not hasattr(self.dtype, name)):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        if name != "dtype":
            return getattr(self.dtype, name)  # such as `alignment`: what NumPy's dtype knows
        self.dtype = _bfloat16()
        return self.dtype

    @property  # type: ignore[misc]  # is never set
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        # xarray and programs ask `isinstance(x.dtype, np.dtype)`, and take what is none for a dtype of an extension.
        return DType if self.name == "bfloat16" else type(self.dtype)

    @property
    def type(self) -> Any:
        """NumPy's scalar class."""
        return self.dtype.type

    @property
    def char(self) -> str:
        """NumPy's one-character code."""
        return self.dtype.char

    @property
    def str(self) -> builtins.str:
        """NumPy's array-protocol string, as `"<f4"`."""
        return self.dtype.str

    @property
    def num(self) -> int:
        """NumPy's type number."""
        return self.dtype.num

    @property
    def byteorder(self) -> builtins.str:
        """NumPy's byte-order character: always the machine's own."""
        return self.dtype.byteorder

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return bool(self.dtype == np.dtype(other))  # type: ignore[call-overload]  # any object may be asked
        except (TypeError, ValueError):
            return False

    def __hash__(self) -> int:
        if self._hash is None:
            try:
                self._hash = hash(self.dtype)
            except ArgumentTypeError:  # bfloat16 without ml_dtypes: no other object equals it
                return hash(self.name)
        return self._hash

    def __repr__(self) -> builtins.str:
        return f"anyarray.{self.name}"

    def __str__(self) -> builtins.str:
        return self.name

    def __reduce__(self) -> builtins.str:
        return self.name  # of the namespace


def is_same_kind(came: DType, wanted: DType) -> bool:
    """Whether NumPy's rule "same_kind" allows the cast.

    Floats are cast to narrower floats, not to integers. An in-place update, and `out=`, cast by it.
    """
    order = "buifc"
    if {came.kind, wanted.kind} == {"i", "u"}:
        return came.kind == "u"
    return order.index(came.kind) <= order.index(wanted.kind)


def signed(indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Indices or counts of uint64 as int64; others as they are.

    Values that int64 cannot hold become its maximum. NumPy would take them as negative, or reject uint64.
    """
    if indices.dtype.kind != "u" or indices.itemsize != 8:
        return indices
    cut: np.ndarray[Any, Any] = np.minimum(indices, np.uint64(np.iinfo(np.int64).max)).astype(np.int64)
    return cut


def _bfloat16() -> np.dtype[Any]:
    try:
        import ml_dtypes
    except ImportError:
        raise ArgumentTypeError(
            "dtype: bfloat16 needs the package ml_dtypes, which is not installed. Run: pip install ml_dtypes"
        ) from None
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


bool_: Final = DType("bool", "b", 1)
int8: Final = DType("int8", "i", 1)
int16: Final = DType("int16", "i", 2)
int32: Final = DType("int32", "i", 4)
int64: Final = DType("int64", "i", 8)
uint8: Final = DType("uint8", "u", 1)
uint16: Final = DType("uint16", "u", 2)
uint32: Final = DType("uint32", "u", 4)
uint64: Final = DType("uint64", "u", 8)
float16: Final = DType("float16", "f", 2)
bfloat16: Final = DType("bfloat16", "f", 2)
float32: Final = DType("float32", "f", 4)
float64: Final = DType("float64", "f", 8)
complex64: Final = DType("complex64", "c", 8)
complex128: Final = DType("complex128", "c", 16)

STANDARD: Final = {
    d.name: d
    for d in (
        bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
        float32, float64, complex64, complex128,
    )
}  # fmt: skip
"""The dtypes that the standard names, in its order, by name."""

KNOWN: Final = {**STANDARD, "float16": float16, "bfloat16": bfloat16}
"""Every dtype of Arrays, by name."""
_NUMPYS_NUMBERS: Final = frozenset(np.dtype(name).num for name in [*STANDARD, "float16"])
"""NumPy's numbers of these dtypes; dtypes with other numbers may have the same names."""

KINDS: Final = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
"""The standard's names of kinds, as the letters of `DType.kind`."""

DTypeLike: TypeAlias = DType | np.dtype[Any] | type[Any] | str
"""Anything that converts to a dtype: one of ours, of NumPy or of another library, a name, or Python's bool, int ..."""

_by_object: dict[Any, DType] = {}

_CURES: Final = {
    **{
        (name, int): f". Give a shape of several axes as a tuple: xp.{name}((3, 4))"
        for name in ("empty", "ones", "zeros")
    },
    **{(name, bool): ". Give keepdims by name: keepdims=True" for name in ("prod", "sum")},
}
"""The cure for a number or a bool passed as a dtype, by function."""


def dtype(wanted: Any, function: str = "", /) -> DType:
    """The dtype that `wanted` means: ours, NumPy's, a name or a Python class.

    Raises TypeError, which names the `function`, for other dtypes (object, string, datetime ...).
    """
    if type(wanted) is DType:
        return wanted
    try:
        if not isinstance(wanted, np.generic):  # an int64 scalar of 1 has the hash of tf.float32 and is equal to it
            return _by_object[wanted]
    except (KeyError, TypeError):
        pass
    found = KNOWN.get(wanted) if isinstance(wanted, str) else None
    if found is None:
        # By identity: NumPy's float64 equals Python's float.
        for scalar in _RANK:
            if wanted is scalar:
                return default(scalar)
        try:
            # TensorFlow's dtypes have `as_numpy_dtype`. An array has a dtype but is none, though `np.dtype` would take
            # that of one.
            is_array = isinstance(wanted, np.generic) or hasattr(type(wanted), "__array_namespace__")
            numpy_dtype = None if is_array else np.dtype(getattr(wanted, "as_numpy_dtype", wanted))
        except (TypeError, ValueError, SyntaxError):
            numpy_dtype = None
        # `np.dtype(None)` is float64.
        found = None if numpy_dtype is None or wanted is None else KNOWN.get(numpy_dtype.name)
    if found is None and type(wanted).__name__ == "dtype":  # PyTorch's torch.float32, of which NumPy knows nothing
        found = KNOWN.get(str(wanted).rpartition(".")[2])
    if found is None:
        begin, cure = f"{function}: dtype" if function else "dtype:", ""
        if isinstance(wanted, (bool, int)):  # an argument too many before it
            cure = _CURES.get((function, type(wanted)), "")
        raise ArgumentTypeError(f"{begin} must be one of {', '.join(KNOWN)}, not {wanted!r}{cure}")
    try:
        _by_object[wanted] = found
    except TypeError:
        pass
    return found


class DerivedArray(np.ndarray):
    """The base of classes that a program derives from Array.

    It replaces np.ndarray.
    """


def is_numpys_own(value: Any) -> bool:
    """Whether `value` is an object of NumPy with a dtype that only NumPy has.

    Such dtypes are text, dates, objects, records and long doubles. Masked arrays and instances of classes that a
    program derives from np.ndarray count, too, with any dtype.
    """
    if not isinstance(value, (np.ndarray, np.generic)):
        return False
    is_plain = type(value) is np.ndarray or not isinstance(value, np.ndarray)
    is_known = value.dtype.num in _NUMPYS_NUMBERS or value.dtype.name in KNOWN  # a name takes a microsecond
    return not is_known or (not is_plain and isinstance(value, (DerivedArray, np.ma.MaskedArray)))


def is_numpys_dtype(value: Any) -> bool:
    """Whether `value` means a dtype that no other library has."""
    if not isinstance(value, (str, type, list, dict, np.dtype)) or isinstance(value, DType):
        return False
    try:
        return np.dtype(cast(Any, value)).name not in KNOWN
    except (TypeError, ValueError):
        return False


@functools.cache
def promoted(first: str, second: str) -> str:
    """Name of the dtype that two dtypes promote to."""
    if first == second:
        return first
    if "bfloat16" in (first, second):
        # As NumPy's ufuncs promote; `np.result_type` knows only half of these pairs.
        other = KNOWN[second if first == "bfloat16" else first]
        if other.kind in "biu" and other.itemsize == 1:
            return "bfloat16"
        return "float32" if other.name == "float16" else floating(other.name)
    return np.result_type(KNOWN[first].dtype, KNOWN[second].dtype).name


@functools.cache
def result_name(*names: str) -> str:
    """Name of the dtype that `names`, at least one, promote to."""
    return functools.reduce(promoted, names)


@functools.cache
def floating(name: str) -> str:
    """Name of the dtype in which a floating-point function computes `name`.

    A floating dtype stays; bool and integers are promoted as by NumPy's ufuncs: 8 bits and
    bool to float16, 16 bits to float32, wider ones to float64.
    """
    if KNOWN[name].kind in "fc":
        return name
    return {1: "float16", 2: "float32"}.get(KNOWN[name].itemsize, "float64")


@functools.cache
def summed(name: str) -> str:
    """Name of the dtype of sums and products over an array of dtype `name`.

    Integers narrower than the default become int64 or uint64, bool becomes int64; floating dtypes stay.
    """
    kind = KNOWN[name].kind
    return {"b": "int64", "i": "int64", "u": "uint64"}.get(kind, name)


def _wide(name: str) -> str:
    return name if KNOWN[name].kind in "fc" else "float64"


PROMOTIONS: Final[dict[str, Callable[[str], str]]] = {
    "common": lambda name: name,
    "floats": floating,
    "wide floats": _wide,
    "sums": lambda name: "int64" if name == "bool" else name,
    "complex": lambda name: promoted(_wide(name), "complex64"),
}
"""Functions from the name of the arrays' promoted dtype to that of the dtype in which the function computes: the same;
integers become floats of about their width, or float64; bools become int64; all become complex.
"""

_CLASSES: Final = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
_RANK: Final = {bool: 0, int: 1, float: 2, complex: 3}


def weak_scalar(scalar: type[Any], beside: str) -> str:
    """Name of a weak Python scalar's dtype with an array of dtype `beside`."""
    kind = _CLASSES[KNOWN[beside].kind]
    if _RANK[scalar] <= _RANK[kind]:
        return beside
    if scalar is complex and kind is float:
        return promoted("complex64", beside)
    if scalar is int:
        return default(int).name
    wide = default(float).name
    if scalar is complex:
        wide = promoted("complex64", wide)
    return wide


def with_scalars(array: str, scalars: Iterable[type[Any]]) -> str:
    """Name of the dtype that an array and weak Python scalars promote to.

    `array` is the array's dtype, `scalars` the classes of at least one scalar. With `default_dtypes` a float scalar may
    have a narrower dtype than an integer array promoted to float would have.
    """
    return weak_scalar(max(scalars, key=_RANK.__getitem__), array)


def holds(dtype: DType, value: int) -> bool:
    """Whether an integer dtype can represent `value`."""
    least, greatest = dtype.bounds
    return least <= value <= greatest


def integer_within(function: str, value: float, wanted: DType) -> int:
    """A real Python number, truncated to an integer that `wanted` can hold.

    Raises, for `function`, ValueError for NaN and OverflowError for a number out of bounds.
    """
    if value != value:
        raise ArgumentValueError(f"{function}: cannot convert float NaN to integer, which {wanted} is")
    least, greatest = wanted.bounds
    if abs(value) == math.inf or not least <= (whole := int(value)) <= greatest:
        # NumPy's words, as some libraries test for them.
        holds_it = next((one for one in (int64, uint64) if one.bounds[0] <= value <= one.bounds[1]), "a floating one")
        raise ArgumentOverflowError(
            f"{function}: Python {'float' if isinstance(value, float) else 'integer'} {value} out of bounds for "
            f"{wanted}. Choose a dtype that holds it: {holds_it}"
        )
    return whole


STANDARD_DEFAULTS: Final = {bool: bool_, int: int64, float: float64, complex: complex128}
"""The dtypes of Python scalars; `_speedups/core/dtypes.c` repeats them."""
context_variable: ContextVar[dict[type[Any], DType]] = variable("anyarray default dtypes", STANDARD_DEFAULTS)
_changes: Final[list[None]] = []
"""Empty until the first `default_dtypes`: until then the defaults are the standard's in every context."""


class _Defaults(dict[type[Any], DType]):
    """The defaults in a block of `default_dtypes`."""

    __slots__ = ("block", "outer")

    block: Any
    outer: dict[type[Any], DType]


defaults: Final = context_variable.get
"""The default dtypes of this context, by Python's scalar classes."""


def default(kind: type[Any]) -> DType:
    """The default dtype of a Python scalar of class `kind`."""
    return defaults()[kind]


def common_default(kinds: Iterable[type[Any]]) -> DType:
    """The default dtype of several Python scalars: of the highest class."""
    return default(max(kinds, key=_RANK.__getitem__))


@block
def default_dtypes(
    *,
    int: DType | None = None,  # noqa: A002 - the kinds are named for Python's classes
    float: DType | None = None,  # noqa: A002 - as above
    complex: DType | None = None,  # noqa: A002 - as above
) -> AbstractContextManager[None]:
    """Change the dtypes of creation functions and scalars in a `with` block.

    With `float=xp.float32`, creation functions and Python floats combined with integer arrays give float32, and complex
    defaults to complex64 unless given. Each thread and asyncio task has its own defaults.
    Raises TypeError for a dtype of another kind.

    >>> import anyarray as xp
    >>> with xp.default_dtypes(float=xp.float32):
    ...     print(xp.linspace(0, 1, 3).dtype, (xp.arange(3) * 0.5).dtype)
    float32 float32
    """
    own: dict[type[Any], DType] = {}
    names = {"int": int, "float": float, "complex": complex}
    classes: dict[str, type[Any]] = {"int": _CLASSES["i"], "float": _CLASSES["f"], "complex": _CLASSES["c"]}
    if float is not None and complex is None:
        names["complex"] = complex64 if dtype(float).itemsize <= 4 else complex128
    for name, wanted in names.items():
        if wanted is None:
            continue
        found = dtype(wanted)
        if found.kind not in {"int": "iu", "float": "f", "complex": "c"}[name]:
            raise ArgumentTypeError(f"default_dtypes: {name} must be a dtype of that kind, not {found}")
        own[classes[name]] = found
    if not _changes:
        _changes.append(None)

    def inside(outer: dict[type[Any], DType], block: Any) -> dict[type[Any], DType]:
        found = _Defaults(outer | own)
        found.block, found.outer = block, outer
        return found

    return Holding(context_variable, inside, None)
