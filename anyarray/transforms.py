"""Functions made of functions: compiled, differentiated, mapped over an axis. One name each, whatever the backend.

A transform runs where a call of the standard would: on the backend of the Arrays among the arguments, which are
brought there, or on the one that is chosen. Arrays may be nested in tuples, lists, dicts, named tuples and dataclasses,
also in results. Everything that is not an array, such as a Python number, is a constant of the transformed function.
64 bits, promotion and errors are the same inside as outside. Transforms compose in any order: `jit(vmap(grad(f)))`.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, ParamSpec, TypeAlias, TypeVar, cast, overload

from anyarray import _backend, _batching, _choice, _diagnosis, _dispatch, _dtypes, _errors, _nested
from anyarray._array import Array
from anyarray._automatic import WholeFunction
from anyarray._backend import Backend, Home, Native
from anyarray._choice import Choice
from anyarray._nested import LEAF, Static, Structure
from anyarray.interop import check_is_function, is_async, name_of, standing_for
from anyarray.standard.creation import asarray

__all__ = ["grad", "jacobian", "jit", "stop_gradient", "value_and_grad", "vmap"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

Axes: TypeAlias = "int | Sequence[Axes] | dict[str, Axes] | None"
"""An axis for all Arrays of a value, None for those that are not mapped, or the same for its parts."""


def _leaf(value: Any) -> Array | None:
    """An Array of an array of any library; None for what is none."""
    kind = type(value)
    if kind is Array:
        return value  # type: ignore[no-any-return]  # `kind` says so
    if kind in _dispatch.SCALARS or kind is str or value is None:
        return None
    return _dispatch.as_array("transform", "argument", value) if _backend.backend_of_native(value) else None


def _leaf_of_argument(value: Any) -> Array | None:
    """As `_leaf`; what has a dtype that no Array can have, such as text, is a constant."""
    try:
        return _leaf(value)
    except _errors.ArgumentTypeError:
        return None


def _leaf_or_number(value: Any) -> Array | None:
    """As `_leaf`; a Python number becomes an Array of its default dtype."""
    return asarray(value) if type(value) in _dispatch.SCALARS else _leaf(value)


class _Call:
    """A call of `function`: its Arrays as native ones on one home, and the structure of the rest."""

    def __init__(self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.name = name
        self.function = function
        arrays: list[Array] = []
        self.structure = _nested.flattened((args, kwargs), arrays, _leaf_of_argument)
        self.home = _home(name, arrays)
        self.natives = [_dispatch.brought(one, self.home, name) for one in arrays]

    def result(self, chosen: Sequence[int], xs: Sequence[Native]) -> Any:
        """What the function gives with `xs` in place of the chosen arrays."""
        natives = list(self.natives)
        for position, x in zip(chosen, xs, strict=True):
            natives[position] = x
        return _run(self.function, self.home, self.structure, natives)

    def flat_result(self, chosen: Sequence[int], xs: Sequence[Native]) -> tuple[list[Native], Structure]:
        """The same, numbers as Arrays: native arrays on the home, and the structure."""
        arrays: list[Array] = []
        structure = _nested.flattened(self.result(chosen, xs), arrays, _leaf_or_number)
        return [_dispatch.brought(one, self.home, self.name) for one in arrays], structure

    def wrapped(self, structure: Structure, natives: Sequence[Native]) -> Any:
        """A value of that structure made of native arrays of the home."""
        return _nested.rebuilt(structure, _wrapped(natives, self.home))

    def labels(self) -> list[str]:
        """How messages call the Arrays among the arguments."""
        (_, _, args), keyword = self.structure[2]
        names = _positional(self.function)
        names += [f"argument {i}" for i in range(len(names), len(args))]
        labels = [label for name, arg in zip(names, args, strict=False) for label in _nested.labels(arg, name)]
        _, words, values = keyword
        return labels + [label for word, arg in zip(words, values, strict=True) for label in _nested.labels(arg, word)]


def _home(name: str, arrays: Sequence[Array]) -> Home:
    return _dispatch.home_of_arrays(name, arrays) if arrays else _choice.chosen_home()


def _wrapped(natives: Sequence[Native], home: Home) -> Iterator[Array]:
    return (_dispatch.wrap(x, x.home if type(x) is _batching.Batched else home) for x in natives)


def _run(function: Callable[..., Any], home: Home, structure: Structure, natives: Sequence[Native]) -> Any:
    """What the function gives, called on the backend of `home` with these arguments."""
    args, kwargs = _nested.rebuilt(structure, _wrapped(natives, home))
    with _choice.backend(home.backend):
        return function(*args, **kwargs)


def _hook(name: str, home: Home, hook: str) -> Callable[..., Any]:
    """The backend's transform, in its scope. Raises UnsupportedError if it has none."""
    if not home.backend.has_hook(hook):
        differentiating = [library.name for library in _backend.LIBRARIES.values() if library.has_derivatives]
        cures = " or ".join(f'with xp.backend("{library}")' for library in differentiating)
        raise _errors.UnsupportedError(f"{name}: {home.backend} has no derivatives. Choose a backend that has: {cures}")
    return getattr(home, hook)  # type: ignore[no-any-return]  # a function, by the contract


for _name in ("jacobian", "stop_gradient", "value_and_grad", "vmap"):
    _backend.declare(_name)


def _positional(function: Callable[..., Any]) -> list[str]:
    """Names of the parameters that can be given by position; none if the function does not tell."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions written in C
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _check(name: str, function: Any) -> None:
    """Raise TypeError for what no transform takes: what cannot be called, and what gives its results later."""
    check_is_function(name, function)
    if is_async(function):
        raise _errors.ArgumentTypeError(
            f"{name}: f must be a function that returns its result, not the async function {name_of(function)}. "
            "Transform the function that it calls"
        )


def _clear_about_leaks(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Raise TraceError where a library complains of an Array that outlived its trace."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                _diagnosis.diagnose_leak(error, name)
                raise

        return called

    return decorated


@overload
def jit(f: Callable[P, R], /, *, static_argnames: str | Sequence[str] = ()) -> Callable[P, R]: ...
@overload
def jit(*, static_argnames: str | Sequence[str] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(f: Callable[..., Any] | None = None, /, *, static_argnames: str | Sequence[str] = ()) -> Any:
    """`f`, compiled as a whole: by JAX, or by TensorFlow as a graph that XLA fuses if it can.

    On backends that compile nothing (NumPy, CuPy) `f` itself runs. Elsewhere it runs once for each combination of
    dtypes and shapes of its Arrays and of the values of everything else, which must be hashable; what it does besides
    computing happens only then. Arguments named in `static_argnames` count by their value alone and are not
    searched for Arrays. Results may hold constants.
    Raises TypeError for a generator or async function and, where something is compiled, for an argument that is
    neither made of Arrays nor hashable.

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
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    if f is None:
        return functools.partial(jit, static_argnames=names)
    _check("jit", f)
    return standing_for(f)(_Jit(f, names).entrance())


class _Executable(NamedTuple):
    """A compiled function of native arrays, which gives one, or a list if the result is not an Array."""

    unscoped: Callable[..., Any]
    native: Callable[..., Any]
    """In the scope of the backend."""


class _Compiled:
    """A function compiled for one structure of arguments on one backend.

    It is traced in any thread, at once in several. Whoever holds an executable that gave one array takes for one
    whatever it gives. So the first trace settles whether the first executable gives one array; if it does, it raises
    `_Varies` in place of anything else, for which there is a second executable then.
    """

    def __init__(self, function: Callable[..., Any], backend: Backend, structure: Structure) -> None:
        self._function = function
        self._home = backend.free
        self._structure = structure
        self._results: dict[Any, Structure] = {}
        self._lock = threading.Lock()
        """Held to write what follows."""
        self._first_gives_one: bool | None = None
        self._executable = self._made(self._traced_first)
        self.giving_one: _Executable | None = None
        """The executable, as long as all traces so far give an Array and nothing else."""

    def _made(self, body: Callable[..., Any]) -> _Executable:
        backend = self._home.backend
        unscoped = backend.hook("jit")(body)
        return _Executable(unscoped, backend.hook("scoped")(unscoped, backend.native_device))

    def _traced_first(self, *natives: Native) -> Native | list[Native]:
        """The body of the first executable."""
        found, gives_one = self._traced(natives)
        with self._lock:
            if self._first_gives_one is None:
                self._first_gives_one = gives_one
                self.giving_one = self._executable if gives_one else None
            varies = self._first_gives_one and not gives_one
            if varies and self.giving_one is not None:
                self.giving_one = None
                self._executable = self._made(self._traced_second)
        if varies:
            raise _Varies
        return found

    def _traced_second(self, *natives: Native) -> Native | list[Native]:
        return self._traced(natives)[0]

    def _traced(self, natives: Sequence[Native]) -> tuple[Native | list[Native], bool]:
        """What the function gives on what stands for native arrays in a trace, and whether that is one array."""
        arrays: list[Array] = []
        result = _nested.flattened(_run(self._function, self._home, self._structure, natives), arrays, _leaf)
        self._results[self._signature(natives)] = result
        found = [_dispatch.brought(one, self._home, "jit") for one in arrays]
        return (found[0], True) if result is LEAF else (found, False)

    def _signature(self, natives: Sequence[Native]) -> tuple[Any, ...]:
        home = self._home
        return tuple([(home.dtype_of(x), tuple(home.shape_of(x))) for x in natives])

    def __call__(self, natives: Sequence[Native], home: Home) -> Any:
        found = self._executable.native(*natives)
        if self.giving_one is not None:
            return _dispatch.wrap(found, home)
        structure = self._results[self._signature(natives)]
        return _nested.rebuilt(structure, _wrapped([found] if structure is LEAF else found, home))


def _is_hashable(structure: Structure) -> bool:
    try:
        hash(structure)
    except TypeError:
        return False
    return True


class _Varies(Exception):  # noqa: N818 - not an error: the call is made again
    """A function gives an Array for some shapes and something else for others."""


class _Jit:
    """A function that is compiled, and what it was compiled for."""

    def __init__(self, function: Callable[..., Any], static: tuple[str, ...]) -> None:
        self._function = function
        self._static = frozenset(static)
        self._positional = _positional(function)
        unknown = self._static.difference(self._positional, _keywords(function))
        if unknown:
            raise _errors.ArgumentValueError(
                f"jit: static_argnames must name parameters of {name_of(function)}, not {min(unknown)!r}"
            )
        self._compiled: dict[Any, _Compiled] = {}
        self._known: dict[tuple[Home, Structure], _Compiled] = {}
        """The same by the home of the arguments, under the usual default dtypes."""
        self._whole: dict[Any, WholeFunction] = {}
        """What the automatic choice knows of the function, by structure, dtypes and shapes."""
        self._fast: dict[Home, Callable[..., Native] | None] = {}
        """Compiled functions of nothing but Arrays on one home that give an Array, under the usual default dtypes.

        None on a home of `_bare`.
        """
        self._refusals: dict[Callable[..., Native], type[Exception]] = {}
        """What those of them that look at their arguments themselves raise if the call is to be made the slow way."""
        self._bare: dict[Home, Choice] = {}
        """Homes of backends that compile nothing, as they are met, and what is chosen while the function runs there."""
        self._opaque: set[type] = {*_dispatch.SCALARS, str, type(None)}
        """Classes of arguments, as they are met there, that hold no Arrays."""
        ours = {"fast_": self._fast, "refusals_": self._refusals, "bare_": self._bare, "first_": None}
        self._scope = {**_SCOPE, **ours, "slow_": self.call, "function_": function}
        """The globals of the entrance. The first executable and its home stand there, too: a dict takes 30 ns."""

    def entrance(self) -> Callable[..., Any]:
        """The function that users call."""
        names = self._positional
        reserved = _RESERVED.union(_fresh(len(names)))
        if not names or _keywords(self._function) or self._static or not reserved.isdisjoint(names):
            return lambda *args, **kwargs: self.call(args, kwargs)
        source = _entrance(self._function, names)
        filename = f"<anyarray jit {getattr(self._function, '__qualname__', 'function')}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        made: dict[str, Any] = {}
        exec(compile(source, filename, "exec"), self._scope, made)
        entrance: Any = made["called"]
        entrance.__defaults__ = tuple(
            p.default for p in inspect.signature(self._function).parameters.values() if p.default is not p.empty
        )
        return entrance  # type: ignore[no-any-return]  # made just now

    @_clear_about_leaks("jit")
    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result, compiled before if the arguments are of a new structure."""
        if self._bare:
            bare = self._bare_home(args, kwargs)
            if bare is not None:
                return self._as_it_is(bare, args, kwargs)
        arrays: list[Array] = []
        structure = _nested.flattened(self._with_static(args, kwargs), arrays, _leaf_of_argument)
        known = None if self._is_plain(args, kwargs) else self._known_for(structure, arrays)
        if known is not None:
            try:
                return known([a._native for a in arrays], arrays[0]._home)
            except _Varies:
                pass
        home = _home("jit", arrays)
        if not _choice.is_by_cost(arrays) or not _is_hashable(structure):
            return self._call_on(home, args, kwargs, structure, arrays)
        candidates = _choice.candidates()
        key = (structure, candidates, *[(a.dtype, a.shape) for a in arrays])
        whole = self._whole.setdefault(key, WholeFunction(candidates))
        home = whole.home(home, arrays)
        name = home.backend.name
        started = time.perf_counter()
        result = self._call_on(home, args, kwargs, structure, arrays)
        if not whole.is_settled(name):
            results: list[Array] = []
            _nested.flattened(result, results, _leaf)
            for one in results:
                one._home.synchronize(one._native)
            whole.note(name, time.perf_counter() - started)
        return result

    @staticmethod
    def _is_plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the arguments are Arrays and nothing else, for which the entrance has a faster path."""
        return not kwargs and set(map(type, args)) == {Array}

    def _known_for(self, structure: Structure, arrays: Sequence[Array]) -> _Compiled | None:
        """The compiled function, if the arrays are on one home where the call runs, and it was called there before."""
        if not arrays or _defaults() is not _USUAL:
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
            return self._known.get((home, structure))
        except TypeError:  # something is not hashable
            return None

    def _call_on(
        self,
        home: Home,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        structure: Structure,
        arrays: Sequence[Array],
    ) -> Any:
        """The result on a home, to which the arrays are brought."""
        natives = [_dispatch.brought(one, home, "jit") for one in arrays]
        if not home.backend.has_hook("jit"):
            self._note_bare(home, [*args, *kwargs.values()])
            return _run(self._function, home, structure, natives)
        defaults = _defaults()
        key = (home.backend, structure, *defaults.values())
        try:
            compiled = self._compiled.get(key)
        except TypeError as error:
            raise self._unhashable(args, kwargs) from error
        if compiled is None:
            compiled = self._compiled.setdefault(key, _Compiled(self._function, home.backend, structure))
        if defaults is _USUAL:
            self._known[home, structure] = compiled
        is_common = not kwargs and defaults is _USUAL and all(type(a) is Array and a._home is home for a in args)
        one = compiled.giving_one
        try:
            if is_common and one is not None and not any(map(home.is_traced, natives)):
                return self._prepared(home, one, natives)
            if is_common and one is None:
                self._forget(home)  # of when it gave one array
            return compiled(natives, home)
        except _Varies:
            self._forget(home)
            return compiled(natives, home)

    def _forget(self, home: Home) -> None:
        self._fast.pop(home, None)
        if self._scope["first_"] is home:
            self._scope["first_"] = None

    def _note_bare(self, home: Home, arguments: Sequence[Any]) -> None:
        """Call the function itself from now on for arguments like these, on a home that compiles nothing."""
        backend = home.backend
        if home is backend.free or home is backend.placed:  # not of a batch, which ends
            self._fast[home] = None
            self._bare[home] = Choice(backend)
        for one in arguments:
            is_container = type(one) is Array or _nested.opened(one) is not None
            if not is_container and _backend.backend_of_native(one) is None:
                self._opaque.add(type(one))

    def _bare_home(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Home | None:
        """The home of the Arrays among the arguments, if they are on one of `_bare` and nothing holds any others."""
        home = None
        for one in (*args, *kwargs.values()) if kwargs else args:
            kind = type(one)
            if kind is Array:
                if home is None:
                    home = one._home
                elif one._home is not home:
                    return None
            elif kind not in self._opaque:
                return None
        if home not in self._bare:
            return None
        chosen = _choice.current().backend
        return home if chosen is None or chosen is home.backend else None

    def _as_it_is(self, home: Home, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the function gives on a home of `_bare`; it may write to its arguments as in a trace."""
        wrap = _dispatch.wrap
        args = tuple([wrap(one._native, home) if type(one) is Array else one for one in args])
        if kwargs:
            kwargs = {name: wrap(one._native, home) if type(one) is Array else one for name, one in kwargs.items()}
        if _choice.current().backend is not None:
            return self._function(*args, **kwargs)
        token = _set_choice(self._bare[home])
        try:
            return self._function(*args, **kwargs)
        finally:
            _reset_choice(token)

    def _prepared(self, home: Home, one: _Executable, natives: Sequence[Native]) -> Array:
        """The result of a function that was called before, and from now on the fast path for calls like this one."""
        backend, run = home.backend, None
        if home in self._fast or not backend.has_hook("prepared"):
            found = one.native(*natives)
        else:
            found, run = backend.hook("prepared")(one.unscoped, natives, backend.native_device)
        # Who comes here with a fast path was refused by it: then arrays are not always alike.
        if run is None:
            self._refusals[one.native] = _Varies
        self._fast[home] = one.native if run is None else run
        if run is not None and self._scope["first_"] is None:
            self._scope.update(executable_=run, at_=backend, first_=home)
        elif run is None and self._scope["first_"] is home:
            self._scope["first_"] = None
        return _dispatch.wrap(found, home)

    def _with_static(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, those that count by value marked."""
        static = self._static
        if not static:
            return args, kwargs
        names = self._positional
        return (
            tuple([Static(one) if i < len(names) and names[i] in static else one for i, one in enumerate(args)]),
            {name: Static(one) if name in static else one for name, one in kwargs.items()},
        )

    def _unhashable(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _errors.ArgumentTypeError:
        names = [*self._positional, *[f"argument {i}" for i in range(len(self._positional), len(args))]]
        name, value = "an argument", None
        for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
            arrays: list[Array] = []
            part = Static(value) if name in self._static else _nested.flattened(value, arrays, _leaf)
            try:
                hash(part)
            except TypeError:
                break
        return _errors.ArgumentTypeError(
            f"jit: {name} of {name_of(self._function)} must be made of Arrays and hashable values, "
            f"but holds {type(value).__name__}. Pass a tuple, or a frozen dataclass"
        )


_set_choice: Final = _choice._current.set
_reset_choice: Final = _choice._current.reset
_defaults: Final = _dtypes.defaults
_USUAL: Final = _dtypes._STANDARD_DEFAULTS
_SCOPE: Final[dict[str, Any]] = {
    "AUTO_": _choice.BY_COST,
    "OTHERS_": (AttributeError, KeyError, TypeError),
    "changes_": _dtypes._changes,
    "current_": _choice.current,
    "defaults_": _defaults,
    "explain_": functools.partial(_diagnosis.diagnose_leak, function="jit"),
    "new_": _dispatch.scope["new"],
    "reset_": _reset_choice,
    "set_": _set_choice,
    "usual_": _USUAL,
}
_RESERVED: Final = {
    *_SCOPE,
    *("fast_", "refusals_", "bare_", "slow_", "function_", "first_", "executable_", "at_"),
    *("home_", "choice_", "chosen_", "run_", "result_", "error_", "token_"),
}
"""Names in the entrance, which no parameter may have, nor those of `_fresh`."""


def _fresh(count: int) -> list[str]:
    """Names of the Arrays that a function which is not compiled may write to, as inside a trace."""
    return [f"given{i}_" for i in range(count)]


def _entrance(function: Callable[..., Any], names: Sequence[str]) -> str:
    """The text of the entrance: the fast path for Arrays on one home, as in `_dispatch`; the rest is slow.

    Between two computations each look at something takes several times what it takes in a loop, so it looks at little:
    what has no home is no Array. Least of all where an executable looks at everything else, and refuses. If it raises
    RuntimeError it was running, and is not run again. Where nothing is compiled the function itself is called, with
    Arrays of its own.
    """
    bare = [p.replace(annotation=p.empty, default=p.empty) for p in inspect.signature(function).parameters.values()]
    first, *others = names
    run = "fast_[home_]"
    if others:
        run += f" if {' and '.join(f'{name}._home is home_' for name in others)} else None"
    are_there = " and ".join(f"{name}._home is first_" for name in names)
    natives = ", ".join(f"{name}._native" for name in names)
    is_there = "".join(f" and {name}._home is home_" for name in others)
    fresh = _fresh(len(names))
    wrapping = "; ".join(
        f"{new} = new_(); {new}._native = {name}._native; {new}._home = home_"
        for new, name in zip(fresh, names, strict=True)
    )
    return f"""\
def called{inspect.Signature(bare)}:
    try:
        if {are_there} and current_().backend is at_ and not changes_:
            result_ = new_()
            result_._native = executable_({natives})
            result_._home = {first}._home
            return result_
    except RuntimeError:
        raise
    except Exception:
        pass
    try:
        home_ = {first}._home
        run_ = {run}
    except OTHERS_:
        run_ = home_ = None
    if run_ is not None and (not changes_ or defaults_() is usual_):
        choice_ = current_()
        chosen_ = choice_.backend
        if chosen_ is home_.backend or chosen_ is None or (chosen_ is AUTO_ and choice_.candidates is None):
            result_ = new_()
            try:
                result_._native = run_({natives})
            except RuntimeError as error_:
                explain_(error_)
                raise
            except refusals_.get(run_, Exception):
                pass
            except Exception as error_:
                explain_(error_)
                raise
            else:
                result_._home = home_
                return result_
    elif home_ in bare_{is_there}:
        chosen_ = current_().backend
        if chosen_ is None or chosen_ is home_.backend:
            {wrapping}
            token_ = set_(bare_[home_]) if chosen_ is None else None
            try:
                return function_({", ".join(fresh)})
            except Exception as error_:
                explain_(error_)
                raise
            finally:
                if token_ is not None:
                    reset_(token_)
    return slow_(({", ".join(names)},), {{}})
"""


def _keywords(function: Callable[..., Any]) -> list[str]:
    """Names of the parameters that cannot be given by position, variadic ones included."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions written in C
        return []
    return [p.name for p in parameters if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def grad(f: Callable[P, Any], /, argnums: int | Sequence[int] = 0) -> Callable[P, Any]:
    """The gradient of a function that gives one real number.

    It has the structure of the argument `argnums` with an Array for each of its Arrays; of several, a tuple.
    Python floats in it count as Arrays. Needs JAX or TensorFlow.
    Raises TypeError unless the argument and the result are of a real floating-point dtype, ValueError if the result has
    axes, UnsupportedError on a backend without derivatives.

    >>> import anyarray as xp
    >>> slope = xp.grad(lambda x: xp.sum(x**2))
    >>> x = xp.asarray([1.0, 2.0])
    >>> x.device.library == "numpy" or slope(x).tolist() == [2.0, 4.0]
    True
    """
    value_and_gradient = _value_and_grad("grad", f, argnums)

    @standing_for(f)
    def gradient(*args: P.args, **kwargs: P.kwargs) -> Any:
        return value_and_gradient(args, kwargs)[1]

    return gradient


def value_and_grad(f: Callable[P, R], /, argnums: int | Sequence[int] = 0) -> Callable[P, tuple[R, Any]]:
    """The value of a function that gives one real number, and its gradient; see `grad`.

    >>> import anyarray as xp
    >>> both = xp.value_and_grad(lambda x: xp.sum(x**2))
    >>> x = xp.asarray([1.0, 2.0])
    >>> x.device.library == "numpy" or float(both(x)[0]) == 5.0
    True
    """
    value_and_gradient = _value_and_grad("value_and_grad", f, argnums)

    @standing_for(f)
    def both(*args: P.args, **kwargs: P.kwargs) -> tuple[R, Any]:
        return value_and_gradient(args, kwargs)

    return both


def _value_and_grad(
    name: str, function: Callable[..., Any], argnums: int | Sequence[int]
) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, Any]]:
    _check(name, function)
    _check_argnums(name, argnums)

    @_clear_about_leaks(name)
    def called(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        call = _Differentiated(name, function, argnums, args, kwargs)

        def value_of_xs(*xs: Native) -> Native:
            value = call.result(call.chosen, xs)
            if type(value) is not Array:
                raise _errors.ArgumentTypeError(
                    f"{name}: {name_of(function)} must give an Array, not {type(value).__name__}. "
                    "Take xp.sum(...), which gives an Array without axes"
                )
            if value.ndim:
                raise _errors.ArgumentValueError(
                    f"{name}: {name_of(function)} must give an Array without axes, not of shape {value.shape}. "
                    "Reduce it, as by xp.sum(...), or take xp.jacobian"
                )
            call.require_real(name_of(function), value)
            return _dispatch.brought(value, call.home, name)

        value, gradients = _hook(name, call.home, "value_and_grad")(value_of_xs, call.xs)
        return _dispatch.wrap(value, call.home), call.by_argument(gradients)

    return called


def jacobian(
    f: Callable[P, Any], /, argnums: int | Sequence[int] = 0, mode: Literal["reverse", "forward"] = "reverse"
) -> Callable[P, Any]:
    """The derivatives of every element of a function's results by every element of an argument.

    An Array with the axes of the result, then those of the argument; nested, the structure of the result with that of
    the argument in place of each Array. `argnums` is as in `grad`. The cost grows with the size of the
    result in reverse mode, with the size of the argument in forward mode. Raises as `grad` does.

    >>> import anyarray as xp
    >>> slopes = xp.jacobian(lambda x: x**2)
    >>> x = xp.asarray([1.0, 2.0])
    >>> x.device.library == "numpy" or slopes(x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    True
    """
    if mode not in ("reverse", "forward"):
        raise _errors.ArgumentValueError(f'jacobian: mode must be "reverse" or "forward", not {mode!r}')
    _check("jacobian", f)
    _check_argnums("jacobian", argnums)

    @standing_for(f)
    @_clear_about_leaks("jacobian")
    def derivatives(*args: P.args, **kwargs: P.kwargs) -> Any:
        call = _Differentiated("jacobian", f, argnums, args, kwargs)
        structure: Structure = None

        def values(*xs: Native) -> list[Native]:
            nonlocal structure
            natives, structure = call.flat_result(call.chosen, xs)
            for value in _wrapped(natives, call.home):
                call.require_real(name_of(f), value)
            return natives

        rows = _hook("jacobian", call.home, "jacobian")(values, call.xs, mode)
        return _nested.rebuilt(structure, map(call.by_argument, rows))

    return derivatives


class _Differentiated(_Call):
    """A call, and which of its arrays derivatives are taken by."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        argnums: int | Sequence[int],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self._is_one = isinstance(argnums, int)
        wanted = [argnums] if isinstance(argnums, int) else list(argnums)
        for position in wanted:
            if not -len(args) <= position < len(args):
                raise _no_such_argument(name, function, position, len(args), kwargs)
        positions = [position % len(args) for position in wanted]
        if len(set(positions)) < len(positions):
            raise _errors.ArgumentValueError(f"{name}: argnums must name each argument once, not {tuple(wanted)}")
        numbers_too = [_with_arrays(one) if i in positions else one for i, one in enumerate(args)]
        super().__init__(name, function, tuple(numbers_too), kwargs)
        structures = self.structure[2][0][2]
        ends = [0]
        for one in structures:
            ends.append(ends[-1] + len(_nested.labels(one, "")))
        self._structures = [structures[i] for i in positions]
        self.chosen = [leaf for i in positions for leaf in range(ends[i], ends[i + 1])]
        """Which of the arrays."""
        self.xs = [self.natives[leaf] for leaf in self.chosen]
        labels = self.labels()
        for leaf, x in zip(self.chosen, _wrapped(self.xs, self.home), strict=True):
            self.require_real(labels[leaf], x)

    def require_real(self, label: str, x: Array) -> None:
        """Raise TypeError unless derivatives of or by `x` are real numbers."""
        if x.dtype.kind != "f":
            raise _errors.dtype_not_allowed(self.name, label, "real floating-point", x.dtype)

    def by_argument(self, derivatives: Sequence[Native]) -> Any:
        """Derivatives, one for each of `xs`, in the structure of the argument, of several in a tuple."""
        arrays = _wrapped(derivatives, self.home)
        found = [_nested.rebuilt(structure, arrays) for structure in self._structures]
        return found[0] if self._is_one else tuple(found)


def _check_argnums(name: str, argnums: Any) -> None:
    """Raise TypeError unless `argnums` is an integer or several, ValueError if one of them comes twice."""
    numbers = list(argnums) if isinstance(argnums, (tuple, list, range)) else [argnums]
    for one in numbers:
        if not isinstance(one, int) or isinstance(one, bool):
            raise _errors.ArgumentTypeError(
                f"{name}: argnums must be an int or a sequence of ints, not {argnums!r}. It counts arguments from 0"
            )
    if len(set(numbers)) < len(numbers):
        raise _errors.ArgumentValueError(f"{name}: argnums must name each argument once, not {tuple(numbers)}")


def _no_such_argument(
    name: str, function: Callable[..., Any], position: int, given: int, kwargs: dict[str, Any]
) -> _errors.ArgumentValueError:
    names = _positional(function)
    word = names[position] if -len(names) <= position < len(names) else None
    if word in kwargs:
        return _errors.ArgumentValueError(
            f"{name}: argnums counts the arguments that are given by position, {given} here, but {position} is {word}, "
            f"which came by name. Give it by position"
        )
    return _errors.ArgumentValueError(
        f"{name}: argnums must name arguments that are given by position, {given} here, not {position}"
    )


def _with_arrays(value: Any) -> Any:
    """`value` with its Python numbers as Arrays."""
    return asarray(value) if type(value) in _dispatch.SCALARS else _nested.mapped(value, _with_arrays)


@_clear_about_leaks("stop_gradient")
def stop_gradient(x: T, /) -> T:
    """The same values, as constants for derivatives.

    >>> import anyarray as xp
    >>> xp.stop_gradient(xp.asarray([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    array = _leaf_of_argument(x)
    if array is None:
        return _nested.mapped(x, stop_gradient)  # type: ignore[no-any-return]  # of the class that came
    home = _home("stop_gradient", [array])
    native = _dispatch.brought(array, home, "stop_gradient")
    if home.backend.has_hook("stop_gradient"):
        native = home.stop_gradient(native)
    return _dispatch.wrap(native, home)  # type: ignore[return-value]  # an Array came, or an array of a library


def vmap(f: Callable[P, R], /, in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[P, R]:
    """`f`, applied to each element along an axis of its arguments at once; the results are stacked.

    `in_axes` is the axis for all arguments, or one for each; None leaves an argument as it is, and so does not being
    an array. A nested argument takes one axis for all of it, or the same nest of axes. Arguments by keyword are mapped
    over axis 0. `out_axes` says likewise where the new axis of the results is. On NumPy and CuPy `f` runs once for all
    elements, or once for each if it asks for values.
    Raises ValueError if the axes have different lengths.

    >>> import anyarray as xp
    >>> x, y = xp.asarray([[1.0, 2.0], [3.0, 4.0]]), xp.asarray([1.0, 10.0])
    >>> xp.vmap(xp.vecdot, in_axes=(0, None))(x, y).tolist()
    [21.0, 43.0]
    """
    _check("vmap", f)

    @standing_for(f)
    @_clear_about_leaks("vmap")
    def mapped(*args: P.args, **kwargs: P.kwargs) -> Any:
        call = _Call("vmap", f, args, kwargs)
        has_own = call.home.backend.has_hook("vmap")
        home = call.home if has_own else _batching.home_inside(call.home)
        axes = _axes_of_arguments(call, in_axes)
        chosen = [i for i, axis in enumerate(axes) if axis is not None]
        length = _length(call, axes)
        structure: Structure = None

        def values(*xs: Native) -> list[Native]:
            nonlocal structure
            natives, structure = call.flat_result(chosen, xs)
            return natives

        xs = [_moved(call.natives[i], axes[i], 0, home) for i in chosen]
        found = home.vmap(values, xs) if has_own else _at_once(values, xs, length or 0, home)
        places = _axes("out_axes", out_axes, structure)
        if None in places:
            raise _errors.ArgumentValueError("vmap: out_axes must be made of integers, not None")
        return call.wrapped(structure, [_moved(y, 0, place, home) for y, place in zip(found, places, strict=True)])

    return mapped


def _axes_of_arguments(call: _Call, in_axes: Axes) -> list[int | None]:
    """The axis of each of the arrays."""
    args, kwargs = call.structure[2]
    return _axes("in_axes", in_axes, args) + _axes("in_axes", 0, kwargs)


def _axes(name: str, axes: Any, structure: Structure) -> list[int | None]:
    """The axis of each leaf, if `axes` is one for all or has the parts of the structure."""
    if axes is None or type(axes) is int:
        return [axes] * len(_nested.labels(structure, ""))
    content = _nested.opened(axes)
    if type(structure) is Static and content is not None:
        return []
    if content is None or structure is LEAF:
        wanted = "an integer or None" if structure is LEAF else "made of integers and None"
        raise _errors.ArgumentTypeError(f"vmap: {name} must be {wanted} there, not {type(axes).__name__}")
    keys, parts = content[0], list(content[1])
    _, wanted_keys, wanted_parts = cast(tuple[Any, Any, Any], structure)
    if (keys is None) != (wanted_keys is None) or len(parts) != len(wanted_parts):
        raise _errors.ArgumentValueError(
            f"vmap: {name} must have the structure of what it is for, {len(wanted_parts)} parts, not {len(parts)}"
        )
    if keys is not None:
        by_key = dict(zip(keys, parts, strict=True))
        parts = [by_key.get(key) for key in wanted_keys]
    return [axis for part, one in zip(parts, wanted_parts, strict=True) for axis in _axes(name, part, one)]


def _length(call: _Call, axes: Sequence[int | None]) -> int | None:
    """The length of the mapped axes; None if it is unknown under a trace."""
    lengths: dict[str, int | None] = {}
    for label, native, axis in zip(call.labels(), call.natives, axes, strict=True):
        if axis is not None:
            shape = call.home.shape_of(native)
            if not -len(shape) <= axis < len(shape):
                raise _errors.no_such_axis("vmap", axis, len(shape))
            lengths[label] = shape[axis]
    if not lengths:
        raise _errors.ArgumentValueError("vmap: in_axes must map an axis of some Array, but there is none to map")
    known = {label: length for label, length in lengths.items() if length is not None}
    first = next(iter(known), None)
    for label, length in known.items():
        if first is not None and length != known[first]:
            raise _errors.ArgumentValueError(
                f"vmap: the mapped axes must have one length, but that of {first} is {known[first]} and that of "
                f"{label} is {length}. Leave one as it is: in_axes=(0, None)"
            )
    return None if first is None else known[first]


def _moved(x: Native, source: int | None, destination: int | None, home: Home) -> Native:
    return x if source == destination else home.moveaxis(x, source, destination)


def _at_once(function: Callable[..., list[Native]], xs: Sequence[Native], length: int, home: Home) -> list[Native]:
    """What a library's own `vmap` would give: all elements in one batch if that goes, else one after the other."""
    batch = _batching.Batch(home, length)
    found: list[Native] = []
    try:
        with batch.open():
            found += map(batch.stack_of, function(*[_batching.Batched(batch, x) for x in xs]))
    except Exception:  # noqa: BLE001 - if it is not the batch's fault, an element raises it, and says it better
        batch.is_refused = True
    if batch.is_refused:
        return _one_by_one(function, xs, length, home)
    return [_dispatch.unshared(one, xs, home) for one in found]  # a view of what was handed in, else


def _one_by_one(function: Callable[..., list[Native]], xs: Sequence[Native], length: int, home: Home) -> list[Native]:
    rows = [function(*[home.getitem(x, i) for x in xs]) for i in range(length)]
    if not rows:
        # Zeros stand for the elements, to tell shapes and dtypes.
        backend = home.backend
        zeros = [home.zeros(home.shape_of(x)[1:], dtype=home.dtype_of(x), device=backend.native_device) for x in xs]
        return [home.getitem(home.expand_dims(y, 0), slice(0, 0)) for y in function(*zeros)]
    return [home.stack(list(column), axis=0) for column in zip(*rows, strict=True)]
