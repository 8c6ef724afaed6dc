"""Backends, which are libraries on devices: names, registry, native functions.

A name is `LIBRARY`, `LIBRARY-KIND` or `LIBRARY-KIND:INDEX`: "jax" (JAX's best device), "jax-gpu",
"jax-gpu:1". A library that has one kind of device leaves the kind out: "numpy", "cupy:1". So does Dask for blocks of
NumPy: "dask", beside "dask-gpu". One backend is
one object, compared by identity, and it is also the standard's device object.

A library is imported when a backend of it is first used, never before. `anyarray.backends` has the contract of
its module. Other distributions register a backend by the entry-point group "anyarray.backends".
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import operator
import re
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np

from anyarray._base import errors
from anyarray._base.dtypes import DType
from anyarray._registry.default_hooks import DEFAULT_HOOKS
from anyarray._registry.home import Composition, Home, Native, compositions, declared
from anyarray._registry.libraries import ALIASES, LIBRARIES, Library, libraries, registered

_loaded: dict[str, _Loaded] = {}

_backends: dict[str, Backend] = {}

_library_by_class: dict[type, Library | None] = {}

MOST_CLASSES: Final = 1 << 12
"""The largest size of `_library_by_class`: a program may create any number of classes."""


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
        """Backends by native device; a cache."""
        self.devices: dict[str, list[Any]] = {k: list(v) for k, v in self.hook("devices")().items() if v}

    def devices_of(self, kind: str) -> list[Any]:
        """The devices of a kind.

        Those that belong to another library are asked for when they are needed.
        """
        if kind not in self.devices and hasattr(self.module, "devices_of"):
            self.devices[kind] = self.module.devices_of(kind)
        return self.devices.get(kind, [])

    def hook(self, name: str) -> Callable[..., Any]:
        """A hook of the contract: the module's own, else the default."""
        own = getattr(self.module, name, None)
        if own is not None:
            return own  # type: ignore[no-any-return]  # checked by the contract's test
        return DEFAULT_HOOKS[name](self.namespace)


_adopted: list[tuple[type, Callable[..., Native], Callable[..., Any]]] = []


def adopt_everywhere(kind: type, unwrap: Callable[[Any, str], Native], wrap: Callable[[Native, str], Any]) -> None:
    """Register a class with every library, whose transforms then accept it.

    The contract's hook `adopt` does so for a library, when it is loaded or by `adopt_in_imported`.
    """
    _adopted.append((kind, unwrap, wrap))


unadopted: Final[dict[str, Library]] = {row.package: row for row in LIBRARIES.values() if row.registers_classes}
"""Libraries with which our classes must be registered but are not yet, by package."""

are_absent: Final[Callable[[Iterable[str]], bool]] = sys.modules.keys().isdisjoint
"""Whether none of some packages was imported."""


def adopt_in_imported() -> None:
    """Register our classes with libraries that the user imported.

    This does not load their backends, so no device is initialized.
    """
    for package, library in list(unadopted.items()):
        module = sys.modules.get(package)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            unadopted.pop(package, None)
            with contextlib.suppress(Exception):  # a broken installation raises again when its backend is loaded
                _adopt_in(library, importlib.import_module(library.module))


def _adopt_in(library: Library, module: ModuleType) -> None:
    """Call a library's hook `adopt` with our classes, once."""
    adopt = getattr(module, "adopt", None)
    with _loading:
        if adopt is not None and library.name not in _adopting:
            _adopting.add(library.name)
            for kind, unwrap, wrap in _adopted:
                name = library.name
                adopt(kind, functools.partial(unwrap, library=name), functools.partial(wrap, library=name))


_adopting: Final[set[str]] = set()
"""Names of the libraries with which our classes are registered."""


def is_loaded(library: Library) -> bool:
    """Whether the library's backend module has been imported."""
    return library.name in _loaded


def load(library: Library) -> _Loaded:
    """Import the library's backend module, once.

    Raises BackendNotInstalledError with the line that installs it.
    """
    loaded = _loaded.get(library.name)
    if loaded is not None:
        return loaded
    if not library.is_installed:
        raise errors.BackendNotInstalledError(
            f'backend "{library.name}" is known, but {library.package} is not installed. Run: {library.install_line}'
        )
    if library.missing:
        raise errors.BackendNotInstalledError(
            f'backend "{library.name}" needs {", ".join(library.missing)}, which is not installed. '
            f"Run: pip install {' '.join(library.missing).replace('_', '-')}"
        )
    with _loading:
        if library.name not in _loaded:
            with _random_states_kept():
                loaded = _Loaded(library, importlib.import_module(library.module))
            _adopt_in(library, loaded.module)
            unadopted.pop(library.package, None)
            _loaded[library.name] = loaded
        return _loaded[library.name]


@contextlib.contextmanager
def _random_states_kept() -> Generator[None]:
    """Leave the global generators of Python and NumPy as they were.

    `import jax` and `import tensorflow` draw from both. A program that sets a seed before its first array imports them
    afterwards, and must draw the same numbers as without them.
    """
    drawn, before = sys.modules.get("random"), sys.modules.get("numpy.random")
    state = None if drawn is None else drawn.getstate()
    bits = None if before is None else before.get_bit_generator().state
    try:
        yield
    finally:
        if drawn is not None:
            drawn.setstate(state)
        if before is not None:
            before.get_bit_generator().state = bits


_loading: Final = threading.RLock()
"""The lock held while a library is loaded."""


class Backend:
    """A library on a device, such as "numpy", "jax-gpu" or "tf-cpu:1".

    There is one object for each, compared by identity. It is the standard's device object: `x.device`, `device=`.
    """

    __slots__ = (
        "__weakref__", "_loaded", "_native_dtype", "_native_dtypes", "free", "has_graph", "has_views", "holders",
        "index", "is_deleted", "is_differentiated", "is_immutable", "is_in_place", "kind", "library", "name",
        "native_device", "number", "placed", "read_in_place", "routes", "written",
    )  # fmt: skip

    def __init__(self, loaded: _Loaded, kind: str, index: int, mesh: Any = None) -> None:
        self._loaded = loaded
        self.library = loaded.library.name
        """The library's name, such as "jax"."""
        self.kind = kind
        """cpu, gpu or tpu."""
        self.index = index
        """The index among the devices of that kind, from 0."""
        self.name = _name(loaded.library, kind, index) if mesh is None else f"{self.library}-{mesh}"
        self.native_device = loaded.devices[kind][index] if mesh is None else mesh
        """The library's own object or name for the device."""
        self.is_immutable = bool(getattr(loaded.module, "IS_IMMUTABLE", False))
        """Whether the library's arrays are immutable."""
        self.has_views = bool(getattr(loaded.module, "HAS_VIEWS", False))
        """Whether its arrays have views, which are written in place."""
        self.holders: Callable[[Native], int] | None = getattr(loaded.module, "holders", None)
        """The number of other holders of an array's memory; None if it is the reference count of `base`."""
        self.has_graph: Callable[[Native], bool] | None = getattr(loaded.module, "has_graph", None)
        """Whether the user's own code may differentiate an eager array; None if that cannot be known."""
        self.is_deleted: Callable[[Native], bool] | None = getattr(loaded.module, "is_deleted", None)
        """Whether the buffer of an array was donated; None if that cannot happen."""
        self.is_differentiated: Callable[[Native], bool] | None = getattr(loaded.module, "is_differentiated", None)
        """Whether a derivative is being computed of an eager array; None if that cannot happen."""
        self.is_in_place: Callable[[Native], bool] | None = getattr(loaded.module, "is_in_place", None)
        """A faster test whether an array is written in place; None if there is none."""
        self.number: Callable[[Native], complex | None] | None = getattr(loaded.module, "number", None)
        """Returns the Python number of a 0-d array, faster than `to_numpy`; None if there is no such function."""
        self.read_in_place: Callable[[Native], Any] | None = getattr(loaded.module, "read_in_place", None)
        """Returns a view of an array as an ndarray, faster than `to_numpy`; None if there is no such function."""
        self.written: Callable[[Native, Any, Any], bool] | None = getattr(loaded.module, "written", None)
        """Writes a value in place, faster than `setitem`; None if there is no such function."""
        self._native_dtype = loaded.hook("native_dtype")
        self._native_dtypes: dict[int, Any] = {}
        """The library's dtypes used so far, by NumPy's number; compiled calls read them."""
        self.routes: dict[Backend, Any] = {}
        """Routes to other backends; a cache of `_memory.transfer.route`."""
        self.free = Home(self, placed=False)
        self.placed = Home(self, placed=True)

    def __repr__(self) -> str:
        return f'device("{self.name}")'

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return sys.modules["anyarray"].device, (self.name,)

    def split(self, axis: int) -> Split:
        """A layout for `to_device`: `axis` is split over all devices.

        `x.to_device(mesh.split(1))` lays a matrix out by columns.
        An axis that cannot be split evenly is replicated.
        """
        if self.kind != "mesh":
            raise errors.UnsupportedError(f"split: {self} is one device. Make a mesh: xp.mesh(...)")
        return Split(self, operator.index(axis))

    def hook(self, name: str) -> Callable[..., Any]:
        """A hook of the contract, not scoped to the device."""
        return self._loaded.hook(name)

    def has_hook(self, name: str) -> bool:
        """Whether the library's module defines a hook that has no default."""
        return hasattr(self._loaded.module, name)

    def dtype_for(self, wanted: DType) -> Any:
        """The library's dtype for a DType."""
        if self.library == "numpy":
            return wanted.dtype
        found = self.native_dtype(wanted.name)
        if wanted.dtype.isbuiltin == 1:  # numbers of other dtypes differ between processes
            self._native_dtypes[wanted.dtype.num] = found
        return found

    def native_dtype(self, name: str) -> Any:
        """The library's dtype of a name of `_base.dtypes.KNOWN`.

        Raises TypeError if the library or the device has none of that name.
        """
        try:
            return self._native_dtype(name)
        except (AttributeError, KeyError) as error:
            raise errors.ArgumentTypeError(
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

        It is the backend file's own, else the namespace's (linalg and fft included), else the composed function. A
        composed function that does not name the library takes precedence over the namespace's.
        Raises UnsupportedError if there is none.
        """
        loaded = self._loaded
        composition = compositions.get(name)
        if name in DEFAULT_HOOKS and name not in ("getitem", "setitem"):
            return loaded.hook(name)  # it computes nothing, so it needs no device scope
        if composition is not None and composition.slopes is not None:
            return self._special(name, composition, composition.slopes)
        function = loaded.hook(name) if name in DEFAULT_HOOKS else getattr(loaded.module, name, None)
        is_own = callable(function)
        # linalg first: NumPy's own `trace` and `diagonal` take the first two axes, those of its linalg the last two.
        for chapter in ("linalg", "fft", ""):
            if not callable(function) and (composition is None or self.library in composition.own):
                space = getattr(loaded.namespace, chapter, None) if chapter else loaded.namespace
                function = getattr(space, name, None)
        if not callable(function):
            if composition is not None:
                return self._composed(composition)
            composed = importlib.import_module("anyarray.backends._shared.composed")
            if name not in composed.__all__:
                raise errors.unsupported(name, self)
            return functools.partial(getattr(composed, name), self.free)
        scoped = loaded.hook("scoped")(function, self.native_device)
        operands = None if is_own or loaded.promotes else declared.get(name)
        if operands is None:
            return scoped  # type: ignore[no-any-return]  # checked by the contract's test
        promoting = importlib.import_module("anyarray.backends._shared.promoting").promoting
        return promoting(self.free, scoped, operands)  # type: ignore[no-any-return]  # as its annotation says

    def _composed(self, composition: Composition) -> Callable[..., Any]:
        made = functools.partial(composition.function, self.free)
        compiling = getattr(self._loaded.module, "compiled_composition", None)
        return compiling(made, self.native_device) if compiling and composition.reads_no_values else made

    def _special(
        self, name: str, composition: Composition, slopes: Sequence[Callable[..., Any] | None]
    ) -> Callable[..., Any]:
        """A special function, from the module `SPECIAL` or composed."""
        loaded = self._loaded
        module = getattr(loaded.module, "SPECIAL", None)
        special = module and importlib.import_module(module)
        calling = getattr(special, "composed", lambda function: function)
        own = getattr(special, name, None)
        made = loaded.hook("scoped")(own, self.native_device) if own else calling(self._composed(composition))
        if slopes and self.has_hook("with_slopes"):
            given = [one and calling(functools.partial(one, self.free)) for one in slopes]
            made = loaded.hook("with_slopes")(name, made, given)
        of_floats = importlib.import_module("anyarray.backends._shared.promoting").of_floats
        return of_floats(self.free, made)  # type: ignore[no-any-return]  # as its annotation says


def _name(library: Library, kind: str, index: int) -> str:
    stem = library.name if kind == library.unnamed else f"{library.name}-{kind}"
    return f"{stem}:{index}" if index else stem


_MESH: Final = re.compile(r"(\w+(?:-\w+)?)-mesh\(((?: ?\w+=\d+,?)*)\)(?:\[([\d, ]+)\])?")
"""The name of a mesh: its library, axes, and the numbers of its devices if they are not the first ones."""


def parse(name: str) -> tuple[Library, str | None, int]:
    """The library, kind and index of a name; imports nothing.

    The kind is None for the best device. Raises BackendNotFoundError, which suggests a similar name.
    """
    known = LIBRARIES
    mesh = _MESH.fullmatch(name)
    stem, _, index = (mesh[1] if mesh else name).partition(":")
    if stem.partition("-")[0] not in {*known, *ALIASES}:
        known = libraries()
    for library, kind in _splits(stem):
        row = known.get(ALIASES.get(library, library))
        if row is not None and (kind is None or kind in row.kinds) and (not index or index.isdecimal()):
            return row, kind, int(index or 0)
    kind = "gpu" if stem.lower() in ("cuda", "rocm") else stem.lower()
    rows = [row for row in known.values() if kind in row.kinds and row.is_installed and not row.is_lazy]
    if rows:
        names = " or ".join([f'"{row.name}-{kind}"' if row.kinds[1:] else f'"{row.name}"' for row in rows])
        raise errors.BackendNotFoundError(
            f'backend "{name}" is a device, and the name of a backend begins with its library. Installed: {names}'
        )
    import difflib  # 2 ms, so not at `import anyarray`

    near = difflib.get_close_matches(name.lower(), _names(known), n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    raise errors.BackendNotFoundError(f'backend "{name}" is unknown.{hint} Known: {", ".join(known)}')


def _splits(stem: str) -> Iterable[tuple[str, str | None]]:
    """Possible splits of a name into library and kind.

    There may be several, because a library's name may contain a hyphen.
    """
    yield stem, None
    library, hyphen, kind = stem.rpartition("-")
    if hyphen:
        yield library, kind


def _names(known: dict[str, Library]) -> list[str]:
    stems = [*known, *ALIASES, "auto"]
    return stems + [f"{row.name}-{kind}" for row in known.values() if len(row.kinds) > 1 for kind in row.kinds]


known: Final = _backends.get
"""The backend of a name that was used before, or None."""


def backend_of_name(name: str) -> Backend:
    """The backend of that name; imports its library at first use.

    Raises BackendNotFoundError, BackendNotInstalledError or DeviceNotFoundError.
    """
    found = _backends.get(name)
    if found is None and (parts := _MESH.fullmatch(name)):
        axes = dict(pair.split("=") for pair in parts[2].replace(" ", "").split(",") if pair)
        return mesh(parts[1], {axis: int(length) for axis, length in axes.items()}, parts[3] or "")
    if found is None:
        library, kind, index = parse(name)
        loaded = load(library)
        if kind is None:
            kind = next(iter(loaded.devices), library.kinds[0])
        here = loaded.devices_of(kind)
        if index >= len(here):
            has = ", ".join(_name(library, k, i) for k, row in loaded.devices.items() for i in range(len(row)))
            raise errors.DeviceNotFoundError(
                f'backend "{name}": {library.package} is installed, but finds no such device on this machine. '
                + (f"It has: {has}" if has else f"It has no device at all; it needs a {kind}")
            )
        canonical = _name(library, kind, index)
        found = _backends.get(canonical)
        if found is None:
            found = _backends.setdefault(canonical, Backend(loaded, kind, index))
        _backends[name] = found
    return found


def mesh(name: str, axes: Mapping[str, int], numbers: str = "") -> Backend:
    """The backend of a mesh of a library's devices; see `interop.mesh`."""
    library, kind, _ = parse(name)
    loaded = load(library)
    make = getattr(loaded.module, "mesh", None)
    if make is None:
        raise errors.UnsupportedError(f"mesh: {library.name} has no arrays over several devices. Use jax")
    device = make(kind, axes, tuple(map(int, numbers.split(","))) if numbers else ())
    if device not in loaded.backends:
        loaded.backends[device] = _backend_on(loaded, device)
    return loaded.backends[device]


class Split(NamedTuple):
    """A mesh, and the axis of an array that is split over all its devices."""

    backend: Backend
    axis: int


def as_backend(device: Any) -> Backend:
    """The backend of an argument `device`: a Backend or a name."""
    if type(device) is Backend:
        return device
    if isinstance(device, str):
        return backend_of_name(device)
    raise errors.ArgumentTypeError(
        f'device: must be a device or its name, such as "numpy" or "jax-gpu:1", not {type(device).__name__}'
    )


def loaded_libraries() -> list[_Loaded]:
    """Each library whose backend module is imported."""
    return list(_loaded.values())


def loaded_backends() -> list[Backend]:
    """The backends of all devices of loaded libraries, and those of meshes."""
    meshes = [one for one in list(_backends.values()) if one.kind == "mesh"]
    devices = [
        backend_of_name(_name(one.library, kind, index))
        for one in list(_loaded.values())
        for kind, row in one.devices.items()
        for index in range(len(row))
    ]
    return devices + list(dict.fromkeys(meshes))


def backend_of_native(native: Native) -> Backend | None:
    """The backend on which a native array, or the value of a variable, lives.

    None if its class is not an array class of any library.
    """
    kind = type(native)
    try:
        library = _library_by_class[kind]
    except KeyError:
        library = _cached_library_of(kind)
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
"""Classes of Keras variables seen so far. Their `value` is a native array, or a variable of the library."""


def is_of_framework(kind: type) -> bool:
    """Whether a class is of arrays or variables, and not NumPy's."""
    library = _library_by_class[kind] if kind in _library_by_class else _cached_library_of(kind)
    return kind in VARIABLES if library is None else library.name != "numpy"


def _cached_library_of(kind: type) -> Library | None:
    """The library whose array class `kind` is, cached."""
    library = _library_of(kind)
    if len(_library_by_class) < MOST_CLASSES:
        _library_by_class[kind] = library
    if library is None and _is_of_variables(kind):
        VARIABLES.add(kind)
    return library


def _is_of_variables(kind: type) -> bool:
    # No backend lists their class: Keras runs on any of several libraries, and its variable class is the same on each.
    roots = {base.__module__.partition(".")[0] for base in kind.__mro__}
    return "keras" in roots and hasattr(kind, "value") and hasattr(kind, "assign")


def _backend_on(loaded: _Loaded, device: Any) -> Backend:
    """The backend of one of a library's devices.

    None means an array that is not committed to a device, which counts as the best device.
    """
    if hasattr(device, "mesh"):
        made = Backend(loaded, "mesh", 0, device)
        return _backends.setdefault(made.name, made)
    for kind in [*loaded.devices, *loaded.library.kinds]:
        row = loaded.devices_of(kind)
        if device is None or device in row:
            return backend_of_name(_name(loaded.library, kind, 0 if device is None else row.index(device)))
    raise errors.DeviceNotFoundError(f"{loaded.library.name}: an array is on {device}, which is not one of its devices")


def _library_of(kind: type) -> Library | None:
    """The library whose array class `kind` is, or None.

    Imports only a backend whose library has defined that class.
    """
    root = kind.__module__.partition(".")[0]
    for library in LIBRARIES.values():
        if root in library.roots:
            return library if issubclass(kind, load(library).array_types) else None
    if issubclass(kind, np.ndarray) and kind.__array_ufunc__ is not np.ndarray.__array_ufunc__:
        return None  # a subclass with ufuncs of its own: its meaning, such as a unit, would be lost
    for loaded in list(_loaded.values()):
        if issubclass(kind, loaded.array_types):
            return loaded.library
    for library in registered().values():
        if library.package == root and issubclass(kind, load(library).array_types):
            return library
    return None


def is_leak(error: BaseException) -> bool:
    """Whether an error is a library's error for a leaked tracer."""
    return any(one.hook("is_leak")(error) for one in list(_loaded.values()))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error is a library's out-of-memory error."""
    return any(one.hook("is_out_of_memory")(error) for one in list(_loaded.values()))


def library_of_error(error: BaseException) -> str:
    """The loaded library that raised an out-of-memory error.

    That is the library that defines its class, or else the first that recognizes it.
    """
    root = type(error).__module__.partition(".")[0]
    known = list(_loaded.values())
    found = [one.library.name for one in known if root in (one.library.package, *one.library.roots)]
    found += [one.library.name for one in known if one.hook("is_out_of_memory")(error)]
    return found[0] if found else "numpy"


def refusal_of(error: BaseException) -> str | None:
    """The message of a library's own error about an argument; else None."""
    return next((text for one in list(_loaded.values()) if (text := one.hook("refusal_of")(error))), None)
