"""Between Arrays and native arrays: `from_native`, `to_native`, `portable`."""

from __future__ import annotations

import functools
import inspect
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar, cast, overload

import numpy as np

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors, labelled, nested
from anyarray._base.functions import check_is_function, is_async, name_of, wraps
from anyarray._call.arguments import as_array
from anyarray._call.placement import native_on
from anyarray._call.wrapping import SCALARS, wrap
from anyarray._choice import choice
from anyarray._memory import second_copies, transfer
from anyarray._memory.views import guard
from anyarray._registry import registry
from anyarray._registry.home import Home, Native
from anyarray._registry.libraries import LIBRARIES
from anyarray._registry.registry import Backend
from anyarray.standard.creation import asarray, from_dlpack
from anyarray.standard.data_types import result_type

__all__ = ["compute", "from_local", "from_native", "mesh", "persist", "portable", "to_native"]

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A", bound=AnyArray)
S = TypeVar("S", contravariant=True)


def from_native(a: Native, /) -> Array:
    """An Array of a native array or variable, without a copy.

    A native array is an np.ndarray, tf.Tensor, jax.Array, torch.Tensor or cupy.ndarray. A variable is one of TensorFlow
    or Keras; the Array has its current value. The Array lives where `a` lives and is *placed* there, unless `a` is an
    ndarray. It shares memory with `a`: a write to the Array copies first, but a write to `a` changes the Array.
    `xp.asarray(a)` copies instead.
    Raises TypeError for anything else.

    >>> import anyarray as xp
    >>> import numpy as np
    >>> xp.from_native(np.arange(3)).tolist()
    [0, 1, 2]
    """
    if type(a) is not Array and registry.backend_of_native(a) is None:
        cure = ". Make an Array of it: xp.asarray(...)" if errors.holds_numbers(a) else ""
        raise errors.ArgumentTypeError(f"from_native: a must be an array of a library, not {type(a).__name__}{cure}")
    return _kept_from_writes(as_array("from_native", "a", a), a)


def mesh(library: str = "jax", /, **axes: int) -> Backend:
    """The devices of all processes as one backend, arranged in a grid.

    `axes` are the lengths of the grid by name; without any, all devices are on one axis. `library` is "jax" or a kind
    of its devices, such as "jax-gpu". By default, axis `i` of a new array is split over axis `i` of the grid if it
    divides evenly, and replicated otherwise. `x.to_device(mesh.split(1))` splits axis 1 over all devices.

    All processes make the same calls. Start them as for JAX, with `jax.distributed.initialize` before the first Array.
    Reads (`to_numpy`, `tolist`, `float`) gather the values in every process; `repr` shows shape, dtype and layout.

    Raises DeviceNotFoundError if there are fewer devices, UnsupportedError for libraries without meshes.

    >>> import anyarray as xp
    >>> one = xp.mesh("jax", rows=1)
    >>> with xp.backend(one):
    ...     total = xp.sum(xp.ones((4, 2)))
    >>> total.device, float(total)
    (device("jax-mesh(rows=1)"), 8.0)
    """
    if not all(type(length) is int for length in axes.values()):
        raise errors.ArgumentTypeError(f"mesh: lengths must be integers, not {axes}")
    return registry.mesh(library, axes)


def from_local(part: AnyArray, /, *, device: Backend | None = None) -> Array:
    """An Array on a mesh, made of one part from each process.

    Each process passes its part along the first axis. `device` is the mesh, by default the chosen backend. All parts
    have the same shape, and their length is a multiple of the number of devices of a process. In one process, `part` is
    the whole array. Raises ValueError if no mesh is chosen.

    >>> import anyarray as xp
    >>> import numpy as np
    >>> xp.from_local(np.arange(3), device=xp.mesh("jax", rows=1)).shape
    (3,)
    """
    home = choice.chosen_home(device).backend.placed
    if home.backend.kind != "mesh":
        raise errors.ArgumentValueError(
            f"from_local: device must be a mesh, not {home.backend}. Choose one: with xp.backend(xp.mesh(...))"
        )
    host = as_array("from_local", "part", part).to_numpy()
    return wrap(home.backend.hook("local_part")(host, home.backend.native_device), home)


def compute(*arrays: AnyArray) -> tuple[Array, ...]:
    """The values of several lazy Arrays, computed together, as NumPy Arrays.

    Common parts are computed once, and a common file is read once. Arrays that are not lazy are transferred to NumPy.
    The Arrays keep their values, so another read takes no time.

    >>> import anyarray as xp
    >>> low, high = xp.compute(xp.asarray(1), xp.asarray(2))
    >>> low.device, int(high)
    (device("numpy"), 2)
    """
    given, started = [as_array("compute", "arrays", one) for one in arrays], time.perf_counter()
    for backend, natives in _lazy_ones(given):
        backend.hook("computed")(*natives)
        for native in natives:
            transfer.record(native, backend, "host", "compute", "view", started, explicit=True)
    home = registry.backend_of_name("numpy").free
    return tuple(wrap(native_on(one, home, "compute", explicit=True), home) for one in given)


def persist(*arrays: AnyArray) -> tuple[Array, ...]:
    """The same Arrays, computed together and stored in blocks where they are.

    On a cluster the blocks stay in the memory of the workers. Arrays that are not lazy are returned as they are.

    >>> import anyarray as xp
    >>> (x,) = xp.persist(xp.arange(3))
    >>> x.tolist()
    [0, 1, 2]
    """
    given = tuple(as_array("persist", "arrays", one) for one in arrays)
    for backend, natives in _lazy_ones(given):
        backend.hook("persisted")(*natives)
    return given


def _lazy_ones(arrays: Sequence[Array]) -> list[tuple[Backend, list[Native]]]:
    """The lazy native arrays among these, by backend."""
    found: dict[Backend, list[Native]] = {}
    for one in arrays:
        if one._home.backend.has_hook("computed"):
            found.setdefault(one._home.backend, []).append(one._native)
    return list(found.items())


def to_native(x: Array, /, *, like: Native | Array | Backend | str | None = None) -> Native:
    """The native array of an Array, without a copy where that is safe.

    With `like`, the result is a native array of that library and device: `like` is a native array, an Array, a device
    or its name. ndarrays are read-only views; `np.array(xp.to_native(x))` is writable.

    >>> import anyarray as xp
    >>> type(xp.to_native(xp.arange(3), like="numpy")).__name__
    'ndarray'
    """
    if type(x) is not Array:
        x = as_array("to_native", "x", x)
    if like is None:
        return _exported(x, x._home.backend)
    return _exported(x, like if type(like) is Backend else _backend_like(like))


def _backend_like(like: Any) -> Backend:
    if type(like) is Array:
        return like._home.backend
    if isinstance(like, (str, Backend)):
        return registry.as_backend(like)
    found = registry.backend_of_native(like)
    if found is None:
        raise errors.ArgumentTypeError(
            f"to_native: like must be an array, a device or its name, not {type(like).__name__}"
        )
    return found


def _exported(x: Array, backend: Backend) -> Native:
    """The native array of `x` on `backend`; no write to it reaches `x`."""
    if backend.library == "numpy":
        return x._handed_out("to_native", explicit=True)
    native = native_on(x, backend.free, "to_native", explicit=True)
    if backend.is_immutable:
        second_copies.note_export(x)
        return native
    return backend.free.duplicate(native)


class Portable(Protocol[P]):
    """A function that returns an array of the kind of its argument."""

    @overload
    def __call__(self, x: A, /, *args: P.args, **kwargs: P.kwargs) -> A: ...
    @overload
    def __call__(self, **named: Any) -> Any: ...


class Converting(Protocol[P]):
    """The same for a function that accepts anything that holds numbers."""

    @overload
    def __call__(self, x: A, /, *args: P.args, **kwargs: P.kwargs) -> A: ...
    @overload
    def __call__(self, x: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    @overload
    def __call__(self, **named: Any) -> Any: ...


class PortableMethod(Protocol[S, P]):
    """A method, or a function whose second parameter is the array."""

    @overload
    def __call__(self, first: S, x: A, /, *args: P.args, **kwargs: P.kwargs) -> A: ...
    @overload
    def __call__(self, first: S, /, **named: Any) -> Any: ...
    @overload
    def __call__(self, **named: Any) -> Any: ...
    @overload
    def __get__(self, instance: None, owner: type, /) -> PortableMethod[S, P]: ...
    @overload
    def __get__(self, instance: S, owner: type | None = None, /) -> Portable[P]: ...


class ConvertingMethod(Protocol[S, P]):
    """The same for a method that accepts anything that holds numbers."""

    @overload
    def __call__(self, first: S, x: A, /, *args: P.args, **kwargs: P.kwargs) -> A: ...
    @overload
    def __call__(self, first: S, x: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    @overload
    def __call__(self, first: S, /, **named: Any) -> Any: ...
    @overload
    def __call__(self, **named: Any) -> Any: ...
    @overload
    def __get__(self, instance: None, owner: type, /) -> ConvertingMethod[S, P]: ...
    @overload
    def __get__(self, instance: S, owner: type | None = None, /) -> Converting[P]: ...


class _Decorator(Protocol):
    @overload
    def __call__(self, function: Callable[Concatenate[Array, P], Array], /) -> Converting[P]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, function: Callable[Concatenate[S, Array, P], Array], /) -> ConvertingMethod[S, P]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, function: Callable[P, R], /) -> Callable[P, R]: ...


# The first that fits is taken.
@overload
def portable(function: Callable[Concatenate[Array, P], Array], /) -> Portable[P]: ...  # type: ignore[overload-overlap]
@overload
def portable(function: Callable[Concatenate[S, Array, P], Array], /) -> PortableMethod[S, P]: ...  # type: ignore[overload-overlap]
@overload
def portable(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def portable(*, convert: bool | Sequence[str] = False) -> _Decorator: ...
def portable(function: Callable[..., Any] | None = None, /, *, convert: bool | Sequence[str] = False) -> Any:
    """Make a function of Arrays accept any arrays and return the same kind.

    This decorator is for library authors. Arguments may be np.ndarray, tf.Tensor, jax.Array, torch.Tensor,
    cupy.ndarray, variables of TensorFlow and Keras, and Arrays, also traced ones and nested in tuples, lists, dicts and
    dataclasses. The body gets Arrays. Results have the library and device of the arguments; NumPy and Python scalars do
    not decide. A container of native arrays is passed as a copy, so the caller does not see what the body writes to it.
    All other arguments are passed unchanged, including arrays of a dtype that Arrays do not support, such as strings or
    random keys. The result of an `async` function is converted after `await`.

    With `convert=True`, the parameters without a default also accept nested lists of numbers, numbers, objects of
    pandas and xarray, and objects with `__dlpack__` or `__array__`. With a list of names, those parameters do. The body
    gets an Array of each. None is accepted where it is the default. A number takes its dtype from the Arrays of the
    call, as in an expression. A list of arrays stays a list. A result with the shape of a pandas or xarray argument has
    its type and labels. If no argument is a native array, any other result is an Array.
    The function keeps its signature and docstring.
    Raises BackendMismatchError for arrays of two frameworks, TypeError for a generator function and for arguments that
    cannot be converted.

    >>> import anyarray as xp
    >>> import numpy as np
    >>> @xp.portable
    ... def double(x):
    ...     return 2 * x
    >>> double(np.arange(3)).tolist(), type(double(np.arange(3))).__name__
    ([0, 2, 4], 'ndarray')
    >>> @xp.portable(convert=True)
    ... def total(x, axis=None):
    ...     return xp.sum(x, axis=axis)
    >>> total([[1, 2], [3, 4]], axis=0).tolist()
    [4, 6]
    """
    if function is None:
        return functools.partial(portable, convert=convert)
    check_is_function("portable", function)
    if convert:
        return _converting(function, _names_of_arrays(function, convert))
    if is_async(function):

        @wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            kinds: list[Home | None] = []
            in_args = [_wrapped(one, kinds) for one in args]
            in_kwargs = {name: _wrapped(one, kinds) for name, one in kwargs.items()}
            result = await cast(Any, function)(*in_args, **in_kwargs)
            return result if not kinds or None in kinds else _unwrapped(result, _kind(name_of(function), kinds))

        return awaited

    is_read, graph = _in_dynamo(lambda *args, **kwargs: called(*args, **kwargs))

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if "torch" in sys.modules and is_read():
            return graph.function(*args, **kwargs)
        kinds: list[Home | None] = []
        in_args = [_wrapped(one, kinds) for one in args]
        in_kwargs = {name: _wrapped(one, kinds) for name, one in kwargs.items()} if kwargs else kwargs
        try:
            result = function(*in_args, **in_kwargs)
        except errors.ArgumentTypeError as error:
            if not kinds and any(isinstance(one, (list, tuple)) for one in (*args, *kwargs.values())):
                error.add_note(
                    f"{name_of(function)} was given a list. @xp.portable(convert=True) makes an Array of it."
                )
            raise
        if not kinds or None in kinds:
            return result
        first = kinds[0]
        backend = first.backend if first and kinds.count(first) == len(kinds) else _kind(name_of(function), kinds)
        return _unwrapped(result, backend)

    return called


class _Graph:
    """The callable that TorchDynamo calls instead of a function."""

    function: Callable[..., Any]

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return _Graph, ()  # the function is made anew in another process


def _in_dynamo(function: Callable[..., Any]) -> tuple[Callable[[], bool], _Graph]:
    """Whether TorchDynamo traces the caller, and the callable for it.

    PyTorch's tracer of Python code cannot trace ours. It calls functions marked as constant while it traces, and then
    gets a function that it includes as a whole. PyTorch is not imported before that.
    """
    graph = _Graph()

    def is_read() -> bool:
        if sys._getframe(1).f_globals is globals():
            return False  # called by a function of this file, not by the tracer
        if not hasattr(graph, "function"):
            graph.function = _in_graph(function)
        return True

    is_read._dynamo_marked_constant = True  # type: ignore[attr-defined]  # as by `torch.compiler.assume_constant_result`
    return is_read, graph


def _in_graph(function: Callable[..., Any]) -> Callable[..., Any]:
    return registry.load(LIBRARIES["torch"]).module.in_graph(function)  # type: ignore[no-any-return]


def _names_of_arrays(function: Callable[..., Any], convert: bool | Sequence[str]) -> frozenset[str]:
    """The parameters selected by `convert`."""
    parameters = inspect.signature(function).parameters
    if convert is True:
        variadic = inspect.Parameter.VAR_KEYWORD
        return frozenset(name for name, p in parameters.items() if p.default is p.empty and p.kind is not variadic)
    names: frozenset[str] = frozenset([convert] if isinstance(convert, str) else cast(Any, convert))
    for name in sorted(names - parameters.keys()):
        raise errors.ArgumentValueError(
            f"portable: convert names {name}, but the parameters of {name_of(function)} are {', '.join(parameters)}"
        )
    return names


def _converting(function: Callable[..., Any], names: frozenset[str]) -> Callable[..., Any]:
    """The function with the arguments of these names converted."""
    signature = inspect.signature(function)
    function_name = name_of(function)

    def inside(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[inspect.BoundArguments, _Conversion]:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:  # which does not name the function
            raise errors.ArgumentTypeError(f"{function_name}: {error}") from None
        conversion = _Conversion(function_name)
        for name, value in bound.arguments.items():
            kind = signature.parameters[name].kind
            if name not in names or (value is None and signature.parameters[name].default is None):
                value = _wrapped(value, conversion.kinds)
            elif kind is inspect.Parameter.VAR_POSITIONAL:
                value = tuple(
                    [conversion.array(one, f"{name}[{i}]") for i, one in enumerate(cast(tuple[Any, ...], value))]
                )
            else:
                value = conversion.array(value, name)
            bound.arguments[name] = value
        for name, value in bound.arguments.items():
            bound.arguments[name] = conversion.with_numbers(value)
        return bound, conversion

    if is_async(function):

        @wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            bound, conversion = inside(args, kwargs)
            return conversion.back(await cast(Any, function)(*bound.args, **bound.kwargs))

        return awaited

    is_read, graph = _in_dynamo(lambda *args, **kwargs: called(*args, **kwargs))

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if "torch" in sys.modules and is_read():
            return graph.function(*args, **kwargs)
        bound, conversion = inside(args, kwargs)
        return conversion.back(function(*bound.args, **bound.kwargs))

    return called


class _Number:
    """A Python number that becomes an Array once other dtypes are known."""

    __slots__ = ("value",)

    def __init__(self, value: complex) -> None:
        self.value = value


class _Conversion:
    """The arguments of a call as Arrays, and its results in their kind."""

    def __init__(self, function: str) -> None:
        self.function = function
        self.kinds: list[Home | None] = []
        self._labelled: list[tuple[Any, Backend | None]] = []
        """Objects with labels, and where their values are; None if they are an Array."""
        self._dtypes: list[Any] = []
        self._has_numbers = False

    def array(self, value: Any, parameter: str) -> Any:
        """An Array of an argument; a list of arrays as a list of Arrays."""
        kind = type(value)
        if kind in SCALARS:
            self._has_numbers = True
            return _Number(value)
        if kind is Array or registry.backend_of_native(value) is not None:
            made = _kept_from_writes(self._of(value, parameter), value)
            self.kinds.append(None if kind is Array else made._home)
        elif isinstance(value, dict):
            return {key: self.array(one, f"{parameter}[{key!r}]") for key, one in value.items()}
        elif isinstance(value, (list, tuple)) and not _holds_numbers_alone(value):
            parts = [self.array(one, f"{parameter}[{i}]") for i, one in enumerate(value)]
            return parts if kind is list else tuple(parts)
        elif labelled.is_labelled(value):
            values = labelled.values(value)
            self._labelled.append((value, registry.backend_of_native(values)))
            made = _kept_from_writes(self._of(values, parameter), values)
        elif errors.holds_numbers(value):
            made = self._of(value, parameter)
        else:
            raise errors.not_an_array(self.function, parameter, value)
        self._dtypes.append(made.dtype)
        return made

    def _of(self, value: Any, parameter: str) -> Array:
        try:
            if type(value) is Array or registry.backend_of_native(value) is not None:
                return as_array(self.function, parameter, value)
            if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
                return _kept_from_writes(from_dlpack(value), value)
            return asarray(value)
        except (TypeError, ValueError) as error:
            raise errors.renamed(error, "asarray: obj", f"{self.function}: {parameter}") from error

    def with_numbers(self, value: Any) -> Any:
        """The argument with an Array for each of its Python numbers."""
        if not self._has_numbers:
            return value
        if type(value) is not _Number:
            return nested.map_parts(value, self.with_numbers)
        number = value.value
        if not self._dtypes or type(number) is bool:
            return asarray(number)
        return asarray(number, dtype=result_type(*self._dtypes, number))

    def back(self, result: Any) -> Any:
        """A result in the kind of the arguments."""
        frameworks = [one for one in self.kinds if one is not None and one.backend.library != "numpy"]
        if self._labelled and not frameworks:
            result = self._with_labels(result)
        if not self.kinds or None in self.kinds:
            return result
        return _unwrapped(result, _kind(self.function, self.kinds))

    def _with_labels(self, value: Any) -> Any:
        if type(value) is not Array:
            return nested.map_parts(value, self._with_labels)
        for one, backend in self._labelled:
            if one.shape == value.shape:
                return labelled.with_values(one, value if backend is None else _exported(value, backend))
        return value


def _holds_numbers_alone(value: Sequence[Any]) -> bool:
    """Whether nested lists and tuples hold numbers, of Python or of NumPy."""
    return all(
        _holds_numbers_alone(one)
        if isinstance(one, (list, tuple))
        else isinstance(one, (int, float, complex, np.generic))
        for one in value
    )


def _kind(function: str, kinds: list[Home | None]) -> Backend:
    """The backend of the results: the inputs' only framework, or NumPy."""
    backends = list(dict.fromkeys([home.backend for home in kinds if home is not None]))
    frameworks = [one for one in backends if one.library != "numpy"]
    if len(frameworks) > 1:
        first, second = frameworks[:2]
        raise errors.BackendMismatchError(
            f"{function}: one input is an array of {first} and another of {second}. Convert one of them first"
        )
    return (frameworks or backends)[0]


_ATOMS: Final = frozenset({bool, int, float, complex, str, bytes, type(None)})

_are_arrays: Final[dict[type, bool]] = {}
"""A cache: whether instances of a class are native arrays or variables."""


def _wrapped(value: Any, kinds: list[Home | None]) -> Any:
    """`value` with its native arrays wrapped; adds their homes to `kinds`.

    For an Array None is added.
    """
    kind = type(value)
    is_array = _are_arrays.get(kind)
    if not is_array:
        if kind is Array:
            kinds.append(None)
            return value
        if kind in _ATOMS:
            return value
        if is_array is None:
            is_array = registry.backend_of_native(value) is not None
            if len(_are_arrays) < registry.MOST_CLASSES:
                _are_arrays[kind] = is_array
        if not is_array:
            return nested.map_parts(value, functools.partial(_wrapped, kinds=kinds))
    try:
        wrapped = as_array("portable", "argument", value)
    except errors.ArgumentTypeError:  # of its dtype, which no Array can have
        return value
    kinds.append(wrapped._home)
    return _kept_from_writes(wrapped, value)


def _kept_from_writes(array: Array, given: Any) -> Array:
    """An Array of the given array, protected from writes to the Array."""
    if registry.unadopted and not registry.are_absent(registry.unadopted):
        registry.adopt_in_imported()  # before it is handed to a library that was imported meanwhile
    if array is not given:
        guard(array)
    return array


def _unwrapped(value: Any, backend: Backend) -> Any:
    """`value` with its Arrays as native arrays of `backend`."""
    if type(value) is Array:
        return _exported(value, backend)
    return nested.map_parts(value, functools.partial(_unwrapped, backend=backend))
