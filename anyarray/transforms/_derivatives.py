"""Derivatives of functions: gradients and Jacobians."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Concatenate, Final, Literal, Protocol, TypeAlias, TypeVar, overload

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors, nested
from anyarray._base.functions import name_of, wraps
from anyarray._base.nested import LEAF, Static, Structure
from anyarray._call.arguments import as_python_integers
from anyarray._call.placement import constant, native_on
from anyarray._call.wrapping import SCALARS
from anyarray._registry import libraries, registry
from anyarray._registry.home import Home, Native
from anyarray._registry.registry import Backend
from anyarray.standard.creation import asarray
from anyarray.transforms._call import (
    Call,
    P,
    R,
    check,
    clear_about_leaks,
    hook_of,
    leaf,
    leaf_of_argument,
    leaf_or_number,
    pair,
    positional_of,
    wrapped_on,
)

A = TypeVar("A")
T = TypeVar("T")
W = TypeVar("W")
Argument = TypeVar("Argument", contravariant=True)
Result = TypeVar("Result", covariant=True)
_First: TypeAlias = Literal[0]
_Mode: TypeAlias = Literal["reverse", "forward"]
_Numbers: TypeAlias = int | Sequence[int]
_No: TypeAlias = Literal[False]
_Where: TypeAlias = str | Backend | None
_Yes: TypeAlias = Literal[True]


class Gradient(Protocol[Argument, P, Result]):
    """A function of the same arguments that returns a derivative.

    The derivative is by the first argument and has its type; by a Python float, it is an Array.
    """

    @overload
    def __call__(self, w: Argument, /, *args: P.args, **kwargs: P.kwargs) -> Result: ...
    @overload
    def __call__(self, **named: Any) -> Any: ...


@overload
def grad(
    f: Callable[Concatenate[AnyArray, P], Any], /, argnums: _First = 0, *, has_aux: _No = False, backend: _Where = None
) -> Gradient[AnyArray, P, Array]: ...
@overload
def grad(
    f: Callable[Concatenate[float, P], Any], /, argnums: _First = 0, *, has_aux: _No = False, backend: _Where = None
) -> Gradient[float, P, Array]: ...
@overload
def grad(
    f: Callable[Concatenate[W, P], Any], /, argnums: _First = 0, *, has_aux: _No = False, backend: _Where = None
) -> Gradient[W, P, W]: ...
@overload
def grad(
    f: Callable[Concatenate[W, P], tuple[Any, A]], /, argnums: _First = 0, *, has_aux: _Yes, backend: _Where = None
) -> Gradient[W, P, tuple[W, A]]: ...
@overload
def grad(
    f: Callable[P, tuple[Any, A]], /, argnums: _Numbers = 0, *, has_aux: _Yes, backend: _Where = None
) -> Callable[P, tuple[Any, A]]: ...
@overload
def grad(
    f: Callable[P, Any], /, argnums: _Numbers = 0, *, has_aux: _No = False, backend: _Where = None
) -> Callable[P, Any]: ...
def grad(
    f: Callable[P, Any],
    /,
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    backend: str | Backend | None = None,
) -> Callable[P, Any]:
    """The gradient of a function that returns one real number.

    The gradient has the structure of the argument `argnums`, with an Array for each Array and Python float in it; for
    several arguments, it is a tuple. Everything else in a container is a constant, and the gradient holds None for it:
    integers and booleans, Arrays of them, text, None. With `has_aux`, the function returns a pair of the number and
    auxiliary data, and the result is a pair of the gradient and that data. The function may be written in jax.numpy or
    TensorFlow if it runs there. If the library of the arrays has no derivatives, as NumPy, `backend` computes them and
    the results move back. `backend` is a name, or "any" for any installed library with derivatives.
    Raises TypeError unless the argument and the result are of a real floating-point dtype, ValueError if the result has
    axes, UnsupportedError on a backend without derivatives.

    >>> import anyarray as xp
    >>> slope = xp.grad(lambda x: xp.sum(x**2))
    >>> x = xp.asarray([1.0, 2.0])
    >>> x.device.library == "numpy" or slope(x).tolist() == [2.0, 4.0]
    True
    """
    value_and_gradient = _value_and_grad("grad", f, argnums, has_aux, backend)

    @wraps(f)
    def gradient(*args: P.args, **kwargs: P.kwargs) -> Any:
        value, found = value_and_gradient(args, kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


@overload
def value_and_grad(
    f: Callable[Concatenate[AnyArray, P], R], /, argnums: _First = 0, *, has_aux: _No = False, backend: _Where = None
) -> Gradient[AnyArray, P, tuple[R, Array]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[float, P], R], /, argnums: _First = 0, *, has_aux: _No = False, backend: _Where = None
) -> Gradient[float, P, tuple[R, Array]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[W, P], R], /, argnums: _First = 0, *, has_aux: _No = False, backend: _Where = None
) -> Gradient[W, P, tuple[R, W]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[W, P], tuple[R, A]], /, argnums: _First = 0, *, has_aux: _Yes, backend: _Where = None
) -> Gradient[W, P, tuple[tuple[R, A], W]]: ...
@overload
def value_and_grad(
    f: Callable[P, tuple[R, A]], /, argnums: _Numbers = 0, *, has_aux: _Yes, backend: _Where = None
) -> Callable[P, tuple[tuple[R, A], Any]]: ...
@overload
def value_and_grad(
    f: Callable[P, R], /, argnums: _Numbers = 0, *, has_aux: _No = False, backend: _Where = None
) -> Callable[P, tuple[R, Any]]: ...
def value_and_grad(
    f: Callable[P, Any],
    /,
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    backend: str | Backend | None = None,
) -> Callable[P, tuple[Any, Any]]:
    """The value of a function that returns one real number, and its gradient.

    With `has_aux`, the function returns a pair of the number and auxiliary data, which replaces the value. Otherwise it
    is like `grad`.

    >>> import anyarray as xp
    >>> both = xp.value_and_grad(lambda x: xp.sum(x**2))
    >>> x = xp.asarray([1.0, 2.0])
    >>> x.device.library == "numpy" or float(both(x)[0]) == 5.0
    True
    """
    value_and_gradient = _value_and_grad("value_and_grad", f, argnums, has_aux, backend)

    @wraps(f)
    def both(*args: P.args, **kwargs: P.kwargs) -> tuple[Any, Any]:
        return value_and_gradient(args, kwargs)

    return both


def _value_and_grad(
    name: str,
    function: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    backend: str | Backend | None,
) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, Any]]:
    check(name, function)
    argnums = _integers(name, argnums)
    elsewhere = _elsewhere(name, backend)

    @clear_about_leaks(name)
    def called(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        call = _Differentiated(name, function, argnums, args, kwargs, elsewhere)
        aux: Structure = None

        def value_of_xs(*xs: Native) -> Any:
            nonlocal aux
            value = call.result(call.chosen, xs)
            if not has_aux:
                return native_of(value)
            value, extra = pair(name, function, value, *_AUX)
            natives, aux = call.flat(extra, leaf)
            return native_of(value), natives

        def native_of(given: Any) -> Native:
            value = _of_its_library(given, call.home)
            if type(value) is not Array:
                cure = "Return what functions of Arrays give, such as xp.sum(...)"
                if isinstance(value, tuple) and len(value) == 2 and not has_aux:
                    cure += ", or take has_aux=True for a pair of that and anything else"
                raise errors.ArgumentTypeError(
                    f"{name}: {name_of(function)} must give an Array, not {type(value).__name__}. {cure}"
                )
            if value.ndim:
                raise errors.ArgumentValueError(
                    f"{name}: {name_of(function)} must give an Array without axes, not of shape {value.shape}. "
                    "Reduce it, as by xp.sum(...), or take xp.jacobian"
                )
            call.require_real(name_of(function), value)
            return native_on(value, call.home, name)

        value_and_gradients = hook_of(name, call.home, "value_and_grad")
        if not has_aux:
            value, gradients = value_and_gradients(value_of_xs, call.xs)
            return next(call.brought_back([value])), call.by_argument(gradients)
        (value, others), gradients = value_and_gradients(value_of_xs, call.xs, has_aux=True)
        [value] = call.brought_back([value])
        return (value, call.wrapped(aux, others)), call.by_argument(gradients)

    return called


def _of_its_library(value: Any, home: Home) -> Any:
    """A native array as an Array, if its library is that of `home`.

    Functions that are written in jax.numpy or TensorFlow return native arrays. An array of another library was not
    traced.
    """
    if type(value) is not Array and value is not None:
        found = registry.backend_of_native(value)
        if found is not None and found.library == home.backend.library:
            return leaf(value)
    return value


def _elsewhere(name: str, backend: str | Backend | None) -> Callable[[Home], Home] | None:
    """A function from a home to the home that computes derivatives for it.

    It is the same home if it has derivatives, else the named one.
    """
    if backend is None:
        return None
    if backend != ANY:
        registry.parse(str(backend))  # reports a misspelled name at once

    def elsewhere(home: Home) -> Home:
        if home.backend.has_hook("value_and_grad"):
            return home
        named = _any_with_derivatives(name) if backend == ANY else registry.as_backend(backend)
        return named.free

    return elsewhere


_AUX: Final = "give a pair with has_aux=True", "Return value, extra"
"""What a function does that gives a value and something else, and the cure."""

ANY: Final = "any"
"""A value of `backend`: any installed backend with derivatives."""


def _any_with_derivatives(name: str) -> Backend:
    """A backend with derivatives, if possible of a library that is imported.

    Raises BackendNotInstalledError.
    """
    rows = [library for library in libraries.LIBRARIES.values() if library.has_derivatives]
    for row in sorted(rows, key=lambda library: library.package not in sys.modules):
        if row.is_installed:
            return registry.backend_of_name(row.name)
    raise errors.BackendNotInstalledError(
        f"{name}: no library with derivatives is installed. Run: {' or '.join(row.install_line for row in rows)}"
    )


@overload
def jacobian(
    f: Callable[Concatenate[AnyArray, P], Array],
    /,
    argnums: _First = 0,
    mode: _Mode = "reverse",
    *,
    has_aux: _No = False,
    backend: _Where = None,
) -> Gradient[AnyArray, P, Array]: ...
@overload
def jacobian(
    f: Callable[Concatenate[Array, P], Array],
    /,
    argnums: _First = 0,
    mode: _Mode = "reverse",
    *,
    has_aux: _No = False,
    backend: _Where = None,
) -> Gradient[Array, P, Array]: ...
@overload
def jacobian(
    f: Callable[P, tuple[Any, A]],
    /,
    argnums: int | Sequence[int] = 0,
    mode: _Mode = "reverse",
    *,
    has_aux: _Yes,
    backend: _Where = None,
) -> Callable[P, tuple[Any, A]]: ...
@overload
def jacobian(
    f: Callable[P, Any],
    /,
    argnums: int | Sequence[int] = 0,
    mode: _Mode = "reverse",
    *,
    has_aux: _No = False,
    backend: _Where = None,
) -> Callable[P, Any]: ...
def jacobian(
    f: Callable[P, Any],
    /,
    argnums: int | Sequence[int] = 0,
    mode: Literal["reverse", "forward"] = "reverse",
    *,
    has_aux: bool = False,
    backend: str | Backend | None = None,
) -> Callable[P, Any]:
    """The derivatives of all elements of the result by those of an argument.

    The Jacobian is an Array with the axes of the result, then those of the argument. For nested values, it has the
    structure of the result, with the structure of the argument in place of each Array. `argnums`, constants, `has_aux`,
    `backend` and errors are as in `grad`. The cost grows with the size of the result in reverse mode, and with the size
    of the argument in forward mode.

    >>> import anyarray as xp
    >>> slopes = xp.jacobian(lambda x: x**2)
    >>> x = xp.asarray([1.0, 2.0])
    >>> x.device.library == "numpy" or slopes(x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    True
    """
    if mode not in ("reverse", "forward"):
        raise errors.ArgumentValueError(f'jacobian: mode must be "reverse" or "forward", not {mode!r}')
    check("jacobian", f)
    argnums = _integers("jacobian", argnums)
    elsewhere = _elsewhere("jacobian", backend)

    @wraps(f)
    @clear_about_leaks("jacobian")
    def derivatives(*args: P.args, **kwargs: P.kwargs) -> Any:
        call = _Differentiated("jacobian", f, argnums, args, kwargs, elsewhere)
        structure: Structure = None
        aux: Structure = None

        def values(*xs: Native) -> Any:
            nonlocal structure, aux
            result, extra = call.result(call.chosen, xs), None
            if has_aux:
                result, extra = pair("jacobian", f, result, *_AUX)
            natives, structure = call.flat(result, leaf_or_number)
            for value in wrapped_on(natives, call.home):
                call.require_real(name_of(f), value)
            if not has_aux:
                return natives
            others, aux = call.flat(extra, leaf)
            return natives, others

        jacobian_of = hook_of("jacobian", call.home, "jacobian")
        if not has_aux:
            rows = jacobian_of(values, call.xs, mode)
            return nested.unflatten(structure, map(call.by_argument, rows))
        rows, others = jacobian_of(values, call.xs, mode, has_aux=True)
        return nested.unflatten(structure, map(call.by_argument, rows)), call.wrapped(aux, others)

    return derivatives


class _Differentiated(Call):
    """A call, and the arrays with respect to which it is differentiated."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        argnums: int | Sequence[int],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        elsewhere: Callable[[Home], Home] | None,
    ) -> None:
        self._is_one = isinstance(argnums, int)
        wanted = [argnums] if isinstance(argnums, int) else list(argnums)
        for position in wanted:
            if not -len(args) <= position < len(args):
                raise _no_such_argument(name, function, position, len(args), kwargs)
        positions = [position % len(args) for position in wanted]
        if len(set(positions)) < len(positions):
            raise _named_twice(name, wanted)
        numbers_too = [_with_arrays(one) if i in positions else one for i, one in enumerate(args)]
        super().__init__(name, function, tuple(numbers_too), kwargs, elsewhere)
        structures = self.structure[2][0][2]
        ends = [0]
        for one in structures:
            ends.append(ends[-1] + len(nested.labels(one, "")))
        arrays = list(wrapped_on(self.natives, self.home))
        labels = self.labels()
        self.chosen: list[int] = []
        """The positions of the arrays."""
        self._structures: list[Structure] = []
        for i in positions:
            is_alone = structures[i] is LEAF
            leaves = range(ends[i], ends[i + 1])
            chosen = [at for at in leaves if is_alone or arrays[at].dtype.kind not in "biu"]
            for at in chosen:
                self.require_real(labels[at], arrays[at])
            self.chosen += chosen
            self._structures.append(_of_slopes(structures[i], iter([at in chosen for at in leaves])))
        self.xs = [self.natives[at] for at in self.chosen]

    def require_real(self, label: str, x: Array) -> None:
        """Raise TypeError unless `x` has a real floating-point dtype."""
        if x.dtype.kind != "f":
            raise errors.dtype_not_allowed(self.name, label, "real floating-point", x.dtype)

    def by_argument(self, derivatives: Sequence[Native]) -> Any:
        """Derivatives, one for each of `xs`, in the structure of the argument.

        For several arguments, a tuple.
        """
        arrays = self.brought_back(derivatives)
        found = [nested.unflatten(structure, arrays) for structure in self._structures]
        return found[0] if self._is_one else tuple(found)


def _integers(name: str, argnums: Any) -> int | tuple[int, ...]:
    """`argnums` as Python ints.

    Raises TypeError unless it is an integer or a sequence of them, ValueError for duplicates.
    """
    plain: Any = as_python_integers(argnums)
    numbers = plain if isinstance(plain, tuple) else (plain,)
    for one in numbers:
        if not isinstance(one, int) or isinstance(one, bool):
            raise errors.ArgumentTypeError(
                f"{name}: argnums must be an int or a sequence of ints, not {argnums!r}. It counts arguments from 0"
            )
    if len(set(numbers)) < len(numbers):
        raise _named_twice(name, numbers)
    return plain  # type: ignore[no-any-return]  # looked at above


def _named_twice(name: str, argnums: Sequence[int]) -> errors.ArgumentValueError:
    return errors.ArgumentValueError(f"{name}: argnums must name each argument once, not {tuple(argnums)}")


def _no_such_argument(
    name: str, function: Callable[..., Any], position: int, given: int, kwargs: dict[str, Any]
) -> errors.ArgumentValueError:
    names = positional_of(function)
    word = names[position] if -len(names) <= position < len(names) else None
    if word in kwargs:
        return errors.ArgumentValueError(
            f"{name}: argnums counts the arguments that are given by position, {given} here, but {position} is {word}, "
            f"which came by name. Give it by position"
        )
    return errors.ArgumentValueError(
        f"{name}: argnums must name arguments that are given by position, {given} here, not {position}"
    )


def _with_arrays(value: Any) -> Any:
    """`value` with its Python floats as Arrays, also a single number.

    Complex numbers become Arrays, too, and are then refused.
    """
    return asarray(value) if type(value) in SCALARS else nested.map_parts(value, _with_floats_as_arrays)


def _with_floats_as_arrays(part: Any) -> Any:
    return asarray(part) if type(part) in (float, complex) else nested.map_parts(part, _with_floats_as_arrays)


def _of_slopes(structure: Structure, is_chosen: Iterator[bool]) -> Structure:
    """The structure of a gradient: None for constants."""
    if structure is LEAF and next(is_chosen):
        return LEAF
    if structure is LEAF or type(structure) is Static:
        return Static(None)
    kind, keys, parts = structure
    return kind, keys, tuple([_of_slopes(part, is_chosen) for part in parts])


@clear_about_leaks("stop_gradient")
def stop_gradient(x: T, /) -> T:
    """The same values, as constants for derivatives.

    >>> import anyarray as xp
    >>> xp.stop_gradient(xp.asarray([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    array = leaf_of_argument(x)
    if array is None:
        return nested.map_parts(x, stop_gradient)  # type: ignore[no-any-return]  # of the class that came
    return constant("stop_gradient", array)  # type: ignore[return-value]  # an Array, or an array of a library
