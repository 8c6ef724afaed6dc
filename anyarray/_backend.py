"""Backends, which are libraries on devices: names, registry, native functions.

A name is `LIBRARY`, `LIBRARY-KIND` or `LIBRARY-KIND:INDEX`: "jax" (JAX's best device), "jax-gpu",
"jax-gpu:1". A library that has one kind of device leaves the kind out: "numpy", "cupy:1". One backend is
one object, compared by identity, and it is also the standard's device object.

A library is imported when a backend of it is first used, never before. The contract of its module stands
in `anyarray.backends`. Others register theirs by the entry-point group "anyarray.backends".
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import operator
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from anyarray import _dtypes, _errors
from anyarray._dtypes import DType

Native = Any
"""A native array: np.ndarray, tf.Tensor, jax.Array, cupy.ndarray ..."""

Way: TypeAlias = "tuple[Callable[[Native], Native] | None, Callable[[Native, Any], Native] | None, Any, Home]"
"""How arrays of a home come to a device: what reads their memory in place, if NumPy is to; what lends it, if it is fit
and nobody else holds it, to the native device that follows; the home they get there."""


class Home:
    """Where an Array lives: a backend, and whether the user placed it there.

    Each backend has two, `free` and `placed`. A home also is the table of the backend's native
    functions and hooks: `home.exp(native)`. They are looked up at their first call; see `declare`.
    """

    # The interpreter caches where an attribute is if it is a slot, or has the same place in every home's `__dict__`
    # and the class knows nothing of the name: 20 ns a call.
    __slots__ = ("__dict__", "backend", "constants", "dtypes", "latest_dtype", "placed", "powers", "ways")

    depth = 0
    """How many `vmap`s without a library's help it is inside; see `_batching`."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, backend: Backend, placed: bool) -> None:
        self.backend = backend
        self.placed = placed
        self.dtypes: dict[Any, DType] = _NativeDtypes(backend)
        """Our dtype by the library's."""
        self.latest_dtype: tuple[Any, DType | None] = (None, None)
        """The library's dtype that was asked for last, and ours."""
        self.constants = _Constants(self)
        """0-d native arrays by (Python scalar or `zero` of it, its class, native dtype of the array beside it)."""
        self.powers: dict[tuple[Any, type, Any], str | None] = _Powers(self)
        """The function that stands for `pow`, if one does, by (exponent of `POWERS`, its class, native dtype)."""
        self.ways: dict[Any, Way] = {}
        """Where the devices that `to_device` was asked for lead, as `_transfer.way_to` has found."""
        self.__dict__ = {name: _Sought(self, name) for name in declared}
        _homes.append(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.backend, "placed" if self.placed else "free")

    def dtype(self, native: Native) -> DType:
        """Our dtype of a native array."""
        dtype_of = self.dtype_of
        dtype = dtype_of(native)
        latest, ours = self.latest_dtype
        if dtype is not latest or ours is None:  # TensorFlow's take 0.25 us to hash
            ours = self.dtypes[dtype]
            self.latest_dtype = (dtype, ours)
        return ours

    def constant(self, value: Any, name: str, function: str = "asarray") -> Native:
        """A new 0-d native array of a Python scalar in the dtype `name`.

        Raises ValueError and OverflowError for `function`, as `_dtypes.integer_within` does.
        """
        backend = self.backend
        dtype = _dtypes.KNOWN[name]
        if type(value) is int and dtype.kind in "iu":
            _dtypes.integer_within(function, value, dtype)
        return backend.hook("scalar")(value, backend.native_dtype(name), backend.native_device)

    def found(self, name: str) -> Callable[..., Any]:
        """The native function or hook `name`."""
        return self.backend.function(name)

    def __repr__(self) -> str:
        return f"{self.backend} ({'placed' if self.placed else 'free'})"


class _Sought:
    """A native function or hook of a home until its first call.

    Then it is found, and takes this one's place.
    """

    __slots__ = ("_home", "_name")

    def __init__(self, home: Home, name: str) -> None:
        self._home = home
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self._home.__dict__[self._name] = self._home.found(self._name)
        return function(*args, **kwargs)


class Operands(NamedTuple):
    """The array parameters of a declared function whose dtypes must agree."""

    places: tuple[int | str, ...]
    """Where they are in a call of the native function: positions, and names of those that are keyword-only."""
    is_sequence: bool
    """Whether they are the elements of the first."""
    promotion: str
    """To what: a key of `_dtypes.PROMOTIONS`."""
    is_comparison: bool
    """Whether the function compares their values."""


declared: Final[dict[str, Operands | None]] = {}
"""Native functions and hooks that every home has, by name, in one order; what is known of their arrays."""
_homes: Final[list[Home]] = []
"""They live as long as their backends, which is for good."""


def declare(name: str, operands: Operands | None = None) -> None:
    """Make the native function or hook `name` an attribute of every home."""
    declared[name] = operands or declared.get(name)
    for home in _homes:
        home.__dict__.setdefault(name, _Sought(home, name))


class _NativeDtypes(dict[Any, DType]):
    """Our dtype by the library's, filled as they are met."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def __missing__(self, native: Any) -> DType:
        for name, dtype in _dtypes.KNOWN.items():
            try:
                same = bool(self._backend.native_dtype(name) == native)
            except (AttributeError, KeyError, TypeError, ImportError):
                continue  # the library has no such dtype
            if same:
                self[native] = dtype
                return dtype
        raise _errors.ArgumentTypeError(f"{self._backend}: dtype {native} is not one that an Array can have")


class ArrayMustBeCast(LookupError):  # noqa: N818 - a signal within the package, no error
    """The array beside a Python scalar must be cast before both can meet.

    The scalar counts as a default dtype that the array would promote away.
    """


zero: Final[Callable[[complex], str]] = repr
"""What stands for a zero in a key, as 0.0 == -0.0."""


def _has_zero(value: complex) -> bool:
    """Whether a part of a complex number is zero, whose sign counts, too."""
    return not (value.real and value.imag)


class _Constants(dict[tuple[Any, type, Any], Native]):
    """0-d native arrays of Python scalars, so that `x + 1` makes its 1 once.

    The key holds the class, as True == 1 == 1.0, and of a zero what it is written as. A scalar
    that takes a default dtype is looked up by that dtype, as defaults differ by context.
    """

    MOST: Final = 4096
    """Entries kept; more than a program has literals, few enough to forget."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._by_dtype: dict[tuple[Any, ...], Native] = {}

    def __missing__(self, key: tuple[Any, type, Any]) -> Native:
        value, kind, native_dtype = key
        if type(value) is str:
            value = kind(value) if kind is not bool else False  # `zero` of it, read back
        beside = self._home.dtypes[native_dtype].name
        name = _dtypes.weak(kind, beside)
        if _dtypes.promoted(name, beside) != name:
            raise ArrayMustBeCast
        constant = self.named(value, name)
        if name == beside and not (kind is complex and _has_zero(value)):
            self[key] = constant
        return constant

    def named(self, value: Any, name: str) -> Native:
        """The 0-d native array of a Python scalar in the dtype `name`.

        It is made once, and kept. Raises OverflowError for an integer that the dtype cannot hold.
        """
        is_plain = value and not (type(value) is complex and _has_zero(value))
        exact = (value if is_plain else zero(value), type(value), name)
        constant = self._by_dtype.get(exact)
        if constant is None:
            constant = self._home.constant(value, name)
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
"""Functions that stand for powers by a Python number where there are such, and the kinds of dtypes for which they do.

They take a half to a hundredth of the time of `pow` on large arrays, and round as well or, the cube, by one unit worse.
Of complex numbers they round better.
"""


class _Powers(dict[tuple[Any, type, Any], "str | None"]):
    """Functions for powers by Python numbers.

    They are kept, so that `x ** 2` looks for its square once.
    """

    def __init__(self, home: Home) -> None:
        self._home = home

    def __missing__(self, key: tuple[Any, type, Any]) -> str | None:
        exponent, kind, native_dtype = key
        name, kinds = POWERS[exponent]
        beside = self._home.dtypes[native_dtype].kind
        # A float makes floats of integers first, and a complex number complex numbers of all.
        found = name if beside in kinds and (kind is int or (kind is float and beside not in "iu")) else None
        if found is not None:
            try:
                self._home.backend.function(found)
            except _errors.UnsupportedError:
                found = None
        self[key] = found
        return found


@dataclass(frozen=True)
class Library:
    """A row of the registry: what is known of a library before its import."""

    name: str
    module: str
    """The module with the contract of `anyarray.backends`."""
    package: str
    """The package whose presence means that the library is installed."""
    kinds: tuple[str, ...]
    """Kinds of devices that names may ask for; one kind is left out of names."""
    distributions: tuple[str, ...] = ()
    """Names under which it is published; the first is asked for in the install line."""
    roots: tuple[str, ...] = ()
    """Top-level packages that define its array classes."""
    extra: str | None = None
    """Our extra that installs it."""
    has_derivatives: bool = False
    """Whether errors name it to who wants derivatives."""
    registers_classes: bool = False
    """Whether its own functions know a class only from when it was registered with it."""

    @property
    def is_installed(self) -> bool:
        """Whether the library can be found; imports nothing."""
        return self.package in sys.modules or importlib.util.find_spec(self.package) is not None

    @property
    def version(self) -> str | None:
        """Its installed version, or None; imports nothing of it."""
        from importlib import metadata  # 20 ms, which `import anyarray` need not take

        for distribution in self.distributions:
            try:
                return metadata.version(distribution)
            except metadata.PackageNotFoundError:
                continue
        return None

    @property
    def install_line(self) -> str:
        """The command that installs it."""
        return f'pip install "anyarray[{self.extra}]"' if self.extra else f"pip install {self.package}"

    def is_loaded(self) -> bool:
        """Whether its backend module has been imported."""
        return self.name in _loaded


LIBRARIES: Final[dict[str, Library]] = {
    row.name: row
    for row in (
        Library("numpy", "anyarray.backends.numpy", "numpy", ("cpu",), ("numpy",), ("numpy",)),
        Library(
            "tf", "anyarray.backends.tensorflow", "tensorflow", ("cpu", "gpu", "tpu"),
            ("tensorflow", "tensorflow-cpu", "tf-nightly"), ("tensorflow", "tf_keras"), "tensorflow",
            has_derivatives=True, registers_classes=True,
        ),
        Library(
            "jax", "anyarray.backends.jax", "jax", ("cpu", "gpu", "tpu"),
            ("jax",), ("jax", "jaxlib"), "jax", has_derivatives=True, registers_classes=True,
        ),
        Library(
            "cupy", "anyarray.backends.cupy", "cupy", ("gpu",),
            ("cupy-cuda12x", "cupy-cuda13x", "cupy-cuda11x", "cupy"), ("cupy",), "cupy",
        ),
    )
}  # fmt: skip
"""The libraries that anyarray brings a backend for. A new one is a row here and a file."""

ALIASES: Final = {"tensorflow": "tf", "cpu": "numpy"}
"""Other names of libraries. NumPy calls its only device "cpu", which code for several libraries hands on."""

_loaded: dict[str, _Loaded] = {}
_backends: dict[str, Backend] = {}
_library_by_class: dict[type, Library | None] = {}
MOST_CLASSES: Final = 1 << 12
"""Classes of which is kept what they are: a program may make them without end."""


@functools.cache
def _registered() -> dict[str, Library]:
    """Libraries that other distributions register; imports none of them."""
    from importlib import metadata  # 20 ms, which `import anyarray` need not take

    found = {}
    for point in metadata.entry_points(group="anyarray.backends"):
        root = point.module.partition(".")[0]
        distribution = (point.dist.name,) if point.dist else ()
        found[point.name] = Library(point.name, point.module, root, ("cpu", "gpu", "tpu"), distribution)
    return found


def register(library: Library) -> None:
    """Add a library to those that are known."""
    LIBRARIES.setdefault(library.name, library)


def libraries() -> dict[str, Library]:
    """Every known library by name, ours first; imports none of them."""
    return {**LIBRARIES, **{k: v for k, v in _registered().items() if k not in LIBRARIES}}


class _Loaded:
    """A library with its backend module imported: functions and devices."""

    def __init__(self, library: Library, module: ModuleType) -> None:
        self.library = library
        self.module = module
        self.namespace = getattr(module, "namespace", None)
        self.array_types: tuple[type, ...] = tuple(getattr(module, "ARRAY_TYPES", ()))
        self.promotes = bool(getattr(module, "PROMOTES", False))
        self.device_of: Callable[[Native], Any] = self.hook("device_of")
        self.backends: dict[Any, Backend] = {}
        """By native device, as they are met."""
        self.devices: dict[str, list[Any]] = {k: list(v) for k, v in self.hook("devices")().items() if v}

    def hook(self, name: str) -> Callable[..., Any]:
        """A hook of the contract: the module's own, else the default.

        The default needs the namespace only.
        """
        own = getattr(self.module, name, None)
        if own is not None:
            return own  # type: ignore[no-any-return]  # checked by the contract's test
        return _DEFAULT_HOOKS[name](self.namespace)


_adopted: list[tuple[type, Callable[..., Native], Callable[..., Any]]] = []


def adopt_everywhere(kind: type, unwrap: Callable[[Any, str], Native], wrap: Callable[[Native, str], Any]) -> None:
    """Let instances of a class go in and out of every library's transforms.

    Libraries take them by the contract's hook `adopt`, when they are loaded, or by `adopt_in_imported`.
    """
    _adopted.append((kind, unwrap, wrap))


unadopted: Final[dict[str, Library]] = {row.package: row for row in LIBRARIES.values() if row.registers_classes}
"""Libraries that register classes and have none of ours yet, by package."""
are_absent: Final[Callable[[Iterable[str]], bool]] = sys.modules.keys().isdisjoint
"""Whether none of some packages was imported."""


def adopt_in_imported() -> None:
    """Let libraries that were imported know our classes, before any is loaded.

    Their devices stay as they are.
    """
    for package, library in list(unadopted.items()):
        module = sys.modules.get(package)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            unadopted.pop(package, None)
            with contextlib.suppress(Exception):  # one that does not work says so when it is loaded
                _adopt_in(library, importlib.import_module(library.module))


def _adopt_in(library: Library, module: ModuleType) -> None:
    """Hand our classes to a library's hook, once."""
    adopt = getattr(module, "adopt", None)
    with _loading:
        if adopt is not None and library.name not in _adopting:
            _adopting.add(library.name)
            for kind, unwrap, wrap in _adopted:
                name = library.name
                adopt(kind, functools.partial(unwrap, library=name), functools.partial(wrap, library=name))


_adopting: Final[set[str]] = set()
"""Names of the libraries that have our classes."""


def load(library: Library) -> _Loaded:
    """Import the library's backend module, once.

    Raises BackendNotInstalledError with the line that installs it.
    """
    loaded = _loaded.get(library.name)
    if loaded is not None:
        return loaded
    if not library.is_installed:
        raise _errors.BackendNotInstalledError(
            f'backend "{library.name}" is known, but {library.package} is not installed. Run: {library.install_line}'
        )
    with _loading:
        if library.name not in _loaded:
            loaded = _Loaded(library, importlib.import_module(library.module))
            _adopt_in(library, loaded.module)
            unadopted.pop(library.package, None)
            _loaded[library.name] = loaded
        return _loaded[library.name]


_loading: Final = threading.RLock()
"""Held while a library is loaded: a thread that needs it meanwhile waits."""


class Backend:
    """A library on a device, such as "numpy", "jax-gpu" or "tf-cpu:1".

    One object for each, compared by identity; it is also what `x.device` gives and what `device=` takes.
    """

    __slots__ = (
        "__weakref__", "_loaded", "_native_dtype", "free", "index", "is_deleted", "is_differentiated", "is_immutable",
        "kind", "library", "name", "native_device", "placed", "read_in_place", "routes",
    )  # fmt: skip

    def __init__(self, loaded: _Loaded, kind: str, index: int) -> None:
        self._loaded = loaded
        self.library = loaded.library.name
        """The library's name, as "jax"."""
        self.kind = kind
        """cpu, gpu or tpu."""
        self.index = index
        """Which of the devices of that kind, from 0."""
        self.name = _name(loaded.library, kind, index)
        self.native_device = loaded.devices[kind][index]
        """The library's own object or name for the device."""
        self.is_immutable = bool(getattr(loaded.module, "IS_IMMUTABLE", False))
        """Whether nobody can write to the library's arrays."""
        self.is_deleted: Callable[[Native], bool] | None = getattr(loaded.module, "is_deleted", None)
        """Tells whether the memory of an array was given away; None if that cannot happen."""
        self.is_differentiated: Callable[[Native], bool] | None = getattr(loaded.module, "is_differentiated", None)
        """Tells whether a derivative is being computed of an array that has values; None if that cannot happen."""
        self.read_in_place: Callable[[Native], Any] | None = getattr(loaded.module, "read_in_place", None)
        """What gives an ndarray of a buffer in less time than `to_numpy`; None without such."""
        self._native_dtype = loaded.hook("native_dtype")
        self.routes: dict[Backend, Any] = {}
        """How arrays go to other backends, as `_transfer` has found."""
        self.free = Home(self, placed=False)
        self.placed = Home(self, placed=True)

    def __repr__(self) -> str:
        return f'device("{self.name}")'

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return backend_of_name, (self.name,)

    def hook(self, name: str) -> Callable[..., Any]:
        """A hook of the contract, not scoped to the device."""
        return self._loaded.hook(name)

    def has_hook(self, name: str) -> bool:
        """Whether the library's module defines a hook that has no default."""
        return hasattr(self._loaded.module, name)

    def dtype_for(self, wanted: DType) -> Any:
        """The library's dtype for one of ours; NumPy's is at hand."""
        return wanted.dtype if self.library == "numpy" else self.native_dtype(wanted.name)

    def native_dtype(self, name: str) -> Any:
        """The library's dtype of a name of `_dtypes.KNOWN`.

        Raises TypeError if the library or the device has none of that name.
        """
        try:
            return self._native_dtype(name)
        except (AttributeError, KeyError) as error:
            raise _errors.ArgumentTypeError(
                f"dtype: {self} has no {name}. Give another dtype, or choose a default: xp.default_dtypes(...)"
            ) from error

    def has_dtype(self, name: str) -> bool:
        """Whether the library has that dtype."""
        try:
            return self.native_dtype(name) is not None
        except (AttributeError, KeyError, TypeError, ImportError):
            return False

    def function(self, name: str) -> Callable[..., Any]:
        """The native function `name`, ready to be called for this device.

        The backend file's own, else its namespace's (linalg and fft included), else the composed one.
        Raises UnsupportedError if there is none.
        """
        loaded = self._loaded
        if name in _DEFAULT_HOOKS and name not in ("getitem", "setitem"):
            return loaded.hook(name)  # about an array, not a computation with it
        function = loaded.hook(name) if name in _DEFAULT_HOOKS else getattr(loaded.module, name, None)
        is_own = callable(function)
        # The chapters first: NumPy's own `trace` and `diagonal` take the first two axes, those of its linalg the last.
        for chapter in ("linalg", "fft", ""):
            if not callable(function):
                space = getattr(loaded.namespace, chapter, None) if chapter else loaded.namespace
                function = getattr(space, name, None)
        if not callable(function):
            composed = importlib.import_module("anyarray.backends._composed")
            if name not in composed.__all__:
                raise _errors.unsupported(name, self)
            return functools.partial(getattr(composed, name), self.free)
        scoped = loaded.hook("scoped")(function, self.native_device)
        operands = None if is_own or loaded.promotes else declared.get(name)
        if operands is None:
            return scoped  # type: ignore[no-any-return]  # checked by the contract's test
        promoting = importlib.import_module("anyarray.backends._promoting").promoting
        return promoting(self.free, scoped, operands)  # type: ignore[no-any-return]  # as its annotation says


def _name(library: Library, kind: str, index: int) -> str:
    stem = library.name if len(library.kinds) == 1 else f"{library.name}-{kind}"
    return f"{stem}:{index}" if index else stem


def parse(name: str) -> tuple[Library, str | None, int]:
    """Library, kind and index that a name means; imports nothing.

    The kind is None for the best device. Raises BackendNotFoundError, which says what is near and what is known.
    """
    known = LIBRARIES
    stem, _, index = name.partition(":")
    if stem.partition("-")[0] not in {*known, *ALIASES}:
        known = libraries()
    for library, kind in _splits(stem):
        row = known.get(ALIASES.get(library, library))
        if row is not None and (kind is None or kind in row.kinds) and (not index or index.isdecimal()):
            return row, kind, int(index or 0)
    import difflib  # 2 ms, which `import anyarray` need not take

    near = difflib.get_close_matches(name.lower(), _names(known), n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    raise _errors.BackendNotFoundError(f'backend "{name}" is unknown.{hint} Known: {", ".join(known)}')


def _splits(stem: str) -> Iterable[tuple[str, str | None]]:
    """Ways to read a name as library and kind.

    There are several, as a library's name may hold a hyphen.
    """
    yield stem, None
    library, hyphen, kind = stem.rpartition("-")
    if hyphen:
        yield library, kind


def _names(known: dict[str, Library]) -> list[str]:
    stems = [*known, *ALIASES, "auto"]
    return stems + [f"{row.name}-{kind}" for row in known.values() if len(row.kinds) > 1 for kind in row.kinds]


def backend_of_name(name: str) -> Backend:
    """The backend of that name; imports its library at first use.

    Raises BackendNotFoundError, BackendNotInstalledError or DeviceNotFoundError.
    """
    found = _backends.get(name)
    if found is None:
        library, kind, index = parse(name)
        loaded = load(library)
        if kind is None:
            kind = next(iter(loaded.devices), library.kinds[0])
        here = loaded.devices.get(kind, [])
        if index >= len(here):
            has = ", ".join(_name(library, k, i) for k, row in loaded.devices.items() for i in range(len(row)))
            raise _errors.DeviceNotFoundError(
                f'backend "{name}": {library.package} is installed, but finds no such device on this machine. '
                + (f"It has: {has}" if has else f"It has no device at all; it needs a {kind}")
            )
        canonical = _name(library, kind, index)
        found = _backends.get(canonical)
        if found is None:
            found = _backends.setdefault(canonical, Backend(loaded, kind, index))
        _backends[name] = found
    return found


def as_backend(device: Any) -> Backend:
    """The backend that `device=` means: a Backend or a name."""
    if type(device) is Backend:
        return device
    if isinstance(device, str):
        return backend_of_name(device)
    raise _errors.ArgumentTypeError(
        f'device: must be a device or its name, such as "numpy" or "jax-gpu:1", not {type(device).__name__}'
    )


def loaded_backends() -> list[Backend]:
    """One backend for each device of each loaded library."""
    return [
        backend_of_name(_name(one.library, kind, index))
        for one in list(_loaded.values())
        for kind, row in one.devices.items()
        for index in range(len(row))
    ]


def backend_of_native(native: Native) -> Backend | None:
    """The backend on which a native array lives, or what a variable holds.

    None if no backend knows its class.
    """
    kind = type(native)
    try:
        library = _library_by_class[kind]
    except KeyError:
        library = _met(kind)
    if library is None:
        return backend_of_native(native.value) if kind in VARIABLES else None
    loaded = load(library)
    device = loaded.device_of(native)
    try:
        return loaded.backends[device]
    except KeyError:
        found = loaded.backends[device] = _backend_on(loaded, device)
        return found


VARIABLES: Final[set[type]] = set()
"""Classes of variables of Keras, as they are met. Their `value` is a native array, or a variable that is one to us."""


def is_of_framework(kind: type) -> bool:
    """Whether a class is one of arrays or variables of a library but NumPy."""
    library = _library_by_class[kind] if kind in _library_by_class else _met(kind)
    return kind in VARIABLES if library is None else library.name != "numpy"


def _met(kind: type) -> Library | None:
    """The library whose array class `kind` is, noted."""
    library = _library_of(kind)
    if len(_library_by_class) < MOST_CLASSES:
        _library_by_class[kind] = library
    if library is None and _is_of_variables(kind):
        VARIABLES.add(kind)
    return library


def _is_of_variables(kind: type) -> bool:
    # No backend knows them, as Keras runs on any of several libraries; there the variables are of one class.
    roots = {base.__module__.partition(".")[0] for base in kind.__mro__}
    return "keras" in roots and hasattr(kind, "value") and hasattr(kind, "assign")


def _backend_on(loaded: _Loaded, device: Any) -> Backend:
    """The backend of one of a library's devices.

    None is for an array that is bound to no device, and means the best.
    """
    for kind, row in loaded.devices.items():
        if device is None or device in row:
            return backend_of_name(_name(loaded.library, kind, 0 if device is None else row.index(device)))
    raise _errors.DeviceNotFoundError(f"{loaded.library.name}: an array is on {device}, which is none of its devices")


def _library_of(kind: type) -> Library | None:
    """The library whose array class `kind` is.

    Imports only what has made an array already.
    """
    root = kind.__module__.partition(".")[0]
    for library in LIBRARIES.values():
        if root in library.roots:
            return library if issubclass(kind, load(library).array_types) else None
    if issubclass(kind, np.ndarray) and kind.__array_ufunc__ is not np.ndarray.__array_ufunc__:
        return None  # it means more than its numbers, such as a unit, which would be lost
    for loaded in list(_loaded.values()):
        if issubclass(kind, loaded.array_types):
            return loaded.library
    for library in _registered().values():
        if library.package == root and issubclass(kind, load(library).array_types):
            return library
    return None


def is_leak(error: BaseException) -> bool:
    """Whether a library complains of an array that outlived its trace."""
    return any(one.hook("is_leak")(error) for one in list(_loaded.values()))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a library complains that memory ran out."""
    return any(one.hook("is_out_of_memory")(error) for one in list(_loaded.values()))


def refusal_of(error: BaseException) -> str | None:
    """What a library has against an argument, told by an error of its own.

    None for any other error.
    """
    return next((text for one in list(_loaded.values()) if (text := one.hook("refusal_of")(error))), None)


def _from_numpy(namespace: Any, a: np.ndarray[Any, Any], device: Any) -> Native:
    return namespace.asarray(np.array(a, order="C"), device=device)


def _to_numpy(x: Native) -> np.ndarray[Any, Any]:
    return np.asarray(np.from_dlpack(x) if hasattr(x, "__dlpack__") else x)


def _complete(x: Native, key: Any) -> Any:
    """The key, with `...` after fewer slices and integers than `x` has axes.

    The standard leaves open what such a key means without it.
    """
    entries = key if type(key) is tuple else (key,)
    is_basic = all(type(one) in (int, slice) or one is None for one in entries)
    return (*entries, Ellipsis) if is_basic and sum(one is not None for one in entries) < len(x.shape) else key


def _setitem(namespace: Any, x: Native, key: Any, value: Native, exclusive: bool) -> Native:
    x = namespace.asarray(x, copy=True)  # even if `exclusive`: a view may hold the memory inside of x, but not x
    x[_complete(x, key)] = namespace.astype(value, x.dtype)
    return x


_DEFAULT_HOOKS: Final[dict[str, Callable[[Any], Callable[..., Any]]]] = {
    "devices": lambda namespace: lambda: {"cpu": [namespace.__array_namespace_info__().default_device()]},
    "device_of": lambda namespace: operator.attrgetter("device"),
    "native_dtype": lambda namespace: functools.partial(getattr, namespace),
    "dtype_of": lambda namespace: operator.attrgetter("dtype"),
    "shape_of": lambda namespace: operator.attrgetter("shape"),
    "is_traced": lambda namespace: lambda x: False,
    "plain": lambda namespace: lambda x: x,
    "to_numpy": lambda namespace: _to_numpy,
    "from_numpy": lambda namespace: functools.partial(_from_numpy, namespace),
    "to_device": lambda namespace: lambda x, device: x.to_device(device),
    "scalar": lambda namespace: lambda value, dtype, device: namespace.asarray(value, dtype=dtype, device=device),
    "getitem": lambda namespace: lambda x, key: x[_complete(x, key)],
    "setitem": lambda namespace: functools.partial(_setitem, namespace),
    "exported": lambda namespace: lambda x: namespace.asarray(x, copy=True),
    "duplicate": lambda namespace: lambda x: namespace.asarray(x, copy=True),
    "scoped": lambda namespace: lambda function, device: function,
    "synchronize": lambda namespace: lambda x: None,
    "is_leak": lambda namespace: lambda error: False,
    "is_out_of_memory": lambda namespace: lambda error: isinstance(error, MemoryError),
    "refusal_of": lambda namespace: lambda error: None,
}
"""Hooks of a library whose namespace follows the standard, by name: made of the namespace."""

for _internal in (*_DEFAULT_HOOKS, "from_dlpack", *[name for name, _ in POWERS.values()]):
    declare(_internal)
