"""Functions composed of others, each compiled as a whole.

One after the other they take the overhead of a call each, from 5 us on; XLA runs them as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import jax

from anyarray.backends.jax._kernel import compiled
from anyarray.backends.jax._scope import scoped

__all__ = ["compiled_composition"]

_MOST: Final = 256
"""The maximum number of forms that are compiled, as a program may vary a number."""


class _Constant:
    """An argument that is no array.

    As a key it differs by class, and by the sign of a zero.
    """

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key = (type(value), repr(value) if isinstance(value, (float, complex)) else value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Constant) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def compiled_composition(function: Callable[..., Any], device: Any) -> Callable[..., Any]:
    """A function of native arrays, compiled for each form of call.

    A form is all arguments but the arrays. Calls with tracers are not compiled, as what traces them is.
    """

    @compiled
    def run(*arrays: Any, form: tuple[Any, ...]) -> Any:
        left = iter(arrays)
        args, kwargs = form
        return function(*[_filled(one, left) for one in args], **{name: _filled(one, left) for name, one in kwargs})

    in_scope = scoped(run, device)
    forms: set[Any] = set()

    def called(*args: Any, **kwargs: Any) -> Any:
        arrays: list[Any] = []
        form = (
            tuple([_without_arrays(one, arrays) for one in args]),
            tuple([(name, _without_arrays(one, arrays)) for name, one in kwargs.items()]),
        )
        if any(isinstance(one, jax.core.Tracer) for one in arrays):
            return function(*args, **kwargs)
        try:
            is_new = form not in forms
        except TypeError:  # a list or the like among the constants
            return function(*args, **kwargs)
        if is_new:
            if len(forms) >= _MOST:
                return function(*args, **kwargs)
            forms.add(form)
        return in_scope(*arrays, form=form)

    return called


_ARRAY: Final = _Constant(jax.Array)
"""What stands for an array in a form."""


def _without_arrays(value: Any, arrays: list[Any]) -> Any:
    if isinstance(value, jax.Array):
        arrays.append(value)
        return _ARRAY
    if type(value) in (list, tuple):
        return (type(value), *[_without_arrays(one, arrays) for one in value])
    return _Constant(value)


def _filled(form: Any, arrays: Iterator[Any]) -> Any:
    if form is _ARRAY:
        return next(arrays)
    return form[0](_filled(one, arrays) for one in form[1:]) if type(form) is tuple else form.value
