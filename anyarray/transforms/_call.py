"""Calls of transformed functions: code that all transforms share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar

from anyarray._array.array import Array
from anyarray._base import callers, errors, nested
from anyarray._base.functions import check_is_function, is_async, name_of
from anyarray._base.nested import Structure
from anyarray._call import batching, diagnosis, inner
from anyarray._call.arguments import as_array
from anyarray._call.placement import home_of_arrays, native_on
from anyarray._call.wrapping import SCALARS, wrap_apart
from anyarray._choice import choice
from anyarray._registry import home as _home
from anyarray._registry import libraries, registry
from anyarray._registry.home import Home, Native
from anyarray.standard.creation import asarray

P = ParamSpec("P")
R = TypeVar("R")


def leaf(value: Any) -> Array | None:
    """An Array of an array of any library; None for anything else."""
    kind = type(value)
    if kind is Array:
        return value  # type: ignore[no-any-return]  # `kind` says so
    if kind in SCALARS or kind is str or value is None:
        return None
    return as_array("transform", "argument", value) if registry.backend_of_native(value) else None


def leaf_of_argument(value: Any) -> Array | None:
    """As `leaf`, but an array of a dtype that Arrays lack is a constant.

    An example is an array of strings.
    """
    try:
        return leaf(value)
    except errors.ArgumentTypeError:
        return None


def leaf_or_number(value: Any) -> Array | None:
    """As `leaf`; a Python number becomes an Array of its default dtype."""
    return asarray(value) if type(value) in SCALARS else leaf(value)


class Call:
    """A call of `function`: its Arrays as native arrays, all on one home.

    `structure` is that of `args` and `kwargs`, with all other arguments.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        elsewhere: Callable[[Home], Home] | None = None,
    ) -> None:
        self.name = name
        self.function = function
        arrays: list[Array] = []
        self.structure = nested.flatten((args, kwargs), arrays, leaf_of_argument)
        self.given = self.home = home_of(name, arrays)
        """The home of the arguments, and that of the call; results move back."""
        if elsewhere is not None and not any(type(one._native) is batching.Batched for one in arrays):
            self.home = elsewhere(self.home)
        asked_for = self.home is not self.given
        self.natives = [native_on(one, self.home, name, explicit=asked_for) for one in arrays]

    def result(self, chosen: Sequence[int], xs: Sequence[Native]) -> Any:
        """Call the function with `xs` in place of the chosen arrays."""
        natives = list(self.natives)
        for position, x in zip(chosen, xs, strict=True):
            natives[position] = x
        return run_on(self.function, self.home, self.structure, natives)

    def flat_result(self, chosen: Sequence[int], xs: Sequence[Native]) -> tuple[list[Native], Structure]:
        """The result as native arrays, also of numbers, and the structure."""
        return self.flat(self.result(chosen, xs), leaf_or_number)

    def flat(self, value: Any, taken: Callable[[Any], Array | None]) -> tuple[list[Native], Structure]:
        """The result as native arrays, and the structure."""
        arrays: list[Array] = []
        structure = nested.flatten(value, arrays, taken)
        return [native_on(one, self.home, self.name) for one in arrays], structure

    def wrapped(self, structure: Structure, natives: Sequence[Native]) -> Any:
        """Unflatten native arrays of the home, as Arrays for the caller."""
        return nested.unflatten(structure, self.brought_back(natives))

    def brought_back(self, natives: Sequence[Native]) -> Iterator[Array]:
        """Native arrays of the home as Arrays on the home of the arguments."""
        arrays = wrapped_on(natives, self.home)
        if self.home is self.given:
            return arrays
        brought = [native_on(x, self.given, self.name, explicit=True) for x in arrays]
        return wrapped_on(brought, self.given)

    def labels(self) -> list[str]:
        """The names in messages of the Arrays among the arguments."""
        (_, _, args), keyword = self.structure[2]
        names = positional_of(self.function)
        names += [f"argument {i}" for i in range(len(names), len(args))]
        labels = [label for name, arg in zip(names, args, strict=False) for label in nested.labels(arg, name)]
        _, words, values = keyword
        return labels + [label for word, arg in zip(words, values, strict=True) for label in nested.labels(arg, word)]


def home_of(name: str, arrays: Sequence[Array]) -> Home:
    return home_of_arrays(name, arrays) if arrays else choice.chosen_home()


def wrapped_on(natives: Sequence[Native], home: Home) -> Iterator[Array]:
    # What the function writes to its arguments stays with it.
    return (wrap_apart(x, x.home if isinstance(x, inner.Standing) else home) for x in natives)


def run_on(function: Callable[..., Any], home: Home, structure: Structure, natives: Sequence[Native]) -> Any:
    """Call a function on the backend of `home` with flattened arguments."""
    args, kwargs = nested.unflatten(structure, wrapped_on(natives, home))
    with choice.backend(home.backend):
        return function(*args, **kwargs)


def hook_of(name: str, home: Home, hook: str) -> Callable[..., Any]:
    """The hook for derivatives of that name, of the backend or the open batch.

    Raises UnsupportedError if it has none.
    """
    if not home.backend.has_hook(hook):
        differentiating = [library.name for library in libraries.LIBRARIES.values() if library.has_derivatives]
        cures = " or ".join(f'with xp.backend("{library}")' for library in differentiating)
        raise errors.UnsupportedError(
            f"{name}: {home.backend} has no derivatives. Choose a backend that has: {cures}, "
            f'or name one for derivatives alone: xp.{name}(f, backend="{differentiating[0]}")'
        )
    return getattr(batching.home_inside(home), hook)  # type: ignore[no-any-return]  # a function, by the contract


for _name in ("jacobian", "value_and_grad", "vectorized_map", "vmap"):
    _home.declare(_name)


def positional_of(function: Callable[..., Any]) -> list[str]:
    """Names of the positional parameters; empty if there is no signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions written in C
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def check(name: str, function: Any) -> None:
    """Raise TypeError for functions that transforms do not support.

    These are objects that are not callable, generator functions and coroutine functions.
    """
    check_is_function(name, function)
    if is_async(function):
        raise errors.ArgumentTypeError(
            f"{name}: f must be a function that returns its result, not the async function {name_of(function)}. "
            "Transform the function that it calls"
        )


def pair(name: str, function: Callable[..., Any], result: Any, wanted: str, cure: str) -> tuple[Any, Any]:
    """The pair that a function returned; else raise TypeError."""
    if isinstance(result, (tuple, list)) and len(result) == 2:
        return result[0], result[1]
    came = type(result).__name__ + (f" of {len(result)}" if isinstance(result, (tuple, list)) else "")
    raise errors.ArgumentTypeError(f"{name}: {name_of(function)} must {wanted}, not {came}. {cure}")


def _packages() -> list[str]:
    """The packages of the libraries; a library may have several."""
    return [root for row in libraries.LIBRARIES.values() for root in (row.package, *row.roots)]


def clear_about_leaks(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that raises TraceError for a library's leaked tracer.

    Tracebacks of errors of the function omit our frames; see `callers.shortened`.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                if errors.is_signal(error):
                    raise
                try:
                    diagnosis.diagnose_failure(error, name)
                except errors.AnyarrayError as clear:
                    error = clear
                raise callers.shortened(error, _packages()) from error.__cause__

        return called

    return decorated
