"""The home of Arrays: a backend, with its native functions and constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from anyarray._base import dtypes, errors
from anyarray._base.dtypes import DType

if TYPE_CHECKING:
    from anyarray._registry.registry import Backend


Native = Any
"""A native array: np.ndarray, tf.Tensor, jax.Array, torch.Tensor, cupy.ndarray ..."""


class Home:
    """The home of an Array: a backend, and whether the user placed it there.

    Each backend has two, `free` and `placed`. A home also is the table of the backend's native
    functions and hooks: `home.exp(native)`. They are looked up at their first call; see `declare`.
    """

    # The interpreter's inline caches work for slots, and for attributes at the same index of every home's `__dict__`
    # that the class does not define: 20 ns a call.
    __slots__ = (
        "__dict__", "backend", "constants", "dtypes", "has_views", "latest_dtype", "placed", "powers",
        "scalars",
    )  # fmt: skip

    depth = 0
    """The number of batches around it; see `_call.batching`."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, backend: Backend, placed: bool) -> None:
        self.backend = backend
        self.placed = placed
        self.has_views = backend.has_views
        self.dtypes: dict[Any, DType] = _NativeDtypes(backend)
        """The package's dtype by the library's; a cache."""
        self.latest_dtype: tuple[Any, DType | None] = (None, None)
        """The library's and the package's dtype of the last lookup; a cache of one entry."""
        self.constants = Constants(self)
        """0-d native arrays by (Python scalar or its `zero`, its class, native dtype of the array operand)."""
        self.scalars = _Scalars(backend)
        """The hook that makes a 0-d array, the library's dtype and the package's, by name of the dtype; a cache."""
        self.powers: dict[tuple[Any, type, Any], str | None] = _Powers(self)
        """The function that replaces `pow`, or None, by (exponent of `POWERS`, its class, native dtype)."""
        self.__dict__ = {name: _LazyFunction(self, name) for name in declared}
        _homes.append(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.backend, "placed" if self.placed else "free")

    def dtype(self, native: Native) -> DType:
        """The package's dtype of a native array."""
        dtype_of = self.dtype_of
        dtype = dtype_of(native)
        latest, ours = self.latest_dtype
        if dtype is not latest or ours is None:  # hashing a dtype of TensorFlow takes 0.25 us
            ours = self.dtypes[dtype]
            self.latest_dtype = (dtype, ours)
        return ours

    def constant(self, value: Any, name: str, function: str = "asarray") -> Native:
        """A new 0-d native array of a Python scalar in the dtype `name`.

        Raises ValueError and OverflowError for `function`, as `_base.dtypes.integer_within` does.
        """
        make, native, dtype = self.scalars[name]
        if type(value) is int and dtype.kind in "iu":
            dtypes.integer_within(function, value, dtype)
        return make(value, native, self.backend.native_device)

    def lookup(self, name: str) -> Callable[..., Any]:
        """The native function or hook `name`."""
        return self.backend.function(name)

    def __repr__(self) -> str:
        return f"{self.backend} ({'placed' if self.placed else 'free'})"


class _LazyFunction:
    """A placeholder for a native function or hook of a home.

    Its first call looks the function up, which replaces it.
    """

    __slots__ = ("_home", "_name")

    def __init__(self, home: Home, name: str) -> None:
        self._home = home
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self._home.__dict__[self._name] = self._home.lookup(self._name)
        return function(*args, **kwargs)


class Operands(NamedTuple):
    """The array parameters of a declared function whose dtypes must agree."""

    places: tuple[int | str, ...]
    """Their positions in a call of the native function; names of those that are keyword-only."""
    is_sequence: bool
    """Whether they are the elements of the first argument."""
    promotion: str
    """How they promote: a key of `_base.dtypes.PROMOTIONS`."""
    is_comparison: bool
    """Whether the function compares their values."""


declared: Final[dict[str, Operands | None]] = {}
"""Native functions and hooks that every home has, by name, with the array parameters whose dtypes must agree.

Their order is that of every home's `__dict__`.
"""

_homes: Final[list[Home]] = []
"""All homes: as their backends, they are never deleted."""


class Composition(NamedTuple):
    """A declared function that is composed of others."""

    function: Callable[..., Any]
    """Takes the home, then the arguments of the native function."""
    own: frozenset[str]
    """Libraries whose own function of that name is called instead."""
    reads_no_values: bool = False
    """Whether it computes the same inside a trace as outside, so that a library may compile it."""
    slopes: Sequence[Callable[..., Any] | None] | None = None
    """Its derivatives by each argument, called like `function`; None for an unsupported one.

    With them it is a special function: a library's own function is in the module that its backend names.
    """


class Step(NamedTuple):
    """A call of an elementwise function in a kernel of several."""

    function: str
    operands: tuple[str, ...]
    """`x0`, `x1` ... are arrays, `v0`, `v1` ... results of earlier steps."""
    dtypes: tuple[Any, ...]
    """The native dtypes of the operands."""
    dtype: Any
    """The native dtype of the result."""


compositions: Final[dict[str, Composition]] = {}
"""The declared functions that are composed of others, by name."""


def declare(name: str, operands: Operands | None = None) -> None:
    """Make the native function or hook `name` an attribute of every home."""
    declared[name] = operands or declared.get(name)
    for home in _homes:
        home.__dict__.setdefault(name, _LazyFunction(home, name))


class _NativeDtypes(dict[Any, DType]):
    """A cache of the package's dtype by the library's.

    NumPy's dtypes are all there from the start, because C code tests membership.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        if backend.library == "numpy":
            self.update({dtype.dtype: dtype for name, dtype in dtypes.KNOWN.items() if name != "bfloat16"})

    def __missing__(self, native: Any) -> DType:
        is_numpys = isinstance(native, np.dtype) and native.kind in "MOSTUm"  # dates, objects and text
        for name, dtype in () if is_numpys else dtypes.KNOWN.items():
            try:
                same = bool(self._backend.native_dtype(name) == native)
            except (AttributeError, KeyError, TypeError, ImportError):
                continue  # the library has no such dtype
            if same:
                self[native] = dtype
                return dtype
        raise errors.ArgumentTypeError(f"{self._backend}: Arrays do not support the dtype {native}")


class ArrayMustBeCast(LookupError):  # noqa: N818 - a signal within the package, not an error
    """The array operand must be cast before it meets a Python scalar.

    The scalar's default dtype is narrower than the dtype to which it and the array promote.
    """


zero: Final[Callable[[complex], str]] = repr
"""The key of a zero, because 0.0 == -0.0; `_speedups/numerics/scalars.c` makes the same keys."""


def _has_zero(value: complex) -> bool:
    """Whether a part of a complex number is zero, so that its sign matters."""
    return not (value.real and value.imag)


class _Scalars(dict[str, tuple[Callable[..., Native], Any, DType]]):
    """A cache of functions that make 0-d arrays, by name of the dtype."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def __missing__(self, name: str) -> tuple[Callable[..., Native], Any, DType]:
        found = self[name] = (self._backend.hook("scalar"), self._backend.native_dtype(name), dtypes.KNOWN[name])
        return found


class Constants(dict[tuple[Any, type, Any], Native]):
    """A cache of 0-d native arrays of scalars: `x + 1` makes its 1 once.

    The key has the class, because True == 1 == 1.0, and the repr of a zero. A scalar that takes a default dtype is
    looked up by that dtype, because defaults differ by context.
    """

    MOST: Final = 4096
    """The largest number of entries, above the number of literals of a program; beyond it the cache is cleared."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._by_dtype: dict[tuple[Any, ...], Native] = {}

    def __missing__(self, key: tuple[Any, type, Any]) -> Native:
        value, kind, native_dtype = key
        if type(value) is str:
            value = kind(value) if kind is not bool else False  # the inverse of `zero`
        beside = self._home.dtypes[native_dtype].name
        name = dtypes.weak_scalar(kind, beside)
        if dtypes.promoted(name, beside) != name:
            raise ArrayMustBeCast
        constant = self.named(value, name)
        if name == beside and not (kind is complex and _has_zero(value)):
            self[key] = constant
        return constant

    def named(self, value: Any, name: str, function: str = "asarray") -> Native:
        """The cached 0-d native array of a Python scalar in the dtype `name`.

        Raises OverflowError for `function` for an integer that the dtype cannot hold.
        """
        is_plain = value and not (type(value) is complex and _has_zero(value))
        exact = (value if is_plain else zero(value), type(value), name)
        constant = self._by_dtype.get(exact)
        if constant is None:
            constant = self._home.constant(value, name, function)
            if len(self._by_dtype) >= self.MOST:
                self._by_dtype.clear()
                self.clear()
            self._by_dtype[exact] = constant
        return constant


POWERS: Final[dict[Any, tuple[str, str]]] = {
    2: ("square", "iufc"),
    3: ("cube", "iufc"),
    -1: ("reciprocal", "fc"),
    0.5: ("root", "fc"),
}
"""Functions that replace `pow` for an exponent that is a Python number, where a backend has them, and the kinds of
dtypes for which they do.

They take a half to a hundredth of the time of `pow` on large arrays. They round as well; the cube is worse by one ulp.
For complex numbers they round better.
"""


class _Powers(dict[tuple[Any, type, Any], "str | None"]):
    """A cache of the functions that replace `pow` for a Python exponent."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def __missing__(self, key: tuple[Any, type, Any]) -> str | None:
        exponent, kind, native_dtype = key
        name, kinds = POWERS[exponent]
        beside = self._home.dtypes[native_dtype].kind
        # A float exponent promotes integers to floats first, and a complex one promotes all to complex.
        found = name if beside in kinds and (kind is int or (kind is float and beside not in "iu")) else None
        if found is not None:
            try:
                self._home.backend.function(found)
            except errors.UnsupportedError:
                found = None
        self[key] = found
        return found
