"""Derivatives of functions: gradients and Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from anyarray._array.array import Array
from anyarray._base import errors, nested
from anyarray._base.functions import name_of, wraps
from anyarray._base.nested import Structure
from anyarray._call import dispatch
from anyarray._registry.home import Native
from anyarray.standard.creation import asarray
from anyarray.transforms._call import (
    Call,
    P,
    R,
    check,
    clear_about_leaks,
    home_of,
    hook_of,
    leaf_of_argument,
    positional_of,
    wrapped_on,
)

T = TypeVar("T")


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

    @wraps(f)
    def gradient(*args: P.args, **kwargs: P.kwargs) -> Any:
        return value_and_gradient(args, kwargs)[1]

    return gradient


def value_and_grad(f: Callable[P, R], /, argnums: int | Sequence[int] = 0) -> Callable[P, tuple[R, Any]]:
    """The value of a function that gives one real number, and its gradient.

    The rest is as in `grad`.

    >>> import anyarray as xp
    >>> both = xp.value_and_grad(lambda x: xp.sum(x**2))
    >>> x = xp.asarray([1.0, 2.0])
    >>> x.device.library == "numpy" or float(both(x)[0]) == 5.0
    True
    """
    value_and_gradient = _value_and_grad("value_and_grad", f, argnums)

    @wraps(f)
    def both(*args: P.args, **kwargs: P.kwargs) -> tuple[R, Any]:
        return value_and_gradient(args, kwargs)

    return both


def _value_and_grad(
    name: str, function: Callable[..., Any], argnums: int | Sequence[int]
) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, Any]]:
    check(name, function)
    argnums = _integers(name, argnums)

    @clear_about_leaks(name)
    def called(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        call = _Differentiated(name, function, argnums, args, kwargs)

        def value_of_xs(*xs: Native) -> Native:
            value = call.result(call.chosen, xs)
            if type(value) is not Array:
                raise errors.ArgumentTypeError(
                    f"{name}: {name_of(function)} must give an Array, not {type(value).__name__}. "
                    "Return what functions of Arrays give, such as xp.sum(...)"
                )
            if value.ndim:
                raise errors.ArgumentValueError(
                    f"{name}: {name_of(function)} must give an Array without axes, not of shape {value.shape}. "
                    "Reduce it, as by xp.sum(...), or take xp.jacobian"
                )
            call.require_real(name_of(function), value)
            return dispatch.native_on(value, call.home, name)

        value, gradients = hook_of(name, call.home, "value_and_grad")(value_of_xs, call.xs)
        return next(wrapped_on([value], call.home)), call.by_argument(gradients)

    return called


def jacobian(
    f: Callable[P, Any], /, argnums: int | Sequence[int] = 0, mode: Literal["reverse", "forward"] = "reverse"
) -> Callable[P, Any]:
    """The derivatives of all elements of a result by those of an argument.

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
        raise errors.ArgumentValueError(f'jacobian: mode must be "reverse" or "forward", not {mode!r}')
    check("jacobian", f)
    argnums = _integers("jacobian", argnums)

    @wraps(f)
    @clear_about_leaks("jacobian")
    def derivatives(*args: P.args, **kwargs: P.kwargs) -> Any:
        call = _Differentiated("jacobian", f, argnums, args, kwargs)
        structure: Structure = None

        def values(*xs: Native) -> list[Native]:
            nonlocal structure
            natives, structure = call.flat_result(call.chosen, xs)
            for value in wrapped_on(natives, call.home):
                call.require_real(name_of(f), value)
            return natives

        rows = hook_of("jacobian", call.home, "jacobian")(values, call.xs, mode)
        return nested.unflatten(structure, map(call.by_argument, rows))

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
        super().__init__(name, function, tuple(numbers_too), kwargs)
        structures = self.structure[2][0][2]
        ends = [0]
        for one in structures:
            ends.append(ends[-1] + len(nested.labels(one, "")))
        self._structures = [structures[i] for i in positions]
        self.chosen = [leaf for i in positions for leaf in range(ends[i], ends[i + 1])]
        """Indices of these arrays among all."""
        self.xs = [self.natives[leaf] for leaf in self.chosen]
        labels = self.labels()
        for leaf, x in zip(self.chosen, wrapped_on(self.xs, self.home), strict=True):
            self.require_real(labels[leaf], x)

    def require_real(self, label: str, x: Array) -> None:
        """Raise TypeError unless `x` has a real floating-point dtype."""
        if x.dtype.kind != "f":
            raise errors.dtype_not_allowed(self.name, label, "real floating-point", x.dtype)

    def by_argument(self, derivatives: Sequence[Native]) -> Any:
        """Derivatives, one for each of `xs`, in the structure of the argument.

        For several arguments, a tuple.
        """
        arrays = wrapped_on(derivatives, self.home)
        found = [nested.unflatten(structure, arrays) for structure in self._structures]
        return found[0] if self._is_one else tuple(found)


def _integers(name: str, argnums: Any) -> int | tuple[int, ...]:
    """`argnums` as Python ints.

    Raises TypeError unless it is an integer or a sequence of them, ValueError for duplicates.
    """
    plain: Any = dispatch.as_python_integers(argnums)
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
    """`value` with its Python numbers as Arrays."""
    return asarray(value) if type(value) in dispatch.SCALARS else nested.map_parts(value, _with_arrays)


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
    home = home_of("stop_gradient", [array])
    native = dispatch.native_on(array, home, "stop_gradient")
    if home.backend.has_hook("stop_gradient"):
        native = home.stop_gradient(native)
    return dispatch.wrap(native, home)  # type: ignore[return-value]  # an Array came, or an array of a library
