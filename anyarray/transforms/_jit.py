"""`jit`: caches of compiled functions, and where they run."""

from __future__ import annotations

import functools
import inspect
import linecache
import time
from collections.abc import Callable, Iterable, Sequence
from types import CodeType
from typing import Any, Final, NamedTuple, TypeAlias, overload

from anyarray._array.array import Array
from anyarray._base import dtypes, errors, nested
from anyarray._base.functions import name_of, wraps
from anyarray._base.nested import LEAF, Static, Structure
from anyarray._call import watching
from anyarray._call.placement import native_on
from anyarray._call.wrapping import SCALARS, wrap, wrap_apart
from anyarray._choice import choice as _choice
from anyarray._choice.automatic import Decision
from anyarray._choice.choice import Choice
from anyarray._choice.whole_functions import WholeFunction
from anyarray._lazy import recording
from anyarray._lazy.tracing import Tracing
from anyarray._memory import devices
from anyarray._registry import registry
from anyarray._registry.home import Home, Native
from anyarray._registry.registry import Backend
from anyarray.transforms._call import (
    P,
    R,
    check,
    clear_about_leaks,
    home_of,
    leaf,
    leaf_of_argument,
    positional_of,
    run_on,
    wrapped_on,
)
from anyarray.transforms._wrapper import (
    RESERVED,
    USUAL,
    Fast,
    Own,
    given_names,
    keywords_of,
    set_choice,
    wrapper_text,
)


@overload
def jit(f: Callable[P, R], /, *, static_argnames: str | Sequence[str] = ()) -> Callable[P, R]: ...
@overload
def jit(*, static_argnames: str | Sequence[str] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(f: Callable[..., Any] | None = None, /, *, static_argnames: str | Sequence[str] = ()) -> Any:
    """`f`, compiled as a whole.

    JAX compiles with `jax.jit`, TensorFlow with XLA if possible, and PyTorch with TorchInductor. CuPy compiles
    consecutive elementwise calls to one kernel. On NumPy, `f` itself runs. Elsewhere, `f` runs once for each
    combination of the dtypes and shapes of its Arrays and of the values of all other arguments, which must be hashable;
    side effects happen only then. Arguments named in `static_argnames` are constants, even if they contain Arrays.
    Results may contain constants.
    Raises TypeError for a generator or async function, and for an argument that contains no Arrays and is not hashable,
    except on NumPy.

    >>> import anyarray as xp
    >>> @xp.jit
    ... def normalised(x):
    ...     return x / xp.sum(x)
    >>> normalised(xp.asarray([1.0, 3.0])).tolist()
    [0.25, 0.75]
    >>> @xp.jit(static_argnames="n")
    ... def power(x, n):
    ...     return x**n
    >>> power(xp.asarray([1.0, 3.0]), n=2).tolist()
    [1.0, 9.0]
    """
    is_one = isinstance(static_argnames, str) or not isinstance(static_argnames, Iterable)
    names: Any = (static_argnames,) if is_one else tuple(static_argnames)
    if f is None:
        return functools.partial(jit, static_argnames=names)
    check("jit", f)
    return wraps(f)(_Jit(f, names).wrapper())


_BUILTINS: Final = {one.__name__: one for one in (Exception, RuntimeError, isinstance, list)}
"""Those that a wrapper uses."""
_PLAIN: Final = frozenset({*SCALARS, str, type(None)})
"""Classes of arguments that contain no Arrays."""
MOST_KNOWN: Final = 1024
"""The most combinations of arguments of one function in a cache of the automatic choice."""


class _Executable(NamedTuple):
    """A compiled function of native arrays.

    It returns one, or a list if the result is not an Array.
    """

    unscoped: Callable[..., Any]
    native: Callable[..., Any]
    """The function in the scope of the backend, such as its device and 64-bit mode."""


class _Compiled:
    """A function compiled for one structure of arguments on one backend.

    It may be traced in several threads at once, and the structure of its result may vary with the shapes.
    """

    def __init__(self, function: Callable[..., Any], backend: Backend, structure: Structure) -> None:
        self._function = function
        self._home = backend.free
        self._structure = structure
        self._results: dict[Any, Structure] = {}
        """The structures of the results by dtypes and shapes."""
        unscoped = backend.hook("jit")(self._traced)
        self.executable: Final = _Executable(unscoped, backend.hook("scoped")(unscoped, backend.native_device))
        self.gives_one = True
        """Whether the result of all traces so far is one Array."""

    def _traced(self, *natives: Native) -> Native | list[Native]:
        """The body of the executable, in a trace: `natives` are tracers."""
        arrays: list[Array] = []
        result = nested.flatten(run_on(self._function, self._home, self._structure, natives), arrays, leaf)
        self._results[self._signature(natives)] = result
        found = [native_on(one, self._home, "jit") for one in arrays]
        if result is LEAF:
            return found[0]
        self.gives_one = False
        return found

    def _signature(self, natives: Sequence[Native]) -> tuple[Any, ...]:
        home = self._home
        return tuple([(home.dtype_of(x), tuple(home.shape_of(x))) for x in natives])

    def __call__(self, natives: Sequence[Native], home: Home) -> Any:
        return self.wrapped(self.executable.native(*natives), natives, home)

    def wrapped(self, found: Native | list[Native], natives: Sequence[Native], home: Home) -> Any:
        """The result for these arguments, of what the executable returned."""
        if not isinstance(found, list):
            return wrap(found, home)
        return nested.unflatten(self._results[self._signature(natives)], wrapped_on(found, home))


class _Traced(NamedTuple):
    """A function of elementwise calls as one kernel."""

    structure: Structure
    """That of the result."""
    run: Callable[..., list[Native]]
    """The Arrays in it, of those in the arguments."""


Kernels: TypeAlias = "dict[Any, _Traced | None]"
"""Kernels by dtypes and shapes of the Arrays of a call; None if the call has none."""


def _signature(natives: Sequence[Native]) -> tuple[Any, ...]:
    return tuple([(x.dtype, x.shape) for x in natives])


def _run_of(kernels: Kernels) -> Callable[..., Native | list[Native]]:
    """A function that calls the kernel for its arguments.

    It returns an empty list if there is none with one Array as its result.
    """

    def run(*natives: Native) -> Native | list[Native]:
        found = kernels.get(_signature(natives))
        if found is None or found.structure is not LEAF:
            return []
        return devices.tried("jit", found.run, *natives)[0]

    return run


def _key(place: Backend | Home, structure: Structure) -> tuple[Any, ...]:
    """The key of what is compiled for arguments, under the default dtypes."""
    defaults = dtypes.defaults()
    return (place, structure, *(() if defaults is USUAL else defaults.values()))


def _array_itself(value: Any) -> Array | None:
    return value if type(value) is Array else None


def _is_hashable(structure: Structure) -> bool:
    try:
        hash(structure)
    except TypeError:
        return False
    return True


def _kind(home: Home, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A key for calls that take the same time; for no containers."""
    given = (*args, *kwargs.values())
    parts = [(one._native.shape, one._native.dtype) if type(one) is Array else (type(one), one) for one in given]
    return (home, *kwargs, *parts)


class _Given(NamedTuple):
    """The arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    structure: Structure
    arrays: Sequence[Array]

    def are_common(self, home: Home) -> bool:
        """Whether a fast path takes them.

        They are Arrays on a home, under the standard's default dtypes.
        """
        if self.kwargs or dtypes.defaults() is not USUAL:
            return False
        return all(type(a) is Array and a._home is home for a in self.args)


class _Jit:
    """A function under `jit`, with its caches."""

    def __init__(self, function: Callable[..., Any], static: tuple[str, ...]) -> None:
        self._function = function
        self._positional = positional_of(function)
        unknown = [one for one in static if one not in (*self._positional, *keywords_of(function))]
        if unknown:
            raise errors.ArgumentValueError(
                f"jit: static_argnames must name parameters of {name_of(function)}, not {unknown[0]!r}"
            )
        self._static = frozenset(static)
        self._compiled: dict[Any, _Compiled | Kernels] = {}
        """By backend or home, structure of the arguments and default dtypes, if these are not the standard's.

        Kernels, of a home that has them, compute all of a call.
        """
        self._whole: dict[Any, WholeFunction] = {}
        """State of the automatic choice by structure, dtypes and shapes."""
        self._compiling: dict[str, float] = {}
        """The minimum time of a call that compiled the function, for any arguments, by backend."""
        self._fast: dict[Home, Fast] = {}
        """Compiled functions of Arrays alone, all on one home, that return one Array; standard default dtypes.

        On homes of backends that compile nothing, the choice to set while the function itself runs.
        """
        self._has_parts = False
        """Whether several calls of it were computed together, though not all."""
        self._resting: dict[Any, WholeFunction] = {}
        """Calls about which no more decisions are made, by `_kind`."""
        own = self.own = Own()
        own.made = (_own_of, (function, static))
        own.fast, own.slow, own.function = self._fast, self.call, function

    def __reduce__(self) -> tuple[Any, ...]:
        return _Jit, (self._function, tuple(self._static))

    def wrapper(self) -> Callable[..., Any]:
        """The function that users call."""
        names = self._positional
        reserved = RESERVED.union(given_names(len(names)))
        if not names or keywords_of(self._function) or self._static or not reserved.isdisjoint(names):
            return lambda *args, **kwargs: self.call(args, kwargs)
        name = getattr(self._function, "__qualname__", "function")
        code = _code(wrapper_text(self._function, names), f"<anyarray jit {name}>")
        made: dict[str, Any] = {}
        exec(code, {"own_": self.own, "__builtins__": _BUILTINS}, made)
        wrapper: Any = made["called"]
        wrapper.__defaults__ = tuple(
            p.default for p in inspect.signature(self._function).parameters.values() if p.default is not p.empty
        )
        return wrapper  # type: ignore[no-any-return]  # made just now

    @clear_about_leaks("jit")
    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The slow path of a call; compiles for new structures."""
        home = self._uncompiled_home(args, kwargs)
        if home is not None:
            return self._call_uncompiled(home, args, kwargs)
        arrays: list[Array] = []
        structure = nested.flatten(self._with_static(args, kwargs), arrays, leaf_of_argument)
        known = None if self._is_plain(args, kwargs) else self._known_for(structure, arrays)
        if known is not None:
            return known([a._native for a in arrays], arrays[0]._home)
        home = home_of("jit", arrays)
        whole = self._whole_for(structure, arrays)
        given, name = _Given(args, kwargs, structure, arrays), f"jit({name_of(self._function)})"
        decision = _choice.decision_about_function(name, arrays, home, whole)
        if whole is not None and whole.rests_on(home.backend.name):
            self._note_resting(whole, home, args, kwargs)
        if decision is None:
            return self._call_on(home, given)
        stopwatch = watching.Stopwatch()
        there = decision.home
        try:
            result = self._timed_on(there, whole, given)
        except Exception as error:
            if whole is None or there is home or not whole.may_run_on(home):
                raise
            failure = error
        else:
            self._note_time(decision, stopwatch)
            return result
        # If the function itself raises, it raises again here.
        result = self._timed_on(home, whole, given)
        whole.give_up(there, home, failure)
        decision.home = home
        decision.repeated(there.backend, failure)
        self._note_time(decision, stopwatch)
        return result

    def _whole_for(self, structure: Structure, arrays: Sequence[Array]) -> WholeFunction | None:
        """The state of the automatic choice for such arguments.

        None if it has nothing to decide.
        """
        if not _choice.is_by_cost(arrays) or not _is_hashable(structure):
            return None
        candidates = _choice.current().candidates
        key = (structure, candidates, *[(a.dtype, a.shape) for a in arrays])
        whole = self._whole.get(key)
        if whole is None:
            if len(self._whole) >= MOST_KNOWN:  # as with new shapes or values at each call
                self._whole.clear()
            whole = self._whole[key] = WholeFunction(candidates, self._compiling)
        return whole

    @staticmethod
    def _is_plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether all arguments are Arrays: the wrapper has a faster path."""
        return not kwargs and set(map(type, args)) == {Array}

    def _known_for(self, structure: Structure, arrays: Sequence[Array]) -> _Compiled | None:
        """The compiled function, if cached for the home where this call runs.

        None unless all arrays are on that home.
        """
        if not arrays or dtypes.defaults() is not USUAL:
            return None
        home = arrays[0]._home
        chosen = _choice.current().backend
        runs_here = chosen is home.backend or chosen is None
        if not (runs_here or (chosen is _choice.BY_COST and not _choice.is_by_cost(arrays))):
            return None
        for one in arrays:
            if one._home is not home:
                return None
        try:
            found = self._compiled.get((home.backend, structure))
        except TypeError:  # something is not hashable
            return None
        return found if isinstance(found, _Compiled) else None

    def _call_on(self, home: Home, given: _Given) -> Any:
        """The result on a home, to which the arrays are transferred."""
        natives = [native_on(one, home, "jit") for one in given.arrays]
        if home.depth or not home.backend.has_hook("jit"):  # what is in a batch is no native array
            if not home.depth and home.backend.has_hook("fused") and not self._runs_itself(home):
                return self._call_fused(home, given, natives)
            self._note_uncompiled(home)
            return run_on(self._function, home, given.structure, natives)
        key = _key(home.backend, given.structure)
        try:
            compiled: Any = self._compiled.get(key)
        except TypeError as error:
            raise self._unhashable(given.args, given.kwargs) from error
        is_new = compiled is None
        if is_new:
            compiled = self._compiled.setdefault(key, _Compiled(self._function, home.backend, given.structure))
        is_common = given.are_common(home)
        if is_common and not is_new and compiled.gives_one and not any(map(home.is_traced, natives)):
            return self._call_compiled(home, compiled, natives)
        found = compiled(natives, home)
        if is_common and not compiled.gives_one:
            self._fast.pop(home, None)  # a fast path from when it returned one array
        return found

    def _call_fused(self, home: Home, given: _Given, natives: Sequence[Native]) -> Any:
        """The result, elementwise calls computed together if that can be.

        For a backend that has kernels of several calls, and compiles nothing else.
        """
        structure = given.structure
        kernels: Any = self._compiled.setdefault(_key(home, structure), {}) if _is_hashable(structure) else {}
        signature = _signature(natives)
        if signature not in kernels:
            if len(kernels) >= MOST_KNOWN:
                kernels.clear()
            kernels[signature] = self._traced(home, structure, natives)
        traced = kernels[signature]
        try:
            found = None if traced is None else devices.tried("jit", traced.run, *natives)
        except Exception as error:
            if registry.is_out_of_memory(error):
                raise
            found = kernels[signature] = None  # the library cannot make the kernel
        if traced is None or found is None:
            return self._call_in_parts(home, structure, natives)
        if traced.structure is LEAF and home not in self._fast and given.are_common(home):
            self._fast[home] = _run_of(kernels), ()
        return nested.unflatten(traced.structure, wrapped_on(found, home))

    def _traced(self, home: Home, structure: Structure, natives: Sequence[Native]) -> _Traced | None:
        """The function as one kernel; None if it is not one."""
        inside, results = Tracing(home), list[Array]()
        given = [inside.given(x) for x in natives]
        try:
            with inside.open():
                found = nested.flatten(run_on(self._function, inside, structure, given), results, _array_itself)
            if inside.is_refused or any(one._home is not inside for one in results):
                return None
            run = inside.kernel([one._native for one in results], len(given))
            if run is None:
                return None
        except Exception:  # noqa: BLE001 - the function itself raises it again, unless the home inside is to blame
            return None
        return _Traced(found, run)

    def _call_in_parts(self, home: Home, structure: Structure, natives: Sequence[Native]) -> Any:
        """The result of the function, with its calls recorded.

        They are computed together where none needs a value.
        """
        results: list[Array] = []
        with recording.every_call() as lengths:
            whole = run_on(self._function, home, structure, natives)
            nested.flatten(whole, results, _array_itself)
            lazy = [one._value for one in results if one._home is home and type(one._value) is recording.Lazy]
            for shape in {one.shape for one in lazy}:
                recording.compute(*[one for one in lazy if one.shape == shape])
        self._has_parts |= max(lengths, default=1) > 1
        if not self._has_parts:
            self._note_uncompiled(home)
        return whole

    def _timed_on(self, there: Home, whole: WholeFunction | None, given: _Given) -> Any:
        """As `_call_on`, and time the call until enough calls were timed.

        Inside `explain` the result always is synchronized.
        """
        name = there.backend.name
        started = time.perf_counter()
        result = self._call_on(there, given)
        is_timed = whole is not None and not whole.is_settled(name)
        if is_timed or _choice.current().records:
            results: list[Array] = []
            nested.flatten(result, results, leaf)
            for one in results:
                one._home.synchronize(one._native)
        if whole is not None and is_timed:
            whole.note(name, time.perf_counter() - started)
        return result

    @staticmethod
    def _note_time(decision: Decision, stopwatch: watching.Stopwatch) -> None:
        if _choice.current().records:
            decision.seconds = stopwatch.seconds()

    def _runs_itself(self, home: Home | None) -> bool:
        """Whether the function itself is called on a home."""
        return home in self._fast and self._fast[home][0] is None

    def _note_uncompiled(self, home: Home) -> None:
        """From now on call the function itself on a home.

        Its backend compiles nothing, or nothing of the function.
        """
        backend = home.backend
        if home is backend.free or home is backend.placed:  # not a batch, which is temporary
            self._fast[home] = None, Choice(backend)

    def _uncompiled_home(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Home | None:
        """Where the function itself is called, without a decision.

        That is the home of the Arrays among the arguments. None if they are on several homes, or if another argument
        may contain Arrays.
        """
        home = None
        for one in (*args, *kwargs.values()) if kwargs else args:
            if type(one) is Array:
                home = one._home if home is None else home
                if one._home is not home:
                    return None
            elif type(one) not in _PLAIN:
                return None
        if home is None or not self._runs_itself(home):
            return None
        choice = _choice.current()
        if choice.backend is _choice.BY_COST and choice.candidates is None:
            whole = self._resting.get(_kind(home, args, kwargs))
            return home if whole is not None and whole.rests_on(home.backend.name) else None
        return home if choice.backend is None or choice.backend is home.backend else None

    def _note_resting(self, whole: WholeFunction, home: Home, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Make no more decisions about calls like this, without containers."""
        if all(type(one) is Array or type(one) in _PLAIN for one in (*args, *kwargs.values())):
            if len(self._resting) >= MOST_KNOWN:
                self._resting.clear()
            self._resting[_kind(home, args, kwargs)] = whole

    def _call_uncompiled(self, home: Home, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function itself on a home.

        It gets new Arrays, so that its writes have no effect outside, as in a trace.
        """
        args = tuple([_own(one) for one in args])
        if kwargs:
            kwargs = {name: _own(one) for name, one in kwargs.items()}
        choice = _choice.current()
        if choice.backend is home.backend:
            return self._function(*args, **kwargs)
        try:
            # Inside, as Ctrl-C may come right after it.
            set_choice(self._fast[home][1])  # type: ignore[arg-type]  # a choice, as `_runs_itself` says
            return self._function(*args, **kwargs)
        finally:
            set_choice(choice)

    def _call_compiled(self, home: Home, compiled: _Compiled, natives: Sequence[Native]) -> Any:
        """Call a compiled function, and set the fast path for such calls."""
        backend, one = home.backend, compiled.executable
        # A call that comes here although there is a fast path was rejected by it: dtypes or shapes vary.
        if home in self._fast or not backend.has_hook("prepared"):
            self._fast[home] = one.native, ()
            return compiled(natives, home)
        found, run = backend.hook("prepared")(one.unscoped, natives, backend.native_device)
        self._fast[home] = (one.native, ()) if run is None else (run, Exception)
        return compiled.wrapped(found, natives, home)

    def _with_static(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, static ones wrapped in `Static`."""
        static = self._static
        if not static:
            return args, kwargs
        names = self._positional
        return (
            tuple([Static(one) if i < len(names) and names[i] in static else one for i, one in enumerate(args)]),
            {name: Static(one) if name in static else one for name, one in kwargs.items()},
        )

    def _unhashable(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> errors.ArgumentTypeError:
        names = [*self._positional, *[f"argument {i}" for i in range(len(self._positional), len(args))]]
        name, value = "an argument", None
        for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
            if name in self._static:
                if not _is_hashable(Static(value)):
                    break
            elif not _is_hashable(nested.flatten(value, [], leaf)):
                value = _unhashable_part(value)
                break
        return errors.ArgumentTypeError(
            f"jit: {name} of {name_of(self._function)} must be made of Arrays and hashable values, "
            f"but holds {type(value).__name__}. Pass a tuple, or a frozen dataclass"
        )


@functools.lru_cache(maxsize=256)
def _code(source: str, filename: str) -> CodeType:
    """The code object of a wrapper, cached, as functions are redefined."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return compile(source, filename, "exec")


def _unhashable_part(value: Any) -> Any:
    """The innermost part of `value` whose structure cannot be hashed."""
    for part in (nested.keys_and_parts(value) or (None, ()))[1]:
        if not _is_hashable(nested.flatten(part, [], leaf)):
            return _unhashable_part(part)
    return value


def _own_of(function: Callable[..., Any], static: tuple[str, ...]) -> Own:
    """Makes an `Own` when it is unpickled."""
    return _Jit(function, static).own


def _own(value: Any) -> Any:
    """An Array of the same values, to be written to; anything else itself."""
    return wrap_apart(value._native, value._home) if type(value) is Array else value
